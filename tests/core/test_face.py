"""The public Cluster: texts of its answers, names of actors, and going back."""

import re
from pathlib import Path

import pytest
import yaml

import kvolsched
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.words import LINE_WIDTH, hanging_indent
from kvolsched.core.results import as_sentence
from kvolsched.questions.explain import merge_note_changes
from kvolsched.world.log import Change, Key, Note


@pytest.fixture
def cluster():
    """Return the zonal example before its first step."""
    return kvolsched.scenario("zonal-example")


def test_a_step_is_a_sentence(cluster):
    """A step prints its number, its time, and a line for each turn."""
    first = cluster.step()
    assert repr(first).startswith("step 1, t=0 s: Scheduler judges my-pod, pass 1: 2 of 4 nodes fit")
    assert all(len(line) <= LINE_WIDTH for line in repr(first).splitlines())
    assert first.actor == "scheduling pass"
    cluster.step()
    third = cluster.step()
    assert [line.strip()[:9] for line in repr(third).splitlines() if "Scheduler" in line] == ["step 3, t", "Scheduler"]


def test_a_run_tells_its_steps_and_why_it_ended(cluster):
    """A short run prints every step; a run without work says so."""
    run = cluster.run("pvc/my-pvc Bound")
    assert len(run) == len(list(run))
    assert repr(run).splitlines()[-1] == f"{len(run)} steps, t=0.3 s: pvc/my-pvc Bound holds"
    assert repr(run).startswith("step 1,")
    cluster.run()
    assert repr(cluster.run()) == "nothing is left to do"


def test_a_long_run_is_only_counted(cluster):
    """A run of 21 or more steps prints their number."""
    cluster.apply(*(cluster.written("pod/my-pod").replace("my-pod", f"pod-{n}") for n in range(5)))
    assert repr(cluster.run()).count("\n") == 0


@pytest.mark.parametrize(("name", "actor"), [
    ("scheduler", "scheduling pass"), ("kube-scheduler", "scheduling pass"), ("scheduling pass", "scheduling pass"),
    ("PV controller", "persistentvolume claims"), ("persistent-volume-binder", "persistentvolume claims"),
])
def test_actors_answer_to_the_names_people_use(cluster, name, actor):
    """An actor is found by its component, by its common name, and by its name."""
    assert cluster.step(name).actor == actor


def test_who_has_nothing_to_do_does_nothing(cluster):
    """Stepping an idle actor changes nothing and is falsy; the error about an unknown name lists the names."""
    before = cluster.digest()
    for name in ("provisioner", "kubelet", "user", "bind worker"):
        step = cluster.step(name)
        assert not step
        assert repr(step) == "nothing to do"
    assert (cluster.digest(), cluster.world.known_steps) == (before, 0)
    with pytest.raises(LookupError, match="there are: user"):
        cluster.step("nobody")


def test_next_says_who_may_act_and_what_each_would_do(cluster):
    """`next` lists the default first and changes nothing; an idle cluster says so."""
    choices = cluster.next
    assert [turn.actor for turn in choices] == ["scheduling pass", "persistentvolume claims"]
    assert repr(choices).splitlines()[0].startswith("scheduling pass          Scheduler judges my-pod")
    assert len(choices) == 2
    assert cluster.world.known_steps == 0
    cluster.run()
    assert repr(cluster.next) == "nobody: the cluster is idle"


def test_back_and_goto_return_where_they_led(cluster):
    """Back and goto return the step that led there; 0 is the start, -1 the last known; an unknown step is an error."""
    cluster.run()
    end = cluster.digest()
    last = cluster._last_step
    assert repr(cluster.goto(0)) == "the start: nothing has happened yet"
    assert repr(cluster.goto(-1)) == repr(last)
    assert cluster.back().number == last.number - 1
    assert cluster.back(100).number == 0
    cluster.run()
    assert cluster.digest() == end
    with pytest.raises(IndexError, match="step 99 is not between"):
        cluster.goto(99)


def test_acts_of_the_user_answer_in_kubectls_words(cluster):
    """Cordon, uncordon, taint and delete print what they did, or that nothing changed."""
    assert repr(cluster.cordon("node-a")) == "node/node-a cordoned"
    assert repr(cluster.cordon("node-a")) == "node/node-a already cordoned"
    assert repr(cluster.uncordon("node-a")) == "node/node-a uncordoned"
    assert repr(cluster.taint("node-a", "k=v:NoSchedule")) == "node/node-a tainted"
    assert cluster["node/node-a"].spec.taints[0].key == "k"
    assert repr(cluster.delete("pod/my-pod")) == 'pod "my-pod" deleted from default namespace'
    assert "pod/none" not in cluster
    with pytest.raises(KeyError, match="there are: node/node-a"):
        cluster.cordon("node-z")


def test_an_edit_that_the_server_refuses_is_an_error(cluster):
    """A change of an immutable field is refused in the API server's words."""
    with pytest.raises(kvolsched.ApplyRefused, match="spec"):
        cluster._edit("pvc/my-pvc", lambda old: evolve_parts(old, spec={"storage_class_name": "x"}))
    assert cluster["pvc/my-pvc"].spec.storage_class_name == "zonal-class"


def test_written_gives_back_what_was_loaded(cluster):
    """`written` returns manifests without defaults; a cluster of them runs alike."""
    text = cluster.written()
    assert "uid" not in text
    assert cluster.written("pvc/my-pvc").count("kind:") == 1
    assert cluster.written("nodes", "pvc/my-pvc").count("kind: Node") == len(cluster.objects("nodes"))
    with pytest.raises(KeyError, match="no object is called 'deploy'"):
        cluster.written("deploy")
    again = kvolsched.Cluster.from_manifests(text, revision="design")
    again.run()
    cluster.run()
    assert len(cluster.diff(again)) == 0
    assert "resourceVersion" in cluster.manifests("pod/my-pod")


def test_passes_list_when_how_many_fit_and_who_was_chosen(cluster):
    """`passes` lists a row for each pass up to now."""
    assert repr(cluster.passes("my-pod")) == (
        "pod/my-pod, rules design: 0 passes. The scheduler has not taken it up yet.")
    cluster.run()
    rows = list(cluster.passes("pod/my-pod"))
    assert [(row.fit, row.node) for row in rows] == [("2 of 4 nodes fit", "node-a"), ("1 of 4 nodes fit", "node-a")]
    assert cluster.passes("my-pod")[0].step == 1
    cluster.goto(1)
    assert len(cluster.passes("my-pod")) == 1


def test_diff_sets_conditions_and_terms_as_one_thing(cluster):
    """A condition is one line of a diff, with reason and message; a cluster equals itself."""
    cluster.run("pvc/my-pvc Bound")
    other = cluster.fork("cordoned")
    other.cordon("node-a")
    other.run()
    cluster.run()
    rows = {(about, change.path): change.new for about, change in cluster.diff(other)}
    assert rows["node/node-a", "spec.unschedulable"] == "True"
    assert rows["pod/my-pod", "status.conditions[PodScheduled]"].startswith("False, Unschedulable: 0/4 nodes are")
    assert repr(cluster.diff(other)).splitlines()[0].split() == ["object", "field", "zonal-example", "cordoned"]
    assert repr(cluster.diff(cluster)) == "zonal-example and zonal-example: equal objects"


def test_story_of_a_claim_names_every_write(cluster):
    """A story lists the acts on the claim, in order, with the changed fields."""
    cluster.run()
    story = cluster.story("pvc/my-pvc")
    told = "\n".join(line for row in story for line in row.changed)
    assert "spec.volumeName" in told
    assert "notes assumed: none → selected-node node-a" in told
    assert repr(story).startswith(f"story of pvc/my-pvc: {len(story)} turns")


def test_sample_counts_ends_by_seed():
    """Under many seeds the documents' rules strand a replica now and then, today's never."""
    old = kvolsched.scenario("replicated-database").sample(10)
    new = kvolsched.scenario("replicated-database", "upstream").sample(10)
    assert 0 < old.stuck < 10
    assert new.stuck == 0
    assert repr(old).startswith(f"10 seeds; in the end every pod has a node in {10 - old.stuck} of 10:\n")
    assert repr(new).startswith("10 seeds; in the end every pod has a node in all:\n")
    assert repr(old) == repr(kvolsched.scenario("replicated-database").sample(10))


def test_a_sample_names_the_goal_that_it_counts():
    """A goal of one's own is named, and no run is called stuck for a pod that runs elsewhere."""
    c = kvolsched.scenario("zonal-example")

    assert repr(c.sample(2, goal="my-pod Pending")).startswith("2 seeds; in the end my-pod Pending holds in none:\n")
    elsewhere = c.sample(2, goal=lambda end: end["my-pod"].spec.node_name == "node-c")
    assert "2 seeds; in the end the goal holds in none:" == repr(elsewhere).splitlines()[0]
    assert "In the end the goal holds in none" in elsewhere.figure().draw(828, "")


def test_notes_are_told_net():
    """Changes of a note are merged to one at its last place; changes of objects stay."""
    note, pod = Note("a", "queue", "p"), Key("Pod", "default", "p")
    changes = [Change(note, None, 1), Change(pod, None, "x"), Change(note, 1, 2), Change(pod, "x", "y")]
    assert merge_note_changes(changes) == [changes[1], Change(note, None, 2), changes[3]]


@pytest.mark.parametrize(("words", "said"), [
    ("kubelet runs pod/p", "Kubelet runs pod/p."), ("pd.csi creates pv/v", "pd.csi creates pv/v."),
    ("PV controller waits.", "PV controller waits."), ("pvc/data is lost", "pvc/data is lost."),
])
def test_words_become_sentences(words, said):
    """A sentence gets a capital and a full stop; names keep their letters."""
    assert as_sentence(words) == said


def test_long_lines_hang():
    """Lines are wrapped at the width, behind the indent, between words."""
    told = hanging_indent(["word " * 60, "x" * 200], 10)
    assert all(line.startswith(" " * 10) for line in told.splitlines()[1:])
    assert told.splitlines()[-1].strip() == "x" * 200
    assert max(len(line) for line in told.splitlines()[:-1]) <= LINE_WIDTH


# -- what a reader meets -------------------------------------------------------------------------------------------


def names_on_tab(cluster):
    """Return what Tab offers on a cluster."""
    return [name for name in dir(cluster) if not name.startswith("_")]


def test_tab_shows_what_is_taught(cluster):
    """A cluster has at most 80 names, and each stands in a lesson or on a page, as it is called."""
    root = Path(__file__).parent.parent.parent
    pages = (root / "README.md", *(root / "docs").glob("*.md"), *(root / "notebooks").rglob("*.ipynb"))
    told = {name for page in pages for name in re.findall(r"\.(\w+)\b", page.read_text(encoding="utf-8"))}
    names = names_on_tab(cluster)

    assert len(names) <= 80
    assert [] == [name for name in names if name not in told]


def test_help_begins_with_all_names_in_ten_groups(cluster):
    """The class's text lists each name of Tab once, in ten lines of a group each."""
    groups = [line.split()[1:] for line in kvolsched.Cluster.__doc__.split("\n\n")[1].splitlines()]

    assert 10 == len(groups)
    assert names_on_tab(cluster) == sorted(name for group in groups for name in group)


@pytest.mark.parametrize(("name", "near"), [("cordn", "cordon or uncordon"), ("wyh", "why"), ("from_manifest", "from_manifests")])
def test_a_misspelled_name_has_the_near_one(cluster, name, near):
    """An attribute that a cluster has not is refused with the names like it; private ones are refused at once."""
    with pytest.raises(AttributeError, match=f"^'Cluster' object has no attribute '{name}'; did you mean {near}[?]$"):
        getattr(cluster, name)("node-a")
    with pytest.raises(AttributeError, match=r"^'Cluster' object has no attribute '_cordon'$"):
        cluster._cordon()


@pytest.mark.parametrize("reference", ["my-pod", "node/node-a", "pvc/my-pvc", "sc/zonal-class"])
def test_an_object_prints_as_its_manifest(cluster, reference):
    """`repr`, `print` and a notebook show the manifest; in a list a notebook shows kind and name."""
    pretty = pytest.importorskip("IPython.lib.pretty").pretty
    obj = cluster[reference]

    assert f"{obj}\n" == f"{obj!r}\n" == f"{pretty(obj)}\n" == cluster.manifests(reference)
    assert f"[{obj.kind} {obj.metadata.name}]" == pretty([obj])


def test_a_ledger_prints_as_yaml():
    """The numbers behind a picture of skew are read without the picture."""
    ledger, = kvolsched.scenario("dead-zone").skew("next").ledgers
    read = yaml.safe_load(repr(ledger))

    assert ("pod/next", 1, "zone-lost") == (read["pod"], read["max_skew"], read["minimum_domain"])
    assert [row.domain for row in ledger.rows] == [row["domain"] for row in read["rows"]]


def test_no_name_of_an_object_acts_on_a_terminal():
    """A control character in a name is printed as its code."""
    c = kvolsched.Cluster.from_manifests([{"apiVersion": "v1", "kind": "Node", "metadata": {
        "name": "n1", "annotations": {"a": "\x1b[2J"}}}])  # fmt: skip

    assert "\x1b" not in repr(c["n1"])
    assert "[2J" in repr(c["n1"])

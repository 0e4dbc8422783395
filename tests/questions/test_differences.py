"""Differences of two clusters: which fields a person asks for first, and which are bookkeeping."""

import attrs
import pytest

from kvolsched import Cluster, design, make, scenario
from kvolsched.questions import differences
from kvolsched.questions.differences import Diff, importance
from kvolsched.questions.explain import FieldChange, changed_fields


@pytest.mark.parametrize(("rank", "path", "about"), [
    (0, "(exists)", ""), (1, "spec.nodeName", ""), (1, "spec.volumeName", ""), (1, "spec.claimRef", ""),
    (2, "status.phase", ""), (2, "status.conditions[Ready]", "node/a"),
    (3, "status.nominatedNodeName", ""), (3, "status.conditions[PodScheduled]", "pod/a"), (3, "status.conditions[PodScheduled].reason", ""),
    (4, "spec.replicas", ""), (4, "spec.unschedulable", "node/a"), (5, "status.reason", "node/a"), (5, "status.capacity", ""),
    (6, "metadata.labels", "node/a"), (6, "data.key", ""), (6, "metadata.annotations[example.com/a]", ""),
    (8, "status.conditions[Ready]", "pod/a"), (8, "status.conditions[Initialized]", "node/a"), (8, "metadata.finalizers", ""),
    (8, "metadata.annotations[pv.kubernetes.io/bind-completed]", ""), (8, "metadata.annotations[volume.kubernetes.io/storage-provisioner]", ""),
    (8, "status.startTime", ""), (8, "status.conditions[x].lastProbeTime", ""), (8, "spec.csi.volumeHandle", ""),
])  # fmt: skip
def test_what_a_person_asks_for_comes_first(rank, path, about):
    """Whether it exists, where it is, its phase, who may take it; then spec, status, others, and bookkeeping last."""
    assert rank == importance(path, about)


def test_passes_in_which_as_many_nodes_fit_are_judged_again_up_to_a_limit(monkeypatch):
    """So many passes that look alike are read again in both runs, and no more."""
    nodes = [make.node("n1", cpu="9"), make.node("n2", cpu="9", unschedulable=True)]
    clusters = [Cluster.from_manifests([*nodes, *(make.pod(f"p{number}") for number in range(5))]) for _ in range(2)]
    for each in clusters:
        each.run()
    read = []
    monkeypatch.setattr(differences, "MOST_JUDGED", 3)
    monkeypatch.setattr(differences, "read_last_pass", lambda _cluster, pod, *_: read.append(pod.name))

    assert ("", "") == differences.parting(*clusters)
    assert 2 * 3 == len(read)


@pytest.mark.parametrize("fine", [False, True])
def test_runs_part_in_the_pass_that_found_something_else(fine):
    """A pass is compared with the pass of the same number, also where each is two turns; what only one has is not compared."""
    plain = Cluster.from_manifests([make.node("n1"), make.node("n2"), make.pod("app")], components={"kube-scheduler": {"fine": fine}})
    other = plain.with_plugin(lambda _pod, node, _seen: "late" not in node.metadata.labels or "it is late", name="late")
    for each in (plain, other):
        each.refuse("kube-scheduler")
        each.run(steps=2)
        each.label("n1", "late=yes")
        each.run()
    said = "pass 2 of pod/app: under upstream n1 fits, under upstream + late late rejects it: it is late."

    assert (said, 'fits("app")') == differences.parting(plain, other)
    other.goto(4)
    assert (2, 1) == (len(plain.passes("app")), len(other.passes("app")))
    assert "pass" not in differences.parting(plain, other)[0]


@pytest.mark.parametrize(("names", "rules", "called"), [
    (("a", "b"), "design", ("a", "b")), (("a", "a"), "design", ("a, upstream", "a, design")), (("a", "a"), "upstream", ("this", "other")),
    (("", ""), "upstream", ("this", "other")), (("other", ""), "upstream", ("this", "other"))])
def test_two_clusters_are_never_called_alike(names, rules, called):
    """They go by their names; if these are the same by their rules too, else by which of them is asked."""
    one, other = (Cluster(revision, name=name) for revision, name in zip(("upstream", rules), names, strict=True))

    assert called == one.diff(other).names


def test_a_list_of_plain_values_is_one_field_and_one_with_mappings_is_not():
    """Values of a list stand together, none as []; where mappings are among them each item is a field of its own."""
    spec = {"none": [], "plain": ["a", 1], "mixed": [1, {"a": 2}], "named": [{"name": "x", "port": 80}]}

    assert [("spec.mixed[0]", "1"), ("spec.mixed[1].a", "2"), ("spec.named[x].name", "x"), ("spec.named[x].port", "80"),
            ("spec.none", "[]"), ("spec.plain", "[a, 1]")] == [(each.path, each.new) for each in changed_fields(None, {"spec": spec})]


def both_run(revision, *objects, rules="upstream"):
    """Return two clusters with these objects at the end of their runs, the second under other rules."""
    one = Cluster.from_manifests(objects, revision=rules)
    other = one.with_plugin(revision, name="mine") if callable(revision) else one.under(revision)
    one.run()
    other.run()
    return one, other


NODES = [make.node("n1", "1"), make.node("n2", "2"), make.node("n3", "3", taints=["team"])]
HONORS = {**make.spread(app="web"), "nodeTaintsPolicy": "Honor"}
SPREAD = [make.pod(f"w{place}", running_on=f"n{place}", labels={"app": "web"}) for place in (1, 2)]
WEB = make.pod("web", labels={"app": "web"}, topologySpreadConstraints=[HONORS])
GETS = "Rules design do not read nodeTaintsPolicy of pod/web."


@pytest.mark.parametrize(("revision", "objects", "told", "call"), [
    (lambda *_: "closed", [*NODES, make.pod("app")],
     "pass 1 of pod/app: under A n2 (and 1 more) fits, under B mine rejects it: closed.", 'fits("app")'),
    (lambda _pod, node, _seen: node.metadata.name != "n2" or "closed", [*NODES, make.pod("app", namespace="shop")],
     "pass 1 of pod/shop/app: under A n2 fits, under B mine rejects it: closed.", 'fits("app")'),
    (lambda _pod, node, _seen: node.metadata.name == "n2" or "closed", [make.node("n1"), make.node("n4", cpu="64"), make.node("n2"), make.pod("app")],
     "pass 1 of pod/app: under A n4 (and 1 more) fits, under B mine rejects it: closed.", 'fits("app")'),  # the chosen node first
    ("design", [*NODES, *SPREAD, WEB],
     ("pass 1 of pod/web: under A n1 (and 1 more) fits, under B PodTopologySpread rejects it: "
     f"node(s) didn't match pod topology spread constraints. {GETS}"), 'skew("web")'),
    ("upstream", [*NODES, *SPREAD, WEB], "", ""),
])  # fmt: skip
def test_the_first_pass_that_found_something_else(revision, objects, told, call):
    """The node that fits in one, the chosen one first, how many more, why the other rejects it, and what its rules do not read."""
    one, other = both_run(revision, *objects)
    swapped = told.replace("under A", "under a").replace("under B", "under A").replace("under a", "under B")

    assert [(told, call), (swapped, call)] == [differences.parting(one, other, ("A", "B")), differences.parting(other, one, ("A", "B"))]


@pytest.mark.parametrize(("name", "rules", "sides", "calls"), [
    ("zones", "design", ("upstream chooses node-1-2", "design chooses node-1-1"), ['fits("web-8547748d59-llmhw")'] * 2),
    ("two-volumes-one-pool", "design", ("under upstream Scheduler nominates node-2 for db (step 7)", "under design nothing follows"),
     ['story("pod/db")'] * 2),
    ("local-disks", "draft", ("under upstream Scheduler nominates node-1 for db (step 3)",
                              "under draft Scheduler reserves pv/disk-100 for pvc/data: claimRef (step 3)"), ['story("pod/db")', 'story("pv/disk-100")']),
])  # fmt: skip
def test_runs_of_scenarios_part_in_a_choice_or_in_a_write(name, rules, sides, calls):
    """Where the same nodes fit, the chosen ones are told, else the first writes that differ, or that nothing follows."""
    one = scenario(name, "upstream")
    other = one.under(rules)
    one.run()
    other.run()
    head = "pass 1 of pod/web-8547748d59-llmhw: the same nodes fit, " if name == "zones" else ""

    assert [f"First difference: {head}{', '.join(pair)}. See c.{call}." for pair, call in zip((sides, sides[::-1]), calls, strict=True)] == [
        differences.first_difference(one, other), differences.first_difference(other, one)]
    assert (f"{head}{', '.join(sides)}.", calls[0]) == differences.parting(one, other)


def test_a_choice_that_only_one_run_made_is_told():
    """Where no node was chosen, it says none."""
    both = [differences._Judged(chosen, {}) for chosen in ("", "n1")]
    clusters = (Cluster(), Cluster("design"))

    assert ("pass 3 of pod/shop/p: the same nodes fit, A chooses none, B chooses n1.", 'fits("p")') == differences._verdict_words(
        clusters, "shop/p", 2, tuple(both), ("A", "B"))
    assert differences._verdict_words(clusters, "shop/p", 2, (both[0], both[0]), ("A", "B")) is None


def test_a_run_without_a_step_is_told():
    """Only if somebody else than the user acted in the other, and where its steps are known it can go to them, too."""
    one = Cluster.from_manifests([make.node("n1"), make.pod("p")])
    other, said = one.under("design"), "The cluster with rules design has made no step: call {} on it, then compare."

    assert ("", "") == (differences.first_difference(one, other), differences.first_difference(other, one))
    one.wait(1)
    acted = one.under("upstream")
    acted.delete("pod/p")
    assert "made no step" not in differences.first_difference(acted, other)
    one.run()
    assert said.format(".run()") == differences.first_difference(one, other)
    other.run()
    assert "made no step" not in differences.first_difference(one, other)
    other.goto(0)
    assert said.format(".goto(step) or .run()") == differences.first_difference(one, other)
    assert "" == differences.first_difference(one, one.fork())


def test_writes_are_those_that_matter_to_a_person():
    """An object that is made or gone, and new values; no Event, no note, no metadata, start time or condition, nothing of a later step."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("p")])
    c.run()
    c.label("pod/p", "a=b")
    c.delete("pod/p")
    c.run()
    found = [(key.name, fields) for (key, fields), _ in differences._writes(c)]

    ends = [("p", (("status.phase", "Succeeded"),)), ("p", (("(exists)", ""),))]
    assert [("p", (("spec.nodeName", "n1"),)), ("p", (("status.phase", "Running"),)), *ends] == found
    c.goto(2)
    c.apply(make.pod("q"))
    assert [("p", (("spec.nodeName", "n1"),)), ("q", (("(exists)", "yes"),))] == [(key.name, fields) for (key, fields), _ in differences._writes(c)]
    c.goto(2)
    assert [("p", (("spec.nodeName", "n1"),))] == [(key.name, fields) for (key, fields), _ in differences._writes(c)]


def row(about, path, old="", new=""):
    """Return a row of a difference."""
    return about, FieldChange(path, old, new)


PLACED, PHASE, LABEL = row("pod/a", "spec.nodeName", "n1"), row("pod/a", "status.phase", "Running", "Pending"), row("pod/b", "metadata.labels", "", "x")
READY, START, FINAL = row("pod/a", "status.conditions[Ready]", "True"), row("pod/a", "status.startTime", "t"), row("pvc/c", "metadata.finalizers", "[a.b/c]")
PASSES = row("pod/a", "(passes)", "1 pass: x", "no pass")


@pytest.mark.parametrize(("rows", "passes", "told", "folded"), [
    ((PLACED, PHASE, LABEL), (PASSES,), (PLACED, PHASE, PASSES, LABEL), ""),
    ((LABEL,), (PASSES,), (PASSES, LABEL), ""),
    ((PLACED, READY), (), (PLACED,), "1 field of bookkeeping differs, too (Ready): .bookkeeping"),
    ((PLACED, READY, START, FINAL), (), (PLACED,), "3 fields of bookkeeping differ, too (Ready, startTime, finalizers): .bookkeeping"),
    ((READY, START), (), (READY, START), ""), ((), (PASSES,), (PASSES,), ""),
    ((PLACED, *(row(f"pod/{name}", "status.startTime") for name in "abc")), (), (PLACED,), "3 fields of bookkeeping differ, too (startTime): .bookkeeping"),
    ((PLACED, *(row("pod/a", f"status.x{number}Time") for number in range(8))), (), (PLACED,),
     "8 fields of bookkeeping differ, too (x0Time, x1Time, x2Time, x3Time, x4Time, x5Time and 2 more): .bookkeeping"),
])  # fmt: skip
def test_what_is_shown_and_what_is_only_counted(rows, passes, told, folded):
    """Bookkeeping is counted beside other rows and shown alone; passes stand after their pod's place and phase, else first."""
    found = Diff(("this", "other"), rows, passes, (), "")

    assert (told, tuple(each for each in rows if each not in told), folded) == (found.told, found.bookkeeping, found.folded)


def test_a_difference_as_text():
    """What the runs part in, a table in which each object stands once, what is only counted, and notes."""
    found = Diff(("this", "design"), (PLACED, PHASE, LABEL, READY), (PASSES,), ("one note", "another"), "First difference: x.")

    assert """First difference: x.
object  field            this       design
pod/a   spec.nodeName    n1         –
        status.phase     Running    Pending
        (passes)         1 pass: x  no pass
pod/b   metadata.labels  –          x
1 field of bookkeeping differs, too (Ready): .bookkeeping
- one note
- another""" == repr(found)
    assert "this and design: equal objects" == repr(Diff(("this", "design"), (), (), (), ""))
    assert "why\nthis and design: equal objects\n- one" == repr(Diff(("this", "design"), (), (), ("one",), "why"))


def test_columns_share_a_line():
    """Names are cut to their columns, and both values share what is left; a short one leaves its room to the other."""
    head, long, four = ("object", "field", "a", "b"), "word " * 40, "word word word word"
    wide = [f"{'object':32}{'field':42}{'a':24}b", f"{'pod/' + 'x' * 26:32}{'short':42}{'1':24}{four}", f"{'x' * 14:98}{four}", *[f"{'':98}{four}"] * 8,
            f"{'p':32}{'f' * 40}  {four:24}2", f"{'':32}{'f' * 10:42}{four}", *[f"{'':74}{four}"] * 8,
            f"{'p':32}{'g':42}{four:24}{four}", *[f"{'':74}{four:24}{four}"] * 9]  # fmt: skip

    assert wide == list(differences.columns([head, ("pod/" + "x" * 40, "short", "1", long), ("p", "f" * 50, long, "2"), ("p", "g", long, long)]))
    assert ["object  field  a  b", f"pod/a   x      1  {' '.join(['word'] * 20)}", f"{'':18}{' '.join(['word'] * 20)}"] == list(
        differences.columns([head, ("pod/a", "x", "1", long)]))
    assert [f"object  field  {'a':51}  b", f"pod/a   x      {'w' * 51}  {'v' * 52}", f"{'':68}{'v' * 28}"] == list(
        differences.columns([head, ("pod/a", "x", "w" * 51, "v" * 80)]))
    assert ["one-two  f  a  b", "p        f  1  2"] == list(differences.columns([("one-two", "f", "a", "b"), ("p", "f", "1", "2")]))


def test_fields_that_differ_stand_in_order():
    """Pods, claims, volumes and nodes first, then others by name; objects of which only bookkeeping differs last; Events never."""
    pod, claim, volume, node = make.pod("p"), make.claim("c"), make.volume("v"), make.node("n")
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"}, "reason": "R",
             "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}}
    kept = make.pod("k", status={"phase": "Pending", "startTime": "2026-01-01T00:00:00Z"})
    one = Cluster.from_manifests([make.pod("a"), pod, claim, volume, node, make.storage_class("s"), make.deployment("d"), event, make.pod("k")])
    other = Cluster.from_manifests([make.pod("a"), make.pod("p", cpu="2", labels={"x": "y"}), make.pod("z"), kept,
                                    make.node("n", unschedulable=True), make.storage_class("s", "else.example.com")])  # fmt: skip

    assert [("pod/p", "spec.containers[app].resources.requests.cpu", "100m", "2"), ("pod/p", "metadata.labels.x", "", "y"), ("pod/z", "(exists)", "", "yes"),
            ("pvc/c", "(exists)", "yes", ""), ("pv/v", "(exists)", "yes", ""), ("node/n", "spec.unschedulable", "", "True"),
            ("deploy/d", "(exists)", "yes", ""), ("sc/s", "provisioner", "disks.example.com", "else.example.com"),
            ("pod/k", "status.startTime", "", "2026-01-01T00:00:00Z")] == [
        (about, change.path, change.old, change.new) for about, change in differences.different_fields(one, other)]


def test_passes_that_differ_are_told_of_pods_that_are_in_both():
    """How many, and what the last one found; a pod that only one has, or has no longer, is not compared."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.pod("app"), make.pod("gone")])
    other = c.fork()
    c.run()
    c.delete("pod/gone")
    c.run()
    big = Cluster.from_manifests([make.node("n1", cpu="1"), make.pod("app", cpu="4")])
    big.run()
    big.label("n1", "x=y")
    big.run(seconds=400)
    rows = [passes for each in (other, big) for passes in c.diff(each).passes]

    assert [("pod/app", "(passes)", "1 pass: 1 of 1 nodes fit, n1 is chosen", "no pass")] == [(about, *attrs.astuple(change)) for about, change in rows[:1]]
    assert [("pod/app", "1 pass: 1 of 1 nodes fit, n1 is chosen")] == [(about, change.old) for about, change in rows[1:]]
    count = len(big.passes("app"))
    assert rows[1][1].new == (f"{count} passes, the last: 0 of 1 nodes fit, none is chosen" if count > 1 else "1 pass: 0 of 1 nodes fit, none is chosen")
    assert () == c.diff(c.fork()).passes


def test_what_is_no_cluster_is_refused_with_what_would_be_one():
    """A name of rules, rules as a value, and anything else are told how to make a cluster of them."""
    c = Cluster()
    for other, name in (("draft", "draft"), (design(), "design"), (5, "design")):
        with pytest.raises(TypeError) as refused:
            c.diff(other)
        assert f'diff compares with a cluster, not with {other!r}; for other rules: old = c.under("{name}"); old.run(); c.diff(old)' == str(refused.value)

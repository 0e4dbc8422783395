"""The search for the smallest cluster on which two sets of rules disagree."""

import json
import sys

import pytest
from click.testing import CliRunner
from hypothesis import strategies as st

from kvolsched import Cluster, differ, make
from kvolsched.api.unknown_name import UnknownName
from kvolsched.cli import commands as cli
from kvolsched.measure.differ import Case
from kvolsched.measure.differ.search import INSTALL, _parts, _Search, _without
from kvolsched.writes import patch


def not_in_a(_pod, node, _seen):
    """Reject the nodes of zone a."""
    return node.metadata.labels.get(make.ZONE) != "a" or "zone a is closed"


def search(b, a="upstream", **options):
    """Search among few plain clusters."""
    return differ(a, b, **{"examples": 60, "progress": False, "about": "resources", **options})


@pytest.fixture(scope="module")
def found():
    """A disagreement about a plugin that closes a zone."""
    return search(Cluster("upstream").with_plugin(not_in_a))


def test_a_plugin_is_told_from_none_by_a_node_and_a_pod(found):
    """The smallest cluster has the node that the plugin rejects and a pod; the sentence says which plugin, and why."""
    assert ["Node", "Pod"] == [each["kind"] for each in found.case.objects]
    assert ("not_in_a",) == found.plugins
    assert found.sentence == ("pass 1 of pod/p1: under upstream n1 fits, under upstream + not_in_a not_in_a rejects it: "
                              "zone a is closed.")


def test_nothing_can_be_left_out(found):
    """Without any one of its objects and fields a found cluster is none on which the rules disagree."""
    again = _Search(found.rules, found.names, found.of, found.seed, None)
    parts = list(_parts(found.case))
    assert len(parts) > 5
    smaller = [case for case in (_without(found.case, path) for path in parts) if case is not None]
    assert [] == [case for case in smaller if again.disagrees(case)]


def test_both_clusters_can_be_stepped_to_their_outcomes(found):
    """`a` and `b` stand before anybody has acted, and run to what was found; YAML, diff and panel show them."""
    assert [True, True] == [bool(each.next) for each in (found.a, found.b)]
    found.a.run(), found.b.run()
    assert ["n1", ""] == [each["p1"].spec.node_name for each in (found.a, found.b)]
    loaded = Cluster.from_manifests(found.manifests)
    loaded.run()
    assert loaded["p1"].spec.node_name == "n1"
    assert "nodeName" in repr(found.diff())
    assert "upstream + not_in_a" in found.lab().reading()


def test_it_is_shown_in_words_and_as_a_picture(found):
    """The words have the sentence, both verdicts and the manifests; the picture has the rows that differ."""
    shown = repr(found)
    assert found.manifests.rstrip() in shown
    assert "not_in_a: zone a is closed" in shown
    assert "zone a is closed" in found.figure().draw(828, "")
    assert shown == found.figure().reading
    assert json.loads(json.dumps(found.as_data()))["objects"] == list(found.case.objects)


def test_equal_rules_have_no_disagreement():
    """Equal sets of rules are alike on every cluster, and the answer says on how many."""
    found = search("design", "design", examples=3)
    assert not found
    assert repr(found).endswith("none in 3 clusters, seed 0")


def test_equal_arguments_give_equal_answers():
    """A search is determined by its arguments, the seed among them."""
    few = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(
        lambda zones: [*(make.node(f"n{n}", zone) for n, zone in enumerate(zones)), make.pod("p1")])
    first, again = (search(Cluster("upstream").with_plugin(not_in_a), clusters=few, seed=3) for _ in range(2))
    assert first
    assert repr(first) == repr(again)


def test_a_tie_is_no_disagreement():
    """A preference between nodes that are otherwise equal is not told from a tie that falls so."""
    two = [make.node("n1"), make.node("n2"), make.pod("p1")]
    prefers = Cluster("upstream").with_plugin(prefer=lambda _pod, node, _seen: 100 * (node.metadata.name == "n1"),
                                              name="first")
    assert not search(prefers, clusters=st.just(two))
    assert search(prefers, clusters=st.just([make.node("n1", cpu="2"), make.node("n2"), make.pod("p1")]))


def no_team(new, _old):
    """Refuse pods without the label team."""
    return "team" in new.metadata.labels or "the label team is missing"


def label(seen, ref):
    """Label every pod."""
    pod = seen.get(ref)
    return patch(ref, {"metadata": {"labels": {"seen": "yes"}}}) if pod and "seen" not in pod.metadata.labels else None


@pytest.mark.parametrize(("rules", "of", "words"), [
    (lambda: Cluster().with_webhook(validate=no_team), ("answers",), "the label team is missing"),
    (lambda: Cluster().with_controller("labeller", ["Pod"], label), ("fields",), "metadata.labels"),
    (lambda: Cluster(components={"kubelet": {"absent": True}}), ("ends",), "Pending"),
], ids=["webhook", "controller", "dials"])
def test_what_a_reader_adds_to_rules_is_told(rules, of, words):
    """A webhook, a controller and dials of an empty cluster belong to its rules."""
    found = search(rules(), of=of, clusters=st.just([make.node("n1"), make.pod("p1")]))
    assert found
    assert any(words in text for row in found.rows for text in row)


def test_commands_follow_once_nobody_has_anything_to_do():
    """What a user commands is judged, too; what is answered counts, and what comes of it."""
    gated = Case((make.node("n1"), make.pod("p1", gates=["example.com/quota"])),
                 ("kubectl patch pod p1 --type=merge -p '{\"spec\": {\"schedulingGates\": null}}'",))
    found = search("upstream (kube-apiserver: PodSchedulingReadiness=false)", clusters=st.just(gated), of=("nodes", "ends"))
    assert not found, "without the gate the field is dropped, and the pod runs; with it, after the command"
    closed = search(Cluster().with_plugin(lambda *_: "closed", name="closed"), clusters=st.just(gated))
    assert len(closed.case.commands) == 0, "the closed plugin needs no gate"


def test_an_interrupt_keeps_the_smallest_so_far():
    """Ctrl-C ends the search, not its answer."""
    calls = []

    def wanted(_found):
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return True

    found = search(Cluster("upstream").with_plugin(not_in_a), where=wanted)
    assert found
    assert found.searched.endswith("interrupted")
    none = search(Cluster("upstream").with_plugin(not_in_a), where=lambda _found: (_ for _ in ()).throw(KeyboardInterrupt))
    assert not none
    assert repr(none).endswith("interrupted")


def test_without_hypothesis_it_says_how_to_install(monkeypatch):
    """Without Hypothesis there is one clear line."""
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(sys.modules, "kvolsched.measure.differ.clusters", raising=False)
    monkeypatch.delattr(sys.modules["kvolsched.measure.differ"], "clusters", raising=False)
    with pytest.raises(ModuleNotFoundError) as refused:
        search("design")
    assert str(refused.value) == INSTALL


@pytest.mark.parametrize(("arguments", "fault", "words"), [
    ({"b": "desing"}, UnknownName, "did you mean design"),
    ({"b": "design", "of": "placement"}, UnknownName, "answers"),
    ({"b": "design", "about": "tides"}, UnknownName, "volumes"),
    ({"b": "design", "examples": 0}, ValueError, "at least 1"),
    ({"b": Cluster.from_manifests([make.node("n1")])}, ValueError, "no objects"),
])
def test_wrong_arguments_are_refused(arguments, fault, words):
    """A wrong argument is refused with what there is."""
    with pytest.raises(fault) as refused:
        search(**arguments)
    assert words in str(refused.value)


def test_the_command_line():
    """`kvolsched differ` exits 0 if there is no disagreement, 1 with one, as JSON too, 2 with a line for a wrong name."""
    run = CliRunner().invoke
    alike = run(cli.main, ["differ", "design", "design", "--examples", "2", "--about", "resources"])
    assert (0, "design (a) and design (b): none in 2 clusters, seed 0\n") == (alike.exit_code, alike.output)
    off = "design (kube-scheduler: PodSchedulingReadiness=false)"
    found = run(cli.main, ["differ", "design", off, "--about", "gates", "--of", "passes", "--json"])
    assert (1, ["design", off]) == (found.exit_code, json.loads(found.output)["rules"])
    assert "schedulingGates" in found.output
    wrong = run(cli.main, ["differ", "design", "upstraem"])
    assert wrong.exit_code == 2
    assert "did you mean" in wrong.output

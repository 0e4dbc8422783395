"""The fewest demands that exclude every node, nodes by what fails on them, and the node that lacks least."""

from types import SimpleNamespace

import numpy as np
import pytest

from kvolsched import make
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.why import demands as module
from kvolsched.questions.why.demands import (
    Demand,
    FailureGroup,
    demands,
    group_nodes_by_demands,
    group_nodes_by_first_rejection,
    minimal_unsatisfiable_core,
    nearest_node,
    node_with_most_left,
    nodes_with_one_failure,
)
from kvolsched.rules.named import upstream
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import judge


def failing(*nodes, plugin="NodeAffinity", reasons=(), sort="reason", about="", size=6):
    """Return a demand that fails on nodes of these numbers."""
    return Demand(plugin=plugin, sort=sort, about=about, words=str(nodes), reasons=reasons, fails=np.isin(np.arange(size), nodes))


@pytest.mark.parametrize(("first", "second", "said", "chosen"), [
    (failing(0, size=2), failing(0, 1, size=2), "", 1), (failing(0, 1, size=2), failing(0, 1, size=2, plugin="VolumeBinding"), "", 1),
    (failing(0, 1, size=2), failing(0, 1, size=2, reasons=("were late",)), "0/2: 2 were late", 1),
    (failing(0, 1, size=2), failing(0, 1, size=2, reasons=("were late",)), "0/2: 2 were soon", 0),
    (failing(0, 1, size=2, reasons=("a", "late")), failing(0, 1, size=2, plugin="VolumeZone"), "2 were late", 1),
    (failing(0, 1, size=2), failing(0, 1, size=2), "", 0), (failing(0, size=2), failing(1, size=2), "", None), (failing(1, size=2), failing(0, size=2), "", None),
])  # fmt: skip
def test_of_equal_cores_the_better_known_is_taken(first, second, said, chosen):
    """One of most nodes, then of storage, then one that the condition names, then the first; both if one alone leaves a node."""
    found = (first, second)

    assert (found if chosen is None else (found[chosen],)) == minimal_unsatisfiable_core(found, said)


def test_a_core_has_its_largest_demands_first():
    """Of two that are needed that of more nodes is told first, of equals the first; where a node lacks nothing there is none."""
    few, many, others = failing(0, size=3), failing(1, 2, size=3), failing(0, 1, size=3)

    assert (many, few) == minimal_unsatisfiable_core((few, many), "")
    assert (many, others) == minimal_unsatisfiable_core((few, many, others), "")
    assert (others, many) == minimal_unsatisfiable_core((others, many), "")
    assert () == minimal_unsatisfiable_core((few, others), "") == minimal_unsatisfiable_core((), "") == minimal_unsatisfiable_core((failing(size=0),), "")


@pytest.mark.parametrize(("most", "chosen"), [(9, (2, 3)), (8, (0, 1, 2))])
def test_after_so_many_sets_demands_are_left_out_one_by_one(monkeypatch, most, chosen):
    """The last of ten sets excludes every node; if only nine are tried, what is found is minimal, and not the smallest."""
    monkeypatch.setattr(module, "MAX_TRIED_SETS", most)
    found = (failing(0, 3, 4), failing(1, 4, 5), failing(0, 1, 2), failing(3, 4, 5))

    assert tuple(found[index] for index in chosen) == minimal_unsatisfiable_core(found, "")


def test_nodes_are_grouped_by_what_fails_on_them():
    """The largest group first, each with its nodes by name; the nodes on which one demand fails alone."""
    one, two = failing(0, 2, 3, 5), failing(1, 2, 3)
    groups = group_nodes_by_demands((one, two), "fbdcea")

    assert (FailureGroup(("a", "f"), (0,)), FailureGroup(("c", "d"), (0, 1)), FailureGroup(("b",), (1,)), FailureGroup(("e",), ())) == tuple(
        sorted(groups, key=lambda group: (-len(group.nodes), group.nodes)))
    assert [2, 2, 1, 1] == [len(group.nodes) for group in groups]
    assert ({(0,), (0, 1), (1,), ()}, {()}) == ({group.failing for group in group_nodes_by_demands((one, two), ())}, {
        group.nodes for group in group_nodes_by_demands((one, two), ())})
    assert {one: ("a", "f"), two: ("b",)} == nodes_with_one_failure((one, two), "fbdcea")
    assert () == group_nodes_by_demands((), "ab") == group_nodes_by_demands((failing(size=0),), "")


def test_patterns_that_contain_others_are_left_out():
    """Whatever their order: a set that meets the smaller ones meets all."""
    sets = [{1, 2, 3}, {2, 3}, {4}, {3, 4}, {2, 3}, {1, 3}]

    for each in (sets, sets[::-1]):
        assert {frozenset({4}), frozenset({2, 3}), frozenset({1, 3})} == set(module._minimal_patterns(frozenset(one) for one in each))


def judged(pod, *objects, nominated=""):
    """Return what the plugins say of a pod."""
    pod = pod | ({"status": {"nominatedNodeName": nominated}} if nominated else {})
    return judge(from_plain(pod), snapshot(map(from_plain, objects)), upstream().profile)


def test_the_nearest_node_lacks_least_and_has_most_left():
    """Fewest demands fail there; of equals that with most of the resource is taken, for other demands the first by name."""
    made = [make.node("d", cpu="2"), make.node("c", cpu="3"), make.node("b", cpu="3"), make.node("a", cpu="1"), make.node("e", cpu="3", taints=["x"])]
    judgement = judged(make.pod(cpu="4"), *made)
    found = demands(judgement)
    cpu = next(demand for demand in found if demand.sort == "request")
    other = SimpleNamespace(sort="taint", about="x", fails=cpu.fails)

    assert ["b", "a", "d", "e"] == [nearest_node(judgement, cpu, nodes, found) for nodes in (("d", "c", "b", "a", "e"), ("a",), ("d", "a", "e"), ("e",))]
    assert ["a", "c", "c"] == [nearest_node(judgement, other, nodes, found) for nodes in (("d", "c", "a", "e"), ("d", "c"), ("e", "c"))]
    assert ["c", "d"] == [node_with_most_left(judgement, "cpu", nodes) for nodes in (["d", "c", "b"], ["a", "d"])]


def test_nodes_by_the_plugin_that_rejects_them_first():
    """Largest group first, then by plugin; each with the reasons of that plugin and its nodes by name."""
    made = [make.node("z", taints=["x"], cpu="1"), make.node("b", unschedulable=True), make.node("d", cpu="1"), make.node("c", cpu="1"), make.node("fits"),
            make.node("e", taints=["x"])]  # fmt: skip

    assert [("NodeResourcesFit", ("Insufficient cpu",), ("c", "d")), ("TaintToleration", ("node(s) had untolerated taint(s)",), ("e", "z")),
            ("NodeUnschedulable", ("node(s) were unschedulable",), ("b",))] == group_nodes_by_first_rejection(judged(make.pod(cpu="2"), *made))


def test_each_clause_that_fails_is_a_demand():
    """In the order of plugins, with the reasons that they give there and the nodes; a rejection before filtering is one."""
    made = [make.node("a", unschedulable=True, cpu="1"), make.node("b", taints=["x"]), make.node("c", cpu="1", memory="1Gi")]
    judgement = judged(make.pod(requests={"cpu": "2", "memory": "2Gi"}), *made)
    lost = demands(judged(make.pod("p", "data"), *made))

    assert [("NodeUnschedulable", "cordon", "", ("node(s) were unschedulable",), 1), ("TaintToleration", "taint", "x", ("node(s) had untolerated taint(s)",), 1),
            ("NodeResourcesFit", "request", "cpu", ("Insufficient cpu",), 2),
            ("NodeResourcesFit", "request", "memory", ("Insufficient memory",), 1)] == [
        (each.plugin, each.sort, each.about, each.reasons, each.nodes) for each in demands(judgement)]
    assert [("VolumeRestrictions", "before filtering", 'persistentvolumeclaim "data" not found', ('persistentvolumeclaim "data" not found',),
             "persistentvolumeclaim NAME not found", 3)] == [(each.plugin, each.sort, each.title, each.reasons, each.kind, each.nodes) for each in lost]

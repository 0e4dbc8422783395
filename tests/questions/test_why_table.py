"""The table of why a pod waits: both sides of each comparison, the clauses of the sentence, and nodes that are judged alike."""

from types import SimpleNamespace

import attrs
import pytest

from kvolsched import make
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.why import table
from kvolsched.questions.why.demands import demands
from kvolsched.questions.why.table import failing_sides, joined, nodes_by_zone, passing_sides, sample
from kvolsched.rules.named import upstream
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.evidence import Sides
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.plugins.default_preemption import NO_VICTIMS, NOT_HELPFUL

PUBLISHES, GPU = make.csi_driver(tracks=None, storageCapacity=True), "example.com/gpu"


def judged(pod, *objects):
    """Return what the plugins say of a pod on nodes that are the first arguments."""
    return judge(from_plain(pod), snapshot(map(from_plain, objects)), upstream().profile)


def room(size, zone, of_class="late"):
    """Return what a driver publishes of its room for a class in a zone."""
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": f"in-{zone}-{of_class}", "namespace": "csi"},
            "storageClassName": of_class, "capacity": size, "nodeTopology": {"matchLabels": {make.ZONE: zone}}}  # fmt: skip


def nodes(*zones, **fields):
    """Return a node in each zone: n1, n2, ..."""
    return [make.node(f"n{number}", zone, **fields) for number, zone in enumerate(zones, 1)]


def holding(cpu, node):
    """Return a pod that holds cpu on a node."""
    return make.pod(f"on-{node}", cpu=cpu, node_name=node)


def told(sides):
    """Return the parts of a comparison that say something."""
    return {name: part for name, part in attrs.asdict(sides).items() if part not in ("", None)}


@pytest.mark.parametrize(("pod", "objects", "rows"), [
    (make.pod(cpu="4"), [make.node("a", cpu="1"), make.node("b", cpu="2"), make.node("c", cpu="8")], [
        ("request", {"left": "4", "relation": ">", "right": "1 … 2", "about": "left", "asked": 4000, "found": 2000, "evidence": "requests.cpu 4 > allocatable 2 − requested 0 = 2 (node b, for example)"},
         {"left": "4", "relation": "≤", "right": "8", "about": "left of 8", "asked": 4000, "found": 8000}),
    ]),
    (make.pod(cpu="4"), [make.node("a", cpu="1"), make.node("b", cpu="1")], [
        ("request", {"left": "4", "relation": ">", "right": "1", "about": "left of 1", "asked": 4000, "found": 1000, "evidence": "requests.cpu 4 > allocatable 1 − requested 0 = 1 (node a, for example)"},
         {}),
    ]),
    (make.pod(cpu="4"), [make.node("a"), make.node("b"), holding("3", "a"), holding("1", "b")], [
        ("request", {"left": "4", "relation": ">", "right": "1 … 3", "about": "left of 4", "asked": 4000, "found": 3000, "evidence": "requests.cpu 4 > allocatable 4 − requested 1 = 3 (node b, for example)"},
         {}),
    ]),
    (make.pod(cpu="4"), [make.node("a", cpu="3"), holding("5", "a")], [
        ("request", {"left": "4", "relation": ">", "right": "-2", "about": "left of 3", "asked": 4000, "found": 0, "evidence": "requests.cpu 4 > allocatable 3 − requested 5 = -2"},
         {}),
    ]),
    (make.pod(requests={GPU: "1"}), [make.node("a")], [
        ("request", {"left": "1", "relation": ">", "right": "0", "about": "left of 0", "asked": 1, "found": 0, "evidence": "requests.example.com/gpu 1 > allocatable 0 − requested 0 = 0"},
         {}),
    ]),
    (make.pod(), [make.node("a", pods="0"), make.node("b", pods="1")], [
        ("request", {"left": "1", "relation": ">", "right": "0", "about": "left of 0", "asked": 1, "found": 0, "evidence": "requests.pods 1 > allocatable 0 − requested 0 = 0"},
         {"left": "1", "relation": "≤", "right": "1", "about": "left of 1", "asked": 1, "found": 1}),
    ]),
    (make.pod(), [make.node("a", unschedulable=True), make.node("b")], [
        ("cordon", {"left": "cordoned", "about": "spec.unschedulable: true", "evidence": "spec.unschedulable true not tolerated by no tolerations"},
         {"left": "not cordoned"}),
    ]),
    (make.pod(), [make.node("a", taints=["x"]), make.node("b")], [
        ("taint", {"left": "x=x:NoSchedule", "about": "not tolerated", "evidence": "taint x=x:NoSchedule not covered by tolerations none"},
         {"left": "no taint"}),
    ]),
    (make.pod(), [make.node("a", taints=["x"]), make.node("b", taints=["y"])], [
        ("taint", {"left": "x=x:NoSchedule", "about": "not tolerated", "evidence": "taint x=x:NoSchedule not covered by tolerations y:every effect"},
         {"left": "no such taint"}),
        ("taint", {"left": "y=x:NoSchedule", "about": "not tolerated", "evidence": "taint y=x:NoSchedule not covered by tolerations x:every effect"},
         {"left": "no such taint"}),
    ]),
    (make.pod(), [make.node("a", taints=["x"]), *(make.node(f"n{number:02}") for number in range(12))], [
        ("taint", {"left": "x=x:NoSchedule", "about": "not tolerated", "evidence": "taint x=x:NoSchedule not covered by tolerations none"},
         {"left": "no taint"}),
    ]),
    (make.pod(), [make.node("a", taints=["x"]), *(make.node(f"n{number:02}") for number in range(13))], [
        ("taint", {"left": "x=x:NoSchedule", "about": "not tolerated", "evidence": "taint x=x:NoSchedule not covered by tolerations none"},
         {}),
    ]),
    (make.pod(nodeSelector={"disk": "ssd"}), [make.node("a", labels={"disk": "hdd"}), make.node("b"), make.node("c", labels={"disk": "ssd"})], [
        ("node selector", {"left": "hdd, no label", "relation": "≠", "right": "ssd", "evidence": "nodeSelector disk=ssd ≠ disk=hdd"},
         {"left": "ssd"}),
    ]),
    (make.pod(nodeSelector={"disk": "ssd"}), [make.node("a", labels={"disk": "hdd"}), make.node("b", labels={"disk": "hdd"})], [
        ("node selector", {"left": "hdd", "relation": "≠", "right": "ssd", "evidence": "nodeSelector disk=ssd ≠ disk=hdd"},
         {}),
    ]),
    (make.pod(nodeSelector={"disk": "ssd"}), [make.node(name, labels={"disk": name}) for name in "abc"], [
        ("node selector", {"left": "a, b", "relation": "≠", "right": "ssd …", "evidence": "nodeSelector disk=ssd ≠ disk=a"},
         {}),
    ]),
    (make.pod(nodeSelector={"disk": "ssd"}), [make.node(f"n{number:02}", labels={"disk": "ab"[number % 2]}) for number in range(13)], [
        ("node selector", {"left": "a, b", "relation": "≠", "right": "ssd …", "evidence": "nodeSelector disk=ssd ≠ disk=a"},
         {}),
    ]),
    (make.pod("app", "data"), [*nodes("a", "a", "b"), make.storage_class(allowed=[{make.ZONE: ["a"]}]), make.claim(), PUBLISHES, room("50Gi", "a")], [
        ("claim", {"left": "b", "relation": "not in", "right": "[a]", "about": "allowedTopologies of the class", "evidence": "allowedTopologies topology.kubernetes.io/zone In [a] do not admit topology.kubernetes.io/zone=b"},
         {"left": "10Gi", "relation": "≤", "right": "50Gi", "about": "class late", "asked": 10737418240, "found": 53687091200}),
    ]),
    (make.pod("app", "data"), [*nodes("a", "b", "c"), make.storage_class(), make.claim(), PUBLISHES, room("50Gi", "a"), room("5Gi", "b"), room("3Gi", "c")], [
        ("claim", {"left": "10Gi", "relation": ">", "right": "3Gi … 5Gi", "about": "class late", "asked": 10737418240, "found": 5368709120, "evidence": "claim data asks 10Gi > 5Gi, the largest volume published for class late"},
         {"left": "10Gi", "relation": "≤", "right": "50Gi", "about": "class late", "asked": 10737418240, "found": 53687091200}),
    ]),
    (make.pod("app", "data"), [*nodes("a", "b", "c"), make.storage_class(), make.claim(), PUBLISHES, room("10Gi", "a"), room("20Gi", "b")], [
        ("claim", {"left": "10Gi", "relation": ">", "right": "nothing", "about": "class late", "asked": 10737418240, "found": 0, "evidence": "claim data asks 10Gi > nothing published for class late"},
         {"left": "10Gi", "relation": "≤", "right": "10Gi", "about": "class late", "asked": 10737418240, "found": 10737418240}),
    ]),
    (make.pod("app", "data"), [*nodes("a", "b"), make.storage_class(), make.claim(bound="disk"), make.volume(bound="data", zone="a")], [
        ("claim", {"left": "b", "relation": "not in", "right": "[a]", "about": "volume disk", "evidence": "volume disk: topology.kubernetes.io/zone In [a] does not match topology.kubernetes.io/zone=b"},
         {"left": "reaches it"}),
    ]),
    (make.pod("app", "data"), [*nodes("a", "b"), make.storage_class("late", "kubernetes.io/no-provisioner"), make.claim(), make.volume(zone="a")], [
        ("claim", {"left": "none fits, none is made", "about": "class late", "evidence": "claim data finds no volume, and nothing is provisioned for class late"},
         {}),
    ]),
    (make.pod("app", "data"), [*nodes("a", "b", "c"), make.storage_class(), make.claim(), make.volume(zone="a"), PUBLISHES, room("9Gi", "a"), room("9Gi", "b"), room("9Gi", "c")], [
        ("claim", {"left": "10Gi", "relation": ">", "right": "9Gi", "about": "class late", "asked": 10737418240, "found": 9663676416, "evidence": "claim data asks 10Gi > 9Gi, the largest volume published for class late"},
         {}),
    ]),
    (make.pod("app", "data", cpu="5"), [*nodes("a", "b"), make.storage_class(waits=False), make.claim(bound="gone"), make.volume("gone", bound="data")], [
        ("request", {"left": "5", "relation": ">", "right": "4", "about": "left of 4", "asked": 5000, "found": 4000, "evidence": "requests.cpu 5 > allocatable 4 − requested 0 = 4 (node n1, for example)"},
         {}),
    ]),
    (make.pod(affinity=make.apart(app="web")), [make.node("a"), make.node("b"), make.pod("w", node_name="a", labels={"app": "web"})], [
        ("anti-affinity", {"left": "default/w", "about": "in a", "evidence": "avoids pods with app=web: pod default/w in kubernetes.io/hostname=a"},
         {}),
    ]),
    (make.pod(labels={"app": "web"}, topologySpreadConstraints=[make.spread(app="web")]), [*nodes("a", "b", "b"), make.pod("w", node_name="n1", labels={"app": "web"})], [
        ("spread", {"left": "skew 2", "relation": ">", "right": "1", "about": "a", "asked": 2, "found": 1, "evidence": "1 in topology.kubernetes.io/zone=a + self match 1 − minimum 0 = 2 > maxSkew 1"},
         {}),
    ]),
])  # fmt: skip
def test_both_sides_of_each_comparison(pod, objects, rows):
    """What fails on the nodes where a demand fails, as a range or some of the values, and why it does not on the others."""
    judgement, found = judged(pod, *objects), []
    for demand in demands(judgement):
        fails = [name for name, here in zip(judgement.nodes, demand.fails.tolist(), strict=True) if here]
        passes = [name for name in judgement.nodes if name not in fails]
        found.append((demand.sort, told(failing_sides(demand, judgement, fails)), told(passing_sides(demand, judgement, passes)) if passes else {}))

    assert rows == found


@pytest.mark.parametrize(("sides", "whole"), [
    ([Sides("a", "≠", "x")], "a ≠ x"), ([Sides("a", "≠", "x", "of"), Sides("b", "≠", "x")], "a, b ≠ x"),
    ([Sides("a", "not in", "x"), Sides("b", "not in", "x")], "a, b not in x"), ([Sides("a", "≠", "x"), Sides("b", "≠", "y")], "a ≠ x, b ≠ y"),
    ([Sides("a", "≠", "x"), Sides("b", "not in", "x")], "a ≠ x, b not in x"), ([Sides("1", ">", "0"), Sides("2", ">", "0")], "1 > 0, 2 > 0"),
    ([Sides("", "≠", "x"), Sides("b", "≠", "x")], "≠ x, b ≠ x"), ([Sides("a"), Sides("b")], "a, b"),
])  # fmt: skip
def test_comparisons_with_one_right_side_are_joined(sides, whole):
    """Values that differ from one and the same stand together; other comparisons stand one after the other."""
    assert (whole, sides[0].about) == (str(joined(sides)), joined(sides).about)


@pytest.mark.parametrize(("count", "chosen"), [
    (0, []), (1, [0]), (12, list(range(12))), (13, list(range(12))), (23, list(range(12))), (24, list(range(0, 24, 2))), (100, list(range(0, 96, 8)))])
def test_of_many_nodes_some_at_equal_distances_are_compared(count, chosen):
    """Twelve nodes are each compared; of more, twelve."""
    assert chosen == [int(name) for name in sample([str(number) for number in range(count)])]


def test_nodes_stand_by_zone():
    """Zones and their nodes by name; nodes without a zone last."""
    made = [make.node("d"), make.node("b", "z"), make.node("c", "a"), make.node("a", "z"), make.node("0")]

    assert (("a", ("c",)), ("z", ("a", "b")), ("", ("0", "d"))) == nodes_by_zone(snapshot(map(from_plain, made)))


@pytest.mark.parametrize(("of_nodes", "clauses"), [
    ("abcdef", (3, 4, 1, 2)), ("ab", (1,)), ("abc", (1, 2)), ("acd", (1, 2, 3, 4)), ("c", (2,)), ("def", (3, 4)), ("", ())])
def test_clauses_of_preemption_are_those_that_count_a_groups_nodes(of_nodes, clauses):
    """Nodes where removing pods does not help, where nobody is less important, and the others: that of most nodes first."""
    made = [make.node("a", unschedulable=True), make.node("b", unschedulable=True), make.node("c", cpu="1"), *(make.node(name, cpu="1") for name in "def")]
    small = [make.pod(f"on-{name}", cpu="500m", node_name=name, priority=priority) for name, priority in zip("cdef", (5, 4, 4, 4), strict=True)]
    judgement = judged(make.pod(cpu="1", priority=5), *made, *small)
    numbers = {NOT_HELPFUL: 1, NO_VICTIMS: 2, "Insufficient cpu": 3, "other": 4}
    found = table._preemption_of(judgement, list(of_nodes), numbers)

    assert clauses == found
    assert ((7,), ()) == (table._preemption_of(judgement, ["a"], {"x": 7}), table._preemption_of(judgement, ["a"], {}))


def test_the_clauses_of_the_sentence_are_numbered():
    """Those of the filters as the event has them, sorted as texts, then those of preemption, which may count no nodes."""
    judgement = SimpleNamespace(nodes=("a", "b", "c"), reasons=lambda: {"were late": 2, "Insufficient cpu": 10, "had taints": 1})
    found = table.clauses_of_sentence(judgement, [(None, "not eligible"), (3, "No victims")])

    assert [(1, "1 had taints", 1, "had taints", False), (2, "10 Insufficient cpu", 10, "Insufficient cpu", False), (3, "2 were late", 2, "were late", False),
            (4, "not eligible", 3, "not eligible", True), (5, "3 No victims", 3, "No victims", True)] == [attrs.astuple(clause) for clause in found]

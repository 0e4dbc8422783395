"""Which answer a pod gets by its state, which pod a reference means, and the rows and holders of an answer."""

import pytest

from kvolsched import Cluster, make
from kvolsched.questions.why.asking import pending, workloads_without_pods

N1, CHOSEN, LATE = make.node("n1"), make.claim(selected_node="n1"), make.storage_class()
GATES = ["a.b/c", "d.e/f"]
CHANGED = "The cluster has changed since, or the dump does not show all."
INSUFFICIENT = "0/1 nodes are available: 1 Insufficient cpu."
FORBIDDEN = 'pods "app" is forbidden: User "system:serviceaccount:kube-system:sched" cannot create resource "pods/binding" in API group ""'
BLOCKED = "Scheduling is blocked due to non-empty scheduling gates"


def conditioned(message, reason="Unschedulable", status="False", **more):
    """Return the status of a pod with its condition PodScheduled."""
    return {"conditions": [{"type": "PodScheduled", "status": status, "reason": reason, "message": message}], **more}


@pytest.mark.parametrize(("objects", "state", "headline", "sentence", "notes"), [
    ([make.pod(), N1], "fits", "it has not been tried yet: 1 of 1 nodes would take it (n1).", "", ()),
    ([make.pod(), *(make.node(f"n{number}") for number in range(4))], "fits", "it has not been tried yet: 4 of 4 nodes would take it (n0, n1, n2, n3).", "", ()),
    ([make.pod(), *(make.node(f"n{number}") for number in range(5))], "fits", "it has not been tried yet: 5 of 5 nodes would take it (n0, n1, n2, n3 …).", "", ()),
    ([make.pod(status=conditioned(INSUFFICIENT)), N1], "fits", "1 of 1 nodes would take it now (n1), though its last try failed.", "",
     (f"Its last try ended with: “{INSUFFICIENT}”. {CHANGED}",)),
    ([make.pod(status=conditioned("1 Insufficient pods")), N1], "fits", "1 of 1 nodes would take it now (n1), though its last try failed.", "",
     (f"Its last try ended with: “1 Insufficient pods”. {CHANGED}",
      "The cluster writes the phrase of early releases, 1.11 for example; today it is “Too many pods”.")),
    ([make.pod(status=conditioned("x", status="True")), N1], "fits", "it has not been tried yet: 1 of 1 nodes would take it (n1).", "", ()),
    ([make.pod(status=conditioned(FORBIDDEN)), N1, make.node("n2")], "fits",
     "sched may not create pods/binding (RBAC): a pod that needs it is not bound, though n1, n2 would take it", "", ()),
    ([make.pod(gates=GATES), N1], "gated", "it is not tried at all: its scheduling gates [a.b/c, d.e/f] must be removed first (1 of 1 nodes would fit).", BLOCKED, ()),
    ([make.pod(gates=GATES, nodeSelector={"a": "b"}), N1], "gated",
     "it is not tried at all: its scheduling gates [a.b/c, d.e/f] must be removed first (without its gates no node would fit either).", BLOCKED, None),
    ([make.pod(gates=GATES[:1], status=conditioned("own words", "SchedulingGated")), N1], "gated",
     "it is not tried at all: its scheduling gates [a.b/c] must be removed first (1 of 1 nodes would fit).", "own words", ()),
    ([make.pod(gates=GATES[:1], status=conditioned("own words", "Other")), N1], "gated",
     "it is not tried at all: its scheduling gates [a.b/c] must be removed first (1 of 1 nodes would fit).", BLOCKED, ()),
    ([make.pod(status={"phase": "Failed"}), N1], "ended", "it has ended (Failed): nothing is left to schedule.", "", ()),
    ([make.pod(status={"phase": "Failed", "reason": "Evicted", "message": "too full"}), N1], "ended",
     "it has ended (Failed: Evicted, too full): nothing is left to schedule.", "", ()),
    ([make.pod(schedulerName="volcano"), N1], "not ours", "it asks for the scheduler volcano, not default-scheduler.", "", ()),
    ([make.pod(cpu="9", priority=5), make.node("n1", cpu="10"), make.pod("low", cpu="8", node_name="n1", priority=1)], "unschedulable",
     "the pod asks for 9 cpu; n1, the only node, has 2 of 10 left, pod default/low holds 8", INSUFFICIENT,
     ("The scheduler's next try evicts default/low of lower priority from n1.",)),
    ([make.pod("app", "data", status={"nominatedNodeName": "n1"}), N1, CHOSEN, LATE], "waiting", "a node is chosen (n1); it waits for its volumes to be bound.", "",
     ("claim data is Pending: disks.example.com provisions a volume for node n1 next",)),
    ([make.pod("app", "data", status={"nominatedNodeName": "n2"}), N1, make.node("n2"), CHOSEN, LATE], "fits",
     "it has not been tried yet: 1 of 2 nodes would take it (n1).", "", ()),
    ([make.pod("app", "data", status={"nominatedNodeName": "n1"}, gates=GATES[:1]), N1, CHOSEN, LATE], "gated",
     "it is not tried at all: its scheduling gates [a.b/c] must be removed first (1 of 1 nodes would fit).", BLOCKED, ()),
    ([make.pod("app", "data", cpu="9", status={"nominatedNodeName": "n1"}), N1, CHOSEN, LATE], "unschedulable",
     "the pod asks for 9 cpu, and the only node, n1, has 4", None, None),
    ([make.pod(schedulerName="default-scheduler")], "unschedulable", "there are no nodes.", "no nodes available to schedule pods", ()),
])  # fmt: skip
def test_a_pod_is_answered_by_its_state(objects, state, headline, sentence, notes):
    """Ended, another scheduler's, gated, with a chosen node, fitting, or excluded by every node; and what its condition says of it."""
    answer = Cluster.from_manifests(objects).why("app")

    assert (state, headline) == (answer.state, answer.headline)
    assert sentence in (None, answer.sentence)
    assert notes in (None, answer.notes)
    assert answer.gates == (tuple(gate["name"] for gate in objects[0]["spec"].get("schedulingGates", ())) if state == "gated" else ())


@pytest.mark.parametrize(("workload", "title"), [
    (make.deployment("web", replicas=2, cpu="9"), "deploy/web, the first of its 2 pending pods: default/web-"),
    (make.deployment("web", replicas=1, cpu="9"), "deploy/web, its only pending pod: default/web-"),
    (make.deployment("web", replicas=1), "deploy/web, none of its pods waits for a node: default/web-"),
])  # fmt: skip
def test_a_workload_means_one_of_its_pods(workload, title):
    """Its first pod that waits, and how many do, or its first pod if none does."""
    c = Cluster.from_manifests([N1, workload, make.pod("other", cpu="9")])
    c.run()

    assert c.why("deploy/web").title.startswith(title)


@pytest.mark.parametrize(("reference", "said"), [
    ("deploy/web", "deploy/web has no pod"), ("deploy/wep", "deploy/wep is no Pod; these have no node: default/app"),
    ("ap", "no pod/ap; there are: pod/app; these have no node: default/app; did you mean pod/app?"),
])  # fmt: skip
def test_what_nobody_can_be_asked_about(reference, said):
    """A workload without pods, and a name that neither a pod nor a workload has, with the pods that have no node."""
    c = Cluster.from_manifests([N1, make.deployment("web", replicas=2), make.pod("app", cpu="9")])
    with pytest.raises(KeyError) as unknown:
        c.why(reference)

    assert said == unknown.value.args[0]
    with pytest.raises(KeyError) as nobody:
        Cluster().why("x")
    assert nobody.value.args[0].endswith("; these have no node: none")


@pytest.mark.parametrize(("sizes", "rows"), [
    ([1, 2, 3, 4], [(["n0"], 1, ""), (["n1"], 2, ""), (["n2"], 3, ""), (["n3"], 4, "")]), ([1, 2, 3, 4, 5], [(["n0", "n1", "n2", "n3", "n4"], 1, "n0")]),
    ([2, 1, 2], [(["n0", "n2"], 2, ""), (["n1"], 1, "")]), ([1] * 12, [([f"n{number:x}" for number in range(12)], 1, "")]),
    ([*[1] * 5, 2, *[1] * 7], [([f"n{number:x}" for number in range(13)], 2, "n5")]),
])  # fmt: skip
def test_nodes_that_fail_alike_are_a_row(sizes, rows):
    """A few are each compared; of very many, or of too many comparisons, one stands for all: that with most left, or the first."""
    made = [make.node(f"n{number:x}", cpu=str(cpu)) for number, cpu in enumerate(sizes)]
    found = Cluster.from_manifests([make.pod(cpu="6"), *made]).why("app").rows
    example = {node: f" (node {node}, for example)" if node else "" for *_, node in rows}

    assert [(tuple(nodes), f"requests.cpu 6 > allocatable {cpu} − requested 0 = {cpu}{example[node]}", node or nodes[0]) for nodes, cpu, node in rows] == [
        (row.nodes, row.clause, row.example) for row in found]
    assert {("NodeResourcesFit", ("Insufficient cpu",))} == {(row.plugin, row.reasons) for row in found}


def test_who_holds_what_is_short():
    """On the two nodes with most left that are large enough, the largest holders first, then by name; how many more there are."""
    pods = [make.pod(f"p{number}", cpu="500m", node_name="n1") for number in range(6)]
    pods += [make.pod("b", cpu="1", node_name="n2", namespace="shop"), make.pod("a", cpu="1", node_name="n2", namespace="shop"),
             make.pod("zero", cpu="0", node_name="n2"), make.pod("r", cpu="3500m", node_name="n3")]  # fmt: skip
    answer = Cluster.from_manifests([make.pod(cpu="4"), N1, make.node("n2"), make.node("n3"), make.node("n4", cpu="1"), *pods]).why("app")
    few = Cluster.from_manifests([make.pod(), make.node("n1", pods="1"), make.pod("r", node_name="n1")]).why("app")

    assert ["n2 has 2 of 4 cpu left, the pod asks for 4; held by shop/a 1, shop/b 1",
            ("n1 has 1 of 4 cpu left, the pod asks for 4; held by default/p0 500m, default/p1 500m, default/p2 500m, default/p3 500m and 2 more")] == [
        str(holding) for holding in answer.holdings]
    assert ["n1 has 0 of 1 pods left, the pod asks for 1; held by default/r 1"] == [str(holding) for holding in few.holdings]


def test_pods_and_workloads_that_wait():
    """Pods without a node that have not ended, by name; workloads that want pods and have none yet."""
    c = Cluster.from_manifests([N1, make.pod("b"), make.pod("a", namespace="shop"), make.pod("on", node_name="n1"), make.pod("ended", status={"phase": "Failed"}),
                                make.deployment("web"), make.deployment("none", replicas=0), make.stateful_set("db")])  # fmt: skip

    assert (("default/b", "shop/a"), ("deploy/web", "sts/db")) == (pending(c), workloads_without_pods(c))
    c.run()
    assert () == workloads_without_pods(c)

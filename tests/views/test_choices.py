"""What the panel's forms offer: of each kind of choice what there is, as it is shown and as it is done."""

import pytest

from kvolsched import Cluster, make, scenario
from kvolsched.views.fill.choices import choices, offered

ZONE = "topology.kubernetes.io/zone"


@pytest.fixture(scope="module")
def cluster():
    """Three zones of two nodes, of which one is cordoned and one stopped; a pod that runs, and one behind a gate."""
    made = scenario("zones", replicas=1)
    made.run()
    made.cordon("node-1-1")
    made.stop_nodes("node-2-1")
    made.apply([make.pod("later", gates=("example.com/quota",))])
    return made


@pytest.mark.parametrize(("kind", "there"), [
    ("cordoned", ["node-1-1"]),
    ("stopped", ["node-2-1"]),
    ("gated", ["pod/later"]),
    ("restarted", ["all components", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "kubelet"]),
    ("condition", ["pod/later Running"]),
])
def test_what_there_is_of_a_kind(cluster, kind, there):
    """Nodes by name, pods by reference, processes as Kubernetes calls them."""
    assert there == [shown for shown, _ in choices(cluster, kind)]


def test_zones_are_stopped_by_their_label_and_a_process_may_be_all_controllers(cluster):
    """A zone of several nodes is one choice before the nodes; the controllers are offered one by one, then as one."""
    stoppable, nodes = choices(cluster, "stoppable"), choices(cluster, "node")
    components, processes = choices(cluster, "component"), choices(cluster, "process")

    assert [(f"zone zone-{number} (2 nodes)", f"{ZONE}=zone-{number}") for number in (1, 2, 3)] == stoppable[:3]
    assert [(name, name) for name in (f"node-{zone}-{number}" for zone in (1, 2, 3) for number in (1, 2))] == nodes == stoppable[3:]
    assert ("scheduler", "scheduler") in components
    assert [*components, ("kube-controller-manager", "kube-controller-manager")] == processes


def test_an_act_is_offered_where_there_is_something_for_it(cluster):
    """Of a cluster without pods, gates and cordoned or stopped nodes nothing is offered."""
    assert {"cordoned", "gated", "pod", "stopped", "workload"} == offered(cluster)
    assert frozenset() == offered(Cluster.from_manifests([make.node("n1")]))


def test_choices_are_by_name_in_whatever_order_their_objects_came():
    """Nodes, pods, workloads and zones stand in order; a zone of one node is no choice; pods come before claims."""
    nodes = [make.node(name, zone) for name, zone in (("n5", "b"), ("n4", "b"), ("n3", "a"), ("n2", "a"), ("n1", "c"))]
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
             "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}  # fmt: skip
    made = Cluster.from_manifests([*nodes, claim, make.pod("y"), make.pod("x"), make.deployment("w2"), make.deployment("w1")])
    made.stop_nodes("n4")
    made.stop_nodes("n2")
    shown = {kind: [words for words, _ in choices(made, kind)] for kind in ("node", "pod", "workload", "stopped", "condition")}

    assert ["zone a (2 nodes)", "zone b (2 nodes)", "n1"] == [words for words, _ in choices(made, "stoppable")][:3]
    assert ["n1", "n2", "n3", "n4", "n5"] == shown["node"]
    assert (["pod/x", "pod/y"], ["deploy/w1", "deploy/w2"], ["n2", "n4"]) == (shown["pod"], shown["workload"], shown["stopped"])
    assert ["pod/x Running", "pod/y Running", "pvc/data Bound"] == shown["condition"]

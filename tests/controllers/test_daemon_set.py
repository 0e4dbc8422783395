"""DaemonSets: a pod for every node that fits, and for no other; updates node by node."""

import pytest
from controllers.workloads import cluster, events, most_and_least, pods, running, workload

from kvolsched.api.kinds.selector import Taint
from kvolsched.api.text.manifest import from_plain, to_plain


def nodes_of(made, **labels):
    """Return the nodes that have a running daemon, sorted."""
    return sorted(pod.spec.node_name for pod in pods(made, **labels) if pod.status.phase == "Running")


def test_every_node_has_one_and_a_new_node_gets_one():
    """The scheduler binds each to the node that it names; the status counts nodes."""
    made = cluster(workload("DaemonSet"), nodes=2)
    assert ["node-1", "node-2"] == nodes_of(made)
    status = made["ds/web"].status
    assert (2, 2, 2, 2, 0) == (
        status.desired_number_scheduled, status.current_number_scheduled, status.number_ready,
        status.number_available, status.number_misscheduled,
    )
    assert {"SuccessfulCreate"} == {reason for reason, _ in events(made, "DaemonSet")}
    made.apply({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-3", "labels": {"disk": "ssd"}},
        "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}},
    })
    made.run(seconds=100)
    assert ["node-1", "node-2", "node-3"] == nodes_of(made)


def test_selectors_and_taints_leave_nodes_out():
    """A node of another label has none; a cordoned one has; one that is tainted loses it only for NoExecute."""
    made = cluster(workload("DaemonSet") + "\n      nodeSelector: {disk: ssd}", nodes=3)
    assert ["node-1"] == nodes_of(made)

    made = cluster(nodes=2)
    made.cordon("node-1")
    made.taint("node-2", "team=other:NoSchedule")
    made.apply(workload("DaemonSet"))
    made.run(seconds=100)
    assert ["node-1"] == nodes_of(made)
    made.taint("node-1", "team=other:NoSchedule")
    made.run(seconds=100)
    assert ["node-1"] == nodes_of(made), "it may stay"
    made.taint("node-1", "broken=yes:NoExecute")
    made.run(seconds=100)
    assert [] == nodes_of(made)
    assert Taint(key="broken", value="yes", effect="NoExecute") in made["node/node-1"].spec.taints


@pytest.mark.parametrize(("most", "least"), [(1, 3), (2, 2), ("50%", 2)])
def test_an_update_goes_node_by_node(most, least):
    """Never more nodes without a running daemon than maxUnavailable."""
    rolling = f"updateStrategy: {{type: RollingUpdate, rollingUpdate: {{maxUnavailable: {most}}}}}"
    made = cluster(workload("DaemonSet", spec=rolling), nodes=4)
    made.apply(workload("DaemonSet", rev="2", spec=rolling))
    made.run(seconds=100)
    assert ["node-1", "node-2", "node-3", "node-4"] == nodes_of(made, rev="2")
    assert most_and_least(made)[1] >= least
    assert 4 == made["ds/web"].status.updated_number_scheduled


def test_on_delete_waits_for_somebody():
    """Only a daemon that a user deletes comes back with the new template."""
    rolling = "updateStrategy: {type: OnDelete}"
    made = cluster(workload("DaemonSet", spec=rolling), nodes=2)
    made.apply(workload("DaemonSet", rev="2", spec=rolling))
    made.run(seconds=100)
    assert 2 == running(made, rev="1")
    made.delete(f"pod/{pods(made)[0].metadata.name}")
    made.run(seconds=100)
    assert (1, 1) == (running(made, rev="1"), running(made, rev="2"))


def test_daemons_of_a_loaded_cluster_are_left_alone():
    """A dump's daemons bear another hash than ours would be: nothing has changed, so nothing is replaced."""
    made = cluster(workload("DaemonSet"), nodes=1)
    found = [to_plain(one) for one in (made["ds/web"], *made.objects("pods"))]
    found[1]["metadata"]["labels"]["controller-revision-hash"] = "7d9f8c6b5"
    other = cluster(nodes=1)
    other._load(map(from_plain, found))
    before = [pod.metadata.uid for pod in pods(other)]
    other.run(seconds=100)
    assert before == [pod.metadata.uid for pod in pods(other)]


@pytest.mark.parametrize(("revision", "passes"), [("upstream", True), ("design", False)])
def test_daemons_go_through_the_scheduler_today(revision, passes):
    """They are tied to their node by its name and bound there; once they were placed past the scheduler."""
    made = cluster(workload("DaemonSet"), nodes=1, revision=revision)
    (pod,) = pods(made)
    assert ("node-1", "Running") == (pod.spec.node_name, pod.status.phase)
    assert passes == (pod.spec.affinity is not None)
    assert passes == any(reason == "Scheduled" for reason, _ in events(made, "Pod"))


def test_the_template_generation_counts_changes_of_the_template():
    """The annotation is the server's: a changed template counts it up, nothing else does; pods carry it as a label."""
    made = cluster(workload("DaemonSet"), nodes=2)
    annotation, label = "deprecated.daemonset.template.generation", "pod-template-generation"

    def seen():
        return made["ds/web"].metadata.annotations[annotation], {pod.metadata.labels[label] for pod in pods(made)}

    assert ("1", {"1"}) == seen()
    made.apply(workload("DaemonSet", spec="minReadySeconds: 1"))
    made.patch("ds/web", {"metadata": {"annotations": {annotation: "7"}}})
    made.run(seconds=100)
    assert ("1", {"1"}) == seen()
    made.apply(workload("DaemonSet", rev="2", spec="minReadySeconds: 1"))
    made.run(seconds=100)
    assert ("2", {"2"}) == seen()

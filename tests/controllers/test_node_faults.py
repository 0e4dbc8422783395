"""Nodes that stop: silence, not ready, taints, evictions, pods that stay Terminating; and their return."""

import pytest

from kvolsched import Cluster, scenario
from kvolsched.explore import StopNodes

NODES = """
{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}}}}},
  status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app}]}
"""


def cluster_of(**zones):
    """Return a cluster with nodes by zone."""
    texts = [NODES.format(name=node, zone=zone) for zone, names in zones.items() for node in names.split()]
    return Cluster.from_manifests(*texts)


@pytest.fixture
def running():
    """Return a cluster of two zones whose Deployment runs."""
    c = cluster_of(a="a1 a2", b="b1")
    c.apply(DEPLOYMENT)
    c.run()
    return c


def taints(c, node):
    """Return a node's taints as texts."""
    return [str(taint) for taint in c[f"node/{node}"].spec.taints]


def condition(obj, type_):
    """Return the status of a condition."""
    return next((each.status for each in obj.status.conditions if each.type == type_), None)


UNREACHABLE = ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"]


def test_a_silent_node_is_not_ready_after_the_grace_period(running):
    """For 50 s nothing is written; then the node is Unknown and its pods are not ready, with Kubernetes' events."""
    running.stop_nodes("b1")
    assert "Node b1 stops: its kubelet answers nobody." == running._last_step.words
    first = running.step()
    assert 50.0 == first.time
    assert "marks node/b1 as not ready: its kubelet was silent for 50 s" in first.words
    assert "Unknown" == condition(running["node/b1"], "Ready")
    running.run(seconds=10)
    pods = {pod.spec.node_name == "b1": condition(pod, "Ready") for pod in running.objects("pods")}
    assert {True: "False", False: "True"} == pods
    assert {"Node b1 status is now: NodeNotReady", "Node is not ready"} == {
        event.message for event in running.objects("events") if event.reason == "NodeNotReady"}  # fmt: skip


def test_pods_are_replaced_after_300_seconds_and_stay_terminating(running):
    """The pods of a stopped zone are deleted 300 s after the taint, are replaced elsewhere, and never confirm."""
    running.stop_nodes("topology.kubernetes.io/zone=a")
    before = {pod.metadata.name for pod in running.objects("pods") if pod.spec.node_name in ("a1", "a2")}
    assert before
    running.run()
    assert (UNREACHABLE, UNREACHABLE, []) == (taints(running, "a1"), taints(running, "a2"), taints(running, "b1"))
    terminating = {pod.metadata.name for pod in running.objects("pods") if pod.metadata.deletion_timestamp}
    others = [pod for pod in running.objects("pods") if not pod.metadata.deletion_timestamp]
    assert before == terminating
    assert [("b1", "Running")] * 2 == [(pod.spec.node_name, pod.status.phase) for pod in others]
    deleted = [event for event in running.objects("events") if event.reason == "TaintManagerEviction"]
    assert {f"Marking for deletion Pod default/{name}" for name in before} == {event.message for event in deleted}
    target = next(pod for pod in running.objects("pods") if pod.metadata.deletion_timestamp).status
    assert "DeletionByTaintManager" == target.condition("DisruptionTarget").reason


def test_a_node_that_returns_is_clean_again(running):
    """The kubelet reports, the taints go, and pods that were deleted meanwhile end."""
    running.stop_nodes("a1", "node/a2")
    running.run()
    running.start_nodes()
    running.run()
    assert [] == taints(running, "a1") + taints(running, "a2")
    assert "True" == condition(running["node/a1"], "Ready")
    assert 2 == len(running.objects("pods"))


def test_a_short_silence_changes_nothing(running):
    """A node that answers before the grace period is over is never marked."""
    running.stop_nodes("a1")
    before = running.manifests()
    running.start_nodes("a1")
    running.run()
    assert before == running.manifests()


def test_a_node_that_returns_before_the_evictions_keeps_its_pods(running):
    """Deletions that wait are cancelled, and the pods are ready again."""
    running.stop_nodes("topology.kubernetes.io/zone in (a)")
    running.run(until=lambda c: UNREACHABLE == taints(c, "a2"))
    names = {pod.metadata.name for pod in running.objects("pods")}
    running.start_nodes()
    running.run()
    assert names == {pod.metadata.name for pod in running.objects("pods")}
    assert {"True"} == {condition(pod, "Ready") for pod in running.objects("pods")}
    assert any(event.message.startswith("Cancelling deletion of Pod") for event in running.objects("events"))


def test_back_and_fork_undo_a_stop(running):
    """A stop is a step of the log: back restores the digest, a fork has it too."""
    before = running.digest()
    running.stop_nodes("a1")
    fork = running.fork()
    assert before != running.digest() == fork.digest()
    running.back()
    assert before == running.digest()
    assert not running.run()
    fork.run()
    assert UNREACHABLE == taints(fork, "a1")


def test_nothing_is_evicted_where_every_node_is_silent():
    """If no node of the cluster is ready the controller evicts nothing, as in Kubernetes."""
    c = cluster_of(a="a1", b="b1")
    c.apply(DEPLOYMENT)
    c.run()
    c.stop_nodes("topology.kubernetes.io/zone")
    c.run()
    assert [UNREACHABLE[:1]] * 2 == [taints(c, "a1"), taints(c, "b1")]
    assert not [pod for pod in c.objects("pods") if pod.metadata.deletion_timestamp]


def test_nodes_of_a_zone_are_tainted_one_after_another():
    """NoExecute comes at 0.1 nodes a second in each zone; a dial changes that."""
    for rate, wanted in ((0.1, 10.0), (0.5, 2.0)):
        c = Cluster(components={"node-lifecycle-controller": {"eviction_rate": rate, "grace_period": 40.0}})
        c._load(cluster_of(a="a1 a2", b="b1").objects("nodes"))
        c.stop_nodes("a1", "a2")
        times = [step.time for step in c.run() if ":NoExecute" in step.words]
        assert [40.0, 40.0 + wanted] == times


def test_volumes_and_claims_of_a_stopped_node_stay_bound():
    """The pod of a lost zone is Terminating; its claim stays bound to the volume there."""
    c = scenario("zonal-example", "upstream")
    c.run()
    volume = c["pvc/my-pvc"].spec.volume_name
    c.stop_nodes(c["pod/my-pod"].spec.node_name)
    c.run()
    assert c["pod/my-pod"].metadata.deletion_timestamp
    assert (volume, "Bound") == (c["pvc/my-pvc"].spec.volume_name, c[f"pv/{volume}"].status.phase)


def test_a_users_no_execute_taint_evicts_pods_that_do_not_tolerate_it():
    """The taint deletes the pod at once; tolerationSeconds delays it; a toleration without seconds keeps the pod."""
    c = cluster_of(a="a1")
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "app", "image": "app"}]}}
    tolerates = {"key": "broken", "operator": "Exists", "effect": "NoExecute"}
    for name, more in {"no": [], "late": [{**tolerates, "tolerationSeconds": 60}], "ever": [tolerates]}.items():
        c.apply({**pod, "metadata": {"name": name}, "spec": {**pod["spec"], "tolerations": more}})
    c.run()
    c.taint("a1", "broken=yes:NoExecute")
    start = c.now
    c.run("pod/no gone")
    assert (start, True) == (c.now, "pod/late" in c)
    c.run("pod/late gone")
    assert start + 60 == c.now
    c.run()
    assert "pod/ever" in c


def test_a_restarted_kubelet_still_reports(running):
    """A crash of the kubelets between the start and their report loses nothing."""
    running.stop_nodes("a1")
    running.run()
    running.start_nodes("a1")
    running.crash("kubelet")
    running.crash("node lifecycle controller")
    running.run()
    assert [] == taints(running, "a1")
    assert 2 == len(running.objects("pods"))


@pytest.mark.parametrize(("which", "message"), [
    (["c1"], "no node/c1; there are: node/a1, node/a2, node/b1"),
    (["topology.kubernetes.io/zone=c"], "zone=c; there are: topology.kubernetes.io/zone=a, topology.kubernetes.io/zone=b"),
    (["zone in (a, b)"], "no node has the label zone; there are: .*; did you mean topology.kubernetes.io/zone?"),
    (["topology.kubernetes.io/zone=a,topology.kubernetes.io/zone=b"], "no node has the labels topology"),
    ([], "name the nodes to stop"),
])  # fmt: skip
def test_nodes_that_are_not_there_are_one_sentence(running, which, message):
    """A name or selector without nodes is refused, and nothing is stopped."""
    before = running.digest()
    with pytest.raises((KeyError, ValueError), match=message):
        running.stop_nodes(*which)
    assert before == running.digest()


# -- delays ---------------------------------------------------------------------------------------------------------


def test_a_delayed_component_sees_and_does_nothing():
    """Others act meanwhile; the component goes on when the delay is over, and its lag is part of the digest."""
    c = scenario("zonal-example")
    before = c.digest()
    c.delay("PV controller", 5)
    assert before != c.digest()
    assert not c.step("PV controller")
    assert {"persistent-volume-binder"}.isdisjoint(turn.component for turn in c.next)
    steps = [step for step in c.run() if any(turn.component == "persistent-volume-binder" for turn in step.turns)]
    assert 5.0 == steps[0].time
    c.goto(0)
    assert before == c.digest()


def test_a_delay_that_is_over_leaves_no_trace():
    """After its end a delayed cluster that did the same has the digest of one that was not delayed."""
    delayed, plain = scenario("zonal-example"), scenario("zonal-example")
    for c in (delayed, plain):
        c.run()
    delayed.delay("scheduler", 5)
    delayed.run()
    assert 7.0 == delayed.now
    assert plain.digest() == delayed.digest()


def test_a_delayed_component_with_work_to_wake_up_for_waits_on():
    """A wake-up that is due while its component is delayed rings when the delay is over."""
    c = scenario("zonal-example")
    driver = c.objects("storageclasses")[0].provisioner
    c.run(until=lambda c: c.world.processes[driver].wake_ups.items)
    c.delay("provisioner", 30)
    c.run("pvc/my-pvc Bound")
    assert 30.0 <= c.now < 31.0


def test_the_search_waits_for_a_delayed_component():
    """The explorer lets time pass until the component is back, and finds the goal reachable."""
    c = scenario("zonal-example")
    c.delay("scheduler", 5)
    assert c.explore(progress=False).exhausted


@pytest.mark.parametrize(("component", "seconds", "message"), [
    ("PV contoller", 5, "no component is called 'PV contoller'; there are: .*did you mean PV controller"),
    ("scheduler", 0, "delay of kube-scheduler: seconds: 0: must be greater than 0"),
])  # fmt: skip
def test_a_delay_that_makes_no_sense_is_refused(component, seconds, message):
    """An unknown component or no time is one sentence."""
    c = scenario("zonal-example")
    with pytest.raises((LookupError, ValueError), match=message):
        c.delay(component, seconds)
    assert 0 == c.world.known_steps


def test_the_search_finds_what_a_stopped_zone_does():
    """With the fault the search finds a run in which the claim's pod cannot run again; without it there is none."""
    c = scenario("zonal-example", "upstream")
    c.run()
    lost = [StopNodes(c["pod/my-pod"].spec.node_name)]

    def is_lost(objects):
        return any(key.kind == "Pod" and obj.metadata.deletion_timestamp for key, obj in objects.items())

    assert c.explore(until=is_lost, progress=False).counterexample is None
    found = c.explore(until=is_lost, faults=lost, progress=False)
    assert any("node-a stop" in line for line in found.counterexample.story)
    assert "the nodes node-a stop" in " ".join(found.assumptions)

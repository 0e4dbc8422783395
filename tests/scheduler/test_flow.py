"""The two binding flows: one worker and two passes, or waiting in PreBind."""

import pytest

from kvolsched import scenario
from kvolsched.cluster import Cluster
from kvolsched.scheduler.loop.binding_flow import BINDING
from kvolsched.world.log import Note


def binding(cluster, name):
    """Return a pod's binding in progress, or None."""
    return cluster.world.log.notes.get(Note("kube-scheduler", BINDING, f"default/{name}"))


def writers(cluster, kind):
    """Return (who, verb) of every write of a kind, in order."""
    return [
        (turn.component, outcome.write.verb)
        for turn in cluster.world.turns
        for outcome in turn.outcomes
        if outcome.write.key.kind == kind
    ]


@pytest.mark.checklist("79", "123")
def test_the_design_always_schedules_twice():
    """While its volumes are bound the pod is neither nominated nor assumed, and it has a second pass."""
    cluster = scenario("zonal-example", "design")
    cluster.run(until="pvc/my-pvc Bound")
    assert not cluster["pod/my-pod"].status.nominated_node_name
    cache = cluster.world.processes["kube-scheduler"].views["cache"]
    assert not any(key.kind == "Pod" for key in cache.assumed)
    cluster.run()
    assert cluster.world.log.notes[Note("kube-scheduler", "pass", "default/my-pod")].number == 2


def test_today_one_pass_is_enough():
    """The pod is assumed and nominated, the binding cycle waits, and binding clears the nomination."""
    cluster = scenario("zonal-example", "upstream")
    cluster.run(until="pvc/my-pvc Bound")
    assert cluster["pod/my-pod"].status.nominated_node_name == "node-a"
    cluster.run()
    assert cluster.world.log.notes[Note("kube-scheduler", "pass", "default/my-pod")].number == 1
    assert not cluster["pod/my-pod"].status.nominated_node_name
    assert writers(cluster, "Pod")[:2] == [("kube-scheduler", "patch"), ("kube-scheduler", "bind")]


@pytest.mark.checklist("82")
@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.parametrize("name", ["zonal-example", "local-disks", "two-replicas"])
def test_the_scheduler_never_writes_volume_name(name, revision):
    """The scheduler prebinds; the PV controller completes the binding (S0, Integrating binding)."""
    cluster = scenario(name, revision)
    cluster.run()
    for turn in cluster.world.turns:
        for outcome in turn.outcomes:
            if turn.component == "kube-scheduler" and outcome.write.key.kind == "PersistentVolumeClaim":
                assert not outcome.write.new.spec.volume_name


@pytest.mark.checklist("78", "119", "120")
def test_one_worker_serves_its_queue_in_order():
    """Under the design the second pod's writes wait for the first's, while the scheduler goes on with other pods."""
    cluster = scenario("two-replicas", "design")
    cluster.step("scheduling pass")
    cluster.step("scheduling pass")
    assert binding(cluster, "web-0").stage == binding(cluster, "web-1").stage == "write"
    cache = cluster.world.processes["kube-scheduler"].views["cache"]
    assert [key.name for key in cache.assumed] == ["data-web-0", "data-web-1"]
    assert [turn.cause for turn in cluster.next if turn.actor == "bind worker"] == ["default/web-0"]
    cluster.step("bind worker")
    assert [turn.cause for turn in cluster.next if turn.actor == "bind worker"] == ["default/web-1"]


def test_binding_cycles_go_side_by_side_today():
    """The binding cycles of both pods can run in any order."""
    cluster = scenario("two-replicas", "upstream")
    cluster.step("scheduling pass")
    cluster.step("scheduling pass")
    assert {turn.cause for turn in cluster.next if turn.actor == "bind worker"} == {"default/web-0", "default/web-1"}


def test_the_binding_cycle_gives_up_after_ten_minutes():
    """Without a provisioner the binding cycle fails after 600 s; the nomination is cleared and the pod retried."""
    cluster = scenario("zonal-example", "upstream", **{"kubernetes.io/gce-pd": {"running": False}})
    cluster.run(until=lambda c: c["pod/my-pod"].status.condition("PodScheduled") is not None)
    condition = cluster["pod/my-pod"].status.condition("PodScheduled")
    assert condition.reason == "SchedulerError"
    assert condition.message == 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    assert cluster.now == 600.0
    assert not cluster["pod/my-pod"].status.nominated_node_name


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.parametrize("nth", range(1, 7))
def test_any_refused_write_is_recovered_from(revision, nth):
    """If any one of the scheduler's writes is refused, the pod runs in the end, and nothing stays assumed."""
    cluster = scenario("zonal-example", revision)
    cluster.refuse("kube-scheduler", nth)
    cluster.run()
    assert cluster["pod/my-pod"].status.phase == "Running"
    cluster.run()
    cluster.world.deliver(cluster.world.processes["kube-scheduler"])
    assert binding(cluster, "my-pod") is None


def test_a_pod_of_the_same_name_is_not_bound_in_the_others_place():
    """If a pod is replaced while its volumes are bound, its binding fails, and the new pod is scheduled by itself."""
    cluster = scenario("zonal-example", "upstream")
    cluster.run(until=lambda c: bool(c["pvc/my-pvc"].metadata.annotations))
    manifest = cluster.manifests("pod/my-pod")
    first = cluster["pod/my-pod"].metadata.uid
    cluster.delete("pod/my-pod")
    start = manifest.index("spec:")
    cluster.apply("apiVersion: v1\nkind: Pod\nmetadata: {name: my-pod}\n" + manifest[start : manifest.index("status:")])
    cluster.run()
    assert cluster["pod/my-pod"].metadata.uid != first
    assert cluster["pod/my-pod"].status.phase == "Running"


def test_a_design_pod_in_waiting_hears_only_of_its_own():
    """Only changes of its own claims and volumes move a pod that waits for its volumes."""
    cluster = scenario("zonal-example", "design", **{"kubernetes.io/gce-pd": {"running": False}})
    cluster.run()
    number = cluster.world.log.notes[Note("kube-scheduler", "pass", "default/my-pod")].number
    spec = {"storageClassName": "x", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    cluster.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "other"}, "spec": spec})
    cluster.run()
    assert cluster.world.log.notes[Note("kube-scheduler", "pass", "default/my-pod")].number == number
    assert isinstance(cluster, Cluster)

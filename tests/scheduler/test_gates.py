"""Gated pods in the loop: created, restricted and released through the API server (S4)."""

import pytest

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.cluster import Cluster
from kvolsched.core.results import ApplyRefused
from kvolsched.scheduler.loop import scheduling_queue as queue
from kvolsched.world.apiserver import RefusedWrite, Write, key_of
from kvolsched.world.log import Note

NODES = "---".join(
    f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{disk: {disk}}}}}
status: {{allocatable: {{cpu: "4", pods: "9"}}}}
"""
    for name, disk in (("fast", "ssd"), ("slow", "hdd"))
)
POD = """
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  schedulingGates: [{name: example.com/a}, {name: example.com/b}]
  containers: [{name: app, image: "app:1"}]
"""


@pytest.fixture
def cluster():
    """Return a cluster with two nodes and a pod with two gates, run until nothing is left to do."""
    made = Cluster.from_manifests(NODES)
    made.apply(POD)
    made.run()
    return made


def narrowed(text, *gates, selector="{disk: hdd}"):
    """Return the manifest with only these gates and with a node selector."""
    left = ", ".join(f"{{name: example.com/{gate}}}" for gate in gates)
    old = "[{name: example.com/a}, {name: example.com/b}]"
    return text.replace(f"schedulingGates: {old}", f"schedulingGates: [{left}]\n  nodeSelector: {selector}")


def part(cluster):
    """Return the part of the queue that the pod is in, or None."""
    entry = cluster.world.log.notes.get(Note("kube-scheduler", queue.QUEUE, "default/app"))
    return entry.part if entry else None


@pytest.mark.checklist("228")
def test_a_gated_pod_waits_outside(cluster):
    """A gated pod has the condition SchedulingGated and no pass until its last gate is removed."""
    condition = cluster["pod/app"].status.condition("PodScheduled")
    assert ("False", "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates") == (
        condition.status, condition.reason, condition.message)  # fmt: skip
    cluster.apply(narrowed(POD, "b"))
    cluster.run()
    assert queue.GATED == part(cluster)
    assert [] == list(cluster.passes("app"))
    cluster.apply(narrowed(POD))
    cluster.step("scheduling pass")
    assert 1 == len(cluster.passes("app"))
    cluster.run()

    assert "True" == cluster["pod/app"].status.condition("PodScheduled").status


@pytest.mark.checklist("230", "231", "243", "246", "250")
def test_narrowing_and_lifting_in_one_write(cluster):
    """One update adds a selector and removes the last gates; the pass respects the selector."""
    before = cluster.world.place
    cluster.apply(narrowed(POD))
    writes = [outcome.write.verb for turn in cluster.world.turns if turn.start >= before for outcome in turn.outcomes]
    cluster.run()

    assert ["update"] == writes
    assert "slow" == cluster["pod/app"].spec.node_name


@pytest.mark.checklist("232", "241", "244", "245")
def test_nothing_is_widened(cluster):
    """A gated pod's selection can only be restricted further, and not be changed after the gates are removed."""
    cluster.apply(narrowed(POD, "a"))
    with pytest.raises(ApplyRefused, match=r"only additions to spec.nodeSelector are allowed"):
        cluster.apply(narrowed(POD, "a", selector="{disk: ssd}"))
    with pytest.raises(ApplyRefused, match=r"only additions to spec.nodeSelector are allowed"):
        cluster.apply(narrowed(POD, "a", selector="{}"))
    with pytest.raises(ApplyRefused, match=r"only deletion is allowed, but found new scheduling gate 'example.com/b'"):
        cluster.apply(narrowed(POD, "a", "b"))
    cluster.apply(narrowed(POD))
    with pytest.raises(ApplyRefused, match="pod updates may not change fields other than"):
        cluster.apply(narrowed(POD, selector="{disk: hdd, more: x}"))

    assert {"disk": "hdd"} == cluster["pod/app"].spec.node_selector


@pytest.mark.checklist("240")
def test_tolerations_and_labels_are_added_with_gates_or_without(cluster):
    """Any pod may get more tolerations and other labels; no pod may lose a toleration."""
    tolerant = "\n  tolerations: [{key: k, operator: Exists}]\n"
    cluster.apply(POD.rstrip() + tolerant)
    cluster.apply(narrowed(POD).rstrip() + tolerant.replace("]", ", {key: l, operator: Exists}]"))
    with pytest.raises(ApplyRefused, match="existing toleration can not be modified except its tolerationSeconds"):
        cluster.apply(narrowed(POD).rstrip() + tolerant)
    cluster.apply((narrowed(POD).rstrip() + tolerant.replace("]", ", {key: l, operator: Exists}]")).replace("name: app}\n", "name: app, labels: {a: b}}\n"))

    assert {"k", "l"} <= {one.key for one in cluster["pod/app"].spec.tolerations}
    assert {"a": "b"} == cluster["pod/app"].metadata.labels


def test_nobody_binds_a_gated_pod(cluster):
    """The API server refuses to bind a gated pod."""
    pod = cluster["pod/app"]
    outcome = cluster.world.commit("kube-scheduler", Write("bind", key_of(pod), "fast"))

    assert isinstance(outcome, RefusedWrite)
    assert outcome.message == (
        'Operation cannot be fulfilled on pods/binding "app": pod app has non-empty .spec.schedulingGates'
    )
    free = evolve_parts(pod, spec={"scheduling_gates": ()})
    cluster._edit("pod/app", lambda _old: free)
    assert not isinstance(cluster.world.commit("kube-scheduler", Write("bind", key_of(pod), "fast")), RefusedWrite)

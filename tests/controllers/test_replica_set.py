"""ReplicaSets: as many pods as asked for, successors for what has ended, and who goes first when there are too many."""

import pytest
from controllers.workloads import cluster, events, pods, running, workload

from kvolsched.api.kinds.meta import Condition, evolve_parts
from kvolsched.api.pod_status import StatusPatch
from kvolsched.explore import Crash, explore
from kvolsched.world.apiserver import Write, key_of


def fail(made, pod):
    """Let a pod fail where it runs."""
    ready = Condition(type="Ready", status="False", reason="PodFailed")
    made.world.perform("kubelet", [Write("patch", key_of(pod), StatusPatch("Failed", (ready,)))])


def test_it_makes_as_many_pods_as_asked_for():
    """Named after the set, owned by it, each told of in an event; the status counts them."""
    made = cluster(workload("ReplicaSet", 3))
    (owner,) = made.objects("replicasets")
    assert 3 == running(made)
    assert {("ReplicaSet", "web", owner.metadata.uid)} == {
        (ref.kind, ref.name, ref.uid) for pod in pods(made) for ref in pod.metadata.owner_references
    }
    assert all(pod.metadata.name.startswith("web-") for pod in pods(made))
    assert sorted(("SuccessfulCreate", f"Created pod: {pod.metadata.name}") for pod in pods(made)) == sorted(
        events(made, "ReplicaSet")
    )
    status = owner.status
    assert (1, 3, 3, 3, 3) == (
        status.observed_generation, status.replicas, status.fully_labeled_replicas, status.ready_replicas,
        status.available_replicas,
    )


def test_the_same_world_names_pods_the_same():
    """Names are made of the owner and a number, not of chance; one that went is not called again."""
    one, other = (cluster(workload("ReplicaSet", 3)) for _ in range(2))
    names = [pod.metadata.name for pod in pods(one)]
    assert names == [pod.metadata.name for pod in pods(other)]
    one.delete(f"pod/{names[0]}")
    one.run(seconds=100)
    assert 3 == running(one)
    assert names[0] not in {pod.metadata.name for pod in pods(one)}


def test_what_has_ended_has_a_successor():
    """A failed pod stays to be looked at, and is no replica any more."""
    made = cluster(workload("ReplicaSet", 2))
    fail(made, pods(made)[0])
    made.run(seconds=100)
    assert 2 == running(made)
    assert 3 == len(pods(made))


def test_who_goes_first_when_there_are_too_many():
    """What waits for a node goes before what runs, what is not ready before what is, what is cheap before what is dear."""
    made = cluster(workload("ReplicaSet", 17), nodes=2)
    waiting = {pod.metadata.name for pod in pods(made) if not pod.spec.node_name}
    assert 1 == len(waiting)
    made.apply(workload("ReplicaSet", 16))
    made.run(seconds=100)
    assert 16 == running(made)

    first, second, *_ = pods(made)
    unready = Condition(type="Ready", status="False")
    made.world.perform("kubelet", [Write("patch", key_of(first), StatusPatch("Running", (unready,)))])
    cheap = second.metadata.annotations.merged({"controller.kubernetes.io/pod-deletion-cost": "-5"})
    marked = evolve_parts(second, metadata={"annotations": cheap})
    made.world.perform("user", [Write("update", key_of(second), marked)])
    made.apply(workload("ReplicaSet", 15))
    made.run(seconds=100)
    assert first.metadata.name not in {pod.metadata.name for pod in pods(made)}
    made.apply(workload("ReplicaSet", 14))
    made.run(seconds=100)
    assert second.metadata.name not in {pod.metadata.name for pod in pods(made)}


@pytest.mark.parametrize("text", ["--5", "+-5", "+5", "-05x", "007", "-99999999999", "\N{SUPERSCRIPT TWO}", "cheap", ""])
def test_a_cost_that_is_no_number_costs_nothing(text):
    """Whatever stands in the annotation, pods go on: it counts as 0, so that what is really cheap goes first."""
    made = cluster(workload("ReplicaSet", 2))
    odd, cheap = pods(made)
    for pod, cost in ((odd, text), (cheap, "-1")):
        noted = pod.metadata.annotations.merged({"controller.kubernetes.io/pod-deletion-cost": cost})
        marked = evolve_parts(pod, metadata={"annotations": noted})
        made.world.perform("user", [Write("update", key_of(pod), marked)])
    made.apply(workload("ReplicaSet", 1))
    made.run(seconds=100)
    assert [odd.metadata.name] == [pod.metadata.name for pod in pods(made)]


def test_a_doubled_node_loses_one_first():
    """Of three pods on two nodes one of the two that share a node goes."""
    spread = """
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
        labelSelector: {matchLabels: {app: web}}}]"""
    made = cluster(workload("ReplicaSet", 3) + spread)
    made.apply(workload("ReplicaSet", 2) + spread)
    made.run(seconds=100)
    assert {"node-1", "node-2"} == {pod.spec.node_name for pod in pods(made)}


def test_a_pod_counts_as_available_after_its_time():
    """minReadySeconds: ready at once, available thirty seconds later, without anything else happening."""
    made = cluster(workload("ReplicaSet", 2, spec="minReadySeconds: 30"))
    assert 2 == made["rs/web"].status.available_replicas
    assert made.now >= 30
    told = [change.new.status for change in made.world.log.changes if change.key[0] == "ReplicaSet"]
    assert (2, 0) in [(status.ready_replicas, status.available_replicas) for status in told]


def test_one_that_sees_late_makes_no_pod_twice():
    """A controller that has not seen its own pods waits for them, however often it is asked."""
    made = cluster()
    made.apply(workload("ReplicaSet", 2))
    process = made.world.processes["replicaset-controller"]
    for _ in range(4):
        made.world.deliver(process, ["ReplicaSet"])
        for actor in process.component.actors:
            for _, cause in actor.ready_causes(made.world.read_only_context(process, actor)):
                with made.world.transaction() as step:
                    step.add(made.world.turn(process, actor, cause, see=False))
    assert 2 == len(pods(made))
    made.run(seconds=100)
    assert 2 == running(made)


@pytest.mark.parametrize("lag", ["ordered", "per kind"])
def test_in_no_order_are_there_too_many(lag):
    """Whatever it has seen yet, and even if it crashes in between, it never has more pods than asked for."""
    def too_many(_before, after):
        living = [one for key, one in after.items() if key.kind == "Pod"]
        return "three pods" if len(living) > 2 else ""

    made = cluster()
    made.apply(workload("ReplicaSet", 2))
    found = explore(
        made, faults=[Crash("replicaset-controller")], lag=lag, components=["replicaset-controller"],
        invariants=[too_many], progress=False,
        goal=lambda objects: sum(key.kind == "Pod" for key in objects) == 2,
    )
    assert found.exhausted, found
    assert found.counterexample is None, found


@pytest.mark.parametrize("kind", ["ReplicaSet", "DaemonSet"])
@pytest.mark.parametrize("steps", [1, 3])
def test_nothing_is_remembered_of_an_owner_that_is_gone(kind, steps):
    """A controller that has not seen its own writes yet waits for them no more once the owner is deleted."""
    made = cluster()
    made.apply(workload(kind))
    for _ in range(steps):
        made.step(turns=True)
    made.delete(f"{kind}/web")
    made.run(seconds=100)
    remembered = [note for note in made.world.log.notes if note.component == f"{kind.lower()}-controller"]
    assert {"cursor", "bucket"} >= {note.sort for note in remembered}

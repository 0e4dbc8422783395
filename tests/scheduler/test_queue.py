"""The scheduling queue: which pod is scheduled next, which pods wait, and for how long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import node, pod

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.cluster import Cluster
from kvolsched.scheduler.loop.scheduling_queue import (
    ACTIVE,
    BACKOFF,
    QUEUE,
    UNSCHEDULABLE,
    QueueEntry,
    SchedulingQueue,
    backoff,
    end_of_backoff,
)
from kvolsched.world.log import Note
from kvolsched.world.view import build


def filled(**entries):
    """Return a queue with these entries."""
    queue = SchedulingQueue()
    for name, entry in entries.items():
        queue.apply(Note("kube-scheduler", QUEUE, name), None, entry)
    return queue


def test_priority_first_then_who_came_first():
    """Pods of the active part are popped by priority, then in order of arrival."""
    queue = filled(late=QueueEntry(ACTIVE, 0, 9), early=QueueEntry(ACTIVE, 0, 3), high=QueueEntry(ACTIVE, 5, 8))
    for name in ("high", "early", "late"):
        head, entry = queue.first(ACTIVE)
        assert head == name
        queue.apply(Note("kube-scheduler", QUEUE, name), entry, None)
    assert queue.first(ACTIVE) is None


def test_back_off_doubles_to_ten_seconds():
    """Back-offs are 1, 2, 4, 8, 10, 10 s, each up to the next tick of the 1 s timer, as observed."""
    assert [backoff(number) for number in range(7)] == [0, 1, 2, 4, 8, 10, 10]
    assert [end_of_backoff(0.3, number) for number in (1, 2, 3)] == [2.0, 3.0, 5.0]


def test_errors_are_not_popped_before_their_time():
    """A pod after an error is not popped before its back-off ends."""
    queue = filled(
        error=QueueEntry(BACKOFF, 0, 1, 1, (), 2.0, error=True), other=QueueEntry(BACKOFF, 0, 2, 1, (), 5.0)
    )
    assert queue.first(BACKOFF)[0] == "other"


ENTRIES = st.builds(
    QueueEntry,
    part=st.sampled_from([ACTIVE, BACKOFF, UNSCHEDULABLE]),
    priority=st.integers(0, 2),
    order=st.integers(0, 20),
    until=st.one_of(st.none(), st.floats(0, 9)),
    error=st.booleans(),
)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.one_of(st.none(), ENTRIES)), max_size=20))
def test_moved_equals_built(moves):
    """After any changes, the parts and first pods equal those of a queue built from scratch."""
    queue, contents = SchedulingQueue(), {}
    for name, entry in moves:
        note = Note("kube-scheduler", QUEUE, name)
        queue.apply(note, contents.get(note), entry)
        contents[note] = entry
    anew = build(SchedulingQueue(), {note: entry for note, entry in contents.items() if entry is not None})
    assert queue == anew
    for part in (ACTIVE, BACKOFF):
        assert queue.first(part) == anew.first(part)
    for part in (ACTIVE, BACKOFF, UNSCHEDULABLE):
        assert queue.of(part) == anew.of(part)


def entry(cluster, name):
    """Return a pod's entry."""
    return cluster.world.log.notes.get(Note("kube-scheduler", QUEUE, f"default/{name}"))


def test_unschedulable_pods_wait_for_what_may_help():
    """A node's label does not move a pod that lacks cpu; a node with free cpu does, at once, during its back-off."""
    cluster = Cluster()
    cluster.apply(node("small", cpu="1"), pod("app", cpu="2"))
    cluster.run()
    assert entry(cluster, "app").part == UNSCHEDULABLE
    assert entry(cluster, "app").rejected_by == ("NodeResourcesFit",)
    cluster.apply(node("small", cpu="1", labels={"disk": "ssd"}))
    cluster.run()
    assert entry(cluster, "app").failures == 1
    cluster.apply(node("large", cpu="4"))
    cluster.run()
    assert cluster["pod/app"].spec.node_name == "large"
    assert cluster.now < 1.0
    assert entry(cluster, "app") is None


@pytest.mark.parametrize(("revision", "waited"), [("design", True), ("upstream", False)])
def test_back_off_is_popped_only_today(revision, waited):
    """Since 1.33 a pod in back-off is popped at once if no pod is active; before, its back-off had to end."""
    cluster = Cluster(revision)
    cluster.apply(node("small", cpu="1"), pod("app", cpu="2"))
    cluster.run()
    cluster.apply(node("large", cpu="4"))
    cluster.run()
    assert cluster["pod/app"].spec.node_name == "large"
    assert (cluster.now >= 1.0) is waited


def test_pods_of_others_are_left_alone():
    """Pods of other schedulers and bound pods are never queued; a deleted pod is removed."""
    cluster = Cluster()
    cluster.apply(node("small", cpu="1"), pod("theirs", cpu="2", schedulerName="mine"), pod("placed", cpu="2", nodeName="small"), pod("app", cpu="2"))
    cluster.run()
    assert entry(cluster, "theirs") is None
    assert entry(cluster, "placed") is None
    assert entry(cluster, "app") is not None
    cluster.delete("pod/app")
    cluster.run()
    assert entry(cluster, "app") is None


@pytest.mark.checklist("228")
def test_a_gated_pod_has_no_pass():
    """A gated pod has no pass after any time or event until its last gate is removed."""
    cluster = Cluster()
    cluster.apply(node("large", cpu="4"), pod("app", cpu="2", schedulingGates=[{"name": "example.com/a"}, {"name": "example.com/b"}]))
    cluster.run()
    assert entry(cluster, "app").part == "gated"
    cluster.apply(node("larger", cpu="8"))
    cluster.apply(pod("app", cpu="2", schedulingGates=[{"name": "example.com/a"}]))
    cluster.run()
    assert entry(cluster, "app").part == "gated"
    assert cluster.world.log.notes.get(Note("kube-scheduler", "pass", "default/app")) is None
    cluster._edit("pod/app", lambda old: evolve_parts(old, spec={"scheduling_gates": ()}))
    cluster.run()
    assert cluster["pod/app"].spec.node_name

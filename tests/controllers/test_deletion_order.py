"""Which pods of a ReplicaSet go first: every criterion in its order, and ages by powers of two."""

from datetime import datetime, timedelta

import pytest

from kvolsched.api.kinds.meta import Condition, Frozen, ObjectMeta
from kvolsched.api.kinds.pod import Container, Pod, PodSpec, PodStatus
from kvolsched.controllers.replica_set import in_deletion_order

NOW = datetime.fromisoformat("2026-01-02T00:00:00Z")


def ago(seconds):
    """Return the time so many seconds before NOW."""
    return (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod(name, uid="u", *, node="node-1", phase="Running", ready=100, cost="", created=1000, restarts=0, sidecar=0):
    """Return a pod that became ready so many seconds ago (None: it is not ready)."""
    condition = Condition(type="Ready", status="False" if ready is None else "True",
                          last_transition_time=ago(ready) if ready else None)
    statuses = {"containerStatuses": (Frozen(name="app", restartCount=restarts),),
                "initContainerStatuses": (Frozen(name="proxy", restartCount=sidecar), Frozen(name="init", restartCount=9))}
    return Pod(
        metadata=ObjectMeta(name=name, uid=uid, creation_timestamp=ago(created) if created else None,
                            annotations=Frozen({"controller.kubernetes.io/pod-deletion-cost": cost} if cost else {})),
        spec=PodSpec(node_name=node, init_containers=(Container(name="proxy", restart_policy="Always"),
                                                      Container(name="init"))),
        status=PodStatus(phase=phase, conditions=(condition,), rest=Frozen(statuses)),
    )


def order(*pods, per_node=None):
    """Return the names in the order of deletion, however the pods are given."""
    found = [[one.metadata.name for one in in_deletion_order(given, per_node or {}, NOW)] for given in (pods, pods[::-1])]
    assert found[0] == found[1]
    return found[0]


def test_each_criterion_decides_before_the_next():
    """Without node, pending, unknown, not ready, cheap, doubled, ready last, restarted, sidecar restarted, young, old."""
    pods = [
        pod("no-node", node="", phase="Pending", ready=None), pod("pending", phase="Pending", cost="9"),
        pod("unknown", phase="Unknown", cost="8"), pod("not-ready", ready=None, cost="7"), pod("cheap", cost="-1"),
        pod("doubled", node="node-2"), pod("ready-last", ready=1, created=5000),
        pod("restarted", restarts=2), pod("sidecar-restarted", restarts=1, sidecar=3), pod("less", restarts=1, sidecar=2),
        pod("young", created=100), pod("old"), pod("dear", cost="1", ready=1),
    ]
    assert order(*pods, per_node={"node-1": 1, "node-2": 2}) == [one.metadata.name for one in pods]


@pytest.mark.parametrize("field", ["ready", "created"])
@pytest.mark.parametrize(("first", "second", "expected"), [
    (5, 8, "ba"),     # 2**32 ns are 4.3 s, 2**33 are 8.6 s: about the same age, so the UID decides
    (5, 9, "ab"),     # in the next power of two: the younger one first
    (9, 5, "ba"),
    (0, 9, "ab"),     # unknown since when
    (3600, 4000, "ba"),
])
def test_ages_count_by_powers_of_two(field, first, second, expected):
    """Pods whose ages share a power of two in nanoseconds go by UID, others the younger one first."""
    assert "".join(order(pod("a", "2", **{field: first}), pod("b", "1", **{field: second}))) == expected


def test_a_time_to_come_is_the_youngest():
    """A clock that is behind: what became ready later than now goes before what is a second old."""
    assert order(pod("past", "1", ready=1), pod("future", "2", ready=-5)) == ["future", "past"]

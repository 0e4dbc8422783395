"""Queue controllers and policy webhooks of S4's user stories, written as a reader would: import them, or read and copy.

Webhooks are for `Cluster.with_webhook`, controllers for `Cluster.with_controller` with `watches=["Pod"]`. A pod is in a
queue if it has the label `queue`. The controllers keep no state: what they decide follows from the pods they have seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ..api.kinds.node import ZONE_LABEL as ZONE
from ..api.kinds.pod import Pod
from ..controllers.custom_controller import ReconcileFunction, Seen
from ..controllers.custom_controller.writes import Action, patch
from ..world.log import Key

GATE = "example.com/queue"
QUEUE = "queue"
MACHINE = "example.com/machine"
Place = Mapping[str, str]  # labels that the node of a pod must have

def hold(new: Pod, _old: Pod | None) -> dict[str, Any] | None:
    """Put a scheduling gate on each new pod of a queue (S4, Story 1).

    >>> from kvolsched import Cluster
    >>> c = Cluster().with_webhook(mutate=hold, verbs=["create"])
    >>> pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"queue": "batch"}}}
    >>> _ = c.apply({**pod, "spec": {"containers": [{"name": "app", "image": "app"}]}})
    >>> [gate.name for gate in c["pod/a"].spec.scheduling_gates]
    ['example.com/queue']
    """
    gates = [gate.name for gate in new.spec.scheduling_gates]
    if QUEUE not in new.metadata.labels or GATE in gates:
        return None
    return {"spec": {"schedulingGates": [{"name": name} for name in (*gates, GATE)]}}


def only_on(place: Place) -> Callable[[Pod, Pod | None], str | None]:
    """Return a policy that looks at creation alone: a new pod must select nodes with these labels (S4, Design Details).

    Such policies take later updates for granted, since nodeSelector was immutable. An update that narrows keeps their
    verdict, one that widens would void it.
    """

    def check(new: Pod, old: Pod | None) -> str | None:
        missing = [f"{key}={value}" for key, value in place.items() if new.spec.node_selector.get(key) != value]
        return f"its nodeSelector must have {', '.join(missing)}" if missing and old is None else None

    return check


def guess(place: Place) -> Callable[[Pod, Pod | None], dict[str, Any] | None]:
    """Return a webhook that gives each new pod of a queue a nodeSelector, though nobody knows yet what will be free.

    S4 rejects it (Alternatives): the decision, for example spot or on-demand, is not known on creation.
    """

    def inject(new: Pod, old: Pod | None) -> dict[str, Any] | None:
        return {"spec": {"nodeSelector": {**place}}} if QUEUE in new.metadata.labels and old is None else None

    return inject


def quota(limits: Mapping[str, int], key: str = MACHINE, *, calls: int = 1) -> ReconcileFunction:
    """Return a controller that gives each waiting pod the first value of a label that has quota left, and frees it.

    Pods wait in the order of their names. One that was given a value keeps it (constraining is a one way operation).

    Args:
        limits: how many pods may run on nodes with each value: `{"spot": 2, "demand": 10}`, or zones.
        key: the label.
        calls: 1: one call sets the nodeSelector and removes the gate, as S4 advises (Risks and Mitigations); 2: two.

    >>> from kvolsched import Cluster
    >>> c = Cluster().with_webhook(mutate=hold, verbs=["create"])
    >>> c = c.with_controller("queue", ["Pod"], quota({"spot": 1, "demand": 1}))
    >>> pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "app", "image": "app"}]}}
    >>> _ = c.apply(*({**pod, "metadata": {"name": name, "labels": {"queue": "batch"}}} for name in "abc")), c.run()
    >>> [c[f"pod/{name}"].spec.node_selector.get(MACHINE, "waits") for name in "abc"]
    ['spot', 'demand', 'waits']
    """

    def admit(seen: Seen, _ref: str) -> list[Action]:
        pods = [pod for pod in seen.list("pods", selector=QUEUE) if not pod.terminal]
        used = Counter(pod.spec.node_selector[key] for pod in pods if key in pod.spec.node_selector)
        writes: list[Action] = []
        for pod in pods:
            given = pod.spec.node_selector.get(key, "")
            value = given or next((value for value, limit in limits.items() if used[value] < limit), "")
            if is_held(pod) and value:
                used[value] += not given
                writes += released(pod, {key: value}, calls)
        return writes

    return admit


def released(pod: Pod, place: Place, calls: int = 1) -> list[Action]:
    """Return the writes that narrow a gated pod to nodes with these labels and remove the queue's gate."""
    others = [{"name": gate.name} for gate in pod.spec.scheduling_gates if gate.name != GATE]
    narrow, free = {"nodeSelector": {**place}}, {"schedulingGates": others}
    if calls == 1:
        return [patch(pod, {"spec": {**narrow, **free}})]
    return [patch(pod, {"spec": narrow}), patch(pod, {"spec": free})]


def is_held(pod: Pod) -> bool:
    """Say whether a pod has the queue's gate."""
    return any(gate.name == GATE for gate in pod.spec.scheduling_gates)


def narrow(place: Place) -> ReconcileFunction:
    """Return a controller that narrows pods of a queue as soon as it sees them, gated or not, and knows no gates.

    Kubernetes refuses its patches of pods without gates. If it took them (the rules `lax_updates`), they would race
    with the scheduler, which may place a pod by what it has seen before (S4, Design Details): `explore` finds that
    order.
    """

    def constrain(seen: Seen, ref: str) -> list[Action]:
        pod = seen.get(ref)
        if pod is None or pod.spec.node_name or place.items() <= pod.spec.node_selector.items():
            return []
        return [patch(ref, {"spec": {"nodeSelector": {**place}}})]

    return constrain


def one_by_one(limit: int) -> ReconcileFunction:
    """Return a controller with a race: it looks at each pod alone, and frees it while fewer than `limit` have a node.

    A pod that was freed and has no node yet does not count, so others are freed beside it. `explore` finds that order;
    `in_order` is the cure.
    """

    def admit(seen: Seen, ref: str) -> list[Action]:
        pod = seen.get(ref)
        running = [other for other in seen.list("pods", selector=QUEUE) if other.holds_node]
        if pod is None or not is_held(pod) or len(running) >= limit:
            return []
        return released(pod, {})

    return admit


def in_order(limit: int) -> ReconcileFunction:
    """Return a controller without that race: it looks at the whole queue, and counts pods from when they are freed.

    Its cache may be old. Then it frees again the pods that it has just freed, which changes nothing, and none beside.
    """

    def admit(seen: Seen, _ref: str) -> list[Action]:
        pods = [pod for pod in seen.list("pods", selector=QUEUE) if not pod.terminal]
        waiting = [pod for pod in pods if is_held(pod)]
        free = max(0, limit - (len(pods) - len(waiting)))
        return [write for pod in waiting[:free] for write in released(pod, {})]

    return admit


def misplaced(objects: Mapping[Key, Any]) -> bool:
    """Say whether a pod is on a node that its own nodeSelector excludes; an `until` of `Cluster.explore`."""
    labels = {key.name: obj.metadata.labels for key, obj in objects.items() if key.kind == "Node"}
    pods = (obj for key, obj in objects.items() if key.kind == "Pod" and obj.spec.node_name)
    return any(not pod.spec.node_selector.items() <= labels.get(pod.spec.node_name, {}).items() for pod in pods)


def more_than(limit: int) -> Callable[[Mapping[Key, Any]], bool]:
    """Return whether more pods of queues are free than a limit, as an `until` of `Cluster.explore`."""

    def exceeded(objects: Mapping[Key, Any]) -> bool:
        pods = (obj for key, obj in objects.items() if key.kind == "Pod" and QUEUE in obj.metadata.labels)
        return sum(not is_held(pod) and not pod.terminal for pod in pods) > limit

    return exceeded


__all__ = [
    "GATE", "MACHINE", "QUEUE", "ZONE", "guess", "hold", "in_order", "is_held", "misplaced", "more_than", "narrow",
    "one_by_one", "only_on", "quota", "released",
]  # fmt: skip

"""Cluster events: changes of objects as the scheduling queue sees them, by kind and action.

An event is one object and one or more actions. A pod is added when it is bound to a node and deleted when it ends or
is removed; a change of a pod without a node concerns that pod only, unless it is deleted while nominated to a node.
Mirrors kube-scheduler's `ClusterEvent` and `framework/events.go` (v1.36.2).
"""

from enum import IntFlag, auto
from typing import Any

import attrs

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from .. import requests


class Action(IntFlag):
    """What happens to an object (kube-scheduler's `ActionType`); `UPDATE`: nothing more specific."""

    ADD = auto()
    DELETE = auto()
    UPDATE = auto()
    NODE_ALLOCATABLE = auto()
    NODE_LABEL = auto()
    NODE_TAINT = auto()
    NODE_CONDITION = auto()
    NODE_ANNOTATION = auto()
    NODE_DECLARED_FEATURE = auto()
    POD_LABEL = auto()
    POD_SCALE_DOWN = auto()
    POD_TOLERATION = auto()
    ANY = ADD | DELETE | UPDATE | NODE_ALLOCATABLE | NODE_LABEL | NODE_TAINT | NODE_CONDITION | NODE_ANNOTATION | (
        NODE_DECLARED_FEATURE | POD_LABEL | POD_SCALE_DOWN | POD_TOLERATION
    )


NO_ACTION = Action(0)


@attrs.frozen
class ClusterEvent:
    """One change of one object.

    Args:
        kind: the kind of the object.
        action: what happened; several flags if several things changed.
        old, new: the object before (None: added) and after (None: deleted).
        only_pod: the one waiting pod that the event concerns, by its name in the queue; "": any pod.
        max_priority: the highest priority of pods that the event concerns; None: any.
    """

    kind: str
    action: Action
    old: Any
    new: Any
    only_pod: str = ""
    max_priority: int | None = None


def events_of(key: Key, old: Any, new: Any) -> tuple[ClusterEvent, ...]:
    """Return the events of a change: none, one, or two if an object was deleted and recreated under its name."""
    if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
        return *events_of(key, old, None), *events_of(key, None, new)
    if key.kind == "Pod":
        event = _pod_event(key, old, new)
        return (event,) if event is not None else ()
    if old is None or new is None:
        return (ClusterEvent(key.kind, Action.ADD if old is None else Action.DELETE, old, new),)
    action = _node_action(old, new) if key.kind == "Node" else Action.UPDATE
    return (ClusterEvent(key.kind, action, old, new),) if action else ()


def _node_action(old: Node, new: Node) -> Action:
    """Return what differs between two versions of a node; uncordoning is a taint change, cordoning no action."""
    action = NO_ACTION
    uncordoned = old.spec.unschedulable and not new.spec.unschedulable
    if uncordoned or old.spec.taints != new.spec.taints:
        action |= Action.NODE_TAINT
    if old.status.allocatable != new.status.allocatable:
        action |= Action.NODE_ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        action |= Action.NODE_LABEL
    if old.metadata.annotations != new.metadata.annotations:
        action |= Action.NODE_ANNOTATION
    if old.status.declared_features != new.status.declared_features:
        action |= Action.NODE_DECLARED_FEATURE
    if _conditions(old) != _conditions(new):
        action |= Action.NODE_CONDITION
    return action


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}


def _pod_event(key: Key, old: Pod | None, new: Pod | None) -> ClusterEvent | None:
    was_running, is_running = _is_on_node(old), _is_on_node(new)
    if was_running and is_running:
        assert old is not None
        assert new is not None
        return ClusterEvent("Pod", _pod_action(old, new), old, new)
    if is_running:
        return ClusterEvent("Pod", Action.ADD, None, new)
    if was_running:
        return ClusterEvent("Pod", Action.DELETE, old, None)
    if old is not None and new is not None:
        return ClusterEvent("Pod", _pod_action(old, new), old, new, only_pod=f"{key.namespace}/{key.name}")
    if old is not None and old.status.nominated_node_name:
        return ClusterEvent("Pod", Action.DELETE, old, None, max_priority=old.spec.priority or 0)
    return None


def _is_on_node(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.spec.node_name) and not pod.terminal


def _pod_action(old: Pod, new: Pod) -> Action:
    action = NO_ACTION
    if old.metadata.labels != new.metadata.labels:
        action |= Action.POD_LABEL
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        action |= Action.POD_TOLERATION
    if old.spec is not new.spec or requests.is_resized(old, new):
        before, after = requests.held_requests(old).amounts, requests.held_requests(new).amounts
        if any(amount > after.get(resource, 0) for resource, amount in before.items()):
            action |= Action.POD_SCALE_DOWN
    return action or Action.UPDATE


def is_same_pod(pod: Pod, other: Pod | None) -> bool:
    """Say whether the pod of an event is the waiting pod."""
    return other is not None and other.metadata.uid == pod.metadata.uid

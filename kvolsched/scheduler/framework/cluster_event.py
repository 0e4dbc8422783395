"""Cluster events: what has happened to an object, in the words in which plugins say what they wait for.

A change is one object and one or more actions. A pod counts as there while it has a node and has not ended: that it is
bound is its coming, that it ends is its going; a pod without a node concerns nobody but itself, unless it goes and had
been promised a node. Mirrors kube-scheduler's `ClusterEvent` and `framework/events.go` (v1.36.2).
"""

from __future__ import annotations

from enum import IntFlag, auto
from typing import Any

import attrs

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.world.log import Key

from .. import requests


class Action(IntFlag):
    """What may happen to an object (kube-scheduler's `ActionType`); `UPDATE` is every change that has no own word."""

    ADD = auto()
    DELETE = auto()
    UPDATE = auto()
    NODE_ALLOCATABLE = auto()
    NODE_LABEL = auto()
    NODE_TAINT = auto()
    NODE_CONDITION = auto()
    NODE_ANNOTATION = auto()
    POD_LABEL = auto()
    POD_SCALE_DOWN = auto()
    POD_TOLERATION = auto()
    ANY = ADD | DELETE | UPDATE | NODE_ALLOCATABLE | NODE_LABEL | NODE_TAINT | NODE_CONDITION | NODE_ANNOTATION | (
        POD_LABEL | POD_SCALE_DOWN | POD_TOLERATION
    )


NOTHING = Action(0)


@attrs.frozen
class ClusterEvent:
    """One change as the queue hears of it.

    Args:
        kind: of the object.
        action: what happened; several at once if the change was of several sorts.
        old, new: the object before and after; old None: it has come, new None: it is gone.
        only: the waiting pod that alone it may concern, by its name in the queue; "": any.
        up_to: the highest priority that it concerns; None: any.
    """

    kind: str
    action: Action
    old: Any
    new: Any
    only: str = ""
    up_to: int | None = None


def events_of(key: Key, old: Any, new: Any) -> tuple[ClusterEvent, ...]:
    """Return what a change is to pods that wait: one event, none, or two where an object has taken another's name."""
    if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
        return *events_of(key, old, None), *events_of(key, None, new)
    if key.kind == "Pod":
        event = _of_pod(key, old, new)
        return (event,) if event is not None else ()
    if old is None or new is None:
        return (ClusterEvent(key.kind, Action.ADD if old is None else Action.DELETE, old, new),)
    action = _of_node(old, new) if key.kind == "Node" else Action.UPDATE
    return (ClusterEvent(key.kind, action, old, new),) if action else ()


def _of_node(old: Node, new: Node) -> Action:
    """What differs between two states of a node; uncordoned counts as a changed taint, cordoned as nothing."""
    action = NOTHING
    uncordoned = old.spec.unschedulable and not new.spec.unschedulable
    if uncordoned or old.spec.taints != new.spec.taints:
        action |= Action.NODE_TAINT
    if old.status.allocatable != new.status.allocatable:
        action |= Action.NODE_ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        action |= Action.NODE_LABEL
    if old.metadata.annotations != new.metadata.annotations:
        action |= Action.NODE_ANNOTATION
    if _conditions(old) != _conditions(new):
        action |= Action.NODE_CONDITION
    return action


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}


def _of_pod(key: Key, old: Pod | None, new: Pod | None) -> ClusterEvent | None:
    was, is_there = _placed(old), _placed(new)
    if was and is_there:
        assert old is not None
        assert new is not None
        return ClusterEvent("Pod", _updated(old, new), old, new)
    if is_there:
        return ClusterEvent("Pod", Action.ADD, None, new)
    if was:
        return ClusterEvent("Pod", Action.DELETE, old, None)
    if old is not None and new is not None:
        return ClusterEvent("Pod", _updated(old, new), old, new, only=f"{key.namespace}/{key.name}")
    if old is not None and old.status.nominated_node_name:
        return ClusterEvent("Pod", Action.DELETE, old, None, up_to=old.spec.priority or 0)
    return None


def _placed(pod: Pod | None) -> bool:
    return pod is not None and bool(pod.spec.node_name) and not pod.terminal


def _updated(old: Pod, new: Pod) -> Action:
    action = NOTHING
    if old.metadata.labels != new.metadata.labels:
        action |= Action.POD_LABEL
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        action |= Action.POD_TOLERATION
    if old.spec is not new.spec:
        before, after = requests.of(old.spec).asked, requests.of(new.spec).asked
        if any(amount > after.get(resource, 0) for resource, amount in before.items()):
            action |= Action.POD_SCALE_DOWN
    return action or Action.UPDATE


def is_itself(pod: Pod, other: Pod | None) -> bool:
    """Say whether an event's pod is the waiting pod itself."""
    return other is not None and other.metadata.uid == pod.metadata.uid

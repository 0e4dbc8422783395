"""The NoSchedule taints that say what a node's conditions and its cordon say (mirrors `doNoScheduleTaintingPass`)."""

from collections.abc import Collection
from typing import Any

from ...api.kinds.meta import evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.selector import Taint
from ...world.activation import Exists
from ...world.log import Key, LogKey
from ...world.stopped_nodes import some_node_stopped

NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "NoExecute"
NOT_READY = {"Unknown": "node.kubernetes.io/unreachable", "False": "node.kubernetes.io/not-ready"}  # by condition Ready
CORDON = "node.kubernetes.io/unschedulable"
TAINTS = {
    **{("Ready", status): key for status, key in NOT_READY.items()},
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}


def known_keys(node: Node, *, by_condition: bool) -> frozenset[str]:
    """Return the keys of a node's taints that are the controller's, and not the user's.

    A manifest without a condition says nothing of it, so its taint is left as it was written. `by_condition`: cordons
    and pressure conditions become taints.
    """
    stated = {found.type for found in node.status.conditions}
    keys = {key for (type_, _), key in TAINTS.items() if type_ in stated and (by_condition or type_ == "Ready")}
    return frozenset(keys | {CORDON} if by_condition else keys)


def wanted_keys(node: Node, known: Collection[str]) -> list[str]:
    """Return the known keys of the NoSchedule taints that a node should have."""
    conditions = [TAINTS.get((found.type, found.status), "") for found in node.status.conditions]
    return [key for key in (*conditions, CORDON if node.spec.unschedulable else "") if key in known]


def own_keys(node: Node, effect: str, known: Collection[str]) -> list[str]:
    """Return the known keys of a node's taints of an effect."""
    return [taint.key for taint in node.spec.taints if taint.effect == effect and taint.key in known]


def is_tainted_as_wanted(node: Node, *, by_condition: bool = True) -> bool:
    """Say whether a node has the NoSchedule taints that it should have, and no other one of known keys."""
    if not (node.spec.unschedulable or node.spec.taints or node.status.conditions):
        return True
    known = known_keys(node, by_condition=by_condition)
    return set(wanted_keys(node, known)) == set(own_keys(node, NO_SCHEDULE, known))


def with_taints(node: Node, keys: Collection[str], effect: str, now: str) -> Node:
    """Return a node with further taints of an effect."""
    added = (Taint(key=key, effect=effect, time_added=now) for key in keys)
    return evolve_parts(node, spec={"taints": (*node.spec.taints, *added)})


def without_taints(node: Node, keys: Collection[str], effect: str) -> Node:
    """Return a node without its taints of these keys and an effect."""
    kept = (taint for taint in node.spec.taints if taint.key not in keys or taint.effect != effect)
    return evolve_parts(node, spec={"taints": tuple(kept)})


class SomeNodeMistainted:
    """Condition that a node is or was stopped, or that its NoSchedule taints are wrong. Mutable view."""

    def __init__(self) -> None:
        self.mistainted, self.stopped = Exists("Node", lambda node: not is_tainted_as_wanted(node)), some_node_stopped()
        self.follows = self.mistainted.follows | self.stopped.follows

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Update the count of such nodes."""
        (self.mistainted if isinstance(key, Key) else self.stopped).apply(key, old, new)

    @property
    def is_met(self) -> bool:
        """Whether there is such a node."""
        return self.mistainted.is_met or self.stopped.is_met

"""Decides about one node at a time: its condition Ready, then its taints.

A node is not ready when its kubelet was silent for the grace period; its pods are then not ready either. It gets the
taint unreachable with NoSchedule at once, and with NoExecute at a rate that its zone allows. Both go when it is ready.
A cordoned node, and one under pressure, gets a taint with NoSchedule that goes with its reason.
Kubelets write no heartbeats here: what stands for the end of heartbeats is that the node is stopped.
Mirrors `pkg/controller/nodelifecycle` (v1.36.2), of which `doNoScheduleTaintingPass` has the NoSchedule taints.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import attrs

from ...api.dials import RATE, SECONDS, SWITCH, dial
from ...api.kinds.meta import Condition, evolve_parts
from ...api.kinds.node import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_LABEL, Node
from ...api.kinds.pod import Pod
from ...api.kinds.selector import Taint
from ...api.workloads import PodConditionPatch, by_node, is_ready
from ...world.apiserver import Write, key_of
from ...world.component import Component, TurnContext
from ...world.digest import Until
from ...world.log import Key, LogKey
from ...world.plan import PlanBuilder, PlannedEvent, reference_of, report_done, report_refused
from ...world.reconciler import Backoff, Reconciler
from ...world.stopped_nodes import is_stopped, some_node_stopped
from ...world.view import ActivationCondition, Exists, Index

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


NAME = "node-lifecycle-controller"
SOURCE = "node-controller"  # of its Events
ROUTINE = "node lifecycle"
MONITOR_PERIOD = Backoff.every(5.0)
"""What was refused is done when nodes are looked at again (--node-monitor-period)."""
CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


@attrs.frozen(kw_only=True)
class NodeLifecycleOptions:
    """The dials of the node lifecycle controller."""

    grace_period: float = dial(
        50.0, SECONDS, "of silence, after which a node is not ready (`--node-monitor-grace-period`)"
    )
    eviction_rate: float = dial(
        0.1, RATE, "nodes of a zone that are tainted with NoExecute a second (`--node-eviction-rate`)"
    )
    secondary_eviction_rate: float = dial(0.01, RATE, "the same in a large zone that lost many nodes")
    taints_by_condition: bool = dial(
        True, SWITCH, "whether cordons and pressure become taints (gate TaintNodesByCondition, on since 1.12)"
    )


def component(options: NodeLifecycleOptions | None = None) -> Component:
    """Return the node lifecycle controller; it begins to watch when a node is stopped or its taints are wrong."""
    options = options or NodeLifecycleOptions()
    lifecycle = NodeLifecycle(options)
    routine = Reconciler(ROUTINE, lifecycle.nodes_of, lifecycle.sync, report_refused, report_done, MONITOR_PERIOD)
    begins: Callable[[], ActivationCondition]
    begins = SomeNodeMistainted if options.taints_by_condition else some_node_stopped
    return Component(NAME, ("Node", "Pod"), (routine,),
                     lambda _seen: {"on node": Index("Pod", by_node),
                                    "readiness": Index("Node", lambda node: (node.readiness,))}, activation=begins)


@attrs.frozen
class NodeLifecycle:
    """Decides about one node."""

    options: NodeLifecycleOptions

    def nodes_of(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield a changed node; if it became ready or not, also the others that are not ready: the rate may differ."""
        if key.kind != "Node":
            return
        if ctx.note("silent", key.name) is not None or (new is not None and not self._is_in_order(new)):
            yield key.name
        if old is None or new is None or old.readiness != new.readiness:
            for state in NOT_READY:
                for other in ctx.views["readiness"].keys(state):
                    if other != key:
                        yield other.name

    def _is_in_order(self, node: Node) -> bool:
        """Say whether a node is ready, and has the taints that it should have: there is nothing to be done about it."""
        tainted = is_tainted_as_wanted(node, by_condition=self.options.taints_by_condition)
        return tainted and node.readiness == "True" and not own_keys(node, NO_EXECUTE, NOT_READY.values())

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Mark a silent node as not ready, or add and remove its taints, one thing after the other."""
        node: Node | None = ctx.seen.get("Node", cause)
        plan = PlanBuilder(ctx, SOURCE)
        if node is None or not is_stopped(ctx, cause):
            if ctx.note("silent", cause) is not None:
                ctx.remember("silent", cause, None)
                ctx.cancel_wake_up(cause)
        elif node.readiness != "Unknown" and self._is_overdue(ctx, cause):
            self._mark_not_ready(plan, node)
        if node is not None and not plan.writes:
            self._taint(plan, node)
        return plan.writes

    def _is_overdue(self, ctx: TurnContext, node: str) -> bool:
        """Say whether a node was silent for the grace period; when first asked, note when it counts as not ready."""
        silent: Until | None = ctx.note("silent", node)
        if silent is None:
            silent = Until(ctx.now + self.options.grace_period)
            ctx.remember("silent", node, silent)
            ctx.wake_after(node, self.options.grace_period)
        return ctx.now >= silent.time

    def _mark_not_ready(self, plan: PlanBuilder, node: Node) -> None:
        ctx, name = plan.ctx, node.metadata.name
        ctx.remember("silent", name, None)
        conditions = {found.type: found for found in node.status.conditions}
        for type_ in CONDITIONS:
            conditions[type_] = Condition(
                type=type_, status="Unknown", reason="NodeStatusUnknown", last_transition_time=ctx.moment,
                message="Kubelet stopped posting node status.",
            )
        words = f"node lifecycle controller marks {reference_of(node)} as not ready: its kubelet was silent for "
        status = attrs.evolve(node.status, conditions=tuple(conditions.values()))
        plan.update_status(node, attrs.evolve(node, status=status), f"{words}{self.options.grace_period:g} s")
        plan.event(node, "Normal", "NodeNotReady", f"Node {name} status is now: NodeNotReady")
        pods: list[Pod] = ctx.views["on node"].get(name)
        for pod in filter(is_ready, pods):
            said = PlannedEvent(key_of(pod), "Warning", "NodeNotReady", "Node is not ready", SOURCE)
            patch = PodConditionPatch("Ready", "False", at=ctx.moment)
            words = f"node lifecycle controller marks {reference_of(pod)} as not ready, like its node"
            plan.patch(key_of(pod), patch, words, uid=pod.metadata.uid, on_success=(said,))

    def _taint(self, plan: PlanBuilder, node: Node) -> None:
        """Give a node the taints of its conditions, NoSchedule first, and remove those of other conditions."""
        known = known_keys(node, by_condition=self.options.taints_by_condition)
        _swap(plan, node, NO_SCHEDULE, wanted_keys(node, known), own_keys(node, NO_SCHEDULE, known))
        if not plan.writes:
            key = NOT_READY.get(node.readiness, "")
            wanted = [key] if self._may_evict(plan.ctx, node, key) else []
            _swap(plan, node, NO_EXECUTE, wanted, own_keys(node, NO_EXECUTE, known & set(NOT_READY.values())))

    def _may_evict(self, ctx: TurnContext, node: Node, wanted: str) -> bool:
        """Say whether the pods of a node may be evicted now; if it is only too early, come again."""
        nodes: list[Node] = ctx.seen.all("Node")
        if not wanted or all(node.readiness != "True" for node in nodes):
            return False
        if any((taint.key, taint.effect) == (wanted, "NoExecute") for taint in node.spec.taints):
            return True
        zone, options = zone_of(node), self.options
        rate = eviction_rate(zone, nodes, options.eviction_rate, options.secondary_eviction_rate)
        earliest: Until | None = ctx.note("limit", zone)
        if rate and earliest is not None and earliest.time > ctx.now:
            ctx.wake_after(node.metadata.name, earliest.time - ctx.now)
            return False
        if rate:
            ctx.remember("limit", zone, Until(ctx.now + 1 / rate))
        return rate > 0


def _swap(plan: PlanBuilder, node: Node, effect: str, wanted: Collection[str], have: Collection[str]) -> None:
    """Plan to add the taints that a node lacks; once it has them, to remove those that it should not have."""
    said, about = "node lifecycle controller", reference_of(node)
    if missing := [key for key in wanted if key not in have]:
        added = (Taint(key=key, effect=effect, time_added=plan.ctx.moment) for key in missing)
        new = evolve_parts(node, spec={"taints": (*node.spec.taints, *added)})
        plan.update(node, new, f"{said} taints {about} {_joined(missing, effect)}", method="PATCH")
    elif wrong := [key for key in have if key not in wanted]:
        kept = (taint for taint in node.spec.taints if taint.key not in wrong or taint.effect != effect)
        new = evolve_parts(node, spec={"taints": tuple(kept)})
        plan.update(node, new, f"{said} removes {_joined(wrong, effect)} from {about}", method="PATCH")


def _joined(keys: Iterable[str], effect: str) -> str:
    return " and ".join(f"{key}:{effect}" for key in keys)


UNHEALTHY_SHARE = 0.55  # --unhealthy-zone-threshold
LARGE_CLUSTER = 50  # --large-cluster-size-threshold


def zone_of(node: Node) -> str:
    """Return a node's region and zone as one text."""
    labels = node.metadata.labels
    region = labels.get(REGION_LABEL) or labels.get(BETA_REGION_LABEL, "")
    return f"{region}:{labels.get(ZONE_LABEL) or labels.get(BETA_ZONE_LABEL, '')}"


def eviction_rate(zone: str, nodes: Iterable[Node], usual: float, secondary: float) -> float:
    """Return how many nodes of a zone may be tainted a second.

    A zone of which all nodes are lost is treated as usual; one that lost many, but not all, slows down, and stops in
    clusters of up to 50 nodes.
    """
    states = [node.readiness == "True" for node in nodes if zone_of(node) == zone]
    lost = states.count(False)
    if lost < len(states) and lost > 2 and lost / len(states) >= UNHEALTHY_SHARE:
        return secondary if len(states) > LARGE_CLUSTER else 0.0
    return usual

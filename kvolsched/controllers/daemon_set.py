"""The DaemonSet controller: it alone makes one pod of a DaemonSet for every node that the template fits.

A pod is tied to its node by an affinity to the node's name; the scheduler still binds it (before 1.12 the controller
placed it itself, past the scheduler). A node that is cordoned or has lost its readiness keeps its daemon. An update
takes the old pods away node by node (maxUnavailable), or waits until somebody deletes them (OnDelete); surging updates
are not modelled.
Mirrors `pkg/controller/daemon/daemon_controller.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from ..api.kinds.meta import EMPTY, ObjectMeta
from ..api.kinds.node import Node
from ..api.kinds.pod import Affinity, NodeAffinity, Pod, PodSpec
from ..api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement, Toleration
from ..api.kinds.workload import DaemonSet, DaemonSetStatus
from ..workloads import (
    REVISION_LABEL,
    by_controller_uid,
    controller_cause,
    controller_reference,
    generation,
    is_available,
    is_ready,
    pod_name_suffix,
    scaled_value,
    seconds_until_available,
    sorted_by_age,
    template_hash,
)
from ..world.activation import ActivationCondition, Exists
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.mutation_cache import has_seen_write, wait_until_seen
from ..world.plan import PlanBuilder, PlannedEvent, reference_of, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Index, InformerCache, View

NAME = "daemonset-controller"
KIND = "DaemonSet"
NODE_NAME = "metadata.name"


def _tolerating(what: str, effect: str = "NoSchedule") -> Toleration:
    return Toleration(key=f"node.kubernetes.io/{what}", operator="Exists", effect=effect)


TOLERATIONS = (
    *(_tolerating(what, "NoExecute") for what in ("not-ready", "unreachable")),
    *map(_tolerating, ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")),
)
NETWORK = _tolerating("network-unavailable")


@attrs.frozen(kw_only=True)
class DaemonSetOptions:
    """The options of the controller.

    Args:
        places: it writes the node into the pod itself, so that no scheduler ever sees it (before 1.12).
    """

    places: bool = False


def component(options: DaemonSetOptions | None = None) -> Component:
    """Return the DaemonSet controller."""
    routine = Reconciler(NAME, _sets_of, partial(sync, options or DaemonSetOptions()), report_refused, wait_until_seen("Pod"))
    return Component(NAME, (KIND, "Pod", "Node"), (routine,), _views, activation=_need)


def _need() -> ActivationCondition:
    return Exists(KIND)


def _views(_seen: InformerCache) -> dict[str, View]:
    return {"pods": Index("Pod", by_controller_uid(KIND))}


def _sets_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield the DaemonSet that has changed, that owns the pod which has, or all of them when a node has."""
    if key.kind == KIND:
        if new is not None:
            yield f"{key.namespace}/{key.name}"
    elif key.kind == "Pod":
        yield from controller_cause(KIND, new if new is not None else old)
    elif old is None or new is None or (old.metadata.labels, old.spec) != (new.metadata.labels, new.spec):
        for found in ctx.seen.all(KIND):
            yield f"{found.metadata.namespace or 'default'}/{found.metadata.name}"


def sync(options: DaemonSetOptions, ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Make the daemons that are missing, take away those that are too many or old, then count."""
    owner: DaemonSet | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None:
        ctx.remember("made", cause, None)
        ctx.remember("template", cause, None)
        return ()
    if owner.metadata.deletion_timestamp is not None:
        return ()
    daemons = Daemons(ctx, owner)
    decision = PlanBuilder(ctx, NAME)
    processed = has_seen_write(ctx, cause, "Pod")
    if processed:
        daemons.manage(decision, cause, options)
    status = daemons.status(processed=processed)
    told = attrs.evolve(owner, status=status)
    decision.update_status(owner, told, f"DaemonSet controller counts {reference_of(owner)}")
    daemons.wait(cause)
    return decision.writes


class Daemons:
    """The pods of one DaemonSet as they were seen, node by node."""

    def __init__(self, ctx: TurnContext, owner: DaemonSet) -> None:
        index = ctx.views["pods"]
        assert isinstance(index, Index)
        self.ctx = ctx
        self.owner = owner
        self.nodes: list[Node] = ctx.seen.all("Node")
        pods = sorted_by_age(index.get(owner.metadata.uid))
        self.hash = self._called(pods)
        self.on: dict[str, list[Pod]] = {}
        for pod in pods:
            self.on.setdefault(node_of(pod), []).append(pod)

    def _called(self, pods: Sequence[Pod]) -> str:
        """Return what pods of the present template are called; where nothing has changed, as they are found."""
        owner, own = self.owner, template_hash(self.owner.spec.template)
        cause = f"{owner.metadata.namespace or 'default'}/{owner.metadata.name}"
        known: tuple[str, str] | None = self.ctx.note("template", cause)
        if known is not None and known[0] == own:
            return known[1]
        untouched = known is None and owner.status.observed_generation == generation(owner)
        found = pods[-1].metadata.labels.get(REVISION_LABEL, own) if untouched and pods else own
        self.ctx.remember("template", cause, (own, found))
        return str(found)

    def manage(self, decision: PlanBuilder, cause: str, options: DaemonSetOptions) -> None:
        """Make and delete daemons after the nodes; when all is in place, go on with an update."""
        missing: list[str] = []
        unneeded: list[Pod] = []
        for node in self.nodes:
            runs, stays = fits(self.owner, node)
            pods = self.on.get(node.metadata.name, [])
            living = []
            for pod in pods:
                if pod.metadata.deletion_timestamp is not None:
                    continue
                if pod.status.phase == "Failed" or (stays and pod.status.phase == "Succeeded"):
                    self._replace(decision, pod, node)
                elif stays:
                    living.append(pod)
                else:
                    unneeded.append(pod)
            if runs and not pods:
                missing.append(node.metadata.name)
            unneeded += sorted(living, key=lambda pod: not pod.spec.node_name)[1:]
        there = {node.metadata.name for node in self.nodes}
        lost = [pod for name, pods in self.on.items() if name not in there for pod in pods]
        unneeded += [pod for pod in lost if pod.metadata.deletion_timestamp is None]
        first: int = self.ctx.note("made", cause) or 0
        for number, name in enumerate(missing, first):
            self._create(decision, name, number, options)
        if missing:
            self.ctx.remember("made", cause, first + len(missing))
        for pod in unneeded:
            self._delete(decision, pod)
        if not decision.writes:
            self._update(decision)

    def _replace(self, decision: PlanBuilder, pod: Pod, node: Node) -> None:
        """Delete a daemon that has ended, so that another is made."""
        failed = pod.status.phase == "Failed"
        what = f"daemon pod {pod.metadata.namespace or 'default'}/{pod.metadata.name} on node {node.metadata.name}"
        if failed:
            decision.event(self.owner, "Warning", "FailedDaemonPod", f"Found failed {what}, will try to kill it")
        else:
            words = f"Found succeeded {what}, will try to delete it"
            decision.event(self.owner, "Normal", "SucceededDaemonPod", words)
        self._delete(decision, pod)

    def _update(self, decision: PlanBuilder) -> None:
        """Delete old daemons, as many as may be unavailable; those that do not work anyway do not count."""
        strategy = self.owner.spec.rest.get("updateStrategy", EMPTY)
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        wanted = [node.metadata.name for node in self.nodes if fits(self.owner, node)[0]]
        most = scaled_value(strategy.get("rollingUpdate", EMPTY).get("maxUnavailable", 1), len(wanted), up=True)
        least, now = self.owner.spec.min_ready_seconds, self.ctx.moment
        missing = 0
        sick: list[Pod] = []
        sound: list[Pod] = []
        for name in wanted:
            pods = [pod for pod in self.on.get(name, []) if pod.metadata.deletion_timestamp is None]
            if not pods:
                missing += 1
                continue
            works, old = is_available(pods[0], least, now), not self.is_new(pods[0])
            missing += not works
            if old:
                (sound if works else sick).append(pods[0])
        for pod in [*sick, *sound[: max(0, most - missing)]]:
            self._delete(decision, pod)

    def is_new(self, pod: Pod) -> bool:
        """Say whether a daemon is of the present template."""
        return pod.metadata.labels.get(REVISION_LABEL) == self.hash

    def _create(self, decision: PlanBuilder, node: str, number: int, options: DaemonSetOptions) -> None:
        owner, template = self.owner, self.owner.spec.template
        pod = Pod(
            metadata=ObjectMeta(
                name=f"{owner.metadata.name}-{pod_name_suffix(owner.metadata.uid, number)}",
                generate_name=f"{owner.metadata.name}-",
                namespace=owner.metadata.namespace or "default",
                labels=template.metadata.labels.merged({REVISION_LABEL: self.hash}),
                annotations=template.metadata.annotations,
                owner_references=(controller_reference(owner),),
            ),
            spec=spec_for(template.spec, node, placed=options.places),
        )
        about = key_of(owner)
        decision.create(
            pod,
            f"DaemonSet controller creates {reference_of(pod)} for {node}",
            on_success=(PlannedEvent(about, "Normal", "SuccessfulCreate", f"Created pod: {pod.metadata.name}", NAME),),
            on_failure=(PlannedEvent(about, "Warning", "FailedCreate", "Error creating: {error}", NAME),),
        )

    def _delete(self, decision: PlanBuilder, pod: Pod) -> None:
        decision.delete(pod, f"DaemonSet controller deletes {reference_of(pod)}")
        decision.event(self.owner, "Normal", "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}")

    def status(self, *, processed: bool) -> DaemonSetStatus:
        """Count the nodes and their daemons as they were seen; a generation is observed once it was processed."""
        least, now = self.owner.spec.min_ready_seconds, self.ctx.moment
        desired = current = astray = ready = able = updated = 0
        for node in self.nodes:
            runs, _ = fits(self.owner, node)
            pods = self.on.get(node.metadata.name, [])
            desired += runs
            if not pods:
                continue
            current += runs
            astray += not runs
            if runs:
                ready += is_ready(pods[0])
                able += is_ready(pods[0]) and is_available(pods[0], least, now)
                updated += self.is_new(pods[0])
        return attrs.evolve(
            self.owner.status,
            observed_generation=generation(self.owner) if processed else self.owner.status.observed_generation,
            desired_number_scheduled=desired,
            current_number_scheduled=current,
            number_misscheduled=astray,
            number_ready=ready,
            updated_number_scheduled=updated,
            number_available=able,
            number_unavailable=desired - able,
        )

    def wait(self, cause: str) -> None:
        """Ask to be woken when the next ready daemon becomes available."""
        least = self.owner.spec.min_ready_seconds
        pods = [pod for pods in self.on.values() for pod in pods if is_ready(pod)] if least else []
        waits = [wait for pod in pods if (wait := seconds_until_available(pod, least, self.ctx.moment)) > 0]
        if waits:
            self.ctx.wake_after(cause, min(waits))


def node_of(pod: Pod) -> str:
    """Return the node that a daemon is on, or is meant for."""
    if pod.spec.node_name or pod.spec.affinity is None or pod.spec.affinity.node_affinity is None:
        return pod.spec.node_name
    required = pod.spec.affinity.node_affinity.required
    for term in required.node_selector_terms if required is not None else ():
        for one in term.match_fields:
            if one.key == NODE_NAME and one.values:
                return one.values[0]
    return ""


def spec_for(spec: PodSpec, node: str, *, placed: bool) -> PodSpec:
    """Return a template's pod for one node: tied to it by name or placed there, and tolerating what befalls nodes."""
    if placed:
        return attrs.evolve(spec, node_name=node, tolerations=_tolerations(spec))
    name = Requirement(key=NODE_NAME, operator="In", values=(node,))
    affinity = spec.affinity or Affinity()
    held = affinity.node_affinity or NodeAffinity()
    required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),))
    tied = attrs.evolve(affinity, node_affinity=attrs.evolve(held, required=required))
    return attrs.evolve(spec, affinity=tied, tolerations=_tolerations(spec))


def _tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    added = (*TOLERATIONS, NETWORK) if spec.rest.get("hostNetwork") else TOLERATIONS
    return (*spec.tolerations, *(one for one in added if one not in spec.tolerations))


def fits(owner: DaemonSet, node: Node) -> tuple[bool, bool]:
    """Say whether a node is to have a daemon, and whether one that is there may stay."""
    spec = owner.spec.template.spec
    if spec.node_name and spec.node_name != node.metadata.name:
        return False, False
    labels, name = node.metadata.labels, node.metadata.name
    if any(labels.get(key) != value for key, value in spec.node_selector.items()):
        return False, False
    held = spec.affinity.node_affinity if spec.affinity is not None else None
    if held is not None and held.required is not None and not held.required.matches(labels, name):
        return False, False
    tolerated = _tolerations(spec)
    hard = [
        taint.effect
        for taint in node.spec.taints
        if taint.effect != "PreferNoSchedule" and not any(one.tolerates(taint) for one in tolerated)
    ]
    return not hard, "NoExecute" not in hard


__all__ = ["NAME", "component", "fits"]

"""The DaemonSet controller: it alone creates one pod of a DaemonSet for every node that the template fits.

A node affinity ties a pod to its node; the scheduler binds it (before 1.12 the controller set the node itself, past
the scheduler). A node that is cordoned or not ready keeps its daemon. An update deletes the old pods node by node
(maxUnavailable), or waits until somebody deletes them (OnDelete); surging updates are not modelled.
Mirrors `pkg/controller/daemon/daemon_controller.go` (v1.36.2).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from ..api import workloads
from ..api.defaults import TEMPLATE_GENERATION
from ..api.dials import SWITCH, dial
from ..api.kinds.directives import selects_node, with_required_node_affinity
from ..api.kinds.meta import EMPTY, evolve
from ..api.kinds.node import Node
from ..api.kinds.pod import Pod, PodSpec
from ..api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement, Toleration, find_untolerated_taint
from ..api.kinds.workload import DaemonSet, DaemonSetStatus
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.digest import DIGEST_WAIT
from ..world.log import Key
from ..world.mutation_cache import forget_writes, has_seen_write, refused_if_taken, unused_names, wait_until_seen
from ..world.plan import PlanBuilder, reference_of
from ..world.reconciler import Backoff, Reconciler
from ..world.view import Exists, Index

NAME = "daemonset-controller"
GENERATION_LABEL = "pod-template-generation"
KIND = "DaemonSet"
FAILED_PODS = Backoff.per_cause(1.0, 900.0)
"""Failed daemons of a node are killed at such intervals (failedPodsBackoff)."""
NODE_NAME = "metadata.name"


def _toleration(condition: str, effect: str = "NoSchedule") -> Toleration:
    return Toleration(key=f"node.kubernetes.io/{condition}", operator="Exists", effect=effect)


TOLERATIONS = (
    *(_toleration(condition, "NoExecute") for condition in ("not-ready", "unreachable")),
    *map(_toleration, ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")),
)
HOST_NETWORK_TOLERATION = _toleration("network-unavailable")


@attrs.frozen
class KilledDaemon:
    """A note: how often failed daemons of a node were killed, until when none is, and when that is forgotten."""

    failures: int
    until: float = attrs.field(metadata=DIGEST_WAIT)
    expires: float = attrs.field(metadata=DIGEST_WAIT)


@attrs.frozen(kw_only=True)
class DaemonSetOptions:
    """The dials of the controller."""

    sets_node_name: bool = dial(
        False, SWITCH, "whether it sets the pod's nodeName, so that no scheduler sees the pod (before 1.12)",
        "S0, Unsupported Use Cases: DaemonSets bypass the scheduler and do not trigger binding",
    )


def component(options: DaemonSetOptions | None = None) -> Component:
    """Return the DaemonSet controller."""
    sync_set = partial(sync, options or DaemonSetOptions())
    routine = Reconciler(NAME, _sets_of, sync_set, refused_if_taken, wait_until_seen("Pod"))
    return Component(NAME, (KIND, "Pod", "Node"), (routine,),
                     lambda _seen: {"pods": Index("Pod", workloads.by_controller_uid(KIND))},
                     activation=partial(Exists, KIND))


def _sets_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a DaemonSet that has changed, the owner of a changed pod, or all DaemonSets if a node has changed."""
    if key.kind in (KIND, "Pod"):
        yield from workloads.changed_or_owner(KIND, key, old, new)
    elif old is None or new is None or (old.metadata.labels, old.spec) != (new.metadata.labels, new.spec):
        for found in ctx.seen.all(KIND):
            yield f"{found.metadata.namespace or 'default'}/{found.metadata.name}"


def sync(options: DaemonSetOptions, ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Create missing daemons, delete needless or old ones, then write the status."""
    owner: DaemonSet | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None:
        forget_writes(ctx, cause, "Pod")
        ctx.remember("template", cause, None)
        return ()
    if owner.metadata.deletion_timestamp is not None:
        return ()
    daemons = DaemonPods(ctx, owner)
    plan = PlanBuilder(ctx, NAME)
    processed = has_seen_write(ctx, cause, "Pod")
    if processed:
        daemons.manage(plan, cause, options)
    status = daemons.status(processed=processed)
    words = f"DaemonSet controller updates the status of {reference_of(owner)}: "
    words += f"{status.number_ready} of {status.desired_number_scheduled} ready"
    plan.update_status(owner, attrs.evolve(owner, status=status), words)
    daemons.wake_when_available(cause)
    return plan.writes


class DaemonPods:
    """The pods of one DaemonSet as they were seen, by node."""

    def __init__(self, ctx: TurnContext, owner: DaemonSet) -> None:
        self.ctx, self.owner = ctx, owner
        self.nodes: list[Node] = ctx.seen.all("Node")
        pods = workloads.sorted_by_age(ctx.views["pods"].get(owner.metadata.uid))
        self.hash = self._template_hash(pods)
        self.waits: list[float] = []  # seconds until the set is looked at again
        self.pods: dict[str, list[Pod]] = {}
        for pod in pods:
            self.pods.setdefault(node_of(pod), []).append(pod)

    def _template_hash(self, pods: Sequence[Pod]) -> str:
        """Return the hash in the label of the present template's pods; of a loaded, unchanged set that of its pods."""
        owner, computed = self.owner, workloads.template_hash(self.owner.spec.template)
        cause = f"{owner.metadata.namespace or 'default'}/{owner.metadata.name}"
        known: tuple[str, str] | None = self.ctx.note("template", cause)
        if known is not None and known[0] == computed:
            return known[1]
        unchanged = known is None and owner.status.observed_generation == workloads.generation(owner)
        found = pods[-1].metadata.labels.get(workloads.REVISION_LABEL, computed) if unchanged and pods else computed
        self.ctx.remember("template", cause, (computed, found))
        return str(found)

    def manage(self, plan: PlanBuilder, cause: str, options: DaemonSetOptions) -> None:
        """Create and delete daemons as the nodes need them; if there is nothing to do, continue an update."""
        missing: list[str] = []
        unneeded: list[Pod] = []
        for node in self.nodes:
            should_run, may_stay = fits(self.owner, node)
            pods = self.pods.get(node.metadata.name, [])
            present = []
            for pod in pods:
                if pod.metadata.deletion_timestamp is not None:
                    continue
                if pod.status.phase == "Failed" or (may_stay and pod.status.phase == "Succeeded"):
                    self._replace(plan, pod, node, cause)
                elif may_stay:
                    present.append(pod)
                else:
                    unneeded.append(pod)
            if should_run and not pods:
                missing.append(node.metadata.name)
            unneeded += sorted(present, key=lambda pod: not pod.spec.node_name)[1:]
        names = {node.metadata.name for node in self.nodes}
        lost = [pod for name, pods in self.pods.items() if name not in names for pod in pods]
        unneeded += [pod for pod in lost if pod.metadata.deletion_timestamp is None]
        for name, number in zip(missing, unused_names(self.ctx, cause, self._key), strict=False):
            self._create(plan, name, number, options)
        for pod in unneeded:
            self._delete(plan, pod)
        if not plan.writes:
            self._update(plan)

    def _replace(self, plan: PlanBuilder, pod: Pod, node: Node, cause: str) -> None:
        what = f"daemon pod {pod.metadata.namespace or 'default'}/{pod.metadata.name} on node {node.metadata.name}"
        if pod.status.phase == "Failed":
            if not self._may_kill(f"{cause}/{node.metadata.name}"):
                return
            plan.event(self.owner, "Warning", "FailedDaemonPod", f"Found failed {what}, will try to kill it")
        else:
            plan.event(self.owner, "Normal", "SucceededDaemonPod", f"Found succeeded {what}, will try to delete it")
        self._delete(plan, pod)

    def _may_kill(self, name: str) -> bool:
        """Say whether a failed daemon of a node may be killed now: the controller would fight with a kubelet."""
        now, last = self.ctx.now, self.ctx.note("killed", name)
        if last is not None and last.until > now:
            self.waits.append(last.until - now)
            return False
        failures = 1 if last is None or last.expires < now else min(last.failures + 1, FAILED_PODS.counted)
        killed = KilledDaemon(failures, now + FAILED_PODS.seconds(failures), now + 2 * FAILED_PODS.last)
        self.ctx.remember("killed", name, killed)
        return True

    def _update(self, plan: PlanBuilder) -> None:
        """Delete old daemons, as many as may be unavailable; those that are unavailable already do not count."""
        strategy = self.owner.spec.rest.get("updateStrategy", EMPTY)
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return
        wanted = [node.metadata.name for node in self.nodes if fits(self.owner, node)[0]]
        rolling = strategy.get("rollingUpdate", EMPTY)
        max_unavailable = workloads.scaled_value(rolling.get("maxUnavailable", 1), len(wanted), up=True)
        min_ready_seconds, now = self.owner.spec.min_ready_seconds, self.ctx.moment
        unavailable = 0
        old_unavailable: list[Pod] = []
        old_available: list[Pod] = []
        for name in wanted:
            pods = [pod for pod in self.pods.get(name, []) if pod.metadata.deletion_timestamp is None]
            if not pods:
                unavailable += 1
                continue
            works = workloads.is_available(pods[0], min_ready_seconds, now)
            unavailable += not works
            if not self.is_new(pods[0]):
                (old_available if works else old_unavailable).append(pods[0])
        for pod in [*old_unavailable, *old_available[: max(0, max_unavailable - unavailable)]]:
            self._delete(plan, pod)

    def is_new(self, pod: Pod) -> bool:
        """Say whether a daemon is of the present template."""
        return pod.metadata.labels.get(workloads.REVISION_LABEL) == self.hash

    def _key(self, number: int) -> Key:
        """Return the key of a daemon whose name has this number."""
        meta = self.owner.metadata
        return Key("Pod", meta.namespace or "default", f"{meta.name}-{workloads.pod_name_suffix(meta.uid, number)}")

    def _create(self, plan: PlanBuilder, node: str, number: int, options: DaemonSetOptions) -> None:
        owner = self.owner
        counted = owner.metadata.annotations.get(TEMPLATE_GENERATION)
        told = {workloads.REVISION_LABEL: self.hash, GENERATION_LABEL: counted}
        labels = owner.spec.template.metadata.labels.merged(told)
        replica = workloads.replica_of(owner, self._key(number).name, labels, f"{owner.metadata.name}-")
        pod = evolve(replica, spec=spec_for(replica.spec, node, sets_node_name=options.sets_node_name))
        plan.create_pod(owner, pod, f"DaemonSet controller creates {reference_of(pod)} for node {node}")

    def _delete(self, plan: PlanBuilder, pod: Pod) -> None:
        plan.delete_pod(self.owner, pod, f"DaemonSet controller deletes {reference_of(pod)}")

    def status(self, *, processed: bool) -> DaemonSetStatus:
        """Return the status with counts of nodes and daemons; a generation is observed once it was processed."""
        min_ready_seconds, now = self.owner.spec.min_ready_seconds, self.ctx.moment
        desired = current = misscheduled = ready = number_available = updated = 0
        for node in self.nodes:
            should_run, _ = fits(self.owner, node)
            pods = self.pods.get(node.metadata.name, [])
            desired += should_run
            if pods and not should_run:
                misscheduled += 1
            elif pods:
                current += 1
                ready += workloads.is_ready(pods[0])
                number_available += workloads.is_available(pods[0], min_ready_seconds, now)
                updated += self.is_new(pods[0])
        status = self.owner.status
        return attrs.evolve(
            status, observed_generation=workloads.generation(self.owner) if processed else status.observed_generation,
            desired_number_scheduled=desired, current_number_scheduled=current, number_misscheduled=misscheduled,
            number_ready=ready, updated_number_scheduled=updated, number_available=number_available,
            number_unavailable=desired - number_available
        )

    def wake_when_available(self, cause: str) -> None:
        """Wake the DaemonSet when the next ready daemon becomes available, or a failed one may be killed."""
        ready = (pod for pods in self.pods.values() for pod in pods if workloads.is_ready(pod))
        waits = workloads.waits_for_available(ready, self.owner.spec.min_ready_seconds, self.ctx.moment)
        if waits := [*waits, *self.waits]:
            self.ctx.wake_after(cause, min(waits))


def node_of(pod: Pod) -> str:
    """Return the node of a daemon: where it is bound, or to which its affinity ties it."""
    required = pod.spec.required_node_affinity
    if pod.spec.node_name:
        return pod.spec.node_name
    for term in required.node_selector_terms if required is not None else ():
        for field in term.match_fields:
            if field.key == NODE_NAME and field.values:
                return field.values[0]
    return ""


def spec_for(spec: PodSpec, node: str, *, sets_node_name: bool) -> PodSpec:
    """Return the spec of a daemon for one node: tied to it by affinity or nodeName, with the daemons' tolerations."""
    tolerant = attrs.evolve(spec, tolerations=_tolerations(spec))
    if sets_node_name:
        return attrs.evolve(tolerant, node_name=node)
    name = Requirement(key=NODE_NAME, operator="In", values=(node,))
    required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),))
    return with_required_node_affinity(tolerant, required)


def _tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    added = (*TOLERATIONS, HOST_NETWORK_TOLERATION) if spec.rest.get("hostNetwork") else TOLERATIONS
    return (*spec.tolerations, *(toleration for toleration in added if toleration not in spec.tolerations))


def fits(owner: DaemonSet, node: Node) -> tuple[bool, bool]:
    """Say whether a node is to have a daemon, and whether a present one may stay."""
    spec = owner.spec.template.spec
    if spec.node_name not in ("", node.metadata.name) or not selects_node(spec, node):
        return False, False
    taints, tolerations = node.spec.taints, _tolerations(spec)
    evicting = find_untolerated_taint(taints, tolerations, ("NoExecute",))
    return find_untolerated_taint(taints, tolerations) is None, evicting is None

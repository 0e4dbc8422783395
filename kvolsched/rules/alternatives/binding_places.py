"""Who binds, if the scheduler does not: four designs that S0 rejects; and one in which it makes all of the binding.

In the four a pod is placed first: the flows of their schedulers write nothing for volumes. A binder looks for volumes
on the node that a pod has already. It reads only what its own process has seen, and may choose other volumes than the
scheduler remembers to have chosen.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import evolve_parts
from ...api.kinds.node import HOSTNAME_LABEL, Node
from ...api.kinds.pod import Pod
from ...api.kinds.volume import BETA_STORAGE_PROVISIONER, BIND_COMPLETED, PersistentVolume, PersistentVolumeClaim
from ...api.volumes import volume_fits_node
from ...controllers import kubelet, persistent_volume
from ...scheduler.loop.assume_cache import AssumeCache
from ...scheduler.loop.binding_flow import TwoPasses, assume_and_bind, assume_cache
from ...scheduler.loop.scheduling_cycle import SCHEDULER, handle_failure
from ...scheduler.loop.volume_binder import CannotAssume, FoundVolumes, assume_pod_volumes
from ...world.apiserver import Write
from ...world.component import Component, TurnContext
from ...world.log import Key
from ...world.plan import PlanBuilder, reference_of, report_done, report_refused
from ...world.reconciler import Reconciler
from ...world.view import Index, InformerCache, View
from ..named import revision_named
from ..revision import Revision
from .building import Rearranged, based_on

POD_SYNC, CLAIM = "pod sync", "PersistentVolumeClaim"
LATE_BINDER, KUBELET_VOLUMES = "late-binder", "kubelet volumes"
WATCHES = ("Pod", "Node", "StorageClass", "PersistentVolume", "PersistentVolumeClaim")
WAITING = "placed pods that wait"
ANY_VOLUME = "any volume"

MayRead = Callable[[PersistentVolume, Node], bool]
Preference = Callable[[PersistentVolume, Node], int]


def place_first(base: str | Revision = "design") -> Revision:
    """Return rules in which the scheduler does not ask about volumes, and a binder binds for the placed pod.

    Schedulers stay as they were, custom ones too. S0 (Keep all PVC binding in the PV controller) keeps a predicate all
    the same: without one the node is chosen for its cpu, and a pod lands where no volume of its can be reached. It
    stays there for ever, since nobody places a pod twice.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("disk-on-the-small-node", "place_first")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pod/app"].spec.node_name, c["pod/app"].status.phase
    ('big', 'Pending')
    """
    rules = revision_named(base)
    return based_on(
        rules, "place_first", profile=rules.profile.without("VolumeBinding", "VolumeZone"),
        flow=placing(rules, PlaceBlindly), added=(_late_binder(rules),)
    )


def late_binder(base: str | Revision = "design") -> Revision:
    """Return rules in which the scheduler remembers the volumes it found, and a process of its own binds them later.

    Pods that bypass the scheduler get their volumes too. S0 (Keep all PVC binding in the PV controller) rejects it: two
    processes decide about the same volumes, each by its own cache. The binder may take another volume than the
    scheduler remembers; then the scheduler's choice is held for nobody, and further decisions build on it. A restart of
    the scheduler forgets every choice.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> run = scenario("a-disk-on-each-node", "late_binder").run()
    >>> [step.words for step in run if step.actor == "late-binder"][0]
    'late-binder reserves pv/disk-1 for pvc/one: claimRef.'
    """
    rules = revision_named(base)
    return based_on(rules, "late_binder", flow=placing(rules, PlaceFirst), added=(_late_binder(rules),))


def bind_in_pv_controller(base: str | Revision = "design") -> Revision:
    """Return rules in which the PV controller binds, once a pod has its node.

    Nothing is added to the control plane. S0 (Keep all PVC binding in the PV controller) rejects it: the controller
    must watch pods and sync by pod, for several claims at once; scheduler and controller may choose different volumes;
    and predicates that need bound claims, such as the one for volumes whose zone is in their labels, are never asked
    again after the claims are bound.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("zone-in-a-label", "bind_in_pv_controller")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pod/app"].spec.node_name, c["pv/disk"].metadata.labels
    ('node-b', {'topology.kubernetes.io/zone': 'a'})
    """
    rules = revision_named(base)
    binder = PodBinder("persistentvolume pods", "PV controller", rules.flow.options)
    more = Rearranged(persistent_volume.NAME, WATCHES, (binder.routine(),), views)
    return based_on(rules, "bind_in_pv_controller", flow=placing(rules, PlaceFirst), arrange=more)


def bind_in_kubelet(base: str | Revision = "design") -> Revision:
    """Return rules in which the kubelet of a pod's node binds: S0's thought of a scheduler within each node.

    It takes a volume next to the pod's other resources: one of its node before one of its zone. S0 (Move PVC binding to
    kubelet) rejects it: a kubelet must read unbound volumes, those of its node if they are local, and every one of the
    zone if they are zonal (see `alternatives.readable_volumes`). It also chooses by its own preference, so it may take
    another volume than the one for which the scheduler sent the pod.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("own-disk-first", "bind_in_kubelet")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pvc/data-db-0"].spec.volume_name, c["pod/db-1"].spec.node_name
    ('local-disk-2', '')
    """
    rules = revision_named(base)
    binder = PodBinder(KUBELET_VOLUMES, "Kubelet", rules.flow.options, kubelet_reads, own_node_first)
    more = Rearranged(kubelet.NAME, WATCHES, (binder.routine(),), views)
    return based_on(rules, "bind_in_kubelet", flow=placing(rules, PlaceFirst), arrange=more)


def kubelet_reads(volume: PersistentVolume, node: Node) -> bool:
    """Say whether the kubelet of a node must read a volume to bind it: it is reachable from there."""
    return volume_fits_node(volume, node)


def own_node_first(volume: PersistentVolume, node: Node) -> int:
    """Prefer the volumes that only this node reaches."""
    elsewhere = attrs.evolve(node, metadata=attrs.evolve(
        node.metadata, labels=node.metadata.labels.with_(**{HOSTNAME_LABEL: ""})))
    return int(volume_fits_node(volume, elsewhere))


def _late_binder(rules: Revision) -> Component:
    binder = PodBinder(LATE_BINDER, LATE_BINDER, rules.flow.options)
    return Component(LATE_BINDER, WATCHES, (binder.routine(),), views)


@attrs.frozen
class PlaceBlindly(TwoPasses):
    """Places a pod as if it had no volumes: a scheduler from before the feature."""

    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes:
        """Look for nothing."""
        return FoundVolumes()

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the pod alone, and bind it to its node."""
        return f"{assume_and_bind(ctx, name, pod, node)} It looks at no volume."


@attrs.frozen
class PlaceFirst(TwoPasses):
    """Places a pod where volumes were found for it, and remembers them; somebody else binds them later."""

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the volumes, in memory only, then assume the pod and bind it to its node."""
        try:
            chosen = assume_pod_volumes(ctx, assume_cache(ctx), found, node, self.options, writes_all=True)
        except CannotAssume as why:
            handle_failure(ctx, name, pod, f"AssumePodVolumes failed: {why}", reason="SchedulerError")
            return f"It cannot assume the volumes: {why}."
        words = assume_and_bind(ctx, name, pod, node)
        remembered = ", ".join(write.subject for write in chosen)
        return f"{words} It remembers {remembered}, and writes nothing for them." if remembered else words


def placing(rules: Revision, flow: type[TwoPasses]) -> TwoPasses:
    """Return a flow with the volume rules of a revision."""
    old = rules.flow
    same = {"volume_rule": old.volume_rule, "errors_are_verdicts": old.errors_are_verdicts}
    return flow(old.volume_binding, old.options, **same)  # type: ignore[arg-type]


def views(_seen: InformerCache) -> dict[str, View]:
    """Return the index of the placed pods that wait for their volumes."""
    return {WAITING: Index("Pod", _waited_for)}


def _waited_for(pod: Pod) -> Iterator[str]:
    if pod.spec.node_name and pod.status.phase in ("", "Pending") and pod.metadata.deletion_timestamp is None:
        names = tuple(pod.claim_names())
        yield from (f"{pod.metadata.namespace or 'default'}/{name}" for name in names)
        if names:
            yield ANY_VOLUME


@attrs.frozen
class PodBinder:
    """Decides about the claims of one placed pod at a time."""

    name: str  # the actor's name
    writer: str  # who writes, in its sentences
    rules: volumes.VolumeRules  # how volumes are matched, and which annotation tells a provisioner the node
    # which volumes it can read when it binds for a node; every one, if it runs with the control plane
    may_read: MayRead = lambda _volume, _node: True
    # the volumes with the lowest number are looked at first, of these the smallest that fits
    prefers: Preference = lambda _volume, _node: 0

    def routine(self) -> Reconciler:
        """Return the actor."""
        return Reconciler(self.name, self.pods_of, self.sync, report_refused, report_done)

    def pods_of(self, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield the placed pods that a change concerns: a pod itself, or those that wait for a claim or a volume."""
        if key.kind == "Pod":
            if new is not None and any(_waited_for(new)):
                yield f"{key.namespace}/{key.name}"
            return
        if new is None:
            return
        wanted = f"{key.namespace}/{key.name}" if key.kind == "PersistentVolumeClaim" else ANY_VOLUME
        for pod in ctx.views[WAITING].keys(wanted):
            yield f"{pod.namespace}/{pod.name}"

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Reserve a volume for each unbound claim of one placed pod, or select its node for provisioning."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
        node = ctx.seen.get("Node", pod.spec.node_name) if pod is not None else None
        plan, taken = PlanBuilder(ctx, self.name), set[str]()
        if pod is None or node is None:
            return plan.writes
        for claim in sorted(self._unbound(ctx, pod), key=lambda each: -volumes.requested(each)):
            chosen = self._find(ctx, claim, node, taken)
            storage_class = ctx.seen.get("StorageClass", volumes.class_of_claim(claim))
            if chosen is not None:
                taken.add(chosen.metadata.name)
                words = f"{self.writer} reserves {reference_of(chosen)} for {reference_of(claim)}: claimRef"
                plan.update(chosen, volumes.bind_volume_to_claim(chosen, claim), words)
            elif storage_class is not None and volumes.has_provisioner(storage_class):
                name = node.metadata.name
                words = f"{self.writer} selects {name} for {reference_of(claim)}"
                plan.update(claim, volumes.with_selected_node(claim, name, self.rules), words)
            else:
                words = f"{self.writer} finds no volume on {node.metadata.name} for {reference_of(claim)}"
                plan.describe(f"{words}, where {reference_of(pod)} is placed")
        return plan.writes

    def _unbound(self, ctx: TurnContext, pod: Pod) -> list[PersistentVolumeClaim]:
        """Return the pod's claims that wait for a volume: no volume named, of a class that waits."""
        namespace = pod.metadata.namespace or "default"
        found = [ctx.seen.get("PersistentVolumeClaim", name, namespace) for name in pod.claim_names()]
        return [claim for claim in found if claim is not None and not claim.spec.volume_name]

    def _find(self, ctx: TurnContext, claim: PersistentVolumeClaim, node: Node,
              taken: set[str]) -> PersistentVolume | None:
        readable = [volume for volume in ctx.seen.all("PersistentVolume") if self.may_read(volume, node)]
        for number in sorted({self.prefers(volume, node) for volume in readable}):
            group = (volume for volume in readable if self.prefers(volume, node) == number)
            found = volumes.find_matching_volume(claim, group, node=node, excluded=taken, rules=self.rules)
            if found is not None:
                return found
        return None


# The scheduler prebinds and selects nodes as in the design. What the PV controller does after that, an actor of the
# scheduler does here: the pod sync loop, which has a cause only as long as there is a pending pod.


def bind_in_scheduler(base: str | Revision = "design", *, controller: bool = False) -> Revision:
    """Return rules in which the scheduler makes all four writes of a binding, and no PV controller runs.

    S0 (Pull entire PVC binding into the scheduler) rejects it: the scheduler works by pods, and no pod asks for what
    remains: a claim or volume that gets lost, a binding of which half is written when its pod goes, a claim that is
    deleted and its volume that should be reclaimed.

    Args:
        base: the revision whose other rules hold.
        controller: whether the PV controller runs beside it, as S0 concludes that it must.

    >>> from kvolsched.alternatives import experiment
    >>> experiment("bind_in_scheduler").run()
    bind_in_scheduler on room-for-one-volume: fails: a volume is held for the deleted claim one, in phase Bound
    """
    rules = revision_named(base)
    routine = Reconciler(POD_SYNC, _pods_of, PodSync(rules.flow.options).sync, report_refused, report_done)
    arranged = Rearranged(SCHEDULER, actors=(routine,), without="" if controller else persistent_volume.NAME)
    name = "bind_in_scheduler with a PV controller" if controller else "bind_in_scheduler"
    more_rights = {(verb, kind) for verb in ("update", "update_status") for kind in ("PersistentVolume", CLAIM)}
    permissions = {**rules.permissions, SCHEDULER: rules.permissions[SCHEDULER] | more_rights}
    return based_on(rules, name, arrange=arranged, permissions=permissions)


def _pods_of(ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
    """Yield the pods without a node that a change concerns: a pod itself, or those that use a claim or volume."""
    if new is None:
        return
    claims: list[Key] = []
    match key.kind:
        case "Pod":
            if not new.spec.node_name and new.claim_names():
                yield f"{key.namespace}/{key.name}"
        case "PersistentVolumeClaim":
            claims = [key]
        case "PersistentVolume":
            reference = new.spec.claim_ref
            claims = [Key("PersistentVolumeClaim", reference.namespace, reference.name)] if reference else []
    for claim in claims:
        for pod in ctx.views["users"].keys(claim):
            yield f"{pod.namespace}/{pod.name}"


@attrs.frozen
class PodSync:
    """Completes the bindings of one pending pod's claims: what the PV controller does in the design."""

    rules: volumes.VolumeRules

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Bind the volumes that are reserved for the pod's claims, and hand claims with a node to their provisioner."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
        plan = PlanBuilder(ctx, SCHEDULER)
        if pod is None or pod.spec.node_name:
            return plan.writes
        for name in pod.claim_names():
            claim = ctx.seen.get("PersistentVolumeClaim", name, pod.metadata.namespace or "default")
            if claim is None or volumes.is_bound(claim):
                continue
            reserved = [each for each in ctx.seen.all("PersistentVolume") if volumes.is_bound_to(each, claim)]
            if reserved:
                self._bind(plan, reserved[0], claim)
            elif volumes.selected_node(claim, self.rules):
                self._provision(plan, claim)
        return plan.writes

    @staticmethod
    def _bind(plan: PlanBuilder, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        words = f"Scheduler sets the phase of {reference_of(volume)} to Bound"
        plan.update_status(volume, evolve_parts(volume, status={"phase": "Bound"}), words)
        annotations = claim.metadata.annotations.merged({BIND_COMPLETED: "yes"})
        spec = {"volume_name": volume.metadata.name}
        bound = evolve_parts(claim, spec=spec, metadata={"annotations": annotations})
        plan.update(claim, bound, f"Scheduler sets the volumeName of {reference_of(claim)} to {volume.metadata.name}")
        words = f"Scheduler sets the phase of {reference_of(claim)} to Bound"
        plan.update_status(bound, evolve_parts(bound, status={"phase": "Bound"}), words)

    @staticmethod
    def _provision(plan: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        storage_class = plan.ctx.seen.get("StorageClass", volumes.class_of_claim(claim))
        if storage_class is None or BETA_STORAGE_PROVISIONER in claim.metadata.annotations:
            return
        told = claim.metadata.annotations.merged({BETA_STORAGE_PROVISIONER: storage_class.provisioner})
        words = f"Scheduler hands {reference_of(claim)} to {storage_class.provisioner}"
        plan.update(claim, evolve_parts(claim, metadata={"annotations": told}), words)

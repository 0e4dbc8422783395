"""A driver's provisioner: it alone makes volumes for claims that are handed to it, and deletes them after release.

Where a volume may lie is what the driver is asked for (`topology`), or its own choice (`placing`); when it comes, and
whether it fails, are dials; a driver with `pools` fails where no room is left, and publishes how much is (`capacity`).
What it was told at the start of an attempt (class, node) is what it makes in the end, whatever has changed since; until
the volume stands in the API nothing of it can be seen. Mirrors external-provisioner v6.3.0 and sig-storage-lib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from ...api.kinds.meta import EMPTY, without_finalizers
from ...api.kinds.node import Node
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import (
    BETA_STORAGE_PROVISIONER,
    PROVISIONED_BY,
    STORAGE_PROVISIONER,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ...volumes import (
    MIGRATED,
    Topology,
    claim_key,
    class_of_claim,
    is_bound,
    requested,
    selected_node,
    with_selected_node,
)
from ...world.apiserver import Write
from ...world.component import Component, TurnContext
from ...world.log import Key
from ...world.plan import PlanBuilder, enqueue, reference_of, report_done, report_refused
from ...world.reconciler import Reconciler
from ...world.view import InformerCache, View
from . import driver_status, topology
from . import storage_pools as pools
from .capacity import ITEM, WATCHES, CapacityPublisher, PublishedCapacities, PublishingOptions
from .driver_status import StatusPublisher
from .in_tree_topology import allowed, choose_topology
from .new_volume import FINALIZER, chooses, domain_of, volume_for, volume_name
from .options import DESIGN, EXHAUSTED, UNFINISHED, UPSTREAM, Failure, ProvisionerOptions
from .storage_pools import CapacityResponse, DriverStorage, places
from .topology import DriverTopology, FirstAttempt, NoTopology, NoTopologyYet, TopologyRequest


@attrs.frozen
class Attempt:
    """A note: a volume in the making, as it was asked for when the attempt began; `number` counts from 1.

    `remembered` is what was read for the claim of this uid; it is kept while the driver may still be at work.
    """

    number: int
    node: str
    volume: PersistentVolume | None = None
    error: str = ""
    claim: str = ""
    remembered: FirstAttempt = FirstAttempt()


PLACES = "places"  # the view that counts topologies


def component(name: str, options: ProvisionerOptions = UPSTREAM) -> Component:
    """Return the provisioner of a driver: a component of the driver's name.

    A name of Kubernetes' own (`kubernetes.io/gce-pd`) stands for its plugin, or for the CSI driver that acts for it.
    """
    in_tree = options.plays_in_tree and name.startswith("kubernetes.io/")
    driver = Provisioner(name, name if in_tree else MIGRATED.get(name, name), in_tree, options)
    routines = (
        Reconciler(f"{name} provisioner", driver.claims_of, driver.provision, report_refused, report_done, driver.backoff),
        Reconciler(f"{name} deleter", driver.volumes_of, driver.delete, report_refused, report_done, driver.backoff),
    )
    watches: tuple[str, ...] = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass", "Node", "CSINode")
    if not options.running:
        return Component(name, watches, ())
    if options.pools:
        of_status = options.publishing.form != "objects"
        watches = tuple(dict.fromkeys((*watches, *(driver_status.WATCHES if of_status else WATCHES))))
        views: dict[str, Callable[[], View]] = {ITEM: PublishedCapacities, PLACES: topology.NodeTopologies}
        return Component(name, watches, (*routines, driver.publisher.routine()), partial(_views, views))
    return Component(name, watches, routines, partial(_views, {PLACES: topology.NodeTopologies}))


def _views(kinds: Mapping[str, Callable[[], View]], _seen: InformerCache) -> Mapping[str, View]:
    return {name: make() for name, make in kinds.items()}


@attrs.frozen
class Provisioner:
    """The decisions of a driver's provisioner."""

    component: str
    name: str
    in_tree: bool
    options: ProvisionerOptions

    @staticmethod
    def backoff(failures: int) -> float:
        """Return the seconds between two attempts: 1 s, doubled up to 5 minutes."""
        return float(min(2 ** (failures - 1), 300))

    @property
    def source(self) -> str:
        """Who speaks in Events: the driver's controller pod, or the PV controller for its own plugins."""
        if self.in_tree:
            return "persistentvolume-controller"
        return f"{self.name}_{self.name.partition('.')[0]}-csi-controller-0"

    @property
    def storage(self) -> DriverStorage:
        """The driver's pools."""
        return DriverStorage(self.name, self.options.pools)

    @property
    def publisher(self) -> CapacityPublisher | StatusPublisher:
        """Who publishes how much room there is."""
        if self.options.publishing.form != "objects":
            return StatusPublisher(self.name, self.room, self.options.publishing)
        return CapacityPublisher(self.name, self.options.topology_keys, self.room, self.options.publishing)

    def room(self, ctx: TurnContext, parameters: Mapping[str, str], segment: Topology) -> CapacityResponse:
        """Answer GetCapacity."""
        return self.storage.room(ctx.sim.log, parameters, segment)

    def _serves(self, name: str) -> bool:
        return name == self.name or name in self.options.serves

    # -- which claims -----------------------------------------------------------------------------------

    def claims_of(self, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a claim that has changed, if it is handed to this driver and not taken up yet."""
        if key.kind == "PersistentVolumeClaim" and new is not None and self._is_mine(ctx, new):
            cause = f"{key.namespace}/{key.name}"
            if ctx.note("attempt", cause) is None:
                yield cause

    def _is_mine(self, ctx: TurnContext, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim waits for this driver: it is named, and for a delayed class a node is selected."""
        if claim.spec.volume_name or is_bound(claim):
            return False
        annotations = claim.metadata.annotations
        found = ctx.seen.get("StorageClass", class_of_claim(claim))
        if found is None:
            return False
        if self.in_tree:
            named_one = found.provisioner
        else:
            named_one = annotations.get(STORAGE_PROVISIONER) or annotations.get(BETA_STORAGE_PROVISIONER, "")
        unpinned = not self.options.heeds_node and BETA_STORAGE_PROVISIONER in annotations
        return self._serves(named_one) and (not found.delayed or unpinned or bool(selected_node(claim)))

    # -- an attempt ---------------------------------------------------------------------------------------

    def provision(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Begin an attempt for a claim, or bring one to its end."""
        attempt: Attempt | None = ctx.note("attempt", cause)
        if attempt is not None and (attempt.volume is not None or attempt.error):
            return self._finish(ctx, cause, attempt)
        key = Key("PersistentVolumeClaim", *cause.split("/"))
        claim: PersistentVolumeClaim | None = ctx.seen.at(key)
        if claim is None or not self._is_mine(ctx, claim):
            ctx.remember("attempt", cause, None)
            return ()
        if ctx.seen.get("PersistentVolume", volume_name(claim)) is not None:
            return ()  # made by an earlier attempt: the PV controller is to bind it
        number = attempt.number + 1 if attempt is not None else 1
        node = selected_node(claim)
        if not self.in_tree:
            words = f'External provisioner is provisioning volume for claim "{claim_key(claim)}"'
            ctx.event(claim, "Normal", "Provisioning", words, self.source)
        begun = self._begun(ctx, claim, node, attempt, number)
        ctx.describe(f"{self.name} takes up {reference_of(claim)}{f' for {node}' if node else ''}")
        if self.options.delay <= 0:
            return self._finish(ctx, cause, begun)
        ctx.remember("attempt", cause, begun)
        ctx.wake_after(cause, self.options.delay)
        return ()

    def _begun(self, ctx: TurnContext, claim: PersistentVolumeClaim, node: str, last: Attempt | None, number: int) -> Attempt:
        """Return a new attempt: the volume that is to be made, or why there is no place for it."""
        uid = claim.metadata.uid
        known = last.remembered if last is not None and last.claim == uid else FirstAttempt()
        try:
            found = self._read(ctx, Key("StorageClass", "", class_of_claim(claim)))
            at = self._read(ctx, Key("Node", "", node)) if node and self.options.heeds_node else None
            terms, known = self._terms(ctx, claim, found, at, known)
        except NoTopologyYet as why:
            error = f"error generating accessibility requirements: {why}"
            return Attempt(number, node, error=error, claim=uid, remembered=why.remembered)
        except NoTopology as why:
            return Attempt(number, node, error=str(why))
        guarded = self.options.guards and not self.in_tree
        volume = volume_for(claim, found, self.name, terms, in_tree=self.in_tree, guarded=guarded)
        return Attempt(number, node, volume, claim=uid, remembered=known)

    def _terms(
        self,
        ctx: TurnContext,
        claim: PersistentVolumeClaim,
        found: StorageClass,
        node: Node | None,
        known: FirstAttempt,
    ) -> tuple[Sequence[Mapping[str, tuple[str, ...]]], FirstAttempt]:
        """Return where a volume for a claim is made: terms (ORed) of label key -> values; and what to remember."""
        keys, name = self.options.topology_keys, claim.metadata.name
        wanted = self.options.immediate_zone
        zone = wanted if isinstance(wanted, str) else wanted.get(name, "")
        if zone and node is None:
            return ({keys[0]: (zone,)},), known
        if self.in_tree or chooses(found):
            try:
                return choose_topology(name, found, node, _nodes(ctx), keys), known
            except NoTopology as why:
                if self.in_tree:
                    raise
                raise NoTopologyYet(str(why), known) from why
        assumed = topology.keys_in_use(found.allowed_topologies, [node] if node is not None else _nodes(ctx), keys)
        # This driver takes the first place: without a list that is the node's own, and no other need be looked for.
        strict = self.options.strict_topology or (node is not None and not found.allowed_topologies)
        asked = TopologyRequest(
            claim=name,
            allowed=found.allowed_topologies,
            node=node.metadata.name if node is not None else "",
            strict=strict,
            immediate=self.options.immediate_topology,
        )
        counted = ctx.views[PLACES]
        assert isinstance(counted, topology.NodeTopologies)
        registered = DriverTopology(self.name, ctx.seen, assumed, node, counted)
        access, known = topology.accessibility(asked, registered, known)
        if access is None:
            return (), known
        first = access.preferred[0]
        if self.options.pools and node is None:  # the driver may take any; it tries them in the order of preference
            log, size = ctx.sim.log, requested(claim)
            with_room = (one for one in access.preferred if self.storage.has_room(log, found.parameters, one, size))
            first = next(with_room, first)
        return ({key: (value,) for key, value in first},), known

    def _read(self, ctx: TurnContext, key: Key) -> Any:
        """Read an object that the driver needs `get` for (S0, New Permissions)."""
        plural = {"StorageClass": "storageclasses.storage.k8s.io", "Node": "nodes"}[key.kind]
        if not ctx.sim.server.permit(self.component, "get", key.kind):
            resource, _, group = plural.partition(".")
            raise NoTopology(
                f'failed to get {key.kind} "{key.name}": {plural} "{key.name}" is forbidden: '
                f'User "system:{self.component}" cannot get resource "{resource}" in API group "{group}" '
                "at the cluster scope"
            )
        found = ctx.get_live(key)
        if found is None:
            if self.in_tree:
                raise NoTopology(f'Failed to get target node: node "{key.name}" not found')
            raise NoTopology(f'failed to get {key.kind} "{key.name}": {plural} "{key.name}" not found')
        return found

    def _finish(self, ctx: TurnContext, cause: str, attempt: Attempt) -> Sequence[Write]:
        """End an attempt: the volume is there, or it has failed."""
        claim: PersistentVolumeClaim | None = ctx.seen.at(Key("PersistentVolumeClaim", *cause.split("/")))
        volume = attempt.volume
        failure = self._failure(ctx, cause, attempt)
        if volume is None or failure is not None:
            return self._failed(ctx, cause, attempt, claim, failure)
        ctx.remember("attempt", cause, None)
        if self.options.pools:
            self.storage.take(ctx.sim.log, self._parameters(ctx, volume), volume)
            self._refresh(ctx, volume)
        decision = PlanBuilder(ctx, self.source)
        decision.create(volume, f"{self.name} creates {reference_of(volume)} for {cause.removeprefix('default/')}")
        if claim is not None:
            using = f" using {self.name}" if self.in_tree else ""
            words = f"Successfully provisioned volume {volume.metadata.name}{using}"
            decision.event(claim, "Normal", "ProvisioningSucceeded", words)
        return decision.writes

    def _failure(self, ctx: TurnContext, cause: str, attempt: Attempt) -> Failure | None:
        """Return the failure that strikes this attempt, and count it."""
        if attempt.volume is None:
            return Failure(code="", desc=attempt.error)
        where = domain_of(attempt.volume)
        for number, failure in enumerate(self.options.fails):
            struck = ctx.note("struck", str(number)) or 0
            if (failure.times is None or struck < failure.times) and failure.topology in ("", where):
                if failure.times is not None:
                    ctx.remember("struck", str(number), struck + 1)
                return attrs.evolve(failure, desc=failure.desc or f"not enough capacity in {where}")
        chance = self.options.fail_chance
        if chance and ctx.draw("provisioning fails", cause, 100, attempt.number) < chance:
            return Failure(desc=f"not enough capacity in {where}")
        parameters = self._parameters(ctx, attempt.volume)
        if self.options.pools and not self.storage.fits(ctx.sim.log, parameters, attempt.volume):
            return Failure(desc=f"not enough capacity in {where}")
        return None

    @staticmethod
    def _parameters(ctx: TurnContext, volume: PersistentVolume) -> Mapping[str, str]:
        """Return the parameters of a volume's class, as last seen."""
        found: StorageClass | None = ctx.seen.get("StorageClass", volume.spec.storage_class_name)
        return found.parameters if found is not None else EMPTY

    def _refresh(self, ctx: TurnContext, volume: PersistentVolume, *, failed: bool = False) -> None:
        """Have what is published looked at again, where a volume came, went or found no room."""
        segments = places(volume) if volume.spec.node_affinity is not None and not failed else None
        for name in self.publisher.refresh(ctx, segments, volume.spec.storage_class_name):
            enqueue(ctx, self.publisher.name, name)

    def _failed(
        self,
        ctx: TurnContext,
        cause: str,
        attempt: Attempt,
        claim: PersistentVolumeClaim | None,
        failure: Failure | None,
    ) -> Sequence[Write]:
        """Say why an attempt failed; give the node back to the scheduler, or try again later on the same one."""
        assert failure is not None
        decision = PlanBuilder(ctx, self.source)
        if claim is None:
            ctx.remember("attempt", cause, None)
            return ()
        words = failure.desc
        if failure.code and not self.in_tree:
            words = f"rpc error: code = {failure.code} desc = {failure.desc}"
        if not words.startswith("Failed to get target node"):
            start = "Failed" if self.in_tree else "failed"
            words = f'{start} to provision volume with StorageClass "{class_of_claim(claim)}": {words}'
        if self.options.pools and attempt.volume is not None:
            self._refresh(ctx, attempt.volume, failed=True)
        codes = self.options.reschedule_codes
        again = self.options.on_failure == "reschedule" and (not codes or failure.code in codes)
        if again and failure.code and attempt.node and selected_node(claim):
            ctx.remember("attempt", cause, None)
            asked = with_selected_node(claim, "")
            lane = f"{self.name} cannot provision for {attempt.node}: takes selected-node off {reference_of(claim)}"
            decision.update(claim, asked, lane)
        else:
            number = min(attempt.number, 9)  # the wait grows no more after that
            kept = attempt.remembered if attempt.volume is None or failure.code in UNFINISHED else FirstAttempt()
            uid = attempt.claim if kept != FirstAttempt() else ""
            ctx.remember("attempt", cause, Attempt(number, attempt.node, claim=uid, remembered=kept))
            ctx.wake_after(cause, self.backoff(number))
            decision.describe(f"{self.name} cannot provision for {reference_of(claim)}: {failure.desc}")
        decision.event(claim, "Warning", "ProvisioningFailed", words)
        return decision.writes

    # -- deletion -----------------------------------------------------------------------------------------

    def volumes_of(self, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
        """Yield a volume of this driver that was released."""
        if key.kind == "PersistentVolume" and new is not None and self._is_to_go(new):
            if self.options.delay > 0:
                ctx.wake_after(key.name, self.options.delay)
            else:
                yield key.name
        elif key.kind == "PersistentVolume" and new is not None and self._is_to_free(new):
            yield key.name

    def _is_to_free(self, volume: PersistentVolume) -> bool:
        """Say whether a volume's deletion waits for this driver; a bound one's does not yet."""
        return (
            volume.metadata.deletion_timestamp is not None
            and FINALIZER in volume.metadata.finalizers
            and volume.status.phase != "Bound"
            and self._serves(volume.metadata.annotations.get(PROVISIONED_BY, ""))
        )

    def _is_to_go(self, volume: PersistentVolume) -> bool:
        return (
            volume.status.phase == "Released"
            and volume.spec.persistent_volume_reclaim_policy == "Delete"
            and self._serves(volume.metadata.annotations.get(PROVISIONED_BY, ""))
            and volume.metadata.deletion_timestamp is None
        )

    def delete(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Delete a released volume; once it is being deleted, take the driver's finalizer off."""
        volume: PersistentVolume | None = ctx.seen.get("PersistentVolume", cause)
        decision = PlanBuilder(ctx, self.source)
        if volume is not None and self._is_to_go(volume):
            decision.delete(volume, f"{self.name} deletes {reference_of(volume)}, which was released")
            if self.options.pools:
                self.storage.give_back(ctx.sim.log, volume)
                if volume.spec.node_affinity is not None:
                    self._refresh(ctx, volume)
        elif volume is not None and self._is_to_free(volume):
            freed = without_finalizers(volume, FINALIZER)
            decision.update(volume, freed, f"{self.name} lets {reference_of(volume)} go: its storage is gone")
        return decision.writes


def _nodes(ctx: TurnContext) -> Iterator[Node]:
    yield from ctx.seen.all("Node")


__all__ = [
    "DESIGN",
    "EXHAUSTED",
    "UPSTREAM",
    "DriverStorage",
    "Failure",
    "NoTopology",
    "Provisioner",
    "ProvisionerOptions",
    "PublishingOptions",
    "allowed",
    "choose_topology",
    "component",
    "pools",
]

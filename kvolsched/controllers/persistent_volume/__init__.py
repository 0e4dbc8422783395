"""The PV controller: it alone moves claims and volumes through their phases and binds them to each other.

Two workers share one component, as in Kubernetes: one takes up claims, one volumes; operations of in-tree plugins
are a third routine that a revision may add (`volume_operations`). The component bears the controller's name, not
that of the process it runs in: each controller has informers, so cursors, of its own. A crash between two writes is
finished by a later sync. Mirrors `pkg/controller/volume/persistentvolume/pv_controller.go` (v1.36.2; under `DESIGN`
1.11). Here stand the decisions; beside it `binding` (the writes), `migration`, `cache` and `options`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ...api.kinds.meta import evolve_parts
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ...volumes import (
    MIGRATED,
    capacity,
    claim_key,
    claim_ref_key,
    class_of_claim,
    class_of_volume,
    find_matching_volume,
    has_access_modes,
    has_class,
    is_bound_to,
    mode,
    mode_sets,
    modes_of,
    requested,
    selected_node,
    under_rollback,
)
from ...world.apiserver import CommittedWrite, RefusedWrite, Write
from ...world.component import Actor, Component, TurnContext
from ...world.log import Key
from ...world.mutation_cache import MutationCache, drop_outdated_writes, drop_written, record_written
from ...world.operation_backoff import back_off_operation, is_backing_off
from ...world.plan import PlanBuilder, PlannedEvent, enqueue, reference_of, report_outcome
from ...world.reconciler import Reconciler
from . import messages as words
from .binding import BindingWrites
from .cache import own_of, pods_of, views
from .migration import MIGRATED_TO, Migration
from .options import CLAIM, CLAIMS, DESIGN, NAME, OPERATIONS, SOURCE, UPSTREAM, VOLUME, VOLUMES, PVControllerOptions
from .rollback import roll_back


def component(options: PVControllerOptions = UPSTREAM, operations: Sequence[Actor] = ()) -> Component:
    """Return the PV controller, with the routines that run operations of in-tree plugins if there are any."""
    binder = PVController(options)
    watches: tuple[str, ...] = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass")
    if options.today:
        watches += ("Pod",)
    if operations:
        watches += ("Node",)
    return Component(NAME, watches, (*binder.routines(), *operations), views)


@attrs.frozen
class PVController:
    """The controller's decisions. Its methods read as `pv_controller.go` does: sync this, then that."""

    options: PVControllerOptions

    @property
    def writes(self) -> BindingWrites:
        """The writes of a bind, in this release's way."""
        return BindingWrites(self.options.today, self.options.rolls_back)

    @property
    def migration(self) -> Migration:
        """The marks on what in-tree plugins made, in this release's way."""
        return Migration(self.options.today, self.options.migrated)

    def routines(self) -> tuple[Reconciler, Reconciler]:
        """Return the two workers."""
        period = self.options.resync  # a failed sync is not put back: the next period takes it up
        return (
            Reconciler(CLAIMS, self.claims_of, self.sync_claim, self.refused, self.done, lambda _failures: period),
            Reconciler(VOLUMES, self.volumes_of, self.sync_volume, self.refused, self.done, lambda _failures: period),
        )

    # -- what makes a claim or volume dirty -----------------------------------------------------------

    def claims_of(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield the claims that a change concerns; those it may help only later are woken in the next period."""
        own = own_of(ctx)
        match key.kind:
            case "PersistentVolumeClaim":
                drop_outdated_writes(ctx, key, new)
                if new is not None:
                    yield f"{key.namespace}/{key.name}"
            case "PersistentVolume":
                drop_outdated_writes(ctx, key, new)
                if new is None and old.spec.claim_ref is not None:
                    yield claim_ref_key(old.spec.claim_ref)
                elif new is not None and new.spec.claim_ref is None:
                    self._next_period(ctx, own, ("volume", key.name))
                    self._next_period(ctx, own, ("class", class_of_volume(new)))
            case "StorageClass":
                self._next_period(ctx, own, ("class", key.name))
                if new is not None and new.is_default:
                    self._next_period(ctx, own, ("class", ""))

    def _next_period(self, ctx: TurnContext, own: MutationCache, word: tuple[str, str]) -> None:
        """Wake claims that wait for something at the next tick of the resync: before it, nobody looks at them.

        Kubernetes looks at every claim at every tick (`ticks`); where nothing has changed only Events tell of it.
        """
        if word[0] == "class" and not self.options.selected_node_switches_delay_off:
            found = ctx.seen.get("StorageClass", word[1])
            if found is not None and found.delayed:
                return  # its claims take no volume before a pod is there
        for key in own.indexes["pending"].keys(word):
            if word[0] == "volume" or not self._delayed(ctx, own.at(key)):
                ctx.wake_after(f"{key.namespace}/{key.name}", self._to_next_tick(ctx))

    def volumes_of(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield the volumes that a change concerns: themselves, and that of a claim which has gone."""
        if key.kind == VOLUME and new is not None:
            yield key.name
        elif key.kind == CLAIM and new is None and old.spec.volume_name:
            yield old.spec.volume_name

    def done(self, ctx: TurnContext, _cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        """Take what was written into the own cache, and say what goes with it."""
        write = outcome.write
        if outcome.stored is not None and outcome.changed and getattr(write, "cached", True):
            record_written(ctx, outcome.stored)
        report_outcome(ctx, outcome)

    def refused(self, ctx: TurnContext, _cause: str, outcome: RefusedWrite) -> None:
        """Say what goes with a refused write."""
        operation = getattr(outcome.write, "operation", "")
        if operation and self.options.today:  # 1.11 did not count it as a failure
            back_off_operation(ctx, operation)
        report_outcome(ctx, outcome)

    def _current(self, ctx: TurnContext, key: Key) -> Any:
        """Return what a worker is to look at: as last seen, or None where the own cache is ahead of the watch."""
        own = own_of(ctx)
        kept, seen = own.written.get(key), own.watched.get(key)
        if kept is None:
            return seen
        if seen is None:  # the deletion has just arrived
            drop_written(ctx, key)
            if key.kind == CLAIM and kept.spec.volume_name:
                enqueue(ctx, VOLUMES, kept.spec.volume_name)
            elif key.kind == VOLUME and kept.spec.claim_ref is not None:
                enqueue(ctx, CLAIMS, claim_ref_key(kept.spec.claim_ref))
            return None
        if isinstance(kept, str) or seen.metadata.resource_version >= kept.metadata.resource_version:
            drop_written(ctx, key)
            return seen
        return None

    # -- claims ---------------------------------------------------------------------------------------

    def sync_claim(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Take up one claim: bind it, provision for it, or say why it waits."""
        ctx.cancel_wake_up(cause)  # it is looked at now, with all that is seen
        claim: PersistentVolumeClaim | None = self._current(ctx, Key(CLAIM, *cause.split("/")))
        if claim is None:
            return ()
        decision = PlanBuilder(ctx, SOURCE)
        claim = self.migration.claim(decision, claim)
        if self.options.rolls_back and under_rollback(claim):
            roll_back(decision, self.writes, claim, own_of(ctx).indexes["claimed"].get(claim_key(claim)))
        elif BIND_COMPLETED in claim.metadata.annotations:
            self._sync_bound_claim(decision, claim)
        elif claim.spec.volume_name:
            self._sync_prebound_claim(decision, claim)
        else:
            self._sync_unbound_claim(decision, claim)
        if self.options.ticks and claim.status.phase == "Pending":
            ctx.wake_after(cause, self._to_next_tick(ctx), periodic=True)
        return decision.writes

    def _to_next_tick(self, ctx: TurnContext) -> float:
        return self.options.resync - ctx.now % self.options.resync

    def _sync_unbound_claim(self, decision: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        """The claim names no volume: find the best one, else assign a class, wait, or provision."""
        ctx = decision.ctx
        delayed = self._delayed(ctx, claim)
        volume = self._best_match(ctx, claim, delayed=delayed)
        if volume is not None:
            self.writes.bind(decision, volume, claim)
            return
        if self._assign_default_class(decision, claim):
            return
        if delayed and not self._handed_to_provisioning(claim):
            self._say_waiting(decision, claim)
        elif class_of_claim(claim):
            self._provision(decision, claim)
            return
        else:
            said = "no persistent volumes available for this claim and no storage class is set"
            decision.event(claim, "Normal", "FailedBinding", said)
            decision.describe(f"PV controller finds no volume for {reference_of(claim)}, which has no class")
        self.writes.claim_phase(decision, claim, "Pending")

    def _delayed(self, ctx: TurnContext, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim waits for a pod (S0, Delayed Volume Binding)."""
        if not self.options.delays:
            return False
        if self.options.selected_node_switches_delay_off and self._handed_to_provisioning(claim):
            return False
        found = ctx.seen.get("StorageClass", class_of_claim(claim))
        return found is not None and found.delayed

    def _handed_to_provisioning(self, claim: PersistentVolumeClaim) -> bool:
        """Say whether the scheduler has selected a node for a claim: its signal to provision (S0, annSelectedNode)."""
        return self.options.delayed_provisioning and bool(selected_node(claim, self.options.rules))

    def _best_match(
        self, ctx: TurnContext, claim: PersistentVolumeClaim, *, delayed: bool
    ) -> PersistentVolume | None:
        """Return the volume to bind: the fewest access modes that hold a match win, even over a smaller volume."""
        indexes = own_of(ctx).indexes
        mine = indexes["claimed"].get(claim_key(claim))
        if delayed and not mine:
            return None
        class_name = class_of_claim(claim)
        for modes in mode_sets(claim.spec.access_modes):
            candidates = [volume for volume in mine if modes_of(volume) == modes]
            if not delayed:
                candidates += indexes["free"].get((class_name, *modes))
            rules = self.options.rules
            found = find_matching_volume(claim, candidates, delayed=delayed, rules=rules)
            if found is not None:
                return found
        return None

    def _say_waiting(self, decision: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        """Tell the user that binding follows the class's mode (checklist 47)."""
        reason, said = "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
        using = pods_of(decision.ctx, claim_key(claim)) if self.options.today else []
        pods = [pod for pod in using if not pod.spec.node_name]
        if pods:
            names = ",".join(pod.metadata.name for pod in pods)
            reason = "WaitForPodScheduled"
            said = f"waiting for pod{'s' if len(pods) > 1 else ''} {names} to be scheduled"
        decision.event(claim, "Normal", reason, said)
        decision.describe(f"PV controller leaves {reference_of(claim)} unbound: {said}")

    def _assign_default_class(self, decision: PlanBuilder, claim: PersistentVolumeClaim) -> bool:
        """Give a claim without class the default one, the newest of several; the sync ends there."""
        if not self.options.assign_default_class or has_class(claim):
            return False
        defaults = [found for found in decision.ctx.seen.all("StorageClass") if found.is_default]
        if not defaults:
            return False
        newest = max(found.metadata.creation_timestamp or "" for found in defaults)
        chosen = next(c for c in defaults if (c.metadata.creation_timestamp or "") == newest).metadata.name
        given = evolve_parts(claim, spec={"storage_class_name": chosen})
        failed = f'can\'t update PersistentVolumeClaim["{claim_key(claim)}"]: {{error}}'
        # Kubernetes does not take this write into its own cache: the next sync waits for the watch.
        lane = f"PV controller gives {reference_of(claim)} the default class {chosen}"
        decision.update(claim, given, lane, cached=False, refusal_words=failed)
        return True

    def _sync_prebound_claim(self, decision: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        """The claim names a volume but is not bound: bind that one if it is free and suits."""
        volume = own_of(decision.ctx).at(Key(VOLUME, "", claim.spec.volume_name))
        if volume is None:
            decision.describe(f"PV controller waits: {reference_of(claim)} wants pv/{claim.spec.volume_name}, which is not there")
            self.writes.claim_phase(decision, claim, "Pending")
        elif volume.spec.claim_ref is None:
            why = self._unsuitable(volume, claim)
            if not why:
                self.writes.bind(decision, volume, claim)
                return
            said = f'Cannot bind to requested volume "{volume.metadata.name}": {why}'
            decision.event(claim, "Warning", "VolumeMismatch", said)
            decision.describe(f"PV controller does not bind {reference_of(claim)}: {why}")
            self.writes.claim_phase(decision, claim, "Pending")
        elif is_bound_to(volume, claim):
            self.writes.bind(decision, volume, claim)
        else:
            if self.options.today:
                said = f'volume "{volume.metadata.name}" already bound to a different claim.'
                decision.event(claim, "Warning", "FailedBinding", said)
            rival = claim_ref_key(volume.spec.claim_ref)
            decision.describe(f"PV controller does not bind {reference_of(claim)}: {reference_of(volume)} is claimed by {rival}")
            if BOUND_BY_CONTROLLER not in claim.metadata.annotations:
                self.writes.claim_phase(decision, claim, "Pending")
            else:
                name = volume.metadata.name
                decision.ctx.describe(words.misbound(claim_key(claim), name, rival, today=self.options.today))

    def _unsuitable(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
        """Return why a volume that a claim names cannot serve it, or ""."""
        if volume.metadata.deletion_timestamp is not None and self.options.today:
            return f'the volume is marked for deletion "{volume.metadata.name}"'
        if capacity(volume) < requested(claim):
            return "requested PV is too small"
        if class_of_volume(volume) != class_of_claim(claim):
            return "storageClassName does not match"
        if not self.options.rules.modes_match(claim, volume):
            return "incompatible volumeMode"
        return "" if has_access_modes(volume, claim) else "incompatible accessMode"

    def _sync_bound_claim(self, decision: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        """The claim was bound before: mend what is missing, or say that its data is lost."""
        lost = "Data on the volume is lost!"
        if not claim.spec.volume_name:
            said = f"Bound claim has lost reference to PersistentVolume. {lost}"
            self.writes.lose_claim(decision, claim, "ClaimLost", said)
            return
        volume = own_of(decision.ctx).at(Key(VOLUME, "", claim.spec.volume_name))
        if volume is None:
            self.writes.lose_claim(decision, claim, "ClaimLost", f"Bound claim has lost its PersistentVolume. {lost}")
        elif volume.spec.claim_ref is None or volume.spec.claim_ref.uid == claim.metadata.uid:
            self.writes.bind(decision, volume, claim)
        else:
            said = "Two claims are bound to the same volume, this one is bound incorrectly"
            self.writes.lose_claim(decision, claim, "ClaimMisbound", said)

    # -- provisioning -----------------------------------------------------------------------------------

    def _provision(self, decision: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        """Hand a claim to its class's provisioner: an external one by annotation, an in-tree one as an operation."""
        ctx = decision.ctx
        operation = f"provision-{claim_key(claim)}[{claim.metadata.uid}]"
        found: StorageClass | None = ctx.seen.get("StorageClass", class_of_claim(claim))
        why = self._no_provisioner(claim, found)
        if self.options.today and why:
            self._cannot_provision(decision, claim, why)
            return
        if not self.starts(ctx, operation):
            return
        if why:
            self._cannot_provision(decision, claim, why)
        elif found is not None and found.provisioner in self.options.in_tree:
            if _has_operations(ctx):
                decision.enqueue(OPERATIONS, operation)
        elif found is not None:
            self._hand_over(decision, claim, self.options.migrated.get(found.provisioner, found.provisioner))

    def _no_provisioner(self, claim: PersistentVolumeClaim, found: StorageClass | None) -> str:
        """Return why nobody can provision for a class, or ""."""
        if found is None:
            return f'storageclass.storage.k8s.io "{class_of_claim(claim)}" not found'
        name = found.provisioner
        known = name in self.options.migrated or name in self.options.in_tree
        if known or not name.startswith("kubernetes.io/"):
            return ""
        return words.no_plugin(name, today=self.options.today)

    def _cannot_provision(self, decision: PlanBuilder, claim: PersistentVolumeClaim, why: str) -> None:
        decision.event(claim, "Warning", "ProvisioningFailed", why)
        decision.describe(f"PV controller cannot provision for {reference_of(claim)}: {why}")

    def _hand_over(self, decision: PlanBuilder, claim: PersistentVolumeClaim, provisioner: str) -> None:
        """Name the external provisioner on the claim, in one write, and say whom it waits for."""
        keys = self.options.provisioner_keys
        asked = claim
        if claim.metadata.annotations.get(keys[0]) != provisioner:
            annotations = self.migration.marked(
                claim.metadata.annotations.merged(dict.fromkeys(keys, provisioner)), provisioner
            )
            asked = evolve_parts(claim, metadata={"annotations": annotations})
        said = words.waiting_for(provisioner, today=self.options.today)
        key = Key(CLAIM, claim.metadata.namespace or "default", claim.metadata.name)
        failed = (PlannedEvent(key, "Warning", "ProvisioningFailed", "Error saving claim: {error}", SOURCE),)
        decision.update(
            claim,
            asked,
            f"PV controller hands {reference_of(claim)} to {provisioner}",
            on_failure=failed if self.options.today else (),
            operation=f"provision-{claim_key(claim)}[{claim.metadata.uid}]",
        )
        decision.event(asked, "Normal", "ExternalProvisioning", said)
        decision.describe(f"PV controller waits for {provisioner} to provision {reference_of(claim)}")

    def starts(self, ctx: TurnContext, operation: str) -> bool:
        """Say whether an operation may start: not while it is under way, and not soon after it has failed."""
        return not is_backing_off(ctx, operation) and ctx.note(f"plan {OPERATIONS}", operation) is None

    # -- volumes ----------------------------------------------------------------------------------------

    def sync_volume(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Take up one volume: its phase follows its claim; without claim it is released and reclaimed."""
        volume: PersistentVolume | None = self._current(ctx, Key(VOLUME, "", cause))
        if volume is None:
            return ()
        decision = PlanBuilder(ctx, SOURCE)
        volume = self.migration.volume(decision, volume)
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:  # free, or kept for a claim that has not come
            self.writes.volume_phase(decision, volume, "Available")
            return decision.writes
        claim = self._claim_of(ctx, volume)
        if claim is None:
            self._release(decision, volume)
        elif not claim.spec.volume_name:
            self._volume_waits(decision, volume, claim)
        elif claim.spec.volume_name == volume.metadata.name:
            self.writes.volume_phase(decision, volume, "Bound")
        elif (
            PROVISIONED_BY in volume.metadata.annotations
            and volume.spec.persistent_volume_reclaim_policy == "Delete"
        ):
            self._release(decision, volume)  # made for a claim that has got another: not needed any more
        else:
            self.writes.unbind(decision, volume)
        return decision.writes

    def _claim_of(self, ctx: TurnContext, volume: PersistentVolume) -> PersistentVolumeClaim | None:
        """Return the claim that a volume is bound to, or None if it is gone or another of its name was born."""
        ref = volume.spec.claim_ref
        assert ref is not None
        key = Key(CLAIM, ref.namespace or "default", ref.name)
        own = own_of(ctx)
        claim: PersistentVolumeClaim | None = own.at(key)
        if not self.options.reread_claim_before_reclaim:
            return claim if claim is not None and claim.metadata.uid == ref.uid else None
        if claim is None and volume.status.phase not in ("Released", "Failed"):
            claim = own.watched.get(key)
            if claim is None:
                claim = ctx.get_live(key)
        if claim is not None and claim.metadata.uid != ref.uid:
            claim = ctx.get_live(key)
        return claim if claim is not None and claim.metadata.uid == ref.uid else None

    def _volume_waits(self, decision: PlanBuilder, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """The claim does not name its volume yet: the claims' worker is to finish the binding."""
        if self.options.today and mode(volume) != mode(claim):
            said = "Cannot bind PersistentVolume to requested PersistentVolumeClaim "
            said = f'{said}"{claim.metadata.name}" due to incompatible volumeMode.'
            decision.event(volume, "Warning", "VolumeMismatch", said)
            said = f'Cannot bind PersistentVolume "{volume.metadata.name}" to requested PersistentVolumeClaim '
            decision.event(claim, "Warning", "VolumeMismatch", f"{said}due to incompatible volumeMode.")
            return
        decision.enqueue(CLAIMS, claim_key(claim))

    def _release(self, decision: PlanBuilder, volume: PersistentVolume) -> None:
        """The claim is gone: the volume is Released, then reclaimed by its policy."""
        if volume.status.phase not in ("Released", "Failed"):
            volume = self.writes.volume_phase(decision, volume, "Released")
        if volume.metadata.annotations.get(MIGRATED_TO):
            return  # the external provisioner reclaims it
        uid, name = volume.metadata.uid, volume.metadata.name
        match volume.spec.persistent_volume_reclaim_policy:
            case "Retain":
                decision.describe(f"PV controller leaves {reference_of(volume)} as it is: its policy is Retain")
            case "Delete":
                self._operate(decision, volume, f"delete-{name}[{uid}]")
            case "Recycle":
                self._operate(decision, volume, f"recycle-{name}[{uid}]")
            case _:
                said = "Volume has unrecognized PersistentVolumeReclaimPolicy"
                self.writes.fail_volume(decision, volume, "VolumeUnknownReclaimPolicy", said)

    def _operate(self, decision: PlanBuilder, volume: PersistentVolume, operation: str) -> None:
        """Start the operation that reclaims a volume; one that an external driver made is left to that."""
        ctx = decision.ctx
        made_by = volume.metadata.annotations.get(PROVISIONED_BY, "")
        if not _has_operations(ctx):
            if operation.startswith("recycle") or made_by.startswith("kubernetes.io/"):
                return
            if not made_by:
                said = words.no_deleter(volume.metadata.name, today=self.options.today)
                self.writes.fail_volume(decision, volume, "VolumeFailedDelete", said)
        elif self.starts(ctx, operation):
            decision.enqueue(OPERATIONS, operation)


def _has_operations(ctx: TurnContext) -> bool:
    return any(actor.name == OPERATIONS for actor in ctx.process.component.actors)


__all__ = [
    "CLAIMS",
    "DESIGN",
    "MIGRATED",
    "NAME",
    "OPERATIONS",
    "UPSTREAM",
    "VOLUMES",
    "PVController",
    "PVControllerOptions",
    "component",
]

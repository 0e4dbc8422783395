"""Sync of claims: decides whether a claim is bound, handed to a provisioner, waits or is lost.

Mirrors `syncClaim`, `syncUnboundClaim`, `syncBoundClaim` and `provisionClaim` of `pv_controller.go`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from ...api import volumes as volume_rules
from ...api.kinds.meta import EMPTY, evolve_parts
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import (
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE_KEYS,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ...world.apiserver import Write
from ...world.component import TurnContext
from ...world.log import Delivery, Key
from ...world.mutation_cache import drop_outdated_writes
from ...world.plan import PlanBuilder, PlannedEvent, reference_of
from .binding import BindingWrites
from .cache import cache_of, object_to_sync, pods_of
from .operations import has_operations
from .options import CLAIM, OPERATIONS, SOURCE, VOLUME, PVControllerOptions


def is_claimed(volume: PersistentVolume) -> bool:
    """Say whether a volume is some claim's, not free or only kept for one: its claimRef names a uid."""
    return volume.spec.claim_ref is not None and bool(volume.spec.claim_ref.uid)


def loses_claim(old: PersistentVolume | None, new: PersistentVolume | None) -> bool:
    """Say whether a volume that was some claim's is not this claim's any more."""
    ref = old.spec.claim_ref if old is not None else None
    if ref is None or not ref.uid or new is None:
        return False
    return new.spec.claim_ref is None or new.spec.claim_ref.uid != ref.uid


@attrs.frozen
class ClaimSync:
    """Decides about one claim at a time; `may_start` says whether an operation may run now."""

    options: PVControllerOptions
    may_start: Callable[[TurnContext, str], bool]

    def concerning(self, ctx: TurnContext, deliveries: Sequence[Delivery]) -> Sequence[Delivery]:
        """Leave out claimed volumes where no own write may be outdated and no claim waits: `enqueue` has no causes."""
        if cache_of(ctx).written:
            return deliveries
        waiting = cache_of(ctx).indexes["pending_claims"]
        return [each for each in deliveries if each.key.kind != VOLUME or each.new is None or not is_claimed(each.new)
                or loses_claim(each.old, each.new) or waiting.keys(("volume", each.key.name))]  # fmt: skip

    def enqueue(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield the claims that a change concerns, unless a sync would do nothing; those it may help wake at a tick."""
        match key.kind:
            case "PersistentVolumeClaim":
                is_own = drop_outdated_writes(ctx, key, new)
                cause = f"{key.namespace}/{key.name}"
                if new is None or (is_own and self._is_handed_over(ctx, new)):
                    return
                if self.is_settled(ctx, new):
                    ctx.cancel_wake_up(cause)
                else:
                    yield cause
            case "PersistentVolume":
                drop_outdated_writes(ctx, key, new)
                if new is None and old.spec.claim_ref is not None:
                    yield volume_rules.claim_ref_key(old.spec.claim_ref)
                elif new is not None and new.spec.claim_ref is None:
                    self._wake_pending(ctx, "volume", key.name)
                    self._wake_pending(ctx, "class", volume_rules.class_of_volume(new))
                elif new is not None:
                    named = None if is_claimed(new) else ""
                    self._wake_claim(ctx, volume_rules.claim_ref_key(new.spec.claim_ref), named)
                if loses_claim(old, new):
                    self._wake_claim(ctx, volume_rules.claim_ref_key(old.spec.claim_ref), key.name)
            case "StorageClass":
                self._wake_pending(ctx, "class", key.name)
                if new is not None and new.is_default:
                    self._wake_pending(ctx, "class", "")

    def is_settled(self, ctx: TurnContext, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim and its volume are bound to each other in every field: a sync would do nothing."""
        if BIND_COMPLETED not in claim.metadata.annotations or claim.status.phase != "Bound":
            return False
        volume = cache_of(ctx).at(Key(VOLUME, "", claim.spec.volume_name))
        if volume is None or volume.spec.claim_ref is None or volume.spec.claim_ref.uid != claim.metadata.uid:
            return False
        if self.options.rolls_back and volume_rules.under_rollback(claim):
            return False
        plan = PlanBuilder(ctx, SOURCE)
        self.options.writes.bind(plan, volume, self.options.migration.mark_claim(plan, claim))
        return not plan.writes

    def _is_handed_over(self, ctx: TurnContext, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim waits for its provisioner: a sync would only repeat the Event that says so."""
        annotations = claim.metadata.annotations
        if self.options.provisioner_keys[0] not in annotations or BIND_COMPLETED in annotations:
            return False
        return self._has_selected_node(claim) or not self._is_delayed(ctx, claim)

    def _wake_pending(self, ctx: TurnContext, kind: str, name: str) -> None:
        """Wake the claims that wait for a volume or class at the next tick of the resync.

        Kubernetes looks at every claim at every tick (`ticks`); where nothing has changed only Events tell of it.
        """
        storage_class = ctx.seen.get("StorageClass", name) if kind == "class" and self.options.delays else None
        if storage_class is not None and self.options.is_delayed(storage_class, selected=True):
            return  # its claims take no volume before a pod is there
        cache = cache_of(ctx)
        for key in cache.indexes["pending_claims"].keys((kind, name)):
            if kind == "volume" or not self._is_delayed(ctx, cache.at(key)):
                ctx.wake_after(f"{key.namespace}/{key.name}", self._until_next_tick(ctx))

    def _wake_claim(self, ctx: TurnContext, cause: str, named: str | None) -> None:
        """Wake the claim of a volume if it is lost or names this volume: the volume's own sync leaves that to it."""
        claim = cache_of(ctx).at(Key(CLAIM, *cause.split("/")))
        if claim is not None and (claim.spec.volume_name == named or claim.status.phase == "Lost"):
            ctx.wake_after(cause, self._until_next_tick(ctx))

    def _until_next_tick(self, ctx: TurnContext) -> float:
        return self.options.resync - ctx.now % self.options.resync

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Bind one claim, provision for it, or say why it waits."""
        ctx.cancel_wake_up(cause)  # it is looked at now, with all that is seen
        claim: PersistentVolumeClaim | None = object_to_sync(ctx, Key(CLAIM, *cause.split("/")))
        if claim is None:
            return ()
        plan = PlanBuilder(ctx, SOURCE)
        claim = self.options.migration.mark_claim(plan, claim)
        if self.options.rolls_back and volume_rules.under_rollback(claim):
            volumes = cache_of(ctx).indexes["claimed_volumes"].get(volume_rules.claim_key(claim))
            roll_back(plan, self.options.writes, claim, volumes, dirty=self.options.rolls_back_dirty)
        elif BIND_COMPLETED in claim.metadata.annotations:
            self._sync_bound(plan, claim)
        elif claim.spec.volume_name:
            self._sync_prebound(plan, claim)
        else:
            self._sync_unbound(plan, claim)
        if self.options.ticks and claim.status.phase == "Pending":
            ctx.wake_after(cause, self._until_next_tick(ctx), periodic=True)
        return plan.writes

    def _sync_unbound(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        ctx = plan.ctx
        delayed = self._is_delayed(ctx, claim)
        if (volume := self._best_match(ctx, claim, delayed=delayed)) is not None:
            self.options.writes.bind(plan, volume, claim)
            return
        if self._assign_default_class(plan, claim):
            return
        if delayed and not self._has_selected_node(claim):
            pods = [pod for pod in pods_of(ctx, volume_rules.claim_key(claim)) if not pod.spec.node_name]
            reason, message = self.options.messages.waiting(pods)  # binding follows the class's mode (checklist 47)
            plan.event(claim, "Normal", reason, message)
            plan.describe(f"PV controller leaves {reference_of(claim)} unbound: {message}")
        elif volume_rules.class_of_claim(claim):
            self._provision(plan, claim)
            return
        else:
            message = "no persistent volumes available for this claim and no storage class is set"
            plan.event(claim, "Normal", "FailedBinding", message)
            plan.describe(f"PV controller leaves {reference_of(claim)} unbound: no volume matches, and it has no class")
        self.options.writes.set_claim_phase(plan, claim, "Pending")

    def _is_delayed(self, ctx: TurnContext, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim waits for a pod (S0, Delayed Volume Binding)."""
        name = volume_rules.class_of_claim(claim)
        storage_class = ctx.seen.get("StorageClass", name) if self.options.delays else None
        selected = self._has_selected_node(claim)
        return storage_class is not None and self.options.is_delayed(storage_class, selected=selected)

    def _has_selected_node(self, claim: PersistentVolumeClaim) -> bool:
        """Say whether the scheduler has selected a node for a claim: its signal to provision (S0, annSelectedNode)."""
        return self.options.delayed_provisioning and bool(volume_rules.selected_node(claim, self.options.rules))

    def _best_match(self, ctx: TurnContext, claim: PersistentVolumeClaim, *, delayed: bool) -> PersistentVolume | None:
        """Return the volume to bind: the fewest access modes that hold a match win, even over a smaller volume."""
        indexes = cache_of(ctx).indexes
        prebound = indexes["claimed_volumes"].get(volume_rules.claim_key(claim))
        if delayed and not prebound:  # the usual case of a claim that waits
            return None
        class_name = volume_rules.class_of_claim(claim)
        for modes in volume_rules.mode_sets(claim.spec.access_modes):
            candidates = [volume for volume in prebound if volume_rules.modes_of(volume) == modes]
            if not delayed:
                candidates += indexes["free_volumes"].get((class_name, *modes))
            ctx.visits += len(candidates)
            found = volume_rules.find_matching_volume(claim, candidates, delayed=delayed, rules=self.options.rules)
            if found is not None:
                return found
        return None

    def _assign_default_class(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> bool:
        """Give a claim without class the default one, the newest of several; the sync ends there."""
        if not self.options.assign_default_class or volume_rules.has_class(claim):
            return False
        defaults = [found.metadata for found in plan.ctx.seen.all("StorageClass") if found.is_default]
        if not defaults:
            return False
        chosen = max(defaults, key=lambda meta: meta.creation_timestamp or "").name  # the first of equals
        changed = evolve_parts(claim, spec={"storage_class_name": chosen})
        failed = f'can\'t update PersistentVolumeClaim["{volume_rules.claim_key(claim)}"]: {{error}}'
        # Kubernetes does not take this write into its mutation cache: the next sync waits for the watch.
        words = f"PV controller assigns the default class {chosen} to {reference_of(claim)}"
        plan.update(claim, changed, words, cached=False, refusal_words=failed)
        return True

    def _sync_prebound(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        writes, name = self.options.writes, claim.spec.volume_name
        volume: PersistentVolume | None = cache_of(plan.ctx).at(Key(VOLUME, "", name))
        if volume is None:
            plan.describe(f"PV controller leaves {reference_of(claim)} unbound: there is no volume {name}")
            writes.set_claim_phase(plan, claim, "Pending")
        elif volume.spec.claim_ref is None:
            why = next((why for check in self.options.volume_checks if (why := check(volume, claim))), "")
            if not why:
                writes.bind(plan, volume, claim)
                return
            plan.event(claim, "Warning", "VolumeMismatch", f'Cannot bind to requested volume "{name}": {why}')
            plan.describe(f"PV controller does not bind {reference_of(claim)} to volume {name}: {why}")
            writes.set_claim_phase(plan, claim, "Pending")
        elif volume_rules.is_bound_to(volume, claim):
            writes.bind(plan, volume, claim)
        else:
            self._report_taken(plan, claim, volume)

    def _report_taken(self, plan: PlanBuilder, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        messages, name = self.options.messages, volume.metadata.name
        if messages.volume_taken:
            plan.event(claim, "Warning", "FailedBinding", messages.volume_taken.format(volume=name))
        assert volume.spec.claim_ref is not None
        rival = volume_rules.claim_ref_key(volume.spec.claim_ref)
        plan.describe(f"PV controller does not bind {reference_of(claim)}: volume {name} is reserved for {rival}")
        if BOUND_BY_CONTROLLER not in claim.metadata.annotations:
            self.options.writes.set_claim_phase(plan, claim, "Pending")
        else:
            plan.ctx.describe(messages.misbound.format(claim=volume_rules.claim_key(claim), volume=name, rival=rival))

    def _sync_bound(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        """Complete the binding of a claim that was bound before, or report that its data is lost."""
        lost, writes = "Data on the volume is lost!", self.options.writes
        if not claim.spec.volume_name:
            writes.lose_claim(plan, claim, "ClaimLost", f"Bound claim has lost reference to PersistentVolume. {lost}")
            return
        volume = cache_of(plan.ctx).at(Key(VOLUME, "", claim.spec.volume_name))
        if volume is None:
            writes.lose_claim(plan, claim, "ClaimLost", f"Bound claim has lost its PersistentVolume. {lost}")
        elif volume.spec.claim_ref is None or volume.spec.claim_ref.uid == claim.metadata.uid:
            writes.bind(plan, volume, claim)
        else:
            message = "Two claims are bound to the same volume, this one is bound incorrectly"
            writes.lose_claim(plan, claim, "ClaimMisbound", message)

    def _provision(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> None:
        """Hand a claim to its class's provisioner: an external one by annotation, an in-tree one as an operation."""
        ctx, operation = plan.ctx, _operation(claim)
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", volume_rules.class_of_claim(claim))
        why = self._no_provisioner(claim, storage_class)
        if not (why and self.options.finds_plugin_first) and not self.may_start(ctx, operation):
            return
        if why or storage_class is None:
            plan.event(claim, "Warning", "ProvisioningFailed", why)
            plan.describe(f"PV controller cannot provision a volume for {reference_of(claim)}: {why}")
            return
        name = storage_class.provisioner
        if name not in self.options.in_tree_plugins:
            self._hand_over(plan, claim, self.options.migration.drivers.get(name, name))
        elif has_operations(ctx):
            plan.enqueue(OPERATIONS, operation)

    def _no_provisioner(self, claim: PersistentVolumeClaim, storage_class: StorageClass | None) -> str:
        """Return why nobody can provision for a class, or ""."""
        if storage_class is None:
            return f'storageclass.storage.k8s.io "{volume_rules.class_of_claim(claim)}" not found'
        name = storage_class.provisioner
        known = name in self.options.migration.drivers or name in self.options.in_tree_plugins
        if known or not name.startswith("kubernetes.io/"):
            return ""
        return self.options.messages.unknown_plugin.format(plugin=name)

    def _hand_over(self, plan: PlanBuilder, claim: PersistentVolumeClaim, provisioner: str) -> None:
        """Annotate a claim with its external provisioner, in one write, and tell whom it waits for."""
        keys, messages = self.options.provisioner_keys, self.options.messages
        annotated = claim
        if claim.metadata.annotations.get(keys[0]) != provisioner:
            annotations = claim.metadata.annotations.merged(dict.fromkeys(keys, provisioner))
            annotations = self.options.migration.annotated(annotations, provisioner)
            annotated = evolve_parts(claim, metadata={"annotations": annotations})
        failed = PlannedEvent(Key(CLAIM, claim.metadata.namespace or "default", claim.metadata.name), "Warning",
                              "ProvisioningFailed", messages.claim_not_saved, SOURCE)
        plan.update(
            claim, annotated, f"PV controller asks provisioner {provisioner} for a volume for {reference_of(claim)}",
            on_failure=(failed,) if messages.claim_not_saved else (), operation=_operation(claim)
        )
        message = messages.external_provisioner.format(provisioner=provisioner)
        plan.event(annotated, "Normal", "ExternalProvisioning", message)
        plan.describe(f"PV controller waits for provisioner {provisioner} to create a volume for {reference_of(claim)}")


def _operation(claim: PersistentVolumeClaim) -> str:
    return f"provision-{volume_rules.claim_key(claim)}[{claim.metadata.uid}]"


BINDING_ANNOTATIONS = (BIND_COMPLETED, BOUND_BY_CONTROLLER, *SELECTED_NODE_KEYS)


def roll_back(
    plan: PlanBuilder, writes: BindingWrites, claim: PersistentVolumeClaim, volumes: list[PersistentVolume], *,
    dirty: bool,
) -> None:
    """Unbind a marked claim and `volumes`, whose claimRefs name it, or refuse; `dirty`: also one that is not clean.

    Clean is one whose volume no kubelet has given to a pod (S0). Each write is skipped if it is already so; the mark is
    removed last, so a later sync finishes what a crash has interrupted.
    """
    name, mark = reference_of(claim), (volume_rules.ROLLBACK,)
    if claim.spec.volume_name and not volume_rules.is_clean(claim) and not dirty:
        message = f'volume "{claim.spec.volume_name}" may hold data: the claim is not clean'
        _remove_annotations(plan, claim, claim, mark, f"PV controller refuses to roll {name} back: {message}")
        plan.event(claim, "Warning", "RollbackRefused", message)
        return
    pending = evolve_parts(claim, status={"phase": "Pending", "access_modes": (), "capacity": EMPTY})
    plan.update_status(claim, pending, f"PV controller sets the phase of {name} to Pending")
    words, freed = f"PV controller removes the volumeName of {name}", evolve_parts(pending, spec={"volume_name": ""})
    freed = _remove_annotations(plan, pending, freed, BINDING_ANNOTATIONS, words)
    for volume in volumes:
        writes.unbind(plan, volume, f"{volume_rules.claim_key(claim)} is rolled back")
    empty = evolve_parts(freed, status={"rest": freed.status.rest.merged({volume_rules.CONTENT: None})})
    plan.update_status(freed, empty, f"PV controller removes status.content of {name}")
    _remove_annotations(plan, empty, empty, mark, f"PV controller removes the rollback mark of {name}")
    plan.event(claim, "Normal", "RolledBack", "the claim is unbound again: its pod fits no node")


def _remove_annotations(
    plan: PlanBuilder, old: PersistentVolumeClaim, new: PersistentVolumeClaim, keys: tuple[str, ...], words: str
) -> PersistentVolumeClaim:
    annotations = old.metadata.annotations.merged(dict.fromkeys(keys))
    changed = evolve_parts(new, metadata={"annotations": annotations})
    plan.update(old, changed, words)
    return changed

"""The PV controller: it alone moves claims and volumes through their phases and binds them to each other.

Two workers share one component, as in Kubernetes: one takes up claims, one volumes; operations of in-tree plugins are
a third routine that a revision may add (`volume_operations`). The component bears the controller's name, not that of
the process it runs in: each controller has informers, so cursors, of its own. A bind is four writes, each skipped if
it is already so; a crash in between is finished by a later sync.
Mirrors `pkg/controller/volume/persistentvolume/pv_controller.go` (v1.36.2; under `DESIGN` 1.11).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..api.meta import EMPTY, Frozen
from ..api.quantity import value
from ..api.storage import DEFAULT_CLASS, StorageClass
from ..api.volume import (
    BETA_STORAGE_PROVISIONER,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    STORAGE_PROVISIONER,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ..volumes import (
    DESIGN as DESIGN_RULES,
)
from ..volumes import (
    MIGRATED,
    bind_volume_to_claim,
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
)
from ..volumes import (
    UPSTREAM as RULES,
)
from ..volumes import (
    Options as Rules,
)
from ..world.apiserver import Done, Refused, Write
from ..world.component import Actor, Component, Hand
from ..world.decision import Decision, Say, named, told
from ..world.digest import WAIT
from ..world.log import Key
from ..world.own import Own, catch_up, forget, keep
from ..world.routine import Routine
from ..world.view import Index, Seen, View

NAME = "persistent-volume-binder"
SOURCE = "persistentvolume-controller"
CLAIMS, VOLUMES, OPERATIONS = "persistentvolume claims", "persistentvolume volumes", "persistentvolume operations"
CLAIM, VOLUME = "PersistentVolumeClaim", "PersistentVolume"
MIGRATED_TO = "pv.kubernetes.io/migrated-to"
IN_TREE_FINALIZER = "kubernetes.io/pv-controller"
NOT_ANNEALED = "persistent Volume Controller can't anneal migration annotations"
CURRENT_ATTRIBUTES = "currentVolumeAttributesClassName"
PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity"


@attrs.frozen(kw_only=True)
class Options:
    """What a revision, a feature gate or a scenario may set.

    Args:
        rules: how claims and volumes match.
        today: the sentences and refusals of v1.36.2; otherwise those of 1.11.
        reread_claim_before_reclaim: ask the API server for a claim before its volume is released. Without it a
            controller that has not yet seen the claim of a prebound volume takes it for deleted (kubernetes#66287).
        selected_node_switches_delay_off: a claim handed to provisioning may also be bound to any static volume.
        provisioner_keys: annotations that hand a claim to an external provisioner; the first decides if it is there.
        migrated: in-tree plugin -> the CSI driver that acts for it.
        in_tree: plugins of the controller's own that provision: run as operations if there is a routine for them,
            else left to a component of the plugin's name.
        assign_default_class: a class-less claim gets the default class when there is one.
        resync: seconds of the period after which an unfinished claim is looked at again.
        periodic: every claim and volume is looked at in each period, whether or not something has changed.
    """

    rules: Rules = RULES
    today: bool = True
    reread_claim_before_reclaim: bool = True
    selected_node_switches_delay_off: bool = False
    delayed_provisioning: bool = True
    provisioner_keys: tuple[str, ...] = (STORAGE_PROVISIONER, BETA_STORAGE_PROVISIONER)
    migrated: Mapping[str, str] = MIGRATED
    in_tree: frozenset[str] = frozenset()
    assign_default_class: bool = True
    resync: float = 15.0
    periodic: bool = False


UPSTREAM = Options()
DESIGN = Options(
    rules=DESIGN_RULES,
    today=False,
    reread_claim_before_reclaim=False,
    selected_node_switches_delay_off=True,
    provisioner_keys=(BETA_STORAGE_PROVISIONER,),
    migrated=EMPTY,
    in_tree=frozenset(MIGRATED),
    assign_default_class=False,
)


@attrs.frozen
class Pause:
    """A note: an operation failed and is not run again before this moment."""

    until: float = attrs.field(metadata=WAIT)


def _free_volumes(volume: PersistentVolume) -> Iterator[tuple[str, ...]]:
    """Index word of a volume that nobody claims: its class, then its access modes."""
    if volume.spec.claim_ref is None:
        yield (class_of_volume(volume), *modes_of(volume))


def _claimed_volumes(volume: PersistentVolume) -> Iterator[str]:
    if volume.spec.claim_ref is not None:
        yield claim_ref_key(volume.spec.claim_ref)


def _pending_claims(claim: PersistentVolumeClaim) -> Iterator[tuple[str, str]]:
    """Index words of a claim that is not bound: what it waits for."""
    if BIND_COMPLETED not in claim.metadata.annotations:
        wanted = claim.spec.volume_name
        yield ("volume", wanted) if wanted else ("class", class_of_claim(claim))


def _pods_of_claims(pod: Any) -> Iterator[str]:
    if not pod.terminal:
        for name in pod.claim_names():
            yield f"{pod.metadata.namespace or 'default'}/{name}"


def _views(_seen: Seen) -> dict[str, View]:
    return {
        "own": Own(
            (CLAIM, VOLUME),
            free=Index(VOLUME, _free_volumes),
            claimed=Index(VOLUME, _claimed_volumes),
            pending=Index(CLAIM, _pending_claims),
        ),
        "pods": Index("Pod", _pods_of_claims),
    }


def component(options: Options = UPSTREAM, operations: Sequence[Actor] = ()) -> Component:
    """Return the PV controller, with the routines that run operations of in-tree plugins if there are any."""
    binder = Binder(options)
    watches: tuple[str, ...] = ("PersistentVolumeClaim", "PersistentVolume", "StorageClass")
    if options.today:
        watches += ("Pod",)
    if operations:
        watches += ("Node",)
    return Component(NAME, watches, (*binder.routines(), *operations), _views)


def own_of(hand: Hand) -> Own:
    """Return the controller's own cache of claims and volumes."""
    own = hand.views["own"]
    assert isinstance(own, Own)
    return own


@attrs.frozen
class Binder:
    """The controller's decisions. Its methods read as `pv_controller.go` does: sync this, then that."""

    options: Options

    def routines(self) -> tuple[Routine, Routine]:
        """Return the two workers."""
        period = self.options.resync  # a failed sync is not put back: the next period takes it up
        return (
            Routine(CLAIMS, self.claims_of, self.sync_claim, self.refused, self.done, lambda _failures: period),
            Routine(VOLUMES, self.volumes_of, self.sync_volume, self.refused, self.done, lambda _failures: period),
        )

    # -- what makes a claim or volume dirty -----------------------------------------------------------

    def claims_of(self, hand: Hand, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield the claims that a change concerns; those it may help only later are woken in the next period."""
        own = own_of(hand)
        match key.kind:
            case "PersistentVolumeClaim":
                catch_up(hand, key, new)
                if new is not None:
                    yield f"{key.namespace}/{key.name}"
            case "PersistentVolume":
                catch_up(hand, key, new)
                if new is None and old.spec.claim_ref is not None:
                    yield claim_ref_key(old.spec.claim_ref)
                elif new is not None and new.spec.claim_ref is None:
                    self._next_period(hand, own, ("volume", key.name))
                    self._next_period(hand, own, ("class", class_of_volume(new)))
            case "StorageClass":
                self._next_period(hand, own, ("class", key.name))
                if new is not None and is_default(new):
                    self._next_period(hand, own, ("class", ""))

    def _next_period(self, hand: Hand, own: Own, word: tuple[str, str]) -> None:
        """Wake claims that wait for something at the next tick of the resync: before it, nobody looks at them.

        Kubernetes looks at every claim at every tick; where nothing has changed that makes no difference.
        """
        for key in own.indexes["pending"].keys(word):
            if word[0] == "volume" or not self._delayed(hand, own.at(key)):
                period = self.options.resync
                hand.wake(f"{key.namespace}/{key.name}", period - hand.now % period)

    def volumes_of(self, hand: Hand, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield the volumes that a change concerns: themselves, and that of a claim which has gone."""
        if key.kind == VOLUME and new is not None:
            yield key.name
        elif key.kind == CLAIM and new is None and old.spec.volume_name:
            yield old.spec.volume_name

    def done(self, hand: Hand, _cause: str, outcome: Done, *, last: bool) -> None:
        """Take what was written into the own cache, and say what goes with it."""
        write = outcome.write
        if outcome.stored is not None and outcome.changed and getattr(write, "keep", True):
            keep(hand, outcome.stored)
        told(hand, outcome)

    def refused(self, hand: Hand, _cause: str, outcome: Refused) -> None:
        """Say what goes with a refused write."""
        operation = getattr(outcome.write, "operation", "")
        if operation and self.options.today:  # 1.11 did not count it as a failure
            pause(hand, operation)
        told(hand, outcome)

    def _current(self, hand: Hand, key: Key) -> Any:
        """Return what a worker is to look at: as last seen, or None where the own cache is ahead of the watch."""
        own = own_of(hand)
        kept, seen = own.kept.get(key), own.watched.get(key)
        if kept is None:
            return seen
        if seen is None:  # the deletion has just arrived
            forget(hand, key)
            if key.kind == CLAIM and kept.spec.volume_name:
                self._ask(hand, VOLUMES, kept.spec.volume_name)
            elif key.kind == VOLUME and kept.spec.claim_ref is not None:
                self._ask(hand, CLAIMS, claim_ref_key(kept.spec.claim_ref))
            return None
        if isinstance(kept, str) or seen.metadata.resource_version >= kept.metadata.resource_version:
            forget(hand, key)
            return seen
        return None

    @staticmethod
    def _ask(hand: Hand, actor: str, cause: str) -> None:
        Decision(hand).ask(actor, cause)

    # -- claims ---------------------------------------------------------------------------------------

    def sync_claim(self, hand: Hand, cause: str) -> Sequence[Write]:
        """Take up one claim: bind it, provision for it, or say why it waits."""
        hand.unwake(cause)  # it is looked at now, with all that is seen
        claim: PersistentVolumeClaim | None = self._current(hand, Key(CLAIM, *cause.split("/")))
        if claim is None:
            return ()
        decision = Decision(hand, SOURCE)
        claim = self._migrate_claim(decision, claim)
        if BIND_COMPLETED in claim.metadata.annotations:
            self._sync_bound_claim(decision, claim)
        elif claim.spec.volume_name:
            self._sync_prebound_claim(decision, claim)
        else:
            self._sync_unbound_claim(decision, claim)
        return decision.writes

    def _sync_unbound_claim(self, decision: Decision, claim: PersistentVolumeClaim) -> None:
        """The claim names no volume: find the best one, else assign a class, wait, or provision."""
        hand = decision.hand
        delayed = self._delayed(hand, claim)
        volume = self._best_match(hand, claim, delayed=delayed)
        if volume is not None:
            self._bind(decision, volume, claim)
            return
        if self._assign_default_class(decision, claim):
            return
        if delayed and not self._handed_to_provisioning(claim):
            self._say_waiting(decision, claim)
        elif class_of_claim(claim):
            self._provision(decision, claim)
            return
        else:
            words = "no persistent volumes available for this claim and no storage class is set"
            decision.event(claim, "Normal", "FailedBinding", words)
            decision.say(f"PV controller finds no volume for {named(claim)}, which has no class")
        self._claim_phase(decision, claim, "Pending")

    def _delayed(self, hand: Hand, claim: PersistentVolumeClaim) -> bool:
        """Say whether a claim waits for a pod (S0, Delayed Volume Binding)."""
        if self.options.selected_node_switches_delay_off and self._handed_to_provisioning(claim):
            return False
        found = hand.seen.get("StorageClass", class_of_claim(claim))
        return found is not None and found.delayed

    def _handed_to_provisioning(self, claim: PersistentVolumeClaim) -> bool:
        """Say whether the scheduler has selected a node for a claim: its signal to provision (S0, annSelectedNode)."""
        return self.options.delayed_provisioning and bool(selected_node(claim, self.options.rules))

    def _best_match(
        self, hand: Hand, claim: PersistentVolumeClaim, *, delayed: bool
    ) -> PersistentVolume | None:
        """Return the volume to bind: the fewest access modes that hold a match win, even over a smaller volume."""
        indexes = own_of(hand).indexes
        mine = indexes["claimed"].get(claim_key(claim))
        if delayed and not mine:
            return None
        class_name = class_of_claim(claim)
        for modes in mode_sets(claim.spec.access_modes):
            candidates = [volume for volume in mine if modes_of(volume) == modes]
            if not delayed:
                candidates += indexes["free"].get((class_name, *modes))
            rules = self.options.rules
            found = find_matching_volume(claim, candidates, delayed=delayed, options=rules)
            if found is not None:
                return found
        return None

    def _say_waiting(self, decision: Decision, claim: PersistentVolumeClaim) -> None:
        """Tell the user that binding follows the class's mode (checklist 47)."""
        reason, words = "WaitForFirstConsumer", "waiting for first consumer to be created before binding"
        using = decision.hand.views["pods"]
        assert isinstance(using, Index)
        pods = [pod for pod in using.get(claim_key(claim)) if self.options.today and not pod.spec.node_name]
        if pods:
            names = ",".join(pod.metadata.name for pod in pods)
            reason = "WaitForPodScheduled"
            words = f"waiting for pod{'s' if len(pods) > 1 else ''} {names} to be scheduled"
        decision.event(claim, "Normal", reason, words)
        decision.say(f"PV controller leaves {named(claim)} unbound: {words}")

    def _assign_default_class(self, decision: Decision, claim: PersistentVolumeClaim) -> bool:
        """Give a claim without class the default one, the newest of several; the sync ends there."""
        if not self.options.assign_default_class or has_class(claim):
            return False
        defaults = [found for found in decision.hand.seen.all("StorageClass") if is_default(found)]
        if not defaults:
            return False
        newest = max(found.metadata.creation_timestamp or "" for found in defaults)
        chosen = next(c for c in defaults if (c.metadata.creation_timestamp or "") == newest).metadata.name
        given = attrs.evolve(claim, spec=attrs.evolve(claim.spec, storage_class_name=chosen))
        failed = f'can\'t update PersistentVolumeClaim["{claim_key(claim)}"]: {{error}}'
        # Kubernetes does not take this write into its own cache: the next sync waits for the watch.
        decision.update(claim, given, f"PV controller gives {named(claim)} the default class {chosen}", keep=False, error=failed)
        return True

    def _sync_prebound_claim(self, decision: Decision, claim: PersistentVolumeClaim) -> None:
        """The claim names a volume but is not bound: bind that one if it is free and suits."""
        volume = own_of(decision.hand).at(Key(VOLUME, "", claim.spec.volume_name))
        if volume is None:
            decision.say(f"PV controller waits: {named(claim)} wants pv/{claim.spec.volume_name}, which is not there")
            self._claim_phase(decision, claim, "Pending")
        elif volume.spec.claim_ref is None:
            why = self._unsuitable(volume, claim)
            if not why:
                self._bind(decision, volume, claim)
                return
            words = f'Cannot bind to requested volume "{volume.metadata.name}": {why}'
            decision.event(claim, "Warning", "VolumeMismatch", words)
            decision.say(f"PV controller does not bind {named(claim)}: {why}")
            self._claim_phase(decision, claim, "Pending")
        elif is_bound_to(volume, claim):
            self._bind(decision, volume, claim)
        else:
            if self.options.today:
                words = f'volume "{volume.metadata.name}" already bound to a different claim.'
                decision.event(claim, "Warning", "FailedBinding", words)
            rival = claim_ref_key(volume.spec.claim_ref)
            decision.say(f"PV controller does not bind {named(claim)}: {named(volume)} is claimed by {rival}")
            if BOUND_BY_CONTROLLER not in claim.metadata.annotations:
                self._claim_phase(decision, claim, "Pending")
            else:
                words = "invalid" if self.options.today else "Invalid"
                decision.hand.say(
                    f'{words} binding of claim "{claim_key(claim)}" to volume "{volume.metadata.name}": '
                    f'volume already claimed by "{rival}"'
                )

    def _unsuitable(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
        """Return why a volume that a claim names cannot serve it, or ""."""
        if volume.metadata.deletion_timestamp is not None and self.options.today:
            return f'the volume is marked for deletion "{volume.metadata.name}"'
        if capacity(volume) < requested(claim):
            return "requested PV is too small"
        if class_of_volume(volume) != class_of_claim(claim):
            return "storageClassName does not match"
        if self.options.rules.mode_matters and mode(volume) != mode(claim):
            return "incompatible volumeMode"
        return "" if has_access_modes(volume, claim) else "incompatible accessMode"

    def _sync_bound_claim(self, decision: Decision, claim: PersistentVolumeClaim) -> None:
        """The claim was bound before: mend what is missing, or say that its data is lost."""
        lost = "Data on the volume is lost!"
        if not claim.spec.volume_name:
            words = f"Bound claim has lost reference to PersistentVolume. {lost}"
            self._claim_lost(decision, claim, "ClaimLost", words)
            return
        volume = own_of(decision.hand).at(Key(VOLUME, "", claim.spec.volume_name))
        if volume is None:
            self._claim_lost(decision, claim, "ClaimLost", f"Bound claim has lost its PersistentVolume. {lost}")
        elif volume.spec.claim_ref is None or volume.spec.claim_ref.uid == claim.metadata.uid:
            self._bind(decision, volume, claim)
        else:
            words = "Two claims are bound to the same volume, this one is bound incorrectly"
            self._claim_lost(decision, claim, "ClaimMisbound", words)

    def _claim_lost(self, decision: Decision, claim: PersistentVolumeClaim, reason: str, words: str) -> None:
        if claim.status.phase != "Lost":
            self._claim_phase(decision, claim, "Lost")
            decision.event(claim, "Warning", reason, words)

    def _claim_phase(
        self, decision: Decision, claim: PersistentVolumeClaim, phase: str, volume: PersistentVolume | None = None
    ) -> None:
        """Write a claim's status; capacity follows the volume only when the phase changes, access modes always."""
        status = attrs.evolve(claim.status, phase=phase)
        if volume is None:
            rest = status.rest.merged({CURRENT_ATTRIBUTES: None}) if self.options.today else status.rest
            status = attrs.evolve(status, access_modes=(), capacity=EMPTY, rest=rest)
        else:
            status = attrs.evolve(status, access_modes=volume.spec.access_modes)
            if claim.status.phase != phase:
                status = attrs.evolve(status, **self._taken_over(claim, volume))
        words = f"PV controller sets {named(claim)} {phase}"
        decision.update_status(claim, attrs.evolve(claim, status=status), words)

    def _taken_over(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> dict[str, Any]:
        """Return what a claim's status takes from its volume when it becomes Bound."""
        size = volume.spec.capacity.get("storage", "0")
        if self.options.today:
            before_resize = volume.metadata.annotations.get(PRE_RESIZE_CAPACITY, "")
            try:
                value(before_resize)
                size = before_resize
            except ValueError:  # unreadable, or absent: the volume's own
                pass
        rest = claim.status.rest
        if volume.spec.volume_attributes_class_name and self.options.today:
            rest = rest.merged({CURRENT_ATTRIBUTES: volume.spec.volume_attributes_class_name})
        return {"capacity": Frozen({"storage": size}), "rest": rest}

    # -- binding: four writes, each skipped if it is already so -----------------------------------------

    def _bind(self, decision: Decision, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """Bind a volume and a claim to each other."""
        name = volume.metadata.name
        ours = bind_volume_to_claim(volume, claim)
        decision.update(volume, ours, f"PV controller sets claimRef={claim_key(claim)} on pv/{name}")
        self._volume_phase(decision, ours, "Bound")
        marks = {BIND_COMPLETED: "yes"}
        if claim.spec.volume_name != name:
            marks[BOUND_BY_CONTROLLER] = "yes"  # the controller chose; a user's own choice bears no such mark
        known = claim.metadata.annotations
        annotations = known.merged({key: mark for key, mark in marks.items() if key not in known})
        bound = attrs.evolve(
            claim,
            metadata=attrs.evolve(claim.metadata, annotations=annotations),
            spec=attrs.evolve(claim.spec, volume_name=name),
        )
        decision.update(claim, bound, f"PV controller sets volumeName={name} on {named(claim)}")
        self._claim_phase(decision, bound, "Bound", ours)

    def _volume_phase(
        self, decision: Decision, volume: PersistentVolume, phase: str, message: str = ""
    ) -> PersistentVolume:
        if volume.status.phase == phase:
            return volume
        status = attrs.evolve(volume.status, phase=phase, message=message)
        new: PersistentVolume = decision.update_status(
            volume, attrs.evolve(volume, status=status), f"PV controller sets {named(volume)} {phase}"
        )
        return new

    # -- provisioning -----------------------------------------------------------------------------------

    def _provision(self, decision: Decision, claim: PersistentVolumeClaim) -> None:
        """Hand a claim to its class's provisioner: an external one by annotation, an in-tree one as an operation."""
        hand = decision.hand
        operation = f"provision-{claim_key(claim)}[{claim.metadata.uid}]"
        found: StorageClass | None = hand.seen.get("StorageClass", class_of_claim(claim))
        why = self._no_provisioner(claim, found)
        if self.options.today and why:
            self._cannot_provision(decision, claim, why)
            return
        if not self.starts(hand, operation):
            return
        if why:
            self._cannot_provision(decision, claim, why)
        elif found is not None and found.provisioner in self.options.in_tree:
            if _has_operations(hand):
                decision.ask(OPERATIONS, operation)
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
        return f"no volume plugin matched name: {name}" if self.options.today else "no volume plugin matched"

    def _cannot_provision(self, decision: Decision, claim: PersistentVolumeClaim, why: str) -> None:
        decision.event(claim, "Warning", "ProvisioningFailed", why)
        decision.say(f"PV controller cannot provision for {named(claim)}: {why}")

    def _hand_over(self, decision: Decision, claim: PersistentVolumeClaim, provisioner: str) -> None:
        """Name the external provisioner on the claim, in one write, and say whom it waits for."""
        keys = self.options.provisioner_keys
        asked = claim
        if claim.metadata.annotations.get(keys[0]) != provisioner:
            annotations = self._migrated(
                claim.metadata.annotations.merged(dict.fromkeys(keys, provisioner)), provisioner
            )
            asked = attrs.evolve(claim, metadata=attrs.evolve(claim.metadata, annotations=annotations))
        if self.options.today:
            words = (
                f"Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually "
                "by the system administrator. If volume creation is delayed, please verify that the provisioner is "
                "running and correctly registered."
            )
        else:
            words = (
                f'waiting for a volume to be created, either by external provisioner "{provisioner}" or manually '
                "created by system administrator"
            )
        key = Key(CLAIM, claim.metadata.namespace or "default", claim.metadata.name)
        failed = (Say(key, "Warning", "ProvisioningFailed", "Error saving claim: {error}", SOURCE),)
        decision.update(
            claim,
            asked,
            f"PV controller hands {named(claim)} to {provisioner}",
            otherwise=failed if self.options.today else (),
            operation=f"provision-{claim_key(claim)}[{claim.metadata.uid}]",
        )
        decision.event(asked, "Normal", "ExternalProvisioning", words)
        decision.say(f"PV controller waits for {provisioner} to provision {named(claim)}")

    def starts(self, hand: Hand, operation: str) -> bool:
        """Say whether an operation may start: not while it is under way, and not soon after it has failed."""
        paused: Pause | None = hand.note("pause", operation)
        if paused is not None and paused.until > hand.now:
            return False
        return hand.note(f"plan {OPERATIONS}", operation) is None

    # -- volumes ----------------------------------------------------------------------------------------

    def sync_volume(self, hand: Hand, cause: str) -> Sequence[Write]:
        """Take up one volume: its phase follows its claim; without claim it is released and reclaimed."""
        volume: PersistentVolume | None = self._current(hand, Key(VOLUME, "", cause))
        if volume is None:
            return ()
        decision = Decision(hand, SOURCE)
        volume = self._migrate_volume(decision, volume)
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:  # free, or kept for a claim that has not come
            self._volume_phase(decision, volume, "Available")
            return decision.writes
        claim = self._claim_of(hand, volume)
        if claim is None:
            self._release(decision, volume)
        elif not claim.spec.volume_name:
            self._volume_waits(decision, volume, claim)
        elif claim.spec.volume_name == volume.metadata.name:
            self._volume_phase(decision, volume, "Bound")
        elif (
            PROVISIONED_BY in volume.metadata.annotations
            and volume.spec.persistent_volume_reclaim_policy == "Delete"
        ):
            self._release(decision, volume)  # made for a claim that has got another: not needed any more
        else:
            self._unbind(decision, volume)
        return decision.writes

    def _claim_of(self, hand: Hand, volume: PersistentVolume) -> PersistentVolumeClaim | None:
        """Return the claim that a volume is bound to, or None if it is gone or another of its name was born."""
        ref = volume.spec.claim_ref
        assert ref is not None
        key = Key(CLAIM, ref.namespace or "default", ref.name)
        own = own_of(hand)
        claim: PersistentVolumeClaim | None = own.at(key)
        if not self.options.reread_claim_before_reclaim:
            return claim if claim is not None and claim.metadata.uid == ref.uid else None
        if claim is None and volume.status.phase not in ("Released", "Failed"):
            claim = own.watched.get(key)
            if claim is None:
                claim = hand.get(key)
        if claim is not None and claim.metadata.uid != ref.uid:
            claim = hand.get(key)
        return claim if claim is not None and claim.metadata.uid == ref.uid else None

    def _volume_waits(self, decision: Decision, volume: PersistentVolume, claim: PersistentVolumeClaim) -> None:
        """The claim does not name its volume yet: the claims' worker is to finish the binding."""
        if self.options.today and mode(volume) != mode(claim):
            said = "Cannot bind PersistentVolume to requested PersistentVolumeClaim "
            words = f'{said}"{claim.metadata.name}" due to incompatible volumeMode.'
            decision.event(volume, "Warning", "VolumeMismatch", words)
            words = f'Cannot bind PersistentVolume "{volume.metadata.name}" to requested PersistentVolumeClaim '
            decision.event(claim, "Warning", "VolumeMismatch", f"{words}due to incompatible volumeMode.")
            return
        decision.ask(CLAIMS, claim_key(claim))

    def _release(self, decision: Decision, volume: PersistentVolume) -> None:
        """The claim is gone: the volume is Released, then reclaimed by its policy."""
        if volume.status.phase not in ("Released", "Failed"):
            volume = self._volume_phase(decision, volume, "Released")
        if volume.metadata.annotations.get(MIGRATED_TO):
            return  # the external provisioner reclaims it
        uid, name = volume.metadata.uid, volume.metadata.name
        match volume.spec.persistent_volume_reclaim_policy:
            case "Retain":
                decision.say(f"PV controller leaves {named(volume)} as it is: its policy is Retain")
            case "Delete":
                self._operate(decision, volume, f"delete-{name}[{uid}]")
            case "Recycle":
                self._operate(decision, volume, f"recycle-{name}[{uid}]")
            case _:
                words = "Volume has unrecognized PersistentVolumeReclaimPolicy"
                self.fail_volume(decision, volume, "VolumeUnknownReclaimPolicy", words)

    def _operate(self, decision: Decision, volume: PersistentVolume, operation: str) -> None:
        """Start the operation that reclaims a volume; one that an external driver made is left to that."""
        hand = decision.hand
        made_by = volume.metadata.annotations.get(PROVISIONED_BY, "")
        if not _has_operations(hand):
            if operation.startswith("recycle") or made_by.startswith("kubernetes.io/"):
                return
            if not made_by:
                self._no_deleter(decision, volume)
        elif self.starts(hand, operation):
            decision.ask(OPERATIONS, operation)

    def _no_deleter(self, decision: Decision, volume: PersistentVolume) -> None:
        """Say that nobody can delete a volume that no provisioner made."""
        said = "error" if self.options.today else "Error"
        words = f'{said} getting deleter volume plugin for volume "{volume.metadata.name}": no volume plugin matched'
        self.fail_volume(decision, volume, "VolumeFailedDelete", words)

    def fail_volume(self, decision: Decision, volume: PersistentVolume, reason: str, words: str) -> None:
        """Set a volume Failed with an event; one that has failed before stays as it is, in silence."""
        if volume.status.phase != "Failed":
            self._volume_phase(decision, volume, "Failed", words)
            decision.event(volume, "Warning", reason, words)

    def _unbind(self, decision: Decision, volume: PersistentVolume) -> None:
        """Give a volume free whose claim is bound elsewhere; one that a user had prebound stays so, without uid."""
        ref, annotations = volume.spec.claim_ref, volume.metadata.annotations
        assert ref is not None
        if BOUND_BY_CONTROLLER in annotations:
            annotations = annotations.merged({BOUND_BY_CONTROLLER: None})
            spec = attrs.evolve(volume.spec, claim_ref=None)
        else:
            spec = attrs.evolve(volume.spec, claim_ref=attrs.evolve(ref, uid=""))
        freed = attrs.evolve(volume, metadata=attrs.evolve(volume.metadata, annotations=annotations), spec=spec)
        decision.update(volume, freed, f"PV controller unbinds {named(volume)}: its claim is bound elsewhere")
        self._volume_phase(decision, freed, "Available")

    # -- in-tree plugins that a CSI driver acts for -------------------------------------------------------

    def _migrate_claim(self, decision: Decision, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        known = claim.metadata.annotations
        by = known.get(STORAGE_PROVISIONER) or known.get(BETA_STORAGE_PROVISIONER)
        annotations = self._migrated(known, by)
        new: PersistentVolumeClaim = decision.update(
            claim,
            attrs.evolve(claim, metadata=attrs.evolve(claim.metadata, annotations=annotations)),
            f"PV controller notes on {named(claim)} which driver acts for its plugin",
            error=f"{NOT_ANNEALED}: {{error}}",
        )
        return new

    def _migrated(self, annotations: Frozen, by: str | None) -> Frozen:
        """Return annotations that name the driver which acts for a plugin, or none where there is none."""
        if by is None or not self.options.today:
            return annotations
        wanted, there = self.options.migrated.get(by), annotations.get(MIGRATED_TO)
        if wanted == there or (wanted is None and not there):
            return annotations
        return annotations.merged({MIGRATED_TO: wanted})

    def _migrate_volume(self, decision: Decision, volume: PersistentVolume) -> PersistentVolume:
        """Also keep the finalizer by which an in-tree plugin guards a volume that it must delete."""
        meta = volume.metadata
        by = meta.annotations.get(PROVISIONED_BY)
        finalizers = meta.finalizers
        if self.options.today and by is not None and by.startswith("kubernetes.io/"):
            guarded = IN_TREE_FINALIZER in finalizers
            if by in self.options.migrated and guarded:
                finalizers = tuple(name for name in finalizers if name != IN_TREE_FINALIZER)
            elif (
                by not in self.options.migrated
                and not guarded
                and volume.spec.persistent_volume_reclaim_policy == "Delete"
            ):
                finalizers = (*finalizers, IN_TREE_FINALIZER)
        annotations = self._migrated(meta.annotations, by)
        new: PersistentVolume = decision.update(
            volume,
            attrs.evolve(volume, metadata=attrs.evolve(meta, annotations=annotations, finalizers=finalizers)),
            f"PV controller notes on {named(volume)} who is to delete it",
            error=f"{NOT_ANNEALED}: {{error}}",
        )
        return new


def _has_operations(hand: Hand) -> bool:
    return any(actor.name == OPERATIONS for actor in hand.process.component.actors)


def pause(hand: Hand, operation: str, seconds: float = 0.5) -> None:
    """Note that an operation has failed: it is not run again for half a second."""
    hand.remember("pause", operation, Pause(hand.now + seconds))


def is_default(found: StorageClass) -> bool:
    """Say whether a class is the default one (either spelling of the annotation)."""
    annotations = found.metadata.annotations
    beta = "storageclass.beta.kubernetes.io/is-default-class"
    return annotations.get(DEFAULT_CLASS) == "true" or annotations.get(beta) == "true"


__all__ = ["DESIGN", "MIGRATED", "NAME", "UPSTREAM", "Binder", "Options", "component"]

"""Operations of in-tree plugins, beside the PV controller's two workers: provision, delete and recycle.

A routine that joins the PV controller's component. An operation is a cause named as Kubernetes names it,
`provision-default/data[uid]`; one of a name runs at a time, and one that failed is not run again for half a second.
Plugins here make no storage: they say what became of it. Mirrors the operations in `pv_controller.go` (v1.36.2; 1.11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import attrs

from ..api.kinds.meta import EMPTY, Frozen, ObjectMeta, evolve_parts, without_finalizers
from ..api.kinds.pod import Pod
from ..api.kinds.storage_class import StorageClass, TopologySelectorTerm
from ..api.kinds.volume import (
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
)
from ..volumes import claim_key, claim_ref_key, claim_ref_of, class_of_claim, selected_node, with_selected_node
from ..world.apiserver import CommittedWrite, RefusedWrite, Write, key_of
from ..world.component import TurnContext
from ..world.log import Key
from ..world.mutation_cache import MutationCache, record_written
from ..world.operation_backoff import back_off_operation
from ..world.plan import PlanBuilder, PlannedEvent, PlannedWrite, reference_of, report_outcome
from ..world.reconciler import Reconciler
from ..world.view import Index

NAME = "persistentvolume operations"
SOURCE = "persistentvolume-controller"
CLAIM, VOLUME = "PersistentVolumeClaim", "PersistentVolume"
FINALIZER = "kubernetes.io/pv-controller"
TRIES = 5  # to save a volume that was provisioned
EVERY = 10.0  # seconds between them


@attrs.frozen(kw_only=True)
class InTreePlugin:
    """An in-tree plugin: what it can do, which volume source is its own, and how it answers.

    `fails` maps provision, delete, recycle, newProvisioner, newDeleter and deleteInUse to the words of an error.
    """

    name: str
    source: str
    provisions: bool = False
    deletes: bool = False
    recycles: bool = False
    mount_options: bool = False
    fails: Mapping[str, str] = EMPTY


@attrs.frozen
class UnsavedVolume:
    """A note: storage exists whose volume could not be saved yet, and how often that was tried."""

    write: PlannedWrite
    tries: int


def routine(plugins: Sequence[InTreePlugin], *, today: bool = True, keys: Sequence[str] = ()) -> Reconciler:
    """Return the routine that runs operations of these plugins.

    Args:
        plugins: the in-tree plugins there are.
        today: the checks and sentences of v1.36.2; otherwise those of 1.11.
        keys: the annotations that name a claim's provisioner.
    """
    return Operations(tuple(plugins), today, tuple(keys)).routine()


def _nothing(_hand: TurnContext, _key: Key, _old: object, _new: object) -> Iterator[str]:
    yield from ()  # operations are asked for by the workers, not by what is seen


def _own(ctx: TurnContext) -> MutationCache:
    own = ctx.views["own"]
    assert isinstance(own, MutationCache)
    return own


class NoPluginError(ValueError):
    """No plugin does such work; the message is the plugin manager's."""


@attrs.frozen
class Operations:
    """What the operations do."""

    plugins: tuple[InTreePlugin, ...]
    today: bool
    keys: tuple[str, ...]
    topology: bool = True  # 1.11: behind a gate

    def routine(self) -> Reconciler:
        """Return the routine that runs them."""
        return Reconciler(NAME, _nothing, self.run, self.refused, self.done, lambda _failures: EVERY)

    def run(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Run one operation, as far as its next write."""
        unsaved: UnsavedVolume | None = ctx.note("unsaved", cause)
        if unsaved is not None:
            return (unsaved.write,)
        found = re.fullmatch(r"(provision|delete|recycle)-(.*)\[(.*)\]", cause)
        assert found is not None
        what, name, uid = found.groups()
        key = Key(CLAIM, *name.split("/")) if what == "provision" else Key(VOLUME, "", name)
        subject = _own(ctx).at(key)
        if subject is None or subject.metadata.uid != uid:
            return ()
        decision = PlanBuilder(ctx, SOURCE)
        if what == "provision":
            self._provision(decision, cause, subject)
        elif what == "delete":
            self._delete(decision, cause, subject)
        else:
            self._recycle(decision, subject)
        return decision.writes

    def done(self, ctx: TurnContext, cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        """Take what was written into the own cache."""
        if outcome.stored is not None and outcome.changed:
            record_written(ctx, outcome.stored)
        ctx.remember("unsaved", cause, None)
        report_outcome(ctx, outcome)

    def refused(self, ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
        """Try again to save a provisioned volume; any other refusal ends the operation."""
        write = outcome.write
        unsaved: UnsavedVolume | None = ctx.note("unsaved", cause)
        if write.verb == "create" and isinstance(write, PlannedWrite) and outcome.reason != "AlreadyExists":
            tries = unsaved.tries + 1 if unsaved is not None else 1
            if tries < TRIES:
                ctx.remember("unsaved", cause, UnsavedVolume(write, tries))
                return
            report_outcome(ctx, outcome)
            self._clean_up(ctx, write)  # Kubernetes does not count this as a failure of the operation
        elif write.verb == "create":
            assert isinstance(write, PlannedWrite)
            report_outcome(ctx, CommittedWrite(write, write.new))  # it had been saved after all
        else:
            report_outcome(ctx, outcome)
            self._ended(ctx, cause)
        ctx.remember("unsaved", cause, None)
        ctx.cancel_wake_up(cause)

    def _ended(self, ctx: TurnContext, cause: str) -> None:
        """Note that an operation has failed; 1.11 did not count provisioning that failed."""
        if self.today or not cause.startswith("provision"):
            back_off_operation(ctx, cause)

    # -- provision ------------------------------------------------------------------------------------

    def _provision(self, decision: PlanBuilder, cause: str, claim: PersistentVolumeClaim) -> None:
        """Make a volume for a claim: in Kubernetes' order, and with its sentence at each place where it can end."""
        ctx = decision.ctx
        found: StorageClass | None = ctx.seen.get("StorageClass", class_of_claim(claim))
        plugin = next((p for p in self.plugins if found is not None and p.name == found.provisioner), None)
        if found is None or plugin is None:
            return
        if self.today and ("dataSource" in claim.spec.rest or "dataSourceRef" in claim.spec.rest):
            self._fail_claim(
                decision,
                cause,
                claim,
                f'plugin "{plugin.name}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource',
            )
            return
        if claim.metadata.annotations.get(self.keys[0]) != plugin.name:
            self._name_provisioner(decision, cause, claim, plugin.name)
            return
        name = f"pvc-{claim.metadata.uid}"
        if ctx.get_live(Key(VOLUME, "", name)) is not None:
            return  # an operation before this one has made it
        if found.mount_options and not plugin.mount_options:
            words = (
                f'Mount options are not supported by the provisioner but StorageClass "{found.metadata.name}" '
                f"has mount options [{' '.join(found.mount_options)}]"
            )
            self._fail_claim(decision, cause, claim, words)
            return
        if "newProvisioner" in plugin.fails:
            self._fail_claim(decision, cause, claim, f"Failed to create provisioner: {plugin.fails['newProvisioner']}")
            return
        node = selected_node(claim) if self.topology else ""
        if node and ctx.seen.get("Node", node) is None:
            self._fail_claim(decision, cause, claim, f'Failed to get target node: node "{node}" not found')
            return
        failed = self.make(plugin, node, found.allowed_topologies if self.topology else ())
        if failed:
            words = f'Failed to provision volume with StorageClass "{found.metadata.name}": {failed}'
            self._give_node_back(decision, cause, claim, words)
            return
        self._save(decision, claim, _new_volume(claim, found, plugin, today=self.today), plugin)

    def make(self, plugin: InTreePlugin, node: str, allowed: Sequence[TopologySelectorTerm]) -> str:
        """Have a plugin make storage, for a selected node and within what the class allows; return its error, or ""."""
        return plugin.fails.get("provision", "")

    def _fail_claim(self, decision: PlanBuilder, cause: str, claim: PersistentVolumeClaim, words: str) -> None:
        decision.event(claim, "Warning", "ProvisioningFailed", words)
        decision.describe(f"PV controller cannot provision for {reference_of(claim)}: {words}")
        self._ended(decision.ctx, cause)

    def _name_provisioner(
        self, decision: PlanBuilder, cause: str, claim: PersistentVolumeClaim, provisioner: str
    ) -> None:
        """Write the plugin's name on the claim, then go on."""
        annotations = claim.metadata.annotations.merged(dict.fromkeys(self.keys, provisioner))
        asked = evolve_parts(claim, metadata={"annotations": annotations})
        decision.update(claim, asked, f"PV controller names {provisioner} on {reference_of(claim)}")
        decision.enqueue(NAME, cause)

    def _give_node_back(
        self, decision: PlanBuilder, cause: str, claim: PersistentVolumeClaim, words: str
    ) -> None:
        """Provisioning failed: take the selected node away, so that the scheduler may choose another (S0)."""
        said = PlannedEvent(key_of(claim), "Warning", "ProvisioningFailed", words, SOURCE)
        lane = f"PV controller cannot provision: takes selected-node off {reference_of(claim)}"
        before = len(decision.writes)
        decision.update(claim, with_selected_node(claim, ""), lane, on_failure=(said,))
        decision.event(claim, "Warning", "ProvisioningFailed", words)
        if len(decision.writes) == before:
            decision.describe(f"PV controller cannot provision for {reference_of(claim)}: {words}")
        self._ended(decision.ctx, cause)

    @staticmethod
    def _save(
        decision: PlanBuilder, claim: PersistentVolumeClaim, volume: PersistentVolume, plugin: InTreePlugin
    ) -> None:
        failed = f"Error creating provisioned PV object for claim {claim_key(claim)}: {{error}}. Deleting the volume."
        decision.create(
            volume,
            f"PV controller creates {reference_of(volume)} with {plugin.name} for {reference_of(claim)}",
            on_failure=(PlannedEvent(key_of(claim), "Warning", "ProvisioningFailed", failed, SOURCE),),
        )
        words = f"Successfully provisioned volume {volume.metadata.name} using {plugin.name}"
        decision.event(claim, "Normal", "ProvisioningSucceeded", words)

    def _clean_up(self, ctx: TurnContext, write: PlannedWrite) -> None:
        """Delete storage whose volume could not be saved; it is called a failure if the volume is not there to free."""
        volume: PersistentVolume = write.new
        plugin = self._by_name(volume.metadata.annotations[PROVISIONED_BY])
        why = plugin.fails.get("delete", "")
        if self.today and not why and FINALIZER in volume.metadata.finalizers:
            for _ in range(TRIES):
                ctx.get_live(key_of(volume))
            why = f'persistentvolumes "{volume.metadata.name}" not found'
        ref = volume.spec.claim_ref
        assert ref is not None
        claim = ctx.sim.log.objects.get(Key(CLAIM, ref.namespace, ref.name))
        if why and claim is not None:
            words = f"Error cleaning provisioned volume for claim {claim_ref_key(ref)}: {why}. Please delete manually."
            ctx.event(claim, "Warning", "ProvisioningCleanupFailed", words, SOURCE)

    # -- delete and recycle -----------------------------------------------------------------------------

    def _delete(self, decision: PlanBuilder, cause: str, volume: PersistentVolume) -> None:
        """Delete a released volume, if an in-tree plugin is to; one that an external driver made is left to that."""
        ctx, name = decision.ctx, volume.metadata.name
        if not self.today and not self._to_go(ctx, ctx.get_live(key_of(volume))):
            return
        try:
            plugin = self._deleter(volume)
        except NoPluginError as why:
            self._fail_volume(decision, cause, volume, "VolumeFailedDelete", str(why))
            return
        if plugin is None:
            return
        if self.today and not self._to_go(ctx, ctx.get_live(key_of(volume))):
            return
        if "newDeleter" in plugin.fails:
            start = "failed" if self.today else "Failed"
            words = f'{start} to create deleter for volume "{name}": {plugin.fails["newDeleter"]}'
            self._fail_volume(decision, cause, volume, "VolumeFailedDelete", words)
        elif "deleteInUse" in plugin.fails:
            decision.event(volume, "Normal", "VolumeDelete", plugin.fails["deleteInUse"])
            self._ended(ctx, cause)
        elif "delete" in plugin.fails:
            self._fail_volume(decision, cause, volume, "VolumeFailedDelete", plugin.fails["delete"])
        else:
            if self.today:
                current: PersistentVolume = ctx.get_live(key_of(volume))
                freed = without_finalizers(current, FINALIZER)
                decision.update(current, freed, f"PV controller frees {reference_of(volume)} of its finalizer")
            decision.delete(volume, f"PV controller deletes {reference_of(volume)}")

    def _recycle(self, decision: PlanBuilder, volume: PersistentVolume) -> None:
        """Wipe a released volume and give it free again; whatever goes wrong, the next sync tries anew."""
        ctx = decision.ctx
        current: PersistentVolume | None = ctx.get_live(key_of(volume))
        if current is None or not self._released(ctx, current):
            return
        users = self._users(ctx, current)
        if users:
            words = f"Volume is used by pods: {','.join(users)}"
            decision.event(volume, "Normal", "VolumeFailedRecycle", words)
            return
        plugin = next((p for p in self.plugins if p.recycles and p.source in volume.spec.rest), None)
        if plugin is None:
            words = "No recycler plugin found for the volume!"
            self._fail_volume(decision, "", volume, "VolumeFailedRecycle", words)
        elif "recycle" in plugin.fails:
            words = f"Recycle failed: {plugin.fails['recycle']}"
            self._fail_volume(decision, "", volume, "VolumeFailedRecycle", words)
        else:
            decision.event(volume, "Normal", "VolumeRecycled", "Volume recycled")
            self._unbind(decision, current)

    def _users(self, ctx: TurnContext, volume: PersistentVolume) -> list[str]:
        """Return the running pods that still use a volume, as namespace/name."""
        ref = volume.spec.claim_ref
        assert ref is not None
        pods = ctx.views["pods"]
        assert isinstance(pods, Index)
        found: list[Pod] = pods.get(claim_ref_key(ref))
        return [f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}" for pod in found]

    @staticmethod
    def _unbind(decision: PlanBuilder, volume: PersistentVolume) -> None:
        annotations, ref = volume.metadata.annotations, volume.spec.claim_ref
        if BOUND_BY_CONTROLLER in annotations:
            annotations, ref = annotations.merged({BOUND_BY_CONTROLLER: None}), None
        elif ref is not None:
            ref = attrs.evolve(ref, uid="")
        meta = attrs.evolve(volume.metadata, annotations=annotations)
        freed = evolve_parts(volume, metadata=meta, spec={"claim_ref": ref})
        decision.update(volume, freed, f"PV controller unbinds {reference_of(volume)}, which was recycled")
        status = attrs.evolve(freed.status, phase="Available", message="")
        available = attrs.evolve(freed, status=status)
        decision.update_status(freed, available, f"PV controller sets {reference_of(volume)} Available")

    def _fail_volume(
        self, decision: PlanBuilder, cause: str, volume: PersistentVolume, reason: str, words: str
    ) -> None:
        """Set a volume Failed with an event; one that has failed before stays as it is, in silence."""
        if volume.status.phase != "Failed":
            status = attrs.evolve(volume.status, phase="Failed", message=words)
            failed = attrs.evolve(volume, status=status)
            decision.update_status(volume, failed, f"PV controller sets {reference_of(volume)} Failed")
            decision.event(volume, "Warning", reason, words)
        if cause:
            self._ended(decision.ctx, cause)

    def _deleter(self, volume: PersistentVolume) -> InTreePlugin | None:
        """Return who deletes a volume: the plugin that made it, else that of its source; None: an external driver."""
        made_by = volume.metadata.annotations.get(PROVISIONED_BY, "")
        if made_by:
            if not made_by.startswith("kubernetes.io/"):
                return None
            plugin = self._by_name(made_by)
            if not plugin.deletes:
                raise NoPluginError("no deletable volume plugin matched")
            return plugin
        said = "error" if self.today else "Error"
        start = f'{said} getting deleter volume plugin for volume "{volume.metadata.name}": '
        by_source = next((p for p in self.plugins if p.source in volume.spec.rest), None)
        if by_source is None:
            raise NoPluginError(f"{start}no volume plugin matched")
        if not by_source.deletes:
            raise NoPluginError(f"{start}no deletable volume plugin matched")
        return by_source

    def _by_name(self, name: str) -> InTreePlugin:
        plugin = next((p for p in self.plugins if p.name == name), None)
        if plugin is None:
            raise NoPluginError(f"no volume plugin matched name: {name}" if self.today else "no volume plugin matched")
        return plugin

    def _to_go(self, ctx: TurnContext, volume: PersistentVolume | None) -> bool:
        return volume is not None and volume.metadata.deletion_timestamp is None and self._released(ctx, volume)

    @staticmethod
    def _released(ctx: TurnContext, volume: PersistentVolume) -> bool:
        """Say whether a volume's claim is gone, was born anew, or is bound to another volume."""
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:
            return False
        claim = _own(ctx).at(Key(CLAIM, ref.namespace or "default", ref.name))
        if claim is None or claim.metadata.uid != ref.uid:
            return True
        return bool(claim.spec.volume_name) and claim.spec.volume_name != volume.metadata.name


def _new_volume(
    claim: PersistentVolumeClaim, found: StorageClass, plugin: InTreePlugin, *, today: bool
) -> PersistentVolume:
    """Return the volume that a plugin makes for a claim: bound to it from the start."""
    policy = found.reclaim_policy or "Delete"
    return PersistentVolume(
        metadata=ObjectMeta(
            name=f"pvc-{claim.metadata.uid}",
            annotations=Frozen({BOUND_BY_CONTROLLER: "yes", PROVISIONED_BY: plugin.name}),
            finalizers=(FINALIZER,) if today and policy == "Delete" else (),
        ),
        spec=PersistentVolumeSpec(
            capacity=Frozen({"storage": claim.spec.resources.requests.get("storage", "0")}),
            access_modes=claim.spec.access_modes,
            claim_ref=claim_ref_of(claim),
            persistent_volume_reclaim_policy=policy,
            storage_class_name=class_of_claim(claim),
            rest=Frozen({plugin.source: Frozen({"path": f"/tmp/hostpath_pv/{claim.metadata.uid}"})}),  # noqa: S108
        ),
        status=PersistentVolumeStatus(phase="Bound" if today else ""),
    )


__all__ = ["NAME", "InTreePlugin", "routine"]

"""Operations of in-tree plugins, beside the PV controller's two workers: provision, delete and recycle.

A routine that joins the PV controller's component. An operation is a cause named as Kubernetes names it,
`provision-default/data[uid]`; one of a name runs at a time, and one that failed is not run again for 500 ms,
doubled by each failure up to 2 min 2 s.
Plugins make no storage here: they say what became of it. Mirrors the operations in `pv_controller.go` (v1.36.2; 1.11).
"""

import re
from collections.abc import Mapping, Sequence

import attrs

from ...api.kinds.meta import EMPTY, Frozen, ObjectMeta, evolve_parts, without_finalizers
from ...api.kinds.storage_class import StorageClass, TopologySelectorTerm
from ...api.kinds.volume import (
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
)
from ...api.volumes import claim_key, claim_ref_key, claim_ref_of, class_of_claim, selected_node, with_selected_node
from ...world.apiserver import CommittedWrite, RefusedWrite, Write, key_of
from ...world.component import TurnContext
from ...world.log import Key
from ...world.mutation_cache import record_written
from ...world.plan import PlanBuilder, PlannedEvent, PlannedWrite, reference_of, report_outcome
from ...world.reconciler import Backoff, Reconciler, back_off_operation, forget_failures, is_backing_off
from .cache import cache_of, pods_of
from .options import CLAIM, OPERATIONS, SOURCE, UPSTREAM, VOLUME, PVControllerOptions

SAVE_ATTEMPTS = 5  # to save a volume that was provisioned
SAVE_INTERVAL = 10.0  # seconds between them


@attrs.frozen(kw_only=True)
class InTreePlugin:
    """An in-tree plugin: what it can do, the volume source that is its own, and how it answers.

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
    """A note: storage whose volume could not be saved yet, and how often that was tried."""

    write: PlannedWrite
    tries: int


class NoPluginError(ValueError):
    """No plugin does such work; the message is the plugin manager's."""


def has_operations(ctx: TurnContext) -> bool:
    """Say whether a component runs operations of in-tree plugins."""
    return any(actor.name == OPERATIONS for actor in ctx.process.component.actors)


def routine(plugins: Sequence[InTreePlugin], options: PVControllerOptions = UPSTREAM) -> Reconciler:
    """Return the routine that runs operations of these plugins under the PV controller's options."""
    return Operations(tuple(plugins), options).routine()


@attrs.frozen
class Operations:
    """Runs the operations of in-tree plugins."""

    plugins: tuple[InTreePlugin, ...]
    options: PVControllerOptions

    def routine(self) -> Reconciler:
        """Return the routine that runs them."""
        # The workers ask for operations; no change of an object does.
        return Reconciler(
            OPERATIONS, lambda *_change: (), self.run, self.refused, self.done, Backoff.every(SAVE_INTERVAL)
        )

    def run(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Run one operation, as far as its next write."""
        unsaved: UnsavedVolume | None = ctx.note("unsaved", cause)
        if unsaved is not None:
            return (unsaved.write,)
        parts = re.fullmatch(r"(provision|delete|recycle)-(.*)\[(.*)\]", cause)
        assert parts is not None
        verb, name, uid = parts.groups()
        key = Key(CLAIM, *name.split("/")) if verb == "provision" else Key(VOLUME, "", name)
        subject = cache_of(ctx).at(key)
        if subject is None or subject.metadata.uid != uid:
            return ()
        plan = PlanBuilder(ctx, SOURCE)
        if verb == "provision":
            self._provision(plan, cause, subject)
        elif verb == "delete":
            self._delete(plan, cause, subject)
        else:
            self._recycle(plan, subject)
        if not plan.writes:
            self._succeed(ctx, cause)
        return plan.writes

    def done(self, ctx: TurnContext, cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        """Record what was written in the mutation cache, and report it."""
        if outcome.stored is not None and outcome.changed:
            record_written(ctx, outcome.stored)
        ctx.remember("unsaved", cause, None)
        if last:
            self._succeed(ctx, cause)
        report_outcome(ctx, outcome)

    def refused(self, ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
        """Try again to save a provisioned volume; any other refusal ends the operation."""
        write = outcome.write
        unsaved: UnsavedVolume | None = ctx.note("unsaved", cause)
        if write.verb == "create" and isinstance(write, PlannedWrite) and outcome.reason != "AlreadyExists":
            tries = unsaved.tries + 1 if unsaved is not None else 1
            if tries < SAVE_ATTEMPTS:
                ctx.remember("unsaved", cause, UnsavedVolume(write, tries))
                return
            report_outcome(ctx, outcome)
            self._clean_up(ctx, write)  # Kubernetes does not count this as a failure of the operation
        elif write.verb == "create":
            assert isinstance(write, PlannedWrite)
            report_outcome(ctx, CommittedWrite(write, write.new))  # it had been saved after all
        else:
            report_outcome(ctx, outcome)
            self._back_off(ctx, cause)
        ctx.remember("unsaved", cause, None)
        ctx.cancel_wake_up(cause)

    @staticmethod
    def _succeed(ctx: TurnContext, cause: str) -> None:
        """Forget the failures of an operation that has ended, unless it has just failed."""
        if not is_backing_off(ctx, cause):
            forget_failures(ctx, cause)

    def _back_off(self, ctx: TurnContext, cause: str) -> None:
        if self.options.backs_off_after(cause):
            back_off_operation(ctx, cause)

    def _provision(self, plan: PlanBuilder, cause: str, claim: PersistentVolumeClaim) -> None:
        """Provision a volume for a claim, with Kubernetes' message at each step that may fail, in its order."""
        ctx, options = plan.ctx, self.options
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", class_of_claim(claim))
        if storage_class is None:
            return
        plugin = next((plugin for plugin in self.plugins if plugin.name == storage_class.provisioner), None)
        if plugin is None:
            return
        has_source = "dataSource" in claim.spec.rest or "dataSourceRef" in claim.spec.rest
        if has_source and options.messages.data_source:
            self._fail_claim(plan, cause, claim, options.messages.data_source.format(plugin=plugin.name))
            return
        if claim.metadata.annotations.get(options.provisioner_keys[0]) != plugin.name:
            annotations = claim.metadata.annotations.merged(dict.fromkeys(options.provisioner_keys, plugin.name))
            words = f"PV controller annotates {reference_of(claim)} with its provisioner {plugin.name}"
            plan.update(claim, evolve_parts(claim, metadata={"annotations": annotations}), words)
            plan.enqueue(OPERATIONS, cause)
            return
        if ctx.get_live(Key(VOLUME, "", f"pvc-{claim.metadata.uid}")) is not None:
            return  # an earlier operation has provisioned it
        node = selected_node(claim) if options.delayed_provisioning else ""
        if why := _obstacle(ctx, storage_class, plugin, node):
            self._fail_claim(plan, cause, claim, why)
            return
        allowed = storage_class.allowed_topologies if options.delayed_provisioning else ()
        if error := self.make_storage(plugin, node, allowed):
            message = f'Failed to provision volume with StorageClass "{storage_class.metadata.name}": {error}'
            self._remove_selected_node(plan, cause, claim, message)
            return
        self._save(plan, claim, self._new_volume(claim, storage_class, plugin), plugin)

    def make_storage(self, plugin: InTreePlugin, node: str, allowed: Sequence[TopologySelectorTerm]) -> str:
        """Have a plugin make storage for a selected node, within the allowed topologies; return its error, or ""."""
        return plugin.fails.get("provision", "")

    def _fail_claim(self, plan: PlanBuilder, cause: str, claim: PersistentVolumeClaim, message: str) -> None:
        plan.event(claim, "Warning", "ProvisioningFailed", message)
        plan.describe(f"PV controller cannot provision a volume for {reference_of(claim)}: {message}")
        self._back_off(plan.ctx, cause)

    def _remove_selected_node(self, plan: PlanBuilder, cause: str, claim: PersistentVolumeClaim, message: str) -> None:
        """Provisioning failed: remove the selected node, so that the scheduler may choose another (S0)."""
        failed = PlannedEvent(key_of(claim), "Warning", "ProvisioningFailed", message, SOURCE)
        words = f"PV controller cannot provision a volume and removes the selected node of {reference_of(claim)}"
        before = len(plan.writes)
        plan.update(claim, with_selected_node(claim, ""), words, on_failure=(failed,))
        plan.event(claim, "Warning", "ProvisioningFailed", message)
        if len(plan.writes) == before:
            plan.describe(f"PV controller cannot provision a volume for {reference_of(claim)}: {message}")
        self._back_off(plan.ctx, cause)

    @staticmethod
    def _save(plan: PlanBuilder, claim: PersistentVolumeClaim, volume: PersistentVolume, plugin: InTreePlugin) -> None:
        failed = f"Error creating provisioned PV object for claim {claim_key(claim)}: {{error}}. Deleting the volume."
        name = volume.metadata.name
        plan.create(
            volume,
            f"PV controller creates volume {name} with plugin {plugin.name}, reserved for {claim.metadata.name}",
            on_failure=(PlannedEvent(key_of(claim), "Warning", "ProvisioningFailed", failed, SOURCE),),
        )
        message = f"Successfully provisioned volume {name} using {plugin.name}"
        plan.event(claim, "Normal", "ProvisioningSucceeded", message)

    def _clean_up(self, ctx: TurnContext, write: PlannedWrite) -> None:
        """Delete storage whose volume could not be saved; each try looks for the finalizer of the volume, and fails."""
        volume: PersistentVolume = write.new
        plugin = self._by_name(volume.metadata.annotations[PROVISIONED_BY])
        why = plugin.fails.get("delete", "")
        if not why and self.options.in_tree_finalizer:  # looked for on the stored volume, which there is none of
            for _ in range(SAVE_ATTEMPTS):
                ctx.get_live(key_of(volume))
            why = f'persistentvolumes "{volume.metadata.name}" not found'
        ref = volume.spec.claim_ref
        assert ref is not None
        claim = ctx.sim.log.objects.get(Key(CLAIM, ref.namespace, ref.name))
        if why and claim is not None:
            message = f"Error cleaning provisioned volume for claim {claim_ref_key(ref)}: {why}."
            ctx.event(claim, "Warning", "ProvisioningCleanupFailed", f"{message} Please delete manually.", SOURCE)

    def _new_volume(
        self, claim: PersistentVolumeClaim, storage_class: StorageClass, plugin: InTreePlugin
    ) -> PersistentVolume:
        """Return the volume that a plugin provisions for a claim: bound to it from the start."""
        policy, finalizer = storage_class.reclaim_policy or "Delete", self.options.in_tree_finalizer
        return PersistentVolume(
            metadata=ObjectMeta(
                name=f"pvc-{claim.metadata.uid}",
                annotations=Frozen({BOUND_BY_CONTROLLER: "yes", PROVISIONED_BY: plugin.name}),
                finalizers=(finalizer,) if finalizer and policy == "Delete" else (),
            ),
            spec=PersistentVolumeSpec(
                capacity=Frozen({"storage": claim.spec.resources.requests.get("storage", "0")}),
                access_modes=claim.spec.access_modes,
                claim_ref=claim_ref_of(claim),
                persistent_volume_reclaim_policy=policy,
                storage_class_name=class_of_claim(claim),
                rest=Frozen({plugin.source: Frozen({"path": f"/tmp/hostpath_pv/{claim.metadata.uid}"})}),  # noqa: S108
            ),
            status=PersistentVolumeStatus(phase=self.options.provisioned_phase),
        )

    def _delete(self, plan: PlanBuilder, cause: str, volume: PersistentVolume) -> None:
        """Delete a released volume with its in-tree plugin; an external driver deletes what it has provisioned."""
        ctx, options = plan.ctx, self.options
        if not options.finds_plugin_first and not self._is_to_delete(ctx, volume):
            return
        try:
            plugin = self._deleter(volume)
        except NoPluginError as why:
            self._fail_delete(plan, cause, volume, str(why))
            return
        if plugin is None or (options.finds_plugin_first and not self._is_to_delete(ctx, volume)):
            return
        if "newDeleter" in plugin.fails:
            words, error = options.messages.deleter_not_created, plugin.fails["newDeleter"]
            self._fail_delete(plan, cause, volume, words.format(volume=volume.metadata.name, error=error))
        elif "deleteInUse" in plugin.fails:
            plan.event(volume, "Normal", "VolumeDelete", plugin.fails["deleteInUse"])
            self._back_off(ctx, cause)
        elif "delete" in plugin.fails:
            self._fail_delete(plan, cause, volume, plugin.fails["delete"])
        else:
            if options.in_tree_finalizer:
                current: PersistentVolume = ctx.get_live(key_of(volume))
                freed = without_finalizers(current, options.in_tree_finalizer)
                plan.update(current, freed, f"PV controller removes its finalizer from {reference_of(volume)}")
            plan.delete(volume, f"PV controller deletes {reference_of(volume)}")

    def _fail_delete(self, plan: PlanBuilder, cause: str, volume: PersistentVolume, message: str) -> None:
        self.options.writes.fail_volume(plan, volume, "VolumeFailedDelete", message)
        self._back_off(plan.ctx, cause)

    def _recycle(self, plan: PlanBuilder, volume: PersistentVolume) -> None:
        """Wipe a released volume and make it Available; after a failure the next sync tries again."""
        ctx, writes = plan.ctx, self.options.writes
        current: PersistentVolume | None = ctx.get_live(key_of(volume))
        if current is None or not self._is_released(ctx, current):
            return
        ref = current.spec.claim_ref
        assert ref is not None
        if users := pods_of(ctx, claim_ref_key(ref)):
            names = ",".join(f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}" for pod in users)
            plan.event(volume, "Normal", "VolumeFailedRecycle", f"Volume is used by pods: {names}")
            return
        plugin = next((p for p in self.plugins if p.recycles and p.source in volume.spec.rest), None)
        if plugin is None:
            writes.fail_volume(plan, volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
        elif "recycle" in plugin.fails:
            writes.fail_volume(plan, volume, "VolumeFailedRecycle", f"Recycle failed: {plugin.fails['recycle']}")
        else:
            plan.event(volume, "Normal", "VolumeRecycled", "Volume recycled")
            writes.unbind(plan, current, "it was recycled")

    def _deleter(self, volume: PersistentVolume) -> InTreePlugin | None:
        """Return the plugin that deletes a volume: its provisioner, else that of its source; None: an external driver.

        Raises:
            NoPluginError: there is none, or it cannot delete.
        """
        provisioner = volume.metadata.annotations.get(PROVISIONED_BY, "")
        if provisioner:
            if not provisioner.startswith("kubernetes.io/"):
                return None
            plugin = self._by_name(provisioner)
            if not plugin.deletes:
                raise NoPluginError("no deletable volume plugin matched")
            return plugin
        if not self.options.driven_sources.isdisjoint(volume.spec.rest):
            return None
        by_source = next((plugin for plugin in self.plugins if plugin.source in volume.spec.rest), None)
        if by_source is None or not by_source.deletes:
            why = "no volume plugin matched" if by_source is None else "no deletable volume plugin matched"
            raise NoPluginError(self.options.messages.no_deleter.format(volume=volume.metadata.name, why=why))
        return by_source

    def _by_name(self, name: str) -> InTreePlugin:
        for plugin in self.plugins:
            if plugin.name == name:
                return plugin
        raise NoPluginError(self.options.messages.unknown_plugin.format(plugin=name))

    def _is_to_delete(self, ctx: TurnContext, volume: PersistentVolume) -> bool:
        """Say whether the API server still has a volume, released and not being deleted, if that counts."""
        stored: PersistentVolume | None = ctx.get_live(key_of(volume))
        if stored is None or (stored.metadata.deletion_timestamp is not None and not self.options.deletes_terminating):
            return False
        return self._is_released(ctx, stored)

    @staticmethod
    def _is_released(ctx: TurnContext, volume: PersistentVolume) -> bool:
        """Say whether a volume's claim is gone, is another one of its name, or is bound to another volume."""
        ref = volume.spec.claim_ref
        if ref is None or not ref.uid:
            return False
        claim = cache_of(ctx).at(Key(CLAIM, ref.namespace or "default", ref.name))
        if claim is None or claim.metadata.uid != ref.uid:
            return True
        return bool(claim.spec.volume_name) and claim.spec.volume_name != volume.metadata.name


def _obstacle(ctx: TurnContext, storage_class: StorageClass, plugin: InTreePlugin, node: str) -> str:
    """Return why a plugin cannot provision for a class and a selected node ("": none), or ""."""
    if storage_class.mount_options and not plugin.mount_options:
        named = f'StorageClass "{storage_class.metadata.name}" has mount options'
        options = " ".join(storage_class.mount_options)
        return f"Mount options are not supported by the provisioner but {named} [{options}]"
    if "newProvisioner" in plugin.fails:
        return f"Failed to create provisioner: {plugin.fails['newProvisioner']}"
    if node and ctx.seen.get("Node", node) is None:
        return f'Failed to get target node: node "{node}" not found'
    return ""

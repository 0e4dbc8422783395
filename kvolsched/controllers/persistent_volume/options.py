"""Options of the PV controller and the names it is known by: values and small functions, no decision.

`UPSTREAM` is v1.36.2, `DESIGN` is 1.11. Of in-tree plugins, an annotation names the CSI driver that acts for one, and a
finalizer keeps a volume until its plugin has deleted the storage; 1.11 had neither.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import attrs

from ...api import volumes
from ...api.dials import PERIOD, SWITCH, dial
from ...api.kinds.meta import EMPTY, Frozen, evolve_parts
from ...api.kinds.pod import Pod
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import (
    BETA_STORAGE_PROVISIONER,
    PROVISIONED_BY,
    STORAGE_PROVISIONER,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ...api.volumes import DESIGN as DESIGN_RULES
from ...api.volumes import UPSTREAM as UPSTREAM_RULES
from ...world.plan import PlanBuilder, reference_of
from .binding import BindingWrites, ClaimStatus, basic_claim_status, claim_status_with_attributes

MIGRATED_TO = "pv.kubernetes.io/migrated-to"
FINALIZER = "kubernetes.io/pv-controller"
FAILED = "persistent Volume Controller can't anneal migration annotations: {error}"
FAILED_VOLUME = "persistent Volume Controller can't anneal migration annotations or finalizer: {error}"


@attrs.frozen
class CSIMigration:
    """The marks of v1.36.2; `drivers` maps an in-tree plugin to the CSI driver that acts for it."""

    drivers: Mapping[str, str]

    def annotated(self, annotations: Frozen, plugin: str | None) -> Frozen:
        """Return annotations that name the plugin's driver, or none if no driver acts for it."""
        if plugin is None:
            return annotations
        driver, present = self.drivers.get(plugin), annotations.get(MIGRATED_TO)
        if driver == present or (driver is None and not present):
            return annotations
        return annotations.merged({MIGRATED_TO: driver})

    def mark_claim(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Annotate a claim with the driver that acts for its provisioner."""
        known = claim.metadata.annotations
        annotations = self.annotated(known, known.get(STORAGE_PROVISIONER) or known.get(BETA_STORAGE_PROVISIONER))
        if annotations is known:
            return claim
        new = evolve_parts(claim, metadata={"annotations": annotations})
        words = f"PV controller updates the migration annotation of {reference_of(claim)}"
        plan.update(claim, new, words, refusal_words=FAILED)
        return new

    def mark_volume(self, plan: PlanBuilder, volume: PersistentVolume) -> PersistentVolume:
        """Annotate a volume with the driver of its plugin; guard it if an in-tree plugin is to delete it."""
        meta = volume.metadata
        plugin = meta.annotations.get(PROVISIONED_BY)
        if plugin is None:
            return volume
        finalizers = self._finalizers(volume, plugin) if plugin.startswith("kubernetes.io/") else meta.finalizers
        annotations = self.annotated(meta.annotations, plugin)
        if annotations is meta.annotations and finalizers == meta.finalizers:
            return volume
        new = evolve_parts(volume, metadata={"annotations": annotations, "finalizers": finalizers})
        words = f"PV controller updates the migration annotation and finalizer of {reference_of(volume)}"
        plan.update(volume, new, words, refusal_words=FAILED_VOLUME)
        return new

    def _finalizers(self, volume: PersistentVolume, plugin: str) -> tuple[str, ...]:
        finalizers = volume.metadata.finalizers
        if plugin in self.drivers:
            return tuple(name for name in finalizers if name != FINALIZER)
        if FINALIZER in finalizers or volume.spec.persistent_volume_reclaim_policy != "Delete":
            return finalizers
        return (*finalizers, FINALIZER)


@attrs.frozen
class NoMigration:
    """1.11: in-tree plugins do their own work, and nothing is marked."""

    drivers: ClassVar[Mapping[str, str]] = EMPTY

    def annotated(self, annotations: Frozen, plugin: str | None) -> Frozen:
        return annotations

    def mark_claim(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        return claim

    def mark_volume(self, plan: PlanBuilder, volume: PersistentVolume) -> PersistentVolume:
        return volume


Migration = CSIMigration | NoMigration


Waiting = Callable[[Sequence[Pod]], tuple[str, str]]


def waiting_for_consumer(_pods: Sequence[Pod]) -> tuple[str, str]:
    """Return (reason, message) for a claim that waits for a pod; 1.11 names none."""
    return "WaitForFirstConsumer", "waiting for first consumer to be created before binding"


def waiting_for_pods(pods: Sequence[Pod]) -> tuple[str, str]:
    """Return (reason, message) for a claim that waits for these pods to be scheduled, or for a first one (v1.36.2)."""
    if not pods:
        return waiting_for_consumer(pods)
    names = ",".join(pod.metadata.name for pod in pods)
    return "WaitForPodScheduled", f"waiting for pod{'s' if len(pods) > 1 else ''} {names} to be scheduled"


@attrs.frozen(kw_only=True)
class PVControllerMessages:
    """Templates of the messages of one release, with the names of their fields.

    Args:
        waiting: reason and message for a claim that waits for a pod, by the unscheduled pods that use it.
        external_provisioner: Event on a claim that waits for an external provisioner (`{provisioner}`).
        unknown_plugin: no in-tree plugin has this name (`{plugin}`).
        no_deleter: nobody deletes a volume that no provisioner made (`{volume}`, `{why}`).
        deleter_not_created: a plugin cannot delete now (`{volume}`, `{error}`).
        misbound: error of a claim that was bound to a volume of another claim (`{claim}`, `{volume}`, `{rival}`).
        volume_taken: Event on a claim whose volume is bound to another claim (`{volume}`).
        claim_not_saved: Event on a claim whose provisioner could not be written (`{error}`).
        data_source: error of a claim with a data source that an in-tree plugin should provision (`{plugin}`).
    """

    waiting: Waiting
    external_provisioner: str
    unknown_plugin: str
    no_deleter: str
    deleter_not_created: str
    misbound: str
    volume_taken: str = ""
    claim_not_saved: str = ""
    data_source: str = ""


MESSAGES = PVControllerMessages(
    waiting=waiting_for_pods,
    external_provisioner=(
        "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually "
        "by the system administrator. If volume creation is delayed, please verify that the provisioner is "
        "running and correctly registered."
    ),
    unknown_plugin="no volume plugin matched name: {plugin}",
    no_deleter='error getting deleter volume plugin for volume "{volume}": {why}',
    deleter_not_created='failed to create deleter for volume "{volume}": {error}',
    misbound='invalid binding of claim "{claim}" to volume "{volume}": volume already claimed by "{rival}"',
    volume_taken='volume "{volume}" already bound to a different claim.',
    claim_not_saved="Error saving claim: {error}",
    data_source='plugin "{plugin}" is not a CSI plugin. Only CSI plugin can provision a claim with a datasource',
)
MESSAGES_1_11 = PVControllerMessages(
    waiting=waiting_for_consumer,
    external_provisioner=(
        'waiting for a volume to be created, either by external provisioner "{provisioner}" or manually '
        "created by system administrator"
    ),
    unknown_plugin="no volume plugin matched",
    no_deleter='Error getting deleter volume plugin for volume "{volume}": {why}',
    deleter_not_created='Failed to create deleter for volume "{volume}": {error}',
    misbound='Invalid binding of claim "{claim}" to volume "{volume}": volume already claimed by "{rival}"',
)


VolumeCheck = Callable[[PersistentVolume, PersistentVolumeClaim], str]


def deletion_check(volume: PersistentVolume, _claim: PersistentVolumeClaim) -> str:
    """Reject a volume that is being deleted."""
    deleted = volume.metadata.deletion_timestamp is not None
    return f'the volume is marked for deletion "{volume.metadata.name}"' if deleted else ""


def size_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume that is smaller than the claim's request."""
    return "requested PV is too small" if volumes.capacity(volume) < volumes.requested(claim) else ""


def class_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume of another class."""
    return "storageClassName does not match" if volumes.class_of_volume(volume) != volumes.class_of_claim(claim) else ""


def class_check_1_11(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume of another class, in the spelling of 1.11."""
    return "storageClasseName does not match" if class_check(volume, claim) else ""


def attributes_class_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume of another VolumeAttributesClass."""
    asked, found = (obj.spec.volume_attributes_class_name or "" for obj in (claim, volume))
    return "volumeAttributesClassName does not match" if asked != found else ""


def volume_mode_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a block volume for a file system, and the other way round."""
    return "incompatible volumeMode" if volumes.mode(volume) != volumes.mode(claim) else ""


def access_mode_check(volume: PersistentVolume, claim: PersistentVolumeClaim) -> str:
    """Reject a volume that lacks one of the claim's access modes."""
    return "" if volumes.has_access_modes(volume, claim) else "incompatible accessMode"


CHECKS: tuple[VolumeCheck, ...] = (
    deletion_check, size_check, class_check, attributes_class_check, volume_mode_check, access_mode_check,
)  # fmt: skip
CHECKS_1_11: tuple[VolumeCheck, ...] = (size_check, class_check_1_11, access_mode_check)


NAME = "persistent-volume-binder"
SOURCE = "persistentvolume-controller"
CLAIMS = "persistentvolume claims"
VOLUMES = "persistentvolume volumes"
OPERATIONS = "persistentvolume operations"
CLAIM, VOLUME = "PersistentVolumeClaim", "PersistentVolume"


def class_delays(storage_class: StorageClass, *, selected: bool) -> bool:
    """Say whether claims of a class wait for a pod: also once a node is selected (v1.36.2)."""
    return storage_class.delayed


def class_delays_until_selected(storage_class: StorageClass, *, selected: bool) -> bool:
    """Say whether claims of a class wait for a pod: a selected node ends it, and any static volume will do (1.11)."""
    return storage_class.delayed and not selected


def every_failure(_operation: str) -> bool:
    """Back off after every operation that failed (v1.36.2)."""
    return True


def failed_reclaim(operation: str) -> bool:
    """Back off after a failed delete or recycle; failed provisioning is tried again at once (1.11)."""
    return not operation.startswith("provision-")


@attrs.frozen(kw_only=True)
class PVControllerOptions:
    """The dials of the PV controller, and what sets of rules alone decide of it.

    Args:
        rules: how claims and volumes match.
        messages: the messages that releases spell differently.
        watches: kinds that the controller watches.
        volume_checks: why a volume that a claim names cannot serve it.
        claim_status: how a claim's status follows its phase and volume.
        migration: which CSI drivers act for in-tree plugins, and how objects are marked for them.
        is_delayed: whether claims of a class wait for a pod, before and after a node is selected.
        backs_off_after: which failed operations are not run again at once.
        finds_plugin_first: the plugin is looked up before an operation starts (v1.36.2), else within it (1.11).
        driven_sources: sources of volumes that are left to their driver, whoever made them.
        deletes_terminating: a released volume is deleted by its plugin although somebody deletes it already.
        in_tree_finalizer: finalizer of volumes that in-tree plugins provision with the policy Delete; "": none.
        provisioned_phase: phase of volumes that in-tree plugins provision.
        provisioner_keys: annotations that hand a claim to an external provisioner; the first decides.
        in_tree_plugins: plugins of the controller that provision: run as operations if there is a routine for
            them, else left to a component of the plugin's name.
    """

    rules: volumes.VolumeRules = UPSTREAM_RULES
    messages: PVControllerMessages = MESSAGES
    watches: tuple[str, ...] = (CLAIM, VOLUME, "StorageClass", "Pod")
    volume_checks: tuple[VolumeCheck, ...] = CHECKS
    claim_status: ClaimStatus = claim_status_with_attributes
    migration: Migration = CSIMigration(volumes.MIGRATED)
    is_delayed: Callable[..., bool] = class_delays
    backs_off_after: Callable[[str], bool] = every_failure
    finds_plugin_first: bool = True
    driven_sources: frozenset[str] = frozenset({"csi"})
    deletes_terminating: bool = True
    in_tree_finalizer: str = FINALIZER
    provisioned_phase: str = "Bound"
    reread_claim_before_reclaim: bool = dial(
        True, SWITCH, "whether it asks the API server for a claim before its volume is released; else one that has not "
        "yet seen the claim of a prebound volume takes it for deleted (kubernetes#66287)",
    )
    delays: bool = dial(
        True, SWITCH, "whether claims of a class that waits do wait for a pod",
        "S0, PV Controller Changes: such claims are skipped, to come through the scheduler; Feature Gates",
    )
    delayed_provisioning: bool = dial(
        True, SWITCH, "whether the scheduler's selected node counts",
        "S0, PV Controller Changes: the annotation is the signal to begin; Feature Gates",
    )
    provisioner_keys: tuple[str, ...] = (STORAGE_PROVISIONER, BETA_STORAGE_PROVISIONER)
    in_tree_plugins: frozenset[str] = frozenset()
    assign_default_class: bool = dial(
        True, SWITCH, "whether a claim without a class gets the default class once there is one"
    )
    resync: float = dial(
        15.0, PERIOD, "after which an unfinished claim is looked at again",
        "S0, Bind: the PV controller has a high resync frequency (a TODO asks for one in the scheduler)",
    )
    ticks: bool = dial(
        False, SWITCH, "whether every Pending claim is looked at at every tick of the resync, as Kubernetes does, and "
        "its Events are counted up; else those alone for which something has changed",
    )
    rolls_back: bool = dial(
        False, SWITCH, "whether claims are marked clean when they are bound, and unbound if the scheduler asks",
        "S0, Binding multiple PVCs in one transaction",
    )
    rolls_back_dirty: bool = dial(
        False, SWITCH, "whether claims that are not clean are unbound, too",
        "S0, Binding multiple PVCs in one transaction: there could be user's data on the volumes",
    )

    @property
    def writes(self) -> BindingWrites:
        """The writes that bind and unbind under these options."""
        return BindingWrites(self.claim_status, self.rolls_back)


UPSTREAM = PVControllerOptions()
DESIGN = PVControllerOptions(
    rules=DESIGN_RULES, messages=MESSAGES_1_11, watches=(CLAIM, VOLUME, "StorageClass"),
    volume_checks=CHECKS_1_11, claim_status=basic_claim_status, migration=NoMigration(),
    is_delayed=class_delays_until_selected, backs_off_after=failed_reclaim, finds_plugin_first=False,
    driven_sources=frozenset(), deletes_terminating=False, in_tree_finalizer="", provisioned_phase="",
    reread_claim_before_reclaim=False,
    provisioner_keys=(BETA_STORAGE_PROVISIONER,), in_tree_plugins=frozenset(volumes.MIGRATED),
    assign_default_class=False
)

"""Options of the PV controller and the names it is known by: values and small functions, no decision.

`UPSTREAM` is v1.36.2, `DESIGN` is 1.11.
"""

from collections.abc import Callable

import attrs

from ...api.dials import PERIOD, SWITCH, dial
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER
from ...api.volumes import DESIGN as DESIGN_RULES
from ...api.volumes import MIGRATED, VolumeRules
from ...api.volumes import UPSTREAM as UPSTREAM_RULES
from . import messages, volume_checks
from .binding import BindingWrites, ClaimStatus, basic_claim_status, claim_status_with_attributes
from .messages import PVControllerMessages
from .migration import FINALIZER, CSIMigration, Migration, NoMigration
from .volume_checks import VolumeCheck

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

    rules: VolumeRules = UPSTREAM_RULES
    messages: PVControllerMessages = messages.V1_36
    watches: tuple[str, ...] = (CLAIM, VOLUME, "StorageClass", "Pod")
    volume_checks: tuple[VolumeCheck, ...] = volume_checks.V1_36
    claim_status: ClaimStatus = claim_status_with_attributes
    migration: Migration = CSIMigration(MIGRATED)
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
    rules=DESIGN_RULES, messages=messages.V1_11, watches=(CLAIM, VOLUME, "StorageClass"),
    volume_checks=volume_checks.V1_11, claim_status=basic_claim_status, migration=NoMigration(),
    is_delayed=class_delays_until_selected, backs_off_after=failed_reclaim, finds_plugin_first=False,
    driven_sources=frozenset(), deletes_terminating=False, in_tree_finalizer="", provisioned_phase="",
    reread_claim_before_reclaim=False,
    provisioner_keys=(BETA_STORAGE_PROVISIONER,), in_tree_plugins=frozenset(MIGRATED), assign_default_class=False
)

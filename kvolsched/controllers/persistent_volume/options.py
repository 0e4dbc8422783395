"""What may be set about the PV controller, and the names it is known by: values only, no decision."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...api.kinds.meta import EMPTY
from ...api.kinds.volume import BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER
from ...volumes import DESIGN as DESIGN_RULES
from ...volumes import MIGRATED
from ...volumes import UPSTREAM as RULES
from ...volumes import VolumeRules as Rules

NAME = "persistent-volume-binder"
SOURCE = "persistentvolume-controller"
CLAIMS = "persistentvolume claims"
VOLUMES = "persistentvolume volumes"
OPERATIONS = "persistentvolume operations"
CLAIM, VOLUME = "PersistentVolumeClaim", "PersistentVolume"
MIGRATED_TO = "pv.kubernetes.io/migrated-to"


@attrs.frozen(kw_only=True)
class PVControllerOptions:
    """What a revision, a feature gate or a scenario may set.

    Args:
        rules: how claims and volumes match.
        today: the sentences and refusals of v1.36.2; otherwise those of 1.11.
        reread_claim_before_reclaim: ask the API server for a claim before its volume is released. Without it
            a controller that has not yet seen the claim of a prebound volume takes it for deleted
            (kubernetes#66287).
        selected_node_switches_delay_off: a claim handed to provisioning may be bound to any static volume.
        delays: the gate by which claims of a delayed class wait for a pod (VolumeScheduling).
        delayed_provisioning: the gate by which the scheduler's selected node is heeded.
        provisioner_keys: annotations that hand a claim to an external provisioner; the first decides.
        migrated: in-tree plugin -> the CSI driver that acts for it.
        in_tree: plugins of the controller's own that provision: run as operations if there is a routine for
            them, else left to a component of the plugin's name.
        assign_default_class: a class-less claim gets the default class when there is one.
        resync: seconds of the period after which an unfinished claim is looked at again.
        ticks: look at every Pending claim at every tick of the resync, as Kubernetes does: its Events are counted up,
            and say so if a pod has come. Without it only at those for which something has changed.
        rolls_back: claims are marked clean when they are bound, and unbound again where the scheduler asks (S0).
    """

    rules: Rules = RULES
    today: bool = True
    reread_claim_before_reclaim: bool = True
    selected_node_switches_delay_off: bool = False
    delays: bool = True
    delayed_provisioning: bool = True
    provisioner_keys: tuple[str, ...] = (STORAGE_PROVISIONER, BETA_STORAGE_PROVISIONER)
    migrated: Mapping[str, str] = MIGRATED
    in_tree: frozenset[str] = frozenset()
    assign_default_class: bool = True
    resync: float = 15.0
    ticks: bool = False
    rolls_back: bool = False


UPSTREAM = PVControllerOptions()
DESIGN = PVControllerOptions(
    rules=DESIGN_RULES,
    today=False,
    reread_claim_before_reclaim=False,
    selected_node_switches_delay_off=True,
    provisioner_keys=(BETA_STORAGE_PROVISIONER,),
    migrated=EMPTY,
    in_tree=frozenset(MIGRATED),
    assign_default_class=False,
)

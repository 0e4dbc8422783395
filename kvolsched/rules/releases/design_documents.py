"""The design documents, and Kubernetes 1.11 and 1.16 where they are silent, in words as in order.

Volume binding comes before pod affinity, spreading just before it.
"""

from ...api import volumes
from ...controllers import (
    admission,
    daemon_set,
    ephemeral_volume,
    node_lifecycle,
    persistent_volume,
    provisioner,
    stateful_set,
)
from ...scheduler.framework.extension_points import EnabledPlugin, EventWording
from ...scheduler.framework.profile import Profile
from ...scheduler.framework.verdict import Code, Reason
from ...scheduler.loop.binding_flow import TwoPasses
from ...scheduler.loop.evictor import SerialEvictor
from ...scheduler.plugins.default_preemption import PREEMPTION_1_11
from ...scheduler.plugins.inter_pod_affinity import INTER_POD_AFFINITY_1_11
from ...scheduler.plugins.node_affinity import NodeAffinity, any_node, any_preference
from ...scheduler.plugins.node_name import NodeName
from ...scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation, score_balance
from ...scheduler.plugins.node_resources_fit import NodeResourcesFit, is_any_asked_for
from ...scheduler.plugins.node_unschedulable import NodeUnschedulable
from ...scheduler.plugins.node_volume_limits import InTreeLimits, NodeVolumeLimits, bound_volumes
from ...scheduler.plugins.pod_topology_spread.releases import EVEN_PODS_SPREAD
from ...scheduler.plugins.taint_toleration import TaintToleration
from ...scheduler.plugins.volume_binding.releases import CHECK_VOLUME_BINDING
from ...scheduler.plugins.volume_restrictions import NO_DISK_CONFLICT
from ...scheduler.plugins.volume_zone import VolumeZone, ignore_claims
from ..revision import OTHER_CONTROLLERS, Revision, volume_binding_of

STANDS_FOR = ("the design documents", "and Kubernetes 1.11 and 1.16 where they are silent")
MINORS = (11, 16)


def design_profile() -> Profile:
    """Return the plugins of the design documents, in the order and with the words of the releases that shipped them."""
    fit = NodeResourcesFit(too_many_pods=Reason(0, "Insufficient pods", Code.UNSCHEDULABLE),
                           is_compared=is_any_asked_for)
    return Profile(
        "design",
        (
            EnabledPlugin(NodeUnschedulable()),
            EnabledPlugin(fit, 1, "general"),
            EnabledPlugin(NodeName(mismatched=Reason(0, "node(s) didn't match the requested hostname")),
                          group="general"),
            EnabledPlugin(NodeAffinity(unmatched=Reason(0, "node(s) didn't match node selector"), restriction=any_node,
                                       preference_faults=any_preference), 1, "general"),
            EnabledPlugin(NO_DISK_CONFLICT),
            EnabledPlugin(TaintToleration(untolerated=Reason(0, "node(s) had taints that the pod didn't tolerate")), 1),
            EnabledPlugin(NodeVolumeLimits(bound_volumes, InTreeLimits(), document_name="MaxPDVolumeCount")),
            EnabledPlugin(CHECK_VOLUME_BINDING, 1),
            EnabledPlugin(VolumeZone(claim_error=ignore_claims, document_name="NoVolumeZoneConflict")),
            EnabledPlugin(EVEN_PODS_SPREAD, 1),
            EnabledPlugin(INTER_POD_AFFINITY_1_11, 0),  # preferred terms do not rank
            EnabledPlugin(PREEMPTION_1_11),
            EnabledPlugin(NodeResourcesBalancedAllocation(score_of=score_balance), 1),
        ),
        EventWording(prefilter_alone=True, counts_errors=True),
    )


def design() -> Revision:
    """Return the rules of the design documents, and of 1.11 and 1.16 where they are silent.

    >>> design().matured("alpha").name
    'design (alpha)'
    """
    profile = design_profile()
    return Revision(
        called="design",
        profile=profile,
        flow=TwoPasses(volume_binding_of(profile), volumes.DESIGN),
        binder=persistent_volume.DESIGN,
        provisioning=provisioner.DESIGN,
        evictor=SerialEvictor(),
        zone_labels=False,
        pops_backoff=False,
        stateful_sets=stateful_set.StatefulSetOptions(revisions=False),
        daemon_sets=daemon_set.DaemonSetOptions(sets_node_name=True),
        nodes=node_lifecycle.NodeLifecycleOptions(taints_by_condition=False),  # its gate is off in 1.11
        controllers=tuple(module for module in OTHER_CONTROLLERS if module is not ephemeral_volume),
        protects_in_use=False,
        admission_plugins=(admission.CLASS_ZONES,),
        relaxations=(admission.allow_inserted_requirements,),
        event_series=(),
    )

"""Kubernetes v1.36.2: its plugins in its order, which decides the reason that an event counts for a node."""

from ...api import volumes
from ...controllers import admission, persistent_volume, provisioner
from ...scheduler.framework.extension_points import EnabledPlugin, EventWording
from ...scheduler.framework.profile import Profile
from ...scheduler.loop.binding_flow import WaitInPreBind
from ...scheduler.plugins.default_preemption import DefaultPreemption
from ...scheduler.plugins.dynamic_resources import DynamicResources
from ...scheduler.plugins.image_locality import ImageLocality
from ...scheduler.plugins.inter_pod_affinity import InterPodAffinity
from ...scheduler.plugins.node_affinity import NodeAffinity
from ...scheduler.plugins.node_declared_features import NodeDeclaredFeatures
from ...scheduler.plugins.node_name import NodeName
from ...scheduler.plugins.node_ports import NodePorts
from ...scheduler.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from ...scheduler.plugins.node_resources_fit import NodeResourcesFit
from ...scheduler.plugins.node_unschedulable import NodeUnschedulable
from ...scheduler.plugins.node_volume_limits import NodeVolumeLimits
from ...scheduler.plugins.pod_topology_spread import PodTopologySpread
from ...scheduler.plugins.taint_toleration import TaintToleration
from ...scheduler.plugins.volume_binding import VolumeBinding
from ...scheduler.plugins.volume_restrictions import VolumeRestrictions
from ...scheduler.plugins.volume_zone import VolumeZone
from ..revision import Revision, volume_binding_of
from ..settings import GATES_OF_TODAY

STANDS_FOR = ("Kubernetes v1.36", "")  # and where it is silent
MINORS = (36,)  # of Kubernetes 1


def upstream_profile() -> Profile:
    """Return the plugins of kube-scheduler v1.36.2."""
    return Profile(
        "upstream",
        (
            EnabledPlugin(NodeUnschedulable()),
            EnabledPlugin(NodeName()),
            EnabledPlugin(TaintToleration(), 3),
            EnabledPlugin(NodeAffinity(), 2),
            EnabledPlugin(NodePorts()),
            EnabledPlugin(NodeResourcesFit(), 1),
            EnabledPlugin(VolumeRestrictions()),
            EnabledPlugin(NodeVolumeLimits()),
            EnabledPlugin(VolumeBinding(), 0),  # its score needs the gate StorageCapacityScoring
            EnabledPlugin(VolumeZone()),
            EnabledPlugin(PodTopologySpread(), 2),
            EnabledPlugin(InterPodAffinity(), 2),
            EnabledPlugin(DynamicResources(), 2),
            EnabledPlugin(DefaultPreemption(), 0),
            EnabledPlugin(NodeResourcesBalancedAllocation(), 1),
            EnabledPlugin(ImageLocality(), 1),
            EnabledPlugin(NodeDeclaredFeatures()),
        ),
        EventWording(after_prefilter="not found", filter_error='running "{}" filter plugin: '),
        nominated_first=True,
    )


def upstream() -> Revision:
    """Return the rules of Kubernetes v1.36.2.

    >>> upstream().name
    'upstream'
    """
    profile = upstream_profile()
    return Revision(
        called="upstream",
        profile=profile,
        flow=WaitInPreBind(volume_binding_of(profile), volumes.UPSTREAM),
        binder=persistent_volume.UPSTREAM,
        provisioning=provisioner.UPSTREAM,
        gates_of=GATES_OF_TODAY,
        unknown_fields=admission.UNKNOWN_CAPACITY,
    )

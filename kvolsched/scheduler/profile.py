"""A profile: the plugins of a revision, in order and with weights. What differs lies in the plugins' options.

Order is Kubernetes' own: a node's event reason is the first failing plugin's. `design` follows Kubernetes 1.11 and 1.16
where the documents are silent, in words as in order (volume binding before pod affinity, spreading just before it).
"""

from __future__ import annotations

from functools import cached_property

import attrs

from .extension import Enabled, Filter, PostFilter, PreFilter, Score, Vectorised, Words
from .plugins.default_preemption import DefaultPreemption
from .plugins.dynamic_resources import DynamicResources
from .plugins.image_locality import ImageLocality
from .plugins.inter_pod_affinity import InterPodAffinity
from .plugins.node_affinity import NodeAffinity
from .plugins.node_name import NodeName
from .plugins.node_ports import NodePorts
from .plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from .plugins.node_resources_fit import NodeResourcesFit
from .plugins.node_unschedulable import NodeUnschedulable
from .plugins.node_volume_limits import NodeVolumeLimits
from .plugins.pod_topology_spread import PodTopologySpread
from .plugins.taint_toleration import TaintToleration
from .plugins.volume_binding import VolumeBinding
from .plugins.volume_restrictions import VolumeRestrictions
from .plugins.volume_zone import VolumeZone
from .verdict import Code, Reason


@attrs.frozen(slots=False)
class Profile:
    """The plugins in order, and how their answers are worded."""

    name: str
    plugins: tuple[Enabled, ...]
    words: Words = Words()

    @cached_property
    def filters(self) -> tuple[Enabled, ...]:
        """The plugins that judge nodes."""
        return tuple(enabled for enabled in self.plugins if isinstance(enabled.plugin, Filter))

    @cached_property
    def prefilters(self) -> tuple[Enabled, ...]:
        """The plugins that look at the pod first."""
        return tuple(enabled for enabled in self.plugins if isinstance(enabled.plugin, PreFilter))

    @cached_property
    def scores(self) -> tuple[Enabled, ...]:
        """The plugins that rank nodes; a weight of 0 switches one off."""
        return tuple(
            enabled for enabled in self.plugins if isinstance(enabled.plugin, Score) and enabled.weight
        )

    @cached_property
    def lifted(self) -> frozenset[str]:
        """The names of the filter plugins that are a rule alone."""
        return frozenset(
            enabled.name for enabled in self.filters if not isinstance(enabled.plugin, Vectorised)
        )

    @cached_property
    def watches(self) -> tuple[str, ...]:
        """The kinds that plugins read beside those that every scheduler reads, sorted."""
        return tuple(sorted({kind for each in self.plugins for kind in getattr(each.plugin, "watches", ())}))

    @property
    def preempts(self) -> bool:
        """Whether a pod that fits nowhere may have others evicted."""
        return any(isinstance(each.plugin, PostFilter) for each in self.plugins)

    def plugin(self, name: str) -> object:
        """Return a plugin by Kubernetes' or the document's name.

        Raises:
            KeyError: the profile has no such plugin.
        """
        for enabled in self.plugins:
            if name in (enabled.name, enabled.document_name):
                return enabled.plugin
        raise KeyError(f"profile {self.name} has no plugin {name!r}")

    def with_plugin(self, plugin: object, weight: int = 1) -> Profile:
        """Return this profile with one more plugin at its end: a rule of one's own."""
        return attrs.evolve(self, plugins=(*self.plugins, Enabled(plugin, weight)))


def upstream() -> Profile:
    """Return the plugins of kube-scheduler v1.36.2."""
    return Profile(
        "upstream",
        (
            Enabled(NodeUnschedulable()),
            Enabled(NodeName()),
            Enabled(TaintToleration(), 3),
            Enabled(NodeAffinity(), 2),
            Enabled(NodePorts()),
            Enabled(NodeResourcesFit(), 1),
            Enabled(VolumeRestrictions()),
            Enabled(NodeVolumeLimits()),
            Enabled(VolumeBinding(), 0),  # its score is behind a gate that is off
            Enabled(VolumeZone()),
            Enabled(PodTopologySpread(), 2),
            Enabled(InterPodAffinity(), 2),
            Enabled(DynamicResources(), 2),
            Enabled(DefaultPreemption(), 0),
            Enabled(NodeResourcesBalancedAllocation(), 1),
            Enabled(ImageLocality(), 1),
        ),
        Words(after_prefilter="not found"),
    )


def design() -> Profile:
    """Return the design documents' plugins, with the words and the order of the releases that shipped them."""
    fit = NodeResourcesFit(
        too_many_pods=Reason(0, "Insufficient pods", Code.UNSCHEDULABLE), overcommitted_rejects=True
    )
    return Profile(
        "design",
        (
            Enabled(NodeUnschedulable()),
            Enabled(fit, 1, "general"),
            Enabled(NodeName(other=Reason(0, "node(s) didn't match the requested hostname")), 1, "general"),
            Enabled(
                NodeAffinity(unmatched=Reason(0, "node(s) didn't match node selector"), restricts=False),
                1,
                "general",
            ),
            Enabled(
                TaintToleration(untolerated=Reason(0, "node(s) had taints that the pod didn't tolerate")), 1
            ),
            Enabled(NodeVolumeLimits(counts_unbound=False, document_name="MaxPDVolumeCount")),
            Enabled(VolumeBinding.of_the_design(), 1),
            Enabled(VolumeZone(asks_first=False, document_name="NoVolumeZoneConflict")),
            Enabled(PodTopologySpread.of_the_design(), 1),
            Enabled(InterPodAffinity.of_the_design(), 1),
            Enabled(NodeResourcesBalancedAllocation(by_change=False), 1),
        ),
        Words(prefilter_alone=True, repeated=True),
    )

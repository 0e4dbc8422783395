"""The profiles: which plugins a revision enables, in which order, with which weights and options.

The order is Kubernetes': the reason that an event counts for a node is the first failing plugin's. `design_profile`
follows Kubernetes 1.11 and 1.16 where the documents are silent, in words as in order (volume binding before pod
affinity, spreading just before it).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import attrs

from .framework.card import NO_CARD, Card
from .framework.extension_points import EnabledPlugin, EventWording
from .framework.profile import Profile
from .framework.verdict import Code, Reason
from .plugins.default_preemption import DefaultPreemption
from .plugins.dynamic_resources import DynamicResources
from .plugins.image_locality import ImageLocality
from .plugins.inter_pod_affinity import INTER_POD_AFFINITY_1_11, InterPodAffinity
from .plugins.node_affinity import NodeAffinity, any_node, any_preference
from .plugins.node_declared_features import NodeDeclaredFeatures
from .plugins.node_name import NodeName
from .plugins.node_ports import NodePorts
from .plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation, score_balance
from .plugins.node_resources_fit import NodeResourcesFit, is_any_asked_for
from .plugins.node_unschedulable import NodeUnschedulable
from .plugins.node_volume_limits import NodeVolumeLimits, bound_volumes
from .plugins.pod_topology_spread import PodTopologySpread
from .plugins.pod_topology_spread.releases import EVEN_PODS_SPREAD
from .plugins.taint_toleration import TaintToleration
from .plugins.volume_binding import VolumeBinding
from .plugins.volume_binding.releases import CHECK_VOLUME_BINDING, MATCH_UNBOUND_PVCS
from .plugins.volume_node import VolumeNode
from .plugins.volume_restrictions import VolumeRestrictions
from .plugins.volume_zone import VolumeZone, ignore_claims


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


def design_profile() -> Profile:
    """Return the plugins of the design documents, in the order and with the words of the releases that shipped them."""
    fit = NodeResourcesFit(too_many_pods=Reason(0, "Insufficient pods", Code.UNSCHEDULABLE),
                           is_compared=is_any_asked_for)
    return Profile(
        "design",
        (
            EnabledPlugin(NodeUnschedulable()),
            EnabledPlugin(fit, 1, "general"),
            EnabledPlugin(NodeName(mismatched=Reason(0, "node(s) didn't match the requested hostname")), 1, "general"),
            EnabledPlugin(NodeAffinity(unmatched=Reason(0, "node(s) didn't match node selector"), restriction=any_node,
                                       preference_faults=any_preference), 1, "general"),
            EnabledPlugin(TaintToleration(untolerated=Reason(0, "node(s) had taints that the pod didn't tolerate")), 1),
            EnabledPlugin(NodeVolumeLimits(counted=bound_volumes, document_name="MaxPDVolumeCount")),
            EnabledPlugin(CHECK_VOLUME_BINDING, 1),
            EnabledPlugin(VolumeZone(claim_error=ignore_claims, document_name="NoVolumeZoneConflict")),
            EnabledPlugin(EVEN_PODS_SPREAD, 1),
            EnabledPlugin(INTER_POD_AFFINITY_1_11, 0),  # preferred terms do not rank
            EnabledPlugin(NodeResourcesBalancedAllocation(score_of=score_balance), 1),
        ),
        EventWording(prefilter_alone=True, counts_errors=True),
    )


def draft_profile() -> Profile:
    """Return the plugins of the early draft: S0's, with two predicates for volumes (S1, Volume Node Predicate)."""
    rules = design_profile().replacing(MATCH_UNBOUND_PVCS)
    plugins = []
    for each in rules.plugins:
        plugins.append(each)
        if each.name == VolumeZone.name:
            plugins.append(EnabledPlugin(VolumeNode()))
    return attrs.evolve(rules, name="draft", plugins=tuple(plugins))


@cache
def plugin_cards() -> Mapping[str, Card]:
    """Return the card of every plugin that ships, by the plugin's name, in the order of profiles."""
    profiles = (upstream_profile(), design_profile(), draft_profile())
    return {each.name: each.plugin.card for profile in profiles for each in profile.plugins}


def plugin_card(plugin: str) -> Card:
    """Return the card of a plugin by its name; that of a plugin of one's own says nothing."""
    return plugin_cards().get(plugin, NO_CARD)

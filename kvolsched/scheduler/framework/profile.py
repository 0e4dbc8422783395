"""A profile: the plugins of a revision, in order and with weights. What differs lies in the plugins' options.

Order is Kubernetes' own: a node's event reason is the first failing plugin's. `design` follows Kubernetes 1.11 and 1.16
where the documents are silent, in words as in order (volume binding before pod affinity, spreading just before it).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any

import attrs

from ...api.kinds.pod import PodSpec
from ..columns.snapshot import Snapshot
from ..plugins.default_preemption import DefaultPreemption
from ..plugins.dynamic_resources import DynamicResources
from ..plugins.image_locality import ImageLocality
from ..plugins.inter_pod_affinity import InterPodAffinity
from ..plugins.node_affinity import NodeAffinity
from ..plugins.node_name import NodeName
from ..plugins.node_ports import NodePorts
from ..plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from ..plugins.node_resources_fit import NodeResourcesFit
from ..plugins.node_unschedulable import NodeUnschedulable
from ..plugins.node_volume_limits import NodeVolumeLimits
from ..plugins.pod_topology_spread import PodTopologySpread
from ..plugins.taint_toleration import TaintToleration
from ..plugins.volume_binding import VolumeBinding
from ..plugins.volume_restrictions import VolumeRestrictions
from ..plugins.volume_zone import VolumeZone
from .extension_points import ColumnFilter, EnabledPlugin, EventWording, Filter, PostFilter, PreFilter, Score
from .verdict import Code, Reason


@attrs.frozen
class PassPlan:
    """Whom a pass asks, and in which place each filter stands: the plugins that may have something to say of a pod.

    `skipped` are those that look at pods first and have nothing to ask of this one.
    """

    prefilters: tuple[tuple[str, Any], ...]
    filters: tuple[tuple[int, str, Any, bool], ...]
    scores: tuple[tuple[str, Any, int], ...]
    skipped: frozenset[str]


@attrs.frozen(slots=False)
class Profile:
    """The plugins in order, and how their answers are worded."""

    name: str
    plugins: tuple[EnabledPlugin, ...]
    words: EventWording = EventWording()

    @cached_property
    def filters(self) -> tuple[EnabledPlugin, ...]:
        """The plugins that judge nodes."""
        return tuple(enabled for enabled in self.plugins if isinstance(enabled.plugin, Filter))

    @cached_property
    def prefilters(self) -> tuple[EnabledPlugin, ...]:
        """The plugins that look at the pod first."""
        return tuple(enabled for enabled in self.plugins if isinstance(enabled.plugin, PreFilter))

    @cached_property
    def scores(self) -> tuple[EnabledPlugin, ...]:
        """The plugins that rank nodes; a weight of 0 switches one off."""
        return tuple(
            enabled for enabled in self.plugins if isinstance(enabled.plugin, Score) and enabled.weight
        )

    def plan(self, spec: PodSpec, seen: Snapshot) -> PassPlan:
        """Return whom a pass of a pod with this spec asks; pods with the same fields share a plan."""
        fields, words, of_spec, of_seen = self._needed
        given = (*map(bool, of_spec(spec)), *of_seen(seen))
        plan = self._plans.get(given)
        if plan is None:
            has = {name for name, there in zip((*fields, *words), given, strict=True) if there}
            plan = self._plans[given] = self._planned(has)
        return plan

    @cached_property
    def _plans(self) -> dict[tuple[bool, ...], PassPlan]:
        return {}

    @cached_property
    def _needed(self) -> tuple[list[str], list[str], Callable[[Any], Any], Callable[[Any], Any]]:
        """The fields of a pod's spec and the words of a snapshot that plugins need, sorted; and what reads each."""
        named = {name for enabled in self.plugins for name in getattr(enabled.plugin, "skip_without", ())}
        fields = {field.name for field in attrs.fields(PodSpec)}
        of_spec, of_seen = sorted(named & fields), sorted(named - fields)
        return of_spec, of_seen, _reader(of_spec), _reader(of_seen)

    def _planned(self, has: set[str]) -> PassPlan:
        def asks(enabled: EnabledPlugin) -> bool:
            needs = getattr(enabled.plugin, "skip_without", ())
            return not needs or not has.isdisjoint(needs)

        return PassPlan(
            tuple((each.name, each.plugin.prefilter) for each in self.prefilters if asks(each)),
            tuple(
                (place, each.name, each.plugin, each.name in self.lifted)
                for place, each in enumerate(self.filters)
                if asks(each)
            ),
            tuple((each.name, each.plugin, each.weight) for each in self.scores if asks(each)),
            frozenset(each.name for each in self.prefilters if not asks(each)),
        )

    @cached_property
    def filter_names(self) -> tuple[str, ...]:
        """The names of the plugins that judge nodes, in order."""
        return tuple(enabled.name for enabled in self.filters)

    @cached_property
    def lifted(self) -> frozenset[str]:
        """The names of the filter plugins that are a rule alone."""
        return frozenset(
            enabled.name for enabled in self.filters if not isinstance(enabled.plugin, ColumnFilter)
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
        return attrs.evolve(self, plugins=(*self.plugins, EnabledPlugin(plugin, weight)))


def _reader(names: list[str]) -> Callable[[Any], Any]:
    """Return what reads these attributes of anything as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda thing: tuple(getattr(thing, name) for name in names)


def upstream() -> Profile:
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
            EnabledPlugin(VolumeBinding(), 0),  # its score is behind a gate that is off
            EnabledPlugin(VolumeZone()),
            EnabledPlugin(PodTopologySpread(), 2),
            EnabledPlugin(InterPodAffinity(), 2),
            EnabledPlugin(DynamicResources(), 2),
            EnabledPlugin(DefaultPreemption(), 0),
            EnabledPlugin(NodeResourcesBalancedAllocation(), 1),
            EnabledPlugin(ImageLocality(), 1),
        ),
        EventWording(after_prefilter="not found"),
    )


def design() -> Profile:
    """Return the design documents' plugins, with the words and the order of the releases that shipped them."""
    fit = NodeResourcesFit(
        too_many_pods=Reason(0, "Insufficient pods", Code.UNSCHEDULABLE), overcommitted_rejects=True
    )
    return Profile(
        "design",
        (
            EnabledPlugin(NodeUnschedulable()),
            EnabledPlugin(fit, 1, "general"),
            EnabledPlugin(NodeName(other=Reason(0, "node(s) didn't match the requested hostname")), 1, "general"),
            EnabledPlugin(
                NodeAffinity(unmatched=Reason(0, "node(s) didn't match node selector"), restricts_in_prefilter=False),
                1,
                "general",
            ),
            EnabledPlugin(
                TaintToleration(untolerated=Reason(0, "node(s) had taints that the pod didn't tolerate")), 1
            ),
            EnabledPlugin(NodeVolumeLimits(counts_unbound=False, document_name="MaxPDVolumeCount")),
            EnabledPlugin(VolumeBinding.of_the_design(), 1),
            EnabledPlugin(VolumeZone(asks_first=False, document_name="NoVolumeZoneConflict")),
            EnabledPlugin(PodTopologySpread.of_the_design(), 1),
            EnabledPlugin(InterPodAffinity.of_the_design(), 1),
            EnabledPlugin(NodeResourcesBalancedAllocation(by_change=False), 1),
        ),
        EventWording(prefilter_alone=True, repeated=True),
    )

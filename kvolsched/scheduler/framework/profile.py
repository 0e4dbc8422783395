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
from .extension_points import ColumnFilter, EnabledPlugin, EventWording, Filter, PostFilter, PreFilter, Score


@attrs.frozen
class ActivePlugins:
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

    def plan(self, spec: PodSpec, seen: Snapshot) -> ActivePlugins:
        """Return whom a pass of a pod with this spec asks; pods with the same fields share a plan."""
        fields, words, of_spec, of_seen = self._needed
        given = (*map(bool, of_spec(spec)), *of_seen(seen))
        plan = self._plans.get(given)
        if plan is None:
            has = {name for name, there in zip((*fields, *words), given, strict=True) if there}
            plan = self._plans[given] = self._planned(has)
        return plan

    @cached_property
    def _plans(self) -> dict[tuple[bool, ...], ActivePlugins]:
        return {}

    @cached_property
    def _needed(self) -> tuple[list[str], list[str], Callable[[Any], Any], Callable[[Any], Any]]:
        """The fields of a pod's spec and the words of a snapshot that plugins need, sorted; and what reads each."""
        named = {name for enabled in self.plugins for name in getattr(enabled.plugin, "skip_without", ())}
        fields = {field.name for field in attrs.fields(PodSpec)}
        of_spec, of_seen = sorted(named & fields), sorted(named - fields)
        return of_spec, of_seen, _reader(of_spec), _reader(of_seen)

    def _planned(self, has: set[str]) -> ActivePlugins:
        def asks(enabled: EnabledPlugin) -> bool:
            needs = getattr(enabled.plugin, "skip_without", ())
            return not needs or not has.isdisjoint(needs)

        return ActivePlugins(
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

"""A profile: an ordered list of plugins with weights, and which of them are called for a given pod."""

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
    """The plugins that are called for a pod, by extension point.

    A filter is (index, name, plugin, whether it is a rule without column); a score is (name, plugin, weight). `skipped`
    are the PreFilter plugins that are not called.
    """

    prefilters: tuple[tuple[str, Any], ...]
    filters: tuple[tuple[int, str, Any, bool], ...]
    scores: tuple[tuple[str, Any, int], ...]
    skipped: frozenset[str]


@attrs.frozen(slots=False)
class Profile:
    """The plugins of a scheduler, in order, and the wording of its events."""

    name: str
    plugins: tuple[EnabledPlugin, ...]
    words: EventWording = EventWording()

    @cached_property
    def filters(self) -> tuple[EnabledPlugin, ...]:
        """The plugins with a filter."""
        return tuple(enabled for enabled in self.plugins if isinstance(enabled.plugin, Filter))

    @cached_property
    def prefilters(self) -> tuple[EnabledPlugin, ...]:
        """The plugins with a PreFilter."""
        return tuple(enabled for enabled in self.plugins if isinstance(enabled.plugin, PreFilter))

    @cached_property
    def scores(self) -> tuple[EnabledPlugin, ...]:
        """The plugins with a score; weight 0 disables a score."""
        return tuple(enabled for enabled in self.plugins if isinstance(enabled.plugin, Score) and enabled.weight)

    def active_plugins(self, spec: PodSpec, seen: Snapshot) -> ActivePlugins:
        """Return the plugins that are called for a pod with this spec, by what they declare as `skip_without`."""
        fields, properties, read_spec, read_snapshot = self._skip_conditions
        present = (*map(bool, read_spec(spec)), *read_snapshot(seen))
        active = self._active_plugins.get(present)
        if active is None:
            names = {name for name, given in zip((*fields, *properties), present, strict=True) if given}
            active = self._active_plugins[present] = self._select(names)
        return active

    @cached_property
    def _active_plugins(self) -> dict[tuple[bool, ...], ActivePlugins]:
        return {}

    @cached_property
    def _skip_conditions(self) -> tuple[list[str], list[str], Callable[[Any], Any], Callable[[Any], Any]]:
        """The pod fields and the snapshot properties in any `skip_without`, sorted, and a reader for each list."""
        names = {name for enabled in self.plugins for name in getattr(enabled.plugin, "skip_without", ())}
        spec_fields = {field.name for field in attrs.fields(PodSpec)}
        fields, properties = sorted(names & spec_fields), sorted(names - spec_fields)
        return fields, properties, _reader(fields), _reader(properties)

    def _select(self, present: set[str]) -> ActivePlugins:
        def is_active(enabled: EnabledPlugin) -> bool:
            names = getattr(enabled.plugin, "skip_without", ())
            return not names or not present.isdisjoint(names)

        return ActivePlugins(
            tuple((enabled.name, enabled.plugin.prefilter) for enabled in self.prefilters if is_active(enabled)),
            tuple((index, enabled.name, enabled.plugin, enabled.name in self.lifted)
                  for index, enabled in enumerate(self.filters) if is_active(enabled)),
            tuple((enabled.name, enabled.plugin, enabled.weight) for enabled in self.scores if is_active(enabled)),
            frozenset(enabled.name for enabled in self.prefilters if not is_active(enabled)),
        )

    @cached_property
    def filter_names(self) -> tuple[str, ...]:
        """The names of the filter plugins, in order."""
        return tuple(enabled.name for enabled in self.filters)

    @cached_property
    def lifted(self) -> frozenset[str]:
        """The names of the filter plugins without `column`."""
        return frozenset(enabled.name for enabled in self.filters if not isinstance(enabled.plugin, ColumnFilter))

    @cached_property
    def watches(self) -> tuple[str, ...]:
        """The kinds that plugins read in addition to those that every scheduler watches, sorted."""
        return tuple(sorted({kind for enabled in self.plugins for kind in getattr(enabled.plugin, "watches", ())}))

    @property
    def preempts(self) -> bool:
        """Whether a plugin has a PostFilter, so that pods may be evicted."""
        return any(isinstance(enabled.plugin, PostFilter) for enabled in self.plugins)

    def plugin(self, name: str) -> object:
        """Return a plugin by its Kubernetes name or document name.

        Raises:
            KeyError: the profile has no such plugin.
        """
        for enabled in self.plugins:
            if name in (enabled.name, enabled.document_name):
                return enabled.plugin
        raise KeyError(f"profile {self.name} has no plugin {name!r}")

    def with_plugin(self, plugin: object, weight: int = 1) -> Profile:
        """Return this profile with one more plugin at the end."""
        return attrs.evolve(self, plugins=(*self.plugins, EnabledPlugin(plugin, weight)))


def _reader(names: list[str]) -> Callable[[Any], Any]:
    """Return a function that reads these attributes of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda obj: tuple(getattr(obj, name) for name in names)

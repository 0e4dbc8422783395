"""A profile: an ordered list of plugins with weights, and which of them are called for a given pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import attrs
import numpy as np

from ...api.kinds.pod import Pod, PodSpec
from ..columns.column import Mask
from ..columns.snapshot import Snapshot
from ..shortcuts import SHORTCUTS
from .extension_points import (
    ColumnFilter,
    EnabledPlugin,
    EventWording,
    Filter,
    PostFilter,
    PreFilter,
    PreScore,
    Score,
    declared_reasons,
)
from .verdict import Code, FilterColumn, PreFiltered, PreFilterReject, PreFilterResult, Skip

P = TypeVar("P")
PreFilterAnswer = Skip | PreFilterReject | PreFilterResult | None


class FilterEntry(NamedTuple):
    """A filter that is called: its place, name and plugin, whether it has no column, whether its answer is kept.

    `reads_other_nodes`: its rule may read more than the judged node and the pods on it.
    """

    place: int
    name: str
    plugin: Any
    lifted: bool
    kept: bool
    reads_other_nodes: bool


class ScoreEntry(NamedTuple):
    """A score that is called: the plugin's name, the plugin, its weight, whether its answer is kept."""

    name: str
    plugin: Any
    weight: int
    kept: bool


@attrs.frozen(eq=False)
class ActivePlugins:
    """The plugins that are called for a pod, by extension point.

    Args:
        prefilters: (name, method) of each PreFilter.
        filters, scores: the others.
        skipped: the PreFilter plugins that are not called.
        kept_prefilters: the plugins whose PreFilter reads the pod's template only, so that its answer is kept.
        read_template: returns the fields of a pod's spec that any plugin reads whose answers are kept.
    """

    prefilters: tuple[tuple[str, Any], ...]
    filters: tuple[FilterEntry, ...]
    scores: tuple[ScoreEntry, ...]
    skipped: frozenset[str]
    kept_prefilters: frozenset[str]
    read_template: Callable[[PodSpec], tuple[Any, ...]]

    def prefilter(self, pod: Pod, seen: Snapshot, kept: Mapping[str, PreFilterAnswer]) -> PreFiltered:
        """Ask the PreFilter plugins in order, but those whose answer is kept; a rejection, or no node left, ends it."""
        skipped: list[str] = []
        restrictions: list[PreFilterResult] = []
        rejected: PreFilterReject | None = None
        for name, ask in self.prefilters:
            answer = kept[name] if name in kept else ask(pod, seen)
            if answer is None:
                continue
            if isinstance(answer, Skip):
                skipped.append(name)
            elif isinstance(answer, PreFilterResult):
                restrictions.append(answer)
                if not set.intersection(*(set(each.names) for each in restrictions)):  # a reader may give a list
                    names = " ".join(sorted(each.plugin for each in restrictions))
                    which = f" {names}" if len(restrictions) == 1 else f"(s) [{names}] simultaneously"
                    words = f"node(s) didn't satisfy plugin{which}"
                    rejected = PreFilterReject(name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, words)
                    break
            else:
                rejected = answer
                break
        return PreFiltered(self.skipped.union(skipped), rejected, tuple(restrictions))


@attrs.frozen(slots=False, cache_hash=True)
class Profile:
    """The plugins of a scheduler, in order, and the wording of its events.

    Args:
        nominated_first: a pod's nominated node is taken if it fits, without ranking the others (since 1.22).
    """

    name: str
    plugins: tuple[EnabledPlugin, ...]
    words: EventWording = EventWording()
    nominated_first: bool = False

    @cached_property
    def filters(self) -> tuple[EnabledPlugin, ...]:
        """The plugins with a filter."""
        return tuple(enabled for enabled in self.plugins if enabled.extends(Filter))

    @cached_property
    def prefilters(self) -> tuple[EnabledPlugin, ...]:
        """The plugins with a PreFilter."""
        return tuple(enabled for enabled in self.plugins if enabled.extends(PreFilter))

    @cached_property
    def prescoring(self) -> tuple[Any, ...]:
        """The plugins that read a pod's preferences before nodes are ranked."""
        return tuple(enabled.plugin for enabled in self.plugins if enabled.extends(PreScore))

    @cached_property
    def scores(self) -> tuple[EnabledPlugin, ...]:
        """The plugins with a score; weight 0 disables a score."""
        return tuple(enabled for enabled in self.plugins if enabled.extends(Score) and enabled.weight)

    @cached_property
    def postfilters(self) -> tuple[PostFilter, ...]:
        """The plugins that try to make a node fit when none does."""
        return tuple(enabled.plugin for enabled in self.plugins if enabled.extends(PostFilter))

    def active_plugins(self, spec: PodSpec, seen: Snapshot) -> ActivePlugins:
        """Return the plugins that are called for a pod with this spec, by what they declare as `skip_without`."""
        if not SHORTCUTS.on:
            return self._all_plugins
        fields, properties, read_spec, read_snapshot = self._skip_conditions
        present = (*map(bool, read_spec(spec)), *read_snapshot(seen))
        active = self._active_plugins.get(present)
        if active is None:
            names = {name for name, given in zip((*fields, *properties), present, strict=True) if given}
            active = self._active_plugins[present] = self._select(names)
        return active

    @cached_property
    def _all_plugins(self) -> ActivePlugins:
        fields, properties, _, _ = self._skip_conditions
        return self._select({*fields, *properties})

    @cached_property
    def _active_plugins(self) -> dict[tuple[bool, ...], ActivePlugins]:
        return {}

    @cached_property
    def _skip_conditions(self) -> tuple[list[str], list[str], Callable[[Any], Any], Callable[[Any], Any]]:
        """The pod fields and the snapshot properties in any of these, sorted, and a reader for each list."""
        names = {name for enabled in self.plugins for fields in _SKIPS for name in getattr(enabled.plugin, fields, ())}
        spec_fields = {field.name for field in attrs.fields(PodSpec)}
        fields, properties = sorted(names & spec_fields), sorted(names - spec_fields)
        return fields, properties, _reader(fields), _reader(properties)

    def _select(self, present: set[str]) -> ActivePlugins:
        def is_active(enabled: EnabledPlugin, declaration: str = "skip_without") -> bool:
            names = getattr(enabled.plugin, declaration, ())
            return not names or not present.isdisjoint(names)

        active = [enabled for enabled in self.plugins if is_active(enabled)]
        prefilters = tuple((each.name, each.plugin.prefilter) for each in active if each.extends(PreFilter))
        kept = {each.name for each in active if _declares(each.plugin, "template_fields")}
        kept_prefilters = kept | {each.name for each in active if _declares(each.plugin, "prefilter_fields")}
        fields = {
            field
            for each in active
            for declaration in ("template_fields", "prefilter_fields")
            if _declares(each.plugin, declaration)
            for field in getattr(each.plugin, declaration)
        }
        return ActivePlugins(
            prefilters,
            tuple(FilterEntry(index, each.name, each.plugin, each.name in self.lifted, each.name in kept,
                              getattr(each.plugin, "reads_other_nodes", each.name in self.lifted))
                  for index, each in enumerate(self.filters)
                  if is_active(each) and is_active(each, "filter_skip_without")),
            tuple(ScoreEntry(each.name, each.plugin, each.weight, each.name in kept)
                  for each in self.scores if is_active(each)),
            frozenset(enabled.name for enabled in self.prefilters if not is_active(enabled)),
            frozenset(kept_prefilters),
            _reader(sorted(fields)),
        )

    @cached_property
    def filter_names(self) -> tuple[str, ...]:
        """The names of the filter plugins, in order."""
        return tuple(enabled.name for enabled in self.filters)

    @cached_property
    def lifted(self) -> frozenset[str]:
        """The names of the filter plugins without `column`."""
        return frozenset(enabled.name for enabled in self.filters if not enabled.extends(ColumnFilter))

    @cached_property
    def fallible(self) -> frozenset[int]:
        """The places of the filter plugins that may answer with an error: those that say so, or have no `column`."""
        return frozenset(
            place for place, each in enumerate(self.filters)
            if each.name in self.lifted or any(reason.status is Code.ERROR for reason in declared_reasons(each.plugin))
        )  # fmt: skip

    @cached_property
    def watches(self) -> tuple[str, ...]:
        """The kinds that plugins read in addition to those that every scheduler watches, sorted."""
        return tuple(sorted({kind for enabled in self.plugins for kind in getattr(enabled.plugin, "watches", ())}))

    @property
    def preempts(self) -> bool:
        """Whether a plugin has a PostFilter, so that pods may be evicted."""
        return bool(self.postfilters)

    def plugin(self, name: str) -> object:
        """Return a plugin by its Kubernetes name or document name.

        Raises:
            KeyError: the profile has no such plugin.
        """
        for enabled in self.plugins:
            if name in enabled.names:
                return enabled.plugin
        raise KeyError(f"profile {self.name} has no plugin {name!r}")

    def name_of(self, called: str) -> str:
        """Return the Kubernetes name of a plugin that is called by one of its names; another name as it is."""
        return next((enabled.name for enabled in self.plugins if called in enabled.names), called)

    def shown_name(self, name: str) -> str:
        """Return the name of a plugin with that of the document; another name as it is."""
        return next((enabled.shown_name for enabled in self.plugins if enabled.name == name), name)

    def extending(self, point: type) -> Any | None:
        """Return the first plugin with the methods of an extension point; None if there is none."""
        return next((enabled.plugin for enabled in self.plugins if enabled.extends(point)), None)

    def extends(self, name: str, point: type) -> bool:
        """Say whether a plugin of that name has the methods of an extension point."""
        return any(enabled.name == name and enabled.extends(point) for enabled in self.plugins)

    def with_plugin(self, plugin: object, weight: int = 1) -> Profile:
        """Return this profile with one more plugin at the end."""
        return attrs.evolve(self, plugins=(*self.plugins, EnabledPlugin(plugin, weight)))

    def without(self, *names: str) -> Profile:
        """Return this profile without the plugins of these names."""
        return attrs.evolve(self, plugins=tuple(each for each in self.plugins if each.name not in names))

    def replacing(self, plugin: Any) -> Profile:
        """Return this profile with a plugin in the place of the one of its name."""
        return self.changed(lambda old: plugin if old.name == plugin.name else old)

    def changed(self, change: Callable[[Any], Any]) -> Profile:
        """Return this profile with what a function makes of each plugin."""
        return attrs.evolve(
            self, plugins=tuple(attrs.evolve(each, plugin=change(each.plugin)) for each in self.plugins)
        )


def derived(plugin: Any, kind: type[P], **changes: Any) -> P:
    """Return a plugin, or actor, of a derived class with the fields of another one, some of them changed.

    >>> derived(EnabledPlugin("x"), EnabledPlugin, weight=2)
    EnabledPlugin(plugin='x', weight=2, group='')
    """
    return kind(**{field.name: getattr(plugin, field.name) for field in attrs.fields(type(plugin))} | changes)


_SKIPS = ("skip_without", "filter_skip_without")


def _declares(plugin: Any, name: str) -> bool:
    """Say whether a plugin's own class has a declaration: one that is derived from it may read more."""
    return name in vars(type(plugin))


def _reader(names: list[str]) -> Callable[[Any], Any]:
    """Return a function that reads these attributes of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda obj: tuple(getattr(obj, name) for name in names)


def failing_columns(columns: Sequence[FilterColumn], profile: Profile) -> list[FilterColumn]:
    """Return the columns with an error; only plugins that may fail are asked, as most passes have no error."""
    return [
        column for column in columns
        if column.place in profile.fallible and column.codes is not None and not column.rejects_none
        and any(column.legend(code)[1] is Code.ERROR for code in np.flatnonzero(np.bincount(column.codes)).tolist())
    ]  # fmt: skip


def error_of_filters(failing: Sequence[FilterColumn], masks: Sequence[Mask], profile: Profile) -> str:
    """Return the error of which kube-scheduler tells, or "" if none was met.

    `masks` has, by failing column, the rows that are filtered and that no earlier plugin rejects.
    """
    messages = Counter[str]()
    for column, mask in zip(failing, masks, strict=True):
        assert column.codes is not None
        numbers = np.bincount(column.codes[mask])
        for code in np.flatnonzero(numbers).tolist():
            reasons, status = column.legend(code)
            if status is Code.ERROR:
                before = profile.words.filter_error.format(profile.filter_names[column.place])
                messages[before + ", ".join(reasons)] += int(numbers[code])
    if not profile.words.counts_errors:
        return min(messages, default="")
    words = [f"{message} (repeated {count} times)" if count > 1 else message
             for message, count in sorted(messages.items())]  # fmt: skip
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]" if words else ""

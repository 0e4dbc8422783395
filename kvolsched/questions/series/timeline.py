"""Lines over simulated time, read off the log: of named measures turn by turn, of functions step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.progress import ProgressBar
from ...api.unknown_name import UnknownName, did_you_mean
from ...core.core import ClusterCore
from ...world.history import Turn
from ...world.log import Key, Note
from .measures import MEASURES, EventsSoFar, Measure

Function = Callable[[Any], float]
Wanted = str | Function | Mapping[str, Function]
DEFAULT = ("running", "pending", "failures")


@attrs.frozen
class TimelinePoint:
    """A value from a moment on: seconds, value, and the step that led to it."""

    time: float
    value: float
    step: int


@attrs.frozen
class Timeline:
    """One count of one cluster over simulated time.

    Args:
        measure: what is counted: a name of `MEASURES`, the reason of an Event, or the name of a function.
        cluster: whose line it is.
        part: which of the lines of its measure: "published" or "driver now"; "" if there is one.
        unit: of the values; "" if unknown.
        points: where the value changes, in order; the first is the start. Empty: there is nothing to count.
        until: where the longest of the known runs ends, seconds; the last value holds until then.
        reasons: of a count of Events, how many have each reason.
        last_step: how many steps are known.
    """

    measure: str
    cluster: str
    part: str
    unit: str
    points: tuple[TimelinePoint, ...]
    until: float
    reasons: tuple[tuple[str, int], ...] = ()
    last_step: int = 0


def timelines(clusters: Sequence[ClusterCore], what: Wanted | Iterable[Wanted] = DEFAULT) -> tuple[Timeline, ...]:
    """Return a line for each measure and cluster, over the known steps of each cluster's branch.

    Args:
        clusters: whose runs are counted.
        what: names of `MEASURES`, reasons of Events, functions of a cluster, or mappings from name to function.

    Raises:
        UnknownName: there is no such measure and no Event of such a reason. It is a ValueError.
        TypeError: another cluster is none, or a measure is neither a name nor a function.
    """
    for each in clusters:
        if not isinstance(each, ClusterCore):
            raise TypeError(f'a series is of clusters, not of {each!r:.60}; a measure is named by what="running"')
    wanted = list(_numbered(_wanted(what)))
    names = cluster_labels(clusters)
    reasons = {event.reason for cluster in clusters for event in cluster.objects("events")}
    for name, function in wanted:
        if function is None and name not in MEASURES and name not in reasons:
            there = f"{', '.join(MEASURES)}; reasons of Events: {', '.join(sorted(reasons)) or 'none yet'}"
            hint = did_you_mean(name, [*MEASURES, *sorted(reasons)])
            raise UnknownName(f"no measure {name!r}; there are: {there}; any function of a cluster will do{hint}")
    found = [dict(_lines(cluster, label, wanted)) for label, cluster in zip(names, clusters, strict=True)]
    lines = [line for name, _ in wanted for of_cluster in found for line in of_cluster[name]]
    until = max((line.until for line in lines), default=0.0)
    return tuple(attrs.evolve(line, until=until) for line in lines)


def cluster_labels(clusters: Sequence[ClusterCore]) -> list[str]:
    """Return a name for each cluster: that of its rules, else its own, else with a number."""
    choices = [[cluster.revision.name for cluster in clusters], [cluster.name for cluster in clusters]]
    for names in choices:
        if len(set(names)) == len(names) and all(names):
            return names
    return [f"{cluster.name or 'cluster'} {number}" for number, cluster in enumerate(clusters, 1)]


def _wanted(what: Wanted | Iterable[Wanted]) -> Iterator[tuple[str, Function | None]]:
    if isinstance(what, str):
        yield what, None
    elif isinstance(what, Mapping):
        yield from what.items()
    elif callable(what):
        name = getattr(what, "__name__", "")
        yield name if name.isidentifier() else "function", what
    elif isinstance(what, Iterable):
        for each in what:
            yield from _wanted(each)
    else:
        raise TypeError(f"a measure is a name such as 'running', or a function of a cluster, not {what!r:.60}")


def _numbered(wanted: Iterable[tuple[str, Function | None]]) -> Iterator[tuple[str, Function | None]]:
    """Yield each measure once, and functions of equal names with numbers."""
    seen: dict[str, list[Function | None]] = {}
    for name, function in wanted:
        functions = seen.setdefault(name, [])
        if function not in functions:
            functions.append(function)
            yield name if len(functions) == 1 else f"{name} {len(functions)}", function


def _lines(cluster: ClusterCore, label: str,
           wanted: Sequence[tuple[str, Function | None]]) -> Iterator[tuple[str, list[Timeline]]]:
    contents = _Contents(cluster)
    measures = {name: MEASURES[name](cluster, contents) if name in MEASURES else EventsSoFar(name)
                for name, function in wanted if function is None}  # fmt: skip
    points = _read_log(contents, measures)
    until = max([cluster.now, *(turn.time for turn in contents.turns[-1:])])
    steps = cluster.world.known_steps
    for name, measure in measures.items():
        counts = tuple(sorted(measure.reasons.items())) if isinstance(measure, EventsSoFar) else ()
        parts = points[name] or {"": []}
        yield name, [
            Timeline(name, label, part, measure.unit, tuple(line), until, counts, steps)
            for part, line in parts.items()
        ]
    functions = {name: function for name, function in wanted if function is not None}
    for name, line in _read_steps(cluster, functions).items():
        yield name, [Timeline(name, label, "", "", tuple(line), until, last_step=steps)]


@attrs.define
class _Contents:
    """The map of a cluster's log, moved over its turns beside the cluster itself. Mutable."""

    cluster: ClusterCore
    objects: dict[Key, Any] = attrs.field(init=False)
    notes: dict[Note, Any] = attrs.field(init=False)
    turns: tuple[Turn, ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        log, history = self.cluster.world.log, self.cluster.world.history
        self.objects, self.notes = dict(log.objects), dict(log.notes)
        for key, old, _ in reversed(log.changes[history.ends[0] - log.base : log.place - log.base]):
            self.put(key, old)
        self.turns = tuple(history.turns)

    def put(self, key: Any, value: Any) -> None:
        """Put a value at a key; None removes it."""
        held: dict[Any, Any] = self.objects if type(key) is Key else self.notes
        if value is None:
            held.pop(key, None)
        else:
            held[key] = value


def _read_log(contents: _Contents, measures: Mapping[str, Measure]) -> dict[str, dict[str, list[TimelinePoint]]]:
    """Return the points of each line of each measure, in one pass over the log."""
    log, history = contents.cluster.world.log, contents.cluster.world.history
    points: dict[str, dict[str, list[TimelinePoint]]] = {name: {} for name in measures}

    def note(time: float, step: int) -> None:
        for name, measure in measures.items():
            for part, value in measure.values().items():
                line = points[name].setdefault(part, [])
                if not line or line[-1].value != value:
                    line.append(TimelinePoint(time, value, step))

    for held in (contents.objects, contents.notes):
        for key, value in held.items():
            for measure in measures.values():
                measure.change(key, None, value)
    place = history.ends[0]
    note(contents.turns[0].time if contents.turns and contents.turns[0].quiet else 0.0, 0)
    for turn in contents.turns:
        for key, old, new in log.changes[place - log.base : turn.end - log.base]:
            contents.put(key, new)
            for measure in measures.values():
                measure.change(key, old, new)
        place = max(place, turn.end)
        note(turn.time, turn.step)
    return points


def _read_steps(cluster: ClusterCore, functions: Mapping[str, Function]) -> dict[str, list[TimelinePoint]]:
    """Return the points of functions, asked at the end of every step of a copy."""
    points: dict[str, list[TimelinePoint]] = {name: [] for name in functions}
    if not functions:
        return points
    copy = _with_future(cluster)
    with ProgressBar(copy.world.known_steps + 1, unit=" steps") as bar:
        for step in range(copy.world.known_steps + 1):
            copy.goto(step)
            for name, function in functions.items():
                value = float(function(copy))
                if not points[name] or points[name][-1].value != value:
                    points[name].append(TimelinePoint(copy.now, value, step))
            bar.update()
    return points


def _with_future(cluster: ClusterCore) -> ClusterCore:
    """Return a copy of a cluster with the known steps after its place; the cluster ends where it was."""
    log = cluster.world.log
    start, end = log.place, log.end
    try:
        log.seek(end)
        copy = cluster.fork(cluster.name)
        log.seek(start)
    except BaseException:
        log.recover(start, end)
        cluster.world.rebuild()
        raise
    return copy

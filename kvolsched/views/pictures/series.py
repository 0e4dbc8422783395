"""Counts over time in words: a sentence, what was run, and of each count how it begins, ends and peaks."""

from itertools import groupby, pairwise

from kvolsched.api.words import counted
from kvolsched.questions.series import Timeline
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t

NOTHING = {"skew": "No pod has a spread constraint.", "room": "No driver has pools or publishes capacity."}
"""What is said of a pane without lines."""

MAX_TOLD = 4
"""Of more clusters the sentence has a range, the reading a row each."""


def frame_reading(frame: f.Frame) -> str:
    """Return the counts of a frame as lines."""
    return "Nothing is counted" if frame.series is None else reading(frame.series)


def reading(rows: f.SeriesRows) -> str:
    """Return the counts as lines: first and last value of each cluster, and the greatest one between."""
    table: list[list[str]] = []
    for pane in rows.panes:
        found = [_words(rows, pane, line) for line in pane.lines] or [_nothing(pane)]
        if len(found) <= MAX_TOLD:
            table.append([heading(pane), *found])
        else:
            table += [[heading(pane) if number == 0 else "", words] for number, words in enumerate(found)]
    return "\n".join([sentence(rows), note(rows), t.columns(table)])


def sentence(rows: f.SeriesRows) -> str:
    """Return what the chart shows, in one sentence."""
    last = {pane.measure: {line.cluster: line.points[-1].value for line in pane.lines} for pane in rows.panes}
    running, pending = last.get("running", {}), last.get("pending", {})
    if running and pending:
        ends = [(name, running[name], running[name] + pending.get(name, 0)) for name in running]
        if not any(all_ for _, _, all_ in ends):
            return "There is no pod"
        if len({end[1:] for end in ends}) == 1:
            who = {1: "", 2: " in both clusters"}.get(len(ends), f" in each of the {len(ends)} clusters")
            words = f"{_of_all(*ends[0][1:])} run{who}"
            return words[0].upper() + words[1:]
        first, *others = ends
        if len(ends) > MAX_TOLD:
            some = sorted(end[1] for end in others)
            range_ = f"{some[0]:g} to {some[-1]:g}" if some[0] < some[-1] else f"{some[0]:g}"
            return f"{first[0]} runs {_of_all(*first[1:])}, the {len(others)} others run {range_}"
        counts = [f"{name} {_of_all(some, all_).rpartition(' ')[0]}" for name, some, all_ in others]
        return ", ".join([f"{first[0]} runs {_of_all(*first[1:])}", *counts])
    shown = next((pane for pane in rows.panes if pane.lines), None)
    if shown is None:
        return "; ".join(map(_nothing, rows.panes)) or "Nothing is counted"
    has_sum = shown.has_sum and not rows.by_step
    values = [_total(rows, line) if has_sum else t.short(line.points[-1].value) for line in shown.lines]
    if len(rows.clusters) > 1 or len(values) > 1:
        named = zip(shown.lines, values, strict=True)
        values = [f"{_name(rows, line)} {value}" for line, value in named][: MAX_TOLD + 1]
    unit = f"{shown.unit}·s in all" if has_sum else f"{shown.unit.removeprefix('pods')} at the end".lstrip()
    return f"{shown.measure}: {', '.join(values)} {unit}"


def note(rows: f.SeriesRows) -> str:
    """Return what was run: seeds, and how long."""
    seeds = sorted(set(rows.seeds))
    runs = "one run" if len(rows.clusters) == 1 else f"{len(rows.clusters)} runs"
    last = max((line.last_step for pane in rows.panes for line in pane.lines), default=rows.step)
    span = f"{counted(last, 'step')} at t = {rows.until:g} s" if rows.until == 0 else f"t = 0 to {rows.until:g} s"
    return f"{runs}, seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}, {span}"


def _of_all(some: float, all_: float) -> str:
    pods = f"pod{'s' * (all_ != 1)}"
    return f"all {all_:g} {pods}" if some == all_ and all_ > 1 else f"{some:g} of {all_:g} {pods}"


def _total(rows: f.SeriesRows, line: Timeline) -> str:
    """Return value × seconds of a line in all."""
    ends = [*((point.time, point.value) for point in line.points), (rows.until, 0.0)]
    return t.short(sum((b - a) * value for (a, value), (b, _) in pairwise(ends)))


def _nothing(pane: f.SeriesPane) -> str:
    return NOTHING.get(pane.measure, "nothing is counted")


def name_of(line: Timeline) -> str:
    """Return a line's name: of its cluster, and of its part."""
    return f"{line.cluster} {line.part}".strip()


def _name(rows: f.SeriesRows, line: Timeline) -> str:
    """Return a line's name; the cluster goes without saying if it is the only one."""
    return line.part if line.part and len(rows.clusters) == 1 else name_of(line)


def _moments(line: Timeline) -> list[tuple[float, float]]:
    """Return the last value of each moment at which a line ends up elsewhere."""
    found: list[tuple[float, float]] = []
    for time, points in groupby(line.points, key=lambda point: point.time):
        value = list(points)[-1].value
        if not found or found[-1][1] != value:
            found.append((time, value))
    return found


def _words(rows: f.SeriesRows, pane: f.SeriesPane, line: Timeline) -> str:
    """Return a line in words: `design 0 → 9 at 2 s`."""
    moments = [(float(p.step), p.value) for p in line.points] if rows.by_step else _moments(line)
    first, (place, last) = moments[0][1], moments[-1]
    at = f"step {place:g}" if rows.by_step else f"{place:g} s"
    moved = f"{t.short(first)} → {t.short(last)} at {at}" if last != first else ""
    values = [point.value for point in line.points]
    most = f", most {t.short(max(values))}" if max(values) > max(first, last) else ""
    total = f", {_total(rows, line)} {pane.unit}·s" if pane.has_sum and not rows.by_step else ""
    return f"{_name(rows, line)} {moved or t.short(values[-1])}{most}{total}"


def heading(pane: f.SeriesPane) -> str:
    """Return a pane's heading: what is counted, in which unit."""
    if pane.measure == "failures":
        reasons = f": {', '.join(pane.reasons)}" if pane.reasons else ""
        return f"failures so far{reasons}"
    if pane.unit == "events":
        return f"{pane.measure} so far"
    plain = pane.unit in ("", "pods")
    return pane.measure if plain else f"{pane.measure}, {pane.unit}"

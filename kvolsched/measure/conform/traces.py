"""Family `traces`: recorded runs of a real control plane, replayed and compared: final state, events, changes, order.

Whatever was equal in all recorded runs must be equal in ours; where they varied, ours must match one variant. Orders
and outcomes listed in `EXCEPTIONS.yaml` beside the traces, each with a reason, are not compared. `Trace` is one
recorded run by itself, for comparison with a simulated one.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from kvolsched.cluster import Cluster
from kvolsched.rules.named import revision_named
from kvolsched.rules.revision import Revision

from .agreement import ABSENT, Case, FailedAnswer, read
from .trace_player import TimingDraws, TracePlayer
from .trace_renaming import renamed_traces
from .trace_rows import is_driver_owned, trace_of, uid_names

ASPECTS = ("final", "events", "objects", "refused", "order")
Aspects = dict[str, tuple[dict[str, Any], dict[str, Any]]]  # aspect -> what was recorded, what is ours


@attrs.frozen
class Traces:
    """The family of traces; each object is compared with the recorded variant nearest to ours."""

    aspects: tuple[str, ...] = ASPECTS
    revision: str = "upstream"

    def compare(self, case: Case, revision: Revision) -> Iterator[tuple[str, Any, Any]]:
        """Yield every aspect with both sides; if the replay raises, every aspect differs and shows the error."""
        try:
            found = compare_best_renaming(case, revision)
        except Exception as error:  # noqa: BLE001 - an error is one disagreement; the other cases are still compared
            failed = FailedAnswer(f"{type(error).__name__}: {error}")
            found = dict.fromkeys(self.aspects, (ABSENT, failed))  # type: ignore[arg-type]
        for aspect in self.aspects:
            yield aspect, *found[aspect]


def compare_best_renaming(case: Case, revision: Revision, luck: TimingDraws | None = None) -> Aspects:
    """Replay a trace once and return both sides of every aspect under the node renaming that agrees best."""
    return min(compare_all_renamings(case, revision, luck), key=_differences)


def compare_all_renamings(case: Case, revision: Revision, luck: TimingDraws | None = None) -> Iterator[Aspects]:
    """Replay a trace once and yield both sides of every aspect under every renaming."""
    player = TracePlayer(case["steps"], revision, luck)
    ours = trace_of(player.world, player.drivers)
    recorded = {name: rows[0] for name, rows in _recorded(case).items()}
    text = json.dumps(ours)
    for old, new in uid_names(player.world).items():
        text = text.replace(old, new)
    for renamed in renamed_traces(case["steps"], json.loads(text), recorded):
        yield compared(case, renamed, player.refused)


def compared(case: Case, ours: Mapping[str, Any], refused: Sequence[str]) -> Aspects:
    """Return both sides of every aspect for one renaming of our run."""
    objects = _chosen(
        {name: [_changes(rows) for rows in variants] for name, variants in _recorded(case).items()},
        {name: _changes(rows) for name, rows in ours["objects"].items()},
    )
    events = _chosen(_events(case), {name: _said(rows) for name, rows in ours["events"].items()})
    final = _chosen(_finals(case), _of_interest(case, ours["final"]))
    sides = {"final": final, "events": events, "objects": objects}
    outcomes = {entry["outcome"] for entry in case.get("exceptions", ()) if "outcome" in entry}
    for aspect, (recorded, actual) in sides.items():
        for name in {*recorded, *actual}:
            if f"{aspect} {name}" in outcomes:
                recorded.pop(name, None)
                actual.pop(name, None)
    expected = {str(number): _first_line(text) for number, text in enumerate(case.get("refused_steps") or ())}
    answered = {str(number): _first_line(text) for number, text in enumerate(refused)}
    return {**sides, "refused": (expected, answered), "order": _order(case, ours["places"])}


def _recorded(case: Case) -> dict[str, list[Any]]:
    """Return object -> the recorded variants of its changes."""
    found = {name: [rows] for name, rows in case["stable"]["objects"].items()}
    for name, variants in case["varies"].get("objects", {}).items():
        found[name] = [variant["changes"] for variant in variants if "changes" in variant]
    return found


def _events(case: Case) -> dict[str, list[list[str]]]:
    """Return object -> its events, one list for each recorded run."""
    stable, varying = case["stable"]["events"], case["varies"].get("events", {})
    return {
        name: [
            _said([*stable.get(name, ()), *(e for e in varying.get(name, ()) if run in e["runs"])])
            for run in range(1, case["runs"] + 1)
        ]
        for name in {**stable, **varying}
    }


def _finals(case: Case) -> dict[str, list[Any]]:
    """Return object -> its final fields, one entry for each recorded run if they varied."""
    return {**{name: [fields] for name, fields in case["stable"]["final"].items()}, **case["varies"].get("final", {})}


def _of_interest(case: Case, final: Mapping[str, Any]) -> dict[str, Any]:
    """Return our final objects restricted to the recorded fields."""
    finals = _finals(case)
    return {
        name: {word: value for word, value in final[name].items() if any(word in each for each in variants)}
        for name, variants in finals.items() if name in final
    }


def _changes(rows: Sequence[Any]) -> dict[str, Any]:
    """Return the changes of an object by number, so that a difference names change and field."""
    found = {}
    for number, row in enumerate(rows):
        said = {word: value for word, value in row.get("set", {}).items() if not is_driver_owned(word)}
        found[f"{number:02}"] = {"what": f"{row['by']} {row['verb']} {row['type']}", **said}
    return found


def _said(rows: Sequence[Any]) -> list[str]:
    """Return events without counts, sorted."""
    words = ("source", "type", "reason", "message")
    return sorted({" | ".join(row if isinstance(row, list) else [row[word] for word in words]) for row in rows})


def _chosen(variants: Mapping[str, Sequence[Any]], ours: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (nearest recorded variant of every name, ours)."""
    nearest = {
        name: min(known, key=lambda one, name=name: _distance(one, ours.get(name)))  # type: ignore[misc]
        for name, known in variants.items()
    }
    return {name: one for name, one in nearest.items() if one != []}, dict(ours)


def _distance(one: Any, other: Any) -> int:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return sum(_distance(one.get(key), other.get(key)) for key in {*one, *other})
    if isinstance(one, list) and isinstance(other, list):
        return sum(part not in other for part in one) + sum(part not in one for part in other) + (one != other)
    return int(one != other)


def _differences(aspects: Aspects) -> int:
    return sum(_distance(*sides) for sides in aspects.values())


def _first_line(text: str) -> str:
    return text.partition("\n")[0]


def _order(case: Case, places: Mapping[str, Sequence[int]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return which of the recorded orders hold in our run; None where our run lacks such a change."""
    excepted = {entry["order"] for entry in case.get("exceptions", ()) if "order" in entry}
    orders = [order for order in case["always_before"] if order not in excepted]
    return dict.fromkeys(orders, True), {order: _holds(order, places) for order in orders}


def _holds(order: str, places: Mapping[str, Sequence[int]]) -> bool | None:
    sides = []
    for change in order.split(" < "):
        name, _, number = change.rpartition("#")
        there = places.get(name, ())
        if int(number) >= len(there):
            return None
        sides.append(there[int(number)])
    return sides[0] < sides[1]


TRACES = Traces()


@attrs.frozen(repr=False)
class Trace:
    """A recorded run: its question, and its writes as lines in the order in which they were observed."""

    name: str
    question: str
    version: str
    timeline: tuple[str, ...]
    case: Case = attrs.field(repr=False)

    def __repr__(self) -> str:
        return f"{self.name}, recorded from Kubernetes {self.version}: {len(self.timeline)} writes\n{self.question}"

    def __len__(self) -> int:
        return len(self.timeline)

    def cluster(self, revision: str | Revision = "upstream") -> Cluster:
        """Return a simulated cluster in which the recorded user actions were replayed until nothing was left to do."""
        cluster = TracePlayer(self.case["steps"], revision_named(revision)).cluster
        cluster.name = f"{self.name}, here"
        return cluster


def trace(path: Path | str) -> Trace:
    """Read one recorded run from its file.

    Raises:
        ValueError: the file contains no recorded run, or several.
        OSError: it cannot be read.
    """
    cases = [recorded.case for recorded in read(Path(path)) if recorded.family == "traces"]
    if len(cases) != 1:
        raise ValueError(f"{path}: holds {len(cases)} recorded runs of a control plane; expected one")
    (case,) = cases
    return Trace(case["name"], case["question"], case["version"], tuple(case["timeline_of_run_1"]), case)

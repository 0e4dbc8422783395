"""Read recorded cases, compare their answers with the engine's, count agreements, and keep the first differences.

This module knows no Kubernetes. An aspect absent from the recording must be absent from our answer; every aspect of a
family is compared in every case, so that `of` is the number of cases. A case is plain data that its family interprets.
Whatever the format of the file, the recorded answer is under `expect`, so that the code that answers can be given the
case without it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from kvolsched.api.notebook_output import PrintedAnswer
from kvolsched.api.text.manifest import read_plain

if TYPE_CHECKING:
    from kvolsched.rules.revision import Revision

Case = Mapping[str, Any]
ANSWER_FIELDS = ("code", "message", "causes")  # fields of a probe that belong to the answer
MAX_SHOWN = 3  # differing cases kept for each family and aspect, and lines shown of each
MAX_LENGTH = 400  # characters of one side that are shown


class _Absent(PrintedAnswer):
    """Placeholder for an aspect, or a part of one, that is absent."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()


@attrs.frozen
class FailedAnswer(PrintedAnswer):
    """Placeholder for an answer that raised an error; it equals nothing, not even itself."""

    words: str

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"failed: {self.words}"


@attrs.frozen
class Family:
    """The functions that answer the cases of one family, and the aspects that are compared.

    Args:
        aspects: what is compared, in the order in which it is shown.
        answer: computes our answer to a case under a revision, aspect by aspect, as plain data. It receives the case
            without `expect`.
        expected: converts the recorded answer to the same form; by default it has it.
        revision: the rules that the recordings apply to.
    """

    aspects: tuple[str, ...]
    answer: Callable[[Case, Revision], Mapping[str, Any]]
    expected: Callable[[Case], Mapping[str, Any]] = itemgetter("expect")
    revision: str = "upstream"

    def compare(self, case: Case, revision: Revision) -> Iterator[tuple[str, Any, Any]]:
        """Yield every aspect with both sides; if our answer raises, every aspect differs and shows the error.

        Raises:
            ValueError: the case contains no recorded answer.
        """
        try:
            expected = self.expected(case)
        except LookupError as lack:
            raise ValueError(f"the recording does not say what was answered: it lacks {lack}") from None
        try:
            actual = self.answer({word: what for word, what in case.items() if word != "expect"}, revision)
        except Exception as error:  # noqa: BLE001 - an error is one disagreement; the other cases are still compared
            failed = FailedAnswer(f"{type(error).__name__}: {error}")
            actual = dict.fromkeys(self.aspects, failed)
        for aspect in self.aspects:
            yield aspect, expected.get(aspect, ABSENT), actual.get(aspect, ABSENT)


@attrs.frozen
class Difference:
    """One aspect of one case whose two sides differ."""

    family: str
    case: str
    aspect: str
    expected: Any
    actual: Any

    def parts(self) -> Iterator[tuple[str, Any, Any]]:
        """Yield (path, recorded, ours) for every part that differs; a path is for example `nodes.n0.codes.first`."""
        yield from _parts(self.aspect, self.expected, self.actual)

    def __str__(self) -> str:
        parts, lines = list(self.parts()), [self.case]
        for path, expected, actual in parts[:MAX_SHOWN]:
            lines += [f"  {path}", f"    recorded  {_shown(expected)}", f"    ours      {_shown(actual)}"]
        if len(parts) > MAX_SHOWN:
            lines.append(f"  and {len(parts) - MAX_SHOWN} more")
        return "\n".join(lines)


def _parts(path: str, expected: Any, actual: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        for key in sorted({*expected, *actual}):
            yield from _parts(f"{path}.{key}", expected.get(key, ABSENT), actual.get(key, ABSENT))
    elif not expected == actual:  # noqa: SIM201 - FailedAnswer defines __eq__ only
        yield path, expected, actual


def _shown(value: Any) -> str:
    literal = isinstance(value, _Absent | FailedAnswer)
    text = repr(value) if literal else json.dumps(value, default=repr, ensure_ascii=False)
    return text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]} …"


@attrs.define
class Agreement:
    """Counts of agreeing cases by family and aspect, with the first differences. Mutable."""

    counts: dict[str, dict[str, list[int]]] = attrs.field(factory=dict)
    differences: list[Difference] = attrs.field(factory=list)
    interrupted: bool = False

    def note(self, family: str, case: str, aspect: str, expected: Any, actual: Any) -> None:
        """Count one aspect of one case."""
        count = self.counts.setdefault(family, {}).setdefault(aspect, [0, 0])
        agrees = bool(expected == actual)
        count[0] += agrees
        count[1] += 1
        if not agrees and count[1] - count[0] <= MAX_SHOWN:
            self.differences.append(Difference(family, case, aspect, expected, actual))

    @property
    def complete(self) -> bool:
        """Whether at least one case was compared, none was left out, and all agree."""
        counts = [count for aspects in self.counts.values() for count in aspects.values()]
        return bool(counts) and not self.interrupted and all(agree == of for agree, of in counts)

    def as_data(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return `{family: {aspect: {"agree": n, "of": m}}}`."""
        return {
            family: {aspect: {"agree": agree, "of": of} for aspect, (agree, of) in aspects.items()}
            for family, aspects in self.counts.items()
        }

    def table(self) -> str:
        """Return tables of `agreeing/compared`: one row per family, one column per aspect."""
        by_aspects: dict[tuple[str, ...], list[list[str]]] = {}
        for family, aspects in self.counts.items():
            cells = [f"{agree}/{of}" for agree, of in aspects.values()]
            by_aspects.setdefault(tuple(aspects), []).append([family, *cells])
        return "\n\n".join(_table(["family", *aspects], rows) for aspects, rows in by_aspects.items())

    def __str__(self) -> str:
        parts = [self.table() or "nothing was compared"]
        for family, aspects in self.counts.items():
            for aspect, (agree, of) in aspects.items():
                if agree != of:
                    found = [str(each) for each in self.differences if (each.family, each.aspect) == (family, aspect)]
                    parts.append("\n".join([f"{family}, {aspect}: {of - agree} of {of} differ", *found]))
        if self.interrupted:
            parts.append("interrupted: the remaining cases were not compared")
        return "\n\n".join(parts)


def _table(head: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    padded = [[cell.rjust(width) for cell, width in zip(row, widths, strict=True)] for row in (head, *rows)]
    names = [row[0].ljust(widths[0]) for row in (head, *rows)]
    return "\n".join("  ".join([name, *row[1:]]) for name, row in zip(names, padded, strict=True))


@attrs.frozen
class Recorded:
    """One recorded case: family, name, and JSON text, which is parsed when the case is played."""

    family: str
    id: str
    text: str = attrs.field(repr=False)

    @property
    def case(self) -> Case:
        """The case as plain data; a new copy on every access."""
        parsed: Case = json.loads(self.text)
        return parsed


def read(path: Path) -> tuple[Recorded, ...]:
    """Return the cases of a file, or of all files of a directory, in order.

    A file is `FAMILY.jsonl` (one case per line) or one JSON object: a case, a trace (family `traces`), probes of an API
    server (`refusals`, one case each), events in the order in which they happened (`wakeups`, one case each), or the
    `case.json` of a directory of printed texts (`kubectl`). Each may be gzipped (`.gz`).

    Raises:
        ValueError: the file is no valid gzip, or a line is no JSON object; the message names file and line.
        OSError: it cannot be read.
    """
    if path.is_dir():
        inside = path / "case.json"
        files = [inside] if inside.exists() else sorted(
            file for file in path.iterdir()
            if file.is_dir() or file.name.removesuffix(".gz").endswith((".json", ".jsonl"))
        )
        return tuple(recorded for file in files for recorded in read(file))
    text, name = _text(path), path.name.removesuffix(".gz")
    stem = name.rpartition(".")[0]
    if not name.endswith(".json"):
        return tuple(
            Recorded(str(case.get("family", stem)), str(case.get("id", f"{stem}:{number}")), line)
            for number, line in enumerate(text.split("\n"), 1) if line.strip()
            for case in [_parsed(path, number, line)]
        )
    case = _parsed(path, 1, text)
    if "steps" in case and "stable" in case:
        return (_made("traces", case["name"], {**case, "exceptions": _exceptions(path.parent, case["name"])}),)
    if "probes" in case:
        asked = [{word: what for word, what in probe.items() if word not in ANSWER_FIELDS} for probe in case["probes"]]
        return tuple(
            _made("refusals", probe["name"], {"probes": asked, "place": place, "expect": probe})
            for place, probe in enumerate(case["probes"])
        )
    if "events" in case and "pending" in case:
        names = [event["event"] for event in case["events"]]
        return tuple(
            _made("wakeups", f"{place}: {event['event']}", {"events": names, "place": place, "expect": event})
            for place, event in enumerate(case["events"])
        )
    if "shown" in case:
        folder = path.parent
        printed = {file.stem: file.read_text() for file in sorted(folder.glob("*.txt"))}
        objects = _parsed(folder / "objects.json", 1, _text(folder / "objects.json"))
        said = {**case, "objects": objects, "files": list(printed), "expect": printed}
        return (_made("kubectl", folder.name, said),)
    return (Recorded(str(case.get("family", stem)), str(case.get("id", stem)), text),)


def _text(path: Path) -> str:
    try:
        return (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    except (gzip.BadGzipFile, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _parsed(path: Path, number: int, text: str) -> dict[str, Any]:
    try:
        case = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}:{number}: {error}") from None
    if not isinstance(case, dict):
        raise ValueError(f"{path}:{number}: a case is a JSON object, not {type(case).__name__}")  # noqa: TRY004
    return case


def _made(family: str, name: str, case: Case) -> Recorded:
    return Recorded(family, name, json.dumps(case))


def _exceptions(folder: Path, trace: str) -> list[Any]:
    """Return the entries of `EXCEPTIONS.yaml` for a trace: orders and outcomes that are not compared, with reasons."""
    file = folder / "EXCEPTIONS.yaml"
    (told,) = read_plain(file.read_text(), file.name) if file.exists() else ({},)
    return list(told.get(trace, []))

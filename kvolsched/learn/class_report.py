"""What a reader did, as a file to hand in, and a class of such files judged again.

A report has acts and answers, never verdicts on a page: whoever grades draws every page by the reader's name and
replays its commands. Each row is hashed over the row before and the name, so a row that is changed or taken from a
neighbour is noticed. It is for a class and not for an exam: who can run the program can write a report.
"""

import json
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from typing import Any

import attrs

from ..api.notebook_output import PrintedAnswer, Rows, printable
from ..questions import predict
from ..questions.predict import Grade
from .pager import done_pages, page

COLUMNS = ("asked", "answered", "first", "pages", "stars", "acts", "minutes")
MOST = 10_000_000  # characters of a report
MOST_ACTS = 100  # of a page, that are replayed
_KERNEL = f"{time.time_ns():x}"  # tells the notebooks of a reader apart
_reported: dict[Path, int] = {}  # how many pages of this process stand in a report


@attrs.frozen
class StudentRow:
    """What one report came to.

    Args:
        name: whose.
        asked, answered, first: questions, those with an answer, those right at the first try, as their kernel said.
        pages, stars: pages done, and the stars that the replay gave.
        acts: commands that changed something.
        minutes: over all pages.
        remarks: what is odd.
        whys: what the reader wrote of each page: why did it wait?
    """

    name: str
    asked: int
    answered: int
    first: int
    pages: int
    stars: int
    acts: int
    minutes: int
    remarks: tuple[str, ...] = ()
    whys: tuple[str, ...] = ()


@attrs.frozen(repr=False)
class ClassGrade(Rows[StudentRow], PrintedAnswer):
    """A line for each report, sorted by name; printed as a table, then what is odd, and what was written."""

    rows: tuple[StudentRow, ...]

    def __repr__(self) -> str:
        wide = max((len(row.name) for row in self.rows), default=4) + 2
        table = [("name", *(name.replace("first", "right at first") for name in COLUMNS)),
                 *((row.name, *(str(getattr(row, name)) for name in COLUMNS)) for row in self.rows)]  # fmt: skip
        widths = [len(head) + 2 for head in table[0][1:]]
        lines = [f"{name:<{wide}}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
                 for name, *cells in table]  # fmt: skip
        return "\n".join([*lines, *(f"{row.name}: {said}" for row in self.rows for said in (*row.remarks, *row.whys))])


def report(name: str, path: str | Path = "") -> Path:
    """Write what was answered and done in this notebook as a file, by default `kvolsched-NAME.json` in this folder.

    What another notebook wrote into the same file stays: rows are added to it.

    Raises:
        ValueError: the file there is no report of this name.

    >>> import tempfile
    >>> report("ada", Path(tempfile.mkdtemp()) / "ada.json").name
    'ada.json'
    """
    target = Path(path or f"kvolsched-{''.join(each if each.isalnum() else '-' for each in name)}.json").absolute()
    rows: list[Any] = []
    if target.exists():
        known = _read(target)
        if known["name"] != name:
            raise ValueError(f"{target.name} is the report of {known['name']!r}, not of {name!r}: give another path")
        rows = known["rows"]
    mine = [done for done in done_pages if done.name == name]
    new = [{"page": [done.level, done.number], "acts": done.acts, "hints": done.hints, "seconds": int(done.seconds),
            "why": done.why} for done in mine[_reported.get(target, 0) if rows else 0:]]  # fmt: skip
    _reported[target] = len(mine)
    answers = predict.grade()
    if answers:
        new.append({"kernel": _KERNEL, "asked": answers.asked, "answered": sum(row.answered for row in answers),
                    "first": answers.first})  # fmt: skip
    for row in json.loads(json.dumps(new)):
        rows.append({**row, "hash": _hash(name, rows[-1]["hash"] if rows else "", row)})
    target.write_text(json.dumps({"name": name, "rows": rows}, ensure_ascii=False, indent=1), "utf-8")
    return target


def grade(*files: str | Path) -> Grade | ClassGrade:
    """Count this notebook's answers, first tries apart; with reports of a class, judge each of them again.

    Raises:
        ValueError: a file is no report.

    >>> isinstance(grade(), Grade)
    True
    """
    if not files:
        return predict.grade()
    rows = sorted((_judged(Path(file)) for file in files), key=lambda row: row.name)
    return ClassGrade(tuple(rows))


def _judged(path: Path) -> StudentRow:
    found, whys = _read(path), []
    name, rows, remarks = found["name"], found["rows"], []
    if not _is_whole(name, rows):
        remarks.append(f"{path.name} was changed, or is somebody else's: its pages count nothing")
    pages = {tuple(row["page"]): row for row in rows if "page" in row}
    stars = 0
    for (level, number), row in sorted(pages.items()):
        drawn = page(name, level, number)
        done = [drawn.kubectl(command, stdin) for command, stdin in row["acts"][:MOST_ACTS]]
        if refused := [each.stderr.strip() for each in done if each.code]:
            count = f"{len(refused)} of {len(row['acts'])} acts"
            remarks.append(f"page L{level}.{number}: {count} cannot be done there: {refused[0]}")
        if row.get("why"):
            whys.append(f"page L{level}.{number}: {printable(' '.join(row['why'].split()))}")
        stars += 0 if remarks and not _is_whole(name, rows) else drawn.stars.count
    answers = {row["kernel"]: row for row in rows if "asked" in row}.values()  # of each kernel the last count
    asked, answered, first = (sum(int(row[each]) for row in answers) for each in ("asked", "answered", "first"))
    acts, seconds = (sum(each) for each in (
        [len(row["acts"]) for row in pages.values()], [int(row["seconds"]) for row in pages.values()]))
    return StudentRow(name, asked, answered, first, len(pages), stars, acts, seconds // 60, tuple(remarks), tuple(whys))


def _is_whole(name: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    before = ["", *(str(row.get("hash")) for row in rows)]
    plain = ({key: value for key, value in row.items() if key != "hash"} for row in rows)
    return before[1:] == [*map(_hash, repeat(name), before, plain)]


def _hash(name: str, before: str, row: Mapping[str, Any]) -> str:
    return sha256(json.dumps([name, before, row], sort_keys=True).encode()).hexdigest()


def _read(path: Path) -> dict[str, Any]:
    """Read a report; it is somebody else's file, so that every field is looked at.

    Raises:
        ValueError: it is no report; the message says why.
    """
    try:
        found = json.loads(path.read_text("utf-8")[:MOST])
        rows = found["rows"]
        fits = isinstance(found["name"], str) and all(_fits(row) for row in rows)
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ValueError(f"{path} is no report of kvolsched: {error}") from None
    if not fits:
        raise ValueError(f"{path} is no report of kvolsched: a row has other fields than a page or answers have")
    return {"name": found["name"], "rows": rows}


def _fits(row: Mapping[str, Any]) -> bool:
    numbers = ("hints", "seconds") if "page" in row else ("asked", "answered", "first")
    pairs = [*row.get("acts", ()), (row.get("kernel", ""), row.get("why", ""))]
    texts, place = all(isinstance(part, str) for pair in pairs for part in pair), row.get("page", (1, 1))
    known = "page" in row or "kernel" in row
    counted = known and all(isinstance(each, int) for each in (*place, *(row[name] for name in numbers)))
    return counted and texts and min(place) > 0 and all(len(pair) == 2 for pair in (place, *pairs))

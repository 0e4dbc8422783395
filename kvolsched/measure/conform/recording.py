"""Read recorded cases from files: JSON Lines or one JSON object per file, plain or gzipped.

A case is plain data that its family interprets. Whatever the format of the file, the recorded answer is under `expect`,
so that the code that answers can be given the case without it.
"""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from kvolsched.api.text.manifest import read_plain

Case = Mapping[str, Any]
ANSWER_FIELDS = ("code", "message", "causes")  # fields of a probe that belong to the answer


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

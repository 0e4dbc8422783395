"""Faults of a manifest, each with its place, rule and value, and the error that carries all of them.

This module only describes faults; `convert` finds those of fields and types, `manifest` those of texts and limits.
"""

import difflib
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import attrs

from kvolsched.api.notebook_output import printable

# A path as nested pairs (path of the parent, key or index), None for the object: cheap to extend while reading.
PathChain = tuple[Any, str | int] | None
MAX_LINE_LENGTH = 200  # characters of one printed line
MESSAGE_ROOM = 110  # of these, for the message, whatever stands before it
MAX_LINES = 10  # lines shown in a notebook


def path_steps(chain: PathChain) -> tuple[str | int, ...]:
    """Return the keys and indices of a path chain, outermost first."""
    found: list[str | int] = []
    while chain is not None:
        chain, step = chain
        found.append(step)
    return tuple(reversed(found))


def format_path(path: Iterable[str | int]) -> str:
    """Format a path as Kubernetes does: `spec.containers[0].name`, `metadata.labels[example.com/a]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum() or not step:
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)  # `json.dumps` would make one for each value


def format_value(value: Any, max_length: int = 60) -> str:
    """Format a value on one line, cut if it is long; texts are quoted and escaped."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = _ENCODER.encode(value)
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def suggest_nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `; did you mean "…"?` with the known word nearest to this one, or ""."""
    return _nearest(word, tuple(known), cutoff)


@lru_cache(maxsize=1 << 10)  # a misspelling in every item of a list is looked up once
def _nearest(word: str, known: tuple[str, ...], cutoff: float) -> str:
    by_case = {other.lower(): other for other in known}
    matches = difflib.get_close_matches(word.lower(), by_case, n=1, cutoff=cutoff)
    return f"; did you mean {json.dumps(by_case[matches[0]])}?" if matches else ""


@attrs.frozen(kw_only=True)
class Limits:
    """The largest sizes that are read; larger ones are refused."""

    size: int = 10**9  # bytes of one source
    documents: int = 200_000  # in one source
    nesting: int = 100  # mappings and lists inside each other
    expansion: int = 10  # size after expanding YAML aliases, as a multiple of the text


LIMITS = Limits()


@attrs.frozen
class Problem:
    """A problem in one object, before its place in the source is known.

    `rule` is one of: unknown (no such field), type, quantity, enum, conflict (two spellings with different values),
    spelling (accepted and normalised). `got` and `wants` are the type names in the API server's message. `other` is the
    document whose place the message names as `{place}`.
    """

    path: tuple[str | int, ...]
    rule: str
    value: Any
    message: str
    got: str = ""
    wants: str = ""
    other: Any = None

    @property
    def field(self) -> str:
        """The path as Kubernetes formats it."""
        return format_path(self.path)


@attrs.frozen(kw_only=True)
class Fault:
    """A fault with its place: source, document, line, object, field, rule and value."""

    source: str = ""
    document: int = 0
    line: int = 0
    object: str = ""
    path: str = ""
    rule: str = ""
    value: Any = None
    message: str = ""

    def __str__(self) -> str:
        places = [f"document {self.document}"] if self.document else []
        places += [f"line {self.line}"] if self.line else []
        parts = [printable(part) for part in (self.source, self.object, self.path, self.message)]
        parts = [part.replace("\n", "\\n").replace("\t", "\\t") for part in parts]
        line = _joined(parts, places)
        if len(line) > MAX_LINE_LENGTH:
            room = MAX_LINE_LENGTH - min(len(parts[3]), MESSAGE_ROOM) - len(_joined(("", "", "", ""), places)) - 8
            line = _joined([*(_shortened(part, room // 3) for part in parts[:3]), parts[3]], places)
        return line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 1]}…"


def _joined(parts: Sequence[str], places: Sequence[str]) -> str:
    """Return one line of source, object, path and message; the places stand beside the source."""
    source, *others = parts
    return ": ".join(filter(None, (", ".join(filter(None, (source, *places))), *others)))


def _shortened(text: str, room: int) -> str:
    """Return a long path or name without its middle: both ends tell it apart, and the message keeps its room."""
    kept = (room - 1) // 2
    return text if len(text) <= room else f"{text[:kept]}…{text[-kept:]}"


def fault_lines(found: Sequence[Fault], max_lines: int, where: str) -> list[str]:
    """Return faults as at most so many lines; the last one says how many there are more, and where."""
    if len(found) <= max_lines:
        return list(map(str, found))
    return [*map(str, found[: max_lines - 1]), f"… and {len(found) - max_lines + 1:,} more{where}"]


class ManifestError(ValueError):
    """Manifests have faults, all of which are in `faults`; nothing was loaded."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, max_lines: int = MAX_LINES) -> list[str]:
        """Return a headline and a line for each fault, at most this many lines."""
        count = len(self.faults)
        headline = f"{count} fault{'' if count == 1 else 's'} in the manifests; nothing was loaded"
        return [headline, *fault_lines(self.faults, max_lines - 1, "; all are in .faults")]

    def _render_traceback_(self) -> list[str]:
        return self.lines()

"""What is wrong with a manifest, said so that a person can mend it: every fault with its place, rule and
value.

This module only describes faults; who finds them is `convert` (fields and types) and `manifest` (texts and
limits).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import attrs

# A path is a chain of (the path before it, key or index), None at the object itself: cheap to extend while
# reading.
PathChain = tuple[Any, str | int] | None
MAX_LINE_LENGTH = 200  # characters of one printed line
MAX_LINES = 10  # lines shown in a notebook


def path_steps(chain: PathChain) -> tuple[str | int, ...]:
    """Return the keys and indices of a chain, outermost first."""
    found: list[str | int] = []
    while chain is not None:
        chain, step = chain
        found.append(step)
    return tuple(reversed(found))


def format_path(path: Iterable[str | int]) -> str:
    """Return a path as Kubernetes spells it: `spec.containers[0].name`, `metadata.labels[example.com/a]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.replace("_", "").replace("-", "").isalnum() or not step:
            text += f".{step}" if text else step
        else:
            text += f"[{step}]"
    return text


def format_value(value: Any, longest: int = 60) -> str:
    """Return a value on one line, cut where it is long; texts in double quotes, escaped."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def suggest_nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `; did you mean "…"?` for the known word nearest to this one, or nothing."""
    return _nearest(word, tuple(known), cutoff)


@lru_cache(maxsize=1 << 10)  # a slip that stands in every item of a list is looked up once
def _nearest(word: str, known: tuple[str, ...], cutoff: float) -> str:
    by_case = {other.lower(): other for other in known}
    found = difflib.get_close_matches(word.lower(), by_case, n=1, cutoff=cutoff)
    return f"; did you mean {json.dumps(by_case[found[0]])}?" if found else ""


@attrs.frozen
class Problem:
    """One thing wrong inside one object.

    `rule` is one of: unknown (no such field), type, quantity, enum, conflict (two spellings that differ), and
    spelling (accepted and normalised). `got` and `wants` are what the API server names of a wrong type.
    """

    path: tuple[str | int, ...]
    rule: str
    value: Any
    message: str
    got: str = ""
    wants: str = ""

    @property
    def field(self) -> str:
        """The path as Kubernetes spells it."""
        return format_path(self.path)


@attrs.frozen(kw_only=True)
class Fault:
    """One fault: which source, document and line, which object and field, which rule and value."""

    source: str = ""
    document: int = 0
    line: int = 0
    object: str = ""
    path: str = ""
    rule: str = ""
    value: Any = None
    message: str = ""

    def __str__(self) -> str:
        place = [self.source] if self.source else []
        place += [f"document {self.document}"] if self.document else []
        place += [f"line {self.line}"] if self.line else []
        parts = [", ".join(place), self.object, self.path, self.message]
        line = ": ".join(part for part in parts if part)
        line = "".join(
            character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line
        )
        return line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 1]}…"


class ManifestError(ValueError):
    """Every fault of what was read; nothing of it was loaded. `faults` holds them all."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(self.faults)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, most: int = MAX_LINES) -> list[str]:
        """Return what a person reads: a headline and one line a fault, at most so many lines."""
        count = len(self.faults)
        headline = f"{count} fault{'' if count == 1 else 's'} in the manifests; nothing was loaded"
        fits = self.faults if count < most else self.faults[: most - 2]
        lines = [headline, *map(str, fits)]
        if len(fits) < count:
            lines.append(f"… and {count - len(fits)} more; all are in .faults")
        return lines

    def _render_traceback_(self) -> list[str]:
        return self.lines()

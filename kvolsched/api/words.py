"""How sentences list names, count things, round amounts and are wrapped."""

import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

LINE_WIDTH = 110  # characters of a line of text in a notebook
COMMAND = ("kubectl ", "kube-scheduler ")  # how a line begins that somebody types
_AMOUNTS = ((1 << 50, "Pi"), (1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki"))


def listed(names: Iterable[str], last: str = "and") -> str:
    """Return names as an enumeration: `a`, `a and b`, `a, b and c`; "" for none."""
    *first, end = [*names] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def one_of(names: Iterable[str]) -> str:
    """Return names as alternatives: `a`, `a or b`, `a, b or c`; "" for none."""
    return listed(names, "or")


def first_of(names: Sequence[str], most: int) -> str:
    """Return as many names as that, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def from_to(old: str, new: str) -> str:
    """Return how a value changed: `Pending → Bound`; an empty one is `none`."""
    return f"{old or 'none'} → {new or 'none'}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 node`, `2 nodes`, `2 StorageClasses`, `2 CSIStorageCapacities`."""
    stem = f"{noun}e" if noun.endswith("s") else re.sub(r"(?<![aeo])y$", "ie", noun)
    return f"{number} {noun if number == 1 else f'{stem}s'}"


def cores(millis: int) -> str:
    """Write millicores as cores with at most two decimals: 1200 is "1.2"."""
    return f"{millis / 1000:.2f}".rstrip("0").rstrip(".")


def amount(count: int) -> str:
    """Write bytes with a binary suffix and at most one decimal: "16Gi", "1.5Gi"."""
    for unit, suffix in _AMOUNTS:
        if abs(count) >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + suffix
    return str(count)


def hanging_indent(lines: Iterable[str], indent: int, width: int = LINE_WIDTH) -> str:
    """Wrap lines at the width and indent all but the first, which the caller puts after its own text.

    A command is never wrapped: pasted into a shell, its second line would be another one.
    """
    room = max(40, width - indent)
    wrapped = [part for line in lines for part in (
        [line] if line.startswith(COMMAND) else wrap(line, room, break_long_words=False, break_on_hyphens=False))]
    return f"\n{'':{indent}}".join(wrapped)

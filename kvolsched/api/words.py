"""How sentences list names and count things."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


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
    """Return a number with its noun: `1 node`, `2 nodes`."""
    return f"{number} {noun}{'s' * (number != 1)}"

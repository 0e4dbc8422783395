"""How sentences list names, count things and round amounts."""

from collections.abc import Iterable, Sequence

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
    """Return a number with its noun: `1 node`, `2 nodes`."""
    return f"{number} {noun}{'s' * (number != 1)}"


def cores(millis: int) -> str:
    """Write millicores as cores with at most two decimals: 1200 is "1.2"."""
    return f"{millis / 1000:.2f}".rstrip("0").rstrip(".")


def amount(count: int) -> str:
    """Write bytes with a binary suffix and at most one decimal: "16Gi", "1.5Gi"."""
    for unit, suffix in _AMOUNTS:
        if abs(count) >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + suffix
    return str(count)

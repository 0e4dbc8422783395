"""How the chart of a sweep reads: one column over another, a line for each value of a third."""

from collections.abc import Mapping, Sequence
from typing import Any

from kvolsched.views.drawing import text as t

MOST_LINES = 8


def reading(rows: Sequence[Mapping[str, Any]], x: str, y: str, by: str = "", title: str = "") -> str:
    """Return the values as a table: a row for each x, a column for each line.

    Beside its value a row may have the interval from `low` to `high`, and what is `expected`.
    """
    lines: dict[str, dict[float | str, str]] = {}
    for row in rows:
        lines.setdefault(row[by] if by else y, {})[row[x]] = _value(row, y)
    places = dict.fromkeys(place for line in lines.values() for place in line)
    names = (x if isinstance(x, str) else t.short(x) if abs(x) < 1000 else f"{x:,.0f}" for x in places)
    table = [[x, *lines], *([name, *(line.get(place, "–") for line in lines.values())]
                            for name, place in zip(names, places, strict=True))]
    return "\n".join([*([title] if title else []), f"{y} by {x}{f' and {by}' if by else ''}", t.columns(table)])


def _value(row: Mapping[str, Any], y: str) -> str:
    found = t.short(row[y]) + (f" ({t.short(row['low'])} to {t.short(row['high'])})" if "low" in row else "")
    return f"{found}, expected {t.short(row['expected'])}" if "expected" in row else found

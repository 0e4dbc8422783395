"""The table of a sweep's chart: one column over another, a line for each value of a third; and how it reads."""

from attrs import frozen

from kvolsched.views.drawing import text as t

MOST_LINES = 8


@frozen
class ChartPoint:
    """One value, over a number or a name: with its interval if it is a mean, and with what a formula says."""

    x: float | str
    y: float
    low: float | None = None
    high: float | None = None
    expected: float | None = None


@frozen
class ChartLine:
    """The points of one line, in the order of x; its name is "" if it is the only one."""

    name: str
    points: tuple[ChartPoint, ...]


@frozen
class ChartRows:
    """What a chart of a table shows."""

    title: str  # A sentence over it; "" for none
    x: str  # Name of the column along the bottom
    y: str  # Name of the column that is drawn
    by: str  # Name of the column that tells the lines apart; "" for one line
    lines: tuple[ChartLine, ...]  # The lines
    log: str = ""  # Which axes are logarithmic: "", "x", "y" or "xy"


def reading(rows: ChartRows) -> str:
    """Return the values as a table: a row for each x, a column for each line."""
    head = f"{rows.y} by {rows.x}{f' and {rows.by}' if rows.by else ''}"
    places = list(dict.fromkeys(point.x for line in rows.lines for point in line.points))
    found = [{point.x: _value(point) for point in line.points} for line in rows.lines]
    table = [[rows.x, *(line.name or rows.y for line in rows.lines)],
             *([_name(x), *(values.get(x, "–") for values in found)] for x in places)]
    return "\n".join([*([rows.title] if rows.title else []), head, t.columns(table)])


def _value(point: ChartPoint) -> str:
    found = t.short(point.y)
    if point.low is not None and point.high is not None:
        found += f" ({t.short(point.low)} to {t.short(point.high)})"
    return found if point.expected is None else f"{found}, expected {t.short(point.expected)}"


def _name(x: float | str) -> str:
    return x if isinstance(x, str) else t.short(x) if abs(x) < 1000 else f"{x:,.0f}"

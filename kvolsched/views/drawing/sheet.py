"""A sheet of marks in px: rectangles, rules and words at computed places.

Ledgers want squares, bars, rules and words at computed places, which the facets of a chart
cannot give: so geometry is computed here and drawn twice from the same marks, as an altair
chart that a reader may restyle (`canvas.py`), and as the SVG that the panel shows, which
costs a millisecond and follows the theme. A mark may carry a ref; the SVG and, when asked
for, the chart's `href` channel bring clicks on it back.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from attrs import define, field

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import palette
from kvolsched.views.drawing.svg import num
from kvolsched.views.drawing.tables import picture

ORDER = ("rect", "rule", "text")
"""Words are never under a rectangle."""

SheetRows = list[dict[str, Any]]
_ANCHORS = {"left": "", "center": "text-anchor:middle;", "right": "text-anchor:end;"}


@define
class Sheet:
    """Marks in the order of their layers (it mutates until `chart` is asked for)."""

    width: float
    refs: bool = False
    layers: dict[tuple[Any, ...], SheetRows] = field(factory=dict)

    def rect(  # noqa: PLR0913 - a mark has that many channels
        self, x: float, y: float, w: float, h: float, fill: str, *, stroke: str = "", radius: float = 3,
        dash: tuple[float, ...] = (), thick: float = 1.5, ref: str = "", tip: str = "",
    ) -> None:  # fmt: skip
        """Add a rectangle; without stroke it has none."""
        row: dict[str, Any] = {
            "x": round(x, 1),
            "x2": round(x + w, 1),
            "y": round(y, 1),
            "y2": round(y + h, 1),
        }
        row |= {"fill": fill, "stroke": stroke or fill, "tip": tip, "ref": f"#{ref}" if ref else ""}
        self.layers.setdefault(("rect", radius, dash, thick if stroke else 0.0, bool(tip)), []).append(row)

    def word(  # noqa: PLR0913 - a mark has that many channels
        self, x: float, y: float, said: str, ink: str, *, size: float = 11, bold: bool = False,
        align: str = "left", room: float = 0, name: bool = False,
    ) -> None:  # fmt: skip
        """Add one line of text, its middle at y, cut to `room` px: a name in its middle, words at the end."""
        cut = t.middle if name else t.end
        said = cut(said, room, size, bold=bold) if room else said
        if said:
            row = {"x": round(x, 1), "y": round(y, 1), "text": said, "ink": ink}
            self.layers.setdefault(("text", size, bold, align), []).append(row)

    def rule(
        self,
        x: float,
        y: float,
        x2: float,
        y2: float,
        ink: str,
        *,
        thick: float = 1,
        dash: tuple[float, ...] = (),
    ) -> None:
        """Add a straight line."""
        row = {"x": round(x, 1), "y": round(y, 1), "x2": round(x2, 1), "y2": round(y2, 1), "ink": ink}
        self.layers.setdefault(("rule", thick, dash), []).append(row)

    def ordered(self) -> list[tuple[tuple[Any, ...], SheetRows]]:
        """Give the layers as they are drawn: rectangles, rules, words."""
        return sorted(self.layers.items(), key=lambda item: ORDER.index(item[0][0]))

    def svg(self, height: float, label: str, selection: str = "") -> str:
        """Draw the marks for the panel: colours follow the theme, marks with a ref can be selected."""
        parts: list[str] = []
        for key, rows in self.ordered():
            if key[0] == "text":
                parts.extend(_text(key, row) for row in rows)
            elif key[0] == "rule":
                parts.extend(_rule(key, row) for row in rows)
            else:
                parts.extend(_rect(key, row, selection) for row in rows)
        return picture(self.width, height, "".join(parts), label)


@cache
def _role(colour: str) -> str:
    """Give the variable that holds a colour of the light theme, so that the dark one can change it."""
    return next((f"var(--kv-{name})" for name, value in palette().items() if value == colour), colour)


def _dashed(dash: tuple[float, ...]) -> str:
    return f"stroke-dasharray:{' '.join(f'{d:g}' for d in dash)};" if dash else ""


def _text(key: tuple[Any, ...], row: dict[str, Any]) -> str:
    _, size, bold, align = key
    weight = "font-weight:700;" if bold else ""
    style = f"fill:{_role(row['ink'])};font-size:{size:g}px;{weight}{_ANCHORS[align]}pointer-events:none"
    said = t.escape(row["text"])
    return f'<text x="{num(row["x"])}" y="{num(row["y"] + size * 0.35)}" style="{style}">{said}</text>'


def _rule(key: tuple[Any, ...], row: dict[str, Any]) -> str:
    _, thick, dash = key
    style = f"stroke:{_role(row['ink'])};stroke-width:{thick:g}px;{_dashed(dash)}"
    ends = " ".join(
        f'{name}="{num(row[at])}"' for name, at in (("x1", "x"), ("y1", "y"), ("x2", "x2"), ("y2", "y2"))
    )
    return f'<line {ends} style="{style}"/>'


def _rect(key: tuple[Any, ...], row: dict[str, Any], selection: str) -> str:
    _, radius, dash, thick, _ = key
    edge = f"stroke:{_role(row['stroke'])};stroke-width:{thick:g}px;{_dashed(dash)}" if thick else ""
    wide, high = row["x2"] - row["x"], row["y2"] - row["y"]
    place = (
        f'x="{num(row["x"])}" y="{num(row["y"])}" width="{num(wide)}" height="{num(high)}" rx="{num(radius)}"'
    )
    ref = row["ref"].removeprefix("#")
    if not ref:
        return f'<rect {place} style="fill:{_role(row["fill"])};{edge}"/>'
    label = t.escape(row["tip"] or ref)
    on = ' aria-pressed="true"' if ref == selection else ""
    mark = f'<rect {place} style="fill:{_role(row["fill"])};{edge}"'
    mark += f' data-ref="{t.escape(ref)}" role="button" aria-label="{label}"{on}/>'
    if not on:
        return mark
    x, y = num(row["x"] - 3), num(row["y"] - 3)
    ring = f'<rect x="{x}" y="{y}" width="{num(wide + 6)}" height="{num(high + 6)}" rx="{num(radius + 3)}"'
    return mark + f'{ring} class="k-ring"/>'

"""A sheet of marks in px: rectangles, lines and words at computed places, drawn as SVG.

A ledger needs squares, bars and words at places that no facet of a chart can give. Drawing costs a millisecond and
follows the theme. A mark with a ref can be selected.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from attrs import define, field

from kvolsched.api.unknown_name import unknown_name
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import hatching, num, picture, rect, selectable, word
from kvolsched.views.drawing.theme import palette

ORDER = ("rect", "rule", "text")
"""Words are never under a rectangle."""
CLEAR = "transparent"  # a mark that is not seen, such as one to be selected
HATCH_STEP = 5.0  # px between the lines of a hatched part

SheetRows = list[dict[str, Any]]
_ANCHORS = {"left": "", "center": "k-mid", "right": "k-end"}


@define
class Sheet:
    """Marks in the order of their layers, each in the colour of a role. Mutable, until it is drawn.

    Args:
        width: of the picture, px.
        label: name of the picture.
        selection: ref of what is selected.
        height: of the picture, px; set when the last mark is placed.
    """

    width: float
    label: str = ""
    selection: str = ""
    height: float = 0.0
    layers: dict[tuple[Any, ...], SheetRows] = field(factory=dict)

    def rect(  # noqa: PLR0913 - a mark has that many channels
        self, x: float, y: float, w: float, h: float, fill: str, *, stroke: str = "", radius: float = 3,
        dash: tuple[float, ...] = (), thick: float = 1.5, ref: str = "", tip: str = "",
    ) -> None:  # fmt: skip
        """Add a rectangle; without stroke it has none."""
        row: dict[str, Any] = {"x": round(x, 1), "x2": round(x + w, 1), "y": round(y, 1), "y2": round(y + h, 1)}
        row |= {"fill": _colour(fill), "stroke": _colour(stroke or fill), "tip": tip, "ref": f"#{ref}" if ref else ""}
        self.layers.setdefault(("rect", radius, dash, thick if stroke else 0.0, bool(tip)), []).append(row)

    def word(  # noqa: PLR0913 - a mark has that many channels
        self, x: float, y: float, content: str, ink: str, *, size: float = 11, bold: bool = False,
        align: str = "left", room: float = 0, name: bool = False,
    ) -> None:  # fmt: skip
        """Add one line of text, its middle at y, cut to `room` px: a name in its middle, words at the end."""
        cut = t.middle if name else t.end
        content = cut(content, room, size, bold=bold) if room else content
        if content:
            row = {"x": round(x, 1), "y": round(y, 1), "text": content, "ink": _colour(ink)}
            self.layers.setdefault(("text", size, bold, align), []).append(row)

    def words(self, x: float, y: float, lines: Iterable[str], ink: str, pitch: float, *, size: float = 11,
              bold: bool = False, room: float = 0) -> float:
        """Add lines of text below each other; return the place of the next one."""
        for line in lines:
            self.word(x, y, line, ink, size=size, bold=bold, room=room)
            y += pitch
        return y

    def rule(self, x: float, y: float, x2: float, y2: float, ink: str, *, thick: float = 1,
             dash: tuple[float, ...] = ()) -> None:
        """Add a straight line."""
        row = {"x": round(x, 1), "y": round(y, 1), "x2": round(x2, 1), "y2": round(y2, 1), "ink": _colour(ink)}
        self.layers.setdefault(("rule", thick, dash), []).append(row)

    def hatch(self, x: float, y: float, w: float, h: float, ink: str, *, thick: float = 1.3) -> None:
        """Hatch a rectangle with lines that rise to the right."""
        for line in hatching(x, y, w, h, HATCH_STEP):
            self.rule(*line, ink, thick=thick)

    def ordered(self) -> list[tuple[tuple[Any, ...], SheetRows]]:
        """Return the layers as they are drawn: rectangles, lines, words."""
        return sorted(self.layers.items(), key=lambda item: ORDER.index(item[0][0]))

    def svg(self) -> str:
        """Draw the marks as SVG: colours follow the theme, marks with a ref can be selected."""
        parts: list[str] = []
        marks: Counter[str] = Counter()  # of each ref: siblings need keys of their own
        for key, rows in self.ordered():
            if key[0] == "text":
                drawn = [_text(key, row) for row in rows]
            elif key[0] == "rule":
                drawn = list(_rules(key, rows))
            else:
                drawn = []
                for row in rows:
                    marks[row["ref"]] += 1
                    drawn.append(_rect(key, row, self.selection, marks[row["ref"]]))
            parts += drawn
        runs = groupby(parts, key=lambda mark: "data-ref" in mark.partition(">")[0])
        body = "".join("".join(run) if selectable else f'<g pointer-events="none">{"".join(run)}</g>'
                       for selectable, run in runs)  # fmt: skip
        return picture(self.width, self.height, body, self.label)


def _colour(role: str) -> str:
    """Return the variable that holds the colour of a role; of CLEAR itself.

    Raises:
        UnknownName: there is no such role. It is a KeyError.
    """
    if role == CLEAR:
        return role
    if role not in palette():
        raise unknown_name(f"role {role!r}", role, palette())
    return f"var(--kv-{role})"


def _dashed(dash: tuple[float, ...]) -> str:
    return f";stroke-dasharray:{' '.join(f'{d:g}' for d in dash)}" if dash else ""


def _text(key: tuple[Any, ...], row: dict[str, Any]) -> str:
    _, size, bold, align = key
    ink, high = row["ink"], f"font-size:{size:g}px" if size != 11 else ""  # the style sheet has ink and 11 px
    style = ";".join(part for part in (f"fill:{ink}" if ink != "var(--kv-ink)" else "", high) if part)
    classes = " ".join(name for name in ("k-b" if bold else "", _ANCHORS[align]) if name)
    return word(row["x"], row["y"] + size * 0.35, classes, row["text"], style)


def _rules(key: tuple[Any, ...], rows: SheetRows) -> Iterator[str]:
    """Yield the lines of a layer, those of one colour as one path."""
    _, thick, dash = key
    by_ink: dict[str, list[str]] = {}
    for row in rows:
        by_ink.setdefault(row["ink"], []).append(f"M{num(row['x'])} {num(row['y'])}L{num(row['x2'])} {num(row['y2'])}")
    for ink, commands in by_ink.items():
        style = f"stroke:{ink};stroke-width:{thick:g}{_dashed(dash)}"
        yield f'<path d="{"".join(commands)}" style="{style}"/>'


def _rect(key: tuple[Any, ...], row: dict[str, Any], selection: str, number: int) -> str:
    _, radius, dash, thick, _ = key
    edge = f";stroke:{row['stroke']};stroke-width:{thick:g}{_dashed(dash)}" if thick else ""
    x, y, wide, high = row["x"], row["y"], row["x2"] - row["x"], row["y2"] - row["y"]
    style, ref = f"fill:{row['fill']}{edge}", row["ref"].removeprefix("#")
    if not ref:
        return rect(x, y, wide, high, "", radius, style=style)
    pressed = ref == selection
    chosen = selectable(ref, row["tip"] or ref, key=f"{ref} {number}", pressed=pressed)
    mark = rect(x, y, wide, high, "", radius, style=style, more=chosen)
    return mark + rect(x - 3, y - 3, wide + 6, high + 6, "k-ring", radius + 3) if pressed else mark

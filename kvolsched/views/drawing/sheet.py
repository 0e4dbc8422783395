"""A sheet of marks in px: rectangles, lines and words at computed places, drawn as SVG.

A ledger needs squares, bars and words at places that no facet of a chart can give. Drawing costs a millisecond and
follows the theme. A mark with a ref can be selected. What can be selected lies below all else, words above all.
"""

from collections import Counter
from collections.abc import Iterable

from attrs import define, field

from kvolsched.api.unknown_name import unknown_name
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import hatching, num, picture, rect, selectable, word
from kvolsched.views.drawing.theme import palette

HATCH_STEP = 5.0  # px between the lines of a hatched part
_ANCHORS = {"left": "", "center": "k-mid", "right": "k-end"}


@define
class Sheet:
    """Marks in the order of their layers, each in the colour of a role. Mutable, until it is drawn."""

    width: float  # px
    label: str = ""
    selection: str = ""  # ref of what is selected
    height: float = 0.0  # px; set when the last mark is placed
    _grounds: list[str] = field(factory=list)
    _rects: list[str] = field(factory=list)
    _rules: dict[str, str] = field(factory=dict)  # style -> commands: lines that look alike are one path
    _words: list[str] = field(factory=list)
    _marks: Counter[str] = field(factory=Counter)  # of each ref: siblings need keys of their own

    def rect(  # noqa: PLR0913 - a mark has that many channels
        self, x: float, y: float, w: float, h: float, fill: str, *, stroke: str = "", radius: float = 3,
        dash: tuple[float, ...] = (), thick: float = 1.5, ref: str = "", tip: str = "",
    ) -> None:  # fmt: skip
        """Add a rectangle; without stroke it has none."""
        left, top, wide, high = round(x, 1), round(y, 1), round(x + w, 1) - round(x, 1), round(y + h, 1) - round(y, 1)
        style = f"fill:{_colour(fill)}"
        style += f";stroke:{_colour(stroke)};stroke-width:{thick:g}{_dashed(dash)}" if stroke else ""
        if not ref:
            self._rects.append(rect(left, top, wide, high, "", radius, style=style))
            return
        self._marks[ref] += 1
        pressed = ref == self.selection
        chosen = selectable(ref, tip or ref, key=f"{ref} {self._marks[ref]}", pressed=pressed)
        self._grounds.append(rect(left, top, wide, high, "", radius, style=style, more=chosen))
        if pressed:
            self._grounds.append(rect(left - 3, top - 3, wide + 6, high + 6, "k-ring", radius + 3))

    def word(  # noqa: PLR0913 - a mark has that many channels
        self, x: float, y: float, content: str, ink: str, *, size: float = 11, bold: bool = False,
        align: str = "left", room: float = 0, name: bool = False,
    ) -> None:  # fmt: skip
        """Add one line of text, its middle at y, cut to `room` px: a name in its middle, words at the end."""
        cut = t.middle if name else t.end
        looks = [f"fill:{_colour(ink)}"] if ink != "ink" else []  # the style sheet has ink and 11 px
        looks += [f"font-size:{size:g}px"] if size != 11 else []
        classes = " ".join(each for each in ("k-b" if bold else "", _ANCHORS[align]) if each)
        self._words.append(word(round(x, 1), round(y, 1) + size * 0.35, classes,
                                cut(content, room, size, bold=bold) if room else content, ";".join(looks)))

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
        style = f"stroke:{_colour(ink)};stroke-width:{thick:g}{_dashed(dash)}"
        ends = (num(round(end, 1)) for end in (x, y, x2, y2))
        self._rules[style] = self._rules.get(style, "") + "M{} {}L{} {}".format(*ends)

    def hatch(self, x: float, y: float, w: float, h: float, ink: str) -> None:
        """Hatch a rectangle with lines that rise to the right."""
        for line in hatching(x, y, w, h, HATCH_STEP):
            self.rule(*line, ink, thick=1.3)

    def svg(self) -> str:
        """Draw the marks as SVG: colours follow the theme, marks with a ref can be selected."""
        rules = (f'<path d="{commands}" style="{style}"/>' for style, commands in self._rules.items())
        above = "".join([*self._rects, *rules, *self._words])
        return picture(self.width, self.height, f'{"".join(self._grounds)}<g pointer-events="none">{above}</g>',
                       self.label)


def _colour(role: str) -> str:
    """Return the variable that holds the colour of a role.

    Raises:
        UnknownName: there is no such role. It is a KeyError.
    """
    if role not in palette():
        raise unknown_name(f"role {role!r}", role, palette())
    return f"var(--kv-{role})"


def _dashed(dash: tuple[float, ...]) -> str:
    return f";stroke-dasharray:{' '.join(f'{d:g}' for d in dash)}" if dash else ""

"""What a reader is shown, as plain lines: the words of an answer, and the words and marks of its picture row by row.

Of a mark there is what a reader distinguishes: colour by its role, outline, dashes, bold type, how wide it is in
twentieths of the picture, how large that is. Places in px are left out but for their order: from top to bottom, then
from left to right.
Of words in HTML there is the style that they are set in, what a click on them selects, what hovering says.
"""

import re
from functools import lru_cache
from itertools import groupby
from xml.etree import ElementTree as ET

from kvolsched.views.charts.figure import PlainChart
from kvolsched.views.drawing.theme import palette, resolve

WIDTHS = (560, 1000)
MOST_TOLD = 15  # of one picture
NEAR = 5  # px: marks whose middles are no further apart stand in one row
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)
INLINE = re.compile(r"</?(?:td|th|span|b|code)\b[^>]*>")
LOOKS = re.compile(r'<\w+((?: [\w-]+="[^"]*")+)>')
TOLD_OF_WORDS = ("class", "style", "data-ref", "title", "aria-label", "open")


def shown(answer, drawn):
    """Return the lines of an answer: what it prints, and its pictures."""
    lines = repr(answer).splitlines()
    for width, html in drawn:
        marks = picture_lines(html)
        lines += [f"--- {width} px, {len(marks)} rows", *marks] if width else marks
    return [line.rstrip() for line in lines]


def pictures(answer):
    """Return the (width, HTML) of an answer's picture at two widths; at 0 if it is what stands in a page."""
    if hasattr(answer, "html"):
        return [(0, answer.html)]
    figure = answer.figure() if hasattr(answer, "figure") and not isinstance(answer, type) else answer
    drawn = hasattr(figure, "draw") and not isinstance(figure, PlainChart)  # whose marks are Vega-Lite's
    return [(width, figure.draw(width, "")) for width in WIDTHS] if drawn else []


def picture_lines(html):
    """Return the rows of every picture in a text of SVG or HTML, with the words between them."""
    lines = []
    for place, part in enumerate(re.split(f"({SVG.pattern})", html, flags=re.DOTALL)):
        if place % 2:
            lines += rows(part)
        else:
            words = re.sub(r"<style.*?</style>|<script.*?</script>", "", part, flags=re.DOTALL)
            words = INLINE.sub("  ", LOOKS.sub(looks, words.replace("<wbr/>", "")))
            lines += [" ".join(each.split()) for each in re.sub(r"<[^>]+>", "\n", words).splitlines() if each.strip()]
    return lines


def looks(tag):
    """Return an opening tag of HTML with what is seen of its attributes after it."""
    values = dict(re.findall(r'([\w-]+)="([^"]*)"', tag[1]))
    told = [" ".join(re.sub(r"\bk-", "", values[name]).split()) for name in TOLD_OF_WORDS if values.get(name)]
    return f"{tag[0]}{{{', '.join(told)}}} " if told else tag[0]


@lru_cache(64)
def rows(svg):
    """Return the marks of a picture, a line for each row; marks that are alike and adjoin are one with their number."""
    wide = float(re.search(r'<svg[^>]* width="([\d.]+)"', svg)[1])
    found = sorted(marks(svg, wide), key=lambda mark: (mark[0], mark[1]))
    lines, top = [], None
    for y, x, words in found:
        if top is None or y - top > NEAR:
            lines.append([])
            top = y
        lines[-1].append((x, words))
    drawn = ["  ".join(f"{words} ×{count}" if (count := len(list(same))) > 1 else words
                       for words, same in groupby(words for _, words in sorted(line))) for line in lines]
    high = re.search(r'<svg[^>]* height="([\d.]+)"', svg)[1]
    return [f"<svg {wide:.0f} x {float(high):.0f}>", *drawn, *told(svg)]


def told(svg):
    """Return what a click selects and a screen reader says, a line for each thing, without what is said twice."""
    found = dict.fromkeys((mark.get("data-ref", ""), mark.get("aria-label"), mark.get("aria-pressed", ""))
                          for mark in ET.fromstring(svg).iter() if mark.get("aria-label"))  # noqa: S314 - our own string
    lines = [f"({ref}{' pressed' * bool(pressed)}) {label}" if ref else f"({label})" for ref, label, pressed in found]
    return [*lines[:MOST_TOLD], *[f"... {len(lines) - MOST_TOLD} more"][: len(lines) > MOST_TOLD]]


def marks(svg, wide):
    """Yield (y, x, words) of every word and mark that is seen."""
    roles = {value: name for name, value in palette().items()}
    todo = [(ET.fromstring(resolve(svg)), 0.0, 0.0, {})]  # noqa: S314 - our own string
    while todo:
        mark, dx, dy, looks = todo.pop()
        moved = re.match(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)", mark.get("transform", ""))
        dx, dy = (dx + float(moved[1]), dy + float(moved[2])) if moved else (dx, dy)
        looks = looks | dict(mark.items())
        kind = mark.tag.rpartition("}")[2]
        colour = {name: roles.get(looks.get(name, ""), looks.get(name, "")) for name in ("fill", "stroke")}
        dash = " dash" if looks.get("stroke-dasharray") else ""
        thick = looks.get("stroke-width", "")
        edge = f"|{colour['stroke']}{f' {thick}' if thick not in ('', '1', '1.5') else ''}{dash}" if (
            colour["stroke"] not in ("", "none")) else ""
        x, y = (float(mark.get(name, "0").split()[0]) for name in ("x", "y"))
        if kind == "text":
            yield y + dy, x + dx, _text(mark, looks, colour["fill"])
        elif kind == "rect":
            w, h = float(mark.get("width", "0")), float(mark.get("height", "0"))
            share = f" {round(20 * w / wide)}" if w > wide / 40 else ""
            yield y + dy + min(h, 24) / 2 + 3, x + dx, f"[{colour['fill']}{edge}{share}]"
        elif kind in ("path", "polyline", "line", "circle"):
            numbers = [float(each) for each in re.findall(r"-?\d+\.?\d*", mark.get("d") or mark.get("points") or "")]
            numbers = numbers or [float(mark.get(name, "0")) for name in ("x1", "y1", "cx", "cy")]
            fill = f" {colour['fill']}" if colour["fill"] not in ("", "none") and kind != "line" else ""
            yield numbers[1] + dy, numbers[0] + dx, f"<{kind}{fill}{edge}>"
        else:
            todo += [(each, dx, dy, looks) for each in reversed(mark)]


def _text(mark, looks, ink):
    size, weight = looks.get("font-size", "11"), looks.get("font-weight", "")
    look = [ink if ink not in ("", "ink") else "", f"{float(size):g}" if float(size) != 11 else "",
            "bold" if weight in ("700", "600", "bold") else "", looks.get("text-decoration", "")]
    words = "".join(mark.itertext())
    look = " ".join(each for each in look if each)
    return f"{words} {{{look}}}" if look else words

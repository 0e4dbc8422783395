"""Where the words of a picture stand, by the width table: what leaves the picture, and which words overlap."""

import re
from xml.etree import ElementTree as ET

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import MONOSPACE
from kvolsched.views.drawing.theme import resolve


def boxes(svg):
    """Return (left, top, right, bottom, words) of every line of text of a picture whose groups are only moved."""
    found = []
    todo = [(ET.fromstring(resolve(svg)), 0.0, 0.0)]  # noqa: S314 - our own string
    while todo:
        mark, dx, dy = todo.pop()
        moved = re.match(r"translate\(([-\d.]+),([-\d.]+)\)", mark.get("transform", ""))
        dx, dy = (dx + float(moved[1]), dy + float(moved[2])) if moved else (dx, dy)
        if not mark.tag.endswith("text"):
            todo += [(each, dx, dy) for each in mark]
            continue
        size = float(mark.get("font-size", "11"))
        bold = mark.get("font-weight") == "700"
        for part in list(mark) or [mark]:
            words = part.text or ""
            wide = t.width(words, size, bold=bold)
            if "mono" in mark.get("font-family", ""):
                wide = len(words.rstrip()) * size * MONOSPACE
            x, y = float(part.get("x", "0")) + dx, float(part.get("y", "0")) + dy
            x -= {"middle": wide / 2, "end": wide}.get(mark.get("text-anchor"), 0)
            found.append((x, y - size * 0.72, x + wide, y + size * 0.18, words))
    return found


def misplaced(svg, width):
    """Return what is wrong with the words of a picture: those that leave it, and pairs that overlap."""
    found = boxes(svg)
    wrong = [box[4] for box in found if box[0] < -1 or box[2] > width + 1]
    ordered = sorted(found, key=lambda box: box[1])
    for place, one in enumerate(ordered):
        for other in ordered[place + 1 :]:
            if other[1] >= one[3]:
                break
            if one[0] < other[2] - 1 and other[0] < one[2] - 1 and one[4].strip() and other[4].strip():
                wrong.append((one[4], other[4]))
    return wrong

"""Where the words of a picture stand, by the width table: which leave the picture or their card, and which meet."""

import re
from functools import lru_cache
from itertools import combinations
from xml.etree import ElementTree as ET

from kvolsched.views.drawing import text
from kvolsched.views.drawing.theme import resolve

MONOSPACE = 0.605  # advance width of a letter, as a share of its size
ROW = 8.5  # px by which a row that is clicked may be wider than its picture
SLACK = 1.0  # px by which the boxes of two texts may touch


def boxes(svg):
    """Return every text of a resolved picture as (words, left, right, top, bottom), and those that leave their card.

    Left out are turned texts, and rows of letters that have a place each.
    """
    texts, loose = [], []

    def visit(element, x, y, room):
        moved = re.search(r"translate\(([-\d.]+)(?:px)?[ ,]\s*([-\d.]+)", element.get("transform", ""))
        scale = float((re.search(r"scale\(([\d.]+)", element.get("transform", "")) or [0, 1])[1])
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        rects = [child for child in element if child.tag == "rect" and child.get("fill") != "none" and moved]
        if rects and scale == 1 and max(float(r.get("width")) for r in rects) > 30:
            room = (x + min(float(r.get("x")) for r in rects) - 3,
                    x + max(float(r.get("x")) + float(r.get("width")) for r in rects) + 3)
        for child in element:
            if child.tag != "text":
                visit(child, x, y, room)
            elif " " not in child.get("x", "0") and "rotate" not in child.get("transform", ""):
                for box in _measured(child, x, y, scale):
                    texts.append(box)
                    if room and scale == 1 and not room[0] <= box[1] <= box[2] <= room[1]:
                        loose.append((box, room))

    root = ET.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', ""))  # noqa: S314 - our own string
    visit(root, 0.0, 0.0, (-1.0, float(root.get("width")) + 1))
    return texts, loose


def _measured(element, x, y, scale):
    """Yield the box of one text by the width table; the lines of a text that has several one by one."""
    size, bold = float(element.get("font-size", "11")), element.get("font-weight")
    several = [span for span in element if span.get("x")]
    parts = [(element.text or "", element)]
    for span in element:
        parts += [(span.text or "", span), (span.tail or "", element)]
    for line in several or [element]:
        words = line.text or "" if several else "".join(element.itertext())
        pieces = [(words, line)] if several else parts
        wide = scale * sum(text.width(each, size, bold=(part.get("font-weight") or bold) == "700") for each, part in pieces)
        if "mono" in element.get("font-family", ""):
            wide = scale * len(words.rstrip()) * size * MONOSPACE
        left = x + scale * float(line.get("x", "0"))
        left -= {"end": wide, "middle": wide / 2}.get(element.get("text-anchor"), 0.0)
        base = y + scale * float(line.get("y", element.get("y", "0")))
        yield words, left, left + wide, base - 0.72 * size * scale, base + 0.2 * size * scale


def meeting(texts):
    """Return the pairs of texts whose boxes lie over each other."""
    return [
        (a[0], b[0]) for a, b in combinations(sorted(texts, key=lambda box: box[3]), 2)
        if a[0].strip() and b[0].strip() and a[1] + SLACK < b[2] and b[1] + SLACK < a[2]
        and a[3] + SLACK < b[4] and b[3] + SLACK < a[4]
    ]  # fmt: skip


def misplaced(html):
    """Return what is wrong with the pictures of a page: words and marks that leave them or their card, words that meet."""
    return [fault for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL) for fault in _misplaced(svg)]


@lru_cache(64)
def _misplaced(svg):
    drawn = resolve(svg)
    texts, loose = boxes(drawn)
    return [*meeting(texts), *loose, *outside(ET.fromstring(drawn))]  # noqa: S314 - our own string


def outside(picture):
    """Yield the words above or below a picture, and its marks beyond it: a row that is clicked may be wider."""
    wide, high = float(picture.get("width")), float(picture.get("height"))
    todo = [(picture, 0.0, 0.0)]
    while todo:
        mark, x, y = todo.pop()
        moved = re.match(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)", mark.get("transform", ""))
        x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        left, top, w, h, cx, cy, r, size = (
            float((mark.get(name) or "0").split()[0])
            for name in ("x", "y", "width", "height", "cx", "cy", "r", "font-size"))  # fmt: skip
        kind = mark.tag.rpartition("}")[2]
        box = {"text": (x, y + top - 0.72 * size, x, y + top + 0.2 * size), "rect": (x + left, y + top, x + left + w, y + top + h),
               "circle": (x + cx - r, y + cy - r, x + cx + r, y + cy + r)}.get(kind, (0, 0, 0, 0))  # fmt: skip
        if w < 0 or h < 0 or box[0] < -ROW or box[1] < -SLACK or box[2] > wide + ROW or box[3] > high + SLACK:
            yield kind, box, "".join(mark.itertext())
        if "(" not in mark.get("transform", "").replace("translate(", ""):
            todo += [(each, x, y) for each in mark]

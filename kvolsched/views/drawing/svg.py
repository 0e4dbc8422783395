"""SVG as strings: shapes, groups that can be selected, and whole pictures; the vocabulary of all pictures.

Colours are classes of the style sheet; only a `Sheet` writes a `style`. A glyph gets a `<text>` of its own: one that
the font lacks would change the face of the whole run.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from kvolsched.views.drawing.text import escape, wrap


@lru_cache(maxsize=1 << 14)
def num(value: float) -> str:
    """Write a coordinate in as few characters as a tenth of a px allows; a picture asks for the same ones again."""
    return f"{value + 0.0:.1f}".removesuffix(".0")  # 0.0 and -0.0 are one key of the cache


def word(x: float, y: float, classes: str, content: str, style: str = "") -> str:
    """Draw one line of text, escaped; nothing for no content."""
    return f'<text x="{num(x)}" y="{num(y)}"{_looks(classes, style)}>{escape(content)}</text>' if content else ""


def rect(x: float, y: float, w: float, h: float, classes: str, radius: float = 0, *, style: str = "",
         more: str = "") -> str:
    """Draw a rectangle; `more` are further attributes."""
    rounded = f' rx="{num(radius)}"' if radius else ""
    size = f'width="{num(max(w, 0))}" height="{num(max(h, 0))}"{rounded}'
    return f'<rect{_looks(classes)} x="{num(x)}" y="{num(y)}" {size}{_looks("", style)}{more}/>'


def path(commands: str, classes: str) -> str:
    """Draw a path."""
    return f'<path d="{commands}" class="{classes}"/>'


def sign(value: float) -> int:
    """Return the direction of a distance: -1, 0 or 1."""
    return (value > 0) - (value < 0)


def rounded(points: Sequence[tuple[float, float]], radius: float) -> str:
    """Return the path commands of a right-angled way through points, its corners rounded."""
    out = [f"M{num(points[0][0])} {num(points[0][1])}"]
    for (ax, ay), (bx, by), (cx, cy) in zip(points, points[1:], points[2:], strict=False):
        before = min(radius, (abs(bx - ax) + abs(by - ay)) / 2)
        after = min(radius, (abs(cx - bx) + abs(cy - by)) / 2)
        sx, sy = bx - before * sign(bx - ax), by - before * sign(by - ay)
        ex, ey = bx + after * sign(cx - bx), by + after * sign(cy - by)
        out.append(f"L{num(sx)} {num(sy)}Q{num(bx)} {num(by)} {num(ex)} {num(ey)}")
    out.append(f"L{num(points[-1][0])} {num(points[-1][1])}")
    return "".join(out)


def rule(x: float, y: float, wide: float, classes: str = "k-l-none") -> str:
    """Draw a horizontal line of one sharp px."""
    return path(f"M{num(x)} {num(int(y) + 0.5)}h{num(wide)}", classes)


def hatching(x: float, y: float, w: float, h: float, step: float) -> Iterator[tuple[float, float, float, float]]:
    """Yield the ends of the lines that hatch a rectangle; they rise to the right, `step` px apart."""
    start = x - h + step
    while start < x + w:
        left, right = max(start, x), min(start + h, x + w)
        if right - left > 0.5:
            yield left, y + h - (left - start), right, y + h - (right - start)
        start += step


def halo(w: float, h: float, radius: float) -> str:
    """Draw the gold halo of what this step changed."""
    return rect(-2, -2, w + 4, h + 4, "k-glow", radius + 2) + rect(-2, -2, w + 4, h + 4, "k-hot", radius + 2)


def ring(w: float, h: float, radius: float) -> str:
    """Draw the accent ring of what is selected, outside its edge."""
    return rect(-2.5, -2.5, w + 5, h + 5, "k-ring", radius + 2.5)


def _looks(classes: str, style: str = "") -> str:
    return (f' class="{classes}"' if classes else "") + (f' style="{style}"' if style else "")


def selectable(ref: str, label: str, *, key: str = "", role: str = "button", pressed: bool) -> str:
    """Return the attributes of something that can be selected: a click selects `ref`, a screen reader says `label`."""
    state = ' aria-pressed="true"' if pressed and role == "button" else ' aria-selected="true"' if pressed else ""
    known = f' data-key="{escape(key)}"' if key else ""
    return f' data-ref="{escape(ref)}"{known} role="{role}" aria-label="{escape(label)}"{state}'


def pick(content: str, ref: str, key: str, label: str, *, role: str = "button", pressed: bool = False,
         more: str = "") -> str:
    """Group marks so that they can be selected; `key` tells siblings apart, without one `ref` does."""
    return f"<g{selectable(ref, label, key=key, role=role, pressed=pressed)}{more}>{content}</g>"


def piece(key: str, body: str, more: str = "") -> str:
    """Group marks that a browser draws again only if a character of them changed; no piece stands inside a piece.

    The space in the end tag says where a piece ends.
    """
    return f'<g data-key="{escape(key)}"{more}>{body}</g >'


def group(key: str, x: float, y: float, body: str, *, ref: str = "", label: str = "", pressed: bool = False) -> str:
    """Draw a piece at a place; the place is a style, so that a browser lets the piece glide."""
    extra = selectable(ref, label, pressed=pressed) if ref else ""
    return piece(key, body, f' style="transform:translate({num(x)}px,{num(y)}px)"{extra}')


def picture(wide: float, high: float, body: str, label: str, role: str = "group") -> str:
    """Close marks into one SVG of `wide` × `high` px, named `label`."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{num(wide)}" height="{num(high)}"'
        f' viewBox="0 0 {num(wide)} {num(high)}" role="{role}" aria-label="{escape(label)}">{body}</svg>'
    )


def height(svg: str) -> float:
    """Return how high a picture is; 0 for none."""
    return float(svg.partition('height="')[2].partition('"')[0]) if svg else 0.0


def nothing(wide: float, sentence: str) -> str:
    """Draw the sentence that stands where a table has no row, or several lines of words."""
    rows = [row for line in sentence.splitlines() for row in wrap(line, wide - 4, 11, 4)]
    body = "".join(word(2, 22 + 15 * i, "k-q", row) for i, row in enumerate(rows))
    return picture(wide, 19 + 15 * len(rows), body, sentence, "img")


def placed(svg: str, y: float = 0.0) -> str:
    """Return a picture's marks, moved down."""
    body = svg.partition(">")[2].removesuffix("</svg>") if svg.startswith("<svg") else svg
    return f'<g transform="translate(0,{num(y)})">{body}</g>'

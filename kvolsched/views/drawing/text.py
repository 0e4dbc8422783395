"""Text that must fit: widths, ellipsis, wrapping, escaping, used amounts, tables in plain text.

Pictures are drawn without a browser, so this module alone knows the width of a word, and every string from a manifest
passes through `escape` once, when it enters a picture. Sizes are px; widths are those of Helvetica.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from kvolsched.api.notebook_output import UNPRINTABLE
from kvolsched.api.words import amount

FONT = '"Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif'

# Advance widths of U+0020..U+007E in thousandths of the font size.
_REGULAR = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778,
    722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278,
    278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_BOLD = (
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778,
    722, 278, 556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333,
    278, 333, 584, 556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611,
    611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
)  # fmt: skip
_OTHER = {"·": 333, "–": 556, "…": 1000, "×": 584, "−": 584, "→": 1000, "‖": 500, "\u2002": 500}
_ELLIPSIS = "…"
# A name with a uid, as controllers generate it: people know the first part of the uid.
_GENERATED = re.compile(r"(.*[0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def _advance(char: str, *, bold: bool) -> int:
    code = ord(char)
    if 32 <= code < 127:
        return (_BOLD if bold else _REGULAR)[code - 32]
    if char in _OTHER:
        return _OTHER[char]
    if unicodedata.combining(char):
        return 0
    base = unicodedata.normalize("NFKD", char)[0]
    if base != char and 32 <= ord(base) < 127:
        return (_BOLD if bold else _REGULAR)[ord(base) - 32]
    return 1000 if code >= 0x1100 else 900


@lru_cache(maxsize=16384)
def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of one line, px; characters that are not in the table count as wide."""
    if text.isascii() and text.isprintable():
        table = _BOLD if bold else _REGULAR
        return sum([table[code - 32] for code in text.encode()]) * size / 1000
    return sum([_advance(char, bold=bold) for char in text]) * size / 1000


@lru_cache(maxsize=16384)
def end(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Cut words at the end to `room` px: "didn't find avail…"; a uid at the end after its first part."""
    if width(text, size, bold=bold) <= room:
        return text
    generated = _GENERATED.match(text)
    if generated and width(generated[1] + _ELLIPSIS, size, bold=bold) <= room:
        return generated[1] + _ELLIPSIS
    low, high = 0, len(text)
    while low < high:
        half = (low + high + 1) // 2
        if width(text[:half].rstrip() + _ELLIPSIS, size, bold=bold) <= room:
            low = half
        else:
            high = half - 1
    return text[:low].rstrip() + _ELLIPSIS if low else ""


@lru_cache(maxsize=16384)
def middle(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Cut a name in the middle, where related names differ least, to `room` px: "node-a.euro…example.org"."""
    if width(text, size, bold=bold) <= room or _GENERATED.match(text):
        return end(text, room, size, bold=bold)
    low, high = 0, len(text) - 1
    while low < high:
        half = (low + high + 1) // 2
        if width(_joined(text, half), size, bold=bold) <= room:
            low = half
        else:
            high = half - 1
    return _joined(text, low) if low else end(text, room, size, bold=bold)


def _joined(text: str, kept: int) -> str:
    front = (kept + 1) // 2
    back = kept - front
    return text[:front] + _ELLIPSIS + (text[-back:] if back else "")


@lru_cache(maxsize=4096)
def wrap(text: str, room: float, size: float, lines: int, *, bold: bool = False) -> tuple[str, ...]:
    """Break words, too wide ones after their last / or :, into at most `lines` lines of `room` px; the last is cut."""
    rows: list[str] = []
    words: list[str] = []
    for word in text.split():
        head, slash, tail = word.rpartition("/" if "/" in word else ":")
        words += [head + slash, tail] if head and tail and width(word, size, bold=bold) > room else [word]
    while words and len(rows) < lines - 1:
        row = words.pop(0)
        while words and width(f"{row} {words[0]}", size, bold=bold) <= room:
            row = f"{row} {words.pop(0)}"
        rows.append(end(row, room, size, bold=bold))
    if words:
        rows.append(end(" ".join(words), room, size, bold=bold))
    return tuple(rows)


def common_start(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return how many of the first characters, or entries, are the same in both."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(left), len(right)))


_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;", ord("'"): "&#39;"}
_FORBIDDEN = re.compile(f"[{UNPRINTABLE}\ufffe\uffff]")  # XML forbids some; others hide, or turn all text that follows


def escape(text: str) -> str:
    """Make a string safe inside elements and quoted attributes of HTML and XML; each character takes its place."""
    if text.isalnum():
        return text
    return (text if text.isascii() and text.isprintable() else _FORBIDDEN.sub("\ufffd", text)).translate(_ESCAPES)


def name_in_ref(ref: str) -> str:
    """Return what follows the kind in a ref: "web-0" of "pod/web-0", "shop/web-0" of "pod/shop/web-0"."""
    return ref.partition("/")[2]


def used_of(used: int, capacity: int) -> str:
    """Write two amounts of bytes, the unit once if both share it: "3/16Gi"."""
    first, second = amount(used), amount(capacity)
    if first[-2:] == second[-2:] and second[-2:].isalpha():
        first = first[:-2]
    return f"{first}/{second}"


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return each name without the start that all share up to a separator: "a" for "us-central1-a"."""
    pool, cut = list(dict.fromkeys(names)), 0
    if len(pool) > 1:
        low = min(pool)
        cut = common_start(low, max(pool))
        cut = max((low.rfind(mark, 0, cut) for mark in "-._/ "), default=-1) + 1
    return {name: name[cut:] or name for name in pool}


def in_lines(widths: Iterable[float], left: float, right: float, y: float, pitch: float,
             gap: float) -> list[tuple[float, float]]:
    """Return where pieces of these widths begin: beside each other, in a further line where one would pass `right`."""
    places, x = [], left
    for wide in widths:
        if x > left and x + wide > right:
            x, y = left, y + pitch
        places.append((x, y))
        x += wide + gap
    return places


def columns(rows: list[list[str]]) -> str:
    """Write rows as a table in plain text; the last column is never padded."""
    if not rows:
        return ""
    count = max(len(row) for row in rows)
    wide = [max((len(row[i]) for row in rows if i < len(row) - 1), default=0) for i in range(count)]
    lines = ["".join(cell.ljust(wide[i] + 2) for i, cell in enumerate(row[:-1])) + row[-1] for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def short(value: float) -> str:
    """Write a number in at most four digits where that loses nothing a picture shows: "12", "0.35", "1,458"."""
    if value == int(value) or abs(value) >= 1000:
        return f"{round(value):,}"
    return f"{value:.3g}"


def ticks(most: float, count: int, *, whole: bool) -> list[float]:
    """Return about `count` round steps from 0 to `most`, which need not be one; `whole` ones for things counted."""
    rough = most / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * each for each in ((1, 2, 3, 5, 10) if whole else (1, 2, 2.5, 5, 10)) if power * each >= rough)
    step = max(1.0, step) if whole else step
    return [round(step * number, 10) for number in range(math.floor(most / step + 1e-9) + 1)]

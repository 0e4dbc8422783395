"""Why many pods wait: all pods to scale, then a row for each cause with its verdicts by zone and its nearest edit."""

from __future__ import annotations

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import letter
from kvolsched.views.drawing.svg import nothing, num, path, pick, picture, rect, rule, word
from kvolsched.views.why_rows import CauseLine, CausePage, ZoneMarks

from .why_grid import MARGIN, block, wrapped

STRIP = 30.0
SQUARE, ZONE_BAR = 17.0, 60.0
MOST_TICKS = 120  # pods that have a tick each; more are a bar
NARROW, WIDE = 700, 900


@frozen
class _Columns:
    """Where the columns of a row begin, px; `ticks` is the width of the second, 0 without one."""

    count: float
    ticks: float
    lack: float
    lack_room: float
    where: float
    edit: float
    edit_room: float
    narrow: bool


def draw(page: CausePage, width: int, selection: str = "") -> str:
    """Draw the causes for a width in px."""
    if not page.causes:
        return nothing(width, page.title)
    lines = t.wrap(page.title, width - 2 * MARGIN, 15, 3, bold=True)
    beside = len(lines) == 1 and t.width(page.title, 15, bold=True) + t.width(page.corner, 11) + 44 < width
    body, y = block(MARGIN, 22, lines, "k-title", 20), 22.0 + 20 * (len(lines) - 1)
    if not beside:
        y += 18
    body += word(width - MARGIN, y, "k-q k-end", page.corner) if beside else word(MARGIN, y, "k-q", page.corner)
    strip, y = _strip(page, width, y + 14)
    columns = _columns(page, width)
    heads, y = _heads(page, columns, width, y + 12)
    body += strip + heads
    for place, cause in enumerate(page.causes):
        drawn, y = _row(cause, place, page, columns, width, y)
        body += drawn
    if page.folded:
        words = f"{page.folded_pods:,} pods of {page.folded} more causes: `.causes` has all"
        body += word(MARGIN, y + 18, "k-q", words)
        y += 26
    legend, y = _legend(page, width, y + 12)
    return picture(width, y + 6, body + legend, page.title)


def _strip(page: CausePage, width: float, y: float) -> tuple[str, float]:
    """Draw all pods to scale: the width of a piece is the number of its pods."""
    total = sum(cause.count for cause in page.causes) + page.folded_pods
    wide, x, parts = width - 2 * MARGIN, MARGIN, []
    for place, cause in enumerate(page.causes):
        piece = wide * cause.count / total
        letters = " ".join(mark for mark, _ in cause.chips)
        room = max(piece - 2, 1)
        body = rect(x, y, room, STRIP, f"k-s-{cause.chips[0][1]}")
        words = [f"{letters} {cause.count:,} {cause.title}", f"{letters} {cause.count:,}", str(cause.count)]
        said = next((text for text in words if t.width(text, 11, bold=True) <= room - 12), "")
        if not said and room > 150:
            said = t.end(words[0], room - 12, 11, bold=True)
        body += word(x + 6, y + 19, "k-b k-on", said)
        parts.append(pick(body, f"part/{place}", "", cause.label, more=f' data-tie="p{place}"'))
        x += piece
    below = f"all {total:,} pods, to scale" if total > 1 else ""
    return "".join(parts) + word(MARGIN, y + STRIP + 15, "k-q", below), y + STRIP + 20


def _zone_width(zone: ZoneMarks) -> float:
    return len(zone.nodes) * (SQUARE + 2) - 2 if zone.nodes else ZONE_BAR


def _columns(page: CausePage, width: float) -> _Columns:
    where_room = sum(_zone_width(zone) + 9 for zone in page.causes[0].zones)
    heads = sum(max(_zone_width(zone), t.width(zone.zone, 9.5, bold=True)) + 9 for zone in page.causes[0].zones)
    where_room = max(where_room, heads if any(zone.zone for zone in page.causes[0].zones) else 0)
    count = MARGIN + max(t.width(f"{page.causes[0].count:,}", 15, bold=True), 30)
    if width < NARROW:
        return _Columns(count, 0, count + 10, width - count - 10 - MARGIN, 0, 0, 0, narrow=True)
    most = max(cause.count for cause in page.causes)
    ticks = (240.0 if width >= 1100 else 130.0 if width >= WIDE else 70.0) if most > 1 else 0.0
    edit_room = 200.0 if width >= WIDE else 156.0
    edit = width - MARGIN - edit_room
    where = edit - 14 - where_room
    lack = count + 12 + (ticks + 14 if ticks else 0)
    return _Columns(count, ticks, lack, where - lack - 14, where, edit, edit_room, narrow=False)


def _heads(page: CausePage, columns: _Columns, width: float, y: float) -> tuple[str, float]:
    if columns.narrow:
        return rule(MARGIN, y, width - 2 * MARGIN), y + 2
    parts = [word(columns.count, y + 12, "k-q k-end", "pods")]
    most = max(cause.count for cause in page.causes)
    if columns.ticks:
        words = "1 tick = 1 pod" if most <= MOST_TICKS and most * 2 <= columns.ticks else "to scale"
        parts.append(word(columns.count + 12, y + 12, "k-q", words))
    parts.append(word(columns.lack, y + 12, "k-q", "what lacks, and both sides"))
    x = columns.where
    for zone in page.causes[0].zones:
        name = zone.zone or "nodes"
        parts.append(word(x, y + 12, "k-z k-b", name))
        x += max(_zone_width(zone), t.width(name, 9.5, bold=True)) + 9
    edits = any(cause.edit for cause in page.causes)
    said = "nearest edit, for one of the pods" if columns.edit_room > 180 else "nearest edit, for one pod"
    parts.append(word(columns.edit, y + 12, "k-q", said if edits else "pods"))
    return "".join(parts) + rule(MARGIN, y + 19, width - 2 * MARGIN), y + 21


def _row(cause: CauseLine, place: int, page: CausePage, columns: _Columns, width: float,
         y: float) -> tuple[str, float]:
    family = cause.chips[0][1]
    top = y + 8
    body = word(columns.count, top + 14, f"k-title k-end k-t-{family}", f"{cause.count:,}")
    if columns.ticks:
        body += _ticks(cause, page, columns, top)
    x = columns.lack
    chips = cause.chips[:4]
    for index, (mark, chip_family) in enumerate(chips):
        body += letter(x + 20 * index, top, mark, chip_family)
    taken = 20 * len(chips) + 4
    title = wrapped(cause.title, columns.lack_room, 12.5, 3, bold=True, first=taken)
    about = wrapped(cause.about, columns.lack_room, 10.5, 3)
    body += block(x, top + 13, title, "k-h", 16, first=taken)
    at = top + 13 + 16 * len(title)
    body += block(x, at, about, "k-y-a k-soft", 14)
    bottom = at + 14 * len(about) - 8
    if columns.narrow:
        body += _where(cause, page, x, bottom + 8)
        bottom += 34
        edit = wrapped(cause.edit, columns.lack_room, 11.5, 3, bold=True)
        body += block(x, bottom + 10, edit, "k-y-s", 15)
        bottom += 15 * len(edit)
        body += word(x, bottom + 10, "k-q", t.middle(cause.pods, columns.lack_room, 11))
        bottom += 14
    else:
        body += _where(cause, page, columns.where, top)
        edit = wrapped(cause.edit, columns.edit_room, 11.5, 4, bold=True)
        body += block(columns.edit, top + 12, edit, "k-y-s", 15)
        at = top + 12 + 15 * len(edit)
        body += word(columns.edit, at, "k-q", t.middle(cause.pods, columns.edit_room, 11))
        bottom = max(bottom, at)
    bottom = max(bottom, top + SQUARE) + 10
    hit = rect(MARGIN, y + 2, width - 2 * MARGIN, bottom - y - 3, "k-hit")
    row = pick(hit + body, f"cause/{place}", "", cause.label, more=f' data-tie="p{place}"')
    return row + rule(MARGIN, bottom, width - 2 * MARGIN), bottom


def _ticks(cause: CauseLine, page: CausePage, columns: _Columns, y: float) -> str:
    """Draw a tick for each pod if all rows have room for that, else a bar to scale."""
    most = max(other.count for other in page.causes)
    x, family = columns.count + 12, cause.chips[0][1]
    if most <= MOST_TICKS and most * 2 <= columns.ticks:
        commands = "".join(f"M{num(x + 0.5 + 2 * number)} {num(y + 1)}v14" for number in range(cause.count))
        return path(commands, f"k-y-q k-l-{'soft' if family == 'none' else family}")
    return rect(x, y + 2, max(1.0, columns.ticks * cause.count / most), 12, f"k-s-{family}", 2)


def _where(cause: CauseLine, page: CausePage, x: float, y: float) -> str:
    """Draw the verdicts by zone: a square for each node of a few, else a bar with the letters of most nodes."""
    parts = []
    for zone in cause.zones:
        wide = _zone_width(zone)
        if zone.nodes:
            for index, (mark, family, _) in enumerate(zone.nodes):
                parts.append(_square(x + index * (SQUARE + 2), y, mark, family))
        else:
            total, at = sum(count for _, _, count in zone.marks), x
            for mark, family, count in zone.marks:
                piece = wide * count / max(total, 1)
                looks = "k-p-ok" if mark == "✓" else "k-chip" if mark == "·" else f"k-s-{family}"
                parts.append(rect(at, y, max(piece - 1, 1), SQUARE, looks, 2))
                if piece >= 16:
                    ink = f"k-t-{family}" if mark in "✓·" else "k-on"
                    parts.append(word(at + piece / 2, y + 12, f"k-letters {ink}", mark))
                at += piece
        x += max(wide, t.width(zone.zone or "nodes", 9.5, bold=True)) + 9
    return "".join(parts)


def _square(x: float, y: float, mark: str, family: str) -> str:
    looks = "k-p-ok" if mark == "✓" else "k-chip" if mark == "·" else f"k-s-{family}"
    ink = f"k-t-{family}" if mark in "✓·" else "k-on"
    return rect(x, y, SQUARE, SQUARE, looks, 3) + word(x + SQUARE / 2, y + 12, f"k-letters {ink}", mark)


def _legend(page: CausePage, width: float, top: float) -> tuple[str, float]:
    words = "The letter is the first plugin that rejects there."
    parts = [word(MARGIN, top + 12, "k-y-a k-soft", words)]
    wide = [t.width(words, 10.5) + 16, *(23 + t.width(name, 10.5) + 14 for _, _, name in page.letters)]
    y, places = top, t.in_lines(wide, MARGIN, width - MARGIN, top, 22)[1:]
    for (mark, family, name), (x, y) in zip(page.letters, places, strict=True):
        parts.append(letter(x, y, mark, family) + word(x + 23, y + 12, "k-y-a k-soft", name))
    return "".join(parts), y + 20

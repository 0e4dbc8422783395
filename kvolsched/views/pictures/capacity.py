"""The chart of capacity: how much room each pool offers to a claim that is to be provisioned, or an inline volume.

Bars are bytes, the line is what the claim asks for; below a bar stands what the driver has now, which may differ from
what it published.
"""

from __future__ import annotations

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.drawing.text import columns
from kvolsched.views.drawing.theme import palette

NO_CLAIM = "This pod has no claim to provision."  # and no inline volume


def draw(frame: f.Frame, width: int, selection: str = "") -> Sheet:
    """Draw one ledger for each claim of the pod in focus that is to be provisioned."""
    c, sheet, y = palette(), Sheet(width, "capacity ledger", selection, 24.0), 0.0
    if not frame.capacity:
        sheet.word(0, 10, NO_CLAIM, c["soft"])
        return sheet
    for ledger in frame.capacity:
        y = _ledger(sheet, ledger, y) + 18
    if any(ledger.rows for ledger in frame.capacity):
        _legend(sheet, y)
        y += 14
    sheet.height = y + 2
    return sheet


def reading(frame: f.Frame) -> str:
    """Return the capacity ledgers as lines: published, how old, what the driver has now, the verdict."""
    parts = []
    for ledger in frame.capacity:
        lines = [ledger.unchecked] if ledger.unchecked else []
        table = []
        for row in ledger.rows:
            now = f"driver now {_of(row.driver_now)}" if row.driver_now is not None else "driver now unknown"
            published = f"published {_of(row.published)}, {row.age:g} s old"
            shown = "nothing published" if row.published is None else published
            verdict = f"{'✓' if row.fits else '✕'} {_verdict(ledger, row)[0]}"
            table.append([row.pool, row.reach, f"{shown}, {now}", verdict])
        parts.append("\n".join([_title(ledger), *lines, columns(table)]).rstrip())
    return "\n\n".join(parts) or NO_CLAIM


def _of(amount: int | None) -> str:
    return "none" if amount is None else t.amount(amount)


def _title(ledger: f.CapacityLedger) -> str:
    name = t.name_in_ref(ledger.claim) if "/" in ledger.claim else ledger.claim
    return f"Capacity for {name}: {t.amount(ledger.request)} of class {ledger.class_name}"


def _stale(ledger: f.CapacityLedger, row: f.CapacityRow) -> bool:
    return row.fits and row.driver_now is not None and row.driver_now < ledger.request


def _verdict(ledger: f.CapacityLedger, row: f.CapacityRow) -> tuple[str, str]:
    """Return the conclusion of the rule, and what the simulation knows about it."""
    ask = t.amount(ledger.request)
    if row.published is None:
        more = f"driver has {_of(row.driver_now)}, but has not reported" if row.driver_now is not None else ""
        return row.reason or "no entry = not sufficient", more
    if _stale(ledger, row):
        now = f"published {row.age:g} s ago; driver now has {_of(row.driver_now)}: creation will fail"
        return f"{ask} ≤ {t.amount(row.published)}, but stale", now
    age = f"published {row.age:g} s ago" + (", expired" if row.expired else "")
    if row.fits:
        return (f"{ask} ≤ {t.amount(row.published)}", f"{age}, still true" if row.driver_now == row.published else age)
    if row.largest_volume is not None and row.largest_volume < ledger.request:
        content = f"{ask} > largest volume {t.amount(row.largest_volume)}"
        return content, "maximumVolumeSize decides, not capacity"
    return row.reason or f"{ask} > {t.amount(row.published)}", age


def _ledger(sheet: Sheet, ledger: f.CapacityLedger, top: float) -> float:
    c, width = palette(), sheet.width
    sheet.word(0, top + 8, _title(ledger), c["ink"], size=13, bold=True, room=width)
    y = top + 24.0
    if ledger.unchecked:
        sheet.word(0, y + 6, ledger.unchecked, c["soft"], room=width)
        y += 20
    if not ledger.rows:
        return y
    widest = max(max(t.width(r.pool, 12.5, bold=True), t.width(r.reach, 10)) for r in ledger.rows)
    label = min(widest + 22, 0.18 * width)
    words = 0.31 * width
    room = width - label - words - 20
    most = max([ledger.request, *(v for r in ledger.rows for v in (r.published, r.driver_now) if v)]) * 1.08
    asked = label + room * ledger.request / most
    content = f"asked: {t.amount(ledger.request)}"
    sheet.word(asked + 5, y + 2, content, c["storage"], bold=True)
    y += 16
    first = y
    for row in ledger.rows:
        _pool(sheet, ledger, row, (label, room, most), y)
        y += 44
    sheet.rule(asked, first - 8, asked, y - 8, c["storage"], thick=2, dash=(5, 4))
    return y


def _pool(sheet: Sheet, ledger: f.CapacityLedger, row: f.CapacityRow, scale: tuple[float, float, float],
          y: float) -> None:
    c, (x0, room, most) = palette(), scale
    ref = f"pool/{row.pool}"
    sheet.word(0, y + 6, row.pool, c["ink"], size=12.5, bold=True, room=x0 - 10, name=True)
    sheet.word(0, y + 21, row.reach, c["soft"], size=10, room=x0 - 10)
    stale = _stale(ledger, row)
    if row.published is None:
        sheet.rect(x0, y, room, 18, c["panel"], stroke=c["line"], dash=(4.0, 3.0), thick=1.2, ref=ref)
        sheet.word(x0 + 7, y + 9.5, "nothing published", c["soft"], size=10.5)
    else:
        sheet.rect(x0, y, room, 18, c["track"], ref=ref)
        sheet.rect(x0, y, max(2.0, room * row.published / most), 18, c["ok" if row.fits else "storage"], ref=ref)
        ink = c["paper"] if room * row.published / most > 60 else c["ink"]
        sheet.word(x0 + 12, y + 9.5, "✓" if row.fits else "✕", ink, bold=True, align="center")
        sheet.word(x0 + 22, y + 9.5, t.amount(row.published), ink, bold=True)
    if row.driver_now is not None:
        colour = c["resources"] if row.driver_now != row.published and row.published is not None else c["soft"]
        sheet.rect(x0, y + 21, max(2.0, room * row.driver_now / most), 5, colour, radius=2, ref=ref)
    if row.largest_volume is not None:
        at = x0 + room * row.largest_volume / most
        sheet.rule(at, y - 3, at, y + 21, c["ink"], thick=2.5)
        sheet.word(at + 6, y + 9.5, "◀", c["ink"], size=9, align="center")
    top, below = _verdict(ledger, row)
    ink = c["resources"] if stale else c["ok"] if row.fits else c["storage"]
    x = x0 + room + 20
    sheet.word(x + 6, y + 6, "✓" if row.fits else "✕", ink, size=12, bold=True, align="center")
    sheet.word(x + 18, y + 6, top, ink, size=12, bold=True, room=sheet.width - x - 18)
    for i, line in enumerate(t.wrap(below, sheet.width - x, 10.5, 2)):
        sheet.word(x, y + 21 + 13 * i, line, c["soft"], size=10.5)


def _legend(sheet: Sheet, y: float) -> None:
    c, x = palette(), 0.0
    entries = (
        (c["ok"], 14.0, "published, enough"),
        (c["storage"], 14.0, "published, but rejected"),
        (c["soft"], 5.0, "what the driver has now"),
        (c["resources"], 5.0, "not what it published"),
    )
    for fill, high, content in entries:
        sheet.rect(x, y - high / 2, 16, high, fill, radius=2)
        sheet.word(x + 22, y, content, c["soft"], size=10.5)
        x += 22 + t.width(content, 10.5) + 22
    sheet.rule(x + 3, y - 8, x + 3, y + 8, c["ink"], thick=2.5)
    sheet.word(x + 9, y, "◀", c["ink"], size=9, align="center")
    sheet.word(x + 20, y, "largest single volume", c["soft"], size=10.5)

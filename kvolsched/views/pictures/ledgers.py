"""Two ledgers: how a spread constraint counts pods by domain, and how a pool's capacity is judged.

Unit squares are pods, bars are bytes; the limit is a line between them, and the sum stands
at the right as the rule writes it. What does not count is drawn too, apart and with its
reason: that is where people go wrong.
"""

from __future__ import annotations

from attrs import frozen

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import palette
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.drawing.tables import columns

NO_CONSTRAINT = "This pod has no spread constraint."
NO_CLAIM = "This pod has no claim to provision."
MOST_UNITS = 12
"""More pods in a domain than this are a bar with their number."""

_ROW, _DASH = 40.0, (4.0, 3.0)


@frozen
class _Place:
    """Where the parts of one ledger stand, px."""

    x0: float
    unit: float
    words: float
    counted: int
    width: float

    def at(self, pods: float) -> float:
        return self.x0 + pods * self.unit


def skew_sheet(frame: f.Frame, width: int, *, refs: bool = False) -> tuple[Sheet, float]:
    """Lay out one ledger for each spread constraint of the pod in focus; give the height."""
    c, sheet, y = palette(), Sheet(width, refs), 0.0
    if not frame.skew:
        sheet.word(0, 10, NO_CONSTRAINT, c["soft"])
        return sheet, 24.0
    for ledger in frame.skew:
        y = _skew(sheet, ledger, y) + 22
    _skew_legend(sheet, y)
    return sheet, y + 16


def skew_reading(frame: f.Frame) -> str:
    """Say the ledgers in lines: counted, not counted and why, the sum, the verdict."""
    parts = []
    for ledger in frame.skew:
        table = [_skew_words(ledger, row) for row in ledger.rows]
        parts.append(f"{_skew_title(ledger)}; {_limit_words(ledger)}\n" + columns(table))
    return "\n\n".join(parts) or NO_CONSTRAINT


def _skew_title(ledger: f.SkewLedger) -> str:
    need = "" if ledger.when == "DoNotSchedule" else f", {ledger.when}"
    least = f", minDomains {ledger.min_domains}" if ledger.min_domains else ""
    return f"Skew ledger of {t.name_in_ref(ledger.pod)}: {ledger.key}, maxSkew {ledger.max_skew}{least}{need}"


def _limit_words(ledger: f.SkewLedger) -> str:
    return f"limit: minimum {ledger.minimum} + maxSkew {ledger.max_skew} = {ledger.minimum + ledger.max_skew}"


def _forced(ledger: f.SkewLedger) -> str:
    """Say why the minimum is 0 when no domain has it."""
    if ledger.min_domains and not ledger.minimum_domain:
        return f"fewer than minDomains {ledger.min_domains} domains: the minimum counts as 0"
    return ""


def _sum(ledger: f.SkewLedger, row: f.SkewRow) -> str:
    sign = ">" if row.skew_if_placed > ledger.max_skew else "≤"
    self_ = f"{row.counted} + {ledger.self_match} − {ledger.minimum} = {row.skew_if_placed}"
    return f"{self_} {sign} {ledger.max_skew}"


def _why(row: f.SkewRow) -> str:
    if row.left_out:
        return row.left_out
    said = ", ".join(f"{n} not counted: {why}" for n, why in row.not_counted)
    return said or "all matching pods counted"


def _skew_words(ledger: f.SkewLedger, row: f.SkewRow) -> list[str]:
    apart = "".join(f", not counted {n} ({why})" for n, why in row.not_counted)
    if row.left_out:
        return [row.domain, f"counted {row.counted}{apart}", f"– no domain: {row.left_out}"]
    return [row.domain, f"counted {row.counted}{apart}", f"{_sum(ledger, row)}  {'✓' if row.fits else '✕'}"]


def _skew(sheet: Sheet, ledger: f.SkewLedger, top: float) -> float:
    c, width = palette(), sheet.width
    sheet.word(0, top + 8, _skew_title(ledger), c["ink"], size=13, bold=True, room=width)
    rows = [r for r in ledger.rows if not r.left_out]
    out = [r for r in ledger.rows if r.left_out]
    label = min(max(t.width(r.domain, 12.5, bold=True) for r in ledger.rows) + 22, 0.22 * width)
    words = 0.36 * width
    room = width - label - words - 16
    most = max((r.counted + 1 for r in rows), default=1)
    apart = max((min(3, sum(n for n, _ in r.not_counted)) for r in ledger.rows), default=0)
    loose = max((r.counted for r in out), default=0)
    slots = max(most, ledger.minimum + ledger.max_skew, min(loose, MOST_UNITS)) + apart + 0.5
    place = _Place(label, min(52.0, room / slots), width - words, most, width)
    y = top + 26.0
    forced = _forced(ledger)
    if forced:
        sheet.word(0, y + 2, forced, c["spread"], room=width)
        y += 18
    limit = ledger.minimum + ledger.max_skew
    line_top, y = y + 10, y + 18
    for row in rows:
        _skew_row(sheet, ledger, row, place, y)
        y += _ROW
    at = place.at(limit) - 3
    said = _limit_words(ledger)
    fits_right = at + 6 + t.width(said, 11, bold=True) < width
    sheet.word(at + 6 if fits_right else at - 6, line_top - 4, said, c["spread"], bold=True,
               align="left" if fits_right else "right")  # fmt: skip
    sheet.rule(at, line_top + 4, at, y - 8, c["spread"], thick=2, dash=(5, 4))
    if out:
        sheet.rule(0, y - 4, width, y - 4, c["line"])
        y += 4
    for row in out:
        _left_out(sheet, row, place, y)
        y += _ROW
    return y


def _named(sheet: Sheet, row: f.SkewRow, y: float, room: float, ink: str) -> None:
    sheet.word(0, y + 7, row.domain, ink, size=12.5, bold=True, room=room - 10, name=True)
    sheet.word(0, y + 22, f"{row.nodes} node{'s' * (row.nodes != 1)}", palette()["soft"], size=10)


def _skew_row(sheet: Sheet, ledger: f.SkewLedger, row: f.SkewRow, place: _Place, y: float) -> None:
    c = palette()
    ref = f"domain/{ledger.key}/{row.domain}"
    _named(sheet, row, y, place.x0, c["ink"])
    wide = place.unit - 6
    if place.counted <= MOST_UNITS + 1:
        for i in range(row.counted):
            sheet.rect(place.at(i), y + 2, wide, 22, c["ink"], ref=ref)
    elif row.counted:
        sheet.rect(place.x0, y + 2, row.counted * place.unit - 6, 22, c["ink"], ref=ref)
        sheet.word(place.x0 + 8, y + 13, str(row.counted), c["paper"], bold=True)
    role = "ok" if row.fits else "spread"
    plus = max(wide, 22)
    sheet.rect(place.at(row.counted), y + 2, plus, 22, c[f"{role}-pale"], stroke=c[role], dash=_DASH, ref=ref)
    sheet.word(
        place.at(row.counted) + plus / 2, y + 13, f"+{ledger.self_match}", c[role], bold=True, align="center"
    )
    x = place.at(row.counted + 1.3)
    aside = sum(n for n, _ in row.not_counted)
    for i in range(min(aside, 3)):
        said = f"⊖{aside}" if aside > 3 and i == 0 else "⊖"
        if aside > 3 and i:
            break
        sheet.rect(x, y + 2, wide, 22, c["paper"], stroke=c["soft"], dash=(2.0, 2.0), thick=1, ref=ref)
        sheet.word(x + wide / 2, y + 13, said, c["soft"], align="center")
        x += place.unit
    sheet.word(place.words + 7, y + 6, "✓" if row.fits else "✕", c[role], size=12, bold=True, align="center")
    sheet.word(place.words + 19, y + 6, _sum(ledger, row), c[role], size=12, bold=True)
    sheet.word(place.words, y + 22, _why(row), c["soft"], size=10.5, room=place.width - place.words)


def _left_out(sheet: Sheet, row: f.SkewRow, place: _Place, y: float) -> None:
    c = palette()
    _named(sheet, row, y, place.x0, c["soft"])
    wide = place.unit - 6
    if row.counted > MOST_UNITS:
        sheet.rect(place.x0, y + 2, wide * 3, 22, c["line"])
        sheet.word(place.x0 + 8, y + 13, str(row.counted), c["ink"], bold=True)
    else:
        for i in range(row.counted):
            sheet.rect(place.at(i), y + 2, wide, 22, c["line"])
    sheet.word(place.words, y + 6, "– not a domain", c["ink"], size=12, bold=True)
    sheet.word(place.words, y + 22, row.left_out, c["soft"], size=10.5, room=place.width - place.words)


def _skew_legend(sheet: Sheet, y: float) -> None:
    c, x = palette(), 0.0
    entries = (
        (c["ink"], c["ink"], (), "", "matching pod"),
        (c["ok-pale"], c["ok"], (3.0, 2.0), "", "this pod, if placed here"),
        (c["paper"], c["soft"], (2.0, 2.0), "⊖", "matches, not counted"),
        (c["line"], c["line"], (), "", "in no domain"),
    )
    for fill, stroke, dash, sign, said in entries:
        sheet.rect(x, y - 7, 14, 14, fill, stroke=stroke, dash=dash, thick=1.2)
        sheet.word(x + 7, y, sign, c["soft"], size=10, align="center")
        sheet.word(x + 20, y, said, c["soft"], size=10.5)
        x += 20 + t.width(said, 10.5) + 22


def capacity_sheet(frame: f.Frame, width: int, *, refs: bool = False) -> tuple[Sheet, float]:
    """Lay out one ledger for each claim of the pod in focus that is to be provisioned; give the height."""
    c, sheet, y = palette(), Sheet(width, refs), 0.0
    if not frame.capacity:
        sheet.word(0, 10, NO_CLAIM, c["soft"])
        return sheet, 24.0
    for ledger in frame.capacity:
        y = _capacity(sheet, ledger, y) + 18
    if any(ledger.rows for ledger in frame.capacity):
        _capacity_legend(sheet, y)
        y += 14
    return sheet, y + 2


def capacity_reading(frame: f.Frame) -> str:
    """Say the ledgers in lines: published, how old, what the driver has now, the verdict."""
    parts = []
    for ledger in frame.capacity:
        lines = [ledger.unchecked] if ledger.unchecked else []
        table = []
        for row in ledger.rows:
            now = f"driver now {_of(row.driver_now)}" if row.driver_now is not None else "driver now unknown"
            shown = (
                "nothing published"
                if row.published is None
                else f"published {_of(row.published)}, {row.age:g} s old"
            )
            top, _ = _verdict(ledger, row)
            sign = "✓" if row.fits else "✕"
            table.append([row.pool, row.reach, f"{shown}, {now}", f"{sign} {top}"])
        parts.append("\n".join([_capacity_title(ledger), *lines, columns(table)]).rstrip())
    return "\n\n".join(parts) or NO_CLAIM


def _of(amount: int | None) -> str:
    return "none" if amount is None else t.amount(amount)


def _capacity_title(ledger: f.CapacityLedger) -> str:
    return f"Capacity for {t.name_in_ref(ledger.claim)}: {t.amount(ledger.request)} of class {ledger.class_name}"


def _stale(ledger: f.CapacityLedger, row: f.CapacityRow) -> bool:
    return row.fits and row.driver_now is not None and row.driver_now < ledger.request


def _verdict(ledger: f.CapacityLedger, row: f.CapacityRow) -> tuple[str, str]:
    """Say what the rule concludes, and what the simulation knows about it."""
    ask = t.amount(ledger.request)
    if row.published is None:
        more = f"driver has {_of(row.driver_now)}, but has not reported" if row.driver_now is not None else ""
        return row.reason or "no entry = not sufficient", more
    if _stale(ledger, row):
        now = f"published {row.age:g} s ago; driver now has {_of(row.driver_now)}: creation will fail"
        return f"{ask} ≤ {t.amount(row.published)}, but stale", now
    age = f"published {row.age:g} s ago" + (", expired" if row.expired else "")
    if row.fits:
        return (
            f"{ask} ≤ {t.amount(row.published)}",
            f"{age}, still true" if row.driver_now == row.published else age,
        )
    if row.largest_volume is not None and row.largest_volume < ledger.request:
        said = f"{ask} > largest volume {t.amount(row.largest_volume)}"
        return said, "maximumVolumeSize decides, not capacity"
    return row.reason or f"{ask} > {t.amount(row.published)}", age


def _capacity(sheet: Sheet, ledger: f.CapacityLedger, top: float) -> float:
    c, width = palette(), sheet.width
    sheet.word(0, top + 8, _capacity_title(ledger), c["ink"], size=13, bold=True, room=width)
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
    said = f"asked: {t.amount(ledger.request)}"
    sheet.word(asked + 5, y + 2, said, c["storage"], bold=True)
    y += 16
    first = y
    for row in ledger.rows:
        _pool(sheet, ledger, row, (label, room, most), y)
        y += 44
    sheet.rule(asked, first - 8, asked, y - 8, c["storage"], thick=2, dash=(5, 4))
    return y


def _pool(
    sheet: Sheet, ledger: f.CapacityLedger, row: f.CapacityRow, scale: tuple[float, float, float], y: float
) -> None:
    c, (x0, room, most) = palette(), scale
    ref = f"pool/{row.pool}"
    sheet.word(0, y + 6, row.pool, c["ink"], size=12.5, bold=True, room=x0 - 10, name=True)
    sheet.word(0, y + 21, row.reach, c["soft"], size=10, room=x0 - 10)
    stale = _stale(ledger, row)
    if row.published is None:
        sheet.rect(x0, y, room, 18, c["panel"], stroke=c["line"], dash=_DASH, thick=1.2, ref=ref)
        sheet.word(x0 + 7, y + 9.5, "nothing published", c["soft"], size=10.5)
    else:
        sheet.rect(x0, y, room, 18, c["track"], ref=ref)
        sheet.rect(
            x0, y, max(2.0, room * row.published / most), 18, c["ok" if row.fits else "storage"], ref=ref
        )
        ink = c["paper"] if room * row.published / most > 60 else c["ink"]
        sheet.word(x0 + 12, y + 9.5, "✓" if row.fits else "✕", ink, bold=True, align="center")
        sheet.word(x0 + 22, y + 9.5, t.amount(row.published), ink, bold=True)
    if row.driver_now is not None:
        colour = (
            c["resources"] if row.driver_now != row.published and row.published is not None else c["soft"]
        )
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


def _capacity_legend(sheet: Sheet, y: float) -> None:
    c, x = palette(), 0.0
    entries = (
        (c["ok"], 14.0, "published, enough"),
        (c["storage"], 14.0, "published, but rejected"),
        (c["soft"], 5.0, "what the driver has now"),
        (c["resources"], 5.0, "not what it published"),
    )
    for fill, high, said in entries:
        sheet.rect(x, y - high / 2, 16, high, fill, radius=2)
        sheet.word(x + 22, y, said, c["soft"], size=10.5)
        x += 22 + t.width(said, 10.5) + 22
    sheet.rule(x + 3, y - 8, x + 3, y + 8, c["ink"], thick=2.5)
    sheet.word(x + 9, y, "◀", c["ink"], size=9, align="center")
    sheet.word(x + 20, y, "largest single volume", c["soft"], size=10.5)

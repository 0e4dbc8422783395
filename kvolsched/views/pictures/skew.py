"""The chart of skew: how each spread constraint of a pod counts pods, domain by domain.

Unit squares are pods; the limit is a line between them, and the sum stands at the right as the rule writes it. Pods
that are not counted are drawn too, apart and with the reason: that is where people go wrong.
"""

from __future__ import annotations

from attrs import frozen

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.drawing.text import columns
from kvolsched.views.drawing.theme import palette

NO_CONSTRAINT = "This pod has no spread constraint."
MOST_UNITS = 12
"""More pods in a domain than this are a bar with their number."""

_ROW, _DASH = 40.0, (4.0, 3.0)


@frozen
class _Scale:
    """Places of the parts of one ledger, px."""

    x0: float
    unit: float
    words: float
    counted: int
    width: float

    def at(self, pods: float) -> float:
        return self.x0 + pods * self.unit


def draw(frame: f.Frame, width: int, selection: str = "") -> Sheet:
    """Draw one ledger for each spread constraint of the pod in focus."""
    c, sheet, y = palette(), Sheet(width, "skew ledger", selection, 24.0), 0.0
    if not frame.skew:
        sheet.word(0, 10, NO_CONSTRAINT, c["soft"])
        return sheet
    for ledger in frame.skew:
        y = _ledger(sheet, ledger, y) + 22
    _legend(sheet, y)
    sheet.height = y + 16
    return sheet


def reading(frame: f.Frame) -> str:
    """Return the skew ledgers as lines: counted, not counted and why, the sum, the verdict."""
    parts = []
    for ledger in frame.skew:
        table = [_row_words(ledger, row) for row in ledger.rows]
        parts.append(f"{_title(ledger)}; {_limit_words(ledger)}\n" + columns(table))
    return "\n\n".join(parts) or NO_CONSTRAINT


def _title(ledger: f.SkewLedger) -> str:
    need = "" if ledger.when == "DoNotSchedule" else f", {ledger.when}"
    least = f", minDomains {ledger.min_domains}" if ledger.min_domains else ""
    return f"Skew ledger of {t.name_in_ref(ledger.pod)}: {ledger.key}, maxSkew {ledger.max_skew}{least}{need}"


def _limit_words(ledger: f.SkewLedger) -> str:
    return f"limit: minimum {ledger.minimum} + maxSkew {ledger.max_skew} = {ledger.minimum + ledger.max_skew}"


def _forced(ledger: f.SkewLedger) -> str:
    """Return why the minimum counts as 0, or ""."""
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
    content = ", ".join(f"{n} not counted: {why}" for n, why in row.not_counted)
    return content or "all matching pods counted"


def _row_words(ledger: f.SkewLedger, row: f.SkewRow) -> list[str]:
    apart = "".join(f", not counted {n} ({why})" for n, why in row.not_counted)
    if row.left_out:
        return [row.domain, f"counted {row.counted}{apart}", f"– no domain: {row.left_out}"]
    return [row.domain, f"counted {row.counted}{apart}", f"{_sum(ledger, row)}  {'✓' if row.fits else '✕'}"]


def _ledger(sheet: Sheet, ledger: f.SkewLedger, top: float) -> float:
    c, width = palette(), sheet.width
    sheet.word(0, top + 8, _title(ledger), c["ink"], size=13, bold=True, room=width)
    rows = [r for r in ledger.rows if not r.left_out]
    out = [r for r in ledger.rows if r.left_out]
    label = min(max(t.width(r.domain, 12.5, bold=True) for r in ledger.rows) + 22, 0.22 * width)
    words = 0.36 * width
    room = width - label - words - 16
    most = max((r.counted + 1 for r in rows), default=1)
    apart = max((min(3, sum(n for n, _ in r.not_counted)) for r in ledger.rows), default=0)
    loose = max((r.counted for r in out), default=0)
    slots = max(most, ledger.minimum + ledger.max_skew, min(loose, MOST_UNITS)) + apart + 0.5
    scale = _Scale(label, min(52.0, room / slots), width - words, most, width)
    y = top + 26.0
    forced = _forced(ledger)
    if forced:
        sheet.word(0, y + 2, forced, c["spread"], room=width)
        y += 18
    limit = ledger.minimum + ledger.max_skew
    line_top, y = y + 10, y + 18
    for row in rows:
        _row(sheet, ledger, row, scale, y)
        y += _ROW
    at = scale.at(limit) - 3
    content = _limit_words(ledger)
    fits_right = at + 6 + t.width(content, 11, bold=True) < width
    sheet.word(at + 6 if fits_right else at - 6, line_top - 4, content, c["spread"], bold=True,
               align="left" if fits_right else "right")  # fmt: skip
    sheet.rule(at, line_top + 4, at, y - 8, c["spread"], thick=2, dash=(5, 4))
    if out:
        sheet.rule(0, y - 4, width, y - 4, c["line"])
        y += 4
    for row in out:
        _left_out(sheet, row, scale, y)
        y += _ROW
    return y


def _domain_name(sheet: Sheet, row: f.SkewRow, y: float, room: float, ink: str) -> None:
    sheet.word(0, y + 7, row.domain, ink, size=12.5, bold=True, room=room - 10, name=True)
    sheet.word(0, y + 22, f"{row.nodes} node{'s' * (row.nodes != 1)}", palette()["soft"], size=10)


def _row(sheet: Sheet, ledger: f.SkewLedger, row: f.SkewRow, scale: _Scale, y: float) -> None:
    c = palette()
    ref = f"domain/{ledger.key}/{row.domain}"
    _domain_name(sheet, row, y, scale.x0, c["ink"])
    wide = scale.unit - 6
    if scale.counted <= MOST_UNITS + 1:
        for i in range(row.counted):
            sheet.rect(scale.at(i), y + 2, wide, 22, c["ink"], ref=ref)
    elif row.counted:
        sheet.rect(scale.x0, y + 2, row.counted * scale.unit - 6, 22, c["ink"], ref=ref)
        sheet.word(scale.x0 + 8, y + 13, str(row.counted), c["paper"], bold=True)
    role = "ok" if row.fits else "spread"
    plus = max(wide, 22)
    sheet.rect(scale.at(row.counted), y + 2, plus, 22, c[f"{role}-pale"], stroke=c[role], dash=_DASH, ref=ref)
    sheet.word(scale.at(row.counted) + plus / 2, y + 13, f"+{ledger.self_match}", c[role], bold=True, align="center")
    x = scale.at(row.counted + 1.3)
    aside = sum(n for n, _ in row.not_counted)
    for i in range(min(aside, 3)):
        content = f"⊖{aside}" if aside > 3 and i == 0 else "⊖"
        if aside > 3 and i:
            break
        sheet.rect(x, y + 2, wide, 22, c["paper"], stroke=c["soft"], dash=(2.0, 2.0), thick=1, ref=ref)
        sheet.word(x + wide / 2, y + 13, content, c["soft"], align="center")
        x += scale.unit
    sheet.word(scale.words + 7, y + 6, "✓" if row.fits else "✕", c[role], size=12, bold=True, align="center")
    sheet.word(scale.words + 19, y + 6, _sum(ledger, row), c[role], size=12, bold=True)
    sheet.word(scale.words, y + 22, _why(row), c["soft"], size=10.5, room=scale.width - scale.words)


def _left_out(sheet: Sheet, row: f.SkewRow, scale: _Scale, y: float) -> None:
    c = palette()
    _domain_name(sheet, row, y, scale.x0, c["soft"])
    wide = scale.unit - 6
    if row.counted > MOST_UNITS:
        sheet.rect(scale.x0, y + 2, wide * 3, 22, c["line"])
        sheet.word(scale.x0 + 8, y + 13, str(row.counted), c["ink"], bold=True)
    else:
        for i in range(row.counted):
            sheet.rect(scale.at(i), y + 2, wide, 22, c["line"])
    sheet.word(scale.words, y + 6, "– not a domain", c["ink"], size=12, bold=True)
    sheet.word(scale.words, y + 22, row.left_out, c["soft"], size=10.5, room=scale.width - scale.words)


def _legend(sheet: Sheet, y: float) -> None:
    c, x = palette(), 0.0
    entries = (
        (c["ink"], c["ink"], (), "", "matching pod"),
        (c["ok-pale"], c["ok"], (3.0, 2.0), "", "this pod, if placed here"),
        (c["paper"], c["soft"], (2.0, 2.0), "⊖", "matches, not counted"),
        (c["line"], c["line"], (), "", "in no domain"),
    )
    for fill, stroke, dash, sign, content in entries:
        sheet.rect(x, y - 7, 14, 14, fill, stroke=stroke, dash=dash, thick=1.2)
        sheet.word(x + 7, y, sign, c["soft"], size=10, align="center")
        sheet.word(x + 20, y, content, c["soft"], size=10.5)
        x += 20 + t.width(content, 10.5) + 22

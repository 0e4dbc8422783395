"""The ledger of a constraint that rejects (DoNotSchedule): squares, minimum and limit, sums, where one may land.

Over 24 domains, those alike are one row: squares are the pods of one of them, strokes count the domains; never are pods
and domains bars under one heading.
"""

from collections.abc import Sequence
from functools import partial

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures import ledger_parts as p
from kvolsched.views.pictures import skew_rows
from kvolsched.views.pictures.skew_rows import verdict

BELOW = "below: ActualSkew · sum if placed here, counted + self − min. · may it land here?"
MAX_UNITS = 12
"""More pods in a domain than this are a bar with their number."""
CROWD_UNITS, MAX_STROKES = 6, 180
"""Of domains that are one row: more pods than this are a number, more domains alike a bar."""

_DOTS = (2.0, 2.0)
_GAP, _MARGIN = 4.0, 14.0


@frozen
class _Columns:
    """Places of the parts of one ledger, px."""

    marks: float  # left end of the squares
    room: float  # of the squares
    pitch: float  # from one pod to the next
    apart: float  # pods that are not counted; 0: none are, or the page is narrow
    actual: float
    sum: float
    verdict: float
    width: float
    bars: bool  # whether pods are bars with numbers

    def at(self, pods: float) -> float:
        """Return the left end of a pod's square."""
        return self.marks + pods * self.pitch

    def line(self, pods: float) -> float:
        """Return the place between two pods."""
        return self.at(pods) - (0 if self.bars else _GAP / 2)


def draw(sheet: Sheet, ledger: f.SkewLedger, top: float, legend: p.Legend) -> float:
    """Draw one ledger below `top`; return where what follows begins."""
    y = p.head(sheet, top, skew_rows.title(ledger), ledger.moment)
    glyph, ink = ("✓", "ok") if ledger.open else ("✕", "spread")
    y = p.answer(sheet, y, glyph, ink, [(ledger.answer, True, "ink"), (ledger.sentence, False, "ink")])
    inside = skew_rows.groups(ledger, [row for row in ledger.rows if not row.left_out])
    outside = skew_rows.groups(ledger, [row for row in ledger.rows if row.left_out])
    if not ledger.rows:
        return y
    domains = sum(len(each.rows) for each in inside)
    thin = domains > p.MANY
    c = _columns(ledger, [*inside, *outside], sheet.width, thin=thin)
    if domains > p.CROWD:
        y = _crowd(sheet, ledger, inside, y + 8, legend)
    elif domains:
        y = _rows(sheet, ledger, inside, c, y + 8, legend, thin=thin)
    if outside:
        y = _left_out(sheet, ledger, outside, c, y + 4, legend)
    return _notes(sheet, ledger, y)


def _columns(ledger: f.SkewLedger, alike: Sequence[skew_rows.AlikeRows], width: float, *, thin: bool) -> _Columns:
    broad, rows = width >= p.BROAD, [each.first for each in alike]
    size = 12 if thin else 13
    names = max(t.width(row.domain, size, bold=True) for row in rows)
    below = 0 if thin else max(t.width(_below_name(ledger, row), 10.5, bold=True) for row in rows)
    label = min(max(names, below, 60.0), (0.2 if broad else 0.26) * width) + _MARGIN
    if thin:
        label += 62 * broad
    sums = max(t.width(row.sum, 12, bold=True) for row in rows) + 34 if broad or thin else 0.0
    found = [verdict(each) for each in alike]
    ends = max(t.width(each.words, 12, bold=True) for each in found) + 24 if broad or thin else 0.0
    if broad and not thin:
        ends = max(ends, *(min(t.width(each.more, 10.5), 190.0) + 24 for each in found), 0.19 * width)
    ends = min(ends, (0.28 if broad else 0.34) * width)
    actual = 90.0 if broad and not thin else 0.0
    apart = 150.0 if broad and not thin and any(row.not_counted for row in rows) else 0.0
    if apart:
        apart = min(170.0, max(apart, 0.13 * width))
    room = width - label - sums - ends - actual - apart - _MARGIN
    most = max((row.counted for row in rows if not row.left_out), default=0)
    slots = max(most + 1, min(ledger.limit, most + 4))
    pitch = min(34.0, room / slots)
    bars = thin or most > MAX_UNITS or pitch < 15
    if bars:
        pitch = min(44.0 if most <= MAX_UNITS else 34.0, (room - 18) / slots)
    x = label + room + _MARGIN
    return _Columns(label, room, pitch, x if apart else 0.0, x + apart, x + apart + actual,
                    x + apart + actual + sums, width, bars)


def _below_name(ledger: f.SkewLedger, row: f.SkewRow) -> str:
    return f"{skew_rows.nodes_words(row)}{' · ▼ minimum' if skew_rows.is_minimum(ledger, row) else ''}"


def _rows(
    sheet: Sheet, ledger: f.SkewLedger, alike: Sequence[skew_rows.AlikeRows], c: _Columns, y: float,
    legend: p.Legend, *, thin: bool,
) -> float:  # fmt: skip
    broad = sheet.width >= p.BROAD
    if broad:
        y = _headings(sheet, ledger, c, y)
    else:
        sheet.word(0, y + 6, f"● matching pods, counted: {ledger.selector}", "soft", size=10.5, bold=True,
                   room=sheet.width)
        sheet.word(0, y + 21, BELOW, "soft", size=10.5, room=sheet.width)
        y += 31
    labels, first = y, y + 36
    y, places = first, []
    repeated = ""
    for each in alike:
        row = each.first
        lines = [] if broad or thin else skew_rows.words_below(ledger, each)
        high = 23.0 if thin else 46.0 if broad else skew_rows.height_below(lines, c.width - 8)
        skew_rows.draw_ground(sheet, ledger, each, y, high)
        places.append((each, y, high, lines))
        y += high + (2 if thin else 4)
    last = y - 2
    whole = broad or thin  # else words stand below the marks of a row, where no line may go
    spans = [(first - 3, last)] if whole else [(top - (3 if top == first else 0), top + 36) for _, top, _, _ in places]
    for span in spans:
        _band(sheet, ledger, c, *span, legend)
    for each, top, high, lines in places:
        row = each.first
        _name(sheet, ledger, row, c, top, high, thin=thin)
        _pods(sheet, ledger, row, c, top + (2 if thin else 9 if broad else 6), legend, thin=thin)
        if lines:
            p.flow(sheet, 8, top + 43, c.width - 16, lines, 11)
        if broad and not thin:
            _apart(sheet, row, c, top, legend)
            middle = top + high / 2
            skew = skew_rows.actual_skew(ledger, row)
            words = f"{row.counted} − {ledger.minimum} = {skew}"
            fits = t.width(words, 12) <= c.sum - c.actual - 8
            sheet.word(c.actual, middle, words if fits else str(skew), "ink", size=12)
        if broad or thin:
            skew_rows.draw_sum(sheet, ledger, row, c.sum, c.verdict, top + high / 2)
            repeated = _verdict(sheet, each, c, top, high, repeated, thin=thin)
    _lines(sheet, ledger, c, labels, spans)
    return last + 6


def _headings(sheet: Sheet, ledger: f.SkewLedger, c: _Columns, y: float) -> float:
    p.heading(sheet, 0, y + 6, c.marks - 8, "domain", "nodes")
    first = "● matching pods, counted"
    first = first if t.width(first, 10.5, bold=True) <= c.room + 8 else "● counted pods"
    p.heading(sheet, c.marks, y + 6, c.room + 8, first, ledger.selector)
    if c.apart:
        p.heading(sheet, c.apart, y + 6, c.actual - c.apart - 8, "⊖ match, not counted", "and why")
    p.heading(sheet, c.actual, y + 6, c.sum - c.actual - 4, "ActualSkew", "now (S3)")  # thin rows have no room for it
    p.heading(sheet, c.sum, y + 6, c.verdict - c.sum - 4, "sum if placed here", "counted + self − min.")
    question = f"may {skew_rows.who_lands(ledger)} land here?"
    p.heading(sheet, c.verdict, y + 6, c.width - c.verdict, question, "all filters")
    return y + 32


def _band(sheet: Sheet, ledger: f.SkewLedger, c: _Columns, top: float, low: float, legend: p.Legend) -> None:
    """Draw the pale band of the room that is left under the limit."""
    left = c.line(ledger.minimum)
    right = min(c.line(ledger.limit), c.marks + c.room)
    if right > left:
        sheet.rect(left, top, right - left, low - top, "ok-pale", radius=0)
        legend.add("room under the limit", p.box("ok-pale"), 9)


def _lines(sheet: Sheet, ledger: f.SkewLedger, c: _Columns, labels: float,
           spans: Sequence[tuple[float, float]]) -> None:
    """Draw the lines of minimum and limit with their labels, the minimum's above the limit's."""
    least_, most = c.line(ledger.minimum), c.line(ledger.limit)
    first, by = skew_rows.minimum_words(ledger)
    shown = most <= c.marks + c.room
    _line_label(sheet, least_, labels + 8, f"▼ {first}, {by}", "ink", c.width)
    words = skew_rows.limit_words(ledger) if shown else f"{skew_rows.limit_words(ledger)} →"
    left = _line_label(sheet, most if shown else c.marks + c.room - 10, labels + 23, words, "spread", c.width)
    start = labels + (15 if left > least_ else 31)  # a label that was moved to the left is not crossed
    for place, (top, low) in enumerate(spans):
        sheet.rule(least_, top if place else start, least_, low, "ink", thick=2.4)
        if shown:
            sheet.rule(most, top if place else labels + 31, most, low, "spread", thick=2, dash=(5, 4))


def _line_label(sheet: Sheet, x: float, y: float, words: str, ink: str, width: float) -> float:
    """Draw the label of a line from `x` on, or as far left as it needs; return its left end."""
    x = max(0.0, min(x, width - t.width(words, 11, bold=True)))
    sheet.word(x, y, words, ink, size=11, bold=True, room=width - x)
    return x


def _name(sheet: Sheet, ledger: f.SkewLedger, row: f.SkewRow, c: _Columns, y: float, high: float, *,
          thin: bool) -> None:
    least_ = skew_rows.is_minimum(ledger, row)
    broad = c.width >= p.BROAD
    if thin:
        name = f"▼ {row.domain}" if least_ else row.domain
        room = c.marks - 10 - 62 * broad
        sheet.word(0, y + high / 2, name, "ink", size=12, bold=True, room=room, name=not least_)
        if broad:
            sheet.word(c.marks - 62, y + high / 2, skew_rows.nodes_words(row), "soft", size=10.5, room=54)
        return
    middle = y + (high / 2 if broad else 18)
    sheet.word(0, middle - 8, row.domain, "ink", size=13, bold=True, room=c.marks - 10, name=True)
    sheet.word(0, middle + 9, _below_name(ledger, row), "ink" if least_ else "soft", size=10.5, bold=least_,
               room=c.marks - 8)


def _pods(sheet: Sheet, ledger: f.SkewLedger, row: f.SkewRow, c: _Columns, y: float, legend: p.Legend, *,
          thin: bool) -> None:
    """Draw the pods that count, then this pod if it is placed here."""
    high = 18.0 if thin else 24.0
    middle, wide = y + high / 2, c.pitch - _GAP
    if row.counted:
        legend.add("matching pod, counted", p.box("ink"), 1)
    end, number = row.counted * c.pitch - 2, str(row.counted)
    apart = c.bars and row.counted > 0 and end <= t.width(number, 11) + 8  # from a bar without room for its number
    if c.bars and row.counted:
        sheet.rect(c.marks, y, end, high, "ink")
        sheet.word(c.marks + 7, middle, "" if apart else number, "paper", bold=True)
    else:
        for place in range(row.counted):
            sheet.rect(c.at(place), y, wide, high, "ink")
    sign, ink = skew_rows.add_placed(legend, ledger, row)
    left, wide = c.at(row.counted), max(wide, 5.0)
    sheet.rect(left, y, wide, high, f"{ink}-pale", stroke=ink, dash=skew_rows.PLACED, thick=1.5)
    beside = left + wide + 9
    if wide >= 15:
        sheet.word(left + wide / 2, middle, sign, ink, size=12, bold=True, align="center")
    else:
        for line in (c.line(ledger.minimum), c.line(ledger.limit)):  # no sign on a line
            beside = line + 9 if abs(beside - line) < 8 else beside
        sheet.word(beside, middle, sign, ink, size=11, bold=True, align="center")
        beside += 12
    if apart:
        sheet.word(beside, middle, number, "ink", bold=True)
        beside += t.width(number, 11) + 6
    landing = row.landing
    closed = row.fits and landing is not None and not landing.fitting
    if closed and not thin and beside + 76 < c.marks + c.room + _MARGIN:
        sheet.word(beside, middle, "by the sum", "ok", size=11, bold=True)
    if thin and row.not_counted:
        others = sum(count for count, _ in row.not_counted)
        if beside + 30 < c.marks + c.room + _MARGIN:
            sheet.word(beside, middle, f"⊖ {others}", "soft", size=10.5)
            legend.add("matches, not counted", p.box("paper", "soft", _DOTS, "⊖", "soft"))


def _apart(sheet: Sheet, row: f.SkewRow, c: _Columns, y: float, legend: p.Legend) -> None:
    """Draw the pods that match and do not count, with the reasons."""
    if not c.apart:
        return
    if not row.not_counted:
        sheet.word(c.apart, y + 23, "– none", "soft", size=11)
        return
    number = sum(count for count, _ in row.not_counted)
    legend.add("matches, not counted", p.box("paper", "soft", _DOTS, "⊖", "soft"))
    x, shown = c.apart, number if number <= 3 else 1
    for _ in range(shown):
        sheet.rect(x, y + 14, 15, 18, "paper", stroke="soft", dash=_DOTS, thick=1)
        sheet.word(x + 7.5, y + 23, "⊖", "soft", size=10, align="center")
        x += 18
    x += 4
    room, reasons = c.actual - x - 8, list(row.not_counted)
    words = [f"{count} {why}" for count, why in reasons]
    if len(words) > 2:
        words = [words[0], f"{number - reasons[0][0]} others: {', '.join(why for _, why in reasons[1:])}"]
    lines = t.wrap(words[0], room, 10.5, 2) if len(words) == 1 else words
    sheet.words(x, y + 23 - 7 * (len(lines) - 1), lines, "soft", 14, size=10.5, room=room)


def _verdict(sheet: Sheet, alike: skew_rows.AlikeRows, c: _Columns, y: float, high: float, repeated: str, *,
             thin: bool) -> str:
    """Draw whether the pod may land; in thin rows, a verdict that is repeated in short. Return its words."""
    found = verdict(alike)
    again = thin and repeated == found.words + found.more and found.glyph in "✕⊘"
    x, room = c.verdict, c.width - c.verdict
    shown = p.LedgerVerdict(found.glyph, found.ink, "no" if again else found.words, "" if thin else found.more)
    skew_rows.draw_verdict(sheet, shown, x, y + high / 2, room, bold=not again)
    return found.words + found.more


def _left_out(
    sheet: Sheet, ledger: f.SkewLedger, alike: Sequence[skew_rows.AlikeRows], c: _Columns, y: float, legend: p.Legend
) -> float:
    """Draw what is no domain: its pods count nowhere."""
    width, broad = sheet.width, sheet.width >= p.BROAD
    sheet.rule(0, y, width, y, "line")
    y += 6
    ends, label = width - c.verdict if broad else 0.0, c.marks
    for each in alike:
        row = each.first
        found = verdict(each)
        pods = "" if not row.counted else "; its pod counts nowhere" if row.counted == 1 else (
            f"; its {row.counted} pods count nowhere")  # fmt: skip
        words = f"– no domain: {row.left_out}{pods}"
        several = len(each.rows) > 1
        name = counted(len(each.rows), "value") if several else row.domain
        units = min(row.counted, 3)
        room = width - label - ends - units * 22 - 20
        lines = t.wrap(words, room, 11, 2)
        high = 42.0 if broad else 42.0 + 18
        skew_rows.draw_ground(sheet, ledger, each, y, high)
        sheet.word(0, y + 13, name, "soft", size=13, bold=True, room=label - 10, name=True)
        sheet.word(0, y + 30, skew_rows.nodes_words(row), "soft", size=10.5)
        for place in range(units):
            sheet.rect(label + place * 22, y + 11, 18, 18, "line")
        if units:
            legend.add("in no domain", p.box("line"))
            if row.counted > 3:
                sheet.word(label + 9, y + 20, str(row.counted), "ink", size=10, bold=True, align="center")
        sheet.words(label + units * 22 + 4, y + 20.5 - 7 * (len(lines) - 1), lines, "soft", 14)
        if broad:
            skew_rows.draw_verdict(sheet, found, c.verdict, y + 21, width - c.verdict)
        else:
            p.flow(sheet, 8, y + 49, width - 16, found.runs(), 11)
        y += high + 4
    return y


def _notes(sheet: Sheet, ledger: f.SkewLedger, y: float) -> float:
    """Draw a box with why a shut domain counts, and the sums if it did not."""
    if not ledger.notes:
        return y
    width, top = sheet.width, y + 6
    draws, y = [], top + 17
    for first, words in ledger.notes:
        runs = [(first, True, "accent"), (words, False, "ink")]
        draws.append(partial(p.flow, sheet, 12, y, width - 24, runs, 12))
        y = p.flow(Sheet(width), 12, y, width - 24, runs, 12) + 3
    sheet.rect(0, top, width, y - top - 6, "paper", stroke="accent", radius=7, thick=1.4)
    for put in draws:
        put()
    return y + 4


# --- over 24 domains: those alike are one row ------------------------------------------------------------------------


def _crowd(sheet: Sheet, ledger: f.SkewLedger, alike: Sequence[skew_rows.AlikeRows], y: float,
           legend: p.Legend) -> float:
    """Draw domains that are alike as one row: the pods of one of them, and a stroke for each."""
    width, broad = sheet.width, sheet.width >= p.BROAD
    most = max(each.first.counted for each in alike)
    units = min(most, CROWD_UNITS) + 1
    below = (f"{row.counted} counted{' · ▼ minimum' * skew_rows.is_minimum(ledger, row)}"
             for row in (each.first for each in alike))  # fmt: skip
    label = max(units * 22.0 + 20, max(t.width(words, 10.5, bold=True) for words in below) + 14)
    sums = max(t.width(each.first.sum, 12, bold=True) for each in alike) + 34 if broad else 0.0
    ends = 0.25 * width if broad else 0.0
    room = width - label - sums - ends - _MARGIN
    strokes_room = room - 44
    x_sum = label + room + _MARGIN
    p.heading(sheet, 0, y + 6, label - 8, "pods in the domain", "counted")
    domains = sum(len(each.rows) for each in alike)
    p.heading(sheet, label, y + 6, room, f"domains alike, of {domains}", "a stroke is a domain")
    if broad:
        p.heading(sheet, x_sum, y + 6, sums, "sum if placed there", "counted + self − min.")
        p.heading(sheet, x_sum + sums, y + 6, ends, f"may {skew_rows.who_lands(ledger)} land there?", "all filters")
    first, by = skew_rows.minimum_words(ledger)
    runs = [(f"▼ {first}, {by};", True, "ink"), (skew_rows.limit_words(ledger), True, "spread")]
    y = p.flow(sheet, 0, y + 38, width, runs, 11)
    largest = max(len(each.rows) for each in alike)
    for each in alike:
        row = each.first
        runs = [] if broad else skew_rows.words_below(ledger, each)
        high = 44.0 if broad else skew_rows.height_below(runs, width - 8) + 6
        skew_rows.draw_ground(sheet, ledger, each, y, high)
        _one_domain(sheet, ledger, row, y + 6, legend)
        tail = " · ▼ minimum" if skew_rows.is_minimum(ledger, row) else ""
        sheet.word(0, y + 35, f"{row.counted} counted{tail}", "ink" if tail else "soft", size=10.5,
                   bold=bool(tail), room=label - 8)
        _strokes(sheet, len(each.rows), largest, label, y + 6, strokes_room, verdict(each).ink)
        sheet.word(label, y + 35, p.with_more(each.names, room, 10.5), "soft", size=10.5, room=room)
        if broad:
            skew_rows.draw_sum(sheet, ledger, row, x_sum, x_sum + sums, y + 15)
            skew_rows.draw_verdict(sheet, verdict(each), x_sum + sums, y + 22, ends)
        else:
            p.flow(sheet, 8, y + 54, width - 16, runs, 11)
        y += high + 6
    return y


def _one_domain(sheet: Sheet, ledger: f.SkewLedger, row: f.SkewRow, y: float, legend: p.Legend) -> None:
    """Draw the pods of one domain as small squares, over six as a number, then this pod."""
    x = 0.0
    if row.counted > CROWD_UNITS:
        sheet.rect(0, y, 40, 18, "ink")
        sheet.word(20, y + 9.5, str(row.counted), "paper", bold=True, align="center")
        x = 44
    else:
        for _ in range(row.counted):
            sheet.rect(x, y, 18, 18, "ink")
            x += 22
    if row.counted:
        legend.add("matching pod, counted", p.box("ink"), 1)
    sign, ink = skew_rows.add_placed(legend, ledger, row)
    sheet.rect(x, y, 18, 18, f"{ink}-pale", stroke=ink, dash=skew_rows.PLACED, thick=1.5)
    sheet.word(x + 9, y + 9.5, sign, ink, bold=True, align="center")


def _strokes(sheet: Sheet, count: int, largest: int, x: float, y: float, room: float, ink: str) -> None:
    """Draw a stroke a domain, their number after them; over 180 a bar."""
    pitch = min(4.0, room / largest)
    if largest > MAX_STROKES or pitch < 1.6:
        end = x + max(2.0, room * count / largest)
        sheet.rect(x, y, end - x, 18, ink, radius=2)
    else:
        for place in range(count):
            at = x + 1 + place * pitch
            sheet.rule(at, y, at, y + 18, ink, thick=min(2.0, pitch * 0.6))
        end = x + count * pitch
    sheet.word(end + 7, y + 9.5, str(count), "ink", size=12, bold=True)

"""The ledger of capacity: what each pool publishes for a claim, what the rule says, and what the driver would answer.

Bars are bytes: outlined what is published, hatched what of it is gone, thin what the driver has now. Where the two
verdicts differ, the scheduler believes what is no longer true.
"""

import re
from collections.abc import Sequence

from attrs import evolve, frozen

from kvolsched.api.words import amount, first_of, listed
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures import ledger_parts as p

NO_CLAIM = "This pod has no claim to provision."  # and no inline volume
NEVER_ASKED = "never asked"
_DASH = (4.0, 3.0)


@frozen
class AlikePools:
    """Pools that have one row: over 24, those that publish and have the same."""

    rows: tuple[f.CapacityRow, ...]

    @property
    def first(self) -> f.CapacityRow:
        """The row that is drawn for all."""
        return self.rows[0]

    @property
    def names(self) -> list[str]:
        """The pools."""
        return [row.pool for row in self.rows]

    @property
    def name(self) -> str:
        """The pool, or how many there are."""
        return self.first.pool if len(self.rows) == 1 else f"{len(self.rows)} pools"


def draw(frame: f.Frame, width: int, selection: str = "") -> Sheet:
    """Draw one ledger for each claim of the pod that is to be provisioned; claims that ask alike share one."""
    sheet, y, legend = Sheet(width, "capacity ledger", selection, 24.0), 0.0, p.Legend()
    if not frame.capacity:
        sheet.height = p.flow(sheet, 0, 10, width, [(frame.no_ledger or NO_CLAIM, False, "soft")], 12)
        return sheet
    for number, ledger in enumerate(shared(frame.capacity)):
        y = _ledger(sheet, ledger, y + 20 * bool(number), legend)
    sheet.height = legend.draw(sheet, y + 2)
    return sheet


def reading(frame: f.Frame) -> str:
    """Return the ledgers as lines: question and moment, answer, published, what the driver has, both verdicts."""
    return "\n\n".join("\n".join(_lines(ledger)) for ledger in shared(frame.capacity)) or frame.no_ledger or NO_CLAIM


def shared(ledgers: Sequence[f.CapacityLedger]) -> list[f.CapacityLedger]:
    """Return the ledgers, those that differ in their claim alone as one of several claims."""
    claims: dict[f.CapacityLedger, list[str]] = {}
    for ledger in ledgers:
        claims.setdefault(evolve(ledger, claim=""), []).append(ledger.claim)
    return [evolve(ledger, claim=listed(refs)) for ledger, refs in claims.items()]


def _lines(ledger: f.CapacityLedger) -> list[str]:
    lines = [title(ledger) + (f"; {ledger.moment}" if ledger.moment else "")]
    if ledger.unchecked:
        lines.append(ledger.unchecked)
    if ledger.answer:
        lines.append(f"{_sign(ledger)} {ledger.answer} {ledger.sentence}".rstrip())
    table = []
    for alike in groups(ledger.rows):
        row, rule, driver = alike.first, rule_says(ledger, alike.first), driver_says(ledger, alike.first)
        age = "as loaded" if _is_loaded(row) else f"{row.age:g} s old"
        shown = "nothing published" if row.published is None else f"published {amount(row.published)}, {age}"
        now = "unknown" if row.driver_now is None else amount(row.driver_now)
        told = f"{shown}, {'stale: ' if is_stale(row) else ''}driver now {now}"
        answers = f"driver {driver.glyph} {driver.words}" if row.driver_now is not None else "driver unknown"
        names = f" ({', '.join(alike.names[:4])}{', …' * (len(alike.names) > 4)})" if len(alike.rows) > 1 else ""
        table.append([f"{alike.name}{names}", _reach(alike), told, f"rule {rule.glyph} {rule.words}", answers])
    return [*lines, *([t.columns(table)] if table else [])]


def groups(rows: Sequence[f.CapacityRow]) -> list[AlikePools]:
    """Return the rows as they are drawn: of over 24 pools, those that are alike together."""
    if len(rows) <= p.CROWD:
        return [AlikePools((row,)) for row in rows]
    found: dict[object, list[f.CapacityRow]] = {}
    for row in rows:
        like = (row.published, row.largest_volume, row.driver_now, row.driver_largest, row.fits, row.reason, row.age)
        found.setdefault(like, []).append(row)
    order = sorted(found.values(), key=lambda alike: (not alike[0].fits, -len(alike), alike[0].pool))
    return [AlikePools(tuple(alike)) for alike in order]


def _reach(alike: AlikePools) -> str:
    if len(alike.rows) == 1:
        return alike.first.reach
    each = {row.reach for row in alike.rows}
    return f"{each.pop()} each" if len(each) == 1 else "several nodes"


def question(ledger: f.CapacityLedger) -> str:
    """Return the question that a ledger answers."""
    refs = re.split(", | and ", ledger.claim)
    return f"Where could {listed([t.name_in_ref(each) if '/' in each else each for each in refs])} be made?"


def asked_words(ledger: f.CapacityLedger) -> str:
    """Return what a claim asks for."""
    return f"{amount(ledger.request)}{' each' * (' and ' in ledger.claim)} of class {ledger.class_name}"


def title(ledger: f.CapacityLedger) -> str:
    """Return the question that a ledger answers, and what is asked for."""
    return f"{question(ledger)} {asked_words(ledger)}"


def _sign(ledger: f.CapacityLedger) -> str:
    return "!" if ledger.warns else "✓" if any(row.fits for row in ledger.rows) else "✕"


def is_stale(row: f.CapacityRow) -> bool:
    """Say whether the driver has less now than it published."""
    return row.published is not None and row.driver_now is not None and row.driver_now < row.published


def _is_loaded(row: f.CapacityRow) -> bool:
    """Say whether a row is of a dump, which does not tell when it was published."""
    return row.driver_now is None and not row.age


def rule_says(ledger: f.CapacityLedger, row: f.CapacityRow) -> p.LedgerVerdict:
    """Return the conclusion of the rule, which reads what is published."""
    ask = amount(ledger.request)
    if row.published is None:
        return p.LedgerVerdict("✕", "storage", row.reason or "no entry = not sufficient")
    when = "published before the dump" if _is_loaded(row) else f"published {row.age:g} s ago"
    if row.driver_now is not None:
        when += ": stale" if is_stale(row) else ", still true" if row.driver_now == row.published else ", more since"
    if row.fits:
        return p.LedgerVerdict("✓", "ok", f"{ask} ≤ {amount(row.published)}", when)
    if row.expired:
        return p.LedgerVerdict("✕", "storage", "expired", f"{when}; the driver must publish again")
    if row.largest_volume is not None and row.largest_volume < ledger.request:
        return p.LedgerVerdict("✕", "storage", f"{ask} > largest volume {amount(row.largest_volume)}", when)
    return p.LedgerVerdict("✕", "storage", row.reason or f"{ask} > {amount(row.published)}", when)


def driver_says(ledger: f.CapacityLedger, row: f.CapacityRow) -> p.LedgerVerdict:
    """Return what the driver would answer to a request for the volume, which only the simulation knows."""
    if row.driver_now is None:
        return p.LedgerVerdict("–", "soft", "unknown")
    enough = row.driver_has_room(ledger.request)
    largest = row.driver_largest
    if largest is not None and largest >= min(row.driver_now, ledger.request):
        largest = None  # what is limited otherwise, too
    has = f"has {amount(row.driver_now)}" if largest is None else f"largest volume {amount(largest)}"
    if not row.fits:
        more = "" if largest is None else "maximumVolumeSize decides, not capacity"
        return p.LedgerVerdict("✓" if enough else "✕", "soft", f"{has}: {NEVER_ASKED}", more)
    if enough:
        return p.LedgerVerdict("✓", "ok", f"{has}: enough")
    inline = "/" not in ledger.claim
    then = "the kubelet cannot mount it" if inline else "then its selected-node is removed"
    return p.LedgerVerdict("✕", "resources", f"{has}: creation fails", then)


@frozen
class _Columns:
    """Places of the parts of one ledger, px."""

    bars: float
    scale: float  # px a byte
    room: float  # of the longest bar
    rule: float
    driver: float
    width: float

    def end(self, size: int) -> float:
        """Return the right end of a bar of this size."""
        return self.bars + max(2.0, size * self.scale)


def _ledger(sheet: Sheet, ledger: f.CapacityLedger, top: float, legend: p.Legend) -> float:
    width, broad = sheet.width, sheet.width >= p.BROAD
    y = p.head(sheet, top, title(ledger), ledger.moment)
    if ledger.unchecked:
        return p.flow(sheet, 0, y + 8, width, [(ledger.unchecked, False, "ink")], 13) + 2
    ink = "resources" if ledger.warns else "ok" if any(row.fits for row in ledger.rows) else "storage"
    y = p.answer(sheet, y, _sign(ledger), ink, [(ledger.answer, True, "ink"), (ledger.sentence, False, "ink")])
    alike = groups(ledger.rows)
    if not alike:
        return y
    c = _columns(ledger, alike, width)
    y += 14 if broad else 0
    if broad:
        p.heading(sheet, 0, y, c.bars - 8, "pool", "reached from")
        below = "what the scheduler reads; below it the driver's room"
        p.heading(sheet, c.bars, y, c.rule - c.bars - 8, "published", below)
        p.heading(sheet, c.rule, y, c.driver - c.rule - 8, "the rule says", "published ≥ asked, largest too")
        unknown = all(row.driver_now is None for row in ledger.rows)
        truth = "not in the manifests" if unknown else "the simulation's truth"
        p.heading(sheet, c.driver, y, width - c.driver, "the driver would answer", truth)
        y += 22
    asked = c.end(ledger.request)
    words = f"asked {amount(ledger.request)}"
    left = min(asked + 5, width - t.width(words, 11, bold=True))
    sheet.word(left, y + 10, words, "storage", size=11, bold=True)
    sheet.rule(asked, y + 4, asked, y + 18, "storage", thick=2, dash=(5, 4))
    y += 20
    for each in alike:
        y = _pool(sheet, ledger, each, c, y, legend)
    return y


def _columns(ledger: f.CapacityLedger, alike: Sequence[AlikePools], width: float) -> _Columns:
    broad = width >= p.BROAD
    names = max(max(t.width(each.name, 13, bold=True), t.width(_reach(each), 10.5)) for each in alike)
    label = min(max(names, 56.0), (0.18 if broad else 0.24) * width) + 16
    rule = driver = 0.0
    if broad:
        says = [(rule_says(ledger, each.first), driver_says(ledger, each.first)) for each in alike]
        rule, driver = (30 + max(max(t.width(one[side].words, 12, bold=True), min(t.width(one[side].more, 10.5), 190.0))
                                 for one in says) for side in (0, 1))  # fmt: skip
        rule, driver = min(max(rule, 170.0), 0.24 * width), min(max(driver, 150.0), 0.26 * width)
    room = width - label - rule - driver - 12
    sizes = (size for row in ledger.rows for size in (row.published, row.driver_now) if size)
    longest = max(60.0, room - 74)
    scale = longest / max(ledger.request, *sizes, 1)
    return _Columns(label, scale, longest, width - rule - driver, width - driver, width)


def _pool(sheet: Sheet, ledger: f.CapacityLedger, alike: AlikePools, c: _Columns, y: float, legend: p.Legend) -> float:
    row, broad = alike.first, c.width >= p.BROAD
    rule, driver = rule_says(ledger, row), driver_says(ledger, row)
    several = len(alike.rows) > 1
    runs = [] if broad else [("the rule says", False, "soft"), *rule.runs(), ("· the driver", False, "soft"),
                             *driver.runs()]  # fmt: skip
    high = 48.0 if broad else p.flow(Sheet(c.width), 8, 52 + 14 * several, c.width - 16, runs, 11) - 2
    high += 12.0 * (several and broad)
    differ = row.driver_now is not None and row.fits != (driver.glyph == "✓")
    says = f"rule {rule.glyph} {rule.words}; driver {driver.glyph} {driver.words}"
    sheet.rect(-8, y, c.width + 16, high - 4, "panel" if differ else "paper", radius=6, ref=f"pool/{row.pool}",
               tip=f"{first_of(alike.names, p.MAX_LISTED)}, {_reach(alike)}: {says}")
    sheet.word(0, y + 14, alike.name, "ink", size=13, bold=True, room=c.bars - 10, name=not several)
    sheet.word(0, y + 30, _reach(alike), "soft", size=10.5, room=c.bars - 10)
    _bars(sheet, ledger, row, c, y + 4, legend)
    if several:
        room = (c.rule if broad else c.width) - c.bars - 10
        sheet.word(c.bars, y + 46, p.with_more(alike.names, room, 10.5), "soft", size=10.5, room=room)
    if broad:
        _say(sheet, rule, c.rule, y + 4, c.driver - c.rule - 10, stale=is_stale(row))
        _say(sheet, driver, c.driver, y + 4, c.width - c.driver)
    else:
        p.flow(sheet, 8, y + 50 + 14 * several, c.width - 16, runs, 11)
    return y + high


def _bars(sheet: Sheet, ledger: f.CapacityLedger, row: f.CapacityRow, c: _Columns, y: float, legend: p.Legend) -> None:
    asked = c.end(ledger.request)
    ink = "ok" if row.fits else "storage"
    if row.published is None:
        sheet.rect(c.bars, y, c.room, 19, "paper", stroke="soft", dash=_DASH, thick=1.3)
        words = "nothing published"
        left = asked + 8 if asked + 8 + t.width(words, 10.5) < c.bars + c.room else c.bars + 8
        sheet.word(left, y + 10, words, "soft", size=10.5, room=c.bars + c.room - left)
        legend.add("no entry", p.box("paper", "soft", (3.0, 2.0)), 6)
    else:
        end = c.end(row.published)
        sheet.rect(c.bars, y, end - c.bars, 19, f"{ink}-pale", stroke=ink, thick=1.8)
        legend.add(*(("published, enough", p.box("ok-pale", "ok"), 1) if row.fits else
                     ("published, rejected", p.box("storage-pale", "storage"), 2)))
        if row.driver_now is not None and row.driver_now < row.published:
            gone = c.bars if not row.driver_now else c.end(row.driver_now)
            sheet.hatch(gone + 1, y + 1, end - gone - 2, 17, "resources")
            legend.add("published, but gone: stale", _hatched, 3)
        number = amount(row.published)
        left = asked + 7 if end < asked + 3 and asked < end + 10 + t.width(number, 12, bold=True) else end + 7
        sheet.word(left, y + 10, number, ink, size=12, bold=True)
    if row.driver_now is not None:
        differs = row.published is not None and row.driver_now != row.published
        shade = "resources" if differs else "soft"
        end = c.end(row.driver_now)
        sheet.rect(c.bars, y + 23, end - c.bars, 6, shade, radius=2)
        legend.add("the driver has now, not what it published" if differs else "the driver has now",
                   lambda sheet, x, y: sheet.rect(x, y - 3, 18, 6, shade, radius=2), 4)
        gone = (row.published or 0) - row.driver_now
        short = amount(row.driver_now)
        forms = [f"driver now {short}, {amount(gone)} gone"] * (gone > 0) + [f"driver now {short}", short]
        room = (c.rule if c.width >= p.BROAD else c.width) - end - 14
        left = asked + 6 if end + 6 < asked + 4 and asked - end < 14 else end + 6
        fitting = next((each for each in forms if t.width(each, 10.5, bold=True) <= room and not (
            left < asked < left + t.width(each, 10.5, bold=True))), "")  # fmt: skip
        if not fitting and left < asked:  # beyond the line of what is asked
            left = asked + 6
            room = (c.rule if c.width >= p.BROAD else c.width) - left - 8
            fitting = next((each for each in forms if t.width(each, 10.5, bold=True) <= room), "")
        sheet.word(left, y + 27, fitting, shade, size=10.5, bold=differs)
    if row.largest_volume is not None:
        at = c.end(row.largest_volume)
        sheet.rule(at, y - 3, at, y + 22, "ink", thick=3)
        legend.add("largest single volume", lambda sign, x, y: sign.rule(x + 9, y - 8, x + 9, y + 8, "ink", thick=3), 5)
    sheet.rule(asked, y - 4, asked, y + 31, "storage", thick=2, dash=(5, 4))


def _hatched(sheet: Sheet, x: float, y: float) -> None:
    p.box("ok-pale", "resources")(sheet, x, y)
    sheet.hatch(x + 1, y - 6, 16, 12, "resources")


def _say(sheet: Sheet, found: p.LedgerVerdict, x: float, y: float, room: float, *, stale: bool = False) -> None:
    sheet.word(x + 6, y + 9, found.glyph, found.ink, size=12, bold=True, align="center")
    sheet.word(x + 18, y + 9, found.words, found.ink, size=12, bold=True, room=room - 18)
    lines = t.wrap(found.more, room - 18, 10.5, 2) if found.more else ()
    sheet.words(x + 18, y + 24, lines, "resources" if stale else "soft", 12, size=10.5, bold=stale, room=room - 18)

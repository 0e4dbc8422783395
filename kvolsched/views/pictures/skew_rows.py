"""What the rows of a skew ledger say, for picture and reading alike, and the marks that rows of a hard one share."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen

from kvolsched.api.words import counted, first_of
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures.ledger_parts import CROWD, MANY, MAX_LISTED, LedgerVerdict, Legend, Run, box, flow

SOFT = "ScheduleAnyway"


@frozen
class AlikeRows:
    """Domains that have one row: of the same count, verdict and reason."""

    rows: tuple[f.SkewRow, ...]

    @property
    def first(self) -> f.SkewRow:
        """The row that is drawn for all."""
        return self.rows[0]

    @property
    def names(self) -> list[str]:
        """The domains."""
        return [row.domain for row in self.rows]

    @property
    def nodes(self) -> int:
        """How many nodes they have together."""
        return sum(row.nodes for row in self.rows)

    @property
    def fitting(self) -> int:
        """How many of them pass every filter."""
        return sum(landing.fitting for row in self.rows if (landing := row.landing))


def is_soft(ledger: f.SkewLedger) -> bool:
    """Say whether a constraint only ranks."""
    return ledger.when == SOFT


def is_minimum(ledger: f.SkewLedger, row: f.SkewRow) -> bool:
    """Say whether a domain sets the minimum."""
    return not row.left_out and bool(ledger.minimum_domain) and row.counted == ledger.minimum


def least(ledger: f.SkewLedger) -> list[f.SkewRow]:
    """Return the domains that set the minimum; none if minDomains forces it to 0."""
    return [row for row in ledger.rows if is_minimum(ledger, row)]


def groups(ledger: f.SkewLedger, rows: Sequence[f.SkewRow]) -> list[AlikeRows]:
    """Return the rows as they are drawn: up to six by name, more by count, of over 24 those alike together."""
    if len(rows) <= MANY:
        return [AlikeRows((row,)) for row in rows]
    order = sorted(rows, key=lambda row: (row.counted, row.domain))  # first those that set the minimum
    if len(rows) <= CROWD:
        return [AlikeRows((row,)) for row in order]
    found: dict[object, list[f.SkewRow]] = {}
    for row in order:
        found.setdefault(_likeness(row), []).append(row)
    alike = [AlikeRows(tuple(each)) for each in found.values()]
    if is_soft(ledger):
        best = [AlikeRows(tuple(sorted(each.rows, key=_by_points))) for each in alike]
        return sorted(best, key=lambda each: (_by_points(each.first), each.first.counted))
    return alike


def _by_points(row: f.SkewRow) -> tuple[Any, ...]:
    best = row.best
    return (best is None, *((-best.total, not best.chosen) if best else ()), row.domain)


def _likeness(row: f.SkewRow) -> object:
    landing = row.landing
    stops = () if landing is None else tuple((stop.plugin, stop.reason) for stop in landing.stops)
    points = None if row.best is None else (row.best.raw, row.best.score)
    return row.counted, row.skew_if_placed, row.left_out, bool(landing and landing.fitting), stops, points


def title(ledger: f.SkewLedger) -> str:
    """Return the question that a ledger answers, and its constraint."""
    return f"{question(ledger)} {constraint(ledger)}"


def question(ledger: f.SkewLedger) -> str:
    """Return the question that a ledger answers."""
    who = ledger.subject
    comma = "," if "," in who else ""
    if ledger.place:
        return f"Where would {who} land now?"
    if is_soft(ledger):
        return f"Where should {who}{comma} go?"
    return f"Where may {who}{comma} land?" if ledger.open else f"Who holds {who}{comma} back?"


def constraint(ledger: f.SkewLedger) -> str:
    """Return the constraint of a ledger in words."""
    floor = f", minDomains {ledger.min_domains}" if ledger.min_domains else ""
    return f"Spread over {ledger.key}, maxSkew {ledger.max_skew}{floor}, {ledger.when}"


def who_lands(ledger: f.SkewLedger) -> str:
    """Return the pod's name for a heading; "it" for a long one."""
    who = ledger.subject.partition(",")[0]
    return who if len(who) <= 18 else "it"


def limit_words(ledger: f.SkewLedger) -> str:
    """Return the limit as a sum."""
    return f"limit {ledger.limit} = minimum {ledger.minimum} + maxSkew {ledger.max_skew}"


def minimum_words(ledger: f.SkewLedger) -> tuple[str, str]:
    """Return the minimum, and who sets it."""
    setting = least(ledger)
    if not ledger.minimum_domain:
        count = sum(not row.left_out for row in ledger.rows)
        why = f"forced: {count} of {ledger.min_domains} domains" if ledger.min_domains else "there is no domain"
        return f"minimum {ledger.minimum}", why
    by = setting[0].domain if len(setting) == 1 else counted(len(setting), "domain")
    return f"minimum {ledger.minimum}", f"set by {by}"


def actual_skew(ledger: f.SkewLedger, row: f.SkewRow) -> int:
    """Return S3's ActualSkew: how far ahead of the minimum a domain is before the pod is placed."""
    return row.counted - ledger.minimum


def verdict(alike: AlikeRows) -> LedgerVerdict:
    """Return whether the pod may land in domains that are alike, by all filters."""
    row = alike.first
    landing, nodes = row.landing, alike.nodes
    if landing is None:
        return LedgerVerdict("–", "soft", "not judged", row.left_out)
    if landing.fitting:
        on = "" if alike.fitting == nodes else f": {alike.fitting} of {nodes} nodes"
        why = ", ".join(f"{stop.plugin}: {stop.reason}" for stop in landing.stops)
        return LedgerVerdict("✓", "ok", f"yes{on}", why)
    if not landing.stops:
        return LedgerVerdict("✕", "soft", "no: it has no node")
    first = landing.stops[0]
    if first.by_constraint and row.left_out.endswith("the topology key"):
        return LedgerVerdict("✕", "soft", "no: key missing", "the rule rejects such nodes")
    if first.by_constraint and not row.fits:
        also = "".join(f"; {stop.plugin} too" for stop in landing.stops[1:])
        return LedgerVerdict("✕", "spread", f"no: {first.plugin}", f"{first.reason}{also}")
    others = "".join(f"; {stop.plugin} on {stop.nodes}" for stop in landing.stops[1:])
    where = _on(first.nodes * len(alike.rows), nodes)
    glyph = "✕" if first.resolvable else "⊘"
    return LedgerVerdict(glyph, first.family, f"no: {first.plugin}", f"{first.reason}{where}{others}")


def _on(stopped: int, nodes: int) -> str:
    if stopped == nodes:
        return "" if nodes == 1 else ", on both nodes" if nodes == 2 else f", on all {nodes} nodes"
    return f", on {stopped} of {nodes} nodes"


def landing_words(alike: AlikeRows) -> str:
    """Return the verdict for a reading: "cannot land: TaintToleration on 2 of 2 nodes"."""
    row, landing, nodes = alike.first, alike.first.landing, alike.nodes
    if landing is None:
        return ""
    if landing.fitting:
        return f"may land on {alike.fitting} of {counted(nodes, 'node')}"
    parts = []
    for stop in landing.stops:
        if stop.by_constraint and not row.fits:
            parts.append(f"{stop.plugin}, {stop.reason}")
        else:
            parts.append(f"{stop.plugin} on {stop.nodes * len(alike.rows)} of {counted(nodes, 'node')}")
    return f"cannot land: {'; '.join(parts) or 'no node'}"


def nodes_words(row: f.SkewRow) -> str:
    """Return how many nodes a domain has."""
    return counted(row.nodes, "node")


def not_counted_words(row: f.SkewRow) -> str:
    """Return how many matching pods do not count, and why."""
    return ", ".join(f"{number} {why}" for number, why in row.not_counted)


PLACED = (4.0, 3.0)
"""Dashes of a pod that is not there yet."""


def add_placed(legend: Legend, ledger: f.SkewLedger, row: f.SkewRow) -> tuple[str, str]:
    """Add the pod, if it were placed in a domain, to the legend; return its sign and the family of its colour."""
    sign, ink = ("✓", "ok") if row.fits else ("✕", "spread")
    who = who_lands(ledger)
    words = "allowed by the sum" if row.fits else "over the limit"
    pod = "this pod" if who == "it" else who
    mark = box(f"{ink}-pale", ink, (3.0, 2.0), sign, ink)
    legend.add(f"{pod}, if placed: {words}", mark, 3 if row.fits else 2)
    return sign, ink


def draw_ground(sheet: Sheet, ledger: f.SkewLedger, alike: AlikeRows, y: float, high: float) -> None:
    """Draw the ground of a row, which can be selected; tinted if it sets the minimum."""
    row = alike.first
    decides = is_minimum(ledger, row)
    sheet.rect(-8, y, sheet.width + 16, high, "panel" if decides else "paper", radius=6,
               ref=f"domain/{ledger.key}/{row.domain}", tip=row_label(ledger, alike))


def row_label(ledger: f.SkewLedger, alike: AlikeRows) -> str:
    """Return what a row says, in one line."""
    row = alike.first
    who = row.domain if len(alike.rows) == 1 else f"{len(alike.rows)} domains ({first_of(alike.names, MAX_LISTED)})"
    parts = [f"{who}: counted {row.counted}"]
    if row.not_counted:
        parts.append(f"not counted {not_counted_words(row)}")
    parts.append(f"no domain, {row.left_out}" if row.left_out else row.sum)
    if words := landing_words(alike):
        parts.append(words)
        parts += [f"{stop.plugin}: {stop.reason}" for stop in row.landing.stops] if row.landing is not None else []
    return "; ".join(parts)


def draw_sum(sheet: Sheet, ledger: f.SkewLedger, row: f.SkewRow, x: float, right: float, middle: float) -> None:
    """Draw the sum as the rule writes it, its verdict before `right`."""
    ink = "ok" if row.fits else "spread"
    sheet.word(x, middle, row.sum, ink, size=12, bold=True)
    sheet.word(right - 18, middle, "✓" if row.fits else "✕", ink, size=12, bold=True, align="center")


def draw_verdict(
    sheet: Sheet, found: LedgerVerdict, x: float, middle: float, room: float, *, bold: bool = True
) -> None:
    """Draw a verdict: glyph and words, below them the reason in at most two lines."""
    lines = t.wrap(found.more, room - 18, 10.5, 2) if found.more else ()
    top = middle - 8 * bool(lines) - 6 * (len(lines) == 2)
    sheet.word(x + 6, top, found.glyph, found.ink, size=12, bold=True, align="center")
    sheet.word(x + 18, top, found.words, found.ink, size=12, bold=bold, room=room - 18)
    sheet.words(x + 18, top + 16, lines, "soft", 13, size=10.5)


def words_below(ledger: f.SkewLedger, alike: AlikeRows) -> list[Run]:
    """Return the words of a row for a narrow page, below its marks."""
    row, found = alike.first, verdict(alike)
    ink = "ok" if row.fits else "spread"
    actual = f"ActualSkew {row.counted} − {ledger.minimum} = {actual_skew(ledger, row)} ·"
    words = [(actual, False, "soft"), (f"{row.sum} {'✓' if row.fits else '✕'}", True, ink)]
    words += found.runs("· ")
    if row.not_counted:
        words.append((f"· ⊖ not counted: {not_counted_words(row)}", False, "soft"))
    return words


def height_below(runs: Sequence[Run], room: float) -> float:
    """Return the height of a row with its marks and these words below them."""
    trial = Sheet(room)
    return flow(trial, 8, 43, room - 8, runs, 11) - 2

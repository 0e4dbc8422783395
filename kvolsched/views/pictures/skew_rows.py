"""What the rows of a skew ledger say, for picture and reading alike: order, domains that are alike, sums, verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.pictures.ledger_parts import CROWD, MANY, counted

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


@frozen
class LandingVerdict:
    """Whether the pod may land in a domain: glyph, family of the colour, words, and the reason."""

    glyph: str
    ink: str
    words: str
    why: str = ""


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
    order = sorted(rows, key=lambda row: (not is_minimum(ledger, row), row.counted, row.domain))
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


def _by_points(row: f.SkewRow) -> tuple[bool, int, bool, str]:
    best = row.best
    return (best is None, -best.total if best else 0, not best.chosen if best else True, row.domain)


def _likeness(row: f.SkewRow) -> object:
    landing = row.landing
    stops = () if landing is None else tuple((stop.plugin, stop.reason) for stop in landing.stops)
    points = None if row.best is None else (row.best.raw, row.best.score)
    return row.counted, row.skew_if_placed, row.left_out, bool(landing and landing.fitting), stops, points


def title(ledger: f.SkewLedger) -> str:
    """Return the question that a ledger answers."""
    who = ledger.subject or t.name_in_ref(ledger.pod)
    comma = "," if "," in who else ""
    if ledger.place:
        question = f"Where would {who} land now?"
    elif is_soft(ledger):
        question = f"Where should {who}{comma} go?"
    else:
        question = f"Where may {who}{comma} land?" if ledger.open else f"Who holds {who}{comma} back?"
    floor = f", minDomains {ledger.min_domains}" if ledger.min_domains else ""
    return f"{question} Spread over {ledger.key}, maxSkew {ledger.max_skew}{floor}, {ledger.when}"


def who_lands(ledger: f.SkewLedger) -> str:
    """Return the pod's name for a heading; "it" for a long one."""
    who = (ledger.subject or t.name_in_ref(ledger.pod)).partition(",")[0]
    return who if len(who) <= 18 else "it"


def limit(ledger: f.SkewLedger) -> int:
    """Return how many pods a domain may have with this one."""
    return ledger.minimum + ledger.max_skew


def limit_words(ledger: f.SkewLedger) -> str:
    """Return the limit as a sum."""
    return f"limit {limit(ledger)} = minimum {ledger.minimum} + maxSkew {ledger.max_skew}"


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


def sum_words(ledger: f.SkewLedger, row: f.SkewRow) -> str:
    """Return the sum as the rule writes it: "3 + 1 − 0 = 4 > 1"."""
    sign = ">" if row.skew_if_placed > ledger.max_skew else "≤"
    return f"{row.counted} + {ledger.self_match} − {ledger.minimum} = {row.skew_if_placed} {sign} {ledger.max_skew}"


def verdict(alike: AlikeRows) -> LandingVerdict:
    """Return whether the pod may land in domains that are alike, by all filters."""
    row = alike.first
    landing, nodes = row.landing, alike.nodes
    if landing is None:
        return LandingVerdict("–", "soft", "not judged", row.left_out)
    if landing.fitting:
        fitting = sum(each.landing.fitting for each in alike.rows if each.landing is not None)
        on = "" if fitting == nodes else f": {fitting} of {nodes} nodes"
        why = ", ".join(f"{stop.plugin}: {stop.reason}" for stop in landing.stops)
        return LandingVerdict("✓", "ok", f"yes{on}", why)
    if not landing.stops:
        return LandingVerdict("✕", "soft", "no: it has no node")
    first = landing.stops[0]
    if first.by_constraint and row.left_out.endswith("the topology key"):
        return LandingVerdict("✕", "soft", "no: key missing", "the rule rejects such nodes")
    if first.by_constraint and not row.fits:
        also = "".join(f"; {stop.plugin} too" for stop in landing.stops[1:])
        return LandingVerdict("✕", "spread", f"no: {first.plugin}", f"{first.reason}{also}")
    others = "".join(f"; {stop.plugin} on {stop.nodes}" for stop in landing.stops[1:])
    where = _on(first.nodes * len(alike.rows), nodes)
    glyph = "✕" if first.resolvable else "⊘"
    return LandingVerdict(glyph, first.family, f"no: {first.plugin}", f"{first.reason}{where}{others}")


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
        fitting = sum(each.landing.fitting for each in alike.rows if each.landing is not None)
        return f"may land on {fitting} of {counted(nodes, 'node')}"
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

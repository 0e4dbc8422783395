"""The sentences of the skew ledger: who may land where, what sets the minimum, what beats spreading."""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import evolve

from ...api.kinds.node import kind_of_domain
from ...api.words import counted, first_of, listed
from ...rules.named import plugin_card
from ...scheduler.framework.extension_points import DomainCounter
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.ranking import Ranking
from ...scheduler.plugins.pod_topology_spread.constraint import SpreadConstraint
from ...scheduler.plugins.pod_topology_spread.skew import DomainMatches, match_domains
from .. import frame as f

MAX_NAMED = 3  # names in a sentence


def noun(key: str, *, one: bool = False) -> str:
    """Return what the domains of a topology key are called, or one of them."""
    kind = kind_of_domain(key)
    word = kind if kind in ("host", "zone", "region", "rack") else "domain"
    return word if one else f"{word}s"


def names(named: Sequence[str], limit: int = MAX_NAMED) -> str:
    """Return names as words: "zone-a, zone-b and zone-c", of more the first two and how many more."""
    if len(named) > limit:
        return first_of(named, limit - 1)
    return listed(named)


def over(counted: DomainMatches) -> str:
    """Return what a domain that is too full is compared with."""
    least = [name for name, count in counted.match_num.items() if count == counted.min_match]
    if not counted.has_min_domains:
        return ": the minimum counts as 0"
    return f" over {least[0]}" if len(least) == 1 else f" over {len(least)} {noun(counted.constraint.topology_key)}"


def together(constraints: int, passing: Sequence[str]) -> str:
    """Return what several hard constraints allow together."""
    every = "Both constraints" if constraints == 2 else f"All {constraints} constraints"
    if not passing:
        return f"{every} together allow no node."
    return f"{every} together allow {names(passing, 6)}."


def hard_answer(ledger: f.SkewLedger) -> tuple[str, str]:
    """Return the answer in a few words, and why."""
    rows = [row for row in ledger.rows if not row.left_out]
    lands = [row for row in ledger.rows if row.landing is not None and row.landing.fitting]
    who = ledger.subject.partition(",")[0]
    who = who[:1].upper() + who[1:] if who.startswith("the next") else who
    placed = f"{who} is on {ledger.place}, which is not counted here. " if ledger.place else ""
    may = f"Scheduled again, {who} may land in" if ledger.place else f"{who} may land in"
    if not lands:
        answer = "Nobody may take it."
    elif len(lands) == len(ledger.rows) > 1:
        answer = f"{may} every {noun(ledger.key, one=True)}."
    elif len(lands) > MAX_NAMED:
        answer = f"{may} {len(lands)} of {len(ledger.rows)} {noun(ledger.key)}."
    else:
        answer = f"{may} {names([row.domain for row in lands])}."
    if not rows:
        return answer, f"{placed}No node has the label {ledger.key} and counts: the constraint has no domain."
    return answer, placed + " ".join(_reasons(ledger, rows))


def _reasons(ledger: f.SkewLedger, rows: Sequence[f.SkewRow]) -> Iterator[str]:
    """Yield why domains are shut: what sets the minimum, who is too far ahead, who passes the sum and is shut."""
    too_full = [row for row in rows if not row.fits]
    shut = [row for row in rows if row.fits and row.landing is not None and not row.landing.fitting]
    forced = not ledger.minimum_domain
    least = [row for row in rows if row.counted == ledger.minimum and not forced]
    head = _minimum(ledger, rows, least, shut)
    if too_full:
        ahead = sorted({row.skew_if_placed for row in too_full})
        span = f"{ahead[0]} to {ahead[-1]}" if len(ahead) > 2 else " or ".join(map(str, ahead))
        many = len(too_full) > MAX_NAMED
        who = f"{len(too_full)} {noun(ledger.key)}" if many else names([row.domain for row in too_full])
        than = "" if forced else " of it" if len(least) == 1 else " of them"
        yield f"{head}; {who} would then be {span} ahead{than}, and {ledger.max_skew} is allowed."
    else:
        yield f"{head}, and nobody would be more than {ledger.max_skew} ahead."
    others = [row for row in shut if row not in least]
    if others:
        one = len(others) == 1
        who = names([row.domain for row in others])
        yield f"{who} pass{'es' if one else ''} the sum and {'is' if one else 'are'} shut by {_stops(others)}."


def _minimum(ledger: f.SkewLedger, rows: Sequence[f.SkewRow], least: Sequence[f.SkewRow],
             shut: Sequence[f.SkewRow]) -> str:
    """Return what sets the minimum, and whether it is shut."""
    if not least:
        there = f"There {'is' if len(rows) == 1 else 'are'} {counted(len(rows), noun(ledger.key, one=True))}"
        return f"{there} and minDomains is {ledger.min_domains}, so the minimum counts as 0"
    closed = [row for row in least if row in shut]
    count, kind = len(least), noun(ledger.key)
    if count == 1:
        by = f" and is shut by {_stops(closed)}" if closed else ""
        return f"{least[0].domain} sets the minimum ({ledger.minimum}){by}"
    who = names([row.domain for row in least]) if count <= MAX_NAMED else f"{count} {kind}"
    if not closed:
        return f"{who} share the minimum ({ledger.minimum})"
    some = f"{len(closed)} of them {'is' if len(closed) == 1 else 'are'}"
    these = "all of them are" if len(closed) == count else some
    return f"{who} share the minimum ({ledger.minimum}), {these} shut by {_stops(closed)}"


def _stops(rows: Sequence[f.SkewRow]) -> str:
    """Return the plugins that shut domains, the most frequent first."""
    nodes: dict[str, int] = {}
    for row in rows:
        for stop in row.landing.stops if row.landing is not None else ():
            nodes[stop.plugin] = nodes.get(stop.plugin, 0) + stop.nodes
    return names(sorted(nodes, key=lambda plugin: (-nodes[plugin], plugin)))


def honor_notes(ledger: f.SkewLedger, constraint: SpreadConstraint, group: tuple[SpreadConstraint, ...],
                judgement: Judgement) -> Iterator[tuple[str, str]]:
    """Yield why a domain that is shut counts, and the sums if it did not (policy Honor)."""
    closed = [row for row in ledger.rows if not row.left_out and ledger.minimum_domain
              and row.counted == ledger.minimum and row.fits and row.landing is not None and not row.landing.fitting]
    if not closed or all(row.fits for row in ledger.rows if not row.left_out):
        return
    plugins = {stop.plugin for row in closed if row.landing is not None for stop in row.landing.stops}
    question = f"Why does a shut {noun(ledger.key, one=True)} count?"
    known = [policy for plugin in sorted(plugins) if (policy := plugin_card(plugin).spread_policy) is not None]
    if not known:
        yield question, "The rule counts nodes that have the label, whether or not the pod has room there."
        return
    policy = known[0]
    plugin: Any = judgement.profile.extending(DomainCounter)
    pod = judgement.pod
    changes: dict[str, Any] = {policy.field: "Honor"}
    stated = evolve(constraint.stated, **changes)
    honoring = plugin.prepare_hard(stated, pod.metadata.namespace, pod.metadata.labels, ())
    if getattr(constraint, policy.attribute) or not getattr(honoring, policy.attribute):  # these rules know no policy
        yield question, f"These rules do not read {policy.name}: a {policy.node} still makes a domain."
        return
    yield question, f"{policy.name} is Ignore: a {policy.node} still makes a domain."
    changed = tuple(honoring if one is constraint else one for one in group)
    counted = match_domains(pod, honoring, changed, judgement.seen)
    gone = [row.domain for row in ledger.rows if not row.left_out and row.domain not in counted.match_num]
    if not gone or not counted.match_num:
        return
    limit = f"minimum {counted.min_match}, limit {counted.limit}"
    skews = [counted.skew(name) for name in sorted(counted.match_num)]
    best = min(skews, key=lambda skew: skew.skew)
    alike = [skew.domain or "" for skew in skews if skew.skew == best.skew]
    yield "With Honor:", (
        f"{names(gone)} {'is' if len(gone) == 1 else 'are'} left out, {limit}: {names(alike)} "
        f"give{'s' if len(alike) == 1 else ''} {best.sum_words} {'✓' if best.fits else '✕'}"
    )


def soft_answer(ledger: f.SkewLedger, ranking: Ranking | None) -> tuple[str, str]:
    """Return the answer of a constraint that only ranks, and what beats spreading."""
    kind, who = noun(ledger.key, one=True), ledger.subject.partition(",")[0]
    placed = f"{who} is on {ledger.place}, which is not counted here. " if ledger.place else ""
    scored = [row for row in ledger.rows if row.best is not None]
    never = "ScheduleAnyway never refuses, it only gives points."
    if not ledger.open:
        return "Nobody may take it.", f"{placed}{_shut(ledger)} {never}"
    if ranking is None or not scored:
        return "No node is scored: only one fits, or the nominated one does.", f"{placed}{_shut(ledger)} {never}"
    shut = [row.domain for row in ledger.rows if row.landing is not None and not row.landing.fitting]
    answer = f"{names(shut)} {'is' if len(shut) == 1 else 'are'} shut by other filters." if shut else (
        f"Every {kind} is allowed.")  # fmt: skip
    return answer, f"{placed}{never} {_winner(ledger.plugin, scored, ranking)}"


def _shut(ledger: f.SkewLedger) -> str:
    closed = [row for row in ledger.rows if row.landing is not None and row.landing.stops]
    return f"Other nodes are shut by {_stops(closed)}." if closed and ledger.open else (
        f"All nodes are shut by {_stops(closed)}." if closed else "")  # fmt: skip


def _bests(scored: Sequence[f.SkewRow]) -> list[f.BestNode]:
    return [row.best for row in scored if row.best is not None]


def _spreads_best(scored: Sequence[f.SkewRow]) -> list[f.SkewRow]:
    most = max(best.score for best in _bests(scored))
    return [row for row in scored if row.best is not None and row.best.score == most]


def _winner(spreading: str, scored: Sequence[f.SkewRow], ranking: Ranking) -> str:
    """Return who spreads best and who wins, and which plugin makes the difference."""
    even, first = _spreads_best(scored), ranking.best
    bests = _bests(scored)
    winner = next((best for best in bests if best.chosen), max(bests, key=lambda best: best.total))
    spread = names([row.domain for row in even])
    spreads = f"{spread} spread{'s' if len(even) == 1 else ''} best"
    rivals = _bests(even)
    rival = max(rivals, key=lambda best: best.total)
    if rival.total == winner.total:
        if len(first) > 1:
            return f"{spreads}; {names(first)} have {winner.total} points each, and a draw decides."
        return f"{spreads}, and {winner.node} wins with {winner.total} points."
    gains = _gains(spreading, winner, rival)
    plugin, ours, theirs = max(gains, key=lambda gain: (gain[1] - gain[2], gain[0]))
    draw = f" ({names(first)} draw)" if len(first) > 1 else ""
    lead = winner.total - rival.total
    beats = f"{plugin} gives {winner.node} {ours} and {rival.node} {theirs}"
    return f"{spreads}, but {winner.node}{draw} wins by {counted(lead, 'point')}: {beats}."


def _gains(spreading: str, winner: f.BestNode, rival: f.BestNode) -> list[tuple[str, int, int]]:
    """Return each other plugin with the points of both nodes."""
    ours, theirs = ({part.plugin: part.points for part in best.parts} for best in (winner, rival))
    plugins = [plugin for plugin in dict.fromkeys((*ours, *theirs)) if plugin != spreading]
    return [(plugin, ours.get(plugin, 0), theirs.get(plugin, 0)) for plugin in plugins]


def soft_notes(ledger: f.SkewLedger, judgement: Judgement) -> Iterator[tuple[str, str]]:
    """Yield how raw scores and scores are made, and the least weight at which the best spread wins."""
    scored = [row for row in ledger.rows if row.best is not None]
    if not scored:
        return
    plugin: Any = judgement.profile.extending(DomainCounter)
    constraints = len(plugin.soft_constraints(judgement.pod, judgement.seen))
    several = f", summed over {constraints} constraints" if constraints > 1 else ""
    yield "points", f"{plugin.spread_score.formula}{several}; points = score × weight."
    even = _spreads_best(scored)
    rivals = _bests(even)
    rival = max(rivals, key=lambda best: best.total)
    others = [best for best in _bests(scored) if best not in rivals]
    if not others or rival.total > max(best.total for best in others):
        return
    least = _least_weight(rival, others)
    more = least - rival.weight
    second = max(others, key=lambda best: best.total + more * best.score)
    yield "to win", (f"with weight {least} instead of {rival.weight}, {rival.node} would lead "
                     f"{rival.total + more * rival.score} to {second.total + more * second.score} ({second.node}).")


def _least_weight(winner: f.BestNode, others: Sequence[f.BestNode]) -> int:
    """Return the least weight of spreading at which a node has more points than others, which spread worse.

    Sums are linear in a weight, so the first such integer is exact.
    """
    return max(winner.weight, *(
        ((other.total - other.points) - (winner.total - winner.points)) // (winner.score - other.score) + 1
        for other in others))

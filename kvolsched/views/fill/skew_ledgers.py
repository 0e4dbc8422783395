"""Rows of the skew ledger: how a spread constraint counts each domain, and whether the pod may land there.

The sums are those of the plugin (`pod_topology_spread.skew`), on one judgement; this module adds what the rule leaves
out, and why. Whether a pod may land is what all filters say, not the sum alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from attrs import define, evolve, field

from ...api.kinds.pod import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, Pod, TopologySpreadConstraint
from ...api.words import first_of
from ...rules.named import plugin_card
from ...rules.unread_fields import unread_words
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.extension_points import DomainCounter
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.verdict import Code
from ...scheduler.plugins.pod_topology_spread.constraint import NO_KEY, SpreadConstraint, unread_fields
from ...scheduler.plugins.pod_topology_spread.skew import DomainMatches, match_domains
from ...world.apiserver import ref
from ...world.log import Key
from .. import frame as f
from . import skew_words as words
from .moments import JudgedPod

NO_LABEL = "(no label)"
OTHER = "another of its constraints forbids it"
MAX_NAMED = 3  # nodes that a reason names


@define
class _Domain:
    """The nodes of one domain, and what is not counted there. Mutable, while it is being filled."""

    nodes: list[str] = field(factory=list)
    matching: int = 0  # pods that match, on nodes that are not counted
    not_counted: Counter[str] = field(factory=Counter)
    excluded: dict[str, list[str]] = field(factory=dict)  # why nodes are not counted -> their names


def skew_ledgers(asked: JudgedPod | Judgement) -> Iterator[f.SkewLedger]:
    """Yield a ledger for each constraint that the pod states and the rules know, in its order."""
    asked = JudgedPod(asked) if isinstance(asked, Judgement) else asked
    judgement = asked.judgement
    plugin, pod = judgement.profile.extending(DomainCounter), judgement.pod
    stated = pod.spec.topology_spread_constraints
    if plugin is None or not stated:
        return
    groups = (plugin.hard_constraints(pod), plugin.soft_constraints(pod, judgement.seen))
    prepared = {constraint.stated: (constraint, group) for group in groups for constraint in group}
    known = [prepared[constraint] for constraint in stated if constraint in prepared]
    verdicts = _Verdicts(judgement, plugin.name, len(groups[0]))
    for number, (constraint, group) in enumerate(known):
        ledger = _ledger(asked, verdicts, constraint, group)
        if number == len(known) - 1 and len(groups[0]) > 1:
            ledger = evolve(ledger, together=words.together(len(groups[0]), verdicts.passing()))
        yield ledger


def _ledger(asked: JudgedPod, verdicts: _Verdicts, constraint: SpreadConstraint, group: tuple[SpreadConstraint, ...]
            ) -> f.SkewLedger:
    judgement = asked.judgement
    pod, seen, stated = judgement.pod, judgement.seen, constraint.stated
    counted = match_domains(pod, constraint, group, seen)
    hard = stated.is_hard
    domains = _domains(pod, constraint, group, seen)
    nodes = {name: domain.nodes for name, domain in domains.items()}
    best = {} if hard else _best_nodes(verdicts.spreading, asked, nodes)
    over = words.over(counted)
    rows = [_row(name, domain, counted, verdicts, over if hard else None) for name, domain in domains.items()]
    ledger = f.SkewLedger(
        pod=ref(Key("Pod", pod.metadata.namespace, pod.metadata.name)),
        key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains if constraint.read.min_domains else 0,
        when=DO_NOT_SCHEDULE if hard else SCHEDULE_ANYWAY,
        selector=_selector(constraint.read),
        self_match=constraint.self_match,
        minimum=counted.min_match,
        minimum_domain=counted.emptiest, limit=counted.limit,
        rows=tuple(sorted((evolve(row, best=best.get(row.domain)) for row in rows),
                          key=lambda row: (bool(row.left_out), row.domain))),
        subject=asked.subject or pod.metadata.name, place=asked.place, moment=asked.moment,
        open=judgement.any_feasible, plugin=verdicts.spreading,
    )  # fmt: skip
    answer, sentence = words.hard_answer(ledger) if hard else words.soft_answer(ledger, asked.ranking)
    notes = words.honor_notes(ledger, constraint, group, judgement) if hard else words.soft_notes(ledger, judgement)
    unread = unread_fields(pod, stated, constraint.read)
    told = [("Not read:", unread_words(judgement.profile.name, unread, "this constraint"))] if unread else []
    return evolve(ledger, answer=answer, sentence=sentence, notes=(*notes, *told))


def _selector(stated: TopologySpreadConstraint) -> str:
    """Return which pods are counted, in words."""
    selected = "nothing" if stated.label_selector is None else str(stated.label_selector)
    return f"{selected}, same {' and '.join(stated.match_label_keys)}" if stated.match_label_keys else selected


def _row(name: str, domain: _Domain, counted: DomainMatches, verdicts: _Verdicts, over: str | None) -> f.SkewRow:
    """Return the row of a domain; `over` names what one that is too full is compared with, None: nothing forbids it."""
    skew, is_counted = counted.skew(None if name == NO_LABEL else name), name in counted.match_num
    fits = over is None or skew.fits
    too_many = f"{skew.skew - counted.constraint.max_skew} too many{over}" if is_counted and not fits else ""
    return f.SkewRow(
        domain=name, nodes=len(domain.nodes), counted=skew.match_num if is_counted else domain.matching,
        not_counted=tuple((number, why) for why, number in sorted(domain.not_counted.items())),
        left_out="" if is_counted else _left_out(domain),
        skew_if_placed=skew.skew, fits=fits, landing=verdicts.landing(domain.nodes, too_many), best=None,
        sum=skew.sum_words,
    )  # fmt: skip


class _Verdicts:
    """The verdicts of a judgement by node, as landings."""

    def __init__(self, judgement: Judgement, spreading: str, constraints: int) -> None:
        self.judgement = judgement
        self.spreading = spreading  # the plugin that judges the constraints
        self.constraints = constraints  # that reject
        self.feasible = frozenset(judgement.feasible)
        self.first: Mapping[str, str | None] = {} if judgement.rejected_by is not None else judgement.first_rejecting

    def passing(self) -> tuple[str, ...]:
        """Return the nodes that spreading does not reject, sorted."""
        judgement = self.judgement
        return tuple(node for node in judgement.nodes if judgement.verdict(node, self.spreading)[1] is Code.SUCCESS)

    def landing(self, nodes: Sequence[str], too_many: str) -> f.Landing:
        """Return whether the pod may land in a domain; `too_many`: why the sum forbids it, "" if it does not."""
        rejected = [node for node in nodes if node not in self.feasible]
        counts = Counter(self._stop(node) for node in rejected)
        if self.constraints > 1:
            counts = Counter({(*stop[:1], OTHER, *stop[2:]) if stop[0] == self.spreading else stop: number
                              for stop, number in counts.items()})
        if too_many:
            counts = Counter({stop: number for stop, number in counts.items() if stop[0] != self.spreading})
        stops = [f.Stop(plugin, number, reason, plugin_card(plugin).family, resolvable, plugin == self.spreading)
                 for (plugin, reason, resolvable), number in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]
        if too_many:
            family = plugin_card(self.spreading).family
            stops.insert(0, f.Stop(self.spreading, len(nodes), too_many, family, resolvable=True, by_constraint=True))
        return f.Landing(len(nodes) - len(rejected), tuple(stops))

    def _stop(self, node: str) -> tuple[str, str, bool]:
        """Return the first plugin that rejects a node, its reasons, and whether removing pods could help."""
        judgement = self.judgement
        if judgement.rejected_by is not None:
            return judgement.rejected_by.plugin, judgement.rejected_by.message, False
        plugin = self.first[node]
        if plugin is None:
            return ", ".join(judgement.leaving_out(node)), "not among the nodes that it allows", False
        reasons, status = judgement.verdict(node, plugin)
        resolvable = status is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        if plugin_card(plugin).evidence_says_more:
            reasons = tuple(filter(None, (each.subject for each in judgement.cell(node, plugin).evidence))) or reasons
        words = ", ".join(reason.removeprefix("node(s) ").removeprefix("were ") for reason in reasons)
        return plugin, words, resolvable


def _domains(pod: Pod, constraint: SpreadConstraint, constraints: tuple[SpreadConstraint, ...],
             seen: Snapshot) -> dict[str, _Domain]:
    """Return every domain with its nodes, whether they are counted or not, and the pods that match and are not."""
    found: dict[str, _Domain] = {}
    for node in seen.all_nodes():
        domain = found.setdefault(node.metadata.labels.get(constraint.topology_key, NO_LABEL), _Domain())
        domain.nodes.append(node.metadata.name)
        exclusion = constraint.node_exclusion(pod, node, constraints)
        if exclusion:
            domain.excluded.setdefault(exclusion, []).append(node.metadata.name)
        for other in seen.pods_on(node.metadata.name):
            matches = constraint.matches(other)
            domain.matching += bool(exclusion) and matches
            if why := exclusion if matches else constraint.pod_exclusion(pod, other):
                domain.not_counted[why] += 1
    for domain in found.values():
        if sum(map(len, domain.excluded.values())) == len(domain.nodes):  # `left_out` gives the reasons
            for exclusion in domain.excluded:
                del domain.not_counted[exclusion]
    return found


def _left_out(domain: _Domain) -> str:
    """Return why no node of a domain is counted."""
    reasons = []
    for exclusion, names in domain.excluded.items():
        if exclusion == NO_KEY:
            reasons.append(f"{first_of(names, MAX_NAMED)} lack{'s' * (len(names) == 1)} the topology key")
        else:
            by_name = f"{', '.join(names[:MAX_NAMED])}: " if len(domain.excluded) > 1 else ""
            reasons.append(f"{by_name}{exclusion}")
    return "; ".join(reasons)


def _best_nodes(spreading: str, asked: JudgedPod, domains: Mapping[str, Sequence[str]]) -> dict[str, f.BestNode]:
    """Return of each domain the node with the most points, of equal ones the chosen, else the first by name.

    Domains without a scored node have none; a single node that fits is not scored.
    """
    ranking = asked.ranking
    if ranking is None or spreading not in ranking.weighted:
        return {}
    totals = ranking.totals.tolist()
    index = {node: place for place, node in enumerate(ranking.nodes)}
    weights = {enabled.name: enabled.weight for enabled in asked.judgement.profile.scores}
    chosen = asked.chosen or (ranking.best[0] if ranking.tie_count == 1 else "")
    found = {}
    for domain, nodes in domains.items():
        scored = [node for node in nodes if node in index]
        if not scored:
            continue
        best = min(scored, key=lambda node: (-totals[index[node]], node != chosen, node))
        place = index[best]
        points = [(plugin, int(weighted[place])) for plugin, weighted in ranking.weighted.items()]
        points.sort(key=lambda one: one[0] != spreading)
        cards = ((plugin_card(name), name, given) for name, given in points if given)
        parts = tuple(f.Points(name, card.letter or name[:1].upper(), card.family, given, card.short or name)
                      for card, name, given in cards)  # fmt: skip
        found[domain] = f.BestNode(
            node=best, raw=round(float(ranking.raw[spreading][place])), score=int(ranking.normalised[spreading][place]),
            weight=weights[spreading], parts=parts, total=int(totals[place]), chosen=best == chosen,
        )  # fmt: skip
    return found

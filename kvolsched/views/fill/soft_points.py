"""The best node of each domain by all points, where constraints only rank; the weight at which spreading wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...rules.named import plugin_card
from .. import frame as f
from .moments import JudgedPod


def best_nodes(spreading: str, asked: JudgedPod, domains: Mapping[str, Sequence[str]]) -> dict[str, f.BestNode]:
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
        parts = tuple(_points(name, given) for name, given in points if given)
        found[domain] = f.BestNode(
            node=best, raw=round(float(ranking.raw[spreading][place])), score=int(ranking.normalised[spreading][place]),
            weight=weights[spreading], parts=parts, total=int(totals[place]), chosen=best == chosen,
        )  # fmt: skip
    return found


def _points(plugin: str, given: int) -> f.Points:
    card = plugin_card(plugin)
    return f.Points(plugin, card.letter or plugin[:1].upper(), card.family, given, card.short or plugin)


def least_weight(winner: f.BestNode, others: Sequence[f.BestNode]) -> int | None:
    """Return the least weight of spreading at which a node has more points than others; None: no weight.

    Sums are linear in a weight, so the first such integer is exact.
    """
    least = winner.weight
    for other in others:
        gain, behind = winner.score - other.score, (other.total - other.points) - (winner.total - winner.points)
        if gain > 0:
            least = max(least, behind // gain + 1)
        elif behind >= 0:
            return None
    return least

"""The scores of a pass in words: raw, normalised, weighted, their sum; and at which weights another node would win."""

from attrs import frozen

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.pictures import matrix

UNSCORED = "No node has been scored: a pass scores only when more than one node fits, and none of them is nominated."


@frozen
class WeightFlip:
    """A weight of one plugin at which another node wins, all other weights unchanged."""

    weight: int
    """A positive integer: the nearest one above or below today's weight."""
    winners: tuple[str, ...]
    """The best nodes at that weight; a draw decides between several."""


@frozen
class WeightEffect:
    """Where the chosen node loses if the weight of one plugin changes: above today's weight, and below it."""

    plugin: str
    weight: int
    chosen: str
    above: WeightFlip | None
    below: WeightFlip | None

    def __str__(self) -> str:
        ways = [f"at weight {self.below.weight} or less: {' or '.join(self.below.winners)}"] if self.below else []
        ways += [f"from weight {self.above.weight} on: {' or '.join(self.above.winners)}"] if self.above else []
        return f"{self.plugin} × {self.weight}: " + ("; ".join(ways) or f"at any weight {self.chosen} wins")


def reading(frame: f.Frame) -> str:
    """Return the scores as lines: raw → normalised × weight = total, and the sum, best first."""
    verdicts = frame.verdicts
    if not verdicts.scores:
        return UNSCORED if verdicts.rows else matrix.EMPTY
    rows = []
    for node, sum_, parts in ranked(verdicts):
        content = ", ".join(f"{s.plugin} {s.raw} → {s.normalised} × {s.weight} = {s.total}" for s in parts)
        rows.append([node, str(sum_), content])
    content = f"scores of pass {verdicts.number} of {verdicts.pod}\n" + t.columns(rows)
    found = weight_effects(verdicts)
    if found:
        content += f"\nwho would win in place of {found[0].chosen} if one weight were another (positive integers)\n"
        content += t.columns([[head, rest] for head, _, rest in (str(effect).partition(": ") for effect in found)])
    return content


def ranked(verdicts: f.Verdicts) -> list[tuple[str, int, list[f.ScoreRow]]]:
    """Return each scored node with its sum and its scores, best first."""
    nodes = sorted({s.node for s in verdicts.scores})
    parts = {node: [s for s in verdicts.scores if s.node == node] for node in nodes}
    sums = [(node, sum(s.total for s in parts[node]), parts[node]) for node in nodes]
    return sorted(sums, key=lambda item: -item[1])


def weight_effects(verdicts: f.Verdicts) -> list[WeightEffect]:
    """Return, of each plugin, the weights at which another node would win; empty where fewer than two were scored.

    A node with a higher score of the plugin wins from some weight on, one with a lower score from some weight down:
    sums are linear in a weight, so the first such integers are exact.
    """
    best = ranked(verdicts)
    if len(best) < 2:
        return []
    marked_chosen = {row.node for row in verdicts.rows if row.chosen}
    chosen = next((node for node, _, _ in best if node in marked_chosen), best[0][0])
    sums = {node: total for node, total, _ in best}
    weights = dict.fromkeys((score.plugin, score.weight) for score in verdicts.scores)
    found = []
    for plugin, weight in weights:
        normalised = {score.node: score.normalised for score in verdicts.scores if score.plugin == plugin}
        rest = {node: total - weight * normalised.get(node, 0) for node, total in sums.items()}
        above, below = [], []
        for node in sums:
            gain, deficit = normalised.get(node, 0) - normalised.get(chosen, 0), rest[chosen] - rest[node]
            if gain > 0:  # it wins where weight × gain > deficit
                above.append(deficit // gain + 1)
            elif gain < 0:
                below.append(-(-deficit // gain) - 1)
        flip_above = _flip(min(above), normalised, rest) if above else None
        flip_below = _flip(max(below), normalised, rest) if below and max(below) > 0 else None
        found.append(WeightEffect(plugin, weight, chosen, flip_above, flip_below))
    return found


def _flip(weight: int, normalised: dict[str, int], rest: dict[str, int]) -> WeightFlip:
    totals = {node: total + weight * normalised.get(node, 0) for node, total in rest.items()}
    most = max(totals.values())
    return WeightFlip(weight, tuple(sorted(node for node, total in totals.items() if total == most)))

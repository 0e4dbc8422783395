"""The scores of a pass: raw, normalised, weighted, their sum, and the weights at which another node would win.

Rows are the scored nodes, best first, columns the plugins with their weight, in the grid of the verdicts. The last row
shows from which weight of one plugin alone the chosen node is no longer the best.
"""

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import nothing, num, path, picture, piece, rect, word
from kvolsched.views.pictures import matrix

MANY = 60  # nodes; of more, only those that explain the decision have rows
WIDE = 80.0  # px of a column in which a score's three numbers find room
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
    above: WeightFlip | None = None
    below: WeightFlip | None = None

    def __str__(self) -> str:
        ways = [f"at weight {self.below.weight} or less: {' or '.join(self.below.winners)}"] if self.below else []
        ways += [f"from weight {self.above.weight} on: {' or '.join(self.above.winners)}"] if self.above else []
        return f"{self.plugin} × {self.weight}: " + ("; ".join(ways) or f"at any weight {self.chosen} wins")


def draw(frame: f.Frame, width: int, selection: str = "") -> str:
    """Draw the scores of the last pass over the pod in focus."""
    if not frame.verdicts.rows:
        return nothing(width, matrix.EMPTY)
    head = matrix.caption(frame, width)
    if not frame.verdicts.scores:
        rows = t.wrap(UNSCORED, width - 4, 11, 3)
        said = "".join(word(2, 46 + 15 * i, "k-q", row) for i, row in enumerate(rows))
        return picture(width, 53 + 15 * len(rows), head + said, UNSCORED)
    table, y = _scores(frame, width, selection)
    return picture(width, y, head + table, f"{matrix.sentence(frame)}, scores", "grid")


def reading(frame: f.Frame) -> str:
    """Return the scores as lines: raw → normalised × weight = total, and the sum, best first."""
    verdicts = frame.verdicts
    if not verdicts.scores:
        return UNSCORED
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
    return sorted(sums, key=lambda item: (-item[1], item[0]))


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


def _scores(frame: f.Frame, width: int, selection: str) -> tuple[str, float]:
    verdicts = frame.verdicts
    plugins = list(dict.fromkeys((s.plugin, s.weight) for s in verdicts.scores))
    best = ranked(verdicts)
    chosen = {r.node for r in verdicts.rows if r.chosen}
    left = max(92.0, min(max(t.width(n, 12, bold=True) for n, _, _ in best) + 14, 0.23 * width, 190.0))
    pitch = min(110.0, (width - left - 92) / max(1, len(plugins)))
    columns = [matrix.ColumnHead(matrix.initials(name), name, f"×{weight}") for name, weight in plugins]
    drawn, top, named = matrix.heads(columns, left, pitch, 30)
    parts = [drawn, word(2, top - 6, "k-q", "node")]
    concerned, y = matrix.marked(frame, selection), top
    for node, total, scores in best[:matrix.MOST_ROWS]:
        row = [matrix.row_name(node, 1, y, left, on=node in concerned)]
        by_name = {s.plugin: s for s in scores}
        row += [_cell(by_name.get(name), name, left + i * pitch, y, pitch) for i, (name, _) in enumerate(plugins)]
        x = left + len(plugins) * pitch + 12
        star = "★" if node in chosen else "="
        row.append(word(x, y + 15, "k-n k-t-ok", star) + word(x + 16, y + 15, "k-n k-t-ok", str(total)))
        at = x + 20 + t.width(str(total), 12, bold=True)
        row.append(word(at, y + 15, "k-w", "chosen" if node in chosen else ""))
        parts.append(piece(node, "".join(row), ' role="row"'))
        y += matrix.PITCH
    found = weight_effects(verdicts)
    if found:
        parts.append(_weights(found, left, pitch, y))
        y += matrix.PITCH
    rest = len(verdicts.rows) - len(best)
    more = len(best) - matrix.MOST_ROWS
    unseen = "rejected or not scored" if len(verdicts.rows) <= MANY else "rejected, or scored less"
    notes = [f"… {more} more nodes"] * (more > 0) + [f"{counted(rest, 'node')} {unseen}"] * (rest > 0)
    notes.append(f"cell: {'raw, normalised 0 to 100, weighted' if pitch > WIDE else 'normalised'}; right: the sum")
    if found:
        notes.append(f"last row: the weight of that plugin at which {found[0].chosen} no longer wins")
    if not named:
        legend, y = matrix.name_legend(columns, y + 4, width)
        parts.append(legend)
    for line in t.wrap(" · ".join(notes), width - 4, 10, 3):
        parts.append(word(2, y + 13, "k-w", line))
        y += 14
    return "".join(parts), y + 6


def _cell(score: f.ScoreRow | None, plugin: str, x: float, y: float, pitch: float) -> str:
    """Draw one score: normalised in the middle, raw left and weighted right where they differ and fit."""
    content = "–" if score is None else str(score.normalised)
    share = 0.0 if score is None else max(0, min(100, score.normalised)) / 100
    cell = path(f"M{num(x)} {num(y)}h{num(pitch - 2)}v{num(matrix.CELL_H)}h-{num(pitch - 2)}z", "k-p-none")
    cell += rect(x, y, (pitch - 2) * share, matrix.CELL_H, "k-p-ok")
    cell += word(x + pitch / 2 - 1, y + 15, "k-g k-num", content)
    words = "nothing to score"
    if score is not None:
        words = f"{score.raw} → {score.normalised} × {score.weight} = {score.total}"
        half = (pitch - t.width(content, 12, bold=True)) / 2 - 6
        raw = f"{score.raw}→" if score.raw != score.normalised else ""
        weighted = f"={score.total}" if score.total != score.normalised else ""
        if raw and t.width(raw, 10) < half:
            cell += word(x + 3, y + 14.5, "k-w", raw)
        wide = t.width(weighted, 10)
        if weighted and wide < half:
            cell += word(x + pitch - 5 - wide, y + 14.5, "k-w", weighted)
    return f'<g role="gridcell" aria-label="{t.escape(f"{plugin} {words}")}">{cell}</g>'


def _weights(found: list[WeightEffect], left: float, pitch: float, y: float) -> str:
    """Draw the row of the weights at which another node wins."""
    row = [word(2, y + 15, "k-w", "another wins")]
    for i, effect in enumerate(found):
        flips = [(sign, flip) for sign, flip in (("≤", effect.below), ("≥", effect.above)) if flip is not None]
        content = " ".join(f"{sign}{flip.weight}" for sign, flip in flips) or "never"
        if len(flips) == 1:
            with_winner = f"{content} {flips[0][1].winners[0]}"
            content = with_winner if t.width(with_winner, 10) < pitch - 5 else content
        short = content if flips or t.width(content, 10) < pitch - 5 else "–"
        cell = word(left + i * pitch + 3, y + 15, "k-w", t.end(short, pitch - 5, 10))
        row.append(f'<g role="gridcell" aria-label="{t.escape(str(effect))}">{cell}</g>')
    return piece("weights", "".join(row), ' role="row"')

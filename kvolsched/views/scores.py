"""The scores of a pass: raw, normalised, weighted, and the sum that decided.

A pure function of `Frame.verdicts.scores`, in the same grid as the verdicts: rows are the
nodes that were scored, best first, columns the plugins that score with their weight.
"""

from __future__ import annotations

from kvolsched.views import frame as f
from kvolsched.views import text as t
from kvolsched.views.drawing import ROW, columns, nothing, path, picture
from kvolsched.views.marks import n as num
from kvolsched.views.marks import rect, word
from kvolsched.views.matrix import EMPTY, MOST_ROWS, caption, heads, marked, row_name, sentence

UNSCORED = "No node has been scored: a pass scores only when more than one node fits."


def draw(frame: f.Frame, width: int, selection: str = "") -> str:
    """Draw the scores of the last pass over the pod in focus."""
    if not frame.verdicts.rows:
        return nothing(width, EMPTY)
    head = caption(frame, width, scores=True)
    if not frame.verdicts.scores:
        return picture(width, 68, head + word(2, 46, "k-q", UNSCORED), UNSCORED)
    table, y = _scores(frame, width, selection)
    return picture(width, y, head + table, f"{sentence(frame)}, scores", "grid")


def reading(frame: f.Frame) -> str:
    """Say the scores in lines: raw → normalised × weight = total, and the sum, best first."""
    verdicts = frame.verdicts
    if not verdicts.scores:
        return UNSCORED
    rows = []
    for node, sum_, parts in ranked(verdicts):
        said = ", ".join(f"{s.plugin} {s.raw} → {s.normalised} × {s.weight} = {s.total}" for s in parts)
        rows.append([node, str(sum_), said])
    return f"scores of pass {verdicts.number} of {verdicts.pod}\n" + columns(rows)


def ranked(verdicts: f.Verdicts) -> list[tuple[str, int, list[f.ScoreRow]]]:
    """Give each scored node with its sum and its parts, best first."""
    nodes = sorted({s.node for s in verdicts.scores})
    parts = {node: [s for s in verdicts.scores if s.node == node] for node in nodes}
    sums = [(node, sum(s.total for s in parts[node]), parts[node]) for node in nodes]
    return sorted(sums, key=lambda item: (-item[1], item[0]))


def _scores(frame: f.Frame, width: int, selection: str) -> tuple[str, float]:
    verdicts = frame.verdicts
    plugins = list(dict.fromkeys((s.plugin, s.weight) for s in verdicts.scores))
    best = ranked(verdicts)
    chosen = {r.node for r in verdicts.rows if r.chosen}
    left = max(96.0, min(max(t.width(n, 12, bold=True) for n, _, _ in best) + 18, 190.0))
    pitch = min(110.0, (width - left - 150) / max(1, len(plugins)))
    drawn, top = heads([f"×{weight} {name}" for name, weight in plugins], left, pitch)
    parts = [drawn, word(2, top - 6, "k-q", "node")]
    concerned, y = marked(frame, selection), top
    for node, total, scores in best[:MOST_ROWS]:
        row = [row_name(node, 1, y, left, on=node in concerned)]
        by_name = {s.plugin: s for s in scores}
        for i, (name, _) in enumerate(plugins):
            score, x = by_name.get(name), left + i * pitch
            said = "–" if score is None else str(score.normalised)
            share = 0.0 if score is None else max(0, min(100, score.normalised)) / 100
            cell = path(f"M{num(x)} {num(y)}h{num(pitch - 2)}v25h-{num(pitch - 2)}z", "k-p-none")
            cell += rect(x, y, (pitch - 2) * share, 25, "k-p-ok") + word(
                x + pitch / 2 - 1, y + 17, "k-g k-num", said
            )
            raw = (
                "nothing to score"
                if score is None
                else f"{score.raw} → {score.normalised} × {score.weight} = {score.total}"
            )
            row.append(f'<g role="gridcell" aria-label="{t.escape(f"{name} {raw}")}">{cell}</g>')
        x = left + len(plugins) * pitch + 12
        star = "★" if node in chosen else "="
        row.append(word(x, y + 17, "k-n k-t-ok", star) + word(x + 16, y + 17, "k-n k-t-ok", str(total)))
        row.append(
            word(
                x + 20 + t.width(str(total), 12, bold=True), y + 17, "k-w", "chosen" if node in chosen else ""
            )
        )
        parts.append(f'<g role="row" data-key="{t.escape(node)}">{"".join(row)}</g>')
        y += ROW
    rest = len(verdicts.rows) - len(best)
    more = len(best) - MOST_ROWS
    notes = [f"… {more} more nodes"] * (more > 0) + [
        f"{rest} node{'s' * (rest != 1)} rejected or not scored"
    ] * (rest > 0)
    notes.append("cell: normalised score, 0 to 100; right: the sum of normalised × weight")
    parts.append(word(2, y + 18, "k-w", t.end(" · ".join(notes), width - 4, 10)))
    return "".join(parts), y + 28

"""Rows of answers about turns, from the answers themselves."""

from math import sqrt
from typing import Any

from ...questions.differences import EXISTS, PASSES, Diff
from ...questions.explore import Exploration, Sample
from ...questions.explore.report import TracedTurn
from .. import turn_rows as r
from ..frame import Mark
from .context import label_of
from .history import written_mark

_HINTS = (("found.replay(c).lab()", "replays it in the panel"), ("found.sample()", "counts how often it happens"))
_Z95 = 1.96  # of the normal distribution, for an interval of 95 %


def different_fields(answer: Diff) -> r.DifferentClusters:
    """Return the fields in which two clusters differ, and what is told beside them."""
    paths = {EXISTS: "", PASSES: "scheduling passes"}
    rows = (r.DifferenceRow(about, paths.get(change.path, change.path), change.old, change.new)
            for about, change in answer.told)  # fmt: skip
    notes = (answer.folded, *answer.notes) if answer.folded else answer.notes
    return r.DifferentClusters(answer.names, len(answer.rows) + len(answer.passes), tuple(rows), notes,
                               answer.because)  # fmt: skip


def disagreeing_rows(answer: Any) -> r.DifferentClusters:
    """Return in what two sets of rules disagree about a cluster (`kvolsched.differ`), and where its manifests are."""
    rows = tuple(r.DifferenceRow(row.about, row.what, row.a, row.b) for row in answer.verdicts if row.differs)
    said = f"The cluster: {', '.join(answer.objects)}. .manifests is its YAML, .lab() steps both."
    return r.DifferentClusters(answer.names, len(rows), rows, (said,), answer.sentence)


def search_rows(answer: Exploration) -> r.SearchRows:
    """Return what an exploration found."""
    found = answer.counterexample
    size = f"{answer.states:,} states, {answer.transitions:,} transitions, depth {answer.depth}"
    good = False if found is not None else True if answer.exhausted and not answer.unseen else None
    if found is not None:
        size = f"a shortest way, {len(found.turns)} turns; {size}"
    ends = () if found is not None else tuple(r.EndBar(end.words, end.count, end.goal_holds) for end in answer.outcomes)
    hints = (*_HINTS, ("found.counterexample.story", f"has all {len(found.turns)} turns")) if found is not None else ()
    told = (_trace(found.turns), found.found, found.title, hints) if found is not None else ((), "", "", ())
    title = "How its end states differ: a bar counts states, not runs"
    return r.SearchRows(answer.headline, good, size, told[0], ends, title, answer.assumptions, *told[1:])


def sample_rows(answer: Sample) -> r.SampleRows:
    """Return how sampled runs end."""
    ends = sorted(answer.end_states, key=lambda end: (end.goal_holds, -end.count, end.words))
    return r.SampleRows(answer.about, answer.seeds, answer.stuck, wilson(answer.stuck, answer.seeds),
                        tuple(r.EndBar(end.words, end.count, end.goal_holds) for end in ends), answer.reached,
                        answer.how if answer.how != "seeds" else "runs in the natural order, a seed each")


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the Wilson interval of a share at 95 %: the whole range for no runs."""
    if not of:
        return 0.0, 1.0
    share, spread = hits / of, _Z95 * _Z95 / of
    middle, half = share + spread / 2, _Z95 * sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def _trace(turns: tuple[TracedTurn, ...]) -> tuple[r.ToldTurn, ...]:
    """Return the turns of a trace; faults and the last one that is told are pointed at."""
    rows, shown = [], [each for each in turns if each.is_told] or turns
    for each in turns:
        turn = each.turn
        mark = written_mark(turn, turn.step) or Mark(turn.step, "write" if turn.events else "note", "event")
        ringed = bool(turn.fault) or mark.kind == "refused" or each is shown[-1]
        rows.append(r.ToldTurn(turn.step, label_of(turn.actor or turn.component), each.words, mark=mark,
                               decides=each in shown, ringed=ringed, behind=min(each.unseen, default=0)))
    return tuple(rows)

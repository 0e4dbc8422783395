"""What searches and samples of runs found: the trace in lanes, the turns that decide, and bars of ends.

A search visits states and can prove; a sample counts runs and cannot. They are never drawn on one scale.
"""

from collections.abc import Sequence
from math import sqrt

from attrs import frozen

from kvolsched.questions.explore import Exploration, Sample
from kvolsched.questions.explore.report import TracedTurn
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, bar, block, joined, page, row, table, tag, words
from kvolsched.views.drawing.svg import hatching, num, path, pick, picture, rect, word
from kvolsched.views.fill.context import label_of
from kvolsched.views.fill.history import written_mark
from kvolsched.views.frame import Mark
from kvolsched.views.pictures.lanes import sign

LANE = 24.0
"""Pitch of lanes, px."""
MOST_BARS = 8
_SIGNS = {True: ("✓", "ok"), False: ("✕", "storage"), None: ("?", "resources")}
_HINTS = (("found.replay(c).lab()", "replays it in the panel"), ("found.sample()", "counts how often it happens"))
_Z95 = 1.96  # of the normal distribution, for an interval of 95 %


@frozen
class ToldTurn:
    """One turn as it is told: its step, who acted, and in words."""

    step: int
    actor: str
    words: str
    mark: Mark | None
    decides: bool  # Whether the turn is told when not all are
    ringed: bool  # Whether the turn is pointed at: a fault, or the one that shows the failure
    behind: int  # First step that its actor had not seen then; 0: it had seen all


@frozen
class EndBar:
    """One way in which runs end: in words, how often, and whether the goal holds there."""

    words: str
    count: int
    good: bool


@frozen
class SearchRows:
    """What an exploration found: a headline, its size, the turns that lead to a failure, the ends, what is assumed."""

    headline: str  # The cause of a failure, else how the search ended
    good: bool | None  # Whether nothing was found (True), a failure was (False), or the search is not over (None)
    size: str
    turns: tuple[ToldTurn, ...]
    ends: tuple[EndBar, ...]
    ends_title: str
    assumed: tuple[str, ...]
    found: str = ""  # The failure
    turns_title: str = ""  # What the turns are that decide, of how many
    hints: tuple[tuple[str, str], ...] = ()  # What to call next, and what it does


@frozen
class SampleRows:
    """How sampled runs end: whose runs, how many, how many do not reach the goal, and the interval of that share."""

    about: str
    runs: int
    stuck: int
    interval: tuple[float, float]  # Bounds of the share of runs without the goal in [0, 1], at 95 %
    ends: tuple[EndBar, ...]
    reached: str  # In how many runs the goal holds at the end, in words
    how: str  # Which runs


def search_rows(answer: Exploration) -> SearchRows:
    """Return what an exploration found."""
    found = answer.counterexample
    size = f"{answer.states:,} states, {answer.transitions:,} transitions, depth {answer.depth}"
    good = False if found is not None else True if answer.exhausted and not answer.unseen else None
    if found is not None:
        size = f"a shortest way, {len(found.turns)} turns; {size}"
    ends = () if found is not None else tuple(EndBar(end.words, end.count, end.goal_holds) for end in answer.outcomes)
    hints = (*_HINTS, ("found.counterexample.story", f"has all {len(found.turns)} turns")) if found is not None else ()
    told = (_trace(found.turns), found.found, found.title, hints) if found is not None else ((), "", "", ())
    title = "How its end states differ: a bar counts states, not runs"
    return SearchRows(answer.headline, good, size, told[0], ends, title, answer.assumptions, *told[1:])


def sample_rows(answer: Sample) -> SampleRows:
    """Return how sampled runs end."""
    ends = sorted(answer.end_states, key=lambda end: (end.goal_holds, -end.count, end.words))
    return SampleRows(answer.about, answer.seeds, answer.stuck, wilson(answer.stuck, answer.seeds),
                        tuple(EndBar(end.words, end.count, end.goal_holds) for end in ends), answer.reached,
                        answer.how if answer.how != "seeds" else "runs in the natural order, a seed each")


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the Wilson interval of a share at 95 %: the whole range for no runs."""
    if not of:
        return 0.0, 1.0
    share, spread = hits / of, _Z95 * _Z95 / of
    middle, half = share + spread / 2, _Z95 * sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def _trace(turns: tuple[TracedTurn, ...]) -> tuple[ToldTurn, ...]:
    """Return the turns of a trace; faults and the last one that is told are pointed at."""
    rows, shown = [], [each for each in turns if each.is_told] or turns
    for each in turns:
        turn = each.turn
        mark = written_mark(turn, turn.step) or Mark(turn.step, "write" if turn.events else "note", "event")
        ringed = bool(turn.fault) or mark.kind == "refused" or each is shown[-1]
        rows.append(ToldTurn(turn.step, label_of(turn.actor or turn.component), each.words, mark=mark,
                               decides=each in shown, ringed=ringed, behind=min(each.unseen, default=0)))
    return tuple(rows)


def draw_search(rows: SearchRows, width: int, selection: str = "") -> str:
    """Return the verdict and the size of a search; of a failure the trace, whose lanes are drawn, else the ends."""
    glyph, family = _SIGNS[rows.good]
    parts: list[str] = [tag("h3", "k-title", words(f"{glyph} ", f"k-t-{family}"), rows.headline),
                        block("", rows.found), block("k-q", rows.size)]  # fmt: skip
    if rows.turns:
        marks, bottom = _lanes(rows.turns, width, 0)
        lanes = Html(picture(width, bottom, "".join(marks), rows.headline))
        told = (row((tag("b", "k-t-accent", str(turn.step)), turn.actor,
                     tag("b" if turn.ringed else "span", "", turn.words)), ("k-short", "k-name k-soft", "k-wide"))
                for turn in rows.turns if turn.decides)  # fmt: skip
        parts += [lanes, tag("h4", "", rows.turns_title), table(told, classes="k-plain")]
    if rows.ends:
        parts += [tag("h4", "", rows.ends_title), _bars(rows.ends, sum(end.count for end in rows.ends), "state")]
    if rows.hints:
        hints = (row((tag("code", "k-code k-strong", call), words(does, "k-q"))) for call, does in rows.hints)
        parts += [tag("h4", "", "Next"), table(hints, classes="k-plain")]
    return page(*parts, *(block("k-w", f"Assumed: {sentence}") for sentence in rows.assumed))


def draw_sample(rows: SampleRows, width: int, selection: str = "") -> str:
    """Return in how many sampled runs the goal holds at the end, the interval of its absence, and a bar an end."""
    head = f"{rows.runs} {rows.how}" + (f": {rows.about}" if rows.about else "")
    glyph, family = _SIGNS[not rows.stuck]
    low, high = (round(100 * share) for share in rows.interval)
    share = f"{low} to {high} %" if rows.stuck else f"at most {high} %"
    note = f"(not in {share} of all runs, at 95 %; a sample proves nothing)"
    said = joined(tag("b", f"k-t-{family}", f"{glyph} In the end {rows.reached} "), words(note, "k-w"))
    return page(tag("h3", "", head), said, _bars(rows.ends, rows.runs, "run"))


def _lanes(turns: Sequence[ToldTurn], width: int, top: float) -> tuple[list[str], float]:
    """Draw one lane an actor, one column a turn; of a long trace the turns around those that decide."""
    actors = list(dict.fromkeys(turn.actor for turn in turns))
    left = min(max(t.width(actor, 11) for actor in actors) + 18, 0.3 * width)
    room = width - left - 20
    shown = _shown(turns, max(4, int(room // 20)))
    pitch = min(room / max(len(shown), 1), 40.0)
    at = {place: left + 12 + pitch * (i + 0.5) for i, place in enumerate(shown)}
    y0 = top + 26
    end, bottom = left + 12 + pitch * len(shown), y0 + LANE * len(actors)
    parts = [rect(0, top, width, bottom - top + 2, "k-panel", 6)]
    for i, actor in enumerate(actors):
        y = y0 + LANE * (i + 0.5)
        parts.append(word(10, y + 4, "", t.middle(actor, left - 14, 11)))
        parts.append(path(f"M{num(left)} {num(y)}H{num(end)}", "k-done"))
    for place, after in zip(shown, [*shown[1:], len(turns)], strict=True):
        if after - place > 1:  # columns are left out
            parts.append(path(f"M{num(at[place] + pitch / 2)} {num(y0)}V{num(bottom - 4)}", "k-l-soft k-dot"))
    for place in shown:
        turn, x = turns[place], at[place]
        y = y0 + LANE * (actors.index(turn.actor) + 0.5)
        number = word(x, top + 18, "k-c k-mid" + (" k-b k-t-accent" if turn.ringed else ""), str(turn.step))
        body = sign(turn.mark, x, y, now=False) if turn.mark else ""
        ring = rect(x - 11, y - 11, 22, 22, "k-ring" if turn.ringed else "k-due", 11) if turn.decides else ""
        if turn.decides and turn.behind:  # it had not seen what was written since
            since = min((at[other] for other in shown if turns[other].step >= turn.behind), default=x)
            hatched = hatching(since, y - 5, x - 11 - since, 10, 5)
            lines = "".join(f"M{num(x1)} {num(y1)}L{num(x2)} {num(y2)}" for x1, y1, x2, y2 in hatched)
            parts.append(path(lines, "k-hatch"))
        parts.append(pick(number + body + ring, f"turn/{turn.step}", f"mark-{place}",
                          f"{turn.step}. {turn.actor}: {turn.words}"))
    return parts, bottom + 4


def _shown(turns: Sequence[ToldTurn], most: int) -> list[int]:
    """Return the places that have a column: all, or as many as fit, those that decide and their neighbours first."""
    if len(turns) <= most:
        return list(range(len(turns)))
    deciding = [place for place, turn in enumerate(turns) if turn.ringed or turn.decides] or [len(turns) - 1]
    far = [min(abs(place - other) for other in deciding) for place in range(len(turns))]
    order = sorted(range(len(turns)), key=lambda place: (not turns[place].ringed, far[place], -place))
    return sorted(order[:most])


def _bars(ends: Sequence[EndBar], total: int, what: str) -> Html:
    """Return one bar an end, on one scale; what is over the most that are shown stands in one line."""
    rest = sum(end.count for end in ends[MOST_BARS:])
    lines = [row((words(_SIGNS[end.good][0], f"k-b k-t-{_SIGNS[end.good][1]}"), end.words,
                  bar(end.count / max(total, 1), _SIGNS[end.good][1], pale=end.good), tag("b", "", f"{end.count:,}")),
                 ("", "k-name", "k-rail-cell", "k-short")) for end in ends[:MOST_BARS]]  # fmt: skip
    others = f"{len(ends) - MOST_BARS} other ends: {rest:,} {what}s" if rest else ""
    return joined(table(lines, classes="k-plain"), block("k-q", others))

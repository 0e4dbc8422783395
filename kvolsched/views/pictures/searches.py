"""What searches and samples of runs found: the trace in lanes, the turns that decide, and bars of ends.

A search visits states and can prove; a sample counts runs and cannot. They are never drawn on one scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kvolsched.api.words import counted
from kvolsched.views import turn_rows as r
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import hatching, num, path, pick, picture, rect, rule, word
from kvolsched.views.pictures.lanes import sign

LANE, ROW, BAR = 24.0, 20.0, 24.0
"""Pitch of lanes, of told turns and of bars, px."""
MOST_BARS = 8
_SIGNS = {True: ("✓", "ok"), False: ("✕", "storage"), None: ("?", "resources")}


def draw_search(rows: r.SearchRows, width: int, selection: str = "") -> str:
    """Draw the verdict and the size of a search; of a failure the trace, else the ends."""
    parts, y = _headline(rows, width)
    if rows.turns:
        body, y = _lanes(rows.turns, width, y)
        parts += body
        body, y = _told(rows, width, y + 8)
        parts += body
    if rows.ends:
        parts.append(word(2, y + 18, "k-n", t.end(rows.ends_title, width - 4, 12, bold=True)))
        body, y = _bars(rows.ends, sum(end.count for end in rows.ends), width, y + 28, "state")
        parts += body
    if rows.hints:
        body, y = _hints(rows.hints, width, y + 10)
        parts += body
    y += 6
    for line in (line for sentence in rows.assumed for line in t.wrap(f"Assumed: {sentence}", width - 4, 10.5, 3)):
        parts.append(word(2, y + 12, "k-w", line))
        y += 15
    return picture(width, y + 6, "".join(parts), rows.headline)


def draw_sample(rows: r.SampleRows, width: int, selection: str = "") -> str:
    """Draw in how many sampled runs the goal holds at the end, the interval of its absence, and a bar for each end."""
    head = f"{rows.runs} {rows.how}" + (f": {rows.about}" if rows.about else "")
    glyph, family = _SIGNS[not rows.stuck]
    low, high = (round(100 * share) for share in rows.interval)
    said = f"In the end {rows.reached}"
    share = f"{low} to {high} %" if rows.stuck else f"at most {high} %"
    note = f"(not in {share} of all runs, at 95 %; a sample proves nothing)"
    x, y = 30 + t.width(said, 12, bold=True), 40.0
    parts = [word(2, 16, "k-cap k-b", t.end(head, width - 4, 13, bold=True)), word(2, y, f"k-n k-t-{family}", glyph),
             word(18, y, f"k-n k-t-{family}", t.end(said, width - 20, 12, bold=True))]
    if x + t.width(note, 10) > width:
        x, y = 18, y + 16
    parts.append(word(x, y, "k-w", note))
    body, y = _bars(rows.ends, rows.runs, width, y + 12, "run")
    return picture(width, y + 6, "".join([*parts, *body]), f"{head}: {said}")


def _headline(rows: r.SearchRows, width: int) -> tuple[list[str], float]:
    glyph, family = _SIGNS[rows.good]
    lines = t.wrap(rows.headline, width - 30, 15, 5, bold=True)
    parts = [word(2, 20, f"k-n k-t-{family}", glyph)]
    parts += [word(20, 20 + 19 * i, "k-say-s k-b", line) for i, line in enumerate(lines)]
    y = 20 + 19.0 * len(lines)
    for line in t.wrap(rows.found, width - 4, 12, 3) if rows.found else ():
        parts.append(word(2, y + 2, "k-m", line))
        y += 16
    parts.append(word(2, y + 2, "k-q", t.end(rows.size, width - 4, 11)))
    return parts, y + 12


def _lanes(turns: Sequence[r.ToldTurn], width: int, top: float) -> tuple[list[str], float]:
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
            parts.append(path(_lines(hatching(since, y - 5, x - 11 - since, 10, 5)), "k-hatch"))
        parts.append(pick(number + body + ring, f"turn/{turn.step}", f"mark-{place}",
                          f"{turn.step}. {turn.actor}: {turn.words}"))
    return parts, bottom + 4


def _shown(turns: Sequence[r.ToldTurn], most: int) -> list[int]:
    """Return the places that have a column: all, or as many as fit, those that decide and their neighbours first."""
    if len(turns) <= most:
        return list(range(len(turns)))
    deciding = [place for place, turn in enumerate(turns) if turn.ringed or turn.decides] or [len(turns) - 1]
    far = [min(abs(place - other) for other in deciding) for place in range(len(turns))]
    order = sorted(range(len(turns)), key=lambda place: (not turns[place].ringed, far[place], -place))
    return sorted(order[:most])


def _told(rows: r.SearchRows, width: int, y: float) -> tuple[list[str], float]:
    told = [turn for turn in rows.turns if turn.decides]
    parts = [word(2, y + 14, "k-n", t.end(rows.turns_title, width - 4, 12, bold=True))]
    y += 24
    who = min(max((t.width(turn.actor, 12) for turn in told), default=0) + 14, 0.3 * width)
    for turn in told:
        lines = t.wrap(turn.words, width - who - 44, 12, 3, bold=turn.ringed)
        cells = [word(26, y + 13, "k-n k-end k-t-accent", str(turn.step)),
                 word(36, y + 13, "k-m k-soft", t.middle(turn.actor, who - 8, 12))]
        kind = "k-n" if turn.ringed else "k-m"
        cells += [word(36 + who, y + 13 + 16 * i, kind, line) for i, line in enumerate(lines)]
        label = f"{turn.step}. {turn.actor}: {turn.words}"
        parts.append(pick("".join(cells), f"turn/{turn.step}", f"told-{turn.step}", label, role="row"))
        y += ROW + 16 * (len(lines) - 1)
    return parts, y


def _hints(hints: Sequence[tuple[str, str]], width: int, y: float) -> tuple[list[str], float]:
    """Draw what to call next, and what it does."""
    parts = [rect(0, y, width, 30 + 17 * len(hints), "k-panel", 6), word(10, y + 18, "k-n", "Next")]
    left = 22 + 6.8 * max(len(code) for code, _ in hints)
    for number, (code, words) in enumerate(hints):
        parts.append(word(10, y + 36 + 17 * number, "k-code k-strong", code))
        parts.append(word(left, y + 36 + 17 * number, "k-q", t.end(words, width - left - 6, 11)))
    return parts, y + 30 + 17 * len(hints)


def _bars(ends: Sequence[r.EndBar], total: int, width: int, y: float, what: str) -> tuple[list[str], float]:
    """Draw one bar an end, on one scale; what is over the most that are drawn stands in one bar."""
    rest = sum(end.count for end in ends[MOST_BARS:])
    bars = [*ends[:MOST_BARS]]
    label = min(max((t.width(end.words, 12) for end in bars), default=0) + 40, 0.5 * width)
    room = width - label - 90
    parts = []
    for number, end in enumerate(bars):
        glyph, family = _SIGNS[end.good]
        wide = max(2.0, room * end.count / max(total, 1))
        cells = [
            word(14, y + 15, f"k-g k-t-{family}", glyph), word(28, y + 15, "k-m", t.end(end.words, label - 38, 12)),
            rect(label, y + 2, room, 18, "k-p-none", 2),
            rect(label, y + 2, wide, 18, f"k-p-{family} k-l-{family}", 2),
            "" if end.good else path(_lines(hatching(label, y + 2, wide, 18, 6)), "k-l-storage"),
            word(label + room + 8, y + 15, "k-n", f"{end.count:,}"),
        ]  # fmt: skip
        times = f"{counted(end.count, what)} of {total}"
        parts.append(pick("".join(cells), f"end/{number}", f"end-{number}", f"{end.words}: {times}", role="row"))
        y += BAR
    if rest:
        others = f"{len(ends) - MOST_BARS} other ends: {rest:,} {what}s"
        parts.append(word(28, y + 15, "k-q", others) + rule(0, y, width))
        y += BAR
    return parts, y


def _lines(ends: Iterable[tuple[float, float, float, float]]) -> str:
    return "".join(f"M{num(x)} {num(y)}L{num(x2)} {num(y2)}" for x, y, x2, y2 in ends)

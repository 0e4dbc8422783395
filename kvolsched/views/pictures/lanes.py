"""The timeline: who wrote what and when, and who has not seen it yet; one lane an actor, one column a step.

A filled square is a write to the API, a ring is only notes, a crossed outline a refused write, a zigzag a crash. The
line is solid as far as the actor's component has seen every kind that it watches, hatched from there to the present
step; the words at its end count the changes not yet seen. Steps known from an earlier visit stand pale at the right.
"""

from collections.abc import Set as AbstractSet

from attrs import evolve, frozen

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import nothing, num, path, pick, picture, piece, rect, word

EMPTY = "No actor yet. Load a scenario, or apply some objects."
LEAST_COLUMN = 14.0
"""Narrower columns than this, px, are shown through a window around the playhead."""

LETTERS = {"create": "C", "patch": "P", "update": "U", "status": "S", "bind": "B", "delete": "D", "event": "e"}
IDLE = "lane/idle"
"""Ref of the row that stands for the actors without a mark or a backlog."""
_PITCH, _HALF = 20.0, 6.5


@frozen
class _Axis:
    """The columns of the steps `first` to `last`: `col` px each, from `x0` on."""

    x0: float
    col: float
    first: int
    last: int
    now: int
    top: float

    def x(self, step: float) -> float:
        return self.x0 + (min(max(step, self.first), self.last) - self.first) * self.col

    def holds(self, step: int) -> bool:
        return self.first <= step <= self.last


def draw(frame: f.Frame, width: int, selection: str = "", *, unfolded: AbstractSet[str] = frozenset(),
         fold: bool = False) -> str:
    """Draw the lanes; those whose actor is in `unfolded` show one row for each kind watched.

    With `fold` the actors that have no mark and nothing to see are one row, unless "idle" is in `unfolded`.
    """
    if not frame.lanes:
        return nothing(width, EMPTY)
    idle = [lane for lane in frame.lanes if fold and not lane.marks and not _behind(lane)]
    shown = frame.lanes if len(idle) < 2 else tuple(lane for lane in frame.lanes if lane not in idle)
    wanted = max(t.width(lane.label, 11, bold=True) for lane in frame.lanes) + 30
    left = min(wanted, max(0.36 * width, 100.0), 230.0)
    legend, top = _legend(frame, width)
    axis, parts = _axis(frame, width, left, top)
    bottom = axis.top
    rows: list[str] = []
    for lane in shown if "idle" not in unfolded else frame.lanes:
        rows.append(_lane(frame, lane, axis, bottom, width, left, selection, open_=lane.actor in unfolded))
        bottom += _PITCH
        for cursor in lane.cursors if lane.actor in unfolded else ():
            rows.append(_kind(cursor, axis, bottom, width))
            bottom += _PITCH - 5
    head = _column(axis, bottom) + _numbers(axis, width)
    if len(shown) < len(frame.lanes):
        rows.append(_idle_row(idle, bottom, width, open_="idle" in unfolded))
        bottom += _PITCH
    label = f"timeline by component, step {frame.head.step} of {max(frame.head.steps_known, frame.head.step)}"
    return picture(width, bottom - 6, "".join([legend, *parts, head, *rows]), label)


def _idle_row(idle: list[f.Lane], y: float, width: int, *, open_: bool) -> str:
    names = ", ".join(lane.label for lane in idle)
    said = f"{len(idle)} fewer" if open_ else f"{len(idle)} more, idle: {names}"
    content = rect(2, y - 10, width - 4, 19, "k-hit", 4) + word(8, y + 4, "k-w", t.end(said, width - 16, 10))
    label = f"{len(idle)} actors without a mark and with nothing to see: {names}"
    return pick(content, IDLE, "idle", label, more=f' aria-expanded="{"true" if open_ else "false"}"')


def reading(frame: f.Frame) -> str:
    """Return the lanes as lines: how far seen, how many changes behind, and the marks up to now."""
    if not frame.lanes:
        return EMPTY
    rows = []
    for lane in frame.lanes:
        now = [f"{m.step}:{_mark_words(m)}" for m in lane.marks if m.step <= frame.head.step]
        later = [f"{m.step}:{_mark_words(m)}" for m in lane.marks if m.step > frame.head.step]
        content = " ".join(now) + (f" (later {' '.join(later)})" if later else "")
        rows.append([lane.label, _seen_words(lane, frame.head.step), content.strip()])
    return t.columns(rows)


def _mark_words(mark: f.Mark) -> str:
    if mark.kind == "crash":
        return "crash"
    if mark.kind == "refused":
        return f"{mark.verb} {mark.ref} refused {mark.outcome}"
    kind = "note " if mark.kind == "note" else ""
    return f"{kind}{mark.verb} {mark.ref}".rstrip()


def _behind(lane: f.Lane) -> int:
    return sum(c.pending for c in lane.cursors)


def _seen(lane: f.Lane, now: int) -> int:
    """Return the step of the slowest cursor that has pending changes; without one, the present step."""
    return min((c.position for c in lane.cursors if c.pending), default=now)


def _seen_words(lane: f.Lane, now: int) -> str:
    if not lane.cursors:
        return "watches nothing"
    behind = _behind(lane)
    return f"seen {_seen(lane, now)}" + (f", {behind} behind" if behind else "")


def _axis(frame: f.Frame, width: int, left: float, top: float) -> tuple[_Axis, list[str]]:
    now, last = frame.head.step, max(frame.head.steps_known, frame.head.step, 1)
    x0, room = left + 12, width - left - 12 - 82
    col = room / last
    if col >= LEAST_COLUMN:
        return _Axis(x0, min(col, 90.0), 0, last, now, top + 34), []
    count = min(last, max(4, int(room // 20)))
    first = min(max(0, now - count * 2 // 3), last - count)
    axis = _Axis(x0, room / count, first, first + count, now, top + 58)
    return axis, [_overview(frame, axis, last, (x0, room, left, top))]


def _overview(frame: f.Frame, axis: _Axis, last: int, place: tuple[float, float, float, float]) -> str:
    """Draw the whole run as one strip of ticks, with the window that is shown below it."""
    x0, room, left, top = place
    past: set[int] = set()
    later: set[int] = set()
    for lane in frame.lanes:
        for mark in lane.marks:
            (past if mark.step <= frame.head.step else later).add(round(mark.step / last * room))
    # a step's tick is one px wide: at most `room` of them, however long the run
    ticks = [
        path("".join(f"M{num(x0 + at)} {num(top + 4)}v9" for at in sorted(places)), kind)
        for places, kind in ((past, "k-tick"), (later - past, "k-tick k-later")) if places
    ]  # fmt: skip
    start, end = x0 + axis.first / last * room, x0 + axis.last / last * room
    now = x0 + frame.head.step / last * room
    window = rect(start, top + 1, end - start, 15, "k-window", 3) + path(f"M{num(now)} {num(top - 1)}v19", "k-now")
    content = word(8, top + 12, "k-w", t.end(f"all {last} {frame.head.gear}", left - 12, 10))
    return content + rect(x0, top + 2, room, 13, "k-p-none", 2) + "".join(ticks) + window


def _column(axis: _Axis, bottom: float) -> str:
    wide = min(axis.col, 52.0)
    start = max(axis.x(axis.now) - wide / 2, axis.x0 - 13)  # not over the names
    end = axis.x(axis.now) + wide / 2
    return rect(start, axis.top - 30, end - start, bottom - axis.top + 22, "k-p-accent", 3)


def _numbers(axis: _Axis, width: int) -> str:
    """Draw the numbers of the steps; a click goes to that step."""
    widest = t.width(str(axis.last), 11, bold=True) + 8
    every = next(k for k in (1, 2, 5, 10, 20, 50, 100, 500, 1000, 10**9) if k * axis.col >= widest)
    parts = []
    for step in range(axis.first, axis.last + 1):
        near = step != axis.now and abs(step - axis.now) * axis.col < widest
        if (step % every and step != axis.now) or near:
            continue
        kind = "k-c k-mid" + (" k-b k-t-accent" if step == axis.now else "")
        content = word(axis.x(step), axis.top - 17, kind, str(step))
        parts.append(pick(content, f"step/{step}", f"n{step}", f"go to step {step}", pressed=step == axis.now))
    return "".join(parts)


def _short(label: str) -> str:
    """Return an actor's name without most of its domain: gce-pd of kubernetes.io/gce-pd, ebs… of ebs.example.com."""
    driver, _, part = label.partition(" ")
    domain, _, rest = driver.partition("/")
    if "." not in domain:
        return label
    return f"{rest or domain.partition('.')[0] + '…'} {part}".rstrip()


def _lane(frame: f.Frame, lane: f.Lane, axis: _Axis, y: float, width: int, left: float, selection: str, *,
          open_: bool) -> str:
    active = bool(frame.head.actor_id) and lane.actor == frame.head.actor_id
    back = rect(2, y - 9.5, left - 2, 19, "k-p-accent" if active else "k-hit", 4)
    fold = ("▾" if open_ else "▸") if lane.cursors else ""
    room = left - 28
    fits = t.width(lane.label, 11, bold=True) <= room
    name = t.middle(lane.label if fits else _short(lane.label), room, 11, bold=active)
    content = back + word(left - 15, y + 4, "k-z k-live", fold)
    content += word(8, y + 4, "k-b k-t-accent" if active else "", name)
    more = f' aria-expanded="{"true" if open_ else "false"}"' if lane.cursors else ""
    label = f"{lane.label}, {_seen_words(lane, axis.now)}"
    parts = [pick(content, f"lane/{lane.actor}", "name", label, pressed=selection == f"lane/{lane.actor}", more=more)]
    parts.append(_line(axis, y, _seen(lane, axis.now) if lane.cursors else axis.now))
    parts.append(_marks(frame, lane, axis, y, selection))
    if lane.cursors:
        behind = _behind(lane)
        kind = "k-c k-b k-end" if behind else "k-w k-end"
        parts.append(word(width - 6, y + 4, kind, f"{behind} behind" if behind else "up to date"))
    return piece(f"lane-{lane.actor}", "".join(parts))


def _line(axis: _Axis, y: float, seen: int) -> str:
    """Draw what was seen as a solid line, the rest up to the present step as hatching."""
    end, now, start = axis.x(axis.last), axis.x(axis.now), axis.x(axis.first)
    to = axis.x(min(seen, axis.now))
    parts = [path(f"M{num(start)} {num(y)}H{num(end)}", "k-rest")]
    if to > start:
        parts.append(path(f"M{num(start)} {num(y)}H{num(to)}", "k-done"))
    if to < now:
        lines, x = [], to + 3
        while x <= now:
            reach = min(8.0, x - to)  # strokes lean back and must not cross the cursor
            lines.append(f"M{num(x)} {num(y - 4)}l{num(-reach)} {num(reach)}")
            x += 6
        parts.append(path("".join(lines), "k-hatch"))
        parts.append(path(f"M{num(to)} {num(y - 7)}v14", "k-cursor"))
    return "".join(parts)


def _kind(cursor: f.Cursor, axis: _Axis, y: float, width: int) -> str:
    y -= 2
    seen = cursor.position if cursor.pending else axis.now
    name = word(20, y + 3.5, "k-w", t.end(cursor.kind, axis.x0 - 30, 10))
    content = f"{cursor.pending} behind" if cursor.pending else "up to date"
    kind = "k-z k-end k-strong" if cursor.pending else "k-z k-end"
    return name + _line(axis, y, seen) + word(width - 6, y + 3.5, kind, content)


def _marks(frame: f.Frame, lane: f.Lane, axis: _Axis, y: float, selection: str) -> str:
    by_step: dict[int, list[f.Mark]] = {}
    for mark in lane.marks:
        if axis.holds(mark.step):
            by_step.setdefault(mark.step, []).append(mark)
    parts = []
    for step, marks in by_step.items():
        ref = f"mark/{step}/{lane.actor}"
        fit = max(1, int((axis.col - 2) // (2 * _HALF + 1)))
        shown = _gathered(marks, fit)
        start = axis.x(step) - (len(shown) - 1) * (_HALF + 0.5)
        drawn = "".join(
            sign(mark, start + i * (2 * _HALF + 1), y, now=step == frame.head.step, count=count)
            for i, (mark, count) in enumerate(shown)
        )
        wrote = any(m.ref == selection for m in marks) and bool(selection)
        if wrote or ref == selection:
            wide = len(shown) * (2 * _HALF + 1) + 4
            drawn += rect(axis.x(step) - wide / 2, y - 9.5, wide, 19, "k-ring", 4)
        label = "; ".join(map(_mark_words, marks))
        more = ' class="k-later"' if step > frame.head.step else ""
        parts.append(pick(drawn, ref, f"m{step}", f"step {step}, {lane.label}: {label}", pressed=wrote, more=more))
    return "".join(parts)


def _gathered(marks: list[f.Mark], fit: int) -> list[tuple[f.Mark, int]]:
    """Return the marks of one step that have room; the last one counts those left out."""
    wrote = [m for m in marks if m.kind != "note"]
    telling = wrote or marks[:1]  # a write says more than a note beside it
    kept = telling[:fit]
    return [(m, 1) for m in kept[:-1]] + [(kept[-1], len(telling) - len(kept) + 1)]


def sign(mark: f.Mark, x: float, y: float, *, now: bool, count: int = 1) -> str:
    """Draw one mark around (x, y): square, ring, crossed outline or zigzag; a square may stand for `count` writes."""
    on = "k-s-accent" if now else "k-s-ink"
    if mark.kind == "note":
        kind = "k-o k-o-now" if now else "k-o"
        return f'<circle cx="{num(x)}" cy="{num(y)}" r="4.5" class="{kind}"/>'
    if mark.kind == "crash":
        zig = path(f"M{num(x - 9)} {num(y)}l3 -5 3 10 3 -10 3 10 3 -10 3 5", "k-zig")
        return rect(x - 10, y - 7, 20, 14, "k-blank") + zig
    if mark.kind == "refused":
        cross = path(f"M{num(x - 3)} {num(y - 3)}l6 6m0 -6l-6 6", "k-cross")
        return rect(x - 6, y - 6, 12, 12, "k-no", 2) + cross
    letter = LETTERS.get(mark.verb, mark.verb[:1].upper() or "?")
    square = rect(x - _HALF, y - _HALF, 2 * _HALF, 2 * _HALF, f"k-edge {on}", 2.5)
    drawn = square + word(x, y + 3.6, "k-c k-b k-mid k-on", letter)
    return drawn + word(x + 7, y - 4, "k-tiny", str(count)) if count > 1 else drawn


def _legend(frame: f.Frame, width: int) -> tuple[str, float]:
    """Draw the title and what the marks mean, those that occur; return it and its lower edge."""
    marks = [m for lane in frame.lanes for m in lane.marks]
    kinds, verbs = {m.kind for m in marks}, {m.verb for m in marks if m.kind == "write"}
    letters = ", ".join(f"{letter} {verb}" for verb, letter in LETTERS.items() if verb in verbs)
    entries = [("write", f"API write ({letters})" if letters else "API write"), ("note", "only notes")]
    entries.append(("lag", "not seen yet"))
    entries += [("refused", "refused: nothing was written")] * ("refused" in kinds)
    entries += [("crash", "crash and restart")] * ("crash" in kinds)
    if any(m.step > frame.head.step for m in marks):
        entries.append(("later", "known from an earlier visit"))
    title = "Who did what"
    parts = [word(8, 14, "k-b k-soft", title)]
    wide = [t.width(title, 11, bold=True), *(18 + t.width(content, 10) for _, content in entries)]
    places = t.in_lines(wide, 8, width - 6, 10, 16, 14)[1:]
    for (kind, content), (x, mid) in zip(entries, places, strict=True):
        if kind == "lag":
            mark = path(f"M{num(x)} {num(mid - 5)}v10", "k-cursor")
            mark += path("".join(f"M{num(x + 4 + 4 * i)} {num(mid - 3)}l-{3 + i * 2} {3 + i * 2}" for i in range(3)),
                         "k-hatch")
        elif kind == "note":
            mark = sign(f.Mark(0, kind), x + 5, mid, now=False)
        else:
            shown = f.Mark(0, "write" if kind == "later" else kind)
            mark = sign(evolve(shown, verb=" "), 0, 0, now=False)
            mark = f'<g transform="translate({num(x + 6)} {num(mid)}) scale(.75)">{mark}</g>'
            mark = f'<g class="k-later">{mark}</g>' if kind == "later" else mark
        parts.append(mark + word(x + 16, mid + 3.5, "k-w", t.end(content, width - x - 20, 10)))
    return "".join(parts), mid + 12

"""A decoded sentence: its clauses numbered and underlined, a sieve of plugins, and a row of meaning for each clause.

The sieve has a line for each node, through the plugins in the order in which kube-scheduler asks them; a line ends
where a clause stops it, so later counts are lower bounds. It names no node, since the sentence names none. A clause
without a known rule is dashed.
"""

from __future__ import annotations

from collections.abc import Iterator

from kvolsched.views.decode_rows import ClauseRow, DecodedSentence, SieveStage
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import Stack, code, code_lines, letter, number, paragraph
from kvolsched.views.drawing.svg import num, path, pick, picture, rect, rule, word

WIDE, BROAD = 900, 700
"""From these widths on: rule and cause side by side; the command beside them."""
LINE, SIZE = 24.0, 14.0  # of the sentence
MOST_LINES = 14
MANY = 12  # nodes; more of them are a band to scale
SIEVE = 60.0  # height, px
CANNOT = "What the sentence cannot say: which nodes, which zone, which volume."
WITH_DUMP = 'With a dump: kvolsched.Cluster.from_manifests("dump.yaml").why("POD") names them.'


def draw(rows: DecodedSentence, width: int, selection: str = "") -> str:
    """Draw a decoded sentence on a page of `width` px."""
    source = "from the sentence alone" + (f" · order of rules {rows.rules}" if rows.gates else "")
    room = width - t.width(source, 11) - 24 if width >= BROAD else width
    page = Stack()
    page.add(paragraph(0, 2, rows.headline, room, "k-title", 15, bold=True, lines=4))
    if width >= BROAD:
        page.mark(word(width, 16, "k-q k-end", source))
    else:
        page.mark(word(0, page.y + 14, "k-q", source), down=18)
    page.y += 10
    marks, high = _sentence(rows, 14, page.y + 8, width - 28)
    page.mark(rect(0, page.y, width, high + 18, "k-p-none", 6), marks, down=high + 32)
    if rows.gates:
        page.add(_sieve(rows, page.y, width), 16)
    page.add(_table(rows, page.y, width), 2)
    if rows.gates:
        for content, classes in ((CANNOT, "k-m k-b"), (WITH_DUMP, "k-m k-quiet")):
            page.add(paragraph(0, page.y, content, width, classes, 12, bold=classes.endswith("k-b")))
        page.y += 6
    return picture(width, page.y, str(page), rows.headline)


# -- the sentence ---------------------------------------------------------------------------------------------------


def _runs(rows: DecodedSentence) -> Iterator[tuple[str, ClauseRow | None, bool]]:
    """Yield (words, clause, whether the clause begins here) over the sentence, innermost clauses first."""
    owner: list[ClauseRow | None] = [None] * len(rows.sentence)
    for each in rows.clauses:  # a clause within another one follows it
        for at in range(each.start, each.end) if each.start >= 0 else ():
            owner[at] = each
    begun: set[int] = set()
    start = 0
    for at in range(1, len(owner) + 1):
        if at == len(owner) or owner[at] is not owner[start]:
            clause = owner[start]
            first = clause is not None and clause.number not in begun
            if clause is not None:
                begun.add(clause.number)
            yield rows.sentence[start:at], clause, first
            start = at


def _sentence(rows: DecodedSentence, left: float, top: float, room: float) -> tuple[str, float]:
    """Draw the sentence, each clause numbered and underlined; return the marks and their height."""
    parts: list[str] = []
    x, lines = 0.0, 0
    for words, clause, first in _runs(rows):
        bold = clause is not None
        pieces: list[str] = []
        blank, glue = t.width(" ", SIZE, bold=bold), 20.0 if first else 0.0
        for place, piece in enumerate(words.split(" ")):
            gap = blank if place and x else 0.0
            shown = t.middle(piece, room - 24, SIZE, bold=bold)
            wide = t.width(shown, SIZE, bold=bold)
            breaks = bool(place or first)  # a comma stays with the words before it
            if x and shown and breaks and x + gap + glue + wide > room - 8:
                parts.append(_run(clause, pieces, left + x, top + lines * LINE))
                pieces, x, lines, gap = [], 0.0, lines + 1, 0.0
                if lines >= MOST_LINES:
                    more = f"… {len(rows.sentence)} characters in all"
                    parts.append(word(left, top + lines * LINE + 16, "k-q", more))
                    return "".join(parts), LINE * (lines + 1)
            if glue and clause is not None:
                parts.append(_tied(clause, _number(clause, left + x + gap + 8, top + lines * LINE + 11)))
                x, glue = x + gap + 20, 0.0
                gap = 0.0
            pieces.append((" " if gap else "") + shown)
            x += gap + wide
        parts.append(_run(clause, pieces, left + x, top + lines * LINE))
    return "".join(parts), LINE * (lines + 1)


def _run(clause: ClauseRow | None, pieces: list[str], end: float, y: float) -> str:
    """Draw the words of one clause on one line that end at `end`, underlined in the colour of their plugin."""
    content = "".join(pieces)
    bare = content.lstrip(" ")
    if not bare:
        return ""
    wide = t.width(bare, SIZE, bold=clause is not None)
    if clause is None:
        return f'<text x="{num(end - wide)}" y="{num(y + 16)}" class="k-say-s">{t.escape(bare)}</text>'
    ink = "k-quiet" if clause.family == "none" else f"k-t-{clause.family}"
    family = "soft" if clause.family == "none" else clause.family
    under = path(f"M{num(end - wide)} {num(y + 20.5)}h{num(wide)}",
                 f"k-under k-l-{family}" + ("" if clause.known else " k-part"))
    marks = f'<text x="{num(end - wide)}" y="{num(y + 16)}" class="k-say-s k-b {ink}">{t.escape(bare)}</text>{under}'
    return _tied(clause, marks)


def _number(clause: ClauseRow, x: float, y: float) -> str:
    if clause.known:
        return number(x, y, clause.number, clause.family, hollow=not clause.decides)
    return rect(x - 8, y - 8, 16, 16, "k-also k-l-ink k-part", 8) + word(x, y + 3.4, "k-letters", str(clause.number))


def _tied(clause: ClauseRow, marks: str, what: str = "words") -> str:
    return pick(marks, f"clause/{clause.number}", f"{what}{clause.number}", _label(clause),
                more=f' data-tie="c{clause.number}"')


def _label(clause: ClauseRow) -> str:
    """Return a clause and its meaning in words."""
    parts = (f"{clause.number}: {clause.clause}", clause.plugin, clause.rule, clause.cause, clause.command)
    return " · ".join(part for part in parts if part)


# -- the sieve ------------------------------------------------------------------------------------------------------


def _sieve(rows: DecodedSentence, top: float, width: int) -> tuple[str, float]:
    """Draw the nodes as lines through the plugins; each ends where a clause stops it."""
    left, right = (128.0, 126.0) if width >= BROAD else (92.0, 96.0)
    gates = rows.gates
    pitch = (width - left - right) / len(gates)
    placed = [(gate, left + pitch * (place + 0.5)) for place, gate in enumerate(gates)]
    parts, y = [], top + 4.0
    stopping = [(gate, x) for gate, x in placed if gate.most]
    counted = sum(gate.most for gate, _ in stopping)
    through = max(0, rows.size - counted)
    total = max(counted, rows.size, 1)
    step = (SIEVE - 8) / total
    for gate, end, count in (*((gate, x, gate.most) for gate, x in stopping), (None, width - right, through)):
        if not count:
            continue
        ink = f"k-s-{gate.family}" if gate is not None else "k-s-none"
        if total <= MANY:
            thick = min(4.0, step - 1.5)
            bands = "".join(rect(left, y + i * step + (step - thick) / 2, end - left, thick, ink) for i in range(count))
        else:
            bands = rect(left, y, end - left, max(1.5, step * count - 1.5), ink)
        parts.append(_tied_to(gate, bands))
        y += step * count
    for gate, x in placed:
        half = _half(gate, pitch)
        parts.append(rect(x - half - 2, top - 1, 2 * half + 4, SIEVE + 2, "k-blank"))  # stays when its plugin is dimmed
        parts.append(_tied_to(gate, _gate(gate, x, top, half)))
    nodes = "node" if rows.size == 1 else "nodes"
    comes = "comes in" if rows.size == 1 else "come in"
    if width >= BROAD:
        parts.append(word(0, top + 26, "k-h", t.end(f"{rows.size} {nodes} {comes}", left - 8, 12.5, bold=True)))
        parts.append(word(0, top + 41, "k-w", "plugins ask in this order"))
    else:
        parts.append(word(0, top + 26, "k-h", t.end(f"{rows.size} {nodes}", left - 8, 12.5, bold=True)))
        parts.append(word(0, top + 41, "k-w", f"{comes}; the"))
        parts.append(word(0, top + 54, "k-w", "order of asking"))
    parts += _rest(rows, counted, through, width - right + 12, top, right - 12)
    marks, high = _stops(rows, stopping, top + SIEVE, width)
    return "".join(parts) + marks, SIEVE + high


def _rest(rows: DecodedSentence, counted: int, through: int, x: float, top: float, room: float) -> Iterator[str]:
    """Draw at the right how many nodes are left, and whether the counts add up."""
    stopping = [gate.most for gate in rows.gates if gate.most]
    sum_ = f"{' + '.join(map(str, stopping))} = {counted}"
    head, small = f"0 of {rows.size} left", [f"{sum_}, none lost", sum_, "every node counted"]
    if through:
        head, small = f"{through} of {rows.size}", ["in no clause"]
    elif counted > rows.size or any(gate.least != gate.most for gate in rows.gates):
        small = ["a node may have several reasons"]
    elif len(stopping) == 1:
        small = ["all stop there"]
    fitting = (each for each in small if "…" not in "".join(t.wrap(each, room, 10, 2)))
    yield word(x, top + 26, "k-h", t.end(head, room, 12.5, bold=True))
    for i, part in enumerate(t.wrap(next(fitting, small[-1]), room, 10, 2)):
        yield word(x, top + 41 + 13 * i, "k-w", part)


def _half(gate: SieveStage, pitch: float) -> float:
    return min(8.0, pitch / 2 - 2) + bool(gate.most)


def _gate(gate: SieveStage, x: float, top: float, half: float) -> str:
    """Draw one plugin: strong if it stops a node, pale if it does not, dashed if its place is not known."""
    family = gate.family
    if not gate.most:
        ground = rect(x - half, top, 2 * half, SIEVE, f"k-p-{family}", 3)
        return ground + word(x, top + SIEVE / 2 + 4, f"k-letters k-t-{family}", gate.letter)
    if gate.letter == "?":
        ground = rect(x - half, top, 2 * half, SIEVE, "k-also k-l-ink k-part", 3)
        return ground + word(x, top + SIEVE / 2 + 5, "k-letters k-big", gate.letter)
    ground = rect(x - half, top, 2 * half, SIEVE, f"k-s-{family}", 3)
    return ground + word(x, top + SIEVE / 2 + 5, "k-letters k-big k-on", gate.letter)


def _tied_to(gate: SieveStage | None, marks: str) -> str:
    if gate is None or not gate.clauses:
        return f'<g aria-label="{t.escape(gate.plugin)}">{marks}</g>' if gate is not None else marks
    ties = " ".join(f"c{number}" for number in gate.clauses)
    return f'<g data-tie="{ties}" aria-label="{t.escape(f"{gate.plugin} stops {_count(gate)}")}">{marks}</g>'


def _count(gate: SieveStage) -> str:
    return str(gate.most) if gate.least == gate.most else f"{gate.least} to {gate.most}"


def _stops(rows: DecodedSentence, stopping: list[tuple[SieveStage, float]], top: float,
           width: int) -> tuple[str, float]:
    """Draw under each plugin that stops nodes how many, on as many rows as keep the words apart."""
    parts: list[str] = []
    ends: list[float] = []
    before = 0
    for gate, middle in stopping:
        name = gate.plugin if gate.plugin != "?" else "an unknown rule"
        title = f"{_count(gate)} stop{'s' * (gate.most == 1)} at {name}"
        whole = gate is rows.gates[0] and not gate.known and gate.plugin != "?" and gate.most == rows.size
        both = gate.counted - gate.most if gate.least == gate.most and len(gate.clauses) == 2 else 0
        if whole:
            title, small = f"{name} rejects the pod", "in PreFilter: no node is asked"
        elif both:
            small = f"{both} of them {'has' if both == 1 else 'have'} both reasons"
        elif len(stopping) == 1:
            small = "no later plugin is asked"
        elif not before:
            small = "no later plugin is asked about them"
        else:
            small = f"{gate.least} at least: the {before} before may fail here too"
        wide = max(t.width(title, 12, bold=True), t.width(small, 10))
        x = max(wide / 2, min(middle, width - wide / 2))
        row = next((i for i, end in enumerate(ends) if end + 16 <= x - wide / 2), len(ends))
        if row == len(ends):
            ends.append(0.0)
        ends[row] = x + wide / 2
        y = top + 34.0 * row
        family = gate.family
        ink = f"k-t-{family}" if family != "none" else "k-strong"
        thread = path(f"M{num(middle)} {num(top)}V{num(y + 6)}", "k-l-none")
        words = word(x, y + 18, f"k-m k-b k-mid {ink}", title) + word(x, y + 31, "k-w k-mid", small)
        back = rect(x - wide / 2 - 3, y + 6, wide + 6, 28, "k-blank")
        parts.append(thread)
        parts.append(_tied_to(gate, back + words))
        before += gate.most
    return "".join(parts), 34.0 * len(ends) + 4


# -- the rows -------------------------------------------------------------------------------------------------------


def _table(rows: DecodedSentence, top: float, width: int) -> tuple[str, float]:
    """Draw a row for each clause: its words, its rule, its usual cause, what to type next."""
    gap, first = 20.0, 176.0 if width >= BROAD else 150.0
    last = 306.0 if width >= WIDE else 250.0 if width >= BROAD else 0.0
    last = max(last, width * 0.31) if width >= WIDE else last
    room = width - first - gap - (last + gap if last else 0)
    half = (room - gap) / 2 if width >= WIDE else room
    table = Stack(top + 12)
    heads = [(0.0, "clause"), (first + gap, "rule" if width >= WIDE else "rule, usual cause")]
    heads += [(first + 2 * gap + half, "usual cause")] if width >= WIDE else []
    heads += [(width - last, "ask next")] if last else []
    table.mark(*(word(x, table.y, "k-q", name) for x, name in heads), down=8)
    table.mark(rule(0, table.y, width))
    for clause in rows.clauses:
        table.add(_row(clause, table.y + 10, width, first, gap, half, last), 20)
        table.mark(rule(0, table.y, width))
    return str(table), table.y + 10 - top


def _row(clause: ClauseRow, y: float, width: int, first: float, gap: float, half: float,
         last: float) -> tuple[str, float]:
    ink = "k-quiet" if clause.family == "none" else f"k-t-{clause.family}"
    head = _number(clause, 8, y + 8)
    shown = clause.clause if clause.known else f"“{clause.clause}”"
    words, left = paragraph(22, y, shown, first - 22, f"k-m k-b {ink}", 12, bold=True, lines=6)
    if clause.count:
        more, high = paragraph(22, y + left, clause.count, first - 22, "k-q", 11)
        words, left = words + more, left + high
    if clause.letter:
        words += letter(22, y + left + 5, clause.letter, clause.family if clause.family != "none" else "node")
    more, high = paragraph(45 if clause.letter else 22, y + left + 3.5, clause.plugin,
                           first - (45 if clause.letter else 22), "k-q k-strong", 11, lines=3)
    words, left = words + more, left + high + 5
    x = first + gap
    told, high = paragraph(x, y, clause.rule, half, "k-m", 12)
    middle = high
    if width >= WIDE:
        cause, high = paragraph(x + half + gap, y, clause.cause, half, "k-m", 12)
        middle = max(middle, high)
    else:
        cause, high = paragraph(x, y + middle + 4, clause.cause, half, "k-m k-quiet", 12)
        middle += high + 4
    if clause.incidents:
        play = "play " + ", ".join(f'kvolsched.incident("{name}")' for name in clause.incidents)
        wide = 2 * half + gap if width >= WIDE else half
        told_too, high = paragraph(x, y + middle + 4, play, wide, "k-q", 11)
        told, middle = told + told_too, middle + high + 4
    command, high = "", 0.0
    if clause.command:
        at, below, room = (width - last, y, last) if last else (x, y + middle + 6, half)
        high = 15.0 * len(code_lines(clause.command, room - 18)) + 12
        lines, _ = code(at + 9, below + 6, clause.command, room - 18)
        command = pick(rect(at, below, room, high, "k-p-none", 4) + lines, f"command/{clause.number}",
                       f"command{clause.number}", clause.command, more=f' data-tie="c{clause.number}"')
        high = high if last else middle + 6 + high
    elif last:
        command = word(width - last, y + 12, "k-q", "nothing to ask")
    body = _tied(clause, head + words, "row") + f'<g data-tie="c{clause.number}">{told}{cause}</g>{command}'
    return body, max(left, middle, high)

"""A decoded sentence: its clauses numbered and underlined, a sieve of plugins, and a row of meaning for each clause.

The sieve has a line for each node, through the plugins in the order in which kube-scheduler asks them; a line ends
where a clause stops it, so later counts are lower bounds. It names no node, since the sentence names none. A clause
without a known rule is dashed.
"""

from collections.abc import Iterator

from kvolsched.views.decode_rows import ClauseRow, DecodedSentence, SieveStage
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, block, joined, page, row, table, tag, tile, words
from kvolsched.views.drawing.svg import num, path, picture, rect, word

BROAD = 700
"""From this width on words stand beside the sieve."""
MANY = 12  # nodes; more of them are a band to scale
SIEVE = 60.0  # height, px
CANNOT = "What the sentence cannot say: which nodes, which zone, which volume."
WITH_DUMP = 'With a dump: kvolsched.Cluster.from_manifests("dump.yaml").why("POD") names them.'


def draw(rows: DecodedSentence, width: int, selection: str = "") -> str:
    """Return a decoded sentence as a page; its sieve is drawn for `width` px."""
    source = "from the sentence alone" + (f" · order of rules {rows.rules}" if rows.gates else "")
    sieve = Html()
    if rows.gates:
        marks, high = _sieve(rows, 0, width)
        sieve = Html(picture(width, high + 4, marks, rows.headline))
    heads = ("", "clause", "rule", "usual cause", "ask next")
    return page(
        tag("h3", "k-title", rows.headline), block("k-q", source),
        block("k-sentence", *(_run(clause, part, first=first) for part, clause, first in _runs(rows))),
        sieve, table((_row(clause) for clause in rows.clauses), heads),
        *((tag("p", "k-b", CANNOT), tag("p", "k-soft", WITH_DUMP)) if rows.gates else ()),
    )  # fmt: skip


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


def _run(clause: ClauseRow | None, part: str, *, first: bool) -> Html:
    """Return words of one clause, underlined in the colour of their plugin; its number stands before the first."""
    if clause is None:
        return words(part)
    number = joined(_number(clause), " ") if first else ""
    line = "k-b k-under" if clause.known else "k-b k-under k-part"
    return _tied(clause, "span", number, words(part, f"{line} {_ink(clause)}"))


def _ink(clause: ClauseRow) -> str:
    return "k-soft" if clause.family == "none" else f"k-t-{clause.family}"


def _number(clause: ClauseRow) -> Html:
    if not clause.known:
        return tile(str(clause.number), "none", more="k-part")
    return tile(str(clause.number), clause.family, strong=clause.decides)


def _tied(clause: ClauseRow, name: str, *parts: str) -> Html:
    """Return an element that a click on the clause, or on a plugin that it names, does not dim."""
    return tag(name, "", *parts, role="button", data_ref=f"clause/{clause.number}", data_tie=f"c{clause.number}",
               aria_label=_label(clause))


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


def _row(clause: ClauseRow) -> Html:
    """Return the line of a clause: its words and their plugin, its rule, its usual cause, what to type next."""
    shown = tag("b", _ink(clause), clause.clause if clause.known else f"“{clause.clause}”")
    letter = tile(clause.letter, clause.family if clause.family != "none" else "node") if clause.letter else ""
    plugin = block("", letter, words(f" {clause.plugin}", "k-q k-strong"))
    play = "play " + ", ".join(f'kvolsched.incident("{name}")' for name in clause.incidents) if clause.incidents else ""
    command = tag("code", "k-code k-pre", clause.command) if clause.command else words("nothing to ask", "k-q")
    cells = (_number(clause), _tied(clause, "div", shown, block("k-q", clause.count), plugin),
             clause.rule, joined(clause.cause, block("k-q", play)), command)  # fmt: skip
    return row(cells, ("k-short", "k-wide", "k-name", "k-name", "k-name"))

"""A decoded sentence: its clauses numbered and underlined, a sieve of plugins, and a row of meaning for each clause.

The sieve has a line for each node, through the plugins in the order in which kube-scheduler asks them; a line ends
where a clause stops it, so later counts are lower bounds. It names no node, since the sentence names none. A clause
without a known rule is dashed.
"""

import re
from collections.abc import Iterator

from attrs import evolve, frozen

from kvolsched.api.words import counted, listed
from kvolsched.questions.decode import Decoded, DecodedClause
from kvolsched.rules.named import plugin_card, plugin_cards, revision_named
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, block, joined, page, row, table, tag, tile, words
from kvolsched.views.drawing.svg import num, path, picture, rect, word

RULES = "upstream"  # whose order of plugins the sieve has
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
STORAGE = re.compile(r"Volume|PV |provisioner|CSI|attach|storage|in-tree")
BROAD = 700
"""From this width on words stand beside the sieve."""
MANY = 12  # nodes; more of them are a band to scale
SIEVE = 60.0  # height, px
CANNOT = "What the sentence cannot say: which nodes, which zone, which volume."
WITH_DUMP = 'With a dump: kvolsched.Cluster.from_manifests("dump.yaml").why("POD") names them.'


@frozen
class MarkedClause:
    """One clause, with its number from 1, and where it stands in the sentence."""

    number: int
    of: DecodedClause
    start: int  # Where it begins, with the count before it; -1 if it does not stand there as such
    end: int
    letter: str  # Of the plugin; empty for what is no filter plugin
    family: str
    decides: bool  # Whether it says why nodes are rejected, unlike words about preemption or device claims


@frozen
class SieveStage:
    """One filter plugin of the sieve, and how many nodes it stops."""

    plugin: str
    letter: str
    family: str
    least: int = 0  # Nodes that it stops, at least
    most: int = 0  # At most: a node may have several of its reasons
    clauses: tuple[int, ...] = ()  # The numbers of its clauses
    counted: int = 0  # The sum of what its clauses count
    known: bool = True  # Whether it is a plugin of the rules, at its place in their order

    @property
    def count(self) -> str:
        """How many nodes it stops, in words."""
        return str(self.most) if self.least == self.most else f"{self.least} to {self.most}"


@frozen
class MarkedSentence:
    """A decoded sentence as it is drawn."""

    sentence: str
    clauses: tuple[MarkedClause, ...]
    size: int  # The number of nodes that it speaks of, 0 if it does not say
    gates: tuple[SieveStage, ...]  # The filter plugins in their order; empty if the sentence counts no nodes
    headline: str  # What it comes to


def marked(decoded: Decoded) -> MarkedSentence:
    """Find where each clause stands in the sentence, and which plugin stops how many nodes."""
    clauses = _clauses(decoded)
    size = next((each.size for each in decoded if each.size), 0)
    gates = _gates(decoded, clauses, size) if size else ()
    return MarkedSentence(decoded.sentence, clauses, size, gates, _headline(clauses, gates, size))


def draw(decoded: Decoded, width: int, selection: str = "") -> str:
    """Return a decoded sentence as a page; its sieve is drawn for `width` px."""
    rows = marked(decoded)
    source = "from the sentence alone" + (f" · order of rules {RULES}" if rows.gates else "")
    sieve = Html()
    if rows.gates:
        marks, high = _sieve(rows, width)
        sieve = Html(picture(width, high + 4, marks, rows.headline))
    heads = ("", "clause", "rule", "usual cause", "ask next")
    return page(
        tag("h3", "k-title", rows.headline), block("k-q", source),
        block("k-sentence", *(_run(clause, part, first=first) for part, clause, first in _runs(rows))),
        sieve, table((_row(clause) for clause in rows.clauses), heads),
        *((tag("p", "k-b", CANNOT), tag("p", "k-soft", WITH_DUMP)) if rows.gates else ()),
    )  # fmt: skip


def _runs(rows: MarkedSentence) -> Iterator[tuple[str, MarkedClause | None, bool]]:
    """Yield (words, clause, whether the clause begins here) over the sentence, innermost clauses first."""
    owner: list[MarkedClause | None] = [None] * len(rows.sentence)
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


def _run(clause: MarkedClause | None, part: str, *, first: bool) -> Html:
    """Return words of one clause, underlined in the colour of their plugin; its number stands before the first."""
    if clause is None:
        return words(part)
    number = joined(_number(clause), " ") if first else ""
    line = "k-b k-under" if clause.of.known else "k-b k-under k-part"
    return _tied(clause, "span", number, words(part, f"{line} {_ink(clause)}"))


def _ink(clause: MarkedClause) -> str:
    return "k-soft" if clause.family == "none" else f"k-t-{clause.family}"


def _number(clause: MarkedClause) -> Html:
    if not clause.of.known:
        return tile(str(clause.number), "none", more="k-part")
    return tile(str(clause.number), clause.family, strong=clause.decides)


def _tied(clause: MarkedClause, name: str, *parts: str) -> Html:
    """Return an element that a click on the clause, or on a plugin that it names, does not dim."""
    return tag(name, "", *parts, role="button", data_ref=f"clause/{clause.number}", data_tie=f"c{clause.number}",
               aria_label=_label(clause))


def _label(clause: MarkedClause) -> str:
    """Return a clause and its meaning in words."""
    of = clause.of
    parts = (f"{clause.number}: {of.clause}", of.plugin, of.rule, of.cause, of.next_line)
    return " · ".join(part for part in parts if part)


def _sieve(rows: MarkedSentence, width: int) -> tuple[str, float]:
    """Draw the nodes as lines through the plugins; each ends where a clause stops it."""
    left, right = (128.0, 126.0) if width >= BROAD else (92.0, 96.0)
    gates = rows.gates
    pitch = (width - left - right) / len(gates)
    placed = [(gate, left + pitch * (place + 0.5)) for place, gate in enumerate(gates)]
    parts, y = [], 4.0
    stopping = [(gate, x) for gate, x in placed if gate.most]
    counted = sum(gate.most for gate, _ in stopping)
    through = max(0, rows.size - counted)
    total = max(counted, rows.size)
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
        half = min(8.0, pitch / 2 - 2) + bool(gate.most)
        parts.append(rect(x - half - 2, -1, 2 * half + 4, SIEVE + 2, "k-blank"))  # stays when its plugin is dimmed
        parts.append(_tied_to(gate, _gate(gate, x, half)))
    nodes, comes = ("node", "comes in") if rows.size == 1 else ("nodes", "come in")
    if width >= BROAD:
        parts.append(_head(0, left - 8, f"{rows.size} {nodes} {comes}", f"{rows.size} {comes}"))
        parts.append(word(0, 41, "k-w", "plugins ask in this order"))
    else:
        parts.append(_head(0, left - 8, f"{rows.size} {nodes}", str(rows.size)))
        parts.append(word(0, 41, "k-w", f"{comes}; the"))
        parts.append(word(0, 54, "k-w", "order of asking"))
    parts += _rest(rows, counted, through, width - right + 12, right - 12)
    marks, high = _stops(rows, stopping, width)
    return "".join(parts) + marks, SIEVE + high


def _rest(rows: MarkedSentence, counted: int, through: int, x: float, room: float) -> Iterator[str]:
    """Draw at the right how many nodes are left, and whether the counts add up."""
    stopping = [gate.most for gate in rows.gates if gate.most]
    sum_ = f"{' + '.join(map(str, stopping))} = {counted}"
    heads, small = (f"0 of {rows.size} left", "0 left"), [f"{sum_}, none lost", sum_, "every node counted"]
    if through:
        heads, small = (f"{through} of {rows.size}", str(through)), ["in no clause"]
    elif counted > rows.size:
        small = ["a node may have several reasons"]
    elif len(stopping) == 1:
        small = ["all stop there"]
    fitting = (each for each in small if "…" not in "".join(t.wrap(each, room, 10, 2)))
    yield _head(x, room, *heads)
    for i, part in enumerate(t.wrap(next(fitting, small[-1]), room, 10, 2)):
        yield word(x, 41 + 13 * i, "k-w", part)


def _head(x: float, room: float, *heads: str) -> str:
    """Draw the first of these words beside the sieve that has room."""
    fitting = next((head for head in heads if t.width(head, 12.5, bold=True) <= room), heads[-1])
    return word(x, 26, "k-h", t.end(fitting, room, 12.5, bold=True))


def _gate(gate: SieveStage, x: float, half: float) -> str:
    """Draw one plugin: strong if it stops a node, pale if it does not, dashed if its place is not known."""
    family = gate.family
    if not gate.most:
        ground = rect(x - half, 0, 2 * half, SIEVE, f"k-p-{family}", 3)
        return ground + word(x, SIEVE / 2 + 4, f"k-letters k-t-{family}", gate.letter)
    if gate.letter == "?":
        ground = rect(x - half, 0, 2 * half, SIEVE, "k-also k-l-ink k-part", 3)
        return ground + word(x, SIEVE / 2 + 5, "k-letters k-big", gate.letter)
    ground = rect(x - half, 0, 2 * half, SIEVE, f"k-s-{family}", 3)
    return ground + word(x, SIEVE / 2 + 5, "k-letters k-big k-on", gate.letter)


def _tied_to(gate: SieveStage | None, marks: str) -> str:
    if gate is None or not gate.clauses:
        return f'<g aria-label="{t.escape(gate.plugin)}">{marks}</g>' if gate is not None else marks
    ties = " ".join(f"c{number}" for number in gate.clauses)
    return f'<g data-tie="{ties}" aria-label="{t.escape(f"{gate.plugin} stops {gate.count}")}">{marks}</g>'


def _stops(rows: MarkedSentence, stopping: list[tuple[SieveStage, float]], width: int) -> tuple[str, float]:
    """Draw under each plugin that stops nodes how many, on as many rows as keep the words apart."""
    parts: list[str] = []
    ends: list[float] = []
    before = 0
    for gate, middle in stopping:
        name = gate.plugin if gate.plugin != "?" else "an unknown rule"
        title = f"{gate.count} stop{'s' * (gate.most == 1)} at {name}"
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
        y = SIEVE + 34.0 * row
        family = gate.family
        ink = f"k-t-{family}" if family != "none" else "k-strong"
        thread = path(f"M{num(middle)} {num(SIEVE)}V{num(y + 6)}", "k-l-none")
        words = word(x, y + 18, f"k-m k-b k-mid {ink}", title) + word(x, y + 31, "k-w k-mid", small)
        back = rect(x - wide / 2 - 3, y + 6, wide + 6, 28, "k-blank")
        parts.append(thread)
        parts.append(_tied_to(gate, back + words))
        before += gate.most
    return "".join(parts), 34.0 * len(ends) + 4


def _row(clause: MarkedClause) -> Html:
    """Return the line of a clause: its words and their plugin, its rule, its usual cause, what to type next."""
    of = clause.of
    shown = tag("b", _ink(clause), of.clause if of.known else f"“{of.clause}”")
    letter = tile(clause.letter, clause.family if clause.family != "none" else "node") if clause.letter else ""
    plugin = block("", letter, words(f" {of.plugin}", "k-q k-strong"))
    played = ", ".join(f'kvolsched.incident("{name}")' for name in of.incidents_to_play)
    command = tag("code", "k-code k-pre", of.next_line) if of.next_line else words("nothing to ask", "k-q")
    cells = (_number(clause), _tied(clause, "div", shown, block("k-q", of.where), plugin),
             of.rule, joined(of.cause, block("k-q", f"play {played}" if played else "")), command)  # fmt: skip
    return row(cells, ("k-short", "k-wide", "k-name", "k-name", "k-name"))


def _clauses(decoded: Decoded) -> tuple[MarkedClause, ...]:
    found: list[MarkedClause] = []
    at = behind = 0
    for number, of in enumerate(decoded, 1):
        start, end = _place(decoded.sentence, of, at, behind)
        at = end - len(of.clause) + 1 if start >= 0 else at
        behind = at if of.count is None else end
        plugin = of.plugin.partition(", ")[0]
        card = plugin_card(plugin)
        family = card.family if card.letter else "storage" if STORAGE.search(of.plugin) else "none"
        decides = of.part != "preemption" and (bool(card.letter) or plugin not in plugin_cards())
        found.append(MarkedClause(number, of, start, end, card.letter, family if decides else "none", decides))
    return tuple(found)


def _place(sentence: str, of: DecodedClause, at: int, behind: int) -> tuple[int, int]:
    """Return where a clause stands, with its count if that precedes it; (-1, -1) if nowhere.

    `at` is a place behind the beginning of the clause before it, within which it may stand; of two clauses that count,
    the second one stands behind the first, at `behind`.
    """
    for begin in (behind, at) if of.count is not None else (at,):
        start = sentence.find(of.clause, begin)
        if start >= 0:
            before = start - len(f"{of.count} ")
            return before if sentence[before:start] == f"{of.count} " else start, start + len(of.clause)
    return -1, -1


def _gates(decoded: Decoded, clauses: tuple[MarkedClause, ...], size: int) -> tuple[SieveStage, ...]:
    """Return the plugins in their order, with the nodes that each stops; () if no clause counts nodes."""
    named = {of.plugin for of in decoded}
    order = [name for name in revision_named(RULES).profile.filter_names
             if name in named or not plugin_card(name).drawn_if_asked]  # fmt: skip
    gates = {name: SieveStage(name, plugin_card(name).letter, plugin_card(name).family) for name in order}
    whole: list[SieveStage] = []
    for of, clause in zip(decoded, clauses, strict=True):
        if of.size != size or not clause.decides or (of.count is None and not _rejects_the_pod(of)):
            continue
        name, count = of.plugin.partition(", ")[0] or "?", size if of.count is None else of.count
        gate = SieveStage(name, clause.letter or ("?" if not of.known else name[:1]), clause.family, known=False)
        gate = gate if of.count is None else gates.get(name, gate)
        gate = evolve(gate, least=max(gate.least, count), most=gate.most + count, counted=gate.most + count,
                      clauses=(*gate.clauses, clause.number))
        if of.count is None:
            whole = [gate]
        else:
            gates[name] = gate
    if not whole and not any(gate.most for gate in gates.values()):
        return ()
    return _within(size, (*whole, *sorted(gates.values(), key=lambda gate: gate.plugin != "PreFilter")))


def _rejects_the_pod(of: DecodedClause) -> bool:
    """Whether a clause without count stands for every node: PreFilter rejected the pod."""
    return of.known and of.plugin not in ("", "kube-scheduler")


def _within(size: int, gates: tuple[SieveStage, ...]) -> tuple[SieveStage, ...]:
    """Bound what each plugin stops by the number of nodes: one plugin may give a node several reasons."""
    found = []
    every = sum(gate.most for gate in gates) >= size  # else some nodes are in no clause
    for gate in gates:
        others_least = sum(other.least for other in gates if other is not gate)
        others_most = sum(other.most for other in gates if other is not gate)
        most = max(gate.least, min(gate.most, size - others_least))
        least = min(most, max(gate.least, size - others_most)) if every else gate.least
        found.append(evolve(gate, least=least, most=most))
    return tuple(found)


def _headline(clauses: tuple[MarkedClause, ...], gates: tuple[SieveStage, ...], size: int) -> str:
    stopping = sorted((gate for gate in gates if gate.most), key=lambda gate: -gate.most)
    if len(stopping) == 1:
        gate = stopping[0]
        where = gate.plugin if gate.plugin != "?" else "a rule that is not known"
        if gates[0] is gate and not gate.known and gate.least == size and gate.plugin != "?":
            return f"{where} rejects the pod: no node is asked"
        return f"{gate.count.capitalize()} of {counted(size, 'node')} stop{'s' * (gate.most == 1)} at {where}"
    if stopping:
        count = WORDS[len(stopping)] if len(stopping) < len(WORDS) else str(len(stopping))
        shares = [f"{gate.count} at {gate.plugin if gate.plugin != '?' else 'an unknown rule'}" for gate in stopping]
        shares[0] = shares[0].replace(" at ", f" {'node' if stopping[0].most == 1 else 'nodes'} at ", 1)
        return f"{count.capitalize()} plugins share the blame: {', '.join(shares)}"
    writers = list(dict.fromkeys(clause.of.plugin for clause in clauses if clause.of.plugin))
    if clauses[-1].of.cut and not writers:
        return "The sentence was cut before any rule"
    if not writers:
        return "No rule is known for this sentence"
    unknown = sum(not clause.of.known for clause in clauses)
    more = f"; {counted(unknown, 'clause')} not known" if unknown else ""
    return f"A sentence of {listed(writers)}{more}"

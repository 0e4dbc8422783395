"""A decoded sentence as rows: where each clause stands in it, and which plugin stops how many nodes."""

import re

from attrs import evolve

from kvolsched.api.words import counted, listed
from kvolsched.questions.decode import Decoded, DecodedClause
from kvolsched.rules.named import plugin_card, plugin_cards, revision_named
from kvolsched.views.decode_rows import ClauseRow, DecodedSentence, SieveStage

RULES = "upstream"  # whose order of plugins the sieve has
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
STORAGE = re.compile(r"Volume|PV |provisioner|CSI|attach|storage|in-tree")


def rows_of(decoded: Decoded) -> DecodedSentence:
    """Return the rows of a decoded sentence."""
    clauses = _clauses(decoded)
    sizes = [row.size for row in decoded if row.size]
    size = sizes[0] if sizes else 0
    gates = _gates(decoded, clauses, size) if size else ()
    return DecodedSentence(decoded.sentence, _headline(clauses, gates, size), clauses, size, gates, RULES)


def _clauses(decoded: Decoded) -> tuple[ClauseRow, ...]:
    found: list[ClauseRow] = []
    at = 0
    for number, row in enumerate(decoded, 1):
        start, end = _place(decoded.sentence, row, at, found[-1].end if found else 0)
        at = end - len(row.clause) + 1 if start >= 0 else at
        plugin = row.plugin.partition(", ")[0]
        card = plugin_card(plugin)
        family = card.family if card.letter else "storage" if STORAGE.search(row.plugin) else "none"
        decides = row.part != "preemption" and (bool(card.letter) or plugin not in plugin_cards())
        found.append(ClauseRow(
            number, row.clause, start, end, row.where, row.plugin, card.letter, family if decides else "none", row.rule,
            row.cause, row.next_line, decides, row.known, row.incidents_to_play, row.cut,
        ))  # fmt: skip
    return tuple(found)


def _place(sentence: str, row: DecodedClause, at: int, end: int) -> tuple[int, int]:
    """Return where a clause stands, with its count: behind the clause before it, or within it; (-1, -1) if nowhere.

    Args:
        sentence: the sentence.
        row: the clause.
        at: a place behind the beginning of the clause before it.
        end: the end of the clause before it.
    """
    counted = [(f"{row.count} {row.clause}", begin) for begin in (end, at)] if row.count is not None else []
    for words, begin in (*counted, (row.clause, at), (row.clause, at - 1)):
        start = sentence.find(words, max(0, begin))
        if start >= 0:
            return start, start + len(words)
    return -1, -1


def _gates(decoded: Decoded, clauses: tuple[ClauseRow, ...], size: int) -> tuple[SieveStage, ...]:
    """Return the plugins in their order, with the nodes that each stops; () if no clause counts nodes."""
    named = {row.plugin for row in decoded}
    order = [name for name in revision_named(RULES).profile.filter_names
             if name in named or not plugin_card(name).drawn_if_asked]  # fmt: skip
    gates = {name: SieveStage(name, plugin_card(name).letter, plugin_card(name).family) for name in order}
    whole: list[SieveStage] = []
    for row, clause in zip(decoded, clauses, strict=True):
        if row.size != size or not clause.decides or (row.count is None and not _rejects_the_pod(row, decoded)):
            continue
        name, count = row.plugin.partition(", ")[0] or "?", size if row.count is None else row.count
        gate = SieveStage(name, clause.letter or ("?" if not row.known else name[:1]), clause.family, known=False)
        gate = gate if row.count is None else gates.get(name, gate)
        gate = evolve(gate, least=max(gate.least, count), most=gate.most + count, counted=gate.most + count,
                      clauses=(*gate.clauses, clause.number))
        if row.count is None:
            whole = [gate]
        else:
            gates[name] = gate
    if not whole and not any(gate.most for gate in gates.values()):
        return ()
    first = [gate for gate in gates.values() if gate.plugin == "PreFilter"]
    return _within(size, (*whole, *first, *(gate for gate in gates.values() if gate.plugin != "PreFilter")))


def _rejects_the_pod(row: DecodedClause, decoded: Decoded) -> bool:
    """Whether a clause without count stands for every node: PreFilter rejected the pod."""
    uncounted = all(other.count is None for other in decoded if not other.part)
    return row.known and row.plugin not in ("", "kube-scheduler") and uncounted


def _within(size: int, gates: tuple[SieveStage, ...]) -> tuple[SieveStage, ...]:
    """Bound what each plugin stops by the number of nodes: one plugin may give a node several reasons."""
    found = []
    every = sum(gate.most for gate in gates) >= size  # else some nodes are in no clause
    for gate in gates:
        others_least = sum(other.least for other in gates if other is not gate)
        others_most = sum(other.most for other in gates if other is not gate)
        most = max(gate.least, min(gate.most, size - others_least))
        least = min(most, max(gate.least, size - others_most)) if gate.most and every else gate.least
        found.append(evolve(gate, least=least, most=most))
    return tuple(found)


def _headline(clauses: tuple[ClauseRow, ...], gates: tuple[SieveStage, ...], size: int) -> str:
    stopping = sorted((gate for gate in gates if gate.most), key=lambda gate: -gate.most)
    nodes = "node" if size == 1 else "nodes"
    if stopping and len(stopping) == 1:
        gate = stopping[0]
        where = gate.plugin if gate.plugin != "?" else "a rule that is not known"
        if gates[0] is gate and not gate.known and gate.least == size and gate.plugin != "?":
            return f"{where} rejects the pod: no node is asked"
        return f"{_amount(gate).capitalize()} of {size} {nodes} stop{'s' * (gate.most == 1)} at {where}"
    if stopping:
        count = WORDS[len(stopping)] if len(stopping) < len(WORDS) else str(len(stopping))
        shares = [f"{_amount(gate)} at {gate.plugin if gate.plugin != '?' else 'an unknown rule'}" for gate in stopping]
        shares[0] = shares[0].replace(" at ", f" {'node' if stopping[0].most == 1 else 'nodes'} at ", 1)
        return f"{count.capitalize()} plugins share the blame: {', '.join(shares)}"
    writers = list(dict.fromkeys(clause.plugin for clause in clauses if clause.plugin))
    if clauses and clauses[-1].cut and not writers:
        return "The sentence was cut before any rule"
    if not writers:
        return "No rule is known for this sentence" if clauses else "Nothing to decode"
    unknown = sum(not clause.known for clause in clauses)
    more = f"; {counted(unknown, 'clause')} not known" if unknown else ""
    return f"A sentence of {listed(writers)}{more}"


def _amount(gate: SieveStage) -> str:
    return str(gate.most) if gate.least == gate.most else f"{gate.least} to {gate.most}"

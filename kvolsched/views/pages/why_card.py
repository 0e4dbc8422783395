"""The card of `why` as rows of the engine's answer: letters, columns at most seven, names in few words."""

from collections.abc import Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from ...questions.why import Why
from ...questions.why.answer import AlikeNodes, Cell, DemandRow
from ...scheduler.plugins.default_preemption import NEVER, NO_VICTIMS, NOT_HELPFUL
from ..drawing.text import common_start
from ..fill.verdicts import plugin_heads
from ..frame import PluginHead

MAX_COLUMNS = 7  # columns; the smallest groups of more share the last
MAX_DETAILS = 6  # lines on claims below the table
MAX_NAMES = 12  # names in a label
MAX_ROWS = 8  # demands of the minimal set, and of the others; the last ones of more share a row
SMALL_CLUSTER = 200  # nodes; in a larger cluster the search for an edit takes too long for a picture
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
PREEMPTION = {
    NOT_HELPFUL: "with every other pod gone, it would fail there still",
    NO_VICTIMS: "it might help, but no pod there has a lower priority",
    NEVER: "the pod's preemptionPolicy forbids it",
}


@frozen
class CountedClause:
    """A clause of kube-scheduler's sentence, and the columns that it counts."""

    number: int  # Its place in the sentence, from 1
    text: str  # Its words
    family: str  # Of the plugin that rejects these nodes first
    columns: tuple[int, ...]  # Places of columns; a preemption clause has those where it counts most nodes
    preemption: bool = False
    about: str = ""  # What the words mean, for a preemption clause


@frozen
class ColumnRow:
    """Nodes that are judged alike: one node by name, several by their number."""

    title: str  # The first line of the head
    about: str  # The second one
    count: int  # How many nodes
    mark: str  # The letter of the plugin that rejects them first
    family: str
    resolvable: bool
    label: str  # The head in full, with the nodes' names
    clauses: tuple[int, ...]  # Numbers of the clauses that count them


@frozen
class CellRow:
    """One demand on one column: `first` (rejects first, counted), `also` (rejects, not counted), `passes`, `some`."""

    verdict: str
    sides: str  # The first line
    about: str = ""  # The second one
    asked: int | None = None  # An amount
    found: int | None = None  # What is there of it
    clauses: tuple[int, ...] = ()  # Numbers of the clauses that count it
    label: str = field(kw_only=True)  # The cell in full


@frozen
class DemandLine:
    """A demand: what is lacking, with its plugin's letter, and its cell in each column."""

    letter: str
    family: str
    title: str
    about: str
    cells: tuple[CellRow, ...]
    core: bool
    clauses: tuple[int, ...]


@frozen
class NoteRow:
    """A remark below the table: a glyph, the first words in bold, and the rest."""

    glyph: str
    bold: str
    text: str


@frozen
class WhyCard:
    """Why one pod has no node."""

    title: str  # The answer in one sentence
    corner: str  # Rules, and how many kinds the dump lacks
    state: str  # `unschedulable`, `before filtering`, or another state, which has no table
    size: int  # How many nodes there are
    notes: tuple[NoteRow, ...]
    start: str = ""  # The first words of the event
    clauses: tuple[CountedClause, ...] = ()
    columns: tuple[ColumnRow, ...] = ()
    demands: tuple[DemandLine, ...] = ()
    set_title: str = ""  # What the frame around the minimal set says
    set_about: str = ""  # And below that


def card_of(answer: Why) -> WhyCard:
    """Return the card of an answer: with a table if the pod was judged and fits no node, else its sentence alone."""
    corner = f"rules {answer.revision}"
    if answer.missing:
        corner += f" · {len(answer.missing)} kinds not loaded"
    is_small = 0 < answer.size <= SMALL_CLUSTER
    edit = answer.nearest_edit(answer.pod) if answer.nearest_edit and is_small else ""
    notes = tuple(_notes(answer, edit))
    card = WhyCard(answer.title, corner, answer.state, answer.size, notes)
    if answer.state == "unschedulable" and [demand.sort for demand in answer.demands] == ["before filtering"]:
        return _before_filtering(answer, card, _heads(answer))
    if answer.state != "unschedulable" or not answer.groups:
        said = (NoteRow("", "kube-scheduler says:", answer.sentence),) if answer.sentence else ()
        return evolve(card, notes=(*said, *notes))
    heads = _heads(answer)
    groups, folded = _folded(answer.groups)
    demands = (*answer.demands, *answer.also)
    shown = list(zip(groups, folded, strict=True))
    columns = tuple(_column(group, heads, len(rest)) for group, rest in shown)
    rows = tuple(
        _demand(demand, tuple(_cell(demand, group.cells[place], rest, place) for group, rest in shown), heads, answer,
                core=place < len(answer.demands))
        for place, demand in enumerate(demands)
    )  # fmt: skip
    count = len(answer.demands)
    fewer = "neither one does alone" if count == 2 else f"no {NUMBERS.get(count - 1, count - 1)} of them do"
    return evolve(
        card,
        start=answer.start,
        clauses=tuple(_clauses(answer, groups, heads, folds=any(folded))),
        columns=columns,
        demands=(*_shortened(rows[:count]), *_shortened(rows[count:])),
        set_title=f"minimal set: {count} demands" if count > 1 else "one demand alone",
        set_about=f"Together they exclude every node; {fewer}." if count > 1 else "excludes every node.",
    )


def _shortened(rows: Sequence[DemandLine]) -> tuple[DemandLine, ...]:
    """Return at most eight demands: the last of more share a row."""
    if len(rows) <= MAX_ROWS:
        return tuple(rows)
    kept, rest = rows[: MAX_ROWS - 1], rows[MAX_ROWS - 1 :]
    cells = []
    for column in zip(*(row.cells for row in rest), strict=True):
        failing = [row.title for row, cell in zip(rest, column, strict=True) if cell.verdict != "passes"]
        numbers = tuple({number for cell in column for number in cell.clauses})  # in no order
        verdict = "passes" if not failing else "first" if any(cell.verdict == "first" for cell in column) else "some"
        cells.append(CellRow(verdict, f"{len(failing)} of {len(rest)}" if failing else "", clauses=numbers,
                               label=f"fails: {'; '.join(failing)}" if failing else "passes all of these"))  # fmt: skip
    letters = list(dict.fromkeys(row.letter for row in rest))
    about = "; ".join(row.title for row in rest)
    numbers = tuple(sorted({number for row in rest for number in row.clauses}))
    shared = DemandLine(letters[0] if len(letters) == 1 else "…", rest[0].family if len(letters) == 1 else "none",
                          f"{len(rest)} more demands", about, tuple(cells), rest[0].core, numbers)  # fmt: skip
    return (*kept, shared)


def _heads(answer: Why) -> Mapping[str, PluginHead]:
    ordered = sorted({demand.plugin for demand in (*answer.demands, *answer.also)})
    return dict(zip(ordered, plugin_heads(ordered, ordered), strict=True))


def _before_filtering(answer: Why, card: WhyCard, heads: Mapping[str, PluginHead]) -> WhyCard:
    """Return the card of a pod that was rejected before any node was looked at: one column, one row."""
    demand, = answer.demands
    head = heads[demand.plugin]
    words = demand.details[0] if demand.details else demand.words
    nodes = f"{answer.size:,} node{'s' if answer.size != 1 else ''}"
    column = ColumnRow(nodes, "no node was asked", answer.size, head.letter, head.family, False,
                         f"{nodes}: no node was asked", (1,))
    cell = CellRow("first", words, demand.plugin, clauses=(1,), label=f"{demand.plugin}: {demand.words}; {words}")
    about = f"{demand.plugin} · before any node"
    line = DemandLine(head.letter, head.family, demand.title, about, (cell,), True, (1,))
    clause = CountedClause(1, answer.sentence[len(answer.start) :].strip(), head.family, (0,))
    return evolve(
        card, state="before filtering", start=answer.start, clauses=(clause,), columns=(column,),
        demands=(line,), set_title="rejected before filtering", set_about="PreFilter rejects the pod as a whole.",
    )  # fmt: skip


def _folded(groups: Sequence[AlikeNodes]) -> tuple[list[AlikeNodes], list[tuple[AlikeNodes, ...]]]:
    """Return at most seven columns, and for each the groups that share it: the smallest ones share the last."""
    if len(groups) <= MAX_COLUMNS:
        return list(groups), [() for _ in groups]
    largest = sorted(groups, key=lambda group: -len(group.nodes))[: MAX_COLUMNS - 1]
    kept = [group for group in groups if group in largest]
    rest = tuple(group for group in groups if group not in kept)
    nodes = tuple(sorted(name for group in rest for name in group.nodes))
    numbers = tuple(sorted({number for group in rest for number in group.clauses}))
    preempting = tuple(dict.fromkeys(number for group in rest for number in group.preemption))
    shared = evolve(rest[0], nodes=nodes, zones=(), clauses=numbers, preemption=preempting)
    return [*kept, shared], [*(() for _ in kept), rest]


def _column(group: AlikeNodes, heads: Mapping[str, PluginHead], folded: int) -> ColumnRow:
    head = heads[group.first]
    letter, family = (head.letter, head.family) if not folded else ("", "none")
    count = len(group.nodes)
    listed = ", ".join(group.nodes[:MAX_NAMES]) + (f" and {count - MAX_NAMES:,} more" if count > MAX_NAMES else "")
    why = f"rejected first by {group.first}" if not folded else ""
    if folded:
        title, about = f"{count:,} nodes", f"{folded} more groups"
    elif count == 1:
        title, about = group.nodes[0], ", ".join(group.zones)
    else:
        title, about = f"{count:,} nodes", _range_of(group.nodes)
    label = "; ".join(part for part in (f"{count:,} node{'s' if count > 1 else ''}: {listed}", why) if part)
    return ColumnRow(title, about, count, letter, family, group.resolvable, label, group.clauses)


def _range_of(names: Sequence[str]) -> str:
    """Name a few nodes, or the first and the last without what both names begin with."""
    if len(names) <= 3:
        return ", ".join(names)
    first, last = names[0], names[-1]
    cut = common_start(first, last)
    cut = max(map(first[:cut].rfind, "-._")) + 1
    return f"{first} … {last[cut:] or last}"


def _cell(demand: DemandRow, cell: Cell, rest: tuple[AlikeNodes, ...], place: int) -> CellRow:
    if rest:
        failing = sum(len(group.nodes) for group in rest if group.cells[place].verdict != "passes")
        total = sum(len(group.nodes) for group in rest)
        verdict = "passes" if not failing else "some"
        words = "" if not failing else f"{failing:,} of {total:,}" if failing < total else "all"
        return CellRow(verdict, words, label=f"{demand.title}: fails on {failing:,} of {total:,} nodes")
    fate = {"first": "rejects first, counted", "also": "rejects, too, not counted", "passes": "passes"}[cell.verdict]
    sides = cell.sides
    words = sides.evidence or " ".join(filter(None, (str(sides), sides.about)))
    label = f"{demand.plugin}, {demand.title}: {fate}" + (f": {words}" if words else "")
    return CellRow(cell.verdict, str(sides), sides.about, sides.asked, sides.found, cell.clauses, label=label)


def _demand(demand: DemandRow, cells: tuple[CellRow, ...], heads: Mapping[str, PluginHead], answer: Why, *,
            core: bool) -> DemandLine:
    head = heads[demand.plugin]
    where = "every node" if demand.nodes == answer.size else f"{demand.nodes:,} of {answer.size:,} nodes"
    about = f"{demand.plugin} · {where}"
    if demand.alone and demand.nodes != answer.size:
        names = demand.alone[0] if len(demand.alone) == 1 else f"{len(demand.alone):,} nodes"
        about += f" · alone on {names}"
    elif not demand.alone:
        others = _always_beside(demand, answer, heads)
        about += f" · always with {', '.join(others)}" if others else ""
    numbers = tuple(sorted({number for cell in cells for number in cell.clauses}))
    return DemandLine(head.letter, head.family, demand.title, about, cells, core, numbers)


def _always_beside(demand: DemandRow, answer: Why, heads: Mapping[str, PluginHead]) -> list[str]:
    """Return the letters of the demands that fail wherever one fails that never fails alone."""
    demands = (*answer.demands, *answer.also)
    place = demands.index(demand)
    groups = [group for group in answer.groups if group.cells[place].verdict != "passes"]
    beside = (
        heads[other.plugin].letter
        for number, other in enumerate(demands)
        if number != place and all(group.cells[number].verdict != "passes" for group in groups)
    )
    return list(dict.fromkeys(beside))[:3]


def _clauses(answer: Why, groups: Sequence[AlikeNodes], heads: Mapping[str, PluginHead], *,
             folds: bool) -> Iterator[CountedClause]:
    """Yield the clauses; a column that small groups share is only tied to clauses that count no other column."""
    for clause in answer.clauses:
        if clause.preemption:
            places = tuple(place for place, group in enumerate(groups) if group.preemption[:1] == (clause.number,))
            about = PREEMPTION.get(clause.reason, "also with the pods of lower priority gone")
            yield CountedClause(clause.number, clause.text, "none", places, True, about)
            continue
        places = tuple(place for place, group in enumerate(groups) if clause.number in group.clauses)
        own = tuple(place for place in places if place < len(groups) - folds)
        first = next(group.first for group in answer.groups if clause.number in group.clauses)
        yield CountedClause(clause.number, clause.text, heads[first].family, own or places)


def _notes(answer: Why, edit: str) -> Iterator[NoteRow]:
    if edit:
        yield NoteRow("★", "Nearest edit:", f"{edit} (`c.fix` tries it and others)")
    details = [detail for demand in answer.demands for detail in demand.details[demand.sort == "before filtering":]]
    told = ""
    for detail in details[:MAX_DETAILS]:
        yield NoteRow("·", f"{detail.head}:" if detail.head and detail.head != told else "", detail.words)
        told = detail.head
    if len(details) > MAX_DETAILS:
        yield NoteRow("·", "", f"and {len(details) - MAX_DETAILS} more: `.demands` has all `.details`")
    for holding in answer.holdings:
        yield NoteRow("·", f"{holding.left};", holding.holders)
    for note in answer.notes:
        if answer.state == "unschedulable" and note.kind in ("table", "words"):
            continue
        yield NoteRow("△", f"{note.head}:", note.words) if note.kind == "before" else NoteRow("–", "", note)
    if answer.missing:
        kinds = ", ".join(one.about for one in sorted(answer.missing, key=lambda one: one.kind))
        yield NoteRow("?", "Not loaded:", f"{kinds} (`.missing` says what that hides).")

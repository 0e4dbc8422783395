"""The card of `why`: the event's clauses, a column for nodes that are judged alike, a row for each demand.

A framed set of demands is the smallest that excludes every node. What the event counts is a filled cell; clauses,
columns and cells that belong together share a tie. Where columns would be too narrow, the words of a demand stand
above its cells.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

from kvolsched.views.drawing.html import Html, block, joined, page, tag, tile, words
from kvolsched.views.pages.why_card import CellRow, ColumnRow, CountedClause, DemandLine, WhyCard

BESIDE, COLUMN = 230, 88  # px; the least widths of the demands' words and of a column, with the words beside the cells
TO_SCALE = 5  # columns, from which on all nodes are shown to scale
GLYPHS = {"first": "✕", "also": "✕", "passes": "✓", "some": ""}


def draw(card: WhyCard, width: int, selection: str = "") -> Html:
    """Return the card as a page; the words of a demand stand beside its cells if `width` px have room for both."""
    beside = BESIDE + COLUMN * len(card.columns) <= width
    notes = (tag("p", "", words(f"{note.glyph} " if note.glyph else "", "k-q"), tag("b", "", note.bold), " ",
                 words(note.text, "k-q")) for note in card.notes)  # fmt: skip
    uncounted = (_picked(clause, joined(_number(clause.number), words(f" {clause.text}: {clause.about}", "k-q")))
                 for clause in card.clauses if not clause.columns)  # fmt: skip
    return page(
        tag("h3", "k-title", card.title), block("k-q", card.corner),
        *((_sentence(card), _strip(card), _table(card, beside=beside), *uncounted) if card.columns else ()),
        *notes, _legend(card) if card.columns and card.state == "unschedulable" else "",
    )  # fmt: skip


def _sentence(card: WhyCard) -> Html:
    """Return the event: its start, then each clause on a line of its own."""
    lines = (_picked(clause, joined(_number(clause.number, clause.family), " ",
                                    tag("b", f"k-t-{clause.family}", clause.text)))
             for clause in card.clauses if not clause.preemption)  # fmt: skip
    return joined(block("", words("kube-scheduler says ", "k-q"), tag("b", "", card.start)), *lines)


def _picked(clause: CountedClause, body: Html, more: str = "") -> Html:
    """Return a clause that can be selected, tied to the columns that it counts."""
    label = f"clause {clause.number} of the event{', preemption' if clause.preemption else ''}: {clause.text}"
    return tag("div", "", body, role="button", data_ref=f"clause/{clause.number}{more}",
               data_tie=" ".join([f"c{clause.number}", *(f"g{place}" for place in clause.columns)]),
               aria_label=label + (f"; {clause.about}" if clause.about else ""))  # fmt: skip


def _number(number: int, family: str = "") -> Html:
    """Return the number of a clause in a disc; hollow without a family, for preemption."""
    return tile(str(number), family or "none", strong=bool(family), more="k-disc" if family else "k-disc k-part")


def _strip(card: WhyCard) -> Html:
    """Return all nodes to scale, a piece for each column; nothing for few columns."""
    if len(card.columns) < TO_SCALE or card.size <= len(card.columns):
        return Html()
    pieces = (tag("span", f"k-s-{column.family} k-on", f"{column.count:,}", data_tie=_column_tie(place, column),
                  style=f"width:{100 * column.count / card.size:.4g}%") for place, column in enumerate(card.columns))
    return joined(tag("div", "k-bar k-parts", *pieces), block("k-q", f"{card.size:,} nodes, to scale"))


def _column_tie(place: int, column: ColumnRow) -> str:
    return " ".join([f"g{place}", *(f"c{number}" for number in column.clauses)])


def _table(card: WhyCard, *, beside: bool) -> Html:
    """Return the columns' heads, the framed set, the other demands, and what preemption would do."""
    alike = "Nodes that are judged alike share a column" if card.size > len(card.columns) else (
        "Each node stands under the clause that counts it")  # fmt: skip
    heads = [tag("th", "", _head(card, place, column)) for place, column in enumerate(card.columns)]
    span = len(heads) + beside
    framed = [_across(span, tile(card.set_title, "ink", strong=True), words(f" {card.set_about}", "k-q"))]
    others: list[Html] = []
    for number, demand in enumerate(card.demands):
        if not demand.core and not others:
            others.append(_across(span, tag("b", "k-soft", "Also in the way, but not needed to exclude every node")))
        lines = _lines(span, _demand(card, number, demand), _cells(card, number, demand), beside=beside)
        (framed if demand.core else others).extend(lines)
    if evicting := _preemption(card):
        asked = joined(tag("b", "", "preemption"), block("k-q", "would it help to evict pods?"))
        others.extend(_lines(span, asked, evicting, beside=beside))
    named = tag("tr", "", *([tag("th", "", alike)] if beside else []), *heads)
    return tag("table", "k-table k-why", tag("thead", "", named), tag("tbody", "k-core", *framed),
               tag("tbody", "", *others), role="grid")  # fmt: skip


def _across(span: int, *parts: str) -> Html:
    """Return one line over so many columns."""
    return tag("tr", "", tag("td", "", *parts, colspan=str(span)))


def _lines(span: int, said: Html, cells: Iterable[Html], *, beside: bool) -> tuple[Html, ...]:
    """Return a line of cells with its words beside them, or above."""
    if beside:
        return (tag("tr", "", tag("td", "k-wide", said), *cells),)
    return _across(span, said), tag("tr", "k-y-below", *cells)


def _head(card: WhyCard, place: int, column: ColumnRow) -> Html:
    """Return the head of a column: its nodes, and the plugin that rejects them first."""
    mark = f" {'✕' if column.resolvable else '⊘'} {column.mark}" if column.mark else ""
    clauses = (_number(number, column.family) for number in column.clauses[:2])
    dashed = " k-part" if card.state == "before filtering" else ""
    return tag("div", f"k-y-head k-t-{column.family}{dashed}", tag("b", "k-strong", column.title), mark,
               block("k-q", *clauses, " ", column.about), role="button", data_ref=f"nodes/{place}",
               data_tie=_column_tie(place, column), aria_label=column.label)  # fmt: skip


def _demand(card: WhyCard, number: int, demand: DemandLine) -> Html:
    """Return the words of a demand, with its plugin's letter and the clauses that count it."""
    numbers = demand.clauses[:3] if card.state == "unschedulable" else ()
    return tag("div", "", tile(demand.letter, demand.family), " ", tag("b", "", demand.title), " ",
               *(_number(each, demand.family) for each in numbers), block("k-q", demand.about),
               role="button", data_ref=f"demand/{number}", aria_label=f"{demand.title}: {demand.about}",
               data_tie=" ".join([f"d{number}", *(f"c{each}" for each in demand.clauses)]))  # fmt: skip


def _cells(card: WhyCard, number: int, demand: DemandLine) -> Iterator[Html]:
    """Yield the cell of a demand in each column, amounts to the scale of the row."""
    most = max((max(cell.asked or 0, cell.found or 0) for cell in demand.cells if cell.asked is not None), default=0)
    for place, cell in enumerate(demand.cells):
        yield tag("td", "", _cell(demand, cell, card.columns[place], f"{number}/{place}", most))


def _cell(demand: DemandLine, cell: CellRow, column: ColumnRow, at: str, most: int) -> Html:
    """Return both sides: filled if the event counts it, outlined if it would also reject, else a tick."""
    looks = {"first": f"k-s-{demand.family} k-on", "also": f"k-refused k-t-{demand.family}"}.get(cell.verdict, "k-soft")
    glyph = "⊘" if cell.verdict == "first" and not column.resolvable else GLYPHS[cell.verdict]
    row, place = at.split("/")
    sides = words(cell.sides, "k-q") if cell.verdict == "passes" else tag("b", "", cell.sides)
    about = cell.about if cell.verdict in ("first", "also") else ""
    amounts = _bar(cell, most) if cell.asked is not None and most else ""
    ticked = "k-b k-t-ok" if cell.verdict == "passes" else ""
    return tag("div", f"k-side {looks}", words(glyph, ticked), " ", sides, block("k-c", about),
               block(ticked, amounts), role="button", data_ref=f"cell/{at}",
               data_tie=" ".join([f"g{place}", f"d{row}", *(f"c{number}" for number in cell.clauses)]),
               aria_label=f"{column.title}: {cell.label}")  # fmt: skip


def _bar(cell: CellRow, most: int) -> Html:
    """Return what is there as a bar, and what is asked as a tick."""
    there, asked = (f"{100 * min(1.0, (amount or 0) / most):.4g}%" for amount in (cell.found, cell.asked))
    tick = tag("b", "", style=f"left:min({asked},100% - 2px)")
    return tag("div", "k-amounts", tag("i", "", style=f"width:{there}"), tick)


def _preemption(card: WhyCard) -> list[Html]:
    """Return the clauses of preemption, each over the columns where it counts most nodes; none if it counts none."""
    counting = {place: clause for clause in card.clauses if clause.preemption for place in clause.columns}
    cells: list[Html] = []
    seen: set[int] = set()
    for clause, run in groupby(range(len(card.columns) if counting else 0), counting.get):
        places, said = list(run), Html()
        if clause is not None:
            again = clause.number in seen
            seen.add(clause.number)
            text = tag("b", "", f"in the same {clause.text.partition(' ')[0]}" if again else clause.text)
            said = joined(_number(clause.number), " ", text, block("k-q", "" if again else clause.about))
            said = _picked(clause, said, f"/{places[0]}" if again else "")
        cells.append(tag("td", "", said, colspan=str(len(places))))
    return cells


def _legend(card: WhyCard) -> Html:
    """Return what marks mean, in the family of the first demand."""
    family = next((demand.family for demand in card.demands), "node")
    marks = (("✓", "k-p-ok k-t-ok", "passes"), ("✕", f"k-s-{family} k-on", "rejects first (counted in the sentence)"),
             ("⊘", f"k-s-{family} k-on", "the same; removing pods cannot help"),
             ("✕", f"k-refused k-t-{family}", "would also reject (not counted)"),
             ("1", "k-disc k-s-ink k-on", "clause of the sentence"))  # fmt: skip
    bars = any(cell.asked is not None for demand in card.demands for cell in demand.cells)
    named = (tag("span", "", tag("b", f"k-tile {looks}", mark), f" {said}") for mark, looks, said in marks)
    return block("k-flow k-q", *named, "bar: what is there; tick: what is asked" if bars else "")

"""What the pictures of `why` show, as plain rows: the card of one pod, and the causes of many."""

from __future__ import annotations

from attrs import frozen


@frozen
class CountedClause:
    """A clause of kube-scheduler's sentence, and the columns that it counts.

    Args:
        number: its place in the sentence, from 1.
        text: its words.
        family: of the plugin that rejects these nodes first.
        columns: places of columns; a preemption clause has those where it counts most nodes.
        about: what the words mean, for a preemption clause.
    """

    number: int
    text: str
    family: str
    columns: tuple[int, ...]
    preemption: bool = False
    resolvable: bool = True
    about: str = ""


@frozen
class ColumnRow:
    """Nodes that are judged alike: one node by name, several by their number.

    Args:
        title, about: the two lines of the head.
        count: how many nodes.
        mark: the letter of the plugin that rejects them first.
        label: the head in full, with the nodes' names.
        clauses: numbers of the clauses that count them.
    """

    title: str
    about: str
    count: int
    mark: str
    family: str
    resolvable: bool
    label: str
    clauses: tuple[int, ...] = ()


@frozen
class CellRow:
    """One demand on one column: `first` (rejects first, counted), `also` (rejects, not counted), `passes`, `some`.

    Args:
        sides, about: the two lines of the cell.
        asked, found: amounts, or None.
        clauses: numbers of the clauses that count it.
        label: the cell in full.
    """

    verdict: str
    sides: str = ""
    about: str = ""
    asked: int | None = None
    found: int | None = None
    clauses: tuple[int, ...] = ()
    label: str = ""


@frozen
class DemandLine:
    """A demand: what is lacking, with its plugin's letter, and its cell in each column."""

    letter: str
    family: str
    title: str
    about: str
    cells: tuple[CellRow, ...]
    core: bool
    clauses: tuple[int, ...] = ()


@frozen
class NoteRow:
    """A remark below the table: a glyph, the first words in bold, and the rest."""

    glyph: str
    bold: str
    text: str


@frozen
class WhyCard:
    """Why one pod has no node.

    Args:
        title: the answer in one sentence.
        corner: rules, and how many kinds the dump lacks.
        state: `unschedulable`, `before filtering`, or another state, which has no table.
        start: the first words of the event.
        size: how many nodes there are.
        set_title, set_about: what the frame around the minimal set says.
    """

    title: str
    corner: str
    state: str
    start: str = ""
    size: int = 0
    clauses: tuple[CountedClause, ...] = ()
    columns: tuple[ColumnRow, ...] = ()
    demands: tuple[DemandLine, ...] = ()
    set_title: str = ""
    set_about: str = ""
    notes: tuple[NoteRow, ...] = ()


@frozen
class ZoneMarks:
    """The nodes of one zone: the letter of the plugin that rejects first, `✓` would fit, `·` was not asked.

    Args:
        marks: letter, family and the number of nodes, most first.
        nodes: letter, family and name of each node, if they are few.
    """

    zone: str
    marks: tuple[tuple[str, str, int], ...]
    nodes: tuple[tuple[str, str, str], ...] = ()


@frozen
class CauseLine:
    """Pods that wait for one cause.

    Args:
        count: how many pods.
        chips: letter and family of each plugin that takes part.
        title, about: what is lacking, and both sides.
        zones: how the nodes judge the first of these pods.
        edit: the nearest edit for the first of these pods.
        pods: an example, and how many more.
        label: the cause in full, with the pods' names.
    """

    count: int
    chips: tuple[tuple[str, str], ...]
    title: str
    about: str
    zones: tuple[ZoneMarks, ...]
    pods: str
    label: str
    edit: str = ""


@frozen
class CausePage:
    """Why many pods wait: the causes, most pods first, and the letters that stand for plugins."""

    title: str
    corner: str
    causes: tuple[CauseLine, ...] = ()
    letters: tuple[tuple[str, str, str], ...] = ()
    folded: int = 0
    folded_pods: int = 0

"""What the picture of `why` shows, as plain rows: the card of one pod."""

from attrs import frozen


@frozen
class CountedClause:
    """A clause of kube-scheduler's sentence, and the columns that it counts."""

    number: int  # Its place in the sentence, from 1
    text: str  # Its words
    family: str  # Of the plugin that rejects these nodes first
    columns: tuple[int, ...]  # Places of columns; a preemption clause has those where it counts most nodes
    preemption: bool = False
    resolvable: bool = True
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
    clauses: tuple[int, ...] = ()  # Numbers of the clauses that count them


@frozen
class CellRow:
    """One demand on one column: `first` (rejects first, counted), `also` (rejects, not counted), `passes`, `some`."""

    verdict: str
    sides: str = ""  # The first line
    about: str = ""  # The second one
    asked: int | None = None  # An amount
    found: int | None = None  # What is there of it
    clauses: tuple[int, ...] = ()  # Numbers of the clauses that count it
    label: str = ""  # The cell in full


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
    """Why one pod has no node."""

    title: str  # The answer in one sentence
    corner: str  # Rules, and how many kinds the dump lacks
    state: str  # `unschedulable`, `before filtering`, or another state, which has no table
    start: str = ""  # The first words of the event
    size: int = 0  # How many nodes there are
    clauses: tuple[CountedClause, ...] = ()
    columns: tuple[ColumnRow, ...] = ()
    demands: tuple[DemandLine, ...] = ()
    set_title: str = ""  # What the frame around the minimal set says
    set_about: str = ""  # And below that
    notes: tuple[NoteRow, ...] = ()

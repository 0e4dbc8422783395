"""What the picture of `fix` shows, as plain rows: a card for each fix."""

from attrs import frozen

COLUMNS = ("pod", "claim", "volume", "node", "class", "driver")
"""What an edit may touch; driver: CSINode and CSIStorageCapacity, which drivers report and no user writes."""
EDITED, MADE, GONE, AGAIN = "edited", "new", "gone", "replaced"
"""How an object is touched; replaced: deleted and created with other fields."""


@frozen
class LiftedRow:
    """A rejection that the fix lifts."""

    letter: str  # Of the plugin
    family: str  # Of the plugin
    plugin: str
    glyph: str  # ✕, ⊘ if removing pods cannot help, ‖ for a gate
    words: str  # Both sides of the comparison, else the reasons


@frozen
class TouchedObject:
    """An object that the fix touches: its column, how, and its reference."""

    column: str
    how: str
    ref: str


@frozen
class FixOutcome:
    """What happens in the fork: a glyph, the role of its colour, few words; then the bold start and the rest."""

    glyph: str
    role: str
    short: str
    bold: str
    text: str


@frozen
class PlaceRow:
    """Where pods are at the end of a run: a node, or the tray of those that wait."""

    title: str  # The node's name, or "waits"
    pods: tuple[tuple[str, bool], ...]  # Names, each with whether the fix makes a difference to it; those first
    more: int = 0  # How many further pods, on which it has no effect
    kind: str = "node"  # "node", "new" or "tray"


@frozen
class Beside:
    """The cluster without the fix, and the fork beside it: the places that the fix concerns."""

    without: tuple[PlaceRow, ...]
    within: tuple[PlaceRow, ...]  # In the same order
    steps: int  # How long the fork has run
    rest: str = ""  # The places that are left out, in words


@frozen
class FixCard:
    """One fix."""

    number: int  # Its place, as in `fixes[0]`
    words: str  # The edits as an imperative
    decides: str  # The class of advice and who decides: `A restores · operator of the cluster`
    said: tuple[tuple[str, str], ...]  # What to do, what restarts, lost data, how long it lasts, the way back
    node: str  # The node that fits then, in few words; `where` names the node whose rejections are lifted, "" for none
    where: str
    is_new: bool  # That node does not exist yet
    lifted: tuple[LiftedRow, ...]
    touched: tuple[TouchedObject, ...]
    restart: str  # "yes", "no", or who must say: "driver", "machine"
    others: str  # Whom else it concerns, in few words
    outcome: FixOutcome
    notes: tuple[str, ...]
    diff: tuple[str, ...]  # Its lines, without the names of the files
    files: str  # Each file of the diff with its count of lines
    beside: Beside
    code: str  # The same in Python
    can_be_tried: bool = True  # Else nothing in a cluster shows it: a permission, somebody who must be asked


@frozen
class FixTrial:
    """One fix that was tried: the outcome as a sentence, the fork beside, and what happened in full."""

    title: str
    corner: str
    beside: Beside
    outcome: FixOutcome


@frozen
class FixPage:
    """All fixes of a pod; without any, what no edit lifts."""

    title: str  # The answer in one sentence
    corner: str  # How they were tried, by which rules
    cards: tuple[FixCard, ...] = ()
    unmet: tuple[str, ...] = ()  # What no edit lifts, if there are no cards
    refuted: str = ""  # What was tried and does not help

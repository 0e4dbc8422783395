"""What the picture of `fix` shows, as plain rows: a card for each fix."""

from __future__ import annotations

from attrs import frozen

COLUMNS = ("pod", "claim", "volume", "node", "class", "driver")
"""What an edit may touch; driver: CSINode and CSIStorageCapacity, which drivers report and no user writes."""
EDITED, MADE, GONE, AGAIN = "edited", "new", "gone", "replaced"
"""How an object is touched; replaced: deleted and created with other fields."""


@frozen
class LiftedRow:
    """A rejection that the fix lifts.

    Args:
        letter, family: of the plugin.
        plugin: its name.
        glyph: ✕, ⊘ if removing pods cannot help, ‖ for a gate.
        words: both sides of the comparison, else the reasons.
    """

    letter: str
    family: str
    plugin: str
    glyph: str
    words: str


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
    """Where pods are at the end of a run: a node, or the tray of those that wait.

    Args:
        title: the node's name, or "waits".
        pods: names, each with whether the fix makes a difference to it; those first.
        more: how many further pods, on which it has no effect.
        kind: "node", "new" or "tray".
    """

    title: str
    pods: tuple[tuple[str, bool], ...]
    more: int = 0
    kind: str = "node"


@frozen
class Beside:
    """The cluster without the fix, and the fork beside it: the places that the fix concerns.

    Args:
        without, within: places in the same order.
        steps: how long the fork has run.
        rest: the places that are left out, in words.
    """

    without: tuple[PlaceRow, ...]
    within: tuple[PlaceRow, ...]
    steps: int
    rest: str = ""


@frozen
class FixCard:
    """One fix.

    Args:
        number: its place, as in `fixes[0]`.
        words: the edits as an imperative.
        proof: how it was tried.
        node: the node that fits then, in few words; `where` names the node whose rejections are lifted, "" for none.
        is_new: that node does not exist yet.
        restart: "yes", "no", or who must say: "driver", "machine".
        others: whom else it concerns, in few words.
        diff: the lines of the diff without its file names; `files` names each file with its count of lines.
        code: the same in Python.
    """

    number: int
    words: str
    proof: str
    node: str
    where: str
    is_new: bool
    lifted: tuple[LiftedRow, ...]
    touched: tuple[TouchedObject, ...]
    restart: str
    others: str
    outcome: FixOutcome
    notes: tuple[str, ...]
    diff: tuple[str, ...]
    files: str
    beside: Beside
    code: str


@frozen
class FixTrial:
    """One fix that was tried: the outcome as a sentence, the fork beside, and what happened in full."""

    title: str
    corner: str
    beside: Beside
    outcome: FixOutcome


@frozen
class FixPage:
    """All fixes of a pod; without any, what no edit lifts.

    Args:
        title: the answer in one sentence.
        corner: how they were tried, by which rules.
        unmet: what no edit lifts, if there are no cards.
    """

    title: str
    corner: str
    cards: tuple[FixCard, ...] = ()
    unmet: tuple[str, ...] = ()

"""The rows from which the picture of a decoded sentence is drawn: its clauses, and where each plugin stops nodes."""

from __future__ import annotations

from attrs import frozen


@frozen
class ClauseRow:
    """One clause of a sentence.

    Args:
        number: its number, from 1.
        clause: its words.
        start, end: its place in the sentence, with the count before it; -1 if it does not stand there as such.
        count: the words of what it counts, such as "2 of 6 nodes"; may be empty.
        plugin, letter, family: who writes it; the letter is empty for what is no filter plugin.
        rule, cause, command: the rule, its usual cause and the kubectl line that shows more.
        decides: whether it says why nodes are rejected, unlike words about preemption or device claims.
        known: whether the table has it.
        incidents: the names of incidents that show it, the nearest first.
        cut: whether the sentence was cut in it or behind it.
    """

    number: int
    clause: str
    start: int
    end: int
    count: str
    plugin: str
    letter: str
    family: str
    rule: str
    cause: str
    command: str
    decides: bool
    known: bool
    incidents: tuple[str, ...] = ()
    cut: bool = False


@frozen
class SieveStage:
    """One filter plugin of the sieve, and how many nodes it stops.

    Args:
        plugin, letter, family: the plugin.
        least, most: how many nodes it stops; they differ where one node may have several of its reasons.
        clauses: the numbers of its clauses.
        counted: the sum of what its clauses count.
        known: whether it is a plugin of the rules, at its place in their order.
    """

    plugin: str
    letter: str
    family: str
    least: int = 0
    most: int = 0
    clauses: tuple[int, ...] = ()
    counted: int = 0
    known: bool = True


@frozen
class DecodedSentence:
    """A decoded sentence.

    Args:
        sentence: the text.
        headline: what it comes to.
        clauses: its clauses.
        size: the number of nodes that it speaks of, 0 if it does not say.
        gates: the filter plugins in their order; empty if the sentence counts no nodes.
        rules: the name of the rules that have this order.
    """

    sentence: str
    headline: str
    clauses: tuple[ClauseRow, ...]
    size: int = 0
    gates: tuple[SieveStage, ...] = ()
    rules: str = ""

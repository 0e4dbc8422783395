"""The rows from which the picture of a decoded sentence is drawn: its clauses, and where each plugin stops nodes."""

from attrs import frozen


@frozen
class ClauseRow:
    """One clause of a sentence."""

    number: int  # Its number, from 1
    clause: str  # Its words
    start: int  # Where it begins in the sentence, with the count before it; -1 if it does not stand there as such
    end: int  # Where it ends there
    count: str  # The words of what it counts, such as "2 of 6 nodes"; may be empty
    plugin: str  # Who writes it
    letter: str  # Of the plugin; empty for what is no filter plugin
    family: str
    rule: str
    cause: str  # Its usual cause
    command: str  # The kubectl line that shows more
    decides: bool  # Whether it says why nodes are rejected, unlike words about preemption or device claims
    known: bool  # Whether the table has it
    incidents: tuple[str, ...] = ()  # The names of incidents that show it, the nearest first
    cut: bool = False  # Whether the sentence was cut in it or behind it


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


@frozen
class DecodedSentence:
    """A decoded sentence."""

    sentence: str  # The text
    headline: str  # What it comes to
    clauses: tuple[ClauseRow, ...]  # Its clauses
    size: int = 0  # The number of nodes that it speaks of, 0 if it does not say
    gates: tuple[SieveStage, ...] = ()  # The filter plugins in their order; empty if the sentence counts no nodes
    rules: str = ""  # The name of the rules that have this order

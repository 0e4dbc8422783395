"""Rows of answers about turns: differences, explorations, samples."""

from attrs import frozen

from .frame import Mark


@frozen
class ToldTurn:
    """One turn as it is told: its step, who acted, and in words."""

    step: int
    actor: str
    words: str
    mark: Mark | None = None
    decides: bool = False  # Whether the turn is told when not all are
    ringed: bool = False  # Whether the turn is pointed at: a fault, or the one that shows the failure
    behind: int = 0  # First step that its actor had not seen then; 0: it had seen all


@frozen
class DifferenceRow:
    """One field that differs between two clusters; an empty value is a field or object that is not there."""

    ref: str  # The object
    field: str  # Path in the object; "(exists)" if only one of the clusters has it
    left: str = ""  # Value in the first cluster
    right: str = ""  # Value in the second one
    writer: str = ""  # Who wrote it last where the two are no longer alike; empty: nobody since
    step: int = 0  # In which step


@frozen
class DifferentClusters:
    """How two clusters differ: where they part first, the fields, how many more, and what to know before comparing."""

    names: tuple[str, str]
    count: int
    rows: tuple[DifferenceRow, ...]
    notes: tuple[str, ...] = ()
    because: str = ""


@frozen
class Differences:
    """What differs between two clusters at their present places, causes first."""

    names: tuple[str, str]  # What the two are called
    steps: tuple[int, int]  # Their present steps
    alike: int = 0  # Last step up to which both did the same
    then: tuple[str, str] = ("", "")  # What each did next, in words
    rows: tuple[DifferenceRow, ...] = ()  # Sorted by the step that wrote them, bookkeeping last
    because: str = ""  # Where runs under different rules part first, and what to call next


@frozen
class EndBar:
    """One way in which runs end: in words, how often, and whether the goal holds there."""

    words: str
    count: int
    good: bool


@frozen
class SearchRows:
    """What an exploration found: a headline, its size, the turns that lead to a failure, the ends, what is assumed."""

    headline: str  # The cause of a failure, else how the search ended
    good: bool | None  # Whether nothing was found (True), a failure was (False), or the search is not over (None)
    size: str
    turns: tuple[ToldTurn, ...]
    ends: tuple[EndBar, ...]
    ends_title: str
    assumed: tuple[str, ...]
    found: str = ""  # The failure
    turns_title: str = ""  # What the turns are that decide, of how many
    hints: tuple[tuple[str, str], ...] = ()  # What to call next, and what it does


@frozen
class SampleRows:
    """How sampled runs end: whose runs, how many, how many do not reach the goal, and the interval of that share."""

    about: str
    runs: int
    stuck: int
    interval: tuple[float, float]  # Bounds of the share of runs without the goal in [0, 1], at 95 %
    ends: tuple[EndBar, ...]
    reached: str = ""  # In how many runs the goal holds at the end, in words
    how: str = "runs in the natural order, a seed each"  # Which runs

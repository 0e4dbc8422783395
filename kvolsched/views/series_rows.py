"""Rows of the chart of counts over time: panes with lines, each with the points where it changes."""

from attrs import frozen


@frozen
class SeriesPoint:
    """A value from a moment on."""

    time: float  # Seconds
    value: float
    step: int  # The step that led to it


@frozen
class SeriesLine:
    """One line of a pane."""

    cluster: str  # Label of the cluster
    points: tuple[SeriesPoint, ...]  # In order; the first is the start
    part: str = ""  # Which line of its cluster: "published", "driver now"; empty: there is one
    last_step: int = 0  # Steps that are known

    @property
    def name(self) -> str:
        """The line's name: of the cluster, and of the part."""
        return f"{self.cluster} {self.part}".strip()


@frozen
class SeriesPane:
    """One count of all clusters."""

    measure: str  # "running", "cpu held", the reason of an Event, the name of a function
    lines: tuple[SeriesLine, ...]  # In the order of the clusters; empty: there is nothing to count
    unit: str = ""  # "pods", "cores", "GiB"; empty: unknown
    reasons: tuple[str, ...] = ()  # Of counted Events
    has_sum: bool = False  # Whether value × time means something: cores × seconds


@frozen
class SeriesRows:
    """Counts of runs over time, in panes over one axis."""

    clusters: tuple[str, ...]  # Labels; the first is the cluster that was asked
    seeds: tuple[int, ...]
    panes: tuple[SeriesPane, ...]
    until: float = 0.0  # End of the longest run, seconds
    time: float = 0.0  # Where the first cluster is, seconds
    step: int = 0  # Where the first cluster is, steps
    is_at_end: bool = True  # Whether no later step of the first cluster is known
    by_step: bool = False  # Whether the axis counts steps: asked for, or time stands still

"""Rows of the chart of counts over time, from the timelines of clusters."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from ...api.unknown_name import unknown_name
from ...core.core import ClusterCore
from ...questions.series import CPU_HELD, DEFAULT, Wanted, cluster_labels, timelines
from .. import frame as f

AXES = ("time", "steps")


def series(clusters: Sequence[ClusterCore], what: Wanted | Iterable[Wanted] = DEFAULT,
           over: str = "time") -> f.SeriesRows:
    """Return the counts of clusters over time, or over steps if time stands still.

    Raises:
        UnknownName: there is no such measure or axis. It is a ValueError.
    """
    known_axis(over)
    first, found = clusters[0], timelines(clusters, what)
    until = max((line.until for line in found), default=0.0)
    measured = ((name, list(lines)) for name, lines in groupby(found, key=lambda line: line.measure))
    panes = (f.SeriesPane(name, tuple(line for line in lines if line.points), lines[0].unit,
                          tuple(sorted({reason for line in lines for reason, _ in line.reasons})), name == CPU_HELD)
             for name, lines in measured)  # fmt: skip
    return f.SeriesRows(
        clusters=tuple(cluster_labels(clusters)),
        seeds=tuple(cluster.world.seed for cluster in clusters),
        panes=tuple(panes),
        until=until,
        time=first.now,
        step=first.world.step_number,
        is_at_end=first.world.step_number >= first.world.known_steps,
        by_step=over == "steps" or until == 0,
    )


def known_axis(over: str) -> None:
    """Refuse an axis that there is not.

    Raises:
        UnknownName: as the name says.
    """
    if over not in AXES:
        raise unknown_name(f"axis {over!r}", str(over), AXES)

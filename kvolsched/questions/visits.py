"""Visits of volumes: how many volumes were looked at to find one for a claim, as the loop counted them.

The scheduler counts in each pass, the PV controller in each sync of a claim (S0, Performance and Optimizations). The
counts stand in the records of turns: they change no decision and no digest, and going back takes them along.
"""

from typing import NamedTuple

import attrs

from kvolsched.api.notebook_output import NumberedRows, PrintedAnswer, table_text

from ..core.component_names import DISPLAY_NAMES
from ..core.core import ClusterCore
from ..scheduler.loop.scheduling_cycle import PASS


class VisitRow(NamedTuple):
    """Volumes visited in one turn: by which component, for which pod or claim."""

    step: int
    time: float
    component: str
    subject: str
    volumes: int


@attrs.frozen(repr=False)
class Visits(NumberedRows[VisitRow], PrintedAnswer):
    """The turns in which volumes were looked for, in order: every pass of a pod, and every sync that visited some."""

    revision: str
    rows: tuple[VisitRow, ...]

    @property
    def total(self) -> int:
        """How many volumes were visited."""
        return sum(row.volumes for row in self.rows)

    def of(self, component_or_subject: str) -> int:
        """Return how many volumes a component (scheduler, PV controller) visited, or all for a pod or claim.

        >>> import kvolsched
        >>> c = kvolsched.scenario("local-disks")
        >>> _ = c.run()
        >>> c.visits().of("scheduler") <= c.visits().total
        True
        """
        return sum(row.volumes for row in self.rows if component_or_subject in (row.component, row.subject))

    def __repr__(self) -> str:
        table = [(f"step {step}", f"t={time:g} s", component, subject, str(volumes))
                 for step, time, component, subject, volumes in self.rows]
        return "\n".join([f"visits of volumes, rules {self.revision}: {self.total}", *table_text(table)])


def visits(cluster: ClusterCore) -> Visits:
    """Return the visits of volumes up to now."""
    rows = []
    for turn in cluster.world.turns:
        if turn.end <= cluster.world.place and (turn.visits or turn.actor == PASS):
            subject = f"{'pod' if turn.actor == PASS else 'pvc'}/{turn.cause.removeprefix('default/')}"
            component = DISPLAY_NAMES.get(turn.component, turn.component)
            rows.append(VisitRow(turn.step, turn.time, component, subject, turn.visits))
    return Visits(cluster.revision.name, tuple(rows))

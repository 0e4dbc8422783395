"""What provisioners ask drivers about their capacity: class, parameters and segment of each request, and the answer.

Source: S2, Updating capacity information with external-provisioner; external-provisioner v6.3.0 `capacity.go`. The
calls stand in the records of turns: they change no decision and no digest, and going back takes them along.
"""

from collections.abc import Mapping

import attrs

from kvolsched.api.notebook_output import NumberedRows, PrintedAnswer, table_text

from ..api.kinds.quantity import of_bytes
from ..controllers.provisioner import INSTANCE, GetCapacityCall
from ..core.core import ClusterCore
from ..core.pools import storage_of
from ..world.history import Turn

HEAD = ("STEP", "TIME", "DRIVER", "CLASS", "PARAMETERS", "SEGMENT", "ANSWER")
MAX_PRINTED = 40


@attrs.frozen
class GetCapacityRequest:
    """One request to a driver about its capacity.

    Args:
        step: the step in which it was made.
        time: when (simulated, s).
        driver: the driver, with the node on which its provisioner runs if there is one on each.
        storage_class: whose parameters they are; `<ephemeral>` for inline volumes. The request does not have it.
        parameters: those of the class.
        segment: label key -> value of the accessible topology; empty: none was given.
        available: the bytes that the driver answered; None: it failed.
        largest: the bytes of the largest volume; None: not given.
        error: the words of a failure.
    """

    step: int
    time: float
    driver: str
    storage_class: str
    parameters: Mapping[str, str]
    segment: Mapping[str, str]
    available: int | None
    largest: int | None = None
    error: str = ""

    @property
    def answer(self) -> str:
        """The answer in words: `10Gi`, `10Gi, volumes of at most 5Gi`, or the failure."""
        largest = "" if self.largest is None else f", volumes of at most {of_bytes(self.largest)}"
        return self.error if self.available is None else f"{of_bytes(self.available)}{largest}"


@attrs.frozen(repr=False)
class GetCapacityRequests(NumberedRows[GetCapacityRequest], PrintedAnswer):
    """Requests in their order; printed as a table."""

    rows: tuple[GetCapacityRequest, ...]

    def __repr__(self) -> str:
        if not self.rows:
            return "no driver has been asked for its capacity"
        table: list[tuple[str, ...]] = [HEAD]
        for row in self.rows[-MAX_PRINTED:]:
            told = (_pairs(each) or "none" for each in (row.parameters, row.segment))
            table.append((str(row.step), f"{row.time:g} s", row.driver, row.storage_class, *told, row.answer))
        left = len(self.rows) - MAX_PRINTED
        return "\n".join([*table_text(table, 3), *([f"{left} earlier ones are left out"] if left > 0 else [])])


def get_capacity_requests(cluster: ClusterCore, driver: str = "") -> GetCapacityRequests:
    """Return what a driver was asked about its capacity, by default every one, up to now.

    Raises:
        UnknownName: there is no such driver with pools; others are never asked. It is a KeyError.
    """
    if driver:
        storage_of(cluster, driver.partition(INSTANCE)[0])
    turns = (turn for turn in cluster.world.turns if turn.end <= cluster.world.place)
    calls = ((turn, call) for turn in turns for call in turn.calls)
    wanted = (_row(*each) for each in calls if driver in ("", each[1].driver, each[1].driver.partition(INSTANCE)[0]))
    return GetCapacityRequests(tuple(wanted))


def _row(turn: Turn, call: GetCapacityCall) -> GetCapacityRequest:
    answer, segment = call.answer, dict(call.segment)
    asked = (turn.step, turn.time, call.driver, call.storage_class, call.parameters, segment)
    if isinstance(answer, str):
        return GetCapacityRequest(*asked, None, error=answer)
    return GetCapacityRequest(*asked, answer.available, answer.largest)


def _pairs(pairs: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={text}" for key, text in pairs.items())

"""The answers of plugins: status codes, and reasons in Kubernetes' words.

Values only; nothing here judges. A rule returns `OK` or a `Reject`; a column returns the bits of the plugin's reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import attrs
import numpy as np

from ..columns.column import Codes, Mask, RowIndices
from .evidence import Evidence


class Code(IntEnum):
    """A status code with Kubernetes' number and name (framework `Code`, v1.36.2)."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def word(self) -> str:
        """The name in Kubernetes' spelling: `UnschedulableAndUnresolvable`."""
        return "".join(part.capitalize() for part in self.name.split("_"))


@attrs.frozen
class Ok:
    """The node passes."""

    def __bool__(self) -> bool:
        return True


OK = Ok()


@attrs.frozen
class Reject:
    """The node does not pass: all reasons (it may lack cpu and memory), one status, the evidence."""

    reasons: tuple[str, ...]
    status: Code = Code.UNSCHEDULABLE
    evidence: tuple[Evidence, ...] = ()

    def __bool__(self) -> bool:
        return False


@attrs.frozen
class Skip:
    """PreFilter's answer that the plugin has nothing to check for this pod."""


SKIP = Skip()


@attrs.frozen
class PreFilterReject:
    """PreFilter's answer that the pod fits on no node."""

    plugin: str
    code: Code
    message: str


@attrs.frozen
class PreFilterResult:
    """PreFilter's answer that only these nodes are to be filtered."""

    plugin: str
    names: frozenset[str]


class PreFiltered(NamedTuple):
    """What PreFilter makes of a pod: plugins with nothing to check, its rejection, and the nodes that plugins leave."""

    skipped: frozenset[str]
    rejected_by: PreFilterReject | None = None
    restrictions: tuple[PreFilterResult, ...] = ()


@attrs.frozen
class Reason:
    """A reason that a plugin may give, and its bit (0 to 15) in the plugin's column.

    A reason with an empty text only raises the status: a reason may be resolvable on one node and not on another.
    """

    bit: int
    text: str
    status: Code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE

    def where(self, mask: Mask) -> Codes:
        """Return codes that have this reason's bit where the mask is true."""
        return mask * np.uint16(1 << self.bit)

    def reject(self, *evidence: Evidence) -> Reject:
        """Return a rejection with this reason only."""
        return Reject((self.text,), self.status, evidence)


ReasonsAndStatus = tuple[tuple[str, ...], Code]
Legend = Callable[[int], ReasonsAndStatus]
"""What the codes of a column mean."""

PASSES: ReasonsAndStatus = ((), Code.SUCCESS)

_SEVERITY = {Code.SUCCESS: 0, Code.UNSCHEDULABLE: 1, Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 2, Code.ERROR: 3}


def reason_texts(reasons: tuple[Reason, ...], code: int) -> ReasonsAndStatus:
    """Return the texts of the reasons whose bits a code has, in order of their bits, and the most severe status."""
    given = [reason for reason in reasons if code >> reason.bit & 1]
    status = max((reason.status for reason in given), key=_SEVERITY.__getitem__, default=Code.SUCCESS)
    return tuple(reason.text for reason in given if reason.text), status


class FilterCell(NamedTuple):
    """What one plugin says of one node: the code in its column, and what that means."""

    code: int
    answer: ReasonsAndStatus


PASSING_CELL = FilterCell(0, PASSES)


class FilterColumn(NamedTuple):
    """The column of one filter plugin: the plugin's index, its codes by row (None: rejects no node), their meaning.

    `rejects_none` is True if the codes are known to be 0 everywhere.
    """

    place: int
    codes: Codes | None
    legend: Legend
    rejects_none: bool = False

    def cell(self, row: int) -> FilterCell:
        """Return what the plugin says of a row."""
        code = 0 if self.codes is None else int(self.codes[row])
        return FilterCell(code, self.legend(code)) if code else PASSING_CELL

    def with_codes(self, rows: RowIndices, codes: Codes, size: int) -> FilterColumn:
        """Return this column with the codes of some rows; `size` is the number of all rows."""
        found = np.zeros(size, np.uint16) if self.codes is None else self.codes.copy()
        found[rows] = codes
        return FilterColumn(self.place, found, self.legend)

    def with_cell(self, row: int, cell: FilterCell, size: int) -> FilterColumn:
        """Return this column with another answer in one row, renumbered to this column's legend."""
        code, answer = cell
        if self.codes is None and not answer[1]:
            return self
        codes, legend = np.zeros(size, np.uint16) if self.codes is None else self.codes.copy(), self.legend
        if answer[1] and legend(code) != answer:  # take an unused code
            code = int(codes.max()) + 1
        codes[row] = code
        if not answer[1]:
            return FilterColumn(self.place, codes, legend)
        return FilterColumn(self.place, codes, lambda number: answer if number == code else legend(number))

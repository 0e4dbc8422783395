"""What a plugin may answer: the status codes, the reasons in Kubernetes' words, and both sides of the comparison.

Values only; nothing here judges. A rule answers `OK` or a `Reject`; its column answers with the same reasons as bits.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import attrs
import numpy as np

from ..columns.arrays import Codes, Mask


class Code(IntEnum):
    """A status, with Kubernetes' numbers and names (framework `Code`, v1.36.2)."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNSCHEDULABLE_AND_UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def word(self) -> str:
        """The name as Kubernetes writes it: `UnschedulableAndUnresolvable`."""
        return "".join(part.capitalize() for part in self.name.split("_"))


@attrs.frozen
class Evidence:
    """Both sides of one comparison that failed: what was asked, the relation, and what was found."""

    asked: str
    relation: str
    found: str
    values: tuple[Any, Any] = (None, None)

    def __str__(self) -> str:
        return f"{self.asked} {self.relation} {self.found}"


@attrs.frozen
class Ok:
    """The node passes."""

    def __bool__(self) -> bool:
        return True


OK = Ok()


@attrs.frozen
class Reject:
    """The node does not pass: every reason (a node may be short of cpu and memory), one status, the evidence."""

    reasons: tuple[str, ...]
    status: Code = Code.UNSCHEDULABLE
    evidence: tuple[Evidence, ...] = ()

    def __bool__(self) -> bool:
        return False


@attrs.frozen
class Skip:
    """The plugin has nothing to ask of this pod."""


SKIP = Skip()


@attrs.frozen
class PreFilterReject:
    """The pod is rejected before any node is looked at."""

    plugin: str
    code: Code
    message: str


@attrs.frozen
class PreFilterResult:
    """Only these nodes come into question."""

    plugin: str
    names: frozenset[str]


@attrs.frozen
class Reason:
    """One sentence a plugin may give, and the bit (0 to 15) that stands for it in the plugin's column.

    An empty text only raises the status: the same sentence may be resolvable on one node and not on another.
    """

    bit: int
    text: str
    status: Code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE

    def where(self, mask: Mask) -> Codes:
        """Turn a mask over nodes into this reason's bit."""
        return mask * np.uint16(1 << self.bit)

    def reject(self, *evidence: Evidence) -> Reject:
        """Return the rejection for this reason alone."""
        return Reject((self.text,), self.status, evidence)


Said = tuple[tuple[str, ...], Code]
Legend = Callable[[int], Said]

_SEVERITY = {Code.SUCCESS: 0, Code.UNSCHEDULABLE: 1, Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 2, Code.ERROR: 3}


def reason_texts(reasons: tuple[Reason, ...], code: int) -> Said:
    """Return the texts, in order of their bits, and the status that a code of these reasons stands for."""
    given = [reason for reason in reasons if code >> reason.bit & 1]
    status = max((reason.status for reason in given), key=_SEVERITY.__getitem__, default=Code.SUCCESS)
    return tuple(reason.text for reason in given if reason.text), status

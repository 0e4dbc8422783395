"""Groups of rows, by the values of topology keys: what is equal on all nodes of a domain is worked out once for each.

Mutable: groups remember the last mask that they were asked about, and the order of their rows.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Integers, Mask, RowIndices


class Groups:
    """Groups of rows.

    Args:
        at: by row, the number of the row's group.
        size: how many numbers there are.
    """

    __slots__ = ("_by_group", "_ends", "_mask", "_present", "at", "size")

    def __init__(self, at: RowIndices, size: int) -> None:
        self.at = at
        self.size = size
        self._mask: Mask | None = None
        self._present: Mask = np.zeros(0, bool)
        self._by_group: RowIndices | None = None  # the rows in order of their groups
        self._ends: Integers = np.zeros(0, np.int64)

    def present(self, mask: Mask, rows: RowIndices) -> Mask:
        """Return, by group, whether a row of the mask is in it; masks are never modified.

        Args:
            mask: by row, a yes or no.
            rows: the rows of the mask.
        """
        if mask is not self._mask:
            at = self.at if len(rows) == len(mask) else self.at.take(rows)
            self._mask, self._present = mask, np.bincount(at, minlength=self.size) > 0
        return self._present

    def rows_of(self, groups: Iterable[int]) -> RowIndices:
        """Return the rows of some groups, rising; a number that is no group has none."""
        if self._by_group is None:
            self._by_group = np.argsort(self.at, kind="stable")
            self._ends = np.cumsum(np.bincount(self.at, minlength=self.size))
        wanted = sorted({group for group in groups if 0 <= group < self.size})
        parts = [self._by_group[self._ends[group - 1] if group else 0 : self._ends[group]] for group in wanted]
        return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.intp)


def sum_by_group(numbers: NDArray[Any], at: RowIndices, size: int) -> Integers:
    """Return the sums of whole numbers by row, for each group."""
    return np.bincount(at, numbers, size).astype(np.int64)

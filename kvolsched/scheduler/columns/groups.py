"""Groups of rows, by the values of topology keys: what is equal on all nodes of a domain is worked out once for each.

Mutable: groups remember the last mask that they were asked about.
"""

from __future__ import annotations

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

    __slots__ = ("_mask", "_present", "at", "size")

    def __init__(self, at: RowIndices, size: int) -> None:
        self.at = at
        self.size = size
        self._mask: Mask | None = None
        self._present: Mask = np.zeros(0, bool)

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


def sum_by_group(numbers: NDArray[Any], at: RowIndices, size: int) -> Integers:
    """Return the sums of whole numbers by row, for each group."""
    return np.bincount(at, numbers, size).astype(np.int64)

"""Numbering nodes by what a rule reads of them, so that it is asked once for each distinct input.

Each set of rows, and each distinct value of a column, is given a number of 64 well mixed bits; the sum of the numbers
of a row tells which sets it is in. The numbers reach no output: the groups are used within one pass. Mutable.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class DistinctRows:
    """Rows of the node table, told apart by what is noted of them."""

    def __init__(self, size: int) -> None:
        self._sign = np.zeros(size, np.uint64)
        self._seed = 0

    def rows(self, some: Any) -> None:
        """Tell these rows (a mask or numbers) from all others."""
        self._sign[some] += self._next()

    def values(self, column: NDArray[Any]) -> None:
        """Tell rows apart in which a column differs."""
        distinct, code = np.unique(column, return_inverse=True)
        self._sign += np.array([self._next() for _ in distinct], np.uint64)[code]

    def groups(self) -> tuple[NDArray[np.intp], list[int]]:
        """Return, by row, the number of its group, and for each number some row."""
        _, first, groups = np.unique(self._sign, return_index=True, return_inverse=True)
        return groups, first.tolist()

    def _next(self) -> np.uint64:
        """Return the next number (splitmix64)."""
        self._seed += 1
        mask = 2**64 - 1
        mixed = (self._seed * 0x9E3779B97F4A7C15) & mask
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return np.uint64(mixed ^ (mixed >> 31))

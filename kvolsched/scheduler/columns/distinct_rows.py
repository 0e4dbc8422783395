"""Groups of rows with equal inputs, so that a rule is evaluated once per distinct input.

Each added set of rows, and each distinct value of an added column, gets a 64-bit hash; the sum of a row's hashes
identifies its group. The hashes reach no output: groups are used within one pass only. Mutable.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class DistinctRows:
    """The rows of the node table, grouped by the masks and columns that are added. Mutable."""

    def __init__(self, size: int) -> None:
        self._hashes = np.zeros(size, np.uint64)
        self._seed = 0

    def split_by_rows(self, rows: Any) -> None:
        """Separate these rows (a mask or row numbers) from all others."""
        self._hashes[rows] += self._next_hash()

    def split_by_values(self, column: NDArray[Any]) -> None:
        """Separate rows in which a column differs."""
        distinct, code = np.unique(column, return_inverse=True)
        self._hashes += np.array([self._next_hash() for _ in distinct], np.uint64)[code]

    def groups(self) -> tuple[NDArray[np.intp], list[int]]:
        """Return, by row, the number of its group, and by group one of its rows."""
        _, first, groups = np.unique(self._hashes, return_index=True, return_inverse=True)
        return groups, first.tolist()

    def _next_hash(self) -> np.uint64:
        """Return the next number of the splitmix64 generator."""
        self._seed += 1
        mask = 2**64 - 1
        mixed = (self._seed * 0x9E3779B97F4A7C15) & mask
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
        return np.uint64(mixed ^ (mixed >> 31))

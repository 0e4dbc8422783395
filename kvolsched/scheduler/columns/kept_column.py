"""A column kept from pass to pass: only the rows that were written since are computed again.

For values of a row that depend on this row's resources, and on nothing else that changes. Mutable.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..shortcuts import SHORTCUTS

MAX_ROW_BY_ROW = 8  # up to so many rows are computed one by one
ALL_ROWS = slice(None)


class WrittenRows(Protocol):
    """What a node table tells of its changes."""

    @property
    def version(self) -> int: ...
    @property
    def position(self) -> int: ...
    def rows_written_since(self, position: int) -> list[int] | None: ...


class RowWise(NamedTuple):
    """A value of each row that is computed of this row's total and free resources alone.

    Args:
        one: returns the value of one row; None if numbers are so large that only `some` is right.
        some: returns the values of some rows: all of them, or those of an array of row numbers.
    """

    one: Callable[[int], int] | None
    some: Callable[[Any], NDArray[Any]]


class KeptColumn:
    """The values of a `RowWise`, brought up to date when they are read. Mutable."""

    __slots__ = ("_one", "_position", "_some", "_values", "_version")

    def __init__(self, row_wise: RowWise) -> None:
        self._one = row_wise.one
        self._some = row_wise.some
        self._position = self._version = -1
        self._values: NDArray[Any] = np.zeros(0)

    def values(self, nodes: WrittenRows) -> NDArray[Any]:
        """Return the values by row; the array is never modified, and is the same one if no value has changed."""
        position = nodes.position
        if position == self._position and nodes.version == self._version and SHORTCUTS.on:
            return self._values
        rows = nodes.rows_written_since(self._position) if nodes.version == self._version and SHORTCUTS.on else None
        if rows is not None and len(rows) == 1 and self._one is not None:
            self._write_one(rows[0], self._one)
        elif rows is None or 2 * len(rows) > len(self._values):
            self._values = self._some(ALL_ROWS)
        else:
            self._write(sorted(set(rows)))
        self._position, self._version = position, nodes.version
        return self._values

    def _write_one(self, row: int, one: Callable[[int], int]) -> None:
        value = one(row)
        if self._values.item(row) != value:
            self._values = self._values.copy()
            self._values[row] = value

    def _write(self, rows: list[int]) -> None:
        if self._one is not None and len(rows) <= MAX_ROW_BY_ROW:
            found: Any = np.array([self._one(row) for row in rows])
        else:
            found = self._some(np.array(rows, np.intp))
        if (self._values[rows] != found).any():
            self._values = self._values.copy()
            self._values[rows] = found

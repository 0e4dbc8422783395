"""Columns of the node table: a value for each row, the values of a label as codes, groups of rows, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..shortcuts import SHORTCUTS

Mask = NDArray[np.bool_]
"""By row, a yes or no."""
Codes = NDArray[np.uint16]
"""By row, the bits of a plugin's reasons; 0 where the node passes."""
Integers = NDArray[np.int64]
RowIndices = NDArray[np.intp]
"""Row numbers of the node table."""


def distinct_numbers(codes: NDArray[Any]) -> list[int]:
    """Return the different numbers of an array, none below 0, ascending; np.unique would import masked arrays."""
    found: list[int] = np.flatnonzero(np.bincount(codes)).tolist()
    return found


class Column:
    """One value per row; `array` has the rows in use and grows with the table. Mutable."""

    __slots__ = ("_store", "array", "fill")

    def __init__(self, dtype: Any, fill: Any, capacity: int, size: int) -> None:
        self.fill = fill
        self._store = np.full(capacity, fill, dtype)
        self.array: NDArray[Any] = self._store[:size]

    def resize(self, capacity: int, size: int) -> None:
        """Show `size` rows; reallocate if the capacity has grown."""
        if capacity > len(self._store):
            store = np.full(capacity, self.fill, self._store.dtype)
            store[: len(self._store)] = self._store
            self._store = store
        self.array = self._store[:size]

    def copied(self) -> Column:
        """Return an independent copy."""
        return Column.of(self.array.copy(), self.fill)

    @classmethod
    def of(cls, values: NDArray[Any], fill: Any) -> Column:
        """Return a column that uses this array without copying it."""
        column = cls(values.dtype, fill, 0, 0)
        column._store = column.array = values
        return column


class LabelColumn:
    """The values of one label key, as codes: -1 where a node lacks the key. Mutable."""

    __slots__ = ("_code_of", "codes", "key", "values")

    def __init__(self, key: str, codes: Column) -> None:
        self.key = key
        self.codes = codes
        self.values: list[str] = []
        self._code_of: dict[str, int] = {}

    def code(self, value: str) -> int:
        """Return the code of a value, or -2 if no node has had it."""
        return self._code_of.get(value, -2)

    def write(self, row: int, value: str | None) -> None:
        """Set a row's value."""
        if value is None:
            self.codes.array[row] = -1
            return
        code = self._code_of.get(value)
        if code is None:
            code = self._code_of[value] = len(self.values)
            self.values.append(value)
        self.codes.array[row] = code

    def copied(self) -> LabelColumn:
        """Return an independent copy."""
        copy = LabelColumn(self.key, self.codes.copied())
        copy.values, copy._code_of = list(self.values), dict(self._code_of)
        return copy

    def table(self, holds: Callable[[str | None], bool]) -> Mask:
        """Evaluate a predicate once per value; return the results by code, the last one for a missing label."""
        return np.array([*map(holds, self.values), holds(None)], bool)


class Groups:
    """Groups of rows, by the values of topology keys: what is equal in a domain is worked out once for each. Mutable.

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
        """Return, by group, whether a row of the mask is in it; `rows` are those of the mask, never modified."""
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


MAX_ROW_BY_ROW = 8  # up to so many rows are computed one by one
ALL_ROWS = slice(None)


class RowWise(NamedTuple):
    """A value of each row that is computed of this row's total and free resources alone.

    Args:
        one: returns the value of one row; None if numbers are so large that only `some` is right.
        some: returns the values of some rows: all of them, or those of an array of row numbers.
    """

    one: Callable[[int], int] | None
    some: Callable[[Any], NDArray[Any]]


class KeptColumn:
    """The values of a `RowWise`, kept from pass to pass: only rows written since are computed again. Mutable."""

    __slots__ = ("_one", "_position", "_some", "_values", "_version")

    def __init__(self, row_wise: RowWise) -> None:
        self._one = row_wise.one
        self._some = row_wise.some
        self._position = self._version = -1
        self._values: NDArray[Any] = np.zeros(0)

    def values(self, nodes: Any) -> NDArray[Any]:
        """Return the values by row of a node table; the array is never modified, and the same if no value changed."""
        position = nodes.position
        if position == self._position and nodes.version == self._version and SHORTCUTS.on:
            return self._values
        rows = nodes.rows_written_since(self._position) if nodes.version == self._version and SHORTCUTS.on else None
        if rows is not None and len(rows) == 1 and self._one is not None:
            row, value = rows[0], self._one(rows[0])
            if self._values.item(row) != value:
                self._values = self._values.copy()
                self._values[row] = value
        elif rows is None or 2 * len(rows) > len(self._values):
            self._values = self._some(ALL_ROWS)
        else:
            self._write(sorted(set(rows)))
        self._position, self._version = position, nodes.version
        return self._values

    def _write(self, rows: list[int]) -> None:
        if self._one is not None and len(rows) <= MAX_ROW_BY_ROW:
            found: Any = np.array([self._one(row) for row in rows])
        else:
            found = self._some(np.array(rows, np.intp))
        if (self._values[rows] != found).any():
            self._values = self._values.copy()
            self._values[rows] = found

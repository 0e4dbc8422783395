"""One column of the node table: a value for each row, or the values of a label as codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Mask


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

"""The table of a kind in `kubectl get`: its columns, and the function that makes the row of one object.

Mirrors `pkg/printers/internalversion/printers.go` (v1.36.2): pure functions of one object and the time of the request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import attrs

from ..formatting import format_age


@attrs.frozen
class Table:
    """Columns of a kind, those that only `-o wide` shows, and the function that makes a row of an object."""

    columns: tuple[str, ...]
    row: Callable[[Any, datetime], Sequence[str]]
    wide_columns: frozenset[str] = frozenset()

    def shown_columns(self, *, wide: bool) -> list[int]:
        """Return the indices of the columns to print."""
        return [index for index, name in enumerate(self.columns) if wide or name not in self.wide_columns]


def object_age(obj: Any, now: datetime) -> str:
    """Return the AGE of an object."""
    return format_age(obj.metadata.creation_timestamp, now)

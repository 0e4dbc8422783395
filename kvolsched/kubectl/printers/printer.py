"""What kubectl knows of a kind: the columns of its table, the row of an object, and its description.

Mirrors `pkg/printers/internalversion/printers.go` and kubectl's `pkg/describe/describe.go` (v1.36.2): pure functions of
the objects and the time of the request. A simulated cluster has no leases and no quotas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import attrs

from ..formatting import annotation_lines, format_age, label_lines
from .any_kind import describe_any_kind
from .context import DescribeContext


@attrs.frozen
class Printer:
    """Columns of a kind, those that only `-o wide` shows; the functions that make the row and the description."""

    columns: tuple[str, ...]
    row: Callable[[Any, datetime], Sequence[str]]
    describe: Callable[[Any, DescribeContext], Iterator[str]] = describe_any_kind
    wide_columns: frozenset[str] = attrs.field(default=frozenset(), kw_only=True)

    def shown_columns(self, *, wide: bool) -> list[int]:
        """Return the indices of the columns to print."""
        return [index for index, name in enumerate(self.columns) if wide or name not in self.wide_columns]


def object_age(obj: Any, now: datetime) -> str:
    """Return the AGE of an object."""
    return format_age(obj.metadata.creation_timestamp, now)


def name_lines(obj: Any) -> Iterator[str]:
    """Yield the name and namespace of an object's description."""
    yield f"Name:\t{obj.metadata.name}"
    yield f"Namespace:\t{obj.metadata.namespace}"


def metadata_lines(obj: Any) -> Iterator[str]:
    """Yield the labels and annotations of an object's description."""
    yield from label_lines("Labels", obj.metadata.labels)
    yield from annotation_lines("Annotations", obj.metadata.annotations)

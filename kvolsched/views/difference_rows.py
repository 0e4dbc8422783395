"""Rows of what differs between two runs that are shown side by side."""

from __future__ import annotations

from attrs import frozen


@frozen
class DifferenceRow:
    """One field in which an object of two clusters differs, with who wrote it there."""

    ref: str  # The object
    field: str  # Path in the object; "(exists)" if only one of the clusters has it
    left: str = ""  # Value in the first cluster; empty: none
    right: str = ""  # Value in the second one; empty: none
    writer: str = ""  # Who wrote it last where the two are no longer alike; empty: nobody since
    step: int = 0  # In which step


@frozen
class Differences:
    """What differs between two clusters at their present places, causes first."""

    names: tuple[str, str]  # What the two are called
    steps: tuple[int, int]  # Their present steps
    alike: int = 0  # Last step up to which both did the same
    then: tuple[str, str] = ("", "")  # What each did next, in words
    rows: tuple[DifferenceRow, ...] = ()  # Sorted by the step that wrote them, bookkeeping last
    because: str = ""  # Where runs under different rules part first, and what to call next

"""Counts which volumes a pass looks at, and remembers within a pass what was found for a node (S0, Caching).

Remembered findings are dropped when a pass begins and when anything that is seen changes. Neither enters a decision:
with and without, the same volume is found. Mutable.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

from kvolsched.api.kinds.volume import PersistentVolume

Found = TypeVar("Found")


class VolumeVisits:
    """The number of volumes that were looked at since the pass began, and what it has found. Mutable."""

    __slots__ = ("_found", "count")

    def __init__(self) -> None:
        self.count = 0
        self._found: dict[Hashable, Any] = {}

    def begin_pass(self) -> None:
        """Start to count anew, and forget what earlier passes found."""
        self.count = 0
        self._found.clear()

    def forget(self) -> None:
        """Forget what was found: something that is seen has changed."""
        if self._found:
            self._found.clear()

    def counted(self, volumes: Iterable[PersistentVolume]) -> Iterator[PersistentVolume]:
        """Yield volumes, and count each that is looked at."""
        for volume in volumes:
            self.count += 1
            yield volume

    def once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """Return what was found under a key in this pass, or find it now and remember it."""
        if key not in self._found:
            self._found[key] = find()
        found: Found = self._found[key]
        return found

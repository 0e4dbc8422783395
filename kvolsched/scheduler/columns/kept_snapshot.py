"""The snapshot of the contents that were asked for last: that of others is made of it by what differs.

A dump is judged many times: for each question, each fork, each trial of an edit. Frozen values are compared by
identity, so what differs between two contents of 100,000 objects is known in milliseconds, and forks share a snapshot.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from kvolsched.world.log import Key

from .snapshot import Snapshot, snapshot_of


class KeptSnapshot:
    """A snapshot, and the objects that it is of. Mutable; the snapshots that it gives are never changed again."""

    def __init__(self) -> None:
        self._kept: tuple[Mapping[Key, Any], Snapshot] = ({}, Snapshot())

    def of(self, objects: Mapping[Key, Any], moment: str) -> Snapshot:
        """Return the snapshot of these objects; who wants to change it changes its `copied()`.

        Args:
            objects: the API objects by key; the mapping must not change afterwards.
            moment: the time at which plugins judge on it.
        """
        before, found = self._kept
        if before:
            changes = _followed_changes(before, objects)
            if len(changes) > len(objects) // 4:
                found = snapshot_of(objects)
            elif changes:
                found = found.copied()
                for key, old, new in changes:
                    found.apply(key, old, new)
            if changes:
                self._kept = objects, found
        elif objects:
            found = snapshot_of(objects)
            self._kept = objects, found
        view = copy(found)
        view.moment = moment
        view.visits.begin_pass()
        return view

    def __reduce__(self) -> tuple[type[KeptSnapshot], tuple[()]]:
        return KeptSnapshot, ()  # it can be built again: it travels to no other process


def _followed_changes(before: Mapping[Key, Any], after: Mapping[Key, Any]) -> list[tuple[Key, Any, Any]]:
    """Return the objects that a snapshot follows and that differ, with both values."""
    changes = [(key, before.get(key), new) for key, new in after.items() if before.get(key) is not new]
    changes += [(key, old, None) for key, old in before.items() if key not in after]
    return [change for change in changes if change[0].kind in Snapshot.follows]

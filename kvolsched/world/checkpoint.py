"""A whole world put away and taken out again, without its past: what searching many worlds needs.

A snapshot holds contents, what every component has seen, and the tail of the log behind the slowest cursor. Taking it
out moves every view by the net differences, which is what a delivery does too. The history of steps is not kept,
nor, of a component that lists anew, since when there is something to see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from .component import WORLD, Process
from .digest import IncrementalDigest
from .log import Change, Key, Log, Note


@attrs.frozen(eq=False)
class Checkpoint:
    """A world at one place: nothing in it is shared with a world that moves."""

    objects: Mapping[Key, Any]
    notes: Mapping[Note, Any]
    seen: Mapping[str, Mapping[str, Mapping[Key, Any]]]
    pending: Mapping[str, Mapping[str, int]]
    tail: tuple[Change, ...]
    place: int


Processes = Mapping[str, Process]
NOTHING_SEEN: Mapping[str, Mapping[Key, Any]] = {}  # what a component has seen that does not listen yet


def take_checkpoint(log: Log, processes: Processes, like: Checkpoint | None = None) -> Checkpoint:
    """Put the present place away; what is as in `like` is shared with it."""
    seen: dict[str, Mapping[str, Mapping[Key, Any]]] = {}
    slowest = log.place
    for name, process in processes.items():
        if not process.watching:
            seen[name] = NOTHING_SEEN
            continue
        before = like.seen[name] if like is not None else {}
        kinds: dict[str, Mapping[Key, Any]] = {}
        for kind, objects in process.seen.kinds.items():
            old = before.get(kind)
            kinds[kind] = old if old is not None and _same(old, objects) else dict(objects)
        seen[name] = kinds
        for kind, place in process.pending.items():
            if log.notes.get(process.cursors[kind], 0):
                slowest = min(slowest, place)
    pending = {name: dict(process.pending) for name, process in processes.items()}
    tail = tuple(log.changes[slowest - log.base :])
    return Checkpoint(dict(log.objects), dict(log.notes), seen, pending, tail, log.place)


def restore_checkpoint(log: Log, processes: Processes, sums: IncrementalDigest | None, snapshot: Checkpoint) -> None:
    """Take a snapshot out again: contents, what is seen, views by the net differences, and the digest's sums."""
    objects = _differences(log.objects, snapshot.objects)
    notes = _differences(log.notes, snapshot.notes)
    log.restore(snapshot.objects, snapshot.notes, snapshot.tail, snapshot.place)
    for name, process in processes.items():
        if process.watching or snapshot.seen[name] is not NOTHING_SEEN:
            for kind, here in process.seen.kinds.items():
                for key, old, new in _differences(here, snapshot.seen[name].get(kind, NOTHING_SEEN)):
                    process.apply_seen(kind, key, old, new)
        if process.activation is not None:
            process.rebuild_condition([*objects, *(change for change in notes if change[0][0] == WORLD)])
        process.pending.clear()
        process.pending.update(snapshot.pending[name])
    for note, old, new in notes:
        owner = processes.get(note[0])
        if owner is not None and note[1] != "cursor":
            owner.on_note_change(note, old, new)
    if sums is not None:
        for key, _, _ in (*objects, *notes):
            sums.mark_changed(key)


def _same(old: Mapping[Key, Any], new: Mapping[Key, Any]) -> bool:
    return len(old) == len(new) and all(old.get(key) is obj for key, obj in new.items())


def _differences(now: Mapping[Any, Any], wanted: Mapping[Any, Any]) -> list[tuple[Any, Any, Any]]:
    """Return (key, old, new) of every key whose value is another."""
    found = [(key, old, wanted.get(key)) for key, old in now.items() if wanted.get(key) is not old]
    found += [(key, None, new) for key, new in wanted.items() if key not in now]
    return found

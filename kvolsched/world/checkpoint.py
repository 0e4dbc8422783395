"""Checkpoints: a world is saved without its past and restored, so that a search can visit many worlds.

A checkpoint holds the contents, what every component has seen, and the tail of the log from the slowest cursor on.
Restoring applies the net differences to every view, as a delivery does. The history of steps is not kept, nor, for a
component that must list again, the position of its oldest pending change.
"""

from collections.abc import Callable, Mapping
from operator import is_
from typing import Any

import attrs

from .component import WORLD, Process
from .digest import IncrementalDigest
from .log import Change, Key, Log, Note


@attrs.frozen(eq=False)
class Checkpoint:
    """A world at one position of its log, sharing nothing mutable with a running world."""

    objects: Mapping[Key, Any]
    notes: Mapping[Note, Any]
    seen: Mapping[str, Mapping[str, Mapping[Key, Any]]]
    pending: Mapping[str, Mapping[str, int]]
    tail: tuple[Change, ...]
    place: int


Processes = Mapping[str, Process]
NOTHING_SEEN: Mapping[str, Mapping[Key, Any]] = {}  # what a component has seen that does not watch yet


def take_checkpoint(log: Log, processes: Processes, previous: Checkpoint | None = None) -> Checkpoint:
    """Return a checkpoint of the present position, sharing unchanged parts with a previous one."""
    seen: dict[str, Mapping[str, Mapping[Key, Any]]] = {}
    slowest = log.place
    for name, process in processes.items():
        if not process.watching:
            seen[name] = NOTHING_SEEN
            continue
        before = previous.seen[name] if previous is not None else {}
        kinds: dict[str, Mapping[Key, Any]] = {}
        for kind, objects in process.seen.kinds.items():
            old = before.get(kind)
            if old is not None and len(old) == len(objects) and all(map(is_, map(old.get, objects), objects.values())):
                kinds[kind] = old
            else:
                kinds[kind] = dict(objects)
        seen[name] = kinds
        for kind, place in process.pending.items():
            if log.notes.get(process.cursors[kind], 0):
                slowest = min(slowest, place)
    pending = {name: dict(process.pending) for name, process in processes.items()}
    tail = tuple(log.changes[slowest - log.base :])
    return Checkpoint(dict(log.objects), dict(log.notes), seen, pending, tail, log.place)


def restore_checkpoint(log: Log, processes: Processes, digest: IncrementalDigest | None, saved: Checkpoint,
                       redefine: Callable[[], set[str]], present: Checkpoint | None = None) -> None:
    """Restore contents, what is seen, views and digest from a checkpoint by applying the net differences.

    `redefine` builds the processes anew whose rules differ, and returns their names. If the world is at a checkpoint,
    `present`, what both checkpoints share is not compared.
    """
    objects = _differences(log.objects, saved.objects)
    notes = _differences(log.notes, saved.notes)
    log.restore(saved.objects, saved.notes, saved.tail, saved.place)
    built = redefine()
    for name, process in processes.items():
        if name in built:
            process.pending = dict(saved.pending[name])
            continue
        if process.watching or saved.seen[name] is not NOTHING_SEEN:
            at = present.seen[name] if present is not None else NOTHING_SEEN
            for kind, seen in process.seen.kinds.items():
                if kind in at and at[kind] is saved.seen[name].get(kind):
                    continue
                for key, old, new in _differences(seen, saved.seen[name].get(kind, NOTHING_SEEN)):
                    process.apply_seen(kind, key, old, new)
        if process.activation is not None:
            process.apply_to_condition([*objects, *(change for change in notes if change[0][0] == WORLD)])
        process.pending.clear()
        process.pending.update(saved.pending[name])
    for note, old, new in notes:
        owner = processes.get(note[0])
        if owner is not None and note[1] != "cursor" and note[0] not in built:
            owner.on_note_change(note, old, new)
    if digest is not None:
        for key, _, _ in (*objects, *notes):
            digest.mark_changed(key)
        digest.mark_seen()


def _differences(now: Mapping[Any, Any], wanted: Mapping[Any, Any]) -> list[tuple[Any, Any, Any]]:
    """Return (key, old, new) of every key whose values differ."""
    found = [(key, old, wanted.get(key)) for key, old in now.items() if wanted.get(key) is not old]
    found += [(key, None, new) for key, new in wanted.items() if key not in now]
    return found

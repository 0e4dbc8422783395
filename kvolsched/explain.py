"""What happened and why, in words: the story of an object, what a change changed, and how two clusters differ.

Everything here is read from the log and the objects; nothing is stored for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from .api import manifest
from .cluster import Cluster, key_for
from .scheduler.cycle import PASS, SCHEDULER, PassNote
from .scheduler.framework import Judgement, Ranking, judge, rank
from .world.apiserver import ref
from .world.log import Change, Key, Note
from .world.history import Turn

UNTOLD = frozenset({"cursor", "clock", "gone", "pass"})  # bookkeeping that no story needs

UNTOLD_FIELDS = ("metadata.resourceVersion", "].type")  # versions are no meaning; a condition's type is in its path


@attrs.frozen
class FieldChange:
    """One field that differs: its path as in the manifest, and both values ("" for absent)."""

    path: str
    old: str
    new: str

    def __str__(self) -> str:
        if not self.old:
            return f"{self.path}: {self.new}"
        return f"{self.path}: {self.old} → {self.new or 'none'}"


@attrs.frozen
class StoryRow:
    """One turn that concerned the object."""

    step: int
    time: float
    actor: str
    words: str
    changed: tuple[str, ...]


@attrs.frozen(repr=False)
class Story:
    """Everything that happened to one object, in order."""

    about: str
    rows: tuple[StoryRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[StoryRow]:
        return iter(self.rows)

    def __repr__(self) -> str:
        lines = [f"story of {self.about}: {len(self.rows)} turns"]
        for row in self.rows:
            lines.append(f"{row.step:>4}  t={row.time:<5g}  {row.actor}: {row.words}")
            lines += [f"{'':>15}{change}" for change in row.changed]
        return "\n".join(lines)


@attrs.frozen(repr=False)
class Diff:
    """How two clusters differ: per object the fields, with the value of each."""

    names: tuple[str, str]
    rows: tuple[tuple[str, FieldChange], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        if not self.rows:
            return f"{self.names[0]} and {self.names[1]}: the same objects"
        lines = [f"{self.names[0]} against {self.names[1]}"]
        for about, change in self.rows:
            lines.append(f"{about}  {change.path}: {change.old or 'none'} | {change.new or 'none'}")
        return "\n".join(lines)


def story(cluster: Cluster, reference: str) -> Story:
    """Tell every turn up to now that changed an object, or what a component noted about it."""
    key = key_for(reference)
    rows = []
    for turn in cluster.world.turns:
        if turn.end > cluster.world.place or turn.quiet:
            continue
        concerned = [change for change in changes_of(cluster, turn) if concerns(change, key)]
        if concerned:
            told = tuple(words for change in concerned for words in words_of(change))
            rows.append(StoryRow(turn.step, turn.time, turn.actor or turn.component, turn.words, told))
    return Story(ref(key), tuple(rows))


def changes_of(cluster: Cluster, turn: Turn) -> Sequence[Change]:
    """Return the changes that one turn made."""
    log = cluster.world.log
    return log.changes[turn.start - log.base : turn.end - log.base]


def concerns(change: Change, key: Key) -> bool:
    """Say whether a change is one of this object, or of what a component remembers about it."""
    place = change.key
    if isinstance(place, Key):
        if place.kind == "Event":
            about = (change.new or change.old).involved_object
            return (about.kind, about.namespace, about.name) == tuple(key)
        return place == key
    names = {"/".join(key)}
    if key.kind == "Pod":
        names.add(f"{key.namespace}/{key.name}")
    return place.sort not in UNTOLD and not place.sort.startswith(("todo", "plan")) and place.name in names


def words_of(change: Change) -> list[str]:
    """Return what a change changed, a line a field; a note says whose it is."""
    place = change.key
    if isinstance(place, Note):
        return [f"{place.component} {place.sort}: {_note(change.old)} → {_note(change.new)}"]
    if place.kind == "Event":
        event = change.new or change.old
        return [f"event {event.reason}: {event.message}"]
    if change.old is None or change.new is None:
        return [f"{ref(place)} {'created' if change.old is None else 'gone'}"]
    return [str(field) for field in changed_fields(change.old, change.new)]


def _note(value: Any) -> str:
    """Return a note's value in a few words."""
    if value is None:
        return "none"
    part = getattr(value, "part", None) or getattr(value, "stage", None)
    if part:
        return str(part)
    kind = getattr(value, "kind", None)
    if kind == "Pod":
        return f"on {value.spec.node_name}"
    if kind == "PersistentVolume":
        return f"claimRef {value.spec.claim_ref.name}" if value.spec.claim_ref else "no claimRef"
    if kind == "PersistentVolumeClaim":
        chosen = [v for k, v in value.metadata.annotations.items() if "selected" in k]
        return f"selected-node {chosen[0]}" if chosen else "no selected-node"
    return str(value) if isinstance(value, int | float | str) else type(value).__name__.lower()


def changed_fields(old: Any, new: Any) -> list[FieldChange]:
    """Return the fields in which two objects differ (either may be None), by path."""
    before = dict(_flat(manifest.to_plain(old))) if old is not None else {}
    after = dict(_flat(manifest.to_plain(new))) if new is not None else {}
    return [
        FieldChange(path, before.get(path, ""), after.get(path, ""))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path) and not path.endswith(UNTOLD_FIELDS)
    ]


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            inner = f"{path}[{key}]" if "." in key or "/" in key else f"{path}.{key}" if path else str(key)
            yield from _flat(item, inner)
    elif isinstance(value, list | tuple):
        if all(not isinstance(item, Mapping | list) for item in value):
            yield path, f"[{', '.join(map(str, value))}]"
            return
        for index, item in enumerate(value):
            name = item.get("type") or item.get("name") or index if isinstance(item, Mapping) else index
            yield from _flat(item, f"{path}[{name}]")
    else:
        yield path, str(value)


def diff(cluster: Cluster, other: Cluster) -> Diff:
    """Return every field in which the objects of two clusters differ, Events and versions left out."""
    rows = []
    ours, theirs = cluster.world.log.objects, other.world.log.objects
    for key in sorted({*ours, *theirs}):
        if key.kind == "Event" or ours.get(key) == theirs.get(key):
            continue
        before, after = ours.get(key), theirs.get(key)
        if before is None or after is None:
            there = FieldChange("exists", "yes" if before is not None else "", "yes" if after is not None else "")
            rows.append((ref(key), there))
            continue
        rows += [(ref(key), change) for change in changed_fields(before, after)]
    return Diff((cluster.name or "this", other.name or "other"), tuple(rows))


# -- passes -------------------------------------------------------------------------------------------------------


@attrs.frozen
class Pass:
    """One scheduling pass, judged again at its place."""

    pod: Key
    number: int
    judgement: Judgement
    ranking: Ranking | None
    chosen: str
    rules_changed: bool


def last_pass(cluster: Cluster, pod: Key | None = None) -> Turn | None:
    """Return the turn of the last scheduling pass up to now, of this pod or of any."""
    name = f"{pod.namespace}/{pod.name}" if pod is not None else None
    for turn in reversed(cluster.world.turns):
        if turn.end <= cluster.world.place and turn.actor == PASS and not turn.quiet and name in (None, turn.cause):
            return turn
    return None


def judged(cluster: Cluster, pod: Key) -> Pass | None:
    """Judge a pod's last pass again, at its place on a fork; without a pass, judge now what the scheduler could see.

    Returns None when there is no such pod.
    """
    turn = last_pass(cluster, pod)
    world = cluster.world.fork()
    note: PassNote | None = None
    if turn is not None:
        note = world.log.notes.get(Note(SCHEDULER, "pass", turn.cause))
        world.log.seek(turn.start)
    process = world.processes[SCHEDULER]
    world.log.cut()
    world.deliver(process)
    asked = process.seen.at(pod)
    if asked is None:
        return None
    if turn is None:
        asked = attrs.evolve(asked, spec=attrs.evolve(asked.spec, node_name=""))
    snapshot: Any = process.views["cache"].behind  # type: ignore[attr-defined]
    judgement = judge(asked, snapshot, cluster.revision.profile)
    ranking = rank(judgement) if judgement.any_feasible else None
    changed = note is not None and note.fingerprint != judgement.fingerprint.hex()
    return Pass(pod, note.number if note else 0, judgement, ranking, note.node if note else "", changed)

"""What happened and why, in words: the story of an object, what a change changed, and how two clusters differ.

Everything here is read from the log and the objects; nothing is stored for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import attrs

from . import volumes
from .api.kinds.meta import evolve_parts
from .api.text import manifest
from .cluster_core import ClusterCore
from .controllers import kubelet
from .results import as_sentence, hanging_indent
from .scheduler import requests
from .scheduler.framework.judgement import Judgement, judge
from .scheduler.framework.ranking import Ranking, rank
from .scheduler.loop.assume_cache import ASSUMED
from .scheduler.loop.scheduling_cycle import PASS, SCHEDULER, PassNote
from .world.apiserver import key_for, key_of, moment, ref
from .world.history import Turn
from .world.log import Change, Key, Note

# Bookkeeping; what a binding is about, the queue says as well.
UNTOLD = frozenset({"cursor", "clock", "gone", "pass", "wake", "config", "failures", "own", "unsaved", "binding"})
UNTOLD |= {"similar"}  # what recorders remember of events
UNTOLD |= {"made", "awaits", "template"}  # what controllers of workloads count and wait for
UNTOLD_FIELDS = (
    ".resourceVersion", ".uid", ".creationTimestamp", ".lastTransitionTime",  # versions and times
    "kubectl.kubernetes.io/last-applied-configuration]",  # the manifest once more
)  # fmt: skip
PARTS = {"backoff": "back-off", "waiting": "waiting for volumes"}  # of the scheduler's queue


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
        turns = len(self.rows)
        lines = [f"story of {self.about}: {turns} turn{'s' if turns != 1 else ''}"]
        for row in self.rows:
            words = as_sentence(row.words) if row.words else row.actor
            lines.append(f"{row.step:>4}  {f't={row.time:g} s':<9} {hanging_indent([words], 16)}")
            lines += [f"{'':18}{hanging_indent([change], 20)}" for change in row.changed]
        return "\n".join(lines)


@attrs.frozen(repr=False)
class Diff:
    """How two clusters differ: per object the fields, with the value of each."""

    names: tuple[str, str]
    rows: tuple[tuple[str, FieldChange], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[str, FieldChange]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        if not self.rows:
            return f"{self.names[0]} and {self.names[1]}: the same objects"
        table = [("object", "field", *self.names)]
        table += [(about, change.path, change.old or "–", change.new or "–") for about, change in self.rows]
        return _columns(table)


def story(cluster: ClusterCore, reference: str) -> Story:
    """Tell every turn up to now that changed an object, or what a component noted about it."""
    key = key_for(reference)
    rows = []
    for turn in cluster.world.turns:
        if turn.end > cluster.world.place or turn.quiet:
            continue
        concerned = [change for change in net(changes_of(cluster, turn)) if concerns(change, key)]
        changed = tuple(words for change in concerned for words in words_of(change))
        if changed:
            rows.append(StoryRow(turn.step, turn.time, turn.actor or turn.component, turn.words, changed))
    return Story(ref(key), tuple(rows))


def changes_of(cluster: ClusterCore, turn: Turn) -> Sequence[Change]:
    """Return the changes that one turn made."""
    log = cluster.world.log
    return log.changes[turn.start - log.base : turn.end - log.base]


def net(changes: Iterable[Change]) -> list[Change]:
    """Return changes with those of one note in one: what it was at first, what it became in the end."""
    found: dict[int | Note, Change] = {}
    for number, change in enumerate(changes):
        if isinstance(change.key, Note):
            first = found.pop(change.key, change)
            found[change.key] = Change(change.key, first.old, change.new)
        else:
            found[number] = change
    return list(found.values())


def concerns(change: Change, key: Key) -> bool:
    """Say whether a change is one of this object, or of what a component remembers about it."""
    place = change.key
    if isinstance(place, Note):
        return told(place) and about(place) == key
    if place.kind == "Event":
        named = (change.new or change.old).involved_object
        return (named.kind, named.namespace, named.name) == tuple(key)
    return place == key


def told(note: Note) -> bool:
    """Say whether a note means something to a reader: the queue, the assume cache; not cursors and to-do lists."""
    return note.sort not in UNTOLD and not note.sort.startswith(("todo", "plan"))


def about(note: Note) -> Key | None:
    """Return the key of the object that a note is about, or None."""
    parts = note.name.split("/")
    if len(parts) == 3 and parts[0][:1].isupper():
        return Key(*parts)
    if len(parts) == 2:  # what the scheduler queues and a kubelet starts are pods, what others take up is claims
        kind = "Pod" if note.component in (SCHEDULER, kubelet.NAME) else "PersistentVolumeClaim"
        return Key(kind, *parts)
    return None


def words_of(change: Change) -> list[str]:
    """Return what a change changed, a line a field; a note says whose it is."""
    place = change.key
    if isinstance(place, Note):
        before, after = note_words(change.old), note_words(change.new)
        same = before == after
        return [] if same else [f"{place.component} notes {place.sort}: {before or 'none'} → {after or 'none'}"]
    if place.kind == "Event":
        event = change.new or change.old
        return [f"event {event.reason}: {event.message}"]
    if change.old is None or change.new is None:
        return [f"{ref(place)} {'created' if change.old is None else 'gone'}"]
    return [str(field) for field in changed_fields(change.old, change.new)]


def note_words(value: Any) -> str:
    """Return a note's value in a few words; "" for none."""
    if value is None:
        return ""
    part = getattr(value, "part", None)
    if part:
        return PARTS.get(part, str(part))
    kind = getattr(value, "kind", None)
    if kind == "Pod":
        return f"on {value.spec.node_name}"
    if kind == "PersistentVolume":
        return f"reserved for {value.spec.claim_ref.name}" if value.spec.claim_ref else "free"
    if kind == "PersistentVolumeClaim":
        return f"selected-node {volumes.selected_node(value)}"
    number = getattr(value, "number", None)
    if number is not None:
        return f"no. {number}{f' for {value.node}' if getattr(value, 'node', '') else ''}"
    return str(value) if isinstance(value, int | float | str) else "noted"


def changed_fields(old: Any, new: Any) -> list[FieldChange]:
    """Return the fields in which two objects differ (either may be None), by path; versions and times left out."""
    before = dict(_flat(manifest.to_plain(old))) if old is not None else {}
    after = dict(_flat(manifest.to_plain(new))) if new is not None else {}
    return [
        FieldChange(path, before.get(path, ""), after.get(path, ""))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path) and not path.endswith(UNTOLD_FIELDS)
    ]


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Give the leaves of plain data by path; what people read as one thing (a condition, a term) is one leaf."""
    if isinstance(value, Mapping):
        said = _said(value, path)
        if said is not None:
            yield path, said
            return
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


def _said(value: Mapping[str, Any], path: str) -> str | None:
    """Return in words a mapping that people read as one thing; None for any other."""
    if path.startswith("status.conditions["):
        reason, message = value.get("reason"), value.get("message")
        return f"{value.get('status')}{f', {reason}' if reason else ''}{f': {message}' if message else ''}"
    if path.endswith("claimRef"):
        return f"{value.get('namespace')}/{value.get('name')}"
    if path.startswith("metadata.ownerReferences["):
        roles = ((", controller", "controller"), (", holds up its deletion", "blockOwnerDeletion"))
        return f"{value.get('kind')} {value.get('name')}" + "".join(words for words, role in roles if value.get(role))
    if "operator" in value and "key" in value:
        return f"{value['key']} {value['operator']} [{', '.join(map(str, value.get('values', ())))}]"
    return None


def diff(cluster: ClusterCore, other: ClusterCore) -> Diff:
    """Return every field in which the objects of two clusters differ, Events and versions left out."""
    rows = []
    ours, theirs = cluster.world.log.objects, other.world.log.objects
    for key in sorted({*ours, *theirs}):
        if key.kind == "Event" or ours.get(key) == theirs.get(key):
            continue
        before, after = ours.get(key), theirs.get(key)
        if before is None or after is None:
            there = FieldChange("(exists)", "yes" if before is not None else "", "yes" if after is not None else "")
            rows.append((ref(key), there))
            continue
        rows += [(ref(key), change) for change in changed_fields(before, after)]
    return Diff((cluster.name or "this", other.name or "other"), tuple(rows))


def _columns(table: Sequence[tuple[str, ...]]) -> str:
    """Set rows of words in columns, two spaces apart; the last column is broken where the line gets too long."""
    widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    indent = sum(widths[:-1])
    fronts = ("".join(word.ljust(wide) for word, wide in zip(row, widths[:-1], strict=False)) for row in table)
    return "\n".join(front + hanging_indent([row[-1]], indent) for front, row in zip(fronts, table, strict=True))


# -- what is held ---------------------------------------------------------------------------------------------------


def cpu_held(cluster: ClusterCore) -> list[tuple[float, float]]:
    """Return (seconds, cores) for every moment up to now at which the cpu held by pods changed.

    A pod holds what it asks for once it has a node, and already when the scheduler assumes it there.
    """
    log = cluster.world.log
    times = {turn.end: turn.time for turn in cluster.world.turns}
    held: dict[Key | Note, int] = {}
    found, place = [(0.0, 0.0)], log.base
    for end in sorted(times):
        if end > log.place:
            break
        for change in log.changes[place - log.base : end - log.base]:
            held[change.key] = _cpu(change.key, change.new)
        place = end
        assumed = {about(note) for note, cores in held.items() if isinstance(note, Note) and cores}
        cores = sum(held[key] for key in held if isinstance(key, Note) or key not in assumed) / 1000
        found.append((times[end], cores))
    return found


def _cpu(key: Key | Note, value: Any) -> int:
    """Return the millicores that a change leaves held under its key: of a pod with a node, seen or assumed."""
    if value is None or (isinstance(key, Note) and key.sort != ASSUMED):
        return 0
    if getattr(value, "kind", "") != "Pod" or not value.spec.node_name or value.terminal:
        return 0
    return requests.pod_requests(value.spec).cpu


# -- passes -------------------------------------------------------------------------------------------------------


class PassRow(NamedTuple):
    """One scheduling pass: its step and time, how many nodes fit, and the node chosen ("" for none)."""

    step: int
    time: float
    fit: str
    node: str


@attrs.frozen(repr=False)
class Passes:
    """Every scheduling pass of one pod, in order."""

    about: str
    revision: str
    rows: tuple[PassRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[PassRow]:
        return iter(self.rows)

    def __getitem__(self, number: int) -> PassRow:
        return self.rows[number]

    def __repr__(self) -> str:
        count = len(self.rows)
        table = [
            (f"pass {number}", f"step {step}", f"t={time:g} s", fit, f"chooses {node}" if node else "chooses none")
            for number, (step, time, fit, node) in enumerate(self.rows, 1)
        ]
        title = f"{self.about}, rules {self.revision}: {count} pass{'es' if count != 1 else ''}"
        return f"{title}\n{_columns(table)}" if table else title


def passes(cluster: ClusterCore, pod: str) -> Passes:
    """Return the scheduling passes of a pod up to now.

    Raises:
        KeyError: there is no such pod.
    """
    key = key_of(cluster[pod if "/" in pod else f"pod/{pod}"])
    rows = []
    for turn in cluster.world.turns:
        if turn.actor == PASS and turn.cause == f"{key.namespace}/{key.name}" and turn.end <= cluster.world.place:
            made = (change.new for change in changes_of(cluster, turn) if isinstance(change.new, PassNote))
            fit = ((f"{note.fit} of {note.judged} nodes fit", note.node) for note in made)
            rows += [PassRow(turn.step, turn.time, words, node) for words, node in fit]
    return Passes(ref(key), cluster.revision.name, tuple(rows))


@attrs.frozen
class Pass:
    """One scheduling pass, judged again at its place."""

    pod: Key
    number: int
    judgement: Judgement
    ranking: Ranking | None
    chosen: str
    rules_changed: bool


def last_pass(cluster: ClusterCore, pod: Key | None = None) -> Turn | None:
    """Return the turn of the last scheduling pass up to now, of this pod or of any."""
    name = f"{pod.namespace}/{pod.name}" if pod is not None else None
    for turn in reversed(cluster.world.turns):
        if turn.end <= cluster.world.place and turn.actor == PASS and not turn.quiet and name in (None, turn.cause):
            return turn
    return None


def judged(cluster: ClusterCore, pod: Key) -> Pass | None:
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
    world.log.truncate()
    world.deliver(process)
    asked = process.seen.at(pod)
    if asked is None:
        return None
    if turn is None:
        asked = evolve_parts(asked, spec={"node_name": ""})
    snapshot: Any = process.views["cache"].snapshot  # type: ignore[attr-defined]
    snapshot.moment = moment(world.log)
    judgement = judge(asked, snapshot, cluster.revision.profile)
    ranking = rank(judgement) if len(judgement.rows) > 1 else None  # one that fits alone needs no score
    changed = note is not None and note.fingerprint != judgement.fingerprint.hex()
    return Pass(pod, note.number if note else 0, judgement, ranking, note.node if note else "", changed)

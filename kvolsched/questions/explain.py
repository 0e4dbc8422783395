"""Explains in words what happened: stories of objects, changes, and scheduling passes.

This module reads the log and the objects; nothing is stored for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import attrs

from ..api import volumes
from ..api.kinds.meta import evolve_parts, thaw
from ..api.kinds.pod import Pod
from ..api.notebook_output import DrawnAnswer, NumberedRows, PrintedAnswer, Rows
from ..api.text import manifest
from ..api.unknown_name import UnknownName
from ..api.words import counted, from_to, hanging_indent
from ..controllers import kubelet
from ..controllers.custom_controller import MEMORY
from ..core.core import ClusterCore
from ..core.results import as_sentence
from ..core.seen_by_scheduler import snapshot_of_scheduler
from ..scheduler.columns.snapshot import Snapshot
from ..scheduler.framework.judgement import Judgement, judge
from ..scheduler.framework.profile import Profile
from ..scheduler.framework.ranking import Ranking, rank
from ..scheduler.loop.scheduling_cycle import PASS, SCHEDULER, PassNote
from ..world.apiserver import key_for, key_of, moment, ref
from ..world.history import Turn
from ..world.log import Change, Key, Note
from ..world.outage import OUTAGES
from ..world.rules import RunningRules
from .why.asking import pod_asked_for

Read = TypeVar("Read")

# Notes that no story shows; the queue tells of bindings.
BOOKKEEPING = frozenset({"cursor", "clock", "gone", "pass", "wake", "config", "own", "unsaved", "binding"})
BOOKKEEPING |= {"failures", "bucket", "killed"}  # of causes that are tried again
BOOKKEEPING |= {"request", "asked"}  # of a write that waits for its answer; of draws of the API server
BOOKKEEPING |= {"similar"}  # of event recorders
BOOKKEEPING |= {"made", "awaits", "template"}  # of workload controllers
SERVER_FIELDS = (
    ".resourceVersion", ".uid", ".creationTimestamp", ".lastTransitionTime",  # versions and times
    "kubectl.kubernetes.io/last-applied-configuration]",  # a copy of the manifest
)  # fmt: skip
OWNERS = "metadata.managedFields"  # whoever wrote a field stands in the turn
QUEUE_PART_WORDS = {"backoff": "back-off", "waiting": "waiting for volumes"}  # parts of the scheduler's queue


@attrs.frozen
class FieldChange:
    """One changed field: its path as in the manifest, and both values ("" for absent)."""

    path: str
    old: str
    new: str

    def __str__(self) -> str:
        values = from_to(self.old, self.new) if self.old else self.new
        return f"{self.path}: {values}" if values else self.path


@attrs.frozen
class StoryRow:
    """One turn that changed an object, or a component's notes about it."""

    step: int
    time: float
    actor: str
    words: str
    changed: tuple[str, ...]


@attrs.frozen(repr=False)
class Story(Rows[StoryRow], DrawnAnswer):
    """The turns that changed one object, in order."""

    about: str
    rows: tuple[StoryRow, ...]

    def __repr__(self) -> str:
        turns = len(self.rows)
        lines = [f"story of {self.about}: {counted(turns, 'turn')}"]
        for row in self.rows:
            words = as_sentence(row.words) if row.words else row.actor
            lines.append(f"{row.step:>4}  {f't={row.time:g} s':<9} {hanging_indent([words], 16)}")
            lines += [f"{'':18}{hanging_indent([change], 20)}" for change in row.changed]
        return "\n".join(lines)


def story(cluster: ClusterCore, reference: str) -> Story:
    """List the turns up to now that changed an object, or a component's notes about it.

    Raises:
        UnknownName: the cluster never had such an object. It is a KeyError.
    """
    key = cluster.world.find_key(reference, ever=True)
    rows = []
    for turn in cluster.world.turns:
        if turn.end > cluster.world.place or turn.quiet:
            continue
        concerned = [change for change in merge_note_changes(changes_of(cluster, turn)) if is_about(change, key)]
        changed = tuple(str(each) for change in concerned for each in change_lines(change))
        if changed:
            rows.append(StoryRow(turn.step, turn.time, turn.actor or turn.component, turn.words, changed))
    return Story(ref(key), tuple(rows))


def changes_of(cluster: ClusterCore, turn: Turn) -> Sequence[Change]:
    """Return the changes of one turn."""
    log = cluster.world.log
    return log.changes[turn.start - log.base : turn.end - log.base]


def merge_note_changes(changes: Iterable[Change]) -> list[Change]:
    """Return changes with those of each note merged to one: its first and its last value."""
    found: dict[int | Note, Change] = {}
    for number, change in enumerate(changes):
        if isinstance(change.key, Note):
            first = found.pop(change.key, change)
            found[change.key] = Change(change.key, first.old, change.new)
        else:
            found[number] = change
    return list(found.values())


def is_about(change: Change, key: Key) -> bool:
    """Say whether a change is one of this object, of an event about it, or of a shown note about it."""
    place = change.key
    if isinstance(place, Note):
        return is_shown(place) and key_of_note_subject(place) == key
    if place.kind == "Event":
        named = (change.new or change.old).involved_object
        return (named.kind, named.namespace, named.name) == tuple(key)
    return place == key


def is_shown(note: Note) -> bool:
    """Say whether stories show a note: those of the queue and the assume cache, not cursors and work queues."""
    return note.sort not in BOOKKEEPING and not note.sort.startswith(("todo", "plan"))


def key_of_note_subject(note: Note) -> Key | None:
    """Return the key of the object that a note is about; None for other notes."""
    parts = note.name.split("/")
    if note.sort == MEMORY:
        with suppress(KeyError):
            return key_for(note.name)
        return None
    if len(parts) == 3 and parts[0][:1].isupper():
        return Key(*parts)
    if len(parts) == 2:  # notes of scheduler and kubelet are about pods, of others about claims
        kind = "Pod" if note.component in (SCHEDULER, kubelet.NAME) else "PersistentVolumeClaim"
        return Key(kind, *parts)
    return None


def change_lines(change: Change) -> list[FieldChange]:
    """Return a change as fields, one for each line; a note's line names its component."""
    place = change.key
    if isinstance(place, Note):
        before, after = describe_note(change.old, place.sort), describe_note(change.new, place.sort)
        what = place.name if place.sort == MEMORY else place.sort
        return [] if before == after else [FieldChange(f"{place.component} notes {what}", before or "none", after)]
    if place.kind == "Event":
        event = change.new or change.old
        return [FieldChange(f"event {event.reason}", "", event.message)]
    if change.old is None or change.new is None:
        return [FieldChange(f"{ref(place)} {'created' if change.old is None else 'gone'}", "", "")]
    return changed_fields(change.old, change.new)


def describe_note(value: Any, sort: str) -> str:
    """Return a note's value in a few words; "" for None."""
    if value is None:
        return ""
    if sort == MEMORY:
        return str(thaw(sorted(value) if isinstance(value, frozenset) else value))
    if isinstance(value, RunningRules):
        return f"{' and '.join(value.names)}{f', {value.leading} leads' if value.elects else ''}"
    if sort == OUTAGES.sort:
        return ", ".join(f"{outage.server} until t={outage.until:g} s" for outage in value)
    part = getattr(value, "part", None)
    if part:
        return QUEUE_PART_WORDS.get(part, str(part))
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
    """Return the fields in which two objects differ, by path, without versions and times; either may be None."""
    before = dict(_leaves(manifest.to_plain(old))) if old is not None else {}
    after = dict(_leaves(manifest.to_plain(new))) if new is not None else {}
    return [
        FieldChange(path, before.get(path, ""), after.get(path, ""))
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path) and not path.endswith(SERVER_FIELDS) and not path.startswith(OWNERS)
    ]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of plain data by path; a condition, a reference or a selector term is one leaf."""
    if isinstance(value, Mapping):
        text = _mapping_text(value, path)
        if text is not None:
            yield path, text
            return
        for key, item in value.items():
            inner = f"{path}[{key}]" if "." in key or "/" in key else f"{path}.{key}" if path else str(key)
            yield from _leaves(item, inner)
    elif isinstance(value, list | tuple):
        if all(not isinstance(item, Mapping | list) for item in value):
            yield path, f"[{', '.join(map(str, value))}]"
            return
        for index, item in enumerate(value):
            name = item.get("type") or item.get("name") or index if isinstance(item, Mapping) else index
            yield from _leaves(item, f"{path}[{name}]")
    else:
        yield path, str(value) if value != "" else '""'


def _mapping_text(value: Mapping[str, Any], path: str) -> str | None:
    """Return a condition, reference or selector term as text; None for other mappings."""
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


def _align_columns(table: Sequence[tuple[str, ...]]) -> str:
    """Return rows as text columns, two spaces apart; long texts of the last column are wrapped."""
    widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
    indent = sum(widths[:-1])
    fronts = ("".join(word.ljust(wide) for word, wide in zip(row, widths[:-1], strict=False)) for row in table)
    return "\n".join(front + hanging_indent([row[-1]], indent) for front, row in zip(fronts, table, strict=True))


class PassRow(NamedTuple):
    """One scheduling pass: its step and time, how many nodes fit, the chosen node ("" for none), visits of volumes."""

    step: int
    time: float
    fit: str
    """In words: "2 of 4 nodes fit"."""
    node: str
    visits: int
    feasible: int
    """The number of nodes that fit, of those judged."""
    judged: int


@attrs.frozen(repr=False)
class Passes(NumberedRows[PassRow], DrawnAnswer):
    """The scheduling passes of one pod, in order."""

    about: str
    revision: str
    rows: tuple[PassRow, ...]
    why_none: str
    """Why there is no pass."""

    def __repr__(self) -> str:
        count = len(self.rows)
        table = [
            (f"pass {number}", f"step {row.step}", f"t={row.time:g} s", row.fit,
             f"chooses {row.node}" if row.node else "chooses none")
            for number, row in enumerate(self.rows, 1)
        ]
        title = f"{self.about}, rules {self.revision}: {count} pass{'es' if count != 1 else ''}"
        if not table:
            return hanging_indent([f"{title}. {self.why_none}" if self.why_none else title], 2)
        return f"{title}\n{_align_columns(table)}"


def passes(cluster: ClusterCore, pod: str) -> Passes:
    """Return the scheduling passes of a pod up to now.

    Raises:
        UnknownName: the cluster never had such a pod. It is a KeyError.
    """
    key, _ = pod_asked_for(cluster, pod, ever=True)
    rows = passes_by_pod(cluster).get(f"{key.namespace}/{key.name}", ())
    return Passes(ref(key), cluster.revision.name, tuple(rows), "" if rows else _why_never_judged(cluster, key))


def passes_by_pod(cluster: ClusterCore) -> Mapping[str, Sequence[PassRow]]:
    """Return the scheduling passes up to now of every pod, by `namespace/name`."""
    found: dict[str, list[PassRow]] = {}
    for turn, note in judging_turns(cluster, cluster.world.turns):
        row = PassRow(turn.step, turn.time, f"{note.fit} of {note.judged} nodes fit", note.node, turn.visits,
                      note.fit, note.judged)  # fmt: skip
        found.setdefault(turn.cause, []).append(row)
    return found


def judging_turns(cluster: ClusterCore, turns: Iterable[Turn]) -> Iterator[tuple[Turn, PassNote]]:
    """Yield those turns up to now that judged a pod; a second one of the same pass, which assumes it, does not."""
    for turn in turns:
        if turn.actor == PASS and turn.end <= cluster.world.place:
            yield from ((turn, each.new) for each in changes_of(cluster, turn) if isinstance(each.new, PassNote))


def _why_never_judged(cluster: ClusterCore, pod: Key) -> str:
    """Return why a pod has had no pass, and what to call for one; "" if nothing is to be said."""
    world = cluster.world
    start = world.visit(world.history.place_of(0), lambda: world.log.objects.get(pod))
    now = world.log.objects.get(pod)
    if start is not None and start.spec.node_name:
        rules = cluster.first_rules.called
        return (f"It was on {start.spec.node_name} from the start, so nobody judges it; "
                f'c.under("{rules}", again="{pod.name}") begins without that.')  # fmt: skip
    if now is not None and now.spec.scheduling_gates:
        return f"Its scheduling gates hold it: {', '.join(gate.name for gate in now.spec.scheduling_gates)}."
    if now is not None and now.spec.node_name:
        return f"It got {now.spec.node_name} from somebody else than the scheduler."
    return "" if now is None else "The scheduler has not taken it up yet."


@attrs.frozen
class Pass:
    """One scheduling pass, judged again at its place in the log."""

    pod: Key
    number: int
    judgement: Judgement
    ranking: Ranking | None
    chosen: str
    rules_changed: bool


def last_pass(cluster: ClusterCore, pod: Key | None = None) -> Turn | None:
    """Return the turn of the last scheduling pass up to now, of this pod or of any pod."""
    name = f"{pod.namespace}/{pod.name}" if pod is not None else None
    turns = (turn for turn in reversed(cluster.world.turns) if name in (None, turn.cause))
    return next((turn for turn, _ in judging_turns(cluster, turns)), None)


def judge_last_pass(cluster: ClusterCore, pod: Key, *, now: bool = False) -> Pass | None:
    """Judge a pod's last pass again at its place, on a fork; without a pass, or `now`, on what the scheduler sees now.

    Now a pod is judged as if it had no node: its own place does not count. Returns None if there is no such pod.
    """
    turn = None if now else last_pass(cluster, pod)
    log = cluster.world.log
    note: PassNote | None = None
    if turn is not None:
        note = log.notes.get(Note(SCHEDULER, "pass", turn.cause))
        log = log.copy()
        log.seek(turn.start)
    asked = log.objects.get(pod)
    if asked is None:
        return None
    seen = snapshot_of_scheduler(cluster, log)
    own = seen.pod(pod)  # perhaps an assumed one
    if turn is None and own is not None and own.spec.node_name:
        seen = seen.copied()
        seen.apply(pod, own, None)
    if turn is None:
        asked = evolve_parts(asked, spec={"node_name": ""})
    return _judged(cluster.revision.profile, asked, seen, note)


def read_last_pass(cluster: ClusterCore, pod: Key, turn: Turn, read: Callable[[Pass], Read]) -> Read | None:
    """Judge a pod's last pass, which is `turn`, in the cluster itself, and return what `read` makes of it.

    Nothing of the pass may be kept but what is read: afterwards the scheduler sees the present again. It costs a tenth
    of a fork. Returns None if there is no such pod.
    """
    world = cluster.world
    note: PassNote | None = world.log.notes.get(Note(SCHEDULER, "pass", turn.cause))
    cache: Any = world.processes[SCHEDULER].views["cache"]
    moment_before = cache.snapshot.moment

    def judge_again() -> Read | None:
        process = world.processes[SCHEDULER]
        world.deliver(process)
        asked = process.seen.at(pod)
        cache: Any = process.views["cache"]  # a far move makes another one
        cache.snapshot.moment = moment(world.log)
        return None if asked is None else read(_judged(cluster.revision.profile, asked, cache.snapshot, note))

    try:
        return world.visit(turn.start, judge_again)
    finally:
        cache = world.processes[SCHEDULER].views["cache"]
        cache.snapshot.moment = moment_before
        cache.snapshot.visits.forget()


def _judged(profile: Profile, pod: Pod, seen: Snapshot, note: PassNote | None) -> Pass:
    """Judge a pod on what is seen."""
    judgement = judge(pod, seen, profile)
    unranked = len(judgement.rows) < 2 or judgement.fitting_nominated_node  # nothing to compare
    ranking = None if unranked else rank(judgement)
    changed = note is not None and note.fingerprint != judgement.fingerprint.hex()
    return Pass(key_of(pod), note.number if note else 0, judgement, ranking, note.node if note else "", changed)


class NodeScore(NamedTuple):
    """What one plugin gives a node: its raw score, the same from 0 to 100, and that times the plugin's weight."""

    raw: float
    normalised: int
    weighted: int


@attrs.frozen(repr=False)
class Fits(PrintedAnswer):
    """The nodes that fit a pod by its last pass, why the others do not, and how those that fit were scored."""

    about: str
    nodes: tuple[str, ...]
    """The nodes that fit, sorted; a value of this class is iterated and compared by them."""
    rejected: Mapping[str, tuple[str, ...]]
    """Node -> the plugin that rejects it first, then its reasons."""
    scores: Mapping[str, Mapping[str, NodeScore]]
    """Node -> plugin -> score; empty if fewer than two nodes fit: then nothing is scored."""
    chosen: str
    """The node that the pass chose, "" for none."""
    shown_names: Mapping[str, str]
    """Plugin -> its name with that of the document, where it has one."""

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self.nodes

    def __repr__(self) -> str:
        count, all_nodes = len(self.nodes), len(self.nodes) + len(self.rejected)
        choice = f"; {self.chosen} is chosen" if self.chosen else ""
        names = f": {', '.join(self.nodes)}" if self.nodes else ""
        head = f"{count} of {all_nodes} nodes fit {self.about}{names}{choice}"
        table = [(f"  {node}", self.shown_names.get(plugin, plugin), ", ".join(reasons))
                 for node, (plugin, *reasons) in self.rejected.items()]  # fmt: skip
        return "\n".join([hanging_indent([head], 2), *([_align_columns(table)] if table else [])])


def fits(cluster: ClusterCore, pod: str) -> Fits:
    """Return which nodes fit a pod by its last pass up to now, judged again; without a pass, by what is seen now.

    Raises:
        UnknownName: there is no such pod, or the scheduler has not seen it. It is a KeyError.
    """
    key, _ = pod_asked_for(cluster, pod, ever=True)
    found = judge_last_pass(cluster, key)
    if found is None:
        raise UnknownName(f"the scheduler has not seen {ref(key)} yet")
    judged, ranking = found.judgement, found.ranking
    scores = {} if ranking is None else {
        node: {plugin: NodeScore(*values) for plugin, values in ranking.scores_of(node).items()}
        for node in ranking.nodes}  # fmt: skip
    shown_names = {each.name: each.shown_name for each in judged.profile.plugins}
    return Fits(ref(key), judged.feasible, rejected_nodes(judged), scores, found.chosen, shown_names)


def rejected_nodes(judged: Judgement) -> dict[str, tuple[str, ...]]:
    """Return for each node that does not fit the plugin that rejects it first, then its reasons."""
    if (whole := judged.rejected_by) is not None:
        return dict.fromkeys(judged.nodes, (whole.plugin, whole.message))
    firsts = ((node, judged.first_rejecting[node]) for node in judged.nodes if node not in judged.feasible)
    return {node: (first, *judged.rejection(node)[0]) if first else (
        ", ".join(judged.leaving_out(node)), "outside the nodes it allows") for node, first in firsts}

"""Rows of what happened, read off the log and its turns: changes of this step, events, lanes, stories."""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ...controllers import stateful_set
from ...controllers.custom_controller import is_custom
from ...core.core import CLIENT, USER, ClusterCore
from ...core.results import as_sentence
from ...questions.explain import (
    change_lines,
    changed_fields,
    changes_of,
    describe_note,
    is_about,
    is_shown,
    key_of_note_subject,
    merge_note_changes,
)
from ...scheduler.loop.scheduling_cycle import PASS
from ...world.apiserver import RefusedWrite, key_for, ref
from ...world.component import Process
from ...world.history import Turn
from ...world.log import Change, Key, LogKey, Note
from .. import frame as f
from .context import FrameContext, label_of

REPEATED = "user|again"
VERBS = {"update_status": "status"}
SHOWN_AT_CREATION = ("spec.claimRef", "spec.nodeAffinity", "spec.nodeName")  # of a created object
SERVES = {stateful_set.NAME: "StatefulSet"}  # a component is idle while nothing of this kind exists
PRECEDENCE = {"crash": 0, "refused": 1, "write": 2, "note": 3}  # of the marks of one step, the first is drawn


def changes(context: FrameContext) -> tuple[f.ChangeRow, ...]:
    """Return what the present step wrote, tried to write and noted; of each note only the net change."""
    rows: list[f.ChangeRow] = []
    notes: list[Change] = []
    for turn in context.turns:
        for outcome in turn.outcomes:
            if isinstance(outcome, RefusedWrite):
                write = outcome.write
                refusal = (outcome.reason, outcome.message)
                rows.append(f.ChangeRow("api", turn.component, "~", write.subject, write.verb, "", "", *refusal))
        written = changes_of(context.cluster, turn)
        notes += (change for change in written if isinstance(change.key, Note))
        for change in written:
            if isinstance(change.key, Key) and change.key.kind != "Event":
                rows += _api_change(turn, change.key, change.old, change.new)
    for change in merge_note_changes(notes):
        rows += _note_change(change)
    return tuple(rows)


def _api_change(turn: Turn, key: Key, old: Any, new: Any) -> Iterable[f.ChangeRow]:
    subject = ref(key)
    if old is None or new is None:
        op, outcome = ("+", "created") if old is None else ("-", "gone")
        yield f.ChangeRow("api", turn.component, op, subject, key.kind, "", outcome)
        for change in changed_fields(None, new) if old is None and turn.component != "user" else ():
            if change.path.startswith(SHOWN_AT_CREATION):
                yield f.ChangeRow("api", turn.component, "+", subject, change.path, "", change.new)
        return
    for change in changed_fields(old, new):
        op = "+" if not change.old else "-" if not change.new else "~"
        yield f.ChangeRow("api", turn.component, op, subject, change.path, change.old, change.new)


def _note_change(change: Change) -> Iterable[f.ChangeRow]:
    note, old, new = change
    if not isinstance(note, Note):
        return
    before, after = (describe_note(value, note.sort) for value in (old, new))
    if is_shown(note) and before != after:
        subject = key_of_note_subject(note)
        reference = ref(subject) if subject is not None else note.name
        op = "+" if old is None else "-" if new is None else "~"
        yield f.ChangeRow("note", note.component, op, reference, note.sort, before, after)


def known_next(cluster: ClusterCore) -> f.NextActor | None:
    """Return the next step of this branch if it is known from an earlier visit, as the actor that makes it.

    What a user did, or let happen to a component, no component would do again: its actor is `REPEATED`.
    """
    world, step = cluster.world, cluster.world.step_number + 1
    if step > world.known_steps:
        return None
    turn = next((turn for turn in world.history.turns_of(step) if not turn.quiet), None)
    if turn is None:
        return None
    if turn.actor and turn.component != USER:
        return f.NextActor(f"{turn.actor}|{turn.cause}", label_of(turn.actor), turn.component, as_sentence(turn.words),
                           about=name_of_cause(turn.cause))  # fmt: skip
    return f.NextActor(REPEATED, USER, USER, as_sentence(turn.words))


def name_of_cause(cause: str) -> str:
    """Return the object that an actor looks at; one of the default namespace by its name."""
    return cause.removeprefix("default/")


def story(context: FrameContext) -> f.ObjectStory:
    """Return every change in the life of the selected object up to now; without one, of the pod in focus."""
    reference, key = context.selected, _key_or_none(context.selected)
    if key is None and context.focus is not None:
        reference, key = ref(context.focus), context.focus
    if key is None:
        return f.ObjectStory()
    rows = []
    for turn in context.world.turns:
        if turn.end > context.world.place:
            continue
        for change in changes_of(context.cluster, turn):
            if is_about(change, key):
                op = "+" if change.old is None else "-" if change.new is None else "~"
                actor = label_of(turn.actor or turn.component)
                rows += [f.ObjectStoryRow(turn.step, turn.time, actor, op, each.path, each.old,
                                          each.new or ("none" if each.old else "")) for each in change_lines(change)]
    return f.ObjectStory(reference, tuple(rows))


def _key_or_none(reference: str) -> Key | None:
    try:
        return key_for(reference)
    except KeyError:
        return None


def events(context: FrameContext) -> tuple[f.EventRow, ...]:
    """Return every Event with the step that last wrote it."""
    log, history = context.world.log, context.world.history
    written: dict[LogKey, list[int]] = {}
    for place, change in log.changes_between("Event", log.base, context.world.place):
        written.setdefault(change.key, []).append(place)
    rows = []
    for key, event in context.of("Event"):
        subject = event.involved_object
        turns = map(history.turn_at, reversed(written.get(key, [])))
        rows.append(f.EventRow(
            step=next((turn.step for turn in turns if turn is not None and turn.events), 0),
            type=event.type, reason=event.reason, message=event.message,
            ref=ref(Key(subject.kind, subject.namespace, subject.name)), count=event.count or 1,
            time=seconds(event.first_timestamp, context.cluster), last=seconds(event.last_timestamp, context.cluster),
        ))  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (row.step, row.ref, row.reason)))


def seconds(timestamp: str | None, cluster: ClusterCore) -> float:
    """Return a manifest's timestamp in seconds of a cluster's clock; 0 for times before its start."""
    if not timestamp:
        return 0.0
    try:
        return max(0.0, datetime.fromisoformat(timestamp).timestamp() - cluster.world.date.timestamp() + cluster.now)
    except ValueError:
        return 0.0


def lanes(context: FrameContext) -> tuple[f.Lane, ...]:
    """Return one lane an actor, in the order of the components, kubelets last; with the marks of known later steps."""
    marks: dict[str, list[f.Mark]] = {}
    for turn in context.world.turns:
        if not turn.quiet or turn.fault:
            marks.setdefault(turn.actor or turn.component, []).append(_mark(context, turn))
    rows = [f.Lane("user", "user", "user", _first_of_each_step(marks.get("user", [])))]
    rows += (_client_lane(context, actor, marks.get(actor, [])) for actor in sorted(
        {each for each in marks if each.startswith(CLIENT)} | {CLIENT + name for name in context.world.watching}))
    for process in sorted(context.world.processes.values(), key=lambda process: process.name == "kubelet"):
        if process.name == "user" or (process.name in SERVES and not context.of(SERVES[process.name])):
            continue
        seldom = process.activation is not None and process.name not in SERVES  # most worlds have no work for it
        cursors = _cursors(context, process)
        for place, actor in enumerate(process.component.actors):
            actor_marks = marks.get(actor.name, [])
            if not actor_marks and (seldom or getattr(actor, "seldom", False)):
                continue
            if place == 0 and actor.name != process.name:
                actor_marks = actor_marks + marks.get(process.name, [])  # crashes of the component
            label, shown = label_of(actor.name), _first_of_each_step(actor_marks)
            rows.append(f.Lane(actor.name, process.name, label, shown, cursors))
    return tuple(rows)


def _cursors(context: FrameContext, process: Process) -> tuple[f.Cursor, ...]:
    """Return how far a component has seen each kind that it watches."""
    rows = []
    for kind in sorted(process.component.watches):
        first = process.pending.get(kind)
        rows.append(_cursor(context, kind, context.world.place if first is None else first))
    return tuple(rows)


def _client_lane(context: FrameContext, actor: str, marks: list[f.Mark]) -> f.Lane:
    """Return the lane of a client of a served cluster, with how far its slowest watch of each kind is."""
    world, slowest = context.world, dict[str, int]()
    for (kind, _), (place, held) in list(world.watching.get(actor.removeprefix(CLIENT), {}).items()):
        slowest[kind] = min(slowest.get(kind, world.place), place if held else world.place)
    cursors = (_cursor(context, kind, place) for kind, place in sorted(slowest.items()))
    return f.Lane(actor, USER, label_of(actor), _first_of_each_step(marks), tuple(cursors))


def _cursor(context: FrameContext, kind: str, first: int) -> f.Cursor:
    """Return how far somebody has seen a kind who has not seen its changes from a position on."""
    pending = len(context.world.log.changes.in_kind(kind, first, context.world.place))
    position = bisect_left(context.world.history.ends, first + 1) - 1 if pending else context.step
    return f.Cursor(kind, min(context.step, max(0, position)), pending)


def written_mark(turn: Turn, step: int) -> f.Mark | None:
    """Return the mark of a turn's write, accepted or refused, or of its crash; None if it wrote no object."""
    if turn.fault == "crash":
        return f.Mark(step, "crash", "crash", turn.component)
    for outcome in turn.outcomes:
        write = outcome.write
        verb = VERBS.get(write.verb, write.verb)
        if isinstance(outcome, RefusedWrite):
            return f.Mark(step, "refused", verb, write.subject, outcome.reason)
        if outcome.changed:
            return f.Mark(step, "write", verb, write.subject)
    return None


def _mark(context: FrameContext, turn: Turn) -> f.Mark:
    """Return the mark of one turn on its lane: its write, its event, or that it only noted something."""
    mark = written_mark(turn, turn.step)
    if mark is not None:
        return mark
    kind, verb = ("write", "event") if turn.events else ("note", "pass" if turn.actor == PASS else "note")
    return f.Mark(turn.step, kind, verb, _subject(context, turn))


def _subject(context: FrameContext, turn: Turn) -> str:
    """Return the ref of the object that a turn's cause names, of a kind that its component watches."""
    process = context.world.processes.get(turn.component)
    if process is not None and is_custom(process.component):
        return turn.cause  # a reference already
    namespace, _, name = turn.cause.rpartition("/")
    kinds = ("Pod",) if turn.actor == PASS else process.component.watches if process is not None else ()
    found = [Key(kind, namespace, name) for kind in kinds]
    existing = [key for key in found if key in context.objects]
    if not existing and turn.events:  # it is deleted by now; the event still names it
        written = changes_of(context.cluster, turn)
        events = [change.new for change in written if isinstance(change.key, Key) and change.key.kind == "Event"]
        subjects = (event.involved_object for event in events)
        existing = [Key(subject.kind, subject.namespace, subject.name) for subject in subjects]
    if not existing and len(found) == 1:
        existing = found
    return ref(existing[0]) if existing else turn.cause


def _first_of_each_step(marks: list[f.Mark]) -> tuple[f.Mark, ...]:
    best: dict[int, f.Mark] = {}
    for mark in marks:
        if mark.step not in best or PRECEDENCE[mark.kind] < PRECEDENCE[best[mark.step].kind]:
            best[mark.step] = mark
    return tuple(best[step] for step in sorted(best))

"""What happened as rows, read off the log and the turns: changes of this step, events, and each actor's lane."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ...cluster import Cluster
from ...controllers import stateful_set
from ...explain import about, changed_fields, changes_of, net, note_words, told
from ...scheduler.loop.scheduling_cycle import PASS
from ...world.apiserver import RefusedWrite, ref
from ...world.component import Process
from ...world.history import Turn
from ...world.log import Change, Key, Note
from .. import frame as f
from .context import FrameContext, label_of

VERBS = {"update_status": "status"}
SHOWN_AT_CREATION = ("spec.claimRef", "spec.nodeAffinity", "spec.nodeName")  # what a created object says of its place
SERVES = {stateful_set.NAME: "StatefulSet"}  # a component is idle while nothing of this kind exists
WEIGHT = {"crash": 0, "refused": 1, "write": 2, "note": 3}  # of the marks of one step, the weightiest is drawn


# -- what changed -----------------------------------------------------------------------------------------------------


def changes(here: FrameContext) -> tuple[f.ChangeRow, ...]:
    """Return what the present step wrote, tried to write and noted; of a note only what became of it in the end."""
    rows: list[f.ChangeRow] = []
    made: list[Change] = []
    for turn in here.turns:
        for outcome in turn.outcomes:
            if isinstance(outcome, RefusedWrite):
                write = outcome.write
                refusal = (outcome.reason, outcome.message)
                rows.append(f.ChangeRow("api", turn.component, "~", write.subject, write.verb, "", "", *refusal))
        written = changes_of(here.cluster, turn)
        made += (change for change in written if isinstance(change.key, Note))
        for change in written:
            if isinstance(change.key, Key) and change.key.kind != "Event":
                rows += _api_change(turn, change.key, change.old, change.new)
    for change in net(made):
        rows += _note_change(change)
    return tuple(rows)


def _api_change(turn: Turn, key: Key, old: Any, new: Any) -> Iterable[f.ChangeRow]:
    subject = ref(key)
    if old is None or new is None:
        made = old is None
        op, became = ("+", "created") if made else ("-", "gone")
        yield f.ChangeRow("api", turn.component, op, subject, key.kind, "", became)
        for change in changed_fields(None, new) if made and turn.component != "user" else ():
            if change.path.startswith(SHOWN_AT_CREATION):
                yield f.ChangeRow("api", turn.component, "+", subject, change.path, "", change.new)
        return
    for change in changed_fields(old, new):
        op = "+" if not change.old else "-" if not change.new else "~"
        yield f.ChangeRow("api", turn.component, op, subject, change.path, change.old, change.new)


def _note_change(change: Change) -> Iterable[f.ChangeRow]:
    note, old, new = change
    before, after = note_words(old), note_words(new)
    if isinstance(note, Note) and told(note) and before != after:
        subject = about(note)
        named = ref(subject) if subject is not None else note.name
        op = "+" if old is None else "-" if new is None else "~"
        yield f.ChangeRow("note", note.component, op, named, note.sort, before, after)


# -- events -----------------------------------------------------------------------------------------------------------


def events(here: FrameContext) -> tuple[f.EventRow, ...]:
    """Return every Event with the step that last raised it."""
    steps: dict[Key, int] = {}
    for turn in here.world.turns:
        if turn.events and turn.end <= here.world.place:
            for change in changes_of(here.cluster, turn):
                if isinstance(change.key, Key) and change.key.kind == "Event":
                    steps[change.key] = turn.step
    rows = []
    for key, event in here.of("Event"):
        subject = event.involved_object
        rows.append(
            f.EventRow(
                step=steps.get(key, 0),
                time=seconds(event.first_timestamp, here.cluster),
                type=event.type,
                reason=event.reason,
                ref=ref(Key(subject.kind, subject.namespace, subject.name)),
                message=event.message,
                count=event.count or 1,
                last=seconds(event.last_timestamp, here.cluster),
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.step, row.ref, row.reason)))


def seconds(timestamp: str | None, cluster: Cluster) -> float:
    """Return a manifest's timestamp as seconds of a cluster's clock; 0 for what lies before its start."""
    if not timestamp:
        return 0.0
    try:
        return max(0.0, datetime.fromisoformat(timestamp).timestamp() - cluster.moment.timestamp() + cluster.now)
    except ValueError:
        return 0.0


# -- lanes ------------------------------------------------------------------------------------------------------------


def lanes(here: FrameContext) -> tuple[f.Lane, ...]:
    """Return a lane an actor, in the order of the components, the kubelets last; marks of a known future included."""
    marks: dict[str, list[f.Mark]] = {}
    for turn in here.world.turns:
        if not turn.quiet or turn.fault:
            marks.setdefault(turn.actor or turn.component, []).append(_mark(here, turn))
    rows = [f.Lane("user", "user", "user", _one_a_step(marks.get("user", [])))]
    for process in sorted(here.world.processes.values(), key=lambda process: process.name == "kubelet"):
        if process.name == "user" or (process.name in SERVES and not here.of(SERVES[process.name])):
            continue
        seldom = process.activation is not None and process.name not in SERVES  # most worlds have nothing for it to do
        cursors = _cursors(here, process)
        for place, actor in enumerate(process.component.actors):
            mine = marks.get(actor.name, [])
            if not mine and (seldom or getattr(actor, "seldom", False)):
                continue
            if place == 0 and actor.name != process.name:
                mine = mine + marks.get(process.name, [])  # a crash is the component's
            rows.append(f.Lane(actor.name, process.name, label_of(actor.name), _one_a_step(mine), cursors))
    return tuple(rows)


def _cursors(here: FrameContext, process: Process) -> tuple[f.Cursor, ...]:
    """How far a component has seen each kind that it watches."""
    rows = []
    for kind in sorted(process.component.watches):
        first = process.pending.get(kind)
        if first is None:
            rows.append(f.Cursor(kind, here.step, 0))
            continue
        behind = sum(1 for _ in here.world.log.changes_between(kind, first, here.world.place))
        position = bisect_left(here.world.history.ends, first + 1) - 1
        rows.append(f.Cursor(kind, min(here.step, max(0, position)), behind))
    return tuple(rows)


def _mark(here: FrameContext, turn: Turn) -> f.Mark:
    """What one turn shows on its lane: its write, its event, or that it only noted something."""
    if turn.fault == "crash":
        return f.Mark(turn.step, "crash", "crash", turn.component)
    for outcome in turn.outcomes:
        write = outcome.write
        verb = VERBS.get(write.verb, write.verb)
        if isinstance(outcome, RefusedWrite):
            return f.Mark(turn.step, "refused", verb, write.subject, outcome.reason)
        if outcome.changed:
            return f.Mark(turn.step, "write", verb, write.subject)
    kind, verb = ("write", "event") if turn.events else ("note", "pass" if turn.actor == PASS else "note")
    return f.Mark(turn.step, kind, verb, _subject(here, turn))


def _subject(here: FrameContext, turn: Turn) -> str:
    """The ref of what a turn's cause names: `NAMESPACE/NAME` or `NAME` of a kind that the component watches."""
    process = here.world.processes.get(turn.component)
    namespace, _, name = turn.cause.rpartition("/")
    kinds = ("Pod",) if turn.actor == PASS else process.component.watches if process is not None else ()
    found = [Key(kind, namespace, name) for kind in kinds]
    there = [key for key in found if key in here.objects]
    if not there and turn.events:  # it is gone by now; the event still tells of what it was
        written = changes_of(here.cluster, turn)
        events = [change.new for change in written if isinstance(change.key, Key) and change.key.kind == "Event"]
        there = [Key(each.kind, each.namespace, each.name) for each in (event.involved_object for event in events)]
    if not there and len(found) == 1:
        there = found
    return ref(there[0]) if there else turn.cause


def _one_a_step(marks: list[f.Mark]) -> tuple[f.Mark, ...]:
    best: dict[int, f.Mark] = {}
    for mark in marks:
        if mark.step not in best or WEIGHT[mark.kind] < WEIGHT[best[mark.step].kind]:
            best[mark.step] = mark
    return tuple(best[step] for step in sorted(best))

"""The writes to the API in order: who wrote what, and at which step each other component saw it.

One line a write, one column a component: the square of the timeline in the writer's column, in each other one the step
at which that component saw the write. Hatched: not seen yet; empty: it does not watch the kind. Two runs stand side by
side as in a diff: one line for a write that both have, with its place in each.
Events are left out: no component acts on them. The fields of a write stand in the order in which people look for
them: the decision, the phase, annotations, conditions.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from attrs import evolve, field, frozen

from kvolsched.api.notebook_output import Rows
from kvolsched.controllers.custom_controller import is_custom
from kvolsched.core.component_names import COMPONENT_NAMES, DISPLAY_NAMES
from kvolsched.core.core import USER, ClusterCore
from kvolsched.questions.differences import names_of
from kvolsched.questions.explain import FieldChange, changed_fields, changes_of
from kvolsched.rules.revision import NOT_DRIVERS
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.html import Html, block, joined, page, table, tag, words
from kvolsched.views.drawing.html import row as line
from kvolsched.views.drawing.svg import picture
from kvolsched.views.pictures.lanes import LETTERS, sign
from kvolsched.world.apiserver import RefusedWrite, ref
from kvolsched.world.history import Turn
from kvolsched.world.log import Change, Key, Note

EMPTY = "Nobody has written anything yet."
SIGN = 22
"""Edge of the picture of a write's mark, px."""
VERBS = {"update_status": "status", "update/status": "status", "patch/status": "patch", "create/binding": "bind"}
FIELD_ORDER = ("spec.claimRef", "spec.nodeName", "spec.volumeName", "spec.", "status.phase", "status.nominated",
         "metadata.annotations", "status.conditions", "metadata.labels")  # fmt: skip
# Always have a column, also when they have nothing to do.
CORE = (COMPONENT_NAMES["scheduler"], COMPONENT_NAMES["PV controller"], "kubelet")
PROVISIONER = "provisioner"  # as recordings call every driver
RECORDED_KINDS = ("Pod", "PersistentVolume", "PersistentVolumeClaim", "StatefulSet")
AT_CREATION = ("spec.claimRef", "spec.nodeAffinity")
SILENT = ("metadata.finalizers", "metadata.generation", "status.capacity", "status.accessModes", "status.startTime",
          "status.observedGeneration", "metadata.deletionGrace", "status.conditions[ContainersReady",
          "status.conditions[Initialized", "status.conditions[PodReadyToStart", "status.uncountedTerminated",
          "status.containerStatuses")  # fmt: skip
TOLD = ("metadata.finalizers", ".restartCount")  # the end of silent fields that are told if nothing else is
ANNOTATION = "annotation "
_PROVISIONED = re.compile(r"(pvc-[0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# One item of these is told by its name.
_ENTRY = re.compile(r"(?:spec\.template\.)?spec\.(nodeSelector|schedulingGates)\[([^\]]*)\](?:\.name)?")
_LINE = re.compile(r"([\d.]+) (?:kcm/)?(\S+) (\S+) ([^\s:]+)(?:: (.*)| (\w+))?$")
NOT_YET = -1
"""In place of a step: the write has not been seen yet."""


@frozen
class WriteRow:
    """One write to the API, accepted or refused, or a crash of its writer."""

    place: str  # Its step and time: "3|0.4 s"; of a recorded write only the time: "|0.4 s"
    who: str  # The component as people call it
    kind: str  # "write", "refused" or "crash"
    verb: str  # create, patch, update, status, bind, delete
    ref: str  # The object
    words: str = ""  # What was written, in a few words
    recorded_ref: str = ""  # The object as recordings name it
    fields: frozenset[str] = frozenset()  # The last part of the path of each field written
    seen: Mapping[str, int] = field(factory=dict)  # Component that watches it -> step at which it saw it, or NOT_YET
    now: bool = False  # Whether it belongs to the present step

    def is_same_write(self, other: WriteRow) -> bool:
        """Say whether two runs have this write in common: equal author, verb and object, and a common field."""
        mine, theirs = _spelt_alike(self.fields), _spelt_alike(other.fields)
        return self._subject == other._subject and (mine == theirs or bool(mine & theirs))

    @property
    def _subject(self) -> tuple[str, ...]:
        return self.who, self.kind, self.verb, self.recorded_ref

    @property
    def sentence(self) -> str:
        """Say what was done."""
        if self.kind == "crash":
            return f"{self.who} crashes and restarts"
        return f"{self.verb} {self.ref}" + (f": {self.words}" if self.words else "")


def _spelt_alike(fields: frozenset[str]) -> frozenset[str]:
    """Return field names in one spelling: the documents write selectedNode, today's objects selected-node."""
    return frozenset(name.replace("-", "").lower() for name in fields)


@frozen(repr=False)
class Writes(Rows[WriteRow], Figure):
    """A picture of writes; iterates over its rows. `alone`: the writes that only one of two runs has."""

    rows: tuple[WriteRow, ...] = field(kw_only=True)
    alone: tuple[WriteRow, ...] = ()


def writes(cluster: ClusterCore, other: ClusterCore | RecordedWrites | None) -> Writes:
    """Draw the writes in order, with who saw each when; or beside those of another cluster or of a recorded trace.

    Raises:
        TypeError: the other one is neither.
    """
    if other is None:
        rows, columns = rows_of(cluster), components(cluster)
        return Writes(lambda width, _selection: draw(rows, columns, width), reading(rows, columns), rows=rows)
    rows = recorded_kinds(cluster)
    if not isinstance(other, ClusterCore):
        if not hasattr(other, "timeline"):
            raise TypeError(f'writes are compared with those of a cluster or a recorded trace, not of {other!r:.60}; '
                            'an object has c.story("pod/web")')
        theirs, names = rows_of_trace(other), ("here", f"Kubernetes {other.version}")
        accepted = (row for row in rows if row.kind == "write")  # a recording has no others
        rows = tuple(evolve(row, place="|" + row.place.partition("|")[2]) for row in accepted)
    else:
        theirs = recorded_kinds(other)
        revisions = (cluster.revision.name, other.revision.name)
        names = revisions if revisions[0] != revisions[1] else names_of(cluster, other)
    return beside(rows, theirs, names)


class RecordedWrites(Protocol):
    """The writes of a recorded trace (`conform.Trace`): the release of Kubernetes, and a line for each write."""

    version: str
    timeline: tuple[str, ...]


def names(cluster: ClusterCore) -> Mapping[str, str]:
    """Return the components' names as people call them; a single driver is "provisioner"."""
    processes = cluster.world.processes.values()
    drivers = [each.name for each in processes if each.name not in NOT_DRIVERS and not is_custom(each.component)]
    return {**DISPLAY_NAMES, **(dict.fromkeys(drivers, PROVISIONER) if len(drivers) == 1 else {})}


def components(cluster: ClusterCore) -> tuple[str, ...]:
    """Return the components that have a column: those of the loop, and others that acted or have changes to see."""
    acted = {turn.component for turn in _turns(cluster) if not turn.quiet or turn.fault}
    acted |= {name for name, process in cluster.world.processes.items() if process.watching and process.pending}
    always = {*CORE, *(name for name in cluster.world.processes if name not in NOT_DRIVERS)}
    shown = [name for name in cluster.world.processes if name in (always | acted) and name not in ("kubelet", USER)]
    kubelet = ["kubelet"] if "kubelet" in cluster.world.processes else []
    called = names(cluster)
    return tuple(called.get(name, name) for name in [*([USER] if USER in acted else []), *shown, *kubelet])


def rows_of(cluster: ClusterCore, kinds: Sequence[str] = ()) -> tuple[WriteRow, ...]:
    """Return the writes up to now, in order: of these kinds, by default of all but Events."""
    claims = cluster.world.log.of_kind("PersistentVolumeClaim")
    uids = {f"pvc-{claim.metadata.uid}": f"pvc-uid({claim.metadata.name})" for claim in claims}
    called = names(cluster)
    moves = _CursorMoves(cluster, called)
    step = cluster.world.step_number
    rows = []
    for turn in _turns(cluster):
        who = called.get(turn.component, turn.component)
        place = f"{turn.step}|{round(turn.time, 2):g} s"
        now = turn.step == step
        if turn.fault == "crash":
            rows.append(WriteRow(place, who, "crash", "crash", "", now=now))
        for outcome in turn.outcomes:
            if isinstance(outcome, RefusedWrite):
                verb = VERBS.get(outcome.write.verb, outcome.write.verb)
                subject, reason = short(outcome.write.subject), f"refused: {outcome.reason}"
                recorded_ref = _recorded_ref(outcome.write.key, uids)
                rows.append(WriteRow(place, who, "refused", verb, subject, reason, recorded_ref, now=now))
        for number, change in enumerate(changes_of(cluster, turn), turn.start):
            key = change.key
            if not isinstance(key, Key) or key.kind == "Event" or (kinds and key.kind not in kinds):
                continue
            changed = _fields(change)
            row = WriteRow(
                place, who, "write", _verb(turn, change), short(ref(key)), written_words(change, changed),
                _recorded_ref(key, uids),
                frozenset(_field_name(each.path) for each in changed) if change.old and change.new else frozenset(),
                moves.steps_seen(number, key.kind, turn.component), now,
            )  # fmt: skip
            rows.append(row)
    return tuple(rows)


def rows_of_trace(trace: RecordedWrites) -> tuple[WriteRow, ...]:
    """Return the writes of a recorded run in the order in which the recorder saw them."""
    rows = []
    for told in trace.timeline:
        match = _LINE.match(told)
        if match is None:
            continue
        time, who, verb, subject, paths, _ = match.groups()
        fields = [_field_name(path) for path in paths.split(", ")] if paths else []
        who, verb, what = DISPLAY_NAMES.get(who, who), VERBS.get(verb, verb), _joined(list(dict.fromkeys(fields)))
        rows.append(WriteRow(f"|{time} s", who, "write", verb, subject, what, subject, frozenset(fields)))
    return tuple(rows)


def recorded_kinds(cluster: ClusterCore) -> tuple[WriteRow, ...]:
    """Return the writes of the kinds that recordings contain."""
    return rows_of(cluster, RECORDED_KINDS)


def _field_name(path: str) -> str:
    """Return a each's name as the lines show it: the last part of its path."""
    if path.startswith("metadata.ownerReferences"):
        return "ownerReferences"
    if entry := _ENTRY.fullmatch(path):
        return f"{entry[1]} {entry[2].rpartition('/')[2]}"
    key = re.search(r"\[([^\]]*)\]", path)
    kind = ANNOTATION if "annotations[" in path else ""
    return kind + (key[1].rpartition("/")[2] if key and "spec." not in path else path.rpartition(".")[2])


def written_words(change: Change, changed: Sequence[FieldChange]) -> str:
    """Return in a few words what a change wrote."""
    if change.new is None:
        return "gone"
    shown = [each for each in changed if not each.path.startswith(SILENT)]
    if change.old is None:
        return ", ".join(_value(each) for each in shown if each.path.startswith(AT_CREATION))
    shown.sort(key=lambda each: next((i for i, start in enumerate(FIELD_ORDER) if each.path.startswith(start)), 99))
    shown = shown or [each for each in changed if each.path.endswith(TOLD)]
    return _joined(list(dict.fromkeys(map(_value, shown)))) or "nothing that is told"


def _joined(parts: Sequence[str]) -> str:
    """Join words; of several annotations in a row only the first says "annotation"."""
    pairs = zip(["", *parts], parts, strict=False)
    return ", ".join(part.removeprefix(ANNOTATION) if before.startswith(ANNOTATION) else part for before, part in pairs)


def _value(each: FieldChange) -> str:
    """Return a each in short: the last part of its path, and its new value."""
    name = _field_name(each.path)
    if each.path.startswith("spec.nodeAffinity"):
        return each.new.rpartition("/")[2]
    if name.startswith(ANNOTATION) and each.new == "yes":
        return name
    if name == "deletionTimestamp":
        return "terminating"
    condition = each.path.startswith("status.conditions")
    value = each.new.partition(": ")[0] if condition else each.new  # without its message
    if name.endswith(f" {value}"):
        return f"{name} added"
    return f"{name} {short(value) or 'removed'}"


def short(said: str) -> str:
    """Cut names of provisioned volumes after the first part of the uid."""
    return _PROVISIONED.sub(r"\1…", said)


def _fields(change: Change) -> list[FieldChange]:
    if change.new is None:
        return []
    found = changed_fields(change.old, change.new)
    if not found and change.old is not None and change.new.kind == "PersistentVolume":
        found = [FieldChange("spec.claimRef", "", "uid")]  # differences do not list a uid
    return found


def _verb(turn: Turn, change: Change) -> str:
    verbs = (outcome.write.verb for outcome in turn.outcomes if outcome.write.key == change.key)
    plain = "delete" if change.new is None else "create" if change.old is None else "update"
    verb = next(verbs, plain)
    return VERBS.get(verb, verb)


def _recorded_ref(key: Key, uids: Mapping[str, str]) -> str:
    """Return the name of an object as recordings write it: without namespace, a provisioned volume by its claim."""
    return f"{ref(key).partition('/')[0]}/{uids.get(key.name, key.name)}"


def _turns(cluster: ClusterCore) -> Iterable[Turn]:
    return [turn for turn in cluster.world.turns if turn.end <= cluster.world.place]


class _CursorMoves:
    """The places of the log at which each component's cursors moved, and so the step at which it saw a write."""

    def __init__(self, cluster: ClusterCore, called: Mapping[str, str]) -> None:
        self.cluster = cluster
        self.called = called
        log = cluster.world.log
        self.ends = cluster.world.history.ends
        self.moves: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for place, change in enumerate(log.changes[: cluster.world.place - log.base], log.base):
            if isinstance(change.key, Note) and change.key.sort == "cursor" and change.new is not None:
                self.moves.setdefault((change.key.component, change.key.name), []).append((place, change.new))

    def steps_seen(self, place: int, kind: str, writer: str) -> dict[str, int]:
        """Return, by component, the step at which it saw the change at this place of the log."""
        found = {}
        for name, process in self.cluster.world.processes.items():
            if name == writer or kind not in process.component.watches or not process.watching:
                continue
            moves = self.moves.get((name, kind), [])
            after = moves[bisect_left(moves, (place, 0)) :]
            moved = next((at for at, cursor in after if cursor > place), None)
            found[self.called.get(name, name)] = NOT_YET if moved is None else bisect_left(self.ends, moved + 1)
        return found


def draw(rows: Sequence[WriteRow], components: Sequence[str], width: int) -> str:
    """Return one line a write, and the columns of these components."""
    if not rows:
        return page(words(EMPTY, "k-q"))
    lines = [line((*row.place.split("|"), _write_words(row), *(_cell(row, name) for name in components)),
                  ("k-short", "k-short k-soft", "k-wide", *["k-mid"] * len(components)),
                  classes="k-p-accent" if row.now else "") for row in rows]  # fmt: skip
    late = any(NOT_YET in row.seen.values() for row in rows)
    return page(table(lines, ("step", "time", "what is written", *components)), block(
        "k-w k-flow", _letters(rows), tag("span", "", tag("b", "", "7"), " has seen it at step 7"),
        tag("span", "", LATE, " has not seen it yet") if late else "", words("empty: does not watch this kind"),
        style="align-items:center"))


LATE = tag("span", "k-late", "\u00a0\u00a0\u00a0\u00a0")


def _write_words(row: WriteRow) -> Html:
    if row.kind == "crash":
        return words(row.sentence, "k-soft")
    return joined(tag("b", "", row.ref), f" {row.words}")


def _cell(row: WriteRow, name: str) -> str:
    if row.who == name:
        return _sign(f.Mark(0, row.kind, row.verb, row.ref), now=row.now)
    seen = row.seen.get(name)
    return "" if seen is None else LATE if seen == NOT_YET else str(seen)


def _sign(mark: f.Mark, *, now: bool = False) -> Html:
    return Html(picture(SIGN, SIGN, sign(mark, SIGN / 2, SIGN / 2, now=now), mark.verb, "img"))


def reading(rows: Sequence[WriteRow], components: Sequence[str]) -> str:
    """Return the writes as lines, with who saw each when."""
    if not rows:
        return EMPTY
    table = [["step", "time", "who", "what is written", "seen at step"]]
    for row in rows:
        seen = [f"{name} {row.seen[name]}" for name in components if row.seen.get(name, NOT_YET) != NOT_YET]
        late = [name for name in components if row.seen.get(name) == NOT_YET]
        content = ", ".join(seen) + ("; " if seen and late else "") + (f"not yet: {', '.join(late)}" if late else "")
        table.append([*row.place.split("|"), row.who, row.sentence, content])
    return t.columns(table)


Pair = tuple[WriteRow | None, WriteRow | None]


def paired(ours: Sequence[WriteRow], theirs: Sequence[WriteRow]) -> list[Pair]:
    """Pair equal writes of two runs, in the order of the first; those of the second alone follow their forerunner."""
    left = list(theirs)
    found: list[Pair] = []
    for row in ours:
        twin = next((other for other in left if row.is_same_write(other)), None)
        if twin is not None:
            left.remove(twin)
        found.append((row, twin))
    for other in left:
        before = theirs[: theirs.index(other)]
        after = [i for i, (_, twin) in enumerate(found) if any(twin is earlier for earlier in before)]
        found.insert(after[-1] + 1 if after else 0, (None, other))
    return found


def beside(ours: Sequence[WriteRow], theirs: Sequence[WriteRow], names: tuple[str, str]) -> Writes:
    """Draw the writes of two runs side by side, with their reading."""
    pairs = paired(ours, theirs)
    alone = tuple(row for pair in pairs if None in pair for row in pair if row is not None)
    return Writes(lambda width, _selection: draw_pairs(pairs, names, width), pairs_reading(pairs, names),
                  rows=tuple(ours), alone=alone)


def draw_pairs(pairs: Sequence[Pair], names: tuple[str, str], width: int) -> str:
    """Return one line a write, with its place in each of two runs."""
    found = [(pair, row) for pair in pairs for row in pair if row is not None and row is (pair[0] or pair[1])]
    lines = [line((*map(_mark, pair), row.who, _write_words(row)), ("k-short", "k-short", "k-name k-soft", "k-wide"),
                  classes="k-p-none" if None in pair else "") for pair, row in found]  # fmt: skip
    if not lines:
        return page(words(EMPTY, "k-q"))
    return page(table(lines, (*names, "who", "what is written")),
                block("k-w k-flow", _letters(row for pair in pairs for row in pair if row is not None)))


def _mark(row: WriteRow | None) -> Html:
    if row is None:
        return words("–", "k-soft")
    return joined(_sign(f.Mark(0, row.kind, row.verb, row.ref)), f" {_place(row)}")


def _place(row: WriteRow) -> str:
    step, _, time = row.place.partition("|")
    return step or time


def pairs_reading(pairs: Sequence[Pair], names: tuple[str, str]) -> str:
    """Return the writes of two runs as lines: the place in each, and the write."""
    table = [[*names, "who", "what is written"]]
    for pair in pairs:
        row = pair[0] or pair[1]
        assert row is not None
        table.append([*(_place(half) if half is not None else "–" for half in pair), row.who, row.sentence])
    return t.columns(table) if len(table) > 1 else EMPTY


def _letters(rows: Iterable[WriteRow]) -> Html:
    """Return what the squares mean."""
    used = {row.verb for row in rows if row.kind != "crash"}
    letters = ", ".join(f"{letter} {verb}" for verb, letter in LETTERS.items() if verb in used)
    return tag("span", "", _sign(f.Mark(0, "write", " ", "")), f" API write ({letters})")

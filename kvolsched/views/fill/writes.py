"""Rows of the writes to the API, read off the turns and the cursors: one row a write, with who saw it when.

Events are left out: no component acts on them. The fields of a write stand in the order in which people look for
them: the decision, the phase, annotations, conditions.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ...controllers.custom_controller import is_custom
from ...core.component_names import COMPONENT_NAMES, DISPLAY_NAMES
from ...core.core import USER, ClusterCore
from ...questions.explain import FieldChange, changed_fields, changes_of
from ...rules.revision import NOT_DRIVERS
from ...world.apiserver import RefusedWrite, ref
from ...world.history import Turn
from ...world.log import Change, Key, Note
from ..write_rows import NOT_YET, WriteRow

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
                place, who, "write", _verb(turn, change), short(ref(key)), words(change, changed),
                _recorded_ref(key, uids),
                frozenset(_field_name(field.path) for field in changed) if change.old and change.new else frozenset(),
                moves.steps_seen(number, key.kind, turn.component), now,
            )  # fmt: skip
            rows.append(row)
    return tuple(rows)


def rows_of_trace(trace: RecordedWrites) -> tuple[WriteRow, ...]:
    """Return the writes of a recorded run in the order in which the recorder saw them."""
    rows = []
    for line in trace.timeline:
        match = _LINE.match(line)
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
    """Return a field's name as the lines show it: the last part of its path."""
    if path.startswith("metadata.ownerReferences"):
        return "ownerReferences"
    if entry := _ENTRY.fullmatch(path):
        return f"{entry[1]} {entry[2].rpartition('/')[2]}"
    key = re.search(r"\[([^\]]*)\]", path)
    kind = ANNOTATION if "annotations[" in path else ""
    return kind + (key[1].rpartition("/")[2] if key and "spec." not in path else path.rpartition(".")[2])


def words(change: Change, changed: Sequence[FieldChange]) -> str:
    """Return in a few words what a change wrote."""
    if change.new is None:
        return "gone"
    shown = [field for field in changed if not field.path.startswith(SILENT)]
    if change.old is None:
        return ", ".join(_value(field) for field in shown if field.path.startswith(AT_CREATION))
    shown.sort(key=_place_in_order)
    shown = shown or [field for field in changed if field.path.endswith(TOLD)]
    return _joined(list(dict.fromkeys(map(_value, shown)))) or "nothing that is told"


def _place_in_order(field: FieldChange) -> int:
    starts = (i for i, start in enumerate(FIELD_ORDER) if field.path.startswith(start))
    return next(starts, len(FIELD_ORDER))


def _joined(parts: Sequence[str]) -> str:
    """Join words; of several annotations in a row only the first says "annotation"."""
    pairs = zip(["", *parts], parts, strict=False)
    return ", ".join(part.removeprefix(ANNOTATION) if before.startswith(ANNOTATION) else part for before, part in pairs)


def _value(field: FieldChange) -> str:
    """Return a field in short: the last part of its path, and its new value."""
    name = _field_name(field.path)
    if field.path.startswith("spec.nodeAffinity"):
        return field.new.rpartition("/")[2]
    if name.startswith(ANNOTATION) and field.new == "yes":
        return name
    if name == "deletionTimestamp":
        return "terminating"
    condition = field.path.startswith("status.conditions")
    value = field.new.partition(": ")[0] if condition else field.new  # without its message
    if name.endswith(f" {value}"):
        return f"{name} added"
    return f"{name} {short(value) or 'removed'}"


def short(words: str) -> str:
    """Cut names of provisioned volumes after the first part of the uid."""
    return _PROVISIONED.sub(r"\1…", words)


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

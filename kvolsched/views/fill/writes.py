"""What was written to the API, read off the turns and the cursors: one row a write, with who saw it when.

Events are no writes here: they change nothing that anybody acts on. What a controller in the making writes first of an
object is told in the order in which people look for it: what it decides, its phase, its conditions, its annotations.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...api.kinds.kind import KINDS_BY_NAME
from ...cluster import USER, Cluster
from ...explain import FieldChange, changed_fields, changes_of
from ...results import COMPONENT_NAMES, DISPLAY_NAMES
from ...revision import NOT_DRIVERS
from ...world.apiserver import RefusedWrite, ref
from ...world.history import Turn
from ...world.log import Change, Key, Note
from ..pictures.writes import NOT_YET, Written

if TYPE_CHECKING:
    from ...conform.recorded_trace import Trace

VERBS = {"update_status": "status", "update/status": "status", "patch/status": "patch", "create/binding": "bind"}
ORDER = ("spec.claimRef", "spec.nodeName", "spec.volumeName", "spec.", "status.phase", "status.nominated",
         "metadata.annotations", "status.conditions", "metadata.labels")  # fmt: skip
# The loop: shown also where one of them has nothing to do.
CORE = (COMPONENT_NAMES["scheduler"], COMPONENT_NAMES["PV controller"], "kubelet")
PROVISIONER = "provisioner"  # as recordings call whatever driver there is
TOLD = ("Pod", "PersistentVolume", "PersistentVolumeClaim", "StatefulSet")  # what a recording tells of
AT_CREATION = ("spec.claimRef", "spec.nodeAffinity")
SILENT = ("metadata.finalizers", "metadata.generation", "status.capacity", "status.accessModes", "status.startTime",
          "status.observedGeneration", "metadata.deletionGrace", "status.conditions[ContainersReady",
          "status.conditions[Initialized", "status.conditions[PodReadyToStart")  # fmt: skip
A = "annotation "
_MADE = re.compile(r"(pvc-[0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LINE = re.compile(r"([\d.]+) (?:kcm/)?(\S+) (\S+) ([^\s:]+)(?:: (.*)| (\w+))?$")


def names(cluster: Cluster) -> Mapping[str, str]:
    """Return the components' names as people call them: a driver that is the only one is *the* provisioner."""
    drivers = [name for name in cluster.world.processes if name not in NOT_DRIVERS]
    return {**DISPLAY_NAMES, **(dict.fromkeys(drivers, PROVISIONER) if len(drivers) == 1 else {})}


def components(cluster: Cluster) -> tuple[str, ...]:
    """Return whose columns are shown, ordered as the lanes: who the loop is made of, who else has acted or is due."""
    acted = {turn.component for turn in _turns(cluster) if not turn.quiet or turn.fault}
    acted |= {name for name, process in cluster.world.processes.items() if process.watching and process.pending}
    core = {*CORE, *(name for name in cluster.world.processes if name not in NOT_DRIVERS)}
    shown = [name for name in cluster.world.processes if name in (core | acted) and name not in ("kubelet", USER)]
    last = ["kubelet"] if "kubelet" in cluster.world.processes else []
    called = names(cluster)
    return tuple(called.get(name, name) for name in [*([USER] if USER in acted else []), *shown, *last])


def rows_of(cluster: Cluster, kinds: Sequence[str] = ()) -> tuple[Written, ...]:
    """Return what was written up to now, in order: of these kinds alone, or of all but Events."""
    uids = _claims_of_uids(cluster)
    called = names(cluster)
    sight = _Sight(cluster, called)
    here = cluster.world.step_number
    rows = []
    for turn in _turns(cluster):
        who = called.get(turn.component, turn.component)
        place = f"{turn.step}|{round(turn.time, 2):g} s"
        now = turn.step == here
        if turn.fault == "crash":
            rows.append(Written(place, who, "crash", "crash", "", now=now))
        for outcome in turn.outcomes:
            if isinstance(outcome, RefusedWrite):
                verb = VERBS.get(outcome.write.verb, outcome.write.verb)
                about = _about(outcome.write.key, uids)
                said = f"refused: {outcome.reason}"
                rows.append(Written(place, who, "refused", verb, short(outcome.write.subject), said, about, now=now))
        for number, change in enumerate(changes_of(cluster, turn), turn.start):
            key = change.key
            if not isinstance(key, Key) or key.kind == "Event" or (kinds and key.kind not in kinds):
                continue
            changed = _fields(change)
            row = Written(
                place, who, "write", _verb(turn, change), short(ref(key)), words(change, changed), _about(key, uids),
                frozenset(_name(each.path) for each in changed) if change.old and change.new else frozenset(),
                sight.of(number, key.kind, turn.component), now,
            )  # fmt: skip
            rows.append(row)
    return tuple(rows)


def rows_of_trace(trace: Trace) -> tuple[Written, ...]:
    """Return the writes of a recorded run in the order in which they were seen."""
    rows = []
    for line in trace.timeline:
        match = _LINE.match(line)
        if match is None:
            continue
        time, who, verb, about, said, _ = match.groups()
        paths = said.split(", ") if said else []
        what = _joined(list(dict.fromkeys(_name(path) for path in paths)))
        fields = frozenset(map(_name, paths))
        who, verb = DISPLAY_NAMES.get(who, who), VERBS.get(verb, verb)
        rows.append(Written(f"|{time} s", who, "write", verb, about, what, about, fields))
    return tuple(rows)


def told_kinds(cluster: Cluster) -> tuple[Written, ...]:
    """Return what was written of the kinds that recordings tell of."""
    return rows_of(cluster, TOLD)


def _name(path: str) -> str:
    """Return a field's name as the lines show it: the last part of its path."""
    if path.startswith("metadata.ownerReferences"):
        return "ownerReferences"
    key = re.search(r"\[([^\]]*)\]", path)
    kind = A if "annotations[" in path else ""
    return kind + (key[1].rpartition("/")[2] if key and "spec." not in path else path.rpartition(".")[2])


def words(change: Change, changed: Sequence[FieldChange]) -> str:
    """Say in a few words what a change wrote."""
    if change.new is None:
        return "gone"
    shown = [each for each in changed if not each.path.startswith(SILENT)]
    if change.old is None:
        said = [_value(each) for each in shown if each.path.startswith(AT_CREATION)]
        return ", ".join(said)
    shown.sort(key=lambda each: next((i for i, start in enumerate(ORDER) if each.path.startswith(start)), len(ORDER)))
    said = list(dict.fromkeys(_value(each) for each in shown))
    return _joined(said) or "nothing that is told"


def _joined(said: Sequence[str]) -> str:
    """Join words; of several annotations behind each other the word is said once."""
    follows = ["", *said]
    both = zip(follows, said, strict=False)
    return ", ".join(word.removeprefix(A) if before.startswith(A) else word for before, word in both)


def _value(each: FieldChange) -> str:
    """Say one field in short: its last part, and what it became."""
    name = _name(each.path)
    if each.path.startswith("spec.nodeAffinity"):
        return each.new.rpartition("/")[2]
    if name.startswith(A) and each.new == "yes":
        return name
    if name == "deletionTimestamp":
        return "terminating"
    condition = each.path.startswith("status.conditions")
    value = each.new.partition(": ")[0] if condition else each.new  # without its message
    return f"{name} {short(value) or 'removed'}"


def short(words: str) -> str:
    """Cut the names of provisioned volumes after the first part of the uid."""
    return _MADE.sub(r"\1…", words)


def _fields(change: Change) -> list[FieldChange]:
    if change.new is None:
        return []
    found = changed_fields(change.old, change.new)
    if not found and change.old is not None and change.new.kind == "PersistentVolume":
        found = [FieldChange("spec.claimRef", "", "uid")]  # a uid alone is in no listing of differences
    return found


def _verb(turn: Turn, change: Change) -> str:
    verbs = (outcome.write.verb for outcome in turn.outcomes if outcome.write.key == change.key)
    plain = "delete" if change.new is None else "create" if change.old is None else "update"
    verb = next(verbs, plain)
    return VERBS.get(verb, verb)


def _about(key: Key, uids: Mapping[str, str]) -> str:
    """Return an object's name as recordings write it: without namespace, a provisioned volume by its claim."""
    return f"{KINDS_BY_NAME[key.kind].alias}/{uids.get(key.name, key.name)}"


def _claims_of_uids(cluster: Cluster) -> Mapping[str, str]:
    claims = cluster.world.log.of_kind("PersistentVolumeClaim")
    return {f"pvc-{claim.metadata.uid}": f"pvc-uid({claim.metadata.name})" for claim in claims}


def _turns(cluster: Cluster) -> Iterable[Turn]:
    return [turn for turn in cluster.world.turns if turn.end <= cluster.world.place]


class _Sight:
    """Where in the log each component's cursors moved, and so at which step it saw a write."""

    def __init__(self, cluster: Cluster, called: Mapping[str, str]) -> None:
        self.cluster = cluster
        self.called = called
        log = cluster.world.log
        self.ends = cluster.world.history.ends
        self.moves: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for place, change in enumerate(log.changes[: cluster.world.place - log.base], log.base):
            if isinstance(change.key, Note) and change.key.sort == "cursor" and change.new is not None:
                self.moves.setdefault((change.key.component, change.key.name), []).append((place, change.new))

    def of(self, place: int, kind: str, writer: str) -> dict[str, int]:
        """Return by component at which step it saw the change at this place of the log."""
        found = {}
        for name, process in self.cluster.world.processes.items():
            if name == writer or kind not in process.component.watches or not process.watching:
                continue
            moves = self.moves.get((name, kind), [])
            after = moves[bisect_left(moves, (place, 0)) :]
            moved = next((at for at, cursor in after if cursor > place), None)
            found[self.called.get(name, name)] = NOT_YET if moved is None else bisect_left(self.ends, moved + 1)
        return found

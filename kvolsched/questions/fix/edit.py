"""An edit as a value: which objects change, how that prints as a diff and as kubectl's lines, and how a user makes it.

Objects that Kubernetes does not let users change in place (most of a pod's spec) are deleted and created again. Each
edit has a class of advice, from what restores to what must never be done; a fix has that of its worst edit. An edit
says which kind it is; where the class hangs on the case (a value that is a slip of the pen, a label that would lie),
the edit says the class, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any, NamedTuple

import attrs

from ...api.kinds.kind import find_kind
from ...api.kinds.meta import Frozen, evolve_parts
from ...api.kinds.workload import CONTROLLER_UID_LABELS
from ...api.text import manifest
from ...core.acts import ClusterActs
from ...core.core import USER
from ...core.results import ApplyRefused
from ...world.apiserver import RefusedWrite, Write, key_of, ref
from ...world.log import Key


class AdviceClass(NamedTuple):
    """How far advice goes: its letter, what it does in two words, and who decides."""

    letter: str
    words: str
    who: str


OPERATOR, OWNER = "operator of the cluster", "owner of the workload"
CLASSES = {each.letter: each for each in (
    AdviceClass("W", "waits or asks", "nobody"),
    AdviceClass("A", "restores", OPERATOR),
    AdviceClass("B", "corrects", OWNER),
    AdviceClass("C", "keeps what it promises", OWNER),
    AdviceClass("D", "adds capacity", f"{OPERATOR}; it costs money"),
    AdviceClass("E", "promises less", OWNER),
    AdviceClass("F", "changes other workloads", "the owners of those pods"),
    AdviceClass("G", "overrides a decision", "whoever decided it"),
    AdviceClass("H", "loses or leaves data", "owner of the data, in writing"),
    AdviceClass("X", "never", "nobody"),
)}  # fmt: skip
ORDER = tuple(CLASSES)
NEVER = "X"
COSTLY = "FGH"  # without anything better this is said first

# The usual class of each kind of edit.
USUAL: Mapping[str, str] = {
    "wait": "W", "ask the autoscaler": "W", "ask the gate's controller": "W",
    "bring back": "A", "uncordon": "A", "free a node": "A", "initialise": "A", "run a provisioner": "A",
    "run a driver": "A", "permit": "A", "default class": "A", "label truly": "A", "allow topology": "G",
    "publish capacity": "A", "clear selected node": "X", "upgrade the scheduler": "A", "declare a feature": "A",
    "recreate volume": "B",
    "use class": "B", "use claim": "B", "use selector": "B", "create claim": "B", "create class": "B", "own claim": "B",
    "use provisioner": "B", "use access mode": "E", "offer access mode": "B", "drop preferences": "B",
    "spread policy": "C", "strategy": "C", "drop nodeName": "C",
    "add node": "D", "larger machine": "D", "raise maxPods": "D", "add volume": "D", "add disks": "D",
    "lower request": "E", "smaller claim": "E", "change selector": "E", "drop selector": "E", "drop affinity": "E",
    "drop pod term": "E",
    "drop host port": "E", "scale down": "E", "soften spread": "E", "raise maxSkew": "E", "drop feature": "E",
    "move pods": "F", "delete pods": "F", "run elsewhere": "F",
    "tolerate": "G", "untaint": "G", "remove gates": "G", "relabel": "G",
    "release volume": "H", "new claim": "H", "delete claim": "H", "restore snapshot": "H",
}  # fmt: skip


def worst(letters: Iterable[str]) -> str:
    """Return the letter of the class that goes furthest; "W" of none."""
    return max(letters, key=ORDER.index, default=ORDER[0])


MOST_FINALIZED = 100  # steps in which what is deleted is gone
SERVER_FIELDS = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")


@attrs.frozen
class ObjectChange:
    """One object before and after (None: absent); `recreate` if it must be deleted and created again."""

    old: Any
    new: Any
    recreate: bool = False

    @property
    def is_of_volume(self) -> bool:
        """Whether a volume that stays is changed, which must be before its claim goes: its policy says what then is."""
        return None not in (self.old, self.new) and not self.recreate and self.key.kind == "PersistentVolume"

    @property
    def key(self) -> Key:
        """The key of the object."""
        return key_of(self.old if self.old is not None else self.new)


@attrs.frozen
class OutsideAct:
    """What somebody does who is no client of the API: a machine starts again, a driver gets disks. On a fork only.

    Args:
        words: what is done, as an imperative; acts of equal words are equal.
        perform: does it to a fork; by default nothing, as the edit's changes are all that comes of it.
    """

    words: str
    perform: Callable[[ClusterActs], Any] = attrs.field(default=lambda _cluster: None, eq=False, repr=False)


@attrs.frozen
class Edit:
    """One edit of the catalogue.

    Args:
        words: the edit as an imperative.
        cost: 1 for a field that affects one pod, more for changes that affect others, most for new hardware.
        changes: the user's changes.
        kind: which kind of edit it is; `advice.USUAL` has the class of each.
        expected: changes that components then make before the pod can be judged (a claim gets bound).
        note: a consequence or condition of the edit.
        letter: the class of advice, where it is not the usual one of the kind.
        acts: what is done outside the API; such an edit is a hypothesis, which a trial makes and no user applies.
        do: the whole of what to type or do, a line each; "": it follows from the changes.
        undo: how to take back what no command does.
        restarts: which pods stop meanwhile, where a trial does not show it.
        data: what becomes of data, if any is lost or left behind.
        who: who decides, where it is not the one that the class names.
        parts: the edits that this one combines, each of which can be left out; () if it is one.
    """

    words: str
    cost: int
    changes: tuple[ObjectChange, ...]
    kind: str
    expected: tuple[ObjectChange, ...] = ()
    note: str = ""
    letter: str = attrs.field(default=attrs.Factory(lambda self: USUAL[self.kind], takes_self=True))
    acts: tuple[OutsideAct, ...] = ()
    do: str = ""
    undo: str = ""
    restarts: str = ""
    data: str = ""
    who: str = ""
    parts: tuple[Edit, ...] = ()


def combined(edits: Sequence[Edit]) -> Edit:
    """Return consecutive edits as one, for cases where none of them lifts anything alone; its parts tell the rest."""
    return Edit(
        joined_words(edits),
        sum(edit.cost for edit in edits),
        merge_changes(edits),
        max(edits, key=lambda edit: ORDER.index(edit.letter)).kind,
        tuple(change for edit in edits for change in edit.expected),
        letter=worst(edit.letter for edit in edits),
        acts=tuple(act for edit in edits for act in edit.acts),
        parts=tuple(edits),
    )


def parts_of(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Return edits, and in place of a combined one those that it combines."""
    return tuple(part for edit in edits for part in edit.parts or (edit,))


def joined_words(edits: Sequence[Edit]) -> str:
    """Return edits as one imperative: `Uncordon n1, and add a volume v`."""
    first, *others = [edit.words for edit in edits] or [""]
    return ", and ".join([first, *(words[:1].lower() + words[1:] for words in others)])


def merge_changes(edits: Iterable[Edit]) -> tuple[ObjectChange, ...]:
    """Return the changes of consecutive edits, merged to one change per object."""
    found: dict[Key, ObjectChange] = {}
    for edit in edits:
        for change in edit.changes:
            first = found.get(change.key)
            if first is None:
                found[change.key] = change
            else:
                found[change.key] = ObjectChange(first.old, change.new, first.recreate or change.recreate)
    return tuple(change for change in found.values() if change.old is not None or change.new is not None)


def edits_without(edits: Sequence[Edit], left_out: int) -> tuple[Edit, ...]:
    """Return consecutive edits but one; the later ones are rebased, without changes of what the one created."""
    objects: dict[Key, Any] = {}

    def moved(changes: Iterable[ObjectChange], *, made: bool) -> Iterator[ObjectChange]:
        for change in changes:
            now = objects.setdefault(change.key, change.old)
            if made and (now is not None or change.old is None):
                objects[change.key] = rebased(change.old, change.new, now)
                yield ObjectChange(now, objects[change.key], change.recreate)

    found = []
    for number, edit in enumerate(edits):
        made = number != left_out
        changes = tuple(moved(edit.changes, made=made))
        expected = tuple(moved(edit.expected, made=made))
        if changes:
            found.append(attrs.evolve(edit, changes=changes, expected=expected))
    return tuple(found)


def all_changes(edits: Iterable[Edit]) -> tuple[ObjectChange, ...]:
    """Return the changes of consecutive edits, each followed by what components then make."""
    return tuple(change for edit in edits for change in (*edit.changes, *edit.expected))


def without_unneeded(edits: Sequence[Edit], suffice: Callable[[Sequence[Edit]], bool]) -> tuple[Edit, ...]:
    """Return edits of which each is needed: those given, or their parts without what is not needed.

    Args:
        edits: edits that suffice.
        suffice: whether fewer edits do.
    """
    every = parts_of(edits)
    kept, number = every, 0
    while number < len(kept) > 1:
        fewer = edits_without(kept, number)
        if fewer and suffice(fewer):
            kept, number = fewer, 0  # what an edit left out made necessary may not be so any more
        else:
            number += 1
    return tuple(edits) if len(kept) == len(every) else kept


def rebased(old: Any, new: Any, now: Any) -> Any:
    """Return `now` with what changed from `old` to `new`: by field, by key, and by element of a list."""
    if old is None or now == old or type(now) is not type(new):
        return new
    if attrs.has(type(new)):
        fields = ([getattr(each, field.name) for each in (old, new, now)] for field in attrs.fields(type(new)))
        named = zip((field.name for field in attrs.fields(type(new))), fields, strict=True)
        return attrs.evolve(now, **{name: rebased(*values) for name, values in named if values[0] != values[1]})
    if isinstance(new, Frozen):
        return now.merged({key: new.get(key) for key in {*old, *new} if old.get(key) != new.get(key)})
    if isinstance(new, tuple) and len(old) == len(new) == len(now) and all(map(attrs.has, map(type, new))):
        return tuple(map(rebased, old, new, now))
    if isinstance(new, tuple):
        return (*(item for item in now if item in new or item not in old), *(item for item in new if item not in old))
    return new


def file_name(key: Key) -> str:
    """Return the file that a diff names for an object: `demo/pod/web.yaml`."""
    name = f"{find_kind(key.kind).name.lower()}/{key.name}.yaml"
    return f"{key.namespace}/{name}" if key.namespace else name


def manifest_diff(changes: Iterable[ObjectChange]) -> str:
    """Return changes as a unified diff with a file per object; versions, uids and status are left out."""
    parts: list[str] = []
    for change in changes:
        name = file_name(change.key)
        before = f"a/{name}" if change.old is not None else "/dev/null"
        after = f"b/{name}" if change.new is not None else "/dev/null"
        if change.recreate:
            after += "  (delete it and create it again)"
        lines = unified_diff(_yaml_lines(change.old), _yaml_lines(change.new), before, after, lineterm="", n=2)
        parts += lines
    return "\n".join(parts)


def _yaml_lines(obj: Any) -> list[str]:
    if obj is None:
        return []
    plain = written_fields(obj)
    if obj.kind == "Node":
        plain["status"] = {"allocatable": manifest.to_plain(obj).get("status", {}).get("allocatable")}
    return manifest.write(manifest.from_plain(plain)).splitlines()


def written_fields(obj: Any) -> dict[str, Any]:
    """Return an object as its manifest, without its status and what a server fills in."""
    plain = manifest.to_plain(obj)
    plain.pop("status", None)
    plain["metadata"] = {word: value for word, value in plain["metadata"].items() if word not in SERVER_FIELDS}
    return plain


def carry_out(cluster: ClusterActs, changes: Iterable[ObjectChange], acts: Iterable[OutsideAct] = ()) -> None:
    """Make changes in a cluster as its user: of volumes, then deletions, pods last; acts from outside before them.

    Raises:
        ApplyRefused: the API server refuses.
        KeyError: an object to be changed does not exist.
    """
    for act in acts:
        act.perform(cluster)
    changes = tuple(changes)
    order = {"Pod": 1}  # a new pod comes after the claims it names
    with cluster.world.lock:
        for change in changes:
            if change.is_of_volume:
                _edit_in_place(cluster, change)
        for change in changes:
            if change.old is not None and (change.new is None or change.recreate):
                if change.recreate and change.key.kind == "Pod" and change.old.metadata.finalizers:
                    # else its name stays taken
                    cluster.patch(ref(change.key), {"metadata": {"finalizers": None}})
                cluster.delete(ref(change.key))
        again = [change.key for change in changes if change.new is not None and change.recreate]
        if any(key in cluster.world.log.objects for key in again):  # a finalizer holds it
            cluster.run(lambda asked: not any(key in asked.world.log.objects for key in again), steps=MOST_FINALIZED)
        for change in sorted(changes, key=lambda change: order.get(change.key.kind, 0)):
            if change.new is None or change.is_of_volume:
                continue
            if change.old is None or change.recreate:
                cluster.apply(manifest.write(as_created(change.new)))
            else:
                _edit_in_place(cluster, change)


def _edit_in_place(cluster: ClusterActs, change: ObjectChange) -> None:
    """Change one object in place as the user; a node's status as its kubelet."""
    where = ref(change.key)
    cluster._edit(where, lambda now: _changed_parts(now, change), f"user edits {change.key.name}")
    if change.key.kind == "Node" and change.old.status != change.new.status:
        new = attrs.evolve(cluster[where], status=change.new.status)
        write = Write("update_status", change.key, new, words=f"{change.key.name} reports another state")
        outcome = cluster.world.perform(USER, [write], write.words)[0]
        if isinstance(outcome, RefusedWrite):
            raise ApplyRefused([outcome])


def as_created(obj: Any) -> Any:
    """Return an object as a user creates it: without fields that the server fills in."""
    meta = attrs.evolve(
        obj.metadata,
        uid="",
        creation_timestamp=None,
        deletion_timestamp=None,
        resource_version=0,
        rest=type(obj.metadata.rest)({k: v for k, v in obj.metadata.rest.items() if k not in SERVER_FIELDS}),
    )
    found = attrs.evolve(obj, metadata=meta)
    if obj.kind == "Pod":
        found = attrs.evolve(found, status=type(obj.status)())
    if obj.kind == "Job" and not obj.spec.manual_selector:  # selector and label are made of the uid
        labels = obj.spec.template.metadata.labels.merged(dict.fromkeys(CONTROLLER_UID_LABELS))
        template = evolve_parts(obj.spec.template, metadata={"labels": labels})
        found = evolve_parts(found, spec={"selector": None, "template": template})
    return found


def _changed_parts(now: Any, change: ObjectChange) -> Any:
    """Return the present object with the parts that a change touches."""
    touched = {}
    for field in attrs.fields(type(now)):
        before, after = getattr(change.old, field.name), getattr(change.new, field.name)
        if field.name == "metadata":
            touched[field.name] = attrs.evolve(
                now.metadata, labels=after.labels, annotations=after.annotations
            )
        elif before != after:
            touched[field.name] = after
    return attrs.evolve(now, **touched)


SCALED = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
DELETED_FIRST = ("DaemonSet", "StatefulSet")  # their rollouts delete a pod before they make the new one
MOST_LINES = 8  # of one fix


def commands(changes: Iterable[ObjectChange]) -> list[str]:
    """Return the lines that make changes: what changes of volumes, then deletions, as a user would type them."""
    found = sorted(changes, key=lambda change: (not change.is_of_volume, change.new is not None))
    lines = list(dict.fromkeys(line for change in found for line in _lines(change)))
    return lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], f"and {len(lines) - MOST_LINES} more"]


def undo(changes: Iterable[ObjectChange]) -> str:
    """Return the lines that take changes back, what is made anew first; "none" where something is deleted."""
    changes = sorted(changes, key=lambda change: not change.recreate)
    if any(change.new is None or (change.recreate and change.key.kind == "PersistentVolume") for change in changes):
        return "none"
    back = [line + _mind(change) for change in changes for line in (
        [f"kubectl replace --force -f {change.key.name}.yaml"] if change.recreate else
        commands([ObjectChange(change.new, change.old)]))]  # fmt: skip
    return "\n".join(dict.fromkeys(back)) or "–"


def _mind(change: ObjectChange) -> str:
    """Return what to mind when a change is taken back, as a comment of a shell."""
    if change.recreate:
        claim = change.key.kind == "PersistentVolumeClaim"
        first = ": delete the pod first, a claim in use stays; WITHOUT what was written meanwhile"
        return f"   # as it was{first if claim else ''}"
    if change.old is None:
        return {"PersistentVolume": "   # it goes once no claim has it: pod and claim first",
                "PersistentVolumeClaim": "   # it goes once no pod uses it; by policy Delete with its files",
                }.get(change.key.kind, "")  # fmt: skip
    template = (getattr(each.spec, "template", None) for each in (change.old, change.new) if hasattr(each, "spec"))
    if len(set(template)) < 2:
        return ""
    ends = "a running pod is deleted, and " if change.key.kind in DELETED_FIRST else ""
    return f"   # {ends}the new pods then wait as before"


def _lines(change: ObjectChange) -> Iterator[str]:
    """Yield the lines for one object."""
    old, new, kind = change.old, change.new, find_kind(change.key.kind).name.lower()
    where = f"{kind} {change.key.name}" + (f" -n {change.key.namespace}" if change.key.namespace else "")
    if new is None:
        yield f"kubectl delete {where}"
    elif old is None:
        yield f"kubectl apply -f {change.key.name}.yaml   # as in the diff"
    elif change.recreate:
        yield f"kubectl replace --force -f {change.key.name}.yaml   # your own file, changed as in the diff"
    elif change.key.kind in SCALED and evolve_parts(old, spec={"replicas": new.spec.replicas}) == new:
        yield f"kubectl scale {where} --replicas={new.spec.replicas}"
    elif change.key.kind == "Node" or attrs.evolve(old, metadata=new.metadata) == new:
        yield from _short_lines(old, new, where)
    elif steps := list(_json_patch(written_fields(old), written_fields(new), "")):
        yield f"kubectl patch {where} --type=json -p '{json.dumps(steps, separators=(',', ':'))}'"


def _short_lines(old: Any, new: Any, where: str) -> Iterator[str]:
    """Yield a line for each change that kubectl has a verb for: of a cordon, of taints, of labels and annotations."""
    if old.kind == "Node" and old.spec.unschedulable != new.spec.unschedulable:
        yield f"kubectl {'cordon' if new.spec.unschedulable else 'uncordon'} {new.metadata.name}"
    if old.kind == "Node" and old.spec.taints != new.spec.taints:
        less = [f"{taint}-" for taint in old.spec.taints if taint not in new.spec.taints]
        more = [f"{taint}" for taint in new.spec.taints if taint not in old.spec.taints]
        yield f"kubectl taint {where} {' '.join((*less, *more))}"
    for verb, texts in (("label", "labels"), ("annotate", "annotations")):
        if changed := _texts(getattr(old.metadata, texts), getattr(new.metadata, texts)):
            yield f"kubectl {verb} {where} {changed}"


def _texts(old: Any, new: Any) -> str:
    """Return labels or annotations as kubectl takes them: `key=value`, `key-`; "" if none differs."""
    changed = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    words = " ".join(f"{key}={new[key]}" if key in new else f"{key}-" for key in changed)
    return words + (" --overwrite" if any(key in old and key in new for key in changed) else "")


def _json_patch(old: Any, new: Any, path: str) -> Iterator[dict[str, Any]]:
    """Yield the operations of a JSON patch that makes one value of another."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in new:
                yield {"op": "remove", "path": place}
            elif key not in old:
                yield {"op": "add", "path": place, "value": new[key]}
            else:
                yield from _json_patch(old[key], new[key], place)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, pair in enumerate(zip(old, new, strict=True)):
            yield from _json_patch(*pair, f"{path}/{number}")
    elif isinstance(old, list) and isinstance(new, list) and new[: len(old)] == old:
        for value in new[len(old) :]:
            yield {"op": "add", "path": f"{path}/-", "value": value}
    elif old != new:
        yield {"op": "replace", "path": path, "value": new}

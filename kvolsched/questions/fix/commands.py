"""The kubectl line that makes a change, and the one that takes it back."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from kvolsched.api.kinds.kind import find_kind
from kvolsched.api.kinds.meta import evolve_parts

from .edit import ObjectChange, written_fields

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
    elif change.key.kind == "Node" and old.spec.unschedulable != new.spec.unschedulable:
        yield f"kubectl {'cordon' if new.spec.unschedulable else 'uncordon'} {change.key.name}"
    elif change.key.kind == "Node" and old.spec.taints != new.spec.taints:
        less = [f"{taint}-" for taint in old.spec.taints if taint not in new.spec.taints]
        more = [f"{taint}" for taint in new.spec.taints if taint not in old.spec.taints]
        yield f"kubectl taint node {change.key.name} {' '.join((*less, *more))}"
    elif (labels := _texts(old.metadata.labels, new.metadata.labels)) and _same_body(old, new):
        yield f"kubectl label {where} {labels}"
    elif (texts := _texts(old.metadata.annotations, new.metadata.annotations)) and _same_body(old, new):
        yield f"kubectl annotate {where} {texts}"
    elif change.key.kind in SCALED and evolve_parts(old, spec={"replicas": new.spec.replicas}) == new:
        yield f"kubectl scale {where} --replicas={new.spec.replicas}"
    else:
        steps = list(_json_patch(written_fields(old), written_fields(new), ""))
        if steps:
            yield f"kubectl patch {where} --type=json -p '{json.dumps(steps, separators=(',', ':'))}'"


def _same_body(old: Any, new: Any) -> bool:
    """Say whether two objects differ in their metadata alone."""
    return bool(attrs.evolve(old, metadata=new.metadata) == new)


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

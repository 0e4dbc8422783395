"""Renamings under which a run stays equivalent: interchangeable nodes, hashes, pods of a ReplicaSet.

A renaming is applied to the text of a whole trace. Nodes are interchangeable only if the manifests of the trace are
equal afterwards: then only random choices distinguish them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

Steps = Sequence[Mapping[str, Any]]
MAX_PERMUTATIONS, MAX_PENDING = 720, 3  # permutations of nodes, and pending pods, that are tried
REVISION = "metadata.annotations[deployment.kubernetes.io/revision]"


def renamed_traces(steps: Steps, trace: Mapping[str, Any], recorded: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a trace under every equivalent renaming; the first keeps the node names.

    `trace` is ours (see `trace_rows.trace_of`); `recorded` has the changes of each object, for names of ReplicaSets.
    """
    text = json.dumps(trace)
    hashes = dict(zip(_sets(trace["objects"]), _sets(recorded), strict=False))
    for names, sizes in interchanges(steps):
        renamed = json.loads(_replaced(_replaced(text, {**names, **hashes}), sizes, whole=True))
        spelled = json.dumps(renamed)
        for numbers in _numbered(renamed):
            yield json.loads(_replaced(spelled, numbers))


def _sets(objects: Mapping[str, Any]) -> list[str]:
    """Return the names of ReplicaSets, sorted by Deployment and revision."""
    found = []
    for name, changes in objects.items():
        said = changes[0].get("set", {})
        if name.startswith("rs/"):
            found.append((said.get("metadata.ownerReferences", ""), int(said.get(REVISION, 0)), name[3:]))
    return [name for *_, name in sorted(found)]


def _numbered(trace: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield numberings of the pods of ReplicaSets and DaemonSets: by node, then by order of binding, pending pods last.

    Pending pods are interchangeable: where there are few, every order of them is yielded.
    """
    placed: list[tuple[str, str, int, str]] = []
    pending: dict[str, list[str]] = {}
    for name, changes in trace["objects"].items():
        owner = changes[0].get("set", {}).get("metadata.ownerReferences", "")
        if name.startswith("pod/") and owner.startswith(("rs/", "ds/")):
            places = zip(changes, trace["places"][name], strict=True)
            nodes = ((change.get("set", {}).get("spec.nodeName"), place) for change, place in places)
            node, place = next((each for each in nodes if each[0]), ("", 0))
            if node:
                placed.append((owner[3:], node, place, name[4:]))
            else:
                pending.setdefault(owner[3:], []).append(name[4:])
    count: dict[str, int] = {}
    found = {}
    for owner, _, _, name in sorted(placed):
        count[owner] = count.get(owner, 0) + 1
        found[name] = f"{owner}-#{count[owner]}"
    orders = [permutations(names) if len(names) <= MAX_PENDING else (names,) for names in pending.values()]
    for chosen in product(*orders):
        last = {
            name: f"{owner}-#{count.get(owner, 0) + number}" for owner, names in zip(pending, chosen, strict=True)
            for number, name in enumerate(names, 1)
        }
        yield {**found, **last}


def _replaced(text: str, names: Mapping[str, str], *, whole: bool = False) -> str:
    """Return a text with all these words replaced at once; `whole`: only complete JSON strings."""
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return text
    words = "|".join(re.escape(word) for word in sorted(changed, key=len, reverse=True))
    # A claim's name may begin with its pod's.
    found = rf'(?<=")(?:{words})(?=")' if whole else rf"(?<![\w.-])(?:{words})(?!\w)"
    return re.sub(found, lambda match: changed[match[0]], text)


def interchanges(steps: Steps) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield every exchange of nodes with their labels and volumes that leaves the manifests of a trace equal.

    The exchanged names come first, then the exchanged volume sizes.
    """
    manifests = [[*step.get("apply", ()), {word: step[word] for word in step if word != "apply"}] for step in steps]
    nodes = {p["metadata"]["name"]: p for step in manifests for p in _of(step, "Node")}
    volumes = {p["metadata"]["name"]: p for step in manifests for p in _of(step, "PersistentVolume")}
    wanted = [sorted(map(_masked, step)) for step in manifests]
    for number, order in enumerate(permutations(nodes)):
        if number >= MAX_PERMUTATIONS:
            return
        names = _labels_too(nodes, dict(zip(nodes, order, strict=True)))
        if names is None:
            continue
        places = _volumes_too(volumes, names)
        if places is None:
            continue
        every = {**names, **places}
        if [sorted(_replaced(_masked(p), every) for p in step) for step in manifests] != wanted:
            continue
        yield every, {_size(volumes[old]): _size(volumes[new]) for old, new in places.items()}


def _of(manifests: Iterable[Any], kind: str) -> list[Any]:
    return [plain for plain in manifests if isinstance(plain, Mapping) and plain.get("kind") == kind]


def _masked(plain: Any) -> str:
    """Return a manifest's text, a volume's without its size."""
    if isinstance(plain, Mapping) and plain.get("kind") == "PersistentVolume":
        plain = {**plain, "spec": {**plain["spec"], "capacity": None}}
    return json.dumps(plain, sort_keys=True)


def _size(volume: Mapping[str, Any]) -> str:
    return str(volume["spec"]["capacity"]["storage"])


def _labels_too(nodes: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str] | None:
    """Return an exchange of nodes together with their differing label values; None if inconsistent."""
    found = dict(names)
    for old, new in names.items():
        before, after = (nodes[name]["metadata"].get("labels", {}) for name in (old, new))
        if before.keys() != after.keys():
            return None
        for key, value in before.items():
            if found.setdefault(value, after[key]) != after[key]:
                return None
    return found


def _volumes_too(volumes: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str] | None:
    """Return volume -> its counterpart on the exchanged node: equal except for name and size."""
    def without_name(plain: Mapping[str, Any], change: Callable[[str], str] = str) -> str:
        return change(_replaced(_masked(plain), {plain["metadata"]["name"]: "*"}))

    left = dict(volumes)
    found: dict[str, str] = {}
    for name, plain in volumes.items():
        wanted = without_name(plain, lambda text: _replaced(text, names))
        same = [other for other, there in left.items() if without_name(there) == wanted]
        if not same:
            return None
        found[name] = name if name in same and wanted == without_name(plain) else same[0]
        del left[found[name]]
    return found

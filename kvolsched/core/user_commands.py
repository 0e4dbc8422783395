"""Kubectl's commands as functions of plain objects: each returns what is to be written; the cluster writes it.

Those that change single fields (labels, replicas, gates, taints) return merge patches. They refuse in kubectl's words
(v1.36.2; for drains `kubectl/pkg/drain`). Taints are written `key=value:Effect`, `key:Effect`, with a final `-` for
their removal. An annotation keeps the last applied manifest, which shows what a later one lacks.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..api.kinds.kind import KINDS_BY_NAME, kind_of
from ..api.kinds.meta import Frozen, evolve_parts
from ..api.kinds.pod import Pod
from ..api.kinds.selector import Taint
from ..api.text import manifest, patches
from ..api.unknown_name import UnknownName, did_you_mean

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
SCALABLE = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")  # have the scale subresource
RESTARTABLE = ("Deployment", "DaemonSet", "StatefulSet")

TextChanges = dict[str, str | None]  # None removes


class ActRefused(ValueError):
    """Raised when kubectl itself refuses, before it asks the API server.

    `words` is what kubectl prints, by default the reason as an error; `hint` says what there is instead.
    """

    def __init__(self, why: str, hint: str = "", words: str = "") -> None:
        super().__init__(f"{why}; {hint}" if hint else why)
        self.words, self.hint = words or f"error: {why}", hint


def text_changes(
    what: str, changes: Sequence[str | Mapping[str, str | None]], named: Mapping[str, str | None] | None = None
) -> TextChanges:
    """Return the changes of a "label" or "annotation" that a user writes as `key=value`, `key-` or a mapping.

    None removes; `named` are further changes.

    Raises:
        ActRefused: there is no change, a text is in none of these forms, or a key is both set and removed.
    """
    found: TextChanges = {}
    for change in changes:
        if isinstance(change, Mapping):
            found.update(change)
            continue
        key, sets, value = change.partition("=")
        if not sets and not (change.endswith("-") and len(change) > 1):
            raise ActRefused(f"unknown {what} spec: {change}", "write 'key=value', or 'key-' to remove the key")
        key = key if sets else change.removesuffix("-")
        if key in found and (found[key] is None) == bool(sets):
            both = f"the following annotation(s) in the same command: {key}"
            both = both if what == "annotation" else f"a {what} in the same command"
            raise ActRefused(f"can not both modify and remove {both}")
        found[key] = value if sets else None
    found.update(named or {})
    if not found:
        hint = "write 'key=value', or 'key-' to remove the key"
        raise ActRefused(f"at least one {what} update is required", hint)
    return {key: value if value is None else str(value) for key, value in found.items()}


def texts_patch(what: str, present: Mapping[str, str], changes: TextChanges, *, overwrite: bool) -> dict[str, Any]:
    """Return the merge patch that changes labels or annotations.

    Raises:
        ActRefused: a key has another value already, and `overwrite` is false.
    """
    taken = [key for key, value in changes.items() if value is not None and present.get(key, value) != value]
    if taken and not overwrite:
        there = [f"'{key}' already has a value ({present[key]})" for key in taken]
        if what == "label":
            raise ActRefused("; ".join(f"{each}, and --overwrite is false" for each in there))
        raise ActRefused(f"--overwrite is false but found the following declared annotation(s): {'; '.join(there)}")
    return {"metadata": {f"{what}s": changes}}


def check_replicas(replicas: int) -> None:
    """Refuse a number of replicas that is negative, which also stands for none.

    Raises:
        ActRefused: the number is negative.
    """
    if replicas < 0:
        words = "error: The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0"
        raise ActRefused(f"replicas must be a number that is 0 or greater, not {replicas!r}", words=words)


def scale_patch(obj: Any, replicas: int) -> dict[str, Any]:
    """Return the merge patch that sets the number of replicas.

    Raises:
        ActRefused: the kind has no replicas, or the number is negative.
    """
    check_replicas(replicas)
    if obj.kind not in SCALABLE:
        words = "Error from server (NotFound): the server could not find the requested resource"
        raise ActRefused(f"{_named(obj)} has no replicas", f"these kinds have: {', '.join(SCALABLE)}", words)
    return {"spec": {"replicas": replicas}}


def restart_patch(obj: Any, now: str) -> dict[str, Any]:
    """Return the patch of `kubectl rollout restart`: an annotation of the pod template with the time.

    Raises:
        ActRefused: the kind cannot be restarted, or was restarted in this second.
    """
    if obj.kind not in RESTARTABLE:
        raise ActRefused(f'{kind_of(obj.kind).resource} "{obj.metadata.name}" restarting is not supported')
    if obj.spec.template.metadata.annotations.get(RESTARTED_AT) == now:
        waiting = "please wait before attempting to trigger another"
        raise ActRefused(f"if restart has already been triggered within the past second, {waiting}")
    return {"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: now}}}}}


def without_gates(pod: Any, gates: tuple[str, ...]) -> dict[str, Any]:
    """Return the merge patch that removes these scheduling gates from a pod, all if none are named.

    Raises:
        UnknownName: the pod has no such gate. It is a ValueError.
    """
    there = [gate.name for gate in pod.spec.scheduling_gates]
    if unknown := [gate for gate in gates if gate not in there]:
        listed = ", ".join(there) or "none"
        hint = did_you_mean(unknown[0], there)
        raise UnknownName(f"{_named(pod)} has no scheduling gate {', '.join(unknown)}; there are: {listed}{hint}")
    left = [{"name": gate} for gate in there if gates and gate not in gates]
    return {"spec": {"schedulingGates": left or None}}


def _named(obj: Any) -> str:
    return f"{kind_of(obj.kind).singular}/{obj.metadata.name}"


EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def change_taints(node: Any, texts: Iterable[str], *, overwrite: bool = False) -> tuple[Any, str]:
    """Return a node with taints added and removed, and kubectl's word for it: tainted, untainted or modified.

    Raises:
        ActRefused: a text is no taint, a taint to add is there already, or one to remove is not.
    """
    added, removed = _parse(texts)
    old = node.spec.taints
    same = [taint for taint in old if any(_is_same(taint, new) for new in added)]
    if same and not overwrite:
        keys = ", ".join(dict.fromkeys(taint.key for taint in same))
        why = "taint(s) with same effect(s) and --overwrite is false"
        raise ActRefused(f"node {node.metadata.name} already has {keys} {why}")
    for gone in removed:
        if not any(_matches(gone, taint) for taint in old):
            raise ActRefused(f'taint "{gone.key}{":" + gone.effect if gone.effect else ""}" not found')
    kept = [taint for taint in old if taint not in same and not any(_matches(gone, taint) for gone in removed)]
    word = "modified" if (added and removed) or overwrite else "tainted" if added else "untainted"
    return evolve_parts(node, spec={"taints": (*added, *kept)}), word


def _parse(texts: Iterable[str]) -> tuple[list[Taint], list[Taint]]:
    """Return the taints to add and to remove."""
    added: list[Taint] = []
    removed: list[Taint] = []
    for text in texts:
        if text.endswith("-"):
            removed.append(attrs.evolve(_taint(text.removesuffix("-")), value=""))
            continue
        taint = _taint(text)
        if not taint.effect:
            raise _misused(f"invalid taint spec: {text}", "write 'key=value:Effect', or 'key-' to remove")
        if any(_is_same(taint, other) for other in added):
            raise ActRefused(f"duplicated taints with the same key and effect: {taint}")
        added.append(taint)
    if not added and not removed:
        raise ActRefused("at least one taint update is required")
    if both := [str(taint) for taint in added if any(_matches(gone, taint) for gone in removed)]:
        words = "can not both modify and remove the following taint(s) in the same command"
        raise ActRefused(f"{words}: {', '.join(both)}")
    return added, removed


def _taint(text: str) -> Taint:
    head, *effects = text.split(":")
    key, *values = head.split("=")
    if not key or len(effects) > 1 or len(values) > 1:
        raise _misused(f"invalid taint spec: {text}")
    if effects and effects[0] not in EFFECTS:
        why = f"invalid taint effect: {effects[0]}, unsupported taint effect"
        raise _misused(why, f"there are: {', '.join(EFFECTS)}")
    return Taint(key=key, value=values[0] if values else "", effect=effects[0] if effects else "")


def _misused(why: str, hint: str = "") -> ActRefused:
    """Return the refusal of words that are no taint, after which kubectl names its help."""
    return ActRefused(why, hint, words=f"error: {why}\nSee 'kubectl taint -h' for help and examples")


def _is_same(one: Taint, other: Taint) -> bool:
    return (one.key, one.effect) == (other.key, other.effect)


def _matches(gone: Taint, taint: Taint) -> bool:
    """Say whether a removal, which may name no effect, removes a taint."""
    return gone.key == taint.key and gone.effect in ("", taint.effect)


MIRROR = "kubernetes.io/config.mirror"
DAEMONS = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
LOCAL_STORAGE = "Pods with local storage (use --delete-emptydir-data to override)"
UNMANAGED = "Pods that declare no controller (use --force to override)"


@attrs.frozen
class DrainedPods:
    """The pods of a node that a drain evicts, what kubectl warns of, and why it evicts none, a sentence a sort."""

    evicted: tuple[Pod, ...]
    warnings: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class DrainRefused(ActRefused):
    """Raised when pods of nodes need an option that was not given: the reasons by node, and what was done before."""

    def __init__(self, faults: Mapping[str, tuple[str, ...]], done: Any) -> None:
        words = ["There are pending nodes to be drained:", *(f" {node}" for node in faults)]
        words += [fault for found in faults.values() for fault in found]
        super().__init__("; ".join(not_drained(*each) for each in faults.items()), words="\n".join(words))
        self.faults, self.done = dict(faults), done


def not_drained(node: str, faults: tuple[str, ...]) -> str:
    """Return kubectl's sentence for a node whose pods it does not evict."""
    joined = ", ".join(faults)
    return f'unable to drain node "{node}" due to error: {joined if len(faults) == 1 else f"[{joined}]"}'


def choose_pods(
    pods: Iterable[Pod], *, ignore_daemonsets: bool, delete_emptydir_data: bool, force: bool
) -> DrainedPods:
    """Return the pods of a node that a drain evicts: none if one needs an option that was not given."""
    faults: dict[str, list[str]] = {}
    warnings: dict[str, list[str]] = {}
    evicted: list[Pod] = []
    for pod in pods:
        name = f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}"
        owner = pod.metadata.controller
        if owner is not None and owner.kind == "DaemonSet" and not pod.terminal:
            found = (warnings, "ignoring DaemonSet-managed Pods") if ignore_daemonsets else (faults, DAEMONS)
            found[0].setdefault(found[1], []).append(name)
            continue
        if MIRROR in pod.metadata.annotations:
            continue
        if not pod.terminal and any("emptyDir" in volume.rest for volume in pod.spec.volumes):
            if not delete_emptydir_data:
                faults.setdefault(LOCAL_STORAGE, []).append(name)
                continue
            warnings.setdefault("deleting Pods with local storage", []).append(name)
        if owner is None and not pod.terminal:
            if not force:
                faults.setdefault(UNMANAGED, []).append(name)
                continue
            warnings.setdefault("deleting Pods that declare no controller", []).append(name)
        evicted.append(pod)
    if faults:
        refusals = (f"cannot delete {why}: {', '.join(names)}" for why, names in sorted(faults.items()))
        return DrainedPods((), faults=tuple(refusals))
    said = "; ".join(f"{why}: {', '.join(names)}" for why, names in sorted(warnings.items()))
    return DrainedPods(tuple(evicted), (f"Warning: {said}",) if said else ())


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Fields of metadata that only the server writes; apply ignores them in a manifest.
_SERVER_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")


def read_for_apply(source: Any) -> manifest.Manifests:
    """Read manifests as `kubectl apply` does: strictly, every object with a name, keeping the plain data.

    Raises:
        ManifestError: every fault of every source.
    """
    read = manifest.read(source, keep=True)
    nameless = [obj for obj in read.objects if not obj.metadata.name]
    if nameless:
        message = "apply finds objects by their names: give it a name, not a generateName"
        raise manifest.ManifestError([
            manifest.Fault(
                object=f"{KINDS_BY_NAME[obj.kind].alias}/{obj.metadata.generate_name}", path="metadata.generateName",
                rule="name", value=obj.metadata.generate_name, message=message,
            )
            for obj in nameless
        ])  # fmt: skip
    return read


def skipped_objects(read: manifest.Manifests) -> Iterator[str]:
    """Yield a line for each object that is not applied because its kind is not modelled."""
    for skipped in read.others:
        meta = skipped.get("metadata")
        name = meta.get("name") if isinstance(meta, Mapping) else None
        yield f"{skipped['kind'].lower()}/{name or '?'} left out: its kind is not modelled"


def with_last_applied(obj: Any, written: Mapping[str, Any]) -> Any:
    """Return the object that a manifest creates, with the manifest in its annotation."""
    applied = _as_json(obj, _configuration(obj, written))
    annotations = Frozen({**obj.metadata.annotations, LAST_APPLIED: applied})
    return evolve_parts(obj, metadata={"annotations": annotations})


def apply_manifest(old: Any, new: Any, written: Mapping[str, Any]) -> Any:
    """Return a stored object with a manifest applied to it, or None if that changes nothing.

    Fields of the manifest are set, fields of the last manifest that are missing now are removed, all others stay; lists
    merge by their keys. `new` is the object of the manifest, `written` the manifest as plain data.
    """
    configuration = _configuration(new, written)
    text = _as_json(new, configuration)
    metadata: dict[str, Any] = configuration["metadata"]
    annotations = {**metadata["annotations"], LAST_APPLIED: text}
    configuration = {**configuration, "metadata": {**metadata, "annotations": annotations}}
    last_applied = _parse_last_applied(old.metadata.annotations.get(LAST_APPLIED))
    merge = patches.apply_manifest(last_applied, configuration, manifest.to_plain(old))
    return manifest.from_plain(merge.data) if merge.patched else None


def _configuration(obj: Any, written: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest as kubectl keeps it in the annotation: with a namespace, and always with annotations."""
    metadata = {name: value for name, value in (written.get("metadata") or {}).items() if name not in _SERVER_FIELDS}
    annotations = {key: text for key, text in (metadata.get("annotations") or {}).items() if key != LAST_APPLIED}
    metadata["annotations"] = annotations
    if KINDS_BY_NAME[obj.kind].namespaced:
        metadata["namespace"] = obj.metadata.namespace or "default"
    return {**written, "metadata": metadata}


def _as_json(obj: Any, configuration: dict[str, Any]) -> str:
    try:
        return json.dumps(configuration, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    except TypeError:  # a key is no string: use the object as it was read
        plain = _configuration(obj, manifest.to_plain(obj))
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"


def _parse_last_applied(applied: str | None) -> dict[str, Any] | None:
    """Return the manifest in an annotation, or None if it is absent or cannot be parsed."""
    try:
        found = json.loads(applied) if applied else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None

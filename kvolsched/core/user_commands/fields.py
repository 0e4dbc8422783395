"""Kubectl's commands that change single fields: label, annotate, scale, rollout restart, and removal of gates.

They return merge patches, and refuse in kubectl's words (v1.36.2).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...api.kinds.kind import KINDS_BY_NAME
from ...api.unknown_name import UnknownName, did_you_mean

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
    """Return the changes that a user writes as `key=value`, `key-`, a mapping or named arguments; None removes.

    Args:
        what: "label" or "annotation".
        changes: texts and mappings.
        named: further changes.

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
        kind = KINDS_BY_NAME[obj.kind]
        raise ActRefused(f'{kind.resource} "{obj.metadata.name}" restarting is not supported')
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
    return f"{KINDS_BY_NAME[obj.kind].singular}/{obj.metadata.name}"

"""Kubectl's commands that change single fields: label, annotate, scale, rollout restart, cordon, and removal of gates.

They return merge patches or new objects, in kubectl's words where they refuse (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...api.kinds.kind import KINDS_BY_NAME
from ...api.kinds.meta import evolve_parts
from ...api.unknown_name import UnknownName, did_you_mean

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
SCALABLE = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")  # have the scale subresource
RESTARTABLE = ("Deployment", "DaemonSet", "StatefulSet")

TextChanges = dict[str, str | None]  # None removes


def cordon(node: Any) -> Any:
    """Return a node marked unschedulable."""
    return evolve_parts(node, spec={"unschedulable": True})


def uncordon(node: Any) -> Any:
    """Return a node marked schedulable."""
    return evolve_parts(node, spec={"unschedulable": False})


def label_changes(changes: tuple[str | Mapping[str, str | None], ...], named: Mapping[str, str | None]) -> TextChanges:
    """Return the changes that a user writes as `key=value`, `key-`, a mapping or named arguments; None removes.

    Raises:
        ValueError: there is no change, or a text is in none of these forms.
    """
    found: TextChanges = {}
    for change in changes:
        if isinstance(change, Mapping):
            found.update(change)
        elif "=" in change:
            key, _, value = change.partition("=")
            found[key] = value
        elif change.endswith("-") and len(change) > 1:
            found[change.removesuffix("-")] = None
        else:
            raise ValueError(f"{change!r} is no change; write 'key=value', or 'key-' to remove the key")
    found.update(named)
    if not found:
        raise ValueError("write at least one change: 'key=value', or 'key-' to remove the key")
    return {key: value if value is None else str(value) for key, value in found.items()}


def label_patch(obj: Any, changes: TextChanges, *, overwrite: bool) -> dict[str, Any]:
    """Return the merge patch that changes labels.

    Raises:
        ValueError: a label has another value already, and `overwrite` is false.
    """
    return {"metadata": {"labels": _checked(obj.metadata.labels, changes, overwrite=overwrite)}}


def annotation_patch(obj: Any, changes: TextChanges, *, overwrite: bool) -> dict[str, Any]:
    """Return the merge patch that changes annotations.

    Raises:
        ValueError: an annotation has another value already, and `overwrite` is false.
    """
    return {"metadata": {"annotations": _checked(obj.metadata.annotations, changes, overwrite=overwrite)}}


def _checked(present: Mapping[str, str], changes: TextChanges, *, overwrite: bool) -> TextChanges:
    """Return the changes, unless one overwrites a value that is there."""
    taken = [key for key, value in changes.items() if value is not None and present.get(key, value) != value]
    if taken and not overwrite:
        words = (f"'{key}' already has a value ({present[key]}), and --overwrite is false" for key in taken)
        raise ValueError("; ".join(words))
    return changes


def scale_patch(obj: Any, replicas: int) -> dict[str, Any]:
    """Return the merge patch that sets the number of replicas.

    Raises:
        ValueError: the kind has no replicas, or the number is negative.
    """
    if obj.kind not in SCALABLE:
        raise ValueError(f"{_named(obj)} has no replicas; these kinds have: {', '.join(SCALABLE)}")
    if replicas < 0:
        raise ValueError(f"replicas must be a number that is 0 or greater, not {replicas!r}")
    return {"spec": {"replicas": replicas}}


def restart_patch(obj: Any, now: str) -> dict[str, Any]:
    """Return the patch of `kubectl rollout restart`: an annotation of the pod template with the time.

    Raises:
        ValueError: the kind cannot be restarted, or was restarted in this second.
    """
    if obj.kind not in RESTARTABLE:
        kind = KINDS_BY_NAME[obj.kind]
        raise ValueError(f'{kind.resource} "{obj.metadata.name}" restarting is not supported')
    if obj.spec.template.metadata.annotations.get(RESTARTED_AT) == now:
        waiting = "please wait before attempting to trigger another"
        raise ValueError(f"if restart has already been triggered within the past second, {waiting}")
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

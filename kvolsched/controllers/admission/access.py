"""Permissions of components to write; components that are not listed may write everything (S0, Access Control)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...api.kinds.kind import find_kind
from ...world.apiserver import Permit

Permissions = Mapping[str, frozenset[tuple[str, str]]]
PERMISSIONS: Permissions = {  # component -> verb, kind
    "kube-scheduler": frozenset({
        ("bind", "Pod"), ("patch", "Pod"), ("delete", "Pod"), ("update", "PersistentVolume"),
        ("update", "PersistentVolumeClaim"),
    }),
}


def permissions_without(denied: Mapping[str, Iterable[str]], granted: Permissions = PERMISSIONS) -> Permit:
    """Return the check of permissions with some of them taken away.

    Args:
        denied: component -> what it may not do: `update persistentvolumes`, `get nodes` (S0, New Permissions).
        granted: what the components that are listed may do.

    Raises:
        ValueError: a denial is not a verb and a kind.
    """
    denials: set[tuple[str, str, str]] = set()
    for component, texts in denied.items():
        for text in texts:
            verb, _, kind = text.partition(" ")
            if not kind:
                raise ValueError(f"{component}: cannot deny {text!r}; write for example 'update persistentvolumes'")
            denials.add((component, verb, find_kind(kind).name))

    def permit(component: str, verb: str, kind: str) -> bool:
        allowed = granted.get(component)
        denied_verb = "update" if verb == "update_status" else verb
        has_permission = verb == "get" or allowed is None or (verb, kind) in allowed
        return has_permission and (component, denied_verb, kind) not in denials

    return permit

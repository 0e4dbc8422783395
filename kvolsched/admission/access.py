"""Who may do what beside reading; other components than those named may do everything (S0, Access Control)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..api.kinds.kind import find_kind
from ..world.apiserver import Permit

PERMISSIONS: Mapping[str, frozenset[tuple[str, str]]] = {  # component -> verb, kind
    "kube-scheduler": frozenset(
        {
            ("bind", "Pod"),
            ("patch", "Pod"),
            ("delete", "Pod"),
            ("update", "PersistentVolume"),
            ("update", "PersistentVolumeClaim"),
        }
    ),
}


def permissions_without(denied: Mapping[str, Iterable[str]]) -> Permit:
    """Return who may do what: everybody what is needed, less what is denied.

    Args:
        denied: component -> what it may not do: `update persistentvolumes`, `get nodes` (S0, New Permissions).

    Raises:
        ValueError: a denial is not a verb and a kind.
    """
    taken: set[tuple[str, str, str]] = set()
    for component, words in denied.items():
        for text in words:
            verb, _, kind = text.partition(" ")
            if not kind:
                raise ValueError(f"{component}: cannot deny {text!r}; write for example 'update persistentvolumes'")
            taken.add((component, verb, find_kind(kind).name))

    def permit(component: str, verb: str, kind: str) -> bool:
        may = PERMISSIONS.get(component)
        asked = "update" if verb == "update_status" else verb
        return (component, asked, kind) not in taken and (verb == "get" or may is None or (verb, kind) in may)

    return permit

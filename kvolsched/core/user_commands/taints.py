"""Taints as `kubectl taint` writes them: `key=value:Effect`, `key:Effect`, and with a final `-` for their removal."""

from collections.abc import Iterable
from typing import Any

import attrs

from ...api.kinds.meta import evolve_parts
from ...api.kinds.selector import Taint
from .fields import ActRefused

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

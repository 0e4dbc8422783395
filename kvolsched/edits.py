"""What the user's commands change in an object: `kubectl apply`'s merge, cordon, uncordon and taint, as functions.

Old value to new value; who writes it, and whether it is allowed, is for the cluster and its API server.
"""

from __future__ import annotations

from typing import Any

import attrs

from .api import manifest


def merge(old: Any, new: Any) -> Any:
    """Return `old` with what `new` says: maps merge, everything else is replaced."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return new
    merged = dict(old)
    for key, value in new.items():
        merged[key] = merge(merged[key], value) if key in merged else value
    return merged


def cordoned(node: Any) -> Any:
    """Return a node that takes no more pods."""
    return attrs.evolve(node, spec=attrs.evolve(node.spec, unschedulable=True))


def uncordoned(node: Any) -> Any:
    """Return a node that takes pods again."""
    return attrs.evolve(node, spec=attrs.evolve(node.spec, unschedulable=False))


def tainted(node: Any, text: str) -> Any:
    """Return a node with a taint `key=value:Effect` more."""
    plain = manifest.to_plain(node)
    head, _, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    taints = plain.setdefault("spec", {}).setdefault("taints", [])
    taints.append({"key": key, "effect": effect, **({"value": value} if value else {})})
    return manifest.from_plain(plain)

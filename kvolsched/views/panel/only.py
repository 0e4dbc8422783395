"""Of two runs side by side only what differs: what is drawn alike in both halves is left out of their maps."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

from attrs import evolve

from kvolsched.views.frame import Frame, PodRow
from kvolsched.views.pictures.ledger_parts import counted

_COUNTED = {"nodes": "node", "pods": "pod", "claims": "claim", "volumes": "volume"}


def only_differing(halves: tuple[Frame, Frame], differing: Iterable[str]) -> tuple[Frame, ...]:
    """Return both frames with the nodes, pods, claims and volumes that differ, and with the nodes of such pods.

    Args:
        halves: the two frames.
        differing: refs of the objects that differ.
    """
    kept = set(differing)
    for name in _COUNTED:
        rows, others = ({row.ref: row for row in getattr(half, name)} for half in halves)
        kept |= {ref for ref in rows.keys() | others.keys() if rows.get(ref) != others.get(ref)}
    for half in halves:
        kept |= {pod for claim in half.claims if claim.ref in kept for pod in claim.pods}
    places = {place for half in halves for pod in half.pods if pod.ref in kept for place in _places(pod)}
    kept |= {node.ref for half in halves for node in half.nodes if node.name in places}
    return tuple(_filtered(half, kept) for half in halves)


def hidden_words(halves: tuple[Frame, ...], shown: tuple[Frame, ...]) -> str:
    """Return in a sentence what both halves have alike and do not show."""
    gone = {one: len(getattr(halves[0], name)) - len(getattr(shown[0], name)) for name, one in _COUNTED.items()}
    named = ", ".join(counted(number, one) for one, number in gone.items() if number)
    if not any(map(is_drawn, shown)):
        return f"Nothing differs on the map: {named or 'there is no object'}, alike in both."
    return f"Hidden, for they are alike in both: {named}." if named else "Nothing is alike in both: all is shown."


def is_drawn(half: Frame) -> bool:
    """Say whether a map has anything to show."""
    return any(getattr(half, name) for name in _COUNTED)


def _places(pod: PodRow) -> set[str]:
    return {pod.node, pod.assumed_node, pod.nominated_node}


def _filtered(half: Frame, kept: AbstractSet[str]) -> Frame:
    rows: dict[str, Any] = {name: tuple(r for r in getattr(half, name) if r.ref in kept) for name in _COUNTED}
    rows["pods"] = tuple(evolve(pod, claims=tuple(c for c in pod.claims if c in kept)) for pod in rows["pods"])
    classes = {claim.class_name for claim in rows["claims"]}
    rows["classes"] = tuple(row for row in half.classes if row.ref in kept or row.name in classes)
    return evolve(half, **rows)

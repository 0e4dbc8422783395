"""The PVC protection controller: it alone lets a deleted claim go, once no pod on a node uses it.

A pod uses its claims as long as it exists, ended or not; one without a node does not, since no kubelet would start it
with a claim that is being deleted. It does nothing until a claim is deleted.
Mirrors `pkg/controller/volume/pvcprotection` (v1.36.2); the finalizer is given by admission.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..api.meta import without_finalizers
from ..api.pod import Pod
from ..api.volume import PersistentVolumeClaim
from ..world.apiserver import Write
from ..world.component import Component, Hand
from ..world.decision import Decision, named, say_done, say_refused
from ..world.log import Key
from ..world.need import Need, Some
from ..world.routine import Routine
from ..world.view import Index, Seen, View

NAME = "pvc-protection-controller"
FINALIZER = "kubernetes.io/pvc-protection"
CLAIM = "PersistentVolumeClaim"


def component() -> Component:
    """Return the PVC protection controller."""
    routine = Routine(NAME, _claims_of, sync, say_refused, say_done)
    return Component(NAME, (CLAIM, "Pod"), (routine,), _views, need=_need)


def _need() -> Need:
    return Some(CLAIM, _is_going)


def _is_going(claim: PersistentVolumeClaim) -> bool:
    return claim.metadata.deletion_timestamp is not None and FINALIZER in claim.metadata.finalizers


def _claims_on_node(pod: Pod) -> Iterator[str]:
    if pod.spec.node_name:
        for name in pod.claim_names():
            yield f"{pod.metadata.namespace or 'default'}/{name}"


def _views(_seen: Seen) -> dict[str, View]:
    return {"users": Index("Pod", _claims_on_node)}


def _claims_of(hand: Hand, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a claim that is being deleted, and those whose user has changed."""
    if key.kind == CLAIM:
        if new is not None and _is_going(new):
            yield f"{key.namespace}/{key.name}"
        return
    for claim in dict.fromkeys(_claims_on_node(new if new is not None else old)):
        found = hand.seen.at(Key(CLAIM, *claim.split("/")))
        if found is not None and _is_going(found):
            yield claim


def sync(hand: Hand, cause: str) -> Sequence[Write]:
    """Take the finalizer off a deleted claim that nobody uses."""
    claim: PersistentVolumeClaim | None = hand.seen.at(Key(CLAIM, *cause.split("/")))
    users = hand.views["users"]
    assert isinstance(users, Index)
    if claim is None or not _is_going(claim):
        return ()
    decision = Decision(hand, NAME)
    pods = users.get(cause)
    if pods:
        decision.say(f"PVC protection keeps {named(claim)}: {', '.join(map(named, pods))} uses it")
        return ()
    freed = without_finalizers(claim, FINALIZER)
    decision.update(claim, freed, f"PVC protection lets {named(claim)} go: no pod uses it")
    return decision.writes


__all__ = ["FINALIZER", "NAME", "component"]

"""The StatefulSet controller: it alone makes the pods of a StatefulSet, and their claims before them.

OrderedReady goes one replica at a time and waits until it is running and ready; Parallel makes all that are missing.
Scaling down deletes the highest replica first; claims stay, so a replica that comes back finds its volume.
Revisions and rolling updates are not modelled. Mirrors `pkg/controller/statefulset/stateful_set_control.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from ..api.meta import Frozen, ObjectMeta, OwnerReference
from ..api.pod import Pod
from ..api.pod_volume import PersistentVolumeClaimVolumeSource, Volume
from ..api.volume import PersistentVolumeClaim
from ..api.workload import StatefulSet, StatefulSetStatus
from ..world.apiserver import Write, key_of
from ..world.component import Component, Hand
from ..world.decision import Decision, Say, named, say_done, say_refused
from ..world.log import Key
from ..world.routine import Routine
from ..world.view import Index, Seen, View

NAME = "statefulset-controller"
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"


def _owner(pod: Pod) -> Iterator[str]:
    owner = pod.metadata.controller
    if owner is not None and owner.kind == "StatefulSet":
        yield owner.uid


def _views(_seen: Seen) -> dict[str, View]:
    return {"pods": Index("Pod", _owner)}


def component() -> Component:
    """Return the StatefulSet controller."""
    routine = Routine(NAME, _sets_of, sync, say_refused, say_done)
    return Component(NAME, ("StatefulSet", "Pod", "PersistentVolumeClaim"), (routine,), _views)


def _sets_of(_hand: Hand, key: Key, old: object, new: object) -> Iterator[str]:
    """Yield the StatefulSet that has changed, or that owns the pod which has."""
    if key.kind == "StatefulSet":
        if new is not None:
            yield f"{key.namespace}/{key.name}"
    elif key.kind == "Pod":
        pod = new if new is not None else old
        assert isinstance(pod, Pod)
        owner = pod.metadata.controller
        if owner is not None and owner.kind == "StatefulSet":
            yield f"{key.namespace}/{owner.name}"


def sync(hand: Hand, cause: str) -> Sequence[Write]:
    """Bring one StatefulSet a step nearer to what it asks for, then its status to what was seen."""
    owner: StatefulSet | None = hand.seen.at(Key("StatefulSet", *cause.split("/")))
    if owner is None or owner.metadata.deletion_timestamp is not None:
        return ()
    pods = _pods(hand, owner)
    wanted = 1 if owner.spec.replicas is None else owner.spec.replicas
    one_by_one = owner.spec.pod_management_policy != "Parallel"
    decision = Decision(hand, NAME)
    if not _replicas(decision, owner, pods, wanted, one_by_one=one_by_one):
        _condemned(decision, owner, pods, wanted, one_by_one=one_by_one)
    status = _status(owner, pods)
    decision.update_status(owner, attrs.evolve(owner, status=status), f"StatefulSet controller counts {named(owner)}")
    return decision.writes


def _pods(hand: Hand, owner: StatefulSet) -> dict[int, Pod]:
    """Return the pods of a StatefulSet by ordinal."""
    index = hand.views["pods"]
    assert isinstance(index, Index)
    found = {}
    for pod in index.get(owner.metadata.uid):
        name, _, ordinal = pod.metadata.name.rpartition("-")
        if name == owner.metadata.name and ordinal.isdecimal():
            found[int(ordinal)] = pod
    return found


def _replicas(
    decision: Decision, owner: StatefulSet, pods: dict[int, Pod], wanted: int, *, one_by_one: bool
) -> bool:
    """Make what is missing, and replace what has ended; say whether to stop here for now."""
    for ordinal in range(wanted):
        pod = pods.get(ordinal)
        if pod is None:
            _create(decision, owner, ordinal)
            if one_by_one:
                return True
        elif pod.terminal:
            if pod.metadata.deletion_timestamp is None:
                where = f"{owner.metadata.namespace or 'default'}/{owner.metadata.name}"
                words = f"StatefulSet {where} is recreating failed Pod {pod.metadata.name}"
                decision.event(owner, "Warning", "RecreatingFailedPod", words)
                _delete(decision, owner, pod)
            return True
        elif one_by_one and (pod.metadata.deletion_timestamp is not None or not ready(pod)):
            return True
    return False


def _condemned(
    decision: Decision, owner: StatefulSet, pods: dict[int, Pod], wanted: int, *, one_by_one: bool
) -> None:
    """Delete the replicas that are too many, the highest first."""
    for ordinal in sorted((number for number in pods if number >= wanted), reverse=True):
        pod = pods[ordinal]
        if pod.metadata.deletion_timestamp is None:
            _delete(decision, owner, pod)
        if one_by_one:
            return


def _create(decision: Decision, owner: StatefulSet, ordinal: int) -> None:
    """Create a replica's claims that do not exist yet, then its pod."""
    hand, about, set_name = decision.hand, key_of(owner), owner.metadata.name
    pod = pod_for(owner, ordinal)
    name = pod.metadata.name
    for claim in claims_for(owner, ordinal):
        if hand.seen.at(key_of(claim)) is not None:
            continue
        what = f"Claim {claim.metadata.name} Pod {name} in StatefulSet {set_name}"
        failed = f"create {what} failed error: {{error}}"
        decision.create(
            claim,
            f"StatefulSet controller creates {named(claim)}",
            then=(Say(about, "Normal", "SuccessfulCreate", f"Create {what} success", NAME),),
            otherwise=(Say(about, "Warning", "FailedCreate", failed, NAME),),
        )
    what = f"Pod {name} in StatefulSet {set_name}"
    decision.create(
        pod,
        f"StatefulSet controller creates {named(pod)}",
        then=(Say(about, "Normal", "SuccessfulCreate", f"Create {what} successful", NAME),),
        otherwise=(Say(about, "Warning", "FailedCreate", f"create {what} failed error: {{error}}", NAME),),
    )


def _delete(decision: Decision, owner: StatefulSet, pod: Pod) -> None:
    what = f"Pod {pod.metadata.name} in StatefulSet {owner.metadata.name}"
    decision.delete(pod, f"StatefulSet controller deletes {named(pod)}")
    decision.event(owner, "Normal", "SuccessfulDelete", f"Delete {what} successful")


def pod_for(owner: StatefulSet, ordinal: int) -> Pod:
    """Return a replica: the template with its own name, labels and claims."""
    template, name = owner.spec.template, f"{owner.metadata.name}-{ordinal}"
    claims = {
        claim.metadata.name: Volume(
            name=claim.metadata.name,
            persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"{claim.metadata.name}-{name}"),
        )
        for claim in owner.spec.volume_claim_templates
    }
    others = tuple(volume for volume in template.spec.volumes if volume.name not in claims)
    labels = template.metadata.labels.merged({POD_NAME: name, POD_INDEX: str(ordinal)})
    rest = template.spec.rest.merged({"hostname": name})
    if owner.spec.service_name:
        rest = rest.merged({"subdomain": owner.spec.service_name})
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace=owner.metadata.namespace or "default",
            labels=labels,
            annotations=template.metadata.annotations,
            owner_references=(owned_by(owner),),
        ),
        spec=attrs.evolve(template.spec, volumes=(*claims.values(), *others), rest=rest),
    )


def owned_by(owner: StatefulSet) -> OwnerReference:
    """Return the reference that makes an object a StatefulSet's own."""
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )


def claims_for(owner: StatefulSet, ordinal: int) -> Iterator[PersistentVolumeClaim]:
    """Yield a replica's claims, with the labels that the StatefulSet selects by."""
    selector = owner.spec.selector
    chosen = selector.match_labels if selector is not None else Frozen()
    for template in owner.spec.volume_claim_templates:
        meta = attrs.evolve(
            template.metadata,
            name=f"{template.metadata.name}-{owner.metadata.name}-{ordinal}",
            namespace=owner.metadata.namespace or "default",
            labels=template.metadata.labels.merged(chosen),
        )
        yield attrs.evolve(template, metadata=meta)


def ready(pod: Pod) -> bool:
    """Say whether a pod is running and ready."""
    condition = pod.status.condition("Ready")
    return pod.status.phase == "Running" and condition is not None and condition.status == "True"


def _status(owner: StatefulSet, pods: dict[int, Pod]) -> StatefulSetStatus:
    """Count the pods as they were seen, before this sync's own writes."""
    living = sum(1 for pod in pods.values() if pod.metadata.deletion_timestamp is None)
    running = sum(1 for pod in pods.values() if ready(pod))
    return attrs.evolve(
        owner.status,
        observed_generation=owner.metadata.rest.get("generation", 1),
        replicas=len(pods),
        current_replicas=living,
        updated_replicas=living,
        ready_replicas=running,
        available_replicas=running,
    )


__all__ = ["NAME", "claims_for", "component", "pod_for", "ready"]

"""Catalogue: edits that replace a pod's claims, with another class or a new volume, or create missing ones.

Data on the volume of the old claim stays there, and each edit that replaces a claim says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from kvolsched.api import volumes
from kvolsched.api.kinds.meta import Frozen, ObjectMeta, OwnerReference, Resources
from kvolsched.api.kinds.pod_volume import Volume
from kvolsched.api.kinds.storage_class import DEFAULT_CLASS, WAIT_FOR_FIRST_CONSUMER, StorageClass
from kvolsched.api.kinds.volume import PersistentVolumeClaim, PersistentVolumeClaimSpec
from kvolsched.scheduler.pod_claims import named_claims

from .add_volume import VOLUME_COST, add_volume
from .edit import Edit, ObjectChange, merge_changes
from .pods import edit_spec
from .trial_cluster import TrialCluster

CLAIM_COST = 3
EMPTY_VOLUME = "the new volume is empty"


def replace_with_delayed_class(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Replace a claim by one of a copied class with delayed binding: an Immediate class cannot be changed."""
    name = volumes.class_of_claim(claim)
    storage_class = trial.get("StorageClass", name)
    if storage_class is None or storage_class.delayed or not volumes.has_provisioner(storage_class):
        return
    later = f"{name}-wait"
    like = attrs.evolve(
        storage_class, metadata=ObjectMeta(name=later), volume_binding_mode=WAIT_FOR_FIRST_CONSUMER
    )
    changes = [ObjectChange(None, like)] if trial.get("StorageClass", later) is None else []
    words = f"with a class {later} that delays binding (WaitForFirstConsumer)"
    yield from _replace_one_claim(claim, trial, later, words, changes)


def replace_with_existing_class(name: str, claim: PersistentVolumeClaim | None, trial: TrialCluster) -> Iterator[Edit]:
    """Replace a claim by one of an existing class with delayed binding, or, without any, by one with a new volume."""
    if claim is None:
        return
    classes = delayed_classes(trial)
    for storage_class in classes[:2]:
        words = f"of the existing class {storage_class.metadata.name}"
        yield from _replace_one_claim(claim, trial, storage_class.metadata.name, words, [])
    if not classes:
        yield from _replace_with_new_volumes([claim], trial)


def replace_all_claims(trial: TrialCluster) -> Iterator[Edit]:
    """Replace all claims of the pod and create missing ones, since their volumes may be too far apart."""
    pod = trial.pod
    names = dict.fromkeys(named_claims(pod))
    found = {name: trial.get("PersistentVolumeClaim", name, pod.metadata.namespace) for name in names}
    claims = [claim for claim in found.values() if claim is not None]
    missing = [name for name, claim in found.items() if claim is None]
    if not claims or len(found) < 2 or not all(map(trial.is_stored, claims)):
        return
    classes = delayed_classes(trial)
    if not classes:
        yield from _replace_with_new_volumes(claims, trial)
        return
    with_volume = [claim for claim in claims if volumes.is_bound(claim) or claim.spec.volume_name]
    for replaced in (with_volume, claims) if 1 < len(with_volume) < len(claims) else (claims,):
        others = {claim.metadata.name: _replacement_name(claim) for claim in replaced}
        if any(_is_claim_name_taken(other, trial) for other in others.values()):
            continue
        known = {storage_class.metadata.name for storage_class in classes}
        first = classes[0].metadata.name
        chosen = [name if (name := volumes.class_of_claim(claim)) in known else first for claim in replaced]
        pairs = zip(replaced, chosen, strict=True)
        new_claims = [_claim_like(claim, _replacement_name(claim), class_name) for claim, class_name in pairs]
        new_claims += [_minimal_claim(name, pod.metadata.namespace, first) for name in missing]
        words = f"use new claims {', '.join(others.values())} of the class {', '.join(dict.fromkeys(chosen))}"
        if missing:
            words += f", and create {', '.join(missing)} (1Gi of {first})"
        changes = [ObjectChange(None, claim) for claim in new_claims]
        yield _replacement_edit(trial, others, words, CLAIM_COST * len(changes), changes)


def create_missing_claim(name: str, trial: TrialCluster) -> Iterator[Edit]:
    """Create a missing claim of a class with delayed binding, or with a new volume."""
    if name not in named_claims(trial.pod):
        return
    namespace = trial.pod.metadata.namespace
    for storage_class in delayed_classes(trial)[:2]:
        claim = _minimal_claim(name, namespace, storage_class.metadata.name)
        words = f"create the claim {name}, 1Gi of class {storage_class.metadata.name}"
        yield Edit(words, CLAIM_COST, (ObjectChange(None, claim),), note="set size and access modes as you need them")
    claim = _minimal_claim(name, namespace, "")
    for more in add_volume(claim, trial, None, bind=True):
        words = f"create the claim {name} of 1Gi and a volume for it"
        changes = (ObjectChange(None, claim), *more.changes)
        yield Edit(words, CLAIM_COST + VOLUME_COST, changes, more.expected, more.note, more.last_resort)


def create_ephemeral_claims(trial: TrialCluster) -> Iterator[Edit]:
    """Create the pod's claims for its ephemeral volumes; a claim of another owner with that name is deleted."""
    pod = trial.pod
    for volume in pod.spec.volumes:
        template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
        if template is None or volume.persistent_volume_claim is not None:
            continue
        name = f"{pod.metadata.name}-{volume.name}"
        old = trial.get("PersistentVolumeClaim", name, pod.metadata.namespace)
        owner = old.metadata.controller if old is not None else None
        if owner is not None and owner.uid == pod.metadata.uid:
            continue
        reference = OwnerReference(
            api_version="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid, controller=True,
            block_owner_deletion=True,
        )  # fmt: skip
        meta = ObjectMeta(
            name=name, namespace=pod.metadata.namespace, labels=template.metadata.labels,
            annotations=template.metadata.annotations, owner_references=(reference,),
        )  # fmt: skip
        spec = template.spec
        if spec.storage_class_name is None:
            spec = attrs.evolve(spec, storage_class_name=_default_class(trial))
        claim = PersistentVolumeClaim(metadata=meta, spec=spec)
        first = "" if old is None else f"delete the claim {name}, which is not the pod's, and "
        words = f"{first}create the claim {name} as the pod's volume {volume.name} describes it"
        note = "the ephemeral volume controller does that by itself, once no other claim has the name"
        change = ObjectChange(old, claim, recreate=old is not None)
        yield Edit(words, CLAIM_COST if old is not None else 1, (change,), note=note)


def delayed_classes(trial: TrialCluster) -> list[StorageClass]:
    """Return the classes with delayed binding and a provisioner."""
    delayed = (storage_class for storage_class in trial.of_kind("StorageClass") if storage_class.delayed)
    return [storage_class for storage_class in delayed if volumes.has_provisioner(storage_class)]


# --- inside ----------------------------------------------------------------------------------------------------------


def _default_class(trial: TrialCluster) -> str | None:
    for storage_class in trial.of_kind("StorageClass"):
        if storage_class.metadata.annotations.get(DEFAULT_CLASS) == "true":
            return str(storage_class.metadata.name)
    return None


def _replacement_name(claim: PersistentVolumeClaim) -> str:
    return f"{claim.metadata.name}-wait"


def _is_claim_name_taken(name: str, trial: TrialCluster) -> bool:
    return trial.get("PersistentVolumeClaim", name, trial.key.namespace) is not None


def _replace_one_claim(
    claim: PersistentVolumeClaim, trial: TrialCluster, of_class: str, words: str, changes: Sequence[ObjectChange]
) -> Iterator[Edit]:
    """Yield the edit that replaces one claim of the pod, after other changes."""
    name, other = claim.metadata.name, _replacement_name(claim)
    if name in named_claims(trial.pod) and trial.is_stored(claim) and not _is_claim_name_taken(other, trial):
        all_changes = [*changes, ObjectChange(None, _claim_like(claim, other, of_class))]
        words = f"use a new claim {other} {words}"
        yield _replacement_edit(trial, {name: other}, words, CLAIM_COST + len(changes), all_changes)


def _replace_with_new_volumes(claims: Sequence[PersistentVolumeClaim], trial: TrialCluster) -> Iterator[Edit]:
    """Yield the edit that replaces claims of the pod by claims without a class, each with a new volume."""
    named = named_claims(trial.pod)
    replaced = [claim for claim in claims if claim.metadata.name in named and trial.is_stored(claim)]
    others = {claim.metadata.name: _replacement_name(claim) for claim in replaced}
    if not others or any(_is_claim_name_taken(other, trial) for other in others.values()):
        return
    new_claims = [_claim_like(claim, others[claim.metadata.name], "") for claim in replaced]
    adding = [edit for claim in new_claims for edit in add_volume(claim, trial, None, bind=True)]
    if len(adding) < len(new_claims):
        return
    words = f"use new claims {', '.join(others.values())} without a class, each with a new volume"
    if len(new_claims) == 1:
        words = f"use a new claim {new_claims[0].metadata.name} without a class, with a new volume"
    changes = [*(ObjectChange(None, claim) for claim in new_claims), *merge_changes(adding)]
    edit = _replacement_edit(trial, others, words, (CLAIM_COST + VOLUME_COST) * len(new_claims), changes)
    expected = tuple(change for added in adding for change in added.expected)
    yield attrs.evolve(edit, expected=expected, note=f"{edit.note}; {adding[0].note}", last_resort=True)


def _replacement_edit(
    trial: TrialCluster, others: Mapping[str, str], words: str, cost: int, changes: Sequence[ObjectChange]
) -> Edit:
    """Return the edit that lets the pod name other claims, after other changes."""
    pod = trial.pod

    def renamed(volume: Volume) -> Volume:
        source = volume.persistent_volume_claim
        if source is None or source.claim_name not in others:
            return volume
        return attrs.evolve(volume, persistent_volume_claim=attrs.evolve(source, claim_name=others[source.claim_name]))

    edit = edit_spec(trial, words, cost, attrs.evolve(pod.spec, volumes=tuple(map(renamed, pod.spec.volumes))))
    note = "; ".join(part for part in (edit.note, EMPTY_VOLUME) if part)
    return attrs.evolve(edit, changes=(*changes, *edit.changes), note=note)


def _minimal_claim(name: str, namespace: str, of_class: str) -> PersistentVolumeClaim:
    spec = PersistentVolumeClaimSpec(
        access_modes=("ReadWriteOnce",), resources=Resources(requests=Frozen({"storage": "1Gi"})),
        storage_class_name=of_class,
    )  # fmt: skip
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


def _claim_like(claim: PersistentVolumeClaim, name: str, of_class: str) -> PersistentVolumeClaim:
    """Return a claim with the size and modes of another, in another class."""
    spec = PersistentVolumeClaimSpec(
        access_modes=claim.spec.access_modes, resources=claim.spec.resources, volume_mode=claim.spec.volume_mode,
        storage_class_name=of_class,
    )  # fmt: skip
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace=claim.metadata.namespace), spec=spec)

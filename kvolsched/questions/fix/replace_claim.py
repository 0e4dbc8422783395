"""Catalogue: edits that replace a pod's claims, with another class or a new volume, or create missing ones.

Data on the volume of the old claim stays there, and each edit that replaces a claim says so. Where a volume that
somebody wrote states a wrong domain, it is made anew: its nodeAffinity cannot be changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import attrs

from ...api import volumes
from ...api.kinds.meta import Frozen, ObjectMeta, Resources, evolve_parts
from ...api.kinds.node import DOMAIN_LABELS, Node
from ...api.kinds.pod import Pod, PodSpec, Volume
from ...api.kinds.selector import Requirement
from ...api.kinds.storage_class import WAIT_FOR_FIRST_CONSUMER, StorageClass
from ...api.kinds.volume import (
    BIND_COMPLETED,
    PROVISIONED_BY,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    VolumeNodeAffinity,
)
from ...api.words import listed
from ...controllers.ephemeral_volume import claim_for
from ...scheduler.volume_clauses import named_claims
from ..near_names import near_misses
from .add_volume import VOLUME_COST, add_volume, bound_to_each_other, is_free
from .edit import CLASSES, OPERATOR, Edit, ObjectChange
from .owners import owner_on_top
from .pods import edit_spec
from .trial_cluster import TrialCluster

CLAIM_COST = 3
RETAIN = "Retain"  # the policy with which a volume stays when its claim goes
SCRATCH = frozenset({"log", "logs", "cache", "tmp", "temp", "scratch"})  # names of what is the least to give up


def replace_with_delayed_class(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Replace a claim by one of a copied class with delayed binding: an Immediate class cannot be changed."""
    name, storage_class = volumes.class_of_claim(claim), trial.class_of(claim)
    if storage_class is None or storage_class.delayed or not volumes.has_provisioner(storage_class):
        return
    later = f"{name}-wait"
    like = attrs.evolve(storage_class, metadata=ObjectMeta(name=later), volume_binding_mode=WAIT_FOR_FIRST_CONSUMER)
    changes = [ObjectChange(None, like)] if trial.get("StorageClass", later) is None else []
    words = f"with a class {later} that delays binding (WaitForFirstConsumer)"
    yield from _replace_one_claim(claim, trial, later, words, changes)


def replace_with_existing_class(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Replace a claim by one of an existing class with delayed binding."""
    for storage_class in delayed_classes(trial)[:2]:
        words = f"of the existing class {storage_class.metadata.name}"
        yield from _replace_one_claim(claim, trial, storage_class.metadata.name, words, [])


def replace_with_free_volume(
    claim: PersistentVolumeClaim, trial: TrialCluster, near: Sequence[Node]
) -> Iterator[Edit]:
    """Replace a claim by one on a free volume of its class that a near node reaches."""
    name, other = claim.metadata.name, _replacement_name(claim)
    if is_of_template(claim, trial) or not trial.is_stored(claim) or trial.claim(other) is not None:
        return
    for volume in trial.seen.volumes_of_class(volumes.class_of_claim(claim)):
        large = volumes.capacity(volume) >= volumes.requested(claim) and volumes.suits(claim, volume)
        if is_free(volume) and large and any(volumes.volume_fits_node(volume, node) for node in near):
            like = _claim_like(claim, other, volumes.class_of_claim(claim))
            new = evolve_parts(like, spec={"volume_name": volume.metadata.name})
            words = f"Use a new claim {other} on the free volume {volume.metadata.name}"
            edit = _replacement_edit(trial, {name: other}, words, CLAIM_COST, [ObjectChange(None, new)])
            yield attrs.evolve(edit, expected=tuple(bound_to_each_other(new, volume)))


def replace_all_claims(trial: TrialCluster) -> Iterator[Edit]:
    """Replace all claims of the pod and create missing ones, since their volumes may be too far apart."""
    pod = trial.pod
    names = dict.fromkeys(named_claims(pod))
    found = {name: trial.claim(name) for name in names}
    claims = [claim for claim in found.values() if claim is not None]
    missing = [name for name, claim in found.items() if claim is None]
    if not claims or len(found) < 2 or not all(map(trial.is_stored, claims)):
        return
    if any(is_of_template(claim, trial) for claim in claims):
        return
    mine = [trial.class_of(claim) for claim in claims]
    waiting = [each for each in mine if each is not None and each.delayed]  # also of volumes that somebody made
    classes = [*dict.fromkeys([*waiting, *delayed_classes(trial)])]
    if not classes:
        return
    with_volume = [claim for claim in claims if volumes.is_bound(claim) or claim.spec.volume_name]
    for replaced in (with_volume, claims) if 1 < len(with_volume) < len(claims) else (claims,):
        others = {claim.metadata.name: _replacement_name(claim) for claim in replaced}
        if any(trial.claim(other) is not None for other in others.values()):
            continue
        known = {storage_class.metadata.name for storage_class in classes}
        first = classes[0].metadata.name
        chosen = [name if (name := volumes.class_of_claim(claim)) in known else first for claim in replaced]
        pairs = zip(replaced, chosen, strict=True)
        new_claims = [_claim_like(claim, _replacement_name(claim), class_name) for claim, class_name in pairs]
        new_claims += [_minimal_claim(name, pod.metadata.namespace, first) for name in missing]
        words = f"Use new claims {', '.join(others.values())} of the class {', '.join(dict.fromkeys(chosen))}"
        if missing:
            words += f", and create {', '.join(missing)} (1Gi of {first})"
        changes = [ObjectChange(None, claim) for claim in new_claims]
        yield _replacement_edit(trial, others, words, CLAIM_COST * len(changes), changes)


TAKE_BACK = (
    "scale the set down, delete the new claim, take claimRef out of {0}, create the claim anew with volumeName: {0}, "
    "scale the set up; WITHOUT what was written meanwhile"
)


def delete_claim_and_pod(claims: Sequence[PersistentVolumeClaim], trial: TrialCluster) -> Iterator[Edit]:
    """Delete claims of a StatefulSet's pod together with the pod: the set makes both anew, with empty volumes."""
    owner = owner_on_top(trial.pod, trial.objects)
    mine = [claim for claim in claims if is_of_template(claim, trial)]
    if owner is None or not mine or len(mine) < len(claims) or not all(map(trial.is_stored, mine)):
        return
    pod, names = trial.pod, [claim.metadata.name for claim in mine]
    bound = trial.volumes_of(mine)
    fresh = [_claim_like(claim, claim.metadata.name, volumes.class_of_claim(claim)) for claim in mine]
    expected = tuple(ObjectChange(None, claim) for claim in fresh)
    kept = [evolve_parts(volume, spec={"persistent_volume_reclaim_policy": RETAIN}) for volume in bound]
    goes = [ObjectChange(old, new) for old, new in zip(bound, kept, strict=True) if old != new]
    changes = (*goes, *(ObjectChange(claim, None) for claim in mine), ObjectChange(pod, None))
    words = f"Delete claim and pod: {', '.join(names)} and {pod.metadata.name}"
    again = ObjectChange(None, pod)
    letter, data = ("H", left_behind(kept)) if bound else ("B", "")
    data += ", WHICH IS SET FIRST: without it they would be GONE" if goes else ""
    workload = trial.get(owner.kind, owner.name, trial.key.namespace)
    alone = workload is not None and workload.spec.replicas == 1
    safe = "NO OTHER COPY, it has 1 replica: restore a backup" if alone else (
        "safe only if the application has replicas, or a backup to restore")  # fmt: skip
    safe = safe if bound else "nothing is lost"
    note = f"{owner} makes both anew; {safe}"
    yield Edit(words, CLAIM_COST * len(mine), changes, "delete claim", (*expected, again), note, letter, data=data,
               undo="".join(TAKE_BACK.format(volume.metadata.name) for volume in bound[:1]))


def restore_snapshot(claim: PersistentVolumeClaim, trial: TrialCluster) -> Iterator[Edit]:
    """Copy a volume where the pod may run: by a snapshot, if its driver makes them."""
    volume = trial.get("PersistentVolume", claim.spec.volume_name)
    driver = volume.spec.rest.get("csi", Frozen()).get("driver", "") if volume is not None else ""
    owner = owner_on_top(trial.pod, trial.objects)
    if driver and owner is not None and is_of_template(claim, trial):
        name, old, where = claim.metadata.name, volume.metadata.name, f"-n {claim.metadata.namespace}"
        pod = trial.pod.metadata.name
        words = f"Restore a snapshot of {old} as a new claim {name} where nodes are"
        # Without its set nobody makes an empty claim of the name meanwhile.
        do = (f"keep {owner.name}.yaml and the claim's manifest; make a VolumeSnapshot of {name} by a class "
              f"of {driver} (VolumeSnapshotClass) while the zone of {old} can be read; wait until it is readyToUse\n"
              f"""kubectl patch pv {old} -p '{{"spec":{{"persistentVolumeReclaimPolicy":"Retain"}}}}'\n"""
              f"kubectl delete statefulset {owner.name} {where} --cascade=orphan\nkubectl delete pod {pod} {where}\n"
              f"kubectl delete pvc {name} {where}\ncreate claim {name} anew with the snapshot as its dataSource\n"
              f"kubectl apply -f {owner.name}.yaml")
        data = f"the new volume is A COPY; {old} KEEPS the original files, by Retain"
        yield Edit(words, CLAIM_COST - 1, (), "restore snapshot", do=do, data=data)


def left_behind(bound: Sequence[PersistentVolume], *, with_claim: bool = True) -> str:
    """Return what becomes of the data on volumes whose claims go, or stay and are no longer used, in capitals."""
    told = []
    for volume in bound:
        policy = volume.spec.persistent_volume_reclaim_policy or "Retain"
        what = f"{volume.metadata.name} ({volume.spec.capacity.get('storage', '?')}, {policy})"
        claim = volume.spec.claim_ref.name if volume.spec.claim_ref is not None else "its claim"
        gone = f"{what} is GONE with its claim" if with_claim else f"the files stay on {what} UNTIL {claim} is deleted"
        told.append(gone if policy == "Delete" else f"the files stay on {what}")
    return f"EMPTY VOLUME: {'; '.join(told)}" if told else ""


def is_of_template(claim: PersistentVolumeClaim, trial: TrialCluster) -> bool:
    """Say whether a claim is one that the pod's StatefulSet made: its pods always use claims of these names."""
    owner, pod = owner_on_top(trial.pod, trial.objects), trial.pod.metadata.name
    volume_names = [volume.name for volume in trial.pod.spec.volumes if volume.persistent_volume_claim is not None]
    made = owner is not None and owner.kind == "StatefulSet"
    return made and claim.metadata.name in {f"{volume}-{pod}" for volume in volume_names}


def in_template(edit: Edit, claim: PersistentVolumeClaim, trial: TrialCluster) -> Edit:
    """Return the edit of an unbound claim as it is made for a StatefulSet: in its claim template, which is made anew.

    The set is deleted without its pods and made anew with the right template; the claim and the pod go, and come back.
    """
    owner = owner_on_top(trial.pod, trial.objects)
    workload = trial.get(owner.kind, owner.name, trial.key.namespace) if owner is not None else None
    if owner is None or workload is None or not is_of_template(claim, trial):
        return edit
    new = edit.changes[0].new
    name = claim.metadata.name.removesuffix(f"-{trial.pod.metadata.name}")
    templates = tuple(evolve_parts(each, spec={"storage_class_name": new.spec.storage_class_name,
                                               "resources": new.spec.resources}) if each.metadata.name == name else each
                      for each in workload.spec.volume_claim_templates)  # fmt: skip
    changed = evolve_parts(workload, spec={"volume_claim_templates": templates})
    where, file = f"-n {trial.key.namespace}", f"{owner.name}.yaml"
    do = (f"correct volumeClaimTemplates in {file}\nkubectl delete statefulset {owner.name} {where} --cascade=orphan\n"
          f"kubectl delete pod {trial.pod.metadata.name} {where}\nkubectl delete pvc {claim.metadata.name} {where}\n"
          f"kubectl apply -f {file}")
    again = ObjectChange(workload, changed, recreate=True)
    note = f"the claim template of {owner} cannot be changed in place; the claim is not bound, so nothing is lost"
    return attrs.evolve(
        edit, changes=(again, ObjectChange(claim, None), ObjectChange(trial.pod, None)),
        expected=(ObjectChange(None, new), ObjectChange(None, trial.pod)), note=note, do=do,
    )  # fmt: skip


def name_existing_claim(name: str, trial: TrialCluster) -> Iterator[Edit]:
    """Let the pod use the claim that it nearly names."""
    namespace = trial.pod.metadata.namespace
    used = {used for pod in trial.of_kind("Pod") if pod.metadata.namespace == namespace for used in pod.claim_names()}
    there = [claim.metadata.name for claim in trial.of_kind("PersistentVolumeClaim")
             if claim.metadata.namespace == namespace and claim.metadata.name not in used]  # fmt: skip
    for near in near_misses(name, there):
        spec = _with_claims(trial.pod, {name: near})
        yield edit_spec(trial, f"Use claim {near}, not {name}", 1, spec, "use claim", note=f"no claim is called {name}")


def create_missing_claim(name: str, trial: TrialCluster) -> Iterator[Edit]:
    """Create a missing claim of a class with delayed binding, or with a new volume."""
    if name not in named_claims(trial.pod):
        return
    namespace = trial.pod.metadata.namespace
    there = [claim.metadata.name for claim in trial.of_kind("PersistentVolumeClaim")
             if claim.metadata.namespace == namespace]  # fmt: skip
    near = near_misses(name, there)
    letter, data = ("E", f"EMPTY VOLUME: what is in {near[0]} is not seen") if near else ("B", "")
    for storage_class in delayed_classes(trial)[:2]:
        claim = _minimal_claim(name, namespace, storage_class.metadata.name)
        words = f"Create the claim {name}, 1Gi of class {storage_class.metadata.name}"
        note = "set size and access modes as you need them"
        yield Edit(words, CLAIM_COST, (ObjectChange(None, claim),), "create claim", note=note, letter=letter, data=data)
    claim = _minimal_claim(name, namespace, "")
    for more in add_volume(claim, trial, None) if not delayed_classes(trial) else ():
        words = f"Create the claim {name} of 1Gi and a volume for it"
        changes = (ObjectChange(None, claim), *more.changes)
        yield Edit(words, CLAIM_COST + VOLUME_COST, changes, more.kind, more.expected, more.note, more.letter)


def create_ephemeral_claims(trial: TrialCluster) -> Iterator[Edit]:
    """Create the pod's claims for its ephemeral volumes; a claim of another owner with that name is deleted."""
    pod = trial.pod
    for volume in pod.spec.volumes:
        template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
        if template is None or volume.persistent_volume_claim is not None:
            continue
        claim = claim_for(pod, volume.name, template)
        name, old = claim.metadata.name, trial.claim(claim.metadata.name)
        owner = old.metadata.controller if old is not None else None
        if owner is not None and owner.uid == pod.metadata.uid:
            continue
        if claim.spec.storage_class_name is None:
            default = next((each.metadata.name for each in trial.of_kind("StorageClass") if each.is_default), None)
            claim = evolve_parts(claim, spec={"storage_class_name": default})
        first = "Create" if old is None else f"Delete the claim {name}, which is not the pod's, and create"
        words = f"{first} the claim {name} as the pod's volume {volume.name} describes it"
        note = "the ephemeral volume controller does that by itself, once no other claim has the name"
        change = ObjectChange(old, claim, recreate=old is not None)
        letter = "B" if old is None or not old.spec.volume_name else "H"
        yield Edit(words, CLAIM_COST if old is not None else 1, (change,), "own claim", note=note, letter=letter)


def delayed_classes(trial: TrialCluster) -> list[StorageClass]:
    """Return the classes with delayed binding and a provisioner."""
    delayed = (storage_class for storage_class in trial.of_kind("StorageClass") if storage_class.delayed)
    return [storage_class for storage_class in delayed if volumes.has_provisioner(storage_class)]


def _replacement_name(claim: PersistentVolumeClaim) -> str:
    return f"{claim.metadata.name}-wait"


def _replace_one_claim(
    claim: PersistentVolumeClaim, trial: TrialCluster, of_class: str, words: str, changes: Sequence[ObjectChange]
) -> Iterator[Edit]:
    """Yield the edit that replaces one claim of the pod, after other changes."""
    name, other = claim.metadata.name, _replacement_name(claim)
    if is_of_template(claim, trial):
        return
    if name in named_claims(trial.pod) and trial.is_stored(claim) and trial.claim(other) is None:
        all_changes = [*changes, ObjectChange(None, _claim_like(claim, other, of_class))]
        words = f"Use a new claim {other} {words}"
        scratch = not SCRATCH.isdisjoint(re.split(r"\W|_|\d", name))
        cost = CLAIM_COST + len(changes) + (not scratch)
        yield _replacement_edit(trial, {name: other}, words, cost, all_changes)


def _replacement_edit(
    trial: TrialCluster, others: Mapping[str, str], words: str, cost: int, changes: Sequence[ObjectChange]
) -> Edit:
    """Return the edit that lets the pod name other claims, after other changes."""
    edit = edit_spec(trial, words, cost, _with_claims(trial.pod, others), "new claim")
    old = [claim for name in others if (claim := trial.claim(name)) is not None]
    bound, named = trial.volumes_of(old), [claim.spec.volume_name for claim in old if claim.spec.volume_name]
    letter = "H" if bound else "E" if named else "B"
    lost = f"EMPTY VOLUME: what {listed(named)} held is not on it" if named else ""
    names = listed(each.metadata.name for each in old)
    note = f"was {names} ever written? then a VolumeSnapshot first, as dataSource of the new claim, keeps a copy"
    stays = f"claim {names} stays Pending, and the pod no longer uses it"
    decides = {change.key.kind for change in changes} & {"StorageClass"} and f"{CLASSES[letter].who}; {OPERATOR}"
    return attrs.evolve(edit, changes=(*changes, *edit.changes), letter=letter, who=decides or "",
                        note=note if bound else stays, data=left_behind(bound, with_claim=False) or lost)


def _with_claims(pod: Pod, others: Mapping[str, str]) -> PodSpec:
    """Return a pod's spec that names other claims, by the names of the old ones."""
    def renamed(volume: Volume) -> Volume:
        source = volume.persistent_volume_claim
        if source is None or source.claim_name not in others:
            return volume
        return attrs.evolve(volume, persistent_volume_claim=attrs.evolve(source, claim_name=others[source.claim_name]))

    return attrs.evolve(pod.spec, volumes=tuple(map(renamed, pod.spec.volumes)))


def _minimal_claim(name: str, namespace: str, of_class: str) -> PersistentVolumeClaim:
    asked = Resources(requests=Frozen({"storage": "1Gi"}))
    spec = PersistentVolumeClaimSpec(access_modes=("ReadWriteOnce",), resources=asked, storage_class_name=of_class)
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


def _claim_like(claim: PersistentVolumeClaim, name: str, of_class: str) -> PersistentVolumeClaim:
    """Return a claim with the size and modes of another, in another class."""
    spec = PersistentVolumeClaimSpec(access_modes=claim.spec.access_modes, resources=claim.spec.resources,
                                     volume_mode=claim.spec.volume_mode, storage_class_name=of_class)  # fmt: skip
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace=claim.metadata.namespace), spec=spec)


def recreate_volume(claim: PersistentVolumeClaim, volume: PersistentVolume, trial: TrialCluster,
                    near: Sequence[Node]) -> Iterator[Edit]:
    """Make a volume that somebody wrote by hand anew with its true domain, where no node is in the one that it states.

    With the policy Retain the disk and its files stay while volume and claim are gone. The pod is made anew by hand, so
    that it is one that no controller makes.
    """
    by_hand = PROVISIONED_BY not in volume.metadata.annotations and "local" not in volume.spec.rest
    by_hand = by_hand and trial.pod.metadata.controller is None
    moved = by_hand and not any(volumes.volume_fits_node(volume, node) for node in trial.seen.all_nodes())
    if not moved or volume.spec.persistent_volume_reclaim_policy != "Retain":
        return
    name, pod, where = volume.metadata.name, trial.pod, f"-n {trial.key.namespace}"
    do = (f"kubectl get pv {name} -o yaml   # look its disk up at the provider; the policy MUST BE Retain\n"
          f"only if the disk is not where the PV says, go on; else change nothing, and add a node there\n"
          f"keep volume, claim and pod as files; write the domain into {name}.yaml, no uid into its claimRef,\n"
          f"and no annotation {BIND_COMPLETED} into {claim.metadata.name}.yaml\n"
          f"kubectl delete pod {pod.metadata.name} {where}\nkubectl delete pvc {claim.metadata.name} {where}\n"
          f"kubectl delete pv {name}\n"
          f"kubectl apply -f {name}.yaml -f {claim.metadata.name}.yaml -f {pod.metadata.name}.yaml")
    unbound = evolve_parts(claim, metadata={"annotations": claim.metadata.annotations.merged({BIND_COMPLETED: None})})
    unbound = attrs.evolve(unbound, status=type(claim.status)())
    for node in near:
        new = _in_domain_of(node, volume)
        if volumes.volume_fits_node(new, node):
            there = new.spec.required_node_affinity
            words = f"Look up where the disk of volume {name} is: if in truth {there}, make its PV anew with that"
            changes = (ObjectChange(pod, pod, recreate=True), ObjectChange(claim, unbound, recreate=True),
                       ObjectChange(volume, new, recreate=True))  # fmt: skip
            note = f"only if the disk is there, so that {node.metadata.name} can attach it"
            yield Edit(words, CLAIM_COST, changes, "recreate volume", tuple(bound_to_each_other(unbound, new)), note,
                       do=do, data=f"KEPT ON {name} by Retain", who=f"{OPERATOR}; owner of the data")  # fmt: skip


def _in_domain_of(node: Node, volume: PersistentVolume) -> PersistentVolume:
    """Return a volume as it is created, with a node's zone and region where its nodeAffinity has others."""
    def there(part: Requirement) -> Requirement:
        known = part.key in DOMAIN_LABELS and part.operator == "In" and part.key in node.metadata.labels
        return attrs.evolve(part, values=(node.metadata.labels[part.key],)) if known else part

    required, ref = volume.spec.required_node_affinity, volume.spec.claim_ref
    if required is None or ref is None:
        return volume
    terms = tuple(attrs.evolve(term, match_expressions=tuple(map(there, term.match_expressions)))
                  for term in required.node_selector_terms)  # fmt: skip
    affinity = VolumeNodeAffinity(required=attrs.evolve(required, node_selector_terms=terms))
    moved = evolve_parts(volume, spec={"node_affinity": affinity, "claim_ref": attrs.evolve(ref, uid="")})
    return attrs.evolve(moved, status=type(volume.status)())

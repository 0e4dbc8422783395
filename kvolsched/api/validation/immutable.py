"""What may not change once it is stored, kind by kind, in the API server's words.

Binding a pod to a node and writing a status are verbs of their own and are not judged here. Mirrors
`Validate*Update` of `pkg/apis/*/validation` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from ..kinds import quantity
from ..kinds.csi import CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment
from ..kinds.meta import Frozen
from ..kinds.node import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_LABEL, Node
from ..kinds.pod import Pod
from ..kinds.policy import PriorityClass
from ..kinds.storage_class import StorageClass
from ..kinds.volume import PersistentVolume, PersistentVolumeClaim, VolumeNodeAffinity
from ..kinds.workload import DaemonSet, Deployment, ReplicaSet, StatefulSet
from .csi_rules import csi_driver_change, csi_node_change, csi_storage_capacity_change, volume_attachment_change
from .invalid import Invalid, Refusals, immutable_field
from .pod_update_rules import pod_change
from .policy_rules import priority_class_change

_CLAIM_WORDS = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName "
    "for bound claims"
)
_SET_WORDS = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def immutable(old: Any, new: Any) -> list[Invalid]:
    """Return every refusal of this change; none if an update may make it. Kinds without rules pass."""
    rules = _RULES.get(type(new))
    return [] if rules is None else list(rules(old, new))


def _storage_class(old: StorageClass, new: StorageClass) -> Refusals:
    """Only allowedTopologies, mountOptions and allowVolumeExpansion may change."""
    for field, attribute in (
        ("parameters", "parameters"),
        ("provisioner", "provisioner"),
        ("reclaimPolicy", "reclaim_policy"),
        ("volumeBindingMode", "volume_binding_mode"),
    ):
        if getattr(old, attribute) != getattr(new, attribute):
            yield Invalid(field, "Invalid", getattr(new, attribute) or None, "field is immutable")


_GA = {  # labels that left beta: a volume's affinity may follow them
    BETA_ZONE_LABEL: ZONE_LABEL,
    BETA_REGION_LABEL: REGION_LABEL,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}


def _volume(old: PersistentVolume, new: PersistentVolume) -> Refusals:
    """The source and the mode stay; node affinity may be set once, and follow labels out of beta."""
    if _sources(old) != _sources(new):
        words = "spec.persistentvolumesource is immutable after creation"
        yield Invalid("spec.persistentvolumesource", "Forbidden", detail=words)
    if old.spec.volume_mode != new.spec.volume_mode:
        yield Invalid("volumeMode", "Invalid", new.spec.volume_mode, "field is immutable")
    before, after = old.spec.node_affinity, new.spec.node_affinity
    if before is not None and before != after and (after is None or _out_of_beta(before, after) != after):
        words = "field is immutable, except for updating from beta label to GA"
        yield Invalid("nodeAffinity", "Invalid", after, words)


def _sources(found: PersistentVolume) -> Mapping[str, Any]:
    return {name: value for name, value in found.spec.rest.items() if isinstance(value, dict)}


def _out_of_beta(before: VolumeNodeAffinity, after: VolumeNodeAffinity) -> VolumeNodeAffinity:
    """Return the older affinity with those beta keys renamed that the newer one has renamed."""
    if before.required is None or after.required is None:
        return before
    terms = []
    pairs = zip(before.required.node_selector_terms, after.required.node_selector_terms, strict=False)
    for term, newer in pairs:
        expressions = tuple(
            attrs.evolve(one, key=other.key) if _GA.get(one.key) == other.key else one
            for one, other in zip(term.match_expressions, newer.match_expressions, strict=False)
        )
        rest = term.match_expressions[len(expressions) :]
        terms.append(attrs.evolve(term, match_expressions=expressions + rest))
    terms += before.required.node_selector_terms[len(terms) :]
    return attrs.evolve(before, required=attrs.evolve(before.required, node_selector_terms=tuple(terms)))


def _claim(old: PersistentVolumeClaim, new: PersistentVolumeClaim) -> Refusals:
    """The spec stays, but for volumeName once, a class if it had none, and the size of a bound claim."""
    before, after = old.spec, new.spec
    if not before.volume_name:
        before = attrs.evolve(before, volume_name=after.volume_name)
    if before.storage_class_name is None and after.storage_class_name is not None:
        before = attrs.evolve(before, storage_class_name=after.storage_class_name)
    asked, asks = before.resources.requests.get("storage"), after.resources.requests.get("storage")
    bound = new.status.phase == "Bound"
    if bound and asked is not None and asks is not None:
        before = attrs.evolve(before, resources=_with_storage(before.resources, asks))
    if bound:
        before = attrs.evolve(before, volume_attributes_class_name=after.volume_attributes_class_name)
    if before != after:
        yield Invalid("spec", "Forbidden", detail=_CLAIM_WORDS)
    has, had, wants = (quantity.parse(text or "0") for text in (old.status.capacity.get("storage"), asked, asks))
    if wants < had and wants <= has:
        words = "field can not be less than status.capacity"
        yield Invalid("spec.resources.requests.storage", "Forbidden", detail=words)
    if old.spec.volume_mode != new.spec.volume_mode:
        yield Invalid("volumeMode", "Invalid", new.spec.volume_mode, "field is immutable")
    yield from _attributes_class(old, new)


def _attributes_class(old: PersistentVolumeClaim, new: PersistentVolumeClaim) -> Refusals:
    """A claim may get a class of attributes, and another one, but not lose it."""
    before, after = old.spec.volume_attributes_class_name, new.spec.volume_attributes_class_name
    if before is not None and before != after and not after:
        to = "nil" if after is None else "an empty string"
        words = f"update from non-nil value to {to} is forbidden"
        yield Invalid("spec.volumeAttributesClassName", "Forbidden", detail=words)


def _with_storage(resources: Any, text: str) -> Any:
    return attrs.evolve(resources, requests=resources.requests.with_(storage=text))


def _stateful_set(old: StatefulSet, new: StatefulSet) -> Refusals:
    free = (
        "ordinals",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    )
    fixed = Frozen({name: value for name, value in old.spec.rest.items() if name not in free})
    changed = {name: new.spec.rest[name] for name in free if name in new.spec.rest}
    expected = attrs.evolve(
        old.spec, replicas=new.spec.replicas, template=new.spec.template, rest=fixed.merged(changed)
    )
    if expected != new.spec:
        yield Invalid("spec", "Forbidden", detail=_SET_WORDS)



def _node(old: Node, new: Node) -> Refusals:
    """The pods' addresses and the provider's name of a node are given once."""
    for field, word in (("podCIDRs", "podCIDR"), ("providerID", "providerID")):
        before = old.spec.rest.get(field)
        if before and before != new.spec.rest.get(field):
            words = f'node updates may not change {word} except from "" to valid'
            yield Invalid(f"spec.{field}", "Forbidden", detail=words)


def _selector(old: Deployment | ReplicaSet | DaemonSet, new: Deployment | ReplicaSet | DaemonSet) -> Refusals:
    """Which pods belong to a workload is for life."""
    yield from immutable_field("spec.selector", old.spec.selector, new.spec.selector)


_RULES: Mapping[type[Any], Callable[[Any, Any], Refusals]] = {
    StorageClass: _storage_class,
    PersistentVolume: _volume,
    PersistentVolumeClaim: _claim,
    StatefulSet: _stateful_set,
    Node: _node,
    Pod: pod_change,
    Deployment: _selector,
    ReplicaSet: _selector,
    DaemonSet: _selector,
    PriorityClass: priority_class_change,
    CSINode: csi_node_change,
    CSIDriver: csi_driver_change,
    CSIStorageCapacity: csi_storage_capacity_change,
    VolumeAttachment: volume_attachment_change,
}

"""Validate updates: refuse changes of immutable fields, kind by kind, in the API server's words.

The subresources `binding` and `status` are not judged here. Mirrors `Validate*Update` of `pkg/apis/*/validation`
(v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from ..kinds import quantity
from ..kinds.csi import CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment
from ..kinds.meta import Frozen, evolve
from ..kinds.node import BETA_REGION_LABEL, BETA_ZONE_LABEL, REGION_LABEL, ZONE_LABEL, Node
from ..kinds.pod import Pod
from ..kinds.policy import PriorityClass, ResourceQuota, RuntimeClass
from ..kinds.storage_class import StorageClass
from ..kinds.volume import PersistentVolume, PersistentVolumeClaim, VolumeNodeAffinity
from ..kinds.workload import DaemonSet, Deployment, Job, ReplicaSet, StatefulSet
from .field_error import FieldError, FieldErrors, validate_immutable
from .job_rules import validate_job_update
from .pod_update_rules import validate_pod_update
from .policy_rules import validate_priority_class_update
from .quota_rules import validate_resource_quota_update
from .volume_rules import validate_csi_node_update

_CLAIM_DETAIL = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName "
    "for bound claims"
)
_STATEFUL_SET_DETAIL = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)


def validate_update(old: Any, new: Any) -> list[FieldError]:
    """Return the errors of an update, [] if it is allowed. Kinds without rules pass."""
    rules = _RULES.get(type(new))
    return [] if rules is None else list(rules(old, new))


def _validate_storage_class(old: StorageClass, new: StorageClass) -> FieldErrors:
    """Refuse changes except of allowedTopologies, mountOptions and allowVolumeExpansion."""
    for field, attribute in (("parameters", "parameters"), ("provisioner", "provisioner"),
                             ("reclaimPolicy", "reclaim_policy"), ("volumeBindingMode", "volume_binding_mode")):
        before, after = getattr(old, attribute), getattr(new, attribute)
        yield from validate_immutable(field, before, after, after or None)


_GA_LABELS = {  # a volume's affinity may change from the beta label to the GA label
    BETA_ZONE_LABEL: ZONE_LABEL,
    BETA_REGION_LABEL: REGION_LABEL,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}


def _validate_volume(old: PersistentVolume, new: PersistentVolume) -> FieldErrors:
    """Refuse changes of source and mode; node affinity may be set once, and change from beta labels to GA."""
    if _volume_sources(old) != _volume_sources(new):
        detail = "spec.persistentvolumesource is immutable after creation"
        yield FieldError("spec.persistentvolumesource", "Forbidden", detail=detail)
    yield from validate_immutable("volumeMode", old.spec.volume_mode, new.spec.volume_mode)
    before, after = old.spec.node_affinity, new.spec.node_affinity
    if before is not None and before != after and (after is None or _with_ga_keys(before, after) != after):
        detail = "field is immutable, except for updating from beta label to GA"
        yield FieldError("nodeAffinity", "Invalid", after, detail)


def _volume_sources(volume: PersistentVolume) -> Mapping[str, Any]:
    return {name: value for name, value in volume.spec.rest.items() if isinstance(value, dict)}


def _with_ga_keys(before: VolumeNodeAffinity, after: VolumeNodeAffinity) -> VolumeNodeAffinity:
    """Return the older affinity with the beta keys that the newer one replaces by GA keys replaced too."""
    if before.required is None or after.required is None:
        return before
    terms = []
    pairs = zip(before.required.node_selector_terms, after.required.node_selector_terms, strict=False)
    for term, newer in pairs:
        expressions = tuple(
            evolve(item, key=newer_item.key) if _GA_LABELS.get(item.key) == newer_item.key else item
            for item, newer_item in zip(term.match_expressions, newer.match_expressions, strict=False)
        )
        rest = term.match_expressions[len(expressions) :]
        terms.append(evolve(term, match_expressions=expressions + rest))
    terms += before.required.node_selector_terms[len(terms) :]
    return evolve(before, required=evolve(before.required, node_selector_terms=tuple(terms)))


def _validate_claim(old: PersistentVolumeClaim, new: PersistentVolumeClaim) -> FieldErrors:
    """Refuse changes of the spec, except a first volumeName, a first class, and the size of a bound claim."""
    before, after = old.spec, new.spec
    if not before.volume_name:
        before = evolve(before, volume_name=after.volume_name)
    if before.storage_class_name is None and after.storage_class_name is not None:
        before = evolve(before, storage_class_name=after.storage_class_name)
    old_request, new_request = before.resources.requests.get("storage"), after.resources.requests.get("storage")
    if new.status.phase == "Bound":
        before = evolve(before, volume_attributes_class_name=after.volume_attributes_class_name)
        if old_request is not None and new_request is not None:
            requests = before.resources.requests.with_(storage=new_request)
            before = evolve(before, resources=evolve(before.resources, requests=requests))
    if before != after:
        yield FieldError("spec", "Forbidden", detail=_CLAIM_DETAIL)
    if old_request != new_request:
        texts = (old.status.capacity.get("storage"), old_request, new_request)
        capacity, old_size, new_size = (quantity.parse(text or "0") for text in texts)
        if new_size < old_size and new_size <= capacity:
            detail = "field can not be less than status.capacity"
            yield FieldError("spec.resources.requests.storage", "Forbidden", detail=detail)
    yield from validate_immutable("volumeMode", old.spec.volume_mode, new.spec.volume_mode)
    yield from _validate_attributes_class(old, new)


def _validate_attributes_class(old: PersistentVolumeClaim, new: PersistentVolumeClaim) -> FieldErrors:
    """Refuse to remove the VolumeAttributesClass of a claim."""
    before, after = old.spec.volume_attributes_class_name, new.spec.volume_attributes_class_name
    if before is not None and before != after and not after:
        new_value = "nil" if after is None else "an empty string"
        detail = f"update from non-nil value to {new_value} is forbidden"
        yield FieldError("spec.volumeAttributesClassName", "Forbidden", detail=detail)


def _validate_stateful_set(old: StatefulSet, new: StatefulSet) -> FieldErrors:
    mutable = (
        "ordinals", "updateStrategy", "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy", "minReadySeconds"
    )
    fixed = Frozen({name: value for name, value in old.spec.rest.items() if name not in mutable})
    changed = {name: new.spec.rest[name] for name in mutable if name in new.spec.rest}
    expected = evolve(old.spec, replicas=new.spec.replicas, template=new.spec.template, rest=fixed.merged(changed))
    if expected != new.spec:
        yield FieldError("spec", "Forbidden", detail=_STATEFUL_SET_DETAIL)


def _validate_node(old: Node, new: Node) -> FieldErrors:
    """Refuse changes of podCIDRs and providerID once they are set."""
    for field, word in (("podCIDRs", "podCIDR"), ("providerID", "providerID")):
        before = old.spec.rest.get(field)
        if before and before != new.spec.rest.get(field):
            detail = f'node updates may not change {word} except from "" to valid'
            yield FieldError(f"spec.{field}", "Forbidden", detail=detail)


def _keep(**fields: str) -> Callable[[Any, Any], FieldErrors]:
    """Return the rule that refuses changes of fields: attribute, with `__` for dots -> the path in errors."""

    def validate_kept(old: Any, new: Any) -> FieldErrors:
        for attribute, path in fields.items():
            value_of = attrgetter(attribute.replace("__", "."))
            yield from validate_immutable(path, value_of(old), value_of(new))

    return validate_kept


_KEEP_SELECTOR = _keep(spec__selector="spec.selector")
_RULES: Mapping[type[Any], Callable[[Any, Any], FieldErrors]] = {
    StorageClass: _validate_storage_class, PersistentVolume: _validate_volume, PersistentVolumeClaim: _validate_claim,
    StatefulSet: _validate_stateful_set, Node: _validate_node, Pod: validate_pod_update,
    Deployment: _KEEP_SELECTOR, ReplicaSet: _KEEP_SELECTOR, DaemonSet: _KEEP_SELECTOR, Job: validate_job_update,
    PriorityClass: validate_priority_class_update, CSINode: validate_csi_node_update,
    CSIDriver: _keep(  # attachRequired is misspelt in Kubernetes' path
        spec__attach_required="spec.attachedRequired", spec__volume_lifecycle_modes="spec.volumeLifecycleModes"),
    CSIStorageCapacity: _keep(node_topology="nodeTopology", storage_class_name="storageClassName"),
    VolumeAttachment: _keep(spec="spec"), ResourceQuota: validate_resource_quota_update,
    RuntimeClass: _keep(handler="handler"),
}

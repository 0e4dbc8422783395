"""The admission plugins, one function each: they change a new object or refuse it as Forbidden.

Each takes the stored object (None on create), the new one, and all stored objects. Mirrors `plugin/pkg/admission`
(v1.36.2), in Kubernetes' order; `limit_ranger` has one of its own, and quotas are the server's last question
(`resource_quota`). Service accounts are not modelled.
"""

from typing import Any

from ...api.defaults import with_defaults
from ...api.kinds.meta import evolve, evolve_parts
from ...api.kinds.node import REGION_LABEL, ZONE_LABEL, Node
from ...api.kinds.pod import Pod
from ...api.kinds.policy import SYSTEM_PRIORITY_CLASSES, PriorityClass, RuntimeClass
from ...api.kinds.quantity import parse
from ...api.kinds.selector import Taint, Toleration
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolumeClaim
from ...api.volumes import class_of_claim, has_class
from ...world.apiserver import Denial
from ...world.log import Key
from .limit_ranger import check_limits, fill_in_resources
from .plugin import AdmissionPlugin, StoredObjects, deny_forbidden

TOPOLOGY_LABELS = (ZONE_LABEL, REGION_LABEL)
NOT_READY = Taint(key="node.kubernetes.io/not-ready", effect="NoSchedule")
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"


def taint_nodes_by_condition(_old: Node | None, new: Node, _stored: StoredObjects) -> Any:
    """Give a new node the taint not-ready."""
    if any((taint.key, taint.effect) == (NOT_READY.key, NOT_READY.effect) for taint in new.spec.taints):
        return new
    return evolve_parts(new, spec={"taints": (*new.spec.taints, NOT_READY)})


def set_priority(old: Pod | None, new: Pod, stored: StoredObjects) -> Any:
    """Set a pod's priority and preemption policy from its class, or the default class; refuse others.

    An update keeps them unless it names others, which validation refuses.
    """
    spec = new.spec
    if old is not None:
        number = old.spec.priority if spec.priority is None else spec.priority
        policy = old.spec.preemption_policy if spec.preemption_policy is None else spec.preemption_policy
        return evolve(new, spec=evolve(spec, priority=number, preemption_policy=policy))
    name, number, policy = _class_of(spec.priority_class_name, stored)
    if number is None:
        return deny_forbidden(new, f"no PriorityClass with name {name} was found")
    if spec.priority is not None and spec.priority != number:
        return deny_forbidden(
            new,
            f"the integer value of priority ({spec.priority}) must not be provided in pod spec; priority admission "
            f"controller computed {number} from the given PriorityClass name",
        )
    if spec.preemption_policy is not None and policy is not None and spec.preemption_policy != policy:
        return deny_forbidden(
            new,
            f"the string value of PreemptionPolicy ({spec.preemption_policy}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name",
        )
    filled = evolve(spec, priority_class_name=name, priority=number, preemption_policy=policy or spec.preemption_policy)
    return evolve(new, spec=filled)


def with_priority_of_class(found: Any, stored: StoredObjects) -> Any:
    """Return a pod without priority with that of its class, as after admission; other objects unchanged."""
    if not isinstance(found, Pod) or found.spec.priority is not None:
        return found
    name, number, policy = _class_of(found.spec.priority_class_name, stored)
    if number is None:
        return found
    policy = found.spec.preemption_policy or policy
    spec = evolve(found.spec, priority_class_name=name, priority=number, preemption_policy=policy)
    return evolve(found, spec=spec)


def _class_of(name: str, stored: StoredObjects) -> tuple[str, int | None, str | None]:
    """Return a pod's priority class: its name, its value (None: there is no such class) and its policy."""
    if not name:
        defaults = [candidate for candidate in stored.of_kind("PriorityClass") if candidate.global_default]
        if not defaults:
            return "", 0, PREEMPT_LOWER_PRIORITY
        found = min(defaults, key=lambda candidate: (candidate.value, candidate.metadata.name))
        return found.metadata.name, found.value, found.preemption_policy
    named = stored.objects.get(Key("PriorityClass", "", name))
    if named is not None:
        return name, named.value, named.preemption_policy
    return name, SYSTEM_PRIORITY_CLASSES.get(name), PREEMPT_LOWER_PRIORITY  # every cluster has two system classes


def one_default_class(_old: PriorityClass | None, new: PriorityClass, stored: StoredObjects) -> Any:
    """Refuse a second default priority class."""
    if new.global_default:
        for other in stored.of_kind("PriorityClass"):
            if other.global_default and other.metadata.name != new.metadata.name:
                words = f"PriorityClass {other.metadata.name} is already marked as default. Only one default can exist"
                return deny_forbidden(new, words)
    return new


def default_storage_class(_old: PersistentVolumeClaim | None, new: PersistentVolumeClaim, stored: StoredObjects) -> Any:
    """Give a claim without class the default one: of several the newest, then the first by name."""
    if has_class(new):
        return new
    defaults: list[StorageClass] = sorted((found for found in stored.of_kind("StorageClass") if found.is_default),
                                          key=lambda found: found.metadata.name)
    if not defaults:
        return new
    newest = max(found.metadata.creation_timestamp or "" for found in defaults)
    chosen = next(found for found in defaults if (found.metadata.creation_timestamp or "") == newest)
    return evolve_parts(new, spec={"storage_class_name": chosen.metadata.name})


def set_runtime_class(_old: Pod | None, new: Pod, stored: StoredObjects) -> Pod | Denial:
    """Give a pod the overhead, node selector and tolerations of its RuntimeClass; refuse one whose class is missing."""
    name = new.spec.rest.get("runtimeClassName")
    if name is None:
        return new
    found: RuntimeClass | None = stored.objects.get(Key("RuntimeClass", "", name))
    if found is None:
        return deny_forbidden(new, f'pod rejected: RuntimeClass "{name}" not found')
    if found.overhead is not None:
        if new.spec.overhead and new.spec.overhead != found.overhead.pod_fixed:
            return deny_forbidden(new, OTHER_OVERHEAD)
        new = evolve_parts(new, spec={"overhead": found.overhead.pod_fixed})
    if found.scheduling is None:
        return new
    selector = new.spec.node_selector
    for key, value in found.scheduling.node_selector.items():
        if (mine := selector.get(key, value)) != value:
            words = f"runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {mine}"
            return deny_forbidden(new, f"conflict: {words}")
    new = with_defaults(new)  # the tolerations that every pod gets come before those of the class
    tolerations = _merge_tolerations((*new.spec.tolerations, *found.scheduling.tolerations))
    selector = selector.merged(found.scheduling.node_selector)
    return evolve_parts(new, spec={"node_selector": selector, "tolerations": tolerations})


OTHER_OVERHEAD = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"


def check_overhead(_old: Pod | None, new: Pod, stored: StoredObjects) -> Pod | Denial:
    """Refuse a pod whose overhead is not that of its RuntimeClass."""
    name = new.spec.rest.get("runtimeClassName")
    found: RuntimeClass | None = stored.objects.get(Key("RuntimeClass", "", name)) if name is not None else None
    if found is not None and found.overhead is not None:
        return new if new.spec.overhead == found.overhead.pod_fixed else deny_forbidden(new, OTHER_OVERHEAD)
    if new.spec.overhead:
        why = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        return deny_forbidden(new, why)
    return new


def _merge_tolerations(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """Return tolerations without those that another one includes; of equal ones the first stays."""
    merged: list[Toleration] = []
    for number, one in enumerate(tolerations):
        later = (other for other in tolerations[number + 1 :] if other != one)
        if not any(_includes(other, one) for other in (*merged, *later)):
            merged.append(one)
    return tuple(merged)


def _includes(wide: Toleration, narrow: Toleration) -> bool:
    """Say whether a toleration tolerates all that another one does (`isSuperset` of `pkg/util/tolerations`)."""
    if wide == narrow:
        return True
    same_key = wide.key == narrow.key or (not wide.key and wide.operator == "Exists")
    if not same_key or wide.effect not in ("", narrow.effect):
        return False
    if wide.effect == "NoExecute" and wide.toleration_seconds is not None:
        seconds = narrow.toleration_seconds
        if seconds is None or seconds > wide.toleration_seconds:
            return False
    return wide.operator == "Exists" or (narrow.operator in ("", "Equal") and narrow.value == wide.value)


def with_class_and_limits(found: Any, stored: StoredObjects) -> Any:
    """Return a pod with what its RuntimeClass and its LimitRanges give it, as after admission; others unchanged."""
    if not isinstance(found, Pod):
        return found
    filled = set_runtime_class(None, fill_in_resources(None, found, stored), stored)
    return found if isinstance(filled, Denial) else filled


def with_topology_labels(pod: Pod, node: Node | None) -> Pod:
    """Return a pod with the zone and region labels of its node, if it has any."""
    labels = node.metadata.labels if node is not None else {}
    copied = {key: labels[key] for key in TOPOLOGY_LABELS if key in labels}
    if not copied:
        return pod
    return evolve_parts(pod, metadata={"labels": pod.metadata.labels.merged(copied)})


def claim_resize(old: PersistentVolumeClaim, new: PersistentVolumeClaim, stored: StoredObjects) -> Any:
    """Refuse to grow a claim that is not bound or whose class does not allow expansion."""
    before, after = (claim.spec.resources.requests.get("storage", "0") for claim in (old, new))
    if before == after or parse(after) <= parse(before):
        return new
    if old.status.phase != "Bound":
        return deny_forbidden(new, "Only bound persistent volume claims can be expanded")
    name = class_of_claim(new)
    found = stored.objects.get(Key("StorageClass", "", name))
    if not name or name != class_of_claim(old) or found is None or not found.allow_volume_expansion:
        return deny_forbidden(
            new,
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
            "must support resize",
        )
    return new


PROTECTION_FINALIZERS = {  # finalizers that the protection controllers remove when an object is no longer used
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
    "PersistentVolume": "kubernetes.io/pv-protection",
}


def with_protection_finalizer(new: Any) -> Any:
    """Return a claim or volume with its protection finalizer."""
    name = PROTECTION_FINALIZERS[new.kind]
    if name in new.metadata.finalizers:
        return new
    return evolve_parts(new, metadata={"finalizers": (*new.metadata.finalizers, name)})


CREATE_AND_UPDATE = ("create", "update")
PLUGINS: tuple[AdmissionPlugin, ...] = (
    AdmissionPlugin("LimitRanger", "Pod", ("create",), fill_in_resources),
    AdmissionPlugin("LimitRanger", "Pod", ("create",), check_limits, refuses=True),
    AdmissionPlugin("LimitRanger", "PersistentVolumeClaim", CREATE_AND_UPDATE, check_limits, refuses=True),
    AdmissionPlugin("TaintNodesByCondition", "Node", ("create",), taint_nodes_by_condition),
    AdmissionPlugin("Priority", "Pod", CREATE_AND_UPDATE, set_priority),
    AdmissionPlugin("Priority", "PriorityClass", CREATE_AND_UPDATE, one_default_class, refuses=True),
    AdmissionPlugin("DefaultStorageClass", "PersistentVolumeClaim", ("create",), default_storage_class),
    AdmissionPlugin("PersistentVolumeClaimResize", "PersistentVolumeClaim", ("update",), claim_resize, refuses=True),
    *(AdmissionPlugin("StorageObjectInUseProtection", kind, ("create",),
                      lambda _old, new, _stored: with_protection_finalizer(new))
      for kind in PROTECTION_FINALIZERS),
    AdmissionPlugin("RuntimeClass", "Pod", ("create",), set_runtime_class),
    AdmissionPlugin("RuntimeClass", "Pod", ("create",), check_overhead, refuses=True),
    AdmissionPlugin(  # as binding does for others
        "PodTopologyLabels", "Pod", ("create",),
        lambda _old, new, stored: with_topology_labels(new, stored.objects.get(Key("Node", "", new.spec.node_name)))),
)

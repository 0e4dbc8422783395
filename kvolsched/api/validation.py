"""What the API server refuses to store, in its own field paths and words; one small function a rule.

`validate` judges an object by itself, after defaulting; `immutable` judges what changed between two versions
of it. A create is `validate(new)`, an update `validate(new) + immutable(old, new)`. Mirrors
`pkg/apis/*/validation` (v1.36.2).
"""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from . import quantity
from .immutable import immutable
from .invalid import Invalid, Refusals, dns_label, each, labels, qualified_name, subdomain, supported
from .kind import BY_NAME
from .meta import ObjectMeta
from .node import Node
from .pod import Pod
from .pod_rules import pod_spec
from .selector_rules import label_selector, taints
from .storage import StorageClass
from .volume import PersistentVolume, PersistentVolumeClaim
from .volume_rules import claim, claim_spec, storage_class, volume
from .workload import Event, Namespace, StatefulSet

__all__ = ["Invalid", "immutable", "validate"]

STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})


def validate(found: Any) -> list[Invalid]:
    """Return every refusal of this object; none if it may be stored. Kinds without rules pass."""
    rules = _RULES.get(type(found))
    return [] if rules is None else [*metadata(found), *rules(found)]




def metadata(found: Any) -> Refusals:
    """What every kind's metadata must be: a name, labels and annotations with proper keys, owners,
    finalizers.
    """
    meta: ObjectMeta = found.metadata
    kind = BY_NAME[found.kind]
    name_rule = dns_label if kind.name == "Namespace" else subdomain
    if not meta.name and not meta.generate_name:
        yield Invalid("metadata.name", "Required", detail="name or generateName is required")
    if meta.name:
        yield from each("metadata.name", meta.name, name_rule(meta.name))
    if kind.namespaced:
        if not meta.namespace:
            yield Invalid("metadata.namespace", "Required")
        else:
            yield from each("metadata.namespace", meta.namespace, dns_label(meta.namespace))
    elif meta.namespace:
        yield Invalid("metadata.namespace", "Forbidden", detail="not allowed on this type")
    yield from labels("metadata.labels", meta.labels)
    for key in meta.annotations:
        yield from each("metadata.annotations", key, qualified_name(key.lower()))
    yield from _owners("metadata.ownerReferences", meta)
    for index, name in enumerate(meta.finalizers):
        yield from _finalizer("metadata.finalizers", f"metadata.finalizers[{index}]", name)


def _owners(path: str, meta: ObjectMeta) -> Refusals:
    for owner in meta.owner_references:
        if not owner.api_version.rpartition("/")[2]:
            yield Invalid(f"{path}.apiVersion", "Invalid", owner.api_version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not getattr(owner, field):
                yield Invalid(f"{path}.{field}", "Invalid", "", "must not be empty")
    controllers = [f"{owner.kind}/{owner.name}" for owner in meta.owner_references if owner.controller]
    for other in controllers[1:]:
        words = 'Only one reference can have Controller set to true. Found "true" in references for'
        yield Invalid(path, "Invalid", [*controllers], f"{words} {controllers[0]} and {other}")


def _finalizer(path: str, item: str, name: str) -> Refusals:
    yield from each(path, name, qualified_name(name))
    if "/" not in name and name not in STANDARD_FINALIZERS:
        yield Invalid(
            item, "Invalid", name, "name is neither a standard finalizer name nor is it fully qualified"
        )




def _pod(found: Pod) -> Refusals:
    return pod_spec("spec", found.spec)


def _node(found: Node) -> Refusals:
    yield from taints("metadata.taints", found.spec.taints)
    for field in ("capacity", "allocatable"):
        for name, text in getattr(found.status, field).items():
            number = quantity.parse(text)
            if number < 0:
                yield Invalid(f"status.{field}.{name}", "Invalid", text, "must be greater than or equal to 0")
            if number.denominator != 1 and (name == "pods" or ("/" in name and "kubernetes.io/" not in name)):
                yield Invalid(f"status.{field}.{name}", "Invalid", text, "must be an integer")
    ranges = [str(text) for text in found.spec.rest.get("podCIDRs", ())]
    families = []
    for index, text in enumerate(ranges):
        try:
            families.append(ipaddress.ip_network(text, strict=False).version)
        except ValueError:
            words = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
            yield Invalid(f"spec.podCIDRs[{index}]", "Invalid", text, words)
    if len(ranges) > 1 and (len(families) > len(set(families)) or len(ranges) > 2):
        words = "may specify no more than one CIDR for each IP family"
        yield Invalid("spec.podCIDRs", "Invalid", ranges, words)


def _namespace(found: Namespace) -> Refusals:
    for name in found.rest.get("spec", {}).get("finalizers", ()):
        yield from _finalizer("spec.finalizers", "spec.finalizers", str(name))


def _stateful_set(found: StatefulSet) -> Refusals:
    spec = found.spec
    if spec.pod_management_policy not in ("OrderedReady", "Parallel"):
        words = "must be 'OrderedReady' or 'Parallel'"
        yield Invalid("spec.podManagementPolicy", "Invalid", spec.pod_management_policy, words)
    ordinals = spec.rest.get("ordinals", {})
    for field, number in (
        ("replicas", spec.replicas),
        ("minReadySeconds", spec.rest.get("minReadySeconds")),
        ("ordinals.start", ordinals.get("start")),
    ):
        if number is not None and number < 0:
            yield Invalid(f"spec.{field}", "Invalid", number, "must be greater than or equal to 0")
    if spec.service_name:
        yield from each("spec.serviceName", spec.service_name, dns_label(spec.service_name))
    yield from _update_strategy("spec.updateStrategy", spec.rest.get("updateStrategy", {}))
    if spec.selector is None:
        yield Invalid("spec.selector", "Required")
    wrong = list(label_selector("spec.selector", spec.selector))
    yield from wrong
    if spec.selector is not None and not spec.selector.match_labels and not spec.selector.match_expressions:
        words = "empty selector is invalid for statefulset"
        yield Invalid("spec.selector", "Invalid", None, words)
    if any(".operator" in refusal.path or ".values" in refusal.path for refusal in wrong):
        yield Invalid("spec.selector", "Invalid", str(spec.selector))
    else:
        yield from _template(found)
    for index, template in enumerate(spec.volume_claim_templates):
        yield from claim_spec(f"spec.volumeClaimTemplates[{index}].spec", template.spec)


def _template(found: StatefulSet) -> Refusals:
    template, selector = found.spec.template, found.spec.selector
    if selector is None or not selector.matches(template.metadata.labels):
        words = "`selector` does not match template `labels`"
        value = template.metadata.labels or None
        yield Invalid("spec.template.metadata.labels", "Invalid", value, words)
    claims = {claim.metadata.name for claim in found.spec.volume_claim_templates}
    for refusal in itertools.chain(
        labels("spec.template.metadata.labels", template.metadata.labels),
        pod_spec("spec.template.spec", template.spec),
    ):
        templated = refusal.type == "NotFound" and refusal.path.endswith(".name") and refusal.value in claims
        if not templated and refusal.path != "spec.template.spec.restartPolicy":
            yield refusal
    yield from supported("spec.template.spec.restartPolicy", template.spec.restart_policy, ("Always",))


def _update_strategy(path: str, strategy: Mapping[str, Any]) -> Refusals:
    kind, rolling = strategy.get("type") or "RollingUpdate", strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        yield Invalid(path, "Invalid", strategy, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        words = "only allowed for updateStrategy 'RollingUpdate'"
        yield Invalid(f"{path}.rollingUpdate", "Invalid", rolling, words)
    elif rolling is not None and (rolling.get("partition") or 0) < 0:
        words = "must be greater than or equal to 0"
        yield Invalid(f"{path}.rollingUpdate.partition", "Invalid", rolling["partition"], words)


def _event(found: Event) -> Refusals:
    return iter(())


_RULES: Mapping[type[Any], Callable[[Any], Refusals]] = {
    StorageClass: storage_class,
    PersistentVolume: volume,
    PersistentVolumeClaim: claim,
    Pod: _pod,
    Node: _node,
    Namespace: _namespace,
    StatefulSet: _stateful_set,
    Event: _event,
}

"""Validate StatefulSets, Deployments, ReplicaSets, ReplicationControllers and DaemonSets.

Mirrors apps `ValidateStatefulSet`, `ValidateDeployment`, `ValidateReplicaSet` and `ValidateDaemonSet`, and core
`ValidateReplicationController` (v1.36.2). A template is validated as a pod with restartPolicy Always; the selector must
match its labels.
"""

import itertools
from collections.abc import Mapping
from typing import Any

from ..kinds.name_syntax import check_dns_label
from ..kinds.pod import PodTemplateSpec
from ..kinds.selector import LabelSelector
from ..kinds.workload import DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet
from .field_error import FieldError, FieldErrors, validate_labels, validate_name, validate_supported
from .pod_rules import validate_pod_spec
from .policy_rules import number_of_int_or_percent, validate_at_most_all, validate_int_or_percent
from .selector_rules import validate_label_selector
from .volume_rules import validate_claim_spec


def validate_not_negative(**numbers: int | None) -> FieldErrors:
    """Refuse negative numbers in a spec; keyword names are field paths with `__` for dots."""
    for field, number in numbers.items():
        if number is not None and number < 0:
            path = f"spec.{field.replace('__', '.')}"
            yield FieldError(path, "Invalid", number, "must be greater than or equal to 0")


def validate_stateful_set(stateful_set: StatefulSet) -> FieldErrors:
    """Validate a StatefulSet: policies, numbers, strategy, selector, template and claim templates."""
    spec = stateful_set.spec
    if spec.pod_management_policy not in ("OrderedReady", "Parallel"):
        detail = "must be 'OrderedReady' or 'Parallel'"
        yield FieldError("spec.podManagementPolicy", "Invalid", spec.pod_management_policy, detail)
    yield from validate_not_negative(replicas=spec.replicas, minReadySeconds=spec.rest.get("minReadySeconds"),
                                     ordinals__start=spec.rest.get("ordinals", {}).get("start"))
    yield from validate_name("spec.serviceName", spec.service_name, check_dns_label)
    yield from _validate_stateful_set_strategy("spec.updateStrategy", spec.rest.get("updateStrategy", {}))
    retention = spec.rest.get("persistentVolumeClaimRetentionPolicy", {})
    for field in ("whenDeleted", "whenScaled"):
        if retention.get(field):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
            yield from validate_supported(path, retention[field], ("Retain", "Delete"))
    selector_errors = list(validate_selector(spec.selector, "statefulset"))
    yield from selector_errors
    if any(".operator" in error.path or ".values" in error.path for error in selector_errors):
        yield FieldError("spec.selector", "Invalid", spec.selector)
    else:
        yield from validate_template_labels(spec.selector, spec.template)
        claims = [claim.metadata.name for claim in spec.volume_claim_templates]
        yield from validate_template(spec.template, frozenset(claims))
        for index, name in enumerate(claims, len(spec.template.spec.volumes)):  # each is a volume of the pods
            path = f"spec.template.spec.volumes[{index}].name"
            yield from validate_name(path, name, check_dns_label, required=True)
    for index, claim in enumerate(spec.volume_claim_templates):
        yield from validate_claim_spec(f"spec.volumeClaimTemplates[{index}].spec", claim.spec)


def validate_selector(selector: LabelSelector | None, kind: str) -> FieldErrors:
    """Validate a workload's selector: present, valid, not empty."""
    if selector is None:
        yield FieldError("spec.selector", "Required")
        return
    yield from validate_label_selector("spec.selector", selector)
    if not selector.match_labels and not selector.match_expressions:
        yield FieldError("spec.selector", "Invalid", selector, f"empty selector is invalid for {kind}")


def validate_template_labels(selector: LabelSelector | None, template: PodTemplateSpec) -> FieldErrors:
    """Refuse a template whose labels the selector does not match."""
    if selector is None or not selector.matches(template.metadata.labels):
        detail = "`selector` does not match template `labels`"
        yield FieldError("spec.template.metadata.labels", "Invalid", template.metadata.labels or None, detail)


def validate_template(template: PodTemplateSpec, claims: frozenset[str] = frozenset()) -> FieldErrors:
    """Validate the template of pods that run always; they may mount volumes of these claim templates."""
    yield from validate_template_spec(template, claims)
    yield from validate_supported("spec.template.spec.restartPolicy", template.spec.restart_policy, ("Always",))


def validate_template_spec(template: PodTemplateSpec, claims: frozenset[str] = frozenset()) -> FieldErrors:
    """Validate a template's labels and pod spec, but not its restartPolicy."""
    for error in itertools.chain(validate_labels("spec.template.metadata.labels", template.metadata.labels),
                                 validate_pod_spec("spec.template.spec", template.spec)):
        mounts_claim = error.type == "NotFound" and error.path.endswith(".name") and error.value in claims
        if not mounts_claim and error.path != "spec.template.spec.restartPolicy":
            yield error


def _refuse_deadline(template: PodTemplateSpec, kind: str) -> FieldErrors:
    if "activeDeadlineSeconds" in template.spec.rest:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        yield FieldError("spec.template.spec.activeDeadlineSeconds", "Forbidden", detail=detail)


def _validate_stateful_set_strategy(path: str, strategy: Mapping[str, Any]) -> FieldErrors:
    kind, rolling = strategy.get("type") or "RollingUpdate", strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        yield FieldError(path, "Invalid", strategy, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        detail = "only allowed for updateStrategy 'RollingUpdate'"
        yield FieldError(f"{path}.rollingUpdate", "Invalid", rolling, detail)
    elif rolling is not None and (rolling.get("partition") or 0) < 0:
        detail = "must be greater than or equal to 0"
        yield FieldError(f"{path}.rollingUpdate.partition", "Invalid", rolling["partition"], detail)


def validate_deployment(deployment: Deployment) -> FieldErrors:
    """Validate a Deployment: numbers, strategy, selector, template; the deadline exceeds minReadySeconds."""
    spec = deployment.spec
    deadline = spec.rest.get("progressDeadlineSeconds")
    yield from validate_not_negative(replicas=spec.replicas, minReadySeconds=spec.min_ready_seconds,
                                     revisionHistoryLimit=spec.rest.get("revisionHistoryLimit"),
                                     progressDeadlineSeconds=deadline)
    if deadline is not None and deadline <= spec.min_ready_seconds:
        yield FieldError("spec.progressDeadlineSeconds", "Invalid", deadline, "must be greater than minReadySeconds")
    yield from _validate_selector_and_template(spec.selector, spec.template)
    yield from _validate_deployment_strategy("spec.strategy", spec.rest.get("strategy", {}))


def validate_replica_set(replica_set: ReplicaSet) -> FieldErrors:
    """Validate a ReplicaSet: numbers, selector and template."""
    spec = replica_set.spec
    yield from validate_not_negative(replicas=spec.replicas, minReadySeconds=spec.min_ready_seconds)
    yield from _validate_selector_and_template(spec.selector, spec.template)


def validate_replication_controller(controller: ReplicationController) -> FieldErrors:
    """Validate a ReplicationController: numbers, a plain map as selector, and a template that is there."""
    spec, template = controller.spec, controller.spec.template
    yield from validate_not_negative(minReadySeconds=spec.min_ready_seconds)
    if not spec.selector:
        yield FieldError("spec.selector", "Required")
    yield from validate_not_negative(replicas=spec.replicas)
    if not template.spec.containers and template.metadata == PodTemplateSpec().metadata:  # an empty one is none
        yield FieldError("spec.template", "Required")
        return
    if spec.selector:
        yield from validate_template_labels(LabelSelector(match_labels=spec.selector), template)
    yield from validate_template(template)
    yield from _refuse_deadline(template, "ReplicationController")


def _validate_selector_and_template(selector: LabelSelector | None, template: PodTemplateSpec) -> FieldErrors:
    """Validate selector and template of a Deployment or ReplicaSet; the errors of both say `deployment`."""
    selector_errors = list(validate_selector(selector, "deployment"))
    yield from selector_errors
    if any(error.path != "spec.selector" for error in selector_errors):
        yield FieldError("spec.selector", "Invalid", selector, "invalid label selector")
        return
    if selector is None or selector.match_labels or selector.match_expressions:
        yield from validate_template_labels(selector, template)
    yield from validate_template(template)
    yield from _refuse_deadline(template, "ReplicaSet")


def _validate_deployment_strategy(path: str, strategy: Mapping[str, Any]) -> FieldErrors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            yield FieldError(f"{path}.rollingUpdate", "Forbidden", detail=detail)
    elif kind != "RollingUpdate":
        yield from validate_supported(path, kind, ("Recreate", "RollingUpdate"))
    elif rolling is not None:
        unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
        item_path = f"{path}.rollingUpdate"
        yield from validate_int_or_percent(f"{item_path}.maxUnavailable", unavailable)
        yield from validate_int_or_percent(f"{item_path}.maxSurge", surge)
        if number_of_int_or_percent(unavailable) == number_of_int_or_percent(surge) == 0:
            yield FieldError(f"{item_path}.maxUnavailable", "Invalid", unavailable, "may not be 0 when `maxSurge` is 0")
        yield from validate_at_most_all(f"{item_path}.maxUnavailable", unavailable)


def validate_daemon_set(daemon_set: DaemonSet) -> FieldErrors:
    """Validate a DaemonSet: selector, template, numbers; one of maxUnavailable and maxSurge must be 0.

    Without a selector, the only error is that the template does not match.
    """
    spec = daemon_set.spec
    selector_errors = list(validate_selector(spec.selector, "daemonset")) if spec.selector is not None else []
    yield from selector_errors
    if all(error.path == "spec.selector" for error in selector_errors):
        yield from validate_template_labels(spec.selector, spec.template)
    yield from validate_template(spec.template)
    yield from _refuse_deadline(spec.template, "DaemonSet")
    yield from validate_not_negative(minReadySeconds=spec.min_ready_seconds,
                                     revisionHistoryLimit=spec.rest.get("revisionHistoryLimit"))
    yield from _validate_daemon_set_strategy("spec.updateStrategy", spec.rest.get("updateStrategy", {}))


def _validate_daemon_set_strategy(path: str, strategy: Mapping[str, Any]) -> FieldErrors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        yield from validate_supported(path, kind, ("RollingUpdate", "OnDelete"))
        return
    item_path = f"{path}.rollingUpdate"
    if rolling is None:
        yield FieldError(item_path, "Required")
        return
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    for field, number in (("maxUnavailable", unavailable), ("maxSurge", surge)):
        yield from validate_int_or_percent(f"{item_path}.{field}", number)
        yield from validate_at_most_all(f"{item_path}.{field}", number)
    if number_of_int_or_percent(unavailable) and number_of_int_or_percent(surge):
        yield FieldError(f"{item_path}.maxSurge", "Invalid", surge, "may not be set when maxUnavailable is non-zero")
    elif not number_of_int_or_percent(unavailable) and not number_of_int_or_percent(surge):
        yield FieldError(f"{item_path}.maxUnavailable", "Required", detail="cannot be 0 when maxSurge is 0")

"""Which workloads the API server takes, one function a rule.

Mirrors apps `ValidateStatefulSet`, `ValidateDeployment`, `ValidateReplicaSet` and `ValidateDaemonSet` (v1.36.2). A
template is judged as a pod that always restarts; the selector must match its labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from ..kinds.pod import PodTemplateSpec
from ..kinds.selector import LabelSelector
from ..kinds.workload import DaemonSet, Deployment, ReplicaSet, StatefulSet
from .field_error import FieldError, FieldErrors, check_dns_label, invalid_values, validate_labels, validate_supported
from .pod_rules import validate_pod_spec
from .policy_rules import number_of_int_or_percent, validate_at_most_all, validate_int_or_percent
from .selector_rules import validate_label_selector
from .volume_rules import validate_claim_spec


def validate_not_negative(**numbers: int | None) -> FieldErrors:
    """Numbers of a spec, by the names of their fields (dots written as `__`), are not negative."""
    for field, number in numbers.items():
        if number is not None and number < 0:
            yield FieldError(f"spec.{field.replace('__', '.')}", "Invalid", number, "must be greater than or equal to 0")


def validate_stateful_set(stateful_set: StatefulSet) -> FieldErrors:
    """A StatefulSet: its order, numbers, strategy, selector, template, and the claims it makes."""
    spec = stateful_set.spec
    if spec.pod_management_policy not in ("OrderedReady", "Parallel"):
        words = "must be 'OrderedReady' or 'Parallel'"
        yield FieldError("spec.podManagementPolicy", "Invalid", spec.pod_management_policy, words)
    yield from validate_not_negative(
        replicas=spec.replicas,
        minReadySeconds=spec.rest.get("minReadySeconds"),
        ordinals__start=spec.rest.get("ordinals", {}).get("start"),
    )
    if spec.service_name:
        yield from invalid_values("spec.serviceName", spec.service_name, check_dns_label(spec.service_name))
    yield from _stateful_strategy("spec.updateStrategy", spec.rest.get("updateStrategy", {}))
    retention = spec.rest.get("persistentVolumeClaimRetentionPolicy", {})
    for field in ("whenDeleted", "whenScaled"):
        if retention.get(field):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{field}"
            yield from validate_supported(path, retention[field], ("Retain", "Delete"))
    wrong = list(validate_selector(spec.selector, "statefulset"))
    yield from wrong
    if any(".operator" in refusal.path or ".values" in refusal.path for refusal in wrong):
        yield FieldError("spec.selector", "Invalid", spec.selector)
    else:
        yield from _mismatch(spec.selector, spec.template)
        claims = {claim.metadata.name for claim in spec.volume_claim_templates}
        yield from validate_template(spec.template, claims)
    for index, claim in enumerate(spec.volume_claim_templates):
        yield from validate_claim_spec(f"spec.volumeClaimTemplates[{index}].spec", claim.spec)


def validate_selector(selector: LabelSelector | None, kind: str) -> FieldErrors:
    """A workload's selector: given, well formed, not empty."""
    if selector is None:
        yield FieldError("spec.selector", "Required")
        return
    yield from validate_label_selector("spec.selector", selector)
    if not selector.match_labels and not selector.match_expressions:
        yield FieldError("spec.selector", "Invalid", selector, f"empty selector is invalid for {kind}")


def _mismatch(selector: LabelSelector | None, of: PodTemplateSpec) -> FieldErrors:
    if selector is None or not selector.matches(of.metadata.labels):
        words = "`selector` does not match template `labels`"
        yield FieldError("spec.template.metadata.labels", "Invalid", of.metadata.labels or None, words)


def validate_template(template: PodTemplateSpec, claims: set[str] | frozenset[str] = frozenset()) -> FieldErrors:
    """A template's labels and pod; volumes of claims that will be made for it may be mounted."""
    for refusal in itertools.chain(
        validate_labels("spec.template.metadata.labels", template.metadata.labels),
        validate_pod_spec("spec.template.spec", template.spec),
    ):
        templated = refusal.type == "NotFound" and refusal.path.endswith(".name") and refusal.value in claims
        if not templated and refusal.path != "spec.template.spec.restartPolicy":
            yield refusal
    yield from validate_supported("spec.template.spec.restartPolicy", template.spec.restart_policy, ("Always",))


def _no_deadline(template: PodTemplateSpec, kind: str) -> FieldErrors:
    if "activeDeadlineSeconds" in template.spec.rest:
        words = f"activeDeadlineSeconds in {kind} is not Supported"
        yield FieldError("spec.template.spec.activeDeadlineSeconds", "Forbidden", detail=words)


def _stateful_strategy(path: str, strategy: Mapping[str, Any]) -> FieldErrors:
    kind, rolling = strategy.get("type") or "RollingUpdate", strategy.get("rollingUpdate")
    if kind not in ("RollingUpdate", "OnDelete"):
        yield FieldError(path, "Invalid", strategy, "must be 'RollingUpdate' or 'OnDelete'")
    elif kind == "OnDelete" and rolling is not None:
        words = "only allowed for updateStrategy 'RollingUpdate'"
        yield FieldError(f"{path}.rollingUpdate", "Invalid", rolling, words)
    elif rolling is not None and (rolling.get("partition") or 0) < 0:
        words = "must be greater than or equal to 0"
        yield FieldError(f"{path}.rollingUpdate.partition", "Invalid", rolling["partition"], words)


def validate_deployment(deployment: Deployment) -> FieldErrors:
    """A Deployment: numbers, a strategy, a deadline longer than a pod must be ready, selector and template."""
    spec = deployment.spec
    deadline = spec.rest.get("progressDeadlineSeconds")
    yield from validate_not_negative(
        replicas=spec.replicas,
        minReadySeconds=spec.min_ready_seconds,
        revisionHistoryLimit=spec.rest.get("revisionHistoryLimit"),
        progressDeadlineSeconds=deadline,
    )
    if deadline is not None and deadline <= spec.min_ready_seconds:
        yield FieldError("spec.progressDeadlineSeconds", "Invalid", deadline, "must be greater than minReadySeconds")
    yield from _replicated(spec.selector, spec.template)
    yield from _deployment_strategy("spec.strategy", spec.rest.get("strategy", {}))


def validate_replica_set(replica_set: ReplicaSet) -> FieldErrors:
    """A ReplicaSet: numbers, selector and template."""
    yield from validate_not_negative(replicas=replica_set.spec.replicas, minReadySeconds=replica_set.spec.min_ready_seconds)
    yield from _replicated(replica_set.spec.selector, replica_set.spec.template)


def _replicated(selector: LabelSelector | None, of: PodTemplateSpec) -> FieldErrors:
    """Selector and template of a Deployment or ReplicaSet; both are told that they are Deployments."""
    wrong = list(validate_selector(selector, "deployment"))
    yield from wrong
    if any(refusal.path != "spec.selector" for refusal in wrong):
        yield FieldError("spec.selector", "Invalid", selector, "invalid label selector")
        return
    if selector is None or selector.match_labels or selector.match_expressions:
        yield from _mismatch(selector, of)
    yield from validate_template(of)
    yield from _no_deadline(of, "ReplicaSet")


def _deployment_strategy(path: str, strategy: Mapping[str, Any]) -> FieldErrors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            words = "may not be specified when strategy `type` is 'Recreate'"
            yield FieldError(f"{path}.rollingUpdate", "Forbidden", detail=words)
    elif kind != "RollingUpdate":
        yield from validate_supported(path, kind, ("Recreate", "RollingUpdate"))
    elif rolling is not None:
        unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
        here = f"{path}.rollingUpdate"
        yield from validate_int_or_percent(f"{here}.maxUnavailable", unavailable)
        yield from validate_int_or_percent(f"{here}.maxSurge", surge)
        if number_of_int_or_percent(unavailable) == number_of_int_or_percent(surge) == 0:
            yield FieldError(f"{here}.maxUnavailable", "Invalid", unavailable, "may not be 0 when `maxSurge` is 0")
        yield from validate_at_most_all(f"{here}.maxUnavailable", unavailable)


def validate_daemon_set(daemon_set: DaemonSet) -> FieldErrors:
    """A DaemonSet: selector, template, numbers, and pods that go before or after the new ones come, not both.

    Without a selector only the template is told not to match.
    """
    spec = daemon_set.spec
    wrong = list(validate_selector(spec.selector, "daemonset")) if spec.selector is not None else []
    yield from wrong
    if all(refusal.path == "spec.selector" for refusal in wrong):
        yield from _mismatch(spec.selector, spec.template)
    yield from validate_template(spec.template)
    yield from _no_deadline(spec.template, "DaemonSet")
    yield from validate_not_negative(
        minReadySeconds=spec.min_ready_seconds, revisionHistoryLimit=spec.rest.get("revisionHistoryLimit")
    )
    yield from _daemon_strategy("spec.updateStrategy", spec.rest.get("updateStrategy", {}))


def _daemon_strategy(path: str, strategy: Mapping[str, Any]) -> FieldErrors:
    kind, rolling = strategy.get("type", ""), strategy.get("rollingUpdate")
    if kind == "OnDelete":
        return
    if kind != "RollingUpdate":
        yield from validate_supported(path, kind, ("RollingUpdate", "OnDelete"))
        return
    here = f"{path}.rollingUpdate"
    if rolling is None:
        yield FieldError(here, "Required")
        return
    unavailable, surge = rolling.get("maxUnavailable", 0), rolling.get("maxSurge", 0)
    for field, number in (("maxUnavailable", unavailable), ("maxSurge", surge)):
        yield from validate_int_or_percent(f"{here}.{field}", number)
        yield from validate_at_most_all(f"{here}.{field}", number)
    if number_of_int_or_percent(unavailable) and number_of_int_or_percent(surge):
        yield FieldError(f"{here}.maxSurge", "Invalid", surge, "may not be set when maxUnavailable is non-zero")
    elif not number_of_int_or_percent(unavailable) and not number_of_int_or_percent(surge):
        yield FieldError(f"{here}.maxUnavailable", "Required", detail="cannot be 0 when maxSurge is 0")

"""Validate updates of a pod; the scheduling directives of a gated pod may become narrower, never wider (S4).

Mirrors core `ValidatePodUpdate` (v1.36.2).
"""

from typing import Any

import attrs

from ..kinds.pod import Affinity, Container, NodeAffinity, Pod, PodSpec
from ..kinds.selector import NodeSelectorTerm, Toleration
from .field_error import FieldError, FieldErrors

_TERMS_PATH = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

_POD_DETAIL = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def validate_pod_update(old: Pod, new: Pod) -> FieldErrors:
    """Validate an update of a pod: images, a shorter deadline, more tolerations, fewer gates may change.

    Scheduling directives of a gated pod may become narrower.
    """
    before, after = old.spec, new.spec
    for field, attribute in (("containers", "containers"), ("initContainers", "init_containers")):
        old_containers, new_containers = getattr(before, attribute), getattr(after, attribute)
        if len(old_containers) != len(new_containers):
            detail = "pod updates may not add or remove containers"
            yield FieldError(f"spec.{field}", "Forbidden", detail=detail)
            return
        yield from _validate_images(f"spec.{field}", new_containers)
    deadlines = (spec.rest.get("activeDeadlineSeconds") for spec in (before, after))
    deadline_errors = list(_validate_deadline(*deadlines))
    yield from deadline_errors
    if any(error.value is not None for error in deadline_errors):
        return
    yield from _validate_tolerations(before, after)
    gates = {gate.name for gate in before.scheduling_gates}
    for index, gate in enumerate(after.scheduling_gates):
        if gate.name not in gates:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.name}'"
            yield FieldError(f"spec.schedulingGates[{index}].name", "Forbidden", detail=detail)
    if gates:
        yield from _validate_narrowing(before, after)
        before = with_directives(before, after)
    if _with_mutable_fields(before, after) != after:
        yield FieldError("spec", "Forbidden", detail=_POD_DETAIL)


def _validate_images(path: str, containers: tuple[Container, ...]) -> FieldErrors:
    for index, container in enumerate(containers):
        if container.image != container.image.strip():
            detail = "must not have leading or trailing whitespace"
            yield FieldError(f"{path}[{index}].image", "Invalid", container.image, detail)


def _validate_deadline(before: int | None, after: int | None) -> FieldErrors:
    """Refuse to remove activeDeadlineSeconds or to make it later."""
    path = "spec.activeDeadlineSeconds"
    if after is None:
        if before is not None:
            yield FieldError(path, "Invalid", None, "must not update from a positive integer to nil value")
    elif not 0 <= after < 2**31:
        yield FieldError(path, "Invalid", after, "must be between 0 and 2147483647, inclusive")
    elif before is not None and before < after:
        yield FieldError(path, "Invalid", after, "must be less than or equal to previous value")


def _validate_tolerations(before: PodSpec, after: PodSpec) -> FieldErrors:
    new_tolerations = [_without_seconds(toleration) for toleration in after.tolerations]
    if any(_without_seconds(toleration) not in new_tolerations for toleration in before.tolerations):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield FieldError("spec.tolerations", "Forbidden", detail=detail)


def _without_seconds(toleration: Toleration) -> Toleration:
    return attrs.evolve(toleration, toleration_seconds=None)


def _with_mutable_fields(before: PodSpec, after: PodSpec) -> PodSpec:
    """Return the older spec with the mutable fields of the newer one."""
    deadline = {"activeDeadlineSeconds": after.rest.get("activeDeadlineSeconds")}
    return attrs.evolve(
        before, containers=_with_images(before.containers, after.containers),
        init_containers=_with_images(before.init_containers, after.init_containers), tolerations=after.tolerations,
        scheduling_gates=after.scheduling_gates, rest=before.rest.merged(deadline),
    )


def _with_images(before: Any, after: Any) -> Any:
    return tuple(attrs.evolve(old, image=new.image) for old, new in zip(before, after, strict=True))


def _validate_narrowing(before: PodSpec, after: PodSpec) -> FieldErrors:
    """Refuse to widen a gated pod's node selector or required node affinity (S4, Design Details)."""
    if any(after.node_selector.get(key) != value for key, value in before.node_selector.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield FieldError("spec.nodeSelector", "Invalid", after.node_selector or None, detail)
    old, new = before.required_node_affinity, after.required_node_affinity
    if old is None or not old.node_selector_terms:
        return
    terms = new.node_selector_terms if new is not None else ()
    if len(terms) != len(old.node_selector_terms):
        detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        yield FieldError(_TERMS_PATH, "Invalid", terms or None, detail)
        return
    for index, (old_term, new_term) in enumerate(zip(old.node_selector_terms, terms, strict=True)):
        if not _only_appends(old_term, new_term):
            detail = "only additions are allowed (no mutations or deletions)"
            yield FieldError(f"{_TERMS_PATH}[{index}]", "Invalid", new_term, detail)


def _only_appends(old: NodeSelectorTerm, new: NodeSelectorTerm) -> bool:
    """Say whether requirements were only appended; an empty term matches nothing, so filling it would widen."""
    if not old.match_expressions and not old.match_fields:
        return not new.match_expressions and not new.match_fields
    return (new.match_expressions[: len(old.match_expressions)] == old.match_expressions
            and new.match_fields[: len(old.match_fields)] == old.match_fields)


def with_directives(before: PodSpec, after: PodSpec) -> PodSpec:
    """Return the older spec with the node selector and node affinity of the newer one."""
    affinity = _with_node_affinity(before.affinity, after.affinity)
    return attrs.evolve(before, node_selector=after.node_selector, affinity=affinity)


def _with_node_affinity(before: Affinity | None, after: Affinity | None) -> Affinity | None:
    newer: NodeAffinity | None = after.node_affinity if after is not None else None
    merged = attrs.evolve(before or Affinity(), node_affinity=newer)
    return None if after is None and merged == Affinity() else merged

"""Validate Jobs, and updates of Jobs: while one is suspended, the scheduling directives of its template may change.

Mirrors batch `ValidateJob` and `ValidateJobUpdate` (v1.36.2), but for the policies of failures and of success.
"""

from ..kinds.meta import evolve
from ..kinds.name_syntax import check_dns_label
from ..kinds.pod import Container, PodTemplateSpec
from ..kinds.workload import CONTROLLER_UID_LABELS, INDEXED, JOB_NAME_LABELS, Job
from .field_error import FieldError, FieldErrors, validate_immutable, validate_supported
from .pod_update_rules import with_directives
from .selector_rules import validate_label_selector
from .workload_rules import validate_not_negative, validate_template_labels, validate_template_spec

MAX_PARALLELISM = 100_000  # of an Indexed Job
RESTART_POLICIES = ("OnFailure", "Never")


def validate_job(job: Job) -> FieldErrors:
    """Validate a Job: generated labels, numbers, completion mode, template and selector."""
    spec, rest = job.spec, job.spec.rest
    if not spec.manual_selector and spec.selector is not None:
        yield from _validate_generated_labels(job)
    yield from validate_not_negative(
        parallelism=spec.parallelism, completions=spec.completions, activeDeadlineSeconds=spec.active_deadline_seconds,
        backoffLimit=spec.backoff_limit,
        **{name: rest.get(name) for name in ("ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes")}
    )
    yield from _validate_completion_mode(job)
    policies = ("Failed",) if "podFailurePolicy" in rest else ("Failed", "TerminatingOrFailed")
    yield from validate_supported("spec.podReplacementPolicy", spec.pod_replacement_policy, policies)
    yield from validate_template_spec(spec.template)
    path, restart_policy = "spec.template.spec.restartPolicy", spec.template.spec.restart_policy
    if restart_policy in ("Always", ""):
        yield FieldError(path, "Required", detail='valid values: "OnFailure", "Never"')
    else:
        yield from validate_supported(path, restart_policy, RESTART_POLICIES)
        if "podFailurePolicy" in rest and restart_policy == "OnFailure":
            detail = 'only "Never" is supported when podFailurePolicy is specified'
            yield FieldError(path, "Invalid", restart_policy, detail)
    if spec.selector is None:
        yield FieldError("spec.selector", "Required")
    else:
        yield from validate_label_selector("spec.selector", spec.selector)
    yield from validate_template_labels(spec.selector, spec.template)
    if job.is_indexed and spec.completions:
        hostname = f"{job.metadata.name}-{spec.completions - 1}"
        if check_dns_label(hostname):
            detail = f"will not able to create pod with invalid DNS label: {hostname}"
            yield FieldError("metadata.name", "Invalid", job.metadata.name, detail)


def _validate_generated_labels(job: Job) -> FieldErrors:
    """Refuse a template without the labels that tell this Job's pods, or with those of another Job."""
    path, labels = "spec.template.metadata.labels", job.spec.template.metadata.labels
    expected = dict.fromkeys(reversed(CONTROLLER_UID_LABELS), job.metadata.uid)
    expected |= dict.fromkeys(reversed(JOB_NAME_LABELS), job.metadata.name)
    for label, value in expected.items():
        if label not in labels:
            yield FieldError(f"{path}[{label}]", "Required", detail=f"must be '{value}'")
        elif labels[label] != value:
            yield FieldError(f"{path}[{label}]", "Invalid", labels, f"must be '{value}'")
    if job.spec.selector is not None and not job.spec.selector.matches(expected):
        yield FieldError("spec.selector", "Invalid", job.spec.selector, "`selector` not auto-generated")


def _validate_completion_mode(job: Job) -> FieldErrors:
    spec, rest = job.spec, job.spec.rest
    if "maxFailedIndexes" in rest and "backoffLimitPerIndex" not in rest:
        yield FieldError("spec.backoffLimitPerIndex", "Required", detail="when maxFailedIndexes is specified")
    yield from validate_supported("spec.completionMode", spec.completion_mode, ("NonIndexed", INDEXED))
    if not job.is_indexed:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
            if field in rest:
                yield FieldError(f"spec.{field}", "Invalid", rest[field], "requires indexed completion mode")
        return
    if spec.completions is None:
        yield FieldError("spec.completions", "Required", detail="when completion mode is Indexed")
    if (spec.parallelism or 0) > MAX_PARALLELISM:
        detail = f"must be less than or equal to {MAX_PARALLELISM} when completion mode is Indexed"
        yield FieldError("spec.parallelism", "Invalid", spec.parallelism, detail)


def validate_job_update(old: Job, new: Job) -> FieldErrors:
    """Refuse changes of what a Job began with; `parallelism`, `suspend` and the limits may change."""
    before, after = old.spec, new.spec
    if new.is_indexed and before.completions != after.completions is not None:
        if after.completions != after.parallelism:
            detail = "can only be modified in tandem with spec.parallelism"
            yield FieldError("spec.completions", "Invalid", after.completions, detail)
    else:
        yield from validate_immutable("spec.completions", before.completions, after.completions)
    yield from validate_immutable("spec.selector", before.selector, after.selector)
    template = with_mutable_template(old, after.template) if may_change_template(old) else before.template
    yield from validate_immutable("spec.template", template, after.template)
    yield from validate_immutable("spec.completionMode", before.completion_mode, after.completion_mode)
    for field in ("podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        yield from validate_immutable(f"spec.{field}", before.rest.get(field), after.rest.get(field))


def may_change_template(job: Job) -> bool:
    """Say whether the scheduling directives and requests of a Job's template may change: suspended, without pods.

    So v1.36 has it (MutableSchedulingDirectivesForSuspendedJobs, MutablePodResourcesForSuspendedJobs).
    """
    is_over = job.status.start_time is None or job.has_condition("Suspended")
    return bool(job.spec.suspend) and not job.status.active and is_over


def with_mutable_template(old: Job, new: PodTemplateSpec) -> PodTemplateSpec:
    """Return the template of a suspended Job with those fields of a newer one that may change."""
    template = old.spec.template
    spec = evolve(
        with_directives(template.spec, new.spec), tolerations=new.spec.tolerations,
        scheduling_gates=new.spec.scheduling_gates,
        containers=_with_resources(template.spec.containers, new.spec.containers),
        init_containers=_with_resources(template.spec.init_containers, new.spec.init_containers)
    )
    meta = evolve(template.metadata, labels=new.metadata.labels, annotations=new.metadata.annotations)
    return evolve(template, metadata=meta, spec=spec)


def _with_resources(before: tuple[Container, ...], after: tuple[Container, ...]) -> tuple[Container, ...]:
    if len(before) != len(after):
        return before
    return tuple(evolve(old, resources=new.resources) for old, new in zip(before, after, strict=True))

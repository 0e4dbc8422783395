"""kubectl's print of StatefulSets, Deployments, ReplicaSets, ReplicationControllers, DaemonSets and Jobs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from ...api.kinds.meta import EMPTY, Frozen, evolve_parts
from ...api.kinds.pod import Container, PodTemplateSpec
from ...api.kinds.workload import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from ...api.text.convert import to_plain
from .. import formatting
from .pod_template import template_lines
from .printer import Cell, DescribeContext, Printer, controller_of, metadata_lines, printer
from .storage import class_name_of


def _daemon_set_cells(daemon_set: DaemonSet) -> Iterable[str]:
    status, selector = daemon_set.status, daemon_set.spec.template.spec.node_selector
    numbers = (
        status.desired_number_scheduled, status.current_number_scheduled, status.number_ready,
        status.updated_number_scheduled, status.number_available,
    )  # fmt: skip
    return *map(str, numbers), formatting.format_labels(selector), *_template_cells(daemon_set)


def _job_cells(job: Job) -> Iterable[Cell]:
    spec, succeeded = job.spec, job.status.succeeded
    if spec.completions is not None:
        completions = f"{succeeded}/{spec.completions}"
    else:
        completions = f"{succeeded}/1" + (f" of {spec.parallelism}" if (spec.parallelism or 0) > 1 else "")
    return _job_state(job), completions, partial(_job_duration, job), *_template_cells(job)


def _job_state(job: Job) -> str:
    """Return STATUS: the first of these conditions that a Job has, or that it is being deleted or runs."""
    ended = next(filter(job.has_condition, ("Complete", "Failed")), "")
    going_on = next(filter(job.has_condition, ("Suspended", "FailureTarget")), "Running")
    return ended or ("Terminating" if job.metadata.deletion_timestamp is not None else going_on)


def _job_duration(job: Job, now: datetime) -> str:
    start, end = formatting.parse_time(job.status.start_time), formatting.parse_time(job.status.completion_time) or now
    return formatting.format_duration((end - start).total_seconds()) if start is not None else ""


def _replicas(workload: StatefulSet | Deployment | ReplicaSet | ReplicationController) -> int:
    return 1 if workload.spec.replicas is None else workload.spec.replicas


def _template_cells(workload: Any) -> tuple[str, ...]:
    """Return the cells CONTAINERS, IMAGES and SELECTOR, which only `-o wide` shows; a StatefulSet lacks the last."""
    containers: tuple[Container, ...] = workload.spec.template.spec.containers
    return ",".join(each.name for each in containers), ",".join(each.image for each in containers), _selector(workload)


def _selector(workload: Any) -> str:
    if isinstance(workload, ReplicationController):  # its selector is a plain map
        return formatting.format_labels(workload.spec.selector)
    return formatting.format_selector(workload.spec.selector)


TEMPLATE_HASH = "pod-template-hash"


def describe_stateful_set(stateful_set: StatefulSet, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a StatefulSet."""
    spec = stateful_set.spec
    yield f"CreationTimestamp:\t{formatting.format_time(stateful_set.metadata.creation_timestamp)}"
    yield f"Selector:\t{formatting.format_selector(spec.selector)}"
    yield from metadata_lines(stateful_set)
    yield f"Replicas:\t{_replicas(stateful_set)} desired | {stateful_set.status.replicas} total"
    strategy = spec.rest.get("updateStrategy", EMPTY)
    kind = strategy.get("type") or "RollingUpdate"
    yield f"Update Strategy:\t{kind}"
    if kind == "RollingUpdate":
        rolling = strategy.get("rollingUpdate", EMPTY)
        yield f"  Partition:\t{rolling.get('partition', 0)}"
        if "maxUnavailable" in rolling:
            yield f"  MaxUnavailable:\t{rolling['maxUnavailable']}"
    yield f"Pods Status:\t{context.pods_status(stateful_set)}"
    yield from template_lines(spec.template)
    yield "Volume Claims:" + ("" if spec.volume_claim_templates else f"\t{formatting.NONE}")
    for claim in spec.volume_claim_templates:
        yield f"  Name:\t{claim.metadata.name}"
        yield f"  StorageClass:\t{class_name_of(claim)}"
        yield from formatting.label_lines("  Labels", claim.metadata.labels, "  \t")
        annotations = [f"{key}={value}" for key, value in sorted(claim.metadata.annotations.items())]
        yield from formatting.field_lines("  Annotations", annotations, "  \t")
        yield f"  Capacity:\t{claim.spec.resources.requests.get('storage', '<default>')}"
        yield f"  Access Modes:\t{formatting.go_string(claim.spec.access_modes)}"


def describe_deployment(deployment: Deployment, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a Deployment, with its ReplicaSets: that of the current template, and all others."""
    spec, status = deployment.spec, deployment.status
    yield f"CreationTimestamp:\t{formatting.format_time(deployment.metadata.creation_timestamp)}"
    yield from metadata_lines(deployment)
    yield f"Selector:\t{formatting.format_selector(spec.selector)}"
    counts = (
        (_replicas(deployment), "desired"), (status.updated_replicas, "updated"), (status.replicas, "total"),
        (status.available_replicas, "available"), (status.unavailable_replicas, "unavailable"),
    )  # fmt: skip
    yield "Replicas:\t" + " | ".join(f"{count} {word}" for count, word in counts)
    strategy = spec.rest.get("strategy", EMPTY)
    yield f"StrategyType:\t{strategy.get('type') or 'RollingUpdate'}"
    yield f"MinReadySeconds:\t{spec.min_ready_seconds}"
    rolling = strategy.get("rollingUpdate")
    if rolling is not None:
        unavailable, surge = rolling.get("maxUnavailable", "25%"), rolling.get("maxSurge", "25%")
        yield f"RollingUpdateStrategy:\t{unavailable} max unavailable, {surge} max surge"
    yield from template_lines(spec.template)
    yield from _condition_lines(status.rest)
    replica_sets: list[ReplicaSet] = context.controlled_by(deployment, "ReplicaSet")
    template = _without_hash(spec.template)
    new_sets = [item for item in replica_sets if _without_hash(item.spec.template) == template][:1]
    if replica_sets:
        yield f"OldReplicaSets:\t{_replica_sets([item for item in replica_sets if item not in new_sets])}"
        yield f"NewReplicaSet:\t{_replica_sets(new_sets)}"


def describe_replicas(workload: ReplicaSet | ReplicationController, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a ReplicaSet or a ReplicationController."""
    yield f"Selector:\t{_selector(workload) or formatting.NONE}"
    yield from metadata_lines(workload)
    if isinstance(workload, ReplicaSet):
        yield from formatting.given_lines(Controlled_By=controller_of(workload))
    yield f"Replicas:\t{workload.status.replicas} current / {_replicas(workload)} desired"
    yield f"Pods Status:\t{context.pods_status(workload)}"
    yield from template_lines(workload.spec.template)
    yield from _condition_lines(workload.status.rest)


def describe_daemon_set(daemon_set: DaemonSet, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a DaemonSet."""
    status = daemon_set.status
    yield f"Selector:\t{formatting.format_selector(daemon_set.spec.selector)}"
    yield f"Node-Selector:\t{formatting.format_labels(daemon_set.spec.template.spec.node_selector)}"
    yield from metadata_lines(daemon_set)
    yield f"Desired Number of Nodes Scheduled: {status.desired_number_scheduled}"
    yield f"Current Number of Nodes Scheduled: {status.current_number_scheduled}"
    yield f"Number of Nodes Scheduled with Up-to-date Pods: {status.updated_number_scheduled}"
    yield f"Number of Nodes Scheduled with Available Pods: {status.number_available}"
    yield f"Number of Nodes Misscheduled: {status.number_misscheduled}"
    yield f"Pods Status:\t{context.pods_status(daemon_set)}"
    yield from template_lines(daemon_set.spec.template)


def describe_job(job: Job, _context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a Job."""
    spec, status = job.spec, job.status
    yield f"Selector:\t{formatting.format_selector(spec.selector)}"
    yield from metadata_lines(job)
    yield from formatting.given_lines(Controlled_By=controller_of(job))
    yield f"Parallelism:\t{spec.parallelism}"
    yield f"Completions:\t{formatting.UNSET if spec.completions is None else spec.completions}"
    yield f"Completion Mode:\t{spec.completion_mode}"
    yield f"Suspend:\t{formatting.go_string(spec.suspend)}"
    yield f"Backoff Limit:\t{spec.backoff_limit}"
    start, end, deadline = status.start_time, status.completion_time, spec.active_deadline_seconds
    yield from formatting.given_lines(
        TTL_Seconds_After_Finished=spec.rest.get("ttlSecondsAfterFinished"),
        Start_Time=start and formatting.format_time(start), Completed_At=end and formatting.format_time(end),
        Duration=end and _job_duration(job, formatting.ZERO_TIME),
        Active_Deadline_Seconds=None if deadline is None else f"{deadline}s")  # fmt: skip
    ready = "" if status.ready is None else f" ({status.ready} Ready)"
    yield f"Pods Statuses:\t{status.active} Active{ready} / {status.succeeded} Succeeded / {status.failed} Failed"
    if job.is_indexed:
        indexes = status.completed_indexes
        comma = indexes.find(",", 50)  # from the 50th character on they are left out
        yield f"Completed Indexes:\t{f'{indexes[: comma + 1]}...' if comma >= 0 else indexes or formatting.NONE}"
    yield from template_lines(spec.template)


def _condition_lines(status: Frozen) -> Iterator[str]:
    conditions = status.get("conditions", ())
    if conditions:
        yield "Conditions:"
        yield "  Type\tStatus\tReason"
        yield "  ----\t------\t------"
    for condition in conditions:
        yield f"  {condition.get('type', '')} \t{condition.get('status', '')}\t{condition.get('reason', '')}"


def _without_hash(template: PodTemplateSpec) -> Any:
    """Return a template as plain data without the hash label that the Deployment controller adds to a ReplicaSet's."""
    labels = {key: value for key, value in template.metadata.labels.items() if key != TEMPLATE_HASH}
    return to_plain(evolve_parts(template, metadata={"labels": Frozen(labels)}))


def _replica_sets(replica_sets: Sequence[ReplicaSet]) -> str:
    return ", ".join(f"{item.metadata.name} ({item.status.replicas}/{_replicas(item)} replicas created)"
                     for item in replica_sets) or formatting.NONE


_WIDE = "  [CONTAINERS]  [IMAGES]"
_OF_REPLICAS = printer(f"NAME  DESIRED  CURRENT  READY  AGE{_WIDE}  [SELECTOR]", lambda each: (
    str(_replicas(each)), str(each.status.replicas), str(each.status.ready_replicas), *_template_cells(each)),
    describe_replicas)  # fmt: skip
PRINTERS: Mapping[str, Printer] = {
    "StatefulSet": printer(f"NAME  READY  AGE{_WIDE}", lambda each: (
        f"{each.status.ready_replicas}/{_replicas(each)}", *_template_cells(each)), describe_stateful_set),
    "Deployment": printer(f"NAME  READY  UP-TO-DATE  AVAILABLE  AGE{_WIDE}  [SELECTOR]", lambda each: (
        f"{each.status.ready_replicas}/{_replicas(each)}", str(each.status.updated_replicas),
        str(each.status.available_replicas), *_template_cells(each)), describe_deployment),
    "ReplicaSet": _OF_REPLICAS,
    "ReplicationController": _OF_REPLICAS,
    "DaemonSet": printer("NAME  DESIRED  CURRENT  READY  UP-TO-DATE  AVAILABLE  NODE SELECTOR  AGE"
                         f"{_WIDE}  [SELECTOR]", _daemon_set_cells, describe_daemon_set),
    "Job": printer(f"NAME  STATUS  COMPLETIONS  DURATION  AGE{_WIDE}  [SELECTOR]", _job_cells, describe_job),
}  # fmt: skip

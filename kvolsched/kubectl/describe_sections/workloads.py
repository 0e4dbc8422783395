"""`kubectl describe` of the kinds that make pods from a template.

Pure generators of lines, without Events. Mirrors kubectl `pkg/describe/describe.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...api.kinds.meta import EMPTY, Frozen, evolve_parts
from ...api.kinds.pod import PodTemplateSpec
from ...api.kinds.workload import DaemonSet, Deployment, ReplicaSet, ReplicationController, StatefulSet
from ...api.text.convert import to_plain
from ..get_tables.core import class_named
from ..text import NONE, annotations_column, column, labelled, labels_column, selected, stamp, truth
from .surroundings import Surroundings
from .template import template_lines

HASH = "pod-template-hash"


def stateful_set(found: StatefulSet, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a StatefulSet."""
    spec = found.spec
    yield from _names(found)
    yield f"CreationTimestamp:\t{stamp(found.metadata.creation_timestamp)}"
    yield f"Selector:\t{selected(spec.selector)}"
    yield from _marks(found)
    yield f"Replicas:\t{_wanted(found)} desired | {found.status.replicas} total"
    strategy = spec.rest.get("updateStrategy", EMPTY)
    kind = strategy.get("type") or "RollingUpdate"
    yield f"Update Strategy:\t{kind}"
    if kind == "RollingUpdate":
        rolling = strategy.get("rollingUpdate", EMPTY)
        yield f"  Partition:\t{rolling.get('partition', 0)}"
        if "maxUnavailable" in rolling:
            yield f"  MaxUnavailable:\t{rolling['maxUnavailable']}"
    yield f"Pods Status:\t{around.pods_status(found)}"
    yield from template_lines(spec.template)
    yield "Volume Claims:" + ("" if spec.volume_claim_templates else f"\t{NONE}")
    for claim in spec.volume_claim_templates:
        yield f"  Name:\t{claim.metadata.name}"
        yield f"  StorageClass:\t{class_named(claim)}"
        yield from labels_column("  Labels", claim.metadata.labels, "  \t")
        annotations = [f"{key}={value}" for key, value in sorted(claim.metadata.annotations.items())]
        yield from column("  Annotations", annotations, "  \t")
        yield f"  Capacity:\t{claim.spec.resources.requests.get('storage', '<default>')}"
        yield f"  Access Modes:\t{truth(claim.spec.access_modes)}"


def deployment(found: Deployment, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a Deployment, with its ReplicaSets: the one of today's template, and all others."""
    spec, status = found.spec, found.status
    yield from _names(found)
    yield f"CreationTimestamp:\t{stamp(found.metadata.creation_timestamp)}"
    yield from _marks(found)
    yield f"Selector:\t{selected(spec.selector)}"
    counts = (
        (_wanted(found), "desired"), (status.updated_replicas, "updated"), (status.replicas, "total"),
        (status.available_replicas, "available"), (status.unavailable_replicas, "unavailable"),
    )  # fmt: skip
    yield "Replicas:\t" + " | ".join(f"{count} {word}" for count, word in counts)
    strategy = spec.rest.get("strategy", EMPTY)
    yield f"StrategyType:\t{strategy.get('type') or 'RollingUpdate'}"
    yield f"MinReadySeconds:\t{spec.min_ready_seconds}"
    rolling = strategy.get("rollingUpdate")
    if rolling is not None:
        most, more = rolling.get("maxUnavailable", "25%"), rolling.get("maxSurge", "25%")
        yield f"RollingUpdateStrategy:\t{most} max unavailable, {more} max surge"
    yield from template_lines(spec.template)
    yield from _conditions(status.rest)
    sets: list[ReplicaSet] = around.owned("ReplicaSet", found)
    today = next((one for one in sets if _as_written(one.spec.template) == _as_written(spec.template)), None)
    if sets:
        yield f"OldReplicaSets:\t{_replica_sets([one for one in sets if one is not today])}"
        yield f"NewReplicaSet:\t{_replica_sets([today] if today is not None else [])}"


def replica_set(found: ReplicaSet, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a ReplicaSet."""
    yield from _names(found)
    yield f"Selector:\t{selected(found.spec.selector) or NONE}"
    yield from _marks(found)
    owner = found.metadata.controller
    if owner is not None:
        yield f"Controlled By:\t{owner.kind}/{owner.name}"
    yield f"Replicas:\t{found.status.replicas} current / {_wanted(found)} desired"
    yield f"Pods Status:\t{around.pods_status(found)}"
    yield from template_lines(found.spec.template)
    yield from _conditions(found.status.rest)


def replication_controller(found: ReplicationController, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a ReplicationController."""
    yield from _names(found)
    yield f"Selector:\t{labelled(found.spec.selector)}"
    yield from _marks(found)
    yield f"Replicas:\t{found.status.get('replicas', 0)} current / {_wanted(found)} desired"
    yield f"Pods Status:\t{around.pods_status(found)}"
    yield from template_lines(found.spec.template)
    yield from _conditions(found.status)


def daemon_set(found: DaemonSet, around: Surroundings) -> Iterator[str]:
    """Yield what `describe` says of a DaemonSet."""
    status = found.status
    yield from _names(found)
    yield f"Selector:\t{selected(found.spec.selector)}"
    yield f"Node-Selector:\t{labelled(found.spec.template.spec.node_selector)}"
    yield from _marks(found)
    yield f"Desired Number of Nodes Scheduled: {status.desired_number_scheduled}"
    yield f"Current Number of Nodes Scheduled: {status.current_number_scheduled}"
    yield f"Number of Nodes Scheduled with Up-to-date Pods: {status.updated_number_scheduled}"
    yield f"Number of Nodes Scheduled with Available Pods: {status.number_available}"
    yield f"Number of Nodes Misscheduled: {status.number_misscheduled}"
    yield f"Pods Status:\t{around.pods_status(found)}"
    yield from template_lines(found.spec.template)


def _names(found: Any) -> Iterator[str]:
    yield f"Name:\t{found.metadata.name}"
    yield f"Namespace:\t{found.metadata.namespace}"


def _marks(found: Any) -> Iterator[str]:
    yield from labels_column("Labels", found.metadata.labels)
    yield from annotations_column("Annotations", found.metadata.annotations)


def _wanted(found: Any) -> int:
    return 1 if found.spec.replicas is None else int(found.spec.replicas)


def _conditions(status: Frozen) -> Iterator[str]:
    conditions = status.get("conditions", ())
    if conditions:
        yield "Conditions:"
        yield "  Type\tStatus\tReason"
        yield "  ----\t------\t------"
    for one in conditions:
        yield f"  {one.get('type', '')} \t{one.get('status', '')}\t{one.get('reason', '')}"


def _as_written(template: PodTemplateSpec) -> Any:
    """Return a template as its Deployment wrote it: the controller adds the hash to a ReplicaSet's labels."""
    labels = {key: value for key, value in template.metadata.labels.items() if key != HASH}
    return to_plain(evolve_parts(template, metadata={"labels": Frozen(labels)}))


def _replica_sets(found: Sequence[ReplicaSet]) -> str:
    counts = (f"{one.metadata.name} ({one.status.replicas}/{_wanted(one)} replicas created)" for one in found)
    return ", ".join(counts) or NONE


__all__ = ["daemon_set", "deployment", "replica_set", "replication_controller", "stateful_set"]

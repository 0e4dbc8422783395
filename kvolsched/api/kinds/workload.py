"""Workloads (StatefulSet, Deployment, ReplicaSet, DaemonSet, Job, ...), Namespace and Event."""

from typing import ClassVar

import attrs

from .meta import ALWAYS_WRITTEN, EMPTY, TIMESTAMP, ApiObject, Condition, Frozen, ManifestPart, ObjectReference
from .pod import PodTemplateSpec
from .selector import LabelSelector
from .volume import PersistentVolumeClaim


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class StatefulSetSpec(ManifestPart):
    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()
    service_name: str = ""
    pod_management_policy: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class StatefulSetStatus(ManifestPart):
    observed_generation: int | None = None
    replicas: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    current_revision: str = ""
    update_revision: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class StatefulSet(ApiObject):
    api_version: ClassVar[str] = "apps/v1"
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ReplicaSetSpec(ManifestPart):
    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: int = 0


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ReplicaSetStatus(ManifestPart):
    observed_generation: int | None = None
    replicas: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ReplicaSet(ApiObject):
    api_version: ClassVar[str] = "apps/v1"
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ReplicationControllerSpec(ManifestPart):
    """`selector` is a plain map of labels."""

    replicas: int | None = None
    selector: Frozen = EMPTY
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: int = 0


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class ReplicationController(ApiObject):
    """Predecessor of ReplicaSet; its status has the same fields, but for `terminatingReplicas`."""

    api_version: ClassVar[str] = "v1"
    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class DeploymentSpec(ManifestPart):
    """spec: the strategy and its numbers are kept in `rest`."""

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: int = 0
    paused: bool = False


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class DeploymentStatus(ManifestPart):
    observed_generation: int | None = None
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Deployment(ApiObject):
    api_version: ClassVar[str] = "apps/v1"
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class DaemonSetSpec(ManifestPart):
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    min_ready_seconds: int = 0


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class DaemonSetStatus(ManifestPart):
    observed_generation: int | None = None
    current_number_scheduled: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    number_misscheduled: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    desired_number_scheduled: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    number_ready: int = attrs.field(default=0, metadata=ALWAYS_WRITTEN)
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class DaemonSet(ApiObject):
    """Runs a pod on every node that fits its template; each pod names its node by affinity."""

    api_version: ClassVar[str] = "apps/v1"
    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


JOB_NAME_LABELS = ("batch.kubernetes.io/job-name", "job-name")  # today's label of a Job's pods, and the older one
CONTROLLER_UID_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
INDEXED = "Indexed"


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class JobSpec(ManifestPart):
    """spec: the policies of failures and success, and the limits of single indexes, are kept in `rest`."""

    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = ""
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    suspend: bool | None = None
    manual_selector: bool | None = None
    pod_replacement_policy: str = ""
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class JobCondition(Condition):
    last_probe_time: str | None = attrs.field(default=None, metadata=TIMESTAMP)


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class UncountedTerminatedPods(ManifestPart):
    """The uids of ended pods that no counter has yet: they keep the finalizer until they stand here."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class JobStatus(ManifestPart):
    conditions: tuple[JobCondition, ...] = ()
    start_time: str | None = attrs.field(default=None, metadata=TIMESTAMP)
    completion_time: str | None = attrs.field(default=None, metadata=TIMESTAMP)
    active: int = 0
    ready: int | None = None
    terminating: int | None = None
    succeeded: int = 0
    failed: int = 0
    completed_indexes: str = ""
    uncounted_terminated_pods: UncountedTerminatedPods | None = None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Job(ApiObject):
    """Runs pods until enough of them have succeeded, or too many have failed."""

    api_version: ClassVar[str] = "batch/v1"
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def is_indexed(self) -> bool:
        """Whether each completion has an index of its own."""
        return self.spec.completion_mode == INDEXED

    def has_condition(self, *types: str) -> bool:
        """Say whether a condition of one of these types is true."""
        return any(found.type in types and found.status == "True" for found in self.status.conditions)

    @property
    def is_finished(self) -> bool:
        """Whether it is complete or has failed."""
        return self.has_condition("Complete", "Failed")


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Namespace(ApiObject):
    api_version: ClassVar[str] = "v1"


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class EventSource(ManifestPart):
    component: str = ""
    host: str = ""


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Event(ApiObject):
    """A component's message about an object; equal messages are counted in one Event."""

    api_version: ClassVar[str] = "v1"
    involved_object: ObjectReference = ObjectReference()
    type: str = ""
    reason: str = ""
    message: str = ""
    source: EventSource = EventSource()
    count: int = 0
    first_timestamp: str | None = attrs.field(default=None, metadata=TIMESTAMP)
    last_timestamp: str | None = attrs.field(default=None, metadata=TIMESTAMP)

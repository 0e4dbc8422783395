"""Defaulting of modelled fields: the values that the API server fills in when an object is created.

Pure. Includes what admission adds to each pod (tolerations of not-ready and unreachable nodes, priority 0) and what
strategies write (phases, the condition of a gated pod). Mirrors `pkg/apis/*/v1/defaults.go` (v1.36.2).
"""

from collections.abc import Callable, Mapping
from typing import Any

from .kinds.csi import CSIDriver, VolumeAttachment
from .kinds.kind import KINDS_BY_NAME
from .kinds.meta import Condition, Frozen, Value, evolve, evolve_parts
from .kinds.node import Node
from .kinds.pod import Container, Pod, PodSpec, PodStatus, PodTemplateSpec, Volume
from .kinds.policy import SYSTEM_PRIORITY_CLASSES, LimitRange, LimitRangeItem, PriorityClass
from .kinds.selector import LabelSelector, Toleration
from .kinds.service import Service, ServicePort
from .kinds.storage_class import IMMEDIATE, StorageClass
from .kinds.volume import PersistentVolume, PersistentVolumeClaim
from .kinds.workload import (
    CONTROLLER_UID_LABELS,
    JOB_NAME_LABELS,
    DaemonSet,
    Deployment,
    Job,
    Namespace,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from .pod_resources import with_pod_level_requests
from .remembered import remembered

DEFAULT_NAMESPACE = "default"
DEFAULT_SCHEDULER = "default-scheduler"
LOST_NODE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
LOST_NODE_TOLERATION_SECONDS = 300
DEFAULT_GRACE_PERIOD_SECONDS = 30
# Priorities without a class and of the two built-in classes; admission looks up all others.
BUILT_IN_PRIORITIES = {"": 0, **SYSTEM_PRIORITY_CLASSES}
GATED_CONDITION = Condition(type="PodScheduled", status="False", reason="SchedulingGated",
                            message="Scheduling is blocked due to non-empty scheduling gates")


def with_defaults(obj: Any) -> Any:
    """Return an object with the defaults of its missing fields."""
    kind = KINDS_BY_NAME.get(getattr(obj, "kind", ""))
    if kind is None:
        return obj
    if kind.namespaced and not obj.metadata.namespace:
        obj = evolve_parts(obj, metadata={"namespace": DEFAULT_NAMESPACE})
    set_defaults = _DEFAULTERS.get(type(obj))
    return obj if set_defaults is None else set_defaults(obj)


def _filled(obj: Value, **values: Any) -> Value:
    """Return a value with these fields set where they are empty."""
    missing = {name: value for name, value in values.items() if getattr(obj, name) in (None, "", ())}
    return evolve(obj, **missing) if missing else obj


def _storage_class(storage_class: StorageClass) -> StorageClass:
    mode = storage_class.volume_binding_mode if storage_class.volume_binding_mode is not None else IMMEDIATE
    policy = storage_class.reclaim_policy if storage_class.reclaim_policy is not None else "Delete"
    return evolve(storage_class, reclaim_policy=policy, volume_binding_mode=mode)


def _volume(volume: PersistentVolume) -> PersistentVolume:
    spec = _filled(volume.spec, persistent_volume_reclaim_policy="Retain")
    spec = spec if spec.volume_mode is not None else evolve(spec, volume_mode="Filesystem")
    status = _filled(volume.status, phase="Pending")
    return volume if spec is volume.spec and status is volume.status else evolve(volume, spec=spec, status=status)


def _claim(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    spec = claim.spec if claim.spec.volume_mode is not None else evolve(claim.spec, volume_mode="Filesystem")
    status = _filled(claim.status, phase="Pending")
    return claim if spec is claim.spec and status is claim.status else evolve(claim, spec=spec, status=status)


def _pod(pod: Pod) -> Pod:
    # A pod that has a node shares its spec with no other, and one with a phase needs none: nothing is remembered.
    spec = (_whole_pod_spec if pod.spec.node_name else _whole_pod_spec_once)(pod.spec)
    status = pod.status if pod.status.phase else _pending(pod.status)
    if spec.scheduling_gates and status.condition(GATED_CONDITION.type) is None:
        status = status.with_condition(GATED_CONDITION)
    return pod if spec is pod.spec and status is pod.status else evolve(pod, spec=spec, status=status)


@remembered
def _pending(status: PodStatus) -> PodStatus:
    return _filled(status, phase="Pending")


def _whole_pod_spec(given: PodSpec) -> PodSpec:
    """Return the spec of a pod, not of a template, with its defaults."""
    spec = _pod_spec(given)
    priority = BUILT_IN_PRIORITIES.get(spec.priority_class_name)
    if spec.priority is None and priority is not None:
        spec = evolve(spec, priority=priority)
    spec = with_pod_level_requests(_filled(spec, preemption_policy="PreemptLowerPriority"))
    if spec.rest.get("hostNetwork"):
        spec = evolve(spec, containers=tuple(map(with_host_ports, spec.containers)),
                      init_containers=tuple(map(with_host_ports, spec.init_containers)))
    spec = evolve(spec, tolerations=(*spec.tolerations, *lost_node_tolerations(spec.tolerations)))
    return given if spec == given else spec


_whole_pod_spec_once = remembered(_whole_pod_spec)


def lost_node_tolerations(
    tolerations: tuple[Toleration, ...], seconds: int = LOST_NODE_TOLERATION_SECONDS
) -> list[Toleration]:
    """Return the tolerations of not-ready and unreachable nodes that the pod does not have yet."""
    return [
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=seconds)
        for key in LOST_NODE_TAINTS
        if not any(toleration.key in (key, "") and toleration.effect in ("NoExecute", "") for toleration in tolerations)
    ]


def _pod_spec(spec: PodSpec) -> PodSpec:
    spec = _filled(spec, scheduler_name=DEFAULT_SCHEDULER, restart_policy="Always",
                   termination_grace_period_seconds=DEFAULT_GRACE_PERIOD_SECONDS)
    if (spec.termination_grace_period_seconds or 0) < 0:
        spec = evolve(spec, termination_grace_period_seconds=1)
    return evolve(spec, containers=tuple(map(_container, spec.containers)),
                  init_containers=tuple(map(_container, spec.init_containers)),
                  volumes=tuple(map(_volume_source, spec.volumes)))


def with_host_ports(container: Container) -> Container:
    """Set hostPort to containerPort, as for every container on the host network."""
    if all(port.host_port for port in container.ports):
        return container
    ports = tuple(evolve(port, host_port=port.host_port or port.container_port) for port in container.ports)
    return evolve(container, ports=ports)


def _volume_source(volume: Volume) -> Volume:
    """Set defaults in the source of an inline volume."""
    if volume.ephemeral is not None and volume.ephemeral.volume_claim_template is not None:
        template = volume.ephemeral.volume_claim_template
        if template.spec.volume_mode is not None:
            return volume
        template = evolve_parts(template, spec={"volume_mode": "Filesystem"})
        return evolve(volume, ephemeral=evolve(volume.ephemeral, volume_claim_template=template))
    if volume.rbd is not None and not volume.rbd.pool:
        return evolve(volume, rbd=evolve(volume.rbd, pool="rbd"))
    return volume


def _container(container: Container) -> Container:
    limits, requests = container.resources.limits, container.resources.requests
    if any(name not in requests for name in limits):
        container = evolve(container, resources=evolve(container.resources, requests=limits.merged(requests)))
    ports = tuple(_filled(port, protocol="TCP") for port in container.ports)
    return evolve(container, ports=ports) if ports != container.ports else container


def _node(node: Node) -> Node:
    fill = node.status.capacity and not node.status.allocatable
    return evolve_parts(node, status={"allocatable": node.status.capacity}) if fill else node


def _namespace(namespace: Namespace) -> Namespace:
    meta = namespace.metadata
    if not meta.name:
        return namespace
    labels = meta.labels.with_(**{"kubernetes.io/metadata.name": meta.name})
    return evolve_parts(namespace, metadata={"labels": labels})


def _template(template: PodTemplateSpec) -> PodTemplateSpec:
    return evolve(template, spec=_pod_spec(template.spec))


def _stateful_set(stateful_set: StatefulSet) -> StatefulSet:
    spec = _filled(stateful_set.spec, replicas=1, pod_management_policy="OrderedReady")
    claims = tuple(map(_claim, spec.volume_claim_templates))
    spec = evolve(spec, template=_template(spec.template), volume_claim_templates=claims)
    return evolve(stateful_set, spec=spec)


def _with_missing(rest: Frozen, **values: Any) -> Frozen:
    """Return unmodelled fields with these values where they are missing."""
    return rest.merged({name: value for name, value in values.items() if name not in rest})


def _strategy(given: Frozen, **rolling: Any) -> Frozen:
    """Return an update strategy, by default RollingUpdate, with these values where `rollingUpdate` lacks them."""
    strategy = given if given.get("type") else given.with_(type="RollingUpdate")
    if strategy["type"] != "RollingUpdate":
        return strategy
    return strategy.with_(rollingUpdate=_with_missing(strategy.get("rollingUpdate", Frozen()), **rolling))


def _deployment(deployment: Deployment) -> Deployment:
    spec = _filled(deployment.spec, replicas=1)
    strategy = _strategy(spec.rest.get("strategy", Frozen()), maxUnavailable="25%", maxSurge="25%")
    rest = _with_missing(spec.rest, revisionHistoryLimit=10, progressDeadlineSeconds=600).with_(strategy=strategy)
    return evolve(deployment, spec=evolve(spec, template=_template(spec.template), rest=rest))


def _replica_set(replica_set: ReplicaSet) -> ReplicaSet:
    spec = _filled(replica_set.spec, replicas=1)
    return evolve(replica_set, spec=evolve(spec, template=_template(spec.template)))


def _replication_controller(controller: ReplicationController) -> ReplicationController:
    """Set a ReplicationController's defaults: its selector and its labels are by default those of its template."""
    labels = controller.spec.template.metadata.labels
    spec = _filled(controller.spec, replicas=1)
    spec = evolve(spec, selector=spec.selector or labels, template=_template(spec.template))
    return evolve_parts(controller, spec=spec, metadata={"labels": controller.metadata.labels or labels})


TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


def _daemon_set(daemon_set: DaemonSet) -> DaemonSet:
    spec = daemon_set.spec
    strategy = _strategy(spec.rest.get("updateStrategy", Frozen()), maxUnavailable=1, maxSurge=0)
    rest = _with_missing(spec.rest, revisionHistoryLimit=10).with_(updateStrategy=strategy)
    annotations = _with_missing(daemon_set.metadata.annotations, **{TEMPLATE_GENERATION: "1"})
    spec = evolve(spec, template=_template(spec.template), rest=rest)
    return evolve_parts(daemon_set, spec=spec, metadata={"annotations": annotations})


def _job(job: Job) -> Job:
    spec, rest = job.spec, job.spec.rest
    alone = spec.completions is None and spec.parallelism is None
    spec = _filled(
        spec, completions=1 if alone else None, parallelism=1, completion_mode="NonIndexed", suspend=False,
        manual_selector=False, backoff_limit=2**31 - 1 if "backoffLimitPerIndex" in rest else 6,
        pod_replacement_policy="Failed" if "podFailurePolicy" in rest else "TerminatingOrFailed"
    )
    return evolve(job, spec=evolve(spec, template=_template(spec.template)))


def with_generated_selector(job: Job, uid: str) -> Job:
    """Return a new Job with the labels and the selector that tell its pods from others, unless it has its own.

    A Job without labels gets those of its template.
    """
    if job.spec.manual_selector:
        return job
    template, selector = job.spec.template, job.spec.selector or LabelSelector()
    generated = dict.fromkeys(JOB_NAME_LABELS, job.metadata.name) | dict.fromkeys(CONTROLLER_UID_LABELS, uid)
    labels = Frozen(generated).merged(template.metadata.labels)
    match_labels = Frozen({CONTROLLER_UID_LABELS[0]: uid}).merged(selector.match_labels)
    spec = {
        "template": evolve_parts(template, metadata={"labels": labels}),
        "selector": evolve(selector, match_labels=match_labels),
    }
    return evolve_parts(job, metadata={"uid": uid, "labels": job.metadata.labels or labels}, spec=spec)


def with_template_generation(old: DaemonSet, new: DaemonSet) -> DaemonSet:
    """Return an updated DaemonSet whose annotation counts the changes of its template, whatever its writer says.

    Mirrors `PrepareForUpdate` of `pkg/registry/apps/daemonset` (v1.36.2).
    """
    known = old.metadata.annotations.get(TEMPLATE_GENERATION, "")
    number = (int(known) if known.isdecimal() else 1) + (_template(old.spec.template) != new.spec.template)
    annotations = new.metadata.annotations.merged({TEMPLATE_GENERATION: str(number)})
    return evolve_parts(new, metadata={"annotations": annotations})


def _service(service: Service) -> Service:
    """Set a service's defaults, except its address, which the API server allocates."""
    spec = _filled(service.spec, type="ClusterIP")
    rest = _with_missing(spec.rest, sessionAffinity="None")
    if rest["sessionAffinity"] == "ClientIP":
        rest = _with_missing(rest, sessionAffinityConfig=Frozen(clientIP=Frozen(timeoutSeconds=10800)))
    if spec.type != "ExternalName":
        rest = _with_missing(rest, internalTrafficPolicy="Cluster")
    return evolve(service, spec=evolve(spec, ports=tuple(map(_service_port, spec.ports)), rest=rest))


def _service_port(port: ServicePort) -> ServicePort:
    filled = _filled(port, protocol="TCP")
    return filled if filled.target_port not in (None, 0, "") else evolve(filled, target_port=filled.port)


def _limit_range_item(item: LimitRangeItem) -> LimitRangeItem:
    """Set the default limits of containers to their maximum, the default requests to these, else to the minimum."""
    if item.type != "Container":
        return item
    limits = item.max.merged(item.default)
    return evolve(item, default=limits, default_request=item.min.merged(limits).merged(item.default_request))


def _csi_driver(driver: CSIDriver) -> CSIDriver:
    spec = _filled(driver.spec, attach_required=True, pod_info_on_mount=False, storage_capacity=False,
                   volume_lifecycle_modes=("Persistent",))
    rest = _with_missing(spec.rest, fsGroupPolicy="ReadWriteOnceWithFSType", requiresRepublish=False,
                         seLinuxMount=False)
    return evolve(driver, spec=evolve(spec, rest=rest))


_DEFAULTERS: Mapping[type[Any], Callable[[Any], Any]] = {
    StorageClass: _storage_class, PersistentVolume: _volume, PersistentVolumeClaim: _claim, Pod: _pod, Node: _node,
    Namespace: _namespace, StatefulSet: _stateful_set, Deployment: _deployment, ReplicaSet: _replica_set,
    ReplicationController: _replication_controller, DaemonSet: _daemon_set, Job: _job, Service: _service,
    PriorityClass: lambda each: _filled(each, preemption_policy="PreemptLowerPriority"), CSIDriver: _csi_driver,
    VolumeAttachment: lambda each: each if each.status.attached is not None else evolve_parts(
        each, status={"attached": False}),
    LimitRange: lambda each: evolve_parts(each, spec={"limits": tuple(map(_limit_range_item, each.spec.limits))}),
}

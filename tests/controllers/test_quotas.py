"""LimitRanger, RuntimeClass and ResourceQuota: what is filled in, refused, counted and freed, in the server's words."""

import pytest

from kvolsched import Cluster, make
from kvolsched.api.quotas import usage_of
from kvolsched.controllers import resource_quota
from kvolsched.core.results import ApplyRefused


def plain(kind, name, version="v1", **fields):
    """Return an object as plain data."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}


def limits(**item):
    """Return a LimitRange with one entry, by default for containers."""
    return plain("LimitRange", "limits", spec={"limits": [{"type": "Container", **item}]})


def quota(name="compute", *, scopes=(), **hard):
    """Return a ResourceQuota; an underscore stands for a point."""
    hard = {key.replace("_", "."): value for key, value in hard.items()}
    return plain("ResourceQuota", name, spec={"hard": hard, **({"scopes": list(scopes)} if scopes else {})})


def selected(scope, operator, *values):
    """Return a ResourceQuota of pods with a scope selector."""
    expression = {"scopeName": scope, "operator": operator, **({"values": list(values)} if values else {})}
    return plain("ResourceQuota", "q", spec={"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [expression]}})


def pod(name="app", resources=None, **spec):
    """Return a pod of one container with these resources, by default none."""
    made = make.pod(name)
    made["spec"] |= spec
    made["spec"]["containers"][0]["resources"] = resources or {}
    return made


def refusal(*objects, last):
    """Return the server's words about the last object, applied after the others."""
    c = Cluster.from_manifests([make.node("n1")])
    c.apply(*objects)
    with pytest.raises(ApplyRefused) as refused:
        c.apply(last)
    return str(refused.value)


# -- LimitRanger -------------------------------------------------------------------------------------------------------


def test_containers_get_the_defaults_of_their_namespace():
    """A container gets what it lacks, the request that it would have by its limit stays, and an annotation says so."""
    c = Cluster.from_manifests([make.node("n1")])
    c.apply(limits(default={"cpu": "1"}, defaultRequest={"cpu": "200m", "memory": "64Mi"}))
    c.apply(pod("a"), pod("b", {"limits": {"memory": "1Gi"}}))
    first, second = (c[name].spec.containers[0].resources for name in ("a", "b"))

    assert (dict(first.requests), dict(first.limits)) == ({"cpu": "200m", "memory": "64Mi"}, {"cpu": "1"})
    assert (dict(second.requests), dict(second.limits)) == (
        {"cpu": "200m", "memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"})
    said = "LimitRanger plugin set: cpu, memory request for container app; cpu limit for container app"
    assert c["a"].metadata.annotations["kubernetes.io/limit-ranger"] == said


def test_a_maximum_alone_is_the_default_of_limit_and_request():
    """A LimitRange is stored with its own defaults: limits from the maximum, requests from limits or the minimum."""
    c = Cluster()
    c.apply(limits(max={"cpu": "1"}, min={"memory": "1Gi"}))
    item = c["limits"].spec.limits[0]

    assert (dict(item.default), dict(item.default_request)) == ({"cpu": "1"}, {"cpu": "1", "memory": "1Gi"})


def test_the_scheduler_counts_what_a_limit_range_gave():
    """A pod without requests of a namespace with a default does not fit a node that has less."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), limits(defaultRequest={"cpu": "2"}), pod("a")])
    c.run()

    assert "Insufficient cpu" in c.why("a").sentence


@pytest.mark.parametrize(("item", "resources", "said"), [
    ({"max": {"cpu": "1"}}, {"limits": {"cpu": "2"}}, "maximum cpu usage per Container is 1, but limit is 2"),
    ({"min": {"cpu": "1"}}, {"requests": {"cpu": "500m"}}, "minimum cpu usage per Container is 1, but request is 500m"),
    ({"type": "Pod", "min": {"cpu": "1"}}, {}, "minimum cpu usage per Pod is 1.  No request is specified"),
    ({"type": "Pod", "max": {"cpu": "1"}}, {}, "maximum cpu usage per Pod is 1.  No limit is specified"),
    ({"type": "Pod", "max": {"cpu": "1", "memory": "1Gi"}}, {"limits": {"cpu": "2", "memory": "2Gi"}},
     "[maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 1Gi, but limit is 2Gi]"),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {"requests": {"cpu": "100m"}, "limits": {"cpu": "500m"}},
     "cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000"),
    ({"maxLimitRequestRatio": {"cpu": "2"}}, {},
     "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"),
])  # fmt: skip
def test_a_pod_out_of_bounds_is_refused(item, resources, said):
    """A pod that is out of the bounds of a LimitRange is refused with each fault."""
    assert refusal(limits(**item), last=pod("a", resources)) == f'pods "a" is forbidden: {said}'


@pytest.mark.parametrize(("bound", "said"), [
    ({"max": {"storage": "1Gi"}}, "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 5Gi"),
    ({"min": {"storage": "9Gi"}}, "minimum storage usage per PersistentVolumeClaim is 9Gi, but request is 5Gi"),
])
def test_a_claim_out_of_bounds_is_refused(bound, said):
    """A claim is compared by its request alone."""
    words = refusal(limits(type="PersistentVolumeClaim", **bound), last=make.claim("data", "5Gi"))

    assert words == f'persistentvolumeclaims "data" is forbidden: {said}'


# -- RuntimeClass ------------------------------------------------------------------------------------------------------


KATA = plain(
    "RuntimeClass", "kata", "node.k8s.io/v1", handler="kata", overhead={"podFixed": {"cpu": "500m"}},
    scheduling={"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
)  # fmt: skip


def test_a_runtime_class_gives_overhead_selector_and_tolerations():
    """A pod gets what its class says, the scheduler counts the overhead, and the pod starts on a node of the class."""
    tainted = make.node("n2", cpu="1", labels={"kata": "yes"}, taints=[{"key": "kata", "effect": "NoSchedule"}])
    c = Cluster.from_manifests([make.node("n1"), tainted])
    c.apply(KATA)
    c.apply(pod("a", {"requests": {"cpu": "500m"}}, runtimeClassName="kata"),
            pod("b", {"requests": {"cpu": "600m"}}, runtimeClassName="kata"))
    c.run(seconds=30)
    spec = c["a"].spec

    assert (dict(spec.overhead), dict(spec.node_selector)) == ({"cpu": "500m"}, {"kata": "yes"})
    assert [toleration.key for toleration in spec.tolerations][-1] == "kata"
    assert (c["a"].spec.node_name, c["b"].spec.node_name) == ("n2", "")
    assert "1 Insufficient cpu" in c.why("b").sentence


@pytest.mark.parametrize(("spec", "said"), [
    ({"runtimeClassName": "gone"}, 'pod rejected: RuntimeClass "gone" not found'),
    ({"runtimeClassName": "kata", "overhead": {"cpu": "1"}},
     "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"),
    ({"overhead": {"cpu": "1"}},
     "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"),
    ({"runtimeClassName": "kata", "nodeSelector": {"kata": "no"}},
     "conflict: runtimeClass.scheduling.nodeSelector[kata] = yes; pod.spec.nodeSelector[kata] = no"),
])  # fmt: skip
def test_a_pod_that_its_runtime_class_does_not_allow_is_refused(spec, said):
    """A missing class, another overhead and another value of a label are refused."""
    assert refusal(KATA, last=pod("a", **spec)) == f'pods "a" is forbidden: {said}'


# -- ResourceQuota -----------------------------------------------------------------------------------------------------


def test_what_exceeds_a_quota_is_refused():
    """A pod too many is refused with what it asks for, what is used and what is allowed; the use of others is kept."""
    c = Cluster.from_manifests([make.node("n1")])
    c.apply(quota(pods="1", requests_cpu="1"))
    c.apply(pod("a", {"requests": {"cpu": "800m"}}))
    with pytest.raises(ApplyRefused) as refused:
        c.apply(pod("b", {"requests": {"cpu": "300m"}}))

    assert str(refused.value) == (
        'pods "b" is forbidden: exceeded quota: compute, requested: pods=1,requests.cpu=300m, '
        "used: pods=1,requests.cpu=800m, limited: pods=1,requests.cpu=1")
    assert dict(c["quota/compute"].status.used) == {"pods": "1", "requests.cpu": "800m"}


def test_each_container_must_name_what_a_quota_limits():
    """A quota of cpu and memory refuses a pod of which a container does not name them."""
    said = 'pods "a" is forbidden: failed quota: compute: must specify limits.memory for: app; requests.cpu for: app'

    assert refusal(quota(requests_cpu="1", limits_memory="1Gi"), last=pod("a")) == said


def test_claims_count_by_size_and_by_class():
    """Claims use storage of the namespace and of their class; one that grows is charged with the difference."""
    of_gold = "gold.storageclass.storage.k8s.io/requests.storage"
    counted = plain("ResourceQuota", "disks", spec={"hard": {
        "persistentvolumeclaims": "2", "requests.storage": "10Gi", of_gold: "6Gi"}})  # fmt: skip
    said = refusal(counted, make.claim("a", "4Gi", "gold"), last=make.claim("b", "3Gi", "gold"))

    assert said == (f'persistentvolumeclaims "b" is forbidden: exceeded quota: disks, requested: {of_gold}=3Gi, '
                    f"used: {of_gold}=4Gi, limited: {of_gold}=6Gi")  # fmt: skip


def test_the_quota_controller_frees_what_is_gone():
    """When a pod is gone, its quota is counted in one turn, and the next pod is admitted; nobody else takes a turn."""
    c = Cluster.from_manifests([make.node("n1")])
    c.apply(quota(pods="1"))
    c.apply(pod("a"))
    c.run()
    c.delete("pod/a")
    lines = [line for step in c.run() for line in step.lines]
    c.apply(pod("b"))

    assert lines.count("Resource quota controller counts what is used of quota/compute.") == 1
    assert dict(c["quota/compute"].status.used) == {"pods": "1"}
    assert not [turn for turn in c.world.turns if turn.quiet and turn.actor == "resourcequota-controller"]


def test_only_what_changes_is_counted_anew(monkeypatch):
    """However many pods there are, the next freed one costs the count of a few objects."""
    c = Cluster.from_manifests([make.node("n1"), quota(pods="100"), *(pod(f"p{number}") for number in range(50))])
    c.run(seconds=30)
    counted = []
    monkeypatch.setattr(resource_quota, "usage_of", lambda obj: counted.append(obj) or usage_of(obj))
    c.delete("pod/p0")
    c.run()

    assert dict(c["quota/compute"].status.used) == {"pods": "49"}
    assert 0 < len(counted) <= 20


@pytest.mark.parametrize(("spec", "used"), [
    ({"type": "ClusterIP"}, ("0", "0")), ({"type": "NodePort"}, ("0", "2")), ({"type": "LoadBalancer"}, ("1", "2")),
    ({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False}, ("1", "1")),
])
def test_services_count_load_balancers_and_node_ports(spec, used):
    """A port counts though no node port is allocated yet; a Service that becomes a load balancer is charged."""
    service = plain("Service", "web", spec={"selector": {"app": "web"}, "ports": [
        {"name": "a", "port": 80, "nodePort": 30080} if "allocateLoadBalancerNodePorts" in spec else {"name": "a", "port": 80},
        {"name": "b", "port": 81}]})  # fmt: skip
    counted = plain("ResourceQuota", "web", spec={"hard": {"services.loadbalancers": "1", "services.nodeports": "2"}})
    c = Cluster.from_manifests([make.node("n1")])
    c.apply(counted)
    c.apply(service | {"spec": service["spec"] | spec})
    c.run()
    status = c["quota/web"].status.used

    assert (status["services.loadbalancers"], status["services.nodeports"]) == used


def test_a_service_that_becomes_more_is_refused_beyond_the_quota():
    """A change of a Service's type is charged with the difference."""
    service = plain("Service", "web", spec={"type": "ClusterIP", "ports": [{"port": 80}]})
    counted = plain("ResourceQuota", "web", spec={"hard": {"services.loadbalancers": "0"}})
    said = refusal(counted, service, last=service | {"spec": service["spec"] | {"type": "LoadBalancer"}})

    assert "exceeded quota: web, requested: services.loadbalancers=1, used: services.loadbalancers=0" in said


def test_a_claim_counts_what_is_allocated_if_that_is_more():
    """A claim that asks for less after a failed expansion uses what was allocated until that is given back."""
    claim = make.claim("data", "5Gi") | {"status": {"phase": "Bound", "allocatedResources": {"storage": "9Gi"}}}
    c = Cluster.from_manifests([make.node("n1"), claim, quota("disks", requests_storage="20Gi")])
    c.run()
    before = dict(c["quota/disks"].status.used)
    c.patch("pvc/data", {"status": {"allocatedResources": {"storage": "5Gi"}}}, subresource="status")
    c.run()

    assert (before, dict(c["quota/disks"].status.used)) == ({"requests.storage": "9Gi"}, {"requests.storage": "5Gi"})


def test_a_loaded_quota_counts_what_is_there():
    """A quota that is loaded without a status is put in force with the pods that are there, and is in force before."""
    c = Cluster.from_manifests([make.node("n1"), quota(pods="2"), pod("a"), pod("b")])
    with pytest.raises(ApplyRefused, match="exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2"):
        c.apply(pod("c"))
    c.run()

    assert dict(c["quota/compute"].status.used) == {"pods": "2"}


def test_scopes_choose_the_pods_that_count():
    """A quota of a scope counts only the pods in it: those without requests, of a class, or with a deadline."""
    c = Cluster.from_manifests([make.node("n1")])
    c.apply(quota("best", scopes=["BestEffort"], pods="5"), quota("better", scopes=["NotBestEffort"], pods="5"),
            quota("short", scopes=["Terminating"], pods="5"))
    c.apply(pod("a"), pod("b", {"requests": {"cpu": "1"}}), pod("c", activeDeadlineSeconds=10))
    used = {name: c[f"quota/{name}"].status.used.get("pods", "0") for name in ("best", "better", "short")}

    assert used == {"best": "2", "better": "1", "short": "1"}


def test_a_workload_tells_why_it_cannot_create_its_pods():
    """A ReplicaSet records the server's refusal, and creates the pod once there is room."""
    c = Cluster.from_manifests([make.node("n1")])
    c.apply(quota(pods="1"))
    c.apply(make.deployment("web", replicas=2))
    c.run(seconds=10)
    said = [event.message for event in c.objects("events") if event.reason == "FailedCreate"]
    c.apply(quota(pods="2"))
    c.run()

    assert "is forbidden: exceeded quota: compute, requested: pods=1, used: pods=1, limited: pods=1" in said[0]
    assert [each.status.phase for each in c.objects("pods")] == ["Running", "Running"]


def test_clusters_without_these_kinds_take_the_turns_they_took():
    """Without a quota the controller takes no turn and has no note."""
    c = Cluster.from_manifests([make.node("n1"), make.deployment("web", replicas=2)])
    c.run()

    assert not [turn for turn in c.world.turns if turn.component == "resourcequota-controller"]
    assert not [note for note in c.world.log.notes if note.component == "resourcequota-controller"]


# -- operating systems -------------------------------------------------------------------------------------------------


def test_a_kubelet_rejects_a_pod_of_another_system():
    """A pod for Windows that got a Linux node fails there, with the kubelet's reason, and `why` says it."""
    c = Cluster.from_manifests([make.node("n1"), pod("win", os={"name": "windows"})])
    c.run()
    status = c["win"].status

    assert (status.phase, status.reason) == ("Failed", "PodOSNotSupported")
    assert status.message == "Failed to admit pod as the OS field doesn't match node OS"
    assert "PodOSNotSupported" in c.why("win").headline


@pytest.mark.parametrize(("os", "security", "of_container", "spec", "said"), [
    ({}, {}, {}, {}, ["spec.os.name: Required value: cannot be empty"]),
    ({"name": "mac"}, {}, {}, {}, ['spec.os: Unsupported value: "mac": supported values: "linux", "windows"']),
    ({"name": "windows"}, {"runAsUser": 0, "windowsOptions": {}}, {"privileged": False},
     {"hostPID": False, "hostIPC": True, "hostUsers": False},
     [f"spec.{field}: Forbidden: cannot be set for a windows pod" for field in (
         "hostUsers", "hostIPC", "securityContext.runAsUser", "containers[0].securityContext.privileged")]),
    ({"name": "windows"}, {}, {}, {"resources": {"limits": {"cpu": "1"}}},
     ["spec.resources: Forbidden: may not be set for a windows pod"]),
    ({"name": "linux"}, {"windowsOptions": {}}, {"windowsOptions": {}, "runAsUser": 1}, {},
     [f"spec.{field}securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"
      for field in ("", "containers[0].")]),
])  # fmt: skip
def test_fields_of_another_system_are_refused(os, security, of_container, spec, said):
    """A pod that names its system has no field that is only for another; each is told by its path."""
    made = pod("a", os=os, securityContext=security)
    made["spec"] |= spec
    made["spec"]["containers"][0]["securityContext"] = of_container
    with pytest.raises(ApplyRefused) as refused:
        Cluster().apply(made)

    assert str(refused.value).removeprefix('Pod "a" is invalid: ').strip("[]").split(", spec.") == [
        words.removeprefix("spec.") if number else words for number, words in enumerate(said)]


# -- manifests that are wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("obj", "said"), [
    (limits(min={"cpu": "2"}, max={"cpu": "1"}), 'min[cpu]: Invalid value: "2": min value 2 is greater than max value 1'),
    (limits(type="Pod", default={"cpu": "1"}), "default: Forbidden: may not be specified when `type` is 'Pod'"),
    (limits(type="Box"), 'type: Invalid value: "Box": must be a standard limit type or fully qualified'),
    (limits(type="PersistentVolumeClaim"), "limits: Required value: either minimum or maximum storage value is required"),
    (quota(gpus="1"), 'hard[gpus]: Invalid value: "gpus": must be a standard resource for quota'),
    (quota(pods="-1"), 'hard[pods]: Invalid value: "-1": must be greater than or equal to 0'),
    (quota(pods="1", scopes=["BestEffort", "NotBestEffort"]), "conflicting scopes"),
    (quota(pods="1", scopes=["Slow"]), 'spec.scopes: Invalid value: ["Slow"]: unsupported scope'),
    (quota(services="1", scopes=["NotBestEffort"]),
     'spec.scopes: Invalid value: ["NotBestEffort"]: unsupported scope applied to resource'),
    (quota(cpu="1", scopes=["BestEffort"]), "unsupported scope applied to resource"),
    (selected("PriorityClass", "In"), ("spec.scopeSelector.matchExpressions.values: Required value: must be at least one "
     "value when `operator` is 'In' or 'NotIn' for scope selector")),
    (selected("PriorityClass", "Exists", "high"), ('spec.scopeSelector.matchExpressions.values: Invalid value: ["high"]: '
     "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")),
    (selected("Terminating", "In", "x"), ('spec.scopeSelector.matchExpressions.operator: Invalid value: "In": must be '
     "'Exists' when scope is any of ResourceQuotaScopeTerminating")),
    (selected("VolumeAttributesClass", "In", "gold"), ('spec.scopeSelector.matchExpressions: Invalid value: '
     '{"MatchExpressions":[{"ScopeName":"VolumeAttributesClass","Operator":"In","Values":["gold"]}]}: '
     "unsupported scope applied to resource")),
    (plain("RuntimeClass", "r", "node.k8s.io/v1", handler="No!"), 'handler: Invalid value: "No!"'),
])  # fmt: skip
def test_wrong_objects_are_refused(obj, said):
    """LimitRanges, quotas and RuntimeClasses are validated as the API server does."""
    with pytest.raises(ApplyRefused) as refused:
        Cluster().apply(obj)

    assert said in str(refused.value)

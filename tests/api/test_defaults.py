"""Defaulting: the values that the API server fills in, once."""

import pytest
from api.manifests import objects
from hypothesis import HealthCheck, given, settings

from kvolsched.api.defaults import with_defaults
from kvolsched.api.text.convert import from_plain, to_plain


def made(kind, api_version="v1", **fields):
    """Return an object named x with these fields and its defaults, as plain data."""
    return to_plain(with_defaults(from_plain({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **fields})))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(objects())
def test_defaulting_twice_changes_nothing(plain):
    """Given fields stay, and defaulting twice changes nothing."""
    once = with_defaults(from_plain(plain))
    assert once == with_defaults(once)


@pytest.mark.parametrize(
    ("kind", "api_version", "expected"),
    [
        ("StorageClass", "storage.k8s.io/v1", {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"}),
        ("PersistentVolume", "v1", {"spec": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}, "status": {"phase": "Pending"}}),
        ("PersistentVolumeClaim", "v1", {"spec": {"volumeMode": "Filesystem"}, "status": {"phase": "Pending"}}),
        ("Node", "v1", {}),
    ],
)
def test_defaults_of_volumes_and_classes(kind, api_version, expected):
    """Phases, modes and policies of an otherwise empty object."""
    found = made(kind, api_version)
    assert expected == {key: value for key, value in found.items() if key not in ("apiVersion", "kind", "metadata")}


def test_defaults_of_a_pod():
    """Scheduler, restart policy, phase, priority, and the tolerations that admission adds."""
    found = made("Pod", spec={"containers": [{"name": "c", "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}}]})
    spec = found["spec"]
    assert ("default", "Pending") == (found["metadata"]["namespace"], found["status"]["phase"])
    assert ("default-scheduler", "Always", 30, 0) == (spec["schedulerName"], spec["restartPolicy"], spec["terminationGracePeriodSeconds"], spec["priority"])
    assert {"cpu": "500m", "memory": "1Gi"} == spec["containers"][0]["resources"]["requests"]
    lost = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    assert [{"key": f"node.kubernetes.io/{key}", **lost} for key in ("not-ready", "unreachable")] == spec["tolerations"]
    assert "conditions" not in found["status"]


def test_own_tolerations_of_lost_nodes_stay():
    """A pod that tolerates a not-ready node for its own time gets no second toleration."""
    own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    assert [5, 300] == [one["tolerationSeconds"] for one in made("Pod", spec={"tolerations": [own]})["spec"]["tolerations"]]
    everything = {"operator": "Exists"}
    assert [everything] == made("Pod", spec={"tolerations": [everything]})["spec"]["tolerations"]


def test_a_gated_pod_says_so():
    """A pod with gates gets the condition PodScheduled=False for reason SchedulingGated."""
    [condition] = made("Pod", spec={"schedulingGates": [{"name": "g"}]})["status"]["conditions"]
    assert ("PodScheduled", "False", "SchedulingGated") == (condition["type"], condition["status"], condition["reason"])


def test_defaults_of_a_stateful_set():
    """One replica, OrderedReady, and its templates as their kinds; the template gets no admission's tolerations."""
    found = made("StatefulSet", "apps/v1", spec={"volumeClaimTemplates": [{"metadata": {"name": "data"}}]})["spec"]
    assert (1, "OrderedReady") == (found["replicas"], found["podManagementPolicy"])
    assert {"volumeMode": "Filesystem"} == found["volumeClaimTemplates"][0]["spec"]
    assert "tolerations" not in found["template"]["spec"]


def test_a_pod_on_the_host_network_holds_its_ports():
    """Of a pod with hostNetwork each containerPort is a hostPort, also of init containers, unless another is given."""
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]
    spec = {"hostNetwork": True, "containers": [{"name": "c", "ports": ports}],
            "initContainers": [{"name": "i", "ports": [{"containerPort": 82}]}]}

    found = made("Pod", spec=spec)["spec"]

    assert [80, 8081] == [port["hostPort"] for port in found["containers"][0]["ports"]]
    assert [82] == [port["hostPort"] for port in found["initContainers"][0]["ports"]]


@pytest.mark.parametrize(
    ("containers", "given", "expected"),
    [
        ([{}], {}, {"cpu": "2", "memory": "1Gi"}),
        ([{"cpu": "500m"}, {"cpu": "1"}], {}, {"cpu": "1500m", "memory": "1Gi"}),
        ([{"cpu": "500m", "ephemeral-storage": "1Gi"}], {"cpu": "1"}, {"cpu": "1", "memory": "1Gi"}),
    ],
)
def test_pod_level_limits_have_requests(containers, given, expected):
    """What the containers request together, else the limit; given requests stay."""
    resources = {"limits": {"cpu": "2", "memory": "1Gi"}, **({"requests": given} if given else {})}
    parts = [{"name": f"c{n}", "resources": {"requests": each}} for n, each in enumerate(containers)]

    assert expected == made("Pod", spec={"containers": parts, "resources": resources})["spec"]["resources"]["requests"]

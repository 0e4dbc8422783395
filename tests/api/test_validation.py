"""Validation of names, labels and namespaces, and rules that no recording covers."""


import pytest

from kvolsched.api.defaults import with_defaults
from kvolsched.api.kinds.meta import EMPTY, Frozen, Resources
from kvolsched.api.text.convert import decode, from_plain
from kvolsched.api.unmodelled_defaults import with_unmodelled_defaults
from kvolsched.api.validation.immutable_fields import validate_update
from kvolsched.api.validation.pod_rules import validate_resources
from kvolsched.api.validation.validate import validate


@pytest.mark.parametrize(
    ("name", "fits"),
    [("a" * 253, True), ("a" * 254, False), ("a.b-c", True), ("A", False), ("-a", False), ("a_b", False), ("a..b", False)],
)
def test_names(name, fits):
    """Names of most kinds are subdomains of at most 253 characters."""
    found = with_defaults(from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
    assert fits == (validate(found) == [])


@pytest.mark.parametrize("kind", ["Node", "PersistentVolume", "StorageClass", "Deployment"])
def test_a_name_that_is_too_long_is_counted_in_characters(kind):
    """Whatever the kind, a subdomain may have 253 characters; only labels are counted in bytes."""
    found = with_defaults(from_plain({"apiVersion": VERSIONS.get(kind, "v1"), "kind": kind, "metadata": {"name": "a" * 254}}))
    assert "must be no more than 253 characters" in [error.detail for error in validate(found) if error.path == "metadata.name"]


VERSIONS = {"StorageClass": "storage.k8s.io/v1", "Deployment": "apps/v1"}


@pytest.mark.parametrize(("length", "fits"), [(63, True), (64, False)])
def test_labels_have_at_most_63_characters(length, fits):
    """A label's value, and its key after the prefix, have at most 63 characters; a Namespace's name too."""
    for labels in ({"k": "v" * length}, {"example.com/" + "k" * length: ""}):
        found = from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}})
        assert fits == (validate(found) == [])
    named = from_plain({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n" * length}})
    assert fits == (validate(named) == [])


def test_namespaces_belong_to_some_kinds():
    """A volume has no namespace, a claim must have one."""
    volume, claim = (from_plain({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "namespace": space}})
                     for kind, space in (("PersistentVolume", "a"), ("PersistentVolumeClaim", "")))  # fmt: skip
    assert "metadata.namespace: Forbidden: not allowed on this type" in map(str, validate(volume))
    assert "metadata.namespace: Required value" in map(str, validate(claim))


def test_kinds_without_rules_pass():
    """What is not modelled is stored as it is."""
    thing = from_plain({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}})
    assert ([], []) == (validate(thing), validate_update(EMPTY, thing))


def faults(kind, version="v1", metadata=None, old=None, **fields):
    """Return (path, type) of the errors of an object, or of its update."""
    plain = {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "namespace": "default", **(metadata or {})}}
    new = with_defaults(from_plain({**plain, **fields}))
    found = validate(new) + (validate_update(with_defaults(from_plain({**plain, **old})), new) if old is not None else [])
    return [(one.path, one.type) for one in found]


def container(**fields):
    """A pod's spec with one container."""
    return {"containers": [{"name": "c", "image": "i", **fields}]}


@pytest.mark.parametrize(("spec", "expected"), [
    ({**container(), "activeDeadlineSeconds": 0}, [("spec.activeDeadlineSeconds", "Invalid")]),
    ({**container(), "dnsPolicy": "Nope"}, [("spec.dnsPolicy", "NotSupported")]),
    ({**container(), "serviceAccountName": "A"}, [("spec.serviceAccountName", "Invalid")]),
    (container(imagePullPolicy="Nope"), [("spec.containers[0].imagePullPolicy", "NotSupported")]),
    (container(ports=[{"containerPort": 1, "protocol": "X"}]), [("spec.containers[0].ports[0].protocol", "NotSupported")]),
    (container(ports=[{"containerPort": 1, "hostPort": 70000}]), [("spec.containers[0].ports[0].hostPort", "Invalid")]),
    (container(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]), [("spec.containers[0].ports[1].name", "Duplicate")]),
    (container(ports=[{"containerPort": 1, "name": "8--0"}]), [("spec.containers[0].ports[0].name", "Invalid")] * 2),
])  # fmt: skip
def test_what_pods_say_of_ports_and_policies(spec, expected):
    """Unsupported values, numbers out of range, invalid and duplicate names."""
    assert expected == faults("Pod", spec=spec)


@pytest.mark.parametrize(("ports", "expected"), [
    ([{"name": "a", "port": 1}, {"name": "b", "port": 1}], [("spec.ports[1]", "Duplicate")]),
    ([{"port": 1, "nodePort": 30000}], [("spec.ports[0].nodePort", "Forbidden")]),
    ([{"port": 1, "targetPort": "-"}], [("spec.ports[0].targetPort", "Invalid")] * 2),
])
def test_what_services_say_of_ports(ports, expected):
    """A port once for each protocol, a node's port only where nodes have one, targets by proper names."""
    assert expected == faults("Service", spec={"ports": ports})


def test_what_claims_are_filled_from():
    """A source has a name and a kind; without a group it is a claim; two fields say the same."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    both = {"dataSource": {"kind": "Pod", "name": ""}, "dataSourceRef": {"kind": "Pod", "name": ""}}

    assert [(f"spec.{field}{part}", kind) for field in both for part, kind in ((".name", "Required"), ("", "Invalid"))] == faults(
        "PersistentVolumeClaim", spec={**spec, **both})  # fmt: skip


@pytest.mark.parametrize(("phase", "asks", "attributes", "expected"), [
    ("Bound", "2Gi", "gold", []),
    ("Bound", "1Gi", "gold", [("spec.resources.requests.storage", "Forbidden")]),
    ("Bound", "3Gi", None, [("spec.volumeAttributesClassName", "Forbidden")]),
    ("Pending", "3Gi", "silver", [("spec", "Forbidden")]),
    ("Pending", "2Gi", "gold", [("spec", "Forbidden")]),
])
def test_what_of_a_claim_may_change(phase, asks, attributes, expected):
    """A bound claim may change its size, not below its capacity, and its attributes class; an unbound one nothing."""
    def spec(storage, name):
        return {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}, "volumeAttributesClassName": name}

    status = {"phase": phase, "capacity": {"storage": "1Gi"}}
    assert expected == faults("PersistentVolumeClaim", old={"spec": spec("3Gi", "gold"), "status": status},
                              spec=spec(asks, attributes), status=status)  # fmt: skip


def test_what_of_a_node_may_change():
    """A node's podCIDRs and providerID are set once."""
    old = {"spec": {"podCIDRs": ["10.0.0.0/24"], "providerID": "a"}}

    assert [("spec.podCIDRs", "Forbidden"), ("spec.providerID", "Forbidden")] == faults(
        "Node", metadata={"namespace": ""}, old=old, spec={"providerID": "b"}
    )
    assert [] == faults("Node", metadata={"namespace": ""}, old={}, **old)


def test_generated_names_and_owners():
    """A generateName may end as no name does; an Event owns nothing."""
    owner = {"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}

    assert [] == faults("Pod", metadata={"name": "", "generateName": "web-"}, spec=container())
    assert [("metadata.generateName", "Invalid")] == faults("Pod", metadata={"generateName": "Web-"}, spec=container())
    assert [("metadata.ownerReferences", "Invalid")] == faults("Pod", metadata={"ownerReferences": [owner]}, spec=container())


@pytest.mark.parametrize(("requests", "limits", "expected"), [
    ({"example.com/gpu": "1"}, {}, [("limits", "Required", "Limit must be set for non overcommitable resources")]),
    ({"hugepages-2Mi": "2Mi"}, {}, [("limits", "Required", "Limit must be set for non overcommitable resources")]),
    ({"example.com/gpu": "1"}, {"example.com/gpu": "2"}, [("requests", "Invalid", "must be equal to example.com/gpu limit of 2")]),
    ({"example.com/gpu": "1"}, {"example.com/gpu": "1"}, []),
    ({"cpu": "1", "kubernetes.io/thing": "1"}, {"cpu": "2"}, []),
])
def test_a_resource_that_is_not_overcommitted_is_asked_for_up_to_its_limit(requests, limits, expected):
    """A request of an extended resource or of huge pages needs an equal limit; cpu and memory need none."""
    found = validate_resources("", Resources(requests=Frozen(requests), limits=Frozen(limits)))
    assert expected == [(error.path.removeprefix("."), error.type, error.detail) for error in found]


def test_a_volume_has_one_source():
    """The second source is forbidden, and a mount does not find the volume any more."""
    mounts = [{"name": "v", "mountPath": "/x"}]
    spec = {**container(volumeMounts=mounts), "volumes": [{"name": "v", "emptyDir": {}, "persistentVolumeClaim": {"claimName": "c"}}]}
    assert [
        ("spec.volumes[0].persistentVolumeClaim", "Forbidden"), ("spec.containers[0].volumeMounts[0].name", "NotFound"),
    ] == faults("Pod", spec=spec)  # fmt: skip


@pytest.mark.parametrize(("given", "shown"), [({}, "null"), ({"capacity": {}}, "{}"), ({"capacity": {"cpu": "1"}}, '{"cpu":"1"}')])
def test_a_volume_without_storage_shows_what_it_has(given, shown):
    """An empty capacity is a value; null stands for one that is not given."""
    spec = {**given, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}
    plain = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": spec}
    found = [one for one in validate(with_defaults(from_plain(plain))) if one.type == "NotSupported"]
    assert [f'spec.capacity: Unsupported value: {shown}: supported values: "storage"'] == [str(one) for one in found]


@pytest.mark.parametrize("size", ["-1Gi", "0"])
def test_a_claim_for_nothing_is_refused_once(size):
    """A request that is not positive is one fault, negative or not; so it is in a claim template."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    plain = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"}, "spec": spec}
    only, = validate(with_defaults(from_plain(plain)))
    assert ("spec.resources[storage]", "Invalid", size, "must be greater than zero") == (only.path, only.type, only.value, only.detail)


def test_a_claim_template_is_a_volume_of_the_pods():
    """Its name must be one of a volume: the fault stands behind the template's own volumes."""
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {**container(), "volumes": [{"name": "own", "emptyDir": {}}]}}
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    spec = {"serviceName": "web", "selector": {"matchLabels": labels}, "template": template, "volumeClaimTemplates": [
        {**claim, "metadata": {"name": "data"}}, {**claim, "metadata": {"name": "Bad_Name"}}]}
    assert [("spec.template.spec.volumes[2].name", "Invalid")] == faults("StatefulSet", "apps/v1", spec=spec)


def test_a_field_whose_type_go_names_is_wanted_by_that_name():
    """A text where access modes belong: Kubernetes names its own type."""
    plain = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {"accessModes": "ReadWriteOnce"}}
    _, problems = decode(plain)
    assert [("string", "[]v1.PersistentVolumeAccessMode")] == [(problem.got, problem.wants) for problem in problems]


def test_the_type_of_a_host_path_is_stored_empty():
    """An API server fills it in, for a volume as for a pod."""
    plain = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {"hostPath": {"path": "/x"}}}
    assert {"path": "/x", "type": ""} == dict(with_unmodelled_defaults(from_plain(plain)).spec.rest["hostPath"])

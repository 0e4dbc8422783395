"""Plain data and objects: nothing is lost on the way there and back."""

import copy
import gzip
from pathlib import Path

import pytest
from api.manifests import objects
from hypothesis import HealthCheck, given, settings

from kvolsched.api.kinds.kind import KINDS
from kvolsched.api.kinds.meta import Frozen
from kvolsched.api.text.convert import decode, from_plain, schema, to_plain
from kvolsched.api.text.fault import ManifestError
from kvolsched.api.text.manifest import read, write

DUMPS = sorted((Path(__file__).parent.parent / "conformance" / "dumps").glob("*.yaml.gz"))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(objects())
def test_what_was_written_reads_back_equal(plain):
    """Any object of any modelled kind survives plain data, YAML and JSON, in hash and equality."""
    before = copy.deepcopy(plain)
    found = from_plain(plain)
    assert before == plain
    assert found == from_plain(to_plain(found))
    assert hash(found) == hash(from_plain(to_plain(found)))
    for form in ("yaml", "json"):
        assert (found,) == read(write(found, form)).objects


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(objects())
def test_writing_is_canonical(plain):
    """Writing, reading and writing again gives an equal text: quantities and defaults are canonical."""
    text = write(from_plain(plain))
    assert text == write(read(text).objects)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_modelled_field_is_in_the_table(kind):
    """Every attribute of every class has a field of the same name in the table; plans say so when they are made."""
    type_name = schema()["kinds"][f"{kind.type.api_version}/{kind.name}"]
    found, problems = decode({"apiVersion": kind.type.api_version, "kind": kind.name, "metadata": {"name": "x"}})
    assert (type_name, [], "x") == (kind.name, problems, found.metadata.name)


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_a_real_dump_survives(path):
    """What kubectl prints of a whole cluster is read without a fault, and written and read again it is equal."""
    first = read(gzip.decompress(path.read_bytes()), name=path.name)
    again = read(write([*first.objects, *first.others]))
    assert (first.objects, first.others) == (again.objects, again.others)
    assert not first.warnings
    assert any(path.startswith("metadata.managedFields") for _, path in first.unmodelled) or first.unmodelled


def test_a_real_dump_loses_no_field():
    """Every field of a dump is in what is written again, but for empty ones and the spelling of quantities."""
    plain = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "u", "generation": 3},
             "spec": {"podCIDR": "10.0.0.0/24", "providerID": "p"},
             "status": {"nodeInfo": {"kubeletVersion": "v1.36.2"}, "capacity": {"memory": "1024Mi", "cpu": 4},
                        "images": [{"names": ["a", "b"], "sizeBytes": 12}]}}  # fmt: skip
    expected = copy.deepcopy(plain)
    expected["status"]["capacity"] = {"memory": "1Gi", "cpu": "4"}
    assert expected == to_plain(from_plain(plain))


@pytest.mark.parametrize(
    ("version", "kept", "counter"),
    [("12", {}, 12), ("abc", {"resourceVersion": "abc"}, 0), ("007", {"resourceVersion": "007"}, 0), ("0", {"resourceVersion": "0"}, 0)],
)
def test_foreign_resource_versions_are_kept(version, kept, counter):
    """A resource version that is no integer is kept unchanged; an integer becomes the counter."""
    found = from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "resourceVersion": version}})
    assert (kept, counter) == (found.metadata.rest, found.metadata.resource_version)
    assert version == to_plain(found)["metadata"]["resourceVersion"]


def test_kinds_that_are_not_modelled_stay_as_they_are():
    """An object of an unknown kind is a frozen mapping and is written back."""
    plain = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": [1, {"b": None}]}}
    found = from_plain(plain)
    assert (Frozen, plain) == (type(found), to_plain(found))


@pytest.mark.parametrize(
    ("spec", "path", "rule"),
    [
        ({"containers": "c"}, "spec.containers", "type"),
        ({"containers": [{"imagee": "x"}]}, "spec.containers[0].imagee", "unknown"),
        ({"priority": "1"}, "spec.priority", "type"),
        ({"priority": True}, "spec.priority", "type"),
        ({"priority": 1.5}, "spec.priority", "type"),
        ({"priority": 2**31}, "spec.priority", "type"),
        ({"hostNetwork": "true"}, "spec.hostNetwork", "type"),
        ({"nodeSelector": {"a": 1}}, "spec.nodeSelector.a", "type"),
        ({"nodeSelector": ["a"]}, "spec.nodeSelector", "type"),
        ({"overhead": {"cpu": "1x"}}, "spec.overhead.cpu", "quantity"),
        ({"overhead": {"cpu": True}}, "spec.overhead.cpu", "quantity"),
        ({"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "lots"}}]}, "spec.volumes[0].emptyDir.sizeLimit", "quantity"),
        ({"volumes": [{"name": "v", "hostPath": {"paht": "/"}}]}, "spec.volumes[0].hostPath.paht", "unknown"),
        ({"affinity": {"nodeAffinity": []}}, "spec.affinity.nodeAffinity", "type"),
    ],
)
def test_what_cannot_be_decoded_says_where(spec, path, rule):
    """A wrong type, an unknown field or a bad quantity is refused with its path, modelled or not."""
    with pytest.raises(ManifestError) as caught:
        from_plain({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})
    assert [(path, rule)] == [(fault.path, fault.rule) for fault in caught.value.faults]


def test_numbers_are_quantities():
    """A quantity may be written as a number, as the API server reads it."""
    found = from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
                        "status": {"capacity": {"cpu": 0.5, "memory": 1024, "pods": "110"}}})  # fmt: skip
    assert {"cpu": "500m", "memory": "1024", "pods": "110"} == found.status.capacity


def test_lists_of_null_hold_zero_values():
    """Null in a list stands for the empty value, as Go reads it, and null for a field is no field."""
    found = from_plain({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": None},
                        "spec": {"containers": [None], "nodeSelector": {"a": None}}})  # fmt: skip
    assert ({}, "", {"a": ""}) == (found.metadata.labels, found.spec.containers[0].name, found.spec.node_selector)


@pytest.mark.checklist("161")
def test_the_size_of_an_inline_volume_is_a_quantity_that_may_be_absent():
    """S2's fsSize is read with a warning; missing and zero differ, and both are written back."""
    sizes = {}
    for size in (None, "0", "1024Mi"):
        source = {"driver": "pmem.csi.example.com", **({"fsSize": size} if size is not None else {})}
        plain = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": [{"name": "v", "csi": source}]}}
        found, problems = decode(plain)
        assert (["design"] if size is not None else []) == [problem.rule for problem in problems]
        sizes[size] = found.spec.volumes[0].csi.fs_size
        assert found == from_plain(to_plain(found))
    assert {None: None, "0": "0", "1024Mi": "1Gi"} == sizes
    with pytest.raises(ManifestError):
        from_plain({**plain, "spec": {"volumes": [{"name": "v", "csi": {"driver": "d", "fsSize": "large"}}]}})


INLINE = {
    "awsElasticBlockStore": ({"volumeID": "vol-1"}, ("ebs.csi.aws.com", "vol-1")),
    "gcePersistentDisk": ({"pdName": "disk", "readOnly": True}, ("pd.csi.storage.gke.io", "disk")),
    "azureDisk": ({"diskName": "d", "diskURI": "/d", "kind": "Managed"}, ("disk.csi.azure.com", "/d")),
    "cinder": ({"volumeID": "c"}, ("cinder.csi.openstack.org", "c")),
    "csi": ({"driver": "d.example.com", "volumeHandle": "h"}, ("d.example.com", "h")),
    "nfs": ({"server": "s", "path": "/"}, None),
}


@pytest.mark.parametrize("source", INLINE)
def test_what_is_attached_counts_for_one_driver(source):
    """In-tree disks count for the driver that replaced them, in a pod as in a volume; an inline CSI volume does not."""
    fields, expected = INLINE[source]
    volume = from_plain({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {source: fields}})
    assert expected == volume.driver_and_handle
    fields = {key: value for key, value in fields.items() if key != "volumeHandle"}
    pod = from_plain({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": [{"name": "v", source: fields}]}})
    assert (expected if source != "csi" else None) == pod.spec.volumes[0].driver_and_handle
    assert fields == to_plain(pod)["spec"]["volumes"][0][source]

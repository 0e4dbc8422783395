"""The documents' example manifests: the shipped ones load and say what the document says; the printed ones are tolerated."""

import re
import textwrap
from pathlib import Path

import attrs
import objects
import pytest

import kvolsched
from kvolsched.api.defaults import with_defaults
from kvolsched.api.examples import example, example_names
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.manifest import ManifestError, read, to_plain, write
from kvolsched.api.validation.validate import validate
from kvolsched.api.volumes import topology_allows, volume_fits_node

ZONE, REGION, RACK = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "foo.io/rack",
)
A, B, C = "us-central1-a", "us-central1-b", "us-central1-c"


def node(**labels):
    """Return a node with these labels."""
    return objects.node("node", labels=labels)


def only(name):
    """The one object of an example, as it is stored."""
    [found] = example(name).objects
    return with_defaults(found)


@pytest.mark.parametrize("name", example_names())
def test_every_shipped_example_is_clean(name):
    """Each loads without a warning, may be stored, survives being written, and names document and section."""
    found = example(name)
    assert () == found.others
    assert {"design"} >= {warning.rule for warning in found.warnings}, "only fields that the documents alone have"
    assert [] == [refusal for one in found.objects for refusal in validate(with_defaults(one))]
    assert found.objects == read(write(found.objects)).objects


PART_D = {  # what Part D says of a name beside its spelling -> the names of the examples
    "`zonal-volume-1` (labels, before/after conversion)": ("zonal-volume-1-labels", "zonal-volume-1-converted"),
    "`multi-zonal-volume-1` (labels, before/after)": ("multi-zonal-volume-1-labels", "multi-zonal-volume-1-converted"),
    "`multi-zonal-class` (1 zone, failing)": ("multi-zonal-class-one-zone",),
    "`queue-controller` gated pod before/after (S4)": ("queue-controller", "queue-controller-after"),
    "`standard`+`my-pvc`+`my-pod`+`volume-1` (end to end)": ("standard", "my-pvc", "my-pod", "volume-1", "end-to-end"),
}


def part_d():
    """The names of Part D of the checklist, each with the part of the sentence that names it."""
    text = (Path(__file__).parents[1] / "checklist.md").read_text("utf-8").split("## Part D.")[1].split("\n## ")[0]
    for special, names in PART_D.items():
        assert special in text
        text = text.replace(special, " ".join(f"`{name}`" for name in names))
    return re.findall(r"`([\w-]+)`", text.split("\n", 1)[1])


@pytest.mark.parametrize("name", part_d())
def test_the_examples_of_part_d_are_shipped(name):
    """Every named example is there under its name, and a cluster can be loaded from it and it can be applied."""
    found = kvolsched.example(name)
    assert found.objects
    assert len(found) == len(kvolsched.Cluster.from_manifests(found).manifests().split("\n---\n"))
    c = kvolsched.Cluster("design")
    assert all(line.endswith(" created") for line in c.apply(found).lines)
    c.run(seconds=120)


def test_an_unknown_example_names_the_nearest():
    """The error about an unknown example has the nearest names and all."""
    with pytest.raises(KeyError, match=r"no example 'redis': did you mean redis-pmem\? There are: .*zonal-volume-1"):
        example("redis")
    with pytest.raises(KeyError, match=r"no example 'none'; there are: end-to-end, .*zonal-volume-1"):
        example("none")


@pytest.mark.checklist("23")
def test_local_volume_fits_only_its_node():
    """local-volume-1: 100Gi at /mnt/disks/ssd1 in my-class, for hostname node-1 and no other."""
    volume = only("local-volume-1")
    assert ("100Gi", "my-class") == (volume.spec.capacity["storage"], volume.spec.storage_class_name)
    assert {"path": "/mnt/disks/ssd1"} == volume.spec.rest["local"]
    assert volume_fits_node(volume, node(**{"kubernetes.io/hostname": "node-1"}))
    assert not volume_fits_node(volume, node(**{"kubernetes.io/hostname": "node-2"}))
    assert not volume_fits_node(volume, node())


@pytest.mark.checklist("24")
def test_zonal_volume_fits_its_zone():
    """zonal-volume-1 fits nodes of zone us-central1-a and no others."""
    volume = only("zonal-volume-1")
    assert [True, False, False] == [volume_fits_node(volume, node(**at)) for at in ({ZONE: A}, {ZONE: B}, {})]


@pytest.mark.checklist("25")
def test_multi_zonal_volume_fits_either_zone():
    """multi-zonal-volume-1 fits nodes of zone a or b, not of c."""
    volume = only("multi-zonal-volume-1")
    assert [True, True, False] == [volume_fits_node(volume, node(**{ZONE: zone})) for zone in (A, B, C)]


@pytest.mark.checklist("26")
def test_rack_volume_wants_both_labels():
    """rack-volume-1, a CSI volume: a node with only one of the two labels does not fit."""
    volume = only("rack-volume-1")
    assert {"driver": "my-rack-storage-driver", "volumeHandle": "my-vol", "volumeAttributes": {"foo": "bar"}} == volume.spec.rest["csi"]
    places = [{ZONE: A, RACK: "rack1"}, {ZONE: A}, {RACK: "rack1"}, {ZONE: A, RACK: "rack2"}, {ZONE: B, RACK: "rack1"}]
    assert [True, False, False, False, False] == [volume_fits_node(volume, node(**place)) for place in places]


@pytest.mark.parametrize(("name", "zones"), [("zonal-volume-1", (A,)), ("multi-zonal-volume-1", (A, B))])
def test_conversion_examples_differ_in_the_affinity_alone(name, zones):
    """Before and after conversion: same name, labels kept, zone and region required together in one term."""
    before, after = only(f"{name}-labels"), only(f"{name}-converted")
    [term] = after.spec.node_affinity.required.node_selector_terms
    assert [(ZONE, zones), (REGION, ("us-central1",))] == [(one.key, one.values) for one in term.match_expressions]
    assert before == evolve_parts(after, spec={"node_affinity": None})
    assert "__".join(zones) == before.metadata.labels[ZONE]


def test_end_to_end_objects():
    """The class standard waits for its first consumer, my-pvc asks it for 100Gi, my-pod uses my-pvc, volume-1 is in zone a."""
    storage_class, claim, pod = example("end-to-end").objects
    assert ("standard", True) == (storage_class.metadata.name, storage_class.delayed)
    assert ("standard", "100Gi") == (claim.spec.storage_class_name, claim.spec.resources.requests["storage"])
    assert ["my-pvc"] == list(pod.claim_names())
    assert [True, False] == [volume_fits_node(only("volume-1"), node(**{ZONE: zone})) for zone in (A, B)]


@pytest.mark.checklist("64")
@pytest.mark.parametrize("name", ["zonal-class", "zonal-class-wffc"])
def test_zonal_class_allows_two_zones(name):
    """zonal-class: volumes can be made for nodes of zones a and b only."""
    found = only(name)
    assert [True, True, False] == [topology_allows(found, node(**{ZONE: zone})) for zone in (A, B, C)]
    assert not topology_allows(found, node())


def test_multi_zonal_classes():
    """multi-zonal-class allows three zones to a regional disk; its failing form allows one."""
    for name, zones in (("multi-zonal-class", (A, B, C)), ("multi-zonal-class-one-zone", (A,))):
        found = only(name)
        assert {"type": "pd-standard", "replication-type": "regional-pd"} == found.parameters
        assert [zones] == [one.values for term in found.allowed_topologies for one in term.match_label_expressions]


@pytest.mark.checklist("67")
@pytest.mark.parametrize("name", ["something-fancy", "something-fancy-wffc"])
def test_something_fancy_is_exactly_three_places(name):
    """The class something-fancy: (a, rack1), (b, rack1), (b, rack2) and no other, (a, rack2) least of all."""
    found = only(name)
    places = [(zone, rack) for zone in (A, B, C) for rack in ("rack1", "rack2", "rack3")]
    expected = [(A, "rack1"), (B, "rack1"), (B, "rack2")]
    assert expected == [at for at in places if topology_allows(found, node(zone=at[0], rack=at[1]))]


def test_classes_are_shipped_as_printed_and_waiting():
    """The printed classes have no mode, hence are Immediate; each copy differs in name and mode alone."""
    for name in example_names():
        if name.endswith("-wffc"):
            waits, printed = example(name).objects[0], example(name.removesuffix("-wffc")).objects[0]
            assert (None, False, True) == (printed.volume_binding_mode, printed.delayed, waits.delayed)
            alike = attrs.evolve(waits, volume_binding_mode=None, metadata=printed.metadata)
            assert printed == alike


# --- as printed ------------------------------------------------------------------------------------------------------

LOCAL = textwrap.dedent("""\
    apiVersion: v1
    kind: PersistentVolume
    metadata:
      Name: local-volume-1
    spec:
      capacity:
        storage: 100Gi
      storageClassName: my-class
      local:
        path: /mnt/disks/ssd1
      nodeAffinity:
        required:
          nodeSelectorTerms:
          - matchExpressions:
            - key: kubernetes.io/hostname
              operator: In
              values:
              - node-1
    """)
ZONAL = LOCAL.replace("local-volume-1", "zonal-volume-1").replace("local:", "gcePersistentDisk:")
ZONAL = ZONAL.replace("path: /mnt/disks/ssd1", "diskName: my-disk\n    fsType: ext4")
ZONAL = ZONAL.replace("kubernetes.io/hostname", ZONE).replace("node-1", A)
FANCY = textwrap.dedent("""\
    apiVersion: storage.k8s.io/v1
    kind: StorageClass
    metadata:
      name: something-fancy
    provisioner: rack-based-provisioner
    parameters:
    allowedTopologies:
    - matchLabelExpressions:
      - key: zone
        values:
        - us-central1-a
      - key: rack
        values:
        - rack1
    - matchLabelExpressions:
      - key: zone
        values:
        - us-central1-b
      - key: rack
        values:
        - rack1
        - rack2
    """)
STANDARD = textwrap.dedent("""\
    apiVersion: storage.k8s.io/v1
    kind: StorageClass
    metadata:
      name: standard
    provisioner: kubernetes.io/gce-pd
    bindingMode: WaitForFirstConsumer
    parameters:
      type: pd-standard
    """)


@pytest.mark.parametrize(
    ("text", "name", "warned"),
    [
        (LOCAL, "local-volume-1", [("metadata.Name", 4), ("spec.accessModes", 5)]),
        (ZONAL, "zonal-volume-1", [("metadata.Name", 4), ("spec.gcePersistentDisk.diskName", 10), ("spec.accessModes", 5)]),
        (FANCY, "something-fancy", [("parameters", 6)]),
        (STANDARD, "standard", [("bindingMode", 6)]),
    ],
    ids=["local-volume-1", "zonal-volume-1", "something-fancy", "standard"],
)
def test_printed_manifests_are_read_with_warnings(text, name, warned):
    """What the document prints means what the shipped example says, and every liberty taken is warned of, with its line."""
    found = read(text)
    assert warned == [(warning.path, warning.line) for warning in found.warnings]
    shipped = example("end-to-end" if name == "standard" else name).objects[0]
    assert with_defaults(shipped) == with_defaults(found.objects[0])


def test_missing_fields_are_tolerated_in_such_manifests_only():
    """An ordinary volume without access modes is left as it is, for validation to refuse."""
    found = read(LOCAL.replace("  Name:", "  name:"))
    assert ((), ()) == (found.warnings, found.objects[0].spec.access_modes)
    assert ["spec.accessModes"] == [refusal.path for refusal in validate(with_defaults(found.objects[0]))]


@pytest.mark.checklist("38")
def test_both_spellings_of_the_binding_mode():
    """The names bindingMode and volumeBindingMode are one field; both and different is a fault; other words are refused."""
    both = STANDARD + "volumeBindingMode: %s\n"
    for text in (STANDARD, STANDARD.replace("bindingMode", "volumeBindingMode"), both % "WaitForFirstConsumer"):
        [found] = read(text).objects
        assert ("WaitForFirstConsumer", True) == (found.volume_binding_mode, found.delayed)
        assert "bindingMode" not in to_plain(found)
    [immediate] = read(STANDARD.replace("WaitForFirstConsumer", "Immediate")).objects
    assert not immediate.delayed
    for text, rule in ((both % "Immediate", "conflict"), (STANDARD.replace("WaitFor", "WaitsFor"), "enum")):
        with pytest.raises(ManifestError) as caught:
            read(text)
        assert rule in {fault.rule for fault in caught.value.faults}


@pytest.mark.checklist("39")
def test_no_mode_is_immediate():
    """A class without a mode is Immediate; any other value than the two is refused on reading and on storing."""
    text = STANDARD.replace("bindingMode: WaitForFirstConsumer\n", "")
    [found] = read(text).objects
    assert ("Immediate", False) == (with_defaults(found).volume_binding_mode, found.delayed)
    assert ["volumeBindingMode"] == [one.path for one in validate(attrs.evolve(with_defaults(found), volume_binding_mode="Later"))]
    with pytest.raises(ManifestError):
        read(text + "volumeBindingMode: Later\n")


@pytest.mark.checklist("17", "18")
def test_absent_affinity_is_no_constraint():
    """A volume without nodeAffinity fits every node, and one whose affinity requires nothing too; a requirement is hard."""
    volume = only("zonal-volume-1")
    nowhere = node()
    assert not volume_fits_node(volume, nowhere)
    empty = attrs.evolve(volume.spec.node_affinity, required=None)
    for affinity in (None, empty):
        free = evolve_parts(volume, spec={"node_affinity": affinity})
        assert volume_fits_node(free, nowhere)


@pytest.mark.checklist("21", "22")
def test_a_volumes_affinity_is_its_own_type():
    """What a pod's node affinity may say in Kubernetes' own words, a volume's may not: preferred is an unknown field."""
    for field in ("preferred", "preferredDuringSchedulingIgnoredDuringExecution", "requiredDuringSchedulingIgnoredDuringExecution"):
        with pytest.raises(ManifestError) as caught:
            read(LOCAL.replace("    required:", f"    {field}: []\n    required:"))
        assert [f"spec.nodeAffinity.{field}"] == [fault.path for fault in caught.value.faults]


@pytest.mark.checklist("52", "53", "54", "55")
def test_allowed_topologies_are_ored_anded_ored():
    """Entries are ORed, expressions within one ANDed, values within one ORed; no list restricts nothing."""
    found = only("something-fancy")
    at = [node(zone=zone, rack=rack) for zone, rack in ((A, "rack1"), (A, "rack2"), (B, "rack2"))]
    assert [True, False, True] == [topology_allows(found, one) for one in at]
    first = attrs.evolve(found, allowed_topologies=found.allowed_topologies[:1])
    assert [True, False, False] == [topology_allows(first, one) for one in at]
    free = attrs.evolve(found, allowed_topologies=())
    assert [True, True, True, True] == [topology_allows(free, one) for one in [*at, node()]]


def test_the_scheduling_document_spells_fields_otherwise():
    """`fieldExpressions` of a node selector term is `matchFields`."""
    text = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{fieldExpressions: [{key: metadata.name, operator: In, values: [n]}]}]}}}}}"
    found = read(text)
    [term] = found.objects[0].spec.affinity.node_affinity.required.node_selector_terms
    assert ["metadata.name"] == [field.key for field in term.match_fields]
    assert ["spelling"] == [warning.rule for warning in found.warnings]

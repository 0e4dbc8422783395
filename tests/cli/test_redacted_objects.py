"""What becomes of each field of a redacted object: a word that stays, a name of its sort, a sentence, or nothing."""

import pytest

from kvolsched.cli.redact.objects import Objects
from kvolsched.cli.redact.words import ENUMERATED


class Marked:
    """Names that are marked instead of replaced: <name>, <port!>; `sorts` has what each counts as."""

    def __init__(self):
        self.sorts = {}

    def name(self, text, sort="other texts"):
        """Mark a name."""
        self.sorts[text] = sort
        return f"<{text}>"

    def word(self, text):
        """Mark one word."""
        return f"<{text}!>"


def structure(type_name, **fields):
    """Return what becomes of fields of a type, and what each replaced text counts as."""
    names = Marked()
    return Objects(names).structure(fields, type_name), names.sorts


def of(type_name, field, value):
    """Return what becomes of a field."""
    return structure(type_name, **{field: value})[0].get(field, "left out")


WORDS = {
    "type": ("Condition", "Ready"), "status": ("Condition", "True"), "reason": ("PodCondition", "Unschedulable"), "operator": ("LabelSelectorRequirement", "In"),
    "accessModes": ("PersistentVolumeSpec", "ReadWriteOnce"), "action": ("Event", "Binding"), "fsGroupPolicy": ("CSIDriverSpec", "File"),
    "volumeLifecycleModes": ("CSIDriverSpec", "Ephemeral"), "ipFamilies": ("ServiceSpec", "IPv4"), "restartPolicy": ("Container", "Always"),
    "whenDeleted": ("StatefulSetPersistentVolumeClaimRetentionPolicy", "Delete"), "whenScaled": ("StatefulSetPersistentVolumeClaimRetentionPolicy", "Retain"),
    "recursiveReadOnly": ("VolumeMount", "Enabled"), "medium": ("EmptyDirVolumeSource", "Memory"), "fsType": ("CSIVolumeSource", "ext4"),
    "seLinuxChangePolicy": ("PodSecurityContext", "Recursive"), "resize": ("PodStatus", "Proposed"), "ipMode": ("LoadBalancerIngress", "VIP"),
    "trafficDistribution": ("ServiceSpec", "PreferClose"), "conditionType": ("PodReadinessGate", "Ready"), "health": ("ResourceHealth", "Healthy"),
    "keyType": ("PodCertificateProjection", "ED25519"), "error": ("PortStatus", "Unschedulable"),
}  # fmt: skip


@pytest.mark.parametrize("field", WORDS)
def test_words_of_kubernetes_stay_in_their_fields(field):
    """A word of Kubernetes' own stays as it is, in a list too; any other text there is a name."""
    type_name, word = WORDS[field]
    word = word if word in ENUMERATED else "Unschedulable"
    lists = isinstance(of(type_name, field, [word]), list) and of(type_name, field, word) == []

    assert ([word, "<acme>"] if lists else word) == of(type_name, field, [word, "acme"] if lists else word)
    assert lists or of(type_name, field, "acme") == "<acme>"


@pytest.mark.parametrize(("type_name", "field", "value", "new", "sort"), [
    ("PodSpec", "restartPolicy", "Never", "Never", None), ("PodSpec", "restartPolicy", "acme", "<acme>", "other texts"),
    ("EventSource", "component", "kubelet", "kubelet", None), ("EventSource", "component", "acme", "<acme>", "other texts"),
    ("Event", "reportingComponent", "kubelet", "kubelet", None), ("TypedObjectReference", "apiGroup", "storage.k8s.io", "storage.k8s.io", None),
    ("TypedLocalObjectReference", "apiGroup", "acme", "<acme>", "other texts"), ("TypedLocalObjectReference", "name", "storage.k8s.io", "<storage.k8s.io>", "other texts"),
    ("ContainerResizePolicy", "resourceName", "cpu", "cpu", None), ("ContainerResizePolicy", "resourceName", "acme/x", "<acme/x>", "other texts"),
    ("ContainerPort", "name", "http", "<http!>", None), ("ContainerPort", "name", "", "", None), ("ServicePort", "name", "http", "<http!>", None),
    ("Container", "name", "http", "<http>", "other texts"), ("ContainerPort", "hostIP", "http", "<http>", "other texts"),
    ("LabelSelectorRequirement", "key", "acme", "<acme>", "label keys"), ("PodAffinityTerm", "topologyKey", "a", "<a>", "label keys"),
    ("PodAffinityTerm", "matchLabelKeys", ["a"], ["<a>"], "label keys"), ("PodAffinityTerm", "mismatchLabelKeys", ["a"], ["<a>"], "label keys"),
    ("CSINodeDriver", "topologyKeys", ["a"], ["<a>"], "label keys"), ("LabelSelectorRequirement", "values", ["a", None], ["<a>", None], "label values"),
    ("EnvVar", "value", "a", "<a>", "label values"), ("EnvVar", "value", 5, "<5>", None), ("Container", "image", "a", "<a>", "images"),
    ("ContainerStatus", "imageID", "a", "<a>", "images"), ("ContainerImage", "names", ["a"], ["<a>"], "images"),
    ("Container", "command", ["a", ""], ["redacted", ""], None), ("Container", "args", ["a"], ["redacted"], None), ("PriorityClass", "description", "a", "redacted", None),
    ("PodCondition", "message", "acme", "redacted", None), ("PodCondition", "message", "no nodes available to schedule pods", "no nodes available to schedule pods", None),
    ("NodeSystemInfo", "kubeletVersion", "v1.36.2", "v1.36.2<>", None), ("NodeSystemInfo", "kubeProxyVersion", "v1.30.12-gke.1", "v1.30.12<-gke.1>", None),
    ("NodeSystemInfo", "kubeletVersion", "acme", "<acme>", "other texts"), ("NodeSystemInfo", "osImage", "v1.36.2", "<v1.36.2>", "other texts"),
    ("Pod", "apiVersion", "v1", "v1", None), ("Pod", "apiVersion", "apps/v1beta2", "apps/v1beta2", None), ("Pod", "apiVersion", "acme/v1", "<acme>/v1", "other texts"),
    ("Pod", "apiVersion", "v", "<v>", "other texts"), ("Pod", "kind", "Pod", "Pod", None), ("Pod", "kind", "gadget", "<gadget>", "other texts"),
    ("ObjectReference", "fieldPath", "spec.containers{acme}", "spec.containers{<acme>}", "other texts"), ("ObjectReference", "fieldPath", "spec.nodeName", "spec.nodeName", None),
    ("ObjectReference", "fieldPath", "metadata.labels['acme']", "metadata.labels['<acme>']", "other texts"), ("ObjectReference", "fieldPath", "acme.x", "<acme.x>", "other texts"),
    ("ObjectReference", "fieldPath", "spec{a", "<spec{a>", "other texts"),
    ("PodSpec", "hostNetwork", True, True, None), ("PodSpec", "hostNetwork", "yes", "redacted", None), ("PodSpec", "priority", 5, 5, None),
    ("PodSpec", "priority", "5", "redacted", None), ("PodSpec", "activeDeadlineSeconds", 5, 5, None), ("PodSpec", "activeDeadlineSeconds", "x", "redacted", None),
    ("ObjectMeta", "creationTimestamp", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", None), ("ObjectMeta", "creationTimestamp", "acme", "redacted", None),
    ("ServicePort", "targetPort", 80, 80, None), ("ServicePort", "targetPort", "50%", "50%", None),
    ("ServicePort", "targetPort", "8080", "8080", None), ("ServicePort", "targetPort", "123456", "<123456!>", None),
    ("ObjectMeta", "annotations", {"a": '{"b": "c"}', "d": "e", "apps.kubernetes.io/pod-index": "5", "f": None},
     {"<a>": '{"<b>":"<c>"}', "<d>": "<e>", "<apps.kubernetes.io/pod-index>": "5"}, None),
    ("CSIVolumeSource", "volumeAttributes", {"csi.storage.k8s.io/size": "2Gi"}, {"<csi.storage.k8s.io/size>": "2Gi"}, None), ("ServicePort", "targetPort", "http", "<http!>", None),
    ("EmptyDirVolumeSource", "sizeLimit", "1Gi", "1Gi", None), ("EmptyDirVolumeSource", "sizeLimit", 5, 5, None), ("EmptyDirVolumeSource", "sizeLimit", "acme", "redacted", None),
    ("EmptyDirVolumeSource", "sizeLimit", ["1Gi"], "redacted", None),
    ("ResourceRequirements", "requests", {"cpu": "1", "acme/x": "acme", "none": None}, {"<cpu>": "1", "<acme/x>": "redacted"}, None),
    ("ObjectMeta", "labels", {"a": "b", "c": None}, {"<a>": "<b>"}, None), ("LabelSelector", "matchLabels", {"a": "b"}, {"<a>": "<b>"}, None),
    ("PodSpec", "nodeSelector", {"a": "b"}, {"<a>": "<b>"}, None), ("ServiceSpec", "selector", {"a": "b"}, {"<a>": "<b>"}, None),
    ("CSIVolumeSource", "volumeAttributes", {"a": "b"}, {"<a>": "<b>"}, None), ("ObjectMeta", "labels", ["a"], {}, None),
    ("StorageClass", "parameters", {"type": "gp3", "acme": "acme", "n": 5}, {"type": "<gp3>", "<acme>": "<acme>", "<n>": "<5>"}, None),
    ("PersistentVolumeClaimStatus", "allocatedResourceStatuses", {"storage": "NodeResizePending"}, {"<storage>": "NodeResizePending"}, None),
    ("FlexVolumeSource", "options", {"a": "b"}, {"<a>": "<b>"}, None), ("ObjectMeta", "managedFields", [{"manager": "x"}], "left out", None),
    ("ObjectMeta", "acme", "x", "left out", None), ("ObjectMeta", "name", None, None, None), ("PodSpec", "containers", {"a": 1}, [], None),
    ("PodSpec", "containers", [None, {"name": "a", "acme": "x"}], [None, {"name": "<a>"}], None), ("PodSpec", "affinity", "text", {}, None),
])  # fmt: skip
def test_what_becomes_of_a_field(type_name, field, value, new, sort):
    """By what the field is: enumerations, names of each sort, sentences, versions, paths, numbers, quantities, times, mappings."""
    found, sorts = structure(type_name, **{field: value})

    assert new == found.get(field, "left out")
    assert sort is None or {sort} == set(sorts.values())


@pytest.mark.parametrize(("value", "new"), [
    ("5", "5"), ("-12", "-12"), ("+1Gi", "+1Gi"), ("1,2,30", "1,2,30"), ("100m", "100m"), ("2026-01-01T00:00:00.5+01:00", "2026-01-01T00:00:00.5+01:00"),
    ("12345678901", "<12345678901>"), ("5x", "<5x>"), ("acme", "<acme>"), (["5", "a"], ["5", "<a>"]), ({"a": 1}, "<{'a': 1}>"),
])  # fmt: skip
def test_counts_stay_under_the_keys_that_kubernetes_counts_by(value, new):
    """A number, a quantity or a time of such a label, taint, requirement or annotation stays; under other keys it is a name."""
    names, key = Marked(), "apps.kubernetes.io/pod-index"
    objects = Objects(names)

    assert new == objects.value(key, value)
    assert isinstance(value, list | dict) or new == objects.annotation(key, value)
    if not isinstance(value, dict):
        fields = {"key": key, "operator": "In", "values": value if isinstance(value, list) else [value]}
        assert (new if isinstance(new, list) else [new]) == objects.structure(fields, "LabelSelectorRequirement")["values"]
        assert {"<5>"} == {objects.value("acme", "5"), objects.annotation("acme", "5")}
    assert {"key": "<a>", "value": "<5>"} == objects.structure({"key": "a", "value": "5"}, "Taint")
    assert {"key": f"<{key}>", "value": "5"} == objects.structure({"key": key, "value": 5}, "Taint")


@pytest.mark.parametrize(("text", "new"), [
    ("acme", "<acme>"), ('{"a": [1, true, null, "b", 2.5], "c": {"d": "e"}}', '{"<a>":[0,true,null,"<b>",0],"<c>":{"<d>":"<e>"}}'), ("[1]", "[0]"),
    ("{broken", "redacted"), ("[" * 9_999, "redacted"), ('{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ä"}, "x": 1}',
                                                         '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"<ä>"}}'),
    ('{"apiVersion": "v1", "kind": 5}', '{"<apiVersion>":"<v1>","<kind>":0}'), ('{"apiVersion": 1, "kind": "Pod"}', '{"<apiVersion>":0,"<kind>":"<Pod>"}'),
])  # fmt: skip
def test_json_in_an_annotation_is_replaced_within(text, new):
    """An object of the API by its fields, of all else every text and number; what only looks like JSON goes as a whole."""
    names = Marked()

    assert new == Objects(names).annotation("acme", text)
    assert text != "acme" or names.sorts == {"acme": "annotation values"}


def test_objects_whose_names_were_replaced_are_counted():
    """A kind that is not modelled keeps its metadata alone; what kept its name, or has none, is not counted."""
    objects = Objects(Marked())
    gadget = {"apiVersion": "acme/v1", "kind": "gadget", "metadata": {"name": "a", "labels": {"b": "c"}}, "spec": {"secret": 1}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}}

    assert {"apiVersion": "<acme>/v1", "kind": "<gadget>", "metadata": {"name": "<a>", "labels": {"<b>": "<c>"}}} == objects.object(gadget)
    assert [claim | {"metadata": {"name": "<a>"}}] * 2 == [objects.object(claim), objects.object(claim)]
    assert {"apiVersion": "v1", "kind": "Pod"} == objects.object({"apiVersion": "v1", "kind": "Pod"})
    assert {"apiVersion": "v1", "kind": "Pod", "metadata": {}} == objects.object({"apiVersion": "v1", "kind": "Pod", "metadata": "x"})
    assert {"<gadget>": 1, "PersistentVolumeClaim": 2} == objects.counts
    objects.names.name = lambda text, *_: text
    objects.object(claim)
    assert 2 == objects.counts["PersistentVolumeClaim"]

"""A redacted dump has no old names, an equal structure, and equal verdicts of the scheduler."""

import ast
import gzip
import json
import re
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvolsched import decode
from kvolsched.api.defaults import with_defaults
from kvolsched.api.text.convert import schema
from kvolsched.api.text.manifest import read, read_plain, to_plain, write
from kvolsched.api.validation.validate import validate
from kvolsched.cli import main
from kvolsched.cli.redact import REDACTED, Redaction, explanation, redact
from kvolsched.cluster import Cluster
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.snapshot import Snapshot, snapshot
from kvolsched.scheduler.framework.judgement import judge

HOUSE = Path(__file__).parent.parent.parent / "kvolsched"
RECORDED = Path(__file__).parent.parent / "conformance"
DUMPS = sorted((RECORDED / "dumps").glob("*.yaml.gz"))
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "payroll-db-0", "namespace": "acme-finance", "uid": "2ff6a9c0-7e1b",
        "labels": {"acme.example.com/team": "payroll", "app": "payroll-db", "statefulset.kubernetes.io/pod-name": "payroll-db-0"},
        "annotations": {"acme.example.com/secret": "hunter2", "kubectl.kubernetes.io/last-applied-configuration": "{...}"},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "payroll-db", "uid": "77d1"}],
    },
    "spec": {
        "nodeName": "ip-10-1-2-3.eu-west-1.acme.internal",
        "nodeSelector": {"topology.kubernetes.io/zone": "acme-west", "cores": "16"},
        "containers": [{
            "name": "payroll", "image": "registry.acme.example.com/payroll:1.2", "command": ["payroll", "--password=hunter2"],
            "env": [{"name": "PASSWORD", "value": "hunter2"}], "resources": {"requests": {"cpu": "500m", "nvidia.com/gpu": "1"}},
        }],
        "tolerations": [{"key": "acme-only", "operator": "Equal", "value": "payroll", "effect": "NoSchedule"}],
        "volumes": [{"name": "ledger", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "acme-gold"}}}}],
    },
    "status": {"phase": "Running", "podIP": "172.20.3.4", "hostIP": "192.168.7.7", "podIPs": [{"ip": "172.20.3.4"}],
               "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                               "message": '0/1 nodes are available: persistentvolumeclaim "payroll-db-0-ledger" not found.'},
                              {"type": "Ready", "status": "False", "reason": "Odd", "message": "acme says no"}]},
}  # fmt: skip
CLAIM = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "payroll-db-0-ledger", "namespace": "acme-finance"},
         "spec": {"storageClassName": "acme-gold", "volumeName": "pvc-2ff6a9c0-7e1b"}}  # fmt: skip
SECRETS = re.compile(r"acme|payroll|hunter2|ledger|finance|gold|172\.20|192\.168|10-1-2-3|2ff6a9c0|team", re.IGNORECASE)


def redacted(*objects, **options):
    """The objects of a redacted dump."""
    return redact(objects, **options).objects


def shape(value):
    """What a redacted value keeps: its structure, and the type of what stands in it."""
    if isinstance(value, dict):
        return sorted(json.dumps(shape(item)) for item in value.values())
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__


def without_managed_fields(value):
    """A value without `managedFields` in it, which no redacted dump has."""
    if isinstance(value, dict):
        return {name: without_managed_fields(item) for name, item in value.items() if name != "managedFields"}
    return list(map(without_managed_fields, value)) if isinstance(value, list) else value


@cache
def cases(family):
    """The recorded cases of a family that are small enough to be judged twice."""
    with gzip.open(RECORDED / f"{family}.jsonl.gz") as lines:
        return tuple(case for case in map(json.loads, lines) if len(case.get("objects", ())) < 200)


# -- what goes ---------------------------------------------------------------------------------------------------


def test_nothing_that_says_whose_it_is_stays():
    """Names, namespaces, labels, images, commands, annotations, addresses and messages are gone; quantities stay."""
    pod, claim = redacted(POD, CLAIM)
    text = json.dumps([pod, claim])
    assert [] == SECRETS.findall(text)
    container = pod["spec"]["containers"][0]
    requests = container["resources"]["requests"]
    assert (["1", "500m"], [REDACTED] * 2) == (sorted(requests.values()), container["command"])
    assert ("cpu" in requests, "nvidia.com/gpu" in requests) == (True, False)
    assert "topology.kubernetes.io/zone" in pod["spec"]["nodeSelector"]
    assert "16" not in pod["spec"]["nodeSelector"].values()
    assert REDACTED == pod["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]


def test_names_that_are_made_of_others_stay_so():
    """A pod of a set, its claim, its owner, what names it in a label or a message: replaced part by part, alike."""
    pod, claim = redacted(POD, CLAIM)
    name, volume = pod["metadata"]["name"], pod["spec"]["volumes"][0]["name"]
    assert f"{name}-{volume}" == claim["metadata"]["name"]
    assert f"{pod['metadata']['ownerReferences'][0]['name']}-0" == name
    assert name == pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"]
    assert f"pvc-{pod['metadata']['uid']}".split("-")[1:] == claim["spec"]["volumeName"].split("-")[1:]
    assert f'"{claim["metadata"]["name"]}"' in pod["status"]["conditions"][0]["message"]
    assert REDACTED == pod["status"]["conditions"][1]["message"]
    assert pod["status"]["podIP"] == pod["status"]["podIPs"][0]["ip"]


def test_what_every_cluster_has_keeps_its_name():
    """Namespace kube-system, the system's priority classes, drivers of public clouds, in-tree plugins, own label keys."""
    kept = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "labels": {"kubernetes.io/metadata.name": "kube-system"}}},
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "system-node-critical"}, "value": 2000001000},
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "default"}, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "Immediate"},
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "default", "annotations": {
            "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/gce-pd"}},
         "spec": {"drivers": [{"name": "pd.csi.storage.gke.io", "nodeID": "0", "topologyKeys": ["topology.gke.io/zone"]}]}},
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "kubernetes"}, "provisioner": "kubernetes.io/no-provisioner"},
    ]  # fmt: skip
    assert tuple(kept) == redacted(*kept)


def test_every_key_that_a_rule_names_stays():
    """Label keys, annotations, finalizers, plugins and drivers that stand in the package's rules, wherever they stand."""
    qualified = re.compile(r"([a-z0-9-]+\.)*(kubernetes\.io|k8s\.io|aws\.com|gke\.io|azure\.com|openstack\.org|vmware\.com|portworx\.com)(/\w[\w.-]*\w)?")
    groups = {"storage.k8s.io", "scheduling.k8s.io", "events.k8s.io", "snapshot.storage.k8s.io", "resource.k8s.io", "admissionregistration.k8s.io", "storageclasses.storage.k8s.io"}
    named = set()
    for file in HOUSE.rglob("*.py"):
        if file.relative_to(HOUSE).parts[0] not in ("redact", "views", "bench", "serve"):  # serve names groups of an API
            constants = (node.value for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Constant))
            named |= {text for text in constants if isinstance(text, str) and qualified.fullmatch(text)}
    keys = {key for key in named if not re.fullmatch(r".*/v\d+", key)} - groups
    names = Redaction([], "").names
    assert [] == sorted(key for key in keys if names.name(key) != key)
    assert {"csi.storage.k8s.io/size", "topology.ebs.csi.aws.com/zone", "kubernetes.io/hostname"} <= keys


def test_the_size_of_an_inline_volume_stays():
    """What a driver is told of an inline volume's size is a quantity; its other attributes are names."""
    volume = {"name": "v", "csi": {"driver": "acme.example.com", "volumeAttributes": {"csi.storage.k8s.io/size": "2Gi", "acme": "2Gi"}}}
    [pod] = redacted({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"volumes": [volume]}})
    attributes = pod["spec"]["volumes"][0]["csi"]["volumeAttributes"]
    assert "2Gi" == attributes.pop("csi.storage.k8s.io/size")
    assert not {"acme", "2Gi"} & {*attributes, *attributes.values()}


def test_objects_of_unknown_kinds_keep_only_who_they_are():
    """Secrets, ConfigMaps and custom resources lose their content, whatever their fields are called."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "acme"}, "data": {"password": "aHVudGVyMg=="}}
    [found] = redacted(secret)
    assert ({"apiVersion", "kind", "metadata"}, "Secret") == (set(found), found["kind"])
    assert "acme" not in json.dumps(found)


def test_fields_nobody_knows_go():
    """A field of another version may hold anything: it is left out."""
    [found] = redacted({**POD, "spec": {**POD["spec"], "acme": {"x": "hunter2"}}})
    assert [] == SECRETS.findall(json.dumps(found))


# -- a secret in every place ---------------------------------------------------------------------------------------

SECRET = re.compile(r"zq[0-9]+qz|7391[0-9]+7391", re.IGNORECASE)
MODELLED = sorted(schema()["kinds"].items())
OF_PODS = {"DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet"}  # what their templates hold is a pod's
TYPED = {"boolean": True, "int32": 3, "int64": 4, "quantity": "5Gi", "time": "2026-01-31T12:00:00Z"}


class Planter:
    """Makes objects with a secret of its own in every place of every field that can hold a text. Mutable: it counts."""

    def __init__(self, form):
        self.form, self.count, self.texts = form, 0, []

    def secret(self):
        self.count += 1
        self.texts.append(self.form.format(n=self.count))
        return self.texts[-1]

    def value(self, type_name, name=""):
        """A value of a type of fields.json, with two items in lists and mappings."""
        if type_name.startswith("[]"):
            return [self.value(type_name[2:], name) for _ in range(2)]
        if type_name.startswith("map[string]"):
            return {self.secret(): self.value(type_name.removeprefix("map[string]")) for _ in range(2)}
        if type_name in TYPED:
            return TYPED[type_name]
        if type_name == "object":
            return {f"f:{self.secret()}": {self.secret(): [self.secret()]}}
        if type_name in ("string", "intOrString"):
            return self.secret()
        fields = schema()["types"][type_name].items()
        return {field: self.value(declared if isinstance(declared, str) else declared["type"], field) for field, declared in fields}

    def object(self, kind, type_name):
        """An object of a kind, whose apiVersion and kind are its own."""
        api_version, _, name = kind.rpartition("/")
        return {**self.value(type_name), "apiVersion": api_version, "kind": name}


# How a secret stands in its text: alone, as a part of a name, below Kubernetes' domains, in a URL, as a number, in JSON.
FORMS = [
    "zq{n}qz", "ZQ{n}QZ-0", "acme.zq{n}qz.kubernetes.io/disk", "kubernetes.io/zq{n}qz", "zq{n}qz.csi.aws.com", "topology.gke.io/zq{n}qz",
    "https://u:zq{n}qz@vault/p?q=zq{n}qz#zq{n}qz", "7391{n}7391", "web-7391{n}7391", '{{"a": ["zq{n}qz", 7391{n}7391], "zq{n}qz": {{}}}}',
    '{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "zq{n}qz"}}, "spec": {{"x": "zq{n}qz", "nodeName": "zq{n}qz"}}}}',
    "rpc error: code = zq{n}qz desc = zq{n}qz", "0/3 nodes are available: 3 Insufficient zq{n}qz.com/gpu, 7391{n}7391 node(s) zq{n}qz.",
    "v1.30.2-zq{n}qz", "zq{n}qz/v1", "metadata.annotations['zq{n}qz']", "spec.containers{{zq{n}qz}}", "nfs\nzq{n}qz\tzq{n}qz", "默认zq{n}qz",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_secret_in_any_field_is_found_nowhere(form):
    """Every field of all kinds that takes a text, keys and values of mappings, items of lists: no secret is written."""
    planter = Planter(form)
    planted = [planter.object(kind, type_name) for kind, type_name in MODELLED if form == FORMS[0] or type_name not in OF_PODS]
    assert planter.count > 1500
    text = "".join(Redaction(planted).written("json"))
    assert [] == SECRET.findall(text)
    assert list(map(shape, map(without_managed_fields, planted))) == list(map(shape, json.loads(text)["items"]))


def test_a_dump_with_every_field_loads_again():
    """Every field of every kind, redacted: it reads with the warnings that it had, none of a field."""
    planter = Planter("zq{n}qz")
    planted = [planter.object(kind, type_name) for kind, type_name in MODELLED]
    before, after = (read(objects, lenient=True) for objects in (planted, list(Redaction(planted).objects())))
    assert [item.kind for item in before] == [item.kind for item in after]
    assert len(MODELLED) == len(after)
    assert [(each.path, each.rule) for each in before.warnings] == [(each.path, each.rule) for each in after.warnings]


@pytest.mark.parametrize("family", ["pod-create", "odd", "mixed", "static", "pv-controller"])
def test_a_redacted_object_is_as_valid_as_it_was(family):
    """Recorded objects: the API server finds as many faults of the same types, none more."""
    for case in cases(family)[:12]:
        plain = [*case.get("objects", ()), *(case[name] for name in ("pod", "object", "new") if isinstance(case.get(name), dict))]
        faults = [[sorted(error.type for error in validate(with_defaults(item))) for item in read(objects, lenient=True).objects]
                  for objects in (plain, list(Redaction(plain).objects()))]  # fmt: skip
        assert faults[0] == faults[1], case["id"]


@pytest.mark.parametrize("of", ["metadata", "whole"])
def test_custom_kinds_keep_only_metadata_without_names(of):
    """Of a custom kind nothing is left but replaced metadata; its kind and group are replaced too, in owners alike."""
    planter = Planter("zq{n}qz")
    owner = {"apiVersion": "zq1qz.example.com/v1beta1", "kind": "Zq2qz", "name": "zq3qz", "uid": "zq4qz"}
    custom = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "metadata": planter.value("ObjectMeta"), "spec": planter.value("PodSpec")}
    custom = {**custom, "zq99qz": "zq98qz"} if of == "whole" else custom
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "ownerReferences": [owner]}, "spec": {"containers": [{"name": "c"}]}}
    found, redacted_pod = redacted(custom, pod)
    assert [] == SECRET.findall(json.dumps([found, redacted_pod]))
    assert {"apiVersion", "kind", "metadata"} == set(found)
    [new_owner] = redacted_pod["metadata"]["ownerReferences"]
    assert (found["apiVersion"], found["kind"]) == (new_owner["apiVersion"], new_owner["kind"])
    assert found["apiVersion"].endswith("/v1beta1")


@pytest.mark.parametrize("name", ["dump.yaml", "dump.json"])
def test_no_form_of_a_file_hides_a_secret(tmp_path, name):
    """Comments, several documents, a List and lists of a kind, JSON, what kubectl applied last, managedFields."""
    pod = {**POD, "metadata": {**POD["metadata"], "managedFields": [{"manager": "zq1qz", "fieldsV1": {"f:zq2qz": {}}}]}}
    pod["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(POD) + "\n"}
    pods = {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "zq3qz"}, "items": [pod]}
    claims = {"apiVersion": "v1", "kind": "List", "items": [CLAIM]}
    lists = {"apiVersion": "v1", "kind": "List", "items": [pods, claims]}
    source = tmp_path / name
    source.write_text(json.dumps(lists) if name.endswith("json") else f"# zq4qz\n{write([pod])}# zq5qz\n---\n{write([CLAIM])}...\n# zq6qz\n")
    done = CliRunner().invoke(main, ["redact", str(source)])
    found = read(done.stdout).objects
    assert (0, ["Pod", "PersistentVolumeClaim"]) == (done.exit_code, [item.kind for item in found])
    assert [] == SECRET.findall(done.stdout) + SECRETS.findall(done.stdout)
    applied = json.loads(found[0].metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"])
    assert applied["metadata"]["name"] == found[0].metadata.name
    assert applied["spec"]["nodeName"] == found[0].spec.node_name


# -- messages ------------------------------------------------------------------------------------------------------

SENTENCES = (Path(__file__).parent.parent / "documented_sentences.txt").read_text().splitlines()


def test_sentences_of_kubernetes_keep_their_meaning():
    """A documented sentence has other names afterwards, or is `redacted`; what is left means the same."""
    found = Redaction([], "").replacing.sentences
    kept = [(line, new) for line in SENTENCES if (new := found.replaced(line)) != REDACTED]
    assert [] == [(line, new) for line, new in kept
                  if REDACTED not in new and [row.rule for row in decode(line)] != [row.rule for row in decode(new)]]  # fmt: skip
    assert len(kept) > 0.9 * len(SENTENCES)
    assert [] == [new for line, new in kept if {"web-0", "example.com/a", "pv-1", "data"} & set(re.findall(r"[\w./-]+", new))]


def test_only_names_change_in_a_message():
    """Counts, Kubernetes' words and resources stay; names are replaced as in fields; unknown clauses are `redacted`."""
    redaction = Redaction([{"kind": "X", "names": ["acme.com/gpu", "gold", "ns", "web-0", "n1"]}], "")
    name = redaction.names.name
    said = {
        "0/5 nodes are available: 1 Insufficient acme.com/gpu, 2 Insufficient cpu, 2 node(s) had untolerated taint {gold: 7}. "
        "preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.":
        f"0/5 nodes are available: 1 Insufficient {name('acme.com/gpu')}, 2 Insufficient cpu, 2 node(s) had untolerated taint "
        f"{{{name('gold')}: {name('7')}}}. preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
        "Successfully assigned ns/web-0 to n1": f"Successfully assigned {name('ns')}/{name('web-0')} to {name('n1')}",
        "acme says no": REDACTED,
        "0/2 nodes are available: 2 acme quota used up.": "0/2 nodes are available: 2 redacted.",
        "pod didn't trigger scale-up: 1 Insufficient cpu, 2 acme quota used up":
            "pod didn't trigger scale-up: 1 Insufficient cpu, 2 redacted",
    }  # fmt: skip
    assert said == {text: redaction.replacing.sentences.replaced(text) for text in said}


def test_an_empty_message_stays_empty():
    """Only what is said is replaced: a condition without a message has none afterwards."""
    condition = {"type": "Ready", "status": "False", "message": ""}
    pod, = redacted(POD | {"status": {"conditions": [condition, condition | {"message": "acme says no"}]}})

    assert ["", REDACTED] == [each["message"] for each in pod["status"]["conditions"]]


# -- what stays --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_a_recorded_dump_keeps_its_structure(path):
    """Every field, list and number of a dump is there again; no name is, and it reads without a warning more."""
    dump = read(path, lenient=True)
    found = redact(dump.objects)
    assert [shape(to_plain(item)) for item in dump.objects] == [shape(item) for item in found.objects]
    again = read(write(found.objects), lenient=True)
    assert len(dump.warnings) == len(again.warnings)
    assert dump.missing_kinds() == again.missing_kinds()
    old = {part for name in found.names.values() for part in re.findall(r"[a-z]{4,}", name)}
    kept = {item["metadata"]["name"] for item in found.objects}
    assert set() == old & {part for name in kept for part in re.findall(r"[a-z]{4,}", name)} - {"system", "cluster", "node", "critical"}


def test_the_same_dump_and_salt_give_the_same_names():
    """Redacting twice gives the same text; another salt gives other names."""
    objects = read(DUMPS[0]).objects
    assert write(redacted(*objects, salt="a")) == write(redacted(*objects, salt="a"))
    assert redacted(*objects, salt="a") != redacted(*objects, salt="b")


def test_different_names_stay_different_and_in_their_order():
    """No two names become one, and the order of names stays."""
    objects = read(DUMPS[0]).objects
    names = redact(objects, salt="s").names
    assert len(names) == len(set(names.values()))
    for kind in {item.kind for item in objects}:
        before = [item.metadata.name for item in objects if item.kind == kind]
        after = [item["metadata"]["name"] for item in redacted(*objects) if item["kind"] == kind]
        assert [before.index(name) for name in sorted(before)] == [after.index(name) for name in sorted(after)], kind


# -- what is decided ---------------------------------------------------------------------------------------------


def told(judgement, renamed=str):
    """What every plugin says of every node, by the names that the nodes have after it."""
    if judgement.rejected_by is not None:
        return {judgement.rejected_by.plugin: renamed(judgement.rejected_by.message)}
    return {
        (plugin, node if renamed is str else renamed(f'node "{node}" not found')[6:-11]): sorted(map(renamed, judgement.verdict(node, plugin)[0]))
        for plugin in judgement.plugins for node in judgement.nodes
    }  # fmt: skip


@pytest.mark.parametrize("family", ["fit", "spread", "static", "dynamic", "interpod", "limits", "bound"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_scheduler_says_the_same(family, data):
    """Recorded clusters: each plugin says of each node the same, with the same reasons, up to names."""
    case = data.draw(st.sampled_from(cases(family)), label="case")
    plain = [*case["objects"], case["pod"]]
    redaction = Redaction(plain, data.draw(st.text(max_size=3), label="salt"))
    judged = []
    for objects in (plain, list(redaction.objects())):
        *others, pod = read(objects, lenient=True).objects
        judged.append(judge(pod, snapshot([item for item in others if item.kind in Snapshot.follows]), upstream_profile()))
    assert told(judged[0], redaction.replacing.sentences.replaced) == told(judged[1])
    assert {redaction.names.name(node) for node in judged[0].feasible} == set(judged[1].feasible)


@cache
def clusters(path):
    """A recorded dump as a cluster, the same redacted, and what turns names into new ones, alone and within words."""
    dump = read(path, lenient=True)
    redaction = Redaction([*dump.objects, *dump.others], "s")
    redacted = Cluster.from_manifests(*redaction.objects())
    new_names = {old: new for old, new in redaction.names.new_names.items() if old != new and re.search("[a-z]", old)}
    names = "|".join(map(re.escape, sorted(new_names, key=len, reverse=True)))
    known = re.compile(rf"(?<![\w.])(?:{names})(?!\w|\.(?!yaml)\w)")

    def renamed(text):
        text = " ".join(known.sub(lambda word: new_names[word[0]], text).split())
        # A template with other names has another revision hash than its pods' label, so that a StatefulSet rolls.
        text = re.sub(r"restarts (nothing|the \d+ running pods of StatefulSet [\w.-]+) ", "", text)
        return re.sub(r"(the pod is|runs) on [\w.-]+( \([^)]*\))?", r"\1 on a node", text.partition(" [0] as a diff")[0])

    return Cluster.from_manifests(path), redacted, redaction.names.name, renamed


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_a_redacted_cluster_answers_the_same(path):
    """Why each pod pends, what would help, its skew and its capacity: the same words, up to names and the node chosen."""
    cluster, redacted, name, renamed = clusters(path)
    pods = cluster.objects("Pod")
    pending = [pod for pod in pods if not pod.spec.node_name]
    sets = [*cluster.objects("StatefulSet"), *cluster.objects("Deployment")]
    asked = [("why", pod) for pod in pending] + [("fix", pod) for pod in pending[::3]]
    asked += [(question, item) for question in ("skew", "capacity") for item in (*pods[:6], *sets)]
    answers = []
    for question, item in asked:
        pair = []
        for one, rename in ((cluster, str), (redacted, name)):
            answer = getattr(one, question)(f"{item.kind.lower()}/{rename(item.metadata.namespace)}/{rename(item.metadata.name)}")
            pair.append(renamed(answer.reading if question in ("skew", "capacity") else repr(answer)))
        answers.append(pair)
    assert [before for before, _ in answers] == [after for _, after in answers]
    assert len(pending) > 2


# -- the command -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.yaml", "out.json", "out.json.gz"])
def test_the_command_writes_a_dump_and_the_owners_key(tmp_path, name):
    """FILES become one dump, as it is named; the key is for the owner's eyes and brings every name back."""
    out, keys = tmp_path / name, tmp_path / "keys.json"
    done = CliRunner().invoke(main, ["redact", *map(str, DUMPS), "-o", str(out), "--map", str(keys)])
    assert 0 == done.exit_code
    assert done.stderr.count("duplicate of the object") > 2  # the two dumps hold the same namespace-less objects twice
    done = CliRunner().invoke(main, ["redact", str(DUMPS[0]), "-o", str(out), "--map", str(keys), "--force"])
    assert (0, "") == (done.exit_code, done.stdout)
    names = json.loads(keys.read_text())["names"]
    found = read(out, lenient=True).objects
    assert [item.metadata.name for item in read(DUMPS[0]).objects] == [names.get(item.metadata.name, item.metadata.name) for item in found]
    assert stat.S_IRUSR | stat.S_IWUSR == stat.S_IMODE(keys.stat().st_mode)


def run(*words, stdout=subprocess.PIPE):
    """Run the command as a shell does; what it prints to stderr, and its exit code."""
    done = subprocess.run([sys.executable, "-m", "kvolsched", "redact", *map(str, words)], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr, done.returncode


def test_the_command_refuses_outputs_in_one_line(tmp_path):
    """A directory, a file that exists, a missing directory, a full disk: one line, no traceback, nothing half-written."""
    source, there, mapped = tmp_path / "in.yaml", tmp_path / "there.yaml", tmp_path / "map.json"
    source.write_text(write([POD]))
    there.write_text("mine")
    for words, said in {
        ("-o", tmp_path): f"Error: {tmp_path} is a directory; name a file in it, such as {tmp_path / 'redacted.json'}\n",
        ("-o", there): f"Error: {there} exists and is not overwritten; --force overwrites it\n",
        ("-o", tmp_path / "new.yaml", "--map", there): f"Error: {there} exists and is not overwritten; --force overwrites it\n",
        ("-o", tmp_path / "none" / "new.yaml"): f"Error: cannot write {tmp_path / 'none' / 'new.yaml'}: there is no directory {tmp_path / 'none'}\n",
        ("-o", "/dev/full"): "Error: cannot write /dev/full: No space left on device\n",
    }.items():  # fmt: skip
        done = CliRunner().invoke(main, ["redact", str(source), *map(str, words)])
        assert (2, said) == (done.exit_code, done.stderr)
    with Path("/dev/full").open("w") as full:
        assert ("Error: cannot write the output: No space left on device\n", 2) == run(source, stdout=full)
    assert ({"in.yaml", "there.yaml"}, "mine") == ({file.name for file in tmp_path.iterdir()}, there.read_text())
    done = CliRunner().invoke(main, ["redact", str(source), "-o", str(there), "--map", str(mapped), "--force"])
    assert (0, "Pod") == (done.exit_code, read_plain(there.read_text())[0]["kind"])
    assert "new names of 1 Pod\n" in done.stderr
    assert f"{mapped} has the old names: it is secret, do not share it" in done.stderr
    assert "Do not share it" in json.loads(mapped.read_text())["secret"]


def test_the_map_is_written_only_when_asked_for(tmp_path):
    """Without --map no file but the redacted dump is written, and no old name is printed."""
    source, out = tmp_path / "in.yaml", tmp_path / "out.json.gz"
    source.write_text(write([POD, CLAIM]))
    done = CliRunner().invoke(main, ["redact", str(source), "-o", str(out)])
    assert (0, [], {"in.yaml", "out.json.gz"}) == (done.exit_code, SECRETS.findall(done.output), {file.name for file in tmp_path.iterdir()})
    assert [] == SECRETS.findall(gzip.decompress(out.read_bytes()).decode())


def test_the_command_explains_what_stays():
    """--explain needs no dump, fits the terminal and lists every word that stays."""
    done = CliRunner().invoke(main, ["redact", "--explain"])
    assert 0 == done.exit_code
    assert {"kubernetes.io/hostname", "kubernetes.io/pvc-protection", "ebs.csi.aws.com", "Unschedulable", "ephemeral-storage"} <= set(done.output.split())
    assert max(map(len, done.output.splitlines())) <= 100
    assert "commands, arguments, descriptions\n    become redacted\n" in done.output
    assert max(len(line) for line in explanation(60).splitlines() if " " in line.strip()) <= 60


def test_the_command_prints_and_refuses_in_sentences(tmp_path):
    """Without -o it prints; a bad dump is refused as everywhere."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(write([POD]))
    bad.write_text("kind: [")
    done = CliRunner().invoke(main, ["redact", str(good)])
    assert "Pod" == read_plain(done.stdout)[0]["kind"]
    done = CliRunner().invoke(main, ["redact", str(bad)])
    assert 2 == done.exit_code
    assert "nothing was loaded" in done.stderr


def test_what_is_empty_or_no_mapping_stays_so():
    """An empty message stays empty, one that nobody knows goes; metadata that is none leaves nothing behind."""
    conditions = [{"type": "Ready", "status": "False", "message": text} for text in ("", "payroll broke")]
    node, other = redacted({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": conditions}},
                           {"apiVersion": "acme.example.com/v1", "kind": "Payroll", "metadata": "payroll"})  # fmt: skip

    assert ["", REDACTED] == [condition["message"] for condition in node["status"]["conditions"]]
    assert {} == other["metadata"]


def test_lists_in_annotations_are_replaced_item_by_item():
    """JSON in an annotation keeps its shape, a list as well as a mapping; what only looks like it goes as a whole."""
    texts = {"a": '["payroll",{"acme":"payroll"}]', "b": '{"acme":["payroll",7]}', "c": "[payroll"}
    pod, = redacted({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "payroll", "annotations": texts}})
    name, (a, b, c) = pod["metadata"]["name"], pod["metadata"]["annotations"].values()
    first, mapping = json.loads(a)
    (key, inside), = json.loads(b).items()

    assert (name, {key: name}, [name, 0], REDACTED) == (first, mapping, inside, c)


@pytest.mark.parametrize(("group", "stays"), [("snapshot.storage.k8s.io", True), ("apps", True), ("acme.example", False)])
def test_groups_of_kubernetes_stay_where_an_object_is_named(group, stays):
    """The group of a kind of Kubernetes says nothing of whose it is; one of somebody's own is a name."""
    source = {"apiGroup": group, "kind": "VolumeSnapshot", "name": "acme"}
    [claim] = redacted({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "d"}, "spec": {"dataSource": source}})

    assert stays == (group == claim["spec"]["dataSource"]["apiGroup"])

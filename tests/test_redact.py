"""A redacted dump has no old names, an equal structure, and equal verdicts of the scheduler."""

import gzip
import json
import re
import stat
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kvolsched.api.text.manifest import read, read_plain, to_plain, write
from kvolsched.cli import main
from kvolsched.redact import REDACTED, redact
from kvolsched.scheduler.columns.snapshot import Snapshot, snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.profiles import upstream_profile

RECORDED = Path(__file__).parent / "conformance"
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


# -- what goes ---------------------------------------------------------------------------------------------------


def test_nothing_that_says_whose_it_is_stays():
    """Names, namespaces, labels, images, commands, annotations, addresses and messages are gone; quantities stay."""
    pod, claim = redacted(POD, CLAIM)
    text = json.dumps([pod, claim])
    assert [] == SECRETS.findall(text)
    container = pod["spec"]["containers"][0]
    assert ({"cpu": "500m", "nvidia.com/gpu": "1"}, [REDACTED] * 2) == (container["resources"]["requests"], container["command"])
    assert "16" in pod["spec"]["nodeSelector"].values()
    assert "topology.kubernetes.io/zone" in pod["spec"]["nodeSelector"]
    assert {REDACTED} == set(pod["metadata"]["annotations"].values())


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


@cache
def cases(family):
    """The recorded cases of a family that are small enough to be judged twice."""
    with gzip.open(RECORDED / f"{family}.jsonl.gz") as lines:
        return tuple(case for case in map(json.loads, lines) if len(case["objects"]) < 200)


def histogram(judgement):
    """How many nodes each plugin rejects with which words."""
    if judgement.rejected_by is not None:
        return Counter({judgement.rejected_by.plugin: 1})
    found = Counter()
    for plugin in judgement.plugins:
        for node in judgement.nodes:
            found.update((plugin, reason) for reason in judgement.verdict(node, plugin)[0])
    return found


@pytest.mark.parametrize("family", ["fit", "spread", "static", "dynamic", "interpod"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_scheduler_says_the_same(family, data):
    """Recorded clusters: the same numbers of nodes are rejected by the same plugins for the same reasons."""
    case = data.draw(st.sampled_from(cases(family)), label="case")
    plain = [*case["objects"], case["pod"]]
    salt = data.draw(st.text(max_size=3), label="salt")
    judged = []
    for objects in (plain, redact(plain, salt=salt).objects):
        *others, pod = read(list(objects), lenient=True).objects
        judged.append(judge(pod, snapshot([item for item in others if item.kind in Snapshot.follows]), upstream_profile()))
    assert histogram(judged[0]) == histogram(judged[1])
    assert len(judged[0].feasible) == len(judged[1].feasible)
    assert judged[0].sentence().split('"')[::2] == judged[1].sentence().split('"')[::2]


# -- the command -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.yaml", "out.json", "out.json.gz"])
def test_the_command_writes_a_dump_and_the_owners_key(tmp_path, name):
    """FILES become one dump, as it is named; the key is for the owner's eyes and brings every name back."""
    out, keys = tmp_path / name, tmp_path / "keys.json"
    done = CliRunner().invoke(main, ["redact", *map(str, DUMPS), "-o", str(out), "--keys", str(keys)])
    assert 0 == done.exit_code
    assert done.stderr.count("duplicate of the object") > 2  # the two dumps hold the same namespace-less objects twice
    done = CliRunner().invoke(main, ["redact", str(DUMPS[0]), "-o", str(out), "--keys", str(keys)])
    assert (0, "") == (done.exit_code, done.stdout)
    names = json.loads(keys.read_text())
    found = read(out, lenient=True).objects
    assert [item.metadata.name for item in read(DUMPS[0]).objects] == [names.get(item.metadata.name, item.metadata.name) for item in found]
    assert stat.S_IRUSR | stat.S_IWUSR == stat.S_IMODE(keys.stat().st_mode)


def test_the_command_prints_and_refuses_in_sentences(tmp_path):
    """Without -o it prints; a bad dump is refused as everywhere."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(write([POD]))
    bad.write_text("kind: [")
    done = CliRunner().invoke(main, ["redact", str(good)])
    assert "Pod" == read_plain(done.stdout)[0]["kind"]
    done = CliRunner().invoke(main, ["redact", str(bad)])
    assert 1 == done.exit_code
    assert "nothing was loaded" in done.stderr

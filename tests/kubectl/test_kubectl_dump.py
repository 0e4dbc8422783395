"""`get` and `describe` of a dump: all kinds, ages, refusals, and the command line."""

import json
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from kvolsched import Cluster
from kvolsched.api.kinds.kind import KINDS
from kvolsched.api.text import manifest
from kvolsched.cli import main
from kvolsched.kubectl import ResourceNotFound, describe

DUMPS = Path(__file__).parent.parent / "conformance" / "dumps"
SHOP = DUMPS / "shop.yaml.gz"


@cache
def dump(name="shop"):
    """Load a recorded dump once; nothing here changes it."""
    return Cluster.from_manifests(DUMPS / f"{name}.yaml.gz")


def call(*words):
    """Run the command line; the exit code, what is printed, and what goes to stderr."""
    done = CliRunner().invoke(main, [*map(str, words)])
    return done.exit_code, done.stdout, done.stderr


def told(*words):
    """Run `kvolsched WORDS` and give what it prints, without the last line break."""
    code, said, wrong = call(*words)
    assert (0, "") == (code, wrong)
    return said.removesuffix("\n")


# -- whole dumps ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["shop", "storage"])
def test_nothing_of_a_dump_is_lost(name):
    """What was read is written back as it was, and every object is in the cluster."""
    read = manifest.read(DUMPS / f"{name}.yaml.gz", lenient=True)
    again = manifest.read(manifest.write([*read.objects, *read.others]), lenient=True)
    cluster = dump(name)

    assert (read.objects, read.others) == (again.objects, again.others)
    assert len(read.objects) == len(cluster.world.log.objects)
    assert () == read.others


@pytest.mark.parametrize("name", ["shop", "storage"])
@pytest.mark.parametrize("kind", [kind.plural for kind in KINDS])
def test_every_kind_is_listed_and_described(name, kind):
    """Each modelled kind has a table of all its objects, wide and with labels, and a description that names them."""
    cluster = dump(name)
    names = [obj.metadata.name for obj in cluster.objects(kind)]
    listed = cluster.get(kind, all_namespaces=True, wide=True, show_labels=True)

    unwritten = 5 * (kind == "namespaces")  # those of every cluster, and demo, which objects are in
    assert len(names) == len(listed) - unwritten
    assert not names or "LABELS" == listed.columns[-1]
    for obj in cluster.objects(kind)[:3]:
        said = repr(describe(cluster, kind, obj.metadata.name, obj.metadata.namespace or "default"))
        assert said.startswith("Name:")
        assert obj.metadata.name in said.splitlines()[0]


def test_ages_are_counted_to_the_newest_time_of_a_dump():
    """Nothing is `<invalid>`; what a run adds is younger than the dump; another moment can be named."""
    cluster = dump().fork()
    before = {row[0]: row[4] for row in cluster.get("pods", "demo").rows}
    cluster.apply("{apiVersion: v1, kind: Pod, metadata: {name: new, namespace: demo}, "
                  "spec: {containers: [{name: c, image: c}]}}")
    cluster.run("pod/demo/new Running")
    after = {row[0]: row[4] for row in cluster.get("pods", "demo").rows}
    later = cluster.get("pods", "demo", name="cache-0", now=datetime(2026, 11, 23, 15, 10, tzinfo=UTC))

    assert datetime(2026, 11, 21, 15, 9, 59, tzinfo=UTC) == dump().world.date
    assert "15s" == before["cache-0"]
    assert "<invalid>" not in repr(cluster.get("pv,pvc,sc,nodes,events", all_namespaces=True))
    assert int(after["new"][:-1]) < int(after["cache-0"][:-1])
    assert "2d" == later.rows[0][4]
    assert cluster["pod/demo/new"].status.start_time.startswith("2026-11-21T15:")


# -- workloads and what stands beside them -------------------------------------------------------


def test_a_deployment_names_its_replica_sets():
    """The ReplicaSet of the current template is the new one; counts, strategy and conditions come from the status."""
    said = repr(describe(dump(), "deploy", "web", "demo"))

    assert "Replicas:               6 desired | 6 updated | 6 total | 6 available | 0 unavailable" in said
    assert "OldReplicaSets:  <none>\nNewReplicaSet:   web-74498777f9 (6/6 replicas created)" in said
    assert "RollingUpdateStrategy:  25% max unavailable, 25% max surge" in said
    assert "Controlled By:  Deployment/web" in repr(describe(dump(), "rs/demo/web-74498777f9"))


OTHERS = """
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app: web}
  type: NodePort
  clusterIP: 10.0.0.9
  sessionAffinity: None
  ports: [{name: http, port: 80, targetPort: 8080, nodePort: 30080, protocol: TCP}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
status: {disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {nodeSelector: {disk: ssd}, containers: [{name: agent, image: agent:1}]}
status: {desiredNumberScheduled: 3, currentNumberScheduled: 3, numberReady: 2, numberMisscheduled: 0}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
description: for what must run
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: csi-1, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {attacher: disks.example.com, nodeName: n0, source: {persistentVolumeName: disk}}
status: {attached: true}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web}}
spec: {nodeName: n0, containers: [{name: web, image: web}]}
status: {phase: Running, podIP: 10.1.0.7, conditions: [{type: Ready, status: "True"}]}
"""


@pytest.mark.parametrize(("reference", "lines"), [
    ("svc/shop/web", [
        "Type:                     NodePort", "Port:                     http  80/TCP", "TargetPort:               8080/TCP",
        "NodePort:                 http  30080/TCP", "Endpoints:                10.1.0.7:8080"]),
    ("pdb/shop/web", ["Min available:  2", "Selector:       app=web", "    Allowed disruptions:  1"]),
    ("ds/shop/agent", ["Node-Selector:  disk=ssd", "Desired Number of Nodes Scheduled: 3", "Number of Nodes Misscheduled: 0"]),
    ("pc/high", ["Value:             1000", "Description:       for what must run"]),
    ("volumeattachment/csi-1", ["Kind:         VolumeAttachment", "  Attacher:   disks.example.com"]),
])
def test_what_describe_says_of_other_kinds(reference, lines):
    """Services, budgets, daemon sets, priorities and attachments under kubectl's labels."""
    said = [" ".join(line.split()) for line in repr(describe(Cluster.from_manifests(OTHERS), reference)).splitlines()]

    assert [" ".join(line.split()) for line in lines if " ".join(line.split()) not in said] == []


@pytest.mark.parametrize(("change", "expected"), [
    (("type: NodePort", "type: LoadBalancer"), "<pending>"),
    (("type: NodePort", "type: LoadBalancer\n  externalIPs: [1.2.3.4]"), "1.2.3.4"),
    (("sessionAffinity: None", "externalIPs: [1.2.3.4, 1.2.3.5]"), "1.2.3.4,1.2.3.5"),
    (("type: NodePort", "type: ExternalName\n  externalName: db.example.com"), "db.example.com"),
])
def test_where_a_service_is_reached_from_outside(change, expected):
    """EXTERNAL-IP is the balancer's address and the given ones, the name, or what is awaited."""
    assert expected == Cluster.from_manifests(OTHERS.replace(*change)).get("svc", "shop").rows[0][3]


def test_several_kinds_are_tables_of_their_own():
    """`pods,sts` prefixes names with their kind; a kind with nothing in it is left out; `all` is what kubectl calls so."""
    cluster = dump()
    both = repr(cluster.get("sts,ds,deploy", "demo")).split("\n\n")

    assert ["statefulset.apps/cache", "deployment.apps/web"] == [table.splitlines()[1].split()[0] for table in both]
    assert "replicaset.apps/web-74498777f9" in repr(cluster.get("all", "demo"))
    assert "No resources found in demo namespace." == repr(cluster.get("ds,svc", "demo"))


def test_manifests_of_what_is_asked_for():
    """`-o yaml` and `-o json` are the objects, one alone or a List, and can be read again; `-o name` their names."""
    cluster = dump()
    one = manifest.read_plain(repr(cluster.get("pv", name="local-a1", output="yaml")))[0]
    several = json.loads(repr(cluster.get("pv", output="json")))

    assert ("PersistentVolume", "local-a1") == (one["kind"], one["metadata"]["name"])
    assert ("List", 6) == (several["kind"], len(several["items"]))
    assert 6 == len(manifest.read(repr(cluster.get("pv", output="yaml")), lenient=True).objects)
    assert "persistentvolume/local-a1\npersistentvolume/local-b1" == repr(cluster.get(
        "pv", name=["local-a1", "local-b1"], output="name"))


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ask", "words", "hint"), [
    (lambda c: c.get("llamas"), 'error: the server doesn\'t have a resource type "llamas"', "known: namespaces, nodes, "),
    (lambda c: c.get("pods", name="cache-0"), 'Error from server (NotFound): pods "cache-0" not found',
     "in namespace default; there is one in demo"),
    (lambda c: describe(c, "sc", "gp9"), 'Error from server (NotFound): storageclasses.storage.k8s.io "gp9" not found',
     "there are: ebs, fast, local"),
    (lambda c: describe(c, "sts/demo/none"), 'Error from server (NotFound): statefulsets.apps "none" not found',
     "there are: cache, db"),
])
def test_what_is_not_there_is_refused_in_kubectls_words(ask, words, hint):
    """Refusals use kubectl's words and list what exists."""
    with pytest.raises(ResourceNotFound) as refused:
        ask(dump())

    assert words == refused.value.words
    assert refused.value.hint.startswith(hint)
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize(("options", "words"), [
    ({"output": "xml"}, "unable to match a printer"),
    ({"name": "cache-0", "all_namespaces": True}, "a resource cannot be retrieved by name across all namespaces"),
])
def test_what_cannot_be_asked_together(options, words):
    """Options that kubectl does not take are refused as it does."""
    with pytest.raises(ValueError, match=words):
        dump().get("pods", **options)


# -- in a terminal -------------------------------------------------------------------------------


def test_get_in_a_terminal():
    """`kvolsched get DUMP… KIND [NAME]…` prints what the cluster's own `get` does; dumps come first, several are one."""
    cluster = dump()

    assert repr(cluster.get("pods", "demo", wide=True)) == told("get", SHOP, "pods", "-n", "demo", "-o", "wide")
    assert repr(cluster.get("pvc", all_namespaces=True)) == told("get", SHOP, "pvc", "-A")
    assert repr(cluster.get("nodes", name="node-a1", show_labels=True)) == told(
        "get", SHOP, "nodes", "node-a1", "--show-labels")
    assert "3h10m" in told("get", SHOP, "nodes", "--now", "2026-11-21T18:20:00Z")


def test_a_kind_is_a_kind_whatever_lies_beside(tmp_path, monkeypatch):
    """A folder that is called as a kind is no dump where a kind is asked for; several dumps are one cluster."""
    (tmp_path / "events").mkdir()
    monkeypatch.chdir(tmp_path)

    assert told("get", SHOP, "events", "-A").startswith("NAMESPACE   LAST SEEN")
    (tmp_path / "more.yaml").write_text(OTHERS, encoding="utf-8")
    assert "shop        web-0" in told("get", SHOP, "more.yaml", "pods", "-A")


def test_describe_in_a_terminal():
    """`kvolsched describe DUMP… KIND NAME` likewise; a name that begins with it will do."""
    said = repr(describe(dump(), "pod", "cache-2", "demo"))

    assert said == told("describe", SHOP, "pod", "cache-2", "-n", "demo")
    assert said == told("describe", SHOP, "pod/demo/cache-2")
    assert told("describe", SHOP, "pod", "cache", "-n", "demo").startswith("Name:         cache-0\n")


@pytest.mark.parametrize(("words", "code", "wrong"), [
    (("get", SHOP, "llamas"), 2, 'error: the server doesn\'t have a resource type "llamas"\nknown: '),
    (("describe", SHOP, "pod", "nobody", "-n", "demo"), 2, 'Error from server (NotFound): pods "nobody" not found\nthere '),
    (("get", SHOP, "pods"), 0, "No resources found in default namespace.\nOther namespaces have some: "),
    (("get", SHOP), 2, "name a kind"),
    (("get", "nowhere.yaml", "pods"), 2, "the first word must be a dump: 'nowhere.yaml' is no file or directory."),
    (("get", SHOP, "pods", "--now", "soon"), 2, "'soon' is not a time"),
])
def test_refusals_in_a_terminal(words, code, wrong):
    """Kubectl's words on stderr, what there is instead below, and an exit code; never a traceback."""
    found, said, stderr = call(*words)

    assert (code, "") == (found, said)
    assert wrong in stderr
    assert "Traceback" not in stderr

"""Fixes that are tried: who waits then, who owns a pod, which volumes and labels are proposed, no superfluous edit."""

from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from kvolsched import Cluster, incident, make
from kvolsched.api.kinds.meta import Frozen, ObjectMeta, OwnerReference
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.fix import Edit, Fix, ObjectChange, asking, edits_without, trials
from kvolsched.questions.fix.edit_search import FoundFix
from kvolsched.questions.fix.owners import owner_on_top

DUMPS = Path(__file__).parent.parent / "conformance" / "dumps"


@cache
def fixes(name, pod):
    """Search fixes in a recorded dump once."""
    return Cluster.from_manifests(DUMPS / f"{name}.yaml.gz").fix(pod)


def find(found, words):
    """Return the fix whose words begin like this."""
    return next(fix for fix in found if fix.words.startswith(words))


def test_a_tried_fix_says_where_the_pod_runs_and_that_nobody_else_waits():
    """A node more costs nobody its node: the pod runs, and every other pod is where it was."""
    tried = fixes("storage", "kafka-2")[0].try_it()

    assert ("node-a-more", "Running", True, True) == (tried.node, tried.phase, tried.helps, tried.is_idle)
    assert "demo/kafka-2 gets a node, and no other pod waits for it" == tried.headline
    assert "every other pod is where it would be without the fix" in repr(tried)


def test_who_waits_for_something_else_does_not_take_over_the_lack():
    """A pod that is made anew and now lacks another thing waits, and is not said to lack what the first one lacked."""
    cluster = Cluster.from_manifests([
        make.node("n1", "a", labels={"disk": "ssd"}, cpu="1"), make.deployment("other", nodeSelector={"disk": "ssd"})])
    cluster.run(steps=60)
    cluster.label("node/n1", "disk-")
    cluster.apply(make.pod("large", cpu="950m"))
    cluster.run(steps=60)
    other = next(pod for pod in cluster.objects("pods") if pod.spec.node_name)
    tried = cluster.fix("large")[0].asked.try_changes((ObjectChange(other, None),), "Move it away")

    assert (1, ()) == (len(tried.waits_now), tried.lack_moves_to)
    assert f"default/large gets a node, but {tried.waits_now[0].name} waits now" == tried.headline


def test_an_edit_that_only_moves_the_lack_says_so():
    """Deleting a pod of the StatefulSet frees its slot, and the pod that is made in its place lacks that slot."""
    cluster = Cluster.from_manifests(DUMPS / "storage.yaml.gz")
    found = fixes("storage", "kafka-2")[0]
    tried = found.asked.try_changes((ObjectChange(cluster["pod/demo/kafka-1"], None),), "Move demo/kafka-1 away")

    assert ("demo/kafka-1",) == tried.lack_moves_to == tuple(pod.name for pod in tried.waits_now)
    assert "it only moves the lack to demo/kafka-1" == tried.headline
    assert "2 of 2 volumes of ebs.example.com attached" in tried.waits_now[0].lack
    assert not [fix for fix in fixes("storage", "kafka-2") if "kafka-1" in fix.words]


def test_trying_a_fix_changes_neither_the_cluster_nor_the_next_trial():
    """The fork is another cluster, and starts where the fix was asked for, whatever has happened since."""
    cluster = Cluster.from_manifests(DUMPS / "storage.yaml.gz")
    found = cluster.fix("kafka-2")
    cluster.run()
    digest = cluster.digest()
    node_after = found[0].fork["pod/demo/kafka-2"].spec.node_name

    assert ("node-a-more", digest) == (node_after, cluster.digest())
    assert found[0].try_it() is found[0].try_it()


def test_a_fix_made_by_hand_has_no_cluster():
    """Only fixes that `fix` found can be tried."""
    with pytest.raises(ValueError, match="no cluster to try it on"):
        Fix("demo/web", (), (), "", asked=None).try_it()


STATIC = make.storage_class(provisioner="kubernetes.io/no-provisioner", waits=False)
CLAIMING = [STATIC, make.claim(size="8Gi"), make.pod("app", "data")]


@pytest.mark.parametrize(("zones", "others", "words", "proof", "fit"), [
    ("a", [make.pod("app", nodeSelector={"disk": "ssd"})], "Remove disk from nodeSelector", "then it fits n0", "n0"),
    ("ab", [make.pod("app", nodeSelector={"disk": "ssd"})], "Remove disk from nodeSelector", "then it fits every node", "n0 n1"),
    ("aab", [make.pod("app", nodeSelector={"disk": "ssd", make.ZONE: "a"})], "Remove disk from nodeSelector",
     "then it fits n0, n1", "n0 n1"),
    ("a", CLAIMING, "Add a volume data-more", "once its volumes are there it fits n0", "n0"),
    ("ab", CLAIMING, "Add a volume data-more", "once its volumes are there it fits every node", "n0 n1"),
    ("aab", [*CLAIMING, make.volume(size="5Gi", zone="a")], "Ask for 5Gi in claim data", "once its volumes are there it fits n0, n1",
     "n0 n1"),
    ("ab", [*CLAIMING[:2], make.pod("app", "data", nodeSelector={"disk": "ssd"})], "Add a volume data-more of 8Gi for claim data, and label",
     "once its volumes are there it fits n0", "n0"),
])  # fmt: skip
def test_fixes_of_a_large_cluster_are_judged_and_not_run(monkeypatch, zones, others, words, proof, fit):
    """Where a run takes long a fix says which nodes the plugins then let pass, at once or once there are volumes."""
    monkeypatch.setattr(trials, "LARGE", len(zones) + len(others))
    monkeypatch.setattr(trials.ForkWithFix, "run", lambda _fork: pytest.fail("it was run"))
    c = Cluster.from_manifests([*(make.node(f"n{number}", zone) for number, zone in enumerate(zones)), *others])
    fixes = c.fix("app")
    told = find(fixes, words)

    assert "judged by the plugins; in a large cluster `.try_it()` takes long, which runs one" == fixes.headline
    assert (proof, tuple(fit.split()), proof.endswith("every node")) == (told.proof, told.nodes, told.every)
    assert proof in repr(fixes)
    assert (repr(fixes), ["text/plain", "text/html"]) == ((cell := fixes._repr_mimebundle_())["text/plain"], list(cell))


def test_what_a_large_cluster_shows_only_in_a_run_is_not_told(monkeypatch):
    """A pod that is deleted holds its room until it has ended: that is no fix which the plugins can judge."""
    c = Cluster.from_manifests([make.node("n0"), make.pod("old", running_on="n0", cpu="3"), make.pod("app", cpu="2")])
    tried = [fix.words.partition(" (")[0] for fix in c.fix("app")]
    monkeypatch.setattr(trials, "LARGE", 3)

    assert ["Add a node", "Ask for 1 cpu instead of 2", "Delete default/old from n0: nobody creates pod/old again"] == tried
    assert tried[:2] == [fix.words.partition(" (")[0] for fix in c.fix("app")]


def test_a_cluster_with_an_object_less_is_not_large(monkeypatch):
    """Up to that number of objects a fix is run, and says so."""
    monkeypatch.setattr(trials, "LARGE", 3)
    fixes = Cluster.from_manifests([make.node("n0"), make.pod("app", nodeSelector={"disk": "ssd"})]).fix("app")

    assert "tried on a fork" in fixes.headline


SMALL = """
apiVersion: v1
kind: Node
metadata: {name: n0, labels: {kubernetes.io/hostname: n0}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""
POD = """
---
apiVersion: v1
kind: Pod
metadata: {{name: {0}}}
spec:
  containers: [{{name: c, image: web, resources: {{requests: {{cpu: "{1}"}}}}}}]
  {2}
"""


def test_a_pod_that_nobody_creates_again_is_gone():
    """A bare pod in the way is lost when it is deleted, which its fix says."""
    found = Cluster.from_manifests(SMALL + POD.format("old", 4, "nodeName: n0") + POD.format("web", 1, "")).fix("web")
    fix = find(found, "Delete default/old from n0: nobody creates pod/old again")

    assert ("default/old",) == fix.try_it().gone
    assert "default/web gets a node, but nobody creates default/old again" == fix.try_it().headline
    assert "works only because default/old is gone" in fix.tried


def test_a_pod_that_would_have_its_node_anyway_is_not_counted_for_a_fix():
    """Another pending pod that fits is placed with and without the fix: the fix has no effect on it."""
    found = Cluster.from_manifests(SMALL + POD.format("big", 5, "") + POD.format("tiny", "100m", "")).fix("big")
    tried = find(found, "Add a node").try_it()

    assert ((), (), True) == (tried.placed, tried.waits_now, tried.helps)
    assert "n0" == tried.cluster["pod/tiny"].spec.node_name


def test_the_rejections_that_a_fix_lifts():
    """A fix knows which plugin rejected its node and both sides; one of a new node has none."""
    found = fixes("storage", "kafka-2")

    machine = find(incident("attach-limit").play().fix("web-2"), "Use a machine").lifted
    assert [("NodeVolumeLimits", True)] == [(lifted.plugin, lifted.resolvable) for lifted in machine]
    assert "> limit 1" in machine[0].sides[0]
    assert ["NodeUnschedulable", "VolumeBinding"] == [lifted.plugin for lifted in find(found, "Free storage").lifted]
    assert () == find(found, "Add a node").lifted


def test_a_gated_pod_and_a_rejection_before_filtering():
    """The gates are a rejection without a node, and so is what rejects a pod before any node is looked at."""
    assert [("SchedulingGates", "")] == [(lifted.plugin, lifted.node) for lifted in fixes("shop", "nightly")[1].lifted]
    assert [("VolumeBinding", "")] == [(lifted.plugin, lifted.node) for lifted in fixes("shop", "batch")[0].lifted]


def test_the_owner_on_top():
    """The Deployment is named, also when its ReplicaSet was not loaded; a bare pod has none."""
    of = OwnerReference(kind="ReplicaSet", name="web-5d8f", controller=True)
    labels = Frozen({"pod-template-hash": "5d8f"})
    pod = Pod(metadata=ObjectMeta(name="web-5d8f-x", namespace="demo", labels=labels, owner_references=(of,)))

    assert "Deployment web" == str(owner_on_top(pod, {}))
    assert None is owner_on_top(Pod(), {})


def test_another_pod_of_a_job():
    """A pod of a Job can be made anew in spite of its finalizer; the Job must be, for its template does not change."""
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi"}, "spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1", "resources": {"requests": {"cpu": "5"}}}]}}}}
    c = Cluster.from_manifests([make.node("n1", cpu="4"), job])
    c.run()
    found = find(c.fix(c.objects("pods")[0].metadata.name), "Ask for 4 cpu instead of 5")
    assert "kubectl replace --force -f pi.yaml   # your own file, changed as in the diff" == found.do
    assert "n1" == found.try_it().node


@pytest.mark.parametrize(("name", "pod"), [("shop", "cache-2"), ("shop", "batch"), ("storage", "huge"), ("shop", "import")])
def test_a_volume_is_made_by_hand_only_where_no_driver_makes_it(name, pod):
    """No fix has a hostPath volume, and none has a volume in place of the driver's."""
    found = fixes(name, pod)

    assert (pod == "cache-2") == any("add volume" in fix.kinds for fix in found)
    assert not any("hostPath" in fix.diff for fix in found)


SPREAD = """topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone,
    whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"""
ZONED = SMALL.replace("hostname: n0", "hostname: n0, topology.kubernetes.io/zone: a") + "---" + SMALL.replace("n0", "n1")
CLASS = """
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: disks}}
provisioner: {0}
volumeBindingMode: WaitForFirstConsumer
{1}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data}}
spec: {{accessModes: [ReadWriteOnce], storageClassName: disks, resources: {{requests: {{storage: 20Gi}}}}}}
"""
USES = "volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"
IN_A = "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a]}]}]"
FREE = """
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 20Gi}
  storageClassName: disks
  csi: {driver: disks.example.com, volumeHandle: h}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
    {key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]}}
status: {phase: Available}
"""


@pytest.mark.parametrize(("manifests", "label"), [
    (ZONED + POD.format("full", 4, "nodeName: n0") + POD.format("web", 1, SPREAD), "Label n1 with its true topology.kubernetes.io/zone, such as a"),
    (SMALL + POD.format("web", 1, SPREAD), "Label n0 with its true topology.kubernetes.io/zone, such as zone-1"),
    (SMALL + CLASS.format("disks.example.com", IN_A) + POD.format("web", 1, USES), "Label n0 topology.kubernetes.io/zone=a"),
    (SMALL + CLASS.format("kubernetes.io/no-provisioner", "") + FREE + POD.format("web", 1, USES),
     "Label n0 topology.kubernetes.io/zone=a"),
])  # fmt: skip
def test_the_topology_key_that_a_node_lacks_is_proposed(manifests, label):
    """A spread, the topologies that a class allows, and a free volume: the nearest fix gives the node its domain."""
    found = Cluster.from_manifests(manifests).fix("web")

    assert label == found[0].words
    assert "only if n" in found[0].notes[0]


def test_every_edit_of_a_fix_is_needed():
    """A second claim beside a volume that would do alone is not offered."""
    found = Cluster.from_manifests(
        SMALL + CLASS.format("disks.example.com", IN_A) + POD.format("web", 1, USES)
    ).fix("web")

    assert [1] * len(found) == [len(fix.edits) for fix in found]


def test_leaving_out_one_edit_rebases_the_later_ones():
    """Two edits of one object that were made one after the other can be told apart again."""
    before = Pod(metadata=ObjectMeta(name="web", labels=Frozen({"a": "1"})))
    first = Pod(metadata=ObjectMeta(name="web", labels=Frozen({"a": "1", "b": "2"})))
    second = Pod(metadata=ObjectMeta(name="web", labels=Frozen({"b": "2", "c": "3"})))
    edits = (Edit("b", 1, (ObjectChange(before, first),), "relabel"), Edit("c", 1, (ObjectChange(first, second),), "relabel"))

    assert {"c": "3"} == dict(edits_without(edits, 0)[0].changes[0].new.metadata.labels)
    assert {"a": "1", "b": "2"} == dict(edits_without(edits, 1)[0].changes[0].new.metadata.labels)


def test_a_fix_whose_room_another_pod_takes_says_that_the_pod_still_waits():
    """The new node fits the pod, but one of higher priority that waits as well takes it first."""
    first = POD.format("vip", 4, "priority: 10\n  preemptionPolicy: Never")
    old = POD.format("old", 4, "nodeName: n0")
    found = Cluster.from_manifests(SMALL + old + first + POD.format("web", 4, "")).fix("web")

    assert not [fix for fix in found if "add node" in fix.kinds]
    assert "Add a node (4 cpu, 8Gi memory) (default/web still waits)" in found.refuted


def test_pods_that_a_fix_places_as_well_stand_in_order():
    """The others that get a node, and those that get another one, are told sorted by name."""
    c = Cluster.from_manifests([make.node("n1", unschedulable=True), *map(make.pod, ["app", "z", "a", "m"])])
    tried = c.fix("app")[0].try_it()

    assert ["default/a", "default/m", "default/z"] == [each.name for each in tried.placed]
    assert () == tried.moved


@pytest.mark.parametrize(("made", "proof"), [
    ([make.claim("data"), make.node("n2")], "once its volumes are there it fits n1"), ([make.node("n2")], None),
])
def test_a_fix_with_one_change_of_a_volume_waits_for_the_loop(made, proof):
    """Where no node fits at once, edits of which one is of a volume still count; edits without any do not."""
    edits = tuple(Edit(f"make {each['metadata']['name']}", 1, (ObjectChange(None, from_plain(each)),), "add node") for each in made)
    asked = SimpleNamespace(name="app", objects={}, fork_with=lambda _changes: SimpleNamespace(fits=()))
    found = asking._judged(asked, FoundFix(edits, ("n1",)))

    assert proof == (found and found.proof)


@pytest.mark.parametrize(("waiting", "said"), [
    ((), "db-0 runs on n1"), (("db-1",), "db-0 runs on n1; then db-1 waits"), (("db-1", "kv-1"), "db-0 runs on n1; then db-1 and kv-1 wait")])
def test_who_waits_next_is_told_of_a_trial(waiting, said):
    """One waits, several wait; without any nothing is said."""
    trial = SimpleNamespace(is_not_needed=False, node="n1", phase="Running", pod_then="db-0", waited=1, told_of_owner="", next=waiting, leaving=())
    assert said == Fix.tried.fget(SimpleNamespace(trial=trial))

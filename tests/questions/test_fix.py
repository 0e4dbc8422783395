"""Fixes of pending pods: each makes its pod schedulable, on recorded cases and on recorded dumps."""

import re
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest
from click.testing import CliRunner

from kvolsched import Cluster, incident, make
from kvolsched.api.kinds.meta import Frozen
from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.api.text.manifest import from_plain
from kvolsched.cli import main
from kvolsched.measure.conform import read
from kvolsched.questions.fix import TrialCluster, nodes, search
from kvolsched.questions.fix.add_volume import topology_labels
from kvolsched.questions.fix.edit import merge_changes
from kvolsched.rules.named import upstream
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.custom_plugin import custom_plugin
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.verdict import Code, PreFilterReject
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Key

RECORDED = Path(__file__).parent.parent / "conformance"
FAMILIES = (
    "fit", "spread", "static", "dynamic", "bound", "limits", "interpod", "preempt", "disrupt", "wide", "wide2", "mixed",
)
EVERY = 10  # of how many recorded cases one is searched here; `make test-long` searches all


@cache
def dump(name):
    """Load a recorded dump once; `fix` changes nothing."""
    return Cluster.from_manifests(RECORDED / "dumps" / f"{name}.yaml.gz")


@cache
def fixes_of(name, pod):
    """Search the fixes of a pod of a dump once."""
    return dump(name).fix(pod)


def stuck(family, every):
    """Yield (case, trial) of recorded cases in which our engine finds no node, of one in so many recorded without."""
    profile = upstream().profile
    recordings = read(RECORDED / f"{family}.jsonl.gz")
    without = (recorded for recorded in recordings if not recorded.case["expect"].get("feasible"))  # so in our engine
    for recorded in islice(without, every - 1, None, every):  # as `tests/measure/test_conform.py` holds
        case = recorded.case
        objects = [item for item in map(from_plain, case["objects"]) if not isinstance(item, Frozen)]
        pod = from_plain(case["pod"])
        trial = TrialCluster({key_of(item): item for item in (*objects, pod)}, key_of(pod), profile)
        judgement = trial.judge()
        if judgement.nodes and not judgement.any_feasible:
            yield recorded.id, trial


def searched(family, every):
    """Search cases, check every fix on a fresh snapshot, and yield (case, found, unmet)."""
    for name, trial in stuck(family, every):
        before = dict(trial.objects)
        result = search(trial)
        assert before == trial.objects, f"{name}: a trial was not taken back"
        for fix in result.found:
            objects = dict(before)
            for edit in fix.edits:
                for change in (*edit.changes, *edit.expected):
                    if change.new is None:
                        del objects[change.key]
                    else:
                        objects[change.key] = change.new
            pod = objects[trial.key]
            seen = snapshot(item for item in objects.values() if item is not pod)
            judgement = judge(pod, seen, trial.profile)
            assert fix.nodes == judgement.feasible, (name, [edit.words for edit in fix.edits])
            assert judgement.any_feasible, (name, [edit.words for edit in fix.edits])
        yield name, result.found, result.unmet


def told_share(every):
    """Search all families and print how many cases have no fix, and what they lack."""
    total, without = 0, []
    for family in FAMILIES:
        for name, found, unmet in searched(family, every):
            total += 1
            if not found:
                without.append(f"{name}: {'; '.join(demand.words for demand in unmet) or 'no three edits together'}")
    print(f"{len(without)} of {total} stuck cases have no fix in the catalogue")
    print("\n".join(without))
    return total, len(without)


def test_every_fix_makes_the_pod_schedulable(capsys):
    """Each fix of a tenth of the recorded stuck cases holds when judged again; few cases have none."""
    total, without = told_share(EVERY)

    with capsys.disabled():
        print(f"\n{capsys.readouterr().out.splitlines()[0]} (one case of {EVERY} searched)")
    assert total > 70
    assert without <= 3


@pytest.mark.long
def test_every_fix_of_every_case():
    """Each fix of all recorded stuck cases holds when judged again."""
    total, without = told_share(1)

    assert without / total < 0.01


STUCK_IN_DUMPS = [
    ("shop", "reports", "Change nodeSelector topology.kubernetes.io/zone from zone-c to zone-a"),
    ("shop", "trainer", "Add a node (4 cpu, 16Gi memory)"),
    ("shop", "cache-2", "Add a volume data-cache-2-more of 8Gi that node-a2 reaches for claim data-cache-2"),
    ("shop", "import", "Create the claim imports, 1Gi of class ebs"),
    ("shop", "batch", "Use class ebs in claim scratch, not gp9"),
    ("shop", "nightly", "Wait for the controller that removes the gate example.com/quota, or ask it"),
    ("storage", "kafka-2", "Add a node in zone zone-a (4 cpu, 16Gi memory)"),
    ("storage", "b-only", "Uncordon node-c, and use a new claim b-only-wait of the existing class ebs"),
    ("storage", "archive", "Bring node-z back WITH ITS DISK"),
    ("storage", "huge", (
        "Free storage or add disks for 500Gi of class ebs where topology.kubernetes.io/zone=zone-c, and uncordon node-c")),
    ("storage", "named", (  # a volume of the class's driver counts towards the attach limit of node-a
        "Add a volume missing-volume of 5Gi for claim named, and uncordon node-c")),
]


@pytest.mark.parametrize(("name", "pod", "nearest"), STUCK_IN_DUMPS)
def test_the_first_fix_of_a_recorded_dump(name, pod, nearest):
    """The first fix is the expected one; in the fork with the first that changes anything the pod is on a node."""
    cluster = dump(name)
    digest = cluster.digest()
    fixes = fixes_of(name, pod)
    first = next(fix for fix in fixes if fix.attempt)

    assert nearest == fixes[0].words
    assert first.fork[f"pod/demo/{pod}"].spec.node_name in first.nodes
    assert digest == cluster.digest()


@pytest.mark.parametrize(("name", "pod"), [(name, pod) for name, pod, _ in STUCK_IN_DUMPS])
def test_each_fix_can_be_applied(name, pod):
    """A user can make each of the fixes, and the pod then gets a node; a workload that is scaled no longer makes it."""
    for fix in (fix for fix in fixes_of(name, pod) if fix.changes and not fix.acts and fix.kinds != ("scale down",)):
        mine = dump(name).fork("mine")
        fix.apply(mine)
        mine.run(f"pod/demo/{pod} scheduled", steps=2_000)

        assert mine[f"pod/demo/{pod}"].spec.node_name, fix.words


def test_fixes_that_do_not_hold_are_not_told():
    """An edit that is refused on the fork is no fix, and the answer tells the refusal."""
    fixes = Cluster.from_manifests(STUCK.replace("image: web, ", "")).fix("web")

    assert all(not change.recreate for fix in fixes for change in fix.changes)


def test_a_fix_is_shown_as_a_diff():
    """A fix prints as a unified diff of manifests, with a note where a pod must be created again."""
    lines = dump("shop").fix("reports")[0].diff.splitlines()

    assert ["--- a/demo/pod/reports.yaml", "+++ b/demo/pod/reports.yaml  (delete it and create it again)"] == lines[:2]
    assert ["-    topology.kubernetes.io/zone: zone-c", "+    topology.kubernetes.io/zone: zone-a"] == [
        line for line in lines[2:] if line[0] in "+-"
    ]


def test_nothing_to_fix():
    """A pod with a node needs no fix."""
    fixes = dump("shop").fix("cache-0")

    assert (0, True) == (len(fixes), fixes.headline.startswith("nothing to fix: "))


STUCK = """
apiVersion: v1
kind: Node
metadata: {name: n0, labels: {disk: hdd, kubernetes.io/hostname: n0}}
spec: {taints: [{key: gpu, value: "yes", effect: NoSchedule}], unschedulable: true}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  nodeSelector: {disk: ssd}
  containers: [{name: c, image: web, resources: {requests: {cpu: "1"}}}]
"""


def test_a_preference_over_another_label_does_not_hide_a_larger_max_skew():
    """Nodes without the label of a soft constraint still say which maxSkew the hard one needs."""
    hard = {"topologyKey": ZONE_LABEL, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}}}
    soft = {**hard, "topologyKey": "rack", "whenUnsatisfiable": "ScheduleAnyway"}
    web = partial(make.pod, labels={"app": "web"}, topologySpreadConstraints=[hard, soft])
    cluster = Cluster.from_manifests([make.node("a", "a"), make.node("b", "b", taints=["closed"]),
                                      web("first", node_name="a"), web("second")])  # fmt: skip
    cluster.run()

    assert f"Set maxSkew: 2 for {ZONE_LABEL} instead of 1" in [found.words for found in cluster.fix("second")]


@pytest.mark.parametrize(("limit", "counted", "offered"), [
    (1, 1, True), (1, 2, False), (2, 1, False), (3, 5, True), (3, 6, False)])
def test_max_skew_is_raised_to_what_is_needed_and_at_most_doubled(limit, counted, offered):
    """A constraint that would have to be more than twice as wide is rather made soft; one that holds is left alone."""
    web = partial(make.pod, labels={"app": "web"})
    waits = web("web", cpu="500m", topologySpreadConstraints=[make.spread(app="web") | {"maxSkew": limit}])
    cluster = Cluster.from_manifests([make.node("a1", "a"), make.node("b1", "b", cpu="100m"), waits,
                                      *(web(f"w{number}", running_on="a1", cpu="10m") for number in range(counted))])  # fmt: skip
    words = f"Set maxSkew: {counted + 1} for {ZONE_LABEL} instead of {limit}"

    assert offered == (words in [found.words for found in cluster.fix("web")])
    assert 1 >= sum("raise maxSkew" in found.kinds for found in cluster.fix("web"))


def found_for(manifests):
    """Return what the search finds for the pod web."""
    cluster = Cluster.from_manifests(manifests)
    objects = {key_of(item): item for item in cluster.loaded_manifests.objects}
    return search(TrialCluster(objects, key_of(cluster["pod/web"]), upstream().profile)).found


def test_several_edits_together():
    """One node on which three demands fail: the fixes add a node, or lift all three; none does more than another."""
    fixes = Cluster.from_manifests(STUCK).fix("web")

    assert "Add a node (4 cpu, 8Gi memory; disk=ssd; without taints)" == fixes[0].words
    assert {1, 2, 3} == {len(fix.edits) for fix in found_for(STUCK)}
    assert {1, 3} == {len(fix.edits) for fix in fixes}


def test_merging_edits_of_one_object():
    """Two edits of one node are merged to one change."""
    several = next(fix for fix in found_for(STUCK) if len(fix.edits) == 3)

    assert len(merge_changes(several.edits)) <= 2


def test_a_case_without_a_fix_says_what_cannot_be_met():
    """A custom plugin rejects every node: the answer says that no edit helps."""
    rules = upstream()
    fixes = Cluster.from_manifests(
        STUCK, revision=attrs.evolve(rules, profile=rules.profile.with_plugin(custom_plugin(never, None, "Never")))
    ).fix("web")

    assert ("no edit of the catalogue lifts any of these:", 0) == (fixes.headline, len(fixes))
    assert "Never rejects the node" in "".join(fixes.unmet)


def never(pod, node, seen):
    """node(s) were never right."""
    return False


def test_the_claim_of_an_ephemeral_volume_that_is_anothers():
    """The claim is deleted and created as the pod's."""
    claim = """
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: web-scratch, namespace: default, uid: other}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
    volume = """
  volumes:
  - name: scratch
    ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}
"""
    fits = STUCK.replace(", unschedulable: true", "").replace("disk: ssd", "disk: hdd").replace("NoSchedule", "PreferNoSchedule")
    fixes = Cluster.from_manifests(fits.rstrip() + volume + claim + RUNS.format("n0") + NO_ROOM_TOLD).fix("web")

    words = "Delete the claim web-scratch, which is not the pod's, and create the claim web-scratch as the pod's volume"
    assert f"{words} scratch describes it" == fixes[0].words
    assert ("n0",) == fixes[0].nodes


STORE = """
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disks, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: disks.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: disks.example.com}
spec: {storageCapacity: true}
"""
RUNS = """
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {{name: {0}}}
spec: {{drivers: [{{name: disks.example.com, nodeID: {0}, topologyKeys: [kubernetes.io/hostname]}}]}}
"""
NO_ROOM_TOLD = STORE.replace("storageCapacity: true", "storageCapacity: false")


def asks(*, limit, pool=""):
    """A pod with a claim, one node, and a driver that publishes capacity and an attach limit."""
    return Cluster.from_manifests(f"""
apiVersion: v1
kind: Node
metadata: {{name: n0, labels: {{kubernetes.io/hostname: n0, zone: z}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {{name: n0}}
spec: {{drivers: [{{name: disks.example.com, nodeID: n0, topologyKeys: [zone], allocatable: {{count: {limit}}}}}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: default}}
spec: {{accessModes: [ReadWriteOnce], storageClassName: disks, resources: {{requests: {{storage: 20Gi}}}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: default}}
spec:
  containers: [{{name: c, image: web}}]
  volumes: [{{name: v, persistentVolumeClaim: {{claimName: data}}}}]
{STORE}{pool}""")


POOL = """
---
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {name: pool, namespace: drivers}
storageClassName: disks
capacity: 5Gi
nodeTopology: {matchLabels: {zone: z}}
"""


@pytest.mark.parametrize(("limit", "pool", "words"), [
    (1, "", "Let disks.example.com publish the capacity of class disks"),
    (1, POOL, "Add disks for 20Gi of class disks where zone=z"),
    (1, POOL.replace("zone: z", "zone: y"), "Add disks for 20Gi of class disks where zone=z"),
    (0, POOL.replace("5Gi", "50Gi"), "Use a machine for n0 that attaches more: 1 volumes of disks.example.com instead of 0"),
])
def test_what_a_driver_reports_is_changed_by_its_owner(limit, pool, words):
    """More disks, a provisioner that publishes, a machine that attaches more: nobody edits what a driver reports."""
    fixes = asks(limit=limit, pool=pool).fix("web")
    found = next(fix for fix in fixes if fix.words == words)

    assert "" == found.diff
    assert "CSI" not in found.do
    assert all("n0" in fix.nodes or "n0-more" in fix.nodes for fix in fixes)


@pytest.mark.parametrize(("driver", "keys", "labels", "found"), [
    ("disks.example.com", ["zone"], {"zone": "z", "rack": "r"}, {"zone": "z"}),
    ("disks.example.com", ["rack", "zone"], {"zone": "z", "rack": "r"}, {"rack": "r", "zone": "z"}),
    ("disks.example.com", ["rack", "zone"], {"zone": "z"}, {"zone": "z"}),
    ("disks.example.com", ["rack"], {"zone": "z"}, {"kubernetes.io/hostname": "n0"}),
    ("disks.example.com", [], {"zone": "z"}, {"kubernetes.io/hostname": "n0"}),
    ("other.example.com", ["zone"], {"zone": "z"}, {"kubernetes.io/hostname": "n0"}),
    ("", ["zone"], {"zone": "z"}, {"kubernetes.io/hostname": "n0"}),
    ("disks.example.com", None, {"zone": "z"}, {"kubernetes.io/hostname": "n0"}),
])  # fmt: skip
def test_a_new_volume_lies_in_the_domain_by_which_its_driver_places(driver, keys, labels, found):
    """It gets the node's labels under the keys that the driver registered there; without any, the node's host name."""
    node, app = from_plain(make.node("n0", labels=labels)), from_plain(make.pod())
    registered = [] if keys is None else [from_plain(make.csi_node("n0", 9, "disks.example.com", topology_keys=keys))]
    trial = TrialCluster({key_of(each): each for each in (node, app, *registered)}, key_of(app), upstream().profile)

    assert found == topology_labels(node, driver, trial)
    assert {} == topology_labels(from_plain(make.node("n1") | {"metadata": {"name": "n1"}}), driver, trial)


def test_volumes_too_far_apart_are_asked_for_anew():
    """Two bound claims on different nodes: one edit replaces both."""
    far = "".join(f"""
---
apiVersion: v1
kind: Node
metadata: {{name: {node}, labels: {{kubernetes.io/hostname: {node}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
{RUNS.format(node)}---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: disk-{node}}}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {{storage: 1Gi}}
  storageClassName: disks
  claimRef: {{namespace: default, name: data-{node}, uid: of-{node}}}
  local: {{path: /mnt}}
  nodeAffinity:
    required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [{node}]}}]}}]}}
status: {{phase: Bound}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  {{name: data-{node}, namespace: default, uid: of-{node}, annotations: {{pv.kubernetes.io/bind-completed: "yes"}}}}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: disks
  volumeName: disk-{node}
  resources: {{requests: {{storage: 1Gi}}}}
status: {{phase: Bound}}
""" for node in ("n0", "n1")) + """
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  containers: [{name: c, image: web}]
  volumes:
  - {name: a, persistentVolumeClaim: {claimName: data-n0}}
  - {name: b, persistentVolumeClaim: {claimName: data-n1}}
"""
    fixes = Cluster.from_manifests(far + NO_ROOM_TOLD).fix("web")

    assert ["Use a new claim data-n0-wait of the existing class disks"] == [fix.words for fix in fixes]
    assert "EMPTY VOLUME: the files stay on disk-n0 (1Gi, Retain)" == fixes[0].data


def budget(name, allowed, app):
    """Return a budget of the pods of an app that allows so many disruptions now."""
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name, "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": app}}}, "status": {"disruptionsAllowed": allowed}}


def evictable(name, app, owner=""):
    """Return a pod that runs on n1, a ReplicaSet's or nobody's."""
    made = make.pod(name, running_on="n1", cpu="1", labels={"app": app})
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}] if owner else []
    return made | {"metadata": {**made["metadata"], "ownerReferences": owners}}


MOVED = "ReplicaSet web will create new ones, which need other nodes"


@pytest.mark.parametrize(("pods", "budgets", "words", "note"), [
    ([("db", "db")], [], "Delete default/db from n1: nobody creates pod/db again", ""),
    ([("db", "db")], [("b", 1, "db"), ("w", 1, "web")], "Delete default/db from n1: nobody creates pod/db again",
     "PodDisruptionBudget b allows 1"),
    ([("w1", "web", "web")], [], "Move default/w1 away from n1", MOVED),
    ([("w1", "web", "web")], [("b", 2, "web"), ("a", 1, "web")], "Move default/w1 away from n1",
     f"{MOVED}; PodDisruptionBudget a allows 1; PodDisruptionBudget b allows 2"),
    ([("w1", "web", "web"), ("w2", "web", "web")], [("b", 2, "web")], "Move default/w1, default/w2 away from n1",
     f"{MOVED}; PodDisruptionBudget b allows 2"),
    ([("w1", "web", "web"), ("db", "db")], [("b", 1, "db")],
     "Delete default/w1, default/db from n1: nobody creates pod/db again", f"{MOVED}; PodDisruptionBudget b allows 1"),
])  # fmt: skip
def test_pods_that_make_room_say_who_makes_them_again_and_which_budgets_allow_it(pods, budgets, words, note):
    """Each owner and each PodDisruptionBudget of the pods is said once; only those are deleted that nobody makes again."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "default", "uid": "web"},
             "spec": {"selector": {"matchLabels": {"app": "web"}}}}
    gone, app = [from_plain(evictable(*each)) for each in pods], from_plain(make.pod())
    others = map(from_plain, [make.node("n1"), owner, *(budget(*each) for each in budgets)])
    trial = TrialCluster({key_of(each): each for each in (app, *gone, *others)}, key_of(app), upstream().profile)

    assert (words, note) == attrs.astuple(nodes._moved(gone, trial), recurse=False, filter=attrs.filters.include("words", "note"))


def test_a_fix_that_deletes_a_pod_names_its_budget():
    """What a PodDisruptionBudget still allows stands among the notes of the fix."""
    c = Cluster.from_manifests([make.node("n1", cpu="2"), evictable("db", "db"), budget("b", 1, "db"), make.pod("app", cpu="2")])
    assert [("PodDisruptionBudget b allows 1",)] == [fix.notes for fix in c.fix("app") if fix.kinds == ("delete pods",)]


def test_the_command_line():
    """`kvolsched why DUMP --pod NS/NAME --fix` prints the reasons, and then the fixes."""
    done = CliRunner().invoke(main, ["why", str(RECORDED / "dumps" / "shop.yaml.gz"), "--pod", "demo/reports", "--fix"])

    assert 0 == done.exit_code, done.output
    assert repr(dump("shop").fix("demo/reports")).replace(" (`.apply(cluster)` applies it)", "") in done.output
    assert "`." not in done.output


@pytest.mark.parametrize(("name", "pod"), [("two-volumes-one-pool", "db"), ("largest-volume-is-smaller", "db-0")])
def test_a_fix_speaks_only_of_claims_that_are_there_or_that_it_creates(name, pod):
    """A volume for the copy of a claim is not told beside the volume for the claim itself."""
    fixes = incident(name).play().fix(pod)
    claims = {each.metadata.name for each in incident(name).play().objects("pvc")}

    for fix in fixes:
        made = {change.key.name for change in fix.changes if change.key.kind == "PersistentVolumeClaim"}
        named = set(re.findall(r"claim ([a-z0-9-]+)", fix.words))
        assert named <= claims | made, fix.words
    assert len({fix.words.replace("-wait", "") for fix in fixes}) == len(fixes)


def test_a_node_that_nobody_initialised_waits_for_the_cloud_controller():
    """The taint is no admission that a user takes away: the fix says who removes it, when, and where to look."""
    taint = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}
    cluster = Cluster.from_manifests([make.node("n1") | {"spec": {"taints": [taint]}}, make.pod("app")])
    cluster.run()
    edit, = cluster.fix("app")[0].edits

    assert "See why n1 is not initialised" == edit.words
    assert "the cloud controller, or what set the taint, removes it when the node is ready for pods" == edit.note
    assert edit.do.startswith("kubectl get pods -A -o wide | grep -i cloud   #")


@pytest.mark.parametrize("there", [1, 2, 3])
def test_a_new_node_has_a_name_that_no_other_has(there):
    """A copy of a node is called after it, with as many endings as it takes; its role labels are set in order."""
    roles = {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/gpu": ""}
    names = ["n1" + "-more" * number for number in range(there)]
    trial = trial_of([*(make.node(name, cpu="1") for name in names), make.pod("app", cpu="2", nodeSelector=roles)])
    edit, = nodes.add_node(trial, [trial.get("Node", "n1")])

    assert ["n1" + "-more" * there] == [change.new.metadata.name for change in edit.changes]
    assert "Add a node (at least 2 cpu allocatable, 64Gi memory; node-role.kubernetes.io/gpu=; node-role.kubernetes.io/worker=)" == edit.words
    assert ["gpu=", "worker="] == re.findall("NAME node-role.kubernetes.io/([a-z]+=)", edit.do)


@pytest.mark.parametrize(("about", "leaves"), [
    ({}, True), ({"priority": 0}, True), ({"priority": 1}, False), ({"namespace": "kube-system"}, False),
    ({"annotations": {"kubernetes.io/config.mirror": "x"}}, False),
])
def test_who_may_leave_for_another_pod(about, leaves):
    """A pod moves for another unless it is part of the system, a mirror of a file on its node, or above the other."""
    trial = trial_of([make.node("n1"), make.pod("other", running_on="n1", **about), make.pod("app", cpu="9")])

    assert leaves == nodes.may_leave(trial.get("Pod", "other", about.get("namespace", "default")), trial)


@pytest.mark.parametrize(("asked", "cost", "words"), [
    ("500", 1, "Ask for 500m cpu instead of 500"), ("1500m", 2, "Ask for 1 cpu instead of 1500m"),
])
def test_a_slip_of_the_unit_is_mended_before_a_request_is_lowered(asked, cost, words):
    """To write what was meant costs less than to ask for less than what was meant."""
    fixes = Cluster.from_manifests([make.node("n1", cpu="1"), make.pod("app", cpu=asked)]).fix("app")

    assert [(cost, words)] == [(edit.cost, edit.words) for fix in fixes for edit in fix.edits if edit.kind == "lower request"]


def test_a_plugin_of_the_readers_own_that_rejects_before_filtering_may_want_a_pod_gone():
    """Where another pod with the same claim is why a pod is rejected as a whole, its deletion is found, on whatever node it is."""
    def prefilter(pod, seen):
        users = (other for each in seen.all_nodes() for other in seen.pods_on(each.metadata.name))
        return PreFilterReject("OneUser", Code.UNSCHEDULABLE, "claim is in use") if any(other.claim_names() for other in users) else None

    trial = trial_of([make.node("n1"), make.node("n2"), make.claim("data", bound="disk"), make.volume("disk", bound="data"),
                      make.pod("old", "data", running_on="n2"), make.pod("app", "data")])  # fmt: skip
    profile = trial.profile.with_plugin(SimpleNamespace(name="OneUser", prefilter=prefilter))
    found = search(TrialCluster(trial.objects, trial.key, profile)).found

    assert [("Delete default/old from n2: nobody creates pod/old again",)] == [tuple(edit.words for edit in each.edits) for each in found]


def trial_of(manifests):
    """Return the trial cluster of the pod `app`."""
    objects = dict(Cluster.from_manifests(manifests).world.log.objects)
    return TrialCluster(objects, Key("Pod", "default", "app"), upstream().profile)


@pytest.mark.parametrize(("allowed", "edits"), [(0, 0), (1, 1)])
def test_no_machine_is_changed_whose_drain_a_budget_refuses(allowed, edits):
    """A budget that allows no disruption now refuses the drain; one that allows any does not."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "default", "uid": "web"},
             "spec": {"selector": {"matchLabels": {"app": "web"}}}}
    trial = trial_of([make.node("n1"), make.node("n2"), owner, evictable("w1", "web", "web"), budget("b", allowed, "web"), make.pod("app")])

    assert edits == len(list(nodes._machine("Use a larger machine", trial.get("Node", "n1"), (), trial)))

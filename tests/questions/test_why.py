"""Why a pod is pending: the requirements that exclude every node, exact on recorded cases; each state has an answer."""

import gzip
import json
import time
from functools import cache
from pathlib import Path

import attrs
import numpy as np
import pytest
from click.testing import CliRunner

from kvolsched import Cluster, incident, make, scenario
from kvolsched.api.notebook_output import IN_TERMINAL
from kvolsched.api.text.manifest import from_plain, read_plain
from kvolsched.cli import main
from kvolsched.measure.conform import judge_case, read
from kvolsched.questions.why import demands as why_demands
from kvolsched.questions.why import explain_judgement
from kvolsched.questions.why import table as why_table
from kvolsched.questions.why.asking import is_managed_by
from kvolsched.questions.why.claim_problems import describe_claim, volume_objections
from kvolsched.questions.why.demands import Demand, demands, group_nodes_by_demands, minimal_unsatisfiable_core
from kvolsched.questions.why.sentences import translate_older_words
from kvolsched.rules.named import upstream
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.evidence import Stated
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.verdict import OK, PreFilterResult, Reason
from kvolsched.world.log import Key

RECORDED = Path(__file__).parent.parent / "conformance"
SCHEDULER = (
    "fit", "spread", "static", "dynamic", "bound", "limits", "interpod", "preempt", "disrupt", "wide", "wide2", "mixed",
)


@cache
def dump(name):
    """Load a recorded dump once; `why` changes nothing."""
    return Cluster.from_manifests(RECORDED / "dumps" / f"{name}.yaml.gz")


def stuck(family):
    """Give (case, judgement) of every recorded case in which our engine finds no node."""
    profile = upstream().profile
    for recorded in read(RECORDED / f"{family}.jsonl.gz"):
        judgement = judge_case(recorded.case, profile)
        if judgement.nodes and not judgement.any_feasible:
            yield recorded.id, judgement


@pytest.mark.parametrize("family", SCHEDULER)
def test_the_set_is_unsatisfiable_and_minimal(family):
    """On every node some demand of the core fails, and each is the only one that fails on some node."""
    for name, judgement in stuck(family):
        chosen = minimal_unsatisfiable_core(demands(judgement), "")
        patterns = [group.failing for group in group_nodes_by_demands(chosen, ())]

        assert all(patterns), name
        assert patterns, name
        alone = {pattern[0] for pattern in patterns if len(pattern) == 1}
        assert set(range(len(chosen))) == alone, (name, chosen)


@pytest.mark.parametrize("family", SCHEDULER)
def test_demands_say_what_the_plugins_say(family):
    """The demands that fail on a node are those of exactly the plugins that reject it."""
    for name, judgement in stuck(family):
        found = demands(judgement)
        if judgement.rejected_by is not None:
            assert ["before filtering"] == [demand.sort for demand in found], name
            continue
        outside = {restriction.plugin: restriction.names for restriction in judgement.restrictions}
        for group in group_nodes_by_demands(found, judgement.nodes):
            for node in group.nodes:
                expected = {
                    plugin
                    for index, plugin in enumerate(judgement.plugins)
                    if judgement.codes[index][judgement.nodes.index(node)]
                    or node not in outside.get(plugin, {node})
                }
                assert expected == {found[index].plugin for index in group.failing}, (name, node)


@pytest.mark.parametrize("family", ["mixed", "wide2"])
def test_every_case_can_be_told(family):
    """Each recorded case gets a text, every node is in one row and one column, and clauses count their columns."""
    for name, judgement in stuck(family):
        answer = explain_judgement(judgement, name, "upstream", "")

        assert answer.demands, name
        if judgement.rejected_by is None:
            assert sorted(judgement.nodes) == sorted(node for row in answer for node in row.nodes), name
        assert answer.sentence in repr(answer).replace("\n  ", " "), name
        if answer.groups:
            counted = {
                clause.number: sum(len(group.nodes) for group in answer.groups if clause.number in group.clauses)
                for clause in answer.clauses if not clause.preemption
            }
            assert {clause.number: clause.count for clause in answer.clauses if not clause.preemption} == counted, name
            assert sorted(judgement.nodes) == sorted(node for group in answer.groups for node in group.nodes), name
            assert all("first" in {cell.verdict for cell in group.cells} for group in answer.groups), name
            assert all(str(cell.sides) for group in answer.groups for cell in group.cells if cell.verdict != "passes"), name


def test_two_demands_together():
    """A volume in one zone and a selector for another zone: each fits some node, both together fit none."""
    answer = dump("shop").why("demo/reports")

    assert "unschedulable" == answer.state
    assert [("node selector", "topology.kubernetes.io/zone", 4), ("claim", "reports", 4)] == [
        (demand.sort, demand.about, demand.nodes) for demand in answer.demands
    ]
    clauses = {row.nodes: row.clause for row in answer}
    assert "topology.kubernetes.io/zone In [zone-a] does not match topology.kubernetes.io/zone=zone-c" in clauses[
        ("node-c1", "node-c2")]


def test_who_holds_what_is_short():
    """A shortage shows both sides, and the pods that hold the resource on the nearest nodes."""
    answer = dump("shop").why("trainer")

    assert [("request", "cpu", 6)] == [(demand.sort, demand.about, demand.nodes) for demand in answer.demands]
    assert "requests.cpu 3500m > allocatable 4 − requested 2200m = 1800m" in [row.clause for row in answer]
    nearest = answer.holdings[0]
    assert ("node-a2", "2500m", (("demo/web-74498777f9-x564x", "1500m"),)) == (nearest.node, nearest.free, nearest.pods)


def test_why_no_volume_serves():
    """A claim without a volume lists each volume of its class with the objections to it."""
    demand, = dump("shop").why("cache-2").demands

    assert "claim data-cache-2: volume local-a1: taken by claim demo/data-cache-1" in demand.details
    assert "claim data-cache-2: class local: nothing is provisioned, WaitForFirstConsumer" in demand.details


def test_a_released_volume_is_named_with_its_cure():
    """A volume that waits for nobody names the deleted claim that it still belongs to, and how it is freed."""
    found = incident("retained-volume-is-not-free").play()
    demand, = found.why("next").demands

    assert ("claim next: volume disk-1: Released: its claimRef names claim default/old-1, which was deleted; if its data "
            "may go, remove its spec.claimRef, and it is Available") in demand.details


def test_a_volume_of_a_claim_that_was_not_read_is_not_called_released():
    """A dump of one namespace lacks the claims of others: their volumes are taken."""
    found = incident("retained-volume-is-not-free").play().fork("read in part")
    found.patch("pv/disk-1", {"status": {"phase": "Bound"}}, subresource="status")
    demand, = found.why("next").demands

    assert "claim next: volume disk-1: taken by claim default/old-1" in demand.details


BLOCK, SELECTOR = {"volumeMode": "Block"}, {"matchLabels": {"tier": "gold"}}
DELETED = "Released: its claimRef names claim default/other, which was deleted"


@pytest.mark.parametrize(("asked", "made", "words"), [
    ({}, {}, "free"),
    ({}, {"zone": "a"}, "free, but only for nodes with topology.kubernetes.io/zone In [a]"),
    ({"size": "10737418241"}, {}, "too small, 10Gi < 10737418241"),
    ({}, {"size": "11Gi"}, "free"),
    ({}, {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "is being deleted"),
    ({}, BLOCK, "volumeMode Block ≠ Filesystem"),
    (BLOCK, {}, "volumeMode Filesystem ≠ Block"),
    (BLOCK, BLOCK, "free"),
    ({}, {"phase": "Pending"}, "its phase is Pending, not Available"), ({}, {"phase": ""}, "its phase is not given, not Available"),
    ({}, {"phase": "Released"}, "its phase is Released, not Available"),
    ({"selector": SELECTOR}, {}, "the claim's selector tier=gold does not match its labels"),
    ({"selector": SELECTOR}, {"labels": {"tier": "gold"}}, "free"),
    ({"accessModes": ["ReadWriteMany"]}, {}, "offers ReadWriteOnce, not ReadWriteMany"),
    ({"accessModes": ["ReadWriteOnce", "ReadOnlyMany"]}, {}, "offers ReadWriteOnce, not ReadWriteOnce+ReadOnlyMany"),
    ({"storage_class": "slow"}, {}, "class late ≠ slow"),
    ({"storage_class": ""}, {}, "class late ≠ none"),
    ({}, {"storage_class": ""}, "class none ≠ late"),
    ({"storage_class": "slow"}, {"size": "1Gi", "phase": "Failed"},
     "too small, 1Gi < 10Gi, its phase is Failed, not Available, class late ≠ slow"),
    ({}, {"claim": "data"}, "reserved for this claim, which takes no other"),
    ({"selector": SELECTOR, "accessModes": ["ReadWriteMany"]}, {"claim": "data", "phase": "Bound"},
     "reserved for this claim, which takes no other"),
    ({}, {"claim": "data", "zone": "a"},
     "reserved for this claim, which takes no other, but only for nodes with topology.kubernetes.io/zone In [a]"),
    ({}, {"claim": "data", "size": "1Gi"}, "too small, 1Gi < 10Gi"),
    ({}, {"claim": "other"}, "taken by claim default/other"),
    ({}, {"claim": "other", "phase": "Released"},
     f"{DELETED}; if its data may go, remove its spec.claimRef, and it is Available"),
    ({}, {"claim": "other", "phase": "Released", "policy": "Delete"}, f"{DELETED}; it will be deleted, too"),
])  # fmt: skip
def test_each_objection_to_a_volume_is_said(asked, made, words):
    """All of size, deletion, mode, phase, selector, access modes and class; a volume reserved for the claim has few."""
    deleted = {each: made[each] for each in made if each == "deletionTimestamp"}
    plain = make.volume("disk", **{each: made[each] for each in made if each not in deleted})
    volume = from_plain(plain | {"metadata": plain["metadata"] | deleted})

    assert words == volume_objections(from_plain(make.claim("data", **asked)), volume, snapshot([]))


CAUSES = [
    # dump, pod, the sort and subject of each requirement of the core, and a detail
    ("shop", "cache-2", ["claim:data-cache-2"], "claim data-cache-2: volume local-b1: taken by claim demo/data-cache-0"),
    ("shop", "reports", ["node selector:topology.kubernetes.io/zone", "claim:reports"], ""),
    ("shop", "import", ["before filtering:"], "claim imports does not exist in namespace demo"),
    ("shop", "trainer", ["request:cpu"], ""),
    ("shop", "batch", ["before filtering:"], "claim scratch: class gp9 does not exist"),
    ("shop", "nightly", [], ""),
    ("storage", "kafka-2", ["taint:dedicated", "claim:data-kafka-2", "claim:data-kafka-2"],
     "claim data-kafka-2: capacity for class ebs where topology.kubernetes.io/zone=zone-c: 15Gi at most, too little for 20Gi"),
    ("storage", "b-only", ["claim:b-only", "taint:dedicated"],
     "claim b-only: class ebs-b allows only topology.kubernetes.io/zone In [zone-b]"),
    ("storage", "archive", ["claim:archive"],
     "claim archive: volume gone is reached only from node node-z, which does not exist (any more)"),
    ("storage", "huge", ["claim:huge"],
     "claim huge: capacity for class ebs where topology.kubernetes.io/zone=zone-b: 100Gi at most, too little for 500Gi"),
    ("storage", "named", ["before filtering:"],
     "claim named: it names volume missing-volume, which does not exist"),
]


@pytest.mark.parametrize(("name", "pod", "causes", "detail"), CAUSES)
def test_each_stuck_pod_of_two_recorded_clusters(name, pod, causes, detail):
    """Eleven pods that a real scheduler left pending: the core names the causes that were put into the clusters."""
    answer = dump(name).why(f"demo/{pod}")

    assert causes == [f"{demand.sort}:{demand.about}" for demand in answer.demands]
    assert detail in ["", *(detail for demand in answer.demands for detail in demand.details)]
    assert answer.line.startswith(f"demo/{pod}: ")


def test_the_limit_the_taint_and_the_room_of_one_pod():
    """Three demands, one per node; of cores of equal size the one that the pod's condition names is chosen."""
    answer = dump("storage").why("kafka-2")

    assert ["TaintToleration", "NodeVolumeLimits", "VolumeBinding"] == [demand.plugin for demand in answer.demands]
    assert "2 volumes of ebs.example.com attached + 1 new > limit 2" in [row.clause for row in answer]


def test_the_volume_of_a_node_that_is_gone():
    """The answer names the volume's node, although the cluster has no such node."""
    demand, = dump("storage").why("archive").demands

    assert "the node does not reach volume gone of claim archive (kubernetes.io/hostname In [node-z])" == demand.words


@pytest.mark.parametrize(("publishes", "sides"), [(True, "10Gi ≤ 50Gi"), (False, "")])
def test_room_is_compared_only_where_it_is_checked(publishes, sides):
    """Where a claim could be provisioned stands the room that is published, but for a driver whose capacity no plugin reads."""
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": make.DRIVER},
              "spec": {"storageCapacity": publishes}}
    pool = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": "pool", "namespace": "csi"},
            "storageClassName": "late", "capacity": "50Gi", "nodeTopology": {"matchLabels": {make.ZONE: "a"}}}
    only_a = make.storage_class(allowed=[{make.ZONE: ["a"]}])
    answer = Cluster.from_manifests([make.node("a", "a", cpu="1"), make.node("b", "b"), only_a, driver, pool, make.claim(),
                                     make.pod("app", "data", cpu="2")]).why("app")  # fmt: skip
    cells = {group.nodes: [(cell.verdict, str(cell.sides)) for cell in group.cells] for group in answer.groups}

    assert {("a",): [("first", "2 > 1"), ("passes", sides)], ("b",): [("passes", "2 ≤ 4"), ("first", "b not in [a]")]} == cells


def test_rejections_that_differ_in_names_alone_are_one_kind():
    """Pods that lack different claims wait for one cause: what is quoted in a rejection is a name."""
    waiting = [make.pod(name, claim) for name, claim in (("p1", "x"), ("p2", "y"), ("p3", "x"))]
    answers = Cluster.from_manifests([make.node("n"), *waiting, make.pod("p4", nodeSelector={"disk": "ssd"})]).why()
    judged = [judge(from_plain(pod), snapshot([from_plain(make.node("n"))]), upstream().profile) for pod in waiting]

    assert [("default/p1", "default/p2", "default/p3"), ("default/p4",)] == [cause.pods for cause in answers.causes]
    assert {"persistentvolumeclaim NAME not found"} == {demand.kind for each in judged for demand in demands(each)}


@pytest.mark.parametrize(("pod", "detail"), [
    ("batch", "claim scratch: class gp9 does not exist"),
    ("import", "claim imports does not exist in namespace demo"),
])
def test_rejected_before_filtering(pod, detail):
    """A rejection before filtering is a single demand, and its `not found` is explained."""
    answer = dump("shop").why(pod)

    assert ["before filtering"] == [demand.sort for demand in answer.demands]
    assert detail in answer.demands[0].details
    assert answer.sentence.endswith(". not found")
    assert any("“not found” means nothing" in note for note in answer.notes)


def test_a_claim_that_names_a_missing_volume():
    """The answer names the rejected claim and the volume that it lacks."""
    demand, = dump("storage").why("named").demands

    assert "claim named: it names volume missing-volume, which does not exist" in demand.details


def test_other_states_have_answers_of_their_own():
    """Gated, and already on a node: no list of failures."""
    gated, bound = dump("shop").why("nightly"), dump("shop").why("cache-0")

    assert ("gated", "bound") == (gated.state, bound.state)
    assert "[example.com/quota] must be removed first" in gated.headline
    assert "it is on node-b1, and Running" in bound.headline


POD = """
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers: [{name: c, resources: {requests: {cpu: "2"}}}]
"""
NODE = """
---
apiVersion: v1
kind: Node
metadata: {name: n0, labels: {kubernetes.io/hostname: n0}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""


def test_not_tried_yet():
    """The answer says that a pod fits and was never tried."""
    answer = Cluster.from_manifests(POD + NODE).why("web")

    assert "fits" == answer.state
    assert "it has not been tried yet: 1 of 1 nodes would take it (n0)" in answer.headline


def test_no_nodes():
    """Without nodes there is nothing to list."""
    answer = Cluster.from_manifests(POD).why("shop/web")

    assert ("there are no nodes.", "no nodes available to schedule pods") == (answer.headline, answer.sentence)
    assert "no nodes" in repr(answer)


@pytest.mark.parametrize(("change", "state", "words"), [
    (("spec:", "spec:\n  schedulerName: volcano"), "not ours", "the scheduler volcano"),
    (("spec:", "status: {phase: Failed}\nspec:"), "ended", "it has ended (Failed)"),
    (("spec:", "spec:\n  nodeName: gone"), "bound", "a node that does not exist"),
    (("namespace: shop", "namespace: shop, deletionTimestamp: '2026-01-01T00:00:00Z'"), "leaving", "being deleted"),
])
def test_pods_that_wait_for_no_node(change, state, words):
    """A pod that is not pending gets its state as the answer."""
    answer = Cluster.from_manifests(POD.replace(*change) + NODE).why("web")

    assert state == answer.state
    assert words in answer.headline


CLAIM = """
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], storageClassName: slow, resources: {requests: {storage: 1Gi}}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: slow}
provisioner: pd.csi
volumeBindingMode: WaitForFirstConsumer
"""


def test_waiting_in_prebind():
    """A pod whose node is chosen waits for its volume: the claim, the next act, and the last event."""
    pod = POD.rstrip() + "\n  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n"
    cluster = Cluster.from_manifests(pod + CLAIM + NODE, components={"pd.csi": {"kind": "zonal", "delay": 50.0}})
    cluster.run(steps=12, seconds=5.0)

    answer = cluster.why("web")

    assert "waiting" == answer.state, answer
    assert any(note.startswith("claim data is Pending: pd.csi provisions a volume for node n0 next") for note in answer.notes)


def test_no_last_warning_is_promised_where_none_was_given():
    """A claim with events but without a warning ends with its last event."""
    cluster = scenario("a-disk-on-each-node", "place_first")
    cluster.run()

    [note] = cluster.why("two").notes

    assert note.endswith("last event: WaitForFirstConsumer: waiting for first consumer to be created before binding")


def test_unknown_pods_are_named():
    """The error about an unknown pod lists the pods without a node."""
    with pytest.raises(KeyError, match="these have no node: demo/batch, demo/cache-2"):
        dump("shop").why("demo/nobody")


def test_what_a_dump_cannot_tell():
    """An answer from a dump without volume attachments says what that hides."""
    answer = dump("shop").why("cache-2")

    assert any(words.startswith("no volumeattachments: ") for words in answer.missing)
    assert "volumeattachments" in repr(answer)


@pytest.mark.parametrize(("said", "today"), [
    ("0/3 nodes are available: 3 node(s) had volume node affinity conflict.", "didn't match PersistentVolume's node"),
    ("0/1 nodes are available: 1 node(s) had untolerated taint {a: b}.", "had untolerated taint(s)"),
    ("0/1 nodes are available: 1 node(s) didn't match node selector.", "node affinity/selector"),
])
def test_older_words_are_recognised(said, today):
    """Phrases of older releases are translated into today's."""
    words, = translate_older_words(said)

    assert today in words


def test_a_condition_that_counts_otherwise_shows_only_the_difference():
    """The note has the clauses of the pod's condition and ours that differ, not both sentences."""
    note = dump("storage").why("kafka-2").notes[-1]

    assert "otherwise: “1 node(s) did not have enough free storage” in place of “1 node(s) were unschedulable”" in note
    assert "exceed max volume count" not in note


class Odd:
    """A custom plugin: only nodes whose name ends in an odd digit."""

    name = "Odd"
    even = Reason(0, "node(s) were even")

    def rule(self, pod, node, seen):
        """The last digit is odd."""
        return OK if int(node.metadata.name[-1]) % 2 else self.even.reject(Stated(f"{node.metadata.name} is even"))


def test_a_plugin_of_ones_own():
    """An unknown plugin's reason becomes a demand."""
    rules = upstream()
    rules = attrs.evolve(rules, profile=rules.profile.with_plugin(Odd()))
    answer = Cluster.from_manifests(POD + NODE, revision=rules).why("web")

    assert [("Odd", "reason", 1)] == [(demand.plugin, demand.sort, demand.nodes) for demand in answer.demands]
    assert ["n0 is even"] == [row.clause for row in answer]


def carrying(name, node, label):
    """A pod on a node that must be away from pods with a label."""
    return f"""
---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop}}
spec:
  nodeName: {node}
  containers: [{{name: c}}]
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {{topologyKey: kubernetes.io/hostname, labelSelector: {{matchLabels: {label}}}}}
"""


def test_each_term_of_other_pods_is_a_demand():
    """Two placed pods exclude two nodes by two terms: each term names its pod."""
    cluster = Cluster.from_manifests(
        POD.replace("namespace: shop}", "namespace: shop, labels: {app: web, tier: front}}")
        + NODE + NODE.replace("n0", "n1") + carrying("a", "n0", "{app: web}") + carrying("b", "n1", "{tier: front}")
    )
    answer = cluster.why("shop/web")

    assert [
        ("objection", "podAntiAffinity of shop/a forbids pods with app=web per kubernetes.io/hostname, as this one is", 1),
        ("objection", "podAntiAffinity of shop/b forbids pods with tier=front per kubernetes.io/hostname, as this one is", 1),
    ] == [(demand.sort, demand.words, demand.nodes) for demand in answer.demands]


def test_long_names_of_nodes_leave_the_column_straight():
    """A name wider than the column gets a separate line."""
    long = "ip-10-0-113-201.eu-central-1.compute.internal"
    cluster = Cluster.from_manifests(
        POD.replace('"2"', '"9"') + NODE + NODE.replace("n0", long).replace('"4"', '"3"'))
    lines = repr(cluster.why("shop/web")).splitlines()
    start = lines.index("What fails first, node by node:") + 1

    assert f"  {long}" in lines[start:start + 3]
    assert {34 + 2} == {line.index("requests.cpu") for line in lines[start:start + 3] if "requests.cpu" in line}


def test_many_demands_are_still_minimal():
    """A core that is found greedily is minimal, too."""
    size = 24
    found = [
        Demand(plugin="P", sort="reason", about=str(index), words=str(index), fails=np.arange(size) == index) for index in range(size)
    ]

    assert size == len(minimal_unsatisfiable_core(found, ""))


def test_the_command_line(tmp_path):
    """`kvolsched why DUMP --pod NS/NAME` prints the answer, and errors are one line."""
    plain = tmp_path / "shop.yaml"
    plain.write_bytes(gzip.decompress((RECORDED / "dumps" / "shop.yaml.gz").read_bytes()))

    done = CliRunner().invoke(main, ["why", str(plain), "--pod", "demo/reports"])
    missing = CliRunner().invoke(main, ["why", str(plain), "--pod", "demo/nobody"])
    every = CliRunner().invoke(main, ["why", str(plain)])

    typed = IN_TERMINAL.set(True)
    try:
        told = repr(dump("shop").why("demo/reports"))
    finally:
        IN_TERMINAL.reset(typed)
    assert (0, told + "\n") == (done.exit_code, done.output)
    assert 2 == missing.exit_code
    assert missing.output.startswith("Error: no pod/demo/nobody; there are: ")
    assert repr(dump("shop").why()) + "\n" == every.output
    assert "demo/batch: class gp9 of claim scratch does not exist" == dump("shop").why()[0].line
    assert "6 pods wait for a node, for 6 causes" == every.output.splitlines()[0]


def test_pods_that_lack_alike_are_one_cause():
    """Pods of one cause share a line, whatever their claims are called; amounts become a range."""
    pod, = read_plain(POD)
    small, big = (json.loads(json.dumps(pod).replace('"2"', f'"{cpu}"')) for cpu in (5, 7))
    claims = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"db-{number}", "namespace": "shop"},
         "spec": {"containers": [{"name": "c"}],
                  "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": f"data-{number}"}}]}}
        for number in range(2)
    ]  # fmt: skip
    cluster = Cluster()
    cluster._load([from_plain(obj) for obj in (
        *read_plain(NODE), small, big | {"metadata": {"name": "web-1", "namespace": "shop"}},
        small | {"metadata": {"name": "web-2", "namespace": "shop"}}, *claims,
    )])  # fmt: skip

    answers = cluster.why()
    cpu, storage = answers.causes

    assert (("shop/web", "shop/web-1", "shop/web-2"), ("NodeResourcesFit",)) == (cpu.pods, cpu.plugins)
    assert ("Too little cpu", "5 … 7 > 4 left") == (cpu.title, cpu.sides)
    assert (("shop/db-0", "shop/db-1"), "The claim does not exist in namespace shop") == (storage.pods, storage.title)
    assert "5 pods wait for a node, for 2 causes" == answers.title
    assert [repr(cluster.why(answer.pod)) for answer in answers] == [repr(answer) for answer in answers]
    assert "No pod waits for a node." == repr(Cluster().why())


def test_a_workload_means_its_first_pending_pod():
    """`deploy/web` and `sts/db` are asked by their first pod without a node, and the headline says so."""
    cluster = Cluster.from_manifests([
        make.node("a", cpu="1"), make.deployment("web", replicas=2, cpu="4"), make.stateful_set("db", replicas=1),
    ])  # fmt: skip
    cluster.run()

    waiting, placed = cluster.why("deploy/web"), cluster.why("default/db-0")
    assert waiting.title.startswith("deploy/web, the first of its 2 pending pods: default/web-")
    assert waiting.title.endswith(": the pod asks for 4 cpu, and the only node, a, has 1")
    assert repr(waiting).replace("\n", " ").startswith(waiting.title)
    assert f"sts/db, none of its pods waits for a node: {placed.title}" == cluster.why("sts/db").title
    with pytest.raises(KeyError, match="these have no node: default/web-"):
        cluster.why("deploy/nobody")


def test_a_selector_and_a_volume_of_different_zones_are_said_in_one_sentence():
    """Two demands about zones are one sentence, with both sides of each."""
    cause = next(cause for cause in dump("shop").why().causes if cause.pods == ("demo/reports",))

    assert ("the pod selects topology.kubernetes.io/zone=zone-c and the volume of claim reports is in zone-a: "
            "no node meets both") == cause.title


def test_of_equal_sets_one_with_storage_is_preferred():
    """A cordon and a lack of storage on one node: the minimal set names the storage."""
    demands_of_node = [Demand(plugin="NodeUnschedulable", sort="cordon", about="", words="a"),
                        Demand(plugin="VolumeBinding", sort="claim", about="", words="b")]
    found = [attrs.evolve(demand, fails=np.ones(1, bool)) for demand in demands_of_node]

    assert ("VolumeBinding",) == tuple(demand.plugin for demand in minimal_unsatisfiable_core(found, ""))


def test_manifests_that_no_server_stored_are_no_dump():
    """What is missing is told of dumps, not of manifests that somebody wrote."""
    assert () == Cluster.from_manifests(POD.replace('"2"', '"9"') + NODE).why("web").missing


def test_five_thousand_nodes_in_a_second():
    """`why` on 5,000 nodes and 10,000 pods takes about a second, and one node stands for a large group."""
    node, = read_plain(NODE)
    pod, = read_plain(POD)
    objects = []
    for number in range(5_000):
        name = f"n{number:04}"
        objects.append(from_plain(node | {"metadata": {"name": name, "labels": {"zone": f"z{number % 3}"}}}))
        objects += [
            from_plain(pod | {"metadata": {"name": f"{name}-{k}"}, "spec": pod["spec"] | {"nodeName": name}})
            for k in range(2)
        ]
    objects.append(from_plain(pod))
    cluster = Cluster()
    cluster._load(objects)
    start = time.perf_counter()

    answer = cluster.why("web")

    taken = time.perf_counter() - start
    assert [("request", "cpu", 5_000)] == [(demand.sort, demand.about, demand.nodes) for demand in answer.demands]
    assert 1 == len(answer)
    assert taken < 5, f"{taken:.2f} s"  # 0.3 s on an idle machine


def test_a_claim_that_is_never_provisioned_says_what_its_provisioner_said():
    """A pod whose claim of an Immediate class stays unbound is told the provisioner's last warning about the claim."""
    c = Cluster.from_manifests(
        [make.node("n1"), make.storage_class("fast", "disk.example.com", waits=False), make.claim("data", "1Gi", "fast"),
         make.pod("web", "data")],
        components={"disk.example.com": {"fails": [{"times": None, "code": "Internal", "desc": "the array is on fire"}]}},
    )
    _ = c.run(seconds=30)
    [note] = [note for note in c.why("web").notes if note.startswith("claim data is Pending; last warning: ")]
    assert "the array is on fire" in note


@pytest.mark.parametrize(("there", "gone"), [("n1", ""), ("n2", ", which does not exist any more")])
def test_a_claim_of_a_chosen_node_says_whether_that_is_there(there, gone):
    """The volume comes for the chosen node alone; if nobody finds that node any more, this is said."""
    claim = make.claim(selected_node="n1")
    seen = snapshot([from_plain(make.node(there))])

    assert f"the scheduler selected node n1 for it{gone}: its volume is provisioned for that node alone" == next(
        describe_claim(from_plain(claim), seen))


def test_a_node_that_is_gone_is_named_only_where_the_volume_needs_it():
    """A volume that one node's name is kept out of lacks other nodes: the missing one is not said to be the way to it."""
    terms = [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["gone"]},
             {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z"]}]
    volume = make.volume("disk", bound="data", nodeAffinity={"required": {"nodeSelectorTerms": [{"matchExpressions": terms}]}})
    seen = snapshot(map(from_plain, [make.node("n1", "a"), volume]))

    assert ["no node reaches volume disk: kubernetes.io/hostname NotIn [gone] and topology.kubernetes.io/zone In [z]"] == list(
        describe_claim(from_plain(make.claim("data", bound="disk")), seen))


def test_a_workload_is_asked_about_beside_pods_whose_owner_is_gone():
    """A pod of a ReplicaSet that does not exist belongs to no workload; the workload's own pod is found."""
    orphan, mine = make.pod("orphan", cpu="9"), make.pod("mine", cpu="9")
    orphan["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "gone", "uid": "u1", "controller": True}]
    mine["metadata"]["ownerReferences"] = [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "web", "uid": "u2", "controller": True}]
    c = Cluster.from_manifests([make.node("n1"), orphan, mine])

    assert [False, True] == [is_managed_by(c, c[f"pod/{name}"], Key("Job", "default", "web")) for name in ("orphan", "mine")]


def test_a_core_of_very_many_demands_has_none_too_many():
    """Where too many sets would have to be tried, one demand after the other is left out: what stays is all needed."""
    assert [0] == why_demands._reduce_greedily([0, 1, 2], [frozenset({0, 1}), frozenset({0, 2})])
    assert [1, 2] == why_demands._reduce_greedily([1, 2, 0], [frozenset({0, 1}), frozenset({0, 2})])


def pinning(plugin, *nodes, **more):
    """Return a plugin that has PreFilter alone: it names nodes, and the others are left out."""
    return type(plugin, (), {"name": plugin, "prefilter": lambda *_: PreFilterResult(plugin, nodes), **more})()


def pinned_cluster(*plugins):
    """Return n1, which is too small for the pod app, n2 and n3, with such plugins in the scheduler's profile."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.node("n2"), make.node("n3"), make.pod("app", cpu="2")])
    for plugin in plugins:
        c = c.with_plugin(plugin)
    return c


def test_nodes_that_a_plugin_left_out_before_filtering_are_a_group():
    """A node that every plugin would take, but that a plugin left out before filtering, is rejected for that reason."""
    objects = [from_plain(each) for each in (make.node("n1", cpu="1"), make.node("n2"), make.pod("app", cpu="2"))]
    judgement = judge(objects[-1], snapshot(objects[:-1]), upstream().profile.with_plugin(pinning("Pinned", "n1")))

    assert [("NodeResourcesFit", ("Insufficient cpu",), ("n1",)),
            ("Pinned", ("not among the nodes that Pinned allows",), ("n2",))] == why_demands.group_nodes_by_first_rejection(judgement)


@pytest.mark.parametrize("filters", [{}, {"rule": lambda *_: OK}], ids=["prefilter alone", "with a filter"])
def test_a_plugin_that_leaves_nodes_out_before_filtering_is_a_demand(filters):
    """`why`, `fix` and the matrix name the plugin on the nodes that it left out, in kube-scheduler's count and in words."""
    c = pinned_cluster(pinning("Pinned", "n1", **filters))
    answer = c.why("app")
    cells = {group.nodes: [(cell.verdict, cell.clauses) for cell in group.cells] for group in answer.groups}
    c.run()

    assert answer.headline == "n2 and n3 are not among the nodes that Pinned allows; n1 lacks 1 cpu (1 of 1 left)"
    assert "1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [Pinned]." in answer.sentence
    assert [("Pinned", "left out", 2), ("NodeResourcesFit", "request", 1)] == [
        (demand.plugin, demand.sort, demand.nodes) for demand in answer.demands]
    assert [(("n2", "n3"), "not among the nodes that Pinned allows"),
            (("n1",), "requests.cpu 2 > allocatable 1 − requested 0 = 1")] == [(row.nodes, row.clause) for row in answer.rows]
    assert cells == {("n1",): [("passes", ()), ("first", (1,))], ("n2", "n3"): [("first", (2,)), ("passes", ())]}
    assert "Pinned + NodeResourcesFit: n2 and n3" in repr(c.why())
    assert [("n1",), ("n1",)] == [fix.nodes for fix in c.fix("app").fixes]
    table = repr(c.verdicts("app"))
    assert table.startswith("pass 1 of pod/app: 0 of 3 nodes fit")
    assert 2 == table.count("not asked: not among the nodes that Pinned allows")
    assert repr(c.verdicts("app", "n2", "NodeResourcesFit")) == "· NodeResourcesFit on n2: not asked"
    assert "· not asked" in c.lab().reading()


def test_a_plugin_that_names_no_node_there_is():
    """Every node is left out, one that is too small as well: it is filtered by nobody, and no fix is known."""
    c = pinned_cluster(pinning("Pinned", "n9"))
    answer = c.why("app")

    assert answer.headline == "all 3 nodes are not among the nodes that Pinned allows"
    assert answer.sentence.startswith("0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [Pinned].")
    assert [("n1", "n2", "n3")] == [row.nodes for row in answer.rows]
    assert {"Pinned"} == {group.first for group in answer.groups}
    assert "no edit of the catalogue lifts any of these:\n  • the node is not among" in repr(c.fix("app"))


def test_plugins_that_leave_no_node_reject_the_pod_before_filtering():
    """Where PreFilter plugins leave no node, v1.36.2 rejects the pod as a whole, and names them in order."""
    one, two = pinned_cluster(pinning("Pinned")), pinned_cluster(pinning("Pinned", "n2"), pinning("Other", "n3"))
    alone, both = "node(s) didn't satisfy plugin Pinned", "node(s) didn't satisfy plugin(s) [Other Pinned] simultaneously"

    assert [alone, both] == [c.why("app").headline for c in (one, two)]
    assert f"0/3 nodes are available: {alone}. not found" == one.why("app").sentence
    assert dict.fromkeys(("n1", "n2", "n3"), ("Other", both)) == two.fits("app").rejected
    assert "0 of 3 nodes fit" in repr(one.fits("app"))


def test_of_plugins_that_leave_nodes_out_each_answers_for_its_own():
    """Two plugins leave out different nodes: each node is told by the one that left it out."""
    c = pinned_cluster(pinning("Pinned", "n1", "n2"), pinning("Other", "n1", "n3"))

    assert [(("n1",), "NodeResourcesFit"), (("n2",), "Other"), (("n3",), "Pinned")] == [
        (row.nodes, row.plugin) for row in c.why("app").rows]
    assert {"n1": "NodeResourcesFit", "n2": "Other", "n3": "Pinned"} == {
        node: plugin for node, (plugin, *_) in c.fits("app").rejected.items()}


def test_several_pieces_of_evidence_are_told_one_after_the_other(monkeypatch):
    """A cell compares by the first of them, and has all of them as its evidence."""
    monkeypatch.setattr(why_table, "evidence_on", lambda *_: (Stated("a > 1"), Stated("b > 2")))

    assert "a > 1; b > 2" == why_table._sides_on(None, None, "n1").evidence

"""What `why` and `fix` say is true: each demand of a core judged by itself, each edit of a fix tried in the whole loop."""

from pathlib import Path

import pytest
from certificates import faults_of_core, faults_of_fixes
from hypothesis import HealthCheck, given, settings
from scheduler.strategies import company, spread, worlds
from scheduler.volume_strategies import disks
from stuck_clusters import HOST, POD, ZONE, manifest, stuck_clusters

from kvolsched import Cluster
from kvolsched.api.kinds.meta import Frozen
from kvolsched.api.kinds.pod import PreferredSchedulingTerm
from kvolsched.api.kinds.selector import NodeSelectorTerm, Requirement
from kvolsched.api.text.manifest import from_plain
from kvolsched.measure.conform import read
from kvolsched.questions.why.demands import demands, minimal_unsatisfiable_core
from kvolsched.rules.named import upstream
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.plugins.node_affinity import unreadable_preferences

RECORDED = Path(__file__).parent.parent / "conformance"
FAMILIES = (
    "fit", "spread", "static", "dynamic", "bound", "limits", "interpod", "preempt", "disrupt", "wide", "wide2", "mixed",
    "odd",
)
EVERY = 20  # of how many recorded cases one is judged here; `make test-long` judges all
EXAMPLES = settings.default.max_examples // 3  # generated clusters whose cores are judged; of some the fixes are tried
PROFILE = upstream().profile
LARGE = [HealthCheck.too_slow, HealthCheck.data_too_large]


def recorded(every, families=FAMILIES):
    """Yield (id, objects, pod) of recorded cases in which no node fits, one of so many."""
    for family in families:
        for one in read(RECORDED / f"{family}.jsonl.gz")[::every]:
            if not one.case["expect"].get("feasible"):
                yield one.id, one.case["objects"], one.case["pod"]


def core_faults(objects, pod):
    """Return what is wrong with the core of a pod that fits no node."""
    judgement = judge(pod, snapshot(objects), PROFILE)
    if judgement.any_feasible or judgement.error or not judgement.nodes:
        return []
    return list(faults_of_core(minimal_unsatisfiable_core(demands(judgement), ""), pod, objects, PROFILE))


def check_cores(every):
    """Judge recorded cores; return how many."""
    number = 0
    for name, plain, pod in recorded(every):
        objects = [obj for obj in map(from_plain, plain) if not isinstance(obj, Frozen)]
        assert [] == core_faults(objects, from_plain(pod)), name
        number += 1
    return number


def test_each_demand_of_a_recorded_core_fails_where_it_is_said_to():
    """Alone it rejects each of its nodes, together they reject all, and without any one of them a node is let through."""
    assert check_cores(EVERY) > 80


@pytest.mark.long
def test_each_demand_of_every_recorded_core():
    """The same of all recorded cases."""
    assert check_cores(1) > 1500


@pytest.mark.parametrize("strategy", [worlds, spread(), company(), disks()], ids=["all", "spread", "company", "disks"])
def test_each_demand_of_a_core_fails_where_it_is_said_to(strategy):
    """The same of generated clusters."""
    @settings(max_examples=EXAMPLES, suppress_health_check=LARGE)
    @given(strategy)
    def holds(world):
        objects, pod = world
        assert [] == core_faults(objects, pod)

    holds()


@settings(max_examples=EXAMPLES // 5, suppress_health_check=LARGE)
@given(stuck_clusters())
def test_each_fix_of_a_generated_cluster_holds(manifests):
    """Run till quiet, the pod has a node and its claims their volumes; nobody loses more than is told; each edit counts."""
    assert [] == list(faults_of_fixes(Cluster.from_manifests(manifests), POD))


def check_fixes(every, families=FAMILIES):
    """Try the fixes of recorded cases; return of how many cases."""
    number = 0
    for name, objects, pod in recorded(every, families):
        cluster = Cluster.from_manifests([*objects, pod])
        assert [] == list(faults_of_fixes(cluster, f"{pod['metadata']['namespace']}/{pod['metadata']['name']}")), name
        number += 1
    return number


def test_each_fix_of_a_recorded_case_holds():
    """The same of a few recorded cases."""
    assert check_fixes(EVERY * 3, ("fit", "static", "interpod")) >= 3


@pytest.mark.long
def test_each_fix_of_every_recorded_case_holds():
    """The same of recorded cases."""
    assert check_fixes(1) > 1500


# --- one of each kind that was once wrong ------------------------------------------------------------------------------


def near(*terms, field="podAffinity"):
    """Return required terms of an affinity, from (label app, topology key)."""
    parts = [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key} for app, key in terms]
    return {field: {"requiredDuringSchedulingIgnoredDuringExecution": parts}}


def node(name, zone="", cpu="4", **labels):
    """Return a node."""
    found = {HOST: name, **labels} | ({ZONE: zone} if zone else {})
    return manifest("Node", name, meta={"labels": found}, status={"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "9"}})


def pod(name, app, cpu="1", **spec):
    """Return a pod."""
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    return manifest("Pod", name, meta={"labels": {"app": app}}, spec={"containers": containers, **spec})


def test_a_term_that_is_met_is_not_blamed_for_what_another_pod_objects_to():
    """The pod is beside the pod that it wants; only that pod's anti-affinity keeps it out, on each node by another pod."""
    placed = [pod(f"e{number}", "db", nodeName=f"n{number}", affinity=near((app, HOST), field="podAntiAffinity"))
              for number, app in enumerate(("web", "web"))]  # fmt: skip
    placed.append(pod("e2", "db", nodeName="n0", affinity=near(("web", ZONE), field="podAntiAffinity")))
    answer = Cluster.from_manifests([node("n0", zone="a"), node("n1", zone="b"), *placed,
                                     pod("p", "web", affinity=near(("db", HOST)))]).why("p")  # fmt: skip

    assert {"objection"} == {demand.sort for demand in (*answer.demands, *answer.also)}
    order = [*answer.demands, *answer.also]
    told = {(demand.words.split()[2].strip(","), str(cell.sides)) for group in answer.groups
            for demand, cell in zip(order, group.cells, strict=True) if cell.verdict != "passes"}  # fmt: skip
    assert {("default/e0", "default/e0"), ("default/e0", "default/e1"), ("default/e2", "default/e2")} == told


def test_a_constraint_is_judged_where_another_one_misses_its_label():
    """A node whose zone is too full fails the spread over zones, also if it lacks the label of the other constraint."""
    constraints = [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": app}}} for key, app in (("rack", "none"), (ZONE, "web"))]  # fmt: skip
    full = [pod(f"e{number}", "web", nodeName="n0") for number in range(2)]
    empty = {**node("n2", "b", rack="r"), "spec": {"unschedulable": True}}
    answer = Cluster.from_manifests([node("n0", "a", rack="r"), node("n1", "a"), empty, *full,
                                     pod("p", "web", topologySpreadConstraints=constraints)]).why("p")  # fmt: skip

    assert [("spread", ZONE, 2), ("cordon", "", 1)] == [(each.sort, each.about, each.nodes) for each in answer.demands]


def waiting(annotated, **spec):
    """Return a class and a claim that waits for a consumer."""
    meta = {"annotations": {"volume.kubernetes.io/selected-node": "n0"}} if annotated else {}
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}, **spec}
    yield manifest("StorageClass", "fast", "storage.k8s.io/v1", provisioner="one.csi", volumeBindingMode="WaitForFirstConsumer")
    yield manifest("PersistentVolumeClaim", "c0", meta=meta, spec=spec)


USES = [{"name": "v", "persistentVolumeClaim": {"claimName": "c0"}}]


@pytest.mark.parametrize(("cpu", "state"), [("9", "unschedulable"), ("1", "waiting")])
def test_a_selected_node_that_was_left_behind_is_no_choice(cpu, state):
    """A pod whose claim has its nominated node selected waits for its volume only if it fits that node."""
    nominated = pod("p", "web", cpu, volumes=USES) | {"status": {"nominatedNodeName": "n0"}}

    assert state == Cluster.from_manifests([node("n0"), *waiting(annotated=True), nominated]).why("p").state


def test_the_volume_of_a_bound_claim_is_made_for_that_claim_alone():
    """A bound claim is Lost if its new volume names it without its uid: the fix gives it, and the claim is Bound."""
    claim = list(waiting(annotated=False, volumeName="v0"))
    claim[1]["metadata"] |= {"uid": "uid-c0", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
    cluster = Cluster.from_manifests([node("n0"), *claim, pod("p", "web", volumes=USES)])
    added = next(fix for fix in cluster.fix("p") if fix.words.startswith("Add a volume v0"))

    assert [] == list(faults_of_fixes(cluster, POD))
    assert "Bound" == added.fork["pvc/c0"].status.phase


def test_a_fix_that_leaves_the_pod_waiting_is_told_as_refuted():
    """A node without the driver fits, but nothing can be provisioned there: the fix that helps is told alone."""
    tainted = {**node("n0"), "spec": {"taints": [{"key": "old", "effect": "NoSchedule"}]}}
    driver = manifest("CSINode", "n1", "storage.k8s.io/v1", spec={"drivers": [
        {"name": "one.csi", "nodeID": "n1", "topologyKeys": [HOST], "allocatable": {"count": 0}}]})
    used = [manifest("PersistentVolumeClaim", "c1", spec={
        "accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}})]
    found = Cluster.from_manifests([tainted, node("n1"), driver, *waiting(annotated=False), *used,
                                    pod("p", "web", volumes=USES)]).fix("p")  # fmt: skip

    assert [()] == [fix.costs_others for fix in found]
    assert "Remove the taint old from n0 (default/p still waits)" in found.refuted


def test_a_fix_tells_of_pods_that_the_scheduler_evicts_for_it():
    """More room would do for the pod if a pod of lower priority went: no edit deletes it, and the fix says who is gone."""
    low = pod("low", "db", "1", nodeName="n0")
    asked = pod("p", "web", "4", priority=10, nodeSelector={"disk": "ssd"})
    cluster = Cluster.from_manifests([node("n0"), low, asked])
    labelled = next(fix for fix in cluster.fix("p") if "disk" in fix.words and "low" not in fix.words)

    assert ("default/p gets a node, but nobody creates default/low again",) == labelled.costs_others
    assert [] == list(faults_of_fixes(cluster, POD))


def preferring(value):
    """Return a node affinity that prefers nodes with more of something."""
    part = {"key": "gen", "operator": "Gt", "values": [value]}
    wish = {"weight": 1, "preference": {"matchExpressions": [part]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}


UNREAD = (
    'running PreScore plugin "NodeAffinity": [0].matchExpressions[0].values[0]: Invalid value: "x": '
    "for 'Gt', 'Lt' operators, the value must be an integer"
)


@pytest.mark.parametrize(("nodes", "value", "state"), [(2, "x", "unschedulable"), (2, "1", "bound"), (1, "x", "bound")])
def test_a_preference_that_cannot_be_read_ends_each_pass_that_has_to_rank(nodes, value, state):
    """With two nodes that fit, the pass ends with the message of PreScore; a single node is taken without ranking."""
    cluster = Cluster.from_manifests([*(node(f"n{number}") for number in range(nodes)),
                                      pod("p", "web", affinity=preferring(value))])  # fmt: skip
    cluster.run(seconds=20.0)
    answer = cluster.why("p")

    assert state == answer.state
    if state == "unschedulable":
        condition = cluster["pod/p"].status.condition("PodScheduled")
        assert ("SchedulerError", UNREAD, UNREAD) == (condition.reason, condition.message, answer.sentence)
        assert "2 of 2 nodes fit, but they cannot be ranked" in repr(answer)
        assert ["Remove the preferred node affinity that cannot be read"] == [fix.words for fix in cluster.fix("p")]
        assert [] == list(faults_of_fixes(cluster, POD))


def test_words_for_every_value_that_is_no_label():
    """A value may be wrong in two ways, and several terms together; a term of weight 0 is not read."""
    parts = tuple(Requirement(key="gen", operator=operator, values=(value,))
                  for operator, value in (("Gt", "-x"), ("In", "ok"), ("In", "no way")))  # fmt: skip
    read, skipped = (PreferredSchedulingTerm(weight=weight, preference=NodeSelectorTerm(match_expressions=parts))
                     for weight in (1, 0))  # fmt: skip
    faults = [fault.partition(": a valid label must be")[0] for fault in unreadable_preferences([skipped, read])]

    assert [
        "[1].matchExpressions[0].values[0]: Invalid value: \"-x\": for 'Gt', 'Lt' operators, the value must be an integer",
        '[1].matchExpressions[0].values[0][gen]: Invalid value: "-x"',
        '[1].matchExpressions[2].values[0][gen]: Invalid value: "no way"',
    ] == faults

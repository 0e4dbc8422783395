"""The ledgers filled from the engine: whom a constraint counts and whom not, and what room a driver published."""

import re
from functools import cache
from pathlib import Path

import attrs
import pytest
from attrs import evolve
from matrices import matrix

import kvolsched
from kvolsched import make
from kvolsched.measure.conform import judge_case, read
from kvolsched.rules.named import upstream
from kvolsched.scheduler.framework.judgement import Judgement
from kvolsched.scheduler.framework.verdict import Ok
from kvolsched.views.fill import frame_of
from kvolsched.views.fill.capacity_ledgers import capacity_answer
from kvolsched.views.fill.ledgers import NO_LABEL, capacity_at, capacity_ledgers, skew_at, skew_ledgers
from kvolsched.views.pictures import capacity, skew
from kvolsched.views.pictures.picture import NAMED

from . import plain

RECORDED = Path(__file__).parent.parent / "conformance"
ZONE = "topology.kubernetes.io/zone"
GI = 1 << 30


def node(name, labels="", spec=""):
    """Write a node; its zone is its name without what follows a dash."""
    labels = labels or f"{{{ZONE}: {name.partition('-')[0]}, disk: ssd}}"
    room = "{cpu: '4', memory: 8Gi, pods: '110'}"
    return f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {labels}}}
spec: {{{spec}}}
status: {{allocatable: {room}}}
---"""


def pod(name, on="", labels="{app: web}", namespace="default", meta="", spec=""):
    """Write a pod, on a node or waiting for one."""
    where = f"nodeName: {on}, " if on else ""
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: {namespace}, labels: {labels}{meta}}}
spec: {{{where}containers: [{{name: app, image: web}}]{spec}}}
---"""


def spread(more="", skew=1, key=ZONE, selector="{matchLabels: {app: web}}", when="DoNotSchedule"):
    """Write one spread constraint."""
    return f"{{maxSkew: {skew}, topologyKey: {key}, whenUnsatisfiable: {when}, labelSelector: {selector}{more}}}"


def ledgers(text, rules="upstream", name="web"):
    """Load manifests and give the skew ledgers of a pod."""
    cluster = kvolsched.Cluster.from_manifests(text, revision=rules)
    return frame_of(cluster, focus=f"pod/{name}", chips=False, tables=["skew"]).skew


def zones(counts, constraint, waiting="{app: web}", spec=""):
    """Write one node a zone, so many pods on each, and a pod that spreads over them."""
    text = "".join(node(f"z{place}") for place in range(1, len(counts) + 1))
    text += "".join(pod(f"e{place}-{k}", f"z{place}") for place, n in enumerate(counts, 1) for k in range(n))
    return text + pod("web", labels=waiting, spec=f", topologySpreadConstraints: [{constraint}]{spec}")


def told(ledger):
    """Return of each row: domain, counted, the sum, and whether the pod may go there."""
    return [(row.domain, row.counted, row.skew_if_placed, row.fits) for row in ledger.rows]


@pytest.mark.parametrize("rules", ["upstream", "design"])
@pytest.mark.parametrize(("counts", "skew", "expected"), [
    pytest.param([1, 1, 0], 1, [(1, 2, False), (1, 2, False), (0, 1, True)], marks=pytest.mark.checklist("196")),
    pytest.param([1, 1, 0], 2, [(1, 2, True), (1, 2, True), (0, 1, True)], marks=pytest.mark.checklist("197")),
    pytest.param([3, 2, 1], 1, [(3, 3, False), (2, 2, False), (1, 1, True)], marks=pytest.mark.checklist("195")),
    ([2, 1, 0], 1, [(2, 3, False), (1, 2, False), (0, 1, True)]),
    ([3, 3, 0], 1, [(3, 4, False), (3, 4, False), (0, 1, True)]),
    ([1, 1, 1], 1, [(1, 1, True), (1, 1, True), (1, 1, True)]),
])  # fmt: skip
def test_sums_of_the_documents_examples(rules, counts, skew, expected):
    """Each domain's matching pods, with this pod, less the minimum, against maxSkew: the document's own examples."""
    ledger, = ledgers(zones(counts, spread(skew=skew)), rules)

    assert [(f"z{place}", *row) for place, row in enumerate(expected, 1)] == told(ledger)
    assert (min(counts), f"z{counts.index(min(counts)) + 1}", 1) == (
        ledger.minimum, ledger.minimum_domain, ledger.self_match)


@pytest.mark.checklist("205")
def test_a_domain_where_the_pod_cannot_go_still_counts():
    """1/1/0 with the empty zone tainted: its 0 is the minimum, so nowhere is left; with Honor it is no domain."""
    text = zones([1, 1, 0], spread())
    tainted = text.replace("spec: {}\nstatus", "spec: {taints: [{key: closed, effect: NoSchedule}]}\nstatus")
    tainted = text[: text.index("{name: z3,")] + tainted[tainted.index("{name: z3,"):]
    plain, = ledgers(tainted)
    honoured, = ledgers(tainted.replace("labelSelector", "nodeTaintsPolicy: Honor, labelSelector"))

    assert [("z1", 1, 2, False), ("z2", 1, 2, False), ("z3", 0, 1, True)] == told(plain)
    assert [("z1", 1, 1, True), ("z2", 1, 1, True)] == told(honoured)[:2]
    assert ["", "", "tainted closed, nodeTaintsPolicy: Honor"] == [row.left_out for row in honoured.rows]


def test_too_few_domains_make_the_minimum_zero():
    """With fewer domains than minDomains the minimum counts as 0, no domain has it, and the reading says so."""
    text = zones([1, 1], spread(", minDomains: 3"))
    ledger, = ledgers(text)
    cluster = kvolsched.Cluster.from_manifests(text)

    assert (3, 0, "") == (ledger.min_domains, ledger.minimum, ledger.minimum_domain)
    assert [("z1", 1, 2, False), ("z2", 1, 2, False)] == told(ledger)
    assert "minDomains 3" in skew.reading(frame_of(cluster, focus="pod/web", tables=["skew"]))


def test_pods_that_match_and_do_not_count():
    """A pod that is leaving, one of another revision, one elsewhere, and one on a node that does not count."""
    leaving = ", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/wait]"
    text = zones([1, 0], spread(", matchLabelKeys: [rev]"), "{app: web, rev: b}").replace("labels: {app: web}",
                                                                                          "labels: {app: web, rev: b}")
    text += pod("gone", "z1", "{app: web, rev: b}", meta=leaving) + pod("old", "z1", "{app: web, rev: a}")
    text += pod("other", "z2", "{app: web, rev: b}", "shop") + node("z2-hdd", f"{{{ZONE}: z2, disk: hdd}}")
    text += pod("apart", "z2-hdd", "{app: web, rev: b}") + pod("unlike", "z2", "{app: db}")
    ledger, = ledgers(text.replace("topologySpread", "nodeSelector: {disk: ssd}, topologySpread"))

    assert {
        "z1": (1, ((1, "Terminating"), (1, "another rev"))),
        "z2": (0, ((1, "in namespace shop"), (1, "not among the nodes that the pod selects, nodeAffinityPolicy: Honor"))),
    } == {row.domain: (row.counted, row.not_counted) for row in ledger.rows}


def test_nodes_that_are_in_no_domain_stand_last():
    """A node without the topology key, and one that lacks the key of another constraint, are left out with their pods."""
    text = zones([0, 0], f"{spread()}, {spread(key='disk')}")
    text += node("bare", "{disk: ssd}") + pod("there", "bare") + node("z9", f"{{{ZONE}: z9}}")
    zone, disk = ledgers(text)

    assert [("z1", 0, ""), ("z2", 0, ""), (NO_LABEL, 1, "bare lacks the topology key"),
            ("z9", 0, "no disk, which another constraint asks for")] == [
        (row.domain, row.counted, row.left_out) for row in zone.rows]
    assert [("ssd", 3, 0), (NO_LABEL, 1, 0)] == [(row.domain, row.nodes, row.counted) for row in disk.rows]
    assert ((1, f"no {ZONE}, which another constraint asks for"),) == disk.rows[0].not_counted


def test_what_a_ledger_lists_stands_in_order():
    """Domains, and why their pods are not counted, by name; what shuts one, the most nodes first."""
    text = node("a", f"{{{ZONE}: z2}}") + node("b", f"{{{ZONE}: z1}}") + node("z3-1", spec="unschedulable: true")
    text += "".join(node(f"z3-{number}", spec="taints: [{key: k, effect: NoSchedule}]") for number in (2, 3))
    gone = ", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/wait]"
    text += pod("p1", "a", "{app: web, rev: a}") + pod("p2", "a", "{app: web, rev: b}", meta=gone)
    ledger, = ledgers(text + pod("web", labels="{app: web, rev: b}",
                                 spec=f", topologySpreadConstraints: [{spread(', matchLabelKeys: [rev]')}]"))  # fmt: skip

    assert ["z1", "z2", "z3"] == [row.domain for row in ledger.rows]
    assert ((1, "Terminating"), (1, "another rev")) == ledger.rows[1].not_counted
    assert [("TaintToleration", 2), ("NodeUnschedulable", 1)] == [
        (stop.plugin, stop.nodes) for stop in ledger.rows[2].landing.stops]


def test_what_shuts_a_domain_that_is_too_full():
    """First stands the sum, with what it is over and all nodes, then what stops some of them anyway, the most nodes first."""
    text = zones([3, 0, 0], spread()) + node("z1-2", spec="unschedulable: true")
    text += "".join(node(f"z1-{number}", spec="taints: [{key: k, effect: NoSchedule}]") for number in (3, 4))
    full, free, _ = ledgers(text)[0].rows

    assert [("PodTopologySpread", 4, "3 too many over 2 zones", "spread", True, True), ("TaintToleration", 2, "taint k:NoSchedule", "node", False, False),
            ("NodeUnschedulable", 1, "unschedulable", "node", False, False)] == [*map(attrs.astuple, full.landing.stops)]
    assert (0, (1, ())) == (full.landing.fitting, attrs.astuple(free.landing))


def test_a_preference_rejects_nothing():
    """ScheduleAnyway is shown with the same sums, and every domain is allowed; an empty selector counts no pod."""
    soft, empty = ledgers(zones([2, 0], f"{spread(when='ScheduleAnyway')}, {spread(selector='{}')}"))

    assert ("ScheduleAnyway", [("z1", 2, 3, True), ("z2", 0, 1, True)]) == (soft.when, told(soft))
    assert [((2, "an empty selector counts no pod"),), ()] == [row.not_counted for row in empty.rows]


def test_no_evidence_is_made_where_the_reason_tells_all(monkeypatch):
    """Of thousands of nodes evidence takes seconds: it is made for taints alone, which the reason does not name."""
    asked = []
    monkeypatch.setattr(Judgement, "cell", lambda self, node, plugin, cell=Judgement.cell: asked.append(plugin) or cell(self, node, plugin))
    full, tainted = ledgers(zones([1, 0, 0], spread()).replace("image: web}", "image: web, resources: {requests: {cpu: 9}}}")
                            + node("z4", spec="taints: [{key: closed, effect: NoSchedule}]"))[0].rows[-2:]

    assert ["Insufficient cpu"] == [stop.reason for stop in full.landing.stops]
    assert ["taint closed:NoSchedule"] == [stop.reason for stop in tainted.landing.stops]
    assert {"TaintToleration"} == set(asked)


def test_a_pod_without_constraints_has_no_ledger():
    """No constraint, no ledger: the chart says so."""
    cluster = kvolsched.Cluster.from_manifests(node("z1") + pod("web"))

    assert "This pod has no spread constraint." == skew.reading(frame_of(cluster, focus="pod/web", tables=["skew"]))
    assert () == frame_of(cluster, focus="pod/web").skew


def test_a_pod_found_on_its_node_counts_as_itself():
    """Of a pod that was loaded on its node, the ledger is as if it were to be placed now: it is not counted there."""
    ledger, = ledgers(zones([1, 0], spread()).replace("{containers", "{nodeName: z2, containers", 2))

    assert [("z1", 1, 2, False), ("z2", 0, 1, True)] == told(ledger)


def test_the_ledger_of_a_pass_is_what_the_pass_saw():
    """Others land after the pass; `at="pass"` still has the pass's sums, `at="now"` those of now without the pod itself."""
    cluster = kvolsched.Cluster.from_manifests(zones([1, 1, 0], spread()))
    before = told(skew_at(cluster, "pod/web")[0])
    cluster.run("pod/web Running")
    cluster.apply(pod("late", "z3"))
    (passed,), (now,) = skew_at(cluster, "pod/web", "pass"), skew_at(cluster, "pod/web")

    assert "z3" == cluster["pod/web"].spec.node_name
    assert before == told(passed)
    assert passed.moment.startswith("pass 1: step 1, t = 0 s")
    assert [("z1", 1, 1, True), ("z2", 1, 1, True), ("z3", 1, 1, True)] == told(now)
    assert "after pass 1" in now.moment


@cache
def recorded(family):
    """Judge a family's recorded pods once."""
    profile = upstream().profile
    return [judge_case(one.case, profile) for one in read(RECORDED / f"{family}.jsonl.gz")]


@pytest.mark.parametrize("family", ["spread", "mixed"])
def test_the_ledgers_agree_with_the_rule_on_every_recorded_case(family):
    """A node passes the rule if and only if its domain is allowed in each ledger."""
    cases = 0
    for judgement in recorded(family):
        rule, seen = judgement.profile.plugin("PodTopologySpread"), judgement.seen
        found = [(one.key, {row.domain: row.fits for row in one.rows}) for one in skew_ledgers(judgement)]
        cases += bool(found)
        for each in seen.all_nodes():
            labels = each.metadata.labels
            allowed = all(fits[labels.get(key, NO_LABEL)] for key, fits in found)
            assert allowed == isinstance(rule.rule(judgement.pod, each, seen), Ok), (each.metadata.name, found)

    assert cases > 10


# --- room for new volumes ------------------------------------------------------------------------------------------

CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: pd.csi
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 60Gi}}}
---"""
DRIVER = """
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: pd.csi}
spec: {storageCapacity: true}
---"""
USER = pod("web", spec=", volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]")
FOUR = "".join(map(node, ("a", "b", "c", "d")))


def pool(name, zone, fields):
    """Write what a driver published for one zone."""
    return f"""
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {{name: {name}}}
storageClassName: fast
nodeTopology: {{matchLabels: {{{ZONE}: {zone}}}}}
{fields}
---"""


POOLS = pool("p1", "a", "capacity: 100Gi") + pool("p2", "b", "capacity: 55Gi") + pool(
    "p3", "c", "capacity: 180Gi\nmaximumVolumeSize: 50Gi")  # fmt: skip


def room(text, rules="upstream"):
    """Load manifests and give the capacity ledgers of the pod."""
    cluster = kvolsched.Cluster.from_manifests(text, revision=rules)
    return frame_of(cluster, focus="pod/web", chips=False, tables=["capacity"]).capacity


def test_pools_with_room_without_and_without_entry():
    """Enough, too little, too small a largest volume, and no entry, which is not enough: each as the rule concludes."""
    ledger, = room(FOUR + CLASS + DRIVER + POOLS + USER)

    assert ("pvc/data", "fast", 60 * GI, "") == (ledger.claim, ledger.class_name, ledger.request, ledger.unchecked)
    assert [("a", "1 node", 100 * GI, None, True), ("b", "1 node", 55 * GI, None, False),
            ("c", "1 node", 180 * GI, 50 * GI, False), ("d", "1 node", None, None, False)] == [
        (row.pool, row.reach, row.published, row.largest_volume, row.fits) for row in ledger.rows]


def test_pools_stand_in_the_order_of_their_names():
    """Published in whatever order, and beside nodes without entry, pools are sorted."""
    ledger, = room(FOUR + CLASS + DRIVER + pool("p1", "d", "capacity: 100Gi") + pool("p2", "b", "capacity: 55Gi") + USER)

    assert ["a", "b", "c", "d"] == [row.pool for row in ledger.rows]


def test_the_chart_says_what_the_rule_concludes():
    """The chart's reading names each pool with its verdict."""
    cluster = kvolsched.Cluster.from_manifests(FOUR + CLASS + DRIVER + POOLS + USER)
    frame = frame_of(cluster, focus="pod/web", tables=["capacity"])

    lines = capacity.reading(frame).splitlines()
    assert "✓ 1 of 4 pools is large enough. What the driver has now is unknown." == lines[1]
    assert ["✓ 60Gi ≤ 100Gi", "✕ 60Gi > 55Gi", "✕ 60Gi > largest volume 50Gi", "✕ no entry = not sufficient"] == [
        line[line.index("rule") + 4:line.rindex("driver")].strip() for line in lines[2:]]
    assert NAMED["capacity"].words(frame) == capacity.reading(frame)


def test_the_answer_about_one_pool_says_pool():
    """Of one pool the answer says pool, not pools."""
    only, = room(node("a") + CLASS + DRIVER + pool("p1", "a", "capacity: 100Gi") + USER)
    several, = room(FOUR + CLASS + DRIVER + POOLS + USER)

    assert ["1 of 1 pool is large enough.", "1 of 4 pools is large enough."] == [only.answer, several.answer]


STATUS = "Not checked: these rules read status.storage of CSIDriver pd.csi, which needs capacityTracking: true"


@pytest.mark.parametrize(("text", "rules", "words"), [
    (FOUR + CLASS + USER, "upstream", "Driver pd.csi does not publish capacity: not checked"),
    (FOUR + CLASS + DRIVER.replace("true", "false") + USER, "upstream",
     "Driver pd.csi does not publish capacity: not checked"),
    (FOUR + CLASS.replace("WaitForFirstConsumer", "Immediate") + DRIVER + USER, "upstream",
     "Class fast is Immediate: its volumes are made before a node is chosen"),
    (FOUR + CLASS + USER, "design", "Driver pd.csi does not track capacity: not checked"),
    (FOUR + CLASS + DRIVER + USER, "design", f"{STATUS}; storageCapacity: true is not looked at"),
    (FOUR + CLASS + DRIVER + POOLS + USER, "design",
     f"{STATUS}; the 3 CSIStorageCapacity objects of class fast are not looked at"),
    (FOUR + CLASS + DRIVER + pool("p1", "a", "capacity: 100Gi") + USER, "design",
     f"{STATUS}; the 1 CSIStorageCapacity object of class fast is not looked at"),
])  # fmt: skip
def test_what_nobody_checks_is_said(text, rules, words):
    """Where no rule looks at room, one sentence says why, and no pool is shown."""
    ledger, = room(text, rules)

    assert (words, ()) == (ledger.unchecked, ledger.rows)


PMEM = "pmem.csi"
UNREAD = "These rules do not check inline volumes: their driver finds out when the pod starts"
UNTRACKED = f"Driver {PMEM} does not track capacity: not checked"
OTHER_FLAG = STATUS.replace("pd.csi", PMEM)
OBJECT = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": "pool", "namespace": "csi"},
          "storageClassName": "<ephemeral>", "capacity": "5Gi", "nodeTopology": {}}  # fmt: skip


def inline(size="", *, attribute="", rules="design", nodes=2, tracks=None, more=(), pools=None, published=False):
    """Return the cluster of a pod with an inline volume, and its ledgers of capacity."""
    spec = {"volumeLifecycleModes": ["Ephemeral"], "podInfoOnMount": True, **(tracks or {})}
    driver = [] if tracks is None else [{"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": PMEM}, "spec": spec}]
    source = {"driver": PMEM} | ({"fsSize": size} if size else {}) | ({"volumeAttributes": {"size": attribute}} if attribute else {})
    web = make.pod("web", volumes=[{"name": "fast", "csi": source}])
    dials = {} if pools is None else {PMEM: {"kind": "local", "pools": pools, "publishing": {"form": "node"}}}
    cluster = kvolsched.Cluster.from_manifests([*(make.node(f"n{number}") for number in range(nodes)), *driver, *more, web],
                                               revision=rules, components=dials)  # fmt: skip
    if published:
        cluster.run(seconds=10)
    return frame_of(cluster, focus="pod/web", chips=False, tables=["capacity"]).capacity


@pytest.mark.parametrize(("volume", "request_", "unchecked"), [
    ({"size": "5Gi", "rules": "upstream"}, 0, UNREAD),  # a field that these rules do not know
    ({"rules": "upstream", "tracks": {}}, 0, UNREAD),
    ({"attribute": "3Gi", "rules": "upstream", "tracks": {"storageCapacity": True}}, 3 * GI, UNREAD),
    ({"attribute": "large", "rules": "upstream"}, 0, UNREAD),
    ({"size": "5Gi"}, 5 * GI, UNTRACKED),
    ({"attribute": "3Gi", "tracks": {}}, 3 * GI, UNTRACKED),
    ({"size": "5Gi", "tracks": {"storageCapacity": True}}, 5 * GI, f"{OTHER_FLAG}; storageCapacity: true is not looked at"),
    ({"size": "5Gi", "tracks": {}, "more": [OBJECT]}, 5 * GI, f"{OTHER_FLAG}; the 1 CSIStorageCapacity object is not looked at"),
    ({"tracks": {"capacityTracking": True}}, 0, "The volume has no fsSize: not checked"),
    ({"attribute": "3Gi", "tracks": {"capacityTracking": True}}, 3 * GI, "The volume has no fsSize: not checked"),
    ({"attribute": "large", "tracks": {"capacityTracking": True}}, 0, "The volume has no fsSize: not checked"),
])  # fmt: skip
def test_why_an_inline_volume_is_not_checked(volume, request_, unchecked):
    """What the volume asks for, 0 if that is no quantity, and one sentence why no rule compares it; no pool is shown."""
    ledger, = inline(**volume)

    assert ("inline volume fast", "<ephemeral>", request_) == (ledger.claim, ledger.class_name, ledger.request)
    assert (unchecked, (), "", "", False) == (ledger.unchecked, ledger.rows, ledger.answer, ledger.sentence, ledger.warns)


@pytest.mark.parametrize(("nodes", "more"), [(1, ""), (6, ""), (7, ", and 1 node more"), (9, ", and 3 nodes more")])
@pytest.mark.parametrize(("rules", "why"), [("upstream", UNREAD), ("design", "The volume has no fsSize: not checked")])
def test_what_the_driver_of_an_inline_volume_that_is_not_checked_has(rules, why, nodes, more):
    """The room of six nodes is told in the order of their names, and how many more there are; nothing is not told."""
    pools = {f"n{number}": f"{number + 1}Gi" for number in reversed(range(nodes))}
    ledger, = inline(rules=rules, nodes=nodes, tracks={"capacityTracking": True}, pools=pools)
    known = ", ".join(f"n{number} {number + 1}Gi" for number in range(min(nodes, 6)))

    assert f"{why}; driver now: {known}{more}" == ledger.unchecked


def test_an_inline_volume_is_compared_with_the_pools_of_its_driver():
    """Each node has the pool that was published for inline volumes there, what the driver has now, and the verdict."""
    pools = {"n0": "1Gi", "n1": "4Gi"}
    before, = inline("50Gi", tracks={"capacityTracking": True}, pools=pools)
    after, = inline("50Gi", tracks={"capacityTracking": True}, pools=pools, published=True)
    fits, = inline("2Gi", nodes=3, tracks={"capacityTracking": True}, pools=pools, published=True)

    assert [("n0", None, GI, False), ("n1", None, 4 * GI, False)] == [
        (row.pool, row.published, row.driver_now, row.fits) for row in before.rows]
    assert [("n0", GI, GI, False), ("n1", 4 * GI, 4 * GI, False)] == [
        (row.pool, row.published, row.driver_now, row.fits) for row in after.rows]
    assert ("No pool is large enough.", "The largest volume that is published is 4Gi.") == (after.answer, after.sentence)
    assert [("n0", GI, GI, False), ("n1", 4 * GI, 2 * GI, True), ("n2", 0, 0, False)] == [  # it was made on n1
        (row.pool, row.published, row.driver_now, row.fits) for row in fits.rows]
    assert ("1 of 3 pools is large enough.", "The driver would answer the same.") == (fits.answer, fits.sentence)


def test_claims_that_ask_for_no_new_volume_have_no_ledger():
    """A missing claim, a bound one, and one whose class provisions nothing have no ledger."""
    bound = CLASS.replace("spec: {storageClassName", "spec: {volumeName: v, storageClassName")
    static = CLASS.replace("pd.csi", "kubernetes.io/no-provisioner")

    assert [(), (), ()] == [room(FOUR + text + USER) for text in ("", bound, static)]


def test_many_nodes_without_entry_are_one_row():
    """More nodes without an entry than can be read are told together; nodes that the class excludes are not told."""
    several = "".join(node(f"a-{number}") for number in range(9)) + node("b-1")
    allowed = f"allowedTopologies: [{{matchLabelExpressions: [{{key: {ZONE}, values: [a]}}]}}]\nvolumeBindingMode"
    ledger, = room(several + CLASS.replace("volumeBindingMode", allowed) + DRIVER + USER)

    assert [("all others", "9 nodes")] == [(row.pool, row.reach) for row in ledger.rows]


def test_age_is_counted_from_the_last_write():
    """What was found when all began is as old as the run; what was published since, as old as its last write."""
    cluster = kvolsched.Cluster.from_manifests(FOUR + CLASS + DRIVER + POOLS + USER)
    cluster.run("pod/web Running")
    later = cluster.now
    cluster.apply(pool("p2", "b", "capacity: 70Gi"))
    cluster.apply(CLASS.partition("---")[2].replace("name: data", "name: more"))
    cluster.apply(USER.replace("name: web", "name: next").replace("claimName: data", "claimName: more"))
    rows = frame_of(cluster, focus="pod/next", chips=False, tables=["capacity"]).capacity[0].rows

    assert later > 0
    assert {"a": later, "b": 0.0, "c": later} == {row.pool: row.age for row in rows if row.published}


def pool_of(name, published, now, age=0.0, **fields):
    """Return a pool of so many GiB, published and present, for a claim of 60Gi."""
    sizes = [None if size is None else size * GI for size in (published, now)]
    fits = published is not None and published >= 60
    return plain.CapacityRow(name, "1 node", published=sizes[0], driver_now=sizes[1], age=age, **{"fits": fits} | fields)


@pytest.mark.parametrize(("pools", "told"), [
    ([], ("", "", False)),
    ([pool_of("a", 90, None)], ("1 of 1 pool is large enough.", "What the driver has now is unknown.", False)),
    ([pool_of("a", 90, None), pool_of("b", 90, 60), pool_of("c", 9, None)],
     ("2 of 3 pools are large enough.", "The driver would answer the same.", False)),
    ([pool_of("a", 90, 90), pool_of("b", 9, 9)], ("1 of 2 pools is large enough.", "The driver would answer the same.", False)),
    ([pool_of("a", 90, 59, 12.5), pool_of("b", 90, 90)],
     ("1 pool looks large enough and is not.", "The scheduler reads what was published 12.5 s ago; the driver has less room now.", True)),
    ([pool_of("a", 90, 9, 12.5), pool_of("b", 60, 0, 3.0), pool_of("c", 90, 90, 99.0), pool_of("d", 90, 9, 7.0)],
     ("3 pools look large enough and are not.", "The scheduler reads what was published 3 to 12.5 s ago; the driver has less room now.", True)),
    ([pool_of("a", 90, 90, driver_largest=50 * GI)],
     ("1 pool looks large enough and is not.", "The scheduler reads what was published 0 s ago; the driver has less room now.", True)),
    ([pool_of("a", None, None)], ("No pool is large enough.", "Nothing is published.", False)),
    ([pool_of("a", 9, 9), pool_of("b", 50, 50)], ("No pool is large enough.", "The largest volume that is published is 50Gi.", False)),
    ([pool_of("a", 9, 9), pool_of("b", 90, 9, largest_volume=20 * GI, fits=False), pool_of("c", None, None)],
     ("No pool is large enough.", "The largest volume that is published is 20Gi.", False)),
    ([pool_of("a", None, 60)], ("No pool is large enough.", "Nothing is published. a has the room, but the rule says no.", True)),
    ([pool_of("a", 9, 60), pool_of("b", 90, 90), pool_of("c", 9, 90)],
     ("1 of 3 pools is large enough.", "The driver would answer the same. a and c have the room, but the rule says no.", True)),
    ([pool_of(name, 9, 60) for name in "abcd"],
     ("No pool is large enough.", "The largest volume that is published is 9Gi. a, b and 2 more have the room, but the rule says no.", True)),
])  # fmt: skip
def test_the_answer_about_pools(pools, told):
    """How many look large enough, how old that is, and whether their driver would answer the same; nothing of no pools."""
    ledger = plain.CapacityLedger("pvc/data", "fast", 60 * GI, "", tuple(pools))

    assert told == capacity_answer(ledger)
    assert ("", "", False) == capacity_answer(evolve(ledger, unchecked="These rules do not look at capacity"))


def test_what_the_driver_has_stands_beside_what_it_published():
    """A driver that counts its room: old news is told as such, and where nothing is published what is there all the same."""
    dials = {"pd.csi": {"pools": {"a": "30Gi", "b": "55Gi", "d": "10Gi"}, "publishing": {"interval": 0.0}}}
    cluster = kvolsched.Cluster.from_manifests(FOUR + CLASS + DRIVER + POOLS + USER, components=dials)
    rows = frame_of(cluster, focus="pod/web", chips=False, tables=["capacity"]).capacity[0].rows

    assert {"a": 30 * 2**30, "b": 55 * 2**30, "c": 0, "d": 10 * 2**30} == {row.pool: row.driver_now for row in rows}
    assert "published 100Gi, 0 s old, stale: driver now 30Gi" in repr(cluster.capacity("web"))


def test_no_room_is_never_said_where_a_ledger_has_room_everywhere():
    """A node rejected for want of room has a ledger in which some pool, or a node without entry, is not enough."""
    cases = 0
    for judgement in recorded("dynamic"):
        short = [row.node for row in matrix(judgement) if any("enough free storage" in words for words in row.reasons)]
        if short:
            cases += 1
            rows = [row for one in capacity_ledgers(judgement, lambda _: 0.0, lambda *_: None, "", lambda _: 0) for row in one.rows]
            assert not all(row.fits for row in rows), short

    assert cases > 3


def test_a_pod_without_ledger_is_named():
    """A pod whose claim is bound has no ledger any more: its volume is named, and how to see an earlier step."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.run()
    volume = cluster["pvc/my-pvc"].spec.volume_name

    assert (f"my-pod has no claim to provision: its claim my-pvc is bound to volume {volume}. "
            "An earlier step is shown with at=, such as at=0.") == repr(cluster.capacity("my-pod"))
    assert "Where could my-pvc be made?" in repr(cluster.capacity("my-pod", at=0))
    assert "my-pod has no spread constraint." == repr(cluster.skew("my-pod"))


# --- the face and the panel ----------------------------------------------------------------------------------------


def test_the_face_charts_both_ledgers():
    """`c.skew` and `c.capacity` are figures with a reading; asking moves nothing, and an unknown pod is an error."""
    cluster = kvolsched.Cluster.from_manifests(zones([1, 1, 0], spread()) + FOUR + CLASS + DRIVER + POOLS)
    before = cluster.digest()

    assert "1 + 1 − 0 = 2 > 1 ✕" in repr(cluster.skew("web"))
    assert "web has no claim to provision." == repr(cluster.capacity())
    assert before == cluster.digest()
    with pytest.raises(KeyError, match="no pod/nobody; there are: pod/e1-0"):
        cluster.skew("nobody")


def test_the_numbers_of_a_skew_ledger_are_values():
    """Counts and ActualSkew leave out what is no domain; a closed zone fits the constraint and is not open."""
    lost = kvolsched.scenario("dead-zone").skew("next")
    honored = kvolsched.scenario("dead-zone", taints="Honor").skew("next")
    free = kvolsched.Cluster.from_manifests(zones([3, 2, 1], spread())).skew("web")

    assert ([3, 3, 0], ["zone-lost"], []) == ([*lost.actual_skew.values()], lost.fits, lost.open)
    assert ({"zone-1": 3, "zone-2": 3}, {"zone-1": 0, "zone-2": 0}) == (honored.counts, honored.actual_skew)
    assert ["zone-1", "zone-2"] == honored.fits == honored.open
    assert ([3, 2, 1], [2, 1, 0]) == ([*free.counts.values()], [*free.actual_skew.values()])
    assert free.fits == free.open == [[*free.counts][2]]
    forced = kvolsched.Cluster.from_manifests(zones([3, 2, 1], spread(", minDomains: 4"))).skew("web")
    assert [3, 2, 1] == [*forced.actual_skew.values()] == [*map(int, re.findall(r"ActualSkew (\d+)", forced.reading))]
    nothing = kvolsched.scenario("zonal-example").skew("my-pod")
    assert ({}, {}, [], []) == (nothing.counts, nothing.actual_skew, nothing.fits, nothing.open)


def test_a_soft_constraint_is_drawn_when_no_node_is_scored():
    """A hard constraint that leaves one node leaves nothing to score: the soft one beside it shows its counts alone."""
    cluster = kvolsched.scenario("zone-and-host", hosts="ScheduleAnyway")
    cluster.run()

    drawn = cluster.skew("deploy/web")
    assert "No node is scored: only one fits" in drawn.reading
    assert "node-2-1" in drawn.draw(960, "")


def test_the_panel_counts_only_while_a_ledger_is_open():
    """The tabs Skew and Capacity draw the pod that was judged last; no other tab makes the engine count."""
    cluster = kvolsched.Cluster.from_manifests(zones([1, 1, 0], spread()))
    cluster.step("scheduler")
    lab = cluster.lab()
    drawn = {}
    for tab in ("verdicts", "skew", "capacity"):
        lab.tab = tab
        drawn[tab] = lab.host.body

    assert (True, True) == ("1 + 1 − 0 = 2" in drawn["skew"], "no claim to provision" in drawn["capacity"])
    assert () == lab.frame.skew


def test_the_next_replica_has_the_claims_of_its_ephemeral_volumes():
    """A template with generic ephemeral volumes is judged with its claims as made: one for each volume."""
    cluster = kvolsched.scenario("two-volumes-a-replica", nodes=4, replicas=3, free="60Gi")
    cluster.run()
    assert [(50 * GI, "1 of 4 pools"), (5 * GI, "4 of 4 pools")] == [
        (ledger.request, re.search(r"\d of \d pools", ledger.answer + ledger.sentence)[0])
        for ledger in capacity_at(cluster, "deploy/db")]  # fmt: skip
    spread = [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
               "labelSelector": {"matchLabels": {"app": "db"}}}]
    cluster.patch("deploy/db", {"spec": {"template": {"spec": {"topologySpreadConstraints": spread}}}})
    assert [0, 0, 1, 0] == [row.landing.fitting for row in skew_at(cluster, "deploy/db")[0].rows]

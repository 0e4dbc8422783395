"""Cases of the edits of nodes and of the pods on them: `kvolsched/questions/fix/nodes.py`."""

from functools import partial
from types import SimpleNamespace

import numpy as np
from attrs import evolve

from fix_cases.whole import (
    budget,
    deployment,
    offered,
    owned,
    raw_trial,
    replica_set,
    selector,
    told,
    trial_of,
    with_room,
)
from kvolsched import design, make
from kvolsched.api.kinds.selector import Requirement
from kvolsched.api.text.manifest import from_plain
from kvolsched.make import apart, claim, csi_node, node, pod, spread, storage_class, together, volume
from kvolsched.questions.fix import TrialCluster, nodes
from kvolsched.questions.why.demands import demands
from kvolsched.rules.named import upstream
from kvolsched.scheduler.framework.verdict import Code, PreFilterReject
from kvolsched.world.apiserver import key_of

GPU = "nvidia.com/gpu"


def in_affinity(*terms):
    """Return what labelling two nodes, one full of labels and one bare, offers for these terms."""
    labelled = node("n1", "a", labels={"disk": "hdd", "rack": "r", "gen": "3"})
    return offered(nodes.label_node, trial_of([labelled, node("n2"), pod(affinity=selector(*terms))]), sort="node affinity")


def selecting(labels, *others):
    """Return what labelling nodes offers for a pod that selects these labels."""
    return offered(nodes.label_node, trial_of([*others, pod(nodeSelector=labels)]))


def on_one_node(*there, generator=nodes.larger_machine, sort="request", pods=(), **asked):
    """Return what a generator offers for a pod that no node has room for."""
    return offered(generator, trial_of([*there, *pods, pod(**asked)]), sort=sort)


OF_A_MACHINE = ("kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
                "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")  # fmt: skip
SSD = {"disk": "ssd"}
LABELS = {
    "label: two nodes lack the label": lambda: selecting(SSD, node("n1"), node("n2")),
    "label: another value stands there": lambda: selecting(SSD, node("n1", labels={"disk": "hdd"})),
    "label: a value that is nearly another node's is a slip, but where the node has one itself": lambda: selecting(
        {"disk": "nvme-ssd"}, node("n1"), node("n2", labels={"disk": "nvme-ssx"}), node("n3", labels={"disk": "other"})),
    "label: a key that is nearly another node's is a slip": lambda: selecting(SSD, node("n1", labels={"disks": "x"}), node("n2")),
    "label: one of two labels is a slip": lambda: in_affinity([("disks", "In", "ssd"), ("row", "Exists")]),
    "label: a number that is none": lambda: in_affinity([("gen", "Gt", "x")], [("a", "Exists"), ("b", "Exists")]),
    "label: keys in order": lambda: in_affinity([("z", "Exists"), ("b", "Exists")]),
    "label: true as it is, beside one that is not; nothing at all; a note of its own": lambda: "\n\n".join(
        told(nodes.set_labels(trial_of([node("n1", "a"), pod()]).get("Node", "n1"), labels, note=note)) or "nothing"
        for labels, note in (({make.ZONE: "a", "rack": "r"}, ""), ({make.ZONE: "a"}, ""), ({"rack": "r"}, "only if so"))),
    "label: a value for each part": lambda: " ".join(repr(nodes._value_for(Requirement(key="k", operator=operator, values=values)))
        for operator, values in (("In", ("a", "b")), ("In", ()), ("Exists", ()), ("NotIn", ("a",)), ("DoesNotExist", ()), ("Gt", ("3", "9")),
                                 ("Lt", ("3", "9")), ("Gt", ("x",)), ("Gt", ()), ("Near", ("a",)))),
    "room: on how many nodes a plugin rejects it": lambda: " ".join(str(nodes.rejection_count(SimpleNamespace(
        rejected_by=rejected, nodes=("n1", "n2", "n3"), plugins=("A", "B"), codes=np.array([[0, 0, 1], [2, 0, 1]])), SimpleNamespace(plugin=plugin)))
        for rejected, plugin in ((None, "A"), (None, "B"), (None, "C"), ("A", "B"))),
    "label: of what a machine is nothing, not even beside what it is not": lambda: "".join(
        told(nodes.set_labels(trial_of([node("n1"), pod()]).get("Node", "n1"), {key: "x", "rack": "r"})) for key in OF_A_MACHINE) or "nothing",
    "label: one term, of which one node lacks more": lambda: in_affinity([("disk", "In", "ssd", "nvme"), ("row", "Exists")]),
    "label: a label must go": lambda: in_affinity([("disk", "NotIn", "hdd"), ("rack", "DoesNotExist"), ("row", "Exists")]),
    "label: a number must be larger": lambda: in_affinity([("gen", "Gt", "3")]),
    "label: a number must be smaller": lambda: in_affinity([("gen", "Lt", "3")]),
    "label: the term that needs fewest labels, of equals the first": lambda: in_affinity(
        [("a", "Exists"), ("b", "Exists")], [("c", "Exists")], [("d", "Exists")]),
    "label: a term of another node's name": lambda: in_affinity([("name", "In", "n2"), ("c", "Exists")], [("a", "Exists"), ("b", "Exists")]),
    "label: nobody labels a machine with another architecture": lambda: in_affinity([(f"kubernetes.io/{'arch'}", "In", "arm64")]),
    "label: a zone is told to a node without one, and no other instead of its own": lambda: in_affinity([(make.ZONE, "In", "b")]),
    "label: a node's host name is its own": lambda: in_affinity([(make.HOST, "In", "n3")]),
    "label: a node that lacks its host name may get it": lambda: selecting(
        {make.HOST: "n1", "disk": "ssd"}, node("n1") | {"metadata": {"name": "n1"}}, node("n2") | {"metadata": {"name": "n2"}}),
    "label: a host name that is not the node's name stays": lambda: selecting(SSD, node("n1", labels={make.HOST: "n1.example.com"})),
}  # fmt: skip

DAEMON = partial(owned, kind="DaemonSet", name="agent")
WEB = partial(owned, kind="ReplicaSet", name="web-1")
FULL = node("n1", cpu="2", memory="4Gi")
HAS_DIR = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
MACHINES = {
    "machine: the only node lacks a resource and is empty": lambda: on_one_node(FULL, cpu="2500m"),
    "machine: an amount that just fits lacks nothing; memory does": lambda: on_one_node(
        FULL, requests={"cpu": "2", "memory": "5Gi"}),
    "machine: more is given away than there is, which old rules hold against who asks for none": lambda: offered(nodes.larger_machine, trial_of(
        [node("n1", cpu="1"), replica_set(), WEB(pod("w1", running_on="n1", cpu="2")), pod("app", requests={"memory": "1Gi"})], rules=design()),
        sort="request"),
    "machine: its root disk must be larger": lambda: on_one_node(
        with_room(FULL, **{"ephemeral-storage": "10Gi"}), requests={"ephemeral-storage": "11Gi"}),
    "machine: nodes report no root disk, or one that is too small": lambda: on_one_node(
        node("n1"), with_room(node("n2"), **{"ephemeral-storage": "1Gi"}), requests={"ephemeral-storage": "11Gi"}),
    "machine: no node reports a root disk": lambda: on_one_node(node("n1"), requests={"ephemeral-storage": "11Gi"}),
    "machine: pods of others must leave it first, the only node": lambda: on_one_node(
        FULL, replica_set(), pods=[WEB(pod("w1", running_on="n1", cpu="1"))], cpu="1500m"),
    "machine: pods of others must leave it, and lose what they wrote": lambda: on_one_node(
        FULL, node("n2", cpu="1"), replica_set(), pods=[WEB(pod("w1", running_on="n1", cpu="1", **HAS_DIR))], cpu="1500m"),
    "machine: a DaemonSet's pod stays in a drain, with what it wrote": lambda: on_one_node(
        FULL, pods=[DAEMON(pod("d1", running_on="n1", cpu="1", **HAS_DIR))], cpu="1500m"),
    "machine: a pod that has ended leaves nothing to move": lambda: on_one_node(
        FULL, pods=[pod("old", node_name="n1", cpu="1", status={"phase": "Succeeded"}), pod("d", running_on="n2")], cpu="2500m"),
    "machine: not where a pod is that nobody makes again": lambda: on_one_node(
        FULL, node("n2", cpu="1"), pods=[pod("db", running_on="n1", cpu="1")], cpu="3"),
    "machine: not where the control plane runs": lambda: on_one_node(
        FULL, node("n2", cpu="1"), node("n3", cpu="1"), pods=[owned(pod("etcd-n1", running_on="n1"), "Node", "n1"),
                                         owned(pod("kube-apiserver-n3", running_on="n3"), "Node", "n3"), owned(pod("kube-proxy", running_on="n2"), "Node", "n2")], cpu="3"),
    "machine: not where a budget allows no disruption, but beside one of a DaemonSet's pod": lambda: on_one_node(
        FULL, node("n2", cpu="1"), budget("b", 0, "web"), replica_set(),
        pods=[WEB(pod("w1", running_on="n1", labels={"app": "web"})), DAEMON(pod("d2", running_on="n2", labels={"app": "web"}))], cpu="3"),
    "machine: devices are another kind of machine's": lambda: on_one_node(
        with_room(node("g1"), **{GPU: "1"}), with_room(node("g0"), **{GPU: "0"}), node("n1"), requests={GPU: "2"}),
    "machine: no node reports a device; the label of its vendor says where": lambda: on_one_node(
        node("n1"), node("n2", labels={"accelerator": "nvidia-a100"}), requests={GPU: "2"}),
    "machine: no node reports a device, and none is labelled for it": lambda: on_one_node(node("n1"), requests={"amd.com/gpu": "1"}),
    "machine: more pods than the kubelet runs, for all of a workload that wait": lambda: on_one_node(
        node("n1", pods="2"), replica_set(), pods=[WEB(pod("w1", running_on="n1")), pod("x", running_on="n1"), WEB(pod("w2")),
                                                   WEB(pod("w0", node_name="n1", status={"phase": "Failed"}))]),
    "machine: more pods are there than the kubelet runs, or it says of none": lambda: on_one_node(
        node("n1", pods="1"), node("n2", pods="0"), {**node("n3"), "status": {"allocatable": {"cpu": "4", "memory": "9Gi"}}},
        pods=[pod("x", running_on="n1"), pod("y", running_on="n1"), pod("z", running_on="n3")]),
    "machine: of a workload whose pods wait, room for each": lambda: offered(
        nodes.larger_machine, trial_of([node("n1", pods="2"), replica_set(), WEB(pod("w1", running_on="n1")), pod("x", running_on="n1"),
                                        WEB(pod("w2")), WEB(pod("app"))])),
}  # fmt: skip

DRIVER2 = "files.example.com"


def attaching(*csi, generator=nodes.attach_more, sort="", count=2, others=(), **fields):
    """Return what a generator offers for a pod with bound claims on volumes of one driver."""
    disks = [each for number in range(count) for each in (volume(f"disk{number}", bound=f"c{number}"), claim(f"c{number}", bound=f"disk{number}"))]
    app = pod("app", *(f"c{number}" for number in range(count)), **fields)
    return offered(generator, trial_of([node("n1"), node("n2"), *csi, storage_class(), *disks, *others, app]), sort=sort)


ATTACH = {
    "attach: one node may attach one volume more, the other one two": lambda: attaching(csi_node("n1", 1), csi_node("n2", 0)),
    "attach: volumes that are attached there count": lambda: attaching(
        csi_node("n1", 2), csi_node("n2", 2), others=[volume("far", bound="far"), claim("far", bound="far"), replica_set(),
                                                      WEB(pod("w1", "far", running_on="n1")), WEB(pod("w2", "far", running_on="n2"))]),
    "attach: a node without drivers, and a volume that lies elsewhere": lambda: offered(nodes.attach_more, trial_of([
        node("n1", "a"), node("n2", "a"), csi_node("n1", 3), storage_class(), claim("data", bound="disk"),
        volume("disk", zone="b", bound="data"), pod("app", "data")])),
    "attach: two drivers are over their limits": lambda: offered(nodes.attach_more, trial_of([
        node("n1"), storage_class(), {**csi_node("n1", 0), "spec": {"drivers": [
            {"name": "a.example.com", "nodeID": "n1"}, *csi_node("n1", 0)["spec"]["drivers"], *csi_node("n1", 0, DRIVER2)["spec"]["drivers"]]}},
        volume("d1", bound="c1"), claim("c1", bound="d1"), volume("d2", bound="c2", driver=DRIVER2), claim("c2", bound="d2"),
        pod("app", "c1", "c2")])),
}  # fmt: skip

ZONAL = spread(app="web")
ROOM = partial(on_one_node, generator=nodes.make_room)


def on_n1(name, cpu="1", **fields):
    """Return a pod that runs on n1."""
    return pod(name, running_on="n1", cpu=cpu, **fields)


CPUS4 = node("n1", cpu="4")


def rollout(*more, new="web-2", strategy=None, cpu="4", there=True, top="Deployment"):
    """Return what makes room for a new replica of a Deployment whose old one is in the way."""
    app = owned(pod("app", cpu="3", labels={"app": "web", "pod-template-hash": new[-1]}), "ReplicaSet", new)
    old = owned(on_n1("w1", "3", labels={"app": "web", "pod-template-hash": "1"}), "ReplicaSet", "web-1")
    sets = [owned(replica_set(name), top, "web") for name in ("web-1", "web-2")] if there else []
    workload = [deployment(strategy) if top == "Deployment" else make.stateful_set()] if there else []
    return offered(nodes.make_room, trial_of([node("n1", cpu=cpu), *workload, *sets, old, *more, app]), sort="request")


def who_may_leave(mine):
    """Return which pods of a node may leave for one of this priority; without it, as in some files, it is 0."""
    who = {"none": {}, "0": {"priority": 0}, "1": {"priority": 1}, "5": {"priority": 5}, "6": {"priority": 6}, "-2": {"priority": -2},
           "1999999999": {"priority": 1_999_999_999}, "2000000000": {"priority": 2_000_000_000},
           "system": {"namespace": "kube-system"}, "static": {"annotations": {"kubernetes.io/config.mirror": "x"}}}  # fmt: skip
    others = {name: from_plain(pod("other", running_on="n1", **about)) for name, about in who.items()}
    others |= {kind: from_plain(owned(pod("other"), kind, "x")) for kind in ("Node", "DaemonSet", "ReplicaSet")}
    others |= {f"budget {allowed}": from_plain(pod("other", labels={"app": f"app{allowed}"})) for allowed in (0, 1)}
    app = from_plain(pod("app", **({} if mine is None else {"priority": mine})))
    objects = [app, *(from_plain(budget(f"b{allowed}", allowed, f"app{allowed}")) for allowed in (0, 1))]
    trial = TrialCluster({key_of(each): each for each in objects}, key_of(app), upstream().profile)
    return ", ".join(name for name, other in others.items() if nodes.may_leave(other, trial))


def of_claims(others):
    """Return what makes room on n1 for a pod that is rejected as a whole as long as none of these has gone."""
    def prefilter(_app, seen):
        there = [other for each in seen.all_nodes() for other in seen.pods_on(each.metadata.name)]
        return PreFilterReject("OneUser", Code.UNSCHEDULABLE, "claim is in use") if len(there) == len(others) else None

    disks = [each for name in ("data", "far") for each in (claim(name, bound=f"disk-{name}"), volume(f"disk-{name}", bound=name))]
    trial = trial_of([node("n1"), node("n2"), storage_class(), *disks, *others, pod("app", "data")])
    profile = trial.profile.with_plugin(SimpleNamespace(name="OneUser", prefilter=prefilter))
    trial = TrialCluster(trial.objects, trial.key, profile)
    rejected, = demands(trial.judge())
    return told(nodes.make_room(evolve(rejected, sort="claim"), trial, [trial.get("Node", "n1")]))


MAKING_ROOM = {
    "room: of pods that do the same the least important one of nobody, the smallest, the last by name": lambda: ROOM(
        node("n1", cpu="5"), replica_set(),
        pods=[WEB(on_n1("w1")), on_n1("b"), on_n1("a"), on_n1("zero", priority=0), on_n1("small", "500m")], cpu="1"),
    "room: of equal pods of nobody the last by name": lambda: ROOM(
        CPUS4, replica_set(), pods=[WEB(on_n1("w1")), on_n1("b"), on_n1("a"), on_n1("ab", priority=0)], cpu="1"),
    "room: of owned pods the one of lowest priority": lambda: ROOM(
        CPUS4, replica_set(), pods=[WEB(on_n1("w1", priority=-1)), WEB(on_n1("w2", priority=-2)), WEB(on_n1("w3")), WEB(on_n1("w4"))], cpu="1"),
    "room: the smaller of two that do": lambda: ROOM(
        CPUS4, replica_set(), pods=[WEB(on_n1("w1", "1500m")), WEB(on_n1("w2", "2500m"))], cpu="1"),
    "room: two must go, the smallest does not do": lambda: ROOM(
        CPUS4, replica_set(), pods=[WEB(on_n1("w1", "1500m")), WEB(on_n1("w2", "1500m")), WEB(on_n1("w3"))], cpu="3"),
    "room: pods of a higher priority, of the system and of its node stay": lambda: ROOM(
        CPUS4, pods=[on_n1("p1", priority=1), on_n1("p2", priority=2_000_000_000), DAEMON(on_n1("d")), owned(on_n1("s"), "Node", "n1")], cpu="1"),
    "room: all there is is not enough": lambda: ROOM(CPUS4, pods=[on_n1("a"), on_n1("b", priority=9)], cpu="4"),
    "room: another node takes the bare pod": lambda: ROOM(
        CPUS4, node("n2", cpu="2500m"), node("n3", cpu="2500m"), pods=[on_n1("db", "2", nodeSelector={}), on_n1("x", "1")], cpu="3"),
    "room: another node takes one of two bare pods": lambda: ROOM(
        CPUS4, node("n2", cpu="2500m"), pods=[on_n1("db", "2"), on_n1("x", "2")], cpu="4"),
    "room: at most thirty pods go": lambda: ROOM(node("n1", cpu="31"), pods=[on_n1(f"p{number}") for number in range(31)], cpu="31") or "none",
    "room: who has none of it is not among the thirty": lambda: ROOM(
        with_room(node("n1"), **{GPU: "30"}), pods=[on_n1("a"), *(on_n1(f"p{number}", requests={GPU: "1"}) for number in range(30))],
        requests={GPU: "30"}),
    "room: a priority that no file tells is 0": lambda: "\n".join(
        offered(nodes.make_room, raw_trial([CPUS4, pod("app", cpu="1"), *(on_n1(name, "2", **more) for name, more in zip("ab", those, strict=True))]),
                sort="request").splitlines()[0] for those in (({}, {"priority": 0}), ({"priority": 0}, {}))),
    "room: thirty pods go": lambda: ROOM(node("n1", cpu="30"), pods=[on_n1(f"p{number}") for number in range(30)], cpu="30"),
    "room: what budgets allow": lambda: ROOM(
        node("n1"), budget("b", 2, "db"), budget("a", 1, "db"), budget("none", 0, ""), budget("other", 0, "x"), budget("far", 0, "db", "far"),
        pods=[on_n1("db", "4", labels={"app": "db"})], cpu="1"),
    "room: the pod that refuses goes, not the one that is needed": lambda: ROOM(
        node("n1"), sort="anti-affinity", pods=[on_n1("db", labels={"app": "db"}), on_n1("w1", labels={"app": "web"})],
        affinity={**apart(app="web"), **together(make.HOST, app="db")}),
    "room: no other node takes it": lambda: ROOM(CPUS4, node("n2", cpu="1"), pods=[on_n1("db", "2")], cpu="3"),
    "room: one of a workload is not made by its owner elsewhere": lambda: ROOM(
        CPUS4, node("n2", cpu="3"), replica_set(), pods=[WEB(on_n1("w1", "2"))], cpu="3500m"),
    "room: a host port is taken": lambda: offered(nodes.make_room, trial_of([
        node("n1"), node("n2", taints=["closed"]), pod("app", **hosting(80)), pod("x", running_on="n1", **hosting(80)),
        pod("y", running_on="n1", **hosting(81))]), sort="port"),
    "room: anti-affinity over zones is of every node of the zone": lambda: ROOM(
        node("a1", "a"), node("a2", "a"), node("b1", "b", taints=["closed"]), sort="anti-affinity",
        pods=[pod("w1", running_on="a2", labels={"app": "web"}), pod("x", running_on="a2"), pod("w3", running_on="b1", labels={"app": "web"})],
        labels={"app": "web"}, affinity=apart(make.ZONE, app="web")),
    "room: two pods of a zone refuse it": lambda: offered(nodes.make_room, trial_of([
        node("a1", "a"), node("a2", "a"), replica_set(), WEB(pod("w1", running_on="a2", labels={"app": "web"})),
        WEB(pod("w2", running_on="a1", labels={"app": "web"})), pod("x", running_on="a1"),
        pod("app", affinity=apart(make.ZONE, app="web"))]), sort="anti-affinity"),
    "room: another pod of the zone objects": lambda: offered(nodes.make_room, trial_of([
        node("n1", "a"), node("n2", "a"), pod("w1", running_on="n2", affinity=apart(make.ZONE, app="db")), pod("app", labels={"app": "db"})]),
        "n1", sort="objection"),
    "room: half of the pods of a zone, as without all of them other zones would have too many": lambda: offered(nodes.make_room, trial_of([
        node("a1", "a"), node("a2", "a"), node("b1", "b", taints=["closed"]), node("c1", "c", taints=["closed"]),
        *(pod(f"{on}-{number}", running_on=on, labels={"app": "web"}) for on, count in (("a2", 4), ("b1", 2), ("c1", 2))
          for number in range(count)),
        pod("app", labels={"app": "web"}, topologySpreadConstraints=[ZONAL])]), "a1", sort="spread"),
    "room: nodes without the key of a spread are no domain": lambda: offered(nodes.make_room, trial_of([
        node("n1"), node("n2"), *(pod(f"w{number}", running_on=f"n{number}", labels={"app": "web"}) for number in (1, 2)),
        pod("app", labels={"app": "web"}, topologySpreadConstraints=[ZONAL])]), sort="spread"),
    "room: who has the same claim, wherever it runs": lambda: of_claims(
        [pod("old", "data", running_on="n2"), pod("x", running_on="n1"), pod("y", "far", running_on="n1")]),
    "room: who has a volume there, where nobody has the same claim": lambda: of_claims(
        [pod("far", "far", running_on="n2"), pod("x", "far", running_on="n1"), pod("y", running_on="n1")]),
    "room: a spread counts too many": lambda: offered(nodes.make_room, trial_of([
        node("a1", "a"), node("b1", "b", taints=["closed"]), node("c1"), pod("w1", running_on="a1", labels={"app": "web"}),
        pod("w2", running_on="a1", labels={"app": "web"}), pod("app", labels={"app": "web"}, topologySpreadConstraints=[ZONAL])]),
        sort="spread"),
    "room: a rollout deletes the old replica first": rollout,
    "room: a Deployment that does so already": lambda: rollout(strategy={"maxSurge": 0, "maxUnavailable": 1}),
    "room: an old replica of the same set is no rollout's": lambda: rollout(new="web-1"),
    "room: where the old one is not enough, others go, too": lambda: rollout(on_n1("x")),
    "room: another pod would do as well": lambda: rollout(on_n1("x", "3"), cpu="7"),
    "room: of a Deployment that is not there": lambda: rollout(there=False),
    "room: of another kind of workload": lambda: rollout(top="StatefulSet"),
    "room: who may leave": lambda: "\n".join(f"for {mine}: {who_may_leave(mine)}" for mine in (None, -1, 0, 5, 2_000_000_001)),
}  # fmt: skip


def hosting(*ports):
    """Return the containers of a pod that has ports of its node."""
    return {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": port, "hostPort": port} for port in ports]}]}


AMOUNTS = {"cpu": "500m", "memory": "1Gi"}


def adding(*there, near=(), **asked):
    """Return what adding a node offers, as a copy of these nodes or of all."""
    trial = trial_of([*there, pod(**asked)])
    return told(nodes.add_node(trial, [trial.get("Node", name) for name in near] or trial.seen.all_nodes()))


REGION = "topology.kubernetes.io/region"
IN_ZONE = partial(volume, "disk", bound="data")
CLAIMED = claim("data", bound="disk")


def adding_for(*there, claims=("data",), near=(), **fields):
    """Return what adding a node offers for a pod with claims."""
    trial = trial_of([*there, pod("app", *claims, **fields)])
    return told(nodes.add_node(trial, [trial.get("Node", name) for name in near] or trial.seen.all_nodes()))


ADDING = {
    "add: a copy of a node without a zone": lambda: adding(node("n1", cpu="2"), requests=AMOUNTS),
    "add: larger than the node in some amounts": lambda: adding(node("n1", cpu="2", memory="1Gi"), requests={"cpu": "2", "memory": "3Gi"}),
    "add: a resource that the node does not have, one that it has too little of, one that is told as the pod asks for it": lambda: adding(
        with_room(node("n1"), **{"example.com/a": "1", "ephemeral-storage": "9Gi"}),
        requests={"example.com/a": "2", "example.com/b": "1", "ephemeral-storage": "9Gi"}),
    "add: where pods are what the node is full of": lambda: adding(
        node("n1", pods="1"), pod("x", running_on="n1"), requests={"cpu": "1"}),
    "add: one more pod would fit": lambda: adding(node("n1", pods="2"), pod("x", running_on="n1"), requests={"cpu": "1"}),
    "add: a host name is selected that no node has": lambda: adding(node("n1"), nodeSelector={make.HOST: "n9"}),
    "add: another host than this": lambda: adding(node("n1"), affinity=selector([(make.HOST, "NotIn", "n1")])),
    "add: what is selected is what the affinity wants": lambda: adding(
        node("n1"), nodeSelector={"disk": "ssd"}, affinity=selector([("disk", "Exists"), ("row", "Exists")])),
    "add: a spread over racks and hosts, of which the rack is selected": lambda: adding(
        node("n1", labels={make.RACK: "r"}), topologySpreadConstraints=[spread(make.RACK), spread(make.HOST)], nodeSelector={make.RACK: "r"}),
    "add: the node runs no pod at all": lambda: adding(node("n1", pods="0"), requests={"cpu": "1"}),
    "add: with the labels that are selected, of which a kubelet may not set all": lambda: adding(
        node("n1", "a", labels={"disk": "hdd"}), nodeSelector={"node-role.kubernetes.io/db": "", "disk": "ssd"}),
    "add: in the zone that is selected": lambda: adding(node("n1", "a", labels={"row": "r"}), nodeSelector={make.ZONE: "b", REGION: "r"}),
    "add: with a label that its affinity demands": lambda: adding(
        node("n1", "a"), affinity=selector([("disk", "In", "ssd"), (make.ZONE, "Exists"), ("old", "DoesNotExist")])),
    "add: with none where one term holds as it is": lambda: adding(
        node("n1", "a"), affinity=selector([(make.ZONE, "In", "a")], [("disk", "In", "ssd")])),
    "add: without the taints of its model, but with those of a device that the pod asks for": lambda: adding(
        node("n1", taints=["dedicated"]), with_room(node("g1", taints=[f"{GPU}=x:NoExecute", "other"]), **{GPU: "1"}),
        with_room(node("g2", taints=[f"{GPU}=x:NoExecute"]), **{GPU: "1"}), near=["n1", "g1"], requests={GPU: "1"}),
    "add: of a node that is not ready, one that is": lambda: adding(
        node("n1", unschedulable=True) | {"status": {**node("n1")["status"], "conditions": [
            {"type": "Ready", "status": "Unknown"}, {"type": "DiskPressure", "status": "True"}]}}),
    "add: with the drivers of its model": lambda: adding(node("n1"), csi_node("n1", 3)),
    "add: a spread over zones": lambda: adding(node("n1", "a"), labels={"app": "web"}, topologySpreadConstraints=[ZONAL]),
    "add: a spread over zones of nodes without one": lambda: adding(node("n1"), topologySpreadConstraints=[ZONAL]),
    "add: a spread over hosts and racks": lambda: adding(
        node("n1", "a", labels={make.RACK: "r"}), topologySpreadConstraints=[spread(make.RACK), spread(make.HOST)]),
    "add: a spread over the selected zone": lambda: adding(node("n1", "a"), topologySpreadConstraints=[ZONAL], nodeSelector={make.ZONE: "a"}),
    "add: affinity to pods names the zone": lambda: adding(node("n1", "a"), affinity=together(app="db")),
    "add: the name of a new domain is taken": lambda: adding(
        node("n1"), node("n1-more-domain"), topologySpreadConstraints=[spread(make.HOST)], near=["n1"]),
    "add: a bound volume lies in another zone": lambda: adding_for(node("n1", "a"), storage_class(), CLAIMED, IN_ZONE(zone="b")),
    "add: a bound volume lies here": lambda: adding_for(node("n1", "a"), storage_class(), CLAIMED, IN_ZONE(zone="a")),
    "add: a bound volume is labelled with two zones and a region": lambda: adding_for(
        node("n1", "a"), storage_class(), CLAIMED, IN_ZONE(labels={make.ZONE: "b__c", REGION: "r", "team": "shop"})),
    "add: a local volume of a node that is gone": lambda: adding_for(
        node("n1", "a"), csi_node("n1", 3), storage_class(), CLAIMED, volume("disk", "10Gi", "late", {make.HOST: ["old"]}, bound="data")),
    "add: a local volume of a node that is there": lambda: adding_for(
        node("n1", "a"), node("old", "a"), storage_class(), CLAIMED, volume("disk", "10Gi", "late", {make.HOST: ["old"]}, bound="data"),
        near=["n1"]),
    "add: two claims, one bound to a volume that is gone, one of a class that allows one zone": lambda: adding_for(
        node("n1", "a"), storage_class(allowed=[{make.ZONE: ["b", "c"]}, {make.ZONE: ["d"]}]), claim("data", bound="gone"), claim("logs"),
        claims=["data", "logs", "none"]),
    "add: two claims of two classes that allow other zones": lambda: adding_for(
        node("n1", "a"), storage_class(allowed=[{make.ZONE: ["b"], REGION: ["r"]}]), storage_class("slow", allowed=[{make.ZONE: ["b"]}]),
        claim("data"), claim("logs", storage_class="slow"), claim("more"), claims=["data", "logs", "more"]),
    "add: a class that allows the zone of the node": lambda: adding_for(
        node("n1", "a"), storage_class(allowed=[{make.ZONE: ["a"]}]), claim("data")),
}  # fmt: skip

NODES = {**LABELS, **MACHINES, **ATTACH, **MAKING_ROOM, **ADDING}

"""Cases of what an operator does with nodes and components: `kvolsched/questions/fix/node_states.py`."""

from fix_cases.whole import offered, told, trial_of
from kvolsched import Cluster, make
from kvolsched.api.text.manifest import from_plain
from kvolsched.make import claim, csi_node, node, pod, storage_class
from kvolsched.questions.fix import node_states
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Key

LONG = "node.kubernetes.io/"
SICK = {name: f"{LONG}{name}:NoSchedule" for name in ("unreachable", "not-ready", "disk-pressure", "memory-pressure", "pid-pressure",
                                                      "network-unavailable", "unschedulable")}  # fmt: skip
CLOUD = "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule"
SCALED_DOWN = "ToBeDeletedByClusterAutoscaler"


def conditioned(made, **conditions):
    """Return a node with these conditions, each (status, message)."""
    told_of = [{"type": kind, "status": status, **({"message": message} if message else {})} for kind, (status, message) in conditions.items()]
    return made | {"status": made["status"] | {"conditions": told_of}}


def cordoned(*nodes, near=()):
    """Return what uncordons nodes."""
    return offered(node_states.uncordon, trial_of([*nodes, pod()]), *near, sort="cordon") or "nothing"


def tainted(*nodes, near=()):
    """Return what is offered for the taints of nodes."""
    return offered(node_states.untaint, trial_of([*nodes, pod()]), *near, sort="taint") or "nothing"


def all_alike(*taints):
    """Return what every node needs."""
    return node_states.state_of_all([from_plain(node(f"n{number}", taints=each)) for number, each in enumerate(taints)]) or "nothing"


def asked(key, *nodes):
    """Return the advice to ask who removes nodes."""
    return told([node_states.ask_the_autoscaler(key, {key_of(each): each for each in map(from_plain, [*nodes, pod()])})])


def components(*manifests, message="", claims=("data",)):
    """Return what somebody must run or permit for a pod whose claims wait."""
    said = {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": message}]}} if message else {}
    cluster = Cluster.from_manifests([node("n1"), *manifests, pod("app", *claims) | said])
    return told(node_states.edits_of_components(cluster, Key("Pod", "default", "app"))) or "nothing"


UNSCHEDULABLE = SICK["unschedulable"]
FORBIDDEN = ('running PreBind plugin "VolumeBinding": binding volumes: persistentvolumeclaims "data" is forbidden: User '
             '"system:kube-scheduler" cannot patch resource "persistentvolumeclaims" in API group "" in the namespace "default"')
SELECTED = claim("data", selected_node="n1")
STATES = {
    "state: cordoned, with the taint of it and another, and one that is sick, too": lambda: cordoned(
        node("n1", unschedulable=True, taints=[UNSCHEDULABLE, "keep"]), node("n2", unschedulable=True), node("n3"),
        node("n4", unschedulable=True, taints=[SICK["unreachable"]])),
    "state: what was closed on purpose": lambda: tainted(node("n1", taints=["db=x:NoSchedule", "db:NoExecute", "other"]), node("n2", taints=["db:PreferNoSchedule", "other"])),
    "state: a machine is away": lambda: tainted(
        conditioned(node("n1", taints=[SICK["unreachable"], "keep"]), Ready=("Unknown", "kubelet is silent"), DiskPressure=("True", "full")), node("n2", cpu="10m")),
    "state: all machines are away": lambda: tainted(
        conditioned(node("n1", taints=[SICK["not-ready"]]), Ready=("False", "")), node("n2", taints=[SICK["network-unavailable"], SICK["disk-pressure"]])),
    "state: short of something, said by a condition": lambda: "\n\n".join(tainted(
        conditioned(node("n1", taints=[SICK[taint]]), **{kind: ("True", "it is full")})) for taint, kind in (
            ("disk-pressure", "DiskPressure"), ("memory-pressure", "MemoryPressure"), ("pid-pressure", "PIDPressure"))),
    "state: short of two things, of which no condition says one": lambda: tainted(
        conditioned(node("n1", taints=[SICK["memory-pressure"], SICK["disk-pressure"]]), DiskPressure=("True", ""), MemoryPressure=("False", ""))),
    "state: not initialised, two of three": lambda: tainted(node("n1", taints=[CLOUD]), node("n2", taints=[CLOUD, "x"]), node("n3", cpu="10m"), near=["n1"]),
    "state: not initialised, one": lambda: tainted(node("n1", taints=[CLOUD])),
    "state: about to be removed, and short": lambda: tainted(node("n1", taints=[SCALED_DOWN, SICK["disk-pressure"]])),
    "state: what all need": lambda: "\n".join([
        all_alike(), all_alike([CLOUD]), all_alike([CLOUD], [CLOUD, SICK["unreachable"]]), all_alike([CLOUD], []), all_alike([SICK["unreachable"]]),
        all_alike([SICK["unreachable"]], [SICK["not-ready"]]), all_alike([SICK["unreachable"]], [SICK["disk-pressure"]]), all_alike(["x"], ["x"])]),
    "state: who removes nodes": lambda: "\n\n".join([
        asked(SCALED_DOWN, node("n2", taints=[f"{SCALED_DOWN}=1767225600:NoSchedule"]), node("n1", taints=["x=5:NoSchedule", f"{SCALED_DOWN}=1577836800:NoSchedule"]),
              node("n0")),
        *(asked(SCALED_DOWN, node("n1", taints=[f"{SCALED_DOWN}{value}:NoSchedule"])) for value in ("", "=soon", "=12345678", "=999999999", "=17672256000")),
        asked("karpenter.sh/disrupted", node("n1", taints=["karpenter.sh/disrupted:NoSchedule"]))]),
    "component: a permission": lambda: components(storage_class(), claim(), message=FORBIDDEN),
    "component: no such provisioner, one of a near name": lambda: components(
        storage_class(provisioner="disks.example.con"), make.csi_driver("disks.example.com"), csi_node("n1", 3), SELECTED),
    "component: no driver on the node": lambda: components(
        storage_class(), csi_node("n1"), node("n2"), csi_node("n2", 3, topology_keys=[make.ZONE]), node("n3"), csi_node("n3", 4), SELECTED),
    "component: a driver there, beside another": lambda: components(storage_class(), csi_node("n1", 3), node("n2"), csi_node("n2"), SELECTED),
    "component: no driver anywhere": lambda: components(storage_class(), csi_node("n1", 3, "other.example.com"), SELECTED),
    "component: claims that wait for nobody": lambda: components(
        storage_class(), storage_class("hand", make.LOCAL), claim("a"), claim("b", bound="x", selected_node="n1"), claim("c", storage_class="hand", selected_node="n1"),
        claim("d", storage_class="gone", selected_node="n1"), claims=["a", "b", "c", "d", "e"]),
    "component: two claims, one twice": lambda: components(
        storage_class(), csi_node("n1"), node("n2"), csi_node("n2", 3), SELECTED, claim("logs", selected_node="n2"), claims=["data", "logs", "data"]),

}  # fmt: skip

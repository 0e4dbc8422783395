"""Random runs: what a seed makes of a cluster, which acts and faults strike it, and what was wrong in it.

Everything that a run does follows from its seed: `python tests/fault_runs.py 17` plays one and tells its acts. An act
is drawn from its own number and the present objects, so that acts can be left out one by one to find those that matter.
"""

import random
import sys
from contextlib import suppress
from functools import partial

from kvolsched import ApplyRefused, Cluster
from kvolsched.explore import (
    claims_and_volumes_match,
    nodes_hold_what_they_run,
    pods_reach_their_volumes,
    pods_stay,
    versions_grow,
)
from kvolsched.make import (
    DRIVER,
    HOST,
    ZONE,
    claim,
    csi_driver,
    csi_node,
    deployment,
    disk,
    node,
    pod,
    stateful_set,
    storage_class,
)
from kvolsched.questions.explore.invariants import forgotten
from kvolsched.scheduler.columns.pod_counts import required_affinity
from kvolsched.world.log import Key, Note

INVARIANTS = (versions_grow, claims_and_volumes_match, pods_stay, pods_reach_their_volumes)
QUIET_SECONDS = 900.0  # after the last act
MOST_STEPS = 600
MOST_ACTS = 12
ZONES = ("zone-a", "zone-b")
COMPONENTS = (
    "kube-scheduler", "persistent-volume-binder", "kubelet", "statefulset-controller", "replicaset-controller",
    "deployment-controller", "daemonset-controller", "generic-garbage-collector", "pvc-protection-controller",
    "pv-protection-controller", "node-lifecycle-controller", "taint-eviction-controller", "disruption-controller",
    "replicationcontroller-controller", "pod-garbage-collector-controller", DRIVER,
)  # fmt: skip
REASONS = ("Conflict", "ServiceUnavailable", "TooManyRequests", "InternalError")


# -- clusters ----------------------------------------------------------------------------------------------------------


def objects(rng):
    """Return the manifests of a small cluster: nodes, classes, volumes, and what wants nodes and volumes."""
    made = []
    for number in range(rng.randint(1, 4)):
        name = f"n{number}"
        made.append(node(name, zone_of(number), cpu=rng.choice(("300m", "1", "4")), pods=rng.choice(("2", "9")),
                         taints=[t for t in ("team",) if rng.random() < 0.15], ready="True"))
        if rng.random() < 0.4:
            made.append(csi_node(name, rng.choice((1, 2, 9))))
        if rng.random() < 0.5:
            made += [disk(f"disk-{name}-{n}", name, rng.choice(("5Gi", "10Gi"))) for n in range(rng.randint(1, 2))]
    made += [storage_class("late"), storage_class("soon", waits=False),
             storage_class("local", "kubernetes.io/no-provisioner")]
    made += [csi_driver()] * rng.randrange(2)
    made += wanted(rng, rng.randint(1, 4))
    if rng.random() < 0.2:
        made.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "budget"},
                     "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}})
    return made


def zone_of(number):
    """Return the zone of a node: it is the same if a user makes the node again, as pods and volumes on it are."""
    return ZONES[number % 2]


def wanted(rng, count, prefix=""):
    """Return manifests of pods with their claims, or of workloads."""
    made = []
    for number in range(count):
        name, cpu, late = f"{prefix}p{number}", rng.choice(("100m", "200m", "900m")), rng.choice(("late", "soon", "local"))
        match rng.randrange(6):
            case 0:
                made.append(deployment("web", rng.randint(1, 3), cpu=cpu, **rules(rng)))
            case 1:
                made.append(stateful_set("db", rng.randint(1, 3), rng.choice((late, "")), cpu=cpu, **rules(rng),
                                         management=rng.choice(("OrderedReady", "Parallel"))))
            case 2:
                made.append(daemon_set("agent", cpu))
            case _:
                claims = [f"{name}-c{n}" for n in range(rng.randint(0, 2))]
                made += [claim(each, rng.choice(("1Gi", "8Gi")), rng.choice((late, "local", "late")),
                               accessModes=[rng.choice(("ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod"))])
                         for each in claims]
                claims += [f"{prefix}p0-c0"] * (rng.random() < 0.1)  # shared with another pod, or not there
                gates = ["wait"] if rng.random() < 0.1 else []
                made.append(pod(name, *claims, cpu=cpu, gates=gates, labels={"app": "web"}, **rules(rng)))
    return list({(each["kind"], each["metadata"]["name"]): each for each in made}.values())


def rules(rng):
    """Return fields of a pod's spec that restrict its nodes."""
    match rng.randrange(9):
        case 0:
            return {"nodeSelector": rng.choice(({ZONE: "zone-a"}, {ZONE: "zone-b"}, {"disk": "ssd"}))}
        case 1:
            term = {"labelSelector": {"matchLabels": {"app": rng.choice(("web", "db"))}},
                    "topologyKey": rng.choice((HOST, ZONE))}
            kind = rng.choice(("podAntiAffinity", "podAffinity"))
            return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
        case 2:
            return {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": rng.choice((HOST, ZONE)),
                    "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}]}
        case 3:
            return {"priority": rng.choice((0, 100))}
        case 4:
            return {"tolerations": [{"key": "team", "operator": "Exists"}]}
        case 5:
            container = {"name": "app", "image": "app:1", "ports": [{"containerPort": 80, "hostPort": 80}]}
            return {"containers": [container]}
    return {}


def daemon_set(name, cpu):
    """Return a DaemonSet that tolerates every taint."""
    made = deployment(name, cpu=cpu, tolerations=[{"operator": "Exists"}])
    made["kind"] = "DaemonSet"
    del made["spec"]["replicas"]
    return made


def cluster(rng):
    """Return a random cluster, with drivers that are slow, fail or have little room."""
    driver = {"delay": rng.choice((0.0, 0.3, 20.0)), "fail_chance": rng.choice((0, 0, 40))}
    if rng.random() < 0.3:
        driver |= {"fails": [{"times": rng.randint(1, 3), "code": rng.choice(("ResourceExhausted", "Internal"))}]}
    if rng.random() < 0.3:
        driver["pools"] = {zone: rng.choice(("5Gi", "20Gi")) for zone in ZONES}
    revision = rng.choice(("upstream", "upstream", "upstream", "design"))
    dials = {DRIVER: driver, "kubelet": {"start_delay": rng.choice((0.0, 1.0)), "stop_delay": rng.choice((0.0, 5.0))}}
    return Cluster.from_manifests(objects(rng), revision=revision, components=dials, seed=rng.randrange(1000))


# -- acts --------------------------------------------------------------------------------------------------------------


def names(c, *kinds):
    """Return references to the objects of these kinds."""
    return [f"{kind}/{each.metadata.name}" for kind in kinds for each in c.objects(kind)]


def run_on(c, rng):
    """Let some time pass."""
    return partial(c.run, seconds=rng.choice((0.5, 5.0, 60.0, 400.0)), steps=60)


def out_of_turn(c, rng):
    """Let any actor that may act do so."""
    turns = list(c.next)
    if not turns:
        return run_on(c, rng)
    turn = rng.choice(turns)
    return partial(c.step, turn.actor, turn.cause, turns=rng.random() < 0.5)


def of_component(c, rng):
    """Strike a component: crash, refusals, a delay in which it sees nothing."""
    component = rng.choice([name for name in COMPONENTS if name in c.world.processes])
    match rng.randrange(3):
        case 0:
            return partial(c.crash, component)
        case 1:
            return partial(c.refuse, component, rng.randint(1, 3), rng.choice(REASONS))
    return partial(c.delay, component, rng.choice((1.0, 30.0, 200.0)))


def of_connection(c, rng):
    """Let the API server answer nobody."""
    return partial(c.outage, seconds=rng.choice((0.1, 10.0, 100.0)))


def of_nodes(c, rng):
    """Strike nodes: their kubelets stop or start, they are cordoned, tainted, labelled, drained."""
    nodes = [name.partition("/")[2] for name in names(c, "node")]
    if not nodes:
        return run_on(c, rng)
    name, number = rng.choice(nodes), rng.randrange(6)
    return rng.choice((
        partial(c.stop_nodes, name), c.start_nodes, partial(c.cordon, name), partial(c.uncordon, name),
        partial(c.taint, name, f"broken=yes:{rng.choice(('NoSchedule', 'NoExecute'))}", overwrite=True),
        partial(c.taint, name, "broken-"), partial(c.taint, name, "team-"),
        partial(c.label, f"node/{name}", rng.choice(("disk=ssd", "disk=hdd", "disk-")), overwrite=True),
        partial(c.drain, name, ignore_daemonsets=True, force=True, delete_emptydir_data=True),
        partial(c.apply, node(f"n{number}", zone_of(number), cpu="300m" if number == 5 else "4", ready="True")),
        partial(c.apply, csi_node(name, rng.choice((0, 1, 9)))),
    ))


def protected(obj):
    """Say whether a claim or volume stays while it is in use."""
    return any(finalizer.endswith("-protection") for finalizer in obj.metadata.finalizers)


def of_users(c, rng):
    """Create, delete, scale, edit as a user does."""
    there = names(c, "pod", "pvc", "pv", "node", "deployment", "statefulset", "daemonset", "storageclass", "csinode")
    # What no finalizer protects, a user may delete while it is in use: nothing that follows is a component's fault.
    there = [name for name in there if not name.startswith("pv") or protected(c[name])]
    some = rng.choice(there) if there else ""
    pods, sets = names(c, "pod"), names(c, "deployment", "statefulset")
    pools = [row.pool for row in c.pools()]
    new = rng.choice((wanted(rng, 1, f"x{rng.randrange(9)}"), disk(f"disk-x{rng.randrange(9)}", f"n{rng.randrange(4)}"),
                      storage_class("late", allowed=[{ZONE: [rng.choice(ZONES)]}])))
    choices = [partial(c.apply, new), partial(c.delete, some)]
    choices += [partial(c.delete, rng.choice(pods)), partial(c.evict, rng.choice(pods)),
                partial(c.ungate, rng.choice(pods), "wait"),
                partial(c.label, rng.choice(pods), "app=other", overwrite=True)] if pods else []
    choices += [partial(c.set_pool, DRIVER, rng.choice(pools), capacity=rng.choice(("5Gi", "50Gi")))] if pools else []
    choices += [partial(c.scale, rng.choice(sets), rng.randint(0, 4))] * 2 if sets else []
    return rng.choice(choices)


SORTS = (run_on, run_on, out_of_turn, out_of_turn, of_component, of_component, of_connection, of_nodes, of_nodes,
         of_users, of_users)  # fmt: skip
REFUSALS = (ApplyRefused, ValueError, LookupError)  # what a user may be told; everything else is a finding


# -- pods that kube-scheduler forgets, too -----------------------------------------------------------------------------


def left_by_kube_scheduler(c, name):
    """Say why kube-scheduler v1.36.2 leaves a pod for five minutes, too; "" if it would not."""
    rejected_by = c.world.log.notes[Note("kube-scheduler", "queue", name)].rejected_by
    pod, = (each for each in c.objects("pod") if f"{each.metadata.namespace}/{each.metadata.name}" == name)
    nodes = {each.metadata.name for each in c.objects("node")}
    near = required_affinity(pod)
    placed = [each for each in c.objects("pod") if each.spec.node_name and not each.terminal]

    def is_wanted(other):
        return all(term.label_selector.matches(other.metadata.labels) for term in near)

    if "InterPodAffinity" in rejected_by and near and is_wanted(pod) and not any(
        is_wanted(each) and each.spec.node_name in nodes for each in placed
    ):
        return ("interpodaffinity, isSchedulableAfterPodChange: a pod that goes queues those that it excluded, not those "
                "that wanted it, though the first of a group needs no other")
    if any(each.spec.node_name not in nodes for each in placed):
        return ("EventsToRegister: the deletion of a node queues what PodTopologySpread rejected, nothing else, though "
                "its pods count no more; here no pod garbage collector deletes them")
    return ""


# -- runs --------------------------------------------------------------------------------------------------------------


class Run:
    """One run, with what it did and what was wrong in it. Mutable.

    Args:
        seed: what the cluster and its acts follow from.
        without: the numbers of the acts that are left out.
    """

    def __init__(self, seed, without=frozenset()):
        self.seed = seed
        self.without = without
        self.acts = {}  # number -> what was done, in words
        self.wrong = ""
        self.cluster = cluster(random.Random(seed))
        # Before 1.12 the DaemonSet controller asks no scheduler for room: the kubelet rejects its pods.
        binds_daemons = self.cluster.revision.name == "design"
        self.invariants = INVARIANTS if binds_daemons else (*INVARIANTS, nodes_hold_what_they_run)
        self._checked = self.cluster.world.place
        self._before = dict(self.cluster.world.log.objects)

    def play(self):
        """Do every act, then let the cluster come to rest; return what was wrong first, "" if nothing was."""
        count = random.Random(f"{self.seed} acts").randint(2, MOST_ACTS)
        for number in range(count):
            if number not in self.without and not self.wrong:
                self._do(number)
        self.check()
        if not self.wrong:
            self.cluster.start_nodes()
            self.cluster.run(seconds=QUIET_SECONDS, steps=MOST_STEPS)
            self.check()
            lost = [f"pod {name} waits for an event, and {node} would fit" for name, node in forgotten(self.cluster)
                    if not left_by_kube_scheduler(self.cluster, name)]
            self.wrong = self.wrong or next(iter(lost), "")
        return self.wrong

    def _do(self, number):
        rng = random.Random(f"{self.seed} act {number}")
        act = rng.choice(SORTS)(self.cluster, rng)
        arguments = [*map(str, act.args), *(f"{k}={v}" for k, v in act.keywords.items())] if hasattr(act, "args") else []
        self.acts[number] = f"t={self.cluster.now:g} {getattr(act, 'func', act).__name__}({', '.join(arguments)[:200]})"
        try:
            act()
        except REFUSALS as refused:
            self.acts[number] += f": {str(refused).splitlines()[0][:120]}"
        self.check()

    def check(self):
        """Check every invariant at every write since the last check."""
        log = self.cluster.world.log
        for key, _, new in log.changes[self._checked - log.base : log.place - log.base]:
            if not isinstance(key, Key) or key.kind == "Event":
                continue
            after = {**self._before, key: new}
            if new is None:
                del after[key]
            for invariant in self.invariants:
                self.wrong = self.wrong or invariant(self._before, after)
            self._before = after
        self._checked = log.place


def wrong(seed, without=frozenset()):
    """Return what is wrong in a run, "" for nothing; an exception is wrong, too."""
    try:
        return Run(seed, without).play()
    except Exception as error:  # noqa: BLE001 - told as a finding
        return f"{type(error).__name__}: {error}"


def report(seed):
    """Return what was wrong in a run with the fewest acts that lead there, as lines; "" if nothing was."""
    found = wrong(seed)
    if not found:
        return ""
    without = frozenset()
    for number in range(MOST_ACTS, -1, -1):
        if wrong(seed, without | {number}) == found:
            without |= {number}
    run = Run(seed, without)
    with suppress(Exception):
        run.play()
    return "\n".join([f"seed {seed}: {found}", *(f"  {number}. {words}" for number, words in run.acts.items())])


if __name__ == "__main__":
    print(*map(report, map(int, sys.argv[1:])), sep="\n")

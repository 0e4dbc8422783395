"""Cases of the edits of pods: `kvolsched/questions/fix/pods.py`."""

from functools import partial

from fix_cases.whole import offered, owned, replica_set, selector, told, trial_of, with_room
from kvolsched import make
from kvolsched.make import apart, node, pod, spread, together
from kvolsched.questions.fix import pods

GPU, RACK, HOST, ZONE = "nvidia.com/gpu", make.RACK, make.HOST, make.ZONE
WEB = partial(owned, kind="ReplicaSet", name="web-1")


def tolerating(*taints, **fields):
    """Return the tolerations that are offered for nodes with these taints, each a list."""
    return offered(pods.tolerate, trial_of([*(node(f"n{number}", taints=each) for number, each in enumerate(taints)), pod(**fields)]), sort="taint")


def selecting(labels, *there, near=(), **fields):
    """Return the other selectors that are offered where nodes have these labels."""
    nodes = [node(f"n{number}", labels=each) for number, each in enumerate(there)]
    return offered(pods.change_node_selector, trial_of([*nodes, pod(nodeSelector=labels, **fields)]), *near, sort="node selector")


def affine(*terms, there=({"disk": "nvme-ssd"},), owner=None, **fields):
    """Return what is offered for a required node affinity that no node matches."""
    app = pod(affinity=selector(*terms), **fields)
    nodes = [node(f"n{number}", labels=each) for number, each in enumerate(there)]
    return offered(pods.drop_node_affinity, trial_of([*nodes, owned(app, owner, "agent") if owner else app]), sort="node affinity")


def lower(*there, others=(), near=(), owner="", **asked):
    """Return the smaller requests that are offered."""
    app = pod(**asked)
    return offered(pods.lower_request, trial_of([*there, *others, WEB(app) if owner else app]), *near, sort="request")


def containers(*requests, limits=None, **fields):
    """Return a pod's containers that ask for these amounts."""
    return {"containers": [{"name": f"c{number}", "image": "i", "resources": {"requests": each, **({"limits": limits} if limits else {})}}
                           for number, each in enumerate(requests)], **fields}  # fmt: skip


TOLERATE = {
    "tolerate: a taint of two nodes, with a value and without": lambda: tolerating(["dedicated=db:NoSchedule"], ["dedicated:NoExecute"]),
    "tolerate: one taint, beside one that only is avoided and one of another key": lambda: tolerating(
        ["dedicated=db:NoSchedule", "dedicated=x:PreferNoSchedule"], ["dedicated=db:NoSchedule"]),
    "tolerate: what keeps off those without a device": lambda: tolerating([f"{GPU}:NoSchedule"], requests={GPU: "1"}),
    "tolerate: nothing that tells of a node's state": lambda: tolerating(["node.kubernetes.io/unreachable:NoExecute"]),
    "tolerate: two keys": lambda: tolerating(["a:NoSchedule", "b:NoSchedule"]),
}  # fmt: skip

SELECT = {
    "select: values that are near, and others": lambda: selecting(
        {"disk": "nvme-ssx"}, {"disk": "nvme-ssd"}, {"disk": "nvme-sst"}, {"disk": "hdd"}, {}),
    "select: no node has the key": lambda: selecting({"disk": "ssd", "row": "r"}, {"disc": "ssd"}, {"row": "r", "disks": "x"}),
    "select: the key of today": lambda: selecting({"beta.kubernetes.io/os": "linux"}, {"kubernetes.io/os": "linux"}, {"kubernetes.io/os": "linux"}),
    "select: another architecture, which is no slip": lambda: selecting(
        {"kubernetes.io/arch": "amd65"}, {"kubernetes.io/arch": "amd64"}, {"kubernetes.io/arch": "arm64"}, {}),
    "select: another system": lambda: selecting({"example.com/os": "windows"}, {"example.com/os": "linux"}),
    "select: one label that is met, and one that no node has": lambda: selecting({"disk": "ssd", "row": "r"}, {"disk": "ssd"}),
    "select: another host costs more": lambda: selecting({HOST: "gone-1"}, {}, {}),
    "select: only what is near is named": lambda: selecting({"disk": "ssd"}, {"disk": "hdd"}, {"disk": "tape"}, near=["n1"]),
}  # fmt: skip

AFFINITY = {
    "affinity: a value that is near": lambda: affine([("disk", "In", "nvme-ssx")]),
    "affinity: two values, of which one is near": lambda: affine([("disk", "In", "nvme-ssx", "tape")]),
    "affinity: a key that is near, in the second part of the second term": lambda: affine(
        [("row", "In", "a")], [("row", "Exists"), ("disks", "In", "nvme-ssd"), ("row", "Exists")]),
    "affinity: what must not be is no slip": lambda: affine([("disk", "NotIn", "nvme-ssd"), ("disk", "NotIn", "nvme-ssx")]),
    "affinity: a value that a node has": lambda: affine(
        [("disk", "In", "nvme-ssd"), ("row", "In", "b")], there=({"disk": "nvme-ssd"}, {"disk": "nvme-sst"})),
    "affinity: of a DaemonSet's pod none but the slip": lambda: affine([("disk", "In", "nvme-ssx")], owner="DaemonSet"),
    "affinity: of a ReplicaSet's pod": lambda: affine([("disk", "In", "x")], owner="ReplicaSet"),
    "affinity: none": lambda: told(pods.drop_node_affinity(None, trial_of([node(), pod()]), [])) or "nothing",
}  # fmt: skip

CPU2 = node("n1", cpu="2")
LOWER = {
    "lower: to what is free": lambda: lower(CPU2, cpu="2500m"),
    "lower: to half and not below, by node": lambda: lower(
        CPU2, node("n2", cpu="1250m"), node("n3", cpu="1249m"), others=[pod("x", running_on="n1", cpu="500m")], cpu="2500m"),
    "lower: of the largest container, whose limit stays": lambda: lower(
        CPU2, **containers({"cpu": "500m"}, {"cpu": "2"}, {"cpu": "1"}, limits={"cpu": "3"})),
    "lower: not where the largest has less than what is too much": lambda: lower(
        node("n1", cpu="2"), **containers(*[{"cpu": "500m"}] * 3, {"memory": "1Mi"}, initContainers=containers({"cpu": "3"})["containers"])),
    "lower: a device, whose limit is its request": lambda: lower(
        with_room(node("n1"), **{GPU: "2"}), **containers({GPU: "3"}, limits={GPU: "3"})),
    "lower: a slip of the unit, thousand times as much": lambda: lower(CPU2, cpu="500"),
    "lower: a slip of the unit of memory": lambda: lower(node("n1", memory="4Gi"), requests={"memory": "1Ti"}),
    "lower: a slip that would leave too little, and one that fits exactly": lambda: lower(
        node("n1", memory="4Mi"), requests={"memory": "4Gi"}),
    "lower: ten times what the largest has, and one less": lambda: "\n\n".join(
        lower(node("n1", cpu="50"), near=["n1"], cpu=cpu) or "nothing" for cpu in ("500", "499")),
    "lower: nothing where a larger node is": lambda: lower(CPU2, node("n2", cpu="100"), others=[pod("x", running_on="n2", cpu="100")],
                                                           near=["n1"], cpu="500") or "nothing",
    "lower: where nothing is free": lambda: lower(CPU2, others=[pod("x", running_on="n1", cpu="2")], cpu="1") or "nothing",
    "lower: nobody asks for less than a pod": lambda: lower(node("n1", pods="0")) or "nothing",
    "lower: what ran is measured": lambda: lower(
        CPU2, replica_set(), others=[WEB(pod("w1", running_on="n1", cpu="500m")), owned(pod("w2"), "ReplicaSet", "db")], owner="web", cpu="2"),
    "lower: what another one's pods do says nothing": lambda: lower(
        CPU2, replica_set(), others=[owned(pod("w1", running_on="n1", cpu="500m"), "ReplicaSet", "db"), WEB(pod("w3"))], owner="web", cpu="2"),
    "lower: a resource that is counted in ones": lambda: lower(with_room(node("n1"), **{"example.com/a": "1"}), **containers(
        {"example.com/a": "1000"}, limits={"example.com/a": "1000"})),
}  # fmt: skip


def spreading(*constraints, nodes=(), running=(), near=(), **fields):
    """Return how constraints of the pod are loosened; running: how many pods are on a node."""
    web = partial(pod, labels={"app": "web"})
    there = [web(f"{on}-{number}", running_on=on, cpu="10m") for on, count in running for number in range(count)]
    app = web("app", topologySpreadConstraints=[*constraints], **fields)
    return offered(pods.loosen_spread, trial_of([*nodes, *there, app]), *near, sort="spread")


A, B = node("a1", "a"), node("b1", "b", cpu="10m")
ZONAL = spread(app="web")
SPREAD = {
    "spread: as wide as is needed": lambda: spreading(ZONAL, nodes=[A, B], running=[("a1", 1)]),
    "spread: at most twice as wide": lambda: spreading(ZONAL, nodes=[A, B], running=[("a1", 2)]),
    "spread: the second of two, whose number counts": lambda: spreading(
        spread(HOST, 5, app="web"), ZONAL, nodes=[A, B], running=[("a1", 1)]),
    "spread: two that fail": lambda: spreading(spread(HOST, app="web"), ZONAL, nodes=[A, B], running=[("a1", 1)]),
    "spread: fewest of what two nodes need": lambda: spreading(
        {**ZONAL, "maxSkew": 2}, nodes=[A, node("c1", "c"), B], running=[("a1", 3), ("c1", 2)]),
    "spread: a key that is nearly right": lambda: spreading(spread("topology.kubernetes.io/zon", app="web"), nodes=[A, B]),
    "spread: nobody has the key": lambda: spreading(spread(RACK, app="web"), nodes=[A, B]),
    "spread: tainted nodes do not count already, others should": lambda: spreading(
        {**ZONAL, "nodeTaintsPolicy": "Honor", "nodeAffinityPolicy": "Ignore"}, nodes=[A, B], running=[("a1", 1)]),
    "spread: more domains are asked for than there are": lambda: spreading({**ZONAL, "minDomains": 3}, nodes=[A, node("c1", "c")],
                                                                           running=[("a1", 1), ("c1", 1)]),
    "spread: as many domains as are asked for": lambda: spreading({**ZONAL, "minDomains": 2}, nodes=[A, B], running=[("a1", 1)]),
    "spread: no domains at all": lambda: spreading({**spread(RACK, app="web"), "minDomains": 2}, nodes=[A, B]),
    "spread: nodes without the key of another hard constraint say nothing": lambda: spreading(
        spread(RACK, app="web"), ZONAL, nodes=[node("a1", "a", labels={RACK: "r"}), node("a2", "a"), node("b1", "b", cpu="10m", labels={RACK: "s"})],
        running=[("a1", 1), ("a2", 1)]),
}  # fmt: skip


def terms(generator_of=pods.drop_pod_affinity_term, *, there, others=(), sort="affinity", **fields):
    """Return what is offered for a pod affinity that no node meets."""
    return offered(generator_of, trial_of([*there, *others, pod("app", **fields)]), sort=sort)


def term(key=ZONE, namespaces=(), **labels):
    """Return a term of pod affinity."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **({"namespaces": [*namespaces]} if namespaces else {})}


def affinity(*those, side="podAffinity"):
    """Return a pod affinity of these terms."""
    return {side: {"requiredDuringSchedulingIgnoredDuringExecution": [*those]}}


DB = partial(pod, labels={"app": "db-main"})
TERMS = {
    "term: no pod has the label, one nearly has": lambda: terms(
        there=[A], others=[DB("db", running_on="a1"), pod("x", running_on="a1", labels={"tier": "t"})], affinity=together(app="db-mail")),
    "term: a pod has a name that goes on": lambda: terms(
        there=[A], others=[pod("db", running_on="a1", labels={"app": "mail-main"})], affinity=together(app="mail")),
    "term: of two labels one is right": lambda: terms(
        there=[A], others=[pod("db", running_on="a1", labels={"app": "db-main", "tier": "back"})], affinity=together(tier="back", app="db-mail")),
    "term: the pods are in another namespace": lambda: terms(
        there=[A], others=[DB("db", running_on="a1", namespace="shop"), DB("db", running_on="a1", namespace="live"),
                           DB("d2", running_on="a1", namespace="live"), pod("x", running_on="a1", namespace="other")],
        affinity=together(app="db-main")),
    "term: a namespace is named, in which they are not": lambda: terms(
        there=[A], others=[DB("db", running_on="a1", namespace="shop")], affinity=affinity(term(namespaces=["far"], app="db-main"))),
    "term: namespaces are selected, in which they are not": lambda: terms(
        there=[A], others=[DB("db", running_on="a1", namespace="shop")],
        affinity=affinity({**term(app="db-main"), "namespaceSelector": {"matchLabels": {"team": "far"}}})),
    "term: the second of two, over a key that is nearly right": lambda: terms(
        there=[A], others=[DB("db", running_on="a1")],
        affinity=affinity(term(app="db-main"), term("topology.kubernetes.io/zon", app="db-main"))),
    "term: two that fail": lambda: terms(there=[A], affinity=affinity(term(app="one"), term(RACK, app="two"))),
    "term: without a selector": lambda: terms(there=[A], others=[DB("db", running_on="a1", namespace="shop")],
                                              affinity=affinity({"topologyKey": ZONE})),
    "term: who refuses may be preferred to stay away, and so its replicas": lambda: terms(
        there=[A], others=[DB("db", running_on="a1")], sort="anti-affinity", affinity=apart(ZONE, app="db-main")),
    "term: a key of who refuses is nearly right": lambda: terms(
        there=[A], others=[DB("db", running_on="a1"), DB("d2", running_on="a1")], sort="anti-affinity",
        affinity=affinity(term(HOST, app="db-main"), term("topology.kubernetes.io/zon", app="db-main"), side="podAntiAffinity")),
    "term: replicas that run follow the template": lambda: offered(pods.drop_pod_affinity_term, trial_of([
        A, replica_set(), *(WEB(pod(name, labels={"app": "web"}, affinity=apart(app="web"), **on))
                            for name, on in (("app", {}), ("w1", {"running_on": "a1"})))]), sort="anti-affinity"),
}  # fmt: skip


def unreadable(*operators):
    """Return a wish for nodes with parts of these operators, which the API server stores although it cannot read some."""
    parts = [{"key": "disk", "operator": operator, "values": ["x"] if operator in ("In", "Gt") else []} for operator in operators]
    return {"weight": 1, "preference": {"matchExpressions": parts}}


WISHES = "preferredDuringSchedulingIgnoredDuringExecution"
TRIED = {
    "try: gates first": lambda: told(pods.let_it_be_tried(trial_of([node(), pod(gates=["quota", "example.com/x"])]))),
    "try: wishes that cannot be read": lambda: told(pods.let_it_be_tried(trial_of([node(), pod(affinity={"nodeAffinity": {
        WISHES: [unreadable("In"), unreadable("Gt", "In"), unreadable("Exists")]}})]))),
    "try: gates, and wishes that cannot be read": lambda: told(pods.let_it_be_tried(trial_of([node(), pod(
        gates=["quota"], affinity={"nodeAffinity": {WISHES: [unreadable("Gt")]}})]))),
    "try: nothing": lambda: told(pods.let_it_be_tried(trial_of([node(), pod(affinity={"nodeAffinity": {WISHES: [unreadable("In")]}})]))) or "nothing",
    "try: wait for who removes gates": lambda: told([pods.wait_for_gates(["a", "b", "c"]), pods.wait_for_gates(["a"])]),
}  # fmt: skip

PODS = {**TOLERATE, **SELECT, **AFFINITY, **LOWER, **SPREAD, **TERMS, **TRIED}

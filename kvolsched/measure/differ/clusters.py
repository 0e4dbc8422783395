"""Random small clusters as manifests: few names, sizes and zones, so that everything meets. Only this file imports
Hypothesis.

Hypothesis makes a failing cluster smaller by drawing earlier values, so the first value of every choice is the
plainest.
"""

import json
from collections.abc import Callable, Iterable
from functools import cache
from random import Random
from typing import Any

import hypothesis
from hypothesis import strategies as st

from ...api import make
from ...api.make import HOST, LOCAL, ZONE, Plain
from .outcome import Case, chosen_words

ABOUT = ("volumes", "spread", "affinity", "resources", "gates", "workloads", "capacity", "limits")
"""What clusters may be about."""
Draw = Callable[[st.SearchStrategy[Any]], Any]
NODES, VOLUMES, CLAIMS = ("n1", "n2", "n3"), ("v1", "v2", "v3"), ("c1", "c2", "c3")
ZONES, SIZES, CPU = ("a", "b", ""), ("10Gi", "5Gi", "20Gi"), ("100m", "1", "2")
CLASSES: dict[str, dict[str, Any]] = {"late": {}, "local": {"provisioner": LOCAL}, "now": {"waits": False}}
MOSTLY_LATE = ("late", "late", "late", "local", "now")
GATE, DAEMONS = "example.com/quota", "agents"
SMALL, LARGE = "1Gi", "100Gi"


@cache
def _one_of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


@cache
def _several(values: tuple[Any, ...], most: int, least: int = 1) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), min_size=least, max_size=most, unique=True)


@cache
def _count(least: int, most: int) -> st.SearchStrategy[int]:
    return st.integers(least, most)


_some_labels = st.sampled_from([{}, {"app": "x"}, {"app": "x", "tier": "y"}])
_in_zone_a = st.sampled_from([{}, {"affinity": make.required({ZONE: ["a"]})}])


def clusters(about: Iterable[str] = ABOUT) -> st.SearchStrategy[Case]:
    """Return the strategy of clusters that are about these matters, each with a pod or a workload at least.

    Raises:
        UnknownName: there is no such matter; the message lists those there are. It is a ValueError.
    """
    return _clusters(frozenset(chosen_words("matter", about, ABOUT)))


def find_case(cases: st.SearchStrategy[Case], wanted: Callable[[Case], bool], examples: int, seed: int) -> bool:
    """Draw cases until one is wanted, and let Hypothesis make it smaller; say whether there is one."""
    phases = [hypothesis.Phase.generate, hypothesis.Phase.shrink]
    settings = hypothesis.settings(
        max_examples=examples, database=None, deadline=None, derandomize=False, phases=phases,
        verbosity=hypothesis.Verbosity.quiet, print_blob=False,
    )  # fmt: skip
    try:
        hypothesis.find(cases, wanted, settings=settings, random=Random(seed))
    except hypothesis.errors.NoSuchExample:
        return False
    return True


@cache
@st.composite
def _clusters(draw: Draw, about: frozenset[str]) -> Case:
    nodes = []
    for name in NODES[: draw(_count(1, 3))]:
        taints = draw(_one_of((), (), (), ("old",))) if about & {"spread", "affinity"} else ()
        nodes.append(make.node(name, draw(_one_of(*ZONES)), cpu=draw(_one_of("2", "1", "4")), taints=taints))
    names = [each["metadata"]["name"] for each in nodes]
    stored = _stored(draw, names) if "volumes" in about else []
    claims = tuple(each["metadata"]["name"] for each in stored if each["kind"] == "PersistentVolumeClaim")
    running = [
        make.pod(f"r{n}", running_on=draw(_one_of(*names)), labels=draw(_some_labels), cpu=draw(_one_of(*CPU)))
        for n in range(draw(_count(0, 3)) if about & {"spread", "affinity", "resources"} else 0)
    ]
    workloads = _workloads(draw, claims, about) if "workloads" in about else []
    pods = [_pod(draw, f"p{n + 1}", claims, about) for n in range(draw(_count(0 if workloads else 1, 3)))]
    templates = [each for one in workloads for each in one["spec"].get("volumeClaimTemplates", ())]
    classes = sorted({each["spec"]["storageClassName"] for each in (*stored, *templates)})
    made = (*nodes, *_said_by_drivers(draw, names, about), *(_class(draw, name) for name in classes), *stored,
            *running, *workloads, *pods)  # fmt: skip
    return Case(made, draw(_one_of((), (), *_commands(pods))) if "gates" in about and pods else ())


def _class(draw: Draw, name: str) -> Plain:
    allowed = draw(_one_of(None, None, None, "a", "b")) if name != "local" else None
    return make.storage_class(name, **CLASSES[name], allowed=allowed and [{ZONE: [allowed]}])


def _stored(draw: Draw, nodes: list[str]) -> list[Plain]:
    """Draw claims, some bound, and volumes."""
    found: list[Plain] = []
    for name in CLAIMS[: draw(_count(0, 3))]:
        bound = draw(_one_of(False, False, False, True))
        fields: dict[str, Any] = {"size": draw(_one_of(*SIZES)), "storage_class": draw(_one_of(*MOSTLY_LATE))}
        if bound:
            found.append(make.volume(f"of-{name}", **fields, bound=name, **_reach(draw, nodes)))
        found.append(make.claim(name, bound=f"of-{name}" if bound else "", **fields))
    for name in VOLUMES[: draw(_count(0, 3))]:
        fields = {"size": draw(_one_of(*SIZES)), "storage_class": draw(_one_of(*MOSTLY_LATE))}
        found.append(make.volume(name, **fields, claim=draw(_one_of(*[""] * 6, *CLAIMS)), **_reach(draw, nodes)))
    return sorted(found, key=lambda each: each["kind"] == "PersistentVolumeClaim")


def _reach(draw: Draw, nodes: list[str]) -> dict[str, Any]:
    """Draw from where a volume is reached: a zone, a node, from everywhere, or a zone that is only a label."""
    match draw(_one_of("everywhere", "zone", "node", "label")):
        case "zone":
            return {"zone": draw(_one_of("a", "b"))}
        case "node":
            return {"nodeAffinity": {"required": make.node_selector({HOST: [draw(_one_of(*nodes))]})}}
        case "label":
            return {"labels": {ZONE: draw(_one_of("a", "b"))}}
    return {}


def _pod(draw: Draw, name: str, claims: tuple[str, ...], about: frozenset[str]) -> Plain:
    fields: dict[str, Any] = {"labels": draw(_some_labels)} if about & {"spread", "affinity"} else {}
    if "resources" in about:
        fields["cpu"] = draw(_one_of(*CPU))
    if "spread" in about:
        fields |= {"topologySpreadConstraints": [_spread(draw) for _ in range(draw(_count(0, 2)))]}
    if "affinity" in about:
        fields |= _affinity(draw)
    if "gates" in about and draw(_one_of(False, False, True)):
        fields |= {"gates": [GATE], **draw(_in_zone_a)}
    if "capacity" in about and draw(_one_of(False, False, True)):
        fields |= {"volumes": make.inline(size=draw(_one_of(SIZES[0], None)))["spec"]["volumes"]}
        claims = ()
    return make.pod(name, *(draw(_several(claims, 2)) if claims and draw(_one_of(True, True, False)) else ()), **fields)


def _spread(draw: Draw) -> Plain:
    soft = draw(_one_of(False, True))
    constraint = make.spread(draw(_one_of(ZONE, HOST)), draw(_one_of(1, 2)), soft=soft, app="x")
    more = {"minDomains": 2, "nodeTaintsPolicy": "Honor", "nodeAffinityPolicy": "Ignore", "matchLabelKeys": ["tier"]}
    chosen = draw(_one_of("", "", *(more if not soft else list(more)[1:])))
    return {**constraint, **({chosen: more[chosen]} if chosen else {})}


def _affinity(draw: Draw) -> dict[str, Any]:
    match draw(_one_of("none", "none", "zone", "apart", "together", "port", "tolerates", "prefers")):
        case "zone":
            return {"affinity": make.required({ZONE: [draw(_one_of("a", "b"))]})}
        case "apart":
            return {"affinity": make.apart(draw(_one_of(HOST, ZONE)), app="x")}
        case "together":
            return {"affinity": make.together(draw(_one_of(HOST, ZONE)), app="x")}
        case "port":
            ports = [{"containerPort": 80, "hostPort": 80}]
            return {"containers": [{"name": "app", "image": "app", "ports": ports}]}
        case "tolerates":
            return {"tolerations": [{"key": "old", "operator": "Exists"}]}
        case "prefers":
            term = make.apart(HOST, app="x")["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]
            wish = [{"weight": 100, "podAffinityTerm": term}]
            return {"affinity": {draw(_one_of("podAffinity", "podAntiAffinity")): {
                "preferredDuringSchedulingIgnoredDuringExecution": wish}}}
    return {}


def _workloads(draw: Draw, claims: tuple[str, ...], about: frozenset[str]) -> list[Plain]:
    """Draw no workload, or one."""
    sort, replicas = draw(_one_of("none", "deployment", "stateful set", "daemon set")), draw(_count(1, 3))
    pod = _pod(draw, "template", claims, about - {"gates"})["spec"]
    match sort:
        case "deployment":
            return [make.deployment("web", replicas, **pod)]
        case "stateful set":
            storage_class = draw(_one_of("", *CLASSES)) if "volumes" in about else ""
            management = draw(_one_of("OrderedReady", "Parallel"))
            return [make.stateful_set("web", replicas, storage_class, management=management, **pod)]
        case "daemon set":
            labels = {"app": DAEMONS}
            spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
            return [{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": DAEMONS}, "spec": spec}]
    return []


def _said_by_drivers(draw: Draw, nodes: list[str], about: frozenset[str]) -> list[Plain]:
    """Draw what drivers say of nodes, limits and room: as S2 has it, as today, or both."""
    found: list[Plain] = []
    if "limits" in about:
        found += [make.csi_node(name, draw(_one_of(0, 1, 2)), topology_keys=draw(_one_of((ZONE,), ())))
                  for name in draw(_several(tuple(nodes), 2, 0))]  # fmt: skip
    if "capacity" in about and draw(_one_of(True, False)):
        pools = [_pool(draw, name, nodes) for name in ("one", "two")[: draw(_count(0, 2))]]
        told = {draw(_one_of("late", "<ephemeral>", "<fallback>")): pools} if pools else None
        opted = draw(_one_of("both", "documents", "today"))
        today: dict[str, Any] = {} if opted == "documents" else {"storageCapacity": True}
        found.append(make.csi_driver(tracks=None if opted == "today" else True, told=told, **today))
        found += [_capacity(draw, name) for name in ("one", "two")[: draw(_count(0, 2))]]
    return found


def _pool(draw: Draw, name: str, nodes: list[str]) -> Plain:
    reached: dict[str, Any] = {}
    match draw(_one_of("everywhere", "zone", "node")):
        case "zone":
            reached = {"topology": {ZONE: [draw(_one_of("a", "b"))]}}
        case "node":
            reached = {"nodes": [draw(_one_of(*nodes))]}
    return make.pool(name, draw(_one_of(LARGE, SMALL)), **reached)


def _capacity(draw: Draw, name: str) -> Plain:
    zone = draw(_one_of("a", "b", "", None))
    where = {} if zone is None else {"nodeTopology": {"matchLabels": {ZONE: zone}} if zone else {}}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "storageClassName": "late",
            "metadata": {"name": name, "namespace": "default"}, "capacity": draw(_one_of(LARGE, SMALL)), **where}


def _commands(pods: list[Plain]) -> list[tuple[str, ...]]:
    """Return what a user may do about the first pod once nobody has anything left to do."""
    patch = f"kubectl patch pod {pods[0]['metadata']['name']}"
    terms = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms"
    wish = {"key": "disk", "operator": "Exists"}
    added = [[{"op": "add", "path": f"{terms}/0/matchExpressions/{place}", "value": wish}] for place in ("-", "0")]
    merged = ({"spec": {"schedulingGates": None}}, {"spec": {"nodeSelector": {"disk": "ssd"}}},
              {"spec": {"affinity": make.required({"disk": ["ssd"]})}})  # fmt: skip
    return [*((f"{patch} --type=merge -p '{json.dumps(each)}'",) for each in merged),
            *((f"{patch} --type=json -p '{json.dumps(each)}'",) for each in added)]  # fmt: skip

"""Which of the nodes that fit are preferred, by soft spread constraints and by pod affinity: numbers, formulas, columns."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objects import node, pod

from kvolsched.api.kinds.directives import selects_node
from kvolsched.api.kinds.meta import Frozen, ObjectMeta, OwnerReference
from kvolsched.api.kinds.pod import (
    Affinity,
    Pod,
    PodAffinity,
    PodSpec,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from kvolsched.api.kinds.selector import LabelSelector
from kvolsched.api.kinds.service import Service, ServiceSpec
from kvolsched.api.kinds.workload import ReplicaSet, ReplicaSetSpec, ReplicationController, ReplicationControllerSpec
from kvolsched.api.text.manifest import from_plain
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.ranking import rank
from scheduler.strategies import (
    NAMESPACES,
    _nodes,
    _running,
    changing,
    labelled,
    matching,
    maybe,
    namespaces,
    near_terms,
    some,
    some_of,
    tuples,
    zone_affinities,
)
from scheduler.test_snapshot import _same as same
from scheduler.test_snapshot import key_of

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


# --- the numbers of the documents' cases ----------------------------------------------------------------------------


def zones(counts, closed=(), key=ZONE, skew=1):
    """Nodes z1.. with so many pods each (closed: tainted), ranked for a pod that prefers an even spread."""
    taint = [{"key": "closed", "effect": "NoSchedule"}]
    objects = [
        node(f"z{i}", labels={key: f"z{i}"}, **({"taints": taint} if i in closed else {})) for i in range(1, len(counts) + 1)
    ]
    objects += [pod(f"e{i}-{k}", node_name=f"z{i}", labels={"app": "foo"}) for i, count in enumerate(counts, 1) for k in range(count)]
    soft = {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "foo"}},
    }
    ranking = rank(judge(pod(labels={"app": "foo"}, topologySpreadConstraints=[soft]), snapshot(objects), upstream_profile()))
    return [tuple(map(int, ranking.scores_of(name)["PodTopologySpread"][:2])) for name in sorted(ranking.nodes)]


@pytest.mark.parametrize(
    ("counts", "closed", "expected"),
    [
        ([1, 1, 0], (3,), [(1, 100), (1, 100)]),
        ([2, 1, 0], (3,), [(3, 33), (1, 100)]),
        ([3, 3, 0], (3,), [(4, 100), (4, 100)]),
        ([1, 1, 1], (3,), [(1, 100), (1, 100)]),
        ([2, 1, 1], (3,), [(3, 33), (1, 100)]),
        ([3, 2, 1], (), [(5, 40), (3, 80), (2, 100)]),
        ([1, 1, 0], (), [(2, 0), (2, 0), (0, 100)]),
    ],
)
def test_soft_spreading_by_zone(counts, closed, expected):
    """Raw and normalised scores of S3's tables, as v1.36.2 gives them; a closed zone holds pods, but is no candidate."""
    assert expected == zones(counts, closed)


def test_soft_spreading_by_host():
    """A host counts its own pods: 2, 1, 0 and 3 of them give 20, 60, 100 and 0."""
    assert [20, 60, 100, 0] == [normalised for _, normalised in zones([2, 1, 0, 3], key=HOST)]


def test_max_skew_only_flattens():
    """A larger maxSkew adds a constant to each, which brings the scores closer together."""
    assert [(3, 33), (1, 100)] == zones([2, 1])
    assert [(7, 71), (5, 100)] == zones([2, 1], skew=5)


def test_a_node_without_the_key_is_not_ranked():
    """With constraints of its own a pod sees no score on a node that lacks a key; raw -1 says so."""
    soft = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
    wanted = pod(topologySpreadConstraints=[soft])
    ranking = rank(judge(wanted, snapshot([node("bare"), node("z1", labels={ZONE: "z1"})]), upstream_profile()))

    assert (-1, 0, 0) == ranking.scores_of("bare")["PodTopologySpread"]
    assert (0, 100, 200) == ranking.scores_of("z1")["PodTopologySpread"]


def owned(kind, **meta):
    """A pod that a controller of this kind owns."""
    api_version = "v1" if kind == "ReplicationController" else "apps/v1"
    owner = OwnerReference(api_version=api_version, kind=kind, name="web", uid="1", controller=True)
    return Pod(metadata=ObjectMeta(name="p", namespace="default", owner_references=(owner,), **meta))


@pytest.mark.parametrize("by", ["service", "ReplicaSet", "ReplicationController"])
def test_by_default_pods_are_spread_among_their_like(by):
    """A pod without constraints avoids hosts and zones with pods of its service or owner; of no group, it is not asked."""
    labels, meta = Frozen(app="web"), ObjectMeta(name="web", namespace="default")
    selector = LabelSelector(match_labels=labels)
    group = {
        "service": Service(metadata=meta, spec=ServiceSpec(selector=labels)),
        "ReplicaSet": ReplicaSet(metadata=meta, spec=ReplicaSetSpec(selector=selector)),
        "ReplicationController": ReplicationController(metadata=meta, spec=ReplicationControllerSpec(selector=labels)),
    }[by]
    nodes = [node(name, labels={HOST: name, ZONE: name[0]}) for name in ("a1", "a2", "b1")]
    there = pod("e", node_name="a1", labels={"app": "web"})
    wanted = owned(by, labels=labels)
    ranking = rank(judge(wanted, snapshot([*nodes, there, group]), upstream_profile()))

    assert {"a1": 66, "a2": 88, "b1": 100} == {name: ranking.scores_of(name)["PodTopologySpread"][1] for name in ranking.nodes}
    assert "PodTopologySpread" not in rank(judge(wanted, snapshot([*nodes, there]), upstream_profile())).raw


def test_wishes_count_both_ways():
    """What the pod would like, what pods there would like of it, and what they require: the sum of the weights."""
    company = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": ZONE}
    towards = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": company}]}
    mine = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE}
    against = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 4, "podAffinityTerm": mine}]}
    objects = [node(f"z{i}", labels={ZONE: f"z{i}"}) for i in (1, 2, 3, 4)]
    objects += [
        pod("db", node_name="z1", labels={"app": "db"}),
        pod("loner", node_name="z2", affinity={"podAntiAffinity": against}),
        pod("fan", node_name="z3", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [mine]}}),
    ]
    wanted = pod(labels={"app": "web"}, affinity={"podAffinity": towards})
    ranking = rank(judge(wanted, snapshot(objects), upstream_profile()))
    expected = {"z1": (10, 100, 200), "z2": (-4, 0, 0), "z3": (1, 35, 70), "z4": (0, 28, 56)}

    assert expected == {name: ranking.scores_of(name)["InterPodAffinity"] for name in sorted(ranking.nodes)}


# --- the columns against plain Python -------------------------------------------------------------------------------


weighted = tuples(
    st.builds(WeightedPodAffinityTerm, weight=st.integers(1, 5), pod_affinity_term=near_terms),
    2,
)
liking = st.builds(PodAffinity, required=tuples(near_terms, 1), preferred=weighted)
likings = st.builds(Affinity, pod_affinity=maybe(liking), pod_anti_affinity=maybe(st.builds(PodAffinity, preferred=weighted)))
wished = maybe(st.builds(Affinity, pod_affinity=maybe(st.builds(PodAffinity, preferred=weighted))))


@st.composite
def wishing(draw):
    """Give a cluster in which pods like each other or do not, and a pod that comes to it."""
    found = _nodes(draw)
    running = _running(draw, [one.metadata.name for one in found], affinity=maybe(likings))
    labels = draw(labelled)
    wanted = Pod(
        metadata=ObjectMeta(name="p", namespace="default", labels=labels),
        spec=PodSpec(affinity=draw(wished)),
    )
    return [*found, *running, *draw(some(namespaces, NAMESPACES))], wanted


@st.composite
def softly(draw):
    """Give a cluster with services and owners, and a pod with soft constraints or none."""
    found = [
        from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": one.metadata.name, "labels": {
            {"zone": ZONE, "host": HOST}[key]: value for key, value in one.metadata.labels.items()}},
            "spec": {"taints": [{"key": t.key, "value": t.value, "effect": t.effect} for t in one.spec.taints]},
            "status": {"allocatable": dict(one.status.allocatable)}})
        for one in _nodes(draw)
    ]  # fmt: skip
    soft = tuple(
        TopologySpreadConstraint(
            max_skew=draw(st.integers(1, 3)),
            topology_key=key,
            when_unsatisfiable="ScheduleAnyway",
            label_selector=draw(matching),
            node_affinity_policy=draw(some_of([None, "Ignore"])),
            node_taints_policy=draw(some_of([None, "Honor"])),
            match_label_keys=draw(some_of([(), (), ("tier",)])),
        )
        for key in draw(st.lists(st.sampled_from([ZONE, HOST]), max_size=2))
    )
    choosing = st.sampled_from([Frozen(app="x"), Frozen(tier="y"), Frozen()])
    groups = [
        Service(metadata=ObjectMeta(name=name, namespace="default"), spec=ServiceSpec(selector=draw(choosing)))
        for name in draw(st.lists(st.sampled_from(["a", "b"]), unique=True))
    ]
    groups.append(
        ReplicaSet(metadata=ObjectMeta(name="web", namespace="default"), spec=ReplicaSetSpec(selector=draw(matching)))
    )
    wanted = owned(draw(some_of(["ReplicaSet", "Job"])), labels=draw(labelled))
    spec = PodSpec(topology_spread_constraints=soft, affinity=draw(maybe(zone_affinities)))
    return [*found, *groups, *_running(draw, [one.metadata.name for one in found])], Pod(metadata=wanted.metadata, spec=spec)


def liked(wanted, node, seen):
    """Σ over pods in the node's domains of the weights of the terms that speak of them, or of this pod; None: of none.

    Which namespaces its own terms mean is looked up among those seen, or it is every one if the selector accepts empty
    labels; another pod's terms read this pod's namespace.
    """
    total, heard = 0, False

    def says(term, weight, owner, other, there):
        nonlocal total, heard
        labels = seen.namespace_labels(other.metadata.namespace)
        selector = term.namespace_selector
        inside = other.metadata.namespace in (term.namespaces or ((owner.metadata.namespace,) if selector is None else ()))
        known = other.metadata.namespace in seen.namespaces() or owner is not wanted
        everywhere = owner is wanted and selector is not None and selector.matches({})
        inside = inside or everywhere or (selector is not None and known and selector.matches(labels))
        met = inside and term.label_selector is not None and term.label_selector.matches(other.metadata.labels)
        if met and term.topology_key in there.metadata.labels:
            heard = True
            if node.metadata.labels.get(term.topology_key) == there.metadata.labels[term.topology_key]:
                total += weight

    def wishes(one):
        affinity = one.spec.affinity or Affinity()
        for side, sign in ((affinity.pod_affinity, 1), (affinity.pod_anti_affinity, -1)):
            for each in side.preferred if side else ():
                yield each.pod_affinity_term, sign * each.weight
        for each in affinity.pod_affinity.required if affinity.pod_affinity and one is not wanted else ():
            yield each, 1

    for there in seen.all_nodes():
        for other in seen.pods_on(there.metadata.name):
            for term, weight in wishes(wanted):
                says(term, weight, wanted, other, there)
            for term, weight in wishes(other):
                says(term, weight, other, wanted, there)
    return total if heard else None


@settings(max_examples=200)
@given(wishing())
def test_affinity_score_equals_its_formula(world):
    """The columns of wishes, gathered into domains, give what a walk over all pods gives."""
    objects, wanted = world
    seen = snapshot(objects)
    ranking = rank(judge(wanted, seen, upstream_profile()))
    for name in ranking.nodes:
        score = ranking.scores_of(name).get("InterPodAffinity")
        assert (None if score is None else score[0]) == liked(wanted, seen.node(name), seen)


def spread_score(wanted, node, seen, candidates):
    """The soft score as upstream.md words it; None: nothing is asked, -1: not ranked."""
    spoken = wanted.spec.topology_spread_constraints
    plugin = upstream_profile().plugin("PodTopologySpread")
    soft = plugin.soft_constraints(wanted, seen)
    if not soft:
        return None

    def complete(one):
        return not spoken or all(each.topology_key in one.metadata.labels for each in soft)

    def holds(each, one):
        return 0 if each.matcher is None else sum(map(each.matcher.matches, seen.pods_on(one.metadata.name)))

    if not complete(node):
        return -1
    ranked = [one for one in candidates if complete(one)]
    total = 0.0
    for each in soft:
        value = node.metadata.labels.get(each.topology_key)
        if value is None:
            continue
        if each.topology_key == HOST:
            size, count = len(ranked), holds(each, node)
        else:
            size = len({one.metadata.labels.get(each.topology_key, "") for one in ranked})
            count = 0
            for one in seen.all_nodes():
                tainted = any(t.effect != "PreferNoSchedule" for t in one.spec.taints) and each.honors_node_taints
                skips = (each.honors_node_affinity and not selects_node(wanted.spec, one)) or tainted or not complete(one)
                if one.metadata.labels.get(each.topology_key) == value and not skips:
                    count += holds(each, one)
        total += count * math.log(size + 2) + each.max_skew - 1
    return math.floor(total + 0.5)


@settings(max_examples=250)
@given(softly())
def test_soft_spread_score_equals_its_formula(world):
    """The columns of domains give what a walk over nodes and pods gives, with own and with default constraints."""
    objects, wanted = world
    seen = snapshot(objects)
    ranking = rank(judge(wanted, seen, upstream_profile()))
    candidates = [seen.node(name) for name in ranking.nodes]
    for name in ranking.nodes:
        score = ranking.scores_of(name).get("PodTopologySpread")
        assert (None if score is None else score[0]) == spread_score(wanted, seen.node(name), seen, candidates)


@pytest.mark.parametrize("strategy", [softly(), wishing()], ids=["softly", "wishing"])
def test_groups_and_wishes_follow(strategy):
    """Where pods, services and owners come and go, a snapshot moved equals one built, and ranks alike."""

    @settings(max_examples=60)
    @given(changing(strategy), st.randoms(use_true_random=False))
    def holds(world, random):
        objects, wanted, changes = world
        changes = [*changes, *((key_of(one), None) for one in objects if one.kind in ("Service", "ReplicaSet"))]
        random.shuffle(changes)
        present = {key_of(item): item for item in objects}
        moved = snapshot(objects)
        rank(judge(wanted, moved, upstream_profile()))
        for key, new in changes:
            old = present.pop(key, None)
            if old is not None or new is not None:
                moved.apply(key, old, new)
            if new is not None:
                present[key] = new
            same(moved, present, wanted)

    holds()

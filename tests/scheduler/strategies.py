"""Small random clusters for the scheduler's properties: few names and values, so that everything collides.

Making a strategy costs more than drawing from it, so each is made once: here at import, or cached by its arguments.
"""

from functools import cache, lru_cache

from hypothesis import strategies as st

from kvolsched.api.kinds.meta import Frozen, ObjectMeta, ObjectReference
from kvolsched.api.kinds.node import Node, NodeSpec, NodeStatus
from kvolsched.api.kinds.pod import (
    Affinity,
    Container,
    NodeAffinity,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    PodStatus,
    PreferredSchedulingTerm,
    Resources,
    TopologySpreadConstraint,
    Volume,
)
from kvolsched.api.kinds.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement, Taint, Toleration
from kvolsched.api.kinds.storage_class import StorageClass, TopologySelectorLabelRequirement, TopologySelectorTerm
from kvolsched.api.kinds.volume import (
    BIND_COMPLETED,
    SELECTED_NODE,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeNodeAffinity,
)
from kvolsched.api.kinds.workload import Namespace
from kvolsched.world.log import Key

NODES = tuple(f"n{i}" for i in range(5))
KEYS = ["zone", "host", "gen"]
VALUES = ["a", "b", "2", "10"]
NAMESPACES = ("default", "other")
CLASSES = ["local", "fast", "now"]


@lru_cache(maxsize=None, typed=True)
def _one_of(*values):
    return st.sampled_from(values)


def some_of(values):
    """Give one of these values, by a strategy that is made once."""
    return _one_of(*values)


@cache
def maybe(strategy):
    """Give None or the strategy."""
    return st.none() | strategy


@cache
def tuples(strategy, most):
    """Give tuples of up to `most` values."""
    return st.lists(strategy, max_size=most).map(tuple)


def mappings(keys, values, most=3):
    """Give frozen mappings."""
    return st.dictionaries(st.sampled_from(keys), values, max_size=most).map(Frozen)


node_labels = mappings(KEYS, st.sampled_from(VALUES))
pod_labels = mappings(["app", "tier"], st.sampled_from(["x", "y"]))
quantities = mappings(["cpu", "memory", "pods", "example.com/gpu"], st.sampled_from(["0", "1", "2", "500m", "3"]), 4)


def requirements(keys, values):
    """Give expressions of a selector."""
    return st.builds(
        Requirement,
        key=st.sampled_from(keys),
        operator=st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
        values=tuples(st.sampled_from(values), 2),
    )


label_selectors = st.builds(
    LabelSelector,
    match_labels=mappings(["app", "tier"], st.sampled_from(["x", "y"]), 1),
    match_expressions=tuples(requirements(["app", "tier"], ["x", "y"]), 1),
)
fields = st.builds(
    Requirement,
    key=st.just("metadata.name"),
    operator=st.sampled_from(["In", "NotIn"]),
    values=tuples(st.sampled_from(NODES), 2),
)
selector_terms = st.builds(
    NodeSelectorTerm,
    match_expressions=tuples(requirements(KEYS, VALUES), 2),
    match_fields=st.just(()) | tuples(fields, 1),
)
node_selectors = st.builds(NodeSelector, node_selector_terms=tuples(selector_terms, 2))
effects = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
taints = st.builds(Taint, key=st.sampled_from(["gpu", "old"]), value=st.sampled_from(["", "a"]), effect=effects)
tolerations = st.builds(
    Toleration,
    key=st.sampled_from(["", "gpu", "node.kubernetes.io/unschedulable"]),
    operator=st.sampled_from(["", "Exists", "Equal"]),
    value=st.sampled_from(["", "a"]),
    effect=st.just("") | effects,
)
affinity_terms = st.builds(
    PodAffinityTerm,
    label_selector=maybe(label_selectors),
    topology_key=st.sampled_from(KEYS),
    namespaces=tuples(st.sampled_from(NAMESPACES), 1),
    namespace_selector=maybe(st.builds(LabelSelector, match_expressions=tuples(requirements(["team"], ["x"]), 1))),
)
pod_affinities = st.builds(PodAffinity, required=tuples(affinity_terms, 2))
constraints = st.builds(
    TopologySpreadConstraint,
    max_skew=st.integers(1, 2),
    topology_key=st.sampled_from(KEYS),
    when_unsatisfiable=st.sampled_from(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
    label_selector=maybe(label_selectors),
    min_domains=maybe(st.integers(1, 3)),
    node_affinity_policy=st.sampled_from([None, "Honor", "Ignore"]),
    node_taints_policy=st.sampled_from([None, "Honor", "Ignore"]),
    match_label_keys=st.just(()) | st.just(("tier",)),
)
affinities = st.builds(
    Affinity,
    node_affinity=maybe(
        st.builds(
            NodeAffinity,
            required=maybe(node_selectors),
            preferred=tuples(
                st.builds(PreferredSchedulingTerm, weight=st.integers(0, 9), preference=selector_terms), 2
            ),
        )
    ),
    pod_affinity=maybe(pod_affinities),
    pod_anti_affinity=maybe(pod_affinities),
)
containers = st.builds(
    Container,
    resources=st.builds(
        Resources,
        requests=mappings(["cpu", "memory", "example.com/gpu"], st.sampled_from(["0", "1", "300m", "2"])),
    ),
    restart_policy=st.sampled_from(["", "", "Always"]),
    rest=st.sampled_from([Frozen(), Frozen(), Frozen(restartPolicyRules=(Frozen(action="RestartAllContainers"),))]),
)
claim_names = st.sampled_from([f"c{i}" for i in range(4)])
volumes = st.builds(
    Volume,
    name=st.just("v"),
    persistent_volume_claim=st.builds(PersistentVolumeClaimVolumeSource, claim_name=claim_names),
)


@cache
def pods(name, node_names, most_volumes=3):
    """Give pods of one name on one of these nodes ("" = none)."""
    return st.builds(
        Pod,
        metadata=st.builds(
            ObjectMeta,
            name=st.just(name),
            namespace=st.sampled_from(NAMESPACES),
            labels=pod_labels,
            deletion_timestamp=st.sampled_from([None, None, None, "2024-01-01T00:00:00Z"]),
        ),
        spec=st.builds(
            PodSpec,
            node_name=st.sampled_from(node_names),
            node_selector=st.just(Frozen()) | mappings(KEYS, st.sampled_from(VALUES), 1),
            affinity=maybe(affinities),
            tolerations=tuples(tolerations, 2),
            topology_spread_constraints=tuples(constraints, 2),
            containers=tuples(containers, 2),
            init_containers=tuples(containers, 2),
            rest=st.sampled_from([Frozen(), Frozen(), Frozen(hostNetwork=True, hostUsers=False)]),
            overhead=st.just(Frozen()) | st.just(Frozen(cpu="100m")),
            volumes=tuples(volumes, most_volumes),
        ),
        status=st.builds(PodStatus, phase=st.sampled_from(["Pending", "Running", "Running", "Succeeded"])),
    )


pending = pods("p", ("", "", "", "n1"))


@cache
def nodes(name):
    """Give nodes of one name."""
    return st.builds(
        Node,
        metadata=st.builds(ObjectMeta, name=st.just(name), labels=node_labels),
        spec=st.builds(NodeSpec, unschedulable=st.sampled_from([False, False, True]), taints=tuples(taints, 2)),
        status=st.builds(NodeStatus, allocatable=quantities, declared_features=st.sampled_from([(), (), FEATURES])),
    )


FEATURES = ("RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport")
SIZES = ["1Gi", "2Gi", "5Gi", "8Gi"]


@cache
def persistent_volumes(name):
    """Give volumes of one name, mostly free ones of the class `local`."""
    return st.builds(
        PersistentVolume,
        metadata=st.builds(
            ObjectMeta,
            name=st.just(name),
            labels=pod_labels,
            deletion_timestamp=st.sampled_from([None] * 6 + ["2024-01-01T00:00:00Z"]),
        ),
        spec=st.builds(
            PersistentVolumeSpec,
            capacity=st.builds(lambda size: Frozen(storage=size), st.sampled_from(SIZES)),
            access_modes=st.sampled_from([("ReadWriteOnce",), ("ReadWriteOnce", "ReadOnlyMany")]),
            claim_ref=st.none()
            | st.none()
            | st.builds(ObjectReference, namespace=st.just("default"), name=claim_names, uid=st.just("")),
            storage_class_name=st.sampled_from(["local", "local", "fast", ""]),
            volume_mode=st.sampled_from([None, None, "Block"]),
            node_affinity=maybe(st.builds(VolumeNodeAffinity, required=maybe(node_selectors))),
        ),
        status=st.builds(
            PersistentVolumeStatus, phase=st.sampled_from(["Available", "Available", "Available", "Pending"])
        ),
    )


@cache
def claims(name):
    """Give claims of one name: waiting, bound, named or selected."""
    return st.builds(
        PersistentVolumeClaim,
        metadata=st.builds(
            ObjectMeta,
            name=st.just(name),
            namespace=st.just("default"),
            annotations=st.sampled_from(
                [Frozen()] * 4 + [Frozen({BIND_COMPLETED: "yes"}), Frozen({SELECTED_NODE: "n1"})]
            ),
        ),
        spec=st.builds(
            PersistentVolumeClaimSpec,
            access_modes=st.just(("ReadWriteOnce",)) | st.just(("ReadOnlyMany",)),
            selector=st.none() | st.none() | label_selectors,
            resources=st.builds(lambda size: Resources(requests=Frozen(storage=size)), st.sampled_from(SIZES)),
            volume_name=st.sampled_from(["", "", "", "v0", "v9"]),
            storage_class_name=st.sampled_from(["local", "local", "fast", "fast", "now", ""]),
        ),
        status=st.builds(PersistentVolumeClaimStatus, phase=st.sampled_from(["Pending", "Pending", "Pending", "Lost"])),
    )


topologies = tuples(
    st.builds(
        TopologySelectorTerm,
        match_label_expressions=tuples(
            st.builds(
                TopologySelectorLabelRequirement,
                key=st.sampled_from(KEYS),
                values=tuples(st.sampled_from(VALUES), 2),
            ),
            2,
        ),
    ),
    2,
)


@cache
def classes(name):
    """Give classes of one name: `local` provisions nothing, `now` binds at once."""
    return st.builds(
        StorageClass,
        metadata=st.just(ObjectMeta(name=name)),
        provisioner=st.just("kubernetes.io/no-provisioner" if name == "local" else "csi.example.com"),
        volume_binding_mode=st.just("Immediate" if name == "now" else "WaitForFirstConsumer"),
        allowed_topologies=topologies,
    )


@cache
def namespaces(name):
    """Give namespaces of one name."""
    return st.builds(
        Namespace,
        metadata=st.builds(ObjectMeta, name=st.just(name), labels=mappings(["team"], st.sampled_from(["x", "y"]))),
    )


@cache
def some(make, names):
    """Give objects for some of these names."""
    chosen = st.lists(st.sampled_from(names), unique=True)
    return st.composite(lambda draw: tuple(draw(make(name)) for name in draw(chosen)))()


def parts():
    """Give, kind by kind, what a random cluster may hold."""
    return [
        some(nodes, NODES),
        some(lambda name: pods(name, (*NODES, "gone"), most_volumes=0), tuple(f"e{i}" for i in range(6))),
        some(persistent_volumes, tuple(f"v{i}" for i in range(5))),
        some(claims, tuple(f"c{i}" for i in range(4))),
        st.tuples(*map(classes, CLASSES)),
        some(namespaces, NAMESPACES),
    ]


clusters = st.tuples(*parts()).map(lambda kinds: [item for kind in kinds for item in kind])


# --- clusters in which one rule has much to say -------------------------------------------------------------------------


seldom_tainted = st.just(()) | st.just(()) | tuples(taints, 1)


@cache
def between(least, most):
    """Give whole numbers."""
    return st.integers(least, most)


@cache
def lists_of(*values, least=0, most=None):
    """Give lists of these values."""
    return st.lists(st.sampled_from(values), min_size=least, max_size=most)


def _nodes(draw, least=2):
    names = NODES[: draw(between(least, 5))]
    return [
        Node(
            metadata=ObjectMeta(
                name=name,
                labels=Frozen(
                    {
                        key: value
                        for key, value in (
                            ("zone", draw(some_of(["a", "a", "b", "b", "2", None]))),
                            ("host", draw(some_of([name, name, name, None]))),
                        )
                        if value is not None
                    }
                ),
            ),
            spec=NodeSpec(taints=draw(seldom_tainted)),
            status=NodeStatus(allocatable=Frozen(cpu="9", memory="9", pods="99")),
        )
        for name in names
    ]


zone_affinities = st.builds(
    lambda zones: Affinity(
        node_affinity=NodeAffinity(
            required=NodeSelector(
                node_selector_terms=(
                    NodeSelectorTerm(match_expressions=(Requirement(key="zone", operator="In", values=zones),)),
                )
            )
        )
    ),
    tuples(st.sampled_from(["a", "b", "2"]), 2),
)
matching = st.sampled_from(
    [
        LabelSelector(match_labels=Frozen(app="x")),
        LabelSelector(match_labels=Frozen(app="x")),
        LabelSelector(match_expressions=(Requirement(key="app", operator="Exists"),)),
        LabelSelector(),
        None,
    ]
)
labelled = st.sampled_from([Frozen(app="x"), Frozen(app="x"), Frozen(app="x", tier="y"), Frozen(tier="x")])


def _running(draw, on, **spec):
    return [
        Pod(
            metadata=ObjectMeta(
                name=f"e{index}",
                namespace=draw(some_of(["default", "default", "default", "other"])),
                labels=draw(labelled),
                deletion_timestamp=draw(some_of([None, None, None, None, "2024-01-01T00:00:00Z"])),
            ),
            spec=PodSpec(node_name=name, **{key: draw(value) for key, value in spec.items()}),
        )
        for index, name in enumerate(draw(lists_of(*on, most=10)))
    ]


@st.composite
def spread(draw):
    """Give a cluster and a pod with one or two hard constraints over it."""
    found = _nodes(draw)
    hard = [
        TopologySpreadConstraint(
            max_skew=draw(between(1, 2)),
            topology_key=key,
            when_unsatisfiable="DoNotSchedule",
            label_selector=draw(matching),
            min_domains=draw(some_of([None, None, 2, 4])),
            node_affinity_policy=draw(some_of([None, "Honor", "Ignore"])),
            node_taints_policy=draw(some_of([None, "Honor", "Ignore"])),
            match_label_keys=draw(some_of([(), (), ("tier",)])),
        )
        for key in draw(lists_of("zone", "host", least=1, most=2))
    ]
    wanted = Pod(
        metadata=ObjectMeta(name="p", namespace="default", labels=draw(labelled)),
        spec=PodSpec(
            topology_spread_constraints=tuple(hard),
            affinity=draw(maybe(zone_affinities)),
            tolerations=draw(tuples(tolerations, 1)),
        ),
    )
    return found + _running(draw, [node.metadata.name for node in found]), wanted


near_terms = st.builds(
    PodAffinityTerm,
    label_selector=matching,
    topology_key=st.sampled_from(["zone", "host"]),
    namespace_selector=st.none()
    | st.none()
    | st.just(LabelSelector())
    | st.builds(LabelSelector, match_expressions=tuples(requirements(["team"], ["x"]), 1)),
)
near = st.builds(PodAffinity, required=tuples(near_terms, 2))
wishes = st.builds(Affinity, pod_affinity=maybe(near), pod_anti_affinity=maybe(near))


@st.composite
def company(draw):
    """Give a cluster and a pod, with required pod affinity and anti-affinity on both sides."""
    found = _nodes(draw)
    wanted = Pod(
        metadata=ObjectMeta(name="p", namespace="default", labels=draw(labelled)),
        spec=PodSpec(affinity=draw(wishes)),
    )
    running = _running(draw, [node.metadata.name for node in found], affinity=maybe(wishes))
    return [*found, *running, *draw(some(namespaces, NAMESPACES))], wanted


def free_volume(draw, name):
    """Draw a volume that is mostly free and mostly of the class `local`."""
    zones = draw(some_of([None, ("a",), ("b",), ("a", "2"), ("n0",), ("n1",)]))
    key = "host" if zones and zones[0].startswith("n") else "zone"
    terms = (
        ()
        if zones is None
        else (NodeSelectorTerm(match_expressions=(Requirement(key=key, operator="In", values=zones),)),)
    )
    reference = draw(some_of([None] * 5 + ["c0", "c9"]))
    return PersistentVolume(
        metadata=ObjectMeta(name=name, labels=draw(labelled)),
        spec=PersistentVolumeSpec(
            capacity=Frozen(storage=draw(some_of(SIZES))),
            access_modes=("ReadWriteOnce",),
            claim_ref=None if reference is None else ObjectReference(namespace="default", name=reference),
            storage_class_name=draw(some_of(["local", "local", "local", "fast"])),
            node_affinity=None
            if zones is None
            else VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms)),
        ),
        status=PersistentVolumeStatus(phase=draw(some_of(["Available"] * 5 + ["Pending"]))),
    )


def waiting_claim(draw, name):
    """Draw a claim that waits for a consumer."""
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            annotations=draw(some_of([Frozen()] * 8 + [Frozen({SELECTED_NODE: "n1"})])),
        ),
        spec=PersistentVolumeClaimSpec(
            access_modes=("ReadWriteOnce",),
            selector=draw(some_of([None] * 5 + [LabelSelector(match_labels=Frozen(tier="y"))])),
            resources=Resources(requests=Frozen(storage=draw(some_of(SIZES)))),
            storage_class_name=draw(some_of(["local", "local", "fast"])),
        ),
    )


@st.composite
def stores(draw):
    """Give a cluster with free volumes, and a pod whose claims wait for them."""
    found = _nodes(draw)
    names = [f"c{index}" for index in range(draw(between(1, 3)))]
    things = [free_volume(draw, f"v{index}") for index in range(draw(between(1, 6)))]
    things += [waiting_claim(draw, name) for name in names]
    things += [draw(classes("local")), draw(classes("fast"))]
    wanted = Pod(
        metadata=ObjectMeta(name="p", namespace="default"),
        spec=PodSpec(
            volumes=tuple(
                Volume(name=name, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=name))
                for name in names
            )
        ),
    )
    return found + things, wanted


worlds = st.tuples(clusters, pending) | spread() | company() | stores()


@st.composite
def changing(draw, strategy):
    """Give a cluster, a pod, and changes of what is no node: (key, new version or None), most of them real."""
    objects, wanted = draw(strategy)
    if any(item.kind == "PersistentVolume" for item in objects):
        news = [free_volume(draw, name) for name in draw(lists_of("v0", "v1", "v2", most=8))]
    else:
        on = [item.metadata.name for item in objects if item.kind == "Node"]
        news = _running(draw, on, affinity=maybe(wishes))
    changes = []
    for new in news:
        key = Key(new.kind, new.metadata.namespace, new.metadata.name)
        changes += [(key, new if stays else None) for stays in draw(some_of([(True,), (False,), (True, False)]))]
    return objects, wanted, changes


def moves(contents, state, random):
    """Yield in random order the changes (key, old, new) that make these contents a state, and make them, too."""
    wanted = {Key(item.kind, item.metadata.namespace, item.metadata.name): item for item in state}
    keys = sorted({*contents, *wanted})
    random.shuffle(keys)
    for key in keys:
        old, new = contents.get(key), wanted.get(key)
        if old == new:
            continue
        yield key, old, new
        if new is None:
            del contents[key]
        else:
            contents[key] = new

"""Cases of the edits of claims, volumes and classes: `claims.py`, `add_volume.py`, `replace_claim.py`, `topology_keys.py`."""

from functools import partial

from fix_cases.whole import offered, owned, told, trial_of
from kvolsched import make
from kvolsched.make import claim, csi_node, node, pod, spread, storage_class, volume
from kvolsched.questions.fix import claims, replace_claim, topology_keys

ZONE, HOST, RACK, REGION = make.ZONE, make.HOST, make.RACK, "topology.kubernetes.io/region"
DRIVER, LOCAL = make.DRIVER, make.LOCAL
BY_HAND = storage_class("late", LOCAL)
CLASSES = [storage_class("early", waits=False), storage_class("a-late"), storage_class("b-late"), storage_class("c-late")]
N1 = node("n1", "a")


def serving(*there, claim_names=("data",), generator=claims.serve_claims, sort="claim", near=(), **fields):
    """Return what is offered for the claims of a pod."""
    nodes = [] if any(each["kind"] == "Node" for each in there) else [N1]
    return offered(generator, trial_of([*nodes, *there, pod("app", *claim_names, **fields)]), *near, sort=sort)


def before_filtering(*there, claim_names=("data",), **fields):
    """Return what is offered for a pod that is rejected before any node is looked at."""
    return told(claims.mend_rejection_before_filtering(trial_of([N1, *there, pod("app", *claim_names, **fields)])))


def of_set(*volumes, replicas=1, set_there=True, **fields):
    """Return the pod db-0 of a StatefulSet with a claim for each of these volumes, and the set."""
    app = pod("db-0", labels={"app": "db"}, volumes=[{"name": name, "persistentVolumeClaim": {"claimName": f"{name}-db-0"}} for name in volumes])
    made = make.stateful_set("db", replicas, "late", **fields)
    return [owned(app, "StatefulSet", "db"), *([made | {"metadata": made["metadata"] | {"uid": "uid-db"}}] if set_there else [])]


def of_pod(generator, *there, sort="claim", near=()):
    """Return what is offered for the pod db-0."""
    nodes = [] if any(each["kind"] == "Node" for each in there) else [N1]
    return offered(generator, trial_of([*nodes, *there], "db-0"), *near, sort=sort)


def pool(name="pool", capacity="5Gi", labels=None, of_class="late", largest=None, namespace="csi"):
    """Return the published capacity of a class."""
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": name, "namespace": namespace},
            "storageClassName": of_class, "capacity": capacity, **({"maximumVolumeSize": largest} if largest else {}),
            "nodeTopology": {"matchLabels": labels or {ZONE: "a"}}}  # fmt: skip


CHECKED = make.csi_driver(tracks=None, storageCapacity=True)
FAR = partial(volume, zone="b", bound="data")
BOUND = claim("data", bound="disk")

UNBOUND = {
    "claim: nobody has made a volume": lambda: serving(BY_HAND, claim()),
    "claim: nobody has made a volume of any class, a driver makes others": lambda: serving(BY_HAND, claim(), *CLASSES),
    "claim: a selected node that is there, one that is gone": lambda: "\n\n".join(
        serving(BY_HAND, claim(selected_node=name)) for name in ("n1", "gone")),
    "claim: volumes are reserved for it, but lie elsewhere": lambda: serving(
        BY_HAND, claim(), volume("d1", zone="b", claim="data"), volume("d2", zone="b", claim="data"), volume("d3", zone="b", claim="other")),
    "claim: a Released volume, and a reserved one that is not": lambda: serving(
        BY_HAND, claim(), volume("old", claim="gone", phase="Released"), volume("mine", claim="data", zone="b", phase="Released"),
        volume("taken", claim="other")),
    "claim: smaller ones are free, half as large and less": lambda: serving(
        BY_HAND, claim(size="10Gi"), volume("half", "5Gi"), volume("less", "5119Mi"), volume("more", "7Gi", claim="other")),
    "claim: as large as it asks for, but elsewhere": lambda: serving(BY_HAND, claim(size="10Gi"), volume("far", "10Gi", zone="b")),
    "claim: a class that is nearly named": lambda: serving(
        *CLASSES, storage_class("fast-ssd"), claim(storage_class="fast-sdd"), sort="before filtering", generator=claims.serve_claims),
    "claim: a class that allows other zones": lambda: serving(
        storage_class(allowed=[{ZONE: ["b"]}, {ZONE: ["c"], REGION: ["r"]}]), claim(), node("n1", "a", labels={REGION: "r"}), node("n2")),
    "claim: a class that allows what no node has": lambda: serving(storage_class(allowed=[{RACK: ["r"]}]), claim(), N1, node("n2", "a")),
    "claim: a class that allows the key of before": lambda: serving(
        storage_class(allowed=[{"failure-domain.beta.kubernetes.io/zone": ["b"], RACK: ["r"]}, {ZONE: ["d"]}]), claim(),
        node("n1", "a", labels={RACK: "s"})),
    "claim: a class that allows two old keys, one of which a node has": lambda: serving(
        storage_class(allowed=[{"failure-domain.beta.kubernetes.io/zone": ["b"]}, {"failure-domain.beta.kubernetes.io/region": ["q"]}]), claim(),
        node("n1", "a", labels={"failure-domain.beta.kubernetes.io/zone": "a"})),
    "claim: no capacity is published": lambda: serving(storage_class(), CHECKED, claim()),
    "claim: too little capacity here, and volumes of the class that may go": lambda: serving(
        storage_class(), CHECKED, claim(), pool(), pool("other", labels={ZONE: "b"}), volume("d", zone="b", claim="x"),
        csi_node("n1", 3, topology_keys=[ZONE, RACK])),
    "claim: a largest volume that is too small": lambda: serving(storage_class(), CHECKED, claim(), pool(capacity="50Gi", largest="4Gi")),
    "claim: capacity elsewhere alone": lambda: serving(
        storage_class(), CHECKED, claim(), pool(labels={ZONE: "b"}), pool("other", of_class="x", namespace="a"), N1, node("n2", "a"),
        csi_node("n1", 3, topology_keys=[ZONE])),
    "claim: what nobody checks": lambda: serving(storage_class(allowed=[{ZONE: ["b"]}]), make.csi_driver(tracks=None, storageCapacity=False), claim()),
    "claim: the name of a new volume is taken": lambda: serving(BY_HAND, claim(), volume("data-more", zone="b", claim="x")),
    "claim: of a template": lambda: of_pod(claims.serve_claims, BY_HAND, claim("data-db-0"), *of_set("data"), *CLASSES),
    "claim: a selector, modes and no class": lambda: serving(
        claim(storage_class="", accessModes=["ReadWriteMany"], selector={"matchLabels": {"team": "shop"}}, volumeMode="Block"),
        sort="before filtering"),
}  # fmt: skip

BOUND_ONES = {
    "bound: to a volume in another zone": lambda: serving(storage_class(), FAR(), BOUND, *CLASSES),
    "bound: to a volume whose zone a node lacks": lambda: serving(storage_class(), FAR(), BOUND, node("n1")),
    "bound: to a volume that would be deleted with it": lambda: serving(storage_class(), FAR(policy="Delete"), BOUND, *CLASSES[:2]),
    "bound: to a volume that a driver made": lambda: serving(
        storage_class(), FAR(annotations={"pv.kubernetes.io/provisioned-by": DRIVER}), BOUND),
    "bound: to a local volume": lambda: serving(
        BY_HAND, BOUND, make.disk("disk", "gone", storage_class="late", bound="data") | {}),
    "bound: a free volume is here, one there, one is too small and one taken": lambda: serving(
        BY_HAND, FAR(), BOUND, volume("free", zone="a"), volume("far", zone="b"), volume("small", "9Gi", zone="a"),
        volume("taken", zone="a", claim="x"), volume("large", "11Gi")),
    "bound: of a class that binds at once": lambda: serving(storage_class(waits=False), FAR(), BOUND),
    "bound: of a class that binds at once, whose waiting twin is there": lambda: serving(
        storage_class(waits=False), storage_class("late-wait"), FAR(), BOUND),
    "bound: another claim has the name of the new one": lambda: serving(storage_class(), FAR(), BOUND, claim("data-wait"), volume("free", zone="a")),
    "bound: of a template": lambda: of_pod(
        claims.serve_claims, storage_class(), volume("disk", zone="b", bound="data-db-0", policy="Delete"), claim("data-db-0", bound="disk"),
        *of_set("data", replicas=2)),
    "bound: logs are the least to give up": lambda: serving(
        storage_class(), volume("d1", zone="b", bound="app-logs"), claim("app-logs", bound="d1"), claim_names=["app-logs"]),
    "bound: two that lie apart": lambda: serving(
        storage_class(), N1, node("n2", "b"), volume("d1", zone="a", bound="c1"), claim("c1", bound="d1"), volume("d2", zone="b", bound="c2"),
        claim("c2", bound="d2"), claim_names=["c1", "c2"], generator=claims.replace_claims),
    "bound: to the volume's own zone, of a controller's pod": lambda: offered(claims.serve_claims, trial_of([
        N1, storage_class(), FAR(), BOUND, owned(pod("app", "data"), "ReplicaSet", "web-1")]), sort="claim"),
}  # fmt: skip

TOGETHER = {
    "together: two unbound claims": lambda: serving(
        BY_HAND, claim("a"), claim("b"), claim_names=["a", "b", "a"], generator=claims.serve_claims_together),
    "together: one has a selected node, one a reserved volume": lambda: serving(
        BY_HAND, claim("a", selected_node="gone"), claim("b"), volume("d", zone="b", claim="b"), claim_names=["a", "b"],
        generator=claims.serve_claims_together),
    "together: one is enough by itself": lambda: serving(
        BY_HAND, claim("a"), claim("b", bound="d"), volume("d", bound="b"), claim_names=["a", "b"],
        generator=claims.serve_claims_together) or "nothing",
    "together: new claims for all": lambda: serving(
        storage_class(), *CLASSES[:1], claim("a"), claim("b", storage_class="early", bound="d"), volume("d", zone="b", bound="b", storage_class="early"),
        claim_names=["a", "b"], generator=claims.replace_claims),
    "together: new claims for those with volumes, or for all": lambda: serving(
        storage_class(), *(each for name in "ab" for each in (claim(name, bound=f"d{name}"), volume(f"d{name}", zone=f"z{name}", bound=name))),
        claim("c"), claim_names=["a", "b", "c"], generator=claims.replace_claims),
    "together: the name of a new claim is taken": lambda: serving(
        storage_class(), *(each for name in "ab" for each in (claim(name, bound=f"d{name}"), volume(f"d{name}", zone=f"z{name}", bound=name))),
        claim("b-wait"), claim_names=["a", "b"], generator=claims.replace_claims) or "nothing",
    "together: of templates": lambda: of_pod(
        claims.replace_claims, storage_class(),
        *(each for name in ("a-db-0", "b-db-0") for each in (claim(name, bound=f"d-{name}"), volume(f"d-{name}", zone=f"z-{name}", bound=name))),
        *of_set("a", "b")),
}  # fmt: skip

LATE_BY_HAND = storage_class("late", LOCAL, waits=False)
BEFORE = {
    "before: no such claim, no class to make it of": lambda: before_filtering(claim("other")),
    "before: no such claim, one is nearly called so and in use by none": lambda: before_filtering(
        *CLASSES, claim("database"), claim("databasa"), pod("x", "databasa"), claim_names=["databese"]),
    "before: no such claim, beside one in another namespace": lambda: before_filtering(
        {**claim("databasf"), "metadata": {"name": "databasf", "namespace": "far"}}, pod("y", "databasg", namespace="far"), claim("databasg"),
        claim_names=["databasf"]),
    "before: unbound, of a class that binds at once": lambda: before_filtering(storage_class(waits=False), claim()),
    "before: unbound, of a class of volumes by hand": lambda: before_filtering(LATE_BY_HAND, claim()),
    "before: unbound, of no class that exists": lambda: before_filtering(*CLASSES, claim(storage_class="a-lete")),
    "before: unbound, of a class without an object, whose volumes are there": lambda: before_filtering(
        *CLASSES, claim(storage_class="hand", size="20Gi"), volume("d", storage_class="hand")),
    "before: unbound, and no default class": lambda: before_filtering(*CLASSES[:2], BY_HAND, claim(storage_class=None)),
    "before: unbound, of the empty class": lambda: before_filtering(*CLASSES[:2], claim(storage_class="")),
    "before: a free volume of another class": lambda: before_filtering(
        LATE_BY_HAND, claim(), volume("free", storage_class="hand"), volume("both", "5Gi", storage_class="hand"), volume("taken", claim="x")),
    "before: a free volume that offers another mode": lambda: before_filtering(
        LATE_BY_HAND, claim(accessModes=["ReadWriteMany", "ReadOnlyMany"]), volume("free", accessModes=["ReadWriteOnce", "ReadOnlyMany"])),
    "before: a share that offers too little": lambda: before_filtering(
        LATE_BY_HAND, claim(accessModes=["ReadWriteMany"]), {**volume("share"), "spec": {
            **{key: value for key, value in volume("share")["spec"].items() if key != "csi"}, "nfs": {"server": "s", "path": "/p"}}}),
    "before: a free volume that is smaller": lambda: before_filtering(LATE_BY_HAND, claim(), volume("free", "5Gi"), volume("less", "3Gi", claim="x")),
    "before: its volume is gone": lambda: before_filtering(storage_class(), claim("data", bound="gone"), volume("free"), *CLASSES[:2]),
    "before: it names a volume that is not there": lambda: before_filtering(storage_class(), claim(volumeName="named"), volume("free")),
    "before: it names a volume that is not there, of a driver with domains": lambda: before_filtering(
        storage_class(), claim(volumeName="named"), csi_node("n1", 3, topology_keys=[ZONE])),
    "before: it names a volume of a driver in the tree": lambda: before_filtering(
        storage_class(provisioner="kubernetes.io/aws-ebs"), claim(volumeName="named")),
    "before: it names a volume of an unknown driver in the tree": lambda: before_filtering(
        storage_class(provisioner="kubernetes.io/x"), claim(volumeName="named")),
    "before: the claim of an ephemeral volume is not there": lambda: before_filtering(
        storage_class(annotations={"storageclass.kubernetes.io/is-default-class": "true"}), claim_names=[],
        volumes=[ephemeral("scratch"), ephemeral("cache", "late")]),
    "before: the claim of an ephemeral volume is anothers, with a volume and without": lambda: before_filtering(
        storage_class(), claim("app-scratch", bound="d"), volume("d", bound="app-scratch"), claim("app-cache"), claim_names=[],
        volumes=[ephemeral("scratch"), ephemeral("cache", "late")]),
}  # fmt: skip


def ephemeral(name, of_class=None):
    """Return an ephemeral volume."""
    return {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": claim(storage_class=of_class)["spec"]}}}


def restored(disk, pod_of=of_set):
    """Return how the claim of a set's pod is copied."""
    trial = trial_of([N1, storage_class(), claim("data-db-0", bound="disk"), *([disk] if disk else []), *pod_of("data")], "db-0")
    return told(replace_claim.restore_snapshot(trial.claim("data-db-0"), trial)) or "nothing"


def alone(*_volumes):
    """Return the pod db-0 that nobody makes again."""
    return [pod("db-0", "data-db-0")]


COPIES = {
    "copy: of a set's volume": lambda: restored(volume("disk", zone="b", bound="data-db-0")),
    "copy: none of a volume without a driver, of none, of a pod of nobody": lambda: "\n".join([
        restored(volume("disk", bound="data-db-0", csi=None, nfs={"server": "s", "path": "/"})), restored(None),
        restored(volume("disk", bound="data-db-0"), alone)]),
}  # fmt: skip


def keyed(*nodes, key=ZONE, running=(), near=()):
    """Return how nodes get the key of a spread."""
    there = [pod(f"w{number}", running_on=on, labels={"app": "web"}, cpu="10m") for number, on in enumerate(running)]
    app = pod("app", labels={"app": "web"}, topologySpreadConstraints=[spread(key, app="web")])
    return offered(topology_keys.add_topology_key, trial_of([*nodes, *there, app]), *near, sort="spread")


KEYS = {
    "key: the rarest domain that helps": lambda: keyed(
        *(node(f"n{zone}{number}", zone, cpu="10m") for zone, count in (("c", 1), ("b", 1), ("a", 2)) for number in range(count)), node("m1"),
        running=["nb0", "nb0"], near=["m1"]),
    "key: no domain is known": lambda: keyed(node("m1"), node("m2")),
    "key: no domain helps but a new one": lambda: keyed(node("a1", "zone-1", cpu="10m"), node("z1", "z", cpu="10m"), node("m1"),
                                                        running=["a1"], near=["a1", "m1"]),
    "key: a host name": lambda: keyed({**node("m1"), "metadata": {"name": "m1"}}, key=HOST),
    "key: a rack": lambda: keyed(node("m1"), node("r1", labels={RACK: "r"}, cpu="10m"), key=RACK, near=["m1"]),
    "key: one that is nearly right": lambda: keyed(N1, key="topology.kubernetes.io/zon") or "nothing",
    "key: a key without a prefix": lambda: keyed(node("m1"), key="rack"),
    "key: the first six of seven domains": lambda: keyed(
        *(node(f"n{number}", f"z{number}", cpu="10m") for number in range(7)), node("m1"),
        running=[f"n{number}" for number in range(6) for _ in range(2)], near=["m1"]),
    "key: of a class, by term": lambda: for_node(storage_class(allowed=[{ZONE: ["b"], REGION: ["r"]}, {ZONE: ["c", "d"]}, {RACK: ["r"]}]),
                                                 labels={REGION: "r"}),
    "key: of a class with keys of before": lambda: for_node(storage_class(allowed=[{"failure-domain.beta.kubernetes.io/zone": ["b"]}])),
    "key: of a class, elsewhere": lambda: for_node(storage_class(allowed=[{ZONE: ["b"]}]), zone="a"),
    "key: of a class that allows it": lambda: for_node(storage_class(allowed=[{ZONE: ["a"]}, {RACK: ["r"]}]), zone="a"),
    "key: of published capacity": lambda: for_node(
        storage_class(), CHECKED, pool("p1", labels={ZONE: "b", REGION: "r"}), pool("p2", labels={REGION: "r"}), pool("p3", of_class="x"),
        {**pool("p4"), "nodeTopology": {"matchExpressions": [{"key": ZONE, "operator": "Exists"}]}},
        {key: value for key, value in pool("p5").items() if key != "nodeTopology"}, labels={REGION: "r"}),
    "key: of free volumes": lambda: for_node(
        BY_HAND, volume("v1", zone="b"), volume("v2", "9Gi", zone="c"), volume("v3", "10Gi", "late", {RACK: ["r"], ZONE: ["d"]}),
        volume("v4", zone="e", claim="x"), volume("v5", "10Gi", "x", zone="f")),
    "key: of eight free volumes": lambda: for_node(BY_HAND, *(volume(f"v{number}", "10Gi", "late", {f"k{number}": ["x"]}) for number in range(9))),
}  # fmt: skip


def for_node(*there, zone="", labels=None):
    """Return the labels of which a node lacks what a claim asks for."""
    trial = trial_of([node("n1", zone, labels=labels), *there, claim(), pod("app", "data")])
    return told(topology_keys.add_topology_of_claim(trial.claim("data"), trial, trial.seen.all_nodes())) or "nothing"


CLAIMS = {**UNBOUND, **BOUND_ONES, **TOGETHER, **BEFORE, **COPIES, **KEYS}

"""Small clusters with a pod that mostly fits nowhere, as manifests that an API server accepts.

Few names and values, so that everything collides: affinity both ways, spread, taints, cordons, ports, requests, gates,
priorities, attach limits, and claims in every state.
"""

from hypothesis import strategies as st
from scheduler.strategies import between, some_of

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
POD = "default/p"
CLASSES = {"fast": "one.csi", "now": "one.csi", "local": "kubernetes.io/no-provisioner"}


def one_of(*values):
    """Give one of these values."""
    return some_of(values)


seldom, often = one_of(False, False, False, True), one_of(True, True, True, False)
labels = one_of("web", "db").map(lambda app: {"app": app})
keys = one_of(ZONE, HOST)


def manifest(kind, name, version="v1", meta=(), **parts):
    """Return a manifest; cluster-scoped kinds have no namespace."""
    namespace = {"namespace": "default"} if kind in ("Pod", "PersistentVolumeClaim", "CSIStorageCapacity") else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **namespace, **dict(meta)}, **parts}


def a_node(draw, name):
    """Give a node, and perhaps what drivers say of it."""
    marks = {HOST: name} | ({ZONE: draw(one_of("a", "b"))} if draw(often) else {})
    taints = [{"key": "old", "effect": draw(one_of("NoSchedule", "NoExecute"))}] if draw(seldom) else []
    room = {"cpu": draw(one_of("1", "2", "4")), "memory": "4Gi", "pods": draw(one_of("1", "3", "9"))}
    yield manifest("Node", name, meta={"labels": marks}, status={"allocatable": room},
                   spec={"taints": taints, **({"unschedulable": True} if draw(seldom) else {})})
    if draw(often):
        limit = draw(one_of(None, 0, 1, 2))
        driver = {"name": "one.csi", "nodeID": name, "topologyKeys": [draw(keys)]}
        driver |= {"allocatable": {"count": limit}} if limit is not None else {}
        yield manifest("CSINode", name, "storage.k8s.io/v1", spec={"drivers": [driver]})


def terms(draw, most=2):
    """Give required terms of pod affinity."""
    return [{"labelSelector": {"matchLabels": draw(labels)}, "topologyKey": draw(keys)} for _ in range(draw(between(0, most)))]


def affinity(draw, *, near=True):
    """Give required pod affinity and anti-affinity, and node affinity if the pod has no node yet."""
    found = {}
    if near and draw(seldom):
        found["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms(draw)}
    if draw(seldom):
        found["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms(draw)}
    if near and draw(seldom):
        parts = [{"key": draw(keys), "operator": draw(one_of("In", "NotIn")), "values": [draw(one_of("a", "n0"))]}
                 for _ in range(draw(between(1, 2)))]
        wanted = {"nodeSelectorTerms": [{"matchExpressions": parts}]}
        found["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": wanted}
    return found


def container(draw, cpu):
    """Give the container of a pod."""
    ports = [{"containerPort": 80, "hostPort": 80}] if draw(seldom) else []
    return {"name": "c", "image": "i", "ports": ports, "resources": {"requests": {"cpu": draw(cpu)}}}


def claims_used(draw, most):
    """Give the volumes of a pod, by the names of their claims."""
    names = [name for name in ("c0", "c1", "c2") if draw(seldom)][:most]
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]


def placed(draw, name, node):
    """Give a pod on a node."""
    spec = {"nodeName": node, "containers": [container(draw, one_of("100m", "1"))], "affinity": affinity(draw, near=False),
            "volumes": claims_used(draw, 1)}
    return manifest("Pod", name, meta={"labels": draw(labels)}, spec=spec, status={"phase": "Running"})


def pending(draw):
    """Give the pod in question."""
    constraints = [
        {"maxSkew": 1, "topologyKey": draw(keys), "whenUnsatisfiable": "DoNotSchedule",
         "labelSelector": {"matchLabels": draw(labels)}} for _ in range(draw(one_of(0, 0, 1)))
    ]  # fmt: skip
    spec = {
        "containers": [container(draw, one_of("100m", "1", "3", "9"))], "affinity": affinity(draw),
        "topologySpreadConstraints": constraints, "volumes": claims_used(draw, 2),
        "nodeSelector": {ZONE: "a"} if draw(seldom) else {},
        "tolerations": [{"key": "old", "operator": "Exists", "effect": "NoSchedule"}] if draw(seldom) else [],
        "schedulingGates": [{"name": "example.com/g"}] if draw(seldom) else [],
        "priority": draw(one_of(0, 0, 10)),
    }  # fmt: skip
    return manifest("Pod", "p", meta={"labels": draw(labels)}, spec=spec)


def storage(draw):
    """Give classes, volumes and claims: bound, reserved, waiting, with a node selected, or with a volume that is gone."""
    for name, provisioner in CLASSES.items():
        mode = "Immediate" if name == "now" else "WaitForFirstConsumer"
        terms = [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}] if name == "fast" and draw(seldom) else []
        yield manifest("StorageClass", name, "storage.k8s.io/v1", provisioner=provisioner, volumeBindingMode=mode,
                       allowedTopologies=terms)
    for number in range(3):
        kind = draw(one_of("waiting", "waiting", "selected", "bound", "bound", "gone", "named", "absent"))
        class_name = draw(one_of("fast", "local", "now"))
        size, name, volume = draw(one_of("1Gi", "5Gi")), f"c{number}", f"v{number}"
        modes = [draw(one_of("ReadWriteOnce", "ReadWriteOnce", "ReadWriteOncePod"))]
        spec = {"accessModes": modes, "storageClassName": class_name, "resources": {"requests": {"storage": size}}}
        marks = {"bound": {"pv.kubernetes.io/bind-completed": "yes"}, "gone": {"pv.kubernetes.io/bind-completed": "yes"},
                 "selected": {"volume.kubernetes.io/selected-node": "n0"}}.get(kind, {})
        spec |= {"volumeName": volume} if kind in ("bound", "gone", "named") else {}
        bound = kind in ("bound", "gone")
        if kind != "absent":
            yield manifest("PersistentVolumeClaim", name, meta={"annotations": marks, "uid": f"uid-{name}"}, spec=spec,
                           status={"phase": "Bound" if bound else "Pending"})
        if kind != "gone" and (kind == "bound" or draw(often)):
            reserved = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": name, "uid": f"uid-{name}"}
            source = {"csi": {"driver": "one.csi", "volumeHandle": volume}} if draw(often) else {"hostPath": {"path": "/x"}}
            where = [{"matchExpressions": [{"key": draw(keys), "operator": "In", "values": [draw(one_of("a", "b", "n1"))]}]}]
            only = {"nodeAffinity": {"required": {"nodeSelectorTerms": where}}} if draw(often) else {}
            yield manifest(
                "PersistentVolume", volume,
                spec={"capacity": {"storage": draw(one_of("1Gi", "5Gi"))}, "accessModes": modes,
                      "storageClassName": class_name, "persistentVolumeReclaimPolicy": "Retain", **source, **only,
                      **({"claimRef": reserved} if kind == "bound" else {})},
                status={"phase": "Bound" if kind == "bound" else "Available"},
            )  # fmt: skip
    if draw(seldom):
        yield manifest("CSIDriver", "one.csi", "storage.k8s.io/v1", spec={"storageCapacity": True})
        yield manifest("CSIStorageCapacity", "r", "storage.k8s.io/v1", storageClassName="fast",
                       nodeTopology={"matchLabels": {ZONE: draw(one_of("a", "b"))}}, capacity=draw(one_of("1Gi", "9Gi")))


@st.composite
def stuck_clusters(draw):
    """Give the manifests of a cluster with the pod `p`."""
    names = [f"n{number}" for number in range(draw(between(1, 3)))]
    found = [obj for name in names for obj in a_node(draw, name)]
    found += [placed(draw, f"e{number}", draw(one_of(*names))) for number in range(draw(between(0, 4)))]
    return [*found, *storage(draw), pending(draw)]

"""Builders of small manifests as plain data, for experiments in a few lines: `c.apply(node("n1"), pod("app"))`.

Every builder takes what is common as keywords; whatever else a kind's spec has goes by its Kubernetes name (a
StorageClass has no spec: its fields).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = [
    "DRIVER", "HOST", "LOCAL", "RACK", "SELECTED_NODE", "ZONE", "apart", "claim", "csi_driver", "csi_node",
    "deployment", "disk", "inline", "node", "node_selector", "pod", "pool", "required", "spread", "stateful_set",
    "storage_class", "together", "volume",
]

ZONE, HOST, RACK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/rack"
DRIVER, LOCAL = "disks.example.com", "kubernetes.io/no-provisioner"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
Plain = dict[str, Any]
Texts = Mapping[str, str]


def metadata(
    name: str, namespace: str = "", uid: str = "", labels: Texts | None = None, annotations: Texts | None = None
) -> Plain:
    """Return metadata without its empty fields."""
    fields = {"name": name, "namespace": namespace, "uid": uid}
    found = {**fields, "labels": dict(labels or {}), "annotations": dict(annotations or {})}
    return {key: value for key, value in found.items() if value}


def node(  # noqa: PLR0913 - named options, each with its default
    name: str = "node-1", zone: str = "", *, cpu: str = "4", memory: str = "64Gi", pods: str = "110",
    labels: Texts | None = None, annotations: Texts | None = None, taints: Iterable[str | Mapping[str, str]] = (),
    ready: str | None = None, **spec: Any,
) -> Plain:  # fmt: skip
    """Return a node with its hostname as a label and, if given, its zone; a taint is a text or a mapping.

    The text is written as for `kubectl taint`, or is a key alone, for `NoSchedule`.

    Raises:
        ValueError: a text is no taint.

    >>> node("n1", "zone-a")["metadata"]["labels"]
    {'kubernetes.io/hostname': 'n1', 'topology.kubernetes.io/zone': 'zone-a'}
    >>> node("n1", taints=["gpu=a100:NoExecute"])["spec"]["taints"]
    [{'key': 'gpu', 'value': 'a100', 'effect': 'NoExecute'}]
    >>> node("n1", taints=["gpu=a100"])
    Traceback (most recent call last):
    ValueError: 'gpu=a100' is no taint; write a key, 'key:Effect' or 'key=value:Effect'
    """
    labels = {HOST: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    if taints:
        spec["taints"] = [_taint(taint) if isinstance(taint, str) else taint for taint in taints]
    room = {"cpu": cpu, "memory": memory, "pods": pods}
    status: Plain = {"capacity": room, "allocatable": room}
    if ready is not None:
        status["conditions"] = [{"type": "Ready", "status": ready}]
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata(name, labels=labels, annotations=annotations),
            "spec": spec, "status": status}  # fmt: skip


def _taint(text: str) -> Plain:
    read = re.fullmatch(r"([^=:]+)(?:(?:=([^=:]*))?:(NoSchedule|PreferNoSchedule|NoExecute))?", text)
    if read is None:
        raise ValueError(f"{text!r} is no taint; write a key, 'key:Effect' or 'key=value:Effect'")
    key, value, effect = read.groups()
    return {"key": key, "value": (value or "") if effect else "x", "effect": effect or "NoSchedule"}


def csi_node(
    name: str, count: int | None = None, driver: str = DRIVER, *, topology_keys: Iterable[str] = (),
    annotations: Texts | None = None,
) -> Plain:  # fmt: skip
    """Return a CSINode on which a driver attaches up to `count` volumes; without a count no driver is installed."""
    allocatable = {"count": count}
    installed = {"name": driver, "nodeID": name, "allocatable": allocatable, "topologyKeys": list(topology_keys)}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata(name, annotations=annotations),
            "spec": {"drivers": [] if count is None else [installed]}}  # fmt: skip


def storage_class(
    name: str = "late", provisioner: str = DRIVER, *, waits: bool = True,
    allowed: Iterable[Mapping[str, Iterable[str]]] | None = None, annotations: Texts | None = None, **fields: Any,
) -> Plain:  # fmt: skip
    """Return a class that waits for the first consumer; `allowed` is a list of topology terms {key: values}.

    Raises:
        TypeError: the values of a term are no list.

    >>> storage_class(waits=False)["volumeBindingMode"]
    'Immediate'
    >>> storage_class(allowed=[{ZONE: "a"}])
    Traceback (most recent call last):
    TypeError: the values of topology.kubernetes.io/zone are a list, not 'a'
    """
    if allowed is not None:
        fields["allowedTopologies"] = [
            {"matchLabelExpressions": [{"key": key, "values": _listed(key, values)} for key, values in term.items()]}
            for term in allowed
        ]
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": metadata(name, annotations=annotations), "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer" if waits else "Immediate", **fields}  # fmt: skip


def volume(  # noqa: PLR0913 - named options, each with its default
    name: str = "disk", size: str = "10Gi", storage_class: str = "late", *terms: Mapping[str, Iterable[str]],
    zone: str = "", claim: str = "", bound: str = "", policy: str = "Retain", driver: str = DRIVER,
    labels: Texts | None = None, annotations: Texts | None = None, phase: str | None = None, **spec: Any,
) -> Plain:  # fmt: skip
    """Return a volume that is reachable in a zone, where one of the terms {key: values} holds, or else everywhere.

    `claim` names the claim that it is reserved for (prebound), `bound` the claim that it is bound to. The phase
    follows; an empty one leaves the status out.
    """
    source = {"driver": driver, "volumeHandle": name}
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
            "persistentVolumeReclaimPolicy": policy, "csi": source, **spec}  # fmt: skip
    if zone:
        terms = (*terms, {ZONE: [zone]})
    if terms:
        spec["nodeAffinity"] = {"required": node_selector(*terms)}
    if claim or bound:
        spec["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
                            "name": claim or bound, **({"uid": f"uid-{bound}"} if bound else {})}  # fmt: skip
    phase = phase if phase is not None else "Bound" if bound else "Available"
    return {"apiVersion": "v1", "kind": "PersistentVolume",
            "metadata": metadata(name, labels=labels, annotations=annotations),
            "spec": spec, **({"status": {"phase": phase}} if phase else {})}  # fmt: skip


def disk(name: str, on: str, size: str = "10Gi", storage_class: str = "local", **fields: Any) -> Plain:
    """Return a local disk: a volume that one node reaches.

    >>> disk("d1", "n1")["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"]
    ['n1']
    """
    return volume(name, size, storage_class, {HOST: [on]}, **fields)


def claim(
    name: str = "data", size: str = "10Gi", storage_class: str | None = "late", *, bound: str = "",
    selected_node: str = "", annotations: Texts | None = None, **spec: Any,
) -> Plain:  # fmt: skip
    """Return a claim; `bound` names its volume, and the class None leaves the class to the default."""
    texts, uid = dict(annotations or {}), ""
    if selected_node:
        texts[SELECTED_NODE] = selected_node
    if bound:
        uid, texts["pv.kubernetes.io/bind-completed"], spec["volumeName"] = f"uid-{name}", "yes", bound
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": metadata(name, "default", uid, annotations=texts), "spec": spec,
            "status": {"phase": "Bound" if bound else "Pending"}}  # fmt: skip


def pod(  # noqa: PLR0913 - named options, each with its default
    name: str = "app", *claims: str, node_name: str = "", running_on: str = "", cpu: str = "100m",
    requests: Texts | None = None, gates: Iterable[str] = (), namespace: str = "default", uid: str = "",
    labels: Texts | None = None, annotations: Texts | None = None, status: Plain | None = None, **spec: Any,
) -> Plain:  # fmt: skip
    """Return a pod that mounts these claims; it is pending, bound to `node_name`, or runs on `running_on`.

    >>> pod("app", "data", gates=["quota"])["spec"]["schedulingGates"]
    [{'name': 'quota'}]
    """
    spec = {**_pod_spec(*claims, cpu=cpu, requests=requests), **spec}
    if gates:
        spec["schedulingGates"] = [{"name": gate} for gate in gates]
    if node_name or running_on:
        spec["nodeName"] = node_name or running_on
    if running_on:
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], **(status or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata(name, namespace, uid, labels, annotations),
            "spec": spec, **({"status": status} if status else {})}  # fmt: skip


def _pod_spec(*claims: str, cpu: str, requests: Texts | None = None) -> Plain:
    requests = {"cpu": cpu} if requests is None else requests
    container = {"name": "app", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
    volumes = [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": each}} for n, each in enumerate(claims)]
    return {"containers": [container], "volumes": volumes}


def inline(name: str = "app", size: str | None = "1Gi", driver: str = DRIVER, **spec: Any) -> Plain:
    """Return a pod with an ephemeral inline volume of a size (S2's `fsSize`; None leaves it out).

    >>> inline("redis", "8Gi")["spec"]["volumes"]
    [{'name': 'scratch', 'csi': {'driver': 'disks.example.com', 'fsSize': '8Gi'}}]
    """
    source = {"driver": driver, **({"fsSize": size} if size is not None else {})}
    return pod(name, **{"volumes": [{"name": "scratch", "csi": source}], **spec})


def csi_driver(
    name: str = DRIVER, *, tracks: bool | None = True, told: Mapping[str, Iterable[Mapping[str, Any]]] | None = None,
    **spec: Any,
) -> Plain:  # fmt: skip
    """Return a CSIDriver; `told` is what it says of capacity (S2): class, `<ephemeral>` or `<fallback>` -> pools."""
    tracking = {} if tracks is None else {"capacityTracking": tracks}
    made = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": metadata(name),
            "spec": {**tracking, **spec}}  # fmt: skip
    if told is not None:
        entries = [{"storageClassName": each, "pools": [dict(p) for p in pools]} for each, pools in told.items()]
        made["status"] = {"storage": entries}
    return made


def pool(
    name: str = "pool", capacity: str | None = None, *, nodes: Iterable[str] = (),
    topology: Mapping[str, Iterable[str]] | None = None, expires: str = "",
) -> Plain:  # fmt: skip
    """Return a pool of a driver's status: reached by named nodes, by those of terms {key: values}, or by all.

    >>> pool("vg", "10Gi", nodes=["n1"])
    {'name': 'vg', 'capacity': '10Gi', 'nodeList': ['n1']}
    """
    fields = {"capacity": capacity, "nodeList": list(nodes) or None, "expiryTime": expires or None}
    made = {"name": name, **{field: value for field, value in fields.items() if value is not None}}
    return made if topology is None else {**made, "nodeTopology": node_selector(topology)}


def deployment(name: str = "web", replicas: int = 1, *, cpu: str = "100m", strategy: str = "", **spec: Any) -> Plain:
    """Return a Deployment of pods labelled app=NAME; further keywords are fields of their spec."""
    template = {"metadata": {"labels": {"app": name}}, "spec": {**_pod_spec(cpu=cpu), **spec}}
    fields = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(name),
            "spec": {**fields, **({"strategy": {"type": strategy}} if strategy else {})}}  # fmt: skip


def stateful_set(
    name: str = "web", replicas: int = 1, storage_class: str = "", *, size: str = "10Gi", cpu: str = "100m",
    management: str = "OrderedReady", **spec: Any,
) -> Plain:  # fmt: skip
    """Return a StatefulSet of pods labelled app=NAME, each with a claim `data` of the class, if one is named."""
    template = {"metadata": {"labels": {"app": name}}, "spec": {**_pod_spec(cpu=cpu), **spec}}
    claims = [{"metadata": {"name": "data"}, "spec": claim("data", size, storage_class)["spec"]}]
    fields = {"replicas": replicas, "serviceName": name, "podManagementPolicy": management,
              "selector": {"matchLabels": {"app": name}}, "template": template}  # fmt: skip
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata(name),
            "spec": {**fields, **({"volumeClaimTemplates": claims} if storage_class else {})}}  # fmt: skip


def node_selector(*terms: Mapping[str, Iterable[str]]) -> Plain:
    """Return a node selector: each {key: values} is a term of In expressions."""
    return {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)} for key, values in term.items()]}
        for term in terms]}  # fmt: skip


def required(*terms: Mapping[str, Iterable[str]]) -> Plain:
    """Return an affinity to the nodes for which one of the terms {key: values} holds."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": node_selector(*terms)}}


def apart(key: str = HOST, **labels: str) -> Plain:
    """Return an affinity that keeps a pod away from domains with pods of these labels."""
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(key, labels)]}}


def together(key: str = ZONE, **labels: str) -> Plain:
    """Return an affinity to domains with a pod of these labels."""
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(key, labels)]}}


def spread(key: str = ZONE, skew: int = 1, *, soft: bool = False, **labels: str) -> Plain:
    """Return a topology spread constraint over pods with these labels."""
    return {"maxSkew": skew, "whenUnsatisfiable": "ScheduleAnyway" if soft else "DoNotSchedule", **_term(key, labels)}


def _term(key: str, labels: Texts) -> Plain:
    return {"topologyKey": key, "labelSelector": {"matchLabels": dict(labels)}}


def _listed(key: str, values: Any) -> list[str]:
    """Return values as a list; a text alone is refused, since its letters would become values."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"the values of {key} are a list, not {values!r}")
    return list(values)

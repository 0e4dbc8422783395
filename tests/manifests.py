"""Builders of manifests as plain data, one for each kind that tests need; `objects` has the same as typed objects.

Every builder takes what is common as keywords; whatever else a kind's spec has goes by its Kubernetes name (a
StorageClass has no spec: its fields).
"""

ZONE, HOST, RACK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/rack"
DRIVER, LOCAL = "disks.example.com", "kubernetes.io/no-provisioner"
SELECTED_NODE = "volume.kubernetes.io/selected-node"


def metadata(name, namespace="", uid="", labels=None, annotations=None):
    """Return metadata without its empty fields."""
    fields = {"name": name, "namespace": namespace, "uid": uid, "labels": dict(labels or {}), "annotations": dict(annotations or {})}
    return {key: value for key, value in fields.items() if value}


def node(name="node-1", zone="", *, cpu="4", memory="64Gi", pods="110", labels=None, annotations=None, taints=(), ready=None,
         **spec):
    """Return a node with its hostname as a label and, if given, its zone; a taint is a key (NoSchedule) or a mapping."""
    labels = {HOST: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    if taints:
        spec["taints"] = [{"key": each, "value": "x", "effect": "NoSchedule"} if isinstance(each, str) else each for each in taints]
    room = {"cpu": cpu, "memory": memory, "pods": pods}
    status = {"capacity": room, "allocatable": room}
    if ready is not None:
        status["conditions"] = [{"type": "Ready", "status": ready}]
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata(name, labels=labels, annotations=annotations),
            "spec": spec, "status": status}


def csi_node(name, count=None, driver=DRIVER, *, topology_keys=(), annotations=None):
    """Return a CSINode on which a driver attaches up to `count` volumes; without a count no driver is installed."""
    installed = {"name": driver, "nodeID": name, "allocatable": {"count": count}, "topologyKeys": list(topology_keys)}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata(name, annotations=annotations),
            "spec": {"drivers": [] if count is None else [installed]}}


def storage_class(name="late", provisioner=DRIVER, *, waits=True, allowed=None, annotations=None, **fields):
    """Return a class that waits for the first consumer; `allowed` is a list of topology terms {key: values}."""
    if allowed is not None:
        fields["allowedTopologies"] = [
            {"matchLabelExpressions": [{"key": key, "values": list(values)} for key, values in term.items()]}
            for term in allowed]
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata(name, annotations=annotations),
            "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer" if waits else "Immediate", **fields}


def volume(name="disk", size="10Gi", storage_class="late", *terms, zone="", claim="", bound="", policy="Retain", driver=DRIVER,
           labels=None, annotations=None, phase=None, **spec):
    """Return a volume that is reachable in a zone, where one of the terms {key: values} holds, or else everywhere.

    `claim` names the claim that it is reserved for (prebound), `bound` the claim that it is bound to. The phase
    follows; an empty one leaves the status out.
    """
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
            "persistentVolumeReclaimPolicy": policy, "csi": {"driver": driver, "volumeHandle": name}, **spec}
    if zone:
        terms = (*terms, {ZONE: [zone]})
    if terms:
        spec["nodeAffinity"] = {"required": node_selector(*terms)}
    if claim or bound:
        spec["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
                            "name": claim or bound, **({"uid": f"uid-{bound}"} if bound else {})}
    phase = phase if phase is not None else "Bound" if bound else "Available"
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata(name, labels=labels, annotations=annotations),
            "spec": spec, **({"status": {"phase": phase}} if phase else {})}


def claim(name="data", size="10Gi", storage_class="late", *, bound="", selected_node="", annotations=None, **spec):
    """Return a claim; `bound` names its volume, and the class None leaves the class to the default."""
    annotations, uid = dict(annotations or {}), ""
    if selected_node:
        annotations[SELECTED_NODE] = selected_node
    if bound:
        uid, annotations["pv.kubernetes.io/bind-completed"], spec["volumeName"] = f"uid-{name}", "yes", bound
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata(name, "default", uid, annotations=annotations),
            "spec": spec, "status": {"phase": "Bound" if bound else "Pending"}}


def pod(name="app", *claims, node_name="", running_on="", cpu="100m", requests=None, gates=(), namespace="default", uid="",
        labels=None, annotations=None, status=None, **spec):
    """Return a pod that mounts these claims; it is pending, bound to `node_name`, or runs on `running_on`."""
    requests = {"cpu": cpu} if requests is None else requests
    spec = {"containers": [{"name": "app", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}],
            "volumes": [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": each}} for n, each in enumerate(claims)], **spec}
    if gates:
        spec["schedulingGates"] = [{"name": gate} for gate in gates]
    if node_name or running_on:
        spec["nodeName"] = node_name or running_on
    if running_on:
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], **(status or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata(name, namespace, uid, labels, annotations), "spec": spec,
            **({"status": status} if status else {})}


def node_selector(*terms):
    """Return a node selector: each {key: values} is a term of In expressions."""
    return {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)} for key, values in term.items()]}
        for term in terms]}


def required(*terms):
    """Return an affinity to the nodes for which one of the terms {key: values} holds."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": node_selector(*terms)}}


def apart(key=HOST, **labels):
    """Return an affinity that keeps a pod away from domains with pods of these labels."""
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": labels}}]}}


def together(key=ZONE, **labels):
    """Return an affinity to domains with a pod of these labels."""
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": labels}}]}}


def spread(key=ZONE, skew=1, *, soft=False, **labels):
    """Return a topology spread constraint over pods with these labels."""
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway" if soft else "DoNotSchedule",
            "labelSelector": {"matchLabels": labels}}

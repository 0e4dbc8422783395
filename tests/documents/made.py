"""Small manifests for the documents' tests, and what a test asks of a cluster: who fits, where things are.

Everything goes through the public face; a manifest is plain data, as one would write it in YAML.
"""

from kvolsched import Cluster
from kvolsched.api.text import manifest
from kvolsched.explain import judge_last_pass
from kvolsched.results import ApplyRefused
from kvolsched.world.apiserver import key_of

ZONE, HOST, RACK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "example.com/rack"
QUIET = {"kubelet": {"absent": True}}


def node(name, zone="", *, cpu="4", labels=None, taints=(), **spec):
    """A node with its hostname as a label, in a zone if one is named."""
    told = {HOST: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    room = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
    if taints:
        spec["taints"] = [{"key": key, "value": "x", "effect": "NoSchedule"} for key in taints]
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": told}, "spec": spec,
            "status": {"capacity": room, "allocatable": room}}


def storage_class(name="late", provisioner="disks.example.com", *, waits=True, allowed=None, **fields):
    """A class; `allowed` is a list of {key: values}, a term each."""
    made = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer" if waits else "Immediate", **fields}
    if allowed is not None:
        made["allowedTopologies"] = [
            {"matchLabelExpressions": [{"key": key, "values": values} for key, values in term.items()]}
            for term in allowed]
    return made


def terms(*wanted):
    """nodeSelectorTerms: each {key: values} is a term of In expressions."""
    return {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": key, "operator": "In", "values": values} for key, values in term.items()]}
        for term in wanted]}


def volume(name, size="100Gi", of="late", *reach, labels=None, claim="", **spec):
    """An available disk; `reach` are terms {key: values} of its node affinity."""
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": of,
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": "disks.example.com", "volumeHandle": name}, **spec}
    if reach:
        spec["nodeAffinity"] = {"required": terms(*reach)}
    if claim:
        spec["claimRef"] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
                            "name": claim, "uid": f"uid-{claim}"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "labels": labels or {}},
            "spec": spec, "status": {"phase": "Bound" if claim else "Available"}}


def claim(name, size="10Gi", of="late", *, bound="", **spec):
    """A claim; `bound` names the volume that it has."""
    meta = {"name": name}
    if bound:
        meta |= {"uid": f"uid-{name}", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}}
        spec["volumeName"] = bound
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta,
            "spec": {"storageClassName": of, "accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": size}}, **spec},
            "status": {"phase": "Bound" if bound else "Pending"}}


def pod(name, *claims, labels=None, on="", cpu="100m", gates=(), **spec):
    """A pod with these claims; `on` a node it runs there already."""
    spec = {"containers": [{"name": "app", "image": "registry.k8s.io/pause:3.10",
                            "resources": {"requests": {"cpu": cpu}}}],
            "volumes": [{"name": f"v{n}", "persistentVolumeClaim": {"claimName": each}}
                        for n, each in enumerate(claims)], **spec}
    if gates:
        spec["schedulingGates"] = [{"name": gate} for gate in gates]
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {}}, "spec": spec}
    if on:
        spec["nodeName"] = on
        made["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return made


def required(*wanted):
    """An affinity whose node terms {key: values} must hold."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms(*wanted)}}


def apart(key=HOST, **labels):
    """An affinity that keeps a pod away from domains with such pods."""
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": labels}}]}}


def together(key=ZONE, **labels):
    """An affinity that wants such a pod in the same domain."""
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": key, "labelSelector": {"matchLabels": labels}}]}}


def spread(key=ZONE, skew=1, *, soft=False, **labels):
    """A spread constraint over pods with these labels."""
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway" if soft else "DoNotSchedule",
            "labelSelector": {"matchLabels": labels}}


def cluster(*objects, revision="design", seed=0, **components):
    """A cluster with these objects as they are found."""
    return Cluster.from_manifests(list(objects), revision=revision, seed=seed, components=components)


def judgement(of, name):
    """The scheduler's judgement of a pod, as its last pass found it."""
    return judge_last_pass(of, key_of(of[f"pod/{name}"]))


def fits(of, name):
    """The nodes that fit a pod, sorted."""
    return sorted(judgement(of, name).judgement.feasible)


def where(of, *names):
    """The nodes that pods are on, in this order; "" for none."""
    return [of[f"pod/{name}"].spec.node_name for name in names]


def zones(of, *names):
    """The zones of the pods' nodes."""
    return [of[f"node/{each}"].metadata.labels[ZONE] if each else "" for each in where(of, *names)]


def message(of, name):
    """The sentence in a pod's condition PodScheduled."""
    return of[f"pod/{name}"].status.condition("PodScheduled").message


def reach(of, name):
    """Where a claim's volume can be reached: its terms as {key: values}."""
    affinity = of[f"pv/{of[f'pvc/{name}'].spec.volume_name}"].spec.node_affinity
    return [{part.key: list(part.values) for part in term.match_expressions}
            for term in affinity.required.node_selector_terms]


def merged(old, change):
    """Plain data after a JSON merge patch."""
    if not isinstance(change, dict):
        return change
    found = dict(old) if isinstance(old, dict) else {}
    for word, new in change.items():
        if new is None:
            found.pop(word, None)
        else:
            found[word] = merged(found.get(word), new)
    return found


def patch(of, reference, **change):
    """Change an object as a user, by a merge patch of its fields."""
    return of.edit(reference, lambda old: manifest.from_plain(merged(manifest.to_plain(old), change)))


def refusal(act, *args, **kwargs):
    """What the API server says to an act; "" if it is allowed."""
    try:
        act(*args, **kwargs)
    except ApplyRefused as refused:
        return str(refused)
    return ""


def events(of, about, reason=""):
    """The messages of the events about an object."""
    return [each.message for each in of.objects("events")
            if each.involved_object.name == about and reason in ("", each.reason)]

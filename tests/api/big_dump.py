"""A dump of a large cluster, as long as real ones: what `kubectl get … -o json` writes of so many nodes.

Shapes and lengths are those of a cluster with CSI volumes: nodes with conditions, addresses and images, pods with a
token volume, mounts and container statuses, a claim and a volume for every second pod.
"""

import json

ZONES = "abc"
MOMENT = "2026-01-31T12:00:00Z"
TAINTED = 50  # every so many nodes


def metadata(number, name, uid, namespace=None, **more):
    """Return the metadata of an object."""
    made = {"creationTimestamp": MOMENT, "name": name, "resourceVersion": str(100_000 + number), "uid": f"{uid}-{number:08}"}
    return {**made, **({"namespace": namespace} if namespace else {}), **more}


def node(i):
    """Return one node with the status that a kubelet writes."""
    zone = ZONES[i % len(ZONES)]
    labels = {
        "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": f"node-{i:05}", "node.kubernetes.io/instance-type": "m5.xlarge",
        "topology.kubernetes.io/region": "eu", "topology.kubernetes.io/zone": f"eu-{zone}",
    }  # fmt: skip
    room = {"cpu": "4", "ephemeral-storage": "104845292Ki", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "memory": "16079264Ki", "pods": "58"}
    conditions = [
        {"lastHeartbeatTime": MOMENT, "lastTransitionTime": MOMENT, "message": f"kubelet has no {what}", "reason": f"KubeletHasNo{what}",
         "status": "True" if what == "Ready" else "False", "type": what}
        for what in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]  # fmt: skip
    images = [{"names": [f"registry.example.com/team/image-{k}@sha256:{'0123456789abcdef' * 4}", f"registry.example.com/team/image-{k}:v1.{k}"],
               "sizeBytes": 50_000_000 + k} for k in range(i % 5, 20)]  # fmt: skip
    spec = {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"], "providerID": f"aws:///eu-{zone}/i-{i:017x}"}
    if i % TAINTED == 0:
        spec["taints"] = [{"effect": "NoSchedule", "key": "dedicated", "value": "db"}]
    info = dict.fromkeys(("architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeletVersion", "machineID", "osImage", "systemUUID"), "x" * 20)
    status = {"addresses": [{"address": f"10.1.{i // 250}.{i % 250}", "type": "InternalIP"}, {"address": f"node-{i:05}", "type": "Hostname"}],
              "allocatable": room, "capacity": room, "conditions": conditions, "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
              "images": images, "nodeInfo": info}  # fmt: skip
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata(i, f"node-{i:05}", "node", labels=labels, annotations={
        "csi.volume.kubernetes.io/nodeid": f'{{"ebs.csi.aws.com":"i-{i:017x}"}}', "volumes.kubernetes.io/controller-managed-attach-detach": "true"}),
        "spec": spec, "status": status}  # fmt: skip


def csi_node(i):
    """Return the CSINode of a node."""
    driver = {"allocatable": {"count": 25}, "name": "ebs.csi.aws.com", "nodeID": f"i-{i:017x}", "topologyKeys": ["topology.kubernetes.io/zone"]}
    owner = {"apiVersion": "v1", "kind": "Node", "name": f"node-{i:05}", "uid": f"node-{i:08}"}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata(i, f"node-{i:05}", "csinode", ownerReferences=[owner]),
            "spec": {"drivers": [driver]}}  # fmt: skip


def pod(i, nodes, claim):
    """Return a running pod, with or without a claim; without nodes a pending one."""
    mounts = [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "token", "readOnly": True}]
    volumes = [{"name": "token", "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [{"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}]}}]}}]  # fmt: skip
    if claim:
        volumes.append({"name": "data", "persistentVolumeClaim": {"claimName": claim}})
        mounts.append({"mountPath": "/data", "name": "data"})
    app = f"app-{i % 200}"
    container = {
        "env": [{"name": f"SETTING_{k}", "value": "x" * 20} for k in range(5)], "image": f"registry.example.com/team/{app}:v1", "imagePullPolicy": "IfNotPresent",
        "name": "app", "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "256Mi"}},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "volumeMounts": mounts,
    }  # fmt: skip
    lost = [{"effect": "NoExecute", "key": f"node.kubernetes.io/{what}", "operator": "Exists", "tolerationSeconds": 300} for what in ("not-ready", "unreachable")]
    spec = {"containers": [container], "dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority", "priority": 0,
            "restartPolicy": "Always", "schedulerName": "default-scheduler", "securityContext": {}, "serviceAccount": "default",
            "serviceAccountName": "default", "terminationGracePeriodSeconds": 30, "tolerations": lost, "volumes": volumes}  # fmt: skip
    status = {"phase": "Pending", "qosClass": "Burstable"}
    if nodes:
        at = i % nodes + (i % nodes % TAINTED == 0)
        spec["nodeName"] = f"node-{at:05}"
        conditions = [{"lastProbeTime": None, "lastTransitionTime": MOMENT, "status": "True", "type": what}
                      for what in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")]  # fmt: skip
        running = {"containerID": f"containerd://{i:064x}", "image": container["image"], "imageID": f"sha256:{i:064x}", "lastState": {},
                   "name": "app", "ready": True, "restartCount": 0, "started": True, "state": {"running": {"startedAt": MOMENT}}}  # fmt: skip
        status = {"conditions": conditions, "containerStatuses": [running], "hostIP": "10.1.0.1", "phase": "Running", "podIP": f"10.2.{i // 250 % 250}.{i % 250}",
                  "qosClass": "Burstable", "startTime": MOMENT}  # fmt: skip
    owner = {"apiVersion": "apps/v1", "blockOwnerDeletion": True, "controller": True, "kind": "ReplicaSet", "name": f"{app}-6d4cf56db6", "uid": f"rs-{i % 200:08}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata(i, f"{app}-6d4cf56db6-{i:05}", "pod", f"team-{i % 20}", labels={
        "app": app, "pod-template-hash": "6d4cf56db6"}, generateName=f"{app}-6d4cf56db6-", ownerReferences=[owner]), "spec": spec, "status": status}  # fmt: skip


def claim_and_volume(i, namespace, zone):
    """Return a bound claim and its volume."""
    size, modes = {"storage": "10Gi"}, ["ReadWriteOnce"]
    bound = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes", "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com"}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata(i, f"data-{i:05}", "pvc", namespace, annotations=bound, finalizers=["kubernetes.io/pvc-protection"]),
             "spec": {"accessModes": modes, "resources": {"requests": size}, "storageClassName": "gp3", "volumeMode": "Filesystem", "volumeName": f"pvc-{i:05}"},
             "status": {"accessModes": modes, "capacity": size, "phase": "Bound"}}  # fmt: skip
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata(i, f"pvc-{i:05}", "pv", annotations={"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"},
              finalizers=["kubernetes.io/pv-protection"]), "spec": {"accessModes": modes, "capacity": size,
              "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": f"data-{i:05}", "namespace": namespace, "resourceVersion": "5", "uid": f"pvc-{i:08}"},
              "csi": {"driver": "ebs.csi.aws.com", "fsType": "ext4", "volumeAttributes": {"storage.kubernetes.io/csiProvisionerIdentity": "1"}, "volumeHandle": f"vol-{i:017x}"},
              "nodeAffinity": affinity, "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "gp3", "volumeMode": "Filesystem"}, "status": {"phase": "Bound"}}  # fmt: skip
    return claim, volume


def storage():
    """Return classes and pools beside gp3: one zone only, bound at once, and pools that are nearly full in every zone."""
    by_zone = [{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["eu-c"]}]}]
    for number, (name, more) in enumerate((("zonal", {"allowedTopologies": by_zone}), ("at-once", {"volumeBindingMode": "Immediate"}), ("pools", {"provisioner": "pools.example.com"}))):
        yield {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata(number, name, "sc"), "provisioner": "ebs.csi.aws.com",
               "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer", **more}  # fmt: skip
    yield {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": metadata(0, "pools.example.com", "driver"), "spec": {"storageCapacity": True}}
    for number, zone in enumerate(ZONES):
        yield {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": metadata(number, f"pool-{zone}", "pool", "kube-system"), "capacity": "5Gi",
               "nodeTopology": {"matchLabels": {"topology.kubernetes.io/zone": f"eu-{zone}"}}, "storageClassName": "pools"}  # fmt: skip


def waiting_claim(number, name, namespace, class_name):
    """Return a claim that has no volume."""
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}, "storageClassName": class_name, "volumeMode": "Filesystem"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata(number, name, "pvc", namespace, finalizers=["kubernetes.io/pvc-protection"]),
            "spec": spec, "status": {"phase": "Pending"}}  # fmt: skip


def waiting(number, kind, pods, nodes):
    """Yield a pending pod, and what it asks for that is there: `kind` says which of the CAUSES keeps it from every node."""
    name, zone = f"waits-{number:05}", "topology.kubernetes.io/zone"
    owned = kind in ("one zone", "at once", "full pools", "far volume", "lost claim")
    made = pod(pods + number, 0, name if owned else "")
    spec, app = made["spec"], f"waits-{kind.replace(' ', '-')}"
    made["metadata"] |= {"name": f"{app}-{number:05}", "generateName": f"{app}-", "namespace": "team-0", "labels": {"app": app}}
    made["metadata"]["ownerReferences"][0] |= {"name": app, "uid": app}
    spec["containers"][0]["image"] = f"registry.example.com/team/{app}:v1"
    spec["volumes"][0]["name"] = spec["containers"][0]["volumeMounts"][0]["name"] = f"kube-api-access-{number:05}"
    others = {"labelSelector": {"matchLabels": {"app": "app-0"}}, "namespaces": ["team-0"], "topologyKey": zone}
    match kind:
        case "cpu":
            spec["containers"][0]["resources"]["requests"]["cpu"] = "8"
        case "label":
            spec["nodeSelector"] = {"disktype": "ssd"}
        case "taint":
            spec["nodeSelector"] = {"kubernetes.io/hostname": "node-00000"}
        case "rack":
            spec["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": app}}}]
        case "apart":
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [others]}}
        case "one zone":
            spec["nodeSelector"] = {zone: "eu-a"}
            yield waiting_claim(number, name, "team-0", "zonal")
        case "at once":
            yield waiting_claim(number, name, "team-0", "at-once")
        case "full pools":
            yield waiting_claim(number, name, "team-0", "pools")
        case "far volume":
            spec["nodeSelector"] = {zone: "eu-a"}
            claim, volume = claim_and_volume(number, "team-0", "eu-b")
            claim["metadata"]["name"] = volume["spec"]["claimRef"]["name"] = name
            claim["metadata"]["uid"] = volume["spec"]["claimRef"]["uid"] = f"far-{number}"
            claim["spec"]["volumeName"] = volume["metadata"]["name"] = f"far-{number}"
            yield from (claim, volume)
    yield made


CAUSES = ("cpu", "label", "taint", "rack", "apart", "one zone", "at once", "full pools", "far volume", "lost claim")


def big_dump(nodes=5_000, pods=10_000, claims=None, pending=0):
    """Return a cluster as plain data: so many nodes, running pods and bound claims (half as many), one pod that fits, and
    pods that fit nowhere, for each of the CAUSES in turn.
    """
    claims = pods // 2 if claims is None else claims
    items = [{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata(0, "gp3", "sc"), "provisioner": "ebs.csi.aws.com",
              "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer"}]  # fmt: skip
    items += [{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata(i, f"team-{i}", "ns")} for i in range(20)]
    for i in range(nodes):
        items += node(i), csi_node(i)
    for i in range(pods):
        claim = f"data-{i:05}" if i % 2 and i < 2 * claims else ""
        items.append(pod(i, nodes, claim))
        if claim:
            at = i % nodes + (i % nodes % TAINTED == 0)
            items += claim_and_volume(i, f"team-{i % 20}", f"eu-{ZONES[at % len(ZONES)]}")
    items.append(pod(pods, 0, ""))
    items += storage() if pending else ()
    for number in range(pending):
        items += waiting(number, CAUSES[number % len(CAUSES)], pods + 1, nodes)
    return items


def big_text(nodes=5_000, pods=10_000, claims=None, pending=0):
    """Return the dump as kubectl writes it: one List, indented by four."""
    return json.dumps({"apiVersion": "v1", "items": big_dump(nodes, pods, claims, pending), "kind": "List", "metadata": {"resourceVersion": ""}}, indent=4)

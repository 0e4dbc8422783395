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


def big_dump(nodes=5_000, pods=10_000):
    """Return a cluster of this many nodes and pods, one of them pending, as plain data."""
    items = [{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": metadata(0, "gp3", "sc"), "provisioner": "ebs.csi.aws.com",
              "reclaimPolicy": "Delete", "volumeBindingMode": "WaitForFirstConsumer"}]  # fmt: skip
    items += [{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata(i, f"team-{i}", "ns")} for i in range(20)]
    for i in range(nodes):
        items += node(i), csi_node(i)
    for i in range(pods):
        claim = f"data-{i:05}" if i % 2 else ""
        items.append(pod(i, nodes, claim))
        if claim:
            at = i % nodes + (i % nodes % TAINTED == 0)
            items += claim_and_volume(i, f"team-{i % 20}", f"eu-{ZONES[at % len(ZONES)]}")
    items.append(pod(pods, 0, ""))
    return items


def big_text(nodes=5_000, pods=10_000):
    """Return the dump as kubectl writes it: one List, indented by four."""
    return json.dumps({"apiVersion": "v1", "items": big_dump(nodes, pods), "kind": "List", "metadata": {"resourceVersion": ""}}, indent=4)

"""What kube-scheduler says of a whole pod: reasons before any node is looked at, errors of binding, events of success.

The kubelet's refusals of a pod stand here as well.
"""

from __future__ import annotations

from ..meaning import Meaning

POD = "kubectl describe pod <pod> -n <namespace>"
CLAIM = "kubectl get pvc <claim> -n <namespace>"
CLAIMS = "kubectl describe pvc -n <namespace>"  # its events say why it is unbound
VOLUME = "kubectl get pv <volume>"

PODS = (
    Meaning(
        "kube-scheduler",
        ("no nodes available to schedule pods",),
        "The cluster has no node at all.",
        "An autoscaler at zero, or kubelets that cannot register.",
        "kubectl get nodes",
    ),
    Meaning(
        "kube-scheduler",
        ("skip schedule deleting pod: <namespace>/<pod>",),
        "A pod that is being deleted is not scheduled.",
        "Somebody deleted the pod, or its owner was deleted or scaled down.",
        "kubectl get pod <pod> -n <namespace> -o yaml",
    ),
    Meaning(
        "SchedulingGates",
        (
            "Scheduling is blocked due to non-empty scheduling gates",
            "waiting for scheduling gates: [<gates…>]",
        ),
        "A pod with schedulingGates is not tried until the last gate is removed.",
        "The controller that set the gate has not removed it, or does not run.",
        "kubectl get pod <pod> -n <namespace> -o jsonpath='{.spec.schedulingGates}'",
    ),
    Meaning(
        "VolumeRestrictions, VolumeBinding",
        ('persistentvolumeclaim "<claim>" not found', 'persistentvolumeclaims "<claim>" not found'),
        "Every claim that the pod names must exist in its namespace before it is scheduled.",
        "A misspelled claimName, another namespace, or a claim that is created later.",
        CLAIM,
    ),
    Meaning(
        "VolumeBinding",
        ('waiting for ephemeral volume controller to create the persistentvolumeclaim "<claim>"',),
        "A generic ephemeral volume gets a claim named POD-VOLUME from the controller manager.",
        "It is a matter of moments; if it lasts, the controller manager does not run or may not create claims.",
        CLAIM,
    ),
    Meaning(
        "VolumeBinding",
        ('persistentvolumeclaim "<claim>" bound to non-existent persistentvolume "<volume>"',),
        "The claim is Lost: its volume was deleted.",
        "Somebody deleted the PersistentVolume; the data may still be in the storage system.",
        CLAIM,
    ),
    Meaning(
        "VolumeBinding",
        ('persistentvolumeclaim "<claim>" is being deleted',),
        "A claim with a deletionTimestamp serves no new pod.",
        "The claim was deleted while other pods still use it; it goes when they end.",
        "kubectl describe pvc <claim> -n <namespace>",
    ),
    Meaning(
        "VolumeRollback",
        ('persistentvolumeclaim "<claim>" is being rolled back',),
        "The design's rollback: a claim that is being unbound serves no pod.",
        "The pod fitted no node after its claim was bound.",
        CLAIM,
    ),
    Meaning(
        "VolumeBinding",
        (
            "PVC <namespace>/<claim> was not created for pod <owner>/<pod> (pod is not owner)",
            "PVC <claim> was not created for pod <owner>/<pod> (pod is not owner)",
            "ephemeral volume <name>: PVC <namespace>/<claim> was not created for pod <owner>/<pod> (pod is not owner)",
        ),
        "The claim of a generic ephemeral volume must be owned by its pod.",
        "A claim named POD-VOLUME existed before the pod.",
        "kubectl get pvc <claim> -n <namespace> -o jsonpath='{.metadata.ownerReferences}'",
    ),
    Meaning(
        "VolumeBinding",
        ("pod has unbound immediate PersistentVolumeClaims", "pod has unbound PersistentVolumeClaims"),
        "A claim whose class binds Immediate must be bound before its pod is scheduled.",
        "No volume matches and none is provisioned: wrong class, no provisioner, or its quota is used up.",
        CLAIMS,
    ),
    Meaning(
        "VolumeZone",
        ("PersistentVolumeClaim had no pv name and storageClass name",),
        "A claim without volume must have a class, or its zone cannot be known.",
        "The cluster has no default class.",
        "kubectl get storageclass",
    ),
    Meaning(
        "VolumeZone",
        ("PersistentVolume had no name", "PersistentVolumeClaim had no name"),
        "A claim of a class that binds Immediate must have its volume before its pod is scheduled.",
        "The claim is still Pending.",
        CLAIMS,
    ),
    Meaning(
        "VolumeZone",
        ('persistentvolume "<volume>" not found', 'persistentvolumes "<volume>" not found'),
        "The volume that a claim is bound to must exist.",
        "Somebody deleted the PersistentVolume.",
        VOLUME,
    ),
    Meaning(
        "VolumeBinding",
        ('could not find v1.<kind> "<name>"', 'could not find v1.<kind> "<namespace>/<name>"'),
        "1.11's scheduler did not find the object in its cache.",
        "It was deleted, or the scheduler's watch has not delivered it.",
        "kubectl get pvc,pv -n <namespace>",
    ),
    Meaning(
        "VolumeBinding",
        ('failed to find storage class "<class>"', 'no class for claim "<claim>"'),
        "An unbound claim needs its class to say how it is bound.",
        "The class was deleted or is misspelled.",
        "kubectl get storageclass <class>",
    ),
    Meaning(
        "VolumeBinding",
        ('"<name>" is out of sync (stored: <stored>, assume: <assumed>)', 'v1.<kind> "<name>" is out of sync'),
        "The scheduler assumes an object only in the version that its cache holds.",
        "The object changed while the pod was judged; the next try sees the new version.",
        POD,
    ),
    Meaning(
        "VolumeBinding",
        ("Volume binding started, waiting for completion",),
        "1.9 to 1.11, and the design: volumes are written first, then the pod is judged a second time.",
        "Ordinary: the volumes of the pod are being bound or provisioned.",
        CLAIMS,
    ),
    Meaning(
        "VolumeBinding",
        ("volume binding started, waiting for it to complete",),
        "Nothing is left to write: the pod waits for the PV controller or a provisioner.",
        "Ordinary, unless the provisioner does not run.",
        CLAIMS,
    ),
    Meaning(
        "VolumeBinding",
        ("AssumePodVolumes failed: <<why>>",),
        "The choice of volumes could not be noted, and the pod is tried again.",
        "A claim or volume changed while the pod was judged.",
        POD,
    ),
    Meaning(
        "kube-scheduler",
        ('nodeinfo not found for node name "<node>"',),
        "The scheduler's cache has no such node any more; the pod is tried again.",
        "The node was removed while the pod was judged.",
        "kubectl get node <node>",
    ),
    Meaning(
        "kube-scheduler",
        (
            'running <point> plugin "<plugin>": <<why>>',
            'running "<plugin>" filter plugin for pod "<pod>": <<why>>',
            'running "<plugin>" filter plugin: <<why>>',
            'error while running "<plugin>" filter plugin for pod "<pod>": <<why>>',
            'error while running "<plugin>" prefilter plugin for pod "<pod>": <<why>>',
            "running PreFilter plugin <plugin>: <<why>>",
            "binding rejected: <<why>>",
        ),
        "A plugin failed with an error after or while a node was chosen; the pod is tried again.",
        "What follows names it.",
        POD,
    ),
    Meaning(
        "VolumeBinding",
        ("binding volumes: <<why>>", "Failed to bind volumes: <<why>>"),
        "After the choice of a node, the scheduler writes and waits until all claims are bound (PreBind).",
        "What follows names it; the pod is tried again.",
        POD,
    ),
    Meaning(
        "VolumeBinding",
        ("context deadline exceeded", "timed out waiting for the condition"),
        "The claims were not bound within bindTimeoutSeconds (600 s by default).",
        "The provisioner does not run, has no room, or is slow.",
        "kubectl describe pvc -n <namespace>",
    ),
    Meaning(
        "VolumeBinding",
        (
            'pv "<volume>" node affinity doesn\'t match node "<node>": <why…>',
            'pv "<volume>" node affinity doesn\'t match node "<node>"',
        ),
        "The volume that the claim was bound to must be usable on the chosen node.",
        "The PV controller or a user bound the claim to another volume meanwhile.",
        "kubectl get pv <volume> -o jsonpath='{.spec.nodeAffinity}'",
    ),
    Meaning(
        "VolumeBinding",
        ("no matching NodeSelectorTerms",),
        "No term of the volume's node affinity matches the node.",
        "The volume belongs to another zone or node.",
        "kubectl get pv -o custom-columns=NAME:.metadata.name,AFFINITY:.spec.nodeAffinity",
    ),
    Meaning(
        "VolumeBinding",
        ('failed to get node "<node>": node "<other>" not found', 'node "<node>" not found'),
        "The chosen node must exist until the pod is bound.",
        "The node was removed, for example by an autoscaler, while volumes were bound.",
        "kubectl get node <node>",
    ),
    Meaning(
        "VolumeBinding",
        ('pod does not exist any more: pod "<pod>" not found', "pod does not exist any more"),
        "The pod was deleted while its volumes were bound; the volumes stay.",
        "A rollout or somebody deleted the pod.",
        "kubectl get pods,pvc -n <namespace>",
    ),
    Meaning(
        "VolumeBinding",
        ('ClaimRef got reset for pv "<volume>"',),
        "The reservation that the scheduler wrote to the volume must stay until the claim is bound.",
        "The PV controller or a user took the claimRef away; the pod is tried again.",
        "kubectl get pv <volume> -o jsonpath='{.spec.claimRef}'",
    ),
    Meaning(
        "VolumeBinding",
        (
            'selectedNode annotation reset for PVC "<claim>"',
            'selectedNode annotation value "<node>" not set to scheduled node "<other>"',
        ),
        "The annotation volume.kubernetes.io/selected-node must stay until the volume is provisioned.",
        "A provisioner could not provision for that node and gave the choice back to the scheduler.",
        "kubectl describe pvc <claim> -n <namespace>",
    ),
    Meaning(
        "VolumeBinding",
        ('provisioning failed for PVC "<claim>"',),
        "The provisioner removed or changed the selected node, so that the scheduler chooses again.",
        "No room in the node's topology.",
        "kubectl describe pvc <claim> -n <namespace>",
    ),
    Meaning(
        "VolumeBinding",
        (
            "failed to check binding: <<why>>",
            "failed to check provisioning pvc: <<why>>",
            'error getting PVC "<namespace>/<claim>": <<why>>',
            'error getting PVC "<claim>": <<why>>',
        ),
        "The claims and volumes of the pod must be readable while it waits for them.",
        "One was deleted meanwhile.",
        "kubectl get pvc,pv -n <namespace>",
    ),
    Meaning(
        "kube-scheduler",
        ("Successfully assigned <namespace>/<pod> to <node>", "Successfully assigned <pod> to <node>"),
        "The pod is bound to the node; the kubelet there starts it.",
        "Ordinary: it fitted.",
        "kubectl get pod <pod> -n <namespace> -o wide",
    ),
    Meaning(
        "DefaultPreemption",
        (
            "Preempted by pod <uid> on node <node>",
            "Preempted by a pod on node <node>",
            "Preempted by <namespace>/<pod> on node <node>",
            "default-scheduler: preempting to accommodate a higher priority pod",
        ),
        "This pod is evicted so that a pod of higher priority fits.",
        "The cluster is full, and a PriorityClass with a higher value is in use.",
        "kubectl get pods -A -o wide --field-selector spec.nodeName=<node>",
    ),
    Meaning(
        "kubelet",
        (
            "Node didn't have enough resource: <resource>, requested: <asked>, used: <used>, capacity: <capacity>",
            *("OutOfcpu", "OutOfmemory", "OutOfephemeral-storage", "OutOfpods", "Predicate NodeAffinity failed"),
        ),
        "The kubelet refuses a pod that does not fit what is left on its node (OutOfcpu, OutOfmemory, OutOfpods).",
        "spec.nodeName was set by hand, two schedulers use the same nodes, or the node changed.",
        "kubectl describe nodes",
    ),
    Meaning(
        "kubelet",
        (
            "PodOSNotSupported",
            "PodOSSelectorNodeLabelDoesNotMatch",
            "Failed to admit pod as the OS field doesn't match node OS",
            "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
        ),
        "The kubelet refuses a pod for another operating system; the scheduler does not look at spec.os.",
        "The pod lacks the node selector kubernetes.io/os: windows.",
        POD,
    ),
)

"""What kube-scheduler says of nodes: the reasons of filter plugins, then the words of preemption.

Where several wordings stand together, the first is that of v1.36; the others are those of older releases.
"""

from __future__ import annotations

from ..meaning import Meaning

DESCRIBE_POD = "kubectl describe pod <pod> -n <namespace>"
TAINTED = "custom-columns=NAME:.metadata.name,TAINTS:.spec.taints[*].key"
DESCRIBE_TAINTED = f"kubectl describe node $(kubectl get nodes -o {TAINTED} | awk '/<key>/ {{print $1}}')"
CORDONED = "A node with spec.unschedulable takes no new pod that does not tolerate node.kubernetes.io/unschedulable."
TAINT = "TaintToleration"
AVOIDING = "NODE:.spec.nodeName,LABELS:.metadata.labels,AVOIDS:.spec.affinity.podAntiAffinity"

# What a taint means that a sentence names, by how it begins; any other keeps nodes for pods that tolerate it.
TAINTS = tuple((begins, Meaning(TAINT, (), rule, cause, next_line)) for begins, rule, cause, next_line in (
    (r"node\.kubernetes\.io/(?P<key>unreachable)\b",
     "The node's kubelet has been silent for 50 s: nothing new starts there. The taint goes when it reports again.",
     "The machine, its kubelet or its network is down.",
     DESCRIBE_TAINTED),
    (r"node\.kubernetes\.io/(?P<key>not-ready)\b",
     "The node's kubelet says that it is not Ready: nothing new starts there. The taint goes when it is.",
     "No network plugin yet, no container runtime, or a node that has just come.",
     DESCRIBE_TAINTED),
    (r"node\.kubernetes\.io/(?P<key>(?:disk|memory|pid)-pressure)\b",
     "A node that is short of disk, memory or process ids takes no pod; its kubelet lifts the taint by itself.",
     "Images and logs fill the disk, or pods without limits the memory; the node's conditions say which.",
     DESCRIBE_TAINTED),
    (r"\S+/(?P<key>uninitialized|network-unavailable|shutdown|out-of-service|agent-not-ready)\b",
     "The cloud controller, network plugin or driver says that the node is not set up yet, or is shut down.",
     "Ordinary for a minute on a new node; if it lasts, that component does not run or lacks a permission.",
     DESCRIBE_TAINTED),
    (r"(?:karpenter\.sh/)?(?P<key>disrupt(?:ed|ion)|(?:ToBeDeletedBy|DeletionCandidateOf)ClusterAutoscaler)\b",
     "An autoscaler is about to remove the node.",
     "Ordinary: the pod goes to another node, or the autoscaler makes one; if not, its events say why.",
     DESCRIBE_TAINTED),
    (r"node\.kubernetes\.io/unschedulable\b",
     CORDONED,
     "Somebody ran kubectl cordon or drain, or an upgrade is under way: ask who closed it before you open it.",
     "kubectl get nodes"),
    (r"node-role\.kubernetes\.io/(?:control-plane|master)\b",
     "The nodes of the control plane are kept for its own pods.",
     "Ordinary: why the other nodes do not take the pod is what matters. A cluster of one node has no others.",
     "kubectl get nodes"),
    (r"\S+:",
     "Whoever owns the nodes keeps them by this taint for pods that tolerate it.",
     "A pool of one team, GPUs, spot machines: the other nodes are full, or the pod should have a toleration.",
     "kubectl get pod <pod> -n <namespace> -o jsonpath='{.spec.tolerations}'"),
))  # fmt: skip

NODES = (
    Meaning(
        "NodeUnschedulable",
        ("node(s) were unschedulable", "node(s) were not ready", "node(s) were out of disk space"),
        CORDONED,
        "Somebody ran kubectl cordon or drain, or an upgrade of the node is under way.",
        "kubectl get nodes",
    ),
    Meaning(
        "NodeName",
        ("node(s) didn't match the requested node name", "node(s) didn't match the requested hostname"),
        "A pod with spec.nodeName fits that node only.",
        "spec.nodeName was written by hand and names a node that is gone or misspelled.",
        "kubectl get pod <pod> -n <namespace> -o jsonpath='{.spec.nodeName}'",
    ),
    Meaning(
        TAINT,
        (
            "node(s) had untolerated taint(s)",
            "node(s) had untolerated taint {<taint…>}",
            "node(s) had taint {<taint…>}, that the pod didn't tolerate",
            "node(s) had taints that the pod didn't tolerate",
        ),
        "The pod must tolerate every NoSchedule and NoExecute taint of its node.",
        "Nodes kept for others (control plane, GPUs), or a sick node: not-ready, unreachable, disk-pressure.",
        "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",
        cases=TAINTS,
    ),
    Meaning(
        "NodeAffinity",
        (
            "node(s) didn't match Pod's node affinity/selector",
            "node(s) didn't match Pod's node affinity",
            "node(s) didn't match node selector",
        ),
        "The node must match nodeSelector and at least one term of the required node affinity.",
        "A label is misspelled or missing on the nodes, or no node of the wanted zone or pool is left.",
        "kubectl get nodes --show-labels",
    ),
    Meaning(
        "NodeAffinity",
        ("node(s) didn't match scheduler-enforced node affinity",),
        "The scheduler's configuration adds an affinity to every pod (addedAffinity of NodeAffinityArgs).",
        "A scheduler profile that is meant for some nodes only.",
        "kubectl get pod <pod> -n <namespace> -o jsonpath='{.spec.schedulerName}'",
    ),
    Meaning(
        "NodeAffinity",
        ("pod affinity terms conflict",),
        "The required terms name nodes by metadata.name that no node can satisfy together.",
        "One term asks for two different node names.",
        "kubectl get pod <pod> -n <namespace> -o jsonpath='{.spec.affinity.nodeAffinity}'",
    ),
    Meaning(
        "PreFilter",
        ("node(s) didn't satisfy plugin(s) [<plugins…>]",),
        "The pod names the nodes that it wants (metadata.name, for example); the others were not looked at.",
        "A pod of a DaemonSet, or a volume that exists on one node only: what matters is why that node was refused.",
        DESCRIBE_POD,
    ),
    Meaning(
        "NodePorts",
        ("node(s) didn't have free ports for the requested pod ports",),
        "Two pods of one node cannot hold the same hostPort, protocol and address.",
        "More replicas than nodes, for pods with a hostPort.",
        "kubectl get pods -A -o wide --field-selector spec.nodeName=<node>",
    ),
    Meaning(
        "NodeResourcesFit",
        ("Too many pods", "Insufficient pods"),
        "A node takes allocatable.pods pods at most, whatever cpu and memory are left.",
        "The kubelet's maxPods (110 by default), or the addresses that the network gives a node.",
        "kubectl get nodes -o custom-columns=NAME:.metadata.name,PODS:.status.allocatable.pods",
    ),
    Meaning(
        "NodeResourcesFit",
        ("Insufficient <resource>",),
        "The pod's requests must fit into the node's allocatable less those of its pods; real use does not count.",
        "Requests are higher than need be, or the cluster has too few or too small nodes.",
        "kubectl describe nodes | grep -E '^Name:|^  <resource>[: ]'",  # capacity, allocatable, requested
    ),
    Meaning(
        "VolumeRestrictions",
        ("node(s) had no available disk",),
        "Such a disk (EBS, GCE PD, iSCSI, RBD) is attached once to a node; another pod there uses it.",
        "Two pods with the same in-line disk; use a claim instead.",
        DESCRIBE_POD,
    ),
    Meaning(
        "VolumeRestrictions",
        (
            (
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
                "another pod"
            ),
        ),
        "A claim with ReadWriteOncePod is used by one pod of the whole cluster.",
        "A rolling update: the new pod comes before the old one is gone.",
        "kubectl describe pvc -n <namespace> | grep -E '^(Name|Used By):'",
    ),
    Meaning(
        "NodeVolumeLimits",
        ("node(s) exceed max volume count",),
        "Attached and wanted volumes of a driver must not exceed the limit in its CSINode; unbound claims count.",
        "Many small volumes on one node, or attachments that were never taken off.",
        "kubectl get volumeattachments --sort-by=.spec.nodeName",
    ),
    Meaning(
        "VolumeBinding",
        ("node(s) didn't match PersistentVolume's node affinity", "node(s) had volume node affinity conflict"),
        "A bound volume is usable only on nodes that its nodeAffinity admits.",
        "The volume is in another zone, or is a local disk of another node; often the class binds Immediate.",
        "kubectl get pv -o custom-columns=NAME:.metadata.name,CLAIM:.spec.claimRef.name,AFFINITY:.spec.nodeAffinity",
    ),
    Meaning(
        "VolumeBinding",
        ("node(s) didn't find available persistent volumes to bind",),
        "For each unbound claim, a free volume must fit here, or one must be provisionable for this node.",
        "No free local volume here, allowedTopologies exclude the node, or another node was selected for the claim.",
        "kubectl get pvc,pv,storageclass -n <namespace>",
    ),
    Meaning(
        "VolumeBinding",
        ("node(s) did not have enough free storage",),
        "A driver that publishes capacity must have published enough for the claim, class and topology of the node.",
        "The pool is full, or the driver has not published the capacity of this topology.",
        "kubectl get csistoragecapacities -A",
    ),
    Meaning(
        "VolumeBinding",
        ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",),
        "A claim of the pod is bound to a volume that does not exist.",
        "Somebody deleted the PersistentVolume.",
        "kubectl get pvc,pv -n <namespace>",
    ),
    Meaning(
        "VolumeZone",
        ("node(s) had no available volume zone",),
        "A volume with zone or region labels fits nodes with the same labels.",
        "The volume's zone has no node that the pod may use.",
        "kubectl get pv -L topology.kubernetes.io/zone,failure-domain.beta.kubernetes.io/zone",
    ),
    Meaning(
        "PodTopologySpread",
        ("node(s) didn't match pod topology spread constraints (missing required label)",),
        "The node must have the label of every hard constraint's topologyKey.",
        "Nodes without the zone label, or a misspelled topologyKey.",
        "kubectl get nodes -L topology.kubernetes.io/zone,kubernetes.io/hostname",
    ),
    Meaning(
        "PodTopologySpread",
        ("node(s) didn't match pod topology spread constraints",),
        "Pods in the node's domain plus this one, less the smallest domain, must not exceed maxSkew.",
        "A domain that cannot take pods (full or tainted) holds the minimum down for all others.",
        "kubectl get pods -n <namespace> -o wide",
    ),
    Meaning(
        "PodTopologySpread",
        ("node(s) didn't match the affinity terms of a topology spread constraint",),
        "Spreading as the rejected design has it: the node must match the affinity terms of the constraint.",
        "The node lies outside the domains that the constraint names.",
        "kubectl get nodes --show-labels",
    ),
    Meaning(
        "InterPodAffinity",
        ("node(s) didn't match pod affinity rules",),
        "For each required term, a matching pod must run in the node's domain.",
        "The wanted pod is not running yet, is in another namespace, or its zone is full.",
        "kubectl get pods -A -o wide --show-labels",
    ),
    Meaning(
        "InterPodAffinity",
        (
            "node(s) didn't match pod anti-affinity rules",
            "node(s) didn't match pod affinity/anti-affinity rules",
            "node(s) didn't match pod affinity/anti-affinity",
        ),
        "No pod that a required anti-affinity term of this pod matches may run in the node's domain.",
        "More replicas than domains; in the oldest wording it may be affinity as well.",
        "kubectl get pods -n <namespace> -o wide --show-labels",
    ),
    Meaning(
        "InterPodAffinity",
        ("node(s) didn't satisfy existing pods anti-affinity rules",),
        "A pod in the node's domain has a required anti-affinity that matches this pod's labels.",
        "Another application keeps its domain for itself.",
        f"kubectl get pods -A -o custom-columns=NAME:.metadata.name,{AVOIDING}",
    ),
    Meaning(
        "NodeDeclaredFeatures",
        ("node(s) didn't match Pod's required features",),
        "The node must declare in its status what the pod needs of the kubelet (hostUsers: false with hostNetwork).",
        "Kubelets of an older release, or with the feature gate off.",
        "kubectl get nodes -o custom-columns=NAME:.metadata.name,FEATURES:.status.declaredFeatures",
    ),
    Meaning(
        "DynamicResources",
        ("cannot allocate all claims",),
        "Every device claim of the pod must be allocatable on the node.",
        "The devices are taken, or no driver publishes them there.",
        "kubectl get resourceclaims,resourceslices -A",
    ),
    Meaning(
        "DynamicResources",
        ("no new claims to deallocate",),
        "Speaks of device claims (DynamicResources), not of volumes; the pod has none to give back.",
        "It stands in every such sentence since v1.34; nothing follows from it.",
        "",
    ),
    Meaning(
        "DefaultPreemption",
        ("Preemption is not helpful for scheduling",),
        "On these nodes the pod would fail even if every other pod there were gone.",
        "The rule that failed does not depend on other pods: taints, labels, volumes, size of the node.",
        "",
    ),
    Meaning(
        "DefaultPreemption",
        ("No preemption victims found for incoming pod", "No victims found on node <node> for preemptor pod <pod>"),
        "These nodes might fit if pods left, but none there has a lower priority.",
        "All pods have the same priority.",
        "kubectl get pods -A -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName,PRIORITY:.spec.priority",
    ),
    Meaning(
        "DefaultPreemption",
        ("not eligible due to preemptionPolicy=Never",),
        "A pod whose preemptionPolicy is Never evicts no other pod.",
        "Its PriorityClass says preemptionPolicy: Never.",
        "kubectl get priorityclasses -o custom-columns=NAME:.metadata.name,VALUE:.value,POLICY:.preemptionPolicy",
    ),
    Meaning(
        "DefaultPreemption",
        ("not eligible due to a terminating pod on the nominated node",),
        "The pod evicted others before and waits until they are gone.",
        "A victim's grace period is long, or its finalizers hold it.",
        "kubectl get pod <pod> -n <namespace> -o jsonpath='{.status.nominatedNodeName}'",
    ),
    Meaning(
        "kube-scheduler",
        ("not found",),
        "It means nothing: v1.36 ends any rejection before filtering with it; it does not say what was not found.",
        "It stands in every such sentence.",
        "",
    ),
)

"""What workload controllers, the node controllers, evictions and kubelets say."""

from __future__ import annotations

from ..meaning import Meaning

POD = "kubectl describe pod <pod> -n <namespace>"
STATEFUL_SET, NODE_LIFECYCLE, KUBELET = "StatefulSet controller", "node lifecycle controller", "kubelet"

WORKLOADS = (
    Meaning(
        "kubectl",
        ("(combined from similar events): <<event>>",),
        "More than ten like events of one object are counted as one; its words are those of the last.",
        "Ordinary.",
        "kubectl get events -n <namespace> --sort-by=.lastTimestamp",
    ),
    Meaning(
        STATEFUL_SET,
        (
            "Create Claim <claim> Pod <pod> in StatefulSet <set> success",
            "Create Pod <pod> in StatefulSet <set> successful",
            "Delete Pod <pod> in StatefulSet <set> successful",
            "Update Pod <pod> in StatefulSet <set> successful",
            "StatefulSet <set> is recreating failed Pod <pod>",
            "StatefulSet <namespace>/<set> is recreating failed Pod <pod>",
        ),
        "Pods of a StatefulSet come one after another, each with its own claims, and go in the reverse order.",
        "Ordinary.",
        "kubectl rollout status statefulset/<set> -n <namespace>",
    ),
    Meaning(
        STATEFUL_SET,
        (
            "create Pod <pod> in StatefulSet <set> failed error: <<why>>",
            "create Claim <claim> for Pod <pod> in StatefulSet <set> failed error: <<why>>",
            "create Claim <claim> Pod <pod> in StatefulSet <set> failed error: <<why>>",
        ),
        "The API server refused a pod or claim of the set; the controller tries again.",
        "A quota, a webhook or an invalid template.",
        "kubectl describe statefulset <set> -n <namespace>",
    ),
    Meaning(
        "ReplicaSet, DaemonSet or Job controller",
        ("Created pod: <pod>", "Deleted pod: <pod>"),
        "The controller keeps the number of pods that its object asks for.",
        "Ordinary.",
        "kubectl get pods -n <namespace>",
    ),
    Meaning(
        "ReplicaSet, DaemonSet or Job controller",
        ("Error creating: <<why>>",),
        "The API server refused a pod; the controller tries again.",
        "A quota, a webhook or an invalid template.",
        "kubectl get events -n <namespace> --field-selector reason=FailedCreate",
    ),
    Meaning(
        "DaemonSet controller",
        (
            "Found failed daemon pod <namespace>/<pod> on node <node>, will try to kill it",
            "Found succeeded daemon pod <namespace>/<pod> on node <node>, will try to delete it",
        ),
        "A DaemonSet replaces a pod that has ended.",
        "The kubelet refused or ended the pod: look at its status.",
        "kubectl get pods -n <namespace> -o wide --field-selector spec.nodeName=<node>",
    ),
    Meaning(
        "Deployment controller",
        (
            "Scaled up replica set <set> from <before> to <after>",
            "Scaled down replica set <set> from <before> to <after>",
            "Scaled up replica set <set> to <after>",
            "Scaled down replica set <set> to <after>",
        ),
        "A rollout moves pods from the old to the new ReplicaSet, within maxSurge and maxUnavailable.",
        "Ordinary.",
        "kubectl get replicasets -n <namespace>",
    ),
    Meaning(
        "Deployment controller",
        (
            "Deployment has minimum availability",
            "Deployment does not have minimum availability",
            'Created new replica set "<set>"',
            'Found new replica set "<set>"',
            'ReplicaSet "<set>" has successfully progressed',
            'ReplicaSet "<set>" is progressing',
            'ReplicaSet "<set>" has timed out progressing',
            'Failed to create new replica set "<set>": <<why>>',
        ),
        "The conditions Available and Progressing say how far a rollout is.",
        "Pods that stay pending keep a Deployment from minimum availability.",
        "kubectl get pods -n <namespace>",
    ),
    Meaning(
        "disruption controller",
        ("No matching pods found",),
        "A PodDisruptionBudget counts the pods that its selector matches.",
        "The selector matches no pod.",
        "kubectl get poddisruptionbudgets -n <namespace>",
    ),
    Meaning(
        "disruption controller",
        (
            "Failed to calculate the number of expected pods: <why…>",
            'found no controllers for pod "<pod>"',
            "Pods selected by this PodDisruptionBudget (selector: <selector…>) were found to be unmanaged<more…>",
        ),
        "A budget in percent needs pods with a controller that has the scale subresource.",
        "Pods without owner match the selector.",
        "kubectl get pods -n <namespace> -o custom-columns=NAME:.metadata.name,OWNER:.metadata.ownerReferences[*].name",
    ),
    Meaning(
        "API server (eviction)",
        (
            "Cannot evict pod as it would violate the pod's disruption budget",
            'error when evicting pods/"<pod>" -n "<namespace>" (will retry after 5s): <<why>>',
            "The disruption budget <budget> needs <wanted> healthy pods and has <present> currently",
            "The disruption budget <budget> does not allow evicting pods currently",
            "The disruption budget <budget> does not allow evicting pods currently<more…>",
        ),
        "An eviction must leave as many healthy pods as the budget wants.",
        "Other pods of the budget are pending or not ready, or minAvailable equals the number of replicas.",
        "kubectl get poddisruptionbudgets -A",
    ),
    Meaning(
        "API server (eviction)",
        ("The disruption budget <budget> is still being processed by the server",),
        "The budget's status is older than its spec; the same eviction succeeds a little later.",
        "The budget was just changed, or the disruption controller does not run.",
        "kubectl get poddisruptionbudgets -A",
    ),
    Meaning(
        "API server (eviction)",
        ("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support",),
        "At most one budget may match a pod.",
        "Overlapping selectors.",
        "kubectl get poddisruptionbudgets -n <namespace> -o wide",
    ),
    Meaning(
        "API server (eviction)",
        ("Eviction API: evicting",),
        "The pod was evicted through the API.",
        "kubectl drain, or an autoscaler.",
        "kubectl get nodes",
    ),
    Meaning(
        NODE_LIFECYCLE,
        ("Kubelet stopped posting node status", "Node <node> status is now: NodeNotReady", "Node is not ready"),
        "A node whose kubelet does not renew its lease for 50 s becomes Unknown and is tainted unreachable.",
        "The machine or its network is down.",
        "kubectl describe node <node>",
    ),
    Meaning(
        KUBELET,
        (
            "kubelet is posting ready status",
            "kubelet has sufficient memory available",
            "kubelet has no disk pressure",
            "kubelet has sufficient PID available",
            "Node <node> status is now: NodeReady",
        ),
        "The node is well and takes pods.",
        "Ordinary.",
        "kubectl get node <node>",
    ),
    Meaning(
        KUBELET,
        ("containers with unready status: [<containers…>]", "containers with incomplete status: [<containers…>]"),
        "A pod is ready when all its containers are.",
        "A container starts, crashes, or fails its readiness probe.",
        "kubectl logs <pod> -n <namespace>",
    ),
    Meaning(
        "taint eviction controller",
        (
            "Marking for deletion Pod <namespace>/<pod>",
            "Cancelling deletion of Pod <namespace>/<pod>",
            "Taint manager: deleting due to NoExecute taint",
        ),
        "A pod leaves a node with a NoExecute taint when its toleration is over (300 s for unreachable by default).",
        "The node is unreachable or not ready.",
        "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints",
    ),
)

"""The names of components: as people see them (`scheduler`, `PV controller`), and as Kubernetes identifies them."""

COMPONENT_NAMES = {  # display name -> name of the component
    "scheduler": "kube-scheduler", "PV controller": "persistent-volume-binder",
    "StatefulSet controller": "statefulset-controller", "Deployment controller": "deployment-controller",
    "ReplicaSet controller": "replicaset-controller", "DaemonSet controller": "daemonset-controller",
    "ephemeral volume controller": "ephemeral-volume-controller", "garbage collector": "generic-garbage-collector",
    "PVC protection": "pvc-protection-controller", "PV protection": "pv-protection-controller",
    "disruption controller": "disruption-controller",
}  # fmt: skip
DISPLAY_NAMES = {component: name for name, component in COMPONENT_NAMES.items()}

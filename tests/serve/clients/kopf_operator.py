"""An operator on kopf: for each Backup a pod that mounts its claim, whose phase it follows; a finalizer cleans up."""

import kopf
import kubernetes

kubernetes.config.load_kube_config()


@kopf.on.startup()
def configure(settings, **_):
    """Name the finalizer."""
    settings.persistence.finalizer = "example.com/backup"


@kopf.on.create("example.com", "v1", "backups")
def create(spec, name, namespace, patch, **_):
    """Make the pod of a Backup."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"backup-{name}", "labels": {"backup": name}}, "spec": {
        "containers": [{"name": "copy", "image": "copy"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": spec["claim"]}}]}}
    kopf.adopt(pod)
    kubernetes.client.CoreV1Api().create_namespaced_pod(namespace, pod)
    patch.status["phase"] = "Started"
    return {"pod": f"backup-{name}"}


@kopf.on.field("", "v1", "pods", field="status.phase", labels={"backup": kopf.PRESENT})
def follow(new, namespace, labels, **_):
    """Write the phase of the pod into the status of its Backup."""
    custom = kubernetes.client.CustomObjectsApi()
    custom.patch_namespaced_custom_object_status("example.com", "v1", namespace, "backups", labels["backup"], {"status": {"phase": new}})


@kopf.on.delete("example.com", "v1", "backups")
def clean_up(name, logger, **_):
    """Say that a Backup goes."""
    logger.info("cleaned up after %s", name)


@kopf.timer("", "v1", "persistentvolumeclaims", interval=60)
def look(**_):
    """Look at the claims now and then."""

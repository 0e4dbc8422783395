"""Generic ephemeral volumes: a claim a volume, owned by its pod, gone with it."""

from controllers.workloads import cluster, events

CLASS = """{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: ebs}, provisioner: ebs.example.com,
  volumeBindingMode: WaitForFirstConsumer}"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  terminationGracePeriodSeconds: 1
  containers: [{name: app, image: app}]
  volumes:
  - name: scratch
    ephemeral:
      volumeClaimTemplate:
        metadata: {labels: {of: app}, annotations: {kept: "yes"}}
        spec: {accessModes: [ReadWriteOnce], storageClassName: ebs, resources: {requests: {storage: 1Gi}}}
"""
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: app-scratch}
spec: {accessModes: [ReadWriteOnce], storageClassName: ebs, resources: {requests: {storage: 1Gi}}}
"""


def test_the_claim_is_named_after_pod_and_volume_and_belongs_to_the_pod():
    """Labels, annotations and spec come from the template; the pod runs on the second try."""
    made = cluster(CLASS, POD, **{"ebs.example.com": {"topology_keys": ["kubernetes.io/hostname"]}})
    claim, pod = made["pvc/app-scratch"], made["pod/app"]
    assert ("app", "yes") == (claim.metadata.labels["of"], claim.metadata.annotations["kept"])
    (owner,) = claim.metadata.owner_references
    assert ("Pod", "app", pod.metadata.uid, True, True) == (
        owner.kind, owner.name, owner.uid, owner.controller, owner.block_owner_deletion,
    )
    assert ("Bound", "Running") == (claim.status.phase, pod.status.phase)
    waiting = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "app-scratch". not found'
    assert ("FailedScheduling", f"0/2 nodes are available: {waiting}") in events(made, "Pod")


def test_the_claim_and_its_volume_go_with_the_pod():
    """Nobody deletes them by hand."""
    made = cluster(CLASS, POD, **{"ebs.example.com": {"topology_keys": ["kubernetes.io/hostname"]}})
    made.delete("pod/app")
    made.run(seconds=60)
    assert [] == made.objects("pods") == made.objects("pvc") == made.objects("pv")


def test_a_claim_of_somebody_else_is_left_alone():
    """The pod is told that it is not the claim's owner, and waits."""
    made = cluster(CLASS, CLAIM, POD)
    words = "ephemeral volume scratch: PVC default/app-scratch was not created for pod default/app (pod is not owner)"
    assert ("FailedBinding", words) in events(made, "Pod")
    assert () == made["pvc/app-scratch"].metadata.owner_references
    assert "Pending" == made["pod/app"].status.phase
    made.delete("pod/app")
    made.run(seconds=60)
    assert ["app-scratch"] == [claim.metadata.name for claim in made.objects("pvc")]


def test_a_claim_that_is_deleted_too_early_comes_again():
    """As long as the pod has no node, its claim can go; the controller makes another."""
    made = cluster(CLASS, POD + "\n  nodeSelector: {disk: none}")
    first = made["pvc/app-scratch"].metadata.uid
    made.delete("pvc/app-scratch")
    made.run(seconds=60)
    assert made["pvc/app-scratch"].metadata.uid != first

"""S0's sketch of a transaction: claims of a pod that fits no node are given back, if nobody can have written to them."""

import pytest
from manifests import HOST, claim, pod

from kvolsched.cluster import Cluster
from kvolsched.questions.explore.invariants import claims_and_volumes_match, pods_reach_their_volumes, pods_stay
from kvolsched.rules.named import design

DISKS = "".join(f"""
apiVersion: v1
kind: Node
metadata: {{name: node-{n}, labels: {{kubernetes.io/hostname: node-{n}}}}}
status: {{allocatable: {{cpu: "{cpu}", memory: 8Gi, pods: "10"}}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: disk-{n}}}
spec:
  capacity: {{storage: 10Gi}}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  persistentVolumeReclaimPolicy: Retain
  local: {{path: /mnt/disk}}
  nodeAffinity:
    required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [node-{n}]}}]}}]}}
---""" for n, cpu in (("a", 4), ("b", 2)))
CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
"""
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: local, resources: {requests: {storage: 10Gi}}}
"""


def stranded(*, rollback, content="clean"):
    """A pod whose claim is bound to the disk of node-a, where there is no room for it any more."""
    revision = design().with_rollback() if rollback else design()
    bound = claim("data", "10Gi", "local", bound="disk-a")
    if content:
        bound["status"]["content"] = content
    made = Cluster.from_manifests(
        DISKS.replace("metadata: {name: disk-a}", "metadata: {name: disk-a, annotations: {pv.kubernetes.io/bound-by-controller: 'yes'}}\nstatus: {phase: Bound}").replace(
            "  local: {path: /mnt/disk}", "  claimRef: {kind: PersistentVolumeClaim, namespace: default, name: data, "
            "uid: uid-data}\n  local: {path: /mnt/disk}", 1) + CLASS,
        [bound, pod("other", cpu="3", running_on="node-a"), pod("app", "data", cpu="2")], revision=revision)
    made.run(seconds=600)
    return made


def content(made):
    """What the claim says of its volume."""
    return made["pvc/data"].status.rest.get("content")


@pytest.mark.checklist("142e", "142f")
def test_a_clean_claim_is_given_back_and_the_pod_goes_where_it_fits():
    """Without rollback the pod is stranded; with it the claim is marked, unbound, and bound again on the other node."""
    made = stranded(rollback=False)
    assert ("", "disk-a") == (made["pod/app"].spec.node_name, made["pvc/data"].spec.volume_name)
    made = stranded(rollback=True)

    assert "node-b" == made["pod/app"].spec.node_name
    assert "disk-b" == made["pvc/data"].spec.volume_name
    assert ("Available", None) == (made["pv/disk-a"].status.phase, made["pv/disk-a"].spec.claim_ref)
    assert "metadata.annotations[pv.kubernetes.io/rollback]" in str(made.story("pvc/data"))
    assert "pv.kubernetes.io/rollback" not in made["pvc/data"].metadata.annotations


@pytest.mark.checklist("142a", "142b", "142f")
@pytest.mark.parametrize("said", ["dirty", ""])
def test_a_dirty_claim_stays_bound(said):
    """Its volume may hold data: it is not unbound, and neither is one that says nothing."""
    made = stranded(rollback=True, content=said)
    told = [event.message for event in made.objects("events") if event.reason == "RollbackRefused"]

    assert "disk-a" == made["pvc/data"].spec.volume_name
    assert "" == made["pod/app"].spec.node_name
    assert ['volume "disk-a" may hold data: the claim is not clean'] == told
    assert "pv.kubernetes.io/rollback" not in made["pvc/data"].metadata.annotations


@pytest.mark.checklist("142a")
def test_a_blind_rollback_parts_a_pod_from_its_data():
    """A pod has run on its disk; its successor, which finds no room there, gets another disk, and a stranger the old one."""
    ends = {}
    for blind in (True, False):
        made = Cluster.from_manifests(DISKS + CLASS, revision=design().with_rollback(blind=blind))
        made.run()
        made.apply([CLAIM, pod("app", "data", cpu="2", nodeSelector={HOST: "node-a"})])
        made.run("pod/app Running")  # it writes to disk-a
        assert ("disk-a", "dirty") == (made["pvc/data"].spec.volume_name, content(made))
        made.delete("pod/app")
        made.run()
        made.apply(pod("other", cpu="3", node_name="node-a"))
        made.apply(pod("app", "data", cpu="2"))
        made.run(seconds=600)
        made.apply(CLAIM.replace("name: data", "name: stranger"), pod("reader", "stranger"))
        made.run(seconds=60)
        ends[blind] = made["pvc/data"].spec.volume_name, made["pod/app"].status.phase, made["pvc/stranger"].spec.volume_name
    assert {True: ("disk-b", "Running", "disk-a"), False: ("disk-a", "Pending", "disk-b")} == ends


@pytest.mark.checklist("142c", "142d")
def test_clean_when_bound_to_an_available_volume_and_dirty_before_the_pod_runs():
    """The PV controller says clean, a kubelet says dirty before it starts the pod."""
    made = Cluster.from_manifests(DISKS + CLASS, revision=design().with_rollback())
    made.run()
    made.apply([CLAIM, pod("app", "data", cpu="2")])
    made.run("pvc/data Bound")
    assert "clean" == content(made)
    while content(made) != "dirty":
        assert made.step(turns=True)
    assert "Pending" == made["pod/app"].status.phase
    made.run()
    assert ("dirty", "Running") == (content(made), made["pod/app"].status.phase)


@pytest.mark.checklist("142b", "142c")
def test_a_volume_that_was_not_available_is_not_called_clean():
    """Who bound a volume before the PV controller had said Available does not know what is on it: nothing is said."""
    for available in (True, False):
        made = Cluster.from_manifests(DISKS + CLASS, revision=design().with_rollback())
        if available:
            made.run()
        assert available == (made["pv/disk-a"].status.phase == "Available")
        made.apply([CLAIM, pod("app", "data", cpu="2")])
        while made["pvc/data"].status.phase != "Bound":
            made.step("PV controller" if available else "scheduler") or made.step()
        assert ("clean" if available else None) == content(made)


@pytest.mark.checklist("142g", "142h")
def test_nobody_takes_a_claim_that_is_being_rolled_back():
    """While the mark is there the scheduler rejects pods that use the claim, and so does a kubelet."""
    dials = {"persistent-volume-binder": {"absent": True}}
    marked = CLAIM.replace("name: data", "name: data, annotations: {pv.kubernetes.io/rollback: 'yes'}")
    made = Cluster.from_manifests(DISKS + CLASS, revision=design().with_rollback(), components=dials)
    made.apply([marked, pod("app", "data", cpu="1"), pod("direct", "data", cpu="1", node_name="node-a")])
    made.run()
    words = 'persistentvolumeclaim "data" is being rolled back'

    assert words in made["pod/app"].status.condition("PodScheduled").message
    assert ("Failed", "VolumeRollback", words) == (
        made["pod/direct"].status.phase, made["pod/direct"].status.reason, made["pod/direct"].status.message,
    )  # fmt: skip


@pytest.mark.checklist("142i")
def test_after_a_kubelet_has_refused_rollback_begins_only_if_no_node_is_found():
    """A refused replica's successor is scheduled again: on its node if there is room, and only else is its claim marked."""
    for room in ("4", "2"):
        made = Cluster.from_manifests(DISKS.replace('cpu: "4"', f'cpu: "{room}"') + CLASS, revision=design().with_rollback())
        made.run()
        made.apply([CLAIM, pod("app", "data", cpu="2")])
        made.cordon("node-b")
        made.run("pvc/data Bound")
        made.delete("pod/app")
        made.run()
        made.apply(pod("other", cpu="2", node_name="node-a"))
        made.run()
        made.uncordon("node-b")
        made.apply(pod("again", "data", cpu="2"))
        made.run()
        assert (room == "2") == ("pv.kubernetes.io/rollback" in str(made.story("pvc/data"))), room


def test_every_order_of_turns_ends_with_the_pod_running():
    """Scheduler, controller and kubelet in any order: claims and volumes match throughout, and the pod runs at last."""
    dials = {"kube-scheduler": {"resync": 30.0}}  # without it the design's lost wake-up is found here, too
    made = Cluster.from_manifests(DISKS + CLASS, revision=design().with_rollback(), components=dials)
    made.run()
    made.apply([CLAIM, pod("app", "data", cpu="2")])
    made.cordon("node-b")
    made.run("pvc/data Bound")
    made.apply(pod("other", cpu="3", node_name="node-a"))
    made.uncordon("node-b")
    rules = (claims_and_volumes_match, pods_reach_their_volumes, pods_stay)
    found = made.explore(invariants=rules, lag="none", max_states=3_000, progress=False)

    assert not found.counterexample, repr(found)
    assert "Exhausted" in repr(found)

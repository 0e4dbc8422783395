"""The laws of the world hold for the real components too: in every shipped scenario, under each revision, at every turn."""

import pytest

import kvolsched
from kvolsched.explore import Crash, explore

SCENARIOS = ["zonal-example", "two-replicas", "local-disks", "replicated-database"]


def everything(sim):
    """Every view of every component, and what it has yet to see."""
    return {
        (name, what): view
        for name, process in sim.processes.items()
        for what, view in {
            **process.views, **process.todo, "seen": process.seen, "wakes": process.wakes, "pending": process.pending,
        }.items()
    }  # fmt: skip


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_views_digest_and_snapshots_of_real_components(name, revision):
    """After every turn: views moved = views built, the digest kept = made anew; back and forth; out of a snapshot."""
    sim = kvolsched.scenario(name, revision=revision).world
    sim.digest()
    turns, snapshots = 0, []
    while turns < 200:
        fork = sim.fork()
        assert everything(fork) == everything(sim)
        assert fork.digest() == sim.digest()
        snapshots.append((sim.snapshot(), sim.digest(), everything(fork)))
        if not sim.step(turns=True):
            break
        turns += 1
    assert turns > 5

    for step in (0, sim.known_steps, sim.known_steps // 2):
        sim.goto(step)
        assert everything(sim.fork()) == everything(sim)
    other = sim.fork()
    for snapshot, digest, views in snapshots[:: max(1, len(snapshots) // 7)]:
        other.restore(snapshot)
        assert digest == other.digest()
        assert {k: v for k, v in views.items() if k[1] != "pending"} == {
            k: v for k, v in everything(other).items() if k[1] != "pending"}


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.parametrize("faults", [(), (Crash("kube-scheduler"),)], ids=["quiet", "crash"])
def test_reductions_change_no_outcome_of_real_components(revision, faults):
    """One pod with one claim on a local disk ends in the same set of ways with each reduction and without any."""
    cluster = kvolsched.Cluster.from_manifests(DISK, revision=revision, components={"kubelet": {"absent": True}})
    cluster.run()
    cluster.apply(POD)

    def ends(reductions):
        result = explore(cluster, until=None, faults=faults, reductions=reductions, progress=False, max_states=60_000)
        assert result.exhausted
        return {(ending.words, ending.goal_holds) for ending in result.outcomes}, result.states

    everything_, all_states = ends(())
    for reductions in (("eager",), ("idle",), ("eager", "idle")):
        reduced, states = ends(reductions)
        assert everything_ == reduced
        assert states < all_states


DISK = """
apiVersion: v1
kind: Node
metadata: {name: node-1, labels: {kubernetes.io/hostname: node-1}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}, capacity: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disks}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk-1}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 10Gi}
  local: {path: /disks/1}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-1]}]}]}
  persistentVolumeReclaimPolicy: Retain
  storageClassName: disks
"""
POD = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: disks, accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  containers: [{name: app, image: "registry.k8s.io/pause:3.10"}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""

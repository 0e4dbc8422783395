"""The laws of the world hold for the real components: in shipped scenarios, under each revision, at every turn."""

import pytest

import kvolsched
from kvolsched.explore import Crash, explore

SCENARIOS = ["zonal-example", "two-replicas", "local-disks", "replicated-database"]


def all_views(sim):
    """Return every view of every component, and its pending changes."""
    return {
        (name, what): view
        for name, process in sim.processes.items()
        for what, view in {
            **process.views, **process.work_queues, "seen": process.seen, "wakes": process.wake_ups, "pending": process.pending,
            "oldest task": sim.oldest_task(process),
        }.items()
    }  # fmt: skip


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_views_digest_and_checkpoints_of_real_components(name, revision):
    """At every turn moved views equal built ones and the updated digest a new one, also after moves and restores."""
    sim = kvolsched.scenario(name, revision=revision).world
    sim.digest()
    turns, checkpoints = 0, []
    while turns < 200:
        fork = sim.fork()
        assert all_views(fork) == all_views(sim)
        assert fork.digest() == sim.digest()
        checkpoints.append((sim.checkpoint(), sim.digest(), all_views(fork)))
        if not sim.step(turns=True):
            break
        turns += 1
    assert turns > 5

    for step in (0, sim.known_steps, sim.known_steps // 2):
        sim.goto(step)
        assert all_views(sim.fork()) == all_views(sim)
    other = sim.fork()
    for checkpoint, digest, views in checkpoints[:: max(1, len(checkpoints) // 7)]:
        other.restore(checkpoint)
        assert digest == other.digest()
        not_restored = ("pending", "oldest task")  # of a component that must list again
        assert {k: v for k, v in views.items() if k[1] not in not_restored} == {
            k: v for k, v in all_views(other).items() if k[1] not in not_restored}


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.parametrize("faults", [(), (Crash("kube-scheduler"),)], ids=["quiet", "crash"])
def test_reductions_change_no_outcome_of_real_components(revision, faults):
    """One pod with one claim on a local disk has equal sets of outcomes with and without each reduction."""
    cluster = kvolsched.Cluster.from_manifests(DISK, revision=revision, components={"kubelet": {"absent": True}})
    cluster.run()
    cluster.apply(POD)

    def ends(reductions):
        result = explore(cluster, until=None, faults=faults, reductions=reductions, progress=False, max_states=60_000)
        assert result.exhausted
        return {(ending.words, ending.goal_holds) for ending in result.outcomes}, result.states

    unreduced, all_states = ends(())
    for reductions in (("eager",), ("idle",), ("eager", "idle")):
        reduced, states = ends(reductions)
        assert unreduced == reduced
        assert states < all_states or (states == all_states and reductions == ("idle",))  # nothing idle is queued here


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

"""The volume binder: the order of writes, what is not written, and each message of checkBindings."""

import attrs
import pytest
from manifests import HOST, claim, node, pod, volume

from kvolsched.api import volumes
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.cluster import Cluster
from kvolsched.scheduler.loop import volume_binder as binder
from kvolsched.scheduler.loop.scheduling_cycle import PASS
from kvolsched.scheduler.loop.volume_binder import BindingInProgress, CannotAssume, FoundVolumes
from kvolsched.world.component import TurnContext
from kvolsched.world.log import Key

CLAIM = Key("PersistentVolumeClaim", "default", "data")
DISK = Key("PersistentVolume", "", "disk")


def disk(name="disk", size="10Gi"):
    """Return the manifest of a disk on node-1."""
    return volume(name, size, "late", {HOST: ["node-1"]})


@pytest.fixture
def cluster():
    """Return a cluster with a node, a class, two claims, two disks and a pod that uses them."""
    cluster = Cluster.from_manifests([node(), disk(), disk("big", "50Gi"), claim("data", "5Gi"), claim("more", "40Gi"), pod("app", "data", "more")])
    for reference in ("pv/disk", "pv/big", "pvc/data", "pvc/more"):  # nobody here takes the protection off again
        cluster._edit(reference, lambda old: evolve_parts(old, metadata={"finalizers": ()}))
    return cluster


def scheduler(cluster):
    """Return the scheduler's turn context and cache after it has seen everything."""
    process, actor = cluster.world.find(PASS)
    cluster.world.deliver(process)
    return TurnContext(cluster.world, process, actor), process.views["cache"]


def found(cluster, *static, provision=()):
    """Return found volumes: volumes for claims, and claims to provision."""
    pairs = tuple((cluster[f"pvc/{claim}"], cluster[f"pv/{volume}"]) for claim, volume in static)
    return FoundVolumes(pairs, tuple(cluster[f"pvc/{name}"] for name in provision))


@pytest.mark.checklist("117", "118")
def test_volumes_are_written_before_claims(cluster):
    """The volume gets its claimRef and the claim its selected node; both are assumed, neither is written yet."""
    ctx, cache = scheduler(cluster)
    what = found(cluster, ("data", "disk"), provision=("more",))
    writes = binder.assume_pod_volumes(ctx, cache, what, "node-1", volumes.UPSTREAM, writes_all=True)
    assert [str(write.subject) for write in writes] == ["pv/disk", "pvc/more"]
    assert cache.get(DISK).spec.claim_ref.name == "data"
    assert volumes.selected_node(cache.get(Key("PersistentVolumeClaim", "default", "more"))) == "node-1"
    assert cluster["pv/disk"].spec.claim_ref is None
    assert cache.get(CLAIM) is cluster["pvc/data"]


@pytest.mark.parametrize(("writes_all", "provision", "written"), [(True, (), 1), (False, (), 0), (False, ("more",), 2)])
def test_a_volume_that_is_the_claims_already(cluster, writes_all, provision, written):
    """A reserved volume is not assumed again; v1.36.2 writes it, 1.11 only if there are claims to provision."""
    cluster._edit("pv/disk", lambda old: volumes.bind_volume_to_claim(old, cluster["pvc/data"]))
    ctx, cache = scheduler(cluster)
    what = found(cluster, ("data", "disk"), provision=provision)
    writes = binder.assume_pod_volumes(ctx, cache, what, "node-1", volumes.UPSTREAM, writes_all=writes_all)
    assert len(writes) == written
    assert not cache.is_assumed(DISK)


@pytest.mark.checklist("116")
def test_what_has_changed_since_is_not_assumed(cluster):
    """If a volume has changed since it was found, nothing is assumed."""
    ctx, cache = scheduler(cluster)
    what = found(cluster, ("data", "disk"), ("more", "big"))
    cluster._edit("pv/big", lambda old: evolve_parts(old, metadata={"finalizers": ("example.com/x",)}))
    scheduler(cluster)
    with pytest.raises(CannotAssume, match=r'"big" is out of sync \(stored: \d+, assume: \d+\)'):
        binder.assume_pod_volumes(ctx, cache, what, "node-1", volumes.UPSTREAM, writes_all=True)
    assert not cache.assumed


def test_checks_stop_at_the_first_unfinished_claim(cluster):
    """The check stops at the first claim that is not bound, so a later failure is not reported yet."""
    binding = BindingInProgress(cluster["pod/app"], "node-1", static=((CLAIM, DISK),), provision=(Key(*CLAIM[:2], "more"),))
    cluster._edit("pv/disk", lambda old: volumes.bind_volume_to_claim(old, cluster["pvc/data"]))
    ctx, _ = scheduler(cluster)
    assert binder.check_bindings(binding, ctx) is False
    only = attrs.evolve(binding, static=())
    assert binder.check_bindings(only, ctx) == 'selectedNode annotation reset for PVC "more"'


def test_what_the_checks_find(cluster):
    """The check returns each message of checkBindings, in its order."""
    binding = BindingInProgress(cluster["pod/app"], "node-1", static=((CLAIM, DISK),))

    def answer():
        return binder.check_bindings(binding, scheduler(cluster)[0])

    assert answer() == 'ClaimRef got reset for pv "disk"'
    lately = attrs.evolve(binding, written=((DISK, 10_000),))
    assert binder.check_bindings(lately, scheduler(cluster)[0]) is False
    cluster._edit("node/node-1", lambda old: evolve_parts(old, metadata={"labels": {}}))
    assert answer() == 'pv "disk" node affinity doesn\'t match node "node-1": no matching NodeSelectorTerms'
    cluster.delete("pvc/data")
    assert answer() == 'failed to check binding: persistentvolumeclaims "default/data" not found'
    cluster.delete("pv/disk")
    assert answer() == 'failed to check binding: persistentvolumes "disk" not found'
    cluster.delete("pod/app")
    assert answer() == 'pod does not exist any more: pod "app" not found'
    cluster.delete("node/node-1")
    assert answer() == 'failed to get node "node-1": node "node-1" not found'

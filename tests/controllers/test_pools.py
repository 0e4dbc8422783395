"""A driver with pools: volumes take their room, what is left is published, and what comes of old news."""

import re
from functools import partial

import manifests
import pytest
from manifests import pod

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.quantity import value
from kvolsched.cluster import Cluster

EBS = "ebs.example.com"
BASE = """
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {topology.kubernetes.io/zone: zone-a, kubernetes.io/hostname: node-a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-b, labels: {topology.kubernetes.io/zone: zone-b, kubernetes.io/hostname: node-b}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: ebs.example.com}
spec: {storageCapacity: true}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: ebs}
provisioner: ebs.example.com
volumeBindingMode: WaitForFirstConsumer
"""
MIRROR = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: mirror}
provisioner: ebs.example.com
parameters: {type: mirror}
volumeBindingMode: WaitForFirstConsumer
"""
IMMEDIATE = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: at-once}
provisioner: ebs.example.com
volumeBindingMode: Immediate
"""
claim = partial(manifests.claim, size="60Gi", storage_class="ebs")


def cluster(*sources, revision="upstream", **dials):
    """A cluster of two zones whose driver has these dials, run until all is quiet."""
    made = Cluster.from_manifests([BASE, *sources], revision=revision, components={EBS: dials})
    made.run()
    return made


def later(made, *sources):
    """Apply manifests together and run."""
    made.apply(*sources)
    made.run()
    return made


def objects(made, kind):
    """All objects of a kind, by key."""
    return made.objects(kind)


def published(made):
    """What is published: {(class, place): capacity}, the place by its label's value."""
    found = objects(made, "CSIStorageCapacity")
    return {(o.storage_class_name, "".join(o.node_topology.match_labels.values())): o.capacity for o in found}


def on(made, name):
    """Where a pod runs, or ""."""
    return next(o.spec.node_name for o in objects(made, "Pod") if o.metadata.name == name)


def said(made, about, reason):
    """What Events of this reason say about an object."""
    return [o.message for o in objects(made, "Event") if o.involved_object.name == about and o.reason == reason]


@pytest.mark.checklist("171", "176")
def test_room_is_published_for_each_class_and_place():
    """The driver is asked with the class's parameters about each place: of one pool a mirrored class has half."""
    pools = [{"topology": {"topology.kubernetes.io/zone": z}, "capacity": size, "copies": {"type=mirror": 2}}
             for z, size in (("zone-a", "100Gi"), ("zone-b", "40Gi"))]
    made = cluster(MIRROR, pools=pools)

    assert {
        ("ebs", "zone-a"): "100Gi", ("ebs", "zone-b"): "40Gi", ("mirror", "zone-a"): "50Gi", ("mirror", "zone-b"): "20Gi",
    } == published(made)  # fmt: skip


@pytest.mark.checklist("177")
def test_places_may_be_racks_that_csinodes_name():
    """Where a CSINode names the driver's label keys, these are its places, whatever the dial says."""
    racks = "".join(f"""
---
apiVersion: v1
kind: Node
metadata: {{name: node-{n}, labels: {{example.com/rack: {rack}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {{name: node-{n}}}
spec: {{drivers: [{{name: ebs.example.com, nodeID: node-{n}, topologyKeys: [example.com/rack]}}]}}
""" for n, rack in (("c", "r1"), ("d", "r2"), ("e", "r2")))
    pools = [{"topology": {"example.com/rack": "r2"}, "capacity": "100Gi"}]
    made = later(cluster(racks.removeprefix("\n---"), pools=pools), claim("data"), pod("app", "data"))
    volume, = objects(made, "PersistentVolume")

    assert {("ebs", "r1"): "0", ("ebs", "r2"): "40Gi"} == published(made)
    assert on(made, "app") in ("node-d", "node-e")
    assert '"example.com/rack"' in repr(volume.spec.node_affinity).replace("'", '"')


@pytest.mark.checklist("173")
def test_what_is_published_follows_volumes_and_nodes():
    """It is news when a volume was made, when it was deleted, when a node brings a new place, and when a place goes."""
    made = cluster(pools={"zone-a": "100Gi", "zone-c": "70Gi"})
    assert {("ebs", "zone-a"): "100Gi", ("ebs", "zone-b"): "0"} == published(made)
    later(made, claim("data"), pod("app", "data"))
    assert {("ebs", "zone-a"): "40Gi", ("ebs", "zone-b"): "0"} == published(made)
    made.delete("pod/app")
    made.run()
    made.delete("pvc/data")
    made.run()
    assert {("ebs", "zone-a"): "100Gi", ("ebs", "zone-b"): "0"} == published(made)
    made.delete("node/node-b")
    later(made, BASE.split("---")[1].replace("node-b", "node-c").replace("zone-b", "zone-c"))
    assert {("ebs", "zone-a"): "100Gi", ("ebs", "zone-c"): "70Gi"} == published(made)


@pytest.mark.checklist("179", "187")
def test_two_pods_in_a_burst_both_pass_and_one_creation_fails():
    """60Gi twice on a pool of 100Gi: both pass, one creation fails, its node is taken back, and it goes elsewhere."""
    made = later(cluster(pools={"zone-a": "100Gi", "zone-b": "59Gi"}),
                 claim("one"), pod("first", "one"), claim("two"), pod("second", "two"))
    failed = said(made, "two", "ProvisioningFailed") + said(made, "one", "ProvisioningFailed")

    why = "rpc error: code = ResourceExhausted desc = not enough capacity in zone-a"
    assert [f'failed to provision volume with StorageClass "ebs": {why}'] == failed
    assert sorted([on(made, "first"), on(made, "second")]) == ["", "node-a"]
    assert "did not have enough free storage" in repr(made.why("second" if on(made, "first") else "first"))


@pytest.mark.checklist("187")
def test_where_room_is_left_the_pod_goes_instead():
    """The node that was approved has no room: its mark is taken off the claim, and the pod goes to the other zone."""
    made = cluster(pools={"zone-a": "100Gi", "zone-b": "100Gi"})
    made.cordon("node-b")
    made.apply([claim("one"), claim("two"), pod("first", "one"), pod("second", "two")])
    made.run(until=lambda c: bool(said(c, "two", "ProvisioningFailed") + said(c, "one", "ProvisioningFailed")))
    made.uncordon("node-b")
    made.run()

    assert ["node-a", "node-b"] == sorted([on(made, "first"), on(made, "second")])
    zones = {"".join(v.spec.node_affinity.required.node_selector_terms[0].match_expressions[0].values)
             for v in objects(made, "PersistentVolume")}
    assert {"zone-a", "zone-b"} == zones


def stuck():
    """Nothing is published, and a driver that keeps its node tries there for ever: zone-a is full, zone-b has room."""
    bare = BASE.replace("storageCapacity: true", "storageCapacity: false")
    pools = {"zone-a": "60Gi", "zone-b": "100Gi"}
    made = Cluster.from_manifests(bare, components={EBS: {"pools": pools, "on_failure": "retry"}})
    made.cordon("node-b")
    later(made, claim("one"), pod("first", "one"))
    made.apply([claim("two"), pod("second", "two")])
    made.run(until=lambda c: bool(said(c, "two", "ProvisioningFailed")))
    made.uncordon("node-b")
    made.run(seconds=300)
    return made


@pytest.mark.checklist("144")
def test_without_capacity_information_a_pod_is_stuck():
    """A node is chosen, creation fails and is retried there for ever; the pod is not rescheduled, though b has room."""
    made = stuck()
    made.run(seconds=300)

    assert ("node-a", "") == (on(made, "first"), on(made, "second"))
    assert len(objects(made, "PersistentVolume")) == 1


@pytest.mark.checklist("268")
def test_a_retried_creation_succeeds_when_room_is_freed():
    """Beside the stuck run: the other volume is deleted, and a later attempt succeeds on the same node."""
    made = stuck()
    made.delete("pod/first")
    made.run(seconds=300)
    made.delete("pvc/one")
    made.run(seconds=900)

    assert "node-a" == on(made, "second")


@pytest.mark.checklist("180")
def test_old_news_lets_creation_fail_and_nothing_is_rolled_back():
    """What is published is too much: of a pod's two volumes one is made and stays, the other cannot be made."""
    made = cluster(pools={"zone-a": "100Gi"}, publishing={"interval": 0.0})
    news = next(o for o in objects(made, "CSIStorageCapacity") if o.capacity == "100Gi")
    made.apply(f"""
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
metadata: {{name: {news.metadata.name}, namespace: {news.metadata.namespace}}}
storageClassName: ebs
nodeTopology: {{matchLabels: {{topology.kubernetes.io/zone: zone-a}}}}
capacity: 500Gi
""")
    later(made, claim("one", size="80Gi"), claim("two", size="80Gi"), pod("app", "one", "two"))
    volume, = objects(made, "PersistentVolume")

    assert "" == on(made, "app")
    assert "80Gi" == volume.spec.capacity["storage"]
    assert {("ebs", "zone-a"): "20Gi", ("ebs", "zone-b"): "0"} == published(made)


@pytest.mark.checklist("181")
def test_immediate_claims_are_not_looked_at():
    """Nothing is published for a class that binds at once; the driver lays its volume where there is room."""
    made = later(cluster(IMMEDIATE, pools={"zone-a": "10Gi", "zone-b": "100Gi"}), claim("data", storage_class="at-once"))
    volume, = objects(made, "PersistentVolume")

    assert {"ebs"} == {of for of, _ in published(made)}
    assert "zone-b" in repr(volume.spec.node_affinity)


def test_a_volume_is_not_larger_than_the_largest_of_its_pools():
    """Two disks on a node: their room is summed, the largest volume is that of one disk."""
    pools = [{"topology": {"topology.kubernetes.io/zone": "zone-a"}, "capacity": "60Gi"}] * 2
    made = cluster(pools=pools)
    news = next(o for o in objects(made, "CSIStorageCapacity") if o.capacity != "0")

    assert ("120Gi", "60Gi") == (news.capacity, news.maximum_volume_size)
    later(made, claim("data", size="61Gi"), pod("app", "data"))
    assert "" == on(made, "app")


def test_what_is_taken_away_is_published_again():
    """An object that somebody deletes is made anew."""
    made = cluster(pools={"zone-a": "100Gi"})
    first, _ = objects(made, "CSIStorageCapacity")
    made.delete(f"csistoragecapacity/{first.metadata.namespace}/{first.metadata.name}")
    made.run()

    assert len(objects(made, "CSIStorageCapacity")) == 2
    assert {("ebs", "zone-a"): "100Gi", ("ebs", "zone-b"): "0"} == published(made)


@pytest.mark.parametrize("at_once", [True, False], ids=["with its class", "first"])
def test_what_is_given_to_another_manager_is_left_alone(at_once):
    """An object that gets another manager's label is not deleted, even if the driver sees at once that its class goes."""
    made = cluster(pools={"zone-a": "100Gi", "zone-b": "40Gi"})
    given, _ = objects(made, "CSIStorageCapacity")
    name = f"csistoragecapacity/{given.metadata.namespace}/{given.metadata.name}"
    label = {"csi.storage.k8s.io/managed-by": "somebody"}
    made._edit(name, lambda old: evolve_parts(old, metadata={"labels": old.metadata.labels.merged(label)}))
    if not at_once:
        made.run()
        assert len(objects(made, "CSIStorageCapacity")) == 3
    made.delete("storageclass/ebs")
    made.run()

    assert [given.metadata.uid] == [each.metadata.uid for each in objects(made, "CSIStorageCapacity")]


def test_a_driver_without_pools_publishes_nothing_and_watches_nothing_for_it():
    """Who does not count room costs nothing: no actor, no watch, no object, no turn."""
    plain, counting = cluster(), cluster(pools={"zone-a": "1Gi"})
    of = {process.name: process.component for process in plain.world.processes.values()}[EBS]

    assert [f"{EBS} provisioner", f"{EBS} deleter"] == [actor.name for actor in of.actors]
    assert "CSIStorageCapacity" not in of.watches
    assert (0, 2) == (plain.world.step_number, counting.world.step_number)


@pytest.mark.parametrize(("dials", "said"), [
    ({"pools": {"zone-a": "lots"}}, "ebs.example.com: pools[0].capacity: 'lots': must be a size such as 10Gi"),
    ({"pools": [{"toplogy": {}}]}, "ebs.example.com: pools[0] has no dial toplogy; there are: topology, capacity"),
    ({"pools": "10Gi"}, "ebs.example.com: pools: '10Gi': must be a mapping from domain to size, or a list"),
    ({"pools": [3]}, "ebs.example.com: pools[0]: 3: must be a mapping"),
    ({"pools": [{"copies": {"type=mirror": "two"}}]}, "ebs.example.com: pools[0].copies[type=mirror]: 'two': must be a whole number from 1"),
    ({"pools": [{"copies": {"type=mirror": 0}}]}, "ebs.example.com: pools[0].copies[type=mirror]: 0: must be a whole number from 1"),
    ({"pools": {"a": "1Gi"}, "publishing": {"pol": 1}}, "ebs.example.com: publishing has no dial pol; there are: "),
    ({"pools": {"a": "1Gi"}, "publishing": {"form": "loud"}}, "ebs.example.com: publishing.form: 'loud': must be objects, central or node"),
])  # fmt: skip
def test_wrong_dials_are_named(dials, said):
    """Driver, place and value stand in the error."""
    with pytest.raises(ValueError, match=re.escape(said)):
        Cluster.from_manifests(BASE, components={EBS: dials})


def test_a_crash_forgets_no_room():
    """What volumes have taken is the storage system's to know: after a crash the same is published."""
    made = later(cluster(pools={"zone-a": "100Gi"}), claim("data"), pod("app", "data"))
    made.world.crash(EBS)
    made.run()

    assert "40Gi" == published(made)["ebs", "zone-a"]


def test_every_order_of_turns_leaves_no_more_taken_than_there_is():
    """Two claims in a burst, every order of turns: the pool is never overdrawn, and the search comes to its end."""
    made = cluster(pools={"zone-a": "100Gi"}, delay=0.0)
    made.apply([claim("one"), pod("first", "one"), claim("two"), pod("second", "two")])

    def never_overdrawn(_before, after):
        sizes = [value(o.spec.capacity["storage"]) for key, o in after.items() if key.kind == "PersistentVolume"]
        return "" if sum(sizes) <= value("100Gi") else f"{sum(sizes)} bytes of 100Gi are taken"

    found = made.explore(until=None, invariants=[never_overdrawn], lag="none", max_states=2_000, progress=False)

    assert not found.counterexample, repr(found)
    assert "Exhausted" in repr(found)

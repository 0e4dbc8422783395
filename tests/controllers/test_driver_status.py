"""Under `design` a driver's room stands in the status of its CSIDriver, as S2 has it: pools, each patched by itself."""

import pytest
from controllers.test_pools import BASE, EBS, MIRROR, claim, later, objects, on, said
from manifests import pod

from kvolsched import ApplyRefused, Cluster

PREFIX = "topology.kubernetes.io"
TRACKED = BASE.replace("storageCapacity: true", "capacityTracking: true")
NODE_C = BASE.split("---")[1].replace("node-b", "node-c").replace("zone-b", "zone-c")
ZONES = {"zone-a": "100Gi", "zone-b": "59Gi"}


def cluster(*sources, base=TRACKED, pools=ZONES, start_delay=0.0, **publishing):
    """A cluster under `design` whose driver has these pools and publishes so, run until all is quiet."""
    dials = {EBS: {"pools": pools, "publishing": publishing}, "kubelet": {"start_delay": start_delay}}
    made = Cluster.from_manifests([base, *sources], revision="design", components=dials)
    made.run()
    return made


def driver(made):
    """The driver's object."""
    return next(iter(objects(made, "csidrivers")), None)


def say(made, of, name, capacity, version=""):
    """Patch one pool of the driver's status by its keys, as the user; with a version all pools are sent back."""
    pools = [{"name": name, "capacity": capacity}]
    change = {"status": {"storage": [{"storageClassName": of, "pools": pools}]}}
    if version:
        return made.patch(f"csidriver/{EBS}", {"metadata": {"resourceVersion": version}, **change}, subresource="status")
    return made.patch(f"csidriver/{EBS}", change, "strategic", "status")


def wait_for(made, seconds):
    """Let simulated time pass: a pod takes so long to start."""
    made.apply(pod("slow"))
    made.run("pod/slow Running")
    assert seconds == made.now


def told(made):
    """What is told: {(class, pool): capacity}."""
    return {(entry.storage_class_name, p.name): p.capacity for entry in driver(made).status.storage for p in entry.pools}


@pytest.mark.checklist("171", "176")
def test_the_driver_is_asked_about_each_class_in_each_segment():
    """A pool for each class and zone, of half the size where every byte is stored twice."""
    copies = {"copies": {"type=mirror": 2}}
    pools = [{"topology": {f"{PREFIX}/zone": zone}, "capacity": size, **copies} for zone, size in ZONES.items()]
    made = cluster(MIRROR, pools=pools, prefix=PREFIX)

    assert {
        ("ebs", "zone=zone-a"): "100Gi", ("ebs", "zone=zone-b"): "59Gi",
        ("mirror", "zone=zone-a"): "50Gi", ("mirror", "zone=zone-b"): "30208Mi",
    } == told(made)  # fmt: skip


@pytest.mark.checklist("169")
def test_without_a_prefix_nothing_is_told():
    """The provisioner does not know which labels make a segment; nor does it tell of a driver that does not track."""
    assert {} == told(cluster())
    assert {} == told(cluster(base=BASE, prefix=PREFIX))


@pytest.mark.checklist("170")
def test_a_segment_is_all_labels_with_the_prefix():
    """Labels of two keys make one segment, nodes that share it make one pool, other labels are no part of it."""
    nodes = "---".join(f"""
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{{PREFIX}/zone: zone-c, {PREFIX}/rack: r1, example.com/colour: {name}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
""" for name in ("red", "blue"))
    made = cluster(nodes, pools={"zone-c": "70Gi"}, prefix=PREFIX)
    pool, = (p for entry in driver(made).status.storage for p in entry.pools if "zone-c" in p.name)
    term, = pool.node_topology.node_selector_terms

    assert ("rack=r1,zone=zone-c", "70Gi") == (pool.name, pool.capacity)
    assert {f"{PREFIX}/zone": ("zone-c",), f"{PREFIX}/rack": ("r1",)} == {e.key: e.values for e in term.match_expressions}


@pytest.mark.checklist("172")
def test_the_driver_may_also_be_asked_without_parameters():
    """Its answer stands under `<ephemeral>`; not asked so, no such entry."""
    pools = [{"topology": {f"{PREFIX}/zone": "zone-a"}, "capacity": "80Gi"}]
    asked = told(cluster(pools=pools, prefix=PREFIX, ephemeral=True))

    assert {("<ephemeral>", "zone=zone-a"): "80Gi", ("<ephemeral>", "zone=zone-b"): "0"} == {
        key: size for key, size in asked.items() if key[0] == "<ephemeral>"
    }
    assert {"ebs"} == {of for of, _ in told(cluster(pools=pools, prefix=PREFIX))}


@pytest.mark.checklist("173")
def test_what_is_told_follows_volumes_nodes_and_the_clock():
    """News when a volume is made, when a node goes, and, where somebody else wrote nonsense, when the period is over."""
    made = later(cluster(prefix=PREFIX), claim("data"), pod("app", "data"))
    assert {("ebs", "zone=zone-a"): "40Gi", ("ebs", "zone=zone-b"): "59Gi"} == told(made)
    made.delete("node/node-b")
    made.run()
    assert {("ebs", "zone=zone-a"): "40Gi"} == told(made)
    made.apply(NODE_C)
    made.run()
    assert {("ebs", "zone=zone-a"): "40Gi", ("ebs", "zone=zone-c"): "0"} == told(made)
    made.delete("node/node-c")
    made.run()
    say(made, "ebs", "zone=zone-a", "900Gi")
    assert {("ebs", "zone=zone-a"): "900Gi"} == told(made)
    made.run(seconds=100)
    assert made.now >= 60
    assert {("ebs", "zone=zone-a"): "40Gi"} == told(made)
    made.delete("pod/app")
    made.run(seconds=10)
    made.delete("pvc/data")
    made.run(seconds=10)
    assert {("ebs", "zone=zone-a"): "100Gi"} == told(made)


@pytest.mark.checklist("165", "166")
def test_on_each_node_an_instance_owns_the_pool_of_its_node():
    """Only inline volumes: one entry with a pool a node, whose nodeList is that node; the driver is asked for nothing."""
    made = cluster(form="node")
    entry, = driver(made).status.storage

    assert "<ephemeral>" == entry.storage_class_name
    assert [("node-a", ("node-a",), "100Gi"), ("node-b", ("node-b",), "59Gi")] == [
        (p.name, p.node_list, p.capacity) for p in entry.pools
    ]
    assert all(p.node_topology is None for p in entry.pools)


def test_beside_instances_of_nodes_the_controller_still_makes_volumes():
    """Who publishes for inline volumes alone leaves claims to the controller's instance, which publishes nothing."""
    untracked = BASE.replace("storageCapacity: true", "capacityTracking: false")
    made = cluster(claim("data"), pod("app", "data"), base=untracked, form="node")

    assert "Bound" == made["pvc/data"].status.phase
    assert () == driver(made).status.storage


@pytest.mark.checklist("167")
def test_with_an_instance_a_node_the_object_grows_with_the_nodes():
    """As many pools as nodes, where central provisioning has as many as zones."""
    more = ["".join(TRACKED.split("---")[0].replace("node-a", f"node-{n}")) for n in range(8)]

    assert (10, 2) == (len(told(cluster(*more, form="node"))), len(told(cluster(*more, prefix=PREFIX))))


@pytest.mark.checklist("158")
def test_two_writers_of_different_pools_never_conflict():
    """Each patches its own pool and the other's stays; two who put back the whole object do conflict."""
    made = cluster(form="node")
    say(made, "<ephemeral>", "node-a", "1Gi")
    say(made, "<ephemeral>", "node-b", "2Gi")
    assert {("<ephemeral>", "node-a"): "1Gi", ("<ephemeral>", "node-b"): "2Gi"} == told(made)
    assert {200: 4} == made.requests(resource="csidrivers.storage.k8s.io").count(by="code")

    version = str(driver(made).metadata.resource_version)
    say(made, "<ephemeral>", "node-a", "3Gi", version)
    with pytest.raises(ApplyRefused, match="the object has been modified"):
        say(made, "<ephemeral>", "node-b", "4Gi", version)
    assert {("<ephemeral>", "node-a"): "3Gi"} == told(made)  # and who sends back the whole removes what it leaves out


@pytest.mark.checklist("157")
def test_what_was_told_becomes_obsolete_unless_it_is_told_again():
    """The provisioner says until when its answer holds; when it is gone, so is the room, for the scheduler."""
    made = cluster(prefix=PREFIX, expires=90.0, interval=0.0, start_delay=91.0)
    assert {"2026-01-01T00:01:30Z"} == {p.expiry_time for entry in driver(made).status.storage for p in entry.pools}
    wait_for(made, 91.0)
    later(made, claim("data"), pod("app", "data"))

    assert "" == on(made, "app")
    assert "0/2 nodes are available: 2 node(s) did not have enough free storage." in said(made, "app", "FailedScheduling")


@pytest.mark.checklist("159")
def test_with_the_driver_all_it_told_is_gone():
    """Its object is deleted, and nothing is left to clean up; with a new one it is all told again."""
    made = cluster(prefix=PREFIX)
    made.delete(f"csidriver/{EBS}")
    made.run()
    assert driver(made) is None
    later(made, TRACKED.split("---")[2])
    assert {("ebs", "zone=zone-a"): "100Gi", ("ebs", "zone=zone-b"): "59Gi"} == told(made)


def test_the_ledger_shows_what_is_told_beside_what_there_is():
    """The pools of the class, whether they reach, fit and still hold, and what the driver has in truth."""
    made = cluster(prefix=PREFIX, expires=90.0, interval=0.0, start_delay=91.0)
    reached = {"name": "zone=zone-a", "capacity": "900Gi", "nodeList": ["node-a"], "nodeTopology": None, "expiryTime": None}
    made.patch(f"csidriver/{EBS}", {"status": {"storage": [{"storageClassName": "ebs", "pools": [reached]}]}}, "strategic", "status")
    wait_for(made, 91.0)
    made.apply([claim("data"), pod("app", "data")])
    said = repr(made.capacity("app"))

    published, driver = "published 900Gi, 91 s old, stale: driver now 100Gi", "driver ✓ has 100Gi: enough"
    assert f"zone=zone-a  1 node  {published}  rule ✓ 60Gi ≤ 900Gi  {driver}" in said
    published, driver = "published 59Gi, 91 s old, driver now 59Gi         ", "driver ✕ has 59Gi: never asked"
    assert f"zone=zone-b  1 node  {published}  rule ✕ expired       {driver}" in said


@pytest.mark.checklist("179", "187")
def test_a_burst_goes_wrong_and_is_mended_elsewhere():
    """Two pods of 60Gi pass on a pool of 100Gi; one creation fails, its mark is taken away, and it finds the other zone."""
    made = cluster(pools={"zone-a": "100Gi", "zone-b": "100Gi"}, prefix=PREFIX)
    made.cordon("node-b")
    made.apply([claim("one"), claim("two"), pod("first", "one"), pod("second", "two")])
    made.run(until=lambda c: bool(said(c, "two", "ProvisioningFailed") + said(c, "one", "ProvisioningFailed")))
    made.uncordon("node-b")
    made.run()

    assert ["node-a", "node-b"] == sorted([on(made, "first"), on(made, "second")])

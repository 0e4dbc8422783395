"""A provisioner on each node is a component of its own: it crashes, lags and goes alone, and its pool goes with it."""

import re

import pytest
from documents.clusters import cluster, events, where
from manifests import DRIVER, HOST, claim, node, pod, storage_class

PMEM = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
        "spec": {"capacityTracking": True, "storageCapacity": True, "podInfoOnMount": True}}
POOLS = {"n0": "10Gi", "n1": "20Gi"}


def world(*more, revision="design", names=("n0", "n1"), pools=POOLS, publishing=None, form=None, **dials):
    """A cluster whose driver has a provisioner on each node, run until all is quiet."""
    form = form or ({"publishing": {"form": "node", **(publishing or {})}} if revision == "design" else
                    {"node_deployment": True, "publishing": publishing or {}})
    made = cluster(*map(node, names), PMEM, *more, revision=revision, **{DRIVER: {"kind": "local", "pools": pools, **form}, **dials})
    made.run(seconds=100)
    return made


def instances(made):
    """The driver's components."""
    return [name for name in made.world.processes if name.startswith(DRIVER)]


def told(made):
    """What is published, by node."""
    objects = {each.node_topology.match_labels[HOST]: each.capacity for each in made.objects("csistoragecapacities")}
    return objects or {p.name: p.capacity for entry in made[f"csidriver/{DRIVER}"].status.storage for p in entry.pools}


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("165", "166")
def test_each_node_has_a_provisioner_that_publishes_its_pool(revision):
    """Two nodes, two components with a lane each; each writes what its own node has."""
    made = world(storage_class(), revision=revision)
    resource = "csidrivers.storage.k8s.io" if revision == "design" else "csistoragecapacities.storage.k8s.io"
    writers = sorted(row.by for row in made.requests(resource=resource))

    assert [f"{DRIVER} on n0", f"{DRIVER} on n1"] == writers
    assert POOLS == told(made)
    lanes = repr(made.timeline())
    assert all(name in lanes for name in writers)


def test_under_s2_a_class_has_a_central_provisioner_beside():
    """Instances publish for inline volumes; the volumes of classes are made by one central provisioner."""
    assert [DRIVER, f"{DRIVER} on n0", f"{DRIVER} on n1"] == sorted(instances(world(storage_class())))
    assert [f"{DRIVER} on n0", f"{DRIVER} on n1"] == sorted(instances(world()))
    assert [f"{DRIVER} on n0", f"{DRIVER} on n1"] == sorted(instances(world(storage_class(), revision="upstream")))


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("165", "173")
def test_a_pool_goes_with_its_node_and_comes_with_a_new_one(revision):
    """The node is deleted and its provisioner removes what it published; a node that is created brings its own."""
    made = world(storage_class(), revision=revision, pools={**POOLS, "n2": "30Gi"})
    made.delete("node/n0")
    made.run(seconds=30)
    assert {"n1": "20Gi"} == told(made)
    made.apply(node("n2"))
    made.run(seconds=30)
    assert {"n1": "20Gi", "n2": "30Gi"} == told(made)
    before = made.digest()
    made.back(100_000)
    assert POOLS == {row.pool: f"{row.capacity >> 30}Gi" for row in made.pools() if row.pool != "n2"}
    made.goto(-1)
    assert before == made.digest()


@pytest.mark.checklist("165")
def test_one_that_is_absent_or_slow_leaves_the_others_alone():
    """`DRIVER on NODE` has dials of its own: absent there, its node has no pool; with a lag its pool comes late."""
    absent = world(**{f"{DRIVER} on n0": {"absent": True}})
    assert {"n1": "20Gi"} == told(absent)
    late = world(publishing={"interval": 10.0}, **{f"{DRIVER} on n0": {"publishing": {"lag": 5.0}}})
    times = {row.by: row.time for row in late.requests(resource="csidrivers.storage.k8s.io")}
    assert {f"{DRIVER} on n0": 5.0, f"{DRIVER} on n1": 0.0} == times
    with pytest.raises(ValueError, match=re.escape(f"{DRIVER} on n0 has no dial colour")):
        world(**{f"{DRIVER} on n0": {"colour": "red"}})
    with pytest.raises(ValueError, match=re.escape(f"{DRIVER} on n0: the provisioner of driver {DRIVER} does not run on")):
        cluster(node("n0"), PMEM, **{DRIVER: {"pools": POOLS}, f"{DRIVER} on n0": {"absent": True}})


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("165")
def test_a_crash_is_of_one_instance(revision):
    """One provisioner restarts and asks its driver at once; the other has seen nothing of it and waits for its poll."""
    made = world(storage_class(), revision=revision)
    for name in POOLS:
        made.set_pool(DRIVER, name, capacity="5Gi")
    made.crash(f"{DRIVER} on n0")
    made.run(lambda it: told(it) != POOLS)
    assert (0, {**POOLS, "n0": "5Gi"}) == (made.now, told(made))
    assert f"{DRIVER} on n0" == made.requests()[-1].by
    made.run(seconds=100)

    assert (60, {"n0": "5Gi", "n1": "5Gi"}) == (made.now, told(made))


@pytest.mark.checklist("158", "165")
def test_instances_write_the_same_object_and_never_conflict():
    """Every instance patches its own pool of the one object: in no order of turns does one remove another's."""
    made = cluster(*map(node, POOLS), PMEM, **{DRIVER: {"kind": "local", "pools": POOLS, "publishing": {"form": "node"}}})

    def never_lost(before, after):
        pools = [{pool.name for entry in contents[key].status.storage for pool in entry.pools}
                 for contents in (before, after) for key in contents if key.kind == "CSIDriver"]
        return "" if pools[0] <= pools[1] else f"{pools[0] - pools[1]} is lost"

    found = made.explore(until=None, invariants=[never_lost], max_states=2_000, progress=False)

    assert "Exhausted" in repr(found)
    assert not found.counterexample, repr(found)


@pytest.mark.checklist("187")
def test_the_provisioner_of_the_selected_node_makes_the_volume():
    """Distributed provisioning: the volume is made by the instance of the pod's node, and deleted by it."""
    made = world(storage_class(), claim("data", "15Gi"), pod("app", "data"), revision="upstream")
    (maker,) = [row.by for row in made.requests(verb="POST", resource="persistentvolumes")]
    assert (["n1"], f"{DRIVER} on n1") == (where(made, "app"), maker)
    assert {"n0": "10Gi", "n1": "5Gi"} == told(made)
    made.delete("pod/app", "pvc/data")
    made.run(seconds=120)
    assert ([], POOLS) == (made.objects("pv"), told(made))


def test_a_claim_that_binds_at_once_is_made_by_the_first_node_with_room():
    """No node is selected: one instance takes it, the first whose node has room."""
    made = world(storage_class("early", waits=False), claim("data", "15Gi", "early"), revision="upstream")

    assert "Bound" == made["pvc/data"].status.phase
    assert ["n1"] == [row.pool for row in made.pools() if row.volumes]
    assert 1 == len(events(made, "data", "ProvisioningSucceeded"))


@pytest.mark.checklist("184")
def test_objects_of_an_instance_name_it_as_their_manager():
    """Each instance manages the objects with its own label alone."""
    made = world(storage_class(), revision="upstream")
    managers = {each.metadata.labels["csi.storage.k8s.io/managed-by"] for each in made.objects("csistoragecapacities")}

    assert {"external-provisioner-n0", "external-provisioner-n1"} == managers


def test_a_node_that_an_autoscaler_adds_has_its_provisioner():
    """A node that no user creates brings its instance, too."""
    made = world(pools={**POOLS, "spot-1": "40Gi"})
    template = node("spot")
    made = made.with_autoscaler([{"name": "spot", "template": template, "max": 1}])
    made.apply(pod("large", cpu="3"), pod("larger", cpu="3"), pod("largest", cpu="3"))
    made.run(seconds=300)

    assert "node/spot-1" in made
    assert "40Gi" == told(made)["spot-1"]

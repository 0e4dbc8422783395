"""The end-to-end tests that the design documents name (S0, S1 Testing), and what they call unsupported, in clusters."""

import pytest
from documents.made import HOST, apart, claim, cluster, node, pod, storage_class, together, volume, where

both = pytest.mark.parametrize("revision", ["design", "upstream"])
LOCAL = "kubernetes.io/no-provisioner"
NODES = [node(name, zone) for name, zone in (("n1", "a"), ("n2", "b"), ("n3", "c"))]


def disk(name, on, size="10Gi"):
    """A free local disk of a node."""
    return volume(name, size, "late", {HOST: [on]})


def database(affinity, replicas=3):
    """A StatefulSet of these replicas, each with a claim of 10Gi."""
    template = {"metadata": {"labels": {"app": "db"}},
                "spec": {"affinity": affinity, "containers": [{"name": "db", "image": "registry.k8s.io/pause:3.10"}]}}
    wanted = {"metadata": {"name": "data"}, "spec": {"storageClassName": "late", "accessModes": ["ReadWriteOnce"],
                                                     "resources": {"requests": {"storage": "10Gi"}}}}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
            "spec": {"replicas": replicas, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}},
                     "podManagementPolicy": "Parallel", "template": template, "volumeClaimTemplates": [wanted]}}


def phases(c, *names):
    """The phases of pods, in this order."""
    return [c[f"pod/{name}"].status.phase for name in names]


def ran(revision, *objects):
    """A cluster with local disks, run until nothing is left to do or ten minutes are over."""
    c = cluster(*NODES, storage_class(provisioner=LOCAL), *objects, revision=revision)
    c.run(seconds=600)
    return c


REPLICAS = ("db-0", "db-1", "db-2")


@both
@pytest.mark.checklist("143a")
def test_three_replicas_apart_with_a_disk_on_each_node(revision):
    """All three run, each on a node of its own, each with the disk of that node."""
    c = ran(revision, *(disk(f"d{n}", f"n{n}") for n in (1, 2, 3)), database(apart(app="db")))

    assert ["Running"] * 3 == phases(c, *REPLICAS)
    assert ["n1", "n2", "n3"] == sorted(where(c, *REPLICAS))
    assert [name.replace("n", "d") for name in where(c, *REPLICAS)] == [
        c[f"pvc/data-{name}"].spec.volume_name for name in REPLICAS
    ]


@both
@pytest.mark.checklist("143b")
def test_three_replicas_apart_with_disks_on_two_nodes(revision):
    """Two run, the third is Pending and its claim is not bound."""
    c = ran(revision, disk("d1", "n1"), disk("d2", "n2"), database(apart(app="db")))
    left = [name for name in REPLICAS if phases(c, name) != ["Running"]]

    assert ["Pending"] == phases(c, *left)
    assert ["Pending"] == [c[f"pvc/data-{name}"].status.phase for name in left]


@both
@pytest.mark.checklist("143c")
def test_replicas_together_with_disks_enough_on_one_node(revision):
    """All run on the node that has three disks, though the others have one each."""
    first = [pod("anchor", labels={"app": "db"}, on="n2")]
    disks = [*(disk(f"d{n}", "n2") for n in (1, 2, 3)), disk("other", "n1")]
    c = ran(revision, *first, *disks, database(together(HOST, app="db")))

    assert ["Running"] * 3 == phases(c, *REPLICAS)
    assert ["n2"] * 3 == where(c, *REPLICAS)


@both
@pytest.mark.checklist("143d")
def test_replicas_together_with_a_disk_on_each_node(revision):
    """The first runs, the others are Pending: their node has no disk left."""
    c = ran(revision, *(disk(f"d{n}", f"n{n}") for n in (1, 2, 3)), database(together(HOST, app="db")))

    assert ["Pending", "Pending", "Running"] == sorted(phases(c, *REPLICAS))


@both
@pytest.mark.checklist("143e")
def test_several_claims_and_one_node_with_disks_enough(revision):
    """The pod runs where there are two disks, and both its claims are bound there."""
    wanted = claim("one"), claim("two"), pod("app", "one", "two")
    c = ran(revision, disk("d1", "n1"), disk("d2", "n2"), disk("d3", "n2"), disk("d4", "n3"), *wanted)

    assert ["n2"] == where(c, "app")
    assert ["Running"] == phases(c, "app")
    assert ["d2", "d3"] == sorted(c[f"pvc/{name}"].spec.volume_name for name in ("one", "two"))


@both
@pytest.mark.checklist("143f")
def test_several_claims_and_no_node_with_disks_enough(revision):
    """The pod is Pending, no claim is bound and no disk reserved."""
    c = ran(revision, *(disk(f"d{n}", f"n{n}") for n in (1, 2, 3)), claim("one"), claim("two"), pod("app", "one", "two"))

    assert ["Pending"] == phases(c, "app")
    assert ["Pending", "Pending"] == [c[f"pvc/{name}"].status.phase for name in ("one", "two")]
    assert [None] * 3 == [each.spec.claim_ref for each in c.objects("pv")]


# -- the workflow, and who goes round it ---------------------------------------------------------------------------------


@both
@pytest.mark.checklist("74", "75")
def test_binding_and_provisioning_wait_for_a_pod(revision):
    """Disk, class and claim alone: nothing is bound or made; a pod comes, the scheduler starts, and both happen."""
    c = cluster(*NODES, storage_class("late", LOCAL), storage_class("made", "disks.example.com"), disk("d1", "n1"),
                claim("old"), claim("new", of="made"), revision=revision)
    c.run(seconds=120)
    before = [c[f"pvc/{name}"].status.phase for name in ("old", "new")], len(c.objects("pv"))
    c.apply(pod("app", "old", "new"))
    c.run("pod/app Running")

    assert (["Pending", "Pending"], 1) == before
    assert ["Bound", "Bound"] == [c[f"pvc/{name}"].status.phase for name in ("old", "new")]
    assert (2, ["n1"]) == (len(c.objects("pv")), where(c, "app"))


@both
@pytest.mark.checklist("138")
def test_a_pod_with_a_node_named_by_hand_goes_round_the_scheduler(revision):
    """Nobody selects a node for its claim: it is never bound and the pod never starts, until another pod uses the claim."""
    c = cluster(*NODES, storage_class("made", "disks.example.com"), claim("data", of="made"),
                pod("manual", "data", nodeName="n2"), revision=revision)
    c.run(seconds=900)
    alone = c["pvc/data"].status.phase, phases(c, "manual")
    c.apply(pod("helper", "data", nodeSelector={HOST: "n2"}))
    c.run("pod/manual Running")

    assert ("Pending", ["Pending"]) == alone
    assert ["Running"] == phases(c, "manual")


@pytest.mark.checklist("138")
def test_daemons_that_their_controller_placed_never_got_a_volume():
    """Under design daemons have a node from the start, so a claim of a delayed class stays unbound; today's are scheduled."""
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {
        "selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
            "containers": [{"name": "agent", "image": "registry.k8s.io/pause:3.10"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}}}}
    found = {}
    for revision in ("design", "upstream"):
        c = cluster(NODES[0], storage_class("made", "disks.example.com"), claim("data", of="made"), daemon, revision=revision)
        c.run(seconds=900)
        found[revision] = c["pvc/data"].status.phase, [each.status.phase for each in c.objects("pod")]

    assert {"design": ("Pending", ["Pending"]), "upstream": ("Bound", ["Running"])} == found

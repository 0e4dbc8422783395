"""What a change costs others, as one value: pods, data, promises."""

from pathlib import Path

import pytest

from kvolsched import Cluster, incident, make, scenario
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.make import pod, required, spread
from kvolsched.questions.fix import ObjectChange
from kvolsched.questions.fix.harm import Harm, harm, lies
from kvolsched.questions.fix.trials import AskedCluster
from kvolsched.world.log import Key

TERM = {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}]}  # fmt: skip
POSTED = Path(__file__).parent / "posted"


def tried(name, kind):
    """Return the trial of the first fix of a kind, for the first pod that waits in a posted cluster."""
    cluster = Cluster.from_manifests(POSTED / f"{name}.yaml") if "-" in name and name[0].isdigit() else incident(name).play()
    cluster.run(steps=1000)
    pod = next(pod for pod in cluster.objects("pods") if not pod.spec.node_name)
    return next(fix for fix in cluster.fix(pod.metadata.name) if kind in fix.kinds).try_it()


@pytest.mark.parametrize(("name", "kind", "promises"), [
    ("16-anti-affinity-replicas-exceed-nodes", "scale down", ("Deployment web asks for 3 replicas instead of 4",)),
    ("17-spread-over-tainted-host", "soften spread", ("Deployment web no longer requires maxSkew 1 over kubernetes.io/hostname",)),
    ("34-affinity-label-typo", "drop pod term", ("Deployment web no longer requires its pod affinity over kubernetes.io/hostname",)),
    ("48-cpu-unit-slip", "lower request", ("Deployment web asks for 500m cpu instead of 500",)),
    ("17-spread-over-tainted-host", "add node", ()),
])  # fmt: skip
def test_promises_that_no_longer_hold(name, kind, promises):
    """Fewer replicas, a wider spread, a term less and a smaller request are told; a machine more costs no promise."""
    assert promises == tried(name, kind).harm.promises


def test_lost_data_are_told_by_their_volume():
    """Claim and pod are made anew on another volume: the files of the old claim are left behind."""
    found = tried("disk-outlives-its-node", "delete claim").harm

    assert ["default/data-db-0"] == [words.split(" of claim ")[1].split()[0] for words in found.data]
    assert "left behind on pvc-" in found.data[0]


def test_a_change_that_costs_a_claim_its_volume_does_not_help():
    """The headline names the claim, although the pod gets a node and nobody waits for it."""
    c = scenario("zonal-example")
    c.run()
    c.apply(make.pod("large", cpu="99"))
    c.run()
    small, volume = c.objects("nodes")[0], c.objects("pv")[0]
    large = evolve_parts(small, status={"allocatable": small.status.allocatable.merged({"cpu": "300"})})
    asked = AskedCluster(c, Key("Pod", "default", "large"), c.why("large"))
    found = asked.try_changes((ObjectChange(small, large), ObjectChange(volume, None)), "Delete the volume")

    assert ("default/large gets a node, but claim default/my-pvc loses its volume", False) == (found.headline, found.helps)


def test_replicas_that_are_made_anew_are_no_harm():
    """A rollout replaces all replicas: that is said, and nothing is worse."""
    found = tried("17-spread-over-tainted-host", "spread policy").harm

    assert [3] == [len(names) for names in found.restarted.values()]
    assert ((), (), (), (), ()) == (found.waiting, found.gone, found.lost_claims, found.data, found.promises)


def test_two_equal_worlds():
    """A world is not worse than itself; without a pod on a node it is."""
    cluster = Cluster.from_manifests(POSTED / "extra-pdb.yaml")
    cluster.run(steps=200)
    objects = dict(cluster.world.log.objects)
    pod = next(key for key, obj in objects.items() if key.kind == "Pod" and obj.spec.node_name)
    fewer = {key: obj for key, obj in objects.items() if key != pod}

    assert Harm() == harm(objects, objects, objects)
    assert (pod,) == harm(objects, fewer, objects).gone


@pytest.mark.parametrize(("command", "lie"), [
    ("label node hdd disktype=ssd --overwrite", ("hdd is disktype=hdd as before, whatever its labels say",)),
    ("label node hdd disktype-", ("hdd is disktype=hdd as before, whatever its labels say",)),
    ("label node hdd topology.kubernetes.io/zone=b --overwrite", ("hdd stands in a as before, and so do its disks: a label moves no machine",)),
    ("label node hdd kubernetes.io/hostname=ssd --overwrite",
     ("hdd stands in hdd as before, and so do its disks: a label moves no machine",)),
    ("label node hdd team=shop", ()),
])  # fmt: skip
def test_a_label_that_is_overwritten_says_what_is_not_so(command, lie):
    """What a node's label said of it is still so when something else is written there; a new label may be true."""
    cluster = Cluster.from_manifests([make.node("hdd", zone="a", labels={"disktype": "hdd"})])
    before = dict(cluster.world.log.objects)
    cluster.kubectl(command)

    assert lie == tuple(lies(before, cluster.world.log.objects))


@pytest.mark.parametrize(("more", "promise"), [
    ({"affinity": {"podAffinity": TERM}}, "no longer requires its pod affinity over kubernetes.io/hostname"),
    ({"affinity": {"podAntiAffinity": TERM}}, "no longer requires its pod anti affinity over kubernetes.io/hostname"),
    ({"affinity": required({"disk": ["ssd"]})}, "no longer requires its node affinity"),
    ({"nodeSelector": {"disk": "ssd"}}, "no longer selects nodes by disk"),
    ({"topologySpreadConstraints": [spread(app="web")]}, "no longer requires maxSkew 1 over topology.kubernetes.io/zone"),
    ({"topologySpreadConstraints": [spread(app="web", soft=True)]}, ""),
    ({"containers": [{"name": "app", "image": "app", "ports": [{"containerPort": 80, "hostPort": 80}]}]},
     "no longer listens on port 80 of its nodes: who calls it needs a Service"),
])  # fmt: skip
def test_every_demand_that_a_pod_gives_up_is_told(more, promise):
    """A pod without one of its terms, selectors, hard constraints or ports holds less; without a wish it does not."""
    before, after = (dict(Cluster.from_manifests([pod("web") | {"spec": pod("web")["spec"] | part}]).world.log.objects)
                     for part in (more, {}))  # fmt: skip

    assert ((f"Pod web {promise}",) if promise else ()) == harm(before, after, before).promises

"""Three failures that became famous, found by the explorer from a handful of objects, and their cures by exhaustion.

Nothing is pre-arranged: an administrator has made nodes, a class and volumes, a user creates claims and pods, and
everything that follows is tried. `design` are the design documents' rules, `upstream` those of Kubernetes today.
"""

import re
from functools import partial

import attrs
import manifests
import pytest
from manifests import DRIVER, HOST, LOCAL, node, pod, storage_class

import kvolsched
from kvolsched.explore import (
    Crash,
    UserAct,
    claims_and_volumes_match,
    explore,
    nodes_hold_what_they_run,
    pods_stay,
    versions_grow,
)
from kvolsched.writes import patch

ALWAYS = (versions_grow, pods_stay, nodes_hold_what_they_run)
QUICK = {"progress": False}
ALONE = {"kubelet": {"absent": True}, "statefulset-controller": {"absent": True}}

LOCAL_CLASS = storage_class("disks", LOCAL)
claim = partial(manifests.claim, storage_class="disks")


def volume(name, size, storage_class="disks", **fields):
    """Return a volume on node-1 as a provisioner creates it, before the PV controller has seen it."""
    provisioned = {"pv.kubernetes.io/provisioned-by": DRIVER}
    return manifests.volume(name, size, storage_class, {HOST: ["node-1"]}, annotations=provisioned, phase="", **fields)


def cluster(revision, prepared, created, components=()):
    """A cluster in which the administrator's objects have settled and the user has just created the rest."""
    made = kvolsched.Cluster.from_manifests(prepared, revision=revision, components={**ALONE, **dict(components)})
    made.run()
    made.apply(created)
    assert len(made.manifests().split("\n---\n")) <= 9  # 8 and the default namespace
    return made


# -- kubernetes#65131: the pod is not assumed while its volumes bind ------------------------------------------


@pytest.mark.checklist("274")
def test_65131_under_design_both_volumes_land_in_one_zone_and_a_pod_is_stuck_for_ever():
    """Two replicas that must not share a zone: both are placed by the first pass, the second refuses one for ever."""
    replicas = kvolsched.scenario("two-replicas", revision="design")
    result = explore(replicas, invariants=ALWAYS, **QUICK)

    assert result.counterexample
    zones = {zone for key, obj in result.counterexample.objects.items() if key.kind == "PersistentVolume"
             for term in obj.spec.node_affinity.required.node_selector_terms
             for demand in term.match_expressions if "zone" in demand.key for zone in demand.values}
    placed = [obj.spec.node_name for key, obj in result.counterexample.objects.items() if key.kind == "Pod"]
    assert len(zones) == 1
    assert sorted(map(bool, placed)) == [False, True]
    assert result.counterexample.cause == (
        "web-0's and web-1's nodes were chosen at steps 1 and 2 without either knowing of the other's. "
        "Had it known: scheduler judges web-1, pass 1: 1 of 2 nodes fit, it chooses node-b.")
    assert [(each.turn.actor, each.turn.cause) for each in result.counterexample.told] == [
        ("scheduling pass", "default/web-0"), ("scheduling pass", "default/web-1"), ("scheduling pass", "default/web-1")]
    assert "none of 2 nodes fits" in result.counterexample.told[-1].words

    end = result.replay(replicas)
    assert len(end.run()) == 0
    assert sum(bool(p.spec.node_name) for p in end.objects("pods")) == 1


@pytest.mark.checklist("274")
def test_65131_under_upstream_is_absent():
    """The pod is assumed with its volumes: in any order both replicas run, each in its zone; exhausted."""
    result = explore(kvolsched.scenario("two-replicas", revision="upstream"), invariants=ALWAYS, **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)
    assert {"web-0 on node-a, web-1 on node-b", "web-0 on node-b, web-1 on node-a"} == {e.words for e in result.outcomes}


def node_of(claim):
    """Return the node where a claim's volume is to come, or None."""
    return claim.metadata.annotations.get("volume.kubernetes.io/selected-node")


def one_node_for_both(objects):
    """Whether the volumes of both claims are to come on one node."""
    chosen = list(map(node_of, objects.objects("pvc")))
    return all(chosen) and len(set(chosen)) == 1


@pytest.fixture(scope="module")
def first_taken_up():
    """Today's rules and those before v1.36.2, which do not read nominations, from where the scheduler has taken up a pod.

    Both claims wait for their pods; searches begin there.
    """
    rules = kvolsched.upstream()
    unread = attrs.evolve(rules, profile=attrs.evolve(rules.profile, nominated_first=False))
    both = [kvolsched.scenario("two-replicas", revision=each) for each in (rules, unread)]
    for each in both:
        for _ in range(3):
            each.step()
    return both


def test_65131_under_upstream_needs_a_crash_and_nominations_that_nobody_reads(first_taken_up):
    """What was assumed is forgotten, what was written stays: the other replica takes the zone of the first one's volume.

    Not so if the pod's nomination, which is written before its volumes, is read again after the crash, as v1.36.2 does:
    from the crash on that was found, in every order. The search looks for both claims on one node; then the world is
    simply run to its end.
    """
    today, replicas = first_taken_up
    without = explore(replicas, until=one_node_for_both, **QUICK)
    result = explore(replicas, until=one_node_for_both, faults=[Crash("kube-scheduler")], **QUICK)

    assert (without.counterexample, without.exhausted) == (None, True)
    assert result.counterexample
    assert result.counterexample.cause.startswith("Scheduler forgot at step 7 what it had noted at step 6")
    story = "\n".join(result.counterexample.story)
    assert story.index("selects node-") < story.index("kube-scheduler crashes and restarts: what it remembered is lost") < story.rindex("selects node-")
    end = result.replay(replicas)
    end.run()
    placed = [each.spec.node_name for each in end.objects("pods")]
    assert sorted(map(bool, placed)) == [False, True]

    crash = next(number for number, line in enumerate(result.counterexample.story, 1) if "crashes" in line)
    found = []
    for each in (replicas, today):
        crashed = result.replay(each)
        crashed.back(len(result.counterexample.story) - crash)
        assert ["node-a"] == [chosen for chosen in map(node_of, crashed.objects("pvc")) if chosen]
        found.append(explore(crashed, until=one_node_for_both, **QUICK))
    assert found[0].counterexample
    assert (found[1].counterexample, found[1].exhausted) == (None, True)


@pytest.mark.long
def test_65131_under_upstream_is_absent_if_nominations_are_read(first_taken_up):
    """The cure whenever the scheduler crashes; exhausted."""
    today, _ = first_taken_up
    result = explore(today, until=one_node_for_both, faults=[Crash("kube-scheduler")], **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)


# -- kubernetes#66287: a prebound volume is seen before its claim ---------------------------------------------


def disk_given_up(objects):
    """Whether the volume is gone while the claim it was reserved for stands."""
    return "pv/disk-1" not in objects


def disk_released(objects):
    """Whether the PV controller took the claim for deleted."""
    return "pv/disk-1" not in objects or objects["pv/disk-1"].status.phase == "Released"


def one_disk(revision, *, driver=True, reread=None):
    """One pod, one claim, one disk with reclaim policy Delete, and its driver."""
    prepared = [node(), storage_class("disks", DRIVER if driver else LOCAL), volume("disk-1", "10Gi", policy="Delete")]
    dials = {"disks.example.com": {"delay": 0}} if driver else {}
    if reread is not None:
        dials["persistent-volume-binder"] = {"reread_claim_before_reclaim": reread}
    return cluster(revision, prepared, [claim("data", "5Gi"), pod("app", "data")], dials)


@pytest.mark.checklist("275")
def test_66287_a_volume_seen_before_its_claim_is_deleted():
    """With lag per kind the PV controller takes the claim for deleted, releases its volume, and the driver deletes it."""
    result = explore(one_disk("design"), lag="per kind", until=disk_given_up, **QUICK)

    assert result.counterexample
    assert result.counterexample.cause == (
        "PV controller had not seen step 2 (user applies 2 objects) when it took step 5 (PV controller sets the phase of "
        "pv/disk-1 to Released). Had it known, it would have done nothing.")
    assert any("deletes pv/disk-1" in line for line in result.counterexample.story)
    assert "data" in [key.name for key in result.counterexample.objects if key.kind == "PersistentVolumeClaim"]


@pytest.mark.checklist("275")
def test_66287_is_absent_with_lag_ordered():
    """Who sees everything in order has seen the claim before the volume that is reserved for it; exhausted."""
    result = explore(one_disk("design"), lag="ordered", until=disk_released, **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)


@pytest.mark.checklist("275")
@pytest.mark.parametrize(("revision", "reread"), [("design", True), ("upstream", None)])
def test_66287_is_absent_when_the_claim_is_read_again_before_reclaiming(revision, reread):
    """The cure, alone and as it is in Kubernetes today: with lag per kind nothing is ever released; exhausted."""
    result = explore(one_disk(revision, driver=False, reread=reread), lag="per kind", until=disk_released, **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)


@pytest.mark.long
@pytest.mark.parametrize(("revision", "reread"), [("design", True), ("upstream", None)])
def test_66287_is_absent_with_the_driver_in_the_game(revision, reread):
    """The same with a driver that would delete the volume and provision another."""
    result = explore(one_disk(revision, reread=reread), lag="per kind", until=disk_released, **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)


# -- kubernetes#73263: one of a pod's claims binds, the other cannot ------------------------------------------


def thief(name):
    """Somebody who takes a volume at any moment while it is free, or never."""
    theirs = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default", "name": "outsiders"}

    def take(objects):
        free = f"pv/{name}" in objects and objects[f"pv/{name}"].spec.claim_ref is None
        return patch(f"pv/{name}", {"spec": {"claimRef": theirs}}) if free else None

    return UserAct(f"somebody takes {name} while it is free", (take,))


# Which of the two volumes is written last: the one that can be lost after the other is bound.
LAST = {"design": "small", "upstream": "large"}


def two_claims(revision, *, prebound="", reserved=False):
    """A pod with two claims and two disks, one disk prebound; reserved: a third one in a class for outsiders."""
    wanted = {"small": "one", "large": "two"}
    prepared = [node(), LOCAL_CLASS]
    for disk, size in (("small", "10Gi"), ("large", "20Gi")):
        prepared.append(volume(disk, size, claim=wanted[disk] if prebound and disk == LAST[revision] else ""))
    if reserved:
        prepared.append(volume("apart", "20Gi", storage_class="reserved"))
    return cluster(revision, prepared, [claim("one", "8Gi"), claim("two", "15Gi"), pod("app", "one", "two")])


def all_or_nothing(objects):
    """Whether all of the pod's claims are bound, or none."""
    return len({bool(c.spec.volume_name) for key, c in objects.items() if key.kind == "PersistentVolumeClaim"}) == 1


BOTH = pytest.mark.parametrize("revision", ["design", "upstream"])


@pytest.mark.checklist("85", "276")
@BOTH
def test_73263_a_user_who_takes_a_volume_between_two_writes_leaves_a_partial_binding(revision):
    """One claim is bound, the other's volume is taken before it is written: the pod is stuck with one of two."""
    result = explore(two_claims(revision), goal=all_or_nothing, faults=[thief(LAST[revision])],
                     invariants=(*ALWAYS, claims_and_volumes_match), **QUICK)

    assert result.counterexample
    assert result.counterexample.violation == "nothing more happens, and the goal does not hold"
    bound = [obj.spec.volume_name for key, obj in result.counterexample.objects.items() if key.kind == "PersistentVolumeClaim"]
    assert sorted(map(bool, bound)) == [False, True]
    judged, taken, judged_again = result.counterexample.told
    assert ("scheduling pass", True) == (judged.turn.actor, taken.turn.words.startswith("somebody takes"))
    assert "none of 1 nodes fits" in judged_again.words
    assert re.match(r"Step 4 \(.*\) was decided before step 1[01] \(somebody takes", result.counterexample.cause)


@pytest.mark.checklist("86")
@BOTH
def test_73263_is_absent_when_the_volume_is_prebound(revision):
    """Workaround a: a volume that is prebound to its claim cannot be taken; exhausted."""
    result = explore(two_claims(revision, prebound=True), goal=all_or_nothing, faults=[thief(LAST[revision])],
                     **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)
    assert all(ending.goal_holds for ending in result.outcomes)


@pytest.mark.checklist("86")
@BOTH
def test_73263_is_absent_when_users_take_from_a_class_of_their_own(revision):
    """Workaround b: what users prebind and what the scheduler chooses from are separate classes; exhausted."""
    result = explore(two_claims(revision, reserved=True), goal=all_or_nothing, faults=[thief("apart")], **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)
    assert all(ending.goal_holds for ending in result.outcomes)


# -- and one more that the search met on the way --------------------------------------------------------------


def test_a_pod_that_is_put_back_after_its_claim_was_bound_is_not_lost():
    """S0, Bind 3: it goes back through scheduling regardless; in no order does it wait for a change that has been."""
    def small(**dials):
        prepared = [node(), LOCAL_CLASS, volume("disk-1", "10Gi")]
        return cluster("design", prepared, [claim("data", "5Gi"), pod("app", "data")], {"kube-scheduler": dials})

    for dials in ({}, {"resync": 60.0}):
        found = explore(small(**dials), **QUICK)
        assert (found.counterexample, found.exhausted) == (None, True)
        assert all(ending.goal_holds for ending in found.outcomes)


@pytest.mark.parametrize(("asked", "said"), [
    ([("1", "app"), ("1", "web")], ""),
    ([("1", "app"), ("1500m", "web")], "node n1 has 2 cpu, its pods ask for 2500m"),
    ([("100m", "app"), ("100m", "web"), ("100m", "other")], "node n1 has 2 pods, its pods ask for 3"),
])
def test_a_node_that_is_too_full_is_said_in_a_sentence(asked, said):
    """The invariant names the node, what it has and what its pods ask for, in cores as well as in places for pods."""
    pods = [pod(name, cpu=cpu, running_on="n1") for cpu, name in asked]
    c = kvolsched.Cluster.from_manifests([node("n1", cpu="2", pods="2"), *pods])

    assert said == nodes_hold_what_they_run({}, c.world.log.objects)

"""Deployments: one ReplicaSet a template, roll-outs within their limits, Recreate, scaling, history."""

import pytest
from controllers.workloads import cluster, events, most_and_least, pods, running, workload

APART = """
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"""


def sets(made):
    """Return {revision: replicas} of the ReplicaSets."""
    found = made.objects("replicasets")
    return {one.metadata.annotations["deployment.kubernetes.io/revision"]: one.spec.replicas for one in found}


def test_a_deployment_makes_a_replica_set_that_makes_pods():
    """Both bear the hash of the template; the Deployment ends available, and tells it in Kubernetes' words."""
    made = cluster(workload("Deployment", 3))
    (owned,) = made.objects("replicasets")
    (owner,) = made.objects("deployments")
    hashed = owned.metadata.labels["pod-template-hash"]
    assert f"web-{hashed}" == owned.metadata.name
    assert 3 == running(made, **{"pod-template-hash": hashed})
    assert (3, 3, 3, 3, 0) == (
        owner.status.replicas, owner.status.updated_replicas, owner.status.ready_replicas,
        owner.status.available_replicas, owner.status.unavailable_replicas,
    )
    conditions = {one["type"]: (one["status"], one["reason"]) for one in owner.status.rest["conditions"]}
    assert {
        "Available": ("True", "MinimumReplicasAvailable"), "Progressing": ("True", "NewReplicaSetAvailable"),
    } == conditions
    assert [("ScalingReplicaSet", f"Scaled up replica set web-{hashed} from 0 to 3")] == events(made, "Deployment")


@pytest.mark.parametrize(
    ("surge", "missing", "most", "least"),
    [("25%", "25%", 5, 3), (0, 1, 4, 3), (2, 0, 6, 4), ("100%", 0, 8, 4), ("50%", "50%", 6, 2), (0, 0, 4, 3)],
)
def test_a_roll_out_keeps_its_limits(surge, missing, most, least):
    """Never more pods than maxSurge allows, never fewer running than maxUnavailable does, and all are new at the end."""
    if (surge, missing) == (0, 0):
        surge, missing = "0%", "1%"  # both come out as nothing: then one may be missing
    rolling = f"strategy: {{type: RollingUpdate, rollingUpdate: {{maxSurge: {surge}, maxUnavailable: {missing}}}}}"
    made = cluster(workload("Deployment", 4, spec=rolling), nodes=3)
    made.apply(workload("Deployment", 4, "2", spec=rolling))
    made.run(seconds=100)
    assert (4, 0) == (running(made, rev="2"), len(pods(made, rev="1")))
    assert {"1": 0, "2": 4} == sets(made)
    reached = most_and_least(made)
    assert reached[0] <= most
    assert reached[1] >= least


@pytest.mark.checklist("215")
def test_two_pods_apart_on_two_nodes_block_the_third_of_a_roll_out():
    """Hard anti-affinity: the new pod fits nowhere and the old ones stay. Spreading with skew 1 lets the update through."""
    def of(rev, apart):
        return workload("Deployment", 2, rev) + apart

    spread = """
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule,
        labelSelector: {matchLabels: {app: web}}}]"""
    stuck = cluster(of("1", APART))
    stuck.apply(of("2", APART))
    stuck.run(seconds=100)
    assert (2, 0) == (running(stuck, rev="1"), running(stuck, rev="2"))
    (waiting,) = pods(stuck, rev="2")
    assert "didn't match pod anti-affinity rules" in waiting.status.condition("PodScheduled").message

    through = cluster(of("1", spread))
    through.apply(of("2", spread))
    through.run(seconds=100)
    assert (0, 2) == (running(through, rev="1"), running(through, rev="2"))
    assert 2 == len({pod.spec.node_name for pod in pods(through)} | {"node-1", "node-2"})


@pytest.mark.checklist("263")
def test_recreate_takes_all_old_pods_away_first():
    """What a roll-out cannot do with two nodes, Recreate does: no new pod is made while an old one runs."""
    recreate = "strategy: {type: Recreate}"
    made = cluster(workload("Deployment", 2, spec=recreate) + APART)
    made.apply(workload("Deployment", 2, "2", spec=recreate) + APART)
    made.run(seconds=100)
    assert (0, 2) == (running(made, rev="1"), running(made, rev="2"))
    assert (2, 0) == most_and_least(made)
    old, new = (one.metadata.name for one in sorted(made.objects("replicasets"), key=lambda one: one.spec.replicas))
    assert [
        ("ScalingReplicaSet", f"Scaled up replica set {old} from 0 to 2"),
        ("ScalingReplicaSet", f"Scaled down replica set {old} from 2 to 0"),
        ("ScalingReplicaSet", f"Scaled up replica set {new} from 0 to 2"),
    ] == sorted(events(made, "Deployment"), key=lambda said: (said[1].split()[4] == new, "down" in said[1]))


def test_scaling_sizes_the_replica_set():
    """Up and down, without a new revision."""
    made = cluster(workload("Deployment", 2))
    for size in (5, 1, 0):
        made.apply(workload("Deployment", size))
        made.run(seconds=100)
        assert {"1": size} == sets(made)
        assert size == running(made)


def test_back_to_an_old_template_is_the_old_replica_set_under_a_new_revision():
    """No third ReplicaSet is made; the history tells which revision it was."""
    made = cluster(workload("Deployment", 2))
    for rev in ("2", "1"):
        made.apply(workload("Deployment", 2, rev))
        made.run(seconds=100)
    assert {"2": 0, "3": 2} == sets(made)
    (back,) = (one for one in made.objects("replicasets") if one.spec.replicas)
    assert "1" == back.metadata.annotations["deployment.kubernetes.io/revision-history"]


def test_only_so_many_old_replica_sets_are_kept():
    """With revisionHistoryLimit 1, of three old ones the newest stays."""
    for rev in range(1, 5):
        manifest = workload("Deployment", 1, str(rev), spec="revisionHistoryLimit: 1")
        if rev == 1:
            made = cluster(manifest)
        else:
            made.apply(manifest)
            made.run(seconds=100)
    assert {"3": 0, "4": 1} == sets(made)


def test_a_paused_deployment_rolls_nothing_out():
    """It still follows its size."""
    made = cluster(workload("Deployment", 2))
    made.apply(workload("Deployment", 3, "2", spec="paused: true"))
    made.run(seconds=100)
    assert {"1": 3} == sets(made)
    assert 3 == running(made, rev="1")


def test_scaled_in_the_middle_of_a_roll_out_both_grow():
    """Ten replicas in the middle of a stuck roll-out become twenty: old and new get their share."""
    rolling = "strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 3, maxUnavailable: 2}}"
    made = cluster(workload("Deployment", 10, spec=rolling), nodes=3)
    broken = "\n      nodeSelector: {disk: none}"
    made.apply(workload("Deployment", 10, "2", spec=rolling) + broken)
    made.run(seconds=100)
    assert {"1": 8, "2": 5} == sets(made)
    made.apply(workload("Deployment", 15, "2", spec=rolling) + broken)
    made.run(seconds=100)
    assert {"1": 11, "2": 7} == sets(made)


def test_a_name_that_is_taken_is_no_obstacle():
    """Somebody else's ReplicaSet of the same name is left alone: the hash counts collisions, and the status tells them."""
    made = cluster(workload("Deployment", 1))
    (first,) = made.objects("replicasets")
    other = cluster(workload("ReplicaSet", 0, name=first.metadata.name), workload("Deployment", 1))
    assert 1 == other["deploy/web"].status.rest["collisionCount"]
    assert 1 == running(other)
    assert {0, 1} == {one.spec.replicas for one in other.objects("replicasets")}

"""The scheduling cycle in one turn or two: judge, choose, assume, and a pod that fits on no node."""

import attrs
import pytest

from kvolsched import scenario, upstream
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.cluster import Cluster
from kvolsched.world.log import Note


def fine(name, revision):
    """Return a scenario's cluster whose passes have two turns."""
    return scenario(name, revision, **{"kube-scheduler": {"fine": True}})


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.parametrize("name", ["zonal-example", "two-replicas", "local-disks"])
def test_both_gears_end_alike(name, revision):
    """A pass of two turns without another turn in between leaves the same world as a pass of one turn."""
    coarse, in_two = scenario(name, revision), fine(name, revision)
    coarse.run()
    in_two.run()
    assert not len(coarse.diff(in_two))
    assert coarse.digest() == in_two.digest()


@pytest.mark.parametrize("is_fine", [False, True])
def test_the_dial_decides_in_which_gear_a_pass_is_made(is_fine):
    """Rules whose flow has the other gear follow the dial of the scheduler."""
    rules = attrs.evolve(upstream(), flow=attrs.evolve(upstream().flow, fine=not is_fine))
    step = scenario("zonal-example", rules, **{"kube-scheduler": {"fine": is_fine}}).step("scheduling pass")
    assert 1 + is_fine == len([turn for turn in step.turns if not turn.quiet])


@pytest.mark.checklist("133")
def test_the_fine_gear_shows_a_choice_that_is_not_yet_assumed():
    """The first turn notes the choice and assumes nothing; the second turn assumes and deletes the note."""
    cluster = fine("zonal-example", "design")
    step = cluster.step("scheduling pass", turns=True)
    assert len(step.turns) == 1
    state = cluster.world.log.notes[Note("kube-scheduler", "cycle", "default/my-pod")]
    assert state.node == "node-a"
    assert [claim.metadata.name for claim in state.found.provision] == ["my-pvc"]
    cache = cluster.world.processes["kube-scheduler"].views["cache"]
    assert not cache.assumed
    assert "assumes pvc/my-pvc" in cluster.step("scheduling pass", turns=True).words
    assert [key.name for key in cache.assumed] == ["my-pvc"]
    assert Note("kube-scheduler", "cycle", "default/my-pod") not in cluster.world.log.notes


@pytest.mark.checklist("116")
@pytest.mark.parametrize(
    ("revision", "words"),
    [
        ("design", 'AssumePodVolumes failed: v1.PersistentVolumeClaim "default/my-pvc" is out of sync'),
        ("upstream", 'running Reserve plugin "VolumeBinding": "default/my-pvc" is out of sync (stored:'),
    ],
)
def test_a_change_between_choice_and_assumption(revision, words):
    """If the chosen volume has changed, the pass ends in an error, and the next one after the back-off succeeds."""
    cluster = fine("zonal-example", revision)
    cluster.step("scheduling pass", turns=True)
    cluster._edit("pvc/my-pvc", lambda old: evolve_parts(old, metadata={"labels": old.metadata.labels.with_(a="b")}))
    cluster.step("scheduling pass", turns=True)
    condition = cluster["pod/my-pod"].status.condition("PodScheduled")
    assert condition.reason == "SchedulerError"
    assert any(event.message.startswith(words) for event in cluster.objects("events"))
    cluster.run()
    assert cluster["pod/my-pod"].status.phase == "Running"


def test_a_pod_deleted_between_choice_and_assumption_leaves_nothing():
    """A pod deleted between the turns leaves no entry and no note, and nothing is written for it."""
    cluster = fine("zonal-example", "upstream")
    cluster.step("scheduling pass", turns=True)
    cluster.delete("pod/my-pod")
    cluster.run()
    notes = [note for note in cluster.world.log.notes if note.component == "kube-scheduler"]
    assert not [note for note in notes if note.sort in ("queue", "cycle", "binding", "assumed")]
    assert not cluster["pvc/my-pvc"].metadata.annotations


def test_no_nodes_at_all():
    """Without nodes the message has no numbers, and there is no preemption."""
    cluster = Cluster()
    cluster.apply("apiVersion: v1\nkind: Pod\nmetadata: {name: app}\nspec: {containers: [{name: app, image: 'app:1'}]}\n")
    step = cluster.step("scheduling pass")
    assert step.words.startswith("Scheduler judges app, pass 1: there are no nodes.")
    assert cluster["pod/app"].status.condition("PodScheduled").message == "no nodes available to schedule pods"


def test_ties_are_drawn_by_seed_and_attempt():
    """Each of several equal nodes is chosen by some seed; a seed always chooses the same node."""
    room = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": room, "capacity": room}}
        for name in ("n1", "n2", "n3")
    ]
    app = {"containers": [{"name": "app", "image": "app:1"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}, "spec": app}

    def chosen(seed):
        cluster = Cluster(seed=seed)
        cluster.apply([*nodes, pod])
        cluster.run()
        return cluster["pod/app"].spec.node_name

    assert {chosen(seed) for seed in range(20)} == {"n1", "n2", "n3"}
    assert chosen(7) == chosen(7)

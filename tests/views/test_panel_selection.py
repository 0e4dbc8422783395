"""One selection for all tabs: the pod that a selected object is about, and judging a pod that nobody has judged."""

import re

import pytest

from kvolsched import Cluster, UnknownName
from kvolsched.learn.scenario import nodes, pods, storage_class

FIRST, SECOND = "pod/pod-00000", "pod/pod-00001"


@pytest.fixture
def lab():
    """Return the panel of a cluster in which the first of two pods has been judged."""
    cluster = Cluster("design", name="two pods")
    cluster._load([storage_class("zonal"), *nodes(3), *pods(2, claims="zonal")])
    cluster.step("scheduler")
    return cluster.lab()


def words(lab, tab):
    """Return what a tab says, without its marks."""
    lab.tab = tab
    return " ".join(re.sub(r"<[^>]+>", " ", lab.host.body.replace("<wbr/>", "")).split())


@pytest.mark.parametrize("ref", [SECOND, "pvc/data-00001"])
def test_every_tab_speaks_of_the_selected_pod(lab, ref):
    """A pod that waits, or its claim, is what verdicts, capacity and story are about, not the pod judged last."""
    lab.selection = ref
    assert lab.frame.head.focus == SECOND
    assert "Judge pod-00001 now" in words(lab, "verdicts")
    assert "Where could data-00001 be made?" in words(lab, "capacity")
    assert words(lab, "story").startswith("Nothing is known") or ref in words(lab, "story")


def test_a_volume_means_the_pod_of_its_claim(lab):
    """A bound volume is about the pod whose claim has it."""
    lab.do("run")
    volume = lab.driver.cluster["pvc/data-00000"].spec.volume_name
    lab.selection = f"pv/{volume}"
    assert lab.frame.head.focus == FIRST
    assert f"Story of pv/{volume}" in words(lab, "story")


def test_a_node_leaves_the_pod_and_nothing_selected_is_the_last_judged(lab):
    """Nodes and cells are looked at for the chosen pod; Escape returns to the pod of the last pass."""
    lab.selection = SECOND
    lab.selection = "node/node-00000"
    assert lab.frame.head.focus == SECOND
    lab.do("clear")
    assert lab.frame.head.focus == FIRST
    assert "pass 1" in words(lab, "verdicts")


def test_the_selected_pod_stays_over_steps(lab):
    """Other pods are judged meanwhile; the tabs go on about the selected one, and forget it when it is gone."""
    lab.selection = FIRST
    for _ in range(3):
        lab.do("step")
    assert lab.frame.head.focus == FIRST
    lab.driver.cluster.delete(FIRST)
    lab.driver.cluster.run()
    lab.do("goto", step=lab.driver.cluster.world.known_steps)
    assert lab.frame.head.focus != FIRST


def test_a_pod_without_a_pass_is_judged_on_a_fork(lab):
    """The button judges it now: the matrix and the map show the verdicts, and the cluster is as it was."""
    cluster = lab.driver.cluster
    before = cluster.digest(), cluster.world.place
    lab.selection = SECOND
    lab.do("select", ref="judge/now")
    assert f"trial of {SECOND}, now, on a fork: 3 of 3 nodes fit" in words(lab, "verdicts")
    assert "fits" in lab.host.map
    assert before == (cluster.digest(), cluster.world.place)
    node = lab.frame.nodes[0].name
    lab.do("select", ref=f"verdict/{node}/NodeResourcesFit")
    assert lab.frame.head.focus == SECOND
    assert f"NodeResourcesFit on {node}" in words(lab, "verdicts")


def test_after_a_step_a_trial_is_over(lab):
    """What was judged now is not now any more."""
    lab.selection = SECOND
    lab.do("judge")
    lab.do("step", actor="persistentvolume claims")
    assert "trial" not in words(lab, "verdicts")


def test_an_unknown_object_cannot_be_selected(lab):
    """The sentence has the nearest names, and what was selected stays; what only a view makes is not judged."""
    lab.selection = FIRST
    with pytest.raises(UnknownName, match=r"^no pod/pod-0000O; .*did you mean pod/pod-0000[01]"):
        lab.selection = "pod/pod-0000O"
    assert lab.selection == FIRST
    lab.selection = "zone/elsewhere"
    assert lab.selection == "zone/elsewhere"

"""Another scheduler beside ours: what it did with each pod, and whether ours could have done the same."""

import pytest

from kvolsched import Cluster, make
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.manifest import from_plain
from kvolsched.api.unknown_name import UnknownName
from kvolsched.questions import other_scheduler
from kvolsched.questions.other_scheduler import ComparedPod, ComparedSchedulers, compare_schedulers

SAID = "0/1 nodes are available: 1 Insufficient cpu."


@pytest.mark.parametrize(("theirs", "ours", "why", "equal", "line"), [
    ("n1", ("n1",), "", True, "pod/p: n1; ours: n1"), ("n2", ("n1", "n2"), "", True, "pod/p: n2; ours: n1 or n2"),
    ("n3", ("n1", "n2"), "scores 5 and 7", False, "pod/p: n3; ours: n1 or n2 (scores 5 and 7)"), (SAID, (SAID,), "", True, f"pod/p: {SAID}; ours: {SAID}"),
    (f"{SAID} preemption: none.", (SAID,), "", True, f"pod/p: {SAID} preemption: none.; ours: {SAID}"), (SAID, (f"{SAID} more",), "", False, f"pod/p: {SAID}; ours: {SAID} more"),
    ("n12", ("n1",), "", False, "pod/p: n12; ours: n1"),
])  # fmt: skip
def test_one_pod_of_both(theirs, ours, why, equal, line):
    """One of several nodes is no difference, nor is what a sentence adds of preemption; names that begin alike are other nodes."""
    found = ComparedPod("pod/p", theirs, ours, why)

    assert (equal, line) == (found.is_equal, str(found))


def test_all_pods_of_another_scheduler():
    """How many, and a line for each with which ours would do otherwise."""
    same, other = ComparedPod("pod/a", "n1", ("n1",)), ComparedPod("pod/b", "n1", ("n2",), "n1 does not fit: P")

    assert ["0 pods of volcano: ours does otherwise with none.", "1 pod of volcano: ours does otherwise with none.",
            "2 pods of volcano: ours does otherwise with 1:\n  pod/b: n1; ours: n2 (n1 does not fit: P)"] == [
        repr(ComparedSchedulers("volcano", pods)) for pods in ((), (same,), (same, other))]
    assert (other,) == ComparedSchedulers("volcano", (same, other)).differing


def condition(status, message="why", kind="PodScheduled"):
    """Return a condition of a pod."""
    return {"type": kind, "status": status, "reason": "Unschedulable", "message": message}


@pytest.mark.parametrize(("old", "new", "outcome"), [
    ([], [], ""), ([], [condition("False")], "why"), ([condition("False")], [condition("False")], ""), ([condition("False")], [condition("False", "new")], "new"),
    ([], [condition("True")], ""), ([], [condition("False", kind="Ready"), condition("False", "late")], "late"), ([], [condition("False", None)], ""),
])  # fmt: skip
def test_what_came_of_a_change(old, new, outcome):
    """The node that a pod got, else the sentence of its condition PodScheduled, if that is new; nothing once it has its node."""
    before, after = (from_plain(make.pod(status={"conditions": each})) for each in (old, new))
    placed = evolve_parts(after, spec={"node_name": "n1"})

    assert [outcome, "n1", "", ""] == [other_scheduler._outcome(*pair) for pair in ((before, after), (before, placed), (placed, after), (placed, placed))]


def placed_by_others(**places):
    """Return a cluster in which somebody bound pods of the scheduler volcano to these nodes, by name, one after the other."""
    made = [make.node("n1", cpu="4"), make.node("n2", cpu="8"), make.node("n3", cpu="500m"), *(
        make.pod(name, cpu="1", schedulerName="volcano") for name in places), make.pod("mine")]
    c = Cluster.from_manifests(made)
    for name, node in places.items():
        log = c.world.log
        key = next(key for key in log.objects if key.name == name)
        log.write(key, evolve_parts(log.objects[key], spec={"node_name": node}))
    return c


def test_ours_is_asked_where_the_other_one_decided():
    """A node with the best score, one with a lower one, one that does not fit and why; pods in order, those without a decision left out."""
    c = placed_by_others(b="n1", a="n2", c="n3")
    found = compare_schedulers(c, "volcano")

    assert [("pod/a", "n2", ("n2",), ""), ("pod/c", "n3", ("n2",), "n3 does not fit: NodeResourcesFit")] == [
        (each.pod, each.theirs, each.ours, each.why) for each in found.pods if each.pod != "pod/b"]
    lower = next(each for each in found.pods if each.pod == "pod/b")
    assert ("n1", ("n2",)) == (lower.theirs, lower.ours)
    assert lower.why.startswith("scores ")
    assert [int(score) for score in lower.why.removeprefix("scores ").split(" and ")] == sorted(map(int, lower.why.removeprefix("scores ").split(" and ")))
    assert ["pod/a", "pod/b", "pod/c"] == [each.pod for each in found.pods]
    assert ["pod/b", "pod/c"] == [each.pod for each in found.differing]


def test_a_scheduler_that_no_pod_names_is_refused():
    """The error lists those that pods name."""
    with pytest.raises(UnknownName, match="no pod names the scheduler 'volcan'; there are: default-scheduler, volcano; did you mean volcano"):
        compare_schedulers(placed_by_others(a="n1"), "volcan")

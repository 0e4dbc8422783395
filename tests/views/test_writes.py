"""The writes in their order: who saw what when, and two orders beside each other."""

from pathlib import Path

import pytest

import kvolsched
from kvolsched.measure.conform import trace
from kvolsched.views.pages import writes
from kvolsched.views.pages.writes import NOT_YET, WriteRow, paired

from .pages import cells, faults, texts

TRACES = Path(__file__).parent.parent / "conformance" / "traces"
POD = """
apiVersion: v1
kind: Pod
metadata: {name: both}
spec:
  containers: [{name: app, image: app, resources: {requests: {cpu: "1"}}}]
  volumes:
  - {name: fast, persistentVolumeClaim: {claimName: fast}}
  - {name: big, persistentVolumeClaim: {claimName: big}}
"""


def begun(rules="design"):
    """Return the scenario with a disk and a volume to be made, after the pod's first pass."""
    cluster = kvolsched.scenario("disk-and-volume", rules)
    cluster.apply(POD)
    cluster.step("scheduler")
    return cluster


def drawn(figure):
    """Return the texts of a page."""
    return texts(figure.draw(828, ""))


@pytest.mark.checklist("82", "109", "121", "122")
def test_each_write_is_told_with_who_has_not_seen_it_yet():
    """After its writes the scheduler alone knows of them; once the others have acted, the step says since when."""
    cluster = begun()
    cluster.step("bind worker")
    mid = [(row.who, row.verb, row.ref, dict(row.seen)) for row in cluster.writes() if row.now]
    cluster.run()
    end = [row for row in cluster.writes() if row.place.startswith("3|")]

    assert mid == [
        ("scheduler", "update", "pv/ssd", {"PV controller": NOT_YET, "provisioner": NOT_YET, "kubelet": NOT_YET}),
        ("scheduler", "update", "pvc/big", {"PV controller": NOT_YET, "provisioner": NOT_YET, "kubelet": NOT_YET}),
        ("scheduler", "patch", "pod/both", {"kubelet": NOT_YET}),
    ]
    assert "volumeName" not in {field for row in cluster.writes() if row.who == "scheduler" for field in row.fields}
    assert all(3 < step <= cluster._last_step.number for row in end for step in row.seen.values())


def test_picture_and_words_say_the_same():
    """Every row's object stands in picture and reading; the reading ends with who has yet to see it."""
    cluster = begun()
    cluster.step("bind worker")
    figure = cluster.writes()

    assert repr(figure) == figure.reading
    assert {row.ref for row in figure} <= set(drawn(figure))
    assert figure.reading.splitlines()[2].endswith("not yet: PV controller, provisioner, kubelet")
    legend = figure.draw(828, "").rpartition("</table>")[2]
    assert ("k-flow" in legend, legend.count("</span><span")) == (True, 3)  # four meanings, each an item of its own
    assert "Nobody has written" in kvolsched.scenario("disk-and-volume").writes().reading


def test_only_what_was_written_is_told():
    """Events, notes and what was only loaded are no writes; going back takes rows away."""
    cluster = begun()
    assert [(row.who, row.verb, row.ref) for row in cluster.writes()] == [("user", "create", "pod/both")]
    cluster.back(2)
    assert len(cluster.writes()) == 0


def test_refused_writes_and_crashes_are_told():
    """A refused write says why nothing was written; a crash is a line of its own."""
    cluster = begun()
    cluster.refuse("kube-scheduler")
    cluster.step("bind worker", turns=True)
    cluster.crash("kube-scheduler")
    rows = [(row.who, row.kind, row.words) for row in cluster.writes()]

    assert [("scheduler", "refused", "refused: Conflict"), ("scheduler", "crash", "")] == rows[1:]
    assert "scheduler crashes and restarts" in drawn(cluster.writes())


def test_a_crash_between_two_writes_costs_no_write():
    """A scheduler that crashes between its two writes finds the first one done, and makes only the second."""
    for rules, before in (("design", 1), ("upstream", 2)):
        cluster = begun(rules)
        crashed = cluster.fork("crash")
        for _ in range(before):
            crashed.step("bind worker", turns=True)
        crashed.crash("kube-scheduler")
        for each in (crashed, cluster):
            each.step("scheduler")
            each.step("bind worker")
            each.run()

        assert ["crash"] == [row.kind for row in crashed.writes(cluster).alone]
        assert cluster["pod/both"].spec.node_name == crashed["pod/both"].spec.node_name == "node-2"


def test_two_rule_sets_differ_in_two_writes():
    """Beside each other: today's scheduler nominates, the document's sends the pod back; all else both write."""
    design, upstream = begun("design"), begun("upstream")
    design.run()
    upstream.run()
    figure = design.writes(upstream)

    assert ["design", "upstream"] == figure.reading.splitlines()[0].split()[:2]
    assert ["nominatedNodeName node-2", "PodScheduled False, VolumeBindingWaiting"] == [row.words for row in figure.alone]


@pytest.mark.parametrize("name", ["static-and-dynamic", "zonal-dynamic-statefulset", "prebound"])
def test_a_recorded_story_has_the_same_writes(name):
    """Every write of a pod, a claim or a volume that a real control plane was seen to make is made here too."""
    recorded = trace(TRACES / f"{name}.json")
    cluster = recorded.cluster()
    alone = cluster.writes(recorded).alone

    assert len(recorded) >= 5
    assert [] == [row.sentence for row in alone if row.ref.startswith(("pod/", "pv/", "pvc/"))]


def test_what_is_no_story_is_refused_by_name(tmp_path):
    """A file that holds something else is named, with what it holds."""
    file = tmp_path / "fit.json"
    file.write_text('{"id": "1", "family": "fit"}')
    with pytest.raises(ValueError, match=r"fit\.json: holds 0 recorded runs"):
        trace(file)


def row(ref, place="1|", fields=(), who="scheduler", verb="update"):
    """Make a row."""
    return WriteRow(place, who, "write", verb, ref, recorded_ref=ref, fields=frozenset(fields))


def test_the_same_write_stands_in_one_line_wherever_it_was_made():
    """Rows pair by author, verb, object and a field in common; what only the other has stands behind its forerunner."""
    a, b, c = row("pv/a", fields=["claimRef"]), row("pvc/b", fields=["annotation selectedNode"]), row("pod/c", fields=["nodeName"])
    x = row("pod/c", fields=["nominatedNodeName"])
    today = row("pvc/b", fields=["annotation selected-node"])
    here, there = (a, b, c), (today, x, a, c)

    assert paired(here, there) == [(a, a), (b, today), (None, x), (c, c)]
    assert paired((), there) == [(None, each) for each in there]


def test_hostile_names_are_escaped():
    """A name with markup in it is text."""
    hostile = '<img src=x onerror="alert(1)">'
    made = row(hostile, "1|0 s")
    svg = writes.draw([made], ["scheduler"], 700) + writes.beside([made], [], (hostile, "b")).draw(828, "")

    assert "<img" not in svg


def test_a_component_goes_on_where_one_of_its_actors_has_work_for_another():
    """Asked by its name, the volume controller finishes: the disk that one actor looks at is the other's claim to bind."""
    cluster = begun()
    cluster.step("bind worker")
    for _ in range(9):
        cluster.step("PV controller")

    assert ("Bound", "Pending") == tuple(cluster[f"pvc/{name}"].status.phase for name in ("fast", "big"))
    assert not cluster.step("PV controller")


def test_who_has_yet_to_act_is_shown_too():
    """A controller that has not done anything yet has a column as soon as there is something for it to see."""
    cluster = kvolsched.scenario("rolling-update", "upstream")
    cluster.step("Deployment controller")
    made = next(row for row in cluster.writes() if row.ref.startswith("rs/"))

    assert NOT_YET == made.seen["ReplicaSet controller"]
    assert "ReplicaSet controller" in drawn(cluster.writes())


def test_names_of_many_components_are_whole():
    """However many components there are, each column has its name uncut."""
    who = ["user", "StatefulSet controller", "Deployment controller", "ReplicaSet controller", "DaemonSet controller",
           "ephemeral volume controller", "PVC protection", "PV protection", "garbage collector", "scheduler", "kubelet"]
    rows = [WriteRow("1|0 s", name, "write", "update", "pod/web-0", "phase Running") for name in who]
    page = writes.draw(rows, who, 828)

    assert who == cells(page)[0][3:]
    assert [] == faults(page)


def test_two_runs_of_one_name_and_rules_are_told_apart():
    """Beside a fork of its own name a cluster is this one; what is no run is refused, with what tells of an object."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.run()
    same = cluster.fork(cluster.name)
    assert ["this", "other"] == cells(cluster.writes(same).draw(900, ""))[0][:2]
    with pytest.raises(TypeError, match=r"not of 'pod/my-pod'; an object has c\.story"):
        cluster.writes("pod/my-pod")

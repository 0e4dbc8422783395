"""Differences of two clusters: which fields a person asks for first, and which are bookkeeping."""

import pytest

from kvolsched import Cluster, make
from kvolsched.questions import differences
from kvolsched.questions.differences import importance
from kvolsched.questions.explain import changed_fields


@pytest.mark.parametrize(("rank", "path", "about"), [
    (0, "(exists)", ""), (1, "spec.nodeName", ""), (1, "spec.volumeName", ""), (1, "spec.claimRef", ""),
    (2, "status.phase", ""), (2, "status.conditions[Ready]", "node/a"),
    (3, "status.nominatedNodeName", ""), (3, "status.conditions[PodScheduled]", "pod/a"), (3, "status.conditions[PodScheduled].reason", ""),
    (4, "spec.replicas", ""), (4, "spec.unschedulable", "node/a"), (5, "status.reason", "node/a"), (5, "status.capacity", ""),
    (6, "metadata.labels", "node/a"), (6, "data.key", ""), (6, "metadata.annotations[example.com/a]", ""),
    (8, "status.conditions[Ready]", "pod/a"), (8, "status.conditions[Initialized]", "node/a"), (8, "metadata.finalizers", ""),
    (8, "metadata.annotations[pv.kubernetes.io/bind-completed]", ""), (8, "metadata.annotations[volume.kubernetes.io/storage-provisioner]", ""),
    (8, "status.startTime", ""), (8, "status.conditions[x].lastProbeTime", ""), (8, "spec.csi.volumeHandle", ""),
])  # fmt: skip
def test_what_a_person_asks_for_comes_first(rank, path, about):
    """Whether it exists, where it is, its phase, who may take it; then spec, status, others, and bookkeeping last."""
    assert rank == importance(path, about)


def test_passes_in_which_as_many_nodes_fit_are_judged_again_up_to_a_limit(monkeypatch):
    """So many passes that look alike are read again in both runs, and no more."""
    nodes = [make.node("n1", cpu="9"), make.node("n2", cpu="9", unschedulable=True)]
    clusters = [Cluster.from_manifests([*nodes, *(make.pod(f"p{number}") for number in range(5))]) for _ in range(2)]
    for each in clusters:
        each.run()
    read = []
    monkeypatch.setattr(differences, "MOST_JUDGED", 3)
    monkeypatch.setattr(differences, "read_last_pass", lambda _cluster, pod, *_: read.append(pod.name))

    assert ("", "") == differences.parting(*clusters)
    assert 2 * 3 == len(read)


@pytest.mark.parametrize("fine", [False, True])
def test_runs_part_in_the_pass_that_found_something_else(fine):
    """A pass is compared with the pass of the same number, also where each is two turns; what only one has is not compared."""
    plain = Cluster.from_manifests([make.node("n1"), make.node("n2"), make.pod("app")], components={"kube-scheduler": {"fine": fine}})
    other = plain.with_plugin(lambda _pod, node, _seen: "late" not in node.metadata.labels or "it is late", name="late")
    for each in (plain, other):
        each.refuse("kube-scheduler")
        each.run(steps=2)
        each.label("n1", "late=yes")
        each.run()
    said = "pass 2 of pod/app: under upstream n1 fits, under upstream + late late rejects it: it is late."

    assert (said, 'fits("app")') == differences.parting(plain, other)
    other.goto(4)
    assert (2, 1) == (len(plain.passes("app")), len(other.passes("app")))
    assert "pass" not in differences.parting(plain, other)[0]


@pytest.mark.parametrize(("names", "rules", "called"), [
    (("a", "b"), "design", ("a", "b")), (("a", "a"), "design", ("a, upstream", "a, design")), (("a", "a"), "upstream", ("this", "other")),
    (("", ""), "upstream", ("this", "other")), (("other", ""), "upstream", ("this", "other"))])
def test_two_clusters_are_never_called_alike(names, rules, called):
    """They go by their names; if these are the same by their rules too, else by which of them is asked."""
    one, other = (Cluster(revision, name=name) for revision, name in zip(("upstream", rules), names, strict=True))

    assert called == one.diff(other).names


def test_a_list_of_plain_values_is_one_field_and_one_with_mappings_is_not():
    """Values of a list stand together, none as []; where mappings are among them each item is a field of its own."""
    spec = {"none": [], "plain": ["a", 1], "mixed": [1, {"a": 2}], "named": [{"name": "x", "port": 80}]}

    assert [("spec.mixed[0]", "1"), ("spec.mixed[1].a", "2"), ("spec.named[x].name", "x"), ("spec.named[x].port", "80"),
            ("spec.none", "[]"), ("spec.plain", "[a, 1]")] == [(each.path, each.new) for each in changed_fields(None, {"spec": spec})]

"""Visits of volumes: the loop counts them, with every index, and the counts change nothing."""

import pytest
from documents.clusters import cluster, where
from manifests import HOST, claim, node, pod, storage_class, volume

from kvolsched import design, experiments, scenario

LOCAL = "kubernetes.io/no-provisioner"
INDEXES = ["none", "class", "node", "class and node", "columns"]


@pytest.mark.checklist("134")
def test_visits_then_and_now():
    """The controller alone visits V volumes for a claim; the predicate as written N·V for each of the pod's C claims."""
    for nodes, volumes, claims in ((4, 8, 1), (8, 8, 1), (8, 16, 1), (4, 8, 2), (4, 8, 4)):
        counted = experiments.volume_visits(nodes, volumes, claims)
        assert nodes * volumes * claims == counted["none"]
        left = sum(volumes - taken for taken in range(claims))  # a volume that is bound is no longer among the free ones
        assert left == counted.controller


@pytest.mark.checklist("135")
def test_volumes_without_affinity_are_searched_once():
    """By class, volumes without affinity are visited for the first node only; with affinity for every node, as before."""
    few, many = (experiments.volume_visits(nodes, 8, affinity=False) for nodes in (4, 40))
    assert (32, 320) == (few["none"], many["none"])
    assert 8 == few["class"] == many["class"] == many["class and node"]
    assert 320 == experiments.volume_visits(40, 8)["class"]


@pytest.mark.checklist("136")
def test_each_node_has_a_map_of_its_volumes():
    """By node, only volumes that reach the node are visited: V in all, however many nodes there are."""
    for nodes in (4, 8, 16):
        counted = experiments.volume_visits(nodes, 16)
        assert (nodes * 16, 16) == (counted["none"], counted["node"])
        assert counted["columns"] <= counted["node"]


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.checklist("136")
def test_the_map_follows_nodes_and_volumes(index):
    """After labels of nodes and volumes have changed every index finds what a walk finds, and decides the same."""
    made = [node(f"n{n}") for n in range(4)]
    made += [volume(f"d{n}", "10Gi", "late", {HOST: [f"n{n}"]}) for n in (0, 1)]
    c = cluster(*made, storage_class(provisioner=LOCAL), claim("one"), claim("two"),
                revision=design().with_volume_index(index))
    c.run()
    c.delete("pv/d0")
    c.label("node/n1", {HOST: "elsewhere"}, overwrite=True)
    c.apply(volume("d3", "10Gi", "late", {HOST: ["n3"]}), pod("one", "one"))
    c.run("pod/one Running", seconds=60)
    assert (["n3"], "d3", "1 of 4 nodes fit") == (where(c, "one"), c["pvc/one"].spec.volume_name, c.passes("one")[0].fit)
    c.apply(pod("two", "two"))
    c.run(seconds=30)
    assert [""] == where(c, "two")
    c.label("node/n2", {HOST: "n1"}, overwrite=True)
    c.run("pod/two Running", seconds=60)
    assert (["n2"], "d1") == (where(c, "two"), c["pvc/two"].spec.volume_name)


@pytest.mark.parametrize("revision", ["design", "draft", "upstream"])
@pytest.mark.checklist("5")
def test_a_pod_without_claims_visits_no_volume(revision):
    """No regression for pods without volumes: no volume is visited for them, whatever the index (S0, Goals)."""
    from kvolsched.rules.named import revision_named

    for index in INDEXES:
        c = cluster(node("n1"), *(volume(f"d{n}", "10Gi", "late") for n in range(5)), storage_class(), pod("app"),
                    revision=revision_named(revision).with_volume_index(index))
        c.run("pod/app Running", seconds=30)
        assert 0 == c.visits().of("pod/app") == c.visits().total
        assert 0 == c.passes("app")[0].visits


@pytest.mark.checklist("5")
def test_pods_without_topology_are_placed_as_fast_with_the_feature_as_without():
    """A pod without a volume, and one whose volume has no topology: same passes, times, nodes and visits, gates on or off."""
    told = []
    for on in (True, False):
        gates = {process: {"VolumeScheduling": on} for process in ("kube-scheduler", "kube-controller-manager", "kubelet")}
        c = cluster(*(node(f"n{n}") for n in range(3)), storage_class("now", waits=False), volume("plain", "10Gi", "now"),
                    claim("data", storage_class="now"), *(volume(f"d{n}", "10Gi", "late", zone="z") for n in range(5)),
                    revision=design().with_gates(gates))
        c.run()
        c.apply(pod("bare"), pod("app", "data"))
        c.run()
        told.append([[(row.time, row.fit, row.node, row.visits) for row in c.passes(name)] for name in ("bare", "app")])
    assert told[0] == told[1]
    assert [[0], [0]] == [[visits for *_, visits in rows] for rows in told[0]]


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_changes_no_decision(index):
    """The same scenario with any index ends in the same cluster: same nodes, volumes, steps, words."""
    ends = []
    for rules in (design(), design().with_volume_index(index)):
        c = scenario("local-disks", rules)
        c.run()
        ends.append((c.digest(), len(c.run()), [row.words for pod in c.objects("pods") for row in
                                                c.story(f"pod/{pod.metadata.name}")]))
    assert ends[0] == ends[1]


@pytest.mark.checklist("105", "111", "133")
def test_what_was_found_is_not_looked_for_again():
    """Priority and assume read what the predicate found in this pass; the next pass begins with nothing."""
    c = cluster(node("n1"), node("n2"), storage_class(provisioner=LOCAL), volume("d1", "10Gi", "late", {HOST: ["n1"]}),
                volume("d2", "20Gi", "late", {HOST: ["n2"]}), claim("data", "10Gi"), pod("app", "data"),
                revision=design().with_volume_index("none"))
    c.run("pod/app Running", seconds=60)
    assert (["n1"], "d1") == (where(c, "app"), c["pvc/data"].spec.volume_name)
    first, second = c.passes("app")
    assert (4, 0) == (first.visits, second.visits)  # 2 nodes, 2 volumes: none for the score, none to assume
    again = cluster(node("n1"), node("n2"), storage_class(provisioner=LOCAL), volume("d1", "1Gi", "late"),
                    claim("data", "10Gi"), pod("app", "data"), revision=design().with_volume_index("none"))
    again.run(seconds=30)
    again.apply(volume("d2", "1Gi", "late"))
    again.run(seconds=60)
    assert [2, 4] == [row.visits for row in again.passes("app")][:2]


def test_visits_are_silent_and_go_back():
    """Counts are no part of the digest, and going back takes the rows of later steps away."""
    digests = []
    for index in ("none", "columns"):
        c = scenario("local-disks", design().with_volume_index(index))
        c.step("scheduler")
        digests.append(c.digest())
    assert digests[0] == digests[1]
    counted = c.visits()
    c.run()
    assert len(c.visits()) > len(counted)
    c.goto(1)
    assert list(counted) == list(c.visits())


def test_visits_in_words():
    """The text has the rules, the sum, and a line for each turn; a sum by component or by pod or claim."""
    c = scenario("local-disks", design().with_volume_index("none"))
    c.run()
    lines = repr(c.visits()).splitlines()
    assert f"visits of volumes, rules design (volume index: none): {c.visits().total}" == lines[0]
    assert len(c.visits()) == len(lines) - 1
    assert c.visits().total == c.visits().of("scheduler") + c.visits().of("PV controller") > 0
    assert c.visits().of("scheduler") == sum(row.volumes for row in c.visits() if row.subject.startswith("pod/"))
    assert 0 < c.visits().of("pvc/data") == c.visits().of("PV controller")
    text = repr(experiments.volume_visits(4, 8)).splitlines()
    assert ["Visits of volumes: 4 nodes, 8 volumes, one pod with 1 claims", "PV controller alone             8"] == text[:2]
    with pytest.raises(KeyError, match="no index 'rows'; there are: none, class, node"):
        experiments.volume_visits(1, 1)["rows"]
    with pytest.raises(ValueError, match="no volume index 'rows'; there are: none, class, node, class and node, columns"):
        design().with_volume_index("rows")

"""The first sentence of `why` names the cause: clusters that people posted, incidents, scenarios and dumps."""

from pathlib import Path

import pytest
from waiting_pods import cluster_of, waiting_pod

from kvolsched import Cluster, make, rescue

HERE = Path(__file__).parent
ROWS = [line.split("\t") for line in (HERE / "causes.tsv").read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(("name", "pod", "cause", "kinds", "named"), ROWS, ids=[f"{row[0]}-{row[1]}" for row in ROWS])
def test_the_first_sentence_names_the_cause(name, pod, cause, kinds, named):
    """What is wrong is of the expected kinds, and the sentence has the objects and numbers; the headline is the same."""
    cluster = cluster_of(name)
    answer = cluster.why(waiting_pod(cluster, pod))

    assert kinds.split("+") == [kind for finding in answer.findings for kind in finding.kinds], cause
    assert [] == [words for words in named.split("|") if words not in answer.title], cause
    printed = repr(answer).partition("\n\n")[0].replace("\n", " ")
    assert f"{answer.pod}: {answer.headline}" == answer.title == printed


def test_nodes_that_differ_are_told_apart_and_the_rest_is_counted():
    """Of four different lacks three are told, a state of a node first, and how it would take the pod."""
    kept = [make.node(f"n{number}", taints=[f"team-{number}"]) for number in range(3)]
    cluster = Cluster.from_manifests([*kept, make.node("n3", unschedulable=True), make.pod("web")])
    headline = cluster.why("web").headline

    assert headline.startswith("n3 is cordoned; n0 is kept for others (team-0=x); n1 is kept for others (team-1=x); 1 node")
    assert headline.endswith("once the cordon is lifted, n3 takes the pod")


@pytest.mark.parametrize(("small", "told"), [("", "a"), ("a", "b"), ("ab", "c"), ("bc", "a"), ("abcd", "a")])
def test_the_example_is_the_nearest_node_and_of_equals_the_first_by_name(small, told):
    """Of nodes that are kept for different teams that one is told which lacks nothing else, in whatever order they came."""
    def node(name):
        return make.node(name, cpu="1" if name in small else "4", taints=[f"team={name}:NoSchedule"])

    cluster = Cluster.from_manifests([node("c"), make.pod("web", cpu="3")])
    for name in "bda":
        cluster.apply(node(name))

    assert f"{told} is kept for others (team={told}), and the other 3 nodes alike" in cluster.why("web").headline


@pytest.mark.parametrize(("largest", "told"), [("bc", "b"), ("abc", "a"), ("c", "c"), ("ac", "a")])
def test_of_nodes_that_are_equally_large_the_first_by_name_is_told(largest, told):
    """A request that no node could meet is compared with the largest, of equals the first by name."""
    cluster = Cluster.from_manifests([make.node("c", cpu="2"), make.pod("web", cpu="3")])
    for name in "bda":
        cluster.apply(make.node(name, cpu="2" if name in largest else "1"))

    assert f"the pod asks for 3 cpu, and the largest node, {told}, has 2" == cluster.why("web").headline


def test_a_state_that_is_not_all_that_a_node_lacks_is_no_way_in():
    """A cordoned node without room would not take the pod once it is uncordoned, and is told as full."""
    full = make.node("n0", unschedulable=True, cpu="1")
    cluster = Cluster.from_manifests([full, make.node("n1", cpu="1"), make.node("n2", taints=["gpu"]), make.pod("web", cpu="2")])
    answer = cluster.why("web")

    assert "takes the pod" not in answer.headline
    assert ["request", "taint"] == sorted(kind for finding in answer.findings for kind in finding.kinds)


def test_two_states_of_one_node_are_no_way_in_by_one_of_them():
    """A node that is cordoned and does not report would not take the pod once it is uncordoned."""
    lost = make.node("n0", unschedulable=True, taints=["node.kubernetes.io/unreachable"])
    headline = Cluster.from_manifests([lost, make.node("n1", cpu="1"), make.pod("web", cpu="2")]).why("web").headline

    assert "n1 lacks 1 cpu" in headline
    assert "takes the pod" not in headline


@pytest.mark.parametrize(("shelves", "ending"), [
    (("", ""), "needs the label example.com/shelf=r1, and no node has it"),
    (("", "r1"), "needs the label topology.kubernetes.io/zone=a and the label example.com/shelf=r1, and no node has both"),
])  # fmt: skip
def test_a_label_that_no_node_has_beside_the_zone_of_a_volume_is_named(shelves, ending):
    """Nodes of its zone are there: what keeps them from the volume is a second label, or that no node has both."""
    nodes = [make.node(f"n-{zone}", zone, labels={"example.com/shelf": shelf} if shelf else {})
             for zone, shelf in zip("ab", shelves, strict=True)]
    place = {"topology.kubernetes.io/zone": ["a"], "example.com/shelf": ["r1"]}
    disk, claim = make.volume("disk", "10Gi", "late", place, bound="data"), make.claim("data", bound="disk")
    cluster = Cluster.from_manifests([*nodes, disk, claim, make.pod("db", "data")])

    assert cluster.why("db").headline == f"the volume of claim data {ending}"


def provisioned(mode, name, **components):
    """Give a cluster with a pod whose claim some provisioner serves."""
    late = make.storage_class("late", provisioner=name, waits=mode == "waits")
    return Cluster.from_manifests([make.node("n0", "zone-a"), late, make.claim("data"), make.pod("web", "data")],
                                  components=components)  # fmt: skip


@pytest.mark.parametrize("mode", ["waits", "at once"])
def test_a_provisioner_that_does_not_run_is_the_cause(mode):
    """Whether its class waits for a pod or not, the claim waits for a provisioner that is not there."""
    cluster = provisioned(mode, "rancher.io/local-path", **{"rancher.io/local-path": {"running": False}})
    cluster.run()

    assert "nobody provisions rancher.io/local-path for claim data" == cluster.why("web").headline


def test_of_a_provisioner_that_runs_nobody_says_that_it_lacks():
    """Until its volume is there, a pod waits for a provisioner that is at work."""
    cluster, said = provisioned("waits", "pd.csi"), []
    while cluster.step():
        said.append(cluster.why("web").headline)

    assert any("waits for its volumes" in words for words in said)
    assert not any("nobody provisions" in words for words in said)


def test_a_demand_of_a_sick_node_blames_the_node():
    """A taint that tells of a node's state is said of the node; one that keeps it for others, of the pod."""
    sick, kept = (make.node(f"n{number}", taints=[key]) for number, key in enumerate(
        ("node.kubernetes.io/disk-pressure", "gpu")))  # fmt: skip
    answer = Cluster.from_manifests([sick, kept, make.pod("web")]).why("web")

    assert {"The node is short of disk", "Taint gpu is not tolerated"} == {demand.title for demand in answer.demands}


def test_a_label_key_of_old_is_told_with_todays():
    """A selector by a key that no node has any more names the key that nodes have."""
    old = {"failure-domain.beta.kubernetes.io/zone": "zone-a"}
    cluster = Cluster.from_manifests([make.node("n0", "zone-a"), make.pod("web", nodeSelector=old)])

    assert cluster.why("web").headline.endswith("and no node has that label; nodes have topology.kubernetes.io/zone")


def test_no_fact_is_told_three_times():
    """Of a single demand the sentence and the nodes tell; the only holder and a claim's user, whom it names, once."""
    lost, short, used = (repr(cluster_of(f"own/{name}").why(waiting_pod(cluster_of(f"own/{name}"), pod))) for name, pod in (
        ("01-unreachable-only-node", "keeper"), ("extra-pdb", "api"), ("52-one-pod-at-a-time", "db")))  # fmt: skip

    assert "excludes every node" not in lost
    assert "taint node.kubernetes.io/unreachable:NoSchedule" in lost
    assert 1 == short.count("db-a")
    assert "requests.cpu 1 > allocatable 4 − requested 3500m = 500m" in short
    assert 1 == used.count("db-6769599d55-ft2cj")


def test_what_controllers_made_is_not_said_to_be_missing():
    """A dump without pods lacks none once its Deployment's controller has made them."""
    cluster = cluster_of("own/52-one-pod-at-a-time")
    absent = {one.about for one in cluster.why(waiting_pod(cluster, "db")).missing}

    assert "poddisruptionbudgets" in absent
    assert absent.isdisjoint({"pods", "replicasets"})


def test_who_holds_what_no_node_has_enough_of_is_not_told():
    """Where the largest node is too small, nobody need leave."""
    cluster = Cluster.from_manifests([make.node("n0", cpu="4"), make.pod("other", cpu="1", node="n0"), make.pod("web", cpu="8")])

    assert () == cluster.why("web").holdings


def test_nodes_without_room_name_what_is_short_and_who_has_most():
    """Where another node would take the pod, those that are full are told together, with the most that one has left."""
    full = [make.node("n1", cpu="1"), make.node("n2", cpu="2")]
    cluster = Cluster.from_manifests([*full, make.node("n3", unschedulable=True), make.pod("web", cpu="4")])

    assert "n1 and n2 lack cpu (n2 has most left, 2 of the 4 asked for)" in cluster.why("web").headline


def test_a_claim_that_is_being_deleted_is_told_as_such():
    """A pod whose bound claim is on its way out waits for a new one, and for nothing that the class would do."""
    c = rescue().cluster.fork()
    c.kubectl("""patch pvc data-db-0 --type merge -p '{"metadata": {"finalizers": ["example.com/kept"]}}'""")
    c.kubectl("delete pvc data-db-0 --wait=false")
    c.run(seconds=5)

    assert c.why("db-0").headline.startswith("claim data-db-0 is being deleted")

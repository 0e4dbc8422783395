"""The first sentence of `why` names the cause: clusters that people posted, incidents, scenarios and dumps."""

from pathlib import Path

import pytest
from waiting_pods import cluster_of, waiting_pod

from kvolsched import Cluster, make, rescue

HERE = Path(__file__).parent
N, P, C, V, Z = make.node, make.pod, make.claim, make.volume, make.ZONE
WITH_GPU = N("g", taints=["nvidia.com/gpu"]) | {"status": {"allocatable": {"cpu": "4", "nvidia.com/gpu": "1", "pods": "10"}}}
PUBLISHES, LATE, LOCAL = make.csi_driver(tracks=None, storageCapacity=True), make.storage_class(), make.storage_class("local", "kubernetes.io/no-provisioner")
BOUND, APP = C(bound="disk"), P("app", "data")
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


def room(size, zone):
    """Return what a driver publishes of its room for the class late in a zone."""
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": f"in-{zone}", "namespace": "csi"},
            "storageClassName": "late", "capacity": size, "nodeTopology": {"matchLabels": {Z: zone}}}  # fmt: skip


def disk(*terms, **fields):
    """Return the volume of the claim data."""
    return V("disk", "10Gi", "late", *terms, bound="data", **fields)


@pytest.mark.parametrize(("objects", "kinds", "headline"), [
    ([N("n1", "b"), APP, BOUND, disk(zone="a")],
     "volume", "the volume of claim data is in zone a, and no node is there"),
    ([N("n1", "eu-1b"), APP, BOUND, disk({Z: ["eu-1a", "eu-1c"]})],
     "volume", "the volume of claim data is in eu-1a or eu-1c, and no node is there"),
    ([N("n1", "a", cpu="1"), N("n2", "b"), P("app", "data", cpu="2"), BOUND, disk(zone="a")],
     "volume+request", "the volume of claim data is in zone a, whose only node n1 lacks 1 cpu (1 of 1 left)"),
    ([N("n1", "a", cpu="1"), N("n3", "a", cpu="1"), N("n2", "b"), P("app", "data", cpu="2"), BOUND, disk(zone="a")],
     "volume+request", "the volume of claim data is in zone a: n1 and n3 lack cpu (each has 1 of the 2 asked for)"),
    ([N("n1", cpu="1"), N("n2"), P("app", "data", cpu="2"), BOUND, disk({make.HOST: ["n1"]})],
     "volume+request", "the volume of claim data is on n1, which lacks 1 cpu (1 of 1 left)"),
    ([N("n1", cpu="1"), N("n3", cpu="1"), N("n2"), P("app", "data", cpu="2"), BOUND, disk({make.HOST: ["n1", "n3"]})],
     "volume+request", "the volume of claim data is on n1 or n3: n1 and n3 lack cpu (each has 1 of the 2 asked for)"),
    ([N("n2"), APP, BOUND, disk({make.HOST: ["n1"]})],
     "gone node", "the data of claim data is on the disk of n1, and n1 is gone (no such node)"),
    ([N("n2"), APP, BOUND, disk({make.HOST: ["n1", "n9"]})],
     "gone node", "the data of claim data is on the disk of n1 or n9, and n1 and n9 are gone (no such node)"),
    ([N("n1", cpu="1"), N("n2"), P("app", "data", cpu="2"), BOUND, disk({make.HOST: ["n1", "n9"]})],
     "gone node+request", "the data of claim data is on the disk of n1 or n9, whose only node n1 lacks 1 cpu (1 of 1 left)"),
    ([N("n1"), APP, BOUND, disk({"shelf": ["r1"]})],
     "volume", "the volume of claim data is where shelf In [r1], and no node is there"),
    ([N("n1", "a", labels={"x": "1"}), N("n2", "a", labels={"y": "1"}), APP, BOUND, disk({Z: ["a"], "x": ["1"], "y": ["1"]})],
     "volume", "the volume of claim data needs the label topology.kubernetes.io/zone=a, the label x=1 and the label y=1, and no node has all"),
    ([N("n1", "b"), APP, BOUND, V("disk", "10Gi", "late", bound="data", labels={Z: "a"})],
     "volume", "the volume of claim data is in zone a, and no node is there"),
    ([N("n1", "b"), APP, BOUND, V("disk", "10Gi", "late", bound="data", labels={Z: "a__c"})],
     "volume", "the volume of claim data is in zone a or c, and no node is there"),
    ([N("n1", "b"), APP, C(), make.storage_class(allowed=[{Z: ["a", "c"]}])],
     "class", "class late of claim data allows only topology.kubernetes.io/zone=a or c, and no node is there"),
    ([N("n1", "b"), APP, C(), make.storage_class(allowed=[{"rack": ["a"]}, {"rack": ["b"]}])],
     "class", "class late of claim data allows only rack=a or rack=b, and no node has that label"),
    ([N("n1", "a", cpu="1"), N("n2", "b"), P("app", "data", cpu="2"), C(), make.storage_class(allowed=[{Z: ["a"]}])],
     "class+request", "class late of claim data allows only topology.kubernetes.io/zone=a, whose only node n1 lacks 1 cpu (1 of 1 left)"),
    ([N("n1", cpu="1"), N("n2"), P("app", "data", cpu="2"), C(selected_node="n1"), LATE],
     "selected node+request", "the scheduler selected n1 for claim data, which lacks 1 cpu (1 of 1 left)"),
    ([N("n2"), P("app", "data"), C(selected_node="n1"), LATE],
     "selected node", "the scheduler selected n1, which is gone, for claim data"),
    ([N("n1", labels={"disk": "hdd"}), P("app", nodeSelector={"disk": "ssd"})],
     "selector", "the pod selects disk=ssd, and no node has it; nodes have hdd"),
    ([N("n1", labels={"disk": "fasd"}), N("n2", labels={"disk": "fasd"}), N("n3", labels={"disk": "slow"}), P("app", nodeSelector={"disk": "fast"})],
     "selector", "the pod selects disk=fast, and no node has it; n1 and n2 have fasd"),
    ([N("n1", labels={"disks": "a"}), P("app", nodeSelector={"disk": "ssd"})],
     "selector", "the pod selects disk=ssd, and no node has that label; nodes have disks"),
    ([*(N(f"n{i}", labels={"disk": v}) for i, v in enumerate("abcde")), P("app", nodeSelector={"disk": "ssd"})],
     "selector", "the pod selects disk=ssd, and no node has it; nodes have a, b, c and 2 more"),
    ([N("n1", cpu="1"), N("n2"), P("app", cpu="2", nodeSelector={make.HOST: "n1"})],
     "selector+request", "the pod selects kubernetes.io/hostname=n1, which lacks 1 cpu (1 of 1 left)"),
    ([N("n1", "a"), P("app", affinity=make.required({Z: ["b", "c"]}))],
     "selector", "the pod requires topology.kubernetes.io/zone=b or c, and no node has it; nodes have a"),
    ([N("n1", "a"), P("app", affinity=make.required({Z: ["b"], "disk": ["x"]}))],
     "selector", "the pod requires topology.kubernetes.io/zone=b, and no node has it; nodes have a"),
    ([N("n1", "a"), N("n2", "b"), P("app", "data", nodeSelector={Z: "b"}), BOUND, disk(zone="a")],
     "selector+volume", "the pod selects topology.kubernetes.io/zone=b and the volume of claim data is in zone a: no node meets both"),
    ([N("n1", cpu="2"), P("app", cpu="3")],
     "request", "the pod asks for 3 cpu, and the only node, n1, has 2"),
    ([N("n1", cpu="2"), N("n2", cpu="1"), P("app", cpu="200")],
     "request", "the pod asks for 200 cpu, and the largest node, n1, has 2; 200m meant?"),
    ([N("n1", cpu="2"), N("n2", cpu="2"), P("app", cpu="3")],
     "request", "the pod asks for 3 cpu, and each node has 2"),
    ([N("n1", memory="1Gi"), P("app", requests={"memory": "500Gi"})],
     "request", "the pod asks for 500Gi memory, and the only node, n1, has 1Gi; 500Mi meant?"),
    ([N("n1"), N("n2"), P("a", node_name="n1", cpu="3"), P("b", node_name="n2", cpu="2"), P("app", cpu="3")],
     "request", "the pod asks for 3 cpu; n2 has most left, 2 of 4, pod default/b holds 2"),
    ([N("n1"), N("n2"), P("a", node_name="n1", cpu="3"), P("b", node_name="n2", cpu="3"), P("app", cpu="3")],
     "request", "the pod asks for 3 cpu; n1 and n2 have most left, 1 of 4 each"),
    ([N("n1"), P("a", node_name="n1", cpu="3"), P("app", cpu="3")],
     "request", "the pod asks for 3 cpu; n1, the only node, has 1 of 4 left, pod default/a holds 3"),
    ([N("n1", labels={"accelerator": "nvidia"}), P("app", requests={"nvidia.com/gpu": "1"})],
     "request", "the pod asks for 1 nvidia.com/gpu, and no node has any, not even n1, labelled accelerator=nvidia"),
    ([N("n1"), P("app", requests={"nvidia.com/gpu": "1"})],
     "request", "the pod asks for 1 nvidia.com/gpu, and no node has any"),
    ([N("n1", pods="0"), P("app")],
     "request", "n1, the only node, has 0 of 0 pods already"),
    ([N("n1", taints=["team"]), P("app")],
     "taint", "n1, the only node, is kept for others (team=x)"),
    ([N("n1", taints=["team"]), N("n2", taints=["team"]), P("app")],
     "taint", "both nodes, n1 and n2, are kept for others (team=x)"),
    ([*(N(f"n{i}", taints=["team"]) for i in range(4)), P("app")],
     "taint", "all 4 nodes are kept for others (team=x)"),
    ([N("n1", unschedulable=True), P("app")],
     "cordon", "n1, the only node, is cordoned: the pod waits until the cordon is lifted"),
    ([N("n1", unschedulable=True), N("n2", unschedulable=True), P("app")],
     "cordon", "both nodes, n1 and n2, are cordoned: the pod waits until the cordon is lifted"),
    ([N("n1", unschedulable=True), N("n2", cpu="1"), P("app", cpu="2")],
     "cordon+request", "n1 is cordoned; n2 lacks 1 cpu (1 of 1 left); once the cordon is lifted, n1 takes the pod"),
    ([N("n1", unschedulable=True), *(N(f"m{i}", cpu="1") for i in range(4)), P("app", cpu="2")],
     "cordon+request", "n1 is cordoned; 4 nodes (m0 and others) lack cpu (m0 has most left, 1 of the 2 asked for); once the cordon is lifted, n1 takes the pod"),
    ([N("n1", "a"), N("n2", "b"), APP, C(), LATE, PUBLISHES, room("5Gi", "a"), room("3Gi", "b")],
     "capacity", "class late has 5Gi at most, on n1; claim data asks for 10Gi"),
    ([N("n1", "a"), N("n2", "a"), APP, C(), LATE, PUBLISHES, room("5Gi", "a")],
     "capacity", "class late has 5Gi at most, on n1 and n2; claim data asks for 10Gi"),
    ([N("n1", "a"), APP, C(), LATE, PUBLISHES],
     "capacity", "disks.example.com publishes no capacity for class late; claim data asks for 10Gi"),
    ([N("n1"), APP, C(storage_class="local"), LOCAL],
     "no volume", "there is no volume of class local, and nothing provisions one for claim data (10Gi)"),
    ([N("n1"), N("n2"), P("app", "a", "b"), C("a", storage_class="local"), C("b", storage_class="local"), LOCAL, make.disk("d1", "n1")],
     "claim+claim", "n2 has no free volume for claim a; n1 has no free volume for claim b"),
    ([N("n1", "a"), P("app", affinity=make.together(app="web"))],
     "affinity", "no pods with app=web run, which the pod needs in its zone"),
    ([N("n1", "a"), P("w", node_name="n1", labels={"app": "wed"}), P("app", affinity=make.together(app="web"))],
     "affinity", "no pods with app=web run, which the pod needs in its zone; some have app=wed"),
    ([N("n1", "a"), P("app", labels={"app": "webs"}, affinity=make.together(app="web"))],
     "affinity", "no pods with app=web run, which the pod needs in its zone; the pod itself has app=webs"),
    ([N("n1", "a"), P("w", namespace="shop", node_name="n1", labels={"app": "web"}), P("app", affinity=make.together(app="web"))],
     "affinity", "no pods with app=web run, which the pod needs in its zone; there are some in namespace shop, but the term is about default"),
    ([N("n1"), P("w", node_name="n1", labels={"app": "web"}), P("app", affinity=make.together("rack", app="web"))],
     "affinity", "the topologyKey of the pod's podAffinity is rack, and no node has that label"),
    ([N("n1", "a"), P("w", node_name="n1", labels={"app": "web"}), P("app", affinity=make.apart(app="web"))],
     "anti-affinity", "n1, the only node, has pods with app=web already, which the pod avoids on its host"),
    ([N("n1"), P("app", labels={"app": "web"}, topologySpreadConstraints=[make.spread("rack", app="web")])],
     "spread", "the topologyKey of the pod's spread is rack, and no node has that label"),
    ([N("a1", "a"), N("b1", "b", cpu="1"), P("w", node_name="a1", labels={"app": "web"}), P("app", cpu="2", labels={"app": "web"}, topologySpreadConstraints=[make.spread(app="web")])],
     "request+spread", "b1 lacks 1 cpu (1 of 1 left); its zone, with 0 pods, keeps zone a (1) from taking a second: maxSkew 1"),
    ([N("a1", "a"), N("c1", "c"), N("b1", "b", cpu="1"), *(P(f"w{i}", node_name=i + "1", labels={"app": "web"}) for i in "ac"), P("app", cpu="2", labels={"app": "web"}, topologySpreadConstraints=[make.spread(app="web")])],
     "request+spread", "b1 lacks 1 cpu (1 of 1 left); its zone, with 0 pods, keeps zones a and c (1 each) from taking a second: maxSkew 1"),
    ([N("a1", "a"), N("b1", "b", unschedulable=True), P("w", node_name="a1", labels={"app": "web"}), P("app", labels={"app": "web"}, topologySpreadConstraints=[make.spread(make.HOST, app="web")])],
     "cordon+spread", "b1 is cordoned; its host, with 0 pods, keeps host a1 (1) from taking a second: maxSkew 1"),
    ([N("a1", "a"), P("w", node_name="a1", labels={"app": "web"}), P("app", labels={"app": "web"}, topologySpreadConstraints=[{**make.spread(app="web"), "minDomains": 2}])],
     "spread", "minDomains asks for 2 zones and there are 1, so the emptiest counts as 0: zone a has 1 pod with app=web already, maxSkew 1"),
    ([N("n0", cpu="1"), N("n1", taints=["a"]), N("n2", taints=["b"]), N("n3", taints=["c"]), N("n4", taints=["d"]), P("app", cpu="2")],
     "taint+taint+taint", "n1 is kept for others (a=x); n2 is kept for others (b=x); n3 is kept for others (c=x); 2 nodes more lack something else"),
    ([N("n1"), make.csi_node("n1", 1), LATE, BOUND, V(bound="data"), C("c2", bound="d2"), V("d2", bound="c2"), P("user", "c2", node_name="n1"), APP],
     "volume limit", "n1, the only node, has 1 of 1 volumes of disks.example.com attached, and the pod needs 1 more; pod default/user has them"),
    ([N("n1"), N("n2"), APP, BOUND, V("disk", "10Gi", "late", bound="data", nodeAffinity={"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": Z, "operator": "Exists"}, {"key": "x", "operator": "Exists"}]}]}})],
     "volume", "the volume of claim data needs topology.kubernetes.io/zone Exists and x Exists, and no node has both"),
    ([N("a", unschedulable=True), N("b", taints=["node.kubernetes.io/unreachable"]), N("c", cpu="1"), P("app", cpu="2")],
     "cordon+taint+request", "a is cordoned; b does not report (Ready Unknown); c lacks 1 cpu (1 of 1 left); once the cordon is lifted, a takes the pod"),
    ([*(N(i + "1", i) for i in "abcd"), N("e1", "e", cpu="1"), *(P(f"w{i}", node_name=i + "1", labels={"app": "web"}) for i in "abcd"), P("app", cpu="2", labels={"app": "web"}, topologySpreadConstraints=[make.spread(app="web")])],
     "request+spread", "e1 lacks 1 cpu (1 of 1 left); its zone, with 0 pods, keeps 4 zones (a and others) from taking a second: maxSkew 1"),
    ([N("a1", "a"), N("b1"), N("c1", "c", cpu="1"), P("w", node_name="a1", labels={"app": "web"}), P("app", cpu="2", labels={"app": "web"}, topologySpreadConstraints=[make.spread(app="web")])],
     "request+spread", "c1 lacks 1 cpu (1 of 1 left); its zone, with 0 pods, keeps zone a (1) from taking a second: maxSkew 1"),
    ([N("n1", "a"), *(P("w", namespace=s, node_name="n1", labels={"app": "web"}) for s in ("shop", "apart")), P("app", affinity=make.together(app="web"))],
     "affinity", "no pods with app=web run, which the pod needs in its zone; there are some in namespaces apart and shop, but the term is about default"),
    ([WITH_GPU, N("n"), P("app", requests={"nvidia.com/gpu": "1"})],
     "taint+request", "g has nvidia.com/gpu, but the pod does not tolerate its taint nvidia.com/gpu=x:NoSchedule; n has no nvidia.com/gpu"),
])  # fmt: skip
def test_each_cause_is_one_sentence(objects, kinds, headline):
    """Where the pod must be and what lacks there, what no node has, what a state of a node would change, and what is nearly right."""
    answer = Cluster.from_manifests(objects).why("app")

    assert (kinds, headline) == ("+".join(kind for finding in answer.findings for kind in finding.kinds), answer.headline)

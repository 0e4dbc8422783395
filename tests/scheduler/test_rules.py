"""The rules in the documents' own examples, and Kubernetes' words for each rejection."""

import pytest
from manifests import LOCAL
from objects import claim, node, pod, storage_class, volume

from kvolsched.rules.releases.design_documents import design_profile
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.framework.verdict import Code
from kvolsched.scheduler.plugins.pod_topology_spread.releases import EVEN_PODS_SPREAD_LITERALLY as LITERAL
from kvolsched.scheduler.plugins.volume_binding import VolumeBinding
from kvolsched.scheduler.plugins.volume_binding.releases import largest_first
from kvolsched.world.log import Key


def using(*claims):
    """The volumes of a pod that uses these claims."""
    return [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in claims]


def among(key, *values, operator="In"):
    """One expression of a node selector."""
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def term(*expressions):
    """One term of a node selector."""
    return {"matchExpressions": list(expressions)}


# --- volumes that are there (S0, Volume Topology Specification; Bound PVC Enforcement) ----------------------------------

ZONES = [
    node("n1", labels={"zone": "a", "rack": "r1", "gen": "1"}),
    node("n2", labels={"zone": "b", "rack": "r1", "gen": "5"}),
    node("n3", labels={"zone": "c"}),
]


@pytest.mark.checklist("17", "18", "19", "20", "21", "35")
@pytest.mark.parametrize(
    ("terms", "reached"),
    [
        (None, "n1 n2 n3"),
        ([term(among("zone", "a"))], "n1"),
        ([term(among("zone", "a", "c"))], "n1 n3"),
        ([term(among("zone", "a")), term(among("zone", "b"))], "n1 n2"),
        ([term(among("zone", "a"), among("rack", "r1"))], "n1"),
        ([term(among("zone", "b"), among("rack", "r2"))], ""),
        ([term(among("zone", "a", operator="NotIn"))], "n2 n3"),
        ([term(among("rack", operator="Exists"))], "n1 n2"),
        ([term(among("rack", operator="DoesNotExist"))], "n3"),
        ([term(among("gen", "3", operator="Gt"))], "n2"),
        ([term(among("gen", "3", operator="Lt"))], "n1"),
    ],
)
def test_a_bound_volume_is_reached_by_its_affinity(terms, reached):
    """Terms are ORed, expressions ANDed, every operator counts, and no affinity reaches everywhere."""
    seen = snapshot([*ZONES, volume("v", nodeAffinity={"required": {"nodeSelectorTerms": terms}} if terms else None, bound="c"), claim("c", bound="v"), storage_class(provisioner=LOCAL)])
    for profile in (upstream_profile(), design_profile()):
        judgement = judge(pod(volumes=using("c")), seen, profile)
        assert judgement.feasible == tuple(reached.split())


@pytest.mark.checklist("35")
def test_words_for_a_volume_out_of_reach():
    """Both revisions say it in their own words, and the cell shows both sides."""
    out = [volume("v", "10Gi", "late", {"zone": ["z"]}, bound="c"), claim("c", bound="v"), storage_class(provisioner=LOCAL)]
    seen = snapshot([*ZONES, *out])
    asked = pod(volumes=using("c"))
    today, then = judge(asked, seen, upstream_profile()), judge(asked, seen, design_profile())
    assert today.sentence() == "0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity."
    assert then.sentence() == "0/3 nodes are available: 3 node(s) had volume node affinity conflict."
    cell = today.cell("n1", "VolumeBinding")
    assert cell.status is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert str(cell.evidence[0]) == "volume v: zone In [z] does not match zone=a"


# --- claims that wait (S0, Predicate) -----------------------------------------------------------------------------------


@pytest.mark.checklist("102", "110")
@pytest.mark.parametrize(
    ("plugin", "found"),
    [
        (VolumeBinding(claim_order=largest_first), {"c15": "v20", "c8": "v10"}),
        (VolumeBinding(), {"c5": "v10", "c8": "v20"}),
    ],
)
def test_order_of_claims(plugin, found):
    """Claims 5/8/15 against volumes 10/20: by falling request 5 is left, by rising request 15."""
    volumes = [volume("v10", "10Gi"), volume("v20", "20Gi")]
    asked = [claim("c5", "5Gi"), claim("c8", "8Gi"), claim("c15", "15Gi")]
    seen = snapshot([*ZONES, *volumes, *asked, storage_class(provisioner=LOCAL)])
    decision = plugin.decide(pod(volumes=using("c5", "c8", "c15")), "n1", seen)
    assert {left.name: right.name for left, right in decision.static} == found
    assert decision.reasons == ("node(s) didn't find available persistent volumes to bind",)


@pytest.mark.checklist("103", "104", "143h", "143i")
def test_the_closest_volume_that_the_node_reaches():
    """The smallest volume that is large enough and reachable; each node has its own best."""
    here = [volume(f"a{size}", f"{size}Gi", "late", {"zone": ["a"]}) for size in (3, 6, 7, 50)]
    there = [volume(f"b{size}", f"{size}Gi", "late", {"zone": ["b"]}) for size in (20, 9)]
    asked = [claim("x", "5Gi"), claim("y", "6Gi")]
    seen = snapshot([*ZONES, *here, *there, *asked, storage_class(provisioner=LOCAL)])
    plugin = upstream_profile().plugin("VolumeBinding")
    wanted = pod(volumes=using("x", "y"))
    assert judge(wanted, seen, upstream_profile()).feasible == ("n1", "n2")
    assert [b.name for _, b in plugin.decide(wanted, "n1", seen).static] == ["a6", "a7"]
    assert [b.name for _, b in plugin.decide(wanted, "n2", seen).static] == ["b9", "b20"]


@pytest.mark.checklist("108", "143j")
def test_two_of_three_claims_are_not_enough():
    """A node with volumes for two of three claims is refused, in Kubernetes' words."""
    volumes = [volume(f"v{i}", "10Gi", "late", {"zone": ["a"]}) for i in range(2)]
    seen = snapshot([*ZONES, *volumes, *(claim(name) for name in "xyz"), storage_class(provisioner=LOCAL)])
    judgement = judge(pod(volumes=using("x", "y", "z")), seen, upstream_profile())
    assert judgement.sentence() == (
        "0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind."
    )


@pytest.mark.checklist("52", "55", "56", "64", "107")
def test_provisioning_where_the_class_allows():
    """What finds no volume is provisioned where allowedTopologies admits the node; no list admits every node."""
    classes = [storage_class("zonal", "x", allowed=[{"zone": ["a", "b"]}]), storage_class("free", "x")]
    seen = snapshot([*ZONES, claim("z", storage_class="zonal"), claim("f", storage_class="free"), *classes])
    for profile in (upstream_profile(), design_profile()):
        assert judge(pod(volumes=using("z")), seen, profile).feasible == ("n1", "n2")
        assert judge(pod(volumes=using("f")), seen, profile).feasible == ("n1", "n2", "n3")
    decision = upstream_profile().plugin("VolumeBinding").decide(pod(volumes=using("z")), "n1", seen)
    assert decision.provision == (Key("PersistentVolumeClaim", "default", "z"),)


@pytest.mark.checklist("109", "143g", "113")
def test_some_static_some_provisioned():
    """One claim finds a volume, the other is provisioned on the same node: a pass; and the static one is preferred."""
    volumes = [volume("v", "5Gi", "zonal", {"zone": ["a"]})]
    classes = [storage_class("zonal", "x", allowed=[{"zone": ["a", "b"]}])]
    seen = snapshot([*ZONES, *volumes, *classes, claim("c", "5Gi", "zonal"), claim("d", "9Gi", "zonal")])
    both = pod(volumes=using("c", "d"))
    decision = design_profile().plugin("CheckVolumeBinding").decide(both, "n1", seen)
    assert [(left.name, right.name) for left, right in decision.static] == [("c", "v")]
    assert [key.name for key in decision.provision] == ["d"]
    judgement = judge(both, seen, design_profile())
    assert judgement.feasible == ("n1", "n2")
    ranking = rank(judgement)
    assert ranking.scores_of("n1")["VolumeBinding"][0] == 50
    assert ranking.scores_of("n2")["VolumeBinding"][0] == 0
    assert ranking.best == ("n1",)


@pytest.mark.checklist("112", "143k", "143l")
def test_priority_prefers_the_closest_size():
    """A volume of the asked size scores 100, one of twice the size 50; equal sizes change nothing."""
    volumes = [
        volume("va", "10Gi", "late", {"zone": ["a"]}),
        volume("vb", "5Gi", "late", {"zone": ["b"]}),
    ]
    seen = snapshot([*ZONES, *volumes, storage_class(provisioner=LOCAL), claim("c", "5Gi"), claim("d", "1Gi")])
    ranking = rank(judge(pod(volumes=using("c")), seen, design_profile()))
    assert {name: ranking.scores_of(name)["VolumeBinding"][1] for name in ranking.nodes} == {"n1": 50, "n2": 100}
    assert ranking.best == ("n2",)
    twins = [
        volume("va", "10Gi", "late", {"zone": ["a"]}),
        volume("vb", "10Gi", "late", {"zone": ["b"]}),
    ]
    assert rank(
        judge(pod(volumes=using("c")), snapshot([*ZONES, *twins, storage_class(provisioner=LOCAL), claim("c")]), design_profile())
    ).best == (
        "n1",
        "n2",
    )


@pytest.mark.checklist("143m")
def test_a_volume_named_by_another_claim_is_not_matched():
    """A prebound volume is left alone, and found by its own claim whatever its phase."""
    seen = snapshot([*ZONES, volume("v", claim="mine"), claim("mine"), claim("other"), storage_class(provisioner=LOCAL)])
    plugin = upstream_profile().plugin("VolumeBinding")
    assert plugin.decide(pod(volumes=using("other")), "n1", seen).reasons
    assert [right.name for _, right in plugin.decide(pod(volumes=using("mine")), "n1", seen).static] == ["v"]


def test_a_selected_node_pins_the_claim():
    """A claim handed to provisioning for one node fits that node alone; in 1.11 it made every pass an error."""
    pinned = claim("c", storage_class="zonal", selected_node="n2")
    seen = snapshot([*ZONES, pinned, storage_class("zonal", "x")])
    asked = pod(volumes=using("c"))
    assert judge(asked, seen, upstream_profile()).feasible == ("n2",)
    then = judge(asked, seen, design_profile())
    assert then.feasible == ()
    assert then.error == then.sentence() == "pod has unbound PersistentVolumeClaims (repeated 3 times)"


@pytest.mark.checklist("100")
@pytest.mark.parametrize(
    ("objects", "message", "plugin"),
    [
        ([], 'persistentvolumeclaim "c" not found', "VolumeRestrictions"),
        (
            [claim("c", storage_class="now"), storage_class("now", "x", waits=False)],
            "pod has unbound immediate PersistentVolumeClaims",
            "VolumeBinding",
        ),
        ([claim("c", storage_class="gone")], "pod has unbound immediate PersistentVolumeClaims", "VolumeBinding"),
    ],
)
def test_the_whole_pod_is_rejected_before_filtering(objects, message, plugin):
    """The rejection is no verdict on a node, and its sentence ends in the famous `not found`."""
    judgement = judge(pod(volumes=using("c")), snapshot([*ZONES, *objects]), upstream_profile())
    assert judgement.rejected_by.plugin == plugin
    assert judgement.rejected_by.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert judgement.feasible == ()
    assert judgement.sentence() == f"0/3 nodes are available: {message}. not found"


# --- spreading (S3) -----------------------------------------------------------------------------------------------------


def spread(counts, closed=(), key="zone", skew=1, own=None, **extra):
    """Nodes zone1.. with so many pods each (closed: tainted), and a pod that spreads over them."""
    taint = [{"key": "closed", "effect": "NoSchedule"}]
    objects = [
        node(f"zone{i}", labels={"zone": f"zone{i}", "node": f"zone{i}"}, **({"taints": taint} if i in closed else {}))
        for i in range(1, len(counts) + 1)
    ]
    objects += [pod(f"e{i}-{k}", node_name=f"zone{i}", labels={"app": "foo"}) for i, count in enumerate(counts, 1) for k in range(count)]
    constraint = {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "foo"}},
    }
    wanted = pod(labels=own or {"app": "foo"}, topologySpreadConstraints=[constraint], **extra)
    return wanted, snapshot(objects)


@pytest.mark.parametrize("profile", [upstream_profile(), design_profile()], ids=lambda profile: profile.name)
@pytest.mark.parametrize(
    ("counts", "closed", "skew", "fits"),
    [
        pytest.param([1, 1, 0], (), 1, "3", marks=pytest.mark.checklist("195", "196", "210")),
        pytest.param([1, 1, 0], (), 2, "1 2 3", marks=pytest.mark.checklist("197")),
        pytest.param([3, 2, 1], (), 1, "3", marks=pytest.mark.checklist("195")),
        pytest.param([0, 0, 0], (), 1, "1 2 3", marks=pytest.mark.checklist("199")),
        pytest.param([3, 3, 0], (3,), 1, "", marks=pytest.mark.checklist("203")),
        pytest.param([1, 1, 0], (3,), 1, "", marks=pytest.mark.checklist("205")),
        pytest.param([2, 1, 0], (3,), 1, "", marks=pytest.mark.checklist("206")),
        pytest.param([1, 1, 1], (3,), 1, "1 2", marks=pytest.mark.checklist("207")),
        pytest.param([2, 1, 1], (3,), 1, "2", marks=pytest.mark.checklist("208")),
    ],
)
def test_hard_spreading(profile, counts, closed, skew, fits):
    """S3's tables: zones with so many matching pods, one of them closed by a taint."""
    wanted, seen = spread(counts, closed, skew=skew)
    assert judge(wanted, seen, profile).feasible == tuple(f"zone{i}" for i in fits.split())


@pytest.mark.checklist("201", "202")
def test_seven_nodes():
    """1a:1 1b:2 1c:0 2a:2 2b:0 2c:0 3a:1: by zone only zone 3, by node only the empty nodes."""
    counts = {"1a": 1, "1b": 2, "1c": 0, "2a": 2, "2b": 0, "2c": 0, "3a": 1}
    objects = [node(name, labels={"zone": name[0], "node": name}) for name in counts]
    objects += [pod(f"{name}-{k}", node_name=name, labels={"app": "foo"}) for name, count in counts.items() for k in range(count)]
    constraint = {
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "foo"}},
    }
    for key, fits in (("zone", ("3a",)), ("node", ("1c", "2b", "2c"))):
        wanted = pod(labels={"app": "foo"}, topologySpreadConstraints=[{**constraint, "topologyKey": key}])
        for profile in (upstream_profile(), design_profile()):
            assert judge(wanted, snapshot(objects), profile).feasible == fits


@pytest.mark.checklist("198")
def test_node_affinity_limits_the_domains():
    """With affinity to two of the zones, skew is over these two only."""
    wanted, seen = spread(
        [1, 1, 0],
        affinity={
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [term(among("zone", "zone1", "zone2"))]
                }
            }
        },
    )
    for profile in (upstream_profile(), design_profile()):
        assert judge(wanted, seen, profile).feasible == ("zone1", "zone2")


@pytest.mark.checklist("200", "210")
def test_a_pod_that_does_not_match_itself():
    """After placement nothing changes, so 1/1/0 admits every zone; the literal pseudo code admits zone 3 only."""
    wanted, seen = spread([1, 1, 0], own={"app": "other"})
    assert judge(wanted, seen, design_profile()).feasible == ("zone1", "zone2", "zone3")
    fits = [item.metadata.name for item in seen.all_nodes() if LITERAL.rule(wanted, item, seen)]
    assert fits == ["zone3"]


def test_words_of_spreading():
    """A node without the key has its own words today, and both sides of the skew are shown."""
    wanted, seen = spread([1, 0])
    bare = node("bare")
    seen.apply(Key("Node", "", "bare"), None, bare)
    judgement = judge(wanted, seen, upstream_profile())
    assert judgement.feasible == ("zone2",)
    assert str(judgement.cell("zone1", "PodTopologySpread").evidence[0]) == (
        "1 in zone=zone1 + self match 1 − minimum 0 = 2 > maxSkew 1"
    )
    assert judgement.cell("bare", "PodTopologySpread").reason == (
        "node(s) didn't match pod topology spread constraints (missing required label)"
    )
    assert judgement.statuses["bare"] is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


# --- sentences ----------------------------------------------------------------------------------------------------------


def test_the_sentence_is_a_histogram_sorted_as_strings():
    """`10 x` comes before `2 y`; a node that is short of two things counts for both."""
    poor = [node(f"p{i}", cpu="1", memory="1", pods="9") for i in range(10)]
    seen = snapshot([*poor, node("c1", unschedulable=True), node("c2", unschedulable=True)])
    wanted = pod(requests={"cpu": "2", "memory": "2"})
    judgement = judge(wanted, seen, upstream_profile())
    assert judgement.sentence() == (
        "0/12 nodes are available: 10 Insufficient cpu, 10 Insufficient memory, 2 node(s) were unschedulable."
    )
    assert judgement.sentence(postfilter="preemption: x.").endswith("unschedulable. preemption: x.")
    evidence = judgement.cell("p0", "NodeResourcesFit").evidence
    assert str(evidence[0]) == "requests.cpu 2 > allocatable 1 − requested 0 = 1"
    assert judge(wanted, snapshot([]), upstream_profile()).sentence() == "no nodes available to schedule pods"


def test_one_predicate_of_the_time_gave_all_its_reasons():
    """1.11 judged selector and resources as one predicate, and both reasons counted."""
    seen = snapshot([node("n", cpu="1", pods="9")])
    wanted = pod(requests={"cpu": "2"}, nodeSelector={"zone": "a"})
    assert judge(wanted, seen, design_profile()).sentence() == (
        "0/1 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match node selector."
    )
    assert judge(wanted, seen, upstream_profile()).sentence() == (
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    )


def test_restricted_to_named_nodes():
    """Terms that name nodes restrict the pass; who lies outside is counted under the plugin's name."""
    names = {"matchFields": [among("metadata.name", "n1")]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [names]}}}
    seen = snapshot([*ZONES[1:], node("n1", unschedulable=True)])
    judgement = judge(pod(affinity=affinity), seen, upstream_profile())
    assert judgement.sentence() == (
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_anti_affinity_both_ways():
    """The pod's own terms are said before those of the pods that are there; 1.11 asked and worded it otherwise."""
    anti = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}
            ]
        }
    }
    seen = snapshot([*ZONES, pod("e", node_name="n1", labels={"app": "db"}, affinity=anti)])
    wanted = pod(labels={"app": "db"}, affinity=anti)
    today, then = judge(wanted, seen, upstream_profile()), judge(wanted, seen, design_profile())
    assert today.feasible == then.feasible == ("n2", "n3")
    assert today.cell("n1", "InterPodAffinity").reason == "node(s) didn't match pod anti-affinity rules"
    assert then.cell("n1", "InterPodAffinity").reasons == (
        "node(s) didn't match pod affinity/anti-affinity",
        "node(s) didn't satisfy existing pods anti-affinity rules",
    )
    plain = judge(pod(labels={"app": "db"}), seen, upstream_profile())
    assert plain.cell("n1", "InterPodAffinity").reason == "node(s) didn't satisfy existing pods anti-affinity rules"


def test_fingerprints_tell_verdicts_apart():
    """The same verdicts give the same 8 bytes, other verdicts others."""
    seen = snapshot(ZONES)
    prints = [judge(wanted, seen, upstream_profile()).fingerprint for wanted in (pod(), pod("q"), pod(requests={"cpu": "99"}))]
    assert len(prints[0]) == 8
    assert prints[0] == prints[1] != prints[2]

"""Columns equal their rules, and no result depends on the order in which objects arrived."""

import attrs
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matrices import check, matrix

from kvolsched.api.kinds.meta import Frozen, ObjectMeta
from kvolsched.api.kinds.node import Node, NodeStatus
from kvolsched.api.kinds.pod import Container, Pod, PodSpec, Resources
from kvolsched.rules.releases.design_documents import design_profile
from kvolsched.rules.releases.early_draft import draft_profile
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler import requests
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.extension_points import EnabledPlugin
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.framework.verdict import OK, Code, Reject
from kvolsched.scheduler.plugins.pod_topology_spread.releases import EVEN_PODS_SPREAD_LITERALLY
from kvolsched.scheduler.plugins.volume_binding import VolumeBinding
from kvolsched.scheduler.plugins.volume_binding.claims import ClaimFailures, waits_for_consumer
from kvolsched.scheduler.plugins.volume_binding.matching import SEARCHES, by_index, by_walk
from kvolsched.scheduler.plugins.volume_binding.releases import (
    CHECK_VOLUME_BINDING,
    MATCH_UNBOUND_PVCS,
    largest_first,
    stored_affinity,
)
from kvolsched.scheduler.plugins.volume_node import VolumeNode
from scheduler.strategies import clusters, company, pending, spread, stores, worlds

PROFILES = [
    upstream_profile(),
    design_profile(),
    draft_profile(),
    Profile(
        "mixed",
        (
            EnabledPlugin(EVEN_PODS_SPREAD_LITERALLY),
            EnabledPlugin(VolumeBinding(claim_order=largest_first)),
            EnabledPlugin(
                attrs.evolve(CHECK_VOLUME_BINDING, waits=waits_for_consumer, claim_failures=ClaimFailures())
            ),
        ),
    ),
]


@pytest.mark.parametrize(
    ("strategy", "examples"),
    [(st.tuples(clusters, pending), 100), (spread(), 250), (company(), 250), (stores(), 300)],
    ids=["all", "spread", "company", "stores"],
)
def test_column_equals_rule(strategy, examples):
    """For any cluster and profile, each plugin's column gives the verdict of its rule on each node."""

    @settings(max_examples=examples)
    @given(strategy)
    def holds(world):
        objects, pod = world
        seen = snapshot(objects)
        for profile in PROFILES:
            judgement = judge(pod, seen, profile)
            check(judgement)
            for plugin in judgement.skipped:
                for node in seen.all_nodes():
                    assert profile.plugin(plugin).rule(pod, node, seen) is OK

    holds()


@settings(max_examples=150)
@given(stores() | st.tuples(clusters, pending), st.sampled_from([VolumeBinding(), CHECK_VOLUME_BINDING]))
@pytest.mark.checklist("93", "105")
def test_the_index_decides_as_the_walk_does(world, plugin):
    """The index of free volumes chooses the volume that a walk over all volumes chooses."""
    objects, pod = world
    seen = snapshot(objects)
    claims = plugin.claims(pod, seen)
    for node in seen.all_nodes():
        walked = plugin.find_pod_volumes(pod, claims, node, seen, by_walk(node, seen, plugin.rules))
        found = plugin.find_pod_volumes(pod, claims, node, seen, by_index(node, seen, plugin.rules))
        assert found == walked


@settings(max_examples=100)
@given(stores() | st.tuples(clusters, pending), st.sampled_from(list(SEARCHES.values())))
def test_every_search_decides_as_the_walk_does(world, search):
    """S0's search without and with each of its optimisations finds the same volumes and scores, node by node."""
    objects, pod = world
    walk = attrs.evolve(CHECK_VOLUME_BINDING, search=SEARCHES["none"])
    judged = []
    for plugin in (walk, attrs.evolve(CHECK_VOLUME_BINDING, search=search)):
        seen = snapshot(objects)
        judgement = judge(pod, seen, Profile("one", (EnabledPlugin(plugin, 1),)))
        decisions = [plugin.decide(pod, each.metadata.name, seen) for each in seen.all_nodes()]
        judged.append((judgement.feasible, judgement.sentence(), rank(judgement).total(), decisions))
    assert judged[0] == judged[1]


@settings(max_examples=150)
@given(stores())
@pytest.mark.checklist("130")
def test_two_predicates_of_the_draft_judge_as_one(world):
    """S1's MatchUnboundPVCs with VolumeNode refuses the nodes that S0's CheckVolumeBinding refuses, topologies aside."""
    objects, pod = world
    seen = snapshot(objects)
    together = Profile("S1", (EnabledPlugin(MATCH_UNBOUND_PVCS), EnabledPlugin(VolumeNode())))
    alone = Profile("S0", (EnabledPlugin(attrs.evolve(MATCH_UNBOUND_PVCS, node_affinity=stored_affinity)),))
    assert judge(pod, seen, alone).feasible == judge(pod, seen, together).feasible


@settings(max_examples=60)
@given(stores())
@pytest.mark.checklist("111", "112", "113")
def test_the_volume_score_is_that_of_the_decision(world):
    """PrioritizeVolumes scores each node by the volumes that would be bound on it."""
    objects, pod = world
    seen = snapshot(objects)
    judgement = judge(pod, seen, design_profile())
    ranking = rank(judgement)
    plugin = design_profile().plugin("CheckVolumeBinding")
    for node in judgement.feasible:
        decision = plugin.decide(pod, node, seen)
        if "VolumeBinding" in ranking.raw:
            assert ranking.scores_of(node)["VolumeBinding"][0] == decision.score
        else:
            assert not decision.static
            assert not decision.provision


@settings(max_examples=30)
@given(worlds, st.randoms(use_true_random=False))
def test_order_of_arrival_never_shows(world, random):
    """Rows and codes differ with the order of arrival; matrix, message, nodes and totals do not."""
    objects, pod = world
    shuffled = [*objects]
    random.shuffle(shuffled)
    for profile in PROFILES[:2]:
        one, other = judge(pod, snapshot(objects), profile), judge(pod, snapshot(shuffled), profile)
        assert matrix(one) == matrix(other)
        assert one.sentence() == other.sentence()
        assert (one.feasible, one.first_rejecting, one.statuses) == (other.feasible, other.first_rejecting, other.statuses)
        assert one.fingerprint == other.fingerprint
        assert rank(one).total() == rank(other).total()
        assert rank(one).best == rank(other).best


class Picky:
    """A user's plugin with a rule and without a column."""

    name = "Picky"

    def rule(self, pod, node, seen):
        """Reject by name."""
        return OK if node.metadata.name in ("n0", "n3") else Reject((f"not {node.metadata.name}",), Code.UNSCHEDULABLE)


@settings(max_examples=20)
@given(clusters, pending)
def test_a_rule_alone_is_lifted(objects, pod):
    """A plugin without a column appears in matrix, message and feasible nodes."""
    seen = snapshot(objects)
    judgement = judge(pod, seen, Profile("mine", (EnabledPlugin(Picky()),)))
    check(judgement)
    names = {node.metadata.name for node in seen.all_nodes()}
    assert set(judgement.feasible) == names & {"n0", "n3"}
    for name in names - {"n0", "n3"}:
        assert f"1 not {name}" in judgement.sentence()


def _reference(pod, node, seen):
    """Return both resource scores, computed with plain integers and floats."""
    total = requests.allocatable(node.status.allocatable)
    on = [requests.held_requests(other) for other in seen.pods_on(node.metadata.name)]
    asks = requests.pod_requests(pod.spec)
    shares = []
    for resource, name in (("cpu", "scored_cpu"), ("memory", "scored_memory")):
        if total.get(resource):
            used = sum(getattr(other, name) for other in on) + getattr(asks, name.replace("scored", "placed"))
            shares.append(100 * max(total[resource] - used, 0) // total[resource])
    least = sum(shares) // len(shares) if shares else 0

    def balance(ask):
        parts = [
            min(
                float(sum(other.amounts.get(resource, 0) for other in on) + ask.get(resource, 0)) / total[resource],
                1.0,
            )
            for resource in ("cpu", "memory")
            if total.get(resource)
        ]
        return int((1 - (abs(parts[0] - parts[1]) / 2 if len(parts) == 2 else 0)) * 100)

    return least, 50 + (50 + balance(asks.amounts) - balance({})) // 2


@st.composite
def roomy(draw):
    """Give nodes of any size, pods that run there, and one that fits some of them: requests alone decide."""
    def pod(name, node, most):
        asks = [draw(st.integers(0, limit)) for limit in most]
        wants = {key: ask for key, ask in zip(("cpu", "memory"), (f"{asks[0]}m", f"{asks[1]}"), strict=True)
                 if draw(st.booleans())}
        spec = PodSpec(node_name=node, containers=(Container(resources=Resources(requests=Frozen(wants))),))
        return Pod(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)

    sizes = draw(st.lists(st.tuples(st.integers(1000, 64_000), st.integers(2**20, 2**38)), min_size=1, max_size=4))
    nodes = [Node(metadata=ObjectMeta(name=f"n{place}"),
                  status=NodeStatus(allocatable=Frozen(cpu=f"{cpu}m", memory=f"{memory}", pods="99")))
             for place, (cpu, memory) in enumerate(sizes)]
    running = [pod(f"r{place}", f"n{place % len(nodes)}", (8000, 2**34)) for place in range(draw(st.integers(0, 8)))]
    return [*nodes, *running], pod("p", "", (1000, 2**20))


@settings(max_examples=60)
@given(roomy())
def test_resource_scores(drawn):
    """LeastAllocated and BalancedAllocation over columns equal their formulas in plain numbers."""
    objects, pod = drawn
    seen = snapshot(objects)
    ranking = rank(judge(pod, seen, upstream_profile()))
    assume(ranking.nodes)
    asks = requests.pod_requests(pod.spec)
    for name in ranking.nodes:
        least, balanced = _reference(pod, seen.node(name), seen)
        scores = {plugin: points for plugin, (_, points, _) in ranking.scores_of(name).items()}
        assert scores["NodeResourcesFit"] == least
        assert scores.get("NodeResourcesBalancedAllocation") == (balanced if asks.cpu or asks.memory else None)


@pytest.mark.parametrize("memory", [2**53 // 100 - 1, 2**53 // 100, 2**53 // 100 + 1, 2**54 + 2, 2**56 + 1])
def test_shares_are_exact_at_the_edge_of_floats(memory):
    """If 100 · free is not exact in a float, the score is still floor(100 · free / total)."""
    for ask in (1, memory // 100, memory // 3, memory - 1):
        node = Node(metadata=ObjectMeta(name="n"), status=NodeStatus(allocatable=Frozen(memory=str(memory), pods="9")))
        resources = Resources(requests=Frozen(memory=str(ask), cpu="0"))
        pod = Pod(metadata=ObjectMeta(name="p"), spec=PodSpec(containers=(Container(resources=resources),)))
        ranking = rank(judge(pod, snapshot([node]), upstream_profile()))
        assert ranking.scores_of("n")["NodeResourcesFit"][1] == 100 * (memory - ask) // memory


def test_more_resources_than_bits():
    """A pod that requests more kinds of resources than a code has bits is judged by the rule."""
    many = {f"example.com/r{i:02}": "1" for i in range(20)}
    node = Node(metadata=ObjectMeta(name="n"), status=NodeStatus(allocatable=Frozen(pods="9")))
    pod = Pod(spec=PodSpec(containers=(Container(resources=Resources(requests=Frozen(many))),)))
    judgement = judge(pod, snapshot([node]), upstream_profile())
    assert len(judgement.verdict("n", "NodeResourcesFit")[0]) == 20
    assert judgement.cell("n", "NodeResourcesFit").status is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def test_codes_are_by_plugin_and_node():
    """`codes` has a row for each plugin and a column for each name in `nodes`."""
    nodes = [Node(metadata=ObjectMeta(name=name), status=NodeStatus(allocatable=Frozen(pods="0"))) for name in "ab"]
    judgement = judge(Pod(), snapshot(nodes), upstream_profile())
    assert judgement.codes.dtype == np.uint16
    assert judgement.codes.shape == (len(judgement.plugins), 2)
    assert judgement.codes[judgement.plugins.index("NodeResourcesFit")].all()
    assert matrix(judgement)[0].node == "a"

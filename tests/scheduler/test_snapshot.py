"""A snapshot changed step by step, in any order and also backwards, equals one built from scratch."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import matrix
from objects import pod

from kvolsched.api.kinds.meta import Frozen, ObjectMeta
from kvolsched.api.kinds.node import Node, NodeStatus
from kvolsched.api.kinds.pod import Container, Pod, PodSpec, Resources
from kvolsched.api.kinds.selector import LabelSelector
from kvolsched.api.kinds.volume import PersistentVolume
from kvolsched.rules.releases.design_documents import design_profile
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.pod_counts import PodMatcher
from kvolsched.scheduler.columns.snapshot import Snapshot, snapshot, snapshot_of
from kvolsched.scheduler.framework.extension_points import ColumnContext
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.framework.verdict import OK, SKIP
from kvolsched.world.log import Key
from kvolsched.world.view import build
from scheduler.strategies import changing, clusters, company, moves, pending, spread, stores


def key_of(item):
    """Return the key of an object."""
    return Key(item.kind, item.metadata.namespace, item.metadata.name)


@settings(max_examples=30)
@given(st.lists(clusters, min_size=2, max_size=4), pending, st.randoms(use_true_random=False))
def test_moved_equals_built(states, pod, random):
    """Apply random states in random order, with judgements in between, and undo all changes."""
    moved, contents, trail = Snapshot(), {}, []
    for state in states:
        for key, old, new in moves(contents, state, random):
            if random.random() < 0.1:
                for profile in (upstream_profile(), design_profile()):
                    rank(judge(pod, moved, profile))  # makes tallies and demands, which then have to follow
            moved.apply(key, old, new)
            trail.append((key, old, new))
        _same(moved, contents, pod)
    while trail:
        key, old, new = trail.pop()
        moved.apply(key, new, old)
        if old is None:
            del contents[key]
        else:
            contents[key] = old
        if random.random() < 0.1:
            _same(moved, contents, pod)
    assert moved == Snapshot()


@settings(max_examples=30)
@given(clusters)
def test_taken_at_once_equals_applied_one_by_one(state):
    """Who takes all objects has the facts of who applies each; pods that leave a copy stay in the original."""
    objects = {key_of(item): item for item in state}
    taken = snapshot_of(objects)
    assert taken == build(Snapshot(), objects)
    copy = taken.copied()
    for key, item in objects.items():
        if key.kind == "Pod":
            copy.apply(key, item, None)
    assert copy == snapshot(item for item in state if item.kind != "Pod")
    assert taken == build(Snapshot(), objects)


@pytest.mark.parametrize("strategy", [spread(), company(), stores()], ids=["spread", "company", "stores"])
def test_what_was_asked_for_follows(strategy):
    """While nodes stay, cached counts of pods and free volumes follow each change and its undoing."""

    @settings(max_examples=120)
    @given(changing(strategy))
    def holds(world):
        objects, pod, changes = world
        present = {key_of(item): item for item in objects}
        moved = snapshot(objects)
        _same(moved, present, pod)
        trail = []
        for key, new in changes:
            old = present.pop(key, None)
            if old is not None or new is not None:
                moved.apply(key, old, new)
                trail.append((key, old, new))
            if new is not None:
                present[key] = new
            _same(moved, present, pod)
        for key, old, new in reversed(trail):
            moved.apply(key, new, old)
        _same(moved, {key_of(item): item for item in objects}, pod)

    holds()


def _same(moved, contents, pod):
    built = build(Snapshot(), contents)
    assert moved == built
    for matchers in list(moved.pod_counts._matching):
        counts = moved.count_matching(*matchers)
        anew = built.count_matching(*matchers)
        for name, row in moved.nodes.rows():
            assert counts[row] == anew[built.nodes.row_of[name]]
    for ask, size in list(moved.free_volumes._matches):
        for name, row in moved.nodes.rows():
            there = built.nodes.row_of[name]
            assert moved.free_volumes.count(ask, size)[row] == built.free_volumes.count(ask, size)[there]
            assert moved.free_volumes.smallest_size(ask, size)[row] == built.free_volumes.smallest_size(ask, size)[there]
    for profile in (upstream_profile(), design_profile()):
        one, other = judge(pod, moved, profile), judge(pod, built, profile)
        assert matrix(one) == matrix(other)
        assert one.fingerprint == other.fingerprint
        assert rank(one).total() == rank(other).total()


@settings(max_examples=15)
@given(st.lists(clusters, min_size=2, max_size=2), st.randoms(use_true_random=False))
def test_what_is_asked_for_late_is_found_all_the_same(states, random):
    """Pods with a label are counted, and nodes with one found, as by looking at each, however the cluster came to be."""
    seen, contents = Snapshot(), {}
    for state in states:
        for key, old, new in moves(contents, state, random):
            seen.apply(key, old, new)
            if random.random() > 0.3:
                continue
            pods = [item for item in {**contents, key: new}.values() if item and item.kind == "Pod" and not item.terminal]
            for label, value in {item for one in pods for item in one.metadata.labels.items()}:
                matcher = PodMatcher(frozenset({"default", "other", str(random.random())}),
                                     (LabelSelector(match_labels=Frozen({label: value})),))  # fmt: skip
                counts = seen.count_matching(matcher)
                for name, row in seen.nodes.rows():
                    there = [one for one in pods if one.spec.node_name == name and matcher.matches(one)]
                    assert len(there) == counts[row]
            nodes = {name: seen.node(name).metadata.labels for name in seen.nodes.row_of}
            for label in ("zone", "host", "gen"):
                values = random.sample(["a", "b", "2", "10"], 2)
                labelled = [seen.nodes.row_of[name] for name, labels in nodes.items() if labels.get(label) in values]
                assert sorted(labelled) == seen.nodes.rows_labelled(label, values).tolist()


def test_more_nodes_than_the_first_capacity():
    """The table grows, and freed rows are used again."""
    nodes = [Node(metadata=ObjectMeta(name=f"n{i:03}", labels=Frozen(zone="a"))) for i in range(100)]
    moved = snapshot(nodes)
    for node in nodes[::2]:
        moved.apply(key_of(node), node, None)
    assert moved == snapshot(nodes[1::2])
    for node in nodes[::2]:
        moved.apply(key_of(node), None, node)
    assert moved == snapshot(nodes)
    assert len(moved.nodes.names) == 100


@pytest.mark.checklist("5")
def test_a_pod_without_claims_visits_no_volume():
    """Judging a pod without volumes reads no volume (S0, Goals: no latency regression)."""
    node = Node(metadata=ObjectMeta(name="n"), status=NodeStatus(allocatable=Frozen(cpu="1", pods="9")))
    pod = Pod(spec=PodSpec(containers=(Container(resources=Resources(requests=Frozen(cpu="1"))),)))
    seen = snapshot([node, *(PersistentVolume(metadata=ObjectMeta(name=f"v{i}")) for i in range(3))])
    for profile in (upstream_profile(), design_profile()):
        seen.free_volumes = seen._volumes = None  # whoever looks at a volume fails
        judgement = judge(pod, seen, profile)
        rank(judgement)
        assert judgement.feasible == ("n",)
        decision = profile.plugin("VolumeBinding").decide(pod, "n", seen)
        assert not decision.reasons
        assert not decision.error


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 39), st.sampled_from(["300m", "1"]), st.booleans()), max_size=25), st.booleans())
def test_scores_follow_row_by_row(moves, odd):
    """With many nodes that change a little at a time, verdicts and scores equal those of a snapshot built from scratch."""
    rooms = [{"cpu": "2", "memory": "1Gi"}, {"cpu": "2"}, {"memory": "100Mi"}, {"cpu": "3", "memory": "8Ei"}]
    nodes = [
        Node(metadata=ObjectMeta(name=f"n{n}"), status=NodeStatus(allocatable=Frozen(pods="3", **rooms[n % (3 + odd)])))
        for n in range(40)
    ]
    there = {key_of(node): node for node in nodes}
    moved, asked = snapshot(there.values()), pod("asked")
    for place, (number, cpu, asks) in enumerate(moves):
        placed = pod(f"p{number % 30}", node_name=f"n{number}", requests={"cpu": cpu, "memory": "64Mi"})
        old = there.get(key_of(placed))
        moved.apply(key_of(placed), old, placed if place % 3 else None)
        if place % 3:
            there[key_of(placed)] = placed
        else:
            there.pop(key_of(placed), None)
        if asks or place == len(moves) - 1:
            for profile in (upstream_profile(), design_profile()):
                ours, anew = (judge(asked, seen, profile) for seen in (moved, snapshot(there.values())))
                assert matrix(anew) == matrix(ours)
                assert rank(anew).total() == rank(ours).total()
                assert rank(anew).best == rank(ours).best == tuple(map(rank(ours).best_node, range(rank(ours).tie_count)))


def test_who_needs_what_a_pod_lacks_has_nothing_to_say():
    """A plugin with `skip_without` rejects and ranks no node for a pod without these fields."""
    seen, bare = snapshot([Node(metadata=ObjectMeta(name="n0"))]), pod("bare")
    for profile in (upstream_profile(), design_profile()):
        needing = [each.plugin for each in profile.plugins if getattr(each.plugin, "skip_without", ())]
        assert needing
        for plugin in needing:
            assert not any(getattr(bare.spec, field, False) or getattr(seen, field, False) for field in plugin.skip_without)
            assert not hasattr(plugin, "prefilter") or plugin.prefilter(bare, seen) == SKIP
            assert plugin.rule(bare, seen.node("n0"), seen) == OK
            assert not hasattr(plugin, "score") or plugin.score(bare, ColumnContext(seen)) is None
            assert (plugin.name in judge(bare, seen, profile).skipped) == hasattr(plugin, "prefilter")

"""Answers with shortcuts equal those without, and those of rules alone, while a cluster changes a little at a time."""

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import matrix
from objects import node, pod

from kvolsched.api.kinds.meta import Frozen, evolve_parts
from kvolsched.rules.releases.design_documents import design_profile
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.extension_points import EnabledPlugin
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.framework.verdict import OK, Code, Reject
from kvolsched.scheduler.plugins.node_resources_fit import NodeResourcesFit
from kvolsched.scheduler.shortcuts import SHORTCUTS, without_shortcuts
from kvolsched.world.apiserver import key_of
from scheduler.strategies import clusters, company, moves, pending, spread, stores

PROFILES = [upstream_profile(), design_profile()]


def answers(asked, seen, profile):
    """Return everything that a pass answers."""
    judgement = judge(asked, seen, profile)
    ranking = rank(judgement)
    return {
        "matrix": [(row.node, row.plugin, row.reasons, row.first) for row in matrix(judgement)],
        "message": judgement.sentence(),
        "fit": (judgement.feasible, judgement.any_feasible, len(judgement.rows)),
        "first": judgement.first_rejecting,
        "statuses": judgement.statuses,
        "error": judgement.error,
        "prefilter": (judgement.rejected_by, judgement.restrictions, judgement.rejected_by or judgement.skipped),
        "totals": ranking.total(),
        "best": (ranking.best, tuple(map(ranking.best_node, range(ranking.tie_count)))),
        "scores": {node: ranking.scores_of(node) for node in ranking.nodes},
    }


def compare(asked, seen):
    """Assert that one pass gives the same with shortcuts, without, and by rules alone."""
    for profile in PROFILES:
        quick, again, kept = (answers(asked, seen, profile) for _ in range(3))
        with without_shortcuts():
            slow = answers(asked, seen, profile)
        with without_shortcuts(columns=False):
            slowest = answers(asked, seen, profile)
        assert quick == slow
        assert again == slow
        assert kept == slow
        assert slowest == slow


@pytest.mark.parametrize(
    ("strategy", "examples"),
    [(st.tuples(clusters, pending), 25), (spread(), 25), (company(), 25), (stores(), 25)],
    ids=["all", "spread", "company", "stores"],
)
def test_shortcuts_change_no_answer(strategy, examples):
    """Whatever comes, goes or moves between two passes, what is kept of the first does not show in the second."""

    @settings(max_examples=examples)
    @given(strategy, strategy, st.randoms(use_true_random=False))
    def holds(world, other, random):
        (objects, first), (others, second) = world, other
        seen, contents = Snapshot(), {}
        for state in (objects, others, objects[: len(objects) // 2]):
            for key, old, new in moves(contents, state, random):
                if random.random() < 0.15:
                    rank(judge(random.choice((first, second)), seen, random.choice(PROFILES)))
                seen.apply(key, old, new)
            compare(first, seen)
            compare(second, seen)

    holds()


@settings(max_examples=40)
@given(spread() | company() | st.tuples(clusters, pending), st.randoms(use_true_random=False))
def test_pods_of_one_template_one_after_the_other(world, random):
    """Pods of one template are placed and removed one by one, as a loop does; each pass answers as if it were alone."""
    objects, asked = world
    asked = evolve_parts(asked, spec={"node_name": ""}, metadata={"deletion_timestamp": None})
    seen, placed = Snapshot(), []
    for item in objects:
        seen.apply(key_of(item), None, item)
    for number in range(8):
        each = evolve_parts(asked, metadata={"name": f"p{number}"})
        compare(each, seen)
        judgement = judge(each, seen, PROFILES[0])
        if judgement.any_feasible:
            ranking = rank(judgement)
            there = evolve_parts(each, spec={"node_name": ranking.best_node(number % ranking.tie_count)})
            seen.apply(key_of(there), None, there)
            placed.append(there)
        if placed and random.random() < 0.3:
            gone = placed.pop(random.randrange(len(placed)))
            seen.apply(key_of(gone), gone, None)
    compare(asked, seen)


class Moody(NodeResourcesFit):
    """A derived plugin that reads more than its parent declares."""

    mood = "bad"

    def column(self, pod, columns):
        """Have the rule asked."""
        return NotImplemented

    def rule(self, pod, node, seen):
        """Depend on something that nobody knows of."""
        return OK if self.mood == "good" else Reject(("bad mood",), Code.UNSCHEDULABLE)


def test_a_derived_plugin_does_not_inherit_what_its_parent_declares():
    """What a plugin's own class does not declare is asked in every pass."""
    seen = Snapshot()
    seen.apply(key_of(node("n")), None, node("n"))
    profile = Profile("moody", (EnabledPlugin(Moody()),))
    assert not judge(pod("p"), seen, profile).any_feasible
    Moody.mood = "good"
    try:
        assert judge(pod("p"), seen, profile).any_feasible
    finally:
        Moody.mood = "bad"


def test_pods_with_claims_and_images_of_their_own():
    """Pods that differ only in their claims share what is kept; one that mounts another image does not."""
    def asking(name, source):
        return pod(name, volumes=[{"name": "data", **source}])

    has_image = {"rest": Frozen(images=(Frozen(names=("data:1",), sizeBytes=500 * 2**20),))}
    seen = Snapshot()
    for each in (evolve_parts(node("a"), status=has_image), node("b")):
        seen.apply(key_of(each), None, each)
    for profile in PROFILES:
        first, second = (judge(asking(name, {"persistentVolumeClaim": {"claimName": name}}), seen, profile) for name in "pq")
        assert (first.kept is None, second.kept is None) == (True, False)
    for image, score in (("data:2", 0), ("data:2", 0), ("data:1", 23), ("data:1", 23)):
        assert rank(judge(asking("r", {"image": {"reference": image}}), seen, PROFILES[0])).scores_of("a")["ImageLocality"][1] == score


def test_scores_are_not_read_too_late():
    """Scores by plugin are worked out when they are read, so the snapshot must not have changed."""
    seen = Snapshot()
    for name in "ab":
        seen.apply(key_of(node(name)), None, node(name))
    judge(pod("first"), seen, PROFILES[0])  # of a template's first pod nothing is kept
    ranking = rank(judge(pod("second"), seen, PROFILES[0]))
    there = pod("q", node_name="a")
    seen.apply(key_of(there), None, there)
    with pytest.raises(RuntimeError, match="before the snapshot changes"):
        ranking.scores_of("a")


def test_the_switch_is_put_back():
    """The block may end in an error, or lie in another one."""
    def fail():
        with without_shortcuts(columns=False):
            assert attrs.astuple(SHORTCUTS) == (False, False)
            with without_shortcuts():
                assert attrs.astuple(SHORTCUTS) == (False, True)
            assert attrs.astuple(SHORTCUTS) == (False, False)
            return 1 // 0

    with pytest.raises(ZeroDivisionError):
        fail()
    assert attrs.astuple(SHORTCUTS) == (True, True)

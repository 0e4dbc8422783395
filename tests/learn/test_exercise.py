"""A learner's rule is compared with recorded verdicts, and a custom plugin joins a cluster's scheduler."""

from types import SimpleNamespace

import exercise_mutants
import pytest

import kvolsched
from kvolsched.learn.exercise import RecordedCase
from kvolsched.measure.conform import read
from kvolsched.scheduler.framework.custom_plugin import custom_plugin
from kvolsched.scheduler.framework.verdict import OK, Reject

CASES = [(name, mutant) for name, mutants in exercise_mutants.MUTANTS.items() for mutant in mutants]


@pytest.mark.parametrize("name", kvolsched.exercises())
def test_the_reference_passes(name):
    """Our own rule agrees with every shipped verdict, of which some are Yes and some are No."""
    exercise = kvolsched.exercise(name)
    checked = exercise.check(exercise_mutants.reference(name))
    answers = {bool(reasons) for told in exercise.cases for reasons in told.recorded.values()}

    assert checked, checked
    assert checked.agree == checked.of > 0
    assert {True, False} == answers


@pytest.mark.parametrize(("name", "mutant"), CASES)
def test_each_mutant_fails_with_a_picture(name, mutant):
    """Three rules that are almost right are caught; both sides are drawn and printed."""
    checked = kvolsched.exercise(name).check(mutant)

    assert not checked
    answer = checked.first.answer
    assert bool(answer.recorded) != bool(answer.yours)
    assert answer.failed == ""
    figure = checked.first.figure()
    for words in (name, checked.first.case.id, f"node {answer.node}", *answer.recorded):
        assert words in figure.reading
    assert "your rule" in figure.draw(828, "")
    shown = checked._repr_mimebundle_()
    assert {"application/javascript", "text/plain"} == set(shown)
    assert shown["text/plain"].startswith(f"{checked.sentence}.\n{name}")


def test_quantities_are_whole_numbers_and_requests_are_added_up():
    """What no exercise is about is done for the learner: an init container counts beside the others, not on top."""
    fit = kvolsched.exercise("NodeResourcesFit")
    spec = {"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "2"}}}], "overhead": {"cpu": "100m"}}
    asked = kvolsched.Cluster.from_manifests([kvolsched.make.pod("app", cpu="500m", **spec)])["pod/app"]

    assert {"cpu": 2100} == dict(fit.requests(asked))
    assert {"cpu": 500, "memory": 2**30, "example.com/gpu": 2} == fit.amounts({"cpu": "500m", "memory": "1Gi", "example.com/gpu": "2"})


def test_a_revision_is_judged_by_its_own_plugin():
    """Today's rules agree on every node; those of the document know no inclusion policies."""
    spread = kvolsched.exercise("PodTopologySpread")
    design, today = spread.check(kvolsched.design()), spread.check(kvolsched.upstream())

    assert today
    assert not design
    assert design.sentence.startswith("design agrees with PodTopologySpread on 92 of 101 nodes")


def test_where_the_real_rule_says_no_it_says_why():
    """A missed rejection shows the failed comparison and offers the cluster."""
    first = kvolsched.exercise("NodeResourcesFit").check(lambda *_: True).first
    cluster = first.cluster
    cluster.step("scheduler")

    assert ">" in first.evidence[0]
    assert first.node in {node.metadata.name for node in cluster.objects("nodes")}
    assert first.node in cluster.verdicts(first.case.pod["metadata"]["name"]).reading


def test_shipped_cases_are_recorded_ones():
    """The shipped cases are recorded ones, and small."""
    wanted = {(told.plugin, told.id): told for name in kvolsched.exercises() for told in kvolsched.exercise(name).cases}
    ids = {case_id for _, case_id in wanted}
    found = {}
    for family in exercise_mutants.JUDGED:
        for recorded in read(exercise_mutants.RECORDED / f"{family}.jsonl.gz"):
            if recorded.id in ids:
                found |= {key: RecordedCase.of(recorded.case, key[0]) for key in wanted if key[1] == recorded.id}

    assert {key: told.line() for key, told in wanted.items()} == {key: told.line() for key, told in found.items()}
    assert sum(path.stat().st_size for path in exercise_mutants.SHIPPED.iterdir()) < 60_000


@pytest.mark.parametrize(("given", "yours"), [
    (OK, ()), (True, ()), ("", ()), (False, ("no reason given",)), ("too blue", ("too blue",)),
])
def test_a_rule_may_answer_in_many_ways(given, yours):
    """Ok, Reject, True, False and a reason are all answers."""
    told = kvolsched.exercise("TaintToleration").cases[0]

    assert {yours} == {answer.yours for answer in told.ask(lambda *_: given)}


def test_all_reasons_of_a_rule_are_shown():
    """A rule that rejects for two reasons is shown with both, beside the recorded answer, in the text and on the page."""
    first = kvolsched.exercise("TaintToleration").check(lambda *_: Reject(("too blue", "too small"))).first
    assert first.answer.recorded == ()

    assert f"your rule of {first.node}: too blue, too small" in first.figure().reading
    assert "✕ too blue, too small" in first.figure().draw(828, "")


@pytest.mark.parametrize(("rule", "words"), [
    (lambda *_: None, "the rule answers None"),
    (lambda pod, *_: pod.spec.no_such, "AttributeError: "),
])
def test_a_rule_that_does_not_answer_disagrees(rule, words):
    """A rule without an answer does not count as Yes; its error is shown."""
    checked = kvolsched.exercise("NodeAffinity").check(rule)

    assert checked.agree == 0
    assert words in checked.first.answer.failed
    assert words in repr(checked)
    assert "!" in checked.first.figure().draw(828, "")


def test_an_unknown_exercise_names_those_there_are():
    """The error about an unknown exercise lists the names."""
    with pytest.raises(KeyError, match="TaintToleration, NodeAffinity"):
        kvolsched.exercise("NodeResources")


def avoids_a(pod, node, seen):
    """node(s) too near."""
    return node.metadata.name != "node-a"


def test_a_function_appears_in_matrix_message_and_scores():
    """One line makes a rule a plugin with its column, its reason in the event, and its share of the score."""
    c = kvolsched.scenario("zonal-example", "upstream")
    one = c.with_plugin(avoids_a, prefer=lambda *_: 70, weight=3)
    one.step("scheduler")

    assert "avoids_a: node(s) too near" in one.verdicts("my-pod").reading
    assert "avoids_a on node-c: passes" in str(one.verdicts("my-pod", "node-c", "avoids_a"))
    none = c.with_plugin(lambda *_: "node(s) on holiday", name="Holiday")
    none.step("scheduler")
    assert "2 node(s) on holiday" in none.objects("events")[0].message
    both = c.with_plugin(prefer=lambda _pod, node, _seen: 70 if node.metadata.name == "node-b" else 0, weight=9, name="B")
    both.step("scheduler")
    assert "B 70 → 70 × 9 = 630" in both.scores("my-pod").reading
    assert (0, "upstream") == (c.world.step_number, c.revision.name)
    assert "upstream + B" == both.revision.name


class Both:
    """node(s) unloved."""

    def rule(self, pod, node, seen):
        """Say No to one."""
        return node.metadata.name != "node-c"

    def prefer(self, pod, node, seen):
        """Like one too much."""
        return 1_000 if node.metadata.name == "node-b" else -5


def test_a_class_may_judge_and_prefer_and_time_travel_stays():
    """A small class is a plugin; its scores are limited to 0 to 100; the cluster can go back."""
    c = kvolsched.scenario("zonal-example", "upstream").with_plugin(Both)
    c.run()
    end = c.digest()

    assert "node-b" == c["pod/my-pod"].spec.node_name
    assert "Both 1000 → 100 × 1 = 100" in c.scores("my-pod").reading
    c.goto(0)
    assert not c["pod/my-pod"].spec.node_name
    c.run()
    assert end == c.digest()


def test_what_is_no_rule_is_refused():
    """An object without a plugin method is refused; a whole plugin is used unchanged."""
    whole = exercise_mutants.PROFILE.plugin("NodeAffinity")

    assert custom_plugin(whole) is whole
    with pytest.raises(TypeError, match="is no rule"):
        custom_plugin(object())
    with pytest.raises(TypeError, match="is no rule"):
        custom_plugin(SimpleNamespace(name="Gate", pre_enqueue=bool))
    with pytest.raises(TypeError, match="is no rule"):
        custom_plugin()


def test_a_rule_may_join_a_story_that_has_begun():
    """The past stays; the scheduler restarts with the rule and tries waiting pods again."""
    c = kvolsched.scenario("zonal-example", "upstream").with_plugin(lambda *_: False, name="Never")
    c.run()
    steps = c.world.step_number
    assert not c["pod/my-pod"].spec.node_name

    odd = c.with_plugin(prefer=lambda *_: 50, name="Also")
    assert (steps, steps + 1) == (c.world.step_number, odd.world.step_number)
    assert "restarts" in repr(odd._last_step)
    odd.run()
    assert "0/4 nodes are available" in odd["pod/my-pod"].status.condition("PodScheduled").message
    assert len(odd.passes("my-pod")) > len(c.passes("my-pod"))
    odd.goto(1)
    assert c.fork().goto(1).turns[0].words == odd._last_step.turns[0].words

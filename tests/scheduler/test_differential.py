"""Shortcuts change no verdict: every workload of the benchmark, and every recorded case, with each of them off.

Three ways: at every pass of a run the kept judgement is compared with one made anew, rule by rule; whole runs are
compared change by change; and recordings must agree as they do with shortcuts.
"""

from pathlib import Path

import attrs
import pytest
from matrices import matrix
from shortcuts import built_again, contents_kept, no_shortcuts, remembering_functions

from kvolsched.measure.bench import WORKLOADS, workload
from kvolsched.measure.bench.loop import LoopTimer
from kvolsched.measure.conform.agreement import Agreement, read
from kvolsched.measure.conform.families import FAMILIES, compare
from kvolsched.rules.named import revision_named
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.loop import scheduling_cycle
from kvolsched.scheduler.loop.scheduling_cycle import PassNote
from kvolsched.scheduler.shortcuts import without_shortcuts

RECORDED = Path(__file__).parent.parent / "conformance"
FILES = sorted(path for path in RECORDED.iterdir() if path.name != "dumps")
SAMPLE = 4  # recorded cases of each file that `make test` plays


def verdicts(judgement):
    """Return all that a judgement says, and the ranking of the nodes that fit."""
    found = {
        "matrix": matrix(judgement), "sentence": judgement.sentence(), "feasible": judgement.feasible,
        "first rejecting": judgement.first_rejecting, "statuses": judgement.statuses, "error": judgement.error,
    }  # fmt: skip
    if judgement.any_feasible:
        ranking = rank(judgement)
        found |= {"totals": ranking.total(), "best": ranking.best, "ties": ranking.tie_count,
                  "scores": {node: ranking.scores_of(node) for node in ranking.nodes}}  # fmt: skip
    return found


def compared_run(name, nodes, pods):
    """Run a workload, compare each pass with one that takes no shortcuts, and return how many passes there were."""
    passes = []

    def compared(pod, seen, profile):
        kept = judge(pod, seen, profile)
        said = verdicts(kept)
        with without_shortcuts(columns=False):
            anew = verdicts(judge(pod, built_again(seen), profile))
        assert said == anew, f"pass {len(passes) + 1}, of {pod.metadata.name}"
        passes.append(pod)
        return kept

    with pytest.MonkeyPatch.context() as patch, contents_kept():
        patch.setattr(scheduling_cycle, "judge", compared)
        LoopTimer(workload(name), nodes, pods).run(pods)
    return len(passes)


def whole_run(name, nodes, pods):
    """Return every change and every turn of a run; a hash of verdicts is left out, as rules number them otherwise."""
    cluster = LoopTimer(workload(name), nodes, pods).begin(pods)
    cluster.run()
    changes = [(key, *(attrs.evolve(value, fingerprint="") if isinstance(value, PassNote) else value
                       for value in (old, new))) for key, old, new in cluster.world.log.changes]  # fmt: skip
    return changes, [(turn.component, turn.actor, turn.cause, turn.words, turn.start, turn.end) for turn in cluster.world.turns]


def agreement_of(cases):
    """Return how the answers to recorded cases agree."""
    found = Agreement()
    for case in cases:
        compare(case, revision_named(FAMILIES[case.family].revision), found)
    return found


@pytest.mark.parametrize("name", WORKLOADS)
def test_no_pass_says_otherwise(name):
    """Matrix, sentence, scores and ties of each pass are those of rules that judge node by node, from a new snapshot."""
    assert compared_run(name, 6, 8) >= 8


@pytest.mark.parametrize("name", ["mixed", "preemption"])
def test_no_run_goes_otherwise(name):
    """The same changes in the same order, and the same turns in the same words."""
    with no_shortcuts():
        anew = whole_run(name, 6, 6)
    assert whole_run(name, 6, 6) == anew


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_no_recorded_case_is_answered_otherwise(path):
    """Some cases of each file, from all over it: they agree with the real components without shortcuts, too."""
    cases = read(path)
    cases = cases[:: max(1, len(cases) // SAMPLE)]
    with no_shortcuts():
        found = agreement_of(cases)
    assert found.counts == agreement_of(cases).counts, str(found)


@pytest.mark.long
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_pass_of_a_large_run_says_otherwise(name):
    """The same with more nodes, and more pods than they have room for templates that are kept."""
    assert compared_run(name, 40, 80) >= 80


@pytest.mark.long
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_large_run_goes_otherwise(name):
    """The same changes in the same order, and the same turns in the same words."""
    with no_shortcuts():
        anew = whole_run(name, 20, 40)
    assert whole_run(name, 20, 40) == anew


@pytest.mark.long
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.partition(".")[0])
def test_every_recorded_case_agrees_without_shortcuts(path):
    """As many cases agree as with them."""
    cases = read(path)
    with no_shortcuts():
        found = agreement_of(cases)
    assert found.counts == agreement_of(cases).counts, str(found)


def test_functions_that_remember_are_found():
    """Those that the switch empties: among them the sums of requests and the matching of selectors."""
    names = {function.__name__ for function in remembering_functions()}
    assert len(names) > 10, names

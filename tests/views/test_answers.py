"""Pictures of answers: what each shows, at every width, with names that somebody else chose."""

import itertools
import re

import pytest

import kvolsched
from kvolsched.explore import Crash
from kvolsched.questions.explain import Passes, PassRow, Story, StoryRow
from kvolsched.views.answers import answer_figure
from kvolsched.views.frame import Mark
from kvolsched.views.pages import searches, turns
from kvolsched.views.pages.searches import search_rows, wilson

from .pages import told

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def answers():
    """One answer of each kind, of a scenario whose replicas may be stranded."""
    replicas = kvolsched.scenario("two-replicas", "design")
    found, sampled = replicas.explore(progress=False, lag="none"), replicas.sample(12)
    other = replicas.fork("other")
    replicas.run()
    other.cordon("node-a")
    other.run()
    return {
        "found": found, "sample": sampled, "story": replicas.story("pod/web-0"), "passes": replicas.passes("web-0"),
        "diff": replicas.diff(other), "equal": replicas.diff(replicas.fork("same")),
        "exhausted": kvolsched.scenario("zonal-example").explore(progress=False),
        "unfinished": kvolsched.scenario("two-replicas").explore(progress=False, max_states=40),
    }  # fmt: skip


NAMES = ("found", "sample", "story", "passes", "diff", "equal", "exhausted", "unfinished")


@pytest.mark.parametrize("name", NAMES)
def test_the_reading_is_what_prints(answers, name):
    """A notebook's picture reads as the answer prints."""
    assert repr(answers[name]) == answer_figure(answers[name]).reading


def test_a_trace_names_each_turn_once_in_its_lane(answers):
    """A failure has one column for each turn of its trace, and says how it ends."""
    rows = search_rows(answers["found"])
    svg = answers["found"].figure().draw(828, "")
    labels = re.findall(r'data-key="mark-\d+"[^>]*aria-label="(\d+)\.', svg)
    assert [str(turn.step) for turn in rows.turns] == labels
    assert rows.headline == answers["found"].counterexample.cause
    assert rows.found.endswith(f"({answers['found'].counterexample.end}).")
    assert [1, 2, 20] == [turn.step for turn in rows.turns if turn.decides]
    assert [20] == [turn.step for turn in rows.turns if turn.ringed]
    assert len(rows.turns) == len(answers["found"].counterexample.story)


def test_a_crash_is_ringed_and_told():
    """Of a long trace the faults and the last turn always have a column and a line."""
    claims = kvolsched.scenario("zonal-example")
    rows = search_rows(claims.explore(progress=False, faults=[Crash("kube-scheduler")], lag="none",
                                      until=lambda c: any(pod.spec.node_name for pod in c.objects("pods"))))
    assert rows.turns[-1].ringed
    long = tuple(searches.ToldTurn(n, "actor", f"turn {n}", mark=Mark(n, "note"), decides=n in (3, 90), ringed=False, behind=0) for n in range(1, 91))
    drawn = searches.draw_search(searches.SearchRows("Found", False, "", long, (), "", ()), 560)
    shown = [int(n) for n in re.findall(r'data-key="mark-\d+"[^>]*aria-label="(\d+)\.', drawn)]
    assert {3, 90} <= set(shown)
    assert len(shown) < 40


def test_ends_beyond_the_eighth_share_one_line():
    """Many ends are eight bars and the sum of the others."""
    ends = tuple(searches.EndBar(f"end {n}", 10 - n, good=True) for n in range(10))
    svg = searches.draw_search(searches.SearchRows("Exhausted", True, "", (), ends, "Ends", ()), 700)
    assert 8 == svg.count('class="k-bar"')
    assert "2 other ends: 3 states" in svg


def test_interval_of_a_share():
    """Wilson's interval at 95 %, as tables print it: 5 of 10 is 24 to 76 %, none of 10 at most 28 %."""
    assert (0.24, 0.76) == tuple(round(bound, 2) for bound in wilson(5, 10))
    assert (0.0, 0.28) == tuple(round(bound, 2) for bound in wilson(0, 10))
    assert (0.0, 1.0) == wilson(0, 0)


def test_words_of_somebody_else_stay_words():
    """Names and values from manifests are escaped in every table."""
    acts = (searches.ToldTurn(1, HOSTILE, HOSTILE, Mark(1, "note"), True, True, 0),)
    told_turns = (StoryRow(1, 0.0, HOSTILE, HOSTILE, (f"{HOSTILE}: {HOSTILE} → {HOSTILE}", "{y} {")),)
    drawn = [
        turns.draw_story(Story(HOSTILE, told_turns), 600),
        turns.draw_passes(Passes(HOSTILE, "upstream", (PassRow(1, 0, "", HOSTILE, 0, 1, 2),), ""), 600),
        turns.draw_diff(turns.DifferentClusters((HOSTILE, "b"), 1, (turns.DifferenceRow(HOSTILE, HOSTILE, HOSTILE, ""),), (HOSTILE,), ""),
                        600),
        searches.draw_search(searches.SearchRows(HOSTILE, False, "", acts, (searches.EndBar(HOSTILE, 1, True),), "", (HOSTILE,)), 600),
        searches.draw_sample(searches.SampleRows(HOSTILE, 1, 1, (0, 1), (searches.EndBar(HOSTILE, 1, False),), "", ""), 600),
    ]
    for svg, tag in itertools.product(drawn, ("<script", "{{")):
        assert tag not in svg
    assert "{y} {" in told(drawn[0])


def test_a_turn_without_words_is_told_by_its_actor():
    """Where nothing says what a turn did, the line has who acted, on the page and in the text."""
    story = Story("pod/a", (StoryRow(3, 1.0, "queue", "", ("spec.x: 1 → 2",)), StoryRow(4, 1.5, "queue", "it lets a go", ())))

    assert "31 squeuespec.x: 1 → 241.5 sIt lets a go." in told(turns.draw_story(story, 600))
    assert ["queue", "It lets a go."] == re.findall(r"t=[\d.]+ s +(.*)", repr(story))


@pytest.mark.parametrize("value", ["x" * 300, "word " * 60, "node(s) " + "x" * 120 + " " + "y" * 90])
def test_a_diff_shows_its_values_whole(value):
    """Two long values that differ at their ends do not look alike: nothing of them is cut."""
    row = turns.DifferenceRow("pod/web", "spec.x", f"{value}one", f"{value}two")
    for width in (560, 1240):
        drawn = told(turns.draw_diff(turns.DifferentClusters(("a", "b"), 1, (row,), (), ""), width))
        assert (True, True) == (row.left in drawn, row.right in drawn)

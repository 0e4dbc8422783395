"""Pictures of answers: what each shows, at every width, with names that somebody else chose."""

import itertools
import re

import pytest

import kvolsched
from kvolsched.explore import Crash
from kvolsched.questions.differences import EXISTS, PASSES, Diff
from kvolsched.questions.explain import FieldChange, Passes, PassRow, Story, StoryRow
from kvolsched.views.answers import answer_figure
from kvolsched.views.frame import Mark
from kvolsched.views.pages import searches, turns
from kvolsched.views.pages.searches import search_rows, wilson

from .pages import cells, faults, told

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


def test_a_change_has_what_it_became_in_bold():
    """The field and the old value are quiet, the new one bold; what is no field, and an event, is quiet as a whole."""
    changes = ("spec.x: 1 → 2", "spec.y: new", "created", "event Scheduled: on a → b")
    page = turns.draw_story(Story("pod/web", (StoryRow(3, 1.5, "queue", "it lets a go", changes),)), 600)

    assert ['<div><span class="k-soft">spec.x: 1 → </span><b>2</b></div>', '<div><span class="k-soft">spec.y: </span><b>new</b></div>',
            '<div class="k-soft">created</div>', '<div class="k-soft">event Scheduled: on a → b</div>'] == re.findall(
                r'<div(?: class="k-soft")?>.*?</div>', page)  # fmt: skip
    assert [["3", "1.5 s", f"It lets a go.{''.join(changes)}"]] == cells(page)
    assert [] == faults(page)
    assert "Story of pod/webNo turn has changed it." == told(turns.draw_story(Story("pod/web", ()), 600))


def test_each_pass_says_when_how_many_nodes_fit_and_which_it_chose():
    """A bar has the share of the judged nodes that fit, none where none was judged; without a pass it is said why."""
    passes = (PassRow(3, 1.5, "", "a", 3, 1, 4), PassRow(14, 2, "", "", 0, 0, 0), PassRow(15, 3, "", "", 1, 0, 1))
    page = turns.draw_passes(Passes("pod/web", "upstream", passes, ""), 600)

    assert [["pass", "step", "time", "nodes that fit", "", "chooses"], ["1", "3", "1.5 s", "", "1 of 4", "★ a"],
            ["2", "14", "2 s", "", "0 of 0", "none"], ["3", "15", "3 s", "", "0 of 1", "none"]] == cells(page)
    assert ["25%", "0%", "0%"] == re.findall(r'k-s-ok" style="width:([^"]+)', page)
    assert ("k-t-ok", "★ a") in re.findall(r'<b class="([^"]+)">([^<]+)', page)
    assert [] == faults(page)
    none, why = (told(turns.draw_passes(Passes("pod/web", "upstream", (), words), 600)) for words in ("", "It is gated."))
    assert "Scheduling passes of pod/web, rules upstreamIt has had no scheduling pass." == none
    assert f"{none} It is gated." == why


def test_a_diff_names_an_object_once_and_counts_what_differs():
    """Fields of one object stand below its name; what is not there is a dash, a whole object is called so, passes are counted."""
    rows = (("pod/x", FieldChange("spec.x", "1", "2")), ("pod/x", FieldChange(EXISTS, "there", "")), ("pod/y", FieldChange("spec.x", "", "2")))
    answer = Diff(("a", "b"), rows, (("pod/z", FieldChange(PASSES, "1", "2")),), ("Rules b do not read it.",), "They part at step 3.")
    page = turns.draw_diff(turns.different_fields(answer), 600)

    assert [["", "object", "field", "a", "b"], ["≠", "pod/z", "scheduling passes", "1", "2"], ["≠", "pod/x", "spec.x", "1", "2"],
            ["≠", "", "the object", "there", "–"], ["≠", "pod/y", "spec.x", "–", "2"]] == cells(page)
    assert told(page).startswith("4 differences between a and bThey part at step 3.")
    assert told(page).endswith("– Rules b do not read it.")
    assert [] == faults(page)
    equal = turns.draw_diff(turns.different_fields(Diff(("a", "b"), (), (), (), "")), 600)
    assert "0 differences between a and bThe objects are equal." == told(equal)


@pytest.mark.parametrize("value", ["x" * 300, "word " * 60, "node(s) " + "x" * 120 + " " + "y" * 90])
def test_a_diff_shows_its_values_whole(value):
    """Two long values that differ at their ends do not look alike: nothing of them is cut."""
    row = turns.DifferenceRow("pod/web", "spec.x", f"{value}one", f"{value}two")
    for width in (560, 1240):
        drawn = told(turns.draw_diff(turns.DifferentClusters(("a", "b"), 1, (row,), (), ""), width))
        assert (True, True) == (row.left in drawn, row.right in drawn)

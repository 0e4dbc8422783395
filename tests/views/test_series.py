"""The chart of counts over time: pictures are parsed, readings are compared word for word."""

import pytest

import kvolsched
from kvolsched.questions.series import Timeline, TimelinePoint
from kvolsched.views.drawing import text as t
from kvolsched.views.fill import over_steps as filled
from kvolsched.views.pictures import series

from . import plain


def rows(*clusters, panes=(("running", "pods", ((0, 0), (1, 12))),), until=2.0, **fields):
    """Return rows with the same lines for each cluster; a cluster's line is (time, value) by its number."""
    made = tuple(
        plain.SeriesPane(measure, tuple(
            Timeline(measure, name, "", unit,
                     tuple(TimelinePoint(time, value - number, step) for step, (time, value) in enumerate(points)),
                     until, (), 9) for number, name in enumerate(clusters)), unit)
        for measure, unit, points in panes
    )  # fmt: skip
    return plain.SeriesRows(clusters, (0,) * len(clusters), made, until=until, **fields)


def test_reading_word_for_word():
    """A count is a line: first and last value of each cluster, when the last was reached, a greater one between."""
    panes = (("running", "pods", ((0, 2), (1, 12))), ("pending", "pods", ((0, 2), (0, 12), (2, 2))), ("skew", "pods", ()))
    drawn = rows("design", "upstream", panes=panes[:2])
    empty = plain.SeriesPane("skew", (), "pods")
    expected = """\
design runs 12 of 14 pods, upstream 11 of 12
2 runs, seed 0, t = 0 to 2 s
running  design 2 → 12 at 1 s  upstream 1 → 11 at 1 s
pending  design 12 → 2 at 2 s  upstream 11 → 1 at 2 s
skew     No pod has a spread constraint."""

    assert series.reading(plain.SeriesRows(drawn.clusters, drawn.seeds, (*drawn.panes, empty), until=2.0)) == expected


def test_many_clusters_are_told_in_rows():
    """Over 4 clusters the sentence has a range, the reading a row for each."""
    drawn = rows(*(f"seed {number}" for number in range(6)), panes=(("running", "pods", ((0, 9),)),
                                                                  ("pending", "pods", ((0, 6),))))  # fmt: skip
    assert series.sentence(drawn) == "seed 0 runs 9 of 15 pods, the 5 others run 4 to 8"
    assert len(series.reading(drawn).splitlines()) == 14


def test_still_time_is_drawn_over_steps():
    """A run whose time never moves has an axis of steps."""
    cluster = kvolsched.scenario("six-in-three-zones")
    cluster.run()
    figure = cluster.series(what=["running", "cpu held"])

    assert repr(figure).splitlines()[1:] == [
        "one run, seed 0, 18 steps at t = 0 s",
        "running          design 0 → 6 at step 18",
        "cpu held, cores  design 0 → 0.6 at step 6",
    ]
    assert ">step<" in figure.svg


def test_held_keeps_its_sum():
    """`held` is the count of cpu, with cores × seconds."""
    slow = {"zonal.example.com": {"delay": 60.0}}
    design, upstream = (kvolsched.scenario("replicated-database", rules, **slow) for rules in ("design", "upstream"))
    design.run()
    upstream.run()
    expected = """\
cpu held: design 0, upstream 130 cores·s in all
2 runs, seed 2, t = 0 to 65 s
cpu held, cores  design 0 → 2 at 65 s, 0 cores·s  upstream 2, 130 cores·s"""

    assert repr(design.series(upstream, what="cpu held")) == expected


def test_short_numbers_and_ticks():
    """Numbers lose nothing that is seen; ticks are round, and whole for what is counted."""
    assert [t.short(value) for value in (12, 0.35, 1458.2, 0)] == ["12", "0.35", "1,458", "0"]
    assert t.ticks(12, 4, whole=True) == [0, 3, 6, 9, 12]
    assert t.ticks(1, 4, whole=True) == [0, 1]
    assert t.ticks(2.06, 5, whole=False) == [0, 0.5, 1, 1.5, 2]


def test_the_place_is_that_of_the_first_cluster():
    """Step and time are those of the first cluster, whatever the others' are; each value is told with its moment."""
    slow = {"zonal.example.com": {"delay": 60.0}}
    first, other = (kvolsched.scenario("zonal-example", "upstream", **slow) for _ in range(2))
    first.run()
    other.run()
    first.goto(3)
    asked = filled.series([first, other], ["running"])

    assert (0.0, 3, False) == (asked.time, asked.step, asked.is_at_end)
    assert f"running  zonal-example 1 0 → 1 at {other.now:g} s  zonal-example 2 0 → 1 at {other.now:g} s" == (
        series.reading(asked).splitlines()[2])
    assert filled.series([other, first], ["running"]).is_at_end


@pytest.mark.parametrize(("points", "words"), [
    (((0, 0), (1, 3), (1, 2), (4, 2)), "design 0 → 2 at 1 s, most 3"),  # when it was reached, not when it was last told
    (((0, 0), (1, 3), (2, 0)), "design 0, most 3"),
    (((0, 5),), "design 5"),
    (((0, 1), (3, 4), (3.5, 6)), "design 1 → 6 at 3.5 s"),
])
def test_a_line_is_told_with_the_moment_at_which_it_ends_up(points, words):
    """First and last value, the moment of the last, and the greatest between them if it is greater than both."""
    assert f"skew  {words}" == series.reading(rows("design", panes=(("skew", "pods", points),), until=5.0)).splitlines()[-1]

"""Sweeps: the same table whoever calls the points, kept when interrupted, with what failed beside it."""

import json
import math
import os
import re
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from kvolsched import sweep
from kvolsched.measure.sweep import SweepFailed, SweepRows
from kvolsched.questions.executors import Portable

GRID = {"zones": [2, 3], "seed": range(4)}


def drawn(zones, seed):
    """Return what depends on the arguments alone."""
    return {"odd": bool((zones * 7 + seed) % 2), "sum": zones + seed}


def dying(n, marker):
    """End its process without a word the first time."""
    if n == 1 and not Path(marker).exists():
        Path(marker).touch()
        os._exit(1)
    return n


class Here(Executor):
    """An executor that calls at once, and breaks after some calls."""

    def __init__(self, calls=1000):
        self.calls = calls

    def submit(self, fn, /, *args, **kwargs):
        if not self.calls:
            raise BrokenProcessPool("a process ended")
        self.calls -= 1
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_every_combination_is_a_row():
    """A row has the point's values and what the function returned, in the order of the grid."""
    found = sweep(drawn, GRID, progress=False)

    assert [(z, s) for z in (2, 3) for s in range(4)] == [(row["zones"], row["seed"]) for row in found]
    assert {"zones": 3, "seed": 1, "odd": False, "sum": 4} == found[5]
    assert found.complete
    assert 8 == len(found)


@pytest.mark.parametrize("executor", [Here(), Here, lambda: ThreadPoolExecutor(3), lambda: ProcessPoolExecutor(2)])
def test_every_executor_gives_the_same_table(executor):
    """An executor or a function that makes one changes nothing of the rows."""
    assert sweep(drawn, GRID, progress=False).rows == sweep(drawn, GRID, executor, progress=False).rows


def test_points_may_be_given():
    """A grid may be a list of points, and a function may return several rows or one value for each."""
    points = [{"n": 2}, {"n": 0}, {"n": 1}]

    assert [{"n": 2, "k": 0}, {"n": 2, "k": 1}, {"n": 1, "k": 0}] == sweep(
        lambda n: ({"k": k} for k in range(n)), points, progress=False).rows
    assert [4, 0, 1] == [row["result"] for row in sweep(lambda n: n * n, points, progress=False)]


def test_an_interrupted_sweep_goes_on():
    """What was called before the interruption is kept, and only the rest is called later."""
    called = []

    def stopping(n):
        called.append(n)
        if called == [0, 1, 2]:
            raise KeyboardInterrupt
        return n

    first = sweep(stopping, {"n": range(4)}, progress=False)
    assert [0, 1] == [row["n"] for row in first]
    assert "2 rows of 4 points\ninterrupted: 2 points left; .resume() goes on" in repr(first)
    assert not first.complete

    whole = first.resume(progress=False)
    assert [0, 1, 2, 3] == [row["result"] for row in whole]
    assert [0, 1, 2, 2, 3] == called


def test_a_broken_pool_is_made_again(tmp_path):
    """A function that makes pools is asked again for one; the table is whole."""
    grid = {"n": range(4), "marker": [str(tmp_path / "died")]}

    assert [0, 1, 2, 3] == [row["result"] for row in sweep(dying, grid, lambda: ProcessPoolExecutor(1), progress=False)]


def test_a_broken_executor_ends_the_sweep():
    """An executor that was handed in is not replaced: the sweep says that it broke and what it has."""
    found = sweep(drawn, GRID, Here(calls=0), progress=False)

    assert "the executor broke (a process ended)" == found.ended
    assert found.resume(Here(), progress=False).complete


def test_failures_stand_beside_the_rows():
    """A point at which the function raises is a failure; the others have their rows, and resume calls it again."""
    found = sweep(lambda n: 6 // n, {"n": [0, 2]}, progress=False)

    assert [3] == [row["result"] for row in found]
    assert ["n=0: ZeroDivisionError: integer division or modulo by zero"] == list(map(str, found.failures))
    assert not found.complete
    with pytest.raises(SweepFailed, match="n=0: ZeroDivisionError"):
        sweep(lambda n: 6 // n, {"n": [0]}, progress=False)


def test_a_file_keeps_what_was_called(tmp_path):
    """A sweep reads what its file keeps of its points, also after its last line was cut off, and calls the rest."""
    path = tmp_path / "kept.jsonl"
    sweep(drawn, {"zones": [2], "seed": range(2)}, progress=False, keep=path)
    with path.open("a") as file:
        file.write('{"point": {"zo')
    called = []

    def noting(zones, seed):
        called.append((zones, seed))
        return drawn(zones, seed)

    assert sweep(drawn, GRID, progress=False).rows == sweep(noting, GRID, progress=False, keep=path).rows
    assert (2, 0) not in called
    assert 6 == len(called)
    assert 8 == len([json.loads(line) for line in path.read_text().splitlines()])
    path.write_text("[1]\n")
    with pytest.raises(ValueError, match="line 1: not what a sweep keeps"):
        sweep(drawn, GRID, progress=False, keep=path)


@pytest.mark.parametrize(("grid", "words"), [
    ({}, "the grid has no point"),
    ({"n": []}, "the grid has no point"),
    ({"node count": [1]}, "'node count' cannot be an argument"),
])
def test_grids_without_meaning_are_refused(grid, words):
    """A grid without a point, and names that are no arguments, are refused before anything is called."""
    with pytest.raises(ValueError, match=words):
        sweep(drawn, grid)


def test_a_row_that_contradicts_its_point_is_a_failure():
    """A returned column may repeat an argument, but not with another value."""
    with pytest.raises(SweepFailed, match="column 'n' is an argument"):
        sweep(lambda n: {"n": n + 1}, {"n": [1]}, progress=False)


def test_means_have_intervals():
    """Shares have Wilson's interval, numbers 1.96 standard errors; unknown columns are named with those there are."""
    found = sweep(drawn, GRID, progress=False)

    assert {"zones": 2, "odd": 0.5, "low": 0.15, "high": 0.85, "count": 4} == found.means("odd", "zones")[0]
    assert {"sum": 4.0, "low": 3.0927, "high": 4.9073, "count": 8} == found.means("sum")[0]
    with pytest.raises(ValueError, match="no column 'odds'; there are zones, seed, odd, sum"):
        found.means("odds")


def test_functions_of_cells_travel_with_cloudpickle():
    """With cloudpickle a lambda goes to another process, with the names it uses."""
    bound = 3
    with ProcessPoolExecutor(1) as pool:
        assert [3, 4] == [row["result"] for row in sweep(lambda n: n + bound, {"n": [0, 1]}, pool, progress=False)]


def test_without_cloudpickle_the_message_says_what_to_install(monkeypatch):
    """A function that does not travel is refused with the extra that helps."""
    monkeypatch.setitem(__import__("sys").modules, "cloudpickle", None)
    with pytest.raises(ValueError, match=r"kvolsched\[parallel\]"), ProcessPoolExecutor(1) as pool:
        sweep(lambda n: n, {"n": [0, 1]}, pool, progress=False)
    assert drawn is Portable(drawn).f


def test_the_table_is_a_data_frame_where_pandas_is(monkeypatch):
    """Without pandas the table is the list of rows."""
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    found = sweep(drawn, GRID, progress=False)

    assert found.rows == found.table


CHART = sweep(lambda side, kind, seed: (seed * 7) % side == len(kind), {"side": [2, 4], "kind": ["a", "bb"], "seed": range(20)},
              progress=False)


def test_a_chart_shows_what_a_formula_says_beside_what_was_found():
    """`expected` is asked for each point, with the line it is on; the reading has both, and so have bars."""
    half = sweep(lambda side, seed: seed % side == 0, {"side": [2, 4], "seed": range(20)}, progress=False)
    chart = half.chart("side", expected=lambda side: 1 / side)
    assert "0.25 (0.112 to 0.469), expected 0.25" in chart.reading
    both = CHART.chart("side", by="kind", expected=lambda side, kind: side + (kind == "bb"))
    assert "expected 5" in both.reading
    assert "expected 4" in CHART.chart("kind", by="side", expected=lambda kind, side: side * len(kind)).reading


def test_a_chart_of_several_rows_at_one_place_shows_their_mean():
    """What is averaged over is not named; the chart then shows the mean with its interval."""
    assert CHART.means("result", "side", "kind").chart("side", by="kind").reading == CHART.chart("side", by="kind").reading
    assert "(0.299 to 0.701)" in CHART.chart("side", by="kind").reading


def test_a_field_that_is_left_out_is_a_name_along_the_bottom():
    """None is what a what-if calls a field that is not there; a row may also lack the column."""
    rows = SweepRows([{"policy": None, "result": 1}, {"policy": "Honor", "result": 2}])
    assert rows.chart("policy").reading.splitlines()[2:] == ["None    1", "Honor   2"]
    assert SweepRows([{"result": 1}, rows[1]]).chart("policy").reading == rows.chart("policy").reading


def test_no_two_lines_of_a_chart_look_alike():
    """As many lines as a chart may have differ in their mark and in how they are dashed, not in colour alone."""
    found = SweepRows({"x": x, "of": name, "result": x} for x in (1, 2) for name in "abcdefgh").chart("x", by="of")
    line, point = (layer["encoding"] for layer in found.chart.to_dict()["layer"])

    assert ({"color", "strokeDash"}, {"color", "shape"}) == (set(line) - {"x", "y"}, set(point) - {"x", "y", "tooltip"})


@pytest.mark.parametrize(("call", "words"), [
    (lambda: CHART.chart("sides"), "no column 'sides'; there are side, kind, seed, result"),
    (lambda: CHART.means("result", "side", "kind").chart("side"), "two rows at side=2"),
    (lambda: CHART.chart("seed", "kind", by="side"), "'a'"),
    (lambda: CHART.chart("seed", by="side", log="x"), "above 0"),
    (lambda: CHART.chart("side", log="z"), "log='z'"),
    (lambda: CHART.chart("side", by="seed"), "20 lines: a chart shows 1 to 8"),
    (lambda: SweepRows([{"x": 1, "result": math.nan}]).chart("x"), "result is nan at x=1"),
    (lambda: SweepRows([{"x": math.inf, "result": 1}]).chart("x"), "x is inf at"),
    (lambda: SweepRows([{"x": 1, "result": None}]).chart("x"), "no row has a value of result"),
    (lambda: SweepRows([{"x": 1, "result": 2}]).chart("x", log="y", expected=lambda x: x - 1), "expected is 0 at x=1"),
])
def test_what_cannot_be_drawn_is_told(call, words):
    """A chart names the column, the row and the rule that it breaks."""
    with pytest.raises(ValueError, match=re.escape(words)):
        call()


def test_a_chart_without_a_title_has_no_room_for_one():
    """A title takes the height of its line; no title takes none."""
    rows = sweep(lambda zones: zones, {"zones": [1, 2, 3]}, progress=False)
    high = [float(re.search(r'height="([0-9.]+)"', rows.chart("zones", title=title).draw(600, ""))[1]) for title in ("", "what")]
    assert high[0] + 20 < high[1]

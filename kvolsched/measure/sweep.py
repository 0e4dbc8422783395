"""Sweeps: one function called at every point of a grid, its answers as the rows of a tidy table.

A point is called alone and its rows stand at its place in the grid, so every executor gives the same table. What was
called is kept: a sweep that was interrupted says so, and `resume` calls the points that are left.
"""

from __future__ import annotations

import importlib
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack
from itertools import product
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
from tqdm.auto import tqdm

from ..api.notebook_output import PrintedAnswer, Table
from ..questions.executors import AnyExecutor, Portable, Workers

if TYPE_CHECKING:
    from ..views.charts.figure import ChartFigure

Point = Mapping[str, Any]
Row = dict[str, Any]
Grid = Mapping[str, Iterable[Any]] | Iterable[Point]
Expected = Callable[..., float]

RESULT = "result"  # the column of a function that returns one value
MAX_PRINTED_ROWS, MAX_PRINTED_FAILURES = 12, 4


class SweepFailed(RuntimeError):
    """Raised when the function failed at every point; the message has the first failure."""


class SweepRows(Table):
    """Rows of a sweep, or their means."""

    def chart(
        self, x: str, y: str = RESULT, by: str = "", *, title: str = "", log: str = "",
        expected: Expected | None = None,
    ) -> ChartFigure:  # fmt: skip
        """Chart one column over another: lines over numbers, bars over names; an altair chart at `.chart`.

        Columns `low` and `high`, which `means` makes, are drawn as the interval of `y`.

        Args:
            x: the column along the bottom.
            y: the column that is drawn; rows with None in it are left out.
            by: the column of which each value is a line of its own.
            title: a sentence over the chart: what it shows.
            log: which axes are logarithmic: "x", "y" or "xy".
            expected: what a formula says of x, or of x and `by`: a thin line, or a mark on a bar.

        Raises:
            ValueError: no row has such a column, or a value of `y`; `y` is no finite number; a value is not above 0 on
                a logarithmic axis; two rows stand at one place; or there are too many lines.

        >>> from kvolsched import sweep
        >>> s = sweep(lambda side, seed: (seed * 7) % side == 0, {"side": [2, 4], "seed": range(100)}, progress=False)
        >>> s.means("result", "side").chart("side", title="How often?")
        How often?
        result by side
        side  result
        2     0.5 (0.404 to 0.596)
        4     0.25 (0.175 to 0.343)
        """
        from ..views.show import sweep_chart  # noqa: PLC0415 - drawn only when asked for

        rows = _chart_rows(self, x, y, by, log, expected)
        return sweep_chart(rows, x, y, by, title, "" if isinstance(rows[0][x], str) else log)


@attrs.frozen
class PointFailure:
    """A point at which the function raised an exception.

    Args:
        point: the arguments.
        error: the exception in one line, `KeyError: 'zones'`.
    """

    point: Point
    error: str

    def __str__(self) -> str:
        return f"{_point_text(self.point)}: {self.error}"


@attrs.frozen
class Answered:
    """What one call gave: its rows, or the exception it raised, in one line."""

    rows: tuple[Row, ...] = ()
    error: str = ""


@attrs.frozen(repr=False, eq=False)
class Sweep(PrintedAnswer):
    """The table of a sweep: a sequence of rows, each a dict with the point's arguments and what the function returned.

    Args:
        function: what is called.
        points: every point of the grid, in its order.
        answers: number of a point -> what its call gave.
        ended: why points are left; "" if none is.
        keep: the file that keeps what was called.
    """

    function: Callable[..., Any]
    points: tuple[Point, ...]
    answers: Mapping[int, Answered]
    ended: str = ""
    keep: Path | None = None

    @property
    def rows(self) -> list[Row]:
        """The rows, in the order of the grid."""
        called = sorted(self.answers.items())
        return [{**self.points[number], **row} for number, answer in called for row in answer.rows]

    @property
    def table(self) -> Any:
        """The rows as a `pandas.DataFrame`; without pandas, the list of rows."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            return SweepRows(self.rows)
        return pandas.DataFrame(self.rows)

    @property
    def failures(self) -> tuple[PointFailure, ...]:
        """The points at which the function raised an exception."""
        called = sorted(self.answers.items())
        return tuple(PointFailure(self.points[number], answer.error) for number, answer in called if answer.error)

    @property
    def complete(self) -> bool:
        """Whether every point was called, and none failed."""
        return len(self.answers) == len(self.points) and not self.failures

    def means(self, column: str, *by: str) -> SweepRows:
        """Return the mean of a column for each combination of other columns, with its 95 % interval.

        Of yes and no it is the share of yes, with Wilson's interval; of numbers the interval is the mean plus and minus
        1.96 standard errors.

        Args:
            column: what is averaged; rows without it or with None in it are left out.
            by: the columns that stay; those left out, such as `seed`, are averaged over.

        Raises:
            ValueError: no row has such a column, or a value is no number.

        >>> from kvolsched import sweep
        >>> s = sweep(lambda side, seed: (seed * 7) % side == 0, {"side": [2, 4], "seed": range(100)}, progress=False)
        >>> s.means("result", "side")
        side  result  low     high    count
        2     0.5     0.4038  0.5962  100
        4     0.25    0.1755  0.343   100
        """
        rows = self.rows
        known = list(dict.fromkeys(name for row in rows for name in row))
        if unknown := [name for name in (column, *by) if name not in known]:
            raise ValueError(f"no column {', '.join(map(repr, unknown))}; there are {', '.join(known) or 'none'}")
        groups: dict[tuple[Any, ...], list[Any]] = {}
        for row in rows:
            if row.get(column) is not None:
                groups.setdefault(tuple(row.get(name) for name in by), []).append(row[column])
        named = ((dict(zip(by, group, strict=True)), values) for group, values in groups.items())
        return SweepRows({**group, **_mean(column, values)} for group, values in named)

    def chart(
        self, x: str, y: str = RESULT, by: str = "", *, title: str = "", log: str = "",
        expected: Expected | None = None,
    ) -> ChartFigure:  # fmt: skip
        """Chart one column over another, as of `SweepRows`; of several rows at one place the mean and its interval.

        Raises:
            ValueError: no row has such a column, a value cannot be drawn, or there are too many lines.
        """
        places = [(row.get(x), row.get(by)) for row in self.rows if row.get(y) is not None]
        axes = [name for name in (x, by) if name]
        averaged = len(set(places)) < len(places)
        rows = self.means(y, *axes) if averaged else SweepRows(self.rows)
        return rows.chart(x, y, by, title=title, log=log, expected=expected)

    def resume(self, executor: AnyExecutor | None = None, *, progress: bool = True) -> Sweep:
        """Return the sweep with the points that are left called, and those that failed called again.

        Args:
            executor: as of `sweep`; it need not be that of the calls before.
            progress: show a bar while it runs.

        Raises:
            SweepFailed: the function failed at every point.

        >>> from kvolsched import sweep
        >>> s = sweep(lambda n: 12 // n, {"n": [0, 3]}, progress=False)
        >>> s
        n  result
        3  4
        1 row of 2 points; 1 failed: n=0: ZeroDivisionError: integer division or modulo by zero
        >>> s.resume(progress=False).failures[0].point
        {'n': 0}
        """
        kept = {number: answer for number, answer in self.answers.items() if not answer.error}
        return _run(self.function, self.points, kept, executor, self.keep, progress=progress)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, number: int) -> Row:
        return self.rows[number]

    def __repr__(self) -> str:
        rows = self.rows
        return "\n".join([*([repr(Table(rows[:MAX_PRINTED_ROWS]))] if rows else []), *self._summary(len(rows))])

    def _summary(self, rows: int) -> Iterator[str]:
        """Yield the lines under the table: the counts, the first failures, and how to go on."""
        points = len(self.points)
        cut = f", the first {MAX_PRINTED_ROWS} shown" if rows > MAX_PRINTED_ROWS else ""
        failures = self.failures
        head = f"{_count(rows, 'row')} of {_count(points, 'point')}{cut}"
        if len(failures) == 1:
            yield f"{head}; 1 failed: {failures[0]}"
        else:
            yield f"{head}; {len(failures)} failed:" if failures else head
            yield from (f"  {failure}" for failure in failures[:MAX_PRINTED_FAILURES])
        if left := points - len(self.answers):
            yield f"{self.ended}: {_count(left, 'point')} left; .resume() goes on"


def sweep(
    f: Callable[..., Any], grid: Grid, executor: AnyExecutor | None = None,
    progress: bool = True, *, keep: str | Path = "",  # noqa: FBT001, FBT002 - short to switch off
) -> Sweep:  # fmt: skip
    """Call a function at every point of a grid, and return its answers as a tidy table.

    For what-if grids, and for Monte-Carlo: name an argument `seed`, give it `range(100)`, and average over it with
    `means`. The table is the same for every executor if the function depends on its arguments alone.

    Args:
        f: called with a point's values by name. It returns a dict (a row), several dicts, or one value (column
            `result`). What it raises is kept as a failure of its point.
        grid: name -> its values; every combination is a point. Or the points themselves, as dicts.
        executor: None: one point after the other, here. Any executor of `concurrent.futures`, or a function that makes
            one, such as `ProcessPoolExecutor`: a pool that breaks is then made again. `client.get_executor()` of
            `dask.distributed` is one, too. For processes, functions of a notebook's cells need cloudpickle.
        progress: show a bar while it runs.
        keep: a file that keeps what was called, a line of JSON a point, and is read again by the next sweep.

    Raises:
        ValueError: the grid has no point or two equal names, the function does not travel to other processes, or the
            file keeps something else.
        SweepFailed: the function failed at every point.

    >>> from kvolsched import scenario, sweep
    >>> def running(zones, mode):
    ...     c = scenario("immediate-trap", zones=zones, mode=mode)
    ...     _ = c.run(seconds=600)
    ...     return {"running": sum(pod.status.phase == "Running" for pod in c.objects("pods"))}
    >>> sweep(running, {"zones": [2, 4], "mode": ["Immediate", "WaitForFirstConsumer"]}, progress=False)
    zones  mode                  running
    2      Immediate             1
    2      WaitForFirstConsumer  2
    4      Immediate             1
    4      WaitForFirstConsumer  4
    4 rows of 4 points
    """
    points = _points(grid)
    path = Path(keep) if keep else None
    kept = _read_kept(path, points) if path is not None else {}
    return _run(f, points, kept, executor, path, progress=progress)


def _points(grid: Grid) -> tuple[Point, ...]:
    """Return the points of a grid, the last name changing first."""
    if isinstance(grid, Mapping):
        values = {name: list(each) if not isinstance(each, str | bytes) else [each] for name, each in grid.items()}
        points = [dict(zip(values, point, strict=True)) for point in product(*values.values())] if values else []
    else:
        points = [dict(point) for point in grid]
    if not points:
        raise ValueError("the grid has no point; write for example {'zones': [2, 3, 4], 'seed': range(20)}")
    if wrong := [name for point in points for name in point if not isinstance(name, str) or not name.isidentifier()]:
        raise ValueError(f"{wrong[0]!r} cannot be an argument of the function: a point is called with values by name")
    return tuple(points)


def _run(
    f: Callable[..., Any], points: tuple[Point, ...], kept: Mapping[int, Answered],
    executor: AnyExecutor | None, keep: Path | None, *, progress: bool,
) -> Sweep:  # fmt: skip
    """Call the points that are not kept, and put their answers with those that are."""
    answers = dict(kept)
    left = [number for number in range(len(points)) if number not in answers]
    ended = ""
    silent = not progress or bool(os.environ.get("TQDM_DISABLE"))  # tqdm ignores it in notebooks
    with ExitStack() as stack:
        bar = stack.enter_context(tqdm(total=len(points), initial=len(answers), unit=" points", disable=silent,
                                       leave=False, delay=1.0))  # fmt: skip
        file = stack.enter_context(keep.open("a", encoding="utf-8")) if keep is not None and left else None
        try:
            for number, answer in _answers(f, points, left, executor):
                answers[number] = answer
                if file is not None and not answer.error:
                    file.write(f"{_json(points[number], {'point': points[number], 'rows': answer.rows})}\n")
                    file.flush()
                bar.update()
        except KeyboardInterrupt:
            ended = "interrupted"
        except BrokenExecutor as broken:
            ended = f"the executor broke ({str(broken) or type(broken).__name__})"
    found = Sweep(f, points, answers, ended, keep)
    if len(answers) == len(points) == len(found.failures):
        raise SweepFailed(f"failed at every point, first at {found.failures[0]}")
    return found


def _answers(
    f: Callable[..., Any], points: Sequence[Point], left: Sequence[int], executor: AnyExecutor | None
) -> Iterator[tuple[int, Answered]]:
    """Yield what each point's call gives, as it comes."""
    if executor is None:
        for number in left:
            yield number, call_point(f, points[number])
        return
    portable = Portable(f)
    with Workers(executor) as workers:
        yield from workers.results(call_point, {number: (portable, points[number]) for number in left})


def call_point(f: Callable[..., Any], point: Point) -> Answered:
    """Call a function at a point, and return its rows or, in one line, what it raised."""
    try:
        return Answered(tuple(_rows(point, f(**point))))
    except Exception as error:  # noqa: BLE001 - whatever it raises is the point's answer
        return Answered(error=" ".join(f"{type(error).__name__}: {error}".split()))


def _rows(point: Point, value: Any) -> Iterator[Row]:
    """Yield the rows of what a function returned.

    Raises:
        TypeError: it returned something else than dicts or one value.
        ValueError: a row names an argument again with another value.
    """
    if not isinstance(value, Iterable) and hasattr(value, "item"):
        value = value.item()  # a number of numpy
    if value is None or isinstance(value, str | int | float):
        yield {RESULT: value}
        return
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, Iterable):
        raise TypeError(f"the function returned {type(value).__name__}; return a dict, dicts, or one number or text")
    for row in value:
        if not isinstance(row, Mapping):
            raise TypeError(f"the function returned {type(row).__name__} in a list; return a dict, or several dicts")
        if again := [name for name in row if name in point and row[name] != point[name]]:
            raise ValueError(f"column {again[0]!r} is an argument; give it another name")
        yield {str(name): each for name, each in row.items()}


def _chart_rows(
    table: Sequence[Row], x: str, y: str, by: str, log: str, expected: Expected | None,
) -> Table:  # fmt: skip
    """Check the columns of a chart, and return its rows under their names, line by line."""
    from ..views.pictures.table_chart import MOST_LINES  # noqa: PLC0415 - as above

    known = list(dict.fromkeys(name for row in table for name in row))
    if unknown := [name for name in (x, y, *([by] if by else [])) if name not in known]:
        raise ValueError(f"no column {', '.join(map(repr, unknown))}; there are {', '.join(known) or 'none'}")
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f'log={log!r}: which axes are logarithmic is "x", "y" or "xy"')
    drawn = [row for row in table if row.get(y) is not None]
    if not drawn:
        raise ValueError(f"no row has a value of {y}: there is nothing to draw")
    numeric = all(isinstance(row.get(x), Real) and not isinstance(row[x], bool) for row in drawn)
    lines: dict[str, dict[Any, Row]] = {}
    for row in drawn:
        place = {name: row.get(name) for name in (x, by) if name}
        values = {name: row[name] for name in (x, y) if numeric or name == y}
        if expected is not None:
            values["expected"] = expected(*place.values())
        for name, value in values.items():
            if not isinstance(value, Real) or not math.isfinite(value):
                raise ValueError(f"{name} is {value!r} at {_point_text(row)}: only finite numbers are drawn")
            if numeric and ("x" if name == x else "y") in log and not float(value) > 0:
                raise ValueError(f"{name} is {value!r} at {_point_text(place)}: a logarithmic axis starts above 0")
        named = {by: str(row.get(by))} if by else {}
        line = lines.setdefault(named.get(by, ""), {})
        if row.get(x) in line:
            raise ValueError(f"two rows at {_point_text(place)}: name the column that differs with by, or draw "
                             ".means(...)")
        beside = {name: float(row[name]) for name in ("low", "high") if "low" in row and "high" in row}
        if expected is not None:
            beside["expected"] = float(values["expected"])
        line[row.get(x)] = {x: float(row[x]) if numeric else str(row.get(x)), y: float(row[y])} | named | beside
    if len(lines) > MOST_LINES:
        raise ValueError(f"{len(lines)} lines: a chart shows 1 to {MOST_LINES}; choose another column for by")
    return Table(line[place] for line in lines.values() for place in (sorted(line) if numeric else line))


def _json(point: Point, kept: Any) -> str:
    try:
        return json.dumps(kept, sort_keys=True)
    except TypeError as why:
        raise ValueError(f"keep: {_point_text(point)} cannot be written as JSON: {why}") from None


def _read_kept(path: Path, points: Sequence[Point]) -> dict[int, Answered]:
    """Return the answers that a file keeps of these points; a last line that was cut off is left out."""
    if not path.exists():
        return {}
    text = path.read_text("utf-8")
    if text and not text.endswith("\n"):  # the process ended while it wrote
        text = text[: text.rfind("\n") + 1]
        path.write_text(text, "utf-8")
    kept: dict[str, list[Answered]] = {}
    for line, each in enumerate(text.splitlines(), 1):
        try:
            read = json.loads(each)
            answer = Answered(tuple(dict(row) for row in read["rows"]))
            kept.setdefault(json.dumps(read["point"], sort_keys=True), []).append(answer)
        except (ValueError, TypeError, KeyError):
            raise ValueError(f"{path}, line {line}: not what a sweep keeps; give another file") from None
    found = {}
    for number, point in enumerate(points):
        if same := kept.get(_json(point, point)):
            found[number] = same.pop(0) if len(same) > 1 else same[0]
    return found


def _mean(column: str, values: Sequence[Any]) -> Row:
    """Return the mean of values with its 95 % interval."""
    count, z = len(values), 1.96
    if wrong := [value for value in values if not isinstance(value, int | float)]:
        raise ValueError(f"{column}: {wrong[0]!r} is no number")
    mean = sum(values) / count
    if all(isinstance(value, bool) for value in values):
        middle, scale = mean + z * z / (2 * count), 1 + z * z / count
        half = z * (mean * (1 - mean) / count + z * z / (4 * count * count)) ** 0.5
        low, high = max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)
    else:
        variance = sum((value - mean) ** 2 for value in values) / max(1, count - 1)
        half = z * (variance / count) ** 0.5
        low, high = mean - half, mean + half
    return {column: round(mean, 4), "low": round(low, 4), "high": round(high, 4), "count": count}


def _point_text(point: Point) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in point.items())


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"

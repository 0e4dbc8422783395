"""The benchmark command: workloads through the pass and through the loop, then the figures that have an aim.

Every line is printed when it is measured, so what was measured before an interruption stands there; progress goes to
standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any

import attrs
from tqdm.auto import tqdm

from .figures import Measurement, Sizes, dump, measures
from .loop import FOREVER, LoopCost, LoopTimer, bytes_per_pod
from .measuring import exponent, machine, peak_bytes
from .passes import COUNT, PassTimer
from .workloads import WORKLOADS, Workload, workload, written_readme

FIT = (100, 1_000, 5_000, 20_000)
WIDTH = 118
SHOWN_MICROSECONDS = 1.0  # a plugin that takes less is not printed
INTERRUPTED = 130  # exit code of a program that Ctrl-C ended
HEAD = f"{'workload':<16}{'pass':>10}{'grows':>8}{'loop':>11}{'':>9}{'grows':>8}{'turns':>8}{'writes':>8}{'memory':>10}"
UNITS = (f"{'':<16}{'µs a pod':>10}{'as N^':>8}{'µs a pod':>11}{'pods/s':>9}{'as N^':>8}"
         f"{'a pod':>8}{'a pod':>8}{'KB a pod':>10}")  # fmt: skip


@attrs.frozen
class Row:
    """What was measured of one workload."""

    workload: str  # its name
    pass_microseconds: dict[int, float]  # of a pass, by number of nodes
    by_plugin: dict[str, float]  # microseconds of a pass
    loop: dict[int, LoopCost]  # of a pod, by number of nodes
    kilobytes: float  # that a pod leaves behind, with its history
    nodes: int  # that the printed figures are of

    def as_data(self) -> dict[str, Any]:
        """Return the row as plain data, for JSON."""
        costs = {size: cost.microseconds for size, cost in self.loop.items()}
        data = attrs.asdict(self)
        return {**data, "pass_exponent": exponent(self.pass_microseconds), "loop_exponent": exponent(costs)}

    def lines(self) -> list[str]:
        """Return the row as it is printed: the figures, and below them the plugins that take time."""
        cost = self.loop[self.nodes]
        costs = {size: each.microseconds for size, each in self.loop.items()}
        grows = [exponent(self.pass_microseconds), exponent(costs)]
        power = [f"{each:.2f}" if each is not None else "" for each in grows]
        figures = f"{self.workload:<16}{self.pass_microseconds[self.nodes]:>10,.1f}{power[0]:>8}"
        figures += f"{cost.microseconds:>11,.0f}{cost.rate:>9,.0f}{power[1]:>8}{cost.turns:>8.1f}{cost.writes:>8.1f}"
        slow = [f"{name} {each:,.1f}" for name, each in self.by_plugin.items() if each >= SHOWN_MICROSECONDS]
        part = f"; a run is measured in part: {cost.share:.0%}" if cost.share < 1 else ""
        below = wrap(f"µs by plugin: {', '.join(slow) or 'none takes 1 µs'}{part}", WIDTH - 4)
        return [f"{figures}{self.kilobytes:>10.1f}", *(f"    {line}" for line in below)]


@attrs.frozen
class Bench:
    """What the command does."""

    workloads: tuple[Workload, ...] = tuple(WORKLOADS.values())  # that are measured, in their order
    nodes: int = 5_000  # that there are
    pods: int = 1_000  # that arrive
    fit: tuple[int, ...] = FIT  # numbers of nodes over which growth is fitted
    aims: bool = False  # whether the figures with aims are measured, too
    sizes: Sizes = Sizes()  # of the clusters of these figures
    limit: float = FOREVER  # CPU seconds of one run of the loop; a longer one is measured in part
    runs: int = 2  # of each loop
    dump: int = 0  # of how many pods a dump is read and asked about, and nothing else measured; 0: what is above

    def row(self, chosen: Workload) -> Row:
        """Measure one workload."""
        passes: dict[int, float] = {}
        loops: dict[int, LoopCost] = {}
        by_plugin: dict[str, float] = {}
        for size in sorted({*self.fit, self.nodes}):
            timer = PassTimer(chosen, size, min(COUNT, self.pods))
            passes[size] = timer.least() * 1e6
            if size == self.nodes:
                by_plugin = timer.by_plugin()
            count, runs = (self.pods, self.runs) if size == self.nodes else (max(1, self.pods // 4), 1)
            loops[size] = LoopTimer(chosen, size, self.pods).cost(count, runs, self.limit)
        return Row(chosen.name, passes, by_plugin, loops, bytes_per_pod(chosen) / 1e3, self.nodes)

    def run(self, say: Callable[[str], None]) -> Measurements:
        """Measure everything, and say each line as soon as it is known; an interruption ends it early."""
        rows: list[Row] = []
        figures: list[Measurement] = []
        todo = list(self._tasks(rows, figures, say))
        done = 0
        try:
            with tqdm(total=len(todo), disable=None, leave=False, unit=" measurements", file=sys.stderr) as bar:
                for name, task in todo:
                    bar.set_description(name)
                    task()
                    done += 1
                    bar.update()
        except KeyboardInterrupt:
            say(f"interrupted: {done} of {len(todo)} measurements were made")
        return Measurements(tuple(rows), tuple(figures), machine(), peak_bytes(), done < len(todo))

    def _tasks(self, rows: list[Row], figures: list[Measurement],
               say: Callable[[str], None]) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the name and the function of each measurement, in order."""
        passes: dict[tuple[str, int], float] = {}

        def measure(chosen: Workload) -> None:
            if not rows:
                say(f"{self.nodes:,} nodes, {self.pods:,} pods at once; {machine()}\n{HEAD}\n{UNITS}")
            rows.append(self.row(chosen))
            passes.update({(chosen.name, size): each / 1e6 for size, each in rows[-1].pass_microseconds.items()})
            say("\n".join(rows[-1].lines()))

        def compare(measured: Callable[[], Iterator[Measurement]]) -> None:
            if not figures:
                say(f"\nfigures beside their aims; {machine()}")
            for figure in measured():
                figures.append(figure)
                say(repr(figure))

        if self.dump:
            yield "a dump", lambda: compare(partial(dump, self.dump))
            return
        for each in self.workloads:
            yield each.name, lambda each=each: measure(each)  # type: ignore[misc]
        if self.aims:
            for name, function in measures(self.sizes, passes):
                yield name, lambda function=function: compare(function)  # type: ignore[misc]


@attrs.frozen
class Measurements:
    """What was measured."""

    rows: tuple[Row, ...]  # of each workload
    figures: tuple[Measurement, ...]  # those with an aim
    machine: str  # in words
    peak: int  # the most memory that the process had, in bytes
    interrupted: bool  # whether something was left to be measured

    def as_data(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {
            "machine": self.machine, "peak_bytes": self.peak, "interrupted": self.interrupted,
            "workloads": [row.as_data() for row in self.rows], "figures": [each.as_data() for each in self.figures],
        }  # fmt: skip

    def summary(self) -> str:
        """Return the last lines: what falls short, and the memory that the process had."""
        lines = [f"the most memory of this process: {self.peak / 1e6:,.0f} MB"]
        if short := [figure.name.strip() for figure in self.figures if figure.falls_short]:
            lines += [f"{len(short)} of {len(self.figures)} figures fall short:", *(f"  {name}" for name in short)]
        elif self.figures:
            lines.append("no figure falls short")
        return "\n".join(lines)


def bench(
    names: Sequence[str] = (), *, as_json: bool = False, write: str = "", gate: bool = False, **options: Any
) -> int:  # fmt: skip
    """Measure workloads, or write them as manifests; print the figures and return the exit code.

    Args:
        names: of the workloads; all without one.
        as_json: print one JSON document at the end, in place of lines.
        write: a folder for the manifests; then nothing is measured.
        gate: return 1 if a gate falls short.
        options: fields of `Bench`.

    Raises:
        UnknownName: there is no such workload; the message has the nearest names.
    """
    chosen = tuple(map(workload, names)) or tuple(WORKLOADS.values())
    what = Bench(chosen, **options)
    if write:
        folder = Path(write)
        for each in tqdm(chosen, disable=None, leave=False, file=sys.stderr):
            each.write(folder, what.nodes, what.pods)
        (folder / "README.md").write_text(written_readme(chosen, what.nodes, what.pods), encoding="utf-8")
        _say(f"{len(chosen)} workloads of {what.nodes:,} nodes and {what.pods:,} pods are in {folder}")
        return 0
    outcome = what.run((lambda _: None) if as_json else _say)
    _say(json.dumps(outcome.as_data(), ensure_ascii=False) if as_json else outcome.summary())
    if outcome.interrupted:
        return INTERRUPTED
    return int(gate and any(figure.gate and figure.falls_short for figure in outcome.figures))


def _say(text: str) -> None:
    tqdm.write(text, file=sys.stdout)
    sys.stdout.flush()

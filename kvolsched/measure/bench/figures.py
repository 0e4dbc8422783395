"""The figures that have an aim, each beside it: what falls short is named, with the functions that take the time.

Aims in units per second are those of one machine, named in `docs/performance.md`; a gate is a ratio of two figures of
this run, and holds on every machine.
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import runpy
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import numpy as np

from ...api.kinds.meta import evolve_parts
from ...api.text import manifest
from ...cluster import Cluster
from ...kubectl import describe
from ...learn.scenario import nodes, play, pods, storage_class
from ...rules.named import plugin_cards
from ...world.apiserver import Write, key_of
from ...world.component import Component
from ...world.reconciler import Reconciler
from ...world.simulation import Simulation
from . import worker
from .loop import LoopTimer
from .loop import alternately as loops_alternately
from .measuring import HOUSE, ProfileLine, cpu_seconds, least_cpu_seconds, profile, settling_heap
from .passes import COUNT, PassTimer, alternately
from .serving import serving_seconds
from .workloads import Workload, local_disks, workload

DUMP = HOUSE.parent / "tests" / "api" / "big_dump.py"
FAMILIES_OF_SPECIAL_PODS = ("storage", "spread")  # of plugins that plain pods do not need
LOOPS = ("basic", "zonal", "local")  # workloads
# Millions of instructions a pod at 200 nodes, or a transition of the explorer: the aim, and what BUILD took last.
INSTRUCTIONS = {"basic": (1.6, 1.90), "zonal": (7.5, 8.13), "local": (6.0, 6.62), worker.EXPLORER: (0.9, 0.714)}
BUILD = "Python 3.11.7, not optimised, numpy 2.4.6"
COUNTED = 40  # pods
PASSES = {"basic": 18_540, "zone": 10_960, "soft": 8_780}  # twice what they were


@attrs.frozen
class Measurement:
    """One figure beside its aim.

    Args:
        name: what was measured.
        value: the figure.
        unit: its unit, as it is printed.
        at_least: the aim, if more is better.
        at_most: the aim, if less is better.
        gate: whether it is a ratio that holds on every machine.
        note: what is to be known of it.
        slowest: where the time goes, if it falls short.

    >>> Measurement("growth", 1.5, "times", at_most=1.2, gate=True)
    growth                                                             1.5 times   at most 1.2 times   FALLS SHORT
    """

    name: str
    value: float
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    gate: bool = False
    note: str = ""
    slowest: tuple[ProfileLine, ...] = ()

    @property
    def falls_short(self) -> bool:
        """Whether the aim is missed; a figure without an aim misses none."""
        if self.at_least is not None and self.value < self.at_least:
            return True
        return self.at_most is not None and self.value > self.at_most

    @property
    def aim(self) -> str:
        """The aim in words; "" if there is none."""
        if self.at_least is not None:
            return f"at least {_number(self.at_least, self.unit)}"
        return f"at most {_number(self.at_most, self.unit)}" if self.at_most is not None else ""

    def as_data(self) -> dict[str, Any]:
        """Return the figure as plain data, for JSON."""
        data = attrs.asdict(self, filter=lambda _, value: value not in (None, "", ()))
        return {**data, "falls_short": self.falls_short}

    def __repr__(self) -> str:
        parts = [f"{self.name:<62}{_number(self.value, self.unit):>14}", self.aim]
        parts += ["FALLS SHORT"] if self.falls_short else []
        parts += [self.note] if self.note else []
        return "\n".join(["   ".join(parts).rstrip(), *(f"      {line}" for line in self.slowest)])


def _number(value: float, unit: str) -> str:
    """Return a number with its unit, in as many digits as are worth reading."""
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{text} {unit}".rstrip()


@attrs.frozen
class Sizes:
    """How large the measured clusters are; tests measure small ones."""

    nodes: int = 5_000  # of passes and loops
    few_nodes: int = 500  # that passes and loops are compared with
    pods: int = 1_000  # that arrive
    many_pods: int = 10_000  # that arrive where growth is measured
    disks: tuple[int, int] = (2, 20)  # local ones of a node, where many are compared with few
    runs: int = 3  # of what is compared
    passes: int = COUNT  # that a run has
    states: int = 20_000  # that the explorer visits
    applied: int = 10_000  # objects that are applied
    history: int = 5_000  # pods whose history is measured
    served: int = 5_000  # pods of a served cluster
    dump: bool = True  # whether one of 5,000 nodes is read
    counted: bool = True  # whether instructions are counted, where valgrind is installed
    commands: int = 7  # of those whose start is measured


SMALL = Sizes(
    nodes=24, few_nodes=12, pods=6, many_pods=12, disks=(2, 3), runs=1, passes=6, states=200,
    applied=20, history=10, served=10, dump=False, counted=False, commands=1,
)  # fmt: skip
Measure = Callable[[], Iterator[Measurement]]
Passes = Mapping[tuple[str, int], float]


def measures(sizes: Sizes | None = None, known: Passes | None = None) -> list[tuple[str, Measure]]:
    """Return what there is to measure: a name, and the function that measures it and yields its figures.

    Args:
        sizes: how large the clusters are.
        known: the seconds of a pass by workload and number of nodes, of those that the table of workloads has by
            then: such a figure stands beside its aim as it stands in the table.
    """
    sizes = sizes or Sizes()
    passes = partial(_passes, sizes, known if known is not None else {})
    found: list[tuple[str, Measure]] = [("the pass", passes), ("local disks", partial(_disks, sizes))]
    found += [(f"the loop, {name}", partial(_loop, sizes, workload(name))) for name in LOOPS]
    if sizes.counted and shutil.which("valgrind"):
        found += [(f"instructions, {name}", partial(_instructions, name, *aims)) for name, aims in INSTRUCTIONS.items()]
    found += [
        ("one turn", partial(_turn, sizes)), ("the explorer", partial(_explorer, sizes)),
        ("history", partial(_history, sizes)), ("the panel", partial(_panel, sizes)),
        ("charts", partial(_charts, sizes)), ("manifests", partial(_apply, sizes)), ("import", _import),
        ("a served cluster", partial(_serving, sizes)),
        ("commands", partial(_commands, sizes)),
    ]  # fmt: skip
    if sizes.dump and DUMP.exists():
        found.append(("a dump", dump))
    return found


def _passes(sizes: Sizes, known: Passes) -> Iterator[Measurement]:
    size, large = f"{sizes.nodes:,} nodes", {}
    for name, aim in PASSES.items():
        timer, small = (PassTimer(workload(name), count, sizes.passes) for count in (sizes.nodes, sizes.few_nodes))
        large[name] = timer
        seconds, of_few_nodes = alternately((timer, small))
        rate = 1 / known.get((name, sizes.nodes), seconds)
        figure = Measurement(f"passes, {workload(name).about}, {size}", rate, "pods/s", at_least=aim)
        yield _explained(figure, timer.seconds)
        grown = seconds / of_few_nodes
        yield Measurement(f"  against {sizes.few_nodes:,} nodes", grown, "times", at_most=12, gate=True)
    special = frozenset(name for name, card in plugin_cards().items() if card.family in FAMILIES_OF_SPECIAL_PODS)
    share = large["basic"].share(special)
    yield Measurement("a plain pass, divided by one without plugins that it needs not", share, "times", at_most=1.05)


def _disks(sizes: Sizes) -> Iterator[Measurement]:
    local = manifest.to_plain(storage_class("local", "kubernetes.io/no-provisioner"))
    there, timers = attrs.evolve(workload("local"), around=lambda _nodes, _pods: [local]), []
    for each in sizes.disks:
        disks = map(manifest.from_plain, local_disks(sizes.nodes, each))
        timers.append(PassTimer(there, sizes.nodes, sizes.passes, disks))
    taken = alternately(timers)
    for each, seconds in zip(sizes.disks, taken, strict=True):
        name = f"passes with a claim for a local disk, {sizes.nodes:,} nodes, {each * sizes.nodes:,} disks"
        yield Measurement(name, 1 / seconds, "pods/s", at_least=5_000)
    few, many = taken
    yield Measurement("  cost with many disks against few", many / few, "times", at_most=1.3, gate=True)


def _loop(sizes: Sizes, chosen: Workload) -> Iterator[Measurement]:
    """Yield the speed of the loop, and how the cost of a pod grows with nodes and pods, all of whole runs."""
    few, many = sizes.pods, sizes.many_pods
    timer, small = (LoopTimer(chosen, size, few) for size in (sizes.nodes, sizes.few_nodes))
    cost, of_few_nodes = loops_alternately((timer, small), few, sizes.runs)
    name = f"the loop, {chosen.name}, {sizes.nodes:,} nodes, {few:,} pods"
    note = f"{cost.turns:.1f} turns, {cost.writes:.1f} writes a pod"
    yield Measurement(name, cost.rate, "pods/s", note=note)
    grown = cost.microseconds / of_few_nodes.microseconds
    yield Measurement(f"  a pod's cost against {sizes.few_nodes:,} nodes", grown, "times", at_most=1.3, gate=True)
    # A long run is a mean of quiet and busy moments. So it is compared with the middle of short ones around it: their
    # least is of the quietest moment, and the ratio to it rises with the load of the machine.
    whole = LoopTimer(chosen, sizes.nodes, many)
    around = [timer.cost(few, 1).microseconds for _ in range(sizes.runs)]
    long = whole.cost(many, 1).microseconds
    around += [timer.cost(few, 1).microseconds for _ in range(sizes.runs)]
    name = f"  a pod's cost, {many:,} against {few:,} pods, {sizes.nodes:,} nodes"
    grown = long / median(around)
    yield Measurement(name, grown, "times", at_most=1.2, gate=True)


def _instructions(name: str, aim: float, before: float) -> Iterator[Measurement]:
    """Yield how many instructions a pod takes in the loop, or a transition of the explorer: no load changes them.

    They are compared with those of the same build of Python and numpy alone; `before` is what that took last.
    """
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        options = ("--instr-atstart=no", "--callgrind-out-file=/dev/null", f"--log-file={log}")
        under = ("valgrind", "--tool=callgrind", *options)
        units = run_worker("instructions", name, str(COUNTED), under=under)["units"]
        millions = int(re.findall(r"Collected : (\d+)", log.read_text(encoding="utf-8"))[-1]) / units / 1e6
    unit = "transition" if name == worker.EXPLORER else "pod"
    figure = Measurement(f"instructions a {unit}, {name}", millions, "M", at_most=aim, note=python_build())
    yield _explained(figure, LoopTimer(workload(name), 200, COUNTED).running(COUNTED)) if name in LOOPS else figure
    if python_build() == BUILD:
        yield Measurement("  against those before", millions / before, "times", at_most=1.03, gate=True)


def python_build() -> str:
    """Return what decides how many instructions the same work takes: Python, how it was built, and numpy."""
    optimised = "--enable-optimizations" in str(sysconfig.get_config_var("CONFIG_ARGS"))
    return f"Python {platform.python_version()}, {'' if optimised else 'not '}optimised, numpy {np.__version__}"


def _turn(sizes: Sizes) -> Iterator[Measurement]:
    """Yield the time of one turn without Kubernetes' rules: see, decide, write once, three components watching."""

    def sync(ctx: object, cause: str) -> list[Write]:
        pod = ctx.seen.get("Pod", cause, "default")  # type: ignore[attr-defined]
        if pod is None or pod.status.phase == "Running":
            return []
        return [Write("update_status", key_of(pod), evolve_parts(pod, status={"phase": "Running"}))]

    worker_component = Component("worker", ("Pod",), (Reconciler("worker", lambda _h, key, _o, _n: [key.name], sync),))
    idle = [Reconciler(f"watcher-{number}", lambda *_: (), lambda *_: ()) for number in range(2)]
    world = Simulation([worker_component, *(Component(routine.name, ("Pod",), (routine,)) for routine in idle)])
    for pod in pods(2 * sizes.pods):
        world.log.write(key_of(pod), pod)
    world.reset_history()
    turns: list[int] = []
    taken = least_cpu_seconds(lambda: turns.extend(len(step) for step in world.run(steps=10_000_000)), runs=1)
    yield Measurement("one turn with one write, without rules", taken / max(1, sum(turns)) * 1e6, "µs")


def _explorer(sizes: Sizes) -> Iterator[Measurement]:
    each = min(run_worker("explorer", str(sizes.states))["seconds"] for _ in range(max(2, sizes.runs)))
    name = "explorer, two replicas under upstream, one process"
    figure = Measurement(name, 1 / each, "transitions/s", at_least=7_750)
    yield _explained(figure, lambda: worker.explorer(str(sizes.states // 10)))
    alone, together = (run_worker("explorer", str(sizes.states), cores)["elapsed"] for cores in ("", "all"))
    note = "elapsed time, executor=ProcessPoolExecutor, against no executor"
    yield Measurement("  on all cores", alone / together, "times as fast", note=note)
    few, many = (run_worker("explorer", str(count)) for count in (sizes.states // 4, sizes.states))
    kilobytes = (many["bytes"] - few["bytes"]) / max(1, many["states"] - few["states"]) / 1e3
    name = f"  memory of 1,000,000 states, as those up to {many['states']:,}"
    if many["states"] > few["states"]:
        yield Measurement(name, kilobytes, "GB", at_most=2)


def _history(sizes: Sizes) -> Iterator[Measurement]:
    with TemporaryDirectory() as folder:
        place = workload("basic").write(Path(folder), sizes.few_nodes, sizes.history)
        found = run_worker("history", str(place), "20")
    count = f"{found['changes']:,} changes"
    megabytes = found["bytes"] / found["changes"]
    yield Measurement(f"history of 1,000,000 changes with their objects, from {count}", megabytes, "MB", at_most=500)
    yield Measurement("  the slowest of 20 places to be shown", found["seconds"] * 1e3, "ms", at_most=100)


def _panel(sizes: Sizes) -> Iterator[Measurement]:
    """Yield the time of the panel's Python code for one step: the step, the frame, every string."""
    for size, aim in ((12, 100), (sizes.nodes, 300)):
        cluster = Cluster("upstream")
        cluster._load([*nodes(size), storage_class(), *pods(4, claims="zonal")])
        lab = cluster.lab()
        taken = least_cpu_seconds(lambda: lab.do("step"), runs=5 * sizes.runs)  # noqa: B023 - called at once
        figure = Measurement(f"a step of the panel, {size:,} nodes, Python alone", taken * 1e3, "ms", at_most=aim)
        yield _explained(figure, lambda: lab.do("step"))  # noqa: B023 - called at once


def _charts(sizes: Sizes) -> Iterator[Measurement]:
    """Yield what altair charts cost: their specs, with their pictures in a notebook, and a step of a dashboard."""
    from ...views.charts.renderer import render  # noqa: PLC0415 - altair, which only a notebook has
    from ...views.panel.chart_view import engine  # noqa: PLC0415
    from ...views.widgets import Map, Skew  # noqa: PLC0415

    cluster, large = play("zones", replicas=3), Cluster("upstream")
    cluster.scale("deploy/web", 9)
    cluster.run()
    large._load(nodes(sizes.nodes))
    figures = (cluster.skew("deploy/web"), cluster.skew("deploy/web", over="steps"), cluster.map(), cluster.series(),
               cluster.series(what="lives"), cluster.timeline())  # fmt: skip
    largest = max((figure.chart.to_dict() for figure in figures), key=lambda spec: len(json.dumps(spec)))
    name = f"the largest spec of {len(figures)} kinds of charts"
    yield Measurement(name, len(json.dumps(largest)) / 1e3, "kB", at_most=15)
    shown = len(json.dumps(render(largest)[0])) / 1e3
    yield Measurement("  with its picture, in a notebook", shown, "kB", at_most=60)
    taken = [least_cpu_seconds(lambda: figure.chart.to_dict(), sizes.runs) for figure in figures]  # noqa: B023, PLW0108
    yield Measurement("  the slowest of them made, table and chart", max(taken) * 1e3, "ms", at_most=150)
    whole = len(json.dumps(large.map().chart.to_dict())) / 1e3
    yield Measurement(f"the spec of a chart of {sizes.nodes:,} nodes", whole, "kB", at_most=75)
    vega = engine()
    if vega is not None:
        yield Measurement("Vega, sent once a kernel", len(vega.packed) / 1e3, "kB", at_most=310)
    cluster.goto(9)
    dashboard = (Skew(cluster, "deploy/web", chart=True), Skew(cluster, "deploy/web", over="steps"), Map(cluster))
    sent: list[int] = []
    for part in dashboard:
        part.host.observe(lambda change: sent.append(len(change["new"])), "body")
        if part.view is not None:
            traits = ["spec", "tables", "title", "picked"]
            part.view.observe(lambda change: sent.append(len(json.dumps(change["new"]))), traits)
    steps = [least_cpu_seconds(partial(cluster.goto, step), 1) for step in range(10, 10 + 2 * sizes.runs)]
    yield Measurement("a step of a dashboard, two charts and the map", sum(sent) / len(steps) / 1e3, "kB", at_most=20)
    yield Measurement("  in Python", median(steps) * 1e3, "ms", at_most=200)


def _apply(sizes: Sizes) -> Iterator[Measurement]:
    count = sizes.applied
    plain = [manifest.to_plain(obj) for obj in (*nodes(count // 10), *pods(count - count // 10))]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": plain})
    first: list[float] = []
    again: list[float] = []
    for _ in range(sizes.runs):
        cluster = Cluster("upstream")
        for taken in (first, again):
            taken.append(least_cpu_seconds(lambda: cluster.apply(text), runs=1))  # noqa: B023 - called at once
    yield Measurement(f"{count:,} objects applied, from JSON", min(first), "s", at_most=3)
    yield Measurement("  and once more, unchanged", min(again), "s")


def _serving(sizes: Sizes) -> Iterator[Measurement]:
    for name, seconds, most in serving_seconds(sizes.served, min(50, sizes.served), 50):
        yield Measurement(name, seconds * 1000, "ms", at_most=most * 1000)


PODS = 10_000
READING = 10  # seconds for so many pods; the aims of questions are those of every dump
PENDING = 300  # pods of the dump that fit nowhere, for ten causes
Question = Callable[[Cluster, str], Any]
QUESTIONS: tuple[tuple[str, Question, float], ...] = (  # in this order: the first one builds what the others share
    (f"why each of {PENDING} pods is pending", lambda c, _: repr(c.why()), 10),
    ("why one is", lambda c, pod: repr(c.why(pod)), 1),
    ("its fixes", lambda c, pod: repr(c.fix(pod)), 5),
    ("a fork", lambda c, _: c.fork(), 0.1),
    ("the panel", lambda c, _: c.lab().close(), 3),
    ("the cluster in a line", lambda c, _: repr(c), 1),
    ("its pods", lambda c, _: repr(c.get("pods", "team-0")), 1),
    ("a node described", lambda c, _: repr(describe(c, "node/node-00001")), 1),
    ("the verdicts on a pod", lambda c, pod: repr(c.verdicts(pod)), 1),
    ("its skew", lambda c, pod: repr(c.skew(pod)), 1),
    ("its capacity", lambda c, pod: repr(c.capacity(pod)), 1),
    ("its story", lambda c, pod: repr(c.story(pod)), 1),
    ("the map", lambda c, _: repr(c.map()), 1),
    ("the events", lambda c, _: repr(c.events()), 1),
    ("the timeline", lambda c, _: repr(c.timeline()), 1),
    ("who may act next", lambda c, _: repr(c.next), 1),
    ("a step", lambda c, _: c.step(), 1),
    ("a step back", lambda c, _: c.back(), 1),
)


def dump(pods: int = PODS) -> Iterator[Measurement]:
    """Yield the figures of a dump of 5,000 nodes and so many pods, with at most 20,000 claims.

    Raises:
        FileNotFoundError: this is no checkout: what writes such a dump is not installed.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dump.json"
        big_text = runpy.run_path(str(DUMP))["big_text"]
        path.write_text(big_text(pods=pods, claims=min(pods // 2, 20_000), pending=PENDING), encoding="utf-8")
        for name, seconds, aim in dump_figures(path, pods):
            yield Measurement(name, seconds, "s", at_most=aim)


def dump_figures(path: Path, pods: int = PODS) -> Iterator[tuple[str, float, float]]:
    """Yield the name, the CPU seconds and the aim of reading a dump of so many pods and of each question about it."""
    loaded: list[Cluster] = []
    yield f"a dump of 5,000 nodes and {pods:,} pods read", least_cpu_seconds(
        lambda: loaded.append(Cluster.from_manifests(path)), runs=1), READING * pods / PODS  # fmt: skip
    cluster = loaded[0]
    pod = next(f"pod/{each.metadata.namespace}/{each.metadata.name}" for each in cluster.objects("pods")
               if not each.spec.node_name and any(each.claim_names()))  # fmt: skip
    with settling_heap() as settle:
        for name, ask, aim in QUESTIONS:
            settle()
            seconds = cpu_seconds(lambda: ask(cluster, pod))  # noqa: B023 - called at once
            yield f"  {name}", seconds, aim


LOAD = "import kvolsched; kvolsched.scenario('zonal-example')"


def _import() -> Iterator[Measurement]:
    yield Measurement("import kvolsched", import_seconds("import kvolsched") * 1e3, "ms", at_most=282)
    yield Measurement("  and load a scenario", import_seconds(LOAD) * 1e3, "ms")


SMALL_FILE = str(HOUSE / "api" / "manifests" / "spread-2-1-1.yaml")
COMMANDS: tuple[tuple[str, Sequence[str], float], ...] = (  # what is typed, its words, seconds of processor time
    ("--help", ["--help"], 0.25),
    ("decode", ["decode", "2 Insufficient cpu"], 0.25),
    ("said", ["said", "spread"], 0.25),
    ("lessons --help", ["lessons", "--help"], 0.25),
    ("incidents", ["incidents"], 0.25),
    ("why, a small file", ["why", SMALL_FILE], 0.6),
    ("check, a small file", ["check", str(HOUSE / "api" / "manifests" / "my-pod.yaml"), "--cluster", SMALL_FILE], 0.6),
)


def _commands(sizes: Sizes) -> Iterator[Measurement]:
    """Yield the processor time of commands, which the installed script starts in the same way."""
    for name, words, aim in COMMANDS[: sizes.commands]:
        ends = "except SystemExit as end: assert end.code in (0, 1)"
        code = f"from kvolsched.cli import main\ntry: main({words!r})\n{ends}"
        yield Measurement(f"kvolsched {name}", import_seconds(code), "s", at_most=aim)


def run_worker(task: str, *arguments: str, under: Sequence[str] = ()) -> Any:
    """Return what the worker answers, in a process of its own, which may be run `under` another program.

    Raises:
        RuntimeError: the process failed; the message has its last line.
    """
    command = [*under, sys.executable, "-P", "-c", f"from {worker.__name__} import main; main()", task, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(HOUSE.parent), "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise RuntimeError(f"{task} with the package in {HOUSE.parent}: {last[0]}")
    return json.loads(done.stdout)


def import_seconds(code: str) -> float:
    """Return the CPU seconds of code in a fresh interpreter, less the interpreter's own start; the least of five runs.

    The package is compiled beforehand, as an installed package is.
    """
    with TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": folder, "PYTHONPATH": str(HOUSE.parent)}

        def seconds(code: str) -> float:
            start = partial(subprocess.run, check=True, env=environment, stdout=subprocess.DEVNULL)
            start([sys.executable, "-P", "-c", code])
            taken = []
            for _ in range(5):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                start([sys.executable, "-P", "-c", code])
                after = resource.getrusage(resource.RUSAGE_CHILDREN)  # in microseconds; os.times has ticks of 10 ms
                taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            return min(taken)

        return seconds(code) - seconds("pass")


def _explained(figure: Measurement, act: Callable[[], object]) -> Measurement:
    """Return a figure that falls short with the functions that take the time."""
    return attrs.evolve(figure, slowest=profile(act)) if figure.falls_short else figure

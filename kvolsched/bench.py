"""Figures of speed, printed beside what they are meant to be. Nothing here asserts a time, but for growth.

Every figure is the median of a few runs in this process: decisions and writes of a simulated loop, not the end-to-end
throughput of a cluster. The one failure: a pass over ten times the nodes must not cost more than twelve times as much.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from gc import collect

import attrs

from .api import manifest
from .cluster import Cluster
from .scenario import named, nodes, pods, storage_class
from .scheduler.cycle import SCHEDULER
from .scheduler.framework import judge, rank
from .world.apiserver import Write, key_of
from .world.component import Component
from .world.routine import Routine
from .world.simulation import Simulation

GROWTH = 12.0  # a pass at 5,000 nodes against one at 500


@contextmanager
def _quiet() -> Iterator[None]:
    collect()
    yield


def seconds(act: Callable[[], object], runs: int = 5) -> float:
    """Return the median duration of an act, in seconds."""
    taken = []
    for _ in range(runs):
        with _quiet():
            start = time.perf_counter()
            act()
            taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def a_pass(count: int) -> float:
    """Return the seconds of one pass of a plain pod over so many nodes: every filter, every score, all nodes."""
    cluster = Cluster("upstream")
    cluster.load([*nodes(count), *pods(1)])
    process = cluster.world.processes[SCHEDULER]
    cluster.world.deliver(process)
    snapshot = process.views["cache"].behind  # type: ignore[attr-defined]
    pod = cluster["pod/pod-00000"]
    profile = cluster.revision.profile

    def hundred() -> None:
        for _ in range(100):
            rank(judge(pod, snapshot, profile))

    return seconds(hundred) / 100


def the_loop(size: int, count: int, claims: str = "") -> tuple[float, float, float]:
    """Return pods a second of the whole loop, writes a pod, and bytes of history a change."""
    cluster = Cluster("upstream")
    extra = [storage_class(claims)] if claims else []
    cluster.load([*nodes(size), *extra])
    cluster.run()  # everybody has listed the nodes before the pods are there
    cluster.load(pods(count, claims=claims))
    with _quiet():
        start = time.perf_counter()
        cluster.run(steps=10_000_000, seconds=1e9, progress=True)
        taken = time.perf_counter() - start
    placed = sum(1 for pod in cluster.objects("pods") if pod.spec.node_name)
    if placed != count:
        raise RuntimeError(f"only {placed} of {count} pods were placed")
    writes = sum(len(turn.outcomes) for turn in cluster.world.turns)
    changes = cluster.world.log.changes
    weight = sum(sys.getsizeof(change) for change in changes) / max(1, len(changes))
    return count / taken, writes / count, weight


def the_frame(count: int) -> float:
    """Return the seconds of one turn of the bare frame: see, decide, write once, three components watching."""

    def sync(hand: object, cause: str) -> list[Write]:
        pod = hand.seen.get("Pod", cause, "default")  # type: ignore[attr-defined]
        if pod is None or pod.status.phase == "Running":
            return []
        running = attrs.evolve(pod, status=attrs.evolve(pod.status, phase="Running"))
        return [Write("update_status", key_of(pod), running)]

    worker = Component("worker", ("Pod",), (Routine("worker", lambda _h, key, _o, _n: [key.name], sync),))
    idle = [Routine(f"watcher-{n}", lambda *_: (), lambda *_: ()) for n in range(2)]
    others = [Component(routine.name, ("Pod",), (routine,)) for routine in idle]
    world = Simulation([worker, *others])
    for pod in pods(count):
        world.log.write(key_of(pod), pod)
    world.begin()
    with _quiet():
        start = time.perf_counter()
        turns = sum(len(step) for step in world.run(steps=10_000_000))
        return (time.perf_counter() - start) / max(1, turns)


def the_panel(count: int) -> float:
    """Return the seconds that the panel takes for one step in Python: the step itself, the frame, every string."""
    cluster = Cluster("upstream")
    cluster.load([*nodes(count), storage_class(), *pods(4, claims="zonal")])
    lab = cluster.lab()
    return seconds(lambda: lab.do("step"), runs=15)


def applied(count: int) -> tuple[float, float]:
    """Return the seconds that `c.apply` takes for so many objects as JSON, a tenth of them nodes, and once more."""
    plain = [manifest.to_plain(obj) for obj in (*nodes(count // 10), *pods(count - count // 10))]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": plain})
    first, again = [], []
    for _ in range(3):
        cluster = Cluster("upstream")
        for taken in (first, again):
            taken.append(seconds(lambda: cluster.apply(text), runs=1))  # noqa: B023 - called at once
    return statistics.median(first), statistics.median(again)


def imported() -> float:
    """Return the seconds that `import kvolsched` takes in a fresh interpreter, less the interpreter's own start."""

    def python(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), runs=5)  # noqa: S603

    return python("import kvolsched") - python("pass")


def explored() -> float:
    """Return the transitions a second that the explorer makes on the two replicas of kubernetes#65131."""
    from .explore import explore  # noqa: PLC0415 - only here

    cluster = named("two-replicas").cluster("upstream")
    start = time.perf_counter()
    found = explore(cluster, progress=False, max_states=20_000)
    return float(found.transitions / (time.perf_counter() - start))


def main() -> int:
    """Print every figure beside its aim; return 1 where cost grows wrongly."""
    rows: list[tuple[str, str, str]] = []

    def say(what: str, figure: str, aim: str) -> None:
        rows.append((what, figure, aim))
        print(f"{what:<58}{figure:>22}   {aim}")

    passes = {size: a_pass(size) for size in (100, 500, 1_000, 5_000, 20_000)}
    for size, taken in passes.items():
        aim = "under 0.5 ms" if size == 5_000 else ""
        say(f"one pass, plain pod, all plugins, {size:,} nodes", f"{taken * 1e3:.3f} ms", aim)
    say("bare frame, one turn with one write", f"{the_frame(2_000) * 1e6:.0f} µs", "")
    rate, writes, weight = the_loop(1_000, 3_000)
    say("whole loop, 1,000 nodes, plain pods", f"{rate:,.0f} pods/s", "over 3,000 pods/s")
    say("  writes a pod", f"{writes:.1f}", "")
    say("  a change of history", f"{weight:.0f} bytes", "under 1,000 bytes, objects not counted")
    rate, writes, _ = the_loop(1_000, 500, "zonal")
    say("whole loop, 1,000 nodes, zonal dynamic pods", f"{rate:,.0f} pods/s", "")
    say("  writes a pod", f"{writes:.1f}", "")
    created, again = applied(10_000)
    say("10,000 objects applied, from JSON", f"{created:.2f} s", "under 3 s")
    say("  and once more, unchanged", f"{again:.2f} s", "")
    say("explorer, two replicas under upstream", f"{explored():,.0f} transitions/s", "over 5,000 transitions/s")
    say("a step of the panel, 12 nodes, Python's part", f"{the_panel(12) * 1e3:.0f} ms", "click to paint under 100 ms")
    say("import kvolsched", f"{imported() * 1e3:.0f} ms", "under 400 ms")
    growth = passes[5_000] / passes[500]
    say("growth of a pass, 5,000 against 500 nodes", f"{growth:.1f} times", f"at most {GROWTH:g} times")
    return 0 if growth <= GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())

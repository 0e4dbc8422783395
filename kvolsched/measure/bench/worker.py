"""Measures one thing in a process of its own, of whichever commit's package is imported; prints JSON.

`python -P worker.py TASK ARGUMENTS` with PYTHONPATH set to a checkout. It uses only what every commit has, so that two
commits can be measured alternately; so it is no part of the package that it measures, and imports it by name.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

SEED = 1


def read(folder: str) -> tuple[list[Any], list[Any]]:
    """Return the cluster and the pods of a written workload."""
    from kvolsched.api.text import manifest  # noqa: PLC0415 - of the package that is measured

    files = {path.stem: list(manifest.read(path).objects) for path in Path(folder).glob("*.yaml")}
    return [*files["nodes"], *files.get("cluster", [])], files["pods"]


def loop(folder: str) -> float:
    """Return the CPU seconds of the loop for a written workload."""
    from kvolsched.cluster import Cluster  # noqa: PLC0415

    cluster_objects, pods = read(folder)
    cluster = Cluster("upstream")
    cluster._load(cluster_objects)
    cluster.run(steps=1_000_000, seconds=1e12)
    cluster._load(pods)
    gc.collect()
    start = time.process_time()
    cluster.run(steps=10_000_000, seconds=1e12)
    return time.process_time() - start


def passes(folder: str) -> float:
    """Return the CPU seconds of a pass for each pod of a written workload without volumes: judge, rank, take a node."""
    from kvolsched.api.kinds.meta import evolve_parts  # noqa: PLC0415
    from kvolsched.cluster import Cluster  # noqa: PLC0415
    from kvolsched.scheduler.framework.judgement import judge  # noqa: PLC0415
    from kvolsched.scheduler.framework.ranking import rank  # noqa: PLC0415
    from kvolsched.world.apiserver import key_of  # noqa: PLC0415

    cluster_objects, pods = read(folder)
    cluster = Cluster("upstream")
    cluster._load([*cluster_objects, *pods])
    process = cluster.world.processes["kube-scheduler"]
    cluster.world.deliver(process)
    seen, profile = process.views["cache"].snapshot, cluster.revision.profile  # type: ignore[attr-defined]
    there = cluster.objects("pods")
    least = [1e9] * len(there)
    for _ in range(5):
        undo = []
        gc.collect()
        for number, pod in enumerate(there):
            start = time.thread_time()
            ranking = rank(judge(pod, seen, profile))
            placed = evolve_parts(pod, spec={"node_name": ranking.best_node(number * 7919 % ranking.tie_count)})
            seen.apply(key_of(pod), pod, placed)
            least[number] = min(least[number], time.thread_time() - start)
            undo.append((pod, placed))
        for pod, placed in reversed(undo):
            seen.apply(key_of(pod), placed, pod)
    return sum(least) / len(least)


def explorer(most: str) -> float:
    """Return the CPU seconds of a transition of the explorer, on the two replicas of kubernetes#65131."""
    from kvolsched.learn.scenario import load  # noqa: PLC0415
    from kvolsched.questions.explore import explore  # noqa: PLC0415

    cluster = load("two-replicas").cluster("upstream")
    gc.collect()
    start = time.process_time()
    found = explore(cluster, progress=False, max_states=int(most))
    return (time.process_time() - start) / found.transitions


def explorer_elapsed(most: str, cores: str) -> float:
    """Return the elapsed seconds of a search, in this process or, with any word, on a pool of processes."""
    from kvolsched.learn.scenario import load  # noqa: PLC0415
    from kvolsched.questions.explore import explore  # noqa: PLC0415

    cluster = load("two-replicas").cluster("upstream")
    start = time.perf_counter()
    explore(cluster, progress=False, max_states=int(most), executor=ProcessPoolExecutor if cores else None)
    return time.perf_counter() - start


def explorer_memory(most: str) -> dict[str, float]:
    """Return how many states were visited, and the most memory that the process had, in bytes."""
    from kvolsched.learn.scenario import load  # noqa: PLC0415
    from kvolsched.questions.explore import explore  # noqa: PLC0415

    cluster = load("two-replicas").cluster("upstream")
    found = explore(cluster, progress=False, max_states=int(most))
    return {"states": found.states, "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def history(folder: str, places: str) -> dict[str, float]:
    """Return the changes of a written workload's run, the bytes that they and their objects take, the time to go back.

    The bytes are what the process has more of than before the pods came; the seconds are those of the slowest of some
    moves to steps at random.
    """
    from kvolsched.cluster import Cluster  # noqa: PLC0415

    cluster_objects, pods = read(folder)
    cluster = Cluster("upstream")
    cluster._load(cluster_objects)
    cluster.run(steps=1_000_000, seconds=1e12)
    gc.collect()
    before, start = resident(), cluster.world.log.end
    cluster._load(pods)
    for _ in cluster.world.run(steps=10_000_000, seconds=1e12):
        pass
    gc.collect()
    after, steps = resident(), cluster.world.step_number
    draw, slowest = random.Random(SEED), 0.0
    for _ in range(int(places)):
        step = draw.randrange(steps)
        begin = time.process_time()
        cluster.goto(step)
        slowest = max(slowest, time.process_time() - begin)
    return {"changes": cluster.world.log.end - start, "bytes": after - before, "seconds": slowest}


def resident() -> int:
    """Return the bytes of memory that this process has now; where the system does not say, the most it has had."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


TASKS: dict[str, Callable[..., Any]] = {
    "loop": loop, "passes": passes, "explorer": explorer,
    "explorer_elapsed": explorer_elapsed, "explorer_memory": explorer_memory, "history": history,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))  # noqa: T201 - what the other process reads

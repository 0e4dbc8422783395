"""Measures one thing in a process of its own, whose memory and time nothing else has used; prints JSON.

`python -c 'from kvolsched.measure.bench.worker import main; main()' TASK ARGUMENTS`, as `run_worker` starts it.
"""

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

from ...api.text import manifest
from ...cluster import Cluster
from ...learn.scenario import scenario
from ...questions.explore import explore

SEED = 1
EXPLORED = "two-replicas"  # of kubernetes#65131


def explorer(most: str) -> float:
    """Return the CPU seconds of a transition of the explorer."""
    cluster = scenario(EXPLORED, "upstream")
    gc.collect()
    start = time.process_time()
    found = explore(cluster, progress=False, max_states=int(most))
    return (time.process_time() - start) / found.transitions


def explorer_elapsed(most: str, cores: str) -> float:
    """Return the elapsed seconds of a search, in this process or, with any word, on a pool of processes."""
    cluster, start = scenario(EXPLORED, "upstream"), time.perf_counter()
    explore(cluster, progress=False, max_states=int(most), executor=ProcessPoolExecutor if cores else None)
    return time.perf_counter() - start


def explorer_memory(most: str) -> dict[str, float]:
    """Return how many states were visited, and the most memory that the process had, in bytes."""
    found = explore(scenario(EXPLORED, "upstream"), progress=False, max_states=int(most))
    return {"states": found.states, "bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def history(folder: str, places: str) -> dict[str, float]:
    """Return the changes of a written workload's run, the bytes that they and their objects take, the time to go back.

    The bytes are what the process has more of than before the pods came; the seconds are those of the slowest of some
    moves to steps at random.
    """
    files = {path.stem: list(manifest.read(path).objects) for path in Path(folder).glob("*.yaml")}
    cluster = Cluster("upstream")
    cluster._load([*files["nodes"], *files.get("cluster", [])])
    cluster.run(steps=1_000_000, seconds=1e12)
    gc.collect()
    before, start = resident(), cluster.world.log.end
    cluster._load(files["pods"])
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
    each.__name__: each for each in (explorer, explorer_elapsed, explorer_memory, history)
}


def main() -> None:
    """Do the task that the command line names, and print what it gives."""
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))  # noqa: T201 - what the other process reads

"""Measures one thing in a process of its own, whose memory and time nothing else has used; prints JSON.

`python -c 'from kvolsched.measure.bench.worker import main; main()' TASK ARGUMENTS`, as `run_worker` starts it.
"""

import gc
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from ...api.text import manifest
from ...cluster import Cluster
from ...learn.scenario import scenario
from ...questions.explore import explore
from .loop import LoopTimer
from .measuring import peak_bytes
from .workloads import workload

SEED = 1
EXPLORER = "explorer"
EXPLORED = "two-replicas"  # of kubernetes#65131


def explorer(most: str, cores: str = "") -> dict[str, float]:
    """Return what a search of so many states takes, in this process or, with any word, on a pool of processes.

    That is: CPU seconds of a transition, elapsed seconds, the states visited, the process' most memory in bytes, and as
    `units` the transitions made.
    """
    cluster = scenario(EXPLORED, "upstream")
    gc.collect()
    began, start = time.perf_counter(), time.process_time()
    found = explore(cluster, progress=False, max_states=int(most), executor=ProcessPoolExecutor if cores else None)
    seconds, elapsed = time.process_time() - start, time.perf_counter() - began
    return {"seconds": seconds / found.transitions, "elapsed": elapsed, "states": found.states, "bytes": peak_bytes(),
            "units": found.transitions}  # fmt: skip


def instructions(name: str, pods: str) -> dict[str, float]:
    """Return how many pods a workload's loop placed, or transitions the explorer made, while callgrind counted.

    Both have run before, so that nothing is imported or made for the first time.
    """
    gc.disable()
    if name == EXPLORER:
        explorer("300")
        run: Callable[[], Any] = partial(explorer, "1500")
    else:
        timer = LoopTimer(workload(name), 200, int(pods))
        timer.running(5)()
        run = timer.running(int(pods))
    count = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL)
    count(["callgrind_control", "-i", "on", str(os.getpid())])
    done = run()
    count(["callgrind_control", "-i", "off", str(os.getpid())])
    return {"units": done["units"] if name == EXPLORER else int(pods)}


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
    return peak_bytes()


TASKS: dict[str, Callable[..., Any]] = {EXPLORER: explorer, "history": history, "instructions": instructions}


def main() -> None:
    """Do the task that the command line names, and print what it gives."""
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))  # noqa: T201 - what the other process reads

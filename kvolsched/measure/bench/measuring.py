"""How anything is measured: CPU time of this process, the least of a few runs, a fit over sizes, a profile.

The least counts, as other load on the machine only ever adds to a figure; figures that are compared are measured
alternately.
"""

from __future__ import annotations

import cProfile
import gc
import math
import os
import platform
import pstats
import sys
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs
import numpy as np

HOUSE = Path(__file__).parents[2]
PROFILED = 5  # functions of a profile that are named
_Function = tuple[str, int, str]  # file, line, name
_Callers = Mapping[_Function, tuple[int, int, float, float]]


def cpu_seconds(act: Callable[[], object]) -> float:
    """Return the CPU time of one call, in seconds."""
    start = time.process_time()
    act()
    return time.process_time() - start


def least_cpu_seconds(act: Callable[[], object], runs: int = 5) -> float:
    """Return the least CPU time of a call over some runs, in seconds; garbage is collected once, before the first.

    >>> least_cpu_seconds(lambda: sum(range(1000)), runs=2) < 1
    True
    """
    gc.collect()
    return min(cpu_seconds(act) for _ in range(runs))


@contextmanager
def settling_heap() -> Iterator[Callable[[], None]]:
    """Give a function that collects garbage, and lets the collector leave out what is there from then on.

    To look at the objects of a large cluster takes it longer than most answers about them. After this block it looks at
    all of them again, unless it left out some before.
    """

    def settle() -> None:
        gc.collect()
        gc.freeze()

    already = gc.get_freeze_count()
    try:
        yield settle
    finally:
        if not already:
            gc.unfreeze()


def exponent(costs: Mapping[int, float]) -> float | None:
    """Return the exponent that fits costs by size: 0 if costs do not grow, 1 if they grow as the size does.

    None for one size.

    >>> round(exponent({100: 1.0, 1_000: 10.0, 10_000: 100.0}), 3)
    1.0
    """
    if len(costs) < 2:
        return None
    sizes, values = zip(*((math.log(size), math.log(cost)) for size, cost in costs.items()), strict=True)
    return float(np.polyfit(sizes, values, 1)[0])


def traced_bytes(act: Callable[[], object]) -> int:
    """Return how many bytes a call leaves behind, as tracemalloc counts them; it makes the call slow."""
    gc.collect()
    tracemalloc.start()
    try:
        act()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@attrs.frozen
class ProfileLine:
    """A function in a profile: where it stands, and its share of the time without what it calls, from 0 to 1."""

    where: str
    share: float

    def __str__(self) -> str:
        return f"{self.share:4.0%}  {self.where}"


def profile(act: Callable[[], object], count: int = PROFILED) -> tuple[ProfileLine, ...]:
    """Return the functions in which a call spends most of its time, the slowest first.

    Time in a built-in, or in another package, counts for the function that calls it.

    >>> profile(lambda: sorted(range(9)))[0].share > 0
    True
    """
    profiler = cProfile.Profile(time.process_time)
    profiler.runcall(act)
    stats: Mapping[_Function, tuple[int, int, float, float, _Callers]] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    own: dict[_Function, float] = defaultdict(float)
    for function, (_, _, seconds, _, callers) in stats.items():
        if callers and not Path(function[0]).is_relative_to(HOUSE):
            for caller, (_, _, part, _) in callers.items():
                own[caller] += part
        else:
            own[function] += seconds
    whole = sum(own.values()) or 1.0
    slowest = sorted(own.items(), key=lambda item: -item[1])[:count]
    return tuple(ProfileLine(_place(*function), seconds / whole) for function, seconds in slowest)


def _place(file: str, line: int, function: str) -> str:
    """Return a function's place as a reader finds it: `world/log.py:120 write`; a built-in by its name."""
    if file == "~":
        return function.strip("<>")
    path = Path(file)
    if path.is_relative_to(HOUSE):
        return f"{path.relative_to(HOUSE)}:{line} {function}"
    return f"{path.parent.name}/{path.name} {function}"


def machine() -> str:
    """Return the machine in words: processor, cores that this process may use, Python, numpy, and its present load.

    Other programs that run at the same time share its caches: CPU time is more under load, too.
    """
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line.partition(":") for line in info.read_text(encoding="utf-8", errors="replace").splitlines())
        model = next((value.strip() for name, _, value in lines if name.strip() == "model name"), model)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    words = f"{model}, {cores} cores, {platform.system()}, Python {platform.python_version()}, numpy {np.__version__}"
    return f"{words}, load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else words


def peak_bytes() -> int:
    """Return the most memory that this process has had, in bytes; 0 where the system does not say."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

"""Benchmarks: workloads through the pass and through the loop, and figures beside their aims (`kvolsched bench`).

A figure is CPU time of one process, the least of a few runs, so that other load counts little; compared figures are
measured alternately. Decisions of a simulated loop are no throughput of a cluster. No figure is asserted but ratios.
"""

from .figures import SMALL, Measurement, Sizes
from .report import Bench, Measurements, bench
from .workloads import WORKLOADS, Workload, workload

__all__ = ["SMALL", "WORKLOADS", "Bench", "Measurement", "Measurements", "Sizes", "Workload", "bench", "workload"]

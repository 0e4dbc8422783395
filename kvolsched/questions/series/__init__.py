"""Counts of a run over simulated time: pods that run, failures, skew, room of pools, cpu that pods hold.

Each is computed from the log, over the steps up to now and those known after it; nothing is stored. `measures` has one
class for each count, `timelines` reads the log once for all of them.
"""

from .measures import CPU_HELD, MEASURES
from .timeline import DEFAULT, Timeline, TimelinePoint, Wanted, cluster_labels, timelines

__all__ = ["CPU_HELD", "DEFAULT", "MEASURES", "Timeline", "TimelinePoint", "Wanted", "cluster_labels", "timelines"]

"""Experiments: small clusters that a question needs, run for you, with the answers as rows.

Each function makes its clusters by the public face, runs them, and returns rows whose text is a table.
"""

from .cost_of_spreading import SpreadingCost, SpreadingCosts, spreading_cost
from .early_stop import nodes_to_find, stopping_early
from .gates_by_process import GateOutcomes, GateRow, GateTable, gates
from .loop_recordings import RecordedLoopRow, RecordedLoops, StrandedPod, recorded_loops
from .pod_affinity import (
    AffinityRow,
    AffinityTable,
    AntiAffinityRun,
    AntiAffinityRuns,
    affinity_as_spreading,
    anti_affinity,
)
from .storage_capacity import CapacityRun, CapacityRuns, NodeCount, capacity, compare_capacity
from .visits_by_index import VisitCount, VisitCounts, volume_visits

__all__ = [
    "AffinityRow", "AffinityTable", "AntiAffinityRun", "AntiAffinityRuns", "CapacityRun", "CapacityRuns",
    "GateOutcomes", "GateRow", "GateTable", "NodeCount", "RecordedLoopRow", "RecordedLoops", "SpreadingCost",
    "SpreadingCosts", "StrandedPod", "VisitCount", "VisitCounts", "affinity_as_spreading", "anti_affinity", "capacity",
    "compare_capacity", "gates", "nodes_to_find", "recorded_loops", "spreading_cost", "stopping_early",
    "volume_visits",
]  # fmt: skip

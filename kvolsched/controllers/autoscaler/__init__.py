"""The cluster autoscaler: it alone adds nodes for pods that no node fits, and removes nodes that nothing needs.

It sees a pod as unschedulable by its condition PodScheduled, so a gated pod never counts. `options` are its node groups
and flags, `cloud` the machines that run and how they register, `scaling` the nodes it imagines and its decisions,
`autoscaler_component` the loop that carries them out. Mirrors Cluster Autoscaler 1.3x.
"""

from .autoscaler_component import NAME, component
from .options import AutoscalerOptions, NodeGroup, read_groups

__all__ = ["NAME", "AutoscalerOptions", "NodeGroup", "component", "read_groups"]

"""The node lifecycle controller: it alone marks nodes whose kubelet is silent as not ready, and taints nodes.

This file only re-exports: `controller` decides about one node at a time, `taints` has the NoSchedule taints of its
conditions and cordon, `zones` counts how many nodes of a zone are ready and limits how fast they get NoExecute taints.
"""

from __future__ import annotations

from .controller import NAME, ROUTINE, NodeLifecycleOptions, component

__all__ = ["NAME", "ROUTINE", "NodeLifecycleOptions", "component"]

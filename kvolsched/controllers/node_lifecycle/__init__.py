"""The node lifecycle controller: it alone marks nodes whose kubelet is silent as not ready, and taints them.

This file only re-exports: `controller` decides about one node at a time, `zones` counts how many nodes of a zone are
ready and limits how fast nodes are tainted with NoExecute.
"""

from __future__ import annotations

from .controller import NAME, ROUTINE, NodeLifecycleOptions, component

__all__ = ["NAME", "ROUTINE", "NodeLifecycleOptions", "component"]

"""The node lifecycle controller: it alone marks nodes whose kubelet is silent as not ready, and taints nodes.

This file only re-exports: `controller` decides about one node at a time and limits how fast those of a zone get
NoExecute taints.
"""

from .controller import NAME, ROUTINE, NodeLifecycleOptions, component

__all__ = ["NAME", "ROUTINE", "NodeLifecycleOptions", "component"]

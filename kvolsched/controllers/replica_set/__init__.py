"""The controllers of ReplicaSets and ReplicationControllers: each alone keeps as many pods as one of them asks for.

This file only re-exports: `controller` keeps the replicas of either kind, `replication_controller` is the second kind.
"""

from .controller import NAME, component, pod_for

__all__ = ["NAME", "component", "pod_for"]

"""The Deployment controller: it alone makes and sizes the ReplicaSets of a Deployment, one for each template.

RollingUpdate lets at most maxSurge pods be too many and maxUnavailable be missing, and continues with every change of
a ReplicaSet's status; Recreate deletes all old pods before the first new one. Rollbacks and the deadline for progress
are not modelled. Mirrors `pkg/controller/deployment` (v1.36.2).
"""

from .controller import component
from .rollout import NAME

__all__ = ["NAME", "component"]

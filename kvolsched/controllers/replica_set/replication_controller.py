"""The replication controller: the ReplicaSet controller for ReplicationControllers, as Kubernetes wraps it.

Its Events have a source of their own, and a status does not count the pods that are terminating. Mirrors
`pkg/controller/replication` (v1.36.2).
"""

from ...world.component import Component
from .controller import ReplicaController

NAME = "replicationcontroller-controller"
CONTROLLER = ReplicaController(
    "ReplicationController", NAME, "replication controller", source="replication-controller", counts_terminating=False
)


def component() -> Component:
    """Return the replication controller."""
    return CONTROLLER.component()

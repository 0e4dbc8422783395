"""The PV controller: it alone moves claims and volumes through their phases and binds them to each other.

Two workers share one component, as in Kubernetes: one syncs claims (`claims`), one volumes (`volumes`); operations of
in-tree plugins are a third routine that a revision may add (`operations`). The component has the controller's name,
not that of the process it runs in: each controller has its own informers, so cursors. A later sync finishes what a
crash between two writes has interrupted. Mirrors `pkg/controller/volume/persistentvolume` (v1.36.2; `DESIGN`: 1.11).
"""

from .controller import PVController, component
from .options import CLAIMS, DESIGN, NAME, OPERATIONS, UPSTREAM, VOLUMES, PVControllerOptions

__all__ = [
    "CLAIMS", "DESIGN", "NAME", "OPERATIONS", "UPSTREAM", "VOLUMES", "PVController", "PVControllerOptions", "component"
]

"""A driver's provisioner: it alone makes volumes for claims that are handed to it, and deletes them after release.

What a driver is asked for is decided in `topology`; drivers whose class names zones, and in-tree plugins, choose by
themselves (`in_tree_topology`). When a volume is there and whether it fails are dials (`options`). A driver with pools
fails where no room is left (`storage_pools`) and publishes its capacity (`capacity`, `driver_status`). Mirrors
external-provisioner v6.3.0.
"""

from .capacity import INSTANCE, GetCapacityCall, component_name
from .controller import component
from .in_tree_topology import allowed_segments, choose_topology
from .options import DESIGN, UPSTREAM, Failure, ProvisionerOptions
from .provisioning import Attempt
from .topology import NoTopology

__all__ = [
    "DESIGN", "INSTANCE", "UPSTREAM", "Attempt", "Failure", "GetCapacityCall", "NoTopology", "ProvisionerOptions",
    "allowed_segments", "choose_topology", "component", "component_name"
]

"""Node: a machine that runs pods, with its labels (its topology), taints and allocatable resources."""

from typing import ClassVar

import attrs

from .meta import EMPTY, ApiObject, Condition, Frozen, ManifestPart
from .selector import Taint

# Well-known labels: the topology keys of hosts, zones and regions, each with the spelling of its beta.
HOSTNAME_LABEL = "kubernetes.io/hostname"
ZONE_LABEL, BETA_ZONE_LABEL = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION_LABEL, BETA_REGION_LABEL = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
ZONE_LABELS = (ZONE_LABEL, BETA_ZONE_LABEL)
REGION_LABELS = (REGION_LABEL, BETA_REGION_LABEL)
DOMAIN_LABELS = (*ZONE_LABELS, *REGION_LABELS)


def kind_of_domain(key: str) -> str:
    """Return what a domain of a topology key is called: `host`, `zone`, else the key's last part."""
    return "host" if key == HOSTNAME_LABEL else key.rpartition("/")[2]


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class NodeSpec(ManifestPart):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class NodeStatus(ManifestPart):
    """status: capacity and allocatable are quantities by resource name, as canonical text."""

    capacity: Frozen = EMPTY
    allocatable: Frozen = EMPTY
    conditions: tuple[Condition, ...] = ()
    declared_features: tuple[str, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Node(ApiObject):
    api_version: ClassVar[str] = "v1"
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def zone(self) -> str:
        """Its zone, by the label or its beta spelling; "" without both."""
        labels = self.metadata.labels
        return next((labels[key] for key in ZONE_LABELS if key in labels), "")

    @property
    def readiness(self) -> str:
        """The status of its condition Ready; a node without it counts as ready."""
        return next((found.status for found in self.status.conditions if found.type == "Ready"), "True")

"""Node: a machine that runs pods, with its labels (its topology), taints and allocatable resources."""

from __future__ import annotations

from typing import ClassVar

import attrs

from .meta import EMPTY, Condition, Frozen, ObjectMeta
from .selector import Taint

# Well-known labels: the topology keys of hosts, zones and regions, each with the spelling of its beta.
HOSTNAME_LABEL = "kubernetes.io/hostname"
ZONE_LABEL, BETA_ZONE_LABEL = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
REGION_LABEL, BETA_REGION_LABEL = "topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region"
ZONE_LABELS = (ZONE_LABEL, BETA_ZONE_LABEL)
REGION_LABELS = (REGION_LABEL, BETA_REGION_LABEL)


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class NodeSpec:
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class NodeStatus:
    """status: capacity and allocatable are quantities by resource name, as canonical text."""

    capacity: Frozen = EMPTY
    allocatable: Frozen = EMPTY
    conditions: tuple[Condition, ...] = ()
    rest: Frozen = EMPTY


@attrs.define(frozen=True, kw_only=True, cache_hash=True)
class Node:
    kind: ClassVar[str] = "Node"
    api_version: ClassVar[str] = "v1"
    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
    rest: Frozen = EMPTY

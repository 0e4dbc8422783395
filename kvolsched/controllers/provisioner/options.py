"""The dials of a driver, and the failures that may be ordered: values only, no decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ...api.kinds.node import ZONE_LABEL
from ...world.reconciler import Backoff
from ...world.storage_pools import Pool
from .capacity import NODE, PublishingOptions

EXHAUSTED = "ResourceExhausted"
UNFINISHED = frozenset({"Canceled", "DeadlineExceeded", "Unavailable", "Aborted"})  # the driver may still be at work


@attrs.frozen(kw_only=True)
class Failure:
    """Attempts that fail: the next `times` (None: all) that fall on this topology ("": any value)."""

    times: int | None = 1
    topology: str = ""
    code: str = EXHAUSTED
    desc: str = ""


def read_failures(driver: str, failures: Iterable[Any]) -> tuple[Failure, ...]:
    """Return the failures of a driver from their dials.

    Raises:
        ValueError: a failure is no mapping, or has an unknown field.
    """
    there = [field.name for field in attrs.fields(Failure)]
    for dials in failures:
        unknown = [word for word in dials if word not in there] if isinstance(dials, Mapping) else [repr(dials)]
        if unknown:
            raise ValueError(f"{driver}: fails: a failure has no {', '.join(unknown)}; there are: {', '.join(there)}")
    return tuple(Failure(**dials) for dials in failures)


@attrs.frozen(kw_only=True)
class ProvisionerOptions:
    """The dials of a driver.

    Args:
        serves: provisioner names in classes and annotations that it acts for (beside its own name).
        topology_keys: node labels that tell where a volume can be reached, while no CSINode names the driver's.
        strict_topology: it is asked for the selected node's topology and nothing else.
        tries_preferred: with a selected node, too, it tries every preferred topology in order until a pool has room;
            else the first alone. CSI leaves that to drivers.
        immediate_topology: it is asked for a topology even if neither class nor pod wants one.
        pools: its storage (see `storage_pools.read_pools`); none: unlimited, and no capacity is published.
        publishing: how the capacity is published, if there are pools.
        delay: seconds from the start of an attempt to the volume in the API, and from release to deletion.
        fails: failures to come, in order.
        fail_chance: share of attempts that fail besides, in percent, drawn by seed.
        on_failure: "reschedule" removes the selected node, "retry" tries it again (checklist C19).
        reschedule_codes: which failures are rescheduled; () means every one (S0: always).
        immediate_zone: where volumes of claims without a selected node lie ("" = by the claim's name).
        plays_in_tree: under the name of an in-tree plugin it plays the plugin inside the PV controller: it goes by
            class and node, not by annotation, and has the controller's messages.
        uses_selected_node: it makes volumes where the selected node is; else as if no node were selected (S0, alpha).
        node_needs_delay: a selected node counts for claims of a class that waits only (S0, Dynamic Provisioning
            interface changes); else for any claim that has the annotation (external-provisioner).
        uses_allowed_topologies: it is told what topologies the class allows.
        list_for_node: with a selected node it is told what topologies the class allows, too; else the node alone counts
            for a volume of one domain, since the scheduler has looked at the list (S0, Restricting Topology).
        whole_topologies: each term of allowedTopologies is the topology of one volume, all its values (S0, rejected).
        serves_delayed: when it serves claims of a class that waits: once a node is "selected", "at once" when they are
            handed over, or "never".
        zonal_affinity: volumes with zones have them in their node affinity, else in labels alone (S0, alpha).
        retry_interval_start, retry_interval_max: seconds until what has failed for a claim, a volume or a capacity is
            tried again, doubled by each failure from the first to the last.
        adds_finalizer: its volumes carry its finalizer, which it removes once the storage is deleted.
        running: whether the driver runs at all.
        node_deployment: a provisioner runs on each node, for volumes and capacity of that node alone; so it does if
            pools are published in the form "node", then for inline volumes alone.
    """

    serves: tuple[str, ...] = ()
    topology_keys: tuple[str, ...] = (ZONE_LABEL,)
    strict_topology: bool = False
    tries_preferred: bool = False
    immediate_topology: bool = True
    pools: tuple[Pool, ...] = ()
    publishing: PublishingOptions = PublishingOptions()
    delay: float = 0.3
    fails: tuple[Failure, ...] = ()
    fail_chance: int = 0
    on_failure: str = "reschedule"
    reschedule_codes: tuple[str, ...] = (EXHAUSTED,)
    immediate_zone: Mapping[str, str] | str = ""
    plays_in_tree: bool = False
    uses_selected_node: bool = True
    node_needs_delay: bool = False
    uses_allowed_topologies: bool = True
    list_for_node: bool = True
    whole_topologies: bool = False
    serves_delayed: str = "selected"
    zonal_affinity: bool = True
    retry_interval_start: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))
    retry_interval_max: float = attrs.field(default=300.0, validator=attrs.validators.gt(0))
    adds_finalizer: bool = True
    running: bool = True
    node_deployment: bool = False

    @property
    def backoff(self) -> Backoff:
        """How long what has failed waits until it is tried again."""
        return Backoff.per_cause(self.retry_interval_start, self.retry_interval_max)

    @property
    def per_node(self) -> bool:
        """Whether a provisioner runs on each node."""
        return self.node_deployment or self.publishing.form == NODE


UPSTREAM = ProvisionerOptions()
DESIGN = ProvisionerOptions(
    reschedule_codes=(),  # S0: every failure removes the annotation
    plays_in_tree=True,
    node_needs_delay=True,
    list_for_node=False,
    adds_finalizer=False,
    publishing=PublishingOptions(form="central"),
)

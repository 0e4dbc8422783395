"""Publishing a driver's room as S2 has it: in the status of its CSIDriver, pool by pool, each by a patch of its own.

Two ways to run the provisioner: `central`, beside the controller service, which asks about every class in every segment
of nodes; and `node`, an instance on each node, which owns the one pool of that node and serves inline volumes alone. No
patch takes what another wrote. Written after S2, Updating capacity information with external-provisioner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.kinds.csi import EPHEMERAL_STORAGE, CSIDriver, CSIStorage, CSIStoragePool
from ...api.kinds.meta import EMPTY, evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.quantity import of_bytes, value
from ...api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from ...volumes import Topology, segment_of
from ...world.apiserver import Write, moment
from ...world.component import TurnContext
from ...world.log import Key
from ...world.reconciler import Reconciler
from .capacity import ARRANGE, POLL, GetCapacity, PublishingOptions
from .storage_pools import CapacityResponse, DriverFailed

CENTRAL, NODE = "central", "node"
WATCHES = ("Node", "StorageClass", "CSIDriver")


@attrs.frozen
class PoolPatch:
    """A patch of one pool, by the keys of its class and its name; `pool` None takes it away."""

    storage_class: str
    name: str
    pool: CSIStoragePool | None = None

    def apply(self, old: CSIDriver) -> CSIDriver:
        """Return the driver with this pool as it is now, all others as they are."""
        others = {each.storage_class_name: each for each in old.status.storage}
        entry = others.get(self.storage_class, CSIStorage(storage_class_name=self.storage_class))
        pools: dict[str, CSIStoragePool] = {each.name: each for each in entry.pools}
        if self.pool is None:
            pools.pop(self.name, None)
        else:
            pools[self.name] = self.pool
        others[self.storage_class] = attrs.evolve(entry, pools=tuple(pools.values()))
        storage = tuple(each for each in others.values() if each.pools or each.storage_class_name != self.storage_class)
        return evolve_parts(old, status={"storage": storage})


@attrs.frozen
class PublishedPool:
    """A pool that is to be told of: for which class (or `<ephemeral>`), and reached from where."""

    storage_class: str
    segment: Topology = ()
    node: str = ""
    parameters: Mapping[str, str] = EMPTY

    @property
    def pool(self) -> str:
        """The pool's name: that of the node, or what the labels of the segment say after their common prefix."""
        return self.node or ",".join(f"{key.partition('/')[2]}={one}" for key, one in self.segment) or "cluster"

    @property
    def cause(self) -> str:
        """The name under which it is taken up."""
        return f"{self.storage_class}|{self.pool}"


@attrs.frozen
class StatusPublisher:
    """The routine that tells of a driver's room in its status."""

    driver: str
    ask: GetCapacity
    options: PublishingOptions

    @property
    def name(self) -> str:
        """The name of the routine."""
        return f"{self.driver} capacity"

    def routine(self) -> Reconciler:
        """Return the actor."""
        return Reconciler(self.name, self.causes, self.sync, backoff=self.backoff)

    @staticmethod
    def backoff(failures: int) -> float:
        """Return the seconds between two attempts: 1 s, doubled up to 5 minutes."""
        return float(min(2 ** (failures - 1), 300))

    # -- what is wanted -------------------------------------------------------------------------------------

    def causes(self, _hand: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield that things are to be put in order, when a change may matter to it."""
        mine = False
        match key.kind:
            case "CSIDriver":
                mine = key.name == self.driver and (old is None or new is None or old.spec != new.spec)
            case "StorageClass":
                mine = any(each is not None and each.provisioner == self.driver for each in (old, new))
            case "Node":
                mine = old is None or new is None or old.metadata.labels != new.metadata.labels
        if mine:
            yield ARRANGE

    def wanted(self, ctx: TurnContext) -> dict[str, PublishedPool]:
        """Return what is to be told of, by cause: nothing where the driver does not track, or has no prefix given."""
        driver = self._driver(ctx)
        if driver is None or not driver.spec.capacity_tracking:
            return {}
        nodes: list[Node] = ctx.seen.all("Node")
        if self.options.form == NODE:
            found = [PublishedPool(EPHEMERAL_STORAGE, node=node.metadata.name) for node in nodes]
        elif not self.options.prefix:
            found = []
        else:
            segments = sorted({segment for node in nodes if (segment := self._segment(node))})
            of = [each for each in ctx.seen.all("StorageClass") if each.provisioner == self.driver]
            kinds = [(each.metadata.name, each.parameters) for each in of if each.delayed or self.options.immediate]
            kinds += [(EPHEMERAL_STORAGE, EMPTY)] if self.options.ephemeral else []
            found = [PublishedPool(kind, segment, "", told) for kind, told in kinds for segment in segments]
        return {each.cause: each for each in found}

    def _segment(self, node: Node) -> Topology:
        """Return the labels of a node that have the driver's prefix."""
        labels = node.metadata.labels
        return segment_of(labels, (key for key in labels if key.startswith(f"{self.options.prefix}/"))) or ()

    def _driver(self, ctx: TurnContext) -> CSIDriver | None:
        found: CSIDriver | None = ctx.seen.get("CSIDriver", self.driver)
        return found

    def _there(self, ctx: TurnContext) -> dict[str, tuple[str, CSIStoragePool]]:
        """Return the pools that the status tells of, by cause, with their class."""
        driver = self._driver(ctx)
        return {
            f"{entry.storage_class_name}|{pool.name}": (entry.storage_class_name, pool)
            for entry in (driver.status.storage if driver is not None else ())
            for pool in entry.pools
        }

    # -- one cause ------------------------------------------------------------------------------------------

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Find out what is wanted, or ask the driver about one pool and tell the answer, or take a pool away."""
        wanted = self.wanted(ctx)
        if cause in (ARRANGE, POLL):
            if wanted and self.options.poll and (cause == POLL or ctx.note("wake", f"{self.name}|{POLL}") is None):
                ctx.wake_after(POLL, self.options.poll, periodic=True)
            told = self._there(ctx)
            mine = {name for name, each in told.items() if self._is_mine(ctx, each[0])} - wanted.keys()
            for name in (*wanted, *sorted(mine)):
                ctx.enqueue(name)
            return ()
        item, there = wanted.get(cause), self._there(ctx).get(cause)
        if item is None:
            return () if there is None else (self._patch(PoolPatch(there[0], there[1].name)),)
        try:
            room = self._asked(ctx, item)
        except DriverFailed as why:
            ctx.wake_after(cause, self.backoff(1))
            ctx.describe(f"{self.driver} does not say how much room it has for {cause}: GetCapacity: {why}")
            return ()
        pool = self._pool(ctx, item, room)
        if there is not None and self._says(there[1], pool):
            return ()
        return (self._patch(PoolPatch(item.storage_class, pool.name, pool)),)

    def _is_mine(self, ctx: TurnContext, storage_class: str) -> bool:
        """Say whether a class's pools are this provisioner's to take away; an instance on a node knows no other's."""
        if self.options.form == NODE:
            return False
        found = ctx.seen.get("StorageClass", storage_class)
        return storage_class == EPHEMERAL_STORAGE or found is None or found.provisioner == self.driver

    def _asked(self, ctx: TurnContext, item: PublishedPool) -> CapacityResponse:
        """Ask the driver: about a class and a segment or, on a node, with an empty request, which means that node."""
        node = ctx.seen.get("Node", item.node) if item.node else None
        if node is not None:
            return self.ask(ctx, EMPTY, tuple(sorted(node.metadata.labels.items())))
        return self.ask(ctx, item.parameters, item.segment)

    def _pool(self, ctx: TurnContext, item: PublishedPool, room: CapacityResponse) -> CSIStoragePool:
        terms = tuple(Requirement(key=key, operator="In", values=(one,)) for key, one in item.segment)
        topology = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=terms),)) if terms else None
        expires = self.options.expires
        return CSIStoragePool(
            name=item.pool,
            node_topology=None if item.node else topology,
            node_list=(item.node,) if item.node else (),
            capacity=of_bytes(room.available if room.largest is None else room.largest),
            expiry_time=moment(ctx.sim.log, expires) if expires else None,
        )

    @staticmethod
    def _says(there: CSIStoragePool, pool: CSIStoragePool) -> bool:
        """Say whether a pool is told of as it is; what expires is told again when it is asked about."""
        same = attrs.evolve(pool, capacity=there.capacity) == there
        return same and there.capacity is not None and value(there.capacity) == value(pool.capacity or "0")

    def _patch(self, patch: PoolPatch) -> Write:
        key = Key("CSIDriver", "", self.driver)
        told = "takes away" if patch.pool is None else f"publishes {patch.pool.capacity} in"
        return Write("patch", key, patch, words=f"{self.driver} {told} pool {patch.name} of {patch.storage_class}")

    # -- what the provisioner asks for ------------------------------------------------------------------------

    def refresh(self, ctx: TurnContext, segments: Sequence[Topology] | None, storage_class: str) -> list[str]:
        """Return what to ask the driver about after a volume came or went: where it lies, else its class."""
        found = self.wanted(ctx)
        if segments is None:
            return [cause for cause, item in found.items() if item.storage_class == storage_class]
        return [cause for cause, item in found.items() if any(set(one) <= set(item.segment) for one in segments)]

"""Publishes a driver's capacity as S2 has it: in the status of its CSIDriver, each pool by its own patch.

The provisioner runs in one of two ways: `central`, beside the controller service, it asks about every class in every
segment of nodes; `node`, as an instance on each node (a component of its own), it owns the one pool of that node, for
inline volumes alone, and takes it with it when the node goes. No patch removes what another wrote.
Source: S2, Updating capacity information with external-provisioner.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.kinds.csi import EPHEMERAL_STORAGE, CSIDriver, CSIStorage, CSIStoragePool
from ...api.kinds.meta import EMPTY, evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.quantity import of_bytes, value
from ...api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from ...api.volumes import Topology
from ...world.apiserver import Write, moment
from ...world.component import TurnContext
from ...world.log import Key
from ...world.reconciler import Reconciler
from ...world.storage_pools import CapacityResponse, DriverFailed, segment_of_node
from .capacity import ARRANGE, NODE, POLL, Publisher


@attrs.frozen
class PoolPatch:
    """A patch of one pool, by the keys of its class and its name; `pool` None removes it."""

    storage_class: str
    name: str
    pool: CSIStoragePool | None = None

    def apply(self, old: CSIDriver) -> CSIDriver:
        """Return the driver with this pool replaced or removed, and all others unchanged."""
        entries = {entry.storage_class_name: entry for entry in old.status.storage}
        entry = entries.get(self.storage_class, CSIStorage(storage_class_name=self.storage_class))
        pools: dict[str, CSIStoragePool | None] = {**{pool.name: pool for pool in entry.pools}, self.name: self.pool}
        entries[self.storage_class] = attrs.evolve(entry, pools=tuple(filter(None, pools.values())))
        storage = tuple(e for e in entries.values() if e.pools or e.storage_class_name != self.storage_class)
        return evolve_parts(old, status={"storage": storage})


@attrs.frozen
class PublishedPool:
    """A pool to publish: its class (or `<ephemeral>`), and the segment or node from which it is reached."""

    storage_class: str
    segment: Topology = ()
    node: str = ""
    parameters: Mapping[str, str] = EMPTY

    @property
    def pool(self) -> str:
        """The pool's name: that of the node, or the labels of the segment without their common prefix."""
        return self.node or ",".join(f"{key.partition('/')[2]}={text}" for key, text in self.segment)

    @property
    def cause(self) -> str:
        """The cause under which the pool is synced."""
        return f"{self.storage_class}|{self.pool}"


@attrs.frozen
class StatusPublisher(Publisher):
    """The routine that publishes a driver's capacity in its status."""

    def routine(self) -> Reconciler:
        """Return the routine."""
        return Reconciler(self.name, self.causes, self.sync, backoff=self.backoff)

    def causes(self, _ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield ARRANGE if a change may alter which pools are wanted."""
        matters = False
        match key.kind:
            case "CSIDriver":
                matters = key.name == self.driver and (old is None or new is None or old.spec != new.spec)
            case "StorageClass":
                matters = self.is_driver_of(old, new)
            case "Node":
                matters = old is None or new is None or old.metadata.labels != new.metadata.labels
        if matters:
            yield ARRANGE

    def wanted(self, ctx: TurnContext) -> dict[str, PublishedPool]:
        """Return the pools to publish, by cause: none if the driver does not track capacity, or has no prefix."""
        driver: CSIDriver | None = ctx.seen.get("CSIDriver", self.driver)
        if driver is None or not driver.spec.capacity_tracking:
            return {}
        nodes: list[Node] = ctx.seen.all("Node")
        if self.options.form == NODE:
            here = (node.metadata.name for node in nodes if node.metadata.name == self.node)
            pools = [PublishedPool(EPHEMERAL_STORAGE, node=name) for name in here]
        else:
            segments = sorted({segment for node in nodes if (segment := self._segment(node))})
            found = [each for each in ctx.seen.all("StorageClass") if each.provisioner == self.driver]
            immediate = self.options.immediate
            classes = [(each.metadata.name, each.parameters) for each in found if each.delayed or immediate]
            classes += [(EPHEMERAL_STORAGE, EMPTY)] if self.options.ephemeral else []
            pools = [PublishedPool(name, part, "", parameters) for name, parameters in classes for part in segments]
        return {pool.cause: pool for pool in pools}

    def _segment(self, node: Node) -> Topology:
        labels, prefix = node.metadata.labels, f"{self.options.prefix}/"
        return tuple(sorted((key, text) for key, text in labels.items() if key.startswith(prefix)))

    def _published(self, ctx: TurnContext) -> dict[str, tuple[str, CSIStoragePool]]:
        driver: CSIDriver | None = ctx.seen.get("CSIDriver", self.driver)
        return {
            f"{entry.storage_class_name}|{pool.name}": (entry.storage_class_name, pool)
            for entry in (driver.status.storage if driver is not None else ()) for pool in entry.pools
        }

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Find the wanted pools, or ask the driver about one pool and publish the answer, or remove a pool."""
        wanted = self.wanted(ctx)
        if cause in (ARRANGE, POLL):
            if wanted and self.options.interval and ctx.note("wake", f"{self.name}|{POLL}") is None:
                ctx.wake_after(POLL, self.options.interval, periodic=True)
            published = self._published(ctx).items()
            for name in (*wanted, *(name for name, (entry, pool) in published if self._manages(ctx, entry, pool))):
                ctx.enqueue(name)
            return ()
        item, old = wanted.get(cause), self._published(ctx).get(cause)
        if item is None:
            self.options.pace.forget(ctx, cause)
            return () if old is None else (self._patch(PoolPatch(old[0], old[1].name)),)
        response = self.answer(
            ctx, cause, cause, lambda: self._capacity(ctx, item), lambda answer: self._is_news(ctx, item, answer)
        )
        if response is None or not self._is_news(ctx, item, response):
            return ()
        pool = self._pool(ctx, item, response)
        return (self._patch(PoolPatch(item.storage_class, pool.name, pool)),)

    def _is_news(self, ctx: TurnContext, item: PublishedPool, response: CapacityResponse) -> bool:
        """Say whether an answer is to be published: it differs, or the published pool expires."""
        old = self._published(ctx).get(item.cause)
        return old is None or not self._is_published(old[1], self._pool(ctx, item, response))

    def needs_poll(self, ctx: TurnContext) -> bool:
        """Say whether the next poll will find news: room that was taken or freed and is not published yet."""
        if not self.options.interval:
            return False
        published = self._published(ctx)
        for item in self.wanted(ctx).values():
            try:
                pool = self._pool(ctx, item, self._capacity(ctx, item))
            except DriverFailed:
                continue
            old = published.get(item.cause)
            if old is None or not self._has_capacity(old[1], pool):
                return True
        return False

    def _manages(self, ctx: TurnContext, storage_class: str, pool: CSIStoragePool) -> bool:
        """Say whether a class's pool is this provisioner's to remove; on a node, whether it is that node's."""
        if self.options.form == NODE:
            return storage_class == EPHEMERAL_STORAGE and pool.node_list == (self.node,)
        found = ctx.seen.get("StorageClass", storage_class)
        return found is None or found.provisioner == self.driver

    def _capacity(self, ctx: TurnContext, item: PublishedPool) -> CapacityResponse:
        """Ask the driver about a class and a segment or, on a node, with an empty request, which means that node."""
        node = ctx.seen.get("Node", item.node) if item.node else None
        if node is not None:
            return self.ask(ctx, item.storage_class, EMPTY, (), segment_of_node(node))
        return self.ask(ctx, item.storage_class, item.parameters, item.segment)

    def _pool(self, ctx: TurnContext, item: PublishedPool, response: CapacityResponse) -> CSIStoragePool:
        terms = tuple(Requirement(key=key, operator="In", values=(text,)) for key, text in item.segment)
        topology = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=terms),))
        expires = self.options.expires
        return CSIStoragePool(
            name=item.pool, node_topology=None if item.node else topology, node_list=(item.node,) if item.node else (),
            capacity=of_bytes(response.available if response.largest is None else response.largest),
            expiry_time=moment(ctx.sim.log, expires) if expires else None
        )

    @staticmethod
    def _is_published(old: CSIStoragePool, pool: CSIStoragePool) -> bool:
        """Say whether a pool is published as it is; one that expires is published again whenever it is asked for."""
        return attrs.evolve(pool, capacity=old.capacity) == old and StatusPublisher._has_capacity(old, pool)

    @staticmethod
    def _has_capacity(old: CSIStoragePool, pool: CSIStoragePool) -> bool:
        return old.capacity is not None and value(old.capacity) == value(str(pool.capacity))

    def _patch(self, patch: PoolPatch) -> Write:
        verb = f"publishes {patch.pool.capacity} for" if patch.pool is not None else "removes"
        words = f"{self.label} {verb} pool {patch.name} of class {patch.storage_class}"
        return Write("patch", Key("CSIDriver", "", self.driver), patch, words=words)

    def causes_to_refresh(self, ctx: TurnContext, segments: Sequence[Topology] | None, storage_class: str) -> list[str]:
        """Return the pools to ask about after a volume was made or deleted: all; after a failure those of its class.

        S2 says that the status is updated then, not only where the volume lies: other segments may share its storage.
        """
        wanted = self.wanted(ctx)
        if segments is None:
            return [cause for cause, pool in wanted.items() if pool.storage_class == storage_class]
        return list(wanted)

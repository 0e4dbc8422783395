"""The true room of drivers' pools: what they have and which volumes take it, whatever is published of it."""

from collections.abc import Iterator

import attrs

from kvolsched.api.notebook_output import PrintedAnswer, Rows, table_text

from ..api.kinds.quantity import of_bytes, value
from ..api.unknown_name import unknown_name
from ..world.storage_pools import DriverStorage, PoolSize
from .core import ClusterCore
from .results import CommandResult

HEAD = ("DRIVER", "POOL", "CAPACITY", "FREE", "LARGEST", "VOLUMES")


@attrs.frozen
class PoolRow:
    """One pool: bytes in all, free, and of the largest volume that it can make now; the volumes that take room."""

    driver: str
    pool: str
    capacity: int
    free: int
    largest: int
    volumes: tuple[str, ...]


@attrs.frozen(repr=False)
class PoolTable(Rows[PoolRow], PrintedAnswer):
    """The pools of a cluster's drivers as rows; printed as a table."""

    rows: tuple[PoolRow, ...]

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names of the pools, which a notebook offers after `[`."""
        return [row.pool for row in self.rows]

    def __getitem__(self, pool: str) -> PoolRow:
        """Return the first pool of this name.

        Raises:
            UnknownName: there is none; the message lists the names. It is a KeyError.
        """
        for row in self.rows:
            if row.pool == pool:
                return row
        raise unknown_name(f"pool {pool!r}", pool, [row.pool for row in self.rows])

    def __repr__(self) -> str:
        if not self.rows:
            return "no driver has pools: its storage is unlimited, see the dial `pools` of a driver"
        lines = [HEAD] + [
            (row.driver, row.pool, of_bytes(row.capacity), of_bytes(row.free), of_bytes(row.largest),
             ", ".join(row.volumes) or "<none>")
            for row in self.rows
        ]
        return "\n".join(table_text(lines, 3))


def pools(cluster: ClusterCore, driver: str = "") -> PoolTable:
    """Return the pools of a driver, by default of all, as they truly are now."""
    storages = cluster.revision.drivers(cluster.components).storages
    wanted = {driver: storage_of(cluster, driver)} if driver else storages
    return PoolTable(tuple(row for storage in wanted.values() for row in _rows(cluster, storage)))


def _rows(cluster: ClusterCore, storage: DriverStorage) -> Iterator[PoolRow]:
    log = cluster.world.log
    for pool in storage.pools:
        names = tuple(_shown(volume) for volume in sorted(storage.allocated(log, pool)))
        free, largest = max(0, storage.free_bytes(log, pool)), storage.largest(log, pool)
        yield PoolRow(storage.driver, pool.name, value(storage.size(log, pool).capacity), free, largest, names)


def _shown(volume: str) -> str:
    """Return the name of a volume as people see it: an inline volume by its pod and its name there."""
    namespace, *rest = volume.split("/")
    if not rest:
        return namespace
    pod, name = rest[:2]
    return f"{name} of pod {pod}" if namespace == "default" else f"{name} of pod {namespace}/{pod}"


def storage_of(cluster: ClusterCore, driver: str) -> DriverStorage:
    """Return the storage of a driver with pools.

    Raises:
        UnknownName: there is no such driver; the message lists those that there are. It is a KeyError.
    """
    storages = cluster.revision.drivers(cluster.components).storages
    if driver not in storages:
        none = "none; give a driver pools as a dial: components={driver: {'pools': ...}}"
        raise unknown_name(f"driver {driver!r} with pools", driver, storages.keys(), none=none)
    return storages[driver]


def set_pool(cluster: ClusterCore, driver: str, pool: str, capacity: str | None, largest: str | None) -> CommandResult:
    """Change a pool's size from outside Kubernetes; see `Cluster.set_pool`."""
    storage, log = storage_of(cluster, driver), cluster.world.log
    old = storage.size(log, storage.pool(pool))
    new = storage.new_size(log, pool, capacity, largest)
    if new == old:
        return CommandResult((f"pool {pool} of {driver} unchanged: {_size(old)}",))
    words = f"the storage of {driver} changes: pool {pool} has {_size(new)}, it had {_size(old)}"
    cluster.world.change_outside(words, lambda world_log: storage.resize(world_log, pool, new))
    return CommandResult((f"pool {pool} of {driver}: {_size(old)} → {_size(new)}",))


def _size(size: PoolSize) -> str:
    return size.capacity + (f", volumes of at most {size.largest}" if size.largest else "")

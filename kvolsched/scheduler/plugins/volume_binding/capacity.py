"""Capacity checks: whether a driver has published room for a volume that is to be made for a node.

v1.36.2 reads CSIStorageCapacity objects; S2 reads pools in the status of CSIDriver objects, for inline volumes too.
Each claim is checked by itself; volumes that exist already are not checked.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import ClassVar

import attrs

from ....api import volumes
from ....api.kinds.csi import EPHEMERAL_STORAGE, FALLBACK_STORAGE, CSIDriver, CSIStorage, CSIStoragePool
from ....api.kinds.node import Node
from ....api.kinds.pod import Pod, Volume
from ....api.kinds.quantity import value
from ....api.kinds.storage_class import StorageClass
from ....api.kinds.volume import PersistentVolumeClaim
from ...columns.snapshot import Snapshot
from ...columns.storage_capacities import NO_CAPACITY, free_room, is_capacity_checked, max_volume_size
from ...framework.evidence import Evidence
from .evidence import CapacityExceeded, PoolsExceeded


@attrs.frozen
class CapacityCheck:
    """Checks nothing (S1; or the gate CSIStorageCapacity is off); the checks below override it.

    `watches` are the kinds in which capacity is published.
    """

    watches: ClassVar[frozenset[str]] = frozenset()

    def covers_inline(self, volume: Volume) -> bool:
        """Say whether a pod's inline volume may be checked."""
        return False

    def is_checked(self, claim: PersistentVolumeClaim, storage_class: StorageClass, seen: Snapshot) -> bool:
        """Say whether a claim is checked, if a volume of this class is to be provisioned for it."""
        return False

    def needs_rule(self, pod: Pod, *, claims_checked: bool) -> bool:
        """Say whether there is no column of capacity, so that each node is judged by the rule."""
        return False

    def lacking(self, claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node,
                seen: Snapshot) -> Evidence | None:
        """Return why a claim's volume cannot be made for a node; None if it can."""
        return None

    def room(self, claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node, seen: Snapshot) -> int | None:
        """Return the bytes published where a claim's volume would be made for a node; None: none are looked at."""
        return None

    def lacking_inline(self, pod: Pod, node: Node, seen: Snapshot) -> Evidence | None:
        """Return why a pod's inline volumes cannot be made on a node; None if they can."""
        return None


@attrs.frozen
class StorageCapacityCheck(CapacityCheck):
    """Checks claims by the CSIStorageCapacity objects that reach a node, if the driver publishes any (v1.36.2)."""

    watches: ClassVar[frozenset[str]] = frozenset({"CSIDriver", "CSIStorageCapacity"})

    def is_checked(self, claim: PersistentVolumeClaim, storage_class: StorageClass, seen: Snapshot) -> bool:
        return is_capacity_checked(claim, seen.csi_driver(storage_class.provisioner))

    def lacking(self, claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node,
                seen: Snapshot) -> Evidence | None:
        if not self.is_checked(claim, storage_class, seen):
            return None
        name = storage_class.metadata.name
        available = seen.storage_capacities.on(name, node)
        largest = max((max_volume_size(capacity) for capacity in available), default=NO_CAPACITY)
        asked, volume = volumes.requested(claim), f"claim {claim.metadata.name}"
        return CapacityExceeded(volume, asked, largest, name) if asked > largest else None

    def room(self, claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node, seen: Snapshot) -> int | None:
        """Return the room of the first object, by name, that is large enough."""
        if not self.is_checked(claim, storage_class, seen):
            return None
        request = volumes.requested(claim)
        available = seen.storage_capacities.on(storage_class.metadata.name, node)
        return next((free_room(capacity) for capacity in available if max_volume_size(capacity) >= request), None)


@attrs.frozen
class DriverPoolCheck(CapacityCheck):
    """Checks claims and inline volumes by the pools in a CSIDriver's status (S2).

    The lookup has three steps: the driver's object, its entry for the class (or for inline volumes, or else the
    fallback), and the pools there that the node reaches.
    """

    watches: ClassVar[frozenset[str]] = frozenset({"CSIDriver"})

    def covers_inline(self, volume: Volume) -> bool:
        return volume.csi is not None

    def is_checked(self, claim: PersistentVolumeClaim, storage_class: StorageClass, seen: Snapshot) -> bool:
        return tracks_capacity(seen.csi_driver(storage_class.provisioner))

    def needs_rule(self, pod: Pod, *, claims_checked: bool) -> bool:
        """Pools have no column: a driver's status is small."""
        inline = (volume.csi for volume in pod.spec.volumes)
        return claims_checked or any(source is not None and source.fs_size is not None for source in inline)

    def lacking(self, claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node,
                seen: Snapshot) -> Evidence | None:
        if "storage" not in claim.spec.resources.requests:
            return None
        driver, name = seen.csi_driver(storage_class.provisioner), storage_class.metadata.name
        return _lacking(f"claim {claim.metadata.name}", volumes.requested(claim), driver, name, node, seen.moment)

    def lacking_inline(self, pod: Pod, node: Node, seen: Snapshot) -> Evidence | None:
        """Inline volumes without a size are not checked."""
        for volume in pod.spec.volumes:
            source = volume.csi
            if source is None or source.fs_size is None:
                continue
            name, driver = f"inline volume {volume.name}", seen.csi_driver(source.driver)
            lacking = _lacking(name, value(source.fs_size), driver, EPHEMERAL_STORAGE, node, seen.moment)
            if lacking is not None:
                return lacking
        return None


def tracks_capacity(driver: CSIDriver | None) -> bool:
    """Say whether a driver publishes pools in its status."""
    return driver is not None and driver.spec.capacity_tracking is True


def entry_for(driver: CSIDriver, class_name: str) -> CSIStorage | None:
    """Return a driver's entry for a class or `<ephemeral>`; without one, the fallback."""
    entries = {entry.storage_class_name: entry for entry in driver.status.storage}
    return entries.get(class_name, entries.get(FALLBACK_STORAGE))


def reachable_pools(pools: Sequence[CSIStoragePool], node: Node, moment: str) -> list[CSIStoragePool]:
    """Return the pools that a node reaches and that have not expired; a pool that names no nodes is reached by all."""
    return [pool for pool in pools if _is_reachable(pool, node) and not _is_expired(pool, moment)]


def _is_reachable(pool: CSIStoragePool, node: Node) -> bool:
    if pool.node_list:
        return node.metadata.name in pool.node_list
    return pool.node_topology is None or pool.node_topology.matches(node.metadata.labels)


def _is_expired(pool: CSIStoragePool, moment: str) -> bool:
    if not pool.expiry_time or not moment:
        return False
    return datetime.fromisoformat(pool.expiry_time.upper()) <= datetime.fromisoformat(moment.upper())


def _lacking(volume: str, request: int, driver: CSIDriver | None, class_name: str, node: Node,
             moment: str) -> Evidence | None:
    """Return why a volume of this size (bytes) cannot be made for a node, with the three steps of the lookup."""
    if driver is None or not tracks_capacity(driver):
        return None
    entry = entry_for(driver, class_name)
    pools = reachable_pools(entry.pools, node, moment) if entry is not None else []
    largest = max((value(pool.capacity) for pool in pools if pool.capacity is not None), default=NO_CAPACITY)
    if request <= largest:
        return None
    path = (f"CSIDriver {driver.metadata.name}", f"CSIStorage {entry.storage_class_name if entry else 'none'}",
            f"pools {', '.join(pool.name for pool in pools) or 'none'}")
    return PoolsExceeded(volume, request, largest, "", path)

"""How large a volume could be made where, as S2 tells it: pools of storage in the status of CSIDriver objects.

The lookup has three steps: the driver's object, its entry for the class (or for inline volumes, or else the fallback),
and the pools there that the node reaches. Only what is yet to be made is asked about; each claim for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kvolsched.api.kinds.csi import EPHEMERAL, FALLBACK, CSIDriver, CSIStorage, CSIStoragePool
from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.quantity import value

from .columns.snapshot import Snapshot
from .framework.verdict import Evidence
from .requests import format_amount

NOTHING = -1  # room where no pool tells of any


def tracks(driver: CSIDriver | None) -> bool:
    """Say whether a driver tells how much room it has."""
    return driver is not None and driver.spec.capacity_tracking is True


def entry_for(driver: CSIDriver, kind: str) -> CSIStorage | None:
    """Return a driver's entry for a class or `<ephemeral>`; without one, the fallback."""
    told = {each.storage_class_name: each for each in driver.status.storage}
    return told.get(kind, told.get(FALLBACK))


def reachable_pools(pools: Sequence[CSIStoragePool], node: Node, moment: str) -> list[CSIStoragePool]:
    """Return the pools that a node reaches and that have not expired; a pool that names no nodes is reached by all."""
    return [pool for pool in pools if _is_near(pool, node) and not _is_over(pool, moment)]


def _is_near(pool: CSIStoragePool, node: Node) -> bool:
    if pool.node_list:
        return node.metadata.name in pool.node_list
    return pool.node_topology is None or pool.node_topology.matches(node.metadata.labels)


def _is_over(pool: CSIStoragePool, moment: str) -> bool:
    if not pool.expiry_time or not moment:
        return False
    return datetime.fromisoformat(pool.expiry_time.upper()) <= datetime.fromisoformat(moment.upper())


def lacking_capacity(what: str, need: int, driver: CSIDriver | None, kind: str, node: Node, moment: str) -> Evidence | None:
    """Return why a volume of this size cannot be made for a node, with the three steps of the lookup; None if it can.

    Args:
        what: the claim or inline volume, in words.
        need: bytes.
        driver: the driver's object, None if there is none.
        kind: the class's name, or `<ephemeral>`.
        node: where it is to be reached.
        moment: the present, for pools that expire.
    """
    if driver is None or not tracks(driver):
        return None
    entry = entry_for(driver, kind)
    pools = reachable_pools(entry.pools, node, moment) if entry is not None else []
    most = max((value(pool.capacity) for pool in pools if pool.capacity is not None), default=NOTHING)
    if need <= most:
        return None
    path = [f"CSIDriver {driver.metadata.name}", f"CSIStorage {entry.storage_class_name if entry else 'none'}"]
    path.append(f"pools {', '.join(pool.name for pool in pools) or 'none'}")
    told = f"{format_amount('memory', most)} at most" if most >= 0 else "nothing"
    return Evidence(f"{what} asks {format_amount('memory', need)}", ">", f"{told} ({' → '.join(path)})", (need, most))


def lacking_inline_capacity(pod: Pod, node: Node, seen: Snapshot) -> Evidence | None:
    """Return why a pod's inline volumes cannot be made on a node; one without a size is not asked about."""
    for volume in pod.spec.volumes:
        source = volume.csi
        if source is None or source.fs_size is None:
            continue
        what, driver = f"inline volume {volume.name}", seen.csi_driver(source.driver)
        found = lacking_capacity(what, value(source.fs_size), driver, EPHEMERAL, node, seen.moment)
        if found is not None:
            return found
    return None


def has_inline(pod: Pod) -> bool:
    """Say whether a pod has inline volumes of a given size."""
    return any(volume.csi is not None and volume.csi.fs_size is not None for volume in pod.spec.volumes)

"""Which volumes are attached where, as a node's limit counts them: each driver's volume once a node.

A volume is known by its driver and its handle; a claim that has no volume yet counts as one of its own, of its class's
provisioner. In-tree disks count for the CSI driver that took them over. The index joins pods, claims, volumes, classes
and VolumeAttachments: what a change touches is withdrawn and counted again. It is made when first asked for, so that a
cluster without limits pays nothing. Mutable; the snapshot alone moves it. Mirrors `nodevolumelimits/csi.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kvolsched import volumes
from kvolsched.api.kinds.csi import CSINode, VolumeAttachment
from kvolsched.api.kinds.node import ZONE_LABELS
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.pod_volume import Volume
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeClaim

from .node_table import Column, NodeInfo, NodeTable

# The in-tree plugins that have been handed over for good: plugin -> driver. Others count for nobody.
HANDED_OVER = {
    plugin: volumes.MIGRATED[plugin]
    for plugin in ("kubernetes.io/aws-ebs", "kubernetes.io/azure-disk", "kubernetes.io/cinder", "kubernetes.io/gce-pd")
}
NO_LIMIT = 2**31 - 1


class AttachedVolume(NamedTuple):
    """One volume as its driver knows it."""

    driver: str
    handle: str


class VolumeLookup(Protocol):
    """Where claims, volumes and classes are looked up."""

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None: ...
    def volume(self, name: str) -> PersistentVolume | None: ...
    def storage_class(self, name: str) -> StorageClass | None: ...


# --- as what a volume counts ----------------------------------------------------------------------------------------


def of_volume(volume: PersistentVolume) -> AttachedVolume | None:
    """Return as what a PersistentVolume counts, or None: local disks and file shares count for nobody."""
    source = volume.spec.rest
    if "csi" in source:
        return AttachedVolume(str(source["csi"].get("driver", "")), str(source["csi"].get("volumeHandle", "")))
    if "awsElasticBlockStore" in source:
        return _ebs(str(source["awsElasticBlockStore"].get("volumeID", "")))
    if "azureDisk" in source:
        return AttachedVolume("disk.csi.azure.com", str(source["azureDisk"].get("diskURI", "")))
    if "cinder" in source:
        return AttachedVolume("cinder.csi.openstack.org", str(source["cinder"].get("volumeID", "")))
    if "gcePersistentDisk" in source:
        labels = volume.metadata.labels
        zones = next((str(labels[key]) for key in ZONE_LABELS if labels.get(key)), "").split("__")
        place = f"zones/{zones[0] or 'UNSPECIFIED'}"
        if len(zones) > 1:
            place = f"regions/{zones[0].rpartition('-')[0]}"
        return _gce(place, str(source["gcePersistentDisk"].get("pdName", "")))
    return None


def of_inline(volume: Volume) -> AttachedVolume | None:
    """Return as what an in-tree disk counts that a pod names itself, or None."""
    found = volume.driver_and_handle
    if found is None:
        return None
    if volume.gce_persistent_disk is not None:
        return _gce("zones/UNSPECIFIED", found[1])
    return _ebs(found[1]) if volume.aws_elastic_block_store is not None else AttachedVolume(*found)


def of_claim(claim: PersistentVolumeClaim, known: VolumeLookup) -> AttachedVolume | None:
    """Return as what a claim counts: as its volume, or, while that is not there, as one of its class's provisioner."""
    volume = known.volume(claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is not None:
        return of_volume(volume)
    storage_class = known.storage_class(volumes.class_of_claim(claim))
    if storage_class is None:
        return None
    made_by = storage_class.provisioner
    if made_by in volumes.MIGRATED:
        made_by = HANDED_OVER.get(made_by, "")
    return AttachedVolume(made_by, f"claim {volumes.claim_key(claim)}") if made_by else None


def of_pod(pod: Pod, known: VolumeLookup) -> frozenset[AttachedVolume]:
    """Return as what the volumes of a pod count; a claim that does not exist counts for nobody."""
    return frozenset(found for use in uses(pod) if (found := attached_volume(use, known)) is not None)


def _ebs(written: str) -> AttachedVolume:
    """`aws://us-east-1a/vol-1` and `vol-1` are one volume."""
    return AttachedVolume("ebs.csi.aws.com", written.rpartition("/")[2] if written.startswith("aws://") else written)


def _gce(place: str, name: str) -> AttachedVolume:
    return AttachedVolume("pd.csi.storage.gke.io", f"projects/UNSPECIFIED/{place}/disks/{name}")


# --- what is used ---------------------------------------------------------------------------------------------------


class VolumeUse(NamedTuple):
    """What a pod or a VolumeAttachment names: a claim, a PersistentVolume, or a disk itself."""

    claim: tuple[str, str] | None = None
    volume: str = ""
    disk: AttachedVolume | None = None


def uses(pod: Pod) -> Iterator[VolumeUse]:
    """Yield what a pod's volumes name, each once."""
    for name in dict.fromkeys(pod.claim_names()):
        yield VolumeUse(claim=(pod.metadata.namespace, name))
    for found in dict.fromkeys(of_inline(volume) for volume in pod.spec.volumes):
        if found is not None:
            yield VolumeUse(disk=found)


def use_of(attachment: VolumeAttachment) -> VolumeUse | None:
    """Return what a VolumeAttachment names, if it is a PersistentVolume."""
    name = attachment.spec.source.persistent_volume_name
    return VolumeUse(volume=name) if name and attachment.spec.attacher else None


def attached_volume(use: VolumeUse, known: VolumeLookup) -> AttachedVolume | None:
    """Return as what it counts; an attachment counts only for a CSI volume that is there."""
    if use.disk is not None:
        return use.disk
    if use.claim is not None:
        claim = known.claim(*use.claim)
        return None if claim is None else of_claim(claim, known)
    volume = known.volume(use.volume)
    return of_volume(volume) if volume is not None and "csi" in volume.spec.rest else None


# --- counted --------------------------------------------------------------------------------------------------------


class Attachments:
    """Volumes attached per node, and the limits of nodes. Mutable."""

    def __init__(self, nodes: NodeTable, rooms: Mapping[str, NodeInfo], known: VolumeLookup) -> None:
        self._nodes = nodes
        self._rooms = rooms
        self._known = known
        self._limits: dict[str, dict[str, int]] = {}
        self._limit_columns: dict[str, Column] = {}
        self._named: dict[str, dict[str, VolumeUse]] = {}
        self._counting = False
        self._users: dict[VolumeUse, dict[str, int]] = {}
        self._found: dict[VolumeUse, AttachedVolume | None] = {}
        self._by_volume: dict[str, set[VolumeUse]] = {}
        self._reads: dict[VolumeUse, str] = {}
        self._holders: dict[AttachedVolume, dict[str, int]] = {}
        self._per_node: dict[str, dict[str, int]] = {}
        self._columns: dict[str, Column] = {}

    # --- asking -----------------------------------------------------------------------------------------------------

    def limited(self, driver: str) -> bool:
        """Say whether some node limits this driver."""
        return driver in self._limits

    def limits(self, driver: str) -> NDArray[np.int64]:
        """Return, by row, how many volumes of a driver the node takes."""
        column = self._limit_columns.get(driver)
        if column is None:
            column = self._limit_columns[driver] = self._nodes.column(np.int64, NO_LIMIT)
            for name, limit in self._limits.get(driver, {}).items():
                if name in self._nodes.row_of:
                    column.now[self._nodes.row_of[name]] = limit
        return column.now

    def count(self, driver: str) -> NDArray[np.int64]:
        """Return, by row, how many volumes of a driver are attached there."""
        if not self._counting:
            self._begin()
        column = self._columns.get(driver)
        if column is None:
            column = self._columns[driver] = self._nodes.column(np.int64, 0)
            for name, counts in self._per_node.items():
                if name in self._nodes.row_of:
                    column.now[self._nodes.row_of[name]] = counts.get(driver, 0)
        return column.now

    def rows_with(self, volume: AttachedVolume) -> list[int]:
        """Return the rows of the nodes where this volume is attached."""
        return [self._nodes.row_of[name] for name in self._holders.get(volume, ()) if name in self._nodes.row_of]

    def named_on(self, node: str) -> Iterable[VolumeUse]:
        """Return what the VolumeAttachments of a node name."""
        return self._named.get(node, {}).values()

    # --- following --------------------------------------------------------------------------------------------------

    def place(self, node: str, pod: Pod, sign: int) -> None:
        """Count what a pod uses that comes to a node (sign 1), or take it away (-1)."""
        if self._counting:
            for use in uses(pod):
                self._use(node, use, sign)

    def enter(self, node: str, row: int) -> None:
        """Fill the row that a node has got."""
        for driver, column in self._limit_columns.items():
            column.now[row] = self._limits.get(driver, {}).get(node, NO_LIMIT)
        for driver, column in self._columns.items():
            column.now[row] = self._per_node.get(node, {}).get(driver, 0)

    def csi_node(self, name: str, old: CSINode | None, new: CSINode | None) -> None:
        """Follow what a node says of its limits."""
        for driver in limits_of(old):
            del self._limits[driver][name]
            if not self._limits[driver]:
                del self._limits[driver]
        for driver, limit in limits_of(new).items():
            self._limits.setdefault(driver, {})[name] = limit
        row = self._nodes.row_of.get(name)
        if row is not None:
            for driver, column in self._limit_columns.items():
                column.now[row] = self._limits.get(driver, {}).get(name, NO_LIMIT)

    def attachment(self, name: str, old: VolumeAttachment | None, new: VolumeAttachment | None) -> None:
        """Follow a VolumeAttachment."""
        for attachment, sign in ((old, -1), (new, 1)):
            use = None if attachment is None else use_of(attachment)
            if attachment is None or use is None:
                continue
            node = attachment.spec.node_name
            here = self._named.setdefault(node, {})
            if sign > 0:
                here[name] = use
            else:
                del here[name]
            if not here:
                del self._named[node]
            if self._counting:
                self._use(node, use, sign)

    def claim(self, namespace: str, name: str) -> None:
        """Count a claim anew that has changed."""
        if self._counting:
            self._again(VolumeUse(claim=(namespace, name)))

    def volume(self, name: str) -> None:
        """Count anew what reads a volume that has changed."""
        if self._counting:
            for use in list(self._by_volume.get(name, ())):
                self._again(use)

    def storage_class(self) -> None:
        """Count every claim anew: a class has changed, which is rare."""
        for use in list(self._users):
            if use.claim is not None:
                self._again(use)

    def copied(self, nodes: NodeTable, rooms: Mapping[str, NodeInfo], known: VolumeLookup) -> Attachments:
        """Return an index over a copy of the table that counts the same; pods come and go there by themselves."""
        made = Attachments(nodes, rooms, known)
        made.__dict__.update(self.__dict__ | {"_nodes": nodes, "_rooms": rooms, "_known": known})
        made._users = {use: dict(users) for use, users in self._users.items()}
        made._found, made._reads = dict(self._found), dict(self._reads)
        made._by_volume = {name: set(some) for name, some in self._by_volume.items()}
        made._holders = {volume: dict(holders) for volume, holders in self._holders.items()}
        made._per_node = {node: dict(counts) for node, counts in self._per_node.items()}
        made._columns, made._limit_columns = {}, dict(self._limit_columns)
        return made

    def meaning(self) -> dict[str, object]:
        """Return limits and attachments, for comparing two snapshots; the counts are made of these and of others."""
        return {"limits": self._limits, "named": self._named}

    # --- inside -----------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        self._counting = True
        for name, room in self._rooms.items():
            for pod in room.pods.values():
                self.place(name, pod, 1)
        for name, named in self._named.items():
            for use in named.values():
                self._use(name, use, 1)

    def _use(self, node: str, use: VolumeUse, sign: int) -> None:
        """Count one more use of this on a node, or one less."""
        users = self._users.get(use)
        if users is None:
            users = self._users[use] = {}
            self._look(use)
        users[node] = users.get(node, 0) + sign
        self._hold(node, self._found[use], sign)
        if not users[node]:
            del users[node]
            if not users:
                self._unlook(use)
                del self._users[use], self._found[use]

    def _again(self, use: VolumeUse) -> None:
        """Withdraw what a use has counted, look it up anew, count it again."""
        users = self._users.get(use)
        if users is None:
            return
        before = self._found[use]
        self._unlook(use)
        self._look(use)
        after = self._found[use]
        if before != after:
            for node, times in users.items():
                self._hold(node, before, -times)
                self._hold(node, after, times)

    def _look(self, use: VolumeUse) -> None:
        self._found[use] = attached_volume(use, self._known)
        claim = self._known.claim(*use.claim) if use.claim is not None else None
        if name := use.volume or (claim.spec.volume_name if claim is not None else ""):
            self._by_volume.setdefault(name, set()).add(use)
            self._reads[use] = name

    def _unlook(self, use: VolumeUse) -> None:
        name = self._reads.pop(use, "")
        if name:
            self._by_volume[name].remove(use)
            if not self._by_volume[name]:
                del self._by_volume[name]

    def _hold(self, node: str, volume: AttachedVolume | None, times: int) -> None:
        if volume is None:
            return
        holders = self._holders.setdefault(volume, {})
        before = holders.get(node, 0)
        holders[node] = before + times
        if not holders[node]:
            del holders[node]
            if not holders:
                del self._holders[volume]
        more = (before + times > 0) - (before > 0)
        if more:
            counts = self._per_node.setdefault(node, {})
            counts[volume.driver] = counts.get(volume.driver, 0) + more
            if not counts[volume.driver]:
                del counts[volume.driver]
                if not counts:
                    del self._per_node[node]
            column = self._columns.get(volume.driver)
            row = self._nodes.row_of.get(node)
            if column is not None and row is not None:
                column.now[row] += more


def limits_of(csi_node: CSINode | None) -> dict[str, int]:
    """Return how many volumes a node takes, by driver; a driver without a count takes as many as come."""
    drivers = csi_node.spec.drivers if csi_node is not None else ()
    return {
        driver.name: driver.allocatable.count
        for driver in drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }

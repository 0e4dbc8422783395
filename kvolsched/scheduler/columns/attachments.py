"""The volumes attached to each node, counted by driver as attach limits count them: each volume once per node.

A volume is identified by driver and handle; a claim without a volume counts as one volume of its class's provisioner.
In-tree disks count for the CSI driver to which they are migrated. The index joins pods, claims, volumes, classes and
VolumeAttachments; on a change the affected uses are subtracted and counted again. It is built on first use, so clusters
without limits do not pay for it. Mutable; only the snapshot changes it. Mirrors `nodevolumelimits/csi.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kvolsched.api import volumes
from kvolsched.api.kinds.csi import CSINode, VolumeAttachment
from kvolsched.api.kinds.node import ZONE_LABELS
from kvolsched.api.kinds.pod import Pod, Volume
from kvolsched.api.kinds.storage_class import StorageClass
from kvolsched.api.kinds.volume import PersistentVolume, PersistentVolumeClaim

from .column import Column
from .node_table import NodeInfo, NodeTable

# The in-tree plugins whose volumes count for their CSI drivers; those of other in-tree plugins are not counted.
MIGRATED_DRIVERS = {
    plugin: volumes.MIGRATED[plugin]
    for plugin in ("kubernetes.io/aws-ebs", "kubernetes.io/azure-disk", "kubernetes.io/cinder", "kubernetes.io/gce-pd",
                   "kubernetes.io/portworx-volume")
}
NO_LIMIT = 2**31 - 1


class AttachedVolume(NamedTuple):
    """A volume as its driver identifies it."""

    driver: str
    handle: str


class VolumeLookup(Protocol):
    """A lookup of claims, volumes and storage classes."""

    def claim(self, namespace: str, name: str) -> PersistentVolumeClaim | None: ...
    def volume(self, name: str) -> PersistentVolume | None: ...
    def storage_class(self, name: str) -> StorageClass | None: ...


def volume_attached_as(volume: PersistentVolume) -> AttachedVolume | None:
    """Return what a PersistentVolume is attached as, or None: local disks and file shares are not counted."""
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
        location = f"zones/{zones[0] or 'UNSPECIFIED'}"
        if len(zones) > 1:
            location = f"regions/{zones[0].rpartition('-')[0]}"
        return _gce(location, str(source["gcePersistentDisk"].get("pdName", "")))
    if "portworxVolume" in source:
        return AttachedVolume("pxd.portworx.com", str(source["portworxVolume"].get("volumeID", "")))
    return None


def inline_volume_attached_as(volume: Volume) -> AttachedVolume | None:
    """Return what an in-tree disk in a pod spec is attached as, or None."""
    disk = volume.driver_and_handle
    if disk is None:
        return None
    if volume.gce_persistent_disk is not None:
        return _gce("zones/UNSPECIFIED", disk[1])
    return _ebs(disk[1]) if volume.aws_elastic_block_store is not None else AttachedVolume(*disk)


def claim_attached_as(claim: PersistentVolumeClaim, lookup: VolumeLookup) -> AttachedVolume | None:
    """Return what a claim is attached as: its volume, or, while that does not exist, one of its class's provisioner."""
    volume = lookup.volume(claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is not None:
        return volume_attached_as(volume)
    storage_class = lookup.storage_class(volumes.class_of_claim(claim))
    if storage_class is None:
        return None
    driver = storage_class.provisioner
    if driver in volumes.MIGRATED:
        driver = MIGRATED_DRIVERS.get(driver, "")
    return AttachedVolume(driver, f"claim {volumes.claim_key(claim)}") if driver else None


def volumes_of_pod(pod: Pod, lookup: VolumeLookup) -> frozenset[AttachedVolume]:
    """Return what the volumes of a pod are attached as; claims that do not exist are not counted."""
    return frozenset(volume for use in volume_uses(pod) if (volume := attached_volume(use, lookup)) is not None)


def _ebs(written: str) -> AttachedVolume:
    """Return an EBS volume; `aws://us-east-1a/vol-1` and `vol-1` are the same volume."""
    return AttachedVolume("ebs.csi.aws.com", written.rpartition("/")[2] if written.startswith("aws://") else written)


def _gce(location: str, name: str) -> AttachedVolume:
    return AttachedVolume("pd.csi.storage.gke.io", f"projects/UNSPECIFIED/{location}/disks/{name}")


class VolumeUse(NamedTuple):
    """What a pod or a VolumeAttachment refers to: a claim, a PersistentVolume, or an in-tree disk."""

    claim: tuple[str, str] | None = None
    volume: str = ""
    disk: AttachedVolume | None = None
    attacher: str = ""  # of a VolumeAttachment, with the volume that it names


def volume_uses(pod: Pod) -> Iterator[VolumeUse]:
    """Yield what a pod's volumes refer to, without duplicates."""
    for name in dict.fromkeys(pod.claim_names()):
        yield VolumeUse(claim=(pod.metadata.namespace, name))
    for disk in dict.fromkeys(inline_volume_attached_as(volume) for volume in pod.spec.volumes):
        if disk is not None:
            yield VolumeUse(disk=disk)


def attachment_use(attachment: VolumeAttachment) -> VolumeUse | None:
    """Return what a VolumeAttachment refers to, if that is a PersistentVolume."""
    name = attachment.spec.source.persistent_volume_name
    attacher = attachment.spec.attacher
    return VolumeUse(volume=name, attacher=attacher) if name and attacher else None


def attached_volume(use: VolumeUse, lookup: VolumeLookup) -> AttachedVolume | None:
    """Return what a use is attached as, or None.

    A VolumeAttachment counts for its attacher, with the handle of the CSI volume that it names, if that exists.
    """
    if use.disk is not None:
        return use.disk
    if use.claim is not None:
        claim = lookup.claim(*use.claim)
        return None if claim is None else claim_attached_as(claim, lookup)
    volume = lookup.volume(use.volume)
    found = volume_attached_as(volume) if volume is not None and "csi" in volume.spec.rest else None
    return None if found is None else AttachedVolume(use.attacher, found.handle)


class Attachments:
    """The volumes attached per node, and the nodes' attach limits. Mutable."""

    def __init__(self, nodes: NodeTable, node_infos: Mapping[str, NodeInfo], lookup: VolumeLookup) -> None:
        self._nodes = nodes
        self._node_infos = node_infos
        self._lookup = lookup
        self._limits: dict[str, dict[str, int]] = {}
        self._limit_columns: dict[str, Column] = {}
        self._volume_attachments: dict[str, dict[str, VolumeUse]] = {}
        self._counting = False
        self._users: dict[VolumeUse, dict[str, int]] = {}
        self._found: dict[VolumeUse, AttachedVolume | None] = {}
        self._by_volume: dict[str, set[VolumeUse]] = {}
        self._volume_name: dict[VolumeUse, str] = {}
        self._holders: dict[AttachedVolume, dict[str, int]] = {}
        self._in_pods: dict[AttachedVolume, dict[str, int]] = {}
        self._per_node: dict[str, dict[str, int]] = {}
        self._columns: dict[str, Column] = {}

    def is_limited(self, driver: str) -> bool:
        """Say whether any node has a limit for this driver."""
        return driver in self._limits

    def limits(self, driver: str) -> NDArray[np.int64]:
        """Return, by row, the node's attach limit for a driver."""
        column = self._limit_columns.get(driver)
        if column is None:
            column = self._limit_columns[driver] = self._nodes.column(np.int64, NO_LIMIT)
            for name, limit in self._limits.get(driver, {}).items():
                if name in self._nodes.row_of:
                    column.array[self._nodes.row_of[name]] = limit
        return column.array

    def count(self, driver: str) -> NDArray[np.int64]:
        """Return, by row, how many volumes of a driver are attached to the node."""
        if not self._counting:
            self._start_counting()
        column = self._columns.get(driver)
        if column is None:
            column = self._columns[driver] = self._nodes.column(np.int64, 0)
            for name, counts in self._per_node.items():
                if name in self._nodes.row_of:
                    column.array[self._nodes.row_of[name]] = counts.get(driver, 0)
        return column.array

    def rows_with(self, volume: AttachedVolume) -> list[int]:
        """Return the rows of the nodes where a pod has this volume; an attachment alone is not enough."""
        return [self._nodes.row_of[name] for name in self._in_pods.get(volume, ()) if name in self._nodes.row_of]

    def volume_attachments_on(self, node: str) -> Iterable[VolumeUse]:
        """Return what the VolumeAttachments of a node refer to."""
        return self._volume_attachments.get(node, {}).values()

    def place(self, node: str, pod: Pod, sign: int) -> None:
        """Count the volumes of a pod that is added to a node (sign 1) or removed from it (-1)."""
        if self._counting:
            for use in volume_uses(pod):
                self._use(node, use, sign)

    def enter(self, node: str, row: int) -> None:
        """Fill the row of a node that was added to the table."""
        for driver, column in self._limit_columns.items():
            column.array[row] = self._limits.get(driver, {}).get(node, NO_LIMIT)
        for driver, column in self._columns.items():
            column.array[row] = self._per_node.get(node, {}).get(driver, 0)

    def csi_node(self, name: str, old: CSINode | None, new: CSINode | None) -> None:
        """Apply a change of a node's attach limits."""
        for driver in attach_limits(old):
            del self._limits[driver][name]
            if not self._limits[driver]:
                del self._limits[driver]
        for driver, limit in attach_limits(new).items():
            self._limits.setdefault(driver, {})[name] = limit
        row = self._nodes.row_of.get(name)
        if row is not None:
            for driver, column in self._limit_columns.items():
                column.array[row] = self._limits.get(driver, {}).get(name, NO_LIMIT)

    def attachment(self, name: str, old: VolumeAttachment | None, new: VolumeAttachment | None) -> None:
        """Apply a change of a VolumeAttachment."""
        for attachment, sign in ((old, -1), (new, 1)):
            use = None if attachment is None else attachment_use(attachment)
            if attachment is None or use is None:
                continue
            node = attachment.spec.node_name
            on_node = self._volume_attachments.setdefault(node, {})
            if sign > 0:
                on_node[name] = use
            else:
                del on_node[name]
            if not on_node:
                del self._volume_attachments[node]
            if self._counting:
                self._use(node, use, sign)

    def claim(self, namespace: str, name: str) -> None:
        """Recount a claim that has changed."""
        if self._counting:
            self._recount(VolumeUse(claim=(namespace, name)))

    def volume(self, name: str) -> None:
        """Recount all uses of a volume that has changed."""
        if self._counting:
            for use in list(self._by_volume.get(name, ())):
                self._recount(use)

    def storage_class(self) -> None:
        """Recount all claims after a change of a storage class, which is rare."""
        for use in list(self._users):
            if use.claim is not None:
                self._recount(use)

    def copied(self, nodes: NodeTable, node_infos: Mapping[str, NodeInfo], lookup: VolumeLookup) -> Attachments:
        """Return a copy for a copied node table; pods are added and removed there independently."""
        copy = Attachments(nodes, node_infos, lookup)
        copy.__dict__.update(self.__dict__ | {"_nodes": nodes, "_node_infos": node_infos, "_lookup": lookup})
        copy._users = {use: dict(users) for use, users in self._users.items()}
        copy._found, copy._volume_name = dict(self._found), dict(self._volume_name)
        copy._by_volume = {name: set(uses) for name, uses in self._by_volume.items()}
        copy._holders = {volume: dict(holders) for volume, holders in self._holders.items()}
        copy._in_pods = {volume: dict(holders) for volume, holders in self._in_pods.items()}
        copy._per_node = {node: dict(counts) for node, counts in self._per_node.items()}
        copy._columns, copy._limit_columns = {}, dict(self._limit_columns)
        return copy

    def whole_copy(self, nodes: NodeTable, node_infos: Mapping[str, NodeInfo], lookup: VolumeLookup) -> Attachments:
        """Return a copy for a wholly copied node table: limits and VolumeAttachments may change there, too."""
        copy = self.copied(nodes, node_infos, lookup)
        vars(copy).update(
            _limits={driver: dict(limits) for driver, limits in self._limits.items()},
            _volume_attachments={node: dict(uses) for node, uses in self._volume_attachments.items()},
            _limit_columns={},
        )
        return copy

    def facts(self) -> dict[str, object]:
        """Return limits and VolumeAttachments, for comparing two snapshots."""
        return {"limits": self._limits, "named": self._volume_attachments}

    def _start_counting(self) -> None:
        for index in (self._users, self._found, self._volume_name, self._by_volume, self._holders, self._in_pods,
                      self._per_node):  # fmt: skip
            index.clear()  # of an attempt that was interrupted
        for name, room in self._node_infos.items():
            for pod in room.pods.values():
                for use in volume_uses(pod):
                    self._use(name, use, 1)
        for name, attachments in self._volume_attachments.items():
            for use in attachments.values():
                self._use(name, use, 1)
        self._counting = True

    def _use(self, node: str, use: VolumeUse, sign: int) -> None:
        """Count one use more on a node (sign 1), or one less (-1)."""
        users = self._users.get(use)
        if users is None:
            users = self._users[use] = {}
            self._look_up(use)
        users[node] = users.get(node, 0) + sign
        self._attach(node, self._found[use], sign, in_pod=not use.attacher)
        if not users[node]:
            del users[node]
            if not users:
                self._forget_volume_name(use)
                del self._users[use], self._found[use]

    def _recount(self, use: VolumeUse) -> None:
        """Look up a use again and move its counts to the volume that it now refers to."""
        users = self._users.get(use)
        if users is None:
            return
        before = self._found[use]
        self._forget_volume_name(use)
        self._look_up(use)
        after = self._found[use]
        if before != after:
            for node, times in users.items():
                self._attach(node, before, -times, in_pod=not use.attacher)
                self._attach(node, after, times, in_pod=not use.attacher)

    def _look_up(self, use: VolumeUse) -> None:
        self._found[use] = attached_volume(use, self._lookup)
        claim = self._lookup.claim(*use.claim) if use.claim is not None else None
        if name := use.volume or (claim.spec.volume_name if claim is not None else ""):
            self._by_volume.setdefault(name, set()).add(use)
            self._volume_name[use] = name

    def _forget_volume_name(self, use: VolumeUse) -> None:
        name = self._volume_name.pop(use, "")
        if name:
            self._by_volume[name].remove(use)
            if not self._by_volume[name]:
                del self._by_volume[name]

    def _attach(self, node: str, volume: AttachedVolume | None, times: int, *, in_pod: bool) -> None:
        if volume is None:
            return
        if in_pod:
            _add_uses(self._in_pods, volume, node, times)
        before = _add_uses(self._holders, volume, node, times)
        change = (before + times > 0) - (before > 0)
        if change:
            counts = self._per_node.setdefault(node, {})
            counts[volume.driver] = counts.get(volume.driver, 0) + change
            if not counts[volume.driver]:
                del counts[volume.driver]
                if not counts:
                    del self._per_node[node]
            column = self._columns.get(volume.driver)
            row = self._nodes.row_of.get(node)
            if column is not None and row is not None:
                column.array[row] += change


def _add_uses(uses: dict[AttachedVolume, dict[str, int]], volume: AttachedVolume, node: str, times: int) -> int:
    """Add to the uses of a volume on a node; return how many there were before."""
    holders = uses.setdefault(volume, {})
    before = holders.get(node, 0)
    holders[node] = before + times
    if not holders[node]:
        del holders[node]
        if not holders:
            del uses[volume]
    return before


def attach_limits(csi_node: CSINode | None) -> dict[str, int]:
    """Return a node's attach limits by driver; a driver without a count has no limit."""
    drivers = csi_node.spec.drivers if csi_node is not None else ()
    return {
        driver.name: driver.allocatable.count for driver in drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }

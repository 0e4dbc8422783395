"""An index of host ports, disks and claims that pods use and may be unable to share: resource -> node -> pods.

Plugins use it to avoid walking all pods of all nodes; whether two pods can share a resource is for them to decide. It
holds names only, no rows. Mutable; only the snapshot changes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from kvolsched.api.kinds.pod import Container, ContainerPort, Pod, PodSpec, Volume
from kvolsched.world.log import Key

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - every address of a node
HeldResource = tuple[str, ...]
Users = Mapping[str, frozenset[Key]]


class HostPort(NamedTuple):
    """A host port of a container: protocol, number and address; `0.0.0.0` is every address."""

    protocol: str
    number: int
    address: str

    @property
    def resource(self) -> HeldResource:
        """The resource in the index: protocol and number, without the address."""
        return ("port", self.protocol, str(self.number))

    def conflicts_with(self, other: HostPort) -> bool:
        """Say whether two host ports conflict: same protocol and number, and same address or one is every address."""
        same = (self.protocol, self.number) == (other.protocol, other.number)
        return same and (self.address == other.address or ANY_ADDRESS in (self.address, other.address))

    @property
    def container(self) -> Container:
        """A container that asks for this port alone."""
        port = ContainerPort(host_port=self.number, host_ip=self.address, protocol=self.protocol)
        return Container(ports=(port,))

    @property
    def short_name(self) -> str:
        """Its number and protocol, and its address unless that is every address: "8080/TCP"."""
        return str(self) if self.address != ANY_ADDRESS else f"{self.number}/{self.protocol}"

    def __str__(self) -> str:
        return f"{self.address}:{self.number}/{self.protocol}"


def host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """Return the host ports of a pod's containers and sidecars."""
    found: list[HostPort] = []
    for container in spec.containers:
        if container.ports:
            found += _host_ports(container.ports)
    for container in spec.init_containers:
        if container.ports and container.restart_policy == "Always":
            found += _host_ports(container.ports)
    return tuple(found)


def host_port(port: ContainerPort) -> HostPort:
    """Return what a container's port asks for on the node; the number 0 if it asks for nothing there."""
    return HostPort(port.protocol or "TCP", port.host_port, port.host_ip or ANY_ADDRESS)


def _host_ports(ports: tuple[ContainerPort, ...]) -> Iterator[HostPort]:
    return (host_port(port) for port in ports if port.host_port > 0)


def exclusive_disk(volume: Volume) -> HeldResource | None:
    """Return the in-tree disk of a volume that pods may be unable to share, or None."""
    if volume.gce_persistent_disk is not None:
        return ("gcePersistentDisk", volume.gce_persistent_disk.pd_name)
    if volume.aws_elastic_block_store is not None:
        return ("awsElasticBlockStore", volume.aws_elastic_block_store.volume_id)
    if volume.iscsi is not None:
        return ("iscsi", volume.iscsi.iqn)
    if volume.rbd is not None:
        return ("rbd", volume.rbd.pool, volume.rbd.image)
    return None


def claim_resource(namespace: str, name: str) -> HeldResource:
    """Return the resource of a claim in the index."""
    return ("claim", namespace, name)


def held_resources(pod: Pod) -> Iterator[HeldResource]:
    """Yield the resources that a pod uses; claims of ephemeral volumes belong to one pod and are left out."""
    for port in host_ports(pod.spec):
        yield port.resource
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield claim_resource(pod.metadata.namespace, volume.persistent_volume_claim.claim_name)
        elif (disk := exclusive_disk(volume)) is not None:
            yield disk


class _ListedPods:
    """Pods by node and key, and what they use, which is found once."""

    def __init__(self, pods: Sequence[tuple[str, Key, Pod]]) -> None:
        self._pods = pods

    @cached_property
    def users(self) -> dict[HeldResource, dict[str, frozenset[Key]]]:
        """The pods that use a resource, by node."""
        found: dict[HeldResource, dict[str, frozenset[Key]]] = {}
        for node, key, pod in self._pods:
            for resource in held_resources(pod):
                on_nodes = found.setdefault(resource, {})
                on_nodes[node] = on_nodes.get(node, frozenset()) | {key}
        return found


class ExclusiveUse:
    """The pods that use a resource, by node. Mutable."""

    def __init__(self) -> None:
        self._listed: _ListedPods | None = None  # pods that are not sorted in yet; copies share them
        self._known: dict[HeldResource, dict[str, frozenset[Key]]] = {}
        self._shared: set[HeldResource] = set()

    @property
    def _users(self) -> dict[HeldResource, dict[str, frozenset[Key]]]:
        """The pods by resource and node, after the listed ones are sorted in."""
        if self._listed is not None:
            self._known, self._listed = dict(self._listed.users), None
            self._shared = set(self._known)
        return self._known

    def take(self, pods: Sequence[tuple[str, Key, Pod]]) -> None:
        """Take all pods that are on nodes, of which none is here yet; they are sorted in when this is first read."""
        self._listed = _ListedPods(pods)

    def copied(self) -> ExclusiveUse:
        """Return an independent copy; the original must not change while the copy is used."""
        copy = ExclusiveUse()
        if self._listed is not None:
            copy._listed = self._listed
        else:
            copy._known = dict(self._known)
            copy._shared = set(self._known)
        return copy

    def users(self, resource: HeldResource) -> Users:
        """Return, by node name, the pods that use a resource."""
        return self._users.get(resource, _NO_USERS)

    def place(self, node: str, key: Key, pod: Pod, sign: int) -> None:
        """Add the resources of a pod that is added to a node (sign 1), or remove them (-1)."""
        known = self._users
        for resource in held_resources(pod):
            users = known.setdefault(resource, {})
            if resource in self._shared:
                self._shared.remove(resource)
                users = known[resource] = dict(users)
            pods = users.get(node, frozenset())
            users[node] = pods | {key} if sign > 0 else pods - {key}
            if not users[node]:
                del users[node]
            if not users:
                del known[resource]

    def facts(self) -> Mapping[HeldResource, Users]:
        """Return the whole index, for comparing two snapshots."""
        return self._users


_NO_USERS: Users = {}

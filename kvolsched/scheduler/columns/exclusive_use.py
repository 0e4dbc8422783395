"""What pods hold on their nodes and cannot simply share: host ports, disks, claims; found by what is held.

An index, so that nobody walks all pods of all nodes to see whether a port is free: thing held -> node -> pods. Whether
two pods can share a thing is for the plugins to say. It knows names alone, no rows. Mutable; the snapshot alone moves
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kvolsched.api.kinds.pod import ContainerPort, Pod, PodSpec
from kvolsched.api.kinds.pod_volume import Volume
from kvolsched.world.log import Key

ANY = "0.0.0.0"  # noqa: S104 - Kubernetes' word for every address of a node
HeldResource = tuple[str, ...]
Users = Mapping[str, frozenset[Key]]


class HostPort(NamedTuple):
    """A port that a container takes of its node: its number on an address, `0.0.0.0` for all of them."""

    protocol: str
    number: int
    address: str

    @property
    def thing(self) -> HeldResource:
        """What is held: the number, whatever the address."""
        return ("port", self.protocol, str(self.number))

    def clashes(self, other: HostPort) -> bool:
        """Say whether both cannot be had at once: equal protocol and number, and equal addresses, or one is all."""
        same = (self.protocol, self.number) == (other.protocol, other.number)
        return same and (self.address == other.address or ANY in (self.address, other.address))

    def __str__(self) -> str:
        return f"{self.address}:{self.number}/{self.protocol}"


def host_ports(spec: PodSpec) -> tuple[HostPort, ...]:
    """Return the host ports of a pod's containers and sidecars."""
    found: list[HostPort] = []
    for container in spec.containers:
        if container.ports:
            found += _taken(container.ports)
    for container in spec.init_containers:
        if container.ports and container.restart_policy == "Always":
            found += _taken(container.ports)
    return tuple(found)


def _taken(ports: tuple[ContainerPort, ...]) -> Iterator[HostPort]:
    for port in ports:
        if port.host_port > 0:
            yield HostPort(port.protocol or "TCP", port.host_port, port.host_ip or ANY)


def disk(volume: Volume) -> HeldResource | None:
    """Return the disk that a volume names itself and that pods may be unable to share, or None."""
    if volume.gce_persistent_disk is not None:
        return ("gcePersistentDisk", volume.gce_persistent_disk.pd_name)
    if volume.aws_elastic_block_store is not None:
        return ("awsElasticBlockStore", volume.aws_elastic_block_store.volume_id)
    if volume.iscsi is not None:
        return ("iscsi", volume.iscsi.iqn)
    if volume.rbd is not None:
        return ("rbd", volume.rbd.pool, volume.rbd.image)
    return None


def claim_held(namespace: str, name: str) -> HeldResource:
    """Return a claim as a thing that pods hold by naming it."""
    return ("claim", namespace, name)


def held_resources(pod: Pod) -> Iterator[HeldResource]:
    """Yield what a pod holds; an ephemeral volume's claim is its own and not listed."""
    for port in host_ports(pod.spec):
        yield port.thing
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield claim_held(pod.metadata.namespace, volume.persistent_volume_claim.claim_name)
        elif (thing := disk(volume)) is not None:
            yield thing


class ExclusiveUse:
    """Who holds what where. Mutable."""

    def __init__(self) -> None:
        self._users: dict[HeldResource, dict[str, frozenset[Key]]] = {}
        self._shared: set[HeldResource] = set()

    def copied(self) -> ExclusiveUse:
        """Return holdings that say the same and go on by themselves; these here must not move meanwhile."""
        made = ExclusiveUse()
        made._users = dict(self._users)
        made._shared = set(self._users)
        return made

    def users(self, thing: HeldResource) -> Users:
        """Return, by node name, the pods that hold a thing."""
        return self._users.get(thing, _NOBODY)

    def place(self, node: str, key: Key, pod: Pod, sign: int) -> None:
        """Note what a pod holds that comes to a node (sign 1), or strike it out (-1)."""
        for thing in held_resources(pod):
            users = self._users.setdefault(thing, {})
            if thing in self._shared:
                self._shared.remove(thing)
                users = self._users[thing] = dict(users)
            here = users.get(node, frozenset())
            users[node] = here | {key} if sign > 0 else here - {key}
            if not users[node]:
                del users[node]
            if not users:
                del self._users[thing]

    def meaning(self) -> Mapping[HeldResource, Users]:
        """Return everything that is held, for comparing two snapshots."""
        return self._users


_NOBODY: Users = {}

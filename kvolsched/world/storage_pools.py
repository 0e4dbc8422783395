"""A driver's storage as the simulation knows it: pools that volumes are allocated from and freed to.

The API has only what provisioners last published. A pool's true size and what volumes take of it are notes of the
world, not of a component: a storage system forgets nothing when its provisioner or a kubelet crashes, and it may change
without anybody telling Kubernetes (`resize`).

Inline volumes take room, too: a driver's node service makes one when a pod starts, as the kubelet asks, and removes it
when the pod has ended. A driver without pools makes every volume. Source: S2, Summary and Size of ephemeral inline
volumes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import attrs

from ..api.dials import LABELS, LIMIT, SIZE, TEXT, Values, dial, mapping_of, several, whole
from ..api.kinds.csi import CSIDriver
from ..api.kinds.meta import EMPTY, Frozen
from ..api.kinds.node import HOSTNAME_LABEL, Node
from ..api.kinds.pod import Pod, Volume
from ..api.kinds.quantity import canonical, value
from ..api.kinds.volume import PersistentVolume
from ..api.unknown_name import UnknownName, did_you_mean
from ..api.volumes import NodeService, Topology, publish_context
from ..api.volumes import capacity as size_of
from .log import Log, Note

ANY_KEY = ""  # stands for the driver's first topology key


@attrs.frozen(kw_only=True)
class Pool:
    """One pool of a driver."""

    topology: Mapping[str, str] = dial(
        EMPTY, LABELS, "labels of the segments that it serves; every segment if empty",
        "S2, Storage capacity: a pool might be accessible from a subset of the nodes alone",
    )
    capacity: str = dial("0", SIZE, "its free bytes, beside the volumes that exist at the start")
    maximum_volume_size: str = dial(
        "", LIMIT, "the largest volume that it makes, which may be less than is free",
        "S2, Storage capacity: capacity is the size of the largest volume that can be created", "maximumVolumeSize",
    )
    parameters: Mapping[str, str] = dial(
        EMPTY, LABELS, "what a class must have as parameters to get its volumes from this pool",
        "S2, Goals: capacity is tracked per class, so that its parameters are taken into account",
    )
    copies: Mapping[str, int] = dial(
        EMPTY, several(whole(1), named=True), "how often a volume is stored, by `key=value` of a parameter",
        "S2, Goals: a volume with mirroring needs more space than one that is striped",
    )
    name: str = dial("", TEXT, "its name, unique among the driver's; by default the values of its topology, or cluster")

    def cost(self, parameters: Mapping[str, str]) -> int:
        """Return how many bytes a byte of a volume takes, for a class with these parameters."""
        return max((self.copies.get(f"{key}={text}", 1) for key, text in parameters.items()), default=1)

    def serves(self, parameters: Mapping[str, str], segment: Topology) -> bool:
        """Say whether volumes of a class with these parameters come from this pool in a segment."""
        return self.topology.items() <= dict(segment).items() and self.parameters.items() <= parameters.items()


@attrs.frozen
class PoolSize:
    """A note: the size of a pool since somebody changed it from outside; `largest` "" is no limit."""

    capacity: str
    largest: str = ""


@attrs.frozen
class CapacityResponse:
    """The answer to GetCapacity: bytes in all, and bytes of the largest volume (None: not given)."""

    available: int
    largest: int | None = None


class DriverFailed(Exception):
    """The driver answers with an error, whose message this is."""


_LISTED = several(mapping_of(Pool))


def _read_pools(given: Any, before: Any) -> Any:
    if isinstance(given, Mapping):
        given = tuple({"topology": {ANY_KEY: domain}, "capacity": size} for domain, size in given.items())
    if not isinstance(given, tuple):
        raise ValueError(f"{given!r}: must be {POOLS.words}")  # noqa: TRY004 - what a scenario says wrongly
    return _LISTED.read(given, before)


POOLS = Values("a mapping from domain to size, or a list, each a mapping", _read_pools, Pool, "[].")
"""Pools as a scenario gives them: by domains, values of the driver's first topology key, or each with its dials."""


def keyed(pools: Iterable[Pool], key: str) -> tuple[Pool, ...]:
    """Return pools with a name each, and with this topology key where they were given by their domains.

    Raises:
        ValueError: two have one name.
    """
    return _named([attrs.evolve(pool, topology=Frozen({part if part != ANY_KEY else key: domain
                                                       for part, domain in pool.topology.items()})) for pool in pools])


def _named(pools: Sequence[Pool]) -> tuple[Pool, ...]:
    """Return pools with a name each; equal default names are numbered from the second on."""
    given, count, found = Counter(pool.name for pool in pools if pool.name), Counter[str](), []
    if twice := [name for name, times in given.items() if times > 1]:
        raise ValueError(f"pools: name {twice[0]!r} is given {given[twice[0]]} times")
    for pool in pools:
        name = pool.name
        if not name:
            default = ",".join(map(str, pool.topology.values())) or "cluster"
            count[default] += 1
            name = default if count[default] == 1 else f"{default}-{count[default]}"
        found.append(attrs.evolve(pool, name=name))
    return tuple(found)


@attrs.frozen
class DriverStorage:
    """A driver's pools, with what each volume has allocated of them."""

    driver: str
    pools: tuple[Pool, ...]

    def pool(self, name: str) -> Pool:
        """Return a pool by its name.

        Raises:
            UnknownName: the driver has no such pool; the message lists those that it has. It is a KeyError.
        """
        for pool in self.pools:
            if pool.name == name:
                return pool
        names = [pool.name for pool in self.pools]
        hint = did_you_mean(name, names)
        raise UnknownName(f"driver {self.driver} has no pool {name!r}; there are: {', '.join(names)}{hint}")

    def size(self, log: Log, pool: Pool) -> PoolSize:
        """Return a pool's size now: as it was last changed from outside, else as its dial says."""
        changed: PoolSize | None = log.notes.get(Note("world", "pool", f"{self.driver}|{pool.name}"))
        return changed or PoolSize(pool.capacity, pool.maximum_volume_size)

    def new_size(self, log: Log, name: str, capacity: str | None, largest: str | None) -> PoolSize:
        """Return a pool's size with these changes; None leaves one as it is.

        Raises:
            KeyError: the driver has no such pool.
            ValueError: a size is no quantity, or negative.
        """
        old, where = self.size(log, self.pool(name)), f"pool {name} of {self.driver}"
        for path, text in (("capacity", capacity), ("largest", largest)):
            try:
                LIMIT.read(text or "", None)
            except ValueError as why:
                raise ValueError(f"{where}: {path}: {why}") from None
        return PoolSize(old.capacity if capacity is None else canonical(capacity or "0"),
                        old.largest if largest is None else canonical(largest) if largest else "")

    def resize(self, log: Log, name: str, size: PoolSize) -> None:
        """Change a pool's size: what a storage system does without telling Kubernetes."""
        log.write(Note("world", "pool", f"{self.driver}|{name}"), size)

    def allocated(self, log: Log, pool: Pool) -> Frozen:
        """Return the bytes that each volume takes of a pool, by the volume's name."""
        taken: Frozen = log.notes.get(self._note(pool), EMPTY)
        return taken

    def _note(self, pool: Pool) -> Note:
        return Note("world", "room", f"{self.driver}|{pool.name}")

    def free_bytes(self, log: Log, pool: Pool) -> int:
        """Return the bytes of a pool that no volume has allocated; less than 0 if it shrank below what is allocated."""
        taken: int = sum(self.allocated(log, pool).values())
        return value(self.size(log, pool).capacity) - taken

    def largest(self, log: Log, pool: Pool, parameters: Mapping[str, str] = EMPTY) -> int:
        """Return the bytes of the largest volume of a class with these parameters that a pool can make now."""
        limit, usable = self.size(log, pool).largest, self._usable(log, pool, parameters)
        return min(usable, value(limit)) if limit else usable

    def _usable(self, log: Log, pool: Pool, parameters: Mapping[str, str]) -> int:
        return max(0, self.free_bytes(log, pool)) // pool.cost(parameters)

    def get_capacity(self, log: Log, parameters: Mapping[str, str], segment: Topology) -> CapacityResponse:
        """Answer GetCapacity: free bytes of the pools that serve such a class in a segment, and the largest volume."""
        serving = [pool for pool in self.pools if pool.serves(parameters, segment)]
        available = sum(self._usable(log, pool, parameters) for pool in serving)
        largest = max((self.largest(log, pool, parameters) for pool in serving), default=0)
        limited = len(serving) > 1 or any(self.size(log, pool).largest for pool in serving)
        return CapacityResponse(available, largest if limited else None)

    def has_room(self, log: Log, parameters: Mapping[str, str], segment: Topology, size: int, volume: str = "") -> bool:
        """Say whether a volume of this size fits into a segment; an existing one of this name needs no room."""
        return self._pool_for(log, parameters, segment, size, volume) is not None

    def fits(self, log: Log, parameters: Mapping[str, str], volume: PersistentVolume) -> bool:
        """Say whether every segment of a volume has a pool with room for it."""
        size, name = size_of(volume), volume.metadata.name
        return all(self.has_room(log, parameters, segment, size, name) for segment in segments_of(volume))

    def allocate(self, log: Log, parameters: Mapping[str, str], volume: PersistentVolume) -> None:
        """Allocate a volume's size from a pool in each of its segments."""
        for segment in segments_of(volume):
            self.make(log, parameters, segment, size_of(volume), volume.metadata.name)

    def free(self, log: Log, volume: PersistentVolume) -> None:
        """Free what a volume has allocated."""
        self.remove(log, volume.metadata.name)

    def make(self, log: Log, parameters: Mapping[str, str], segment: Topology, size: int, volume: str) -> bool:
        """Allocate a volume's size from a pool of a segment, unless it exists; return False if there is no room."""
        pool = self._pool_for(log, parameters, segment, size, volume)
        if pool is not None:
            taken = self.allocated(log, pool).merged({volume: size * pool.cost(parameters)})
            log.write(self._note(pool), taken)
        return pool is not None

    def remove(self, log: Log, volume: str) -> None:
        """Free what a volume of this name has allocated, if anything."""
        for pool in self.pools:
            allocated = self.allocated(log, pool)
            if volume in allocated:
                log.write(self._note(pool), allocated.merged({volume: None}) or None)

    def volumes(self, log: Log) -> Iterator[str]:
        """Yield the names of the volumes that take room, pool by pool."""
        for pool in self.pools:
            yield from sorted(self.allocated(log, pool))

    def _pool_for(
        self, log: Log, parameters: Mapping[str, str], segment: Topology, size: int, volume: str = ""
    ) -> Pool | None:
        """Return the pool of a segment in which a volume lies or, if it is new, the first with room for it."""
        serving = [pool for pool in self.pools if pool.serves(parameters, segment)]
        for pool in serving:
            if volume in self.allocated(log, pool):
                return pool
        return next((pool for pool in serving if self.largest(log, pool, parameters) >= size), None)


def segment_of_node(node: Node) -> Topology:
    """Return what a pool may go by on a node: its labels, and its name if it has no label with its hostname."""
    return tuple(sorted({HOSTNAME_LABEL: node.metadata.name, **node.metadata.labels}.items()))


def segments_of(volume: PersistentVolume) -> Sequence[Topology]:
    """Return the segments that a volume lies in; the empty one without node affinity."""
    return [segment for term in volume.spec.node_terms for segment in _segments(term)] or [()]


def _segments(term: Any) -> Iterator[Topology]:
    """Yield the segments of a term whose expressions all have the operator In."""
    parts = term.match_expressions
    if all(part.operator == "In" for part in parts):
        for values in product(*(part.values for part in parts)):
            yield tuple(sorted(zip((part.key for part in parts), values, strict=True)))


@attrs.frozen
class InlineVolumes:
    """The inline volumes of pods, as drivers' node services publish them.

    Args:
        services: driver -> its node service, if it differs from the usual one.
        storages: driver -> its pools; a driver that is not listed has unlimited room.
    """

    services: Mapping[str, NodeService] = EMPTY
    storages: Mapping[str, DriverStorage] = EMPTY

    def publish(self, log: Log, pod: Pod, volume: Volume, node: Node, driver: CSIDriver | None) -> str:
        """Make an inline volume on a node unless it exists there; return the driver's error, "" if it is there."""
        source = volume.csi
        if source is None:
            return ""
        service = self.services.get(source.driver, NodeService())
        context = publish_context(pod, source, driver)
        if why := service.refuses(source, context):
            return f"rpc error: code = InvalidArgument desc = {why}"
        storage = self.storages.get(source.driver)
        if storage is None:
            return ""
        size = service.size_of(source, context)
        try:
            number = value(size)
        except ValueError as why:
            return f"rpc error: code = InvalidArgument desc = size {size!r}: {why}"
        if storage.make(log, EMPTY, segment_of_node(node), number, _name_of(pod, volume)):
            return ""
        return f"rpc error: code = ResourceExhausted desc = not enough capacity on {node.metadata.name} for {size}"

    def release(self, log: Log, pod: str, kept: str = "") -> None:
        """Remove the inline volumes of a pod `namespace/name`, but not those of the pod whose uid is `kept`."""
        for storage in self.storages.values():
            for volume in list(storage.volumes(log)):
                namespace, slash, rest = volume.partition("/")
                if slash and f"{namespace}/{rest.partition('/')[0]}" == pod and volume.rpartition("/")[2] != kept:
                    storage.remove(log, volume)

    def pods(self, log: Log) -> Iterator[str]:
        """Yield `namespace/name` of each pod with an inline volume that takes room."""
        found = {"/".join(volume.split("/")[:2]) for each in self.storages.values() for volume in each.volumes(log)
                 if "/" in volume}
        yield from sorted(found)


def _name_of(pod: Pod, volume: Volume) -> str:
    """Return the name under which a pod's inline volume takes room; names of provisioned volumes have no slash."""
    return f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}/{volume.name}/{pod.metadata.uid}"


def has_inline_volumes(pod: Pod) -> bool:
    """Say whether a pod has inline CSI volumes."""
    return any(volume.csi is not None for volume in pod.spec.volumes)

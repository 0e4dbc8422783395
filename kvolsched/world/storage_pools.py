"""A driver's storage as the simulation knows it: pools that volumes are allocated from and freed to.

The API has only what provisioners last published. A pool's true size and what volumes take of it are notes of the
world, not of a component: a storage system forgets nothing when its provisioner or a kubelet crashes, and it may change
without anybody telling Kubernetes (`resize`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import attrs

from ..api.kinds.meta import EMPTY, Frozen
from ..api.kinds.node import HOSTNAME_LABEL, Node
from ..api.kinds.quantity import canonical, parse, value
from ..api.kinds.volume import PersistentVolume
from ..api.unknown_name import UnknownName, did_you_mean
from ..api.volumes import Topology
from ..api.volumes import capacity as size_of
from .log import Log, Note


@attrs.frozen(kw_only=True)
class Pool:
    """One pool of a driver.

    Args:
        topology: labels of the segments that it serves; every segment if empty.
        capacity: its free bytes, beside the volumes that exist at the start.
        maximum_volume_size: the largest volume that it makes; "": only limited by its free bytes.
        parameters: those that a class must have to get its volumes from this pool.
        copies: how often a volume is stored, by `key=value` of a parameter: `{"type=mirror": 2}` takes twice its size.
        name: its name, unique among the driver's; by default the values of its topology, else "cluster".
    """

    topology: Mapping[str, str] = EMPTY
    capacity: str = "0"
    maximum_volume_size: str = ""
    parameters: Mapping[str, str] = EMPTY
    copies: Mapping[str, int] = EMPTY
    name: str = ""

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


def read_pools(dials: Any, key: str) -> tuple[Pool, ...]:
    """Return the pools that a scenario gives a driver.

    Args:
        dials: `{zone-a: 10Gi}` (values of the driver's first topology key), or a list with the fields of `Pool`.
        key: that topology key.

    Raises:
        ValueError: an entry is no pool; the message says which.
    """
    if isinstance(dials, Mapping):
        dials = [{"topology": {key: domain}, "capacity": size} for domain, size in dials.items()]
    if not isinstance(dials, Sequence) or isinstance(dials, str):
        raise ValueError(f"pools are a mapping from domain to capacity or a list, not {dials!r}")  # noqa: TRY004
    return _named([_pool(f"pools[{number}]", each) for number, each in enumerate(dials)])


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


def _pool(path: str, dials: Any) -> Pool:
    known = [field.name for field in attrs.fields(Pool)]
    if not isinstance(dials, Mapping):
        raise ValueError(f"{path}: {dials!r} is no pool; it is a mapping with {', '.join(known)}")  # noqa: TRY004
    options = {"maximum_volume_size" if name == "maximumVolumeSize" else name: dial for name, dial in dials.items()}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(f"{path}: a pool has no {', '.join(unknown)}; there are: {', '.join(known)}")
    for name in ("topology", "parameters", "copies"):
        if not isinstance(options.setdefault(name, EMPTY), Mapping):
            raise ValueError(f"{path}.{name}: {options[name]!r} is no mapping")  # noqa: TRY004
        options[name] = Frozen(options[name])
    for parameter, copies in options["copies"].items():
        if not isinstance(copies, int) or copies < 1:
            raise ValueError(f"{path}.copies.{parameter}: {copies!r} is no number of copies")
    for name in ("capacity", "maximum_volume_size"):
        options[name] = str(options.get(name, ""))
        _check_size(f"{path}.{name}", options[name] or "0")
    return Pool(**{**options, "capacity": options["capacity"] or "0"})


def _check_size(path: str, size: str) -> None:
    try:
        parse(size)
    except ValueError as why:
        raise ValueError(f"{path}: {size!r}: {why}") from None
    if value(size) < 0:
        raise ValueError(f"{path}: {size!r} is negative")


@attrs.frozen
class DriverStorage:
    """A driver's pools, with what each volume has allocated of them."""

    driver: str
    pools: tuple[Pool, ...]

    # -- sizes ----------------------------------------------------------------------------------------------

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
            _check_size(f"{where}: {path}", text or "0")
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

    # -- provisioned volumes --------------------------------------------------------------------------------

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

    # -- volumes by name ------------------------------------------------------------------------------------

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

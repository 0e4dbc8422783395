"""A driver's storage as the simulation knows it: pools that volumes are allocated from and freed to.

The API has only what was last published (`capacity`). What is allocated is a note of the world, not of the component:
a storage system forgets nothing when its provisioner crashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import attrs

from ...api.kinds.meta import EMPTY, Frozen
from ...api.kinds.quantity import parse, value
from ...api.kinds.volume import PersistentVolume
from ...volumes import Topology
from ...volumes import capacity as size_of
from ...world.log import Log, Note


@attrs.frozen(kw_only=True)
class Pool:
    """One pool of a driver.

    Args:
        topology: labels of the segments that it serves; every segment if empty.
        capacity: its free bytes, beside the volumes that exist at the start.
        maximum_volume_size: the largest volume that it makes; "": only limited by its free bytes.
        parameters: those that a class must have to get its volumes from this pool.
        copies: how often a volume is stored, by `key=value` of a parameter: `{"type=mirror": 2}` takes twice its size.
    """

    topology: Mapping[str, str] = EMPTY
    capacity: str = "0"
    maximum_volume_size: str = ""
    parameters: Mapping[str, str] = EMPTY
    copies: Mapping[str, int] = EMPTY

    def cost(self, parameters: Mapping[str, str]) -> int:
        """Return how many bytes a byte of a volume takes, for a class with these parameters."""
        return max((self.copies.get(f"{key}={text}", 1) for key, text in parameters.items()), default=1)

    def serves(self, parameters: Mapping[str, str], segment: Topology) -> bool:
        """Say whether volumes of a class with these parameters come from this pool in a segment."""
        return self.topology.items() <= dict(segment).items() and self.parameters.items() <= parameters.items()


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
    return tuple(_pool(f"pools[{number}]", each) for number, each in enumerate(dials))


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
        try:
            parse(options[name] or "0")
        except ValueError as why:
            raise ValueError(f"{path}.{name}: {options[name]!r}: {why}") from None
    return Pool(**{**options, "capacity": options["capacity"] or "0"})


@attrs.frozen
class DriverStorage:
    """A driver's pools, with what each volume has allocated of them."""

    driver: str
    pools: tuple[Pool, ...]

    def _note(self, number: int) -> Note:
        return Note("world", "room", f"{self.driver}|{number}")

    def free_bytes(self, log: Log, number: int) -> int:
        """Return the bytes of a pool that no volume has allocated."""
        allocated: Mapping[str, int] = log.notes.get(self._note(number), EMPTY)
        return value(self.pools[number].capacity) - sum(allocated.values())

    def _largest(self, log: Log, number: int, parameters: Mapping[str, str]) -> int:
        limit, usable = self.pools[number].maximum_volume_size, self._usable(log, number, parameters)
        return min(usable, value(limit)) if limit else usable

    def _usable(self, log: Log, number: int, parameters: Mapping[str, str]) -> int:
        return self.free_bytes(log, number) // self.pools[number].cost(parameters)

    def get_capacity(self, log: Log, parameters: Mapping[str, str], segment: Topology) -> CapacityResponse:
        """Answer GetCapacity: free bytes of the pools that serve such a class in a segment, and the largest volume."""
        serving = [number for number, pool in enumerate(self.pools) if pool.serves(parameters, segment)]
        available = sum(self._usable(log, number, parameters) for number in serving)
        largest = max((self._largest(log, number, parameters) for number in serving), default=0)
        limited = len(serving) > 1 or any(self.pools[number].maximum_volume_size for number in serving)
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
            number = self._pool_for(log, parameters, segment, size_of(volume), volume.metadata.name)
            if number is not None:
                allocated: Frozen = log.notes.get(self._note(number), EMPTY)
                size = size_of(volume) * self.pools[number].cost(parameters)
                log.write(self._note(number), allocated.merged({volume.metadata.name: size}))

    def free(self, log: Log, volume: PersistentVolume) -> None:
        """Free what a volume has allocated."""
        for number in range(len(self.pools)):
            allocated: Frozen = log.notes.get(self._note(number), EMPTY)
            if volume.metadata.name in allocated:
                log.write(self._note(number), allocated.merged({volume.metadata.name: None}) or None)

    def _pool_for(
        self, log: Log, parameters: Mapping[str, str], segment: Topology, size: int, volume: str = ""
    ) -> int | None:
        """Return the pool of a segment in which a volume lies or, if it is new, the first with room for it."""
        serving = [number for number, pool in enumerate(self.pools) if pool.serves(parameters, segment)]
        for number in serving:
            if volume in log.notes.get(self._note(number), EMPTY):
                return number
        return next((number for number in serving if self._largest(log, number, parameters) >= size), None)


def segments_of(volume: PersistentVolume) -> Sequence[Topology]:
    """Return the segments that a volume lies in; the empty one without node affinity."""
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity is not None and affinity.required is not None else ()
    return [segment for term in terms for segment in _segments(term)] or [()]


def _segments(term: Any) -> Iterator[Topology]:
    """Yield the segments of a term whose expressions all have the operator In."""
    parts = term.match_expressions
    if all(part.operator == "In" for part in parts):
        for values in product(*(part.values for part in parts)):
            yield tuple(sorted(zip((part.key for part in parts), values, strict=True)))

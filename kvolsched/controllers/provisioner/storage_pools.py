"""How much room a driver has: pools that volumes take from and give back to. It is the simulation's truth.

What the API says of it is only what was last published (`capacity`). What is taken is noted as the world's own, not
the component's: a storage system forgets nothing when its provisioner crashes.
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
        topology: labels of the places that it serves; every place if empty.
        capacity: its room beside the volumes that are there when all begins.
        maximum_volume_size: the largest volume that it makes; "": as large as there is room.
        parameters: those that a class must have to get its volumes from here.
        copies: how often a volume is stored, by `key=value` of a parameter: `{"type=mirror": 2}` takes twice its size.
    """

    topology: Mapping[str, str] = EMPTY
    capacity: str = "0"
    maximum_volume_size: str = ""
    parameters: Mapping[str, str] = EMPTY
    copies: Mapping[str, int] = EMPTY

    def cost(self, parameters: Mapping[str, str]) -> int:
        """Return how many bytes a byte of a volume takes, for a class with these parameters."""
        return max((self.copies.get(f"{key}={one}", 1) for key, one in parameters.items()), default=1)

    def serves(self, parameters: Mapping[str, str], segment: Topology) -> bool:
        """Say whether volumes of such a class and place come from here."""
        return self.topology.items() <= dict(segment).items() and self.parameters.items() <= parameters.items()


@attrs.frozen
class CapacityResponse:
    """What a driver answers to GetCapacity: bytes in all, and bytes of the largest volume (None: not said)."""

    available: int
    largest: int | None = None


class DriverFailed(Exception):
    """The driver answers with an error; the message is the driver's."""


def read_pools(dials: Any, key: str) -> tuple[Pool, ...]:
    """Return the pools that a scenario gives a driver.

    Args:
        dials: `{zone-a: 10Gi}` (values of the driver's first topology key), or a list with the fields of `Pool`.
        key: that topology key.

    Raises:
        ValueError: something of it is no pool; the message says which.
    """
    if isinstance(dials, Mapping):
        dials = [{"topology": {key: domain}, "capacity": size} for domain, size in dials.items()]
    if not isinstance(dials, Sequence) or isinstance(dials, str):
        raise ValueError(f"pools are a mapping from domain to capacity or a list, not {dials!r}")  # noqa: TRY004
    return tuple(_pool(f"pools[{number}]", each) for number, each in enumerate(dials))


def _pool(place: str, dials: Any) -> Pool:
    known = [field.name for field in attrs.fields(Pool)]
    if not isinstance(dials, Mapping):
        raise ValueError(f"{place}: {dials!r} is no pool; it is a mapping with {', '.join(known)}")  # noqa: TRY004
    told = {"maximum_volume_size" if word == "maximumVolumeSize" else word: what for word, what in dials.items()}
    unknown = [word for word in told if word not in known]
    if unknown:
        raise ValueError(f"{place}: a pool has no {', '.join(unknown)}; there are: {', '.join(known)}")
    for word in ("topology", "parameters", "copies"):
        if not isinstance(told.setdefault(word, EMPTY), Mapping):
            raise ValueError(f"{place}.{word}: {told[word]!r} is no mapping")  # noqa: TRY004
        told[word] = Frozen(told[word])
    for which, times in told["copies"].items():
        if not isinstance(times, int) or times < 1:
            raise ValueError(f"{place}.copies.{which}: {times!r} is no number of copies")
    for word in ("capacity", "maximum_volume_size"):
        told[word] = str(told.get(word, ""))
        try:
            parse(told[word] or "0")
        except ValueError as why:
            raise ValueError(f"{place}.{word}: {told[word]!r}: {why}") from None
    return Pool(**{**told, "capacity": told["capacity"] or "0"})


@attrs.frozen
class DriverStorage:
    """A driver's storage: its pools, and what of them is taken, by volume."""

    driver: str
    pools: tuple[Pool, ...]

    def _note(self, number: int) -> Note:
        return Note("world", "room", f"{self.driver}|{number}")

    def left(self, log: Log, number: int) -> int:
        """Return the bytes that a pool has now."""
        taken: Mapping[str, int] = log.notes.get(self._note(number), EMPTY)
        return value(self.pools[number].capacity) - sum(taken.values())

    def _largest(self, log: Log, number: int, parameters: Mapping[str, str]) -> int:
        most, left = self.pools[number].maximum_volume_size, self._usable(log, number, parameters)
        return min(left, value(most)) if most else left

    def _usable(self, log: Log, number: int, parameters: Mapping[str, str]) -> int:
        return self.left(log, number) // self.pools[number].cost(parameters)

    def room(self, log: Log, parameters: Mapping[str, str], segment: Topology) -> CapacityResponse:
        """Answer GetCapacity: the room of all pools that serve such a class here, and the largest volume of any."""
        serving = [number for number, pool in enumerate(self.pools) if pool.serves(parameters, segment)]
        available = sum(self._usable(log, number, parameters) for number in serving)
        largest = max((self._largest(log, number, parameters) for number in serving), default=0)
        told = len(serving) > 1 or any(self.pools[number].maximum_volume_size for number in serving)
        return CapacityResponse(available, largest if told else None)

    def has_room(self, log: Log, parameters: Mapping[str, str], segment: Topology, size: int, volume: str = "") -> bool:
        """Say whether a volume of this size can be made here; one of this name that is there already needs none."""
        return self._pool_for(log, parameters, segment, size, volume) is not None

    def fits(self, log: Log, parameters: Mapping[str, str], volume: PersistentVolume) -> bool:
        """Say whether every place of a volume has a pool with room for it."""
        size, name = size_of(volume), volume.metadata.name
        return all(self.has_room(log, parameters, segment, size, name) for segment in places(volume))

    def take(self, log: Log, parameters: Mapping[str, str], volume: PersistentVolume) -> None:
        """Make a volume: it takes its size from a pool in each of its places."""
        for segment in places(volume):
            number = self._pool_for(log, parameters, segment, size_of(volume), volume.metadata.name)
            if number is not None:
                taken: Frozen = log.notes.get(self._note(number), EMPTY)
                bytes_ = size_of(volume) * self.pools[number].cost(parameters)
                log.write(self._note(number), taken.merged({volume.metadata.name: bytes_}))

    def give_back(self, log: Log, volume: PersistentVolume) -> None:
        """Delete a volume: what it took is free again."""
        for number in range(len(self.pools)):
            taken: Frozen = log.notes.get(self._note(number), EMPTY)
            if volume.metadata.name in taken:
                log.write(self._note(number), taken.merged({volume.metadata.name: None}) or None)

    def _pool_for(
        self, log: Log, parameters: Mapping[str, str], segment: Topology, size: int, volume: str = ""
    ) -> int | None:
        """Return the pool in which a volume lies here or, if it is new, the first that has room for it."""
        serving = [number for number, pool in enumerate(self.pools) if pool.serves(parameters, segment)]
        for number in serving:
            if volume in log.notes.get(self._note(number), EMPTY):
                return number
        return next((number for number in serving if self._largest(log, number, parameters) >= size), None)


def places(volume: PersistentVolume) -> Sequence[Topology]:
    """Return every topology that a volume lies in; one without affinity lies nowhere in particular."""
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity is not None and affinity.required is not None else ()
    found = [segment for term in terms for segment in _written_out(term)]
    return found or [()]


def _written_out(term: Any) -> Iterator[Topology]:
    """Yield the topologies of a term whose expressions all say In."""
    parts = term.match_expressions
    if all(part.operator == "In" for part in parts):
        for values in product(*(part.values for part in parts)):
            yield tuple(sorted(zip((part.key for part in parts), values, strict=True)))

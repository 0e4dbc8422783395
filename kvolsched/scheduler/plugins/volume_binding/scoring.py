"""How VolumeBinding scores a node, by what it would bind there or, under v1.36.2's gate, have provisioned there.

S0 prefers the volume closest in size, and any volume that exists to one that is yet to be made. v1.36.2 scores nothing
unless the alpha gate StorageCapacityScoring is on; then a shape says how many points a class gets for its utilisation.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from ....api import volumes
from ....api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ....api.validation.field_error import FieldError, FieldErrors
from ...columns.column import Integers

MAX_UTILIZATION = 100
MAX_SCORE = 10  # of a point of a shape; a node's score is 0 to 100
EXACT_PERCENT = (2**63 - 1) // MAX_UTILIZATION  # bytes; of a larger request a column cannot hold the hundredfold
SCORING_GATE = "StorageCapacityScoring"
UNEXPECTED_SHAPE = f"unexpected field `shape`, remove it or turn on the feature gate {SCORING_GATE}"

Binding = tuple[PersistentVolumeClaim, PersistentVolume]
Provision = tuple[PersistentVolumeClaim, "int | None"]
"""A claim to be provisioned, with the room in bytes that its driver has published; None: none is looked at."""


class ClassShare(NamedTuple):
    """What a class counts in a node's score: the bytes requested, those that are there, and the points for both."""

    name: str
    requested: int
    capacity: int
    points: int


Shares = tuple[ClassShare, ...]


@attrs.frozen
class SizeMatch:
    """Scores how close volumes are to requests: 100·requested/capacity, the mean over the waiting claims.

    A claim to be provisioned counts 0, so that any volume that exists is preferred (S0, Priority).
    """

    reads_room: ClassVar[bool] = False

    def judge(self, bindings: Sequence[Binding], _provisions: Iterable[Provision], claims: int) -> tuple[int, Shares]:
        """Return the score of a node where these volumes would be bound for some of so many waiting claims."""
        shares = sum(100 * volumes.requested(claim) // max(volumes.capacity(volume), 1) for claim, volume in bindings)
        return _mean(shares, claims), ()

    def of_sizes(self, request: int, sizes: NDArray[np.float64]) -> Integers:
        """Return, by row, the score of one claim by the size of its volume; infinity: there is none."""
        return np.floor(100.0 * request / np.maximum(sizes, 1.0)).astype(np.int64)

    def of_rooms(self, of_class: Sequence[tuple[int, Integers]], size: int) -> Integers:
        """Return, by row, the score of nodes where all claims would be provisioned."""
        return np.zeros(size, np.int64)


@attrs.frozen
class ShapePoint:
    """One point of a scoring function's shape: how many points, 0 to 10, a class gets at a utilisation in percent."""

    utilization: int = 0
    score: int = 0


DEFAULT_SHAPE = (ShapePoint(0, MAX_SCORE), ShapePoint(MAX_UTILIZATION, 0))
"""v1.36.2's: the emptiest is best."""


@attrs.frozen
class CapacityShape:
    """Scores utilisation, 100·requested/capacity, by a shape: the mean over the classes of the volumes (v1.36.2).

    On a node with static bindings only those count: requests and capacities are summed by class. On any other node the
    requests of a class are compared with the room published there; claims without published room do not count.
    Mirrors volumebinding's `scorer.go` and the broken linear function of the scheduler's `shape_score.go`, whose
    divisions truncate.
    """

    reads_room: ClassVar[bool] = True
    shape: tuple[ShapePoint, ...] = DEFAULT_SHAPE

    def judge(self, bindings: Sequence[Binding], provisions: Iterable[Provision], _claims: int) -> tuple[int, Shares]:
        """Return the score of a node, and the share of each class in it; the room of a class is its last claim's."""
        of_class: dict[str, tuple[int, int]] = {}
        for claim, volume in bindings:
            name = volume.spec.storage_class_name
            requested, capacity = of_class.get(name, (0, 0))
            of_class[name] = requested + volumes.requested(claim), capacity + volumes.capacity(volume)
        for claim, room in () if bindings else provisions:
            if room is not None:
                name = volumes.class_of_claim(claim)
                of_class[name] = of_class.get(name, (0, 0))[0] + volumes.requested(claim), room
        shares = tuple(ClassShare(name, *sizes, self.points(*sizes)) for name, sizes in of_class.items())
        return _mean(sum(share.points for share in shares), len(shares)), shares

    def of_sizes(self, request: int, sizes: NDArray[np.float64]) -> Integers:
        """Return, by row, the score of one claim by the size of its volume; infinity: there is none, and no score."""
        return self._by_row(request, np.where(np.isinf(sizes), 0, sizes).astype(np.int64))

    def of_rooms(self, of_class: Sequence[tuple[int, Integers]], size: int) -> Integers:
        """Return, by row, the score of nodes where all claims would be provisioned; a class is (requested, room)."""
        total: Integers = np.zeros(size, np.int64)
        count: Integers = np.zeros(size, np.int64)
        for requested, room in of_class:
            published = room >= 0
            total += np.where(published, self._by_row(requested, room), 0)
            count += published
        return (2 * total + count) // np.maximum(2 * count, 1)

    def _by_row(self, requested: int, capacities: Integers) -> Integers:
        """Return, by row, the points of one class by its capacity."""
        if requested > EXACT_PERCENT:
            return np.array([self.points(requested, each) for each in capacities.tolist()], np.int64)
        full = (capacities == 0) | (capacities < requested)
        used = np.where(full, MAX_UTILIZATION, MAX_UTILIZATION * max(requested, 0) // np.maximum(capacities, 1))
        return np.array(_points_of(self.shape), np.int64)[used]

    def points(self, requested: int, capacity: int) -> int:
        """Return the points, 0 to 100, of one class."""
        full = capacity == 0 or requested > capacity
        return _points_of(self.shape)[MAX_UTILIZATION if full else MAX_UTILIZATION * max(requested, 0) // capacity]


@cache
def _points_of(shape: tuple[ShapePoint, ...]) -> tuple[int, ...]:
    """Return the points, 0 to 100, that a shape has at each utilisation from 0 to 100: lines between its own points."""
    return tuple(_points_at(shape, utilization) for utilization in range(MAX_UTILIZATION + 1))


def _points_at(shape: tuple[ShapePoint, ...], utilization: int) -> int:
    before = shape[0]
    if utilization <= before.utilization:
        return before.score * 10
    for point in shape[1:]:
        if utilization <= point.utilization:
            rise = 10 * (point.score - before.score) * (utilization - before.utilization)
            run = point.utilization - before.utilization
            return before.score * 10 + (rise // run if rise >= 0 else -(-rise // run))  # the division truncates
        before = point
    return before.score * 10


VolumeScoring = SizeMatch | CapacityShape


def _mean(total: int, count: int) -> int:
    return (2 * total + count) // (2 * count) if count else 0  # half is rounded up


def read_shape(points: Iterable[Any]) -> tuple[ShapePoint, ...]:
    """Return a shape from points as in VolumeBindingArgs, `{"utilization": 0, "score": 10}`; what is left out is 0.

    Raises:
        ValueError: a point has another field, or a value that is no whole number.
    """
    read: list[ShapePoint] = []
    for index, point in enumerate(points):
        path = f"shape[{index}]"
        if not hasattr(point, "items"):
            raise ValueError(f"{path}: Invalid value: {point!r}: must be a mapping of utilization and score")
        unknown = [name for name in point if name not in ("utilization", "score")]
        if unknown:
            raise ValueError(f'strict decoding error: unknown field "{path}.{unknown[0]}"')
        wrong = [name for name, each in point.items() if isinstance(each, bool) or not isinstance(each, int)]
        if wrong:
            raise ValueError(f"{path}.{wrong[0]}: Invalid value: {point[wrong[0]]!r}: must be a whole number")
        read.append(ShapePoint(**point))
    return tuple(read)


def check_shape(shape: tuple[ShapePoint, ...], *, gate: bool) -> None:
    """Check a shape as kube-scheduler does when it starts.

    Mirrors `ValidateVolumeBindingArgsWithOptions` (v1.36.2).

    Raises:
        ValueError: the gate is off, or the shape is none; all faults with their paths, in Kubernetes' words.
    """
    found = [*_shape_faults(shape)] if gate else [FieldError("shape", "Invalid", shape, UNEXPECTED_SHAPE)]
    if found:
        words = ", ".join(map(str, found))
        raise ValueError(words if len(found) == 1 else f"[{words}]")


def _shape_faults(shape: tuple[ShapePoint, ...]) -> FieldErrors:
    if not shape:
        yield FieldError("shape", "Required", detail="at least one point must be specified")
    for index in range(1, len(shape)):
        if shape[index - 1].utilization >= shape[index].utilization:
            words = "values must be sorted in increasing order"
            yield FieldError(f"shape[{index}].utilization", "Invalid", shape[index].utilization, words)
            break
    for index, point in enumerate(shape):
        for field, value, most in (("utilization", point.utilization, MAX_UTILIZATION),
                                   ("score", point.score, MAX_SCORE)):  # fmt: skip
            if not 0 <= value <= most:
                words = f"not in valid range [0, {most}]"
                yield FieldError(f"shape[{index}].{field}", "Invalid", value, words)

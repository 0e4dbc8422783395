"""The machines that the cloud runs for each node group, and those that it has begun to make.

They are notes of the world, not of the autoscaler: a cloud forgets nothing when the autoscaler crashes.
"""

import attrs

from kvolsched.world.digest import DIGEST_WAIT
from kvolsched.world.log import Log, Note


@attrs.frozen
class Machine:
    """A machine of a group: its name, when it registers its node or is given up, and whether it has registered."""

    name: str
    ready_at: float = attrs.field(metadata=DIGEST_WAIT)
    given_up_at: float = attrs.field(metadata=DIGEST_WAIT)
    registered: bool = False


def machines_of(log: Log, group: str) -> tuple[Machine, ...]:
    """Return the machines of a group, in the order of their requests."""
    found: tuple[Machine, ...] = log.notes.get(Note("world", "machines", group), ())
    return found


def made_so_far(log: Log, group: str) -> int:
    """Return how many machines of a group have ever been requested."""
    count: int = log.notes.get(Note("world", "machine count", group), 0)
    return count


def request(log: Log, group: str, count: int, ready_at: float, given_up_at: float) -> tuple[Machine, ...]:
    """Have the cloud make machines of a group; their numbers go on where earlier ones ended."""
    begun = made_so_far(log, group)
    made = tuple(Machine(f"{group}-{begun + number}", ready_at, given_up_at) for number in range(1, count + 1))
    log.write(Note("world", "machine count", group), begun + count)
    _write(log, group, (*machines_of(log, group), *made))
    return made


def register(log: Log, group: str, name: str) -> None:
    """Note that a machine has registered its node."""
    _write(log, group, tuple(attrs.evolve(machine, registered=True) if machine.name == name else machine
                             for machine in machines_of(log, group)))


def remove(log: Log, group: str, name: str) -> None:
    """Note that a machine is gone."""
    left = tuple(machine for machine in machines_of(log, group) if machine.name != name)
    if left != machines_of(log, group):
        _write(log, group, left)


def _write(log: Log, group: str, machines: tuple[Machine, ...]) -> None:
    log.write(Note("world", "machines", group), machines or None)

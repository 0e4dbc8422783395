"""The cloud: the machines of each node group, begun or running, and the routine in which they register their nodes.

Machines are notes of the world, not of the autoscaler: a cloud forgets nothing when the autoscaler crashes; the routine
is woken again for each machine.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from kvolsched.world.apiserver import CommittedWrite, Write
from kvolsched.world.component import TurnContext
from kvolsched.world.digest import DIGEST_WAIT
from kvolsched.world.log import Key, Log, Note
from kvolsched.world.plan import PlanBuilder, report_done, report_refused
from kvolsched.world.reconciler import Backoff, Reconciler

from .options import AutoscalerOptions, NodeGroup


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


CLOUD = "node groups"  # the name of the routine
REGISTRATION = Backoff.per_cause(0.1, 7.0)  # of a kubelet that cannot register its node


def registering(options: AutoscalerOptions) -> Reconciler:
    """Return the routine in which machines register."""
    to_wake, sync = partial(_to_wake, options), partial(_register, options)
    return Reconciler(CLOUD, to_wake, sync, report_refused, partial(_on_registered, options), REGISTRATION)


def _group_of(ctx: TurnContext, options: AutoscalerOptions, name: str) -> NodeGroup | None:
    for group in options.groups:
        if any(machine.name == name for machine in machines_of(ctx.sim.log, group.name)):
            return group
    return None


def _to_wake(options: AutoscalerOptions, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
    """Let each machine that is being made register in time, also after a crash; drop one whose node was deleted."""
    if key.kind == "Node" and new is None:
        for group in options.groups:
            remove(ctx.sim.log, group.name, key.name)
    busy = {*ctx.process.work_queues[CLOUD].items, *ctx.process.plans[CLOUD].items}
    for group in options.groups:
        for machine in machines_of(ctx.sim.log, group.name):
            asleep = ctx.note("wake", f"{CLOUD}|{machine.name}") is not None
            if not machine.registered and machine.name not in busy and not asleep:
                ctx.wake_after(machine.name, max(0.0, machine.ready_at - ctx.now))
    yield from ()


def _register(options: AutoscalerOptions, ctx: TurnContext, name: str) -> Sequence[Write]:
    """Create the Node of a machine that is there, and its CSINode."""
    group = _group_of(ctx, options, name)
    if group is None:
        return ()
    if group.stock is not None and sum(each.registered for each in machines_of(ctx.sim.log, group.name)) >= group.stock:
        return ()
    plan = PlanBuilder(ctx, CLOUD)
    for obj in group.registered(name):
        if ctx.seen.at(Key(obj.kind, "", name)) is None:
            plan.create(obj, f"a new machine of group {group.name} registers {obj.kind} {name}")
    if not plan.writes:
        register(ctx.sim.log, group.name, name)
    return plan.writes


def _on_registered(options: AutoscalerOptions, ctx: TurnContext, name: str, done: CommittedWrite, *,
                   last: bool) -> None:
    group = _group_of(ctx, options, name)
    if last and group is not None:
        register(ctx.sim.log, group.name, name)
    report_done(ctx, name, done, last=last)

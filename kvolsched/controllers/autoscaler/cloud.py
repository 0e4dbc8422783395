"""The cloud: the routine in which machines register their nodes when they are there.

A request is a note of the world, so it survives a crash of the autoscaler; the routine is woken again for each machine.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from kvolsched.world.apiserver import CommittedWrite, Write
from kvolsched.world.component import TurnContext
from kvolsched.world.log import Key
from kvolsched.world.plan import PlanBuilder, report_done, report_refused
from kvolsched.world.reconciler import Backoff, Reconciler

from . import machines
from .options import AutoscalerOptions, NodeGroup

CLOUD = "node groups"  # the name of the routine
REGISTRATION = Backoff.per_cause(0.1, 7.0)  # of a kubelet that cannot register its node


def registering(options: AutoscalerOptions) -> Reconciler:
    """Return the routine in which machines register."""
    to_wake, register = partial(_to_wake, options), partial(_register, options)
    return Reconciler(CLOUD, to_wake, register, report_refused, partial(_on_registered, options), REGISTRATION)


def _group_of(ctx: TurnContext, options: AutoscalerOptions, name: str) -> NodeGroup | None:
    for group in options.groups:
        if any(machine.name == name for machine in machines.machines_of(ctx.sim.log, group.name)):
            return group
    return None


def _to_wake(options: AutoscalerOptions, ctx: TurnContext, key: Key, _old: Any, new: Any) -> Iterator[str]:
    """Let each machine that is being made register in time, also after a crash; drop one whose node was deleted."""
    if key.kind == "Node" and new is None:
        for group in options.groups:
            machines.remove(ctx.sim.log, group.name, key.name)
    busy = {*ctx.process.work_queues[CLOUD].items, *ctx.process.plans[CLOUD].items}
    for group in options.groups:
        for machine in machines.machines_of(ctx.sim.log, group.name):
            asleep = ctx.note("wake", f"{CLOUD}|{machine.name}") is not None
            if not machine.registered and machine.name not in busy and not asleep:
                ctx.wake_after(machine.name, max(0.0, machine.ready_at - ctx.now))
    yield from ()


def _register(options: AutoscalerOptions, ctx: TurnContext, name: str) -> Sequence[Write]:
    """Create the Node of a machine that is there, and its CSINode."""
    group = _group_of(ctx, options, name)
    if group is None or not _has_stock(ctx, group):
        return ()
    plan = PlanBuilder(ctx, CLOUD)
    for obj in group.registered(name):
        if ctx.seen.at(Key(obj.kind, "", name)) is None:
            plan.create(obj, f"a new machine of group {group.name} registers {obj.kind} {name}")
    if not plan.writes:
        machines.register(ctx.sim.log, group.name, name)
    return plan.writes


def _has_stock(ctx: TurnContext, group: NodeGroup) -> bool:
    running = sum(machine.registered for machine in machines.machines_of(ctx.sim.log, group.name))
    return group.stock is None or running < group.stock


def _on_registered(options: AutoscalerOptions, ctx: TurnContext, name: str, done: CommittedWrite, *,
                   last: bool) -> None:
    group = _group_of(ctx, options, name)
    if last and group is not None:
        machines.register(ctx.sim.log, group.name, name)
    report_done(ctx, name, done, last=last)

"""A scheduler extender in the PV controller, on several masters (S0, Packaging and Extender cons, rejected)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...controllers import persistent_volume
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.extension_points import ColumnContext
from ...scheduler.framework.profile import derived
from ...scheduler.framework.verdict import OK, Ok
from ...scheduler.loop.assume_cache import KINDS
from ...scheduler.loop.scheduling_cycle import SCHEDULER
from ...scheduler.plugins.volume_binding import VolumeBinding
from ...world.component import Component, TurnContext
from ...world.log import Key
from ...world.runtime import Runtime
from ...world.view import InformerCache, View
from ..named import revision_named
from ..revision import Revision
from . import extender_sides as sides
from .building import Rearranged, based_on, judging_by

ELECTION = "leader-election"
RENEWAL = 15.0  # seconds between two renewals of a lease
RESYNC = 15.0


def extender(
    base: str | Revision = "design", *, masters: int = 2, address: str = "master-1", stable_name: str = "",
    authorised: bool = True, loses: int = 6,
) -> Revision:  # fmt: skip
    """Return rules in which predicate and binding of volumes are a scheduler extender inside the PV controller.

    Scheduler and PV controller share one cache, which the library, chosen instead, cannot offer: it has two, and more
    races. S0 (Packaging, Extender cons) rejects it for what it needs: the scheduler is configured with an address, and
    the active PV controller may be on any master and move at any time; so a stable name, authorization, and more.
    Questions and answers are notes, each in a turn of its own; a lease says on which master the controller is active.

    Args:
        base: the revision whose other rules hold.
        masters: how many masters there are; which one gets the lease is drawn.
        address: the master that the scheduler calls.
        stable_name: a name that always leads to the active controller.
        authorised: whether the scheduler's calls are accepted.
        loses: at each renewal, every 15 s, the lease is lost with a chance of one in so many; 0: never.

    >>> from kvolsched import scenario
    >>> c = scenario("two-masters", "extender", seed=3)
    >>> c.run("pod/db-0 Running", seconds=60).ended
    '60 s of simulated time are over'
    >>> c["pod/db-0"].status.condition("PodScheduled").message
    'Post "http://master-1/filter": dial tcp: connect: connection refused'
    """
    rules = revision_named(base)
    old, network = rules.flow, sides.Network(address, stable_name, authorised)
    flow = sides.ExtenderFlow(
        old.volume_binding, old.options, resync=RESYNC, volume_rule=old.volume_rule,
        errors_are_verdicts=old.errors_are_verdicts, network=network,
    )  # fmt: skip
    profile = rules.profile.replacing(derived(old.volume_binding, AskedElsewhere))
    names = tuple(f"master-{number + 1}" for number in range(masters))
    arranged = OnMasters(names, rules.profile.watches, flow, loses)
    return based_on(rules, "extender", profile=profile, flow=flow, arrange=arranged)


@attrs.frozen
class AskedElsewhere(VolumeBinding):
    """Passes every node: the extender is asked. It declares the events that may make a pod schedulable."""

    def prefilter(self, pod: Pod, seen: Snapshot) -> None:
        """Ask nothing."""

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok:
        """Pass the node."""
        return OK

    def column(self, pod: Pod, columns: ColumnContext) -> None:
        """Pass every node."""

    def score(self, pod: Pod, columns: ColumnContext) -> None:
        """Prefer no node."""


@attrs.frozen
class LeaderElection:
    """Deals the lease of the controllers among masters, and deals it anew when its holder fails to renew it."""

    masters: tuple[str, ...]  # their names
    loses: int  # one in so many renewals fails; 0: none
    name: str = ELECTION

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Ignore changes."""

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Renew the lease when it is due."""
        ctx.enqueue(name)

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """Deal the lease if nobody has it; else renew it when that is due."""
        if sides.LEASE not in ctx.sim.log.notes:
            return ((0, "deal"),)
        return ctx.process.work_queues[self.name].next(every=every)

    def act(self, ctx: TurnContext, cause: str) -> bool:
        """Deal or renew the lease; a process that loses it exits, and forgets everything."""
        lease: sides.Lease | None = ctx.sim.log.notes.get(sides.LEASE)
        ctx.dequeue(cause)
        if lease is None:
            self._deal(ctx, self.masters, 0)
        elif self.loses and len(self.masters) > 1 and not ctx.draw("renewal", lease.holder, self.loses, int(ctx.now)):
            world = ctx.sim
            assert isinstance(world, Runtime)
            world.drop_notes(world.processes[sides.component_on(lease.holder)])
            self._deal(ctx, tuple(each for each in self.masters if each != lease.holder), lease.number + 1)
        if self.loses:
            ctx.wake_after("renew", RENEWAL, periodic=True)
        return False

    @staticmethod
    def _deal(ctx: TurnContext, masters: tuple[str, ...], number: int) -> None:
        holder = masters[ctx.draw("lease", "kube-controller-manager", len(masters), number)]
        ctx.sim.log.write(sides.LEASE, sides.Lease(holder, number))
        ctx.describe(f"the controllers' lease goes to {holder}")


@attrs.frozen
class OnMasters:
    """Runs the PV controller with its extender on each master, and a scheduler that calls it."""

    masters: tuple[str, ...]
    watches: tuple[str, ...]
    flow: sides.ExtenderFlow
    loses: int

    def __call__(self, components: Iterable[Component]) -> list[Component]:
        """Return the components with these in the place of scheduler and PV controller."""
        judging = judging_by(sides.ExtenderPass, network=self.flow.network)
        asking = Rearranged(SCHEDULER, (), (sides.BindAnswers(self.flow),), sides.scheduler_views, judging)
        found: list[Component] = [Component(ELECTION, (), (LeaderElection(self.masters, self.loses),))]
        for each in asking(components):
            is_controller = each.name == persistent_volume.NAME
            found += [self._on(master, each) for master in self.masters] if is_controller else [each]
        return found

    def _on(self, master: str, controller: Component) -> Component:
        endpoint = sides.Endpoint(self.flow.volume_binding, self.flow.options, self.flow.volume_rule)

        def views(seen: InformerCache) -> Mapping[str, View]:
            return {**controller.views(seen), **endpoint.views(seen)}

        return attrs.evolve(
            controller, name=sides.component_on(master), actors=(*controller.actors, endpoint.routine()), views=views,
            watches=tuple(dict.fromkeys((*controller.watches, *KINDS, *self.watches))),
            activation=lambda: sides.HoldsLease(master),
        )

"""Timing of a replayed trace: which component writes next, and when.

Default order: watching and deciding take no time, every write takes one millisecond, and the component that has waited
longest writes first. Races (a faster worker, a late informer, a conflicting write) are given, or drawn from a seed.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

import attrs

from kvolsched.controllers import kubelet
from kvolsched.scheduler.loop.binding_flow import WORKER
from kvolsched.scheduler.loop.scheduling_cycle import SCHEDULER
from kvolsched.world.apiserver import CLOCK
from kvolsched.world.component import Actor, Process, TurnContext, seeded_draw
from kvolsched.world.history import Turn
from kvolsched.world.simulation import Simulation

PARALLEL_WORKERS = (kubelet.NAME, WORKER)  # actors that process causes in parallel, as drivers do
WRITE_SECONDS = 0.001  # simulated seconds of a write
CHANCE_PERCENTS = (0, 4, 15, 50)  # how often a draw deviates from the default order
DELAYS = (10, 25, 60)  # delays of a watch, in log entries


@attrs.frozen(kw_only=True)
class TimingDraws:
    """Timing that a recording leaves open: given, or drawn from a seed.

    Args:
        seed: draws whatever is not given; 0: the default order.
        tie_seed: the seed of the cluster, which breaks ties; None: `seed`.
        phase: when the user starts, in seconds, relative to periodic timers.
        hurried: the user writes all objects of a step without waiting for other components.
        starting: seconds that a process needs to start.
        lags: `COMPONENT KIND` -> how many log entries late that component sees objects of the kind.
        conflicts: component -> which of its writes are refused as conflicts, each counted from the previous one.
    """

    seed: int = 0
    tie_seed: int | None = None
    phase: float | None = None
    hurried: bool = False
    starting: float | None = None
    lags: Mapping[str, int] = attrs.field(factory=dict)
    conflicts: Mapping[str, Sequence[int]] = attrs.field(factory=dict)


class TraceClock:
    """Advances a world write by write. Mutable.

    Between calls only user writes may change the world. `drivers` are names of the components that are CSI drivers.
    """

    def __init__(self, world: Simulation, drivers: Collection[str], timing: TimingDraws) -> None:
        self.world, self.drivers, self.timing = world, drivers, timing
        self.stopped: set[str] = set()  # names of stopped components
        self.acted: dict[tuple[str, str, str], int] = {}  # log position of the last write of each actor
        self.moments = [0]  # log positions at which changes were delivered
        for component, nth in ((name, nth) for name, every in timing.conflicts.items() for nth in every):
            world.refuse(component, nth)

    def until(self, moment: float) -> None:
        """Run the world up to a time."""
        while True:
            turn = self._next()
            if turn is not None:
                self._take(*turn)
                continue
            wakes = self.wakes()
            with self.world.transaction():
                self.world.log.write(CLOCK, max(self.world.now, min([moment, *wakes])))
            if not wakes or min(wakes) > moment:
                return

    def wakes(self) -> list[float]:
        """Return the times of all pending timers."""
        return [wake.at for process in self._running() for wake in process.wake_ups.items.values()]

    def let_time_pass(self) -> None:
        """Run the actors that have waited longer than the user's last write."""
        mine = self.world.place
        hurried, patient = self.timing.hurried or self._deviates("hurried"), self._deviates("patient")
        while not hurried and (turn := self._next(before=None if patient else mine)) is not None:
            self._take(*turn)

    # -- draws ----------------------------------------------------------------------------------------------------

    def draw(self, purpose: str, among: int, where: int | None = None) -> int:
        """Return a number below `among`, drawn at this log position (or at `where`)."""
        return seeded_draw(self.timing.seed, purpose, str(self.world.place if where is None else where), 0, among)

    def timing_of(self, field: str, default: float, drawn: float) -> float:
        """Return the given timing; else the drawn value if there is a seed, else the default."""
        given: float | None = getattr(self.timing, field)
        return given if given is not None else drawn if self.timing.seed else default

    def _deviates(self, purpose: str, where: int | None = None) -> bool:
        """Return whether this draw deviates from the default order; the chance is drawn once per run."""
        seed = self.timing.seed
        chance = CHANCE_PERCENTS[seeded_draw(seed, purpose, "chance", 0, len(CHANCE_PERCENTS))] if seed else 0
        return bool(chance) and self.draw(purpose, 100, where) < chance

    # -- next write ----------------------------------------------------------------------------------------------

    def _next(self, before: int | None = None) -> tuple[Process, Actor, str] | None:
        """Deliver changes, run turns that need no write, and return (process, actor, cause) of the next write.

        Actors are considered that have waited since before this log position.
        """
        while (writers := self._writers()) is None or (not writers and self._see(everything=True)):
            pass
        writers = [each for each in writers if before is None or each[0] < before]
        if not writers:
            return None
        return writers[self.draw("who", len(writers)) if self._deviates("pace") else 0][3:]

    def _writers(self) -> list[tuple[int, bool, int, Process, Actor, str]] | None:
        """Return the actors that would write, longest waiting first; None after a turn without a write: call again."""
        self._see()
        with self.world.transaction() as step:
            found = [
                (self._since(process, actor, since, cause), process.name != SCHEDULER, lane, process, actor, cause)
                for lane, process in enumerate(self._running()) for actor in process.component.actors
                for since, cause in self._ready(process, actor)
            ]
            found.sort(key=lambda each: each[:3])
            for *_, process, actor, cause in found:
                start = self.world.place
                turn = self._turn(process, actor, cause)
                if not turn.outcomes:
                    step.add(turn)
                    return None
                self.world.log.seek(start)
                self.world.log.truncate()
        return found

    def _ready(self, process: Process, actor: Actor) -> Sequence[tuple[int, str]]:
        """Return the causes that an actor may process: all of them if it works in parallel."""
        if self._is_parallel(process, actor):
            return [*process.plans[actor.name].all(), *process.work_queues[actor.name].all()]
        return actor.ready_causes(TurnContext(self.world, process, actor))

    def _turn(self, process: Process, actor: Actor, cause: str) -> Turn:
        start = self.world.place
        ctx, more = self.world.act(process, actor, cause)
        return self.world.actor_turn(ctx, cause, start, goes_on=more)

    def _since(self, process: Process, actor: Actor, since: int, cause: str) -> int:
        """Return the log position since which an actor waits: the delivery, or its own later write."""
        delivered = self.moments[max(0, bisect_right(self.moments, since) - 1)]
        return max(delivered, self.acted.get(self._worker(process, actor, cause), 0))

    def _is_parallel(self, process: Process, actor: Actor) -> bool:
        return actor.name in PARALLEL_WORKERS or process.name in self.drivers

    def _worker(self, process: Process, actor: Actor, cause: str) -> tuple[str, str, str]:
        return process.name, actor.name, cause if self._is_parallel(process, actor) else ""

    def _see(self, *, everything: bool = False) -> bool:
        """Deliver pending changes except delayed ones; return whether anything was delivered."""
        start = self.world.place
        if start > self.moments[-1]:
            self.moments.append(start)
        with self.world.transaction():
            for process in self._running():
                kinds = [kind for kind in process.pending if everything or not self._late(process, kind)]
                self.world.deliver(process, kinds)
                self.world.fire_due_wake_ups(process)
        return self.world.place > start

    def _late(self, process: Process, kind: str) -> bool:
        """Return whether the oldest change of a kind is still delayed for a process."""
        word, first = f"{process.name} {kind}", process.pending[kind]
        delay = DELAYS[self.draw(word, len(DELAYS), first)] if self._deviates("late", first) else 0
        return self.world.place < first + max(delay, self.timing.lags.get(word, 0))

    def _running(self) -> list[Process]:
        return [each for each in self.world.processes.values() if each.name not in self.stopped]

    def _take(self, process: Process, actor: Actor, cause: str) -> None:
        with self.world.transaction() as step:
            turn = step.add(self._turn(process, actor, cause))
            while self._is_parallel_deletion(process, actor, cause, turn):
                turn = step.add(self._turn(process, actor, cause))
            self.world.log.write(CLOCK, self.world.now + WRITE_SECONDS)
        self._see()
        if not self._deviates("at once"):  # otherwise the actor continues at once
            self.acted[self._worker(process, actor, cause)] = self.world.place

    @staticmethod
    def _is_parallel_deletion(process: Process, actor: Actor, cause: str, turn: Turn) -> bool:
        """Return whether the next write is made in parallel: deletions of one cause are."""
        plan = process.plans[actor.name].items.get(cause)
        verbs = [write.verb for write in plan.writes[:1]] if plan is not None else []
        return verbs == ["delete"] == [outcome.write.verb for outcome in turn.outcomes]

"""Who goes first: a measure of time for a world in which nobody's thinking takes any.

The plain order: seeing and thinking take no time, every write takes as long as any other, and of those who would write
goes first who has waited longest. What else may come out one way or another (who is faster, who sees late, whose write
comes too late) is luck: told, or drawn from a seed.
"""

from __future__ import annotations

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

AT_ONCE = (kubelet.NAME, WORKER)  # who works at many things side by side, as drivers do; others do one after the other
WRITING = 0.001  # seconds that a write takes
CHANCES = (0, 4, 15, 50)  # in percent: how often luck strikes
LATE = (10, 25, 60)  # how many places of the log later something is seen


@attrs.frozen(kw_only=True)
class TimingDraws:
    """What a recording leaves to luck, drawn from a seed or told.

    Args:
        seed: what is not told is drawn from it; 0: the plain order.
        draws: the cluster's own seed, by which ties are drawn; None: as `seed`.
        phase: where the user begins, in seconds, between the ticks of the others.
        hurried: the user writes what it applies without waiting for its turn.
        starting: seconds that a process takes to start.
        lags: `COMPONENT KIND` -> how many places of the log later than others that process sees these objects.
        conflicts: component -> which of its writes come too late and are refused, each counted from the one before.
    """

    seed: int = 0
    draws: int | None = None
    phase: float | None = None
    hurried: bool = False
    starting: float | None = None
    lags: Mapping[str, int] = attrs.field(factory=dict)
    conflicts: Mapping[str, Sequence[int]] = attrs.field(factory=dict)


class TraceClock:
    """Lets a world go on, write by write. Mutable.

    Args:
        world: the world, which nothing else moves meanwhile but what a user writes.
        drivers: the components that are drivers.
        luck: what may come out one way or another.
    """

    def __init__(self, world: Simulation, drivers: Collection[str], luck: TimingDraws) -> None:
        self.world = world
        self.drivers = drivers
        self.luck = luck
        self.stopped: set[str] = set()  # processes that do not run
        self.acted: dict[tuple[str, str, str], int] = {}  # where each actor wrote last, and so waited until then
        self.moments = [0]  # where everybody was told what there was to see
        for component, nth in ((name, nth) for name, every in luck.conflicts.items() for nth in every):
            world.refuse(component, nth)

    def until(self, moment: float) -> None:
        """Let everything happen that happens up to a moment."""
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
        """Return the moments at which somebody wants to be woken."""
        return [wake.at for process in self._running() for wake in process.wake_ups.items.values()]

    def let_time_pass(self) -> None:
        """Let those act, after a write of the user, who have waited for longer than it."""
        mine = self.world.place
        hurried, patient = self.luck.hurried or self._lucky("hurried"), self._lucky("patient")
        while not hurried and (turn := self._next(before=None if patient else mine)) is not None:
            self._take(*turn)

    # -- luck -----------------------------------------------------------------------------------------------------

    def draw(self, purpose: str, among: int, where: int | None = None) -> int:
        """Return a number below `among`, drawn at this place of the log (or at `where`)."""
        return seeded_draw(self.luck.seed, purpose, str(self.world.place if where is None else where), 0, among)

    def told(self, word: str, plain: float, drawn: float) -> float:
        """Return what is told of luck; else what the plain order has, or, where there is a seed, what was drawn."""
        told: float | None = getattr(self.luck, word)
        return told if told is not None else drawn if self.luck.seed else plain

    def _lucky(self, purpose: str, where: int | None = None) -> bool:
        """Say whether something goes otherwise than in the plain order; how often it does is luck of the whole run."""
        chance = CHANCES[seeded_draw(self.luck.seed, purpose, "chance", 0, len(CHANCES))] if self.luck.seed else 0
        return bool(chance) and self.draw(purpose, 100, where) < chance

    # -- who goes next --------------------------------------------------------------------------------------------

    def _next(self, before: int | None = None) -> tuple[Process, Actor, str] | None:
        """Let everybody see and think, and return who makes the next write: in the plain order, or by luck.

        Args:
            before: only those who have waited since before this place.
        """
        while (writers := self._writers()) is None or (not writers and self._see(everything=True)):
            pass
        writers = [each for each in writers if before is None or each[0] < before]
        if not writers:
            return None
        return writers[self.draw("who", len(writers)) if self._lucky("pace") else 0][3:]

    def _writers(self) -> list[tuple[int, bool, int, Process, Actor, str]] | None:
        """Return who would write, longest waiting first; None where somebody did what needs no write: look again."""
        self._see()
        with self.world.transaction() as step:
            found = [
                (self._since(process, actor, since, cause), process.name != SCHEDULER, lane, process, actor, cause)
                for lane, process in enumerate(self._running())
                for actor in process.component.actors
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
        """List what an actor may take up: one thing after the other, or all at once."""
        if self._side_by_side(process, actor):
            return [*process.plans[actor.name].all(), *process.work_queues[actor.name].all()]
        return actor.ready_causes(TurnContext(self.world, process, actor))

    def _turn(self, process: Process, actor: Actor, cause: str) -> Turn:
        start = self.world.place
        ctx, more = self.world.act(process, actor, cause)
        return self.world.actor_turn(ctx, cause, start, goes_on=more)

    def _since(self, process: Process, actor: Actor, since: int, cause: str) -> int:
        """Return since when a writer waits: it was told at the same time as all others, or wrote later than that."""
        told = self.moments[max(0, bisect_right(self.moments, since) - 1)]
        return max(told, self.acted.get(self._worker(process, actor, cause), 0))

    def _side_by_side(self, process: Process, actor: Actor) -> bool:
        return actor.name in AT_ONCE or process.name in self.drivers

    def _worker(self, process: Process, actor: Actor, cause: str) -> tuple[str, str, str]:
        return process.name, actor.name, cause if self._side_by_side(process, actor) else ""

    def _see(self, *, everything: bool = False) -> bool:
        """Let everybody see what there is; by luck some kinds of object are seen later. Say whether anything was."""
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
        """Say whether a change is still on its way to a process: how long it takes is luck, in places of the log."""
        word, first = f"{process.name} {kind}", process.pending[kind]
        delay = LATE[self.draw(word, len(LATE), first)] if self._lucky("late", first) else 0
        return self.world.place < first + max(delay, self.luck.lags.get(word, 0))

    def _running(self) -> list[Process]:
        return [each for each in self.world.processes.values() if each.name not in self.stopped]

    def _take(self, process: Process, actor: Actor, cause: str) -> None:
        """Let one write be made; whoever made it makes the next one after those who are told of this one."""
        with self.world.transaction() as step:
            turn = step.add(self._turn(process, actor, cause))
            while self._goes_along(process, actor, cause, turn):
                turn = step.add(self._turn(process, actor, cause))
            self.world.log.write(CLOCK, self.world.now + WRITING)
        self._see()
        if not self._lucky("at once"):  # else its answer is so fast that many writes go together
            self.acted[self._worker(process, actor, cause)] = self.world.place

    @staticmethod
    def _goes_along(process: Process, actor: Actor, cause: str, turn: Turn) -> bool:
        """Say whether an actor's next write does not await this one: what goes together is deleted side by side."""
        plan = process.plans[actor.name].items.get(cause)
        verbs = [write.verb for write in plan.writes[:1]] if plan is not None else []
        return verbs == ["delete"] == [outcome.write.verb for outcome in turn.outcomes]


__all__ = ["TimingDraws", "TraceClock"]

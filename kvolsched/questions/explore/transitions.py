"""The transition system of a world: which transitions are enabled, and how one is executed.

A transition is: a component sees, an actor acts, a wake-up rings, time passes, or a chosen fault strikes. The search
and the replay execute transitions by one code, so a trace that was found can be replayed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from ...controllers import kubelet
from ...core.node_faults import chosen_nodes, stopping
from ...world.apiserver import CLOCK, CommittedWrite, Write
from ...world.component import WORLD, Actor, Process, TurnContext
from ...world.log import Note
from ...world.outage import API_SERVER, first_return, is_out
from ...world.simulation import Simulation
from .searched import SearchedObjects


@attrs.frozen
class Refuse:
    """A fault: the API server refuses a write of this component, at most `times` times."""

    component: str
    reason: str = "Conflict"
    times: int = 1

    def __str__(self) -> str:
        return f"the API server refuses a write of {self.component} with {self.reason}, {_times_text(self.times)}"


@attrs.frozen
class Crash:
    """A fault: this component crashes and restarts, at most `times` times; `parts` are those of a process of many."""

    component: str
    times: int = 1
    parts: tuple[str, ...] = attrs.field(default=(), eq=False, repr=False)

    def __str__(self) -> str:
        return f"{self.component} crashes, {_times_text(self.times)}"


ActWrite = Write | Callable[[SearchedObjects], Write | None]


def _as_tuple(writes: Iterable[ActWrite]) -> tuple[ActWrite, ...]:
    return tuple(writes)


@attrs.frozen
class UserAct:
    """A fault: a user makes these writes in their order, each at any moment or never.

    A write is one of `kvolsched.writes`, such as `delete("pod/web-0")`. It may be a function that returns it, or None
    while it is not possible; it is told the objects as a cluster has them (`c["pod/web-0"]`, `c.objects("pods")`).
    """

    words: str
    writes: tuple[ActWrite, ...] = attrs.field(converter=_as_tuple)
    component: str = "user"

    @property
    def times(self) -> int:
        """The number of writes."""
        return len(self.writes)

    def __str__(self) -> str:
        return self.words


@attrs.frozen
class StopNodes:
    """A fault: the kubelets of these nodes, by name or label selector, answer nobody from some moment on."""

    which: str
    component: str = kubelet.NAME
    times: int = 1

    def __str__(self) -> str:
        return f"the nodes {self.which} stop"


ChosenFault = Refuse | Crash | UserAct | StopNodes
FaultCounts = tuple[int, ...]


@attrs.frozen
class Transition:
    """One transition: a value that `TransitionSystem.execute` carries out.

    Args:
        kind: see, act, ring, time or fault.
        component: the component that sees, acts, rings or is hit.
        actor: the actor that acts.
        cause: the cause that it acts on, or the name of the wake-up.
        kinds: the kinds that are seen; None for all.
        choices: the outcomes of draws.
        fault: the index of the chosen fault that strikes; -1 for none.
    """

    kind: str
    component: str = ""
    actor: str = ""
    cause: str = ""
    kinds: tuple[str, ...] | None = None
    choices: tuple[int, ...] = ()
    fault: int = -1


class NotEnabledError(Exception):
    """The transition is not enabled: its fault meets no write."""


class TransitionSystem:
    """The transitions of one world under chosen faults, lag and clock. Mutable: it changes the world.

    Args:
        sim: the world, usually a fork.
        faults: the faults that may strike.
        lag: "ordered" (a component sees every change up to some place), "per kind" (each kind up to another place) or
            "none" (every component sees every write at once).
        clock: "idle" (time passes only when nothing else is enabled) or "free" (any wake-up may ring at any moment).
        components: names of the components that act; None for all.
        eager, idle: the reductions that are on (see `run_urgent`).
    """

    def __init__(
        self,
        sim: Simulation,
        faults: Sequence[ChosenFault] = (),
        *,
        lag: str,
        clock: str,
        components: Sequence[str] | None,
        eager: bool,
        idle: bool,
    ) -> None:
        self.sim = sim
        self.faults = tuple(faults)
        self.lag = lag
        self.clock = clock
        self.processes = [p for name, p in sim.processes.items() if components is None or name in components]
        self.eager = eager
        self.idle = idle
        self.draw_sizes: list[int] = []
        self._choices: tuple[int, ...] = ()
        self.ctx: TurnContext | None = None
        self.continues = False
        self.words = ""
        self._known_idle: dict[Any, bool] = {}
        sim.chooser = self._choose

    def enabled(self) -> list[Transition]:
        """Return the enabled transitions, without faults and periodic wake-ups."""
        found = [transition for process in self.processes for transition in self.enabled_of(process)]
        if not found and self._next_wake() is not None:
            return [Transition("time")]
        return found

    def enabled_of(self, process: Process) -> list[Transition]:
        """Return the enabled transitions of one component: they follow from its local state, in an order of names."""
        if not process.watching or self.sim.is_delayed(process):
            return []
        name = process.name
        found: list[Transition] = []
        if process.pending and self.lag != "none" and not is_out(self.sim.log.notes, API_SERVER):
            if self.lag == "ordered":
                found.append(Transition("see", name))
            else:
                found += [Transition("see", name, kinds=(kind,)) for kind in process.cursors if kind in process.pending]
        found += [Transition("ring", name, cause=wake) for wake in self._wakes(process)]
        for actor in process.component.actors:
            ctx = self.sim.read_only_context(process, actor)
            causes = sorted(cause for _, cause in actor.ready_causes(ctx, every=True))
            found += [Transition("act", name, actor.name, cause) for cause in causes]
        return found

    def periodic_wakeups(self) -> list[Transition]:
        """Return the periodic wake-ups, which come when nothing else is enabled, in any order."""
        return [
            Transition("ring", process.name, cause=name)
            for process in self.processes
            for name, wake in sorted(process.wake_ups.items.items())
            if wake.periodic and not self.sim.is_delayed(process)
        ]

    def possible_faults(self, fault_counts: FaultCounts) -> Iterator[Transition]:
        """Yield the crashes and user acts that may happen now; refusals belong to an act."""
        for number, fault in enumerate(self.faults):
            if fault_counts[number] < fault.times and not isinstance(fault, Refuse):
                yield Transition("fault", fault.component, fault=number)

    def refusals(self, transition: Transition, fault_counts: FaultCounts) -> Iterator[Transition]:
        """Yield the variants of an act that has just written in which its write is refused."""
        for number, fault in enumerate(self.faults):
            left = fault_counts[number] < fault.times
            if left and isinstance(fault, Refuse) and fault.component == transition.component:
                yield attrs.evolve(transition, fault=number)

    def other_draws(self, transition: Transition) -> Iterator[Transition]:
        """Yield the variants of the last transition with other outcomes of its new draws."""
        choices = transition.choices + (0,) * (len(self.draw_sizes) - len(transition.choices))
        for place in range(len(transition.choices), len(choices)):
            for other in range(1, self.draw_sizes[place]):
                yield attrs.evolve(transition, choices=(*choices[:place], other))

    def _next_wake(self) -> float | None:
        """Return the time of the next wake-up that is not periodic, or of the API server's return, or None."""
        acting = (process for process in self.processes if not self.sim.is_delayed(process))
        wakes = (wake for process in acting for wake in process.wake_ups.items.values())
        times = [wake.at for wake in wakes if not wake.periodic]
        returns = first_return(self.sim.log.notes, self.sim.processes)
        return min(times if returns is None else [*times, returns], default=None)

    def _wakes(self, process: Process) -> list[str]:
        wakes = process.wake_ups.items
        if not wakes:
            return []
        now = self.sim.now
        return sorted(n for n, w in wakes.items() if not w.periodic and (self.clock == "free" or w.at <= now))

    def execute(self, transition: Transition, fault_counts: FaultCounts) -> FaultCounts:
        """Execute one transition and return how often each fault has struck.

        Raises:
            NotEnabledError: the fault of the transition meets no write.
        """
        sim = self.sim
        self.ctx, self.continues, self.draw_sizes, self._choices = None, False, [], transition.choices
        match transition.kind:
            case "see":
                sim.deliver(sim.processes[transition.component], transition.kinds)
                self.words = f"{transition.component} sees {', '.join(transition.kinds or ()) or 'all changes'}"
            case "ring":
                wake = sim.processes[transition.component].wake_ups.items[transition.cause]
                if wake.periodic and wake.at > sim.now:
                    sim.set_clock(wake.at)
                sim.fire_wake_up(sim.processes[transition.component], transition.cause)
                self.words = f"a wake-up of {transition.component} rings: {transition.cause.replace('|', ' ')}"
            case "time":
                sim.set_clock(max(self._next_wake() or sim.now, sim.now))
                self.words = f"t = {sim.now:g} s"
            case "act":
                self._act(transition)
            case _:
                self._strike(transition, fault_counts)
        return self.counts_after(transition, fault_counts)

    @staticmethod
    def counts_after(transition: Transition, fault_counts: FaultCounts) -> FaultCounts:
        """Return how often each fault has struck after a transition."""
        struck = transition.fault
        if struck < 0:
            return fault_counts
        return (*fault_counts[:struck], fault_counts[struck] + 1, *fault_counts[struck + 1 :])

    def run_urgent(self, since: int | None = None) -> None:
        """Execute the transitions that need no choice as part of the one before them (partial-order reduction).

        `since` is the place where that transition began; None if there was none.

        `eager`: a component without work and wake-ups sees changes at once (without lag every component does). It
        cannot act before it sees, and by seeing again it can still do what a later look would allow. Only skipped
        versions are lost: an object that came and went, or two changes seen as one; an unbroken watch skips none.
        With lag per kind this holds only for components that watch one kind: others may see another kind first.

        `idle`: a reconcile that finds no work runs at once, since it changes nothing that others see. If it were
        postponed until its component has seen more, it might find work; but then the new changes queue its cause
        again, provided that the reconciler listens to everything that it reads. One that looked beyond the object of
        its cause (`TurnContext.looked_beyond`) may not, so its turn stays a choice.
        """
        log = self.sim.log
        while True:
            place = log.place
            for process in self.processes:
                if process.pending and self._sees_at_once(process):
                    self.sim.deliver(process)
            if self.idle:
                changed = log.changes[since - log.base : log.place - log.base] if since is not None else ()
                moved = {change.key[0] for change in changed if type(change.key) is Note}
                for process in self.processes:  # others' work is unchanged
                    if since is None or process.name in moved or CLOCK[0] in moved:
                        self._reconcile_idly(process)
            if log.place == place:
                return
            since = place

    def _reconcile_idly(self, process: Process) -> None:
        """Run the turns of a component that change only its work queue."""
        if self.sim.is_delayed(process):
            return
        for actor in process.component.actors:
            for _, cause in actor.ready_causes(TurnContext(self.sim, process, actor), every=True):
                # Whether a turn is idle depends on its component's local state, so it is tried once per local state.
                key = (self.sim.local_state(process.name), actor.name, cause)
                idle = self._known_idle.get(key)
                if idle is not False:
                    self._known_idle[key] = self._try_idly(process, actor, cause)

    def _try_idly(self, process: Process, actor: Actor, cause: str) -> bool:
        """Run a turn, take it back unless it was idle, and say whether it was."""
        log = self.sim.log
        start = log.place
        self.draw_sizes, self._choices = [], ()
        ctx, continues = self.sim.act(process, actor, cause)
        acted = continues or ctx.outcomes or ctx.reads or ctx.events or ctx.failure or self.draw_sizes
        forgot = all(type(each.key) is Note and each.new is None for each in log.changes[start - log.base :])
        if acted or ctx.looked_beyond or not forgot:
            log.seek(start)
            log.truncate()
            return False
        return True

    def _sees_at_once(self, process: Process) -> bool:
        if self.lag == "none":
            return True
        if not self.eager or (self.lag == "per kind" and len(process.cursors) > 1) or self._wakes(process):
            return False
        actors = process.component.actors
        return not any(actor.ready_causes(TurnContext(self.sim, process, actor), every=True) for actor in actors)

    def _act(self, transition: Transition) -> None:
        sim = self.sim
        process, actor = sim.find(transition.actor, transition.component)
        note = Note("world", "refuse", transition.component)
        if transition.fault >= 0:
            sim.log.write(note, ((1, self.faults[transition.fault].reason),))  # type: ignore[union-attr]
        self.ctx, self.continues = sim.act(process, actor, transition.cause)
        if transition.fault >= 0 and note in sim.log.notes:
            raise NotEnabledError

    def _strike(self, transition: Transition, fault_counts: FaultCounts) -> None:
        fault = self.faults[transition.fault]
        place = self.sim.log.place
        if isinstance(fault, Crash):
            elected = ""
            for part in fault.parts or (fault.component,):
                elected = self.sim.restart(self.sim.processes[part], fault.component)
            self.words = f"{fault.component} crashes and restarts: what it remembered is lost{elected}"
        elif isinstance(fault, UserAct):
            write = fault.writes[fault_counts[transition.fault]]
            enabled = write(SearchedObjects(self.sim)) if callable(write) else write
            if enabled is None or not isinstance(self.sim.commit(fault.component, enabled), CommittedWrite):
                raise NotEnabledError
            self.words = enabled.words or f"{fault.words}: {enabled.verb} {enabled.subject}"
        elif isinstance(fault, StopNodes):
            nodes = chosen_nodes(self.sim.log, [fault.which])
            for note, value in stopping(self.sim.log, nodes).items():
                if note.component == WORLD or note.component in self.sim.processes:
                    self.sim.log.write(note, value)
            self.words = f"{', '.join(nodes)} stop"
        if self.sim.log.place == place:
            raise NotEnabledError

    def _choose(self, _purpose: str, _key: str, _attempt: int, among: int) -> int:
        """Answer a draw by the transition's choices; further draws get outcome 0."""
        self.draw_sizes.append(among)
        place = len(self.draw_sizes) - 1
        return self._choices[place] % among if place < len(self._choices) else 0


def _times_text(number: int) -> str:
    return "once" if number == 1 else f"up to {number} times"

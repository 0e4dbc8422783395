"""The runtime: a log, the components that run over it, and the parts that turns consist of.

It delivers changes, fires wake-ups, lets an actor act and commits its writes. The order of turns, steps and time belong
to the simulation; an explorer combines these parts in every order. Views follow the log wherever it moves.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from threading import RLock
from typing import Any

from ..api.kinds.meta import evolve
from ..api.unknown_name import UnknownName, did_you_mean
from .apiserver import CLOCK, EPOCH, LAST, ORIGIN, ApiServer, CommittedWrite, RefusedWrite, Write
from .changes import Group
from .checkpoint import Checkpoint, restore_checkpoint, take_checkpoint
from .component import ANSWER, WORLD, Actor, Component, Process, TurnContext, seeded_draw
from .digest import IncrementalDigest
from .events import record_event
from .log import CURSOR, FAR, Delivery, Key, Log, LogKey, Note, in_order
from .outage import API_SERVER, OUTAGES, end_outages, is_out, unreachable
from .references import find_key, matching_keys
from .rules import NEVER, RULES, RuleSet, RunningRules, rules_note, running_rules, stopped

PARTS = 1_000_000  # a share is a part of this
UNREAD_SORTS = frozenset({"similar", "gone"})  # sorts of the world's notes that no actor reads


@cache
def _refuse_note(component: str) -> Note:
    """Return the note with the injected faults that refuse a component's writes."""
    return Note("world", "refuse", component)


class Runtime:
    """A log, the components that run over it, and an API server between them. Mutable.

    Args:
        components: the components that run; their order is the order of the lanes.
        server: commits or refuses writes.
        seed: determines draws.
    """

    def __init__(self, components: Iterable[Component], server: ApiServer | None = None, seed: int = 0) -> None:
        self.components = tuple(components)
        self.server = server or ApiServer()
        self.seed = seed
        self.chooser: Callable[[str, str, int, int], int] | None = None  # replaces draws by the seed (the explorer's)
        self.records_events = True  # whether Events are written; the explorer needs none
        self.rule_sets: dict[str, RuleSet] = {}  # by name, shared by forks
        self.lock = RLock()  # held by who moves or reads the world or a fork (see core/one_at_a_time.py)
        self._run_over(Log())

    def _run_over(self, log: Log) -> None:
        """Run the components over a log, with new processes; these are built when they are asked for."""
        self.log = log
        self.incremental_digest: IncrementalDigest | None = None
        log.listener = log.jump_listener = None
        self.__dict__.pop("processes", None)

    @cached_property
    def processes(self) -> dict[str, Process]:
        """The components that run, by name, with what each has seen; a fork that nobody moves never builds them."""
        log = self.log
        found = {component.name: Process(self._definition(component), log) for component in self.components}
        stored = log.by_kind()
        for process in found.values():
            process.rebuild(stored)
        self._register_all(found)
        log.listener = self._on_log_change
        log.jump_listener = self._on_jump
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the components, for which no view need be built."""
        return tuple(component.name for component in self.components)

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return float(self.log.notes.get(CLOCK, 0.0))

    @property
    def date(self) -> datetime:
        """Simulated time as a date; the clock begins on 1 January 2026, or at the newest time in loaded objects."""
        seconds = self.log.notes.get(ORIGIN, 0.0) + self.now
        return datetime.fromtimestamp(EPOCH, UTC) + timedelta(seconds=min(seconds, LAST))

    def find_key(self, reference: str, kinds: str | Sequence[str] = (), *, ever: bool = False) -> Key:
        """Return the key of the object that a reference names: `web-0`, `pod/web-0`, `demo/web-0`, `pod/demo/web-0`.

        Args:
            reference: without a namespace the object in `default` is meant, else the only one of another namespace.
            kinds: the kind, or kinds, that a name without kind means; by default any. No others are found.
            ever: find objects too that are deleted, or created at a later place of the history.

        Raises:
            UnknownName: nothing has this name, or several objects; the message has the nearest names. It is a KeyError.
        """
        objects = self.log.objects
        if ever and not matching_keys(objects, reference, kinds):
            return find_key({*objects, *self.log.keys_ever()}, reference, kinds)
        return find_key(objects, reference, kinds)

    @property
    def place(self) -> int:
        """The present position in the log."""
        return self.log.place

    def find(self, actor: str, component: str | None = None) -> tuple[Process, Actor]:
        """Return an actor and its process by name.

        Raises:
            UnknownName: there is no such actor; the message lists the names. It is a LookupError.
        """
        for process in self.processes.values():
            for candidate in process.component.actors:
                if candidate.name == actor and component in (None, process.name):
                    return process, candidate
        names = [candidate.name for process in self.processes.values() for candidate in process.component.actors]
        raise UnknownName(f"no actor is called {actor!r}; there are: {', '.join(names)}{did_you_mean(actor, names)}")

    def read_only_context(self, process: Process, actor: Actor) -> TurnContext:
        """Return a kept context for asking an actor for its ready causes; it must not be used to act."""
        return next(ctx for each, ctx in self.contexts(process) if each is actor)

    def contexts(self, process: Process) -> list[tuple[Actor, TurnContext]]:
        """Return a component's actors with kept contexts for asking them and telling them of changes, not for acts."""
        found = process.contexts
        if found is None:
            found = [(actor, TurnContext(self, process, actor)) for actor in process.component.actors]
            process.contexts = found
        return found

    def add_components(self, components: Iterable[Component]) -> None:
        """Add components, which have seen nothing yet."""
        added = tuple(components)
        self.components += added
        if "processes" not in self.__dict__:
            return  # they will be built with all others
        try:
            self._build(added)
        except BaseException:
            self._run_over(self.log)
            raise

    def _build(self, added: Iterable[Component]) -> None:
        """Build the processes of components beside the others."""
        stored = self.log.by_kind()
        for component in added:
            process = self.processes[component.name] = Process(self._definition(component), self.log)
            process.rebuild(stored)
        self._register_all(self.processes)
        if self.incremental_digest is not None:
            self.incremental_digest = IncrementalDigest(self.log, self.processes)

    def replace_components(self, components: Iterable[Component]) -> None:
        """Replace components by others of the same names, which take over notes and cursors."""
        by_name = {component.name: component for component in components}
        self.components = tuple(by_name.get(component.name, component) for component in self.components)
        self._run_over(self.log)

    def _register_all(self, processes: Mapping[str, Process]) -> None:
        """Find out anew which processes follow which kinds and notes."""
        self.watchers: dict[str, list[Process]] = {}
        self.condition_watchers: dict[str, list[Process]] = {}
        for process in processes.values():
            self._register(process)

    def _register(self, process: Process) -> None:
        for kind in process.cursors:
            self.watchers.setdefault(kind, []).append(process)
        for kind_or_sort in process.activation.follows if process.activation is not None else ():
            self.condition_watchers.setdefault(kind_or_sort, []).append(process)

    def _definition(self, component: Component) -> Component:
        """Return the definition of a component under the rules that it runs now."""
        running = running_rules(self.log.notes, component.name)
        if running is None:
            return component
        found = self.rule_sets[running.leading].components.get(component.name, component)
        return found if found is not None else stopped(component.name)

    def redefine(self) -> set[str]:
        """Define anew the processes whose rules have changed, and return their names; their views are built anew."""
        changed = set()
        for component in self.components:
            process, wanted = self.processes[component.name], self._definition(component)
            if process.component is not wanted and not (wanted.activation is NEVER is process.component.activation):
                process.define(wanted)
                process.rebuild()
                changed.add(process.name)
        if changed:
            self._register_all(self.processes)
        return changed

    def server_for(self, component: str, write: Write) -> tuple[str, ApiServer]:
        """Return the API server that answers a request, with its name if there are two: one of them, by draw."""
        running = running_rules(self.log.notes, API_SERVER) if self.rule_sets else None
        if running is None:
            return "", self.server
        if len(running.names) == 1:
            return "", self.rule_sets[running.leading].server
        request = f"{component} {write.verb} {write.subject}"
        asked = Note(WORLD, "asked", request)
        attempt = self.log.notes.get(asked, 0)
        self.log.write(asked, attempt + 1)
        if self.chooser is not None:
            chosen = self.chooser("API server", request, attempt, len(running.names))
        else:
            chosen = int(self.draw("API server", request, PARTS, attempt) < running.share * PARTS)
        name = running.names[chosen]
        return name, self.rule_sets[name].server

    def present_server(self) -> ApiServer:
        """Return the API server, the first if there are two."""
        running = running_rules(self.log.notes, API_SERVER) if self.rule_sets else None
        return self.server if running is None else self.rule_sets[running.names[0]].server

    def restart(self, process: Process, elector: str = "", elections: int = 0) -> str:
        """Crash and restart a component; of several masters one is elected by name. Return what to say of it.

        `elections` is the number of the election, if it is one for several components.
        """
        self.drop_notes(process)
        note = rules_note(process.name)
        running: RunningRules | None = self.log.notes.get(note)
        if running is None or not running.elects:
            return ""
        elections = elections or running.elections + 1
        leader = self.draw("leader", elector or process.name, len(running.names), elections)
        self.log.write(note, evolve(running, leader=leader, elections=elections))
        return f"; the master with the rules {running.names[leader]} leads"

    def _on_log_change(self, place: int, key: LogKey, old: Any, new: Any, *, undone: bool) -> None:
        if type(key) is Key:
            kind = key[0]
            for process in self.condition_watchers.get(kind, ()):
                process.on_stored_change(key, old, new)
            for process in self.watchers.get(kind, ()):
                if process.watching and (undone or kind not in process.pending):
                    process.mark_pending(kind, place, undone=undone)
        else:
            owner, sort = self.processes.get(key[0]), key[1]
            if owner is not None and sort != CURSOR:
                owner.knows_oldest_task = False
                for apply in owner.listeners.get(sort, ()):
                    apply(key, old, new)
            elif owner is not None:
                owner.on_note_change(key, old, new)  # type: ignore[arg-type]
            elif sort not in UNREAD_SORTS or sort in self.condition_watchers:
                self._on_note_of_nobody(key, old, new)  # type: ignore[arg-type]
        if self.incremental_digest is not None:
            self.incremental_digest.mark_changed(key)

    def _on_note_of_nobody(self, key: Note, old: Any, new: Any) -> None:
        """Follow a change of a note that belongs to no component."""
        self._forget_oldest_tasks()
        if key[0] == WORLD:
            if key[1] == RULES:
                self.redefine()
            for process in self.condition_watchers.get(key[1], ()):
                process.on_stored_change(key, old, new)

    def _forget_oldest_tasks(self) -> None:
        """Let every component be asked anew for its oldest task."""
        for process in self.processes.values():
            process.knows_oldest_task = False

    def _on_jump(self, start: int) -> None:
        """Move every view after a far move of the log, by the net changes, as a delivery moves them."""
        names = self.log.changes.table.names
        wanted = names if self.incremental_digest is not None else {name for name in names if self._follows(name)}
        differences = self.log.differences(start, self.log.place, wanted)
        built = self.redefine() if (WORLD, RULES) in differences else set()
        between: dict[tuple[str, int, int], list[tuple[Any, Any, Any]]] = {}
        for process in self.processes.values():
            if process.name not in built:
                process.jump(differences, between)
        self._forget_oldest_tasks()
        if self.incremental_digest is not None:
            for columns in differences.values():
                for key in columns.keys:
                    self.incremental_digest.mark_changed(key)

    def _follows(self, name: Group) -> bool:
        """Return whether a view follows changes of a group other than by a delivery."""
        if len(name) == 1 or name[0] == WORLD:
            return name[-1] in self.condition_watchers or name[-1] == RULES
        owner = self.processes.get(name[0])
        return owner is not None and (name[1] == CURSOR or name[1] in owner.listeners)

    def rebuild(self) -> None:
        """Build every view from the log (after an error, or to check that moved views equal built ones)."""
        if "processes" not in self.__dict__:
            return  # they will be built from the log
        self.redefine()
        stored = self.log.by_kind()
        for process in self.processes.values():
            process.rebuild(stored)
        if self.incremental_digest is not None:
            self.incremental_digest = IncrementalDigest(self.log, self.processes)

    def _undo(self, place: int) -> None:
        """Truncate the log to a position and rebuild the views, after an error or interrupt."""
        self.log.recover(place, self.log.end)
        self.log.drop_after(place)
        self.rebuild()

    def commit(self, component: str, write: Write) -> CommittedWrite | RefusedWrite:
        """Let the API server commit a component's write, unless it is out or an injected fault refuses it."""
        if OUTAGES in self.log.notes and is_out(self.log.notes, API_SERVER):
            return unreachable(write)
        note = _refuse_note(component)
        faults: tuple[tuple[int, str], ...] | None = self.log.notes.get(note)
        if faults:
            (left, reason), *others = faults
            if left > 1:
                self.log.write(note, ((left - 1, reason), *others))
            else:
                self.log.write(note, tuple(others) or None)
                message = f"{reason}: injected fault, the write of {write.subject} was refused"
                return RefusedWrite(write, reason, message)
        name, server = self.server_for(component, write)
        outcome = server.commit(self.log, write, component)
        return evolve(outcome, server=name) if name else outcome

    def is_delayed(self, process: Process) -> bool:
        """Return whether a component is delayed: it sees nothing and does nothing."""
        return OUTAGES in self.log.notes and is_out(self.log.notes, process.name)

    def request_time(self, write: Write) -> float:
        """Return how many seconds a write waits for its answer from the API server."""
        if OUTAGES in self.log.notes and is_out(self.log.notes, API_SERVER):
            return 0.0
        return self.present_server().waiting_time(write, self.log)

    def set_clock(self, now: float) -> None:
        """Move the clock, and end the outages that are over."""
        self.log.write(CLOCK, now)
        end_outages(self.log, now)

    def record_event(self, source: str, about: Any, type_: str, reason: str, message: str) -> None:
        """Write or count an Event about an object; it is lost while the API server is out."""
        if self.records_events and not (OUTAGES in self.log.notes and is_out(self.log.notes, API_SERVER)):
            record_event(self.log, source, about, type_, reason, message, series=source in self.present_server().series)

    def draw(self, purpose: str, key: str, bound: int, attempt: int) -> int:
        """Return a number below `bound`, determined by the chooser if there is one, else by the seed."""
        if bound <= 1:
            return 0
        if self.chooser is not None:
            return self.chooser(purpose, key, attempt, bound)
        return seeded_draw(self.seed, purpose, key, attempt, bound)

    def deliver(self, process: Process, kinds: Sequence[str] | None = None) -> bool:
        """Deliver the pending changes of these kinds (None: of all) to a component and call its actors' `on_change`.

        While the API server is out, watches bring nothing.
        """
        if not process.pending or (
            OUTAGES in self.log.notes and (is_out(self.log.notes, API_SERVER) or self.is_delayed(process))
        ):
            return False
        moved = self._move_cursors(process, process.pending if kinds is None else kinds)
        if not moved:
            return False
        merged: dict[tuple[str, ...], Sequence[Delivery]] = {}  # those of several kinds, in their order
        is_long = sum(map(len, moved.values())) > FAR
        for actor, ctx in self.contexts(process):
            on_change, reacts_to = actor.on_change, getattr(actor, "reacts_to", None)
            names = tuple(moved if reacts_to is None else [kind for kind in moved if kind in reacts_to])
            delivered: Sequence[Delivery]
            if is_long and (concerning := getattr(actor, "concerning", None)) is not None:
                delivered = in_order([each for kind in names for each in concerning(ctx, moved[kind])])
            elif len(names) > 1:
                if names not in merged:
                    merged[names] = in_order([delivery for kind in names for delivery in moved[kind]])
                delivered = merged[names]
            else:
                delivered = moved[names[0]] if names else ()
            for _, key, old, new in delivered:
                on_change(ctx, key, old, new)
        return True

    def _move_cursors(self, process: Process, kinds: Collection[str]) -> dict[str, Sequence[Delivery]]:
        """Move the cursors of these kinds that have pending changes, and return the net changes of each, if any."""
        log = self.log
        delivered: dict[str, Sequence[Delivery]] = {}
        for kind in process.cursors if len(kinds) > 1 else tuple(kinds):
            if kind in kinds and kind in process.pending:
                log.write(process.cursors[kind], log.place)
                if process.delivered:
                    delivered[kind] = process.delivered
        return delivered

    def fire_due_wake_ups(self, process: Process) -> bool:
        """Fire every wake-up of a component whose time has come, and return whether there was one."""
        due = self.due_wake_ups(process)
        for name in due:
            self.fire_wake_up(process, name)
        return bool(due)

    def due_wake_ups(self, process: Process) -> list[str]:
        """Return the names of a component's wake-ups whose time has come, in order."""
        if not process.wake_ups.items or self.is_delayed(process):
            return []
        return [name for _, name in process.due_wake_ups(self.now)]

    def fire_wake_up(self, process: Process, name: str) -> None:
        """Remove a wake-up note and call its actor's `on_wake_up`, whether or not its time has come."""
        self.log.write(Note(process.name, "wake", name), None)
        actor_name, _, cause = name.partition("|")
        actor = process.actors[actor_name]
        ctx = TurnContext(self, process, actor)
        if cause.startswith(ANSWER):
            ctx.receive_answer(cause.removeprefix(ANSWER))
        else:
            actor.on_wake_up(ctx, cause)

    def act(self, process: Process, actor: Actor, cause: str) -> tuple[TurnContext, bool]:
        """Let an actor take up a cause; return its context and whether the cause goes on in another turn."""
        ctx = TurnContext(self, process, actor)
        return ctx, actor.act(ctx, cause)

    def drop_notes(self, process: Process) -> None:
        """Remove every note of a component except its configuration."""
        for note in sorted(note for note in self.log.notes if note.component == process.name):
            if note.sort != "config":
                self.log.write(note, None)

    def oldest_task(self, process: Process) -> int | None:
        """Return the position of a component's oldest task, kept until something that it depends on changes."""
        if not process.knows_oldest_task:
            process.oldest_task, process.knows_oldest_task = self._find_oldest_task(process), True
        return process.oldest_task

    def _find_oldest_task(self, process: Process) -> int | None:
        """Return the position of a component's oldest pending change, ready cause or due wake-up, or None."""
        sees = process.pending and not is_out(self.log.notes, API_SERVER)
        oldest = min(process.pending.values()) if sees else None
        for actor, ctx in self.contexts(process):
            ready = actor.ready_causes(ctx)
            if ready and (oldest is None or ready[0][0] < oldest):
                oldest = ready[0][0]
        for (_, order), _ in process.due_wake_ups(self.now):
            if oldest is None or order < oldest:
                oldest = order
        return oldest

    def checkpoint(self, previous: Checkpoint | None = None) -> Checkpoint:
        """Return a checkpoint of the present position, sharing unchanged parts with a previous one."""
        return take_checkpoint(self.log, self.processes, previous)

    def restore(self, checkpoint: Checkpoint, present: Checkpoint | None = None) -> None:
        """Restore a checkpoint of this world, which may be at another one; the past before it is lost."""
        restore_checkpoint(self.log, self.processes, self.incremental_digest, checkpoint, self.redefine, present)
        self._forget_oldest_tasks()

    def digest(self) -> str:
        """Return the digest of the present state (see `digest.py`)."""
        return self.maintained_digest().digest()

    def local_state(self, component: str) -> tuple[Any, ...]:
        """Return the local state of a component, hashable: equal if all that it has seen and noted is equivalent."""
        return component, self.maintained_digest().part(component)

    def maintained_digest(self) -> IncrementalDigest:
        """Return the digest that follows this world."""
        if self.incremental_digest is None:
            self.incremental_digest = IncrementalDigest(self.log, self.processes)
        return self.incremental_digest

"""Replay the steps of a trace on a cluster: user actions, stopped and started processes, waits.

User writes go through the API server; all other components act in turns. A clock decides who writes next, and when. In
the default order watching and deciding take no time, every write takes one millisecond, and the component that has
waited longest writes first. Races (a faster worker, a late informer, a refused write) are given, or drawn from a seed.
"""

import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from kvolsched.api.kinds.kind import KINDS_BY_NAME, find_kind
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.text.patches import json_patch, merge_patch
from kvolsched.cluster import Cluster
from kvolsched.controllers import kubelet, node_lifecycle, persistent_volume
from kvolsched.rules.revision import NOT_DRIVERS, Revision
from kvolsched.scheduler.loop.binding_flow import WORKER
from kvolsched.scheduler.loop.scheduling_cycle import SCHEDULER
from kvolsched.serve.status import CODES
from kvolsched.world.apiserver import CLOCK, RefusedWrite, Write, key_of
from kvolsched.world.component import Actor, Process, TurnContext, seeded_draw
from kvolsched.world.history import Turn
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation

NAMESPACE = "demo"  # where the recordings' objects live
DIALS: Mapping[str, Mapping[str, Any]] = {
    kubelet.NAME: {"start_delay": 0.2, "stop_delay": 0.2, "reaches": False},  # the recorded kubelet mounts nothing
    persistent_volume.NAME: {"ticks": True},
    node_lifecycle.NAME: {"absent": True},  # the recorded controller manager ran without it
}
NOT_READY = "node.kubernetes.io/not-ready"  # added by admission; the recorded nodes were ready at once
PATIENCE = 90.0  # simulated seconds after which a wait ends
PHASE, PERIOD = 0.3, 15.0  # start of the user relative to periodic timers, seconds
WORDS = ("apply", "delete", "patch", "wait", "stand_in", "process")
PARALLEL_WORKERS = (kubelet.NAME, WORKER)  # actors that process causes in parallel, as drivers do
WRITE_SECONDS = 0.001  # simulated seconds of a write
CHANCE_PERCENTS = (0, 4, 15, 50)  # how often a draw deviates from the default order
DELAYS = (10, 25, 60)  # delays of a watch, in log entries


class TracePlayer:
    """Replays a trace to its end. Mutable.

    `timing` is what the recording leaves open; None: the default order.
    """

    def __init__(
        self, steps: Sequence[Mapping[str, Any]], revision: Revision, timing: "TimingDraws | None" = None
    ) -> None:
        timing = timing or TimingDraws()
        self.dials = _dials(steps)
        self.drivers = tuple(self.dials)
        seed = timing.seed if timing.tie_seed is None else timing.tie_seed
        self.cluster = Cluster(revision, components={**self.dials, **DIALS}, seed=seed)
        self.world = self.cluster.world
        self.clock = TraceClock(self.world, self.drivers, timing)
        self.refused: list[str] = []
        self._until(self.clock.timing_of("phase", PHASE, PHASE + self.clock.draw("phase", 100) * PERIOD / 100))
        for step in steps:
            getattr(self, next(word for word in WORDS if word in step))(step)
        self.wait({"wait": {"quiet": 1}})

    def apply(self, step: Mapping[str, Any]) -> None:
        """Create objects, or replace those that exist."""
        for plain in step["apply"]:
            if plain["kind"] not in KINDS_BY_NAME:
                continue
            obj = from_plain(plain)
            key = key_of(obj)
            self._write(Write("create" if key not in self.world.log.objects else "update", key, obj))
            if key.kind == "Node":
                node = self.world.log.objects[key]
                left = tuple(taint for taint in node.spec.taints if taint.key != NOT_READY)
                if len(left) < len(node.spec.taints):
                    self._write(Write("update", key, evolve_parts(node, spec={"taints": left})))

    def delete(self, step: Mapping[str, Any]) -> None:
        """Delete an object."""
        self._write(Write("delete", self.key(step["delete"])))

    def patch(self, step: Mapping[str, Any]) -> None:
        """Patch an object by a merge patch or a JSON patch."""
        key = self.key(step["patch"])
        old = self.world.log.objects.get(key)
        new = None if old is None else from_plain(patched(to_plain(old), step["with"]))
        self._write(Write("update", key, new))

    def stand_in(self, step: Mapping[str, Any]) -> None:
        """Change the options of the provisioners; one that starts to run lists all objects again."""
        words = step["stand_in"].get("provisioner", {})
        told = {{"fail": "fails"}.get(word, word): value for word, value in words.items()}
        for name in self.drivers:
            ran = self.dials[name].get("running", True)
            self.dials[name] |= told
            (component,) = self.cluster.revision.drivers(self.dials).provisioners([name])
            self.world.components = tuple(component if c.name == name else c for c in self.world.components)
            process = self.world.processes[name]
            process.component = component
            process.rebuild()
            if "fails" in told or self.dials[name].get("running", True) != ran:
                self.world.crash(name)

    def process(self, step: Mapping[str, Any]) -> None:
        """Stop or start the scheduler, or all controllers together."""
        word, name = step["process"].split()
        manager = [each for each in self.world.processes if each not in (*self.drivers, SCHEDULER, "kubelet", "user")]
        names = {"kcm": manager, "sched": [SCHEDULER]}[name]
        if word == "stop":
            self.clock.stopped.update(names)
            return
        self._until(self.world.now + self.clock.timing_of("starting", 0.0, self.clock.draw("starting", 20) / 10))
        for each in names:
            if each in self.clock.stopped:
                self.clock.stopped.remove(each)
                self.world.crash(each)

    def wait(self, step: Mapping[str, Any]) -> None:
        """Run until a condition holds."""
        what = step["wait"]
        if "seconds" in what:
            self._until(self.world.now + what["seconds"])
            return
        limit = self.world.now + PATIENCE
        self._until(self.world.now)
        while not self._holds(what) and self.world.now < limit:
            wakes = self.clock.wakes()
            self._until(min([self.world.now + 0.5, *(at for at in wakes if at > self.world.now)]))

    def _holds(self, what: Mapping[str, Any]) -> bool:
        objects = self.world.log.objects
        if "quiet" in what:
            return bool(self.world.now >= self._last_change() + what["quiet"])
        if "event" in what:
            return bool(self._events(what["event"]) >= what["event"].get("count", 1))
        if "pods" in what:
            pods = (obj for key, obj in objects.items() if key.kind == "Pod" and key.name.startswith(what["prefix"]))
            return bool(sum(pod.status.phase == what["pods"] for pod in pods) >= what["count"])
        if "gone" in what:
            return self.key(what["gone"]) not in objects
        obj = objects.get(self.key(what["object"]))
        plain = None if obj is None else to_plain(obj)
        if "has" in what:
            return plain is not None and what["has"] in json.dumps(plain)
        for part in what["path"].split("."):
            plain = (plain or {}).get(part)
        return bool(plain == what["equals"])

    def _events(self, wanted: Mapping[str, Any]) -> int:
        name = wanted.get("object", "").partition("/")[2]
        return sum(
            event.count
            for key, event in self.world.log.objects.items()
            if key.kind == "Event"
            and name in ("", event.involved_object.name)
            and event.reason == wanted["reason"]
            and wanted.get("contains", "") in event.message
        )

    def _last_change(self) -> float:
        changes, base = self.world.log.changes, self.world.log.base
        for turn in reversed(self.world.turns):
            for place in range(turn.start, turn.end):
                key = changes[place - base].key
                if isinstance(key, Key) and key.kind != "Event":
                    return turn.time
        return 0.0

    def _write(self, write: Write) -> None:
        """Write as the user, record refusals, and run actors that have waited longer."""
        (outcome,) = self.world.perform("user", [write])
        if isinstance(outcome, RefusedWrite):
            self.refused.append(f"{CODES.get(outcome.reason, 500)} {outcome.message}")
        self.clock.let_time_pass()

    def _until(self, moment: float) -> None:
        self.clock.until(moment)

    def key(self, reference: str) -> Key:
        """Return the key of a reference; without one in the default namespace, the first by namespace."""
        alias, name = reference.split("/")
        kind = find_kind(alias)
        here = Key(kind.name, NAMESPACE if kind.namespaced else "", name)
        others = sorted(k for k in self.world.log.objects if k.kind == kind.name and k.name == name)
        return here if here in self.world.log.objects or not others else others[0]


def _dials(steps: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the drivers of a trace with their options: the topology keys of their CSINodes."""
    found: dict[str, dict[str, Any]] = {}
    for plain in (plain for step in steps for plain in step.get("apply", ())):
        if plain["kind"] == "CSINode":
            for driver in plain["spec"].get("drivers") or ():
                found.setdefault(driver["name"], {})["topology_keys"] = driver.get("topologyKeys", ())
        if plain["kind"] == "StorageClass" and not plain["provisioner"].startswith("kubernetes.io/"):
            found.setdefault(plain["provisioner"], {})
    return {name: dials for name, dials in found.items() if name not in NOT_DRIVERS}


def patched(old: Any, patch: Any) -> Any:
    """Return plain data after a merge patch (a mapping) or a JSON patch (a list of operations)."""
    return json_patch(old, patch) if isinstance(patch, list) else merge_patch(old, patch)


@attrs.frozen(kw_only=True)
class TimingDraws:
    """Timing that a recording leaves open: given, or drawn from a seed."""

    seed: int = 0  # draws whatever is not given; 0: the default order
    tie_seed: int | None = None  # the seed of the cluster, which breaks ties; None: `seed`
    phase: float | None = None  # when the user starts, in seconds, relative to periodic timers
    hurried: bool = False  # the user writes all objects of a step without waiting for other components
    starting: float | None = None  # seconds that a process needs to start
    # `COMPONENT KIND` -> how many log entries late that component sees objects of the kind
    lags: Mapping[str, int] = attrs.field(factory=dict)
    # component -> which of its writes are refused as conflicts, each counted from the previous one
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

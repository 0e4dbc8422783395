"""A trace's steps played on a cluster: a user acts, processes stop and start, and the world goes on in between.

Everything goes the public way: the user's writes through the API server, everybody else by turns. What a recording
leaves to luck (who of those with something to do goes first, how fast a user is, where the controllers' resync falls)
is drawn from a seed. Seed 0 is the plain order: seeing and thinking take no time, every write takes as long as any
other, and of those who would write goes first who has waited longest.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from kvolsched.api.kind import BY_NAME, kind_named
from kvolsched.api.manifest import from_plain, to_plain
from kvolsched.api.patches import json_patch, merge_patch
from kvolsched.cluster import Cluster
from kvolsched.controllers import kubelet, persistent_volume
from kvolsched.revision import NOT_DRIVERS, Revision
from kvolsched.scheduler.cycle import SCHEDULER
from kvolsched.scheduler.flow import WORKER
from kvolsched.world.apiserver import CLOCK, Refused, Write, key_of
from kvolsched.world.component import Actor, Hand, Process, seeded
from kvolsched.world.history import Turn
from kvolsched.world.log import Key

NAMESPACE = "demo"  # where the recordings' objects live
DIALS: Mapping[str, Mapping[str, Any]] = {
    kubelet.NAME: {"start_delay": 0.2, "stop_delay": 0.2, "reaches": False},  # the recorded one mounts nothing
    persistent_volume.NAME: {"ticks": True},
}
NOT_READY = "node.kubernetes.io/not-ready"  # put on by admission; the recorded nodes were ready at once
PATIENCE = 90.0  # simulated seconds after which a wait is given up: what differs then tells why
PHASE, PERIOD = 0.3, 15.0  # where a user begins between the ticks of others, which come once a second or more
AT_ONCE = (kubelet.NAME, WORKER)  # who works at many things side by side, as drivers do; others do one after the other
WRITING = 0.001  # seconds that a write takes
CHANCES = (0, 4, 15, 50)  # in percent: how often luck strikes
LATE = (10, 25, 60)  # how many places of the log later something is seen
CODES = {"Invalid": 422, "Conflict": 409, "AlreadyExists": 409, "NotFound": 404, "Forbidden": 403, "BadRequest": 400}
WORDS = ("apply", "delete", "patch", "wait", "stand_in", "process")


@attrs.frozen(kw_only=True)
class Luck:
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


class Story:
    """A trace played to its end. Mutable.

    Args:
        steps: a trace's steps.
        revision: the rules under which they are played.
        luck: what may come out one way or another.
    """

    def __init__(self, steps: Sequence[Mapping[str, Any]], revision: Revision, luck: Luck | None = None) -> None:
        self.luck = luck or Luck()
        self.seed = self.luck.seed
        self.dials = _dials(steps)
        self.drivers = tuple(self.dials)
        self.cluster = Cluster(revision, components={**self.dials, **DIALS}, seed=self._told("draws", self.seed))
        self.world = self.cluster.world
        self.stopped: set[str] = set()
        self.acted: dict[tuple[str, str, str], int] = {}  # where each actor wrote last, and so waited until then
        self.moments = [0]  # where everybody was told what there was to see
        self.refused: list[str] = []
        self._until(self._told("phase", PHASE + self._draw("phase", 100) * PERIOD / 100 if self.seed else PHASE))
        for component, nth in ((name, nth) for name, every in self.luck.conflicts.items() for nth in every):
            self.world.refuse(component, nth)
        for step in steps:
            getattr(self, next(word for word in WORDS if word in step))(step)
        self.wait({"wait": {"quiet": 1}})

    # -- steps --------------------------------------------------------------------------------------------------

    def apply(self, step: Mapping[str, Any]) -> None:
        """Create objects, or put them in the place of what is there."""
        for plain in step["apply"]:
            if plain["kind"] not in BY_NAME:
                continue
            obj = from_plain(plain)
            key = key_of(obj)
            self._write(Write("create" if key not in self.world.log.objects else "update", key, obj))
            if key.kind == "Node":
                self._make_ready(key)

    def _make_ready(self, key: Key) -> None:
        plain = to_plain(self.world.log.objects[key])
        taints = plain.get("spec", {}).get("taints") or []
        left = [taint for taint in taints if taint["key"] != NOT_READY]
        if len(left) < len(taints):
            self._write(Write("update", key, from_plain({**plain, "spec": {**plain["spec"], "taints": left}})))

    def delete(self, step: Mapping[str, Any]) -> None:
        """Delete an object."""
        self._write(Write("delete", self.key(step["delete"])))

    def patch(self, step: Mapping[str, Any]) -> None:
        """Change an object by a merge patch, or by a list of operations."""
        key = self.key(step["patch"])
        old = self.world.log.objects.get(key)
        new = None if old is None else from_plain(patched(to_plain(old), step["with"]))
        self._write(Write("update", key, new))

    def stand_in(self, step: Mapping[str, Any]) -> None:
        """Tell the provisioners how to behave from now on; one that starts to run lists everything anew."""
        words = step["stand_in"].get("provisioner", {})
        told = {{"fail": "fails"}.get(word, word): value for word, value in words.items()}
        for name in self.drivers:
            ran = self.dials[name].get("running", True)
            self.dials[name] |= told
            (component,) = self.cluster.revision.provisioners([name], self.dials)
            self.world.components = tuple(component if c.name == name else c for c in self.world.components)
            process = self.world.processes[name]
            process.component = component
            process.rebuild()
            if "fails" in told or self.dials[name].get("running", True) != ran:
                self.world.crash(name)

    def process(self, step: Mapping[str, Any]) -> None:
        """Stop or start a process: the scheduler, or all controllers together."""
        word, name = step["process"].split()
        manager = [each for each in self.world.processes if each not in (*self.drivers, SCHEDULER, "kubelet", "user")]
        names = {"kcm": manager, "sched": [SCHEDULER]}[name]
        if word == "stop":
            self.stopped.update(names)
            return
        self._until(self.world.now + self._told("starting", self._draw("starting", 20) / 10 if self.seed else 0.0))
        for each in names:
            if each in self.stopped:
                self.stopped.remove(each)
                self.world.crash(each)

    def wait(self, step: Mapping[str, Any]) -> None:
        """Let the world go on until something holds."""
        what = step["wait"]
        if "seconds" in what:
            self._until(self.world.now + what["seconds"])
            return
        limit = self.world.now + PATIENCE
        self._until(self.world.now)
        while not self._holds(what) and self.world.now < limit:
            wakes = self._wakes()
            self._until(min([self.world.now + 0.5, *(at for at in wakes if at > self.world.now)]))

    # -- what holds ---------------------------------------------------------------------------------------------

    def _holds(self, what: Mapping[str, Any]) -> bool:
        """Say whether a condition of a trace holds."""
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
        """Return when the last API object was changed."""
        changes, base = self.world.log.changes, self.world.log.base
        for turn in reversed(self.world.turns):
            for place in range(turn.start, turn.end):
                key = changes[place - base].key
                if isinstance(key, Key) and key.kind != "Event":
                    return turn.time
        return 0.0

    # -- how the world goes on ----------------------------------------------------------------------------------

    def _write(self, write: Write) -> None:
        """Write as the user, note what the API server refuses, and let those act who have waited for longer."""
        (outcome,) = self.world.perform("user", [write])
        if isinstance(outcome, Refused):
            self.refused.append(f"{CODES.get(outcome.reason, 500)} {outcome.message}")
        mine = self.world.place
        hurried, patient = self.luck.hurried or self._lucky("hurried"), self._lucky("patient")
        while not hurried and (turn := self._next(before=None if patient else mine)) is not None:
            self._take(*turn)

    def _draw(self, purpose: str, among: int, where: int | None = None) -> int:
        return seeded(self.seed, purpose, str(self.world.place if where is None else where), 0, among)

    def _told(self, word: str, drawn: Any) -> Any:
        """Return what is told of luck, or else what was drawn."""
        told = getattr(self.luck, word)
        return drawn if told is None else told

    def _lucky(self, purpose: str, where: int | None = None) -> bool:
        """Say whether something goes otherwise than in the plain order; how often it does is luck of the whole run."""
        chance = CHANCES[seeded(self.seed, purpose, "chance", 0, len(CHANCES))] if self.seed else 0
        return bool(chance) and self._draw(purpose, 100, where) < chance

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
        return writers[self._draw("who", len(writers)) if self._lucky("pace") else 0][3:]

    def _writers(self) -> list[tuple[int, bool, int, Process, Actor, str]] | None:
        """Return who would write, longest waiting first; None where somebody did what needs no write: look again."""
        self._see()
        with self.world.record() as step:
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
                self.world.log.cut()
        return found

    def _ready(self, process: Process, actor: Actor) -> Sequence[tuple[int, str]]:
        """List what an actor may take up: one thing after the other, or all at once."""
        if self._side_by_side(process, actor):
            return [*process.plans[actor.name].all(), *process.todo[actor.name].all()]
        return actor.ready(Hand(self.world, process, actor))

    def _turn(self, process: Process, actor: Actor, cause: str) -> Turn:
        start = self.world.place
        hand, more = self.world.act(process, actor, cause)
        return self.world.turn_of(hand, cause, start, goes_on=more)

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
        with self.world.record():
            for process in self._running():
                kinds = [kind for kind in process.pending if everything or not self._late(process, kind)]
                self.world.deliver(process, kinds)
                self.world.wake(process)
        return self.world.place > start

    def _late(self, process: Process, kind: str) -> bool:
        """Say whether a change is still on its way to a process: how long it takes is luck, in places of the log."""
        word, first = f"{process.name} {kind}", process.pending[kind]
        delay = LATE[self._draw(word, len(LATE), first)] if self._lucky("late", first) else 0
        return self.world.place < first + max(delay, self.luck.lags.get(word, 0))

    def _running(self) -> list[Process]:
        return [each for each in self.world.processes.values() if each.name not in self.stopped]

    def _take(self, process: Process, actor: Actor, cause: str) -> None:
        """Let one write be made; whoever made it makes the next one after those who are told of this one."""
        with self.world.record() as step:
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

    def _until(self, moment: float) -> None:
        """Let everything happen, write by write, that happens up to a moment."""
        while True:
            turn = self._next()
            if turn is not None:
                self._take(*turn)
                continue
            wakes = self._wakes()
            with self.world.record():
                self.world.log.write(CLOCK, max(self.world.now, min([moment, *wakes])))
            if not wakes or min(wakes) > moment:
                return

    def _wakes(self) -> list[float]:
        return [wake.at for process in self._running() for wake in process.wakes.items.values()]

    def key(self, reference: str) -> Key:
        """Return the key of a reference; where several namespaces have the name, that of the first."""
        alias, name = reference.split("/")
        kind = kind_named(alias)
        here = Key(kind.name, NAMESPACE if kind.namespaced else "", name)
        others = sorted(k for k in self.world.log.objects if k.kind == kind.name and k.name == name)
        return here if here in self.world.log.objects or not others else others[0]


def _dials(steps: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the drivers of a trace, and the dials that CSINodes tell: by which labels their volumes are reached."""
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


__all__ = ["Luck", "Story", "patched"]

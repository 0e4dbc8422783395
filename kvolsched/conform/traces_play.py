"""A trace's steps played on a cluster: a user acts, processes stop and start, and the world goes on in between.

Everything goes the public way: the user's writes through the API server, everybody else by turns. What a recording
leaves to luck (who of those with something to do goes first, how fast a user is, where the controllers' resync falls)
is drawn from a seed; seed 0 is the plain order, whoever has waited longest first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kvolsched.api.kind import BY_NAME, kind_named
from kvolsched.api.manifest import from_plain, to_plain
from kvolsched.cluster import Cluster
from kvolsched.revision import NOT_DRIVERS, Revision
from kvolsched.scheduler.cycle import SCHEDULER
from kvolsched.world.apiserver import CLOCK, Refused, Write, key_of
from kvolsched.world.component import Process, seeded
from kvolsched.world.log import Key

NAMESPACE = "demo"  # where the recordings' objects live
KUBELET = {"start_delay": 0.2, "stop_delay": 0.2}  # the recorded stand-in's
NOT_READY = "node.kubernetes.io/not-ready"  # put on by admission; the recorded nodes were ready at once
PATIENCE = 90.0  # simulated seconds after which a wait is given up: what differs then tells why
CODES = {"Invalid": 422, "Conflict": 409, "AlreadyExists": 409, "NotFound": 404, "Forbidden": 403, "BadRequest": 400}
WORDS = ("apply", "delete", "patch", "wait", "stand_in", "process")


class Story:
    """A trace played to its end. Mutable.

    Args:
        steps: a trace's steps.
        revision: the rules under which they are played.
        seed: what is luck is drawn from it.
    """

    def __init__(self, steps: Sequence[Mapping[str, Any]], revision: Revision, seed: int = 0) -> None:
        self.seed = seed
        self.dials = _dials(steps)
        self.drivers = tuple(self.dials)
        self.cluster = Cluster(revision, components={**self.dials, "kubelet": KUBELET}, seed=seed)
        self.world = self.cluster.world
        self.stopped: set[str] = set()
        self.acted: dict[str, int] = {}  # when each process had its last turn: its answer is on its way
        self.refused: list[str] = []
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
            self._breathe(obj.kind)

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
        told = {{"fail": "fails"}.get(word, word): value for word, value in step["stand_in"]["provisioner"].items()}
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
            return self.world.now >= self._last_change() + what["quiet"]
        if "event" in what:
            return self._events(what["event"]) >= what["event"].get("count", 1)
        if "pods" in what:
            phases = [o.status.phase for k, o in objects.items() if k.kind == "Pod" and k.name.startswith(what["prefix"])]
            return phases.count(what["pods"]) >= what["count"]
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
        """Write as the user, and note what the API server refuses."""
        (outcome,) = self.world.perform("user", [write])
        if isinstance(outcome, Refused):
            self.refused.append(f"{CODES.get(outcome.reason, 500)} {outcome.message}")

    def _breathe(self, kind: str) -> None:
        """Let others act between two writes of a hurried user: pods come faster than they are scheduled."""
        if self.seed == 0:
            if kind != "Pod":
                self._until(self.world.now)
            return
        turns = self._draw("breath", 6)
        for _ in range(turns if turns < 5 else 1000):
            process = self._next()
            if process is None:
                return
            self._turn(process)

    def _draw(self, purpose: str, among: int) -> int:
        return seeded(self.seed, purpose, str(self.world.place), 0, among)

    def _next(self) -> Process | None:
        """Return who goes next of those that have something to see or do: in the plain order, or by luck."""
        found = [(since, p) for since, p in self.world.waiting() if p.name not in self.stopped]
        waiting = sorted((max(since, self.acted.get(p.name, 0)), lane, p) for lane, (since, p) in enumerate(found))
        if not waiting:
            return None
        lucky = self.seed and self._draw("pace", 3) == 0
        return waiting[self._draw("who", len(waiting)) if lucky else 0][2]

    def _turn(self, process: Process) -> None:
        with self.world.record() as step:
            step.add(self.world.turn(process))
        self.acted[process.name] = self.world.place

    def _until(self, moment: float) -> None:
        """Let everything happen, turn by turn, that happens up to a moment."""
        while True:
            process = self._next()
            if process is not None:
                self._turn(process)
                continue
            wakes = self._wakes()
            with self.world.record():
                self.world.log.write(CLOCK, max(self.world.now, min([moment, *wakes])))
            if not wakes or min(wakes) > moment:
                return

    def _wakes(self) -> list[float]:
        running = (each for each in self.world.processes.values() if each.name not in self.stopped)
        return [wake.at for process in running for wake in process.wakes.items.values()]

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


def patched(plain: Any, patch: Any) -> Any:
    """Return plain data after a JSON merge patch (RFC 7386: a mapping) or a JSON patch (RFC 6902: a list).

    Raises:
        LookupError: an operation names a place that is not there.
        ValueError: an operation is none of add, remove and replace.
    """
    if isinstance(patch, Mapping):
        return _merged(plain, patch)
    found = json.loads(json.dumps(plain))
    for operation in patch:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        where = found
        for part in path:
            where = where[int(part) if isinstance(where, list) else part]
        place: Any = last if not isinstance(where, list) else len(where) if last == "-" else int(last)
        match operation["op"]:
            case "add" if isinstance(where, list):
                where.insert(place, operation["value"])
            case "add" | "replace":
                where[place] = operation["value"]
            case "remove":
                del where[place]
            case other:
                raise ValueError(f"no operation is called {other}")
    return found


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(new, Mapping):
        return new
    merged = dict(old) if isinstance(old, Mapping) else {}
    for key, value in new.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged


__all__ = ["Story", "patched"]

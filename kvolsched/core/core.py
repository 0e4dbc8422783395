"""The cluster's core: load objects, move in time, branch off, and find objects.
It is over 500 lines because methods show examples.

The core holds a simulation and asks no question about it. Loading sets objects as they are found, without an act.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, Self, SupportsIndex, TypeVar

import attrs

from ..api.kinds.kind import KINDS, KINDS_BY_NAME, find_kind, is_called, is_kind_name
from ..api.kinds.meta import EMPTY
from ..api.progress import ProgressBar
from ..api.text import dump_checks, manifest
from ..api.text.not_read import NotRead, find_not_read
from ..api.text.python_gc import infrequent_gc, paused_gc
from ..api.unknown_name import UnknownName, did_you_mean
from ..api.workloads import with_generated_names
from ..controllers import autoscaler, kubelet
from ..controllers.custom_controller import is_custom
from ..controllers.provisioner import INSTANCE
from ..rules.drivers import refuse_misspelled_drivers, without_effect
from ..rules.named import revision_named
from ..rules.revision import NOT_DRIVERS, Revision, offered_by
from ..rules.settings import IN_TREE
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.apiserver import EPOCH, ORIGIN, key_of, moment, ref, uid_of
from ..world.component import Component
from ..world.history import Turn
from ..world.log import Key
from ..world.references import find_key, matching_keys
from ..world.rules import running_rules
from ..world.simulation import Simulation
from .component_names import actor_with_cause, actors_called, dials_by_component
from .conditions import condition, missing_object
from .one_at_a_time import one_at_a_time
from .refusals import Refusals, dropped_fields, remarks_on_loading, still_there
from .results import ApplyRefused, PossibleTurns, Run, Step, last_step

USER = "user"
CLIENT = "client "
"""What the actor of a served cluster's client begins with; its name follows."""
MOST_CAUSES = 1_000  # causes of one actor that are tried to tell who may act next
READ_FIRST = frozenset({"PriorityClass", "RuntimeClass", "LimitRange"})  # by them pods are filled in
AnyCluster = TypeVar("AnyCluster", bound="ClusterCore")
# Not offered by Tab.
INTERNAL = {"components", "controllers", "driver_names", "drivers", "first_rules", "loaded_manifests", "remarks",
            "revision", "rule_sets", "world", "not_read"}  # fmt: skip


@one_at_a_time
class ClusterCore:
    """A simulated cluster without its questions: objects, components, and the loop they run. Mutable.

    Every question module takes a core; `kvolsched.Cluster` adds the questions as methods.

    Args:
        revision: `upstream` (Kubernetes v1.36.2), `design` (the design documents), `draft` (S1) or a `Revision`.
        seed: decides ties and draws; equal seeds and acts give equal runs.
        components: dials of components by name, for example `{"pd.csi": {"kind": "zonal", "delay": 2.0}}`.
        name: the cluster's name in titles.
    """

    def __init__(
        self,
        revision: str | Revision = "upstream",
        *,
        seed: int = 0,
        components: Mapping[str, Mapping[str, Any]] | None = None,
        name: str = "",
    ) -> None:
        self.first_rules = revision_named(revision)
        self.rule_sets: dict[str, Revision] = {}  # by name; what components run after an upgrade, shared by forks
        self.name = name
        self.components = dials_by_component(components or {}, NOT_DRIVERS)
        self.drivers: tuple[str, ...] = ()  # of the classes that were loaded or applied
        self.world: Simulation = self.first_rules.simulation(seed=seed, components=self.components)
        self.loaded_manifests: manifest.Manifests | None = None
        self.remarks: tuple[str, ...] = ()  # on its rules and its start, printed with it
        self._not_read: NotRead = EMPTY
        self._refusals = Refusals()

    @classmethod
    def from_manifests(
        cls, *sources: Any, revision: str | Revision = "upstream", seed: int = 0,
        components: Mapping[str, Mapping[str, Any]] | None = None, name: str = "", lenient: bool = True,
        strict: bool = False,
    ) -> Self:  # fmt: skip
        """Load a cluster from manifests: texts, files, directories, or the output of `kubectl get -o yaml`.

        Objects are loaded as they are, also what an API server would refuse: `repr` and `refusals` say so.

        Args:
            lenient: what is no object of a cluster (Helm values, a template) is skipped, and of two objects of one name
                the last counts, each with a line in `repr`; fields and words of other versions are kept. Else all of
                these are refused.
            strict: refuse what an API server would refuse.

        Raises:
            ManifestError: every fault of every source, with file, line and field path; nothing is loaded.
            ApplyRefused: `strict`, and an API server would refuse some objects, each with all its faults.

        >>> from kvolsched import example
        >>> len(ClusterCore.from_manifests(example("2-1-1"), name="spread").objects("pods"))
        4
        """
        rules = revision_named(revision)
        with paused_gc():
            read = manifest.read(list(sources) if len(sources) != 1 else sources[0], lenient=lenient)
            rules = rules.with_offered(offered_by(read.others))
            cluster = cls(rules, seed=seed, components=components, name=name)
            cluster._load(read.objects, read)
        cluster.remarks = (*read.left_out(), *dropped_fields(read, cluster.first_rules))
        if strict and cluster._refusals:
            raise ApplyRefused(cluster._refusals.refused)
        return cluster

    def _load(self, objects: Iterable[Any], read: manifest.Manifests | None = None) -> None:
        """Store objects as they are, without an act, set the clock to their newest time, and keep what was `read`.

        Raises:
            ValueError: dials name a driver that is misspelled.
        """
        if read is not None:
            named = tuple(with_generated_names(read.objects, self.world.seed, ()))
            self.loaded_manifests, self._not_read = read, find_not_read(attrs.evolve(read, objects=named))
            self._refusals = Refusals(named, self.world.server)
        log, objects = self.world.log, sorted(objects, key=lambda obj: obj.kind not in READ_FIRST)
        latest = dump_checks.newest_time(objects)
        if latest is not None and latest > self.world.date:
            log.write(ORIGIN, latest.timestamp() - EPOCH - self.now)
        for obj in with_generated_names(objects, self.world.seed, {key.name for key in log.objects}):
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
        self._add_provisioners()
        refuse_misspelled_drivers(self._dialed_drivers(), log.objects)
        self.world.reset_history()

    def _dialed_drivers(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the drivers that have dials, with them."""
        drivers = ((name, dials) for name, dials in self.components.items() if INSTANCE not in name)
        return {name: dials for name, dials in drivers if name not in NOT_DRIVERS}

    def _add_provisioners(self) -> None:
        """Add a component for the driver of each class, and on each node that it runs on, that has none yet.

        They are added under every set of rules.
        """
        of_classes = (obj.provisioner for key, obj in self.world.log.objects.items() if key.kind == "StorageClass")
        self.drivers = tuple(sorted({*self.drivers, *of_classes}))
        known = self.world.names
        for label, rules in self.rule_sets.items():
            made = self.world.rule_sets[label].components
            made |= {each.name: each for each in provisioners(self, rules) if each.name not in known}
        if added := [each for each in provisioners(self, self.first_rules) if each.name not in known]:
            self.world.add_components(added)

    @property
    def driver_names(self) -> set[str]:
        """The names of the components that are drivers.

        >>> ClusterCore(components={"pd.csi": {"kind": "zonal"}}).driver_names
        {'pd.csi'}
        """
        instances = {name for name in self.world.names if INSTANCE in name}
        return {*self.drivers, *instances, *(set(self.components) - NOT_DRIVERS)}

    @property
    def controllers(self) -> list[str]:
        """The components of kube-controller-manager, with the provisioners inside it.

        >>> "job-controller" in ClusterCore().controllers
        True
        """
        drivers = (name for name in self.driver_names if not name.startswith(IN_TREE))
        own = (process.name for process in self.world.processes.values() if is_custom(process.component))
        others = {USER, SCHEDULER, kubelet.NAME, autoscaler.NAME, *drivers, *own}
        return [name for name in self.world.names if name not in others]

    @property
    def not_read(self) -> NotRead:
        """What bears on placement and is not modelled, with who has it: of modelled kinds the present objects.

        >>> dict(ClusterCore().not_read)
        {}
        """
        return still_there(self._not_read, self.world.log.objects)

    @property
    def revision(self) -> Revision:
        """The rules that the scheduler runs now; after an upgrade other components may run others.

        >>> ClusterCore("design").revision.name
        'design'
        """
        running = running_rules(self.world.log.notes, SCHEDULER)
        return self.first_rules if running is None else self.rule_sets[running.leading]

    def step(self, actor: str | None = None, cause: str | None = None, *, turns: bool = False) -> Step:
        """Let one actor act on one cause and return the step; it is falsy when no actor has anything to do.

        Args:
            actor: the component or actor that acts, as `next` and the panel name it ("scheduler", "PV controller",
                "provisioner", "kubelet", "bind worker", ...), or the process "kube-controller-manager"; by default the
                first of `next`.
            cause: which of its causes the actor takes up; for an object, a reference to it.
            turns: stop after one visible turn (the fine gear).

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.step("scheduler", "my-pod").actor
        'scheduling pass'
        """
        if isinstance(actor, int):
            raise TypeError(f"c.step() makes one step, of the actor that it names; c.run(steps={actor}) makes {actor}")
        if actor is None and cause is None:
            taken = self.world.step(turns=turns)
        else:
            taken = self._step_of(actor, cause, turns=turns)
        return self._taken(taken) if taken else Step(-1, self.world.now, ())

    def _taken(self, turns: Sequence[Turn]) -> Step:
        """Return the step that these turns were; the node of an autoscaler gets its provisioners."""
        made = (outcome.write for turn in turns for outcome in turn.outcomes if outcome.write.verb == "create")
        if any(write.key.kind == "Node" for write in made):
            self._add_provisioners()
        return Step(self.world.step_number, self.world.now, tuple(turns))

    def _step_of(self, actor: str | None, cause: str | None, *, turns: bool) -> list[Turn]:
        """Make a step of the first actor of these names that has something to do about a cause."""
        if cause is not None:
            who, chosen = actor_with_cause(self.world, actor, cause, self.controllers)
            with suppress(LookupError):
                if taken := self.world.step(who, chosen, turns=turns):
                    return taken
            comes = any((turn.actor, turn.cause) == (who, chosen) for turn in self.world.preview(most=1))
            return self.world.step(turns=turns) if comes else []  # time, or turns that do nothing else, come before it
        for name in actors_called(self.world, str(actor), self.controllers):
            if taken := self.world.step(name, turns=turns):
                return taken
        return []

    def run(
        self, until: str | Callable[[Self], bool] | None = None, *, steps: int = 100_000, seconds: float = 3_600.0,
        progress: bool = False,
    ) -> Run:  # fmt: skip
        """Step until a condition holds (`pod/web-0 Running`, `pvc/data Bound`, a function) or no actor has work.

        Args:
            until: a function of the cluster, or words: a reference and a phase, `scheduled`, `exists` or `gone`. Two
                threads whose functions ask each other's clusters wait for ever.
            steps: stop after so many steps.
            seconds: the simulated seconds after which the run ends; what is due later has not happened then.
            progress: show a progress bar.

        Raises:
            ValueError: the words are no condition.
            UnknownName: the kind has no such phase, or several objects have the name. It is a ValueError.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> c.run("my-pod scheduled").ended
        'my-pod scheduled holds'
        """
        holds = condition(until, self.world.log.objects)
        taken: list[Step] = []
        limit, place = self.world.now + seconds, self.world.place
        bar = ProgressBar(unit=" steps", disable=not progress)
        with bar, infrequent_gc():
            while len(taken) < steps:
                place = self.world.place
                if holds is not None and holds(self):
                    return self._ran(taken, f"{until if isinstance(until, str) else 'the condition'} holds")
                turns = self.world.step(limit=limit, idle="" if taken else f"nothing happens until t = {limit:g} s")
                if not turns and self.world.next_time() is None:
                    ended = f"nothing is left to do{self._useless_dials()}{self._not_there(until)}"
                    return self._ran(taken, ended, True, self.world.history.turns_since(place))
                if not turns:
                    self.world.idle_until(limit)
                    ended = f"{seconds:g} s of simulated time are over{self._not_there(until)}"
                    return self._ran(taken, ended, False, self.world.history.turns_since(place))
                taken.append(self._taken(turns))
                bar.update()
        return self._ran(taken, f"{steps} steps are over{self._not_there(until)}")

    def _ran(self, taken: Sequence[Step], ended: str, idle: bool = False, quiet: tuple[Turn, ...] = ()) -> Run:  # noqa: FBT001, FBT002
        """Return a run with what to know about what was loaded."""
        return Run(tuple(taken), ended, idle, quiet, self._remarks_on_loading)

    def _remarks_on_loading(self) -> tuple[str, ...]:
        return remarks_on_loading(self._refusals, self.not_read, self.world.log.objects)

    def _not_there(self, until: Any) -> str:
        """Return what to add to the end of a run about the object of its condition, if there is none; else ""."""
        words = str(missing_object(until, self.world.log.objects) or "") if not callable(until) else ""
        return f"; {words}" if words else ""

    def _useless_dials(self) -> str:
        """Return what to add to the end of a run about dials without effect; "" if there are none."""
        useless = without_effect(self._dialed_drivers(), self.world.log.objects)
        return f"; no class names {', '.join(useless)}, whose dials have no effect" if useless else ""

    def back(self, steps: int = 1) -> Step:
        """Go back some steps, at most to the start, and return the step that led there; later steps stay known.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.step()
        >>> c.back()
        the start: nothing has happened yet
        """
        self.world.back(steps)
        return self._last_step

    def goto(self, step: int | str, branch: str = "") -> Step:
        """Go to the end of a step of this branch, or of another branch, and return the step.

        An act in the past begins a branch, under the name `branch-1`, `branch-2`, ...; what was known stays in the old.

        Args:
            step: 0 is the start, -1 the last known step; or the name of a branch, whose last step it is.
            branch: the name of a branch to begin there; by default none.

        Raises:
            IndexError: the branch has no such step.
            UnknownName: there is no such branch; the message lists the names. It is a LookupError.
            ValueError: the new branch's name is taken.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.run(), c.goto(0)
        >>> c.goto(-1)
        step 9, t=2 s: Kubelet on node-a starts pod/my-pod.
        >>> _ = c.goto(6, branch="node-a closed"), c.cordon("node-a")
        >>> c.branches
        ['node-a closed', 'main']
        >>> c.goto("main").number
        9
        """
        if isinstance(step, str) and step != self.world.branch:
            self.world.switch(step)
        else:
            number = -1 if isinstance(step, str) else step
            self.world.goto(number if number >= 0 else self.world.known_steps + 1 + number)
        if branch:
            self.world.begin_branch(branch)
        return self._last_step

    @property
    def branches(self) -> list[str]:
        """The names of the branches of this cluster's history, the present one first.

        >>> ClusterCore().branches
        ['main']
        """
        return [self.world.branch, *(branch.name for branch in self.world.branches)]

    @property
    def _last_step(self) -> Step:
        """The step that led to the present place; number 0 at the start."""
        return last_step(self.world)

    def _step_after(self, place: int) -> Step:
        """Return the step that was made since a place of the log; a falsy one if nothing changed."""
        return self._last_step if self.world.place != place else Step(-1, self.world.now, ())

    def on_move(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call a function after every move: a step, an act of yours, `goto`, another branch; return what ends that.

        It is called in each step of a run, without arguments, by whoever moves the cluster. An error of it becomes a
        warning, and the move stands. A fork has no listeners.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> steps = []
        >>> end = c.on_move(lambda: steps.append(c.world.step_number))
        >>> _ = c.step(), c.step(), c.goto(0)
        >>> end()
        >>> _ = c.step()
        >>> steps
        [1, 2, 0]
        """
        return self.world.on_move(listener)

    def fork(self, name: str = "") -> Self:
        """Return an independent copy of this cluster at its present place, with its past.

        Args:
            name: the copy's name in titles.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> other = c.fork("cordoned")
        >>> _ = other.cordon("node-a")
        >>> c["node-a"].spec.unschedulable, other["node-a"].spec.unschedulable
        (False, True)
        """
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.name = name or (f"{self.name}, fork" if self.name else "a fork")
        other.world = self.world.fork()
        return other

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        """Refuse `copy` and `pickle`: a copy of the attributes would share the world with this cluster.

        Raises:
            TypeError: always; it names `fork`, which copies a cluster.
        """
        raise TypeError("a cluster cannot be pickled, nor copied by the module copy: use c.fork()")

    @property
    def now(self) -> float:
        """Simulated time in seconds.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.run()
        >>> c.now
        2.0
        """
        return self.world.now

    @property
    def next(self) -> PossibleTurns:
        """Who may act next and what each would do; the first is what `step()` does.

        >>> from kvolsched import scenario
        >>> [turn.actor for turn in scenario("zonal-example").next]
        ['scheduling pass', 'persistentvolume claims']
        """
        with infrequent_gc():
            found = self.world.preview(each=MOST_CAUSES)
        return PossibleTurns(tuple(found), self.world.now, found.untried)

    def __getitem__(self, reference: str) -> Any:
        """Return the object that a reference names: `web-0`, `pod/web-0`, `demo/web-0` or `pod/demo/web-0`.

        Raises:
            UnknownName: there is no such object, or several; the message has the nearest names. It is a KeyError.
        """
        return self.world.log.objects[self.world.find_key(reference)]

    if not TYPE_CHECKING:  # a type checker knows the names

        def __getattr__(self, name: str) -> NoReturn:
            if hasattr(type(self), name):
                object.__getattribute__(self, name)  # raises again what a property has raised
            near = "" if name.startswith("_") else did_you_mean(name, dir(self))
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{near}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - INTERNAL)

    def _ipython_key_completions_(self) -> list[str]:
        """Return the references that a notebook offers after `c[`: of all objects but Events."""
        return [ref(key) for key in sorted(self.world.log.objects) if key.kind != "Event"]

    def __contains__(self, reference: str) -> bool:
        return bool(matching_keys(self.world.log.objects, reference))

    def objects(self, kind: str) -> list[Any]:
        """Return every object of a kind, sorted by key.

        Args:
            kind: `pods`, `pod`, `po`, `Pod`, `statefulsets.apps`, ...; also of a kind that nobody models.

        >>> from kvolsched import scenario
        >>> [node.metadata.name for node in scenario("zonal-example").objects("nodes")]
        ['node-a', 'node-a-small', 'node-b', 'node-c']
        """
        objects = self.world.log.objects
        unmodelled = (key.kind for key in objects if key.kind not in KINDS_BY_NAME and is_called(key.kind, kind))
        name = next(unmodelled, "") if not is_kind_name(kind) else ""
        name = name or find_kind(kind).name
        return [objects[key] for key in sorted(key for key in objects if key[0] == name)]

    def manifests(self, *references: str, form: str = "yaml") -> str:
        """Return these objects, by default all but Events, as one manifest of several documents.

        Args:
            references: such as `pod/web-0` or `web-0`.
            form: "yaml" or "json".

        >>> from kvolsched import scenario
        >>> print(scenario("zonal-example").manifests("sc/zonal-class").splitlines()[0])
        apiVersion: storage.k8s.io/v1
        """
        order = {kind.name: place for place, kind in enumerate(KINDS)}
        keys = sorted(self.world.log.objects, key=lambda key: (order.get(key.kind, 99), key))
        chosen = [key_of(self[reference]) for reference in references] or [key for key in keys if key.kind != "Event"]
        return manifest.write([self.world.log.objects[key] for key in chosen], form)

    def written(self, *references: str) -> str:
        """Return the manifests of these objects, by default of all, as they were loaded: without defaults.

        Args:
            references: objects, such as `pod/web-0` or `web-0`, or kinds, such as `nodes`.

        Raises:
            UnknownName: no such object was loaded. It is a KeyError.

        >>> from kvolsched import Cluster
        >>> from kvolsched.make import node, pod
        >>> c = Cluster.from_manifests([pod("web"), node("n1"), node("n2")])
        >>> "schedulerName" in c.written("web"), c.written("nodes").count("kind: Node")
        (False, 2)
        """
        objects = self.loaded_manifests.objects if self.loaded_manifests is not None else ()
        loaded = {key_of(obj): obj for obj in objects}
        wanted = {key for reference in references for key in _keys_named(loaded, reference)}
        return manifest.write([obj for obj in objects if not wanted or key_of(obj) in wanted])

    def digest(self) -> str:
        """Return the semantic digest: equal digests mean that both clusters behave alike from here on.

        >>> from kvolsched import scenario
        >>> scenario("zonal-example").digest() == scenario("zonal-example").digest()
        True
        """
        return self.world.digest()


def provisioners(core: ClusterCore, rules: Revision) -> list[Component]:
    """Return the provisioners that rules make: of the drivers of classes, and of those that run on each node."""
    drivers = rules.drivers(core.components)
    made = drivers.provisioners(core.drivers)
    if drivers.run_on_nodes:
        nodes = [key.name for key in core.world.log.objects if key.kind == "Node"]
        made += drivers.node_provisioners(core.drivers, nodes)
    return [each for each in made if not core.components.get(each.name, {}).get("absent")]


def _keys_named(objects: Collection[Key], reference: str) -> Collection[Key]:
    """Return the key of the object that a reference names, or all keys of the kind that it names."""
    try:
        return (find_key(objects, reference),)
    except UnknownName:
        with suppress(UnknownName):
            kind = find_kind(reference).name
            if found := [key for key in objects if key.kind == kind]:
                return found
        raise

"""Scenarios: named clusters with a question and a script, for lessons, tests and the command line.

A scenario file is YAML: `name`, `question`, `parameters` (name -> default, says, least, most, one of; `$(name)` and
`for`, `when` in what follows: see `templates`), `checklist` (items of the documents that its script proves),
`revision`, `seed`, `gates` (by process), `components` (dials by name), `manifests` (names of shipped examples),
`objects` and `script`, a list of `apply | refused | delete | step | run | set_pool | back | expect` and the acts and
faults of `script_acts`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import attrs

from ..api import examples, make
from ..api.kinds.meta import EMPTY, Frozen, freeze, thaw
from ..api.kinds.storage_class import StorageClass
from ..api.text import manifest
from ..api.unknown_name import UnknownName, did_you_mean, nearest
from ..api.words import hanging_indent, one_of
from ..cluster import Cluster
from ..core.conditions import condition
from ..core.refusals import dropped_fields
from ..core.results import ApplyRefused
from ..rules.named import TODAY, documents_of, revision_named
from ..rules.revision import NOT_DRIVERS, Revision
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.apiserver import key_of
from ..world.log import Note
from .script_acts import ACT_WORDS, listed
from .templates import Parameter, ParameterError, Value, declared, fill, repeats

FIELDS = (
    *("name", "question", "parameters", "checklist", "revision", "seed", "gates", "components"),
    *("manifests", "objects", "script"),
)

FOLDERS = ("scenarios", "scenarios/documents")  # of this room: those of lessons, and the documents' stories
TEMPLATE_PARTS = ("components", "objects", "script")  # in which parameters are filled


class ScenarioError(ValueError):
    """A scenario file has an unknown field or script word."""


class ExpectationFailed(AssertionError):
    """An expectation of a script does not hold; the message has both sides, `words` without its place."""

    def __init__(self, words: str, place: str = "") -> None:
        super().__init__(f"{place}{words}")
        self.words = words


@attrs.frozen
class Scenario:
    """A named cluster, the question it answers, and its script."""

    name: str
    question: str = ""
    parameters: tuple[Parameter, ...] = ()
    checklist: tuple[str, ...] = ()
    revision: str = "design"
    seed: int = 0
    gates: Frozen = EMPTY
    components: Frozen = EMPTY
    manifests: tuple[str, ...] = ()
    objects: tuple[Frozen, ...] = ()
    script: tuple[Frozen, ...] = ()

    def filled(self, **values: Value) -> Scenario:
        """Return this scenario with its parameters filled in, by default with their defaults.

        Raises:
            ScenarioError: there is no such parameter, or a value is not one that it may have.
        """
        known = {each.name: each for each in self.parameters}
        if unknown := [name for name in values if name not in known]:
            raise ScenarioError(self._unknown(unknown))
        if not known and not any(repeats(getattr(self, part)) for part in TEMPLATE_PARTS):
            return self
        try:
            chosen = {name: each.checked(values.get(name, each.default)) for name, each in known.items()}
            parts = {part: freeze(fill(thaw(getattr(self, part)), chosen)) for part in TEMPLATE_PARTS}
        except ParameterError as why:
            raise ScenarioError(f"{self.name}: {why}") from None
        given = ", ".join(f"{name}={value}" for name, value in values.items())
        return attrs.evolve(self, name=f"{self.name}, {given}" if given else self.name, parameters=(), **parts)

    def split(self, settings: Mapping[str, Any]) -> tuple[dict[str, Value], dict[str, Any]]:
        """Return which of these settings are parameters, and which are dials of components.

        Raises:
            ScenarioError: a setting is neither; the message lists both.
        """
        parameters = {each.name for each in self.parameters}
        values = {name: value for name, value in settings.items() if name in parameters}
        dials = {name: value for name, value in settings.items() if name not in parameters}
        if unknown := [name for name in dials if "." not in name and name not in self.dialled]:
            raise ScenarioError(self._unknown(unknown))
        return values, dials

    @property
    def dialled(self) -> tuple[str, ...]:
        """The components that have dials here: those of every cluster, and the drivers of the scenario's classes."""
        objects = [thaw(obj) for obj in self.objects]
        drivers = {str(obj["provisioner"]) for obj in objects if isinstance(obj, dict) and "provisioner" in obj}
        return (*sorted(NOT_DRIVERS - {"user"}), *sorted({*drivers, *self.components} - NOT_DRIVERS))

    def _unknown(self, names: Collection[str]) -> str:
        """Return the message about names that are neither parameters nor components with dials."""
        parameters = "; ".join(map(repr, self.parameters)) or "none"
        known = [*(each.name for each in self.parameters), *self.dialled]
        near = "".join(did_you_mean(name, known) for name in names)
        what = f"{self.name}: no parameter or component is called {' or '.join(map(repr, names))}{near}"
        return f"{what}\n  parameters: {parameters}\n  components, with dials as a mapping: {', '.join(self.dialled)}"

    def cluster(
        self, revision: str | Revision = "", *, seed: int | None = None,
        components: Mapping[str, Any] | None = None, **parameters: Value,
    ) -> Cluster:  # fmt: skip
        """Return the scenario's cluster before its script, under its own revision or another.

        Raises:
            ScenarioError: there is no such parameter, or a value is not one that it may have.
        """
        this = self.filled(**parameters)
        rules = revision_named(revision or this.revision)
        cluster = Cluster(
            rules.with_gates(thaw(this.gates)) if this.gates else rules,
            seed=this.seed if seed is None else seed,
            components={**thaw(this.components), **(components or {})},
            name=this.name,
        )
        shipped = [obj for name in this.manifests for obj in examples.example(name).objects]
        read = manifest.read([thaw(obj) for obj in this.objects])
        cluster._load([*shipped, *read.objects], read)
        cluster.remarks = tuple(dropped_fields(read, cluster.first_rules))
        if not revision and rules.called != TODAY:
            given = "".join(f", {name}={value!r}" for name, value in parameters.items())
            today = f'scenario("{self.name}", "{TODAY}"{given})'
            cluster.remarks += (f"Its rules are {this.revision} ({documents_of(rules.called)}), not today's: {today}.",)
        return cluster

    def play(self, cluster: Cluster | None = None, *, expecting: bool = True, **parameters: Value) -> Cluster:
        """Run the script on a cluster, by default a new one, and return it.

        Args:
            cluster: the cluster to play on; its scenario's parameters must be those given here.
            expecting: check what the script expects.
            parameters: values of the scenario's parameters.

        Raises:
            ExpectationFailed: an `expect` of the script does not hold.
            ScenarioError: the script has an unknown word, or there is no such parameter.
        """
        this = self.filled(**parameters)
        cluster = cluster or this.cluster()
        for number, line in enumerate(this.script, 1):
            for word, value in thaw(line).items():
                act = SCRIPT_WORDS.get(word)
                if act is None:
                    known = ", ".join(SCRIPT_WORDS)
                    raise ScenarioError(f"{self.name}: script[{number}]: unknown word {word!r}; known: {known}")
                try:
                    if expecting or word != "expect":
                        act(cluster, value)
                except ExpectationFailed as failed:
                    raise ExpectationFailed(failed.words, f"{self.name}: script[{number}]: ") from None
        return cluster


class ScenarioNames(list[str]):
    """The names of the shipped scenarios; printed, each with its question and its parameters.

    First those of the lessons, then those of the documents' stories, whose scripts prove what they ask.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        width = max(map(len, self), default=0) + 2
        lines = []
        for found in map(load, self):
            lines.append(f"{found.name:<{width}}{hanging_indent([found.question], width)}")
            lines += [f"{'':{width}}{hanging_indent([repr(each)], width + 2)}" for each in found.parameters]
        return "\n".join(lines)


def scenario_names() -> ScenarioNames:
    """Return the names of the shipped scenarios; printed, they have their questions and parameters.

    >>> "zonal-example" in scenario_names()
    True
    """
    return ScenarioNames(name for folder in FOLDERS for name in _shipped_names(folder))


@cache
def load(name: str) -> Scenario:
    """Return a shipped scenario.

    Raises:
        UnknownName: there is no such scenario; the message lists the names. It is a KeyError.
    """
    for folder in FOLDERS:
        if name in _shipped_names(folder):
            file = resources.files("kvolsched.learn").joinpath(folder, f"{name}.yaml")
            return read(file.read_text(encoding="utf-8"), name)
    near = one_of(nearest(name, scenario_names(), margin=1.0))
    hint = f": did you mean {near}? There" if near else "; there"
    raise UnknownName(f"no scenario is called {name!r}{hint} are: {', '.join(scenario_names())}")


def scenario(name: str, revision: str | Revision = "", *, seed: int | None = None, **settings: Any) -> Cluster:
    """Return the cluster of a shipped scenario, ready to be stepped.

    Args:
        name: one of `scenarios()`.
        revision: the rules, by default the scenario's own.
        seed: decides ties and draws.
        settings: parameters of the scenario, and dials of components by name (a mapping for each).

    Raises:
        KeyError: there is no such scenario.
        ScenarioError: a setting is neither a parameter nor a component; or a parameter cannot have this value.

    >>> len(scenario("zones", zones=4, replicas=6).objects("nodes"))
    8
    """
    found = load(name)
    values, dials = found.split(settings)
    return found.cluster(revision, seed=seed, components=dials or None, **values)


def play(name: str, revision: str | Revision = "", *, seed: int | None = None, **settings: Any) -> Cluster:
    """Play the script of a shipped scenario, check what it expects, and return the cluster.

    Args:
        name: one of `scenarios()` that has a script.
        revision: the rules, by default the scenario's own.
        seed: decides ties and draws.
        settings: parameters of the scenario, and dials of components by name (a mapping for each).

    Raises:
        KeyError: there is no such scenario.
        ScenarioError: it has no script; a setting is neither a parameter nor a component; or a parameter cannot have
            this value.
        ExpectationFailed: the scenario does not show what it says, under these rules and settings.

    >>> play("statefulset-apart")["pod/web-2"].status.phase
    'Running'
    """
    found = load(name)
    if not found.script:
        raise ScenarioError(f"{name} has no script to play; scenario({name!r}) returns its cluster")
    values, dials = found.split(settings)
    cluster = found.cluster(revision, seed=seed, components=dials or None, **values)
    return found.filled(**values).play(cluster)


def read(source: str | Path, name: str = "") -> Scenario:
    """Read a scenario from a file or a text.

    Raises:
        ScenarioError: it has an unknown field, or is no mapping.
        ManifestError: it is no YAML.
    """
    text = source.read_text() if isinstance(source, Path) else source
    documents = manifest.read_plain(text, name or str(source)[:40])
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ScenarioError(f"{name or 'scenario'}: wants one mapping with {', '.join(FIELDS)}")
    return read_data(documents[0], name)


def read_data(data: Mapping[str, Any], name: str) -> Scenario:
    """Return the scenario that these data describe.

    Raises:
        ScenarioError: there is an unknown field, or a parameter that cannot be.
    """
    data = {"name": name, **data}
    unknown = sorted(set(data) - set(FIELDS))
    if unknown:
        raise ScenarioError(f"{name or 'scenario'}: unknown {', '.join(unknown)}; a scenario has {', '.join(FIELDS)}")
    try:
        parameters = declared(data.pop("parameters", {}))
    except ParameterError as why:
        raise ScenarioError(f"{name or 'scenario'}: {why}") from None
    return Scenario(parameters=parameters, **{word: freeze(value) for word, value in data.items()})


def _shipped_names(folder: str) -> list[str]:
    found = resources.files("kvolsched.learn").joinpath(folder).iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in found if file.name.endswith(".yaml"))


# -- the words of a script --------------------------------------------------------------------------------------------


def _refused(cluster: Cluster, value: Mapping[str, Any]) -> None:
    """Do an act of the script and expect that it is refused with this message: `{apply: ..., message: ...}`."""
    try:
        for word, act in value.items():
            if word != "message":
                SCRIPT_WORDS[word](cluster, act)
    except (ApplyRefused, ValueError) as refused:
        _expect_equal("the refusal", value["message"], str(refused))
    else:
        raise ExpectationFailed(f"expected the refusal {value['message']!r}, nothing was refused")


def _step(cluster: Cluster, value: Any) -> None:
    for until in [None] * value if isinstance(value, int) else [value]:
        cluster.step(until)


def _expect_equal(what: str, expected: Any, actual: Any) -> None:
    if expected != actual:
        raise ExpectationFailed(f"expected {what} {expected!r}, it is {actual!r}")


def _expect(cluster: Cluster, value: Mapping[str, Any]) -> None:
    """Compare objects by field with expected values, and by the words of EXPECTATIONS whatever else is asked."""
    for word, wanted in value.items():
        if word in EXPECTATIONS:
            EXPECTATIONS[word](cluster, wanted)
            continue
        plain = manifest.to_plain(cluster[word])
        for path, field in wanted.items():
            _expect_equal(f"{word} {path}", field, _value_at(plain, path))


def _expect_events(cluster: Cluster, wanted: Any, *, exist: bool) -> None:
    """Look for events about objects, by their reason and message if they are given."""
    for event in listed(wanted):
        name = event["about"].rpartition("/")[2]
        events = [found for found in cluster.objects("events") if found.involved_object.name == name]
        reason, message = event.get("reason"), event.get("message")
        found = any(reason in (None, each.reason) and message in (None, each.message) for each in events)
        if found != exist:
            existing = sorted({f"{each.reason}: {each.message}" for each in events})
            raise ExpectationFailed(f"expected {'an' if exist else 'no'} event {dict(event)!r}, there are {existing!r}")


def _expect_conditions(cluster: Cluster, wanted: Any, *, holds: bool) -> None:
    for text in listed(wanted):
        found = condition(text, cluster.world.log.objects)
        _expect_equal(f"{text!r} to be", holds, found is not None and found(cluster))


def _expect_passes(cluster: Cluster, wanted: Mapping[str, int]) -> None:
    for pod, number in wanted.items():
        name = "/".join(key_of(cluster[f"pod/{pod}"])[1:])
        note = cluster.world.log.notes.get(Note(SCHEDULER, "pass", name))
        _expect_equal(f"passes of {pod}", number, note.number if note is not None else 0)


def _expect_phases(cluster: Cluster, wanted: Mapping[str, int]) -> None:
    """Compare how many pods are in each of these phases."""
    phases = Counter(each.status.phase for each in cluster.objects("pods"))
    for phase, number in wanted.items():
        _expect_equal(f"number of {phase} pods to be", number, phases[phase])


def _expect_skews(cluster: Cluster, wanted: Mapping[str, int]) -> None:
    """Compare how many pods the fullest and the emptiest domain of each key hold: those that some node has."""
    for key, most in wanted.items():
        domains = {node.metadata.name: node.metadata.labels.get(key) for node in cluster.objects("nodes")}
        held = dict.fromkeys((domain for domain in domains.values() if domain), 0)
        for pod in cluster.objects("pods"):
            if domain := domains.get(pod.spec.node_name):
                held[domain] += 1
        skew = max(held.values(), default=0) - min(held.values(), default=0)
        if skew > most:
            raise ExpectationFailed(f"expected a skew of at most {most} by {key}, it is {skew}: {held}")


def _value_at(plain: Any, path: str) -> Any:
    """Return the value at a dotted path of plain data; None if there is none.

    An item of a list is named by its number, its type or its name: `status.conditions.PodScheduled.message`. A part
    with dots is written in brackets: `metadata.annotations[pv.kubernetes.io/bind-completed]`.
    """
    for bracketed, bare in re.findall(r"\[([^\]]*)\]|([^.\[]+)", path):
        part = bracketed or bare
        if isinstance(plain, list):
            items = (item for item in plain if isinstance(item, dict) and part in (item.get("type"), item.get("name")))
            plain = plain[int(part)] if part.isdigit() and int(part) < len(plain) else next(items, None)
        elif isinstance(plain, dict):
            plain = plain.get(part)
    return plain


EXPECTATIONS: Mapping[str, Callable[[Cluster, Any], None]] = {
    "event": partial(_expect_events, exist=True),
    "no event": partial(_expect_events, exist=False),
    "is": partial(_expect_conditions, holds=True),
    "is not": partial(_expect_conditions, holds=False),
    "passes": _expect_passes,
    "phases": _expect_phases,
    "skew": _expect_skews,
}
SCRIPT_WORDS: Mapping[str, Callable[[Cluster, Any], Any]] = {
    **ACT_WORDS,
    "apply": lambda cluster, value: cluster.apply(*listed(value)),
    "refused": _refused,
    "delete": lambda cluster, value: cluster.delete(*listed(value)),
    "step": _step,
    "run": lambda cluster, value: cluster.run(until=value if isinstance(value, str) else None),
    "set_pool": lambda cluster, value: cluster.set_pool(**value),
    "back": lambda cluster, value: cluster.back(int(value)),
    "expect": _expect,
}


# -- seeded generators ------------------------------------------------------------------------------------------------


def nodes(count: int, *, zones: int = 3) -> list[Any]:
    """Return `count` equal nodes, placed in zones zone-a, zone-b, ... in turn."""
    placed = ((f"node-{number:05}", f"zone-{chr(97 + number % zones)}") for number in range(count))
    return [manifest.from_plain(make.node(name, zone, cpu="32")) for name, zone in placed]


def pods(count: int, *, claims: str = "", first: int = 0) -> list[Any]:
    """Return `count` equal pods; with `claims` (a class) each preceded by a claim for it."""
    found: list[Any] = []
    for number in range(first, first + count):
        names = [f"data-{number:05}"] if claims else []
        found += [make.claim(name, storage_class=claims) for name in names]
        requests = {"cpu": "100m", "memory": "200Mi"}
        found.append(make.pod(f"pod-{number:05}", *names, requests=requests, labels={"app": "bench"}))
    return [manifest.from_plain(each) for each in found]


def storage_class(name: str = "zonal", provisioner: str = "zonal.example.com") -> StorageClass:
    """Return a class with volumeBindingMode WaitForFirstConsumer."""
    made: StorageClass = manifest.from_plain(make.storage_class(name, provisioner))
    return made

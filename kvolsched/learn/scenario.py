"""Scenarios: named clusters with a question and a script, for lessons, tests and the command line.

A scenario file is YAML: `name`, `question`, `parameters` (name -> default, says, least, most, one of; `$(name)` and
`for`, `when` in what follows: see `templates`), `checklist` (items of the documents that its script proves),
`revision`, `seed`, `gates` (by process), `components` (dials by name), `manifests` (names of shipped examples),
`objects` and `script`, a list of `apply | refused | delete | step | run | set_pool | back | expect` and the acts and
faults of `script_acts`. A list of scenarios loads no room above `api`: a cluster is imported when one is made.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from ..api import make
from ..api.kinds.meta import EMPTY, Frozen, freeze, thaw
from ..api.text.yaml_text import packaged_data
from ..api.unknown_name import UnknownName, did_you_mean, nearest
from ..api.words import hanging_indent, one_of
from ..rules.registry import TODAY
from .templates import ExpectationFailed, Parameter, ParameterError, Value, declared, fill, repeats

if TYPE_CHECKING:
    from ..api.kinds.storage_class import StorageClass
    from ..cluster import Cluster
    from ..rules.revision import Revision

FIELDS = (
    *("name", "question", "parameters", "checklist", "revision", "seed", "gates", "components"),
    *("manifests", "objects", "script"),
)

FOLDERS = ("scenarios", "scenarios/documents")  # of this room: those of lessons, and the documents' stories
TEMPLATE_PARTS = ("components", "objects", "script")  # in which parameters are filled


class ScenarioError(ValueError):
    """A scenario file has an unknown field or script word."""


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
        from ..rules.revision import NOT_DRIVERS

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
        from ..api import examples
        from ..api.text import manifest
        from ..cluster import Cluster
        from ..core.refusals import dropped_fields
        from ..rules.named import documents_of, revision_named

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
        from .script_acts import SCRIPT_WORDS

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
            return read_data(packaged_data("kvolsched.learn", *folder.split("/"), f"{name}.yaml"), name)
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
    from ..api.text import manifest

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
    return sorted(file.stem for file in (Path(__file__).parent / folder).glob("*.yaml"))


def nodes(count: int, *, zones: int = 3) -> list[Any]:
    """Return `count` equal nodes, placed in zones zone-a, zone-b, ... in turn."""
    placed = ((f"node-{number:05}", f"zone-{chr(97 + number % zones)}") for number in range(count))
    return [_made(make.node(name, zone, cpu="32")) for name, zone in placed]


def pods(count: int, *, claims: str = "", first: int = 0) -> list[Any]:
    """Return `count` equal pods; with `claims` (a class) each preceded by a claim for it."""
    found: list[Any] = []
    for number in range(first, first + count):
        names = [f"data-{number:05}"] if claims else []
        found += [make.claim(name, storage_class=claims) for name in names]
        requests = {"cpu": "100m", "memory": "200Mi"}
        found.append(make.pod(f"pod-{number:05}", *names, requests=requests, labels={"app": "bench"}))
    return list(map(_made, found))


def storage_class(name: str = "zonal", provisioner: str = "zonal.example.com") -> StorageClass:
    """Return a class with volumeBindingMode WaitForFirstConsumer."""
    made: StorageClass = _made(make.storage_class(name, provisioner))
    return made


def _made(plain: Any) -> Any:
    from ..api.text import manifest

    return manifest.from_plain(plain)

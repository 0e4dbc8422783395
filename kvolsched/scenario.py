"""Scenarios: named clusters with a question and a script, for lessons, tests and the command line.

A scenario file is YAML: `name`, `question`, `checklist` (items of the documents that its script proves), `revision`,
`seed`, `gates` (by process), `components` (dials by name), `manifests` (names of shipped examples), `objects` and
`script`, a list of `apply | refused | patch | delete | step | run | crash | refuse | cordon | taint | back | expect`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import attrs

from .api import examples
from .api.kinds.meta import EMPTY, Frozen, ObjectMeta, Resources, freeze, thaw
from .api.kinds.node import HOSTNAME_LABEL, ZONE_LABEL, Node, NodeStatus
from .api.kinds.pod import Container, Pod, PodSpec
from .api.kinds.pod_volume import PersistentVolumeClaimVolumeSource, Volume
from .api.kinds.storage_class import WAIT_FOR_FIRST_CONSUMER, StorageClass
from .api.kinds.volume import PersistentVolumeClaim, PersistentVolumeClaimSpec
from .api.text import manifest
from .cluster import Cluster
from .cluster_core import condition
from .results import ApplyRefused
from .revision import revision_named
from .scheduler.loop.scheduling_cycle import SCHEDULER
from .world.apiserver import key_of
from .world.log import Note

FIELDS = (
    *("name", "question", "checklist", "revision", "seed", "gates", "components"),
    *("manifests", "objects", "script"),
)


class ScenarioError(ValueError):
    """A scenario file has an unknown field or script word."""


class ExpectationFailed(AssertionError):
    """An expectation of a script does not hold; the message has both sides."""


@attrs.frozen
class Scenario:
    """A named cluster, the question it answers, and its script."""

    name: str
    question: str = ""
    checklist: tuple[str, ...] = ()
    revision: str = "design"
    seed: int = 0
    gates: Frozen = EMPTY
    components: Frozen = EMPTY
    manifests: tuple[str, ...] = ()
    objects: tuple[Frozen, ...] = ()
    script: tuple[Frozen, ...] = ()

    def cluster(
        self, revision: str = "", *, seed: int | None = None, components: Mapping[str, Any] | None = None
    ) -> Cluster:
        """Return the scenario's cluster before its script, under its own revision or another."""
        rules = revision_named(revision or self.revision)
        cluster = Cluster(
            rules.with_gates(thaw(self.gates)) if self.gates else rules,
            seed=self.seed if seed is None else seed,
            components={**thaw(self.components), **(components or {})},
            name=self.name,
        )
        shipped = [obj for name in self.manifests for obj in examples.example(name).objects]
        read = manifest.read([thaw(obj) for obj in self.objects])
        cluster.load([*shipped, *read.objects])
        cluster.loaded_manifests = read
        return cluster

    def play(self, cluster: Cluster | None = None) -> Cluster:
        """Run the script on a cluster, by default a new one, and return it.

        Raises:
            ExpectationFailed: an `expect` of the script does not hold.
            ScenarioError: the script has an unknown word.
        """
        cluster = cluster or self.cluster()
        for number, line in enumerate(self.script, 1):
            for word, value in thaw(line).items():
                act = SCRIPT_WORDS.get(word)
                if act is None:
                    known = ", ".join(SCRIPT_WORDS)
                    raise ScenarioError(f"{self.name}: script[{number}]: unknown word {word!r}; known: {known}")
                try:
                    act(cluster, value)
                except ExpectationFailed as failed:
                    raise ExpectationFailed(f"{self.name}: script[{number}]: {failed}") from None
        return cluster


def scenario_names() -> list[str]:
    """Return the names of the shipped scenarios."""
    return _shipped_names("scenarios")


@cache
def load(name: str) -> Scenario:
    """Return a shipped scenario.

    Raises:
        KeyError: there is no such scenario; the message lists the names.
    """
    return read(_shipped_text("scenarios", name), name)


def scenario(name: str, revision: str = "", *, seed: int | None = None, **components: Any) -> Cluster:
    """Return the cluster of a shipped scenario, ready to be stepped."""
    return load(name).cluster(revision, seed=seed, components=components or None)


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
    data = documents[0]
    unknown = sorted(set(data) - set(FIELDS))
    if unknown:
        raise ScenarioError(f"{name or 'scenario'}: unknown {', '.join(unknown)}; a scenario has {', '.join(FIELDS)}")
    data.setdefault("name", name)
    return Scenario(**{word: freeze(value) for word, value in data.items()})


def _shipped_text(folder: str, name: str) -> str:
    file = resources.files("kvolsched") / folder / f"{name}.yaml"
    if not file.is_file():
        raise KeyError(f"no {folder[:-1]} is called {name!r}; there are: {', '.join(_shipped_names(folder))}")
    return file.read_text()


def _shipped_names(folder: str) -> list[str]:
    found = (resources.files("kvolsched") / folder).iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in found if file.name.endswith(".yaml"))


# -- the words of a script --------------------------------------------------------------------------------------------


def _apply(cluster: Cluster, value: Any) -> None:
    cluster.apply(*(value if isinstance(value, list) else [value]))


def _refused(cluster: Cluster, value: Mapping[str, Any]) -> None:
    """Apply manifests and expect that the API server refuses one with this message."""
    try:
        _apply(cluster, value["apply"])
    except ApplyRefused as refused:
        _expect_equal("the refusal", value["message"], str(refused))
    else:
        raise ExpectationFailed(f"expected the refusal {value['message']!r}, nothing was refused")


def _patch(cluster: Cluster, value: Mapping[str, Any]) -> None:
    """Change objects as the user, by merge patches: `{pv/disk: {spec: {claimRef: null}}}`."""
    for reference, change in value.items():
        cluster.edit(reference, partial(_patched, change=change), f"user patches {reference}")


def _patched(old: Any, change: Any) -> Any:
    return manifest.from_plain(_merge(manifest.to_plain(old), change))


def _merge(old: Any, change: Any) -> Any:
    """Return plain data after a JSON merge patch."""
    if not isinstance(change, Mapping):
        return change
    merged = dict(old) if isinstance(old, Mapping) else {}
    for word, value in change.items():
        if value is None:
            merged.pop(word, None)
        else:
            merged[word] = _merge(merged.get(word), value)
    return merged


def _step(cluster: Cluster, value: Any) -> None:
    if isinstance(value, int):
        for _ in range(value):
            cluster.step()
    else:
        cluster.step(value)


def _run(cluster: Cluster, value: Any) -> None:
    cluster.run(until=value if isinstance(value, str) else None)


def _expect_equal(what: str, expected: Any, actual: Any) -> None:
    if expected != actual:
        raise ExpectationFailed(f"expected {what} {expected!r}, it is {actual!r}")


def _expect(cluster: Cluster, value: Mapping[str, Any]) -> None:
    """Compare objects by field, conditions by words, and events by reason and message with expected values."""
    for word, wanted in value.items():
        if word in ("event", "no event"):
            for event in wanted if isinstance(wanted, list) else [wanted]:
                _expect_event(cluster, event, wanted=word == "event")
        elif word == "passes":
            for pod, number in wanted.items():
                _expect_equal(f"passes of {pod}", number, _passes(cluster, pod))
        elif word in ("is", "is not"):
            for text in wanted if isinstance(wanted, list) else [wanted]:
                holds = condition(text)
                _expect_equal(f"{text!r} to be", word == "is", holds is not None and holds(cluster))
        else:
            plain = manifest.to_plain(cluster[word])
            for path, field in wanted.items():
                _expect_equal(f"{word} {path}", field, _value_at(plain, path))


def _expect_event(cluster: Cluster, event: Mapping[str, Any], *, wanted: bool) -> None:
    """Look for an event about an object, by its reason and message if they are given."""
    name = event["about"].rpartition("/")[2]
    events = [found for found in cluster.objects("events") if found.involved_object.name == name]
    reason, message = event.get("reason"), event.get("message")
    exists = any(reason in (None, found.reason) and message in (None, found.message) for found in events)
    if exists != wanted:
        existing = sorted({f"{found.reason}: {found.message}" for found in events})
        raise ExpectationFailed(f"expected {'an' if wanted else 'no'} event {dict(event)!r}, there are {existing!r}")


def _passes(cluster: Cluster, pod: str) -> int:
    """Return the number of a pod's scheduling passes so far."""
    name = "/".join(key_of(cluster[f"pod/{pod}"])[1:])
    note = cluster.world.log.notes.get(Note(SCHEDULER, "pass", name))
    return note.number if note is not None else 0


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


SCRIPT_WORDS: Mapping[str, Callable[[Cluster, Any], Any]] = {
    "apply": _apply,
    "refused": _refused,
    "delete": lambda cluster, value: cluster.delete(*(value if isinstance(value, list) else [value])),
    "step": _step,
    "run": _run,
    "crash": lambda cluster, value: cluster.crash(value),
    "refuse": lambda cluster, value: cluster.refuse(**value),
    "patch": _patch,
    "cordon": lambda cluster, value: cluster.cordon(value),
    "taint": lambda cluster, value: cluster.taint(value["node"], value["taint"]),
    "back": lambda cluster, value: cluster.back(int(value)),
    "expect": _expect,
}


# -- seeded generators ------------------------------------------------------------------------------------------------


def nodes(count: int, *, zones: int = 3, cpu: str = "32", memory: str = "64Gi") -> list[Any]:
    """Return `count` equal nodes, placed in zones zone-a, zone-b, ... in turn."""
    room = Frozen(cpu=cpu, memory=memory, pods="110")
    status = NodeStatus(capacity=room, allocatable=room)
    return [
        Node(
            metadata=ObjectMeta(
                name=f"node-{number:05}",
                labels=Frozen({ZONE_LABEL: f"zone-{chr(97 + number % zones)}", HOSTNAME_LABEL: f"node-{number:05}"}),
            ),
            status=status,
        )
        for number in range(count)
    ]


def pods(count: int, *, cpu: str = "100m", memory: str = "200Mi", claims: str = "", first: int = 0) -> list[Any]:
    """Return `count` equal pods; with `claims` (a class) each preceded by a claim for it."""
    container = Container(name="app", image="pause", resources=Resources(requests=Frozen(cpu=cpu, memory=memory)))
    objects: list[Any] = []
    for number in range(first, first + count):
        name, volumes = f"pod-{number:05}", ()
        if claims:
            spec = PersistentVolumeClaimSpec(
                access_modes=("ReadWriteOnce",),
                resources=Resources(requests=Frozen(storage="10Gi")),
                storage_class_name=claims,
            )
            objects.append(PersistentVolumeClaim(metadata=ObjectMeta(name=f"data-{number:05}"), spec=spec))
            source = PersistentVolumeClaimVolumeSource(claim_name=f"data-{number:05}")
            volumes = (Volume(name="data", persistent_volume_claim=source),)  # type: ignore[assignment]
        meta = ObjectMeta(name=name, labels=Frozen(app="bench"))
        objects.append(Pod(metadata=meta, spec=PodSpec(containers=(container,), volumes=volumes)))
    return objects


def storage_class(name: str = "zonal", provisioner: str = "zonal.example.com") -> StorageClass:
    """Return a class with volumeBindingMode WaitForFirstConsumer."""
    meta = ObjectMeta(name=name)
    return StorageClass(metadata=meta, provisioner=provisioner, volume_binding_mode=WAIT_FOR_FIRST_CONSUMER)

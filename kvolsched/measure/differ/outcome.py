"""A case, and what two sets of rules make of it: a run of the whole loop under each, compared aspect by aspect.

A case is what is found in a cluster, what a user then creates, and kubectl commands.
Names that controllers make up are left out, so that runs that differ in nothing else are alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import attrs

from ...api.defaults import with_defaults
from ...api.kinds.volume import PersistentVolume
from ...api.text import manifest
from ...api.text.fault import ManifestError
from ...api.unknown_name import unknown_name
from ...api.validation.validate import validate
from ...cluster import Cluster
from ...core.results import ApplyRefused
from ...questions.differences import different_fields, is_bookkeeping, rejections
from ...questions.explain import passes_by_pod, read_last_pass
from ...scheduler.loop.scheduling_cycle import PASS
from ...world.apiserver import ref
from ...world.component import seeded_draw
from ...world.log import Key

Plain = dict[str, Any]
WORKLOADS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet"})
MOST_STEPS, MOST_SECONDS = 150, 900.0  # of a run; a pod may wait ten minutes in PreBind
MADE_BY_PROVISIONERS = "pvc-"


class ImpossibleCase(ValueError):
    """Raised when the objects of a case cannot be read, or cannot be there; says why."""


@attrs.frozen(slots=False)
class Case:
    """Manifests, and commands that come once nobody has anything left to do.

    Pods without a node, claims without a volume and workloads are created by a user, so that the API server and its
    webhooks judge them; all other objects are there from the start, as `Cluster.from_manifests` loads them.
    """

    objects: tuple[Plain, ...]  # manifests as plain data, in the order of their creation
    commands: tuple[str, ...] = ()  # kubectl command lines, each given when the one before has had its effects

    @cached_property
    def found(self) -> tuple[Any, ...]:
        """The objects that are there from the start.

        Raises:
            ImpossibleCase: they cannot be read, or no API server would have created one of them.
        """
        try:
            found = manifest.read([each for each in self.objects if not _is_new(each)]).objects
        except ManifestError as why:
            raise ImpossibleCase(str(why)) from why
        if faults := [str(fault) for obj in found for fault in validate(with_defaults(obj))]:
            raise ImpossibleCase("; ".join(faults))
        return found

    @property
    def created(self) -> tuple[Plain, ...]:
        """The objects that a user creates."""
        return tuple(each for each in self.objects if _is_new(each))

    @property
    def manifests(self) -> str:
        """The objects as YAML, to be saved and loaded; commands follow as comments."""
        said = "".join(f"# then: {command}\n" for command in self.commands)
        return manifest.write(self.objects) + said

    @property
    def size(self) -> tuple[int, int]:
        """How large it is: by objects and commands, then by characters."""
        return len(self.objects) + len(self.commands), len(self.manifests)


def _is_new(obj: Plain) -> bool:
    """Say whether an object is one that a user creates while the others are there."""
    spec, kind = obj.get("spec") or {}, obj.get("kind")
    awaited = {"Pod": "nodeName", "PersistentVolumeClaim": "volumeName"}
    return kind in WORKLOADS or (kind in awaited and isinstance(spec, dict) and not spec.get(awaited[kind]))


class ComparedAnswer(NamedTuple):
    """What both sets of rules make of one thing: the object, the question, and both answers in words."""

    about: str
    what: str
    a: str
    b: str

    @property
    def differs(self) -> bool:
        """Whether the answers differ."""
        return self.a != self.b


class NodeVerdict(NamedTuple):
    """What a pod's first pass found of one node: the rejecting plugin with its reasons, or none if the node fits."""

    plugin: str = ""
    reasons: str = ""
    chosen: bool = False

    @property
    def short(self) -> str:
        """Whether the node fits, and is chosen."""
        return "does not fit" if self.plugin else "fits, is chosen" if self.chosen else "fits"

    def __str__(self) -> str:
        return f"{self.plugin}: {self.reasons}" if self.plugin else self.short


@attrs.frozen(slots=False, eq=False)
class CaseOutcome:
    """A case under one set of rules, run until nobody has anything left to do."""

    cluster: Cluster  # the cluster, at its end
    # object or command -> what the user was answered; objects that were created are left out
    answers: Mapping[str, str]
    rests: bool  # whether nobody has anything left to do, or not for a quarter of an hour; else states mean little
    drawn: bool  # whether a tie was broken, or anything else drawn, so that another seed may give another outcome

    @cached_property
    def verdicts(self) -> Mapping[str, Mapping[str, NodeVerdict]]:
        """Pod -> node -> what the pod's first pass found."""
        world, chosen = self.cluster.world, {pod: rows[0].node for pod, rows in self._passes.items() if rows}
        nodes = [key.name for key in sorted(world.log.objects) if key.kind == "Node"]
        found: dict[str, Mapping[str, NodeVerdict]] = {}
        for turn in world.turns:
            if turn.actor != PASS or turn.cause in found or turn.cause not in chosen or turn.end > world.place:
                continue
            key = Key("Pod", *turn.cause.split("/", 1))
            rejected = read_last_pass(self.cluster, key, turn, rejections) or {}
            taken = chosen[turn.cause]
            found[turn.cause] = {node: NodeVerdict(*rejected.get(node, ("", "")), node == taken) for node in nodes}
        return {ref(Key("Pod", *pod.split("/", 1))): verdicts for pod, verdicts in found.items()}

    @property
    def _passes(self) -> Mapping[str, Any]:
        return passes_by_pod(self.cluster)

    @cached_property
    def passes(self) -> Mapping[str, str]:
        """Pod -> how often it was judged."""
        return {ref(Key("Pod", *pod.split("/", 1))): str(len(rows)) for pod, rows in self._passes.items()}

    @cached_property
    def ends(self) -> Mapping[str, str]:
        """Pod, claim or volume -> where it is in the end; those with names that controllers made up by their owners."""
        found: dict[str, list[str]] = {}
        first = ("Pod", "PersistentVolumeClaim", "PersistentVolume", "Node")
        keys = [key for key in sorted(self.cluster.world.log.objects) if key.kind in first]
        for key in sorted(keys, key=lambda key: first.index(key.kind)):
            obj: Any = self.cluster.world.log.objects[key]
            match key.kind:
                case "Pod":
                    maker = next((each for each in obj.metadata.owner_references if each.controller), None)
                    made_up = maker is not None and maker.kind != "StatefulSet"  # its name
                    node, phase = obj.spec.node_name, obj.status.phase
                    about = f"pods of {maker.kind} {maker.name}" if maker is not None and made_up else ref(key)
                    found.setdefault(about, []).append(f"on {node}, {phase}" if node else phase or "Pending")
                case "PersistentVolumeClaim":
                    name = obj.spec.volume_name
                    volume = "a new volume" if name.startswith(MADE_BY_PROVISIONERS) else name
                    found[ref(key)] = [f"{obj.status.phase} to {volume}" if volume else obj.status.phase]
                case "PersistentVolume":
                    claim, is_new = obj.spec.claim_ref, key.name.startswith(MADE_BY_PROVISIONERS)
                    about = f"new volume of pvc/{claim.name}" if claim and is_new else ref(key)
                    found[about] = [_volume_words(obj)]
                case "Node":
                    found[ref(key)] = ["exists"]
        return {about: "; ".join(sorted(words)) for about, words in found.items()}

    @cached_property
    def writes(self) -> Mapping[str, str]:
        """Writer and object -> how often it wrote it, and how."""
        rows = [row for row in self.cluster.requests() if row.name and not row.name.startswith(MADE_BY_PROVISIONERS)]
        counts = Counter((f"{row.resource}/{row.name}", row.by, f"{row.operation} {row.subresource}") for row in rows)
        return {f"{about} by {by}, {how.strip()}": str(count) for (about, by, how), count in sorted(counts.items())}


def run_case(rules: Cluster, case: Case, seed: int) -> CaseOutcome:
    """Return what becomes of a case under the rules of an empty cluster.

    Raises:
        ImpossibleCase: the objects cannot be read, or cannot be there.
    """
    cluster, answers = start(rules, case, seed)
    draws: list[str] = []

    def choose(purpose: str, key: str, attempt: int, bound: int) -> int:
        draws.append(purpose)
        return seeded_draw(seed, purpose, key, attempt, bound)

    cluster.world.chooser = choose
    rests = _rests(cluster)
    for command in case.commands:
        answers[command] = repr(cluster.kubectl(command.removeprefix("kubectl ")))
        rests = _rests(cluster)
    cluster.world.chooser = None
    return CaseOutcome(cluster, answers, rests, bool(draws))


def _rests(cluster: Cluster) -> bool:
    """Run a cluster, and say whether it came to rest."""
    return len(cluster.run(steps=MOST_STEPS, seconds=MOST_SECONDS)) < MOST_STEPS


def start(rules: Cluster, case: Case, seed: int) -> tuple[Cluster, dict[str, str]]:
    """Return a cluster with the objects of a case before any component has acted, and which were refused, and why.

    Raises:
        ImpossibleCase: the objects cannot be read, or cannot be there.
    """
    cluster, answers = rules.fork(rules.name or rules.revision.name), {}
    cluster.world.seed = seed
    cluster._load(case.found)
    for obj in case.created:
        try:
            cluster.apply(obj)
        except ApplyRefused as refused:
            answers[ref(refused.refusals[0].write.key)] = refused.lines[0]
        except ManifestError as why:
            raise ImpossibleCase(str(why)) from why
    cluster.world.reset_history()
    return cluster, answers


def _volume_words(volume: PersistentVolume) -> str:
    claim = volume.spec.claim_ref
    alternatives = (", ".join(f"{each.key} {each.operator} {' '.join(each.values)}" for each in term.match_expressions)
                    for term in volume.spec.node_terms)  # fmt: skip
    where = " or ".join(alternatives)
    return f"{volume.status.phase}{f' to {claim.name}' if claim else ''}{f', reached from {where}' if where else ''}"


def _end_rows(a: CaseOutcome, b: CaseOutcome) -> Iterator[ComparedAnswer]:
    if a.rests and b.rests:
        yield from _of_both(a.ends, b.ends, "in the end", "does not exist")
    yield ComparedAnswer("the loop", "in the end", *("rests" if each.rests else "never rests" for each in (a, b)))


def _of_both(a: Mapping[str, str], b: Mapping[str, str], what: str, missing: str) -> Iterator[ComparedAnswer]:
    for about in dict.fromkeys((*a, *b)):
        yield ComparedAnswer(about, what, a.get(about, missing), b.get(about, missing))


def _verdict_rows(a: CaseOutcome, b: CaseOutcome, words: Callable[[NodeVerdict], str]) -> Iterator[ComparedAnswer]:
    for pod in dict.fromkeys((*a.verdicts, *b.verdicts)):
        if pod in a.verdicts and pod in b.verdicts:
            nodes = dict.fromkeys((*a.verdicts[pod], *b.verdicts[pod]))
            for node in nodes:
                both = (each.verdicts[pod].get(node) for each in (a, b))
                yield ComparedAnswer(pod, f"pass 1 on {node}", *(words(each) if each else "–" for each in both))


def _field_rows(a: CaseOutcome, b: CaseOutcome) -> Iterator[ComparedAnswer]:
    for about, change in (row for row in different_fields(a.cluster, b.cluster) if not is_bookkeeping(row)):
        if "last-applied-configuration" not in change.path and "resourceVersion" not in change.path:
            yield ComparedAnswer(about, change.path, change.old or "–", change.new or "–")


ASPECTS: Mapping[str, Callable[[CaseOutcome, CaseOutcome], Iterable[ComparedAnswer]]] = {
    "answers": lambda a, b: _of_both(a.answers, b.answers, "is answered", "created"),
    "nodes": lambda a, b: _verdict_rows(a, b, lambda verdict: verdict.short),
    "ends": _end_rows,
    "words": lambda a, b: _verdict_rows(a, b, str),
    "passes": lambda a, b: _of_both(a.passes, b.passes, "passes", "0"),
    "fields": _field_rows,
    "writes": lambda a, b: _of_both(a.writes, b.writes, "writes", "0"),
}
"""What outcomes are compared by."""
USUAL = ("answers", "nodes", "ends")


def rows_of(a: CaseOutcome, b: CaseOutcome, of: Iterable[str]) -> Iterator[ComparedAnswer]:
    """Yield the rows of these aspects, those in which both are alike too."""
    for aspect in of:
        yield from ASPECTS[aspect](a, b)


def differs(a: CaseOutcome, b: CaseOutcome, of: Iterable[str]) -> bool:
    """Say whether two outcomes differ in one of these aspects."""
    return any(row.differs for row in rows_of(a, b, of))


def chosen_words(what: str, chosen: str | Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Return words of which each must be known, one or several.

    Raises:
        UnknownName: one of them is not; the message lists those there are. It is a ValueError.
    """
    words = (chosen,) if isinstance(chosen, str) else tuple(chosen)
    for word in words:
        if word not in known:
            raise unknown_name(f"{what} {word!r}", str(word), list(known))
    return words

"""Exercises: write one rule of kube-scheduler yourself, and be judged by what the real one answered.

A few recorded cases of each rule ship with the package: a pod, a cluster, and which nodes the rule rejected, in its
words. `check` asks a learner's rule about every node of them and keeps the first answer that differs. Only Yes and No
are compared; a rule that fails or does not answer disagrees, and says how.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib import resources
from typing import Any

import attrs

from .api.kinds.meta import Frozen
from .api.text.manifest import from_plain
from .api.text.yaml_text import to_yaml
from .cluster import Cluster
from .revision import revision_named
from .scheduler.columns.snapshot import Snapshot, snapshot
from .scheduler.framework.custom_plugin import as_verdict, display_name
from .scheduler.framework.verdict import Reject

LearnerRule = Callable[[Any, Any, Snapshot], Any]
LABELS, TAINTS = "metadata.labels", "spec.taints"
AFFINITY = ("spec.nodeSelector", "spec.affinity.nodeAffinity")
READS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # of the pod and of the node, what rules read
    "NodeResourcesFit": (("spec.initContainers", "spec.containers", "spec.overhead"), ("status.allocatable",)),
    "NodeAffinity": (AFFINITY, (LABELS,)),
    "TaintToleration": (("spec.tolerations",), (TAINTS,)),
    "PodTopologySpread": ((LABELS, "spec.topologySpreadConstraints", *AFFINITY, "spec.tolerations"), (LABELS, TAINTS)),
    "VolumeBinding": (("spec.volumes",), (LABELS,)),
    "VolumeZone": (("spec.volumes",), (LABELS,)),
    "NodeVolumeLimits": (("spec.volumes",), ()),
}
BEHIND = {  # what a rule about volumes reads behind the pod and beside the node
    "PersistentVolumeClaim": ("spec.storageClassName", "spec.volumeName", "spec.resources"),
    "PersistentVolume": (LABELS, "spec.nodeAffinity", "spec.csi"),
    "StorageClass": ("provisioner", "volumeBindingMode", "allowedTopologies"),
    "CSINode": ("spec.drivers",),
}
QUIET = frozenset({"image", "ports", "imagePullPolicy", "securityContext"})


@attrs.frozen
class Answer:
    """What was recorded of one node, and what a learner's rule says; empty reasons are a Yes."""

    node: str
    recorded: tuple[str, ...]
    yours: tuple[str, ...]
    sides: tuple[str, ...] = ()
    """The evidence that the learner's rule gives, if it gives any."""
    failed: str = ""
    """Why the learner's rule gave no answer."""

    @property
    def agrees(self) -> bool:
        """Whether both say Yes or both say No."""
        return not self.failed and bool(self.recorded) == bool(self.yours)


@attrs.frozen(slots=False)
class RecordedCase:
    """One recorded case of one rule: the pod, the cluster, and per node the reasons of a No."""

    id: str
    plugin: str
    pod: Any
    objects: tuple[Any, ...] = attrs.field(repr=False)
    recorded: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, case: Mapping[str, Any], plugin: str) -> RecordedCase:
        """Read a case, as recorded with every rule or as shipped with one."""
        said = {node: found.get("rejections", {}) for node, found in case.get("expect", {}).get("nodes", {}).items()}
        reasons = case.get("recorded") or {node: found.get(plugin, ()) for node, found in said.items()}
        recorded = {node: tuple(given) for node, given in sorted(reasons.items())}
        return cls(str(case["id"]), plugin, case["pod"], tuple(case["objects"]), recorded)

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster with its pod, to look around in: `.map()`, `.step("scheduler")`, `.why(...)`."""
        return Cluster.from_manifests([*self.objects, self.pod], name=self.id)

    def line(self) -> str:
        """Return the case as one line of JSON."""
        plain = {"id": self.id, "pod": self.pod, "objects": self.objects, "recorded": self.recorded}
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))

    @cached_property
    def seen(self) -> Snapshot:
        """What the scheduler sees of the case's cluster."""
        return snapshot(item for item in map(from_plain, self.objects) if not isinstance(item, Frozen))

    @cached_property
    def wanted(self) -> Any:
        """The pod, read."""
        return from_plain(self.pod)

    def ask(self, rule: LearnerRule) -> Iterator[Answer]:
        """Ask a rule about every node."""
        for name, recorded in self.recorded.items():
            node = self.seen.node(name)
            try:
                given = as_verdict(rule(self.wanted, node, self.seen), "no reason given")
            except Exception as error:  # noqa: BLE001 - whatever a learner's rule raises is shown, not raised
                yield Answer(name, recorded, (), failed=f"{type(error).__name__}: {error}")
                continue
            reasons = given.reasons if isinstance(given, Reject) else ()
            yield Answer(name, recorded, reasons, tuple(map(str, getattr(given, "evidence", ()))))

    def wrong(self, rule: LearnerRule) -> list[Answer]:
        """Return the answers that differ."""
        return [answer for answer in self.ask(rule) if not answer.agrees]


@attrs.frozen(slots=False)
class Disagreement:
    """The first node of which a learner's rule says something else than kube-scheduler did, with both sides."""

    told: RecordedCase
    node: str
    answers: tuple[Answer, ...]

    @property
    def answer(self) -> Answer:
        """What both say of the node."""
        return next(answer for answer in self.answers if answer.node == self.node)

    @property
    def cluster(self) -> Cluster:
        """The case's cluster, to look around in."""
        return self.told.cluster

    @property
    def because(self) -> tuple[str, ...]:
        """Both sides of the comparison on which the real rule rejects the node; () if it does not."""
        rule: Any = revision_named("upstream").profile.plugin(self.told.plugin)
        given = rule.rule(self.told.wanted, self.told.seen.node(self.node), self.told.seen)
        return tuple(map(str, given.evidence)) if isinstance(given, Reject) and self.answer.recorded else ()

    @property
    def pod(self) -> str:
        """What the rule reads of the pod, as YAML; a rule about volumes follows its claims."""
        own = _part(self.told.pod, READS[self.told.plugin][0])
        return own if "Volume" not in self.told.plugin else own + "".join(map(self._behind, self._followed()))

    @property
    def placed(self) -> str:
        """What the rule reads of the node, as YAML."""
        beside = self._behind(("CSINode", self.node)) if self.told.plugin == "NodeVolumeLimits" else ""
        return _part(self._objects["Node", self.node], READS[self.told.plugin][1]) + beside

    @cached_property
    def _objects(self) -> dict[tuple[str, str], Any]:
        return {(item["kind"], item["metadata"]["name"]): item for item in self.told.objects}

    def _followed(self) -> Iterator[tuple[str, str]]:
        """Yield the pod's claims, each with its volume or else its class."""
        for name in self.told.wanted.claim_names():
            claim = self.told.seen.claim(self.told.wanted.metadata.namespace, name)
            if claim is not None:
                yield "PersistentVolumeClaim", name
                bound = claim.spec.volume_name
                yield ("PersistentVolume", bound) if bound else ("StorageClass", str(claim.spec.storage_class_name))

    def _behind(self, place: tuple[str, str]) -> str:
        """Return what rules read of an object as YAML, under its name."""
        found = self._objects.get(place)
        text = _part(found, BEHIND[place[0]]) if found is not None else "not found\n"
        return f"# {place[0]} {place[1]}\n{text}"

    def figure(self, head: str = "") -> Any:
        """Draw both sides, under a first line."""
        from .views.show import disagreement  # noqa: PLC0415 - a picture is drawn only when it is shown

        return disagreement(self, head)


@attrs.frozen(repr=False)
class Checked:
    """How far a learner's rule agrees; true if everywhere."""

    plugin: str
    rule: str
    agree: int
    of: int
    cases: int
    first: Disagreement | None = None

    def __bool__(self) -> bool:
        return self.first is None

    @property
    def sentence(self) -> str:
        """How many verdicts agree."""
        count = f"{self.agree} of {self.of} nodes in {self.cases} recorded cases"
        return f"{self.rule} agrees with {self.plugin} on {count}"

    def __repr__(self) -> str:
        return f"{self.sentence}." if self.first is None else str(self.first.figure(f"{self.sentence}.").reading)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        shown: dict[str, Any] = {} if self.first is None else self.first.figure()._repr_mimebundle_()
        return shown | {"text/plain": repr(self)}


@attrs.frozen(repr=False)
class Exercise:
    """One rule of kube-scheduler, to be written by you: `check(my_rule)` says where yours differs first."""

    name: str
    cases: tuple[RecordedCase, ...]

    def check(self, rule: Any) -> Checked:
        """Ask a rule about every node of every case, smallest case first.

        Args:
            rule: a function `(pod, node, seen)`, or an object with such a method `rule`; it answers Ok or Reject, True
                or False, or why not, as text.
        """
        asked: LearnerRule = rule if callable(rule) and not hasattr(rule, "rule") else rule.rule
        first, agree, of = None, 0, 0
        for told in self.cases:
            answers = tuple(told.ask(asked))
            agree += sum(answer.agrees for answer in answers)
            of += len(answers)
            if first is None:
                node = next((answer.node for answer in answers if not answer.agrees), None)
                first = Disagreement(told, node, answers) if node is not None else None
        return Checked(self.name, display_name(rule), agree, of, len(self.cases), first)

    def __repr__(self) -> str:
        nodes = sum(len(told.recorded) for told in self.cases)
        noes = sum(map(bool, (reasons for told in self.cases for reasons in told.recorded.values())))
        return f"Exercise {self.name}: {len(self.cases)} recorded cases, {nodes} nodes, {noes} of them rejected"


def names() -> tuple[str, ...]:
    """Return the names of the exercises."""
    return tuple(READS)


def exercise(name: str) -> Exercise:
    """Return the exercise of a plugin: `exercise("NodeResourcesFit").check(my_rule)`.

    Raises:
        KeyError: there is none of this name; the message lists the names.
    """
    if name not in READS:
        raise KeyError(f"no exercise {name!r}; there are: {', '.join(READS)}")
    return _shipped(name)


@cache
def _shipped(name: str) -> Exercise:
    packed = resources.files("kvolsched").joinpath("exercises", f"{name}.jsonl.gz").read_bytes()
    cases = map(json.loads, gzip.decompress(packed).decode().splitlines())
    return Exercise(name, tuple(RecordedCase.of(case, name) for case in cases))


def _part(plain: Mapping[str, Any], paths: Iterable[str]) -> str:
    """Return the named parts of an object as YAML, without what no rule reads."""
    kept: dict[str, Any] = {}
    for path in paths:
        *parents, last = path.split(".")
        found: Any = plain
        for key in (*parents, last):
            found = found.get(key) if isinstance(found, Mapping) else None
        if found:
            place = kept
            for key in parents:
                place = place.setdefault(key, {})
            place.setdefault(last, _read(found))
    return to_yaml(kept) if kept else ""


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _read(inner) for key, inner in value.items() if key not in QUIET}
    return [_read(inner) for inner in value] if isinstance(value, list | tuple) else value

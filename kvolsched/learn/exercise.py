"""Exercises: a learner writes one rule of kube-scheduler and compares it with recorded verdicts of the real one.

A few recorded cases of each rule ship with the package: a pod, a cluster, and the rejected nodes with their reasons.
`check` asks a learner's rule about every node and keeps the first difference. It compares only Yes and No; a rule
that raises an error or gives no answer disagrees.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any

import attrs

from kvolsched.api.notebook_output import PrintedAnswer

from ..api.kinds.meta import Frozen
from ..api.text.manifest import from_plain
from ..api.text.yaml_text import to_yaml
from ..api.unknown_name import unknown_name
from ..cluster import Cluster
from ..rules.named import plugin_card, plugin_cards, revision_named
from ..rules.revision import Revision
from ..scheduler.columns.snapshot import Snapshot, snapshot
from ..scheduler.framework.card import RuleReads
from ..scheduler.framework.custom_plugin import as_verdict, display_name
from ..scheduler.framework.verdict import Reject
from ..scheduler.requests import allocatable, pod_requests

if TYPE_CHECKING:
    from ..views.drawing.figure import Figure

LearnerRule = Callable[[Any, Any, Snapshot], Any]
RELATED_READS = {  # fields of other objects that rules about volumes read
    "PersistentVolumeClaim": ("spec.storageClassName", "spec.volumeName", "spec.resources"),
    "PersistentVolume": ("metadata.labels", "spec.nodeAffinity", "spec.csi"),
    "StorageClass": ("provisioner", "volumeBindingMode", "allowedTopologies"),
    "CSINode": ("spec.drivers",),
}
UNREAD_FIELDS = frozenset({"image", "ports", "imagePullPolicy", "securityContext"})


@attrs.frozen
class Answer:
    """The recorded verdict on one node and the learner's, as reasons of a No; no reasons are a Yes."""

    node: str  # the node
    recorded: tuple[str, ...]  # the recorded reasons
    yours: tuple[str, ...]  # the reasons of the learner's rule
    sides: tuple[str, ...] = ()  # the evidence of the learner's rule
    failed: str = ""  # the error of the learner's rule; "" for none

    @property
    def agrees(self) -> bool:
        """Whether both say Yes or both say No."""
        return not self.failed and bool(self.recorded) == bool(self.yours)


@attrs.frozen(slots=False)
class RecordedCase:
    """One recorded case of one rule: the pod, the cluster, and the reasons of a No per node."""

    id: str
    plugin: str
    pod: Any
    objects: tuple[Any, ...] = attrs.field(repr=False)
    recorded: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, case: Mapping[str, Any], plugin: str) -> RecordedCase:
        """Return a case of one rule from a recording of all rules, or from a shipped one."""
        expected = case.get("expect", {}).get("nodes", {})
        rejections = {node: answer.get("rejections", {}) for node, answer in expected.items()}
        reasons = case.get("recorded") or {node: by_plugin.get(plugin, ()) for node, by_plugin in rejections.items()}
        recorded = {node: tuple(given) for node, given in sorted(reasons.items())}
        return cls(str(case["id"]), plugin, case["pod"], tuple(case["objects"]), recorded)

    @cached_property
    def cluster(self) -> Cluster:
        """The case's cluster with its pod, for questions such as `.map()` and `.why(...)`."""
        return Cluster.from_manifests([*self.objects, self.pod], name=self.id)

    def line(self) -> str:
        """Return the case as one line of JSON."""
        plain = {"id": self.id, "pod": self.pod, "objects": self.objects, "recorded": self.recorded}
        return json.dumps(plain, sort_keys=True, separators=(",", ":"))

    @cached_property
    def seen(self) -> Snapshot:
        """The scheduler's snapshot of the case's cluster."""
        return snapshot(item for item in map(from_plain, self.objects) if not isinstance(item, Frozen))

    @cached_property
    def pod_object(self) -> Any:
        """The pod as an object."""
        return from_plain(self.pod)

    @property
    def reads(self) -> RuleReads:
        """What the rule reads."""
        return plugin_card(self.plugin).reads

    def ask(self, rule: LearnerRule) -> Iterator[Answer]:
        """Ask a rule about every node."""
        for name, recorded in self.recorded.items():
            node = self.seen.node(name)
            try:
                given = as_verdict(rule(self.pod_object, node, self.seen), "no reason given")
            except Exception as error:  # noqa: BLE001 - whatever a learner's rule raises is shown, not raised
                yield Answer(name, recorded, (), failed=f"{type(error).__name__}: {error}")
                continue
            reasons = given.reasons if isinstance(given, Reject) else ()
            yield Answer(name, recorded, reasons, tuple(map(str, getattr(given, "evidence", ()))))

    def wrong(self, rule: LearnerRule) -> list[Answer]:
        """Return the answers of a rule that differ from the recorded ones."""
        return [answer for answer in self.ask(rule) if not answer.agrees]


@attrs.frozen(slots=False)
class Disagreement:
    """The first node on which a learner's rule and kube-scheduler disagree, with both sides."""

    case: RecordedCase
    node: str
    answers: tuple[Answer, ...]

    @property
    def answer(self) -> Answer:
        """Both verdicts on the node."""
        return next(answer for answer in self.answers if answer.node == self.node)

    @property
    def cluster(self) -> Cluster:
        """The case's cluster, for further questions."""
        return self.case.cluster

    @property
    def evidence(self) -> tuple[str, ...]:
        """Both sides of the comparison on which the real rule rejects the node; () if it does not reject it."""
        rule: Any = revision_named("upstream").profile.plugin(self.case.plugin)
        given = rule.rule(self.case.pod_object, self.case.seen.node(self.node), self.case.seen)
        return tuple(map(str, given.evidence)) if isinstance(given, Reject) and self.answer.recorded else ()

    @property
    def pod(self) -> str:
        """The fields of the pod that the rule reads, as YAML; rules about volumes also read its claims."""
        fields = _parts_as_yaml(self.case.pod, self.case.reads.pod)
        related = self._claims_and_sources() if "spec.volumes" in self.case.reads.pod else ()
        return fields + "".join(map(self._related_as_yaml, related))

    @property
    def node_fields(self) -> str:
        """The fields of the node that the rule reads, as YAML."""
        csi_node = self._related_as_yaml(("CSINode", self.node)) if self.case.reads.csi_node else ""
        return _parts_as_yaml(self._objects["Node", self.node], self.case.reads.node) + csi_node

    @cached_property
    def _objects(self) -> dict[tuple[str, str], Any]:
        return {(item["kind"], item["metadata"]["name"]): item for item in self.case.objects}

    def _claims_and_sources(self) -> Iterator[tuple[str, str]]:
        """Yield (kind, name) of the pod's claims, each followed by its volume or class."""
        for name in self.case.pod_object.claim_names():
            claim = self.case.seen.claim(self.case.pod_object.metadata.namespace, name)
            if claim is not None:
                yield "PersistentVolumeClaim", name
                bound = claim.spec.volume_name
                yield ("PersistentVolume", bound) if bound else ("StorageClass", str(claim.spec.storage_class_name))

    def _related_as_yaml(self, kind_and_name: tuple[str, str]) -> str:
        """Return the fields of an object that rules read, as YAML under its name."""
        found = self._objects.get(kind_and_name)
        text = _parts_as_yaml(found, RELATED_READS[kind_and_name[0]]) if found is not None else "not found\n"
        return f"# {' '.join(kind_and_name)}\n{text}"

    def figure(self, head: str = "") -> Figure:
        """Draw both sides under a headline."""
        from ..views.show import disagreement  # noqa: PLC0415 - a picture is drawn only when it is shown

        return disagreement(self, head)


@attrs.frozen(repr=False)
class ExerciseResult:
    """How far a learner's rule agrees with the recorded verdicts; true if it agrees on every node."""

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
        """The number of equal verdicts, in one sentence."""
        count = f"{self.agree} of {self.of} nodes in {self.cases} recorded cases"
        return f"{self.rule} agrees with {self.plugin} on {count}"

    def __repr__(self) -> str:
        return f"{self.sentence}." if self.first is None else str(self.first.figure(f"{self.sentence}.").reading)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        shown: dict[str, Any] = {} if self.first is None else self.first.figure(f"{self.sentence}.")._repr_mimebundle_()
        return shown | {"text/plain": repr(self)}


@attrs.frozen(repr=False)
class Exercise(PrintedAnswer):
    """One rule of kube-scheduler as an exercise: `check(my_rule)` shows the first difference."""

    name: str
    cases: tuple[RecordedCase, ...]

    @staticmethod
    def amounts(quantities: Mapping[str, str]) -> Mapping[str, int]:
        """Return quantities as whole numbers: cpu in thousandths, memory and storage in bytes, others as they are.

        >>> exercise("NodeResourcesFit").amounts({"cpu": "1.5", "memory": "1Ki"})
        {'cpu': 1500, 'memory': 1024}
        """
        return allocatable(quantities)

    @staticmethod
    def requests(pod: Any) -> Mapping[str, int]:
        """Return what a pod requests, in the units of `amounts`, added up over its containers as Kubernetes does.

        Init containers run one by one before the others, sidecars beside all that come after them; `overhead` is added.
        """
        return pod_requests(pod.spec).amounts

    def check(self, rule: Any) -> ExerciseResult:
        """Ask a rule about every node of every case, smallest case first.

        Args:
            rule: a function `(pod, node, seen)`, or an object with such a method `rule`; it answers Ok or Reject, True
                or False, or a reason as text. A revision stands for its own plugin.
        """
        called = rule.name if isinstance(rule, Revision) else display_name(rule)
        rule = rule.profile.plugin(self.name) if isinstance(rule, Revision) else rule
        asked: LearnerRule = rule if callable(rule) and not hasattr(rule, "rule") else rule.rule
        first, agree, of = None, 0, 0
        for case in self.cases:
            answers = tuple(case.ask(asked))
            agree += sum(answer.agrees for answer in answers)
            of += len(answers)
            if first is None:
                node = next((answer.node for answer in answers if not answer.agrees), None)
                first = Disagreement(case, node, answers) if node is not None else None
        return ExerciseResult(self.name, called, agree, of, len(self.cases), first)

    def __repr__(self) -> str:
        nodes = sum(len(case.recorded) for case in self.cases)
        rejected = sum(map(bool, (reasons for case in self.cases for reasons in case.recorded.values())))
        return f"Exercise {self.name}: {len(self.cases)} recorded cases, {nodes} nodes, {rejected} of them rejected"


def names() -> tuple[str, ...]:
    """Return the names of the exercises: the plugins that say what their rules read, in their order.

    >>> names()[0]
    'TaintToleration'
    """
    return tuple(name for name, card in plugin_cards().items() if card.reads.pod)


def exercise(name: str) -> Exercise:
    """Return the exercise of a plugin: `exercise("NodeResourcesFit").check(my_rule)`.

    Raises:
        UnknownName: there is no such exercise; the message lists the names. It is a KeyError.

    >>> exercise("NodeResourcesFit").name
    'NodeResourcesFit'
    """
    if name not in names():
        raise unknown_name(f"exercise {name!r}", name, list(names()))
    return _load_exercise(name)


@cache
def _load_exercise(name: str) -> Exercise:
    packed = resources.files("kvolsched.learn").joinpath("exercises", f"{name}.jsonl.gz").read_bytes()
    cases = map(json.loads, gzip.decompress(packed).decode().splitlines())
    return Exercise(name, tuple(RecordedCase.of(case, name) for case in cases))


def _parts_as_yaml(plain: Mapping[str, Any], paths: Iterable[str]) -> str:
    """Return the values at these paths of an object as YAML, without fields that no rule reads."""
    kept: dict[str, Any] = {}
    for path in paths:
        *parents, last = path.split(".")
        found: Any = plain
        for key in (*parents, last):
            found = found.get(key) if isinstance(found, Mapping) else None
        if found:
            parent = kept
            for key in parents:
                parent = parent.setdefault(key, {})
            parent.setdefault(last, _without_unread(found))
    return to_yaml(kept) if kept else ""


def _without_unread(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_unread(inner) for key, inner in value.items() if key not in UNREAD_FIELDS}
    return [_without_unread(inner) for inner in value] if isinstance(value, list | tuple) else value

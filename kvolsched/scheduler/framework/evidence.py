"""Evidence: why a rule rejects a node, as a value with its operands as fields.

`str` is the sentence and `short` gives both sides in a few words; whoever needs a number reads its field, so words can
change without it. The kinds that one plugin alone gives and nobody else reads stand beside it;
`Stated` takes a reader's own words.
"""

from collections.abc import Iterable
from typing import Self

import attrs

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.selector import NodeSelector
from kvolsched.api.words import counted

from ..requests import PODS, format_amount

Labels = tuple[tuple[str, str | None], ...]
"""Labels of a node that a rule looked at; the value is None if the node lacks the label."""

Predicate = tuple[str, str]
"""What is wrong with a node, as the verb in the singular and the rest: `is`, `cordoned`."""

NO_LABEL = "no label"


@attrs.frozen
class Sides:
    """Both sides of one comparison in a few words: `20Gi > 15Gi`.

    Args:
        left, relation, right: the comparison; words that compare nothing are all on the left.
        about: what the right side is of: `class ebs`.
        asked, found: amounts of the comparison, if it compares amounts.
        evidence: the comparison in the rule's words.
    """

    left: str
    relation: str = ""
    right: str = ""
    about: str = ""
    asked: int | None = None
    found: int | None = None
    evidence: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.left, self.relation, self.right)))


class Evidence:
    """Why a rule rejects a node: each kind is a frozen value whose `str` is a sentence.

    A kind that names the node has its name as `node`; one whose reason does not say what it is about has a `subject`.
    """

    __slots__ = ()

    @property
    def subject(self) -> str:
        """What it is about in words, if the reason does not say it; else ""."""
        return ""

    @property
    def until(self) -> str:
        """What must come first where the node itself must change: `the cordon is lifted`; else ""."""
        return ""

    def of_node(self) -> Predicate:
        """Return what is wrong with the node."""
        return "fails:", str(self.of_any_node())

    def of_any_node(self) -> Self:
        """Return the same without the node's name, for a sentence that names the node already."""
        return attrs.evolve(self, node="") if getattr(self, "node", "") else self  # type: ignore[misc]

    def short(self) -> Sides:
        """Return both sides in a few words."""
        return Sides(str(self.of_any_node()))


@attrs.frozen
class Stated(Evidence):
    """Evidence in words of your own: `Stated("2 pods of team a > 1 allowed")`."""

    words: str

    def __str__(self) -> str:
        return self.words


@attrs.frozen
class LabelMissing(Evidence):
    """A node lacks a label by which domains are told apart."""

    key: str
    node: str

    def of_node(self) -> Predicate:
        return "has", f"no label {self.key}"

    def __str__(self) -> str:
        return f"topologyKey {self.key} not among the labels of {node_text(self.node)}"

    def short(self) -> Sides:
        return Sides("no such label", about=self.key)


@attrs.frozen
class RequestExceeds(Evidence):
    """The pod asks for more of a resource than the node's allocatable less what its pods ask for."""

    resource: str
    asked: int
    allocatable: int
    requested: int

    @property
    def free(self) -> int:
        """What is left."""
        return self.allocatable - self.requested

    def of_node(self) -> Predicate:
        if self.resource == PODS:
            return "has", f"{self.requested} of {self.allocatable} pods already"
        if not self.allocatable:
            return "has", f"no {self.resource}"
        amounts = (self.asked - self.free, max(0, self.free), self.allocatable)
        lacks, free, there = (format_amount(self.resource, amount) for amount in amounts)
        return "lacks", f"{lacks} {self.resource} ({free} of {there} left)"

    def __str__(self) -> str:
        amounts = (self.asked, self.allocatable, self.requested, self.free)
        asked, there, taken, free = (format_amount(self.resource, amount) for amount in amounts)
        return f"requests.{self.resource} {asked} > allocatable {there} − requested {taken} = {free}"

    def short(self) -> Sides:
        asked, free = (format_amount(self.resource, amount) for amount in (self.asked, self.free))
        return Sides(asked, ">", free, "left", self.asked, max(0, self.free))


@attrs.frozen
class LimitExceeded(Evidence):
    """With the pod's new volumes of a driver the node would have more than its limit."""

    driver: str
    attached: int
    added: int
    limit: int

    def of_node(self) -> Predicate:
        attached = f"{self.attached} of {self.limit} volumes of {self.driver} attached"
        return "has", f"{attached}, and the pod needs {self.added} more"

    def __str__(self) -> str:
        return f"{counted(self.attached, 'volume')} of {self.driver} attached + {self.added} new > limit {self.limit}"

    @property
    def total(self) -> int:
        """How many volumes of the driver there would be."""
        return self.attached + self.added

    def short(self) -> Sides:
        left = f"{self.attached} + {self.added} new"
        return Sides(left, "> limit", str(self.limit), self.driver, self.total, self.limit)


@attrs.frozen
class VolumeOutOfReach(Evidence):
    """A volume's node affinity does not admit the node; `labels` are those of the node of which it speaks."""

    volume: str
    required: NodeSelector
    labels: Labels

    def __str__(self) -> str:
        return f"volume {self.volume}: {self.required} does not match {labels_text(self.labels) or node_text('')}"

    def short(self) -> Sides:
        only = self.required.only_requirement
        wanted = listed(only.values) if only is not None and only.operator == "In" else str(self.required)
        return Sides(values_text(self.labels) or node_text(""), "not in", wanted, f"volume {self.volume}")


@attrs.frozen
class LeftOut(Evidence):
    """A plugin's PreFilter leaves the node out."""

    plugin: str

    def of_node(self) -> Predicate:
        return "is", str(self)

    def __str__(self) -> str:
        return f"not among the nodes that {self.plugin} allows"


def labels_of(node: Node, keys: Iterable[str]) -> Labels:
    """Return a node's labels of these keys; None for one that it lacks."""
    return tuple((key, node.metadata.labels.get(key)) for key in keys)


def node_text(name: str) -> str:
    """Return a node in words; of one without a name, `the node`."""
    return f"node {name}" if name else "the node"


def labels_text(labels: Labels) -> str:
    """Return labels as `zone=a, no label rack`."""
    return ", ".join(f"{NO_LABEL} {key}" if value is None else f"{key}={value}" for key, value in labels)


def values_text(labels: Labels) -> str:
    """Return the values of labels: `a, no label rack`."""
    return ", ".join(f"{NO_LABEL} {key}" if value is None else value for key, value in labels)


def listed(values: Iterable[str]) -> str:
    """Return values as a list in words: `[a, b]`."""
    return f"[{', '.join(values)}]"

"""Why a node cannot have a pod's volumes: the evidence of the plugins that look at volumes, nodes and capacity."""

import attrs

from ....api.kinds.storage_class import TopologySelectorTerm
from ...framework.evidence import Evidence, Labels, Predicate, Sides, labels_text, listed, values_text
from ...requests import format_amount


@attrs.frozen
class OtherNodeSelected(Evidence):
    """Another node was selected for a claim."""

    claim: str
    selected: str
    judged: str

    def __str__(self) -> str:
        return f"claim {self.claim} selected node {self.selected} ≠ {self.judged}"


@attrs.frozen
class NothingProvisioned(Evidence):
    """No volume was found for a claim, and its class ("": it has none) provisions none."""

    claim: str
    class_name: str

    def of_node(self) -> Predicate:
        return "has", f"no free volume for claim {self.claim}"

    def __str__(self) -> str:
        return f"claim {self.claim} finds no volume, and nothing is provisioned for class {self.class_name}"

    def short(self) -> Sides:
        return Sides("none fits, none is made", about=f"class {self.class_name}" if self.class_name else "no class")


@attrs.frozen
class TopologyNotAllowed(Evidence):
    """The allowedTopologies of a class do not admit the node; `labels` are those of the node of which they speak."""

    allowed: tuple[TopologySelectorTerm, ...]
    labels: Labels

    def _allowed_text(self) -> str:
        return "allowedTopologies " + " or ".join(
            " and ".join(f"{part.key} In {listed(part.values)}" for part in term.match_label_expressions) or "nothing"
            for term in self.allowed
        )

    def __str__(self) -> str:
        return f"{self._allowed_text()} do not admit {labels_text(self.labels)}"

    def short(self) -> Sides:
        parts = [part for term in self.allowed for part in term.match_label_expressions]
        wanted = listed(parts[0].values) if len(parts) == len(self.allowed) == 1 else self._allowed_text()
        return Sides(values_text(self.labels), "not in", wanted, "allowedTopologies of the class")


@attrs.frozen
class CapacityExceeded(Evidence):
    """A claim asks for more than the largest volume that can be made (bytes; below 0: nothing is published)."""

    volume: str
    asked: int
    largest: int
    class_name: str

    def __str__(self) -> str:
        published = f"{format_amount('memory', self.largest)}, the largest volume" if self.largest >= 0 else "nothing"
        return f"{self._asked_text()} > {published} published for class {self.class_name}"

    def of_node(self) -> Predicate:
        where = f" for class {self.class_name}" if self.class_name else ""
        asked = f"and {self.volume} asks for {format_amount('memory', self.asked)}"
        if self.largest < 0:
            return "publishes", f"no capacity{where}, {asked}"
        return "has", f"{format_amount('memory', self.largest)} at most{where}, {asked}"

    def _asked_text(self) -> str:
        return f"{self.volume} asks {format_amount('memory', self.asked)}"

    def short(self) -> Sides:
        asked, largest = format_amount("memory", self.asked), self.largest
        there = format_amount("memory", largest) if largest >= 0 else "nothing"
        about = f"class {self.class_name}" if self.class_name else ""
        return Sides(asked, ">", there, about, self.asked, max(0, largest))


@attrs.frozen
class PoolsExceeded(CapacityExceeded):
    """A volume is larger than what a driver's pools have, found by its object, its entry for the class and pools."""

    path: tuple[str, ...] = ()

    def __str__(self) -> str:
        published = f"{format_amount('memory', self.largest)} at most" if self.largest >= 0 else "nothing"
        return f"{self._asked_text()} > {published} ({' → '.join(self.path)})"

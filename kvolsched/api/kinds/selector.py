"""Match labels with selectors, nodes with node selectors, and taints with tolerations.

The only definition of matching in the package: every rule calls these functions, and tests hold every column equal to
them. Mirrors apimachinery `labels.Selector` and `labels.Parse`, component-helpers `nodeaffinity` and core
`Toleration.ToleratesTaint` (v1.36.2).
"""

import json
import re
from collections.abc import Iterable, Mapping

import attrs

from .meta import EMPTY, Frozen, ManifestPart, freeze
from .name_syntax import check_label_value


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Requirement(ManifestPart):
    """One requirement of a selector: key, operator, values."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether labels meet this requirement (S0, Restricting Topology, Alternatives: all six operators).

        NotIn also holds if the key is missing; Gt and Lt compare integers and match nothing else.
        """
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                number, bound = parse_integer(value), parse_integer(self.values[0]) if len(self.values) == 1 else None
                if number is None or bound is None:
                    return False
                return number > bound if self.operator == "Gt" else number < bound
        return False

    @property
    def is_label_requirement(self) -> bool:
        """Whether Kubernetes can read this as a requirement on labels: label values, and an integer for Gt and Lt.

        A node selector may hold others (`Gt ["-5"]`: no label value starts with a hyphen); their term matches nothing.
        """
        return not self.label_faults("")

    def label_faults(self, path: str) -> list[str]:
        """Return what keeps Kubernetes from reading this as a label requirement, in its words; `path` leads here."""
        faults = []
        for place, value in enumerate(self.values):
            if self.operator in ("Gt", "Lt") and parse_integer(value) is None:
                words = "for 'Gt', 'Lt' operators, the value must be an integer"
                faults.append(f"{path}.values[{place}]: Invalid value: {json.dumps(value)}: {words}")
        for place, value in enumerate(self.values):
            if wrong := check_label_value(value):
                where = f"{path}.values[{place}][{self.key}]"
                faults.append(f"{where}: Invalid value: {json.dumps(value)}: {'; '.join(wrong)}")
        return faults

    def __str__(self) -> str:
        match self.operator:
            case "In" | "NotIn":
                return f"{self.key} {self.operator} [{', '.join(self.values)}]"
            case "Gt" | "Lt":
                return f"{self.key} {'>' if self.operator == 'Gt' else '<'} {', '.join(self.values)}"
        return f"{self.key} {self.operator}"


def parse_integer(text: str | None) -> int | None:
    """Parse a label as a signed 64-bit decimal integer, as Go's ParseInt does; None if it is no such number."""
    if text is None or not text.isascii() or not text.removeprefix("-").removeprefix("+").isdigit():
        return None
    if text[:2] in ("+-", "-+"):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class LabelSelector(ManifestPart):
    """Selector over labels: matchLabels and matchExpressions, ANDed; an empty one matches everything."""

    match_labels: Frozen = EMPTY
    match_expressions: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether labels meet every part of this selector."""
        return all(labels.get(key) == value for key, value in self.match_labels.items()) and all(
            expression.matches(labels) for expression in self.match_expressions
        )

    def __str__(self) -> str:
        parts = [f"{key}={value}" for key, value in sorted(self.match_labels.items())]
        return ", ".join(parts + [str(expression) for expression in self.match_expressions]) or "everything"


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class NodeSelectorTerm(ManifestPart):
    """One term of a node selector: its requirements are ANDed; with none, or an unreadable one, it matches no node."""

    match_expressions: tuple[Requirement, ...] = ()
    match_fields: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str = "") -> bool:
        """Say whether a node with these labels and this name meets every requirement of the term.

        Without a name the fields are not looked at, as kube-scheduler does not for a volume's node affinity (v1.36.2).
        """
        if not self.is_readable:
            return False
        if not name:
            return all(expression.matches(labels) for expression in self.match_expressions)
        fields = {"metadata.name": name}
        return all(expression.matches(labels) for expression in self.match_expressions) and all(
            field.key in fields and field.matches(fields) for field in self.match_fields
        )

    @property
    def is_readable(self) -> bool:
        """Whether the term has requirements, and those on labels can be read as such."""
        return bool(self.match_expressions or self.match_fields) and all(
            expression.is_label_requirement for expression in self.match_expressions
        )

    def __str__(self) -> str:
        return " and ".join(str(part) for part in self.match_expressions + self.match_fields) or "nothing"


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class NodeSelector(ManifestPart):
    """Selector over nodes: terms are ORed; without terms it matches no node (S0, Volume Topology Specification)."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str = "") -> bool:
        """Say whether any term matches a node with these labels and this name."""
        return any(term.matches(labels, name) for term in self.node_selector_terms)

    @property
    def keys(self) -> tuple[str, ...]:
        """The labels that its terms require, in their order."""
        parts = (part for term in self.node_selector_terms for part in term.match_expressions)
        return tuple(dict.fromkeys(part.key for part in parts))

    @property
    def only_requirement(self) -> Requirement | None:
        """The requirement, if there is but one."""
        parts = [part for term in self.node_selector_terms for part in term.match_expressions + term.match_fields]
        return parts[0] if len(parts) == len(self.node_selector_terms) == 1 else None

    def __str__(self) -> str:
        return " or ".join(str(term) for term in self.node_selector_terms) or "nothing"


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Taint(ManifestPart):
    """spec.taints[] of a Node."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None

    def __str__(self) -> str:
        return f"{self.key}{'=' + self.value if self.value else ''}:{self.effect}"


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class Toleration(ManifestPart):
    """spec.tolerations[] of a Pod; an empty effect tolerates all effects, an empty key with Exists all taints.

    Gt and Lt tolerate nothing: the gate of numeric comparison is off (v1.36.2).
    """

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Say whether this toleration tolerates the taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        match self.operator or "Equal":
            case "Equal":
                return self.value == taint.value
            case "Exists":
                return True
        return False


def find_untolerated_taint(taints: Iterable[Taint], tolerations: Iterable[Toleration],
                           effects: tuple[str, ...] = ("NoSchedule", "NoExecute")) -> Taint | None:
    """Return the first taint with one of these effects that no toleration tolerates, or None."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.effect in effects and not any(toleration.tolerates(taint) for toleration in tolerations):
            return taint
    return None


_COMMA_OUTSIDE_PARENTHESES = re.compile(r",(?![^()]*\))")
_WORD = r"[^\s=!<>,()]+"
_PART = re.compile(
    rf"(?P<absent>!?)\s*(?P<key>{_WORD})"
    rf"(?:\s*(?P<sign>==|=|!=|>|<)\s*(?P<value>{_WORD}|)|\s+(?P<among>in|notin)\s*\((?P<values>[^()]*)\))?"
)
_OPERATORS = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt", "in": "In", "notin": "NotIn"}


def read_label_selector(selector: str | Mapping[str, str] | LabelSelector) -> LabelSelector:
    """Return a label selector from its text, or from a mapping of labels; an empty one selects everything.

    Raises:
        ValueError: a part of the text is in none of the known forms.
    """
    if isinstance(selector, LabelSelector):
        return selector
    if isinstance(selector, Mapping):
        return LabelSelector(match_labels=freeze(dict(selector)))
    if not isinstance(selector, str):
        raise ValueError(f"a selector is a text such as 'app=web', not {selector!r}")  # noqa: TRY004 - bad input
    if not selector.strip():
        return LabelSelector()
    parts = _COMMA_OUTSIDE_PARENTHESES.split(selector)
    return LabelSelector(match_expressions=tuple(_requirement(part.strip(), selector) for part in parts))


def _requirement(part: str, selector: str) -> Requirement:
    match = _PART.fullmatch(part)
    if match is None or (match["absent"] and (match["sign"] or match["among"])):
        forms = "app=web, app!=web, app, !app, app in (a, b), app notin (a, b), size>1 or size<9"
        raise ValueError(f"{part!r} in the selector {selector!r} cannot be read; write {forms}, joined by commas")
    if match["among"]:
        values = tuple(value.strip() for value in match["values"].split(","))
        return Requirement(key=match["key"], operator=_OPERATORS[match["among"]], values=values)
    if match["sign"]:
        return Requirement(key=match["key"], operator=_OPERATORS[match["sign"]], values=(match["value"],))
    return Requirement(key=match["key"], operator="DoesNotExist" if match["absent"] else "Exists")

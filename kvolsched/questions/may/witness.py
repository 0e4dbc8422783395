"""Find a node that one pod's directives select and another's do not, or prove that there is none.

Directives are a pod's nodeSelector and required node affinity. Every requirement is about one label or about the name.
For each of these, the possible values fall into finitely many classes that no requirement tells apart; one
representative of each class is tried. So a search that finds nothing is a proof, for all nodes that can exist.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count, pairwise
from typing import NamedTuple

import attrs

from ...api.kinds.directives import selects_node
from ...api.kinds.meta import Frozen, ObjectMeta
from ...api.kinds.name_syntax import check_label_value, check_subdomain
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.selector import Requirement, parse_integer
from ...api.text import manifest

NAME = "metadata.name"  # the one field that terms may match
LARGEST = 2**63 - 1  # of the integers that Gt and Lt compare
NEW_NAME = "new-node"


class _Part(NamedTuple):
    """One requirement on a node: about its name (`field`) or about a label."""

    field: bool
    requirement: Requirement

    @property
    def about(self) -> tuple[bool, str]:
        """What the requirement is about: the name, or the label of a key."""
        return self.field, self.requirement.key


_Term = tuple[_Part, ...]  # ANDed
_Values = tuple[str | None, ...]  # representatives of one label or of the name; None: the label is absent


@attrs.frozen
class Witness:
    """A node that the changed directives select and the present ones do not.

    Args:
        node: the node.
        real: whether it is a node of the cluster; otherwise it was constructed.
    """

    node: Node
    real: bool

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.metadata.name

    @property
    def yaml(self) -> str:
        """The node's manifest; a constructed one has only the labels that matter."""
        return manifest.write([self.node])

    def __str__(self) -> str:
        labels = ", ".join(f"{key}={value}" for key, value in self.node.metadata.labels.items())
        return self.name if self.real else f"a node named {self.name} with {labels or 'no labels'}"


def find_witness(before: Pod, after: Pod, nodes: Sequence[Node] = ()) -> Witness | None:
    """Return a node that `after` selects and `before` does not, or None if no node that can exist is such a one.

    Args:
        before: the pod with its present directives.
        after: the pod with other directives.
        nodes: real nodes, which are preferred to a constructed one.
    """
    for node in nodes:
        if selects_node(after.spec, node) and not selects_node(before.spec, node):
            return Witness(node, real=True)
    found = _construct(before, after)
    if found is None:
        return None
    assert selects_node(after.spec, found)
    assert not selects_node(before.spec, found)
    return Witness(found, real=False)


def _construct(before: Pod, after: Pod) -> Node | None:
    old, new = _terms(before), _terms(after)
    parts = {part for term in (*old, *new) for part in term}
    every = {about: _representatives(about, frozenset(p.requirement for p in parts if p.about == about))
             for about in {(True, NAME), *(part.about for part in parts)}}
    for term in new:
        chosen = _restrict(every, term)
        for left in _violations(chosen, old) if chosen is not None else ():
            # The first value that is left; no label where any value would do.
            values = {about: None if some == every[about] and None in some else some[0] for about, some in left.items()}
            labels = {key: value for (field, key), value in sorted(values.items()) if not field and value is not None}
            return Node(metadata=ObjectMeta(name=values[True, NAME] or NEW_NAME, labels=Frozen(labels)))
    return None


def _terms(pod: Pod) -> list[_Term]:
    """Return directives as ORed terms of ANDed requirements, an empty list if they select nothing."""
    selector = tuple(_Part(field=False, requirement=Requirement(key=key, operator="In", values=(value,)))
                     for key, value in sorted(pod.spec.node_selector.items()))
    required = pod.spec.required_node_affinity
    if required is None:
        return [selector]
    return [(*selector, *(_Part(field=False, requirement=each) for each in term.match_expressions),
             *(_Part(field=True, requirement=each) for each in term.match_fields))
            for term in required.node_selector_terms if term.is_readable]  # fmt: skip


def _holds(part: _Part, value: str | None) -> bool:
    if part.field and part.requirement.key != NAME:
        return False  # nodes have no other field that terms match
    return part.requirement.matches({} if value is None else {part.requirement.key: value})


def _restrict(chosen: Mapping[tuple[bool, str], _Values], term: _Term) -> dict[tuple[bool, str], _Values] | None:
    """Return the values that meet every requirement of a term, or None if one has none left."""
    left = dict(chosen)
    for part in term:
        left[part.about] = tuple(value for value in left[part.about] if _holds(part, value))
        if not left[part.about]:
            return None
    return left


def _violations(chosen: dict[tuple[bool, str], _Values], terms: Sequence[_Term]) -> Iterator[
        dict[tuple[bool, str], _Values]]:
    """Yield choices of values under which each term has a requirement that fails; any value of each will do."""
    if not terms:
        yield chosen
        return
    for part in terms[0]:
        failing = tuple(value for value in chosen[part.about] if not _holds(part, value))
        if failing:
            yield from _violations({**chosen, part.about: failing}, terms[1:])


@lru_cache(maxsize=1 << 10)
def _representatives(about: tuple[bool, str], requirements: frozenset[Requirement]) -> _Values:
    """Return one value of each class that these requirements do not tell apart, those that they name first.

    A value that they do not name only matters by its number: equal to a bound, or between two bounds.
    """
    named = {value for each in requirements if each.operator in ("In", "NotIn") for value in each.values}
    if about[0]:
        names = sorted(name for name in named if not check_subdomain(name))
        return (*names, _unnamed((f"{NEW_NAME}-{number}".removesuffix("-1") for number in count(1)), named))
    bounds = {bound for each in requirements if each.operator in ("Gt", "Lt") and len(each.values) == 1
              if (bound := parse_integer(each.values[0])) is not None}
    values: list[str | None] = [*sorted(value for value in named if not check_label_value(value))]
    edges = sorted({-1, *(bound for bound in bounds if 0 <= bound <= LARGEST), LARGEST + 1})
    for low, high in pairwise(edges) if bounds else ():
        values += [_unnamed((f"{'0' * zeros}{number}" for zeros in count()), named)  # the number is the same
                   for number in dict.fromkeys((low, low + 1)) if 0 <= number < high]  # fmt: skip
    return (*values, _unnamed((f"other-{number}".removesuffix("-1") for number in count(1)), named), None)


def _unnamed(texts: Iterable[str], named: set[str]) -> str:
    return next(text for text in texts if text not in named)

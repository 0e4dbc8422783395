"""The skew of a domain: the one sum that the rule, the ledger, the explorer's invariant and the column's test share.

skew = matchNum + selfMatch − minMatchNum, and at most maxSkew (v1.36.2). S3's ActualSkew = matching − minimum is the
skew after placement.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

import attrs

from ....api.kinds.node import Node
from ....api.kinds.pod import Pod
from ...columns.snapshot import Snapshot
from ...framework.evidence import Evidence, Sides
from .constraint import SpreadConstraint


@attrs.frozen
class Skew:
    """How far ahead of the emptiest domain one domain is if the pod goes there, by one constraint.
    Not to be confused with the widget that shows it for all domains.

    Args:
        constraint: the constraint.
        domain: the value of its topology key; None: the node lacks the key.
        match_num: how many pods are counted in the domain.
        min_match: the count of the emptiest domain, or 0 if there are fewer domains than minDomains.
        domains: how many domains are counted.
        is_checked: whether the constraint can reject a node at all.
        least: what the minimum is, in words.
    """

    constraint: SpreadConstraint
    domain: str | None
    match_num: int
    min_match: int
    domains: int
    is_checked: bool = True
    least: str = "minimum"

    @property
    def skew(self) -> int:
        """The skew if the pod goes there."""
        return self.match_num + self.constraint.self_match - self.min_match

    @property
    def sum_words(self) -> str:
        """The sum as the rule writes it: "3 + 1 − 0 = 4 > 1"."""
        sign = "≤" if self.constraint.allows(self.skew) else ">"
        total = f"{self.match_num} + {self.constraint.self_match} − {self.min_match} = {self.skew}"
        return f"{total} {sign} {self.constraint.max_skew}"

    @property
    def fits(self) -> bool:
        """Whether the constraint allows the pod there."""
        return not self.is_checked or (self.domain is not None and self.constraint.allows(self.skew))

    def __str__(self) -> str:
        counted = f"{self.match_num} in {self.constraint.topology_key}={self.domain}"
        return f"{counted} + self match {self.constraint.self_match} − {self.least} {self.min_match} = {self.skew}"


@attrs.frozen
class SkewExceeds(Evidence):
    """The skew of a node's domain would exceed maxSkew."""

    skew: Skew

    def __str__(self) -> str:
        return f"{self.skew} > maxSkew {self.skew.constraint.max_skew}"

    def short(self) -> Sides:
        skew, limit = self.skew.skew, self.skew.constraint.max_skew
        return Sides(f"skew {skew}", ">", str(limit), self.skew.domain or "", skew, limit)


@attrs.frozen
class DomainMatches:
    """How many pods a constraint counts in each domain (upstream's TpValueToMatchNum)."""

    constraint: SpreadConstraint
    match_num: Mapping[str, int]

    @property
    def has_min_domains(self) -> bool:
        """Whether there are as many domains as minDomains asks for: one at least."""
        return len(self.match_num) >= self.constraint.min_domains

    @cached_property
    def min_match(self) -> int:
        """The count of the emptiest domain; 0 if there are too few domains."""
        return min(self.match_num.values()) if self.has_min_domains else 0

    @property
    def emptiest(self) -> str:
        """The first domain whose count is the minimum; "" if there are too few domains."""
        least = self.min_match
        return min(name for name, count in self.match_num.items() if count == least) if self.has_min_domains else ""

    @property
    def limit(self) -> int:
        """The number of counted pods up to which a domain may be filled."""
        return self.min_match + self.constraint.max_skew

    def skew(self, domain: str | None) -> Skew:
        """Return the skew of a domain; of one that is not counted, its count is 0."""
        match_num = self.match_num.get(domain, 0) if domain is not None else 0
        domains = len(self.match_num)
        is_checked = domains >= self.constraint.skipped_below
        return Skew(self.constraint, domain, match_num, self.min_match, domains, is_checked)


def match_domains(pod: Pod, constraint: SpreadConstraint, constraints: tuple[SpreadConstraint, ...],
                  seen: Snapshot) -> DomainMatches:
    """Count the pods of each domain over the nodes that `SpreadConstraint.node_exclusion` does not exclude."""
    match_num: dict[str, int] = {}
    for node in seen.all_nodes():
        if not constraint.node_exclusion(pod, node, constraints):
            domain = node.metadata.labels[constraint.topology_key]
            match_num[domain] = match_num.get(domain, 0) + constraint.match_num(node, seen)
    return DomainMatches(constraint, match_num)


def skews_on(pod: Pod, node: Node, constraints: tuple[SpreadConstraint, ...], seen: Snapshot) -> Iterator[Skew]:
    """Yield, for each constraint in turn, the skew of a node's domain if the pod goes there."""
    for constraint in constraints:
        domains = match_domains(pod, constraint, constraints, seen)
        yield domains.skew(node.metadata.labels.get(constraint.topology_key))

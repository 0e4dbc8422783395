"""Two other forms of even spreading (S3, rejected): affinity terms in the constraint, and spreading in affinity.

Manifests keep the constraint of the chosen form. Option 1 reads its selector and topology key as an affinity term; the
mix-in reads it as a part of pod affinity, which knows no `whenUnsatisfiable`.
"""

from typing import Any

import attrs

from ...api.kinds.meta import evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.pod import DO_NOT_SCHEDULE, Pod
from ...api.kinds.selector import LabelSelector
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.evidence import LabelMissing, Stated
from ...scheduler.framework.extension_points import ColumnContext
from ...scheduler.framework.profile import derived
from ...scheduler.framework.verdict import OK, Code, Ok, Reason, Reject
from ...scheduler.plugins.pod_topology_spread import PodTopologySpread
from ...scheduler.plugins.pod_topology_spread.constraint import SpreadConstraint
from ...scheduler.plugins.pod_topology_spread.skew import Skew, SkewExceeds, match_domains
from ..named import revision_named
from ..revision import Revision
from .building import based_on

COUNTED = ("selected", "every", "alike")
OUTSIDE = Reason(2, "node(s) didn't match the affinity terms of a topology spread constraint", Code.UNSCHEDULABLE)


@attrs.frozen
class SpreadByAffinityTerms(PodTopologySpread):
    """Spreads a pod among the domains that already hold a pod of its group.

    Args:
        knows_first: a pod that matches the term itself may go anywhere while there is no other, as in pod affinity.
    """

    knows_first: bool = True

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a domain without a pod of the group, and one that is too far ahead of the emptiest that has one."""
        constraints = self.hard_constraints(pod)
        for constraint in constraints:
            domains = match_domains(pod, constraint, constraints, seen)
            refusal = self._refusal(constraint, dict(domains.match_num), node)
            if refusal is not None:
                return refusal
        return OK

    def _refusal(self, constraint: SpreadConstraint, counts: dict[str, int], node: Node) -> Reject | None:
        domain = node.metadata.labels.get(constraint.topology_key)
        if domain is None:
            return self.no_label.reject(LabelMissing(constraint.topology_key, node.metadata.name))
        group = {each: count for each, count in counts.items() if count}
        if not group and self.knows_first and constraint.self_match:
            return None
        if domain not in group:
            where = f"{constraint.topology_key}={domain}"
            return OUTSIDE.reject(Stated(f"pods of the group in {where} < 1 by the affinity term"))
        skew = Skew(constraint, domain, group[domain], min(group.values()), len(group), least="least of group")
        return None if skew.fits else self.too_skewed.reject(SkewExceeds(skew))

    def column(self, pod: Pod, columns: ColumnContext) -> Any:
        """Judge each node by the rule."""
        return NotImplemented if self.hard_constraints(pod) else None


@attrs.frozen
class SpreadInsideAffinity(PodTopologySpread):
    """Spreads as a part of affinity: every constraint rejects nodes, and none ranks them.

    Args:
        counted: which pods are counted: those that the constraint's selector matches, "every" pod, or those "alike".
    """

    counted: str = "selected"

    def hard_constraints(self, pod: Pod) -> tuple[SpreadConstraint, ...]:
        """Return all constraints: a part of affinity has no word for what to do if none is met."""
        stated = pod.spec.topology_spread_constraints
        alike = LabelSelector(match_labels=pod.metadata.labels)
        selector = {"every": LabelSelector(), "alike": alike}.get(self.counted)
        hard = tuple(
            attrs.evolve(each, when_unsatisfiable=DO_NOT_SCHEDULE, label_selector=selector or each.label_selector)
            for each in stated
        )
        return super().hard_constraints(evolve_parts(pod, spec={"topology_spread_constraints": hard}))

    def soft_constraints(self, pod: Pod, seen: Snapshot) -> tuple[SpreadConstraint, ...]:
        """Return none: the API has only a predicate."""
        return ()


def spread_by_affinity_terms(base: str | Revision = "design", *, knows_first: bool = True) -> Revision:
    """Return rules in which a spread constraint holds affinity terms that say which pods are the group: S3's Option 1.

    S3 prefers a flat selector without terms. A term asks for a domain that holds a pod of the group: the first pod has
    none to go to (chicken and egg). With the exception that pod affinity makes for it, the next pods all follow into
    its domain, and the empty domains, which spreading should fill, are never entered.

    Args:
        base: the revision whose other rules hold.
        knows_first: pods that match the term themselves may go anywhere while there is no other.

    >>> from kvolsched import scenario
    >>> c = scenario("six-in-three-zones", "spread_by_affinity_terms")
    >>> c.run().ended
    'nothing is left to do'
    >>> len({pod.spec.node_name for pod in c.objects("pods")})
    1
    """
    made = _remade(base, SpreadByAffinityTerms, knows_first=knows_first)
    return based_on(made, "spread_by_affinity_terms" if knows_first else "spread_by_affinity_terms, none is first")


def spread_inside_affinity(base: str | Revision = "design", *, counted: str = "selected") -> Revision:
    """Return rules in which spreading is a field of affinity, beside its terms: S3's mix-in.

    Less API and less code. S3 (Alternatives) rejects it: it supports only a predicate, so a pod that would rather be
    uneven than pending has no way to say so; and which pods it should count inside node affinity, which selects no
    pods, is vague: every reading places other pods.

    Args:
        base: the revision whose other rules hold.
        counted: "selected" (inside pod affinity: by its selector); inside node affinity "every" pod, or those "alike",
            with the labels of the pod itself.

    Raises:
        ValueError: `counted` is no reading.

    >>> from kvolsched import scenario
    >>> c = scenario("a-zone-is-closed", "spread_inside_affinity")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pod/web-2"].spec.node_name
    ''
    """
    if counted not in COUNTED:
        raise ValueError(f"{counted!r} is no reading of which pods are counted; there are: {', '.join(COUNTED)}")
    name = "spread_inside_affinity" + (f", counting {counted}" if counted != COUNTED[0] else "")
    return based_on(_remade(base, SpreadInsideAffinity, counted=counted), name)


def _remade(base: str | Revision, kind: type[PodTopologySpread], **changes: Any) -> Revision:
    """Return a base with its spread plugin as one of another class, under the base's own name."""
    rules = revision_named(base)
    plugin = derived(rules.profile.plugin("PodTopologySpread"), kind, **changes)
    return attrs.evolve(rules, profile=rules.profile.replacing(plugin))

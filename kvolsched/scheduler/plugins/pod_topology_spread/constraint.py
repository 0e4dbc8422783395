"""A spread constraint prepared for one pod: which pods it counts, on which nodes, and why it does not count others.

`prepare_constraint` reads a manifest's constraint as v1.36.2 does; `releases` reads it as earlier releases did. Mirrors
`plugins/podtopologyspread/common.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import attrs

from ....api.kinds.directives import selects_node
from ....api.kinds.meta import Frozen
from ....api.kinds.node import HOSTNAME_LABEL, ZONE_LABEL, Node
from ....api.kinds.pod import SCHEDULE_ANYWAY, Pod, TopologySpreadConstraint
from ....api.kinds.selector import LabelSelector, find_untolerated_taint
from ...columns.owner_selectors import Selectors
from ...columns.pod_counts import PodMatcher
from ...columns.snapshot import Snapshot

NO_KEY = "lacks the topology key"
# kube-scheduler's defaults for pods without constraints, over the pods of their services and their owner.
SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME_LABEL, when_unsatisfiable=SCHEDULE_ANYWAY),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE_LABEL, when_unsatisfiable=SCHEDULE_ANYWAY),
)


@attrs.define(frozen=True, cache_hash=True)
class SpreadConstraint:
    """A topology spread constraint with its selectors, policies and defaults settled for one pod.

    Args:
        stated: the constraint as the manifest states it.
        matcher: which pods are counted; None: no pod.
        self_match: 1 if the pod itself is counted once it is placed, else 0.
        min_domains: with fewer domains than this, the minimum is 0; at least 1.
        honors_node_affinity, honors_node_taints: only nodes that the pod selects, or tolerates, are counted.
        move_matcher: which pods count when they are removed or added in a trial, by preemption or as nominated pods:
            also terminating ones, and those of an empty selector, although they are never counted otherwise.
        skipped_below: with fewer domains than this, the constraint rejects no node.
        known: the constraint without the fields that these rules do not read; None: they read all.
    """

    stated: TopologySpreadConstraint
    matcher: PodMatcher | None
    self_match: int
    min_domains: int
    honors_node_affinity: bool
    honors_node_taints: bool
    move_matcher: PodMatcher | None
    skipped_below: int = 0
    known: TopologySpreadConstraint | None = None

    @property
    def read(self) -> TopologySpreadConstraint:
        """The constraint as these rules read it."""
        return self.known or self.stated

    @property
    def topology_key(self) -> str:
        """The label whose values are the domains."""
        return self.stated.topology_key

    @property
    def max_skew(self) -> int:
        """The limit of the skew."""
        return self.stated.skew_limit

    def allows(self, skew: int) -> bool:
        """Say whether a domain may have this skew with the pod."""
        return skew <= self.max_skew

    def matches(self, pod: Pod) -> bool:
        """Say whether a pod is counted where its node is."""
        return self.matcher is not None and self.matcher.matches(pod)

    def match_num(self, node: Node, seen: Snapshot) -> int:
        """Return how many pods are counted on a node; in a trial, after some were removed or added."""
        name = node.metadata.name
        moved = sum(sign for pod, sign in self.counted_by_moving(seen) if pod.spec.node_name == name)
        return sum(map(self.matches, seen.pods_on(name))) + moved

    def counted_by_moving(self, seen: Snapshot) -> Iterator[tuple[Pod, int]]:
        """Yield the pods that are counted only as they are removed (-1) or added (1) in a trial."""
        matcher = self.move_matcher
        if matcher is not None:
            for pods, sign in ((seen.removed_pods, -1), (seen.added_pods, 1)):
                yield from ((pod, sign) for pod in pods if matcher.matches(pod) and not self.matches(pod))

    def node_exclusion(self, pod: Pod, node: Node, constraints: tuple[SpreadConstraint, ...] = ()) -> str:
        """Return why the pods of a node are not counted for a pod that is to be placed, "" if they are.

        The constraints are all that are asked together; a counted node has the topology keys of all.
        """
        labels = node.metadata.labels
        if self.topology_key not in labels:
            return NO_KEY
        missing = [other.topology_key for other in constraints if other.topology_key not in labels]
        if missing:
            return f"no {', '.join(missing)}, which another constraint asks for"
        if self.honors_node_affinity and not selects_node(pod.spec, node):
            policy = ", nodeAffinityPolicy: Honor" if self.known is None else ""  # earlier releases know none
            return f"not among the nodes that the pod selects{policy}"
        taint = find_untolerated_taint(node.spec.taints, pod.spec.tolerations) if self.honors_node_taints else None
        return "" if taint is None else f"tainted {taint.key}, nodeTaintsPolicy: Honor"

    def pod_exclusion(self, pod: Pod, other: Pod) -> str:
        """Return why a pod is not counted although the label selector matches it; "" if it does not match."""
        selector, labels = self.stated.label_selector, other.metadata.labels
        if selector is None or not selector.matches(labels):
            return ""
        if other.metadata.namespace != pod.metadata.namespace:
            return f"in namespace {other.metadata.namespace}"
        if self.matcher is None:
            return "an empty selector counts no pod"
        own = pod.metadata.labels
        keys = [key for key in self.read.match_label_keys if key in own and labels.get(key) != own[key]]
        return f"another {', '.join(keys)}" if keys else "Terminating"


Preparation = Callable[[TopologySpreadConstraint, str, Frozen, Selectors], SpreadConstraint]
"""How a release reads a constraint: of a pod with this namespace, these labels and the selectors of its group."""


def prepare_constraint(stated: TopologySpreadConstraint, namespace: str, labels: Frozen,
                       selectors: Selectors = ()) -> SpreadConstraint:
    """Prepare a constraint for a pod as v1.36.2 does; `selectors` stand in if it has no labelSelector."""
    if stated.label_selector is not None:
        selectors = (stated.label_selector,)
    shared_labels = Frozen({key: labels[key] for key in stated.match_label_keys if key in labels})
    if shared_labels:
        selectors = (*selectors, LabelSelector(match_labels=shared_labels))
    matches_nothing = not any(selector.match_labels or selector.match_expressions for selector in selectors)
    matcher = PodMatcher(frozenset((namespace,)), selectors)
    return SpreadConstraint(
        stated,
        matcher=None if matches_nothing else attrs.evolve(matcher, terminating=False),
        self_match=int(bool(selectors) and all(selector.matches(labels) for selector in selectors)),
        min_domains=stated.min_domains or 1,
        honors_node_affinity=stated.node_affinity_policy != "Ignore",
        honors_node_taints=stated.node_taints_policy == "Honor",
        move_matcher=matcher if selectors else None,
    )


def unread_fields(pod: Pod, stated: TopologySpreadConstraint, read: TopologySpreadConstraint) -> tuple[str, ...]:
    """Return the fields of a pod's constraint that rules read as if they were not there, and v1.36.2 would heed."""
    labels = pod.metadata.labels
    today = prepare_constraint(stated, "", labels)

    def heeds(field: str) -> bool:
        without = prepare_constraint(attrs.evolve(stated, **{field: getattr(read, field)}), "", labels)
        return attrs.evolve(without, stated=stated) != today

    names = [field.name for field in attrs.fields(TopologySpreadConstraint)
             if getattr(stated, field.name) != getattr(read, field.name)]  # fmt: skip
    return tuple(_manifest_name(name) for name in names if heeds(name))


def _manifest_name(field: str) -> str:
    first, *rest = field.split("_")
    return first + "".join(word.title() for word in rest)


@lru_cache(maxsize=1 << 12)
def prepare_constraints(prepare: Preparation, stated: tuple[TopologySpreadConstraint, ...], namespace: str,
                        labels: Frozen, selectors: Selectors = ()) -> tuple[SpreadConstraint, ...]:
    """Prepare constraints for a pod with this namespace and these labels; the answers are cached."""
    return tuple(prepare(constraint, namespace, labels, selectors) for constraint in stated)


@lru_cache(maxsize=1 << 12)
def hard_of(stated: tuple[TopologySpreadConstraint, ...]) -> tuple[TopologySpreadConstraint, ...]:
    """Return the constraints that reject nodes."""
    return tuple(constraint for constraint in stated if constraint.is_hard)


@lru_cache(maxsize=1 << 12)
def soft_of(stated: tuple[TopologySpreadConstraint, ...]) -> tuple[TopologySpreadConstraint, ...]:
    """Return the constraints that only rank nodes."""
    return tuple(constraint for constraint in stated if constraint.when_unsatisfiable == SCHEDULE_ANYWAY)


def topology_keys(constraints: tuple[SpreadConstraint, ...]) -> tuple[str, ...]:
    """Return the topology keys of constraints, in their order."""
    return tuple(constraint.topology_key for constraint in constraints)

"""NodeDeclaredFeatures: a pod that needs a feature of the kubelet fits only nodes that declare it (since v1.36).

A kubelet lists what it can do in `status.declaredFeatures`. Of the known features two decide where a new pod may go;
the third, GuaranteedQoSPodCPUResize, decides only whether a running pod may be resized.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import attrs

from ...api.kinds.meta import evolve_parts
from ...api.kinds.node import Node
from ...api.kinds.pod import Container, Pod
from ..columns.column import Codes
from ..columns.snapshot import Snapshot
from ..framework.card import Card, Clause, ObjectEdit
from ..framework.evidence import Evidence, Sides
from ..framework.extension_points import Action, ColumnContext, QueueingHint
from ..framework.verdict import OK, SKIP, Ok, Reason, Reject, Skip


@attrs.frozen
class Feature:
    """A feature of the kubelet: the field by which a pod needs it, whether it does, and the pod without that field."""

    name: str
    field: str
    is_needed: Callable[[Pod], bool]
    without: Callable[[Pod], Pod]


def _restarts_all(container: Container) -> bool:
    return any(rule.get("action") == "RestartAllContainers" for rule in container.rest.get("restartPolicyRules") or ())


def _without_restarts_of_all(pod: Pod) -> Pod:
    def without(container: Container) -> Container:
        return attrs.evolve(container, rest=container.rest.merged({"restartPolicyRules": None}))

    each = {field: tuple(without(one) if _restarts_all(one) else one for one in getattr(pod.spec, field))
            for field in ("init_containers", "containers")}  # fmt: skip
    return evolve_parts(pod, spec=each)


FEATURES = (
    Feature(
        "RestartAllContainersOnContainerExits",
        "restartPolicyRules with RestartAllContainers",
        lambda pod: any(map(_restarts_all, (*pod.spec.init_containers, *pod.spec.containers))),
        _without_restarts_of_all,
    ),
    Feature(
        "UserNamespacesHostNetworkSupport",
        "hostUsers: false beside hostNetwork",
        lambda pod: bool(pod.spec.rest.get("hostNetwork")) and pod.spec.rest.get("hostUsers") is False,
        lambda pod: evolve_parts(pod, spec={"rest": pod.spec.rest.merged({"hostUsers": None})}),
    ),
)


def needed_features(pod: Pod) -> tuple[Feature, ...]:
    """Return the features that a pod needs of its node."""
    return tuple(feature for feature in FEATURES if feature.is_needed(pod))


def declared_features(node: Node) -> frozenset[str]:
    """Return what a node declares, read as the sorted list that kubelets write: what follows a later name is missed."""
    names = node.status.declared_features
    return frozenset(name for place, name in enumerate(names) if all(before < name for before in names[:place]))


def _lacked(pod: Pod, node: Node) -> list[str]:
    declared = declared_features(node)
    return [feature.name for feature in needed_features(pod) if feature.name not in declared]


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each feature that the pod needs; its variant needs no other."""
    needed = needed_features(pod)
    for number, feature in enumerate(needed):
        variant = pod
        for other in needed:
            variant = variant if other is feature else other.without(variant)
        words = f"the node does not declare the feature {feature.name}, which the pod needs for {feature.field}"
        yield Clause("feature", feature.name, words, f"Feature {feature.name} is not declared", "", variant, number)


def _edits(pod: Pod, about: str, near: Sequence[Node]) -> Iterator[ObjectEdit]:
    """Take out of the pod what needs the feature, or let a near node's kubelet declare it."""
    for feature in needed_features(pod):
        if feature.name == about:
            yield ObjectEdit(f"Remove {feature.field}", 3, pod, feature.without(pod), "drop feature")
    for node in near:
        names = tuple(sorted({*node.status.declared_features, about}))
        words = f"Let the kubelet of {node.metadata.name} support {about}"
        new = evolve_parts(node, status={"declared_features": names})
        note = "the kubelet declares it: a newer release, or its feature gate"
        yield ObjectEdit(words, 4, node, new, "declare a feature", note)


@attrs.frozen
class NotDeclared(Evidence):
    """The node does not declare features that the pod needs."""

    lacked: tuple[str, ...]
    declared: tuple[str, ...]

    def __str__(self) -> str:
        return f"needs {', '.join(self.lacked)}, the node declares {', '.join(self.declared) or 'no feature'}"

    def short(self) -> Sides:
        return Sides("not declared", about=", ".join(self.lacked))


@attrs.frozen
class NodeDeclaredFeatures:
    """Rejects nodes that do not declare a feature that the pod needs."""

    name: ClassVar[str] = "NodeDeclaredFeatures"
    card: ClassVar[Card] = Card(
        "D", looks_at="features that kubelets declare", drawn_if_asked=True, clauses=_clauses, edits=_edits,
        unread=lambda pod, _objects: [feature.field for feature in needed_features(pod)],
    )  # fmt: skip
    template_fields: ClassVar[tuple[str, ...]] = ("containers", "init_containers", "rest")
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Node", "a node appears that declares what the pod needs, or comes to declare it",
                     lambda pod, old, new: not _lacked(pod, new) and (old is None or bool(_lacked(pod, old))),
                     Action.ADD | Action.NODE_DECLARED_FEATURE),
    )

    lacking: Reason = Reason(0, "node(s) didn't match Pod's required features")

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | None:
        """Skip if the pod needs no feature."""
        return None if needed_features(pod) else SKIP

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a node that does not declare every feature that the pod needs."""
        lacked = _lacked(pod, node)
        if not lacked:
            return OK
        return self.lacking.reject(NotDeclared(tuple(lacked), node.status.declared_features))

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Apply the rule to all nodes at once; what nodes declare is read again only if it changed."""
        needed = frozenset(feature.name for feature in needed_features(pod))
        if not needed:
            return None
        declares = columns.nodes.mask_by_node(("declared", needed), lambda node: needed <= declared_features(node))
        return self.lacking.where(columns.nodes.live.array & ~declares)

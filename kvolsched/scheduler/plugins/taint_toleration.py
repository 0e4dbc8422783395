"""TaintToleration: a node's taints reject pods that do not tolerate them; PreferNoSchedule ones lower its score."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from ...api.kinds.directives import with_tolerations
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.selector import Taint, Toleration, find_untolerated_taint
from ..columns.column import Codes, Integers
from ..columns.snapshot import Snapshot
from ..framework.card import TAINTS_POLICY, Card, Clause, RuleReads
from ..framework.evidence import Evidence, Predicate, Sides
from ..framework.extension_points import Action, ColumnContext, QueueingHint, is_same_pod
from ..framework.verdict import OK, Ok, Reason, Reject

PREFER = "PreferNoSchedule"
LIFECYCLE_PREFIXES = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")


class NodeState(NamedTuple):
    """What a taint says of its node, in words; until what comes first; `mend` is the kind of edit that brings it.

    `lacks` is what the node is short of.
    """

    verb: str
    words: str
    until: str = ""
    mend: str = ""
    lacks: str = ""


BRING_BACK, FREE, INITIALISE, WAIT = "bring back", "free a node", "initialise", "wait"
STATES = {
    "node.kubernetes.io/unreachable": NodeState(
        "does", "not report (Ready Unknown)", "the kubelet is back", BRING_BACK),
    "node.kubernetes.io/not-ready": NodeState("is", "not Ready", "kubelet and network plugin work", BRING_BACK),
    "node.kubernetes.io/disk-pressure": NodeState("is", "short of disk", "disk is freed", FREE, "disk"),
    "node.kubernetes.io/memory-pressure": NodeState("is", "short of memory", "memory is freed", FREE, "memory"),
    "node.kubernetes.io/pid-pressure": NodeState(
        "is", "short of process ids", "processes end", FREE, "process ids"),
    "node.kubernetes.io/network-unavailable": NodeState("has", "no network", "the network plugin works", BRING_BACK),
    "node.kubernetes.io/unschedulable": NodeState("is", "cordoned", "the cordon is lifted", "uncordon"),
    "node.kubernetes.io/out-of-service": NodeState("is", "out of service", "the machine is back", BRING_BACK),
    "node.cloudprovider.kubernetes.io/uninitialized": NodeState(
        "is", "not initialised", "the cloud controller has done so", INITIALISE),
    "node.cloudprovider.kubernetes.io/shutdown": NodeState("is", "shut down", "the machine runs again", BRING_BACK),
    "node-role.kubernetes.io/control-plane": NodeState("is", "kept for the control plane"),
    "ToBeDeletedByClusterAutoscaler": NodeState("is", "being removed by the autoscaler", mend=WAIT),
    "DeletionCandidateOfClusterAutoscaler": NodeState("may", "be removed by the autoscaler", mend=WAIT),
    "karpenter.sh/disrupted": NodeState("is", "being replaced by Karpenter", mend=WAIT),
    "karpenter.sh/disruption": NodeState("is", "being replaced by Karpenter", mend=WAIT),
}  # fmt: skip


def mended_by(key: str) -> str:
    """Return the kind of edit that ends a state of which a taint tells; "" for a taint that somebody set on purpose."""
    return STATES[key].mend if key in STATES else INITIALISE if key.startswith(LIFECYCLE_PREFIXES) else ""


def _clauses(pod: Pod, columns: ColumnContext, plugin: Any) -> Iterator[Clause]:
    """Yield a clause for each taint key; its variant tolerates all other keys."""
    keys = sorted({taint.key for taints in columns.nodes.taint_sets for taint in taints})
    for key in keys:
        others = (Toleration(key=other, operator="Exists") for other in keys if other != key)
        spec = with_tolerations(pod.spec, *others)
        words, title = f"the pod does not tolerate the node's taint {key}", f"Taint {key} is not tolerated"
        if key in STATES:
            says = f"node {STATES[key].verb} {STATES[key].words}"
            words, title = f"the {says} (taint {key})", f"The {says}"
        yield Clause("taint", key, words, title, "", attrs.evolve(pod, spec=spec))


@attrs.frozen
class NotTolerated(Evidence):
    """The pod tolerates a taint by none of its tolerations; `alike` are the node's taints with the same key."""

    taint: Taint
    tolerations: tuple[Toleration, ...]
    alike: tuple[Taint, ...]

    @property
    def subject(self) -> str:
        """The taint in words."""
        return f"taint {self.taint}"

    @property
    def until(self) -> str:
        return STATES[self.taint.key].until if self.taint.key in STATES else ""

    def of_node(self) -> Predicate:
        value = f"={self.taint.value}" if self.taint.value else ""
        state = STATES.get(self.taint.key, NodeState("is", f"kept for others ({self.taint.key}{value})"))
        return state.verb, state.words

    def __str__(self) -> str:
        return f"{self.subject} not covered by tolerations {', '.join(map(_words, self.tolerations)) or 'none'}"

    def short(self) -> Sides:
        first, *others = map(str, self.alike)
        return Sides(", ".join([first, *(each.removeprefix(self.taint.key).lstrip("=:") for each in others)]),
                     about="not tolerated")


@attrs.frozen
class TaintToleration:
    """Rejects nodes with an untolerated NoSchedule or NoExecute taint; prefers those with few PreferNoSchedule ones."""

    name: ClassVar[str] = "TaintToleration"
    card: ClassVar[Card] = Card(
        "T", "node", "taints", "taints and tolerations",
        reads=RuleReads(("spec.tolerations",), ("spec.taints",)),
        evidence_says_more=True,  # it names the taint
        spread_policy=TAINTS_POLICY,
        clauses=_clauses,
    )  # fmt: skip
    template_fields: ClassVar[tuple[str, ...]] = ("tolerations",)
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint("Node", "a node appears whose taints are tolerated, or they change so that they are",
                     lambda pod, old, new: not _is_rejected(pod, new) and (old is None or _is_rejected(pod, old)),
                     Action.ADD | Action.NODE_TAINT),
        QueueingHint("Pod", "it tolerates more", lambda pod, _old, new: is_same_pod(pod, new), Action.POD_TOLERATION),
    )

    untolerated: Reason = Reason(0, "node(s) had untolerated taint(s)")

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Reject a node with a NoSchedule or NoExecute taint that the pod does not tolerate."""
        taint = find_untolerated_taint(node.spec.taints, pod.spec.tolerations)
        if taint is None:
            return OK
        alike = tuple(other for other in node.spec.taints if other.key == taint.key)
        return self.untolerated.reject(NotTolerated(taint, pod.spec.tolerations, alike))

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Apply the rule to all nodes at once; each distinct set of taints is judged once."""
        if len(columns.nodes.taint_sets) == 1:
            return None
        tolerations, taint_sets = pod.spec.tolerations, columns.nodes.taint_sets
        rejected = [find_untolerated_taint(taints, tolerations) is not None for taints in taint_sets]
        if not any(rejected):
            return None
        return self.untolerated.where(np.array(rejected)[columns.nodes.taints.array])

    def score(self, pod: Pod, columns: ColumnContext) -> Integers:
        """Score the number of PreferNoSchedule taints that the pod does not tolerate."""
        tolerations = tuple(each for each in pod.spec.tolerations if each.effect in ("", PREFER))
        counts = [sum(taint.effect == PREFER and not any(each.tolerates(taint) for each in tolerations)
                      for taint in taints) for taints in columns.nodes.taint_sets]
        if not any(counts):
            return np.zeros(len(columns.nodes.names), np.int64)
        scores: Integers = np.array(counts, np.int64)[columns.nodes.taints.array]
        return scores

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return 100 − 100 · raw / largest raw; 100 for all if there are no such taints."""
        most = int(raw.max())
        if not most:
            return np.full(len(raw), 100, np.int64)
        return 100 - 100 * raw // most


def _is_rejected(pod: Pod, node: Node) -> bool:
    return find_untolerated_taint(node.spec.taints, pod.spec.tolerations) is not None


def _words(toleration: Toleration) -> str:
    value = f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key or 'every key'}{value}:{toleration.effect or 'every effect'}"

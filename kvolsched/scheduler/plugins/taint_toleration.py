"""TaintToleration: a node's taints keep out pods that do not tolerate them, and the milder ones count against it."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.selector import Taint, Toleration, untolerated
from kvolsched.scheduler.columns.arrays import Codes, Integers
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.cluster_event import Action, is_same_pod
from kvolsched.scheduler.framework.extension_points import ColumnContext, QueueingHint
from kvolsched.scheduler.framework.verdict import OK, Evidence, Ok, Reason, Reject

PREFER = "PreferNoSchedule"


@attrs.frozen
class TaintToleration:
    """Rejects nodes with an untolerated NoSchedule or NoExecute taint; prefers those with few PreferNoSchedule ones."""

    name: ClassVar[str] = "TaintToleration"
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = (
        QueueingHint(
            "Node",
            "a node appears whose taints are tolerated, or they change so that they are",
            lambda pod, old, new: not _kept_out(pod, new) and (old is None or _kept_out(pod, old)),
            Action.ADD | Action.NODE_TAINT,
        ),
        QueueingHint("Pod", "it tolerates more", lambda pod, _old, new: is_same_pod(pod, new), Action.POD_TOLERATION),
    )

    untolerated: Reason = Reason(0, "node(s) had untolerated taint(s)")

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Every NoSchedule or NoExecute taint of the node is covered by a toleration of the pod."""
        taint = untolerated(node.spec.taints, pod.spec.tolerations)
        if taint is None:
            return OK
        tolerations = ", ".join(str(_words(toleration)) for toleration in pod.spec.tolerations) or "none"
        return self.untolerated.reject(
            Evidence(f"taint {taint}", "not covered by tolerations", tolerations, (taint, None))
        )

    def column(self, pod: Pod, at: ColumnContext) -> Codes | None:
        """Each distinct set of taints is judged once."""
        if len(at.nodes.taint_sets) == 1:
            return None
        kept_out = [untolerated(taints, pod.spec.tolerations) is not None for taints in at.nodes.taint_sets]
        if not any(kept_out):
            return None
        return self.untolerated.where(np.array(kept_out)[at.nodes.taints.array])

    def score(self, pod: Pod, at: ColumnContext) -> Integers:
        """How many PreferNoSchedule taints of the node the pod does not tolerate."""
        mild = tuple(one for one in pod.spec.tolerations if one.effect in ("", PREFER))
        counts = [_intolerable(taints, mild) for taints in at.nodes.taint_sets]
        if not any(counts):
            return np.zeros(len(at.nodes.names), np.int64)
        scores: Integers = np.array(counts, np.int64)[at.nodes.taints.array]
        return scores

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Fewest first: 100 minus the share of the largest count, 100 for all if there are none."""
        most = int(raw.max())
        if not most:
            return np.full(len(raw), 100, np.int64)
        return 100 - 100 * raw // most


def _kept_out(pod: Pod, node: Node) -> bool:
    return untolerated(node.spec.taints, pod.spec.tolerations) is not None


def _intolerable(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> int:
    return sum(taint.effect == PREFER and not any(one.tolerates(taint) for one in tolerations) for taint in taints)


def _words(toleration: Toleration) -> str:
    value = f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key or 'every key'}{value}:{toleration.effect or 'every effect'}"

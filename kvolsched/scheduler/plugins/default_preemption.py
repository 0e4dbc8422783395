"""DefaultPreemption: would it help to evict pods of lower priority? Here only its answer when nobody can be evicted.

It is asked when no node fits. A node that fails for good is no help whoever leaves it; one without pods of lower
priority has no victims. Where there are victims, evicting them is not played yet, and it says nothing. Beside it stands
DynamicResources, which is asked before it and frees nothing here. Mirrors `plugins/defaultpreemption` (v1.36.2).
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.pod import Pod
from kvolsched.scheduler.extension import At
from kvolsched.scheduler.judgement import Judgement
from kvolsched.scheduler.snapshot import Snapshot
from kvolsched.scheduler.verdict import Code, Integers

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"


@attrs.frozen
class DynamicResources:
    """Holds no claims that it could give up, and says so before preemption is tried."""

    name: ClassVar[str] = "DynamicResources"

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> str:
        """Return its words behind the event sentence."""
        return "no new claims to deallocate"

    def score(self, pod: Pod, at: At) -> Integers | None:
        """0 everywhere: a pod without resource claims prefers no node, and yet it is ranked."""
        return np.zeros(len(at.nodes.names), np.int64)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """As it is."""
        return raw


@attrs.frozen
class DefaultPreemption:
    """Says of each node why evicting pods there does not help."""

    name: ClassVar[str] = "DefaultPreemption"

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> str:
        """Return its words behind the event sentence; "" where there are victims."""
        if pod.spec.preemption_policy == "Never":
            return "preemption: not eligible due to preemptionPolicy=Never."
        told: Counter[str] = Counter()
        for node, status in judgement.statuses.items():
            if status is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                told[NOT_HELPFUL] += 1
            elif any((other.spec.priority or 0) < (pod.spec.priority or 0) for other in seen.pods_on(node)):
                return ""
            else:
                told[NO_VICTIMS] += 1
        reasons = ", ".join(sorted(f"{count} {reason}" for reason, count in told.items()))
        return f"preemption: 0/{seen.size} nodes are available: {reasons}."

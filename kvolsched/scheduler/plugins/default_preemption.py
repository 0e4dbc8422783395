"""DefaultPreemption: would it help to evict pods of lower priority? Here only its answer when nobody can be evicted.

It is asked when no node fits. A node that fails for good is no help whoever leaves it; one without pods of lower
priority has no victims. Where there are victims, evicting them is not played yet, and it says nothing.
Mirrors `plugins/defaultpreemption` (v1.36.2).
"""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import attrs

from kvolsched.api.pod import Pod
from kvolsched.scheduler.judgement import Judgement
from kvolsched.scheduler.snapshot import Snapshot
from kvolsched.scheduler.verdict import Code

NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"


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

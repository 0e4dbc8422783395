"""DynamicResources: devices that pods claim. No device is modelled: what is left is its word and its score of nothing.

It is asked before preemption when no node fits, and could then give up claims that it has allocated for the pod: it
never has any.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import attrs
from numpy.typing import NDArray

from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler.columns.arrays import Integers
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.extension_points import ColumnContext, PostFilterResult
from kvolsched.scheduler.framework.judgement import Judgement


@attrs.frozen
class DynamicResources:
    """Rejects no node, ranks all nodes alike, and holds no claims that it could give up."""

    name: ClassVar[str] = "DynamicResources"

    def score(self, pod: Pod, at: ColumnContext) -> Literal[0]:
        """Nothing, on every node."""
        return 0

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Stays nothing."""
        return raw

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> PostFilterResult:
        """Return its words behind the event sentence."""
        return PostFilterResult("no new claims to deallocate")

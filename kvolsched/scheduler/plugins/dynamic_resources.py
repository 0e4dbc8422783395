"""DynamicResources, as far as a pod without resource claims hears of it: all nodes rank alike, and nothing is freed."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.pod import Pod
from kvolsched.scheduler.extension import At, PostFilterResult
from kvolsched.scheduler.judgement import Judgement
from kvolsched.scheduler.snapshot import Snapshot
from kvolsched.scheduler.verdict import Integers


@attrs.frozen
class DynamicResources:
    """Holds no claims that it could give up, and says so before preemption is tried."""

    name: ClassVar[str] = "DynamicResources"

    def score(self, pod: Pod, at: At) -> Integers:
        """Nothing, for every node."""
        return np.zeros(len(at.nodes.names), np.int64)

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Already 0 to 100."""
        return raw

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> PostFilterResult:
        """Return its words behind the event sentence."""
        return PostFilterResult("no new claims to deallocate")

"""ImageLocality: nodes that have the pod's images already are preferred, the more the larger these are.

So that one node with an image does not draw all pods, an image counts by the share of the nodes that have it.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler.columns.arrays import Integers
from kvolsched.scheduler.columns.images import full_name
from kvolsched.scheduler.framework.extension_points import ColumnContext

LEAST = 23 * 2**20  # bytes; less is not worth a preference
MOST = 1000 * 2**20  # bytes, for each container


@attrs.frozen
class ImageLocality:
    """Ranks nodes by the images of the pod's containers and init containers."""

    name: ClassVar[str] = "ImageLocality"

    def score(self, pod: Pod, at: ColumnContext) -> Integers | Literal[0]:
        """Σ size · share of nodes having it, between 23 MiB and 1,000 MiB a container, as 0 to 100."""
        if not at.seen.images:
            return 0
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        names = [name for name in (full_name(one.image) for one in containers) if at.seen.images.nodes_with(name)]
        if not names:
            return 0
        total = np.zeros(len(at.nodes.names), np.int64)
        for name in names:
            share = len(at.seen.images.nodes_with(name)) / at.nodes.size
            total += (at.seen.images.sizes(name) * share).astype(np.int64)
        most = MOST * len(containers)
        scores: Integers = 100 * (np.clip(total, LEAST, most) - LEAST) // (most - LEAST)
        return scores

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Already 0 to 100."""
        return raw

"""ImageLocality: prefer nodes that have the pod's images already, the more the larger the images are.

An image counts by the share of nodes that have it, so that one node with an image does not draw all pods.
"""

from typing import Any, ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from ...api.kinds.pod import Pod
from ..columns.column import Integers
from ..columns.images import full_name
from ..framework.card import Card
from ..framework.extension_points import ColumnContext

MIN_BYTES = 23 * 2**20  # less is not worth a preference
MAX_CONTAINER_BYTES = 1000 * 2**20


@attrs.frozen
class ImageLocality:
    """Ranks nodes by the images of the pod's containers, init containers and volumes."""

    name: ClassVar[str] = "ImageLocality"
    card: ClassVar[Card] = Card(letter="M", short="images", looks_at="images that a node has")
    template_fields: ClassVar[tuple[str, ...]] = ("containers", "init_containers", "mounted_images")

    def score(self, pod: Pod, columns: ColumnContext) -> Integers | Literal[0]:
        """Score Σ size · share of nodes that have the image, from 23 MiB to 1,000 MiB a container, as 0 to 100."""
        images = columns.seen.images
        if not images:
            return 0
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        wanted = (*(container.image for container in containers), *pod.spec.mounted_images)
        names = [name for name in map(full_name, wanted) if images.nodes_with(name)]
        if not names:
            return 0
        total = np.zeros(len(columns.nodes.names), np.int64)
        for name in names:
            share = len(images.nodes_with(name)) / columns.nodes.size
            total += images.rows_with(name) * int(images.size(name) * share)
        max_bytes = MAX_CONTAINER_BYTES * len(containers)
        scores: Integers = 100 * (np.clip(total, MIN_BYTES, max_bytes) - MIN_BYTES) // (max_bytes - MIN_BYTES)
        return scores

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return the scores unchanged: they are 0 to 100."""
        return raw

"""DynamicResources: devices that pods claim. No device is modelled; what remains is a score of 0 and a message.

It is asked before preemption when no node fits, where it could deallocate claims of the pod: there are none.
"""

from typing import Any, ClassVar, Literal

import attrs
from numpy.typing import NDArray

from ...api.kinds.pod import Pod
from ..columns.column import Integers
from ..columns.snapshot import Snapshot
from ..framework.card import Card
from ..framework.extension_points import ColumnContext, PostFilterResult
from ..framework.judgement import Judgement


@attrs.frozen
class DynamicResources:
    """Rejects no node, scores all nodes alike, and has no claims to deallocate."""

    name: ClassVar[str] = "DynamicResources"
    card: ClassVar[Card] = Card(
        looks_at="devices that the pod claims",
        unread=lambda pod, _objects: ["resourceClaims"] if pod.spec.rest.get("resourceClaims") else (),
    )
    template_fields: ClassVar[tuple[str, ...]] = ()

    def score(self, pod: Pod, columns: ColumnContext) -> Literal[0]:
        """Return 0 for every node."""
        return 0

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Return the scores unchanged."""
        return raw

    def postfilter(self, pod: Pod, seen: Snapshot, judgement: Judgement) -> PostFilterResult:
        """Return the words to add to the event message."""
        return PostFilterResult("no new claims to deallocate")

"""VolumeRollback rejects a pod while one of its claims is being unbound again (S0's sketch of a transaction)."""

from typing import ClassVar

import attrs

from ...api import volumes
from ...api.kinds.pod import Pod
from ..columns.snapshot import Snapshot
from ..framework.card import Card
from ..framework.extension_points import QueueingHint
from ..framework.verdict import SKIP, Code, PreFilterReject, Skip


@attrs.frozen
class VolumeRollback:
    """Rejects the pod before any node is judged: no node could help.

    Args:
        events_to_register: the events after which the pod is tried again; a revision gives those of VolumeBinding.
    """

    name: ClassVar[str] = "VolumeRollback"
    card: ClassVar[Card] = Card(looks_at="claims that are being unbound again")

    events_to_register: tuple[QueueingHint, ...]

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject:
        """No claim of the pod is under rollback."""
        for name in pod.claim_names():
            claim = seen.claim(pod.metadata.namespace, name)
            if claim is not None and volumes.under_rollback(claim):
                message = f'persistentvolumeclaim "{name}" is being rolled back'
                return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, message)
        return SKIP

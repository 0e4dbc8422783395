"""VolumeRollback: a pod waits while one of its claims is being rolled back (S0's sketch of a transaction)."""

from __future__ import annotations

from typing import ClassVar

import attrs

from kvolsched import volumes
from kvolsched.api.kinds.pod import Pod
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.framework.extension_points import QueueingHint
from kvolsched.scheduler.framework.verdict import SKIP, Code, PreFilterReject, Skip
from kvolsched.scheduler.volume_queueing_hints import WAKES


@attrs.frozen
class VolumeRollback:
    """Rejects the pod as a whole: there is nothing that a node could do about it."""

    name: ClassVar[str] = "VolumeRollback"
    events_to_register: ClassVar[tuple[QueueingHint, ...]] = WAKES

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject:
        """No claim of the pod is under rollback."""
        for name in pod.claim_names():
            claim = seen.claim(pod.metadata.namespace, name)
            if claim is not None and volumes.under_rollback(claim):
                said = f'persistentvolumeclaim "{name}" is being rolled back'
                return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, said)
        return SKIP

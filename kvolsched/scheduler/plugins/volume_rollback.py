"""VolumeRollback: a pod waits while one of its claims is being rolled back (S0's sketch of a transaction)."""

from __future__ import annotations

from typing import ClassVar

import attrs

from kvolsched import volumes
from kvolsched.api.pod import Pod
from kvolsched.scheduler.extension import Wake
from kvolsched.scheduler.snapshot import Snapshot
from kvolsched.scheduler.verdict import SKIP, Code, PreFilterReject, Skip
from kvolsched.scheduler.volume_events import WAKES


@attrs.frozen
class VolumeRollback:
    """Rejects the pod as a whole: there is nothing that a node could do about it."""

    name: ClassVar[str] = "VolumeRollback"
    wakes: ClassVar[tuple[Wake, ...]] = WAKES

    def prefilter(self, pod: Pod, seen: Snapshot) -> Skip | PreFilterReject:
        """No claim of the pod is under rollback."""
        for name in pod.claim_names():
            claim = seen.claim(pod.metadata.namespace, name)
            if claim is not None and volumes.under_rollback(claim):
                said = f'persistentvolumeclaim "{name}" is being rolled back'
                return PreFilterReject(self.name, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, said)
        return SKIP

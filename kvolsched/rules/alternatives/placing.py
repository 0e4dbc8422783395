"""Flows of a scheduler that places a pod before its volumes are bound, and writes nothing for them (S0, rejected)."""

from __future__ import annotations

import attrs

from ...api.kinds.pod import Pod
from ...scheduler.loop.assume_cache import AssumeCache
from ...scheduler.loop.binding_flow import TwoPasses, assume_and_bind, assume_cache
from ...scheduler.loop.scheduling_cycle import handle_failure
from ...scheduler.loop.volume_binder import CannotAssume, FoundVolumes, assume_pod_volumes
from ...world.component import TurnContext
from ..revision import Revision


@attrs.frozen
class PlaceBlindly(TwoPasses):
    """Places a pod as if it had no volumes: a scheduler from before the feature."""

    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes:
        """Look for nothing."""
        return FoundVolumes()

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the pod alone, and bind it to its node."""
        return f"{assume_and_bind(ctx, name, pod, node)} It looks at no volume."


@attrs.frozen
class PlaceFirst(TwoPasses):
    """Places a pod where volumes were found for it, and remembers them; somebody else binds them later."""

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the volumes, in memory only, then assume the pod and bind it to its node."""
        try:
            chosen = assume_pod_volumes(ctx, assume_cache(ctx), found, node, self.options, writes_all=True)
        except CannotAssume as why:
            handle_failure(ctx, name, pod, f"AssumePodVolumes failed: {why}", reason="SchedulerError")
            return f"It cannot assume the volumes: {why}."
        words = assume_and_bind(ctx, name, pod, node)
        remembered = ", ".join(write.subject for write in chosen)
        return f"{words} It remembers {remembered}, and writes nothing for them." if remembered else words


def placing(rules: Revision, flow: type[TwoPasses]) -> TwoPasses:
    """Return a flow with the volume rules of a revision."""
    old = rules.flow
    same = {"volume_rule": old.volume_rule, "errors_are_verdicts": old.errors_are_verdicts}
    return flow(old.volume_binding, old.options, **same)  # type: ignore[arg-type]

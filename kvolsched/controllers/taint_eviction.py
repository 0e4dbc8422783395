"""The taint eviction controller: it alone deletes pods that do not tolerate a NoExecute taint of their node.

A pod that tolerates it for some seconds is deleted when they are over, unless the taint goes before. Pods without a
toleration of `not-ready` or `unreachable` tolerate them for 300 seconds: Kubernetes writes that into every pod (the
admission plugin DefaultTolerationSeconds), here the controller assumes it, so that loaded pods stay as they are.
Mirrors `pkg/controller/tainteviction` (v1.36.2).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import attrs

from ..api.defaults import lost_node_tolerations
from ..api.dials import SECONDS, dial
from ..api.kinds.node import Node
from ..api.kinds.pod import Pod
from ..api.kinds.selector import Taint, Toleration
from ..api.workloads import PodConditionPatch, by_node
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.digest import DIGEST_WAIT
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Backoff, Reconciler
from ..world.view import Exists, Index

NAME = "taint-eviction-controller"
ROUTINE = "taint eviction"
EVICT = "evict"  # sort of the notes that say when a pod is deleted
ROUNDING = 1e-6  # seconds
BACKOFF = Backoff.every(0.01, retries=4)
"""A pod is marked and deleted in at most five tries in a row (deletePodHandler)."""


@attrs.frozen(kw_only=True)
class TaintEvictionOptions:
    """The dials of the taint eviction controller."""

    default_seconds: int = dial(
        300, SECONDS, "for which a pod tolerates that its node is not ready or unreachable, if it does not say"
    )


@attrs.frozen
class ScheduledEviction:
    """A note: when a pod is deleted, and since when it waits."""

    at: float = attrs.field(metadata=DIGEST_WAIT)
    since: float = attrs.field(metadata=DIGEST_WAIT)


def _no_execute(node: Node | None) -> list[Taint]:
    return [taint for taint in node.spec.taints if taint.effect == "NoExecute"] if node is not None else []


def _used(tolerations: Iterable[Toleration], taint: Taint) -> Toleration | None:
    """Return the first toleration that tolerates a taint: the one that counts, whatever others say."""
    return next((toleration for toleration in tolerations if toleration.tolerates(taint)), None)


def taints_that_evict(pod: Pod, node: Node | None) -> list[Taint]:
    """Return the taints of a node for which a pod is deleted, at once or when its toleration ends."""
    used = ((taint, _used(pod.spec.tolerations, taint)) for taint in _no_execute(node))
    return [taint for taint, toleration in used if toleration is None or toleration.toleration_seconds is not None]


def component(options: TaintEvictionOptions | None = None) -> Component:
    """Return the taint eviction controller; it begins to watch when a node has a NoExecute taint."""
    eviction = TaintEviction(options or TaintEvictionOptions())
    routine = Reconciler(ROUTINE, _pods_of, eviction.sync, report_refused, report_done, BACKOFF)
    begins = partial(Exists, "Node", lambda node: bool(_no_execute(node)))
    return Component(NAME, ("Node", "Pod"), (routine,), lambda _seen: {"on node": Index("Pod", by_node)},
                     activation=begins)


def _pods_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield the pods of a node whose NoExecute taints changed, or a changed pod on such a node."""
    if key.kind == "Node":
        if _no_execute(old) != _no_execute(new):
            for pod in ctx.views["on node"].keys(key.name):
                yield f"{pod.namespace}/{pod.name}"
        return
    cause = f"{key.namespace}/{key.name}"
    waits = ctx.note(EVICT, cause) is not None
    if waits or (new is not None and _no_execute(ctx.seen.get("Node", new.spec.node_name))):
        yield cause


@attrs.frozen
class TaintEviction:
    """Decides about one pod."""

    options: TaintEvictionOptions

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Delete a pod now, later, or no longer."""
        pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
        plan = PlanBuilder(ctx, NAME)
        if pod is None or pod.metadata.deletion_timestamp is not None:
            self._forget(ctx, cause)
            return ()
        taints = _no_execute(ctx.seen.get("Node", pod.spec.node_name))
        seconds = self._tolerated_seconds(pod, taints) if taints else None
        scheduled: ScheduledEviction | None = ctx.note(EVICT, cause)
        if seconds is None:
            if scheduled is not None:
                plan.event(pod, "Normal", "TaintManagerEviction", f"Cancelling deletion of Pod {cause}")
                plan.describe(f"taint eviction controller no longer deletes {reference_of(pod)}")
                self._forget(ctx, cause)
            return plan.writes
        since = scheduled.since if scheduled is not None else ctx.now
        if since + seconds > ctx.now + ROUNDING:
            if scheduled is None or since + seconds < scheduled.at:
                ctx.remember(EVICT, cause, ScheduledEviction(since + seconds, since))
                ctx.wake_after(cause, since + seconds - ctx.now)
                plan.describe(f"taint eviction controller will delete {reference_of(pod)} in {seconds:g} s")
            return ()
        self._forget(ctx, cause)
        self._delete(plan, pod, taints)
        return plan.writes

    @staticmethod
    def _forget(ctx: TurnContext, cause: str) -> None:
        ctx.remember(EVICT, cause, None)
        ctx.cancel_wake_up(cause)

    def _tolerated_seconds(self, pod: Pod, taints: Sequence[Taint]) -> float | None:
        """Return how long a pod tolerates these taints: 0 not at all, None for ever."""
        own = pod.spec.tolerations
        tolerations = [*own, *lost_node_tolerations(own, self.options.default_seconds)]  # DefaultTolerationSeconds
        seconds: list[int] = []
        for taint in taints:
            used = _used(tolerations, taint)
            if used is None:
                return 0.0
            if used.toleration_seconds is not None:
                seconds.append(max(0, used.toleration_seconds))
        return float(min(seconds)) if seconds else None

    @staticmethod
    def _delete(plan: PlanBuilder, pod: Pod, taints: Sequence[Taint]) -> None:
        meta = pod.metadata
        name = f"{meta.namespace or 'default'}/{meta.name}"
        plan.event(pod, "Normal", "TaintManagerEviction", f"Marking for deletion Pod {name}")
        patch = PodConditionPatch(
            "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
            plan.ctx.moment,
        )
        why = ", ".join(map(str, taints))
        plan.patch(key_of(pod), patch, f"taint eviction controller marks {reference_of(pod)}", uid=meta.uid)
        plan.delete(pod, f"taint eviction controller deletes {reference_of(pod)} from {pod.spec.node_name}: {why}")

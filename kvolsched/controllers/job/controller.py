"""The Job controller as a component: which Jobs a change concerns, and the pods that no Job counts any more.

A Job is synced once the controller has seen its own writes (StaleControllerConsistency), at once after a change of its
spec and a second after a change of its pods.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from ...api.kinds.pod import Pod
from ...api.kinds.workload import Job
from ...api.workloads import by_controller_uid, controller_cause, generation, is_ready, is_terminating
from ...world.apiserver import CommittedWrite, RefusedWrite, Write
from ...world.component import Component, TurnContext
from ...world.log import Key
from ...world.mutation_cache import forget_writes, has_seen_write, refused_if_taken, wait_until_seen
from ...world.plan import PlanBuilder, report_done, report_refused
from ...world.reconciler import Backoff, Reconciler
from ...world.view import Exists, Index
from .failed_pods import forget_failures, keep_failures
from .sync import BATCH_PERIOD, KIND, NAME, REFUSED, JobSync, RefusedPods, free, is_tracked, restarts

ORPHANS = f"{NAME} orphan pods"
BACKOFF = Backoff.per_cause(1.0, 60.0)
OWN = "kubernetes.io/job-controller"  # what managedBy says of the Jobs of this controller


def component() -> Component:
    """Return the Job controller."""
    routine = Reconciler(NAME, _jobs_of, sync, _refused, _committed, BACKOFF)
    orphans = Reconciler(ORPHANS, _orphans_of, free_orphan, report_refused, report_done, seldom=True)
    begins = partial(Exists, (KIND, "Pod"), lambda obj: not isinstance(obj, Pod) or is_tracked(obj))
    return Component(NAME, (KIND, "Pod"), (routine, orphans),
                     lambda _seen: {"pods": Index("Pod", by_controller_uid(KIND))}, activation=begins)


_wait_until_seen = wait_until_seen(KIND, "Pod")


def _committed(ctx: TurnContext, cause: str, outcome: CommittedWrite, *, last: bool) -> None:
    _wait_until_seen(ctx, cause, outcome, last=last)
    if outcome.write.verb == "update_status":
        keep_failures(ctx, cause)
    elif outcome.write.verb == "create":
        ctx.remember(REFUSED, cause, None)


def _refused(ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
    """Report a refused write; when the first pod is refused, the Job is synced at once without it."""
    refused_if_taken(ctx, cause, outcome)
    if outcome.write.verb == "create":
        last: RefusedPods | None = ctx.note(REFUSED, cause)
        failures = min(last.failures + 1 if last is not None else 1, BACKOFF.counted)
        ctx.remember(REFUSED, cause, RefusedPods(failures, ctx.now + BACKOFF.seconds(failures)))
        if last is None:
            ctx.enqueue(cause)
        else:
            ctx.wake_after(cause, BACKOFF.seconds(failures))


def _jobs_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a Job that is new, gone or has another spec; wake the one of a pod that changed in what counts."""
    if key.kind == KIND:
        cause = f"{key.namespace}/{key.name}"
        if new is not None and new.is_finished:
            forget_failures(ctx, cause)
        elif new is None or old is None or _version(old) != _version(new):
            yield cause
    elif old is not None and (not old.terminal if new is None else _counted(old) != _counted(new)):
        for cause in controller_cause(KIND, old):
            wake = ctx.note("wake", f"{NAME}|{cause}")
            if wake is None or wake.at > ctx.now + BATCH_PERIOD:
                ctx.wake_after(cause, BATCH_PERIOD)


def _version(job: Job) -> tuple[str, int]:
    return job.metadata.uid, generation(job)


def _counted(pod: Pod) -> Any:
    """Return what a Job's status depends on in its pod."""
    return pod.status.phase if pod.terminal else (is_ready(pod), is_terminating(pod), restarts(pod))


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Create or delete pods of one Job, then count those that have ended, and say whether it is over."""
    ctx.cancel_wake_up(cause)
    owner: Job | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None:
        forget_failures(ctx, cause)
        forget_writes(ctx, cause, KIND, "Pod")
        ctx.remember(REFUSED, cause, None)
    if owner is None or owner.is_finished or _is_managed_by_another(owner):
        return ()
    if [kind for kind in (KIND, "Pod") if not has_seen_write(ctx, cause, kind)]:
        ctx.wake_after(cause, BATCH_PERIOD)
        return ()
    return JobSync(ctx, cause, owner).run()


def _is_managed_by_another(job: Job) -> bool:
    return bool(job.spec.rest.get("managedBy", OWN) != OWN)


def _orphans_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield pods that have the finalizer of a Job that is gone or over, once the Job or they are told to go."""
    if key.kind == "Pod":
        meta = new.metadata if new is not None else None
        found = [new] if meta is not None and (meta.controller is None or meta.deletion_timestamp is not None) else []
    else:
        found = ctx.views["pods"].get((new or old).metadata.uid) if new is None or new.is_finished else []
    for pod in found:
        if _is_orphan(ctx, pod):
            yield f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}"


def _is_orphan(ctx: TurnContext, pod: Pod) -> bool:
    """Say whether a pod has the finalizer, and no Job is there that would remove it."""
    owner = pod.metadata.controller
    if not is_tracked(pod) or (owner is not None and owner.kind != KIND):
        return False
    job: Job | None = ctx.seen.get(KIND, owner.name, pod.metadata.namespace or "default") if owner is not None else None
    if owner is None or job is None or job.metadata.uid != owner.uid:
        return True
    return job.is_finished and not _is_managed_by_another(job)


def free_orphan(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Remove the finalizer of a pod that no Job counts any more."""
    pod: Pod | None = ctx.seen.at(Key("Pod", *cause.split("/")))
    plan = PlanBuilder(ctx, NAME)
    if pod is not None and _is_orphan(ctx, pod):
        free(plan, pod)
    return plan.writes

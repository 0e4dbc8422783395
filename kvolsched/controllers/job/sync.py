"""One sync of a Job: its pods as they were seen, the pods it creates and deletes, and its status.

A pod keeps the finalizer until its uid stands in the status as ended; then it is counted, so that none is counted
twice. Mirrors `syncJob`, `manageJob`, `trackJobStatusAndRemoveFinalizers` and `indexed_job_utils.go` (v1.36.2).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby, islice

import attrs

from ...api.kinds.meta import Frozen, evolve, evolve_parts, without_finalizers
from ...api.kinds.pod import Container, Pod
from ...api.kinds.workload import Job, JobCondition, JobStatus, UncountedTerminatedPods
from ...api.workloads import is_active, is_ready, is_terminating, pod_name_suffix, replica_of
from ...world.apiserver import Write, key_of
from ...world.component import TurnContext
from ...world.digest import DIGEST_WAIT
from ...world.log import Key
from ...world.mutation_cache import unused_names
from ...world.plan import PlanBuilder, reference_of
from .failed_pods import note_failures

INDEX = "batch.kubernetes.io/job-completion-index"  # label and annotation
_INTERVAL = re.compile(r"([0-9]+)(?:-([0-9]+)(?:-|\Z)|\Z)")
_VARIABLE = Frozen({
    "name": "JOB_COMPLETION_INDEX",
    "valueFrom": Frozen(fieldRef=Frozen(fieldPath=f"metadata.labels['{INDEX}']")),
})  # fmt: skip


def index_of(pod: Pod) -> int | None:
    """Return the completion index of a pod's annotation, or None."""
    text = str(pod.metadata.annotations.get(INDEX, ""))
    return int(text) if text.isdecimal() else None


def with_index(pod: Pod, index: int, hostname: str) -> Pod:
    """Return a pod with its completion index: as annotation, label, hostname and environment variable."""
    meta, own = pod.metadata, {INDEX: str(index)}
    containers, init_containers = (
        tuple(map(_with_variable, each)) for each in (pod.spec.containers, pod.spec.init_containers)
    )
    return evolve_parts(
        pod, metadata={"labels": meta.labels.merged(own), "annotations": meta.annotations.merged(own)},
        spec={"containers": containers, "init_containers": init_containers,
              "rest": pod.spec.rest.merged({"hostname": hostname})}
    )  # fmt: skip


def _with_variable(container: Container) -> Container:
    variables = container.rest.get("env", ())
    if any(variable.get("name") == _VARIABLE["name"] for variable in variables):
        return container
    return evolve(container, rest=container.rest.merged({"env": (*variables, _VARIABLE)}))


def parse_indexes(text: str, completions: int) -> set[int]:
    """Return the indexes below `completions` that a text lists; an interval that cannot be read is left out."""
    found: set[int] = set()
    for interval in filter(None, map(_INTERVAL.match, text.split(","))):
        first, last = interval.groups()
        found.update(range(int(first), min(int(last or first), completions - 1) + 1))
    return found


def format_indexes(indexes: Iterable[int]) -> str:
    """Return the text that lists indexes; three and more in a row are an interval."""
    parts = []
    for _, numbered in groupby(enumerate(sorted(indexes)), key=lambda pair: pair[1] - pair[0]):
        run = [index for _, index in numbered]
        ends = [run[0]] if len(run) == 1 else [run[0], run[-1]]
        parts.append(("-" if len(run) > 2 else ",").join(map(str, ends)))
    return ",".join(parts)


NAME = "job-controller"
KIND = "Job"
REFUSED = "refused pods"  # sort of the notes about them
TRACKING = "batch.kubernetes.io/job-tracking"
BATCH_PERIOD = 1.0  # seconds from a change of a pod to the sync of its Job (syncJobBatchPeriod)
BURST = 500  # most pods that one sync creates or deletes
MOST_UNCOUNTED = 500  # most ended pods that a status lists
LONGEST_PREFIX = 58  # of a generated name
FAILURE_TARGET, CRITERIA_MET = "FailureTarget", "SuccessCriteriaMet"
LIMIT_REACHED = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
TOO_LONG = ("DeadlineExceeded", "Job was active longer than specified deadline")
REACHED = ("CompletionsReached", "Reached expected number of succeeded pods")


def is_tracked(pod: Pod) -> bool:
    """Say whether a pod has the finalizer of those that no status counts yet."""
    return TRACKING in pod.metadata.finalizers


def restarts(pod: Pod) -> int:
    """Return how often the containers of a pod were restarted."""
    fields = ("initContainerStatuses", "containerStatuses")
    return sum(each.get("restartCount", 0) for field in fields for each in pod.status.rest.get(field, ()))


@attrs.frozen
class RefusedPods:
    """A note: how often in a row a server has refused a Job's new pods, and until when none is created."""

    failures: int
    until: float = attrs.field(metadata=DIGEST_WAIT)


@attrs.frozen
class FinalizerRemoval:
    """A patch that removes the finalizer of a Job's pod."""

    admitted = True

    def apply(self, pod: Pod) -> Pod:
        """Return the pod without the finalizer."""
        return without_finalizers(pod, TRACKING)


def free(plan: PlanBuilder, pod: Pod) -> None:
    """Plan to remove the finalizer of a pod."""
    words = f"Job controller removes its finalizer from {reference_of(pod)}"
    plan.patch(key_of(pod), FinalizerRemoval(), words, uid=pod.metadata.uid)


class JobSync:
    """One sync of one Job. Mutable: its numbers follow the writes that are planned."""

    def __init__(self, ctx: TurnContext, cause: str, owner: Job) -> None:
        self.ctx, self.cause, self.owner, self.status = ctx, cause, owner, owner.status
        self.plan = PlanBuilder(ctx, NAME)
        self.waits: list[float] = []  # seconds until the Job is looked at again
        self.new_pods: list[Pod] = []
        self.suspended = bool(owner.spec.suspend)
        self.completions = owner.spec.completions
        self.pods: list[Pod] = sorted(ctx.views["pods"].get(owner.metadata.uid), key=lambda pod: index_of(pod) or 0)
        active = [pod for pod in self.pods if is_active(pod)]
        self.active_pods = active
        self.active, self.ready = len(active), sum(map(is_ready, active))
        self.terminating = sum(map(is_terminating, self.pods))
        self.done: set[int] = set()  # indexes that have succeeded, and those that do not stand in the status yet
        self.newly_done: set[int] = set()
        self.uncounted = self.status.uncounted_terminated_pods or UncountedTerminatedPods()
        tracked = [pod for pod in self.pods if is_tracked(pod) and self._has_valid_index(pod)]
        succeeded = [pod for pod in tracked if pod.status.phase == "Succeeded"
                     and pod.metadata.uid not in self.uncounted.succeeded]  # fmt: skip
        failed = [pod for pod in tracked if self._has_failed(pod) and pod.metadata.uid not in self.uncounted.failed]
        self.failed = self.status.failed + len(self.uncounted.failed) + len(failed)
        self.succeeded = self.status.succeeded + len(self.uncounted.succeeded) + len(succeeded)
        if owner.is_indexed:
            before = parse_indexes(self.status.completed_indexes, self.completions or 0)
            self.done = before.union(index for pod in succeeded if (index := index_of(pod)) is not None)
            self.newly_done = self.done - before
            self.succeeded = len(self.done)
        self.failed_pods = note_failures(ctx, cause, succeeded, failed)

    def _has_valid_index(self, pod: Pod) -> bool:
        index = index_of(pod)
        return not self.owner.is_indexed or (index is not None and index < (self.completions or 0))

    @property
    def replaces_failed_only(self) -> bool:
        """Whether a pod that is being deleted has a successor only when it has ended."""
        return self.owner.spec.pod_replacement_policy == "Failed"

    def _has_failed(self, pod: Pod) -> bool:
        deleted = pod.metadata.deletion_timestamp is not None and pod.status.phase != "Succeeded"
        return pod.status.phase == "Failed" or (deleted and not self.replaces_failed_only)

    def run(self) -> Sequence[Write]:
        """Return the writes of the sync."""
        if self.status.start_time is None and not self.suspended:
            self.status = attrs.evolve(self.status, start_time=self.ctx.moment)
        end = self._end()
        manages = end is None and self.owner.metadata.deletion_timestamp is None
        if end is not None:
            self._delete(self.active_pods)
        elif manages:
            self._manage()
        refused: RefusedPods | None = self.ctx.note(REFUSED, self.cause)
        if refused is None:
            self._create()
        enough = self.succeeded > 0 if self.completions is None else self.succeeded >= self.completions
        if end is None and enough and not self.active:
            end = self._condition(CRITERIA_MET, *REACHED)
        elif manages:
            self._suspend_or_resume()
        counted = self._track(end)
        if refused is not None and self.new_pods:  # what has ended is counted, whatever a quota says of its successors
            if refused.until > self.ctx.now:
                self.waits.append(refused.until - self.ctx.now)
            else:
                self._create()
                self._write(counted, attrs.evolve(counted.status, active=self.active))
        if self.waits:
            self.ctx.wake_after(self.cause, min(self.waits))
        return self.plan.writes

    def _condition(self, type_: str, reason: str, message: str, status: str = "True") -> JobCondition:
        now = self.ctx.moment
        return JobCondition(type=type_, status=status, reason=reason, message=message, last_transition_time=now,
                            last_probe_time=now)

    def _end(self) -> JobCondition | None:
        """Return the condition with which the Job ends, or None; that it was met stands in the status already."""
        spec = self.owner.spec
        for found in self.status.conditions:
            if found.type in (CRITERIA_MET, FAILURE_TARGET) and found.status == "True":
                return found
        limit = 6 if spec.backoff_limit is None else spec.backoff_limit
        if self.failed > limit or self._restarted_too_often(limit):
            return self._condition(FAILURE_TARGET, *LIMIT_REACHED)
        if spec.active_deadline_seconds is not None and not self.suspended and self.status.start_time:
            passed = datetime.fromisoformat(self.ctx.moment) - datetime.fromisoformat(self.status.start_time.upper())
            left = spec.active_deadline_seconds - passed.total_seconds()
            if left <= 0:
                return self._condition(FAILURE_TARGET, *TOO_LONG)
            self.waits.append(left)
        return None

    def _restarted_too_often(self, limit: int) -> bool:
        """Say whether containers that are restarted where they run have failed too often."""
        if self.owner.spec.template.spec.restart_policy != "OnFailure":
            return False
        count = sum(restarts(pod) for pod in self.pods if pod.status.phase in ("Pending", "Running"))
        return count >= max(limit, 1)

    def _manage(self) -> None:
        """Create or delete pods until as many are active as are to run at once; none of a suspended Job."""
        spec = self.owner.spec
        wanted = 1 if spec.parallelism is None else spec.parallelism
        if self.completions is not None:
            wanted = min(wanted, max(0, self.completions - self.succeeded))
        elif self.succeeded:
            wanted = self.active
        wanted = 0 if self.suspended else wanted
        surplus = self._surplus(self.active - wanted)[: None if self.suspended else BURST]
        missing = wanted - self.active - (self.terminating if self.replaces_failed_only else 0)
        if surplus:
            self._delete(surplus, uncounted=True)
        elif missing > 0:
            wait = self.failed_pods.until - self.ctx.now if self.failed_pods.failures else 0.0
            if wait > 0:
                self.waits.append(wait)
            else:
                self._name_new_pods(min(missing, BURST))

    def _surplus(self, count: int) -> list[Pod]:
        """Return the pods to delete: those without an index of their own, then as many as are too many.

        The first are those without node, then those that do not run, those that are not ready, the youngest.
        """
        wrong: list[Pod] = []
        kept = sorted(self.active_pods, key=_ready_and_created, reverse=True)
        kept.sort(key=lambda pod: (bool(pod.spec.node_name), pod.status.phase == "Running", is_ready(pod)))
        if self.owner.is_indexed:
            last = {index_of(pod): pod for pod in kept if self._has_valid_index(pod)}
            wrong = [pod for pod in kept if last.get(index_of(pod)) is not pod]
            kept = [pod for pod in kept if last.get(index_of(pod)) is pod]
        return wrong + kept[: max(0, count - len(wrong))]

    def _delete(self, pods: Sequence[Pod], *, uncounted: bool = False) -> None:
        """Delete active pods; those that are not to be counted lose the finalizer first."""
        for pod in pods:
            if uncounted and is_tracked(pod):
                free(self.plan, pod)
            self.plan.delete_pod(self.owner, pod, f"Job controller deletes {reference_of(pod)}")
        self.active -= len(pods)
        self.ready -= sum(map(is_ready, pods))
        self.terminating += len(pods)

    def _create(self) -> None:
        for pod in self.new_pods:
            self.plan.create_pod(self.owner, pod, f"Job controller creates {reference_of(pod)}")
        self.active += len(self.new_pods)

    def _name_new_pods(self, count: int) -> None:
        indexes: Iterator[int | None] = islice(self._missing_indexes(), count)
        meta = self.owner.metadata
        names = unused_names(self.ctx, self.cause, lambda number: Key(
            "Pod", meta.namespace or "default", self._name(number, None)))  # fmt: skip
        self.new_pods = [self._pod(number, index) for index, number in zip(indexes, names, strict=False)]

    def _missing_indexes(self) -> Iterator[int | None]:
        """Yield the first indexes that have neither an active pod nor succeeded; None for ever without indexes."""
        if not self.owner.is_indexed:
            while True:
                yield None
        taken = self.done.union(index for pod in self.active_pods if (index := index_of(pod)) is not None)
        yield from (index for index in range(self.completions or 0) if index not in taken)

    def _prefix(self, index: int | None) -> str:
        end = "-" if index is None else f"-{index}-"
        return self.owner.metadata.name[: LONGEST_PREFIX - len(end)] + end

    def _name(self, number: int, index: int | None) -> str:
        return self._prefix(index) + pod_name_suffix(self.owner.metadata.uid, number)

    def _pod(self, number: int, index: int | None) -> Pod:
        template = self.owner.spec.template.metadata
        pod = replica_of(self.owner, self._name(number, index), template.labels, self._prefix(index))
        pod = evolve_parts(pod, metadata={"finalizers": (*template.finalizers, TRACKING)})
        return pod if index is None else with_index(pod, index, f"{self.owner.metadata.name}-{index}")

    def _suspend_or_resume(self) -> None:
        """Set the condition Suspended and say so, if it has changed; the time until the deadline begins anew."""
        was_suspended = self.owner.has_condition("Suspended")
        if was_suspended == self.suspended:
            return
        word = "suspended" if self.suspended else "resumed"
        truth, message = "True" if self.suspended else "False", f"Job {word}"
        condition = self._condition("Suspended", f"Job{word.capitalize()}", message, truth)
        start = None if self.suspended else self.ctx.moment
        self.status = attrs.evolve(_with_condition(self.status, condition), start_time=start)
        self.plan.event(self.owner, "Normal", word.capitalize(), message)

    def _track(self, end: JobCondition | None) -> Job:
        """Write which pods have ended, remove their finalizers, then count them, and say whether the Job is over.

        Return the Job as it is then.
        """
        succeeds = end is not None and end.type == CRITERIA_MET
        tracked = {pod.metadata.uid for pod in self.pods if is_tracked(pod)}
        status = self._count_but(tracked)
        freed, is_full = self._ended(tracked, end)
        if end is not None:
            status = _with_condition(status, end)
        if self.owner.is_indexed:
            status = attrs.evolve(status, succeeded=len(self.done), completed_indexes=format_indexes(self.done))
        before = self._write(self.owner, attrs.evolve(
            status, active=self.active, ready=self.ready, terminating=self.terminating,
            uncounted_terminated_pods=self.uncounted
        ))  # fmt: skip
        for pod in freed:
            free(self.plan, pod)
        self.status = before.status
        status = self._count_but(tracked - {pod.metadata.uid for pod in freed})
        over = end is not None and not is_full and not self.terminating and self.uncounted == UncountedTerminatedPods()
        if end is not None and over:
            final = self._condition("Complete" if succeeds else "Failed", end.reason, end.message)
            status = _with_condition(status, final)
            status = attrs.evolve(status, completion_time=self.ctx.moment if succeeds else None)
        counted = self._write(before, status)
        if end is not None and over:
            event = ("Normal", "Completed", "Job completed") if succeeds else ("Warning", end.reason, end.message)
            self.plan.event(self.owner, *event)
        return counted

    def _ended(self, tracked: set[str], end: JobCondition | None) -> tuple[list[Pod], bool]:
        """Add the pods that have ended to the uncounted ones, and return them, and whether there are more.

        The next sync counts the others.
        """
        succeeded, failed = (list(uids) for uids in (self.uncounted.succeeded, self.uncounted.failed))
        freed: list[Pod] = []
        indexes, is_full = 0, False
        all_end = self.owner.metadata.deletion_timestamp is not None or end is not None
        all_fail = end is not None and end.type != CRITERIA_MET
        for pod in self.pods:
            uid, is_success, is_failure = pod.metadata.uid, pod.status.phase == "Succeeded", self._has_failed(pod)
            if uid not in tracked or not (all_end or is_success or is_failure):
                continue
            freed.append(pod)
            if is_success and uid not in failed:
                if self.owner.is_indexed:
                    indexes += index_of(pod) in self.newly_done
                elif uid not in succeeded:
                    succeeded.append(uid)
            elif (is_failure or all_fail) and uid not in failed and self._has_valid_index(pod):
                failed.append(uid)
            if is_full := indexes + len(succeeded) + len(failed) >= MOST_UNCOUNTED:
                self.waits.append(BATCH_PERIOD)
                break
        self.uncounted = UncountedTerminatedPods(succeeded=tuple(succeeded), failed=tuple(failed))
        return freed, is_full

    def _count_but(self, tracked: set[str]) -> JobStatus:
        """Return the status with the ended pods counted that have lost the finalizer; the others stay uncounted."""
        succeeded, failed = (tuple(uid for uid in uids if uid in tracked)
                             for uids in (self.uncounted.succeeded, self.uncounted.failed))  # fmt: skip
        before, self.uncounted = self.uncounted, UncountedTerminatedPods(succeeded=succeeded, failed=failed)
        return attrs.evolve(
            self.status, uncounted_terminated_pods=self.uncounted,
            succeeded=self.status.succeeded + len(before.succeeded) - len(succeeded),
            failed=self.status.failed + len(before.failed) - len(failed)
        )

    def _write(self, owner: Job, status: JobStatus) -> Job:
        words = f"Job controller updates the status of {reference_of(owner)}: {status.active} active, "
        words += f"{status.succeeded} succeeded, {status.failed} failed"
        words += "".join(f", {new.type}" for new in status.conditions
                         if new.status == "True" and not owner.has_condition(new.type))  # fmt: skip
        changed: Job = self.plan.update_status(owner, attrs.evolve(owner, status=status), words)
        return changed


def _ready_and_created(pod: Pod) -> tuple[str, str]:
    """Return when a pod became ready, and when it was created."""
    ready = pod.status.condition("Ready")
    return (ready.last_transition_time or "") if ready is not None else "", pod.metadata.creation_timestamp or ""


def _with_condition(status: JobStatus, condition: JobCondition) -> JobStatus:
    """Return a status with a condition: in its type's place, or at the end."""
    others = {found.type: found for found in status.conditions} | {condition.type: condition}
    return attrs.evolve(status, conditions=tuple(others.values()))

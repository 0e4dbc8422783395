"""Plans: the writes that a reconcile decides on, each with the Events to record once it is committed or refused.

A controller's code reads as if it wrote at once: `update` this, `event` that. `PlanBuilder` collects these calls: an
Event before the first write is recorded at once, an Event after a write only when that write is committed.
"""

from typing import Any

import attrs

from ..api.kinds.meta import evolve, maker
from .apiserver import CommittedWrite, RefusedWrite, Write, key_of, ref
from .component import TurnContext
from .log import Key


@attrs.frozen
class PlannedEvent:
    """An Event to record after a write; `{error}` in its message stands for the refusal's message."""

    about: Key
    type: str
    reason: str
    message: str
    source: str = ""


@attrs.frozen
class PlannedEnqueue:
    """A cause to enqueue for another actor of the component after a write."""

    actor: str
    cause: str


@attrs.frozen
class PlannedWrite(Write):
    """A write with the Events to record and the causes to enqueue, depending on its outcome.

    `on_success` is carried out when the write is committed, `on_failure` when it is refused for another reason than
    `silent_reason`.
    """

    on_success: tuple[PlannedEvent | PlannedEnqueue, ...] = ()
    on_failure: tuple[PlannedEvent | PlannedEnqueue, ...] = ()
    silent_reason: str = ""
    refusal_words: str = "{error}"  # sentence about a refusal
    operation: str = ""  # name of the operation that fails if the write is refused
    cached: bool = True  # whether the component's mutation cache takes the stored object


class PlanBuilder:
    """Collects the writes of one decision. Mutable, lives for one turn; `sync` returns its `writes`."""

    def __init__(self, ctx: TurnContext, source: str = "") -> None:
        self.ctx = ctx
        self.source = source
        self.writes: list[PlannedWrite] = []

    def _write(self, verb: str, key: Key, new: Any, words: str, **more: Any) -> None:
        self.writes.append(_planned_write(verb, key, new, words=words, **more))

    def create(self, new: Any, words: str, **more: Any) -> None:
        """Plan to create an object."""
        self._write("create", key_of(new), new, words, **more)

    def update(self, old: Any, new: Any, words: str, **more: Any) -> Any:
        """Plan to replace an object as it was seen, unless nothing would change; {} in the words is its name."""
        if new != old:
            words = words.replace("{}", reference_of(old))
            self._write("update", key_of(old), new, words, version=old.metadata.resource_version, **more)
        return new

    def update_status(self, old: Any, new: Any, words: str, **more: Any) -> Any:
        """Plan to replace the status of an object as it was seen, as `update` does."""
        if new != old:
            words = words.replace("{}", reference_of(old))
            self._write("update_status", key_of(old), new, words, version=old.metadata.resource_version, **more)
        return new

    def patch(self, key: Key, patch: Any, words: str, **more: Any) -> None:
        """Plan to patch an object, whatever its version."""
        self._write("patch", key, patch, words, **more)

    def delete(self, old: Any, words: str, *, grace: int | None = None, **more: Any) -> None:
        """Plan to delete an object that was seen, but no later one of that name (uid precondition)."""
        self._write("delete", key_of(old), grace, words, uid=old.metadata.uid, **more)

    def create_pod(self, owner: Any, pod: Any, words: str) -> None:
        """Plan to create a pod of an owner, with the Events of Kubernetes' `RealPodControl`."""
        about, name = key_of(owner), pod.metadata.name
        made = PlannedEvent(about, "Normal", "SuccessfulCreate", f"Created pod: {name}", self.source)
        failed = PlannedEvent(about, "Warning", "FailedCreate", "Error creating: {error}", self.source)
        self.create(pod, words, on_success=(made,), on_failure=(failed,))

    def delete_pod(self, owner: Any, pod: Any, words: str) -> None:
        """Plan to delete a pod of an owner, with its Event."""
        self.delete(pod, words)
        self.event(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}")

    def event(self, about: Any, type_: str, reason: str, message: str, source: str = "") -> None:
        """Record an Event: now, or once the last write planned so far is committed."""
        source = source or self.source
        if not self.writes:
            self.ctx.event(about, type_, reason, message, source)
            return
        self._after_last_write(PlannedEvent(key_of(about), type_, reason, message, source))

    def enqueue(self, actor: str, cause: str) -> None:
        """Enqueue a cause for another actor of the component: now, or once the last write planned is committed."""
        if not self.writes:
            enqueue(self.ctx, actor, cause)
            return
        self._after_last_write(PlannedEnqueue(actor, cause))

    def _after_last_write(self, follow_up: PlannedEvent | PlannedEnqueue) -> None:
        last = self.writes[-1]
        self.writes[-1] = evolve(last, on_success=(*last.on_success, follow_up))

    def describe(self, words: str) -> None:
        """Set the sentence that describes a turn without writes."""
        if not self.writes:
            self.ctx.describe(words)


def enqueue(ctx: TurnContext, actor: str, cause: str) -> None:
    """Enqueue a cause for an actor of the component; do nothing if it has no such actor."""
    found = ctx.process.actors.get(actor)
    if found is not None:
        ctx.enqueue(cause, found)


def report_outcome(ctx: TurnContext, outcome: CommittedWrite | RefusedWrite) -> None:
    """Record the Events and enqueue the causes that a planned write has for its outcome."""
    write = outcome.write
    if not isinstance(write, PlannedWrite):
        return
    error = outcome.message if isinstance(outcome, RefusedWrite) else ""
    if error:
        ctx.describe(f"{write.words}: refused, {write.refusal_words.replace('{error}', error)}")
    follow_ups = write.on_failure if isinstance(outcome, RefusedWrite) else write.on_success
    if isinstance(outcome, RefusedWrite) and outcome.reason == write.silent_reason:
        follow_ups = ()
    for follow_up in follow_ups:
        if isinstance(follow_up, PlannedEnqueue):
            enqueue(ctx, follow_up.actor, follow_up.cause)
            continue
        about = ctx.sim.log.objects.get(follow_up.about) or (write.new if follow_up.about == write.key else None)
        if about is not None:
            message = follow_up.message.replace("{error}", error)
            ctx.event(about, follow_up.type, follow_up.reason, message, follow_up.source)


def report_done(ctx: TurnContext, _cause: str, outcome: CommittedWrite, *, last: bool) -> None:
    """Report a committed write: a `Reconciler.on_committed`."""
    report_outcome(ctx, outcome)


def report_refused(ctx: TurnContext, _cause: str, outcome: RefusedWrite) -> None:
    """Report a refused write: a `Reconciler.on_refused`."""
    report_outcome(ctx, outcome)


def reference_of(obj: Any) -> str:
    """Return the reference to an object: `pvc/data-0`."""
    return ref(key_of(obj))


_planned_write = maker(PlannedWrite)

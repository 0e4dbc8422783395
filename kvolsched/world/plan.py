"""A decision in the making: the writes a reconcile means to make, and what it says once each has come out.

A controller's code reads as if it wrote at once: `update` this, `event` that. Here that becomes a list of writes that
carry their sentences with them: what is said before any write is said at once, what follows a write is said when that
write was carried out, and never if it was refused. A `Decision` is mutable and lives for one turn.
"""

from __future__ import annotations

from typing import Any

import attrs

from .apiserver import CommittedWrite, RefusedWrite, Write, key_of, ref
from .component import TurnContext
from .log import Key


@attrs.frozen
class PlannedEvent:
    """An Event to come: about which object, with `{error}` in its message where the refusal's words go."""

    about: Key
    type: str
    reason: str
    message: str
    source: str = ""


@attrs.frozen
class PlannedEnqueue:
    """Another routine of the component is to take something up."""

    actor: str
    cause: str


@attrs.frozen
class PlannedWrite(Write):
    """A write with what its outcome makes the actor say or ask for: `then` if carried out, `otherwise` if refused.

    A refusal for the reason `sunk` is none to speak of: nothing is said of it.
    """

    on_success: tuple[PlannedEvent | PlannedEnqueue, ...] = ()
    on_failure: tuple[PlannedEvent | PlannedEnqueue, ...] = ()
    silent_reason: str = ""
    refusal_words: str = "{error}"  # the whole sentence of a refusal
    operation: str = ""  # what has failed if this is refused
    cached: bool = True  # whether the component's own cache takes what was stored


class PlanBuilder:
    """Collects the writes of one decision. Mutable; its `writes` are what a routine's `sync` returns."""

    def __init__(self, ctx: TurnContext, source: str = "") -> None:
        self.ctx = ctx
        self.source = source
        self.writes: list[PlannedWrite] = []

    def _write(self, verb: str, key: Key, new: Any, words: str, **more: Any) -> None:
        self.writes.append(PlannedWrite(verb, key, new, words=words, **more))

    def create(self, new: Any, words: str, **more: Any) -> None:
        """Mean to create an object."""
        self._write("create", key_of(new), new, words, **more)

    def update(self, old: Any, new: Any, words: str, **more: Any) -> Any:
        """Mean to replace an object as it was seen, unless nothing would change; return it as it will be."""
        if new != old:
            self._write("update", key_of(old), new, words, version=old.metadata.resource_version, **more)
        return new

    def update_status(self, old: Any, new: Any, words: str, **more: Any) -> Any:
        """Mean to replace an object's status as it was seen, unless nothing would change; return it as it will be."""
        if new != old:
            self._write("update_status", key_of(old), new, words, version=old.metadata.resource_version, **more)
        return new

    def patch(self, key: Key, patch: Any, words: str, **more: Any) -> None:
        """Mean to patch an object, whatever its version."""
        self._write("patch", key, patch, words, **more)

    def delete(self, old: Any, words: str, *, grace: int | None = None, **more: Any) -> None:
        """Mean to delete an object that was seen; one of its name that was born later is spared."""
        self._write("delete", key_of(old), grace, words, uid=old.metadata.uid, **more)

    def event(self, about: Any, type_: str, reason: str, message: str, source: str = "") -> None:
        """Say something of an object: now, or once the last write so far was carried out."""
        source = source or self.source
        if not self.writes:
            self.ctx.event(about, type_, reason, message, source)
            return
        self._then(PlannedEvent(key_of(about), type_, reason, message, source))

    def enqueue(self, actor: str, cause: str) -> None:
        """Have another routine of the component take something up: now, or once the last write was carried out."""
        if not self.writes:
            enqueue(self.ctx, actor, cause)
            return
        self._then(PlannedEnqueue(actor, cause))

    def _then(self, what: PlannedEvent | PlannedEnqueue) -> None:
        last = self.writes[-1]
        self.writes[-1] = attrs.evolve(last, on_success=(*last.on_success, what))

    def describe(self, words: str) -> None:
        """Give the sentence of a turn that only decides."""
        if not self.writes:
            self.ctx.describe(words)


def enqueue(ctx: TurnContext, actor: str, cause: str) -> None:
    """Have a routine of the component take something up; without such a routine somebody else does it."""
    other = next((other for other in ctx.process.component.actors if other.name == actor), None)
    if other is not None:
        ctx.enqueue(cause, other)


def report_outcome(ctx: TurnContext, outcome: CommittedWrite | RefusedWrite) -> None:
    """Say and ask for what goes with the outcome of a write."""
    write = outcome.write
    if not isinstance(write, PlannedWrite):
        return
    error = outcome.message if isinstance(outcome, RefusedWrite) else ""
    if error:
        ctx.describe(f"{write.words}: refused, {write.refusal_words.replace('{error}', error)}")
    sunk = isinstance(outcome, RefusedWrite) and outcome.reason == write.silent_reason
    for what in () if sunk else write.on_failure if isinstance(outcome, RefusedWrite) else write.on_success:
        if isinstance(what, PlannedEnqueue):
            enqueue(ctx, what.actor, what.cause)
            continue
        about = ctx.sim.log.objects.get(what.about) or (write.new if what.about == write.key else None)
        if about is not None:
            message = what.message.replace("{error}", error)
            ctx.event(about, what.type, what.reason, message, what.source)


def report_done(ctx: TurnContext, _cause: str, outcome: CommittedWrite, *, last: bool) -> None:
    """Fill a routine's `done`."""
    report_outcome(ctx, outcome)


def report_refused(ctx: TurnContext, _cause: str, outcome: RefusedWrite) -> None:
    """Fill a routine's `refused`."""
    report_outcome(ctx, outcome)


def reference_of(obj: Any) -> str:
    """Return an object as references spell it: `pvc/data-0`."""
    return ref(key_of(obj))

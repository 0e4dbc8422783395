"""The routine of a controller of your own: it asks the user's function, and makes the writes that it answers.

The function is asked twice about the same contents. If the answers differ, it keeps state that is not in the log, and
nothing it decides could be repeated: that is reported as the controller's failure, like an exception or an answer that
is no write, in one sentence with its line. A failed cause is taken up again after a back-off (client-go's: 5 ms,
doubled, up to 1000 s).
"""

import linecache
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from ...api.kinds.kind import KINDS_BY_NAME
from ...api.kinds.meta import ObjectMeta
from ...api.words import first_of
from ...world.apiserver import CommittedWrite, RefusedWrite, Write, key_for, ref
from ...world.component import TurnContext
from ...world.log import Key
from ...world.manifest_patch import ManifestPatch
from ...world.plan import PlannedEvent, PlannedWrite
from ...world.reconciler import ReconcileError, Reconciler
from .seen import MEMORY, Seen
from .user_function import function_name, plain_function
from .writes import Action, Again, EventRecord, describe_action

SHOWN_FIELDS = 3
EVENT_REASON = "ReconcileFailed"
VERB_WORDS = {
    "create": "creates", "update": "updates", "update_status": "updates the status of", "patch": "patches",
    "delete": "deletes", "bind": "binds",
}  # fmt: skip
ReconcileFunction = Callable[[Seen, str], Any]


@attrs.frozen
class CustomReconciler(Reconciler):
    """The routine of a controller that a user gave as a function."""


@attrs.frozen
class ReconcileAnswer:
    """What a function answers: what it asks for, and what it remembers."""

    actions: tuple[Action, ...]
    notes: Mapping[str, Any]

    def __str__(self) -> str:
        parts = [describe_action(action) for action in self.actions]
        parts += [f"note {key} = {value!r}" for key, value in self.notes.items()]
        return ", ".join(parts) or "nothing"


@attrs.frozen
class CustomSync:
    """The `sync` of a controller: asks the function and turns its answer into a plan."""

    name: str
    function: ReconcileFunction

    def __call__(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Return the writes to make about a cause; note and record what comes before them.

        Raises:
            ReconcileError: the function failed.
        """
        try:
            answer = self._ask_twice(ctx, cause)
        except ReconcileError as error:
            ctx.event(about(ctx, key_for(cause)), "Warning", EVENT_REASON, str(error), self.name)
            raise ReconcileError(f"{self.name}: reconcile failed: {error}") from None
        for key, value in answer.notes.items():
            ctx.remember(MEMORY, key, value)
        return self._plan(ctx, cause, answer)

    def _ask_twice(self, ctx: TurnContext, cause: str) -> ReconcileAnswer:
        first = self._ask(ctx, cause)
        try:
            second: ReconcileAnswer | str = self._ask(ctx, cause)
        except ReconcileError as error:
            second = str(error)
        if first != second:
            raise ReconcileError(cut(
                f"{function_name(self.function)} answers differently when it is asked twice about the same contents: "
                f"{first}; then {second}. What it must remember belongs in seen.note; "
                "it may not use random numbers or the time of day"
            ))  # fmt: skip
        return first

    def _ask(self, ctx: TurnContext, cause: str) -> ReconcileAnswer:
        """Call the function once.

        Raises:
            ReconcileError: it raises an error, or answers with something else than writes.
        """
        seen = Seen(ctx, key_for(cause))
        try:
            given = self.function(seen, cause)
            actions = _as_actions(given, function_name(self.function))
        except ReconcileError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises is shown, not raised
            raise ReconcileError(describe_error(error, self.function)) from None
        finally:
            ctx.looked_beyond = ctx.looked_beyond or seen.looked_beyond
        notes = {key: value for key, value in seen.remembered.items() if value != ctx.note(MEMORY, key)}
        return ReconcileAnswer(actions, notes)

    def _plan(self, ctx: TurnContext, cause: str, answer: ReconcileAnswer) -> Sequence[Write]:
        """Return the planned writes, each with the events that follow it; act on what needs no write."""
        writes: list[PlannedWrite] = []
        done = [f"notes {key}" for key in answer.notes]
        for action in answer.actions:
            match action:
                case Write():
                    words = f"{self.name} {_words(action)}"
                    writes.append(PlannedWrite(**{**attrs.asdict(action, recurse=False), "words": words}))
                case EventRecord():
                    planned = PlannedEvent(action.about, action.type, action.reason, action.message, self.name)
                    if writes:
                        writes[-1] = attrs.evolve(writes[-1], on_success=(*writes[-1].on_success, planned))
                    else:
                        record(ctx, planned)
                        done.append(f"records {action.reason} about {ref(action.about)}")
                case Again():
                    done.append(self._wake(ctx, cause, action))
        if not writes and done:
            ctx.describe(f"{self.name} {', '.join(done)}")
        return writes

    def _wake(self, ctx: TurnContext, cause: str, request: Again) -> str:
        """Schedule a cause to be taken up again, and return it in words."""
        subject = ref(request.about) if request.about is not None else cause
        if not request.seconds:
            ctx.enqueue(subject)
            return f"looks at {subject} next"
        ctx.wake_after(subject, request.seconds, periodic=request.periodic)
        return f"looks at {subject} again in {request.seconds:g} s"


def report_committed(ctx: TurnContext, _cause: str, outcome: CommittedWrite, *, last: bool) -> None:
    """Record the Events that follow a committed write."""
    for planned in getattr(outcome.write, "on_success", ()):
        record(ctx, planned)


def report_refused(ctx: TurnContext, _cause: str, outcome: RefusedWrite) -> None:
    """Say why a write was refused."""
    ctx.describe(f"{outcome.write.words}: refused, {outcome.message}")


def record(ctx: TurnContext, planned: PlannedEvent) -> None:
    """Record a planned Event."""
    ctx.event(about(ctx, planned.about), planned.type, planned.reason, planned.message, planned.source)


def about(ctx: TurnContext, key: Key) -> Any:
    """Return what an Event is about: the object as it is stored or was seen, else one with only its name."""
    kinds = ctx.process.component.watches
    found = ctx.sim.log.objects.get(key) or (ctx.seen.at(key) if key.kind in kinds else None)
    meta = ObjectMeta(name=key.name, namespace=key.namespace)
    return found if found is not None else KINDS_BY_NAME[key.kind].type(metadata=meta)


def _as_actions(answer: Any, function: str) -> tuple[Action, ...]:
    """Return what a function answered as a tuple: None is nothing, a single write one, a generator its items.

    Raises:
        ReconcileError: something in it is no write.
    """
    if answer is None:
        return ()
    given = (answer,) if isinstance(answer, Action) else answer
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise ReconcileError(f"{function} returned {_short(answer)}, which is no list of writes: {_HELP}")
    actions = tuple(given)
    for number, action in enumerate(actions):
        if not isinstance(action, Action) or (isinstance(action, Write) and action.verb not in VERB_WORDS):
            raise ReconcileError(f"{function} returned {_short(action)} at [{number}], which is no write: {_HELP}")
    return actions


_HELP = "use create, patch, delete, bind, event and again of kvolsched.writes"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _words(write: Write) -> str:
    """Return a write as a verb phrase: `patches pod/web-0 (spec.schedulingGates)`."""
    words = f"{VERB_WORDS.get(write.verb, write.verb)} {write.subject}"
    if write.verb == "bind":
        return f"{words} to {write.new}"
    if not isinstance(write.new, ManifestPatch):
        return words
    fields = list(dict.fromkeys(_fields(write.new.data)))
    return f"{words} ({first_of(fields, SHOWN_FIELDS)})" if fields else words


def _fields(data: Any) -> Iterable[str]:
    """Yield the fields that a patch names: two levels of a mapping, the paths of a JSON patch."""
    if not isinstance(data, Mapping):
        yield from (str(operation.get("path", "")) for operation in data if isinstance(operation, Mapping))
        return
    for name, value in data.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in value)
        else:
            yield name


MAX_LENGTH = 300


def describe_error(error: Exception, function: Callable[..., Any]) -> str:
    """Return an error as `KeyError 'x' (line 7 of admit: ...)`, with the innermost line of the user's own code."""
    message = " ".join(str(error).split())
    if isinstance(error, KeyError) and error.args and " " in str(error.args[0]):
        message = str(error.args[0])  # a KeyError prints its sentence in quotes
    return cut(f"{type(error).__name__} {message}".rstrip() + _line_of(error, function))


def cut(words: str) -> str:
    """Return words, cut if they are too long for a sentence."""
    return words if len(words) <= MAX_LENGTH else f"{words[: MAX_LENGTH - 1]}…"


def _line_of(error: Exception, function: Callable[..., Any]) -> str:
    """Return ` (line 7 of admit: ...)` for the innermost frame of the file that holds the function; "" if unknown.

    A module is named with its own line, ` (queue.py:31, line 7 of admit: ...)`; a cell of a notebook has none.
    """
    code = getattr(plain_function(function), "__code__", None)
    own = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__)
           if code and frame.f_code.co_filename == code.co_filename]
    if not own:
        return ""
    frame, line = own[-1]
    number = line - frame.f_code.co_firstlineno + 1
    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()
    file = Path(frame.f_code.co_filename)
    where = f"{file.name}:{line}, " if file.is_file() else ""
    return f" ({where}line {number} of {frame.f_code.co_name}{f': `{text}`' if text else ''})"

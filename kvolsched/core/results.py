"""The values that `Cluster` returns: steps, runs, possible turns and results of user commands, printed as sentences.

The words of a turn come from its actor; this module only capitalises, punctuates and wraps them to fit a notebook.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import attrs

from kvolsched.api.notebook_output import PrintedAnswer, printable
from kvolsched.api.unknown_name import UnknownName
from kvolsched.api.words import counted, hanging_indent

from ..world.apiserver import RefusedWrite
from ..world.history import Turn
from ..world.outage import ADDRESS, UNREACHABLE
from ..world.simulation import Simulation

MAX_PRINTED = 20  # steps of a run that are printed one by one; lines of a refusal
MAX_FAILING = 5  # what goes on failing that is printed after a run
OFTEN = 3  # refusals of one write after which a run tells of it


@attrs.frozen(repr=False)
class Step(PrintedAnswer):
    """One step: the turns of one cause, with its sentence."""

    number: int
    time: float
    turns: tuple[Turn, ...]

    @property
    def actor(self) -> str:
        """The actor's name, or the component's if there was no actor."""
        return self.turns[-1].actor or self.turns[-1].component if self.turns else ""

    @property
    def lines(self) -> tuple[str, ...]:
        """What happened: one sentence for each turn."""
        return tuple(dict.fromkeys(as_sentence(turn.words) for turn in self.turns if turn.words and not turn.quiet))

    @property
    def words(self) -> str:
        """What happened, in one line."""
        return " ".join(self.lines)

    def __bool__(self) -> bool:
        return bool(self.turns)

    def __repr__(self) -> str:
        if not self.turns:
            return "nothing to do" if self.number else "the start: nothing has happened yet"
        head = f"step {self.number}, t={self.time:g} s: "
        return head + hanging_indent(self.lines, len(head))


def last_step(world: Simulation) -> Step:
    """Return the step that led to the present place of a world; number 0 at the start."""
    number, place = world.step_number, world.place
    turns = (turn for turn in world.history.turns_of(number) if turn.end <= place)
    return Step(number, world.now, tuple(turns))


@attrs.frozen(repr=False)
class Run(PrintedAnswer):
    """The steps of a run, and why it ended; `idle`: nothing was left to do; `quiet`: the turns after the last step.

    `remarks` returns what to know about what was loaded, a line each; it is asked when the run is printed.
    """

    steps: tuple[Step, ...]
    ended: str
    idle: bool = False
    quiet: tuple[Turn, ...] = ()
    remarks: Callable[[], tuple[str, ...]] = attrs.field(default=tuple, eq=False)

    @property
    def failing(self) -> tuple[str, ...]:
        """What failed to the end of the run, the most frequent first: functions of controllers, and refused writes.

        A write is told of if it was refused three times, and not made afterwards.
        """
        failed: dict[tuple[str, ...], list[str]] = {}
        turns = chain.from_iterable((*(step.turns for step in self.steps), self.quiet))
        for what, failure in chain.from_iterable(map(_attempts, turns)):
            if failure:
                failed.setdefault(what, []).append(failure)
            else:
                failed.pop(what, None)
        times: Counter[str] = Counter()
        for what, failures in failed.items():
            if len(what) == 3 or len(failures) >= OFTEN:  # three words name a routine, five a write
                times[failures[-1]] += len(failures)
        return tuple(f"{count} × {failure}" for failure, count in times.most_common())

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        count = len(self.steps)
        if not count:
            return "\n".join([self.ended, *self.remarks()])
        steps = [f"{step!r}" for step in self.steps] if count <= MAX_PRINTED else []
        end = f"{counted(count, 'step')}, t={self.steps[-1].time:g} s: {self.ended}"
        failing = self.failing
        more = [f"and {len(failing) - MAX_FAILING} more (.failing)"] if len(failing) > MAX_FAILING else []
        told = [f"  {hanging_indent([words], 4)}" for words in (*failing[:MAX_FAILING], *more)]
        return "\n".join([*steps, end, *(["still failing at the end:"] if told else []), *told, *self.remarks()])


def _attempts(turn: Turn) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what was tried in a turn, the decision of a routine and its writes, and how it failed: "" if it did not."""
    if turn.actor:
        yield (turn.component, turn.actor, turn.cause), turn.words if turn.failed else ""
    for outcome in turn.outcomes:
        write, failure = outcome.write, ""
        if isinstance(outcome, RefusedWrite):
            failure = f"{write.words or f'{turn.component}: {write.verb} {write.subject}'}: refused, {outcome.message}"
        yield (turn.component, write.verb, *write.key), failure


class ApplyRefused(Exception):
    """Raised when the API server refuses a user's writes: `refusals` holds every one, `done` what was written.

    `others` are the errors that the same command met besides, such as names that nothing has.
    """

    def __init__(
        self, refusals: Sequence[RefusedWrite], done: CommandResult | None = None, others: Sequence[Exception] = ()
    ) -> None:
        self.refusals, self.done, self.others = tuple(refusals), done or CommandResult(()), tuple(others)
        said = [*(refused.message for refused in self.refusals), *map(str, self.others)]
        super().__init__(printable("\n".join(said)))

    @property
    def lines(self) -> tuple[str, ...]:
        """What kubectl prints: an entry for each refused object, and for each other error."""
        others = (getattr(error, "words", f"error: {error}") for error in self.others)
        return tuple(map(printable, (*map(_printed, self.refusals), *others)))

    def _render_traceback_(self) -> list[str]:
        lines = "\n".join(self.lines).split("\n")
        hidden = len(lines) - MAX_PRINTED
        return lines if hidden <= 0 else [*lines[:MAX_PRINTED], f"... and {hidden} more lines; .lines holds all"]


class NotDeleted(UnknownName):
    """Raised when names to delete are those of nothing: a line for each of them; `done` is what was deleted."""

    def __init__(self, missing: Sequence[UnknownName], done: CommandResult) -> None:
        super().__init__("\n".join(map(str, missing)))
        self.missing, self.done = tuple(missing), done


def _printed(refused: RefusedWrite) -> str:
    """Return what kubectl prints of a refusal: each fault of an invalid object, else the reason and the message."""
    if refused.reason == UNREACHABLE:
        return f"The connection to the server {ADDRESS} was refused - did you specify the right host or port?"
    if refused.reason == "TooManyRequests":  # the budget that forbids an eviction, which kubectl leaves out
        said = [f"Error from server ({refused.reason}): {refused.message}", *map(str, refused.causes)]
        return "\n".join(said)
    if refused.reason == "Invalid" and not refused.causes:
        return f"The request is invalid: {refused.message}"
    if refused.reason != "Invalid":
        return f"Error from server ({refused.reason}): {refused.message}"
    head = f'The {refused.write.key.kind} "{refused.write.key.name}" is invalid: '
    causes = [str(cause) for cause in refused.causes]
    return head + (causes[0] if len(causes) == 1 else "".join(f"\n* {cause}" for cause in causes))


@attrs.frozen(repr=False)
class CommandResult(PrintedAnswer):
    """What a user's command did: a line for each object, in kubectl's words; kubectl writes `warnings` to stderr."""

    lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join(self.lines)


@attrs.frozen(repr=False)
class PossibleTurns(PrintedAnswer):
    """The turns that may come next; that of a plain step comes first.

    `untried` counts causes that were not tried, as their actor has so many.
    """

    turns: tuple[Turn, ...]
    now: float
    untried: int = 0

    def __len__(self) -> int:
        return len(self.turns)

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    def __repr__(self) -> str:
        if not self.turns:
            return "nobody: the cluster is idle"
        width = max(len(turn.actor) for turn in self.turns)
        rows = [(turn, f"in {turn.time - self.now:g} s: " if turn.time > self.now else "") for turn in self.turns]
        lines = ((turn.actor, delay + as_sentence(turn.words or turn.cause)) for turn, delay in rows)
        told = [f"{actor:<{width}}  {hanging_indent([line], width + 2)}" for actor, line in lines]
        return "\n".join([*told, *([f"and {self.untried:,} causes that were not tried"] if self.untried else [])])


def as_sentence(words: str) -> str:
    """Return words as a sentence: with a full stop, and a capital unless they begin with a name such as `pd.csi`."""
    first = words.partition(" ")[0]
    needs_capital = first.isalpha() and not words[:1].isupper()
    capitalised = words[:1].upper() + words[1:] if needs_capital else words
    return capitalised + ("" if words.endswith((".", "!", "?")) else ".")

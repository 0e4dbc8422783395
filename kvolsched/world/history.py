"""Where a simulation has been: its turns, where its steps end in the log, and the futures that were left.

A step is what changed something: one that changes nothing leaves no trace. Acting in the past cuts the future off;
the same step made again finds that future again, another one opens a branch and keeps the old future under its name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from operator import attrgetter
from types import TracebackType
from typing import Self

import attrs

from .apiserver import CommittedWrite, RefusedWrite
from .log import Change, Key, Log

_END = attrgetter("end")


@attrs.frozen
class Turn:
    """The record of one turn: who did what, between which places of the log, at what simulated time (s).

    `goes_on`: the cause is not finished and goes on in another turn. `quiet` turns only saw something (or let time
    pass); they belong to the step that follows them. `fault` names the fault that struck.
    """

    step: int
    component: str
    actor: str
    cause: str
    start: int
    end: int
    time: float
    words: str
    outcomes: tuple[CommittedWrite | RefusedWrite, ...] = ()
    reads: tuple[Key, ...] = ()
    events: int = 0
    goes_on: bool = False
    quiet: bool = False
    fault: str = ""


@attrs.frozen
class Future:
    """What lies behind a place: the changes, their turns, and the ends of their steps."""

    changes: tuple[Change, ...] = ()
    turns: tuple[Turn, ...] = ()
    ends: tuple[int, ...] = ()


NO_FUTURE = Future()


@attrs.frozen
class Branch:
    """A future that was left: it hangs at place `start` on the branch `parent`."""

    name: str
    parent: str
    start: int
    future: Future


class History:
    """Turns, steps and branches over a log. Mutable.

    `ends[n]` is the place where step n ends (`ends[0]`: the start); `branch` the name of the present branch.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        self.turns: list[Turn] = []
        self.ends: list[int] = [log.place]
        self.branch = "main"
        self.branches: list[Branch] = []

    @property
    def step_number(self) -> int:
        """How many steps lead to the present place."""
        return max(0, bisect_right(self.ends, self.log.place) - 1)

    @property
    def known_steps(self) -> int:
        """How many steps this branch knows, visited again or not."""
        return len(self.ends) - 1

    def place_of(self, step: int) -> int:
        """Return the place where a step ends.

        Raises:
            IndexError: the branch knows no such step.
        """
        if not 0 <= step < len(self.ends):
            raise IndexError(f"step {step} is not between 0 and {len(self.ends) - 1}")
        return self.ends[step]

    def truncate(self) -> Future:
        """Forget what lies behind the present place and return it."""
        place = self.log.place
        behind = self.turns[-1].step >= len(self.ends) if self.turns else False
        if place == self.log.end and self.ends[-1] <= place and not behind:
            return NO_FUTURE  # the common case: nobody has been here before
        step = self.step_number
        first = bisect_right(self.turns, place, key=_END)
        while first and self.turns[first - 1].end == place and self.turns[first - 1].step > step:
            first -= 1
        known = bisect_right(self.ends, place)
        future = Future(self.log.truncate(), tuple(self.turns[first:]), tuple(self.ends[known:]))
        del self.turns[first:]
        del self.ends[known:]
        return future

    def extend(self, future: Future) -> None:
        """Append a known future, without going there."""
        self.log.extend(future.changes)
        self.turns += future.turns
        self.ends += future.ends

    def after(self, future: Future, start: int) -> Future | None:
        """Return what a future from `start` still holds behind the present place, or None if it went elsewhere."""
        made = self.log.changes[start - self.log.base :]
        if tuple(made) != future.changes[: len(made)]:
            return None
        place = self.log.place
        return Future(
            future.changes[len(made) :],
            tuple(turn for turn in future.turns if turn.end > place),
            tuple(end for end in future.ends if end > place),
        )

    def leave(self, future: Future, start: int, name: str) -> None:
        """Keep a future under the present branch's name and go on as branch `name`."""
        self._rehang(start, name)
        self.branches.append(Branch(self.branch, name, start, future))
        self.branch = name

    def fresh_name(self) -> str:
        """Return the first of branch-1, branch-2, ... that no branch has."""
        names = {branch.name for branch in self.branches} | {self.branch}
        return next(name for n in range(1, len(names) + 2) if (name := f"branch-{n}") not in names)

    def switch(self, name: str) -> None:
        """Go to the end of the future of another branch; the present one is kept under its name.

        Raises:
            LookupError: there is no such branch.
        """
        other = self.named(name)
        if other.parent != self.branch:
            self.switch(other.parent)
            other = self.named(name)
        self.log.seek(other.start)
        self.branches.remove(other)
        self.leave(self.truncate(), other.start, name)
        self.extend(other.future)
        self.log.seek(self.log.end)

    def named(self, name: str) -> Branch:
        """Return the branch of this name that was left.

        Raises:
            LookupError: there is none; the message lists the names.
        """
        for branch in self.branches:
            if branch.name == name:
                return branch
        names = ", ".join(branch.name for branch in self.branches) or "none"
        raise LookupError(f"no other branch is called {name!r}; there are: {names}")

    def copy(self, log: Log) -> History:
        """Return the history up to the present place, over a log of its own; other futures stay here."""
        other = History(log)
        other.branch = self.branch
        other.turns = self.turns[: bisect_right(self.turns, log.place, key=_END)]
        other.ends = self.ends[: bisect_right(self.ends, log.place)]
        return other

    def _rehang(self, start: int, name: str) -> None:
        """Let what hangs before `start` on the present branch hang on the one that shares that part."""
        self.branches = [
            attrs.evolve(branch, parent=name) if branch.parent == self.branch and branch.start <= start else branch
            for branch in self.branches
        ]


class StepTransaction:
    """One step being made: cuts the future off first, and finds it again when the step came out alike.

    Args:
        history: what to record in.
        undo: puts the world back to a place after an error or interrupt inside the step.
    """

    def __init__(self, history: History, undo: Callable[[int], None]) -> None:
        self.history = history
        self.undo = undo
        self.done: list[Turn] = []

    def add(self, turn: Turn) -> Turn:
        """Add one turn to the step."""
        self.done.append(turn)
        self.history.turns.append(turn)
        return turn

    def drop(self) -> None:
        """Take the whole step back: nothing came of it."""
        self.history.log.seek(self.start)
        self.history.log.truncate()
        self.done.clear()

    def __enter__(self) -> Self:
        history = self.history
        self.start = history.log.place
        self.future = history.truncate()
        self.before = len(history.turns), tuple(history.ends[-1:]), len(history.ends), history.branch, history.branches
        history.branches = list(history.branches)
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _where: TracebackType | None) -> None:
        try:
            if kind is None:
                self._keep()
                return
        except BaseException:
            self._take_back()
            raise
        self._take_back()

    def _take_back(self) -> None:
        self.undo(self.start)
        self._forget()

    def _forget(self) -> None:
        """Let the history be as if this step had not been begun."""
        history = self.history
        turns, last, ends, history.branch, history.branches = self.before
        del history.turns[turns:]
        del history.ends[ends:]
        history.ends[-1:] = last
        history.extend(self.future)

    def _keep(self) -> None:
        """Take the step into the history."""
        history = self.history
        seen_only = all(turn.quiet for turn in self.done)
        if self.future.changes and seen_only:
            self.drop()  # nothing to see, and what is known to follow stands
        if history.log.place == self.start:
            self._forget()
        elif seen_only:
            history.ends[-1] = history.log.place  # what was only seen belongs to the step before
        else:
            history.ends.append(history.log.place)
            if self.future.changes:
                self._find_again()

    def _find_again(self) -> None:
        """Go on in the future that this step was already known to begin, if there is one, else on a new branch."""
        history = self.history
        rest = history.after(self.future, self.start)
        if rest is None:
            for branch in history.branches:
                if branch.parent == history.branch and branch.start == self.start:
                    rest = history.after(branch.future, self.start)
                    if rest is not None:
                        history.branches.remove(branch)
                        history.leave(self.future, self.start, branch.name)
                        break
            else:
                history.leave(self.future, self.start, history.fresh_name())
                return
        if rest.ends and all(turn.quiet for turn in rest.turns if turn.end <= rest.ends[0]):
            history.ends.pop()  # what was only seen after this step is known to belong to it
            history.extend(rest)
            history.log.seek(rest.ends[0])
        else:
            history.extend(rest)

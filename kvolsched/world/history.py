"""The history of a simulation: its turns, the positions where its steps end, and its branches.

Only steps that change something are recorded. A step made in the past truncates the known future: if it repeats the
known step, that future is restored, otherwise a new branch begins and the old future is kept under its branch's name.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from copy import copy
from operator import attrgetter
from types import TracebackType
from typing import Any, Self

import attrs

from ..api.unknown_name import UnknownName, did_you_mean
from .apiserver import CommittedWrite, RefusedWrite
from .changes import ChangeColumns, Key
from .log import Log

_END, _STEP = attrgetter("end"), attrgetter("step")  # turns are sorted by both


@attrs.frozen
class Turn:
    """Record of one turn: who did what, between which positions of the log, at what simulated time (s).

    `goes_on`: the cause is not finished and goes on in another turn. `quiet` turns only deliver changes or advance the
    clock; they belong to the following step. `fault` names an injected fault. `failed`: the actor could not decide, as
    its words say.
    `visits`: how many volumes were looked at to find one for a claim, and `calls` what was asked of others than the
    API server; they are in this record alone.
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
    visits: int = 0
    goes_on: bool = False
    quiet: bool = False
    fault: str = ""
    calls: tuple[Any, ...] = ()
    failed: bool = False


@attrs.frozen
class Future:
    """What follows a position: the changes, their turns, and the ends of their steps."""

    changes: ChangeColumns = attrs.Factory(ChangeColumns)
    turns: tuple[Turn, ...] = ()
    ends: tuple[int, ...] = ()
    refused: tuple[Turn, ...] = ()


NO_FUTURE = Future()


class Preview(list[Turn]):
    """The turns that could be made next; `untried` is how many causes were left out, as their actor has so many."""

    untried = 0


@attrs.frozen
class Branch:
    """A branch that is not the present one: its future leaves the branch `parent` at position `start`."""

    name: str
    parent: str
    start: int
    future: Future


class History:
    """Turns, steps and branches over a log. Mutable.

    `ends[n]` is the position where step n ends (`ends[0]`: the start); `branch` the name of the present branch;
    `refused` the turns in which somebody's writes were refused and nothing changed, so that they are no steps.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        self.turns: list[Turn] = []
        self.refused: list[Turn] = []
        self.ends: list[int] = [log.place]
        self.branch = "main"
        self.branches: list[Branch] = []

    @property
    def step_number(self) -> int:
        """The number of steps that lead to the present position."""
        return max(0, bisect_right(self.ends, self.log.place) - 1)

    @property
    def known_steps(self) -> int:
        """The number of steps of this branch, including its known future."""
        return len(self.ends) - 1

    def place_of(self, step: int) -> int:
        """Return the position where a step ends.

        Raises:
            IndexError: the branch has no such step.
        """
        if not 0 <= step < len(self.ends):
            raise IndexError(f"step {step} is not between 0 and {len(self.ends) - 1}")
        return self.ends[step]

    def turns_of(self, step: int) -> list[Turn]:
        """Return the turns of a step, also those after the present position."""
        first = bisect_left(self.turns, step, key=_STEP)
        return self.turns[first : bisect_right(self.turns, step, first, key=_STEP)]

    def turns_since(self, place: int) -> tuple[Turn, ...]:
        """Return the turns between a position and the present one."""
        first = bisect_right(self.turns, place, key=_END)
        return tuple(self.turns[first : bisect_right(self.turns, self.log.place, first, key=_END)])

    def turn_at(self, place: int) -> Turn | None:
        """Return the turn in which the change at a position was made, or None if it was made in no turn."""
        number = bisect_right(self.turns, place, key=_END)
        return self.turns[number] if number < len(self.turns) and self.turns[number].start <= place else None

    def truncate(self) -> Future:
        """Remove what follows the present position and return it."""
        future = self.future()
        self.remove(future)
        return future

    def future(self) -> Future:
        """Return what follows the present position."""
        place = self.log.place
        has_later_turns = self.turns[-1].step >= len(self.ends) if self.turns else False
        if place == self.log.end and self.ends[-1] <= place and not has_later_turns:
            return NO_FUTURE  # the common case
        step = self.step_number
        first = bisect_right(self.turns, place, key=_END)
        while first and self.turns[first - 1].end == place and self.turns[first - 1].step > step:
            first -= 1
        known = bisect_right(self.ends, place)
        refused = tuple(turn for turn in self.refused if turn.end > place)
        changes = self.log.changes_from(place) if place < self.log.end else ChangeColumns()
        return Future(changes, tuple(self.turns[first:]), tuple(self.ends[known:]), refused)

    def remove(self, future: Future) -> None:
        """Remove a known future, which follows the present position."""
        if future is NO_FUTURE:
            return
        self.log.drop_after(self.log.place)
        self.refused = self.refused_up_to(self.log.place)
        del self.turns[len(self.turns) - len(future.turns) :]
        del self.ends[len(self.ends) - len(future.ends) :]

    def refused_up_to(self, place: int) -> list[Turn]:
        """Return the turns up to a position whose writes were refused."""
        return [turn for turn in self.refused if turn.end <= place]

    def extend(self, future: Future) -> None:
        """Append a known future, without moving there; its steps are numbered on from here.

        A part of a known step that is repeated (one turn of it) is a step of its own from then on.
        """
        self.log.extend(future.changes)
        first = next((turn for turn in future.turns if not turn.quiet), None)
        shift = len(self.ends) + bisect_left(future.ends, first.end) - first.step if first is not None else 0
        self.turns += [attrs.evolve(turn, step=turn.step + shift) for turn in future.turns] if shift else future.turns
        self.ends += future.ends
        self.refused += future.refused

    def rest_of(self, future: Future, start: int) -> Future | None:
        """Return the part of a future from `start` after the present position, or None if its changes differ."""
        changes = self.log.changes
        rest = future.changes.rest_after(changes.copy(start - changes.start, len(changes)))
        if rest is None:
            return None
        place = self.log.place
        later = (tuple(turn for turn in turns if turn.end > place) for turns in (future.turns, future.refused))
        turns, refused = later
        return Future(rest, turns, tuple(end for end in future.ends if end > place), refused)

    def branch_off(self, future: Future, start: int, name: str) -> None:
        """Keep a future under the present branch's name and continue as branch `name`."""
        self.branches = [  # those that leave the present one up to `start` share that part with the new one
            attrs.evolve(branch, parent=name) if branch.parent == self.branch and branch.start <= start else branch
            for branch in self.branches
        ]
        self.branches.append(Branch(self.branch, name, start, future))
        self.branch = name

    def begin_branch(self, name: str) -> None:
        """Begin a branch at the present position; the known future stays under the present branch's name.

        Raises:
            ValueError: the name is empty, or taken.
        """
        if not name or name in {self.branch, *(branch.name for branch in self.branches)}:
            raise ValueError(f"branch {name!r}: a branch needs a name that no other one has")
        start = self.log.place
        self.branch_off(self.truncate(), start, name)

    def new_branch_name(self) -> str:
        """Return the first unused name of branch-1, branch-2, ..."""
        names = {branch.name for branch in self.branches} | {self.branch}
        return next(name for n in range(1, len(names) + 2) if (name := f"branch-{n}") not in names)

    def switch(self, name: str) -> None:
        """Switch to the end of another branch; the present one is kept under its name.

        Raises:
            LookupError: there is no such branch.
        """
        other = self.find_branch(name)
        if other.parent != self.branch:
            self.switch(other.parent)
            other = self.find_branch(name)
        self.log.seek(other.start)
        self.branches.remove(other)
        self.branch_off(self.truncate(), other.start, name)
        self.extend(other.future)
        self.log.seek(self.log.end)

    def leaving_place(self, name: str) -> int:
        """Return the first position whose changes a switch to another branch exchanges.

        Raises:
            UnknownName: there is no such branch; the message lists the names. It is a LookupError.
        """
        branch = self.find_branch(name)
        return branch.start if branch.parent == self.branch else min(branch.start, self.leaving_place(branch.parent))

    def saved(self) -> dict[str, Any]:
        """Return turns, steps and branches as they are, for `restore`."""
        return {name: copy(value) for name, value in vars(self).items() if name != "log"}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Restore saved turns, steps and branches."""
        vars(self).update(saved)

    def find_branch(self, name: str) -> Branch:
        """Return another branch by name.

        Raises:
            UnknownName: there is none; the message lists the names. It is a LookupError.
        """
        for branch in self.branches:
            if branch.name == name:
                return branch
        names = [branch.name for branch in self.branches]
        listed, hint = ", ".join(names) or "none", did_you_mean(name, names)
        raise UnknownName(f"no other branch is called {name!r}; there are: {listed}{hint}")

    def copy(self, log: Log) -> History:
        """Return a copy of the history up to the present position for another log, without other branches."""
        other = History(log)
        other.branch = self.branch
        other.turns = self.turns[: bisect_right(self.turns, log.place, key=_END)]
        other.ends = self.ends[: bisect_right(self.ends, log.place)]
        other.refused = self.refused_up_to(log.place)
        return other


def despite_interrupts(recover: Callable[[], object]) -> None:
    """Do what puts a world back, again from its beginning if Ctrl-C falls into it, and let the last one go on then."""
    pressed: KeyboardInterrupt | None = None
    while True:
        try:
            recover()
            break
        except KeyboardInterrupt as interrupt:
            pressed = interrupt
    if pressed is not None:
        raise pressed


class StepTransaction:
    """Records one step: truncates the future first, and restores it if the step repeats its beginning.

    `undo` puts the world back to a position after an error or interrupt inside the step; `moved` is called once the
    step is recorded, if it has moved the world.
    """

    def __init__(self, history: History, undo: Callable[[int], None], moved: Callable[[], None]) -> None:
        self.history = history
        self.undo = undo
        self.moved = moved
        self.turns: list[Turn] = []

    def add(self, turn: Turn) -> Turn:
        """Add a turn to the step."""
        self.turns.append(turn)
        self.history.turns.append(turn)
        return turn

    def drop(self) -> None:
        """Undo the whole step, so that none is recorded."""
        self.history.log.seek(self.start)
        self.history.log.truncate()
        self.turns.clear()

    def __enter__(self) -> Self:
        history = self.history
        self.start = history.log.place
        self.future = future = history.future()
        known = len(history.ends) - len(future.ends)
        self.refused = history.refused if future is NO_FUTURE else history.refused_up_to(self.start)
        turns = len(history.turns) - len(future.turns)
        self.saved = turns, tuple(history.ends[known - 1 : known]), known, history.branch, history.branches
        try:
            history.remove(future)
            history.branches = list(history.branches)
        except BaseException:
            self._roll_back()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _where: TracebackType | None) -> None:
        try:
            if kind is None:
                self._commit()
        except BaseException:
            self._roll_back()
            raise
        if kind is not None:
            self._roll_back()
        elif self.history.log.place != self.start:
            self.moved()

    def _roll_back(self) -> None:
        despite_interrupts(self._put_back)

    def _put_back(self) -> None:
        self.undo(self.start)
        self.history.refused = self.refused
        self._restore_history()

    def _restore_history(self) -> None:
        """Restore the history as it was before this step."""
        history = self.history
        turns, last, ends, history.branch, history.branches = self.saved
        del history.turns[turns:]
        del history.ends[ends:]
        history.ends[-1:] = last
        history.extend(self.future)

    def _commit(self) -> None:
        """Record the step in the history."""
        history = self.history
        all_quiet = all(turn.quiet for turn in self.turns)
        if self.future.changes and all_quiet:
            self.drop()  # nothing visible happened: the known future stays
        if history.log.place == self.start:
            self._restore_history()
        elif all_quiet:
            history.ends[-1] = history.log.place  # quiet turns belong to the step before
        else:
            history.ends.append(history.log.place)
            if self.future.changes:
                self._rejoin_future()

    def _rejoin_future(self) -> None:
        """Continue in the known future that begins with this step, if there is one, else on a new branch."""
        history = self.history
        rest = history.rest_of(self.future, self.start)
        if rest is None:
            for branch in history.branches:
                if branch.parent == history.branch and branch.start == self.start:
                    rest = history.rest_of(branch.future, self.start)
                    if rest is not None:
                        history.branches.remove(branch)
                        history.branch_off(self.future, self.start, branch.name)
                        break
            else:
                history.branch_off(self.future, self.start, history.new_branch_name())
                return
        if rest.ends and all(turn.quiet for turn in rest.turns if turn.end <= rest.ends[0]):
            history.ends.pop()  # the quiet turns after this step are known to belong to it
            history.extend(rest)
            history.log.seek(rest.ends[0])
        else:
            history.extend(rest)

"""Answers about many pods, of which those that are alike are judged once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

import attrs

from .answer import Why


@attrs.frozen
class Alike:
    """Pods that are judged alike.

    Args:
        example: why one of them waits.
        names: what only that one has, such as the names of its claims.
    """

    example: Why
    names: tuple[str, ...] = ()

    def is_named_in(self, words: str) -> bool:
        """Say whether words are about the example alone."""
        return any(name in words for name in self.names)


class Answers(Sequence[Why]):
    """Why each of several pods waits; a pod that is like another one is judged by itself when its answer is asked for.

    Args:
        rows: for each pod its name, the pods that it is judged alike with, and a function that makes its own answer;
            None if the answer is the example's but for the pod.
    """

    def __init__(self, rows: Iterable[tuple[str, Alike, Callable[[], Why] | None]]) -> None:
        self._rows = list(rows)

    @property
    def pods(self) -> tuple[str, ...]:
        """The pods, as `namespace/name`."""
        return tuple(pod for pod, _, _ in self._rows)

    @property
    def alike(self) -> tuple[Alike, ...]:
        """For each pod, those that it is judged alike with."""
        return tuple(alike for _, alike, _ in self._rows)

    def some(self, places: Iterable[int]) -> Answers:
        """Return the answers at some places."""
        return Answers(self._rows[place] for place in places)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Why]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, place: int) -> Why: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Why]: ...
    def __getitem__(self, place: int | slice) -> Why | Sequence[Why]:
        if isinstance(place, slice):
            return self.some(range(*place.indices(len(self))))
        pod, alike, make = self._rows[place]
        if pod == alike.example.pod:
            return alike.example
        if make is None:
            return attrs.evolve(alike.example, pod=pod)
        made = make()
        self._rows[place] = pod, alike, lambda: made
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Why.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self))})"


def answers_of(answers: Iterable[Why]) -> Answers:
    """Return answers that are made already."""
    return answers if isinstance(answers, Answers) else Answers((each.pod, Alike(each), None) for each in answers)

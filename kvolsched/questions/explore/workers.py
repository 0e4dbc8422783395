"""The states of one level, expanded by the workers of an executor in chunks, and told in the order of the level.

The world travels once to a worker, later only states: bases and changes that a worker has packed, which the process
that searches keeps as bytes and seldom opens. What a chunk finds does not depend on the worker, and chunks are taken in
their order, so numbers, counts and trace are those of a search in one process.
"""

import pickle
import threading
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

from ...world.log import Change
from ...world.simulation import Simulation
from ..executors import Workers, packed
from .expansion import Base, Expanded, Expander, ForetoldWrongError, Question, Successor, Waiting
from .transitions import Transition

SMALLEST, LARGEST = 16, 200  # states of a chunk
PARTS = 16  # chunks that a level is cut into, if they are neither too small nor too large
WINDOW = 64  # chunks that are under way at one time

Level = Sequence[tuple[int, Waiting]]


class Crew:
    """The workers of a search, and the world that they search. Mutable."""

    def __init__(self, workers: Workers, sim: Simulation, question: Question, *, remember: bool) -> None:
        self.workers = workers
        self.named = question.named
        world = (sim.components, sim.server, sim.seed, sim.rule_sets, sim.checkpoint())
        try:
            self.world = packed((*world, question, remember))
        except pickle.PicklingError as why:
            raise ValueError(f"the world does not travel to other processes: {why}") from None
        self.token = uuid4().hex
        self.level = 0

    def expansions(self, level: Level) -> Iterator[tuple[int, Waiting, Expanded]]:
        """Yield what the expansion of each state finds, in their order.

        Raises:
            BrokenExecutor: the executor broke.
            ForetoldWrongError: a state has another digest than was foretold.
        """
        self.level += 1
        size = min(LARGEST, max(SMALLEST, -(-len(level) // PARTS)))
        for start in range(0, len(level), size * WINDOW):
            part = level[start : start + size * WINDOW]
            yield from self._expansions_of([part[first : first + size] for first in range(0, len(part), size)])

    def _expansions_of(self, chunks: Sequence[Level]) -> Iterator[tuple[int, Waiting, Expanded]]:
        tasks = {number: (self.world, self.token, self.level, _sent(chunk)) for number, chunk in enumerate(chunks)}
        early: dict[int, bytes] = {}
        number = 0
        for came, result in self.workers.results(expand_chunk, tasks):
            early[came] = result
            while number in early:
                found = self._read(early.pop(number))
                for (state, waiting), expanded in zip(chunks[number], found, strict=False):
                    yield state, waiting, expanded
                number += 1

    def _read(self, result: bytes) -> list[Expanded]:
        """Return what a worker found; raise what it raised."""
        found, error, missing = pickle.loads(result)  # noqa: S301 - our own bytes
        if error is not None:
            raise error
        if self.named is not None:
            for words in [words for words in self.named.missing if words not in missing]:
                del self.named.missing[words]
        return list(found)


def _sent(chunk: Level) -> bytes:
    """Return states as bytes, with the numbers of their bases; each base once, those that were packed as they were."""
    bases: dict[Base, int] = {}
    states = [each._replace(base=bases.setdefault(each.base, len(bases))) for _, each in chunk]  # type: ignore[arg-type]
    packs: dict[bytes, int] = {}
    where = [(packs.setdefault(base.pack, len(packs)), base.number) if base.pack else base for base in bases]
    return _bytes((states, where, list(packs)))


def _bytes(value: Any) -> bytes:
    try:
        return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        return packed(value)  # a class of a cell


_here = threading.local()  # the world that this thread searches: threads share no world


class Searcher:
    """A world of a search in a worker, and the keys that it told, with the level at which it did. Mutable."""

    def __init__(self, token: str, world: bytes) -> None:
        components, server, seed, rule_sets, start, question, remember = pickle.loads(world)  # noqa: S301
        sim = Simulation(components, server, seed)
        sim.rule_sets = rule_sets
        sim.records_events = False
        sim.restore(start)
        self.token = token
        self.level = 0
        self.told: dict[int, int] = {}
        self.in_chunk: set[int] = set()
        self.transitions: dict[Transition, Transition] = {}
        self.expander = Expander(sim, question, self._is_known, remember=remember)

    def _is_known(self, key: int) -> bool:
        """Whether the process that searches knows a state by the time that it reads of this one."""
        return key in self.in_chunk or self.told.get(key, self.level) < self.level

    def expand(self, level: int, sent: bytes) -> list[Expanded]:
        """Return what the expansion of each state of a chunk finds; what must be kept of them is packed together."""
        self.level = level
        self.in_chunk.clear()
        states, where, packs = pickle.loads(sent)  # noqa: S301
        opened = [pickle.loads(pack) for pack in packs]  # noqa: S301
        bases = [each if isinstance(each, Base) else opened[each[0]][0][each[1]] for each in where]
        found: list[Expanded] = []
        for each in states:
            changes = each.changes
            if isinstance(changes, int):
                changes = opened[where[each.base][0]][1][changes]
            expanded = self.expander.expand(each._replace(base=bases[each.base], changes=changes))
            found.append(expanded)
            for successor in expanded.successors:
                self.in_chunk.add(successor.key)
                self.told.setdefault(successor.key, level)
            if expanded.violation or (expanded.successors and expanded.successors[-1].stop):
                break
        return self._packed(found)

    def _packed(self, found: list[Expanded]) -> list[Expanded]:
        """Return what was found with bases and changes as numbers in one pack."""
        bases: list[Base] = []
        changes: list[Sequence[Change]] = []
        for expanded in found:
            base, expanded.base = expanded.base, Base(number=len(bases))
            if base.parent is not None or base.checkpoint is not None:
                bases.append(base)
            for number, each in enumerate(expanded.successors):
                transition = self.transitions.setdefault(each.transition, each.transition)
                told: Successor = each._replace(transition=transition)
                if isinstance(each.changes, Sequence):
                    told = told._replace(changes=len(changes))
                    changes.append(each.changes)
                expanded.successors[number] = told
        pack = _bytes((bases, changes))
        for expanded in found:
            expanded.base.pack = pack
        return found


def expand_chunk(world: bytes, token: str, level: int, sent: bytes) -> bytes:
    """Expand the states of a chunk in a worker, and return what was found, or the error, as bytes."""
    searcher: Searcher | None = getattr(_here, "searcher", None)
    found: list[Expanded] = []
    error: Exception | None = None
    try:
        if searcher is None or searcher.token != token:
            searcher = _here.searcher = Searcher(token, world)
        found = searcher.expand(level, sent)
    except ForetoldWrongError:
        _here.searcher = None
        error = ForetoldWrongError()
    except Exception as raised:  # noqa: BLE001 - raised again where the search is
        _here.searcher = None
        error = raised
    named = searcher.expander.named if searcher is not None else None
    try:
        return _bytes((found, error, tuple(named.missing) if named is not None else ()))
    except Exception:  # noqa: BLE001 - an exception that does not travel
        told = RuntimeError(f"{type(error).__name__}: {error}")
        for note in getattr(error, "__notes__", ()):
            told.add_note(note)
        return pickle.dumps(([], told, ()))

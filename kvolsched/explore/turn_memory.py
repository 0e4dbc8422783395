"""Remembered transitions: what one did from one local state, so that it need not be executed again from another state.

Actors meet only in the store. So what a transition of a component does depends on the API objects, on what stands
outside the API, and on what that component has seen and noted, not on the rest of the state; and what the others see
of it depends on what each of them has seen and noted. Most transitions of a large search repeat one that another
order of turns has executed. Remembered are digests, never values: a new state is always executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import attrs

from kvolsched.world.apiserver import CLOCK
from kvolsched.world.component import WORLD
from kvolsched.world.digest import MODULUS
from kvolsched.world.log import Note
from kvolsched.world.simulation import Simulation

from .transitions import Transition

MAX_REMEMBERED = 400_000

Local = tuple[int, tuple[str, ...]]  # a component's part of the digest, and the kinds of which changes are pending


@attrs.frozen
class StateParts:
    """A state as parts of its digest: the objects, what stands outside the API, and each component's local state.

    `outside` has two values more that are in no digest, but may count in a turn: the time, and which objects are gone.
    """

    objects: int
    outside: tuple[int, int, float]
    locals: Mapping[str, Local]

    @property
    def digest(self) -> int:
        """The digest of the state."""
        return (self.objects + self.outside[0] + sum(local[0] for local in self.locals.values())) % MODULUS


def contents_of(sim: Simulation) -> StateParts:
    """Return the present state of a world as parts of its digest."""
    digest = sim.maintained_digest()
    objects = digest.objects_part()
    outside, found = 0, {}
    for owner, part in digest.parts().items():
        process = sim.processes.get(owner)
        if process is None:
            outside += part
        else:
            found[owner] = (part, tuple(process.pending))
    return StateParts(objects, (outside % MODULUS, digest.gone_sum, sim.now), found)


class Effect(NamedTuple):
    """What a transition did: the digest's parts that it left, the sizes of its draws, and whether it wrote."""

    objects: int
    outside: tuple[int, int, float]
    part: int
    draw_sizes: tuple[int, ...]
    wrote: bool
    enabled: bool = True


class TurnMemory:
    """The effects of executed transitions, by what they depend on. Mutable.

    It closes for good when a component writes into another's notes: then turns depend on more than is compared here.
    """

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.open = True
        self.effects: dict[tuple[Any, ...], Effect] = {}
        self.others: dict[tuple[Any, ...], dict[tuple[str, Local], int]] = {}
        self._size = 0

    def key(self, state: StateParts, transition: Transition, struck: int) -> tuple[Any, ...] | None:
        """Return what a transition's effect depends on; None if it is not remembered."""
        local = state.locals.get(transition.component)
        if local is None or transition.kind == "time" or not self.open:
            return None
        if transition.kind == "ring":
            wake_up = self.sim.processes[transition.component].wake_ups.items[transition.cause]
            if wake_up.periodic:  # its time is in no digest
                return None
        return state.objects, state.outside, local, transition, struck

    def digest_after(self, state: StateParts, transition: Transition, effect: Effect) -> int | None:
        """Return the digest that a remembered transition leads to, or None if some part of it is not known."""
        actor = transition.component
        if effect.objects == state.objects and effect.outside == state.outside:
            return (state.digest - state.locals[actor][0] + effect.part) % MODULUS
        others = self.others.get((state.objects, state.outside, effect.objects, effect.outside))
        if others is None:
            return None
        total = effect.objects + effect.outside[0] + effect.part
        for item in state.locals.items():
            if item[0] != actor:
                part = others.get(item)
                if part is None:
                    return None
                total += part
        return total % MODULUS

    def forbids(self, start: int, end: int, component: str) -> bool:
        """Close if the changes between two places are not the component's own, and say whether they moved the clock."""
        log = self.sim.log
        for key, _, _ in log.changes[start - log.base : end - log.base]:
            if type(key) is Note and key[0] != component:
                if key == CLOCK:
                    return True
                if key[0] != WORLD and key[0] in self.sim.processes:
                    self.open = False
                    return True
        return False

    def remember(self, key: tuple[Any, ...], before: StateParts, after: StateParts, transition: Transition,
                 draw_sizes: tuple[int, ...], *, wrote: bool) -> None:
        """Remember what a transition did that was just executed."""
        actor = transition.component
        effect = Effect(after.objects, after.outside, after.locals[actor][0], draw_sizes, wrote)
        same = effect.objects == before.objects and effect.outside == before.outside
        if same and any(before.locals[name][0] != local[0] for name, local in after.locals.items() if name != actor):
            self.open = False
            return
        if self._size > MAX_REMEMBERED:
            self.effects.clear()
            self.others.clear()
            self._size = 0
        self.effects[key] = effect
        self._size += 1
        if not same:
            where = (before.objects, before.outside, after.objects, after.outside)
            others = self.others.setdefault(where, {})
            for name, local in after.locals.items():
                if name != actor:
                    others[name, before.locals[name]] = local[0]

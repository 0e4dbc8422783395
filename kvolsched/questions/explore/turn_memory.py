"""Remembered transitions: what one did from one local state, so that it need not be executed again from another state.

Actors meet only in the store. So what a transition of a component does depends on the API objects, on what stands
outside the API, and on what that component has seen and noted, not on the rest of the state; and what the others see
of it depends on what each of them has seen and noted. Most transitions of a large search repeat one that another
order of turns has executed. Remembered are digests, never values, and which transitions each local state enables.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...world.apiserver import CLOCK
from ...world.digest import MODULUS
from ...world.log import Note
from ...world.simulation import Simulation
from .transitions import Transition

MAX_REMEMBERED = 400_000

Local = tuple[int, tuple[str, ...]]  # a component's part of the digest, and the kinds of which changes are pending
Outside = tuple[int, int, float]


class StateParts(NamedTuple):
    """A state as parts of its digest: the objects, what stands outside the API, and each component's local state.

    `outside` has two values more that are in no digest, but may count in a turn: which objects are gone, and the time.
    """

    digest: int
    objects: int
    outside: Outside
    locals: tuple[Local, ...]


def parts_of(sim: Simulation, kept: dict[Local, Local]) -> StateParts:
    """Return the present state of a world as parts of its digest; equal local states are kept once."""
    digest = sim.maintained_digest()
    objects = digest.objects_part()
    parts = digest.parts()
    total = objects + sum(parts.values())
    found = []
    for name, process in sim.processes.items():
        local = (parts[name], tuple(sorted(process.pending)))
        found.append(kept.setdefault(local, local))
    outside = sum(part for owner, part in parts.items() if owner not in sim.processes) % MODULUS
    return StateParts(total % MODULUS, objects, (outside, digest.gone_sum, sim.now), tuple(found))


class Effect(NamedTuple):
    """What a transition did: the parts of the state that it left, the sizes of its draws, and whether it wrote."""

    objects: int
    outside: Outside
    local: Local
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
        self.index = {name: number for number, name in enumerate(sim.processes)}
        self.effects: dict[tuple[Any, ...], Effect] = {}
        self.others: dict[tuple[Any, ...], dict[tuple[int, Local], Local]] = {}
        self.enabled: dict[tuple[int, Local, Outside], tuple[Transition, ...]] = {}
        self.kept: dict[Local, Local] = {}

    def key(self, state: StateParts, transition: Transition, struck: int) -> tuple[Any, ...] | None:
        """Return what a transition's effect depends on; None if it is not remembered."""
        number = self.index.get(transition.component)
        if number is None or not self.open:
            return None
        return state.objects, state.outside, state.locals[number], transition, struck

    def state_after(self, state: StateParts, transition: Transition, effect: Effect) -> StateParts | None:
        """Return the state that a remembered transition leads to, or None if some part of it is not known."""
        actor = self.index[transition.component]
        if effect.objects == state.objects and effect.outside == state.outside:
            digest = (state.digest - state.locals[actor][0] + effect.local[0]) % MODULUS
            locals_ = (*state.locals[:actor], effect.local, *state.locals[actor + 1 :])
            return StateParts(digest, state.objects, state.outside, locals_)
        others = self.others.get((state.objects, state.outside, effect.objects, effect.outside))
        if others is None:
            return None
        found = []
        total = effect.objects + effect.outside[0]
        for item in enumerate(state.locals):
            local = others.get(item) if item[0] != actor else effect.local
            if local is None:
                return None
            found.append(local)
            total += local[0]
        return StateParts(total % MODULUS, effect.objects, effect.outside, tuple(found))

    def enabled_in(self, state: StateParts, components: Sequence[int]) -> list[Transition] | None:
        """Return the enabled transitions of a state as they were found of equal local states, None if some are not."""
        found: list[Transition] = []
        for number in components:
            known = self.enabled.get((number, state.locals[number], state.outside))
            if known is None:
                return None
            found += known
        return found if self.open else None

    def forbids(self, start: int, end: int, component: str) -> bool:
        """Close if the changes between two places are not the component's own, and say whether they moved the clock."""
        log = self.sim.log
        for key, _, _ in log.changes[start - log.base : end - log.base]:
            if type(key) is Note and key[0] != component:
                if key == CLOCK:
                    return True
                if key[0] in self.sim.processes:
                    self.open = False
                    return True
        return False

    def remember(self, key: tuple[Any, ...], before: StateParts, after: StateParts, transition: Transition,
                 draw_sizes: tuple[int, ...], *, wrote: bool) -> None:
        """Remember what a transition did that was just executed."""
        actor = self.index[transition.component]
        effect = Effect(after.objects, after.outside, after.locals[actor], draw_sizes, wrote)
        same = effect.objects == before.objects and effect.outside == before.outside
        if same and any(local != before.locals[number] for number, local in enumerate(after.locals) if number != actor):
            self.open = False
            return
        if len(self.effects) > MAX_REMEMBERED:
            self.effects.clear()
            self.others.clear()
            self.enabled.clear()
            self.kept.clear()
        self.effects[key] = effect
        if not same:
            where = (before.objects, before.outside, after.objects, after.outside)
            others = self.others.setdefault(where, {})
            for number, local in enumerate(after.locals):
                if number != actor:
                    others[number, before.locals[number]] = local

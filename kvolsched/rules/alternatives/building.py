"""What the rejected designs are made of: a base revision, another profile, more components, actors of other kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from ...scheduler.framework.profile import derived
from ...scheduler.loop.scheduling_cycle import SchedulingPass
from ...world.component import Actor, Component
from ...world.view import InformerCache, View
from ..named import revision_named
from ..revision import Revision

Views = Callable[[InformerCache], Mapping[str, View]]


def based_on(base: str | Revision, name: str, **changes: Any) -> Revision:
    """Return the rules of a base under the name of a rejected design, which every output then shows."""
    rules = revision_named(base)
    on = "" if rules.name == "design" else " on ".join(filter(None, (rules.called, rules.based_on)))
    return attrs.evolve(rules, called=name, based_on=on, **changes)


@attrs.frozen
class Rearranged:
    """Gives one component more to watch, more actors and more views: an `arrange` of a revision."""

    component: str  # the component that is changed
    watches: tuple[str, ...] = ()  # kinds that it watches too
    actors: tuple[Actor, ...] = ()  # actors that it has too
    views: Views = lambda _seen: {}  # views that it has too
    replace: Callable[[Actor], Actor] = lambda actor: actor  # changes one of its own actors
    without: str = ""  # the name of a component that is left out; "": none

    def __call__(self, components: Iterable[Component]) -> list[Component]:
        """Return the components with this one changed."""
        kept = (each for each in components if each.name != self.without)
        return [self._changed(each) if each.name == self.component else each for each in kept]

    def _changed(self, old: Component) -> Component:
        def views(seen: InformerCache) -> Mapping[str, View]:
            return {**old.views(seen), **self.views(seen)}

        watches = tuple(dict.fromkeys((*old.watches, *self.watches)))
        return attrs.evolve(old, watches=watches, actors=(*map(self.replace, old.actors), *self.actors), views=views)


def judging_by(kind: type[SchedulingPass], **changes: Any) -> Callable[[Actor], Actor]:
    """Return what replaces the scheduler's pass by one of another class: a `replace` of `Rearranged`."""
    return lambda actor: derived(actor, kind, **changes) if isinstance(actor, SchedulingPass) else actor

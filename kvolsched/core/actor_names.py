"""Which component or actor of a world a user means: `scheduler`, `kube-scheduler`, `bind worker`, `PV controller`."""

from collections.abc import Collection

from ..api.unknown_name import MAX_LISTED, UnknownName, did_you_mean
from ..rules.settings import MANAGER
from ..world.references import matching_keys
from ..world.simulation import NextTurn, Simulation
from .component_names import COMPONENT_NAMES, find_component


def component_called(world: Simulation, name: str, what: str = "component") -> str:
    """Return the name of the component that a user means.

    Raises:
        UnknownName: there is none; the message has the nearest names and lists the components.
    """
    processes = world.processes.values()
    return find_component(name, {p.name: [actor.name for actor in p.component.actors] for p in processes}, what)


def actors_called(world: Simulation, name: str, controllers: Collection[str] = ()) -> list[str]:
    """Return the actors that a name means: those that wait longest first, the whole component last.

    Args:
        world: the world at its present place.
        name: what a user calls the actor, component or process.
        controllers: the components of kube-controller-manager.

    Raises:
        UnknownName: there is none; the message has the nearest names and lists the components.
    """
    component, meant = _meant(world, name, controllers)
    waiting = sorted((each.since, each.actor) for each in world.next_actors() if each.actor in meant)
    whole = {component} & set(world.processes)  # its actors may only have work for each other
    return list(dict.fromkeys([*(actor for _, actor in waiting), *sorted(meant), *whole]))


def actor_with_cause(
    world: Simulation, name: str | None, cause: str, controllers: Collection[str] = ()
) -> tuple[str, str]:
    """Return the actor that may take up a cause, the one that waits longest, with the cause as it knows it.

    The turn of a plain step counts, though time or turns that do nothing else have to come before it.

    Args:
        world: the world at its present place.
        name: what a user calls the actor or component; None: any.
        cause: the cause as an actor knows it, or a reference to an object.
        controllers: the components of kube-controller-manager.

    Raises:
        UnknownName: there is no such actor, or none that may take this up; the message lists what there is.
    """
    waiting: list[NextTurn] = world.next_actors()
    meant = None if name is None else _meant(world, name, controllers)[1]
    if meant is not None:
        waiting = [each for each in waiting if each.actor in meant]
    keys = matching_keys(world.log.objects, cause)
    wanted = {cause, *("/".join(key) for key in keys), *("/".join(key[1:]).lstrip("/") for key in keys)}
    if ready := sorted((each for each in waiting if each.cause in wanted), key=lambda each: each.since):
        return ready[0].actor, ready[0].cause
    for turn in world.preview(most=1):
        if turn.cause in wanted and (meant is None or turn.actor in meant):
            return turn.actor, turn.cause
    causes = list(dict.fromkeys(each.cause for each in waiting))
    listed, hint = ", ".join(causes[:MAX_LISTED]) or "none", did_you_mean(cause, causes)
    raise UnknownName(f"{name or 'nobody'} has nothing to do about {cause!r}; there are: {listed}{hint}")


def _meant(world: Simulation, name: str, controllers: Collection[str]) -> tuple[str, set[str]]:
    """Return the component of a name, and the actors that the name means."""
    if name == MANAGER:
        processes = (world.processes[each] for each in controllers if each in world.processes)
        return name, {actor.name for process in processes for actor in process.component.actors}
    component = COMPONENT_NAMES.get(name, name)
    meant = {
        actor.name
        for process in world.processes.values()
        for actor in process.component.actors
        if actor.name == name or process.name == component or actor.name.endswith(f" {name}")
    }
    if not meant:
        component = component_called(world, name, "actor")
        meant = {actor.name for actor in world.processes[component].component.actors}
    return component, meant

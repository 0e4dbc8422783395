"""The names of components: as people see them (`scheduler`, `PV controller`), and as Kubernetes identifies them.

By any of these a user means a component or an actor of a world.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from ..api.unknown_name import MAX_LISTED, UnknownName, did_you_mean, nearest
from ..api.words import one_of
from ..rules.settings import MANAGER
from ..world.references import matching_keys
from ..world.simulation import NextTurn, Simulation

Dials = TypeVar("Dials")

COMPONENT_NAMES = {  # display name -> name of the component
    "scheduler": "kube-scheduler", "PV controller": "persistent-volume-binder",
    "StatefulSet controller": "statefulset-controller", "Deployment controller": "deployment-controller",
    "ReplicaSet controller": "replicaset-controller", "DaemonSet controller": "daemonset-controller",
    "Job controller": "job-controller",
    "ephemeral volume controller": "ephemeral-volume-controller", "garbage collector": "generic-garbage-collector",
    "PVC protection": "pvc-protection-controller", "PV protection": "pv-protection-controller",
    "disruption controller": "disruption-controller", "cluster autoscaler": "cluster-autoscaler",
    "replication controller": "replicationcontroller-controller",
    "pod garbage collector": "pod-garbage-collector-controller",
    "node lifecycle controller": "node-lifecycle-controller", "taint eviction controller": "taint-eviction-controller",
    "resource quota controller": "resourcequota-controller",
}  # fmt: skip
DISPLAY_NAMES = {component: name for name, component in COMPONENT_NAMES.items()}


def find_component(name: str, actors: Mapping[str, Iterable[str]], what: str = "component") -> str:
    """Return the component that a name means: its own, the one that people see, or that of one of its actors.

    Args:
        name: what a user wrote.
        actors: component -> the names of its actors, in the order of the lanes.
        what: what it is called in the message.

    Raises:
        UnknownName: no component has this name; the message has the nearest names and lists the components.
    """
    meant = {display.lower(): component for display, component in COMPONENT_NAMES.items()}
    component = meant.get(name.lower(), name)
    if component in actors:
        return component
    owners = [owner for owner, names in actors.items() if any(n == name or n.endswith(f" {name}") for n in names)]
    if len(owners) == 1:
        return owners[0]
    names = {DISPLAY_NAMES.get(owner, owner): owner for owner in actors}
    listed = ", ".join(shown if shown == owner else f"{shown} ({owner})" for shown, owner in names.items())
    if owners:
        raise UnknownName(f"{name!r} may mean {one_of(owners)}; there are: {listed}")
    hint = did_you_mean(name, [*names, *actors, *(n for each in actors.values() for n in each)])
    raise UnknownName(f"no {what} is called {name!r}; there are: {listed}{hint}")


def dials_by_component(dials: Mapping[str, Dials], components: Iterable[str]) -> dict[str, Dials]:
    """Return dials by the names of components, where people wrote the names that they see.

    A name that is no component's is a driver's, unless it is nearly that of a component.

    Raises:
        UnknownName: a name is nearly that of a component; the message lists the components. It is a ValueError.
    """
    meant = {display.lower(): component for display, component in COMPONENT_NAMES.items()}
    known = set(components)
    found: dict[str, Dials] = {}
    for name, each in dials.items():
        component = name if name in known else meant.get(name.lower(), name)
        near = nearest(name, [*COMPONENT_NAMES, *sorted(known)], cutoff=0.75)
        if component not in known and near and "." not in name and "/" not in name:
            listed = ", ".join(sorted(known))
            hint = f"did you mean {one_of(near)}?"
            raise UnknownName(f"no component or driver is called {name!r}; components are: {listed}; {hint}")
        found[component] = each
    return found


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

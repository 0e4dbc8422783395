"""The names of components: as people see them (`scheduler`, `PV controller`), and as Kubernetes identifies them."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from ..api.unknown_name import UnknownName, did_you_mean, nearest
from ..api.words import one_of

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

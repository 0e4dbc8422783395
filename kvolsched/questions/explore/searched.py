"""What a search is told of a state: its objects in the words of a cluster, and those that the search's words name.

A property written for a cluster (`c.objects("pods")`, `c["pod/web-0"]`, `"pod/web-0" in c`) can be searched as it is.
Of named objects one that nothing could create is an error, one that never was is told: what is never there is never
Running, so a misspelled name would prove anything.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from typing import Any

from ...api.kinds.kind import find_kind
from ...api.unknown_name import UnknownName, did_you_mean
from ...api.workloads import WORKLOADS
from ...controllers.custom_controller import is_custom
from ...core.conditions import condition, missing_object, named_keys
from ...core.core import ClusterCore
from ...world.apiserver import ref
from ...world.log import Key
from ...world.references import find_key, matching_keys
from ...world.simulation import Simulation
from .invariants import Objects

Property = Callable[["SearchedObjects"], Any]  # -> a truth value, or what is wrong in words ("" for nothing)


class SearchedObjects(Mapping[Key, Any]):
    """The API objects of a world at its present place, by key, by reference or by kind. Read-only."""

    def __init__(self, world: Simulation) -> None:
        self.world = world

    def objects(self, kind: str) -> list[Any]:
        """Return every object of a kind, sorted by key."""
        name = find_kind(kind).name
        return [obj for key, obj in sorted(self.world.log.objects.items()) if key.kind == name]

    def __getitem__(self, key: Key | str) -> Any:
        objects = self.world.log.objects
        return objects[find_key(objects, key) if isinstance(key, str) else key]

    def __contains__(self, key: object) -> bool:
        objects = self.world.log.objects
        return bool(matching_keys(objects, key)) if isinstance(key, str) else key in objects

    def __iter__(self) -> Iterator[Key]:
        return iter(self.world.log.objects)

    def __len__(self) -> int:
        return len(self.world.log.objects)

    def items(self) -> ItemsView[Key, Any]:
        """Return keys and objects."""
        return self.world.log.objects.items()


def property_named(words_or_function: str | Property, world: Simulation) -> Property:
    """Return a property from a function, or from words about a world: `pod/web-0 Running`, `pvc/data gone`.

    Raises:
        TypeError: it is neither.
        ValueError: the words are no condition (see `conditions.condition`).
    """
    if callable(words_or_function):
        return words_or_function
    if not isinstance(words_or_function, str):
        raise TypeError(f"a property is a function of the cluster or words such as 'pod/web-0 Running', "
                        f"not {words_or_function!r}")  # fmt: skip
    holds: Any = condition(words_or_function, world.log.objects)
    return typing.cast(Property, holds)


def never_holds(never: Sequence[str | Property], world: Simulation) -> Callable[[Objects, Objects], str]:
    """Return the invariant that none of these properties holds, as a function of the objects before and after."""
    named = [(_name(each), property_named(each, world)) for each in never]
    searched = SearchedObjects(world)

    def invariant(_before: Objects, _after: Objects) -> str:
        for name, holds in named:
            answer = holds(searched)
            if answer:
                return answer if isinstance(answer, str) else name
        return ""

    return invariant


def _name(words_or_function: Any) -> str:
    """Return what a property says: its words, the first line of its docstring, or its name."""
    if isinstance(words_or_function, str):
        return words_or_function
    line = (getattr(words_or_function, "__doc__", None) or "").strip().partition("\n")[0].rstrip(".")
    name = getattr(words_or_function, "__name__", type(words_or_function).__name__)
    return line or ("what must never hold does" if name == "<lambda>" else f"{name} holds")


KEPT = 40  # characters of a workload's name that begin the names of its pods, however long it is


class NamedObjects:
    """The objects that words name and that no visited state has had yet. Mutable."""

    def __init__(self, properties: Sequence[Any], objects: Mapping[Key, Any]) -> None:
        words = dict.fromkeys(each for each in properties if isinstance(each, str))
        self.missing = {each: named_keys(each, objects) for each in words if missing_object(each, objects)}

    def notice(self, objects: Mapping[Key, Any]) -> None:
        """Take note of the objects of a visited state."""
        for words in [words for words, keys in self.missing.items() if any(key in objects for key in keys)]:
            del self.missing[words]

    def check(self, cluster: ClusterCore) -> None:
        """Refuse words about an object that no component of a cluster could create.

        A controller of the user's own may create anything.

        Raises:
            UnknownName: there is no such object, and no workload could create it. It is a ValueError.
        """
        objects = cluster.world.log.objects
        if any(is_custom(process.component) for process in cluster.world.processes.values()):
            return
        for words, keys in self.missing.items():
            missing = missing_object(words, objects)
            if missing is not None and not any(_may_come(key, objects) for key in keys):
                sentence = f"{missing.looked_for}, and no workload would create it"
                raise UnknownName(sentence, missing.there, missing.near)

    def sentences(self, objects: Mapping[Key, Any]) -> tuple[str, ...]:
        """Return a sentence for each object that no visited state had, with the nearest names."""
        found = []
        for keys in self.missing.values():
            there = {ref(key): key.name for key in sorted(objects) if key.kind in {each.kind for each in keys}}
            hint = did_you_mean(keys[0].name, there, compared=there.__getitem__)
            found.append(f"{ref(keys[0])} existed in no visited state{hint}")
        return tuple(dict.fromkeys(found))


def _may_come(key: Key, objects: Mapping[Key, Any]) -> bool:
    """Whether a component of Kubernetes may create an object; certain only of pods and claims."""
    workloads = [other for other in objects if other.kind in WORKLOADS and other.namespace == key.namespace]
    if key.kind == "Pod":
        return any(key.name.startswith(f"{workload.name}-"[:KEPT]) for workload in workloads)
    if key.kind == "PersistentVolumeClaim":
        return bool(workloads) or any(
            volume.ephemeral is not None
            for other, pod in objects.items() if other.kind == "Pod" and other.namespace == key.namespace
            for volume in pod.spec.volumes
        )  # fmt: skip
    return True

"""The objects of a searched state, read in the words of a cluster: what properties and goals are told.

A property written for a cluster (`c.objects("pods")`, `c["pod/web-0"]`, `"pod/web-0" in c`) can be searched as it is.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from typing import Any

from kvolsched.api.kinds.kind import find_kind
from kvolsched.core.conditions import condition
from kvolsched.world.log import Key
from kvolsched.world.references import find_key, matching_keys
from kvolsched.world.simulation import Simulation

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

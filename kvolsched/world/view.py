"""Views: functions of the contents that a component has seen, kept up to date change by change.

Contents are the API objects a component has seen and its notes. `build` defines a view; `apply` is the speed-up that
must leave an equal view, in any order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from .log import Key, LogKey, Note

Contents = Mapping[LogKey, Any]


class View(Protocol):
    """A view that follows changes of the contents and always equals the view built from them.

    `follows` names the kinds of API objects and the sorts of notes whose changes it takes.
    """

    follows: frozenset[str]

    def apply(self, key: LogKey, old: Any, new: Any) -> None: ...


class InformerCache:
    """API objects that a component has seen, by kind (client-go's informer caches). Mutable, moved by deliveries."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self.follows = frozenset(kinds)
        self.kinds: dict[str, dict[Key, Any]] = {kind: {} for kind in sorted(self.follows)}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Replace an object by another; None means absent."""
        objects = self.kinds[key[0]]
        if new is None:
            objects.pop(key, None)  # type: ignore[arg-type]
        else:
            objects[key] = new  # type: ignore[index]

    def get(self, kind: str, name: str, namespace: str = "") -> Any:
        """Return the object of this kind and name as last seen, or None."""
        return self.kinds[kind].get(Key(kind, namespace, name))

    def at(self, key: Key) -> Any:
        """Return the object at a key as last seen, or None."""
        return self.kinds[key.kind].get(key)

    def all(self, kind: str) -> list[Any]:
        """Return every object of this kind as last seen, sorted by key."""
        objects = self.kinds[kind]
        return [objects[key] for key in sorted(objects)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InformerCache) and self.kinds == other.kinds

    __hash__ = None  # type: ignore[assignment]


class Index:
    """Index of one kind by computed values: `Index("Pod", lambda pod: [pod.spec.node_name])`. Mutable view."""

    def __init__(self, kind: str, by: Callable[[Any], Iterable[Hashable]]) -> None:
        self.follows = frozenset([kind])
        self.by = by
        self.objects: dict[Hashable, dict[Key, Any]] = {}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Move an object from its old values to its new ones."""
        for value in self.by(old) if old is not None else ():
            objects = self.objects.get(value)
            if objects is not None:
                objects.pop(key, None)  # type: ignore[arg-type]
                if not objects:
                    del self.objects[value]
        for value in self.by(new) if new is not None else ():
            self.objects.setdefault(value, {})[key] = new  # type: ignore[index]

    def get(self, value: Hashable) -> list[Any]:
        """Return the objects with a value, sorted by key."""
        objects = self.objects.get(value)
        return [objects[key] for key in sorted(objects)] if objects else []

    def keys(self, value: Hashable) -> list[Key]:
        """Return the keys of the objects with a value, sorted."""
        return sorted(self.objects.get(value, ()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and self.objects == other.objects

    __hash__ = None  # type: ignore[assignment]


V = TypeVar("V", bound=View)


def build(view: V, contents: Contents) -> V:
    """Apply all contents to an empty view, in sorted order, and return it: the definition that `apply` must meet."""
    for key in sorted(contents, key=lambda key: (type(key) is Note, key)):
        if (key.sort if type(key) is Note else key[0]) in view.follows:
            view.apply(key, None, contents[key])
    return view

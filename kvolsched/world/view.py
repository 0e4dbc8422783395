"""Views: functions of the contents that a component has seen, kept up to date change by change.

Contents are the API objects a component has seen and its notes. `build` defines a view; `apply` is the speed-up that
must leave an equal view, in any order of arrival. An activation condition is a view of what is stored.
"""

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


def apply_list(view: View, kind: str, objects: Mapping[Key, Any]) -> None:
    """Let a view take all objects of a kind of which it has none yet (an informer's Replace).

    A view may have a method `apply_list` that does so at once, and must equal one that takes them one by one. The
    mapping is shared by all components that list the same, and never changes.
    """
    at_once = getattr(view, "apply_list", None)
    if at_once is not None:
        at_once(kind, objects)
    else:
        for key, obj in objects.items():
            view.apply(key, None, obj)


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

    def apply_list(self, kind: str, objects: Mapping[Key, Any]) -> None:
        """Take all objects of a kind of which none is seen yet."""
        self.kinds[kind].update(objects)

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
    """Index of one or more kinds by computed values: `Index("Pod", lambda pod: [pod.spec.node_name])`. Mutable view.

    A list of objects is sorted in when the index is first read: many are never.
    """

    def __init__(self, kinds: str | tuple[str, ...], by: Callable[[Any], Iterable[Hashable]]) -> None:
        self.follows = frozenset([kinds] if isinstance(kinds, str) else kinds)
        self.by = by
        self._objects: dict[Hashable, dict[Key, Any]] = {}
        self._listed: Mapping[Key, Any] | None = None  # objects that are not sorted in yet

    @property
    def objects(self) -> Mapping[Hashable, Mapping[Key, Any]]:
        """The objects by value."""
        return self._sorted_in()

    def _sorted_in(self) -> dict[Hashable, dict[Key, Any]]:
        """Return the objects by value, after the listed ones are sorted in."""
        listed, self._listed = self._listed, None
        if listed is not None:
            by, found = self.by, self._objects
            for key, obj in listed.items():
                for value in by(obj):
                    found.setdefault(value, {})[key] = obj
        return self._objects

    def apply_list(self, kind: str, objects: Mapping[Key, Any]) -> None:
        """Take all objects of a kind of which none is here yet."""
        if kind in self.follows:
            self._sorted_in()
            self._listed = objects

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Move an object from its old values to its new ones."""
        found = self._objects if self._listed is None else self._sorted_in()
        for value in self.by(old) if old is not None else ():
            objects = found.get(value)
            if objects is not None:
                objects.pop(key, None)  # type: ignore[arg-type]
                if not objects:
                    del found[value]
        for value in self.by(new) if new is not None else ():
            found.setdefault(value, {})[key] = new  # type: ignore[index]

    def get(self, value: Hashable) -> list[Any]:
        """Return the objects with a value, sorted by key."""
        objects = (self._objects if self._listed is None else self._sorted_in()).get(value)
        return [objects[key] for key in sorted(objects)] if objects else []

    def keys(self, value: Hashable) -> list[Key]:
        """Return the keys of the objects with a value, sorted."""
        return sorted((self._objects if self._listed is None else self._sorted_in()).get(value, ()))

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


class ActivationCondition(Protocol):
    """Decides whether a component watches, from what is stored (not from what a component has seen). Mutable view.

    A process with one has seen nothing and has no notes until it is met, so that idle controllers cost no turns and no
    states; then it lists what is stored, as a starting process does. It must hold before there could be anything to do.
    `follows` names the kinds of API objects and the sorts of the world's notes whose changes it takes.
    """

    follows: frozenset[str]

    def apply(self, key: LogKey, old: Any, new: Any) -> None: ...

    @property
    def is_met(self) -> bool: ...


class Exists:
    """Condition that an object of some kinds exists for which a predicate holds (by default: any object). Mutable."""

    def __init__(self, kinds: str | tuple[str, ...], holds: Callable[[Any], bool] = lambda _obj: True) -> None:
        self.follows = frozenset([kinds] if isinstance(kinds, str) else kinds)
        self.holds = holds
        self.count = 0

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Update the count of matching objects."""
        self.count += (new is not None and self.holds(new)) - (old is not None and self.holds(old))

    @property
    def is_met(self) -> bool:
        """Whether there is a matching object."""
        return self.count > 0

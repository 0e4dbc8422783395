"""A view is a function of the contents a component has seen: what `build` makes of them, and nothing else.

`apply` is an optional speed-up that must leave a view equal to the built one, in any order of arrival. Contents are
the API objects a component has seen and its own notes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from .log import Key, LogKey, Note

Contents = Mapping[LogKey, Any]


class View(Protocol):
    """What a view promises: to follow changes of the contents and to equal the view built from them.

    `follows` names the kinds of API objects and the sorts of notes it wants to hear of.
    """

    follows: frozenset[str]

    def apply(self, key: LogKey, old: Any, new: Any) -> None: ...


class InformerCache:
    """The API objects a component has seen, by kind: what its informers hold. Mutable, moved by deliveries only."""

    def __init__(self, kinds: Iterable[str]) -> None:
        self.follows = frozenset(kinds)
        self.kinds: dict[str, dict[Key, Any]] = {kind: {} for kind in sorted(self.follows)}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Put one object in place of another; None stands for absent."""
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
    """Objects of one kind by what they say: `Index("Pod", lambda pod: [pod.spec.node_name])`. Mutable view."""

    def __init__(self, kind: str, by: Callable[[Any], Iterable[Hashable]]) -> None:
        self.follows = frozenset([kind])
        self.by = by
        self.found: dict[Hashable, dict[Key, Any]] = {}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Move an object to where its new contents say."""
        for word in self.by(old) if old is not None else ():
            here = self.found.get(word)
            if here is not None:
                here.pop(key, None)  # type: ignore[arg-type]
                if not here:
                    del self.found[word]
        for word in self.by(new) if new is not None else ():
            self.found.setdefault(word, {})[key] = new  # type: ignore[index]

    def get(self, word: Hashable) -> list[Any]:
        """Return the objects that say this, sorted by key."""
        here = self.found.get(word)
        return [here[key] for key in sorted(here)] if here else []

    def keys(self, word: Hashable) -> list[Key]:
        """Return the keys of the objects that say this, sorted."""
        return sorted(self.found.get(word, ()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and self.found == other.found

    __hash__ = None  # type: ignore[assignment]


V = TypeVar("V", bound=View)


def build(view: V, contents: Contents) -> V:
    """Bring an empty view to these contents, in sorted order, and return it: the definition that `apply` must meet."""
    for key in sorted(contents, key=lambda key: (type(key) is Note, key)):
        if (key.sort if type(key) is Note else key[0]) in view.follows:
            view.apply(key, None, contents[key])
    return view

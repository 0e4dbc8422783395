"""Conditions in words, for runs, searches and scenarios: `pod/web-0 Running`, `web-0 scheduled`, `pvc/data gone`.

A condition is read before anything runs, so that a misspelled word is an error and not a run without end. An object
that does not exist yet may still be created, so its name is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from ..api.unknown_name import UnknownName, unknown_name
from ..world.log import Key
from ..world.references import find_key, matching_keys, possible_keys

PHASES: Mapping[str, tuple[str, ...]] = {  # kind -> the phases that its status may have
    "Pod": ("Pending", "Running", "Succeeded", "Failed", "Unknown"),
    "PersistentVolumeClaim": ("Pending", "Bound", "Lost"),
    "PersistentVolume": ("Pending", "Available", "Bound", "Released", "Failed"),
    "Job": ("Suspended", "Complete", "Failed"),  # conditions that are true
}
OF_EVERY_KIND = ("exists", "gone")
SCHEDULED = "scheduled"


class HasWorld(Protocol):
    """A cluster, or the objects of a searched state."""

    @property
    def world(self) -> Any:
        """The world, whose log has the objects."""


Asked = TypeVar("Asked", bound=HasWorld)


def condition(until: str | Callable[[Asked], Any] | None, objects: Mapping[Key, Any]) -> Callable[[Asked], Any] | None:
    """Return a condition from its words: `REF PHASE`, `REF scheduled`, `REF gone` or `REF exists`.

    Args:
        until: the words; a function of the cluster and None are returned as they are.
        objects: the present objects, among which the reference is looked up; what is not there may come later.

    Raises:
        ValueError: the words are in none of these forms.
        UnknownName: the kind has no such phase, or several objects have the name. It is a ValueError.
    """
    if until is None or callable(until):
        return until
    reference, word, kinds = _parts(until)
    present = matching_keys(objects, reference, kinds)
    keys = [find_key(objects, reference, kinds)] if present else possible_keys(objects, reference, kinds)

    def holds(cluster: Asked) -> bool:
        now: Mapping[Key, Any] = cluster.world.log.objects
        found = next((now[key] for key in keys if key in now), None)
        if word in OF_EVERY_KIND:
            return (found is None) == (word == "gone")
        if word == SCHEDULED:
            return found is not None and bool(found.spec.node_name)
        if found is not None and found.kind == "Job":
            return bool(found.has_condition(word))
        return found is not None and getattr(getattr(found, "status", None), "phase", None) == word

    return holds


def missing_object(until: Any, objects: Mapping[Key, Any]) -> UnknownName | None:
    """Return the error about the object of a condition if there is none; None if there is, or if none is wanted."""
    if not isinstance(until, str):
        return None
    reference, word, kinds = _parts(until)
    if word == "gone" or matching_keys(objects, reference, kinds):
        return None
    try:
        find_key(objects, reference, kinds)
    except UnknownName as unknown:
        return unknown
    return None


def named_keys(until: str, objects: Mapping[Key, Any]) -> list[Key]:
    """Return the keys of the objects that the words of a condition may come to be about, the likeliest first."""
    reference, _, kinds = _parts(until)
    return possible_keys(objects, reference, kinds)


def _parts(until: object) -> tuple[str, str, tuple[str, ...]]:
    """Return the reference of a condition, its word, and the kinds that may be so, () for every kind.

    Raises:
        TypeError: it is no text.
        ValueError: it has no word.
        UnknownName: no object of this kind is ever so.
    """
    if not isinstance(until, str):
        raise TypeError(f"a condition is words such as 'pod/web-0 Running' or a function of the cluster, not {until!r}")
    reference, _, word = (part.strip() for part in until.strip().partition(" "))
    if not word:
        raise ValueError(f"{until!r} is no condition; write for example 'pod/web-0 Running' or 'pvc/data gone'")
    named = dict.fromkeys(key.kind for key in possible_keys((), reference))
    if kinds := tuple(kind for kind in named if word in _words(kind)):
        return reference, word, () if word in OF_EVERY_KIND else kinds
    raise unknown_name(f"condition {word!r} of {reference}", word, [each for kind in named for each in _words(kind)])


def _words(kind: str) -> tuple[str, ...]:
    return (*PHASES.get(kind, ()), *((SCHEDULED,) if kind == "Pod" else ()), *OF_EVERY_KIND)

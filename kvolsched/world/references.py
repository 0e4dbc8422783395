"""What a user may write for an object: `web-0`, `pod/web-0`, `demo/web-0` and `pod/demo/web-0` name one pod.

`a/b` is a kind and a name if `a` is a kind, else a namespace and a name. Without a namespace the object in `default` is
meant, else the only one of another namespace. Without a kind the kinds that the caller names are meant, else any.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..api.kinds.kind import KINDS, KINDS_BY_NAME, find_kind, is_called, is_kind_name
from ..api.unknown_name import UnknownName, unknown_name
from ..api.words import one_of
from .apiserver import ref
from .log import Key

FORMS = "NAME, KIND/NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME"
ORDER = {kind.name: place for place, kind in enumerate(KINDS)}
ANY_KIND = tuple(kind.name for kind in KINDS if kind.name != "Event")  # nobody knows the names of events


class _Reading(NamedTuple):
    """One way to read a reference; "" for a kind that is not given, None for a namespace that is not given."""

    kind: str
    namespace: str | None
    name: str


def find_key(objects: Collection[Key], reference: str, kinds: str | Sequence[str] = ()) -> Key:
    """Return the key of the object that a reference names.

    Args:
        objects: the keys of the objects, or a mapping by key.
        reference: `web-0`, `pod/web-0`, `demo/web-0` or `pod/demo/web-0`.
        kinds: the kind, or kinds, that is meant by a reference without kind; by default any. No others are found.

    Raises:
        UnknownName: nothing has this name, or several objects have it; the sentence has the nearest names.
    """
    wanted = _kind_names(kinds)
    found = matching_keys(objects, reference, wanted)
    if len(found) == 1:
        return found[0]
    if found:
        raise UnknownName(f"{reference!r} may mean {one_of([ref(key) for key in found])}; write KIND/NAMESPACE/NAME")
    raise _not_found(objects, reference, wanted)


def matching_keys(objects: Collection[Key], reference: str, kinds: str | Sequence[str] = ()) -> list[Key]:
    """Return the keys that a reference may mean, sorted: one, or none, or several if it is ambiguous.

    Raises:
        UnknownName: the reference has none of the four forms, or its kind is not known.
    """
    wanted = _kind_names(kinds)
    try:
        readings = _readings(reference)
    except UnknownName:
        if found := [] if wanted else _unmodelled_keys(objects, reference):
            return found
        raise
    for reading in readings:
        if reading.kind and wanted and reading.kind not in wanted:
            continue
        if found := _matches(objects, reading, (reading.kind,) if reading.kind else wanted or ANY_KIND):
            return found
    return [] if wanted else _unmodelled_keys(objects, reference)


def _unmodelled_keys(objects: Collection[Key], reference: str) -> list[Key]:
    """Return the objects of kinds that nobody models which a reference may mean; those in `default` first."""
    *before, name = (part.strip() for part in reference.split("/"))
    named = sorted(key for key in objects if key.name == name and key.kind not in KINDS_BY_NAME)
    if before:
        of_kind = [key for key in named if is_called(key.kind, before[0]) and before[1:] in ([], [key.namespace])]
        named = of_kind or [key for key in named if before == [key.namespace]]
    return [key for key in named if key.namespace in ("", "default")] or named


def possible_keys(objects: Collection[Key], reference: str, kinds: str | Sequence[str] = ()) -> list[Key]:
    """Return the keys of objects that may come to be what a reference means, the likeliest first; see `find_key`.

    Without a namespace, any of those of the objects is possible.

    Raises:
        UnknownName: the reference has none of the four forms, or its kind is not known.
    """
    namespaces = ["default", *sorted({key.namespace for key in objects} - {"", "default"})]
    found = []
    usual, *others = _readings(reference)
    for reading in (usual, *(other for other in others if other.namespace in namespaces)):
        for kind in (reading.kind,) if reading.kind else _kind_names(kinds) or ANY_KIND:
            within = namespaces if reading.namespace is None else [reading.namespace]
            spaces = within if KINDS_BY_NAME[kind].namespaced else [""] if reading.namespace is None else []
            found += [Key(kind, namespace, reading.name) for namespace in spaces]
    return found


def _matches(objects: Collection[Key], reading: _Reading, kinds: Sequence[str]) -> list[Key]:
    """Return the objects of these kinds that one reading may mean; those in `default` before those elsewhere."""
    if reading.namespace is not None:
        within = (Key(kind, reading.namespace, reading.name) for kind in kinds if KINDS_BY_NAME[kind].namespaced)
        return sorted(key for key in within if key in objects)
    usual = (Key(kind, "default" if KINDS_BY_NAME[kind].namespaced else "", reading.name) for kind in kinds)
    return sorted(key for key in usual if key in objects) or sorted(
        key for key in objects if key.name == reading.name and key.kind in kinds
    )


def _kind_names(kinds: str | Sequence[str]) -> tuple[str, ...]:
    return tuple(find_kind(kind).name for kind in ((kinds,) if isinstance(kinds, str) else kinds) if kind)


@lru_cache(maxsize=1 << 10)  # conditions and properties are read at every write
def _readings(reference: str) -> tuple[_Reading, ...]:
    """Return the ways to read a reference, the usual one first."""
    if not isinstance(reference, str):
        raise TypeError(f"a reference is a text such as 'pod/web-0', not {reference!r}")
    parts = [part.strip() for part in reference.split("/")]
    if not all(parts) or len(parts) > 3:
        raise UnknownName(f"{reference!r} is no reference; write {FORMS}")
    if len(parts) == 1:
        return (_Reading("", None, parts[0]),)
    if len(parts) == 2:
        within = _Reading("", parts[0], parts[1])
        return (_Reading(find_kind(parts[0]).name, None, parts[1]), within) if is_kind_name(parts[0]) else (within,)
    kind = find_kind(parts[0])
    return (_Reading(kind.name, parts[1] if kind.namespaced else None, parts[2]),)


def _not_found(objects: Collection[Key], reference: str, wanted: tuple[str, ...]) -> UnknownName:
    """Return the sentence about a reference that names no object."""
    reading = _readings(reference)[0]
    if reading.kind and wanted and reading.kind not in wanted:
        return UnknownName(f"{reference} is no {one_of(wanted)}")
    kinds = (reading.kind,) if reading.kind else wanted or ANY_KIND
    in_order = sorted(objects, key=lambda key: (ORDER.get(key.kind, len(ORDER)), key))
    there = {ref(key): key.name for key in in_order if key.kind in kinds}
    odd = "" if reading.kind or _is_namespace(objects, reading.namespace) else (
        f" ({reading.namespace} is no kind and no namespace)")  # fmt: skip
    if len(kinds) == 1:
        looked_for, plural = ref(Key(kinds[0], reading.namespace or "", reading.name)), KINDS_BY_NAME[kinds[0]].plural
        return unknown_name(looked_for + odd, reading.name, there, compared=there.__getitem__, plural=plural,
                            none="none of that kind")  # fmt: skip
    of_kind = f" of kind {one_of(wanted)}" if wanted else ""
    looked_for = f"object{of_kind} is called {reference!r}{odd}"
    return unknown_name(looked_for, reading.name, there, compared=there.__getitem__, plural="objects", most_listed=0)


def _is_namespace(objects: Collection[Key], name: str | None) -> bool:
    return name in (None, "default") or any(
        name in (key.namespace, key.name if key.kind == "Namespace" else "") for key in objects
    )

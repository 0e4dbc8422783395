"""Find the kind and the objects that a kubectl command names, or refuse in kubectl's words."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..api.kinds.kind import STORED_KINDS, Kind, find_kind, is_kind_name
from ..api.unknown_name import UnknownName
from ..api.words import first_of
from ..world.apiserver import key_of
from ..world.log import Key
from ..world.references import find_key, matching_keys
from .printers.events import sort_events
from .printers.stored import DEFINITION, defined_kind

MAX_SUGGESTIONS = 12  # names that a refusal lists


class ResourceNotFound(UnknownName):
    """Raised for a kind or object that does not exist: kubectl's words, with a hint of what exists."""

    def __init__(self, words: str, hint: str = "") -> None:
        super().__init__(f"{words} ({hint})" if hint else words)
        self.words = words
        self.hint = hint


def lookup_kind(word: str, objects: Mapping[Key, Any]) -> Kind:
    """Return the kind with this name, plural or short name; one that a stored definition defines, too.

    Raises:
        ResourceNotFound: no kind has this name.
    """
    try:
        return find_kind(word)
    except UnknownName as error:
        if found := _kind_of_clients(word, objects):
            return found
        raise ResourceNotFound(_no_type(word), error.others) from None


def _kind_of_clients(word: str, objects: Mapping[Key, Any]) -> Kind | None:
    """Return the kind with this name that is only stored, or that a stored definition defines."""
    name, _, group = word.lower().partition(".")
    defined = (defined_kind(obj) for key, obj in objects.items() if key.kind == DEFINITION)
    return next((kind for kind in (*STORED_KINDS, *filter(None, defined)) if group in ("", kind.group)
                 and name in (kind.plural, kind.name.lower(), *kind.short)), None)  # fmt: skip


def _no_type(word: str) -> str:
    return f'error: the server doesn\'t have a resource type "{word}"'


def named_key(objects: Mapping[Key, Any], reference: str, namespace: str) -> Key | None:
    """Return the key of the object that a reference in one of its four forms names; None for kinds and what is absent.

    Raises:
        UnknownName: several objects have this name.
        ResourceNotFound: the reference begins with neither a kind nor a namespace that has such an object.
    """
    first = reference.partition("/")[0]
    is_kind = is_kind_name(first) or _kind_of_clients(first, objects) is not None
    if namespace != "default" or first == "all" or "," in reference or (first == reference and is_kind):
        return None
    if matching_keys(objects, reference) or (first != reference and not is_kind):
        try:
            return find_key(objects, reference)
        except UnknownName as unknown:
            if matching_keys(objects, reference):
                raise
            raise ResourceNotFound(_no_type(first), str(unknown)) from None
    return None


def find_keys(objects: Mapping[Key, Any], kind: Kind, namespace: str | None, names: Sequence[str] = ()) -> list[Key]:
    """Return the keys of these names in their order, or without names all keys of a kind in kubectl's order.

    A namespace of None stands for all.

    Raises:
        ResourceNotFound: no object of the kind has one of the names.
    """
    if names:
        keys = [Key(kind.name, (namespace or "") if kind.namespaced else "", name) for name in names]
        for key in keys:
            if key not in objects:
                raise object_not_found(objects, kind, namespace or "", key.name)
        return keys
    everywhere = namespace is None or not kind.namespaced
    keys = sorted(key for key in objects if key.kind == kind.name and (everywhere or key.namespace == namespace))
    if kind.name == "Event":
        keys = [key_of(event) for event in sort_events((key, objects[key]) for key in keys)]
    return keys


def object_not_found(objects: Mapping[Key, Any], kind: Kind, namespace: str, name: str) -> ResourceNotFound:
    """Return the error for a name that no object of the kind has, with the names that exist."""
    words = f'Error from server (NotFound): {kind.resource} "{name}" not found'
    known = {"", "default", *(key.namespace or key.name for key in objects if key.namespace or key.kind == "Namespace")}
    if kind.namespaced and namespace not in known:  # kubectl then asks for the namespace
        words = f'Error from server (NotFound): namespaces "{namespace}" not found'
    namespaces = [key.namespace for key in sorted(objects) if key.kind == kind.name and key.name == name]
    if namespaces:
        return ResourceNotFound(words, f"in namespace {namespace}; there is one in {', '.join(namespaces)}")
    names = [key.name for key in find_keys(objects, kind, namespace)]
    return ResourceNotFound(words, f"there are: {first_of(names, MAX_SUGGESTIONS) or 'none of that kind'}")


def empty_message(kind: Kind, namespace: str | None) -> str:
    """Return kubectl's sentence for a kind without objects."""
    everywhere = namespace is None or not kind.namespaced
    return "No resources found" if everywhere else f"No resources found in {namespace} namespace."

"""What a user may write for an object, and what is said about a name that is not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ..api.kinds.kind import find_kind, is_kind_name

MAX_LISTED = 12  # names in a message


def reference_to(kind: str, name: str) -> str:
    """Return the reference to an object of a kind from its name, `NAMESPACE/NAME`, or a whole reference.

    Raises:
        KeyError: it is a reference to an object of another kind.
    """
    first, slash, rest = name.partition("/")
    if not slash or (rest.count("/") == 0 and not is_kind_name(first)):
        return f"{kind}/{name}"
    if find_kind(first).name != find_kind(kind).name:
        raise KeyError(f"{name} is no {find_kind(kind).name}")
    return f"{kind}/{rest}"


def unknown_reference(reference: str, there: Iterable[str]) -> str:
    """Return the sentence about a reference that names no object: the nearest names, then what there is."""
    names = sorted(there)
    near = get_close_matches(reference, names, n=2, cutoff=0.75)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    listed = ", ".join(names[:MAX_LISTED]) + (f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else "")
    return f"no {reference}; there are: {listed or 'none of that kind'}{meant}"

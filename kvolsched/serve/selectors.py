"""Which objects a list or watch asks for: label selectors, and the fields that an API server can select by."""

from collections.abc import Callable, Mapping
from typing import Any

from ..api.kinds.selector import read_label_selector
from ..kubectl.field_selectors import has_fields, read_field_selector
from .resources import Resource
from .status import StatusError

Matches = Callable[[Any], bool]


def selector_of(resource: Resource, query: Mapping[str, str], name: str = "") -> Matches | None:
    """Return whether an object is asked for, None if all are."""
    text = query.get("fieldSelector", "")
    try:
        asked = read_field_selector(resource.kind, text)
    except KeyError as error:
        raise StatusError("BadRequest", str(error.args[0])) from None
    except ValueError as error:
        raise StatusError("BadRequest", f"invalid selector: {text!r}; can't understand {str(error)!r}") from None
    if name:
        asked.append(("metadata.name", name, True))
    try:
        labels = read_label_selector(query["labelSelector"]) if query.get("labelSelector") else None
    except ValueError as error:
        raise StatusError("BadRequest", f"unable to parse requirement: {error}") from None
    if labels is None and not asked:
        return None
    return lambda obj: has_fields(obj, asked) and (labels is None or labels.matches(obj.metadata.labels))

"""Fields by their paths in manifests: `deploy/web:spec.template.spec.topologySpreadConstraints[0].maxSkew`.

A path may name a field that Kubernetes has and the object lacks; a list must have the item. Names with dots stand in
brackets, `node/a:metadata.labels[topology.kubernetes.io/zone]`; items of lists are found by number, name or type.
"""

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from ...api.text import manifest
from ...api.text.convert import DESIGN_FIELDS, schema
from ...api.text.fault import suggest_nearest
from ...core.core import ClusterCore

_STEP = re.compile(r"""\.?([^.\[\]]+)|\[(?:"([^"]*)"|'([^']*)'|([^\]]*))\]""")
_MAX_LISTED = 24


@attrs.frozen
class FieldPath:
    """A field of one object.

    Args:
        text: as a reader writes it, `node/c1:spec.unschedulable`.
        reference: of the object.
        steps: names and numbers that lead to the field in plain data.
        value: the present one as in a manifest; None: the object lacks the field.
        type: its type in Kubernetes' schema, "object" if unknown: "int32", "boolean", "quantity", ...
    """

    text: str
    reference: str
    steps: tuple[str | int, ...]
    value: Any = attrs.field(eq=False)  # may be a mapping, which has no hash
    type: str

    @property
    def subresource(self) -> str:
        """The subresource that a patch of the field goes to: "status", or "" for the object itself."""
        return "status" if self.steps[0] == "status" else ""


def find_field(cluster: ClusterCore, text: str) -> FieldPath:
    """Find a field by its path.

    Raises:
        KeyError: there is no such object; the message has the nearest names.
        ValueError: the text is no path, or there is no such field; the message lists the fields that are there.
    """
    reference, _, path = text.partition(":")
    steps = _split(path)
    if not steps:
        raise ValueError(f"{text!r} is no path of a field; write for example 'deploy/web:spec.replicas'")
    plain: Any = manifest.to_plain(cluster[reference])
    type_name = schema()["kinds"].get(f"{plain.get('apiVersion')}/{plain.get('kind')}", "object")
    found: list[str | int] = []
    for step in steps:
        where = f"{reference}:{_joined(found)}".removesuffix(":")
        if type_name.startswith("[]"):
            number, plain = _item(step, plain or [], where)
            type_name = type_name.removeprefix("[]")
            found.append(number)
        else:
            type_name = _field_type(step, plain, type_name, where)
            plain = plain.get(step) if isinstance(plain, Mapping) else None
            found.append(step)
    return FieldPath(text, reference, tuple(found), plain, type_name)


def _split(path: str) -> list[str]:
    steps, at = [], 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return []
        steps.append(next(group for group in match.groups() if group is not None))
        at = match.end()
    return steps


def _joined(steps: Sequence[str | int]) -> str:
    """Return steps as a path: `spec.containers[0].image`."""
    text = ""
    for step in steps:
        bare = isinstance(step, str) and not set(step) & {".", "/", "[", "]"}
        text += (f".{step}" if text else str(step)) if bare else f"[{step}]"
    return text


def _item(step: str, items: Sequence[Any], where: str) -> tuple[int, Any]:
    """Return an item of a list by its number, or by its name or type."""
    if step.isdigit() and int(step) < len(items):
        return int(step), items[int(step)]
    names = [_name(item) if isinstance(item, Mapping) else "" for item in items]
    if step in names and step:
        return names.index(step), items[names.index(step)]
    known = [f"[{name or number}]" for number, name in enumerate(names)]
    raise ValueError(f"{where} has no item [{step}]: {_listed(known) if known else 'the list is empty'}")


def _name(item: Mapping[str, Any]) -> str:
    """Return the name of an item, that of its metadata (as a claim template has it), or its type; "" for none."""
    return str(item.get("name") or (item.get("metadata") or {}).get("name") or item.get("type") or "")


def _field_type(name: str, plain: Any, type_name: str, where: str) -> str:
    """Return the type of a field of a mapping."""
    if type_name.startswith("map[string]"):
        return type_name.removeprefix("map[string]")
    declared: dict[str, Any] = {**schema()["types"].get(type_name, {}), **DESIGN_FIELDS.get(type_name, {})}
    if name in declared:
        field = declared[name]
        return str(field["type"] if isinstance(field, Mapping) else field)
    present = [key for key in plain if key not in ("apiVersion", "kind")] if isinstance(plain, Mapping) else []
    if type_name == "object" or name in present:
        return "object"
    if not declared and not present:
        raise ValueError(f"{where} is a value, it has no field {name!r}")
    there = f"there: {_listed(present)}" if present else "it is empty"
    more = [key for key in declared if key not in present and key not in ("apiVersion", "kind")]
    also = f"; it may also have {_listed(more)}" if more else ""
    raise ValueError(f"{where} has no field {name!r}; {there}{also}{suggest_nearest(name, [*present, *declared])}")


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    more = f", and {len(shown) - _MAX_LISTED} more" if len(shown) > _MAX_LISTED else ""
    return ", ".join(shown[:_MAX_LISTED]) + more


def merge_patch(cluster: ClusterCore, values: Mapping[FieldPath, Any]) -> dict[str, Any]:
    """Return the merge patch that gives fields of one object these values; None removes a field.

    A list is sent whole, with the items that change.
    """
    reference = next(iter(values)).reference
    before = manifest.to_plain(cluster[reference])
    after: Any = copy.deepcopy(before)
    for field, value in values.items():
        _put(after, field.steps, value)
    patch: dict[str, Any] = {}
    for field in values:
        inner, source = patch, after
        for number, step in enumerate(field.steps):
            last = number == len(field.steps) - 1 or isinstance(field.steps[number + 1], int)
            if last or not isinstance(source.get(step), Mapping):
                inner[str(step)] = source.get(step)
                break
            inner, source = inner.setdefault(str(step), {}), source[step]
    return patch


def _put(data: Any, steps: Sequence[str | int], value: Any) -> None:
    for number, step in enumerate(steps[:-1]):
        if isinstance(data, dict) and step not in data:
            data[step] = [] if isinstance(steps[number + 1], int) else {}
        data = data[step]
    if value is None and isinstance(data, dict):
        data.pop(steps[-1], None)
    else:
        data[steps[-1]] = value

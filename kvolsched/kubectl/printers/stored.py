"""Kinds that no class models: what kubectl prints of them, those that CustomResourceDefinitions define among them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...api.kinds.kind import Kind, StoredType
from ...api.kinds.meta import EMPTY, Frozen
from ...api.text.convert import to_plain
from ..formatting import format_age, go_string
from ..serialize import JsonPathFault, find_values
from .printer import Printer, object_age, printer

DEFINITION = "CustomResourceDefinition"
_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
PRINTERS: Mapping[str, Printer] = {
    "ConfigMap": printer("NAME  DATA  AGE", lambda obj: [
        str(len(obj.rest.get("data", ())) + len(obj.rest.get("binaryData", ())))]),
    "Secret": printer("NAME  TYPE  DATA  AGE", lambda obj: (
        str(obj.rest.get("type", "Opaque")), str(len(obj.rest.get("data", ()))))),
    "ServiceAccount": printer("NAME  AGE", lambda _obj: ()),
    "Lease": printer("NAME  HOLDER  AGE", lambda obj: [str(obj.rest.get("spec", {}).get("holderIdentity", ""))]),
}  # fmt: skip
ANY = printer("NAME  CREATED AT", lambda obj: [obj.metadata.creation_timestamp or ""])


def defined_kind(definition: Any) -> Kind | None:
    """Return the kind of a definition; None if its version of storage is not served."""
    spec = definition.rest.get("spec", EMPTY)
    version = next((each for each in spec["versions"] if each.get("storage") and each.get("served")), None)
    if version is None:
        return None
    names, of_type = spec["names"], StoredType(f"{spec['group']}/{version['name']}", spec["names"]["kind"])
    return Kind(of_type, names["plural"], tuple(names.get("shortNames", ())), spec["scope"] == "Namespaced",
                defined=version)  # fmt: skip


def printer_of_definition(version: Frozen) -> Printer:
    """Return the printer of a custom resource: its name, and the columns that its definition's version declares."""
    columns = version.get("additionalPrinterColumns") or (_AGE,)

    def cells(obj: Any) -> list[Any]:
        plain = to_plain(obj)
        return [obj.metadata.name, *(partial(_cell, column, plain, obj) for column in columns)]

    wide = frozenset(column["name"].upper() for column in columns if column.get("priority"))
    return Printer(("NAME", *(column["name"].upper() for column in columns)), cells, wide_columns=wide, of_any={})


def _cell(column: Any, plain: Any, obj: Any, now: Any) -> str:
    """Return what a column shows of an object; nothing if the object lacks it."""
    try:
        values = find_values(column["jsonPath"], plain)
    except JsonPathFault:
        return ""
    if not values or values[0] is None:
        return ""
    if column["type"] == "date":
        return object_age(obj, now) if column["jsonPath"] == _AGE["jsonPath"] else format_age(values[0], now)
    return " ".join(go_string(value) for value in (values if column["type"] == "string" else values[:1]))

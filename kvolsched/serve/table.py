"""Objects as the server prints them: `Table` with kubectl's columns, and `PartialObjectMetadata`.

The rows are those of the room kubectl. Mirrors apimachinery `meta/v1.Table` and `rest.defaultTableConvertor` (v1.36.2).
"""

from collections.abc import Sequence
from typing import Any

from ..kubectl.printers import PRINTERS
from ..kubectl.printers.printer import Printer, printer
from .custom_resources import printer_of
from .objects import ServedObjects
from .resources import Resource

META = {"apiVersion": "meta.k8s.io/v1"}
TABLE, PARTIAL = "Table", "PartialObjectMetadata"
_UNMODELLED = {
    "ConfigMap": printer("NAME  DATA  AGE", lambda obj: [
        str(len(obj.rest.get("data", ())) + len(obj.rest.get("binaryData", ())))]),
    "Secret": printer("NAME  TYPE  DATA  AGE", lambda obj: (
        str(obj.rest.get("type", "Opaque")), str(len(obj.rest.get("data", ()))))),
    "ServiceAccount": printer("NAME  AGE", lambda _obj: ()),
    "Lease": printer("NAME  HOLDER  AGE", lambda obj: [str(obj.rest.get("spec", {}).get("holderIdentity", ""))]),
}  # fmt: skip
_ANY = printer("NAME  CREATED AT", lambda obj: [obj.metadata.creation_timestamp or ""])


def table(served: ServedObjects, resource: Resource, objects: Sequence[Any], include: str = "", *,
          headed: bool = True) -> dict[str, Any]:
    """Return a `Table` of objects.

    Args:
        served: gives the time to which ages are counted.
        resource: of the objects.
        objects: a row each.
        include: what each row has of its object: `None`, `Metadata` (also by default) or `Object`.
        headed: whether the columns are named, as they are once in a watch.
    """
    made = (printer_of(resource) if resource.defined is not None
            else PRINTERS.get(resource.kind) or _UNMODELLED.get(resource.kind, _ANY))  # fmt: skip
    rows = [{"cells": _cells(served, made, obj), **_object_of_row(served, obj, include)} for obj in objects]
    columns = [_column(name, wide=name in made.wide_columns) for name in made.columns] if headed else None
    return {"kind": TABLE, **META, "metadata": {}, "columnDefinitions": columns, "rows": rows}


def _cells(served: ServedObjects, printer: Printer, obj: Any) -> list[str]:
    created = obj.metadata.creation_timestamp
    return [served.served_time(cell) if cell == created else cell for cell in printer.row(obj, served.world.date)]


def _column(name: str, *, wide: bool) -> dict[str, Any]:
    form = "name" if name == "NAME" else ""
    return {"name": name.title(), "type": "string", "format": form, "description": "", "priority": int(wide)}


def _object_of_row(served: ServedObjects, obj: Any, include: str) -> dict[str, Any]:
    if include == "None":
        return {}
    return {"object": served.plain(obj) if include == "Object" else partial(served, obj)}


def partial(served: ServedObjects, obj: Any) -> dict[str, Any]:
    """Return the metadata of an object, as `PartialObjectMetadata`."""
    return {"kind": PARTIAL, **META, "metadata": served.plain(obj)["metadata"]}

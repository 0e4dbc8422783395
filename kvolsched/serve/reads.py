"""Reads: one object, and lists with limit and continue, in the form that the client accepts.

Mirrors apiserver `endpoints/handlers/get.go` and `storage` (v1.36.2): a list that goes on is of the version at which it
began. The rows of a `Table` are those of the room kubectl (apimachinery `meta/v1.Table`, `rest.defaultTableConvertor`).
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..kubectl.printers import printer_of
from ..world.log import Key
from .http import JSON, ClientRequest, ServerResponse, json_response, query_number
from .objects import ServedObjects
from .resources import Resource
from .selectors import selector_of
from .status import StatusError, not_found

META = {"apiVersion": "meta.k8s.io/v1"}
TABLE, PARTIAL = "Table", "PartialObjectMetadata"
EXPIRED = "The provided continue parameter is too old to display a consistent list result."


def accepted_form(headers: Mapping[str, str]) -> str:
    """Return the first form of the header Accept that is served: `Table`, `PartialObjectMetadata` or "".

    Raises:
        StatusError: none of them is.
    """
    for each in (headers.get("Accept", "") or "*/*").split(","):
        media, *parameters = (part.strip() for part in each.split(";"))
        named = dict(part.split("=", 1) for part in parameters if "=" in part)
        form = named.get("as", "").removesuffix("List")
        if media in (JSON, "*/*", "application/*") and form in ("", TABLE, PARTIAL):
            return form
    raise StatusError("NotAcceptable", "only the following media types are accepted: application/json")


def get_object(served: ServedObjects, resource: Resource, key: Key, request: ClientRequest) -> ServerResponse:
    """Answer a get."""
    served.place_of(request.query.get("resourceVersion") or "0")  # one of the future is refused
    obj = served.objects.get(key)
    if obj is None:
        raise not_found(resource, key.name)
    form = accepted_form(request.headers)
    if form == TABLE:
        found = table(served, resource, [obj], request.query.get("includeObject", ""))
        return json_response({**found, "metadata": {"resourceVersion": str(served.version)}})
    return json_response(partial(served, obj)) if form else ServerResponse(200, served.text(obj))


def list_objects(served: ServedObjects, resource: Resource, namespace: str | None, request: ClientRequest,
                 ) -> ServerResponse:
    """Answer a list."""
    objects, meta = _page(served, resource, namespace, request.query)
    form = accepted_form(request.headers)
    if form == TABLE:
        found = table(served, resource, objects, request.query.get("includeObject", ""))
        return json_response({**found, "metadata": meta})
    if form == PARTIAL:
        items = [partial(served, obj) for obj in objects]
        return json_response({"kind": f"{PARTIAL}List", **META, "metadata": meta, "items": items})
    head = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": meta}
    text = json.dumps(head, separators=(",", ":"))[:-1].encode()
    return ServerResponse(200, b'%b,"items":[%b]}' % (text, b",".join(map(served.text, objects))))


def _page(served: ServedObjects, resource: Resource, namespace: str | None, query: Mapping[str, str],
          ) -> tuple[list[Any], dict[str, Any]]:
    """Return the objects of a page of a list, and its metadata."""
    begin, place = _continued(served, query)
    found = served.stored(resource, namespace) if place == served.world.place else _listed_at(
        served, resource, namespace, place)  # fmt: skip
    matches = selector_of(resource, query)
    after = next((place + 1 for place, (key, _) in enumerate(found) if key == begin), 0) if begin else 0
    chosen = [(key, obj) for key, obj in found[after:] if matches is None or matches(obj)]
    limit = query_number(query, "limit")
    meta: dict[str, Any] = {"resourceVersion": str(place + served.offset)}
    if limit and len(chosen) > limit:
        last = chosen[limit - 1][0]
        token = json.dumps({"v": place + served.offset, "start": list(last)}).encode()
        meta |= {"continue": base64.urlsafe_b64encode(token).decode()}
        if matches is None:
            meta["remainingItemCount"] = len(chosen) - limit
        chosen = chosen[:limit]
    return [obj for _, obj in chosen], meta


def _continued(served: ServedObjects, query: Mapping[str, str]) -> tuple[tuple[str, ...], int]:
    """Return the key after which a list goes on, and the position that it is of."""
    token = query.get("continue", "")
    if token:
        try:
            found = json.loads(base64.urlsafe_b64decode(token))
            begin, place = tuple(map(str, found["start"])), served.place_of(str(found["v"]))
        except (ValueError, KeyError, TypeError):
            raise StatusError("BadRequest", "continue key is not valid") from None
        if place < max(served.world.log.base, 0):
            raise StatusError("Expired", EXPIRED)
        return begin, place
    version = query.get("resourceVersion", "")
    place = served.place_of(version) if version not in ("", "0") else served.world.place
    if query.get("resourceVersionMatch") == "Exact" and version not in ("", "0"):
        if place < max(served.world.log.base, 0):
            raise StatusError("Expired", f"The resourceVersion for the provided list is too old: {version}")
        return (), place
    return (), served.world.place


def _listed_at(served: ServedObjects, resource: Resource, namespace: str | None, place: int) -> list[tuple[Key, Any]]:
    """Return the objects of a resource as they were at an earlier position."""
    present = dict(served.stored(resource, namespace))
    for _, change in reversed(list(served.world.log.changes_between(resource.kind, place, served.world.place))):
        key: Any = change.key
        if namespace in (None, key.namespace):
            present[key] = change.old
    rows = [(key, obj) for key, obj in present.items() if obj is not None]
    return sorted(rows, key=lambda row: row[0])


def table(served: ServedObjects, resource: Resource, objects: Sequence[Any], include: str = "", *,
          headed: bool = True) -> dict[str, Any]:
    """Return a `Table` of objects, in which each row has `None`, `Metadata` (by default) or `Object` of its object.

    Its columns are named if it is `headed`, as once in a watch; ages are counted to the simulated time.
    """
    made = printer_of(resource.kind, resource.defined)
    rows = []
    for obj in objects:
        born, cells = obj.metadata.creation_timestamp, made.row(obj, served.world.date)
        row: dict[str, Any] = {"cells": [served.served_time(cell) if cell == born else cell for cell in cells]}
        if include != "None":
            row["object"] = served.plain(obj) if include == "Object" else partial(served, obj)
        rows.append(row)
    columns = [{"name": name.title(), "type": "string", "format": "name" if name == "NAME" else "", "description": "",
                "priority": int(name in made.wide_columns)} for name in made.columns] if headed else None
    return {"kind": TABLE, **META, "metadata": {}, "columnDefinitions": columns, "rows": rows}


def partial(served: ServedObjects, obj: Any) -> dict[str, Any]:
    """Return the metadata of an object, as `PartialObjectMetadata`."""
    return {"kind": PARTIAL, **META, "metadata": served.plain(obj)["metadata"]}

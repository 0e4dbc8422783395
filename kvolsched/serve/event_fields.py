"""Events as events.k8s.io has them: the same objects as those of the core API, with other names of some fields.

Mirrors the conversion of `k8s.io/kubernetes/pkg/apis/events/v1` (v1.36.2).
"""

import json
from collections.abc import Mapping
from typing import Any

import attrs

from .bodies import PATCHES, media_type, read_json, read_object
from .http import JSON, ClientRequest, ServerResponse

EVENTS = "events.k8s.io"
_API_VERSION = f"{EVENTS}/v1"
_TO_CORE = {
    "regarding": "involvedObject", "note": "message", "reportingController": "reportingComponent",
    "deprecatedSource": "source", "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp", "deprecatedCount": "count",
}  # fmt: skip
_FROM_CORE = {core: name for name, core in _TO_CORE.items()}


def as_core_event(request: ClientRequest) -> ClientRequest:
    """Return a request about Events with the core API's names in its body."""
    if not request.body or request.method not in ("POST", "PUT", "PATCH"):
        return request
    media = media_type(request)
    data = read_json(request.body) if media in PATCHES else read_object(request)
    if not isinstance(data, dict):
        return request
    renamed = _renamed(data, _TO_CORE, _API_VERSION, "v1")
    headers = {**request.headers, "Content-Type": media if request.method == "PATCH" else JSON}
    return attrs.evolve(request, body=json.dumps(renamed).encode(), headers=headers)


def as_served_event(response: ServerResponse) -> ServerResponse:
    """Return an answer about Events with the names of events.k8s.io; one that is refused stays as it is."""
    if response.stream is not None:
        events = (json.loads(line) for part in response.stream for line in part.splitlines())
        named = (json.dumps({**event, "object": _served(event["object"])}).encode() + b"\n" for event in events)
        return attrs.evolve(response, stream=named)
    return attrs.evolve(response, body=json.dumps(_served(json.loads(response.body))).encode())


def _served(data: dict[str, Any]) -> dict[str, Any]:
    if data["kind"] == "EventList":
        return {**data, "apiVersion": _API_VERSION, "items": list(map(_served, data["items"]))}
    return _renamed(data, _FROM_CORE, "v1", _API_VERSION) if data["kind"] == "Event" else data


def _renamed(data: dict[str, Any], names: Mapping[str, str], before: str, after: str) -> dict[str, Any]:
    found = {names.get(name, name): value for name, value in data.items()}
    return {**found, "apiVersion": after} if data.get("apiVersion") == before else found

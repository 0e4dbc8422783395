"""Bodies of requests to plain data: JSON, YAML of an apply, and protobuf; then to objects, with their faults.

Faults are said in the API server's words: `strict decoding error: unknown field "spec.nodeSelecter"` (v1.36.2).
"""

from collections.abc import Mapping
from typing import Any

from ..api.text.convert import DECODABLE_RULES, decode, schema, without_unknown
from ..api.text.fault import ManifestError, Problem, format_path
from ..api.text.json_text import JsonFault, json_documents
from ..api.text.manifest import read_plain
from ..api.validation.structural_schema import prune
from ..world.manifest_patch import unmodelled_object
from .http import JSON, ClientRequest
from .objects import ServedObjects
from .protobuf import PROTOBUF, read_message
from .resources import Resource
from .status import StatusError

PATCHES = {
    "application/json-patch+json": "json", "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
}  # fmt: skip
APPLY = "application/apply-patch+yaml"
UNKNOWN_FORMAT = "the body of the request was in an unknown format - accepted media types include"
QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


def media_type(request: ClientRequest) -> str:
    """Return the media type of a body, without its parameters."""
    return request.headers.get("Content-Type", JSON).partition(";")[0].strip()


def read_object(request: ClientRequest, *, optional: bool = False) -> dict[str, Any]:
    """Return the object of a body as plain data."""
    if optional and not request.body:
        return {}
    media = media_type(request)
    if media == PROTOBUF:
        return read_message(request.body)
    if media in ("application/yaml", APPLY):
        try:
            documents = read_plain(request.body.decode())
        except (ManifestError, UnicodeDecodeError) as error:
            raise StatusError("BadRequest", f"error decoding YAML: {error}") from None
        found = documents[0] if len(documents) == 1 else None
    elif media in (JSON, "", "*/*", "text/plain"):
        found = read_json(request.body)
    else:
        raise StatusError("UnsupportedMediaType", f"{UNKNOWN_FORMAT}: {JSON}, application/yaml, {PROTOBUF}")
    if not isinstance(found, dict):
        raise StatusError("BadRequest", "the body of the request is no object")
    return found


def read_json(body: bytes, doing: str = "couldn't get version/kind; json parse error") -> Any:
    """Return the data of a JSON text; `doing` begins what is said of one that is none."""
    try:
        found = json_documents(body.decode())
    except (JsonFault, UnicodeDecodeError) as error:
        raise StatusError("BadRequest", f"{doing}: {error}") from None
    if len(found.documents) != 1:
        raise StatusError("BadRequest", f"the body of the request has {len(found.documents)} objects")
    return found.documents[0]


def known_fields(served: ServedObjects, resource: Resource, data: Mapping[str, Any],
                 ) -> tuple[Any, list[str], dict[str, Any]]:
    """Return the object of plain data, the paths of unknown fields, and the data with times of the simulated clock."""
    plain = served.own_times(data, modelled=resource.is_modelled)
    obj, problems = decode_object(resource, plain)
    wrong = [each for each in problems if each.rule not in DECODABLE_RULES and each.rule != "unknown"]
    if wrong:
        raise StatusError("BadRequest", _cannot_be_handled(resource, _wrong_type(resource, wrong[0])))
    lost = [format_path(each.path) for each in problems if each.rule == "unknown"]
    if resource.defined is not None:
        lost += prune(plain, resource.schema)
        obj, _ = decode_object(resource, plain)
    return obj, lost, plain


def decoded(served: ServedObjects, resource: Resource, data: Mapping[str, Any], query: Mapping[str, str],
            ) -> tuple[Any, tuple[str, ...]]:
    """Return the object of plain data with times of the simulated clock, and the warnings that its client gets."""
    obj, lost, plain = known_fields(served, resource, data)
    unknown = [f'unknown field "{path}"' for path in lost]
    if not unknown:
        return obj, ()
    how = query.get("fieldValidation") or "Warn"
    if how == "Strict":
        raise StatusError("BadRequest", _cannot_be_handled(resource, f"strict decoding error: {', '.join(unknown)}"))
    known, _ = without_unknown(plain)
    obj, _ = decode_object(resource, known)
    return obj, tuple(unknown) if how == "Warn" else ()


def decode_object(resource: Resource, plain: Mapping[str, Any]) -> tuple[Any, list[Problem]]:
    """Return the object of plain data and what is wrong with it; of a kind that no class models only its metadata."""
    if resource.is_modelled:
        return decode(plain)
    problems: list[Problem] = []
    return unmodelled_object({**plain, "apiVersion": resource.api_version, "kind": resource.kind}, problems), problems


def _cannot_be_handled(resource: Resource, why: str) -> str:
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {why}'


def _wrong_type(resource: Resource, problem: Problem) -> str:
    """Return what Go says of a value of the wrong type."""
    if problem.rule == "quantity":
        return QUANTITY
    names = [step for step in problem.path if isinstance(step, str)]
    types, struct = schema()["types"], resource.kind
    for step in names[:-1]:
        declared = types.get(struct, {}).get(step, struct)
        struct = (declared["type"] if isinstance(declared, dict) else declared).removeprefix("[]")
    field = ".".join((struct, *names))
    return f"json: cannot unmarshal {problem.got} into Go struct field {field} of type {problem.wants}"

"""Refusals as Kubernetes' `Status` objects: the reason decides the code, the details name object and fields.

Whatever in this room reads or answers a request raises a `StatusError` to refuse it.

Mirrors apimachinery `pkg/api/errors` (v1.36.2).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..api.validation.field_error import FieldError
from ..world.apiserver import RefusedWrite
from ..world.log import Key
from ..world.outage import UNREACHABLE
from .resources import Resource

CODES = {
    "BadRequest": 400, "Forbidden": 403, "NotFound": 404, "MethodNotAllowed": 405, "NotAcceptable": 406,
    "AlreadyExists": 409, "Conflict": 409, "Gone": 410, "Expired": 410, "RequestEntityTooLarge": 413,
    "UnsupportedMediaType": 415, "Invalid": 422, "TooManyRequests": 429, "InternalError": 500,
    "ServiceUnavailable": 503, "Timeout": 504,
}  # fmt: skip


class StatusError(Exception):
    """Raised to refuse a request: with a reason of Kubernetes, a message, and details for clients."""

    def __init__(self, reason: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.reason, self.message, self.details = reason, message, details

    @property
    def code(self) -> int:
        """The HTTP code of the reason."""
        return CODES.get(self.reason, 500)

    def status(self) -> dict[str, Any]:
        """Return the `Status` object."""
        details = {"details": dict(self.details)} if self.details is not None else {}
        reason = {"reason": self.reason} if self.reason else {}
        return {**_HEAD, "status": "Failure", "message": self.message, **reason, **details, "code": self.code}


_HEAD = {"kind": "Status", "apiVersion": "v1", "metadata": {}}


def success(resource: Resource, name: str, uid: str) -> dict[str, Any]:
    """Return the `Status` of a deletion that removed an object."""
    details = {"name": name, **_of_resource(resource), "uid": uid}
    return {**_HEAD, "status": "Success", "details": details}


def not_found(resource: Resource, name: str) -> StatusError:
    """Return the refusal of a request for an object that is not there."""
    return StatusError("NotFound", f'{resource.qualified} "{name}" not found', {"name": name, **_of_resource(resource)})


def forbidden(resource: Resource, name: str, why: str) -> StatusError:
    """Return the refusal of a request that an admission plugin denies."""
    details = {"name": name, **_of_resource(resource)}
    return StatusError("Forbidden", f'{resource.qualified} "{name}" is forbidden: {why}', details)


def no_such_path() -> StatusError:
    """Return the refusal of a request for a path that is not served."""
    return StatusError("NotFound", "the server could not find the requested resource", {})  # details that kubectl reads


def invalid(resource: Resource, name: str, *faults: FieldError) -> StatusError:
    """Return the refusal of an object with faults."""
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = {"name": name, **_of_resource(resource), "kind": resource.kind}
    causes = {"causes": [_cause(each) for each in faults]}
    return StatusError("Invalid", f'{kind} "{name}" is invalid: {", ".join(map(str, faults))}', details | causes)


def not_typed(key: Key, resource: Resource, faults: Sequence[str]) -> StatusError:
    """Return the refusal of an apply whose fields cannot be owned; a server gives no reason, and the code 500."""
    told = "\n  ".join(["errors:", *faults]) if len(faults) > 1 else faults[0]
    gvk = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    return StatusError("", f"failed to create typed patch object ({key.namespace}/{key.name}; {gvk}): {told}")


def refused_write(refused: RefusedWrite, resource: Resource) -> StatusError:
    """Return the refusal of a write as its client gets it."""
    reason = "ServiceUnavailable" if refused.reason == UNREACHABLE else refused.reason
    details: dict[str, Any] = {"name": refused.write.key.name, **_of_resource(resource)}
    details |= {"kind": resource.kind} if reason == "Invalid" else {}
    if refused.causes:
        details["causes"] = [_cause(each) for each in refused.causes]
    plural = f"{refused.write.key.kind.lower()}s "  # of a kind that the API server of the cluster does not model
    message = refused.message if resource.is_modelled else refused.message.replace(plural, f"{resource.qualified} ", 1)
    return StatusError(reason, message, details)


def _of_resource(resource: Resource) -> dict[str, str]:
    return {**({"group": resource.group} if resource.group else {}), "kind": resource.plural}


def _cause(cause: Any) -> dict[str, str]:
    if not isinstance(cause, FieldError):
        return {"reason": "DisruptionBudget", "message": str(cause)}
    body = str(cause).removeprefix(f"{cause.path}: ")
    return {"reason": f"FieldValue{cause.type}", "message": body, "field": cause.path}

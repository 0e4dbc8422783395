"""Which request is answered by what: paths of the API to reads, watches, writes, and what a server tells of itself."""

from collections.abc import Sequence

from ..core.acts import ClusterActs
from ..world.log import Key
from .discovery import VERSION, discover, openapi_document, openapi_index
from .event_fields import EVENTS, as_core_event, as_served_event
from .http import ClientRequest, ServerResponse, is_set, json_response
from .objects import ServedObjects
from .reads import get_object, list_objects
from .resources import LEASE, Resource, find_resource
from .status import StatusError, no_such_path
from .watch import watch_objects
from .writes import Target, WriteRequests, check_options


class Routes:
    """Answers every request of one served cluster; Leases, renewed by the clock, are objects of no history."""

    def __init__(self, served: ServedObjects) -> None:
        self.served = served
        self.writes = WriteRequests(served)
        self.leases = WriteRequests(ServedObjects(ClusterActs()), is_recorded=False)

    def answer(self, request: ClientRequest) -> ServerResponse:
        """Answer a request."""
        match request.path:
            case () if request.method == "GET":
                return json_response({"paths": ["/api", "/apis", "/openapi/v3", "/readyz", "/version"]})
            case ("version",):
                return json_response(VERSION)
            case ("readyz" | "livez" | "healthz", *_):
                return ServerResponse(200, b"ok", "text/plain")
            case ("openapi", "v3"):
                return json_response(openapi_index(self._custom()))
            case ("openapi", "v3", *rest):
                return json_response(openapi_document(tuple(rest), self._custom()))
            case ("api",) | ("api", _) | ("apis",) | ("apis", _) | ("apis", _, _) if request.method == "GET":
                return discover(request.path, request.headers, self._custom())
            case ("api", version, *rest):
                return self._of_group("", version, rest, request)
            case ("apis", group, version, *rest):
                return self._of_group(group, version, rest, request)
        raise no_such_path()

    def _custom(self) -> Sequence[Resource]:
        with self.served.locked():
            return self.served.custom()

    def _of_group(self, group: str, version: str, rest: list[str], request: ClientRequest) -> ServerResponse:
        """Answer a request about the resources of a group: `[namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE]]`."""
        namespace: str | None = None
        watches = rest[:1] == ["watch"]
        if watches:
            rest = rest[1:]
        if rest[:1] == ["namespaces"] and len(rest) > 2 and (group or rest[2] not in ("status", "finalize")):
            namespace, rest = rest[1], rest[2:]
        resource = find_resource(group, version, rest[0], self._custom()) if rest else None
        if resource is None or len(rest) > 3 or (namespace is not None and not resource.namespaced):
            raise no_such_path()
        name, subresource = (*rest[1:], "", "")[:2]
        if group == EVENTS:
            return as_served_event(self._of_group("", "v1", list(request.path[3:]), as_core_event(request)))
        if request.method != "GET":
            check_options(request)
        writes = self.leases if resource.kind == LEASE else self.writes
        served = writes.served
        if watches or is_set(request.query, "watch"):
            with served.locked():
                return watch_objects(served, resource, namespace, request, name)
        with served.client(request.client).request(), served.locked():
            return self._of_resource(writes, resource, namespace, name, subresource, request)

    @staticmethod
    def _of_resource(writes: WriteRequests, resource: Resource, namespace: str | None, name: str, subresource: str,
                     request: ClientRequest) -> ServerResponse:
        if name and resource.namespaced and namespace is None:
            raise no_such_path()
        key = Key(resource.kind, namespace or "", name)
        target = Target(resource, key, subresource, request)
        if subresource and subresource not in (known[0] for known in resource.subresources):
            raise no_such_path()
        if "get" not in resource.verbs and request.method != "POST":
            raise _not_allowed()
        match request.method:
            case "GET" if subresource == "scale":
                return writes.scale(target)
            case "GET" if subresource in ("", "status"):
                return (get_object(writes.served, resource, key, request) if name
                        else list_objects(writes.served, resource, namespace, request))  # fmt: skip
            case "POST" if not name:
                return writes.create(target)
            case "POST" if subresource in ("binding", "eviction"):
                return writes.post(target)
            case "PUT" if name:
                return writes.update(target)
            case "PATCH" if name:
                return writes.patch(target)
            case "DELETE" if name and not subresource:
                return writes.delete(target)
            case "DELETE" if not subresource:
                return writes.delete_collection(target, namespace)
        raise _not_allowed()


def _not_allowed() -> StatusError:
    return StatusError("MethodNotAllowed", "the server does not allow this method on the requested resource")

"""Which objects a list or watch asks for: label selectors, and the fields that an API server can select by.

Mirrors the conversion functions of field labels and `GetAttrs` of each kind (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from ..api.kinds.meta import EMPTY
from ..api.kinds.selector import read_label_selector
from .resources import Resource
from .status import StatusError

Matches = Callable[[Any], bool]
_EVERYWHERE: Mapping[str, Callable[[Any], Any]] = {
    "metadata.name": lambda obj: obj.metadata.name,
    "metadata.namespace": lambda obj: obj.metadata.namespace,
}
_INVOLVED = {"kind": "kind", "namespace": "namespace", "name": "name", "uid": "uid", "apiVersion": "api_version",
             "resourceVersion": "resource_version"}  # fmt: skip
_OF_KIND: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "Pod": {
        "spec.nodeName": lambda pod: pod.spec.node_name,
        "spec.restartPolicy": lambda pod: pod.spec.restart_policy,
        "spec.schedulerName": lambda pod: pod.spec.scheduler_name,
        "spec.serviceAccountName": lambda pod: pod.spec.rest.get("serviceAccountName", ""),
        "spec.hostNetwork": lambda pod: pod.spec.rest.get("hostNetwork", getattr(pod.spec, "host_network", False)),
        "status.phase": lambda pod: pod.status.phase,
        "status.podIP": lambda pod: pod.status.rest.get("podIP", ""),
        "status.nominatedNodeName": lambda pod: pod.status.nominated_node_name,
    },
    "Node": {"spec.unschedulable": lambda node: node.spec.unschedulable},
    "Namespace": {"status.phase": lambda namespace: namespace.rest.get("status", EMPTY).get("phase", "Active")},
    "Secret": {"type": lambda secret: secret.rest.get("type", "Opaque")},
    "Job": {"status.successful": lambda job: job.status.succeeded},
    "ReplicaSet": {"status.replicas": lambda found: found.status.replicas},
    "ReplicationController": {"status.replicas": lambda found: found.status.replicas},
    "Event": {
        **{f"involvedObject.{field}": attrgetter(f"involved_object.{name}") for field, name in _INVOLVED.items()},
        "involvedObject.fieldPath": lambda event: event.involved_object.rest.get("fieldPath", ""),
        "reason": lambda event: event.reason,
        "type": lambda event: event.type,
        "source": lambda event: event.source.component or event.rest.get("reportingComponent", ""),
        "reportingComponent": lambda event: event.rest.get("reportingComponent", ""),
    },
}  # fmt: skip


def selector_of(resource: Resource, query: Mapping[str, str], name: str = "") -> Matches | None:
    """Return whether an object is asked for, None if all are.

    Raises:
        StatusError: a selector cannot be read, or names a field that cannot be selected by.
    """
    asked = _fields(resource, query.get("fieldSelector", ""))
    if name:
        asked.append((_EVERYWHERE["metadata.name"], name, True))
    try:
        labels = read_label_selector(query["labelSelector"]) if query.get("labelSelector") else None
    except ValueError as error:
        raise StatusError("BadRequest", f"unable to parse requirement: {error}") from None
    if labels is None and not asked:
        return None

    def matches(obj: Any) -> bool:
        if not all((_text(read(obj)) == value) is wanted for read, value, wanted in asked):
            return False
        return labels is None or labels.matches(obj.metadata.labels)

    return matches


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return "true" if value else "false"
    return str(value)


def _fields(resource: Resource, selector: str) -> list[tuple[Callable[[Any], Any], str, bool]]:
    """Return what reads each selected field, the value, and whether it must be equal."""
    found = []
    for part in filter(None, selector.split(",")):
        field, sign, value = part.partition("=")
        if not sign:
            raise StatusError("BadRequest", f"invalid selector: {selector!r}; can't understand {part!r}")
        equal = not field.endswith("!")
        field = field.removesuffix("!").strip()
        read = _EVERYWHERE.get(field) or _OF_KIND.get(resource.kind, {}).get(field)
        if read is None:
            raise StatusError("BadRequest", f"field label not supported: {field}" if resource.kind in _OF_KIND else
                              f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"')
        found.append((read, value.removeprefix("=").strip(), equal))
    return found

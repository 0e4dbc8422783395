"""Field selectors: by which fields of which kind an API server selects, and whether an object has the values asked for.

Mirrors the conversion functions of field labels and `GetAttrs` of each kind (v1.36.2).
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from ..api.text.convert import to_plain

FIELDS: Mapping[str, tuple[str, ...]] = {  # beside name and namespace
    "Pod": (
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.nominatedNodeName",
    ),
    "Node": ("spec.unschedulable",),
    "Namespace": ("status.phase",),
    "Secret": ("type",),
    "ReplicationController": ("status.replicas",),
    "ReplicaSet": ("status.replicas",),
    "Service": ("spec.clusterIP", "spec.type"),
    "StatefulSet": ("status.successful",),
    "Job": ("status.successful",),
    "Event": (
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
        "reportingComponent", "source", "type",
    ),
}  # fmt: skip
_EVERYWHERE = ("metadata.name", "metadata.namespace")
_WITHOUT_VALUE = {"spec.unschedulable": "false", "spec.hostNetwork": "false", "status.replicas": "0",
                  "type": "Opaque"}  # fmt: skip
_READ: Mapping[str, Callable[[Any], Any]] = {  # those that are asked for many objects, of kinds that have them
    "metadata.name": attrgetter("metadata.name"), "metadata.namespace": attrgetter("metadata.namespace"),
    "spec.nodeName": attrgetter("spec.node_name"), "spec.schedulerName": attrgetter("spec.scheduler_name"),
    "status.phase": lambda obj: (
        obj.status.phase if obj.kind == "Pod" else obj.rest.get("status", {}).get("phase", "Active")),
    "source": lambda event: event.source.component or event.rest.get("reportingComponent", ""),
}  # fmt: skip
Test = tuple[str, str, bool]


def known_fields(kind: str) -> tuple[str, ...]:
    """Return the fields by which objects of a kind can be selected."""
    return (*_EVERYWHERE, *FIELDS.get(kind, ()))


def read_field_selector(kind: str, selector: str) -> list[Test]:
    """Return path, value, and whether it must be equal, of each part of a selector.

    Raises:
        ValueError: a part cannot be read: its text.
        KeyError: objects of the kind cannot be selected by the field: what an API server says of it.
    """
    found = []
    for part in filter(None, selector.split(",")):
        path, sign, value = part.partition("=")
        if not sign:
            raise ValueError(part)
        name = path.removesuffix("!").strip()
        if name not in known_fields(kind):
            raise KeyError(f"field label not supported: {name}" if kind in FIELDS else
                           f'"{name}" is not a known field selector: only "metadata.name", "metadata.namespace"')
        found.append((name, value.removeprefix("=").strip(), not path.endswith("!")))
    return found


def has_fields(obj: Any, tests: list[Test]) -> bool:
    """Say whether an object has the values asked for."""
    return all((_value(obj, path) == value) is equal for path, value, equal in tests)


def _value(obj: Any, path: str) -> str:
    """Return a field of an object as an API server compares it."""
    if path in _READ:
        return str(_READ[path](obj))
    value: Any = to_plain(obj)
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        return _WITHOUT_VALUE.get(path, "")
    return str(value).lower() if isinstance(value, bool) else str(value)

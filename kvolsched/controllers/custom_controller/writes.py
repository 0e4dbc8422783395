"""The writes of a controller of your own: small functions that describe a write, without making it.

A `reconcile` function returns them (see `Cluster.with_controller`); the controller sends them one by one, each in a
turn of its own. A reference is `pod/web-0` or `pod/shop/web-0`. An object that was seen may stand for its reference:
then the write has a precondition. A patch is refused with Conflict if the object has changed since, a deletion or a
binding if another object has the name now.
"""

from collections.abc import Mapping
from typing import Any

import attrs

from ...api.kinds.kind import KINDS_BY_NAME
from ...api.kinds.meta import evolve_parts, thaw
from ...api.text import manifest
from ...api.workloads import controller_reference
from ...world.apiserver import Write, key_for, key_of, ref
from ...world.log import Key
from ...world.manifest_patch import ManifestPatch

EVENT_TYPES = ("Normal", "Warning")


@attrs.frozen
class EventRecord:
    """An Event to record: with the turn of the write before it, or at once if none stands before it."""

    about: Key
    reason: str
    message: str
    type: str = "Normal"


@attrs.frozen
class Again:
    """A request to reconcile an object again after some seconds; a run does not wait for a periodic one."""

    seconds: float
    about: Key | None = None
    periodic: bool = False


Action = Write | EventRecord | Again


def create(manifest_or_object: Any, *, owner: Any = None) -> Write:
    """Create an object from a mapping, a YAML text or an object.

    Args:
        manifest_or_object: one manifest with apiVersion, kind and a name.
        owner: an object that becomes the new one's controller; the garbage collector deletes it with its owner.

    Raises:
        ManifestError: every fault of the manifest.
        ValueError: it is not exactly one object of a modelled kind with a name.

    >>> create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}).subject
    'ns/shop'
    """
    obj = manifest_or_object if _is_object(manifest_or_object) else _one_object(manifest_or_object)
    if not obj.metadata.name:
        raise ValueError(f"create: give the {obj.kind} a name; generateName is not supported here")
    if owner is not None:
        if not _is_object(owner):
            raise ValueError(f"create: the owner is an object as seen.get returns it, not {owner!r}")
        owners = (*obj.metadata.owner_references, controller_reference(owner))
        namespace = obj.metadata.namespace or owner.metadata.namespace
        obj = evolve_parts(obj, metadata={"owner_references": owners, "namespace": namespace})
    return Write("create", key_of(obj), obj)


def patch(ref: Any, changes: Any, *, kind: str = "merge", version: Any = None, subresource: str = "") -> Write:
    """Patch an object; admission treats the result as an update, and the status stays.

    Args:
        ref: a reference, or an object that was seen: then the write is refused if it has changed since.
        changes: a mapping or YAML text; a list of operations for a JSON patch.
        kind: "merge" (RFC 7386: mappings merge, lists are replaced, None removes), "strategic" (lists merge by their
            keys) or "json" (RFC 6902).
        version: the object, or its resourceVersion, that this write builds on.
        subresource: "status" to patch the status, and nothing else.

    Raises:
        KeyError: the reference names no known kind.
        ValueError: there is no such kind of patch, or the changes are no plain data.

    >>> patch("pod/web-0", {"spec": {"schedulingGates": []}}).subject
    'pod/web-0'
    """
    data = _one_document(changes) if isinstance(changes, str) else _plain(changes, "the patch")
    wanted: type = list if kind == "json" else dict
    if not isinstance(data, wanted):
        form = "a list of operations" if kind == "json" else "a mapping of fields"
        raise ValueError(f"patch: a {kind} patch is {form}, not {data!r}")  # noqa: TRY004 - as of any bad value
    base = version if version is not None else ref if _is_object(ref) else 0
    return Write("patch", _key(ref, "patch"), ManifestPatch(data, kind, subresource), version=_version(base))


def delete(ref: Any, grace: int | None = None) -> Write:
    """Delete an object; the API server decides on grace, finalizers and dependants.

    Args:
        ref: a reference, or an object that was seen: then a later object of its name is not deleted.
        grace: the grace period in seconds; None for the object's own.

    >>> delete("pvc/shop/data").subject
    'pvc/shop/data'
    """
    if grace is not None and not (_is_number(grace) and grace >= 0 and grace == int(grace)):
        raise ValueError(f"delete: the grace period is a number of seconds from 0, not {grace!r}")
    return Write("delete", _key(ref, "delete"), grace, uid=ref.metadata.uid if _is_object(ref) else "")


def bind(pod_ref: Any, node: Any) -> Write:
    """Bind a pod to a node, as a scheduler does, through the subresource pods/binding.

    Args:
        pod_ref: a reference, or the pod as it was seen: then a later pod of its name is not bound.
        node: the node, its name or its reference.

    >>> bind("pod/web-0", "node/node-a").new
    'node-a'
    """
    key = _key(pod_ref, "bind")
    if key.kind != "Pod":
        raise ValueError(f"bind: only a pod is bound to a node, not {ref(key)}")
    name = node.metadata.name if _is_object(node) else node.removeprefix("node/") if isinstance(node, str) else node
    if not isinstance(name, str) or not name:
        raise ValueError(f"bind: a node is named by its name, not by {node!r}")
    return Write("bind", key, name, uid=pod_ref.metadata.uid if _is_object(pod_ref) else "")


def event(about_ref: Any, reason: str, message: str, type: str = "Normal") -> EventRecord:
    """Record an Event about an object; after a write only if that write is committed.

    Args:
        about_ref: the object or its reference.
        reason: one word such as `Admitted`.
        message: a sentence.
        type: "Normal" or "Warning".

    >>> event("pod/web-0", "Admitted", "The queue admits the pod.").type
    'Normal'
    """
    if type not in EVENT_TYPES:
        raise ValueError(f"event: the type is Normal or Warning, not {type!r}")
    if not (_is_text(reason) and _is_text(message) and reason):
        raise ValueError(f"event: reason and message are texts, not {reason!r} and {message!r}")
    return EventRecord(_key(about_ref, "event"), reason, message, type)


def again(seconds: float, ref: Any = None, *, periodic: bool = False) -> Again:
    """Ask for the object, or for another one, to be reconciled again after some seconds of simulated time.

    Args:
        seconds: how long to wait; 0 only for another object.
        ref: the other object or its reference.
        periodic: `run` does not wait for it.

    >>> again(30).seconds
    30.0
    """
    if not (_is_number(seconds) and 0 <= seconds < float("inf")):
        raise ValueError(f"again: wait a number of seconds, not {seconds!r}")
    if not seconds and ref is None:
        raise ValueError("again: wait more than 0 seconds, or the controller would do nothing else")
    return Again(float(seconds), None if ref is None else _key(ref, "again"), periodic)


def describe_action(action: Action) -> str:
    """Return what a value of this module asks for, in a line."""
    match action:
        case EventRecord():
            return f"event {action.reason} about {ref(action.about)}: {action.message}"
        case Again():
            return f"again in {action.seconds:g} s{f' for {ref(action.about)}' if action.about else ''}"
    what = thaw(action.new.data) if isinstance(action.new, ManifestPatch) else action.new
    what = manifest.to_plain(what) if _is_object(what) else what
    return f"{action.verb} {action.subject}{f' {what!r}' if what is not None else ''}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    kind = KINDS_BY_NAME.get(getattr(value, "kind", None) or "")
    return kind is not None and isinstance(value, kind.type)


def _key(reference: Any, function: str) -> Key:
    """Return the key of an object or of a reference.

    Raises:
        KeyError: it names no known kind.
        ValueError: it is neither a reference nor an object.
    """
    if _is_object(reference):
        return key_of(reference)
    if not isinstance(reference, str):
        raise ValueError(f"{function}: name an object by a reference such as 'pod/web-0', not {reference!r}")  # noqa: TRY004
    return key_for(reference)


def _version(base: Any) -> int:
    if _is_object(base):
        return int(base.metadata.resource_version)
    if isinstance(base, bool) or not str(base).isdigit():
        raise ValueError(f"patch: the version is an object that was seen, or its resourceVersion, not {base!r}")
    return int(base)


def _one_object(source: Any) -> Any:
    read = manifest.read(_plain(source, "the manifest") if isinstance(source, Mapping) else source)
    if len(read.objects) != 1 or read.others:
        given = [obj.kind for obj in read.objects] + [str(other.get("kind")) for other in read.others]
        raise ValueError(f"create: wants one object of a modelled kind, got {', '.join(given) or 'none'}")
    return read.objects[0]


def _one_document(text: str) -> Any:
    documents = manifest.read_plain(text, "the patch")
    if len(documents) != 1:
        raise ValueError(f"patch: the text has {len(documents)} documents; a patch is one")
    return documents[0]


def _plain(value: Any, place: str) -> Any:
    """Return plain data of mappings, lists and API values.

    Raises:
        ValueError: it has another value inside.
    """
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{place}[{number}]") for number, item in enumerate(value)]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if attrs.has(type(value)):
        return manifest.to_plain(value)
    what = f"a {type(value).__name__}"
    raise ValueError(f"{place} holds {what}: only texts, numbers, True, False, None, lists and mappings can be sent")


__all__ = ["Action", "Again", "EventRecord", "again", "bind", "create", "delete", "describe_action", "event", "patch"]

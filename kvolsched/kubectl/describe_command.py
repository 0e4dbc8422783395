"""`kubectl describe` of a simulated cluster: the text of kubectl v1.36.2, byte for byte.

Reads the objects that the API server stores, never what a component believes, and changes nothing.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..core.core import ClusterCore
from ..world.log import Key
from .formatting import align_columns
from .output import Description
from .printers import PRINTERS
from .printers.events import event_lines, events_of
from .printers.printer import DescribeContext
from .resource_lookup import empty_message, find_keys, lookup_kind, named_key, object_not_found

WITHOUT_EVENTS = frozenset({"Namespace", "ResourceQuota", "LimitRange"})


def describe(cluster: ClusterCore, reference: str, name: str = "", namespace: str = "default", *,
             now: datetime | None = None) -> Description:
    """Describe objects as `kubectl describe` prints them: a reference such as `pod/web-0`, or kind and name apart.

    A name that no object has stands for all names that begin with it; without a name, every object of the kind.

    Raises:
        ResourceNotFound: no modelled kind has this name, or no object; in kubectl's words. It is a KeyError.
        UnknownName: the reference is none, or several objects have this name. It is a KeyError.
    """
    named = None if name else named_key(cluster.world.log.objects, reference, namespace)
    if named is not None:
        return Description(describe_object(cluster.world.log.objects, named, now or cluster.world.date))
    parts = [reference, namespace, name] if "/" not in reference else reference.split("/")
    word, *within, name = parts
    kind, namespace = lookup_kind(word), within[0] if within else namespace
    objects = cluster.world.log.objects
    keys = find_keys(objects, kind, namespace)
    chosen = [key for key in keys if key.name == name] or [key for key in keys if key.name.startswith(name)]
    if not chosen and name:
        raise object_not_found(objects, kind, namespace, name)
    texts = [describe_object(objects, key, now or cluster.world.date) for key in chosen]
    return Description("\n\n\n".join(texts) or empty_message(kind, namespace))


def describe_object(objects: Mapping[Key, Any], key: Key, now: datetime) -> str:
    """Return what `kubectl describe` prints of the object with this key.

    Raises:
        KeyError: there is no such object.
    """
    obj, context = objects[key], DescribeContext(objects, now)
    lines = list(PRINTERS[key.kind].lines(obj, context))
    if key.kind not in WITHOUT_EVENTS:
        lines += event_lines(events_of(obj, context), now)
    return align_columns(lines)

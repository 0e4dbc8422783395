"""`kubectl get` and `kubectl describe` of a simulated cluster: the text of kubectl v1.36.2, byte for byte.

Reads the objects that the API server stores, never what a component believes, and changes nothing. Ages are counted
on the simulated clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..api.kinds.kind import Kind
from ..core.core import ClusterCore
from ..world.log import Key
from ..world.namespaces import ReadObjects
from .formatting import align_columns, format_labels
from .output import Description, Listing, Listings
from .printers import printer_of
from .printers.events import event_lines, events_of
from .printers.printer import DescribeContext
from .resource_lookup import empty_message, find_keys, lookup_kind, named_key, object_not_found
from .serialize import serialize

ALL_RESOURCES = (
    "pods", "replicationcontrollers", "services", "daemonsets", "deployments", "replicasets", "statefulsets",
    "jobs",
)  # fmt: skip
OUTPUT_FORMATS = ("wide", "yaml", "json", "name")


def get(  # noqa: PLR0913 - as many as kubectl has
    cluster: ClusterCore,
    kind: str,
    namespace: str = "default",
    *,
    name: str | Sequence[str] = "",
    wide: bool = False,
    all_namespaces: bool = False,
    show_labels: bool = False,
    output: str = "",
    now: datetime | None = None,
) -> Listing | Listings | Description:
    """List objects as `kubectl get` prints them.

    Args:
        cluster: its present objects are listed.
        kind: `pods`, `pvc`, `sts.apps`, several separated by commas, `all`, or an object: `pod/web-0`, `demo/web-0`.
        namespace: as `-n`.
        name: only these objects, in this order.
        wide: as `-o wide`.
        all_namespaces: as `-A`.
        show_labels: as `--show-labels`.
        output: as `-o`: `wide`, `yaml`, `json` or `name`.
        now: the time to which ages are counted; None is the cluster's clock.

    Raises:
        ResourceNotFound: no modelled kind has this name, or no object; in kubectl's words. It is a KeyError.
        UnknownName: the reference is none, or several objects have this name. It is a KeyError.
        ValueError: there is no such output format, or names are given for all namespaces.
    """
    if output not in ("", *OUTPUT_FORMATS):
        raise ValueError(f"unable to match a printer suitable for the output format {output!r}, "
                         f"allowed formats are: {', '.join(OUTPUT_FORMATS)}")  # fmt: skip
    objects = ReadObjects(cluster.world.log)
    if not name and not all_namespaces and (key := named_key(cluster.world.log.objects, kind, namespace)) is not None:
        kind, namespace = f"{lookup_kind(key.kind, objects).plural}/{key.name}", key.namespace or namespace
    words, _, name_in_kind = kind.partition("/")
    names = [name_in_kind] if name_in_kind else [name] if isinstance(name, str) and name else list(name)
    if name_in_kind and name:
        raise ValueError("error: there is no need to specify a resource type as a separate argument when passing "
                         "arguments in resource/name form")  # fmt: skip
    if names and all_namespaces:
        raise ValueError("error: a resource cannot be retrieved by name across all namespaces")
    kinds = [lookup_kind(word, objects) for word in (ALL_RESOURCES if words == "all" else words.split(",")) if word]
    scope = None if all_namespaces else namespace
    keys_by_kind = [(kind, find_keys(objects, kind, scope, names)) for kind in kinds]
    if output in ("yaml", "json", "name"):
        items = [objects[key] for _, keys in keys_by_kind for key in keys]
        return Description(serialize(items, output, as_list=len(names) != 1 or len(kinds) != 1))
    tables = tuple(
        make_table(objects, kind, keys, scope, now or cluster.world.date, wide=wide or output == "wide",
               show_labels=show_labels, prefixed=len(kinds) > 1)
        for kind, keys in keys_by_kind
    )  # fmt: skip
    return tables[0] if len(tables) == 1 else Listings(tables)


def make_table(  # noqa: PLR0913 - as many as kubectl has
               objects: Mapping[Key, Any], kind: Kind, keys: Sequence[Key], namespace: str | None, now: datetime, *,
               wide: bool, show_labels: bool, prefixed: bool = False, labels: Sequence[str] = ()) -> Listing:
    """Return the table of these objects of a kind.

    A namespace of None adds the column NAMESPACE, `labels` a column for the values of each of these keys.
    """
    table = printer_of(kind.name, kind.defined)
    shown = [index for index, name in enumerate(table.columns) if wide or name not in table.wide_columns]
    name_column = table.columns.index("NAME")
    with_namespace = kind.namespaced and namespace is None

    def line(namespace: str, cells: Sequence[str], values: Iterable[str], all_labels: str) -> tuple[str, ...]:
        middle = [cells[index] for index in shown]
        return (*([namespace] if with_namespace else []), *middle, *values, *([all_labels] if show_labels else []))

    def cells(obj: Any) -> Sequence[str]:
        row = table.row(obj, now)
        if prefixed:
            row[name_column] = f"{kind.singular}/{row[name_column]}"
        return row

    found = [(obj, obj.metadata.labels) for obj in map(objects.__getitem__, keys)]
    rows = [line(obj.metadata.namespace, cells(obj), (mine.get(key, "") for key in labels), format_labels(mine))
            for obj, mine in found]  # fmt: skip
    columns = line("NAMESPACE", table.columns, (key.rpartition("/")[2].upper() for key in labels), "LABELS")
    return Listing(columns, tuple(tuple(map(_first_line, row)) for row in rows), empty_message(kind, namespace))


def _first_line(text: str) -> str:
    """Return the first line of a cell, with dots if more lines follow."""
    first = text.replace("\r", "\n").replace("\f", "\n").split("\n", 1)[0]
    return first if first == text else f"{first}..."


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
        return Description(describe_object(ReadObjects(cluster.world.log), named, now or cluster.world.date))
    parts = [reference, namespace, name] if "/" not in reference else reference.split("/")
    word, *within, name = parts
    objects = ReadObjects(cluster.world.log)
    kind, namespace = lookup_kind(word, objects), within[0] if within else namespace
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
    lines = list(printer_of(key.kind).lines(obj, context))
    if key.kind not in WITHOUT_EVENTS:
        lines += event_lines(events_of(obj, context), now)
    return align_columns(lines)

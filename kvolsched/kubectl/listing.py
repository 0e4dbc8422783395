"""`get` and `describe`: what kubectl would print of a simulated cluster, byte for byte.

Reads the objects that the API server has now, never what a component believes; asks nothing else and changes nothing.
The text is kubectl's v1.36.2 at the moment of the simulated clock, so ages are those of the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from ..api.kind import Kind, kind_named
from ..cluster import Cluster
from ..world.apiserver import key_for
from ..world.log import Key
from .describing import description, in_order
from .kinds import TABLES
from .text import aligned, labelled

LEAST, PADDING = 6, 3  # of a column of `kubectl get`


@attrs.frozen(repr=False)
class Listing:
    """What `kubectl get` prints: columns and rows, or the sentence that there is nothing."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    nothing: str = "No resources found"

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        if not self.rows:
            return self.nothing
        return aligned(["\t".join(row) for row in (self.columns, *self.rows)], LEAST, PADDING)


@attrs.frozen(repr=False)
class Description:
    """What `kubectl describe` prints of one object."""

    text: str

    def __repr__(self) -> str:
        return self.text


def get(
    cluster: Cluster,
    kind: str,
    namespace: str = "default",
    *,
    wide: bool = False,
    all_namespaces: bool = False,
    show_labels: bool = False,
) -> Listing:
    """List the objects of a kind (`pods`, `pvc`, ...) in a namespace as `kubectl get` prints them.

    `wide` is `-o wide`, `all_namespaces` is `-A`, `show_labels` is `--show-labels`.

    Raises:
        KeyError: no modelled kind has this name.
    """
    return listing(
        cluster.world.log.objects,
        kind_named(kind),
        None if all_namespaces else namespace,
        cluster.moment,
        wide=wide,
        show_labels=show_labels,
    )


def describe(cluster: Cluster, reference: str) -> Description:
    """Describe one object, such as `pod/web-0` or `pvc/shop/data`, as `kubectl describe` prints it.

    Raises:
        KeyError: there is no such object; the message says which there are.
    """
    if reference not in cluster:
        cluster[reference]  # refuses, and says which there are
    return Description(description(cluster.world.log.objects, key_for(reference), cluster.moment))


def listing(
    objects: Mapping[Key, Any],
    kind: Kind,
    namespace: str | None,
    now: datetime,
    *,
    wide: bool = False,
    show_labels: bool = False,
) -> Listing:
    """List these objects of a kind, as of this moment; a namespace of None stands for all."""
    everywhere = namespace is None or not kind.namespaced
    keys = sorted(key for key in objects if key.kind == kind.name and (everywhere or key.namespace == namespace))
    found = [objects[key] for key in keys]
    if kind.name == "Event":
        found = in_order((key, objects[key]) for key in keys)
    table = TABLES[kind.name]
    shown = table.shown(wide=wide)
    named = kind.namespaced and namespace is None

    def line(namespace: str, cells: Sequence[str], labels: str) -> tuple[str, ...]:
        said = [cells[place] for place in shown]
        return (*([namespace] if named else []), *said, *([labels] if show_labels else []))

    rows = [line(obj.metadata.namespace, table.row(obj, now), labelled(obj.metadata.labels)) for obj in found]
    nothing = "No resources found" if everywhere else f"No resources found in {namespace} namespace."
    columns = line("NAMESPACE", table.columns, "LABELS")
    return Listing(columns, tuple(tuple(map(_cell, row)) for row in rows), nothing)


def _cell(text: str) -> str:
    """Return a cell of a table: only its first line, and dots if more follows."""
    first = text.replace("\r", "\n").replace("\f", "\n").split("\n", 1)[0]
    return first if first == text else f"{first}..."

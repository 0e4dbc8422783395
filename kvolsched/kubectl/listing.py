"""`get` and `describe`: what kubectl would print of a simulated cluster, byte for byte.

Reads the objects that the API server has now, never what a component believes; asks nothing else and changes nothing.
The text is kubectl's v1.36.2 at the moment of the simulated clock, so ages are those of the simulation. What is not
there is refused in kubectl's words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import attrs

from ..api.kinds.kind import Kind, kind_named
from ..api.text.convert import to_plain
from ..api.text.manifest import write
from ..cluster_core import ClusterCore
from ..world.apiserver import key_of
from ..world.log import Key
from .describe_sections.description import description, in_order
from .get_tables.other_kinds import TABLES
from .text import aligned, labelled

LEAST, PADDING = 6, 3  # of a column of `kubectl get`
NAMED = 12  # names that a refusal lists
ALL = ("pods", "replicationcontrollers", "services", "daemonsets", "deployments", "replicasets", "statefulsets")
FORMS = ("", "wide", "yaml", "json", "name")


class NotThere(KeyError):
    """Nothing has this kind or name: kubectl's words, and what there is instead."""

    def __init__(self, words: str, hint: str = "") -> None:
        super().__init__(f"{words} ({hint})" if hint else words)
        self.words = words
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


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
class Listings:
    """What `kubectl get pods,pvc` prints: a table a kind, those with nothing in them left out."""

    tables: tuple[Listing, ...]

    def __len__(self) -> int:
        return sum(map(len, self.tables))

    def __repr__(self) -> str:
        shown = [repr(table) for table in self.tables if table.rows]
        return "\n\n".join(shown) or (self.tables[0].nothing if self.tables else "No resources found")


@attrs.frozen(repr=False)
class Description:
    """What `kubectl describe` prints of one object, or `kubectl get -o yaml` of some."""

    text: str

    def __repr__(self) -> str:
        return self.text


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
        cluster: as it is now.
        kind: `pods`, `pvc`, `sts.apps`, several parted by commas, `all`, or `pod/web-0`.
        namespace: as `-n`.
        name: only these objects, in this order.
        wide: as `-o wide`.
        all_namespaces: as `-A`.
        show_labels: as `--show-labels`.
        output: as `-o`: `wide`, `yaml`, `json` or `name`.
        now: ages are counted to here; None is the cluster's own clock.

    Raises:
        NotThere: no modelled kind has this name, or no object; in kubectl's words. It is a KeyError.
        ValueError: the output has no such form, or names are asked for in all namespaces.
    """
    if output not in FORMS:
        raise ValueError(f"unable to match a printer suitable for the output format {output!r}, "
                         f"allowed formats are: {', '.join(FORMS[1:])}")  # fmt: skip
    words, _, named = kind.partition("/")
    names = [named] if named else [name] if isinstance(name, str) and name else list(name)
    if named and name:
        raise ValueError("error: there is no need to specify a resource type as a separate argument when passing "
                         "arguments in resource/name form")  # fmt: skip
    if names and all_namespaces:
        raise ValueError("error: a resource cannot be retrieved by name across all namespaces")
    kinds = [_kind(word) for word in (ALL if words == "all" else words.split(",")) if word]
    objects = cluster.world.log.objects
    scope = None if all_namespaces else namespace
    found = [(kind, _keys(objects, kind, scope, names)) for kind in kinds]
    if output in ("yaml", "json", "name"):
        keys = [key for _, keys in found for key in keys]
        return Description(_written([objects[key] for key in keys], output, whole=len(names) != 1 or len(kinds) != 1))
    tables = tuple(
        _table(
            objects, kind, keys, scope, now or cluster.moment, wide=wide or output == "wide", show_labels=show_labels,
            prefixed=len(kinds) > 1,
        )
        for kind, keys in found
    )  # fmt: skip
    return tables[0] if len(tables) == 1 else Listings(tables)


def describe(
    cluster: ClusterCore, reference: str, name: str = "", namespace: str = "default", *, now: datetime | None = None
) -> Description:
    """Describe objects as `kubectl describe` prints them: `pod/web-0`, `pvc/shop/data`, or kind and name apart.

    A name that nothing has stands for all names that begin with it; without a name, every object of the kind.

    Raises:
        NotThere: no modelled kind has this name, or no object; in kubectl's words. It is a KeyError.
    """
    parts = [reference, namespace, name] if "/" not in reference else reference.split("/")
    word, *within, name = parts
    if len(parts) > 3:
        raise NotThere(f"{reference!r} is no reference", "write KIND/NAME or KIND/NAMESPACE/NAME")
    kind, scope = _kind(word), within[0] if within else namespace
    objects = cluster.world.log.objects
    keys = _keys(objects, kind, scope, [])
    chosen = [key for key in keys if key.name == name] or [key for key in keys if key.name.startswith(name)]
    if not chosen and name:
        raise _missing(objects, kind, scope, name)
    texts = [description(objects, key, now or cluster.moment) for key in chosen]
    return Description("\n\n\n".join(texts) or _nothing(kind, scope))


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
    keys = _keys(objects, kind, namespace, [])
    return _table(objects, kind, keys, namespace, now, wide=wide, show_labels=show_labels)


def _kind(word: str) -> Kind:
    try:
        return kind_named(word)
    except KeyError as error:
        hint = str(error.args[0]).partition("; ")[2]
        raise NotThere(f'error: the server doesn\'t have a resource type "{word}"', hint) from None


def _keys(objects: Mapping[Key, Any], kind: Kind, namespace: str | None, names: Sequence[str]) -> list[Key]:
    """Return the keys of a kind in the order in which kubectl lists them, or of these names in theirs."""
    everywhere = namespace is None or not kind.namespaced
    if names:
        keys = [Key(kind.name, (namespace or "") if kind.namespaced else "", name) for name in names]
        for key in keys:
            if key not in objects:
                raise _missing(objects, kind, namespace or "", key.name)
        return keys
    keys = sorted(key for key in objects if key.kind == kind.name and (everywhere or key.namespace == namespace))
    if kind.name == "Event":
        keys = [key_of(event) for event in in_order((key, objects[key]) for key in keys)]
    return keys


def _missing(objects: Mapping[Key, Any], kind: Kind, namespace: str, name: str) -> NotThere:
    words = f'Error from server (NotFound): {kind.resource} "{name}" not found'
    elsewhere = [key.namespace for key in sorted(objects) if key.kind == kind.name and key.name == name]
    if elsewhere:
        return NotThere(words, f"in namespace {namespace}; there is one in {', '.join(elsewhere)}")
    here = [key.name for key in _keys(objects, kind, namespace, [])]
    more = f" and {len(here) - NAMED} more" if len(here) > NAMED else ""
    return NotThere(words, f"there are: {', '.join(here[:NAMED]) or 'none of that kind'}{more}")


def _nothing(kind: Kind, namespace: str | None) -> str:
    everywhere = namespace is None or not kind.namespaced
    return "No resources found" if everywhere else f"No resources found in {namespace} namespace."


def _table(
    objects: Mapping[Key, Any],
    kind: Kind,
    keys: Sequence[Key],
    namespace: str | None,
    now: datetime,
    *,
    wide: bool,
    show_labels: bool,
    prefixed: bool = False,
) -> Listing:
    table = TABLES[kind.name]
    shown = table.shown(wide=wide)
    called = table.columns.index("NAME")
    with_namespace = kind.namespaced and namespace is None

    def line(namespace: str, cells: Sequence[str], labels: str) -> tuple[str, ...]:
        said = [cells[place] for place in shown]
        return (*([namespace] if with_namespace else []), *said, *([labels] if show_labels else []))

    def cells(obj: Any) -> Sequence[str]:
        row = list(table.row(obj, now))
        if prefixed:
            row[called] = f"{kind.singular}/{row[called]}"
        return row

    found = [objects[key] for key in keys]
    rows = [line(obj.metadata.namespace, cells(obj), labelled(obj.metadata.labels)) for obj in found]
    columns = line("NAMESPACE", table.columns, "LABELS")
    return Listing(columns, tuple(tuple(map(_cell, row)) for row in rows), _nothing(kind, namespace))


def _written(found: Sequence[Any], form: str, *, whole: bool) -> str:
    """Return objects as `-o yaml`, `-o json` or `-o name` writes them; several, or all of a kind, become one List."""
    if form == "name":
        return "\n".join(f"{kind_named(one.kind).singular}/{one.metadata.name}" for one in found)
    if not whole:
        return write(found, form).rstrip("\n")
    items = [to_plain(one) for one in found]
    several = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    if form == "json":
        return json.dumps(several, indent=4, ensure_ascii=False, sort_keys=True)
    return write(several, form).rstrip("\n")


def _cell(text: str) -> str:
    """Return a cell of a table: only its first line, and dots if more follows."""
    first = text.replace("\r", "\n").replace("\f", "\n").split("\n", 1)[0]
    return first if first == text else f"{first}..."

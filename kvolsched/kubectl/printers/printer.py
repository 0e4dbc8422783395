"""What kubectl knows of a kind: the columns of its table, the row of an object, and its description.

Mirrors `pkg/printers/internalversion/printers.go` and kubectl's `pkg/describe/describe.go` (v1.36.2): pure functions of
the objects and the time of the request. A simulated cluster has no leases.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import attrs

from ...api.kinds.kind import find_kind
from ...api.kinds.pod import Pod
from ...api.text.convert import to_plain
from ...world.log import Key
from ..formatting import annotation_lines, format_age, go_string, label_lines


@attrs.frozen
class DescribeContext:
    """Every object of the cluster, and the time to which ages are counted."""

    objects: Mapping[Key, Any]
    now: datetime

    def objects_of(self, kind: str, namespace: str | None = None) -> list[Any]:
        """Return the objects of a kind, in one namespace or all, in the order of their keys."""
        keys = sorted(key for key in self.objects if key.kind == kind and namespace in (None, key.namespace))
        return [self.objects[key] for key in keys]

    def controlled_by(self, owner: Any, kind: str) -> list[Any]:
        """Return the objects of a kind whose controller is this owner."""
        meta = owner.metadata
        return [obj for obj in self.objects_of(kind, meta.namespace)
                if (controller := obj.metadata.controller) is not None and controller.uid == meta.uid]

    def pods_status(self, owner: Any) -> str:
        """Return `Pods Status`: how many pods that a workload controls and selects are in which phase."""
        selector = owner.spec.selector
        pods: list[Pod] = [pod for pod in self.controlled_by(owner, "Pod")
                           if selector is None or _matches(selector, pod.metadata.labels)]
        phases = [pod.status.phase for pod in pods]
        words = (("Running", "Running"), ("Pending", "Waiting"), ("Succeeded", "Succeeded"), ("Failed", "Failed"))
        return " / ".join(f"{phases.count(phase)} {word}" for phase, word in words)


def _matches(selector: Any, labels: Mapping[str, str]) -> bool:
    if isinstance(selector, Mapping):  # a ReplicationController's selector is a plain map
        return all(labels.get(key) == value for key, value in selector.items())
    return bool(selector.matches(labels))


def describe_any_kind(obj: Any, context: DescribeContext) -> Iterator[str]:
    """Yield every field of an object under a readable label."""
    plain = to_plain(obj)
    meta = plain.get("metadata", {})
    yield from label_lines("Labels", meta.get("labels", {}))
    yield from annotation_lines("Annotations", meta.get("annotations", {}))
    shown = {name: value for name, value in meta.items() if name not in SHOWN_BEFORE}
    yield from _tree({**plain, "metadata": shown}, "")


def _tree(content: Mapping[str, Any], indent: str) -> Iterator[str]:
    for field, value in sorted(content.items()):
        if isinstance(value, dict):
            yield f"{indent}{_label(field)}:"
            yield from _tree(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{_label(field)}:"
            for child in value:
                if isinstance(child, dict):
                    yield from _tree(child, f"{indent}  ")
                else:
                    yield f"{indent}  {go_string(child)}"
        else:
            yield f"{indent}{_label(field)}:\t{go_string(value)}"


SHOWN_BEFORE = ("name", "namespace", "labels", "annotations", "managedFields")  # the last one by nobody
ACRONYMS = ("API", "URL", "UID", "OSB", "GUID")


def _label(field: str) -> str:
    if not re.fullmatch(r"[A-Za-z-]*", field):
        return field
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|-", field)
    return " ".join(part.upper() if part.upper() in ACRONYMS else part[:1].upper() + part[1:] for part in parts)


def object_age(obj: Any, now: datetime) -> str:
    """Return the AGE of an object."""
    return format_age(obj.metadata.creation_timestamp, now)


Cell = str | Callable[[datetime], str]
OF_ANY_KIND: Mapping[str, Callable[[Any, datetime], str]] = {
    "NAME": lambda obj, _now: str(obj.metadata.name), "AGE": object_age}  # fmt: skip


@attrs.frozen
class Printer:
    """What kubectl prints of a kind.

    Args:
        columns: the columns of its table.
        cells: the cells of an object but for those of `of_any`, in order; one may be a function of the time.
        describe: the lines of its description after name and namespace.
        wide_columns: those that only `-o wide` shows.
        of_any: the columns that need no cell.
    """

    columns: tuple[str, ...]
    cells: Callable[[Any], Iterable[Cell]]
    describe: Callable[[Any, DescribeContext], Iterator[str]] = describe_any_kind
    wide_columns: frozenset[str] = frozenset()
    of_any: Mapping[str, Callable[[Any, datetime], str]] = OF_ANY_KIND

    def row(self, obj: Any, now: datetime) -> list[str]:
        """Return the row of an object."""
        cells = iter(self.cells(obj))
        return [self.of_any[name](obj, now) if name in self.of_any else cell(now) if callable(cell := next(cells))
                else cell for name in self.columns]  # fmt: skip

    def lines(self, obj: Any, context: DescribeContext) -> Iterator[str]:
        """Yield the lines of an object's description."""
        yield f"Name:\t{obj.metadata.name}"
        if self.describe is describe_any_kind or find_kind(obj.kind).namespaced:
            yield f"Namespace:\t{obj.metadata.namespace}"
        yield from self.describe(obj, context)


def printer(heads: str, cells: Callable[[Any], Iterable[Cell]], describe: Any = describe_any_kind,
            **columns: Any) -> Printer:
    """Return a printer whose columns stand two spaces apart, in brackets those that only `-o wide` shows."""
    names = {head.strip("[]"): head[0] == "[" for head in heads.split("  ")}
    wide = frozenset(name for name, is_wide in names.items() if is_wide)
    return Printer(tuple(names), cells, describe, wide, {**OF_ANY_KIND, **columns})


def controller_of(obj: Any) -> str:
    """Return the owner that controls an object, `Kind/name`; "" for none."""
    owner = obj.metadata.controller
    return f"{owner.kind}/{owner.name}" if owner is not None else ""


def metadata_lines(obj: Any) -> Iterator[str]:
    """Yield the labels and annotations of an object's description."""
    yield from label_lines("Labels", obj.metadata.labels)
    yield from annotation_lines("Annotations", obj.metadata.annotations)

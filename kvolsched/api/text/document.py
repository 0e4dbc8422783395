"""Documents of a manifest as plain data: split lists, check kind and name, decode, find duplicates.

Returns problems without lines; `manifest` finds the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..kinds.kind import KINDS_BY_NAME
from ..kinds.meta import Frozen
from ..kinds.storage_class import StorageClass
from ..kinds.volume import PersistentVolume, PersistentVolumeClaim
from .convert import decode, schema
from .dump_checks import DUMP_COMMAND
from .fault import Problem, format_path, format_value, suggest_nearest

_NAMES = ("name", "Name", "generateName", "namespace")


@attrs.frozen
class Document:
    """One object as plain data, and its place in the source."""

    data: Any
    source: str
    number: int = 0
    text: str | None = None
    json: bool = False
    inside: tuple[str | int, ...] = ()  # path in the document: ("items", 3) of a List
    kind: tuple[str, str] = ("", "")  # apiVersion and kind that a PodList gives to its items
    length: float = 0  # share of the characters of a JSON text, for the progress bar

    def named(self) -> Document:
        """Return this document with no more of its data than what its object is called by."""
        data, metadata = self.data, self.data.get("metadata")
        kept = {word: data[word] for word in ("apiVersion", "kind") if word in data}
        if isinstance(metadata, dict):
            kept["metadata"] = {word: metadata[word] for word in _NAMES if word in metadata}
        return attrs.evolve(self, data=kept)


def count_objects(document: Document) -> int:
    """Return how many objects a document has at its top: its items, if it is a list, else one."""
    items = document.data.get("items") if isinstance(document.data, dict) else None
    return max(1, len(items)) if isinstance(items, list | tuple) else 1


def split_objects(document: Document) -> Iterator[tuple[Document, Problem | None]]:
    """Yield the objects of a document (the document, or the items of a List or PodList), or what is wrong with it."""
    data = document.data
    if not isinstance(data, dict):
        hint = f"; a printed table lacks most fields, use {DUMP_COMMAND}" if str(data).startswith("NAME ") else ""
        yield document, Problem((), "type", data, f"wants an object, got {format_value(data)}{hint}")
        return
    api_version, kind = data.get("apiVersion") or document.kind[0], data.get("kind") or document.kind[1]
    if isinstance(kind, str) and kind.endswith("List") and ("items" in data or kind == "List"):
        items = data.get("items")
        if items is not None and not isinstance(items, list | tuple):
            yield document, Problem(("items",), "type", items, f"wants a list, got {format_value(items)}")
            return
        item_kind = (str(api_version), kind.removesuffix("List")) if kind != "List" else ("", "")
        for index, item in enumerate(items or ()):
            inside = (*document.inside, "items", index)
            yield from split_objects(
                Document(item, document.source, document.number, document.text, document.json, inside, item_kind)
            )
            if document.json and isinstance(items, list):
                items[index] = None  # read from a text for this alone: the room is needed for what is made of it
    elif document.kind[1] and not (data.get("kind") and data.get("apiVersion")):
        yield attrs.evolve(document, data={**data, "apiVersion": api_version, "kind": kind}), None
    else:
        yield document, None


def skipped_problem(data: Any, problems: Sequence[Problem]) -> Problem | None:
    """Return why a dump leaves this document out: it is of another tool, has no name, or is a template; else None.

    A list, and an object of a kind that lacks its apiVersion by a slip, are not left out.
    """
    if not isinstance(data, dict):
        return Problem(problems[0].path, "skipped", problems[0].value, problems[0].message) if problems else None
    metadata, kind = data.get("metadata"), data.get("kind")
    if isinstance(kind, str) and kind.endswith("List"):
        return None
    names = [metadata.get(key) for key in ("name", "Name", "generateName")] if isinstance(metadata, dict) else []
    if not kind or (not data.get("apiVersion") and str(kind) not in KINDS_BY_NAME):
        absent = " and ".join(key for key in ("apiVersion", "kind") if not data.get(key))
        is_or_are = "are" if " " in absent else "is"
        return Problem((), "skipped", None, f"is no object of Kubernetes: {absent} {is_or_are} missing")
    if any(isinstance(value, str) and "{{" in value for value in (*names, *(problem.value for problem in problems))):
        return Problem(("metadata", "name"), "skipped", None, TEMPLATE)
    if unknown := [each for each in problems if each.path in (("apiVersion",), ("kind",)) and each.rule == "enum"]:
        return attrs.evolve(unknown[0], rule="skipped")  # of an older release, or misspelt
    if not any(names) and (metadata is None or isinstance(metadata, dict)):
        return Problem(("metadata", "name"), "skipped", None, "has no name, as every object of a cluster has one")
    return None


TEMPLATE = "is a template: render it first, as `helm template` and `kubectl kustomize` do"


def decode_object(data: Mapping[str, Any], *, lenient: bool) -> tuple[Any, list[Problem]]:
    """Return an object and its problems, those of its kind and name included."""
    problems = _check_kind(data)
    if problems:
        return Frozen(), problems
    obj, problems = decode(data)
    if isinstance(obj, Frozen):  # no class reads it; a few parts of some are looked at
        parts = ("metadata", "spec") if data["kind"] == "DeviceClass" else ("metadata",)
        problems = [Problem((part,), "type", data[part], f"wants a mapping, got {format_value(data[part])}")
                    for part in parts if not isinstance(data.get(part), dict | None)]
    metadata = data.get("metadata")
    if metadata is None or isinstance(metadata, dict):
        metadata = metadata or {}
        if not any(metadata.get(key) for key in ("name", "Name", "generateName")):
            problems = [Problem(("metadata", "name"), "required", None, "the name is missing"), *problems]
        if lenient:
            problems = [*_check_names(metadata), *problems]
    return _fill_printed(obj, data, problems, lenient=lenient)


def _check_names(metadata: Mapping[str, Any]) -> list[Problem]:
    """Return a problem for each name that cannot be part of a URL path; other rules for names differ by kind."""
    words = "may not be '.' or '..' or contain '/', '%', '{{' or control characters"
    return [Problem(("metadata", key), "name", metadata[key], f"{format_value(metadata[key])} {words}")
            for key in ("name", "namespace")
            if isinstance(metadata.get(key), str) and (metadata[key] in (".", "..") or _NO_NAME.search(metadata[key]))]


_NO_NAME = re.compile(r"[/%\x00-\x1f\x7f-\x9f]|\{\{")


def _fill_printed(obj: Any, data: Mapping[str, Any], problems: list[Problem], *,
                  lenient: bool) -> tuple[Any, list[Problem]]:
    """Fill in what manifests printed in the design documents leave out; others are left to validation."""
    if isinstance(obj, StorageClass) and "parameters" in data and data["parameters"] is None:
        problems = [*problems, Problem(("parameters",), "assumed", None, "is empty, read as no parameters")]
    from_document = lenient or any(problem.rule == "spelling" for problem in problems)
    if from_document and isinstance(obj, PersistentVolume | PersistentVolumeClaim) and not obj.spec.access_modes:
        spec: Any = attrs.evolve(obj.spec, access_modes=("ReadWriteOnce",))
        obj = attrs.evolve(obj, spec=spec)
        message = "is missing, read as [ReadWriteOnce]"
        problems = [*problems, Problem(("spec", "accessModes"), "assumed", None, message)]
    return obj, problems


def _check_kind(data: Mapping[str, Any]) -> list[Problem]:
    """Return the problems of apiVersion and kind: missing, no text, misspelt, or no such pair."""
    problems = []
    for key in ("apiVersion", "kind"):
        value = data.get(key)
        if not value:
            problems.append(Problem((key,), "required", value, f"{key} is missing"))
        elif not isinstance(value, str):
            problems.append(Problem((key,), "type", value, f"wants a text, got {format_value(value)}"))
    if problems:
        return problems
    api_version, kind = data["apiVersion"], data["kind"]
    known = schema()["kinds"]
    if f"{api_version}/{kind}" in known:
        return []
    versions = sorted(name.rpartition("/")[0] for name in known if name.rpartition("/")[2] == kind)
    group = api_version.rpartition("/")[0]
    in_known_group = bool(versions) and group in (versions[0].rpartition("/")[0], *_BUILT_IN_GROUPS)
    if in_known_group and (kind, group) != ("Event", "events.k8s.io"):
        return [Problem(("apiVersion",), "enum", api_version, f"{kind} is in {versions[0]}, not in {api_version}")]
    if group in _BUILT_IN_GROUPS and kind not in _UNMODELLED_KINDS:
        in_group = [name.rpartition("/")[2] for name in known if name.rpartition("/")[0] == api_version]
        hint = suggest_nearest(kind, in_group, cutoff=0.8)
        if hint:
            return [Problem(("kind",), "enum", kind, f"no kind {kind} in {api_version}{hint}")]
    return []


_BUILT_IN_GROUPS = ("", "apps", "storage.k8s.io", "policy", "scheduling.k8s.io", "extensions")
_UNMODELLED_KINDS = ("ServiceAccount", "PodTemplate", "Endpoints", "ControllerRevision")


def object_identity(data: Mapping[str, Any]) -> tuple[str, str, str, str] | None:
    """Return apiVersion, kind, namespace and name of plain data, by which objects are told apart; None without one."""
    metadata = data.get("metadata")
    name = metadata.get("name") or metadata.get("Name") if isinstance(metadata, dict) else None
    api_version, kind = data.get("apiVersion"), data.get("kind")
    if not (isinstance(name, str) and isinstance(kind, str) and isinstance(api_version, str)):
        return None
    known = KINDS_BY_NAME.get(kind)
    namespaced = known is None or known.namespaced
    namespace = str(metadata.get("namespace") or "default") if metadata and namespaced else ""
    return api_version, kind, namespace, name


def duplicate_problem(identity: tuple[str, str, str, str], first: Document, second: Document) -> Problem:
    """Return the problem of a second object with the identity of a first one, whose place it names."""
    _, _, namespace, name = identity
    place = f"document {first.number}{{place}}" if first.number else "another document"
    place += f" of {first.source}" if first.source and first.source != second.source else ""
    place += f", {format_path(first.inside)}" if first.inside else ""
    scope = f" in namespace {namespace}" if namespace else ""
    message = f"duplicate of the object{scope} in {place}"
    return Problem(("metadata", "name"), "duplicate", name, message, other=first)

"""Read manifests from texts, files, directories or plain data as objects, and write objects as manifests.

All faults are reported together, with source, document, line, path, rule and value, and then nothing is loaded. Texts
are not trusted: `sources.LIMITS` bounds their size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from ..kinds.meta import Frozen
from ..progress import ProgressBar
from .convert import decode, from_plain, object_reference, to_plain, unmodelled_paths
from .document import Document, decode_object, find_duplicate, split_objects
from .dump_checks import MissingKind, find_contradictions, missing_kinds
from .fault import Fault, ManifestError, Problem, format_path
from .json_text import FieldPath, JsonFault, find_json_lines, json_documents
from .python_gc import paused_gc
from .sources import LIMITS, read_sources
from .yaml_text import find_yaml_lines, is_yaml, to_yaml, yaml_documents

__all__ = [
    "LIMITS", "Fault", "ManifestError", "Manifests", "decode", "from_plain", "read", "read_plain", "to_plain", "write"
]


@attrs.frozen(slots=False)
class Manifests:
    """The result of reading: objects in their order, objects of kinds not modelled, and warnings.

    It is a source of manifests itself: `c.apply(example("standard"))`.
    `written` holds the objects as plain data, if `read` was called with `keep`. Of a live cluster, `listed` are the
    kinds of which every object was listed, and `unread` is what was not read, with what that hides.
    """

    objects: tuple[Any, ...] = ()
    others: tuple[Frozen, ...] = ()
    warnings: tuple[Fault, ...] = ()
    written: tuple[Mapping[str, Any], ...] = attrs.field(default=(), repr=False)
    listed: frozenset[str] = frozenset()
    unread: Mapping[str, str] = attrs.field(factory=dict)

    @cached_property
    def unmodelled(self) -> tuple[tuple[Any, str], ...]:
        """The fields that are kept but not modelled, as (object, path)."""
        return tuple((item, format_path(path)) for item in self.objects for path in unmodelled_paths(item))

    def __iter__(self) -> Iterator[Any]:
        yield from self.objects
        yield from self.others

    def __len__(self) -> int:
        return len(self.objects) + len(self.others)

    def missing_kinds(self) -> tuple[MissingKind, ...]:
        """Return the missing kinds that decide scheduling, each with what therefore cannot be told."""
        return tuple(missing for missing in missing_kinds(self.objects) if missing.kind.name not in self.listed)

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for item in self.objects:
            counts[item.kind] = counts.get(item.kind, 0) + 1
        words = [f"{count} {kind}" for kind, count in counts.items()]
        words += [f"{len(self.others)} of other kinds"] if self.others else []
        words += [f"{len(self.warnings)} warnings"] if self.warnings else []
        return f"Manifests({', '.join(words) or 'nothing'})"


def read(source: Any, *, lenient: bool = False, name: str = "", keep: bool = False) -> Manifests:
    """Read manifests: YAML or JSON text (also gzip), a path, a directory, plain data, or an iterable of these.

    A progress bar is shown if reading takes long.

    Args:
        source: a text is a path if it has one line, no `: `, and does not begin with `{` or `[`.
        lenient: for dumps: unknown fields and enumeration values (of other versions) and contradictions between
            objects are warnings.
        name: the source of a text, as faults name it.
        keep: return the plain data beside the objects, with the documents' spellings normalised.

    Raises:
        ManifestError: with every fault; nothing is loaded.
    """
    faults: list[Fault] = []
    found_problems: list[tuple[Document, Problem]] = []
    objects: list[Any] = []
    origins: list[Document] = []
    written: list[Mapping[str, Any]] = []
    others: list[Frozen] = []
    seen: dict[Any, Document] = {}
    with paused_gc(), ProgressBar(0, unit="B", unit_scale=True, desc="reading") as bar:
        for document in _documents(source, name, faults, bar):
            items = list(split_objects(document))
            for item, problem in items:
                if document.length:
                    bar.update(document.length / len(items))
                if problem is not None:
                    found_problems.append((item, problem))
                    continue
                found, problems = decode_object(item.data, lenient=lenient)
                found_problems += ((item, problem) for problem in (*problems, *find_duplicate(item, seen)))
                if isinstance(found, Frozen):
                    others.append(found)
                else:
                    objects.append(found)
                    origins.append(item)
                    if keep:
                        written.append(to_plain(found) if problems else item.data)
        warning_rules = _LENIENT_WARNING_RULES if lenient else _WARNING_RULES
        faults += _with_lines([pair for pair in found_problems if pair[1].rule not in warning_rules])
        if faults:
            source_order = {fault.source: index for index, fault in reversed(list(enumerate(faults)))}
            faults.sort(key=lambda fault: (source_order[fault.source], fault.document, fault.line))
            raise ManifestError(faults)
        warned = [pair for pair in found_problems if pair[1].rule in warning_rules]
        if lenient:
            warned += ((origins[index], problem) for index, problem in find_contradictions(objects))
        warnings = _with_lines(warned, max_length=_MAX_LOCATED)
        return Manifests(tuple(objects), tuple(others), tuple(warnings), tuple(written))


def read_plain(text: str, name: str = "") -> list[Any]:
    """Return the documents of a YAML or JSON text as plain data, whatever they describe.

    Raises:
        ManifestError: the text is neither YAML nor JSON, or exceeds a limit.
    """
    faults: list[Fault] = []
    bar = ProgressBar(disable=True)
    documents = [document.data for document in _text(text, name or "text", faults, bar)]
    if faults:
        raise ManifestError(faults)
    return documents


_WARNING_RULES = frozenset({"spelling", "assumed", "design"})
_LENIENT_WARNING_RULES = _WARNING_RULES | {"unknown", "enum"}


_MAX_LOCATED = 2_000_000  # characters; warnings in longer texts have no line


def _with_lines(problems: Sequence[tuple[Document, Problem]], max_length: int | None = None) -> list[Fault]:
    """Return problems as faults with lines, for which texts (up to this length) are read a second time."""
    texts: dict[int, tuple[Document, set[tuple[int, FieldPath]]]] = {}
    for document, problem in problems:
        if document.text is not None and (max_length is None or len(document.text) <= max_length):
            _, paths = texts.setdefault(id(document.text), (document, set()))
            paths.add((document.number, (*document.inside, *problem.path)))
    lines = {key: (find_json_lines if document.json else find_yaml_lines)(str(document.text), paths)
             for key, (document, paths) in texts.items()}
    return [
        Fault(
            source=document.source, document=document.number,
            line=lines.get(id(document.text), {}).get((document.number, (*document.inside, *problem.path)), 0),
            object=object_reference(document.data) if isinstance(document.data, dict) else "", path=problem.field,
            rule=problem.rule, value=problem.value, message=problem.message,
        )
        for document, problem in problems
    ]


def _documents(source: Any, name: str, faults: list[Fault], bar: ProgressBar) -> Iterator[Document]:
    """Yield every document of a source with its place."""
    for name_of_text, content in read_sources(source, name, faults):
        if isinstance(content, str):
            yield from _text(content, name_of_text, faults, bar)
        else:
            yield Document(dict(content), name_of_text)


def _text(text: str, source: str, faults: list[Fault], bar: ProgressBar) -> Iterator[Document]:
    bar.total = (bar.total or 0) + len(text)
    if text.lstrip().startswith("{"):
        try:
            found = json_documents(text)
        except JsonFault as error:
            if error.rule == "limit" or not is_yaml(text):
                faults.append(Fault(source=source, line=error.line, rule=error.rule, message=error.message))
                return
        else:
            faults.extend(attrs.evolve(fault, source=source) for fault in found.faults)
            length = len(text) / max(1, len(found.documents))
            for number, data in enumerate(found.documents, 1):
                yield Document(data, source, number, text, json=True, length=length)
            return
    documents = yaml_documents(text, source, faults, bar.update)
    yield from (Document(data, source, i, text) for i, data in documents if data is not None)


def write(objects: Any, form: str = "yaml") -> str:
    """Return objects as multi-document YAML, or as JSON (several in one v1 List); apiVersion and kind come first."""
    items = [objects] if isinstance(objects, Mapping) or hasattr(objects, "metadata") else list(objects)
    documents = [_in_manifest_order(to_plain(item)) for item in items]
    match form:
        case "json":
            data = documents[0] if len(documents) == 1 else {"apiVersion": "v1", "kind": "List", "items": documents}
            return json.dumps(data, indent=4, ensure_ascii=False) + "\n"
        case "yaml":
            return "---\n".join(map(to_yaml, documents))
    raise ValueError(f'form is "yaml" or "json", not {form!r}')


_KEY_ORDER = {"apiVersion": 0, "kind": 1, "metadata": 2, "spec": 3, "status": 4}


def _in_manifest_order(plain: dict[str, Any]) -> dict[str, Any]:
    top = sorted(plain, key=lambda key: (_KEY_ORDER.get(key, 3), key))
    return {key: _sorted_keys(plain[key]) for key in top}


def _sorted_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted_keys(value[key]) for key in sorted(value)}
    return [_sorted_keys(item) for item in value] if isinstance(value, list) else value

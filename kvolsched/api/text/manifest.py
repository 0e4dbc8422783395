"""Read manifests from texts, files, directories or plain data as objects, and write objects as manifests.

All faults are reported together, with source, document, line, path, rule and value, and then nothing is loaded. Texts
are not trusted: `fault.LIMITS` bounds their size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from ..kinds.meta import Frozen, thaw
from ..notebook_output import write_with
from ..progress import ProgressBar
from .convert import decode, from_plain, object_reference, to_plain, unmodelled_paths
from .document import (
    TEMPLATE,
    Document,
    count_objects,
    decode_object,
    duplicate_problem,
    object_identity,
    skipped_problem,
    split_objects,
)
from .dump_checks import MissingKind, find_contradictions, missing_kinds
from .fault import LIMITS, MAX_LINES, Fault, ManifestError, Problem, fault_lines, format_path
from .json_text import FieldPath, JsonFault, find_json_lines, json_documents, to_json
from .python_gc import paused_gc
from .sources import read_sources
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

    def left_out(self, max_lines: int = MAX_LINES) -> list[str]:
        """Return at most so many lines: what was skipped, and which of two objects or keys of one name counts."""
        told = [warning for warning in self.warnings if warning.rule in LEFT_OUT_RULES]
        return fault_lines(told, max_lines, "")

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
        lenient: for dumps and other people's folders: unknown fields and enumeration values (of other versions) and
            contradictions between objects are warnings; so are documents that are no object of a cluster, which are
            skipped, and objects and keys of one name, of which the last one counts.
        name: the source of a text, as faults name it.
        keep: return the plain data beside the objects, with the documents' spellings normalised.

    Raises:
        ManifestError: with every fault; nothing is loaded.
    """
    faults: list[Fault] = []
    found = _Found(lenient=lenient, keep=keep)
    with paused_gc(), ProgressBar(0, unit="B", unit_scale=True, desc="reading") as bar:
        for document in _documents(source, name, faults, bar, lenient=lenient):
            count = count_objects(document)
            for item, problem in split_objects(document):
                if document.length:
                    bar.update(document.length / count)
                found.add(item, problem)
        warning_rules = _LENIENT_WARNING_RULES if lenient else _WARNING_RULES
        if not found.objects and not found.others:
            warning_rules -= {"skipped"}  # what remains is nothing
        warnings = [_said_skipped(fault) for fault in faults if fault.rule in warning_rules]
        faults = [fault for fault in faults if fault.rule not in warning_rules]
        faults += _with_lines([pair for pair in found.problems if pair[1].rule not in warning_rules])
        if faults:
            source_order = {fault.source: index for index, fault in reversed(list(enumerate(faults)))}
            faults.sort(key=lambda fault: (source_order[fault.source], fault.document, fault.line))
            raise ManifestError(faults)
        objects = tuple(found.objects.values())
        warned = [pair for pair in found.problems if pair[1].rule in warning_rules]
        if lenient:
            origins = tuple(found.origins.values())
            warned += ((origins[index], problem) for index, problem in find_contradictions(objects))
        warnings += map(_said_skipped, _with_lines(warned, max_length=_MAX_LOCATED))
        written = (_written(obj, found.origins[at].data, at in found.changed) for at, obj in found.objects.items())
        return Manifests(objects, tuple(found.others.values()), tuple(warnings), tuple(written) if keep else ())


class _Found:
    """What was found so far, by the number of its document; mutable while sources are read."""

    def __init__(self, *, lenient: bool, keep: bool) -> None:
        self.lenient, self.keep = lenient, keep
        self.problems: list[tuple[Document, Problem]] = []
        self.objects: dict[int, Any] = {}
        self.others: dict[int, Frozen] = {}
        self.origins: dict[int, Document] = {}  # of objects
        self.changed: set[int] = set()  # objects that differ from their plain data
        self.seen: dict[Any, tuple[int, Document]] = {}
        self.number = 0

    def add(self, item: Document, problem: Problem | None) -> None:
        """Add the object of a document, or what is wrong with it."""
        self.number += 1
        obj, problems = (None, [problem]) if problem is not None else decode_object(item.data, lenient=self.lenient)
        if self.lenient and problems and (reason := skipped_problem(item.data, problems)) is not None:
            self.problems.append((item, reason))
            return
        self.problems += ((item, each) for each in problems)
        if obj is None:
            return
        identity = object_identity(item.data)
        if not self.keep and not problems:
            item = item.named()  # the plain data of a large dump takes as much room as its objects
        if identity is not None:
            number, first = self.seen.get(identity, (0, item))
            if first is not item:
                self.problems.append((item, duplicate_problem(identity, first, item)))
                for found in (self.objects, self.others, self.origins):
                    found.pop(number, None)  # the last one counts, if it is no fault
            self.seen[identity] = self.number, item
        if isinstance(obj, Frozen):
            self.others[self.number] = obj
            return
        self.objects[self.number], self.origins[self.number] = obj, item
        if problems:
            self.changed.add(self.number)


def _written(obj: Any, data: Mapping[str, Any], changed: bool) -> Mapping[str, Any]:  # noqa: FBT001 - inner
    return to_plain(obj) if changed else data


def _said_skipped(warning: Fault) -> Fault:
    words = {"skipped": "skipped", "duplicate": "the last one counts"}.get(warning.rule)
    return attrs.evolve(warning, message=f"{warning.message}; {words}") if words else warning


def read_plain(text: str, name: str = "") -> list[Any]:
    """Return the documents of a YAML or JSON text as plain data, whatever they describe.

    Raises:
        ManifestError: the text is neither YAML nor JSON, or exceeds a limit.
    """
    faults: list[Fault] = []
    bar = ProgressBar(disable=True)
    documents = [document.data for document in _text(text, name or "text", faults, bar, lenient=False)]
    if faults:
        raise ManifestError(faults)
    return documents


_WARNING_RULES = frozenset({"spelling", "assumed", "design"})
LEFT_OUT_RULES = frozenset({"skipped", "duplicate"})
_LENIENT_WARNING_RULES = _WARNING_RULES | LEFT_OUT_RULES | {"unknown", "enum"}
_TEMPLATE_MARKS = ("{{", "{%")


_MAX_LOCATED = 2_000_000  # characters; warnings in longer texts have no line


def _with_lines(problems: Sequence[tuple[Document, Problem]], max_length: int | None = None) -> list[Fault]:
    """Return problems as faults with lines, for which texts (up to this length) are read a second time."""
    texts: dict[int, tuple[Document, set[tuple[int, FieldPath]]]] = {}
    others = ((problem.other, problem) for _, problem in problems if problem.other is not None)
    for document, problem in (*problems, *others):
        if document.text is not None and (max_length is None or len(document.text) <= max_length):
            _, paths = texts.setdefault(id(document.text), (document, set()))
            paths.add((document.number, (*document.inside, *problem.path)))
    lines = {key: (find_json_lines if document.json else find_yaml_lines)(str(document.text), paths)
             for key, (document, paths) in texts.items()}

    def line_of(document: Document, problem: Problem) -> int:
        return lines.get(id(document.text), {}).get((document.number, (*document.inside, *problem.path)), 0)

    def message_of(problem: Problem) -> str:
        line = line_of(problem.other, problem) if problem.other is not None else 0
        return problem.message.replace("{place}", f", line {line}" if line else "")

    return [
        Fault(
            source=document.source, document=document.number, line=line_of(document, problem),
            object=object_reference(document.data) if isinstance(document.data, dict) else "", path=problem.field,
            rule=problem.rule, value=problem.value, message=message_of(problem),
        )
        for document, problem in problems
    ]


def _documents(source: Any, name: str, faults: list[Fault], bar: ProgressBar, *, lenient: bool) -> Iterator[Document]:
    """Yield every document of a source with its place."""
    for name_of_text, content in read_sources(source, name, faults):
        if isinstance(content, str):
            yield from _text(content, name_of_text, faults, bar, lenient=lenient)
        else:
            yield Document(dict(content), name_of_text)


def _text(text: str, source: str, faults: list[Fault], bar: ProgressBar, *, lenient: bool) -> Iterator[Document]:
    """Yield the documents of a text; of a template that is no YAML none, if that is only a warning."""
    bar.total = (bar.total or 0) + len(text)
    if not lenient or not any(mark in text for mark in _TEMPLATE_MARKS):
        yield from _parsed(text, source, faults, bar)
        return
    found: list[Fault] = []
    documents = list(_parsed(text, source, found, bar))
    wrong = next((fault for fault in found if fault.rule in ("syntax", "key", "tag")), None)
    if wrong is None:
        faults += found
        yield from documents
    else:
        faults.append(Fault(source=source, line=wrong.line, rule="skipped", message=TEMPLATE))


def _parsed(text: str, source: str, faults: list[Fault], bar: ProgressBar) -> Iterator[Document]:
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
    documents = [{key: _sorted_keys(plain[key])
                  for key in sorted(plain, key=lambda key: (_KEY_ORDER.get(key, 3), key))}
                 for plain in map(to_plain, items)]  # fmt: skip
    match form:
        case "json":
            data = documents[0] if len(documents) == 1 else {"apiVersion": "v1", "kind": "List", "items": documents}
            return to_json(data, indent=4) + "\n"
        case "yaml":
            return "---\n".join(map(to_yaml, documents))
    raise ValueError(f'form is "yaml" or "json", not {form!r}')


write_with(lambda value: write(value) if hasattr(value, "metadata") else to_yaml(thaw(attrs.asdict(value))))

_KEY_ORDER = {"apiVersion": 0, "kind": 1, "metadata": 2, "spec": 3, "status": 4}


def _sorted_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted_keys(value[key]) for key in sorted(value)}
    return [_sorted_keys(item) for item in value] if isinstance(value, list) else value

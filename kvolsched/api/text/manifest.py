"""Manifests to objects and back, from whatever they come in.

Whatever is wrong is said at once, with source, document, line, path, rule and value, and then nothing is
loaded. Texts are not trusted: the limits below are the only ones, and each has its own words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs
from tqdm.auto import tqdm

from ..kinds.meta import Frozen
from .convert import decode, from_plain, object_reference, to_plain, unmodelled_paths
from .document import Document, decode_object, find_duplicate
from .document import split_objects as objects_of
from .dump_checks import MissingKind, find_contradictions, missing_kinds
from .fault import Fault, ManifestError, Problem, format_path
from .input_limits import LIMITS
from .json_text import FieldPath, JsonFault, find_json_lines, json_documents
from .python_gc import paused_gc
from .sources import read_sources
from .yaml_text import find_yaml_lines, is_yaml, to_yaml, yaml_documents

__all__ = [
    "LIMITS",
    "Fault",
    "ManifestError",
    "Manifests",
    "decode",
    "from_plain",
    "read",
    "read_plain",
    "to_plain",
    "write",
]


@attrs.frozen(slots=False)
class Manifests:
    """What was read: typed objects in their order, objects of other kinds, and what was accepted with a
    warning; `written` holds the objects as they stood there, if that was asked for.
    """

    objects: tuple[Any, ...] = ()
    others: tuple[Frozen, ...] = ()
    warnings: tuple[Fault, ...] = ()
    written: tuple[Mapping[str, Any], ...] = attrs.field(default=(), repr=False)

    @cached_property
    def unmodelled(self) -> tuple[tuple[Any, str], ...]:
        """Every field that Kubernetes knows and that is kept but not modelled: (object, path)."""
        return tuple((item, format_path(path)) for item in self.objects for path in unmodelled_paths(item))

    def missing_kinds(self) -> tuple[MissingKind, ...]:
        """Return the kinds that decide scheduling and are not here, each with what therefore cannot be told."""
        return missing_kinds(self.objects)

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

    A bar shows how far a long reading is.

    Args:
        source: a text is taken for a path if it has one line and no `: ` and does not begin with `{` or `[`.
        lenient: a dump, taken as it is: unknown fields and unknown words of enumerations (of other versions) become
            warnings, and so does what contradicts itself.
        name: what faults call a text.
        keep: keep what stood there as plain data beside the objects; with the documents' spellings normalised.

    Raises:
        ManifestError: with every fault; nothing is loaded.
    """
    faults: list[Fault] = []
    wrong: list[tuple[Document, Problem]] = []
    objects: list[Any] = []
    origins: list[Document] = []
    written: list[Mapping[str, Any]] = []
    others: list[Frozen] = []
    seen: dict[Any, Document] = {}
    with paused_gc(), tqdm(total=0, unit="B", unit_scale=True, desc="reading", delay=1.0, leave=False) as bar:
        for document in _documents(source, name, faults, bar):
            items = list(objects_of(document))
            for item, problem in items:
                if document.length:
                    bar.update(document.length / len(items))
                if problem is not None:
                    wrong.append((item, problem))
                    continue
                found, problems = decode_object(item.data, lenient=lenient)
                wrong += ((item, problem) for problem in (*problems, *find_duplicate(item, seen)))
                if isinstance(found, Frozen):
                    others.append(found)
                else:
                    objects.append(found)
                    origins.append(item)
                    if keep:
                        written.append(to_plain(found) if problems else item.data)
        tolerated = _TOLERATED_LENIENT if lenient else _TOLERATED
        faults += _located([one for one in wrong if one[1].rule not in tolerated])
        if faults:
            order = {fault.source: place for place, fault in reversed(list(enumerate(faults)))}
            raise ManifestError(sorted(faults, key=lambda one: (order[one.source], one.document, one.line)))
        doubtful = [one for one in wrong if one[1].rule in tolerated]
        if lenient:
            doubtful += ((origins[place], problem) for place, problem in find_contradictions(objects))
        warnings = _located(doubtful, longest=_LOOKED_UP)
        return Manifests(tuple(objects), tuple(others), tuple(warnings), tuple(written))


def read_plain(text: str, name: str = "") -> list[Any]:
    """Read the documents of a YAML or JSON text as plain data, under the same limits, whatever they describe.

    Raises:
        ManifestError: the text is no such text, or breaks a limit.
    """
    faults: list[Fault] = []
    with tqdm(disable=True) as bar:
        documents = [document.data for document in _text(text, name or "text", faults, bar)]
    if faults:
        raise ManifestError(faults)
    return documents


_TOLERATED = frozenset({"spelling", "assumed", "design"})
_TOLERATED_LENIENT = _TOLERATED | {"unknown", "enum"}


_LOOKED_UP = 2_000_000  # characters: in longer texts warnings are not worth finding their lines


def _located(wrong: Sequence[tuple[Document, Problem]], longest: int | None = None) -> list[Fault]:
    """Return problems with the lines where they stand; texts (up to so long) are looked at again only for this."""
    texts: dict[int, tuple[Document, set[tuple[int, FieldPath]]]] = {}
    for document, problem in wrong:
        if document.text is not None and (longest is None or len(document.text) <= longest):
            _, paths = texts.setdefault(id(document.text), (document, set()))
            paths.add((document.number, (*document.inside, *problem.path)))
    lines = {
        key: (find_json_lines if document.json else find_yaml_lines)(str(document.text), paths)
        for key, (document, paths) in texts.items()
    }
    return [
        Fault(
            source=document.source,
            document=document.number,
            line=lines.get(id(document.text), {}).get(
                (document.number, (*document.inside, *problem.path)), 0
            ),
            object=object_reference(document.data) if isinstance(document.data, dict) else "",
            path=problem.field,
            rule=problem.rule,
            value=problem.value,
            message=problem.message,
        )
        for document, problem in wrong
    ]


def _documents(source: Any, name: str, faults: list[Fault], bar: tqdm[Any]) -> Iterator[Document]:
    """Yield every document of a source, with where it stands."""
    for place, content in read_sources(source, name, faults):
        if isinstance(content, str):
            yield from _text(content, place, faults, bar)
        else:
            yield Document(dict(content), place)


def _text(text: str, source: str, faults: list[Fault], bar: tqdm[Any]) -> Iterator[Document]:
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
    """Return objects as multi-document YAML, or as JSON (several become one v1 List); apiVersion and kind
    lead.
    """
    several = [objects] if isinstance(objects, Mapping) or hasattr(objects, "metadata") else list(objects)
    plain = [_ordered(to_plain(item)) for item in several]
    match form:
        case "json":
            whole = plain[0] if len(plain) == 1 else {"apiVersion": "v1", "kind": "List", "items": plain}
            return json.dumps(whole, indent=4, ensure_ascii=False) + "\n"
        case "yaml":
            return "---\n".join(map(to_yaml, plain))
    raise ValueError(f'form is "yaml" or "json", not {form!r}')


_FIRST = {"apiVersion": 0, "kind": 1, "metadata": 2, "spec": 3, "status": 4}


def _ordered(plain: dict[str, Any]) -> dict[str, Any]:
    top = sorted(plain, key=lambda key: (_FIRST.get(key, 3), key))
    return {key: _by_name(plain[key]) for key in top}


def _by_name(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_name(value[key]) for key in sorted(value)}
    return [_by_name(item) for item in value] if isinstance(value, list) else value

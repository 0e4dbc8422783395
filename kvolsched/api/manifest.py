"""Manifests to objects and back: the only place that knows YAML, and the only one that reads files.

Whatever is wrong is said at once, with source, document, line, path, rule and value, and then nothing is
loaded. Texts are not trusted: the limits below are the only ones, and each has its own words.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import attrs
import yaml

from .convert import decode, from_plain, reference, to_plain, unmodelled
from .document import Document, decoded, duplicate
from .document import objects as objects_of
from .fault import Fault, ManifestError, Problem, shown, spelled
from .jsontext import JsonFault, Path, json_documents, json_lines
from .limits import LIMITS
from .meta import Frozen
from .sources import contents

__all__ = [
    "LIMITS",
    "Fault",
    "ManifestError",
    "Manifests",
    "decode",
    "from_plain",
    "plain",
    "read",
    "to_plain",
    "write",
]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@attrs.frozen(slots=False)
class Manifests:
    """What was read: typed objects in their order, objects of other kinds, and what was accepted with a
    warning.
    """

    objects: tuple[Any, ...] = ()
    others: tuple[Frozen, ...] = ()
    warnings: tuple[Fault, ...] = ()

    @cached_property
    def unmodelled(self) -> tuple[tuple[Any, str], ...]:
        """Every field that Kubernetes knows and that is kept but not modelled: (object, path)."""
        return tuple((item, spelled(path)) for item in self.objects for path in unmodelled(item))

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for item in self.objects:
            counts[item.kind] = counts.get(item.kind, 0) + 1
        words = [f"{count} {kind}" for kind, count in counts.items()]
        words += [f"{len(self.others)} of other kinds"] if self.others else []
        words += [f"{len(self.warnings)} warnings"] if self.warnings else []
        return f"Manifests({', '.join(words) or 'nothing'})"




def read(source: Any, *, lenient: bool = False, name: str = "") -> Manifests:
    """Read manifests: YAML or JSON text, a path, a directory of them, plain data, or an iterable of these.

    Args:
        source: a text is taken for a path if it has one line and no `: ` and does not begin with `{`.
        lenient: unknown fields and unknown words of enumerations become warnings (dumps of other versions).
        name: what faults call a text.

    Raises:
        ManifestError: with every fault; nothing is loaded.
    """
    faults: list[Fault] = []
    wrong: list[tuple[Document, Problem]] = []
    objects: list[Any] = []
    others: list[Frozen] = []
    seen: dict[Any, Document] = {}
    for document in _documents(source, name, faults):
        for item, problem in objects_of(document):
            if problem is not None:
                wrong.append((item, problem))
                continue
            found, problems = decoded(item.data, lenient=lenient)
            wrong += ((item, problem) for problem in (*problems, *duplicate(item, seen)))
            (others if isinstance(found, Frozen) else objects).append(found)
    tolerated = _TOLERATED_LENIENT if lenient else _TOLERATED
    located = _located(wrong)
    warnings = tuple(fault for fault in located if fault.rule in tolerated)
    faults += (fault for fault in located if fault.rule not in tolerated)
    if faults:
        order = {fault.source: place for place, fault in reversed(list(enumerate(faults)))}
        raise ManifestError(sorted(faults, key=lambda one: (order[one.source], one.document, one.line)))
    return Manifests(tuple(objects), tuple(others), warnings)


def plain(text: str, name: str = "") -> list[Any]:
    """Read the documents of a YAML or JSON text as plain data, under the same limits, whatever they describe.

    Raises:
        ManifestError: the text is no such text, or breaks a limit.
    """
    faults: list[Fault] = []
    documents = [document.data for document in _text(text, name or "text", faults)]
    if faults:
        raise ManifestError(faults)
    return documents


_TOLERATED = frozenset({"spelling", "assumed", "design"})
_TOLERATED_LENIENT = _TOLERATED | {"unknown", "enum"}


def _located(wrong: Sequence[tuple[Document, Problem]]) -> list[Fault]:
    """Return problems with the lines where they stand; texts are looked at again only for this."""
    texts: dict[int, tuple[Document, set[tuple[int, Path]]]] = {}
    for document, problem in wrong:
        if document.text is not None:
            _, paths = texts.setdefault(id(document.text), (document, set()))
            paths.add((document.number, (*document.inside, *problem.path)))
    lines = {key: _lines(document, paths) for key, (document, paths) in texts.items()}
    return [
        Fault(
            source=document.source,
            document=document.number,
            line=lines.get(id(document.text), {}).get(
                (document.number, (*document.inside, *problem.path)), 0
            ),
            object=reference(document.data) if isinstance(document.data, dict) else "",
            path=problem.field,
            rule=problem.rule,
            value=problem.value,
            message=problem.message,
        )
        for document, problem in wrong
    ]


def _lines(document: Document, paths: set[tuple[int, Path]]) -> dict[tuple[int, Path], int]:
    """Return the line where each path stands in a text, or of what is nearest to it."""
    text = str(document.text)
    if document.json:
        return json_lines(text, paths)
    nodes: list[Any] = []
    with contextlib.suppress(yaml.YAMLError):  # a text may end in a fault: what stands before it has lines
        nodes.extend(yaml.compose_all(text, Loader=_Loader))
    return {
        (number, path): _yaml_line(nodes[number - 1], path) for number, path in paths if number <= len(nodes)
    }


def _documents(source: Any, name: str, faults: list[Fault]) -> Iterator[Document]:
    """Yield every document of a source, with where it stands."""
    for place, content in contents(source, name, faults):
        if isinstance(content, str):
            yield from _text(content, place, faults)
        else:
            yield Document(dict(content), place)


def _text(text: str, source: str, faults: list[Fault]) -> Iterator[Document]:
    if text.lstrip().startswith("{"):
        try:
            found = json_documents(text)
        except JsonFault as error:
            if error.rule == "limit" or not _is_yaml(text):
                faults.append(Fault(source=source, line=error.line, rule=error.rule, message=error.message))
                return
        else:
            faults.extend(attrs.evolve(fault, source=source) for fault in found.faults)
            for number, data in enumerate(found.documents, 1):
                yield Document(data, source, number, text, json=True)
            return
    builder = _Builder(text, source, faults)
    yield from (Document(data, source, i, text) for i, data in builder.documents() if data is not None)


def _is_yaml(text: str) -> bool:
    """Say whether a text that begins like JSON and is none is YAML in flow style."""
    builder = _Builder(text, "", [])
    return len(text) < 10**6 and any(data is not None for _, data in builder.documents()) and builder.sound



_WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_INTEGER = re.compile(r"[-+]?(0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|[1-9][0-9_]*|0)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TAGS = {f"tag:yaml.org,2002:{name}": name for name in ("str", "int", "float", "bool", "null", "map", "seq")}


def _scalar(text: str) -> Any:
    """Return what a plain YAML scalar stands for, as Kubernetes' reader of YAML 1.1 takes it (dates stay
    texts).
    """
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > 40 or text[0] not in "-+.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        digits = text.replace("_", "").lower()
        sign, digits = (-1, digits[1:]) if digits[0] == "-" else (1, digits.removeprefix("+"))
        if digits[:2] in ("0x", "0b", "0o"):
            return sign * int(digits, 0) if len(digits) > 2 else text
        return sign * int(digits, 8 if digits[0] == "0" else 10)
    return float(text) if _FLOAT.fullmatch(text) else text


class _Stop(Exception):
    """This source cannot be read further; its fault is recorded."""


class _Builder:
    """Changes while it reads: plain data from YAML events, within the limits; faults carry their lines."""

    def __init__(self, text: str, source: str, faults: list[Fault]) -> None:
        self.text, self.source, self.faults = text, source, faults
        self.sound = True
        self.document = 0
        self.size = 0  # characters that the text stands for, aliases expanded
        self.anchors: dict[str, tuple[Any, int] | None] = {}
        self.scalars: dict[str, Any] = {}
        self.next: Any = None

    def documents(self) -> Iterator[tuple[int, Any]]:
        """Yield each document's number and data; a fault that ends the reading ends it."""
        loader: Any = None
        try:
            loader = _Loader(self.text)
            self.next = loader.get_event
            while True:
                event = self.next()
                if isinstance(event, yaml.StreamEndEvent):
                    return
                if not isinstance(event, yaml.DocumentStartEvent):
                    continue
                self.document += 1
                if self.document > LIMITS.documents:
                    self.stop(event, "limit", f"more than {LIMITS.documents:,} documents")
                self.anchors = {}
                data = self.node(self.next(), 1)
                self.next()  # the document's end, so that what follows it is known to be sound
                yield self.document, data
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self.report(mark, "syntax", ", ".join(filter(None, (error.context, error.problem))))
        except yaml.YAMLError as error:
            self.report(None, "syntax", str(error).splitlines()[0])
        except _Stop:
            pass
        finally:
            if loader is not None:
                loader.dispose()

    def report(self, mark: Any, rule: str, message: str, value: Any = None) -> None:
        self.sound = False
        line = mark.line + 1 if mark is not None else 0
        fault = Fault(
            source=self.source, document=self.document, line=line, rule=rule, value=value, message=message
        )
        self.faults.append(fault)

    def stop(self, event: Any, rule: str, message: str) -> NoReturn:
        self.report(event.start_mark, rule, message)
        raise _Stop

    def node(self, event: Any, depth: int) -> Any:
        """Return the data of the node that begins with this event."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            return self.scalar(event)
        if kind is yaml.AliasEvent:
            return self.alias(event)
        if depth > LIMITS.nesting:
            self.stop(event, "limit", f"nested deeper than {LIMITS.nesting}")
        expected = "map" if kind is yaml.MappingStartEvent else "seq"
        if event.tag is not None and _TAGS.get(event.tag) != expected and event.tag != "!":
            self.report(event.start_mark, "tag", f"the tag {shown(event.tag)} is not allowed", event.tag)
        if event.anchor is None:
            return self.mapping(event, depth) if expected == "map" else self.sequence(depth)
        before = self.size
        self.anchors[event.anchor] = None
        data = self.mapping(event, depth) if expected == "map" else self.sequence(depth)
        self.anchors[event.anchor] = data, self.size - before
        return data

    def scalar(self, event: Any) -> Any:
        text = event.value
        self.size += len(text) + 1
        if event.tag is not None and event.tag != "!":
            data = self.tagged(event)
        elif event.implicit[0]:
            try:
                data = self.scalars[text]
            except KeyError:
                data = self.scalars[text] = _scalar(text)
        else:
            data = text
        if event.anchor is not None:
            self.anchors[event.anchor] = data, len(text) + 1
        return data

    def tagged(self, event: Any) -> Any:
        name = _TAGS.get(event.tag)
        if name == "str":
            return event.value
        if name in (None, "map", "seq"):
            self.report(event.start_mark, "tag", f"the tag {shown(event.tag)} is not allowed", event.tag)
            return None
        data = _scalar(event.value)
        if name == "float" and type(data) is int:
            data = float(data)
        if data is not None if name == "null" else type(data).__name__ != name:
            self.report(event.start_mark, "tag", f"{shown(event.value)} is no {name}", event.value)
        return data

    def alias(self, event: Any) -> Any:
        found = self.anchors.get(event.anchor)
        if found is None:
            inside = event.anchor in self.anchors
            words = "stands inside what it names" if inside else "names nothing above it"
            self.stop(event, "alias", f"the alias *{event.anchor} {words}")
        data, size = found
        self.size += size + 1
        if self.size > LIMITS.expansion * len(self.text):
            self.stop(event, "limit", f"aliases expand to more than {LIMITS.expansion} times the text")
        return data

    def sequence(self, depth: int) -> list[Any]:
        self.size += 1
        data: list[Any] = []
        while True:
            event = self.next()
            if type(event) is yaml.SequenceEndEvent:
                return data
            data.append(self.node(event, depth + 1))

    def mapping(self, start: Any, depth: int) -> dict[str, Any]:
        self.size += 1
        data: dict[str, Any] = {}
        merged: list[Mapping[str, Any]] = []
        while True:
            event = self.next()
            if type(event) is yaml.MappingEndEvent:
                break
            merge = (
                type(event) is yaml.ScalarEvent
                and event.value == "<<"
                and event.implicit[0]
                and event.tag is None
            )
            key = self.key(event, depth)
            value = self.node(self.next(), depth + 1)
            if merge:
                several = value if isinstance(value, list) else [value]
                merged += [item for item in several if isinstance(item, dict)]
                if not all(isinstance(item, dict) for item in several):
                    self.report(
                        event.start_mark,
                        "merge",
                        f"<< wants a mapping or a list of them, got {shown(value)}",
                        value,
                    )
            elif key in data:
                self.report(
                    event.start_mark, "duplicate", f"the key {shown(key)} stands twice in one mapping", key
                )
            else:
                data[key] = value
        for item in merged:
            for key, value in item.items():
                data.setdefault(key, value)
        return data

    def key(self, event: Any, depth: int) -> str:
        key = self.node(event, depth + 1)
        if isinstance(key, str):
            return key
        if isinstance(key, bool):
            return "true" if key else "false"
        if isinstance(key, int | float):
            return event.value if type(event) is yaml.ScalarEvent else str(key)
        self.report(event.start_mark, "key", f"a key is a text, got {shown(key)}", None)
        return str(key)


def _yaml_line(node: Any, path: Path) -> int:
    """Return the line where a path stands in composed YAML; where it ends early, of the last step found."""
    line = node.start_mark.line + 1
    for step in path:
        found = None
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = node.value[step], node.value[step]
        elif isinstance(node, yaml.MappingNode):
            found = _entry(node, str(step))
        if found is None:
            return int(line)
        line, node = found[0].start_mark.line + 1, found[1]
    return int(line)


def _entry(node: Any, key: str) -> tuple[Any, Any] | None:
    for name, value in node.value:
        if name.value == key:
            return name, value
    for name, value in node.value:
        if name.value == "<<":
            for merged in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                found = _entry(merged, key) if isinstance(merged, yaml.MappingNode) else None
                if found is not None:
                    return found
    return None




class _Writer(_Dumper):  # type: ignore[misc]
    """Writes as kubectl does: no aliases, lists not indented, whatever a reader could take for no text in
    quotes.
    """

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        found = super().resolve(kind, value, implicit)
        doubtful = kind is yaml.ScalarNode and implicit[0] and found == _TEXT
        return "!" if doubtful and (value in _DOUBTFUL or not isinstance(_scalar(value), str)) else found

    def text(self, data: str) -> Any:
        return self.represent_scalar(_TEXT, data, style="|" if "\n" in data else None)


_TEXT = "tag:yaml.org,2002:str"
_DOUBTFUL = frozenset("yYnN")  # other readers of YAML 1.1 take these for true and false
_Writer.add_representer(str, _Writer.text)


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
            dumped = (
                yaml.dump(item, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=2**20)
                for item in plain
            )
            return "---\n".join(dumped)
    raise ValueError(f'form is "yaml" or "json", not {form!r}')


_FIRST = {"apiVersion": 0, "kind": 1, "metadata": 2, "spec": 3, "status": 4}


def _ordered(plain: dict[str, Any]) -> dict[str, Any]:
    top = sorted(plain, key=lambda key: (_FIRST.get(key, 3), key))
    return {key: _by_name(plain[key]) for key in top}


def _by_name(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_name(value[key]) for key in sorted(value)}
    return [_by_name(item) for item in value] if isinstance(value, list) else value

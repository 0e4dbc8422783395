"""Read YAML text as plain data, with limits and the line of every fault; write plain data as kubectl does.

The only module that knows YAML. Texts are read event by event, so that aliases are counted before they are expanded.
"""

import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import yaml

from kvolsched.api.notebook_output import printable

from .fault import LIMITS, Fault, format_value
from .json_text import FieldPath

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_ROOT = Path(__file__).parents[3]


def yaml_documents(text: str, source: str, faults: list[Fault],
                   progress: Callable[[int], object] = lambda _: None) -> Iterator[tuple[int, Any]]:
    """Yield number and data of each document of a text; append faults to `faults`.

    `progress` is called with the number of characters that were read since its last call.
    """
    return _YamlReader(text, source, faults, progress).documents()


def packaged_data(package: str | None, *path: str) -> Any:
    """Return the data of a YAML file of this package, of one document."""
    faults: list[Fault] = []
    text = _ROOT.joinpath(*str(package).split("."), *path).read_text("utf-8")
    (found,) = (data for _, data in yaml_documents(text, path[-1], faults))
    assert not faults, faults
    return found


def is_yaml(text: str) -> bool:
    """Say whether a text that begins like JSON, but is none, is YAML in flow style."""
    faults: list[Fault] = []
    documents = yaml_documents(text, "", faults) if len(text) < 10**6 else ()
    found = [data for _, data in documents if data is not None]
    return bool(found) and all(fault.rule == "duplicate" for fault in faults)


def find_yaml_lines(text: str, wanted: Collection[tuple[int, FieldPath]]) -> dict[tuple[int, FieldPath], int]:
    """Return the line of each (document, path), or of the longest part of the path that exists."""
    nodes: list[Any] = []
    with contextlib.suppress(yaml.YAMLError):  # a text may end in a fault; documents before it have lines
        nodes.extend(yaml.compose_all(text, Loader=_Loader))
    return {(number, path): _line_of_path(nodes[number - 1], path) for number, path in wanted if number <= len(nodes)}


def to_yaml(plain: Any) -> str:
    """Return plain data as one YAML document, as kubectl writes it; no character in it hides, or is obeyed."""
    return printable(yaml.dump(plain, Dumper=_YamlWriter, sort_keys=False, allow_unicode=True, width=2**20))


def to_kubectl_yaml(plain: Any) -> str:
    """Return plain data as `kubectl get -o yaml` prints it: lines folded, ambiguous texts in double quotes."""
    return printable(yaml.dump(plain, Dumper=_KubectlWriter, sort_keys=False, allow_unicode=True, width=80))


_CONSTANTS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_INTEGER = re.compile(r"[-+]?(0[bB][01_]+|0[oO]?[0-7_]+|0[xX][0-9a-fA-F_]+|[1-9][0-9_]*|0)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TAGS = {f"tag:yaml.org,2002:{name}": name for name in ("str", "int", "float", "bool", "null", "map", "seq")}


def _scalar(text: str) -> Any:
    """Return the value of a plain scalar, as Kubernetes' YAML 1.1 reader does (dates stay texts)."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
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
    """The source cannot be read further; its fault is recorded."""


class _YamlReader:
    """Builds plain data from YAML events, within the limits; mutable while it reads."""

    def __init__(self, text: str, source: str, faults: list[Fault],
                 progress: Callable[[int], object] = lambda _: None) -> None:
        self.text, self.source, self.faults, self.progress = text, source, faults, progress
        self.reported = 0
        self.document = 0
        self.size = 0  # characters that the text stands for, aliases expanded
        self.anchors: dict[str, tuple[Any, int] | None] = {}
        self.scalars: dict[str, Any] = {}
        self.next_event: Any = None

    def documents(self) -> Iterator[tuple[int, Any]]:
        """Yield each document's number and data, up to a fault after which reading cannot continue."""
        loader: Any = None
        try:
            loader = _Loader(self.text)
            self.next_event = loader.get_event
            while True:
                event = self.next_event()
                if isinstance(event, yaml.StreamEndEvent):
                    return
                if not isinstance(event, yaml.DocumentStartEvent):
                    continue
                self.document += 1
                self.report_progress(event)
                if self.document > LIMITS.documents:
                    self.stop(event, "limit", f"more than {LIMITS.documents:,} documents")
                self.anchors = {}
                data = self.node(self.next_event(), 1)
                self.next_event()  # the document's end: raises if the text after the document is no YAML
                yield self.document, data
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self.add_fault(mark, "syntax", ", ".join(filter(None, (error.context, error.problem))))
        except yaml.reader.ReaderError as error:
            self.add_fault(None, "syntax", str(error).splitlines()[0], line=self.line_of(error))
        except yaml.YAMLError as error:
            self.add_fault(None, "syntax", str(error).splitlines()[0])
        except _Stop:
            pass
        finally:
            if loader is not None:
                loader.dispose()

    def line_of(self, error: Any) -> int:
        """Return the line of a forbidden character; libyaml counts bytes up to it."""
        before = self.text.encode(errors="replace")[: error.position]
        return before.count(b"\n") + 1

    def add_fault(self, mark: Any, rule: str, message: str, value: Any = None, *, line: int = 0) -> None:
        line = mark.line + 1 if mark is not None else line
        fault = Fault(source=self.source, document=self.document, line=line, rule=rule, value=value, message=message)
        self.faults.append(fault)

    def stop(self, event: Any, rule: str, message: str) -> NoReturn:
        self.add_fault(event.start_mark, rule, message)
        raise _Stop

    def node(self, event: Any, depth: int) -> Any:
        """Return the data of the node that starts with this event."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            return self.scalar(event)
        if kind is yaml.AliasEvent:
            return self.alias(event)
        if depth > LIMITS.nesting:
            self.stop(event, "limit", f"nested deeper than {LIMITS.nesting}")
        expected = "map" if kind is yaml.MappingStartEvent else "seq"
        if event.tag is not None and _TAGS.get(event.tag) != expected and event.tag != "!":
            self.add_fault(event.start_mark, "tag", f"the tag {format_value(event.tag)} is not allowed", event.tag)
        if event.anchor is None:
            if depth == 3:  # the items of a List
                self.report_progress(event)
            return self.mapping(event, depth) if expected == "map" else self.sequence(depth)
        before = self.size
        self.anchors[event.anchor] = None
        data = self.mapping(event, depth) if expected == "map" else self.sequence(depth)
        self.anchors[event.anchor] = data, self.size - before
        return data

    def report_progress(self, event: Any) -> None:
        place = event.start_mark.index
        self.progress(place - self.reported)
        self.reported = place

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
            self.add_fault(event.start_mark, "tag", f"the tag {format_value(event.tag)} is not allowed", event.tag)
            return None
        data = _scalar(event.value)
        if name == "float" and type(data) is int:
            data = float(data)
        if data is not None if name == "null" else type(data).__name__ != name:
            self.add_fault(event.start_mark, "tag", f"{format_value(event.value)} is no {name}", event.value)
        return data

    def alias(self, event: Any) -> Any:
        found = self.anchors.get(event.anchor)
        if found is None:
            inside = event.anchor in self.anchors
            words = "is inside the node that it refers to" if inside else "has no anchor before it"
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
            event = self.next_event()
            if type(event) is yaml.SequenceEndEvent:
                return data
            data.append(self.node(event, depth + 1))

    def mapping(self, start: Any, depth: int) -> dict[str, Any]:
        self.size += 1
        data: dict[str, Any] = {}
        merged: list[Mapping[str, Any]] = []
        while True:
            event = self.next_event()
            if type(event) is yaml.MappingEndEvent:
                break
            merge = type(event) is yaml.ScalarEvent and event.value == "<<" and event.implicit[0] and event.tag is None
            key = self.key(event, depth)
            value = self.node(self.next_event(), depth + 1)
            if merge:
                several = value if isinstance(value, list) else [value]
                merged += [item for item in several if isinstance(item, dict)]
                if not all(isinstance(item, dict) for item in several):
                    self.add_fault(event.start_mark, "merge",
                                   f"<< wants a mapping or a list of them, got {format_value(value)}", value)
                continue
            if key in data:
                self.add_fault(event.start_mark, "duplicate",
                               f"the key {format_value(key)} appears twice in one mapping", key)
            data[key] = value  # the last one counts, as for Kubernetes' decoders, where the fault does not refuse it
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
        self.add_fault(event.start_mark, "key", f"a key is a text, got {format_value(key)}", None)
        return str(key)


def _line_of_path(node: Any, path: FieldPath) -> int:
    """Return the line of a path in composed YAML, or of the longest part of the path that exists."""
    line = node.start_mark.line + 1
    for step in path:
        found = None
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = node.value[step], node.value[step]
        elif isinstance(node, yaml.MappingNode):
            found = _find_entry(node, str(step))
        if found is None:
            return int(line)
        line, node = found[0].start_mark.line + 1, found[1]
    return int(line)


def _find_entry(node: Any, key: str) -> tuple[Any, Any] | None:
    for name, value in node.value:
        if name.value == key:
            return name, value
    for name, value in node.value:
        if name.value == "<<":
            for merged in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                found = _find_entry(merged, key) if isinstance(merged, yaml.MappingNode) else None
                if found is not None:
                    return found
    return None


class _YamlWriter(_Dumper):  # type: ignore[misc]
    """Writes YAML as kubectl does: no aliases, lists not indented, quotes around texts that look like other values."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        found = super().resolve(kind, value, implicit)
        ambiguous = kind is yaml.ScalarNode and implicit[0] and found == _STRING_TAG
        return "!" if ambiguous and (value in _AMBIGUOUS or not isinstance(_scalar(value), str)) else found

    def text(self, data: str) -> Any:
        style = '"' if printable(data) != data else "|" if "\n" in data else None  # codes are read in double quotes
        return self.represent_scalar(_STRING_TAG, data, style=style)


_STRING_TAG = "tag:yaml.org,2002:str"
_AMBIGUOUS = frozenset("yYnN")  # other readers of YAML 1.1 take these for true and false
_YamlWriter.add_representer(str, _YamlWriter.text)


_TIME = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|<<")


class _KubectlWriter(_YamlWriter):
    """Quotes texts as kubectl's library does (sigs.k8s.io/yaml): twice where they look like other values."""

    def kubectl_text(self, data: str) -> Any:
        if printable(data) != data or "\n" in data:
            return self.text(data)
        other = data in _AMBIGUOUS or not isinstance(_scalar(data), str)
        other = other or any(form.fullmatch(data) for form in (_TIME, _BASE_60, _NO_NUMBER))
        return self.represent_scalar(_STRING_TAG, data, style='"' if other else None)


_KubectlWriter.add_representer(str, _KubectlWriter.kubectl_text)

"""Read JSON text as plain data, find duplicate keys, and find the lines of faults."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Collection, Iterator
from typing import Any

import attrs

from kvolsched.api.notebook_output import UNPRINTABLE

from .fault import LIMITS, Fault, format_value

FieldPath = tuple[str | int, ...]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89abcdefABCDEF]")
_SPACE = re.compile(r"\s*")
_UNPRINTABLE = re.compile(f"[{UNPRINTABLE}]")


class JsonFault(ValueError):
    """The text is no JSON, or exceeds a limit."""

    def __init__(self, rule: str, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.rule, self.message, self.line = rule, message, line


@attrs.frozen
class JsonDocuments:
    """The documents of a JSON text, and a fault for each duplicate key."""

    documents: tuple[Any, ...]
    faults: tuple[Fault, ...]


def to_json(plain: Any, **form: Any) -> str:
    """Return plain data as JSON, in which characters that a terminal obeys or hides are codes; `form` as json.dumps."""
    text = json.dumps(plain, ensure_ascii=False, **form)
    return _UNPRINTABLE.sub(lambda found: json.dumps(found[0])[1:-1].replace("\x7f", r"\u007f"), text)


def json_documents(text: str) -> JsonDocuments:
    """Return the documents of a JSON text; several may follow each other.

    Raises:
        JsonFault: no JSON, nested too deep, or too many documents.
    """
    duplicate_keys: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(items)
        if len(mapping) != len(items):
            seen: set[str] = set()
            duplicate_keys.extend(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return mapping

    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=_no_constant)
    documents: list[Any] = []
    faults: list[Fault] = []
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    try:
        while position < len(text):
            start = position
            data, position = decoder.raw_decode(text, position)
            documents.append(data)
            position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
            if duplicate_keys:
                faults += _duplicates(text, start, len(documents))
                duplicate_keys.clear()
            if len(documents) > LIMITS.documents:
                raise JsonFault("limit", f"more than {LIMITS.documents:,} documents")
    except (ValueError, RecursionError) as error:
        raise _explained(error, text) from None
    if any(_deeper(data, LIMITS.nesting) for data in documents):
        raise _too_deep(text)
    if _SURROGATE.search(text):
        documents = [_sound(data) for data in documents]
    return JsonDocuments(tuple(documents), tuple(faults))


class _Constant(ValueError):
    """A constant such as NaN, which Python's json module accepts."""


def _no_constant(word: str) -> Any:
    raise _Constant(word)


def _explained(error: Exception, text: str) -> JsonFault:
    """Return the fault, with its line, of an error of Python's json module."""
    if isinstance(error, JsonFault):
        return error
    if isinstance(error, json.JSONDecodeError):
        return JsonFault("syntax", f"is no JSON: {error.msg}", error.lineno)
    if isinstance(error, RecursionError):
        return _too_deep(text)
    if isinstance(error, _Constant):
        return JsonFault("syntax", f"is no JSON: {error}", _line_where(text, str(error).__eq__))
    line = _line_where(text, lambda token: len(token) > sys.get_int_max_str_digits() and token.lstrip("-").isdigit())
    return JsonFault("syntax", "is no JSON: a number with too many digits", line)


def _line_where(text: str, wrong: Callable[[str], bool]) -> int:
    """Return the line of the first wrong token, 0 if there is none."""
    found = next((token for token in _TOKEN.finditer(text) if wrong(token.group())), None)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _too_deep(text: str) -> JsonFault:
    depth = 0

    def deeper(token: str) -> bool:
        nonlocal depth
        depth += (token in ("{", "[")) - (token in ("}", "]"))
        return depth > LIMITS.nesting

    return JsonFault("limit", f"nested deeper than {LIMITS.nesting}", _line_where(text, deeper))


def _deeper(data: Any, max_depth: int) -> bool:
    """Say whether data is nested deeper than this, level by level, without recursion."""
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(max_depth + 1):
        level = [child for value in level for child in (value.values() if isinstance(value, dict) else value)
                 if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def _sound(data: Any) -> Any:
    """Replace lone surrogates, which UTF-8 cannot encode, as Go does."""
    if isinstance(data, str):
        return data.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(data, dict):
        return {_sound(key): _sound(value) for key, value in data.items()}
    return [_sound(item) for item in data] if isinstance(data, list) else data


def _walk(text: str, start: int = 0) -> Iterator[tuple[int, str, list[Any]]]:
    """Yield (position, kind, path) of keys and items; kind is "key" or "item", the path is one list that changes."""
    path: list[Any] = []
    inside: list[str] = []  # "{" waiting for a key, ":" waiting for its value, "[" a list
    for token in _TOKEN.finditer(text, start):
        word = token.group()
        if inside and inside[-1] == "[" and word not in ("]", ","):
            yield token.start(), "item", path
        if word in ("{", "["):
            inside.append(word)
            path.append(None if word == "{" else 0)
        elif word in ("}", "]"):
            inside.pop()
            path.pop()
            if inside and inside[-1] == ":":
                inside[-1] = "{"
        elif word == ",":
            if inside and inside[-1] == "[":
                path[-1] += 1
        elif inside and inside[-1] == "{":
            path[-1] = json.loads(word)
            inside[-1] = ":"
            yield token.start(), "key", path
            continue
        elif inside and inside[-1] == ":":
            inside[-1] = "{"
        if not inside:
            return


def _duplicates(text: str, start: int, document: int) -> list[Fault]:
    """Return a fault for every duplicate key in the document that starts at this position."""
    faults: list[Fault] = []
    seen: list[set[str]] = []
    for position, kind, path in _walk(text, start):
        if kind != "key":
            continue
        del seen[len(path) :]
        while len(seen) < len(path):
            seen.append(set())
        if path[-1] in seen[-1]:
            line = text.count("\n", 0, position) + 1
            message = f"the key {format_value(path[-1])} appears twice in one mapping"
            faults.append(Fault(document=document, line=line, rule="duplicate", value=path[-1], message=message))
        seen[-1].add(path[-1])
    return faults


def find_json_lines(text: str, wanted: Collection[tuple[int, FieldPath]]) -> dict[tuple[int, FieldPath], int]:
    """Return the line of each (document, path), or of the longest part of the path that exists."""
    prefixes = {(number, path[:length]) for number, path in wanted for length in range(len(path) + 1)}
    lines: dict[tuple[int, FieldPath], int] = {}
    number, line, counted = 1, 1, 0
    position = _SPACE.match(text).end()  # type: ignore[union-attr]
    while position < len(text):
        steps: Iterator[tuple[int, FieldPath]] = ((at, tuple(path)) for at, _, path in _walk(text, position))
        for at, path in itertools.chain([(position, ())], steps):
            if (number, path) in prefixes and (number, path) not in lines:
                line, counted = line + text.count("\n", counted, at), at
                lines[number, path] = line
        if number == max(other for other, _ in wanted):
            break
        position = _SPACE.match(text, json.JSONDecoder().raw_decode(text, position)[1]).end()  # type: ignore[union-attr]
        number += 1
    return {
        (number, path): next(lines[number, path[:length]] for length in range(len(path), -1, -1)
                             if (number, path[:length]) in lines)
        for number, path in wanted
    }

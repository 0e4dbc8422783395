"""JSON text to plain data, with duplicate keys found, and back to line numbers when a fault asks for them."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections.abc import Callable, Collection, Iterator
from typing import Any

import attrs

from .fault import Fault, format_value
from .input_limits import LIMITS

FieldPath = tuple[str | int, ...]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89abcdefABCDEF]")
_SPACE = re.compile(r"\s*")


class JsonFault(ValueError):
    """The text is no JSON, or more than the limits allow."""

    def __init__(self, rule: str, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.rule, self.message, self.line = rule, message, line


@attrs.frozen
class JsonDocuments:
    """What stands in a text, and the duplicate keys found in it."""

    documents: tuple[Any, ...]
    faults: tuple[Fault, ...]


def json_documents(text: str) -> JsonDocuments:
    """Return the documents of a JSON text: usually one, but several may follow each other.

    Raises:
        JsonFault: no JSON, nested too deep, or too many documents.
    """
    twice: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            seen: set[str] = set()
            twice.extend(key for key, _ in items if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return found

    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=_no_constant)
    documents: list[Any] = []
    faults: list[Fault] = []
    place = _SPACE.match(text).end()  # type: ignore[union-attr]
    try:
        while place < len(text):
            start = place
            data, place = decoder.raw_decode(text, place)
            documents.append(data)
            place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
            if twice:
                faults += _duplicates(text, start, len(documents))
                twice.clear()
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
    """A word such as NaN, which Python's reader would take."""


def _no_constant(word: str) -> Any:
    raise _Constant(word)


def _explained(error: Exception, text: str) -> JsonFault:
    """Say what the reader met, and in which line."""
    if isinstance(error, JsonFault):
        return error
    if isinstance(error, json.JSONDecodeError):
        return JsonFault("syntax", f"is no JSON: {error.msg}", error.lineno)
    if isinstance(error, RecursionError):
        return _too_deep(text)
    if isinstance(error, _Constant):
        return JsonFault("syntax", f"is no JSON: {error}", _line_where(text, str(error).__eq__))
    return JsonFault("syntax", "is no JSON: a number with too many digits", _line_where(text, _long_number))


def _long_number(token: str) -> bool:
    return len(token) > sys.get_int_max_str_digits() and token.lstrip("-").isdigit()


def _line_where(text: str, wrong: Callable[[str], bool]) -> int:
    """Return the line of the first token that is wrong; 0: none is."""
    found = next((token for token in _TOKEN.finditer(text) if wrong(token.group())), None)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _too_deep(text: str) -> JsonFault:
    depth = 0

    def deeper(token: str) -> bool:
        nonlocal depth
        depth += (token in ("{", "[")) - (token in ("}", "]"))
        return depth > LIMITS.nesting

    return JsonFault("limit", f"nested deeper than {LIMITS.nesting}", _line_where(text, deeper))


def _deeper(data: Any, most: int) -> bool:
    """Say whether data is nested deeper than this: level by level, so that depth costs no stack."""
    level = [data]
    for _ in range(most + 1):
        level = [
            child
            for value in level
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _sound(data: Any) -> Any:
    """Replace lone surrogates, which no UTF-8 text can hold, as Go does."""
    if isinstance(data, str):
        return data.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(data, dict):
        return {_sound(key): _sound(value) for key, value in data.items()}
    return [_sound(item) for item in data] if isinstance(data, list) else data


def _walk(text: str, start: int = 0) -> Iterator[tuple[int, str, list[Any]]]:
    """Yield (place, kind, path) of keys and items: kind is "key" or "item"; the path is a list that goes on
    changing.
    """
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
    """Return a fault for every key that stands twice in one mapping of the document that begins here."""
    faults: list[Fault] = []
    seen: list[set[str]] = []
    for place, kind, path in _walk(text, start):
        if kind != "key":
            continue
        del seen[len(path) :]
        while len(seen) < len(path):
            seen.append(set())
        if path[-1] in seen[-1]:
            line = text.count("\n", 0, place) + 1
            message = f"the key {format_value(path[-1])} stands twice in one mapping"
            faults.append(
                Fault(document=document, line=line, rule="duplicate", value=path[-1], message=message)
            )
        seen[-1].add(path[-1])
    return faults


def find_json_lines(text: str, wanted: Collection[tuple[int, FieldPath]]) -> dict[tuple[int, FieldPath], int]:
    """Return the line where each (document, path) stands; of the last step found, if it ends early."""
    prefixes = {(number, path[:length]) for number, path in wanted for length in range(len(path) + 1)}
    found: dict[tuple[int, FieldPath], int] = {}
    number, line, counted = 1, 1, 0
    place = _SPACE.match(text).end()  # type: ignore[union-attr]
    while place < len(text):
        steps: Iterator[tuple[int, FieldPath]] = ((here, tuple(path)) for here, _, path in _walk(text, place))
        for here, path in itertools.chain([(place, ())], steps):
            if (number, path) in prefixes and (number, path) not in found:
                line, counted = line + text.count("\n", counted, here), here
                found[number, path] = line
        if number == max(other for other, _ in wanted):
            break
        place = _SPACE.match(text, json.JSONDecoder().raw_decode(text, place)[1]).end()  # type: ignore[union-attr]
        number += 1
    return {
        (number, path): next(
            found[number, path[:length]]
            for length in range(len(path), -1, -1)
            if (number, path[:length]) in found
        )
        for number, path in wanted
    }

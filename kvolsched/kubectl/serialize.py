"""Objects as `kubectl get -o yaml`, `-o json`, `-o name` and JSONPath templates print them (v1.36.2).

Keys are sorted, quotes are kubectl's. Templates are evaluated as client-go `util/jsonpath` does:
`{.items[*].metadata.name}`, `{range .items[*]}...{end}`, filters. A missing key gives nothing; an index beyond the end
is an error.
"""

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..api.text import json_text
from ..api.text.convert import to_plain
from ..api.text.yaml_text import to_kubectl_yaml

_CHUNKS = re.compile(r"[0-9]+|[^\W\d_]|.", re.DOTALL)
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_ESCAPED = re.compile("[<>&]")


def printed_data(objects: Sequence[Any], *, as_list: bool) -> dict[str, Any]:
    """Return what `-o yaml` and JSONPath see: the one object, or a List."""
    if not as_list:
        return to_plain(objects[0])
    items = [to_plain(obj) for obj in objects]
    return {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}


def serialize(objects: Sequence[Any], output: str, *, as_list: bool) -> str:
    """Return objects as `-o yaml`, `-o json` or `-o name` writes them, in one List if asked."""
    if output == "name":
        groups = (obj.api_version.rpartition("/")[0] for obj in objects)
        kinds = (obj.kind.lower() + (group and f".{group}") for obj, group in zip(objects, groups, strict=True))
        return "\n".join(f"{kind}/{obj.metadata.name}" for obj, kind in zip(objects, kinds, strict=True))
    data = printed_data(objects, as_list=as_list)
    for plain in data["items"] if as_list else (data,):
        plain.get("metadata", {}).pop("managedFields", None)  # as without --show-managed-fields
    return to_json(data, indent=4) if output == "json" else to_kubectl_yaml(_sorted(data)).rstrip("\n")


def to_json(data: Any, indent: int | None = None) -> str:
    """Return plain data as Go's encoder writes it: sorted keys, `<`, `>`, `&` as codes; compact without an indent."""
    separators = (",", ": ") if indent else (",", ":")
    text = json_text.to_json(data, indent=indent, sort_keys=True, separators=separators)
    return _ESCAPED.sub(lambda found: _HTML[found[0]], text)


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a sort key by which numbers in texts count as numbers, and letters come after all else."""
    return [_rank(chunk) for chunk in _CHUNKS.findall(text)]


def _rank(chunk: str) -> tuple[int, int, str]:
    if chunk[0].isdigit() and chunk.isdecimal():
        return 1, int(chunk), chunk
    return (2 if chunk.isalpha() else 0), 0, chunk


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value, key=natural_key)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


_TEXT = re.compile(r"""(?P<quote>["'])(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P=quote)""", re.DOTALL)
_NAME = re.compile(r"(?:\\.|[^\s.\[\]{}()'\",=!<>\\])+")
_SLICE = re.compile(r"(-?\d*):(-?\d*)(?::(-?\d+))?")
_COMPARISON = re.compile(r"(?P<left>.*?)(?P<sign>==|!=|<=|>=|<|>)(?P<right>.*)", re.DOTALL)
_SIGNS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le,
          ">=": operator.ge}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_MISSING = object()


class JsonPathFault(ValueError):
    """A template that cannot be read or evaluated."""


def print_jsonpath(template: str, data: Any) -> str:
    """Return the text that a template makes of plain data.

    Raises:
        JsonPathFault: the template cannot be read, or an index is beyond the end of a list.
    """
    texts, rest = _run(list(_parts(template)), 0, data)
    if rest is not None:
        raise JsonPathFault("not in range, nothing to end")
    return "".join(texts)


def find_values(path: str, data: Any) -> list[Any]:
    """Return the values at a path as `--sort-by` and custom columns write it: `.a.b`, `a.b` or `{.a.b}`.

    Raises:
        JsonPathFault: the path cannot be read.
    """
    inner = path.strip()
    if inner.startswith("{"):
        if not inner.endswith("}"):
            forms = ("'name1.name2'", "'.name1.name2'", "'{name1.name2}'", "'{.name1.name2}'")
            raise JsonPathFault(f"unexpected path string, expected a {' or '.join(forms)}")
        inner = inner[1:-1].strip()
    return list(_walk(inner if inner[:1] in (".", "$", "[", "@") else f".{inner}", data, data))


def _parts(template: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a template: ("text", ...), or ("action", what stands in braces)."""
    place = 0
    while (start := template.find("{", place)) >= 0:
        if start > place:
            yield "text", template[place:start]
        end = next((at for at, sign in _outside_quotes(template, start + 1) if sign == "}"), None)
        if end is None:
            raise JsonPathFault("unclosed action")
        yield "action", template[start + 1 : end].strip()
        place = end + 1
    if place < len(template):
        yield "text", template[place:]


def _outside_quotes(text: str, place: int = 0) -> Iterator[tuple[int, str]]:
    """Yield the characters that stand in no quotes, with their places."""
    while place < len(text):
        quoted = _TEXT.match(text, place)
        if quoted is None:
            yield place, text[place]
        place = quoted.end() if quoted else place + 1


def _run(parts: list[tuple[str, str]], start: int, data: Any) -> tuple[list[str], int | None]:
    """Return the texts of parts up to the `end` of this range, and the number after it; None at the template's end."""
    texts: list[str] = []
    number = start
    while number < len(parts):
        kind, said = parts[number]
        number += 1
        if kind == "text":
            texts.append(said)
        elif said == "end":
            return texts, number
        elif said == "range" or said.startswith("range "):
            after: int | None = None
            for value in [*_walk(said.removeprefix("range").strip(), data, data)]:
                inside, after = _run(parts, number, value)
                if after is None:
                    raise JsonPathFault("unexpected range end")
                texts += inside
            number = _end_of_range(parts, number) if after is None else after
        elif quoted := _TEXT.fullmatch(said):
            texts.append(_unescaped(quoted["text"]))
        else:
            texts.append(" ".join(map(as_text, _walk(said, data, data))))
    return texts, None


def _end_of_range(parts: list[tuple[str, str]], number: int) -> int:
    depth = 1
    while number < len(parts) and depth:
        kind, said = parts[number]
        depth += (said.startswith("range")) - (said == "end") if kind == "action" else 0
        number += 1
    return number


def as_text(value: Any) -> str:
    """Return a value as a template prints it: texts as they are, lists and mappings as JSON."""
    if isinstance(value, str):
        return value
    return to_json(value)


def _walk(path: str, data: Any, root: Any) -> Iterator[Any]:
    """Yield the values at a path."""
    values: list[Any] = [data]
    place = 0
    while place < len(path):
        sign = path[place]
        if sign == "$":
            values, place = [root], place + 1
        elif sign == "@" or sign.isspace():
            place += 1
        elif sign == "[":
            end = _closing(path, place)
            values = [found for value in values for found in _inside(path[place + 1 : end].strip(), value, root)]
            place = end + 1
        elif path.startswith("..", place):
            name = _NAME.match(path, place + 2)
            everything = [found for value in values for found in _descendants(value)]
            values = everything if name is None else [v for each in everything for v in _field(each, name[0])]
            place = name.end() if name else place + 2
        elif sign == ".":
            name = _NAME.match(path, place + 1)
            if name is not None:
                values = [found for value in values for found in _field(value, name[0])]
            place = name.end() if name else place + 1
        else:
            raise JsonPathFault(f"unrecognized character in action: U+{ord(sign):04X} '{sign}'")
    yield from values


def _closing(path: str, start: int) -> int:
    depth = 0
    for place, sign in _outside_quotes(path, start):
        depth += (sign == "[") - (sign == "]")
        if not depth:
            return place
    raise JsonPathFault("unterminated array")


def _field(value: Any, name: str) -> Iterator[Any]:
    if name == "*":
        yield from _children(value)
        return
    plain = re.sub(r"\\(.)", r"\1", name)
    if isinstance(value, Mapping) and plain in value:
        yield value[plain]


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return value if isinstance(value, list) else []


def _descendants(value: Any) -> Iterator[Any]:
    yield value
    for child in _children(value):
        yield from _descendants(child)


def _inside(said: str, value: Any, root: Any) -> Iterator[Any]:
    """Yield what brackets choose of a value: an index, a slice, names, a filter, or all."""
    if said.startswith("?("):
        yield from (child for child in _children(value) if _holds(said[2:].removesuffix(")").strip(), child, root))
        return
    for part in _split(said):
        quoted = _TEXT.fullmatch(part)
        if quoted:
            name = quoted["text"]
            yield from _field(value, re.escape(name) if name == "*" else re.sub(r"\\?\.", r"\\.", name))
        elif part == "*":
            yield from _children(value)
        elif part.startswith((".", "@", "$")):
            yield from _walk(part, value, root)
        elif re.fullmatch(r"-?\d+", part):
            yield from _item(value, int(part))
        elif sliced := _SLICE.fullmatch(part):
            first, last, every = (int(each) if each else None for each in sliced.groups())
            yield from value[first:last:every] if isinstance(value, list) else ()
        else:
            raise JsonPathFault(f"invalid array index {part}")


def _split(said: str) -> list[str]:
    """Return the parts between commas that stand in no quotes."""
    commas = [place for place, sign in _outside_quotes(said) if sign == "," and place]
    return [said[start + 1 : end].strip() for start, end in pairwise([-1, *commas, len(said)])]


def _item(value: Any, index: int) -> Iterator[Any]:
    if not isinstance(value, list):
        return
    if not -len(value) <= index < len(value):
        raise JsonPathFault(f"array index out of bounds: index {index}, length {len(value)}")
    yield value[index]


def _holds(said: str, value: Any, root: Any) -> bool:
    """Say whether a filter chooses a value."""
    parts = _COMPARISON.fullmatch(said)
    if parts is None:
        return bool(list(_walk(said, value, root)))
    left, right = (_operand(parts[side].strip(), value, root) for side in ("left", "right"))
    if left is _MISSING or right is _MISSING:
        return False
    ordered = isinstance(left, type(right)) or (isinstance(left, int | float) and isinstance(right, int | float))
    if parts["sign"] not in ("==", "!=") and not ordered:
        raise JsonPathFault("incompatible types for comparison")
    return bool(_SIGNS[parts["sign"]](left, right))


def _operand(said: str, value: Any, root: Any) -> Any:
    if quoted := _TEXT.fullmatch(said):
        return _unescaped(quoted["text"])
    if said in ("true", "false"):
        return said == "true"
    if re.fullmatch(r"-?\d+(\.\d+)?", said):
        return float(said) if "." in said else int(said)
    return next(_walk(said, value, root), _MISSING)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), text)

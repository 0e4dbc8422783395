"""Read the sources of manifests: texts, files, directories, plain data, or iterables of these; unpack gzip.

Texts are UTF-8, or UTF-16 with a byte order mark. They are not trusted: `LIMITS` bounds their size.
"""

import codecs
import gzip
import io
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

import attrs

from ..kinds.kind import KINDS
from .convert import to_plain
from .fault import LIMITS, Fault, PathChain, format_path, format_value, path_steps

KIND_TYPES = tuple(kind.type for kind in KINDS)
SUFFIXES = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")
GZIP_MAGIC = b"\x1f\x8b"  # the first bytes of every gzip file
_BYTE_ORDER_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@attrs.frozen
class NamedText:
    """A text or bytes with the name that faults give them, such as `standard input`."""

    content: str | bytes
    name: str


def read_sources(source: Any, name: str, faults: list[Fault]) -> Iterator[tuple[str, str | Mapping[str, Any]]]:
    """Yield each text or mapping of a source with its name; an object is one too; unreadable ones become faults.

    A text is a path if it has one line, no `: `, and does not begin with `{` or `[`.
    """
    if isinstance(source, Mapping):
        found: list[Fault] = []
        data = _plain(source, None, found)
        faults += (attrs.evolve(fault, source=name) for fault in found)
        if not found:
            yield name, data
    elif isinstance(source, Path):
        yield from _files(source, faults)
    elif isinstance(source, NamedText):
        yield from _text(source.content, source.name, faults)
    elif isinstance(source, bytes):
        yield from _text(source, name, faults)
    elif isinstance(source, str):
        if "\n" in source or ": " in source or not source.strip() or source.lstrip().startswith(("{", "[")):
            yield from _text(source, name, faults)
        else:
            yield from _files(Path(source), faults)
    elif isinstance(source, KIND_TYPES):
        yield name, to_plain(source)
    elif isinstance(source, Iterable):
        for item in source:
            yield from read_sources(item, name, faults)
    else:
        message = f"wants a text, a path or plain data, got {type(source).__name__}"
        faults.append(Fault(source=name, rule="type", message=message))


def _plain(value: Any, path: PathChain, faults: list[Fault], depth: int = 1) -> Any:
    """Return Python data as the data of a text: keys are texts, as YAML's keys become, and times too."""
    if isinstance(value, Mapping):
        if depth > LIMITS.nesting:
            return _refused(path, "limit", f"nested deeper than {LIMITS.nesting}", faults)
        return {_text_key(key, path, faults): _plain(each, (path, str(key)), faults, depth + 1)
                for key, each in value.items()}  # fmt: skip
    if isinstance(value, list | tuple):
        if depth > LIMITS.nesting:
            return _refused(path, "limit", f"nested deeper than {LIMITS.nesting}", faults)
        return [_plain(each, (path, index), faults, depth + 1) for index, each in enumerate(value)]
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return f"{value.isoformat()}{'' if value.tzinfo else 'Z'}".replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if attrs.has(type(value)) and not isinstance(value, type):
        return _plain(to_plain(value), path, faults, depth)
    return _refused(path, "type", f"wants plain data, got {type(value).__name__}", faults)


def _text_key(key: Any, path: PathChain, faults: list[Fault]) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return str(key).lower()
    if not isinstance(key, int | float):
        _refused(path, "key", f"a key is a text, got {type(key).__name__}", faults)
    return str(key)


def _refused(path: PathChain, rule: str, message: str, faults: list[Fault]) -> None:
    faults.append(Fault(path=format_path(path_steps(path)), rule=rule, message=message))


def _files(path: Path, faults: list[Fault]) -> Iterator[tuple[str, str]]:
    try:
        if not path.is_dir():
            yield from _text(_bytes_of(path), str(path), faults)
            return
        entries = sorted(path.iterdir())
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else ""
        faults.append(Fault(source=format_value(str(path)).strip('"'), rule="file", message=reason or str(error)))
        return
    files = [entry for entry in entries if entry.name.endswith(SUFFIXES)]
    for file in files:
        if file.is_file():
            yield from _files(file, faults)
        elif not file.is_dir():
            faults.append(Fault(source=str(file), rule="skipped", message=f"is {_sort_of_file(file)}, not a file"))
    if not any(file.is_file() for file in files):
        within = "; directories in it are not read" if any(entry.is_dir() for entry in entries) else ""
        message = f"has no file that ends in {', '.join(SUFFIXES[:3])}{within}"
        faults.append(Fault(source=str(path), rule="skipped", message=message))


def _bytes_of(path: Path) -> bytes:
    with path.open("rb") as opened:  # a pipe or a device has no size
        return opened.read(LIMITS.size + 1)


def _sort_of_file(path: Path) -> str:
    """Return what stands in a directory that is neither a file nor a directory."""
    if path.is_symlink():
        return "a link to nothing"
    return "a pipe" if stat.S_ISFIFO(path.stat().st_mode) else "a device or socket"


def _text(content: str | bytes, name: str, faults: list[Fault]) -> Iterator[tuple[str, str]]:
    if isinstance(content, bytes) and content.startswith(GZIP_MAGIC):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
                content = packed.read(LIMITS.size + 1)
        except (OSError, EOFError, zlib.error) as error:
            faults.append(Fault(source=name, rule="syntax", message=f"is no sound gzip file: {error}"))
            return
    size = len(content)
    if isinstance(content, str) and not content.isascii():
        try:
            size = len(content.encode())
        except UnicodeEncodeError as error:
            line = content.count("\n", 0, error.start) + 1
            faults.append(Fault(source=name, line=line, rule="syntax", message=f"is not UTF-8 text: {error.reason}"))
            return
    if size > LIMITS.size:
        faults.append(Fault(source=name, rule="limit", message=f"is longer than {LIMITS.size // 10**6:,} MB"))
        return
    try:
        content = _decoded(content) if isinstance(content, bytes) else content  # the bytes are not kept beside it
        yield name, content
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"is not {error.encoding.upper()} text: {error.reason}"
        faults.append(Fault(source=name, line=line, rule="syntax", message=message))


def _decoded(content: bytes) -> str:
    """Return the text of bytes: UTF-8 unless a byte order mark says otherwise.

    Raises:
        UnicodeDecodeError: they are no such text.
    """
    encoding = next((name for mark, name in _BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8-sig")
    text = content.decode(encoding)
    if "\0" in text[:_LOOKED_AT]:
        at = text.index("\0")
        reason = "it has NUL bytes; if it is UTF-16, save it as UTF-8 or with a byte order mark"
        raise UnicodeDecodeError("utf-8", content, at, at + 1, reason)
    return text


_LOOKED_AT = 1000  # characters in which a text of another encoding, or no text, shows NUL bytes

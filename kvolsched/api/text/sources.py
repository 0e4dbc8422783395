"""Read the sources of manifests: texts, files, directories, plain data, or iterables of these; unpack gzip.

Texts are not trusted: `LIMITS` bounds their size.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from ..kinds.kind import KINDS
from .convert import to_plain
from .fault import Fault, format_value

KIND_TYPES = tuple(kind.type for kind in KINDS)
SUFFIXES = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")
GZIP_MAGIC = b"\x1f\x8b"  # the first bytes of every gzip file


@attrs.frozen(kw_only=True)
class Limits:
    """The largest sizes that are read; larger ones are refused."""

    size: int = 512 * 10**6  # bytes of one source
    documents: int = 200_000  # in one source
    nesting: int = 100  # mappings and lists inside each other
    expansion: int = 10  # size after expanding YAML aliases, as a multiple of the text


LIMITS = Limits()


def read_sources(source: Any, name: str, faults: list[Fault]) -> Iterator[tuple[str, str | Mapping[str, Any]]]:
    """Yield each text or mapping of a source with its name; an object is one too; unreadable ones become faults.

    A text is a path if it has one line, no `: `, and does not begin with `{` or `[`.
    """
    if isinstance(source, Mapping):
        yield name, source
    elif isinstance(source, Path):
        yield from _files(source, faults)
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
        raise TypeError(f"cannot read manifests from {type(source).__name__}")


def _files(path: Path, faults: list[Fault]) -> Iterator[tuple[str, str]]:
    try:
        entries = sorted(path.iterdir()) if path.is_dir() else None
        size = path.stat().st_size
        content = path.read_bytes() if entries is None and size <= LIMITS.size else b""
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else ""
        faults.append(Fault(source=format_value(str(path)).strip('"'), rule="file", message=reason or str(error)))
        return
    if entries is not None:
        for file in entries:
            if file.name.endswith(SUFFIXES) and file.is_file():
                yield from _files(file, faults)
    elif size > LIMITS.size:
        faults.append(_too_long(str(path)))
    else:
        yield from _text(content, str(path), faults)


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
        faults.append(_too_long(name))
        return
    try:
        yield name, content.decode("utf-8-sig") if isinstance(content, bytes) else content
    except UnicodeDecodeError as error:
        faults.append(Fault(source=name, rule="syntax", message=f"is not UTF-8 text: {error.reason}"))


def _too_long(name: str) -> Fault:
    return Fault(source=name, rule="limit", message=f"is longer than {LIMITS.size // 10**6} MB")

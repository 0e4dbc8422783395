"""Redact a dump: replace its names, so that it can be shared and is still judged alike.

What stays is listed (`words`), all else is replaced, the same name by the same one wherever it stands. Names keep the
parts that they are made of, and their order. This room knows manifests and Kubernetes' sentences, but no cluster and
no scheduling rule. Files are not overwritten without being told to; what cannot be written is said in one line.
"""

import gzip
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs

from ...api.progress import ProgressBar
from ...api.text.convert import to_plain
from ...api.text.manifest import write
from .names import NameParts, Names
from .objects import Objects

STDOUT = "-"


@attrs.frozen
class RedactedDump:
    """A dump without names: its objects as plain data, and the secret map: new name -> old name."""

    objects: tuple[dict[str, Any], ...]
    names: Mapping[str, str]


class Redaction:
    """The names of a dump and their replacements. Mutable: it remembers what it replaced.

    Objects are made plain one by one, so that no more memory is needed than for the dump itself.

    Args:
        objects: typed or plain.
        salt: equal objects and salts give equal names.
    """

    def __init__(self, objects: Sequence[Any], salt: str = "") -> None:
        self.source = objects
        parts = NameParts()
        for item in self._each("collecting names"):
            parts.add(item)
            parts.sets.update(_stateful_sets(item))
        parts.split()
        self.names = Names(parts, salt)
        self.replacing = Objects(self.names)

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield each object with its names replaced; objects of kinds that are not modelled keep only metadata."""
        for item in self._each("replacing names"):
            yield self.replacing.object(to_plain(item))

    def written(self, form: str) -> Iterator[str]:
        """Yield the text of the redacted dump in pieces, as JSON (an object a line) or YAML."""
        if form == "json":
            yield '{"apiVersion": "v1", "kind": "List", "items": [\n'
        for number, item in enumerate(self.objects()):
            if form == "json":
                yield (",\n" if number else "") + json.dumps(item, ensure_ascii=False)
            else:
                yield ("---\n" if number else "") + write(item)
        if form == "json":
            yield "\n]}\n"

    def old_names(self) -> dict[str, str]:
        """Return the secret map: new name -> old name, of all names that were replaced so far."""
        new_names = {**self.names.new_words, **self.names.new_names}
        return {new: old for old, new in sorted(new_names.items()) if old != new}

    def __str__(self) -> str:
        """Return how many objects of each kind were given other names, and how many other texts of each sort."""
        kinds = [f"{count:,} {kind}" for kind, count in sorted(self.replacing.counts.items())]
        sorts = [f"{count:,} {sort}" for sort, count in sorted(self.names.counts.items())]
        return (
            f"{len(self.source):,} objects; new names of {', '.join(kinds) or 'none'}\n"
            f"replaced: {', '.join(sorts) or 'nothing'}; check the file before you share it"
        )

    def _each(self, doing: str) -> Iterator[Any]:
        with ProgressBar(len(self.source), unit=" objects", desc=doing) as bar:
            for item in self.source:
                yield item
                bar.update()


def redact(objects: Iterable[Any], *, salt: str = "") -> RedactedDump:
    """Return objects, typed or plain, without their names; equal objects and salt give equal results.

    Objects of kinds that are not modelled keep only their metadata. `words` lists what stays in the others.
    """
    redaction = Redaction(list(objects), salt)
    redacted = tuple(redaction.objects())
    return RedactedDump(redacted, redaction.old_names())


def _stateful_sets(item: Any) -> Iterator[str]:
    """Yield the names of StatefulSets that an object tells of: the ordinals of their pods stay."""
    if isinstance(item, dict):
        metadata = item.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        found = [(item.get("kind"), metadata.get("name"))]
        owners = metadata.get("ownerReferences") or ()
        found += [(owner.get("kind"), owner.get("name")) for owner in owners if isinstance(owner, dict)]
    else:
        found = [(item.kind, item.metadata.name)]
        found += [(owner.kind, owner.name) for owner in item.metadata.owner_references]
    yield from (name for kind, name in found if kind == "StatefulSet" and isinstance(name, str))


class CannotWrite(Exception):
    """A file that cannot be written; the message is one line."""


def check_writable(path: str, *, overwrite: bool) -> None:
    """Refuse early a file that could not be written.

    Raises:
        CannotWrite: it is a directory, it exists and may not be overwritten, or its directory does not exist.
    """
    if path == STDOUT:
        return
    file = Path(path)
    if file.is_dir():
        raise CannotWrite(f"{path} is a directory; name a file in it, such as {file / 'redacted.json'}")
    if not overwrite and file.is_file():
        raise CannotWrite(f"{path} exists and is not overwritten; --force overwrites it")
    if not file.parent.is_dir():
        raise CannotWrite(f"cannot write {path}: there is no directory {file.parent}")


def write_pieces(path: str, pieces: Iterable[str], *, secret: bool = False) -> None:
    """Write a text in pieces to a file or to standard output; compressed if its name ends in .gz.

    A file that could not be written to its end is removed.

    Args:
        path: the file, or - for standard output.
        pieces: of the text.
        secret: only its owner may read the file.

    Raises:
        CannotWrite: the system refuses the file.
        OSError: it refuses standard output.
    """
    mode = 0o600 if secret else 0o666
    try:
        with ExitStack() as opened:
            stream: Any = sys.stdout.buffer if path == STDOUT else opened.enter_context(
                open(path, "wb", opener=lambda file, flags: os.open(file, flags, mode)))
            if secret and Path(path).is_file():
                os.fchmod(stream.fileno(), mode)  # also if it was there
            if path.endswith(".gz"):
                stream = opened.enter_context(gzip.GzipFile(fileobj=stream, mode="wb", filename="", mtime=0))
            for piece in pieces:
                stream.write(piece.encode())
            stream.flush()
    except OSError as error:
        if path == STDOUT:
            raise
        if Path(path).is_file():
            Path(path).unlink()
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from None

"""Writes what was redacted to files, or says in one line why it cannot; overwrites nothing without being told to."""

import gzip
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

STDOUT = "-"


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
    if path == STDOUT:
        _write_all(sys.stdout.buffer, pieces)
        return
    try:
        with _opened(path, secret=secret) as stream:
            if path.endswith(".gz"):
                with gzip.GzipFile(fileobj=stream, mode="wb", filename="", mtime=0) as packed:
                    _write_all(packed, pieces)
            else:
                _write_all(stream, pieces)
    except OSError as error:
        if Path(path).is_file():
            Path(path).unlink()
        raise CannotWrite(f"cannot write {path}: {error.strerror or error}") from None


def _opened(path: str, *, secret: bool) -> BinaryIO:
    mode = 0o600 if secret else 0o666
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    if secret and Path(path).is_file():
        os.fchmod(descriptor, mode)  # also if it was there
    return os.fdopen(descriptor, "wb")


def _write_all(stream: BinaryIO | gzip.GzipFile, pieces: Iterable[str]) -> None:
    for piece in pieces:
        stream.write(piece.encode())
    stream.flush()

"""Recorded cases as files hold them: one JSON object a line, or one a file, packed or not. Only this module reads them.

A case is plain data: what it means is for its family to say.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

Case = Mapping[str, Any]


@attrs.frozen
class Recorded:
    """One recorded case: its family, its name, and its text, which is parsed when it is played."""

    family: str
    id: str
    text: str = attrs.field(repr=False)

    @property
    def case(self) -> Case:
        """The case as plain data, a new copy each time."""
        parsed: Case = json.loads(self.text)
        return parsed


def read(path: Path) -> tuple[Recorded, ...]:
    """Return the cases of a file `FAMILY.jsonl`, `FAMILY.json` or either packed as `.gz`, in its order.

    Raises:
        ValueError: the file is not packed as its name says, or some line is no JSON object; the message says where.
        OSError: it cannot be read.
    """
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = content.decode()
    except (gzip.BadGzipFile, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    name = path.name.removesuffix(".gz")
    stem = name.rpartition(".")[0]
    pieces = [text] if name.endswith(".json") else text.split("\n")
    found = []
    for number, piece in enumerate(pieces, 1):
        if not piece.strip():
            continue
        try:
            case = json.loads(piece)
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}") from None
        if not isinstance(case, dict):
            raise ValueError(f"{path}:{number}: a case is a JSON object, not {type(case).__name__}")  # noqa: TRY004
        found.append(Recorded(str(case.get("family", stem)), str(case.get("id", f"{stem}:{number}")), piece))
    return tuple(found)

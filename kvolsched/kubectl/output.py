"""Values that print as kubectl's output: a table, several tables, a text."""

from __future__ import annotations

import re

import attrs

from kvolsched.notebook_output import PrintedAnswer

from .formatting import align_columns

MIN_COLUMN_WIDTH, COLUMN_PADDING = 6, 3  # of `kubectl get`


@attrs.frozen(repr=False)
class Listing(PrintedAnswer):
    """Table of `kubectl get`: columns and rows, or the sentence that there are none."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty_message: str = "No resources found"

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        if not self.rows:
            return self.empty_message
        return align_columns(["\t".join(row) for row in (self.columns, *self.rows)], MIN_COLUMN_WIDTH, COLUMN_PADDING)


@attrs.frozen(repr=False)
class Listings(PrintedAnswer):
    """Tables of `kubectl get pods,pvc`, one for each kind; empty ones are not printed."""

    tables: tuple[Listing, ...]

    def __len__(self) -> int:
        return sum(map(len, self.tables))

    def __repr__(self) -> str:
        texts = [repr(table) for table in self.tables if table.rows]
        return "\n\n".join(texts) or (self.tables[0].empty_message if self.tables else "No resources found")


@attrs.frozen(repr=False)
class Description(PrintedAnswer):
    """Text of `kubectl describe`, or of `kubectl get -o yaml`."""

    text: str

    def __repr__(self) -> str:
        return self.text


@attrs.frozen(repr=False)
class CommandOutput(PrintedAnswer):
    """What a kubectl command printed: its output, its errors and warnings, and its exit code. Prints as both.

    `hint` lists what there is instead of a name that was not found; kubectl does not print it.
    """

    stdout: str = ""
    stderr: str = ""
    code: int = 0
    hint: str = ""

    def __repr__(self) -> str:
        return (self.stdout + self.stderr).removesuffix("\n")


_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def escape_control_characters(text: str) -> str:
    """Return a text that a terminal can show: `^[` for the escape character, codes for other control characters.

    kubectl replaces escape and carriage return; we replace every control character, and those that reverse a line.
    """
    return _CONTROL.sub(lambda found: _as_text(found[0]), text)


def _as_text(character: str) -> str:
    known = {"\x1b": "^[", "\r": "\\r"}
    code = ord(character)
    return known.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")

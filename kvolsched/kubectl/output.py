"""Values that print as kubectl's output: a table, several tables, a text."""

import attrs

from ..api.notebook_output import PrintedAnswer, printable
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


def escape_control_characters(text: str) -> str:
    r"""Return a text that a terminal can show: `^[` and `\r` as kubectl writes them, codes for all others."""
    return printable(text.replace("\x1b", "^[").replace("\r", "\\r"))

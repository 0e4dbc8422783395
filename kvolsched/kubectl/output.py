"""Values that print as kubectl's output: a table, several tables, a text."""

from __future__ import annotations

import attrs

from .formatting import align_columns

MIN_COLUMN_WIDTH, COLUMN_PADDING = 6, 3  # of `kubectl get`


@attrs.frozen(repr=False)
class Listing:
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
class Listings:
    """Tables of `kubectl get pods,pvc`, one for each kind; empty ones are not printed."""

    tables: tuple[Listing, ...]

    def __len__(self) -> int:
        return sum(map(len, self.tables))

    def __repr__(self) -> str:
        texts = [repr(table) for table in self.tables if table.rows]
        return "\n\n".join(texts) or (self.tables[0].empty_message if self.tables else "No resources found")


@attrs.frozen(repr=False)
class Description:
    """Text of `kubectl describe`, or of `kubectl get -o yaml`."""

    text: str

    def __repr__(self) -> str:
        return self.text

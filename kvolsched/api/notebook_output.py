"""How answers are shown in a notebook: as lines that never break a word, or as a picture with those lines beside it.

What is printed may hold names and messages of somebody else's files: `printable` shows the characters in them that a
terminal would obey, and every answer prints through it. Front ends wrap plain text in the middle of a word. A
`PrintedAnswer` is therefore also HTML: sentences wrap at spaces with the indent they are printed with, lines of a table
scroll instead. A `DrawnAnswer` has a picture. The rooms that find answers know no drawing; `draw_with` is told by the
top floor which function draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

if TYPE_CHECKING:
    from pathlib import Path

_COLUMNS = re.compile(r"\S {2,}\S")
# A row that ends in a sentence; a sentence with the line ends of printing. A terminal needs neither compiled.
_MESSAGE = r"(?m)\S {2,}\S+(?: \S+){7,}$"
_ENDED = r"(?m)^( *)\S.{88,}[^:\n](?:\n\1 +\w.{84,})*\n\1 +(?!\d+\.|[-–•*✓✕]).+"
_BLOCK = "margin:0;white-space:pre;word-break:normal;overflow-x:auto"
# Characters that a terminal obeys or hides: control (but line feed and tab) and format characters, separators of lines,
# halves of a pair. A test compares them with Unicode's categories Cc, Cf, Zl, Zp and Cs.
UNPRINTABLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
_UNPRINTABLE = re.compile(f"[{UNPRINTABLE}]")
_draw: list[Callable[[Any], Any]] = []
Row = TypeVar("Row")
_write: list[Callable[[Any], str]] = []


# Whether a command of ours prints the answer: its reader types commands, that of a notebook Python.
IN_TERMINAL: ContextVar[bool] = ContextVar("IN_TERMINAL", default=False)


def to_type(python: str, command: str) -> str:
    """Return what the reader of an answer types to go on: Python, or in a terminal a command."""
    return command if IN_TERMINAL.get() else python


def printable(text: str) -> str:
    r"""Return a text with the characters that a terminal obeys or hides as codes: `\x1b`, `\u202e`.

    Line feeds and tabs stay. Python, and YAML in double quotes, read the codes back.
    """
    return text if text.isascii() and text.isprintable() else _UNPRINTABLE.sub(_code, text)


def _code(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printing_safely(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a `__repr__` or `__str__` whose text is printable."""

    @wraps(show)
    def shown(answer: Any) -> str:
        return printable(show(answer))

    return shown


def draw_with(function: Callable[[Any], Any]) -> None:
    """Set the function that makes the figure of an answer."""
    _draw[:] = [function]


def write_with(function: Callable[[Any], str]) -> None:
    """Set the function that writes a value as YAML."""
    _write[:] = [function]


def as_html(text: str) -> str:
    """Return text as an HTML block in which tables scroll and sentences wrap between words, indented as printed."""
    paragraphs = text.split("\n\n")
    scrolls = all(map(_COLUMNS.search, paragraphs)) and not re.search(_MESSAGE, text)
    shown = _escaped(text) if scrolls else _wrapping("", 0).join(map(_paragraph, paragraphs))
    return f'<pre style="{_BLOCK}">{shown}</pre>'


def described_as_html(lines: Sequence[str], indent: int) -> str:
    """Return lines of a name and a sentence as an HTML block: the sentence begins at an indent and wraps there."""
    return f'<pre style="{_BLOCK}">{"".join(_wrapping(line, indent) for line in lines)}</pre>'


def _escaped(text: str) -> str:
    from html import escape  # noqa: PLC0415 - lines in a terminal need none of its modules

    return escape(text)


def _paragraph(text: str) -> str:
    if re.search(_MESSAGE, text):  # as in a terminal: what matters most stands at the end of these rows
        return "".join(_wrapping(row, 4) if re.search(_MESSAGE, row) else _paragraph(row) for row in text.splitlines())
    if _COLUMNS.search(text):
        return f'<span style="display:block">{_escaped(text)}</span>'
    lines = re.sub(_ENDED, lambda found: re.sub(r"\n +", " ", found[0]), text).split("\n")
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    hanging = map(max, indents, [*indents[1:], 0])  # where the printed line goes on, if it does
    return "".join(map(_wrapping, lines, hanging))


def _wrapping(line: str, indent: int) -> str:
    """Return one line as a block that goes on at an indent when it is wrapped."""
    place = f"padding-left:{indent}ch;text-indent:-{indent}ch;" if indent else ""
    wrap = "display:block;white-space:pre-wrap;overflow-wrap:anywhere"
    return f'<span style="{place}{wrap}">{_escaped(line) or " "}</span>'


def table_text(rows: Sequence[Sequence[str]], gap: int = 2) -> list[str]:
    """Return rows of cells as lines with aligned columns.

    >>> table_text([("NAME", "NODE"), ("web-0", "n1")])
    ['NAME   NODE', 'web-0  n1']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [(" " * gap).join(map(str.ljust, row, widths)).rstrip() for row in rows]


class ShownAsYaml:
    """A value that is shown as YAML, wherever it is printed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _write[0](self).rstrip("\n")


class PrintedAnswer:
    """An answer that prints as lines, all characters visible; a notebook shows the same without breaking a word."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("__repr__", "__str__"):
            if (show := vars(cls).get(name)) is not None and not hasattr(show, "__wrapped__"):  # attrs makes it twice
                setattr(cls, name, printing_safely(show))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        text = repr(self)
        return {"text/plain": text, "text/html": as_html(text)}


class Table(PrintedAnswer, list[dict[str, Any]]):
    """Rows as a list of dicts, which `pandas.DataFrame` and `polars.DataFrame` take; printed, a table."""

    MOST = 40
    """So many rows are printed."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(dict.fromkeys(name for row in self for name in row))

    def __repr__(self) -> str:
        if not self:
            return "no rows"
        shown = self[: self.MOST]
        lines = table_text([self.columns, *([_cell(row.get(name)) for name in self.columns] for row in shown)])
        return "\n".join([*lines, *([f"… {len(self) - self.MOST:,} rows more"] if len(self) > self.MOST else [])])


def _cell(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    return f"{value:g}" if isinstance(value, float) else " ".join(str(value).split())


class Rows(Generic[Row]):
    """An answer that is counted and iterated by its `rows`."""

    __slots__ = ()
    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)


class NumberedRows(Rows[Row]):
    """Rows that are also got by their number, and by a slice as an answer with these rows."""

    __slots__ = ()

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Self: ...

    def __getitem__(self, place: int | slice) -> Row | Self:
        if isinstance(place, int):
            return self.rows[place]
        answer = copy(self)
        object.__setattr__(answer, "rows", self.rows[place])  # of a frozen value, which nobody has yet
        return answer


class DrawnAnswer(PrintedAnswer):
    """An answer with a picture: a notebook shows the picture, a terminal the lines."""

    __slots__ = ()

    def figure(self) -> Any:
        """Return the picture, a `Figure`; it can be saved and follows the page it is shown on."""
        return _draw[0](self)

    def save(self, path: str | Path) -> Path:
        """Write the picture (.svg, .png, .html) or the lines (.txt), by the ending of the name; return the path.

        A table of words is no picture, but a page: .html or .txt.

        Raises:
            ValueError: another ending, or what makes the picture is not installed.
        """
        from pathlib import Path  # noqa: PLC0415 - a sentence in a terminal needs none of its modules

        return Path(self.figure().save(path))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        if not _draw:
            return super()._repr_mimebundle_(include, exclude)
        return self.figure()._repr_mimebundle_(include, exclude)

"""How answers are shown in a notebook: as lines that never break a word, or as a picture with those lines beside it.

Front ends wrap plain text in the middle of a word. A `PrintedAnswer` is therefore also HTML: sentences wrap at spaces
with the indent they are printed with, lines of a table scroll instead. A `DrawnAnswer` has a picture. The rooms that
find answers know no drawing; `draw_with` is told by the top floor which function draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

_COLUMNS = re.compile(r"\S {2,}\S")
_BLOCK = "margin:0;white-space:pre;word-break:normal;overflow-x:auto"
_draw: list[Callable[[Any], Any]] = []


def draw_with(function: Callable[[Any], Any]) -> None:
    """Set the function that makes the figure of an answer."""
    _draw[:] = [function]


def as_html(text: str) -> str:
    """Return text as an HTML block in which tables scroll and sentences wrap between words, indented as printed."""
    lines = text.split("\n")
    if any(map(_COLUMNS.search, lines)):
        return f'<pre style="{_BLOCK}">{escape(text)}</pre>'
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    hanging = map(max, indents, [*indents[1:], 0])  # where the printed line goes on, if it does
    return f'<pre style="{_BLOCK}">{"".join(map(_wrapping, lines, hanging))}</pre>'


def _wrapping(line: str, indent: int) -> str:
    """Return one line as a block that goes on at an indent when it is wrapped."""
    place = f"padding-left:{indent}ch;text-indent:-{indent}ch;" if indent else ""
    wrap = "display:block;white-space:pre-wrap;overflow-wrap:anywhere"
    return f'<span style="{place}{wrap}">{escape(line) or " "}</span>'


class PrintedAnswer:
    """An answer that prints as lines; a notebook shows the same lines without breaking a word."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        text = repr(self)
        return {"text/plain": text, "text/html": as_html(text)}


class DrawnAnswer(PrintedAnswer):
    """An answer with a picture: a notebook shows the picture, a terminal the lines."""

    __slots__ = ()

    def figure(self) -> Any:
        """Return the picture, a `Figure`; it can be saved and follows the page it is shown on."""
        return _draw[0](self)

    def save(self, path: str | Path) -> Path:
        """Write the picture (.svg, .png, .html) or the lines (.txt), by the ending of the name; return the path.

        Raises:
            ValueError: another ending, or what makes the picture is not installed.
        """
        return Path(self.figure().save(path))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        if not _draw:
            return super()._repr_mimebundle_(include, exclude)
        return self.figure()._repr_mimebundle_(include, exclude)

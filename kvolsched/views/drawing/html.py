"""HTML as strings: words that a browser lays out, in tables, rows of blocks and lines of code.

A page of words is not measured: it wraps at the width of the cell that shows it, in the page's fonts, and can be
copied; a long word is broken where a reader would break it. Any string that is no `Html` is text and is escaped where
it enters. Colours are the classes of the style sheet.
"""

import re
from collections.abc import Iterable, Sequence

from kvolsched.views.drawing.text import escape

_LONG = re.compile(r"\S{14,}")
_JOINT = re.compile(r"(?<=[./=:,_])(?=\w)|(?<=[a-z])(?=\[|[A-Z][a-z])")  # of a path, of a name in CamelCase
SHORT = 12  # letters of the name of a column that stays in one line


class Html(str):
    """Markup, which is not escaped again."""

    __slots__ = ()


def joined(*parts: str) -> Html:
    """Return markup and escaped text as one piece of markup."""
    return Html("".join(part if isinstance(part, Html) else _LONG.sub(
        lambda found: _JOINT.sub("<wbr/>", found[0]), escape(part)) for part in parts))


def tag(name: str, classes: str, *parts: str, **attributes: str) -> Html:
    """Return an element with markup and escaped text in it; `data_ref` is the attribute `data-ref`."""
    looks = {"class": classes} | attributes
    written = "".join(f' {key.replace("_", "-")}="{escape(value)}"' for key, value in looks.items() if value)
    return Html(f"<{name}{written}>{joined(*parts)}</{name}>")


def words(content: str, classes: str = "") -> Html:
    """Return words in a style; nothing for no words."""
    return tag("span", classes, content) if content else Html()


def block(classes: str, *parts: str, **attributes: str) -> Html:
    """Return a block with these parts; nothing if all are empty."""
    return tag("div", classes, *parts, **attributes) if any(parts) else Html()


def row(cells: Sequence[str], kinds: Sequence[str] = (), *, classes: str = "", ref: str = "", key: str = "",
        label: str = "", pressed: bool = False) -> Html:
    """Return one line of a table, each cell in the style of its column; with a ref a click selects it."""
    styles = (*kinds, *[""] * (len(cells) - len(kinds)))
    drawn = (tag("td", kind, cell) for cell, kind in zip(cells, styles, strict=True))
    if ref:
        return tag("tr", f"{classes} k-chosen".strip() if pressed else classes, *drawn, data_ref=ref, data_key=key,
                   role="row", aria_label=label, aria_selected="true" if pressed else "")
    return tag("tr", classes, *drawn)


def table(rows: Iterable[Html], heads: Sequence[str] = (), *, classes: str = "") -> Html:
    """Return a table of rows under the names of its columns."""
    cells = (tag("th", "" if len(head) > SHORT else "k-short", head) for head in heads)
    named = tag("thead", "", tag("tr", "", *cells)) if heads else ""
    return tag("table", f"k-table {classes}".strip(), named, tag("tbody", "", *rows), role="grid")


def before_after(old: str, new: str) -> Html:
    """Return old → new; an empty value is "none"."""
    quiet = "k-old" if old not in ("", "none") else "k-soft"
    return joined(words(old or "none", quiet), " → ", tag("b", "", new or "none"))


def code(lines: Iterable[str]) -> Html:
    """Return lines of code as they are, each in the style of its sign: + is new, - is gone, @ is a heading."""
    marks = {"+": "k-add", "-": "k-less", "@": "k-soft k-b"}
    shown = (tag("span", marks.get(line[:1], ""), line.removeprefix("@ "), "\n") for line in lines)
    return tag("div", "k-code k-pre", *shown)  # JupyterLab has rules of its own for <pre>


def bar(share: float, family: str, *, pale: bool = False) -> Html:
    """Return a bar that fills this share of its rail, in [0, 1]."""
    return tag("div", "k-bar", tag("div", f"k-{'p' if pale else 's'}-{family}", "\u00a0",
                                   style=f"width:{100 * share:.4g}%"))


def tile(sign: str, family: str, *, strong: bool = False, more: str = "") -> Html:
    """Return a letter or a number in its coloured ground."""
    ground = f"k-s-{family} k-on" if strong else f"k-p-{family} k-t-{family}"
    return tag("b", f"k-tile {ground} {more}".strip(), sign)


def page(*parts: str) -> Html:
    """Return these parts as one page of words."""
    return tag("div", "k-page-words", *parts)

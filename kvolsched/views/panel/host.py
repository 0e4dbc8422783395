"""The host: a widget that shows strings and sends commands, with the style sheet and script that it serves.

It alone knows anywidget. The root class contains a hash of what is served, so that the widget of an older notebook,
restored beside this one, cannot recolour it.
"""

import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from kvolsched.views.drawing.theme import served, sheet

_SPACED = re.compile(r"""("[^"\n]*"|'[^'\n]*'|`[^`]*`)|[ ]*([=(){},;:?<>&|+*!-])[ ]*""")


def read(name: str) -> str:
    """Return one of this folder's scripts in few bytes: no indentation, comment, or space beside an operator."""
    kept = served("kvolsched.views.panel", name).replace("const ", "let ")
    short = _SPACED.sub(lambda found: found[1] or found[2], kept)
    return short.replace(";}", "}").replace(";\n", "\n")


@cache
def script() -> str:
    """Return the front end as it is served."""
    return read("host.js")


@cache
def style() -> str:
    """Return the style sheet under the versioned root class, without comments and line ends."""
    plain = re.sub(r"/\*.*?\*/|\n\s*", "", sheet(), flags=re.DOTALL).replace(";}", "}")
    return re.sub(r"\.kv(?![\w-])", f".{ROOT}", plain)


ROOT = "kv-" + sha256((script() + sheet()).encode()).hexdigest()[:4]
"""Class of the panel's root element."""


class Host(anywidget.AnyWidget):
    """One string a view. Mutable, through its traits.

    What pages have ceased to show, such as the panel of a cell that has run again, is not drawn for every move.
    """

    _esm = script()
    _css = style()
    root = traitlets.Unicode(ROOT).tag(sync=True)
    tick = traitlets.Int(0).tag(sync=True)
    names = traitlets.Dict(help="of views, for screen readers; those of the panel by default").tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    map = traitlets.Unicode().tag(sync=True)
    side = traitlets.Unicode().tag(sync=True)
    lanes = traitlets.Unicode().tag(sync=True)
    body = traitlets.Unicode().tag(sync=True)
    shown = traitlets.Int(-1, help="in how many places pages show it; -1: in none so far")

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self._shown_or_hidden)

    def _shown_or_hidden(self, _host: Any, content: dict[str, Any], _buffers: Any) -> None:
        change = {"seen": 1, "gone": -1}.get(content.get("cmd", ""), 0)
        if change:
            self.shown = max(0, max(0, self.shown) + change)


class DrawnPanel(widgets.VBox):  # type: ignore[misc,unused-ignore] # ipywidgets ships no types
    """Controls around a host; a notebook that is reopened without a kernel shows a picture. Mutable.

    A panel sets `host` and `_width`, and has `_draw`, `figure` and `reading`.
    """

    host: Host
    _width: int

    def __init__(self, children: Sequence[Any], *, of: str, **more: Any) -> None:  # `of`: a class of the style sheet
        super().__init__(children, **more)
        self.add_class(ROOT).add_class(of)
        self.host.on_msg(self._message)

    def _message(self, _host: Any, content: dict[str, Any], _buffers: Any) -> None:
        arguments = dict(content)
        cmd = arguments.pop("cmd", "")
        if cmd in self._commands():
            self.do(cmd, **arguments)

    def _resize(self, px: int) -> None:
        width = max(320, min(4000, int(px)))
        if width != self._width:
            self._width = width
            self._draw()

    def _still(self) -> Any:
        """Return the picture for a page without a kernel."""
        return self.figure()

    def save(self, path: str | Path) -> Path:
        """Write what is shown as a picture (.svg, .png, .html) or as text (.txt), by the ending of the name.

        Raises:
            ValueError: another ending, or what makes the picture is not installed.
        """
        return Path(self.figure().save(path))

    def _repr_mimebundle_(self, **more: Any) -> dict[str, Any]:
        live: dict[str, Any] = super()._repr_mimebundle_(**more)
        still = self._still()._repr_mimebundle_()
        live.update(still[0] if isinstance(still, tuple) else still)  # of a chart with its metadata
        return live

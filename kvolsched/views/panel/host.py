"""The host: a widget that shows strings and sends commands, and the sheet and script that it serves.

It is the only place that knows anywidget. The root class carries a hash of what is served,
so that an older notebook's widget, restored beside this one, cannot recolour it.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256
from importlib import resources

import anywidget
import traitlets

from kvolsched.views.drawing.figure import sheet


def read(name: str) -> str:
    """Give one of this folder's scripts without indentation and comment lines."""
    source = (resources.files("kvolsched.views.panel") / name).read_text("utf-8")
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


@cache
def script() -> str:
    """Give the front end as it is served."""
    return read("host.js")


@cache
def style() -> str:
    """Give the sheet with the root class that carries the version, without comments."""
    plain = re.sub(r"/\*.*?\*/\s*", "", sheet(), flags=re.DOTALL)
    return re.sub(r"\.kv(?![\w-])", f".{ROOT}", plain)


ROOT = "kv-" + sha256((script() + sheet()).encode()).hexdigest()[:6]
"""Class of the panel's root element."""


class Host(anywidget.AnyWidget):
    """One string a view; it mutates only through its traits."""

    _esm = script()
    _css = style()
    root = traitlets.Unicode(ROOT).tag(sync=True)
    tick = traitlets.Int(0).tag(sync=True)
    sentence = traitlets.Unicode().tag(sync=True)
    map = traitlets.Unicode().tag(sync=True)
    side = traitlets.Unicode().tag(sync=True)
    lanes = traitlets.Unicode().tag(sync=True)
    body = traitlets.Unicode().tag(sync=True)

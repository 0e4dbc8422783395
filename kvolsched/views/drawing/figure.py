"""Figures for notebooks: a picture and its reading, as MIME bundles that any front end shows.

This module alone knows MIME bundles. In a trusted notebook a figure is a script with the picture in several widths: it
shows the widest that fits, in the colours of the page, and needs neither kernel nor network. An untrusted notebook
shows the PNG, if vl-convert is installed; of a page of words, which is HTML, its reading. There is no `text/html`: an
untrusted notebook would show its bare words.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import field, frozen

from kvolsched.api.notebook_output import printable
from kvolsched.views.drawing.text import escape
from kvolsched.views.drawing.theme import in_a_script, page_style, png_form, resolve, served, stored_png, svg_png

SCRIPT = "application/javascript"
WIDTH = 828
"""Width of a saved figure, px."""
WIDTHS = (520, 720, 900, 1136)
"""Widths that a figure is laid out for on a page, px: beside the file browser of windows of 1000 to 1600 px."""
MARGIN = 10
"""Paper around a saved figure, px."""

Draw = Callable[[int, str], str]


def _as_draw(drawn: Draw | str) -> Draw:
    return drawn if callable(drawn) else lambda _width, _selection: drawn


@frozen(repr=False)
class Figure:
    """A figure: a picture for any width, and its reading in words."""

    draw: Draw = field(repr=False, converter=_as_draw, eq=False)
    """Width in px and selection -> SVG with classes of the style sheet, or HTML of a page of words; a picture of one
    width is given as it is."""
    reading: str = field(converter=printable)
    """The picture in words, as lines; nbval compares them."""
    theme: str = "light"
    """Colours of the saved picture: light or dark."""
    width: int = WIDTH
    """Width of the saved picture, px."""

    @property
    def svg(self) -> str:
        """The picture at its own width, drawn with classes of the style sheet; empty for a page of words."""
        drawn = self.draw(self.width, "")
        return drawn if drawn.startswith("<svg") else ""

    def __repr__(self) -> str:
        return self.reading

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        script = f"{self._script()}(element);"
        drawn = self.svg
        png = png_form(stored_png(drawn, MARGIN)) if drawn else {}
        return {SCRIPT: script} | png | {"text/plain": self.reading}

    def save(self, path: str | Path) -> Path:
        """Write the picture (.svg, .png, .html) or the reading (.txt), by the ending of the name; return the path.

        A page of words has no picture: it is saved as .html or .txt.

        Raises:
            ValueError: another ending, or vl-convert, which makes the PNG, is not installed.

        >>> import tempfile
        >>> from kvolsched import Cluster
        >>> from kvolsched.make import node
        >>> Cluster.from_manifests([node("n1")]).map().save(Path(tempfile.mkdtemp()) / "map.svg").name
        'map.svg'
        """
        return _write(Path(path), self._forms())

    def _forms(self) -> dict[str, Callable[[], bytes | None]]:
        return {
            ".svg": lambda: self._saved().encode(),
            ".png": lambda: svg_png(self._saved()),
            ".txt": self.reading.encode,
            ".html": lambda: _PAGE.format(
                title=escape(self.reading.partition("\n")[0]), light=str(self.theme == "light").lower(),
                script=self._script(),
            ).encode(),
        }

    def _saved(self) -> str:
        drawn = self.svg
        if not drawn:
            raise ValueError("a page of words is no picture: save it as .html or .txt")
        return self._resolved(drawn)

    def _resolved(self, svg: str) -> str:
        return resolve(svg, self.theme, MARGIN)

    def _data(self) -> str:
        """Return what the script shows, as JSON that may stand in a script: layouts by width, and their style."""
        layouts: list[tuple[int, str]] = []
        for width in WIDTHS:
            drawn = self.draw(width, "")
            if not layouts or layouts[-1][1] != drawn:
                layouts.append((width, drawn))
        root, style = page_style(drawn for _, drawn in layouts)
        layouts = [(width, drawn.replace('"', "'")) for width, drawn in layouts]  # in JSON each " would be \\"
        return in_a_script({"root": root, "style": style, "layouts": layouts})

    def _script(self) -> str:
        return f"{served('kvolsched.views.drawing', 'figure.js')}({self._data()})"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body{{margin:0}}</style></head><body data-jp-theme-light="{light}"><div id="figure"></div>
<script>{script}(document.getElementById("figure"));</script></body></html>
"""


def _write(target: Path, forms: dict[str, Callable[[], bytes | None]]) -> Path:
    make = forms.get(target.suffix)
    if make is None:
        raise ValueError(f"cannot save a figure as {target.name!r}: the name must end in {', '.join(sorted(forms))}")
    content = make()
    if content is None:
        raise ValueError(f"cannot save {target.name!r}: pictures are made by vl-convert-python, which is not installed")
    target.write_bytes(content)
    return target


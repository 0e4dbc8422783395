"""Figures that are also data: `.table` has the rows, `.chart` an altair chart of them that may be restyled and joined.

A `ChartFigure` is displayed as its picture; a `PlainChart` has no other picture than its chart. altair is loaded when
a chart is asked for.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from attrs import field, frozen

from kvolsched.api.notebook_output import Table
from kvolsched.views.drawing.figure import Draw, Figure
from kvolsched.views.drawing.svg import nothing
from kvolsched.views.drawing.theme import svg_png

from . import look

CHARTS: Mapping[str, str] = {
    "skew": "placement", "skew_over_steps": "placement", "nodes": "placement", "capacity": "placement",
    "scores": "placement", "series": "runs", "sweep": "runs", "sample": "runs", "turns": "runs", "lives": "runs",
}  # fmt: skip
"""Kind of a chart -> the module with the function of that name."""

_STYLED = re.compile(r'<text([^>]*?) font-size="([^"]*)"( font-weight="[^"]*")?( font-style="[^"]*")? fill="([^"]*)"')


@frozen(repr=False)
class ChartFigure(Figure):
    """A figure of a table; `.table` has its rows, `.chart` is an altair chart of them."""

    kind: str = field(kw_only=True, repr=False)
    """One of `CHARTS`."""
    rows_of: Callable[[], Table] = field(kw_only=True, repr=False, eq=False)
    words: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    """Title of the chart, and lines below it."""
    options: Mapping[str, Any] = field(factory=dict, kw_only=True, repr=False, eq=False)
    """Further arguments of the chart."""

    @property
    def table(self) -> Table:
        """The rows of the chart: a list of dicts.

        >>> import kvolsched
        >>> kvolsched.scenario("dead-zone").skew("next").table[0]["sum"]
        '3 + 1 − 0 = 4 > 1'
        """
        if "altair" in sys.modules:  # a chart that a reader makes of it is shown like ours
            import_module("kvolsched.views.charts.renderer").enable()
        return self.rows_of()

    @property
    def chart(self) -> Any:
        """The altair chart: `a | b`, `a & b`, `.properties(width=400)`, `.interactive()` and all else work on it.

        >>> import kvolsched
        >>> kvolsched.scenario("dead-zone").skew("next").chart.to_dict()["params"][0]["name"]
        'domain'
        """
        import_module("kvolsched.views.charts.renderer").enable()  # altair takes a second to load
        make = getattr(import_module(f"kvolsched.views.charts.{CHARTS[self.kind]}"), self.kind)
        rows = self.rows_of()
        with import_module("altair.utils.schemapi").debug_mode(False):  # it checks each part: half of the time
            return make(rows, *self.words, **self.options) if rows else _empty(self.reading)

    def spec(self) -> dict[str, Any]:
        """Return the Vega-Lite spec in the form that JupyterLab, Voila and JupyterLite all draw.

        >>> from kvolsched import Cluster
        >>> from kvolsched.make import node
        >>> Cluster.from_manifests([node("n1")]).domains().spec()["$schema"]
        'https://vega.github.io/schema/vega-lite/v5.json'
        """
        return dict(self._bundle()[0][_renderer().MIME])

    def _bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        shown: tuple[dict[str, Any], dict[str, Any]] = _renderer().render(self.chart.to_dict(), self.reading)
        return shown

    def _forms(self) -> dict[str, Callable[[], bytes | None]]:
        return super()._forms() | {".json": lambda: json.dumps(self.spec(), indent=1).encode()}


@frozen(repr=False)
class PlainChart(ChartFigure):
    """A figure that is its chart: it is shown by Vega-Lite, and saved as what Vega-Lite draws."""

    draw: Draw = field(init=False, repr=False, eq=False)
    """Width in px -> SVG of the chart, for a panel."""

    @draw.default
    def _(self) -> Draw:
        return lambda width, _selection: _svg(self, width)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        try:
            return self._bundle()
        except ImportError:  # no altair: a terminal
            return {"text/plain": self.reading}

    def _saved(self) -> str:
        return look.fixed(_svg(self, self.width, background=look.PAPER), self.theme)

    def _forms(self) -> dict[str, Callable[[], bytes | None]]:
        return super()._forms() | {".png": lambda: svg_png(self._saved())}


def _svg(figure: ChartFigure, width: int, **more: Any) -> str:
    """Return the SVG of a chart; words where nothing can draw it."""
    _, svg = _renderer().sized(_renderer().on_page(figure.chart.to_dict() | more), width)
    if svg is None:
        return nothing(width, figure.reading.partition("\n")[0])
    # On a page the style sheet of the views has sizes and inks for all text: of a chart its own stay.
    return _STYLED.sub(r'<text\1\3\4 style="font-size:\2;fill:\5"', svg)


def _empty(reading: str) -> Any:
    """Return a chart of nothing but words: why there is no row."""
    grammar, alt = import_module("kvolsched.views.charts.grammar"), import_module("altair")
    return alt.Chart(grammar.data([{}])).mark_text().properties(
        width=look.WIDE, height=20, title=grammar.title(reading.partition("\n")[0]))


def _renderer() -> Any:
    return import_module("kvolsched.views.charts.renderer")

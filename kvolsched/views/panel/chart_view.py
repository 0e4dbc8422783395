"""An altair chart as a widget: it follows the page's width, tells what is picked in it, and shows what Python selects.

Vega is in one widget a kernel, 0.3 MB that every chart names, so that no chart carries it and no network is asked.
"""

import gzip
from functools import cache
from importlib import import_module
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from kvolsched.views.drawing.theme import vl_convert
from kvolsched.views.panel.host import read

_VEGA_LITE = "6.4"  # of the engine: that of altair 6
_ENGINE = "export { vegaEmbed };"
_KINDS = {"domain": "zone", "node": "node", "pool": "pool"}  # name of a chart's selection -> kind of what it selects


class VegaEngine(anywidget.AnyWidget):
    """Vega, packed, for all charts of one kernel."""

    _esm = "export default { render() {} };"
    packed = traitlets.Bytes().tag(sync=True)


@cache
def engine() -> VegaEngine | None:
    """Return the one engine of this kernel; None where vl-convert, which has it, is not installed."""
    converter = vl_convert()
    if converter is None:
        return None
    script = converter.javascript_bundle(_ENGINE, vl_version=_VEGA_LITE)
    return VegaEngine(packed=gzip.compress(script.encode(), 9, mtime=0))


class ChartView(anywidget.AnyWidget):
    """An altair chart. Mutable: another chart is shown by `show`.

    `picked` has the value of each named selection of the chart, "" for none, and of each named number, such as the
    present step; it is settable, and a click sets it.

    Args:
        chart: an altair chart, or several that are joined.
    """

    _esm = read("chart.js")
    engine = traitlets.Instance(widgets.Widget, allow_none=True).tag(sync=True, **widgets.widget_serialization)
    spec = traitlets.Dict().tag(sync=True)
    tables = traitlets.Dict().tag(sync=True)
    title = traitlets.List(traitlets.Unicode()).tag(sync=True)
    picked = traitlets.Dict().tag(sync=True)

    def __init__(self, chart: Any = None, **more: Any) -> None:
        super().__init__(engine=engine(), **more)
        if chart is not None:
            self.show(chart, validate=True)

    def show(self, chart: Any, selection: str = "", *, validate: bool = False) -> None:
        """Show another chart in this one's place; where only its tables differ, only rows travel.

        `selection` is the ref of what is selected; that altair validates a chart takes longer than to make it.

        Raises:
            TypeError: it is no altair chart.
        """
        if not hasattr(chart, "to_dict"):
            raise TypeError(f"ChartView shows an altair chart, such as c.skew(...).chart, not {chart!r:.60}")
        shown = _renderer().on_page(chart.to_dict(validate=validate))
        spec, tables = _renderer().with_named_tables(shown)
        title = spec.pop("title", "")  # set as HTML: it is as wide as its place, and another one draws no chart anew
        lines = (title.get("text", ""), title.get("subtitle", "")) if isinstance(title, dict) else (title or "",)
        with self.hold_sync():
            self.title = [" ".join(line) if isinstance(line, list) else line for line in lines]
            params = spec.get("params", ())
            numbers = {param["name"]: param["value"] for param in params if {*param} == {"name", "value"}}
            spec |= {"params": [param | {"value": 0} if param["name"] in numbers else param for param in params]}
            picks = [param["name"] for param in params if "select" in param and param.get("bind") != "scales"]
            self.picked = {name: _value(name, selection) for name in picks} | numbers
            self.tables, self.spec = tables, spec

    def selected(self, before: str) -> str:
        """Return the ref of what is picked, where `before` was selected; that stays if it is nothing that is drawn."""
        for name, value in self.picked.items():
            if name in _KINDS and value != _value(name, before):
                return f"{_KINDS[name]}/{value}" if value else ""
        return before

    def _repr_mimebundle_(self, **more: Any) -> Any:
        live: Any = super()._repr_mimebundle_(**more)
        text, *more_lines = self.title
        title = {"title": {"text": text, "subtitle": more_lines}}
        params = [param | {"value": self.picked[param["name"]]} if {*param} == {"name", "value"} else param
                  for param in self.spec["params"]]  # fmt: skip
        still, metadata = _renderer().render(self.spec | title | {"datasets": self.tables, "params": params})
        return (live[0] if isinstance(live, tuple) else live or {}) | still, metadata


def _renderer() -> Any:
    return import_module("kvolsched.views.charts.renderer")  # altair takes a second to load


def chart_in(box: Any, widget: Any) -> ChartView:
    """Add an empty view to a box; what is clicked in it is selected in a widget."""
    view = ChartView()
    view.observe(lambda _: widget.set_trait("selection", view.selected(widget.selection)), "picked")
    box.children = (*box.children, view)
    return view


def _value(name: str, selection: str) -> str:
    """Return the value of a named selection where an object is selected; "" if it is of another kind."""
    kind, _, value = selection.partition("/")
    return value if _KINDS.get(name) == kind else ""

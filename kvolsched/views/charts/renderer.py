"""How an altair chart is shown: altair's renderer `kvolsched`, which needs no network and no kernel afterwards.

Vega-Lite 5 is the one MIME type that JupyterLab, Notebook, Voila and VS Code draw by themselves; the SVG is for pages
without Vega, the words for terminals and for comparing notebooks. It is used for all charts of a session where
nobody has chosen a renderer, and gives them the look of the views where nobody has chosen a theme.
"""

from __future__ import annotations

import json
import re
import textwrap
import warnings
from collections.abc import Iterator
from typing import Any, cast

import altair as alt

from kvolsched.api.notebook_output import Table, printable
from kvolsched.views.drawing.theme import vl_convert

from . import look

NAME = "kvolsched"
MIME = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
WIDTH = 552
"""Width of a shown chart, px: the place beside the file browser in a window of 1,000 px."""
PLOT, LEAST_PLOT, LEAST_PANE = 490, 270, 90  # px: of a chart that nobody can measure here, the narrowest, its panes
NEAR = 8  # px
_JOINED = ("hconcat", "vconcat", "concat")
MOST_LETTERS = 84  # of a line of titles that stand beside each other
_OPTIONS = {"renderer": "svg", "actions": False}
_VERSION = "5.8"  # of Vega-Lite in vl-convert, near that of JupyterLab
_SPOKEN = re.compile(r' (?:aria-[a-z]+|role)="[^"]*"')  # of every mark: half of a picture; the words are beside it
_SIZE = re.compile(r'<svg[^>]* width="([\d.]+)"')
_ESCAPED = re.compile(r"\\u00[01][0-9a-f]")  # a control character in JSON
_DIGITS = re.compile(r"(\.\d\d)\d+(?=[^<>]*>)")  # of a coordinate: beyond a hundredth of a px; words keep theirs


def render(spec: dict[str, Any], reading: str = "", **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the MIME bundle of a Vega-Lite spec, and its metadata, as altair asks a renderer.

    Without a `reading` its title and its first table are the chart in words.
    """
    spec, tables = with_named_tables(on_page(spec))
    spec, svg = sized(spec | ({"datasets": tables} if tables else {}), WIDTH)
    shown = {**spec, "$schema": SCHEMA, "usermeta": {"embedOptions": _OPTIONS}}
    still = {} if svg is None else {"image/svg+xml": _DIGITS.sub(r"\1", _SPOKEN.sub("", svg))}
    return {MIME: shown} | still | {"text/plain": reading or words(spec, tables)}, {MIME: {"embed_options": _OPTIONS}}


def _apart(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec whose joined charts have colours of their own where these mean different things in them."""
    joined = next((name for name in _JOINED if name in spec), "")
    parts = [_apart(part) for part in spec.get(joined, ())]
    meant = {json.dumps(sorted(_coloured(part))) for part in parts}
    own = {"scale": {"color": "independent", "strokeDash": "independent"}} if len(meant) > 1 else {}
    return {"resolve": own} | spec | {joined: parts} if joined else spec


def _coloured(part: Any) -> set[str]:
    """Return what colours stand for in a part of a spec."""
    if isinstance(part, dict):
        colour = part.get("encoding", {}).get("color", {})
        part = [each for name, each in part.items() if name not in {"data", "datasets", "encoding"}]
        found = {json.dumps([colour["field"], colour.get("scale")])} if "field" in colour else set()
        return found.union(*map(_coloured, part))
    return set().union(*map(_coloured, part)) if isinstance(part, list) else set()


def _picked_once(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec in which layers over each other have a selection once: `a + b` of charts that share one."""
    once = []
    for selection in spec.get("params", ()):
        views = list(selection.get("views", ()))
        for layer in _layered(spec):
            inside = [view for view in views if view in layer]
            views = [view for view in views if view not in inside[1:]]
        once.append(selection | ({"views": views} if views else {}))
    return spec | ({"params": once} if once else {})


def _layered(part: dict[str, Any]) -> Iterator[set[str]]:
    """Yield the names of all layers of each layered chart in a spec."""
    for chart in _charts(part):
        if "layer" in chart:
            nested = [set(names) for each in chart["layer"] for names in _layered(each)]
            yield {each["name"] for each in chart["layer"] if "name" in each}.union(*nested)


def with_named_tables(spec: dict[str, Any]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return a spec with the names of its tables in place of their rows, and each table once by its name."""
    tables: dict[str, list[Any]] = dict(spec.get("datasets", {}))

    def named(part: Any) -> Any:
        if isinstance(part, list):
            return [named(each) for each in part]
        if not isinstance(part, dict):
            return part
        rows = part["data"].get("values") if isinstance(part.get("data"), dict) else None
        if isinstance(rows, list):
            name = next((name for name, known in tables.items() if known == rows), f"table_{len(tables) + 1}")
            tables[name] = rows
            part = part | {"data": {"name": name}}
        return {key: named(value) if key != "datasets" else value for key, value in part.items()}

    found = named({key: value for key, value in spec.items() if key != "datasets"})
    return found, tables


def sized(spec: dict[str, Any], width: int) -> tuple[dict[str, Any], str | None]:
    """Return a spec in which charts without a width fill `width` px, and its SVG; None without vl-convert."""
    parts = [part for part in _charts(spec) if part.get("width") == "container"]
    wide, slope = float(PLOT), 1.0
    panes = ["column" in part.get("encoding", {}) for part in parts]
    least = LEAST_PANE if all(panes) else LEAST_PLOT
    before: tuple[float, float] | None = None
    svg = None
    for _ in range(4):
        for part, is_pane in zip(parts, panes, strict=True):  # three panes are as wide as a chart joined to them
            part["width"] = round(wide / 3 - 20 if is_pane and not all(panes) else wide)
        svg = svg_of(spec)
        if svg is None or not parts:
            break
        found = float(_SIZE.search(svg)[1])  # type: ignore[index]  # every SVG has a width
        if 0 <= width - found < NEAR or (found > width and wide == LEAST_PLOT):
            break
        if before is not None and wide != before[0]:
            slope = (found - before[1]) / (wide - before[0])  # how many stand beside each other
        before, wide = (wide, found), max(least, wide + (width - NEAR / 2 - found) / max(slope, 1))
    return spec, svg


def _charts(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a spec, and every chart that it joins or facets."""
    yield spec
    for name in _JOINED:
        for part in spec.get(name, ()):
            yield from _charts(part)
    if isinstance(spec.get("spec"), dict):
        yield from _charts(spec["spec"])


def svg_of(spec: dict[str, Any]) -> str | None:
    """Return the SVG of a spec; None where vl-convert is not installed, as in a browser.

    What no XML may hold ends the process in vl-convert: texts come from manifests, and are made printable before.
    """
    converter = vl_convert()
    if converter is None:
        return None
    text = json.dumps(spec, ensure_ascii=False)
    if _ESCAPED.search(text) or printable(text) != text:
        text = json.dumps(_printed(spec))
    return str(converter.vegalite_to_svg(text, vl_version=_VERSION))


def _printed(part: Any) -> Any:
    """Return a part of a spec with printable texts."""
    if isinstance(part, dict):
        return {_printed(name): _printed(value) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_printed(value) for value in part]
    return printable(part) if isinstance(part, str) else part


def words(spec: dict[str, Any], tables: dict[str, list[Any]]) -> str:
    """Return a chart in words: its title, and the rows of its first table."""
    title = spec.get("title", "")
    lines = [title] if isinstance(title, str) else [title.get("text", ""), title.get("subtitle", "")]
    flat = [line for part in lines for line in ([part] if isinstance(part, str) else part) if line]
    return "\n".join([*map(printable, flat), repr(Table(next(iter(tables.values()), ())))])


def on_page(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a spec as a page has it: wide, in the page's inks, in the look of the views where nobody chose a theme."""
    styled = alt.utils.update_nested(look.theme(), spec) if alt.theme.active == "default" else spec
    shown = _picked_once(_apart(cast(dict[str, Any], _as_on_page(styled))))
    usual = shown.get("config", {}).get("view", {}).get("continuousWidth", 300) == 300  # altair's own
    for part in _charts(shown):
        channels = [each.get("encoding", {}) for each in (part, *part.get("layer", ()))]
        is_long = any(each.get("x", {}).get("type") in ("quantitative", "temporal") for each in channels)
        if usual and is_long and "width" not in part and not {"column", "facet"} & {*channels[0]}:
            part["width"] = "container"
        beside = part.get("hconcat", ())
        for title in [each["title"] for one in beside for each in _charts(one) if isinstance(each.get("title"), dict)]:
            title |= {name: textwrap.wrap(" ".join(lines), MOST_LETTERS // len(beside))
                      for name, lines in title.items() if isinstance(lines, list)}  # fmt: skip
    return shown


def _as_on_page(value: Any) -> Any:
    """Return a part of a spec with the page's inks and widths; false for null, which JupyterLite drops; data stay."""
    if isinstance(value, dict):
        own = {k: v if k in {"datasets", "values"} else _as_on_page(v) for k, v in value.items()}
        return own | {"width": "container"} if own.get("width") in (look.WIDE, look.PANE) else own
    if isinstance(value, list):
        return [_as_on_page(each) for each in value]
    return look.PAGE.get(value, value) if isinstance(value, str) else False if value is None else value


def enable() -> None:
    """Use this renderer where nobody has chosen another; no theme is enabled: a reader's own charts have it, too."""
    # Charts of one domain share one parameter on purpose: a click in either selects in both.
    warnings.filterwarnings("ignore", message="Automatically deduplicated selection parameter", category=UserWarning)
    alt.renderers.register(NAME, render)
    alt.theme.register(NAME, enable=False)(cast(Any, look.theme))
    if alt.renderers.active == "default":
        alt.renderers.enable(NAME)

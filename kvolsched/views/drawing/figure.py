"""Figures for notebooks: a picture and its reading, as MIME bundles that any front end shows.

This module alone knows MIME bundles and standalone colours: it writes the classes of the style sheet into plain
attributes, so that a saved picture needs no sheet and no kernel, and adds the PNG, which is all that an untrusted
notebook shows, if vl-convert is installed. There is no `text/html`: an untrusted notebook would show its bare words.
"""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from attrs import field, frozen

VEGA_LITE = "application/vnd.vegalite.v5+json"
"""MIME type that JupyterLab draws without a network; it accepts the specs of altair 6."""

MARGIN = 10
"""Paper around a saved figure, px."""

_SVG = "http://www.w3.org/2000/svg"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_EMBED = {VEGA_LITE: {"embed_options": {"renderer": "svg", "actions": False}}}
_FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
# Properties of the style sheet that a saved picture keeps; all others concern live pages only.
_ATTRIBUTES = frozenset({
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity",
    "font-size", "font-weight", "font-family", "text-anchor", "text-decoration", "letter-spacing",
})  # fmt: skip
_TAG = re.compile(r"<([a-zA-Z]+)((?:\s+[-:\w]+=\"[^\"]*\")*)\s*(/?)>")
_PAIR = re.compile(r'([-:\w]+)="([^"]*)"')
_VARIABLE = re.compile(r"var\(--kv-([-\w]+)\)")
_RULE = re.compile(r"([^{}@]+)\{([^{}]*)\}")
_MOVE = re.compile(r"translate\(([-\d.]+)px,\s*([-\d.]+)px\)")
# Switches that need a kernel: <g class="k-live"> without groups in it, and <text>.
_LIVE_ONLY = re.compile(r'<(g|text)\b[^>]*class="[^"]*\bk-live\b[^"]*"[^>]*>.*?</\1>')
_LIVE = ("data-", "tabindex", "role", "aria-")


@cache
def sheet() -> str:
    """Return the style sheets of this folder as one text, the common one first."""
    folder = resources.files("kvolsched.views.drawing")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".css"))
    names.sort(key=lambda name: name != "style.css")
    return "\n".join((folder / name).read_text("utf-8") for name in names)


@cache
def palette(theme: str = "light") -> dict[str, str]:
    """Return the colours of a theme by role: `palette("dark")["ok"]` is "#acf5d3"."""
    colours: dict[str, str] = {}
    for selector, body in _RULE.findall(re.sub(r"/\*.*?\*/", "", sheet(), flags=re.DOTALL)):
        dark = "data-jp-theme-light" in selector
        if "--kv-" in body and (not dark or theme == "dark"):
            colours |= {name: value.strip() for name, value in re.findall(r"--kv-([-\w]+):([^;}]+)", body)}
    return colours


@cache
def _rules(theme: str) -> dict[str, tuple[int, dict[str, str]]]:
    """Return, for each class that has a rule, the place of the rule and the attributes it sets."""
    colours = palette(theme)
    found: dict[str, tuple[int, dict[str, str]]] = {}
    bare = re.sub(r"/\*.*?\*/", "", sheet(), flags=re.DOTALL)
    for place, (selectors, body) in enumerate(_RULE.findall(bare)):
        pairs = [line.partition(":")[::2] for line in body.split(";") if ":" in line]
        attributes = {name.strip(): value.strip() for name, value in pairs if name.strip() in _ATTRIBUTES}
        for name, value in attributes.items():
            plain = _VARIABLE.sub(lambda match: colours[match[1]], value)
            attributes[name] = plain.removesuffix("px").replace('"', "'")
        for selector in selectors.split(","):
            match = re.fullmatch(r"\s*\.kv \.([-\w]+)\s*", selector)
            if match and attributes:
                old = found.get(match[1], (place, {}))[1]
                found[match[1]] = (place, old | attributes)
    return found


def resolve(svg: str, theme: str = "light", margin: int = 0) -> str:
    """Return a picture with its classes written into attributes, on paper with a `margin`: it needs no sheet then."""
    svg = _LIVE_ONLY.sub("", svg)
    rules, colours = _rules(theme), palette(theme)
    first = True

    def plain(match: re.Match[str]) -> str:
        nonlocal first
        tag, attributes, closed = match.groups()
        pairs = dict(_PAIR.findall(attributes))
        matching = [rules[name] for name in pairs.pop("class", "").split() if name in rules]
        for _, rule in sorted(matching, key=lambda item: item[0]):
            pairs |= rule
        moved = _MOVE.search(pairs.pop("style", ""))
        if moved:
            pairs["transform"] = f"translate({moved[1]},{moved[2]})"
        if tag in {"text", "tspan"} and (tag == "text" or "fill" in pairs):
            pairs = {"fill": colours["ink"], "font-size": "11"} | pairs if tag == "text" else pairs
        top, first = first, False
        label = pairs.get("aria-label", "")
        pairs = {k: v for k, v in pairs.items() if not k.startswith(_LIVE)}
        paper = ""
        if top and tag == "svg":
            pairs = {"xmlns": _SVG} | pairs | {"font-family": _FONT, "role": "img", "aria-label": label}
            wide, high = (float(pairs[side]) + 2 * margin for side in ("width", "height"))
            pairs |= {"width": f"{wide:g}", "height": f"{high:g}"}
            pairs["viewBox"] = f"{-margin} {-margin} {wide:g} {high:g}"
            place = f'x="{-margin}" y="{-margin}" width="{wide:g}" height="{high:g}"'
            paper = f'<rect {place} fill="{colours["paper"]}"/>'
        return f"<{tag}" + "".join(f' {k}="{v}"' for k, v in pairs.items()) + f"{closed}>{paper}"

    return _TAG.sub(plain, svg)


def svg_png(svg: str) -> bytes | None:
    """Return a standalone SVG as PNG, scale 1; None without vl-convert."""
    converter = _vl_convert()
    return bytes(converter.svg_to_png(svg, scale=1.0)) if converter else None


def png_form(png: bytes | None) -> dict[str, str]:
    """Return the MIME form of a PNG; empty without one."""
    return {} if png is None else {"image/png": base64.b64encode(png).decode()}


def _vl_convert() -> Any:
    """Return the module vl_convert, or None where it is not installed, as in a browser."""
    try:
        import vl_convert  # noqa: PLC0415 - 30 MB that only a saved picture needs
    except ImportError:
        return None
    return vl_convert


@frozen(repr=False)
class Figure:
    """A static figure: an SVG and its reading in words."""

    svg: str = field(repr=False)
    """Drawn with classes of the style sheet."""
    reading: str
    """The picture in words, as lines; nbval compares them."""
    theme: str = "light"
    """Colours of the saved picture: light or dark."""

    def __repr__(self) -> str:
        return self.reading

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        picture = resolve(self.svg, self.theme, MARGIN)
        return {"image/svg+xml": picture} | png_form(svg_png(picture)) | {"text/plain": self.reading}

    def save(self, path: str | Path) -> Path:
        """Write the picture (.svg, .png) or the reading (.txt), by the ending of the name; return the path."""
        target = Path(path)
        picture = resolve(self.svg, self.theme, MARGIN)
        return _write(target, {".svg": picture.encode(), ".png": svg_png(picture), ".txt": self.reading.encode()})


@frozen(repr=False)
class ChartFigure:
    """An altair chart and its reading in words; `.chart` may be restyled before it is shown."""

    chart: Any = field(repr=False)
    """The altair chart."""
    reading: str
    """The chart in words, as lines; nbval compares them."""

    def __repr__(self) -> str:
        return self.reading

    def spec(self) -> dict[str, Any]:
        """Return the vega-lite spec in the form that JupyterLab, Voila and JupyterLite all draw."""
        spec: dict[str, Any] = _no_null(self.chart.to_dict())
        spec["$schema"] = _SCHEMA
        return spec

    def svg(self) -> str | None:
        """Draw the chart as SVG, as the panel's tabs show it; None without vl-convert."""
        converter = _vl_convert()
        return str(converter.vegalite_to_svg(json.dumps(self.spec()))) if converter else None

    def _png(self) -> bytes | None:
        converter = _vl_convert()
        return bytes(converter.vegalite_to_png(json.dumps(self.spec()), scale=1.0)) if converter else None

    def _repr_mimebundle_(self, include: object = None,
                          exclude: object = None) -> tuple[dict[str, Any], dict[str, Any]]:
        return {VEGA_LITE: self.spec()} | png_form(self._png()) | {"text/plain": self.reading}, _EMBED

    def save(self, path: str | Path) -> Path:
        """Write the chart (.json, .svg, .png) or its reading (.txt), by the ending of the name; return the path."""
        target = Path(path)
        if target.suffix == ".json":
            return _write(target, {".json": json.dumps(self.spec(), indent=1).encode()})
        svg = self.svg() if target.suffix == ".svg" else None
        png = self._png() if target.suffix == ".png" else None
        return _write(target, {".svg": svg and svg.encode(), ".png": png, ".txt": self.reading.encode(), ".json": None})


def _write(target: Path, forms: dict[str, Any]) -> Path:
    content = forms.get(target.suffix)
    if target.suffix not in forms:
        raise ValueError(f"cannot save a figure as {target.name!r}: the name must end in {', '.join(sorted(forms))}")
    if content is None:
        raise ValueError(f"cannot save {target.name!r}: pictures are made by vl-convert-python, which is not installed")
    target.write_bytes(content)
    return target


def _no_null(value: Any, *, data: bool = False) -> Any:
    """Return a spec with false for null outside of data: JupyterLite drops null, vega-lite reads both alike."""
    if isinstance(value, dict):
        return {k: _no_null(v, data=data or k in {"datasets", "values"}) for k, v in value.items()}
    if isinstance(value, list):
        return [_no_null(v, data=data) for v in value]
    return False if value is None and not data else value

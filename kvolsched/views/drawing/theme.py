"""Colours and style sheets: as variables that follow the page, or written into a picture that stands alone.

This module alone reads the style sheets. `resolve` writes their classes into plain attributes of one theme, so that a
saved picture needs no sheet; `page_style` keeps only the rules that a picture uses, under a class of its own, so that
pictures of two versions on one page cannot recolour each other.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

from kvolsched.views.drawing.png import packed, transparent

_SVG = "http://www.w3.org/2000/svg"
_FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
# Colours of a stored picture, which stands on white or black before a notebook runs: contrast 4.2 or more on both.
_EITHER = {"ok": "#028a6b", "node": "#167cce", "resources": "#b1670a", "storage": "#c744a6", "spread": "#796ebf",
           "ink": "#727a88", "soft": "#727a88", "accent": "#1174f2", "hot": "#987303", "paper": "none",
           "inlay": "#ffffff"}  # fmt: skip
_EITHER |= {f"{role}-pale": f"{_EITHER[role]}26" for role in ("ok", "node", "resources", "storage", "spread", "accent")}
_EITHER |= {role: f"{_EITHER['soft']}{opacity}" for role, opacity in (("panel", "1c"), ("line", "80"), ("track", "40"))}
# Properties of the style sheet that a saved picture keeps; all others concern live pages only.
_ATTRIBUTES = frozenset({
    "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "font-weight",
    "font-family", "text-anchor",
})  # fmt: skip
_TEXT = {"color": "fill"}  # on a page the words of a picture are filled with their colour
_TAG = re.compile(r"<([a-zA-Z]+)((?:\s+[-:\w]+=\"[^\"]*\")*)\s*(/?)>")
_PAIR = re.compile(r'([-:\w]+)="([^"]*)"')
_VARIABLE = re.compile(r"var\(--kv-([-\w]+)\)")
_RULE = re.compile(r"([^{}@]+)\{([^{}]*)\}")
_BETWEEN = re.compile(r",(?![^(]*\))")  # selectors, not those within :is()
_IN_A_SCRIPT = (("</", "<\\/"), ("<!", "\\u003c!"), ("\u2028", "\\u2028"), ("\u2029", "\\u2029"))
_MOVE = re.compile(r"translate\(([-\d.]+)px,\s*([-\d.]+)px\)")
# Switches that need a kernel: <g class="k-live"> without groups in it, and <text>.
_LIVE_ONLY = re.compile(r'<(g|text)\b[^>]*class="[^"]*\bk-live\b[^"]*"[^>]*>.*?</\1>')
_LIVE = ("data-", "tabindex", "role", "aria-")
_CLASS = re.compile(r"\.(k-[-\w]+)")
_CLASSES = re.compile(r'class="([^"]*)"')


@cache
def served(package: str, name: str) -> str:
    """Return a script or style sheet of a package without indentation and lines of comment."""
    lines = (line.strip() for line in (resources.files(package) / name).read_text("utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


def in_a_script(data: Any) -> str:
    """Return data as JSON that may stand in a script."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for unsafe, safe in _IN_A_SCRIPT:
        text = text.replace(unsafe, safe)
    return text


@cache
def sheet() -> str:
    """Return the style sheets of this folder as one text, the common one first."""
    folder = resources.files("kvolsched.views.drawing")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".css"))
    names.sort(key=lambda name: name != "style.css")
    return "\n".join((folder / name).read_text("utf-8") for name in names)


@cache
def palette(theme: str = "light") -> dict[str, str]:
    """Return the colours of a theme by role: `palette("dark")["ok"]` is "#acf5d3"; "either" suits both grounds."""
    if theme == "either":
        return _EITHER
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
        named = ((_TEXT.get(name.strip(), name.strip()), value.strip()) for name, value in pairs)
        attributes = {name: value for name, value in named if name in _ATTRIBUTES}
        for name, value in attributes.items():
            plain = _VARIABLE.sub(lambda match: colours[match[1]], value)
            if name == "fill" and plain == "none" and f"color:{value}" in body:  # words on a filled shape
                plain = "#ffffff"
            attributes[name] = plain.removesuffix("px").replace('"', "'")
        for selector in selectors.split(","):
            match = re.fullmatch(r"\s*\.kv \.([-\w]+)\s*", selector)
            if match and attributes:
                old = found.get(match[1], (place, {}))[1]
                found[match[1]] = (place, old | attributes)
    return found


def resolve(svg: str, theme: str = "light", margin: int = 0) -> str:
    """Return a picture with its classes written into attributes, on paper with a `margin`: it needs no sheet then."""
    svg = _LIVE_ONLY.sub("", svg).replace("⇄", "↔")  # which plain fonts have: a missing sign changes its whole line
    rules, colours = _rules(theme), palette(theme)
    first = True

    def plain(match: re.Match[str]) -> str:
        nonlocal first
        tag, attributes, closed = match.groups()
        pairs = dict(_PAIR.findall(attributes))
        matching = [rules[name] for name in pairs.pop("class", "").split() if name in rules]
        for _, rule in sorted(matching, key=lambda item: item[0]):
            pairs |= rule
        style = pairs.pop("style", "")
        moved = _MOVE.search(style)
        if moved:
            pairs["transform"] = f"translate({moved[1]},{moved[2]})"
        declared = (one.partition(":")[::2] for one in style.split(";"))
        pairs |= {k.strip(): v.strip().removesuffix("px") for k, v in declared if k.strip() in _ATTRIBUTES}
        pairs = {k: _VARIABLE.sub(lambda match: colours[match[1]], v) for k, v in pairs.items()}
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
    converter = vl_convert()
    return packed(bytes(converter.svg_to_png(svg, scale=1.0))) if converter else None


def stored_png(svg: str, margin: int) -> bytes | None:
    """Return a picture that is legible on white and on black, as a PNG without a ground; None without vl-convert."""
    converter, drawn = vl_convert(), resolve(svg, "either", margin)
    if converter is None:
        return None
    grounds = (drawn.replace('fill="none"', f'fill="{ground}"', 1) for ground in ("#ffffff", "#000000"))
    return transparent(*(bytes(converter.svg_to_png(ground, scale=1.0)) for ground in grounds))


def png_form(png: bytes | None) -> dict[str, str]:
    """Return the MIME form of a PNG; empty without one."""
    return {} if png is None else {"image/png": base64.b64encode(png).decode()}


def vl_convert() -> Any:
    """Return the module vl_convert, or None where it is not installed, as in a browser."""
    try:
        import vl_convert  # noqa: PLC0415 - 30 MB that only a saved picture needs
    except ImportError:
        return None
    return vl_convert


def page_style(pictures: Iterable[str]) -> tuple[str, str]:
    """Return a root class and the rules, under that class, that these pictures use: they follow the page's theme."""
    used = {"k-fig", "k-said", "k-dim"} | {  # the script of a figure sets these
        name for picture in pictures for classes in _CLASSES.findall(picture) for name in classes.split()}
    rules = "".join(
        f"{','.join(kept)}{{{body}}}"
        for selectors, body in _page_rules()
        if (kept := [each for each in selectors if ("k-fig" in each or "@" not in each)
                     and used.issuperset(_CLASS.findall(each))])
    )
    root = f"kv-{sha256(rules.encode()).hexdigest()[:8]}"
    return root, re.sub(r"\.kv(?![\w-])", f".{root}", rules)


@cache
def _page_rules() -> list[tuple[list[str], str]]:
    """Return the rules that may concern a picture on a page: not those of the panel's controls."""
    bare = re.sub(r"/\*.*?\*/", "", sheet(), flags=re.DOTALL)
    split = ((_BETWEEN.split(selectors), body.strip()) for selectors, body in _RULE.findall(bare))
    return [([one.strip() for one in selectors if ".kv" in one and ".kv.kv" not in one], body)
            for selectors, body in split]  # fmt: skip

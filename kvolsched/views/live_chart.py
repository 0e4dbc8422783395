"""A chart as the panel shows it: the same picture that altair gives, in the panel's colours, and selectable.

vl-convert writes colours as numbers and links as web addresses; here they become the
sheet's variables, so that a theme switch needs no redraw, and refs, so that a click comes
back. Drawn anew only when the frame's tables differ: a chart takes a tenth of a second.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from urllib.parse import unquote

from kvolsched.views.domains import domains
from kvolsched.views.drawing import nothing
from kvolsched.views.figure import ChartFigure, palette
from kvolsched.views.frame import Frame
from kvolsched.views.text import escape

NO_CHARTS = "Charts are drawn by vl-convert-python, which is not installed."
_LINK = re.compile(r'<a xlink:href="[^"#]*#([^"]*)">(.*?)</a>', re.DOTALL)
_SAID = re.compile(r' aria-label="[^"]*?;\s+: ([^"]*?); ref: [^"]*"')
_SPOKEN = re.compile(r' (?:aria-[a-z]+|role|class|xmlns:xlink|version)="[^"]*"')
_PLACES = re.compile(r' (?:d|transform|x|y|width|height)="[^"]*"')
_LONG = re.compile(r"\d+\.\d{3,}")
_PAPER = re.compile(r"(<svg[^>]*>)<rect [^>]*/>")


def draw(frame: Frame, width: int, selection: str = "", key: str = "topology.kubernetes.io/zone") -> str:
    """Draw the domains of a topology key as selectable SVG."""
    drawn = _domains(frame.nodes, frame.pods, frame.volumes, frame.verdicts.pod, Box(frame), width - 24, key)
    if not selection:
        return drawn
    mark = f'data-ref="{escape(selection)}"'
    return drawn.replace(mark, f'{mark} aria-pressed="true"')


class Box:
    """A frame that says nothing about its own equality: the cache compares the tables that are drawn."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=32)
def _domains(nodes: object, pods: object, volumes: object, pod: str, held: Box, width: int, key: str) -> str:
    return themed(domains(held.frame, key, width, refs=True))


def themed(figure: ChartFigure) -> str:
    """Give a chart as SVG in the sheet's variables, its links as refs."""
    svg = figure.svg()
    if svg is None:
        return nothing(600, NO_CHARTS)
    svg = _LINK.sub(_selectable, svg)
    head, _, body = _PAPER.sub(r"\1", svg, count=1).partition(">")
    body = re.sub(r'( data-ref="[^"]*" role="button" aria-label="[^"]*")|' + _SPOKEN.pattern, r"\1", body)
    body = _PLACES.sub(lambda m: _LONG.sub(lambda number: f"{float(number[0]):.1f}", m[0]), body)
    for role, colour in palette().items():
        body = body.replace(f'"{colour}"', f'"var(--kv-{role})"')
    label = escape(figure.reading.partition("\n")[0])
    return f'{_SPOKEN.sub("", head)} class="k-chart" role="group" aria-label="{label}">{body}'


def _selectable(match: re.Match[str]) -> str:
    ref = unquote(unescape(match[1]))
    said = _SAID.search(match[2])
    label = unescape(said[1]) if said else ref
    return f'<g data-ref="{escape(ref)}" role="button" aria-label="{escape(label)}">{match[2]}</g>'

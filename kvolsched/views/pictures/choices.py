"""Clusters to be played by buttons without a kernel: every state that the offered acts reach is drawn beforehand.

A figure for a notebook, or a page that stands alone, in the look of all pictures. Pictures of neighbouring states
differ little, so their parts are kept once.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import attrs

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import SCRIPT, Figure
from kvolsched.views.drawing.svg import height, picture, placed, word
from kvolsched.views.drawing.theme import in_a_script, page_style, served
from kvolsched.views.frame import Frame
from kvolsched.views.pictures import cluster_map

WIDTHS = (520, 828)
_PARTS = re.compile(r"(?=<g |<text|<rect|<path|<circle|</g>)")


@attrs.frozen
class State:
    """What is seen after some acts: the cluster, the question why a pod waits and its answer, stars, what they lack."""

    frame: Frame
    asks: str = ""
    why: str = ""
    stars: int = 0
    said: str = ""


@attrs.frozen
class Game:
    """One cluster with its acts in words; `states` are by the numbers of the acts taken; `once`: one act, no undo."""

    name: str
    question: str
    acts: Sequence[str]
    states: Mapping[tuple[int, ...], State]
    once: bool


def bundle(games: Sequence[Game], reader: str, reading: str) -> dict[str, Any]:
    """Return the games as MIME forms: a script where the notebook is trusted, else the first map as a picture."""
    still = Figure(lambda width, _selection: _still(games[0], width), reading)
    return {**still._repr_mimebundle_(), SCRIPT: f"{_read('choices.js')}({_data(games, reader, WIDTHS)})(element);"}


def _still(game: Game, width: int) -> str:
    """Return the question over the map of the first state."""
    drawn, lines = cluster_map.draw(game.states[()].frame, width), t.wrap(game.question, width, 15, 4, bold=True)
    asked = "".join(word(0, 14 + 20 * place, "k-b k-ask", line) for place, line in enumerate(lines))
    high = 20.0 * len(lines) + 4
    return picture(width, high + height(drawn), asked + placed(drawn, high), game.question)


def page(games: Sequence[Game], title: str) -> str:
    """Return the games as a page that needs neither kernel nor network."""
    return _PAGE.format(title=escape(title), script=f"{_read('choices.js')}({_data(games, 'you', WIDTHS[1:])})")


def _data(games: Sequence[Game], reader: str, widths: Sequence[int]) -> str:
    pool: dict[str, int] = {}
    plain = [_plain(game, widths, lambda part: pool.setdefault(part, len(pool))) for game in games]
    root, style = page_style(part.replace("'", '"') for part in pool)
    extra = _read("choices.css").replace(".kv ", f".{root} ")
    data = {"root": root, "style": style + extra, "games": plain, "pool": list(pool), "widths": widths,
            "reader": reader, "of": len(games) + 1}  # fmt: skip
    return in_a_script(data)


def _plain(game: Game, widths: Sequence[int], number: Callable[[str], int]) -> dict[str, Any]:
    states = {
        ",".join(map(str, taken)): {
            "maps": [[number(part) for part in _PARTS.split(  # nothing is to be pressed; in JSON ' needs no escape
                cluster_map.draw(state.frame, width).replace(' role="button"', "").replace('"', "'"))]
                for width in widths],
            "asks": state.asks, "why": state.why, "stars": state.stars, "said": state.said,
        }
        for taken, state in game.states.items()
    }  # fmt: skip
    return {"name": game.name, "question": game.question, "acts": list(game.acts), "states": states, "once": game.once}


_read = partial(served, "kvolsched.views.pictures")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body{{margin:auto;max-width:880px}}body[data-jp-theme-light=false]{{background:#14181f}}figure{{margin:0}}</style>
</head>
<body data-jp-theme-light="true"><div id="game"></div>
<script>const dark=matchMedia("(prefers-color-scheme: dark)");
const theme=()=>{{document.body.dataset.jpThemeLight=!dark.matches}};
theme();dark.addEventListener("change",theme);
{script}(document.getElementById("game"));</script></body></html>
"""

"""The panel without a kernel: a still picture for a closed notebook, and a run as one page that can be stepped.

A page holds the host, a pool of the distinct fragments of all views, and which of them make each step; it needs no
network. A still picture is sentence, map and timeline as SVG with its colours resolved, and as PNG if vl-convert is
installed.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.views.drawing import text
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.svg import height
from kvolsched.views.drawing.theme import in_a_script
from kvolsched.views.frame import Frame
from kvolsched.views.panel.driver import ClusterDriver
from kvolsched.views.panel.host import ROOT, read, script, style
from kvolsched.views.panel.pair import BESIDE
from kvolsched.views.pictures import cluster_map, headline, lanes, log
from kvolsched.views.pictures.picture import TABS

Views = Callable[[Frame, int, str, str], dict[str, str]]
_PARTS = re.compile(r"(?=<g |<text|<rect|<path|<circle|<line|</g>|<tr|<div)")
ORDER = ("sentence", "map", "side", "lanes")
EXPORTED = {picture.name: picture.tab for picture in TABS}


def picture(frame: Frame, width: int, selection: str = "", key: str = ZONE_LABEL) -> str:
    """Draw sentence, map and timeline under each other as one SVG, classes unresolved."""
    drawn = cluster_map.draw(frame, width, selection, key), lanes.draw(frame, width, selection)
    sized = ((svg, height(svg)) for svg in drawn)
    return headline.stacked([headline.draw_svg(frame, width), *sized], width, headline.reading(frame))


def still(frame: Frame, width: int, reading: str, selection: str = "", key: str = ZONE_LABEL) -> Figure:
    """Return the still picture of a place, which a notebook shows when no kernel moves the panel."""
    return Figure(lambda wide, _selection: picture(frame, wide, selection, key), reading, width=width)


def save_page(driver: ClusterDriver, path: Path, views: Views, width: int) -> Path:
    """Write every known step of the driver's branch as one page that opens at the start; the driver stays in place.

    Raises:
        ValueError: the name does not end in .html.
    """
    if path.suffix != ".html":
        name = path.name if path.suffix == ".svg" else f"{path.stem}.png"
        raise ValueError(f"cannot save a run as {path.name!r}: the name must end in .html; "
                         f"for a picture of the present step: c.map().save({name!r})")
    head = driver.frame().head
    pool: dict[str, int] = {}
    steps: list[dict[str, Any]] = []
    try:
        for step in range(max(head.steps_known, head.step) + 1):
            driver.goto(step)
            steps.append(_row(driver.frame(), views, width, pool))
    finally:
        driver.goto(head.step)
    path.write_text(_page(head.scenario, steps, list(pool), width), "utf-8")
    return path


def _row(frame: Frame, views: Views, width: int, pool: dict[str, int]) -> dict[str, Any]:
    first, *others = EXPORTED
    drawn = views(frame, width, "", first)
    bodies = {first: drawn["body"]} | {name: views(frame, width, "", name)["body"] for name in others}
    chips = "".join(
        f'<span class="k-chip-b{" k-default" if row.default else ""}" title="{text.escape(row.words or row.about)}">'
        f"<b>{text.escape(row.label)}</b> {text.escape(headline.chip_words(row))}</span>"
        for row in frame.next
    )
    strings = {
        **{name: drawn[name] for name in ORDER},
        **bodies,
        "chips": f'<span class="k-q-label">{text.escape(headline.next_label(frame))}</span>'
        + (chips or f'<span class="k-q-label">{headline.IDLE}</span>'),
        "place": headline.place_html(frame),
        "badge": headline.badge_html(frame),
    }
    return {
        name: [pool.setdefault(part, len(pool)) for part in _PARTS.split(string)] for name, string in strings.items()
    }


def _page(title: str, steps: list[dict[str, Any]], pool: list[str], width: int) -> str:
    lists: dict[tuple[int, ...], int] = {}  # a view is often the same over several steps
    rows = [{name: lists.setdefault(tuple(parts), len(lists)) for name, parts in step.items()} for step in steps]
    run = {"steps": rows, "lists": list(lists), "pool": pool, "at": 0, "root": ROOT}
    data = in_a_script(run)
    tabs = "".join(f'<button class="k-tab" data-tab="{name}">{label}</button>' for name, label in EXPORTED.items())
    buttons = "".join(
        f'<button class="k-btn k-{name}" data-cmd="{name}">{name.capitalize()}</button>'
        for name in ("reset", "back", "step", "run")
    )
    root = f"{ROOT} k-paired" if any('class="k-half"' in part for part in pool) else ROOT
    return _TEMPLATE.format(title=text.escape(title or "kvolsched"), style=style(), root=root, width=width + 20,
                            stacked=BESIDE - 20,
                            buttons=buttons, tabs=tabs, written=log.WRITTEN, last=len(steps) - 1, data=data,
                            host=script().replace("export default{render};", ""), glue=read("page.js"))


_TEMPLATE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}
body{{margin:0}}
@container (max-width:{stacked}px){{.k-page .k-pair{{grid-template-columns:minmax(0,1fr)!important}}}}
body[data-jp-theme-light=false]{{background:#14181f}}.k-page{{margin:auto}}
.k-page text.k-live,.k-page [data-ref="{written}"]{{display:none}}</style></head>
<body><div class="{root} k-lab k-page" style="max-width:{width}px"><div class="k-grid">
<div class="k-toolbar">{buttons}
<input type="range" class="k-slider" aria-label="timeline" min="0" max="{last}" value="0">
<div class="k-html" data-show="place"></div><div class="k-html" data-show="badge"></div></div>
<div class="k-doing"><div class="k-chips"><span class="k-html" data-show="chips"></span></div></div>
<div class="k-tabs">{tabs}</div><div id="host"></div></div></div>
<script type="application/json" id="run">{data}</script>
<script>
{host}
{glue}
</script></body></html>
"""

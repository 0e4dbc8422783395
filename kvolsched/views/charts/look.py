"""The look of all charts. In a chart inks are colours and its width is a number, which altair can save; the renderer
writes the page's CSS variable and its place's width instead, so that one shown spec suits light and dark.

Colours of data are legible on both grounds, and never the only sign. `fixed` writes one theme's inks into a spec or a
picture that stands alone.
"""

from typing import Any

INK, SOFT, LINE, PAPER = "#1b2330", "#566072", "#dfe3ea", "#fefefe"  # paper: another than a reader's own white
PAGE = {
    INK: "var(--jp-ui-font-color0, var(--vscode-foreground, #1b2330))",
    SOFT: "var(--jp-ui-font-color1, var(--vscode-descriptionForeground, #566072))",
    LINE: "var(--jp-border-color2, #d5d9e0)",
    PAPER: "var(--jp-layout-color0, var(--vscode-editor-background, #fff))",
}
"""Inks as a page has them."""
SAVED = {
    "light": {INK: "#1b2330", SOFT: "#566072", LINE: "#dfe3ea", PAPER: "#ffffff"},
    "dark": {INK: "#e8eaee", SOFT: "#a9b0bd", LINE: "#3a4049", PAPER: "#111418"},
}
"""Inks of a picture that stands alone, by theme."""

WIDE, PANE = 491, 163  # px, of a chart and of one of three panes; on a page both fill their place
BLUE, GREEN, RED, GREY, VIOLET, AMBER, TEAL, PINK = (
    "#3d7fd9", "#12936b", "#e6403c", "#868d98", "#9040e8", "#d47e20", "#3d6b7f", "#bf15ae")
LINES = [BLUE, RED, GREEN, AMBER, VIOLET, PINK, TEAL, GREY]
"""Colours of lines and groups, in their order; any two differ under each of the three colour blindnesses."""
FONT = "Helvetica, Arial, Liberation Sans, sans-serif"


def theme() -> dict[str, Any]:
    """Return what is merged into each spec that is shown, and by altair after `alt.theme.enable("kvolsched")`."""
    words = {"labelColor": SOFT, "titleColor": SOFT, "titleFontWeight": "normal", "labelLimit": 260,
             "labelFontSize": 12, "titleFontSize": 12}  # fmt: skip
    return {"config": {
        "background": None, "font": FONT, "view": {"stroke": None},
        "axis": words | {"gridColor": LINE, "domainColor": LINE, "tickColor": LINE}, "legend": words,
        "header": words | {"labelColor": INK, "labelLimit": 400},
        "title": {"anchor": "start", "frame": "group", "color": INK, "subtitleColor": SOFT, "fontSize": 14,
                  "subtitleFontSize": 12, "offset": 10, "limit": 0},
        "text": {"color": INK, "fontSize": 12}, "rule": {"color": INK}, "range": {"category": LINES},
        "bar": {"color": BLUE}, "line": {"color": BLUE}, "point": {"color": BLUE},
    }}  # fmt: skip


def fixed(text: str, theme: str) -> str:
    """Return a spec or an SVG, as text, in the inks of one theme."""
    for ink, variable in PAGE.items():
        text = text.replace(variable, SAVED[theme][ink])
    return text

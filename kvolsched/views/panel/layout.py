"""What a panel draws for its width: one string a view, and which of them stand beside each other.

A class in the string of the lanes says how the style sheet arranges the views, so that a saved page is arranged alike:
`k-two`, lanes beside the tabs, from 820 px on; `k-beside`, both to the right of a map of many nodes, from 1280 px on.
The sheet has no such widths of its own: it only lets a saved page that is opened in a narrow window be one column.
"""

from collections.abc import Set as AbstractSet

from attrs import frozen

from kvolsched.views.frame import Frame
from kvolsched.views.pictures import cluster_map, headline, lanes, log

TWO, BESIDE, GAP, INSET = 820, 1280, 10, 12
"""Widths from which views stand beside each other; the gap between them; border and padding of a box; px."""
FEW_NODES = 6


@frozen
class PanelLayout:
    """The widths of a panel's views, px."""

    map: int
    lanes: int
    body: int
    name: str


def layout(width: int, nodes: int, *, alone: bool = True) -> PanelLayout:
    """Return how a panel of `width` px is laid out: the map is as wide as the panel, or has the rest at its right.

    One of a pair has all views under each other: beside them stands the other one.
    """
    if not alone:
        return PanelLayout(width, width, width, "k-one")
    if width >= BESIDE and nodes > FEW_NODES:
        right = int((width - GAP) * 0.42)
        return PanelLayout(width - GAP - right, right, right, "k-beside")
    if width >= TWO:
        half = (width - GAP) // 2
        return PanelLayout(width, half, half, "k-two")
    return PanelLayout(width, width, width, "k-one")


def views(frame: Frame, place: PanelLayout, width: int, selection: str, topology: str,
          unfolded: AbstractSet[str]) -> dict[str, str]:
    """Draw every view but the tabs' body; `unfolded` names what is open: actors, "idle" and "written"."""
    lanes_w = place.lanes - 2 * INSET
    open_ = "written" in unfolded
    return {
        "sentence": headline.draw(frame, width, selection),
        "map": cluster_map.draw(frame, place.map, selection, topology),
        "side": log.draw_written(frame, width, selection, open_=open_) + (
            f'<div class="k-box">{log.draw_changes(frame, width - 2 * INSET, selection)}</div>' if open_ else ""
        ),
        "lanes": f'<div class="k-box {place.name}">'
        f"{lanes.draw(frame, lanes_w, selection, unfolded=unfolded, fold=True)}"
        f'<div class="k-recent">{log.draw_recent(frame, lanes_w, selection)}</div></div>',
    }  # fmt: skip

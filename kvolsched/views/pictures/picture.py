"""The table of pictures that `Cluster` shows, the panel has tabs for and a saved page contains.

A picture is a pure function of a frame, with a reading of it in lines. A new picture is a line in `PICTURES`.
"""

from collections.abc import Callable

from attrs import frozen

from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.views.drawing.figure import WIDTH, Figure
from kvolsched.views.drawing.html import page, tag
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.frame import Frame
from kvolsched.views.pictures import capacity, cluster_map, domains, lanes, log, matrix, scores, series, skew

FIGURE_WIDTH = WIDTH
LEDGER = 1_080  # px: on a wider page the columns of a ledger would only stand further apart


@frozen
class Picture:
    """One picture of a frame: how it is drawn, how it reads, and where it is shown."""

    name: str  # Its name in the panel and in `show`
    draw: Callable[..., str | Sheet] | None  # Frame, width and selection -> SVG or marks; None: a chart is its picture
    reading: Callable[..., str]  # Frame -> lines
    tab: str = ""  # Label of its tab in the panel and in a saved page; empty: it has none
    by_domain: bool = False  # Whether `draw` and `reading` also take a topology key
    parts: tuple[str, ...] = ()  # Those of the frame (`fill.PARTS`) that it reads, beside the head and the changes
    tables: tuple[str, ...] = ()  # The tables of the frame that are filled only for this picture (`fill.TABLES`)
    widest: int = 4_000  # A figure of it grows no wider, px

    def svg(self, frame: Frame, width: int, selection: str = "", key: str = ZONE_LABEL) -> str:
        """Draw a frame as SVG, as the panel shows it; in words for a page that cannot draw its chart."""
        if self.draw is None:
            return page(tag("pre", "k-code k-pre", self.words(frame, key)))
        drawn = self.draw(frame, width, selection, *self._keys(key))
        return drawn.svg() if isinstance(drawn, Sheet) else drawn

    def figure(self, frame: Frame, key: str = ZONE_LABEL) -> Figure:
        """Draw a frame as a figure for a notebook."""
        return Figure(lambda width, selection: self.svg(frame, min(width, self.widest), selection, key),
                      self.words(frame, key), width=min(FIGURE_WIDTH, self.widest))

    def words(self, frame: Frame, key: str = ZONE_LABEL) -> str:
        """Return the reading of a frame."""
        return self.reading(frame, *self._keys(key))

    def _keys(self, key: str) -> tuple[str, ...]:
        return (key,) if self.by_domain else ()


PICTURES = (
    Picture("map", cluster_map.draw, cluster_map.reading, by_domain=True,
            parts=("nodes", "pods", "claims", "volumes", "classes", "verdicts")),
    Picture("verdicts", matrix.draw, matrix.reading, tab="Verdicts", parts=("nodes", "verdicts")),
    Picture("scores", None, scores.reading, tab="Scores", parts=("verdicts",)),
    Picture("skew", skew.draw, skew.reading, tab="Skew", tables=("skew",), widest=LEDGER),
    Picture("capacity", capacity.draw, capacity.reading, tab="Capacity", tables=("capacity",), widest=LEDGER),
    Picture("domains", None, domains.reading, tab="Domains", by_domain=True,
            parts=("nodes", "pods", "volumes", "verdicts")),
    Picture("series", None, series.frame_reading, tab="Series", tables=("series",)),
    Picture("events", log.draw_events, log.events_reading, tab="Events", parts=("events",)),
    Picture("story", log.draw_story, log.story_reading, tab="Story", tables=("story",)),
    Picture("changes", log.draw_changes, log.changes_reading, widest=FIGURE_WIDTH // 2),
    Picture("timeline", lanes.draw, lanes.reading, parts=("lanes",)),
)
NAMED = {picture.name: picture for picture in PICTURES}
TABS = tuple(picture for picture in PICTURES if picture.tab)

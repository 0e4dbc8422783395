"""Draw the README's picture, a panel in the middle of a binding: `python tests/store_panel.py`."""

from pathlib import Path

import kvolsched
from kvolsched.views.drawing.theme import resolve
from kvolsched.views.panel.export import still

TARGET = Path(__file__).parent.parent / "docs" / "static" / "panel.svg"


def picture():
    """Return the panel's still picture as an SVG that stands alone."""
    c = kvolsched.scenario("zonal-example")
    for _ in range(4):
        c.step()
    lab = c.lab()
    return resolve(still(lab.frame, 900, lab.reading()).svg, "light", 12)


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")

"""What tabs show: the moment of a ledger (now, the pod's last pass, a step; `at` of `c.skew()`), picture or chart."""

from collections.abc import Callable

import ipywidgets as widgets

from kvolsched.views.fill.moments import NOW, PASS
from kvolsched.views.frame import Head
from kvolsched.views.panel.acts_row import show

LEDGERS = frozenset({"skew", "capacity"})
"""The tabs that speak of a moment."""
PLAIN = frozenset({"scores", "series", "domains"})
"""The tabs that have no other picture than a chart."""
CHARTED = LEDGERS | PLAIN
"""The tabs that are shown as altair charts."""
STEP = "step"


class MomentChoice:
    """Drop-downs of picture or chart and of moments, and a field for the number of a step. Mutable: they show what was
    put in last.

    Args:
        do: carries out a command; nothing is sent while a moment is put in.
    """

    def __init__(self, do: Callable[..., None]) -> None:
        self._do = do
        ways = [(NOW, NOW), ("last pass", PASS), ("at step", STEP)]
        self.way = widgets.Dropdown(options=ways, value=NOW, tooltip="the moment that this ledger is about")
        self.step = widgets.BoundedIntText(0, min=0, max=0, tooltip="a step of this branch")
        self.form = widgets.Dropdown(options=[("picture", False), ("chart", True)], value=False,
                                     tooltip="drawn, or as an altair chart")  # fmt: skip
        self.form.add_class("k-choice").add_class("k-form-of").observe(
            lambda change: None if self._quiet else self._do("chart", shown=change["new"]), "value")
        for each, name in ((self.way, "k-moment"), (self.step, "k-moment-step")):
            each.add_class("k-choice").add_class(name)
            each.observe(lambda _: self._chosen(), "value")

    def update(self, at: str | int, head: Head, tab: str, *, chart: bool) -> None:
        """Show a moment beside the tabs that speak of one, and whether a chart is shown beside those that have one."""
        self._quiet = True
        try:
            self.step.max = max(head.steps_known, head.step, at if isinstance(at, int) else 0)
            self.way.value = at if isinstance(at, str) else STEP
            self.step.value = at if isinstance(at, int) else head.step
            self.form.value = chart
        finally:
            self._quiet = False
        show(self.form, shown=tab in CHARTED - PLAIN)
        show(self.way, shown=tab in LEDGERS)
        show(self.step, shown=tab in LEDGERS and isinstance(at, int))

    def _chosen(self) -> None:
        if not self._quiet:
            self._do("moment", at=self.step.value if self.way.value == STEP else self.way.value)

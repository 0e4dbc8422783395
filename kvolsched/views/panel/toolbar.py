"""The toolbar: buttons that move a run, its speed, timeline, gear, branches, and what is shown beside it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as widgets

from kvolsched.views.frame import Frame
from kvolsched.views.panel.acts import UNTIL
from kvolsched.views.panel.acts_row import button, show
from kvolsched.views.panel.player import SPEEDS
from kvolsched.views.pictures import headline

ALONE = "alone"
ALIGNED = ("step", "time")
_UNTIL = "until…"
_HINTS = {
    "reset": "go to the start (Home)",
    "back": "one step back (←)",
    "step": "one step (→)",
    "run": "step until the cluster is idle (r)",
    "play": "step by itself (p); it stops at a failure, at the end and at any key",
}


class Toolbar:
    """The widgets of one panel's toolbar. Mutable: they show the frame that was put in last.

    Args:
        do: carries out a command; nothing is sent while a frame is put in.
        until: whether to offer a condition until which it plays, for which `do` asks.
    """

    def __init__(self, do: Callable[..., None], *, until: bool = True) -> None:
        self.do = do
        self.beside_name, self._speed = ALONE, "1/s"
        self.buttons = {name: button(name.capitalize(), f"k-btn k-{name}", hint, partial(self._pressed, name))
                        for name, hint in _HINTS.items()}  # fmt: skip
        self.speed = self._choice([*SPEEDS, *[_UNTIL] * until], "1/s", "how fast it plays", "k-speed", self._sped)
        self.slider = widgets.IntSlider(0, 0, 0, readout=False, description="", layout={"width": "auto"})
        self.slider.add_class("k-slider").tooltip = "timeline"
        self.slider.observe(lambda change: None if self._quiet else self.do("goto", step=change["new"]), "value")
        self.gear = self._choice(["steps", "turns"], "steps", "a cause or a write at a time", "k-gear",
                                 lambda value: self.do("gear", unit=value))  # fmt: skip
        self.branch = self._choice(["main"], "main", "the branches of this history", "k-branches",
                                   lambda value: self.do("branch", name=value))  # fmt: skip
        self.beside = self._choice([ALONE], ALONE, "another branch or cluster beside this one", "k-with",
                                   lambda value: self.do("beside", name=value, align=self.align.value))  # fmt: skip
        ways = [(f"by {each}", each) for each in ALIGNED]
        self.align = self._choice(ways, "step", "how both move together", "k-align",
                                  lambda value: self.do("beside", name=self.beside_name, align=value))  # fmt: skip
        self.only = self._choice([("all", False), ("differences only", True)], False, "what the maps of both show",
                                 "k-only", lambda value: self.do("only", differences=value))  # fmt: skip
        self.place, self.badge = widgets.HTML(), widgets.HTML()
        self.box = widgets.Box([*self.buttons.values(), self.speed, self.slider, self.place, self.gear, self.branch,
                                self.beside, self.align, self.only, self.badge]).add_class("k-toolbar")  # fmt: skip

    def update(self, frame: Frame, branches: list[str], others: list[str], *, playing: bool, only: bool) -> None:
        """Show a frame's place, and what there is to switch to: branches, the present one first, and other clusters."""
        self._quiet = True
        try:
            head = frame.head
            self.slider.max = max(head.steps_known, head.step)  # in a message before: a value beyond it is sent back
            self.slider.value = head.step
            self.gear.value, self.only.value = head.gear, only
            self.badge.value = headline.badge_html(frame)
            for name, off in (("reset", head.step == 0), ("back", head.step == 0), ("step", not frame.next),
                              ("run", not frame.next), ("play", not frame.next)):  # fmt: skip
                self.buttons[name].disabled = off
            self.place.value = headline.place_html(frame)  # after what may be pressed there: each travels by itself
            both = " both" if self.beside_name != ALONE else ""
            for name in ("step", "run"):
                self.buttons[name].description = name.capitalize() + both
            self.buttons["play"].description = "Pause" if playing else "Play"
            _offer(self.branch, sorted(branches), branches[0])
            _offer(self.beside, [ALONE, *others, *sorted(set(branches[1:]) - set(others))], self.beside_name)
            show(self.beside, shown=len(self.beside.options) > 1)
            for each in (self.align, self.only):
                show(each, shown=self.beside_name != ALONE)
        finally:
            self._quiet = False

    def _choice(self, options: list[Any], value: Any, hint: str, name: str, chosen: Callable[[Any], None]) -> Any:
        made = widgets.Dropdown(options=options, value=value, tooltip=hint)
        made.observe(lambda change: None if self._quiet else chosen(change["new"]), "value")
        return made.add_class("k-choice").add_class(name)

    def _pressed(self, name: str, _button: Any) -> None:
        self.do("toggle" if name == "play" else name)

    def _sped(self, value: str) -> None:
        if value == _UNTIL:
            self.speed.value = self._speed
            self.do("ask", name=UNTIL.name)
        else:
            self._speed = value
            self.do("speed", seconds=SPEEDS[value])


def _offer(choice: Any, options: list[str], value: str) -> None:
    if list(choice.options) != options:
        choice.options = options
    choice.value = value if value in options else options[0]

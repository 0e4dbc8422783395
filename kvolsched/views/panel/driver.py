"""The engine as the panel sees it: a run that can be moved, and frames of its present place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ...cluster_core import ClusterCore
from ..fill import frame_of, with_details
from ..fill.context import FrameContext, JudgedPass
from ..frame import Frame


class PanelDriver(Protocol):
    """A run that the panel can move, and that fills frames of its present place."""

    def frame(self, focus: str = "", *, judge: bool = False) -> Frame:
        """Return the frame of the present place, with the verdicts on a pod (the last judged one by default).

        If `judge`, a pod that has had no pass is judged now, on a fork.
        """

    def details(self, frame: Frame, selected: str, tables: Iterable[str], *, judge: bool = False) -> Frame:
        """Return the frame with the words of a selected verdict, and with these of its optional tables filled."""

    def step(self, actor: str | None = None) -> None:
        """Let the default actor, or the named one, make one step."""

    def back(self) -> None:
        """Go one step back; at the start do nothing."""

    def goto(self, step: int) -> None:
        """Go to a known step of this branch."""

    def run(self) -> None:
        """Step until nobody has anything to do, or a bound is reached."""

    def reset(self) -> None:
        """Go to the start; the known steps of this branch stay known."""

    def gear(self, unit: str) -> None:
        """Count in "steps" or in "turns"."""


class ClusterDriver:
    """A cluster as a driver. Mutable: it moves the cluster."""

    def __init__(self, cluster: ClusterCore) -> None:
        self.cluster = cluster
        self.unit = "steps"
        self.judged = JudgedPass()
        self.default = ""  # the chip that a plain step stands for: it may have to wait for its time

    def frame(self, focus: str = "", *, judge: bool = False) -> Frame:
        frame = frame_of(self.cluster, focus=focus, gear=self.unit, judge=judge, judged=self.judged)
        self.default = frame.next[0].actor if frame.next else ""
        return frame

    def details(self, frame: Frame, selected: str, tables: Iterable[str], *, judge: bool = False) -> Frame:
        context = FrameContext(self.cluster, frame.head.focus, selected, judge=judge, judged=self.judged)
        return with_details(frame, context, tables)

    def step(self, actor: str | None = None) -> None:
        """Let the default actor, or the named one (`ACTOR|CAUSE`), make one step."""
        name, _, cause = ("" if actor == self.default else actor or "").partition("|")
        self.cluster.step(name or None, cause or None, turns=self.unit == "turns")

    def back(self) -> None:
        self.cluster.back()

    def goto(self, step: int) -> None:
        self.cluster.goto(step)

    def run(self) -> None:
        """Step until nobody has anything to do, at most 1,000 steps."""
        self.cluster.run(steps=1_000)

    def reset(self) -> None:
        self.cluster.goto(0)

    def gear(self, unit: str) -> None:
        self.unit = unit

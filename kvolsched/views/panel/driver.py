"""The engine as the panel sees it: a run that can be moved, and frames of its present place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import evolve

from ...core.conditions import condition
from ...core.core import ClusterCore
from ...core.one_at_a_time import one_at_a_time
from ..fill import frame_of, with_details
from ..fill.choices import Choice, choices, offered
from ..fill.context import FrameContext
from ..fill.history import REPEATED, known_next
from ..fill.moments import NOW
from ..frame import Frame
from .acts import Call, literal, unused
from .run import run_of
from .script import Script


@one_at_a_time
class ClusterDriver:
    """A run that the panel can move, and that fills frames of its present place. Mutable: it moves the cluster.

    `watched` is the run whose traits the panel has. If `tell`, frames say what each actor would do before it does.
    """

    def __init__(self, cluster: ClusterCore, *, tell: bool = False) -> None:
        self.cluster, self.tell = cluster, tell
        self.watched = run_of(cluster)
        self.unit = "steps"
        self.judged = self.watched.judged
        self.default = ""  # the chip that a plain step stands for: it may have to wait for its time
        self.script = Script()

    def frame(self, focus: str = "", *, judge: bool = False, most: int | None = None) -> Frame:
        """Return the frame of the present place, with the verdicts on a pod (the last judged one by default).

        If `judge`, a pod that has had no pass is judged now, on a fork. Of those who may act next, `most` are enough.
        """
        frame = frame_of(self.cluster, focus=focus, gear=self.unit, judge=judge, chips=most, judged=self.judged,
                         tell=self.tell)  # fmt: skip
        self.default = frame.next[0].actor if frame.next else ""
        return frame

    def details(
        self, frame: Frame, selected: str, tables: Iterable[str], *, judge: bool, at: str | int = NOW
    ) -> Frame:
        """Return the frame with the words of a selected verdict, and with these of its optional tables filled.

        Ledgers are those of the moment `at`.

        Raises:
            UnknownName: there is no such moment for the pod in focus. It is a KeyError.
        """
        context = FrameContext(self.cluster, frame.head.focus, selected, judge=judge, judged=self.judged, at=at)
        return with_details(frame, context, tables)

    def step(self, actor: str | None = None) -> None:
        """Let the default actor, or the named one (`ACTOR|CAUSE`), make one step; a known step is repeated."""
        world, turns = self.cluster.world, self.unit == "turns"
        name, _, cause = ("" if actor == self.default else actor or "").partition("|")
        known = known_next(self.cluster)
        if not name and known is not None and (known.actor == REPEATED or not turns):
            self.goto(world.step_number + 1)
        elif self.cluster.step(name or None, cause or None, turns=turns):
            args = [literal(part) for part in (name, cause) if part] + ["turns=True"] * turns
            if args:
                self.script.add(f"c.step({', '.join(args)})")
            else:
                self.script.step()

    def back(self) -> None:
        """Go one step back; at the start do nothing."""
        self.goto(max(0, self.cluster.world.step_number - 1))

    def goto(self, step: int) -> None:
        """Go to a known step of this branch."""
        if step != self.cluster.world.step_number:
            self.cluster.goto(step)
            self.script.goto(step)

    def run(self) -> None:
        """Step until nobody has anything to do, at most 1,000 steps; what is known of this branch is repeated first."""
        self.goto(self.cluster.world.known_steps)
        if self.cluster.run(steps=1_000).steps:
            self.script.add("c.run(steps=1_000)")

    def gear(self, unit: str) -> None:
        """Count in "steps" or in "turns"."""
        self.unit = unit

    def branches(self) -> list[str]:
        """Return the names of the branches, the present one first."""
        return self.cluster.branches

    def switch(self, branch: str) -> None:
        """Go to the end of another branch."""
        self.cluster.world.switch(branch)
        self.script.add(str(Call("goto", (branch,))))

    def place(self) -> tuple[int, int]:
        """Return the present step, and the last known one."""
        return self.cluster.world.step_number, self.cluster.world.known_steps

    def beside(self, branch: str) -> ClusterDriver:
        """Return a driver of a fork at the end of another branch; this cluster stays where it is.

        Raises:
            LookupError: there is no such branch.
        """
        world = self.cluster.world
        present, step = world.branch, world.step_number
        world.switch(branch)
        try:
            return ClusterDriver(self.cluster.fork(branch))
        finally:
            world.switch(present)
            world.goto(step)

    def choices(self, kind: str) -> list[Choice]:
        """Return what there is of a kind to act on: how each is shown, and its value."""
        return choices(self.cluster, kind)

    def offered(self) -> frozenset[str]:
        """Return the kinds of choices that an act may need and that there is anything of."""
        return offered(self.cluster)

    def perform(self, call: Call, branch: str = "", *, forks: bool = False) -> str:
        """Let the user act; in the past, and if it `forks`, on a new branch of this name. Return what to say of it.

        What is refused there begins no branch: it is tried on a fork first. A search begins its own, if any.
        """
        world = self.cluster.world
        if "branch" in call.named:
            call = evolve(call, named={**call.named, "branch": unused(call.named["branch"], self.branches())})
        elif forks or world.step_number < world.known_steps:
            call.on(self.cluster.fork())
            name = unused(branch or call.method, self.branches())
            world.begin_branch(name)
            self.script.add(str(Call("goto", (world.step_number,), {"branch": name})))
        answer = call.on(self.cluster)
        self.script.add(str(call))
        return getattr(answer, "headline", "")

    def holds(self, until: str | Callable[[Any], bool]) -> Callable[[], bool]:
        """Return whether a condition, in words or as a function, holds, as a function of the present place."""
        holds = condition(until, self.cluster.world.log.objects)
        return lambda: bool(holds is None or holds(self.cluster))

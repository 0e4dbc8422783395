"""A driver over hand-made frames: what the panel asks, without an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import RLock

from attrs import evolve

from kvolsched.views import frame as f
from kvolsched.views.panel.acts import Call
from kvolsched.views.panel.run import ClusterRun
from kvolsched.views.panel.script import Script


class FakeDriver:
    """Steps through given frames; it mutates only its place, and notes every order it got.

    It is also the cluster of its run: `world` and `log` of that are itself.
    """

    def __init__(self, frames: Sequence[f.Frame], at: int = 0) -> None:
        self.frames, self.at, self.known, self.unit = tuple(frames), at, at, "steps"
        self.orders: list[tuple[object, ...]] = []
        self.broken, self.script = "", Script()
        self.world, self.log, self.lock = self, self, RLock()  # of a cluster that has no engine
        self.on_move, self.listeners, self.find_key = lambda _listener: None, (), lambda ref, **_: ref
        self.watched = ClusterRun(self)

    @property
    def step_number(self) -> int:
        return self.at

    place = step_number

    @property
    def known_steps(self) -> int:
        return max(self.known, self.at)

    end = known_steps

    @property
    def now(self) -> float:
        return self.frames[self.at].head.time

    @property
    def branch(self) -> str:
        return self.frames[self.at].head.branch

    def frame(self, focus: str = "", *, judge: bool = False, most: int | None = None) -> f.Frame:
        base = evolve(self.frames[self.at], next=self.frames[self.at].next[:most])
        head = evolve(base.head, gear=self.unit, steps_known=max(self.known, self.at), focus=focus or base.head.focus)
        return evolve(base, head=head)

    def _to(self, at: int) -> None:
        self.at = max(0, min(len(self.frames) - 1, at))
        self.known = max(self.known, self.at)

    def step(self, actor: str | None = None) -> None:
        self.orders.append(("step", actor))
        if self.broken:
            raise RuntimeError(self.broken)
        self._to(self.at + 1)

    def back(self) -> None:
        self.orders.append(("back",))
        self._to(self.at - 1)

    def goto(self, step: int) -> None:
        self.orders.append(("goto", step))
        self._to(step)

    def run(self) -> None:
        self.orders.append(("run",))
        self._to(len(self.frames) - 1)

    def gear(self, unit: str) -> None:
        self.orders.append(("gear", unit))
        self.unit = unit

    def branches(self) -> list[str]:
        return [self.frames[self.at].head.branch]

    def switch(self, branch: str) -> None:
        self.orders.append(("switch", branch))

    def choices(self, kind: str) -> list[tuple[str, str]]:
        names = {"node": [n.name for n in self.frames[self.at].nodes], "pod": [p.ref for p in self.frames[self.at].pods]}
        return [(name, name) for name in names.get(kind, [])]

    def offered(self) -> frozenset[str]:
        return frozenset({"pod"})

    def perform(self, call: Call, branch: str = "", *, forks: bool = False) -> None:
        self.orders.append(("perform", str(call), branch, forks))
        self.script.add(str(call))

    def holds(self, until: Callable[[object], bool]) -> Callable[[], bool]:
        return lambda: until(self)

    def details(
        self, frame: f.Frame, selected: str, tables: Iterable[str], *, judge: bool = False, at: str | int = "now"
    ) -> f.Frame:
        parts = selected.split("/")
        if parts[0] == "verdict":
            frame = evolve(frame, verdicts=evolve(frame.verdicts, cell=self.cell(parts[1], "/".join(parts[2:]))))
        if "story" in tables:
            objects = ("pod", "pvc", "pv", "node", "sc")
            frame = evolve(frame, story=self.story(selected if parts[0] in objects else frame.head.focus))
        return frame

    def story(self, ref: str) -> f.ObjectStory:
        rows = []
        for frame in self.frames[: self.at + 1]:
            rows += [
                f.ObjectStoryRow(frame.head.step, frame.head.time, frame.head.actor, c.op, c.field, c.old, c.new)
                for c in frame.changes if c.ref == ref and c.kind == "api"
            ]  # fmt: skip
        return f.ObjectStory(ref, tuple(rows))

    def cell(self, node: str, plugin: str) -> f.CellDetail | None:
        verdicts = self.frame().verdicts
        names = [head.name for head in verdicts.plugins]
        row = next((row for row in verdicts.rows if row.node == node), None)
        if row is None or plugin not in names:
            return None
        words = next((n.reason for n in self.frame().nodes if n.name == node), "")
        code = row.codes[names.index(plugin)]
        return f.CellDetail(node, plugin, code, (words,) if words else (), (f"both sides for {node}",))

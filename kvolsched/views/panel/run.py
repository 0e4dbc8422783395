"""The run of a cluster as traits, which all its widgets share: where it is, what is selected, whether it plays.

A move of the cluster, whoever makes it, marks the traits as stale; the event loop reads them anew once, however many
steps a cell makes. Without a loop (a script, a test) they are read at once.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import traitlets

from kvolsched.core.core import ClusterCore
from kvolsched.views.fill import frame_of
from kvolsched.views.fill.context import JudgedPass
from kvolsched.views.panel.player import Player, failure

SETTABLE = ("step", "selection", "playing")
NAMES = (*SETTABLE, "steps_known", "time", "branch", "digest")
OBJECTS = frozenset({"node", "pod", "pvc", "pv", "sc"})
"""Kinds of refs that name an object of a frame; the others are made by views."""


class _Fresh(traitlets.TraitType[Any, Any]):
    """A trait that is never read stale."""

    def get(self, obj: Any, cls: Any = None) -> Any:
        obj.settle()
        return super().get(obj, cls)


class _Int(_Fresh, traitlets.Int[int, int]): ...


class _Float(_Fresh, traitlets.Float[float, float]): ...


class _Unicode(_Fresh, traitlets.Unicode[str, str]): ...


class RunTraits(traitlets.HasTraits):
    """The traits of a run, to be observed and linked; those of a panel, a part and a run of one cluster are equal.

    `step`, `selection` and `playing` are settable. `digest` is another text after every move, also to another branch.
    """

    step = _Int(0, help="the present step; where it is set, the cluster goes")
    selection = traitlets.Unicode(help="ref of what is selected; empty: nothing")
    playing = traitlets.Bool(False, help="whether it steps by itself")
    steps_known = _Int(0, read_only=True, help="the last step of this branch that was made")
    time = _Float(0.0, read_only=True, help="simulated time, s")
    branch = _Unicode("main", read_only=True, help="the present branch")
    digest = _Unicode("", read_only=True, help="another text at every place of the history")

    @traitlets.validate("selection")  # type: ignore[untyped-decorator, unused-ignore]
    def _known(self, proposal: Any) -> str:
        self._know(proposal["value"])
        return str(proposal["value"])

    def _know(self, ref: str) -> None:
        """Refuse an object that nobody knows.

        Raises:
            UnknownName: there is and was no such object; what only views make is not judged. It is a KeyError.
        """

    def settle(self) -> None:
        """Read the place anew, if the cluster has moved since."""


class ClusterRun(RunTraits):
    """The run of one cluster; `run_of` gives the one that all its widgets share. Mutable: it moves the cluster.

    `player` plays it, `judged` is the pass that its widgets have judged again last, and `drawn` holds refs of objects
    that its widgets show, though this cluster may not have them.
    """

    def __init__(self, cluster: ClusterCore) -> None:
        super().__init__()
        self.cluster = cluster
        self.player, self.ended = Player(self.forward, self._stopped), ""
        self.judged, self.drawn = JudgedPass(), set[str]()
        self._stale = self._reading = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self.refresh()
        cluster.world.on_move(self.moved)
        self.observe(self._go, "step")
        self.observe(self._play_or_pause, "playing")

    def _know(self, ref: str) -> None:
        if ref.partition("/")[0] in OBJECTS and ref not in self.drawn:
            self.cluster.world.find_key(ref, ever=True)

    def moved(self) -> None:
        """Have the place read anew: soon, by the loop of the notebook, or now if there is none."""
        if self._stale:
            return
        self._stale = True
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:  # a script, or another thread than the notebook's
            if self._loop is None or not self._loop.is_running():
                self.refresh()
                return
        self._loop.call_soon_threadsafe(self.settle)

    def settle(self) -> None:
        if self._stale:
            self.refresh()

    def refresh(self) -> None:
        """Read the place of the cluster; who observes hears of it once all traits are set."""
        world = self.cluster.world
        with world.lock:
            now = {"steps_known": world.known_steps, "step": world.step_number, "time": world.now,
                   "branch": world.branch, "digest": f"{world.branch}:{world.place}/{world.log.end}"}  # fmt: skip
        self._stale, reading, self._reading = False, self._reading, True
        order = list(now)
        if now["steps_known"] < self.steps_known:  # a slider is linked to both: its value never exceeds its maximum
            order = ["step", "steps_known", *order[2:]]
        try:
            with self.hold_trait_notifications():
                for name in order:
                    self.set_trait(name, now[name])
        finally:
            self._reading = reading

    def play(self, tick: Callable[[], str] | None = None) -> None:
        """Step by itself, a `tick` at a time, which says why it was the last one; "" to go on."""
        self.player.tick, self.ended = tick or self.forward, ""
        self.player.play()
        self.playing = True

    def forward(self) -> str:
        """Make a step, a known one again; return why one does not go on: a failure, or the end."""
        world = self.cluster.world
        if world.step_number < world.known_steps:
            self.cluster.goto(world.step_number + 1)
        elif not self.cluster.step():
            return "the end"
        return failure(frame_of(self.cluster, chips=0, parts=("events", "lanes")))

    def _play_or_pause(self, change: Any) -> None:
        if change["new"] and not self.player.playing:
            self.play()
        elif not change["new"]:
            self.player.stop()

    def _stopped(self, why: str) -> None:
        self.ended, self.playing = why, False

    def _go(self, change: Any) -> None:
        if not self._reading:
            self.player.stop()
            try:
                self.cluster.goto(change["new"])
            finally:
                self.refresh()


def run_of(cluster: ClusterCore) -> ClusterRun:
    """Return the run that all widgets of a cluster share.

    Raises:
        TypeError: it is no cluster.

    >>> from kvolsched import scenario
    >>> c = scenario("zonal-example")
    >>> run = run_of(c)
    >>> _ = c.step(), c.step()
    >>> run.step = 1
    >>> c.world.step_number, run.steps_known
    (1, 2)
    """
    if not isinstance(cluster, ClusterCore):
        raise TypeError(f"a widget shows a cluster, such as kvolsched.scenario('zones'), not {cluster!r:.60}")
    made = (getattr(listener, "__self__", None) for listener in cluster.world.listeners)
    return next((run for run in made if isinstance(run, ClusterRun)), None) or ClusterRun(cluster)


class RunWidget(RunTraits):
    """A widget with the traits of a run: it follows them, and what is set here is set there. Mutable."""

    run: ClusterRun

    def follow(self, run: ClusterRun) -> None:
        """Begin to follow a run."""
        self.run, self._following = run, False
        for name in NAMES:
            self.set_trait(name, getattr(run, name))
        run.observe(self._followed, NAMES)
        self.observe(self._set_here, SETTABLE)

    def _know(self, ref: str) -> None:
        self.run._know(ref)  # noqa: SLF001 - both are RunTraits

    def settle(self) -> None:
        if hasattr(self, "run"):
            self.run.settle()

    def __repr__(self) -> str:  # errors of traitlets print it
        return f"<{type(self).__name__} at step {self.step} of {self.steps_known}; `reading()` has its words>"

    def close(self) -> None:
        """Take the widget from the page; it follows no more."""
        if hasattr(self, "run"):  # else it was refused what it was to show
            self.run.unobserve(self._followed, NAMES)
        super().close()  # type: ignore[misc] # of the widget that it is, too

    def _lead(self, name: str, value: Any) -> None:
        """Set a trait of the run."""
        setattr(self.run, name, value)

    def _followed(self, change: Any) -> None:
        following, self._following = self._following, True
        try:
            self.set_trait(change["name"], change["new"])
        finally:
            self._following = following

    def _set_here(self, change: Any) -> None:
        name = change["name"]
        if not self._following:
            try:
                self._lead(name, change["new"])
            finally:  # it may have been refused
                self._followed({"name": name, "new": getattr(self.run, name)})

"""Parts of the panel as widgets: each shows one thing of a cluster, follows it, and stands in any box of ipywidgets.

All parts and panels of a cluster share its run: they are linked without a word, and a click in one selects in all.

    steps, skew = kvolsched.widgets.Steps(c), kvolsched.widgets.Skew(c, "deploy/web")
    ipywidgets.VBox([steps, skew])
    skew.observe(lambda change: print(change["new"]), "step")
"""

from collections.abc import Callable
from typing import Any, TypeVar

import ipywidgets
import traitlets
from attrs import evolve

from kvolsched.api.unknown_name import UnknownName
from kvolsched.core.core import ClusterCore
from kvolsched.questions.series import DEFAULT
from kvolsched.views import show
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.drawing.svg import nothing
from kvolsched.views.drawing.text import escape
from kvolsched.views.fill import frame_of
from kvolsched.views.fill.moments import NOW, PASS
from kvolsched.views.panel.chart_view import ChartView, chart_in
from kvolsched.views.panel.driver import ClusterDriver
from kvolsched.views.panel.host import DrawnPanel, Host
from kvolsched.views.panel.run import ClusterRun, RunWidget, run_of
from kvolsched.views.panel.toolbar import Toolbar
from kvolsched.views.pictures import headline, lanes

__all__ = ["Capacity", "ChartView", "ClusterRun", "Domains", "Lanes", "Map", "Scores", "Series", "Skew", "Steps",
           "Verdicts", "run_of"]  # fmt: skip
Shown = TypeVar("Shown", str, Figure)


class Part(RunWidget, DrawnPanel):
    """One view of a cluster, which shares the run of all its widgets. Mutable: it moves the cluster.

    A part has the traits `step`, `selection` and `playing` (settable), `steps_known`, `time`, `branch` and `digest`.
    Keys are those of the panel.

    Args:
        cluster: the cluster that is shown.
        controls: widgets above the view.
        chart: whether the altair chart of its figure is shown in the picture's stead, if it has one; a settable trait.
        width: for which it is drawn until a page says how wide it is, px.
        layout: as of any widget; by default a part is as wide as its box, and parts beside each other share it.
    """

    chart = traitlets.Bool(False, help="whether it is shown as an altair chart")
    is_chart = False  # by default

    def __init__(self, cluster: ClusterCore, *controls: Any, chart: bool | None = None, width: int = 720,
                 layout: Any = None) -> None:  # fmt: skip
        self.cluster, self._width = cluster, width
        self.driver = ClusterDriver(cluster)
        self.host = Host(names={"body": type(self).__name__.lower()})
        self.view: ChartView | None = None
        self.box = ipywidgets.Box([*controls, self.host]).add_class("k-widget")
        super().__init__([self.box], of="k-lab", layout=layout or ipywidgets.Layout(width="100%"),
                         chart=self.is_chart if chart is None else chart)
        self.follow(self.driver.watched)
        self.observe(lambda _: self._redraw(), ["digest", "selection", "playing", "chart"])
        self.host.observe(lambda _: self._redraw(), "shown")
        self._draw()

    def do(self, cmd: str, **arguments: Any) -> None:
        """Carry out a command, as a click or key does it: step, back, reset, run, goto, branch, toggle, select, ..."""
        if cmd not in ("toggle", "speed", "select", "clear", "gear", "width", "ping"):
            self.run.player.stop()
        try:
            self._commands()[cmd](**arguments)
        finally:
            self.run.refresh()
            self.host.tick += 1

    def figure(self) -> Figure:
        """Return what is shown as a figure."""
        raise NotImplementedError

    def reading(self) -> str:
        """Return what is shown as text."""
        return self._or_why(lambda: self.figure().reading, str)

    def _redraw(self) -> None:
        if self.host.shown:
            self._draw()

    def _svg(self) -> str:
        return self.figure().draw(self._width, self.selection)

    def _draw(self) -> None:
        self.host.body = self._or_why(self._charted if self.chart else self._svg,
                                      lambda words: nothing(self._width, words))
        if self.view is not None:
            self.view.layout.display = "none" if self.host.body else ""

    def _charted(self) -> str:
        """Show the chart of the figure in a widget of its own; return the picture if it has none."""
        chart = getattr(self.figure(), "chart", None)
        if chart is None:
            return self._svg()
        if self.view is None:
            self.view = chart_in(self.box, self)
        self.view.show(chart, self.selection)
        return ""

    def _or_why(self, shown: Callable[[], Shown], words: Callable[[str], Shown]) -> Shown:
        """Return what is shown, or in words why there is nothing: an object that there is not yet, or no more."""
        try:
            return shown()
        except UnknownName as error:
            return words(str(error))

    def _still(self) -> Figure:
        return self._or_why(self.figure, lambda words: Figure(self.host.body, words))

    def _commands(self) -> dict[str, Callable[..., None]]:
        driver, run = self.driver, self.run
        return {
            "step": driver.step, "back": driver.back, "reset": lambda: driver.goto(0), "run": driver.run,
            "goto": driver.goto,
            "branch": lambda name: driver.switch(name) if name != self.branch else None,
            "gear": driver.gear, "speed": lambda seconds: setattr(run.player, "seconds", seconds),
            "toggle": lambda: run.player.stop() if run.playing else run.play(), "pause": run.player.stop,
            "select": self._select, "clear": lambda: self._select(self.selection),
            "width": self._resize, "ping": lambda: None,
        }  # fmt: skip

    def _select(self, ref: str) -> None:
        kind, _, rest = ref.partition("/")
        if kind in ("step", "mark"):
            self.driver.goto(int(rest.partition("/")[0]))
        else:
            self.run.drawn.add(ref)
            self.selection = "" if ref == self.selection else ref


class Steps(Part):
    """The toolbar of a run: reset, back, step, run, play with a speed, slider, branches; and the step in a sentence.

    >>> from kvolsched import scenario
    >>> c = scenario("zonal-example")
    >>> steps = Steps(c)
    >>> steps.step = 0
    >>> steps.do("step")
    >>> c.world.step_number, steps.steps_known
    (1, 1)
    """

    def __init__(self, cluster: ClusterCore, **more: Any) -> None:
        self.toolbar = bar = Toolbar(self.do, until=False)
        bar.box.children = [*bar.buttons.values(), bar.speed, bar.slider, bar.place, bar.gear, bar.branch]
        super().__init__(cluster, bar.box, **more)

    def figure(self) -> Figure:
        frame = self._frame()
        return Figure(lambda width, _: headline.stacked([headline.draw_svg(frame, width)], width, self.reading()),
                      headline.reading(frame))

    def _frame(self) -> Any:
        return frame_of(self.cluster, chips=1, parts=())

    def _draw(self) -> None:
        frame = self._frame()
        self.toolbar.update(frame, self.driver.branches(), [], playing=self.playing, only=False)
        (self.add_class if self.playing else self.remove_class)("k-playing")
        why = f'<p class="k-q-label">Play stopped: {escape(self.run.ended)}</p>' if self.run.ended else ""
        self.host.body = headline.draw(frame, self._width) + why


class Map(Part):
    """The map: nodes by domain, their pods, claims and volumes.

    Args:
        cluster: the cluster that is shown.
        key: the topology key by which nodes are grouped; by default that of zones.
        more: `width` and `layout`.
    """

    def __init__(self, cluster: ClusterCore, key: str = "", **more: Any) -> None:
        self.key = show.known_topology_key(run_of(cluster).cluster, key)
        super().__init__(cluster, **more)

    def figure(self) -> Figure:
        return show.chart(self.cluster, type(self).__name__.lower(), topology_key=self.key)


class Domains(Map):
    """A chart of the nodes of each domain of a topology key. Not to be confused with the counts of one constraint."""

    is_chart = True


class Lanes(Part):
    """The timeline: a lane an actor, what it did in which step, and who has not seen what yet."""

    def __init__(self, cluster: ClusterCore, **more: Any) -> None:
        self._unfolded: frozenset[str] = frozenset()
        super().__init__(cluster, **more)

    def figure(self) -> Figure:
        return show.chart(self.cluster, "timeline")

    def _svg(self) -> str:
        frame = frame_of(self.cluster, chips=0, parts=("lanes",))
        return lanes.draw(frame, self._width, self.selection, unfolded=self._unfolded, fold=True)

    def _select(self, ref: str) -> None:
        kind, _, rest = ref.partition("/")
        if kind in ("lane", "fold"):
            self._unfolded = self._unfolded ^ {rest}
            self._draw()
        else:
            super()._select(ref)


class Verdicts(Part):
    """The verdicts of every plugin on every node. Not to be confused with the rows that it draws.

    Args:
        cluster: the cluster that is shown.
        pod: whose last pass is shown, settable; by default that of the selected pod, else of the one judged last.
        more: `width` and `layout`.
    """

    pod = traitlets.Any("", help="whose last pass is shown")

    def __init__(self, cluster: ClusterCore, pod: str = "", **more: Any) -> None:
        self.pod = pod
        super().__init__(cluster, **more)
        self.observe(lambda _: self._draw(), "pod")

    def figure(self) -> Figure:
        return show.figure(self.cluster, "verdicts", self._asked(), selected=self.selection)

    def _asked(self) -> str:
        return self.pod or (self.selection if self.selection.startswith("pod/") else "")


class Scores(Verdicts):
    """What each plugin gives to each node that fits, a chart. Not to be confused with the numbers themselves."""

    is_chart = True

    def figure(self) -> Figure:
        return show.chart(self.cluster, "scores", self._asked())


class Series(Part):
    """Counts over time, such as how many pods run and wait, as an altair chart; see `Cluster.series`.

    Args:
        cluster: the cluster that is shown.
        others: further clusters, a line each.
        what: what is counted; "lives": how long each pod waits.
        over: "time", or "steps" of the run.
        more: `width` and `layout`.
    """

    is_chart = True

    def __init__(self, cluster: ClusterCore, *others: ClusterCore, what: Any = DEFAULT, over: str = "time",
                 **more: Any) -> None:  # fmt: skip
        self.others, self.what, self.over = others, what, over
        super().__init__(cluster, **more)
        for other in others:
            run_of(other).observe(lambda _: self._redraw(), "digest")

    def figure(self) -> Figure:
        return show.series(self.cluster, *self.others, what=self.what, over=self.over)


class Ledger(Part):
    """A ledger of a pod, or of a workload's next replica. Mutable, as every part.

    Args:
        cluster: the cluster that is shown.
        about: such as `deploy/web` or `pod/web-0`, settable; by default the pod judged last, else one that waits.
        at: the moment, a settable trait: "now", "pass" (the pod's last one) or a step.
        more: `width` and `layout`.
    """

    about = traitlets.Any("", help="the pod or workload")
    at = traitlets.Union([traitlets.Int(), traitlets.Enum([NOW, PASS])], default_value=NOW, help="the moment")

    def __init__(self, cluster: ClusterCore, about: str = "", at: str | int = NOW, **more: Any) -> None:
        self.about = about
        self.set_trait("at", at)
        super().__init__(cluster, **more)
        self.observe(lambda _: self._draw(), ["about", "at"])

    def figure(self) -> Figure:
        return show.ledger(self.cluster, type(self).__name__.lower(), self.about, self.at)


class Skew(Ledger):
    """The ledger of skew: each domain against the limit. Not to be confused with the sum that it shows.

    With `over="steps"` it is the chart of how many pods each domain holds at every step.

    >>> from kvolsched import scenario
    >>> c = scenario("dead-zone")
    >>> _ = c.run()
    >>> print(Skew(c, "next").reading().partition(",")[0])
    Who holds next back? Spread over topology.kubernetes.io/zone
    """

    def __init__(self, cluster: ClusterCore, about: str = "", at: str | int = NOW, over: str = "", **more: Any) -> None:
        self.over = over
        self._made: dict[tuple[str, str, int], Any] = {}
        super().__init__(cluster, about, at, **{"chart": bool(over)} | more)

    def figure(self) -> Figure:
        if not self.over:
            return super().figure()
        world = self.cluster.world
        known = self.about, world.branch, world.log.end
        if known not in self._made:  # else only the present step is another
            self._made = {known: show.skew(self.cluster, self.about, over=self.over)}
        at: Figure = evolve(self._made[known], options={**self._made[known].options, "step": world.step_number})
        return at


class Capacity(Ledger):
    """The ledger of capacity: what drivers published, what they have now, and what the rule says of each pool."""

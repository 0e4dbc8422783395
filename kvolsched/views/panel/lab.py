"""The panel: controls are ipywidgets, pictures strings that one thin host shows; over 500 lines because of examples.

`Lab.do` is the only entrance: clicks, keys, the slider, lessons and tests all end there. It asks the driver, takes a
new frame, and writes one string a view; only strings that changed are sent. The panel knows the engine through
`Driver` alone and decides nothing about Kubernetes.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import traitlets
from attrs import evolve

from kvolsched.api.kinds.node import HOSTNAME_LABEL, ZONE_LABEL
from kvolsched.api.unknown_name import UnknownName, did_you_mean, unknown_name
from kvolsched.core.core import ClusterCore
from kvolsched.views.drawing.svg import nothing
from kvolsched.views.drawing.text import escape, name_in_ref
from kvolsched.views.fill.moments import NOW, PASS
from kvolsched.views.frame import Frame, NextActor
from kvolsched.views.panel import pair as side_by_side
from kvolsched.views.panel.acts import UNTIL, act_named
from kvolsched.views.panel.acts_row import ActsRow, button
from kvolsched.views.panel.chart_view import ChartView, chart_in, engine
from kvolsched.views.panel.driver import ClusterDriver
from kvolsched.views.panel.export import ORDER, save_page, still
from kvolsched.views.panel.host import DrawnPanel, Host
from kvolsched.views.panel.layout import layout, views
from kvolsched.views.panel.moment import CHARTED, PLAIN, MomentChoice
from kvolsched.views.panel.player import failure
from kvolsched.views.panel.run import RunWidget
from kvolsched.views.panel.script import Script
from kvolsched.views.panel.toolbar import ALONE, Toolbar
from kvolsched.views.pictures import cluster_map, headline, lanes, log, matrix
from kvolsched.views.pictures.picture import NAMED, TABS

MOST_TRIED = 12
"""Of so many who may act next the panel tries out what each would do; of the others when they are asked for."""
JUDGE = "judge/now"
"""Ref of the button that judges the pod in focus on a fork."""
_WHILE_PLAYING = frozenset(
    {"tick", "play", "pause", "toggle", "width", "ping", "tab", "select", "judge", "speed", "only", "moment", "chart"}
)


def reading(frame: Frame, next_words: str | None = None) -> str:
    """Return the whole panel as text: sentence, who may act, map, what changed, timeline, verdicts, events.

    Where who may act next is not to be told, `next_words` stand for it.
    """
    parts = (
        headline.reading(frame) + "\n" + (headline.next_reading(frame) if next_words is None else next_words),
        cluster_map.reading(frame),
        log.changes_reading(frame),
        lanes.reading(frame),
        matrix.reading(frame),
        log.events_reading(frame),
    )
    return "\n\n".join(parts)


class Lab(RunWidget, DrawnPanel):
    """The panel of one run: step it forward and back, select anything, read why.

    From top to bottom it shows the step in a sentence; who may act next, and about what; the map
    (solid: written to the API, dashed: only assumed or half done) below what the step wrote; a lane an actor,
    with who has not seen what yet; and, in tabs, the verdicts of the last pass, its ledgers of skew and capacity, the
    domains, the events and the story of the object selected. A click on a node, pod, claim, volume or verdict
    selects it everywhere; a click on a number or mark of the lanes goes to that step.

    Below who may act next stand your own acts: cordon, taint, label, delete, ..., restart with other rules or a gate
    switched. Each asks what it needs, shows its line of Python, and adds it to `history`. In the past, and with other
    rules, an act begins a branch; the branches are in the drop-down of the toolbar.

    Keys, with the focus in the panel: → or `.` step, ← or `,` back, Home to the start, r run, p play and pause, 1-9
    let that actor act, Esc leave a form, then select nothing. Inside a view arrows go to the nearest object, Enter
    selects it.

        lab = c.lab()
        lab                                 # shows it, in as many cells as you like
        lab.do("step")                      # what a click does, without one: back, run, goto, act, select, ...
        lab.step = 3                        # readable, settable, to be observed and linked, as are `selection`,
        lab.selection = "pod/web-0"         # of which all tabs speak, and `playing`; and to be read: `steps_known`,
                                            # `time`, `branch` and `digest`
        lab.user("cordon", node="node-a")   # an act of yours, as a click does it
        lab.history                         # what was done, as lines of Python on `c`
        lab.play(until="pod/web-0 Running")  # a step now and then; lab.pause()
        lab.beside("main")                  # another branch, or another cluster, beside this one; lab.alone()
        lab.only_differences = True         # of both only the nodes, pods, claims and volumes that differ
        lab.chart = True                    # tabs as altair charts, those that have one; a click selects as elsewhere
        lab.at = "pass"                     # the moment of the ledgers of skew and capacity: "now", "pass" or a step
        lab.topology = "example.com/rack"   # the label by which the map groups the nodes
        lab.save("run.html")                # the whole run in one file that steps without a kernel
        lab.reading()                       # the same in text

    It moves the cluster it was opened on, and follows what cells do with that. A notebook that is reopened without a
    kernel shows a picture of where it was.
    """

    topology = traitlets.Unicode(ZONE_LABEL, help="topology key by which the map groups nodes")
    at = traitlets.Union([traitlets.Int(), traitlets.Enum([NOW, PASS])], default_value=NOW, help="of the ledgers")
    chart = traitlets.Bool(False, help="whether tabs that have an altair chart show it")
    only_differences = traitlets.Bool(False, help="whether two maps side by side leave out what is alike in both")
    tab = traitlets.Enum([picture.name for picture in TABS], "verdicts", help="the open tab")

    def __init__(self, driver: ClusterDriver, *, width: int = 1000) -> None:
        self.driver: ClusterDriver = driver
        self.host = Host()
        self._width = width
        self._unfolded: frozenset[str] = frozenset()
        self._focus, self._judging, self._all_chips = "", False, False
        self._said = ""  # of the last act, beside what it changed
        self._driving = False  # a command is carried out: it draws what comes of its moves
        self._refill()
        self.before_step: Callable[[Lab, str | None], bool] | None = None
        self.before_number: Callable[[int], bool] | None = None  # what a number key means, if not an actor
        self.next_words: Callable[[], str] | None = None  # what a reading says where who may act next is not told
        self.player = driver.watched.player
        self._until: Callable[[], bool] | None = None
        self.acts = ActsRow(driver.choices, self.do)
        self.slot = widgets.Box().add_class("k-slot")
        self._others: dict[str, ClusterDriver] = {}
        self.toolbar = bar = Toolbar(self.do)
        self.buttons, self.slider, self.gear, self.speed = bar.buttons, bar.slider, bar.gear, bar.speed
        self.place, self.badge = bar.place, bar.badge
        self.chips = widgets.Box()
        self._chip_label = widgets.Label(headline.NEXT).add_class("k-q-label")
        self._nobody = widgets.Label(headline.IDLE).add_class("k-q-label")
        self._chip_pool: dict[str, Any] = {}  # by actor
        self._more_chips = button("", "k-more-b", "show all who may act, or the first of them", self._fold_chips)
        self.tabs = {
            tab.name: button(tab.tab, "k-tab", "", partial(self._press, "tab", name=tab.name)) for tab in TABS
        }
        self.chips.add_class("k-chips")
        doing = widgets.Box([self.chips, self.acts.row, self.acts.form, self.acts.script, self.slot])
        self.moment = MomentChoice(self.do)
        tabs = widgets.Box([*self.tabs.values(), self.moment.form, self.moment.way, self.moment.step])
        self.grid = widgets.Box([bar.box, doing.add_class("k-doing"), tabs.add_class("k-tabs"), self.host])
        self.chart_of: Callable[[str, Frame, str], Any] | None = None  # name of a tab, frame, topology key -> its chart
        self.view: ChartView | None = None
        super().__init__([self.grid.add_class("k-grid")], of="k-lab")
        self.observe(lambda _: self._draw(), ["topology", "tab", "at", "chart", "only_differences"])
        self.follow(driver.watched)
        self.observe(self._selected, "selection")
        self.observe(lambda _: self._draw(), "playing")
        self.observe(self._moved, "digest")
        self.host.observe(lambda _: self._catch_up(), "shown")
        self._draw()

    @traitlets.validate("topology")  # type: ignore[untyped-decorator, unused-ignore]
    def _labelled(self, proposal: Any) -> str:
        keys = {key for node in self._frame.nodes for key, _ in node.topology}
        if keys and proposal["value"] not in {*keys, ZONE_LABEL, HOSTNAME_LABEL}:
            raise unknown_name(f"node has the label {proposal['value']}", proposal["value"], sorted(keys))
        return str(proposal["value"])

    @property
    def frame(self) -> Frame:
        """Return the frame that is shown, with all who may act next."""
        self._catch_up()
        self._complete()
        return self._frame

    def do(self, cmd: str, **arguments: Any) -> None:
        """Carry out one command: step, back, reset, run, goto, act, user, branch, play, select, judge, tab, ...

        An error of the engine is shown in the sentence and raised; the panel then shows the engine's present place.

        >>> from kvolsched import scenario
        >>> lab = scenario("zonal-example").lab()
        >>> lab.do("step")
        >>> lab.do("goto", step=0)
        >>> lab.frame.head.steps_known
        1
        """
        act = self._commands().get(cmd)
        if act is None:
            names = sorted(self._commands())
            raise UnknownName(f"no command {cmd!r}: {', '.join(names)}{did_you_mean(cmd, names)}")
        if cmd not in _WHILE_PLAYING:
            self.player.stop()
        if not self._driving:
            self._catch_up()
        driving, self._driving = self._driving, True
        try:
            act(**arguments)
        except Exception as error:
            self._refill()
            self._draw("" if self.acts.act is not None else f"{type(error).__name__}: {error}")
            raise
        finally:
            self.run.refresh()
            self._driving = driving
            self.host.tick += 1

    def user(self, act: str, **values: Any) -> None:
        """Act as the user: a name of the row of acts and the values of its fields; `history` then has its line.

        Raises:
            UnknownName: there is no such act or object. It is a KeyError.
            ValueError: a field is missing or wrong; the message lists the fields.
            ApplyRefused: the API server refuses.

        >>> from kvolsched import scenario
        >>> lab = scenario("zonal-example").lab()
        >>> lab.user("cordon", node="node-a")
        >>> lab.history
        c.cordon("node-a")
        """
        self.do("user", act=act, **values)

    def play(self, *, until: str | Callable[[Any], bool] | None = None, seconds: float | None = None) -> None:
        """Step by itself, until a condition of `Cluster.run` holds, something fails, or nobody has anything to do.

        Args:
            until: such as `pod/web-0 Running`, or a function of the cluster.
            seconds: how long a step takes.

        >>> from kvolsched import Cluster
        >>> lab = Cluster().lab()
        >>> lab.play(seconds=5)
        >>> lab.pause()
        >>> lab.playing
        False
        """
        self.do("play", until=until, seconds=seconds)

    def pause(self) -> None:
        """Stop playing.

        >>> from kvolsched import Cluster
        >>> Cluster().lab().pause()
        """
        self.do("pause")

    def beside(self, other: str | ClusterCore, *, align: str = "step") -> None:
        """Show another branch, by its name, or another cluster beside this one; both are moved together.

        What differs is marked in both, and a table says who wrote it. A branch is shown as a fork of its own.

        Args:
            other: the name of a branch, or another cluster.
            align: by "step" both make the same number of steps; by "time" the other one follows the clock.

        Raises:
            LookupError: there is no such branch, or no such way to align.
            TypeError: the other one is neither a name nor a cluster.
            ValueError: the other one is the cluster that is shown.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.run(), c.goto(6, branch="closed"), c.cordon("node-a")
        >>> lab = c.lab()
        >>> lab.beside("main")
        >>> "node/node-a" in lab.reading()
        True
        """
        name = other
        if not isinstance(other, str):
            driver = ClusterDriver(other)
            if driver.watched is self.run:
                raise ValueError("beside a cluster stands another one, such as c.fork(), or a branch by its name")
            name = other.name or other.world.branch
            self._others[name] = driver
        self.do("beside", name=name, align=align)

    def alone(self) -> None:
        """Show this cluster's present branch alone again.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> _ = c.run(), c.goto(6, branch="closed"), c.cordon("node-a")
        >>> lab = c.lab()
        >>> lab.beside("main")
        >>> lab.alone()
        """
        self.do("beside", name=ALONE)

    @property
    def history(self) -> Script:
        """What was done here, as lines of Python that do the same on a cluster `c`."""
        return self.driver.script

    @property
    def branches(self) -> list[str]:
        """The names of the branches, the present one first."""
        return self.driver.branches()

    def reading(self) -> str:
        """Return what is shown as text.

        >>> from kvolsched import Cluster
        >>> print(Cluster().lab().reading().partition(",")[0])
        step 0 of 0
        """
        self._catch_up()
        pair = self._pair
        if pair is not None:
            return side_by_side.reading(pair, headline.reading)
        return reading(self.frame) if self.next_words is None else reading(self._frame, self.next_words())

    def save(self, path: str | Path, *, width: int | None = None) -> Path:
        """Write this run as one HTML file that steps without a kernel; the driver stays at its place.

        Args:
            path: a name that ends in .html.
            width: for which it is drawn, px; by default that of the panel, and of a pair at least what halves need.

        Raises:
            ValueError: another ending.

        >>> import tempfile
        >>> from kvolsched import Cluster
        >>> Cluster().lab().save(Path(tempfile.mkdtemp()) / "run.html").name
        'run.html'
        """
        width = width or max(self._width, 0 if self._pair is None else side_by_side.BESIDE)
        with self.driver.script.unrecorded():
            saved = save_page(self.driver, Path(path), self._drawn, width)
        self._refill()
        return saved

    def views(self, frame: Frame, width: int, selection: str = "", tab: str = "") -> dict[str, str]:
        """Draw every view of a frame for a panel of `width` px; return one string a view.

        >>> from kvolsched import Cluster
        >>> lab = Cluster().lab()
        >>> "map" in lab.views(lab.frame, 1000)
        True
        """
        place = layout(width, len(frame.nodes), alone=self._pair is None)
        drawn = views(frame, place, width, selection, self.topology, self._unfolded)
        return drawn | {"body": self._body(frame, place.body, selection, tab or self.tab)}

    @property
    def _pair(self) -> side_by_side.Pair | None:
        return self.driver if isinstance(self.driver, side_by_side.Pair) else None

    def _drawn(self, frame: Frame, width: int, selection: str = "", tab: str = "") -> dict[str, str]:
        """Draw every view: of this cluster, or of both that are side by side."""
        if self._pair is None:
            return self.views(frame, width, selection, tab)
        return side_by_side.views(self._pair, self.views, width, selection, only=self.only_differences)

    def _body(self, frame: Frame, width: int, selection: str, tab: str) -> str:
        try:
            frame = self._detailed(frame, selection, tab)
        except UnknownName as error:  # no such pod at that moment, or no pass
            return nothing(width, str(error))
        return NAMED[tab].svg(frame, width, selection, self.topology)

    def _detailed(self, frame: Frame, selection: str, tab: str) -> Frame:
        """Return a frame with the tables of a tab."""
        tables = NAMED[tab].tables
        return self.driver.details(frame, selection, tables, judge=self._judging, at=self.at) if tables else frame

    def _charted(self, frame: Frame) -> bool:
        """Show the chart of the open tab in its own widget; say whether it has one."""
        make, shown = self.chart_of, False
        if make is not None and self._pair is None and self.tab in (CHARTED if self.chart else PLAIN) and engine():
            with suppress(UnknownName):  # the body says why
                chart = make(self.tab, self._detailed(frame, self.selection, self.tab), self.topology)
                if self.view is None:
                    self.view = chart_in(self.grid, self)
                self.view.show(chart, self.selection)
                shown = True
        if self.view is not None:
            self.view.layout.display = "" if shown else "none"
        return shown

    def _commands(self) -> dict[str, Callable[..., None]]:
        return {
            "step": self._step,
            "back": lambda: self._drive(self.driver.back),
            "reset": lambda: self._drive(self.driver.goto, 0),
            "run": lambda: self._drive(self.driver.run) if self._frame.next else None,
            "goto": lambda step: self._drive(self.driver.goto, step),
            "gear": lambda unit: self._drive(self.driver.gear, unit),
            "act": self._act,
            "select": self._select,
            "clear": lambda: self.acts.close() if self.acts.act is not None else self._select(""),
            "judge": self._judge,
            "ask": lambda name: self.acts.ask(name, self.selection),
            "user": self._user,
            "branch": lambda name: self._drive(self.driver.switch, name) if name != self.branches[0] else None,
            "beside": self._beside,
            "only": lambda differences: self.set_trait("only_differences", differences),
            "moment": lambda at: self.set_trait("at", at),
            "chart": lambda shown: self.set_trait("chart", shown),
            "speed": lambda seconds: setattr(self.player, "seconds", seconds),
            "play": self._play,
            "pause": self.player.stop,
            "toggle": lambda: self.player.stop() if self.player.playing else self._play(),
            "tab": self._open_tab,
            "tick": self._step,
            "width": self._resize,
            "ping": lambda: None,
        }

    def _open_tab(self, name: str) -> None:
        if name not in self.tabs:
            raise unknown_name(f"tab {name!r}", name, self.tabs)
        self.set_trait("tab", name)

    def _drive(self, order: Callable[..., str | None], *arguments: Any) -> None:
        self._said = order(*arguments) or ""
        self._judging = False
        self._refill()
        self._draw()

    def _refill(self) -> None:
        """Take a frame of the present place, with the verdicts on the pod that is selected, if it still exists."""
        most = None if self._all_chips else MOST_TRIED
        self._frame = self.driver.frame(self._focus, judge=self._judging, most=most)
        if self._focus and not pod_of(self._frame, self._focus):
            self._focus, self._judging = "", False
            self._frame = self.driver.frame(most=most)
        self._partial = most is not None and len(self._frame.next) >= most
        self._drawn_at = self.driver.watched.digest

    def _complete(self) -> None:
        """Try out all who may act next, if only the first of them were."""
        if self._partial:
            frame = self.driver.frame(self._focus, judge=self._judging)
            self._partial = False
            if frame.head == self._frame.head:  # nobody has moved the cluster since
                self._frame = evolve(self._frame, next=frame.next)

    def _know(self, ref: str) -> None:
        if any(f'"{escape(ref)}"' in getattr(self.host, each) for each in (*ORDER, "body")):
            self.run.drawn.add(ref)  # such as an object of the other cluster
        super()._know(ref)

    def _lead(self, name: str, value: Any) -> None:
        """Set a trait of the run, as a command of the panel does it."""
        if name == "step":
            self.do("goto", step=value)
        elif name == "playing":
            self.do("toggle" if value != self.player.playing else "ping")
        else:
            super()._lead(name, value)

    def _moved(self, change: Any) -> None:
        """Show where code has moved the cluster, or the one beside it."""
        if change["owner"] is not self:
            self._drawn_at = ""
        if not self._driving and self.host.shown:
            self._catch_up()

    def _catch_up(self) -> None:
        """Draw the present place, if it is another than the one that was drawn."""
        if self._drawn_at != self.digest:
            if self._pair is not None and self._drawn_at:
                self._pair.at = self.step
            self._judging = False
            self._refill()
            self._draw()

    def _selected(self, change: dict[str, Any]) -> None:
        """Let all tabs speak of the pod that the selected object is about; a node or a domain leaves them as they are.

        Without a selection they speak of the pod that was judged last.
        """
        focus = pod_of(self._frame, change["new"]) if change["new"] else ""
        if focus != self._focus and (focus or not change["new"]):
            self._focus, self._judging = focus, False
            self._refill()
        self._draw()

    def _judge(self) -> None:
        self._judging, self._focus = True, self._focus or self._frame.head.focus
        self._refill()
        self._draw()

    def _step(self, actor: str | None = None, *, asked: bool = False) -> None:
        if self._frame.next and (asked or self.before_step is None or self.before_step(self, actor)):
            self._drive(self.driver.step, actor)

    def _act(self, number: int) -> None:
        if self.before_number is not None and not self.before_number(number):
            return
        if 1 <= number <= len(self._frame.next):
            self._step(self._frame.next[number - 1].actor)

    def _user(self, act: str, **values: Any) -> None:
        asked = act_named(act)
        if set(values) != {each.name for each in asked.fields}:
            raise ValueError(f"{act} takes: {', '.join(each.name for each in asked.fields)}")
        call = asked.call(values)
        if asked is UNTIL:
            self._play(until=values["until"])
        else:
            self._drive(partial(self.driver.perform, call, asked.branch(values), forks=asked.forks))
        self.acts.close()

    def _beside(self, name: str, align: str = "step") -> None:
        if align not in side_by_side.WAYS:
            raise unknown_name(f"way to align {align!r}", align, side_by_side.WAYS)
        alone = self.driver
        if isinstance(alone, side_by_side.Pair):
            alone.right.watched.unobserve(self._moved, "digest")
            alone = alone.left
        if name == ALONE:
            self.driver = alone
        elif not isinstance(alone, ClusterDriver):
            raise TypeError("only clusters are shown side by side")
        else:
            other = self._others[name] if name in self._others else alone.beside(name)
            other.tell = alone.tell
            self.driver = side_by_side.Pair(alone, other, align, stay=name in self._others and self._pair is None)
            other.watched.observe(self._moved, "digest")
        self.toolbar.beside_name = name
        self._refill()
        self._draw()

    def _play(self, until: str | Callable[[Any], bool] | None = None, seconds: float | None = None) -> None:
        self._until = None if until is None else self.driver.holds(until)
        if seconds is not None:
            self.player.seconds = float(seconds)
        if self._frame.next:
            self.run.play(self._tick)

    def _tick(self) -> str:
        """Make one step of playing; say why it was the last one."""
        place = self._frame.head
        self.do("tick")
        if self._until is not None and self._until():
            return "the condition holds"
        if self._frame.head == place:
            return "it waits for an answer"
        return failure(self._frame) or ("" if self._frame.next else "the end")

    def _select(self, ref: str) -> None:
        kind, _, rest = ref.partition("/")
        if kind in ("step", "mark"):
            self._drive(self.driver.goto, int(rest.partition("/")[0]))
        elif kind in ("lane", "fold"):
            self._unfolded = self._unfolded ^ {rest}
            self._draw()
        elif ref == JUDGE:
            self._judge()
        elif not self.acts.take(ref):
            self.selection = "" if ref == self.selection else ref

    def _press(self, cmd: str, _button: Any, **arguments: Any) -> None:
        self.do(cmd, **arguments)

    def _draw(self, error: str = "") -> None:
        chosen = self.selection.startswith("verdict/")
        frame = self._frame
        if chosen:
            frame = self.driver.details(frame, self.selection, (), judge=self._judging)
        views = self._drawn(frame, self._width, self.selection)
        if self._charted(frame):
            views["body"] = ""
        if self.tab in ("verdicts", "scores") and self._pair is None:
            views["body"] += judge_button(frame)
        if error:
            views["sentence"] = f'<p class="k-say k-error" role="alert"><b>{escape(error)}</b></p>'
        with self.host.hold_sync():
            for name, drawn in views.items():
                setattr(self.host, name, drawn)
        self._toolbar(frame)
        self._chips(frame.next)

    def _toolbar(self, frame: Frame) -> None:
        pair, playing = self._pair, self.playing
        head = frame.head if pair is None else pair.halves[0].head
        self.toolbar.update(frame, self.driver.branches(), list(self._others), playing=playing,
                            only=self.only_differences)
        for name, on in (("k-playing", playing), ("k-paired", pair is not None)):
            (self.add_class if on else self.remove_class)(name)
        past = f"starts a branch at step {head.step}" if head.step < head.steps_known else ""
        ended = f"Play stopped: {self.run.ended}" if self.run.ended else ""
        note = " · ".join(part for part in (ended, self._said, past, head.not_read) if part)
        self.acts.update(note, self.driver.script, self.driver.offered())
        events = len(frame.events)
        self.tabs["events"].description = f"Events {events}" if events else "Events"
        self.moment.update(self.at, head, self.tab, chart=self.chart)
        for name, tab in self.tabs.items():
            (tab.add_class if name == self.tab else tab.remove_class)("k-on")

    def _chips(self, rows: tuple[NextActor, ...]) -> None:
        self._chip_label.value = label = headline.next_label(self._frame)
        fit = headline.chips_that_fit(rows, self._width, label)
        wanted = rows if self._all_chips else rows[:fit]
        kept = {row.actor: self._chip_pool[row.actor] for row in wanted if row.actor in self._chip_pool}
        free = [chip for actor, chip in self._chip_pool.items() if actor not in kept]
        shown = []
        for row in wanted:  # a button stays with its actor, and its changes travel as one message
            chip = kept.get(row.actor) or (free.pop() if free else button("", "k-chip-b", "", self._press_chip))
            kept[row.actor] = chip
            shown.append(chip)
            with chip.hold_sync():
                chip.description = f"{row.label}\u2002{headline.chip_words(row)}"
                chip.tooltip = (row.wait + row.words or row.about) + " (nothing would change)" * row.changes_nothing
                (chip.add_class if row.default else chip.remove_class)("k-default")
                (chip.add_class if row.changes_nothing else chip.remove_class)("k-idle")
        self._chip_pool = kept | {f"{place}": chip for place, chip in enumerate(free)}
        several = "more…" if self._partial else f"+ {len(rows) - len(shown)} more"
        self._more_chips.description = "fewer" if self._all_chips else several
        more = [self._more_chips] if len(rows) > fit else []
        children = (self._chip_label, *(shown or [self._nobody]), *more)
        if children != self.chips.children:
            self.chips.children = children

    def _press_chip(self, button: Any) -> None:
        self.do("act", number=self.chips.children.index(button))

    def _fold_chips(self, _button: Any) -> None:
        self._all_chips = not self._all_chips
        self._complete()
        self._chips(self._frame.next)

    def _still(self) -> Any:
        return still(self.frame, self._width, self.reading(), self.selection, self.topology)


def pod_of(frame: Frame, ref: str) -> str:
    """Return the ref of the pod that an object is about: a pod, that of a claim or of a volume's claim; "" for none."""
    if any(pod.ref == ref for pod in frame.pods):
        return ref
    for volume in frame.volumes:
        if volume.ref == ref:
            ref = volume.claim or volume.assumed_claim
    users = next((claim.pods for claim in frame.claims if claim.ref == ref), ())
    return users[0] if users else ""


def judge_button(frame: Frame) -> str:
    """Return the button under an empty table of verdicts, as HTML; "" where there is nothing to judge."""
    focus = frame.head.focus
    if frame.verdicts.rows or not frame.nodes or all(pod.ref != focus for pod in frame.pods):
        return ""
    name = escape(name_in_ref(focus))
    return (
        f'<div class="k-judge"><span class="k-btn k-plain" data-ref="{JUDGE}" role="button" '
        f'aria-label="judge {name} now, on a fork">Judge {name} now</span>'
        '<span class="k-q-label">on a fork: the scheduler learns nothing of it</span></div>'
    )

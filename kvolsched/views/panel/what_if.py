"""The what-if panel: a control for each field, a strip with the outcome of each value below it, and a picture.

Moving a control runs a fork, or shows one that was run; strips are filled while the kernel has nothing else to do, a
few steps at a time, nearest values first. What is printed of the panel depends on nothing that a timer does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import pairwise
from time import perf_counter
from typing import Any

import ipywidgets as widgets
import traitlets
from attrs import frozen

from kvolsched.api.notebook_output import PrintedAnswer, Rows
from kvolsched.api.unknown_name import unknown_name
from kvolsched.core.results import ApplyRefused
from kvolsched.questions.what_if import TrialOutcome, Trials, VariedField, shown
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.figure import Figure
from kvolsched.views.panel.host import DrawnPanel, Host
from kvolsched.views.pictures import what_if as pictures
from kvolsched.views.pictures.what_if import FieldStrip, ValueCell, WhatIfRows
from kvolsched.world.apiserver import ref

Positions = tuple[int, ...]

FEW_NODES = 12
"""Up to this size a picture follows a dragged slider; above, it follows when the slider is let go."""
_PATIENCE, _BUDGET, _PAUSE = 0.15, 0.04, 0.03  # seconds: before a bar shows; of work on strips at a time; between
_MOST_IDLE = 120.0  # seconds of work on strips that nobody asked for
_PART, _IDLE_PART = 16, 4  # steps between two looks at the clock
_REMOVED = object()  # a field that is left out, as a value of a control
_MAX_BUTTONS = 4


@frozen(repr=False)
class WhatIfTable(Rows[tuple[str, str, int, int, str]], PrintedAnswer):
    """What came of every value of every field while the others stay; printed as a line a field.

    `rows` are (field, value, pods that run, pods, why the API server refused it).
    """

    fields: tuple[FieldStrip, ...]
    rows: tuple[tuple[str, str, int, int, str], ...]

    def __repr__(self) -> str:
        return pictures.reading(WhatIfRows(self.fields))


class EndOfRun(traitlets.Any):
    """The cluster at the end of its run; to read it raises the refusal if the API server refused its values."""

    def get(self, obj: Any, cls: Any = None) -> Any:
        """Return the cluster.

        Raises:
            ApplyRefused: the API server refused the values.
        """
        found = super().get(obj, cls)
        if isinstance(found, ApplyRefused):
            raise found
        return found


class WhatIf(DrawnPanel):
    """Sliders over fields of manifests: what would come of other values, each run to its end on a fork.

    A control stands for a field. Below it a strip has a cell for each of its values, while the other fields keep
    theirs: how many pods run at the end, ✓ if all do; a black line where that changes. A click on a cell goes there.

        w = c.whatif("skew", **{"deploy/web:spec.replicas": (1, 12)})
        w                      # shows it
        w.set(replicas=4)      # what a slider does, by label or by path
        w.value                # the cluster of the present values, at the end of its run; to be observed.
                               # It raises ApplyRefused while the API server refuses them
        w.table                # every strip, all values run
        w.figure()             # the picture with every strip; to be saved
    """

    value = EndOfRun(help="the cluster of the present values, at the end of its run")
    selection = traitlets.Unicode(help="ref of what is selected in the picture; empty: nothing")

    def __init__(self, trials: Trials[Any], picture: Callable[[Any], Figure], *, width: int = 1000) -> None:
        self.trials = trials
        self.host = Host(names={"sentence": "answer", "map": "picture", "side": "outcomes of values"})
        self._picture_of = picture
        self._pictures: dict[Positions, Figure] = {}
        self._positions: Positions = trials.start
        self._asked: set[Positions] = set()
        self._width, self._spent = width, 0.0
        self._timer: asyncio.TimerHandle | None = None
        few = len(trials.origin.objects("nodes")) <= FEW_NODES
        self.controls: dict[str, Any] = {field.path.text: _control(field, follows=few) for field in trials.fields}
        self._names = [widgets.Label(field.label).add_class("k-name") for field in trials.fields]
        self._values = [widgets.Label().add_class("k-name") for _ in trials.fields]
        for number, control in enumerate(self.controls.values()):
            control.observe(lambda change, number=number: self._moved(number, change["new"]), "value")
        lines = [
            widgets.Box([name, control, value], layout={"order": str(10 + 2 * number)}).add_class("k-control")
            for number, (name, control, value) in enumerate(
                zip(self._names, self.controls.values(), self._values, strict=True))
        ]  # fmt: skip
        super().__init__([widgets.Box([*lines, self.host]).add_class("k-whatif")], of="k-lab")
        self._run(self._positions)
        self.value = self._end()
        self.observe(lambda _: self._draw(), "selection")
        self._draw()

    def set(self, **values: Any) -> None:
        """Set fields, by label or by path, and run the cluster with them.

        Raises:
            KeyError: there is no such field; the message lists what there is.
            ValueError: the value is none of the field's.

        >>> from kvolsched import scenario
        >>> w = scenario("zonal-example").whatif("map", **{"node-a:spec.unschedulable": bool})
        >>> w.set(**{"node-a:spec.unschedulable": True})
        >>> list(w.values.values())
        [True]
        """
        positions = list(self._positions)
        for name, value in values.items():
            number = self._field(name)
            field = self.trials.fields[number]
            if value not in field.values:
                there = ", ".join(map(shown, field.values))
                raise ValueError(f"{field.label} has no value {value!r}; there are {there}")
            positions[number] = field.values.index(value)
        self._go(tuple(positions))

    @property
    def values(self) -> dict[str, Any]:
        """The present values by path."""
        chosen = zip(self.trials.fields, self._positions, strict=True)
        return {field.path.text: field.values[number] for field, number in chosen}

    @property
    def table(self) -> WhatIfTable:
        """What comes of every value of every field while the others stay; those not run yet are run now."""
        for positions in self.trials.outward(self._positions):
            self._run(positions)
        self._draw()
        fields = self._rows().fields
        return WhatIfTable(fields, tuple((field.label, cell.value, cell.running, cell.pods, cell.refused)
                                         for field in fields for cell in field.cells))

    def _field(self, name: str) -> int:
        for number, field in enumerate(self.trials.fields):
            if name in (field.label, field.path.text):
                return number
        raise unknown_name(f"field {name!r}", name, [field.label for field in self.trials.fields])

    def do(self, cmd: str, **arguments: Any) -> None:
        """Carry out one command: select (of a cell `value/FIELD/VALUE`: go there), clear or width.

        >>> from kvolsched import scenario
        >>> w = scenario("zonal-example").whatif("map", **{"node-a:spec.unschedulable": bool})
        >>> w.do("clear")
        """
        try:
            self._commands()[cmd](**arguments)
        finally:
            self.host.tick += 1

    def _commands(self) -> dict[str, Callable[..., None]]:
        return {"select": self._select, "clear": lambda: self._select(""), "width": self._resize, "ping": lambda: None}

    def _select(self, ref: str) -> None:
        kind, _, rest = ref.partition("/")
        if kind == "value":
            field, _, number = rest.partition("/")
            self._go((*self._positions[: int(field)], int(number), *self._positions[int(field) + 1 :]))
        else:
            self.selection = "" if ref == self.selection else ref

    def _moved(self, number: int, value: Any) -> None:
        if not self._quiet:
            position = self.trials.fields[number].values.index(None if value is _REMOVED else value)
            self._go((*self._positions[:number], position, *self._positions[number + 1 :]))

    def _go(self, positions: Positions) -> None:
        """Show other values; after an error or interrupt the panel is as it was."""
        before, self._positions = self._positions, positions
        try:
            self._run(positions)
        except BaseException:
            self._positions = before
            raise
        finally:
            self._spent = 0.0
            self._draw()
            self.host.tick += 1  # what was pressed has its answer
            self._fill_later()
        self.value = self._end()

    def _end(self) -> Any:
        """Return the cluster of the present values, or the refusal of them."""
        trial = self.trials.finish(self._positions)
        return trial.refusal or trial.cluster

    def _run(self, positions: Positions) -> None:
        """Run the cluster of these values to its end, with a bar if that takes long."""
        begun, told = perf_counter(), 0.0
        while not self.trials.advance(positions, _PART):
            now = perf_counter()
            if now - begun > _PATIENCE and now - told > _PATIENCE:
                told = now
                self._tell(positions)
        self._asked.add(positions)

    def _tell(self, positions: Positions) -> None:
        """Show how far a run is."""
        trial = self.trials.trial(positions)
        so_far = trial.outcome
        words = f"step {trial.steps}, t = {trial.cluster.now:g} s, {so_far.running} of {so_far.pods} pods run"
        bar = f'<progress max="{max(1, so_far.pods)}" value="{so_far.running}"></progress>'
        self.host.sentence = f'<p class="k-say">{bar}{t.escape(words)}</p>'

    def _fill_later(self) -> None:
        """Go on with the strips when the kernel has nothing else to do; without an event loop never."""
        if self._timer is not None or self._spent > _MOST_IDLE or not self._missing():
            return
        with suppress(RuntimeError):
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._fill)

    def _missing(self) -> list[Positions]:
        return [each for each in self.trials.outward(self._positions) if each not in self.trials.outcomes]

    def _fill(self) -> None:
        """Run some steps towards the nearest values that were not run yet."""
        self._timer, begun, known = None, perf_counter(), len(self.trials.outcomes)
        for positions in self._missing():
            while perf_counter() - begun < _BUDGET:
                try:
                    if self.trials.advance(positions, _IDLE_PART):
                        break
                except Exception as error:  # noqa: BLE001 - of a reader's plugin: it is shown with the value
                    self.trials.outcomes[positions] = TrialOutcome(0, 0, f"{type(error).__name__}: {error}")
                    break
        self._spent += perf_counter() - begun
        if len(self.trials.outcomes) > known:
            self._draw(strips_only=True)
        self._fill_later()

    def close(self) -> None:
        """Close the widget; its strips are filled no further.

        >>> from kvolsched import scenario
        >>> w = scenario("zonal-example").whatif("map", **{"node-a:spec.unschedulable": bool})
        >>> w.close()
        """
        if self._timer is not None:
            self._timer.cancel()
        super().close()

    def _rows(self, among: Collection[Positions] | None = None) -> WhatIfRows:
        """Return what is known, or what is known of these values alone."""
        origin = self.trials.origin
        fields = tuple(
            FieldStrip(field.label, field.path.text, tuple(self._cells(number, among)), self._positions[number],
                       all(type(value) in (int, float) for value in field.values))
            for number, field in enumerate(self.trials.fields)
        )  # fmt: skip
        return WhatIfRows(fields, origin.world.step_number, origin.revision.name, origin.world.seed,
                          ref(self.trials.workload) if self.trials.workload is not None else "")

    def _cells(self, number: int, among: Collection[Positions] | None) -> Iterator[ValueCell]:
        field = self.trials.fields[number]
        for value, positions in zip(field.values, self.trials.line(self._positions, number), strict=True):
            found = self.trials.outcomes.get(positions) if among is None or positions in among else None
            words = shown(value)
            if found is None:
                yield ValueCell(words)
            else:
                yield ValueCell(words, found.running, found.pods, True, found.refused, found.unfinished, found.others)

    def _picture(self) -> Figure:
        """Return the picture of the present cluster; it is drawn once for each combination of values."""
        figure = self._pictures.get(self._positions)
        if figure is None:
            figure = self._picture_of(self.trials.finish(self._positions).cluster)
            self._pictures[self._positions] = figure
        return figure

    def _draw(self, *, strips_only: bool = False) -> None:
        rows = self._rows()
        place = pictures.layout(rows, self._width)
        refused = bool(rows.shown.refused)
        strips = "".join(
            f'<div style="order:{11 + 2 * number};margin:0 0 8px">{pictures.strip(field, number, place)}</div>'
            for number, field in enumerate(rows.fields)
        )
        with self.host.hold_sync():
            self.host.sentence = pictures.heading(rows, self._width)
            if not strips_only:
                self.host.map = "" if refused else self._picture().draw(self._width, self.selection)
            self.host.side = strips
        self._quiet = True
        try:
            self._place_controls(rows, place)
        finally:
            self._quiet = False

    def _place_controls(self, rows: WhatIfRows, place: pictures.StripLayout) -> None:
        """Set controls to the present values, their thumbs above the cells."""
        parts = zip(self.trials.fields, rows.fields, self.controls.values(), self._names, self._values, strict=True)
        for number, (field, strip, control, name, value) in enumerate(parts):
            wide, count = place.cell(len(strip.cells)), len(strip.cells)
            inset = wide / 2 if isinstance(control, widgets.IntSlider | widgets.SelectionSlider) else 0.0
            control.value = _of_control(field.values[self._positions[number]])
            name.layout.width = f"{place.label:.0f}px"
            control.layout.width = f"{wide * count - 2 * inset:.1f}px"
            if isinstance(control, widgets.ToggleButtons):
                control.style.button_width = f"{int(wide) - 4}px"
            control.layout.margin = f"0 {inset:.1f}px"
            room = place.strip + 16 - wide * count
            value.layout.margin = f"0 0 0 {room:.1f}px"
            value.value = strip.cells[strip.present].value if place.words and inset else ""

    def figure(self) -> Figure:
        """Return the picture and every strip, all values run, without controls that move.

        >>> from kvolsched import scenario
        >>> w = scenario("zonal-example").whatif("map", **{"node-a:spec.unschedulable": bool})
        >>> type(w.figure()).__name__
        'Figure'
        """
        _ = self.table
        return self._still()

    def _still(self) -> Figure:
        """Return picture and strips with the values that were asked for: it depends on nothing that a timer did."""
        rows = self._rows(self._asked)
        inner = None if rows.shown.refused else self._picture()

        def draw(width: int, selection: str) -> str:
            return pictures.draw(rows, width, inner.draw(width, selection) if inner is not None else "")

        return Figure(draw, self.reading())

    def reading(self) -> str:
        """Return what is shown as text, without the strips: they depend on what has been run.

        >>> from kvolsched import scenario
        >>> w = scenario("zonal-example").whatif("map", **{"node-a:spec.unschedulable": bool})
        >>> w.reading().count(chr(10)) > 1
        True
        """
        rows = self._rows()
        parts = [pictures.title(rows), pictures.sentence(rows, alone=True)]
        return "\n".join([*parts, *([] if rows.shown.refused else ["", self._picture().reading])])

    def __repr__(self) -> str:
        return self.reading()

    def _repr_mimebundle_(self, **more: Any) -> dict[str, Any]:
        self._fill_later()
        return super()._repr_mimebundle_(**more)


def _of_control(value: Any) -> Any:
    """Return what a control holds for a value: to ipywidgets None means that nothing is selected."""
    return _REMOVED if value is None else value


def _control(field: VariedField, *, follows: bool) -> Any:
    """Return the control of a field: a checkbox, buttons for a few words, or a slider."""
    values = list(field.values)
    present = _of_control(values[field.start])
    if values == [False, True] and bool in map(type, values):  # 0 and 1 are equal to them
        return widgets.Checkbox(present, description=shown(True), indent=False)
    if all(type(value) is int for value in values):
        steps = {b - a for a, b in pairwise(values)}
        if len(steps) == 1 and (step := steps.pop()) > 0:
            slider = widgets.IntSlider(present, values[0], values[-1], step, readout=False, continuous_update=follows)
            return slider.add_class("k-slider")
    options = [(shown(value), _of_control(value)) for value in values]
    if len(values) <= _MAX_BUTTONS and not all(type(value) in (int, float) for value in values):
        return widgets.ToggleButtons(options=options, value=present)
    slider = widgets.SelectionSlider(options=options, value=present, readout=False, continuous_update=follows)
    return slider.add_class("k-slider")

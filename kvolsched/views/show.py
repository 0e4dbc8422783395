"""The pictures that `Cluster` shows: fill a frame from a cluster, draw the picture of that name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from attrs import field, frozen

from ..api.kinds.node import HOSTNAME_LABEL, ZONE_LABELS
from ..api.notebook_output import PrintedAnswer, Table, printable
from ..api.unknown_name import UnknownName, unknown_name
from ..api.words import hanging_indent
from ..core.acts import ClusterActs
from ..core.core import ClusterCore
from ..questions.explain import last_pass
from ..questions.predict import question_of_next_step
from ..questions.series import DEFAULT, Wanted
from ..questions.what_if import Trials, varied_fields
from ..questions.why.asking import pod_asked_for
from ..rules.revision import Revision
from ..world.apiserver import key_of, ref
from ..world.references import matching_keys
from . import frame as f
from .charts import tables
from .charts.figure import ChartFigure, PlainChart
from .drawing.figure import Figure
from .drawing.svg import nothing
from .fill import frame_of, over_steps
from .fill.context import FrameContext
from .fill.ledgers import LEDGERS, without_ledger
from .pages import disagreement as disagreement_page
from .pictures import capacity as capacity_picture
from .pictures import matrix, skew_rows, table_chart
from .pictures import series as series_picture
from .pictures.picture import NAMED
from .pictures.scores import weight_effects

if TYPE_CHECKING:
    from .panel.lab import Lab
    from .panel.what_if import WhatIf
    from .panel.workbench import GateWorkbench

WHAT_IF_PICTURES = ("skew", "capacity", "map", "domains", "series", "why", "verdicts")
"""Pictures that `Cluster.whatif` can show."""
LIVES = "lives"  # of pods: what a series shows that is no count


def figure(cluster: ClusterCore, name: str, pod: str = "", topology_key: str = "", selected: str = "") -> Figure:
    """Draw the picture of this name (`pictures.picture.PICTURES`), for a pod or by a topology key if it takes one.

    Of a verdict that is `selected`, as `verdict/NODE/PLUGIN`, the words are drawn too.
    """
    return NAMED[name].figure(_frame(cluster, name, pod, selected), known_topology_key(cluster, topology_key))


def chart(cluster: ClusterCore, name: str, pod: str = "", topology_key: str = "") -> ChartFigure:
    """Draw the picture of this name, with the table that it shows and a chart of it."""
    frame, key = _frame(cluster, name, pod), known_topology_key(cluster, topology_key)
    return _charted(NAMED[name].figure(frame, key), name, frame, key)


def _charted(drawn: Figure, name: str, frame: f.Frame, key: str = "") -> ChartFigure:
    if frame.series is not None:
        return _of_series(frame.series)
    kind, rows, words = _CHARTED[name]
    asked: dict[str, Any] = {"kind": kind, "rows_of": partial(rows, frame, key), "words": words(frame)}
    if NAMED[name].draw is None:
        return PlainChart(drawn.reading, **asked)
    return ChartFigure(drawn.draw, drawn.reading, width=drawn.width, **asked,
                       options={"step": frame.head.step} if kind == "turns" else {})


def _ledger_words(ledgers: tuple[Any, ...], question: Callable[[Any], str],
                  asked: Callable[[Any], str]) -> tuple[str, ...]:  # fmt: skip
    """Return question and answer, then why, and what is asked when."""
    return tuple(word for ledger in ledgers[:1] for word in (
        f"{question(ledger)} {ledger.answer}", ledger.sentence, f"{asked(ledger)}; {ledger.moment}") if word)


def _score_words(frame: f.Frame) -> tuple[str, ...]:
    flips = [str(effect) for effect in weight_effects(frame.verdicts) if effect.above or effect.below]
    return f"What each plugin gives to each node for {frame.verdicts.pod}", *flips[:3]


_CHARTED: Mapping[str, tuple[str, Callable[[f.Frame, str], Table], Callable[[f.Frame], tuple[str, ...]]]] = {
    "map": ("nodes", tables.nodes, lambda _: ()),
    "domains": ("nodes", tables.nodes, lambda _: ()),
    "skew": ("skew", lambda frame, _: tables.skew(frame.skew),
             lambda frame: _ledger_words(frame.skew, skew_rows.question, skew_rows.constraint)),
    "capacity": ("capacity", lambda frame, _: tables.capacity(frame.capacity), lambda frame: _ledger_words(
        frame.capacity, capacity_picture.question, capacity_picture.asked_words)),
    "scores": ("scores", lambda frame, _: tables.scores(frame.verdicts), _score_words),
    "timeline": ("turns", lambda frame, _: tables.turns(frame.lanes), lambda _: ()),
}  # fmt: skip
"""Name of a picture -> the kind of its chart, the rows of a frame by a topology key, and title and lines of it."""


def _frame(cluster: ClusterCore, name: str, pod: str, selected: str = "") -> f.Frame:
    picture = NAMED[name]  # tables are counted for a pod that exists; a pass is also known of a deleted one
    focus = ref(pod_asked_for(cluster, pod, ever=not picture.tables)[0]) if pod else ""
    return frame_of(cluster, focus=focus, chips=0, selected=selected, parts=picture.parts, tables=picture.tables)


def ledger(cluster: ClusterCore, name: str, reference: str, at: str | int = "now") -> ChartFigure:
    """Draw the ledger "skew" or "capacity" of a pod, or of a workload's next replica; see `Cluster.skew`.

    Without a reference it is that of the pod that was judged last, else of the first that waits.
    """
    focus = FrameContext(cluster).focus if not reference else None
    if focus is not None and focus in cluster.world.log.objects:
        reference = ref(focus)
    frame = _ledger_frame(cluster, name, reference, at)
    return _charted(NAMED[name].figure(frame), name, frame)


def skew(cluster: ClusterCore, reference: str, at: str | int = "now", over: str = "") -> SkewFigure | StepsFigure:
    """Draw the ledger of skew with its numbers, or the counts over steps; see `ledger`."""
    if over:
        return _skew_over_steps(cluster, reference, over)
    frame = _ledger_frame(cluster, "skew", reference, at)
    drawn = _charted(NAMED["skew"].figure(frame), "skew", frame)
    return SkewFigure(drawn.draw, drawn.reading, width=drawn.width, kind=drawn.kind, rows_of=drawn.rows_of,
                      words=drawn.words, ledgers=frame.skew)


def _skew_over_steps(cluster: ClusterCore, reference: str, over: str) -> StepsFigure:
    """Chart how the first spread constraint counts each domain at every step, with the acts of users.

    Raises:
        UnknownName: there is no such axis, or no such object at any step.
    """
    if over != "steps":
        raise unknown_name(f"axis {over!r}", str(over), ("steps",))
    rows, acts = over_steps.skew_over_steps(cluster, reference), over_steps.acts(cluster)
    options = {"acts": acts, "step": cluster.world.step_number}
    return StepsFigure(over_steps.reading(rows, acts), kind="skew_over_steps", rows_of=lambda: rows, acts=acts,
                       options=options)


def _ledger_frame(cluster: ClusterCore, name: str, reference: str, at: str | int) -> f.Frame:
    """Return a frame that has nothing but a ledger, or the words for why there is none."""
    rows: dict[str, Any] = {name: LEDGERS[name](cluster, reference, at)} if reference else {}
    if reference and not rows[name]:
        rows["no_ledger"] = without_ledger(cluster, name, reference, at)
    return f.Frame(**rows)


def verdict(cluster: ClusterCore, pod: str, node: str, plugin: str) -> Text:
    """Return one plugin's verdict on one node for a pod, with both sides; see `Cluster.verdicts`."""
    if not (node and plugin):
        raise ValueError("one verdict is that of a plugin on a node: name both, or none for all verdicts")
    about = ref(pod_asked_for(cluster, pod, ever=True)[0])
    name, plugin = cluster.world.find_key(node, "node", ever=True).name, cluster.revision.profile.name_of(plugin)
    asked = f"verdict/{name}/{plugin}"
    found = frame_of(cluster, focus=about, chips=0, parts=("verdicts",), selected=asked).verdicts
    if found.cell is None:
        if not found.rows:
            raise UnknownName(f"nothing is known of {plugin} on {name}: no pass has been made for {about}")
        plugins = [head.name.partition(" (")[0] for head in found.plugins]
        if plugin not in plugins:
            raise unknown_name(f"plugin {plugin} in the last pass of {about}", plugin, plugins, plural="plugins")
        raise unknown_name(f"node/{name} in the last pass of {about}", name, [row.node for row in found.rows])
    first, *rest = matrix.cell_lines(found.cell)
    return Text("\n".join([hanging_indent([first], 4), *(f"  {hanging_indent([line.strip()], 4)}" for line in rest)]))


def series(cluster: ClusterCore, *others: ClusterCore, what: Wanted | Iterable[Wanted] = DEFAULT,
           over: str = "time") -> SeriesFigure | PlainChart:
    """Chart counts over simulated time: a pane for each count, a line for each cluster; see `Cluster.series`."""
    if what == LIVES and not others:
        return _lives(cluster, over)
    return _of_series(over_steps.series([cluster, *others], what, over))


def _of_series(rows: f.SeriesRows) -> SeriesFigure:
    options = {"over": "step" if rows.by_step else "time", "step": None if rows.is_at_end else rows.step}
    return SeriesFigure(series_picture.reading(rows), kind="series", rows=rows, options=options,
                        rows_of=partial(tables.series, rows),
                        words=(series_picture.sentence(rows), series_picture.note(rows)))


def _lives(cluster: ClusterCore, over: str) -> PlainChart:
    """Chart how long each pod was without a node, started and ran; see `Cluster.series`."""
    over_steps.known_axis(over)
    rows = over_steps.lives(cluster)
    by_step = over == "steps" or not any(row["to"] for row in rows)
    return PlainChart(over_steps.reading_of_lives(rows, by_step=by_step), kind="lives", rows_of=lambda: rows,
                      options={"over": "step" if by_step else "time"})


def sweep_chart(rows: Table, x: str, y: str, by: str, title: str, log: str) -> PlainChart:
    """Chart one column of a table over another; see `kvolsched.measure.sweep.SweepRows.chart`."""
    return PlainChart(table_chart.reading(rows, x, y, by, title), kind="sweep", rows_of=lambda: rows, words=(title,),
                      options={"x": x, "y": y, "by": by, "log": log})


def what_if(cluster: ClusterActs, name: str, pod: str, fields: Mapping[str, Any]) -> WhatIf:
    """Open the what-if panel over the picture of this name; see `Cluster.whatif`."""
    from .panel.what_if import WhatIf  # noqa: PLC0415 - ipywidgets, only when a panel is wanted

    if not isinstance(name, str):
        raise TypeError('whatif: give fields by their paths: c.whatif("map", **{"deploy/web:spec.replicas": (1, 9)})')
    if name not in WHAT_IF_PICTURES:
        raise unknown_name(f"picture {name!r}", name, WHAT_IF_PICTURES)
    trials = Trials(cluster, varied_fields(cluster, fields))
    panel = WhatIf(trials, lambda trial: _trial_figure(trial, name, pod))
    if pod:  # it may be created during the run
        panel.value.world.find_key(pod, "pod")
    return panel


def _trial_figure(cluster: Any, name: str, pod: str) -> Figure:
    """Draw the picture of this name at the end of a trial, of a pod that there is."""
    if name == "series":
        return series(cluster)
    if name in ("map", "domains"):
        return chart(cluster, name)
    there = pod and matching_keys(cluster.world.log.objects, pod, ("Pod",))
    asked = pod if there else _pod_in_question(cluster, name)
    if name == "why" and asked:
        answer = cluster.why(asked)
        return answer.figure() if hasattr(answer, "figure") else _words(repr(answer))
    if name in LEDGERS and asked:
        return ledger(cluster, name, asked)
    return figure(cluster, name, asked) if cluster.objects("pods") else _words("There is no pod to ask about.")


def _pod_in_question(cluster: ClusterCore, name: str) -> str:
    """Return the pod that a picture is most likely asked about: one that waits, else the one that was judged last."""
    pods = [pod for pod in cluster.objects("pods")
            if {"skew": pod.spec.topology_spread_constraints, "capacity": pod.spec.volumes}.get(name, True)]
    waiting = [ref(key_of(pod)) for pod in pods if not pod.spec.node_name]
    last = last_pass(cluster)
    cause = last.cause if last is not None else ""
    judged = [ref(key_of(pod)) for pod in pods if f"{pod.metadata.namespace}/{pod.metadata.name}" == cause]
    return next(iter([*waiting, *judged, *(ref(key_of(pod)) for pod in pods)]), "")


def _words(words: str) -> Figure:
    """Return words as a figure."""
    return Figure(lambda width, _selection: nothing(width, words), words)


@frozen(repr=False)
class StepsFigure(PlainChart):
    """A chart of how a spread constraint counts over steps; `acts` has what users did."""

    acts: Table = field(kw_only=True, repr=False, eq=False)


@frozen(repr=False)
class SeriesFigure(PlainChart):
    """A chart of counts over time; `rows` holds its values."""

    rows: f.SeriesRows = field(kw_only=True, repr=False)


@frozen(repr=False)
class SkewFigure(ChartFigure):
    """The ledger of a pod's spread constraints; its numbers are values, too.

    `counts`, `actual_skew` and `fits` are of the first constraint, `ledgers` has all of them; domains that the
    constraint leaves out are in none.
    """

    ledgers: tuple[f.SkewLedger, ...] = field(kw_only=True, repr=False)

    @property
    def counts(self) -> dict[str, int]:
        """How many matching pods each domain holds.

        >>> import kvolsched
        >>> kvolsched.scenario("dead-zone").skew("next").counts
        {'zone-1': 3, 'zone-2': 3, 'zone-lost': 0}
        """
        return {row.domain: row.counted for row in self._domains}

    @property
    def actual_skew(self) -> dict[str, int]:
        """The count of each domain minus the minimum, which minDomains may make 0: the ActualSkew of S3."""
        return {row.domain: skew_rows.actual_skew(ledger, row) for ledger in self.ledgers[:1] for row in self._domains}

    @property
    def fits(self) -> list[str]:
        """The domains that the constraint allows, whether or not other filters let the pod land there."""
        return [row.domain for row in self._domains if row.fits]

    @property
    def open(self) -> list[str]:
        """The domains with a node that every filter allows: where the pod may land."""
        return [row.domain for row in self._domains if row.landing is not None and row.landing.fitting]

    @property
    def _domains(self) -> list[f.SkewRow]:
        return [row for ledger in self.ledgers[:1] for row in ledger.rows if not row.left_out]


def _as_far(cluster: ClusterActs, other: ClusterActs) -> ClusterActs:
    """Bring a cluster that begins as another one as far as that has gone: to its end, or to the same step."""
    if not len(cluster.next):
        other.run()
    while other.world.step_number < cluster.world.step_number and other.step():
        pass
    return other


def lab(
    cluster: ClusterActs, *, text: bool = False, predict: bool = False, tell: bool = False,
    beside: ClusterCore | Revision | str | None = None,
) -> Lab | Text:  # fmt: skip
    """Open the panel, alone or beside another cluster, or return its text; with `predict` it asks before each step.

    Rules as `beside` mean this cluster under them, run as far: to its end if nobody has anything left to do here.
    """
    other = _as_far(cluster, cluster.under(beside)) if isinstance(beside, str | Revision) else beside
    from .panel.driver import ClusterDriver  # noqa: PLC0415 - ipywidgets, only when a panel is wanted
    from .panel.lab import Lab, reading  # noqa: PLC0415

    if text:
        asked = question_of_next_step(cluster) if predict else None
        frame = frame_of(cluster, chips=None if asked is None else 0, tell=tell)
        return Text(reading(frame) if asked is None else reading(frame, repr(asked)))
    panel = Lab(ClusterDriver(cluster, tell=tell))
    panel.topology = zone_key(cluster)
    panel.chart_of = lambda name, frame, key: _charted(NAMED[name].figure(frame, key), name, frame, key).chart
    if predict:
        from .panel.predict import ask_before_steps  # noqa: PLC0415

        ask_before_steps(panel, cluster)
    if other is not None:
        panel.beside(other)
    return panel


def workbench(cluster: ClusterCore, pod: str, *patches: Any, kind: str = "merge") -> GateWorkbench:
    """Return the gate workbench of a pod."""
    from .panel.workbench import GateWorkbench  # noqa: PLC0415 - ipywidgets, only when a widget is wanted

    return GateWorkbench(cluster, pod, *patches, kind=kind)


def disagreement(found: Any, head: str) -> Figure:
    """Draw a recorded verdict beside a learner's (`exercise.Disagreement`): all nodes, and both sides of one."""
    return Figure(disagreement_page.draw(found, head), disagreement_page.reading(found, head))


class Text(PrintedAnswer, str):
    """A printable string that a notebook shows without quotes."""

    __slots__ = ()

    def __new__(cls, text: str = "") -> Self:
        return super().__new__(cls, printable(text))

    def __repr__(self) -> str:
        return str(self)


def known_topology_key(cluster: ClusterCore, topology_key: str) -> str:
    """Return a topology key that some node has; "" stands for the key of zones.

    Raises:
        UnknownName: no node has such a label.
    """
    keys = sorted({label for node in cluster.objects("nodes") for label in node.metadata.labels})
    if topology_key and keys and topology_key not in keys:
        compared = str if "/" in str(topology_key) else lambda key: key.rpartition("/")[2]  # people write `zone`
        raise unknown_name(f"node has the label {topology_key}", str(topology_key), keys, compared=compared)
    return topology_key or zone_key(cluster)


def zone_key(cluster: ClusterCore) -> str:
    """Return the topology key that most nodes have: today's zone label, the beta one, or the host name."""
    labels = [node.metadata.labels for node in cluster.objects("nodes")]
    keys = (*ZONE_LABELS, HOSTNAME_LABEL)
    counts = {key: sum(key in node_labels for node_labels in labels) for key in keys}
    return max(keys, key=lambda key: counts[key]) if any(counts.values()) else keys[0]

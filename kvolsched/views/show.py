"""What a cluster shows: each figure of the face, and the panel with its driver. Asks, fills a frame, draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve

from ..api.kinds.node import HOSTNAME_LABEL, ZONE_LABELS
from ..cluster import Cluster
from ..explain import changes_of, concerns, cpu_held, words_of
from ..results import hanging_indent
from ..world.apiserver import key_for, key_of, ref
from . import frame as f
from .drawing.figure import ChartFigure, Figure
from .fill import frame_of
from .fill import ledgers as fill_ledgers
from .fill import writes as fill_writes
from .fill.context import FrameContext, label_of
from .fill.verdicts import FAMILIES, LETTERS
from .pictures import disagreement as sides
from .pictures import lanes, log, matrix
from .pictures import map as cluster_map_view
from .pictures import scores as score_table
from .pictures import writes as order
from .pictures.writes import Writes

if TYPE_CHECKING:
    from .panel.lab import Lab

WIDTH = 828  # px, of figures in a notebook: with its margins it fits beside the file browser on a screen of 1280


def cluster_map(cluster: Cluster, topology_key: str = "") -> Figure:
    """Draw nodes by domain, with pods, claims and volumes."""
    frame, key = frame_of(cluster, chips=False), topology_key or zone_key(cluster)
    return Figure(cluster_map_view.draw(frame, WIDTH, key=key), cluster_map_view.reading(frame, key))


def verdicts(cluster: Cluster, pod: str) -> Figure:
    """Draw every plugin's word about every node for a pod."""
    frame = frame_of(cluster, focus=ref_of_pod(pod), chips=False)
    return Figure(matrix.draw(frame, WIDTH, ""), matrix.reading(frame))


def verdict(cluster: Cluster, pod: str, node: str, plugin: str) -> Text:
    """Say what one plugin thinks of one node for a pod, with both sides of the comparison.

    Raises:
        LookupError: the pod has had no pass, or that pass judged no such node or plugin; the message lists them.
    """
    found = frame_of(cluster, focus=ref_of_pod(pod), chips=False, cell=f"verdict/{node}/{plugin}").verdicts
    if found.cell is None:
        nodes, plugins = (row.node for row in found.rows), (head.name.partition(" (")[0] for head in found.plugins)
        there = f"nodes {', '.join(nodes)}; plugins {', '.join(plugins)}" if found.rows else "no pass has been made"
        raise LookupError(f"{pod}: nothing is known of {plugin} on {node}; there are: {there}")
    said, *sides = matrix.cell_lines(found.cell)
    return Text("\n".join([hanging_indent([said], 4), *(f"  {hanging_indent([side.strip()], 4)}" for side in sides)]))


def scores(cluster: Cluster, pod: str) -> Figure:
    """Draw how the last pass ranked the nodes that fit: each plugin's score times its weight, and the sum."""
    frame = frame_of(cluster, focus=ref_of_pod(pod), chips=False)
    return Figure(score_table.draw(frame, WIDTH), score_table.reading(frame))


def ref_of_pod(pod: str) -> str:
    """Return a pod's reference from its name, or the reference itself."""
    return pod if "/" in pod else f"pod/{pod}"


def timeline(cluster: Cluster) -> Figure:
    """Draw who wrote what, and who has not seen it yet."""
    frame = frame_of(cluster, chips=False)
    return Figure(lanes.draw(frame, WIDTH), lanes.reading(frame))


def writes(cluster: Cluster, other: Any = None) -> Writes:
    """Draw the writes in their order, and who saw each when; or beside those of another cluster or a recorded trace."""
    from ..conform.recorded_trace import Trace  # noqa: PLC0415 - only who lays a recording beside needs that room

    if other is None:
        rows, columns = fill_writes.rows_of(cluster), fill_writes.components(cluster)
        return Writes(order.draw(rows, columns, WIDTH), order.reading(rows, columns), rows=rows)
    rows = fill_writes.told_kinds(cluster)
    if isinstance(other, Trace):
        theirs, names = fill_writes.rows_of_trace(other), ("here", f"Kubernetes {other.version}")
        made = (row for row in rows if row.kind == "write")  # a recording tells of nothing else
        rows = tuple(evolve(row, place="|" + row.place.partition("|")[2]) for row in made)
    else:
        theirs = fill_writes.told_kinds(other)
        rules = (cluster.revision.name, other.revision.name)
        names = rules if rules[0] != rules[1] else (cluster.name, other.name)
    return order.beside(rows, theirs, names, WIDTH)


def changes(cluster: Cluster) -> Figure:
    """Draw what the last step changed."""
    frame = frame_of(cluster, chips=False)
    return Figure(log.draw_changes(frame, WIDTH // 2), log.changes_reading(frame))


def events(cluster: Cluster) -> Figure:
    """Draw the events, newest first."""
    frame = frame_of(cluster, chips=False)
    return Figure(log.draw_events(frame, WIDTH), log.events_reading(frame))


def domains(cluster: Cluster, topology_key: str = "") -> ChartFigure:
    """Chart nodes, pods, volumes and verdicts by the domains of a topology key."""
    from .pictures.charts import domains as chart  # noqa: PLC0415 - altair takes a second to import

    return chart(frame_of(cluster, chips=False), topology_key or zone_key(cluster))


def skew(cluster: Cluster, pod: str) -> ChartFigure:
    """Chart each spread constraint of a pod, as its last pass counted; without a pass, as of now.

    Raises:
        KeyError: there is no such pod.
    """
    from .pictures.charts import skew as chart  # noqa: PLC0415 - altair takes a second to import

    focus = ref(key_of(cluster[ref_of_pod(pod)]))
    return chart(frame_of(cluster, focus=focus, chips=False, ledgers=True))


def capacity(cluster: Cluster, pod: str = "") -> ChartFigure:
    """Chart the room for each claim of a pod that is to be provisioned: of the one judged last if none is named.

    Raises:
        KeyError: there is no such pod.
    """
    from .pictures.charts import capacity as chart  # noqa: PLC0415 - altair takes a second to import

    focus = ref(key_of(cluster[ref_of_pod(pod)])) if pod else ""
    return chart(frame_of(cluster, focus=focus, chips=False, ledgers=True))


def held(*clusters: Cluster) -> ChartFigure:
    """Chart how much cpu pods hold over simulated time: a line a cluster, named by its rules, or if alike its name."""
    from .pictures.charts import held as chart  # noqa: PLC0415 - altair takes a second to import

    rules = [cluster.revision.name for cluster in clusters]
    names = rules if len(set(rules)) == len(rules) else [cluster.name for cluster in clusters]
    points = [(name, *point) for name, cluster in zip(names, clusters, strict=True) for point in cpu_held(cluster)]
    return chart(points, until=max(cluster.now for cluster in clusters))


def lab(cluster: Cluster, *, text: bool = False) -> Lab | Text:
    """Open the panel, or read it as text."""
    from .panel.lab import Lab, reading  # noqa: PLC0415 - ipywidgets, only when a panel is wanted

    if text:
        return Text(reading(frame_of(cluster)))
    panel = Lab(ClusterDriver(cluster))
    panel.topology = zone_key(cluster)
    return panel


def disagreement(found: Any, head: str = "") -> Figure:
    """Draw a recorded verdict beside a learner's (an `exercise.Disagreement`): every node, and both sides of one."""
    answer, plugin = found.answer, found.told.plugin
    rows = tuple(
        sides.SideRow(a.node, ", ".join(a.recorded), a.failed or ", ".join(a.yours), not a.agrees, bool(a.failed))
        for a in found.answers
    )
    does = "rejects it, your rule does not" if answer.recorded else "lets it pass, your rule does not"
    told = sides.Sides(
        head=head,
        title=f"{plugin}, case {found.told.id}, node {answer.node}: kube-scheduler {does}",
        node=answer.node,
        family=FAMILIES.get(LETTERS.get(plugin, ""), "node"),
        rows=rows,
        recorded=(", ".join(answer.recorded) or "passes", *found.because),
        yours=(answer.failed or ", ".join(answer.yours) or "passes", *answer.sides),
        pod=found.pod,
        placed=found.placed,
    )
    return Figure(sides.draw(told, WIDTH), sides.reading(told))


class Text(str):
    """A text that shows itself without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def zone_key(cluster: Cluster) -> str:
    """Return the topology key that most nodes carry: today's zone label, the beta one, else the host name."""
    labels = [node.metadata.labels for node in cluster.objects("nodes")]
    keys = (*ZONE_LABELS, HOSTNAME_LABEL)
    counts = {key: sum(key in here for here in labels) for key in keys}
    return max(keys, key=lambda key: counts[key]) if any(counts.values()) else keys[0]


class ClusterDriver:
    """A cluster as the panel drives it. Mutable: it moves the cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.unit = "steps"
        self.focus = ""
        self.default = ""  # the chip that a plain step stands for: it may have to wait for its time

    def frame(self) -> f.Frame:
        """Give the tables of the present place."""
        frame = frame_of(self.cluster, focus=self.focus, gear=self.unit)
        self.default = frame.next[0].actor if frame.next else ""
        return frame

    def step(self, actor: str | None = None) -> None:
        """Let the default actor, or the one named (`ACTOR|CAUSE`), make one step."""
        name, _, cause = ("" if actor == self.default else actor or "").partition("|")
        self.cluster.step(name or None, cause or None, turns=self.unit == "turns")

    def back(self) -> None:
        """Go one step back; at the start do nothing."""
        self.cluster.back()

    def goto(self, step: int) -> None:
        """Go to a known step of this branch."""
        self.cluster.goto(step)

    def run(self) -> None:
        """Step until nobody has anything to do, or 1,000 steps are over."""
        self.cluster.run(steps=1_000)

    def reset(self) -> None:
        """Go to the start; what is known of this branch stays known."""
        self.cluster.goto(0)

    def gear(self, unit: str) -> None:
        """Count in "steps" or in "turns"."""
        self.unit = unit

    def story(self, ref: str) -> Sequence[f.ObjectStoryRow]:
        """Give every change in the life of an object up to here."""
        try:
            key = key_for(ref)
        except KeyError:
            return ()
        rows = []
        for turn in self.cluster.world.turns:
            if turn.end > self.cluster.world.place:
                continue
            for change in changes_of(self.cluster, turn):
                if concerns(change, key):
                    op = "+" if change.old is None else "-" if change.new is None else "~"
                    actor = label_of(turn.actor or turn.component)
                    rows += [_told(turn.step, turn.time, actor, op, words) for words in words_of(change)]
        return rows

    def cell(self, node: str, plugin: str) -> f.CellDetail | None:
        """Give the rule's words for one cell of the last pass."""
        name = plugin.partition(" (")[0]
        frame = frame_of(self.cluster, focus=self.focus, chips=False, cell=f"verdict/{node}/{name}")
        return frame.verdicts.cell

    def ledgers(self) -> tuple[Sequence[f.SkewLedger], Sequence[f.CapacityLedger]]:
        """Count for the ledgers of the pod in focus."""
        here = FrameContext(self.cluster, self.focus)
        return fill_ledgers.skew(here), fill_ledgers.capacity(here)


def _told(step: int, time: float, actor: str, op: str, words: str) -> f.ObjectStoryRow:
    field, _, values = words.partition(": ")
    old, arrow, new = values.partition(" → ")
    return f.ObjectStoryRow(step, time, actor, op, field, old if arrow else "", new if arrow else values)



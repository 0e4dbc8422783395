"""Tables of whole runs, read off the log: counts of a constraint, acts of users, lives of pods, counts over time."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from ...api.kinds.pod import Pod
from ...api.notebook_output import Table
from ...api.unknown_name import UnknownName, unknown_name
from ...controllers import kubelet
from ...core.core import USER, ClusterCore
from ...core.results import as_sentence
from ...questions.explain import changes_of
from ...questions.series import CPU_HELD, DEFAULT, Wanted, cluster_labels, timelines
from ...scheduler.loop.scheduling_cycle import SCHEDULER
from ...world.log import Key
from ...world.references import matching_keys
from .. import frame as f
from ..drawing import text as t
from .ledgers import skew_at
from .moments import with_all_steps
from .next_replica import REPLICATED

AXES = ("time", "steps")
WAITS, STARTS, RUNNING = "waits", "starts", "running"


def skew_over_steps(cluster: ClusterCore, reference: str) -> Table:
    """Return how the first spread constraint counts each domain, a row at each step at which that changes.

    It is judged again wherever the scheduler saw something, or the workload was written; between, it is the same.

    Raises:
        UnknownName: there is no such pod or workload at any step. It is a KeyError.
    """
    rows, last, found = Table(), None, None
    fork, end = with_all_steps(cluster), cluster.world.known_steps
    judged = (min(step, end) for step in _judged_anew(cluster))  # what comes after the last step has no step of its own
    for step in sorted({0, end, *judged}):
        fork.goto(step)
        if not matching_keys(fork.world.log.objects, reference, ("Pod", *REPLICATED)):
            continue
        ledgers = skew_at(fork, reference)
        found = step
        for ledger in ledgers[:1]:
            now = [{"domain": row.domain, "counted": row.counted, "minimum": ledger.minimum,
                    "limit": ledger.minimum + ledger.max_skew, "left_out": row.left_out} for row in ledger.rows]
            if now != last or step == end:
                rows += [{"step": step, **row} for row in now]
            last = now
    if found is None:
        raise UnknownName(f"no pod and no workload {reference} at any step of this branch")
    return rows


def _judged_anew(cluster: ClusterCore) -> Iterator[int]:
    """Yield the steps at which the scheduler saw, assumed or forgot something, or a workload was written."""
    for turn in cluster.world.history.turns:
        if turn.component == SCHEDULER or any(
            type(key) is Key and key.kind in REPLICATED for key, _, _ in changes_of(cluster, turn)
        ):
            yield turn.step


def acts(cluster: ClusterCore) -> Table:
    """Return what users did, in words: acts of neighbouring steps are one row, from `step` to `last`."""
    rows = Table()
    for turn in cluster.world.history.turns:
        if turn.component != USER or not turn.words:
            continue
        act = as_sentence(turn.words)
        if rows and turn.step - rows[-1]["last"] <= 1:
            rows[-1] |= {"last": turn.step, "act": f"{rows[-1]['act']} {act}"}
        else:
            rows.append({"step": turn.step, "last": turn.step, "act": act})
    return rows


def lives(cluster: ClusterCore) -> Table:
    """Return how long each pod was without a node, started and ran: a row each, in one pass over the log."""
    world, has_kubelet = cluster.world, kubelet.NAME in cluster.world.processes
    begun: dict[Key, list[tuple[str, int, float]]] = {}
    for turn in world.history.turns:
        for key, old, new in changes_of(cluster, turn):
            if type(key) is Key and key.kind == "Pod":
                of_pod = begun.setdefault(key, [] if old is None else [(_state(old, has_kubelet), 0, 0.0)])
                state = "" if new is None else _state(new, has_kubelet)
                if not of_pod or of_pod[-1][0] != state:
                    of_pod.append((state, turn.step, turn.time))
    for key, pod in world.log.objects.items():
        if key.kind == "Pod" and key not in begun:
            begun[key] = [(_state(pod, has_kubelet), 0, 0.0)]
    end = ("", world.known_steps, max((turn.time for turn in world.history.turns), default=0.0))
    return Table(
        {"pod": key.name, "state": state, "step": step, "until": until, "since": since, "to": to}
        for key, of_pod in begun.items()
        for (state, step, since), (_, until, to) in pairwise([*of_pod, end])
        if state
    )


def _state(pod: Pod, has_kubelet: bool) -> str:  # noqa: FBT001 - of the world
    if pod.terminal:
        return ""
    if not pod.spec.node_name:
        return WAITS
    return RUNNING if pod.status.phase == "Running" or not has_kubelet else STARTS


def series(clusters: Sequence[ClusterCore], what: Wanted | Iterable[Wanted] = DEFAULT,
           over: str = "time") -> f.SeriesRows:
    """Return the counts of clusters over time, or over steps if time stands still.

    Raises:
        UnknownName: there is no such measure or axis. It is a ValueError.
    """
    known_axis(over)
    first, found = clusters[0], timelines(clusters, what)
    until = max((line.until for line in found), default=0.0)
    measured = ((name, list(lines)) for name, lines in groupby(found, key=lambda line: line.measure))
    panes = (f.SeriesPane(name, tuple(line for line in lines if line.points), lines[0].unit,
                          tuple(sorted({reason for line in lines for reason, _ in line.reasons})), name == CPU_HELD)
             for name, lines in measured)  # fmt: skip
    return f.SeriesRows(
        clusters=tuple(cluster_labels(clusters)),
        seeds=tuple(cluster.world.seed for cluster in clusters),
        panes=tuple(panes),
        until=until,
        time=first.now,
        step=first.world.step_number,
        is_at_end=first.world.step_number >= first.world.known_steps,
        by_step=over == "steps" or until == 0,
    )


def known_axis(over: str) -> None:
    """Refuse an axis that there is not.

    Raises:
        UnknownName: as the name says.
    """
    if over not in AXES:
        raise unknown_name(f"axis {over!r}", str(over), AXES)


def reading(rows: Table, done: Table) -> str:
    """Return the counts of each domain where they change, with minimum and limit, and the acts between them."""
    if not rows:
        return "No spread constraint counts at any step."
    names = list(dict.fromkeys(row["domain"] for row in rows))
    lines: list[tuple[int, list[str]]] = []
    for step in dict.fromkeys(row["step"] for row in rows):
        found = {row["domain"]: row for row in rows if row["step"] == step}
        first = next(iter(found.values()))
        counts = [str(found[name]["counted"]) if name in found else "–" for name in names]
        lines.append((step, [*counts, str(first["minimum"]), str(first["limit"]), ""]))
    lines += [(act["step"], [""] * (len(names) + 2) + [act["act"]]) for act in done]
    head = ["step", *names, "minimum", "limit", "act"]
    return t.columns([head, *([str(step), *cells] for step, cells in sorted(lines, key=lambda line: line[0]))])


def reading_of_lives(rows: Table, *, by_step: bool) -> str:
    """Return how long each pod was in each state, in seconds or steps."""
    if not rows:
        return "There is no pod"
    begin, end = ("step", "until") if by_step else ("since", "to")
    spent: dict[str, dict[str, float]] = {}
    for row in rows:
        of_pod = spent.setdefault(row["pod"], {})
        of_pod[row["state"]] = of_pod.get(row["state"], 0) + row[end] - row[begin]
    states = list(dict.fromkeys(row["state"] for row in rows))
    unit = "steps" if by_step else "s"
    head = ["pod", *(f"{state}, {unit}" for state in states)]
    lines = ([pod, *(t.short(of_pod.get(state, 0)) for state in states)] for pod, of_pod in spent.items())
    return t.columns([head, *lines])

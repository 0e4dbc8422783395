"""Tables of answers: one row a thing that is compared, with named columns, from the rows that pictures draw too.

A table decides nothing about looks. Words are those of the rule; numbers are numbers, in the unit of the column.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from kvolsched.api.notebook_output import Table
from kvolsched.views import frame as f
from kvolsched.views.pages.searches import SampleRows, wilson
from kvolsched.views.pictures.capacity import driver_says, is_stale, rule_says
from kvolsched.views.pictures.scores import ranked
from kvolsched.views.pictures.series import heading, name_of
from kvolsched.views.pictures.skew_rows import AlikeRows, is_soft, not_counted_words, verdict
from kvolsched.views.pictures.states import NO_LABEL

GIBIBYTE = 1 << 30
LANDS, SHUT, OVER, LEFT_OUT = "may land", "allowed, but shut", "over the limit", "left out"
OPEN, CORDONED, TAINTED, NOT_READY = "open", "cordoned", "tainted", "not ready"
PUBLISHED, DRIVER_NOW = "published", "driver now"
HOLDS, STUCK = "the goal holds", "stuck"


def skew(ledgers: Sequence[f.SkewLedger]) -> Table:
    """Return a row for each domain of each spread constraint; `limit` is for counted + self match, None if soft."""
    return Table(_domain(ledger, row) for ledger in ledgers for row in ledger.rows)


def _domain(ledger: f.SkewLedger, row: f.SkewRow) -> dict[str, Any]:
    lands = row.landing is not None and row.landing.fitting > 0
    told = verdict(AlikeRows((row,)))
    return {
        "constraint": f"{ledger.key}, maxSkew {ledger.max_skew}, {ledger.when}",
        "key": ledger.key, "domain": row.domain, "nodes": row.nodes, "counted": row.counted,
        "not_counted": sum(number for number, _ in row.not_counted),
        "excluded_why": row.left_out or not_counted_words(row),
        "minimum": ledger.minimum, "limit": None if is_soft(ledger) else ledger.minimum + ledger.max_skew,
        "if_placed": row.counted + ledger.self_match, "sum": row.sum, "fits": row.fits, "may_land": lands,
        "verdict": ", ".join(part for part in (told.words, told.more) if part),
        "state": LEFT_OUT if row.left_out else LANDS if lands else SHUT if row.fits else OVER,
    }  # fmt: skip


def nodes(frame: f.Frame, key: str) -> Table:
    """Return a row for each node: what pods hold of it as shares, whether it is open, and its rank in its domain."""
    rows = Table(_node(node, dict(node.topology).get(key, NO_LABEL)) for node in frame.nodes)
    rows.sort(key=lambda row: (row["domain"], -row["cpu"], -row["pods"], row["node"]))
    for _, domain in groupby(rows, key=lambda row: row["domain"]):
        for rank, row in enumerate(domain, 1):
            row["rank"] = rank
    return rows


def _node(node: f.NodeRow, domain: str) -> dict[str, Any]:
    state = (NOT_READY if not node.ready else CORDONED if node.unschedulable else TAINTED if node.taints else OPEN)
    return {
        "node": node.name, "domain": domain, "pods": node.pods_used,
        "cpu": _share(node.cpu_used, node.cpu), "memory": _share(node.memory_used, node.memory),
        "pod_room": _share(node.pods_used, node.pods), "cpu_words": f"{node.cpu_used / 1000:g} of {node.cpu / 1000:g}",
        "state": state, "why": node.reason or ", ".join(node.taints),
    }  # fmt: skip


def _share(used: int, all_: int) -> float:
    return round(used / all_, 4) if all_ else 0.0


def capacity(ledgers: Sequence[f.CapacityLedger]) -> Table:
    """Return a row for what is published of each pool, and one for what the driver has there now; GiB and seconds."""
    return Table(row for ledger in ledgers for pool in ledger.rows for row in _pool(ledger, pool))


def _pool(ledger: f.CapacityLedger, row: f.CapacityRow) -> list[dict[str, Any]]:
    rule, driver = rule_says(ledger, row), driver_says(ledger, row)
    told = f"rule: {rule.words}" + ("" if row.driver_now is None else f"; driver: {driver.words}")
    told += " (stale)" if is_stale(row) else ""
    pool = {
        "claim": ledger.claim, "storage_class": ledger.class_name, "pool": row.pool, "reach": row.reach,
        "asked": ledger.request / GIBIBYTE, "age": row.age, "stale": is_stale(row), "fits": row.fits,
        "reason": row.reason or rule.words, "verdict": told,
    }  # fmt: skip
    rooms = ((PUBLISHED, row.published), (DRIVER_NOW, row.driver_now))
    return [pool | {"which": which, "gib": room / GIBIBYTE} for which, room in rooms if room is not None]


def scores(verdicts: f.Verdicts) -> Table:
    """Return a row for each plugin on each node that was scored, best nodes first."""
    chosen = {row.node for row in verdicts.rows if row.chosen}
    return Table(
        {"node": node, "plugin": score.plugin, "raw": score.raw, "normalised": score.normalised,
         "weight": score.weight, "points": score.total, "total": total, "chosen": "chosen" if node in chosen else ""}
        for node, total, scores in ranked(verdicts) for score in scores
    )  # fmt: skip


def series(rows: f.SeriesRows) -> Table:
    """Return a row for each value of each line from its moment on, and one for the end; `known` ones are later."""
    found = Table()
    for pane in rows.panes:
        for line in pane.lines:
            column = {"measure": heading(pane), "cluster": line.cluster, "line": name_of(line)}
            points = [(point.time, point.step, point.value) for point in line.points]
            points.append((max(rows.until, points[-1][0]), max(line.last_step, points[-1][1]), points[-1][2]))
            found += [column | {"time": time, "step": step, "value": value} for time, step, value in points]
    return found


def sample(rows: SampleRows) -> Table:
    """Return a row for each way in which sampled runs end: how many, which share, and its 95 % interval."""
    found = Table()
    for end in sorted(rows.ends, key=lambda end: -end.count):
        low, high = wilson(end.count, rows.runs)
        found.append({"end": end.words, "runs": end.count, "share": end.count / rows.runs, "low": low, "high": high,
                      "goal": HOLDS if end.good else STUCK})
    return found


def turns(lanes: Sequence[f.Lane]) -> Table:
    """Return a row for each step of each actor: what it did to which object, and how that ended."""
    return Table(
        {"lane": lane.label, "component": lane.component, "step": mark.step, "until": mark.step + 1, "kind": mark.kind,
         "verb": mark.verb or "note", "ref": mark.ref, "outcome": mark.outcome}
        for lane in lanes for mark in lane.marks
    )  # fmt: skip

"""Tables of a whole run in words: how a constraint counts step by step, how long pods wait."""

from collections.abc import Mapping, Sequence
from typing import Any

from kvolsched.views.drawing import text as t

Rows = Sequence[Mapping[str, Any]]


def reading(rows: Rows, acts: Rows) -> str:
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
    lines += [(act["step"], [""] * (len(names) + 2) + [act["act"]]) for act in acts]
    head = ["step", *names, "minimum", "limit", "act"]
    return t.columns([head, *([str(step), *cells] for step, cells in sorted(lines, key=lambda line: line[0]))])


def reading_of_lives(rows: Rows, *, by_step: bool) -> str:
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

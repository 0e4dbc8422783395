"""Conditions of nodes and claims in `kubectl describe`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...api.kinds.meta import Condition
from ..formatting import format_time


def timed_condition_lines(conditions: Sequence[Condition], field: str, title: str) -> Iterator[str]:
    """Yield the conditions of a node or claim with their times; `field` is the earlier one."""
    if conditions:
        yield "Conditions:"
        yield f"  Type\tStatus\t{title}\tLastTransitionTime\tReason\tMessage"
        yield "  ----\t------\t-----------------\t------------------\t------\t-------"
    for condition in conditions:
        times = f"{format_time(condition.rest.get(field))} \t{format_time(condition.last_transition_time)}"
        yield f"  {condition.type} \t{condition.status} \t{times} \t{condition.reason} \t{condition.message}"

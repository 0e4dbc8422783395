"""`kubectl get pdb,priorityclasses`: the row of a PodDisruptionBudget and a PriorityClass (v1.36.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...api.kinds.policy import PodDisruptionBudget, PriorityClass
from ..formatting import go_string
from .table import Table, object_age


def _priority_class_row(priority_class: PriorityClass, now: datetime) -> Sequence[str]:
    return (
        priority_class.metadata.name, str(priority_class.value), go_string(priority_class.global_default),
        object_age(priority_class, now), priority_class.preemption_policy or "PreemptLowerPriority",
    )  # fmt: skip


def _budget_row(budget: PodDisruptionBudget, now: datetime) -> Sequence[str]:
    limits = (budget.spec.min_available, budget.spec.max_unavailable)
    numbers = ("N/A" if limit is None else str(limit) for limit in limits)
    return budget.metadata.name, *numbers, str(budget.status.disruptions_allowed), object_age(budget, now)


TABLES: Mapping[str, Table] = {
    "PriorityClass": Table(("NAME", "VALUE", "GLOBAL-DEFAULT", "AGE", "PREEMPTIONPOLICY"), _priority_class_row),
    "PodDisruptionBudget": Table(("NAME", "MIN AVAILABLE", "MAX UNAVAILABLE", "ALLOWED DISRUPTIONS", "AGE"),
                                 _budget_row),
}  # fmt: skip

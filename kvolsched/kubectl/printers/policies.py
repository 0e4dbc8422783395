"""kubectl's print of PodDisruptionBudgets and PriorityClasses."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ...api.kinds.policy import PodDisruptionBudget, PriorityClass
from ..formatting import NONE, UNSET, format_labels, format_selector, go_string
from .printer import DescribeContext, Printer, name_lines, object_age


def _priority_class_row(priority_class: PriorityClass, now: datetime) -> Sequence[str]:
    return (
        priority_class.metadata.name, str(priority_class.value), go_string(priority_class.global_default),
        object_age(priority_class, now), priority_class.preemption_policy or "PreemptLowerPriority",
    )  # fmt: skip


def _budget_row(budget: PodDisruptionBudget, now: datetime) -> Sequence[str]:
    limits = (budget.spec.min_available, budget.spec.max_unavailable)
    numbers = ("N/A" if limit is None else str(limit) for limit in limits)
    return budget.metadata.name, *numbers, str(budget.status.disruptions_allowed), object_age(budget, now)


def describe_disruption_budget(budget: PodDisruptionBudget, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a PodDisruptionBudget."""
    spec, status = budget.spec, budget.status
    yield from name_lines(budget)
    if spec.min_available is not None:
        yield f"Min available:\t{spec.min_available}"
    elif spec.max_unavailable is not None:
        yield f"Max unavailable:\t{spec.max_unavailable}"
    yield f"Selector:\t{UNSET if spec.selector is None else format_selector(spec.selector) or NONE}"
    yield "Status:"
    yield f"    Allowed disruptions:\t{status.disruptions_allowed}"
    yield f"    Current:\t{status.current_healthy}"
    yield f"    Desired:\t{status.desired_healthy}"
    yield f"    Total:\t{status.expected_pods}"


def describe_priority_class(priority_class: PriorityClass, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a PriorityClass."""
    yield f"Name:\t{priority_class.metadata.name}"
    yield f"Value:\t{priority_class.value}"
    yield f"GlobalDefault:\t{go_string(priority_class.global_default)}"
    yield f"PreemptionPolicy:\t{priority_class.preemption_policy or 'PreemptLowerPriority'}"
    yield f"Description:\t{priority_class.description}"
    yield f"Annotations:\t{format_labels(priority_class.metadata.annotations)}"


PRINTERS: Mapping[str, Printer] = {
    "PriorityClass": Printer(("NAME", "VALUE", "GLOBAL-DEFAULT", "AGE", "PREEMPTIONPOLICY"), _priority_class_row,
                             describe_priority_class),
    "PodDisruptionBudget": Printer(("NAME", "MIN AVAILABLE", "MAX UNAVAILABLE", "ALLOWED DISRUPTIONS", "AGE"),
                                   _budget_row, describe_disruption_budget),
}  # fmt: skip

"""`kubectl describe pdb,priorityclass`: PodDisruptionBudgets and PriorityClasses."""

from __future__ import annotations

from collections.abc import Iterator

from ...api.kinds.policy import PodDisruptionBudget, PriorityClass
from ..formatting import NONE, UNSET, format_labels, format_selector, go_string
from .context import DescribeContext


def describe_disruption_budget(budget: PodDisruptionBudget, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a PodDisruptionBudget."""
    spec, status = budget.spec, budget.status
    yield f"Name:\t{budget.metadata.name}"
    yield f"Namespace:\t{budget.metadata.namespace}"
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

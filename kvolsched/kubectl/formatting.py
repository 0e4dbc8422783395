"""Format plain values as kubectl does: columns, times and durations, labels, selectors, quantities.

Knows no kind and no cluster. Mirrors Go's `text/tabwriter` as kubectl uses it, apimachinery `duration.HumanDuration`
and `labels.Selector` (v1.36.2); widths are counted in code points.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from itertools import groupby
from typing import Any

from ..api.kinds import quantity
from ..api.kinds.meta import Condition
from ..api.kinds.selector import LabelSelector, Requirement

NONE, UNKNOWN, UNSET = "<none>", "<unknown>", "<unset>"
ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)  # Go's zero time, which kubectl prints for a missing time
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
MAX_ANNOTATION_LENGTH = 140
SHORT_ACCESS_MODES = {
    "ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP",
}  # fmt: skip


def align_columns(lines: Iterable[str], min_width: int = 0, padding: int = 2) -> str:
    """Return tab-separated lines as one text in columns.

    A column spans neighbouring lines that have a cell in it; the text after a line's last tab is in no column.
    """
    cells = [line.split("\t") for line in "\n".join(lines).replace("\x1b", "^[").split("\n")]
    most_cells = max((len(line) for line in cells), default=0)
    for column in range(most_cells - 1):
        for in_column, block in groupby(cells, key=lambda line, column=column: len(line) > column + 1):  # type: ignore[misc]
            if in_column:
                rows = list(block)
                width = max([min_width, *(len(row[column]) + padding for row in rows)])
                for row in rows:
                    row[column] = row[column].ljust(width)
    return "\n".join("".join(line) for line in cells)


def parse_time(text: Any) -> datetime | None:
    """Parse the time of a manifest; None stays None."""
    return datetime.fromisoformat(text.upper()) if text else None


def format_time(text: Any) -> str:
    """Format a manifest's time as `describe` prints it (RFC 1123, UTC)."""
    return format_datetime((parse_time(text) or ZERO_TIME).astimezone(UTC) if text else ZERO_TIME)


def format_age(text: Any, now: datetime) -> str:
    """Format the time that has passed since a manifest's time."""
    time = parse_time(text)
    return UNKNOWN if time is None else format_duration((now - time).total_seconds())


def format_duration(length: float) -> str:
    """Format a duration in seconds: `45s`, `2m5s`, `3h12m`, `40d`, `2y11d`."""
    seconds = int(length)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return "<invalid>" if seconds < -1 else f"{max(seconds, 0)}s"
    if minutes < 10:
        return _two_units(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two_units(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two_units(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    return _two_units(days // 365, "y", days % 365 if days < 2920 else 0, "d")


def _two_units(large: int, unit: str, small: int, other: str) -> str:
    return f"{large}{unit}{small}{other}" if small else f"{large}{unit}"


def go_string(value: Any) -> str:
    """Format a value as Go prints it: `true`, `false`, `<nil>`, lists in brackets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{' '.join(go_string(item) for item in value)}]"
    return "<nil>" if value is None else str(value)


def format_labels(labels: Mapping[str, Any]) -> str:
    """Format labels on one line, sorted by key; `<none>` without any."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


def format_access_modes(modes: Sequence[str]) -> str:
    """Format access modes by their short names, in kubectl's order."""
    return ",".join(short for mode, short in SHORT_ACCESS_MODES.items() if mode in modes)


def format_selector(selector: LabelSelector | None) -> str:
    """Format a label selector as in API queries: `app=web,tier in (a,b),!old`."""
    if selector is None:
        return ""
    parts = [(key, f"{key}={value}") for key, value in selector.match_labels.items()]
    parts += [(requirement.key, _format_requirement(requirement)) for requirement in selector.match_expressions]
    return ",".join(text for _, text in sorted(parts, key=lambda part: part[0]))


def _format_requirement(requirement: Requirement) -> str:
    values = ",".join(sorted(requirement.values))
    match requirement.operator:
        case "In" | "NotIn":
            return f"{requirement.key} {requirement.operator.lower()} ({values})"
        case "DoesNotExist":
            return f"!{requirement.key}"
    return requirement.key


def format_requirements(requirements: Iterable[Requirement]) -> list[str]:
    """Format the requirements of a node selector term as `describe` lists them: `zone in [a, b]`."""
    return [f"{item.key} {item.operator.lower()}" + (f" [{', '.join(item.values)}]" if item.values else "")
            for item in requirements]


def given_lines(**fields: Any) -> Iterator[str]:
    """Yield the fields that have a value, titled by their names, in which `_` is a blank."""
    yield from (f"{title.replace('_', ' ')}:\t{value}" for title, value in fields.items() if value not in (None, ""))


def field_lines(title: str, items: Sequence[str], prefix: str = "\t") -> list[str]:
    """Return a field with one value a line; `prefix` precedes every value but the first."""
    if not items:
        return [f"{title}:\t{NONE}"]
    return [f"{title}:\t{items[0]}", *(prefix + item for item in items[1:])]


def label_lines(title: str, labels: Mapping[str, Any], prefix: str = "\t") -> list[str]:
    """Return labels, one a line, sorted by key."""
    return field_lines(title, [f"{key}={value}" for key, value in sorted(labels.items())], prefix)


def annotation_lines(title: str, annotations: Mapping[str, str]) -> list[str]:
    """Return annotations, one a line, except last-applied-configuration; long values are cut, below their key."""
    items = []
    for key, text in sorted(annotations.items()):
        value = text.removesuffix("\n")
        if key == LAST_APPLIED:
            continue
        if len(value) + len(key) + 2 > MAX_ANNOTATION_LENGTH or "\n" in value:
            max_length = MAX_ANNOTATION_LENGTH - 2
            parts = [part[:max_length] + ("..." if len(part) > max_length else "") for part in value.split("\n")]
            items += ["\n".join([f"{key}:", *(f"\t  {part}" for part in parts)])]
        else:
            items += [f"{key}: {value}"]
    return field_lines(title, items)


def timed_condition_lines(conditions: Sequence[Condition], field: str, title: str) -> Iterator[str]:
    """Yield the conditions of a node or claim with their times; `field` is the earlier one."""
    if conditions:
        yield "Conditions:"
        yield f"  Type\tStatus\t{title}\tLastTransitionTime\tReason\tMessage"
        yield "  ----\t------\t-----------------\t------------------\t------\t-------"
    for condition in conditions:
        times = f"{format_time(condition.rest.get(field))} \t{format_time(condition.last_transition_time)}"
        yield f"  {condition.type} \t{condition.status} \t{times} \t{condition.reason} \t{condition.message}"


def format_share(part: str, whole: str, *, cpu: bool = False) -> str:
    """Format a quantity with its percentage of the whole: `500m (12%)`."""
    value_of = quantity.milli if cpu else quantity.value
    percent = int(value_of(part) / value_of(whole) * 100) if value_of(whole) else 0
    return f"{part} ({percent}%)"

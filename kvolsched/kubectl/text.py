"""What every text of kubectl is made of: aligned columns, durations, and the spellings of lists, selectors and amounts.

Knows no kind and no world: strings and plain values in, strings out. Mirrors Go's `text/tabwriter` as kubectl uses it,
apimachinery `duration.HumanDuration` and `labels.Selector` (v1.36.2); all widths are counted in code points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from fractions import Fraction
from itertools import groupby
from typing import Any

from ..api.kinds import quantity
from ..api.kinds.selector import LabelSelector, Requirement

NONE, UNKNOWN, UNSET = "<none>", "<unknown>", "<unset>"
YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)  # Go's zero time, which kubectl prints for a time that is not given
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
LONGEST_ANNOTATION = 140
MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}

Lines = Iterable[str]


def aligned(lines: Lines, least: int = 0, padding: int = 2) -> str:
    """Return lines with tabs as one text in columns.

    A column reaches over neighbouring lines that have a cell there; what follows the last tab of a line has no column.
    """
    cells = [line.split("\t") for line in "\n".join(lines).replace("\x1b", "^[").split("\n")]
    deepest = max((len(line) for line in cells), default=0)
    for column in range(deepest - 1):
        for reaches, block in groupby(cells, key=lambda line, column=column: len(line) > column + 1):  # type: ignore[misc]
            if reaches:
                rows = list(block)
                width = max(least, *(len(row[column]) + padding for row in rows))
                for row in rows:
                    row[column] = row[column].ljust(width)
    return "\n".join("".join(line) for line in cells)


# -- time ----------------------------------------------------------------------------------------------------


def moment(text: Any) -> datetime | None:
    """Return the moment that a manifest's time stands for, None where it is not given."""
    return datetime.fromisoformat(text.upper()) if text else None


def stamp(text: Any) -> str:
    """Return a manifest's time in full, as `describe` prints it (RFC 1123, UTC)."""
    return format_datetime((moment(text) or YEAR_ONE).astimezone(UTC) if text else YEAR_ONE)


def since(text: Any, now: datetime) -> str:
    """Return how long ago a manifest's time was, in kubectl's words."""
    then = moment(text)
    return UNKNOWN if then is None else duration((now - then).total_seconds())


def duration(length: float) -> str:
    """Return a length of time in seconds as kubectl spells it: `45s`, `2m5s`, `3h12m`, `40d`, `2y11d`."""
    seconds = int(length)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return "<invalid>" if seconds < -1 else f"{max(seconds, 0)}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    return _two(days // 365, "y", days % 365 if days < 2920 else 0, "d")


def _two(large: int, unit: str, small: int, other: str) -> str:
    return f"{large}{unit}{small}{other}" if small else f"{large}{unit}"


# -- words ---------------------------------------------------------------------------------------------------


def truth(value: Any) -> str:
    """Return a value as Go prints it: `true`, `false`, `<nil>`, lists in brackets."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{' '.join(truth(item) for item in value)}]"
    return "<nil>" if value is None else str(value)


def labelled(labels: Mapping[str, Any]) -> str:
    """Return labels in one line, sorted by key; `<none>` without any."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


def modes(given: Sequence[str]) -> str:
    """Return access modes by their short names, in kubectl's order."""
    return ",".join(short for mode, short in MODES.items() if mode in given)


def selected(selector: LabelSelector | None) -> str:
    """Return a label selector as the API spells it in queries: `app=web,tier in (a,b),!old`."""
    if selector is None:
        return ""
    parts = [(key, f"{key}={value}") for key, value in selector.match_labels.items()]
    parts += [(one.key, _requirement(one)) for one in selector.match_expressions]
    return ",".join(said for _, said in sorted(parts, key=lambda part: part[0]))


def _requirement(one: Requirement) -> str:
    values = ",".join(sorted(one.values))
    match one.operator:
        case "In" | "NotIn":
            return f"{one.key} {one.operator.lower()} ({values})"
        case "DoesNotExist":
            return f"!{one.key}"
    return one.key


def expressed(requirements: Iterable[Requirement]) -> list[str]:
    """Return a node selector term as `describe` lists it: `zone in [a, b]`."""
    return [
        f"{one.key} {one.operator.lower()}" + (f" [{', '.join(one.values)}]" if one.values else "")
        for one in requirements
    ]


def column(title: str, items: Sequence[str], more: str = "\t") -> list[str]:
    """Return a field with one value a line; `more` is what stands before every value but the first."""
    if not items:
        return [f"{title}:\t{NONE}"]
    return [f"{title}:\t{items[0]}", *(more + item for item in items[1:])]


def labels_column(title: str, labels: Mapping[str, Any], more: str = "\t") -> list[str]:
    """Return labels with one a line, sorted by key."""
    return column(title, [f"{key}={value}" for key, value in sorted(labels.items())], more)


def annotations_column(title: str, annotations: Mapping[str, str]) -> list[str]:
    """Return annotations with one a line, long ones under their key and cut; what `apply` keeps there is left out."""
    items = []
    for key, text in sorted(annotations.items()):
        value = text.removesuffix("\n")
        if key == LAST_APPLIED:
            continue
        if len(value) + len(key) + 2 > LONGEST_ANNOTATION or "\n" in value:
            longest = LONGEST_ANNOTATION - 2
            parts = [part[:longest] + ("..." if len(part) > longest else "") for part in value.split("\n")]
            items += ["\n".join([f"{key}:", *(f"\t  {part}" for part in parts)])]
        else:
            items += [f"{key}: {value}"]
    return column(title, items)


# -- amounts -------------------------------------------------------------------------------------------------


def total(texts: Iterable[str]) -> str:
    """Return the sum of quantities, written in the manner of the first that is not zero."""
    given = [text for text in texts if quantity.parse(text)]
    number = sum((quantity.parse(text) for text in given), Fraction(0))
    if given and given[0].endswith("i") and number.denominator == 1:
        return quantity.of_bytes(int(number))
    return quantity.canonical(f"{-(-number * 10**9 // 1)}n")


def share(part: str, whole: str, *, cpu: bool = False) -> str:
    """Return an amount with the percentage that it is of the whole: `500m (12%)`."""
    count = quantity.milli if cpu else quantity.value
    percent = int(count(part) / count(whole) * 100) if count(whole) else 0
    return f"{part} ({percent}%)"

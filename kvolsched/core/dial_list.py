"""The list of all dials, as their declarations have them: what a scenario or `Cluster(components=...)` can set."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..api.dials import Dial, EveryComponent, dials_of
from ..api.kinds.meta import thaw
from ..api.notebook_output import PrintedAnswer, Rows
from ..api.unknown_name import unknown_name
from ..rules.named import RELEASES, revision_named
from .component_names import COMPONENT_NAMES, DISPLAY_NAMES

EVERY = "every component"


@attrs.frozen
class DialRow:
    """One dial of a component.

    Args:
        component: as people see it; `driver` stands for the name of any driver.
        name: the dial, such as `delay` or `publishing.form`; another name for it stands behind a comma.
        values: which it takes, in words.
        default: what it is without being set; where sets of rules differ, of each.
        stands_for: what it is.
        serves: the sentence of the documents that it serves.
    """

    component: str
    name: str
    values: str
    default: str
    stands_for: str
    serves: str

    def __str__(self) -> str:
        lines = (f"{self.name} = {self.default}  ({self.values})", self.stands_for, self.serves)
        return "\n    ".join(filter(None, lines))


@attrs.frozen(repr=False)
class DialTable(Rows[DialRow], PrintedAnswer):
    """Dials as rows; printed, those of one component with all that is said of them, those of several by name."""

    rows: tuple[DialRow, ...]

    def __repr__(self) -> str:
        if len(components := list(dict.fromkeys(row.component for row in self.rows))) == 1:
            return "\n".join(map(str, self.rows))
        named = {each: [row.name for row in self.rows if row.component == each] for each in components}
        return "\n".join(f"{each}: {', '.join(names)}" for each, names in named.items())


def dials(component: str = "") -> DialTable:
    """List the dials of a component: values, default, what each stands for, and the sentence that it serves.

    Args:
        component: such as `scheduler`, `driver`, or the name of one; by default all, whose dials are only named.

    Raises:
        UnknownName: no component of this name has dials; the message lists those that have. It is a KeyError.

    >>> print(dials("taint eviction controller"))
    default_seconds = 300  (a number of seconds from 0)
        for which a pod tolerates that its node is not ready or unreachable, if it does not say
    """
    options = {name: revision_named(name).options for name in RELEASES}
    first, *_ = options.values()
    rows = [DialRow(EVERY, *row) for row in _rows({"": EveryComponent()})]
    for name in first:
        shown = DISPLAY_NAMES.get(name, name)
        rows += [DialRow(shown, *row) for row in _rows({rules: each[name] for rules, each in options.items()})]
    meant = {name.lower(): name for name in (*COMPONENT_NAMES, "driver", "kubelet", EVERY)}
    component = "kubelet" if component.startswith("kubelet/") else component  # all kubelets have one set of dials
    wanted = DISPLAY_NAMES.get(component, meant.get(component.lower(), component))
    wanted = "driver" if {".", "/"} & set(wanted) else wanted
    if component and wanted not in (known := [row.component for row in rows]):
        raise unknown_name(f"component {component!r} with dials", component, known)
    return DialTable(tuple(row for row in rows if wanted in ("", row.component)))


def _rows(options: Mapping[str, Any], before: str = "") -> Iterator[Sequence[str]]:
    """Yield name, values, default, and both sentences of each dial that some of these options have."""
    declared = {name: each for some in options.values() for name, each in dials_of(type(some)).items()}
    for each in declared.values():
        found = {rules: getattr(some, each.name) for rules, some in options.items() if hasattr(some, each.name)}
        name = ", ".join(filter(None, (f"{before}{each.name}", each.also)))
        yield name, each.values.words, _default(each, found, len(options)), each.stands_for, each.serves
        if each.values.parts is not None:
            parts = found if each.values.joint == "." else {"": each.values.parts()}
            yield from _rows(parts, f"{before}{each.name}{each.values.joint}")


def _default(each: Dial, found: Mapping[str, Any], rules: int) -> str:
    """Return a default as text; where sets of rules differ, or some have no such dial, with their names."""
    if each.values.joint == ".":
        return "see its parts"
    texts: dict[str, list[str]] = {}
    for name, value in found.items():
        texts.setdefault(_text(value), []).append(name)
    if len(texts) == 1 and len(found) == rules:
        return next(iter(texts))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in texts.items())


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    text = json.dumps(thaw(value))
    return text if text == '""' else text.replace('"', "")

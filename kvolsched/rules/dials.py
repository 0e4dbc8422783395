"""Dials: options of components that a scenario or a user sets by name; an unknown name is refused here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ..api.kinds.meta import freeze
from ..api.unknown_name import UnknownName, did_you_mean


@attrs.frozen
class NoDials:
    """The options of a component that has none."""


def with_dials(name: str, options: Any, dials: Mapping[str, Any] | None) -> Any:
    """Return the options of a component, overridden by dials.

    Raises:
        UnknownName: the component has no such dial; the message lists those that it has. It is a ValueError.
        ValueError: the dials are no mapping.
    """
    if not isinstance(dials or {}, Mapping):
        raise ValueError(f"{name}: dials are a mapping, not {dials!r}")  # noqa: TRY004 - what a scenario says wrongly
    values = {word: freeze(value) for word, value in (dials or {}).items() if word not in ("absent", "denied")}
    there = [field.name for field in attrs.fields(type(options))]
    unknown = [word for word in values if word not in there]
    if unknown:
        listed, hint = ", ".join(["absent", "denied", *there]), did_you_mean(unknown[0], ["absent", "denied", *there])
        raise UnknownName(f"{name} has no dial {', '.join(unknown)}; there are: {listed}{hint}")
    return attrs.evolve(options, **values)

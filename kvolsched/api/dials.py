"""Dials: the options of components that a scenario or a user sets by name, each declared once.

A dial is a field of a frozen class of options that `dial` makes. By its declaration values are read and checked, and
the list (`kvolsched.dials`) and the page `docs/dials.md` are made. A field without one is set by sets of rules alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from .kinds.meta import Frozen, freeze
from .kinds.quantity import parse
from .kinds.quantity import value as bytes_of
from .unknown_name import UnknownName, did_you_mean
from .words import one_of

Read = Callable[[Any, Any], Any]  # (value, what the option holds without it) -> what it holds
DIAL = "dial"


@attrs.frozen
class Values:
    """The values that a dial takes: in words, and how one is read.

    If its parts are dials, too: of which class, and how their names continue its own, such as `[].`.
    """

    words: str
    read: Read
    parts: type | None = None
    joint: str = ""


@attrs.frozen
class Dial:
    """The declaration of a dial.

    Args:
        name: the field, as it is set.
        default: the value without it; a set of rules may have another.
        values: which values it takes.
        stands_for: what it is in a real cluster, or in the simulation.
        serves: the sentence of the documents that it serves, told with its section; "": a release's or our own.
        also: another name under which it is set.
    """

    name: str
    default: Any
    values: Values = attrs.field(validator=attrs.validators.instance_of(Values))
    stands_for: str
    serves: str = ""
    also: str = ""


def dial(default: Any, values: Values, stands_for: str, serves: str = "", also: str = "") -> Any:
    """Declare a dial as a field of a class of options; see `Dial`."""
    return attrs.field(default=default, metadata={DIAL: Dial("", default, values, stands_for, serves, also)})


def dials_of(options: type) -> dict[str, Dial]:
    """Return the dials that a class of options declares, by name, in their order."""
    declared = {field.name: field.metadata[DIAL] for field in attrs.fields(options) if DIAL in field.metadata}
    return {name: attrs.evolve(each, name=name) for name, each in declared.items()}


def values(words: str, accepts: Callable[[Any], bool], made: Callable[[Any], Any] = lambda value: value) -> Values:
    """Return the values that a test accepts, by their words: "true or false"."""

    def read(value: Any, _options: Any) -> Any:
        if not accepts(value):
            raise ValueError(f"{value!r}: must be {words}")
        return made(value)

    return Values(words, read)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(given: Any) -> bool:
    return all(map(_is_text, given))


def _is_size(value: Any) -> bool:
    try:
        parse(str(value))
    except ValueError:
        return False
    return bytes_of(str(value)) >= 0


def whole(least: int, most: float = math.inf) -> Values:
    """Return the whole numbers from one to another."""
    to = "" if most == math.inf else f" to {most:g}"
    return values(f"a whole number from {least}{to}", lambda value: type(value) is int and least <= value <= most)


def or_null(some: Values) -> Values:
    """Return values, and null, which means none."""
    words = f"{some.words}, or null"
    return Values(words, lambda value, before: None if value is None else some.read(value, before))


def choice(*words: str) -> Values:
    """Return the values that are these words."""

    def read(value: Any, _options: Any) -> str:
        if value not in words:
            raise ValueError(f"{value!r}: must be {one_of(words)}{did_you_mean(str(value), words)}")
        return str(value)

    return Values(one_of(words), read)


SWITCH = values("true or false", lambda value: isinstance(value, bool))
SECONDS = values("a number of seconds from 0", _is_number)
PERIOD = values("a number of seconds above 0", lambda value: _is_number(value) and value > 0)
RATE = values("a number from 0", _is_number)
TEXT = values("a text", _is_text)
SIZE = values("a size such as 10Gi", _is_size, str)
LIMIT = values('a size such as 10Gi, or "" for no limit', lambda value: value == "" or _is_size(value), str)
TEXTS = values("a list of texts", lambda value: isinstance(value, tuple) and _are_texts(value))
LABELS = values(
    "a mapping from text to text", lambda value: isinstance(value, Frozen) and _are_texts(value.values())
)


def mapping_of(options: type) -> Values:
    """Return mappings whose entries are dials of a class; what one lacks is as before, or as by default."""

    def read(value: Any, before: Any) -> Any:
        (found,) = _read((before if isinstance(before, options) else options(),), value)
        return found

    return Values("a mapping", read, options, ".")


def several(each: Values, *, named: bool = False) -> Values:
    """Return lists of values or, if they are named, mappings from name to value."""
    words = f"a mapping from name to {each.words}" if named else f"a list, each {each.words}"

    def read(given: Any, _before: Any) -> Any:
        if not isinstance(given, Mapping if named else tuple):
            raise ValueError(f"{given!r}: must be {words}")  # noqa: TRY004 - what a scenario says wrongly
        found: dict[Any, Any] = {}
        faults: list[str] = []
        parts: Iterable[tuple[Any, Any]] = given.items() if isinstance(given, Mapping) else enumerate(given)
        for name, part in parts:
            try:
                found[name] = each.read(part, None)
            except ValueError as why:
                faults += [f"[{name}]{fault}" for fault in _faults(why)]
        if faults:
            raise WrongDials(faults)
        return Frozen(found) if named else tuple(found.values())

    return Values(words, read, each.parts, f"[{'NAME' * named}]{each.joint}")


class WrongDials(UnknownName):
    """Raised for dials that are not there, and for wrong values: every fault, each behind its path."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


def _faults(why: ValueError) -> tuple[str, ...]:
    return why.faults if isinstance(why, WrongDials) else (f": {why}",)


def _read(holders: tuple[Any, ...], given: Any) -> list[Any]:
    """Return classes of options with the values that a mapping gives to their dials."""
    if not isinstance(given, Mapping):
        raise ValueError(f"{given!r}: must be a mapping")  # noqa: TRY004 - what a scenario says wrongly
    declared = [each for options in holders for each in dials_of(type(options)).values()]
    names = [each.name for each in declared]
    unknown = [str(word) for word in given if word not in {*names, *(each.also for each in declared)}]
    listed = f"; there are: {', '.join(names)}{did_you_mean(unknown[0], names)}" if unknown else ""
    faults = [f" has no dial {', '.join(unknown)}{listed}"] if unknown else []
    found = []
    for options in holders:
        changed = {}
        for each in dials_of(type(options)).values():
            for word in filter(given.__contains__, (each.also, each.name)):
                try:
                    changed[each.name] = each.values.read(freeze(given[word]), getattr(options, each.name))
                except ValueError as why:
                    faults += [f".{word}{fault}" for fault in _faults(why)]
        found.append(attrs.evolve(options, **changed))
    if faults:
        raise WrongDials(faults)
    return found


@attrs.frozen
class EveryComponent:
    """The dials that every component has."""

    absent: bool = dial(False, SWITCH, "whether it is left out of the cluster")
    denied: tuple[str, ...] = dial((), TEXTS, "permissions that it lacks, such as `update persistentvolumes`",
                                   "S0, Access Control: the scheduler needs to update volumes and claims")


@attrs.frozen
class NoDials:
    """The options of a component that has none but those of every one."""


NO_DIALS = NoDials()


def with_dials(name: str, options: Any, dials: Mapping[str, Any] | None) -> Any:
    """Return the options of a component, overridden by dials; each value is read as its declaration says.

    Raises:
        UnknownName: a dial is not there, or has a wrong value; every fault, a line each. It is a ValueError.
    """
    try:
        return _read((EveryComponent(), options), dials or {})[1]
    except ValueError as why:
        lines = (f"{name}: {fault[1:]}" if fault.startswith(".") else f"{name}{fault}" for fault in _faults(why))
        raise WrongDials(lines) from None

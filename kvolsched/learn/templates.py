"""Parameters of scenarios: what a scenario declares, values for them, and plain data with the values filled in.

Nothing is evaluated. `$(zones)` stands for a value, spelled as Kubernetes spells references in manifests (`$$(zones)`
for the text itself); an item of a list that has `for: {zone: $(zones)}` is repeated with `$(zone)` counting from 1, or
going through a list. What is repeated is the rest of the item, or its `item` alone. An item that has
`when: {mode: Immediate}` is left out unless every named parameter has that value, or one of that list.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import attrs

Value = int | str
REFERENCE = re.compile(r"(\$?)\$\((\w+)\)")
FIELDS = ("default", "says", "least", "most", "one of")
MOST_REPEATED = 100_000


class ParameterError(ValueError):
    """A parameter is declared wrongly, has an impossible value, or is named where there is none."""


class ExpectationFailed(AssertionError):
    """An expectation of a script does not hold; the message has both sides, `words` without its place."""

    def __init__(self, words: str, place: str = "") -> None:
        super().__init__(f"{place}{words}")
        self.words = words


@attrs.frozen(repr=False)
class Parameter:
    """A parameter of a scenario: its default, what it says, and which values it may have."""

    name: str
    default: Value
    says: str
    least: int | None = None
    most: int | None = None
    choices: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return f"{self.name}={self.default}: {self.says}"

    @property
    def wants(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if isinstance(self.default, str):
            return "a text"
        bounds = [("from", self.least), ("to", self.most)]
        return " ".join(["a whole number", *(f"{word} {bound}" for word, bound in bounds if bound is not None)])

    def checked(self, value: object) -> Value:
        """Return a value for this parameter.

        Raises:
            ParameterError: the value is of another type, out of range, or not among the choices.
        """
        wanted = isinstance(value, type(self.default)) and not isinstance(value, bool)
        if not wanted or not isinstance(value, int | str) or not self._allows(value):
            raise ParameterError(f"{self.name} must be {self.wants}, not {value!r}")
        return value

    def parsed(self, text: str) -> Value:
        """Return the value that a text of the command line names.

        Raises:
            ParameterError: see `checked`.
        """
        is_number = isinstance(self.default, int) and re.fullmatch(r"-?\d{1,9}", text)
        return self.checked(int(text) if is_number else text)

    def _allows(self, value: Value) -> bool:
        if self.choices:
            return value in self.choices
        if isinstance(value, str):
            return True
        return (self.least is None or self.least <= value) and (self.most is None or value <= self.most)


def declared(plain: Any) -> tuple[Parameter, ...]:
    """Return the parameters that a scenario declares: name -> {default, says, least, most, one of}.

    Raises:
        ParameterError: a declaration is incomplete, or has an unknown field.
    """
    if not isinstance(plain, Mapping):
        raise ParameterError(f"parameters: wants a mapping of names, each with {', '.join(FIELDS)}")
    return tuple(_declared(str(name), fields) for name, fields in plain.items())


def _declared(name: str, fields: Any) -> Parameter:
    if not isinstance(fields, Mapping) or not {"default", "says"} <= set(fields) <= set(FIELDS):
        raise ParameterError(f"parameters.{name}: wants default and says, and may have {', '.join(FIELDS[2:])}")
    default, choices = fields["default"], tuple(fields.get("one of", ()))
    if isinstance(default, bool) or not isinstance(default, int | str):
        raise ParameterError(f"parameters.{name}.default: must be a whole number or a text, not {default!r}")
    found = Parameter(name, default, str(fields["says"]), fields.get("least"), fields.get("most"), choices)
    found.checked(default)
    return found


def repeats(plain: Any) -> bool:
    """Say whether plain data has an item with `for`."""
    if isinstance(plain, Mapping):
        return any(map(repeats, plain.values()))
    if isinstance(plain, str) or not isinstance(plain, Sequence):
        return False
    return any((isinstance(item, Mapping) and "for" in item) or repeats(item) for item in plain)


def fill(plain: Any, values: Mapping[str, Value]) -> Any:
    """Return plain data with references replaced by values and repeated items repeated.

    Raises:
        ParameterError: a reference names nothing, or `for` has no number or list.
    """
    if isinstance(plain, str):
        return _text(plain, values)
    if isinstance(plain, Mapping):
        return {_text(word, values): fill(value, values) for word, value in plain.items()}
    if isinstance(plain, Sequence):
        return [filled for item in plain for filled in _items(item, values)]
    return plain


def _text(text: Any, values: Mapping[str, Value]) -> Any:
    """Return a text with its references replaced; one that is nothing but a reference becomes the value itself."""
    if not isinstance(text, str):
        return text
    whole = REFERENCE.fullmatch(text)
    if whole and not whole[1]:
        return _value(whole[2], values)
    return REFERENCE.sub(lambda match: match[0][1:] if match[1] else str(_value(match[2], values)), text)


def _value(name: str, values: Mapping[str, Value]) -> Value:
    if name not in values:
        raise ParameterError(f"$({name}): no such parameter; there are: {', '.join(values) or 'none'}")
    return values[name]


def _items(item: Any, values: Mapping[str, Value]) -> Iterator[Any]:
    """Yield an item of a list, or as many as its `for` says, the last name changing fastest; none unless its `when`."""
    if not isinstance(item, Mapping) or not {"for", "when"} & set(item):
        yield fill(item, values)
        return
    over = item.get("for", {})
    for word, found in (("for", over), ("when", item.get("when", {}))):
        if not isinstance(found, Mapping):
            raise ParameterError(f"{word}: wants a mapping such as {{zone: $(zones)}}, not {found!r}")
    wanted = fill(item.get("when", {}), values)
    for name, each in wanted.items():
        if _value(name, values) not in (each if isinstance(each, list) else [each]):
            return
    rest = {word: value for word, value in item.items() if word not in ("for", "when")}
    repeated = rest["item"] if set(rest) == {"item"} else rest
    ranges = [_range(str(name), fill(bound, values)) for name, bound in over.items()]
    if prod(map(len, ranges)) > MOST_REPEATED:
        raise ParameterError(f"for: {', '.join(map(str, over))} would repeat more than {MOST_REPEATED} times")
    for chosen in product(*ranges):
        yield fill(repeated, {**values, **dict(zip(map(str, over), chosen, strict=True))})


def _range(name: str, bound: Any) -> Sequence[Value]:
    """Return what a name of `for` goes through: a list, or the numbers from 1 to a bound."""
    if isinstance(bound, list) and all(isinstance(each, int | str) for each in bound):
        return bound
    if isinstance(bound, bool) or not isinstance(bound, int) or not 0 <= bound <= MOST_REPEATED:
        raise ParameterError(f"for: {name} must be a number up to {MOST_REPEATED} or a list, not {bound!r}")
    return range(1, bound + 1)

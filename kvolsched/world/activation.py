"""Activation conditions: when a component begins to watch, so that idle controllers cost no turns and no states.

A process without a condition watches from the start. One with a condition has seen nothing and has no notes until the
condition is met; then it lists what is stored, as a starting process does, and watches. A condition must hold before
the component could have anything to do.
"""

from collections.abc import Callable
from typing import Any, Protocol

from .log import LogKey


class ActivationCondition(Protocol):
    """Decides whether a component watches, from what is stored (not from what a component has seen). Mutable view.

    `follows` names the kinds of API objects and the sorts of the world's notes whose changes it takes.
    """

    follows: frozenset[str]

    def apply(self, key: LogKey, old: Any, new: Any) -> None: ...

    @property
    def is_met(self) -> bool: ...


class Exists:
    """Condition that an object of some kinds exists for which a predicate holds (by default: any object). Mutable."""

    def __init__(self, kinds: str | tuple[str, ...], holds: Callable[[Any], bool] = lambda _obj: True) -> None:
        self.follows = frozenset([kinds] if isinstance(kinds, str) else kinds)
        self.holds = holds
        self.count = 0

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Update the count of matching objects."""
        self.count += (new is not None and self.holds(new)) - (old is not None and self.holds(old))

    @property
    def is_met(self) -> bool:
        """Whether there is a matching object."""
        return self.count > 0

"""When a component begins to watch: a view of what is stored says whether there is anything for it yet.

A process without a need listens from the start. One with a need has seen nothing, has no notes and costs nothing until
its need is met; then it lists what there is, as a process that starts does, and listens from then on. What it would
have done before is nothing: that is what a need promises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .log import LogKey


class ActivationCondition(Protocol):
    """A view of what is stored (not of what is seen). Mutable.

    `follows` names the kinds of API objects, and the sorts of the world's own notes, that it wants to hear of; `met`
    says whether there is something to do.
    """

    follows: frozenset[str]

    def apply(self, key: LogKey, old: Any, new: Any) -> None: ...

    @property
    def is_met(self) -> bool: ...


class Exists:
    """A need for objects of one kind of which something holds (by default, that they exist). Mutable."""

    def __init__(self, kind: str, holds: Callable[[Any], bool] = lambda _obj: True) -> None:
        self.follows = frozenset([kind])
        self.holds = holds
        self.count = 0

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Count one object more or less."""
        self.count += (new is not None and self.holds(new)) - (old is not None and self.holds(old))

    @property
    def is_met(self) -> bool:
        """Whether there is one."""
        return self.count > 0


__all__ = ["ActivationCondition", "Exists"]

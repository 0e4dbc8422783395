"""Results of pure functions that are kept: what is made of equal frozen values is made once, and shared.

A cluster has thousands of pods of one template. Their defaulted specs are one value, judged once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["cached_property", "remembered", "shared"]
Result = TypeVar("Result")
MOST = 1 << 12  # results kept of one function
_shared: dict[Any, Any] = {}


if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - a pass asks for nine of them
        """A cached property without the lock that Python 3.12 has taken away, and that is most of its cost."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            found = instance.__dict__[self.attrname] = self.func(instance)
            return found


def remembered(function: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Keep the results of a pure function of one frozen value; one with parts that cannot be hashed is asked anew.

    >>> @remembered
    ... def double(text):
    ...     return text + text
    >>> double("ab") is double("ab")
    True
    """
    kept = lru_cache(maxsize=MOST)(function)

    @wraps(function)
    def call(value: Any) -> Result:
        try:
            hash(value)
        except TypeError:
            return function(value)
        return kept(value)

    return call


def shared(value: Result) -> Result:
    """Return the one of equal frozen values that was asked for first, so that a long history keeps it once.

    >>> shared(("a", "b" * 2)) is shared(("a", "bb"))
    True
    """
    try:
        found: Result | None = _shared.get(value)
    except TypeError:
        return value
    if found is None:
        if len(_shared) >= MOST:
            _shared.clear()
        found = _shared[value] = value
    return found

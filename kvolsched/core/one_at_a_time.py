"""Several threads on one cluster: each act and each question holds the cluster's lock, so that it is done as a whole.

The lock is that of its world, and re-entrant. It is taken once an act, run or question, never in a turn; an error or
Ctrl-C lets it go. A cluster and its forks have one lock, since they share keys, rules and what is kept of judgements.
Two threads whose functions (of `run` or a plugin) ask each other's clusters wait for ever: each holds its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import isfunction
from threading import RLock
from typing import Any, TypeVar

from ..world.simulation import Simulation

AnyClass = TypeVar("AnyClass", bound=type)
Result = TypeVar("Result")
NOT_PUBLIC_BY_NAME = frozenset({"__contains__", "__getitem__", "__repr__", "_ipython_key_completions_"})


def one_at_a_time(cls: AnyClass) -> AnyClass:
    """Let each public method and property that a class defines hold the locks of the clusters that it is about.

    The class is one of clusters, or has its cluster in the attribute `cluster`.

    >>> from kvolsched import scenario
    >>> c = scenario("zonal-example")
    >>> with c.world.lock:  # nobody else moves the cluster between these two
    ...     c.now == c.step().time
    True
    """
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in NOT_PUBLIC_BY_NAME:
            continue
        if isfunction(member):
            setattr(cls, name, _locked(member))
        elif isinstance(member, property) and member.fget is not None:
            setattr(cls, name, property(_locked(member.fget)))
    return cls


def _locked(method: Callable[..., Result]) -> Callable[..., Result]:
    """Return a method that holds the lock of its cluster, and of those among its arguments, while it runs."""

    @wraps(method)
    def call(self: Any, /, *args: Any, **named: Any) -> Result:
        lock = vars(self).get("cluster", self).world.lock
        worlds = (getattr(each, "world", None) for each in (*args, *named.values()))
        others = [world.lock for world in worlds if isinstance(world, Simulation)]
        if not others:  # fewer frames, which an error would show
            with lock:
                return method(self, *args, **named)
        return _holding(sorted({lock, *others}, key=id), lambda: method(self, *args, **named))

    return call


def _holding(locks: Sequence[RLock], call: Callable[[], Result]) -> Result:
    """Call a function with all of these locks, taken in the one order that keeps two threads from a deadlock."""
    if not locks:
        return call()
    with locks[0]:
        return _holding(locks[1:], call)

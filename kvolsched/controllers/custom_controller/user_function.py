"""What is known of a user's function without calling it: its name, its arguments, whether it may ask for the time.

Decisions of other components depend on waits only, so states that differ in nothing but the time are equal to a
search. A function that asks `seen.now` may decide by the time itself, which then counts in digests. Every function that
it names is looked at, too.
"""

import inspect
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

CLOCK_NAME = "now"
OURS = __name__.partition(".")[0]  # no function of this package asks for the time
UNKNOWN_CODE: tuple[str, ...] = ("getattr", "vars", "eval", "exec")  # may ask for it under another name


def function_name(function: Callable[..., Any]) -> str:
    """Return the name of a function, a partial function, a method or a callable object."""
    function = getattr(function, "func", function)
    return str(getattr(function, "__name__", "") or type(function).__name__)


def check_function(function: Any) -> None:
    """Refuse what cannot be called with (seen, ref).

    Raises:
        TypeError: it cannot.
    """
    if not callable(function):
        raise TypeError(f"reconcile is a function of (seen, ref) that returns writes, not {function!r}")
    called = function_name(function)
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{called} is asynchronous; reconcile is a plain function of (seen, ref)")
    try:
        signature = inspect.signature(function)
    except ValueError:  # built-in functions do not tell theirs
        return
    try:
        signature.bind(None, "")
    except TypeError:
        raise TypeError(f"reconcile is called with (seen, ref); {called} takes {signature}") from None


def plain_function(function: Any) -> Any:
    """Return the plain function of a partial function, a method or a callable object; None if it has none."""
    function = getattr(function, "func", function)
    function = getattr(function, "__func__", function)
    return function if hasattr(function, "__code__") else getattr(type(function), "__call__", None)  # noqa: B004


def may_ask_for_time(function: Callable[..., Any]) -> bool:
    """Say whether a function, or one that it calls by name, has the name `now` in its code."""
    known: set[int] = set()
    waiting: list[Any] = [function]
    while waiting:
        called = plain_function(waiting.pop())
        code = getattr(called, "__code__", None)
        if code is None or id(code) in known or str(called.__module__).startswith(f"{OURS}."):
            continue
        known.add(id(code))
        names = set(_names(code))
        if names & {CLOCK_NAME, *UNKNOWN_CODE}:
            return True
        values = [called.__globals__.get(name) for name in names]
        values += [cell.cell_contents for cell in called.__closure__ or () if _is_filled(cell)]
        waiting += [value for value in (*values, *(called.__defaults__ or ())) if callable(value)]
    return False


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code uses, with those of the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False

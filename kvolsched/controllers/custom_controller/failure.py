"""Say in one sentence how a function of a user failed: the error, and the line of the function that raised it."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from typing import Any

from .user_function import plain_function

MAX_LENGTH = 300


def describe_error(error: Exception, function: Callable[..., Any]) -> str:
    """Return an error as `KeyError 'x' (line 7 of admit: ...)`, with the innermost line of the user's own code."""
    message = " ".join(str(error).split())
    if isinstance(error, KeyError) and error.args and " " in str(error.args[0]):
        message = str(error.args[0])  # a KeyError prints its sentence in quotes
    return cut(f"{type(error).__name__} {message}".rstrip() + _line_of(error, function))


def cut(words: str) -> str:
    """Return words, cut if they are too long for a sentence."""
    return words if len(words) <= MAX_LENGTH else f"{words[: MAX_LENGTH - 1]}…"


def _line_of(error: Exception, function: Callable[..., Any]) -> str:
    """Return ` (line 7 of admit: ...)` for the innermost frame of the file that holds the function; "" if unknown."""
    code = getattr(plain_function(function), "__code__", None)
    own = [place for place in traceback.walk_tb(error.__traceback__) if code and _same_file(place[0], code)]
    if not own:
        return ""
    frame, line = own[-1]
    number = line - frame.f_code.co_firstlineno + 1
    text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals).strip()
    return f" (line {number} of {frame.f_code.co_name}{f': `{text}`' if text else ''})"


def _same_file(frame: Any, code: Any) -> bool:
    return bool(frame.f_code.co_filename == code.co_filename)

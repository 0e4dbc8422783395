"""Sets of rules that rooms above `rules` make: the package registers them, and asking for one imports it."""

from collections.abc import Callable
from typing import Any

LATER_REVISIONS: dict[str, Callable[[], Any]] = {}

"""Sets of rules that rooms above `rules` make: the package registers them, and asking for one imports it.

Loads no rule, so that a list of what runs under them answers at once.
"""

from collections.abc import Callable
from typing import Any

TODAY = "upstream"  # the rules that a reader's own cluster runs
LATER_REVISIONS: dict[str, Callable[[], Any]] = {}

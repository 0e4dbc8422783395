"""Python's search for garbage, while many frozen values are made and kept.

Values that are frozen all the way down form no cycles, so there is hardly anything to find; but the search visits all
that is alive, again and again. Results are the same with and without.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def infrequent_gc() -> Iterator[None]:
    """Search for garbage a fiftieth as often, and put the pace back at the end."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def paused_gc() -> Iterator[None]:
    """Do not search at all: for reading, which makes millions of values at once."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

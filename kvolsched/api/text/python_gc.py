"""Slow down or pause Python's garbage collector while many frozen values are created.

Deeply frozen values form no reference cycles, so the collector would visit all live objects repeatedly and free hardly
any. Not to be confused with Kubernetes' garbage collector.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 1_000_000  # new values that are collected at the end of a pause


@contextmanager
def infrequent_gc() -> Iterator[None]:
    """Collect garbage a fiftieth as often, and restore the thresholds at the end."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def paused_gc() -> Iterator[None]:
    """Pause garbage collection, for reading, which creates millions of values at once.

    Millions are then collected once, so that they are old: else the next three collections would visit all of them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_count()[0] > MANY:
                gc.collect()
            gc.enable()

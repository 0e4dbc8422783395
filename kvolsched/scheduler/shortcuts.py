"""The one switch of all shortcuts of a scheduling pass, so that a test can hold the answers with and without equal.

A shortcut is anything that a pass does not work out anew: a plugin that is not called, a column or score kept from an
earlier pass, a verdict on one node that is asked for that node alone. With `without_shortcuts` every plugin is called
for every pod on all nodes. Verdicts, messages and scores are the same; only time differs.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import attrs


@attrs.define
class Shortcuts:
    """Which shortcuts are taken in this process; changed by `without_shortcuts` only.

    Args:
        on: plugins that have nothing to say are not called, and what cannot have changed is kept.
        columns: a plugin's `column` judges all nodes at once; if not, its `rule` judges node by node.
    """

    on: bool = True
    columns: bool = True


SHORTCUTS = Shortcuts()


@contextmanager
def without_shortcuts(*, columns: bool = True) -> Iterator[None]:
    """Take no shortcuts inside this block, in the whole process.

    Args:
        columns: ask the plugins' columns; False has their rules judge node by node, which is slow.

    Example:
        >>> from kvolsched import Cluster
        >>> from kvolsched import make
        >>> cluster = Cluster.from_manifests([make.node("n1"), make.pod("app")])
        >>> _ = cluster.run()
        >>> with without_shortcuts():
        ...     slowly = cluster.fits("pod/app")
        >>> slowly == cluster.fits("pod/app")
        True
    """
    before = SHORTCUTS.on, SHORTCUTS.columns
    SHORTCUTS.on, SHORTCUTS.columns = False, columns
    try:
        yield
    finally:
        SHORTCUTS.on, SHORTCUTS.columns = before

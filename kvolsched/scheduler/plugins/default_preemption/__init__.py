"""DefaultPreemption: choose a node and the pods of lower priority to evict there, so that a pending pod fits.

`rule.py` is the plugin, which tries removals on a hypothetical snapshot; `column.py` does on columns where that says
the same, and has what a dry run finds, and who is protected.
"""

from .rule import NEVER, NO_VICTIMS, NOT_HELPFUL, PREEMPTION_1_11, DefaultPreemption

__all__ = ["NEVER", "NOT_HELPFUL", "NO_VICTIMS", "PREEMPTION_1_11", "DefaultPreemption"]

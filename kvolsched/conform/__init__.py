"""Do we answer what the real ones answered? Recorded cases, played in our engine and compared aspect by aspect.

Imports and names only: `recording` reads the cases, `agreement` compares and counts, `families` knows who answers which
family, `verdicts` asks the scheduler, `trace` lays one recorded story beside ours. Nothing in this room knows a rule of
Kubernetes: a difference is mended where the rule stands.
"""

from __future__ import annotations

from .agreement import ABSENT, Agreement, Difference, Family
from .families import FAMILIES, compare, conform
from .recorded_trace import Trace, trace
from .recording import Case, Recorded, read
from .verdicts import judged

__all__ = [
    "ABSENT",
    "FAMILIES",
    "Agreement",
    "Case",
    "Difference",
    "Family",
    "Recorded",
    "Trace",
    "compare",
    "conform",
    "judged",
    "read",
    "trace",
]

"""The frame in one place: what plugins answer with, where they hang in, and the pass that asks them.

Imports and names only: `verdict` holds the values, `extension` the protocols, `judgement` and `ranking` the pass.
"""

from __future__ import annotations

from .extension import (
    At,
    Enabled,
    Filter,
    Plugin,
    PostFilter,
    PostFilterResult,
    PreFilter,
    Score,
    Vectorised,
    Wake,
    Wakes,
    Words,
    legend_of,
    lift,
)
from .judgement import Cell, Judgement, MatrixRow, check, judge
from .ranking import Ranking, rank
from .verdict import (
    OK,
    SKIP,
    Code,
    Codes,
    Evidence,
    Integers,
    Mask,
    Ok,
    PreFilterReject,
    Reason,
    Reject,
    Restrict,
    Skip,
    said,
)

__all__ = [
    "OK",
    "SKIP",
    "At",
    "Cell",
    "Code",
    "Codes",
    "Enabled",
    "Evidence",
    "Filter",
    "Integers",
    "Judgement",
    "Mask",
    "MatrixRow",
    "Ok",
    "Plugin",
    "PostFilter",
    "PostFilterResult",
    "PreFilter",
    "PreFilterReject",
    "Ranking",
    "Reason",
    "Reject",
    "Restrict",
    "Score",
    "Skip",
    "Vectorised",
    "Wake",
    "Wakes",
    "Words",
    "check",
    "judge",
    "legend_of",
    "lift",
    "rank",
    "said",
]

"""Conformance: recorded answers of real Kubernetes components, compared with the engine's answers aspect by aspect.

Imports only: `recording` reads cases, `agreement` compares and counts, `families` lists who answers which family. No
module here contains a rule of Kubernetes: a difference is fixed where the rule is implemented.
"""

from .agreement import ABSENT, Agreement, Difference, Family
from .families import FAMILIES, compare, conform
from .recording import Case, Recorded, read
from .traces import Trace, trace
from .verdicts import judge_case

__all__ = [
    "ABSENT", "FAMILIES", "Agreement", "Case", "Difference", "Family", "Recorded", "Trace", "compare", "conform",
    "judge_case", "read", "trace"
]

"""Conformance: recorded answers of real Kubernetes components, compared with the engine's answers aspect by aspect.

Imports only: `agreement` reads cases, compares and counts, `families` lists who answers which family. No
module here contains a rule of Kubernetes: a difference is fixed where the rule is implemented.
"""

from .agreement import ABSENT, Agreement, Case, Difference, Family, Recorded, read
from .families import FAMILIES, compare, conform
from .traces import Trace, trace
from .verdicts import judge_case

__all__ = [
    "ABSENT", "FAMILIES", "Agreement", "Case", "Difference", "Family", "Recorded", "Trace", "compare", "conform",
    "judge_case", "read", "trace"
]

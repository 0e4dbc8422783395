"""The smallest cluster on which two sets of rules disagree: searched for, or shipped for a known difference."""

from .difference import NoRuleDifference, RuleDifference
from .known import KnownDifference, known_differences
from .outcome import Case
from .search import differ

__all__ = ["Case", "KnownDifference", "NoRuleDifference", "RuleDifference", "differ", "known_differences"]

"""PodTopologySpread: no domain may be ahead of the emptiest by more than maxSkew, and emptier domains are preferred.

`rule` is the plugin, `constraint` and `skew` what it counts and sums, `column` the filter over all nodes at once,
`score` the preference, `releases` what 1.16, 1.18 and S3 do differently.
"""

from .constraint import SpreadConstraint
from .rule import PodTopologySpread
from .skew import DomainMatches, Skew, SkewExceeds, match_domains, skews_on

__all__ = ["DomainMatches", "PodTopologySpread", "Skew", "SkewExceeds", "SpreadConstraint", "match_domains", "skews_on"]

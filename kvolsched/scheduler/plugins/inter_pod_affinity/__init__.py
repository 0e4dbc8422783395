"""InterPodAffinity: which pods want to be near each other and which do not, required or preferred, asked both ways."""

from .rule import INTER_POD_AFFINITY_1_11, InterPodAffinity

__all__ = ["INTER_POD_AFFINITY_1_11", "InterPodAffinity"]

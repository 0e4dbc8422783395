"""VolumeBinding (S0: CheckVolumeBinding, PrioritizeVolumes): a pod goes only where it can have its volumes.

`rule` judges one node, `column` is the plugin, which judges and ranks all nodes at once; `claims`, `matching` and
`capacity` are what both read, `releases` what 1.11 and the documents do differently.
"""

from .claims import VolumeDecision
from .column import VolumeBinding

__all__ = ["VolumeBinding", "VolumeDecision"]

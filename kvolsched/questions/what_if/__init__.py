"""What would come of other values in the manifests: each value is tried on a fork that runs to its end.

`paths` finds a field by its path in a manifest, `trials` edits it on forks and counts the pods that run.
"""

from .paths import FieldPath, find_field
from .trials import Trial, TrialOutcome, Trials, VariedField, shown, varied_fields

__all__ = ["FieldPath", "Trial", "TrialOutcome", "Trials", "VariedField", "find_field", "shown",
           "varied_fields"]  # fmt: skip

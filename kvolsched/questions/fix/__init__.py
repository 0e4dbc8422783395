"""What would make this pod schedulable? Finds the nearest edits of a catalogue and tries each on a fork.

Imports only. `pods`, `nodes`, `topology_keys`, `claims`, `replace_claim`, `add_volume` and `node_states` are the
catalogue of edits, `edit_search` combines them, `trial_cluster` judges them, `edit` carries them out and prints them,
`trials` runs them on forks until these are idle, `asking` proves and ranks fixes, `answer` prints them.
"""

from .answer import Fix, Fixes, LiftedVerdict
from .asking import fix
from .edit import Edit, ObjectChange, edits_without, manifest_diff
from .edit_search import search
from .outcome import TriedFix
from .trial_cluster import TrialCluster

__all__ = [
    "Edit", "Fix", "Fixes", "LiftedVerdict", "ObjectChange", "TrialCluster", "TriedFix", "edits_without", "fix",
    "manifest_diff", "search",
]  # fmt: skip

"""What would make this pod schedulable? Finds the nearest edits of a catalogue and tries each on a fork.

Imports only. `pods`, `nodes`, `claims`, `replace_claim` and `add_volume` are the catalogue of edits, `search` combines
them, `trial_cluster` judges them, `edit` carries them out and prints them, `answer` proves and shows fixes.
"""

from __future__ import annotations

from .answer import Fix, Fixes, fix
from .edit import Edit, ObjectChange, manifest_diff
from .search import CATALOGUE, FoundFix, SearchResult, search
from .trial_cluster import TrialCluster

__all__ = [
    "CATALOGUE",
    "Edit",
    "Fix",
    "Fixes",
    "FoundFix",
    "ObjectChange",
    "SearchResult",
    "TrialCluster",
    "fix",
    "manifest_diff",
    "search",
]

"""What would make this pod schedulable? The nearest edits of a catalogue, each tried on a fork before it is told.

Imports and names only: `pods`, `nodes` and `claims` are the catalogue, `search` tries, `answer` proves and shows,
`edit` knows how a change reads and is made, `trial` is what edits are tried in.
"""

from __future__ import annotations

from .answer import Fix, Fixes, fix
from .edit import Edit, ObjectChange, manifest_diff
from .search import CATALOGUE, FoundFix, SearchResult, search
from .trial_cluster import TrialCluster

__all__ = ["CATALOGUE", "Edit", "Fix", "Fixes", "FoundFix", "ObjectChange", "SearchResult", "TrialCluster", "fix", "manifest_diff", "search"]

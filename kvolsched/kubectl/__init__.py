"""`kubectl get` and `kubectl describe` of a simulated cluster: what the real one would print, byte for byte.

Imports and names only: `listing` answers `get`, `describing` answers `describe`, `tables` and `kinds` make rows of
objects, `node`, `pod`, `workloads`, `policies` and `template` are parts of a description, `around` is what it sees, and
`text` is what every text is made of.
"""

from __future__ import annotations

from .listing import Description, Listing, Listings, NotThere, describe, get

__all__ = ["Description", "Listing", "Listings", "NotThere", "describe", "get"]

"""`kubectl get` and `kubectl describe` of a simulated cluster: what the real one would print, byte for byte.

Imports and names only: `listing` answers `get`, `describing` answers `describe`, `tables` and `kinds` make rows of
objects, `node`, `pod` and `template` are parts of a description, `text` is what every text is made of.
"""

from __future__ import annotations

from .listing import Description, Listing, describe, get

__all__ = ["Description", "Listing", "describe", "get"]

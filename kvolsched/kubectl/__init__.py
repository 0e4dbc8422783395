"""`kubectl get` and `kubectl describe` of a simulated cluster: what the real kubectl prints, byte for byte.

`get_command` and `describe_command` answer the commands; `get_tables` makes rows of objects, `describe_sections` makes
sections, and `formatting` formats values.
"""

from __future__ import annotations

from .describe_command import describe
from .get_command import get
from .output import Description, Listing, Listings
from .resource_lookup import ResourceNotFound

__all__ = ["Description", "Listing", "Listings", "ResourceNotFound", "describe", "get"]

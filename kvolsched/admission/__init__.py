"""What the API server makes of a write: admission, validation, subresources, and who may write what.

These are Kubernetes' rules; the world's API server, which knows none, is handed them by a revision. Imports and names
only: `plugins` holds one function for each admission plugin, `server` puts them in order with defaults and validation,
`binding` is the subresource pods/binding, `access` says who may do what, `documents` what the documents ask for.
"""

from __future__ import annotations

from .access import PERMISSIONS, permits
from .binding import bind
from .documents import (
    CLASS_ZONES,
    NO_DIRECTIVES,
    ZONE_AFFINITY,
    dropping,
    inserted_anywhere,
    seen_through,
    without_volume,
)
from .plugins import PLUGINS, PROTECTION, AdmissionPlugin, Stored, protected, with_class
from .server import Admission, admit, invalid

__all__ = [
    "CLASS_ZONES",
    "NO_DIRECTIVES",
    "PERMISSIONS",
    "PLUGINS",
    "PROTECTION",
    "ZONE_AFFINITY",
    "Admission",
    "AdmissionPlugin",
    "Stored",
    "admit",
    "bind",
    "dropping",
    "inserted_anywhere",
    "invalid",
    "permits",
    "protected",
    "seen_through",
    "with_class",
    "without_volume",
]

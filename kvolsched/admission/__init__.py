"""What the API server makes of a write: admission, validation, subresources, and who may write what.

These are Kubernetes' rules; the world's API server, which knows none, is handed them by a revision. Imports and names
only: `plugins` holds one function for each admission plugin, `server` puts them in order with defaults and validation,
`binding` is the subresource pods/binding, `access` says who may do what, `documents` what the documents ask for.
"""

from __future__ import annotations

from .access import PERMISSIONS, permissions_without
from .binding import binding_subresource
from .documents import (
    CLASS_ZONES,
    NO_DIRECTIVES,
    ZONE_AFFINITY,
    allow_inserted_requirements,
    allow_volume_rollback,
    chain_views,
    drop_disabled_fields,
)
from .plugins import (
    PLUGINS,
    PROTECTION_FINALIZERS,
    AdmissionPlugin,
    StoredObjects,
    with_priority_of_class,
    with_protection_finalizer,
)
from .server import DEFAULT_ADMISSION, Admission, deny_invalid

__all__ = [
    "CLASS_ZONES",
    "DEFAULT_ADMISSION",
    "NO_DIRECTIVES",
    "PERMISSIONS",
    "PLUGINS",
    "PROTECTION_FINALIZERS",
    "ZONE_AFFINITY",
    "Admission",
    "AdmissionPlugin",
    "StoredObjects",
    "allow_inserted_requirements",
    "allow_volume_rollback",
    "binding_subresource",
    "chain_views",
    "deny_invalid",
    "drop_disabled_fields",
    "permissions_without",
    "with_priority_of_class",
    "with_protection_finalizer",
]

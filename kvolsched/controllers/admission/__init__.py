"""Kubernetes' rules for writes: admission plugins, validation, the subresource pods/binding, and permissions.

A revision passes them to the world's API server, which knows no such rule. This file only re-exports: `plugins` has a
function for each admission plugin, `limit_ranger` those of limits and quotas, `server` runs them with defaults and
validation and holds permissions, `subresources` has pods/binding and pods/eviction, `documents` what only the design
documents ask for, `webhooks` asks a reader's functions.
"""

from .documents import (
    CLASS_ZONES,
    NO_GATED_UPDATES,
    UNKNOWN_CAPACITY,
    ZONE_AFFINITY,
    UnknownFields,
    allow_inserted_requirements,
    allow_volume_rollback,
    chain_relaxations,
    drop_disabled_fields,
)
from .limit_ranger import charge
from .plugin import AdmissionPlugin, StoredObjects
from .plugins import PROTECTION_FINALIZERS, with_class_and_limits, with_priority_of_class, with_protection_finalizer
from .server import DEFAULT_ADMISSION, PERMISSIONS, Admission, Permissions, permissions_without
from .subresources import binding_subresource, evict
from .webhooks import Webhook, webhook

__all__ = [
    "CLASS_ZONES", "DEFAULT_ADMISSION", "NO_GATED_UPDATES", "PERMISSIONS", "PROTECTION_FINALIZERS", "UNKNOWN_CAPACITY",
    "ZONE_AFFINITY", "Admission", "AdmissionPlugin", "Permissions", "StoredObjects", "UnknownFields", "Webhook",
    "allow_inserted_requirements", "allow_volume_rollback", "binding_subresource", "chain_relaxations", "charge",
    "drop_disabled_fields", "evict", "permissions_without", "webhook", "with_class_and_limits",
    "with_priority_of_class", "with_protection_finalizer",
]

"""Tables of `kubectl get`, one file for each group of kinds: `TABLES` holds the table of every kind."""

from __future__ import annotations

from collections.abc import Mapping

from . import events, namespaces, nodes, pods, policies, services, storage, workloads
from .table import Table

__all__ = ["TABLES", "Table"]

TABLES: Mapping[str, Table] = {
    **pods.TABLES, **nodes.TABLES, **storage.TABLES, **workloads.TABLES, **services.TABLES, **policies.TABLES,
    **namespaces.TABLES, **events.TABLES,
}

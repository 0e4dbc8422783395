"""`kubectl get namespaces`: the row of a namespace (v1.36.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...api.kinds.meta import EMPTY
from ...api.kinds.workload import Namespace
from .table import Table, object_age


def _namespace_row(namespace: Namespace, now: datetime) -> Sequence[str]:
    return namespace.metadata.name, namespace_phase(namespace), object_age(namespace, now)


def namespace_phase(namespace: Namespace) -> str:
    """Return a namespace's phase; without one, the phase that the API server would write."""
    default = "Active" if namespace.metadata.deletion_timestamp is None else "Terminating"
    return str(namespace.rest.get("status", EMPTY).get("phase", default))


TABLES: Mapping[str, Table] = {
    "Namespace": Table(("NAME", "STATUS", "AGE"), _namespace_row),
}  # fmt: skip

"""`kubectl describe namespace`: a Namespace; a simulated cluster has no quotas and no LimitRanges."""

from __future__ import annotations

from collections.abc import Iterator

from ...api.kinds.workload import Namespace
from ..formatting import annotation_lines, label_lines
from ..get_tables.namespaces import namespace_phase
from .context import DescribeContext


def describe_namespace(namespace: Namespace, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a Namespace."""
    yield f"Name:\t{namespace.metadata.name}"
    yield from label_lines("Labels", namespace.metadata.labels)
    yield from annotation_lines("Annotations", namespace.metadata.annotations)
    yield f"Status:\t{namespace_phase(namespace)}"
    yield from ("", "No resource quota.", "", "No LimitRange resource.")

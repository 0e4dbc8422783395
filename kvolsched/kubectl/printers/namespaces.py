"""kubectl's print of namespaces, with their quotas and LimitRanges."""

from collections.abc import Iterator

from ...api.kinds.meta import EMPTY
from ...api.kinds.workload import Namespace
from .printer import DescribeContext, Printer, metadata_lines, object_age
from .quotas import namespace_lines


def namespace_phase(namespace: Namespace) -> str:
    """Return a namespace's phase; without one, the phase that the API server would write."""
    default = "Active" if namespace.metadata.deletion_timestamp is None else "Terminating"
    return str(namespace.rest.get("status", EMPTY).get("phase", default))


def describe_namespace(namespace: Namespace, context: DescribeContext) -> Iterator[str]:
    """Yield the lines of a Namespace."""
    yield f"Name:\t{namespace.metadata.name}"
    yield from metadata_lines(namespace)
    yield f"Status:\t{namespace_phase(namespace)}"
    yield from namespace_lines(namespace.metadata.name, context)


PRINTER = Printer(("NAME", "STATUS", "AGE"),
                  lambda each, now: (each.metadata.name, namespace_phase(each), object_age(each, now)),
                  describe_namespace)

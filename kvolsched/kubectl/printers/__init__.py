"""What kubectl prints of each kind, one file for each group of kinds: its row in `get`, its lines in `describe`."""

from collections.abc import Mapping

from ...api.kinds.meta import Frozen
from . import events, nodes, pods, policies, services, storage, stored, workloads
from .printer import Printer

__all__ = ["PRINTERS", "Printer", "printer_of"]

PRINTERS: Mapping[str, Printer] = {
    "Pod": pods.PRINTER, "Node": nodes.PRINTER, "Service": services.PRINTER, "Event": events.PRINTER,
    **storage.PRINTERS, **workloads.PRINTERS, **policies.PRINTERS,
}


def printer_of(kind: str, defined: Frozen | None = None) -> Printer:
    """Return the printer of a kind, by the version of its definition if it has one."""
    if defined is not None:
        return stored.printer_of_definition(defined)
    return PRINTERS.get(kind) or stored.PRINTERS.get(kind, stored.ANY)

"""What kubectl prints of each kind, one file for each group of kinds: its row in `get`, its lines in `describe`."""

from collections.abc import Mapping

from . import events, nodes, pods, policies, services, storage, workloads
from .printer import Printer

__all__ = ["PRINTERS", "Printer"]

PRINTERS: Mapping[str, Printer] = {
    "Pod": pods.PRINTER, "Node": nodes.PRINTER, "Service": services.PRINTER, "Event": events.PRINTER,
    **storage.PRINTERS, **workloads.PRINTERS, **policies.PRINTERS,
}

"""Affinity that a webhook injects when a pod is created, in place of a gate (S4, Alternatives, rejected)."""

from __future__ import annotations

from typing import Any

from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...controllers.admission import AdmissionPlugin, StoredObjects
from ..revision import Revision, revision_named
from .building import based_on

GATE, VM = "example.com/queue", "example.com/vm"


def affinity_at_creation(base: str | Revision = "design") -> Revision:
    """Return rules in which a webhook decides where a queued pod goes when it is created, instead of gating it.

    It takes a machine type of which there are nodes at that time. S4 (Alternatives) rejects it: whether there will be
    quota for spot or for on-demand machines is known later, when it becomes available; by then the pod is not gated,
    and its node selector cannot change any more.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("spot-or-on-demand", "affinity_at_creation")
    >>> c.run().ended
    'nothing is left to do'
    >>> c["pod/job-0"].spec.node_selector, c["pod/job-0"].spec.scheduling_gates
    ({'example.com/vm': 'spot'}, ())
    """
    rules = revision_named(base)
    webhook = AdmissionPlugin("InjectMachineType", "Pod", ("create",), inject_machine_type)
    return based_on(rules, "affinity_at_creation", admission_plugins=(*rules.admission_plugins, webhook))


def inject_machine_type(_old: Pod | None, new: Pod, stored: StoredObjects) -> Any:
    """Give a queued pod the machine type of a present node, and take its gate away."""
    gates = tuple(gate for gate in new.spec.scheduling_gates if gate.name != GATE)
    present = sorted({node.metadata.labels[VM] for node in stored.of_kind("Node") if VM in node.metadata.labels})
    if len(gates) == len(new.spec.scheduling_gates) or not present:
        return new
    selector = new.spec.node_selector.merged({VM: present[0]})
    return evolve_parts(new, spec={"scheduling_gates": gates, "node_selector": selector})

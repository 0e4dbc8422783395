"""Other ways to a gated pod's node selection (S4, rejected): more updates, by relaxing the API server's validation, or
a webhook that selects when the pod is created.
"""

from typing import Any

import attrs

from ...api.kinds.directives import with_node_affinity, with_required_node_affinity
from ...api.kinds.meta import evolve, evolve_parts
from ...api.kinds.pod import Pod
from ...controllers.admission import AdmissionPlugin, StoredObjects
from ..named import revision_named
from ..revision import Revision
from .building import based_on


def lax_updates(base: str | Revision = "design") -> Revision:
    """Return rules in which any pod's node selector and node affinity may change at any time, gated or not.

    S4 (Design Details) names two problems. An update races with the scheduler, which may place the pod by what it has
    seen before; behind a gate it cannot. And a policy webhook that looks at a pod's creation alone has judged in vain,
    if an update may widen what it allowed.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched.alternatives import experiment
    >>> experiment("lax_updates").run()
    lax_updates on narrowed-too-late: fails: app is on node-a, and its selector wants topology.kubernetes.io/zone=b
    """
    rules = revision_named(base)
    return based_on(rules, "lax_updates", relaxations=(*rules.relaxations, allow_any_selection))


def added_terms(base: str | Revision = "design") -> Revision:
    """Return rules in which a gated pod's list of node selector terms may grow, as its list of requirements may.

    It reads "only additions" for every list. S4 (Design Details) allows it for requirements alone: terms are ORed, so
    one more lets the pod onto more nodes, and a decision of a policy webhook on creation is void.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched.alternatives import experiment
    >>> experiment("added_terms").run()
    added_terms on one-more-term: fails: app is in zone b; it was created for zone a
    """
    rules = revision_named(base)
    return based_on(rules, "added_terms", relaxations=(*rules.relaxations, allow_added_terms))


def allow_any_selection(old: Any, new: Any) -> Any:
    """Return a pod with the node selector and node affinity of its update, so that both may change."""
    if not isinstance(old, Pod):
        return old
    selecting = evolve(old.spec, node_selector=new.spec.node_selector)
    return evolve(old, spec=with_node_affinity(selecting, new.spec.node_affinity))


def allow_added_terms(old: Any, new: Any) -> Any:
    """Return a gated pod with the terms that its update adds after its own."""
    if not isinstance(old, Pod) or not old.spec.scheduling_gates:
        return old
    before, after = old.spec.required_node_affinity, new.spec.required_node_affinity
    if before is None or after is None or not before.node_selector_terms:
        return old
    count = len(before.node_selector_terms)
    longer = attrs.evolve(before, node_selector_terms=(*before.node_selector_terms, *after.node_selector_terms[count:]))
    return evolve(old, spec=with_required_node_affinity(old.spec, longer))


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

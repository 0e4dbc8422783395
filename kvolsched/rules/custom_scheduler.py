"""The scheduler's volume decisions as a library, for a scheduler of your own (S0, Custom Schedulers).

A pod that names another scheduler needs three things from it: a node, the writes that prebind its volumes or hand its
claims to provisioning for that node, and at last the binding. The first is the choice of your own; `ways` has the rest.
"""

from typing import Any

from ..api import volumes
from ..api.unknown_name import UnknownName
from ..controllers.custom_controller import Seen
from ..controllers.custom_controller.writes import bind
from ..scheduler.columns.snapshot import Snapshot, snapshot
from ..scheduler.framework.extension_points import VolumeDecider
from ..scheduler.framework.judgement import judge
from ..scheduler.plugins.volume_binding.claims import VolumeDecision
from ..world.apiserver import Write, key_of, ref
from .named import revision_named
from .revision import Revision

WATCHES = tuple(sorted(Snapshot.follows))
"""The kinds that a controller watches to ask for `ways`."""


def ways(seen: Seen, pod: Any, revision: str | Revision = "upstream") -> dict[str, list[Write]]:
    """Return the nodes that a pod fits, each with what is to be written next if it is to run there.

    These are the reservations of volumes and the selected nodes that its claims lack; nothing, while others still bind
    or provision them; and once all claims are bound, the binding of the pod.

    Args:
        seen: what the controller has seen; it watches the kinds of `WATCHES`.
        pod: the pod, as it was seen.
        revision: whose rules decide.

    Raises:
        LookupError: the controller does not watch one of the kinds.
        UnknownName: there is no such revision, or none of its plugins decides volumes.
    """
    rules = revision_named(revision)
    view = snapshot(each for kind in WATCHES for each in seen.list(kind))
    view.moment = seen.moment
    binding: Any = rules.profile.extending(VolumeDecider)
    if binding is None:
        raise UnknownName(f"no plugin of the rules {rules.name} decides volumes")
    fit = judge(pod, view, rules.profile).feasible
    return {node: _next_writes(binding.decide(pod, node, view), binding.rules, seen, pod, node) for node in sorted(fit)}


def _next_writes(decision: VolumeDecision, rules: volumes.VolumeRules, seen: Seen, pod: Any, node: str) -> list[Write]:
    """Return what a decision about a node lacks: writes of volumes, then of claims, else the binding of the pod."""
    if not (decision.static or decision.provision):
        return [bind(pod, node)]
    changes: list[tuple[Any, Any]] = []
    for claim, volume in ((seen.get(ref(claim)), seen.get(ref(volume))) for claim, volume in decision.static):
        changes.append((volume, volumes.bind_volume_to_claim(volume, claim)))
    for claim in (seen.get(ref(key)) for key in decision.provision):
        provisioner = seen.get(f"sc/{volumes.class_of_claim(claim)}").provisioner
        changes.append((claim, volumes.with_selected_node(claim, rules.selected_node_value(node, provisioner), rules)))
    return [Write("update", key_of(old), new, old.metadata.resource_version) for old, new in changes if new != old]

"""Catalogue: the edit that makes a volume anew which states a wrong domain: its nodeAffinity cannot be changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from kvolsched.api import volumes
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.node import DOMAIN_LABELS, Node
from kvolsched.api.kinds.selector import Requirement
from kvolsched.api.kinds.volume import (
    BIND_COMPLETED,
    PROVISIONED_BY,
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeNodeAffinity,
)

from .add_volume import bound_to_each_other
from .advice import OPERATOR
from .edit import Edit, ObjectChange
from .replace_claim import CLAIM_COST
from .trial_cluster import TrialCluster


def recreate_volume(claim: PersistentVolumeClaim, volume: PersistentVolume, trial: TrialCluster,
                    near: Sequence[Node]) -> Iterator[Edit]:
    """Make a volume that somebody wrote by hand anew with its true domain, where no node is in the one that it states.

    With the policy Retain the disk and its files stay while volume and claim are gone. The pod is made anew by hand, so
    that it is one that no controller makes.
    """
    by_hand = PROVISIONED_BY not in volume.metadata.annotations and "local" not in volume.spec.rest
    by_hand = by_hand and trial.pod.metadata.controller is None
    moved = by_hand and not any(volumes.volume_fits_node(volume, node) for node in trial.seen.all_nodes())
    if not moved or volume.spec.persistent_volume_reclaim_policy != "Retain":
        return
    name, pod, where = volume.metadata.name, trial.pod, f"-n {trial.key.namespace}"
    do = (f"kubectl get pv {name} -o yaml   # look its disk up at the provider; the policy MUST BE Retain\n"
          f"only if the disk is not where the PV says, go on; else change nothing, and add a node there\n"
          f"keep volume, claim and pod as files; write the domain into {name}.yaml, and no uid into its claimRef\n"
          f"kubectl delete pod {pod.metadata.name} {where}\nkubectl delete pvc {claim.metadata.name} {where}\n"
          f"kubectl delete pv {name}\n"
          f"kubectl apply -f {name}.yaml -f {claim.metadata.name}.yaml -f {pod.metadata.name}.yaml")
    unbound = evolve_parts(claim, metadata={"annotations": claim.metadata.annotations.merged({BIND_COMPLETED: None})})
    unbound = attrs.evolve(unbound, status=type(claim.status)())
    for node in near:
        new = _in_domain_of(node, volume)
        if volumes.volume_fits_node(new, node):
            there = new.spec.required_node_affinity
            words = f"Look up where the disk of volume {name} is: if in truth {there}, make its PV anew with that"
            changes = (ObjectChange(pod, pod, recreate=True), ObjectChange(claim, unbound, recreate=True),
                       ObjectChange(volume, new, recreate=True))  # fmt: skip
            note = f"only if the disk is there, so that {node.metadata.name} can attach it"
            yield Edit(words, CLAIM_COST, changes, "recreate volume", tuple(bound_to_each_other(unbound, new)), note,
                       do=do, data=f"KEPT ON {name} by Retain", who=f"{OPERATOR}; owner of the data")  # fmt: skip


def _in_domain_of(node: Node, volume: PersistentVolume) -> PersistentVolume:
    """Return a volume as it is created, with a node's zone and region where its nodeAffinity has others."""
    def there(part: Requirement) -> Requirement:
        known = part.key in DOMAIN_LABELS and part.operator == "In" and part.key in node.metadata.labels
        return attrs.evolve(part, values=(node.metadata.labels[part.key],)) if known else part

    required, ref = volume.spec.required_node_affinity, volume.spec.claim_ref
    if required is None or ref is None:
        return volume
    terms = tuple(attrs.evolve(term, match_expressions=tuple(map(there, term.match_expressions)))
                  for term in required.node_selector_terms)  # fmt: skip
    affinity = VolumeNodeAffinity(required=attrs.evolve(required, node_selector_terms=terms))
    moved = evolve_parts(volume, spec={"node_affinity": affinity, "claim_ref": attrs.evolve(ref, uid="")})
    return attrs.evolve(moved, status=type(volume.status)())

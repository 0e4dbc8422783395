"""The claims and volumes of a pod: which it uses, and each as a clause that the plugins of storage judge."""

from collections.abc import Iterator
from typing import Any

import attrs

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.volume import PersistentVolumeClaim

from .framework.card import Clause
from .framework.extension_points import ColumnContext


def is_claim_of_pod(pod: Pod, claim: PersistentVolumeClaim | None) -> bool:
    """Say whether a claim is one of a pod's."""
    if claim is None or claim.metadata.namespace != pod.metadata.namespace:
        return False
    return claim.metadata.name in pod.claim_names()


def named_claims(pod: Pod) -> list[str]:
    """Return the names of the claims in a pod's spec, without those of its ephemeral volumes."""
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [source.claim_name for source in sources if source is not None]


def volume_clauses(pod: Pod, columns: ColumnContext, plugin: Any = None) -> Iterator[Clause]:
    """Yield a clause for each volume of the pod: whether the node can use it."""
    for number, volume in enumerate(pod.spec.volumes):
        source = volume.persistent_volume_claim
        if source is None and volume.ephemeral is None:
            words, title = f"volume {volume.name} cannot be used on the node", f"Volume {volume.name} cannot be used"
            clause = Clause("volume", volume.name, words, title=title, kind="The pod's volume cannot be used")
        else:
            name = source.claim_name if source is not None else f"{pod.metadata.name}-{volume.name}"
            clause = _claim_clause(pod, name, columns)
        yield attrs.evolve(clause, pod=evolve_parts(pod, spec={"volumes": (volume,)}), number=number)


def claims_of_reason(pod: Pod, reason: str) -> Clause | None:
    """Return what no single claim explains as a clause about all of them; None for a pod without claims."""
    names = tuple(pod.claim_names())
    if not names:
        return None
    several, together = ("s", " together") if len(names) > 1 else ("", "")
    words = f"the node cannot serve claim{several} {', '.join(names)}{together}: “{reason}”"
    title = f"Claim{several} {', '.join(names)} cannot be served{together}"
    return Clause("claim", ",".join(names), words, title=title, kind=f"The claim{several} cannot be served{together}")


def _claim_clause(pod: Pod, name: str, columns: ColumnContext) -> Clause:
    claim = columns.seen.claim(pod.metadata.namespace, name)
    if claim is None:
        words, title = f"claim {name} does not exist", f"Claim {name} does not exist"
        return Clause("claim", name, words, title, "The claim does not exist")
    volume = columns.seen.volume(claim.spec.volume_name) if claim.spec.volume_name else None
    if volume is not None:
        wanted = volume.spec.required_node_affinity
        reach = f" ({wanted})" if wanted is not None else ""
        words = f"the node does not reach volume {volume.metadata.name} of claim {name}{reach}"
        title, kind = f"Volume of claim {name} is out of reach", "The claim's volume is out of reach"
        return Clause("claim", name, words, title, kind)
    size, class_name = claim.spec.resources.requests.get("storage", ""), claim.spec.storage_class_name
    asked = ", ".join(part for part in (size, f"class {class_name}" if class_name else "no class") if part)
    words = f"claim {name} ({asked}) finds no volume that the node reaches, and none can be provisioned there"
    title = f"Claim {name} finds no volume{f' of {size}' if size else ''}"
    kind = f"The claim finds no volume{f' of class {class_name}' if class_name else ''}"
    return Clause("claim", name, words, title, kind)

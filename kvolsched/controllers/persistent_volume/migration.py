"""What the PV controller notes on claims and volumes of in-tree plugins, before it does anything else with them.

Who acts for a plugin is an annotation; that an in-tree plugin must delete a volume itself is a finalizer. Under
1.11 there is neither.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...api.kinds.meta import Frozen, evolve_parts
from ...api.kinds.volume import (
    BETA_STORAGE_PROVISIONER,
    PROVISIONED_BY,
    STORAGE_PROVISIONER,
    PersistentVolume,
    PersistentVolumeClaim,
)
from ...world.plan import PlanBuilder, reference_of

MIGRATED_TO = "pv.kubernetes.io/migrated-to"
FINALIZER = "kubernetes.io/pv-controller"
FAILED = "persistent Volume Controller can't anneal migration annotations: {error}"


@attrs.frozen
class Migration:
    """The marks of one release: `today` is v1.36.2; `migrated` maps in-tree plugins to CSI drivers."""

    today: bool
    migrated: Mapping[str, str]

    def marked(self, annotations: Frozen, by: str | None) -> Frozen:
        """Return annotations that name the driver which acts for a plugin, or none where there is none."""
        if by is None or not self.today:
            return annotations
        wanted, there = self.migrated.get(by), annotations.get(MIGRATED_TO)
        if wanted == there or (wanted is None and not there):
            return annotations
        return annotations.merged({MIGRATED_TO: wanted})

    def claim(self, decision: PlanBuilder, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Note on a claim which driver acts for its provisioner."""
        known = claim.metadata.annotations
        by = known.get(STORAGE_PROVISIONER) or known.get(BETA_STORAGE_PROVISIONER)
        annotations = self.marked(known, by)
        if annotations is known:
            return claim
        new = evolve_parts(claim, metadata={"annotations": annotations})
        words = f"PV controller notes on {reference_of(claim)} which driver acts for its plugin"
        decision.update(claim, new, words, refusal_words=FAILED)
        return new

    def volume(self, decision: PlanBuilder, volume: PersistentVolume) -> PersistentVolume:
        """Note on a volume which driver acts for who made it, and guard it if an in-tree plugin is to delete it."""
        meta = volume.metadata
        by = meta.annotations.get(PROVISIONED_BY)
        if by is None:
            return volume
        finalizers = meta.finalizers
        if self.today and by.startswith("kubernetes.io/"):
            finalizers = self._guards(volume, by)
        annotations = self.marked(meta.annotations, by)
        if annotations is meta.annotations and finalizers == meta.finalizers:
            return volume
        new = attrs.evolve(
            volume, metadata=attrs.evolve(meta, annotations=annotations, finalizers=finalizers)
        )
        decision.update(volume, new, f"PV controller notes on {reference_of(volume)} who is to delete it", refusal_words=FAILED)
        return new

    def _guards(self, volume: PersistentVolume, by: str) -> tuple[str, ...]:
        finalizers = volume.metadata.finalizers
        if by in self.migrated:
            return tuple(name for name in finalizers if name != FINALIZER)
        if FINALIZER in finalizers or volume.spec.persistent_volume_reclaim_policy != "Delete":
            return finalizers
        return (*finalizers, FINALIZER)

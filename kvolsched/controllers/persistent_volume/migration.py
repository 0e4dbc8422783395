"""Marks that the PV controller sets on claims and volumes of in-tree plugins before it does anything else with them.

An annotation names the CSI driver that acts for a plugin; a finalizer keeps a volume until its in-tree plugin has
deleted the storage. 1.11 had neither.
"""

from collections.abc import Mapping
from typing import ClassVar

import attrs

from ...api.kinds.meta import EMPTY, Frozen, evolve_parts
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
FAILED_VOLUME = "persistent Volume Controller can't anneal migration annotations or finalizer: {error}"


@attrs.frozen
class CSIMigration:
    """The marks of v1.36.2; `drivers` maps an in-tree plugin to the CSI driver that acts for it."""

    drivers: Mapping[str, str]

    def annotated(self, annotations: Frozen, plugin: str | None) -> Frozen:
        """Return annotations that name the plugin's driver, or none if no driver acts for it."""
        if plugin is None:
            return annotations
        driver, present = self.drivers.get(plugin), annotations.get(MIGRATED_TO)
        if driver == present or (driver is None and not present):
            return annotations
        return annotations.merged({MIGRATED_TO: driver})

    def mark_claim(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        """Annotate a claim with the driver that acts for its provisioner."""
        known = claim.metadata.annotations
        annotations = self.annotated(known, known.get(STORAGE_PROVISIONER) or known.get(BETA_STORAGE_PROVISIONER))
        if annotations is known:
            return claim
        new = evolve_parts(claim, metadata={"annotations": annotations})
        words = f"PV controller updates the migration annotation of {reference_of(claim)}"
        plan.update(claim, new, words, refusal_words=FAILED)
        return new

    def mark_volume(self, plan: PlanBuilder, volume: PersistentVolume) -> PersistentVolume:
        """Annotate a volume with the driver of its plugin; guard it if an in-tree plugin is to delete it."""
        meta = volume.metadata
        plugin = meta.annotations.get(PROVISIONED_BY)
        if plugin is None:
            return volume
        finalizers = self._finalizers(volume, plugin) if plugin.startswith("kubernetes.io/") else meta.finalizers
        annotations = self.annotated(meta.annotations, plugin)
        if annotations is meta.annotations and finalizers == meta.finalizers:
            return volume
        new = evolve_parts(volume, metadata={"annotations": annotations, "finalizers": finalizers})
        words = f"PV controller updates the migration annotation and finalizer of {reference_of(volume)}"
        plan.update(volume, new, words, refusal_words=FAILED_VOLUME)
        return new

    def _finalizers(self, volume: PersistentVolume, plugin: str) -> tuple[str, ...]:
        finalizers = volume.metadata.finalizers
        if plugin in self.drivers:
            return tuple(name for name in finalizers if name != FINALIZER)
        if FINALIZER in finalizers or volume.spec.persistent_volume_reclaim_policy != "Delete":
            return finalizers
        return (*finalizers, FINALIZER)


@attrs.frozen
class NoMigration:
    """1.11: in-tree plugins do their own work, and nothing is marked."""

    drivers: ClassVar[Mapping[str, str]] = EMPTY

    def annotated(self, annotations: Frozen, plugin: str | None) -> Frozen:
        return annotations

    def mark_claim(self, plan: PlanBuilder, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        return claim

    def mark_volume(self, plan: PlanBuilder, volume: PersistentVolume) -> PersistentVolume:
        return volume


Migration = CSIMigration | NoMigration

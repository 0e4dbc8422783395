"""StorageClass: provisioner, binding mode and allowed topologies of its volumes."""

from typing import ClassVar

import attrs

from .meta import EMPTY, ApiObject, Frozen, ManifestPart

IMMEDIATE = "Immediate"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
DEFAULT_CLASS_KEYS = (DEFAULT_CLASS, "storageclass.beta.kubernetes.io/is-default-class")


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class TopologySelectorLabelRequirement(ManifestPart):
    """One requirement of allowedTopologies: a key and its values, ORed (S0, Restricting Topology)."""

    key: str = ""
    values: tuple[str, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class TopologySelectorTerm(ManifestPart):
    """One entry of allowedTopologies: expressions are ANDed, the entries ORed (S0, Restricting Topology)."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


@attrs.define(frozen=True, kw_only=True, cache_hash=True, repr=False)
class StorageClass(ApiObject):
    """A class of volumes; `volume_binding_mode` None is Immediate, the default (S0, Delayed Volume Binding)."""

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    provisioner: str = ""
    parameters: Frozen = EMPTY
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()
    mount_options: tuple[str, ...] = ()
    allow_volume_expansion: bool | None = None

    @property
    def delayed(self) -> bool:
        """Whether claims of this class bind only when a pod uses them (WaitForFirstConsumer)."""
        return self.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    @property
    def is_default(self) -> bool:
        """Whether claims without a class get this one: one of the default-class annotations is `true`."""
        return any(self.metadata.annotations.get(key) == "true" for key in DEFAULT_CLASS_KEYS)

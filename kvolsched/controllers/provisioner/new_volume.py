"""Builds the volume that a driver makes for a claim, with its name and the domain that it lies in."""

from collections.abc import Iterable, Mapping, Sequence

from ...api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from ...api.kinds.name_syntax import check_subdomain
from ...api.kinds.node import DOMAIN_LABELS, REGION_LABELS, Node
from ...api.kinds.quantity import canonical
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import (
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
)
from ...api.volumes import claim_ref_of, class_of_claim
from . import topology
from .in_tree_topology import REGIONAL, zones_of_parameters

FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer"
DELETION_SECRET = tuple(f"volume.kubernetes.io/provisioner-deletion-secret-{word}" for word in ("name", "namespace"))


def chooses_zones(storage_class: StorageClass) -> bool:
    """Say whether the driver itself chooses the zones for a class, which names them or wants two."""
    return storage_class.parameters.get("replication-type") == REGIONAL or bool(zones_of_parameters(storage_class))


def volume_name(claim: PersistentVolumeClaim) -> str:
    """Return the name of the volume that every attempt makes for a claim."""
    return f"pvc-{claim.metadata.uid}"


def is_csi(driver: str) -> bool:
    """Say whether a provisioner's name can be that of a CSI driver: `rancher.io/local-path` cannot."""
    return len(driver) <= 63 and not check_subdomain(driver.lower())


def is_on_node(storage_class: StorageClass, driver: str) -> bool:
    """Say whether a provisioner that is no CSI driver makes directories of nodes; else they are of a server.

    The name says so (`k8s.io/minikube-hostpath`; not `nfs.example.com/nfs`), or the class waits for its consumer
    (`rancher.io/local-path`).
    """
    name = driver.lower()
    return "nfs" not in name and (storage_class.delayed or "hostpath" in name)


def _directory(claim: PersistentVolumeClaim, storage_class: StorageClass, driver: str) -> dict[str, Frozen]:
    """Return the source that a provisioner writes which is no CSI driver: a directory of a node, or of a server."""
    host, _, program = driver.partition("/")
    folder = f"{volume_name(claim)}_{claim.metadata.namespace}_{claim.metadata.name}"
    if is_on_node(storage_class, driver):
        return {"hostPath": Frozen({"path": f"/opt/{program or host}/{folder}", "type": "DirectoryOrCreate"})}
    return {"nfs": Frozen({"server": host, "path": f"/{folder}"})}


def volume_for(
    claim: PersistentVolumeClaim, storage_class: StorageClass, driver: str,
    terms: Sequence[Mapping[str, tuple[str, ...]]], *, in_tree: bool, guarded: bool
) -> PersistentVolume:
    """Return a new volume for a claim: bound to it from the start, reachable where the terms say.

    `terms` (ORed) are of label key -> values. A volume of an in-tree plugin is marked as bound by the controller; a
    `guarded` one has the driver's finalizer, and says which secret its deletion needs (none).
    """
    name, annotations = volume_name(claim), Frozen({PROVISIONED_BY: driver})
    source = {"csi": Frozen({"driver": driver, "volumeHandle": name})}
    if not is_csi(driver):
        source = _directory(claim, storage_class, driver)
    if in_tree:
        source = {"gcePersistentDisk": Frozen({"pdName": name})}
        annotations = annotations.merged({BOUND_BY_CONTROLLER: "yes"})
    policy = storage_class.reclaim_policy or "Delete"
    if guarded:
        annotations = annotations.merged(dict.fromkeys(DELETION_SECRET, ""))
    finalizers = (FINALIZER,) if guarded and policy == "Delete" else ()
    size = canonical(claim.spec.resources.requests.get("storage", "0"))
    return PersistentVolume(
        metadata=ObjectMeta(name=name, annotations=annotations, finalizers=finalizers),
        spec=PersistentVolumeSpec(
            capacity=Frozen({"storage": size}), access_modes=claim.spec.access_modes, claim_ref=claim_ref_of(claim),
            persistent_volume_reclaim_policy=policy, storage_class_name=class_of_claim(claim),
            volume_mode=claim.spec.volume_mode,
            node_affinity=topology.node_affinity_of(tuple(term.items()) for term in terms),
            mount_options=storage_class.mount_options, rest=Frozen(source),
            volume_attributes_class_name=(claim.spec.volume_attributes_class_name or None) if "csi" in source else None,
        ),
        status=PersistentVolumeStatus(phase="Pending"),
    )


def with_zone_labels(volume: PersistentVolume, nodes: Iterable[Node]) -> PersistentVolume:
    """Return a zonal volume as plugins made it before volumes had node affinities: zone and region are labels.

    Several zones are joined by `__` (S0, Multi-Zonal PV Upgrade). One with other topology keys is returned as is.
    """
    values: dict[str, set[str]] = {}
    for part in (part for term in volume.spec.node_terms for part in term.match_expressions):
        values.setdefault(part.key, set()).update(part.values)
    if not values or not values.keys() <= {*DOMAIN_LABELS}:
        return volume
    within = [labels for labels in (node.metadata.labels for node in nodes)
              if all(labels.get(key) in domains for key, domains in values.items())]
    for key in REGION_LABELS:
        regions = {labels[key] for labels in within if key in labels}
        if len(regions) == 1:
            values.setdefault(key, regions)
    labels = volume.metadata.labels.merged({key: "__".join(sorted(domains)) for key, domains in values.items()})
    return evolve_parts(volume, metadata={"labels": labels}, spec={"node_affinity": None})


def domain_of(volume: PersistentVolume) -> str:
    """Return the first value of a volume's affinity: the domain that capacity ran out in."""
    parts = (part for term in volume.spec.node_terms for part in term.match_expressions)
    return next((part.values[0] for part in parts), "the cluster")

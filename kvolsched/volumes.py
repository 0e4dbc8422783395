"""The rules of claims and volumes that scheduler and PV controller share: bound, matching, reachable.

Both call the same functions (S0, PV Controller Changes: finding and prebinding are one library), so
that a volume the scheduler chooses is one the controller accepts. Only questions stand here: nothing writes
or remembers. Mirrors component-helpers `pv_helpers.go` and the PV controller's `index.go` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import combinations
from typing import Any

import attrs

from .api.kinds.csi import CSIDriver
from .api.kinds.meta import Frozen, ObjectReference, evolve_parts
from .api.kinds.node import REGION_LABELS, ZONE_LABELS, Node
from .api.kinds.pod import Pod
from .api.kinds.pod_volume import CSIVolumeSource
from .api.kinds.quantity import value
from .api.kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from .api.kinds.storage_class import StorageClass, TopologySelectorTerm
from .api.kinds.volume import (
    BETA_STORAGE_CLASS,
    BETA_STORAGE_PROVISIONER,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    SELECTED_NODE,
    SELECTED_NODE_KEYS,
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeNodeAffinity,
)

ROLLBACK = "pv.kubernetes.io/rollback"  # the mark on a claim that is to be unbound again (S0's sketch)
CONTENT, CLEAN, DIRTY = "content", "clean", "dirty"  # of a claim's status: whether its volume may hold data
FILESYSTEM = "Filesystem"
ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
# In-tree plugins whose work a CSI driver does today: plugin -> driver (csi-translation-lib).
MIGRATED = Frozen(
    {
        "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
        "kubernetes.io/azure-disk": "disk.csi.azure.com",
        "kubernetes.io/azure-file": "file.csi.azure.com",
        "kubernetes.io/cinder": "cinder.csi.openstack.org",
        "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
        "kubernetes.io/portworx-volume": "pxd.portworx.com",
        "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
    }
)


@attrs.frozen(kw_only=True)
class VolumeRules:
    """How a revision's volume rules differ.

    Args:
        phase_matters: only volumes of phase Available match (1.11 did not ask).
        mode_matters: volumeMode must be equal (1.11: behind a gate).
        selected_node_key: the annotation key that is written; every key is read.
        signals_provisioner: that annotation names the provisioner, not the node, and is not assumed (S1).
        lists_by_field: volumes are looked for by the field of their class, though compared by the annotation too, so
            that a claim whose class is only in the beta annotation finds none (1.11's scheduler).
    """

    phase_matters: bool = True
    mode_matters: bool = True
    selected_node_key: str = SELECTED_NODE
    signals_provisioner: bool = False
    lists_by_field: bool = False


UPSTREAM = VolumeRules()
DESIGN = VolumeRules(
    phase_matters=False, mode_matters=False, selected_node_key="volume.alpha.kubernetes.io/selectedNode"
)
DRAFT = attrs.evolve(DESIGN, selected_node_key=BETA_STORAGE_PROVISIONER, signals_provisioner=True)


# -- what a claim and a volume say of themselves ---------------------------------------------------


def claim_key(claim: PersistentVolumeClaim) -> str:
    """Return `namespace/name` of a claim."""
    return f"{claim.metadata.namespace or 'default'}/{claim.metadata.name}"


def claim_ref_key(ref: ObjectReference) -> str:
    """Return `namespace/name` of the claim that a volume's claimRef names."""
    return f"{ref.namespace or 'default'}/{ref.name}"


def claim_ref_of(claim: PersistentVolumeClaim) -> ObjectReference:
    """Return the claimRef that binds a volume to this claim, uid included."""
    return ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.metadata.namespace or "default",
        name=claim.metadata.name,
        uid=claim.metadata.uid,
        resource_version=claim.metadata.resource_version,
    )


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """Return the class a claim asks for, "" for none; the beta annotation wins over the field."""
    annotations = claim.metadata.annotations
    if BETA_STORAGE_CLASS in annotations:
        return str(annotations[BETA_STORAGE_CLASS])
    return claim.spec.storage_class_name or ""


def has_class(claim: PersistentVolumeClaim) -> bool:
    """Say whether a claim names a class at all, "" included: if so, no default is assigned."""
    return BETA_STORAGE_CLASS in claim.metadata.annotations or claim.spec.storage_class_name is not None


def class_of_volume(volume: PersistentVolume) -> str:
    """Return the class a volume is of, "" for none; the beta annotation wins over the field."""
    return str(volume.metadata.annotations.get(BETA_STORAGE_CLASS, volume.spec.storage_class_name))


def requested(claim: PersistentVolumeClaim) -> int:
    """Return the bytes a claim asks for."""
    return value(claim.spec.resources.requests.get("storage", "0"))


def capacity(volume: PersistentVolume) -> int:
    """Return the bytes a volume has."""
    return value(volume.spec.capacity.get("storage", "0"))


def mode(thing: PersistentVolume | PersistentVolumeClaim) -> str:
    """Return the volume mode of a claim or volume; not given means Filesystem."""
    return thing.spec.volume_mode or FILESYSTEM


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Say whether a claim is fully bound: it names its volume and the binding was completed."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def selected_node(claim: PersistentVolumeClaim, options: VolumeRules = UPSTREAM) -> str:
    """Return the node that the scheduler selected for a claim, or ""; the options' key is looked at first."""
    annotations = claim.metadata.annotations
    for key in (options.selected_node_key, *SELECTED_NODE_KEYS):
        if key in annotations:
            return str(annotations[key])
    return ""


def under_rollback(claim: PersistentVolumeClaim) -> bool:
    """Say whether a claim is to be unbound again (S0, Binding multiple PVCs in one transaction)."""
    return ROLLBACK in claim.metadata.annotations


def is_clean(claim: PersistentVolumeClaim) -> bool:
    """Say whether nobody can have written to a claim's volume; one that says nothing counts as dirty."""
    return bool(claim.status.rest.get(CONTENT) == CLEAN)


def with_content(claim: PersistentVolumeClaim, content: str) -> PersistentVolumeClaim:
    """Return a claim whose status says that its volume is clean or dirty."""
    rest = claim.status.rest.merged({CONTENT: content})
    return evolve_parts(claim, status={"rest": rest})


# -- does this volume suit this claim --------------------------------------------------------------


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Say whether a volume's claimRef names this claim: by name, and by uid if it carries one."""
    ref = volume.spec.claim_ref
    if ref is None or ref.name != claim.metadata.name:
        return False
    if (ref.namespace or "default") != (claim.metadata.namespace or "default"):
        return False
    return not ref.uid or ref.uid == claim.metadata.uid


def has_access_modes(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Say whether a volume offers every access mode that a claim asks for."""
    return set(claim.spec.access_modes) <= set(volume.spec.access_modes)


def mode_sets(asked: Iterable[str]) -> Iterable[tuple[str, ...]]:
    """Yield every set of access modes that contains the asked ones, the smallest sets first."""
    asked = set(asked)
    for size in range(len(ACCESS_MODES) + 1):
        for modes in combinations(ACCESS_MODES, size):
            if asked <= set(modes):
                yield modes


def modes_of(volume: PersistentVolume) -> tuple[str, ...]:
    """Return a volume's access modes once each, in Kubernetes' order."""
    return tuple(known for known in ACCESS_MODES if known in volume.spec.access_modes)


def find_matching_volume(
    claim: PersistentVolumeClaim,
    volumes: Iterable[PersistentVolume],
    *,
    node: Node | None = None,
    excluded: Collection[str] = frozenset(),
    delayed: bool = False,
    options: VolumeRules = UPSTREAM,
) -> PersistentVolume | None:
    """Return the volume to bind to a claim, or None.

    A volume that names the claim already is returned at once; else the smallest that fits (first of equals).

    Args:
        claim: the claim to find a volume for.
        volumes: the candidates, in the order in which ties are broken.
        node: the scheduler's path: the volume must be reachable from this node and offer the access modes.
        excluded: names of volumes that are taken by other claims of the pod.
        delayed: the controller's path: a volume that does not name the claim is the scheduler's to choose.
        options: the revision's differences.
    """
    smallest: PersistentVolume | None = None
    need, least = requested(claim), 0
    for volume in volumes:
        ref = volume.spec.claim_ref
        mine = ref is not None and is_bound_to(volume, claim)
        if volume.metadata.name in excluded or (ref is not None and not mine):
            continue
        size = capacity(volume)
        if size < need or not _could_serve(claim, volume, options):
            continue
        if mine:
            return volume if node is None or volume_fits_node(volume, node) else None
        if node is None and delayed:
            continue
        if smallest is not None and size >= least:
            continue
        if is_free_match(claim, volume, node, options):
            smallest, least = volume, size
    return smallest


def _could_serve(claim: PersistentVolumeClaim, volume: PersistentVolume, options: VolumeRules) -> bool:
    """Say whether mode, attributes class and life of a volume allow this claim, prebound or not."""
    if options.mode_matters and mode(claim) != mode(volume):
        return False
    if options.lists_by_field and volume.spec.storage_class_name != (claim.spec.storage_class_name or ""):
        return False
    asked, offered = claim.spec.volume_attributes_class_name, volume.spec.volume_attributes_class_name
    return (asked or "") == (offered or "") and volume.metadata.deletion_timestamp is None


def is_free_match(
    claim: PersistentVolumeClaim,
    volume: PersistentVolume,
    node: Node | None = None,
    options: VolumeRules = UPSTREAM,
) -> bool:
    """Say whether an unclaimed volume suits a claim: phase, selector, class, and from a node its reach."""
    if options.phase_matters and volume.status.phase != "Available":
        return False
    selector = claim.spec.selector
    if selector is not None and not selector.matches(volume.metadata.labels):
        return False
    if class_of_volume(volume) != class_of_claim(claim):
        return False
    return node is None or (has_access_modes(volume, claim) and volume_fits_node(volume, node))


def serves(claim: PersistentVolumeClaim, volume: PersistentVolume, options: VolumeRules = UPSTREAM) -> bool:
    """Say whether a volume that names a claim may be used for it: by size, mode, attributes class and life."""
    return capacity(volume) >= requested(claim) and _could_serve(claim, volume, options)


def suits(claim: PersistentVolumeClaim, volume: PersistentVolume, options: VolumeRules = UPSTREAM) -> bool:
    """Say whether an unclaimed volume suits a claim in everything but size and node (scheduler's path)."""
    return (
        _could_serve(claim, volume, options)
        and has_access_modes(volume, claim)
        and is_free_match(claim, volume, None, options)
    )


# -- topology --------------------------------------------------------------------------------------


def volume_fits_node(volume: PersistentVolume, node: Node) -> bool:
    """Say whether a volume can be reached from a node (S0, Volume Topology Specification).

    No affinity, or one without `required`, lets every node reach it; `required` without terms lets none.
    """
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return affinity.required.matches(node.metadata.labels)


def with_zone_affinity(volume: PersistentVolume) -> PersistentVolume:
    """Return a volume with the node affinity that its zone and region labels mean (S0, Zonal PV Upgrade).

    The labels stay; `a__b` means either; the same object is returned if it has an affinity or no such label.
    """
    if volume.spec.node_affinity is not None:
        return volume
    found = []
    for key in (*reversed(ZONE_LABELS), *reversed(REGION_LABELS)):
        values = tuple(part.strip() for part in str(volume.metadata.labels.get(key, "")).split("__"))
        if "" not in values:
            found.append(Requirement(key=key, operator="In", values=values))
    if not found:
        return volume
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=tuple(found)),))
    return evolve_parts(volume, spec={"node_affinity": VolumeNodeAffinity(required=selector)})


def term_allows(term: TopologySelectorTerm, labels: Mapping[str, str]) -> bool:
    """Say whether labels meet every expression of one entry of allowedTopologies."""
    return all(labels.get(part.key) in part.values for part in term.match_label_expressions)


def topology_allows(storage_class: StorageClass, node: Node) -> bool:
    """Say whether a volume of this class may be provisioned for a node: no list allows all, entries are ORed.

    An entry without expressions allows nothing (component-helpers `MatchTopologySelectorTerms`).
    """
    terms = storage_class.allowed_topologies
    if not terms:
        return True
    labels = node.metadata.labels
    return any(term.match_label_expressions and term_allows(term, labels) for term in terms)


Topology = tuple[tuple[str, str], ...]  # one topology: label keys with their values, sorted by key


def segment_of(labels: Mapping[str, str], keys: Iterable[str]) -> Topology | None:
    """Return the topology that labels say in these keys, or None if one is missing."""
    keys = sorted(set(keys))
    return tuple((key, labels[key]) for key in keys) if all(key in labels for key in keys) else None


def flattened(terms: Iterable[TopologySelectorTerm]) -> list[Topology]:
    """Return allowedTopologies written out: one topology for each choice of values; empty entries vanish.

    The order is external-provisioner's: a later key's values are the outer loop.
    """
    found: list[Topology] = []
    for term in terms:
        combined: list[dict[str, str]] = [{}]
        for part in term.match_label_expressions:
            combined = [{**one, part.key: value} for value in part.values for one in combined]
        found += [tuple(sorted(one.items())) for one in combined if one]
    return found


# -- what a binding writes -------------------------------------------------------------------------


def bind_volume_to_claim(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """Return a volume with its claimRef on this claim; the same object if nothing is to be written.

    `bound-by-controller` marks a volume that no user had prebound to the claim.
    """
    ref = volume.spec.claim_ref
    prebound = ref is not None and is_bound_to(volume, claim)
    annotations = volume.metadata.annotations
    if not prebound:
        annotations = annotations.merged({BOUND_BY_CONTROLLER: "yes"})
    wanted = claim_ref_of(claim)
    if ref is not None and prebound and ref.uid == wanted.uid:
        return volume
    return evolve_parts(volume, metadata={"annotations": annotations}, spec={"claim_ref": wanted})


def with_selected_node(
    claim: PersistentVolumeClaim, node: str, options: VolumeRules = UPSTREAM
) -> PersistentVolumeClaim:
    """Return a claim with the annotation that hands it to provisioning for this node; "" takes it away."""
    keys: dict[str, Any] = dict.fromkeys(SELECTED_NODE_KEYS)
    if node:
        keys = {options.selected_node_key: node}
    annotations = claim.metadata.annotations.merged(keys)
    return evolve_parts(claim, metadata={"annotations": annotations})


# -- inline volumes, as a driver's node service meets them ----------------------------------------

SIZE = "csi.storage.k8s.io/size"


@attrs.frozen(kw_only=True)
class NodeService:
    """The dials of a driver's node service: where its nodes are, and how it takes inline volumes (S2).

    Args:
        segments: node -> topology keys and values that the service reports there.
        strict: entries of publish_context are an error that it does not know, as for drivers written for 1.16.
        size_parameter: the attribute by which it took a size of its own before `fsSize`; "": none.
        heeds_size: it makes volumes of the size that publish_context names; else it ignores it.
    """

    segments: Mapping[str, Mapping[str, str]] = Frozen()
    strict: bool = False
    size_parameter: str = ""
    heeds_size: bool = True

    def refuses(self, source: CSIVolumeSource, context: Mapping[str, str]) -> str:
        """Return why the service does not publish a volume, or ""."""
        if self.strict and context:
            return f"unknown publish_context entry {min(context)}"
        own = self.size_parameter in (source.rest.get("volumeAttributes") or {})
        if self.heeds_size and own and context.get(SIZE):
            return f"the size is given twice: by fsSize and by the parameter {self.size_parameter}"
        return ""


def publish_context(pod: Pod, source: CSIVolumeSource, driver: CSIDriver | None) -> Mapping[str, str]:
    """Return what NodePublishVolume says beside the volume: of the pod, and the size, if the driver asked for it."""
    if driver is None or not driver.spec.pod_info_on_mount:
        return Frozen()
    told = {"pod.name": pod.metadata.name, "pod.namespace": pod.metadata.namespace or "default"}
    told |= {"pod.uid": pod.metadata.uid, "ephemeral": "true", "size": source.fs_size or ""}
    return Frozen({f"csi.storage.k8s.io/{word}": value for word, value in told.items()})


def with_reported_topology(node: Node, services: Iterable[NodeService]) -> Node:
    """Return a node with every segment that is reported for it among its labels; the same object if it has them."""
    told = {key: value for each in services for key, value in each.segments.get(node.metadata.name, {}).items()}
    if told.items() <= node.metadata.labels.items():
        return node
    return evolve_parts(node, metadata={"labels": node.metadata.labels.merged(told)})

"""Rules of claims and volumes that scheduler and PV controller share: bound, matching, reachable from a node.

Both call the same functions (S0, PV Controller Changes: finding and prebinding are one library), so that the controller
accepts every volume that the scheduler chooses. Pure functions over objects: nothing is written or remembered.
Mirrors component-helpers `pv_helpers.go` and the PV controller's `index.go` (v1.36.2).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from itertools import combinations
from typing import Any

import attrs

from .dials import LABELS, LIMIT, SWITCH, TEXT, dial, several
from .kinds.csi import CSIDriver
from .kinds.meta import Frozen, ObjectReference, evolve_parts
from .kinds.node import REGION_LABELS, ZONE_LABELS, Node
from .kinds.pod import CSIVolumeSource, Pod
from .kinds.quantity import value
from .kinds.selector import NodeSelector, NodeSelectorTerm, Requirement
from .kinds.storage_class import NO_PROVISIONER, StorageClass, TopologySelectorTerm
from .kinds.volume import (
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

ROLLBACK = "pv.kubernetes.io/rollback"  # annotation of a claim that is to be unbound again (S0's sketch)
CONTENT, CLEAN, DIRTY = "content", "clean", "dirty"  # field of a claim's status: may its volume hold data?
FILESYSTEM = "Filesystem"
ACCESS_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
# In-tree plugin -> the CSI driver that has replaced it (csi-translation-lib).
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


def claim_key(claim: PersistentVolumeClaim) -> str:
    """Return `namespace/name` of a claim."""
    return f"{claim.metadata.namespace or 'default'}/{claim.metadata.name}"


def claim_ref_key(ref: ObjectReference) -> str:
    """Return `namespace/name` of the claim that a volume's claimRef names."""
    return f"{ref.namespace or 'default'}/{ref.name}"


def claim_ref_of(claim: PersistentVolumeClaim) -> ObjectReference:
    """Return the claimRef that binds a volume to this claim, uid included."""
    return ObjectReference(
        api_version="v1", kind="PersistentVolumeClaim", namespace=claim.metadata.namespace or "default",
        name=claim.metadata.name, uid=claim.metadata.uid, resource_version=claim.metadata.resource_version
    )


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """Return the class that a claim asks for, "" for none; the beta annotation wins over the field."""
    return str(claim.metadata.annotations.get(BETA_STORAGE_CLASS, claim.spec.storage_class_name or ""))


def has_class(claim: PersistentVolumeClaim) -> bool:
    """Say whether a claim names a class, "" included: if so, no default is assigned."""
    return BETA_STORAGE_CLASS in claim.metadata.annotations or claim.spec.storage_class_name is not None


def class_of_volume(volume: PersistentVolume) -> str:
    """Return the class of a volume, "" for none; the beta annotation wins over the field."""
    return str(volume.metadata.annotations.get(BETA_STORAGE_CLASS, volume.spec.storage_class_name))


def requested(claim: PersistentVolumeClaim) -> int:
    """Return the bytes that a claim asks for."""
    return value(claim.spec.resources.requests.get("storage", "0"))


def capacity(volume: PersistentVolume) -> int:
    """Return the bytes of a volume's capacity."""
    return value(volume.spec.capacity.get("storage", "0"))


def mode(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    """Return the volume mode of a claim or volume, by default Filesystem."""
    return obj.spec.volume_mode or FILESYSTEM


def waits_for_pod(claim: PersistentVolumeClaim, storage_class: StorageClass | None) -> bool:
    """Say whether an unbound claim waits for a pod: its class is WaitForFirstConsumer and it names no volume."""
    return storage_class is not None and storage_class.delayed and not claim.spec.volume_name


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Say whether a claim is fully bound: it names its volume, and the PV controller has completed the binding."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def under_rollback(claim: PersistentVolumeClaim) -> bool:
    """Say whether a claim is to be unbound again (S0, Binding multiple PVCs in one transaction)."""
    return ROLLBACK in claim.metadata.annotations


def is_clean(claim: PersistentVolumeClaim) -> bool:
    """Say whether the status of a claim calls its volume clean: nobody can have written to it."""
    return bool(claim.status.rest.get(CONTENT) == CLEAN)


def with_content(claim: PersistentVolumeClaim, content: str) -> PersistentVolumeClaim:
    """Return a claim whose status says that its volume is clean or dirty."""
    return evolve_parts(claim, status={"rest": claim.status.rest.merged({CONTENT: content})})


# -- what differs between releases -----------------------------------------------------------------


def have_same_mode(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Say whether claim and volume have the same volumeMode."""
    return mode(claim) == mode(volume)


def has_class_field(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    """Say whether the class fields of claim and volume agree, whatever their annotations say.

    1.11's scheduler listed volumes by this field and compared them by the annotation too, so a claim whose class is
    only in the beta annotation finds no volume.
    """
    return volume.spec.storage_class_name == (claim.spec.storage_class_name or "")


def is_available(volume: PersistentVolume) -> bool:
    """Say whether a volume is in phase Available."""
    return volume.status.phase == "Available"


def accept_any(*_objects: PersistentVolume | PersistentVolumeClaim) -> bool:
    """Accept every claim and volume: a check that a release does not make."""
    return True


def node_name(node: str, _provisioner: str) -> str:
    """Return the selected node (S0: the provisioner is told where)."""
    return node


def provisioner_name(_node: str, provisioner: str) -> str:
    """Return the provisioner (S1: the provisioner is told that a claim is wanted, not where)."""
    return provisioner


@attrs.frozen(kw_only=True)
class VolumeRules:
    """What differs between releases in matching volumes and in handing claims to provisioning.

    Args:
        modes_match: whether volumeMode suits (1.11: behind a gate, so any).
        is_listed: whether a volume is among those that are searched for a claim (see `has_class_field`).
        is_free: whether an unclaimed volume may be matched (1.11: in any phase).
        selected_node_key: the annotation key that is written; every key is read.
        selected_node_value: what is written there, from the node's and the provisioner's name.
    """

    modes_match: Callable[[PersistentVolumeClaim, PersistentVolume], bool] = have_same_mode
    is_listed: Callable[[PersistentVolumeClaim, PersistentVolume], bool] = accept_any
    is_free: Callable[[PersistentVolume], bool] = is_available
    selected_node_key: str = SELECTED_NODE
    selected_node_value: Callable[[str, str], str] = node_name


UPSTREAM = VolumeRules()
DESIGN_KEY = "volume.alpha.kubernetes.io/selectedNode"
DESIGN = VolumeRules(modes_match=accept_any, is_free=accept_any, selected_node_key=DESIGN_KEY)
DRAFT = attrs.evolve(DESIGN, selected_node_key=BETA_STORAGE_PROVISIONER, selected_node_value=provisioner_name)


def selected_node(claim: PersistentVolumeClaim, rules: VolumeRules = UPSTREAM) -> str:
    """Return the node that the scheduler selected for a claim, or ""; the key of the rules is read first."""
    annotations = claim.metadata.annotations
    for key in (rules.selected_node_key, *SELECTED_NODE_KEYS):
        if key in annotations:
            return str(annotations[key])
    return ""


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Say whether a volume's claimRef names this claim: by name, and by uid if it carries one."""
    ref, meta = volume.spec.claim_ref, claim.metadata
    return (ref is not None and ref.name == meta.name and ref.uid in ("", meta.uid)
            and (ref.namespace or "default") == (meta.namespace or "default"))


def has_access_modes(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Say whether a volume has every access mode that a claim asks for."""
    return set(claim.spec.access_modes) <= set(volume.spec.access_modes)


@lru_cache(maxsize=64)
def mode_sets(requested_modes: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return every set of access modes that contains the requested ones, the smallest sets first."""
    wanted = set(requested_modes)
    every = (modes for size in range(len(ACCESS_MODES) + 1) for modes in combinations(ACCESS_MODES, size))
    return tuple(modes for modes in every if wanted <= set(modes))


def modes_of(volume: PersistentVolume) -> tuple[str, ...]:
    """Return a volume's access modes once each, in Kubernetes' order."""
    return tuple(known for known in ACCESS_MODES if known in volume.spec.access_modes)


def find_matching_volume(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume], *, node: Node | None = None,
    excluded: Collection[str] = frozenset(), delayed: bool = False, rules: VolumeRules = UPSTREAM
) -> PersistentVolume | None:
    """Return the volume to bind to a claim, or None.

    This is the volume whose claimRef names the claim, else the smallest that fits (the first of equals).

    Args:
        claim: the claim to find a volume for.
        volumes: the candidates, in the order in which ties are broken.
        node: the volume must be reachable from this node and have the access modes; None: the PV controller asks.
        excluded: names of volumes that are taken by other claims of the pod.
        delayed: for the PV controller: only a volume whose claimRef names the claim is returned.
        rules: what differs between releases.
    """
    smallest: PersistentVolume | None = None
    request, smallest_size = requested(claim), 0
    for volume in volumes:
        ref = volume.spec.claim_ref
        prebound = ref is not None and is_bound_to(volume, claim)
        if volume.metadata.name in excluded or (ref is not None and not prebound):
            continue
        size = capacity(volume)
        if size < request or not _could_serve(claim, volume, rules):
            continue
        if prebound:
            return volume if node is None or volume_fits_node(volume, node) else None
        if node is None and delayed:
            continue
        if smallest is not None and size >= smallest_size:
            continue
        if is_free_match(claim, volume, node, rules):
            smallest, smallest_size = volume, size
    return smallest


def _could_serve(claim: PersistentVolumeClaim, volume: PersistentVolume, rules: VolumeRules) -> bool:
    """Say whether volumeMode and attributes class suit a claim and the volume is not being deleted."""
    if not rules.modes_match(claim, volume) or not rules.is_listed(claim, volume):
        return False
    wanted, offered = claim.spec.volume_attributes_class_name, volume.spec.volume_attributes_class_name
    return (wanted or "") == (offered or "") and volume.metadata.deletion_timestamp is None


def is_free_match(
    claim: PersistentVolumeClaim, volume: PersistentVolume, node: Node | None = None, rules: VolumeRules = UPSTREAM
) -> bool:
    """Say whether phase, selector and class of an unclaimed volume suit; with a node also access modes and affinity."""
    selector = claim.spec.selector
    return (rules.is_free(volume) and (selector is None or selector.matches(volume.metadata.labels))
            and class_of_volume(volume) == class_of_claim(claim)
            and (node is None or (has_access_modes(volume, claim) and volume_fits_node(volume, node))))


def serves(claim: PersistentVolumeClaim, volume: PersistentVolume, rules: VolumeRules = UPSTREAM) -> bool:
    """Say whether a volume that is prebound to a claim is large enough and could serve it."""
    return capacity(volume) >= requested(claim) and _could_serve(claim, volume, rules)


def suits(claim: PersistentVolumeClaim, volume: PersistentVolume, rules: VolumeRules = UPSTREAM) -> bool:
    """Say whether an unclaimed volume suits a claim for the scheduler, size and node aside."""
    could_serve = _could_serve(claim, volume, rules)
    return could_serve and has_access_modes(volume, claim) and is_free_match(claim, volume, None, rules)


def volume_fits_node(volume: PersistentVolume, node: Node) -> bool:
    """Say whether a volume's node affinity admits a node (S0, Volume Topology Specification).

    No affinity, or one without `required`, admits every node; `required` without terms admits none.
    """
    required = volume.spec.required_node_affinity
    return required is None or required.matches(node.metadata.labels)


def with_zone_affinity(volume: PersistentVolume) -> PersistentVolume:
    """Return a volume with a node affinity made of its zone and region labels (S0, Zonal PV Upgrade).

    The labels stay; `a__b` means either. A volume that has an affinity, or no such label, is returned as it is.
    """
    if volume.spec.node_affinity is not None:
        return volume
    requirements = []
    for key in (*reversed(ZONE_LABELS), *reversed(REGION_LABELS)):
        values = tuple(part.strip() for part in str(volume.metadata.labels.get(key, "")).split("__"))
        if "" not in values:
            requirements.append(Requirement(key=key, operator="In", values=values))
    if not requirements:
        return volume
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=tuple(requirements)),))
    return evolve_parts(volume, spec={"node_affinity": VolumeNodeAffinity(required=selector)})


def has_provisioner(storage_class: StorageClass) -> bool:
    """Say whether a class names a provisioner, so that volumes are made for its claims."""
    return storage_class.provisioner not in ("", NO_PROVISIONER)


def topology_allows(storage_class: StorageClass, node: Node) -> bool:
    """Say whether allowedTopologies of a class admit a node; terms are ORed, and without any every node is admitted.

    A term without expressions admits nothing (component-helpers `MatchTopologySelectorTerms`).
    """
    terms, labels = storage_class.allowed_topologies, node.metadata.labels
    return not terms or any(
        parts and all(labels.get(part.key) in part.values for part in parts)
        for parts in (term.match_label_expressions for term in terms)
    )


Topology = tuple[tuple[str, str], ...]  # one topology: label keys with their values, sorted by key


def segment_of(labels: Mapping[str, str], keys: Iterable[str]) -> Topology | None:
    """Return the values that labels have under these keys, or None if a key is missing."""
    keys = sorted(set(keys))
    return tuple((key, labels[key]) for key in keys) if all(key in labels for key in keys) else None


def flattened(terms: Iterable[TopologySelectorTerm]) -> list[Topology]:
    """Return one topology for each choice of values in allowedTopologies, without those of empty terms.

    The order is external-provisioner's: a later key's values are the outer loop.
    """
    topologies: list[Topology] = []
    for term in terms:
        choices: list[dict[str, str]] = [{}]
        for expression in term.match_label_expressions:
            choices = [{**choice, expression.key: value} for value in expression.values for choice in choices]
        topologies += [tuple(sorted(choice.items())) for choice in choices if choice]
    return topologies


def bind_volume_to_claim(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """Return a volume whose claimRef names this claim with its uid; the given object if it does already.

    The annotation `bound-by-controller` marks a volume that no user had prebound to the claim.
    """
    ref, annotations = volume.spec.claim_ref, volume.metadata.annotations
    claim_ref = claim_ref_of(claim)
    if ref is None:
        annotations = annotations.merged({BOUND_BY_CONTROLLER: "yes"})
    elif ref.uid == claim_ref.uid:
        return volume
    return evolve_parts(volume, metadata={"annotations": annotations}, spec={"claim_ref": claim_ref})


def with_selected_node(claim: PersistentVolumeClaim, node: str, rules: VolumeRules = UPSTREAM) -> PersistentVolumeClaim:
    """Return a claim with the annotation that hands it to provisioning for this node; "" removes all spellings."""
    keys: dict[str, Any] = {rules.selected_node_key: node} if node else dict.fromkeys(SELECTED_NODE_KEYS)
    return evolve_parts(claim, metadata={"annotations": claim.metadata.annotations.merged(keys)})


SIZE = "csi.storage.k8s.io/size"


@attrs.frozen(kw_only=True)
class NodeService:
    """The dials of a driver's node service: the topology it reports, and how it publishes inline volumes (S2)."""

    segments: Mapping[str, Mapping[str, str]] = dial(
        Frozen(), several(LABELS, named=True), "topology keys and values that it reports, by node",
        "S2, Central provisioning: the kubelet copies every reported segment into the labels of its node",
    )
    strict: bool = dial(
        False, SWITCH, "whether an unknown entry of publish_context is an error",
        "S2, Size of ephemeral inline volumes: drivers written for 1.16 might validate strictly",
    )
    size_parameter: str = dial(
        "", TEXT, 'the volume attribute that gave the size before `fsSize`; "": none that excludes `fsSize`',
        "S2, Size of ephemeral inline volumes: it is an error if both are set",
    )
    heeds_size: bool = dial(
        True, SWITCH, "whether volumes get the size in publish_context; else it is ignored",
        "S2, Size of ephemeral inline volumes: ignoring fsSize is no error",
    )
    default_size: str = dial(
        "", LIMIT, 'the size of volumes about whose size it is told nothing; "": that of `fsSize` if it heeds it, or 0'
    )

    def refuses(self, source: CSIVolumeSource, context: Mapping[str, str]) -> str:
        """Return why the service refuses to publish a volume, or ""."""
        if self.strict and context:
            return f"unknown publish_context entry {min(context)}"
        has_parameter = self.size_parameter in (source.rest.get("volumeAttributes") or {})
        if self.heeds_size and has_parameter and context.get(SIZE):
            return f"the size is given twice: by fsSize and by the parameter {self.size_parameter}"
        return ""

    def size_of(self, source: CSIVolumeSource, context: Mapping[str, str]) -> str:
        """Return the size that the service gives a volume: of publish_context, its own parameter, or the default."""
        told = context.get(SIZE) if self.heeds_size else ""
        attributes = source.rest.get("volumeAttributes") or {}
        untold = self.default_size or (self.heeds_size and source.fs_size) or "0"
        return str(told or attributes.get(self.size_parameter or "size") or untold)


def publish_context(pod: Pod, source: CSIVolumeSource, driver: CSIDriver | None) -> Mapping[str, str]:
    """Return the publish_context of NodePublishVolume: the pod and the size, if the driver wants podInfoOnMount."""
    if driver is None or not driver.spec.pod_info_on_mount:
        return Frozen()
    context = {"pod.name": pod.metadata.name, "pod.namespace": pod.metadata.namespace or "default"}
    context |= {"pod.uid": pod.metadata.uid, "ephemeral": "true", "size": source.fs_size or ""}
    return Frozen({f"csi.storage.k8s.io/{key}": value for key, value in context.items()})


def with_reported_topology(node: Node, services: Iterable[NodeService]) -> Node:
    """Return a node with the topology that services report for it in its labels; the given object if it has them."""
    name = node.metadata.name
    labels = {key: value for service in services for key, value in service.segments.get(name, {}).items()}
    if labels.items() <= node.metadata.labels.items():
        return node
    return evolve_parts(node, metadata={"labels": node.metadata.labels.merged(labels)})

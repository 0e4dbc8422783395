"""The table of modelled kinds: class, plural, short names and scope of each, as kubectl knows them."""

from typing import Any

import attrs

from ..notebook_output import ShownAsYaml
from ..unknown_name import UnknownName, did_you_mean
from .csi import CSIDriver, CSINode, CSIStorageCapacity, VolumeAttachment
from .meta import Frozen, ManifestPart, ObjectMeta
from .node import Node
from .pod import Pod
from .policy import LimitRange, PodDisruptionBudget, PriorityClass, ResourceQuota, RuntimeClass
from .service import Service
from .storage_class import StorageClass
from .volume import PersistentVolume, PersistentVolumeClaim
from .workload import DaemonSet, Deployment, Event, Job, Namespace, ReplicaSet, ReplicationController, StatefulSet


@attrs.define(frozen=True, kw_only=True, cache_hash=True, weakref_slot=False, repr=False)
class UnmodelledObject(ShownAsYaml, ManifestPart):
    """An object that is stored, listed and watched, and decides nothing; its kind is a field."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()


@attrs.frozen
class StoredType:
    """What the class of a modelled kind says of it, for a kind that no class models."""

    api_version: str
    kind: str


@attrs.frozen
class Kind:
    """One kind: its class, plural, short names, whether its objects are in a namespace, and what to know of it.

    `note` says of which of its behaviour no answers of real components are recorded; "": of none. `defined` is the
    version of the CustomResourceDefinition that defines it.
    """

    type: Any  # the class that models it, or a `StoredType`
    plural: str
    short: tuple[str, ...] = ()
    namespaced: bool = True
    note: str = ""
    defined: Frozen | None = None

    @property
    def name(self) -> str:
        """The kind as manifests spell it."""
        return str(self.type.kind)

    @property
    def group(self) -> str:
        """The API group, "" for the core group."""
        return str(self.type.api_version).rpartition("/")[0]

    @property
    def resource(self) -> str:
        """The plural with its group, as API messages spell it: `pods`, `storageclasses.storage.k8s.io`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self) -> str:
        """The singular with its group, as kubectl's messages spell it: `pod`, `storageclass.storage.k8s.io`."""
        return f"{self.name.lower()}.{self.group}" if self.group else self.name.lower()

    @property
    def alias(self) -> str:
        """The first word of references such as `pod/web-0`, `pvc/data-0`."""
        return self.short[0] if self.short else self.name.lower()


NOT_RECORDED = "none recorded: by the source of v1.36.2"
KINDS: tuple[Kind, ...] = (
    Kind(Namespace, "namespaces", ("ns",), namespaced=False),
    Kind(Node, "nodes", ("node", "no"), namespaced=False),
    Kind(StorageClass, "storageclasses", ("sc",), namespaced=False),
    Kind(PersistentVolume, "persistentvolumes", ("pv",), namespaced=False),
    Kind(PersistentVolumeClaim, "persistentvolumeclaims", ("pvc",)),
    Kind(Pod, "pods", ("pod", "po")),
    Kind(StatefulSet, "statefulsets", ("sts",)),
    Kind(Deployment, "deployments", ("deploy",)),
    Kind(ReplicaSet, "replicasets", ("rs",)),
    Kind(ReplicationController, "replicationcontrollers", ("rc",), note="recorded but for its controller"),
    Kind(DaemonSet, "daemonsets", ("ds",)),
    Kind(Job, "jobs", note=NOT_RECORDED),
    Kind(Service, "services", ("svc",)),
    Kind(PriorityClass, "priorityclasses", ("pc",), namespaced=False),
    Kind(PodDisruptionBudget, "poddisruptionbudgets", ("pdb",)),
    Kind(LimitRange, "limitranges", ("limits",), note=NOT_RECORDED),
    Kind(ResourceQuota, "resourcequotas", ("quota",), note=NOT_RECORDED),
    Kind(RuntimeClass, "runtimeclasses", namespaced=False, note=NOT_RECORDED),
    Kind(CSINode, "csinodes", namespaced=False),
    Kind(CSIDriver, "csidrivers", namespaced=False),
    Kind(CSIStorageCapacity, "csistoragecapacities"),
    Kind(VolumeAttachment, "volumeattachments", namespaced=False),
    Kind(Event, "events", ("ev",)),
)
KINDS_BY_NAME = {kind.name: kind for kind in KINDS}
_RBAC, _NETWORKING, _RESOURCE = "rbac.authorization.k8s.io/v1", "networking.k8s.io/v1", "resource.k8s.io/v1"
STORED_KINDS: tuple[Kind, ...] = (  # that no rule reads, and that are stored for clients of a served cluster
    Kind(StoredType("v1", "ConfigMap"), "configmaps", ("cm",)),
    Kind(StoredType("v1", "Secret"), "secrets"),
    Kind(StoredType("v1", "ServiceAccount"), "serviceaccounts", ("sa",)),
    Kind(StoredType("v1", "Endpoints"), "endpoints", ("ep",)),
    Kind(StoredType("v1", "PodTemplate"), "podtemplates"),
    Kind(StoredType("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "customresourcedefinitions",
         ("crd", "crds"), namespaced=False),
    Kind(StoredType("apps/v1", "ControllerRevision"), "controllerrevisions"),
    Kind(StoredType("batch/v1", "CronJob"), "cronjobs", ("cj",)),
    Kind(StoredType("coordination.k8s.io/v1", "Lease"), "leases"),
    Kind(StoredType("discovery.k8s.io/v1", "EndpointSlice"), "endpointslices"),
    Kind(StoredType(_NETWORKING, "Ingress"), "ingresses", ("ing",)),
    Kind(StoredType(_NETWORKING, "IngressClass"), "ingressclasses", namespaced=False),
    Kind(StoredType(_NETWORKING, "NetworkPolicy"), "networkpolicies", ("netpol",)),
    Kind(StoredType(_RBAC, "ClusterRoleBinding"), "clusterrolebindings", namespaced=False),
    Kind(StoredType(_RBAC, "ClusterRole"), "clusterroles", namespaced=False),
    Kind(StoredType(_RBAC, "RoleBinding"), "rolebindings"),
    Kind(StoredType(_RBAC, "Role"), "roles"),
    Kind(StoredType(_RESOURCE, "DeviceClass"), "deviceclasses", namespaced=False),
    Kind(StoredType(_RESOURCE, "ResourceClaim"), "resourceclaims"),
    Kind(StoredType(_RESOURCE, "ResourceClaimTemplate"), "resourceclaimtemplates"),
    Kind(StoredType(_RESOURCE, "ResourceSlice"), "resourceslices", namespaced=False),
    Kind(StoredType("storage.k8s.io/v1", "VolumeAttributesClass"), "volumeattributesclasses", ("vac",),
         namespaced=False),
)  # fmt: skip
_STORED_BY_NAME = {kind.name: kind for kind in STORED_KINDS}
_KINDS_BY_WORD = {word: kind for kind in KINDS for word in (kind.plural, kind.name.lower(), *kind.short)}


def is_kind_name(word: str) -> bool:
    """Say whether a modelled kind has this name."""
    return _kind_called(word) is not None


def is_called(kind: str, word: str) -> bool:
    """Say whether a kind that nobody models may be meant by a word: its name, plural, or a short name in common use."""
    name, stored = kind.lower(), _STORED_BY_NAME.get(kind)
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}es" if name.endswith("s") else f"{name}s"
    return word.lower().partition(".")[0] in (name, plural, *(stored.short if stored is not None else ()))


def kind_of(name: str) -> Kind:
    """Return the kind of this name; one that nobody knows has no group."""
    return KINDS_BY_NAME.get(name) or _STORED_BY_NAME.get(name) or Kind(StoredType("", name), f"{name.lower()}s")


def find_kind(word: str) -> Kind:
    """Return the kind with this name, plural or short name: `pods`, `pod`, `po`, `Pod`, `statefulsets.apps`.

    Raises:
        UnknownName: no modelled kind has this name; the message lists the names. It is a KeyError.
    """
    kind = _kind_called(word)
    if kind is None:
        hint = did_you_mean(word.partition(".")[0], list(_KINDS_BY_WORD))
        raise UnknownName(f"unknown kind {word!r}", f"; known: {', '.join(kind.plural for kind in KINDS)}", hint)
    return kind


def _kind_called(word: str) -> Kind | None:
    """Return the kind with this name, plural or short name; None if no kind has it."""
    name, _, group = word.lower().partition(".")
    kind = _KINDS_BY_WORD.get(name)
    return kind if kind is not None and group in ("", kind.group) else None

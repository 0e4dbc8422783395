"""The resources that are served: every modelled kind, and the kinds that are only stored for their clients."""

from collections.abc import Sequence
from typing import Any

import attrs

from ..api.kinds.kind import KINDS, KINDS_BY_NAME
from ..api.kinds.meta import EMPTY, Frozen
from ..api.text.convert import schema
from ..world.log import Key

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
_WORKLOADS = ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController")
_COUNTED = {"CronJob", "Ingress", "IngressClass", "NetworkPolicy"}
_IN_ALL = {*_WORKLOADS, "Pod", "Service", "DaemonSet", "Job", "CronJob"}


@attrs.frozen
class Resource:
    """One resource of the API as discovery lists it; `subresources` has the kind that each of them answers."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    verbs: tuple[str, ...] = VERBS
    subresources: tuple[tuple[str, str, str], ...] = ()  # name, apiVersion and kind
    singular: str = attrs.Factory(lambda self: self.kind.lower(), takes_self=True)
    in_categories: tuple[str, ...] = ()
    defined: Frozen | None = None  # the version of the CustomResourceDefinition that defines it

    @property
    def api_version(self) -> str:
        """Group and version as manifests write them."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """The plural with its group, as messages spell it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def key(self, obj: Any) -> Key:
        """Return the key of an object of this resource."""
        return Key(self.kind, obj.metadata.namespace if self.namespaced else "", obj.metadata.name)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories: `all`, of what `kubectl get all` lists."""
        return self.in_categories or (("all",) if self.kind in _IN_ALL else ())

    @property
    def has_generation(self) -> bool:
        """Whether its objects count the changes of their specs, though no class models them."""
        return self.defined is not None or self.kind in _COUNTED

    @property
    def schema(self) -> Frozen:
        """The schema of a custom resource; an empty one declares nothing."""
        found: Frozen = self.defined["schema"]["openAPIV3Schema"] if self.defined is not None else EMPTY
        return found

    @property
    def is_modelled(self) -> bool:
        """Whether its objects are of a class that rules read."""
        found = KINDS_BY_NAME.get(self.kind)
        return found is not None and found.type.api_version == self.api_version


def _subresources(kind: str, api_version: str) -> tuple[tuple[str, str, str], ...]:
    found = []
    if kind == "Namespace" or "status" in schema()["types"].get(kind, {}):
        found.append(("status", api_version, kind))
    if kind in _WORKLOADS:
        found.append(("scale", "autoscaling/v1", "Scale"))
    if kind == "Pod":
        found += [("binding", "v1", "Binding"), ("eviction", "policy/v1", "Eviction")]
    return tuple(found)


def _modelled() -> list[Resource]:
    found = []
    for kind in KINDS:
        group, _, version = kind.type.api_version.rpartition("/")
        short = tuple(word for word in kind.short if word != kind.name.lower())
        of_kind = _subresources(kind.name, kind.type.api_version)
        found.append(Resource(group, version, kind.plural, kind.name, kind.namespaced, short, VERBS, of_kind))
    return found


CRD, LEASE = "CustomResourceDefinition", "Lease"
_CREATED = ("create",)
_REVIEW = "authorization.k8s.io"
_STORED = (  # of kinds that no rule reads
    Resource("", "v1", "configmaps", "ConfigMap", short=("cm",)),
    Resource("", "v1", "secrets", "Secret"),
    Resource("", "v1", "serviceaccounts", "ServiceAccount", short=("sa",)),
    Resource("", "v1", "endpoints", "Endpoints", short=("ep",)),
    Resource("", "v1", "podtemplates", "PodTemplate"),
    Resource("", "v1", "bindings", "Binding", verbs=_CREATED),
    Resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", CRD, namespaced=False, short=("crd", "crds"),
             subresources=(("status", "apiextensions.k8s.io/v1", CRD),)),
    Resource("apps", "v1", "controllerrevisions", "ControllerRevision"),
    Resource("batch", "v1", "cronjobs", "CronJob", short=("cj",), subresources=(("status", "batch/v1", "CronJob"),)),
    Resource("coordination.k8s.io", "v1", "leases", LEASE),
    Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
    Resource("events.k8s.io", "v1", "events", "Event", short=("ev",)),
    Resource("networking.k8s.io", "v1", "ingresses", "Ingress", short=("ing",)),
    Resource("networking.k8s.io", "v1", "ingressclasses", "IngressClass", namespaced=False),
    Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", short=("netpol",)),
    Resource("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
    Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False),
    Resource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"),
    Resource("rbac.authorization.k8s.io", "v1", "roles", "Role"),
    Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False),
    Resource("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim",
             subresources=(("status", "resource.k8s.io/v1", "ResourceClaim"),)),
    Resource("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate"),
    Resource("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False),
    Resource("storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", namespaced=False,
             short=("vac",)),
    Resource("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False,
             verbs=_CREATED),
    Resource(_REVIEW, "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False, verbs=_CREATED),
    Resource(_REVIEW, "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", namespaced=False, verbs=_CREATED),
)  # fmt: skip
RESOURCES: tuple[Resource, ...] = (*_modelled(), *_STORED)
NAMESPACES = RESOURCES[0]
_BY_PATH = {(each.group, each.version, each.plural): each for each in RESOURCES}
Custom = Sequence[Resource]  # those that CustomResourceDefinitions define


def find_resource(group: str, version: str, plural: str, custom: Custom = ()) -> Resource | None:
    """Return the resource at a path of the API, None if it is not served."""
    path = (group, version, plural)
    found = (each for each in custom if (each.group, each.version, each.plural) == path)
    return _BY_PATH.get(path) or next(found, None)


def group_versions(custom: Custom = ()) -> dict[tuple[str, str], list[Resource]]:
    """Return the resources of each group and version, the core group first."""
    found: dict[tuple[str, str], list[Resource]] = {}
    listed = sorted((*RESOURCES, *custom), key=lambda resource: (resource.group, resource.version, resource.plural))
    for each in listed:
        found.setdefault((each.group, each.version), []).append(each)
    return found


def defined_resource(definition: Any) -> Resource | None:
    """Return the resource of a definition; None if its version of storage is not served."""
    spec = definition.rest.get("spec", EMPTY)
    names, api_group = spec["names"], spec["group"]
    version = next((each for each in spec["versions"] if each.get("storage") and each.get("served")), None)
    if version is None:
        return None
    api_version, asked = f"{api_group}/{version['name']}", version.get("subresources", EMPTY)
    kinds = {"status": (api_version, names["kind"]), "scale": ("autoscaling/v1", "Scale")}
    return Resource(
        api_group, version["name"], names["plural"], names["kind"], spec["scope"] == "Namespaced",
        tuple(names.get("shortNames", ())), subresources=tuple((name, *kinds[name]) for name in kinds if name in asked),
        singular=names["singular"], in_categories=tuple(names.get("categories", ())), defined=version,
    )  # fmt: skip

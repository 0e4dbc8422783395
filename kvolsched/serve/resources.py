"""The resources that are served: every modelled kind, and the kinds that are only stored for their clients."""

from collections.abc import Sequence
from typing import Any

import attrs

from ..api.kinds.kind import KINDS, KINDS_BY_NAME, STORED_KINDS, Kind
from ..api.kinds.meta import EMPTY, Frozen
from ..api.text.convert import schema
from ..kubectl.printers.stored import defined_kind
from ..world.log import Key

CRD, LEASE = "CustomResourceDefinition", "Lease"
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
    categories: tuple[str, ...] = ()  # `all`: of what `kubectl get all` lists
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
    def has_status(self) -> bool:
        """Whether the status is written by a subresource, and by it alone."""
        return any(name == "status" for name, _, _ in self.subresources)

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


_WITH_STATUS = {"Namespace", CRD, "CronJob", "ResourceClaim"}


def _resource_of(kind: Kind) -> Resource:
    """Return the resource of a kind."""
    group, _, version = kind.type.api_version.rpartition("/")
    found = []
    if kind.name in _WITH_STATUS or "status" in schema()["types"].get(kind.name, {}):
        found.append(("status", kind.type.api_version, kind.name))
    if kind.name in _WORKLOADS:
        found.append(("scale", "autoscaling/v1", "Scale"))
    if kind.name == "Pod":
        found += [("binding", "v1", "Binding"), ("eviction", "policy/v1", "Eviction")]
    short = tuple(word for word in kind.short if word != kind.name.lower())
    return Resource(group, version, kind.plural, kind.name, kind.namespaced, short, VERBS, tuple(found),
                    categories=("all",) if kind.name in _IN_ALL else ())  # fmt: skip


_CREATED = ("create",)
_REVIEW = "authorization.k8s.io"
_ASKED = (  # what a client creates for its answer, and a second name of Events
    Resource("", "v1", "bindings", "Binding", verbs=_CREATED),
    Resource("events.k8s.io", "v1", "events", "Event", short=("ev",)),
    Resource("authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False,
             verbs=_CREATED),
    Resource(_REVIEW, "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False, verbs=_CREATED),
    Resource(_REVIEW, "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", namespaced=False, verbs=_CREATED),
)  # fmt: skip
RESOURCES: tuple[Resource, ...] = (*map(_resource_of, (*KINDS, *STORED_KINDS)), *_ASKED)
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
    kind = defined_kind(definition)
    if kind is None or kind.defined is None:
        return None
    names, asked = definition.rest["spec"]["names"], kind.defined.get("subresources", EMPTY)
    kinds = {"status": (kind.type.api_version, kind.name), "scale": ("autoscaling/v1", "Scale")}
    return attrs.evolve(
        _resource_of(kind), short=kind.short, singular=names["singular"], defined=kind.defined,
        subresources=tuple((name, *kinds[name]) for name in kinds if name in asked),
        categories=tuple(names.get("categories", ())),
    )  # fmt: skip

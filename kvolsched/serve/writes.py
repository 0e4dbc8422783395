"""Writes of clients: each is one request to the cluster's API server, and one step of its history.

A patch is applied to the object as its client sees it; the result is written as an update. A dry run is made and taken
back. Mirrors apiserver `endpoints/handlers` and `registry/generic/registry/store.go` (v1.36.2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from ..api.kinds.meta import Frozen, evolve, evolve_parts
from ..api.text.convert import to_plain
from ..api.validation.field_error import FieldError
from ..api.workloads import with_generated_names
from ..controllers.garbage_collector import FOREGROUND, ORPHAN
from ..core.core import CLIENT, USER
from ..world.apiserver import CommittedWrite, RefusedWrite, Write, moment, ref
from ..world.log import Key
from ..world.manifest_patch import PATCH_KINDS
from ..world.namespaces import NAMESPACE, OF_EVERY_CLUSTER, with_phase
from .bodies import (
    APPLY,
    PATCHES,
    UNKNOWN_FORMAT,
    decode_object,
    decoded,
    known_fields,
    media_type,
    read_json,
    read_object,
)  # fmt: skip
from .custom_resources import CLEANUP, admitted, counted, scale_of, with_replicas
from .http import ClientRequest, ServerResponse, is_set, json_response
from .objects import ServedObjects, meta_of
from .ownership import APPLY_OPERATION, UPDATE_OPERATION, Manager, applied, untyped, updated, with_managers
from .resources import CRD, NAMESPACES, RESOURCES, Resource, defined_resource
from .selectors import selector_of
from .status import StatusError, forbidden, invalid, not_found, not_typed, refused_write, success

OTHER_NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"
REJECTED = "the server rejected our request due to an error in our request"
ORPHANED = frozenset({"Job", "ReplicationController"})  # whose dependents stay unless a client says otherwise
PROPAGATION = {"Foreground": FOREGROUND, "Orphan": ORPHAN, "Background": ""}
OPTIONS = {"dryRun": '"All"', "fieldValidation": '"Ignore", "Strict", "Warn"'}  # of a query: what they may be
REVIEWS = frozenset({"SelfSubjectReview", "SelfSubjectAccessReview", "SelfSubjectRulesReview"})
_SERVER_FIELDS = ("selfLink", "managedFields")
_VERBS = {"bindings": "bind", "binding": "bind", "eviction": "evict", "status": "update_status"}


@attrs.frozen
class Target:
    """What a request writes: a resource, the object's key, a subresource or "", and the request itself."""

    resource: Resource
    key: Key
    subresource: str
    request: ClientRequest

    def words(self, verb: str) -> str:
        """Return the sentence of the write: `kubectl creates pod/web-0`."""
        of = f"the {self.subresource} of " if self.subresource in ("status", "scale") else ""
        return f"{self.request.client} {verb} {of}{ref(self.key)}"


def check_options(request: ClientRequest) -> None:
    """Refuse options of a write that no server has."""
    query, is_apply = request.query, request.method == "PATCH" and media_type(request) == APPLY
    faults = [FieldError(name, "NotSupported", query[name], f"supported values: {known}")
              for name, known in OPTIONS.items() if query.get(name, "") not in ("", *json.loads(f"[{known}]"))]
    if is_apply and not query.get("fieldManager"):
        faults.append(FieldError("fieldManager", "Required", detail="is required for apply patch"))
    if not is_apply and is_set(query, "force"):
        faults.append(FieldError("force", "Forbidden", detail="may not be specified for non-apply patch"))
    if faults:
        kind = {"POST": "Create", "PUT": "Update"}.get(request.method, request.method.title()) + "Options"
        raise invalid(Resource("meta.k8s.io", "v1", "", kind), "", *faults)


class WriteRequests:
    """Answers what changes objects, and the reviews, which are only asked by the same verb."""

    def __init__(self, served: ServedObjects, *, is_recorded: bool = True) -> None:
        self.served, self.cluster, self.world = served, served.cluster, served.world
        self.is_recorded = is_recorded  # whether each write is a step of a history

    def create(self, target: Target) -> ServerResponse:
        """Answer a POST to a resource."""
        resource, data = target.resource, read_object(target.request)
        if resource.kind in REVIEWS:
            return json_response({**data, "status": self._review(target, data)}, 201)
        if resource.kind == "Binding":
            key = Key("Pod", target.key.namespace, str(meta_of(data).get("name", "")))
            return self._bind(attrs.evolve(target, key=key, subresource="binding"), data)
        obj, warnings = self._new_object(target, data)
        if resource.kind == NAMESPACE:
            obj = with_phase(obj)
        target = attrs.evolve(target, key=resource.key(obj))
        return self._created(target, updated(resource, None, obj, self._manager(target)), warnings)

    def _created(self, target: Target, obj: Any, warnings: tuple[str, ...]) -> ServerResponse:
        self._check_namespace(target)
        obj = self._admitted(target, None, obj)
        outcome = self._commit(target, [Write("create", target.key, obj, words=target.words("creates"))])
        return ServerResponse(201, self.served.text(outcome.stored), warnings=warnings)

    def _check_namespace(self, target: Target) -> None:
        """Refuse an object in a namespace that is not there or is being deleted (plugin NamespaceLifecycle)."""
        name = target.key.namespace
        found = self.served.objects.get(Key(NAMESPACE, "", name))
        if name and self.is_recorded and found is None:
            raise not_found(NAMESPACES, name)
        if found is not None and found.metadata.deletion_timestamp is not None:
            why = f"unable to create new content in namespace {name} because it is being terminated"
            raise forbidden(target.resource, target.key.name, why)

    def _admitted(self, target: Target, old: Any, new: Any) -> Any:
        return admitted(target.resource, old, new, moment(self.world.log), self.served.custom())

    def _manager(self, target: Target, operation: str = UPDATE_OPERATION) -> Manager:
        """Return who writes, by the query or the name of the program."""
        program = target.request.headers.get("User-Agent", "").partition("/")[0]
        name = target.request.query.get("fieldManager") or program or "unknown"
        return Manager(name, operation, target.resource.api_version, target.subresource, moment(self.world.log))

    def _new_object(self, target: Target, data: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
        """Return the object that a body creates, without what only the server sets."""
        if meta_of(data).get("resourceVersion"):
            raise StatusError("BadRequest", "resourceVersion should not be set on objects to be created")
        data = self._of_request(target, data)
        obj, warnings = decoded(self.served, target.resource, data, target.request.query)
        obj = evolve_parts(obj, metadata={"uid": "", "creation_timestamp": None, "resource_version": 0,
                                          "rest": obj.metadata.rest.with_(generation=None)})  # fmt: skip
        if not obj.metadata.name:
            if not obj.metadata.generate_name:
                missing = FieldError("metadata.name", "Required", detail="name or generateName is required")
                raise invalid(target.resource, "", missing)
            (obj,) = with_generated_names([obj], self.world.seed, {key.name for key in self.world.log.objects})
        return obj, warnings

    def _of_request(self, target: Target, data: dict[str, Any]) -> dict[str, Any]:
        """Return a body as an object of the request's kind and namespace, without fields that only servers write."""
        resource = target.resource
        said = data.get("apiVersion") or resource.api_version, data.get("kind") or resource.kind
        own = resource.api_version, resource.kind
        if said != own:
            given, wanted = (f"{api_version}, Kind={kind}" for api_version, kind in (said, own))
            raise StatusError("BadRequest", f"the kind in the data ({given}) is not the expected kind ({wanted})")
        metadata = data.get("metadata")
        meta = {name: value for name, value in (metadata if isinstance(metadata, dict) else {}).items()
                if name not in _SERVER_FIELDS}  # fmt: skip
        if resource.namespaced:
            namespace = target.key.namespace or "default"
            if meta.setdefault("namespace", namespace) not in ("", namespace):
                raise StatusError("BadRequest", OTHER_NAMESPACE)
            meta["namespace"] = namespace
        head = {"apiVersion": said[0], "kind": said[1]}
        return {**data, **head, "metadata": meta if isinstance(metadata, dict | None) else metadata}

    def update(self, target: Target) -> ServerResponse:
        """Answer a PUT of an object or subresource."""
        data = read_object(target.request)
        if target.subresource == "scale":
            return self._rescaled(target, lambda _: data)
        return self._written(target, self._old(target), data, "replaces", "")

    def patch(self, target: Target) -> ServerResponse:
        """Answer a PATCH: merge, strategic merge, JSON, or server-side apply."""
        media = media_type(target.request)
        if media == APPLY:
            return self._applied(target)
        if media not in PATCHES:
            known = ", ".join((*PATCHES, APPLY))
            raise StatusError("UnsupportedMediaType", f"{UNKNOWN_FORMAT}: {known}")
        patch = read_json(target.request.body, "error decoding patch")

        def patched(plain: dict[str, Any]) -> dict[str, Any]:
            try:
                found = PATCH_KINDS[PATCHES[media]](plain, patch)
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                raise StatusError("Invalid", f"{REJECTED}: {error}") from None
            if not isinstance(found, dict):
                raise StatusError("BadRequest", "the patch leaves no object")
            return found

        if target.subresource == "scale":
            return self._rescaled(target, patched)
        old = self._old(target)
        return self._written(target, old, patched(self.served.plain(old)), "patches", "PATCH")

    def _applied(self, target: Target) -> ServerResponse:
        """Answer a server-side apply, which creates what is not there."""
        resource, query, data = target.resource, target.request.query, read_object(target.request)
        if meta_of(data).get("managedFields"):
            raise StatusError("BadRequest", "metadata.managedFields must be nil")
        data = self._of_request(target, data)
        if isinstance(data["metadata"], dict):
            data["metadata"].setdefault("name", target.key.name)
        old = self._old(target) if target.subresource else self.served.objects.get(target.key)
        obj, unknown, _ = known_fields(self.served, resource, data)
        config, force = to_plain(obj), is_set(query, "force")
        if faults := untyped(resource, data, unknown):
            raise not_typed(target.key, resource, faults)
        plain, managers = applied(resource, old, config, self._manager(target, APPLY_OPERATION), force=force)
        new, _ = decode_object(resource, plain)
        new = with_managers(new, managers)
        if old is None:
            return self._created(target, new, ())
        version = self.served.precondition(str(meta_of(data).get("resourceVersion") or ""))
        return self._replaced(target, old, new, version, "applies", "PATCH", ())

    def _old(self, target: Target) -> Any:
        old = self.served.objects.get(target.key)
        if old is None:
            raise not_found(target.resource, target.key.name)
        return old

    def _written(self, target: Target, old: Any, data: dict[str, Any], verb: str, method: str) -> ServerResponse:
        """Write the new state of an object, or of its status."""
        owners = meta_of(data).get("managedFields") or ()
        data = self._of_request(target, data)
        version = self.served.precondition(str(meta_of(data).get("resourceVersion") or ""))
        new, warnings = decoded(self.served, target.resource, data, target.request.query)
        new = updated(target.resource, old, new, self._manager(target), owners)
        return self._replaced(target, old, new, version, verb, method, warnings)

    def _replaced(
        self, target: Target, old: Any, new: Any, version: int, verb: str, method: str, warnings: tuple[str, ...]
    ) -> ServerResponse:
        """Send the new state of an object, or of its status."""
        of_status = target.subresource == "status"
        has_status = hasattr(old, "status")
        if not has_status and target.resource.has_status:
            new = _with_owners(_with_status(old, new), new) if of_status else _with_status(new, old)
        new = self._admitted(target, old, new)
        generation = old.metadata.rest.get("generation") if of_status else counted(target.resource, old, new)
        new = evolve_parts(new, metadata={"rest": new.metadata.rest.with_(generation=generation)})
        write = Write("update_status" if of_status and has_status else "update", target.key, new, version=version,
                      words=target.words(verb), method=method)  # fmt: skip
        outcome = self._commit(target, [write])
        stored = outcome.stored if outcome.stored is not None else old
        return ServerResponse(200, self.served.text(stored), warnings=warnings)

    def delete_collection(self, target: Target, namespace: str | None) -> ServerResponse:
        """Answer a DELETE of all objects of a resource that selectors choose."""
        options, matches = self._delete_options(target), selector_of(target.resource, target.request.query)
        for key, obj in self.served.stored(target.resource, namespace):
            if matches is None or matches(obj):
                self.delete(attrs.evolve(target, key=key), options)
        return json_response(success(target.resource, "", ""))

    @staticmethod
    def _delete_options(target: Target) -> dict[str, Any]:
        """Return the options of a deletion, from the body and the query."""
        query: dict[str, Any] = {name: target.request.query[name] for name in ("propagationPolicy", "dryRun")
                                 if name in target.request.query}  # fmt: skip
        if "gracePeriodSeconds" in target.request.query:
            text = target.request.query["gracePeriodSeconds"]
            query["gracePeriodSeconds"] = int(text) if text.isdigit() and len(text) < 10 else text
        return {**read_object(target.request, optional=True), **query}

    def delete(self, target: Target, given: Mapping[str, Any] | None = None) -> ServerResponse:
        """Answer a DELETE of one object, with the options of its request or those of a collection."""
        options, old = self._delete_options(target) if given is None else given, self._old(target)
        asked = options.get("preconditions") or {}
        grace, policy = options.get("gracePeriodSeconds"), options.get("propagationPolicy")
        if not isinstance(asked, dict) or not isinstance(grace, int | None) or (grace or 0) < 0:
            raise StatusError("BadRequest", "DeleteOptions: a field has a wrong type")
        if policy not in (None, *PROPAGATION):
            words = f'propagationPolicy: Unsupported value: "{policy}"'
            raise StatusError("Invalid", f'DeleteOptions.meta.k8s.io "" is invalid: {words}')
        if options.get("orphanDependents") is True or (policy is None and target.key.kind in ORPHANED):
            policy = "Orphan"
        uid, version = str(asked.get("uid") or ""), self.served.precondition(str(asked.get("resourceVersion") or ""))
        is_met = uid in ("", old.metadata.uid) and version in (0, old.metadata.resource_version)
        writes = []
        wanted = PROPAGATION.get(policy or "", "")
        kept = tuple(name for name in old.metadata.finalizers if name not in PROPAGATION.values())
        finalizers = (*kept, wanted) if wanted else kept
        is_new = policy is not None and finalizers != old.metadata.finalizers
        if is_met and is_new and old.metadata.deletion_timestamp is None:
            new = evolve_parts(old, metadata={"finalizers": finalizers})
            writes.append(Write("update", target.key, new, words=target.words("deletes")))
        waits = old.kind == "Pod" and old.spec.node_name and not old.terminal
        writes.append(Write("delete", target.key, grace if waits or not grace else None, uid=uid,
                            version=0 if writes else version, words=target.words("deletes")))  # fmt: skip
        if target.key.kind == CRD and old.metadata.deletion_timestamp is None:
            writes += self._deletions_of_objects(target, old)
        if target.key.kind == NAMESPACE:
            writes = self._deletions_in(target) + [each for each in writes if target.key in self.world.log.objects]
        outcome = self._commit(target, writes, dry=bool(options.get("dryRun")))
        stored = self.served.objects.get(target.key) if target.key.kind == NAMESPACE else outcome.stored
        if stored is not None:
            return ServerResponse(200, self.served.text(stored))
        return json_response(success(target.resource, target.key.name, old.metadata.uid))

    def _deletions_in(self, target: Target) -> list[Write]:
        """Return the writes that delete all that is in a namespace, as its controller does."""
        name = target.key.name
        if name in OF_EVERY_CLUSTER:
            raise forbidden(target.resource, name, "this namespace may not be deleted")
        return [Write("delete", key, words=target.words("deletes")) for key in self.world.log.objects
                if key.namespace == name]  # fmt: skip

    def _deletions_of_objects(self, target: Target, definition: Any) -> list[Write]:
        """Return the writes that delete all objects of a definition, and the definition if none of them stays."""
        resource = defined_resource(definition)
        found = self.served.stored(resource, None) if resource is not None else []
        writes = [Write("delete", key, words=target.words("deletes")) for key, _ in found]
        stays = any(obj.metadata.finalizers for _, obj in found)
        return writes if stays else [*writes, _without_cleanup(target.key, definition)]

    def _end_definition(self, resource: Resource) -> None:
        """Remove a deleted definition when the last of its objects is gone."""
        key = Key(CRD, "", f"{resource.plural}.{resource.group}")
        definition = self.world.log.objects.get(key)
        gone = definition is not None and definition.metadata.deletion_timestamp is not None
        if gone and not self.served.stored(resource, None):
            self.cluster._send([_without_cleanup(key, definition)], f"the API server removes {ref(key)}")

    def post(self, target: Target) -> ServerResponse:
        """Answer a POST to `pods/binding` or `pods/eviction`."""
        data = read_object(target.request)
        if target.subresource == "binding":
            return self._bind(target, data)
        options = data.get("deleteOptions") or {}
        asked = isinstance(options, dict) and (options.get("preconditions") or {})
        if not isinstance(asked, dict):
            raise StatusError("BadRequest", "DeleteOptions: a field has a wrong type")
        self._old(target)
        write = Write("evict", target.key, uid=str(asked.get("uid") or ""), words=target.words("evicts"))
        self._commit(target, [write], dry=bool(options.get("dryRun")))
        return _done()

    def _bind(self, target: Target, data: Mapping[str, Any]) -> ServerResponse:
        to = data.get("target")
        node = to.get("name") if isinstance(to, dict) else None
        if not isinstance(node, str) or not node:
            raise StatusError("Invalid", 'Binding "" is invalid: target.name: Required value')
        uid = str(meta_of(data).get("uid") or "")
        self._commit(target, [Write("bind", target.key, node, uid=uid, words=f"{target.words('binds')} to {node}")])
        return _done()

    def scale(self, target: Target) -> ServerResponse:
        """Answer a GET of the subresource scale."""
        return json_response(self._scale_of(target, self._old(target)))

    def _scale_of(self, target: Target, obj: Any) -> dict[str, Any]:
        plain = self.served.plain(obj)
        kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        meta = {name: plain["metadata"][name] for name in kept if name in plain["metadata"]}
        if target.resource.defined is not None:
            head = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta}
            return {**head, **scale_of(target.resource, plain)}
        selector = obj.spec.selector
        labels = dict(getattr(selector, "match_labels", selector) or {})
        status = {"replicas": plain.get("status", {}).get("replicas", 0),
                  "selector": ",".join(f"{name}={value}" for name, value in sorted(labels.items()))}  # fmt: skip
        replicas = obj.spec.replicas
        return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": meta,
                "spec": {"replicas": 1 if replicas is None else replicas}, "status": status}  # fmt: skip

    def _rescaled(self, target: Target, change: Callable[[dict[str, Any]], dict[str, Any]]) -> ServerResponse:
        """Set the replicas of a workload by a changed Scale."""
        old = self._old(target)
        new = change(self._scale_of(target, old))
        spec = new.get("spec")
        replicas = spec.get("replicas", 0) if isinstance(spec, dict) else None
        if not isinstance(replicas, int) or isinstance(replicas, bool):
            raise StatusError("BadRequest", f"spec.replicas: {replicas!r} is no integer")
        version = self.served.precondition(str(meta_of(new).get("resourceVersion") or ""))
        if target.resource.defined is None:
            scaled = evolve_parts(old, spec={"replicas": replicas})
        else:
            scaled = self._admitted(target, old, with_replicas(target.resource, old, replicas))
            generation = counted(target.resource, old, scaled)
            scaled = evolve_parts(scaled, metadata={"rest": scaled.metadata.rest.with_(generation=generation)})
        scaled = updated(target.resource, old, scaled, self._manager(target))
        write = Write("update", target.key, scaled, version=version,
                      words=f"{target.words('writes')}: {replicas} replicas", method="PATCH")  # fmt: skip
        return json_response(self._scale_of(target, self._commit(target, [write]).stored))

    def _review(self, target: Target, data: dict[str, Any]) -> dict[str, Any]:
        """Return who the client is, or what it may do: everything, unless a permission was taken away."""
        if target.resource.kind == "SelfSubjectReview":
            return {"userInfo": {"username": target.request.client, "groups": ["system:authenticated"]}}
        if target.resource.kind == "SelfSubjectRulesReview":
            every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
            return {"resourceRules": [every], "nonResourceRules": [], "incomplete": False}
        spec = data.get("spec")
        asked = spec.get("resourceAttributes") if isinstance(spec, dict) else None
        asked = asked if isinstance(asked, dict) else {}
        known = (*RESOURCES, *self.served.custom())
        kind = next((each.kind for each in known if each.plural == asked.get("resource")), "")
        verb = _VERBS.get(str(asked.get("subresource", "")), str(asked.get("verb", "get")))
        return {"allowed": self.world.present_server().permit(USER, verb, kind)}

    def _commit(self, target: Target, writes: Sequence[Write], *, dry: bool = False) -> CommittedWrite:
        """Send writes of one request, all or none, or try them in a dry run; return the outcome of the last."""
        unwritten = self.served.objects.get(target.key) if target.key.kind == NAMESPACE else None
        if unwritten is not None and writes[-1].key == target.key and target.key not in self.world.log.objects:
            first = Write("create", target.key, unwritten, words=target.words("writes"))
            writes = [first, *(attrs.evolve(write, version=0) for write in writes)]
        if dry or "dryRun" in target.request.query:
            outcomes = self.world.visit(self.world.place, lambda: [self.world.commit(USER, write) for write in writes])
        elif not self.is_recorded:
            outcomes = [self.world.commit(USER, write) for write in writes]
            self.served.forget_past()
        else:
            client = self.served.client(target.request.client)
            words, actor = writes[-1].words, CLIENT + client.name
            try:
                client.begin_write(target.resource, target.key.name)
            except StatusError as error:
                refused = RefusedWrite(writes[-1], error.reason, error.message)
                self.world.record_refused(USER, actor, [refused], words)
                raise
            for write in writes:
                if write.verb in ("create", "update"):
                    self.served.collect(write.new)
            outcomes = self.cluster._send(writes, words, atomic=True, actor=actor)
            client.on_count()
        for outcome in outcomes:
            if isinstance(outcome, RefusedWrite):
                raise refused_write(outcome, target.resource)
        last = outcomes[-1]
        assert isinstance(last, CommittedWrite)
        if target.resource.defined is not None and last.stored is None:
            self._end_definition(target.resource)
        return last


def _with_status(new: Any, status_of: Any) -> Any:
    """Return an object whose status is kept in `rest`, with the status of another."""
    rest: Frozen = new.rest
    return evolve(new, rest=rest.with_(status=status_of.rest.get("status")))


def _with_owners(obj: Any, owners_of: Any) -> Any:
    """Return an object whose fields have the owners that another has."""
    owners = owners_of.metadata.rest.get("managedFields")
    return evolve_parts(obj, metadata={"rest": obj.metadata.rest.with_(managedFields=owners)})


def _without_cleanup(key: Key, definition: Any) -> Write:
    """Return the write that lets a definition go."""
    kept = tuple(name for name in definition.metadata.finalizers if name != CLEANUP)
    new = evolve_parts(definition, metadata={"finalizers": kept})
    return Write("update", key, new, words=f"the API server removes {ref(key)}")


def _done() -> ServerResponse:
    return json_response({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, 201)

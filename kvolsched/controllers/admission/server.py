"""Admission of a write: plugins and webhooks that change it, defaults, validation, then those that only refuse.

A refusal names all faults that validation finds, in the API server's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs

from ...api import defaults
from ...api.kinds.kind import KINDS_BY_NAME, find_kind
from ...api.kinds.meta import evolve, evolve_parts
from ...api.kinds.workload import Job
from ...api.unknown_name import UnknownName, did_you_mean
from ...api.unmodelled_defaults import with_unmodelled_defaults
from ...api.validation import validate as validation
from ...api.validation.field_error import FieldError
from ...api.validation.immutable_fields import validate_update
from ...api.validation.volume_rules import validate_csi_driver_status
from ...world.apiserver import Denial, Permit, Write, key_of, next_uid
from ...world.log import Note
from .plugin import AdmissionPlugin, StoredObjects
from .plugins import PLUGINS
from .webhooks import Webhook, call_mutating, call_validating, waiting_time

Permissions = Mapping[str, frozenset[tuple[str, str]]]
PERMISSIONS: Permissions = {  # component -> verb, kind
    "kube-scheduler": frozenset({
        ("bind", "Pod"), ("patch", "Pod"), ("delete", "Pod"), ("update", "PersistentVolume"),
        ("update", "PersistentVolumeClaim"),
    }),
}


def permissions_without(denied: Mapping[str, Iterable[str]], granted: Permissions = PERMISSIONS) -> Permit:
    """Return the check of permissions with some of them taken away.

    Args:
        denied: component -> what it may not do: `update persistentvolumes`, `get nodes` (S0, New Permissions).
        granted: what the components that are listed may do.

    Raises:
        ValueError: a denial is not a verb and a kind.
    """
    denials: set[tuple[str, str, str]] = set()
    for component, texts in denied.items():
        for text in texts:
            verb, _, kind = text.partition(" ")
            if not kind:
                raise ValueError(f"{component}: cannot deny {text!r}; write for example 'update persistentvolumes'")
            denials.add((component, verb, find_kind(kind).name))

    def permit(component: str, verb: str, kind: str) -> bool:
        allowed = granted.get(component)
        denied_verb = "update" if verb == "update_status" else verb
        has_permission = verb == "get" or allowed is None or (verb, kind) in allowed
        return has_permission and (component, denied_verb, kind) not in denials

    return permit


# Kinds whose status only its subresource writes: they are created with an empty one; a node may have one.
_CREATED_WITHOUT_STATUS = frozenset({
    "Pod", "PersistentVolume", "PersistentVolumeClaim", "PodDisruptionBudget", "StatefulSet", "Deployment",
    "ReplicaSet", "ReplicationController", "DaemonSet", "Job", "ResourceQuota",
})


@attrs.frozen(slots=False)
class Admission:
    """Admits a write with these admission plugins and webhooks; `relax` changes the old object for immutability."""

    plugins: tuple[AdmissionPlugin, ...] = PLUGINS
    relax: Callable[[Any, Any], Any] = lambda old, _new: old
    webhooks: tuple[Webhook, ...] = ()

    def without(self, *names: str) -> Admission:
        """Return this admission without some plugins, as `--disable-admission-plugins` does.

        Raises:
            ValueError: there is no such plugin.
        """
        known = {plugin.name for plugin in PLUGINS}
        if unknown := [name for name in names if name not in known]:
            hint = did_you_mean(unknown[0], known)
            raise UnknownName(f"no admission plugin {', '.join(unknown)}; there are: {', '.join(sorted(known))}{hint}")
        return attrs.evolve(self, plugins=tuple(plugin for plugin in self.plugins if plugin.name not in names))

    @cached_property
    def _plugins_for(self) -> Mapping[tuple[str, str, bool], tuple[AdmissionPlugin, ...]]:
        """The plugins by verb, kind, and whether they are called after validation."""
        found: dict[tuple[str, str, bool], tuple[AdmissionPlugin, ...]] = {}
        for plugin in self.plugins:
            for verb in plugin.verbs:
                group = (verb, plugin.kind, plugin.refuses)
                found[group] = (*found.get(group, ()), plugin)
        return found

    def __call__(self, verb: str, old: Any, new: Any, stored: StoredObjects) -> Any:
        """Return the object to store, or a `Denial`; a patch is of a status, a delete asks only webhooks."""
        if verb == "delete":
            return self._call_webhooks(verb, old, new, stored)
        if verb == "patch":
            return self._admit_status(old, new, stored)
        if verb not in ("create", "update") or new.kind not in KINDS_BY_NAME:
            return new
        if new.metadata.namespace and not KINDS_BY_NAME[new.kind].namespaced:
            new = evolve_parts(new, metadata={"namespace": ""})  # the server clears it; it does not refuse it
        if verb == "create" and new.kind in _CREATED_WITHOUT_STATUS and new.status != (empty := type(new.status)()):
            new = evolve(new, status=empty)
        new = self._call_plugins(verb, old, new, stored, refuses=False)
        if self.webhooks and not isinstance(new, Denial):
            new = call_mutating(self.webhooks, verb, old, defaults.with_defaults(new), _notes(stored))
        if isinstance(new, Denial):
            return new
        new = self._filled_in(old, new, stored)
        faults = validation.validate(new)
        if old is not None:
            faults = [*faults, *validate_update(self.relax(old, new), new)]
        if faults:
            return deny_invalid(new, faults)
        new = self._call_plugins(verb, old, new, stored, refuses=True)
        if not self.webhooks or isinstance(new, Denial):
            return new
        return call_validating(self.webhooks, verb, old, new, _notes(stored))

    @staticmethod
    def _filled_in(old: Any, new: Any, stored: StoredObjects) -> Any:
        """Return an object with the server's defaults, and with what the server counts of its changes."""
        new = defaults.with_defaults(new) if new.kind != "Job" or old is not None else _new_job(new, stored)
        if old is not None and new.kind == "DaemonSet":
            new = defaults.with_template_generation(old, new)
        if old is None or (filled := with_unmodelled_defaults(old)) is old or filled == old:
            new = with_unmodelled_defaults(new)  # loaded objects stay as loaded
        return new

    def _admit_status(self, old: Any, new: Any, stored: StoredObjects) -> Any:
        """Return the object with the status to store, or a `Denial`: no status may have faults that users can write."""
        new = self._call_plugins("patch", old, new, stored, refuses=False)
        if isinstance(new, Denial):
            return new
        faults = list(validate_csi_driver_status(new)) if new.kind == "CSIDriver" else []  # no other is judged (S2)
        return deny_invalid(new, faults) if faults else new

    def waiting_time(self, write: Write, stored: StoredObjects) -> float:
        """Return how many seconds a write waits for the answers of slow webhooks."""
        if not self.webhooks:
            return 0.0
        verb = "update" if getattr(write.new, "admitted", False) else write.verb
        return waiting_time(self.webhooks, verb, write.key.kind, _notes(stored))

    def _call_webhooks(self, verb: str, old: Any, new: Any, stored: StoredObjects) -> Any:
        new = call_mutating(self.webhooks, verb, old, new, _notes(stored))
        if isinstance(new, Denial):
            return new
        return call_validating(self.webhooks, verb, old, new, _notes(stored))

    def _call_plugins(self, verb: str, old: Any, new: Any, stored: StoredObjects, *, refuses: bool) -> Any:
        for plugin in self._plugins_for.get((verb, new.kind, refuses), ()):
            new = plugin.rule(old, new, stored)
            if isinstance(new, Denial):
                return new
        return new


def _new_job(new: Job, stored: StoredObjects) -> Job:
    """Return a new Job with defaults and its uid, which is in its selector."""
    uid = new.metadata.uid or next_uid(_notes(stored), key_of(new))
    return defaults.with_generated_selector(defaults.with_defaults(new), uid)


DEFAULT_ADMISSION = Admission()


def _notes(stored: StoredObjects) -> Mapping[Note, Any]:
    """Return the world's notes, where outages are; none if only objects are known."""
    return getattr(stored, "notes", {})


def deny_invalid(obj: Any, faults: Iterable[FieldError]) -> Denial:
    """Return the API server's refusal of an invalid object, with each fault as a cause."""
    causes = tuple(faults)
    kind = KINDS_BY_NAME[obj.kind]
    name = f"{obj.kind}.{kind.group}" if kind.group else obj.kind
    messages = list(dict.fromkeys(map(str, causes)))
    joined = messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"
    return Denial("Invalid", f'{name} "{obj.metadata.name}" is invalid: {joined}', causes)

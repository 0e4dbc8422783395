"""How a write is admitted: plugins that change it, defaults, validation, and plugins that only refuse, in this order.

A refused write says every fault of validation at once, in the API server's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs

from ..api import defaults
from ..api.kinds.kind import KINDS_BY_NAME
from ..api.kinds.meta import evolve
from ..api.kinds.pod import Pod, PodStatus
from ..api.kinds.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from ..api.kinds.volume import (
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeStatus,
)
from ..api.kinds.workload import (
    DaemonSet,
    DaemonSetStatus,
    Deployment,
    DeploymentStatus,
    ReplicaSet,
    ReplicaSetStatus,
    StatefulSet,
    StatefulSetStatus,
)
from ..api.unmodelled_defaults import with_unmodelled_defaults
from ..api.validation import validate as validation
from ..api.validation.field_error import FieldError
from ..api.validation.immutable_fields import validate_update
from ..world.apiserver import Denial
from .plugins import PLUGINS, AdmissionPlugin, StoredObjects

# Kinds whose status only its own subresource writes: what a new object says of it is dropped. A node brings its own.
_FRESH: Mapping[type[Any], Any] = {
    Pod: PodStatus(),
    PersistentVolume: PersistentVolumeStatus(),
    PersistentVolumeClaim: PersistentVolumeClaimStatus(),
    PodDisruptionBudget: PodDisruptionBudgetStatus(),
    StatefulSet: StatefulSetStatus(),
    Deployment: DeploymentStatus(),
    ReplicaSet: ReplicaSetStatus(),
    DaemonSet: DaemonSetStatus(),
}


@attrs.frozen(slots=False)
class Admission:
    """What an API server makes of a create or an update, with these admission plugins on."""

    plugins: tuple[AdmissionPlugin, ...] = PLUGINS
    seen_as: Callable[[Any, Any], Any] = lambda old, _new: old  # the old object as what may not change is asked of it

    def without(self, *names: str) -> Admission:
        """Return the same with plugins off, as `--disable-admission-plugins` does.

        Raises:
            ValueError: there is no such plugin.
        """
        known = {plugin.name for plugin in PLUGINS}
        if unknown := [name for name in names if name not in known]:
            raise ValueError(f"no admission plugin {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
        return attrs.evolve(self, plugins=tuple(plugin for plugin in self.plugins if plugin.name not in names))

    @cached_property
    def _asked(self) -> Mapping[tuple[str, str, bool], tuple[AdmissionPlugin, ...]]:
        """The plugins by verb, kind, and whether they are asked after validation."""
        found: dict[tuple[str, str, bool], tuple[AdmissionPlugin, ...]] = {}
        for plugin in self.plugins:
            for verb in plugin.verbs:
                place = (verb, plugin.kind, plugin.refuses)
                found[place] = (*found.get(place, ()), plugin)
        return found

    def __call__(self, verb: str, old: Any, new: Any, stored: StoredObjects) -> Any:
        """Return the object to store, or `Deny`; other verbs than create and update pass."""
        if verb not in ("create", "update") or new.kind not in KINDS_BY_NAME:
            return new
        if verb == "create" and type(new) in _FRESH and new.status != _FRESH[type(new)]:
            new = evolve(new, status=_FRESH[type(new)])
        new = self._ask(verb, old, new, stored, refuses=False)
        if isinstance(new, Denial):
            return new
        new = defaults.with_defaults(new)
        if old is None or with_unmodelled_defaults(old) == old:  # an object loaded as it was found stays so
            new = with_unmodelled_defaults(new)
        faults = validation.validate(new)
        if old is not None:
            faults = [*faults, *validate_update(self.seen_as(old, new), new)]
        if faults:
            return deny_invalid(new, faults)
        return self._ask(verb, old, new, stored, refuses=True)

    def _ask(self, verb: str, old: Any, new: Any, stored: StoredObjects, *, refuses: bool) -> Any:
        for plugin in self._asked.get((verb, new.kind, refuses), ()):
            new = plugin.rule(old, new, stored)
            if isinstance(new, Denial):
                return new
        return new


DEFAULT_ADMISSION = Admission()


def deny_invalid(obj: Any, faults: Iterable[FieldError]) -> Denial:
    """Return the API server's refusal of an object that validation does not take, with each fault as a cause."""
    causes = tuple(faults)
    kind = KINDS_BY_NAME[obj.kind]
    name = f"{obj.kind}.{kind.group}" if kind.group else obj.kind
    words = list(dict.fromkeys(map(str, causes)))
    said = words[0] if len(words) == 1 else f"[{', '.join(words)}]"
    return Denial("Invalid", f'{name} "{obj.metadata.name}" is invalid: {said}', causes)

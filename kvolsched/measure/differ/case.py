"""A cluster to judge by two sets of rules: what is found there, what a user then creates, and kubectl commands."""

from functools import cached_property
from typing import Any

import attrs

from ...api.defaults import with_defaults
from ...api.text import manifest
from ...api.validation.validate import validate

Plain = dict[str, Any]
WORKLOADS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet"})


class ImpossibleCase(ValueError):
    """Raised when the objects of a case cannot be read, or cannot be there; says why."""


@attrs.frozen(slots=False)
class Case:
    """Manifests, and commands that come once nobody has anything left to do.

    Pods without a node, claims without a volume and workloads are created by a user, so that the API server and its
    webhooks judge them; all other objects are there from the start, as `Cluster.from_manifests` loads them.

    Args:
        objects: manifests as plain data, in the order of their creation.
        commands: kubectl command lines, each given when the one before has had its effects.
    """

    objects: tuple[Plain, ...]
    commands: tuple[str, ...] = ()

    @cached_property
    def found(self) -> tuple[Any, ...]:
        """The objects that are there from the start.

        Raises:
            ImpossibleCase: they cannot be read, or no API server would have created one of them.
        """
        try:
            found = manifest.read([each for each in self.objects if not _is_new(each)]).objects
        except manifest.ManifestError as why:
            raise ImpossibleCase(str(why)) from why
        if faults := [str(fault) for obj in found for fault in validate(with_defaults(obj))]:
            raise ImpossibleCase("; ".join(faults))
        return found

    @property
    def created(self) -> tuple[Plain, ...]:
        """The objects that a user creates."""
        return tuple(each for each in self.objects if _is_new(each))

    @property
    def manifests(self) -> str:
        """The objects as YAML, to be saved and loaded; commands follow as comments."""
        said = "".join(f"# then: {command}\n" for command in self.commands)
        return manifest.write(self.objects) + said

    @property
    def size(self) -> tuple[int, int]:
        """How large it is: by objects and commands, then by characters."""
        return len(self.objects) + len(self.commands), len(self.manifests)


def _is_new(obj: Plain) -> bool:
    """Say whether an object is one that a user creates while the others are there."""
    spec, kind = obj.get("spec") or {}, obj.get("kind")
    awaited = {"Pod": "nodeName", "PersistentVolumeClaim": "volumeName"}
    return kind in WORKLOADS or (kind in awaited and isinstance(spec, dict) and not spec.get(awaited[kind]))

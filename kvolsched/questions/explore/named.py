"""The objects that a search's words name: one that nothing could create is an error, one that never was is told.

What is never there is never Running, so a misspelled name would prove anything.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kvolsched.api.unknown_name import UnknownName, did_you_mean
from kvolsched.api.workloads import WORKLOADS
from kvolsched.controllers.custom_controller import is_custom
from kvolsched.core.conditions import missing_object, named_keys
from kvolsched.core.core import ClusterCore
from kvolsched.world.apiserver import ref
from kvolsched.world.log import Key

from .transitions import ChosenFault, UserAct

KEPT = 40  # characters of a workload's name that begin the names of its pods, however long it is


class NamedObjects:
    """The objects that words name and that no visited state has had yet. Mutable."""

    def __init__(self, properties: Sequence[Any], objects: Mapping[Key, Any]) -> None:
        words = dict.fromkeys(each for each in properties if isinstance(each, str))
        self.missing = {each: named_keys(each, objects) for each in words if missing_object(each, objects)}

    def notice(self, objects: Mapping[Key, Any]) -> None:
        """Take note of the objects of a visited state."""
        for words in [words for words, keys in self.missing.items() if any(key in objects for key in keys)]:
            del self.missing[words]

    def check(self, cluster: ClusterCore, faults: Sequence[ChosenFault]) -> None:
        """Refuse words about an object that nothing in a cluster could create.

        A user, and a controller of the user's own, may create anything.

        Raises:
            UnknownName: there is no such object, and no workload could create it. It is a ValueError.
        """
        objects = cluster.world.log.objects
        own = any(is_custom(process.component) for process in cluster.world.processes.values())
        if own or any(isinstance(fault, UserAct) for fault in faults):
            return
        for words, keys in self.missing.items():
            missing = missing_object(words, objects)
            if missing is not None and not any(_may_come(key, objects) for key in keys):
                sentence = f"{missing.looked_for}, and no workload would create it"
                raise UnknownName(sentence, missing.there, missing.near)

    def sentences(self, objects: Mapping[Key, Any]) -> tuple[str, ...]:
        """Return a sentence for each object that no visited state had, with the nearest names."""
        found = []
        for keys in self.missing.values():
            there = {ref(key): key.name for key in sorted(objects) if key.kind in {each.kind for each in keys}}
            hint = did_you_mean(keys[0].name, there, compared=there.__getitem__)
            found.append(f"{ref(keys[0])} existed in no visited state{hint}")
        return tuple(dict.fromkeys(found))


def _may_come(key: Key, objects: Mapping[Key, Any]) -> bool:
    """Whether a component of Kubernetes may create an object; certain only of pods and claims."""
    workloads = [other for other in objects if other.kind in WORKLOADS and other.namespace == key.namespace]
    if key.kind == "Pod":
        return any(key.name.startswith(f"{workload.name}-"[:KEPT]) for workload in workloads)
    if key.kind == "PersistentVolumeClaim":
        return bool(workloads) or any(
            volume.ephemeral is not None
            for other, pod in objects.items() if other.kind == "Pod" and other.namespace == key.namespace
            for volume in pod.spec.volumes
        )  # fmt: skip
    return True

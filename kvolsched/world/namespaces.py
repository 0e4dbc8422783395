"""The namespaces that a cluster has though nobody loaded them: those of every cluster, and those that objects are in.

They are read like stored ones. No component watches them, and no rule asks for them: a label that decides is loaded.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ..api.defaults import with_defaults
from ..api.kinds.meta import ObjectMeta, evolve, freeze
from ..api.kinds.workload import Namespace
from .apiserver import ORIGIN, next_uid, timestamp
from .log import Key, Log

OF_EVERY_CLUSTER = ("default", "kube-node-lease", "kube-public", "kube-system")
NAMESPACE = Namespace.kind


class ReadObjects(Mapping[Key, Any]):
    """The objects of a log as a reader of the API gets them, with such namespaces."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def __getitem__(self, key: Key) -> Any:
        found = self._log.objects.get(key)
        if found is not None:
            return found
        if key[0] == NAMESPACE and not key[1] and (key[2] in OF_EVERY_CLUSTER or self._objects_in(key[2])):
            return self._unwritten(key)
        raise KeyError(key)

    def __iter__(self) -> Iterator[Key]:
        objects, names = self._log.objects, set(OF_EVERY_CLUSTER)
        for key in objects:
            if key[1]:
                names.add(key[1])
            yield key
        yield from (key for name in sorted(names) if (key := Key(NAMESPACE, "", name)) not in objects)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _objects_in(self, namespace: str) -> list[Any]:
        return [obj for key, obj in self._log.objects.items() if key[1] == namespace and key[0] != "Event"]

    def _unwritten(self, key: Key) -> Namespace:
        """Return a namespace that nobody wrote: it is being deleted if all that is in it is."""
        notes = self._log.notes
        ends = [obj.metadata.deletion_timestamp for obj in self._objects_in(key.name)]
        end = max(ends) if ends and None not in ends and key.name not in OF_EVERY_CLUSTER else None
        return with_phase(with_defaults(Namespace(metadata=ObjectMeta(
            name=key.name, uid=next_uid(notes, key), creation_timestamp=timestamp(notes.get(ORIGIN, 0.0)),
            deletion_timestamp=end))))  # fmt: skip


def with_phase(namespace: Namespace) -> Namespace:
    """Return a namespace with what the API server writes into a new one."""
    phase = "Active" if namespace.metadata.deletion_timestamp is None else "Terminating"
    rest = namespace.rest.with_(spec=freeze({"finalizers": ["kubernetes"]}), status=freeze({"phase": phase}))
    return evolve(namespace, rest=rest)

"""The cluster that edits are tried on: objects and their snapshot, changed for one trial and restored."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

from ...api.kinds.meta import Frozen
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...api.volumes import class_of_claim
from ...scheduler.columns.snapshot import Snapshot, snapshot_of
from ...scheduler.framework.judgement import Judgement, judge
from ...scheduler.framework.profile import Profile
from ...world.apiserver import key_of
from ...world.log import Key
from ..why.demands import Demand, demands, group_nodes_by_demands, node_with_most_left
from .edit import ObjectChange

MAX_NEAR_NODES = 3  # nodes on which edits of nodes are tried
MAX_ALIKE_NODES = 20  # of which the emptiest is taken


class TrialCluster:
    """A pending pod, all objects and their snapshot. Mutable: `with_changes` changes it for the length of a block.

    Args:
        objects: the objects as the scheduler sees them.
        pod: the pending pod.
        profile: the scheduler's plugins.
        seen: the snapshot of the objects, at whose moment the pod is judged; None: it is built, and has none.
    """

    def __init__(self, objects: Mapping[Key, Any], pod: Key, profile: Profile, seen: Snapshot | None = None) -> None:
        self.objects = {key: obj for key, obj in objects.items() if not isinstance(obj, Frozen)}
        self.stored = frozenset(self.objects)
        self.key = pod
        self.profile = profile
        self.seen: Snapshot = snapshot_of(objects) if seen is None else seen.copied()

    @property
    def pod(self) -> Pod:
        """The pod with the changes of this trial."""
        pod: Pod = self.objects[self.key]
        return pod

    def of_kind(self, kind: str) -> list[Any]:
        """Return the objects of a kind, sorted by key."""
        return [obj for key, obj in sorted(self.objects.items()) if key.kind == kind]

    def get(self, kind: str, name: str, namespace: str = "") -> Any:
        """Return an object, or None if it does not exist."""
        return self.objects.get(Key(kind, namespace, name))

    def claim(self, name: str) -> PersistentVolumeClaim | None:
        """Return a claim of the pod's namespace, or None if it does not exist."""
        claim: PersistentVolumeClaim | None = self.get("PersistentVolumeClaim", name, self.key.namespace)
        return claim

    def class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        """Return the class that a claim names, or None if it names none or one that does not exist."""
        storage_class: StorageClass | None = self.get("StorageClass", class_of_claim(claim))
        return storage_class

    def volumes_of(self, claims: Iterable[PersistentVolumeClaim | None]) -> list[PersistentVolume]:
        """Return the volumes that claims name, as far as they exist."""
        named = (self.get("PersistentVolume", claim.spec.volume_name) for claim in claims if claim is not None)
        return [volume for volume in named if volume is not None]

    def is_stored(self, obj: Any) -> bool:
        """Whether the cluster has this object; one that an earlier edit of the fix creates is not stored yet."""
        return key_of(obj) in self.stored

    @contextmanager
    def with_changes(self, changes: Iterable[ObjectChange]) -> Iterator[None]:
        """Make changes for the length of a `with` block."""
        previous: list[tuple[Key, Any]] = []
        try:
            for change in changes:
                key = change.key
                previous.append((key, self.objects.get(key)))
                self._put(key, change.new)
            yield
        finally:
            for key, old in reversed(previous):
                self._put(key, old)

    def _put(self, key: Key, new: Any) -> None:
        old = self.objects.get(key)
        if new is None:
            self.objects.pop(key, None)
        else:
            self.objects[key] = new
        if key.kind in self.seen.follows and (old is not None or new is not None):
            self.seen.apply(key, old, new)

    def judge(self) -> Judgement:
        """Judge the pod on the changed objects."""
        return judge(self.pod, self.seen, self.profile)


@attrs.frozen
class Failures:
    """The demands of the pod that fail in one trial, and the nearest nodes: those on which the fewest fail."""

    demands: tuple[Demand, ...]
    nearest: tuple[tuple[Node, tuple[Demand, ...]], ...]
    fewest_on_node: int


def failures_of(trial: TrialCluster, judgement: Judgement) -> Failures:
    """Return the failing demands and the nearest nodes: one node, with most room left, of each nearest group."""
    found = demands(judgement)
    groups = sorted(group_nodes_by_demands(found, judgement.nodes), key=lambda group: (len(group.failing), group.nodes))
    near: list[tuple[Node, tuple[Demand, ...]]] = []
    for group in groups[:MAX_NEAR_NODES]:
        short = [found[index].about for index in group.failing if found[index].sort == "request"]
        name = node_with_most_left(judgement, short[0], group.nodes) if short else group.nodes[0]
        if any(found[index].sort == "claim" for index in group.failing):  # a disk is best where fewest pods are
            name = min(group.nodes[:MAX_ALIKE_NODES], key=lambda each: len(trial.seen.pods_on(each)))
        node = trial.seen.node(name)
        if node is not None:
            near.append((node, tuple(found[index] for index in group.failing)))
    return Failures(found, tuple(near), len(groups[0].failing) if groups else 0)

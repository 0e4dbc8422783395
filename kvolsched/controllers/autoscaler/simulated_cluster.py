"""The cluster as the autoscaler imagines it: what it has seen, with nodes and pods added or moved for a trial.

The scheduler's own filter plugins judge here; Reserve and scores play no part.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.pod import Pod
from kvolsched.api.kinds.workload import DaemonSet
from kvolsched.api.workloads import controller_reference
from kvolsched.scheduler.columns.snapshot import Snapshot, snapshot
from kvolsched.scheduler.framework.judgement import Judgement, judge
from kvolsched.scheduler.framework.profile import Profile
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Key

from .options import NodeGroup


class SimulatedCluster:
    """Nodes and pods of a trial. Mutable; `trial` takes back what was done inside it."""

    def __init__(self, objects: Iterable[Any], daemon_sets: Iterable[DaemonSet], profile: Profile, moment: str) -> None:
        self.seen: Snapshot = snapshot(objects)
        self.seen.moment = moment
        self.daemon_sets = tuple(daemon_sets)
        self.profile = profile
        self._done: list[tuple[Key, Any, Any]] = []

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Take back all changes at the end of a `with` block, unless `keep` was called in it."""
        start = len(self._done)
        try:
            yield
        finally:
            while len(self._done) > start:
                key, old, new = self._done.pop()
                self.seen.apply(key, new, old)

    def keep(self) -> None:
        """Make the changes so far permanent."""
        self._done.clear()

    def _change(self, key: Key, old: Any, new: Any) -> None:
        self._done.append((key, old, new))
        self.seen.apply(key, old, new)

    def add_machine(self, group: NodeGroup, name: str) -> None:
        """Add a machine of a group, with the pods of the DaemonSets that run on it."""
        for obj in group.registered(name):
            self._change(Key(obj.kind, "", name), None, obj)
        for owner in self.daemon_sets:
            daemon = _daemon(owner, name)
            if self.fits(daemon, name):
                self._change(key_of(daemon), None, evolve_parts(daemon, spec={"node_name": name}))

    def remove_node(self, name: str) -> list[Pod]:
        """Remove a node, and return its pods, which then have no node."""
        pods = self.seen.pods_on(name)
        moved = [evolve_parts(pod, spec={"node_name": ""}) for pod in pods]
        for pod, homeless in zip(pods, moved, strict=True):
            self._change(key_of(pod), pod, homeless)
        self._change(Key("Node", "", name), self.seen.node(name), None)
        return moved

    def judge(self, pod: Pod) -> Judgement:
        """Judge a pod on the present nodes."""
        return judge(pod, self.seen, self.profile)

    def fits(self, pod: Pod, node: str) -> bool:
        """Say whether a pod fits one node."""
        return node in self.judge(pod).feasible

    def place(self, pod: Pod, node: str) -> None:
        """Put a pod that has no node on one."""
        key = key_of(pod)
        self._change(key, self.seen.pod(key), evolve_parts(pod, spec={"node_name": node}))

    def place_anywhere(self, pod: Pod) -> str:
        """Put a pod on the first node that it fits and return the node's name, or ""."""
        feasible = self.judge(pod).feasible
        if feasible:
            self.place(pod, feasible[0])
        return feasible[0] if feasible else ""

    def why_not(self, pod: Pod, node: str) -> str:
        """Return why a pod does not fit a node, in the plugin's words."""
        judgement = self.judge(pod)
        if judgement.rejected_by is not None:
            return judgement.rejected_by.message
        plugins = " ".join(sorted({restriction.plugin for restriction in judgement.restrictions}))
        return ", ".join(judgement.rejection(node)[0]) or f"node(s) didn't satisfy plugin(s) [{plugins}]"


def _daemon(owner: DaemonSet, node: str) -> Pod:
    """Return a DaemonSet's pod for a node, without its affinity to that node."""
    template = owner.spec.template
    meta = attrs.evolve(template.metadata, name=f"{owner.metadata.name}-{node}", namespace=owner.metadata.namespace,
                        owner_references=(controller_reference(owner),))
    return Pod(metadata=meta, spec=template.spec)

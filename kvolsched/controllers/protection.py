"""The protection controllers of claims and volumes: each alone takes its finalizer off what is deleted and unused.

A volume is used while it is bound, a claim by pods on nodes. A pod uses its claims as long as it exists, ended or not;
one without a node does not, since no kubelet would start it with a claim that is being deleted. Mirrors
`pkg/controller/volume/pvcprotection` and `pvprotection` (v1.36.2); admission adds the finalizers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from ..api.kinds.meta import without_finalizers
from ..api.kinds.pod import Pod
from ..world.apiserver import Write
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Exists, Index, InformerCache, View


@attrs.frozen
class Protection:
    """The controller that protects one kind, the first that it watches.

    `NAME` is the component's, `words` its name in sentences; `use_of` says in words who uses an object ("": nobody),
    `unused` what is said of one that nobody uses, and `views` are what it reads.
    """

    NAME: str
    words: str
    finalizer: str
    watches: tuple[str, ...]
    use_of: Callable[[TurnContext, Any], str]
    unused: str
    views: Callable[[InformerCache], Mapping[str, View]] = lambda _seen: {}

    def component(self) -> Component:
        """Return the component."""
        routine = Reconciler(self.NAME, self._causes_of, self._sync, report_refused, report_done)
        begins = partial(Exists, self.watches[0], self._is_deleted)
        return Component(self.NAME, self.watches, (routine,), self.views, activation=begins)

    def _is_deleted(self, obj: Any) -> bool:
        return obj.metadata.deletion_timestamp is not None and self.finalizer in obj.metadata.finalizers

    def _causes_of(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        if key.kind == self.watches[0]:
            if new is not None and self._is_deleted(new):
                yield f"{key.namespace}/{key.name}".removeprefix("/")
            return
        for cause in dict.fromkeys(_claims_on_node(new if new is not None else old)):
            found = ctx.seen.at(self._key(cause))
            if found is not None and self._is_deleted(found):
                yield cause

    def _key(self, cause: str) -> Key:
        namespace, _, name = cause.rpartition("/")
        return Key(self.watches[0], namespace, name)

    def _sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Remove the finalizer from a deleted object that nobody uses."""
        obj = ctx.seen.at(self._key(cause))
        if obj is None or not self._is_deleted(obj):
            return ()
        if used := self.use_of(ctx, obj):
            ctx.describe(f"{self.words} keeps {reference_of(obj)}: it is {used}")
            return ()
        plan = PlanBuilder(ctx, self.NAME)
        words = f"{self.words} removes its finalizer from {reference_of(obj)}: {self.unused}"
        plan.update(obj, without_finalizers(obj, self.finalizer), words)
        return plan.writes


def _claims_on_node(pod: Pod) -> Iterator[str]:
    if pod.spec.node_name:
        for name in pod.claim_names():
            yield f"{pod.metadata.namespace or 'default'}/{name}"


def _pods_with(ctx: TurnContext, claim: Any) -> str:
    pods = ctx.views["users"].get(f"{claim.metadata.namespace}/{claim.metadata.name}")
    return f"used by {', '.join(map(reference_of, pods))}" if pods else ""


CLAIM_PROTECTION = Protection(
    "pvc-protection-controller", "PVC protection controller", "kubernetes.io/pvc-protection",
    ("PersistentVolumeClaim", "Pod"), _pods_with, "no pod uses it",
    lambda _seen: {"users": Index("Pod", _claims_on_node)},
)  # fmt: skip
VOLUME_PROTECTION = Protection(
    "pv-protection-controller", "PV protection controller", "kubernetes.io/pv-protection", ("PersistentVolume",),
    lambda _ctx, volume: "bound" if volume.status.phase == "Bound" else "", "it is not bound",
)  # fmt: skip

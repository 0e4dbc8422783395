"""The Deployment controller: it alone makes and sizes the ReplicaSets of a Deployment, one for each template.

RollingUpdate lets at most maxSurge pods be too many and maxUnavailable be missing, and goes on with every change that a
ReplicaSet's status tells; Recreate takes all old pods away before the first new one. Rollbacks and the deadline for
progress are not modelled.
Mirrors `pkg/controller/deployment` (v1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ..api.kinds.meta import EMPTY, Frozen, ObjectMeta, evolve_parts
from ..api.kinds.pod import Pod, PodTemplateSpec
from ..api.kinds.workload import Deployment, DeploymentStatus, ReplicaSet, ReplicaSetSpec
from ..api.unmodelled_defaults import with_unmodelled_defaults
from ..workloads import (
    TEMPLATE_LABEL,
    by_controller_uid,
    controller_cause,
    controller_reference,
    generation,
    scaled_value,
    sorted_by_age,
    template_hash,
)
from ..world.activation import ActivationCondition, Exists
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, PlannedEvent, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Index, InformerCache, View

NAME = "deployment-controller"
KIND = "Deployment"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
OWN = frozenset({REVISION, HISTORY, DESIRED, MOST, "kubectl.kubernetes.io/last-applied-configuration"})


def component() -> Component:
    """Return the Deployment controller."""
    routine = Reconciler(NAME, _deployments_of, sync, report_refused, report_done)
    return Component(NAME, (KIND, "ReplicaSet", "Pod"), (routine,), _views, activation=_need)


def _need() -> ActivationCondition:
    return Exists(KIND)


def _views(_seen: InformerCache) -> dict[str, View]:
    return {"sets": Index("ReplicaSet", by_controller_uid(KIND)), "pods": Index("Pod", by_controller_uid("ReplicaSet"))}


def _deployments_of(ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
    """Yield a Deployment that has changed, whose ReplicaSet has, or the last of whose pods has gone."""
    if key.kind == KIND:
        if new is not None:
            yield f"{key.namespace}/{key.name}"
    elif key.kind == "ReplicaSet":
        yield from controller_cause(KIND, new if new is not None else old)
    elif new is None and (owner := old.metadata.controller) is not None and owner.kind == "ReplicaSet":
        found = ctx.seen.get("ReplicaSet", owner.name, key.namespace)
        if found is not None:
            yield from controller_cause(KIND, found)


def sync(ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Bring one Deployment a step nearer to its template and size, then tell how far it is."""
    owner: Deployment | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None:
        return ()
    index = ctx.views["sets"]
    assert isinstance(index, Index)
    rollout = Rollout(PlanBuilder(ctx, NAME), owner, sorted_by_age(index.get(owner.metadata.uid)))
    rollout.go_on()
    return rollout.decision.writes


class Rollout:
    """One sync of one Deployment. Mutable: what it means to write is as if written from then on."""

    def __init__(self, decision: PlanBuilder, owner: Deployment, sets: Sequence[ReplicaSet]) -> None:
        self.decision = decision
        self.owner = owner
        self.sets = {one.metadata.name: one for one in sets}
        self.counted = dict(self.sets)  # sizes as they were at the beginning: the status tells of these
        self.template: PodTemplateSpec = with_unmodelled_defaults(owner).spec.template
        self.current = next((name for name, one in self.sets.items() if _same(one, self.template)), "")
        self.replicas = 1 if owner.spec.replicas is None else owner.spec.replicas
        self.strategy: Frozen = owner.spec.rest.get("strategy", EMPTY)
        self.rolling = self.strategy.get("type", "RollingUpdate") == "RollingUpdate"

    # -- what there is ------------------------------------------------------------------------------------------------

    @property
    def new(self) -> ReplicaSet | None:
        """The ReplicaSet of the present template, if it exists."""
        return self.sets.get(self.current)

    @property
    def old(self) -> list[ReplicaSet]:
        """The ReplicaSets of other templates, the oldest first."""
        return [one for name, one in self.sets.items() if name != self.current]

    @property
    def surge(self) -> int:
        """How many pods may be too many."""
        return self._limits()[0] if self.rolling else 0

    @property
    def unavailable(self) -> int:
        """How many pods may be missing."""
        return min(self._limits()[1], self.replicas) if self.rolling and self.replicas else 0

    def _limits(self) -> tuple[int, int]:
        rolling = self.strategy.get("rollingUpdate", EMPTY)
        surge = scaled_value(rolling.get("maxSurge", "25%"), self.replicas, up=True)
        missing = scaled_value(rolling.get("maxUnavailable", "25%"), self.replicas, up=False)
        return (surge, missing) if surge or missing else (0, 1)

    # -- a sync -------------------------------------------------------------------------------------------------------

    def go_on(self) -> None:
        """Size ReplicaSets after the Deployment, or roll out its template."""
        if self.owner.metadata.deletion_timestamp is not None:
            self._tell()
        elif self.owner.spec.paused or self._is_resized():
            self._revise(create=False)
            self._resize()
            self._tell(progresses=False)
        elif self.rolling:
            self._roll()
        else:
            self._recreate()

    def _is_resized(self) -> bool:
        """Say whether a ReplicaSet in use was sized for another number of replicas."""
        return any(
            size(one) and one.metadata.annotations.get(DESIRED, str(self.replicas)) != str(self.replicas)
            for one in self.sets.values()
        )

    def _roll(self) -> None:
        self._revise(create=True)
        if not self._grow() and not self._shrink() and self._is_complete(self.owner.status):
            self._forget()
        self._tell()

    def _recreate(self) -> None:
        self._revise(create=False)
        before = len(self.decision.writes)
        for one in self.old:
            self._scale(one, 0)
        if len(self.decision.writes) == before and not self._old_pods_run():
            self._revise(create=True)
            if self.new is not None:
                self._scale(self.new, self.replicas)
            if self._is_complete(self.owner.status):
                self._forget()
        self._tell()

    def _old_pods_run(self) -> bool:
        index = self.decision.ctx.views["pods"]
        assert isinstance(index, Index)
        pods: list[Pod] = [pod for one in self.old for pod in index.get(one.metadata.uid)]
        return any(not pod.terminal for pod in pods)

    # -- the ReplicaSet of the template -------------------------------------------------------------------------------

    def _revise(self, *, create: bool) -> None:
        """See to it that the template has a ReplicaSet with the newest revision, and that the Deployment tells so."""
        number = 1 + max((_revision(one) for one in self.old), default=0)
        condition = None
        if self.new is not None:
            noted = self._noted(self.new, number, fresh=False)
            noted = evolve_parts(noted, spec={"min_ready_seconds": self.owner.spec.min_ready_seconds})
            if noted != self.new:
                self._write_set(self.new, noted, f"Deployment controller marks {reference_of(noted)} as revision {number}")
                return
            number = _revision(self.new)
            if self._condition("Progressing") is None and self._has_deadline():
                words = f'Found new replica set "{self.current}"'
                condition = Frozen(type="Progressing", status="True", reason="FoundNewReplicaSet", message=words)
        elif create:
            made = self._create(number)
            if self._has_deadline():
                words = f'Created new replica set "{made.metadata.name}"'
                condition = Frozen(type="Progressing", status="True", reason="NewReplicaSetCreated", message=words)
        else:
            return
        annotations = self.owner.metadata.annotations.merged({REVISION: str(number)})
        told = evolve_parts(self.owner, metadata={"annotations": annotations})
        if condition is not None:
            told = attrs.evolve(told, status=_with(told.status, condition))
        words = f"Deployment controller notes revision {number} on {reference_of(self.owner)}"
        self.owner = self.decision.update_status(self.owner, told, words)

    def _create(self, number: int) -> ReplicaSet:
        """Create the ReplicaSet of the present template, as large as the strategy allows at once."""
        template, meta = self.template, self.owner.metadata
        label = Frozen({TEMPLATE_LABEL: self._free_hash()})
        selector = self.owner.spec.selector
        if selector is not None:
            selector = attrs.evolve(selector, match_labels=selector.match_labels.merged(label))
        labels = template.metadata.labels.merged(label)
        made = ReplicaSet(
            metadata=ObjectMeta(
                name=f"{meta.name}-{label[TEMPLATE_LABEL]}",
                namespace=meta.namespace or "default",
                labels=labels,
                owner_references=(controller_reference(self.owner),),
            ),
            spec=ReplicaSetSpec(
                replicas=self._allowed(0),
                selector=selector,
                template=evolve_parts(template, metadata={"labels": labels}),
                min_ready_seconds=self.owner.spec.min_ready_seconds,
            ),
        )
        made = self._noted(made, number, fresh=True)
        said: tuple[PlannedEvent, ...] = ()
        if size(made):
            said = (self._scaled_event("up", made, 0, size(made)),)
        failed = f'Failed to create new replica set "{made.metadata.name}": {{error}}'
        self.decision.create(
            made,
            f"Deployment controller creates {reference_of(made)} with {size(made)} replica{'' if size(made) == 1 else 's'}",
            on_success=said,
            silent_reason="AlreadyExists",  # made before, and not yet seen
            on_failure=(PlannedEvent(key_of(self.owner), "Warning", "ReplicaSetCreateError", failed, NAME),),
        )
        self.current = made.metadata.name
        self.sets[self.current] = self.counted[self.current] = made
        return made

    def _free_hash(self) -> str:
        """Return the template's hash; where a ReplicaSet of somebody else has its name, another, and count that."""
        space, count = self.owner.metadata.namespace or "default", int(self.owner.status.rest.get("collisionCount", 0))
        there = self.decision.ctx.seen
        while there.get("ReplicaSet", f"{self.owner.metadata.name}-{template_hash(self.template, count)}", space):
            count += 1
        if count:
            status = attrs.evolve(self.owner.status, rest=self.owner.status.rest.with_(collisionCount=count))
            self.owner = attrs.evolve(self.owner, status=status)
        return template_hash(self.template, count)

    def _noted(self, one: ReplicaSet, number: int, *, fresh: bool) -> ReplicaSet:
        """Return a ReplicaSet with the Deployment's annotations and its revision."""
        kept = {key: value for key, value in self.owner.metadata.annotations.items() if key not in OWN}
        annotations = one.metadata.annotations.merged(kept)
        was = _revision(one)
        if was < number:
            annotations = annotations.merged({REVISION: str(number)})
            if was:
                history = [text for text in annotations.get(HISTORY, "").split(",") if text]
                annotations = annotations.merged({HISTORY: ",".join([*history, str(was)])})
        if fresh:
            annotations = annotations.merged(self._sizes())
        return evolve_parts(one, metadata={"annotations": annotations})

    def _sizes(self) -> dict[str, str]:
        return {DESIRED: str(self.replicas), MOST: str(self.replicas + self.surge)}

    def _allowed(self, has: int) -> int:
        """Return how large the new ReplicaSet may be now."""
        if not self.rolling:
            return self.replicas
        room = self.replicas + self.surge - sum(map(size, self.sets.values()))
        return has if room <= 0 else has + min(room, self.replicas - has)

    # -- growing and shrinking ----------------------------------------------------------------------------------------

    def _grow(self) -> bool:
        """Bring the new ReplicaSet to the size that is allowed; say whether that changed it."""
        new = self.new
        if new is None or size(new) == self.replicas:
            return False
        return self._scale(new, self.replicas if size(new) > self.replicas else self._allowed(size(new)))

    def _shrink(self) -> bool:
        """Take pods from the old ReplicaSets, the unhealthy first; say whether there were any to take."""
        new = self.new
        if not sum(map(size, self.old)) or new is None:
            return False
        least = self.replicas - self.unavailable
        missing = size(new) - new.status.available_replicas
        most = sum(map(size, self.sets.values())) - least - missing
        if most <= 0:
            return False
        before = len(self.decision.writes)
        for one in self.old:
            sick = min(most, size(one) - one.status.available_replicas)
            if sick > 0:
                most -= sick
                self._scale(one, size(one) - sick)
        spare = sum(one.status.available_replicas for one in self.sets.values()) - least
        for one in self.old:
            taken = min(size(one), spare)
            if taken > 0:
                spare -= taken
                self._scale(one, size(one) - taken)
        return len(self.decision.writes) > before

    def _resize(self) -> None:
        """Follow a Deployment that was scaled: its one ReplicaSet, or all in proportion during a roll-out."""
        inuse = [one for one in self.sets.values() if size(one)]
        latest = self.new or (self.old[-1] if self.old else None)
        if len(inuse) <= 1:
            only = inuse[0] if inuse else latest
            if only is not None and size(only) != self.replicas:
                self._scale(only, self.replicas)
            return
        new = self.new
        if new is not None and self._is_saturated(new):
            for one in self.old:
                self._scale(one, 0)
        elif self.rolling:
            self._spread(inuse)

    def _is_saturated(self, new: ReplicaSet) -> bool:
        wanted = new.metadata.annotations.get(DESIRED) == str(size(new)) == str(self.replicas)
        return wanted and new.status.available_replicas == self.replicas

    def _spread(self, inuse: Sequence[ReplicaSet]) -> None:
        """Share what is to be added or taken among the ReplicaSets in use by size; the largest take the rest."""
        total = sum(map(size, inuse))
        allowed = self.replicas + self.surge if self.replicas else 0
        left = allowed - total
        ordered = sorted_by_age(inuse)
        if left > 0:
            ordered.reverse()
        ordered.sort(key=size, reverse=True)
        sizes = {}
        for one in ordered:
            noted = one.metadata.annotations.get(MOST, "")
            had = (int(noted) if noted.isdecimal() else 0) or self.owner.status.replicas or 1
            part = int(size(one) * allowed / had + 0.5) - size(one) if left else 0
            part = min(part, left) if left > 0 else max(part, left)
            sizes[one.metadata.name] = size(one) + part
            left -= part
        for number, one in enumerate(ordered):
            wanted = max(0, sizes[one.metadata.name] + (left if number == 0 else 0))
            self._scale(one, wanted, note=True)

    def _scale(self, one: ReplicaSet, wanted: int, *, note: bool = False) -> bool:
        """Size a ReplicaSet, noting for how many replicas that was (`note`: even if only that); say if it was."""
        was = size(one)
        if was == wanted and not note:
            return False
        meta = attrs.evolve(one.metadata, annotations=one.metadata.annotations.merged(self._sizes()))
        sized = evolve_parts(one, metadata=meta, spec={"replicas": wanted})
        words = f"Deployment controller scales {reference_of(one)} from {was} to {wanted}"
        self._write_set(one, sized, words)
        if was != wanted:
            said = self._scaled_event("up" if wanted > was else "down", one, was, wanted)
            self.decision.event(self.owner, said.type, said.reason, said.message)
        return was != wanted

    def _write_set(self, old: ReplicaSet, new: ReplicaSet, words: str) -> None:
        self.sets[new.metadata.name] = self.decision.update(old, new, words)

    def _scaled_event(self, how: str, one: ReplicaSet, was: int, wanted: int) -> PlannedEvent:
        words = f"Scaled {how} replica set {one.metadata.name} from {was} to {wanted}"
        return PlannedEvent(key_of(self.owner), "Normal", "ScalingReplicaSet", words, NAME)

    def _forget(self) -> None:
        """Delete old ReplicaSets beyond the history that is kept."""
        limit = self.owner.spec.rest.get("revisionHistoryLimit", 10)
        idle = [
            one
            for one in sorted(self.old, key=_revision)
            if not size(one) and not one.status.replicas and one.metadata.deletion_timestamp is None
        ]
        for one in idle[: max(0, len(idle) - limit)]:
            self.decision.delete(one, f"Deployment controller deletes {reference_of(one)}, which is past its history")

    # -- status -------------------------------------------------------------------------------------------------------

    def _has_deadline(self) -> bool:
        return int(self.owner.spec.rest.get("progressDeadlineSeconds", 600)) != 2**31 - 1

    def _condition(self, type_: str) -> Frozen | None:
        return next((one for one in self.owner.status.rest.get("conditions", ()) if one["type"] == type_), None)

    def _is_complete(self, status: DeploymentStatus) -> bool:
        whole = status.updated_replicas == status.replicas == status.available_replicas == self.replicas
        return bool(whole) and (status.observed_generation or 0) >= generation(self.owner)

    def _tell(self, *, progresses: bool = True) -> None:
        """Write the status: counts of the ReplicaSets' statuses, and whether it is available and getting on."""
        status = self._counts()
        now = self._condition("Progressing")
        done = now is not None and now["reason"] == "NewReplicaSetAvailable"
        done = done and status.replicas == status.updated_replicas
        if progresses and self._has_deadline() and not done:
            subject = f'ReplicaSet "{self.current}"' if self.current else f'Deployment "{self.owner.metadata.name}"'
            if self._is_complete(status):
                reason, words = "NewReplicaSetAvailable", f"{subject} has successfully progressed."
                condition = Frozen(type="Progressing", status="True", reason=reason, message=words)
                status = _with(status, condition)
            elif self._has_progressed(status):
                words = f"{subject} is progressing."
                condition = Frozen(type="Progressing", status="True", reason="ReplicaSetUpdated", message=words)
                status = _with(status, condition, anew=True)
        told = attrs.evolve(self.owner, status=status)
        self.decision.update_status(self.owner, told, f"Deployment controller tells how far {reference_of(self.owner)} is")

    def _has_progressed(self, status: DeploymentStatus) -> bool:
        before = self.owner.status
        return (
            status.updated_replicas > before.updated_replicas
            or status.replicas - status.updated_replicas < before.replicas - before.updated_replicas
            or status.ready_replicas > before.ready_replicas
            or status.available_replicas > before.available_replicas
        )

    def _counts(self) -> DeploymentStatus:
        sets = list(self.counted.values())
        new = self.counted.get(self.current)
        total, able = sum(map(size, sets)), sum(one.status.available_replicas for one in sets)
        enough = able >= self.replicas - self.unavailable
        words = "has" if enough else "does not have"
        condition = Frozen(
            type="Available",
            status="True" if enough else "False",
            reason="MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
            message=f"Deployment {words} minimum availability.",
        )
        before = self.owner.status
        counted = attrs.evolve(
            before,
            observed_generation=generation(self.owner),
            replicas=sum(one.status.replicas for one in sets),
            updated_replicas=new.status.replicas if new is not None else 0,
            ready_replicas=sum(one.status.ready_replicas for one in sets),
            available_replicas=able,
            unavailable_replicas=max(0, total - able),
            rest=before.rest.with_(terminatingReplicas=sum(map(_ending, sets))),
        )
        return _with(counted, condition)


def _with(status: DeploymentStatus, condition: Frozen, *, anew: bool = False) -> DeploymentStatus:
    """Return a status with a condition; one of the same status and reason stays as it is, unless it is put anew."""
    held: tuple[Frozen, ...] = status.rest.get("conditions", ())
    same = next((one for one in held if one["type"] == condition["type"]), None)
    if same is not None and not anew and (same["status"], same["reason"]) == (condition["status"], condition["reason"]):
        return status
    others = tuple(one for one in held if one["type"] != condition["type"])
    return attrs.evolve(status, rest=status.rest.with_(conditions=(*others, condition)))


def size(one: ReplicaSet) -> int:
    """Return how many pods a ReplicaSet is to have."""
    return 1 if one.spec.replicas is None else one.spec.replicas


def _ending(one: ReplicaSet) -> int:
    return int(one.status.rest.get("terminatingReplicas", 0))


def _revision(one: ReplicaSet) -> int:
    text = one.metadata.annotations.get(REVISION, "")
    return int(text) if text.isdecimal() else 0


def _same(one: ReplicaSet, template: PodTemplateSpec) -> bool:
    """Say whether a ReplicaSet is of a template, but for the label of its hash and what a server fills in."""
    return _plain(with_unmodelled_defaults(one).spec.template) == _plain(template)


def _plain(template: PodTemplateSpec) -> PodTemplateSpec:
    labels = template.metadata.labels.merged({TEMPLATE_LABEL: None})
    return evolve_parts(template, metadata={"labels": labels})


__all__ = ["NAME", "component"]

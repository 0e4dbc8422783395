"""The StatefulSet controller: it alone makes the pods of a StatefulSet, and their claims before them.

OrderedReady goes one replica at a time and waits until it is running and ready; Parallel makes all that are missing.
Scaling down deletes the highest replica first; claims stay unless the retention policy gives them to their pod or set.
A changed template replaces replicas from the highest down to the partition, each once its successor is ready.
Mirrors `pkg/controller/statefulset/stateful_set_control.go` (v1.36.2), but for revisions: which template a revision was
is remembered here, and no ControllerRevision is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import attrs

from ..api.kinds.meta import EMPTY, Frozen, ObjectMeta, OwnerReference, evolve_parts
from ..api.kinds.pod import Pod, PodTemplateSpec
from ..api.kinds.pod_volume import PersistentVolumeClaimVolumeSource, Volume
from ..api.kinds.volume import PersistentVolumeClaim
from ..api.kinds.workload import StatefulSet, StatefulSetStatus
from ..api.unmodelled_defaults import with_unmodelled_defaults
from ..workloads import (
    REVISION_LABEL,
    by_controller_uid,
    controller_cause,
    controller_reference,
    generation,
    is_available,
    is_running_and_ready,
    revision_hash,
    scaled_value,
    seconds_until_available,
)
from ..world.activation import ActivationCondition, Exists
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, PlannedEvent, reference_of, report_done, report_refused
from ..world.reconciler import Reconciler
from ..world.view import Index, InformerCache, View

NAME = "statefulset-controller"
KIND = "StatefulSet"
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"


@attrs.frozen(kw_only=True)
class StatefulSetOptions:
    """The options of the controller.

    Args:
        revisions: replicas carry the revision of their template, and a changed template replaces them; claims follow
            their retention policy.
    """

    revisions: bool = True


@attrs.frozen
class Revisions:
    """The two revisions of a StatefulSet: the one that it comes from, with its template, and the one of now."""

    current: str = ""
    update: str = ""
    template: PodTemplateSpec | None = None


def component(options: StatefulSetOptions | None = None) -> Component:
    """Return the StatefulSet controller."""
    routine = Reconciler(NAME, _sets_of, partial(sync, options or StatefulSetOptions()), report_refused, report_done)
    return Component(NAME, (KIND, "Pod", "PersistentVolumeClaim"), (routine,), _views, activation=_need)


def _need() -> ActivationCondition:
    return Exists(KIND)


def _views(_seen: InformerCache) -> dict[str, View]:
    return {"pods": Index("Pod", by_controller_uid(KIND))}


def _sets_of(_hand: TurnContext, key: Key, old: object, new: object) -> Iterator[str]:
    """Yield the StatefulSet that has changed, or that owns the pod which has."""
    if key.kind == KIND:
        if new is not None:
            yield f"{key.namespace}/{key.name}"
    elif key.kind == "Pod":
        yield from controller_cause(KIND, new if new is not None else old)


def sync(options: StatefulSetOptions, ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Bring one StatefulSet a step nearer to what it asks for, then its status to what was seen."""
    owner: StatefulSet | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None or owner.metadata.deletion_timestamp is not None:
        return ()
    revisions = _revisions(ctx, cause, owner) if options.revisions else Revisions()
    replicas = Replicas(PlanBuilder(ctx, NAME), owner, revisions, options)
    taken = 0
    if not replicas.fill():
        replicas.let_claims_go()
        if not replicas.shrink() and options.revisions:
            taken = replicas.update()
    replicas.tell(taken)
    replicas.wait(cause)
    return replicas.decision.writes


# -- revisions --------------------------------------------------------------------------------------------------------


def _revisions(ctx: TurnContext, cause: str, owner: StatefulSet) -> Revisions:
    """Return the revisions of a StatefulSet: a template is called as before, or by its hash."""
    template, status = owner.spec.template, owner.status
    untouched = status.update_revision and status.observed_generation == generation(owner)
    update = status.update_revision if untouched else _called(owner)
    if ctx.note("template", f"{cause}|{update}") is None:
        ctx.remember("template", f"{cause}|{update}", template)
    current = status.current_revision or update
    return Revisions(current, update, ctx.note("template", f"{cause}|{current}"))


def _called(owner: StatefulSet) -> str:
    """Return the name of the revision of a StatefulSet's present template."""
    found: StatefulSet = with_unmodelled_defaults(owner)
    return f"{owner.metadata.name}-{revision_hash(found.spec.template, owner.status.rest.get('collisionCount', 0))}"


def _revision(pod: Pod, otherwise: str) -> str:
    """Return the revision of a pod; one without a mark is of any, and where none are told all are of the same."""
    return str(pod.metadata.labels.get(REVISION_LABEL, otherwise)) if otherwise else ""


# -- replicas ---------------------------------------------------------------------------------------------------------


class Replicas:
    """The replicas of one StatefulSet as they were seen, and what is to become of them. Mutable for one sync."""

    def __init__(self, decision: PlanBuilder, owner: StatefulSet, revisions: Revisions, options: StatefulSetOptions) -> None:
        self.decision = decision
        self.owner = owner
        self.revisions = revisions
        self.options = options
        self.pods = _pods(decision.ctx, owner)
        start = int(owner.spec.rest.get("ordinals", EMPTY).get("start", 0))
        self.wanted = range(start, start + (1 if owner.spec.replicas is None else owner.spec.replicas))
        self.one_by_one = owner.spec.pod_management_policy != "Parallel"
        self.least = int(owner.spec.rest.get("minReadySeconds", 0))
        self.strategy = owner.spec.rest.get("updateStrategy", EMPTY)

    def _works(self, pod: Pod) -> bool:
        """Say whether a replica is running, ready for long enough, and not being deleted."""
        return pod.metadata.deletion_timestamp is None and self._serves(pod)

    def _serves(self, pod: Pod) -> bool:
        return is_running_and_ready(pod) and is_available(pod, self.least, self.decision.ctx.moment)

    def fill(self) -> bool:
        """Make what is missing, and replace what has ended; say whether to stop here for now."""
        for ordinal in self.wanted:
            pod = self.pods.get(ordinal)
            if pod is None:
                self._create(ordinal)
                if self.one_by_one:
                    return True
            elif pod.terminal:
                if pod.metadata.deletion_timestamp is None:
                    where = f"{self.owner.metadata.namespace or 'default'}/{self.owner.metadata.name}"
                    words = f"StatefulSet {where} is recreating failed Pod {pod.metadata.name}"
                    self.decision.event(self.owner, "Warning", "RecreatingFailedPod", words)
                    self._delete(pod)
                return True
            elif self.one_by_one and not self._works(pod):
                return True
            elif self._retain(ordinal, pod):
                what = f"Pod {pod.metadata.name} in StatefulSet {self.owner.metadata.name}"
                self.decision.event(self.owner, "Normal", "SuccessfulUpdate", f"Update {what} successful")
        return False

    def shrink(self) -> bool:
        """Delete the replicas that are too many, the highest first; say whether to stop here for now."""
        condemned = sorted((number for number in self.pods if number not in self.wanted), reverse=True)
        sick = next((number for number in sorted(self.pods) if not self._works(self.pods[number])), None)
        for ordinal in condemned:
            pod = self.pods[ordinal]
            if pod.metadata.deletion_timestamp is None:
                if self.one_by_one and self.options.revisions and not self._works(pod) and ordinal != sick:
                    return True
                self._delete(pod)
            if self.one_by_one:
                return True
        return False

    def update(self) -> int:
        """Delete replicas of an old revision, from the highest down; return how many of the current one that took."""
        if self.strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return 0
        rolling = self.strategy.get("rollingUpdate") or EMPTY
        lowest = self.wanted.start + int(rolling.get("partition") or 0)
        targets = [n for n in reversed(self.wanted) if n >= lowest]
        missing = [n for n in targets if n not in self.pods or not self._works(self.pods[n])]
        most = scaled_value(rolling.get("maxUnavailable", 1), len(self.wanted), up=True) or 1
        taken = 0
        if most > 1:
            old = [n for n in targets if self._is_old(n)]
            for ordinal in old[: max(0, most - len(missing))]:
                taken += self._replace(self.pods[ordinal])
            return taken
        for ordinal in targets:
            if self._is_old(ordinal):
                return self._replace(self.pods[ordinal])
            if ordinal in missing:
                return 0
        return 0

    def _is_old(self, ordinal: int) -> bool:
        pod, new = self.pods.get(ordinal), self.revisions.update
        return pod is not None and pod.metadata.deletion_timestamp is None and _revision(pod, new) != new

    def _replace(self, pod: Pod) -> int:
        self._delete(pod)
        return int(_revision(pod, self.revisions.update) == self.revisions.current)

    def _create(self, ordinal: int) -> None:
        """Create a replica's claims that do not exist yet, then its pod."""
        decision, owner = self.decision, self.owner
        about, set_name = key_of(owner), owner.metadata.name
        pod = self._pod(ordinal)
        name = pod.metadata.name
        for claim in claims_for(owner, ordinal):
            if decision.ctx.seen.at(key_of(claim)) is not None:
                continue
            what = f"Claim {claim.metadata.name} Pod {name} in StatefulSet {set_name}"
            failed = f"create {what} failed error: {{error}}"
            decision.create(
                claim,
                f"StatefulSet controller creates {reference_of(claim)}",
                on_success=(PlannedEvent(about, "Normal", "SuccessfulCreate", f"Create {what} success", NAME),),
                silent_reason="AlreadyExists",  # made before, and not yet seen
                on_failure=(PlannedEvent(about, "Warning", "FailedCreate", failed, NAME),),
            )
        what = f"Pod {name} in StatefulSet {set_name}"
        decision.create(
            pod,
            f"StatefulSet controller creates {reference_of(pod)}",
            on_success=(PlannedEvent(about, "Normal", "SuccessfulCreate", f"Create {what} successful", NAME),),
            silent_reason="AlreadyExists",  # made before, and not yet seen
            on_failure=(PlannedEvent(about, "Warning", "FailedCreate", f"create {what} failed error: {{error}}", NAME),),
        )
        self._retain(ordinal, pod)

    def _pod(self, ordinal: int) -> Pod:
        """Return a replica of the revision that its ordinal is to have: below the partition it is the current one."""
        if not self.options.revisions:
            return pod_for(self.owner, ordinal)
        rolls = self.strategy.get("type", "RollingUpdate") == "RollingUpdate"
        partition = int((self.strategy.get("rollingUpdate") or EMPTY).get("partition") or 0) if rolls else 0
        template, revision = self.revisions.template, self.revisions.current
        if template is None or ordinal >= self.wanted.start + partition:
            template, revision = self.owner.spec.template, self.revisions.update
        pod = pod_for(evolve_parts(self.owner, spec={"template": template}), ordinal)
        labels = pod.metadata.labels.merged({REVISION_LABEL: revision})
        return evolve_parts(pod, metadata={"labels": labels})

    def _delete(self, pod: Pod) -> None:
        what = f"Pod {pod.metadata.name} in StatefulSet {self.owner.metadata.name}"
        self.decision.delete(pod, f"StatefulSet controller deletes {reference_of(pod)}")
        self.decision.event(self.owner, "Normal", "SuccessfulDelete", f"Delete {what} successful")

    def let_claims_go(self) -> None:
        """Make the claims of replicas that are too many belong to whom the retention policy says."""
        for ordinal, pod in sorted(self.pods.items()):
            if ordinal not in self.wanted:
                self._retain(ordinal, pod)

    def _retain(self, ordinal: int, pod: Pod) -> bool:
        """Make a replica's claims belong to whom the retention policy says: their set, or a pod that is scaled away."""
        before = len(self.decision.writes)
        for wanted in claims_for(self.owner, ordinal) if self.options.revisions else ():
            claim: PersistentVolumeClaim | None = self.decision.ctx.seen.at(key_of(wanted))
            if claim is not None:
                meta = _kept_for(claim.metadata, self.owner, None if ordinal in self.wanted else pod)
                words = f"StatefulSet controller changes whom {reference_of(claim)} goes with"
                self.decision.update(claim, attrs.evolve(claim, metadata=meta), words)
        return len(self.decision.writes) > before

    # -- status -------------------------------------------------------------------------------------------------------

    def tell(self, taken: int) -> None:
        """Count the replicas as they were seen, before this sync's own writes but those that replace one."""
        owner, revisions = self.owner, self.revisions
        pods = list(self.pods.values())
        living = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
        status = attrs.evolve(
            owner.status,
            observed_generation=generation(owner),
            replicas=len(pods),
            current_replicas=sum(_revision(pod, revisions.current) == revisions.current for pod in living) - taken,
            updated_replicas=sum(_revision(pod, revisions.update) == revisions.update for pod in living),
            ready_replicas=sum(map(is_running_and_ready, pods)),
            available_replicas=sum(map(self._serves, pods)),
        )
        if self.options.revisions:
            status = attrs.evolve(status, current_revision=revisions.current, update_revision=revisions.update)
            status = _completed(status)
        told = attrs.evolve(owner, status=status)
        self.decision.update_status(owner, told, f"StatefulSet controller counts {reference_of(owner)}")

    def wait(self, cause: str) -> None:
        """Ask to be woken when the next ready replica has been so for long enough."""
        now = self.decision.ctx.moment
        pods = [pod for pod in self.pods.values() if is_running_and_ready(pod)] if self.least else []
        waits = [wait for pod in pods if (wait := seconds_until_available(pod, self.least, now)) > 0]
        if waits:
            self.decision.ctx.wake_after(cause, min(waits))


def _completed(status: StatefulSetStatus) -> StatefulSetStatus:
    """Return a status in which an update that every replica has had is over."""
    if status.current_revision == status.update_revision:
        return status
    if not status.updated_replicas == status.replicas == status.ready_replicas:
        return status
    return attrs.evolve(status, current_replicas=status.updated_replicas, current_revision=status.update_revision)


def _pods(ctx: TurnContext, owner: StatefulSet) -> dict[int, Pod]:
    """Return the pods of a StatefulSet by ordinal."""
    index = ctx.views["pods"]
    assert isinstance(index, Index)
    found = {}
    for pod in index.get(owner.metadata.uid):
        name, _, ordinal = pod.metadata.name.rpartition("-")
        if name == owner.metadata.name and ordinal.isdecimal():
            found[int(ordinal)] = pod
    return found


def _kept_for(meta: ObjectMeta, owner: StatefulSet, scaled_away: Pod | None) -> ObjectMeta:
    """Return a claim's metadata with the owners that the retention policy gives it; others stay."""
    policy = owner.spec.rest.get("persistentVolumeClaimRetentionPolicy") or EMPTY
    others = tuple(one for one in meta.owner_references if one.kind not in (KIND, "Pod"))
    given: tuple[OwnerReference, ...] = ()
    if scaled_away is not None and policy.get("whenScaled") == "Delete":
        given = (controller_reference(scaled_away),)
    elif policy.get("whenDeleted") == "Delete":
        given = (controller_reference(owner),)
    if (*others, *given) == meta.owner_references:
        return meta
    return attrs.evolve(meta, owner_references=(*others, *given))


def pod_for(owner: StatefulSet, ordinal: int) -> Pod:
    """Return a replica: the template with its own name, labels and claims."""
    template, name = owner.spec.template, f"{owner.metadata.name}-{ordinal}"
    claims = {
        claim.metadata.name: Volume(
            name=claim.metadata.name,
            persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=f"{claim.metadata.name}-{name}"),
        )
        for claim in owner.spec.volume_claim_templates
    }
    others = tuple(volume for volume in template.spec.volumes if volume.name not in claims)
    labels = template.metadata.labels.merged({POD_NAME: name, POD_INDEX: str(ordinal)})
    rest = template.spec.rest.merged({"hostname": name})
    if owner.spec.service_name:
        rest = rest.merged({"subdomain": owner.spec.service_name})
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace=owner.metadata.namespace or "default",
            labels=labels,
            annotations=template.metadata.annotations,
            owner_references=(controller_reference(owner),),
        ),
        spec=attrs.evolve(template.spec, volumes=(*claims.values(), *others), rest=rest),
    )


def claims_for(owner: StatefulSet, ordinal: int) -> Iterator[PersistentVolumeClaim]:
    """Yield a replica's claims, with the labels that the StatefulSet selects by."""
    selector = owner.spec.selector
    chosen = selector.match_labels if selector is not None else Frozen()
    for template in owner.spec.volume_claim_templates:
        meta = attrs.evolve(
            template.metadata,
            name=f"{template.metadata.name}-{owner.metadata.name}-{ordinal}",
            namespace=owner.metadata.namespace or "default",
            labels=template.metadata.labels.merged(chosen),
        )
        yield attrs.evolve(template, metadata=meta)


__all__ = ["NAME", "StatefulSetOptions", "claims_for", "component", "pod_for"]

"""The StatefulSet controller: it alone makes the pods of a StatefulSet, and their claims before them.

OrderedReady creates one replica at a time and waits until it is running and ready; Parallel creates all at once.
Scaling down deletes the highest replica first; claims stay unless the retention policy gives them to their pod or set.
A changed template replaces replicas from the highest down to the partition, each once its successor is ready.
Mirrors `pkg/controller/statefulset/stateful_set_control.go` (v1.36.2), but for revisions: their templates are notes,
and no ControllerRevision is written.
"""

from collections.abc import Iterator, Sequence
from functools import partial

import attrs

from ..api import workloads
from ..api.dials import SWITCH, dial
from ..api.kinds.meta import EMPTY, Frozen, ObjectMeta, evolve_parts
from ..api.kinds.pod import PersistentVolumeClaimVolumeSource, Pod, PodTemplateSpec, Volume
from ..api.kinds.volume import PersistentVolumeClaim
from ..api.kinds.workload import StatefulSet, StatefulSetStatus
from ..api.unmodelled_defaults import with_unmodelled_defaults
from ..world.apiserver import Write, key_of
from ..world.component import Component, TurnContext
from ..world.log import Key
from ..world.plan import PlanBuilder, PlannedEvent, reference_of, report_done, report_refused
from ..world.reconciler import ReconcileError, Reconciler
from ..world.view import Exists, Index

NAME = "statefulset-controller"
KIND = "StatefulSet"
POD_NAME = "statefulset.kubernetes.io/pod-name"
POD_INDEX = "apps.kubernetes.io/pod-index"
BURST = 500  # most pods that one sync creates, so that a step ends whatever the spec asks for; Kubernetes has no bound


@attrs.frozen(kw_only=True)
class StatefulSetOptions:
    """The dials of the controller."""

    revisions: bool = dial(
        True, SWITCH, "whether replicas carry the revision of their template, and a changed template replaces them; "
        "and claims follow their retention policy",
    )


@attrs.frozen
class StatefulSetRevisions:
    """The current revision of a StatefulSet, with its template, and its update revision."""

    current: str = ""
    update: str = ""
    template: PodTemplateSpec | None = None


def component(options: StatefulSetOptions | None = None) -> Component:
    """Return the StatefulSet controller."""
    routine = Reconciler(NAME, _sets_of, partial(sync, options or StatefulSetOptions()), report_refused, report_done)
    return Component(NAME, (KIND, "Pod", "PersistentVolumeClaim"), (routine,),
                     lambda _seen: {"pods": Index("Pod", workloads.by_controller_uid(KIND))},
                     activation=partial(Exists, KIND))


def _sets_of(_ctx: TurnContext, key: Key, old: object, new: object) -> Iterator[str]:
    return workloads.changed_or_owner(KIND, key, old, new) if key.kind in (KIND, "Pod") else iter(())


def sync(options: StatefulSetOptions, ctx: TurnContext, cause: str) -> Sequence[Write]:
    """Bring one StatefulSet a step nearer to its spec, then its status to what was seen."""
    owner: StatefulSet | None = ctx.seen.at(Key(KIND, *cause.split("/")))
    if owner is None or owner.metadata.deletion_timestamp is not None:
        return ()
    revisions = _revisions(ctx, cause, owner) if options.revisions else StatefulSetRevisions()
    replicas = StatefulSetReplicas(PlanBuilder(ctx, NAME), owner, revisions, options)
    replaced = 0
    if not replicas.scale_up():
        replicas.own_condemned_claims()
        if not replicas.scale_down() and options.revisions:
            replaced = replicas.update()
    replicas.write_status(replaced)
    replicas.wake_when_available(cause)
    return replicas.plan.writes


def _revisions(ctx: TurnContext, cause: str, owner: StatefulSet) -> StatefulSetRevisions:
    """Return the revisions of a StatefulSet; an unchanged template keeps its name, another is named by its hash."""
    template, status = owner.spec.template, owner.status
    unchanged = status.update_revision and status.observed_generation == workloads.generation(owner)
    update = status.update_revision if unchanged else _revision_name(owner)
    if ctx.note("template", f"{cause}|{update}") is None:
        ctx.remember("template", f"{cause}|{update}", template)
    current = status.current_revision or update
    return StatefulSetRevisions(current, update, ctx.note("template", f"{cause}|{current}"))


def _revision_name(owner: StatefulSet) -> str:
    found: StatefulSet = with_unmodelled_defaults(owner)
    collisions = owner.status.rest.get("collisionCount", 0)
    return f"{owner.metadata.name}-{workloads.revision_hash(found.spec.template, collisions)}"


def _revision(pod: Pod, default: str) -> str:
    """Return the revision of a pod's label, or a default; "" if the default is "": no revisions are kept."""
    return str(pod.metadata.labels.get(workloads.REVISION_LABEL, default)) if default else ""


class StatefulSetReplicas:
    """One sync of one StatefulSet: its replicas as they were seen, and the writes planned for them. Mutable."""

    def __init__(
        self, plan: PlanBuilder, owner: StatefulSet, revisions: StatefulSetRevisions, options: StatefulSetOptions
    ) -> None:
        self.plan, self.owner, self.revisions, self.options = plan, owner, revisions, options
        self.pods = _pods(plan.ctx, owner)
        start = int(owner.spec.rest.get("ordinals", EMPTY).get("start", 0))
        self.ordinals = range(start, start + (1 if owner.spec.replicas is None else owner.spec.replicas))
        self.is_ordered = owner.spec.pod_management_policy != "Parallel"
        self.min_ready_seconds = int(owner.spec.rest.get("minReadySeconds", 0))
        self.strategy = owner.spec.rest.get("updateStrategy", EMPTY)

    def _is_healthy(self, pod: Pod) -> bool:
        """Say whether a replica is running, ready for long enough, and not being deleted."""
        return pod.metadata.deletion_timestamp is None and self._is_available(pod)

    def _is_available(self, pod: Pod) -> bool:
        now = self.plan.ctx.moment
        return workloads.is_running_and_ready(pod) and workloads.is_available(pod, self.min_ready_seconds, now)

    def scale_up(self) -> bool:
        """Create missing replicas and replace those that have ended; say whether the sync stops here."""
        created = 0
        for ordinal in self.ordinals:
            pod = self.pods.get(ordinal)
            if pod is not None and self.options.revisions and pod.status.phase == "Pending":
                self._create_claims(ordinal, pod)
            if pod is None:
                self._create(ordinal)
                created += 1
                if self.is_ordered or created == BURST:
                    return True
            elif pod.terminal:
                if pod.metadata.deletion_timestamp is None:
                    name = f"{self.owner.metadata.namespace or 'default'}/{self.owner.metadata.name}"
                    message = f"StatefulSet {name} is recreating failed Pod {pod.metadata.name}"
                    self.plan.event(self.owner, "Warning", "RecreatingFailedPod", message)
                    self._delete(pod)
                return True
            elif self.is_ordered and not self._is_healthy(pod):
                return True
            elif self._set_claim_owners(ordinal, pod):
                message = f"Update Pod {pod.metadata.name} in StatefulSet {self.owner.metadata.name} successful"
                self.plan.event(self.owner, "Normal", "SuccessfulUpdate", message)
        return False

    def scale_down(self) -> bool:
        """Delete the replicas that are too many, the highest first; say whether the sync stops here."""
        condemned = sorted((number for number in self.pods if number not in self.ordinals), reverse=True)
        first_unhealthy = next((n for n in sorted(self.pods) if not self._is_healthy(self.pods[n])), None)
        for ordinal in condemned:
            pod = self.pods[ordinal]
            if pod.metadata.deletion_timestamp is None:
                waits = not self._is_healthy(pod) and ordinal != first_unhealthy
                if self.is_ordered and self.options.revisions and waits:
                    return True
                self._delete(pod)
            if self.is_ordered:
                return True
        return False

    def update(self) -> int:
        """Delete replicas of an old revision, from the highest down; return how many were of the current one."""
        if self.strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return 0
        rolling = self.strategy.get("rollingUpdate") or EMPTY
        lowest = self.ordinals.start + int(rolling.get("partition") or 0)
        targets = [n for n in reversed(self.ordinals) if n >= lowest]
        missing = [n for n in targets if n not in self.pods or not self._is_healthy(self.pods[n])]
        max_unavailable = workloads.scaled_value(rolling.get("maxUnavailable", 1), len(self.ordinals), up=True) or 1
        if max_unavailable > 1:
            replaced = [n for n in targets if self._is_old(n)][: max(0, max_unavailable - len(missing))]
            return sum([self._replace(self.pods[ordinal]) for ordinal in replaced])
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
        plan, owner, pod = self.plan, self.owner, self._new_pod(ordinal)
        in_set = f"Pod {pod.metadata.name} in StatefulSet {owner.metadata.name}"
        try:
            self._create_claims(ordinal, pod)
        except ReconcileError as error:
            plan.ctx.event(owner, "Warning", "FailedCreate", f"create {in_set} failed error: {error}", NAME)
            raise
        plan.create(
            pod, f"StatefulSet controller creates {reference_of(pod)}",
            on_success=(self._event("Normal", "SuccessfulCreate", f"Create {in_set} successful"),),
            silent_reason="AlreadyExists",  # created before, and not yet seen
            on_failure=(self._event("Warning", "FailedCreate", f"create {in_set} failed error: {{error}}"),),
        )
        self._set_claim_owners(ordinal, pod)

    def _create_claims(self, ordinal: int, pod: Pod) -> None:
        """Create a replica's missing claims; today one that is still being deleted ends the sync with an error."""
        for claim in claims_for(self.owner, ordinal):
            stored: PersistentVolumeClaim | None = self.plan.ctx.seen.at(key_of(claim))
            if stored is None:
                what = f"Claim {claim.metadata.name} Pod {pod.metadata.name} in StatefulSet {self.owner.metadata.name}"
                self.plan.create(
                    claim, f"StatefulSet controller creates {reference_of(claim)}",
                    on_success=(self._event("Normal", "SuccessfulCreate", f"Create {what} success"),),
                    silent_reason="AlreadyExists",  # created before, and not yet seen
                    on_failure=(self._event("Warning", "FailedCreate", f"create {what} failed error: {{error}}"),),
                )
            elif self.options.revisions and stored.metadata.deletion_timestamp is not None:
                raise ReconcileError(f"pvc {claim.metadata.name} is being deleted")

    def _event(self, type_: str, reason: str, message: str) -> PlannedEvent:
        return PlannedEvent(key_of(self.owner), type_, reason, message, NAME)

    def _new_pod(self, ordinal: int) -> Pod:
        """Return a new replica: below the partition of the current revision, else of the update revision."""
        if not self.options.revisions:
            return pod_for(self.owner, ordinal)
        is_rolling = self.strategy.get("type", "RollingUpdate") == "RollingUpdate"
        partition = int((self.strategy.get("rollingUpdate") or EMPTY).get("partition") or 0) if is_rolling else 0
        template, revision = self.revisions.template, self.revisions.current
        if template is None or ordinal >= self.ordinals.start + partition:
            template, revision = self.owner.spec.template, self.revisions.update
        pod = pod_for(evolve_parts(self.owner, spec={"template": template}), ordinal)
        return evolve_parts(pod, metadata={"labels": pod.metadata.labels.merged({workloads.REVISION_LABEL: revision})})

    def _delete(self, pod: Pod) -> None:
        message = f"Delete Pod {pod.metadata.name} in StatefulSet {self.owner.metadata.name} successful"
        self.plan.delete(pod, f"StatefulSet controller deletes {reference_of(pod)}")
        self.plan.event(self.owner, "Normal", "SuccessfulDelete", message)

    def own_condemned_claims(self) -> None:
        """Set the owners of the claims of replicas that are too many, by the retention policy."""
        for ordinal, pod in sorted(self.pods.items()):
            if ordinal not in self.ordinals:
                self._set_claim_owners(ordinal, pod)

    def _set_claim_owners(self, ordinal: int, pod: Pod) -> bool:
        """Set the owner of a replica's claims by the retention policy: the set, or a pod that is scaled away."""
        before = len(self.plan.writes)
        for wanted in claims_for(self.owner, ordinal) if self.options.revisions else ():
            claim: PersistentVolumeClaim | None = self.plan.ctx.seen.at(key_of(wanted))
            if claim is not None:
                meta = _with_policy_owner(claim.metadata, self.owner, None if ordinal in self.ordinals else pod)
                words = f"StatefulSet controller changes the owner of {reference_of(claim)}"
                self.plan.update(claim, attrs.evolve(claim, metadata=meta), words)
        return len(self.plan.writes) > before

    def write_status(self, replaced: int) -> None:
        """Count the replicas as they were seen, without those of the current revision that this sync replaces."""
        owner, current, update = self.owner, self.revisions.current, self.revisions.update
        pods = list(self.pods.values())
        live_pods = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
        status = attrs.evolve(
            owner.status, observed_generation=workloads.generation(owner), replicas=len(pods),
            current_replicas=sum(_revision(pod, current) == current for pod in live_pods) - replaced,
            updated_replicas=sum(_revision(pod, update) == update for pod in live_pods),
            ready_replicas=sum(map(workloads.is_running_and_ready, pods)),
            available_replicas=sum(map(self._is_available, pods))
        )
        if self.options.revisions:
            status = _with_update_completed(attrs.evolve(status, current_revision=current, update_revision=update))
        words = f"StatefulSet controller updates the status of {reference_of(owner)}: "
        words += f"{status.ready_replicas} of {len(self.ordinals)} ready"
        self.plan.update_status(owner, attrs.evolve(owner, status=status), words)

    def wake_when_available(self, cause: str) -> None:
        """Wake the StatefulSet when the next ready replica becomes available."""
        ready = filter(workloads.is_running_and_ready, self.pods.values())
        if waits := workloads.waits_for_available(ready, self.min_ready_seconds, self.plan.ctx.moment):
            self.plan.ctx.wake_after(cause, min(waits))


def _with_update_completed(status: StatefulSetStatus) -> StatefulSetStatus:
    """Return a status whose current revision is the update revision, if all replicas are ready and updated."""
    completed = status.updated_replicas == status.replicas == status.ready_replicas
    if not completed or status.current_revision == status.update_revision:
        return status
    return attrs.evolve(status, current_replicas=status.updated_replicas, current_revision=status.update_revision)


def _pods(ctx: TurnContext, owner: StatefulSet) -> dict[int, Pod]:
    found = {}
    for pod in ctx.views["pods"].get(owner.metadata.uid):
        name, _, ordinal = pod.metadata.name.rpartition("-")
        if name == owner.metadata.name and ordinal.isdecimal():
            found[int(ordinal)] = pod
    return found


def _with_policy_owner(meta: ObjectMeta, owner: StatefulSet, scaled_away: Pod | None) -> ObjectMeta:
    """Return a claim's metadata with the owner that the retention policy gives it; other owners stay."""
    policy = owner.spec.rest.get("persistentVolumeClaimRetentionPolicy") or EMPTY
    others = owners = tuple(other for other in meta.owner_references if other.kind not in (KIND, "Pod"))
    if scaled_away is not None and policy.get("whenScaled") == "Delete":
        owners = (*others, workloads.controller_reference(scaled_away))
    elif policy.get("whenDeleted") == "Delete":
        owners = (*others, workloads.controller_reference(owner))
    return meta if owners == meta.owner_references else attrs.evolve(meta, owner_references=owners)


def pod_for(owner: StatefulSet, ordinal: int) -> Pod:
    """Return a replica: a pod of the template with its own name, labels and claims."""
    template, name = owner.spec.template, f"{owner.metadata.name}-{ordinal}"
    claims = {
        claim.metadata.name: PersistentVolumeClaimVolumeSource(claim_name=f"{claim.metadata.name}-{name}")
        for claim in owner.spec.volume_claim_templates
    }
    claim_volumes = (Volume(name=volume, persistent_volume_claim=source) for volume, source in claims.items())
    others = tuple(volume for volume in template.spec.volumes if volume.name not in claims)
    labels = template.metadata.labels.merged({POD_NAME: name, POD_INDEX: str(ordinal)})
    rest = template.spec.rest.merged({"hostname": name})
    if owner.spec.service_name:
        rest = rest.merged({"subdomain": owner.spec.service_name})
    pod = workloads.replica_of(owner, name, labels)
    return evolve_parts(pod, spec={"volumes": (*claim_volumes, *others), "rest": rest})


def claims_for(owner: StatefulSet, ordinal: int) -> Iterator[PersistentVolumeClaim]:
    """Yield a replica's claims, with the labels that the StatefulSet selects by."""
    selector = owner.spec.selector
    selected = selector.match_labels if selector is not None else Frozen()
    for template in owner.spec.volume_claim_templates:
        meta = attrs.evolve(
            template.metadata, name=f"{template.metadata.name}-{owner.metadata.name}-{ordinal}",
            namespace=owner.metadata.namespace or "default", labels=template.metadata.labels.merged(selected)
        )
        yield attrs.evolve(template, metadata=meta)

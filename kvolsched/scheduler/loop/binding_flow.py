"""The binding flow: what follows the choice of a node, as two strategies, and the bind worker that carries them out.

`TwoPasses` is the design's (S0, workflow steps 8 to 10): volumes are assumed, the pod is not; a worker writes them and
requeues the pod, and only a pass in which all claims are bound assumes and binds the pod. `WaitInPreBind` is that of
kube-scheduler v1.36.2: pod and volumes are assumed, and the binding cycle waits until all claims are bound.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs

from ...api import volumes
from ...api.dials import PERIOD, SWITCH, dial, or_null
from ...api.kinds.meta import evolve, evolve_parts
from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolumeClaim
from ...api.words import listed
from ...world.apiserver import CommittedWrite, RefusedWrite, Write, key_of, ref
from ...world.component import TurnContext
from ...world.log import Key
from ...world.view import Index
from ..framework.profile import Profile
from ..plugins.volume_binding import VolumeBinding
from . import volume_binder as binder
from .assume_cache import AssumeCache, AssumeRule, EqualVersions, NewerWins, PodStatusPatch, assume, forget
from .scheduling_cycle import RECORDER, handle_failure, report_failure
from .scheduling_queue import (
    QUEUE,
    WAITING,
    QueueEvent,
    move_pods_on_event,
    move_to_active_or_backoff,
    queue_of,
    remove_from_queue,
    requeue,
)
from .volume_binder import CHECK_PERIOD, BindingInProgress, CannotAssume, FoundVolumes

BINDING = "binding"
WORKER = "bind worker"
BINDING_STARTED = "Volume binding started, waiting for completion"  # the message of 1.11's event
BINDING_WAITING, BINDING_FAILED = "VolumeBindingWaiting", "VolumeBindingFailed"
FINE = "whether a pass is two turns, choose and then assume, between which others may act"


@attrs.frozen
class TwoPasses:
    """The design's flow: a pod whose volumes are being bound is not assumed, and is scheduled again.

    Args:
        volume_binding: the plugin whose decision is carried out.
        options: how volumes are matched and which annotation key is written.
    """

    volume_binding: VolumeBinding
    options: volumes.VolumeRules = volumes.DESIGN
    resync: float | None = dial(
        None, or_null(PERIOD), "after which a pod that waits for its volumes is retried without any change",
        "S0, Bind: a TODO asks whether the scheduler needs what the PV controller has",
    )
    judges_again: bool = dial(
        False, SWITCH, "whether a pod whose claims were bound in mid-pass is judged again (1.11 assumes it)",
        "S0, Caching: all volume predicates are to run once all claims are bound",
    )
    concurrent: bool = dial(
        False, SWITCH, "whether each pod's volumes are bound by a goroutine of its own; else one worker serves a queue",
        "S1, Bind: a separate goroutine; S0, Bind: one that processes a queue",
    )
    volume_rule: AssumeRule = NewerWins()
    errors_are_verdicts: bool = True
    fine: bool = dial(False, SWITCH, FINE)

    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes:
        """Return what is to be bound and provisioned for a pod on its node."""
        return binder.find_pod_volumes(self.volume_binding.decide(pod, node, cache.snapshot), cache)

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the volumes and queue the pod for volume binding; if all are bound, assume the pod."""
        cache = assume_cache(ctx)
        if binder.all_bound(pod, cache):
            if self.judges_again and (found.static or found.provision):
                self._wait(ctx, name, pod)  # no node was judged by their volumes (S0, Caching)
                return "Its claims have been bound meanwhile: the pod is judged again."
            return assume_and_bind(ctx, name, pod, node)
        try:
            writes = binder.assume_pod_volumes(ctx, cache, found, node, self.options, writes_all=False)
        except CannotAssume as why:
            message = f"AssumePodVolumes failed: {why}"
            handle_failure(ctx, name, pod, message, reason="SchedulerError", condition_message=str(why))
            return f"It cannot assume the volumes: {why}."
        if writes:
            _start_binding(ctx, name, _volume_binding(ctx, pod, node, found, writes))
            return f"It assumes {_object_list(writes)} and queues the pod for binding; the pod itself is not assumed."
        self._wait(ctx, name, pod)
        return "Nothing is left to be written: the pod waits for its volumes."

    def _wait(self, ctx: TurnContext, name: str, pod: Pod) -> None:
        """Requeue a pod to wait for its volumes; it is scheduled again when one of them changes.

        If all of them were bound before it waits, no change is to come: it does not wait (S0, Bind 3: regardless).
        """
        if ctx.note(QUEUE, name) is not None:
            requeue(ctx, name, QueueEvent.VOLUMES_BINDING, WAITING, timeout=self.resync)
            if binder.all_bound(pod, assume_cache(ctx)):
                move_to_active_or_backoff(ctx, name, QueueEvent.VOLUMES_CHANGED, ctx.note(QUEUE, name))
        why = "volume binding started, waiting for it to complete"
        report_failure(ctx, pod, "Normal", BINDING_STARTED, BINDING_WAITING, "", why)

    def requeue_waiting_pods(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Move the pods that wait for their volumes when one of their claims or volumes changes."""
        waiting = queue_of(ctx).parts.get(WAITING)
        if not waiting or key.kind not in ("PersistentVolumeClaim", "PersistentVolume"):
            return
        for name in _pods_using(ctx, key, old, new):
            entry = waiting.get(name)
            if entry is not None:
                move_to_active_or_backoff(ctx, name, QueueEvent.VOLUMES_CHANGED, entry)

    def act(self, ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> bool:
        """Make the next write of volume binding; after the last one requeue the pod (S0, Bind 3)."""
        if binding.stage == "bind":
            return _bind(ctx, name, binding, profile)
        if binding.stage == "tell":
            ctx.remember(BINDING, name, None)
            if binding.message:
                handle_failure(ctx, name, binding.pod, binding.message, reason=BINDING_FAILED, condition_message="")
            else:
                self._wait(ctx, name, binding.pod)
            return False
        if ctx.must_wait(name, binding.writes[0]):
            return False
        outcome = ctx.commit(binding.writes[0])
        if isinstance(outcome, RefusedWrite):
            _forget_unwritten(ctx, binding)
            ctx.remember(BINDING, name, evolve(binding, stage="tell", message=outcome.message))
            return True
        remaining = binder.after_write(binding, outcome.write, outcome.stored.metadata.resource_version)
        ctx.remember(BINDING, name, remaining if remaining.writes else evolve(remaining, stage="tell"))
        return True


@attrs.frozen
class WaitInPreBind:
    """The flow of v1.36.2: pod and volumes are assumed; the binding cycle writes, waits for the claims, and binds.

    Args:
        volume_binding: the plugin whose decision is carried out.
        options: how volumes are matched and which annotation key is written.
    """

    volume_binding: VolumeBinding
    options: volumes.VolumeRules = volumes.UPSTREAM
    bind_timeout: float = dial(600.0, PERIOD, "after which the binding cycle gives up (bindTimeoutSeconds)")
    volume_rule: AssumeRule = EqualVersions()
    errors_are_verdicts: bool = False
    fine: bool = dial(False, SWITCH, FINE)

    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes:
        """Return what is to be bound and provisioned for a pod on its node."""
        return binder.find_pod_volumes(self.volume_binding.decide(pod, node, cache.snapshot), cache)

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the volumes and the pod, and start its binding cycle."""
        cache = assume_cache(ctx)
        if binder.all_bound(pod, cache):
            return assume_and_bind(ctx, name, pod, node)
        try:
            writes = binder.assume_pod_volumes(ctx, cache, found, node, self.options, writes_all=True)
        except CannotAssume as why:
            handle_failure(ctx, name, pod, f'running Reserve plugin "VolumeBinding": {why}', reason="SchedulerError")
            return f"It cannot assume the volumes: {why}."
        _assume_pod(ctx, pod, node)
        words = f"Scheduler nominates {node} for {pod.metadata.name}"
        patch = PodStatusPatch(nominated_node_name=node)
        nominate = Write("patch", key_of(pod), patch, uid=pod.metadata.uid, words=words)
        _start_binding(ctx, name, _volume_binding(ctx, pod, node, found, (nominate, *writes)))
        return f"It assumes the pod there, and {_object_list(writes)}."

    def requeue_waiting_pods(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Do nothing: in this flow pods wait inside the binding cycle."""

    def act(self, ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> bool:
        """Make the next write of PreBind, check whether the claims are bound, or bind the pod."""
        match binding.stage:
            case "bind":
                # Only of a failure: a pod that comes here to be bound has nothing to write or to provision.
                for key in (*binding.provision, *(each.key for each in binding.writes if each.verb == "update")):
                    forget(ctx, key)
                return _bind(ctx, name, binding, profile)
            case "wait":
                return self._wait(ctx, name, binding, profile)
        write = binding.writes[0]
        if ctx.must_wait(name, write):
            return False
        outcome = ctx.commit(write)
        if isinstance(outcome, RefusedWrite) and write.verb == "update":
            _forget_unwritten(ctx, binding)
            message = f'running PreBind plugin "VolumeBinding": {outcome.message}'
            ctx.remember(BINDING, name, evolve(binding, stage="bind", message=message))
            return True
        version = 0  # the nomination may be refused, and its version is not needed
        if isinstance(outcome, CommittedWrite) and write.verb == "update":
            version = outcome.stored.metadata.resource_version
        remaining = binder.after_write(binding, write, version)
        if not remaining.writes:
            remaining = evolve(remaining, stage="wait", deadline=ctx.now + self.bind_timeout)
            ctx.wake_after(name, CHECK_PERIOD)
        ctx.remember(BINDING, name, remaining)
        return bool(remaining.writes)

    def _wait(self, ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> bool:
        """Check once a second whether the claims are bound, until the deadline; if they are, bind the pod."""
        late = ctx.now >= binding.deadline
        answer = "context deadline exceeded" if late else binder.check_bindings(binding, ctx)
        if answer is False:
            ctx.wake_after(name, min(CHECK_PERIOD, binding.deadline - ctx.now))
            return False
        if answer is True:
            return _bind(ctx, name, evolve(binding, stage="bind"), profile)
        message = f'running PreBind plugin "VolumeBinding": binding volumes: {answer}'
        ctx.describe(f"Scheduler stops waiting for the claims of {binding.pod.metadata.name}: {answer}.")
        ctx.remember(BINDING, name, evolve(binding, stage="bind", message=message))
        return True


Strategy = TwoPasses | WaitInPreBind


@attrs.frozen
class BindWorker:
    """The actor that runs binding cycles: it makes their writes, waits for claims, and binds pods.

    Under `TwoPasses` volume binding is one worker that serves its queue in order (S0, Bind), unless it is concurrent;
    pods without writes, and all binding cycles of `WaitInPreBind`, run concurrently.
    """

    flow: Strategy
    profile: Profile
    name: str = WORKER
    reacts_to: ClassVar[frozenset[str]] = frozenset()

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List the pods that can make progress: of those queued for the one worker only the first."""
        todo = ctx.process.work_queues[self.name]
        first = todo.first()
        if not every:
            return (first,) if first else ()  # the first of all is the first of the worker's queue, or not queued
        if not isinstance(self.flow, TwoPasses) or self.flow.concurrent:
            return todo.all()
        items = [(self._is_assumed(ctx, name), order, name) for order, name in todo.all()]
        head = [(order, name) for assumed, order, name in items if not assumed][:1]
        return sorted([*head, *((order, name) for assumed, order, name in items if assumed)])

    @staticmethod
    def _is_assumed(ctx: TurnContext, name: str) -> bool:
        binding: BindingInProgress | None = ctx.note(BINDING, name)
        return binding is None or binding.stage == "bind"

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Check again whether the pod's claims are bound."""
        if ctx.note(BINDING, name) is not None:
            ctx.enqueue(name)

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Ignore changes: a binding cycle polls its claims once a second."""

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Run one turn of a pod's binding cycle."""
        binding: BindingInProgress | None = ctx.note(BINDING, name)
        more = binding is not None and self.flow.act(ctx, name, binding, self.profile)
        if not more:
            ctx.dequeue(name)
        return more


def assume_cache(ctx: TurnContext) -> AssumeCache:
    """Return the scheduler's assume cache."""
    cache = ctx.views["cache"]
    assert isinstance(cache, AssumeCache)
    return cache


def _object_list(writes: Sequence[Write]) -> str:
    """Return the names of the objects of these writes: `pv/disk and pvc/data`."""
    return listed(ref(write.key) for write in writes) or "no volumes"


def _volume_binding(ctx: TurnContext, pod: Pod, node: str, found: FoundVolumes,
                    writes: tuple[Write, ...]) -> BindingInProgress:
    static = tuple((key_of(claim), key_of(volume)) for claim, volume in found.static)
    return BindingInProgress(pod, node, static, tuple(map(key_of, found.provision)), writes, order=ctx.place)


def _start_binding(ctx: TurnContext, name: str, binding: BindingInProgress) -> None:
    """Queue a pod for the bind worker."""
    ctx.remember(BINDING, name, binding)
    ctx.enqueue(name, ctx.process.actors[WORKER])


def _assume_pod(ctx: TurnContext, pod: Pod, node: str) -> None:
    assume(ctx, evolve_parts(pod, spec={"node_name": node}), key_of(pod))


def assume_and_bind(ctx: TurnContext, name: str, pod: Pod, node: str) -> str:
    """Assume a pod whose claims are all bound, and start its binding cycle."""
    _assume_pod(ctx, pod, node)
    _start_binding(ctx, name, BindingInProgress(pod, node, stage="bind", order=ctx.place))
    return "It assumes the pod there."


def _bind(ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> bool:
    """Bind the pod to its node, or forget everything assumed and report the failure."""
    pod = binding.pod
    if binding.message:
        _abort_binding(ctx, name, binding, profile)
        return False
    words = f"Scheduler binds {pod.metadata.name} to {binding.node}"
    outcome = ctx.commit(Write("bind", key_of(pod), binding.node, uid=pod.metadata.uid, words=words))
    if isinstance(outcome, RefusedWrite):
        message = f'running Bind plugin "DefaultBinder": {outcome.message}'
        ctx.remember(BINDING, name, evolve(binding, message=message))
        return True
    where = f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}"
    ctx.event(pod, "Normal", "Scheduled", f"Successfully assigned {where} to {binding.node}", RECORDER)
    ctx.remember(BINDING, name, None)
    remove_from_queue(ctx, name, QueueEvent.BINDING_ENDED)
    return False


def _abort_binding(ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> None:
    """Forget the assumed pod, which is a pod deletion to waiting pods, and requeue the pod."""
    pod = binding.pod
    forget(ctx, key_of(pod))
    ctx.remember(BINDING, name, None)
    assumed = evolve_parts(pod, spec={"node_name": binding.node})
    move_pods_on_event(ctx, profile, key_of(pod), assumed, None)
    if ctx.seen.at(key_of(pod)) is None:
        remove_from_queue(ctx, name, QueueEvent.BINDING_ENDED)
    handle_failure(ctx, name, pod, binding.message, reason="SchedulerError", nominated="")


def _forget_unwritten(ctx: TurnContext, binding: BindingInProgress) -> None:
    """Forget the assumed objects that were not written; written ones stay assumed until the informer shows them."""
    for write in binding.writes:
        if write.verb == "update":
            forget(ctx, write.key)


def cancel_binding(ctx: TurnContext, name: str) -> bool:
    """Let the binding cycle of a pod fail that is still in PreBind, and say whether it was (since 1.36)."""
    binding: BindingInProgress | None = ctx.note(BINDING, name)
    if binding is None or binding.stage not in ("write", "wait"):
        return False
    _forget_unwritten(ctx, binding)
    message = 'running PreBind plugin "VolumeBinding": binding volumes: context canceled'
    ctx.remember(BINDING, name, evolve(binding, stage="bind", message=message))
    ctx.enqueue(name, ctx.process.actors[WORKER])
    return True


def pod_claims(pod: Pod) -> list[Key]:
    """Return the index keys of a pod without a node: the claims that it uses."""
    return [] if pod.spec.node_name else binder.claim_keys_of_pod(pod)


def named_volume(claim: PersistentVolumeClaim) -> list[str]:
    """Return the index keys of a claim: the volume that it names."""
    return [claim.spec.volume_name] if claim.spec.volume_name else []


def _pods_using(ctx: TurnContext, key: Key, old: Any, new: Any) -> list[str]:
    """Return the names of the pods that use a changed claim or volume, sorted."""
    users, naming = ctx.views["users"], ctx.views["naming"]
    assert isinstance(users, Index)
    assert isinstance(naming, Index)
    claims = {key}
    if key.kind == "PersistentVolume":
        reserved_for = (_claim_of(old), _claim_of(new))
        claims = {*naming.keys(key.name), *(claim for claim in reserved_for if claim is not None)}
    return sorted(f"{pod.namespace}/{pod.name}" for claim in claims for pod in users.keys(claim))


def _claim_of(obj: Any) -> Key | None:
    """Return the key of the claim that a volume is reserved for, or None."""
    reference = getattr(getattr(obj, "spec", None), "claim_ref", None)
    return Key("PersistentVolumeClaim", reference.namespace, reference.name) if reference is not None else None


__all__ = [
    "BINDING", "WORKER", "BindWorker", "Strategy", "TwoPasses", "WaitInPreBind", "assume_and_bind", "assume_cache",
    "cancel_binding", "named_volume", "pod_claims",
]

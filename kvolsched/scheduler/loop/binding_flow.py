"""What happens once a node is chosen: the two ways this loop has been run, each a strategy with a worker of its own.

`TwoPasses` is the documents' (S0, workflow steps 8 to 10): volumes are assumed, the pod is not; a worker writes, sends
the pod back through scheduling regardless, and only a pass in which everything is bound places it. `WaitInPreBind` is
today's (kube-scheduler v1.36.2): pod and volumes are assumed, and the binding cycle waits until all claims are bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ... import volumes
from ...api.kinds.meta import evolve_parts
from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolumeClaim
from ...world.apiserver import CommittedWrite, RefusedWrite, Write, key_of, ref
from ...world.component import TurnContext
from ...world.log import Key
from ...world.view import Index
from ..framework.profile import Profile
from ..plugins.volume_binding import VolumeBinding
from . import scheduling_queue as queue
from . import volume_binder as binder
from .assume_cache import AssumeCache, AssumeRule, EqualVersions, NewerWins, PodStatusPatch, assume, forget
from .requeueing import move_pods_on_event, move_to_active_or_backoff, queue_of, remove_from_queue, requeue
from .scheduling_cycle import RECORDER, handle_failure, report_failure
from .scheduling_queue import QUEUE
from .volume_binder import POLL, BindingInProgress, CannotAssume, FoundVolumes

BINDING = "binding"
WORKER = "bind worker"
STARTED = "Volume binding started, waiting for completion"
WAITING, FAILED = "VolumeBindingWaiting", "VolumeBindingFailed"


@attrs.frozen
class TwoPasses:
    """The documents' flow: the pod is not assumed while its volumes bind, and always scheduled again.

    Args:
        volume_binding: the plugin whose decision is carried out.
        options: how volumes are matched and which annotation key is written.
        resync: a pod that waits for its volumes is tried again after so many seconds in any case (S0, Bind: a TODO);
            None: only when a claim or volume of its own changes.
    """

    volume_binding: VolumeBinding
    options: volumes.VolumeRules = volumes.DESIGN
    resync: float | None = None
    volume_rule: AssumeRule = NewerWins()
    errors_are_verdicts: bool = True

    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes:
        """Return what is to be bound and provisioned for a pod on its node."""
        return binder.find_pod_volumes(self.volume_binding.decide(pod, node, cache.behind), cache)

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Assume the volumes and queue the pod for binding, or, if all are bound, assume the pod itself."""
        cache = _cache(ctx)
        if binder.all_bound(pod, cache):
            return _place(ctx, name, pod, node)
        try:
            writes = binder.assume_pod_volumes(ctx, cache, found, node, self.options, writes_all=False)
        except CannotAssume as why:
            handle_failure(ctx, name, pod, f"AssumePodVolumes failed: {why}", reason="SchedulerError", said=str(why))
            return f"It cannot assume the volumes: {why}."
        if writes:
            _start(ctx, name, _binding(ctx, pod, node, found, writes))
            return f"It assumes {_listed(writes)} and queues the pod for binding; the pod itself is not assumed."
        self._wait(ctx, name, pod)
        return "Everything is written already: the pod waits for its volumes."

    def _wait(self, ctx: TurnContext, name: str, pod: Pod) -> None:
        """Send a pod back: it waits for its volumes, then goes through scheduling again."""
        if ctx.note(QUEUE, name) is not None:
            requeue(ctx, name, queue.WAITING, after=self.resync)
        report_failure(ctx, pod, "Normal", STARTED, WAITING, "")

    def noticed(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Let a pod that waits for its volumes be tried again when a claim or volume of its own changes."""
        waiting = queue_of(ctx).parts.get(queue.WAITING)
        if not waiting or key.kind not in ("PersistentVolumeClaim", "PersistentVolume"):
            return
        for name in _users(ctx, key, old, new):
            entry = waiting.get(name)
            if entry is not None:
                move_to_active_or_backoff(ctx, name, entry)

    def act(self, ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> bool:
        """Make the next write; when nothing remains, send the pod back through scheduling regardless (S0, Bind 3)."""
        if binding.stage == "bind":
            return _bind(ctx, name, binding, profile)
        if binding.stage == "tell":
            ctx.remember(BINDING, name, None)
            if binding.message:
                handle_failure(ctx, name, binding.pod, binding.message, reason=FAILED, said="")
            else:
                self._wait(ctx, name, binding.pod)
            return False
        outcome = ctx.commit(binding.writes[0])
        if isinstance(outcome, RefusedWrite):
            _forget_unwritten(ctx, binding)
            ctx.remember(BINDING, name, attrs.evolve(binding, stage="tell", message=outcome.message))
            return True
        left = binder.after_write(binding, outcome.write, outcome.stored.metadata.resource_version)
        ctx.remember(BINDING, name, left if left.writes else attrs.evolve(left, stage="tell"))
        return True


@attrs.frozen
class WaitInPreBind:
    """Today's flow: pod and volumes are assumed; the binding cycle writes, waits for the claims, and binds.

    Args:
        volume_binding: the plugin whose decision is carried out.
        options: how volumes are matched and which annotation key is written.
        bind_timeout: seconds after which the binding cycle gives up (bindTimeoutSeconds).
    """

    volume_binding: VolumeBinding
    options: volumes.VolumeRules = volumes.UPSTREAM
    bind_timeout: float = 600.0
    volume_rule: AssumeRule = EqualVersions()
    errors_are_verdicts: bool = False

    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes:
        """Return what is to be bound and provisioned for a pod on its node."""
        return binder.find_pod_volumes(self.volume_binding.decide(pod, node, cache.behind), cache)

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Reserve: assume the volumes and the pod, and start its binding cycle."""
        cache = _cache(ctx)
        if binder.all_bound(pod, cache):
            return _place(ctx, name, pod, node)
        try:
            writes = binder.assume_pod_volumes(ctx, cache, found, node, self.options, writes_all=True)
        except CannotAssume as why:
            handle_failure(ctx, name, pod, f'running Reserve plugin "VolumeBinding": {why}', reason="SchedulerError")
            return f"It cannot assume the volumes: {why}."
        _assume_pod(ctx, pod, node)
        words = f"Scheduler nominates {node} for {pod.metadata.name}"
        patch = PodStatusPatch(nominated_node_name=node)
        nominate = Write("patch", key_of(pod), patch, uid=pod.metadata.uid, words=words)
        _start(ctx, name, _binding(ctx, pod, node, found, (nominate, *writes)))
        return f"It assumes the pod there, and {_listed(writes)}."

    def noticed(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Nobody waits outside the binding cycle in this flow."""

    def act(self, ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> bool:
        """Make the next write of PreBind, look whether the claims are bound, or bind the pod."""
        match binding.stage:
            case "bind":
                return _bind(ctx, name, binding, profile)
            case "wait":
                return self._wait(ctx, name, binding)
        write = binding.writes[0]
        outcome = ctx.commit(write)
        if isinstance(outcome, RefusedWrite) and write.verb == "update":
            _forget_unwritten(ctx, binding)
            message = f'running PreBind plugin "VolumeBinding": {outcome.message}'
            ctx.remember(BINDING, name, attrs.evolve(binding, stage="bind", message=message))
            return True
        version = 0  # a nomination that is refused is no obstacle, and its version of no interest
        if isinstance(outcome, CommittedWrite) and write.verb == "update":
            version = outcome.stored.metadata.resource_version
        left = binder.after_write(binding, write, version)
        if not left.writes:
            left = attrs.evolve(left, stage="wait", deadline=ctx.now + self.bind_timeout)
            ctx.wake_after(name, POLL)
        ctx.remember(BINDING, name, left)
        return bool(left.writes)

    def _wait(self, ctx: TurnContext, name: str, binding: BindingInProgress) -> bool:
        """Look once a second whether the claims are bound, until the deadline."""
        late = ctx.now >= binding.deadline
        answer = "context deadline exceeded" if late else binder.check_bindings(binding, ctx)
        if answer is False:
            ctx.wake_after(name, min(POLL, binding.deadline - ctx.now))
            return False
        message = "" if answer is True else f'running PreBind plugin "VolumeBinding": binding volumes: {answer}'
        seen = f"stops waiting for the claims of {binding.pod.metadata.name}: {answer}"
        ctx.describe(f"Scheduler {seen if message else f'sees every claim of {binding.pod.metadata.name} bound'}.")
        ctx.remember(BINDING, name, attrs.evolve(binding, stage="bind", message=message))
        return True


Strategy = TwoPasses | WaitInPreBind


@attrs.frozen
class BindWorker:
    """The actor beside the scheduling pass: it makes the writes and sees bindings through.

    Under the design's two passes it is one worker that serves its queue in order (S0, Bind); pods with nothing to
    write, and all of today's binding cycles, go side by side.
    """

    flow: Strategy
    profile: Profile
    name: str = WORKER

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List the pods with something to do: of those that queue for the one worker only the head."""
        todo = ctx.process.work_queues[self.name]
        first = todo.first()
        if not every or first is None:
            return (first,) if first else ()  # the very first is at the head of the queue, or does not queue
        if not isinstance(self.flow, TwoPasses):
            return todo.all()
        every_one = [(self._is_placed(ctx, name), order, name) for order, name in todo.all()]
        head = [(order, name) for placed, order, name in every_one if not placed][:1]
        return sorted([*head, *((order, name) for placed, order, name in every_one if placed)])

    @staticmethod
    def _is_placed(ctx: TurnContext, name: str) -> bool:
        binding: BindingInProgress | None = ctx.note(BINDING, name)
        return binding is None or binding.stage == "bind"

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Look again whether the pod's claims are bound."""
        if ctx.note(BINDING, name) is not None:
            ctx.enqueue(name)

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Changes wake nobody here: the binding cycle looks at what it waits for once a second."""

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Take one pod's binding one turn further."""
        binding: BindingInProgress | None = ctx.note(BINDING, name)
        more = binding is not None and self.flow.act(ctx, name, binding, self.profile)
        if not more:
            ctx.dequeue(name)
        return more


def _cache(ctx: TurnContext) -> AssumeCache:
    cache = ctx.views["cache"]
    assert isinstance(cache, AssumeCache)
    return cache


def _listed(writes: Sequence[Write]) -> str:
    """Name the objects of these writes: `pv/disk and pvc/data`."""
    names = [ref(write.key) for write in writes]
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) if names else "no volumes"


def _binding(ctx: TurnContext, pod: Pod, node: str, found: FoundVolumes, writes: tuple[Write, ...]) -> BindingInProgress:
    static = tuple((key_of(claim), key_of(volume)) for claim, volume in found.static)
    return BindingInProgress(pod, node, static, tuple(map(key_of, found.provision)), writes, order=ctx.place)


def _start(ctx: TurnContext, name: str, binding: BindingInProgress) -> None:
    """Hand a pod to the bind worker."""
    ctx.remember(BINDING, name, binding)
    worker = next(actor for actor in ctx.process.component.actors if actor.name == WORKER)
    ctx.enqueue(name, worker)


def _assume_pod(ctx: TurnContext, pod: Pod, node: str) -> Pod:
    placed = evolve_parts(pod, spec={"node_name": node})
    assume(ctx, placed, key_of(pod))
    return placed


def _place(ctx: TurnContext, name: str, pod: Pod, node: str) -> str:
    """Assume a pod that needs nothing but its binding."""
    _assume_pod(ctx, pod, node)
    _start(ctx, name, BindingInProgress(pod, node, stage="bind", order=ctx.place))
    return "It assumes the pod there."


def _bind(ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> bool:
    """Bind the pod to its node, or take everything back that was assumed and say what failed."""
    pod = binding.pod
    if binding.message:
        _give_up(ctx, name, binding, profile)
        return False
    words = f"Scheduler binds {pod.metadata.name} to {binding.node}"
    outcome = ctx.commit(Write("bind", key_of(pod), binding.node, uid=pod.metadata.uid, words=words))
    if isinstance(outcome, RefusedWrite):
        message = f'running Bind plugin "DefaultBinder": {outcome.message}'
        ctx.remember(BINDING, name, attrs.evolve(binding, message=message))
        return True
    where = f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}"
    ctx.event(pod, "Normal", "Scheduled", f"Successfully assigned {where} to {binding.node}", RECORDER)
    ctx.remember(BINDING, name, None)
    remove_from_queue(ctx, name)
    return False


def _give_up(ctx: TurnContext, name: str, binding: BindingInProgress, profile: Profile) -> None:
    """Forget the pod and what was assumed for it; to the others that is as if a pod had been deleted."""
    pod = binding.pod
    for key in (*binding.provision, *(write.key for write in binding.writes if write.verb == "update")):
        forget(ctx, key)
    forget(ctx, key_of(pod))
    ctx.remember(BINDING, name, None)
    placed = evolve_parts(pod, spec={"node_name": binding.node})
    move_pods_on_event(ctx, profile, key_of(pod), placed, None)
    if ctx.seen.at(key_of(pod)) is None:
        remove_from_queue(ctx, name)
    handle_failure(ctx, name, pod, binding.message, reason="SchedulerError", nominated="")


def _forget_unwritten(ctx: TurnContext, binding: BindingInProgress) -> None:
    """Take back what was assumed and not written; what was written stays assumed until the informer shows it."""
    for write in binding.writes:
        if write.verb == "update":
            forget(ctx, write.key)


def pod_claims(pod: Pod) -> list[Key]:
    """Index words of a pod that has no place yet: the claims that it uses."""
    return [] if pod.spec.node_name else binder.claim_keys_of_pod(pod)


def named_volume(claim: PersistentVolumeClaim) -> list[str]:
    """Index words of a claim: the volume that it names."""
    return [claim.spec.volume_name] if claim.spec.volume_name else []


def _users(ctx: TurnContext, key: Key, old: Any, new: Any) -> list[str]:
    """Return the names of the pods that a changed claim or volume concerns, sorted."""
    users, naming = ctx.views["users"], ctx.views["naming"]
    assert isinstance(users, Index)
    assert isinstance(naming, Index)
    claims = {key}
    if key.kind == "PersistentVolume":
        reserved = (_claim_of(old), _claim_of(new))
        claims = {*naming.keys(key.name), *(claim for claim in reserved if claim is not None)}
    return sorted(f"{pod.namespace}/{pod.name}" for claim in claims for pod in users.keys(claim))


def _claim_of(obj: Any) -> Key | None:
    """Return the key of the claim that a volume is reserved for, or None."""
    reference = getattr(getattr(obj, "spec", None), "claim_ref", None)
    return Key("PersistentVolumeClaim", reference.namespace, reference.name) if reference is not None else None


__all__ = ["BINDING", "WORKER", "BindWorker", "Strategy", "TwoPasses", "WaitInPreBind", "named_volume", "pod_claims"]

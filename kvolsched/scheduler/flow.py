"""What happens once a node is chosen: the two ways this loop has been run, each a strategy with a worker of its own.

`TwoPasses` is the documents' (S0, workflow steps 8 to 10): volumes are assumed, the pod is not; a worker writes, sends
the pod back through scheduling regardless, and only a pass in which everything is bound places it. `WaitInPreBind` is
today's (kube-scheduler v1.36.2): pod and volumes are assumed, and the binding cycle waits until all claims are bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from .. import volumes
from ..world.apiserver import Done, Refused, Write, key_of
from ..world.component import Hand
from ..world.log import Key
from . import queue
from .assume import AssumeCache, PodStatusPatch, Rule, assume, equal_versions, forget, newer_wins
from .binder import (
    BIND_TIMEOUT,
    POLL,
    Binding,
    all_bound,
    assume_pod_volumes,
    check_bindings,
    claims_of,
    unwritten,
    without,
)
from .cycle import RECORDER, fail, leave, wake
from .plugins.volume_binding import Decision, VolumeBinding
from .queue import QUEUE, QueueEntry, SchedulingQueue

BINDING = "binding"
WORKER = "bind worker"
WAITING_WORDS = "Volume binding started, waiting for completion"


@attrs.frozen
class TwoPasses:
    """The documents' flow: the pod is not assumed while its volumes bind, and always scheduled again.

    Args:
        binder: the plugin whose decision is carried out.
        options: how volumes are matched and which annotation key is written.
    """

    binder: VolumeBinding
    options: volumes.Options = volumes.DESIGN
    volume_rule: Rule = newer_wins
    errors_are_verdicts: bool = True

    def chosen(self, hand: Hand, name: str, pod: Any, node: str) -> None:
        """Assume the volumes and queue the pod for binding, or, if all are bound, assume the pod itself."""
        cache: AssumeCache = hand.views["cache"]  # type: ignore[assignment]
        if all_bound(pod, cache):
            _assume_pod(hand, pod, node)
            _start(hand, name, Binding(pod, node, stage="bind", order=hand.place))
            return
        decision = self.binder.decide(pod, node, cache.behind)
        writes = assume_pod_volumes(hand, cache, decision, node, self.options)
        if any(write.new is not None and cache.holds(write.key) for write in writes):
            _start(hand, name, _binding(hand, pod, node, decision, writes))
        else:  # everything is written already, the PV controller or the provisioner is still busy
            message, reason = WAITING_WORDS, "VolumeBindingWaiting"
            fail(hand, name, pod, message, reason=reason, event="Normal", part=queue.WAITING)

    def noticed(self, hand: Hand, key: Key, old: Any, new: Any) -> None:
        """Let a pod that waits for its volumes be tried again when a claim or volume of its own changes."""
        if key.kind not in ("PersistentVolumeClaim", "PersistentVolume"):
            return
        waiting: SchedulingQueue = hand.views["queue"]  # type: ignore[assignment]
        for name, entry in waiting.of(queue.WAITING):
            if key in _own(hand, name) or _claim_of(old) in _own(hand, name) or _claim_of(new) in _own(hand, name):
                wake(hand, name, entry)

    def act(self, hand: Hand, name: str, binding: Binding) -> bool:
        """Make the next write; when nothing remains, send the pod back through scheduling regardless (S0, Bind 3)."""
        if binding.stage == "bind":
            return _bind(hand, name, binding)
        if binding.stage == "tell":
            hand.remember(BINDING, name, None)
            waiting = binding.reason == "VolumeBindingWaiting"
            part = queue.WAITING if waiting else queue.UNSCHEDULABLE
            event = "Normal" if waiting else "Warning"
            fail(hand, name, binding.pod, binding.message, reason=binding.reason, event=event, part=part)
            return False
        write = binding.writes[0]
        outcome = hand.commit(write)
        if isinstance(outcome, Refused):
            for key in unwritten(binding):
                forget(hand, key)
            told = attrs.evolve(binding, stage="tell", message=outcome.message, reason="VolumeBindingFailed", writes=())
            hand.remember(BINDING, name, told)
            return True
        left = without(binding, write, outcome.stored.metadata.resource_version)
        if not left.writes:
            left = attrs.evolve(left, stage="tell", message=WAITING_WORDS, reason="VolumeBindingWaiting")
        hand.remember(BINDING, name, left)
        return True


@attrs.frozen
class WaitInPreBind:
    """Today's flow: pod and volumes are assumed; the binding cycle writes, waits for the claims, and binds.

    Args:
        binder: the plugin whose decision is carried out.
        options: how volumes are matched and which annotation key is written.
    """

    binder: VolumeBinding
    options: volumes.Options = volumes.UPSTREAM
    volume_rule: Rule = equal_versions
    errors_are_verdicts: bool = False

    def chosen(self, hand: Hand, name: str, pod: Any, node: str) -> None:
        """Reserve: assume the volumes and the pod, and start its binding cycle."""
        cache: AssumeCache = hand.views["cache"]  # type: ignore[assignment]
        if all_bound(pod, cache):
            _assume_pod(hand, pod, node)
            _start(hand, name, Binding(pod, node, stage="bind", order=hand.place))
            return
        decision = self.binder.decide(pod, node, cache.behind)
        writes = assume_pod_volumes(hand, cache, decision, node, self.options)
        _assume_pod(hand, pod, node)
        patch = PodStatusPatch(nominated_node_name=node)
        words = f"scheduler nominates {node} for {pod.metadata.name}"
        nominate = Write("patch", key_of(pod), patch, uid=pod.metadata.uid, words=words)
        _start(hand, name, _binding(hand, pod, node, decision, (nominate, *writes)))

    def noticed(self, hand: Hand, key: Key, old: Any, new: Any) -> None:
        """Nobody waits outside the binding cycle in this flow."""

    def act(self, hand: Hand, name: str, binding: Binding) -> bool:
        """Make the next write of PreBind, look whether the claims are bound, or bind the pod."""
        match binding.stage:
            case "bind":
                return _bind(hand, name, binding)
            case "wait":
                return self._wait(hand, name, binding)
        write = binding.writes[0]
        outcome = hand.commit(write)
        if isinstance(outcome, Refused):
            if write.verb == "patch":  # kube-scheduler goes on when the pod's status could not be patched
                left = without(binding, write, 0)
            else:
                message = f'running PreBind plugin "VolumeBinding": {outcome.message}'
                hand.remember(BINDING, name, attrs.evolve(binding, stage="bind", message=message))
                return True
        else:
            version = outcome.stored.metadata.resource_version if write.verb == "update" else 0
            left = without(binding, write, version)
        if not left.writes:
            left = attrs.evolve(left, stage="wait", deadline=hand.now + BIND_TIMEOUT)
            hand.wake(name, POLL)
        hand.remember(BINDING, name, left)
        return bool(left.writes)

    def _wait(self, hand: Hand, name: str, binding: Binding) -> bool:
        answer = check_bindings(binding, hand)
        if answer is False and hand.now < binding.deadline:
            hand.wake(name, POLL)
            return False
        if answer is True:
            hand.remember(BINDING, name, attrs.evolve(binding, stage="bind"))
            return True
        words = answer if isinstance(answer, str) else "context deadline exceeded"
        message = f'running PreBind plugin "VolumeBinding": binding volumes: {words}'
        hand.remember(BINDING, name, attrs.evolve(binding, stage="bind", message=message))
        return True


Strategy = TwoPasses | WaitInPreBind


@attrs.frozen
class BindWorker:
    """The actor beside the scheduling pass: it makes the writes and sees bindings through, any number at a time.

    Under the design's two passes it is one worker that serves its queue in order (S0, Bind).
    """

    flow: Strategy
    name: str = WORKER

    def ready(self, hand: Hand, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List the pods with something to do: under the design only the one at the head of the queue."""
        todo = hand.process.todo[self.name]
        one = not every or isinstance(self.flow, TwoPasses)
        if not one:
            return todo.all()
        first = todo.first()
        return (first,) if first else ()

    def due(self, hand: Hand, name: str) -> None:
        """Look again whether the pod's claims are bound."""
        if hand.note(BINDING, name) is not None:
            hand.todo(name)

    def notice(self, hand: Hand, key: Key, old: Any, new: Any) -> None:
        """Changes wake nobody here: the binding cycle looks at what it waits for once a second."""

    def act(self, hand: Hand, name: str) -> bool:
        """Take one pod's binding one turn further."""
        binding: Binding | None = hand.note(BINDING, name)
        if binding is None:
            hand.done(name)
            return False
        more = self.flow.act(hand, name, binding)
        if not more:
            hand.done(name)
        return more


def _binding(hand: Hand, pod: Any, node: str, decision: Decision, writes: tuple[Write, ...]) -> Binding:
    return Binding(pod, node, tuple(decision.static), tuple(decision.provision), writes, order=hand.place)


def _start(hand: Hand, name: str, binding: Binding) -> None:
    """Hand a pod to the bind worker."""
    hand.remember(BINDING, name, binding)
    worker = next(actor for actor in hand.process.component.actors if actor.name == WORKER)
    hand.todo(name, worker)


def _assume_pod(hand: Hand, pod: Any, node: str) -> None:
    placed = attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name=node))
    assume(hand, placed, key_of(pod))


def _bind(hand: Hand, name: str, binding: Binding) -> bool:
    """Bind the pod to its node, or take everything back that was assumed and say what failed."""
    pod, message = binding.pod, binding.message
    if not message:
        words = f"scheduler binds {pod.metadata.name} to {binding.node}"
        outcome = hand.commit(Write("bind", key_of(pod), binding.node, uid=pod.metadata.uid, words=words))
        if isinstance(outcome, Done):
            where = f"{pod.metadata.namespace or 'default'}/{pod.metadata.name}"
            hand.event(pod, "Normal", "Scheduled", f"Successfully assigned {where} to {binding.node}", RECORDER)
            hand.remember(BINDING, name, None)
            leave(hand, name)
            return False
        message = f"running Bind plugin \"DefaultBinder\": {outcome.message}"
        hand.remember(BINDING, name, attrs.evolve(binding, message=message))
        return True
    for key in (*binding.provision, *unwritten(binding)):
        forget(hand, key)
    forget(hand, key_of(pod))
    hand.remember(BINDING, name, None)
    fail(hand, name, pod, message, reason="SchedulerError", denominate=True)
    return False


def _own(hand: Hand, name: str) -> set[Key | None]:
    """Return the keys of a pod's claims and of the volumes they name."""
    namespace, _, pod_name = name.partition("/")
    pod = hand.seen.get("Pod", pod_name, namespace)
    if pod is None:
        return set()
    claims = claims_of(pod)
    named = {
        Key("PersistentVolume", "", claim.spec.volume_name)
        for claim in map(hand.seen.at, claims)
        if claim is not None and claim.spec.volume_name
    }
    return {*claims, *named}


def _claim_of(obj: Any) -> Key | None:
    """Return the key of the claim that a volume is reserved for, or None."""
    reference = getattr(getattr(obj, "spec", None), "claim_ref", None)
    return Key("PersistentVolumeClaim", reference.namespace, reference.name) if reference is not None else None


__all__ = ["BINDING", "WORKER", "BindWorker", "QueueEntry", "Strategy", "TwoPasses", "WaitInPreBind", "QUEUE"]

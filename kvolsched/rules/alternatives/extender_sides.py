"""The two sides of an extender: the scheduler that asks and waits, the PV controller that answers and binds.

A call is a question, a note in the callee's process, and an answer in the scheduler's, a turn each. It goes to an
address; who listens there is decided by the lease of the controllers, which one master holds.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.pod import Pod
from ...controllers import persistent_volume
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.extension_points import PostFilterResult
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.ranking import rank
from ...scheduler.loop.assume_cache import AssumeCache, AssumeRule, drop_outdated, forget, key_of_note
from ...scheduler.loop.binding_flow import TwoPasses, assume_and_bind, assume_cache
from ...scheduler.loop.scheduling_cycle import PASS, SCHEDULER, SchedulingPass, handle_failure
from ...scheduler.loop.scheduling_queue import QUEUE, QueueEvent, pod_key_of_entry, remove_from_queue
from ...scheduler.loop.volume_binder import CannotAssume, FoundVolumes, all_bound, assume_pod_volumes, find_pod_volumes
from ...scheduler.plugins.volume_binding import VolumeBinding
from ...world.apiserver import CommittedWrite, RefusedWrite, Write
from ...world.component import WORLD, TurnContext
from ...world.digest import DIGEST_IGNORES
from ...world.log import Key, LogKey, Note
from ...world.reconciler import Reconciler
from ...world.view import InformerCache, View
from ...world.work_queue import WorkItem, WorkQueue

VOLUMES = "volumes of pods"
ASKED, BIND_ANSWERS = "asked", "bind answers"
OWN = "own"  # the notes of what the PV controller has written itself
FILTER, BIND = "filter", "bind"
QUESTION, ENDPOINT = "question", "extender"
LEASE = Note(WORLD, "lease", "kube-controller-manager")
# The sorts of the scheduler's notes about calls that it waits for, and of those with answers.
ASKED_TO, ANSWERED = ({verb: f"{word} to {verb}" for verb in (FILTER, BIND)} for word in ("asked", "answer"))
TIMEOUT = {FILTER: 5.0, BIND: 30.0}  # seconds after which the scheduler gives a call up


@attrs.frozen
class Lease:
    """The note of the world that says which master holds the controllers' lease, and how often it was dealt."""

    holder: str
    number: int = attrs.field(default=0, metadata=DIGEST_IGNORES)


@attrs.frozen
class CallQuestion:
    """The note of a call in the callee's process; `keys` are the objects that it has assumed for it."""

    verb: str
    pod: Pod
    nodes: tuple[str, ...]
    keys: tuple[Key, ...] = ()


@attrs.frozen
class CallAnswer:
    """The note of an answer in the scheduler's process: the nodes that fit, why others do not, or an error."""

    fits: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    error: str = ""
    order: int = attrs.field(default=0, metadata=DIGEST_IGNORES)


def component_on(master: str) -> str:
    """Return the name of the PV controller's process on a master."""
    return f"{persistent_volume.NAME} on {master}"


@attrs.frozen
class Network:
    """Where the scheduler calls the extender."""

    address: str = "master-1"  # the master that the scheduler is configured with
    stable_name: str = ""  # a name that leads to the master with the lease, wherever it is; "": there is none
    authorised: bool = True  # whether the scheduler has a token that the extender accepts

    def call(self, ctx: TurnContext, verb: str, name: str, pod: Pod, nodes: tuple[str, ...]) -> str:
        """Send a question about a pod to whoever listens at the address; return the error if nobody takes it."""
        lease: Lease | None = ctx.sim.log.notes.get(LEASE)
        holder = lease.holder if lease is not None else ""
        host = self.stable_name or self.address
        if not holder or (not self.stable_name and host != holder):
            return f'Post "http://{host}/{verb}": dial tcp: connect: connection refused'
        if not self.authorised:
            return f'Post "http://{host}/{verb}": 401 Unauthorized'
        callee = component_on(holder)
        ctx.sim.log.write(Note(callee, QUESTION, name), CallQuestion(verb, pod, nodes))
        ctx.sim.log.write(Note(callee, f"todo {ENDPOINT}", name), WorkItem(ctx.place))
        ctx.remember(ASKED_TO[verb], name, WorkItem(ctx.place))
        ctx.wake_after(f"{verb} {name}", TIMEOUT[verb], actor=PASS)
        return ""


def answer(ctx: TurnContext, verb: str, name: str, given: CallAnswer) -> None:
    """Answer a question in the callee's turn; a scheduler that waits no longer gets nothing."""
    ctx.remember(QUESTION, name, None)
    if Note(SCHEDULER, ASKED_TO[verb], name) in ctx.sim.log.notes:
        ctx.sim.log.write(Note(SCHEDULER, ANSWERED[verb], name), attrs.evolve(given, order=ctx.place))


def give_up(ctx: TurnContext, verb: str, name: str) -> None:
    """Note in the scheduler's turn that a call has taken too long."""
    if ctx.note(ASKED_TO[verb], name) is not None and ctx.note(ANSWERED[verb], name) is None:
        message = f"the extender's {verb}: context deadline exceeded"
        ctx.remember(ANSWERED[verb], name, CallAnswer(error=message, order=ctx.place))


def take_answer(ctx: TurnContext, verb: str, name: str) -> CallAnswer:
    """End a call in the scheduler's turn and return its answer."""
    given: CallAnswer = ctx.note(ANSWERED[verb], name) or CallAnswer()
    ctx.remember(ASKED_TO[verb], name, None)
    ctx.remember(ANSWERED[verb], name, None)
    ctx.cancel_wake_up(f"{verb} {name}", PASS)
    return given


class HoldsLease:
    """Condition that a master holds the lease: until then its process watches nothing. Mutable view."""

    def __init__(self, master: str) -> None:
        self.follows = frozenset([LEASE.sort])
        self.master = master
        self.holder = ""

    def apply(self, _key: LogKey, _old: Any, new: Any) -> None:
        """Take the present lease."""
        self.holder = new.holder if new is not None else ""

    @property
    def is_met(self) -> bool:
        """Whether this master holds it."""
        return self.holder == self.master


@attrs.frozen
class ExtenderPass(SchedulingPass):
    """A pass that first asks the extender which nodes have volumes for the pod; until the answer it waits.

    Args:
        network: where the extender is called.
    """

    network: Network = Network()

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """Return the pod whose answer has come; none while one is waited for; else the first of the queue."""
        waiting: WorkQueue = ctx.views[ASKED]
        first = waiting.first()
        if first is None:
            return super().ready_causes(ctx, every=every)
        answered = ctx.note(ANSWERED[FILTER], first[1]) is not None
        return (first,) if answered or ctx.note(QUEUE, first[1]) is None else ()

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Give a call up whose time is over, or activate a pod."""
        verb, _, pod = name.partition(" ")
        if verb in (FILTER, BIND):
            give_up(ctx, verb, pod)
        else:
            super().on_wake_up(ctx, name)

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Ask about a pod with claims, bound or not; with the answer, judge and choose as always."""
        pod: Pod | None = ctx.seen.at(pod_key_of_entry(name))
        if ctx.note(ASKED_TO[FILTER], name) is not None:
            return self._with_answer(ctx, name, pod)
        if pod is None or pod.spec.node_name or not tuple(pod.claim_names()):
            return super().act(ctx, name)
        nodes = tuple(node.metadata.name for node in ctx.seen.all("Node"))
        error = self.network.call(ctx, FILTER, name, pod, nodes)
        if error:
            self._fail(ctx, name, pod, error)
        else:
            ctx.describe(f"Scheduler asks the extender about {pod.metadata.name}, and waits.")
        return False

    def _with_answer(self, ctx: TurnContext, name: str, pod: Pod | None) -> bool:
        given: CallAnswer | None = ctx.note(ANSWERED[FILTER], name)
        if pod is not None and given is not None and given.error and ctx.note(QUEUE, name) is not None:
            self._fail(ctx, name, pod, given.error)
        elif ctx.note(QUEUE, name) is not None:
            super().act(ctx, name)
        take_answer(ctx, FILTER, name)
        return False

    @staticmethod
    def _fail(ctx: TurnContext, name: str, pod: Pod, error: str) -> None:
        ctx.describe(f"Scheduler cannot ask the extender about {pod.metadata.name}: {error}")
        handle_failure(ctx, name, pod, error, reason="SchedulerError")

    def choose(self, ctx: TurnContext, name: str, judgement: Judgement, number: int) -> str:
        """Return the best of the nodes that fit and that the extender has not rejected."""
        given: CallAnswer | None = ctx.note(ANSWERED[FILTER], name)
        if given is None:
            return super().choose(ctx, name, judgement, number)
        totals = {node: total for node, total in rank(judgement).total().items() if node in given.fits}
        best = sorted(node for node, total in totals.items() if total == max(totals.values()))
        return best[ctx.draw("tie", name, len(best), number)] if len(best) > 1 else "".join(best)

    def _handle_no_fit(self, ctx: TurnContext, name: str, pod: Pod, judgement: Judgement,
                       preemption: PostFilterResult) -> None:
        """Report the extender's reasons, or the plugins' if they reject every node."""
        given: CallAnswer | None = ctx.note(ANSWERED[FILTER], name)
        if given is None or not judgement.any_feasible:
            super()._handle_no_fit(ctx, name, pod, judgement, preemption)
            return
        counted = (f"{count} {reason}" for reason, count in Counter(given.reasons).items())
        message = f"0/{judgement.seen.size} nodes are available: {', '.join(sorted(counted))}."
        handle_failure(ctx, name, pod, message, rejected_by=("VolumeBinding",))


@attrs.frozen
class ExtenderFlow(TwoPasses):
    """The design's flow with its volume binding behind the extender.

    Args:
        network: where the extender is called.
    """

    network: Network = Network()

    def find(self, pod: Pod, node: str, cache: AssumeCache) -> FoundVolumes:
        """Look for nothing: the extender knows."""
        return FoundVolumes()

    def reserve(self, ctx: TurnContext, name: str, pod: Pod, node: str, found: FoundVolumes) -> str:
        """Ask the extender to bind the volumes; if all are bound, assume the pod and bind it."""
        if all_bound(pod, assume_cache(ctx)):
            return assume_and_bind(ctx, name, pod, node)
        error = self.network.call(ctx, BIND, name, pod, (node,))
        if error:
            handle_failure(ctx, name, pod, error, reason="SchedulerError")
            return f"It cannot ask the extender to bind: {error}"
        return "It asks the extender to bind its volumes there; the pod itself is not assumed."

    def tell(self, ctx: TurnContext, name: str, pod: Pod, error: str) -> None:
        """Send a pod back through scheduling after its volumes were bound, or were not."""
        if error:
            handle_failure(ctx, name, pod, error, reason="SchedulerError")
        else:
            self._wait(ctx, name, pod)


@attrs.frozen
class BindAnswers:
    """The scheduler's actor that takes the extender's answers to bind."""

    flow: ExtenderFlow
    name: str = "extender answers"

    def on_change(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> None:
        """Ignore changes: it goes by answers."""

    def on_wake_up(self, ctx: TurnContext, name: str) -> None:
        """Ignore wake-ups: the pass that called gives a call up."""

    def ready_causes(self, ctx: TurnContext, *, every: bool = False) -> Sequence[tuple[int, str]]:
        """List the pods whose answers have come."""
        answers: WorkQueue = ctx.views[BIND_ANSWERS]
        return answers.next(every=every)

    def act(self, ctx: TurnContext, name: str) -> bool:
        """Take one answer and requeue the pod."""
        given = take_answer(ctx, BIND, name)
        pod: Pod | None = ctx.seen.at(pod_key_of_entry(name))
        if pod is not None:
            self.flow.tell(ctx, name, pod, given.error)
        elif ctx.note(QUEUE, name) is not None:
            remove_from_queue(ctx, name, QueueEvent.BINDING_ENDED)
        return False


def scheduler_views(_seen: InformerCache) -> dict[str, View]:
    """Return the scheduler's queues of calls."""
    return {ASKED: WorkQueue(ASKED_TO[FILTER]), BIND_ANSWERS: WorkQueue(ANSWERED[BIND])}


class SharedAssumeCache(AssumeCache):
    """The extender's cache over the PV controller's: it sees what that has written before the informer does (S0).

    Mutable view.
    """

    def __init__(self, snapshot: Snapshot, volume_rule: AssumeRule) -> None:
        super().__init__(snapshot, volume_rule)
        self.follows |= {OWN}
        self.watched: dict[Key, Any] = {}
        self.written: dict[Key, Any] = {}

    def apply(self, key: LogKey, old: Any, new: Any) -> None:
        """Apply a change of a watched, written or assumed object."""
        if type(key) is Note and key.sort != OWN:
            super().apply(key, old, new)
            return
        store, object_key = (self.written, key_of_note(key.name)) if type(key) is Note else (self.watched, key)
        assert isinstance(object_key, Key)
        before = self._latest(object_key)
        if new is None:
            store.pop(object_key, None)
        else:
            store[object_key] = new
        after = self._latest(object_key)
        if before is not after:
            super().apply(object_key, before, after)

    def apply_list(self, _kind: str, objects: Mapping[Key, Any]) -> None:
        """Take all objects of a kind of which none is watched yet."""
        for key, obj in objects.items():
            self.apply(key, None, obj)

    def _latest(self, key: Key) -> Any:
        """Return what the controller has written itself and not seen yet, else what it has seen."""
        written = self.written.get(key)
        return self.watched.get(key) if written is None or isinstance(written, str) else written


@attrs.frozen
class Endpoint:
    """The extender inside the PV controller's process: it answers by that process' cache."""

    volume_binding: VolumeBinding  # the plugin that decides
    options: volumes.VolumeRules  # how volumes are matched
    volume_rule: AssumeRule  # whether the seen or the assumed version of a volume is current

    def routine(self) -> Reconciler:
        """Return the actor."""
        return Reconciler(ENDPOINT, self._on_change, self.sync, self._on_refused, self._on_committed)

    def views(self, _seen: InformerCache) -> dict[str, View]:
        """Return the cache of what is assumed for pods."""
        return {VOLUMES: SharedAssumeCache(Snapshot(), self.volume_rule)}

    def _on_change(self, ctx: TurnContext, key: Key, _old: Any, _new: Any) -> Iterator[str]:
        drop_outdated(ctx, ctx.views[VOLUMES], key, self.volume_rule)
        yield from ()

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Answer which nodes fit; or assume the volumes of a pod and return the writes that bind them."""
        question: CallQuestion | None = ctx.note(QUESTION, cause)
        if question is None:
            return ()
        cache: AssumeCache = ctx.views[VOLUMES]
        cache.snapshot.moment = ctx.moment
        decisions = {node: self.volume_binding.decide(question.pod, node, cache.snapshot) for node in question.nodes}
        name = question.pod.metadata.name
        if question.verb == FILTER:
            fits = tuple(node for node, each in decisions.items() if not (each.reasons or each.error))
            reasons = tuple(reason for each in decisions.values() for reason in (*each.reasons, each.error) if reason)
            ctx.describe(f"Extender finds volumes for {name} on {', '.join(fits) or 'no node'}.")
            answer(ctx, FILTER, cause, CallAnswer(fits, reasons))
            return ()
        (node, decision), = decisions.items()
        found = find_pod_volumes(decision, cache)
        try:
            writes = assume_pod_volumes(ctx, cache, found, node, self.options, writes_all=False)
        except CannotAssume as why:
            answer(ctx, BIND, cause, CallAnswer(error=f"AssumePodVolumes failed: {why}"))
            return ()
        if not writes:
            answer(ctx, BIND, cause, CallAnswer(error=decision.error))
        else:
            ctx.remember(QUESTION, cause, attrs.evolve(question, keys=tuple(write.key for write in writes)))
        return [attrs.evolve(write, words=write.words.replace("Scheduler", "Extender", 1)) for write in writes]

    @staticmethod
    def _on_committed(ctx: TurnContext, cause: str, _committed: CommittedWrite, *, last: bool) -> None:
        if last:
            answer(ctx, BIND, cause, CallAnswer())

    @staticmethod
    def _on_refused(ctx: TurnContext, cause: str, refused: RefusedWrite) -> None:
        question: CallQuestion | None = ctx.note(QUESTION, cause)
        for key in question.keys if question is not None else ():
            forget(ctx, key)
        answer(ctx, BIND, cause, CallAnswer(error=refused.message))

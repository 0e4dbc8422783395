"""Calls of an extender as notes: a question in the callee's process, an answer in the scheduler's, a turn each.

A call goes to an address. Who listens there is decided by the lease of the controllers, which one master holds.
"""

from typing import Any

import attrs

from ...api.kinds.pod import Pod
from ...controllers import persistent_volume
from ...scheduler.loop.scheduling_cycle import PASS, SCHEDULER
from ...world.component import WORLD, TurnContext
from ...world.digest import DIGEST_IGNORES
from ...world.log import Key, LogKey, Note
from ...world.work_queue import WorkItem

FILTER, BIND = "filter", "bind"
QUESTION, ENDPOINT = "question", "extender"
LEASE = Note(WORLD, "lease", "kube-controller-manager")
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


@attrs.frozen
class Asked:
    """The note of a call that the scheduler waits for."""

    order: int = attrs.field(metadata=DIGEST_IGNORES)


def asked_sort(verb: str) -> str:
    """Return the sort of the scheduler's notes about calls that it waits for."""
    return f"asked to {verb}"


def answer_sort(verb: str) -> str:
    """Return the sort of the scheduler's notes with answers."""
    return f"answer to {verb}"


def component_on(master: str) -> str:
    """Return the name of the PV controller's process on a master."""
    return f"{persistent_volume.NAME} on {master}"


@attrs.frozen
class Network:
    """Where the scheduler calls the extender.

    Args:
        address: the master that the scheduler is configured with.
        stable_name: a name that leads to the master with the lease, wherever it is; "": there is none.
        authorised: whether the scheduler has a token that the extender accepts.
    """

    address: str = "master-1"
    stable_name: str = ""
    authorised: bool = True

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
        ctx.remember(asked_sort(verb), name, Asked(ctx.place))
        ctx.wake_after(f"{verb} {name}", TIMEOUT[verb], actor=PASS)
        return ""


def answer(ctx: TurnContext, verb: str, name: str, given: CallAnswer) -> None:
    """Answer a question in the callee's turn; a scheduler that waits no longer gets nothing."""
    ctx.remember(QUESTION, name, None)
    if Note(SCHEDULER, asked_sort(verb), name) in ctx.sim.log.notes:
        ctx.sim.log.write(Note(SCHEDULER, answer_sort(verb), name), attrs.evolve(given, order=ctx.place))


def give_up(ctx: TurnContext, verb: str, name: str) -> None:
    """Note in the scheduler's turn that a call has taken too long."""
    if ctx.note(asked_sort(verb), name) is not None and ctx.note(answer_sort(verb), name) is None:
        message = f"the extender's {verb}: context deadline exceeded"
        ctx.remember(answer_sort(verb), name, CallAnswer(error=message, order=ctx.place))


def take_answer(ctx: TurnContext, verb: str, name: str) -> CallAnswer:
    """End a call in the scheduler's turn and return its answer."""
    given: CallAnswer = ctx.note(answer_sort(verb), name) or CallAnswer()
    ctx.remember(asked_sort(verb), name, None)
    ctx.remember(answer_sort(verb), name, None)
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

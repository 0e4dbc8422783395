"""Tries a fix: runs it until idle on a fork, beside a run without it.

The two runs differ in the fix alone, so what differs at their ends is its effect: a pod that would have found its node
anyway is not counted for the fix, and one that waits only because of it is. Whether the pod keeps its node is read from
the turns of the fork, and what is still to come there.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs

from ...api.kinds.pod import Pod
from ...controllers import taint_eviction
from ...core.acts import ClusterActs
from ...core.core import ClusterCore
from ...core.results import ApplyRefused, Run
from ...scheduler.framework.judgement import Judgement
from ...world.apiserver import CommittedWrite, key_of
from ...world.log import Key, Note
from ..why.answer import Why
from ..why.asking import is_pending, judge_now, why
from .edit import ObjectChange, OutsideAct, carry_out
from .harm import harm, identity, lost_claims, pods_among, stars
from .outcome import LostNode, MovedPod, TriedFix, WaitingPod
from .owners import for_owner, owner_on_top, siblings

# Of a run; one step more for each object. A pod that tolerates a taint for a time does so for 300 s, as a rule.
MAX_STEPS, MAX_SECONDS = 3_000, 600.0
LARGE = 20_000  # objects of a cluster from which on fixes are judged, and run only when somebody asks for it
REMOVALS = ("delete", "evict")
Attempt = tuple["ObjectChange | OutsideAct", ...]
"""What is tried: changes of objects by users, and acts from outside."""


@attrs.frozen
class Placement:
    """A pod that got a node in a fork: the pod then, the time, and the number of turns that were made before."""

    pod: Any
    time: float
    turns: int

    def eviction(self, cluster: ClusterCore, key: Key) -> LostNode | None:
        """Return how the pod loses its node, in the run or at a time that is known already; None: it keeps it."""
        node = str(self.pod.spec.node_name)
        for turn in cluster.world.turns[self.turns :]:
            for outcome in turn.outcomes:
                if isinstance(outcome, CommittedWrite) and outcome.write.key == key and outcome.write.verb in REMOVALS:
                    why = self._ended_toleration(cluster) if turn.component == taint_eviction.NAME else ""
                    return LostNode(node, turn.time - self.time, why or turn.words)
        note = Note(taint_eviction.NAME, taint_eviction.EVICT, f"{key.namespace}/{key.name}")
        scheduled = cluster.world.log.notes.get(note)
        if scheduled is None:
            return None
        return LostNode(node, scheduled.at - self.time, self._ended_toleration(cluster))

    def _ended_toleration(self, cluster: ClusterCore) -> str:
        """Say which taints the pod does not tolerate for ever, "" if its node has none of them now."""
        node = cluster.world.log.objects.get(Key("Node", "", self.pod.spec.node_name))
        found = ", ".join(dict.fromkeys(map(str, taint_eviction.taints_that_evict(self.pod, node))))
        return f"it does not tolerate {found} for longer" if found else ""


@attrs.define
class ForkWithFix:
    """A fork in which a fix is made, run until the pod has a node, and on until idle. Mutable: it runs once.

    Args:
        cluster: the fork.
        pod: the pod that the fix is for; `asked` is how it was.
        steps_until_scheduled: after how many steps the pod had a node, or nothing was left to do.
        steps: how many steps it has run.
        ended: why the run ended; "": it has not run.
        idle: whether nothing was left to do then.
        eviction: how the pod loses the node that it got; None if it keeps it.
        fits: the nodes that fitted before it ran.
        known: the pods that there were before the fix.
    """

    cluster: ClusterActs
    pod: Key
    asked: Pod
    fits: tuple[str, ...] = ()
    steps_until_scheduled: int = 0
    steps: int = 0
    ended: str = ""
    idle: bool = False
    eviction: LostNode | None = None
    known: frozenset[Key] = attrs.field(kw_only=True)

    def run(self) -> None:
        """Run until nothing is left to do, if it has not run yet."""
        if not self.ended:
            self.steps_until_scheduled = len(self._run(lambda _cluster: bool(self.node)))
            world, there = self.cluster.world, self.stands_for_it
            placed = Placement(there, world.now, len(world.turns)) if there is not None and self.node else None
            rest = self._run(None)
            self.steps, self.ended, self.idle = self.steps_until_scheduled + len(rest), rest.ended, rest.idle
            last = self.stands_for_it
            if placed is not None and last is not None and last.spec.node_name and key_of(last) != key_of(placed.pod):
                placed = Placement(last, world.now, len(world.turns))  # a rollout has replaced it since
            self.eviction = placed.eviction(self.cluster, key_of(placed.pod)) if placed is not None else None

    @property
    def stands_for_it(self) -> Pod | None:
        """The pod, or one that its owner has made since in its place, first one with a node; None: there is none."""
        objects = self.cluster.world.log.objects
        pod: Pod | None = objects.get(self.pod)
        if pod is not None:
            return pod
        made = (each for each in siblings(self.asked, objects) if key_of(each) not in self.known)
        return min(made, key=lambda each: (not each.spec.node_name, key_of(each)), default=None)

    @property
    def waiting(self) -> int:
        """How many pods of its owner wait."""
        return sum(is_pending(pod) for pod in siblings(self.asked, self.cluster.world.log.objects))

    @property
    def running(self) -> int:
        """How many pods of its owner have a node."""
        return sum(bool(_node(pod)) for pod in siblings(self.asked, self.cluster.world.log.objects))

    def _run(self, until: Callable[[Any], bool] | None) -> Run:
        most = MAX_STEPS + len(self.cluster.world.log.objects)
        return self.cluster.run(until, steps=most, seconds=MAX_SECONDS)

    @property
    def node(self) -> str:
        """The node that the pod, or the one in its place, has now; or ""."""
        pod = self.stands_for_it
        return _node(pod) if pod is not None else ""


class AskedCluster:
    """The cluster as it was when fixes were asked for, on which each is tried. Mutable: it remembers runs.

    Args:
        cluster: the cluster at hand, of which a fork is kept.
        pod: the pending pod.
        asked: why it is pending.
    """

    def __init__(self, cluster: ClusterActs, pod: Key, asked: Why) -> None:
        self._kept = cluster.fork("as it was")
        self.pod = pod
        self.asked = asked
        self._forks: dict[Attempt, ForkWithFix] = {}
        self._tried: dict[Attempt, TriedFix] = {}
        self._losses: dict[Attempt, Counter[str] | None] = {}

    @property
    def name(self) -> str:
        """The pod as `namespace/name`."""
        return f"{self.pod.namespace}/{self.pod.name}"

    @property
    def objects(self) -> Mapping[Key, Any]:
        """The objects as they were."""
        return self._kept.world.log.objects

    @property
    def is_large(self) -> bool:
        """Whether there are so many objects that a run takes long."""
        return len(self.objects) >= LARGE

    def for_owner(self, changes: Iterable[ObjectChange]) -> tuple[ObjectChange, ...]:
        """Return changes in which those of the pod are made in the template of its workload."""
        return for_owner(changes, self.objects[self.pod], self.objects)

    def fork_with(self, changes: Attempt) -> ForkWithFix:
        """Return the fork of the cluster as it was in which the changes are made; it is made and judged once.

        Raises:
            ApplyRefused: the API server refuses.
            KeyError: an object to be changed does not exist.
        """
        if changes not in self._forks:
            made = self._forks[changes] = self._made(changes)
            judged = judge_now(made.cluster, self.pod) if self.pod in made.cluster.world.log.objects else None
            made.fits = () if judged is None or judged.error else judged.feasible
        return self._forks[changes]

    def _made(self, changes: Attempt) -> ForkWithFix:
        fork = self._kept.fork("with the fix" if changes else "without a fix")
        objects = self.objects
        carry_out(fork, [each for each in changes if isinstance(each, ObjectChange)],
                  [each for each in changes if isinstance(each, OutsideAct)])  # fmt: skip
        known = frozenset(key for key in objects if key.kind == "Pod")
        return ForkWithFix(fork, self.pod, objects[self.pod], known=known)

    @cached_property
    def judgement(self) -> Judgement:
        """The verdicts on every node as it was; gates, which keep a pod from being judged, aside."""
        return judge_now(self._kept, self.pod)

    @property
    def gates(self) -> tuple[str, ...]:
        """The names of the pod's scheduling gates."""
        return tuple(gate.name for gate in self._kept.world.log.objects[self.pod].spec.scheduling_gates)

    @cached_property
    def without_fix(self) -> ForkWithFix:
        """The fork that ran until idle without any fix."""
        control = self.fork_with(())
        control.run()
        return control

    def losses(self, changes: Attempt, *, keep: bool = False) -> Counter[str] | None:
        """Return how many pods of whom lose their node once changes are made, or None if the pod gets no node
        that it keeps.

        Pods of one controller stand for each other, whatever their names; claims count if they lose their volume.

        Args:
            changes: what is changed.
            keep: whether the fork is kept for `fork_with`.
        """
        if changes not in self._losses:
            self._losses[changes] = self._count_losses(changes, keep=keep)
        return self._losses[changes]

    def _count_losses(self, changes: Attempt, *, keep: bool) -> Counter[str] | None:
        try:
            forked = self.fork_with(changes) if keep or changes in self._forks else self._made(changes)
        except (ApplyRefused, KeyError):
            return None
        forked.run()
        before, after = self._kept.world.log.objects, forked.cluster.world.log.objects
        lost = _placed(before, self.pod) - _placed(after, self.pod)
        lost.update({f"claim {name}": 1 for name in lost_claims(after) if name not in lost_claims(before)})
        return lost if forked.node and forked.eviction is None else None

    def try_changes(self, changes: Attempt, words: str) -> TriedFix:
        """Make changes in a fork, run it until idle, and compare its pods with those of a run without them."""
        if changes not in self._tried:
            self._tried[changes] = self._compare(changes, words)
        return self._tried[changes]

    def _compare(self, changes: Attempt, words: str) -> TriedFix:
        try:
            forked = self.fork_with(changes)
        except (ApplyRefused, KeyError) as error:
            return TriedFix(self.name, words, self._kept.fork(), refused=str(error.args[0]))
        forked.run()
        fork = forked.cluster
        before, after = pods_among(self.without_fix.cluster.world.log.objects), pods_among(fork.world.log.objects)
        pod = forked.stands_for_it
        mine = key_of(pod) if pod is not None else self.pod
        others = {key: _node(found) for key, found in after.items() if key != mine}
        changed = [key for key, node in others.items() if key in before and node != _node(before[key])]
        cost = harm(self.without_fix.cluster.world.log.objects, fork.world.log.objects, self.objects, mine)
        waits_now = tuple(WaitingPod(f"{key.namespace}/{key.name}", why(fork, f"pod/{key.namespace}/{key.name}"))
                          for key in cost.waiting)  # fmt: skip
        shifts = tuple(MovedPod(f"{key.namespace}/{key.name}", _node(before[key]), others[key])
                       for key in sorted(changed) if others[key])  # fmt: skip
        lacked = {(row.plugin, row.sort) for row in (*self.asked.demands, *self.asked.also)}
        owner = owner_on_top(self.objects[self.pod], self.objects)
        nodes = [each.key.name for each in changes if isinstance(each, ObjectChange)
                 and each.key.kind == "Node" and each.old is None]  # fmt: skip
        cost = attrs.evolve(cost, gone=tuple(key for key in cost.gone if key != self.pod))
        return TriedFix(
            self.name, words, fork, forked.node, pod.status.phase if pod is not None else "",
            forked.steps, forked.ended, forked.idle, waits_now,
            placed=tuple(shift for shift in shifts if not shift.before),
            moved=tuple(shift for shift in shifts if shift.before),
            harm=cost,
            stars=stars(self.without_fix.cluster.world.log.objects, fork.world.log.objects, self.objects, cost),
            lack_moves_to=tuple(waits.name for waits in waits_now
                                if any((row.plugin, row.sort) in lacked for row in waits.why.demands)),
            without_fix=_placements(before),
            with_fix=_placements(after),
            new_nodes=tuple(nodes),
            eviction=forked.eviction,
            owner=str(owner) if owner is not None else "",
            stand_in=f"{mine.namespace}/{mine.name}",
            waited=self.without_fix.waiting,
            waits=forked.waiting,
            runs_more=forked.running > self.without_fix.running,
        )  # fmt: skip


def _node(pod: Any) -> str:
    return str(pod.spec.node_name)


def _placements(pods: Mapping[Key, Any]) -> dict[str, str]:
    """Return the node of each pod that has not ended, by its name."""
    return {f"{key.namespace}/{key.name}": _node(pod) for key, pod in sorted(pods.items()) if not pod.terminal}


def _placed(objects: Mapping[Key, Any], but: Key) -> Counter[str]:
    """Count the pods on nodes by who made them, without one pod."""
    pods = ((key, obj) for key, obj in objects.items() if key.kind == "Pod" and key != but)
    return Counter(identity(obj, objects) for key, obj in pods if _node(obj) and not obj.terminal)

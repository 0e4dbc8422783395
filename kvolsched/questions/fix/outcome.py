"""What becomes of the cluster after a fix: run until idle on a fork, beside a run without the fix.

The two runs differ in the fix alone, so what differs at their ends is its effect: a pod that would have found its node
anyway is not counted for the fix, and one that waits only because of it is. Whether the pod keeps its node is read from
the turns of the fork, and what is still to come there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs

from kvolsched.api.notebook_output import DrawnAnswer
from kvolsched.api.words import counted, first_of, listed
from kvolsched.controllers import taint_eviction
from kvolsched.core.acts import ClusterActs
from kvolsched.core.core import ClusterCore
from kvolsched.core.results import ApplyRefused, Run, hanging_indent
from kvolsched.questions.fix.edit import ObjectChange, carry_out
from kvolsched.questions.why.answer import Why
from kvolsched.questions.why.asking import is_pending, judge_now, why
from kvolsched.scheduler.framework.judgement import Judgement
from kvolsched.world.apiserver import CommittedWrite
from kvolsched.world.log import Key, Note

# Of a run; one step more for each object. A pod that tolerates a taint for a time does so for 300 s, as a rule.
MAX_STEPS, MAX_SECONDS = 3_000, 600.0
LARGE = 20_000  # objects of a cluster from which on fixes are judged, and run only when somebody asks for it
MAX_NAMES = 6  # pods that are named in one sentence


@attrs.frozen
class WaitingPod:
    """A pod that waits because of the fix, and why: the answer of `why` in the fork."""

    name: str
    why: Why

    @property
    def lack(self) -> str:
        """What it lacks, in words."""
        return self.why.lack


@attrs.frozen
class MovedPod:
    """A pod that is on another node because of the fix; `before` is "" if it had none, `after` is its node now."""

    name: str
    before: str
    after: str


@attrs.frozen(repr=False)
class TriedFix(DrawnAnswer):
    """What a fix does to the whole cluster: a fork with the fix, run until idle.

    Args:
        pod: the pod that the fix is for, `namespace/name`.
        words: the fix in words.
        cluster: the fork, after the run; the cluster at hand has not changed.
        node: the pod's node in the fork, or "" if it still waits or is gone.
        eviction: how the pod loses the node that it got; None if it keeps it.
        phase: the pod's phase in the fork.
        ended: why the run ended; `steps` is its length.
        is_idle: whether it ended because nothing was left to do.
        waits_now: other pods that wait in the fork, and would not without the fix.
        placed: other pods that have a node in the fork, and would have none without the fix.
        moved: other pods that are on another node than without the fix.
        gone: other pods that no longer exist, and that nobody created again.
        lost_claims: claims that lose their volume, and would not without the fix.
        lack_moves_to: those of `waits_now` that lack what the pod lacked.
        refused: the API server's refusal, if the fix could not be applied; then nothing was run.
        without_fix, with_fix: the node of each pod at the end of the two runs, "" for one that waits.
        new_nodes: the nodes that the fix adds.
    """

    pod: str
    words: str
    cluster: ClusterActs = attrs.field(eq=False)
    node: str = ""
    phase: str = ""
    steps: int = 0
    ended: str = ""
    is_idle: bool = True
    waits_now: tuple[WaitingPod, ...] = ()
    placed: tuple[MovedPod, ...] = ()
    moved: tuple[MovedPod, ...] = ()
    gone: tuple[str, ...] = ()
    lost_claims: tuple[str, ...] = ()
    lack_moves_to: tuple[str, ...] = ()
    refused: str = ""
    without_fix: Mapping[str, str] = attrs.field(factory=dict, eq=False)
    with_fix: Mapping[str, str] = attrs.field(factory=dict, eq=False)
    new_nodes: tuple[str, ...] = ()
    eviction: LostNode | None = None

    @property
    def helps(self) -> bool:
        """Whether the pod got a node for good and no other pod waits or is gone for it, nor any claim lost."""
        placed = bool(self.node) and self.eviction is None
        return placed and not self.waits_now and not self.gone and not self.lost_claims

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        if self.refused:
            return f"the API server refuses it: {self.refused}"
        if self.eviction is not None:
            return f"{self.pod} is {self.eviction.words}"
        if not self.node:
            return f"{self.pod} still waits"
        if self.lack_moves_to:
            return f"it only moves the lack to {_names(self.lack_moves_to)}"
        if self.waits_now:
            return f"{self.pod} gets a node, but {_names([pod.name for pod in self.waits_now])} waits now"
        if self.gone:
            return f"{self.pod} gets a node, but nobody creates {_names(self.gone)} again"
        if self.lost_claims:
            return f"{self.pod} gets a node, but claim {_names(self.lost_claims)} loses its volume"
        return f"{self.pod} gets a node, and no other pod waits for it"

    @property
    def lines(self) -> tuple[str, ...]:
        """What happened to each pod that the fix concerns."""
        if self.refused:
            return ()
        after = f"after {counted(self.steps, 'step')}"
        state = f"{'runs' if self.phase == 'Running' else 'is'} on {self.node}" if self.node else "waits"
        lines = [f"{after} {self.pod} {state}"]
        if self.is_gone:
            lines[0] = f"{after} {self.pod} is gone, and nobody creates it again"
        elif not self.node:
            lines[0] += f": {why(self.cluster, self.pod).lack}"
        lines += [f"{pod.name} waits now: {pod.lack}" for pod in self.waits_now]
        lines += [f"{pod.name} gets a node as well: {pod.after}" for pod in self.placed]
        lines += [f"{pod.name} is on {pod.after}, no longer on {pod.before}" for pod in self.moved]
        lines += [f"{name} is gone, and nobody creates it again" for name in self.gone]
        lines += [f"claim {name} is Lost: its volume is gone, or another claim's" for name in self.lost_claims]
        if len(lines) == 1:
            lines.append("every other pod is where it would be without the fix")
        return (*lines, *([f"stopped before the cluster was idle: {self.ended}"] if not self.is_idle else []))

    @property
    def is_gone(self) -> bool:
        """Whether the pod no longer exists in the fork."""
        return not self.refused and self.pod not in {f"{key.namespace}/{key.name}" for key in _pods(self.cluster)}

    def __repr__(self) -> str:
        lines = [hanging_indent([f"{self.words}: {self.headline}"], 0)]
        return "\n".join([*lines, *(f"  {hanging_indent([line], 4)}" for line in self.lines)])


@attrs.define
class ForkWithFix:
    """A fork in which a fix is made, run until the pod has a node, and on until idle. Mutable: it runs once.

    Args:
        cluster: the fork.
        pod: the pod that the fix is for.
        steps_until_scheduled: after how many steps the pod had a node, or nothing was left to do.
        steps: how many steps it has run.
        ended: why the run ended; "": it has not run.
        idle: whether nothing was left to do then.
        eviction: how the pod loses the node that it got; None if it keeps it.
        fits: the nodes that fitted before it ran.
    """

    cluster: ClusterActs
    pod: Key
    fits: tuple[str, ...] = ()
    steps_until_scheduled: int = 0
    steps: int = 0
    ended: str = ""
    idle: bool = False
    eviction: LostNode | None = None

    def run(self) -> None:
        """Run until nothing is left to do, if it has not run yet."""
        if not self.ended:
            self.steps_until_scheduled = len(self._run(f"pod/{self.pod.namespace}/{self.pod.name} scheduled"))
            world = self.cluster.world
            placed = Placement(world.log.objects[self.pod], world.now, len(world.turns)) if self.node else None
            rest = self._run(None)
            self.steps, self.ended, self.idle = self.steps_until_scheduled + len(rest), rest.ended, rest.idle
            self.eviction = placed.eviction(self.cluster, self.pod) if placed is not None else None

    def _run(self, until: str | None) -> Run:
        most = MAX_STEPS + len(self.cluster.world.log.objects)
        return self.cluster.run(until, steps=most, seconds=MAX_SECONDS)

    @property
    def node(self) -> str:
        """The node that the pod has now, or ""."""
        pod = self.cluster.world.log.objects.get(self.pod)
        return _node(pod) if pod is not None else ""

    @property
    def keeps_node(self) -> bool:
        """Whether the pod has a node now, and keeps it."""
        return bool(self.node) and self.eviction is None


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
        self._forks: dict[tuple[ObjectChange, ...], ForkWithFix] = {}
        self._tried: dict[tuple[ObjectChange, ...], TriedFix] = {}
        self._losses: dict[tuple[ObjectChange, ...], Counter[str] | None] = {}

    @property
    def objects(self) -> Mapping[Key, Any]:
        """The objects as they were."""
        return self._kept.world.log.objects

    @property
    def is_large(self) -> bool:
        """Whether there are so many objects that a run takes long."""
        return len(self.objects) >= LARGE

    def fork_with(self, changes: tuple[ObjectChange, ...]) -> ForkWithFix:
        """Return the fork of the cluster as it was in which the changes are made; it is made and judged once.

        Raises:
            ApplyRefused: the API server refuses.
            KeyError: an object to be changed does not exist.
        """
        if changes not in self._forks:
            made = self._forks[changes] = self._made(changes)
            judged = judge_now(made.cluster, self.pod)
            made.fits = () if judged.error else judged.feasible
        return self._forks[changes]

    def _made(self, changes: tuple[ObjectChange, ...]) -> ForkWithFix:
        fork = self._kept.fork("with the fix" if changes else "without a fix")
        carry_out(fork, changes)
        return ForkWithFix(fork, self.pod)

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

    def losses(self, changes: tuple[ObjectChange, ...], *, keep: bool = False) -> Counter[str] | None:
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

    def _count_losses(self, changes: tuple[ObjectChange, ...], *, keep: bool) -> Counter[str] | None:
        try:
            forked = self.fork_with(changes) if keep or changes in self._forks else self._made(changes)
        except (ApplyRefused, KeyError):
            return None
        forked.run()
        before, after = self._kept.world.log.objects, forked.cluster.world.log.objects
        lost = _placed(before, self.pod) - _placed(after, self.pod)
        lost.update({f"claim {name}": 1 for name in _lost_claims(after) if name not in _lost_claims(before)})
        return lost if forked.keeps_node else None

    def try_changes(self, changes: tuple[ObjectChange, ...], words: str) -> TriedFix:
        """Make changes in a fork, run it until idle, and compare its pods with those of a run without them."""
        if changes not in self._tried:
            self._tried[changes] = self._compare(changes, words)
        return self._tried[changes]

    def _compare(self, changes: tuple[ObjectChange, ...], words: str) -> TriedFix:
        name = f"{self.pod.namespace}/{self.pod.name}"
        try:
            forked = self.fork_with(changes)
        except (ApplyRefused, KeyError) as error:
            return TriedFix(name, words, self._kept.fork(), refused=str(error.args[0] if error.args else error))
        forked.run()
        fork = forked.cluster
        before, after = _pods(self.without_fix.cluster), _pods(fork)
        known = _lost_claims(self.without_fix.cluster.world.log.objects)
        pod = after.get(self.pod)
        others = {key: _node(found) for key, found in after.items() if key != self.pod}
        new = {key for key in others if key not in before}
        changed = [key for key, node in others.items() if key not in new and node != _node(before[key])]
        waiting = [key for key in (*changed, *sorted(new)) if is_pending(after[key])]
        waits_now = tuple(WaitingPod(f"{key.namespace}/{key.name}", why(fork, f"pod/{key.namespace}/{key.name}"))
                          for key in sorted(waiting))  # fmt: skip
        shifts = tuple(MovedPod(f"{key.namespace}/{key.name}", _node(before[key]), others[key])
                       for key in sorted(changed) if others[key])  # fmt: skip
        return TriedFix(
            name, words, fork, _node(pod) if pod is not None else "", pod.status.phase if pod is not None else "",
            forked.steps, forked.ended, forked.idle, waits_now,
            placed=tuple(shift for shift in shifts if not shift.before),
            moved=tuple(shift for shift in shifts if shift.before),
            gone=tuple(f"{key.namespace}/{key.name}" for key in _lost(before, after) if key != self.pod),
            lost_claims=tuple(name for name in _lost_claims(fork.world.log.objects) if name not in known),
            lack_moves_to=tuple(waits.name for waits in waits_now if self._lacks_alike(waits.why)),
            without_fix=_placements(before),
            with_fix=_placements(after),
            new_nodes=tuple(change.key.name for change in changes if change.key.kind == "Node" and change.old is None),
            eviction=forked.eviction,
        )  # fmt: skip

    def _lacks_alike(self, other: Why) -> bool:
        """Say whether another pod lacks something that the pod lacked: a demand of one plugin and sort."""
        lacked = {(row.plugin, row.sort) for row in (*self.asked.demands, *self.asked.also)}
        return any((row.plugin, row.sort) in lacked for row in other.demands)


def _pods(cluster: ClusterActs) -> dict[Key, Any]:
    return {key: obj for key, obj in cluster.world.log.objects.items() if key.kind == "Pod"}


def _node(pod: Any) -> str:
    return str(pod.spec.node_name)


def _placements(pods: Mapping[Key, Any]) -> dict[str, str]:
    """Return the node of each pod that has not ended, by its name."""
    return {f"{key.namespace}/{key.name}": _node(pod) for key, pod in sorted(pods.items()) if not pod.terminal}


def _lost(before: Mapping[Key, Any], after: Mapping[Key, Any]) -> list[Key]:
    """Return the pods on nodes that are gone, and that nobody replaced: neither by one of the same name, nor by one of
    their controller.
    """
    gone = sorted(key for key, pod in before.items() if key not in after and _node(pod) and not pod.terminal)
    made = Counter(_controller(pod) for key, pod in after.items() if key not in before)
    lost: list[Key] = []
    for key in gone:
        owner = _controller(before[key])
        if made[owner] == 0:
            lost.append(key)
        else:
            made[owner] -= 1
    return lost


def _placed(objects: Mapping[Key, Any], but: Key) -> Counter[str]:
    """Count the pods on nodes by who made them, without one pod."""
    pods = ((key, obj) for key, obj in objects.items() if key.kind == "Pod" and key != but)
    return Counter(f"{key.namespace} {_controller(pod)}" for key, pod in pods if _node(pod) and not pod.terminal)


def _lost_claims(objects: Mapping[Key, Any]) -> tuple[str, ...]:
    """Return the claims in phase Lost, as `namespace/name`, sorted."""
    claims = ((key, obj) for key, obj in objects.items() if key.kind == "PersistentVolumeClaim")
    return tuple(sorted(f"{key.namespace}/{key.name}" for key, claim in claims if claim.status.phase == "Lost"))


def _controller(pod: Any) -> str:
    """Return what identifies a pod's controller; a pod without one is told from all others by its name."""
    owner = pod.metadata.controller
    return f"{owner.kind}/{owner.name}/{owner.uid}" if owner is not None else f"/{pod.metadata.name}"


def _names(names: Iterable[str]) -> str:
    names = list(names)
    return first_of(names, MAX_NAMES) if len(names) > MAX_NAMES else listed(names)


REMOVALS = ("delete", "evict")


@attrs.frozen
class LostNode:
    """The node that a pod got and does not keep.

    Args:
        node: the node that it had.
        seconds: how long it has the node, in simulated time.
        why: who removes it and why, in words.
    """

    node: str
    seconds: float
    why: str

    @property
    def words(self) -> str:
        """When it leaves which node, and why."""
        return f"evicted from {self.node} after {self.seconds:g} s: {self.why}"


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

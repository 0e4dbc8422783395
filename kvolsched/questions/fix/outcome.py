"""What becomes of the cluster after a fix: who gets a node, who waits, who is gone or made anew."""

from collections.abc import Iterable, Mapping

import attrs

from ...api.notebook_output import DrawnAnswer
from ...api.words import counted, first_of, hanging_indent, listed
from ...core.acts import ClusterActs
from ...world.log import Key
from ..why.answer import Why
from ..why.asking import why
from .harm import Harm, Stars, pods_among

MAX_NAMES = 6  # pods that are named in one sentence


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
class WaitingPod:
    """A pod that waits because of the fix, and why: the answer of `why` in the fork."""

    name: str
    why: Why

    @property
    def lack(self) -> str:
        """What it lacks, in words."""
        return self.why.headline


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
        harm: what is worse in the fork than without the fix: pods, data, promises.
        stars: how good it is, as a page of the pager is judged.
        lack_moves_to: those of `waits_now` that lack what the pod lacked.
        refused: the API server's refusal, if the fix could not be applied; then nothing was run.
        without_fix, with_fix: the node of each pod at the end of the two runs, "" for one that waits.
        new_nodes: the nodes that the fix adds.
        owner: the workload whose template makes the pod, "" for none; `stand_in` is the pod that it made in its place.
        waited, waits: how many of its pods wait at the end of the two runs; `runs_more`: more have a node than without.
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
    harm: Harm = attrs.field(factory=Harm, eq=False)
    stars: Stars = attrs.field(factory=Stars, eq=False)
    lack_moves_to: tuple[str, ...] = ()
    refused: str = ""
    without_fix: Mapping[str, str] = attrs.field(factory=dict, eq=False)
    with_fix: Mapping[str, str] = attrs.field(factory=dict, eq=False)
    new_nodes: tuple[str, ...] = ()
    eviction: LostNode | None = None
    owner: str = ""
    stand_in: str = ""
    waited: int = 0
    runs_more: bool = False
    waits: int = 0

    @property
    def gone(self) -> tuple[str, ...]:
        """Other pods that no longer exist, and that nobody created again."""
        return tuple(f"{key.namespace}/{key.name}" for key in self.harm.gone)

    @property
    def places(self) -> bool:
        """Whether the pod, or the one that its owner makes in its place, gets a node for good."""
        return bool(self.node) and self.eviction is None

    @property
    def is_not_needed(self) -> bool:
        """Whether its owner no longer wants the pod, and none of the others waits in its place."""
        return bool(self.owner) and self.is_gone and self.waits < self.waited

    @property
    def waits_for_other_reasons(self) -> bool:
        """Whether the pod has no node in the fork, though one would take it."""
        there = self.cluster.world.log.objects.get(Key("Pod", *self.pod.split("/")))
        return there is not None and not self.node and why(self.cluster, self.pod).state in ("waiting", "fits")

    @property
    def pod_then(self) -> str:
        """The pod, or the one that its owner made in its place."""
        return self.stand_in or self.pod

    @property
    def restarts(self) -> tuple[str, ...]:
        """Which pods that ran are made anew, in words, by their owners."""
        return tuple(f"the {len(names)} running pods of {owner}" if len(names) > 1 else names[0]
                     for owner, names in self.harm.restarted.items())  # fmt: skip

    @property
    def next(self) -> tuple[str, ...]:
        """Which pods, that nobody made without the fix, wait then: the next of a StatefulSet."""
        return tuple(name for name, node in self.with_fix.items() if not node and name not in self.without_fix)

    @property
    def leaving(self) -> tuple[str, ...]:
        """Which pods leave their nodes for it, in words."""
        moves = [f"{pod.name} leaves {pod.before}" for pod in self.moved]
        return (*moves, *(f"{name} is gone" for name in self.gone))

    @property
    def helped(self) -> int:
        """How many pods of the same owner get a node by it; of a bare pod 1 or 0."""
        return 0 if self.is_not_needed else max(self.waited - self.waits, int(self.places))

    @property
    def lacks(self) -> str:
        """Why the pod has no node after the fix, in words."""
        return f"{self.pod_then} is gone" if self.is_gone else why(self.cluster, self.pod_then).headline

    @property
    def helps(self) -> bool:
        """Whether the pod got a node for good and no other pod waits or is gone for it, nor any claim lost."""
        good = self.places or self.is_not_needed
        return good and not self.waits_now and not self.gone and not self.harm.lost_claims

    @property
    def headline(self) -> str:
        """The outcome in one sentence."""
        if self.refused:
            return f"the API server refuses it: {self.refused}"
        if self.eviction is not None:
            return f"{self.pod} is {self.eviction.words}"
        if self.is_not_needed and self.helps:
            return f"{self.owner} no longer asks for {self.pod}, and {self.waits or 'none'} of its pods waits"
        if not self.node:
            return f"{self.pod} still waits"
        if self.lack_moves_to:
            return f"it only moves the lack to {_names(self.lack_moves_to)}"
        if self.waits_now:
            wait = "waits" if len(self.waits_now) == 1 else "wait"
            return f"{self.pod} gets a node, but {_names([pod.name for pod in self.waits_now])} {wait} now"
        if self.gone:
            return f"{self.pod} gets a node, but nobody creates {_names(self.gone)} again"
        if self.harm.lost_claims:
            return f"{self.pod} gets a node, but claim {_names(self.harm.lost_claims)} loses its volume"
        return f"{self.pod} gets a node, and no other pod waits for it"

    @property
    def lines(self) -> tuple[str, ...]:
        """What happened to each pod that the fix concerns."""
        if self.refused:
            return ()
        after = f"after {counted(self.steps, 'step')}"
        state = f"{'runs' if self.phase == 'Running' else 'is'} on {self.node}" if self.node else "waits"
        lines = [f"{after} {self.pod_then} {state}"]
        if self.is_gone:
            lines[0] = f"{after} {self.pod} is gone, and nobody creates it again"
        elif not self.node:
            lines[0] += f": {self.lacks}"
        lines += [self.told_of_owner] if self.waited > 1 else []
        lines += [f"{what} made anew" for what in self.restarts]
        lines += [f"{name} waits next" for name in self.next if self.waited == 1]
        lines += [f"{pod.name} waits now: {pod.lack}" for pod in self.waits_now]
        lines += [f"{pod.name} gets a node as well: {pod.after}" for pod in self.placed]
        lines += [f"{pod.name} is on {pod.after}, no longer on {pod.before}" for pod in self.moved]
        lines += [f"{name} is gone, and nobody creates it again" for name in self.gone]
        lines += [f"claim {name} is Lost: its volume is gone, or another claim's" for name in self.harm.lost_claims]
        if len(lines) == 1:
            lines.append("every other pod is where it would be without the fix")
        return (*lines, *([f"stopped before the cluster was idle: {self.ended}"] if not self.is_idle else []))

    @property
    def told_of_owner(self) -> str:
        """How many pods of the workload waited, and how many wait then."""
        wait = f"{self.waits or 'none'} {'wait' if self.waits > 1 else 'waits'}"
        return f"of {self.owner}, {self.waited} waited, {wait} then"

    @property
    def is_gone(self) -> bool:
        """Whether the pod no longer exists in the fork."""
        there = {f"{key.namespace}/{key.name}" for key in pods_among(self.cluster.world.log.objects)}
        return not self.refused and self.pod_then not in there

    def __repr__(self) -> str:
        lines = [hanging_indent([f"{self.words}: {self.headline}"], 0)]
        return "\n".join([*lines, *(f"  {hanging_indent([line], 4)}" for line in self.lines)])


def _names(names: Iterable[str]) -> str:
    names = list(names)
    return first_of(names, MAX_NAMES) if len(names) > MAX_NAMES else listed(names)

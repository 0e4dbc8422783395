"""Another scheduler beside ours: what it did with the pods that name it, and what ours says of them at the same places.

The place of a pod is just before its binding, else before its condition PodScheduled was last written. There ours is
asked, with all that was stored, as if the pod were its own. One of several nodes with the best score is no difference.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from ..api.kinds.pod import Pod
from ..api.notebook_output import PrintedAnswer
from ..api.unknown_name import unknown_name
from ..api.words import counted
from ..core.acts import ClusterActs
from ..scheduler.loop.scheduling_cycle import SCHEDULER
from ..world.apiserver import ref
from ..world.log import Key
from .explain import judge_last_pass


@attrs.frozen
class ComparedPod:
    """One pod: the node or the sentence that it got, and the nodes with the highest score, or the sentence, of ours."""

    pod: str
    theirs: str
    ours: tuple[str, ...]
    why: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether ours could have done the same; of a sentence what preemption says is left out."""
        return self.theirs in self.ours or any(" " in said and self.theirs.startswith(said) for said in self.ours)

    def __str__(self) -> str:
        """Say in a line what differs."""
        ours = " or ".join(self.ours)
        return f"{self.pod}: {self.theirs}; ours: {ours}{self.why and f' ({self.why})'}"


@attrs.frozen(repr=False)
class ComparedSchedulers(PrintedAnswer):
    """All pods that a scheduler has bound or refused; `differing` are those with which ours would do otherwise."""

    scheduler: str
    pods: tuple[ComparedPod, ...]

    @property
    def differing(self) -> tuple[ComparedPod, ...]:
        """The pods with which ours would do otherwise."""
        return tuple(each for each in self.pods if not each.is_equal)

    def __repr__(self) -> str:
        differing = self.differing
        head = f"{counted(len(self.pods), 'pod')} of {self.scheduler}: ours does otherwise with"
        end = f"{len(differing)}:" if differing else "none."
        return "\n".join([f"{head} {end}", *(f"  {each}" for each in differing)])


def compare_schedulers(cluster: ClusterActs, scheduler: str) -> ComparedSchedulers:
    """Compare another scheduler with ours; see `serve.ServedCluster.compare_with`."""
    pods: list[Pod] = cluster.world.log.of_kind(Pod.kind)
    names = {pod.spec.scheduler_name for pod in pods}
    if scheduler not in names:
        raise unknown_name(f"pod names the scheduler {scheduler!r}", scheduler, sorted(names))
    mine = sorted(Key(Pod.kind, pod.metadata.namespace, pod.metadata.name) for pod in pods
                  if pod.spec.scheduler_name == scheduler)  # fmt: skip
    return ComparedSchedulers(scheduler, tuple(_compared(cluster.fork(), mine)))  # it keeps nothing of what is judged


def _compared(cluster: ClusterActs, pods: Iterable[Key]) -> Iterable[ComparedPod]:
    world = cluster.world
    changes = list(world.log.changes_between(Pod.kind, world.log.base, world.place))
    for key in pods:
        done = [(place, theirs) for place, change in changes if change.key == key and change.old is not None
                and change.new is not None and (theirs := _outcome(change.old, change.new))]  # fmt: skip
        if done:
            place, theirs = done[-1]
            yield world.visit(place, lambda key=key, theirs=theirs: _asked(cluster, key, theirs))  # type: ignore[misc]


def _outcome(old: Pod, new: Pod) -> str:
    """Return the node that a pod was bound to by a change, or the sentence why not; "" for another change."""
    if old.spec.node_name:
        return ""
    said = next((each.message or "" for each in new.status.conditions if each.type == "PodScheduled"
                 and each.status == "False" and each not in old.status.conditions), "")  # fmt: skip
    return new.spec.node_name or said


def _asked(cluster: ClusterActs, key: Key, theirs: str) -> ComparedPod:
    """Return what ours says of a pod here."""
    world = cluster.world
    world.deliver(world.processes[SCHEDULER])
    found = judge_last_pass(cluster, key, now=True)
    assert found is not None
    judged, ranking = found.judgement, found.ranking
    if not judged.feasible:
        return ComparedPod(ref(key), theirs, (judged.sentence(),))
    totals: dict[str, Any] = dict.fromkeys(judged.feasible, 0)
    if ranking is not None:
        totals = {node: sum(score[-1] for score in ranking.scores_of(node).values()) for node in ranking.nodes}
    best = tuple(node for node, total in totals.items() if total == max(totals.values()))
    if theirs in judged.nodes and theirs not in judged.feasible:
        return ComparedPod(ref(key), theirs, best, f"{theirs} does not fit: {judged.first_rejecting[theirs]}")
    why = f"scores {totals[theirs]} and {totals[best[0]]}" if theirs in totals and theirs not in best else ""
    return ComparedPod(ref(key), theirs, best, why)

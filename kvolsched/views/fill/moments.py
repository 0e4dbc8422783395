"""The moment that a ledger is about: a pod judged now, at its last pass, or at a step; nothing of it moves the cluster.

A pod on a node is judged as if it were to be placed at that moment: its own place does not count. A workload stands for
its next replica.
"""

from typing import Any

from attrs import frozen

from ...api.unknown_name import UnknownName, unknown_name
from ...core.core import ClusterCore
from ...questions.explain import judge_last_pass, last_pass
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.ranking import Ranking
from ...scheduler.loop.scheduling_cycle import SCHEDULER
from ...world.apiserver import ref
from ...world.log import Key, Note
from ...world.references import matching_keys
from . import next_replica

NOW, PASS = "now", "pass"


@frozen
class JudgedPod:
    """A pod as it is judged at one moment."""

    judgement: Judgement  # Of the pod, on every node
    ranking: Ranking | None = None  # The scores; None if fewer than two nodes fit
    chosen: str = ""  # The node that the pass chose, "" for none
    subject: str = ""  # How the pod is called: "" for its name, or "the next replica of deploy/web"
    place: str = ""  # The node that it is on, which does not count
    moment: str = ""  # In words: "now: step 1, t = 0 s, rules upstream"


@frozen
class JudgedMoment:
    """A judged pod, and a cluster at that moment: the cluster itself, or a fork."""

    cluster: ClusterCore
    pod: JudgedPod


def judged_at(cluster: ClusterCore, reference: str, at: str | int) -> JudgedMoment:
    """Judge a pod, or the next replica of a workload, at a moment.

    Args:
        cluster: the cluster; it does not move.
        reference: of a pod, a Deployment, a StatefulSet or a ReplicaSet.
        at: "now", "pass" (the pod's last pass), or a step of this branch (-1: the last known).

    Raises:
        UnknownName: there is no such object or step, the pod has had no pass, or `at` is no moment. It is a KeyError.
        ApplyRefused: the API server would refuse the next replica.
    """
    if at == PASS:
        return _at_pass(cluster, reference)
    if isinstance(at, str) and at != NOW:
        raise unknown_name(f"moment {at}", at, (NOW, PASS, "the number of a step"))
    fork = cluster if isinstance(at, str) else _go(with_all_steps(cluster), at)
    key = _find(fork, reference)
    found = fork.world.log.objects[key]
    subject, place = key.name, ""
    words = _words(fork, key, "now" if at == NOW else "")
    if key.kind == "Pod":
        place = found.spec.node_name
    else:
        fork = fork.fork()
        key = next_replica.add_next_replica(fork, found)
        subject = next_replica.title_of(found, key)
    passed = judge_last_pass(fork, key, now=True)
    if passed is None:
        raise UnknownName(f"the scheduler does not see {ref(key)}")
    return JudgedMoment(fork, JudgedPod(passed.judgement, passed.ranking, "", subject, place, words))


def with_all_steps(cluster: ClusterCore) -> ClusterCore:
    """Return a fork at the end of this branch, which has all its steps; one of a cluster in the past ends there."""
    world = cluster.world
    return world.visit(world.history.place_of(world.known_steps), cluster.fork)


def _find(cluster: ClusterCore, reference: str) -> Key:
    """Return the key of a pod, else of a workload with this name."""
    objects = cluster.world.log.objects
    for kinds in (("pod",), next_replica.REPLICATED):
        if matching_keys(objects, reference, kinds):
            return cluster.world.find_key(reference, kinds)
    return cluster.world.find_key(reference, ("pod", *next_replica.REPLICATED) if "/" in reference else "pod")


def _go(fork: ClusterCore, step: int) -> ClusterCore:
    known = fork.world.known_steps
    if not -known - 1 <= step <= known:
        raise UnknownName(f"no step {step}; this branch has the steps 0 to {known}")
    fork.goto(step)
    return fork


def _at_pass(cluster: ClusterCore, reference: str) -> JudgedMoment:
    key = _find(cluster, reference)
    if key.kind != "Pod":
        raise UnknownName(f"{ref(key)} has no pass, only pods have; at='now' judges its next replica")
    turn = last_pass(cluster, key)
    passed = judge_last_pass(cluster, key)
    if turn is None or passed is None:
        raise UnknownName(f"{ref(key)} has had no pass yet; at='now' judges it on the present nodes")
    fork = cluster.fork()
    fork.world.log.seek(turn.start)
    changed = "; the rules have changed since" if passed.rules_changed else ""
    words = f"pass {passed.number}: step {turn.step}, t = {turn.time:g} s, rules {cluster.revision.name}{changed}"
    return JudgedMoment(fork, JudgedPod(passed.judgement, passed.ranking, passed.chosen, key.name, "", words))


def _words(fork: ClusterCore, pod: Key, now: str) -> str:
    """Return a moment in words, with the number of the pod's last pass."""
    note: Any = fork.world.log.notes.get(Note(SCHEDULER, "pass", f"{pod.namespace}/{pod.name}"))
    after = f", after pass {note.number}" if note is not None and pod.kind == "Pod" else ""
    head = f"{now}: " if now else ""
    return f"{head}step {fork.world.step_number}, t = {fork.now:g} s{after}, rules {fork.revision.name}"

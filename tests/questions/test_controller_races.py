"""Controllers of your own are searched for races: each race is found, and each cure is exhausted."""

import functools
import random

import pytest
from controllers.test_controllers_of_your_own import cluster, node, pod, with_function

from kvolsched import Cluster
from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.explore import Crash, Refuse, UserAct
from kvolsched.writes import again, delete, patch

QUICK = {"progress": False}
LIMIT = 1


def admission(ref):
    """Return the two calls that admit a pod."""
    return [patch(ref, {"spec": {"nodeSelector": {ZONE_LABEL: "a"}}}), patch(ref, {"spec": {"schedulingGates": []}})]


def counts_running(seen, ref):
    """Count the pods that have a node."""
    pod = seen.get(ref)
    running = [p for p in seen.list("pods", selector="queue=batch") if p.spec.node_name]
    if pod is None or not pod.spec.scheduling_gates or len(running) >= LIMIT:
        return []
    return admission(ref)


def counts_admitted(seen, ref):
    """Count the pods without a gate, as last seen."""
    pod = seen.get(ref)
    admitted = [p for p in seen.list("pods", selector="queue=batch") if not p.spec.scheduling_gates]
    if pod is None or not pod.spec.scheduling_gates or len(admitted) >= LIMIT:
        return []
    return admission(ref)


def remembers_admitted(seen, ref):
    """Count the pods without a gate, and those that were admitted but are not yet seen so."""
    pod = seen.get(ref)
    admitted = {p.metadata.name for p in seen.list("pods", selector="queue=batch") if not p.spec.scheduling_gates}
    admitted |= seen.note("admitted") or set()
    if pod is None or not pod.spec.scheduling_gates or len(admitted - {pod.metadata.name}) >= LIMIT:
        return []
    seen.note("admitted", admitted | {pod.metadata.name})
    return admission(ref)


def admits_in_order(seen, _ref):
    """Admit the first pods by name, whichever has changed; an old view chooses the same ones."""
    pods = seen.list("pods", selector="queue=batch")
    waiting = [p for p in pods if p.spec.scheduling_gates]
    room = LIMIT - (len(pods) - len(waiting))
    return [write for p in waiting[: max(room, 0)] for write in admission(p)]


def too_many(c):
    """More pods are admitted than the queue allows."""
    return sum(not p.spec.scheduling_gates for p in c.objects("pods")) > LIMIT


@pytest.mark.parametrize("function", [counts_running, counts_admitted])
def test_a_race_is_found(function):
    """A queue that counts what its cache shows admits too many; the trace is found and replayed as ordinary steps."""
    c = with_function(function)

    found = c.explore(never=too_many, **QUICK)

    assert "More pods are admitted than the queue allows" == found.counterexample.violation
    assert "queue patches pod/b (spec.schedulingGates)" == found.counterexample.story[-1]
    assert too_many(found.replay(c))
    assert not too_many(c)
    assert found.counterexample.cause == {
        counts_running: "It takes steps 1, 2, 3 and 4; with all there was to see each would have gone the same way.",
        counts_admitted: "Queue had not seen step 2 (queue patches pod/a (spec.schedulingGates)) when it took step 3 (queue "
                         "patches pod/b (spec.nodeSelector)). Had it known, it would have done nothing.",
    }[function]


def test_the_natural_order_hides_the_race():
    """In a plain run the queue that counts gates does well, so only a search finds its race."""
    c = with_function(counts_admitted)
    c.run()

    assert not too_many(c)
    assert c.sample(seeds=5).stuck == 5  # the other pod waits in every run


@pytest.mark.parametrize("function", [remembers_admitted, admits_in_order])
def test_a_cure_is_exhausted(function):
    """The cured queue admits one pod in every order, with a crash and a refusal at any moment."""
    result = with_function(function).explore(never=too_many, faults=[Crash("queue"), Refuse("queue")], **QUICK)

    assert result.counterexample is None
    assert result.exhausted


@pytest.mark.parametrize("function", [remembers_admitted, admits_in_order])
def test_reductions_hide_nothing(function):
    """The states that a search leaves out change no end of any run."""
    c = with_function(function)
    acting = {"components": ["queue", "kube-scheduler"], **QUICK}
    quick = c.explore(never=too_many, **acting)
    full = c.explore(never=too_many, reductions=(), **acting)

    assert (True, True) == (quick.exhausted, full.exhausted)
    assert {end.words for end in quick.outcomes} == {end.words for end in full.outcomes}
    assert quick.states < full.states


def test_a_pod_that_nobody_looks_at_again_is_found():
    """A queue that only looks at the changed object forgets the others: after a deletion the next pod waits for ever."""
    def freed(c):
        return "pod/a" in c or not c["pod/b"].spec.scheduling_gates

    leaves = UserAct("the user deletes a", (delete("pod/a"),))
    forgetful = with_function(counts_admitted).explore(goal=freed, faults=[leaves], components=["queue"], **QUICK)
    careful = with_function(admits_in_order).explore(goal=freed, faults=[leaves], components=["queue"], **QUICK)

    assert "nothing more happens, and the goal does not hold" == forgetful.counterexample.violation
    assert "It takes step 3 (the user deletes a: delete pod/a), of steps 1, 2 and 3." == forgetful.counterexample.cause
    assert (True, None) == (careful.exhausted, careful.counterexample)


def pay(name, careful, seen, _ref):
    """Add 1 to the number that was seen, once."""
    account = seen.get("ns/account")
    if name in account.metadata.labels:
        return None
    changes = {"held": str(int(account.metadata.labels["held"]) + 1), name: "paid"}
    return patch(account if careful else "ns/account", {"metadata": {"labels": changes}})


@pytest.mark.parametrize("careful", [False, True])
def test_a_precondition_cures_a_lost_update(careful):
    """Two controllers add to one number: by reference an update is lost, with the object as reference never."""
    def lost(c):
        labels = c["ns/account"].metadata.labels
        return {"anna", "bert"} <= set(labels) and labels["held"] != "2" and f"the account holds {labels['held']}"

    bank = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "account", "labels": {"held": "0"}}}
    c = Cluster.from_manifests([bank])
    for name in ("anna", "bert"):
        c = c.with_controller(name, watches=["ns"], reconcile=functools.partial(pay, name, careful))

    result = c.explore(never=lost, **QUICK)

    if careful:
        assert (True, None) == (result.exhausted, result.counterexample)
    else:
        assert "the account holds 1" == result.counterexample.violation


def test_a_failure_of_the_function_is_a_counterexample():
    """An exception that only some order of turns brings about is found with its trace."""
    def impatient(seen, ref):
        pod = seen.get(ref)
        if pod.spec.node_name and pod.status.phase != "Running":
            raise RuntimeError("it does not run")
        return admission(ref) if pod.spec.scheduling_gates else []

    found = with_function(impatient, pod("a")).explore(**QUICK)

    told = found.counterexample.violation
    assert "queue: reconcile failed: RuntimeError it does not run (test_controller_races.py:" in told
    assert ", line 4 of impatient: " in told
    assert any("Scheduler binds a".lower() in line.lower() for line in found.counterexample.story)


def test_chance_is_a_counterexample():
    """A function that draws random numbers is reported by a search."""
    found = with_function(lambda _seen, _ref: again(random.random() + 1), pod("a")).explore(**QUICK)

    assert "answers differently when it is asked twice" in found.counterexample.violation


def test_properties_may_be_words():
    """The options never and goal take the words of a condition, and never takes several properties."""
    c = cluster(pod("a", gated=False))

    found = c.explore(never=["pod/a gone", "pod/a Running"], **QUICK)

    assert "pod/a Running" == found.counterexample.violation
    assert c.explore(goal="pod/a Running", **QUICK).exhausted
    assert 0 == c.sample(2, goal="pod/a Running").stuck
    with pytest.raises(TypeError, match="a property is a function of the cluster or words"):
        c.explore(never=[7], **QUICK)


def test_the_time_is_in_the_digest_of_who_reads_it():
    """States that differ in nothing but the time are one state, unless a controller asks for the time."""
    def by_time(seen, _ref):
        return None if seen.now > 3 else again(5, periodic=True)

    def helped(seen, ref):
        return by_time(seen, ref)

    def plain(seen, ref):
        return None if seen.get(ref) is None else []

    digests = {}
    for function in (plain, by_time, helped):
        c = with_function(function, pod("a"))
        early = c.digest()
        c.world.set_clock(7.0)
        digests[function.__name__] = early == c.digest()

    assert {"plain": True, "by_time": False, "helped": False} == digests


def test_three_pods_and_two_places():
    """A queue of two places and three pods is exhausted as well, as far as the queue itself acts."""
    def in_order(seen, _ref):
        pods = seen.list("pods")
        waiting = [p for p in pods if p.spec.scheduling_gates]
        return [write for p in waiting[: max(2 - (len(pods) - len(waiting)), 0)] for write in admission(p)]

    c = Cluster.from_manifests([node("node-a"), *(pod(name) for name in "abc")]).with_controller("queue", "Pod", in_order)
    result = c.explore(
        never=lambda searched: sum(not p.spec.scheduling_gates for p in searched.objects("pods")) > 2,
        components=["queue"], **QUICK,
    )  # fmt: skip

    assert (True, None) == (result.exhausted, result.counterexample)

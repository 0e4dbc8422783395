"""What fails again and again is told by the summary of the run and by `why`, not only in Events."""

from pathlib import Path

import pytest

from kvolsched import Cluster
from kvolsched.make import deployment, node, pod, stateful_set


def no_pods(new, _old):
    """Deny every pod."""
    return "no pods today"


def deny_blue(new, _old):
    """Deny what is blue."""
    return new.metadata.labels.get("colour") != "blue" or "not blue"


def test_a_function_that_raises_is_told_with_its_line():
    """A run tells of a controller's function that failed to the end: how often, the error, file and line."""
    def broken(seen, ref):
        return seen.get(ref).nothing

    c = Cluster.from_manifests([node("a"), pod("x"), pod("y")]).with_controller("broken", ["Pod"], broken)
    run = c.run(seconds=60)
    failure, = run.failing
    line = f"{Path(__file__).name}:{broken.__code__.co_firstlineno + 1}"

    assert failure.startswith("28 × broken: reconcile failed: AttributeError 'Pod' object has no attribute 'nothing'")
    assert failure.endswith(f"({line}, line 2 of broken: `return seen.get(ref).nothing`)")
    head, told = repr(run).split("\nstill failing at the end:\n")
    assert head.endswith("60 s of simulated time are over")
    assert failure == " ".join(told.split())


def test_a_function_that_recovers_is_not_told():
    """A failure that is over when the run ends is none of its summary."""
    def impatient(seen, ref):
        return None if seen.get(ref).spec.node_name else 1 / 0

    c = Cluster.from_manifests([node("a"), pod("x")]).with_controller("impatient", ["Pod"], impatient)
    run = c.run()

    assert any(turn.failed for step in run for turn in step.turns)
    assert ((), "still failing" in repr(run)) == (run.failing, False)


def test_a_write_that_is_refused_again_and_again_is_told():
    """A run tells who writes what, how often it was refused and with which words; a write that was made is not told."""
    c = Cluster.from_manifests([node("a")]).with_webhook(validate=no_pods)
    c.apply(deployment("web", 2))
    run = c.run()
    refused, = run.failing

    assert refused.startswith("21 × ReplicaSet controller creates pod/web-")
    assert refused.endswith(': refused, admission webhook "policy.example.com" denied the request: no pods today')
    assert () == Cluster.from_manifests([node("a"), deployment("web", 2)]).run().failing


def test_a_conflict_now_and_then_is_not_told():
    """One refused write that is made in the next try is no news."""
    c = Cluster.from_manifests([node("a"), pod("x")])
    c.refuse("scheduler")

    assert () == c.run().failing


def test_only_the_most_frequent_are_printed():
    """Of many failures the first are printed and the others counted; `failing` has all."""
    def broken(_seen, ref):
        raise RuntimeError(ref)

    pods = [pod(f"p{number}") for number in range(8)]
    run = Cluster.from_manifests([node("a"), *pods]).with_controller("broken", ["Pod"], broken).run(seconds=1)

    assert 8 == len(run.failing)
    assert repr(run).endswith("\n  and 3 more (.failing)")


def test_why_tells_that_pods_cannot_be_created():
    """No pod waits where the API server refuses each: `why` tells the workload and the refusal, also asked about it."""
    c = Cluster.from_manifests([node("a")]).with_webhook(validate=no_pods)
    c.apply(deployment("web", 2), stateful_set("db", 1))
    c.run()
    words = 'lacks pods: FailedCreate: Error creating: admission webhook "policy.example.com" denied the request: no pods today'
    title, whole = c.why().title, repr(c.why())

    assert title.startswith("No pod waits for a node; rs/web-")
    assert words in title
    assert "sts/db lacks pods: FailedCreate: create Pod db-0 in StatefulSet db failed error: " in title
    assert title == whole
    with pytest.raises(KeyError, match="deploy/web has no pod; rs/web-") as unknown:
        c.why("deploy/web")
    assert words in str(unknown.value)


def test_why_tells_it_beside_pods_that_wait():
    """Where some pods wait and others cannot be created, both are told; once they are created, only the waiting ones."""
    c = Cluster.from_manifests([node("a", cpu="1"), pod("big", cpu="4")]).with_webhook(validate=deny_blue)
    web = deployment("web", 1)
    web["spec"]["template"]["metadata"]["labels"]["colour"] = "blue"
    c.apply(web)
    c.run(seconds=60)
    assert c.why().title.startswith("1 pod waits for a node, for one cause; rs/web-")
    web["spec"]["template"]["metadata"]["labels"]["colour"] = "red"
    c.apply(web)
    c.run(seconds=60)

    assert "1 pod waits for a node, for one cause" == c.why().title

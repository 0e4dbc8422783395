"""Who may act next can be told to act: whatever `c.next` lists is a step, wherever a cluster stands."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kvolsched import Cluster, scenario
from kvolsched.kubectl import describe

NAMES = ("zonal-example", "write-fails", "two-zones-of-four", "replicated-database", "redis-pmem")
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {pods: 110}}\n"
MOST = 2**31 - 1


def crash_scheduler(c):
    """The scheduler starts again."""
    c.crash("kube-scheduler")


def stop_node(c):
    """The first node stops."""
    c.stop_nodes(c.objects("nodes")[0].metadata.name)


def delete_pod(c):
    """The first pod is deleted, if there is one."""
    for pod in c.objects("pods")[:1]:
        c.delete(f"pod/{pod.metadata.namespace}/{pod.metadata.name}")


ACTS = (crash_scheduler, stop_node, delete_pod)


@given(st.sampled_from(NAMES), st.sampled_from(["upstream", "design"]),
       st.lists(st.integers(0, 7) | st.sampled_from(ACTS), min_size=4, max_size=24))
@example("zonal-example", "upstream", [0] * 10)  # a turn of another actor that does nothing comes first
@example("two-zones-of-four", "upstream", [0, stop_node, 0, 0, 0, 0, 0, 0])  # time comes first
@settings(max_examples=15)
def test_what_may_come_next_can_be_stepped(name, rules, walk):
    """After any walk of turns and faults, every turn of `next` is made by `step` with its actor and cause."""
    c = scenario(name, rules)
    for choice in walk:
        turns = list(c.next)
        if callable(choice):
            choice(c)
        elif turns:
            assert c.step(turns[choice % len(turns)].actor, turns[choice % len(turns)].cause)
    told = [(turn.actor, turn.cause, turn.words) for turn in c.next]

    assert told == [(actor, cause, words) for actor, cause, words in told if words in _words(c.fork().step(actor, cause, turns=True))]


def _words(step):
    return [turn.words for turn in step.turns]


def workload(kind, replicas, more=""):
    """Return a workload of so many pods, and one node."""
    return f"""{NODE}---
apiVersion: apps/v1
kind: {kind}
metadata: {{name: w}}
spec: {{replicas: {replicas}, selector: {{matchLabels: {{a: b}}}}, {more}
  template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: c, image: x}}]}}}}}}
"""


@pytest.mark.parametrize(("kind", "more"), [
    ("ReplicaSet", ""), ("Deployment", ""), ("StatefulSet", "serviceName: w,"),
    ("StatefulSet", "serviceName: w, podManagementPolicy: Parallel,"),
])
@pytest.mark.parametrize("replicas", [MOST, -5])
def test_a_step_ends_whatever_a_workload_asks_for(kind, more, replicas):
    """Two thousand million pods are created at most 500 in a step; fewer than none are none."""
    c = Cluster.from_manifests(workload(kind, replicas, more))
    created = []
    for _ in range(6):
        before = len(c.objects("pods"))
        c.step()
        created.append(len(c.objects("pods")) - before)

    assert max(created) <= 500
    assert (sum(created) > 0) == (replicas > 0)


@pytest.mark.parametrize("seconds", [2**63 - 1, -(2**63), 10**12])
@pytest.mark.parametrize("what", ["terminationGracePeriodSeconds: {}", "tolerations: [{{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: {}}}]"])
def test_times_end_with_the_year_9999(seconds, what):
    """A wait of any number of seconds is waited; the moments after it are written as the last one there is."""
    c = Cluster.from_manifests(NODE + f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec: {{containers: [{{name: c, image: x}}], {what.format(seconds)}}}\n")
    c.run("web Running")
    c.taint("n1", "k=v:NoExecute") if "tolerations" in what else c.delete("web")
    said = repr(describe(c, "pod/web"))
    c.run(steps=20, seconds=float("inf"))

    assert "Terminating" in said or "tolerations" in what
    assert "web" not in c
    assert ("9999-12-31" in str(c.world.date)) == (seconds > 0 and "tolerations" in what)
    assert repr(describe(c, "node/n1"))


@pytest.mark.parametrize("time", ["2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-06-30T23:59:60Z", "0001-01-01T00:00:00+14:00"])
def test_a_time_that_there_is_not_is_refused(time):
    """As Go's parser refuses it."""
    with pytest.raises(ValueError, match="creationTimestamp: wants a time"):
        Cluster.from_manifests(f"apiVersion: v1\nkind: Node\nmetadata: {{name: n, creationTimestamp: '{time}'}}\n")

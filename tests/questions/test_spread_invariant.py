"""The explorer's invariant over maxSkew asks the plugin's own sum: no false race, and no breach is missed."""

import pytest
from documents.clusters import cluster
from manifests import node, pod, spread

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.explore import UserAct, explore, pods_within_max_skew
from kvolsched.world.apiserver import Write
from kvolsched.world.log import Key

FOO = {"app": "foo"}
HONOR = {**spread(**FOO), "nodeTaintsPolicy": "Honor"}
SAME_REVISION = {**spread(**FOO), "matchLabelKeys": ["rev"]}
CHECK = {"invariants": (pods_within_max_skew,), "lag": "none", "progress": False}


def waiting(name, constraint, **labels):
    """A pod that waits for a node, under one constraint."""
    return pod(name, labels={**FOO, **labels}, topologySpreadConstraints=[constraint])


@pytest.mark.parametrize("objects", [
    pytest.param([node("a1", "a"), node("b1", "b", taints=("closed",)), waiting("p0", HONOR), waiting("p1", HONOR)],
                 id="nodeTaintsPolicy"),
    pytest.param([node("a1", "a"), node("b1", "b", unschedulable=True),
                  *(pod(f"old{n}", labels={**FOO, "rev": "1"}, running_on="a1") for n in "xy"), waiting("p0", SAME_REVISION, rev="2")], id="matchLabelKeys"),
])  # fmt: skip
def test_pods_that_the_rule_admits_are_no_race(objects):
    """A tainted zone is no domain under Honor, and pods of another revision do not count: nothing is wrong."""
    result = explore(cluster(*objects, revision="upstream"), **CHECK)

    assert (result.counterexample, result.exhausted) == (None, True)


def test_a_real_breach_is_found():
    """The scheduler's pod in zone b is deleted before it has seen that, so that the next one goes to zone a: 2 to 0."""
    c = cluster(node("a1", "a"), node("b1", "b"), *(pod(f"on-{zone}", labels=FOO, running_on=f"{zone}1") for zone in "ab"),
                waiting("p0", spread(**FOO)), revision="upstream")
    gone = UserAct("a user deletes on-b", (Write("delete", Key("Pod", "default", "on-b")),))
    result = explore(c, faults=[gone], **{**CHECK, "lag": "ordered"})

    assert result.counterexample
    assert result.counterexample.violation == (
        "pod p0 is on a1: 1 in topology.kubernetes.io/zone=a + self match 1 − minimum 0 = 2 > maxSkew 1")


@pytest.mark.parametrize(("labels", "wrong"), [
    ({"topology.kubernetes.io/zone": "b"}, ""),
    ({}, "pod p0 is on b1, which has no label topology.kubernetes.io/zone"),
])  # fmt: skip
def test_the_moment_a_pod_gets_its_node_is_checked(labels, wrong):
    """The pod is not counted twice, a node without the topology key breaks the constraint, and a pod that stays does not."""
    c = cluster(node("a1", "a"), node("b1", labels=labels), waiting("p0", spread(**FOO)), revision="upstream")
    before = {key: obj for key, obj in c.world.log.objects.items() if isinstance(key, Key)}
    key = Key("Pod", "default", "p0")
    after = {**before, key: evolve_parts(before[key], spec={"node_name": "b1"})}

    assert wrong == pods_within_max_skew(before, after)
    assert "" == pods_within_max_skew(after, after)

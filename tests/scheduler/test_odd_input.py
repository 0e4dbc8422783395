"""Rules that only odd input shows, in kube-scheduler's own behaviour (v1.36.2); the recorded cases are family `odd`."""

from pathlib import Path

import pytest
from matrices import check
from objects import claim, node, pod, storage_class, volume

from kvolsched import Cluster
from kvolsched.measure.conform import judge_case, read
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile

ODD = Path(__file__).parents[1] / "conformance" / "odd.jsonl.gz"
EVERY = 20  # a walk over all nodes by every rule is slow


def cluster(*objects):
    """A cluster under today's rules with these objects."""
    made = Cluster("upstream")
    made._load(objects)
    return made


def sized(name, cpu):
    """A node with so much cpu."""
    return node(name, cpu=cpu, memory="8Gi")


def resized(spec, status, condition=None):
    """A pod on node a whose container asks for `spec` cpu while `status` is what it has."""
    return pod("old", requests={"cpu": spec}, node_name="a", status={
        "phase": "Running",
        "conditions": [condition] if condition else [],
        "containerStatuses": [{"name": "app", "image": "img", "imageID": "", "ready": True, "restartCount": 0,
                               "resources": {"requests": {"cpu": status}}, "allocatedResources": {"cpu": status}}],
    })


INFEASIBLE = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}


@pytest.mark.parametrize(
    ("old", "fits"),
    [
        (resized("1", "3"), False),  # shrinks, but still has 3
        (resized("3", "1"), False),  # grows, and has asked for 3
        (resized("1", "1"), True),
        (resized("3", "1", INFEASIBLE), True),  # never grows
    ],
)
def test_a_pod_that_is_resized_holds_the_most_of_old_and_new(old, fits):
    """Until a resize is done both sizes count; one that is infeasible does not."""
    found = cluster(sized("a", "4"), old, pod("new", requests={"cpu": "2"}))

    assert ["a"] * fits == list(found.fits("new"))


def test_an_expression_that_labels_cannot_meet_makes_its_term_match_nothing():
    """`Gt ["-5"]` is no requirement on labels, since no label value starts with a hyphen."""
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["-5"]}]}]}}}
    found = cluster(node("a", labels={"gen": "3"}), pod("p", affinity=affinity))
    found.run()

    assert "1 node(s) didn't match Pod's node affinity/selector" in found.why("p").sentence


def test_one_claim_in_two_volumes_is_matched_twice():
    """With one volume that fits a node is rejected, with two the pod is placed."""
    local, wanted = storage_class("local", "kubernetes.io/no-provisioner"), claim("data", "10Gi", "local")
    twice = [{"name": name, "persistentVolumeClaim": {"claimName": "data"}} for name in ("one", "two")]
    alone = cluster(node("a"), local, volume("v1", "20Gi", "local"), wanted, pod("p", volumes=twice))
    both = cluster(node("a"), local, volume("v1", "20Gi", "local"), volume("v2", "30Gi", "local"), wanted, pod("p", volumes=twice))

    assert [[], ["a"]] == [list(one.fits("p")) for one in (alone, both)]


def test_the_nominated_node_is_taken_without_ranking():
    """A node that fits and is nominated is chosen though another has more room; its pass has no scores."""
    waiting = pod("p", requests={"cpu": "1"}, status={"nominatedNodeName": "small"})
    found = cluster(sized("small", "2"), sized("large", "64"), waiting)
    found.run()

    assert "small" == found["pod/p"].spec.node_name
    assert {} == dict(found.fits("p").scores)


def test_columns_say_what_rules_say_on_odd_input():
    """In every twentieth odd case each plugin's column gives, node by node, what its rule gives."""
    for recorded in read(ODD)[::EVERY]:
        check(judge_case(recorded.case, upstream_profile()))

"""A filter that fails on one node: kube-scheduler gives up the pass, whatever the other nodes say."""

import pytest
from manifests import node, pod

from kvolsched import Cluster
from kvolsched.questions.decode import decode
from kvolsched.scheduler.framework.verdict import OK, Code, Reject

ERROR = 'running "Lookup" filter plugin: lookup failed'


class Lookup:
    """A rule that answers with an error where a node has no label `rack`."""

    name = "Lookup"

    def rule(self, pod, node, seen):
        """Return an error, as a plugin of kube-scheduler does."""
        return OK if "rack" in node.metadata.labels else Reject(("lookup failed",), Code.ERROR)


def racked(name, **fields):
    """Return a node with the label."""
    return node(name, labels={"rack": "r1"}, **fields)


def first_pass(*manifests, rule=Lookup, rules="upstream"):
    """Return a cluster with a rule after its first steps."""
    c = Cluster.from_manifests(list(manifests), revision=rules).with_plugin(rule)
    c.run(seconds=0.5)
    return c


def told(c):
    """Return reason and message of the pod's condition."""
    condition = c["pod/app"].status.condition("PodScheduled")
    return condition.reason, condition.message


def test_an_error_on_one_node_ends_the_pass():
    """A node that fits is not taken; the pod waits in back-off with SchedulerError, and nobody is evicted for it."""
    c = first_pass(racked("n1"), node("n2"), pod("app"))
    assert ("", ("SchedulerError", ERROR)) == (c["pod/app"].spec.node_name, told(c))
    assert {"FailedScheduling"} == {event.reason for event in c.objects("events")}
    assert any(turn.words.startswith("Scheduler judges app, pass 1: an error ends it.") for turn in c.world.turns)


def test_once_the_error_is_gone_the_pod_gets_a_node():
    """After its back-off the pod is tried again."""
    c = first_pass(racked("n1"), node("n2"), pod("app"))
    c.label("node/n2", "rack=r2")
    c.run()
    assert c["pod/app"].spec.node_name


@pytest.mark.parametrize("other", [{"cordoned": True}, {"selector": {"rack": "r1"}}])
def test_a_filter_is_not_asked_where_an_earlier_one_rejects(other):
    """Only the first rejection of a node counts: a cordon or a selector spares it the error."""
    spec = {"nodeSelector": other["selector"]} if "selector" in other else {}
    c = first_pass(racked("n1"), node("n2", unschedulable="cordoned" in other), pod("app", **spec))
    assert "n1" == c["pod/app"].spec.node_name


def test_a_node_that_prefilter_leaves_out_is_not_asked():
    """A pod that names its node by field is filtered there alone."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    wanted = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    c = first_pass(racked("n1"), node("n2"), pod("app", affinity=wanted))
    assert "n1" == c["pod/app"].spec.node_name


def test_the_nominated_node_is_asked_before_the_others():
    """A pod that has a nominated node which fits goes there, and meets no error of another one."""
    waiting = pod("app")
    waiting["status"] = {"nominatedNodeName": "n1"}
    c = first_pass(racked("n1"), node("n2"), waiting)
    assert "n1" == c["pod/app"].spec.node_name


def test_a_rule_that_raises_answers_with_its_error():
    """The error stands in the event with its line, as a controller's does, and ends no run of the reader."""

    def careful(pod, node, seen):
        """node(s) had no rack."""
        return bool(node.metadata.labels["rack"])

    c = first_pass(racked("n1"), node("n2"), pod("app"), rule=careful)
    message = "running \"careful\" filter plugin: KeyError 'rack' (line 3 of careful)"
    assert ("SchedulerError", message) == told(c)


def test_the_documents_releases_count_the_nodes():
    """1.11 aggregates the errors of all nodes, without the plugin's name, and calls the pod unschedulable."""
    c = first_pass(racked("n1"), node("n2"), node("n3"), pod("app"), rules="design")
    assert ("Unschedulable", "lookup failed (repeated 2 times)") == told(c)


def test_why_and_fix_say_that_an_error_ends_each_pass():
    """A pod that would fit somewhere is not called one that fits, and no edit is offered."""
    c = first_pass(racked("n1"), node("n2"), pod("app"))
    assert "1 of 2 nodes fit, but a plugin fails on another one: an error ends each of its passes." in repr(c.why("app"))
    assert f"no change of objects helps, an error ends each pass: {ERROR}" == c.fix("app").headline


def test_the_sentence_can_be_decoded():
    """The error is read with its plugin and what follows."""
    assert "unknown" not in repr(decode(ERROR.replace("lookup failed", "pod has unbound PersistentVolumeClaims")))


def test_where_no_node_fits_the_pass_says_so():
    """An error on every node is told as before: none fits."""
    c = first_pass(node("n1"), node("n2"), pod("app"), rules="design")
    assert any(turn.words.startswith("Scheduler judges app, pass 1: none of 2 nodes fits.") for turn in c.world.turns)

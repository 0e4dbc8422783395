"""The public Cluster: it loads objects, acts as the user, moves in time, and answers questions."""

import pytest

from kvolsched import scenario
from kvolsched.api.text.fault import ManifestError
from kvolsched.cluster import Cluster
from kvolsched.core.results import ApplyRefused
from kvolsched.questions.explain import judge_last_pass, last_pass, read_last_pass
from kvolsched.world.log import Key

NODE = """
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}, capacity: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  containers: [{name: app, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "1"}}}]
"""
CLASS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
"""


def two_nodes(**options):
    """Return a cluster of two nodes."""
    return Cluster.from_manifests(NODE.format(name="node-1") + "---" + NODE.format(name="node-2"), **options)


def test_from_manifests_loads_or_names_every_fault():
    """Manifests load without a turn; faults are listed together, and then nothing is loaded."""
    cluster = two_nodes(name="two")
    assert cluster.world.step_number == 0
    assert cluster["node/node-1"].metadata.uid
    assert repr(cluster) == "Cluster two, rules upstream: 2 Nodes; step 0 of 0, t=0 s"
    with pytest.raises(ManifestError) as error:
        Cluster.from_manifests("apiVersion: v1\nkind: Pod\nmetadata: {name: [a]}\nspec: {containers: text}\n")
    assert len(error.value.faults) > 1


def test_apply_says_what_it_did():
    """Apply prints kubectl's words and keeps fields of other writers."""
    cluster = two_nodes()
    assert repr(cluster.apply(CLASS)) == "storageclass.storage.k8s.io/local created"
    assert repr(cluster.apply(CLASS)) == "storageclass.storage.k8s.io/local unchanged"
    assert repr(cluster.apply(POD)) == "pod/app created"
    cluster.run()
    changed = cluster.apply(POD.replace("name: app}\nspec", "name: app, labels: {tier: web}}\nspec"))
    assert repr(changed) == "pod/app configured"
    assert cluster["pod/app"].spec.node_name
    assert cluster["pod/app"].metadata.labels["tier"] == "web"


def test_refused_writes_change_nothing():
    """A refusal is raised in the API server's words, and the cluster does not change."""
    cluster = two_nodes()
    cluster.apply(POD)
    before = cluster.manifests()
    with pytest.raises(ApplyRefused, match="pod updates may not change fields other than"):
        cluster.apply(POD.replace('cpu: "1"', 'cpu: "2"'))
    assert cluster.manifests() == before


def test_delete_and_missing_references():
    """Delete prints kubectl's words; the error about an unknown name lists the existing ones."""
    cluster = two_nodes()
    cluster.apply(POD)
    assert repr(cluster.delete("pod/app")) == 'pod "app" deleted from default namespace'
    assert "pod/app" not in cluster
    with pytest.raises(KeyError, match="no node/node-3; there are: node/node-1, node/node-2"):
        cluster["node/node-3"]


def test_step_lets_a_chosen_actor_go():
    """A step takes an actor by its name in the panel; without work it is falsy; an unknown name is an error."""
    cluster = two_nodes()
    cluster.apply(POD)
    assert not cluster.step("kubelet")
    step = cluster.step("scheduling pass")
    assert step.words.startswith("Scheduler judges app, pass 1: 2 of 2 nodes fit, it chooses node-")
    assert not cluster["pod/app"].spec.node_name
    assert "binds app to node-" in cluster.step("bind worker").words
    with pytest.raises(LookupError, match="no actor is called 'nobody'"):
        cluster.step("nobody")
    cluster.run()
    assert not cluster.step()


def test_a_number_is_no_actor():
    """Who wants several steps of `step` is told what makes them."""
    with pytest.raises(TypeError, match=r"c\.run\(steps=6\) makes 6"):
        Cluster().step(6)


def test_run_until():
    """A run ends when its condition holds, when no actor has work, or at its bounds, and says why."""
    cluster = two_nodes()
    cluster.apply(POD)
    assert cluster.run(until="pod/app scheduled").ended == "pod/app scheduled holds"
    assert cluster.run(until=lambda c: c["pod/app"].status.phase == "Running").ended == "the condition holds"
    assert cluster.run().ended == "nothing is left to do"
    with pytest.raises(ValueError, match="'pod/app' is no condition"):
        cluster.run(until="pod/app")


@pytest.mark.checklist("260")
@pytest.mark.parametrize("revision", ["design", "upstream"])
def test_back_returns_to_the_first_state_and_the_run_repeats(revision):
    """Going back restores objects and digest; going forward, or acting again, repeats the run."""
    cluster = scenario("zonal-example", revision)
    start = cluster.manifests(), cluster.digest()
    first = [repr(step) for step in cluster.run().steps]
    end = cluster.manifests(), cluster.digest()
    cluster.back(len(first))
    assert (cluster.manifests(), cluster.digest()) == start
    assert cluster.world.known_steps == len(first)
    cluster.goto(len(first))
    assert (cluster.manifests(), cluster.digest()) == end
    cluster.goto(0)
    assert [repr(step) for step in cluster.run().steps] == first
    assert (cluster.manifests(), cluster.digest()) == end


def test_each_place_is_the_same_from_either_side():
    """The end of every step is equal whether it is reached forward or back."""
    cluster = scenario("two-replicas")
    places = range(len(cluster.run()) + 1)
    digests = {}
    for number in (*reversed(places), *places):
        cluster.goto(number)
        assert cluster.digest() == digests.setdefault(number, cluster.digest())
    assert len(set(digests.values())) > len(places) / 2


def test_forks_do_not_touch():
    """A fork and its origin do not affect each other; diff lists fields."""
    cluster = scenario("zonal-example")
    cluster.step()
    fork = cluster.fork("cordoned")
    assert not len(cluster.diff(fork))
    fork.cordon("node-a")
    fork.run()
    assert not cluster["node/node-a"].spec.unschedulable
    assert not cluster["pod/my-pod"].spec.node_name
    assert "node/node-a" in repr(cluster.diff(fork))
    cluster.run()
    assert cluster["pod/my-pod"].status.phase == "Running"


def test_cordon_and_taint_keep_pods_away():
    """A cordoned and a tainted node reject a pod, each with its reason."""
    cluster = two_nodes()
    assert repr(cluster.cordon("node-1")) == "node/node-1 cordoned"
    assert repr(cluster.taint("node-2", "dedicated=db:NoSchedule")) == "node/node-2 tainted"
    cluster.apply(POD)
    cluster.run()
    message = cluster["pod/app"].status.condition("PodScheduled").message
    assert message.startswith(
        "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. "
    )
    cluster.uncordon("node-1")
    cluster.run()
    assert cluster["pod/app"].spec.node_name == "node-1"


@pytest.mark.parametrize("revision", ["design", "upstream"])
def test_a_crash_forgets_and_the_loop_recovers(revision):
    """A component that crashes between two steps lists everything again, and the pod runs in the end."""
    for number in range(1, 9):
        cluster = scenario("zonal-example", revision)
        for _ in range(number):
            cluster.step()
        cluster.crash("kube-scheduler")
        cluster.crash("persistent-volume-binder")
        cluster.run()
        assert cluster["pod/my-pod"].status.phase == "Running", number


def test_a_refused_write_is_tried_again():
    """The nth write of a component is refused once; the step says so, and the pod gets a node later."""
    cluster = two_nodes()
    cluster.apply(POD)
    cluster.refuse("kube-scheduler", 1)
    run = cluster.run()
    assert any("refused (Conflict)" in step.words for step in run)
    assert cluster["pod/app"].status.phase == "Running"
    assert cluster.now >= 1.0


def test_story_of_an_object():
    """A story lists the acts on a claim, in order."""
    cluster = scenario("zonal-example")
    cluster.run()
    told = repr(cluster.story("pvc/my-pvc"))
    assert told.index("selectedNode") < told.index("volumeName") < told.index("Bound")


def test_the_nodes_that_fit_with_reasons_and_scores():
    """A pod's last pass as data: who fits, who rejects the others and why, each plugin's score, and the choice."""
    c = scenario("zonal-example")
    c.run("pod/my-pod Running")
    assert ("node-a",) == c.fits("my-pod").nodes
    c.goto(c.passes("my-pod")[0].step)
    fits = c.fits("pod/my-pod")
    assert ["node-a", "node-b"] == list(fits)
    assert "node-b" in fits
    assert "node-c" not in fits
    assert ("NodeResourcesFit", "Insufficient cpu") == fits.rejected["node-a-small"]
    assert (84.0, 84, 84) == tuple(fits.scores["node-a"]["NodeResourcesFit"])
    assert repr(fits).startswith("2 of 4 nodes fit pod/my-pod: node-a, node-b; node-a is chosen\n  node-a-small  Node")
    with pytest.raises(KeyError, match="no pod/other"):
        c.fits("other")


def test_a_last_pass_is_read_in_the_cluster_as_it_is_judged_on_a_fork():
    """Reading it tells what a fork would and leaves the present as it was, even where reading fails."""

    def facts(found):
        return found.number, found.chosen, found.rules_changed, found.judgement.feasible, found.judgement.fingerprint

    cluster, pod = scenario("zonal-example"), Key("Pod", "default", "my-pod")
    cluster.run()
    turn, before = last_pass(cluster, pod), (cluster.digest(), cluster.world.place, cluster.world.log.end)
    assert read_last_pass(cluster, pod, turn, facts) == facts(judge_last_pass(cluster, pod))
    assert read_last_pass(cluster, pod._replace(name="nobody"), turn, facts) is None
    with pytest.raises(ZeroDivisionError):
        read_last_pass(cluster, pod, turn, lambda _: 1 // 0)
    assert (cluster.digest(), cluster.world.place, cluster.world.log.end) == before
    seen = cluster.world.processes["kube-scheduler"].views["cache"].snapshot
    assert seen == cluster.fork().world.processes["kube-scheduler"].views["cache"].snapshot
    assert seen.pod(pod).spec.node_name == cluster["my-pod"].spec.node_name

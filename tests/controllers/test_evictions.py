"""Evictions through the API, which respect budgets, and kubectl's drain, which tries again."""

import pytest

from kvolsched import ApplyRefused, Cluster
from kvolsched.learn.scenario import nodes

WORKLOAD = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""


@pytest.fixture
def cluster():
    """Return a cluster whose Deployment of three pods runs under a budget of two; new pods take 10 s to start."""
    c = Cluster(components={"kubelet": {"start_delay": 10.0}})
    c._load(nodes(2))
    c.apply(WORKLOAD)
    c.run()
    return c


def names(c):
    """Return the names of the pods that are not being deleted."""
    return [pod.metadata.name for pod in c.objects("pods") if pod.metadata.deletion_timestamp is None]


def test_an_eviction_is_counted_and_the_next_is_refused(cluster):
    """The first pod gets its condition and goes, the budget counts it; the second meets 429 in Kubernetes' words."""
    first, second, _ = names(cluster)
    assert f"pod/{first} evicted" == repr(cluster.evict(first))
    assert f"User evicts pod/{first}." == cluster._last_step.words
    assert "EvictionByEvictionAPI" == cluster[f"pod/{first}"].status.condition("DisruptionTarget").reason
    budget = cluster["pdb/web"].status
    assert (0, [first]) == (budget.disruptions_allowed, list(budget.disrupted_pods))
    before = cluster.digest()
    with pytest.raises(ApplyRefused, match="Cannot evict pod as it would violate the pod's") as error:
        cluster.evict(f"pod/default/{second}")
    assert before == cluster.digest()
    assert ("TooManyRequests",) == tuple(refused.reason for refused in error.value.refusals)
    cluster.step("disruption controller")
    with pytest.raises(ApplyRefused) as error:
        cluster.evict(second)
    assert error.value.lines[0].endswith("The disruption budget web needs 2 healthy pods and has 2 currently")
    cluster.run()
    assert (3, 1, {}) == (len(names(cluster)), cluster["pdb/web"].status.disruptions_allowed,
                          dict(cluster["pdb/web"].status.disrupted_pods))  # fmt: skip


def test_a_new_budget_forbids_until_it_is_counted(cluster):
    """A budget that its controller has not seen yet forbids every eviction."""
    cluster.patch("pdb/web", {"spec": {"minAvailable": 0}})
    with pytest.raises(ApplyRefused) as error:
        cluster.evict(names(cluster)[0])
    assert "The disruption budget web is still being processed by the server." in error.value.lines[0]
    cluster.run()
    cluster.evict(names(cluster)[0])


def test_two_budgets_for_one_pod_are_an_error(cluster):
    """Kubernetes evicts no pod that two budgets protect."""
    cluster.apply(WORKLOAD.split("---")[1].replace("name: web}\nspec", "name: second}\nspec"))
    with pytest.raises(ApplyRefused, match=r"^This pod has more than one PodDisruptionBudget"):
        cluster.evict(names(cluster)[0])


def test_back_undoes_an_eviction(cluster):
    """An eviction is one step."""
    before = cluster.digest()
    cluster.evict(names(cluster)[0])
    cluster.back()
    assert before == cluster.digest()


def test_an_eviction_is_one_request(cluster):
    """The request list has one POST of the subresource for it, and 429 for a refused one."""
    first, second, _ = names(cluster)
    cluster.evict(first)
    with pytest.raises(ApplyRefused):
        cluster.evict(second)
    found = [(row.verb, row.resource, row.subresource, row.code) for row in cluster.requests()
             if row.subresource == "eviction"]  # fmt: skip
    assert [("POST", "pods", "eviction", 201), ("POST", "pods", "eviction", 429)] == found


def test_a_drain_evicts_as_the_budget_allows(cluster):
    """Drain evicts one pod, is blocked for others in kubectl's words, and goes on every 5 s until the node is empty."""
    node = max((pod.spec.node_name for pod in cluster.objects("pods")), key=[
        pod.spec.node_name for pod in cluster.objects("pods")].count)  # fmt: skip
    result = cluster.drain(node)
    assert (f"node/{node} cordoned", 1, 1) == (
        result.lines[0], repr(result).count(" evicted"),
        repr(result).count("(will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget."),
    )  # fmt: skip
    available = []
    for _ in range(200):
        if not cluster.step():
            break
        ready = (pod.status.condition("Ready") for pod in cluster.objects("pods") if not pod.metadata.deletion_timestamp)
        available.append(sum(found is not None and found.status == "True" for found in ready))
    assert 2 == min(available)
    assert [] == [pod for pod in cluster.objects("pods") if pod.spec.node_name == node]
    assert 3 == len(names(cluster))
    assert "nothing is left to do" == cluster.run().ended


def test_what_drain_must_not_delete_needs_an_option():
    """DaemonSet pods, emptyDir data and pods without controller are refused in kubectl's words; the node is cordoned."""
    c = Cluster()
    c._load(nodes(1))
    c.apply("""
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: app, image: app}]}
---
apiVersion: v1
kind: Pod
metadata: {name: bare}
spec:
  containers: [{name: app, image: app}]
  volumes: [{name: scratch, emptyDir: {}}]
""")
    c.run()
    daemon = next(name for name in names(c) if name.startswith("agent"))
    c.cordon("node-00000")
    before = c.digest()
    with pytest.raises(ValueError, match=r'unable to drain node "node-00000" due to error: \[cannot delete') as error:
        c.drain("node-00000")
    assert f"DaemonSet-managed Pods (use --ignore-daemonsets to ignore): default/{daemon}" in str(error.value)
    assert "Pods with local storage (use --delete-emptydir-data to override): default/bare" in str(error.value)
    with pytest.raises(ValueError, match=r"Pods that declare no controller \(use --force to override\): default/bare"):
        c.drain("node-00000", ignore_daemonsets=True, delete_emptydir_data=True)
    assert before == c.digest()
    result = c.drain("node-00000", ignore_daemonsets=True, delete_emptydir_data=True, force=True)
    assert f"ignoring DaemonSet-managed Pods: default/{daemon}" in result.lines[1]
    assert "node/node-00000 drained" == result.lines[-1]
    c.run()
    assert [daemon] == names(c)

"""What a real kube-scheduler asks of an API server: each request is answered, and its bindings and Events are the cluster's."""

import pytest
from serve.test_protobuf import body, field
from served_client import PODS, STRATEGIC, pod

from kvolsched.serve.protobuf import PROTOBUF

# What its informers list and watch (v1.36.2, its default configuration).
LISTED = (
    "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed", "/api/v1/nodes", "/api/v1/namespaces", "/api/v1/services",
    "/api/v1/replicationcontrollers", "/api/v1/persistentvolumes", "/api/v1/persistentvolumeclaims", "/apis/apps/v1/replicasets",
    "/apis/apps/v1/statefulsets", "/apis/policy/v1/poddisruptionbudgets", "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/storage.k8s.io/v1/csinodes", "/apis/storage.k8s.io/v1/csidrivers", "/apis/storage.k8s.io/v1/csistoragecapacities",
    "/apis/storage.k8s.io/v1/volumeattachments", "/apis/resource.k8s.io/v1/resourceclaims", "/apis/resource.k8s.io/v1/resourceslices",
    "/apis/resource.k8s.io/v1/deviceclasses",
)
ACCEPT = f"{PROTOBUF},application/json"
NAME = "real-scheduler"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


@pytest.mark.parametrize("path", LISTED)
def test_what_it_lists_and_watches(client, path):
    """A list in pages, a watch from its version with bookmarks, and a watch that begins with all there is are answered in JSON."""
    sign = "&" if "?" in path else "?"
    found = client.get(f"{path}{sign}limit=500&resourceVersion=0", Accept=ACCEPT)
    assert found["kind"].endswith("List")
    version = found["metadata"]["resourceVersion"]
    client.watch(f"{path}{sign}watch=true&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds=1", Accept=ACCEPT).close()
    watch = client.watch(f"{path}{sign}watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1",
                         Accept=ACCEPT)
    kinds = []
    while not kinds or kinds[-1] != "BOOKMARK":
        kinds.append(watch()[0])
    assert kinds == ["ADDED"] * len(found["items"]) + ["BOOKMARK"]
    watch.close()


def lease(holder, version=""):
    """Return the Lease of its election in protobuf, with its version."""
    meta = field(1, "kube-scheduler") + field(3, "kube-system") + (field(6, version) if version else b"")
    return body("coordination.k8s.io/v1", "Lease", field(1, meta) + field(2, field(1, holder) + field(2, 15)))


def test_its_election_is_outside_of_the_history(client, cluster):
    """It takes the Lease and renews it; a stale renewal is a conflict; the cluster makes no step, and going back leaves it."""
    leases, step, digest = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", cluster.world.step_number, cluster.digest()
    assert client.refused("GET", f"{leases}/kube-scheduler")[0] == 404
    code, first = client.ask("POST", leases, lease("a"), PROTOBUF, Accept=ACCEPT)
    assert (code, first["spec"]["holderIdentity"]) == (201, "a")
    code, second = client.ask("PUT", f"{leases}/kube-scheduler", lease("b", first["metadata"]["resourceVersion"]), PROTOBUF)
    assert (code, second["spec"]["holderIdentity"], second["metadata"]["uid"]) == (200, "b", first["metadata"]["uid"])
    stale = lease("c", first["metadata"]["resourceVersion"])
    assert client.refused("PUT", f"{leases}/kube-scheduler", stale, PROTOBUF)[:2] == (409, "Conflict")
    assert (cluster.world.step_number, cluster.digest()) == (step, digest)
    cluster.back()
    assert client.get(leases)["items"][0]["spec"]["holderIdentity"] == "b"


def test_it_binds_and_tells(client, cluster):
    """Our scheduler leaves it its pod; its failure, Event and binding, all in protobuf or patches, are seen in the cluster."""
    waiting = pod("theirs")
    waiting["spec"] = {**waiting["spec"], "schedulerName": NAME}
    cluster.apply(waiting)
    cluster.run()
    assert cluster["pod/theirs"].spec.node_name == ""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes are available", "lastTransitionTime": None}
    code, found = client.ask("PATCH", f"{PODS}/theirs/status", {"status": {"conditions": [condition]}}, STRATEGIC, Accept=ACCEPT)
    assert (code, found["status"]["conditions"][0]["reason"]) == (200, "Unschedulable")
    uid = found["metadata"]["uid"]
    told = {4: NAME, 5: f"{NAME}-0", 6: "Scheduling", 7: "FailedScheduling", 10: "0/4 nodes are available", 11: "Warning"}
    event = (field(1, field(1, "theirs.1") + field(3, "default")) + field(2, field(1, 1_764_000_000)) + b"".join(
        field(number, text) for number, text in told.items()) + field(8, field(1, "Pod") + field(2, "default") + field(3, "theirs") + field(4, uid)))
    code, found = client.ask("POST", EVENTS, body("events.k8s.io/v1", "Event", event), PROTOBUF, Accept=ACCEPT)
    assert (code, found["apiVersion"], found["note"], found["regarding"]["name"]) == (201, "events.k8s.io/v1", told[10], "theirs")
    series = {"series": {"count": 2, "lastObservedTime": "2026-11-24T02:01:00.000000Z"}}
    assert client.ask("PATCH", f"{EVENTS}/theirs.1", series, STRATEGIC)[1]["series"]["count"] == 2
    assert client.get(EVENTS)["items"][0]["apiVersion"] == "events.k8s.io/v1"
    row = next(line for line in cluster.kubectl("describe pod theirs").stdout.splitlines() if "FailedScheduling" in line)
    assert row.split()[-5:] == [NAME, *told[10].split()]
    binding = field(1, field(1, "theirs") + field(3, "default") + field(5, uid)) + field(2, field(1, "Node") + field(3, "node-b"))
    code, found = client.ask("POST", f"{PODS}/theirs/binding", body("v1", "Binding", binding), PROTOBUF, Accept=ACCEPT)
    assert (code, found["status"]) == (201, "Success")
    cluster.run()
    assert (cluster["pod/theirs"].spec.node_name, cluster["pod/theirs"].status.phase) == ("node-b", "Running")


def test_ours_is_asked_about_the_same_pods(client, cluster, served):
    """A node with the highest score is no difference; another that fits, one that does not, and another sentence are told of."""
    for name, wanted in (("best", {}), ("worse", {}), ("wrong", {"nodeSelector": {"a": "b"}}), ("refused", {"nodeSelector": {"a": "b"}}), ("waits", {})):
        manifest = pod(name)
        manifest["spec"] = {"containers": [{"name": "a", "image": "x", "resources": {"requests": {"cpu": "1"}}}], "schedulerName": NAME, **wanted}
        cluster.apply(manifest)
    cluster.run()
    assert repr(served.compare_with(NAME)) == f"0 pods of {NAME}: ours does otherwise with none."
    sentence = "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": f"{sentence} preemption: none"}
    for name in ("refused", "waits"):
        client.ask("PATCH", f"{PODS}/{name}/status", {"status": {"conditions": [condition]}}, STRATEGIC)
    found = {each.pod: each for each in served.compare_with(NAME).pods}
    assert found["pod/refused"].is_equal
    best = found["pod/waits"].ours
    assert not found["pod/waits"].is_equal
    others = [node for node in ("node-a", "node-b", "node-c") if node not in best]
    for name, node in (("best", best[0]), ("wrong", "node-a"), ("worse", others[0])):
        client.ask("POST", f"{PODS}/{name}/binding", {"target": {"kind": "Node", "name": node}})
    before, place = cluster.digest(), cluster.world.place
    compared = served.compare_with(NAME)
    assert (cluster.digest(), cluster.world.place) == (before, place)
    assert [each.pod for each in compared.differing] == ["pod/waits", "pod/worse", "pod/wrong"]
    assert compared.pods[-1].ours == (sentence,)
    assert "ours: " in repr(compared).splitlines()[1]
    with pytest.raises(KeyError, match="no pod names the scheduler 'nosuch'; there are: default-scheduler, real-scheduler"):
        served.compare_with("nosuch")

"""What a client writes: objects, patches, deletions, subresources, dry runs, and what refuses them."""

import pytest
from served_client import CLAIMS, JSON_PATCH, MERGE, PODS, STRATEGIC, Client, pod

import kvolsched

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
WEB = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
    "replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}}}}


def test_a_write_is_one_step_of_the_history(client, cluster):
    """A client's create is a step of its own, which says who wrote, and which `back` undoes."""
    steps = cluster.world.step_number
    code, created = client.ask("POST", PODS, pod("a"))
    assert code == 201
    assert created["metadata"]["uid"]
    assert created["spec"]["schedulerName"] == "default-scheduler"
    assert cluster.world.step_number == steps + 1
    assert "tester creates pod/a" in repr(cluster.goto(-1)).lower()
    cluster.back(1)
    assert client.refused("GET", f"{PODS}/a")[0] == 404


def test_a_stale_update_is_a_conflict(client):
    """An update that builds on an old version is refused; one that names none is not."""
    old = client.get(f"{PODS}/my-pod")
    client.ask("PATCH", f"{PODS}/my-pod", {"metadata": {"labels": {"z": "1"}}}, MERGE)
    old["metadata"]["labels"] = {"q": "2"}
    code, reason, message = client.refused("PUT", f"{PODS}/my-pod", old)
    assert (code, reason) == (409, "Conflict")
    assert message.startswith('Operation cannot be fulfilled on pods "my-pod": the object has been modified')
    del old["metadata"]["resourceVersion"]
    code, new = client.ask("PUT", f"{PODS}/my-pod", old)
    assert (code, new["metadata"]["labels"]) == (200, {"q": "2"})


@pytest.mark.parametrize(("media", "patch"), [
    (MERGE, {"metadata": {"annotations": {"a": "1", "b": None}}}),
    (STRATEGIC, {"metadata": {"annotations": {"a": "1", "$patch": "replace"}}}),
    (JSON_PATCH, [{"op": "replace", "path": "/metadata/annotations", "value": {"a": "1"}}]),
])
def test_each_kind_of_patch(client, media, patch):
    """Merge, strategic merge and JSON patches change what they name."""
    client.ask("PATCH", f"{PODS}/my-pod", {"metadata": {"annotations": {"b": "1"}}}, MERGE)
    code, found = client.ask("PATCH", f"{PODS}/my-pod", patch, media)
    assert (code, found["metadata"]["annotations"]) == (200, {"a": "1"})


@pytest.mark.parametrize(("media", "patch", "code"), [
    (JSON_PATCH, [{"op": "remove", "path": "/metadata/nosuch"}], 422), (JSON_PATCH, {"a": 1}, 422), (MERGE, [1], 400),
    (JSON_PATCH, [{"op": "test", "path": "/kind", "value": "Node"}], 422), (MERGE, {"metadata": {"name": "other"}}, 400),
    (MERGE, {"kind": "Node"}, 400), (MERGE, {"spec": {"containers": 5}}, 400), (MERGE, b"{", 400), (MERGE, b"\xff", 400),
    (STRATEGIC, {"spec": {"containers": [{"image": "y"}]}}, 422), ("text/html", {}, 415), (MERGE, {"metadata": 7}, 400),
    (MERGE, {"metadata": {"resourceVersion": "1"}}, 409), (MERGE, {"spec": {"nodeName": "node-b"}}, 422),
])
def test_a_patch_that_cannot_be_applied(client, cluster, media, patch, code):
    """Each patch that cannot be applied is refused by a Status, and nothing changes."""
    before = cluster.digest()
    assert client.refused("PATCH", f"{PODS}/my-pod", patch, media)[0] == code
    assert cluster.digest() == before


def test_an_invalid_object_names_every_fault(client):
    """An invalid object is refused by 422 with each fault as a cause."""
    code, data = client.ask("POST", PODS, {**pod("bad"), "spec": {"containers": []}})
    assert (code, data["reason"], data["details"]["kind"]) == (422, "Invalid", "Pod")
    assert data["details"]["causes"] == [
        {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.containers"}]


@pytest.mark.parametrize(("body", "code"), [
    (b"", 400), (b"{", 400), (b"[]", 400), (b"{}{}", 400), (b"k8s", 400), (pod("a", namespace="other"), 400),
    ({**pod("a"), "kind": "Node"}, 400), ({**pod("a"), "metadata": []}, 400), (pod("a", resourceVersion="5"), 400),
    (pod("my-pod"), 409), (pod(""), 422), (pod("A_b"), 422), ({"metadata": {"name": "x"}, "spec": {"containers": "x"}}, 400),
])
def test_what_cannot_be_created(client, cluster, body, code):
    """Each body that is no object for this path is refused by a Status, and nothing changes."""
    before = cluster.digest()
    assert client.refused("POST", PODS, body)[0] == code
    assert cluster.digest() == before


def test_unknown_fields_are_refused_warned_of_or_ignored(client):
    """`fieldValidation` decides what becomes of fields that nobody knows; they are never stored."""
    body = {**pod("a"), "spec": {**pod("a")["spec"], "nodeSelecter": {"a": "b"}}}
    refused = 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.nodeSelecter"'
    assert client.refused("POST", f"{PODS}?fieldValidation=Strict", body) == (400, "BadRequest", refused)
    code, created = client.ask("POST", PODS, body)
    assert (code, "nodeSelecter" in created["spec"]) == (201, False)
    assert client.headers["Warning"] == '299 - "unknown field \\"spec.nodeSelecter\\""'
    body["metadata"]["name"] = "b"
    client.ask("POST", f"{PODS}?fieldValidation=Ignore", body)
    assert client.headers["Warning"] is None


def test_a_wrong_type_is_said_in_the_words_of_go(client):
    """A value of the wrong type is named with the type of Go that holds the field."""
    body = {**pod("a"), "spec": {**pod("a")["spec"], "priority": "high"}}
    assert client.refused("POST", PODS, body)[2] == (
        'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field '
        "PodSpec.spec.priority of type int32")


def test_a_dry_run_stores_nothing(client, cluster):
    """A dry run of each verb answers what would be, and leaves the cluster and its history as they are."""
    before, steps = cluster.digest(), cluster.world.known_steps
    code, created = client.ask("POST", f"{PODS}?dryRun=All", pod("a"))
    assert (code, bool(created["metadata"]["uid"])) == (201, True)
    assert client.ask("PATCH", f"{PODS}/my-pod?dryRun=All", {"metadata": {"labels": {"a": "1"}}}, MERGE)[1]["metadata"]["labels"]
    assert client.ask("DELETE", f"{PODS}/my-pod", {"kind": "DeleteOptions", "dryRun": ["All"]})[0] == 200
    eviction = {"metadata": {"name": "my-pod"}, "deleteOptions": {"dryRun": ["All"]}}
    assert client.ask("POST", f"{PODS}/my-pod/eviction", eviction)[0] == 201
    assert client.refused("POST", f"{PODS}?dryRun=All", pod("my-pod"))[0] == 409
    assert (cluster.digest(), cluster.world.known_steps) == (before, steps)
    assert client.refused("GET", f"{PODS}/a")[0] == 404


@pytest.mark.parametrize(("method", "query", "words"), [
    ("POST", "dryRun=Some", 'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: "Some": supported values: "All"'),
    ("PUT", "fieldValidation=Some",
     'UpdateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Some": supported values: "Ignore", "Strict", "Warn"'),
    ("PATCH", "force=true", 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch'),
    ("DELETE", "dryRun=all", 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: "all": supported values: "All"'),
])
def test_options_that_no_server_has(client, cluster, method, query, words):
    """A write with one is refused in a server's words, and nothing is written."""
    before, path = cluster.digest(), PODS if method == "POST" else f"{PODS}/my-pod"
    assert client.refused(method, f"{path}?{query}", pod("my-pod"), MERGE if method == "PATCH" else "application/json") == (422, "Invalid", words)
    assert cluster.digest() == before


def test_a_deletion_that_is_not_dry(client, cluster):
    """An empty list of dry runs asks for none."""
    assert client.ask("DELETE", f"{PODS}/my-pod", {"kind": "DeleteOptions", "dryRun": []})[0] == 200
    assert cluster["pod/my-pod"].metadata.deletion_timestamp


def test_an_eviction_of_another_pod_of_the_name(client):
    """One that expects another uid is a conflict; options that are none are a bad request."""
    eviction = {"metadata": {"name": "my-pod"}, "deleteOptions": {"preconditions": {"uid": "x"}}}
    assert client.refused("POST", f"{PODS}/my-pod/eviction", eviction)[:2] == (409, "Conflict")
    for wrong in ([1], {"preconditions": [1]}):
        assert client.refused("POST", f"{PODS}/my-pod/eviction", {**eviction, "deleteOptions": wrong})[:2] == (400, "BadRequest")


def test_a_generated_name(client):
    """An object with a generateName gets five letters, each another name."""
    body = pod("", generateName="job-")
    made = {client.ask("POST", PODS, body)[1]["metadata"]["name"] for _ in range(3)}
    assert len(made) == 3
    assert all(name.startswith("job-") and len(name) == 9 for name in made)


def test_deleting_waits_for_grace_and_finalizers(client, cluster):
    """A running pod is marked first and gone when its kubelet says so; a claim in use waits for its finalizer."""
    code, marked = client.ask("DELETE", f"{PODS}/my-pod")
    assert (code, marked["metadata"]["deletionGracePeriodSeconds"]) == (200, 30)
    assert client.ask("DELETE", f"{CLAIMS}/my-pvc")[1]["metadata"]["deletionTimestamp"]
    cluster.run()
    assert client.refused("GET", f"{PODS}/my-pod")[0] == 404
    assert client.refused("GET", f"{CLAIMS}/my-pvc")[0] == 404


def test_a_deletion_at_once_and_its_preconditions(client):
    """Grace 0 removes a pod at once; a precondition of another uid or version is a conflict."""
    other = {"preconditions": {"uid": "other"}}
    assert client.refused("DELETE", f"{PODS}/my-pod", other)[:2] == (409, "Conflict")
    assert client.refused("DELETE", f"{PODS}/my-pod", {"preconditions": {"resourceVersion": "1"}})[:2] == (409, "Conflict")
    assert client.refused("DELETE", f"{PODS}/my-pod", {"propagationPolicy": "Sideways"})[0] == 422
    for wrong in ({"uid": "other"}, {"resourceVersion": "1"}):
        options = {"propagationPolicy": "Foreground", "preconditions": wrong}
        assert client.refused("DELETE", f"{PODS}/my-pod", options)[:2] == (409, "Conflict")
    assert "finalizers" not in client.get(f"{PODS}/my-pod")["metadata"]
    code, status = client.ask("DELETE", f"{PODS}/my-pod", {"gracePeriodSeconds": 0})
    assert (code, status["status"], status["details"]["name"]) == (200, "Success", "my-pod")


def test_propagation(client, cluster):
    """Orphaned dependents stay, others go with their owner; in the foreground the owner goes last."""
    for name, policy in (("kept", "Orphan"), ("gone", "Background"), ("last", "Foreground")):
        client.ask("POST", DEPLOYMENTS, {**WEB, "metadata": {"name": name}, "spec": {
            **WEB["spec"], "selector": {"matchLabels": {"app": name}}, "template": {
                **WEB["spec"]["template"], "metadata": {"labels": {"app": name}}}}})
        cluster.run()
        client.ask("DELETE", f"{DEPLOYMENTS}/{name}", {"propagationPolicy": policy})
        cluster.run()
    assert client.get(DEPLOYMENTS)["items"] == []
    assert {each.metadata.labels["app"] for each in cluster.objects("pods") if each.metadata.name != "my-pod"} == {"kept"}


def test_a_collection_is_deleted_by_selector(client):
    """Deleting a collection deletes what its selector chooses."""
    for name in ("a", "b"):
        client.ask("POST", PODS, pod(name))
    client.ask("POST", PODS, pod("c", labels={}))
    assert client.ask("DELETE", f"{PODS}?labelSelector=app%3Dp")[0] == 200
    assert [item["metadata"]["name"] for item in client.get(PODS)["items"]] == ["c", "my-pod"]


def test_the_status_is_a_subresource(client, cluster):
    """A patch of the status changes nothing else, and one of the object no status."""
    status = {"metadata": {"labels": {"x": "1"}}, "status": {"message": "told"}}
    labels = client.get(f"{PODS}/my-pod")["metadata"]["labels"]
    code, found = client.ask("PATCH", f"{PODS}/my-pod/status", status, STRATEGIC)
    assert (code, found["status"]["message"], found["metadata"]["labels"]) == (200, "told", labels)
    found = client.ask("PATCH", f"{PODS}/my-pod", {"status": {"message": "other"}}, STRATEGIC)[1]
    assert found["status"]["message"] == "told"


def test_the_generation_moves_with_the_spec(client, cluster):
    """A change of the spec counts a generation, one of labels or status does not."""
    client.ask("POST", DEPLOYMENTS, WEB)
    generations = [client.ask("PATCH", f"{DEPLOYMENTS}/web", patch, MERGE)[1]["metadata"]["generation"] for patch in (
        {"metadata": {"labels": {"a": "1"}}}, {"spec": {"replicas": 3}}, {"spec": {"replicas": 3}})]
    assert generations == [1, 2, 2]


def test_scale_is_read_and_written(client, cluster):
    """The subresource scale reads and sets replicas, by update and by patch, with its version as a precondition."""
    client.ask("POST", DEPLOYMENTS, WEB)
    scale = client.get(f"{DEPLOYMENTS}/web/scale")
    assert (scale["spec"], scale["status"]["selector"]) == ({"replicas": 2}, "app=web")
    scale["spec"]["replicas"] = 4
    assert client.ask("PUT", f"{DEPLOYMENTS}/web/scale", scale)[1]["spec"]["replicas"] == 4
    assert client.refused("PUT", f"{DEPLOYMENTS}/web/scale", scale)[:2] == (409, "Conflict")
    assert client.ask("PATCH", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 1}}, MERGE)[1]["spec"]["replicas"] == 1
    assert cluster["deployment/web"].spec.replicas == 1
    assert client.refused("PATCH", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": "x"}}, MERGE)[0] == 400


def test_a_pod_is_bound_once(client):
    """A binding assigns a node; a second one is a conflict."""
    client.ask("POST", PODS, pod("a"))
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"}, "target": {"kind": "Node", "name": "node-b"}}
    assert client.ask("POST", f"{PODS}/a/binding", binding)[0] == 201
    assert client.get(f"{PODS}/a")["spec"]["nodeName"] == "node-b"
    code, _, message = client.refused("POST", "/api/v1/namespaces/default/bindings", binding)
    assert (code, message.endswith('pod a is already assigned to node "node-b"')) == (409, True)


def test_an_eviction_that_a_budget_forbids(client, cluster):
    """An eviction against a budget is refused by 429 with the budget as its cause."""
    cluster.label("pod/my-pod", "app=x")
    cluster.apply({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
                   "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}})
    cluster.run()
    code, data = client.ask("POST", f"{PODS}/my-pod/eviction", {"metadata": {"name": "my-pod"}})
    assert (code, data["reason"], data["details"]["causes"][0]["reason"]) == (429, "TooManyRequests", "DisruptionBudget")


def test_kinds_that_no_rule_reads_are_stored_and_travel_in_time(client, cluster):
    """A ConfigMap is created, changed, listed and deleted like any object, and `back` undoes it."""
    path = "/api/v1/namespaces/default/configmaps"
    made = client.ask("POST", path, {"metadata": {"name": "cm"}, "data": {"a": "b"}})[1]
    assert (made["kind"], made["apiVersion"], made["metadata"]["namespace"]) == ("ConfigMap", "v1", "default")
    assert client.ask("PATCH", f"{path}/cm", {"data": {"c": "d"}}, STRATEGIC)[1]["data"] == {"a": "b", "c": "d"}
    fork = cluster.fork()
    cluster.back(1)
    assert client.get(f"{path}/cm")["data"] == {"a": "b"}
    assert client.ask("DELETE", f"{path}/cm")[0] == 200
    assert client.get(path)["items"] == []
    assert len(fork.world.log.of_kind("ConfigMap")) == 1
    assert cluster.run().ended == "nothing is left to do"


def test_a_client_may_do_everything_but_what_was_taken_away(client):
    """A review of access says yes, and a review of oneself the name of the client in the path."""
    review = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
              "spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert client.ask("POST", path, review)[1]["status"] == {"allowed": True}
    who = client.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {})[1]
    assert who["status"]["userInfo"]["username"] == "tester"


def test_methods_that_a_resource_has_not(client):
    """A method that a path does not take is not allowed."""
    for method, path in (("PUT", PODS), ("PATCH", PODS), ("POST", f"{PODS}/my-pod"),
                         ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")):
        assert client.refused(method, path, {} if method != "GET" else None)[:2] == (405, "MethodNotAllowed")


def test_live_everybody_acts_after_a_write():
    """With the pace `live` a pod that a client creates is running soon, without a step by the reader."""
    cluster = kvolsched.scenario("zonal-example")
    with cluster.serve(pace="live") as served:
        client = Client(served)
        watch = client.watch(f"{PODS}?watch=true&timeoutSeconds=9&fieldSelector=metadata.name%3Da")
        client.ask("POST", PODS, pod("a"))
        phases = []
        while "Running" not in phases:
            phases.append(watch()[1].get("status", {}).get("phase"))


def test_unmodelled_kinds_without_namespace_and_under_a_quota(client, cluster):
    """A ClusterRole is found under no namespace, and a quota of a namespace does not trip over what it cannot count."""
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    assert "namespace" not in client.ask("POST", roles, {"metadata": {"name": "r"}})[1]["metadata"]
    assert client.get(f"{roles}/r")["kind"] == "ClusterRole"
    quota = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "10", "secrets": "0"}}}
    client.ask("POST", "/api/v1/namespaces/default/resourcequotas", quota)
    cluster.run()
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    assert client.ask("POST", leases, {"metadata": {"name": "l"}})[0] == 201
    assert client.ask("DELETE", f"{roles}/r")[0] == 200


def test_the_reader_sees_what_clients_wrote(client, cluster):
    """The story of an object tells a client's writes without their owners; questions go on with objects of any kind."""
    client.ask("POST", PODS, pod("a"))
    client.ask("PATCH", f"{PODS}/a?fieldManager=kubectl-label", {"metadata": {"labels": {"x": "1"}}}, MERGE)
    client.ask("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "cm"}, "data": {"a": "b"}})
    told = repr(cluster.story("pod/a"))
    assert "Tester creates pod/a." in told
    assert "metadata.labels.x: 1" in told
    assert "managedFields" not in told
    assert "create configmap/cm" in repr(cluster.writes())
    for question in (cluster.changes, cluster.requests, cluster.why, cluster.map, cluster.timeline, cluster.manifests):
        assert repr(question())

"""Server-side apply: fields and their owners, conflicts, removal by omission, lists by their keys."""

import json
import time

import pytest
from served_client import JSON_PATCH, MERGE, STRATEGIC, Client, Kubectl

APPLY = "application/apply-patch+yaml"
WEB = "/apis/apps/v1/namespaces/default/deployments/web"
CONFIG = "/api/v1/namespaces/default/configmaps/cm"


def deployment(replicas=2, image="nginx", **container):
    """Return what a manager wants of the deployment `web`."""
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        **({"replicas": replicas} if replicas is not None else {}), "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": image, **container}]}}}}


def owners(found, operation="Apply"):
    """Return the fields of each manager as FieldsV1 has them."""
    return {each["manager"]: each["fieldsV1"] for each in found["metadata"]["managedFields"] if each["operation"] == operation}


def apply(client, body, manager="me", path=WEB, **query):
    """Apply as a manager, and return code and answer."""
    words = "".join(f"&{name}={value}" for name, value in query.items())
    return client.ask("PATCH", f"{path}?fieldManager={manager}{words}", body, APPLY)


def test_an_apply_creates_what_is_not_there_and_owns_its_fields(client):
    """The first apply answers 201; its manager owns what it named, no default."""
    code, found = apply(client, deployment())
    assert code == 201
    assert owners(found) == {"me": {"f:spec": {
        "f:replicas": {}, "f:selector": {}, "f:template": {"f:metadata": {"f:labels": {"f:app": {}}}, "f:spec": {
            "f:containers": {'k:{"name":"app"}': {".": {}, "f:image": {}, "f:name": {}}}}}}}}
    assert apply(client, deployment())[0] == 200


def test_a_field_of_another_is_a_conflict_until_it_is_forced(client):
    """Another value for an owned field is refused with the owner's name and the path; force takes the field."""
    apply(client, deployment(), "me")
    code, status = apply(client, deployment(image="apache"), "you")
    path = '.spec.template.spec.containers[name="app"].image'
    assert (code, status["reason"]) == (409, "Conflict")
    assert status["message"] == f'Apply failed with 1 conflict: conflict with "me": {path}'
    assert status["details"]["causes"] == [{"reason": "FieldManagerConflict", "message": 'conflict with "me"', "field": path}]
    code, found = apply(client, deployment(image="apache"), "you", force="true")
    assert (code, found["spec"]["template"]["spec"]["containers"][0]["image"]) == (200, "apache")
    container = owners(found)["me"]["f:spec"]["f:template"]["f:spec"]["f:containers"]['k:{"name":"app"}']
    assert container == {".": {}, "f:name": {}}


def test_several_conflicts_are_listed_by_owner(client):
    """Each owner stands with its paths; one that updates is named with its version."""
    apply(client, deployment(), "me")
    client.ask("PATCH", f"{WEB}?fieldManager=patcher", {"spec": {"minReadySeconds": 5}}, MERGE)
    wanted = deployment(replicas=9)
    wanted["spec"]["minReadySeconds"] = 6
    lines = apply(client, wanted, "you")[1]["message"].split("\n")
    assert lines[0] == 'Apply failed with 2 conflicts: conflicts with "me":'
    assert lines[1] == "- .spec.replicas"
    assert lines[2] == 'conflicts with "patcher" using apps/v1:'
    assert lines[3:] == ["- .spec.minReadySeconds"]


def test_equal_values_have_two_owners(client):
    """A second manager that wants the same owns the field, too; when one leaves it out, it stays."""
    apply(client, deployment(), "me")
    assert apply(client, deployment(), "you")[0] == 200
    found = apply(client, deployment(replicas=None), "you")[1]
    assert found["spec"]["replicas"] == 2
    assert "f:replicas" not in owners(found)["you"]["f:spec"]


def test_what_is_left_out_is_removed(client):
    """A field, a key of a mapping and an item of a list that nobody else owns go when their manager omits them."""
    body = deployment(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}])
    body["metadata"]["labels"] = {"x": "1", "y": "2"}
    apply(client, body)
    body = deployment(env=[{"name": "B", "value": "2"}])
    body["metadata"]["labels"] = {"y": "2"}
    found = apply(client, body)[1]
    assert found["metadata"]["labels"] == {"y": "2"}
    assert found["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "B", "value": "2"}]


def test_lists_merge_by_their_keys(client):
    """Two managers own items of one list; an atomic list is replaced as a whole."""
    apply(client, deployment())
    sidecar = deployment(replicas=None)
    sidecar["spec"]["template"]["spec"]["containers"] = [{"name": "side", "image": "s"}]
    found = apply(client, sidecar, "injector")[1]
    assert [each["name"] for each in found["spec"]["template"]["spec"]["containers"]] == ["app", "side"]
    found = apply(client, {**deployment(replicas=None), "spec": {
        "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}}}, "injector")[1]
    assert [each["name"] for each in found["spec"]["template"]["spec"]["containers"]] == ["app"]


@pytest.mark.parametrize(("media", "patch"), [
    (MERGE, {"spec": {"replicas": 5}}), (STRATEGIC, {"spec": {"replicas": 5}}),
    (JSON_PATCH, [{"op": "replace", "path": "/spec/replicas", "value": 5}]),
])
def test_an_update_takes_what_it_changes(client, media, patch):
    """Whoever writes another value owns the field, and who owned it before no longer does."""
    apply(client, deployment())
    found = client.ask("PATCH", f"{WEB}?fieldManager=patcher", patch, media)[1]
    assert owners(found, "Update") == {"patcher": {"f:spec": {"f:replicas": {}}}}
    assert "f:replicas" not in owners(found)["me"]["f:spec"]
    assert apply(client, deployment())[0] == 409


def test_scale_is_a_manager_of_its_own(client):
    """A write of the subresource scale is owned under its name, and an apply of another value conflicts with it."""
    apply(client, deployment())
    client.ask("PATCH", f"{WEB}/scale?fieldManager=hpa", {"spec": {"replicas": 7}}, MERGE)
    message = apply(client, deployment())[1]["message"]
    assert message == 'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas'


def test_an_unmodelled_kind_merges_by_its_mappings(client):
    """Managers own keys of a ConfigMap, and each removes its own."""
    apply(client, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": {"a": "1", "b": "2"}}, path=CONFIG)
    both = apply(client, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": {"c": "3"}}, "you", CONFIG)[1]
    assert both["data"] == {"a": "1", "b": "2", "c": "3"}
    left = apply(client, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": {"a": "1"}}, path=CONFIG)[1]
    assert left["data"] == {"a": "1", "c": "3"}


def test_what_an_apply_must_have(client):
    """An apply without a manager, or with owners in its body, is refused."""
    assert client.refused("PATCH", WEB, deployment(), APPLY)[0] == 422
    body = deployment()
    body["metadata"]["managedFields"] = [{"manager": "x"}]
    assert apply(client, body)[0] == 400
    assert apply(client, b"{a: [", "me")[0] == 400
    assert client.refused("GET", WEB)[0] == 404


def test_no_owner_has_an_unknown_field(client):
    """Unknown fields are named by the keys of their items, without a reason and with the code 500, as a server does, however little is asked."""
    known = "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): "
    one = '.spec.template.spec.containers[name="app"].imagee: field not declared in schema'
    code, found = apply(client, deployment(imagee="x"), fieldValidation="Ignore")
    assert (code, found["message"], "reason" in found) == (500, known + one, False)
    message = apply(client, {**deployment(imagee="x"), "specs": 1})[1]["message"]
    assert message == f"{known}errors:\n  {one}\n  .specs: field not declared in schema"


def test_no_owner_has_two_items_of_one_key(client):
    """A list with two items of one key is refused, whether the object is there or not."""
    body = deployment(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])
    words = '.spec.template.spec.containers[name="app"].env: duplicate entries for key [name="A"]'
    for _ in range(2):
        code, found = apply(client, body)
        assert (code, found["message"].partition(": ")[2]) == (500, words)
        apply(client, deployment())


def test_an_equal_apply_later_changes_nothing(client, cluster):
    """Neither the version nor the time of its entry moves, though the clock has."""
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    path = "/api/v1/namespaces/default/persistentvolumeclaims/c"
    first = apply(client, claim, path=path)[1]
    began = cluster.world.now
    cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "x"}]}})
    cluster.run()
    cluster.wait(60)
    assert cluster.world.now > began + 50
    assert apply(client, claim, path=path)[1]["metadata"] == first["metadata"]


def test_equal_runs_have_equal_owners(example):
    """Times of owners are those of the simulated clock, and are served as all others are."""
    digests = []
    for hours in (0, 5):
        cluster = example.fork("zonal-example")
        with cluster.serve() as served:
            served.objects.wall_clock = lambda hours=hours: time.time() + 3600 * hours
            served.objects.begin_era(served.objects.version)
            client = Client(served)
            (entry,) = apply(client, deployment())[1]["metadata"]["managedFields"]
            assert entry["time"] == client.get(WEB)["metadata"]["creationTimestamp"]
            client.ask("PUT", WEB, client.get(WEB))
            client.ask("PATCH", f"{WEB}/scale", {"spec": {"replicas": 3}}, MERGE)
        digests.append(cluster.digest())
        cluster.back()
    assert digests[0] == digests[1]


def test_what_was_there_before_has_an_owner(client, cluster):
    """What no client has written is owned as before the first apply: another value is a conflict, until it is forced."""
    path, zone = "/api/v1/namespaces/default/pods/my-pod", "topology.kubernetes.io/zone"
    wanted = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "my-pod", "labels": {zone: "x"}}}
    code, status = apply(client, wanted, path=path)
    assert (code, status["message"]) == (
        409, f'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .metadata.labels.{zone}')
    assert apply(client, wanted, path=path, force="true")[1]["metadata"]["labels"] == {zone: "x"}
    entries = client.get(path)["metadata"]["managedFields"]
    assert [(each["manager"], each["operation"]) for each in entries] == [("me", "Apply"), ("before-first-apply", "Update")]


def test_who_creates_owns_the_defaults(client):
    """Replicas that a create left to the server are its own: an apply that wants more conflicts with it."""
    client.ask("POST", f"{WEB.rpartition('/')[0]}?fieldManager=creator", deployment(replicas=None))
    message = apply(client, deployment(3))[1]["message"]
    assert message == 'Apply failed with 1 conflict: conflict with "creator" using apps/v1: .spec.replicas'


def test_the_status_in_a_config_is_left_out(client):
    """An apply of the object sets and owns no status, one of the status nothing else; to the status of nothing it is refused."""
    assert client.refused("PATCH", f"{WEB}/status?fieldManager=me", {**deployment(), "status": {"replicas": 7}}, APPLY)[0] == 404
    found = apply(client, {**deployment(), "status": {"replicas": 7}})[1]
    assert ("status" in found, list(owners(found)["me"])) == (False, ["f:spec"])
    code, found = apply(client, {**deployment(9), "status": {"replicas": 7}}, "watcher", f"{WEB}/status")
    assert (code, found["spec"]["replicas"], found["status"]) == (200, 2, {"replicas": 7})
    assert owners(found)["watcher"] == {"f:status": {"f:replicas": {}}}


def test_kubectl_takes_over_what_the_reader_applied(cluster, tmp_path):
    """Where nobody changed what `apply` asked for, kubectl's server-side apply is no conflict, and it brings the annotation up to date."""
    cluster.apply(deployment())
    (tmp_path / "web.yaml").write_text(json.dumps(deployment(image="apache")))
    with cluster.serve() as served:
        kubectl = Kubectl(served, tmp_path)
        assert kubectl("apply --server-side --field-manager=other -f web.yaml")[0] == 1
        assert kubectl("apply --server-side -f web.yaml")[1] == "deployment.apps/web serverside-applied\n"
    web = cluster["deployment/web"]
    assert web.spec.template.spec.containers[0].image == "apache"
    assert '"image":"apache"' in web.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]


def test_a_dry_run_of_an_apply(client, cluster):
    """An apply that is tried stores nothing."""
    before = cluster.digest()
    assert apply(client, deployment(), dryRun="All")[0] == 201
    assert cluster.digest() == before


def test_kubectl_hides_who_owns_what(client, cluster):
    """Our `get -o yaml` leaves managedFields out, as the real one does."""
    apply(client, deployment())
    assert "managedFields" not in repr(cluster.kubectl("get deploy web -o yaml"))


def test_an_atomic_mapping_has_one_owner(client):
    """A selector is one field: another value is a conflict at its path, and force replaces it as a whole."""
    service = "/api/v1/namespaces/default/services/web"

    def wanted(**selector):
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": selector, "ports": [{"port": 80}]}}

    found = apply(client, wanted(app="web"), path=service)[1]
    assert owners(found)["me"]["f:spec"]["f:selector"] == {}
    code, status = apply(client, wanted(tier="front"), "you", service)
    assert (code, status["message"]) == (409, 'Apply failed with 1 conflict: conflict with "me": .spec.selector')
    assert apply(client, wanted(tier="front"), "you", service, force="true")[1]["spec"]["selector"] == {"tier": "front"}


def test_a_set_merges_and_gives_back_what_is_left_out(client):
    """Finalizers are a set: each manager owns its values, and takes away its own only."""
    def wanted(*finalizers):
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm", **({"finalizers": list(finalizers)} if finalizers else {})}}

    apply(client, wanted("a.io/x"), path=CONFIG)
    both = apply(client, wanted("b.io/y"), "you", CONFIG)[1]
    assert both["metadata"]["finalizers"] == ["a.io/x", "b.io/y"]
    assert owners(both)["you"] == {"f:metadata": {"f:finalizers": {'v:"b.io/y"': {}}}}
    assert apply(client, wanted(), path=CONFIG)[1]["metadata"]["finalizers"] == ["b.io/y"]


def test_an_owner_that_leaves_keeps_what_others_own(client):
    """What two own stays when one omits it, and goes when the last one does."""
    for manager in ("me", "you"):
        body = deployment()
        body["metadata"]["labels"] = {"x": "1"}
        apply(client, body, manager)
    assert apply(client, deployment(), "me")[1]["metadata"]["labels"] == {"x": "1"}
    assert "labels" not in apply(client, deployment(), "you")[1]["metadata"]


def test_status_is_a_manager_of_its_own(client):
    """A write of the status is owned under its subresource, and an apply of the object does not touch it."""
    apply(client, deployment())
    code, _ = client.ask("PATCH", f"{WEB}/status?fieldManager=kubelet", {"status": {"replicas": 2}}, MERGE)
    assert code == 200
    found = apply(client, deployment(image="apache"))[1]
    entries = {(each["manager"], each.get("subresource", "")): each["fieldsV1"] for each in found["metadata"]["managedFields"]}
    assert entries["kubelet", "status"] == {"f:status": {"f:replicas": {}}}
    assert "f:status" not in entries["me", ""]
    assert found["status"]["replicas"] == 2


def test_a_replace_takes_what_it_changes_and_an_equal_one_nothing(client):
    """A PUT of the object as it is makes no owner; one with another value takes the field from who applied it."""
    found = apply(client, deployment())[1]
    same = client.ask("PUT", f"{WEB}?fieldManager=editor", found)[1]
    assert [each["manager"] for each in same["metadata"]["managedFields"]] == ["me"]
    same["spec"]["replicas"] = 6
    changed = client.ask("PUT", f"{WEB}?fieldManager=editor", same)[1]
    assert owners(changed, "Update") == {"editor": {"f:spec": {"f:replicas": {}}}}


def test_kubectl_set_image_after_an_apply(cluster, tmp_path):
    """The real kubectl owns the image that it sets; the next apply is refused with its name until it is forced."""
    (tmp_path / "web.yaml").write_text(json.dumps(deployment()))
    with cluster.serve() as served:
        kubectl = Kubectl(served, tmp_path)
        assert kubectl("apply --server-side -f web.yaml")[1] == "deployment.apps/web serverside-applied\n"
        assert kubectl("set image deploy/web app=nginx:2")[0] == 0
        code, _, words = kubectl("apply --server-side -f web.yaml")
        assert code == 1
        assert words.startswith('error: Apply failed with 1 conflict: conflict with "kubectl-set" using apps/v1: '
                                '.spec.template.spec.containers[name="app"].image\n')
        assert kubectl("apply --server-side --force-conflicts -f web.yaml")[0] == 0
    assert cluster["deployment/web"].spec.template.spec.containers[0].image == "nginx"


def test_an_upgrade_from_client_side_apply(cluster, tmp_path):
    """The first server-side apply by kubectl takes over what its client-side apply owned: what is then left out goes."""
    body = deployment()
    body["metadata"]["labels"] = {"x": "1", "y": "2"}
    (tmp_path / "web.yaml").write_text(json.dumps(body))
    with cluster.serve() as served:
        kubectl = Kubectl(served, tmp_path)
        assert kubectl("apply -f web.yaml")[0] == 0
        assert kubectl("apply --server-side -f web.yaml")[0] == 0
        managers = {(each["manager"], each["operation"]) for each in cluster["deployment/web"].metadata.rest["managedFields"]}
        assert ("kubectl", "Apply") in managers
        assert "Update" not in {operation for _, operation in managers}
        del body["metadata"]["labels"]["x"]
        (tmp_path / "web.yaml").write_text(json.dumps(body))
        assert kubectl("apply --server-side -f web.yaml")[0] == 0
    assert cluster["deployment/web"].metadata.labels == {"y": "2"}

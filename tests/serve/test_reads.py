"""What a client reads: objects, lists in pages, selectors, tables, discovery and OpenAPI."""

import pytest
from served_client import PODS, STRATEGIC, pod

from kvolsched.serve.resources import RESOURCES

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


def names(data):
    """Return the names of a list's items."""
    return [item["metadata"]["name"] for item in data["items"]]


def test_an_object_is_served_as_it_is_stored(client, cluster):
    """A get has the object's fields, its version as a text, and times at which it is some minutes old."""
    found = client.get(f"{PODS}/my-pod")
    assert found["spec"]["nodeName"] == cluster["pod/my-pod"].spec.node_name
    assert found["metadata"]["resourceVersion"] == str(cluster["pod/my-pod"].metadata.resource_version)
    assert found["metadata"]["creationTimestamp"] > "2026-01-01T01"
    assert client.refused("GET", f"{PODS}/nosuch") == (404, "NotFound", 'pods "nosuch" not found')


def test_every_resource_that_discovery_lists_is_listed(client):
    """Each resource that can be listed answers a list of its kind, in both forms of discovery the same."""
    aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    new = {(group["metadata"].get("name", ""), version["version"], each["resource"])
           for path in ("/api", "/apis") for group in client.get(path, Accept=aggregated)["items"]
           for version in group["versions"] for each in version["resources"]}
    old = {("", "v1", each["name"]) for each in client.get("/api/v1")["resources"] if "/" not in each["name"]}
    for group in client.get("/apis")["groups"]:
        for version in group["versions"]:
            listed = client.get(f"/apis/{version['groupVersion']}")["resources"]
            old |= {(group["name"], version["version"], each["name"]) for each in listed if "/" not in each["name"]}
    assert new == old == {(each.group, each.version, each.plural) for each in RESOURCES}
    for each in RESOURCES:
        if "list" in each.verbs:
            base = f"/apis/{each.api_version}" if each.group else "/api/v1"
            assert client.get(f"{base}/{each.plural}")["kind"] == f"{each.kind}List"


def test_a_list_in_pages_is_of_one_version(client, cluster):
    """A list that goes on shows what there was when it began, though an object came and another went meanwhile."""
    for name in ("a", "b", "c"):
        cluster.apply(pod(name))
    first = client.get(f"{PODS}?limit=2")
    cluster.apply(pod("b2"))
    cluster.delete("pod/c")
    cluster.run()
    rest = client.get(f"{PODS}?limit=2&continue={first['metadata']['continue']}")
    assert names(first) + names(rest) == ["a", "b", "c", "my-pod"]
    assert first["metadata"]["remainingItemCount"] == 2
    assert rest["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}
    assert names(client.get(PODS)) == ["a", "b", "b2", "my-pod"]


def test_selectors_choose(client, cluster):
    """Labels and fields choose as the API server does; a field that cannot be selected by is a bad request."""
    cluster.apply(pod("a", labels={"tier": "db"}))
    node = cluster["pod/my-pod"].spec.node_name
    assert names(client.get(f"{PODS}?labelSelector=tier+in+(db,web)")) == ["a"]
    assert names(client.get(f"{PODS}?fieldSelector=spec.nodeName%3D{node},status.phase!%3DFailed")) == ["my-pod"]
    assert names(client.get("/api/v1/pods?fieldSelector=metadata.namespace%3Dother")) == []
    code, reason, message = client.refused("GET", f"{PODS}?fieldSelector=spec.nosuch%3D1")
    assert (code, reason) == (400, "BadRequest")
    assert message.endswith("field label not supported: spec.nosuch")
    assert client.refused("GET", f"{PODS}?labelSelector=a%3D%3D%3Db")[0] == 400


def test_versions_of_lists(client, served):
    """A version of the future is a time-out, what is no version a bad request, an exact earlier one is served."""
    version = served.objects.version
    assert client.refused("GET", f"{PODS}?resourceVersion={version + 5}")[:2] == (504, "Timeout")
    assert client.refused("GET", f"{PODS}?resourceVersion=x")[:2] == (400, "BadRequest")
    client.ask("POST", PODS, pod("late"))
    assert names(client.get(f"{PODS}?resourceVersion={version}&resourceVersionMatch=Exact")) == ["my-pod"]


def test_a_version_of_the_future(client, served):
    """An object of one is refused as a list is."""
    path = f"/api/v1/nodes/node-a?resourceVersion={served.objects.version}"
    assert client.get(path)["metadata"]["name"] == "node-a"
    assert client.refused("GET", f"{path}9")[:2] == (504, "Timeout")


def test_a_table_has_the_columns_of_kubectl(client, cluster):
    """The rows of a Table are those of `get pods -o wide`, and each has its object's metadata."""
    found = client.get(PODS, Accept=TABLE)
    cells = [str(cell) for cell in found["rows"][0]["cells"]]
    assert cells == repr(cluster.get("pods", wide=True)).split("\n")[1].split()
    assert [each["name"].upper() for each in found["columnDefinitions"]] == [
        "NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED NODE", "READINESS GATES"]
    assert found["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert client.get(f"{PODS}?includeObject=None", Accept=TABLE)["rows"][0].keys() == {"cells"}
    whole = client.get(f"{PODS}/my-pod?includeObject=Object", Accept=TABLE)["rows"][0]["object"]
    assert whole == client.get(f"{PODS}/my-pod")


def test_metadata_alone(client):
    """PartialObjectMetadata has no spec; a form that nobody serves is not acceptable."""
    assert client.get(f"{PODS}/my-pod", Accept=PARTIAL).keys() == {"kind", "apiVersion", "metadata"}
    assert client.get(PODS, Accept=PARTIAL)["kind"] == "PartialObjectMetadataList"
    assert client.refused("GET", PODS, Accept="text/html")[:2] == (406, "NotAcceptable")


@pytest.mark.parametrize("path", [
    "/nosuch", "/api/v2", "/api/v1/nosuch", "/apis/nosuch", "/apis/apps/v2/deployments", "/api/v1/pods/my-pod",
    "/api/v1/namespaces/default/nodes", f"{PODS}/my-pod/exec", f"{PODS}/my-pod/log", f"{PODS}/my-pod/status/x", "/metrics",
    "/openapi/v3/api/v2", "/openapi/v2",
])
def test_what_is_not_served_is_not_found(client, path):
    """Unknown paths are refused as a server refuses them."""
    assert client.refused("GET", path)[:2] == (404, "NotFound")


def test_openapi_describes_every_group(client):
    """Each document that the index names is there, and every reference in it leads to a schema."""
    for path in client.get("/openapi/v3")["paths"]:
        document = client.get(f"/openapi/v3/{path}")
        schemas = document["components"]["schemas"]
        text = str(document)
        assert document["paths"]
        assert all(f"#/components/schemas/{name}'" not in text for name in ()) or schemas
        for part in text.split("'$ref': '#/components/schemas/")[1:]:
            assert part.partition("'")[0] in schemas


def test_the_text_of_an_object_is_kept(client, served, cluster):
    """The text of an object that did not change is made once; a change of one object makes one text."""
    client.get(PODS)
    pods = {id(obj): text for obj, text in served.objects._texts.values()}
    client.ask("PATCH", "/api/v1/nodes/node-a", {"metadata": {"labels": {"x": "y"}}}, STRATEGIC)
    client.get(PODS)
    assert served.objects.text(cluster["pod/my-pod"]) is pods[id(cluster["pod/my-pod"])]

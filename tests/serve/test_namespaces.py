"""Namespaces: those of every cluster are there though nobody wrote them; what is in one goes with it."""

from served_client import MERGE, PODS, Kubectl, pod

NAMESPACES = "/api/v1/namespaces"
OF_EVERY_CLUSTER = ["default", "kube-node-lease", "kube-public", "kube-system"]
SHOP = PODS.replace("default", "shop")


def names(client):
    """Return the names of all namespaces."""
    return [each["metadata"]["name"] for each in client.get(NAMESPACES)["items"]]


def test_every_cluster_has_some_and_objects_bring_theirs(client, cluster):
    """A list, a get and a first watch have the usual ones and that of an object; none of them is in the history."""
    assert names(client) == OF_EVERY_CLUSTER
    cluster.apply(pod("a", namespace="demo"))
    assert names(client) == ["default", "demo", *OF_EVERY_CLUSTER[1:]]
    found = client.get(f"{NAMESPACES}/demo")
    assert (found["status"]["phase"], found["metadata"]["labels"]) == ("Active", {"kubernetes.io/metadata.name": "demo"})
    watch = client.watch(f"{NAMESPACES}?watch=1&timeoutSeconds=1")
    assert [watch()[1]["metadata"]["name"] for _ in range(5)] == ["default", "demo", *OF_EVERY_CLUSTER[1:]]
    assert cluster.objects("namespaces") == []
    assert cluster.get("ns").rows[1][:2] == ("demo", "Active")
    cluster.back()
    assert names(client) == OF_EVERY_CLUSTER


def test_what_a_client_writes_of_one_is_stored(client, cluster):
    """A label of `default` makes it an object with the same uid; a created one is Active; a second of its name is refused."""
    uid = client.get(f"{NAMESPACES}/default")["metadata"]["uid"]
    code, found = client.ask("PATCH", f"{NAMESPACES}/default", {"metadata": {"labels": {"a": "b"}}}, MERGE)
    assert (code, found["metadata"]["uid"], found["metadata"]["labels"]["a"]) == (200, uid, "b")
    assert cluster["ns/default"].metadata.labels["a"] == "b"
    assert client.refused("POST", NAMESPACES, {"metadata": {"name": "kube-system"}})[0] == 409
    code, found = client.ask("POST", NAMESPACES, {"metadata": {"name": "shop"}})
    assert (code, found["spec"], found["status"]) == (201, {"finalizers": ["kubernetes"]}, {"phase": "Active"})


def test_nothing_is_created_where_no_namespace_is(client, cluster):
    """A pod for one that nobody made is refused in the server's words, as a dry run is; one that is there takes it."""
    assert client.refused("POST", SHOP, pod("a")) == (404, "NotFound", 'namespaces "shop" not found')
    assert client.refused("POST", f"{SHOP}?dryRun=All", pod("a"))[0] == 404
    client.ask("POST", NAMESPACES, {"metadata": {"name": "shop"}})
    assert client.ask("POST", SHOP, pod("a"))[0] == 201


def test_what_is_in_one_goes_with_it(client, cluster):
    """A deleted one is Terminating while a pod of it takes its time, refuses new ones, and is gone after it; `default` stays."""
    client.ask("POST", NAMESPACES, {"metadata": {"name": "shop"}})
    client.ask("POST", SHOP, pod("a"))
    client.ask("POST", SHOP.replace("pods", "configmaps"), {"metadata": {"name": "settings"}})
    cluster.run("pod/shop/a Running")
    code, found = client.ask("DELETE", f"{NAMESPACES}/shop")
    assert (code, found["status"]["phase"]) == (200, "Terminating")
    assert client.refused("POST", SHOP, pod("b"))[2] == (
        'pods "b" is forbidden: unable to create new content in namespace shop because it is being terminated')
    cluster.run(seconds=60)
    assert names(client) == OF_EVERY_CLUSTER
    assert [key for key in cluster.world.log.objects if key.namespace == "shop" and key.kind != "Event"] == []
    assert client.refused("DELETE", f"{NAMESPACES}/default")[2] == 'namespaces "default" is forbidden: this namespace may not be deleted'


def test_kubectl_on_namespaces(cluster, tmp_path):
    """`get`, `create`, `run -n` and `delete` of namespaces end as a reader expects."""
    with cluster.serve(pace="live") as served:
        kubectl = Kubectl(served, tmp_path)
        assert kubectl("get ns -o name")[1].split() == [f"namespace/{name}" for name in OF_EVERY_CLUSTER]
        assert kubectl("get pods -n nowhere") == (0, "", "No resources found in nowhere namespace.\n")
        assert kubectl("run r --image=x -n shop")[2] == 'Error from server (NotFound): namespaces "shop" not found\n'
        assert kubectl("create ns shop")[1] == "namespace/shop created\n"
        assert kubectl("run r --image=x -n shop")[1] == "pod/r created\n"
        assert kubectl("delete ns shop --timeout=20s")[1] == 'namespace "shop" deleted\n'
        assert kubectl("get pod r -n shop")[2] == 'Error from server (NotFound): namespaces "shop" not found\n'

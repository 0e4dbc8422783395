"""Watches: events in order, selectors, first lists, tables, and their end when the cluster leaves its past."""

import time

from served_client import PODS, STRATEGIC, Client, pod


def test_every_change_is_an_event_in_order(client, cluster, served):
    """A pod's way from its creation to its end arrives in order, each with a version above the one before."""
    watch = client.watch(f"{PODS}?watch=true&resourceVersion={served.objects.version}&timeoutSeconds=9")
    cluster.apply(pod("a"))
    cluster.run()
    cluster.delete("pod/a")
    cluster.run()
    events = []
    while not events or events[-1][0] != "DELETED":
        events.append(watch())
    kinds = [kind for kind, _ in events]
    versions = [int(obj["metadata"]["resourceVersion"]) for _, obj in events]
    assert kinds[0] == "ADDED"
    assert set(kinds[1:-1]) == {"MODIFIED"}
    assert versions == sorted(set(versions))
    assert "Running" in [obj.get("status", {}).get("phase") for _, obj in events]


def test_a_selector_makes_events_of_what_enters_and_leaves(client, cluster, served):
    """An object that comes to match is ADDED, one that no longer does is DELETED; others are not told of."""
    watch = client.watch(f"{PODS}?watch=1&labelSelector=x%3D1&resourceVersion={served.objects.version}&timeoutSeconds=9")
    cluster.label("pod/my-pod", "y=1")
    cluster.label("pod/my-pod", "x=1")
    cluster.label("pod/my-pod", "y=2", overwrite=True)
    cluster.label("pod/my-pod", "x-")
    assert [watch()[0] for _ in range(3)] == ["ADDED", "MODIFIED", "DELETED"]


def test_a_watch_list_ends_its_first_part_by_a_bookmark(client, cluster):
    """With sendInitialEvents all objects are ADDED, then a bookmark says that these were all."""
    query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=9"
    watch = client.watch(f"{PODS}?{query}")
    assert watch()[0] == "ADDED"
    kind, found = watch()
    assert kind == "BOOKMARK"
    assert found["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    cluster.apply(pod("a"))
    assert watch()[0] == "ADDED"


def test_a_watch_without_version_begins_with_what_there_is(client):
    """Without a version, and with 0, the objects that are there come first."""
    for query in ("watch=true", "watch=true&resourceVersion=0"):
        watch = client.watch(f"{PODS}?{query}&timeoutSeconds=1")
        assert watch()[1]["metadata"]["name"] == "my-pod"
    assert watch() is None


def test_a_watch_prints_tables(client, cluster, served):
    """A watch of tables names the columns once; each event has its row."""
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    watch = client.watch(f"{PODS}?watch=true&resourceVersion={served.objects.version}&timeoutSeconds=9", **table)
    cluster.apply(pod("a"))
    cluster.label("pod/a", "x=1")
    first, second = watch()[1], watch()[1]
    assert len(first["columnDefinitions"]) == 9
    assert second["columnDefinitions"] is None
    assert second["rows"][0]["cells"][0] == "a"


def test_going_back_ends_every_watch_and_renews_every_version(client, cluster, served):
    """After `back` watches end with 410, and each version from then on is above all that were served before."""
    watch = client.watch(f"{PODS}?watch=true&resourceVersion={served.objects.version}&timeoutSeconds=9")
    code, created = client.ask("POST", PODS, pod("a"))
    assert (code, watch()[0]) == (201, "ADDED")
    highest = int(created["metadata"]["resourceVersion"])
    cluster.back(1)
    kind, status = watch()
    assert (kind, status["code"], status["reason"]) == ("ERROR", 410, "Expired")
    assert watch() is None
    found = client.get(PODS)
    assert [item["metadata"]["name"] for item in found["items"]] == ["my-pod"]
    assert all(int(item["metadata"]["resourceVersion"]) > highest for item in found["items"])
    old = client.watch(f"{PODS}?watch=true&resourceVersion={highest}&timeoutSeconds=9")
    assert old()[1]["code"] == 410
    again = client.ask("POST", PODS, pod("a"))[1]
    assert int(again["metadata"]["resourceVersion"]) > int(found["metadata"]["resourceVersion"])


def test_going_back_ends_a_watch_that_has_just_begun(client, cluster):
    """Whether it has listed yet or not, a watch that was answered before `back` ends with 410, and never waits."""
    for number in range(5):
        client.ask("POST", PODS, pod(f"a{number}"))
        watch = client.watch(f"{PODS}?watch=true&timeoutSeconds=9")
        cluster.back(1)
        events = list(iter(watch, None))
        assert events[-1][1]["code"] == 410


def test_a_version_of_the_undone_past_is_a_conflict(client, cluster):
    """An update that builds on a version before `back` is refused, though the log counts the same number again."""
    before = client.get(f"{PODS}/my-pod")
    client.ask("POST", PODS, pod("a"))
    cluster.back(1)
    before["metadata"]["labels"] = {"x": "1"}
    assert client.refused("PUT", f"{PODS}/my-pod", before)[:2] == (409, "Conflict")


def test_going_on_over_known_steps_is_no_new_era(client, cluster, served):
    """Going to a later known step are events like any other; another branch is another past."""
    cluster.apply(pod("a"))
    cluster.apply(pod("b"))
    cluster.back(2)
    watch = client.watch(f"{PODS}?watch=true&resourceVersion={served.objects.version}&timeoutSeconds=9")
    cluster.goto(-1)
    assert [watch()[1]["metadata"]["name"] for _ in range(2)] == ["a", "b"]
    cluster.back(1)
    assert watch()[0] == "ERROR"


def test_many_watches_share_what_is_encoded(client, served, cluster):
    """Fifty watches get the same write, and the text of its object is made once."""
    watches = [client.watch(f"{PODS}?watch=true&resourceVersion={served.objects.version}&timeoutSeconds=9") for _ in range(50)]
    made = []
    client.get(f"{PODS}/my-pod")
    to_text = served.objects.text_of_plain
    served.objects.text_of_plain = lambda plain, version: made.append(version) or to_text(plain, version)
    client.ask("PATCH", f"{PODS}/my-pod", {"metadata": {"labels": {"x": "1"}}}, STRATEGIC)
    assert {watch()[1]["metadata"]["labels"]["x"] for watch in watches} == {"1"}
    assert len(made) == 1
    for watch in watches:
        watch.close()


def test_a_client_that_goes_frees_its_watch(served, cluster):
    """The thread and the place of a watch whose client closed its connection are free again soon."""
    before = len(served._server.connections)
    watch = Client(served).watch(f"{PODS}?watch=true&resourceVersion={served.objects.version}")
    assert len(served._server.connections) == before + 1
    watch.close()
    until = time.monotonic() + 5
    while len(served._server.connections) > before and time.monotonic() < until:
        cluster.label("pod/my-pod", f"t={time.monotonic()}", overwrite=True)
        time.sleep(0.05)
    assert len(served._server.connections) == before

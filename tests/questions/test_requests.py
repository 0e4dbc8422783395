"""Requests: every write to the API server with its code, refused ones too; back takes them back."""

import pytest
from manifests import claim, node, pod, storage_class

from kvolsched import Cluster
from kvolsched.core.results import ApplyRefused


def refused(act, *args):
    """Return whether an act is refused."""
    try:
        act(*args)
    except ApplyRefused:
        return True
    return False


@pytest.fixture
def cluster():
    """Return a cluster with a node and a class."""
    return Cluster.from_manifests([node("n1", "a"), storage_class()])


def test_who_asked_what_and_what_came_of_it(cluster):
    """A row a request: time, component, HTTP verb, resource, subresource, name, code; texts print as a table."""
    cluster.apply(pod())
    cluster.run("pod/app Running")
    rows = [(r.by, r.verb, r.operation, r.resource, r.subresource, r.code) for r in cluster.requests()]
    assert [("user", "POST", "create", "pods", "", 201), ("kube-scheduler", "POST", "create", "pods", "binding", 201),
            ("kubelet", "PATCH", "patch", "pods", "status", 200)] == rows  # fmt: skip
    assert "TIME   BY               VERB    RESOURCE   SUBRESOURCE   NAME   CODE   REASON" == repr(cluster.requests()).split("\n")[0]
    assert {"POST": 2, "PATCH": 1} == dict(sorted(cluster.requests().count(by="verb").items(), reverse=True))
    assert {("kube-scheduler", 201): 1, ("kubelet", 200): 1, ("user", 201): 1} == cluster.requests().count(by=("by", "code"))


def test_events_are_requests_too_if_asked_for(cluster):
    """Events are written to the API server like anything else; they are listed on request."""
    cluster.apply(pod())
    cluster.run()
    assert {"events"} == set(cluster.requests(events=True, resource="events").count(by="resource"))
    assert 0 == len(cluster.requests(resource="events"))


def test_refused_requests_are_on_record(cluster):
    """A refused apply changes nothing, yet its requests are listed; so are refused deletes and edits."""
    before = cluster.digest()
    assert refused(cluster.apply, pod("good"), pod("bad", labels={"a b": "c"}))
    assert (before, 0) == (cluster.digest(), cluster.world.known_steps)
    assert [("bad", 422, "Invalid")] == [(r.name, r.code, r.reason) for r in cluster.requests()]
    cluster.apply(pod("good"))
    other = Cluster.from_manifests([pod("good", nodeName="n1")])["pod/good"]
    assert refused(cluster._edit, "pod/good", lambda _old: other)
    assert [("POST", 422), ("POST", 201), ("PATCH", 422)] == [(r.verb, r.code) for r in cluster.requests()]
    assert 2 == len(cluster.fork().requests(code=422))


def test_back_takes_requests_back(cluster):
    """At a place of the past only the requests up to there are listed; forward they are known again."""
    cluster.apply(pod("a"))
    refused(cluster.apply, pod("bad", labels={"a b": "c"}))
    cluster.apply(claim())
    assert [201, 422, 201] == [r.code for r in cluster.requests()]
    cluster.back()
    assert [201, 422] == [r.code for r in cluster.requests()]
    cluster.back()
    assert [] == list(cluster.requests())
    cluster.goto(-1)
    assert [201, 422, 201] == [r.code for r in cluster.requests()]
    cluster.goto(0)
    cluster.apply(pod("b"))
    assert [("b", 201)] == [(r.name, r.code) for r in cluster.requests()]


def test_requests_are_silent_in_the_digest(cluster):
    """Equal states stay equal, however many requests were refused on the way."""
    other = cluster.fork()
    for _ in range(3):
        refused(other.apply, pod("bad", labels={"a b": "c"}))
    assert cluster.digest() == other.digest()
    cluster.apply(pod())
    other.apply(pod())
    assert cluster.digest() == other.digest()


def test_an_injected_fault_strikes_once(cluster):
    """After `refuse("user")` one apply is refused, as a step; the next is not."""
    cluster.refuse("user")
    assert refused(cluster.apply, pod("a"), pod("b"))
    assert "user creates" in cluster._last_step.words.lower() or "applies" in cluster._last_step.words
    assert not refused(cluster.apply, pod("a"), pod("b"))
    assert [409, 201, 201] == [r.code for r in cluster.requests()]
    cluster.goto(1)
    assert refused(cluster.apply, pod("a"), pod("b"))


def test_unknown_columns_are_named(cluster):
    """An unknown column is refused with those that there are."""
    cluster.apply(pod())
    for act in (lambda: cluster.requests(kode=3), lambda: cluster.requests().count(by="kode")):
        with pytest.raises(ValueError, match="requests have no column 'kode'; there are: time, by, verb"):
            act()


def test_counts_stand_in_order(cluster):
    """Counts are sorted by the column's values, not by who asked first."""
    cluster.apply(pod())
    cluster.run("pod/app Running")

    assert [("kube-scheduler", 1), ("kubelet", 1), ("user", 1)] == list(cluster.requests().count(by="by").items())
    assert ["PATCH", "POST"] == list(cluster.requests().count(by="verb"))

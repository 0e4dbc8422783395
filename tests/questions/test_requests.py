"""Requests: every write to the API server with its code, refused ones too; back takes them back."""

import attrs
import pytest
from manifests import claim, node, pod, storage_class

from kvolsched import Cluster, scenario
from kvolsched.core.results import ApplyRefused
from kvolsched.questions import requests as asked
from kvolsched.questions.requests import ApiRequest, ApiRequests, VisitRow, Visits
from kvolsched.world.apiserver import CommittedWrite, RefusedWrite, Write
from kvolsched.world.history import Turn
from kvolsched.world.log import Key


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


TURN = Turn(3, "kubelet", "kubelet", "default/app", 0, 1, 1.5, "words")
OF_USER = attrs.evolve(TURN, component="user", actor="kubectl")
POD, GADGET = Key("Pod", "shop", "app"), Key("Gadget", "", "g")
ADMITTED = type("Patch", (), {"admitted": True})()


@pytest.mark.parametrize(("turn", "outcome", "row"), [
    (TURN, CommittedWrite(Write("create", POD), None), ("kubelet", "POST", "pods", "", 201, "", "", "create")),
    (OF_USER, CommittedWrite(Write("update", POD), None), ("kubectl", "PUT", "pods", "", 200, "", "", "update")),
    (OF_USER, CommittedWrite(Write("update", POD, method="PATCH"), None), ("kubectl", "PATCH", "pods", "", 200, "", "", "patch")),
    (OF_USER, CommittedWrite(Write("update", POD, method="PUT"), None), ("kubectl", "PUT", "pods", "", 200, "", "", "update")),
    (TURN, CommittedWrite(Write("update_status", POD), None), ("kubelet", "PUT", "pods", "status", 200, "", "", "update")),
    (TURN, CommittedWrite(Write("patch", POD), None), ("kubelet", "PATCH", "pods", "status", 200, "", "", "patch")),
    (TURN, CommittedWrite(Write("patch", POD, ADMITTED), None), ("kubelet", "PATCH", "pods", "", 200, "", "", "patch")),
    (TURN, CommittedWrite(Write("update_status", POD, ADMITTED), None), ("kubelet", "PUT", "pods", "status", 200, "", "", "update")),
    (TURN, CommittedWrite(Write("delete", Key("StatefulSet", "shop", "db")), None), ("kubelet", "DELETE", "statefulsets.apps", "", 200, "", "", "delete")),
    (TURN, CommittedWrite(Write("bind", POD), None), ("kubelet", "POST", "pods", "binding", 201, "", "", "create")),
    (TURN, CommittedWrite(Write("evict", POD), None), ("kubelet", "POST", "pods", "eviction", 201, "", "", "create")),
    (TURN, CommittedWrite(Write("resize", GADGET), None), ("kubelet", "POST", "gadgets", "resize", 201, "", "", "create")),
    *((TURN, RefusedWrite(Write("delete", POD), reason, "no"), ("kubelet", "DELETE", "pods", "", code, reason, "no", "delete")) for reason, code in (
        ("Invalid", 422), ("Conflict", 409), ("AlreadyExists", 409), ("NotFound", 404), ("Forbidden", 403), ("Unauthorized", 401), ("BadRequest", 400),
        ("Gone", 410), ("TooManyRequests", 429), ("InternalError", 500), ("ServerTimeout", 500), ("ServiceUnavailable", 503), ("Timeout", 504),
        ("ConnectionRefused", 0), ("Unheard", 500))),
])  # fmt: skip
def test_a_request_is_told_as_an_audit_log_would(turn, outcome, row):
    """Of every write and refusal: who sent it, HTTP and Kubernetes' verb, resource with group and subresource, and the code."""
    outcome, key = attrs.evolve(outcome, server="apiserver-2"), outcome.write.key
    by, verb, resource, subresource, code, reason, message, operation = row

    assert ApiRequest(1.5, by, verb, resource, subresource, key.name, code, reason, message, operation, key.namespace, "apiserver-2") == (
        asked._row(turn, outcome))


def rows(count, server=""):
    """Return so many requests, each a second later, of which every third was refused."""
    return ApiRequests(tuple(ApiRequest(
        float(number), "user", "POST", "pods", "", f"p{number}", *((409, "Conflict") if number % 3 == 2 else (201, "")), "why", "create", "shop",
        server if number == count - 1 else "") for number in range(count)))


def test_the_table_has_the_last_requests():
    """Forty are printed under a head of columns, earlier ones are counted; the server stands there if there are several."""
    head = "TIME   BY     VERB   RESOURCE   SUBRESOURCE   NAME   CODE   REASON"
    lines = repr(rows(42)).split("\n")

    assert "no requests" == repr(rows(0))
    assert [head, "0      user   POST   pods                     p0     201"] == repr(rows(1)).split("\n")
    assert [f"{head}     SERVER", "0      user   POST   pods                     p0     201", "1      user   POST   pods                     p1     201",
            "2      user   POST   pods                     p2     409    Conflict   b"] == repr(rows(3, "b")).split("\n")
    assert ["(2 earlier ones)", head, "2      user   POST   pods                     p2     409    Conflict"] == lines[:3]
    assert (42, head) == (len(lines), repr(rows(40)).split("\n")[0])


def test_requests_are_chosen_by_values_of_their_columns():
    """One value, or one of several in a tuple, a list or a set; all columns that are named must agree."""
    table = rows(6)

    assert [["p2", "p5"], ["p2", "p5"], ["p2", "p5"], ["p2"], []] == [[row.name for row in table.filter(**columns)] for columns in (
        {"code": 409}, {"code": [409, 500]}, {"code": {409}, "verb": ("POST",)}, {"code": frozenset({409}), "name": "p2"}, {"code": 409, "name": "p1"})]
    assert ({201: 4, 409: 2}, {("", "shop"): 4, ("Conflict", "shop"): 2}) == (table.count(), table.count(("reason", "namespace")))


def test_a_column_that_is_nearly_written_is_meant():
    """The error lists all columns and the one that was meant."""
    with pytest.raises(ValueError, match="requests have") as wrong:
        rows(1).count("verbs")

    assert ("requests have no column 'verbs'; there are: time, by, verb, resource, subresource, name, code, reason, message, operation, namespace, "
            "server; did you mean verb?") == wrong.value.args[0]


def test_an_event_is_created_and_then_patched(cluster):
    """An Event that is recorded again is patched, one that is removed is nobody's request; each counts from its place on."""
    c = scenario("two-volumes-one-pool")
    c.run()
    found = [(row.by, row.verb, row.operation, row.subresource, row.code) for row in c.requests(events=True, resource="events")]

    assert ("persistent-volume-binder", "PATCH", "patch", "", 200) == found[9]
    assert {("POST", "create", "", 201)} == {row[1:] for place, row in enumerate(found) if place != 9}
    assert (12, len(c.requests()) + 12) == (len(found), len(c.requests(events=True)))
    c.goto(1)
    assert 4 > len(c.requests(events=True, resource="events")) > 0
    cluster.apply(pod())
    assert ["pods"] == [row.resource for row in cluster.requests(events=True)]


def test_visits_are_counted_by_component_and_by_subject():
    """The table has step, time, component, what was looked for and how many volumes; a sum is of one component or of one subject."""
    visited = Visits("upstream", (VisitRow(1, 0.0, "scheduler", "pod/a", 4), VisitRow(12, 2.5, "PV controller", "pvc/shop/b", 10),
                                  VisitRow(13, 3.0, "scheduler", "pod/a", 2)))

    assert ["visits of volumes, rules upstream: 16", "step 1   t=0 s    scheduler      pod/a       4",
            "step 12  t=2.5 s  PV controller  pvc/shop/b  10", "step 13  t=3 s    scheduler      pod/a       2"] == repr(visited).split("\n")
    assert (6, 10, 6, 10, 0) == tuple(map(visited.of, ("scheduler", "PV controller", "pod/a", "pvc/shop/b", "pod/b")))


def test_visits_are_those_up_to_now():
    """Every pass of a pod has a row, also one that looked at no volume; a sync of a claim only if it looked at some."""
    c = scenario("local-disks")
    c.run()
    found = [(row.component, row.subject, row.volumes) for row in c.visits()]
    passes = [row for row in found if row[1].startswith("pod/")]

    assert len(passes) == sum(len(c.passes(each.metadata.name)) for each in c.objects("pods"))
    assert {"scheduler"} == {component for component, *_ in passes}
    assert {"PV controller"} == {component for component, subject, _ in found if subject.startswith("pvc/")}
    assert all(volumes for _, subject, volumes in found if subject.startswith("pvc/"))
    c.goto(0)
    assert () == c.visits().rows

"""Outages of the API server: nobody writes, nobody sees, everybody tries again; back undoes them."""

import pytest
from manifests import node, pod

from kvolsched import Cluster
from kvolsched.core.results import ApplyRefused

KUBECTL = "The connection to the server 10.96.0.1:443 was refused - did you specify the right host or port?"


@pytest.fixture
def cluster():
    """Return a cluster with a node and a pending pod."""
    return Cluster.from_manifests([node("n1", "a"), pod("app")])


def test_nobody_writes_and_nobody_sees(cluster):
    """A component that has something to write is refused by nobody: it reached no server, and tries again later."""
    cluster.step("scheduler")
    cluster.outage(seconds=20)
    cluster.run()
    assert "Running" == cluster["pod/app"].status.phase
    lost = cluster.requests(code=0)
    assert {"ConnectionRefused"} == set(lost.count(by="reason"))
    assert ('Post "https://10.96.0.1:443/api/v1/namespaces/default/pods/app/binding": dial tcp 10.96.0.1:443: '
            "connect: connection refused") == lost[0].message
    assert {True} == {row.time >= 20 for row in cluster.requests() if row.code}


def test_kubectl_says_so(cluster):
    """A command fails at once, with kubectl's words; the request is on record without a code."""
    cluster.outage("kube-apiserver", 10)
    with pytest.raises(ApplyRefused) as caught:
        cluster.apply(pod("other"))
    assert (KUBECTL,) == caught.value.lines
    assert [0] == [row.code for row in cluster.requests()]


def test_back_undoes_it_and_forward_redoes_it(cluster):
    """An outage is a step of the log, in the digest; when its time is over nothing of it is left."""
    start = cluster.digest()
    cluster.outage(seconds=5)
    assert "step 1, t=0 s: kube-apiserver is out for 5 s." == repr(cluster._last_step)
    out = cluster.digest()
    assert out != start
    cluster.run()
    end = cluster.digest()
    cluster.goto(1)
    assert out == cluster.digest()
    cluster.back()
    assert start == cluster.digest()
    cluster.goto(-1)
    assert end == cluster.digest()


def test_the_same_end_as_without_it(cluster):
    """Once the server is back, everything happens that would have happened."""
    other = cluster.fork()
    other.outage(seconds=5)
    cluster.run()
    other.run()
    assert cluster.digest() == other.digest()


def test_an_explorer_finds_its_end(cluster):
    """The search goes through the outage: it is exhausted, and every run still reaches the goal."""
    cluster.outage(seconds=1)
    found = cluster.explore(progress=False)
    assert found.exhausted
    assert not found


def test_wrong_outages_are_refused(cluster):
    """An unknown server and a time that is none are told."""
    with pytest.raises(ValueError, match="no server is called 'etcd'; there are: kube-apiserver"):
        cluster.outage("etcd", 3)
    with pytest.raises(ValueError, match="seconds: 0: must be greater than 0"):
        cluster.outage(seconds=0)

"""Acts of a user that miss something: nothing is left out silently, and everything that was wrong is told."""

import pytest

import kvolsched
from kvolsched import ApplyRefused, Cluster, UnknownName
from kvolsched.core.results import NotDeleted
from kvolsched.core.user_commands import DrainRefused
from kvolsched.make import node, pod


def denied(_new, old):
    """Deny what has the name `kept`."""
    return old.metadata.name != "kept" or "it is kept"


def two_nodes():
    """Return a cluster with a pod of nobody on one node, and one that no eviction may take on another."""
    loaded = [node("n1"), node("n2"), pod("alone", running_on="n1"), pod("kept", running_on="n2")]
    owned = {**loaded[3], "metadata": {**loaded[3]["metadata"], "ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}]}}  # fmt: skip
    return Cluster.from_manifests([*loaded[:3], owned]).with_webhook(validate=denied, verbs=("delete",), kinds=("pods",))


@pytest.mark.parametrize(("act", "words"), [("delete", "name the objects to delete"), ("drain", "name the nodes to drain")])
def test_an_act_without_names_is_refused(act, words):
    """Delete and drain without names change nothing, and say what is missing."""
    c = two_nodes()

    with pytest.raises(ValueError, match=words):
        getattr(c, act)()
    assert 0 == c.world.known_steps


def test_every_unknown_name_is_told_and_what_was_deleted():
    """Of several names that nothing has each is told with what there is; `done` has the lines of the others."""
    c = two_nodes()

    with pytest.raises(NotDeleted) as caught:
        c.delete("pod/alon", "pod/alone", "node/n3")
    assert isinstance(caught.value, UnknownName)
    assert ["no pod/alon", "no node/n3"] == [line.partition(";")[0] for line in str(caught.value).splitlines()]
    assert 'pod "alone" deleted from default namespace' == repr(caught.value.done)


def test_a_refused_deletion_tells_unknown_names_too():
    """An error of the API server hides no name that nothing has."""
    with pytest.raises(ApplyRefused) as caught:
        two_nodes().delete("pod/kept", "pod/nope", "pod/alone")
    assert ["it is kept", "no pod/nope"] == [line.partition(";")[0][-11:].strip() for line in str(caught.value).splitlines()]
    assert 2 == len(caught.value.lines)
    assert 'pod "alone" deleted from default namespace' == repr(caught.value.done)


def test_a_drain_tells_faults_and_refusals():
    """A pod of one node that needs an option, and a refused eviction of another node, are both told."""
    with pytest.raises(ApplyRefused) as caught:
        two_nodes().drain("n1", "n2")
    fault, = caught.value.others

    assert isinstance(fault, DrainRefused)
    assert {"n1"} == set(fault.faults)
    assert ["kept"] == [each.write.key.name for each in caught.value.refusals]
    assert "it is kept" in str(caught.value)
    assert "default/alone" in str(caught.value)
    printed = two_nodes().kubectl("drain n1 n2")
    assert all(words in printed.stderr for words in ("it is kept", "There are pending nodes to be drained:", "default/alone"))


def test_what_is_so_already_is_asked_of_the_api_server():
    """While no API server answers, nobody knows that a node is cordoned already, or that a manifest changes nothing."""
    c, manifest = Cluster.from_manifests([node("n1")]), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    c.cordon("n1")
    c.apply(manifest)
    assert ("node/n1 already cordoned", "namespace/shop unchanged") == (repr(c.cordon("n1")), repr(c.apply(manifest)))
    c.outage(seconds=10)

    for act in (lambda: c.cordon("n1"), lambda: c.uncordon("n1"), lambda: c.apply(manifest)):
        with pytest.raises(ApplyRefused) as caught:
            act()
        assert "The connection to the server 10.96.0.1:443 was refused" in caught.value.lines[0]


def test_an_error_inside_a_property_is_told_as_it_is(monkeypatch):
    """An AttributeError that a property raises is not called an unknown name of the cluster."""
    c = kvolsched.scenario("zonal-example")
    monkeypatch.setattr(c.world, "preview", lambda each: each.nothing)

    with pytest.raises(AttributeError, match="'int' object has no attribute 'nothing'"):
        _ = c.next

"""Names, labels and namespaces that the API server takes; all else that a real one answered is played by `conform`."""


import pytest

from kvolsched.api.convert import from_plain
from kvolsched.api.defaults import defaulted
from kvolsched.api.meta import EMPTY
from kvolsched.api.validation import immutable, validate


@pytest.mark.parametrize(
    ("name", "fits"),
    [("a" * 253, True), ("a" * 254, False), ("a.b-c", True), ("A", False), ("-a", False), ("a_b", False), ("a..b", False)],
)
def test_names(name, fits):
    """Names of most kinds are subdomains of at most 253 characters."""
    found = defaulted(from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
    assert fits == (validate(found) == [])


@pytest.mark.parametrize(("length", "fits"), [(63, True), (64, False)])
def test_labels_have_at_most_63_characters(length, fits):
    """A label's value, and its key after the prefix, have at most 63 characters; a Namespace's name too."""
    for labels in ({"k": "v" * length}, {"example.com/" + "k" * length: ""}):
        found = from_plain({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}})
        assert fits == (validate(found) == [])
    named = from_plain({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n" * length}})
    assert fits == (validate(named) == [])


def test_namespaces_belong_to_some_kinds():
    """A volume has no namespace, a claim must have one."""
    volume, claim = (from_plain({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "namespace": space}})
                     for kind, space in (("PersistentVolume", "a"), ("PersistentVolumeClaim", "")))  # fmt: skip
    assert "metadata.namespace: Forbidden: not allowed on this type" in map(str, validate(volume))
    assert "metadata.namespace: Required value" in map(str, validate(claim))


def test_kinds_without_rules_pass():
    """What is not modelled is stored as it is."""
    thing = from_plain({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}})
    assert ([], []) == (validate(thing), immutable(EMPTY, thing))

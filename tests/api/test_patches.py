"""Merge patches, JSON patches, and kubectl's three-way merge, on plain data."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvolsched.api.text import patches


def deployment(**spec):
    """A Deployment as plain data."""
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": spec}


def containers(*names):
    """Containers with these names, in a pod template."""
    return {"template": {"spec": {"containers": [{"name": name} for name in names]}}}


def names(merged):
    """The containers' names in a merged Deployment."""
    return [container["name"] for container in merged.data["spec"]["template"]["spec"]["containers"]]


def test_a_merge_patch():
    """Mappings merge, null removes, lists are replaced (RFC 7386)."""
    old = {"a": {"b": 1, "c": [1, 2]}, "d": "e"}

    assert {"a": {"c": [3], "f": {}}, "d": "e"} == patches.merge_patch(old, {"a": {"b": None, "c": [3], "f": {"g": None}}})
    assert old == {"a": {"b": 1, "c": [1, 2]}, "d": "e"}


@pytest.mark.parametrize(("operation", "new"), [
    ({"op": "add", "path": "/a/-", "value": 3}, {"a": [1, 2, 3], "b/c": {}}),
    ({"op": "add", "path": "/a/0", "value": 3}, {"a": [3, 1, 2], "b/c": {}}),
    ({"op": "add", "path": "/b~1c/d", "value": [1]}, {"a": [1, 2], "b/c": {"d": [1]}}),
    ({"op": "replace", "path": "/a/1", "value": 3}, {"a": [1, 3], "b/c": {}}),
    ({"op": "remove", "path": "/a/0"}, {"a": [2], "b/c": {}}),
    ({"op": "move", "from": "/a/0", "path": "/b~1c/d"}, {"a": [2], "b/c": {"d": 1}}),
    ({"op": "copy", "from": "/a", "path": "/b~1c/d"}, {"a": [1, 2], "b/c": {"d": [1, 2]}}),
    ({"op": "test", "path": "/a/0", "value": 1}, {"a": [1, 2], "b/c": {}}),
    ({"op": "replace", "path": "", "value": 5}, 5),
])  # fmt: skip
def test_a_json_patch(operation, new):
    """Each of the six operations, in mappings and lists; what is given stays as it is (RFC 6902)."""
    old = {"a": [1, 2], "b/c": {}}

    assert new == patches.json_patch(old, [operation])
    assert {"a": [1, 2], "b/c": {}} == old


@pytest.mark.parametrize("operation", [
    {"op": "remove", "path": "/x"}, {"op": "replace", "path": "/a/2", "value": 1}, {"op": "add", "path": "/a/9", "value": 1},
    {"op": "add", "path": "a", "value": 1}, {"op": "test", "path": "/a", "value": 1}, {"op": "lift", "path": "/a"}, {},
])  # fmt: skip
def test_a_json_patch_of_what_is_not_there(operation):
    """A missing path, a failing test and an unknown operation are refused with a message."""
    with pytest.raises(ValueError, match=r"no value|no path|failed|unknown operation"):
        patches.json_patch({"a": [1, 2]}, [operation])


def test_what_is_no_longer_said_goes():
    """Fields only in the first manifest are removed, those of the second are set, those of others stay."""
    first, second = deployment(replicas=2, paused=True), deployment(replicas=3)
    merged = patches.apply_manifest(first, second, deployment(replicas=5, paused=True, minReadySeconds=7))

    assert deployment(replicas=3, minReadySeconds=7) == merged.data
    assert not patches.apply_manifest(second, second, merged.data).patched


def test_lists_merge_by_their_key():
    """Containers by name: the manifest's in its order, others where they stood, dropped ones gone.

    Order alone is no change to what kubectl has not applied itself.
    """
    stored = deployment(**containers("side", "app", "injected"))

    assert ["app", "side", "injected"] == names(
        patches.apply_manifest(deployment(**containers("side", "app")), deployment(**containers("app", "side")), stored)
    )
    assert ["side", "app", "injected"] == names(patches.apply_manifest(None, deployment(**containers("app", "side")), stored))
    assert ["app", "injected"] == names(
        patches.apply_manifest(deployment(**containers("side", "app")), deployment(**containers("app")), stored)
    )
    assert ["app", "injected", "new"] == names(patches.apply_manifest(
        deployment(**containers("side", "app")), deployment(**containers("app", "new")), stored))  # fmt: skip


def test_what_is_added_in_place_of_what_goes():
    """After a deletion an addition counts as having stood at the end, as Go's shared slices have it."""
    def ports(*numbers):
        return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": {"ports": [{"port": n} for n in numbers]}}

    assert ports(99, 5432) == patches.apply_manifest(ports(80, 5432), ports(5432), ports(80, 99)).data
    assert ports(5432, 80, 99) == patches.apply_manifest(ports(5432, 443), ports(5432), ports(80, 99)).data


def test_other_lists_are_replaced():
    """Tolerations have no key; a list without one, or with one twice, is replaced whole."""
    def tolerations(*keys):
        return deployment(template={"spec": {"tolerations": [{"key": key} for key in keys]}})

    assert tolerations("b") == patches.apply_manifest(None, tolerations("b"), tolerations("a", "c")).data
    assert ["a", "a"] == names(patches.apply_manifest(None, deployment(**containers("a", "a")), deployment(**containers("b"))))


def test_words_merge():
    """Finalizers are a set: the manifest's are added, those it drops are removed, those of others stay."""
    def held(*words):
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "finalizers": [*words]}}

    assert held("mine", "theirs") == patches.apply_manifest(held("old"), held("mine"), held("old", "theirs")).data
    assert not patches.apply_manifest(held("mine"), held("mine"), held("theirs", "mine")).patched


def test_of_two_sources_one_is_left():
    """A volume is what the manifest says: another source that it had goes, as its strategy retains keys."""
    def volume(**source):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"volumes": [{"name": "v", **source}]}}

    assert volume(emptyDir={}) == patches.apply_manifest(None, volume(emptyDir={}), volume(hostPath={"path": "/"})).data


def test_null_removes():
    """A field set to null in a manifest goes, and inside what is new it is left out."""
    assert deployment(paused=True) == patches.apply_manifest(None, deployment(replicas=None), deployment(replicas=2, paused=True)).data
    assert {"a": 1} == patches.apply_manifest(None, deployment(strategy={"a": 1, "b": None}), deployment()).data["spec"]["strategy"]


LEAVES = st.integers(0, 3) | st.sampled_from(["a", "b"])
SPECS = st.fixed_dictionaries({}, optional={
    "replicas": LEAVES, "paused": st.booleans(), "minReadySeconds": LEAVES,
    "selector": st.fixed_dictionaries({}, optional={"matchLabels": st.dictionaries(st.sampled_from("xyz"), LEAVES)}),
    "template": st.builds(lambda names: containers(*names)["template"], st.lists(st.sampled_from("pqrs"), unique=True)),
})  # fmt: skip
MANIFESTS = st.builds(lambda spec: deployment(**spec), SPECS)


def said(wanted, found):
    """Say whether an object holds all fields of a manifest."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(name in found and said(value, found[name]) for name, value in wanted.items())
    if isinstance(wanted, list):
        return all(item in found for item in wanted)
    return wanted == found


@given(MANIFESTS, MANIFESTS, MANIFESTS)
def test_the_merge_says_what_the_manifest_says(applied, wanted, current):
    """The result holds the manifest, applying it again sends no patch, and the arguments do not change."""
    given = copy.deepcopy((applied, wanted, current))
    merged = patches.apply_manifest(applied, wanted, current)

    assert said(wanted, merged.data)
    assert not patches.apply_manifest(wanted, wanted, merged.data).patched
    assert given == (applied, wanted, current)
    assert merged.patched or merged.data == current


@given(MANIFESTS, MANIFESTS, st.dictionaries(st.sampled_from(["others", "more"]), LEAVES, min_size=1))
def test_the_merge_leaves_what_others_wrote(applied, wanted, theirs):
    """A field that neither manifest names stays, whatever else changes."""
    current = deployment(**applied["spec"], **theirs)

    assert theirs == {name: patches.apply_manifest(applied, wanted, current).data["spec"].get(name) for name in theirs}

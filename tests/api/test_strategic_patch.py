"""Strategic merge patches: lists merge by Kubernetes' keys, and directives delete, replace and order."""

import pytest

from kvolsched.api.text.strategic_patch import strategic_patch

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "finalizers": ["a", "b"]}, "spec": {
    "nodeSelector": {"zone": "a", "disk": "ssd"},
    "containers": [{"name": "one", "image": "1", "env": [{"name": "K", "value": "1"}]}, {"name": "two", "image": "2"}],
    "tolerations": [{"key": "k", "operator": "Exists"}],
    "volumes": [{"name": "data", "emptyDir": {}}]}}  # fmt: skip


def spec(patch):
    """Return the spec after a patch of it."""
    return strategic_patch(POD, {"spec": patch})["spec"]


def names(items):
    """Return the names of items."""
    return [item["name"] for item in items]


def test_a_list_with_a_key_merges_item_by_item():
    """A container is changed by its name, a new one comes first, as the API server orders them."""
    after = spec({"containers": [{"name": "three", "image": "3"}, {"name": "two", "image": "22"}]})
    assert ["three", "one", "two"] == names(after["containers"])
    assert {"one": "1", "two": "22", "three": "3"} == {c["name"]: c["image"] for c in after["containers"]}
    assert POD["spec"]["containers"][1]["image"] == "2"


def test_a_list_without_a_key_is_replaced():
    """Tolerations have no key: the list of the patch is the new one."""
    assert [{"key": "l"}] == spec({"tolerations": [{"key": "l"}]})["tolerations"]


def test_nulls_remove():
    """Null removes a field, also deep inside an item; new data keeps no nulls."""
    after = spec({"nodeSelector": {"disk": None}, "containers": [{"name": "one", "env": None}], "hostname": None})
    assert {"zone": "a"} == after["nodeSelector"]
    assert {"name": "one", "image": "1"} == after["containers"][0]
    assert {"a": 1} == spec({"affinity": {"a": 1, "b": None}})["affinity"]


def test_an_item_is_deleted_by_its_key():
    """`$patch: delete` with the key removes the item; without the key it is refused."""
    assert ["two"] == names(spec({"containers": [{"name": "one", "$patch": "delete"}]})["containers"])
    with pytest.raises(ValueError, match="does not contain declared merge key: name"):
        spec({"containers": [{"$patch": "delete"}]})


def test_a_list_or_mapping_is_replaced_by_directive():
    """`$patch: replace` takes the patch's items alone; in a mapping its fields alone; `delete` empties a mapping."""
    assert [{"name": "x"}] == spec({"containers": [{"name": "x"}, {"$patch": "replace"}]})["containers"]
    assert {"rack": "r"} == spec({"nodeSelector": {"$patch": "replace", "rack": "r"}})["nodeSelector"]
    assert {} == spec({"nodeSelector": {"$patch": "delete"}})["nodeSelector"]


def test_retained_keys_drop_all_others():
    """`$retainKeys` keeps a volume's name and its new source; a field of the patch that it lacks is refused."""
    claim = {"claimName": "c"}
    change = {"$retainKeys": ["name", "persistentVolumeClaim"], "name": "data", "persistentVolumeClaim": claim}
    assert [{"name": "data", "persistentVolumeClaim": claim}] == spec({"volumes": [change]})["volumes"]
    with pytest.raises(ValueError, match="invalid patch format of retainKeys"):
        spec({"volumes": [{**change, "$retainKeys": ["name"]}]})


def test_texts_are_added_and_deleted():
    """Finalizers merge; `$deleteFromPrimitiveList` removes those that it lists."""
    assert ["c", "a", "b"] == strategic_patch(POD, {"metadata": {"finalizers": ["c"]}})["metadata"]["finalizers"]
    gone = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}
    assert ["b"] == strategic_patch(POD, gone)["metadata"]["finalizers"]


def test_an_order_is_set():
    """`$setElementOrder` orders the items that it names; it must name every item of the patch."""
    order = [{"name": "two"}, {"name": "new"}, {"name": "one"}]
    after = spec({"$setElementOrder/containers": order, "containers": [{"name": "new", "image": "n"}]})
    assert ["two", "new", "one"] == names(after["containers"])
    with pytest.raises(ValueError, match="setElementOrder list: containers lacks new"):
        spec({"$setElementOrder/containers": [{"name": "one"}], "containers": [{"name": "new"}]})


@pytest.mark.parametrize(("patch", "message"), [
    ({"nodeSelector": {"$patch": "sort"}}, "unknown patch type found: sort"),
    ({"containers": [{"name": "one", "$patch": "merge"}]}, "merging lists cannot yet be specified"),
    ({"containers": ["one"]}, "the items of this list are mappings with the key name"),
    ({"$setElementOrder/tolerations": []}, "tolerations is no list that merges by a key"),
])  # fmt: skip
def test_nonsense_is_refused(patch, message):
    """A directive that makes no sense is one sentence."""
    with pytest.raises(ValueError, match=message):
        spec(patch)

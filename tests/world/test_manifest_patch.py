"""Patches in a manifest's words: applied as the API server does, then admitted like an update."""

import pytest

from kvolsched import Cluster
from kvolsched.world.apiserver import Write, key_for
from kvolsched.world.manifest_patch import ManifestPatch

GATED = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  schedulingGates: [{name: example.com/quota}]
  containers: [{name: app, image: app}]
"""


@pytest.fixture
def cluster():
    """Return a cluster with one gated pod."""
    made = Cluster()
    made.apply(GATED)
    return made


def send(cluster, data, kind="merge"):
    """Send a patch of the pod as the user and return its outcome."""
    return cluster.world.perform("user", [Write("patch", key_for("pod/web"), ManifestPatch(data, kind))])[0]


def test_a_merge_patch_changes_the_named_fields_alone(cluster):
    """A merge patch sets the fields it names and keeps all others."""
    assert send(cluster, {"spec": {"nodeSelector": {"zone": "a"}}}).changed
    assert {"zone": "a"} == dict(cluster["pod/web"].spec.node_selector)
    assert ("example.com/quota",) == tuple(gate.name for gate in cluster["pod/web"].spec.scheduling_gates)


def test_a_json_patch_is_a_list_of_operations(cluster):
    """A JSON patch removes what its path names; a path that does not exist is refused."""
    assert send(cluster, [{"op": "remove", "path": "/spec/schedulingGates/0"}], "json").changed
    assert () == cluster["pod/web"].spec.scheduling_gates
    refused = send(cluster, [{"op": "remove", "path": "/spec/schedulingGates/0"}], "json")
    assert "Invalid" == refused.reason


def test_a_patch_is_admitted_like_an_update(cluster):
    """A patch of an immutable field is refused with the API server's words."""
    refused = send(cluster, {"spec": {"schedulerName": "mine"}})
    assert "Invalid" == refused.reason
    assert refused.message.startswith('Pod "web" is invalid: spec: Forbidden: pod updates may not change fields')


def test_a_patch_leaves_the_status_as_it_is(cluster):
    """The status belongs to its subresource: a patch of the object does not change it."""
    before = cluster["pod/web"].status
    assert not send(cluster, {"status": {"phase": "Running"}}).changed
    assert before == cluster["pod/web"].status


@pytest.mark.parametrize(("data", "reason"), [
    ({"metadata": {"resourceVersion": "999"}}, "Conflict"),
    ({"metadata": {"name": "other"}}, "BadRequest"),
    ({"spec": {"nodeSelector": 7}}, "BadRequest"),
    ("text", "BadRequest"),
])  # fmt: skip
def test_nonsense_is_refused(cluster, data, reason):
    """A patch on an old version, of another name, or of a wrong type is refused with a reason and stores nothing."""
    before = cluster["pod/web"]
    assert reason == send(cluster, data).reason
    assert before == cluster["pod/web"]


def test_the_present_version_is_accepted(cluster):
    """A patch that names the stored resourceVersion is made."""
    version = str(cluster["pod/web"].metadata.resource_version)
    assert send(cluster, {"metadata": {"resourceVersion": version, "labels": {"a": "b"}}}).changed


def test_an_unknown_kind_of_patch_lists_those_that_exist():
    """A kind of patch that does not exist is one error with the kinds there are."""
    with pytest.raises(ValueError, match="no kind of patch is called 'mrege'; there are: merge, strategic, json"):
        ManifestPatch({}, "mrege")

"""NodeDeclaredFeatures: a pod goes only where the kubelet declares what it needs."""

import json
from pathlib import Path

import manifests
import pytest

from kvolsched import Cluster, decode
from kvolsched.api.text.convert import from_plain
from kvolsched.rules.named import design, upstream
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.rules.unread_fields import unread_fields
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.extension_points import events_of
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.verdict import Code
from kvolsched.scheduler.loop.scheduling_queue import hints_for
from kvolsched.world.apiserver import key_of

NAME = "NodeDeclaredFeatures"
USERS, RESTARTS = "UserNamespacesHostNetworkSupport", "RestartAllContainersOnContainerExits"
RECORDED = json.loads(Path(__file__).with_name("declared_features.json").read_text(encoding="utf-8"))
NEEDS_USERS = {"hostNetwork": True, "hostUsers": False}
RULE = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [3]}}
NEEDS_RESTARTS = {"containers": [{"name": "app", "image": "app", "restartPolicy": "Never", "restartPolicyRules": [RULE]}]}


def declaring(name, *features):
    """Return the manifest of a node that declares these features."""
    plain = manifests.node(name)
    return {**plain, "status": {**plain.get("status", {}), "declaredFeatures": list(features)}}


def needing(**spec):
    """Return the manifest of a pod with these fields."""
    plain = manifests.pod("app")
    return {**plain, "spec": {**plain["spec"], **spec}}


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["id"])
def test_recorded_verdicts(case):
    """kube-scheduler v1.36.2 rejected these nodes and no others, also where a list is not sorted."""
    nodes = [from_plain(declaring(name, *features)) for name, features in case["declared"].items()]
    judgement = judge(from_plain(needing(**case["spec"])), snapshot(nodes), upstream_profile())

    found = {name: judgement.verdict(name, NAME) for name in sorted(case["declared"])}
    assert case["rejected"] == [name for name, (reasons, _) in found.items() if reasons]
    for name in case["rejected"]:
        assert found[name] == (("node(s) didn't match Pod's required features",), Code.UNSCHEDULABLE_AND_UNRESOLVABLE)


def test_a_changed_node_is_read_again():
    """What nodes declare is kept between passes and read again when a node's list changes."""
    asked, bare, able = map(from_plain, (needing(**NEEDS_USERS), declaring("n", "Other"), declaring("n", USERS)))
    seen = snapshot([bare])
    assert judge(asked, seen, upstream_profile()).feasible == ()

    seen.apply(key_of(able), bare, able)
    assert judge(asked, seen, upstream_profile()).feasible == ("n",)


def test_a_node_that_comes_to_declare_it_wakes_the_pod():
    """A rejected pod is tried again if a node comes that declares all it needs, or a node begins to, and only then."""
    pod, bare, able, other = map(from_plain, (
        needing(**NEEDS_USERS), declaring("n"), declaring("n", USERS), declaring("n", RESTARTS)))

    def wakes(old, new):
        event, = events_of(key_of(new), old, new)
        hints = hints_for(upstream().profile, "Node", event.action, (NAME,))
        return any(hint.hint_fn(pod, old, new) for hint in hints)

    assert [wakes(None, able), wakes(bare, able), wakes(None, bare), wakes(bare, other)] == [True, True, False, False]


def test_why_and_fix_name_the_feature_that_is_lacking():
    """Each needed feature is a demand of its own; the fixes change the pod's field or the kubelet, and hold."""
    c = Cluster.from_manifests([declaring("n", USERS), needing(**NEEDS_USERS, **NEEDS_RESTARTS)])

    demand, = c.why("app").demands
    assert (NAME, "feature", RESTARTS) == (demand.plugin, demand.sort, demand.about)
    cell, = c.why("app").groups[0].cells
    assert (f"needs {RESTARTS}, the node declares {USERS}", RESTARTS) == (cell.sides.evidence, cell.sides.about)
    words = [edit.words for fix in c.fix("app") for edit in fix.edits]
    assert "Remove restartPolicyRules with RestartAllContainers" in words
    assert f"Let the kubelet of n support {RESTARTS}" in words


def test_both_features_are_two_demands():
    """A node that declares neither fails both demands, each with the variant that needs one feature alone."""
    c = Cluster.from_manifests([declaring("m"), needing(**NEEDS_USERS, **NEEDS_RESTARTS)])
    answer = c.why("app")

    assert {RESTARTS, USERS} == {demand.about for demand in (*answer.demands, *answer.also)}


def test_other_rules_and_decode_know_it():
    """Rules of earlier releases say that they do not read the fields; its sentence is decoded."""
    pod = from_plain(needing(**NEEDS_USERS))

    assert unread_fields(design(), pod, {}) == ("hostUsers: false beside hostNetwork",)
    assert unread_fields(upstream(), pod, {}) == ()
    row, = decode("0/1 nodes are available: 1 node(s) didn't match Pod's required features.")
    assert NAME == row.plugin


def test_its_column_is_drawn_only_where_it_is_asked():
    """A pod that needs no feature has no column for it in the matrix; one that does has the letter D."""
    plain, asking = (Cluster.from_manifests([declaring("n"), needing(**spec)]) for spec in ({}, NEEDS_USERS))
    for c in (plain, asking):
        c.run()

    assert NAME not in repr(plain.verdicts("app"))
    assert f"D {NAME}" in repr(asking.verdicts("app")).replace("\N{NO-BREAK SPACE}", " ")

"""Old rules do not read every field of a pod: each answer says which, and counts as these rules do."""

import attrs
import pytest
from manifests import ZONE, node, pod

from kvolsched import Cluster, design, draft, upstream
from kvolsched.rules.unread_fields import unread_by_pods, unread_fields

SPREAD = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3,
          "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["v"], "labelSelector": {"matchLabels": {"app": "web"}}}
LABELS = {"app": "web", "v": "2"}
NAMES = "minDomains, nodeTaintsPolicy and matchLabelKeys"


def spread(rules, **changes):
    """Two zones with a pod each of another version, a tainted third one, and a pod that waits."""
    others = [pod(f"old-{zone}", nodeName=f"{zone}1", labels={"app": "web", "v": "1"}) for zone in "ab"]
    nodes = [node("a1", "a"), node("b1", "b"), node("c1", "c", taints=[{"key": "gone", "effect": "NoSchedule"}])]
    waits = pod("web-2", labels=LABELS, topologySpreadConstraints=[{**SPREAD, **changes}])
    return Cluster.from_manifests([*nodes, *others, waits], revision=rules)


def test_every_answer_reads_the_constraint_as_the_rules_do():
    """The text of why, the ledger of skew and the verdict name no field that these rules leave out, but say so once."""
    old = spread("design")
    old.run()
    why, skew = repr(old.why("web-2")), repr(old.skew("web-2"))
    assert f"Rules design do not read {NAMES} of this pod." in why
    assert f"Rules design do not read {NAMES} of this constraint." in skew
    told = why.replace(f"Rules design do not read {NAMES}", "") + skew.replace(f"Rules design do not read {NAMES}", "")
    assert "minDomains" not in told
    assert "same v" not in told
    assert "nodeTaintsPolicy is" not in told
    assert "These rules do not read nodeTaintsPolicy: a tainted node still makes a domain." in skew
    assert "do not read" in old.why("web-2").figure().draw(720, "")
    today = spread("upstream")
    assert "minDomains 3" in repr(today.skew("web-2"))
    assert "do not read" not in repr(today.skew("web-2")) + repr(today.why("web-2"))


@pytest.mark.parametrize("fields", [{"minDomains": 1}, {"nodeAffinityPolicy": "Honor"}, {"nodeTaintsPolicy": "Ignore"},
                                    {"matchLabelKeys": ["absent"]}])
def test_what_changes_nothing_is_not_told(fields):
    """A field with the value that a constraint has without it is read as if it were not there by all rules."""
    c = spread("design", **{**dict.fromkeys(("minDomains", "nodeTaintsPolicy", "matchLabelKeys")), **fields})
    assert () == unread_fields(design(), c["web-2"], c.world.log.objects)


@pytest.mark.parametrize(("spec", "name"), [
    ({"containers": [{"name": "app", "image": "app", "ports": [{"containerPort": 80, "hostPort": 80}]}]}, "hostPort"),
    ({"priority": 10, "preemptionPolicy": "Never"}, "preemptionPolicy"),
    ({"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}]}, "volumes[].ephemeral"),
    ({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
        "weight": 1, "podAffinityTerm": {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"a": "b"}}}}]}}},
     "podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution"),
])
def test_what_nobody_is_there_to_read(spec, name):
    """A plugin, a weight or a controller that rules lack leaves fields unread; today's rules read all of them."""
    c = Cluster.from_manifests([node("a1", "a"), pod("web", **spec)])
    asked = c["web"]
    for rules in (design(), draft()):
        assert (name,) == unread_fields(rules, asked, c.world.log.objects)
    assert () == unread_fields(upstream(), asked, c.world.log.objects)


def test_gates_are_fields_too():
    """A feature gate that is off leaves its fields unread: constraints whole, and scheduling gates."""
    asked = spread("upstream")["web-2"]
    off = upstream().with_gates({"kube-scheduler": {"EvenPodsSpread": False, "PodSchedulingReadiness": False}})
    assert ("topologySpreadConstraints",) == unread_fields(off, asked, {})
    gated = attrs.evolve(asked, spec=Cluster.from_manifests([pod("app", gates=["g"])])["app"].spec)
    assert ("schedulingGates",) == unread_fields(off, gated, {})


def test_pods_that_are_alike_share_a_sentence():
    """Pods of which the same fields are not read are named together, what both rules leave out is not told."""
    c = spread("design")
    objects = c.world.log.objects
    assert [f"Rules design do not read {NAMES} of pod/web-2."] == list(unread_by_pods(design(), objects))
    assert [] == list(unread_by_pods(design(), objects, draft()))
    assert [] == list(unread_by_pods(upstream(), objects))

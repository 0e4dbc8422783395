"""What a pod with a node waits for: its node, its claims and who makes their volumes, and the last Events about them."""

import pytest

from kvolsched import Cluster, make
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.why.answer import Finding
from kvolsched.questions.why.on_node import (
    LastEvents,
    answer_on_node,
    claims_waited_for,
    is_running,
    missing_components,
)
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.world.apiserver import key_of

LATE = make.storage_class(provisioner="pd.csi")


def event(name, about, reason="Failed", type_="Warning", at="", uid="", version=1, **fields):
    """Return an Event about an object."""
    kind, namespace, of = about
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": namespace or "default", "resourceVersion": str(version)}, "reason": reason,
            "message": f"message of {name}", "type": type_, "involvedObject": {"kind": kind, "namespace": namespace, "name": of, "uid": uid},
            **({"lastTimestamp": at} if at else {}), **fields}  # fmt: skip


def there(*plain):
    """Return objects by key."""
    return {key_of(each): each for each in map(from_plain, plain)}


POD, NODE = make.pod("p", uid="u1"), make.node("n1")
OF_POD = ("Pod", "default", "p")


@pytest.mark.parametrize(("events", "last", "warning"), [
    ([], "", ""), ([event("a", OF_POD)], "Failed: message of a", "Failed: message of a"),
    ([event("a", OF_POD, at="2026-01-01T00:00:02Z"), event("b", OF_POD, "Pulled", "Normal", at="2026-01-01T00:00:03Z")], "Pulled: message of b", "Failed: message of a"),
    ([event("b", OF_POD, at="2026-01-01T00:00:03Z"), event("a", OF_POD, at="2026-01-01T00:00:04Z")], "Failed: message of a", "Failed: message of a"),
    ([event("b", OF_POD, at="2026-01-01T00:00:03Z"), event("a", OF_POD)], "Failed: message of b", "Failed: message of b"),
    ([event("b", OF_POD), event("a", OF_POD)], "Failed: message of a", "Failed: message of a"),
    ([event("a", OF_POD, uid="u1")], "Failed: message of a", "Failed: message of a"), ([event("a", OF_POD, uid="older")], "", ""),
    ([event("a", OF_POD, uid="p")], "Failed: message of a", "Failed: message of a"), ([event("a", ("Pod", "shop", "p"))], "", ""),
    ([event("a", ("Node", "default", "p")), event("b", ("Pod", "default", "q"))], "", ""),
])  # fmt: skip
def test_the_last_event_about_an_object(events, last, warning):
    """The latest, of equals the first by name; of one type if asked, and none about an earlier object of its name."""
    found, pod = LastEvents(there(POD, *events)), from_plain(POD)

    assert (last, warning) == (found.of(pod), found.of(pod, "Warning"))


def owned(name, uid):
    """Return a pod of a controller."""
    return make.pod(name) | {"metadata": {"name": name, "namespace": "default", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "X", "name": "x", "uid": uid}]}}


def with_uid(plain, uid):
    """Return a workload with an uid."""
    return plain | {"metadata": plain["metadata"] | {"uid": uid, "namespace": "default"}}


SETS = [with_uid(make.stateful_set("web", replicas=2), "u1"), with_uid(make.deployment("app", replicas=1), "u2")]
OF_WEB, OF_APP = ("StatefulSet", "default", "web"), ("Deployment", "default", "app")


@pytest.mark.parametrize(("objects", "told"), [
    ([event("a", OF_WEB, "FailedCreate", uid="u1")], ["sts/web lacks pods: FailedCreate: message of a"]),
    ([event("a", OF_WEB, "FailedCreate", uid="u1"), event("b", OF_APP, "FailedCreate")],
     ["deploy/app lacks pods: FailedCreate: message of b", "sts/web lacks pods: FailedCreate: message of a"]),
    ([event("a", OF_WEB, "FailedCreate"), owned("p", "u1"), owned("r", "u2")], ["sts/web lacks pods: FailedCreate: message of a"]),
    ([event("a", OF_WEB, "FailedCreate"), owned("p", "u1"), owned("q", "u1")], []), ([event("a", OF_WEB, "FailedDelete")], []),
    ([event("a", OF_WEB, "FailedCreate", uid="older")], []), ([event("a", ("StatefulSet", "default", "gone"), "FailedCreate")], []),
    ([event("a", OF_WEB, "FailedCreate", version=5), event("b", OF_WEB, "SuccessfulCreate", version=6)], []),
    ([event("a", OF_WEB, "FailedCreate", version=7), event("b", OF_WEB, "SuccessfulCreate", version=6)], ["sts/web lacks pods: FailedCreate: message of a"]),
    ([NODE, event("a", ("Node", "", "n1"), "FailedCreate")], ["node/n1 lacks pods: FailedCreate: message of a"]),
])  # fmt: skip
def test_whose_pods_cannot_be_created(objects, told):
    """A workload with fewer pods than it wants, whose last Event says that creating one failed."""
    found = there(*SETS, *objects)

    assert told == list(LastEvents(found).refused_pods(found))


def test_warnings_about_unbound_claims():
    """The last one about each, once; none of claims that are bound, that are not there, or that nobody warned about."""
    claims = [make.claim("a"), make.claim("b", bound="v"), make.claim("c"), make.claim("d") | {"status": {"phase": "Lost"}}]
    events = [event(f"of-{name}", ("PersistentVolumeClaim", "default", name)) for name in "abd"]
    events += [event("fine", ("PersistentVolumeClaim", "default", "c"), type_="Normal")]
    found = LastEvents(there(*claims, *events)).warnings_of_claims(from_plain(make.pod("p", "a", "b", "c", "d", "e", "a")), snapshot(map(from_plain, claims)))

    assert ["claim a is Pending; last warning: Failed: message of of-a", "claim d is Lost; last warning: Failed: message of of-d"] == list(found)


@pytest.mark.parametrize(("node", "phase", "said", "notes"), [
    (make.node("n1"), "Running", "it is not waiting for a node: it is on n1, and Running.", ()), (make.node("n1"), "Pending", "it is not waiting for a node: it is on n1, and Pending.", ()),
    (make.node("n1", ready="False"), "Pending",
     "it is not waiting for a node: it is on n1, a node whose condition Ready is False, so that no kubelet starts it, and Pending.", ()),
    (make.node("n1", ready="False"), "Running", "it is not waiting for a node: it is on n1, and Running.", ()),
    (make.node("n2"), "Pending", "it is not waiting for a node: it is on n1, a node that does not exist, and Pending.", ("garbage",)),
])  # fmt: skip
def test_a_pod_with_a_node(node, phase, said, notes):
    """Its node and phase, that the node does not report or does not exist, and who then deletes the pod."""
    c = Cluster.from_manifests([node, make.pod("p", node_name="n1", status={"phase": phase})])
    absent = Cluster.from_manifests([node, make.pod("p", node_name="n1", status={"phase": phase})], components={"pod-garbage-collector-controller": {"absent": True}})
    found = answer_on_node(c, c["pod/p"], "default/p")

    assert (said, "bound", "default/p", "upstream") == (found.headline, found.state, found.pod, found.revision)
    assert tuple("the pod garbage collector deletes it within a minute, unless the node comes" for _ in notes) == found.notes
    without = answer_on_node(absent, absent["pod/p"], "default/p")
    assert (said, ()) == (without.headline, without.notes)


@pytest.mark.parametrize(("components", "provisioner", "registered", "runs"), [
    ({}, "pd.csi", ["pd.csi"], True), ({}, "pd.csi", [], True), ({}, "ebs.example.com", ["ebs.exmaple.com"], False),
    ({"pd.csi": {"kind": "zonal"}}, "pd.csi", [], True), ({"pd.csi": {"kind": "zonal", "running": False}}, "pd.csi", ["pd.csi"], False),
    ({"pd.csi": {"kind": "zonal", "running": True}}, "pd.csi", [], True),
])  # fmt: skip
def test_whether_somebody_provisions(components, provisioner, registered, runs):
    """A driver of the cluster unless it is switched off, one that a node lists, and any other whose name is nobody's misspelled."""
    assert runs == is_running(Cluster(components=components), provisioner, registered)


def claims_of(*classes):
    """Return a pod's claims of these classes, all for the node n1."""
    return [make.claim(f"c{number}", storage_class=name, selected_node="n1") for number, name in enumerate(classes)]


@pytest.mark.parametrize(("objects", "found"), [
    ([LATE, *claims_of("late")], []), ([*claims_of("late")], []), ([make.storage_class(provisioner="ebs.exmaple.com"), *claims_of("late"), make.csi_node("n2", 5, "ebs.example.com")],
     [("provisioner", "nobody provisions ebs.exmaple.com for claim c0; CSINode n2 has ebs.example.com: a typo in class late?")]),
    ([make.storage_class(provisioner="ebs.exmaple.com"), make.claim("c0", bound="v"), make.csi_node("n2", 5, "ebs.example.com")], []),
    ([make.storage_class(provisioner="ebs.example.com"), *claims_of("late"), make.csi_node("n2", 5, "ebs.example.com"), make.csi_node("n1")],
     [("driver", "driver ebs.example.com of class late does not run on n1, the chosen node (its CSINode lacks it)")]),
    ([make.storage_class(provisioner="ebs.example.com"), *claims_of("late"), make.csi_node("n2", 5, "ebs.example.com")], []),
    ([make.storage_class(provisioner="ebs.example.com"), *claims_of("late"), make.csi_node("n1", 5, "ebs.example.com"), make.csi_node("n2")], []),
    ([make.storage_class("late", "kubernetes.io/no-provisioner"), *claims_of("late")], []),
])  # fmt: skip
def test_who_would_have_to_make_a_volume_and_does_not_run(objects, found):
    """A provisioner that nobody is, with the one that was meant, and a driver that the chosen node lacks."""
    c = Cluster.from_manifests([make.node("n1"), make.node("n2"), make.pod("p", "c0", "gone", node_name="n1"), *objects])

    assert tuple(Finding((kind,), words) for kind, words in found) == missing_components(c, c["pod/p"])


def test_a_switched_off_provisioner_with_a_near_name_is_told():
    """Nobody provisions for it; a component that runs and is called nearly so may have been meant."""
    components = {"disks.example.com": {"kind": "zonal"}, "disk.example.com": {"kind": "zonal", "running": False}}
    c = Cluster.from_manifests([make.node("n1"), make.storage_class(provisioner="disk.example.com"), make.pod("p", "c0", node_name="n1"), *claims_of("late")],
                               components=components)  # fmt: skip

    assert [Finding(("provisioner",), "nobody provisions disk.example.com for claim c0; there is disks.example.com: a typo in class late?")] == list(
        missing_components(c, c["pod/p"]))


@pytest.mark.parametrize(("claim", "pod", "told"), [
    ([], make.pod("p", "c"), ["claim c does not exist"]), ([make.claim("c", bound="v")], make.pod("p", "c"), []),
    ([make.claim("c", volumeName="v")], make.pod("p", "c", node_name="n1"), ["claim c is Pending: the volume controller completes its binding to v next"]),
    ([make.claim("c", selected_node="n1")], make.pod("p", "c", node_name="n1"), ["claim c is Pending: pd.csi provisions a volume for node n1 next"]),
    ([make.claim("c", storage_class="none", selected_node="n1")], make.pod("p", "c", node_name="n1"),
     ["claim c is Pending: the volume controller binds it to the chosen volume next"]),
    ([make.claim("c")], make.pod("p", "c"), ["claim c is Pending: the volume controller binds it to the chosen volume next"]),
    ([make.claim("c") | {"status": {"phase": "Lost"}}], make.pod("p", "c", node_name="n1"),
     ["claim c is Lost: no node is selected for it, since the pod got its node without the scheduler, which selects it"]),
    ([make.claim("c", volumeName="v"), make.claim("b", volumeName="w")], make.pod("p", "c", "b", "c"),
     ["claim c is Pending: the volume controller completes its binding to v next", "claim b is Pending: the volume controller completes its binding to w next"]),
    ([make.claim("c", volumeName="v"), event("a", ("PersistentVolumeClaim", "default", "c"))], make.pod("p", "c"),
     ["claim c is Pending: the volume controller completes its binding to v next; last event: Failed: message of a"]),
    ([make.claim("c", volumeName="v"), event("a", ("PersistentVolumeClaim", "default", "c"), at="2026-01-01T00:00:00Z"),
      event("b", ("PersistentVolumeClaim", "default", "c"), "Fine", "Normal", at="2026-01-01T00:00:01Z")], make.pod("p", "c"),
     ["claim c is Pending: the volume controller completes its binding to v next; last event: Fine: message of b; last warning: Failed: message of a"]),
])  # fmt: skip
def test_what_each_claim_waits_for(claim, pod, told):
    """Which component acts next, the last Event, and the last warning if that is another one."""
    c = Cluster.from_manifests([make.node("n1"), LATE, pod, *claim])

    assert told == list(claims_waited_for(c, c["pod/p"]))

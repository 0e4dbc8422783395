"""What is wrong with a claim without a volume: all that is known of it, and the one cause that a sentence names."""

import pytest

from kvolsched import Cluster, make
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.why.answer import Finding
from kvolsched.questions.why.claim_problems import describe_claim, finding_of_claims, should_be_bound
from kvolsched.scheduler.columns.snapshot import snapshot

NO_PROVISIONER = "kubernetes.io/no-provisioner"
LATE, LOCAL = make.storage_class(), make.storage_class("local", NO_PROVISIONER)
PUBLISHES = make.csi_driver(tracks=None, storageCapacity=True)
MADE = {"annotations": {"pv.kubernetes.io/provisioned-by": make.DRIVER}}
BEING_DELETED = make.claim(storage_class="local")
BEING_DELETED["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
OTHERS = make.claim("data-1")
OTHERS["metadata"]["namespace"] = "other"
NEWER, SAME_NAME = make.claim("other"), make.claim("data-1")
NEWER["metadata"]["uid"], SAME_NAME["metadata"]["uid"] = "new", "old"


def seen_of(*plain):
    """Return what a scheduler sees that knows these manifests, as they are written."""
    return snapshot(map(from_plain, plain))


def room(name, size="", largest="", zone="a", of_class="late"):
    """Return what a driver publishes of its room for a class in a zone, or for no node."""
    amounts = {"capacity": size, "maximumVolumeSize": largest}
    topology = {"nodeTopology": {"matchLabels": {make.ZONE: zone}}} if zone else {}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": name, "namespace": "csi"},
            "storageClassName": of_class, **{key: amount for key, amount in amounts.items() if amount}, **topology}  # fmt: skip


def small(count):
    """Return so many volumes that are too small, last name first."""
    return [make.volume(f"v{number}", "1Gi") for number in reversed(range(count))]


OF_LATE, PER_ZONE = "class late: disks.example.com, WaitForFirstConsumer", "capacity for class late where topology.kubernetes.io/zone="
NO_CLASS = "it has no class, so nothing is provisioned for it: only a volume without a class can serve it"


@pytest.mark.parametrize(("claim", "objects", "told"), [
    (make.claim(), [], ["class late does not exist", "there is no volume of class late"]),
    (make.claim(), [make.volume("made", **MADE)], ["class late does not exist", "volume made: free"]),
    (make.claim(), [make.volume("b", claim="other"), make.volume("a", **MADE), make.volume("c", "1Gi")], [
        "class late is only that of volumes made by hand", "volume a: free", "volume b: taken by claim default/other",
        "volume c: too small, 1Gi < 10Gi"]),
    (make.claim(storage_class=""), [], [NO_CLASS, "there is no volume without a class"]),
    (make.claim(storage_class=None), [make.volume("x", "1Gi", "")], [NO_CLASS, "volume x: too small, 1Gi < 10Gi"]),
    (make.claim(), [LATE], [OF_LATE]),
    (make.claim(), [LATE | {"volumeBindingMode": None}], ["class late: disks.example.com, Immediate"]),
    (make.claim(storage_class="local"), [LOCAL], ["class local: nothing is provisioned, WaitForFirstConsumer", "there is no volume of class local"]),
    (make.claim(), [LATE, *small(6)], [OF_LATE, *(f"volume v{number}: too small, 1Gi < 10Gi" for number in range(6))]),
    (make.claim(), [LATE, *small(7)], [OF_LATE, *(f"volume v{number}: too small, 1Gi < 10Gi" for number in range(6)),
                                       "and 1 more volume of the class"]),
    (make.claim(), [LATE, *small(8)], [OF_LATE, *(f"volume v{number}: too small, 1Gi < 10Gi" for number in range(6)),
                                       "and 2 more volumes of the class"]),
    (make.claim(), [make.storage_class(allowed=[{make.ZONE: ["b", "a"], "rack": ["r"]}, {make.ZONE: ["c"]}])], [
        OF_LATE, "class late allows only topology.kubernetes.io/zone In [b, a] and rack In [r] or topology.kubernetes.io/zone In [c]"]),
    (make.claim(), [LATE, make.csi_driver(storageCapacity=False), room("r", "1Gi")], [OF_LATE]),
    (make.claim(), [LATE, PUBLISHES, room("r", "1Gi", of_class="other")], [
        OF_LATE, "disks.example.com publishes its capacity, and none for class late"]),
    (make.claim(), [LATE, PUBLISHES, room("r5", "5Gi", "50Gi", "d"), room("r4", "50Gi", "5Gi", ""), room("r1", "10Gi"), room("r3", zone="c"),
                    room("r2", "9Gi", zone="b")], [
        OF_LATE, f"{PER_ZONE}a: 10Gi at most, enough", f"{PER_ZONE}b: 9Gi at most, too little for 10Gi",
        f"{PER_ZONE}c: no amount published, too little for 10Gi", "capacity for class late for no node: 5Gi at most, too little for 10Gi",
        f"{PER_ZONE}d: 50Gi at most, enough"]),
    (make.claim(), [LATE, PUBLISHES, *(room(f"r{number}", "10Gi") for number in range(6))], [OF_LATE, *[f"{PER_ZONE}a: 10Gi at most, enough"] * 6]),
    (make.claim(), [LATE, PUBLISHES, *(room(f"r{number}", "10Gi") for number in range(7))], [
        OF_LATE, *[f"{PER_ZONE}a: 10Gi at most, enough"] * 6, "and 1 more CSIStorageCapacity object of the class"]),
    (make.claim(selected_node="n1"), [LATE, make.node("n1")], [
        "the scheduler selected node n1 for it: its volume is provisioned for that node alone", OF_LATE]),
    (make.claim(selected_node="n1"), [LATE, make.node("n2")], [
        "the scheduler selected node n1 for it, which does not exist any more: its volume is provisioned for that node alone", OF_LATE]),
    (make.claim(bound="disk"), [], ["it names volume disk, which does not exist"]),
    (make.claim(bound="disk"), [make.volume(bound="data"), make.node("n1")], []),
    (make.claim(volumeName="disk"), [make.volume(claim="data"), make.node("n1")], [
        "it names volume disk, but is not bound to it yet (reserved for this claim, which takes no other)"]),
    (make.claim(volumeName="disk"), [make.volume(size="1Gi"), make.node("n1")], [
        "it names volume disk, but is not bound to it yet (too small, 1Gi < 10Gi)"]),
    (make.claim(bound="disk"), [make.volume(bound="other"), make.node("n1")], ["volume disk belongs to claim default/other"]),
    (make.claim(bound="disk"), [make.volume(bound="other", phase="Released", zone="c"), make.node("n1", "a")], [
        ("volume disk is Released: its claimRef names claim default/other, which was deleted; if its data may go, remove its "
        "spec.claimRef, and it is Available"), "no node reaches volume disk: topology.kubernetes.io/zone In [c]"]),
    (make.claim(volumeName="disk"), [make.volume(bound="other", phase="Released"), NEWER], [
        ("volume disk is Released: its claimRef names claim default/other, which was deleted (the claim of that name is a newer one); if its "
        "data may go, remove its spec.claimRef, and it is Available")]),
    (make.claim(volumeName="disk"), [make.volume(phase="Released", claimRef={"name": "other", "uid": "old"}), NEWER], [
        ("volume disk is Released: its claimRef names claim default/other, which was deleted (the claim of that name is a newer one); if its "
        "data may go, remove its spec.claimRef, and it is Available")]),
    (make.claim(volumeName="disk"), [make.volume(phase="Released", claimRef={"name": "data-1", "namespace": "other", "uid": "old"}), OTHERS,
                                     SAME_NAME], [
        ("volume disk is Released: its claimRef names claim other/data-1, which was deleted (the claim of that name is a newer one); if its "
        "data may go, remove its spec.claimRef, and it is Available")]),
    (make.claim(bound="disk"), [make.volume(bound="data", zone="b"), make.node("n1", "a"), make.node("n2", "b")], []),
    (make.claim(bound="disk"), [make.disk("disk", "n1", bound="data"), make.node("n2")], [
        "volume disk is reached only from node n1, which does not exist (any more)"]),
    (make.claim(bound="disk"), [make.volume("disk", "10Gi", "late", {make.HOST: ["n1", "n2"], make.ZONE: ["z"]}, {make.HOST: ["n3"]}, bound="data"),
                                make.node("n2")], ["volume disk is reached only from nodes n1, n3, which do not exist (any more)"]),
])  # fmt: skip
def test_all_that_is_known_of_a_claim(claim, objects, told):
    """Its volume, or its class with the room that is published for it, and the volumes of that class, by name."""
    assert told == list(describe_claim(from_plain(claim), seen_of(*objects)))


@pytest.mark.parametrize(("claim", "objects", "blocks"), [
    (make.claim(bound="disk"), [make.volume(bound="data")], False), (make.claim(bound="disk"), [LATE], True),
    (make.claim(), [LATE], False), (make.claim(), [make.storage_class(waits=False)], True), (make.claim(), [], True),
    (make.claim(volumeName="disk"), [LATE, make.volume(claim="data")], True), (make.claim(storage_class=""), [LATE], True),
])  # fmt: skip
def test_which_claims_must_be_bound_first(claim, objects, blocks):
    """A claim that does not wait for a pod, or that names a volume, and one whose volume is gone."""
    assert blocks == should_be_bound(from_plain(claim), seen_of(*objects))


def local(name, size="10Gi", **fields):
    """Return a volume of the class local."""
    return make.volume(name, size, "local", **fields)


OF_LOCAL, SHARED = make.claim(storage_class="local"), make.claim(storage_class="local", accessModes=["ReadWriteMany"])
NAMING, TWO = make.claim(storage_class="local", volumeName="v1"), [make.claim(name, storage_class="local") for name in "ba"]
NONE_FREE = "no volume of class local is free for claim data (10Gi):"
NEED_TWO = "2 claims (a, b) need as many free volumes on one node;"


@pytest.mark.parametrize(("objects", "kind", "words"), [
    ([], "missing claim", "claim data does not exist"),
    ([make.claim("dat"), make.claim("data-0"), OTHERS], "missing claim", "claim data does not exist; dat does"),
    ([OTHERS, make.claim("data-0")], "missing claim", "claim data does not exist; data-0 does"),
    ([make.claim(), LATE], "", ""),
    ([make.claim()], "missing class", "class late of claim data does not exist"),
    ([make.claim(), make.storage_class("later"), make.storage_class("lat")], "missing class", "class late of claim data does not exist; lat does"),
    ([make.claim(storage_class="slow"), make.volume("v2", "1Gi", "slaw"), make.volume("v1", "1Gi", "slaw"), make.volume("v3", "1Gi", "slew", **MADE)],
     "missing class", "class slow of claim data does not exist, and no volume has it; volume v2 has class slaw"),
    ([make.claim(storage_class="slow"), make.volume("v3", "1Gi", "slaw", **MADE)], "missing class", "class slow of claim data does not exist"),
    ([make.claim(storage_class="slow"), make.volume("v3", "20Gi", "slow", **MADE)], "missing class", "class slow of claim data does not exist"),
    ([make.claim(storage_class="slow"), make.volume("v3", "20Gi", "slow")], "", ""),
    ([make.claim(storage_class="slow"), make.volume("v3", "1Gi", "slow")],
     "too small", "the only volume of class slow, v3, has 1Gi; claim data asks for 10Gi"),
    ([make.claim(storage_class="slow"), *(make.volume(f"v{size}", f"{size}Gi", "slow") for size in (1, 9, 2))],
     "too small", "the largest volume of class slow, v9, has 9Gi; claim data asks for 10Gi"),
    ([make.claim(storage_class="slow"), *(make.volume(name, "9Gi", "slow") for name in "ba")],
     "too small", "the largest volume of class slow, a, has 9Gi; claim data asks for 10Gi"),
    ([make.claim(storage_class="slow"), make.volume("v1", storage_class="slow", capacity={})],
     "too small", "the only volume of class slow, v1, has 0; claim data asks for 10Gi"),
    ([make.claim(storage_class="")], "no class", "claim data asks for no class: nothing provisions its volume"),
    ([make.claim(storage_class=None)], "no class", "claim data names no class, and no class is the default: nothing provisions its volume"),
    ([make.claim(storage_class=""), make.volume("v1", "1Gi", "")],
     "too small", "the only volume without a class, v1, has 1Gi; claim data asks for 10Gi"),
    ([make.claim(storage_class=""), make.volume("v1", "20Gi", "")], "", ""),
    ([OF_LOCAL, LOCAL], "no volume", "there is no volume of class local, and nothing provisions one for claim data (10Gi)"),
    ([OF_LOCAL | {"spec": OF_LOCAL["spec"] | {"resources": {}}}, LOCAL],
     "no volume", "there is no volume of class local, and nothing provisions one for claim data (0)"),
    ([OF_LOCAL, LOCAL, local("v1"), local("v2", claim="other")], "", ""),
    ([OF_LOCAL, LOCAL, local("v1", claim="data")], "", ""),
    ([OF_LOCAL, LOCAL, local("v1", claim="other")], "taken volume", f"{NONE_FREE} v1 (reserved for claim default/other)"),
    ([OF_LOCAL, LOCAL, local("v3", "1Gi"), local("v2", claim="other", phase="Released"), local("v1", bound="other")],
     "taken volume", f"{NONE_FREE} v1 (taken by claim default/other), v2 (Released, kept for claim default/other, which was deleted)"),
    ([OF_LOCAL, LOCAL, local("v1", phase="Failed"), local("v2", claim="a"), local("v3", claim="b")],
     "taken volume", f"{NONE_FREE} v1 (its phase is Failed, not Available), v2 (reserved for claim default/a) and 1 more alike"),
    ([SHARED, LOCAL, local("v1")], "taken volume", "claim data asks for ReadWriteMany; v1, the only volume of class local, offers ReadWriteOnce"),
    ([SHARED, LOCAL, local("v1"), local("v2")], "taken volume",
     f"{NONE_FREE} v1 (offers ReadWriteOnce, not ReadWriteMany), v2 (offers ReadWriteOnce, not ReadWriteMany)"),
    ([SHARED, LOCAL, local("v1", phase="Failed")], "taken volume",
     f"{NONE_FREE} v1 (its phase is Failed, not Available, offers ReadWriteOnce, not ReadWriteMany)"),
    ([BEING_DELETED, LOCAL], "claim being deleted", "claim data is being deleted: its pod waits for a new one"),
    ([NAMING, LOCAL, local("v2")], "missing volume", "claim data names volume v1, which does not exist"),
    ([make.claim(volumeName="v1"), LATE, make.volume("v1", "1Gi")],
     "too small", "volume v1, which it names, has 1Gi; claim data asks for 10Gi"),
    ([NAMING, LOCAL, local("v1", "1Gi"), local("v2")], "too small", "volume v1, which it names, has 1Gi; claim data asks for 10Gi"),
    ([make.claim(storage_class="local", volumeName="v1", accessModes=["ReadWriteMany"]), LOCAL, local("v1"), local("v2", "1Gi")],
     "taken volume", "claim data asks for ReadWriteMany; volume v1, which it names, offers ReadWriteOnce"),
    ([NAMING, LOCAL, local("v1", claim="other"), local("v2")],
     "taken volume", "volume v1, which it names, is not free for claim data (10Gi): v1 (reserved for claim default/other)"),
    ([NAMING, LOCAL, local("v1", claim="data")], "", ""),
])  # fmt: skip
def test_the_first_thing_that_is_wrong_with_a_claim(objects, kind, words):
    """A name that nothing has, no class, no volume that is large enough or free; "" where a volume will come."""
    found = finding_of_claims(from_plain(make.pod("app", "data")), ["data"], seen_of(*objects))

    assert (Finding((kind,), words) if kind else None) == found


@pytest.mark.parametrize(("objects", "kind", "words"), [
    ([*TWO, LOCAL, make.disk("d1", "n1")], "no volume", f"{NEED_TWO} n1 has 1 and n2 has 0"),
    ([*TWO, LOCAL, make.disk("d1", "n1"), make.disk("d3", "n2", claim="b"), make.disk("d2", "n2"), make.disk("d4", "n3")],
     "no volume", f"{NEED_TWO} n1 has 1 and n2 has 2"),
    ([make.claim("a", bound="d1", storage_class="local"), TWO[0], LOCAL, make.disk("d1", "n1", bound="a"), make.disk("d2", "n2")], "", ""),
    ([TWO[1], make.claim("b", storage_class="gone"), LOCAL, make.disk("d1", "n1")], "missing class", "class gone of claim b does not exist"),
    ([TWO[1], LOCAL, make.disk("d1", "n1")], "missing claim", "claim b does not exist"),
])  # fmt: skip
def test_two_claims_need_their_volumes_on_one_node(objects, kind, words):
    """If nothing is wrong with each, the sentence counts what two nodes have: free disks that they reach, and reserved ones."""
    nodes = [make.node(name) for name in ("n3", "n2", "n1")]
    found = finding_of_claims(from_plain(make.pod("app", "a", "b")), ["a", "b"], seen_of(*objects, *nodes))

    assert (Finding((kind,), words) if kind else None) == found


@pytest.mark.parametrize(("claim", "volume", "storage_class", "headline"), [
    (make.claim(volumeName="disk"), make.volume(claim="data"), LATE, "claim data is not bound to volume disk yet, which it names"),
    (make.claim(volumeName="disk"), make.volume(size="1Gi"), LATE, "volume disk, which it names, has 1Gi; claim data asks for 10Gi"),
    (OF_LOCAL, local("disk", claim="data"), make.storage_class("local", NO_PROVISIONER, waits=False),
     "claim data is not bound yet, and its class does not wait for a pod"),
    (make.claim(), make.volume(), make.storage_class(waits=False), "claim data is not bound yet, and its class does not wait for a pod"),
])  # fmt: skip
def test_a_claim_is_not_bound_yet(claim, volume, storage_class, headline):
    """A claim that names a volume waits for it, whatever its class does; a volume reserved for a claim is no reason."""
    assert headline == Cluster.from_manifests([make.node("n1"), make.pod("app", "data"), claim, volume, storage_class]).why("app").headline

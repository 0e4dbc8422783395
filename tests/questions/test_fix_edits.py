"""Edits that the catalogue proposes: what each says, and what it leaves out as there is nothing to change."""

from functools import partial

import attrs
import pytest

from kvolsched import Cluster, make
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.fix import TrialCluster
from kvolsched.questions.fix.pods import loosen_spread
from kvolsched.questions.fix.replace_claim import delete_claim_and_pod
from kvolsched.questions.why.demands import demands
from kvolsched.rules.named import upstream
from kvolsched.world.apiserver import key_of

ARCH, RACK = "kubernetes.io/arch", "example.com/rack"
DRIVER = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": make.DRIVER}, "spec": {"storageCapacity": True}}


def trial_of(pod, *others):
    """Return a pod that waits among other objects, as edits are tried on it."""
    objects = [*map(from_plain, (pod, *others))]
    return TrialCluster({key_of(each): each for each in objects}, key_of(objects[0]), upstream().profile)


def of_set(*volumes):
    """Return the pod db-0 of a StatefulSet, with a claim of the set's for each of these volumes."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "db", "controller": True}
    pod = make.pod("db-0", labels={"app": "db"}, volumes=[
        {"name": name, "persistentVolumeClaim": {"claimName": f"{name}-db-0"}} for name in volumes])  # fmt: skip
    return pod | {"metadata": pod["metadata"] | {"ownerReferences": [owner]}}


def stateful_set(replicas=1):
    """Return the StatefulSet db."""
    made = make.stateful_set("db", replicas, "late")
    return made | {"metadata": made["metadata"] | {"uid": "db"}}


@pytest.mark.parametrize(("machines", "built_for"), [
    ([""], "every node"), (["amd64"], "amd64"), (["amd64", "amd64"], "amd64"), (["s390x", "amd64"], "s390x and amd64")])
def test_an_image_must_be_built_for_the_machines_that_a_pod_no_longer_avoids(machines, built_for):
    """Who drops the selector of an architecture is told which machines are near; unlabelled ones may be any."""
    nodes = [make.node(f"n{number}", labels={ARCH: arch} if arch else {}, taints=["closed"] * number)
             for number, arch in enumerate(machines)]  # fmt: skip
    c = Cluster.from_manifests([*nodes, make.pod(nodeSelector={ARCH: "riscv64"})])

    assert [(f"only if the image is built for {built_for}",)] == [fix.notes for fix in c.fix("app") if fix.kinds == ("drop selector",)]


@pytest.mark.parametrize(("taints", "affinity", "proposed"), [
    (None, None, ["nodeTaintsPolicy"]), ("Ignore", "Honor", ["nodeTaintsPolicy"]), ("Honor", None, []),
    ("Honor", "Ignore", ["nodeAffinityPolicy"]), (None, "Ignore", ["nodeTaintsPolicy", "nodeAffinityPolicy"])])
def test_a_policy_of_a_spread_that_honors_already_is_not_set(taints, affinity, proposed):
    """Nodes that do not count may be left out by a policy, but for one that leaves them out as it is."""
    policies = {"nodeTaintsPolicy": taints, "nodeAffinityPolicy": affinity}
    rule = make.spread(app="web") | {name: value for name, value in policies.items() if value}
    web = partial(make.pod, labels={"app": "web"}, topologySpreadConstraints=[rule])
    trial = trial_of(web("web"), web("first", node_name="a"), make.node("a", "a"), make.node("b", "b", cpu="10m"))
    spread, = [demand for demand in demands(trial.judge()) if demand.sort == "spread"]
    edits = [edit for edit in loosen_spread(spread, trial, trial.seen.all_nodes()) if edit.kind == "spread policy"]

    assert [f"Set {name}: Honor for {make.ZONE}" for name in proposed] == [edit.words.partition(",")[0] for edit in edits]


@pytest.mark.parametrize(("replicas", "bound", "safe", "letter", "data"), [
    (1, "", "nothing is lost", "B", ""),
    (2, "", "nothing is lost", "B", ""),
    (1, "disk", "NO OTHER COPY, it has 1 replica: restore a backup", "H", "EMPTY VOLUME: the files stay on disk (10Gi, Retain)"),
    (2, "disk", "safe only if the application has replicas, or a backup to restore", "H",
     "EMPTY VOLUME: the files stay on disk (10Gi, Retain)"),
])  # fmt: skip
def test_what_is_lost_with_a_claim_and_its_pod(replicas, bound, safe, letter, data):
    """A claim without a volume loses nothing; of one with a volume it is said whether there may be another copy."""
    disk = [make.volume("disk", bound="data-db-0")] if bound else []
    trial = trial_of(of_set("data"), stateful_set(replicas), make.claim("data-db-0", bound=bound), *disk)
    edit, = delete_claim_and_pod([trial.claim("data-db-0")], trial)

    assert ("Delete claim and pod: data-db-0 and db-0", f"StatefulSet db makes both anew; {safe}") == (edit.words, edit.note)
    assert (letter, data, bool(bound)) == (edit.letter, edit.data, edit.undo.endswith("WITHOUT what was written meanwhile"))


@pytest.mark.parametrize("asked_by", ["class", "pool"])
@pytest.mark.parametrize(("has", "words"), [
    ({make.ZONE: "a"}, [f"Label n {RACK}=r"]), ({}, [f"Label n {RACK}=r, {make.ZONE}=a"]),
    ({make.ZONE: "b"}, []), ({make.ZONE: "a", RACK: "s"}, [])])
def test_only_labels_that_a_node_lacks_are_set_for_a_claim(asked_by, has, words):
    """Where a node has one of two labels right, the other is set; a node that has another value lies elsewhere."""
    asked = {make.ZONE: "a", RACK: "r"}
    allowed = [{key: [value] for key, value in asked.items()}] if asked_by == "class" else None
    pool = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": "pool", "namespace": "csi"},
            "storageClassName": "late", "capacity": "50Gi", "nodeTopology": {"matchLabels": asked}}
    c = Cluster.from_manifests([make.node("n", labels=has), make.storage_class(allowed=allowed), make.claim(), make.pod("app", "data"),
                                *([DRIVER, pool] if asked_by == "pool" else [])])  # fmt: skip

    assert words == [fix.words for fix in c.fix("app") if fix.words.startswith("Label")]


def test_a_claim_that_is_missing_is_no_obstacle_to_other_fixes():
    """Under a profile whose plugins let a missing claim pass, fixes for the claims that there are are found all the same."""
    rules = upstream()
    lenient = attrs.evolve(rules, profile=rules.profile.without("VolumeBinding", "VolumeRestrictions", "VolumeZone"))
    disks = [each for name in ("data", "logs") for each in (
        make.volume(name, bound=f"{name}-db-0"), make.claim(f"{name}-db-0", bound=name))]  # fmt: skip
    c = Cluster.from_manifests([make.node("n1"), make.node("n2"), make.csi_node("n1", 1), make.csi_node("n2", 0), make.storage_class(),
                                stateful_set(), *disks, of_set("data", "logs", "gone")], revision=lenient)  # fmt: skip
    words = [f"Use a machine for n1 that attaches more: 2 volumes of {make.DRIVER} instead of 1"]

    assert words == [fix.words for fix in c.fix("db-0")]


def test_a_node_that_lost_its_zone_is_given_the_first_one_of_its_volume():
    """A volume may lie in two zones at once, which its label joins; a node lies in one of them."""
    disk = make.volume("disk", bound="data", labels={make.ZONE: "a__b"})
    node = make.node("n", labels={"topology.kubernetes.io/region": "r"})
    c = Cluster.from_manifests([node, make.storage_class(), make.claim(bound="disk"), disk, make.pod("app", "data")])

    assert [f"Label n {make.ZONE}=a"] == [fix.words for fix in c.fix("app") if fix.words.startswith("Label")]

"""Upgrades, roll-backs and skew of the documents in one running cluster: S0's phases and masters, S3's and S4's gates."""

import pytest
from documents.clusters import cluster, fits, message, patch, refusal, where
from manifests import LOCAL, ZONE, claim, node, pod, spread, storage_class, volume

from kvolsched.rules.named import design, revision_named

BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
SCHEDULER, MANAGER, SERVER = "kube-scheduler", "kube-controller-manager", "kube-apiserver"
SCHEDULING = {"VolumeScheduling": False}
FOO = {"app": "foo"}


def zonal_nodes():
    """Two nodes with the labels of S0's time."""
    return [node(f"{zone}1", labels={BETA_ZONE: f"us-central1-{zone}", BETA_REGION: "us-central1"}) for zone in "ab"]


@pytest.mark.checklist("28", "29", "30", "34")
def test_the_zonal_upgrade_up_and_down_in_a_running_cluster():
    """Every phase, upgraded to and downgraded to in one cluster, places the pod in its volume's zone; `back` undoes all."""
    disk = volume("disk", "10Gi", "late", labels={BETA_ZONE: "us-central1-a", BETA_REGION: "us-central1"}, bound="data")
    c = cluster(*zonal_nodes(), storage_class(provisioner=LOCAL), disk, claim("data", bound="disk"))
    start, converted = c.digest(), []
    for phase in (0, 1, 0, 1, 2, 1, 2, 3):
        c.upgrade(revision_named("design").in_phase(phase))
        c.run(seconds=60)
        converted.append(c["pv/disk"].spec.node_affinity is not None)
        c.apply(pod("app", "data"))
        c.run("pod/app Running", seconds=60)
        assert ["a1"] == where(c, "app"), phase
        c.delete("pod/app")
        c.run(seconds=60)
    assert [False] * 4 + [True] * 4 == converted
    assert "rules design (phase 3)" in repr(c)
    c.goto(0)
    assert start == c.digest()


@pytest.mark.checklist("28", "264")
def test_rolled_back_phase_1_leaves_old_volumes_alone_and_new_claims_are_made_anew():
    """Volumes made in phase 1 have node affinity; after the roll-back they keep it until their claims are made anew."""
    def rules(phase):
        return design().matured("alpha").in_phase(phase)

    def affine(name):
        return c[f"pv/{c[f'pvc/{name}'].spec.volume_name}"].spec.node_affinity is not None

    c = cluster(*zonal_nodes(), storage_class(provisioner="kubernetes.io/gce-pd"), revision=rules(0))
    for name, phase in (("old", 0), ("new", 1)):
        c.upgrade(rules(phase))
        c.apply(claim(name), pod(f"app-{name}", name))
        c.run(f"pod/app-{name} Running", seconds=60)
    old, new = c["pvc/old"].spec.volume_name, c["pvc/new"].spec.volume_name
    before, at = c[f"pv/{old}"], where(c, "app-old")
    assert (False, True) == (affine("old"), affine("new"))
    c.upgrade(rules(0))
    c.run(seconds=60)
    assert (before, at, "Running") == (c[f"pv/{old}"], where(c, "app-old"), c["pod/app-old"].status.phase)
    assert affine("new")
    c.delete("pod/app-new", "pvc/new")
    c.run(seconds=60)
    assert [old] == [each.metadata.name for each in c.objects("pv")]
    c.apply(claim("new"), pod("app-new", "new"))
    c.run("pod/app-new Running", seconds=60)
    assert (False, False) == (affine("old"), affine("new"))
    assert new != c["pvc/new"].spec.volume_name


@pytest.mark.checklist("264")
def test_rolled_back_scheduling_of_volumes_in_a_running_cluster():
    """Claims made while the feature was on are stuck once the scheduler is rolled back; made anew they are bound."""
    c = cluster(node("a1", "a"), storage_class(provisioner=LOCAL), volume("disk", "10Gi", "late", {ZONE: ["a"]}), claim("data"))
    c.run()
    c.upgrade(SCHEDULING, component=SCHEDULER)
    c.apply(pod("app", "data"))
    c.run(seconds=60)
    assert ("Pending", "Pending") == (c["pvc/data"].status.phase, c["pod/app"].status.phase)
    assert "pod has unbound PersistentVolumeClaims" in message(c, "app")
    c.delete("pod/app", "pvc/data")
    c.apply(storage_class("early", LOCAL, waits=False), volume("other", "10Gi", "early"), claim("data", storage_class="early"),
            pod("app", "data"))
    c.run("pod/app Running", seconds=60)
    assert "other" == c["pvc/data"].spec.volume_name


@pytest.mark.checklist("140")
def test_masters_of_two_releases():
    """New scheduler, old controller: claims are bound early and the pod runs. New controller, old scheduler: it is stuck."""
    def run(old):
        c = cluster(node("a1", "a"), storage_class(provisioner=LOCAL), volume("disk", "10Gi", "late", {ZONE: ["a"]}))
        c.upgrade(SCHEDULING, component=old)
        c.apply(claim("data"))
        c.run(seconds=10)
        early = c["pvc/data"].status.phase
        c.apply(pod("app", "data"))
        c.run(seconds=60)
        stuck = c["pod/app"].status.phase
        c.upgrade({"VolumeScheduling": True}, component=old)  # the upgrade is completed
        c.run(seconds=60)
        return early, stuck, c["pod/app"].status.phase

    assert ("Bound", "Running", "Running") == run(MANAGER)
    assert ("Pending", "Pending", "Running") == run(SCHEDULER)


@pytest.mark.parametrize(("gated", "phases"), [(False, ["Running", "Pending", "Running"]), (True, ["Running"] * 3)])
@pytest.mark.checklist("140")
def test_a_feature_that_waits_for_all_its_versions(gated, phases):
    """S0's sketch: turned on only when controller and scheduler are both new, no pod is stuck on the way; else one is."""
    c = cluster(node("a1", "a"), storage_class(provisioner=LOCAL),
                *(volume(f"disk-{n}", "10Gi", "late", {ZONE: ["a"]}) for n in range(3)),
                revision=revision_named("design").with_gates({SCHEDULER: SCHEDULING, MANAGER: SCHEDULING}))
    seen = []
    for number, newer in enumerate((None, MANAGER, SCHEDULER)):
        if newer is not None and not gated:
            c.upgrade({"VolumeScheduling": True}, component=newer)  # the new release has its feature on at once
        elif newer == SCHEDULER:
            for each in (SCHEDULER, MANAGER):  # the last dependency is new: now it is turned on
                c.upgrade({"VolumeScheduling": True}, component=each)
        c.apply(claim(f"data-{number}"), pod(f"app-{number}", f"data-{number}"))
        c.run(seconds=60)
        seen.append(c[f"pod/app-{number}"].status.phase)
    assert phases == seen
    assert "rules design" in repr(c)
    assert "kube-scheduler" in {each.by for each in c.requests(resource="persistentvolumes")}  # in the end it prebinds


@pytest.mark.checklist("140")
def test_while_an_old_and_a_new_master_take_turns():
    """Of two schedulers the leader decides: while the old one leads the pod is stuck, once the new one leads it runs."""
    c = cluster(node("a1", "a"), storage_class(provisioner=LOCAL), volume("disk", "10Gi", "late", {ZONE: ["a"]}), claim("data"),
                pod("app", "data"))  # fmt: skip
    c.upgrade(SCHEDULING, component=SCHEDULER)
    c.run(seconds=30)
    assert "Pending" == c["pod/app"].status.phase
    c.upgrade("design", component=SCHEDULER, beside=True)
    for _ in range(20):
        if c.revision.name == "design":
            break
        c.run(seconds=30)
        assert "Pending" == c["pod/app"].status.phase
        c.crash(SCHEDULER)
    c.run("pod/app Running", seconds=60)
    assert ("design", "Running") == (c.revision.name, c["pod/app"].status.phase)


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("229")
def test_gates_of_pods_enabled_disabled_and_enabled_again(revision):
    """In a running cluster: off in the API server new pods have no gates; on again they wait; stored gates stay."""
    c = cluster(node("a1", "a"), revision=revision)
    placed = []
    for number, on in enumerate((True, False, True)):
        c.upgrade({SERVER: {"PodSchedulingReadiness": on}})
        c.apply(pod(f"app-{number}", gates=("g",)))
        c.run(seconds=30)
        placed.append((where(c, f"app-{number}"), len(c[f"pod/app-{number}"].spec.scheduling_gates)))
    assert [([""], 1), (["a1"], 0), ([""], 1)] == placed
    assert 1 == len(c["pod/app-0"].spec.scheduling_gates)


@pytest.mark.checklist("194")
def test_api_servers_of_two_releases_and_spreading():
    """While one of two API servers is older, some pods keep their constraint and some lose it; afterwards all keep it."""
    old = [pod(f"old-{n}", labels=FOO, running_on="a1") for n in range(12)]
    c = cluster(node("a1", "a"), node("b1", "b"), *old, revision="upstream")
    c.upgrade({"EvenPodsSpread": False}, "kube-apiserver", beside=True)
    for number in range(10):
        c.apply(pod(f"app-{number}", labels=FOO, topologySpreadConstraints=[spread(**FOO)]))
    kept = [len(c[f"pod/app-{number}"].spec.topology_spread_constraints) for number in range(10)]
    assert {0, 1} == set(kept)
    c.upgrade("upstream", "kube-apiserver")
    c.apply(pod("late", labels=FOO, topologySpreadConstraints=[spread(**FOO)]))
    assert 1 == len(c["pod/late"].spec.topology_spread_constraints)
    c.run(seconds=60)
    assert ["b1"] == fits(c, "late")
    for number in range(10):
        fit = fits(c, f"app-{number}")
        assert (["b1"] if kept[number] else ["a1", "b1"]) == fit


@pytest.mark.checklist("252", "253")
def test_the_counter_of_refused_updates_is_read_from_the_requests():
    """With the gate off every narrowing is a 422 on PATCH; the documents' own indicator, UPDATE with 400, counts nothing."""
    c = cluster(node("a1", "a"), pod("app", gates=("g",)), revision="upstream")
    c.upgrade({"PodSchedulingReadiness": False}, component=SERVER)
    for zone in "abc":
        assert refusal(patch, c, "pod/app", spec={"nodeSelector": {ZONE: zone}})
    assert {("PATCH", 422): 3} == c.requests(resource="pods").count(by=("verb", "code"))
    assert 0 == len(c.requests(verb="UPDATE")) + len(c.requests(code=400))

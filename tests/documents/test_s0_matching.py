"""How S0's predicate, priority and assume step match disks with claims, as a reader sees it: verdicts, scores, changes."""

import pytest
from documents.clusters import cluster, events, fits, message, scores, where
from manifests import HOST, LOCAL, apart, claim, node, pod, storage_class, volume

from kvolsched import design, scenario

both = pytest.mark.parametrize("revision", ["design", "upstream"])
LATE = storage_class("late", LOCAL)
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"


def verdict(of, node_name):
    """Return in words what VolumeBinding says of a node for the pod app."""
    return str(of.verdicts("app", node_name, "VolumeBinding"))


def judged(*objects, revision="design", seed=0, **components):
    """Return a cluster in which the scheduler has taken one step."""
    c = cluster(*objects, revision=revision, seed=seed, **components)
    c.step("scheduler")
    return c


@both
@pytest.mark.checklist("100")
def test_an_error_is_not_a_no(revision):
    """A claim that does not exist stops the pod before any node is asked; a claim without a volume is a no of each node."""
    c = judged(node("n1"), LATE, pod("app", "data"), revision=revision)
    assert 'persistentvolumeclaim "data" not found' in message(c, "app")
    assert NO_VOLUME not in message(c, "app")
    c = judged(node("n1"), LATE, claim(), pod("app", "data"), revision=revision)
    assert {"n1": ("VolumeBinding", NO_VOLUME)} == dict(c.fits("app").rejected)


@both
@pytest.mark.checklist("101", "115")
def test_bound_claims_are_checked_for_reach_alone(revision):
    """With all claims bound every node that reaches the volumes fits; nothing is assumed for a volume, nothing written."""
    c = judged(node("n1", "a"), node("n2", "b"), volume(zone="a", bound="data"), claim(bound="disk"), pod("app", "data"),
               revision=revision)
    assert ["n1"] == fits(c, "app")
    assert "pv/" not in c.changes().reading
    c.run("pod/app Running")
    assert [("create", "pods", "binding")] == [
        (each.operation, each.resource, each.subresource) for each in c.requests() if each.by == "kube-scheduler"]


@pytest.mark.checklist("102", "110")
@pytest.mark.parametrize(("revision", "left"), [("design", "c5"), ("upstream", "c15")])
def test_the_order_of_claims_decides_which_is_left(revision, left):
    """Claims 5, 8, 15 and disks 10, 20: by falling request (the document) 5 is left, by rising request (today) 15."""
    c = judged(node("n1"), LATE, volume("v10", "10Gi"), volume("v20", "20Gi"), claim("c5", "5Gi"), claim("c8", "8Gi"),
               claim("c15", "15Gi"), pod("app", "c5", "c8", "c15"), revision=revision)
    assert f"claim {left} finds no volume" in verdict(c, "n1")


@pytest.mark.checklist("110")
@pytest.mark.parametrize(("large", "small", "finds_all"), [
    ("ReadWriteOnce", "ReadWriteMany", "upstream"), ("ReadWriteMany", "ReadWriteOnce", "design")])
def test_with_access_modes_each_order_misses_what_the_other_finds(large, small, finds_all):
    """Disk 10 serves both modes, disk 20 one: who takes disk 10 first decides whether the other claim finds one."""
    disks = [volume("v10", "10Gi", accessModes=["ReadWriteOnce", "ReadWriteMany"]), volume("v20", "20Gi")]
    asked = [claim("large", "8Gi", accessModes=[large]), claim("small", "5Gi", accessModes=[small])]
    found = {revision: fits(judged(node("n1"), LATE, *disks, *asked, pod("app", "large", "small"), revision=revision), "app")
             for revision in ("design", "upstream")}
    assert {"design": [], "upstream": []} | {finds_all: ["n1"]} == found
    complete = {"v10": "small", "v20": "large"} if large == "ReadWriteOnce" else {"v10": "large", "v20": "small"}
    prebound = [volume(each["metadata"]["name"], each["spec"]["capacity"]["storage"], accessModes=each["spec"]["accessModes"],
                       claim=complete[each["metadata"]["name"]]) for each in disks]
    for revision in found:  # what a search of every matching finds: reserved by hand, it serves both claims
        assert ["n1"] == fits(judged(node("n1"), LATE, *prebound, *asked, pod("app", "large", "small"), revision=revision), "app")


@pytest.mark.checklist("103", "104", "105", "133")
@pytest.mark.parametrize(("revision", "first", "second"), [("design", "y", "x"), ("upstream", "x", "y")])
def test_every_volume_is_walked_and_each_node_has_its_own_best(revision, first, second):
    """Of all disks the smallest large enough that the node reaches is remembered, for each node of the pass its own."""
    disks = [volume(f"{zone}{size}", f"{size}Gi", zone=zone) for zone, sizes in {"a": (3, 6, 7, 50), "b": (20, 9)}.items()
             for size in sizes]
    c = judged(node("n1", "a"), node("n2", "b"), LATE, *disks, claim("x", "5Gi"), claim("y", "6Gi"), pod("app", "x", "y"),
               revision=revision)
    assert {first: "a6", second: "a7"} == taken(verdict(c, "n1"))
    assert {first: "b9", second: "b20"} == taken(verdict(c, "n2"))


def taken(words):
    """Return {claim: volume} from the lines of a verdict that match one with the other."""
    lines = (line.split() for line in words.splitlines() if "would take volume" in line)
    return {line[1]: line[-1] for line in lines}


@both
@pytest.mark.checklist("105", "133")
def test_what_one_pass_found_is_not_used_in_the_next(revision):
    """A disk that is gone when the pod is judged again is not chosen from the memory of the pass before."""
    c = judged(node("n1", "a"), LATE, volume("small", "10Gi", zone="a"), volume("big", "50Gi", zone="a"), claim(),
               pod("app", "data", cpu="9"), revision=revision)
    assert {"data": "small"} == taken(verdict(c, "n1"))
    c.delete("pv/small")
    c.apply(node("n2", "a", cpu="16"))
    c.run("pod/app Running")
    assert "big" == c["pvc/data"].spec.volume_name


@pytest.mark.checklist("111", "112")
def test_the_score_is_that_of_the_remembered_match():
    """Under the document a node scores by how tightly its remembered disk fits: 10 of 12Gi beats 10 of 40Gi."""
    c = judged(node("n1", "a"), node("n2", "b"), LATE, volume("a12", "12Gi", zone="a"), volume("b40", "40Gi", zone="b"),
               claim(), pod("app", "data"))
    found = scores(c, "app", "VolumeBinding")
    assert {"n1": 83, "n2": 25} == {name: int(score[0]) for name, score in found.items()}
    assert ["n1"] == [c.fits("app").chosen]


@pytest.mark.checklist("113")
def test_a_disk_that_exists_beats_one_to_be_made():
    """A node with a matching disk scores above one for which a disk would have to be provisioned."""
    c = judged(node("n1", "a"), node("n2", "b"), storage_class(), volume("a10", zone="a"), claim(), pod("app", "data"),
               **{"disks.example.com": {"kind": "zonal"}})
    found = scores(c, "app", "VolumeBinding")
    assert found["n1"][0] > found["n2"][0]
    assert "claim data would be provisioned for n2" in verdict(c, "n2")


@pytest.mark.checklist("113")
def test_more_disks_that_exist_beat_fewer():
    """Of two claims both find a large disk on one node, one a tight disk on the other: a volume to be made counts nothing."""
    c = judged(node("n1", "a"), node("n2", "b"), storage_class(), volume("a16", "16Gi", zone="a"), volume("a17", "17Gi", zone="a"),
               volume("b10", zone="b"), claim("x"), claim("y"), pod("app", "x", "y"))
    found = {name: score[0] for name, score in scores(c, "app", "VolumeBinding").items()}
    assert {"n1": 60, "n2": 50} == found  # the mean of 62 and 58; the mean of 100 and 0
    assert "n1" == c.fits("app").chosen


@pytest.mark.checklist("114")
def test_the_weight_of_the_volume_score_is_said_and_removes_no_node():
    """The table of scores prints each weight; at the alpha level the score weighs nothing, and every node still fits."""
    objects = [node("n1", "a"), node("n2", "b"), LATE, volume("a12", "12Gi", zone="a"), volume("b40", "40Gi", zone="b"),
               claim(), pod("app", "data")]
    beta, alpha = (judged(*objects, revision=design().matured(level)) for level in ("beta", "alpha"))
    assert "VolumeBinding 83 → 83 × 1 = 83" in beta.scores("app").reading
    assert fits(beta, "app") == fits(alpha, "app") == ["n1", "n2"]
    assert [0, 0] == [score[2] for score in scores(alpha, "app", "VolumeBinding").values()] or not scores(
        alpha, "app", "VolumeBinding")


@both
@pytest.mark.checklist("78", "115", "117")
def test_a_match_is_assumed_before_it_is_written(revision):
    """After the pass the scheduler remembers the volume as reserved; the API server has heard nothing of it yet."""
    c = judged(node("n1"), LATE, volume(), claim(), pod("app", "data"), revision=revision)
    assert "kube-scheduler pv/disk assumed: none → reserved for data" in c.changes().reading
    assert c["pv/disk"].spec.claim_ref is None
    writes = [turn.words for turn in c.next if turn.actor == "bind worker"]
    assert 1 == len(writes)
    c.step("bind worker")
    assert "data" == c["pv/disk"].spec.claim_ref.name


@pytest.mark.checklist("78", "119")
def test_the_design_queues_a_pod_for_binding_and_goes_on_with_others():
    """Under the design the pod waits in a queue for volume binding, not assumed; the next pod is judged before any write."""
    c = scenario("two-replicas", "design")
    assert "queues the pod for binding; the pod itself is not assumed" in str(c.step("scheduler"))
    assert "kube-scheduler pvc/data-web-0 assumed: none → selected-node node-a" in c.changes().reading
    assert "Scheduler judges web-1" in str(c.step("scheduler"))
    assert [] == list(c.requests())
    c.step("bind worker")
    assert "persistentvolumeclaims" == next(iter(c.requests())).resource


@pytest.mark.checklist("116")
@pytest.mark.parametrize(("rules", "words"), [
    ("design", 'AssumePodVolumes failed: v1.PersistentVolumeClaim "default/my-pvc" is out of sync'),
    ("upstream", 'running Reserve plugin "VolumeBinding": "default/my-pvc" is out of sync (stored:'),
])  # fmt: skip
def test_a_claim_that_changed_since_it_was_chosen_is_not_assumed(rules, words):
    """Between choosing and assuming, in the fine gear, the claim changes: the pass errs, and the next one succeeds."""
    c = scenario("zonal-example", rules, **{"kube-scheduler": {"fine": True}})
    c.step("scheduling pass", turns=True)
    c.label("pvc/my-pvc", "a=b")
    c.step("scheduling pass", turns=True)
    assert "SchedulerError" == c["pod/my-pod"].status.condition("PodScheduled").reason
    assert any(event.message.startswith(words) for event in c.objects("events"))
    c.run("pod/my-pod Running")


def bound_in_mid_pass(revision, **dials):
    """Run a pod whose claim somebody else binds, in the other zone, between the choice of its node and the assume step."""
    c = cluster(node("n1", "a"), node("n2", "b"), LATE, volume("near", "10Gi", zone="a"), volume("far", "50Gi", zone="b"),
                claim(), pod("app", "data", nodeSelector={} if revision == "design" else {HOST: "n1"}), revision=revision,
                **{"kube-scheduler": {"fine": True, **dials}})
    c.step("scheduling pass", turns=True)
    assert "n1" == c.fits("app").chosen
    c.patch("pv/far", {"spec": {"claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
                                             "name": "data"}}})
    while c["pvc/data"].status.phase != "Bound":
        assert c.step("PV controller")
    c.run(seconds=60)
    return c


@both
@pytest.mark.checklist("131")
def test_a_claim_bound_in_mid_pass_sends_the_pod_where_its_volume_is_not(revision):
    """1.11 and today's scheduler see all claims bound and assume the pod: its node was not judged by this volume."""
    c = bound_in_mid_pass(revision)
    assert (["n1"], 1) == (where(c, "app"), len(c.passes("app")))
    assert "Pending" == c["pod/app"].status.phase
    assert any("NodeAffinity" in text or "node affinity" in text for text in events(c, "app", "FailedMount"))


@pytest.mark.checklist("131")
def test_with_the_note_of_the_document_a_second_pass_runs_all_volume_predicates():
    """The document's cure, a dial: that not all claims were bound when the pass began is noted, and the pod is judged again."""
    c = bound_in_mid_pass("design", judges_again=True)
    assert [("n1", "2 of 2 nodes fit"), ("n2", "1 of 2 nodes fit")] == [(row.node, row.fit) for row in c.passes("app")]
    assert (["n2"], "Running") == (where(c, "app"), c["pod/app"].status.phase)


@both
@pytest.mark.checklist("132")
def test_an_informers_update_overrides_what_was_assumed(revision):
    """A reserved volume that somebody else takes is seen as theirs: the assumption is dropped, the write refused."""
    c = judged(node("n1"), LATE, volume(), volume("other", "20Gi"), claim(), pod("app", "data"), revision=revision)
    assert "pv/disk assumed" in c.changes().reading
    c.patch("pv/disk", {"spec": {"claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
                                              "name": "theirs"}}})
    c.run("pod/app Running")
    assert "other" == c["pvc/data"].spec.volume_name


@both
@pytest.mark.checklist("132")
def test_predicates_read_the_assumed_volume(revision):
    """A second pod does not take the disk that is only assumed for the first one."""
    c = judged(node("n1"), LATE, volume("v10"), volume("v20", "20Gi"), claim("x"), claim("y"),
               pod("app", "x"), pod("next", "y"), revision=revision)
    c.step("scheduler")
    assert "pv/v20 assumed: none → reserved for y" in c.changes().reading
    c.run("pod/next Running")
    assert ["v10", "v20"] == [c[f"pvc/{name}"].spec.volume_name for name in "xy"]


@both
@pytest.mark.checklist("132")
def test_a_refused_write_restores_the_real_object(revision):
    """After the API server refused the reservation the volume counts as free again, and the next pass takes it."""
    c = judged(node("n1"), LATE, volume(), claim(), pod("app", "data"), revision=revision)
    c.refuse("scheduler", 1)
    c.run(lambda of: of["pv/disk"].spec.claim_ref is not None or len(of.passes("app")) > 1)
    c.run("pod/app Running")
    assert "disk" == c["pvc/data"].spec.volume_name
    assert 409 in {request.code for request in c.requests()}


@both
@pytest.mark.checklist("100", "258")
def test_one_order_of_plugins_decides_which_reason_is_told(revision):
    """A node that several plugins reject is counted under the first of the profile's order, in every run."""
    made = [node("n1", taints=["x"], labels={"keep": "out"}), pod("other", node_name="n1", labels={"app": "x"})]
    wanted = pod("app", "data", nodeSelector={"keep": "in"}, affinity=apart(HOST, app="x"))
    runs = [judged(*made, LATE, claim(), wanted, revision=revision, seed=seed) for seed in range(4)]
    assert 1 == len({message(c, "app") for c in runs})
    first = {"design": "NodeAffinity", "upstream": "TaintToleration"}[revision]  # as docs/documents.md lists them
    assert {first} == {c.fits("app").rejected["n1"][0] for c in runs}
    assert 1 == len({tuple(c.fits("app").rejected["n1"]) for c in runs})
    assert [[""]] * 4 == [where(c, "app") for c in runs]


@pytest.mark.checklist("143k", "143l")
@pytest.mark.parametrize(("sizes", "changed"), [((10, 10), False), ((10, 40), True)])
def test_the_priority_changes_the_order_only_if_the_sizes_differ(sizes, changed):
    """Disks of one size score alike, so the rest decides; with a tighter disk on one node that node is ahead."""
    disks = [volume(f"disk-{zone}", f"{size}Gi", zone=zone) for zone, size in zip("ab", sizes, strict=True)]
    c = judged(node("n1", "a"), node("n2", "b"), LATE, *disks, claim(), pod("app", "data"))
    first, second = (score[0] for _, score in sorted(scores(c, "app", "VolumeBinding").items()))
    assert changed == (first > second)
    assert first >= second


@both
@pytest.mark.checklist("259")
def test_every_decision_can_be_explained_after_the_run(revision):
    """After the run: for each node pass or fail and the reason, the volume it would take, and the parts of its score."""
    objects = [node("n1", "a"), node("n2", "b"), node("n3", "b", taints=["x"]), LATE, volume("a10", zone="a"),
               volume("b20", "20Gi", zone="b"), claim(), pod("app", "data")]
    c = cluster(*objects, revision=revision)
    c.run("pod/app Running")
    c.goto(1)
    found = c.fits("app")
    assert (["n1", "n2"], ["n3"]) == (list(found), list(found.rejected))
    assert "taint" in found.rejected["n3"][1]
    assert {"data": "a10"} == taken(verdict(c, "n1"))
    assert {"data": "b20"} == taken(verdict(c, "n2"))
    assert {"n1", "n2"} == set(found.scores)
    assert "TaintToleration" in c.scores("app").reading

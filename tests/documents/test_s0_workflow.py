"""S0's and S1's workflow sentence by sentence: who writes what, what is assumed, what is taken back, who may do it."""

import pytest
from documents.clusters import cluster, events, message, reach, where
from manifests import HOST, LOCAL, ZONE, claim, disk, node, pod, storage_class, volume

from kvolsched import alternatives, design, draft

both = pytest.mark.parametrize("revision", ["design", "upstream"])
SELECTED = "volume.alpha.kubernetes.io/selectedNode"
DRIVER, IN_TREE = "disks.example.com", "kubernetes.io/gce-pd"
REGION = "topology.kubernetes.io/region"
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"


def local(*objects, revision="design", **components):
    """Return a cluster with a class of local disks that waits."""
    return cluster(storage_class("local", LOCAL), *objects, revision=revision, **components)


def wants(name="data", size="10Gi"):
    """Return a claim of the class of local disks."""
    return claim(name, size, storage_class="local")


# -- steps 1 to 11 -----------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("74", "75", "81")
def test_the_workflow_in_the_documents_order(revision):
    """An administrator, then a claim, then a pod: the claim waits for the pod, and the kubelet starts it at the end."""
    c = cluster(node("n1"), revision=revision)
    c.apply(storage_class("local", LOCAL), disk("d", "n1"))
    c.run(seconds=60)
    c.apply(wants())
    c.run(seconds=600)
    assert ("Pending", None) == (c["pvc/data"].status.phase, c["pv/d"].spec.claim_ref)
    c.apply(pod("app", "data"))
    c.run("pod/app Running")
    assert ("Bound", "d", ["n1"]) == (c["pvc/data"].status.phase, c["pvc/data"].spec.volume_name, where(c, "app"))
    assert "kubelet" in [row.actor for row in c.story("pod/app")][-1].lower()


@pytest.mark.parametrize(("revision", "second"), [("design", ["n1"]), ("draft", ["n1"]), ("upstream", [""])])
@pytest.mark.checklist("79")
def test_while_volumes_are_bound_the_pod_is_not_assumed(revision, second):
    """The room of a pod whose volumes are being bound is free for the next one, and then it has none; today it is taken."""
    c = local(node("n1", cpu="4"), disk("d", "n1"), wants(), pod("app", "data", cpu="3"), pod("other", cpu="3"),
              revision=revision)
    c.step("scheduling pass")
    c.step("scheduling pass")
    c.run(seconds=60)
    assert (second, "Bound") == (where(c, "other"), c["pvc/data"].status.phase)
    assert (["n1"] if second == [""] else [""]) == where(c, "app")


@pytest.mark.parametrize("revision", ["design", "draft"])
@pytest.mark.checklist("82", "93")
def test_the_scheduler_prebinds_as_the_controller_does(revision):
    """Scheduler and controller reserve a volume with the same claimRef and annotation; volumeName is the controller's."""
    reserved = []
    for waits in (True, False):
        c = cluster(node("n1"), storage_class("local", LOCAL, waits=waits), disk("d", "n1"), wants(), pod("app", "data"),
                    revision=revision)
        while c["pv/d"].spec.claim_ref is None:
            assert c.step(turns=True)
        found = c["pv/d"]
        reserved.append((found.spec.claim_ref.name, found.spec.claim_ref.uid == c["pvc/data"].metadata.uid,
                         dict(found.metadata.annotations)))
        assert "" == c["pvc/data"].spec.volume_name
        c.run("pod/app Running")
        named = [row.words for row in c.story("pvc/data") if "spec.volumeName: d" in row.changed]
        assert ["PV controller sets the volumeName of pvc/data to d"] == named
    assert reserved[0] == reserved[1] == ("data", True, {"pv.kubernetes.io/bound-by-controller": "yes"})


# -- the provisioner and the controller --------------------------------------------------------------------------------


@pytest.mark.parametrize(("provisioner", "source"), [(IN_TREE, "persistentvolume-controller"), (DRIVER, DRIVER)])
@pytest.mark.checklist("90", "91")
def test_who_takes_the_selected_node_back(provisioner, source):
    """After a failure the annotation is removed: in-tree by the controller's plugin, outside by the provisioner itself."""
    c = cluster(node("a1", "a"), node("b1", "b"), storage_class(provisioner=provisioner), claim(), pod("app", "data"),
                **{provisioner: {"kind": "zonal", "fails": [{"times": 1}]}})
    c.run("pod/app Running")
    removed, = [row for row in c.story("pvc/data")
                if any(f"annotations[{SELECTED}]: " in change and change.endswith("→ none") for change in row.changed)]
    assert f"{provisioner} provisioner" == removed.actor
    failed, = [each for each in c.objects("events") if each.reason == "ProvisioningFailed"]
    assert source == failed.source.component.partition("_")[0]
    chosen = [row.node for row in c.passes("app")]
    assert len(chosen) >= 3  # chosen, chosen again after the failure, bound
    assert chosen[-1] == where(c, "app")[0]


@pytest.mark.parametrize("provisioner", [IN_TREE, DRIVER])
@pytest.mark.checklist("60", "96")
def test_a_driver_of_one_zone_goes_by_the_node_alone(provisioner):
    """With a selected node a disk of one zone lies there, whatever the claim's name and the rest of the list say."""
    nodes = [node("a1", "a"), node("b1", "b")]
    for name in ("x-0", "x-1", "x-2", "x-3"):
        c = cluster(*nodes, storage_class(provisioner=provisioner, allowed=[{ZONE: ["a", "b"]}]), claim(name),
                    pod("app", name, nodeSelector={ZONE: "b"}))
        c.run("pod/app Running")
        assert [{ZONE: ["b"]}] == reach(c, name)
    if provisioner == IN_TREE:  # even a node that the class does not allow, selected by hand, decides
        c = cluster(*nodes, storage_class(provisioner=provisioner, allowed=[{ZONE: ["b"]}]),
                    claim(annotations={SELECTED: "a1"}))
        c.run("pvc/data Bound", seconds=60)
        assert [{ZONE: ["a"]}] == reach(c, "data")


@pytest.mark.parametrize("provisioner", [IN_TREE, DRIVER])
@pytest.mark.checklist("96")
def test_a_driver_of_two_zones_takes_the_other_from_the_list(provisioner):
    """A regional disk for a selected node: its zone and, of the remaining domains, one that the class allows."""
    nodes = [node(f"{zone}1", zone, labels={REGION: "r"}) for zone in "abcd"]
    for other in "bcd":
        c = cluster(*nodes, storage_class(provisioner=provisioner, parameters={"replication-type": "regional-pd"},
                                          allowed=[{ZONE: ["a", other]}]), claim(), pod("app", "data", nodeSelector={ZONE: "a"}))
        c.run("pod/app Running")
        assert {"a", other} == set(reach(c, "data")[0][ZONE])


# -- predicate ---------------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("104")
def test_a_volume_chosen_for_one_claim_is_not_offered_to_the_next(revision):
    """Two claims of one size and one disk: the node is refused; with a second disk each claim has its own."""
    made = [node("n1"), disk("d", "n1"), wants("one"), wants("two"), pod("app", "one", "two")]
    few = local(*made, revision=revision)
    few.run(seconds=60)
    assert (f"1 {NO_VOLUME}" in message(few, "app"), None) == (True, few["pv/d"].spec.claim_ref)
    many = local(*made, disk("e", "n1", "12Gi"), revision=revision)
    many.step("scheduling pass")
    assumed = " ".join(many.changes().reading.split())
    assert all(f"pv/{name} assumed: none → reserved for " in assumed for name in "de")
    many.run("pod/app Running")
    assert {"d", "e"} == {many[f"pvc/{name}"].spec.volume_name for name in ("one", "two")}
    assert {200, 201} == {request.code for request in many.requests()}  # no write was refused on the way


@pytest.mark.checklist("135")
def test_a_search_that_found_nothing_is_not_repeated():
    """S1: if no volume of the class has an affinity, a failed search on the first node is the answer for all."""
    visits = {}
    for index in ("none", "class"):
        c = local(*(node(f"n{n}") for n in range(5)), *(volume(f"d{n}", "1Gi", "local") for n in range(3)), wants(),
                  pod("app", "data"), revision=design().with_volume_index(index))
        c.step("scheduler")
        assert f"5 {NO_VOLUME}" in message(c, "app")
        visits[index] = c.visits().of("scheduler")
    assert {"none": 15, "class": 3} == visits


# -- bind --------------------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("121", "132")
def test_a_failed_prebind_frees_the_volume_for_others(revision):
    """The assumed reservation is taken back when its write fails: another pod takes the volume though the first is there."""
    c = local(node("n1"), disk("d", "n1"), wants(), pod("app", "data"), revision=revision)
    c.step("scheduling pass")
    c.refuse("scheduler", 1 if revision == "design" else 2)  # today the first write is the pod's nomination
    while c["pv/d"].spec.claim_ref is None and "→ none" not in c.changes().reading:
        assert c.step("bind worker", turns=True)
    assert "pv/d assumed: reserved for data → none" in c.changes().reading
    c.apply(wants("late"), pod("next", "late"))
    c.run("pod/next Running", seconds=0.9)  # before the first pod's back-off ends
    assert ("d", "Pending") == (c["pvc/late"].spec.volume_name, c["pvc/data"].status.phase)


@pytest.mark.parametrize("revision", ["design", "draft", "upstream"])
@pytest.mark.checklist("125")
def test_without_the_permission_to_update_claims_nothing_is_provisioned(revision):
    """The scheduler triggers provisioning by an update of the claim; forbidden, the pod hears it and no volume is made."""
    c = cluster(node("a1", "a"), storage_class(), claim(), pod("app", "data"), revision=revision,
                **{"kube-scheduler": {"denied": ["update persistentvolumeclaims"]}})
    c.run(seconds=60)
    words = 'User "system:kube-scheduler" cannot update resource "persistentvolumeclaims"'
    assert any(words in each for each in events(c, "app", "FailedScheduling"))
    assert ([], "Pending", [""]) == (c.objects("pv"), c["pvc/data"].status.phase, where(c, "app"))


@pytest.mark.parametrize("revision", ["design", "draft"])
@pytest.mark.checklist("120")
def test_one_queue_or_a_goroutine_for_each_pod(revision):
    """S0's worker serves its queue in order; in S1 each pod has a goroutine, and the later one may write first."""
    c = local(node("n1"), disk("d", "n1"), disk("e", "n1"), wants("one"), wants("two"), pod("p", "one"), pod("q", "two"),
              revision=revision)
    c.step("scheduling pass")
    c.step("scheduling pass")

    def overtaken(objects):
        return ["two"] == [each.spec.claim_ref.name for each in objects.values()
                           if each.kind == "PersistentVolume" and each.spec.claim_ref is not None]

    found = c.explore(until=overtaken, lag="none", progress=False)
    assert (revision == "draft") == bool(found)
    assert found or found.exhausted


# -- preemption, custom schedulers, packaging --------------------------------------------------------------------------


@pytest.mark.parametrize("revision", ["upstream", "design", "draft"])
@pytest.mark.checklist("126")
def test_a_pod_that_uses_the_only_volume_is_not_evicted_for_it(revision):
    """The volume outlives its pod: evicting who uses it would free nothing, so nobody is evicted."""
    c = local(node("n1"), disk("d", "n1"), wants("theirs"), pod("low", "theirs", cpu="3"), HIGH, revision=revision)
    c.run("pod/low Running")
    c.apply(wants(), pod("high", "data", cpu="3", priorityClassName="high"))
    c.run(seconds=60)
    assert ("Running", [""]) == (c["pod/low"].status.phase, where(c, "high"))
    c.apply(pod("free", cpu="3", priorityClassName="high"))  # the same without a claim does evict
    c.run("pod/free Running", seconds=120)
    assert "pod/low" not in c


@both
@pytest.mark.checklist("139")
def test_custom_logic_beside_the_default_scheduler(revision):
    """A filter of one's own runs in addition: the default scheduler binds the volume on the node that both allow."""
    made = [node("n1"), node("n2"), node("n3"), disk("d1", "n1"), disk("d2", "n2"), wants(), pod("app", "data")]
    c = local(*made, revision=revision).with_plugin(lambda _pod, on, _seen: on.metadata.name != "n1" or "not there", name="Mine")
    c.run("pod/app Running")
    assert (["n2"], "d2") == (where(c, "app"), c["pvc/data"].spec.volume_name)


@pytest.mark.checklist("141a")
def test_one_function_at_the_end_walks_the_volumes_less_often():
    """The reason for the one function: fewer passes over all volumes than a predicate that asks for every node."""
    visits = {}
    for rules in ("single_function", "design"):
        c = local(*(node(f"n{n}") for n in range(4)), *(disk(f"d{n}", f"n{n}") for n in range(4)), wants(), pod("app", "data"),
                  revision=alternatives.single_function().with_volume_index("none") if rules == "single_function"
                  else design().with_volume_index("none"))
        c.run("pod/app Running")
        visits[rules] = c.passes("app")[0].visits
    assert {"single_function": 4, "design": 16} == visits


# -- gates -------------------------------------------------------------------------------------------------------------


@pytest.mark.checklist("71")
def test_the_gate_must_be_set_in_all_kubelets():
    """A kubelet without the gate mounts what its node does not reach; the others refuse: it must be set in all of them."""
    rules = design().with_gates({"kube-scheduler": {"VolumeScheduling": False}, "kubelet/n1": {"VolumeScheduling": False}})
    ends = {}
    for name in ("n1", "n2"):
        c = local(node("n1"), node("n2"), node("n3"), disk("d", "n3", bound="data"), claim(storage_class="local", bound="d"),
                  pod("app", "data", nodeSelector={HOST: name}), revision=rules)
        c.run(seconds=60)
        ends[name] = c["pod/app"].status.phase, bool(events(c, "app", "FailedMount"))
    assert {"n1": ("Running", False), "n2": ("Pending", True)} == ends


@pytest.mark.checklist("71", "73")
def test_the_drafts_gate_in_every_combination():
    """S1's one gate in scheduler and manager: bound early or for the pod, stuck only if the controller alone is newer."""
    ends = {}
    for scheduler in (True, False):
        for manager in (True, False):
            rules = draft().with_gates({"kube-scheduler": {"VolumeScheduling": scheduler},
                                        "kube-controller-manager": {"VolumeScheduling": manager}})
            c = local(node("n1"), disk("d", "n1"), wants(), revision=rules)
            c.run(seconds=60)
            early = c["pvc/data"].status.phase
            c.apply(pod("app", "data"))
            c.run(seconds=60)
            ends[scheduler, manager] = early, c["pod/app"].status.phase
    assert {(True, True): ("Pending", "Running"), (True, False): ("Bound", "Running"),
            (False, True): ("Pending", "Pending"), (False, False): ("Bound", "Running")} == ends

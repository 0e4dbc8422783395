"""Storage capacity (S2): what drivers tell in their status, how the scheduler looks it up, and what it cannot know."""

import re

import pytest
import yaml
from documents.clusters import QUIET, cluster, events, fits, message, reach, refusal, where
from manifests import HOST, RACK, ZONE, claim, node, node_selector, pod, storage_class, volume

from kvolsched import ManifestError
from kvolsched.rules.named import revision_named

DRIVER = "disks.example.com"
NO_ROOM = "node(s) did not have enough free storage"
NODES = [node("a1", "a", labels={RACK: "r1"}), node("a2", "a", labels={RACK: "r2"}),
         node("b1", "b", labels={RACK: "r1"})]


def pool(name, capacity=None, *, nodes=(), topology=None, expires=None):
    """A pool: reached by named nodes, by those of terms {key: values}, or by all."""
    made = {"name": name}
    if capacity is not None:
        made["capacity"] = capacity
    if nodes:
        made["nodeList"] = list(nodes)
    if topology is not None:
        made["nodeTopology"] = node_selector(topology)
    if expires:
        made["expiryTime"] = expires
    return made


def driver(tracking=True, name=DRIVER, **entries):  # noqa: FBT002
    """A driver with entries {class: pools}; `ephemeral` and `fallback` stand for the special names."""
    special = {"ephemeral": "<ephemeral>", "fallback": "<fallback>"}
    made = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name}, "spec": {},
            "status": {"storage": [{"storageClassName": special.get(of, of), "pools": pools}
                                   for of, pools in entries.items()]}}
    if tracking is not None:
        made["spec"]["capacityTracking"] = tracking
    return made


def inline(name, size, by=DRIVER, **spec):
    """A pod with an inline volume of a size."""
    source = {"driver": by, **({"fsSize": size} if size is not None else {})}
    return pod(name, **{"volumes": [{"name": "scratch", "csi": source}], **spec})


def asked(told, size="10Gi", of="late", *, nodes=NODES, classes=None, gates=None, seconds=30):
    """A cluster whose driver tells this, after a pod with a claim of this size was looked at."""
    rules = revision_named("design")
    c = cluster(*nodes, *(classes or [storage_class()]), *([told] if told else []), claim("data", size, of),
                revision=rules.with_gates(gates) if gates else rules, **QUIET)
    c.apply(pod("app", "data"))
    c.run("pod/app scheduled", seconds=seconds)
    return c


def first_fits(c, name="app"):
    """The nodes that fitted in a pod's first pass."""
    back = c.fork()
    back.goto(c.passes(name)[0].step)
    return fits(back, name)


# -- fields ------------------------------------------------------------------------------------------------------------


@pytest.mark.checklist("147", "146")
def test_a_driver_says_that_it_tracks():
    """Only capacityTracking: true makes the scheduler look; false, nothing, or the gate off and it goes as before."""
    full = {"late": [pool("p", "1Gi")]}
    assert [] == first_fits(asked(driver(True, **full)))
    everywhere = ["a1", "a2", "b1"]
    for told in (driver(False, **full), driver(None, **full), None):
        assert everywhere == first_fits(asked(told))
    assert everywhere == first_fits(asked(driver(True, **full), gates={"kube-scheduler": {"CSIStorageCapacity": False}}))


@pytest.mark.checklist("148", "149", "150", "152", "153", "155")
def test_what_may_stand_in_a_drivers_status():
    """Classes once, by their names or the two special ones; pools once, by list or selector, nobody listed twice."""
    c = cluster()

    def said(**entries):
        return refusal(c.apply, driver(**entries))

    assert 'status.storage[0].pools[1].name: Duplicate value: "p"' in said(late=[pool("p"), pool("p", "1Gi")])
    both = {**pool("p", nodes=["a1"]), "nodeTopology": node_selector({ZONE: ["a"]})}
    assert "pools[0].nodeList: Forbidden: may not be set beside nodeTopology" in said(late=[both])
    assert 'pools[0].nodeList[1]: Duplicate value: "a1"' in said(late=[pool("p", nodes=["a1", "a1"])])
    assert "pools[0].capacity: Invalid value" in said(late=[pool("p", "-1")])
    assert "pools[0].name: Required value" in said(late=[pool("")])
    assert "storage[0].storageClassName: Invalid value" in said(**{"<other>": []})
    twice = driver(late=[])
    twice["status"]["storage"] *= 2
    assert 'status.storage[1].storageClassName: Duplicate value: "late"' in refusal(c.apply, twice)
    with pytest.raises(ManifestError, match=r"status.storage\[0\].pools\[0\].colour: unknown field"):
        c.apply(driver(late=[{**pool("p"), "colour": "red"}]))
    whole = [pool("p", "1Gi", nodes=["a1"], expires="2030-01-01T00:00:00Z"), pool("q", topology={ZONE: ["a"]})]
    assert "" == said(ephemeral=[pool("p")], fallback=[pool("p")], late=whole)
    assert whole == yaml.safe_load(c.manifests(f"csidriver/{DRIVER}"))["status"]["storage"][2]["pools"]


@pytest.mark.checklist("146", "186")
def test_the_gate_is_switched_on_and_off_in_a_running_cluster():
    """API server first, then scheduler: in between nothing is checked; off again, what is stored keeps nobody waiting."""
    def tried(name):
        c.apply(claim(name), pod(name, name))
        c.run(f"pvc/{name} Bound", seconds=20)
        return len(first_fits(c, name)), capacities(c)

    def gates(server, scheduler):
        return {"kube-apiserver": {"CSIStorageCapacity": server}, "kube-scheduler": {"CSIStorageCapacity": scheduler}}

    told = driver(late=[pool("p", "1Gi")])
    c = cluster(*NODES, storage_class(), revision=revision_named("design").with_gates(gates(False, False)), **QUIET)
    c.apply(told)
    assert (3, {}) == tried("before")
    assert c[f"csidriver/{DRIVER}"].spec.capacity_tracking is None
    c.upgrade(gates(True, False))
    c.apply(told)
    patch_pool(c, "p", "1Gi")
    assert (3, {"p": "1Gi"}) == tried("skewed")
    c.upgrade(gates(True, True))
    assert (0, {"p": "1Gi"}) == tried("tracked")
    c.upgrade(gates(True, False))
    assert (3, {"p": "1Gi"}) == tried("after")


# -- the lookup --------------------------------------------------------------------------------------------------------

TWO = [storage_class("late"), storage_class("other")]


@pytest.mark.parametrize(("entries", "of", "fit"), [
    ({"late": [pool("p", "10Gi")]}, "late", "a1 a2 b1"),
    ({"fallback": [pool("p", "10Gi")]}, "late", "a1 a2 b1"),
    ({"late": [pool("p", "9Gi")], "fallback": [pool("p", "1Ti")]}, "late", ""),  # the specific entry decides
    ({"late": [pool("p", "9Gi")], "fallback": [pool("p", "1Ti")]}, "other", "a1 a2 b1"),
    ({"late": [], "fallback": [pool("p", "1Ti")]}, "late", ""),
    ({"other": [pool("p", "1Ti")]}, "late", ""),  # tracked, and nothing told of the class
    ({"late": [pool("x", "5Gi"), pool("y", "10Gi", nodes=["a2"])]}, "late", "a2"),
    ({"late": [pool("zone", "10Gi", topology={ZONE: ["a"]})]}, "late", "a1 a2"),
    ({"late": [pool("rack", "10Gi", topology={RACK: ["r1"]})]}, "late", "a1 b1"),
    ({"late": [pool("both", "10Gi", topology={RACK: ["r1"], ZONE: ["b"]})]}, "late", "b1"),
    ({"late": [pool("p", None)]}, "late", ""),  # not known is not enough
])
@pytest.mark.checklist("151", "152", "154", "155", "156", "174", "176", "177", "186")
def test_which_nodes_have_room(entries, of, fit):
    """Driver, entry for the class or else the fallback, pools that the node reaches: one of them is large enough."""
    c = asked(driver(**entries), of=of, classes=TWO)
    assert fit.split() == first_fits(c)
    assert bool(fit) == bool(where(c, "app")[0])
    if not fit:
        assert f"0/3 nodes are available: 3 {NO_ROOM}." in message(c, "app")


@pytest.mark.parametrize(("size", "fit"), [("10Gi", True), ("10737418241", False), ("1", True)])
@pytest.mark.checklist("156", "186")
def test_a_volume_of_just_the_capacity_fits(size, fit):
    """A request equal to the capacity fits, one byte more does not."""
    assert fit == bool(first_fits(asked(driver(late=[pool("p", "10Gi")]), size)))


@pytest.mark.checklist("154", "177", "186")
def test_zero_one_and_several_suitable_nodes():
    """Pools of a node, of a zone and of the cluster: none, one, two or all nodes fit."""
    for pools, fit in (([pool("p", "1Gi")], []), ([pool("p", "1Ti", nodes=["b1"])], ["b1"]),
                       ([pool("p", "1Ti", topology={ZONE: ["a"]})], ["a1", "a2"]), ([pool("p", "1Ti")], ["a1", "a2", "b1"]),
                       ([pool("p", "1Ti", nodes=["b1"]), pool("q", "1Ti", topology={RACK: ["r2"]})], ["a2", "b1"])):
        assert fit == first_fits(asked(driver(late=pools)))


@pytest.mark.checklist("155")
def test_the_topology_of_a_pool_is_a_node_selector():
    """All of its operators over labels of nodes; the expressions of a term are ANDed, the terms ORed."""
    def terms(*terms):
        return {"name": "p", "capacity": "1Ti", "nodeTopology": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": key, "operator": how, **({"values": values} if values else {})}
                                  for key, how, values in term]} for term in terms]}}

    for topology, fit in ((terms([(ZONE, "NotIn", ["a"])]), "b1"), (terms([(RACK, "Exists", [])]), "a1 a2 b1"),
                          (terms([(RACK, "DoesNotExist", [])]), ""),
                          (terms([(ZONE, "In", ["a"]), (RACK, "NotIn", ["r1"])]), "a2"),
                          (terms([(ZONE, "In", ["b"])], [(RACK, "In", ["r2"])]), "a2 b1")):
        assert fit.split() == first_fits(asked(driver(late=[topology])))


@pytest.mark.checklist("157", "186")
def test_an_entry_expires():
    """A pool whose time has come is ignored from that moment on; without a time it is valid for ever."""
    def at(expires, later):
        c = cluster(*NODES, storage_class(), driver(late=[pool("p", "1Ti", expires=expires)]), pod("first"),
                    claim("data"), **QUIET)
        c.run(lambda it: it.now >= later, seconds=later + 700)
        c.apply(pod("app", "data"), pod("again"))
        c.run(seconds=20)
        return bool(first_fits(c))

    assert (True, False) == (at("2026-01-01T01:00:00Z", 0), at("2025-12-31T23:59:59Z", 0))
    assert (True, True) == (at(None, 0), at("2026-01-01T02:00:00+01:00", 0))


@pytest.mark.checklist("157")
def test_an_entry_expires_between_two_pods():
    """The same pool serves a pod before its time and, when the first volume was long in the making, none after it."""
    c = cluster(*NODES, storage_class(), driver(late=[pool("p", "1Ti", expires="2026-01-01T00:01:00Z")]),
                claim("one"), claim("two"), pod("app-1", "one"), **{DRIVER: {"delay": 90.0}}, **QUIET)
    c.run("pod/app-1 scheduled")
    assert c.now >= 90
    c.apply(pod("app-2", "two"))
    c.run(seconds=30)
    assert (["a1", "a2", "b1"], []) == (first_fits(c, "app-1"), first_fits(c, "app-2"))
    assert f"0/3 nodes are available: 3 {NO_ROOM}." in message(c, "app-2")


@pytest.mark.checklist("157")
def test_every_question_judges_at_its_own_moment():
    """Of a pool whose time has come nobody says that it serves a pod: not why, fix and fits, nor the pictures of it."""
    c = cluster(*NODES, storage_class(), driver(late=[pool("p", "1Ti", expires="2026-01-01T00:01:00Z")]),
                claim("data"), **{"kube-scheduler": {"absent": True}}, **QUIET)
    c.apply(pod("app", "data"))
    before, offers = c.why("app"), str(c.fix("app"))
    assert "rule ✓" in c.capacity("app").reading
    c.wait(120)
    after, fixes = c.why("app"), str(c.fix("app"))
    assert "3 of 3 nodes would take it" in before.headline
    assert f"0/3 nodes are available: 3 {NO_ROOM}." == after.sentence
    assert (True, False) == ("nothing to fix" in offers, "nothing to fix" in fixes)
    assert "no pool of the driver serves claim data, which asks for 10Gi" in str(c.why())
    assert "rule ✕ expired" in c.capacity("app").reading
    c.goto(1)
    assert before == c.why("app")


@pytest.mark.checklist("147", "148", "161", "184")
def test_kubernetes_knows_none_of_the_fields():
    """Its API server drops them, whoever writes them, and warns of each; other rules know them again."""
    warnings = ['unknown field "spec.capacityTracking"', 'unknown field "status"', 'unknown field "spec.volumes[0].csi.fsSize"']
    made = [driver(late=[pool("p", "1Ti")]), inline("scratch", "1Gi")]
    loaded, applied = cluster(*NODES, *made, revision="upstream"), cluster(*NODES, revision="upstream")
    said = applied.apply(*made)
    assert [f"Warning: {each}" for each in warnings] == list(said.lines[:3]) == list(said.warnings)
    for c in (loaded, applied):
        told = c[f"csidriver/{DRIVER}"]
        assert (None, (), None) == (told.spec.capacity_tracking, told.status.storage, c["scratch"].spec.volumes[0].csi.fs_size)
    assert [f"csidriver/{DRIVER}: {each}" for each in warnings[:2]] == [words.strip(" -") for words in repr(loaded).splitlines()[1:3]]
    assert f"pod/scratch: {warnings[2]}" in repr(loaded)
    change = {"spec": {"capacityTracking": True}}
    assert (f"Warning: {warnings[0]}",) == loaded.patch(f"csidriver/{DRIVER}", change).warnings
    assert loaded[f"csidriver/{DRIVER}"].spec.capacity_tracking is None
    design = loaded.under("design")
    assert ("1Ti", "1Gi") == (design[f"csidriver/{DRIVER}"].status.storage[0].pools[0].capacity,
                              design["scratch"].spec.volumes[0].csi.fs_size)
    assert () == design.patch(f"csidriver/{DRIVER}", change).warnings
    assert warnings[1] in repr(design.under("upstream"))


def test_what_another_server_stored_goes_with_the_next_write():
    """After an upgrade the server drops the fields of what it stored before: a user's patch, a kubelet's, a binding."""
    c = cluster(*NODES, driver(late=[pool("p", "1Ti")]), inline("scratch", "1Gi"), revision="design")
    c.run()
    waiting = cluster(*NODES, inline("scratch", "1Gi"), revision="design")
    for each in (c, waiting):
        each.upgrade("upstream")
    said = c.patch("scratch", {"metadata": {"labels": {"a": "b"}}})
    driver_said = c.patch(f"csidriver/{DRIVER}", {"metadata": {"labels": {"a": "b"}}})
    waiting.run()
    assert ((), ()) == (said.warnings, driver_said.warnings)
    assert (None, None) == tuple(each["scratch"].spec.volumes[0].csi.fs_size for each in (c, waiting))
    assert (None, ()) == (c[f"csidriver/{DRIVER}"].spec.capacity_tracking, c[f"csidriver/{DRIVER}"].status.storage)


@pytest.mark.checklist("174", "181")
def test_only_what_is_yet_to_be_made_is_asked_about():
    """Bound claims, claims that find a disk, and claims of a class that binds at once are not asked about."""
    nothing = driver(late=[], early=[])
    bound = asked_bound(nothing)
    assert ["a1", "a2", "b1"] == first_fits(bound)
    local = cluster(*NODES, storage_class(), nothing, volume("disk", "10Gi", "late", {HOST: ["a2"]}), claim("data"),
                    pod("app", "data"), **QUIET)
    local.run("pod/app scheduled", seconds=30)
    assert ["a2"] == first_fits(local)
    early = cluster(*NODES, storage_class("early", waits=False), nothing, claim("data", storage_class="early"), **QUIET)
    early.run()
    assert "Bound" == early["pvc/data"].status.phase
    early.apply(pod("app", "data"))
    early.run("pod/app scheduled", seconds=30)
    assert where(early, "app")[0]


def asked_bound(told):
    """A pod whose claim has its volume."""
    c = cluster(*NODES, storage_class(), told, volume("disk", "10Gi", "late", bound="data"), claim("data", bound="disk"),
                pod("app", "data"), **QUIET)
    c.run("pod/app scheduled", seconds=30)
    return c


@pytest.mark.checklist("175")
def test_the_three_steps_are_told():
    """Why a node has not enough room names the driver, its entry, and the pools that the node reaches."""
    c = asked(driver(fallback=[pool("big", "1Ti", nodes=["b1"]), pool("small", "1Gi", topology={ZONE: ["a"]})]), "10Gi")
    back = c.fork()
    back.goto(c.passes("app")[0].step)
    why = " ".join(back.verdicts("app", "a1", "VolumeBinding").split())
    assert "claim data asks 10Gi > 1Gi at most (CSIDriver disks.example.com → CSIStorage <fallback> → pools small)" in why
    none = asked(driver(other=[pool("p", "1Ti")]), classes=TWO)
    why = " ".join(none.verdicts("app", "a1", "VolumeBinding").split())
    assert "nothing (CSIDriver disks.example.com → CSIStorage none → pools none)" in why


@pytest.mark.checklist("176")
def test_capacity_is_told_by_class():
    """One pool of 100Gi: mirrored volumes of at most 50Gi fit, striped ones of 100Gi."""
    classes = [storage_class("lvm-mirrored", parameters={"type": "mirror"}),
               storage_class("lvm-striped", parameters={"type": "striped"})]
    told = driver(**{"lvm-mirrored": [pool("vg", "50Gi")], "lvm-striped": [pool("vg", "100Gi")]})
    fit = {of: bool(first_fits(asked(told, "60Gi", of, classes=classes))) for of in ("lvm-mirrored", "lvm-striped")}
    assert {"lvm-mirrored": False, "lvm-striped": True} == fit


@pytest.mark.checklist("178")
def test_without_a_csi_driver_nothing_is_asked():
    """A provisioner that is no CSI driver has no CSIDriver object: there is no check, whatever others tell."""
    c = asked(driver(late=[pool("p", "1Gi")]), classes=[storage_class("late", "nfs.example.com/nfs")])
    assert ["a1", "a2", "b1"] == first_fits(c)
    assert where(c, "app")[0]
    (other,) = c.objects("csidrivers")
    assert DRIVER == other.metadata.name
    c.run("pvc/data Bound", seconds=30)
    assert "nfs:" in c.manifests(f"pv/{c['pvc/data'].spec.volume_name}")


# -- inline volumes ----------------------------------------------------------------------------------------------------


@pytest.mark.checklist("145", "151", "161", "174")
def test_inline_volumes_are_asked_about_as_claims_are():
    """Of `<ephemeral>`, else of the fallback; one without a size is not asked about, one of size zero is."""
    for entries, size, fit in (({"ephemeral": [pool("p", "10Gi", nodes=["a1"])]}, "10Gi", ["a1"]),
                               ({"fallback": [pool("p", "10Gi", nodes=["a2"])]}, "10Gi", ["a2"]),
                               ({"ephemeral": [pool("p", "1Gi")], "fallback": [pool("p", "1Ti")]}, "10Gi", []),
                               ({"late": [pool("p", "1Ti")]}, "10Gi", []), ({"late": []}, "0", []),
                               ({"late": []}, None, ["a1", "a2", "b1"])):
        c = cluster(*NODES, driver(**entries), **QUIET)
        c.apply(inline("app", size))
        c.run(seconds=20)
        assert fit == fits(c, "app"), (entries, size)
        assert bool(fit) == bool(where(c, "app")[0])


@pytest.mark.checklist("183")
def test_redis_on_persistent_memory():
    """PMEM is of a node: Redis lands only where enough of it is left."""
    pmem = "pmem-csi.intel.com"
    told = driver(name=pmem, ephemeral=[pool("a1", "2Gi", nodes=["a1"]), pool("a2", "16Gi", nodes=["a2"]),
                                        pool("b1", "4Gi", nodes=["b1"])])
    c = cluster(*NODES, told, **QUIET)
    c.apply(inline("redis", "8Gi", pmem))
    c.run(seconds=20)
    assert (["a2"], ["a2"]) == (fits(c, "redis"), where(c, "redis"))
    c.apply(inline("greedy", "32Gi", pmem))
    c.run(seconds=20)
    assert f"0/3 nodes are available: 3 {NO_ROOM}." in message(c, "greedy")


@pytest.mark.checklist("182")
def test_an_inline_volume_names_no_class():
    """The field is not known, and what a driver tells of its classes is no room for inline volumes."""
    c = cluster(*NODES, storage_class("mirror"), driver(mirror=[pool("vg", "1Ti")], ephemeral=[pool("vg", "10Gi")]), **QUIET)
    with pytest.raises(ManifestError, match=r"spec.volumes\[0\].csi.storageClassName: unknown field"):
        c.apply(pod("classy", volumes=[{"name": "v", "csi": {"driver": DRIVER, "fsSize": "20Gi", "storageClassName": "mirror"}}]))
    c.apply(inline("app", "20Gi"))
    c.run(seconds=20)
    assert ([], [""]) == (fits(c, "app"), where(c, "app"))


@pytest.mark.checklist("160")
def test_a_pool_is_what_the_driver_says():
    """Both disks of a node as one pool or as two: in sum or each by itself; by list or by topology is the same."""
    one, two = [pool("a1", "120Gi", nodes=["a1"])], [pool(f"a1-{n}", "60Gi", topology={HOST: ["a1"]}) for n in (1, 2)]
    for pools, size, fit in ((one, "100Gi", ["a1"]), (two, "100Gi", []), (one, "60Gi", ["a1"]), (two, "60Gi", ["a1"])):
        assert fit == first_fits(asked(driver(late=pools), size))


# -- what it cannot know -----------------------------------------------------------------------------------------------


def failing(on_failure):
    """A driver of two zones whose room in a was taken by others since it was told; node a1 is preferred."""
    dials = {"kind": "zonal", "pools": {"a": "100Gi", "b": "100Gi"}, "on_failure": on_failure,
             "publishing": {"form": "central", "prefix": "topology.kubernetes.io", "interval": 3600.0}}
    c = cluster(node("a1", "a", cpu="8"), node("b1", "b", cpu="2"), storage_class(), driver(late=[]), claim("data", "40Gi"),
                **{DRIVER: dials})
    c.run(seconds=5)
    assert {"zone=a": "100Gi", "zone=b": "100Gi"} == capacities(c)
    c.set_pool(DRIVER, "a", capacity="10Gi")
    c.apply(pod("app", "data", cpu="1"))
    return c


def selected(c):
    """The node for which the claim's volume is to be made."""
    return c["pvc/data"].metadata.annotations.get("volume.alpha.kubernetes.io/selectedNode", "")


@pytest.mark.checklist("187")
def test_a_creation_that_fails_on_an_approved_node_is_sent_elsewhere():
    """Both zones are told to have room; a's creation fails, its node is taken off the claim, a is told anew, b serves."""
    c = failing("reschedule")
    c.run(lambda it: bool(selected(it)))
    assert (["a1", "b1"], "a1") == (first_fits(c), selected(c))
    c.run(lambda it: bool(events(it, "data", "ProvisioningFailed")))
    assert "code = ResourceExhausted desc = not enough capacity in a" in events(c, "data", "ProvisioningFailed")[0]
    assert "" == selected(c)
    c.run("pod/app Running", seconds=300)
    assert (["b1"], "b1", "10Gi") == (where(c, "app"), selected(c), capacities(c)["zone=a"])
    assert [{ZONE: ["b"]}] == reach(c, "data")


@pytest.mark.checklist("144")
def test_a_creation_that_is_retried_keeps_its_pod_where_it_is():
    """The same failure retried, as before S2: again and again for a1, the claim keeps it, and b, which has room, is not tried."""
    c = failing("retry")
    c.run("pod/app Running", seconds=1200)
    assert ([""], "a1", {"a1"}) == (where(c, "app"), selected(c), {row.node for row in c.passes("app") if row.node})
    tries = [line for line in repr(c.story("pvc/data")).splitlines() if "starts to provision" in line]
    assert len(tries) > 5
    assert all("on node a1" in line for line in tries)
    assert ("Pending", 100 << 30) == (c["pvc/data"].status.phase, c.pools()["b"].free)


@pytest.mark.checklist("144")
def test_nobody_tells_and_nobody_moves_the_pod():
    """Without capacity information a node is chosen in whose zone no volume can be made; the pod stays there for ever."""
    c = cluster(node("a1", "a", cpu="8"), node("b1", "b", cpu="2"), storage_class(), claim("data"), pod("app", "data", cpu="1"),
                **{DRIVER: {"on_failure": "retry", "pools": {"a": "1Gi", "b": "1Ti"}}})
    c.run("pod/app Running", seconds=1200)
    assert ([""], "a1", {"a1"}) == (where(c, "app"), selected(c), {row.node for row in c.passes("app") if row.node})
    assert events(c, "data", "ProvisioningFailed")
    c.set_pool(DRIVER, "a", capacity="1Ti")  # retried, it may succeed in the end
    c.run("pod/app Running", seconds=1200)
    assert ["a1"] == where(c, "app")


@pytest.mark.checklist("268")
def test_room_that_comes_later_helps_who_waits():
    """A pod for whose volume there is no room waits; when the driver tells of more it runs, beside one that is not told."""
    c, stuck = (asked(driver(late=[pool("p", "1Gi")])) for _ in range(2))
    assert ["", ""] == [*where(c, "app"), *where(stuck, "app")]
    patch_pool(c, "p", "100Gi")
    for each in (c, stuck):
        each.run("pod/app scheduled", seconds=120)
    assert (True, False) == (bool(where(c, "app")[0]), bool(where(stuck, "app")[0]))


@pytest.mark.checklist("179")
def test_volumes_in_the_making_are_not_counted():
    """Two claims of 60Gi and a pool of 100Gi: both pass, as neither knows of the other, and one creation fails."""
    c = cluster(node("a1", "a"), storage_class(), driver(late=[pool("a", "100Gi", nodes=["a1"])]),
                claim("one", "60Gi"), claim("two", "60Gi"), pod("app-1", "one"), pod("app-2", "two"),
                **{DRIVER: {"pools": {"a": "100Gi"}}}, **QUIET)
    c.run(seconds=20)
    assert [["a1"], ["a1"]] == [first_fits(c, "app-1"), first_fits(c, "app-2")]
    assert ["Bound", "Pending"] == sorted(c[f"pvc/{name}"].status.phase for name in ("one", "two"))
    failed = "one" if c["pvc/one"].status.phase == "Pending" else "two"
    assert events(c, failed, "ProvisioningFailed")


@pytest.mark.checklist("180")
def test_room_that_goes_unseen_and_a_volume_that_stays():
    """The storage was filled from outside: the approved node fails for one of two claims, and the other's volume stays."""
    c = cluster(node("a1", "a"), storage_class(), driver(late=[pool("a", "100Gi", nodes=["a1"])]),
                claim("one", "30Gi"), claim("two", "40Gi"), pod("app", "one", "two"),
                **{DRIVER: {"pools": {"a": "50Gi"}}}, **QUIET)
    c.run(seconds=300)
    assert ["a1"] == first_fits(c)
    assert [""] == where(c, "app")
    assert ["Bound", "Pending"] == sorted(c[f"pvc/{name}"].status.phase for name in ("one", "two"))
    assert 1 == len(c.objects("pv"))


# -- the object --------------------------------------------------------------------------------------------------------


def patch_pool(c, name, capacity, **metadata):
    """Patch one pool of the class `late` by its keys, as S2's writers do."""
    change = {"status": {"storage": [{"storageClassName": "late", "pools": [{"name": name, "capacity": capacity}]}]}}
    return c.patch(f"csidriver/{DRIVER}", {**change, **({"metadata": metadata} if metadata else {})}, "strategic", "status")


def capacities(c):
    """What the driver tells of the class `late`: {pool: capacity}."""
    return {each.name: each.capacity for entry in c[f"csidriver/{DRIVER}"].status.storage for each in entry.pools
            if entry.storage_class_name == "late"}


@pytest.mark.checklist("158", "148", "149")
def test_writers_of_different_pools_do_not_meet():
    """Two writers that have read nothing patch a pool each, and both are stored; nothing else of the object changes."""
    told = [pool("x", "1Gi", nodes=["a1"]), pool("y", "1Gi", topology={ZONE: ["b"]}, expires="2030-01-01T00:00:00Z")]
    c = cluster(driver(late=told, fallback=[pool("x", "3Gi")]))
    patch_pool(c, "x", "5Gi")
    patch_pool(c, "y", "6Gi")
    assert {"x": "5Gi", "y": "6Gi"} == capacities(c)
    late, fallback = c[f"csidriver/{DRIVER}"].status.storage
    assert ("<fallback>", "3Gi") == (fallback.storage_class_name, fallback.pools[0].capacity)
    assert [("a1",), ()] == [each.node_list for each in late.pools]
    assert "2030-01-01T00:00:00Z" == late.pools[1].expiry_time
    assert {200: 2} == c.requests(verb="PATCH", subresource="status").count(by="code")


@pytest.mark.checklist("158")
def test_writers_of_the_whole_object_conflict():
    """Two writers that have read the same object send back all of its pools: the second conflicts, and has to read again."""
    told = {name: pool(name, "1Gi", nodes=[node_]) for name, node_ in (("x", "a1"), ("y", "b1"))}
    c = cluster(driver(late=[*told.values()]))

    def put(read, version):
        whole = {"storage": [{"storageClassName": "late", "pools": [*read.values()]}]}
        return refusal(c.patch, f"csidriver/{DRIVER}", {"metadata": {"resourceVersion": version}, "status": whole},
                       subresource="status")

    version = str(c[f"csidriver/{DRIVER}"].metadata.resource_version)
    assert "" == put({**told, "x": {**told["x"], "capacity": "5Gi"}}, version)
    assert "the object has been modified" in put({**told, "y": {**told["y"], "capacity": "6Gi"}}, version)
    assert ({"x": "5Gi", "y": "1Gi"}, "Conflict") == (capacities(c), c.requests()[-1].reason)


@pytest.mark.checklist("153")
def test_a_patch_of_a_pool_is_validated():
    """What a creation may not say, a patch of the status may not say either; a refused one changes nothing."""
    c = cluster(driver(late=[pool("x", "1Gi", nodes=["a1"])]))
    assert 'capacity: Invalid value: "-1"' in refusal(patch_pool, c, "x", "-1")
    both = {"storageClassName": "late", "pools": [{"name": "x", "nodeTopology": node_selector({ZONE: ["a"]})}]}
    assert "pools[0].nodeList: Forbidden: may not be set beside nodeTopology" in refusal(
        c.patch, f"csidriver/{DRIVER}", {"status": {"storage": [both]}}, "strategic", "status")
    assert {"x": "1Gi"} == capacities(c)


@pytest.mark.checklist("159")
def test_what_a_driver_told_goes_with_it():
    """The driver's object deleted, nothing is told any more: there is one thing to remove, and no check is left."""
    c = asked(driver(late=[pool("p", "1Gi")]))
    assert [""] == where(c, "app")
    c.delete(f"csidriver/{DRIVER}")
    c.apply(claim("more"), pod("later", "more"))
    c.run("pod/later scheduled", seconds=60)
    assert ["a1", "a2", "b1"] == first_fits(c, "later")


@pytest.mark.checklist("184")
def test_one_object_or_many():
    """The same room told in both ways: more objects, each with driver and class, more bytes, blind names, and they stay."""
    def told(revision, **publishing):
        c = cluster(*(node(f"n{n}", f"z{n:02}") for n in range(20)), storage_class(), driver(), revision=revision, **{DRIVER: {
            "kind": "zonal", "pools": {f"z{n:02}": "10Gi" for n in range(20)}, "publishing": publishing}})
        c.run(seconds=30)
        return c

    single, several = told("design", form="central", prefix="topology.kubernetes.io"), told("upstream", form="objects")
    many = several.objects("csistoragecapacities")
    assert (0, 20) == (len(single.objects("csistoragecapacities")), len(many))
    assert {f"zone=z{n:02}": "10Gi" for n in range(20)} == capacities(single)
    assert {(DRIVER, "late")} == {(each.metadata.labels["csi.storage.k8s.io/drivername"], each.storage_class_name)
                                  for each in many}
    assert all(re.fullmatch("csisc-[a-z0-9]{5}", each.metadata.name) for each in many)
    references = [f"csistoragecapacity/{each.metadata.namespace}/{each.metadata.name}" for each in many]
    size = len(single.manifests(f"csidriver/{DRIVER}"))
    assert size * 1.5 < len(several.manifests(*references))
    for c in (single, several):
        c.delete(f"csidriver/{DRIVER}")
        c.run(seconds=100)
    left = several.objects("csistoragecapacities")
    assert ([], 20) == (single.objects("csidrivers"), len(left))  # naming a driver in a label removes nothing


@pytest.mark.checklist("165", "167")
def test_the_status_grows_with_the_nodes():
    """With an instance on each node the object grows by the same amount for every node, whose name and pool it gets."""
    def size(count):
        names = [f"n{n}" for n in range(count)]
        c = cluster(*map(node, names), driver(), **{DRIVER: {
            "kind": "local", "pools": dict.fromkeys(names, "10Gi"), "publishing": {"form": "node"}}})
        c.run(seconds=30)
        (entry,) = c[f"csidriver/{DRIVER}"].status.storage
        assert "<ephemeral>" == entry.storage_class_name
        assert [(name, (name,), "10Gi") for name in names] == [(each.name, each.node_list, each.capacity) for each in entry.pools]
        return len(c.manifests(f"csidriver/{DRIVER}"))

    each = size(3) - size(2)
    assert each > len("{name: n0, nodeList: [n0], capacity: 10Gi}") / 2
    assert size(9) - size(3) == 6 * each


# -- the node ----------------------------------------------------------------------------------------------------------


def published(*, pod_info, size="1Gi", attributes=None, driver_=DRIVER, **service):
    """A pod with an inline volume, and what its driver's node service makes of it."""
    source = {"driver": driver_, **({"fsSize": size} if size is not None else {})}
    if attributes:
        source["volumeAttributes"] = attributes
    csi = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": driver_},
           "spec": {"podInfoOnMount": pod_info, "volumeLifecycleModes": ["Ephemeral"]}}
    c = cluster(node("a1", "a"), csi, pod("app", volumes=[{"name": "scratch", "csi": source}]),
                kubelet={"services": {driver_: service}} if service else {})
    c.run(seconds=30)
    return c


@pytest.mark.parametrize(("pod_info", "size", "told"), [
    (True, "1Gi", "1Gi"), (True, None, ""), (True, "0", "0"), (False, "1Gi", None), (None, "1Gi", None)])
@pytest.mark.checklist("161", "162")
def test_the_size_travels_if_pod_information_was_asked_for(pod_info, size, told):
    """The context has the size as text, empty if none was given; and no such entry without pod information."""
    c = published(pod_info=pod_info, size=size)
    (mount,) = c.mounts("app")
    assert ("a1", "scratch", DRIVER) == (mount.node, mount.volume, mount.driver)
    assert told == mount.context.get("csi.storage.k8s.io/size")
    assert bool(mount.context) == bool(pod_info)
    assert (f'"{told}"' if pod_info else "<none>") in repr(c.mounts())
    assert "Running" == c["pod/app"].status.phase


@pytest.mark.parametrize("pod_info", [True, False])
@pytest.mark.checklist("269")
def test_the_file_system_has_a_field_and_the_size_has_none(pod_info):
    """FsType arrives in volume_capability whatever the driver asked for; the size only in publish_context, if it asked."""
    csi = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
           "spec": {"podInfoOnMount": pod_info, "volumeLifecycleModes": ["Ephemeral"]}}
    sources = {"both": {"fsType": "xfs", "fsSize": "1Gi"}, "neither": {}}
    volumes = [{"name": name, "csi": {"driver": DRIVER, **source}} for name, source in sources.items()]
    c = cluster(node("a1", "a"), csi, pod("app", volumes=volumes))
    c.run("pod/app Running", seconds=30)
    both, neither = c.mounts("app")
    assert ({"fsType": "xfs"}, {}) == (dict(both.capability), dict(neither.capability))
    size = "csi.storage.k8s.io/size"
    assert (("1Gi", "") if pod_info else (None, None)) == (both.context.get(size), neither.context.get(size))
    assert "1Gi" not in both.capability.values()


@pytest.mark.checklist("163")
def test_a_strict_driver_of_old_keeps_working():
    """It rejects entries that it does not know, and is handed none, as it has not asked for pod information."""
    assert "Running" == published(pod_info=False, strict=True)["pod/app"].status.phase
    asked_ = published(pod_info=True, strict=True)
    assert "Pending" == asked_["pod/app"].status.phase
    assert "unknown publish_context entry csi.storage.k8s.io/" in events(asked_, "app", "FailedMount")[0]


@pytest.mark.parametrize(("size", "attributes", "heeds", "runs"), [
    ("1Gi", {"size": "2Gi"}, True, False), (None, {"size": "2Gi"}, True, True), ("1Gi", None, True, True),
    ("1Gi", None, False, True), ("1Gi", {"size": "2Gi"}, False, True), ("1Gi", {"colour": "red"}, True, True)])
@pytest.mark.checklist("164")
def test_a_size_given_twice_is_the_drivers_error(size, attributes, heeds, runs):
    """Size and the driver's own parameter together are refused; either alone works, and a driver may ignore fsSize."""
    c = published(pod_info=True, size=size, attributes=attributes, size_parameter="size", heeds_size=heeds)
    assert ("Running" if runs else "Pending") == c["pod/app"].status.phase
    if not runs:
        assert ("the size is given twice: by fsSize and by the parameter size"
                in events(c, "app", "FailedMount")[0])


@pytest.mark.checklist("168")
def test_segments_become_labels_of_the_node():
    """Every key and value that a driver's node service reports is copied to its node, beside what is there."""
    told = {"a1": {"example.com/zone": "Z1", "example.com/rack": "R3"}, "b1": {"example.com/zone": "Z2"}}
    c = cluster(node("a1", "a"), node("b1", "b"), node("c1", "c"), kubelet={"services": {DRIVER: {"segments": told}}})
    c.run(seconds=10)
    for name in ("a1", "b1", "c1"):
        labels = c[f"node/{name}"].metadata.labels
        assert told.get(name, {}) == {key: value for key, value in labels.items() if key.startswith("example.com/")}
        assert name == labels[HOST]
    c.apply(pod("app", nodeSelector={"example.com/rack": "R3"}))
    c.run(seconds=10)
    assert ["a1"] == where(c, "app")

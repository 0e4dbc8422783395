"""What the documents reject: each design runs by its name, fails by itself for the document's reason, and `design` does not."""

from functools import cache
from itertools import combinations

import attrs
import pytest
from documents.clusters import cluster, events, reach, refusal, where
from manifests import HOST, ZONE, claim, node, pod, spread, storage_class, volume

from kvolsched import Cluster, alternatives, scenario
from kvolsched.explore import Crash, UserAct
from kvolsched.writes import bind, create, patch

LOCAL = "kubernetes.io/no-provisioner"
ONCE = [pytest.param(each, id=f"{each.alternative} {each.scenario}", marks=pytest.mark.checklist(*each.checklist))
        for each in alternatives.experiments()]


# -- every one of them -------------------------------------------------------------------------------------------------


@cache
def ending(experiment):
    """Return how an experiment ends; the design's end is asked for by each that it is compared with."""
    return experiment.run()


@pytest.mark.parametrize("experiment", ONCE)
def test_each_fails_by_itself_and_the_design_does_not(experiment):
    """On its scenario the rejected design fails, in the natural order or in one that is found; the design in none."""
    assert experiment.run()
    assert not ending(attrs.evolve(experiment, alternative="design", section="", checklist=()))


def test_their_names_are_revisions():
    """Clusters, scenarios and `compare` take the names; a docstring says what each is and which document rejects it."""
    for name in alternatives.names():
        assert name == Cluster(name).revision.name
        assert {"S0", "S3", "S4"} & {word.strip("(:") for word in getattr(alternatives, name).__doc__.split()}
    assert set(alternatives.names()) == {each.alternative for each in alternatives.experiments()}
    with pytest.raises(KeyError, match=r"no revision is called 'early_binder'; there are: .*late_binder"):
        Cluster("early_binder")
    with pytest.raises(KeyError, match=r"no rejected design is called 'x'; there are: place_first, late_binder"):
        alternatives.compare("x")
    with pytest.raises(KeyError, match=r"place_first has no experiment on 'x'; there are: disk-on-the-small-node"):
        alternatives.experiment("place_first", "x")


def test_the_table_of_alternatives_and_scenarios():
    """A row for each experiment, a cell for each set of rules, as text and as escaped HTML."""
    table = alternatives.compare("place_first", "bind_in_kubelet", rules=["design", "late_binder"], progress=False)
    assert [[True, False, False], [True, False, False]] == [[bool(end) for end in row] for row in table]
    assert "place_first  fails: placed and never started: app on big" in repr(table)
    assert ">disk-on-the-small-node: One node has the most room, another has the disk. " in table._repr_html_()
    assert ">place_first fails: placed and never started: app on big</td>" in table._repr_html_()


@pytest.mark.parametrize("name", alternatives.names())
def test_time_goes_back_and_forth(name):
    """Under every one of them a run can be taken back and made again, and a fork knows the same world."""
    c = alternatives.experiment(name).cluster()
    c.run(seconds=60)
    steps, end = c.world.step_number, c.digest()
    start = c.fork()
    start.back(steps)
    c.back(steps)
    assert start.digest() == c.digest()
    c.goto(steps)
    assert end == c.digest() == c.fork().digest()


# -- all binding after the pod is placed -------------------------------------------------------------------------------


def disks(*more):
    """Two nodes with a disk each, n1 the more attractive, and a class that waits."""
    return [node("n1", cpu="32"), node("n2", cpu="2"), storage_class(provisioner=LOCAL),
            volume("d1", "10Gi", "late", {HOST: ["n1"]}), volume("d2", "10Gi", "late", {HOST: ["n2"]}), *more]


def own_scheduler(seen, ref):
    """A scheduler of one's own that knows no volumes: every pod that names it goes to n2."""
    found = seen.get(ref)
    mine = found is not None and found.spec.scheduler_name == "mine" and not found.spec.node_name
    return [bind(found, "n2")] if mine else []


@pytest.mark.parametrize("rules", ["place_first", "late_binder", "bind_in_pv_controller", "bind_in_kubelet"])
@pytest.mark.checklist("141c", "138")
def test_bound_after_placing_pods_that_bypass_the_scheduler_run(rules):
    """A pod with nodeName, one of a scheduler that knows no volumes, and a DaemonSet's get their volumes; here they do not."""
    daemons = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {
        "selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
            "nodeName": "n2", "containers": [{"name": "a", "image": "registry.k8s.io/pause:3.10"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "daemon"}}]}}}}
    objects = disks(claim("by-hand"), claim("custom"), claim("daemon"), volume("d3", "10Gi", "late", {HOST: ["n2"]}))

    def phases(revision):
        c = cluster(*objects, revision=revision).with_controller("own-scheduler", watches=["Pod"], reconcile=own_scheduler)
        c.apply(pod("by-hand", "by-hand", nodeName="n1"), pod("custom", "custom", schedulerName="mine"), daemons)
        c.run(seconds=120)
        placed = [each for each in c.objects("pods") if each.spec.node_name]
        assert ["n1", "n2"] == where(c, "by-hand", "custom")
        assert len(placed) >= 3
        return {each.status.phase for each in placed if each.spec.node_name == "n2" or each.metadata.name == "by-hand"}

    assert {"Running"} == phases(rules)
    assert {"Pending"} == phases("design")


@pytest.mark.checklist("141c")
def test_bound_after_placing_an_old_scheduler_is_enough():
    """A scheduler from before the feature places pods and the new binder binds; in the design they wait for ever."""
    objects = [node("n1"), storage_class(provisioner=LOCAL), volume("d1", "10Gi", "late", {HOST: ["n1"]}), claim("data"),
               pod("app", "data")]
    c = cluster(*objects, revision="place_first")
    c.run(seconds=60)
    assert "Running" == c["pod/app"].status.phase
    gates = {"kube-scheduler": {"VolumeScheduling": False}}
    design = cluster(*objects, revision=Cluster("design").revision.with_gates(gates))
    design.run(seconds=600)
    assert ("Pending", "Pending") == (design["pod/app"].status.phase, design["pvc/data"].status.phase)


@pytest.mark.checklist("141d")
def test_bound_after_placing_the_controller_works_by_pods():
    """The PV controller gets a routine whose causes are pods: one sync reserves volumes for all claims of a pod."""
    objects = disks(volume("d3", "10Gi", "late", {HOST: ["n1"]}), claim("one"), claim("two"), pod("app", "one", "two"))
    c = cluster(*objects, revision="bind_in_pv_controller")
    steps = [step for step in c.run() if step.actor == "persistentvolume pods"]
    words = " ".join(f"PV controller reserves {each}: claimRef." for each in ("pv/d1 for pvc/one", "pv/d3 for pvc/two"))
    assert [words] == [step.words for step in steps]
    assert "Running" == c["pod/app"].status.phase
    with pytest.raises(LookupError, match="no actor is called 'persistentvolume pods'"):
        cluster(*objects).step("persistentvolume pods")


@pytest.mark.checklist("141d")
def test_bound_after_placing_wrong_decisions_follow():
    """The binder took another disk; the scheduler holds its own choice for nobody, until it forgets everything."""
    c = cluster(node("n1"), storage_class(provisioner=LOCAL), volume("d10", "10Gi", "late", {HOST: ["n1"]}),
                claim("small", "5Gi"), claim("large", "10Gi"), revision="late_binder")
    c.apply(pod("one", "small"))
    while not where(c, "one")[0]:
        assert c.step("scheduler")
    c.apply(volume("d6", "6Gi", "late", {HOST: ["n1"]}))
    c.run("pod/one Running", seconds=60)
    assert ("d6", None) == (c["pvc/small"].spec.volume_name, c["pv/d10"].spec.claim_ref)
    c.apply(pod("two", "large"))
    c.run(seconds=120)
    assert [""] == where(c, "two")
    c.crash("kube-scheduler")
    c.run("pod/two Running", seconds=600)
    assert "d10" == c["pvc/large"].spec.volume_name


@pytest.mark.checklist("141e")
def test_bound_after_placing_a_restart_loses_the_choice():
    """What the scheduler holds for a placed pod is in its memory: after a crash it sends another pod to the same disk."""
    told = alternatives.experiment("late_binder", "a-disk-on-each-node")
    unharmed = told.explore(faults=())
    assert (False, True) == (bool(unharmed), unharmed.exhausted)  # without a crash every order ends well
    crashed = told.explore()
    assert any("crash" in words or "restart" in words for words in crashed.counterexample.story), crashed.counterexample.story
    assert told.fails(crashed.counterexample.objects)


@pytest.mark.checklist("141f")
def test_bound_after_placing_a_predicate_of_bound_claims_is_not_asked_again():
    """The predicate of zone labels would have refused the node; two passes ask it after the claim is bound."""
    late, design = (scenario("zone-in-a-label", rules) for rules in ("bind_in_pv_controller", "design"))
    for c in (late, design):
        c.run()
    assert (["node-b"], ["node-a"]) == (where(late, "app"), where(design, "app"))
    assert (1, 2) <= (len(late.passes("app")), len(design.passes("app")))


@pytest.mark.checklist("141g")
def test_binding_in_the_kubelet_shows_it_the_volumes_of_others():
    """What a kubelet must read to bind: of local disks its own node's, of zonal ones every unbound one of its zone."""
    made = [node(f"{zone}{n}", zone) for zone in "ab" for n in range(4)]
    made += [volume(f"local-{zone}{n}", "10Gi", "late", {HOST: [f"{zone}{n}"]}) for zone in "ab" for n in range(4)]
    made += [volume(f"zonal-{zone}{n}", "10Gi", "late", {ZONE: [zone]}, bound="data" if zone + str(n) == "a0" else "")
             for zone in "ab" for n in range(10)]
    made += [claim("data", bound="zonal-a0")]
    read = alternatives.readable_volumes(cluster(*made, revision="bind_in_kubelet"))
    assert {f"{zone}{n}": {f"local-{zone}{n}"} for zone in "ab" for n in range(4)} == {
        on: {name for name in names if name.startswith("local")} for on, names in read.items()}
    assert {"a": {9}, "b": {10}} == {zone: {sum(each.startswith("zonal") for each in names)
                                            for on, names in read.items() if on[0] == zone} for zone in "ab"}
    assert {()} == set(alternatives.readable_volumes(cluster(*made)).values())


# -- the whole binding in the scheduler --------------------------------------------------------------------------------


@pytest.mark.parametrize("controller", [True, False])
@pytest.mark.checklist("141b")
def test_the_whole_binding_in_the_scheduler_has_no_pod_to_drive_the_rest(controller):
    """Without a controller of volumes a lost volume is not told, a released one not reclaimed: no pod asks for it."""
    c = cluster(*disks(claim("one"), claim("two")), revision=alternatives.bind_in_scheduler(controller=controller))
    c.apply(pod("one", "one", nodeSelector={HOST: "n1"}), pod("two", "two", nodeSelector={HOST: "n2"}))
    c.run(seconds=60)
    assert ["Running", "Running"] == [c[f"pod/{name}"].status.phase for name in ("one", "two")]
    c.delete("pv/d1", "pod/two")
    c.run(seconds=60)
    c.delete("pvc/two")
    c.run(seconds=600)
    told = c["pvc/one"].status.phase, c["pv/d2"].status.phase
    assert (("Lost", "Released") if controller else ("Bound", "Bound")) == told
    assert controller == bool(events(c, "one", "ClaimLost"))


# -- an extender instead of a library ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("packaging", "stuck"), [
    ({"masters": 1}, False), ({"stable_name": "extender.kube-system"}, False), ({}, True), ({"authorised": False}, True)])
@pytest.mark.checklist("137")
def test_an_extender_must_be_found_wherever_the_active_controller_is(packaging, stuck):
    """One master, or a stable name: every order ends well. An address, or no token: the pod may never be placed."""
    c = scenario("disk-on-the-small-node", alternatives.extender(loses=0, **packaging))
    result = c.explore(lag="none", progress=False)
    assert stuck == bool(result)
    assert stuck or result.exhausted
    if packaging == {}:
        assert ("The controllers' lease goes to master-2.",) == tuple(
            f"{words[:1].upper()}{words[1:]}." for words in result.counterexample.story)


@pytest.mark.checklist("137")
def test_the_active_controller_moves():
    """A lease that is lost takes the extender's address with it: some seeds wait for it to come back, the design waits for none."""
    ended = alternatives.experiment("extender").run()
    assert "of 20 seeds, db-" in ended.failure
    assert "connection refused" in ended.failure
    c = scenario("two-masters", "extender", seed=2)
    c.run(seconds=600)
    assert {"Running"} == {each.status.phase for each in c.objects("pods")}
    assert c.now > 100


@pytest.mark.checklist("137")
def test_a_call_whose_answer_is_lost_is_given_up():
    """The extender's process may crash with the question: the scheduler waits for its time-out, and asks again."""
    c = scenario("disk-on-the-small-node", alternatives.extender(masters=1, loses=0))
    result = c.explore(lag="none", faults=[Crash("persistent-volume-binder on master-1")], progress=False)
    assert (False, True) == (bool(result), result.exhausted)


@pytest.mark.parametrize("packaging", ["library", "extender"])
@pytest.mark.checklist("137")
def test_two_caches_can_choose_one_disk_twice(packaging):
    """The library's price: two caches choose the same disk, and one write conflicts. The extender shares one: in no order."""
    rules = "design" if packaging == "library" else alternatives.extender(masters=1, loses=0)
    c = cluster(node("n1"), storage_class(provisioner=LOCAL), claim("data"), volume("disk", "10Gi", "late", {HOST: ["n1"]}),
                pod("app", "data"), kubelet={"absent": True}, revision=rules)
    asks = UserAct("a user asks for the disk", (create(claim("other", volumeName="disk")),))

    def conflicts(objects):
        told, = (each.status.condition("PodScheduled") for each in objects.values() if each.kind == "Pod")
        return told is not None and (told.reason == "VolumeBindingFailed" or "has been modified" in told.message)

    result = c.explore(until=conflicts, faults=[asks], progress=False)
    if packaging == "extender":
        assert (False, True) == (bool(result), result.exhausted)
        return
    assert result, result
    assert any("the object has been modified" in words for words in result.counterexample.story)
    taken, = (each for key, each in result.counterexample.objects.items() if key.kind == "PersistentVolume")
    assert "other" == taken.spec.claim_ref.name


# -- the others --------------------------------------------------------------------------------------------------------


@pytest.mark.checklist("141a")
def test_one_function_at_the_end_misleads_preemption():
    """Volumes are no predicate, so a pod is evicted where the preemptor cannot run; with a predicate none is."""
    ends = {}
    for rules in ("single_function", "design", "upstream"):
        c = scenario("evicted-in-vain", rules)
        c.run(seconds=300)
        ends[c.revision.name] = "pod/victim" in c, where(c, "app")
    assert {"single_function": (False, [""]), "design": (True, [""]), "upstream": (True, [""])} == ends


@pytest.mark.checklist("141a")
def test_one_function_at_the_end_takes_the_best_node_with_volumes():
    """It is no worse at choosing: the best node without a disk is passed over, and the pod runs where there is one."""
    c = scenario("disk-on-the-small-node", "single_function")
    c.run()
    assert (["small"], "Running") == (where(c, "app"), c["pod/app"].status.phase)


@pytest.mark.checklist("70")
def test_a_quota_by_topology_knows_no_topology_yet():
    """Asked on creation, when a delayed claim has no zone, it lets all pass; a claim whose volume is known it refuses."""
    full = f"{ZONE}=a"
    c = cluster(node("a1", "a"), storage_class(), volume("disk", zone="a"),
                revision=alternatives.quota_by_topology(hard={full: 1}))
    c.apply(*(claim(f"data-{n}") for n in range(3)), *(pod(f"app-{n}", f"data-{n}") for n in range(3)))
    c.run(seconds=60)
    assert ["a1"] * 3 == where(c, "app-0", "app-1", "app-2")
    said = refusal(c.apply, claim("known", volumeName="disk"))
    assert f"exceeded quota: topology, requested: volumes.{full}=1, used: volumes.{full}=3, limited: volumes.{full}=1" in said


@pytest.mark.parametrize(("zones", "entries"), [(list("abc"), 3), (list("abcd"), 6), (list("abcde"), 10)])
@pytest.mark.checklist("69")
def test_a_list_of_topologies_needs_every_pair(zones, entries):
    """Volumes lie in the listed pairs alone: for any two of four zones all six are needed, where the design has four values."""
    pairs = [{ZONE: list(pair)} for pair in combinations(zones, 2)]

    def made(allowed, revision="list_of_topologies"):
        c = cluster(*(node(f"{zone}1", zone) for zone in zones), revision=revision)
        c.apply(storage_class(parameters={"replication-type": "regional-pd"}, allowed=allowed))
        for name in (f"{zone}-{number}" for number in range(8) for zone in zones):
            c.apply(claim(name), pod(name, name, nodeSelector={ZONE: name[0]}))
        c.run(seconds=60)
        return [reach(c, each.metadata.name)[0] for each in c.objects("pvc") if each.spec.volume_name]

    assert entries == len(pairs)
    all_listed = made(pairs)
    assert all(pair in all_listed for pair in pairs)
    for missing in pairs[:3]:
        assert missing not in made([pair for pair in pairs if pair != missing])
    assert [] == made([{ZONE: zones}])  # it is no topology of a volume with two zones
    assert 8 * len(zones) == len(made([{ZONE: zones}], "design"))


def group(knows_first, *running):
    """Three zones, pods of the group in some of them, and a pod that belongs to it."""
    made = [node(f"{zone}1", zone) for zone in "abc"]
    made += [pod(f"old-{n}", labels={"app": "foo"}, running_on=f"{zone}1") for n, zone in enumerate(running)]
    c = cluster(*made, revision=alternatives.spread_by_affinity_terms(knows_first=knows_first))
    c.apply(pod("app", labels={"app": "foo"}, topologySpreadConstraints=[spread(app="foo")]))
    c.run(seconds=30)
    return where(c, "app")[0]


@pytest.mark.checklist("221")
def test_option_1_needs_a_pod_before_the_first():
    """With an affinity term in the constraint no first pod fits anywhere, if none may be first; later ones stay together."""
    assert "" == group(knows_first=False)
    assert "" != group(knows_first=True)
    assert "b1" == group(True, "a", "a", "b")
    assert "a1" == group(True, "a")


@pytest.mark.checklist("222")
def test_spreading_inside_affinity_only_filters():
    """Where even nodes are too full there is no next best: a soft constraint is as hard as any."""
    inside, beside = (scenario("a-zone-is-closed", rules) for rules in ("spread_inside_affinity", "design"))
    for c in (inside, beside):
        c.run()
    assert [""] == where(inside, "web-2")
    assert [""] != where(beside, "web-2")
    assert "node(s) didn't match pod topology spread constraints" in inside["pod/web-2"].status.condition("PodScheduled").message


@pytest.mark.checklist("222")
def test_spreading_inside_node_affinity_is_vague():
    """Node affinity selects no pods: whether every pod counts or those alike, the same pod goes to different zones."""
    made = [*(node(f"{zone}1", zone) for zone in "ab"), pod("own", labels={"app": "foo"}, running_on="a1"),
            *(pod(f"other-{n}", labels={"app": "bar"}, running_on="b1") for n in range(2))]
    ends = {}
    for counted in ("every", "alike"):
        c = cluster(*made, revision=alternatives.spread_inside_affinity(counted=counted))
        c.apply(pod("app", labels={"app": "foo"}, topologySpreadConstraints=[spread(app="foo")]))
        c.run(seconds=30)
        ends[counted] = where(c, "app")
    assert {"every": ["a1"], "alike": ["b1"]} == ends
    with pytest.raises(ValueError, match="'none' is no reading of which pods are counted; there are: selected, every"):
        alternatives.spread_inside_affinity(counted="none")


@pytest.mark.checklist("248", "241")
def test_without_a_gate_update_and_scheduling_race():
    """If ungated pods could be narrowed, some order places the pod elsewhere first; behind a gate no order does."""
    change = {"spec": {"nodeSelector": {ZONE: "b"}, "schedulingGates": None}}
    narrows = UserAct("a controller narrows and lifts the gate", (patch("pod/app", change),))
    experiment = alternatives.experiment("lax_updates")
    found = {}
    for gates in ((), ("example.com/queue",)):
        c = cluster(node("node-a", "a", cpu="32"), node("node-b", "b"), pod("app", gates=gates), revision="lax_updates")
        result = c.explore(goal=lambda objects: not experiment.fails(objects), faults=[narrows], progress=False)
        assert result.counterexample or result.exhausted
        found[gates] = bool(result)
    assert {(): True, ("example.com/queue",): False} == found


def test_a_grid_marks_who_fails_on_which_question():
    """Each rejected design fails where it was rejected; the columns have the questions that need no search."""
    found = alternatives.compare("single_function", "bind_in_scheduler", rules=["single_function", "design"],
                                 searches=False, progress=False)
    grid = found.grid()
    assert {"single_function": ["evicted-in-vain"], "design": [], "bind_in_scheduler": ["room-for-one-volume"]} == grid.failures
    assert "bind_in_scheduler   ✕  –  fails on 1" in repr(grid)
    assert ["room-for-one-volume", "evicted-in-vain"] == [each.scenario for each in grid.experiments]

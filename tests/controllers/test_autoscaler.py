"""The cluster autoscaler in the running loop: what makes a group grow, what makes it shrink, and what it remembers."""

from types import SimpleNamespace

import pytest
from documents.clusters import cluster, events, patch, where
from manifests import HOST, ZONE, apart, csi_node, node, pod, spread

from kvolsched import Cluster
from kvolsched.controllers.autoscaler.autoscaler_component import Autoscaler, AutoscalerOptions
from kvolsched.rules.named import upstream
from kvolsched.world.apiserver import key_for

VM = "example.com/vm"
FOO = {"app": "foo"}
MACHINE = node("template", "a", cpu="4")
SMALL = {"name": "small", "template": node("t", "a", cpu="2", memory="8Gi"), "max": 4}
LARGE = {"name": "large", "template": node("t", "b", cpu="16", memory="64Gi"), "max": 2}
both = pytest.mark.parametrize("revision", ["design", "upstream"])


def scaled(*objects, groups=({"name": "g", "template": MACHINE},), revision="upstream", seed=0, **flags):
    """A cluster with these objects and an autoscaler with these groups."""
    return cluster(*objects, revision=revision, seed=seed, **{"cluster-autoscaler": {"groups": list(groups), **flags}})


def nodes(c):
    """The names of the nodes."""
    return [each.metadata.name for each in c.objects("nodes")]


def owned(name, running_on="", **fields):
    """A pod of a ReplicaSet, which may be evicted."""
    made = pod(name, running_on=running_on, labels=FOO, **fields)
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "foo", "uid": "u", "controller": True}]
    return made


def replica_set(replicas, **spec):
    """A ReplicaSet of so many pods of app foo."""
    container = {"name": "app", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": "1"}}}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "foo"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": FOO},
                     "template": {"metadata": {"labels": FOO}, "spec": {"containers": [container], **spec}}}}


# -- scale up ----------------------------------------------------------------------------------------------------------


@both
def test_a_pod_that_no_node_fits_gets_a_machine(revision):
    """The pod's condition triggers it; the machine's node comes after the delay, and the scheduler places the pod."""
    c = scaled(node("full", "a", cpu="50m"), pod("app"), revision=revision, provisioning_delay=30.0)
    run = c.run("pod/app Running")
    assert run.steps[-1].time >= 30
    assert (["g-1"], ["full", "g-1"]) == (where(c, "app"), nodes(c))
    assert ["pod triggered scale-up: [{g 0->1 (max: 10)}]"] == events(c, "app", "TriggeredScaleUp")
    made = c["node/g-1"]
    assert ("g-1", "a") == (made.metadata.labels[HOST], made.metadata.labels[ZONE])
    assert "group://g/g-1" == made.spec.rest["providerID"]


@both
@pytest.mark.checklist("270")
def test_the_queue_controller_steers_the_autoscaler(revision):
    """A gated pod triggers nothing; once narrowed and freed it grows the group of its kind, unnarrowed the cheap one."""
    groups = [{"name": "cheap", "template": node("t", "a", labels={VM: "spot"})},
              {"name": "sure", "template": node("t", "b", labels={VM: "demand"})}]
    ends = []
    for change in ({}, {"nodeSelector": {VM: "demand"}}):
        c = scaled(node("full", "a", cpu="50m"), pod("app", gates=("quota",)), groups=groups, revision=revision,
                   expander="priority")
        c.run()
        assert (["full"], []) == (nodes(c), events(c, "app", "TriggeredScaleUp"))
        patch(c, "pod/app", spec={**change, "schedulingGates": None})
        c.run("pod/app Running")
        ends.append(where(c, "app"))
    assert [["cheap-1"], ["sure-1"]] == ends


def test_why_no_group_grows():
    """A pod that no machine fits gets each group's reason, counted; so does one whose group is at its maximum."""
    c = scaled(pod("big", cpu="99"), pod("far", nodeSelector={ZONE: "c"}), groups=[SMALL, LARGE])
    c.run()
    assert ["pod didn't trigger scale-up: 2 Insufficient cpu"] == events(c, "big", "NotTriggerScaleUp")
    words = "pod didn't trigger scale-up: 2 node(s) didn't match Pod's node affinity/selector"
    assert [words] == events(c, "far", "NotTriggerScaleUp")
    full = scaled(*(pod(f"p{n}", cpu="2") for n in range(3)), groups=[{**SMALL, "max": 2}])
    full.run(seconds=300)
    assert ["small-1", "small-2"] == nodes(full)
    refused = [words for n in range(3) for words in events(full, f"p{n}", "NotTriggerScaleUp")]
    assert {"pod didn't trigger scale-up: 1 max node group size reached"} == set(refused)


def test_as_many_machines_as_are_needed_are_asked_for_at_once():
    """Eight pods of one cpu need two machines of four: one request, one machine each, none too many."""
    c = scaled(*(pod(f"p{n}", cpu="1") for n in range(8)))
    c.run(seconds=300)
    assert ["g-1", "g-2"] == nodes(c)
    assert {"pod triggered scale-up: [{g 0->2 (max: 10)}]"} == set(events(c, "p0", "TriggeredScaleUp"))


def test_machines_on_their_way_count():
    """Pods that come while a machine is made and that will fit it ask for no other."""
    c = scaled(pod("first", cpu="1"), provisioning_delay=100.0)
    c.run(lambda c: events(c, "first", "TriggeredScaleUp"))
    c.apply(pod("second", cpu="1"), pod("third", cpu="3"))
    c.run(lambda c: all(where(c, "first", "second", "third")), seconds=600)
    assert ["g-1", "g-2"] == nodes(c)
    assert [] == events(c, "second", "TriggeredScaleUp")


@pytest.mark.parametrize(("expander", "chosen"), [
    ("least-waste", {"small"}), ("most-pods", {"large"}), ("priority", {"large"}), ("random", {"large", "small"}),
])
def test_an_expander_chooses_among_the_groups_that_help(expander, chosen):
    """Least waste takes the fitting machine, most pods the one for all, priority the first, random any by the seed."""
    grown = set()
    pods = [pod("one", requests={"cpu": "2", "memory": "8Gi"})]
    pods += [pod("two", requests={"cpu": "9"})] if expander == "most-pods" else []
    for seed in range(8):
        c = scaled(*pods, groups=[LARGE, SMALL], expander=expander, seed=seed)
        c.run(nodes, seconds=300)
        grown.add(nodes(c)[0].partition("-")[0])
    assert chosen == grown


def test_a_cloud_without_machines_is_given_up_for_another_group():
    """What the cloud does not have in stock never comes: its group is left alone, and the pod gets the other kind."""
    groups = [{"name": "spot", "template": node("t", "a"), "stock": 1}, {"name": "demand", "template": node("t", "b")}]
    c = scaled(pod("one", cpu="3"), pod("two", cpu="3"), groups=groups, expander="priority", max_node_provision_time=300.0)
    c.run(lambda c: all(where(c, "one", "two")), seconds=3000)
    assert ["demand-1", "spot-1"] == nodes(c)
    assert 300 < c.now < 500
    assert ["pod triggered scale-up: [{spot 0->2 (max: 10)}]", "pod triggered scale-up: [{demand 0->1 (max: 10)}]"] == sorted(
        {*events(c, "one", "TriggeredScaleUp"), *events(c, "two", "TriggeredScaleUp")}, reverse=True)


def test_a_group_is_tried_again_after_its_backoff():
    """With no other group the pod is told so; the group is tried again when it is no longer left alone."""
    c = scaled(pod("app"), groups=[{"name": "spot", "template": node("t", "a"), "stock": 0}], max_node_provision_time=100.0)
    c.run(lambda c: "node/spot-9" in c, seconds=1000)
    assert "pod didn't trigger scale-up: 1 in backoff after failed scale-up" in events(c, "app", "NotTriggerScaleUp")
    told = [turn.words for turn in c.world.turns if "gives up" in turn.words]
    assert ["cluster autoscaler gives up spot-1, and leaves spot alone for 300 s",
            "cluster autoscaler gives up spot-2, and leaves spot alone for 600 s"] == told
    assert [] == nodes(c)


def test_daemons_take_room_on_a_machine():
    """The pods of DaemonSets are counted on the template, so two machines are asked for where one would be full."""
    container = {"name": "d", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"cpu": "1"}}}
    daemons = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
               "spec": {"selector": {"matchLabels": {"d": "x"}},
                        "template": {"metadata": {"labels": {"d": "x"}}, "spec": {"containers": [container]}}}}
    for objects, count in (((), 1), ((daemons,), 2)):
        c = scaled(*objects, *(pod(f"p{n}", cpu="2") for n in range(2)))
        c.run(seconds=300)
        assert count == len(nodes(c))


def test_expendable_pods_trigger_nothing():
    """Pods of a priority below the cutoff wait for room that is there anyway."""
    low = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}, "value": -20}
    c = scaled(low, pod("app", priorityClassName="low", priority=-20))
    c.run(seconds=300)
    assert [] == nodes(c)


def test_a_machine_may_bring_its_csi_node():
    """A template of a Node and a CSINode registers both, in a turn each."""
    c = scaled(pod("app"), groups=[{"name": "g", "template": [MACHINE, csi_node("t", 5)]}])
    c.run("pod/app Running")
    assert ("g-1", "disks.example.com") == (c["csinode/g-1"].metadata.name, c["csinode/g-1"].spec.drivers[0].name)


# -- S3, Story 2 -------------------------------------------------------------------------------------------------------


def deployment(image, **spec):
    """A Deployment of two replicas of app foo."""
    container = {"name": "app", "image": image, "resources": {"requests": {"cpu": "1"}}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"replicas": 2, "selector": {"matchLabels": FOO},
                     "template": {"metadata": {"labels": FOO}, "spec": {"containers": [container], **spec}}}}


@both
@pytest.mark.checklist("215")
def test_story_2_of_even_pods_spreading(revision):
    """An update of two replicas apart on two nodes: deadlock without, a third machine with an autoscaler; none if spread.

    The machine stands idle once the old replicas are gone, and is removed when it was unneeded for long enough.
    """
    kept_apart, spread_out = {"affinity": apart(HOST, **FOO)}, {"topologySpreadConstraints": [spread(HOST, **FOO)]}

    def updated(autoscaler, **spec):
        c = cluster(node("n1", "a"), node("n2", "b"), revision=revision)
        c = c.with_autoscaler([{"name": "g", "template": MACHINE, "nodes": ["n1", "n2"], "min": 2}]) if autoscaler else c
        c.apply(deployment("app:v1", **spec))
        c.run(seconds=300)
        c.apply(deployment("app:v2", **spec))
        most = set()
        c.run(lambda c: most.update(nodes(c)), seconds=3000)
        images = {each.spec.containers[0].image for each in c.objects("pods") if each.spec.node_name}
        return images, sorted(most - {"n1", "n2"}), len(nodes(c))

    assert ({"app:v1"}, [], 2) == updated(False, **kept_apart)
    assert ({"app:v2"}, ["g-1"], 2) == updated(True, **kept_apart)
    assert ({"app:v2"}, [], 2) == updated(True, **spread_out)


# -- scale down --------------------------------------------------------------------------------------------------------


def test_an_unneeded_node_is_tainted_emptied_and_deleted():
    """After the unneeded time: taint, evictions, then the node; the pods are made again and find another node."""
    c = scaled(node("n1", "a"), node("n2", "a"), replica_set(2, nodeSelector={ZONE: "a"}),
               groups=[{"name": "g", "template": MACHINE, "nodes": ["n1", "n2"], "min": 1}], utilization_threshold=0.9)
    c.run(seconds=60)
    assert {"n1", "n2"} == {each.spec.node_name for each in c.objects("pods")}
    c.run(seconds=1500)
    left = nodes(c)
    assert 1 == len(left)
    gone, = {"n1", "n2"} - {*left}
    assert [left[0]] * 2 == [each.spec.node_name for each in c.objects("pods")]
    assert ["marked the node as toBeDeleted/unschedulable"] == events(c, gone, "ScaleDown")
    assert 1 == len([e for e in c.objects("events") if e.message == "deleting pod for node scale down"])
    writes = [turn.words for turn in c.world.turns if turn.component == "cluster-autoscaler" and turn.outcomes]
    assert [f"cluster autoscaler marks {gone} to be deleted", "cluster autoscaler evicts", "cluster autoscaler deletes"] == [
        words if number == 0 else " ".join(words.split()[:3]) for number, words in enumerate(writes)]


BUDGET = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "foo"},
          "spec": {"minAvailable": 1, "selector": {"matchLabels": FOO}}}


@pytest.mark.parametrize(("objects", "flags", "stays"), [
    ([owned("app", "g1")], {}, False),
    ([], {}, False),
    ([pod("bare", running_on="g1")], {}, True),
    ([pod("bare", running_on="g1", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"})], {}, False),
    ([owned("app", "g1", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"})], {}, True),
    ([owned("app", "g1", nodeSelector={HOST: "g1"})], {}, True),
    ([owned("app", "g1", cpu="3")], {}, True),
    ([owned("app", "g1"), BUDGET], {}, True),
    ([owned("app", "g1")], {"scale_down": False}, True),
    ([owned("app", "g1")], {"groups": [{"name": "g", "template": MACHINE, "nodes": ["g1"], "min": 1}]}, True),
    ([owned("app", "g1", namespace="kube-system")], {}, True),
    ([owned("app", "g1", namespace="kube-system")], {"skip_system_pods": False}, False),
])  # fmt: skip
def test_what_keeps_a_node(objects, flags, stays):
    """A node stays if a pod on it cannot go: no controller, an annotation, a budget, no other place; or at the minimum."""
    rs = replica_set(1) if any(each["metadata"].get("ownerReferences") for each in objects) else None
    groups = flags.pop("groups", None) or [{"name": "g", "template": MACHINE, "nodes": ["g1"]}]
    c = scaled(node("other", "a"), node("g1", "a", cpu="4"), *([{**rs, "metadata": {"name": "foo", "uid": "u"}}] if rs else []),
               *objects, groups=groups, **flags)
    c.run(seconds=2000)
    assert stays == ("g1" in nodes(c))


def test_a_budget_that_closes_meanwhile_stops_the_removal():
    """An eviction that a budget forbids is refused (429) and tried every 10 s; after two minutes the node is kept."""
    rs = {**replica_set(1), "metadata": {"name": "foo", "uid": "u"}}
    c = scaled(node("other", "a"), node("g1", "a"), rs, owned("app", "g1"),
               groups=[{"name": "g", "template": MACHINE, "nodes": ["g1"]}])
    c.run(lambda c: c["node/g1"].spec.taints, seconds=2000)
    c.back()
    c.step("cluster autoscaler", turns=True)
    assert c["node/g1"].spec.taints
    c.apply(BUDGET)
    began = c.now
    c.run(lambda c: events(c, "g1", "ScaleDownFailed"), seconds=600)
    assert ["failed to drain the node, aborting ScaleDown"] == events(c, "g1", "ScaleDownFailed")
    assert 120 <= c.now - began < 140
    assert ("g1", ()) == (c["pod/app"].spec.node_name, c["node/g1"].spec.taints)
    refused = c.requests(by="cluster-autoscaler", subresource="eviction").count()
    assert ([429], True) == (list(refused), refused[429] > 10)


def test_it_does_not_shrink_soon_after_it_grew():
    """No node is removed before the delay after a scale-up is over, however short the unneeded time."""
    c = scaled(pod("app", cpu="3"), unneeded_time=1.0, delay_after_add=500.0)
    c.run("pod/app Running")
    c.delete("pod/app")
    c.run(lambda c: not nodes(c), seconds=3000)
    assert 500 <= c.now < 600


# -- a component like any other ----------------------------------------------------------------------------------------


@both
def test_a_crash_loses_no_machine(revision):
    """Machines on their way come after a crash as well, at their time; a node that was tainted before it is freed."""
    c = scaled(pod("app"), revision=revision, provisioning_delay=100.0)
    c.run(lambda c: events(c, "app", "TriggeredScaleUp"))
    at = c.now
    c.crash("cluster-autoscaler")
    c.run("pod/app Running")
    assert (["g-1"], at + 100) == (nodes(c), c.now)
    c.run(seconds=2000)
    assert ["g-1"] == nodes(c)


def test_a_crash_during_a_removal_keeps_the_node():
    """After a restart the taint that the earlier life has set is removed, and the time begins anew."""
    c = scaled(node("n1", "a"), node("n2", "a"), owned("app", "n1"), {**replica_set(1), "metadata": {"name": "foo", "uid": "u"}},
               groups=[{"name": "g", "template": MACHINE, "nodes": ["n1"]}])
    c.run(lambda c: "n1" in c["node/n1"].metadata.name and c["node/n1"].spec.taints, seconds=2000)
    began = c.now
    c.crash("cluster-autoscaler")
    c.run(lambda c: not c["node/n1"].spec.taints, seconds=60)
    assert () == c["node/n1"].spec.taints
    c.run(lambda c: "node/n1" not in c, seconds=3000)
    assert c.now >= began + 600


def test_refused_writes_are_tried_again():
    """A refused registration is repeated after a back-off."""
    c = scaled(pod("app"))
    c.refuse("cluster-autoscaler", 1, "ServiceUnavailable")
    c.run("pod/app Running")
    assert ["g-1"] == nodes(c)


def test_back_fork_and_seed():
    """Going back undoes requests and machines; the same way forward ends alike; a fork goes on by itself."""
    c = scaled(pod("app"), groups=[SMALL, LARGE], expander="random", seed=3)
    start = c.digest()
    c.run("pod/app Running")
    end, steps = c.digest(), c.world.step_number
    other = c.fork()
    c.goto(0)
    assert start == c.digest()
    c.run("pod/app Running")
    assert (end, steps) == (c.digest(), c.world.step_number)
    other.delete("pod/app")
    other.run(seconds=3000)
    assert ([], 1) == (nodes(other), len(nodes(c)))


def test_views_equal_built_ones_at_every_step():
    """What the component has seen and queued is a function of the log: rebuilding it changes nothing."""
    c = scaled(*(pod(f"p{n}", cpu="3") for n in range(2)))
    while c.step():
        before = c.world.local_state("cluster-autoscaler"), c.digest()
        c.world.rebuild()
        assert before == (c.world.local_state("cluster-autoscaler"), c.digest())


def test_every_order_of_turns_ends_with_the_pod_placed():
    """With the autoscaler in the loop exploration exhausts all orders, and in none the pod stays without a node."""
    c = Cluster.from_manifests([pod("app")], components={
        "cluster-autoscaler": {"groups": [{"name": "g", "template": MACHINE, "max": 2}], "scale_down": False},
        "kubelet": {"absent": True}})
    found = c.explore(goal=lambda objects: bool(objects[key_for("pod/app")].spec.node_name), progress=False)
    assert (False, True) == (bool(found), found.exhausted), found


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("groups", "words"), [
    ("spot", "groups are a list of mappings"),
    ([7], r"groups\[0\]: 7 is no group"),
    ([{"name": "g", "template": MACHINE, "size": 3}], "a group has no size; there are: name, min, max, template, nodes, stock"),
    ([{"template": MACHINE}], r"groups\[0\].name: None is no name"),
    ([{"name": "g", "template": MACHINE, "max": "many"}], r"groups\[0\].max: 'many' is no number of machines"),
    ([{"name": "g", "template": MACHINE, "min": 3, "max": 2}], "min 3 is more than max 2"),
    ([{"name": "g"}], r"groups\[0\].template: a group needs the manifest of a Node"),
    ([{"name": "g", "template": pod("app")}], "one Node, and at most one CSINode, make a template, not Pod"),
    ([{"name": "g", "template": {"apiVersion": "v1", "kind": "Node"}}], "status.allocatable is missing"),
    ([{"name": "g", "template": MACHINE}] * 2, "g stands there more than once"),
])  # fmt: skip
def test_wrong_groups_are_one_clear_error(groups, words):
    """A wrong group names its place, its field and its value; nothing changes."""
    c = Cluster()
    before = c.digest()
    with pytest.raises(ValueError, match=words):
        c.with_autoscaler(groups)
    assert before == c.digest()


def test_wrong_flags_list_what_there_is():
    """An unknown flag or expander is refused with the names that exist."""
    with pytest.raises(ValueError, match="cluster-autoscaler has no dial scaledown; there are: absent, denied, groups"):
        Cluster().with_autoscaler([], scaledown=False)
    with pytest.raises(ValueError, match="expander: 'price': must be least-waste, most-pods, priority or random"):
        Cluster().with_autoscaler([], expander="price")


# -- upgrades ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("earlier", [True, False])
def test_an_upgrade_keeps_the_autoscaler(earlier):
    """Other components restart with other rules and the autoscaler goes on, whichever came first; it is no controller."""
    groups = [{"name": "g", "template": MACHINE}]
    c = cluster(revision="upstream")
    c = c.with_autoscaler(groups) if earlier else c
    c.upgrade("design", "kube-controller-manager")
    c = c if earlier else c.with_autoscaler(groups)
    c.apply(pod("one", cpu="3"))
    c.run("pod/one Running")
    assert ["g-1"] == nodes(c)
    assert "kube-controller-manager: design" in repr(c)
    c.upgrade("design")
    c.apply(pod("two", cpu="3"))
    c.run("pod/two Running")
    assert ["g-1", "g-2"] == nodes(c)
    c.upgrade("upstream", "cluster-autoscaler")
    c.apply(pod("three", cpu="3"))
    c.run("pod/three Running")
    assert ["g-1", "g-2", "g-3"] == nodes(c)


def test_a_node_that_nothing_is_noted_of_may_go_at_once():
    """Neither a time unneeded nor a cooldown is noted: nothing is left to wait for."""
    nothing = SimpleNamespace(note=lambda *_: None, now=5.0)
    assert 0.0 == Autoscaler(AutoscalerOptions(), upstream().profile)._seconds_left(nothing, "n1")

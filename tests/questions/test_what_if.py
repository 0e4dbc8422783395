"""Trials of other values: paths of fields, edits on forks, outcomes; the cluster that is asked never moves."""

import re
from types import SimpleNamespace

import pytest
from what_if_cluster import MAX_SKEW, REPLICAS, SPREAD, TAINTS_POLICY, ZONE, six_pods

import kvolsched
from kvolsched import Cluster, make
from kvolsched.api.text.convert import DESIGN_FIELDS, schema
from kvolsched.learn.scenario import nodes, pods
from kvolsched.questions import what_if
from kvolsched.questions.what_if import Trials, find_field, varied_fields


@pytest.fixture(scope="module")
def cluster():
    """Return the cluster of six pods."""
    return six_pods()


def counts(trials, field=0):
    """Return how many pods run with each value of one field."""
    return [trials.finish(positions).outcome.running for positions in trials.line(trials.start, field)]


@pytest.mark.parametrize(("path", "value", "type_name"), [
    (MAX_SKEW, 2, "int32"),
    (TAINTS_POLICY, None, "string"),
    ("node/c1:spec.unschedulable", None, "boolean"),
    ("node/c1:spec.taints[maintenance].value", None, None),
    (f"node/c1:metadata.labels[{ZONE}]", "zone-c", "string"),
    (f'node/c1:metadata.labels["{ZONE}"]', "zone-c", "string"),
    ("deploy/web:spec.template.spec.containers[app].resources.requests.cpu", "100m", "quantity"),
    ("node/a1:status.allocatable.cpu", "4", "quantity"),
])
def test_paths_are_the_manifests(cluster, path, value, type_name):
    """A field is found by names, by numbers and names of items, and in brackets; it may be one that is not set."""
    if type_name is None:
        with pytest.raises(ValueError, match=r"node/c1:spec.taints has no item \[maintenance\]: \[0\]"):
            find_field(cluster, path)
        return
    found = find_field(cluster, path)
    assert (found.value, found.type) == (value, type_name)


SPEC, CONTAINERS = "deploy/web:spec", "deploy/web:spec.template.spec.containers"
NO_PATH = "is no path of a field; write for example 'deploy/web:spec.replicas'"


@pytest.mark.parametrize(("path", "message"), [
    (f"{SPEC}.replica", (f"{SPEC} has no field 'replica'; there: replicas, selector, template, revisionHistoryLimit, progressDeadlineSeconds, "
                        'strategy; it may also have minReadySeconds, paused; did you mean "replicas"?')),
    (f"{SPREAD}.skew", (f"{SPREAD} has no field 'skew'; there: maxSkew, topologyKey, whenUnsatisfiable, labelSelector; it may also have "
                       'matchLabelKeys, minDomains, nodeAffinityPolicy, nodeTaintsPolicy; did you mean "maxSkew"?')),
    (f"{SPEC}.strategy.x", f"{SPEC}.strategy has no field 'x'; there: type, rollingUpdate"),
    ("node/a1:foo", "node/a1 has no field 'foo'; there: metadata, status; it may also have spec"),
    ("node/a1:spec.foo", ("node/a1:spec has no field 'foo'; it is empty; it may also have configSource, externalID, podCIDR, podCIDRs, "
                         "providerID, taints, unschedulable")),
    (MAX_SKEW.replace("[0]", "[1]"), f"{SPREAD.removesuffix('[0]')} has no item [1]: [0]"),
    (f"{CONTAINERS}[1].image", f"{CONTAINERS} has no item [1]: [app]"), (f"{CONTAINERS}[].image", f"{CONTAINERS} has no item []: [app]"),
    (f"{CONTAINERS}[0].ports[0].name", f"{CONTAINERS}[0].ports has no item [0]: the list is empty"),
    (f"{SPEC}.template.metadata.labels[a/b].c", f"{SPEC}.template.metadata.labels[a/b] is a value, it has no field 'c'"),
    (f"{SPEC}.replicas.x", f"{SPEC}.replicas is a value, it has no field 'x'"),
    ("deploy/web:apiVersion.x", "deploy/web:apiVersion is a value, it has no field 'x'"),
    *((path, f"'{path}' {NO_PATH}") for path in ("deploy/web", "deploy/web:", f"{SPEC}[", f"{SPEC}..replicas", f"{SPEC}[a")),
    ("deploy/wob:spec.replicas", "no deploy/wob; there are: deploy/web; did you mean deploy/web?"),
])  # fmt: skip
def test_a_bad_path_lists_what_is_there(cluster, path, message):
    """The message names the place, the fields or items there, and the nearest name."""
    with pytest.raises((ValueError, KeyError)) as refused:
        find_field(cluster, path)

    assert message == refused.value.args[0]


def test_fields_without_a_fixed_type_are_objects():
    """What a server keeps as it was written may have any field; a field that only the documents have is one, too."""
    fields = {"managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}]}
    c = Cluster.from_manifests([make.pod("p") | {"metadata": {"name": "p"} | fields}, make.pod("q", volumes=[{"name": "a", "csi": {"driver": "d"}}])])
    found = [find_field(c, path) for path in ("pod/p:metadata.managedFields[0].fieldsV1.f:spec.a.b", "pod/q:spec.volumes[a].csi.fsSize")]

    assert [(None, "object"), (None, "quantity")] == [(each.value, each.type) for each in found]
    assert ("metadata", "managedFields", 0, "fieldsV1", "f:spec", "a", "b") == found[0].steps


def test_items_are_found_by_name_or_type():
    """A number is a place; else an item's name, that of its metadata, or its type; the path leads to the item's number."""
    status = {"conditions": [{"type": "DiskPressure", "status": "False"}, {"type": "Ready", "status": "True"}]}
    plain = make.node("n1") | {"status": make.node("n1")["status"] | status}
    containers = [{"name": "a", "image": "one", "command": ["run", "it"]}, {"name": "b", "image": "two"}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}}
    c = Cluster.from_manifests([plain, pod])
    found = {path: find_field(c, path) for path in (
        "node/n1:status.conditions[Ready].status", "node/n1:status.conditions[0].type", "pod/p:spec.containers[b].image",
        "pod/p:spec.containers[0].command[1]", "pod/p:.spec.containers[1]", "pod/p:metadata.annotations['x.y/z']",
        'pod/p:metadata.annotations["x.y/z"]', "pod/p:metadata.annotations[x.y/z]", "pod/p:metadata.annotations.x", "pod/p:spec")}  # fmt: skip
    annotation = (("metadata", "annotations", "x.y/z"), None, "string", "")

    assert [(each.steps, each.value, each.type, each.subresource) for each in list(found.values())[:-1]] == [
        (("status", "conditions", 1, "status"), "True", "string", "status"), (("status", "conditions", 0, "type"), "DiskPressure", "string", "status"),
        (("spec", "containers", 1, "image"), "two", "string", ""), (("spec", "containers", 0, "command", 1), "it", "string", ""),
        (("spec", "containers", 1), found["pod/p:.spec.containers[1]"].value, "Container", ""), annotation, annotation, annotation,
        (("metadata", "annotations", "x"), None, "string", "")]  # fmt: skip
    assert ("two", "PodSpec", "pod/p") == (found["pod/p:.spec.containers[1]"].value["image"], found["pod/p:spec"].type, found["pod/p:spec"].reference)
    with pytest.raises(ValueError, match=r"^pod/p:spec.containers\[0\].command has no item \[2\]: \[0\], \[1\]$"):
        find_field(c, "pod/p:spec.containers[0].command[2]")


CONSTRAINT = {"maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}


@pytest.mark.parametrize(("values", "patch"), [
    ({REPLICAS: 3}, {"spec": {"replicas": 3}}), ({REPLICAS: None}, {"spec": {"replicas": None}}),
    ({REPLICAS: 3, f"{SPEC}.paused": True}, {"spec": {"replicas": 3, "paused": True}}),
    ({f"{SPEC}.strategy.rollingUpdate.maxSurge": 1, f"{SPEC}.strategy.type": "x", "deploy/web:metadata.labels.a": "b"},
     {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1}, "type": "x"}}, "metadata": {"labels": {"a": "b"}}}),
    ({MAX_SKEW: 3, TAINTS_POLICY: "Honor"},
     {"spec": {"template": {"spec": {"topologySpreadConstraints": [CONSTRAINT | {"maxSkew": 3, "nodeTaintsPolicy": "Honor"}]}}}}),
    ({TAINTS_POLICY: None}, {"spec": {"template": {"spec": {"topologySpreadConstraints": [CONSTRAINT]}}}}),
    ({"node/c1:spec.unschedulable": None}, {"spec": {"unschedulable": None}}),
    ({f"{SPEC}.template.spec.affinity.nodeAffinity": {"x": 1}}, {"spec": {"template": {"spec": {"affinity": {"nodeAffinity": {"x": 1}}}}}}),
])  # fmt: skip
def test_a_patch_has_the_fields_alone(cluster, values, patch):
    """A merge patch has nothing that stays, except the other fields and items of a list, which is sent whole."""
    assert patch == what_if.merge_patch(cluster, {find_field(cluster, path): value for path, value in values.items()})


@pytest.mark.parametrize(("wanted", "values"), [
    (bool, (False, True)), ((1, 3), (1, 2, 3)), ((1, 24), tuple(range(1, 25))), ((1, 25), tuple(range(1, 26, 2))),
    ((1, 47), tuple(range(1, 48, 2))), ((0, 100, 10), tuple(range(0, 101, 10))), ((0, 4, 3), (0, 3, 4)), ([3, 1], (3, 1)),
    ((0, 23, 1), tuple(range(24))), ([None], (None,)), (list(range(24)), tuple(range(24))),
])  # fmt: skip
def test_values_are_a_range_both_or_a_list(wanted, values):
    """A range has both ends, and of more than 24 numbers not each; a step of one's own is kept; a list stays as it is."""
    assert values == what_if._values("x", wanted)


@pytest.mark.parametrize("wanted", [(3, 1), (1, 1), 5, [], "abc", (1.5, 3), list(range(25)), int, True, (1, 5, 0), (5, 1, 1), (1, 1, 1), (0, 24, 1),
                                    (1,), {}, None])
def test_any_other_values_are_refused(wanted):
    """The field is named, with what was written and how values are written."""
    with pytest.raises(ValueError, match="are no values") as refused:
        what_if._values("x", wanted)

    assert f"x: {list(range(25)) if wanted == (0, 24, 1) else wanted!r} are no values; write (1, 12) for a range with both ends, bool, or a list of at most 24 values" == str(refused.value)


@pytest.mark.parametrize(("present", "values", "start"), [
    (5, [1, 2, 9], 1), (5, [9, 7, 4], 2), (6, [1, 5, 7], 1), (5, ["5", 5], 1), ("5", [5, "5"], 1), (5, [1, "5"], 1), (True, [1, False, True], 2),
    (None, [1, None], 1), (None, [1, 2], 0), ("a", ["b", "c"], 0), (5, [1, "9"], 0), (2.5, [1, 3], 0), (5, [9, 4.5], 0), (1, [True, 1], 1),
])  # fmt: skip
def test_a_control_starts_at_the_present_value(present, values, start):
    """Of the same type before one that is only written alike; of numbers at the nearest, the first of two; else at the first."""
    assert start == what_if._start(present, values)


@pytest.mark.parametrize(("paths", "labels"), [
    ({MAX_SKEW: [1], REPLICAS: [2]}, ["maxSkew", "replicas"]),
    ({"node/a1:status.allocatable.cpu": ["1"], "node/a1:status.capacity.cpu": ["1"]}, ["allocatable cpu", "capacity cpu"]),
    ({"node/a1:spec.unschedulable": bool, "node/b1:spec.unschedulable": bool, REPLICAS: [2]}, ["a1 unschedulable", "b1 unschedulable", "web replicas"]),
    ({f"{CONTAINERS}[0]": [{}], f"{CONTAINERS}[app].image": ["x"]}, ["containers", "image"]),
])
def test_fields_have_their_shortest_labels(cluster, paths, labels):
    """The last name, with the one before it where two are equal, or with the object where those are equal, too."""
    assert labels == [field.label for field in varied_fields(cluster, paths)]


def test_a_trial_is_called_by_its_values(cluster):
    """Each fork says what it has, in the words of a manifest; of a cluster without a name that it is a fork."""
    trials = Trials(cluster, varied_fields(cluster, {MAX_SKEW: [3], TAINTS_POLICY: [None], "node/a1:spec.unschedulable": [True, False]}))
    bare = Cluster.from_manifests([make.node("n1")])
    alone = Trials(bare, varied_fields(bare, {"node/n1:spec.unschedulable": [True]}))

    assert ("six-pods", "six-pods: maxSkew 3, nodeTaintsPolicy –, unschedulable true") == (trials.origin.name, trials.trial((0, 0, 0)).cluster.name)
    assert "a fork: unschedulable true" == alone.trial((0,)).cluster.name
    assert ["–", "true", "false", "3", "x", "1.5"] == [what_if.shown(value) for value in (None, True, False, 3, "x", 1.5)]


def test_the_last_trials_are_kept(cluster, monkeypatch):
    """Clusters of the last few values are kept, those looked at last the longest; all outcomes stay."""
    monkeypatch.setattr(what_if, "KEPT_CLUSTERS", 2)
    trials = Trials(cluster, varied_fields(cluster, {REPLICAS: (1, 3)}))
    first, second = trials.finish((0,)), trials.finish((1,))
    assert first is trials.trial((0,))
    third = trials.finish((2,))

    assert (first, third) == (trials.trial((0,)), trials.trial((2,)))
    assert second is not trials.trial((1,))
    assert {(0,), (1,), (2,)} == set(trials.outcomes)
    assert trials.advance((1,), 0)


def test_a_run_without_end_is_stopped_at_its_time(monkeypatch):
    """After so many simulated seconds the outcome says that it is not the end; a run that was over is none of these."""
    monkeypatch.setattr(what_if, "MAX_SECONDS", 0.5)
    cluster = kvolsched.scenario("two-volumes-one-pool")
    late = Trials(cluster, varied_fields(cluster, {"node/node-1:spec.unschedulable": [False]}))
    soon = six_pods()
    ended = Trials(soon, varied_fields(soon, {REPLICAS: [0]}))

    assert ["not idle after 0.5 s", ""] == [each.finish((0,)).outcome.unfinished for each in (late, ended)]


def test_pods_that_run_or_have_succeeded_are_counted():
    """Of a workload and of all others: of a Deployment those of its ReplicaSets; one without a controller is another one."""
    done = make.pod("done") | {"status": {"phase": "Succeeded"}}
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.deployment("web", 3, cpu="400m"), make.deployment("db", 1, cpu="100m"),
                                make.pod("big", cpu="8"), done])  # fmt: skip
    web = c.world.find_key("deploy/web")
    before = what_if.count_running(c, web)
    c.run()

    assert ((0, 0), (1, 2)) == before
    assert [((2, 3), (2, 3)), ((4, 6), (0, 0))] == [what_if.count_running(c, web), what_if.count_running(c)]
    assert ((0, 0), (4, 6)) == what_if.count_running(c, web._replace(name="gone"))


def test_without_a_kubelet_a_pod_with_a_node_runs():
    """In a world that starts no pods those count that have a node, or have succeeded."""
    world = SimpleNamespace(processes={}, log=SimpleNamespace(objects={}))
    pods = [SimpleNamespace(metadata=SimpleNamespace(controller=None), spec=SimpleNamespace(node_name=node), status=SimpleNamespace(phase=phase))
            for node, phase in (("n1", "Pending"), ("", "Pending"), ("", "Running"), ("", "Succeeded"), ("n1", "Running"))]
    c = SimpleNamespace(world=world, objects=lambda _kind: pods)

    assert ((3, 5), (0, 0)) == what_if.count_running(c)


def test_each_value_is_a_fork_and_a_run(cluster):
    """Pods that run, of each maxSkew and of each policy; the cluster that is asked does not move."""
    before = cluster.digest()
    trials = Trials(cluster, varied_fields(cluster, {MAX_SKEW: (1, 6), TAINTS_POLICY: ["Ignore", "Honor"]}))

    assert [2, 4, 6, 6, 6, 6] == counts(trials)
    assert [4, 6] == counts(trials, 1)
    assert (before, 0) == (cluster.digest(), cluster.world.known_steps)


def test_two_fields_of_one_object_are_one_patch(cluster):
    """Fields of one object change at once, others of the same list item stay."""
    trials = Trials(cluster, varied_fields(cluster, {MAX_SKEW: [3], TAINTS_POLICY: ["Honor"], REPLICAS: [4]}))
    trial = trials.finish((0, 0, 0)).cluster
    spread = trial["deploy/web"].spec.template.spec.topology_spread_constraints[0]

    assert (3, "Honor", ZONE) == (spread.max_skew, spread.node_taints_policy, spread.topology_key)
    assert 1 == sum(turn.component == "user" for turn in trial.world.turns)


def test_a_refusal_is_an_outcome_in_the_servers_words(cluster):
    """What validation refuses is not run; the other values are."""
    trials = Trials(cluster, varied_fields(cluster, {MAX_SKEW: (0, 2)}))

    assert [0, 2, 4] == counts(trials)
    assert trials.outcomes[0,].refused.endswith("maxSkew: Invalid value: 0: must be greater than zero")
    assert not trials.outcomes[0,].good


def test_before_the_first_step_a_value_stands_in_the_manifest_from_the_start():
    """A claim's size may not be changed later: as long as nobody has seen the claim its author writes another one."""
    sizes = {"pvc/data-1:spec.resources.requests.storage": ["20Gi", "50Gi", "nothing"]}
    start = kvolsched.scenario("two-volumes-one-pool", size="20Gi")
    before, trials = start.digest(), Trials(start, varied_fields(start, sizes))
    start.step()
    later = Trials(start, varied_fields(start, sizes))

    assert [1, 0, 0] == counts(trials)
    assert ("", "50Gi", 1) == (trials.outcomes[1,].refused, trials.trial((1,)).cluster["pvc/data-1"].spec.resources.requests["storage"], trials.outcomes[1,].pods)
    assert "quantities must match" in trials.outcomes[2,].refused or "nothing" in trials.outcomes[2,].refused
    assert before == trials.origin.digest()
    assert [1, 0, 0] == counts(later)
    assert "immutable" in later.outcomes[1,].refused


def test_an_object_without_a_manifest_is_not_written_anew():
    """What nobody wrote as a manifest stays as it is: the server's refusal is the outcome."""
    c = Cluster("upstream")
    c._load([*nodes(1), *pods(1)])
    outcomes = [Trials(each, varied_fields(each, {f"pod/{name}:spec.hostNetwork": [True]})).finish((0,)).outcome for each, name in (
        (c, "pod-00000"), (Cluster.from_manifests([make.node("n1"), make.pod("app")]), "app"))]  # fmt: skip

    assert [(False, 0), (True, 1)] == [(not each.refused, each.running) for each in outcomes]
    assert "pod updates may not change fields other than" in outcomes[0].refused


def test_a_mapping_is_a_value_too():
    """A field whose present value is a mapping can be removed, and items of claim templates are found by name."""
    cluster = kvolsched.scenario("replicated-database")
    paths = {"sts/db:spec.template.spec.affinity": [None],
             "sts/db:spec.volumeClaimTemplates[data].spec.resources.requests.storage": ["10Gi"]}  # fmt: skip
    trials = Trials(cluster, varied_fields(cluster, paths))

    assert trials.finish((0, 0)).outcome.good
    assert trials.trial((0, 0)).cluster["sts/db"].spec.template.spec.affinity is None


def test_a_status_is_patched_as_a_status(cluster):
    """A node's allocatable is its status: the pods that fit change with it."""
    trials = Trials(cluster, varied_fields(cluster, {"node/a1:status.allocatable.cpu": ["100m", "4"]}))
    assert [3, 4] == counts(trials)


def test_a_value_can_be_removed(cluster):
    """None removes a field; the present value makes no patch."""
    cordoned = six_pods()
    cordoned.cordon("a1")
    trials = Trials(cordoned, varied_fields(cordoned, {"node/a1:spec.unschedulable": [True, None]}))

    assert [2, 4] == counts(trials)
    assert [0, 1] == [sum(turn.component == "user" for turn in trials.trial((number,)).cluster.world.turns)
                      - 1 for number in (0, 1)]  # fmt: skip


def test_a_run_can_be_made_in_parts(cluster):
    """A trial that is run step by step ends like one that is run at once."""
    parts, whole = (Trials(cluster, varied_fields(cluster, {REPLICAS: [5]})) for _ in range(2))
    while not parts.advance((0,), 1):
        assert not parts.outcomes

    whole.finish((0,))
    assert parts.outcomes == whole.outcomes
    assert parts.trial((0,)).cluster.digest() == whole.trial((0,)).cluster.digest()


def test_a_run_without_end_is_stopped(cluster, monkeypatch):
    """After so many steps the outcome says that it is not the end."""
    monkeypatch.setattr("kvolsched.questions.what_if.MAX_STEPS", 3)
    trials = Trials(cluster, varied_fields(cluster, {REPLICAS: [5]}))
    assert "not idle after 3 steps" == trials.finish((0,)).outcome.unfinished


def test_ranges_lists_and_starts(cluster):
    """A range has both ends, a long one is thinned; the start is the present value or the nearest number."""
    few, many, other = varied_fields(cluster, {REPLICAS: (1, 12), MAX_SKEW: (1, 100), TAINTS_POLICY: ["Honor", "Ignore"]})

    assert (tuple(range(1, 13)), 5) == (few.values, few.start)
    assert (*range(1, 97, 5), 100) == many.values
    assert ("maxSkew", "Honor") == (many.label, other.values[other.start])
    stepped, exact = varied_fields(cluster, {REPLICAS: (0, 100, 30), MAX_SKEW: (1, 24)})
    assert ((0, 30, 60, 90, 100), tuple(range(1, 25))) == (stepped.values, exact.values)


@pytest.mark.parametrize("values", [(3, 1), 5, [], "abc", (1.5, 3), list(range(30))])
def test_other_values_are_refused(cluster, values):
    """The message says in which forms values are written."""
    with pytest.raises(ValueError, match=r"are no values; write \(1, 12\) for a range with both ends, bool, or a list"):
        varied_fields(cluster, {REPLICAS: values})


def test_equal_names_are_told_apart(cluster):
    """The label is the last name, with the object's where two are equal."""
    fields = varied_fields(cluster, {f"node/{name}:spec.unschedulable": bool for name in ("a1", "b1")})
    assert ["a1 unschedulable", "b1 unschedulable"] == [field.label for field in fields]
    with pytest.raises(ValueError, match="vary at least one field"):
        varied_fields(kvolsched.Cluster(), {})


def test_fields_of_one_workload_count_its_pods():
    """Other pods are counted apart; fields of several objects, or of a node, count every pod."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.pod("big", cpu="8"), make.pod("small", cpu="400m"),
                                make.deployment("web", 1, cpu="400m")])
    one = Trials(c, varied_fields(c, {REPLICAS: (1, 3)}))
    all_pods = Trials(c, varied_fields(c, {REPLICAS: [1], "node/n1:spec.unschedulable": [False]}))

    assert [((1, 1), (1, 2)), ((1, 2), (1, 2)), ((1, 3), (1, 2))] == [
        ((found.running, found.pods), found.others)
        for found in (one.finish(positions).outcome for positions in one.line(one.start, 0))]  # fmt: skip
    assert one.finish((0,)).outcome.good
    outcome = all_pods.finish((0, 0)).outcome
    assert ((2, 3), (0, 0)) == ((outcome.running, outcome.pods), outcome.others)


@pytest.mark.parametrize(("path", "value", "writes"), [
    ("node/a1:spec.unschedulable", False, 0),  # it is absent: false is what it means already
    ("node/a1:spec.unschedulable", True, 1),
    ("node/a1:spec.unschedulable", None, 0),
    ("deploy/web:spec.paused", False, 0),
    (REPLICAS, 6, 0),
    (REPLICAS, 0, 1),
    (MAX_SKEW, 2, 0),
])
def test_a_value_that_changes_nothing_writes_nothing(cluster, path, value, writes):
    """The present value, and false where the field is absent, are no patch: the trial is the cluster's own future."""
    trial = Trials(cluster, varied_fields(cluster, {path: [value]})).finish((0,))

    assert writes == sum(turn.component == "user" for turn in trial.cluster.world.turns)


def test_of_very_many_fields_twenty_four_are_listed():
    """A long list of the fields that may be there ends with how many more there are."""
    c = Cluster.from_manifests([make.pod("app")])
    with pytest.raises(ValueError, match="pod/app:spec has no field") as refused:
        find_field(c, "pod/app:spec.other")

    there, listed, more = re.search(r"there: (.*); it may also have (.*), and (\d+) more", str(refused.value)).groups()
    declared = {*schema()["types"]["PodSpec"], *DESIGN_FIELDS.get("PodSpec", ())}
    assert (24, len(declared) - 24) == (len(listed.split(", ")), int(more) + len(there.split(", ")))

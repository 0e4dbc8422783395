"""Trials of other values: paths of fields, edits on forks, outcomes; the cluster that is asked never moves."""

import re

import pytest
from what_if_cluster import MAX_SKEW, REPLICAS, SPREAD, TAINTS_POLICY, ZONE, six_pods

import kvolsched
from kvolsched import Cluster, make
from kvolsched.api.text.convert import DESIGN_FIELDS, schema
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


@pytest.mark.parametrize(("path", "message"), [
    ("deploy/web:spec.replica", r'there: replicas, selector, template.*paused; did you mean "replicas"\?'),
    (f"{SPREAD}.skew", r"there: maxSkew, topologyKey, .*nodeTaintsPolicy"),
    (MAX_SKEW.replace("[0]", "[3]"), r"has no item \[3\]: \[0\]"),
    ("deploy/web:spec.replicas.x", "spec.replicas is a value, it has no field 'x'"),
    ("node/a1:spec.taints[0].key", r"spec.taints has no item \[0\]: the list is empty"),
    ("deploy/web", "'deploy/web' is no path of a field; write for example 'deploy/web:spec.replicas'"),
    ("deploy/web:spec[", "is no path of a field"),
    ("deploy/wob:spec.replicas", "no deploy/wob; there are: deploy/web"),
])
def test_a_bad_path_lists_what_is_there(cluster, path, message):
    """The message names the place, the fields or items there, and the nearest name."""
    with pytest.raises((ValueError, KeyError), match=message):
        find_field(cluster, path)


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
    assert "quantities must match" in trials.outcomes[2,].refused or "nothing" in trials.outcomes[2,].refused
    assert before == trials.origin.digest()
    assert [1, 0, 0] == counts(later)
    assert "immutable" in later.outcomes[1,].refused


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
    assert (20, 1, 96) == (len(many.values), many.values[0], many.values[-1])
    assert ("maxSkew", "Honor") == (many.label, other.values[other.start])


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

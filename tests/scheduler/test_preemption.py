"""Preemption: its victims, the chosen node, its messages, and the hypothetical snapshot."""

from collections import Counter
from contextlib import nullcontext

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import check, matrix
from objects import node, pod

from kvolsched.api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from kvolsched.api.kinds.pod import Container, Pod, PodSpec, PodStatus, Resources
from kvolsched.api.text.manifest import from_plain
from kvolsched.rules.releases.design_documents import design_profile
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.hypothetical_snapshot import HypotheticalSnapshot
from kvolsched.scheduler.columns.snapshot import Snapshot, snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.verdict import OK, Code, Reject
from kvolsched.scheduler.loop.scheduling_cycle import post_filter
from kvolsched.scheduler.plugins.default_preemption import PREEMPTION_1_11, DefaultPreemption
from kvolsched.scheduler.plugins.default_preemption.rule import DryRun
from kvolsched.scheduler.shortcuts import without_shortcuts
from kvolsched.world.apiserver import key_of
from scheduler.strategies import _nodes, between, company, moves, some_of, spread
from scheduler.volume_strategies import disks

PAUSE = "2026-01-11T00:00:00Z"


def small(name, labels=None, **spec):
    """Return a node with two cores."""
    return node(name, labels=labels, cpu="2", memory="8Gi", pods="9", **spec)


def running(name, on, priority=0, cpu="1", labels=None, start=None, **spec):
    """Return a pod that runs on a node since `start`."""
    made = pod(name, node_name=on, labels=labels or {"app": name}, requests={"cpu": cpu}, priority=priority, **spec)
    return attrs.evolve(made, status=PodStatus(phase="Running", start_time=start))


def budget(app, allowed, name="pdb", **status):
    """Return a disruption budget for the pods of an app."""
    return from_plain(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"matchLabels": app}},
            "status": {"disruptionsAllowed": allowed, **status},
        }
    )


def wanting(cpu="2", priority=10, **spec):
    """Return a pod with this cpu request and priority 10."""
    return pod("p", labels={"app": "p"}, requests={"cpu": cpu}, priority=priority, **spec)


def preempt(objects, wanted=None):
    """Return (node, victims), or the message if there is no such node."""
    judgement = judge(wanted or wanting(), snapshot(objects), upstream_profile())
    assert not judgement.any_feasible
    found = post_filter(judgement.pod, judgement)
    return (found.nominated, [one.metadata.name for one in found.victims]) if found.nominated else found.message


def test_as_few_as_possible_leave():
    """All pods of lower priority are removed, then put back by importance while the pod still fits."""
    pods = [running("a", "n", 1), running("b", "n", 2)]

    assert ("n", ["a"]) == preempt([small("n"), *pods], wanting("1"))
    assert ("n", ["a", "b"]) == preempt([small("n"), *pods])


def test_of_equal_priority_the_one_that_started_later_leaves():
    """A pod that runs longer is more important; one that has not started is the least important."""
    early, late = (running(name, "n", 1, start=f"2026-01-1{day}T00:00:00Z") for name, day in (("a", 1), ("b", 2)))

    assert ("n", ["b"]) == preempt([small("n"), early, late], wanting("1"))
    assert ("n", ["c"]) == preempt([small("n"), running("c", "n", 1), late], wanting("1"))


def test_budgets_are_spent_in_order_of_importance():
    """With one allowed disruption for two pods, the less important one exceeds the budget and is put back first."""
    pods = [running("a", "n", 1, labels={"app": "x"}), running("b", "n", 2, labels={"app": "x"})]

    assert ("n", ["b"]) == preempt([small("n"), *pods, budget({"app": "x"}, 1)], wanting("1"))
    assert ("n", ["a"]) == preempt([small("n"), *pods, budget({"app": "x"}, 2)], wanting("1"))


@pytest.mark.parametrize("protecting", [
    budget({"app": "x"}, 0, disruptedPods={"a": PAUSE}),
    budget({}, 0),
])  # fmt: skip
def test_whom_a_budget_does_not_protect(protecting):
    """A pod in disruptedPods, and all pods of a budget with an empty selector, are not protected."""
    other = small("m"), running("b", "m", 5, "2", labels={"app": "y"})

    assert ("n", ["a"]) == preempt([small("n"), running("a", "n", 1, "2", labels={"app": "x"}), *other, protecting])


@pytest.mark.parametrize(
    ("here", "there"),
    [
        pytest.param([("a", 5)], [("b", 1, "held")], id="fewest violated budgets"),
        pytest.param([("a", 1), ("b", 1)], [("c", 2)], id="the lowest of the highest priorities"),
        pytest.param([("a", 2), ("b", 1)], [("c", 2), ("d", 2)], id="the smallest sum"),
        pytest.param([("a", 2)], [("b", 2), ("c", -9)], id="the fewest victims"),
        pytest.param([("a", 2, "", "2")], [("b", 2, "", "1")], id="the latest start"),
        pytest.param([("a", 2)], [("b", 2)], id="by name"),
    ],
)
def test_the_node_where_least_is_lost(here, there):
    """The criteria decide in order; each counts only if all earlier ones are equal."""
    objects = [small("h"), small("t"), budget({"app": "held"}, 0)]
    for on, pods in (("h", here), ("t", there)):
        for name, priority, *more in pods:
            app, day = [*more, "", ""][:2] if len(more) < 2 else more
            start = f"2026-01-1{day}T00:00:00Z" if day else PAUSE
            cpu = "2" if len(pods) == 1 else "1"
            objects.append(running(name, on, priority, cpu, {"app": app or name}, start))

    assert ("h", [name for name, *_ in here]) == preempt(objects)


def test_the_latest_start_comes_before_the_name():
    """Of victims of equal priority those that started last leave, also of a node whose name comes later."""
    early, late = (running(name, name, 1, "2", start=f"2026-01-1{day}T00:00:00Z") for name, day in (("a", 1), ("b", 2)))

    assert ("b", ["b"]) == preempt([small("a"), small("b"), early, late])


def test_a_start_that_is_reported_later_counts():
    """A change of a pod's status alone changes whom it is more important than."""
    other, old = running("b", "n", 1, start="2026-01-12T00:00:00Z"), running("a", "n", 1, start="2026-01-11T00:00:00Z")
    new = running("a", "n", 1, start="2026-01-13T00:00:00Z")
    seen = snapshot([small("n"), other, old])

    def victims():
        judgement = judge(wanting("1"), seen, upstream_profile())
        return [one.metadata.name for one in post_filter(judgement.pod, judgement).victims]

    assert ["b"] == victims()
    seen.apply(key_of(old), old, new)
    assert ["a"] == victims()


def test_a_pod_is_not_in_the_way_of_itself():
    """A nominated pod fits on its node, where there is room for it once."""
    nominated = attrs.evolve(wanting(), status=PodStatus(nominated_node_name="n"))

    assert ("n",) == judge(nominated, snapshot([small("n"), nominated]), upstream_profile()).feasible


def test_why_it_does_not_help():
    """Preemption explains unresolvable nodes, nodes without victims, and nodes on which the pod still does not fit."""
    objects = [
        small("bad", unschedulable=True),
        small("same"), running("a", "same", 10, "2"),
        small("low"), running("b", "low", 1), running("c", "low", 10),
    ]  # fmt: skip

    assert (
        "no new claims to deallocate, preemption: 0/3 nodes are available: 1 Insufficient cpu, "
        "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    ) == preempt(objects)


def test_who_may_not_preempt():
    """A pod with preemptionPolicy Never, and one whose victims are still terminating, do not preempt."""
    leaving = attrs.evolve(
        running("a", "n", 1, "2"),
        metadata=ObjectMeta(name="a", namespace="default", deletion_timestamp=PAUSE),
        status=from_plain({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "status": {"conditions": [
            {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}}).status,
    )  # fmt: skip
    waiting = attrs.evolve(wanting(), status=PodStatus(nominated_node_name="n"))

    assert "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never." == preempt(
        [small("n"), running("a", "n", 1, "2")], wanting(preemptionPolicy="Never")
    )
    assert (
        "no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node."
    ) == preempt([small("n"), leaving], waiting)
    assert ("n", ["a"]) == preempt([small("n"), leaving])


def test_the_whole_sentence():
    """The message has the reasons of the pass, then those of DynamicResources, then those of preemption."""
    judgement = judge(wanting(), snapshot([small("n"), running("a", "n", 10)]), upstream_profile())

    assert (
        "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    ) == judgement.sentence(postfilter=post_filter(judgement.pod, judgement).message)


def test_a_victim_of_spreading():
    """Evicting a pod from a domain over maxSkew lets the new pod in, with one victim only."""
    even = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}}}  # fmt: skip
    objects = [
        small("a", {"zone": "a"}), running("e0", "a", 1, labels={"app": "x"}), running("e1", "a", 1),
        small("b", {"zone": "b"}, unschedulable=True),
    ]  # fmt: skip
    wanted = pod("p", labels={"app": "x"}, requests={"cpu": "0"}, priority=9, topologySpreadConstraints=[even])

    assert ("a", ["e0"]) == preempt(objects, wanted)


def test_amounts_beyond_64_bits_are_added_up_exactly():
    """Where sums of requests do not fit into 64 bits, victims are those of a dry run in whole numbers."""
    most = str(2**63 - 1)
    objects = [small("n"), running("a", "n", 1, "1"), running("b", "n", 2, most), running("c", "n", 3, most),
               evolve_parts(running("q", "", 20, most), status=PodStatus(nominated_node_name="m")),
               small("m"), running("d", "m", 1)]  # fmt: skip

    assert ("n", ["b", "c"]) == preempt(objects, wanting("1"))


@pytest.mark.parametrize("shortcuts", [nullcontext, without_shortcuts], ids=["with", "without shortcuts"])
def test_a_nominated_pod_is_heard_whoever_leaves(shortcuts):
    """PreFilter is asked once a pass: when the last pod with anti-affinity is removed, a nominated one still objects."""
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "p"}}}]}}  # fmt: skip
    promised = evolve_parts(running("q", "", 20, "0", affinity=apart), status=PodStatus(nominated_node_name="n"))
    objects = [small("n", {"zone": "a"}), running("a", "n", 1, "0", affinity=apart)]

    with shortcuts():
        assert ("n", ["a"]) == preempt(objects)
        assert (
            "no new claims to deallocate, preemption: 0/1 nodes are available: "
            "1 node(s) didn't satisfy existing pods anti-affinity rules."
        ) == preempt([*objects, promised])


# --- with and without shortcuts -------------------------------------------------------------------------------------


@st.composite
def crowded(draw):
    """Draw full nodes with pods of several priorities, and a pod with a large request."""
    found = [evolve_parts(one, status={"allocatable": Frozen(cpu="4", pods="9")}) for one in _nodes(draw)]
    names = [one.metadata.name for one in found]

    def asking(cpu):
        return (Container(resources=Resources(requests=Frozen(cpu=str(cpu)))),)

    pods = [
        Pod(
            metadata=ObjectMeta(name=f"e{index}", namespace="default", labels=Frozen(app=draw(some_of("xyz")))),
            spec=PodSpec(
                node_name=draw(some_of(names)),
                priority=draw(some_of([0, 1, 2, 9])),
                containers=asking(draw(between(0, 2))),
            ),
            status=PodStatus(start_time=draw(some_of([None, PAUSE, "2026-01-12T00:00:00Z"]))),
        )
        for index in range(draw(between(0, 12)))
    ]
    budgets = [budget({"app": app}, draw(between(-1, 2)), app) for app in draw(st.lists(st.sampled_from("xy"), unique=True))]
    return [*found, *pods, *budgets], Pod(
        metadata=ObjectMeta(name="p", namespace="default"),
        spec=PodSpec(priority=draw(some_of([1, 2, 5])), containers=asking(draw(between(1, 4)))),
    )


class OddPodsOnly:
    """A plugin without a column that reads the pods of the judged node, or of all nodes."""

    name = "OddPodsOnly"

    def __init__(self, *, reads_other_nodes):
        self.reads_other_nodes = reads_other_nodes

    def rule(self, pod, node, seen):
        """Reject an odd number of pods."""
        names = [each.metadata.name for each in seen.all_nodes()] if self.reads_other_nodes else [node.metadata.name]
        number = sum(len(seen.pods_on(name)) for name in names)
        return Reject((f"{number} pods",), Code.UNSCHEDULABLE) if number % 2 else OK


ODD = [OddPodsOnly(reads_other_nodes=True), OddPodsOnly(reads_other_nodes=False)]
PROFILES = [upstream_profile(), design_profile(), *(upstream_profile().with_plugin(plugin) for plugin in ODD)]


@st.composite
def promising(draw, strategy):
    """Draw a cluster with pods of several priorities, pods that are nominated, and a pod that may preempt."""
    objects, wanted = draw(strategy)
    names = [item.metadata.name for item in objects if item.kind == "Node"]
    found = [
        item if item.kind != "Pod" else evolve_parts(
            item, spec={"priority": draw(some_of([0, 1, 5, 9]))},
            status={"start_time": draw(some_of([None, PAUSE, "2026-01-12T00:00:00Z"]))},
        )
        for item in objects
    ]  # fmt: skip
    pods = [item for item in found if item.kind == "Pod"] or [wanted]
    found += [
        evolve_parts(
            draw(st.sampled_from(pods)), metadata={"name": f"q{index}", "deletion_timestamp": None},
            spec={"node_name": "", "priority": draw(some_of([0, 5, 9]))},
            status=PodStatus(nominated_node_name=draw(some_of([*names, "gone"]))),
        )
        for index in range(draw(between(0, 3)))
    ]  # fmt: skip
    nominated = draw(some_of(["", *names]))
    wanted = evolve_parts(wanted, spec={"node_name": "", "priority": 5}, status=PodStatus(nominated_node_name=nominated))
    return [*found, wanted] if draw(st.booleans()) else found, wanted


def told(wanted, seen, profile):
    """Return all that a pass says of a pod that does not fit, and of the nodes with nominated pods."""
    judgement = judge(wanted, seen, profile)
    found = post_filter(wanted, judgement)
    return {
        "matrix": [(row.node, row.plugin, row.reasons, row.first) for row in matrix(judgement)], "sentence": judgement.sentence(), "statuses": judgement.statuses,
        "plugins": judgement.rejecting_plugins, "feasible": judgement.feasible,
        "evidence": [judgement.cell(node, plugin).evidence for node in judgement.views for plugin in judgement.plugins],
        "preemption": (found.message, found.nominated, [victim.metadata.name for victim in found.victims]),
    }  # fmt: skip


@pytest.mark.parametrize("enough", [1, 2, 3])
def test_enough_candidates_that_each_cost_a_budget_are_not_the_end(enough):
    """The search goes on to a node where no budget is violated, also where it looks for few candidates."""
    profile = upstream_profile().changed(lambda each: attrs.evolve(each, min_candidate_nodes_absolute=enough)
                                         if isinstance(each, DefaultPreemption) else each)
    pods = [running(f"on-{name}", name, 1, cpu="2", labels={"app": "x" if name != "e" else "y"}) for name in "abcde"]
    objects = [*map(small, "abcde"), *pods, budget({"app": "x"}, 0)]
    judgement = judge(wanting(), snapshot(objects), profile)
    found = post_filter(judgement.pod, judgement)

    assert ("e", ["on-e"]) == (found.nominated, [victim.metadata.name for victim in found.victims])


def test_1_11_does_not_count_budgets_down():
    """Each pod is judged by itself: with one disruption left no victim exceeds it, with none each does."""
    pods = [running(name, "n", 1, labels={"app": "x"}) for name in "ab"]
    for allowed, exceeded in ((1, [False, False]), (0, [True, True])):
        assert exceeded == PREEMPTION_1_11.exceeding(pods, [budget({"app": "x"}, allowed, disruptedPods={"a": PAUSE})])


@pytest.mark.parametrize("strategy", [crowded(), company(), spread(), disks()], ids=["crowded", "company", "spread", "disks"])
def test_columns_preempt_as_copies_do(strategy):
    """Victims, node, sentences and verdicts are those of whole judgements on copies, however the cluster came to be."""

    @settings(max_examples=30)
    @given(promising(strategy), promising(strategy), st.sampled_from(PROFILES), between(1, 3), st.randoms(use_true_random=False))
    def holds(world, other, profile, enough, random):
        profile = profile.changed(lambda each: attrs.evolve(each, min_candidate_nodes_absolute=enough)
                                  if isinstance(each, DefaultPreemption) else each)
        seen, contents = Snapshot(), {}
        for objects, wanted in (world, other):
            for key, old, new in moves(contents, objects, random):
                if random.random() < 0.1:
                    told(wanted, seen, profile)
                seen.apply(key, old, new)
            quick = told(wanted, seen, profile)
            with without_shortcuts():
                assert told(wanted, seen, profile) == quick

    holds()


@pytest.mark.parametrize("strategy", [crowded(), disks()], ids=["crowded", "disks"])
def test_dry_runs_are_kept_until_a_node_changes(strategy):
    """Passes for pods alike, asked again and again while a cluster becomes another, say what each would say alone."""

    @settings(max_examples=8)
    @given(promising(strategy), promising(strategy), st.randoms(use_true_random=False))
    def holds(world, other, random):
        seen, contents, profile = Snapshot(), {}, upstream_profile()
        _, wanted = world
        for objects, _ in (world, other):
            for key, old, new in moves(contents, objects, random):
                seen.apply(key, old, new)
                quick = told(wanted, seen, profile)
                if random.random() < 0.2:
                    with without_shortcuts():
                        assert told(wanted, seen, profile)["preemption"] == quick["preemption"]

    holds()


def test_a_later_start_and_another_size_are_seen_by_the_next_pass():
    """What was found on a node holds no longer once one of its pods has started, or the node has another size."""
    seen = snapshot([small("n"), running("a", "n"), running("b", "n")])

    def victims(change=None):
        if change is not None:
            name = key_of(change)
            seen.apply(name, seen.node("n") if change.kind == "Node" else next(one for one in seen.pods_on("n") if key_of(one) == name), change)
        for _ in range(3):
            found = post_filter(wanted, judge(wanted, seen, upstream_profile()))
        return [one.metadata.name for one in found.victims]

    wanted = wanting("1")
    assert victims() == ["a"]
    assert victims(running("a", "n", start="2026-01-09T00:00:00Z")) == ["b"]
    assert victims(running("b", "n", start="2026-01-08T00:00:00Z")) == ["a"]
    assert victims(node("n", cpu="1", memory="8Gi", pods="9")) == ["a", "b"]


# --- the copy -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", [spread(), company()], ids=["spread", "company"])
def test_a_copy_without_pods_is_a_snapshot_without_them(strategy):
    """A hypothetical snapshot equals one without the removed pods; putting them back restores it."""

    @settings(max_examples=120)
    @given(strategy, st.data())
    def holds(world, data):
        objects, wanted = world
        seen = snapshot(objects)
        judge(wanted, seen, upstream_profile())  # makes the tallies
        before = seen.facts()
        copy = HypotheticalSnapshot(seen)
        pods = [item for item in objects if item.kind == "Pod" and item.spec.node_name]
        gone = [one for one in pods if data.draw(st.booleans())]
        for one in gone:
            copy.remove(one)
        check(judge(wanted, copy, upstream_profile()))
        built = snapshot([item for item in objects if item not in gone]).facts()
        told = copy.facts()
        assert {part: built[part] for part in ("nodes", "columns", "carried")} == {
            part: told[part] for part in ("nodes", "columns", "carried")
        }
        for one in gone:
            copy.put_back(one)
        assert before == copy.facts()
        assert before == seen.facts()

    holds()


@settings(max_examples=150)
@given(crowded())
def test_nodes_together_as_one_by_one(world):
    """Trying all nodes together gives the victims and reasons of trying them one by one."""
    objects, wanted = world
    seen = snapshot(objects)
    run = DryRun(wanted, seen, judge(wanted, seen, upstream_profile()))
    lower = {one.metadata.name: seen.pods_on(one.metadata.name) for one in seen.all_nodes()}
    lower = {name: [one for one in pods if one.spec.priority < wanted.spec.priority] for name, pods in lower.items()}
    lower = {name: pods for name, pods in lower.items() if pods}
    together, singly = Counter(), Counter()
    candidates = run.try_removals(lower, together)

    assert candidates == [found for name, pods in lower.items() for found in run.try_removals({name: pods}, singly)]
    assert together == singly
    for candidate in candidates:
        for one in candidate.victims:
            assert one.spec.priority < wanted.spec.priority
        left = [item for item in objects if item not in candidate.victims]
        assert candidate.node in judge(wanted, snapshot(left), upstream_profile()).feasible


@pytest.mark.parametrize("strategy", [crowded(), company(), spread()], ids=["crowded", "company", "spread"])
def test_a_promised_node_has_room_for_both(strategy):
    """A node with nominated pods of no lower priority must fit with them and without them, also by columns.

    They are added after PreFilter: what that skipped stays skipped, and a constraint counts them by their labels alone.
    """

    @settings(max_examples=120)
    @given(strategy, st.data())
    def holds(world, data):
        objects, wanted = world
        names = [item.metadata.name for item in objects if item.kind == "Node"]
        promised = []
        for index in range(data.draw(between(1, 3))):
            on = data.draw(some_of(names))
            one = next((item for item in objects if item.kind == "Pod"), wanted)
            promised.append(
                evolve_parts(
                    one,
                    metadata={"name": f"q{index}", "deletion_timestamp": None},
                    spec={"node_name": "", "priority": data.draw(some_of([0, 5, 9]))},
                    status=PodStatus(nominated_node_name=on),
                )
            )
        first = [one for one in promised if one.spec.priority >= (wanted.spec.priority or 0)]
        judgement = judge(wanted, snapshot([*objects, *promised]), upstream_profile())
        check(judgement)
        plain = judge(wanted, snapshot(objects), upstream_profile())
        for name in names:
            there = [one for one in first if one.status.nominated_node_name == name]
            copy = HypotheticalSnapshot(snapshot(objects))
            for one in there:
                copy.place(one, name)
            beside = judge(wanted, copy, upstream_profile(), plain.skipped)
            assert (name in judgement.feasible) == (name in plain.feasible and name in beside.feasible)

    holds()

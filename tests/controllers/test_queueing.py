"""S4's user stories with the shipped queue controllers and webhooks, and the orders in which they fail or cannot."""

import pytest
from documents.clusters import QUIET, cluster, events, refusal, where
from manifests import ZONE, node, pod

from kvolsched import Cluster
from kvolsched.alternatives import lax_updates
from kvolsched.explore import Crash
from kvolsched.queueing import (
    GATE,
    MACHINE,
    QUEUE,
    guess,
    hold,
    in_order,
    misplaced,
    more_than,
    narrow,
    one_by_one,
    only_on,
    quota,
)

BATCH = {QUEUE: "batch"}
NODES = [node("a1", "a", labels={MACHINE: "spot"}), node("a2", "a", labels={MACHINE: "demand"}),
         node("b1", "b", labels={MACHINE: "spot"}), node("b2", "b", labels={MACHINE: "demand"})]
both = pytest.mark.parametrize("revision", ["design", "upstream"])


def work(*numbers, **fields):
    """Pods of the queue."""
    return [pod(f"work-{number}", labels=BATCH, **fields) for number in numbers]


def queued(reconcile, *objects, revision="upstream", **components):
    """A cluster with the webhook that holds pods of queues and a queue controller."""
    c = cluster(*objects, revision=revision, **components).with_webhook(mutate=hold, verbs=["create"])
    return c.with_controller("queue", ["Pod"], reconcile)


# -- Story 1 -----------------------------------------------------------------------------------------------------------


@both
@pytest.mark.checklist("247")
def test_story_of_the_queue_controller(revision):
    """Pods wait behind an injected gate; the controller gives each a machine type and lifts it while there is quota."""
    c = queued(quota({"spot": 1, "demand": 1}), *NODES, revision=revision)
    c.apply(*work(0, 1, 2, 3), pod("other"))
    assert [(GATE,)] * 4 == [tuple(gate.name for gate in c[f"pod/work-{n}"].spec.scheduling_gates) for n in range(4)]
    c.run()
    machines = [c[f"node/{name}"].metadata.labels[MACHINE] if name else "" for name in where(c, *(f"work-{n}" for n in range(4)))]
    assert ["spot", "demand", "", ""] == machines
    assert "SchedulingGated" == c["pod/work-2"].status.condition("PodScheduled").reason
    assert where(c, "other")[0]
    c.delete("pod/work-1")
    c.run(seconds=120)
    assert "demand" == c[f"node/{where(c, 'work-2')[0]}"].metadata.labels[MACHINE]
    assert [""] == where(c, "work-3")


@both
@pytest.mark.checklist("247", "270")
def test_the_queue_controller_decides_what_the_autoscaler_buys(revision):
    """Held pods grow no group; each that is freed grows the group of the machine type that it was given."""
    template = {"apiVersion": "v1", "kind": "Node", "status": {"allocatable": {"cpu": "1", "pods": "9"}}}
    groups = [{"name": name, "template": {**template, "metadata": {"labels": {MACHINE: name}}}} for name in ("spot", "demand")]
    c = queued(quota({"spot": 1, "demand": 2}), revision=revision).with_autoscaler(groups)
    c.apply(*work(*range(5), cpu="900m"))
    c.run(seconds=600)
    placed = where(c, *(f"work-{n}" for n in range(5)))
    assert ["spot-1", "demand-1", "demand-2"] == [placed[0], *sorted(placed[1:3])]
    assert ["", ""] == placed[3:]
    assert ["demand-1", "demand-2", "spot-1"] == [each.metadata.name for each in c.objects("nodes")]
    assert [] == events(c, "work-4", "TriggeredScaleUp") + events(c, "work-4", "NotTriggerScaleUp")


@both
@pytest.mark.checklist("231", "250")
def test_one_call_or_two(revision):
    """One patch that narrows and removes the gate ends like two; the API server counts half as many requests."""
    ends, counted = [], []
    for calls in (1, 2):
        c = queued(quota({"b": 2}, ZONE, calls=calls), *NODES, revision=revision)
        c.apply(*work(0, 1))
        c.run()
        ends.append([each.spec for each in c.objects("pods")])
        counted.append(c.requests().filter(by="queue").count())
    assert ends[0] == ends[1]
    assert {"b"} == {c[f"node/{name}"].metadata.labels[ZONE] for name in where(c, "work-0", "work-1")}
    assert [{200: 2}, {200: 4}] == counted


@both
@pytest.mark.checklist("231", "243", "246")
def test_a_user_narrows_and_lifts_the_gate_in_one_call(revision):
    """The update that removes the last gate may narrow; the next update may not."""
    c = cluster(*NODES, *work(0, gates=[GATE]), revision=revision)
    c.patch("pod/work-0", {"spec": {"nodeSelector": {ZONE: "b"}, "schedulingGates": None}})
    assert "pod updates may not change fields" in refusal(c.patch, "pod/work-0", {"spec": {"nodeSelector": {MACHINE: "spot"}}})
    c.run("pod/work-0 Running")
    assert where(c, "work-0")[0].startswith("b")


# -- races -------------------------------------------------------------------------------------------------------------


def racing(reconcile, *pods, rules="upstream", gated=True):
    """A small cluster for exploration: two nodes, no kubelets."""
    c = Cluster.from_manifests([NODES[0], NODES[2]], revision=rules, components=QUIET)
    c = c.with_webhook(mutate=hold, verbs=["create"]) if gated else c
    c = c.with_controller("queue", ["Pod"], reconcile)
    c.apply(*pods)
    return c


@pytest.mark.checklist("248")
def test_kubernetes_refuses_to_narrow_a_pod_without_a_gate():
    """A controller that knows no gates only collects refusals: 422, tried again until the pod has a node."""
    c = racing(narrow({ZONE: "b"}), *work(0, nodeSelector={MACHINE: "none"}), gated=False)
    c.run(seconds=5)
    counted = c.requests().filter(by="queue").count()
    assert [422] == list(counted)
    assert counted[422] > 5


@pytest.mark.checklist("248")
def test_without_a_gate_update_and_scheduling_race():
    """If ungated pods could be narrowed, some order places one elsewhere first; behind a gate no order does."""
    race = racing(narrow({ZONE: "b"}), *work(0), rules=lax_updates(), gated=False)
    found = race.explore(until=misplaced, progress=False)
    assert found
    assert "condition holds" in repr(found)
    gated = racing(quota({"b": 1}, ZONE), *work(0), rules=lax_updates()).explore(until=misplaced, progress=False)
    assert (False, True) == (bool(gated), gated.exhausted)


@pytest.mark.checklist("248")
def test_every_order_behind_a_gate_places_the_pod_where_it_was_told():
    """Narrowed in one call or in two, with crashes of the controller: no order misplaces a pod or exceeds the quota."""
    for calls in (1, 2):
        c = racing(quota({"b": 1}, ZONE, calls=calls), *work(0, 1))
        for bad in (misplaced, more_than(1)):
            found = c.explore(until=bad, faults=[Crash("queue")], progress=False)
            assert (False, True) == (bool(found), found.exhausted), found


def test_a_race_of_a_queue_controller_and_its_cure():
    """Looking at each pod alone exceeds the limit in some order; looking at the whole queue does so in none."""
    race = racing(one_by_one(1), *work(0, 1)).explore(until=more_than(1), progress=False)
    assert race
    assert ["Queue patches pod/work-0 (spec.nodeSelector, spec.schedulingGates)",
            "Queue patches pod/work-1 (spec.nodeSelector, spec.schedulingGates)"] == [
        line[:1].upper() + line[1:] for line in race.counterexample.story if line.lower().startswith("queue")]
    cured = racing(in_order(1), *work(0, 1, 2)).explore(until=more_than(1), faults=[Crash("queue")], progress=False)
    assert (False, True) == (bool(cured), cured.exhausted)


# -- policies ----------------------------------------------------------------------------------------------------------


def under_policy(rules="upstream"):
    """A cluster whose policy wants spot machines of every new pod, with a gated pod that it has let in."""
    c = Cluster.from_manifests(NODES, revision=rules).with_webhook(validate=only_on({MACHINE: "spot"}), verbs=["create"])
    c.apply(*work(0, gates=[GATE], nodeSelector={MACHINE: "spot"}))
    return c


CHANGES = [
    {"spec": {"nodeSelector": {ZONE: "b"}}}, {"spec": {"nodeSelector": {MACHINE: "demand"}}}, {"spec": {"nodeSelector": None}},
    {"spec": {"nodeSelector": {MACHINE: None}}}, {"spec": {"nodeSelector": {MACHINE: "demand", ZONE: "a"}}},
]  # fmt: skip


@both
@pytest.mark.checklist("249")
def test_a_policy_that_looks_at_creation_alone_keeps_its_verdict(revision):
    """The policy refuses a pod for other machines; each update that would lead an admitted pod to them is refused."""
    c = under_policy(revision)
    words = 'admission webhook "policy.example.com" denied the request: its nodeSelector must have example.com/machine=spot'
    assert words == refusal(c.apply, pod("app", nodeSelector={MACHINE: "demand"}))
    answers = c.may("pod/work-0", *CHANGES)
    assert [True, False, False, False, False] == [row.allowed for row in answers]
    for row in answers:
        if row.allowed:
            assert {*row.after} <= {"a1", "b1"}
        else:
            assert row.witness.name in {"a2", "b2"}


@pytest.mark.checklist("249")
def test_lax_updates_would_void_the_policys_verdict():
    """If any update were taken, a pod that was admitted for spot machines ends on another, and nobody asks the policy."""
    c = under_policy(lax_updates())
    assert c.may("pod/work-0", *CHANGES).allowed
    c.patch("pod/work-0", {"spec": {"nodeSelector": {MACHINE: "demand"}, "schedulingGates": None}})
    c.run("pod/work-0 Running")
    assert where(c, "work-0")[0] in {"a2", "b2"}


@both
@pytest.mark.checklist("251")
def test_a_node_selector_injected_on_creation_is_a_guess(revision):
    """A webhook must choose the machine before anybody knows what is free; a wrong guess is for ever, a gate waits."""
    spot, demand = node("s1", "a", cpu="1", labels={MACHINE: "spot"}), node("d1", "a", cpu="8", labels={MACHINE: "demand"})
    full = pod("full", running_on="s1", cpu="900m")
    guessed = cluster(spot, demand, full, revision=revision).with_webhook(mutate=guess({MACHINE: "spot"}))
    guessed.apply(*work(0, cpu="2"))
    guessed.run(seconds=60)
    assert [""] == where(guessed, "work-0")
    assert not guessed.may("pod/work-0", {"spec": {"nodeSelector": {MACHINE: "demand"}}}).allowed
    decided = queued(quota({"spot": 0, "demand": 1}), spot, demand, full, revision=revision)
    decided.apply(*work(0, cpu="2"))
    decided.run(seconds=60)
    assert ["d1"] == where(decided, "work-0")


@both
@pytest.mark.checklist("271")
def test_the_probe_of_the_feature(revision):
    """A pod is created with a gate and its node selector updated: accepted; nobody but the user has sent a request."""
    c = cluster(*NODES, revision=revision)
    c.apply(pod("probe", gates=("probe",)))
    c.run()
    c.patch("pod/probe", {"spec": {"nodeSelector": {ZONE: "a"}}})
    before = len(c.requests())
    c.run(seconds=600)
    assert before == len(c.requests())
    assert [("POST", 201), ("PATCH", 200)] == [(row.verb, row.code) for row in c.requests(by="user")]
    others = {row.by for row in c.requests() if row.by != "user"}
    assert others <= {"kube-scheduler"}  # it writes the pod's condition SchedulingGated, update or no update
    assert {ZONE: "a"} == dict(c["pod/probe"].spec.node_selector)


@both
@pytest.mark.checklist("271", "252")
def test_what_informs_a_rollback_and_what_it_touches(revision):
    """Crashes of the API server count as requests without an answer; neither they nor a rollback touch pods that run."""
    c = cluster(*NODES, *work(0, gates=[GATE]), pod("web"), revision=revision)
    c.run()
    before = where(c, "web")
    assert before != [""]
    assert 0 == len(c.requests(code=0))
    narrower = {"spec": {"nodeSelector": {ZONE: "a"}}}
    for crashed in (1, 2):
        c.outage("kube-apiserver", 10)
        assert "connection refused" in refusal(c.patch, "pod/work-0", narrower)
        assert crashed == len(c.requests(code=0, verb="PATCH"))
        c.run(seconds=20)
    c.upgrade({"PodSchedulingReadiness": False}, component="kube-apiserver")
    assert "pod updates may not change fields" in refusal(c.patch, "pod/work-0", narrower)
    c.run(seconds=60)
    assert (before, "Running") == (where(c, "web"), c["pod/web"].status.phase)
    c.upgrade({"PodSchedulingReadiness": True}, component="kube-apiserver")
    assert "" == refusal(c.patch, "pod/work-0", narrower)

"""The transitions of a world, one by one: which are enabled, which faults may strike, and what is said of each."""

from types import SimpleNamespace

import pytest

from kvolsched import Cluster, make, scenario
from kvolsched.api.text.manifest import from_plain
from kvolsched.explore import Crash, Refuse, StopNodes, UserAct
from kvolsched.questions.explore import transitions
from kvolsched.questions.explore.transitions import NotEnabledError, Transition, TransitionSystem
from kvolsched.world.apiserver import Write
from kvolsched.world.log import Key, Note
from kvolsched.world.outage import API_SERVER, OUTAGES, Outage
from kvolsched.writes import delete

DELAYED = "slow"


def process(name, pending=(), wakes=(), causes=(), *, watching=True):
    """Return a component with pending kinds, wake-ups (name, time, periodic) and one actor with ready causes."""
    actor = SimpleNamespace(name=f"{name} actor", ready_causes=lambda _ctx, every=False: [(number, cause) for number, cause in enumerate(causes)] if every else [])
    wake_ups = SimpleNamespace(items={each: SimpleNamespace(at=at, periodic=periodic) for each, at, periodic in wakes})
    return SimpleNamespace(name=name, pending=dict.fromkeys(pending), cursors=("Node", "Pod", "Event"), wake_ups=wake_ups, watching=watching,
                           component=SimpleNamespace(actors=(actor,)))  # fmt: skip


def system(*processes, faults=(), lag="ordered", clock="idle", components=None, notes=(), now=10.0):
    """Return the transitions of such components."""
    sim = SimpleNamespace(processes={each.name: each for each in processes}, log=SimpleNamespace(notes=dict(notes)), now=now, chooser=None,
                          is_delayed=lambda each: each.name == DELAYED, read_only_context=lambda *_: None)  # fmt: skip
    return TransitionSystem(sim, faults, lag=lag, clock=clock, components=components, eager=True, idle=True)


ANNA = process("anna", ["Pod", "Node"], [("late", 30.0, False), ("due", 10.0, False), ("again", 5.0, True)], ["b", "a"])
SEE, DUE = Transition("see", "anna"), Transition("ring", "anna", cause="due")
ACTS = [Transition("act", "anna", "anna actor", cause) for cause in "ab"]
LATE = Transition("ring", "anna", cause="late")
EACH = [Transition("see", "anna", kinds=(kind,)) for kind in ("Node", "Pod")]
OUT = [(OUTAGES, (Outage(API_SERVER, 50.0),))]


@pytest.mark.parametrize(("one", "options", "enabled"), [
    (ANNA, {}, [SEE, DUE, *ACTS]), (ANNA, {"lag": "per kind"}, [*EACH, DUE, *ACTS]), (ANNA, {"lag": "none"}, [DUE, *ACTS]), (ANNA, {"clock": "free"}, [SEE, DUE, LATE, *ACTS]),
    (ANNA, {"notes": OUT}, [DUE, *ACTS]), (ANNA, {"now": 9.9}, [SEE, *ACTS]), (ANNA, {"now": 30.0}, [SEE, DUE, LATE, *ACTS]),
    (process("anna", ["Pod"], watching=False), {}, []), (process("anna"), {}, []), (process(DELAYED, ["Pod"], causes="a"), {}, []),
])  # fmt: skip
def test_what_a_component_may_do(one, options, enabled):
    """Look at what is pending, if the API server is there, wake up in time, or act on each cause by name; not while it is delayed."""
    assert enabled == system(one, **options).enabled_of(one)


@pytest.mark.parametrize(("processes", "options", "enabled"), [
    ([process("b", causes="x"), process("a", causes="y")], {}, ["b", "a"]), ([process("b", causes="x"), process("a", causes="y")], {"components": ["a"]}, ["a"]),
    ([process("a", wakes=[("w", 20.0, False)])], {}, ["time"]), ([process("a", wakes=[("w", 20.0, True)])], {}, []), ([process(DELAYED, wakes=[("w", 20.0, False)])], {}, []),
    ([process("a")], {}, []), ([process("a")], {"notes": OUT}, ["time"]), ([process("a", causes="x", wakes=[("w", 20.0, False)])], {}, ["a"]),
])  # fmt: skip
def test_time_passes_when_nothing_else_is_enabled(processes, options, enabled):
    """Only if a wake-up that is not periodic, or the API server's return, is to come."""
    assert enabled == [each.component or each.kind for each in system(*processes, **options).enabled()]


@pytest.mark.parametrize(("wakes", "notes", "at"), [
    ([("a", 30.0, False), ("b", 20.0, False), ("c", 5.0, True)], (), 20.0), ([("a", 30.0, False)], [(OUTAGES, (Outage(API_SERVER, 25.0),))], 25.0),
    ([("a", 30.0, False)], OUT, 30.0), ([], OUT, 50.0), ([("c", 5.0, True)], (), None), ([], [(OUTAGES, (Outage("webhook", 50.0),))], None),
])  # fmt: skip
def test_the_next_wake_up(wakes, notes, at):
    """The first of those that are not periodic and of the return of the API server; not of a delayed component."""
    assert at == system(process("a", wakes=wakes), process(DELAYED, wakes=[("x", 1.0, False)]), notes=notes)._next_wake()


FAULTS = (Refuse("anna", times=2), Crash("bert"), UserAct("user acts", [delete("pod/a"), delete("pod/b")]), Refuse("bert"), StopNodes("n1"))


def test_which_faults_may_strike():
    """Crashes, users and nodes at any time, refusals of an act's own component; each as often as it may."""
    found, act = system(process("anna"), faults=FAULTS), Transition("act", "anna", "x", "y")

    assert [1, 2, 4] == [each.fault for each in found.possible_faults((0, 0, 0, 0, 0))]
    assert [(2, "user")] == [(each.fault, each.component) for each in found.possible_faults((0, 1, 1, 0, 1))]
    assert [] == list(found.possible_faults((0, 1, 2, 0, 1)))
    assert [[0], [0], [], [3]] == [[each.fault for each in found.refusals(transition, counts)] for transition, counts in (
        (act, (0, 0, 0, 0, 0)), (act, (1, 0, 0, 0, 0)), (act, (2, 0, 0, 0, 0)), (Transition("act", "bert"), (0, 0, 0, 0, 0)))]
    assert [(0, 0), (1, 0), (0, 1), (0, 3)] == [found.counts_after(Transition("act", fault=fault), counts) for fault, counts in (
        (-1, (0, 0)), (0, (0, 0)), (1, (0, 0)), (1, (0, 2)))]


def test_every_other_outcome_of_a_draw_is_a_variant():
    """Draws that were chosen stay; of the first new one each other outcome, then of the next with the first as it was."""
    found = system(process("anna"))
    found._choices = (1,)
    drawn = [found._choose("", "", 0, among) for among in (3, 2, 3)]

    assert ([1, 0, 0], [3, 2, 3]) == (drawn, found.draw_sizes)
    assert [(1, 1), (1, 0, 1), (1, 0, 2)] == [each.choices for each in found.other_draws(Transition("act", choices=(1,)))]
    found._choices, found.draw_sizes = (5,), []
    assert (2, 0) == (found._choose("", "", 0, 3), found._choose("", "", 0, 3))


def test_periodic_wake_ups_ring_by_name():
    """Those of components that act and are not delayed, sorted by name."""
    wakes = [("b", 20.0, True), ("a", 30.0, True), ("c", 1.0, False)]

    assert [("anna", "a"), ("anna", "b")] == [(each.component, each.cause) for each in system(
        process("anna", wakes=wakes), process(DELAYED, wakes=wakes), process("bert", wakes=wakes), components=["anna", DELAYED]).periodic_wakeups()]


def of_cluster(c, *faults, **options):
    """Return the transitions of a fork of a cluster."""
    settings = {"lag": "ordered", "clock": "idle", "components": None, "eager": True, "idle": True} | options
    return TransitionSystem(c.world.fork(), faults, **settings)


def test_what_is_said_of_a_transition():
    """A look at all or at some kinds, a wake-up, the time, a crash, a user's write and nodes that stop; each strike is counted."""
    c = scenario("zonal-example")
    c.run(steps=4)
    found = of_cluster(c, Crash("kubelet"), UserAct("user acts", [delete("pod/my-pod"), lambda _objects: Write("delete", Key("Node", "", "node-b"), words="user ends node-b")]),
                       StopNodes("node-a"))  # fmt: skip
    none, said = (0, 0, 0), []
    struck = none
    for transition in (Transition("see", "kubelet"), Transition("see", "kubelet", kinds=("Node", "Pod")), Transition("time"), Transition("fault", "kubelet", fault=0),
                       Transition("fault", "user", fault=1), Transition("fault", "user", fault=1), Transition("fault", "kubelet", fault=2)):
        struck = found.execute(transition, struck)
        said.append(found.words)

    assert ["kubelet sees all changes", "kubelet sees Node, Pod", f"t = {found.sim.now:g} s", "kubelet crashes and restarts: what it remembered is lost",
            "user acts: delete pod/my-pod", "user ends node-b", "node-a stop"] == said
    assert (1, 2, 1) == struck
    assert found.ctx is None


@pytest.mark.parametrize("act", [delete("pod/nobody"), lambda _objects: None])
def test_a_fault_that_meets_nothing_is_not_enabled(act):
    """A user's write that is refused or not possible, and a refusal of a turn that writes nothing."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("p")])
    found = of_cluster(c, UserAct("user acts", [act]), Refuse("kube-scheduler"))

    with pytest.raises(NotEnabledError):
        found.execute(Transition("fault", "user", fault=0), (0, 0))
    found = of_cluster(c, UserAct("user acts", [act]), Refuse("kube-scheduler"))
    found.sim.deliver(found.sim.processes["kube-scheduler"])
    act_on_p = next(each for each in found.enabled_of(found.sim.processes["kube-scheduler"]) if each.kind == "act")
    with pytest.raises(NotEnabledError):
        found.execute(Transition("act", act_on_p.component, act_on_p.actor, act_on_p.cause, fault=1), (0, 0))  # a pass writes nothing
    assert Note("world", "refuse", "kube-scheduler") in found.sim.log.notes


def test_a_periodic_wake_up_moves_the_clock():
    """It rings at its time, and not earlier than now; its name is told in words."""
    c = scenario("redis-pmem")
    c.run(steps=6)
    found = of_cluster(c)
    ring = found.periodic_wakeups()[0]
    at = found.sim.processes[ring.component].wake_ups.items[ring.cause].at
    found.execute(ring, ())

    assert found.sim.now == max(at, c.now)
    assert found.words == f"a wake-up of {ring.component} rings: {ring.cause.replace('|', ' ')}"


@pytest.mark.parametrize(("options", "sees"), [
    ({}, {"a": True, "with work": False, "due": False, "one kind": True}), ({"lag": "none"}, dict.fromkeys(("a", "with work", "due", "one kind"), True)),
    ({"eager": False}, dict.fromkeys(("a", "with work", "due", "one kind"), False)),
    ({"lag": "per kind"}, {"a": False, "with work": False, "due": False, "one kind": True}),
    ({"lag": "none", "eager": False}, dict.fromkeys(("a", "with work", "due", "one kind"), True)),
])  # fmt: skip
def test_who_sees_changes_at_once(monkeypatch, options, sees):
    """Without lag everybody; else who has neither work nor a wake-up that is due, and with lag per kind watches one kind."""
    monkeypatch.setattr(transitions, "TurnContext", lambda *_: None)
    settings = {"lag": "ordered", "eager": True} | options
    made = [process("a"), process("with work", causes="x"), process("due", wakes=[("w", 10.0, False)]), process("one kind")]
    made[3].cursors = ("Pod",)
    found = system(*made, lag=settings["lag"])
    found.eager = settings["eager"]

    assert sees == {each.name: found._sees_at_once(each) for each in made}


@pytest.mark.parametrize(("idle", "since", "moved", "tried"), [
    (True, None, [], ["kube-scheduler", "kubelet"]), (True, "start", [Note("kubelet", "x", "y")], ["kubelet"]), (False, None, [], []),
    (True, "start", [Key("Pod", "default", "x")], []), (True, "start", [Note("world", "clock", "")], ["kube-scheduler", "kubelet"]), (False, "start", [Note("kubelet", "x", "y")], []),
])  # fmt: skip
def test_whose_idle_turns_are_tried(monkeypatch, idle, since, moved, tried):
    """Of every component at first, then of those whose notes have changed, or of all when the clock has moved; nobody's if it is off."""
    found, asked = of_cluster(Cluster(), components=["kube-scheduler", "kubelet"], idle=idle), []
    place = found.sim.log.place
    for key in moved:
        found.sim.log.write(key, from_plain(make.pod("x")) if isinstance(key, Key) else 1.0)
    monkeypatch.setattr(found, "_reconcile_idly", lambda each: asked.append(each.name))
    monkeypatch.setattr(found, "_sees_at_once", lambda _each: False)
    found.run_urgent(None if since is None else place)

    assert sorted(tried) == sorted(asked)


def test_nodes_of_a_label_stop_together():
    """They are named, and their kubelets answer nobody."""
    found = of_cluster(Cluster.from_manifests([make.node("n2", labels={"rack": "a"}), make.node("n1", labels={"rack": "a"}), make.node("n3")]), StopNodes("rack=a", times=2))

    assert ((1,), "n1, n2 stop") == (found.execute(Transition("fault", "kubelet", fault=0), (0,)), found.words)


def test_a_crash_that_loses_nothing_is_none():
    """A component that has noted and seen nothing is the same after it restarts."""
    found = of_cluster(Cluster(), Crash("kubelet"))
    with pytest.raises(NotEnabledError):
        found.execute(Transition("fault", "kubelet", fault=0), (0,))

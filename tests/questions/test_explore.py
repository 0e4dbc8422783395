"""The explorer on toy components: it finds a lost update, a deadlock, a crash between two writes, and proves cures."""

import os
import re
import subprocess
import sys

import attrs
import pytest
from click.testing import CliRunner
from world.toy_components import CLAIMER, create, pod, relabel, world

from kvolsched import Cluster, make, scenario
from kvolsched.api.kinds.meta import Frozen, ObjectMeta
from kvolsched.api.kinds.workload import Namespace
from kvolsched.cli import main
from kvolsched.explore import Crash, Refuse, UserAct, explore, versions_grow
from kvolsched.questions.explore import expansion
from kvolsched.questions.explore.cause import Reruns
from kvolsched.questions.explore.invariants import nodes_hold_what_they_run, outcome
from kvolsched.questions.explore.searched import NamedObjects
from kvolsched.questions.explore.transitions import TransitionSystem
from kvolsched.views.pages.searches import search_rows
from kvolsched.world.apiserver import Write, key_of
from kvolsched.world.component import Component
from kvolsched.world.log import Key
from kvolsched.world.reconciler import Reconciler
from kvolsched.world.simulation import Simulation
from kvolsched.world.work_queue import WakeUp

ACCOUNT = Key("Namespace", "", "account")


def namespace(name, **labels):
    """Return an object with labels."""
    return Namespace(metadata=ObjectMeta(name=name, labels=Frozen(labels)))


def account(objects):
    """Return the amount in the account."""
    return int(objects[ACCOUNT].metadata.labels["held"])


def payer(name, *, careful):
    """Return a component that adds 1 to the amount it has seen, once; careful: with the version it read."""
    def sync(ctx, _cause):
        seen = ctx.seen.at(ACCOUNT)
        if seen is None or ctx.note("paid", "") or name in seen.metadata.labels:
            return ()
        labels = {"held": str(int(seen.metadata.labels["held"]) + 1), name: "paid"}
        write = relabel(seen, **labels)
        return [write if careful else attrs.evolve(write, version=0)]

    def done(ctx, _cause, _done, *, last):
        ctx.remember("paid", "", True)

    routine = Reconciler(f"{name} pays", lambda _hand, _key, _old, _new: ["pay"], sync, on_committed=done)
    return Component(name, ("Namespace",), (routine,))


def bank(*, careful):
    """Return a world with two payers and an empty account."""
    sim = Simulation([payer("anna", careful=careful), payer("bert", careful=careful)])
    sim.perform("user", [create(namespace("account", held="0"))])
    return sim


QUICK = {"progress": False}


def test_invariants_and_ends_speak_of_the_first_by_name():
    """The first object of all may have version 1; of several resources that lack, and of pods, the first by name is told first."""
    big = make.pod("big", node_name="n1", requests={"memory": "100Gi", "example.com/gpu": "1"})
    objects = Cluster.from_manifests([make.node("n1", cpu="1", memory="1Gi"), big, make.pod("a")]).world.log.objects

    assert "" == versions_grow({}, dict(list(objects.items())[:1]))
    assert nodes_hold_what_they_run({}, objects).startswith("node n1 has 0 example.com/gpu")
    assert "a stays pending, big on n1" == outcome(objects)


@pytest.mark.parametrize("lag", ["ordered", "per kind"])
def test_a_lost_update_is_found(lag):
    """Two components read, add and write without versions: one payment is lost, in the fewest transitions."""
    result = explore(bank(careful=False), goal=lambda objects: account(objects) == 2, lag=lag, **QUICK)

    assert result.counterexample
    assert result.counterexample.violation == "nothing more happens, and the goal does not hold"
    assert [move.kind for move in result.trace if move.kind == "act"] == ["act"] * 2
    assert account(result.counterexample.objects) == 1
    assert not result.exhausted
    assert result.counterexample.cause.startswith("Bert had not seen step 2 (update ns/account) when it took step 3")
    assert result.counterexample.cause.endswith("Had it known, it would have written something else.")
    assert [(), (2,)] == [each.unseen for each in result.counterexample.told]


def test_versions_cure_the_lost_update():
    """With versions nothing is lost in any order: the space is exhausted."""
    result = explore(bank(careful=True), goal=lambda objects: account(objects) == 2,
                     invariants=(versions_grow,), **QUICK)

    assert not result.counterexample
    assert result.exhausted
    assert [ending.goal_holds for ending in result.outcomes] == [True]


@pytest.mark.parametrize(("clock", "words"), [
    ("idle", "Time passes only when nothing else can happen; periodic wake-ups come last."),
    ("free", "A wait may end at any moment; periodic wake-ups come when nothing else can happen."),
])
def test_a_result_says_when_time_passes(clock, words):
    """Among its assumptions is the one about the clock that was asked for."""
    assert words in explore(bank(careful=True), clock=clock, **QUICK).assumptions


def test_without_lag_nothing_is_lost():
    """Components that see every write at once lose no update even without versions."""
    result = explore(bank(careful=False), goal=lambda objects: account(objects) == 2, lag="none", **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)


def holder(name, order):
    """Return a component that takes two locks in an order and releases them when it holds both."""
    def sync(ctx, _cause):
        seen = {lock: ctx.seen.at(Key("Namespace", "", lock)) for lock in order}
        if None in seen.values() or ctx.note("done", ""):
            return ()
        mine = [lock for lock in order if seen[lock].metadata.labels.get("holder") == name]
        if len(mine) == len(order):
            return [relabel(seen[lock], holder=None, **{name: "done"}) for lock in reversed(order)]
        wanted = next(lock for lock in order if lock not in mine)
        return [relabel(seen[wanted], holder=name)] if "holder" not in seen[wanted].metadata.labels else ()

    def done(ctx, _cause, done, *, last):
        if name in done.stored.metadata.labels and last:
            ctx.remember("done", "", True)

    routine = Reconciler(f"{name} locks", lambda _hand, _key, _old, _new: ["lock"], sync, on_committed=done)
    return Component(name, ("Namespace",), (routine,))


def locks(first, second):
    """Return a world with two holders and two locks."""
    sim = Simulation([holder("anna", first), holder("bert", second)])
    for name in ("red", "blue"):
        sim.perform("user", [create(namespace(name))])
    return sim


def both_done(objects):
    """Say whether both holders have had both locks."""
    return all({"anna", "bert"} <= set(obj.metadata.labels) for key, obj in objects.items() if key.kind == "Namespace")


def test_two_locks_in_different_order_are_a_deadlock():
    """A deadlock is found as a state in which nothing more happens."""
    result = explore(locks(("red", "blue"), ("blue", "red")), goal=both_done, **QUICK)

    assert result.counterexample
    holders = {key.name: obj.metadata.labels.get("holder") for key, obj in result.counterexample.objects.items()
               if key.kind == "Namespace"}
    assert holders == {"red": "anna", "blue": "bert"}
    assert "It happens in the natural order of turns, too, and hangs on no single turn." == result.counterexample.cause


def test_two_locks_in_one_order_are_none():
    """With one order of locks there is no deadlock; the space is exhausted."""
    result = explore(locks(("red", "blue"), ("red", "blue")), goal=both_done, **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)


def twice(*, by_seeing):
    """Return a component that writes a claim, then marks the pod; it decides by the claim it sees, or by a note."""
    from world.toy_components import Annotate, name_in

    def sync(ctx, cause):
        space, name = cause.split("/")
        seen = ctx.seen.get("Pod", name, space)
        if seen is None or "served" in seen.metadata.annotations:
            return ()
        mark = Write("patch", Key("Pod", space, name), Annotate(Frozen(served="yes")))
        made = create(namespace(f"for-{name}"))
        known = ctx.seen.at(Key("Namespace", "", f"for-{name}")) is not None if by_seeing else ctx.note("made", name)
        return [mark] if known else [made, mark]

    def done(ctx, cause, done, *, last):
        if done.write.verb == "create" and not by_seeing:
            ctx.remember("made", cause.split("/")[1], True)

    def refused(ctx, cause, _outcome):
        ctx.cancel_wake_up(cause)  # gives up: "it is there already, so somebody else does it"

    enqueue = lambda _h, key, _o, _n: [name_in(key)] if key.kind == "Pod" else []  # noqa: E731
    routine = Reconciler("serve", enqueue, sync, on_committed=done, on_refused=refused)
    sim = Simulation([Component("server", ("Pod", "Namespace"), (routine,))])
    sim.perform("user", [create(pod("p"))])
    return sim


def served(objects):
    """Say whether the pod is marked."""
    return "served" in objects[Key("Pod", "default", "p")].metadata.annotations


def test_a_crash_between_two_writes_is_found():
    """A crash loses the note, the repeated first write is refused, and the pod is never marked."""
    assert explore(twice(by_seeing=False), goal=served, **QUICK).exhausted

    result = explore(twice(by_seeing=False), goal=served, faults=[Crash("server")], **QUICK)

    assert result.counterexample
    assert [move.kind for move in result.trace if move.kind in ("act", "fault")] == ["act", "fault", "act"]
    assert "server crashes and restarts" in " ".join(result.counterexample.story)
    assert result.counterexample.cause == (
        "Server forgot at step 3 what it had noted at step 2 (create ns/for-p); it still had to patch pod/p.")
    assert [2, 3] == [each.turn.step for each in result.counterexample.told]


def test_deciding_by_what_is_seen_cures_the_crash():
    """A controller that looks before it creates survives two crashes at any moment; exhausted."""
    result = explore(twice(by_seeing=True), goal=served, faults=[Crash("server", times=2)], **QUICK)

    assert (result.counterexample, result.exhausted) == (None, True)


def test_refusals_strike_any_write_within_their_budget():
    """Back-off survives one refusal; a component that does not try again does not."""
    good = explore(world(CLAIMER, pods=1), goal=claimed, faults=[Refuse("claimer", "Conflict", times=2)], **QUICK)
    bad = explore(twice(by_seeing=True), goal=served, faults=[Refuse("server", "Timeout")], **QUICK)

    assert (good.counterexample, good.exhausted) == (None, True)
    assert bad.counterexample
    assert bad.counterexample.cause == (
        "Nobody made a write again that was refused: step 2 (create ns/for-p: refused (Timeout)).")


def claimed(objects):
    """Say whether all pods are claimed."""
    return all("claimed" in obj.metadata.annotations for key, obj in objects.items() if key.kind == "Pod")


def test_a_user_acts_at_any_moment_or_never():
    """A user acts between any two writes, also of one plan, and makes each write once."""
    spoil = UserAct("somebody takes the claim's name", (create(pod("x")), Write("delete", Key("Pod", "default", "p0"))))
    result = explore(world(CLAIMER, pods=1), goal=lambda _objects: True, until=None, faults=[spoil],
                     summary=lambda objects: " ".join(sorted(key.name for key in objects if key.kind == "Pod")), **QUICK)

    assert {"p0", "p0 x", "x"} == {ending.words for ending in result.outcomes}
    assert result.exhausted


def test_every_outcome_of_a_draw_is_tried():
    """The explorer branches over the outcomes of draws."""
    from world.toy_components import GREETER
    result = explore(world(GREETER, pods=2), until=None, goal=lambda _: True, summary=greetings, **QUICK)

    assert {ending.words for ending in result.outcomes} == {f"{a}{b}" for a in "012" for b in "012"}


def greetings(objects):
    """Return the words that were drawn."""
    return "".join(obj.metadata.labels["greeted"] for key, obj in sorted(objects.items()) if key.kind == "Pod")


def test_a_state_that_no_longer_reaches_the_goal_is_found():
    """A livelock is found: two components undo each other for ever and never reach the goal."""
    def flip(name, value):
        def sync(ctx, _cause):
            seen = ctx.seen.at(ACCOUNT)
            return [relabel(seen, held=value)] if seen and seen.metadata.labels["held"] != value else ()
        return Component(name, ("Namespace",), (Reconciler(name, lambda *_: ["x"], sync),))

    sim = Simulation([flip("up", "1"), flip("down", "0")])
    sim.perform("user", [create(namespace("account", held="0"))])
    result = explore(sim, goal=lambda objects: account(objects) == 5, **QUICK)

    assert result.counterexample
    assert result.counterexample.violation == "from this state the goal can never be reached"
    assert result.exhausted
    assert ("It is so from the start.", ()) == (result.counterexample.cause, result.counterexample.story)


def test_how_often_a_failure_happens_is_counted():
    """Random orders lose an update in a part of the runs, the same for the same seeds; the world stays where it is."""
    found = explore(bank(careful=False), goal=lambda objects: account(objects) == 2, **QUICK)
    counted = found.sample(60, progress=False)

    assert (60, counted) == (counted.seeds, found.sample(60, progress=False))
    assert 10 < counted.stuck < 50
    assert f"60 random runs; in the end it goes well in {60 - counted.stuck} of 60:" in repr(counted)
    assert 0 == found.sample(60, seconds=-1, progress=False).seeds
    with pytest.raises(ValueError, match="found no failure"):
        explore(bank(careful=True), goal=lambda objects: account(objects) == 2, **QUICK).sample()


@pytest.mark.parametrize("error", [KeyboardInterrupt, KeyError])
def test_an_interrupt_keeps_what_was_counted_and_what_was_found(monkeypatch, error):
    """Ctrl-C ends the count with the runs so far; that, or an error of a property, the question why."""
    def press(*_args):
        raise error

    found = explore(bank(careful=False), goal=lambda objects: account(objects) == 2, **QUICK)
    run = found.random_run
    pressed = attrs.evolve(found, random_run=lambda seed: run(seed) if seed < 3 else press())
    if error is KeyboardInterrupt:
        assert 3 == pressed.sample(60, progress=False).seeds

    monkeypatch.setattr(Reruns, "matters", press)
    again = explore(bank(careful=False), goal=lambda objects: account(objects) == 2, **QUICK)
    assert found.counterexample.story == again.counterexample.story
    assert "What it hangs on was not found out." == again.counterexample.cause


def test_a_condition_is_found_by_the_shortest_way():
    """`until` with a predicate finds a state where it holds, in the fewest transitions."""
    result = explore(bank(careful=True), until=lambda objects: account(objects) == 2, **QUICK)

    assert result.counterexample
    assert [move.kind for move in result.trace] == ["act", "act", "time", "ring", "act"] or len(result.trace) <= 5


def referee(*, rereads):
    """Return a component that removes pods whose namespace it does not see; rereads: it asks the API server first."""
    def sync(ctx, cause):
        space, name = cause.split("/")
        here, home = ctx.seen.get("Pod", name, space), Key("Namespace", "", space)
        if here is None or ctx.seen.at(home) is not None or (rereads and ctx.get_live(home) is not None):
            return ()
        return [Write("delete", key_of(here))]

    enqueue = lambda _h, key, _o, _n: [f"{key.namespace}/{key.name}"] if key.kind == "Pod" else []  # noqa: E731
    sim = Simulation([Component("referee", ("Namespace", "Pod"), (Reconciler("judge", enqueue, sync),))])
    sim.perform("user", [create(namespace("team")), create(pod("p", namespace="team"))])
    return sim


def kept(objects):
    """Say whether the pod still exists."""
    return Key("Pod", "team", "p") in objects


def test_what_is_seen_of_another_kind_too_late_is_found():
    """With lag per kind a pod is seen before its namespace and removed; in order, or after a read, it is not."""
    found = explore(referee(rereads=False), goal=kept, lag="per kind", **QUICK)
    assert found.counterexample.cause == ("Referee had not seen step 1 (create ns/team) when it took step 2 "
                                          "(delete pod/team/p). Had it known, it would have done nothing.")
    assert explore(referee(rereads=False), goal=kept, lag="ordered", **QUICK).exhausted
    assert explore(referee(rereads=True), goal=kept, lag="per kind", **QUICK).exhausted


@pytest.mark.parametrize("make", [
    lambda: referee(rereads=False), lambda: bank(careful=False), lambda: bank(careful=True), lambda: locks(("red", "blue"), ("blue", "red")),
    lambda: world(CLAIMER, pods=2), lambda: twice(by_seeing=False),
])
@pytest.mark.parametrize("lag", ["ordered", "per kind"])
@pytest.mark.parametrize("faults", [(), "crash"])
def test_reductions_change_no_outcome(make, lag, faults):
    """With and without each reduction a small world ends in the same set of outcomes."""
    sim = make()
    chosen = [Crash(min(sim.processes))] if faults else []

    def ends(reductions):
        result = explore(sim, until=None, goal=lambda _: True, summary=labels, lag=lag, faults=chosen,
                         reductions=reductions, **QUICK)
        assert result.exhausted
        return {ending.words for ending in result.outcomes}, result.states

    everything, all_states = ends(())
    for reductions in (("eager",), ("idle",), ("eager", "idle")):
        reduced, fewer = ends(reductions)
        assert everything == reduced
        assert fewer <= all_states


def labels(objects):
    """Return the labels of every object."""
    return str(sorted((key, sorted(obj.metadata.labels.items()), sorted(obj.metadata.annotations.items()))
                      for key, obj in objects.items()))


def test_the_trace_is_replayed_as_steps():
    """A trace is replayed on a fork as steps with words; the explored world does not change."""
    sim = bank(careful=False)
    before = (sim.place, sim.known_steps, dict(sim.log.objects))
    result = explore(sim, goal=lambda objects: account(objects) == 2, **QUICK)
    fork = result.replay(sim)

    assert before == (sim.place, sim.known_steps, dict(sim.log.objects))
    assert account(fork.log.objects) == 1
    shown = [turn for turn in fork.turns if turn.step > 1 and not turn.quiet]
    assert result.counterexample.story == tuple(turn.words for turn in shown if turn.words)
    assert fork.known_steps == 1 + len(shown)
    fork.back(fork.known_steps - 1)
    assert account(fork.log.objects) == 0


def test_a_result_says_what_it_assumed():
    """A result lists components, lag, faults and clock, and whether the space was exhausted."""
    result = explore(bank(careful=True), goal=lambda objects: account(objects) == 2,
                     faults=[Crash("anna"), Refuse("bert")], **QUICK)
    bounded = explore(bank(careful=True), goal=lambda objects: account(objects) == 2, max_states=5, **QUICK)

    assert result.assumptions == (
        "anna, bert act, in any order; there is no other.",
        "Each sees changes late, but in their order.",
        "Faults that may strike: anna crashes, once; the API server refuses a write of bert with Conflict, once.",
        "Time passes only when nothing else can happen; periodic wake-ups come last.",
        "Every outcome of a tie or a draw is tried.",
    )
    assert "Exhausted: " in repr(result) or result.counterexample
    assert not bounded.exhausted
    assert "Not exhausted: " in repr(bounded)
    assert "no failure in the visited states" in repr(bounded)


def test_wrong_words_are_told():
    """An unknown lag, clock, reduction or component is an error that lists the known ones."""
    with pytest.raises(ValueError, match="'late' is no lag; there are: ordered, per kind, none"):
        explore(bank(careful=True), lag="late")
    with pytest.raises(ValueError, match="no component is called 'carl'; there are: anna, bert"):
        explore(bank(careful=True), faults=[Crash("carl")])


@pytest.fixture
def interrupted(monkeypatch):
    """Press Ctrl-C where the fourth state of a search is expanded."""
    expand, calls = expansion.Expander.expand, []

    def stop(self, *args):
        calls.append(args)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return expand(self, *args)

    monkeypatch.setattr(expansion.Expander, "expand", stop)


@pytest.mark.usefixtures("interrupted")
def test_an_interrupt_returns_what_was_visited():
    """Ctrl-C during a search loses nothing: the result says that it is not exhausted."""
    result = explore(bank(careful=True), goal=lambda objects: account(objects) == 2, **QUICK)

    assert result.counterexample is None
    assert not result.exhausted
    assert result.states > 1


@pytest.mark.usefixtures("interrupted")
def test_the_command_says_what_was_found_when_it_is_interrupted():
    """Ctrl-C ends `kvolsched explore` with the visited states, that none of them fails, and the code 130."""
    stopped = CliRunner().invoke(main, ["explore", "zonal-example"])

    assert 130 == stopped.exit_code
    assert re.search(r"Not exhausted \(interrupted\): \d+ states, \d+ transitions, .*; no failure in the", stopped.stdout)


def test_the_command_says_how_long_it_takes_at_most():
    """Before the search its bounds stand on standard error, and after a bound how to go further."""
    ended = CliRunner().invoke(main, ["explore", "zonal-example", "--seconds", "0"])
    whole = CliRunner().invoke(main, ["explore", "zonal-example", "--lag", "none"])

    assert "for at most 0 s or 200,000 states; --lag none has far fewer states" in ended.stderr
    assert (0, True) == (ended.exit_code, "More time or states: --seconds 60 --max-states 2000000" in ended.stderr)
    assert "fewer states" not in whole.stderr
    assert "More time" not in whole.stderr
    assert (0, True) == (whole.exit_code, whole.stdout.startswith("Exhausted: "))


@pytest.mark.parametrize(("seconds", "states", "hint"), [
    ("30", "5", "--seconds 300 --max-states 50"), ("0.5", "5", "--seconds 60 --max-states 50"),
    ("7", "4", "--seconds 70 --max-states 40"), ("6.5", "5", "--seconds 65 --max-states 50"),
])
def test_the_command_says_how_to_go_further(seconds, states, hint):
    """Ten times the time, at least a minute, and ten times the states."""
    ended = CliRunner().invoke(main, ["explore", "zonal-example", "--seconds", seconds, "--max-states", states])

    assert f"for at most {seconds} s or {states} states; --lag none has far fewer states" in ended.stderr
    assert ended.stderr.endswith(f"More time or states: {hint}.\n")


def test_a_search_over_pods_that_come_and_go_reaches_the_states_it_foretold():
    """A scenario whose Deployment makes pods after the search's start is searched without an error."""
    assert 400 <= scenario("zones").explore(max_states=400, progress=False).states


def test_an_error_in_an_actor_says_where_it_was():
    """An error of an actor during a search carries a note about the transition."""
    def sync(ctx, _cause):
        return [] if len(ctx.seen.all("Pod")) < 2 else [1 / 0]
    sim = Simulation([Component("bad", ("Pod",), (Reconciler("bad", lambda *_: ["x"], sync),)), CLAIMER])
    sim.perform("user", [create(pod("p"))])

    with pytest.raises(ZeroDivisionError) as caught:
        explore(sim, faults=[UserAct("another pod", (create(pod("q")),))], **QUICK)
    assert "raised in the exploration, 0 deep, by Transition(kind='fault', component='user'" in caught.value.__notes__[0]


def test_words_about_an_object_that_nothing_could_create_are_refused():
    """Words name an object that is there or that a workload, a user or a controller of one's own may create."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("app"), make.stateful_set("web", replicas=1)])
    own = c.with_controller("mine", ["Pod"], lambda _seen, _ref: None)

    for words in ("never", "goal", "until"):
        with pytest.raises(ValueError, match=r"no pod/apq, and no workload would create it; .*; did you mean pod/app\?"):
            c.explore(**{words: "pod/apq Running"}, **QUICK)
    assert "pod/web-0 Running" == c.explore(never="pod/web-0 Running", lag="none", **QUICK).counterexample.violation
    assert () == c.explore(goal="web-0 Running", lag="none", **QUICK).unseen
    assert own.explore(never="pod/apq Running", lag="none", **QUICK).unseen
    assert c.explore(never="pod/apq gone", lag="none", **QUICK).counterexample


def test_an_object_that_no_state_had_is_told():
    """A proof about an object that a workload may create, and that never was, says so beside the verdict."""
    c = Cluster.from_manifests([make.node("n1"), make.stateful_set("web", replicas=1)])

    found = c.explore(never="pod/web-7 Running", lag="none", **QUICK)

    assert found.exhausted
    assert ("pod/web-7 existed in no visited state; did you mean pod/web-0?",) == found.unseen
    assert "no failure in any state.\nBut pod/web-7 existed in no visited state" in repr(found)
    assert "no failure in any state; but pod/web-7 existed in no" in search_rows(found).headline


def test_a_turn_that_nothing_can_be_said_of_is_not_told():
    """The disruption controller that looks at its own write again, and records an Event only, is no turn of the story."""
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "none", "namespace": "default"},
              "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "none"}}}}
    c = Cluster.from_manifests([make.node("n1"), budget, make.pod("web", nodeSelector={"disk": "ssd"})])

    found = c.explore(progress=False).counterexample

    judged = "Scheduler judges web, pass 1: none of 1 nodes fits."
    assert ("disruption controller allows 0 disruptions of pdb/none", judged) == found.story
    assert [(1, "Disruption controller allows 0 disruptions of pdb/none."), (3, f"{judged} It had not seen step 1.")] == [
        (each.turn.step, each.words) for each in found.told]


PROGRAM = """
import sys; sys.path[:0] = ["tests"]
from questions.test_explore import *
for sim, goal in ((bank(careful=False), lambda o: account(o) == 2), (locks(("red", "blue"), ("red", "blue")), both_done)):
    result = explore(sim, goal=goal, faults=[Crash(sorted(sim.processes)[0])], progress=False)
    print(repr(result), result.trace)
"""


def test_the_same_search_twice_in_any_hash_order():
    """States, trace and words are the same in every process, whatever PYTHONHASHSEED."""
    from pathlib import Path
    root = Path(__file__).parent.parent.parent
    runs = {
        subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, check=True, capture_output=True, text=True,
                       env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("0", "1", "77")
    }

    assert len(runs) == 1
    assert "Found after" in runs.pop()


@pytest.mark.parametrize(("options", "goes_on"), [({"never": "pod/a Running"}, False), ({"goal": "pod/a gone", "lag": "none"}, True)])
def test_a_failure_is_met_again_where_it_was_found(monkeypatch, options, goes_on):
    """The whole trace fails when it is run again: on the way, or, if that shows only at the end, when nothing is left to do."""
    seen, matters = [], Reruns.matters
    monkeypatch.setattr(Reruns, "matters", lambda self, at: seen.append((self.goes_on, self.fails(
        self.turns[0], self.trace[self.turns[0].index:]))) or matters(self, at))
    Cluster.from_manifests([make.node("n1"), make.pod("a")]).explore(**options, **QUICK)

    assert {(goes_on, True)} == set(seen)


def test_words_about_objects_that_are_there_are_not_missing():
    """Of the objects that words name those are remembered that are not there yet, until a state has them."""
    before, after = (Cluster.from_manifests([make.node("n1"), *map(make.pod, names)]).world.log.objects for names in ("a", "ab"))
    named = NamedObjects(["pod/a Running", "pod/b Running", "pod/c Running", max], before)

    assert ["pod/b Running", "pod/c Running"] == list(named.missing)
    named.notice(after)
    assert ["pod/c Running"] == list(named.missing)


def test_periodic_wake_ups_are_those_of_components_that_are_not_delayed():
    """Each periodic wake-up is one transition; one that comes once is none, nor are those of a delayed component."""
    c = scenario("redis-pmem")
    c.run()
    c.delay("pmem-csi.intel.com on node-2", 60)
    system = TransitionSystem(c.world.fork(), lag="ordered", clock="idle", components=None, eager=True, idle=True)

    system.sim.processes["kubelet"].wake_ups.items["once"] = WakeUp(system.sim.now + 1, 0)

    assert ["kube-scheduler", "pmem-csi.intel.com on node-1", "pmem-csi.intel.com on node-3"] == [
        each.component for each in system.periodic_wakeups()]

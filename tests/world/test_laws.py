"""The laws of the world, over random histories of toy components with faults."""

from unittest.mock import patch

import attrs
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from world.strategies import crash, fine, go, live, lives, step, user
from world.toy_components import CLAIMER, COUNTER, GREETER, KINDS, create, picture, pod, relabel, views, world

from kvolsched.world import changes, log
from kvolsched.world.component import Component, TurnContext
from kvolsched.world.log import Key, Note
from kvolsched.world.simulation import Simulation
from kvolsched.world.view import build


@given(lives)
def test_back_all_the_way_is_the_start(life):
    """Back × n = start: objects, notes and every view."""
    sim = Simulation([GREETER, COUNTER, CLAIMER])
    start = picture(sim)
    live(sim, life)

    sim.back(sim.step_number)
    sim.log.seek(0)

    assert start == picture(sim)


@given(lives, st.data())
def test_back_then_forward_is_the_same_world(life, data):
    """Moving forward from any past step restores objects, notes and views."""
    sim = live(world(), life)
    seen = {}
    for number in range(sim.known_steps + 1):
        sim.goto(number)
        seen[number] = picture(sim)
    for number in data.draw(st.lists(st.integers(0, sim.known_steps), max_size=5)):
        sim.goto(number)

        assert seen[number] == picture(sim)
        assert sim.step_number == number


@given(lives, st.integers(0, 400))
def test_views_built_and_moved_are_equal(life, place):
    """At any position of the log, also inside a step, rebuilt views equal moved ones."""
    sim = live(world(), life)
    sim.log.seek(min(place, sim.log.end))
    moved = picture(sim)

    sim.rebuild()

    assert moved == picture(sim)


@given(lives, st.integers(0, 30), lives)
def test_turns_are_found_by_step_and_by_position(life, back, other_life):
    """The turns of a step, and the turn of a change, are those that looking at every turn finds, also on a branch."""
    sim = live(world(), life)
    sim.back(min(back, sim.step_number))
    live(sim, other_life)
    for number in range(sim.known_steps + 2):
        assert [turn for turn in sim.turns if turn.step == number] == sim.history.turns_of(number)
    for place in range(sim.log.base, sim.log.end + 1):
        assert next((turn for turn in sim.turns if turn.start <= place < turn.end), None) == sim.history.turn_at(place)


@given(lives, st.lists(st.integers(0, 400), max_size=6))
def test_a_far_move_ends_where_a_near_one_does(life, places):
    """A move by the net change of each key leaves the objects, notes, views and digest of one change by change."""
    with patch.object(log, "KEEP_EVERY", 7):
        sim = live(world(), life)
    twin = sim.fork()
    for place in places:
        there = min(place, sim.log.end)
        with patch.object(log, "FAR", 1), patch.object(changes, "FEW", place % 3):
            sim.log.seek(there)
        twin.log.seek(there)

        assert picture(twin) == picture(sim)
        assert [process.pending for process in twin.processes.values()] == [
            process.pending for process in sim.processes.values()]
        assert twin.digest() == sim.digest()
    with patch.object(log, "FAR", 1):
        sim.goto(0)
        sim.goto(sim.known_steps)
    twin.goto(0)
    twin.goto(twin.known_steps)
    assert picture(twin) == picture(sim)
    assert sim.step() == twin.step()


@given(lives)
def test_the_definition_of_a_view_is_build(life):
    """A component's view is what `build` makes of the objects it has seen and its notes."""
    sim = live(world(), life)
    process = sim.processes["counter"]
    contents = {key: obj for objects in process.seen.kinds.values() for key, obj in objects.items()}
    contents |= {note: value for note, value in sim.log.notes.items() if note.component == "counter"}

    assert build(COUNTER.views(process.seen)["greeted"], contents) == process.views["greeted"]


@given(lives, st.integers(0, 12), lives)
def test_forks_do_not_touch_each_other(life, back, other_life):
    """A fork's moves leave its origin unchanged, and the other way round."""
    sim = live(world(), life)
    sim.back(back)
    before, steps = picture(sim), sim.known_steps
    fork = sim.fork()
    assert before == picture(fork)

    live(fork, other_life)
    assert before == picture(sim)
    assert steps == sim.known_steps

    after = picture(fork)
    live(sim, other_life)
    assert after == picture(fork)


@given(lives, st.integers(0, 12))
def test_a_fork_does_what_its_origin_does(life, back):
    """Equal choices on a fork and its origin give equal changes."""
    sim = live(world(), life)
    sim.back(back)
    fork = sim.fork()
    for _ in range(30):
        sim.step()
        fork.step()
    sim = sim.fork()  # if only a user's act was known to follow, the origin has not delivered the pending changes
    sim.step()

    assert picture(sim) == picture(fork)
    assert sim.digest() == fork.digest()


@given(lives, st.integers(1, 12))
@example([step, fine, go("count")], 2)
def test_the_run_after_back_equals_the_first_run(life, back):
    """Repeating the known steps from the past makes equal changes, opens no branch and restores the known future."""
    sim = live(world(), life)
    lived = sim.step_number
    list(sim.run())
    changes, ends, turns, end = list(sim.log.changes), list(sim.history.ends), list(sim.turns), picture(sim)
    branches = len(sim.branches)
    sim.goto(max(lived, sim.step_number - back))

    list(sim.run())

    assert changes == sim.log.changes
    assert ends == sim.history.ends
    assert turns == sim.turns
    assert end == picture(sim)
    assert branches == len(sim.branches)


@given(lives, st.integers(1, 6), st.sampled_from(["p0", "p1"]))
def test_acting_in_the_past_opens_a_branch(life, back, name):
    """The old future is kept under its branch's name, also on a branch of a branch."""
    sim = live(world(), life)
    list(sim.run())
    old, steps = picture(sim), sim.known_steps
    sim.back(back)
    start = sim.step_number
    sim.perform("user", [relabel(pod_of(sim), mood="other")] if pod_of(sim) else [create(pod("p9"))])
    if sim.branch != "main":
        list(sim.run())
        first = picture(sim)
        sim.goto(max(start - 1, 0))
        sim.perform("user", [create(pod("p8"))])
        third = picture(sim)
        names = {branch.name for branch in sim.branches}
        assert {"main", "branch-1"} <= names | {sim.branch}
        last = sim.branch

        sim.switch("main")
        assert old == picture(sim)
        assert steps == sim.known_steps
        sim.switch("branch-1")
        assert first == picture(sim)
        sim.switch(last)
        assert third == picture(sim)


def pod_of(sim):
    """Return the first pod of the world, or None."""
    return next((obj for key, obj in sorted(sim.log.objects.items()) if key.kind == "Pod"), None)


def test_acting_again_as_on_a_branch_finds_that_branch():
    """Repeating the first step of another branch returns to that branch."""
    sim = world()
    list(sim.run())
    steps = sim.known_steps
    sim.goto(2)
    sim.perform("user", [create(pod("p9"))])
    list(sim.run())
    other = sim.known_steps
    sim.goto(2)

    sim.step()
    assert (sim.branch, sim.known_steps) == ("main", steps)
    sim.goto(2)
    sim.perform("user", [create(pod("p9"))])
    assert (sim.branch, sim.known_steps) == ("branch-1", other)
    assert len(sim.branches) == 1


def test_an_unknown_branch_is_named():
    """Switching to an unknown branch raises an error that lists the branches."""
    sim = world()
    with pytest.raises(LookupError, match="no other branch is called 'x'; there are: none"):
        sim.switch("x")


@given(lives, st.sampled_from(["greeter", "counter", "claimer"]))
def test_a_restart_is_a_relist(life, name):
    """A crashed component that lists everything has seen what one that never crashed has seen."""
    sim = live(world(), life)
    fork = sim.fork()
    sim.crash(name)
    process, twin = sim.processes[name], fork.processes[name]
    assert {kind: {} for kind in process.seen.kinds} == process.seen.kinds
    assert not [note for note in sim.log.notes if note.component == name]

    sim.deliver(process)
    fork.deliver(twin)

    assert twin.seen.kinds == process.seen.kinds
    assert twin.views == process.views


@given(lives, st.permutations(KINDS), st.data())
def test_deliveries_by_kind_in_any_order_meet(life, kinds, data):
    """Cursors are per kind: the order in which kinds are delivered does not change the views."""
    sim = live(world(), life)
    fork = sim.fork()
    name = data.draw(st.sampled_from(sorted(sim.processes)))
    for kind in kinds:
        sim.deliver(sim.processes[name], [kind] if kind in sim.processes[name].cursors else [])
    fork.deliver(fork.processes[name])

    assert fork.processes[name].seen.kinds == sim.processes[name].seen.kinds
    assert fork.processes[name].views == sim.processes[name].views
    assert sim.digest() == fork.digest()


@given(lives, st.sampled_from(["greeter", "counter", "claimer"]), st.sampled_from(["greeter", "counter", "claimer"]))
def test_deliveries_to_two_components_commute(life, one, two):
    """A delivery changes only its component: both orders have one digest."""
    sim = live(world(), life)
    fork = sim.fork()
    for name in (one, two):
        sim.deliver(sim.processes[name])
    for name in (two, one):
        fork.deliver(fork.processes[name])

    assert sim.digest() == fork.digest()


@given(lives)
def test_turns_on_different_objects_commute(life):
    """Creating two different pods, and reconciling two different pods, has one digest in either order."""
    sim = live(world(), life)
    for note in [note for note in sim.log.notes if note.sort == "refuse"]:  # a fault would refuse the first write
        sim.log.write(note, None)
    fork = sim.fork()
    for name in ("x", "y"):
        sim.perform("user", [create(pod(name))])
    for name in ("y", "x"):
        fork.perform("user", [create(pod(name))])
    assert sim.digest() == fork.digest()
    for world_, order in ((sim, ("x", "y")), (fork, ("y", "x"))):
        world_.deliver(world_.processes["greeter"])
        for name in order:
            world_.turn(*world_.find("greet"), f"default/{name}", see=False)

    assert sim.digest() == fork.digest()


def test_the_digest_tells_worlds_apart():
    """A pending change, a seen old version, a longer wait and other contents each give another digest."""
    sim = world(pods=1)
    digests = [sim.digest()]
    sim.deliver(sim.processes["greeter"])
    digests.append(sim.digest())
    stored = sim.log.objects[Key("Pod", "default", "p0")]
    sim.perform("user", [relabel(stored, mood="good")])
    digests.append(sim.digest())
    sim.perform("user", [relabel(sim.log.objects[Key("Pod", "default", "p0")], mood=None)])
    digests.append(sim.digest())  # the first contents, but the greeter has seen an old version
    ctx = TurnContext(sim, sim.processes["greeter"], GREETER.actors[0])
    for wait in (1.0, 2.0):
        ctx.wake_after("default/p0", wait)
        digests.append(sim.digest())

    assert len(digests) == len(set(digests))


def test_the_digest_ignores_absolute_time_and_position():
    """An equal state ten seconds and many writes later has an equal digest."""
    sim, late = world(pods=0), world(pods=0)
    late.perform("user", [create(pod("gone"))])
    for component in ("greeter", "counter", "claimer"):
        for world_ in (sim, late):
            world_.deliver(world_.processes[component])
    late.perform("user", [deletion("gone")])
    late.log.write(Note("world", "clock", ""), 10.0)
    for world_ in (sim, late):
        for process in world_.processes.values():
            world_.deliver(process)
            for actor in process.component.actors:
                for cause in list(process.work_queues[actor.name].items):
                    world_.log.write(Note(process.name, f"todo {actor.name}", cause), None)
        world_.perform("user", [create(pod("new"))])
        TurnContext(world_, world_.processes["greeter"], GREETER.actors[0]).wake_after("x", 3.0)

    assert sim.place != late.place
    assert sim.digest() == late.digest()


def deletion(name):
    """Return the write that deletes a pod."""
    from kvolsched.world.apiserver import Write
    return Write("delete", Key("Pod", "default", name))


@given(lives, st.integers(0, 8))
def test_incremental_and_new_digests_agree(life, back):
    """The updated digest equals the digest of a fork, which is computed from its contents."""
    sim = world()
    sim.digest()
    live(sim, life)
    sim.back(back)

    assert sim.fork().digest() == sim.digest()


@given(st.integers(0, 2**32), lives)
def test_the_same_seed_gives_the_same_run(seed, life):
    """Input, seed and choices determine the run."""
    one, two = (live(world(seed=seed), life) for _ in range(2))

    assert one.log.changes == two.log.changes
    assert one.turns == two.turns


def test_draws_depend_on_seed_purpose_key_and_attempt():
    """A draw is hash(seed, purpose, key, attempt): each of them matters, the order of asking does not."""
    def numbers(seed):
        sim = Simulation([], seed=seed)
        asked = [(p, k, a) for p in ("tie", "fail") for k in ("x", "y") for a in (0, 1)]
        forth = {ask: sim.draw(ask[0], ask[1], 1_000_000, ask[2]) for ask in asked}
        back = {ask: sim.draw(ask[0], ask[1], 1_000_000, ask[2]) for ask in reversed(asked)}
        assert forth == back
        return list(forth.values())

    drawn = numbers(1) + numbers(2)
    assert len(drawn) == len(set(drawn))
    assert numbers(1) == [519171, 572395, 309882, 488659, 841167, 504592, 414991, 673569]


@settings(max_examples=30)
@given(lives)
def test_views_are_right_before_every_turn(life):
    """Before every turn, every view equals the view built from what its component has seen."""
    sim = world()
    checked = []

    def check():
        moved = picture(sim)
        fork = sim.fork()
        assert moved == picture(fork)
        assert views(sim) == views(fork)
        checked.append(sim.place)

    act = sim.act
    sim.act = lambda *args: (check(), act(*args))[1]
    live(sim, life)

    assert checked or not any(turn.actor in ("greet", "count", "claim") for turn in sim.turns)


def test_a_component_keeps_its_configuration_through_a_crash():
    """A restart removes the notes of a component, but not its configuration."""
    sim = world()
    sim.log.write(Note("greeter", "config", "word"), "hello")
    sim.crash("greeter")

    assert sim.log.notes[Note("greeter", "config", "word")] == "hello"


def test_steps_that_change_nothing_leave_no_trace():
    """A user's refused write and an actor with nothing to do make no step."""
    sim = world(pods=1)
    list(sim.run())
    before, steps = picture(sim), sim.known_steps

    assert [outcome.reason for outcome in sim.perform("user", [create(pod("p0"))])] == ["AlreadyExists"]
    assert sim.step() == []
    assert sim.step("greet") == []
    assert sim.next_actors() == []
    assert (before, steps) == (picture(sim), sim.known_steps)


def test_asking_who_is_next_changes_nothing():
    """`next_actors` undoes its trial deliveries, also in the past."""
    sim = world()
    list(sim.run())
    sim.back(4)
    before, steps = picture(sim), sim.known_steps

    assert {"greet", "claim"} <= {found.actor for found in sim.next_actors()}
    assert (before, steps) == (picture(sim), sim.known_steps)


def test_trying_out_every_next_turn_changes_nothing():
    """`preview` undoes its trials, also in the past, and leaves views that equal built ones."""
    sim = world()
    list(sim.run())
    found = []
    while sim.step_number:
        sim.back()
        before, steps = picture(sim), sim.known_steps

        found += sim.preview()
        assert (before, steps) == (picture(sim), sim.known_steps)
        sim.rebuild()
        assert before == picture(sim)
    assert {"greet", "claim"} <= {turn.actor for turn in found}


def test_a_visit_leaves_no_trace():
    """What is written while the world stands at an earlier position is undone, also after an error."""
    sim = world()
    list(sim.run())
    sim.back(2)
    before, steps = picture(sim), (sim.known_steps, list(sim.turns), sim.log.end)
    for place in range(0, sim.place, 7):
        assert place == sim.visit(place, lambda: [sim.place, *map(sim.deliver, sim.processes.values())])[0]
        with pytest.raises(ZeroDivisionError):
            sim.visit(place, lambda: sim.deliver(next(iter(sim.processes.values()))) / 0)

        assert (before, steps) == (picture(sim), (sim.known_steps, list(sim.turns), sim.log.end))
    sim.rebuild()
    assert before == picture(sim)


def test_names_of_actors_are_found_or_listed():
    """An unknown actor raises an error that lists the actors; an unknown cause raises one that names it."""
    sim = world()
    with pytest.raises(LookupError, match="no actor is called 'nobody'; there are: greet, count, claim"):
        sim.step("nobody")
    with pytest.raises(LookupError, match="greet has nothing to do about 'default/none'"):
        sim.step("greet", "default/none")


@attrs.frozen
class Twice:
    """An actor that breaks the law of one write per turn."""

    name: str = "twice"

    def on_change(self, ctx, key, old, new):
        """Enqueue a cause for every change."""
        ctx.enqueue("x")

    def on_wake_up(self, ctx, name):
        """Do nothing."""

    def ready_causes(self, ctx, *, every=False):
        """List the work queue."""
        return ctx.process.work_queues["twice"].all()

    def act(self, ctx, cause):
        """Write two pods in one turn."""
        ctx.dequeue(cause)
        ctx.commit(create(pod("a")))
        ctx.commit(create(pod("b")))
        return False


def test_a_second_write_in_a_turn_is_refused_and_undone():
    """A turn that tries a second write is undone."""
    sim = world(Component("careless", ("Pod",), (Twice(),)), pods=1)
    before = picture(sim)

    with pytest.raises(RuntimeError, match="twice tried a second write in one turn: create pod/b"):
        sim.step()

    assert before == picture(sim)


def test_moves_have_effects():
    """A user's write and a crash make turns, so that the strategies of this file are not idle."""
    sim = live(world(), [step, user("relabel", "p0"), crash("greeter"), step])

    assert [turn.component for turn in sim.turns if not turn.quiet][-3:-1] == ["user", "greeter"]


def test_a_fork_builds_views_when_it_moves():
    """A fork that is only read has built no view; its first move builds them from its log."""
    sim = live(world(), [go])
    fork = sim.fork()
    assert "processes" not in vars(fork)
    assert sim.log.objects == fork.log.objects
    fork.step()
    assert "processes" in vars(fork)

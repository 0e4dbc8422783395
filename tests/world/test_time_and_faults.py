"""Simulated time, refusals, back-off, and errors or interrupts anywhere inside a turn."""

import sys

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from world.strategies import live, lives
from world.toy_components import CLAIMER, COUNTER, GREETER, create, picture, pod, world

from kvolsched.world.component import Component
from kvolsched.world.log import Key, Note


@attrs.frozen
class Clockwork:
    """An actor that schedules wake-ups and records when they fire."""

    name: str = "clockwork"
    waits: tuple = ((5.0, False), (2.0, False), (300.0, True))

    def on_change(self, ctx, key, old, new):
        """Schedule the wake-ups when the first pod appears."""
        if new is not None and new.metadata.name == "p0":
            for number, (after, periodic) in enumerate(self.waits):
                ctx.wake_after(str(number), after, periodic=periodic)

    def on_wake_up(self, ctx, name):
        """Enqueue the wake-up with its time."""
        ctx.enqueue(f"{name} at {ctx.now:g}")

    def ready_causes(self, ctx, *, every=False):
        """List the work queue."""
        return ctx.process.work_queues[self.name].all()

    def act(self, ctx, cause):
        """Create a pod named after the wake-up and its time."""
        ctx.dequeue(cause)
        ctx.commit(create(pod(cause.replace(" ", "-"))))
        return False


CLOCK = Component("clock", ("Pod",), (Clockwork(),))


def test_the_clock_advances_only_when_no_component_can_act():
    """Turns at 0 s come first, then the earliest wake-up; a run does not wait for a periodic one."""
    sim = world(CLOCK, *(GREETER, COUNTER), pods=1)
    times = [(turn.component, turn.time) for step in sim.run() for turn in step if not turn.quiet]

    assert [time for _, time in times] == sorted(time for _, time in times)
    assert [2.0, 5.0] == [time for name, time in times if name == "clock"]
    assert {"0-at-5", "1-at-2", "p0"} == {key.name for key in sim.log.objects if key.kind == "Pod"}
    assert sim.now == 5.0
    assert sim.step() == []


def test_going_back_takes_time_back():
    """The clock is part of the contents, so it goes back with them."""
    sim = world(CLOCK, pods=1)
    list(sim.run())
    sim.goto(1)
    assert sim.now == 0.0
    sim.goto(2)
    assert sim.now == 2.0


@pytest.mark.parametrize(("nth", "pods"), [(1, ["p1", "p0"]), (2, ["p0", "p1"])])
def test_the_nth_write_is_refused_and_tried_again_after_a_back_off(nth, pods):
    """A refused write changes nothing; its cause is taken up again after the back-off."""
    sim = world(GREETER)
    sim.refuse("greeter", nth)
    turns = [turn for step in sim.run() for turn in step if not turn.quiet]

    assert [(outcome.write.key.name, type(outcome).__name__) for turn in turns for outcome in turn.outcomes] == (
        [("p0", "RefusedWrite"), ("p1", "CommittedWrite"), ("p0", "CommittedWrite")] if nth == 1
        else [("p0", "CommittedWrite"), ("p1", "RefusedWrite"), ("p1", "CommittedWrite")])
    assert turns[-1].time == 0.005
    assert "refused (Conflict)" in turns[nth - 1].words
    assert pods == [turn.cause.split("/")[1] for turn in turns if isinstance(turn.outcomes[0].write.version, int)
                    and turn.words.startswith("update pod") and "refused" not in turn.words]


def test_a_plan_survives_between_its_writes_and_dies_with_a_crash():
    """Other components may act between two writes of a plan, and a crash loses the remaining writes."""
    sim = world(CLAIMER, pods=1)
    sim.step(turns=True)
    assert [note.sort for note in sim.log.notes if note.component == "claimer"] == ["cursor", "plan claim"]
    sim.perform("user", [create(pod("between"))])
    crashed = sim.fork()
    sim.step("claim")
    crashed.crash("claimer")

    assert sim.log.objects[Key("Pod", "default", "p0")].metadata.annotations == {"claimed": "yes"}
    assert crashed.log.objects[Key("Pod", "default", "p0")].metadata.annotations == {}
    for simulation in (sim, crashed):
        list(simulation.run())
    assert sim.log.objects.keys() == crashed.log.objects.keys()
    assert crashed.log.objects[Key("Pod", "default", "p0")].metadata.annotations == {"claimed": "yes"}


@settings(max_examples=40)
@given(lives, st.integers(0, 3))
def test_an_error_in_a_turn_leaves_the_world_as_it_was(life, nth):
    """The turn of an actor that fails after its write is undone: objects, notes, views, turns and known future stay."""
    sim = live(world(), life)
    sim.back(2)
    before, steps, turns = picture(sim), sim.known_steps, list(sim.turns)
    act, calls = sim.act, []

    def fail(*args):
        done = act(*args)
        calls.append(args)
        if len(calls) > nth:
            raise ZeroDivisionError
        return done

    sim.act = fail
    try:
        list(sim.run(steps=1))
    except ZeroDivisionError:
        assert before == picture(sim)
        assert (steps, turns) == (sim.known_steps, sim.turns)


def interrupted(sim, line, do):
    """Raise KeyboardInterrupt at the nth line executed in the world's files; return whether it was reached."""
    left = [line]

    def trace(frame, event, _arg):
        if "kvolsched/world" not in frame.f_code.co_filename.replace("\\", "/"):
            return None
        if frame.f_code.co_name in ("_undo", "_roll_back", "_restore_history", "extend", "rebuild", "recover", "truncate", "reset", "_put"):
            return None  # recovery itself is not interrupted: a second Ctrl-C is not tested
        if frame.f_code.co_name in ("step", "__exit__", "__enter__"):
            return trace_calls  # Python itself leaves the lines around a `with` unguarded
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    def trace_calls(_frame, _event, _arg):
        return trace_calls

    sys.settrace(trace)
    try:
        do()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_an_interrupt_at_any_line_of_a_step_leaves_the_world_as_it_was():
    """Ctrl-C between any two lines of the world's code (every 7th is tried): the step is undone, or complete."""
    sim = world()
    for _ in range(2):
        sim.step()
    before, steps = picture(sim), sim.known_steps
    line, struck = 1, 0
    while interrupted(sim, line, sim.step):
        if picture(sim) != before:  # interrupted after the step was complete
            assert sim.known_steps == steps + 1
            break
        assert steps == sim.known_steps
        moved = picture(sim)
        sim.rebuild()
        assert moved == picture(sim)
        line, struck = line + 7, struck + 1

    assert struck > 20
    list(sim.run())
    whole = world()
    list(whole.run())
    assert whole.log.objects == sim.log.objects


def test_an_interrupt_while_travelling_leaves_the_world_where_it_was():
    """Ctrl-C inside `goto` leaves the world at its position; after the move it is where it went, whole."""
    sim = world()
    list(sim.run())
    before, steps = picture(sim), sim.known_steps
    sim.goto(0)
    start = picture(sim)
    sim.goto(steps)
    line, struck = 30, 0
    while interrupted(sim, line, lambda: sim.goto(0)):
        if picture(sim) == start:  # interrupted while listeners are told of it
            break
        assert before == picture(sim)
        line, struck = line + 97, struck + 1
    sim.goto(steps)

    assert struck > 5
    assert before == picture(sim)


def test_a_change_of_history_is_small():
    """A change of history costs under 1 kB beside the object itself, turns and steps included."""
    import tracemalloc

    sim = world(pods=1)
    for n in range(200):
        sim.perform("user", [create(pod(f"x{n}"))])
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    place = sim.place
    list(sim.run())
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    made = sim.place - place

    assert made > 2000
    assert (after - before) / made < 1000


def test_notes_belong_to_one_component():
    """Notes of two components with one sort and name are two notes."""
    sim = world()
    sim.log.write(Note("greeter", "x", "y"), 1)

    assert sim.log.get(Note("counter", "x", "y")) is None

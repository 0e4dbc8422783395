"""Play: a step now and then, stopped by a failure, the end, a condition, or whatever a person does."""

import asyncio

import pytest
from attrs import evolve

from kvolsched import scenario
from kvolsched.views import frame as f
from kvolsched.views.panel.lab import Lab
from kvolsched.views.panel.player import Player, failure

from . import frames, plain
from .fake_driver import FakeDriver


@pytest.fixture
def lab():
    """Return a panel over frames in which nothing fails."""
    return Lab(FakeDriver([evolve(frame, events=()) for frame in frames.zonal_run()]))


def test_without_an_event_loop_the_caller_ticks(lab):
    """Play is on until the end; each tick is a step; the button says what it does."""
    lab.buttons["play"].click()
    assert (lab.playing, lab.buttons["play"].description, "k-playing" in lab._dom_classes) == (True, "Pause", True)
    lab.player.once()
    lab.player.once()
    assert lab.frame.head.step == 2
    for _ in range(20):
        lab.player.once()
    assert (lab.frame.head.step, lab.playing, lab.buttons["play"].disabled) == (14, False, True)
    assert "Play stopped: the end" in lab.acts.note.value


def test_at_the_end_there_is_nothing_to_play(lab):
    """A person who asks to play at the end sees no playing panel, and not that it waits for an answer."""
    lab.do("goto", step=14)
    lab.play()

    assert (False, True) == (lab.playing, lab.buttons["play"].disabled)


def test_on_an_event_loop_it_plays_by_itself(lab):
    """Between two steps the loop is free."""
    async def watch():
        lab.play(seconds=0.0)
        turns = 0
        while lab.playing:
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(watch()) >= 14
    assert lab.frame.head.step == 14


def test_a_pause_on_the_loop_is_a_pause(lab):
    """Nothing is stepped after it."""
    async def watch():
        lab.play(seconds=0.0)
        loop = asyncio.get_running_loop()
        third = loop.create_future()
        lab.host.observe(lambda _: third.done() or lab.frame.head.step < 3 or third.set_result(None), "sentence")
        await third
        lab.pause()
        await asyncio.sleep(0.01)

    asyncio.run(watch())
    assert (lab.frame.head.step, lab.playing) == (3, False)


@pytest.mark.parametrize(("cmd", "arguments", "plays"), [
    ("tick", {}, True), ("play", {}, True), ("pause", {}, False), ("toggle", {}, False), ("width", {"px": 700}, True), ("ping", {}, True),
    ("tab", {"name": "events"}, True), ("select", {"ref": "node/node-a"}, True), ("judge", {}, True), ("speed", {"seconds": 2}, True),
    ("only", {"differences": True}, True), ("moment", {"at": "pass"}, True), ("chart", {"shown": True}, True), ("step", {}, False),
    ("back", {}, False), ("reset", {}, False), ("run", {}, False), ("goto", {"step": 2}, False), ("gear", {"unit": "turns"}, False),
    ("act", {"number": 1}, False), ("clear", {}, False), ("ask", {"name": "cordon"}, False), ("branch", {"name": "main"}, False),
])  # fmt: skip
def test_looking_around_stops_nothing(lab, cmd, arguments, plays):
    """Whoever moves or acts takes over from the player; tabs, widths, moments and selections go on beside it."""
    lab.play()
    lab.do(cmd, **arguments)

    assert plays == lab.playing


@pytest.mark.parametrize("message", [{"cmd": "step"}, {"cmd": "back"}, {"cmd": "pause"}, {"cmd": "toggle"}])
def test_any_key_stops_it(lab, message):
    """A key of the panel pauses; looking around does not."""
    lab.play()
    lab.host._handle_custom_msg({"cmd": "select", "ref": "node/node-a"}, [])
    lab.do("tab", name="events")
    assert lab.playing
    lab.host._handle_custom_msg(message, [])
    assert (lab.playing, lab.buttons["play"].description) == (False, "Play")


def test_it_stops_at_a_condition_in_words_or_of_a_function():
    """The condition is the one of `Cluster.run`; what is no condition is refused."""
    lab = scenario("zonal-example").lab()
    for _ in range(30):
        lab.play(until="pvc/my-pvc Bound")  # a warning on the way stops it too
        lab.player.once()
        if lab.driver.cluster["pvc/my-pvc"].status.phase == "Bound":
            break
    assert (lab.playing, lab.acts.note.value) == (False, "Play stopped: the condition holds")
    lab.do("reset")
    lab.play(until=lambda cluster: cluster.world.step_number == 2)
    lab.player.once()
    lab.player.once()
    assert (lab.playing, lab.frame.head.step) == (False, 2)
    with pytest.raises(ValueError, match="is no condition"):
        lab.play(until="pod/my-pod")


def test_the_form_of_the_speeds_asks_until_when():
    """The last of the speeds asks for a condition; its line of Python is a run."""
    lab = scenario("zonal-example").lab()
    lab.speed.value = "¼/s"
    assert lab.player.seconds == 4.0
    lab.speed.value = "until…"
    assert (lab.speed.value, lab.acts.act.name) == ("¼/s", "until")
    assert lab.acts.fields["until"].options == ("pod/my-pod Running", "pvc/my-pvc Bound")
    lab.acts.submit.click()
    assert (lab.playing, lab.acts.act) == (True, None)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (f.Frame(head=plain.Head(step=3), events=(plain.EventRow(3, 0.0, "Warning", "FailedScheduling", "pod/a", "no"),)),
         "FailedScheduling: pod/a"),
        (f.Frame(head=plain.Head(step=4), events=(plain.EventRow(3, 0.0, "Warning", "FailedScheduling", "pod/a", "no"),)), ""),
        (f.Frame(changes=(plain.ChangeRow("api", "x", "~", "pod/a", "update", outcome="Conflict"),)), "Conflict: pod/a"),
        (f.Frame(head=plain.Head(step=2), lanes=(f.Lane("a", "c", "kubelet", (f.Mark(2, "crash"),)),)), "kubelet crashed"),
    ],
)  # fmt: skip
def test_a_failure_is_a_refused_write_a_warning_or_a_crash_of_this_step(frame, words):
    """What failed in an earlier step stops nothing."""
    assert words == failure(frame)


def test_an_error_of_the_engine_ends_it(lab):
    """It is shown like every other, and nothing plays on."""
    lab.play()
    lab.driver.broken = "no such thing"
    with pytest.raises(RuntimeError):
        lab.player.once()
    assert not lab.playing


def test_a_question_before_each_step_holds_it(lab):
    """Where a lesson asks first, no step is made before the answer, and play waits."""
    asked = []
    lab.before_step = lambda panel, actor: asked.append((panel is lab, actor))
    lab.do("step")
    assert (lab.frame.head.step, asked) == (0, [(True, None)])
    lab.play()
    lab.player.once()
    assert (lab.playing, "waits for an answer" in lab.acts.note.value) == (False, True)
    lab.do("step", asked=True)
    assert lab.frame.head.step == 1


def test_who_plays_already_does_not_play_twice():
    """Another press makes one task and no second, so that steps come as fast as before; a stop ends it and says so once."""
    async def watch():
        ended, ticks = [], []
        player = Player(lambda: ticks.append(1) or "", ended.append)
        before = len(asyncio.all_tasks())
        player.play()
        player.play()
        tasks = len(asyncio.all_tasks()) - before
        player.stop("enough")
        player.stop("again")
        await asyncio.sleep(0)
        return tasks, len(asyncio.all_tasks()) - before, player.playing, ended, ticks

    assert (1, 0, False, ["enough"], []) == asyncio.run(watch())

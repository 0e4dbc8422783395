"""Several threads on one cluster: every act and every question is whole, and nobody waits for ever."""

import random
import signal
import sys
import threading
import time

import pytest
import random_acts

import kvolsched

THREADS, ACTS = 4, 25
ASKED = (
    lambda c, _: c.step(),
    lambda c, _: c.run(steps=3),
    lambda c, rng: c.back(rng.randint(1, 4)),
    lambda c, rng: go_somewhere(c, rng),  # noqa: PLW0108 - defined below
    lambda c, rng: c.label("node/node-a", f"written=x{rng.randrange(1000)}", overwrite=True),
    lambda c, _: repr(c.map()),
    lambda c, _: repr((c.why(), c.story("my-pod"), c.requests())),
    lambda c, _: repr((c.next, c.get("pods"), c.digest())),
    lambda c, _: c.fork().run(),
)  # fmt: skip


def go_somewhere(c, rng):
    """Go to a step that is known; nobody may act between the two."""
    with c.world.lock:
        c.goto(rng.randint(0, c.world.known_steps))


@pytest.fixture(autouse=True)
def threads_often_switched():
    """Let threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def in_threads(*functions):
    """Call functions in a thread each, and return what they raised."""
    raised = []

    def call(function):
        try:
            function()
        except BaseException as error:  # noqa: BLE001 - told by the test
            raised.append(error)

    threads = [threading.Thread(target=call, args=(function,), daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert not any(thread.is_alive() for thread in threads)
    return raised


@pytest.mark.parametrize("seed", range(2))
def test_threads_that_act_and_ask_leave_the_cluster_whole(seed):
    """After steps, moves in time, questions and forks of four threads the log, the views and every digest agree."""
    c = kvolsched.scenario("zonal-example")
    c.run()

    def work(number):
        rng = random.Random(f"{seed} {number}")
        for _ in range(ACTS):
            rng.choice(ASKED)(c, rng)

    assert [] == in_threads(*(lambda number=number: work(number) for number in range(THREADS)))
    assert "" == random_acts.inconsistent(c)
    assert "" == random_acts.differs_after_a_journey(c, random.Random(seed))


def test_every_act_of_every_thread_is_done_once():
    """Of acts in several threads each is a step, none is lost and none is done twice."""
    c = kvolsched.scenario("zonal-example")

    def work(number):
        for count in range(ACTS):
            c.label("node/node-a", f"of-{number}-{count}=yes")

    assert [] == in_threads(*(lambda number=number: work(number) for number in range(THREADS)))
    labels = [label for label in c["node/node-a"].metadata.labels if label.startswith("of-")]
    assert (THREADS * ACTS, THREADS * ACTS) == (len(labels), c.world.step_number)


def test_a_picture_in_a_thread_sees_one_place():
    """A run in another thread begins before or after a question, never within: each picture is that of a step."""
    c = kvolsched.scenario("zonal-example")
    c.run()
    pictures, seen, looked = set(), [], threading.Event()
    for step in range(c.world.known_steps + 1):
        c.goto(step)
        pictures.add(repr(c.map()))

    def look():
        try:
            seen.extend(repr(c.map()) for _ in range(30))
        finally:
            looked.set()

    def move():
        while not looked.is_set():
            c.run(steps=2)
            c.back()

    assert [] == in_threads(look, move, move)
    assert set(seen) <= pictures


def test_to_reveal_is_one_act():
    """Between the steps that a prediction was about nobody else acts: its lock is held all the time."""
    c = kvolsched.scenario("zonal-example")
    asked, step, owned = c.predict(pod="my-pod"), c.step, []
    c.step = lambda: owned.append(c.world.lock._is_owned()) or step()
    asked.give_up()
    assert owned == [True] * len(owned) != []


def test_two_clusters_that_look_at_each_other_do_not_wait_for_ever():
    """Questions about two clusters take both locks in one order, whichever is asked."""
    one, other = kvolsched.scenario("zonal-example"), kvolsched.scenario("zonal-example", "upstream")

    def compare(first, second):
        for _ in range(15):
            first.diff(second)
            repr(first.series(second))

    assert [] == in_threads(lambda: compare(one, other), lambda: compare(other, one))


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_an_interrupt_while_waiting_lets_go():
    """Ctrl-C ends the wait for another thread's act; afterwards both threads can act."""
    c = kvolsched.scenario("zonal-example")
    held, go_on = threading.Event(), threading.Event()

    def hold():
        with c.world.lock:
            held.set()
            go_on.wait(30)

    def press():
        held.wait(30)
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    helpers = [threading.Thread(target=hold, daemon=True), threading.Thread(target=press, daemon=True)]
    for helper in helpers:
        helper.start()
    held.wait(30)
    with pytest.raises(KeyboardInterrupt):
        c.step()
    go_on.set()
    for helper in helpers:
        helper.join(30)
    assert [] == in_threads(c.step)
    assert 2 == c.step().number


def test_an_error_inside_lets_go():
    """An act that raises leaves the cluster to others."""
    c = kvolsched.scenario("zonal-example")
    with pytest.raises(KeyError):
        c.cordon("node-z")

    assert [] == in_threads(c.step)

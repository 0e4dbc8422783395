"""Recorders of Events: repeated messages are counted, many similar ones are aggregated."""

import objects

from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.world.apiserver import CLOCK
from kvolsched.world.events import record_event
from kvolsched.world.log import Log


def pod(version):
    """Return a pod with a version."""
    return evolve_parts(objects.pod("p", uid="u"), metadata={"resource_version": version})


def counted(*messages, series=False):
    """Record messages about a pod, each (version, message[, time]); return (message, count) of the Events, in order."""
    log = Log()
    for version, message, *when in messages:
        log.write(CLOCK, *when or (1.0,))
        record_event(log, "someone", pod(version), "Normal", "Created", message, series=series)
    events = [obj for key, obj in log.objects.items() if key.kind == "Event"]
    return [(event.message, event.count) for event in events]


def test_repeated_messages_are_counted():
    """A controller's repeated message increases the count of its Event, whatever the object's version."""
    assert [("a", 2), ("b", 1)] == counted((1, "a"), (2, "a"), (2, "b"))


def test_messages_are_aggregated_from_the_tenth_on():
    """From the tenth different message on, one Event holds the last of them; earlier ones are still counted."""
    messages = [(1, str(number)) for number in range(12)]

    combined = ("(combined from similar events): 11", 3)
    assert [(str(number), 1) for number in range(9)] + [combined] == counted(*messages)
    assert ("0", 2) == counted(*messages, (1, "0"))[0]


def test_a_series_depends_on_the_object_and_not_on_the_message():
    """By the events.k8s.io API a new message about an unchanged object is lost; about a changed one it is a new Event."""
    assert [("a", 3), ("c", 1)] == counted((1, "a"), (1, "b"), (1, "a"), (2, "c"), series=True)


def test_a_series_ends_after_six_minutes_of_silence():
    """A message about an unchanged object after a long silence is a new Event."""
    assert [("a", 2), ("b", 1)] == counted((1, "a", 0.5), (1, "a", 300.0), (1, "b", 661.0), series=True)

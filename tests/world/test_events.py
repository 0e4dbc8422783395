"""Events as their recorders keep them: told again is counted up, much that is similar is told together."""


from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.manifest import from_plain
from kvolsched.world.apiserver import CLOCK
from kvolsched.world.events import record_event
from kvolsched.world.log import Log


def pod(version):
    """Return a pod at a version."""
    made = from_plain({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "uid": "u"}, "spec": {"containers": []}})
    return evolve_parts(made, metadata={"namespace": "default", "resource_version": version})


def told(*sentences, series=False):
    """Say sentences of a pod, each (version, message) or (version, message, time); message -> count, in order."""
    log = Log()
    for version, message, *when in sentences:
        log.write(CLOCK, *when or (1.0,))
        record_event(log, "someone", pod(version), "Normal", "Created", message, series=series)
    events = [obj for key, obj in log.objects.items() if key.kind == "Event"]
    return [(event.message, event.count) for event in events]


def test_the_same_sentence_is_counted():
    """A controller that says the same again, whatever the object's version, counts its Event up."""
    assert [("a", 2), ("b", 1)] == told((1, "a"), (2, "a"), (2, "b"))


def test_the_tenth_sentence_is_told_with_all_that_follow():
    """From the tenth different sentence on, one Event has the last of them; those from before are still counted."""
    sentences = [(1, str(number)) for number in range(12)]

    assert [(str(number), 1) for number in range(9)] + [("(combined from similar events): 11", 3)] == told(*sentences)
    assert ("0", 2) == told(*sentences, (1, "0"))[0]


def test_a_series_looks_at_the_object_and_not_at_the_sentence():
    """By today's API a new sentence about an unchanged object is lost; about a changed one it is a new Event."""
    assert [("a", 3), ("c", 1)] == told((1, "a"), (1, "b"), (1, "a"), (2, "c"), series=True)


def test_a_series_ends_after_six_minutes_of_silence():
    """What is said of an unchanged object after a long silence is a new Event."""
    assert [("a", 2), ("b", 1)] == told((1, "a", 0.5), (1, "a", 300.0), (1, "b", 661.0), series=True)

"""Work queues: the first note, and those up to a limit, at any time equal those of a sorted list."""

from hypothesis import given
from hypothesis import strategies as st

from kvolsched.world.log import Note
from kvolsched.world.work_queue import WakeUp, WorkQueue

wake_ups = st.builds(WakeUp, st.sampled_from([0.0, 1.0, 2.0, 5.0]), st.integers(0, 3))
changes = st.lists(st.tuples(st.sampled_from("abcdef"), st.none() | wake_ups), max_size=120)


@given(changes, st.sampled_from([0.5, 1.0, 4.0, 9.0]))
def test_a_queue_equals_a_sorted_list(life, limit):
    """First, all and those up to a limit are read off the heap as off a list that is sorted anew."""
    queue, notes = WorkQueue("wake", order=lambda wake: (wake.at, wake.order)), {}
    for name, wake in life:
        queue.apply(Note("me", "wake", name), notes.pop(name, None), wake)
        if wake is not None:
            notes[name] = wake
        ordered = sorted(((each.at, each.order), key) for key, each in notes.items())
        assert ordered == queue.all()
        assert queue.up_to((limit, 99)) == [entry for entry in ordered if entry[0] <= (limit, 99)]
        assert queue.first() == (ordered[0] if ordered else None)
    assert notes == queue.items

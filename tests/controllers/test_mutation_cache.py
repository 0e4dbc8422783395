"""The mutation cache is a view: updated by changes in any order, it equals the one built from the contents."""

from hypothesis import given
from hypothesis import strategies as st
from objects import claim, volume

from kvolsched.controllers.persistent_volume import cache
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Note
from kvolsched.world.mutation_cache import ABSENT
from kvolsched.world.view import InformerCache, build

OBJECTS = [claim(), claim(volumeName="disk"), claim("other"), volume(), volume(claim="data"), volume("big", "50Gi", "gold")]


def place_of(obj, own):
    """Return the key of an object, or of the note that overlays it."""
    key = key_of(obj)
    return Note("binder", "own", "/".join(key)) if own else key


MOVES = st.lists(st.tuples(st.sampled_from(OBJECTS), st.booleans(), st.sampled_from(["put", "drop", "absent"])), max_size=12)


@given(MOVES)
def test_moved_equals_built(moves):
    """After any changes of objects and notes, the view and its indexes equal those built from what is left."""
    moved, contents = cache.views(InformerCache(()))["cache"], {}
    for obj, own, what in moves:
        place = place_of(obj, own)
        new = {"put": obj, "drop": None, "absent": ABSENT if own else obj}[what]
        moved.apply(place, contents.get(place), new)
        if new is None:
            contents.pop(place, None)
        else:
            contents[place] = new
    assert moved == build(cache.views(InformerCache(()))["cache"], contents)


@given(st.permutations([(obj, own) for obj in OBJECTS[::2] for own in (True, False)]))
def test_the_order_of_arrival_does_not_matter(order):
    """The same contents in any order: one view."""
    moved = cache.views(InformerCache(()))["cache"]
    for obj, own in order:
        moved.apply(place_of(obj, own), None, obj)
    assert moved == build(cache.views(InformerCache(()))["cache"], {place_of(obj, own): obj for obj, own in order})

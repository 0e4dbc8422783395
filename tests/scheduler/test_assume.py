"""The assume cache: which of seen and assumed objects is current under each revision's rule, and forgetting."""

import attrs
import objects
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvolsched.api.kinds.meta import Condition, evolve_parts
from kvolsched.scheduler.columns.snapshot import Snapshot
from kvolsched.scheduler.loop.assume_cache import (
    ASSUMED,
    AssumeCache,
    EqualVersions,
    NewerWins,
    PodStatusPatch,
    key_of_note,
    note_name,
)
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Note
from kvolsched.world.view import build


def volume(name="disk", version=1, claim=""):
    """Return a volume of a version, reserved for a claim or free."""
    return evolve_parts(objects.volume(name, claim=claim), metadata={"resource_version": version})


def pod(name="app", node="", version=1):
    """Return a pod of a version, on a node or pending."""
    return evolve_parts(objects.pod(name, node_name=node), metadata={"resource_version": version})


def note(key):
    """Return the key of the note for an assumed object."""
    return Note("kube-scheduler", ASSUMED, note_name(key))


@pytest.mark.parametrize(
    ("rule", "seen", "assumed", "counts"),
    [
        (EqualVersions(), 1, 1, True),
        (EqualVersions(), 2, 1, False),
        (EqualVersions(), 1, 2, False),
        (NewerWins(), 1, 1, True),
        (NewerWins(), 2, 1, False),
        (NewerWins(), 1, 2, True),
    ],
)
@pytest.mark.checklist("132")
def test_which_of_seen_and_assumed_counts(rule, seen, assumed, counts):
    """v1.36.2 requires equal versions; the design keeps an assumed object until the informer has a newer one."""
    assert rule.is_current(volume(version=seen), volume(version=assumed)) is counts
    assert not rule.is_current(None, volume(version=assumed))


def test_what_cannot_be_assumed_is_said():
    """An object older than the cached one, or deleted, is refused in each revision's words."""
    key, new, old = key_of(volume()), volume(version=7), volume(version=5)
    assert EqualVersions().refusal(key, new, old) == '"disk" is out of sync (stored: 7, assume: 5)'
    assert EqualVersions().refusal(key, None, old) == 'persistentvolumes "disk" not found'
    assert NewerWins().refusal(key, new, old) == 'v1.PersistentVolume "disk" is out of sync'
    assert NewerWins().refusal(key, None, old) == 'could not find v1.PersistentVolume "disk"'
    assert EqualVersions().refusal(key, new, volume(version=7)) == NewerWins().refusal(key, old, new) == ""


@pytest.mark.checklist("132", "272")
def test_the_cache_returns_objects_themselves():
    """The cache returns the informer's object or the assumed one, never a copy; forgetting restores the informer's."""
    cache, seen, assumed = AssumeCache(Snapshot(), NewerWins()), volume(), volume(claim="data")
    key = key_of(seen)
    cache.apply(key, None, seen)
    assert cache.get(key) is seen
    cache.apply(note(key), None, assumed)
    assert cache.get(key) is assumed
    assert cache.is_assumed(key)
    assert cache.snapshot.volume("disk") is assumed
    cache.apply(note(key), assumed, None)
    assert cache.get(key) is seen
    assert cache.snapshot.volume("disk") is seen


def test_an_assumed_pod_counts_until_the_informer_shows_it_placed():
    """The pod's resources are counted once, for the assumed pod and then for the bound one."""
    cache, waiting = AssumeCache(Snapshot(), EqualVersions()), pod()
    key = key_of(waiting)
    cache.apply(key, None, waiting)
    cache.apply(note(key), None, pod(node="node-1"))
    assert [p.metadata.name for p in cache.snapshot.pods_on("node-1")] == ["app"]
    placed = pod(node="node-2", version=2)
    cache.apply(key, waiting, placed)
    assert cache.snapshot.pods_on("node-1") == []
    assert cache.snapshot.pods_on("node-2") == [placed]


NAMES, VERSIONS, CLAIMS = st.sampled_from(["a", "b"]), st.integers(1, 3), st.sampled_from(["", "one", "two"])
MOVES = st.lists(st.tuples(st.booleans(), NAMES, st.one_of(st.none(), st.tuples(VERSIONS, CLAIMS))), max_size=20)


@given(MOVES, st.sampled_from([EqualVersions(), NewerWins()]))
def test_moved_equals_built(moves, rule):
    """After any changes of seen and assumed objects the snapshot has each key once and equals one built from scratch."""
    cache, contents = AssumeCache(Snapshot(), rule), {}
    for assumed, name, what in moves:
        key = key_of(volume(name))
        place = note(key) if assumed else key
        new = None if what is None else volume(name, *what)
        cache.apply(place, contents.get(place), new)
        contents[place] = new
    left = {place: obj for place, obj in contents.items() if obj is not None}
    anew = build(AssumeCache(Snapshot(), rule), left)
    assert cache == anew
    assert cache.snapshot == anew.snapshot
    for name in ("a", "b"):
        assert cache.snapshot.volume(name) is cache.get(key_of(volume(name)))


def test_names_of_notes_lead_back_to_keys():
    """The name of a note gives the key back, also for names with slashes."""
    for obj in (volume(), pod()):
        assert key_of_note(note_name(key_of(obj))) == key_of(obj)


def test_a_condition_that_says_the_same_is_not_written_again():
    """The patch keeps the pod and its version if the condition is unchanged; another message is written."""
    condition = Condition(type="PodScheduled", status="False", reason="Unschedulable", message="no")
    once = PodStatusPatch(condition).apply(pod())
    assert PodStatusPatch(attrs.evolve(condition, last_transition_time="later")).apply(once) == once
    assert PodStatusPatch(attrs.evolve(condition, message="still no")).apply(once) != once
    nominated = PodStatusPatch(nominated_node_name="node-1").apply(once)
    assert nominated.status.nominated_node_name == "node-1"
    assert PodStatusPatch(nominated_node_name="").apply(nominated) == once

"""The graph of visited states: shortest ways, depths, and from which states the goal can no longer be reached."""

import pytest

from kvolsched import Cluster, make
from kvolsched.questions.explore import search
from kvolsched.questions.explore.search import Search, StateGraph, searched_fork
from kvolsched.questions.explore.transitions import Transition

A, B, C = (Transition("act", name) for name in "abc")


def graph(edges, goals, states=5):
    """Return a graph whose states were each reached from the first source that leads there."""
    made = StateGraph()
    for state in range(states):
        source = next((source for source, target in edges if target == state and source < state), -1)
        made.add(state * 10, source, None if source < 0 else Transition("act", f"{source}-{state}"), goal=state in goals)
    for source, target in edges:
        made.sources.append(source)
        made.targets.append(target)
    return made


@pytest.mark.parametrize(("edges", "goals", "lost"), [
    ([(0, 1), (1, 2), (0, 3), (3, 4)], {2}, [3, 4]), ([(0, 1), (1, 2), (0, 3), (3, 4), (4, 3)], {2}, [3, 4]), ([(0, 1), (1, 2), (0, 3), (3, 4), (4, 0)], {2}, []),
    ([(0, 1), (1, 2), (2, 3), (3, 4)], {0}, [1, 2, 3, 4]), ([(0, 1), (1, 2), (2, 3), (3, 4)], {4}, []), ([(0, 1), (1, 2), (2, 3), (3, 4)], set(), [0, 1, 2, 3, 4]),
    ([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)], {4, 1}, []),
])  # fmt: skip
def test_states_from_which_the_goal_is_lost(edges, goals, lost):
    """Those without any way to a goal state, nearest to the start first; a way back counts."""
    assert lost == graph(edges, goals).states_without_goal()


def test_the_first_way_to_a_state_is_kept():
    """Each state has its number, how deep it lies, and the transitions from the start to it."""
    found = graph([(0, 1), (0, 2), (1, 3), (3, 4)], set())

    assert ([0, 1, 1, 2, 3], {0: 0, 10: 1, 20: 2, 30: 3, 40: 4}) == (list(found.depth), found.number)
    assert ["0-1", "1-3", "3-4"] == [each.component for each in found.trace(4)]
    assert () == found.trace(0)
    assert found._transitions == {each: each for each in found.reached_by if each is not None}


def test_a_search_looks_at_a_fork_without_events():
    """The world stays as it is; the fork has no Event and records none."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("p", cpu="9")])
    c.run()
    before = len(c.objects("events"))
    fork = searched_fork(c.world)
    fork.goto(fork.history.known_steps)

    assert before > 0 == len([key for key in fork.log.objects if key.kind == "Event"])
    assert (before, c.world.records_events, fork.records_events) == (len(c.objects("events")), True, False)


@pytest.mark.parametrize(("max_states", "states", "exhausted"), [(1, 1, False), (2, 2, False), (10_000, None, True)])
def test_a_search_ends_at_its_bounds(max_states, states, exhausted):
    """At so many states, or when there are no more; the time counts after each state, too."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("p")])
    found = c.explore(until=None, max_states=max_states, progress=False)

    assert exhausted == found.exhausted
    assert states is None or found.states >= states
    assert not c.explore(until=None, seconds=0, progress=False).exhausted


def test_how_much_memory_a_state_takes(monkeypatch):
    """What the process grew by, for each state; nothing where the system does not tell, or where it shrank."""
    sizes = iter([1_000, 21_000])
    monkeypatch.setattr(search, "resident_bytes", lambda: next(sizes))
    found = Cluster.from_manifests([make.node("n1"), make.pod("p")]).explore(until=None, lag="none", progress=False)
    assert 20_000 // found.states == found.bytes_per_state
    sizes = iter([21_000, 1_000])
    assert 0 == Cluster().explore(until=None, progress=False).bytes_per_state
    monkeypatch.undo()
    assert search.resident_bytes() > 1_000_000
    monkeypatch.setattr(search.Path, "read_text", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search.resident_bytes()
    monkeypatch.setattr(search.Path, "read_text", lambda *_: (_ for _ in ()).throw(OSError))
    assert 0 == search.resident_bytes()


def test_of_several_violations_the_first_is_told():
    """With the way to it."""
    found = Search.__new__(Search)
    found.violation, found.trace = "", ()
    found._report("one", (A,))
    found._report("another", (B, C))

    assert ("one", (A,)) == (found.violation, found.trace)

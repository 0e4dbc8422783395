"""A search on an executor: the same states, trace and counts whichever it is, and what remains when it breaks."""

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import distributed
import pytest

import kvolsched
from kvolsched import Cluster, make, scenario
from kvolsched.explore import Crash, Refuse, explore
from kvolsched.questions.explore import search

STRUCK = {"until": None, "lag": "none", "faults": [Crash("kube-scheduler"), Refuse("kube-scheduler")], "progress": False}


class Here(Executor):
    """An executor that calls at once, and breaks after some calls."""

    def __init__(self, calls=1000, error=None):
        self.calls, self.error = calls, error or BrokenProcessPool("a process ended")

    def submit(self, fn, /, *args, **kwargs):
        if not self.calls:
            raise self.error
        self.calls -= 1
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.fixture(autouse=True)
def _small_levels_are_sent(monkeypatch):
    """Send small levels, too, which a search expands by itself."""
    monkeypatch.setattr(search, "SMALLEST_LEVEL", 2)


@pytest.fixture(scope="module")
def alone():
    """What a search in one process finds."""
    return explore(scenario("zonal-example"), **STRUCK)


def found(result):
    """Return everything that a result says."""
    return repr(result), result.trace, result.states, result.transitions, result.depth, result.outcomes


@pytest.mark.parametrize("executor", [
    Here(), Here, lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2),
], ids=["given", "made", "threads", "processes"])
def test_nothing_of_a_result_depends_on_the_executor(executor, alone):
    """States, transitions, depth, end states and words are those of a search in one process."""
    assert found(alone) == found(explore(scenario("zonal-example"), executor=executor, **STRUCK))


def test_the_shortest_trace_is_the_same():
    """The failure that is found first, its trace and the counts until then do not depend on the executor."""
    asked = {**STRUCK, "until": "my-pod Running"}
    one, other = (explore(scenario("zonal-example"), executor=each, **asked) for each in (None, Here))

    assert one.counterexample
    assert found(one) == found(other)
    assert one.counterexample.story == other.counterexample.story
    assert found(explore(scenario("zonal-example"), max_states=60, **STRUCK)) == found(
        explore(scenario("zonal-example"), max_states=60, executor=Here, **STRUCK))


def test_rules_and_controllers_of_a_cell_travel_by_value():
    """A controller, a goal and a property that are closures are told the same in other processes."""
    class_of_the_day, most = "red", 2

    def label(seen, ref):
        if seen.get(ref) is None or "day" in seen.get(ref).metadata.labels:
            return None
        return kvolsched.writes.patch(ref, {"metadata": {"labels": {"day": class_of_the_day}}})

    pods = [make.pod(f"app-{n}") for n in range(3)]
    c = Cluster.from_manifests([make.node("n1"), *pods]).with_controller("labeller", ["Pod"], label)

    def too_many(objects):
        red = [pod for pod in objects.objects("pods") if pod.metadata.labels.get("day") == class_of_the_day]
        return f"{len(red)} pods are red" if len(red) > most else ""

    with ProcessPoolExecutor(2) as pool:
        one, other = (c.explore(never=too_many, lag="none", progress=False, executor=each) for each in (None, pool))

    assert "3 pods are red" == one.counterexample.violation
    assert found(one) == found(other)


def test_a_broken_pool_is_made_again_if_a_function_makes_it(alone):
    """The rest of a level goes to a new pool, and nothing is counted twice."""
    pools = [Here(calls=3), Here(calls=0), Here()]

    assert found(alone) == found(explore(scenario("zonal-example"), executor=lambda: pools.pop(0), **STRUCK))
    assert not pools


def test_a_broken_executor_ends_the_search():
    """An executor that was handed in is not replaced: the search says that it broke, and what it has."""
    result = explore(scenario("zonal-example"), executor=Here(calls=3), **STRUCK)

    assert "the executor broke: a process ended" == result.ended
    assert not result.exhausted
    assert result.states > 10
    assert "Not exhausted (the executor broke: a process ended): " in repr(result)


def test_an_interruption_keeps_what_was_visited():
    """Ctrl-C while workers expand states ends the search with what it has."""
    result = explore(scenario("zonal-example"), executor=Here(calls=3, error=KeyboardInterrupt), **STRUCK)

    assert "interrupted" == result.ended
    assert not result.exhausted
    assert result.states > 10


def test_an_error_in_a_worker_says_where_it_was():
    """An error of a property in a worker is raised here, with the transition that it met."""
    def broken(objects):
        return 1 / 0 if objects["my-pod"].spec.node_name else ""

    with pytest.raises(ZeroDivisionError) as caught:
        explore(scenario("zonal-example"), never=broken, executor=Here, **STRUCK)
    assert "deep, by Transition(kind='act', component='kube-scheduler'" in caught.value.__notes__[0]


def test_without_cloudpickle_the_message_says_what_to_install(monkeypatch):
    """A world whose functions do not travel is refused with the extra that helps."""
    monkeypatch.setitem(__import__("sys").modules, "cloudpickle", None)
    with pytest.raises(ValueError, match=r"kvolsched\[parallel\]"):
        explore(scenario("zonal-example"), never=lambda _objects: "", executor=Here, **STRUCK)


def test_dask_is_an_executor(alone):
    """Workers of a cluster of dask.distributed, processes of their own, find the same."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        result = explore(scenario("zonal-example"), executor=client.get_executor(), **STRUCK)

    assert found(alone) == found(result)
